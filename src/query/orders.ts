// Reading purchase orders: their columns and filters. Paging is records.ts.
import { eq, inArray } from 'drizzle-orm';
import { orders } from '../store/schema.ts';
import { orderArguments } from './arguments.ts';
import { bookkeepingColumns, bookkeepingOf, timeOrNull } from './columns.ts';
import { createRecords, type Source } from './records.ts';
import type { Reader } from './reader.ts';
import type { Order, OrderFilters, OrderStatus, Records } from './types.ts';

const columns = {
  operationId: orders.operationId,
  status: orders.status,
  message: orders.message,
  account: orders.account,
  amount: orders.amount,
  number: orders.number,
  createdAt: orders.createdAt,
  updatedAt: orders.updatedAt,
  orderType: orders.orderType,
  ...bookkeepingColumns(orders),
};

type Filters = { status?: OrderStatus[] | undefined; account?: string | undefined };

const source: Source<Order, Filters> = {
  name: 'orders',
  resource: 'orders',
  table: orders,
  from: orders,
  id: orders.operationId,
  arguments: orderArguments,
  conditions: ({ status, account }) => [
    // A single status as an equation: only that lets the index of pending orders serve.
    status === undefined
      ? undefined
      : status.length === 1
        ? eq(orders.status, status[0] as OrderStatus)
        : inArray(orders.status, status),
    account === undefined ? undefined : eq(orders.account, account),
  ],
  select: async (builder, where, order, limit, offset) => {
    const rows = await builder
      .select(columns)
      .from(orders)
      .where(where)
      .orderBy(...order)
      .limit(limit)
      .offset(offset);
    return rows.map((row) => ({
      ...row,
      ...bookkeepingOf(row),
      createdAt: timeOrNull(row.createdAt),
      updatedAt: timeOrNull(row.updatedAt),
    }));
  },
  idOf: (order) => order.operationId,
};

export const createOrders = (reader: Reader): Records<Order, OrderFilters> =>
  createRecords(reader, source);
