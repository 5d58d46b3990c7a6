// Three past days of a platform written out: twelve settled orders and twelve classes each, so that a page of five has
// a first, a middle and a last. And what became of those days.
import type { Day } from '../../src/model.ts';
import type { SimulatorOptions } from '../../src/simulator/simulator-server.ts';
import type { Queryable } from '../../src/store/db.ts';

/** Before `noon` of archive.ts. */
export const threeDays = ['2026-04-01', '2026-04-02', '2026-04-03'] as const;
const eachDay = 12;

/** Every six minutes from ten o'clock on. */
const clock = (i: number): string =>
  new Date((600 + 6 * i) * 60_000).toISOString().slice('1970-01-01T'.length, -'.000Z'.length);

/** Of the day `on`, the `i`-th (from 0). */
export const orderOf = (on: string, i: number, more: object = {}) => ({
  record: {
    operation_id: `o-${on}-${i}`,
    status: 2,
    create_time: `${on}T${clock(i)}Z`,
    update_time: `${on}T23:00:00Z`,
    ...more,
  },
});

export const classOf = (on: string, i: number, more: object = {}) => ({
  record: {
    id: `c-${on}-${i}`,
    name: `class ${i}`,
    owner: 'somebody',
    nft_count: i,
    timestamp: `${on} ${clock(i)} +0000 UTC`,
    ...more,
  },
});

const numbers = Array.from({ length: eachDay }, (_, i) => i);

/** Twelve of each list on each of the days. */
export const recordsOf = (days: readonly Day[]) => ({
  orders: days.flatMap((on) => numbers.map((i) => orderOf(on, i))),
  classes: days.flatMap((on) => numbers.map((i) => classOf(on, i))),
});

/**
 * Three days of records and nothing else, five on a page; besides them the window's first day, two empty ones and today
 * are read.
 */
export const threeDaysOfRecords = {
  days: ['2026-03-01', '2026-03-31', ...threeDays, '2026-04-04', '2026-04-06'],
  records: recordsOf(threeDays),
  dialect: { maxOrders: 5, maxClasses: 5 },
} satisfies SimulatorOptions & { days: readonly Day[] };

/** The eighth record of each day, in both lists: it stands in the middle of a page. */
export const someIds = threeDays.flatMap((on) => [`o-${on}-7`, `c-${on}-7`]);

/** The states of the three days and how they were proved, by resource: `sealed books` three times, for example. */
export async function statesOf(db: Queryable): Promise<Record<string, string[]>> {
  const { rows } = await db.query<{ resource: string; states: string[] }>(
    `select resource, array_agg(state || ' ' || proof order by day) as states
       from sync.slices where day between $1 and $2 group by 1`,
    [threeDays[0], threeDays[2]],
  );
  return Object.fromEntries(rows.map(({ resource, states }) => [resource, states]));
}
