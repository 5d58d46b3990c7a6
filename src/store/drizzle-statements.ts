// Ordinary statements, written and typed by drizzle from the tables of schema.ts: they run where ours do, as the same
// role and in the same transaction. What is hot, takes locks in an order or returns nothing of a row as it stands is
// SQL; its rows are read by the same columns.
import type { GetColumnData } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import type { PgRemoteDatabase } from 'drizzle-orm/pg-proxy';
import type { Queryable, Row } from './db.ts';
import { getTableColumns, drizzle } from './drizzle-import.ts';

/**
 * Drizzle on a connection or a transaction. What a statement returns is told apart by its columns' names: each but
 * once.
 */
export const drizzleOn = (db: Queryable): PgRemoteDatabase =>
  drizzle(async (sql, parameters, method) => {
    const { rows } = await db.query(sql, parameters);
    return { rows: method === 'all' ? rows.map((row) => Object.values(row)) : rows };
  });

type Columns = Record<string, PgColumn>;
export type SelectedRow<Of extends Columns> = { [Name in keyof Of]: GetColumnData<Of[Name]> };

/** What SQL of ours is to name, so that its rows can be read. */
export const columnNamesOf = (columns: Columns, table = ''): string =>
  Object.values(columns)
    .map(({ name }) => `${table === '' ? '' : `${table}.`}${name}`)
    .join(', ');

/** A row that SQL of ours returned, by the columns it was to return. */
export function readRow<Of extends Columns>(columns: Of, row: Row): SelectedRow<Of> {
  const read = Object.entries(columns).map(([name, column]) => {
    const value = row[column.name] ?? null;
    return [name, value === null ? null : column.mapFromDriverValue(value)];
  });
  return Object.fromEntries(read) as SelectedRow<Of>;
}

/** What is given of a row: each column's name, and its value as it goes to Postgres. */
export function columnsGiven<Of extends PgTable>(
  table: Of,
  row: { [Name in keyof Of['$inferInsert']]?: Readonly<Of['$inferInsert'][Name]> },
): [name: string, value: unknown][] {
  const given = new Map<string, unknown>(Object.entries(row));
  return Object.entries(getTableColumns(table)).flatMap(([name, column]) => {
    if (!given.has(name)) return [];
    const value = given.get(name) ?? null;
    return [[column.name, value === null ? null : column.mapToDriverValue(value)]];
  });
}

/** A row as the JSON that `jsonb_populate_record` makes it of. */
export function rowText<Of extends PgTable>(
  table: Of,
  row: Parameters<typeof columnsGiven<Of>>[1],
): string {
  const values = columnsGiven(table, row).map(([name, value]) => [
    name,
    Buffer.isBuffer(value) ? `\\x${value.toString('hex')}` : value,
  ]);
  return JSON.stringify(Object.fromEntries(values));
}
