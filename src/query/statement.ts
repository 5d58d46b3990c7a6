// Statements put together from parts with drizzle's `sql`, sent like any other. The rows come as pg makes them, under
// the names the statement gives: a query builder's mapping took most of a page's memory, and what clears memory away
// most of its slowest times.
import type { SQL } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';
import type { Queryable } from '../store/db.ts';
import { sql, PgDialect } from '../store/orm.ts';

const dialect = new PgDialect();

export async function rowsOf<Row extends object>(
  reader: Queryable,
  statement: SQL,
): Promise<Row[]> {
  const { sql: text, params } = dialect.sqlToQuery(statement);
  const { rows } = await reader.query(text, params);
  return rows as Row[];
}

/** Where the items of a list are read from, spelt as their fields. */
export type Selected = { from: PgTable; columns: string };

type SortAndLimit = { order: SQL[]; limit: number; offset?: number };

export function select<Item extends object>(
  reader: Queryable,
  { from, columns }: Selected,
  where: SQL | undefined,
  { order, limit, offset = 0 }: SortAndLimit,
): Promise<Item[]> {
  const inOrder = order.length === 0 ? sql`` : sql`order by ${sql.join(order, sql`, `)}`;
  const fromThere = offset === 0 ? sql`` : sql`offset ${offset}`;
  return rowsOf<Item>(
    reader,
    sql`select ${sql.raw(columns)} from ${from} where ${where ?? sql`true`} ${inOrder} limit ${limit} ${fromThere}`,
  );
}
