// A transaction result as the platform gives it (docs/platform.md §2.5) as the typed columns of its table. The two
// lookups share them: what one of them does not give is NULL.
import type { ParsedRecord } from '../model.ts';
import type { ReadColumns } from '../resources.ts';
import { jsonbText } from './canonical.ts';
import { isObject, type Json } from './json.ts';
import {
  integerOf,
  recordOf,
  textOf,
  timeOf,
  unread,
  wholeOf,
  type Columns,
  type ReadFields,
} from './parse.ts';

/** Reads the `data` of a lookup's answer. The result names no operation: it is the one that was asked for. */
export const readTransaction = (data: Json, text: string, operationId: string): ParsedRecord =>
  recordOf(operationId, data, text, transactionColumns(data));

/** Typed columns of a transaction result and the names of the fields that could not be read. */
function transactionColumns(data: Json): Columns {
  const fields: ReadFields = { of: isObject(data) ? data.fields : new Map(), unread: [] };
  const columns: ReadColumns<'transactions'> = {
    // In v3 native a number: kept as its text, for published lists of their meanings disagree.
    module: textOf(fields, 'module'),
    type: textOf(fields, 'type'),
    operation: integerOf(fields, 'operation'),
    tx_hash: textOf(fields, 'tx_hash'),
    status: integerOf(fields, 'status'),
    message: textOf(fields, 'message'),
    block_height: wholeOf(fields, 'block_height', 9_223_372_036_854_775_807n),
    confirmed_at: timeOf(fields, 'timestamp'),
    nft: bodyOf(fields, 'nft'),
    mt: bodyOf(fields, 'mt'),
    record: bodyOf(fields, 'record'),
  };
  return { columns, unread: fields.unread };
}

/** A body as JSON text for a jsonb column; only the one that matches the operation is given. */
function bodyOf(fields: ReadFields, name: string): string | null {
  const value = fields.of.get(name);
  if (value === undefined || value === null || value === '') return null;
  return isObject(value) ? jsonbText(value) : unread(fields, name);
}
