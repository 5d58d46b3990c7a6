// The SQL an auditor is given in docs/guarantee.md works as the reader role, and notices what it is there to notice.
import { expect, test } from 'vitest';
import { silentLog } from '../../src/log.ts';
import { openDb, type Row } from '../../src/store/db.ts';
import { createBench, tenDays, type Bench } from '../support/archive.ts';
import { queryAt } from '../support/client.ts';
import { setUp } from '../support/fresh.ts';
import { sealEmpty } from '../support/ledger.ts';
import { blocksIn, fileText } from '../support/repository.ts';

const statements = blocksIn(fileText('docs/guarantee.md'), 'sql');
const [everyDay = '', notCertain = '', counted = ''] = statements;

/** Each test spoils a day of its own. */
let bench: Bench;
setUp(async (keep) => {
  bench = await keep(createBench(tenDays));
  await bench.seal();
  await sealEmpty(bench.db);
});

async function asked(sql: string): Promise<Row[]> {
  const { connectionString } = bench;
  const reader = await openDb({ connectionString, role: 'outlast_reader', log: silentLog() });
  try {
    return (await reader.query(sql)).rows;
  } finally {
    await reader.close();
  }
}

test('there are three statements', () => {
  expect(statements).toHaveLength(3);
});

test('every day is there; one taken out of the ledger is a gap', async () => {
  expect((await asked(everyDay)).map((row) => row['gaps'])).toEqual(['0', '0']);
  await bench.db.query(`delete from sync.slices where resource = 'orders' and day = '2026-03-09'`);
  const gaps = (await asked(everyDay)).map((row) => [row['resource'], row['gaps']]);
  expect(Object.fromEntries(gaps)).toEqual({ orders: '1', nft_classes: '0' });
});

test('what is not certain is named: pending orders, a lost day', async () => {
  const before = await asked(notCertain);
  for (const row of before.filter((one) => one['is_held'] === true)) {
    expect(row['reservations']).toEqual(['unresolved_orders']);
  }
  await bench.db.query(
    `update sync.slices set state = 'lost' where resource = 'orders' and day = '2026-03-10'`,
  );
  const lost = (await asked(notCertain)).find(
    (row) => row['day'] === '2026-03-10' && row['resource'] === 'orders',
  );
  expect(lost).toMatchObject({ is_held: false, reservations: ['lost'] });
});

test('what was counted is held; a record taken away by a superuser is missed', async () => {
  expect(await asked(counted)).toEqual([]);
  await queryAt(
    bench.connectionString,
    `delete from archive.orders where operation_id =
       (select operation_id from archive.orders where slice_day < '2026-04-01' limit 1)`,
  );
  expect(await asked(counted)).toHaveLength(1);
});

test('what is counted and not shown is missed', async () => {
  const { rows } = await bench.db.query(
    `update sync.slices set platform_total = shown_total + 1
      where resource = 'orders' and day = (select max(slice_day) from archive.orders where slice_day < '2026-04-01')
      returning day`,
  );
  expect(await asked(counted)).toContainEqual(expect.objectContaining(rows[0]));
});

test('of two projects whose days showed as much, the one that holds nothing of them is named', async () => {
  const copied = (table: string): string =>
    `insert into ${table} select (jsonb_populate_record(t, '{"project_id": "other"}')).* from ${table} t`;
  await bench.db.query(copied('sync.projects'));
  await bench.db.query(copied('sync.slices'));
  const { rows } = await bench.db.query(
    `select day from sync.slices
      where project_id = 'other' and resource = 'orders' and shown_total > 0 and day < '2026-04-01'`,
  );
  const found = (await asked(counted)).filter((row) => row['project_id'] === 'other');
  expect(rows).not.toEqual([]);
  expect(found).toHaveLength(rows.length);
});
