// `outlast query` as a person or a program runs it: forms, filters, and one sentence for what it cannot take (P12).
import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Db } from '../../src/store/db.ts';
import { mainFile, type Ended } from '../support/command.ts';
import { expectRefused, runHere } from '../support/command-here.ts';
import { setUp } from '../support/fresh.ts';
import { openEmpty } from '../support/opened.ts';
import { replace } from '../support/replaced.ts';
import { writeClass, writeOrder, writeOrders, writeProjects } from '../support/rows.ts';

let connectionString: string;
let db: Db;

setUp(async (keep) => {
  ({ db, connectionString } = await keep(openEmpty()));
  await writeProjects(db, ['p', 'many']);
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

const query = (...args: string[]): Promise<Ended> =>
  runHere(['query', ...args], {
    env: { DATABASE_URL: connectionString, OUTLAST_LOG_LEVEL: 'error' },
  });

const idsOf = async (...args: string[]): Promise<string[]> => {
  const { code, stdout, stderr } = await query('orders', '--project', 'p', ...args);
  expect(code, stderr).toBe(0);
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => (JSON.parse(line) as { operation_id: string }).operation_id);
};

test.each([
  [['--from', '2026-03-02', '--to', '2026-03-04'], '2026-03-03 was lost before being read whole'],
  [['--from', '2026-02-27'], 'No day before 2026-03-02 was ever archived.'],
  [['--to', '2026-03-01'], 'None of these days was ever archived.'],
  [['--from', '2026-03-05'], 'None of these days was ever archived.'],
  [['--from', '2999-03-05'], 'None of these days has begun yet.'],
  [['--from', '2026-03-02'], 'No day after 2026-03-04 is archived yet.'],
  [['--to', '2026-03-02'], '2026-03-02 was never proved whole: '],
  [['--from', '2026-03-04', '--to', '2026-03-04'], ''],
  [
    ['--from', '2026-03-04', '--to', '2026-03-04', '--as-of', '2026-03-04'],
    'not all held, or not proved by then',
  ],
  [[], ''],
  [['--as-of', '2026-02-01'], 'No day was proved by then'],
  [['--as-of', 'yesterday'], ''],
])('%j: none found is no proof that there were none: "%s"', async (days, told) => {
  await writeProjects(db, ['gaps']);
  await db.query(
    `insert into sync.slices (project_id, resource, day, state, proof, proved_at, deadline_at)
     values ('gaps', 'orders', '2026-03-02', 'final', 'none', null, '2026-04-30'),
            ('gaps', 'orders', '2026-03-03', 'lost', 'none', null, '2026-04-30'),
            ('gaps', 'orders', '2026-03-04', 'final', 'books', '2026-04-01', '2026-04-30')`,
  );
  const { stdout, stderr } = await query('orders', '--project', 'gaps', ...days);
  expect(stdout).toBe('');
  expect(stderr).toEqual(told === '' ? '' : (expect.stringContaining(told) as string));
  await db.query(`delete from sync.slices where project_id = 'gaps'`);
  await db.query(`delete from sync.projects where project_id = 'gaps'`);
});

describe('for a program', () => {
  test('each record is a line of JSON, its exact numbers untouched', async () => {
    const { stdout } = await query('orders', '--project', 'p', '--id', 'op_b');
    expect(stdout).toContain('"amount_fen":"12345678901234567890.10"');
    expect(stdout).toContain('"raw":{"later": "\\u001b[2J", "amount": 12345678901234567890.10}');
    expect(JSON.parse(stdout)).toMatchObject({
      project_id: 'p',
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
    expect(header).toMatch(
      /^project_id,operation_id,status,message,account,amount_fen,.*,unread,.*,raw$/,
    );
    expect(line).toMatch(/^p,op_a,1,,"iaa1""x"", y",100,,2026-03-10T10:00:00Z,.*,"",.*,\{\}$/);
  });

  test('a sheet has amounts in units, words, and no cell that a spreadsheet takes for a formula', async () => {
    const sheet = ['--format', 'sheet', '--limit', '1'];
    const [head, line] = (await query('orders', '--project', 'p', ...sheet)).stdout.split('\r\n');
    expect(head).toMatch(
      /^\uFEFFproject_id,operation_id,status,status_name,message,account,amount_fen,amount_units,/,
    );
    expect(line).toMatch(/^p,op_a,1,pending,,"iaa1""x"", y",100,1\.00,,2026-03-10T10:00:00Z,/);
    expect(head).toMatch(/,day,observed_at,/);
    expect(head).not.toContain('raw');
    await db.query(`update archive.nft_classes set symbol = '=HYPERLINK("http://x")'`);
    const named = ['nft_classes', '--project', 'p', '--format'];
    expect((await query(...named, 'csv')).stdout).toContain(',"=HYPERLINK(""http://x"")",');
    expect((await query(...named, 'sheet')).stdout).toContain(`,"'=HYPERLINK(""http://x"")",`);
  });

  test('every record is streamed, and a reader that leaves early is no mistake', async () => {
    const { stdout, code } = await query('orders', '--project', 'many');
    expect(code).toBe(0);
    expect(stdout.match(/\n/g)).toHaveLength(12_000);
    const left = spawnSync(
      'sh',
      ['-c', `"$0" dist/src/main.js query orders --project many | head -n 1`, process.execPath],
      { env: { PATH: process.env['PATH'], DATABASE_URL: connectionString }, encoding: 'utf8' },
    );
    expect(left.stderr).toBe('');
    expect(left.stdout.match(/\n/g)).toHaveLength(1);
  });
});

describe('filters', () => {
  test('narrow what is listed and what is counted', async () => {
    expect(await idsOf('--from', '2026-03-11', '--to', '2026-03-31')).toEqual(['op_b']);
    expect(await idsOf('--from', 'yesterday', '--to', 'today')).toEqual([]);
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
      'created (UTC)     operation id  status              amount (units)  account',
      '────────────────  ────────────  ─────────  ───────────────────────  ──────────',
      '2026-03-10 10:00  op_a          pending                       1.00  iaa1"x", y',
      '2026-03-31 23:59  op_b          succeeded  123456789012345678.9010',
      '2026-04-01 00:00  op_c          failed',
      '',
    ]);
  });

  test('a command in a sentence can be typed as it stands', async () => {
    await db.query(
      `insert into sync.reported_problems (project_id, kind, subject, numbers, reported_at)
       values ('p', 'work_left', '', '{"since": "2026-04-05"}', '2026-04-06T12:00:00Z')`,
    );
    const putBack = replace(process.argv, '1', '/outlast/dist/src/main.js');
    const { stdout } = await query('problems', '--project', 'p', '--format', 'table');
    putBack();
    expect(stdout).toMatch(/`node \S+main\.js status` says what is left/);
  });

  test('the worst problem stands first, and what only happened and is known last', async () => {
    await db.query(
      `insert into sync.reported_problems (project_id, kind, subject, numbers, reported_at)
       select 'p', kind, 'x', '{}', now() from unnest(array['export_failed', 'fact_changed', 'archive_altered']) kind
           on conflict do nothing`,
    );
    await db.query(
      `insert into sync.alerts (project_id, kind, subject, text, opened_at, resolved_at)
       values ('p', 'fact_changed', 'x', '', now() - interval '2 days', now())`,
    );
    const { stdout } = await query('problems', '--project', 'p', '--format', 'ndjson');
    const levels = stdout.split('\n').filter((line) => line.includes('"subject":"x"'));
    expect(levels.map((line) => /"level":"(\w+)"/.exec(line)?.[1])).toEqual([
      'critical',
      'warning',
      'info',
    ]);
  });

  test('it says that there is more, and that there is nothing', async () => {
    const more = await query('orders', '--project', 'many', '--format', 'table');
    expect(more.stdout.trimEnd().split('\n')).toHaveLength(2 + 100 + 2);
    expect(more.stdout).toContain('The first 100 orders: --limit shows more, --format csv all.');
    const one = await query('orders', '--project', 'many', '--format', 'table', '--limit', '1');
    expect(one.stdout).toContain('The first of the orders: --limit shows more');
    const none = await query('nft_classes', '--project', 'many', '--format', 'table');
    expect(none.stdout).toBe('No NFT classes match.\n');
  });
});

test('lists that are given whole are those of every project, unless one is named', async () => {
  await db.query(
    `insert into sync.facts (project_id, fact, value, confirmed_at, changed_at)
     select p, 'orders.limit', p, now(), now() from unnest('{many,p}'::text[]) p`,
  );
  const lines = async (...args: string[]): Promise<string[]> =>
    (await query('facts', ...args)).stdout.split('\n').filter((line) => line !== '');
  expect(await lines()).toEqual([
    ...(await lines('--project', 'many')),
    ...(await lines('--project', 'p')),
  ]);
  expect(await lines('--count')).toEqual(['2']);
  const [head, , many] = await lines('--format', 'table', '--limit', '1');
  expect(head).toMatch(/^project  fact/);
  expect(many).toMatch(/^many  /);
  for (const list of ['problems', 'alerts']) expect((await query(list)).code).toBe(0);
});

test.runIf(existsSync('/dev/full'))('what goes to a full disk is told so', () => {
  const disk = openSync('/dev/full', 'w');
  const { status, stderr } = spawnSync(
    process.execPath,
    [mainFile, 'query', 'orders', '--project', 'p'],
    { stdio: ['ignore', disk, 'pipe'], env: { DATABASE_URL: connectionString }, encoding: 'utf8' },
  );
  closeSync(disk);
  expect(status).toBe(1);
  expect(stderr).toMatch(/^outlast: What was to be printed could not be written: ENOSPC/);
});

describe('mistakes', () => {
  test.each([
    [['orders'], 'Say which project with --project; there are: many, p.'],
    [['orders', '--project', 'q'], 'Nothing is archived for a project "q" here, only for many, p.'],
    [['orders', '--limit', '0'], '--limit must be a whole number from 1 to'],
    [['orders', '--owner', 'o'], "unknown option '--owner'"],
    [['transactions', '--from', '2026-03-01'], "unknown option '--from'"],
  ])('%j ends with 2 and one sentence', async (args, sentence) => {
    expectRefused(await query(...args), sentence);
  });
});
