// Watched operations and tokens under real processes, two at a time and really killed: what verify expects is held
// after each kill, and in the end all of it (P1, P3, P8).
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { addDays } from '../../src/day.ts';
import { watchOperations } from '../../src/store/operations/enter.ts';
import { verifyProject } from '../../src/verify/verify.ts';
import { createBench, type Bench } from '../support/archive.ts';
import { killSyncs, startSync } from '../support/syncs.ts';

let bench: Bench;
beforeEach(async () => {
  const world = {
    ordersPerDay: 1,
    classesPerDay: 1,
    quietShare: 0,
    transactionsPerDay: 30,
    tokens: 60,
  };
  bench = await createBench({
    world,
    latencyMs: 8,
    days: ['2026-03-01', '2026-04-05', '2026-04-06'],
  });
  await bench.run();
});
afterEach(async () => {
  await killSyncs();
  await bench.close();
});

async function findings(): Promise<string[]> {
  const found: string[] = [];
  await verifyProject({
    db: bench.db,
    projectId: 'p',
    resources: ['transactions', 'tokens'],
    months: null,
    certificatesDir: null,
    signal: new AbortController().signal,
    onFinding: ({ kind, id, says }) => void found.push(`${kind} ${id}: ${says}`),
    onProgress: () => undefined,
  });
  return found;
}

async function held(): Promise<{ done: number; results: number; tokens: number }> {
  const { rows } = await bench.db.query<{ done: number; results: number; tokens: number }>(
    `select (select count(*)::int from sync.watched_operations where state = 'done') as done,
            (select count(*)::int from archive.transactions) as results,
            (select count(*)::int from archive.tokens) as tokens`,
  );
  return rows[0] ?? { done: 0, results: 0, tokens: 0 };
}

/** Until more are done than before, so that the kill hits in the middle; ends after 20 s at the latest. */
async function progress(before: number): Promise<void> {
  for (let i = 0; i < 1_000 && (await held()).done <= before; i++) await sleep(20);
}

test('P3: killed at random instants, what was committed verifies, and nothing is left out in the end', async () => {
  const ids = Array.from({ length: 4 }, (_, i) =>
    bench.simulator.oracle.operationIds(addDays('2026-03-20', i)),
  ).flat();
  expect(ids.length).toBeGreaterThan(100);
  await watchOperations(
    bench.db,
    'p',
    ids.map((operationId) => ({ operationId, createdOn: '2026-03-20' })),
  );
  let random = 11;
  const next = (): number => (random = (random * 48_271) % 2_147_483_647) / 2_147_483_647;
  let before = 0;
  let partial = 0;
  for (let i = 0; i < 2 && before < ids.length; i++) {
    const env = { OUTLAST_TOKENS_HOURS: '1', OUTLAST_LOG_LEVEL: 'error' };
    const two = [startSync(bench, [], env), startSync(bench, [], env)];
    await progress(before);
    await sleep(next() * 250);
    for (const one of two) await one.stop('SIGKILL');
    expect(await findings()).toEqual([]);
    const { done } = await held();
    expect(done).toBeGreaterThanOrEqual(before);
    if (done > before && done < ids.length) partial += 1;
    before = done;
  }
  // Some of them in the middle of it.
  expect(partial).toBeGreaterThan(0);
  // What a killed process had claimed is free again when its lease is over.
  await sleep(3_000);
  const all = { done: ids.length, results: 2 * ids.length, tokens: 60 };
  bench.worker.tokensEveryMs = 3_600_000;
  // Its `Date` has whole seconds: what was due by its estimate is due by ours a second later at the latest.
  bench.simulator.advance(2_000);
  for (let i = 0; i < 3 && !isDeepStrictEqual(await held(), all); i++) await bench.run();
  expect(await held()).toEqual(all);
  expect(await findings()).toEqual([]);
  const { rows } = await bench.db.query('select from archive.transaction_versions');
  expect(rows).toEqual([]);
});
