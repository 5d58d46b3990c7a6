// Replicas as people run them: real processes on one database. One rate limit and one Retry-After hold for all (P11),
// the slices are shared, and each is worked on by one at a time (P8).
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { daysIn } from '../../src/day.ts';
import type { Day } from '../../src/model.ts';
import { withTx } from '../../src/store/db.ts';
import { takeGrant } from '../../src/store/rate.ts';
import { createBench, differences, type Bench } from '../support/archive.ts';
import type { Running } from '../support/command.ts';
import { killSyncs, startSync } from '../support/syncs.ts';

let bench: Bench;

/** With records since then. */
async function open(since: Day): Promise<void> {
  bench = await createBench({
    world: { ordersPerDay: 30, classesPerDay: 6, quietShare: 0.2, since },
    days: ['2026-03-01', ...daysIn({ from: since, to: '2026-04-07' })],
  });
}
afterEach(async () => {
  await killSyncs();
  await bench.close();
});

const sync = (perSecond: number): Running =>
  startSync(bench, [], {
    OUTLAST_MAX_RPS: String(perSecond),
    OUTLAST_LEASE_SECONDS: '120',
    OUTLAST_LOG_LEVEL: 'error',
  });

/** When each request reached the platform, in real time. */
const moments = (): number[] =>
  bench.simulator.requests
    .recent()
    .map(({ receivedAt }) => receivedAt)
    .toSorted((a, b) => a - b);

/** The most requests in any stretch of so many milliseconds. */
function mostWithin(times: number[], ms: number): number {
  return Math.max(
    ...times.map((from) => times.filter((at) => at >= from && at < from + ms).length),
  );
}

/** How often the first page of each past day was asked for: as a walk asks for it, not as the probe does. */
function firstPages(): number[] {
  const times = new Map<string, number>();
  for (const { path, query } of bench.simulator.requests.recent()) {
    const asked = new URLSearchParams(query);
    const [from, to] = [asked.get('start_date') ?? '', asked.get('end_date')];
    const isWalk =
      from === to && asked.get('sort_by') === 'DATE_ASC' && Number(asked.get('limit')) > 1;
    const isFirst = !asked.has('page_key') && (asked.get('offset') ?? '0') === '0';
    if (isWalk && isFirst && from < '2026-04-05')
      times.set(`${path} ${from}`, (times.get(`${path} ${from}`) ?? 0) + 1);
  }
  return [...times.values()];
}

test('P11, P8: three processes keep to one rate, share the slices, and no slice is walked twice', async () => {
  await open('2026-03-14');
  const perSecond = 25;
  const all = [sync(perSecond), sync(perSecond), sync(perSecond)];
  for (const { code, stderr } of await Promise.all(all.map((one) => one.ended))) {
    // 75: another process held something that was due.
    expect([0, 75], stderr).toContain(code);
  }
  const times = moments();
  expect(times.length).toBeGreaterThan(60);
  // A bucket holds half a second's worth and a grant lives for a quarter: with what a request's way may differ, twice
  // the rate in a second at the very most, and the rate over longer.
  expect(mostWithin(times, 1_000)).toBeLessThanOrEqual(2 * perSecond);
  const seconds = ((times.at(-1) ?? 0) - (times[0] ?? 0)) / 1000;
  expect(times.length).toBeLessThanOrEqual(perSecond * (seconds + 1) + 1);
  // Idle where the last of them left nothing that is due.
  expect(['done', 'idle']).toContain((await bench.run()).outcome);
  expect(await differences(bench)).toEqual([]);
  const { rows } = await bench.db.query<{ twice: number }>(
    `select count(*)::int as twice from sync.slices
      where day < '2026-04-06' and (whole_walk > 1 or lease_epoch > 2)`,
  );
  expect(rows).toEqual([{ twice: 0 }]);
  expect(firstPages()).toEqual(Array.from({ length: 2 * 23 }, () => 1));
  // Not one of them did it all: the contact, a dozen requests, lets some begin later.
  const shares = await bench.db.query(`select from sync.runs where slices_done > 5`);
  expect(shares.rowCount).toBeGreaterThanOrEqual(2);
});

test('P11: who finds the bucket just opened by another asks again', async () => {
  await open('2026-04-05');
  const asked = await withTx(bench.db, async (tx) => {
    await tx.query(
      `insert into sync.rate (project_id, tokens, refilled_at) values ('q', 5, now())`,
    );
    const asked = takeGrant(bench.db, 'q', 25);
    await sleep(300);
    return { asked };
  });
  expect(await asked.asked).toMatchObject({ granted: 0, waitMs: 0 });
  expect((await takeGrant(bench.db, 'q', 25)).granted).toBeGreaterThan(0);
});

test('P11: a Retry-After that one of them is told holds for all; sabotaged, a higher rate is noticed', async () => {
  await open('2026-03-30');
  bench.simulator.setFaults({ tooMany: { next: 1, retryAfter: 3 } });
  const all = [sync(50), sync(50)];
  await Promise.all(all.map((one) => one.ended));
  const refused = bench.simulator.requests.recent().find(({ status }) => status === 429);
  const asked = refused?.receivedAt ?? Number.NaN;
  // What was on its way when the answer came may still arrive.
  const meanwhile = moments().filter((at) => at > asked + 1_000 && at < asked + 2_900);
  expect(meanwhile).toEqual([]);
  expect(moments().filter((at) => at >= asked + 2_900).length).toBeGreaterThan(20);
  // Sabotaged, the check above of a platform that was promised five a second: a busy machine asks no faster than it
  // can.
  expect(mostWithin(moments(), 1_000)).toBeGreaterThan(2 * 5);
});
