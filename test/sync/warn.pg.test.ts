// A run warns of what it will not manage: early, once, and again looked for while it lasts.
import { afterEach, expect, test } from 'vitest';
import { silentLog, type Log } from '../../src/log.ts';
import { watchDeadlines, type DeadlineWatch } from '../../src/sync/forecast/warn-of-deadlines.ts';
import type { Bench } from '../support/archive.ts';
import { benchesOnOneDatabase } from '../support/one-database.ts';

/** Two hours before March leaves the window. */
const late = Date.parse('2026-04-30T22:00:00Z');
const createBench = benchesOnOneDatabase();
let bench: Bench;
let watch: DeadlineWatch | null = null;
afterEach(async () => {
  await watch?.close();
  watch = null;
  await bench.close();
});

type Said = Record<string, unknown> & { sentence: string };

function listening(): { log: Log; said: Said[] } {
  const said: Said[] = [];
  const log: Log = Object.assign(silentLog(), {
    child: () => log,
    warn: (fields: object, sentence: string) => void said.push({ ...fields, sentence }),
  });
  return { log, said };
}

/** March never read, and April's newest past day with so many orders. */
async function enter(
  orders: number,
  perSecond: number,
  dueAt = '2026-04-30T00:00:00Z',
): Promise<void> {
  await bench.db.query(
    `insert into sync.slices (project_id, resource, day, deadline_at, due_at)
     select 'p', 'orders', day, '2026-04-30T00:00:00Z', $1 from generate_series(date '2026-03-01', '2026-03-31', '1 day') day`,
    [dueAt],
  );
  await bench.db.query(
    `insert into sync.slices (project_id, resource, day, deadline_at, due_at, state, proof, whole_walk, walked_at, shown_total)
     values ('p', 'orders', '2026-04-29', '2026-05-30T00:00:00Z', '2026-05-01', 'sealed', 'books', 1, '2026-04-30T01:00:00Z', $1),
            ('p', 'orders', '2026-04-30', '2026-05-30T00:00:00Z', '2026-04-30', 'open', 'none', 1, '2026-04-30T01:00:00Z', 1)`,
    [orders],
  );
  await bench.db.query(`update sync.rate set per_second = $1`, [perSecond]);
}

test('what cannot be read in time is said with its numbers, once', async () => {
  bench = await createBench({ startAt: late });
  const { log, said } = listening();
  await bench.worker.platform.orders({ limit: 1, sortBy: 'DATE_DESC', countTotal: false });
  await enter(100_000, 5);
  watch = watchDeadlines({ ...bench.worker, log }, 10);
  await expect.poll(() => said).toHaveLength(1);
  expect(said[0]).toMatchObject({
    projectId: 'p',
    month: '2026-03',
    before: '2026-05-01T00:00:00.000Z',
    daysTooLate: 14,
    requests: 31 * 2_000,
    perSecond: 5,
    sentence: expect.stringContaining('cannot be done before its deadline') as string,
  });
  expect(said[0]?.['perSecondNeeded']).toBeGreaterThan(8.6);
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect(said).toHaveLength(1);
});

test('a size that becomes known while the run lasts is reckoned with', async () => {
  bench = await createBench({ startAt: late });
  const { log, said } = listening();
  await bench.worker.platform.orders({ limit: 1, sortBy: 'DATE_DESC', countTotal: false });
  await enter(10, 5);
  watch = watchDeadlines({ ...bench.worker, log }, 10);
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect(said).toEqual([]);
  await bench.db.query(`update sync.slices set shown_total = 100000 where day = '2026-04-29'`);
  await expect.poll(() => said).toHaveLength(1);
});

test('what fits is not spoken of, nor what is not due', async () => {
  bench = await createBench({ startAt: late });
  const { log, said } = listening();
  await bench.worker.platform.orders({ limit: 1, sortBy: 'DATE_DESC', countTotal: false });
  await enter(100_000, 5, '2026-05-02T00:00:00Z');
  watch = watchDeadlines({ ...bench.worker, log }, 10);
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect(said).toEqual([]);
});

test('a run warns, and records the rate it may ask at', async () => {
  bench = await createBench({
    startAt: late,
    days: ['2026-03-01', '2026-04-29', '2026-04-30'],
    world: { ordersPerDay: 50, classesPerDay: 0, quietShare: 0 },
  });
  const { log, said } = listening();
  await bench.run({ only: { days: { from: '2026-04-29', to: '2026-04-30' } } });
  await bench.db.query(`update sync.slices set shown_total = 1e12 where day = '2026-04-29'`);
  bench.worker.log = log;
  await bench.run();
  // Beside what its slices say: an empty list so near the cliff proves nothing.
  expect(said).toContainEqual(
    expect.objectContaining({
      sentence: expect.stringContaining('cannot be done before its deadline') as string,
      perSecond: 100_000,
    }),
  );
});
