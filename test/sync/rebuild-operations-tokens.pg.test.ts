// Rebuild of what no list shows: typed columns follow from their records again, per lookup, and nothing else is
// touched.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Resource } from '../../src/model.ts';
import { archivedOf } from '../../src/store/tables.ts';
import { rebuild, type Rebuilt } from '../../src/sync/rebuild.ts';
import { createUnlisted, type Unlisted } from '../support/unlisted.ts';

/** One for all tests: each but the last leaves every column as its record says. */
let archive: Unlisted;
beforeAll(async () => {
  archive = await createUnlisted();
});
afterAll(() => archive.close());

async function rebuilt(resource: Resource): Promise<Rebuilt[]> {
  const done: Rebuilt[] = [];
  for (const of of archivedOf('p', resource)) {
    done.push(
      await rebuild(archive.db, of, {
        signal: new AbortController().signal,
        afresh: false,
        onProgress: () => undefined,
      }),
    );
  }
  return done;
}

const findings = async (): Promise<string[]> =>
  (await archive.verify(['transactions', 'tokens'])).findings.map(
    ({ kind, id, says }) => `${kind} ${id}: ${says}`,
  );

/** Everything that tells whether a row was written. */
async function prints(table: string): Promise<unknown[]> {
  const { rows } = await archive.db.query(
    `select t::text, ctid, xmin from archive.${table} t order by 1`,
  );
  return rows;
}

test('where everything follows no row is written', async () => {
  const before = [await prints('transactions'), await prints('tokens')];
  expect(await rebuilt('transactions')).toMatchObject([
    { done: true, rowsRead: 8, rowsChanged: 0, changes: {}, altered: [], returned: 0 },
    { done: true, rowsRead: 6, rowsChanged: 0, changes: {}, altered: [], returned: 0 },
  ]);
  expect(await rebuilt('tokens')).toMatchObject([
    { done: true, rowsRead: 4, rowsChanged: 0, changes: {}, altered: [], returned: 0 },
  ]);
  expect([await prints('transactions'), await prints('tokens')]).toEqual(before);
});

test('results are what their records say again, each of its own lookup', async () => {
  const { rows: before } = await archive.db.query(
    'select * from archive.transactions order by 2, 3',
  );
  await archive.owner.query(
    `update archive.transactions
        set status = 7, nft = '{"x": 1}', mt = '[]', record = null, block_height = 1, confirmed_at = null, unread = '{}'`,
  );
  expect((await findings()).length).toBeGreaterThan(10);
  const [v1beta1, v3] = await rebuilt('transactions');
  expect(v1beta1).toMatchObject({ rowsRead: 8, rowsChanged: 8, changes: { status: 8, nft: 8 } });
  expect(v3).toMatchObject({ rowsRead: 6, rowsChanged: 6, changes: { block_height: 6 } });
  expect(await findings()).toEqual([]);
  const { rows: after } = await archive.db.query(
    'select * from archive.transactions order by 2, 3',
  );
  const timeless = (rows: object[]) => rows.map((row) => ({ ...row, changed_at: null }));
  expect(timeless(after)).toEqual(timeless(before));
});

test('tokens are, and their heights stay as they were observed', async () => {
  const heights = `select symbol, height::text from archive.tokens order by 1`;
  const { rows: before } = await archive.db.query(heights);
  await archive.owner.query(
    `update archive.tokens set scale = null, max_supply = 1, mintable = null, mint_fee_amount = 7, unread = '{}'`,
  );
  expect(await rebuilt('tokens')).toMatchObject([{ rowsRead: 4, rowsChanged: 4 }]);
  expect(await findings()).toEqual([]);
  expect((await archive.db.query(heights)).rows).toEqual(before);
});

test('their versions are, too', async () => {
  const typed = async () => [await texts('transaction_versions'), await texts('token_versions')];
  const texts = async (table: string): Promise<unknown[]> =>
    (await archive.db.query(`select t::text from archive.${table} t order by 1`)).rows;
  const before = await typed();
  const [results, tokens] = before.map((rows) => rows.length);
  expect([results, tokens]).not.toContain(0);
  await archive.owner.query(
    `update archive.transaction_versions set status = 7, record = '[]', operation = null;
     update archive.token_versions set scale = null, mint_fee_amount = 7, unread = '{x}'`,
  );
  expect(await findings()).toHaveLength((results ?? 0) + (tokens ?? 0));
  const rebuilds = [...(await rebuilt('transactions')), ...(await rebuilt('tokens'))];
  expect(rebuilds.reduce((sum, { rowsChanged }) => sum + rowsChanged, 0)).toBe(
    (results ?? 0) + (tokens ?? 0),
  );
  expect(await findings()).toEqual([]);
  expect(await typed()).toEqual(before);
});

test('a token that was set aside and can be read by now becomes one, as of the moment it was seen', async () => {
  const element = `{"type":"t","value":{"symbol":"late","name":"L","scale":3}}`;
  await archive.owner.query(
    `insert into sync.rejects (project_id, resource, owner, day, sha256, bytes, reason, seen_at)
     values ('p', 'tokens', '', '0001-01-01', sha256($1::bytea), $1::bytea, 'symbol is missing', '2026-04-05T00:00:00Z')`,
    [element],
  );
  expect(await rebuilt('tokens')).toMatchObject([{ returned: 1 }]);
  const { rows } = await archive.db.query(
    `select scale, issue_fee_amount, height, observed_at from archive.tokens where symbol = 'late'`,
  );
  expect(rows).toEqual([
    { scale: 3, issue_fee_amount: null, height: null, observed_at: '2026-04-05T00:00:00Z' },
  ]);
  // The one that still has no symbol stays.
  const left = await archive.db.query(`select from sync.rejects where resource = 'tokens'`);
  expect(left.rows).toHaveLength(1);
  expect(await findings()).toEqual([]);
});

test('P3: one that was cut off goes on, each lookup for itself', async () => {
  await archive.owner.query('delete from sync.rebuilds');
  await archive.db.query(
    `insert into sync.rebuilds (project_id, resource, started_at, done_up_to, rows_read)
     values ('p', 'transactions.v3', now(), 'nul', 5)`,
  );
  const [v1beta1, v3] = await rebuilt('transactions');
  expect(v1beta1).toMatchObject({ resumed: false, rowsRead: 8 });
  // Behind it: plain.
  expect(v3).toMatchObject({ resumed: true, rowsRead: 6, done: true });
});

test('an altered record is named and left alone', async () => {
  await archive.owner.query(
    `update archive.transactions set raw = raw || '{"status": 2}', status = 9 where operation_id = 'plain' and api_version = 'v3'`,
  );
  await archive.owner.query(`update archive.tokens set symbol = 'forged' where symbol = 'aa'`);
  const [, v3] = await rebuilt('transactions');
  expect(v3).toMatchObject({ rowsChanged: 0, altered: ['plain'], alteredCount: 1 });
  expect(await rebuilt('tokens')).toMatchObject([{ altered: ['forged'] }]);
});
