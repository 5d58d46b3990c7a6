// Reading purchase orders: what they can be narrowed by, and their columns. Paging is record-reader.ts.
import type { Column, SQL } from 'drizzle-orm';
import * as z from 'zod';
import { orderStatuses } from '../model.ts';
import type { RecordFilter } from '../catalogue.ts';
import { order } from '../resources.ts';
import { inArray, sql } from '../store/orm.ts';
import { orders, orderVersions } from '../store/schema.ts';
import { listOfDays, severalOf, text } from './arguments.ts';
import type { Given } from './check-arguments.ts';
import { columnsNow, columnsThen } from './selected-columns.ts';
import { createRecords, type ListedSource } from './record-reader.ts';
import type { Reader } from './reader.ts';
import type { Order, OrderFilters, Records } from './types.ts';

const statusSentence = 'must be one of 1, 2, 3 (pending, succeeded, failed), or a list of them';
const orderStatus = z.literal(orderStatuses, statusSentence);

/** What orders can be narrowed by, whoever asks; the columns that this is about stand below. */
export const orderFilters = {
  status: severalOf(orderStatus, statusSentence).describe(
    '1 pending, 2 succeeded, 3 failed; several with commas',
  ),
  account: text.describe('Only what this account bought'),
} satisfies Record<RecordFilter<'orders'>, z.ZodType>;
type Filters = Given<typeof orderFilters>;

const conditionsOn = (
  ofStatus: SQL | Column,
  ofAccount: SQL | Column,
  { status, account }: Filters,
): (SQL | undefined)[] => [
  // A single status as an equation: only that lets the index of pending orders serve.
  status === undefined
    ? undefined
    : status.length === 1
      ? sql`${ofStatus} = ${status[0]}`
      : inArray(sql`${ofStatus}`, status),
  account === undefined ? undefined : sql`${ofAccount} = ${account}`,
];

const source: ListedSource<Order, Filters> = {
  name: 'orders',
  resource: 'orders',
  table: orders,
  from: orders,
  columns: columnsNow(order),
  id: orders.operationId,
  arguments: listOfDays(orderFilters),
  versions: {
    from: orderVersions,
    project: orderVersions.project,
    id: orderVersions.operationId,
    observedAt: orderVersions.observedAt,
  },
  contents: {
    view: sql`analytics.order_history`,
    table: sql`archive.orders`,
    id: sql`operation_id`,
    columns: columnsThen(order, 'h.observed_at'),
    observedAt: sql`h.observed_at`,
    // As the view has it (P2).
    tieBreak: sql`coalesce(h.updated_at, '-infinity'), h.status is distinct from 1`,
    conditions: (filters) => conditionsOn(sql`h.status`, sql`h.account`, filters),
  },
  conditions: (filters) => conditionsOn(orders.status, orders.account, filters),
  idOf: ({ operationId }) => operationId,
};

export const createOrders = (reader: Reader): Records<Order, OrderFilters> =>
  createRecords(reader, source);
