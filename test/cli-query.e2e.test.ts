// `outlast query` as a person or a program runs it: forms, filters, and one sentence for what it cannot take (P12).
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { silentLog } from '../src/log.ts';
import { openDb, type Db } from '../src/store/db.ts';
import { runCommand, type Ended } from './support/command.ts';
import { createTestDatabase, type TestDatabase } from './support/postgres.ts';
import { writeClass, writeOrder, writeOrders } from './support/rows.ts';

let database: TestDatabase;
let db: Db;

beforeAll(async () => {
  database = await createTestDatabase();
  db = await openDb({ connectionString: database.connectionString, log: silentLog() });
  await addProject('p');
  await addProject('many');
  await writeOrder(db, {
    project: 'p',
    id: 'op_a',
    status: 1,
    account: 'iaa1"x", y',
    amount: '100',
  });
  await writeOrder(db, {
    project: 'p',
    id: 'op_b',
    createdAt: '2026-03-31T23:59:59.123456Z',
    amount: '12345678901234567890.10',
    raw: '{"amount": 12345678901234567890.10, "later": "\\u001b[2J"}',
  });
  await writeOrder(db, { project: 'p', id: 'op_c', createdAt: '2026-04-01T00:00:00Z', status: 3 });
  await writeClass(db, { project: 'p', id: 'c1', name: '数字藏品', owner: 'o1', txHash: 'AB01' });
  await writeOrders(db, { project: 'many', count: 12_000, from: '2026-03-01', perDay: 1000 });
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

const addProject = (id: string): Promise<unknown> =>
  db.query(
    `insert into sync.projects (project_id, base_url, key_salt, key_fingerprint, first_day, added_at)
     values ($1, 'https://platform.example', '', '', '2026-03-01', '2026-04-06T12:00:00Z')`,
    [id],
  );

const query = (...args: string[]): Promise<Ended> =>
  runCommand(['query', ...args], {
    env: { DATABASE_URL: database.connectionString, OUTLAST_LOG_LEVEL: 'error' },
  });

const idsOf = async (...args: string[]): Promise<string[]> => {
  const { code, stdout, stderr } = await query('orders', '--project', 'p', ...args);
  expect(code, stderr).toBe(0);
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => (JSON.parse(line) as { operation_id: string }).operation_id);
};

describe('for a program', () => {
  test('each record is a line of JSON, its exact numbers untouched', async () => {
    const { stdout } = await query('orders', '--project', 'p', '--id', 'op_b');
    expect(stdout).toContain('"amount":"12345678901234567890.10"');
    expect(stdout).toContain('"raw":{"later": "\\u001b[2J", "amount": 12345678901234567890.10}');
    expect(JSON.parse(stdout)).toMatchObject({
      project: 'p',
      created_at: '2026-03-31T23:59:59.123456Z',
      status: 2,
      missing_since: null,
      unread: [],
      raw_bytes: null,
    });
  });

  test('--json is one list, also when nothing matches', async () => {
    const all = await query('nft_classes', '--project', 'p', '--json');
    expect(JSON.parse(all.stdout)).toMatchObject([{ id: 'c1', name: '数字藏品', tx_hash: 'AB01' }]);
    const none = await query('nft-classes', '--project', 'p', '--json', '--owner', 'nobody');
    expect(JSON.parse(none.stdout)).toEqual([]);
  });

  test('CSV tells nothing from empty text and quotes what has to be', async () => {
    const { stdout } = await query('orders', '--project', 'p', '--format', 'csv', '--limit', '1');
    const [header, line] = stdout.split('\r\n');
    expect(header).toMatch(/^project,operation_id,status,message,account,amount,.*,unread,.*,raw$/);
    expect(line).toMatch(/^p,op_a,1,,"iaa1""x"", y",100,,2026-03-10T10:00:00Z,.*,"",.*,\{\}$/);
  });

  test('every record is streamed, and a reader that leaves early is no mistake', async () => {
    const { stdout, code } = await query('orders', '--project', 'many');
    expect(code).toBe(0);
    expect(stdout.match(/\n/g)).toHaveLength(12_000);
    const left = await import('node:child_process').then(({ spawnSync }) =>
      spawnSync(
        'sh',
        ['-c', `"$0" dist/src/main.js query orders --project many | head -n 1`, process.execPath],
        {
          env: { PATH: process.env['PATH'], DATABASE_URL: database.connectionString },
          encoding: 'utf8',
        },
      ),
    );
    expect(left.stderr).toBe('');
    expect(left.stdout.match(/\n/g)).toHaveLength(1);
  });
});

describe('filters', () => {
  test('narrow what is listed and what is counted', async () => {
    expect(await idsOf('--from', '2026-03-11', '--to', '2026-03-31')).toEqual(['op_b']);
    expect(await idsOf('--status', 'pending,failed', '--newest-first')).toEqual(['op_c', 'op_a']);
    expect(await idsOf('--account', 'iaa1"x", y', '--limit', '2')).toEqual(['op_a']);
    const some = await query(
      'nft_classes',
      '--project',
      'p',
      '--count',
      '--name',
      '藏',
      '--tx-hash',
      'ab01',
    );
    expect(some.stdout).toBe('1\n');
    const many = await query('orders', '--project', 'many', '--count', '--status', '2');
    expect(many.stdout).toBe('4000\n');
  });
});

describe('for a person', () => {
  test('a table has the columns that matter, numbers to the right, and nothing that steers a terminal', async () => {
    const { stdout } = await query('orders', '--project', 'p', '--format', 'table');
    expect(stdout.split('\n')).toEqual([
      'created (UTC)        operation id  status                      amount  account',
      '───────────────────  ────────────  ─────────  ───────────────────────  ──────────',
      '2026-03-10 10:00:00  op_a          pending                        100  iaa1"x", y',
      '2026-03-31 23:59:59  op_b          succeeded  12345678901234567890.10',
      '2026-04-01 00:00:00  op_c          failed',
      '',
    ]);
  });

  test('it says that there is more, and that there is nothing', async () => {
    const more = await query('orders', '--project', 'many', '--format', 'table');
    expect(more.stdout.trimEnd().split('\n')).toHaveLength(2 + 100 + 2);
    expect(more.stdout).toContain('The first 100 orders: --limit shows more, --format csv all.');
    const none = await query('nft_classes', '--project', 'many', '--format', 'table');
    expect(none.stdout).toBe('No NFT classes match.\n');
  });
});

describe('mistakes', () => {
  test.each([
    [['orders'], 'Say which project with --project; there is: many, p.'],
    [
      ['orders', '--project', 'q'],
      'Nothing is archived for a project "q" here; there is: many, p.',
    ],
    [['orders', '--limit', '0'], '--limit "0" is no whole number above 0.'],
    [['orders', '--owner', 'o'], "unknown option '--owner'"],
  ])('%j ends with 2 and one sentence', async (args, sentence) => {
    const { code, stdout, stderr } = await query(...args);
    expect(code).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toContain(sentence);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  });
});
