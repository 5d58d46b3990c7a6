// Three past days of a platform written out: twelve settled orders and twelve classes each, so that a page of five has
// a first, a middle and a last. And what became of those days.
import type { Day, ListedResource } from '../../src/model.ts';
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

type Said = { day: Day; said: string; held: number; missing: number };

/** What is said of days in words, and how many records of each are held, and how many of those are missing. */
export async function saidOf(
  db: Queryable,
  days: readonly Day[],
  resource: ListedResource = 'orders',
): Promise<Said[]> {
  const { rows } = await db.query<Said>(
    `select s.day, concat_ws(' ', s.state, s.proof, s.why) as said, count(r.project_id)::int as held,
            count(r.missing_since)::int as missing
       from sync.slices s
       left join archive.${resource} r on r.project_id = s.project_id and r.slice_day = s.day
      where s.resource = $1 and s.day = any ($2::date[]) group by s.day, 2 order by s.day`,
    [resource, days],
  );
  return rows;
}

/** The ids of all records that are missing. */
export async function missingIn(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select operation_id as id from archive.orders where missing_since is not null
     union all select id from archive.nft_classes where missing_since is not null order by 1`,
  );
  return rows.map(({ id }) => id);
}

/** The states of the three days and how they were proved, by resource: `sealed books` three times, for example. */
export async function statesOf(db: Queryable): Promise<Record<string, string[]>> {
  const { rows } = await db.query<{ resource: string; states: string[] }>(
    `select resource, array_agg(state || ' ' || proof order by day) as states
       from sync.slices where day between $1 and $2 group by 1`,
    [threeDays[0], threeDays[2]],
  );
  return Object.fromEntries(rows.map(({ resource, states }) => [resource, states]));
}
