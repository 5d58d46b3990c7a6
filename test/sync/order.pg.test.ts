// What a run takes first, told by what it did against a simulator that has more to show than a run can read at once.
import { expect, test } from 'vitest';
import { daysIn } from '../../src/day.ts';
import { nextSlice } from '../../src/store/due.ts';
import type { Slice } from '../../src/store/ledger.ts';
import { noon, type Bench } from '../support/archive.ts';
import { benchesOnOneDatabase } from '../support/one-database.ts';

const createBench = benchesOnOneDatabase();
const world = { ordersPerDay: 350, classesPerDay: 5, quietShare: 0 };
/** Eight days of the dying month, four of the current one, and today. */
const days = [
  ...daysIn({ from: '2026-03-01', to: '2026-03-09' }),
  ...daysIn({ from: '2026-04-02', to: '2026-04-07' }),
];

/** The days as one lane took them, by the transactions that wrote their pages. Today's is left out. */
async function daysInTurn(bench: Bench): Promise<string[]> {
  // Not by walked_at: the clock it is told by is corrected while a run goes on, by up to half a second.
  const { rows } = await bench.db.query<{ day: string }>(
    `select day from sync.pages where day < '2026-04-06'
      group by resource, day order by min(xmin::text::bigint)`,
  );
  return rows.map((row) => row.day);
}

test('the nearest deadline goes first: no day of the current month before the dying one is read', async () => {
  const few = { ...world, ordersPerDay: 5 };
  // Of two lanes the one that claims second may begin to read first.
  const bench = await createBench({ days, latencyMs: 2, speed: 1, world: few }, { lanes: 1 });
  expect(await bench.run()).toMatchObject({ outcome: 'done' });
  const taken = await daysInTurn(bench);
  expect(taken).toHaveLength(2 * 12);
  expect(taken.slice(0, 2 * 8).every((day) => day.startsWith('2026-03'))).toBe(true);
});

test('of a month the days never read come before those that are read once more', async () => {
  const bench = await createBench({ days, world: { ...world, ordersPerDay: 5 } });
  await bench.run();
  await bench.db.query(
    `update sync.slices set whole_walk = 0, state = 'open' where day = '2026-03-05'`,
  );
  await bench.db.query(`update sync.slices set due_at = '2026-01-01' where due_at is not null`);
  const taken: Slice[] = [];
  const options = { projectId: 'p', dueBy: noon, today: '2026-04-06', except: taken };
  for (let i = 0; i < 5; i++) {
    const next = await nextSlice(bench.db, options);
    if (next !== null) taken.push(next);
  }
  expect(taken.map((one) => one.day)).toEqual([
    '2026-04-06',
    '2026-04-06',
    '2026-03-05',
    '2026-03-05',
    '2026-03-01',
  ]);
});

/** How long the platform waited between two readings of today's orders, in its own minutes, while a run lasted. */
async function minutesBetweenTails(bench: Bench): Promise<number[]> {
  const from = bench.simulator.clock.now();
  await bench.run();
  const to = bench.simulator.clock.now();
  const moments = bench.simulator.requests
    .recent()
    .filter(({ path, query }) => path === '/v3/orders' && query.includes('start_date=2026-04-06'))
    .map((request) => request.at);
  const all = [from, ...moments, to];
  return all.slice(1).map((moment, i) => (moment - (all[i] ?? 0)) / 60_000);
}

test('a run of many minutes reads today’s tail again each minute', async () => {
  const bench = await createBench(
    { days, world },
    { lanes: 1, settings: { deadlineMarginMs: 86_400_000, refreshMs: 86_400_000 } },
  );
  const { platform } = bench.worker;
  // An answer takes five seconds, on however busy a machine.
  const page: typeof platform.page = (...asked) => {
    bench.simulator.advance(5_000);
    return platform.page(...asked);
  };
  bench.worker.platform = { ...platform, page };
  const gaps = await minutesBetweenTails(bench);
  const minutes = gaps.reduce((sum, gap) => sum + gap, 0);
  expect(minutes).toBeGreaterThan(3);
  // One lane's tail waits for the walk in progress, and whatever takes long rests for longer.
  expect(gaps.filter((gap) => gap > 0.5).length).toBeGreaterThan(3);
  expect(Math.max(...gaps)).toBeLessThan(minutes / 2);
});

test('P7: a run that outlasts the day enters the new one and reads its tail, too', async () => {
  const startAt = Date.parse('2026-04-06T23:59:00Z');
  const bench = await createBench({
    days,
    startAt,
    latencyMs: 40,
    speed: 1,
    world: { ...world, ordersPerDay: 100 },
  });
  // Not before: where a database takes long to be made, the new day would be among those left out.
  bench.simulator.clock.setSpeed(120);
  await bench.run();
  const { rows } = await bench.db.query<{ day: string; whole_walk: number }>(
    `select day, whole_walk from sync.slices where resource = 'orders' and day >= '2026-04-06' order by day`,
  );
  expect(rows.map((row) => row.day)).toEqual(['2026-04-06', '2026-04-07']);
  expect(rows[1]?.whole_walk).toBeGreaterThan(0);
});
