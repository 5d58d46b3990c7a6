// The evidence of what is held: readings of days and the books, only ever added to, each told to the journal by the
// transaction that adds it. What they prove is `judge`'s to say (sync/judge.ts). One statement a function.
import { wholeList } from '../model.ts';
import type {
  Clocks,
  Day,
  DayBooks,
  DayRange,
  End,
  Instant,
  ListedResource,
  ProjectId,
  Reading,
} from '../model.ts';
import { enterMissing } from './journal/journal.ts';
import { iso, keyOf, ofSlice, type Slice } from './ledger.ts';
import { onlyRow, type Queryable, type Tx } from './db.ts';
import { tableShapes } from './tables.ts';

/** Counts of orders by status: pending, success, failed. */
export type ByStatus = readonly [number, number, number];

/** What is missing for so long is gone; less two seconds, for a platform's `Date` has whole ones. */
const dayMs = 86_400_000 - 2000;

/** -Infinity and Infinity are moments of Postgres as well. */
const moment = (at: Instant): string =>
  Number.isFinite(at) ? new Date(at).toISOString() : at < 0 ? '-infinity' : 'infinity';
const instant = (text: string): Instant =>
  text === '-infinity' ? -Infinity : text === 'infinity' ? Infinity : Date.parse(text);

/** Records held under a slice's day, as `o`. */
const underSlice = (resource: ListedResource): string =>
  `o.project_id = $1 and o.slice_day = $4 ${resource === 'nft_classes' ? `and ($3 = '' or o.owner = $3)` : ''}`;

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
 * `isFrozen`, and measures the walk. What has been missing for a day lacks no more.
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
  const { rows } = await tx.query<{
    shown: number;
    by_status: number[] | null;
    lacks: number;
    pending: number;
    digest: Buffer;
    marked: string[];
  }>(
    `with shown as materialized (
       select distinct id collate "C" as id from sync.pages, unnest(ids) id where ${ofSlice} and walk = $5
     ),
     rejected as (
       select distinct sha from sync.pages, unnest(rejects) sha where ${ofSlice} and walk = $5
     ),
     -- One scan of the day: a look by key for each record that was shown took two thirds of all the time here.
     under as materialized (
       select o.${key} as id, o.missing_since, o.raw_sha256, ${isOrders ? 'o.status' : 'null::int as status'},
              o.${key} in (select id from shown) as is_shown
         from ${table} o where ${underSlice(resource)}
     ),
     contents as materialized (
       select id, status, raw_sha256 from under where is_shown
       union all
       select o.${key}, ${isOrders ? 'o.status' : 'null'}, o.raw_sha256
         from shown join ${table} o on o.project_id = $1 and o.${key} = shown.id
        where shown.id not in (select id from under)
     ),
     lacking as materialized (select id, missing_since from under where not is_shown),
     marked as (
       update ${table} o set missing_since = $6, changed_at = $6
         from lacking l
        where not $8 and l.missing_since is null and o.project_id = $1 and o.${key} = l.id
       returning o.${key} as id
     )
     select (select count(*)::int from shown) + (select count(*)::int from rejected) as shown,
            ${isOrders ? `(select ${statuses('status')} from contents)` : 'null'} as by_status,
            (select count(*)::int from lacking where ${counted}) as lacks,
            (select count(*)::int from under where status = 1 and ${counted}) as pending,
            (select sha256(convert_to(coalesce(string_agg(line, E'\\n' order by line collate "C"), ''), 'UTF8'))
               from (select id || ' ' || encode(raw_sha256, 'hex') as line from contents
                      union all select encode(sha, 'hex') from rejected) lines) as digest,
            coalesce((select array_agg(id order by id) from marked), '{}') as marked`,
    [...keyOf(slice), walk, moment(latest), moment(earliest - dayMs), isFrozen],
  );
  const { marked, by_status: byStatus, ...measured } = onlyRow({ rows });
  await enterMissing(tx, slice, marked, latest);
  return { ...measured, byStatus: byStatus as [number, number, number] | null };
}

/** How many orders are pending under a slice's day. */
export async function countPending(db: Queryable, slice: Slice): Promise<number> {
  if (slice.resource !== 'orders') return 0;
  const { rows } = await db.query<{ pending: number }>(
    `select count(*)::int as pending from archive.orders o
      where o.project_id = $1 and o.slice_day = $2 and o.status = 1 and o.missing_since is null`,
    [slice.projectId, slice.day],
  );
  return rows[0]?.pending ?? 0;
}

/** A reading that has ended. */
export type EndedReading = Pick<Reading, 'end' | 'began' | 'ended' | 'claims'> &
  Measured & { daysAsked: 1 | 2 };

/** Adds a reading to the slice's. */
export async function appendReading(tx: Tx, slice: Slice, reading: EndedReading): Promise<void> {
  const { began, ended, byStatus, lacks, claims, pending, shown } = reading;
  await tx.query(
    `select sync.add_reading(jsonb_populate_record(null::sync.readings, $1::jsonb || jsonb_build_object('digest', $2::bytea)))`,
    [
      JSON.stringify({
        ...nameOf(slice),
        day: slice.day,
        from_end: reading.end,
        days_asked: reading.daysAsked,
        began_at: moment(began.now),
        began_machine_at: moment(began.machine),
        began_earliest_at: moment(began.earliest),
        ended_at: moment(ended.now),
        ended_machine_at: moment(ended.machine),
        ended_latest_at: moment(ended.latest),
        by_status: byStatus,
        shown,
        lacks,
        claims,
        pending,
      }),
      reading.digest,
    ],
  );
}

type ListName = Pick<Slice, 'projectId' | 'resource' | 'owner'>;
const nameOf = ({ projectId, resource, owner }: ListName) => ({
  project_id: projectId,
  resource,
  owner,
});

/** What a day is judged by. */
export type Evidence = {
  /** The newest first showing of a record by the day's list. */
  newsNo: number;
  /** Orders pending under the day now. */
  pending: number;
  readings: Reading[];
  books: (DayBooks & { asks: BooksAsk; inWords: boolean }) | null;
};

/** `list`: a walk of the list shows all; `each status`: it may leave some out. */
export type BooksAsk = 'list' | 'each status';

type ReadingRow = {
  day: Day;
  no: number;
  from_end: End;
  began_at: string;
  began_machine_at: string;
  began_earliest_at: string;
  ended_at: string;
  ended_machine_at: string;
  ended_latest_at: string;
  shown: number;
  lacks: number;
  claims: number;
  pending: number;
};

const toReading = (row: ReadingRow): Reading => ({
  no: row.no,
  end: row.from_end,
  began: {
    now: instant(row.began_at),
    machine: instant(row.began_machine_at),
    earliest: instant(row.began_earliest_at),
  },
  ended: {
    now: instant(row.ended_at),
    machine: instant(row.ended_machine_at),
    latest: instant(row.ended_latest_at),
  },
  shown: row.shown,
  lacks: row.lacks,
  claims: row.claims,
  pending: row.pending,
});

/** The evidence of every day of a list in `[from, to)` that has a row in the ledger, by day. */
export async function readEvidence(
  db: Queryable,
  { projectId, resource, owner }: ListName,
  { from, to }: DayRange,
  { earliest }: Pick<Clocks, 'earliest'>,
): Promise<Map<Day, Evidence>> {
  const parameters = [projectId, resource, owner, from, to];
  const inRange = 'project_id = $1 and resource = $2 and owner = $3 and day >= $4 and day < $5';
  const [days, readings] = await Promise.all([
    db.query<{
      day: Day;
      news_no: string;
      pending: number;
      no: string | null;
      is_more: boolean;
      is_equal: boolean;
      is_day: boolean;
      asks: BooksAsk;
      in_words: boolean;
    }>(
      `with pending as (
         select o.slice_day as day, count(*)::int as pending from archive.orders o
          where o.project_id = $1 and o.slice_day >= $4 and o.slice_day < $5 and o.status = 1 and $2 = 'orders'
            and (o.missing_since is null or o.missing_since > $6::timestamptz)
          group by 1
       )
       select s.day, s.news_no, coalesce(p.pending, 0) as pending, b.no, b.is_more, b.is_equal,
              b.day_to - b.day_from = 1 as is_day, b.asks, b.in_words
         from sync.slices s
         left join pending p using (day)
         left join lateral (select * from sync.books b
                             where b.project_id = $1 and b.resource = $2 and b.owner = $3
                               and b.day_from <= s.day and b.day_to > s.day
                             order by b.no desc limit 1) b on true
        where s.project_id = $1 and s.resource = $2 and s.owner = $3 and s.day >= $4 and s.day < $5
        order by s.day`,
      [...parameters, moment(earliest - dayMs)],
    ),
    db.query<Omit<ReadingRow, 'no'> & { no: string }>(
      `select day, no, from_end, began_at, began_machine_at, began_earliest_at, ended_at, ended_machine_at, ended_latest_at,
              shown, lacks, claims, pending
         from sync.readings where ${inRange} order by no`,
      parameters,
    ),
  ]);
  const evidence = new Map<Day, Evidence>();
  for (const row of days.rows) {
    const books =
      row.no === null
        ? null
        : {
            no: Number(row.no),
            isMore: row.is_more,
            isEqual: row.is_equal,
            isDay: row.is_day,
            asks: row.asks,
            inWords: row.in_words,
          };
    evidence.set(row.day, {
      newsNo: Number(row.news_no),
      pending: row.pending,
      readings: [],
      books,
    });
  }
  for (const row of readings.rows) {
    evidence.get(row.day)?.readings.push(toReading({ ...row, no: Number(row.no) }));
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
        and (day >= $4 or deadline_at >= '9999-12-31')
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
  const { rows } = await db.query<{ unread: number; all: number; by_status: number[] }>(
    `with newest as (
       select distinct on (day) day, shown, by_status from sync.readings
        where project_id = $1 and resource = $2 and owner = $3 and day >= $4 and day < $5
        order by day, no desc
     )
     select (select count(*) from sync.slices
              where project_id = $1 and resource = $2 and owner = $3 and day >= $4 and day < $5
                and day not in (select day from newest))::int as unread,
            coalesce(sum(shown), 0)::int as all,
            array[coalesce(sum(by_status[1]), 0), coalesce(sum(by_status[2]), 0), coalesce(sum(by_status[3]), 0)]::int[] as by_status
       from newest`,
    [projectId, resource, owner, from, to],
  );
  const row = onlyRow({ rows });
  return row.unread > 0
    ? null
    : { all: row.all, byStatus: row.by_status as [number, number, number] };
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
  asks: BooksAsk;
  /** The filter by status wants words. */
  inWords: boolean;
};

/** Writes the books of a list, in the order given. */
export async function appendBooks(
  tx: Tx,
  list: ListName,
  books: readonly BooksRow[],
): Promise<void> {
  for (const one of books) {
    await tx.query('select sync.add_books(jsonb_populate_record(null::sync.books, $1::jsonb))', [
      JSON.stringify({
        ...nameOf(list),
        day_from: one.days.from,
        day_to: one.days.to,
        asked_at: iso(one.askedAt),
        total: one.total,
        by_status: one.byStatus,
        shown: one.shown?.all ?? null,
        shown_by_status: one.shown?.byStatus ?? null,
        is_more: one.isMore,
        is_equal: one.isEqual,
        asks: one.asks,
        in_words: one.inWords,
      }),
    ]);
  }
}

/**
 * When the books of a list were last asked for, since when they have counted more, and whether a day was read since; null:
 * never, or they do not.
 */
export async function booksAsked(
  db: Queryable,
  { projectId, resource, owner }: ListName,
): Promise<{ askedAt: Instant | null; moreSince: Instant | null; wasRead: boolean }> {
  const { rows } = await db.query<{
    asked_at: string | null;
    more_since: string | null;
    was_read: boolean;
  }>(
    `with runs as (
       select asked_at, bool_or(is_more) as is_more from sync.books
        where project_id = $1 and resource = $2 and owner = $3
        group by asked_at
     )
     select max(asked_at) as asked_at,
            min(asked_at) filter (where is_more and asked_at > coalesce((select max(asked_at) from runs where not is_more), '-infinity'))
              as more_since,
            coalesce((select max(no) from sync.readings where project_id = $1 and resource = $2 and owner = $3)
                   > (select max(no) from sync.books where project_id = $1 and resource = $2 and owner = $3), false) as was_read
       from runs`,
    [projectId, resource, owner],
  );
  const { asked_at: askedAt, more_since: moreSince, was_read: wasRead } = onlyRow({ rows });
  return {
    askedAt: askedAt === null ? null : Date.parse(askedAt),
    moreSince: moreSince === null ? null : Date.parse(moreSince),
    wasRead,
  };
}

/**
 * Whether days of a list may be asked for by themselves: such a question has shown records since `since`, and since
 * books last counted more in a span than in its halves.
 */
export async function isEndInclusive(
  db: Queryable,
  { projectId, resource }: { projectId: ProjectId; resource: ListedResource },
  since: Instant,
): Promise<boolean> {
  const { rows } = await db.query<{ is: boolean }>(
    `select exists (
       select from sync.readings
        where project_id = $1 and resource = $2 and days_asked = 1 and shown > 0 and began_at >= $3
          and no > coalesce((select max(no) from sync.books
                              where project_id = $1 and resource = $2 and is_more and day_to - day_from > 1), 0)
     ) as is`,
    [projectId, resource, moment(since)],
  );
  return onlyRow({ rows }).is;
}
