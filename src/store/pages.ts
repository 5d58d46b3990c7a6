// sync.pages: what each walk was shown, page by page. It is what proofs count, where the tail finds its
// page again, and how a vanished record is noticed.
import { createHash } from 'node:crypto';
import type { Day, DayRange, Instant, PlatformPage } from '../model.ts';
import type { Slice } from './ledger.ts';
import { textArray, type Queryable, type Tx } from './db.ts';

/** One page of a walk as it was asked for and answered. */
export type WalkedPage = {
  number: number;
  pageKey: string | null;
  offset: number | null;
  page: PlatformPage;
  /** The moment it counts as observed: when it was asked for, never before the page it follows. */
  observedAt: Instant;
};

const ofWalk = 'project_id = $1 and resource = $2 and owner = $3 and day = $4 and walk = $5';
const keyOf = (slice: Slice, walk: number): unknown[] => [
  slice.projectId,
  slice.resource,
  slice.owner,
  slice.day,
  walk,
];

/** A page's entry as a digest: what it showed and how it was asked for. An expression on its row, `p`. */
export const pageDigest = `encode(sha256(
  convert_to(concat(p.page_key, E'\\t', p.page_offset, E'\\t', p.total, E'\\n', array_to_string(p.ids, E'\\n')), 'UTF8')
  || coalesce((select string_agg(r, ''::bytea order by k) from unnest(p.rejects) with ordinality u(r, k)), '')), 'hex')`;

/** The same of a page that is to be entered: Postgres takes 0.15 ms for it, this process a tenth of that. */
function digestOf({ pageKey, offset, page }: WalkedPage, ids: string[]): string {
  const hash = createHash('sha256');
  hash.update(`${pageKey ?? ''}\t${offset ?? ''}\t${page.total ?? ''}\n${ids.join('\n')}`);
  for (const { sha256 } of page.rejects) hash.update(sha256, 'hex');
  return hash.digest('hex');
}

/**
 * Enters pages; a page entered again (the tail reads its last one again) takes the newer content. Returns the number
 * and the digest of each.
 */
export async function writePages(
  tx: Tx,
  slice: Slice,
  walk: number,
  pages: WalkedPage[],
): Promise<[number: number, digest: string][]> {
  const shown = pages.map((one) => ({ ...one, ids: idsOf(one.page) }));
  // A row of parameters a page: as JSON that Postgres unpacks it takes twice as long.
  const entries = shown.map((one) => [
    one.number,
    one.pageKey,
    one.offset,
    textArray(one.ids),
    one.page.rejects.map((reject) => Buffer.from(reject.sha256, 'hex')),
    one.page.total,
    new Date(one.observedAt).toISOString(),
  ]);
  const types = ['int', 'text', 'bigint', 'text[]', 'bytea[]', 'bigint', 'timestamptz'];
  const row = (n: number): string =>
    types.map((type, k) => `$${6 + n * types.length + k}::${type}`).join(', ');
  await tx.query(
    `insert into sync.pages as p (project_id, resource, owner, day, walk, page, page_key, page_offset,
                             ids, rejects, total, asked_at)
     values ${entries.map((_, n) => `($1, $2, $3, $4, $5, ${row(n)})`).join(', ')}
         on conflict (project_id, resource, owner, day, walk, page)
         do update set page_key = excluded.page_key, page_offset = excluded.page_offset,
                       ids = excluded.ids, rejects = excluded.rejects,
                       total = excluded.total, asked_at = excluded.asked_at`,
    [...keyOf(slice, walk), ...entries.flat(1)],
  );
  return shown.map((one) => [one.number, digestOf(one, one.ids)]);
}

/** The ids of a page in the order shown, without repetitions. */
export function idsOf(page: PlatformPage): string[] {
  return [...new Set(page.records.map((record) => record.id))];
}

/** Drops the pages of walks that are neither whole nor in progress. */
export async function dropOtherPages(tx: Queryable, slice: Slice, keep: number[]): Promise<void> {
  await tx.query(
    `delete from sync.pages
      where project_id = $1 and resource = $2 and owner = $3 and day = $4 and walk <> all ($5::int[])`,
    [slice.projectId, slice.resource, slice.owner, slice.day, keep],
  );
}

export type ShownByWalk = { distinct: number; pages: number };

/** How many distinct ids and rejects a walk was shown: counted in the database, a day may hold a million. */
export async function countShown(
  db: Queryable,
  slice: Slice,
  walk: number,
  /** Only of pages numbered below this. */
  before?: number,
): Promise<ShownByWalk> {
  const pages = `${ofWalk} and ($6::int is null or page < $6)`;
  const { rows } = await db.query<{ distinct: number; pages: number }>(
    `select (select count(distinct id)::int from sync.pages, unnest(ids) id where ${pages})
          + (select count(distinct sha)::int from sync.pages, unnest(rejects) sha where ${pages}) as distinct,
            (select count(*)::int from sync.pages where ${pages}) as pages`,
    [...keyOf(slice, walk), before ?? null],
  );
  return rows[0] ?? { distinct: 0, pages: 0 };
}

export type RememberedPage = {
  number: number;
  pageKey: string | null;
  offset: number | null;
  ids: string[];
  rejects: number;
};

/** One page of a walk as remembered: the last one unless a number is given. */
export async function rememberedPage(
  db: Queryable,
  slice: Slice,
  walk: number,
  number?: number,
): Promise<RememberedPage | null> {
  const { rows } = await db.query<PageRow>(
    `select ${pageColumns}
       from sync.pages where ${ofWalk} and ($6::int is null or page = $6)
      order by page desc limit 1`,
    [...keyOf(slice, walk), number ?? null],
  );
  const [row] = rows;
  return row === undefined ? null : toPage(row);
}

/** The pages of a walk that showed any of these ids; with `atMost` those that were asked for longest ago. */
export async function pagesShowing(
  db: Queryable,
  slice: Slice,
  walk: number,
  ids: string[],
  atMost: number | null = null,
): Promise<RememberedPage[]> {
  const { rows } = await db.query<PageRow>(
    `select ${pageColumns}
       from sync.pages where ${ofWalk} and ids && $6::text[]
      order by case when $7::int is null then null else asked_at end, page
      limit $7`,
    [...keyOf(slice, walk), ids, atMost],
  );
  return rows.map(toPage);
}

type PageRow = {
  page: number;
  page_key: string | null;
  page_offset: string | null;
  ids: string[];
  rejects: number;
};

const pageColumns = 'page, page_key, page_offset, ids, cardinality(rejects) as rejects';

function toPage(row: PageRow): RememberedPage {
  return {
    number: row.page,
    pageKey: row.page_key,
    offset: row.page_offset === null ? null : Number(row.page_offset),
    ids: row.ids,
    rejects: row.rejects,
  };
}

/**
 * The orders that a walk was shown and that are held as pending. Wherever its own time places an order, it keeps from
 * being sealed the day whose list shows it; but where another slice has shown it as its own, because more was asked for
 * than this slice's days, it is that one's.
 */
export async function pendingIds(
  db: Queryable,
  slice: Slice,
  walk: number,
  days: DayRange,
): Promise<string[]> {
  const { rows } = await db.query<{ id: string; isOwn: boolean }>(
    // Both lists are read once and grouped, whatever the planner thinks of their sizes: a join read all pages for each
    // order that was pending, and so does `in` where it expects more ids than memory holds (days of 160,000 orders).
    `select id, bool_or(is_own) as "isOwn"
       from (select operation_id as id, slice_day >= $6 and slice_day < $7 as is_own
               from archive.orders
              where project_id = $1 and status = 1
              union all
             select unnest(ids) collate "C", null from sync.pages where ${ofWalk}) listed
      group by id
     having count(is_own) between 1 and count(*) - 1`,
    [...keyOf(slice, walk), days.from, days.to],
  );
  const own = rows.filter((row) => row.isOwn).map((row) => row.id);
  const others = rows.filter((row) => !row.isOwn).map((row) => row.id);
  return others.length === 0 ? own : [...own, ...(await shownNowhereElse(db, slice, others))];
}

/** How many orders keep a slice from being sealed: those that a walk was shown and that are pending still. */
export async function countPending(
  db: Queryable,
  slice: Slice,
  walk: number,
  days: DayRange,
): Promise<number> {
  return slice.resource === 'orders' ? (await pendingIds(db, slice, walk, days)).length : 0;
}

/** Those of these orders that the slice whose own they are was not shown. */
async function shownNowhereElse(db: Queryable, slice: Slice, ids: string[]): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select o.operation_id as id
       from archive.orders o
      where o.project_id = $1 and o.operation_id = any ($5::text[])
        and not exists (select from sync.slices own
                          join sync.pages p using (project_id, resource, owner, day)
                         where own.project_id = $1 and own.resource = $2 and own.owner = $3 and own.day <> $4
                           and own.day in (o.slice_day, date_trunc('month', o.slice_day)::date)
                           and p.walk = own.whole_walk and o.operation_id = any (p.ids))`,
    [slice.projectId, slice.resource, slice.owner, slice.day, ids],
  );
  return rows.map((row) => row.id);
}

/** The keys a walk has used: a key seen twice ends it (P9). */
export async function usedKeys(db: Queryable, slice: Slice, walk: number): Promise<string[]> {
  const { rows } = await db.query<{ page_key: string }>(
    `select page_key from sync.pages where ${ofWalk} and page_key is not null`,
    keyOf(slice, walk),
  );
  return rows.map((row) => row.page_key);
}

export type RememberedKey = {
  day: Day;
  pageKey: string;
  order: 'asc' | 'desc';
  ids: string[];
  askedAt: Instant;
};

/** The oldest and the youngest page key of orders that whole walks of past days remember; none, one or two. */
export async function rememberedKeys(
  db: Queryable,
  projectId: string,
  from: Day,
): Promise<RememberedKey[]> {
  const { rows } = await db.query<{
    day: Day;
    page_key: string;
    walk_order: 'asc' | 'desc';
    ids: string[];
    asked_at: string;
  }>(
    `with keys as (
       select p.day, p.page_key, s.walk_order, p.ids, p.asked_at
         from sync.pages p
         join sync.slices s using (project_id, resource, owner, day)
        where p.project_id = $1 and p.resource = 'orders' and p.day >= $2
          and p.walk = s.whole_walk and s.state in ('walked', 'sealed')
          and p.page_key is not null and cardinality(p.ids) > 0
     )
     (select * from keys order by asked_at, day limit 1)
     union
     (select * from keys order by asked_at desc, day desc limit 1)
     order by asked_at`,
    [projectId, from],
  );
  return rows.map((row) => ({
    day: row.day,
    pageKey: row.page_key,
    order: row.walk_order,
    ids: row.ids,
    askedAt: Date.parse(row.asked_at),
  }));
}

/** How many of the orders a walk was shown are held in each status. */
export async function countStatuses(
  db: Queryable,
  slice: Slice,
  walk: number,
): Promise<Map<number, number>> {
  const { rows } = await db.query<{ status: number | null; held: number }>(
    `select o.status, count(*)::int as held
       from (select distinct id from sync.pages, unnest(ids) id where ${ofWalk}) shown
       join archive.orders o on o.project_id = $1 and o.operation_id = shown.id
      group by o.status`,
    keyOf(slice, walk),
  );
  return new Map(rows.flatMap(({ status, held }) => (status === null ? [] : [[status, held]])));
}
