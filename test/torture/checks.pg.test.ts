// The checks of the torture, each with a sabotaged twin: a sound archive passes them all, and whoever breaks the
// database by hand is told of by name.
import pg from 'pg';
import { afterEach, expect, test as anyTest } from 'vitest';
import { createBench, type Bench } from '../support/archive.ts';
import { isOnCluster } from '../support/postgres.ts';
import { findAll } from './checks.ts';
import { createKeepsake, withEvidence, type Keepsake } from './evidence.ts';
import { installAudit } from './leases.ts';
import { createMemory, type Memory } from './memory.ts';
import { notAtRest } from './rest.ts';

// A cluster takes no triggers, and by them the audit is kept.
const test = anyTest.skipIf(isOnCluster);

let bench: Bench;
let memory: Memory;
let keepsake: Keepsake;
let owner: pg.Client;
const days = ['01', '02', '03', '09', '10']
  .map((on) => `2026-03-${on}`)
  .concat('2026-04-05', '2026-04-06');
const world = { ordersPerDay: 12, classesPerDay: 6, quietShare: 0.2 };

/** Without `days` the whole window is read, one of a February. */
async function begin(only?: string[]): Promise<void> {
  memory = createMemory(() => bench.simulator);
  keepsake = createKeepsake();
  const read =
    only === undefined ? { startAt: Date.parse('2026-03-02T12:00:00Z') } : { days: only };
  bench = await createBench({ world, ...read, onPage: (page) => memory.onPage(page) });
  owner = await connected('1');
  await installAudit(owner);
  await bench.seal();
}

afterEach(async () => {
  await owner.end();
  await bench.close();
});

/** As the owner of the database, who may break everything; and as a replica of that number. */
async function connected(replica: string): Promise<pg.Client> {
  const address = new URL(bench.connectionString);
  address.searchParams.set('options', `-c torture.replica=${replica}`);
  const client = new pg.Client({ connectionString: address.href });
  await client.connect();
  return client;
}

const findings = (): Promise<string[]> =>
  withEvidence(
    bench.connectionString,
    { memory, keepsake, slackMs: 60_000, hasEmptyHours: false },
    findAll,
  );

const restFindings = (): Promise<string[]> =>
  notAtRest(
    { simulator: bench.simulator, memory, drawn: { dialect: {}, hardship: null } },
    bench.db,
  );

/** An order of a sealed day. */
async function sealedOrder(): Promise<string> {
  const { rows } = await owner.query<{ id: string }>(
    `select operation_id as id
       from archive.orders o join sync.slices s on s.resource = 'orders' and s.day = o.slice_day
      where s.state = 'sealed' order by 1 limit 1`,
  );
  return rows[0]?.id ?? '';
}

test('a sound archive passes every check, also after the platform has moved on; sabotaged at rest, each fault is named', async () => {
  await begin();
  expect(await findings()).toEqual([]);
  const [order] = [...bench.simulator.oracle.shown('orders')];
  memory.wasHidden('orders', order?.id ?? '', bench.simulator.clock.now());
  bench.simulator.hide('orders', order?.id ?? '');
  await bench.runLater(25 * 3_600_000);
  await bench.runLater(25 * 3_600_000);
  expect(await findings()).toEqual([]);
  expect(await restFindings()).toEqual([]);

  const id = await sealedOrder();
  await owner.query(`update archive.orders set operation_id = 'made-up' where operation_id = $1`, [
    id,
  ]);
  await owner.query(`delete from sync.slices where resource = 'orders' and day = '2026-02-09'`);
  await owner.query(
    `update sync.slices set state = 'walked' where resource = 'orders' and day = '2026-02-10'`,
  );
  const found = (await restFindings()).join('\n');
  expect(found).toContain(`the archive is not exact: ${id} is shown as`);
  expect(found).toContain('the archive is not exact: made-up is shown as null');
  expect(found).toContain('orders 2026-02-09 is not in the ledger');
  expect(found).toContain('orders 2026-02-10 is walked');
});

test('P1, P5, P6, sabotaged: what pages name, what a record says, what a seal counts, a seal without proof', async () => {
  await begin(days);
  // Each by what only it brings about, and the counts of one day alone: a check tells no more than its first few
  // faults.
  await owner.query(
    `update sync.pages set ids = ids || array['never-archived'] where page = 0 and day = '2026-04-06'`,
  );
  await owner.query(
    `update sync.slices set shown_total = shown_total + 1
      where resource = 'orders'
        and day = (select min(day) from sync.slices where state = 'sealed' and shown_total > 0 and resource = 'orders')`,
  );
  await owner.query(
    `update sync.slices set proof = 'none'
      where resource = 'nft_classes'
        and day = (select min(day) from sync.slices where state = 'sealed' and resource = 'nft_classes')`,
  );
  await owner.query(
    `update archive.orders set raw = raw || '{"message":"made up"}' where operation_id = $1`,
    [await sealedOrder()],
  );
  const found = (await findings()).join();
  const p1 = 'P1: the ledger claims no row that is not held';
  for (const resource of ['orders', 'nft_classes']) {
    expect(found).toContain(`${p1}: a page of ${resource} 2026-04-06 names never-archived`);
  }
  expect(found).toMatch(/orders [^,]*with \d+ shown and \d+ on its pages/);
  expect(found).toContain('a seal without proof');
  expect(found).toContain('content that was never shown');
});

test('P6, sabotaged: a sealed day is without a record', async () => {
  await begin(days);
  const id = await sealedOrder();
  await owner.query(`update sync.pages set ids = array_remove(ids, $1)`, [id]);
  await owner.query('delete from archive.orders where operation_id = $1', [id]);
  const found = await findings();
  expect(found.join()).toContain(`without ${id}, which the platform had`);
});

test('P1, P6, sabotaged: a record was too long to be held, and what was kept of it is gone', async () => {
  await begin(days);
  const { simulator } = bench;
  const at = Date.parse('2026-03-03T10:00:00Z');
  memory.wasInserted('orders', 'endless', at, simulator.clock.now());
  simulator.insert('orders', { record: { operation_id: 'endless', status: 2 }, at });
  simulator.setFaults({ giant: { ids: ['endless'], bytes: 600_000 } });
  simulator.advance(2 * 60_000);
  const thatDay = { from: '2026-03-03', to: '2026-03-04' };
  await bench.run({ only: { resource: 'orders', days: thatDay } });
  // It is news to that reading: the next one confirms it.
  await bench.runLater(3 * 3_600_000);
  expect(await findings()).toEqual([]);
  await owner.query('delete from sync.rejects');
  const found = (await findings()).join('\n');
  expect(found).toContain('orders 2026-03-03 names reject');
  expect(found).toContain('without endless, which the platform had');
});

test('P4, P5, sabotaged: a committed page showed a newer content than is held; what was held at the last look is gone', async () => {
  await begin(days);
  const [older, unversioned] = [...bench.simulator.oracle.shown('nft_classes')].map(({ id }) => id);
  for (const id of [older ?? '', unversioned ?? '']) {
    bench.simulator.mutate('nft_classes', id, (record) => ({ ...record, nft_count: 123_456 }));
  }
  await bench.runLater(7 * 3_600_000);
  expect(await findings()).toEqual([]);
  await owner.query(
    `update archive.nft_classes c set raw = v.raw
       from archive.nft_class_versions v where v.id = c.id and c.id = $1`,
    [older],
  );
  await owner.query('delete from archive.nft_class_versions where id = $1', [unversioned]);
  await owner.query('delete from archive.orders where operation_id = $1', [await sealedOrder()]);
  const found = (await findings()).join('\n');
  expect(found).toContain('not all it carried is held');
  expect(found).toContain(`nft_classes ${unversioned} was archived with a content that is gone`);
  expect(found).toMatch(/orders .* was archived and is gone/);
});

test('P7, sabotaged: a day that was read is lost, and one that was final is open again', async () => {
  await begin(days);
  await owner.query('update sync.holders set epoch = epoch + 1');
  await owner.query(`update sync.slices set state = 'final' where day = '2026-03-02'`);
  expect(await findings()).toEqual([]);
  await owner.query(
    `update sync.slices set state = case day when '2026-03-02' then 'walked' else 'lost' end
      where resource = 'orders' and day < '2026-03-04'`,
  );
  const found = (await findings()).join('\n');
  expect(found).toContain('orders 2026-03-02 was final and is walked');
  expect(found).toContain('orders 2026-03-03 was sealed and is lost');
});

test('P8, sabotaged: somebody writes a project that another has taken', async () => {
  await begin(days);
  const take = `update sync.holders set epoch = epoch + 1`;
  const write = `update sync.slices set observed_at = clock_timestamp() where resource = 'orders' and day = '2026-03-09'`;
  await owner.query(take);
  await owner.query(write);
  expect(await findings()).toEqual([]);
  const other = await connected('2');
  await other.query(take);
  await other.query(write);
  expect(await findings()).toEqual([]);
  await owner.query(write);
  await other.end();
  expect((await findings()).join()).toMatch(
    /replica 1 wrote a slice of orders 2026-03-09 under epoch \d+, which replica 2 had taken/,
  );
  await owner.query(`update sync.holders set epoch = 0`);
  expect((await findings()).join()).toContain('the epoch went back');
});
