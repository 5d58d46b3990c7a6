// The last hours of a month: what is absent then may have vanished with its month, wherever the platform counts months
// (proof rule 5).
import { afterEach, expect, test } from 'vitest';
import { noon, smallWorld, type Bench } from '../support/archive.ts';
import { benchesOnOneDatabase } from '../support/one-database.ts';

const createBench = benchesOnOneDatabase();
let bench: Bench;
afterEach(() => bench.close());

const hour = 3_600_000;

/** Days of March, and the beginning of April. */
const days = [
  '2026-03-01',
  '2026-03-02',
  '2026-03-09',
  '2026-03-30',
  '2026-03-31',
  '2026-04-01',
  '2026-04-06',
];

/**
 * March archived and walked once more in its closing; then it is 16:00 of the last day of April, past midnight in
 * UTC+8.
 */
async function untilTheEnd(
  monthEnd: 'utc' | 'utc+8',
  meanwhile: () => Promise<void>,
): Promise<void> {
  bench = await createBench(
    { days, world: { ...smallWorld, ordersPerDay: 12, quietShare: 0 }, dialect: { monthEnd } },
    { scope: { classes: 'none' } },
  );
  await bench.run();
  await bench.skipTo(noon + 23 * 24 * hour);
  await bench.runLater(0);
  await meanwhile();
  await bench.runLater(28 * hour);
}

type March = { missing: number; unproved: number };
async function march(): Promise<March | undefined> {
  const { rows } = await bench.db.query<March>(
    `select (select count(*)::int from archive.orders
              where slice_day < '2026-04-01' and missing_since is not null) as missing,
            (select count(*)::int from sync.slices where day = any ($1) and day < '2026-04-01' and proof = 'none') as unproved`,
    [days],
  );
  return rows[0];
}

test('P6: a month that ends eight hours early keeps its proofs, though its last hours are still shown', async () => {
  await untilTheEnd('utc+8', async () => undefined);
  const shown = [...bench.simulator.oracle.shown('orders')].map(({ text }) => text);
  expect(shown.filter((text) => text.includes('2026-03-31T')).length).toBeGreaterThan(0);
  expect(shown.filter((text) => text.includes('2026-03-30T'))).toEqual([]);
  expect(await march()).toEqual({ missing: 0, unproved: 0 });
});

test('sabotaged: a record that vanishes while its month is still shown is noticed all the same', async () => {
  await untilTheEnd('utc', async () => {
    const { rows } = await bench.db.query<{ id: string }>(
      `select min(operation_id) as id from archive.orders where slice_day = '2026-03-09'`,
    );
    bench.simulator.hide('orders', rows[0]?.id ?? '');
  });
  expect(await march()).toEqual({ missing: 1, unproved: 1 });
});
