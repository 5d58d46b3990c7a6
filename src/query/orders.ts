// Reading purchase orders: their columns and filters. Paging is records.ts.
import { inArray, sql, type Column, type SQL } from 'drizzle-orm';
import { orders, orderVersions } from '../store/schema.ts';
import { orderArguments } from './arguments.ts';
import { bookkeepingColumns } from './columns.ts';
import { createRecords } from './records.ts';
import type { Source } from './source.ts';
import type { Reader } from './reader.ts';
import type { Order, OrderFilters, OrderStatus, Records } from './types.ts';

type Filters = { status?: OrderStatus[] | undefined; account?: string | undefined };

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

const source: Source<Order, Filters> = {
  name: 'orders',
  resource: 'orders',
  table: orders,
  from: orders,
  columns: sql`operation_id as "operationId", status, message, account, amount, number, created_at as "createdAt",
    updated_at as "updatedAt", order_type as "orderType", ${bookkeepingColumns}`,
  id: orders.operationId,
  arguments: orderArguments,
  versions: {
    from: orderVersions,
    projectId: orderVersions.projectId,
    id: orderVersions.operationId,
    observedAt: orderVersions.observedAt,
  },
  contents: {
    view: sql`analytics.order_history`,
    table: sql`archive.orders`,
    id: sql`operation_id`,
    columns: sql`h.operation_id as "operationId", h.status, h.message, h.account, h.amount_fen as "amount", h.number,
      h.created_at as "createdAt", h.updated_at as "updatedAt", h.order_type as "orderType"`,
    observedAt: sql`h.observed_at`,
    // As the view has it (P2).
    tieBreak: sql`coalesce(h.updated_at, '-infinity'), h.status is distinct from 1`,
    conditions: (filters) => conditionsOn(sql`h.status`, sql`h.account`, filters),
  },
  conditions: (filters) => conditionsOn(orders.status, orders.account, filters),
  idOf: (order) => order.operationId,
};

export const createOrders = (reader: Reader): Records<Order, OrderFilters> =>
  createRecords(reader, source);
