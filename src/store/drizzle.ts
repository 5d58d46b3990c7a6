// Ordinary statements, written and typed by drizzle from the tables of schema.ts: they run where ours do, as the same
// role and in the same transaction. What is hot, takes locks in an order or returns nothing of a row as it stands is
// SQL; its rows are read by the same columns.
import type { GetColumnData } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { drizzle, type PgRemoteDatabase } from 'drizzle-orm/pg-proxy';
import type { Queryable, Row } from './db.ts';

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
