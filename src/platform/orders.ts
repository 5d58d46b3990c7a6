// An order as the platform gives it (docs/platform.md §2.3) as the typed columns of its table.
import type { Day } from '../model.ts';
import type { ReadColumns } from '../resources.ts';
import {
  amountOf,
  type Columns,
  type ReadFields,
  indexedTextOf,
  integerOf,
  textOf,
  timeOf,
} from './fields.ts';
import type { JsonObject } from './json.ts';

// Documented as an integer; some clients still model it as text.
const statusWords = new Map([
  ['pending', 1],
  ['success', 2],
  ['failed', 3],
]);

/**
 * Typed columns of an order and the names of the fields that could not be read. A function of the order alone,
 * but for `askedDay`: the `slice_day` of an order whose create_time cannot be read.
 */
export function orderColumns(order: JsonObject, askedDay: Day): Columns {
  const fields: ReadFields = { of: order.fields, unread: [] };
  const createdAt = timeOf(fields, 'create_time');
  const columns: ReadColumns<'orders'> = {
    status: statusOf(fields),
    message: textOf(fields, 'message'),
    // Orders of a batch purchase show no account, amount or number: absent, null or ''.
    account: indexedTextOf(fields, 'account') || null,
    amount: amountOf(fields, 'amount'),
    number: amountOf(fields, 'number'),
    created_at: createdAt,
    updated_at: timeOf(fields, 'update_time'),
    order_type: integerOf(fields, 'order_type'),
    slice_day: createdAt?.slice(0, 10) ?? askedDay,
  };
  return { columns, unread: fields.unread };
}

function statusOf(fields: ReadFields): number | null {
  const value = fields.of.get('status');
  const word = typeof value === 'string' ? value.trim().toLowerCase() : '';
  return statusWords.get(word) ?? integerOf(fields, 'status');
}
