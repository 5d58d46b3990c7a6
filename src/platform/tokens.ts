// Tokens and their fees: how a node is asked for them (docs/platform.md §4.1-4.3), and what it gives (§2.1, §2.2) as one
// record and the typed columns of its table. A node leaves zero values out; the columns have them again, `raw` stays as it came.
import type { ParsedRecord, RejectedRecord } from '../model.ts';
import type { ReadColumns } from '../resources.ts';
import { isObject, maxRecordDepth, parseJson, type Json, type JsonObject } from './json.ts';
import { membersOf, parsedAnswer, objectIn, unreadable, type Envelope } from './pages.ts';
import {
  amountOf,
  integerOf,
  longReject,
  readId,
  recordOf,
  reject,
  textOf,
  unread,
  type Columns,
  type ReadFields,
} from './parse.ts';
import type { ListedToken, NodeTokenList } from './platform.ts';
import type { Question } from './request.ts';

const tokensPath = '/token/tokens';

export const tokensQuestion = (): Question<NodeTokenList | null> => ({
  path: tokensPath,
  params: {},
  read: (body, askedAt) => {
    const envelope = membersOf(body);
    const height = heightOf(envelope.get('height'));
    return { height, ...tokensIn(envelope), askedAt };
  },
  missing: () => ({ value: null }),
});

export const feesQuestion = (symbol: string, path: 'fee' | 'fees'): Question<string | null> => ({
  path: `${tokensPath}/${encodeURIComponent(symbol)}/${path}`,
  name: `${tokensPath}/…/${path}`,
  params: {},
  read: (body) => objectIn(membersOf(body), 'result'),
  missing: () => ({ value: null }),
});

function tokensIn(envelope: Envelope): Pick<NodeTokenList, 'tokens' | 'rejects'> {
  const tokens: ListedToken[] = [];
  const rejects: RejectedRecord[] = [];
  const result = envelope.get('result');
  // An empty list is null.
  if (result === null) return { tokens, rejects };
  const text = typeof result === 'object' && result.type === 'deep' ? result.text : '';
  const list = parsedAnswer(text, 1);
  if (typeof list !== 'object' || list?.type !== 'array') throw unreadable('result is no list');
  for (let i = 0; i < list.items.length; i++) {
    const element = text.slice(list.spans[2 * i], list.spans[2 * i + 1]);
    const long = longReject(element);
    if (long !== null) {
      rejects.push(long);
      continue;
    }
    const id = symbolIn(parsedAnswer(element, maxRecordDepth));
    if ('wrong' in id) rejects.push(reject(element, `symbol ${id.wrong}`));
    else tokens.push({ symbol: id.id, text: element });
  }
  return { tokens, rejects };
}

/** A height given as number or text, if Postgres' bigint holds it. */
function heightOf(value: Json | undefined): string | null {
  const text = typeof value === 'object' && value?.type === 'number' ? value.text : value;
  return typeof text === 'string' && /^\d{1,18}$/.test(text) ? text : null;
}

/**
 * The record of a token: `{"token": its element of the list, "fees": the result of its fees}`, both verbatim. The
 * height is no part of it, or every look would be a change; `height` (decimal text) is where this content was first
 * seen.
 * `fees` is null where the node gives none.
 */
export function readToken(
  symbol: string,
  token: string,
  fees: string | null,
  height: string | null,
): ParsedRecord {
  const text = `{"token":${token}${fees === null ? '' : `,"fees":${fees}`}}`;
  const value = parseJson(text);
  const { columns, unread } = tokenColumns(value);
  return recordOf(symbol, value, text, { columns: { ...columns, height }, unread });
}

/** Reads such a record again, as it is held: without its height, which is no part of it. */
export function readTokenRecord(record: Json, text: string): ParsedRecord | RejectedRecord {
  const id = symbolIn(isObject(record) ? record.fields.get('token') : undefined);
  return 'wrong' in id
    ? reject(text, `symbol ${id.wrong}`)
    : recordOf(id.id, record, text, tokenColumns(record));
}

/** The symbol in an element of the list, where there is a usable one. */
export function symbolIn(element: Json | undefined): { id: string } | { wrong: string } {
  const value = isObject(element) ? element.fields.get('value') : undefined;
  return readId(isObject(value) ? value.fields.get('symbol') : undefined);
}

/** Typed columns that follow from the record alone, and the names of the fields that could not be read. */
function tokenColumns(record: Json): Columns {
  const token: ReadFields = { of: fieldsOf(fieldsOf(record, 'token'), 'value'), unread: [] };
  const fees = fieldsOf(record, 'fees');
  const issue: ReadFields = { of: fieldsOf(fees, 'issue_fee'), unread: [] };
  const mint: ReadFields = { of: fieldsOf(fees, 'mint_fee'), unread: [] };
  const columns: ReadColumns<'tokens'> = {
    name: textOf(token, 'name'),
    min_unit: textOf(token, 'min_unit'),
    scale: zeroed(token, 'scale', integerOf(token, 'scale'), 0),
    initial_supply: zeroed(token, 'initial_supply', amountOf(token, 'initial_supply'), '0'),
    max_supply: zeroed(token, 'max_supply', amountOf(token, 'max_supply'), '0'),
    mintable: flagOf(token, 'mintable'),
    owner: textOf(token, 'owner'),
    issue_fee_denom: textOf(issue, 'denom'),
    issue_fee_amount: amountOf(issue, 'amount'),
    mint_fee_denom: textOf(mint, 'denom'),
    mint_fee_amount: amountOf(mint, 'amount'),
  };
  return {
    columns,
    unread: [
      ...token.unread,
      ...issue.unread.map((name) => `issue_fee.${name}`),
      ...mint.unread.map((name) => `mint_fee.${name}`),
    ],
  };
}

/** A node leaves zeros out: what is not set is zero; what cannot be read is not. */
const zeroed = <T>(fields: ReadFields, name: string, value: T | null, zero: T): T | null =>
  value === null && !fields.unread.includes(name) ? zero : value;

function flagOf(fields: ReadFields, name: string): boolean | null {
  const value = fields.of.get(name);
  if (value === undefined || value === null || value === '') return false;
  if (typeof value === 'boolean') return value;
  if (value === 'true' || value === 'false') return value === 'true';
  return unread(fields, name);
}

/** The fields of an object below another; none where there is no object. */
function fieldsOf(parent: Json | JsonObject['fields'], name: string): JsonObject['fields'] {
  const fields = parent instanceof Map ? parent : isObject(parent) ? parent.fields : null;
  const value = fields?.get(name);
  return isObject(value) ? value.fields : new Map();
}
