// The recipes of docs/verify.md, taken from the page and run: they need nothing of ours, agree with our own digests,
// and notice what was altered.
import { isOnCluster } from '../support/postgres.ts';
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import type pg from 'pg';
import { to } from 'pg-copy-streams';
import { describe, expect, test } from 'vitest';
import { createCertified, type Certified } from '../support/certified.ts';
import { connectReader } from '../support/client.ts';
import { setUp } from '../support/fresh.ts';
import { blocksIn, fileText } from '../support/repository.ts';

const page = fileText('docs/verify.md');
const [records = '', days = '', entries = '', end = '', contents = '', inForce = ''] = blocksIn(
  page,
  'sql',
).map((sql) => sql.replaceAll(`'default'`, `'p'`));
const [, copying = '', script = ''] = blocksIn(page, 'sh');

let archive: Certified;
/** An auditor: may read, and nothing else. */
let reader: pg.Client;
const fileOf = (name: string): string => join(archive.folder, 'p', name);

const odd = {
  'ключ ☃ 😀': '" \\ / \b \t \n \f \r \u0001 \u007f \u2028',
  z: [1.5, 1e21, 1e-7, -0, [], {}, null, true, { b: 1, a: [2] }],
  '': '',
};

setUp(async (keep) => {
  const records = {
    orders: [
      ...Array.from({ length: 60 }, (_, i) => ({
        record: {
          operation_id: `op_${i}`,
          status: 2,
          amount: '100',
          create_time: `2026-03-${String(1 + (i % 28)).padStart(2, '0')}T10:00:00Z`,
          ...odd,
        },
      })),
      {
        text: '{"operation_id":"numbers","create_time":"2026-03-05T10:00:00Z","n":[12345678901234567890,1.50,100e-2,1E+3,0.0,-0.00,9007199254740993]}',
      },
    ],
    classes: [],
  };
  archive = await keep(createCertified(records));
  const connecting = connectReader(archive.connectionString, 'Asia/Kathmandu');
  reader = await keep(connecting, (one) => one.end());
});

const rowsOf = async (sql: string): Promise<unknown[]> => {
  const answers = (await reader.query(sql)) as unknown as pg.QueryResult | pg.QueryResult[];
  return (Array.isArray(answers) ? answers.at(-1) : answers)?.rows ?? [];
};

/** Runs a statement as a superuser inside a transaction of the auditor's own, and takes it back. */
async function spoilt(sql: string, look: () => Promise<unknown[]>): Promise<unknown[]> {
  await reader.query(`reset role; begin; ${sql}; set local role outlast_reader`);
  try {
    return await look();
  } finally {
    await reader.query('rollback; set role outlast_reader');
  }
}

// A cluster lets nobody else read what a transaction wrote.
describe.skipIf(isOnCluster)('by SQL', () => {
  test('every record has the digest that Postgres writes for it; one that was altered is named', async () => {
    expect(await rowsOf(records)).toEqual([]);
    const [, look = ''] = records.split('$$;');
    const found = await spoilt(
      `update archive.orders set raw = raw || '{"amount": "101"}' where operation_id = 'op_7'`,
      () => rowsOf(look),
    );
    expect(found).toEqual([{ project_id: 'p', operation_id: 'op_7' }]);
  });

  test('every day has the digest in its certificate; one that was altered is named', async () => {
    expect(await rowsOf(days)).toEqual([]);
    for (const sql of [
      `update archive.orders set raw_sha256 = sha256('x') where operation_id = 'op_7'`,
      `delete from archive.orders where operation_id = 'op_7'`,
    ]) {
      const found = (await spoilt(sql, () => rowsOf(days))) as { day: Date }[];
      expect(found).toHaveLength(1);
    }
  });

  test.each([
    [
      'the journal follows from itself',
      entries,
      `update sync.journal set body = body || ' ' where kind = 'pages' and day = '2026-03-05'`,
    ],
    ['no entry is gone', entries, `delete from sync.journal where day = '2026-03-05'`],
    [
      'the journal ends where its chain does',
      end,
      `delete from sync.journal where no = (select max(no) from sync.journal)`,
    ],
    ['what was stored is held', contents, `delete from archive.orders where operation_id = 'op_7'`],
    [
      'nothing else is held',
      contents,
      `update archive.orders set observed_at = (observed_at at time zone 'UTC' + interval '1 second') at time zone 'UTC' where operation_id = 'op_7'`,
    ],
    [
      'what is in force is the row',
      inForce,
      `insert into archive.order_versions select (jsonb_populate_record(null::archive.order_versions, to_jsonb(o))).* from archive.orders o where operation_id = 'op_7';
       delete from archive.orders where operation_id = 'op_7'`,
    ],
  ])('%s; sabotaged it does not', async (_, recipe, sql) => {
    expect(recipe).not.toBe('');
    expect(await rowsOf(recipe)).toEqual([]);
    expect(await spoilt(sql, () => rowsOf(recipe))).not.toEqual([]);
  });

  test('COPY prints the file of leaves', async () => {
    const statement = /-c "([\s\S]*)"/.exec(copying)?.[1] ?? '';
    const { rows } = await archive.db.query<{ at: string }>(
      `select certified_at as at from analytics.certificates where resource = 'orders'`,
    );
    const sql = statement.replace(`'default'`, `'p'`).replace('certified_at', rows[0]?.at ?? '');
    const printed = await text(reader.query(to(sql)));
    expect(printed).toBe(await readFile(fileOf('orders-2026-03.leaves.txt'), 'utf8'));
  });
});

describe('by the files alone', () => {
  const check = async (name: string): Promise<{ code: number; stdout: string }> => {
    await writeFile(join(archive.folder, 'check.sh'), script);
    try {
      const args = [join(archive.folder, 'check.sh'), fileOf(name)];
      const { stdout } = await promisify(execFile)('sh', args);
      return { code: 0, stdout };
    } catch (error) {
      return error as { code: number; stdout: string };
    }
  };

  test.each(['orders', 'nft_classes'])(
    'the script recomputes the certificate of %s',
    async (name) => {
      const { stdout } = await check(`${name}-2026-03.certificate.json`);
      const { lists } = await archive.verify();
      const ours = lists.find(({ resource }) => resource === name)?.certificates[0];
      expect(stdout).toBe(
        `The leaves agree with the digests in the certificate. Nothing else that it says was checked: its SHA-256 is\n${ours?.certificate_sha256}\n`,
      );
      // What the page says to compare it with.
      const { rows } = await archive.db.query(
        `select body::jsonb ->> 'file_sha256' as sha256 from sync.journal where kind = 'certified' and resource = $1`,
        [name],
      );
      expect(rows).toEqual([{ sha256: ours?.certificate_sha256 }]);
    },
  );

  test.each([
    ['leaves', 'orders-2026-03.leaves.txt', /op_5\t\w/, 'op_5\t0'],
    ['day', 'orders-2026-03.certificate.json', /"digest":"../, '"digest":"00'],
    [
      'month',
      'orders-2026-03.certificate.json',
      /"digest":"..(?=[0-9a-f]*","facts")/,
      '"digest":"00',
    ],
  ])('the script notices an altered %s', async (what, name, from, altered) => {
    const before = await readFile(fileOf(name), 'utf8');
    expect(before).toMatch(from);
    await writeFile(fileOf(name), before.replace(from, altered));
    const { code, stdout } = await check('orders-2026-03.certificate.json');
    await writeFile(fileOf(name), before);
    expect(code).toBe(1);
    expect(stdout).toMatch(new RegExp(`^(the|a) ${what}: certified is`));
  });
});
