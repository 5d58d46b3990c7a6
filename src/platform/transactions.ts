// A transaction result: how it is asked for by its operation id (docs/platform.md §4.5, §4.6), and what comes (§2.5) as
// the typed columns of its table. The two lookups share them: what one of them does not give is NULL. What is no such
// answer is a passing fault, never "not found".
import type { ApiVersion, ParsedRecord } from '../model.ts';
import type { ReadColumns } from '../resources.ts';
import { jsonbText } from './canonical.ts';
import { isObject, maxRecordDepth, type Json } from './json.ts';
import { membersOf, objectIn, parsedAnswer } from './pages.ts';
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
import type { FoundTransaction } from './platform.ts';
import { errorIn } from './refusal.ts';
import type { Question } from './request.ts';

const lookupPaths: Record<ApiVersion, string> = { v1beta1: '/v1beta1/tx', v3: '/v3/native/tx' };

export function transactionQuestion(
  version: ApiVersion,
  operationId: string,
): Question<FoundTransaction> {
  const path = lookupPaths[version];
  return {
    path: `${path}/${encodeURIComponent(operationId)}`,
    name: path,
    params: {},
    read: (body, askedAt) => {
      const text = objectIn(membersOf(body), 'data');
      return {
        record: readTransaction(parsedAnswer(text, maxRecordDepth), text, operationId),
        askedAt,
      };
    },
    // The platform's own "not found"; a bare `404 page not found` comes now and then and says nothing.
    missing: (body, askedAt) =>
      isObject(errorIn(body)) ? { value: { record: null, askedAt } } : null,
  };
}

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
