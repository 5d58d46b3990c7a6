// The checks of the torture, each with a sabotaged twin: a sound archive passes them all, and whoever breaks the
// database by hand is told of by name. And how a process may end.
import { expect, test } from 'vitest';
import { createBench, type Bench } from '../support/archive.ts';
import { queryAt, withClient } from '../support/client.ts';
import { fresh } from '../support/fresh.ts';
import { createKeepsake, findAll, type Keepsake } from './checks.ts';
import { createMemory, type Memory } from './memory.ts';
import { findingIn } from './replicas.ts';
import { notAtRest } from './rest.ts';

let bench: Bench;
let memory: Memory;
let keepsake: Keepsake;
const hour = 3_600_000;
const some = ['2026-03-01', '2026-03-02', '2026-03-03', '2026-03-09', '2026-04-05', '2026-04-06'];

/** A sound archive of some days; without them of the whole window, one of a February. */
async function begin(days?: string[]): Promise<Bench> {
  memory = createMemory(() => bench.simulator);
  keepsake = createKeepsake();
  const read = days === undefined ? { startAt: Date.parse('2026-03-02T12:00:00Z') } : { days };
  const world = { ordersPerDay: 12, classesPerDay: 6, quietShare: 0.2 };
  bench = await fresh(createBench({ world, ...read, onPage: (page) => memory.onPage(page) }));
  await bench.seal();
  return bench;
}

/** As the owner of the database, who may break everything. */
const asOwner = <T extends Record<string, unknown>>(
  text: string,
  values?: unknown[],
): Promise<T[]> => queryAt<T>(bench.connectionString, text, values);

async function findings(): Promise<string> {
  const given = { memory, keepsake, slackMs: 60_000, hasEmptyHours: false };
  const { found } = await withClient(bench.connectionString, (db) => findAll(db, given));
  return found.join('\n');
}

/** An order of a sealed day. */
async function sealedOrder(): Promise<string> {
  const [found] = await asOwner<{ id: string }>(
    `select operation_id as id
       from archive.orders o join sync.slices s on s.resource = 'orders' and s.day = o.slice_day
      where s.state = 'sealed' order by s.day desc limit 1`,
  );
  return found?.id ?? '';
}

test('a sound archive passes, also after the platform has moved on; sabotaged at rest, each fault is named', async () => {
  const archive = await begin();
  const { simulator, db } = archive;
  const restFindings = async (): Promise<string> => {
    const world = { simulator, memory, drawn: { oddity: {} } };
    return (await notAtRest(world, db)).join('\n');
  };
  expect(await findings()).toBe('');
  const [order] = [...simulator.oracle.shown('orders')];
  memory.wasHidden(order?.id ?? '');
  simulator.hide('orders', order?.id ?? '');
  await archive.runLater(25 * hour);
  await archive.runLater(25 * hour);
  expect(await findings()).toBe('');
  expect(await restFindings()).toBe('');

  const id = await sealedOrder();
  await asOwner(`update archive.orders set operation_id = 'made-up' where operation_id = $1`, [id]);
  await asOwner(`delete from sync.slices where resource = 'orders' and day = '2026-02-09'`);
  await asOwner(
    `update sync.slices set state = 'walked' where resource = 'orders' and day = '2026-02-10'`,
  );
  const found = await restFindings();
  expect(found).toContain(`in the end ${id} is shown as`);
  expect(found).toContain('in the end made-up is shown as null');
  expect(found).toContain('orders 2026-02-09 is not in the ledger');
  expect(found).toContain('orders 2026-02-10 is walked');
});

test('P4, P5, sabotaged: a content replaced by an older one, by none, by an invented one; a record that is gone', async () => {
  const archive = await begin(some);
  const { simulator } = archive;
  const [older, unversioned] = [...simulator.oracle.shown('nft_classes')].map(({ id }) => id);
  for (const id of [older ?? '', unversioned ?? '']) {
    simulator.mutate('nft_classes', id, (record) => ({ ...record, nft_count: 123_456 }));
  }
  await archive.runLater(7 * hour);
  expect(await findings()).toBe('');
  await asOwner(
    `update archive.nft_classes c set raw = v.raw
       from archive.nft_class_versions v where v.id = c.id and c.id = $1`,
    [older],
  );
  await asOwner('delete from archive.nft_class_versions where id = $1', [unversioned]);
  const [gone, other] = await asOwner<{ id: string }>(
    'select operation_id as id from archive.orders order by 1 limit 2',
  );
  await asOwner('delete from archive.orders where operation_id = $1', [gone?.id]);
  await asOwner(
    `update archive.orders set raw = raw || '{"message":"made up"}' where operation_id = $1`,
    [other?.id],
  );
  const found = await findings();
  expect(found).toContain(`what it showed of ${older} is not held`);
  expect(found).toContain(`nft_classes ${unversioned} was archived with a content that is gone`);
  expect(found).toContain(`orders ${gone?.id} was archived and is gone`);
  expect(found).toContain(`orders ${other?.id} is held with a content never shown`);
});

test('P6, P7, sabotaged: a sealed day without a record, without a reading; what was read is lost, what was final is not', async () => {
  await begin(some);
  const id = await sealedOrder();
  await asOwner(`update sync.slices set state = 'final' where day = '2026-03-02'`);
  expect(await findings()).toBe('');
  await asOwner(`update sync.pages set ids = array_remove(ids, $1)`, [id]);
  await asOwner('delete from archive.orders where operation_id = $1', [id]);
  await asOwner(`delete from sync.readings where day = '2026-03-09' and from_end = 'asc'`);
  await asOwner(
    `update sync.slices set state = case day when '2026-03-02' then 'walked' else 'lost' end
      where resource = 'orders' and day in ('2026-03-02', '2026-03-03')`,
  );
  const found = await findings();
  expect(found).toContain(`without ${id}, which was there since`);
  expect(found).toMatch(/2026-03-09 is sealed by \w+ without two readings/);
  expect(found).toContain('orders 2026-03-02 was final and is walked');
  expect(found).toContain('orders 2026-03-03 was sealed and is lost');
});

test.each([
  [{ code: 1, signal: null, said: 'outlast: something unexpected happened: no' }, 'unexpected'],
  [{ code: 1, signal: null, said: 'outlast: it did not work' }, 'ended with 1'],
  [{ code: 2, signal: null, said: 'outlast: --from is no day' }, 'ended with 2'],
  [{ code: null, signal: 'SIGSEGV' as const, said: '' }, 'SIGSEGV'],
  [{ code: 75, signal: null, said: 'TypeError: Cannot read properties of undefined' }, 'Cannot'],
  [{ code: 75, signal: null, said: 'Error: x\n    at f (node:events:1:1)' }, 'node:events'],
  [{ code: 0, signal: null, said: 'with hush-hush in it' }, 'secret'],
  [{ code: 0, signal: null, said: '' }, null],
  [{ code: 75, signal: null, said: 'outlast: The database cannot be reached.' }, null],
  [{ code: null, signal: 'SIGKILL' as const, said: '' }, null],
  [{ code: 1, signal: null, said: 'outlast: The disk of the database is full.' }, null],
])('P10, P12: %j is a finding: %s', (ended, finding) => {
  const found = findingIn(ended, ['hush-hush']);
  if (finding === null) expect(found).toBeNull();
  else expect(found).toContain(finding);
});
