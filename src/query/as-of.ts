// A list as of an instant, and what records said, whenever they said it: the contents of the analytics.…_history views
// as items. A list goes over the rows of now in their order, and takes of each the content of then: so a page costs the
// same at any depth, and however much the archive has grown since.
import type { SQL } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import { addDays } from '../day.ts';
import type { Day } from '../model.ts';
import { and, eq, sql } from '../store/orm.ts';
import type { CheckedScope } from './arguments.ts';
import { scanFor, type ScanResult, type Scanned } from './bounded-scan.ts';
import {
  listedAfter,
  listedAt,
  listOrder,
  type ListedTable,
  type RecordPosition,
} from './list-order.ts';
import type { Reader } from './reader.ts';
import { inForceColumns, rowsOf, select, toVersion } from './selected-columns.ts';
import type { Flat, Version } from './types.ts';

/** How the contents of a resource are read: `h` is its view of them, `o` its table. */
type ContentSource<Filters> = {
  view: SQL;
  table: SQL;
  /** The name of the column with the id, in both. */
  id: SQL;
  /** The item's fields, without `missingSince`. */
  columns: string;
  observedAt: SQL;
  /** What decides between two contents observed at once. */
  tieBreak: SQL;
  conditions(filters: Filters): (SQL | undefined)[];
};

/**
 * Record by record, each found by its key: `offset 0` keeps the view a query of its own, so that it reads one record
 * and not all, whatever the statistics say (on a table not yet analysed a join took 2.4 s for 1,000 records instead of
 * 0.1).
 */
const ofRecords = <Filters>(
  { view, table, id }: ContentSource<Filters>,
  project: string,
  ids: string[],
): SQL => sql`
  from unnest(${sql.param(ids)}::text[]) wanted(id),
       lateral (select * from ${view} h where h.project_id = ${project} and h.${id} = wanted.id offset 0) h,
       lateral (select first_seen_at, changed_at, missing_since
                  from ${table} where project_id = ${project} and ${table}.${id} = wanted.id offset 0) o
 where true`;

/** A condition on `h`. Two contents observed at once: the first was in force for no time at all (P2). */
const inForceAt = (asOf: string): SQL =>
  sql`h.in_force_from <= ${asOf}::timestamptz and (h.in_force_until is null or h.in_force_until > ${asOf}::timestamptz)`;

type Row<Item> = Item & { contentOf: string };

/** The contents in force at an instant that match, by id. */
export async function contentsAt<Item extends object, Filters>(
  reader: Reader,
  source: ContentSource<Filters>,
  of: { project: string; ids: string[]; asOf: string; filters: Filters | null },
): Promise<Map<string, Item>> {
  if (of.ids.length === 0) return new Map();
  const missing = sql`case when o.missing_since <= ${of.asOf}::timestamptz then o.missing_since end`;
  const statement = sql`
    select h.${source.id} as "contentOf", ${sql.raw(source.columns)}, ${missing} as "missingSince"
    ${ofRecords(source, of.project, of.ids)}
       and ${and(inForceAt(of.asOf), ...(of.filters === null ? [] : source.conditions(of.filters)))}`;
  const rows = await rowsOf<Row<Item>>(reader, statement);
  return new Map(rows.map(({ contentOf, ...row }) => [contentOf, row as unknown as Item]));
}

/** All contents of a record, oldest first. */
export async function historyOf<Item extends object, Filters>(
  reader: Reader,
  source: ContentSource<Filters>,
  project: string,
  id: string,
): Promise<Version<Item>[]> {
  const missing = sql`case when h.is_current then o.missing_since end`;
  const statement = sql`
    select ${sql.raw(source.columns)}, ${missing} as "missingSince", ${sql.raw(inForceColumns)}
    ${ofRecords(source, project, [id])}
     order by ${source.observedAt}, h.is_current, ${source.tieBreak}, h.raw_sha256`;
  const rows = await rowsOf<Flat<Item>>(reader, statement);
  return rows.map(toVersion<Item>);
}

export type AsOfSource<Item, Filters> = {
  table: ListedTable & { observedAt: PgColumn };
  from: PgTable;
  /** The item's fields, of the table alone. */
  columns: string;
  id: PgColumn;
  /** Versions of the same records: their key columns and when they were observed. */
  versions: { from: PgTable; project: PgColumn; id: PgColumn; observedAt: PgColumn };
  contents: ContentSource<Filters>;
  conditions: (filters: Filters) => (SQL | undefined)[];
  idOf: (item: Item) => string;
  /** The id where the filters name one: then nothing is ordered, and its key finds it. */
  idIn?: (filters: Filters) => string | undefined;
};

type Asked<Filters> = CheckedScope & Filters & { asOf: string };

/** Up to `wanted` records after a position. */
export const recordsAsOf = <Item extends { missingSince: string | null }, Filters>(
  reader: Reader,
  source: AsOfSource<Item, Filters>,
  asked: Asked<Filters>,
  { after, wanted, seen }: { after: RecordPosition | null; wanted: number; seen?: SQL },
): Promise<ScanResult<RecordPosition, Item>> =>
  scanFor(
    { after, wanted },
    (from, atMost) => scan(reader, source, asked, { after: from, atMost, seen }),
    async (positions) => {
      const ids = positions.map(({ id }) => id);
      const contents = await contentsThen(reader, source, asked, ids);
      return ids.map((id) => contents.get(id));
    },
  );

/**
 * What was in force of some records and matches, by id. Of most it is the row itself, which costs less than a history;
 * those that changed since, also between the two statements, have it in their histories.
 */
async function contentsThen<Item extends { missingSince: string | null }, Filters>(
  reader: Reader,
  source: AsOfSource<Item, Filters>,
  asked: Asked<Filters>,
  ids: string[],
): Promise<Map<string, Item>> {
  if (ids.length === 0) return new Map();
  const { table, id } = source;
  const { project, asOf } = asked;
  const unchanged = and(
    eq(table.project, project),
    sql`${id} = any (${sql.param(ids)}::text[])`,
    sql`${table.observedAt} <= ${asOf}::timestamptz`,
    ...source.conditions(asked),
  );
  const rows = await select<Item>(reader, source, unchanged, { order: [], limit: ids.length });
  const found = new Map(
    rows.map((item) => {
      const isMissing = item.missingSince !== null && isBy(item.missingSince, asOf);
      return [source.idOf(item), isMissing ? item : { ...item, missingSince: null }];
    }),
  );
  const others = ids.filter((one) => !found.has(one));
  const of = { project, asOf, ids: others, filters: asked };
  for (const [one, item] of await contentsAt<Item, Filters>(reader, source.contents, of))
    found.set(one, item);
  return found;
}

/**
 * The next rows of now, and whether each may have matched: a content observed by then is the one of then, and the
 * filters decide; of one that changed since, its earlier contents will. The second part of the list, days beyond the
 * instant, holds only what changed its day.
 */
async function scan<Item, Filters>(
  reader: Reader,
  source: AsOfSource<Item, Filters>,
  asked: Asked<Filters>,
  { after, atMost, seen }: { after: RecordPosition | null; atMost: number; seen: SQL | undefined },
): Promise<Scanned<RecordPosition>[]> {
  const { table, from, id } = source;
  const isSingle = source.idIn?.(asked) !== undefined;
  const parts = partsOf(asked, after).map(
    (part) => sql`
      (select ${id} as id, ${table.sliceDay} as day, ${table.createdAt} as created_at, ${listedAt(table)} as listed_at,
              ${mayMatch(source, asked)} as matches
         from ${from}
        where ${and(whereOf(source, asked, part), seen)}
        ${isSingle ? sql`` : sql`order by ${sql.join(listOrder(table, id, asked.order), sql`, `)}`}
        limit ${atMost})`,
  );
  const direction = asked.order === 'asc' ? sql`asc` : sql`desc`;
  const statement = sql`
    select id, day, created_at as "createdAt", matches
      from (${sql.join(parts, sql` union all `)}) scanned
     order by day ${direction}, listed_at ${direction}, id ${direction}
     limit ${atMost}`;
  if (parts.length === 0) return [];
  const rows = await rowsOf<RecordPosition & { matches: boolean }>(reader, statement);
  return rows.map(({ id: of, day, createdAt, matches }) => ({
    key: { id: of, day, createdAt },
    matches,
  }));
}

/** How many records `recordsAsOf` finds in all. */
export async function countAsOf<Item, Filters>(
  reader: Reader,
  source: AsOfSource<Item, Filters>,
  asked: Asked<Filters>,
): Promise<number> {
  const { contents, table, from, id } = source;
  const counts = partsOf(asked, null).map(
    (part) => sql`
      (select count(*)
         from (select ${id} as id, ${table.observedAt} > ${asked.asOf}::timestamptz as is_later
                 from ${from}
                where ${and(whereOf(source, asked, part), mayMatch(source, asked))}) o
        where not o.is_later
           or (select true from ${contents.view} h
                where h.project_id = ${asked.project} and h.${contents.id} = o.id
                  and ${and(inForceAt(asked.asOf), ...contents.conditions(asked))} limit 1))`,
  );
  const statement = sql`select (${sql.join(counts, sql` + `)})::text as matching`;
  const [row] = await rowsOf<{ matching: string }>(reader, statement);
  return Number(row?.matching ?? 0);
}

type Part = { scope: CheckedScope; after: RecordPosition | null; isBeyond: boolean };

/** The list in two: up to the day under which records of then can stand, and beyond. A position lies in one of them. */
function partsOf(asked: CheckedScope & { asOf: string }, after: RecordPosition | null): Part[] {
  const beyond = dayBeyond(asked.asOf);
  if (beyond === null || (asked.to !== undefined && asked.to < beyond)) {
    return [{ scope: asked, after, isBeyond: false }];
  }
  const isAscending = asked.order === 'asc';
  const isAfterBeyond = after !== null && after.day >= beyond;
  const upTo = { scope: { ...asked, to: beyond }, isBeyond: false };
  const from = asked.from !== undefined && asked.from > beyond ? asked.from : beyond;
  const rest = { scope: { ...asked, from }, isBeyond: true };
  // A part that the position has passed is done; one that it has not reached begins at its own bound.
  const parts: Part[] = [];
  if (!isAscending || !isAfterBeyond) parts.push({ ...upTo, after: isAfterBeyond ? null : after });
  if (isAscending || after === null || isAfterBeyond) {
    parts.push({ ...rest, after: isAfterBeyond ? after : null });
  }
  return parts;
}

function whereOf<Item, Filters>(
  { table, id, idIn }: AsOfSource<Item, Filters>,
  asked: Asked<Filters>,
  { scope, after, isBeyond }: Part,
): SQL | undefined {
  const single = idIn?.(asked);
  return and(
    listedAfter(table, id, scope, after),
    // As the index `…_ahead` has it (store/schema.ts, `isAhead`).
    isBeyond
      ? sql`${table.sliceDay} > (${table.firstSeenAt} at time zone 'UTC')::date + 1`
      : undefined,
    // An id is the same in every content: it finds the row.
    single === undefined ? undefined : eq(id, single),
  );
}

function mayMatch<Item, Filters>(
  { table, id, versions, conditions }: AsOfSource<Item, Filters>,
  asked: Asked<Filters>,
): SQL {
  const matches = and(...conditions(asked)) ?? sql`true`;
  // One look by key for each row. As `exists` the planner may hash every version of the archive instead.
  const known = sql`coalesce((select true from ${versions.from}
    where ${and(
      eq(versions.project, asked.project),
      eq(versions.id, id),
      sql`${versions.observedAt} <= ${asked.asOf}::timestamptz`,
    )} limit 1), false)`;
  return sql`(case when ${table.observedAt} <= ${asked.asOf}::timestamptz then ${matches} else ${known} end)`;
}

/**
 * The first day under which nothing stood at an instant of what stands there now, but for what is found by its own
 * index (store/schema.ts, `isAhead`): two days for contents that were seen before their record was entered, which leases
 * allow for minutes only, one for zones, one because bounds are half-open. Null: there is no such day.
 */
function dayBeyond(instant: string): Day | null {
  const day = instant.slice(0, 10);
  return day > '9999-12-27' ? null : addDays(day, 4);
}

/**
 * Whether one instant is no later than another, both as `readInstant` writes them: without the `Z` they compare as text.
 */
export const isBy = (one: string, other: string): boolean => one.slice(0, -1) <= other.slice(0, -1);
