// The evidence of what is held: readings of days and the books, only ever added to, each told to the journal by the
// transaction that adds it. What they prove sync/judge.ts says. One statement a function.
import { dayMs } from '../day.ts';
import { listedResources, wholeList } from '../model.ts';
import type {
  Clocks,
  Day,
  DayBooks,
  DayRange,
  Instant,
  ListedResource,
  ProjectId,
  Reading,
} from '../model.ts';
import { enterMissing } from './journal/journal.ts';
import {
  isEndless,
  iso,
  keyParameters,
  msOf,
  ofDays,
  ofSlice,
  type ListName,
  type Slice,
} from './ledger.ts';
import { onlyRow, type Queryable, type Tx } from './db.ts';
import { columnNamesOf, readRow, rowText, type SelectedRow } from './drizzle-statements.ts';
import { getTableColumns } from './drizzle-import.ts';
import { books, readings } from './schema.ts';
import { tableShapes } from './record-tables.ts';

/** Counts of orders by status: pending, success, failed. */
export type ByStatus = readonly [number, number, number];

/** What is missing for so long is gone; less two seconds, for a platform's `Date` has whole ones. */
export const goneAfterMs = dayMs - 2000;

/**
 * Records of an owner's list, as `o`; all where it is the list of all. An address of bech32 means the same in lower case
 * and in upper case, and may have been named in the other.
 */
const ofOwner = (resource: ListedResource): string =>
  resource === 'nft_classes' ? `and ($3 = '' or o.owner in ($3, lower($3), upper($3)))` : '';

/** Records held under a slice's day, as `o`. */
const underSlice = (resource: ListedResource): string =>
  `o.project_id = $1 and o.slice_day = $4 ${ofOwner(resource)}`;

const statuses = (of: string): string =>
  `array[count(*) filter (where ${of} = 1), count(*) filter (where ${of} = 2), count(*) filter (where ${of} = 3)]::int[]`;

/** What a walk was shown beside what is held under its day. */
export type Measured = {
  /** Distinct records and rejects. */
  shown: number;
  byStatus: ByStatus | null;
  lacks: number;
  pending: number;
  digest: Buffer;
};

/**
 * Marks what is held under the slice's day and was not shown by the walk as missing since `ended.latest`, unless
 * `isFrozen`, and measures the walk. What has been missing for a day no longer counts as lacking.
 */
export async function measureWalk(
  tx: Tx,
  slice: Slice,
  walk: number,
  { latest, earliest }: Clocks,
  isFrozen: boolean,
): Promise<Measured> {
  const { resource } = slice;
  const { table, key } = tableShapes[resource];
  const isOrders = resource === 'orders';
  const counted = `(missing_since is null or missing_since > $7::timestamptz)`;
  const { rows } = await tx.query<Measured & { marked: string[] }>(
    `with shown as materialized (
       select distinct id collate "C" as id from sync.pages, unnest(ids) id where ${ofSlice} and walk = $5
     ),
     rejected as (
       select distinct sha from sync.pages, unnest(rejects) sha where ${ofSlice} and walk = $5
     ),
     -- One scan of the day: a look by key for each record that was shown took two thirds of all the time here. By a full
     -- join, which is hashed or merged in any case: "in" compares each with each where a day's ids exceed work_mem.
     beside as materialized (
       select coalesce(u.id, s.id) as id, u.id is not null as is_under, s.id is not null as is_shown,
              u.missing_since, u.raw_sha256, u.status
         from shown s
         full join (select o.${key} as id, o.missing_since, o.raw_sha256, ${isOrders ? 'o.status' : 'null::int as status'}
                      from ${table} o where ${underSlice(resource)}) u on u.id = s.id
     ),
     contents as materialized (
       select id, status, raw_sha256 from beside where is_under and is_shown
       union all
       select o.${key}, ${isOrders ? 'o.status' : 'null'}, o.raw_sha256
         from beside b join ${table} o on o.project_id = $1 and o.${key} = b.id
        where not b.is_under
     ),
     lacking as materialized (select id, missing_since from beside where not is_shown),
     marked as (
       update ${table} o set missing_since = $6, changed_at = $6
         from lacking l
        where not $8 and l.missing_since is null and o.project_id = $1 and o.${key} = l.id
       returning o.${key} as id
     )
     select (select count(*)::int from contents) + (select count(*)::int from rejected) as shown,
            ${isOrders ? `(select ${statuses('status')} from contents)` : 'null'} as "byStatus",
            (select count(*)::int from lacking where ${counted}) as lacks,
            (select count(*)::int from beside where status = 1 and ${counted}) as pending,
            (select sha256(convert_to(coalesce(string_agg(line, E'\\n' order by line collate "C"), ''), 'UTF8'))
               from (select id || ' ' || encode(raw_sha256, 'hex') as line from contents
                      union all select encode(sha, 'hex') from rejected) lines) as digest,
            coalesce((select array_agg(id order by id) from marked), '{}') as marked`,
    [...keyParameters(slice), walk, iso(latest), iso(earliest - goneAfterMs), isFrozen],
  );
  const { marked, ...measured } = onlyRow({ rows });
  await enterMissing(tx, slice, marked, latest);
  return measured;
}

/** A reading that has ended. */
export type EndedReading = Pick<Reading, 'end' | 'began' | 'ended' | 'claims'> &
  Measured & { daysAsked: number };

/** Adds a reading to the slice's. */
export async function appendReading(tx: Tx, slice: Slice, reading: EndedReading): Promise<void> {
  const { projectId, resource, owner, day } = slice;
  const { end: fromEnd, began, ended, ...measured } = reading;
  const row = rowText(readings, {
    projectId,
    resource,
    owner,
    day,
    fromEnd,
    beganAt: began.now,
    beganMachineAt: began.machine,
    beganEarliestAt: began.earliest,
    endedAt: ended.now,
    endedMachineAt: ended.machine,
    endedLatestAt: ended.latest,
    ...measured,
  });
  await tx.query('select sync.add_reading(jsonb_populate_record(null::sync.readings, $1::jsonb))', [
    row,
  ]);
}

/** What a day is judged by. */
export type Evidence = {
  /** The newest first showing of a record by the day's list. */
  newsNo: number;
  /** Orders pending under the day now. */
  pending: number;
  /** Whether any record stands under the day. */
  isHolding: boolean;
  readings: (Reading & { byStatus: readonly number[] | null })[];
  books: (DayBooks & { readBy: ReadBy; inWords: boolean; byStatus: ByStatus | null }) | null;
};

/** `list`: a walk of the list shows all; `each status`: it may leave some out. */
type ReadBy = 'list' | 'each status';

const { digest: _digest, ...columns } = getTableColumns(readings);

const toReading = ({
  no,
  fromEnd,
  ...of
}: SelectedRow<typeof columns>): Evidence['readings'][number] => ({
  no,
  end: fromEnd,
  began: { now: of.beganAt, machine: of.beganMachineAt, earliest: of.beganEarliestAt },
  ended: { now: of.endedAt, machine: of.endedMachineAt, latest: of.endedLatestAt },
  shown: of.shown,
  byStatus: of.byStatus,
  lacks: of.lacks,
  claims: of.claims,
  pending: of.pending,
});

/** The evidence of every day of a list in `[from, to)` that has a row in the ledger, by day. */
export async function readEvidence(
  db: Queryable,
  { projectId, resource, owner }: ListName,
  { from, to }: DayRange,
  { earliest }: Pick<Clocks, 'earliest'>,
): Promise<Map<Day, Evidence>> {
  const parameters = [projectId, resource, owner, from, to];
  const [days, read] = await Promise.all([
    db.query<Omit<Evidence, 'readings'> & { day: Day }>(
      `with pending as (
         select o.slice_day as day, count(*)::int as pending from archive.orders o
          where o.project_id = $1 and o.slice_day >= $4 and o.slice_day < $5 and o.status = 1 and $2 = 'orders'
            and (o.missing_since is null or o.missing_since > $6::timestamptz)
          group by 1
       )
       select s.day, s.news_no::float8 as "newsNo", coalesce(p.pending, 0) as pending,
              -- By an index in any case: an "exists" read all of a table whose statistics did not know the day.
              (select min(o.slice_day) from ${tableShapes[resource].table} o
                where o.project_id = $1 and o.slice_day >= s.day and o.slice_day <= s.day ${ofOwner(resource)})
                is not null as "isHolding",
              case when b.no is not null then json_build_object(
                'no', b.no, 'isMore', b.is_more, 'isEqual', b.is_equal, 'isDay', b.day_to - b.day_from = 1,
                'readBy', b.asks, 'inWords', b.in_words, 'byStatus', b.by_status) end as books
         from sync.slices s
         left join pending p using (day)
         left join lateral (select * from sync.books b
                             where b.project_id = $1 and b.resource = $2 and b.owner = $3
                               and b.day_from <= s.day and b.day_to > s.day
                             order by b.no desc limit 1) b on true
        where s.project_id = $1 and s.resource = $2 and s.owner = $3 and s.day >= $4 and s.day < $5
        order by s.day`,
      [...parameters, iso(earliest - goneAfterMs)],
    ),
    db.query(
      `select ${columnNamesOf(columns)} from sync.readings where ${ofDays} order by no`,
      parameters,
    ),
  ]);
  const evidence = new Map<Day, Evidence>();
  for (const { day, ...of } of days.rows) evidence.set(day, { ...of, readings: [] });
  for (const row of read.rows) {
    const reading = readRow(columns, row);
    evidence.get(reading.day)?.readings.push(toReading(reading));
  }
  return evidence;
}

/** The days of a list in `[from, to)`, and older ones without a deadline, that something is still due of, by day. */
export async function daysAskedFor(
  db: Queryable,
  { projectId, resource, owner }: ListName,
  { from, to }: DayRange,
): Promise<{ day: Day; isRead: boolean }[]> {
  const { rows } = await db.query<{ day: Day; isRead: boolean }>(
    `select day, exists (select from sync.readings r
                          where r.project_id = $1 and r.resource = $2 and r.owner = $3 and r.day = s.day) as "isRead"
       from sync.slices s
      where project_id = $1 and resource = $2 and owner = $3 and day > '${wholeList}' and day < $5 and due_at is not null
        and (day >= $4 or ${isEndless})
      order by day`,
    [projectId, resource, owner, from, to],
  );
  return rows;
}

/** What the newest readings of the days `[from, to)` showed together; null where a day of them was not read. */
export async function shownIn(
  db: Queryable,
  { projectId, resource, owner }: ListName,
  { from, to }: DayRange,
): Promise<{ all: number; byStatus: ByStatus } | null> {
  const { table, key } = tableShapes[resource];
  const status = resource === 'orders' ? 'o.status' : 'null::int';
  const walked = `sync.slices s join sync.pages p using (project_id, resource, owner, day)`;
  const ofSpan = `project_id = $1 and resource = $2 and owner = $3 and day >= $4 and day < $5 and p.walk = s.whole_walk`;
  const shown = await db.query<{ unread: number; all: number; byStatus: ByStatus }>(
    `with newest as (
       select distinct on (day) day, shown, by_status, days_asked from sync.readings
        where ${ofDays}
        order by day, no desc
     ),
     -- A day that was asked for with the next one may have shown that one's records, too: then each is counted once.
     twice as materialized (
       select from newest n
        where days_asked = 2
          and shown > (select count(*) from ${table} o
                        where o.project_id = $1 and o.slice_day = n.day and o.missing_since is null ${ofOwner(resource)})
                    + (select count(*) from sync.rejects
                        where project_id = $1 and resource = $2 and owner = $3 and day = n.day)
        limit 1
     ),
     -- By groups, which are hashed whatever the statistics say.
     once as materialized (
       select max(status) as status
         from (select id collate "C" as id, null::int as status, true as is_shown
                 from ${walked}, unnest(p.ids) id where ${ofSpan}
               union all
               select o.${key}, ${status}, false from ${table} o
                where o.project_id = $1 and o.slice_day >= $4::date - 1 and o.slice_day <= $5::date) one
        where exists (select from twice)
        group by id having bool_or(is_shown)
       union all
       -- What was set aside names no day, and counts wherever it is shown.
       select null from (select distinct day, sha from ${walked}, unnest(p.rejects) sha where ${ofSpan}) r
        where exists (select from twice)
     ),
     counted as (
       select count(*) as shown, ${statuses('status')} as by_status from once
       union all
       select shown, by_status from newest where not exists (select from twice)
     )
     select (select count(*) from sync.slices
              where ${ofDays}
                and day not in (select day from newest))::int as unread,
            coalesce(sum(shown), 0)::int as all,
            array[coalesce(sum(by_status[1]), 0), coalesce(sum(by_status[2]), 0), coalesce(sum(by_status[3]), 0)]::int[] as "byStatus"
       from counted`,
    [projectId, resource, owner, from, to],
  );
  const { unread, ...counts } = onlyRow(shown);
  return unread > 0 ? null : counts;
}

/** The platform's counts of a span of days, beside what was shown of it. */
export type BooksRow = {
  days: DayRange;
  /** Of all spans that were asked at one time. */
  askedAt: Instant;
  total: number | null;
  /** By status; null where the filter by status is of no use. */
  byStatus: ByStatus | null;
  /** What the newest readings showed; null where a day was not read. */
  shown: { all: number; byStatus: ByStatus } | null;
  isMore: boolean;
  isEqual: boolean;
  readBy: ReadBy;
  /** The filter by status wants words. */
  inWords: boolean;
};

/** Writes the books of a list, in the order given. */
export async function appendBooks(
  tx: Tx,
  list: ListName,
  added: readonly BooksRow[],
): Promise<void> {
  for (const { days, shown, ...counted } of added) {
    const row = rowText(books, {
      ...list,
      ...counted,
      dayFrom: days.from,
      dayTo: days.to,
      shown: shown?.all ?? null,
      shownByStatus: shown?.byStatus ?? null,
    });
    await tx.query('select sync.add_books(jsonb_populate_record(null::sync.books, $1::jsonb))', [
      row,
    ]);
  }
}

/** What is known of the books of a list when it is to be decided whether they are asked for again. */
export type BooksBefore = {
  /** When they were last asked for, and since when they have counted more; null: never, or they do not. */
  askedAt: Instant | null;
  moreSince: Instant | null;
  /** Whether a day was read since. */
  wasRead: boolean;
  /** The filter by status counted something within a week: a refusal of it is then a fault, no way to answer. */
  countsByStatus: boolean;
};

export async function booksBefore(
  db: Queryable,
  { projectId, resource, owner }: ListName,
  now: Instant,
): Promise<BooksBefore> {
  return onlyRow(
    await db.query<BooksBefore>(
      `with own as (select * from sync.books where project_id = $1 and resource = $2 and owner = $3),
       runs as (select asked_at, bool_or(is_more) as is_more from own group by asked_at)
       select ${msOf('max(asked_at)')} as "askedAt",
              ${msOf(`min(asked_at) filter (where is_more and asked_at > coalesce((select max(asked_at) from runs where not is_more), '-infinity'))`)}
                as "moreSince",
              coalesce((select max(no) from sync.readings where project_id = $1 and resource = $2 and owner = $3)
                     > (select max(no) from own), false) as "wasRead",
              exists (select from own where asked_at >= $4 and by_status <> '{0,0,0}') as "countsByStatus"
         from runs`,
      [projectId, resource, owner, iso(now - 7 * dayMs)],
    ),
  );
}

/**
 * The lists whose days may be asked for by themselves: such a question has shown records within a week, and since books
 * last counted more in a span than in its halves.
 */
export async function endInclusiveLists(
  db: Queryable,
  projectId: ProjectId,
  now: Instant,
): Promise<Set<ListedResource>> {
  const { rows } = await db.query<{ list: ListedResource }>(
    `select list from unnest($2::text[]) list
      where exists (select from sync.readings
                     where project_id = $1 and resource = list and days_asked = 1 and shown > 0 and began_at >= $3
                       and no > coalesce((select max(no) from sync.books
                                           where project_id = $1 and resource = list
                                             and is_more and day_to - day_from > 1), 0))`,
    [projectId, listedResources, iso(now - 7 * dayMs)],
  );
  return new Set(rows.map(({ list }) => list));
}
