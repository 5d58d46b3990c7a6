// What records said, whenever they said it: the contents of the analytics.…_history views as items. One statement a
// function. Which records are asked about is the caller's; what a column is called is a `ContentSource`'s.
import type { SQL } from 'drizzle-orm';
import { and, sql } from '../store/orm.ts';
import { inForceColumns, toVersion } from './selected-columns.ts';
import type { Reader } from './reader.ts';
import { rowsOf } from './statement.ts';
import type { Flat, Version } from './types.ts';

/** How the contents of a resource are read: `h` is its view of them, `o` its table. */
export type ContentSource<Filters> = {
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
export const inForceAt = (asOf: string): SQL =>
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
