// Reading a held record again, from the original bytes where there are some: what its digest, its id and its typed
// columns must be. Pure.
import type { ColumnValue, Day, ParsedRecord, RejectedRecord, Resource } from '../model.ts';
import { decodeUtf8 } from '../platform/bytes.ts';
import { canonical, plainDecimal } from '../platform/canonical.ts';
import { parseJson, type Json } from '../platform/json.ts';
import { isReject, readListed } from '../platform/parse.ts';
import { readToken, readTokenRecord, symbolIn } from '../platform/tokens.ts';
import { readTransaction } from '../platform/transactions.ts';
import type { HeldContent, HeldRow } from '../store/read-held.ts';
import type { Archived } from '../store/record-tables.ts';

/** The record as it was read at the door; null where what is held is no record (any more). */
export function readAgain(
  resource: Resource,
  { id, raw, raw_bytes: bytes }: HeldContent,
  askedDay: Day,
): ParsedRecord | null {
  const text = bytes === null ? raw : decodeUtf8(bytes);
  const value = jsonIn(text);
  if (value === undefined) return null;
  const record = readOne(resource, value, text, id, askedDay);
  return isReject(record) ? null : record;
}

function readOne(
  resource: Resource,
  value: Json,
  text: string,
  id: string,
  askedDay: Day,
): ParsedRecord | RejectedRecord {
  switch (resource) {
    case 'orders':
    case 'nft_classes':
      return readListed(resource, value, text, askedDay);
    case 'transactions':
      // The result names no operation: it is the one that was asked for.
      return readTransaction(value, text, id);
    case 'tokens':
  }
  return readTokenRecord(value, text);
}

/**
 * What these contents say, and the ids of those that do not match their digests or ids: what follows from them would
 * hide it.
 */
export function derivedFrom(
  { resource }: Archived,
  contents: (HeldContent & Pick<HeldRow, 'slice_day'>)[],
): { derived: ParsedRecord[]; altered: string[] } {
  const derived: ParsedRecord[] = [];
  const altered: string[] = [];
  for (const held of contents) {
    // A record whose own time cannot be read keeps the day it has.
    const record = readAgain(resource, held, held.slice_day ?? '');
    // What was altered is verify's to tell.
    if (record?.rawSha256 !== held.sha256 || record.id !== held.id) altered.push(held.id);
    else derived.push(record);
  }
  return { derived, altered };
}

/** The record that a reject turns out to be by now; null where it is still none. */
export function readRejectAgain(
  resource: Exclude<Resource, 'transactions'>,
  bytes: Buffer,
  askedDay: Day,
): ParsedRecord | null {
  const held = { id: '', raw: '', raw_bytes: bytes, sha256: '' };
  if (resource !== 'tokens') return readAgain(resource, held, askedDay);
  // What was set aside is the element of the list, whose fees nobody asked for.
  const text = decodeUtf8(bytes);
  const symbol = symbolIn(jsonIn(text));
  return 'wrong' in symbol ? null : readToken(symbol.id, text, null, null);
}

/** Undefined where it is no JSON. */
function jsonIn(text: string): Json | undefined {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** Whether two texts are the same JSON value. */
export const isSameJson = (a: string, b: string): boolean =>
  a === b || canonical(parseJson(a)).text === canonical(parseJson(b)).text;

/** Whether a column holds what follows from the record. Numbers are compared by value: 1.50 is 1.5. */
export function isSameColumn(type: string, held: ColumnValue, follows: ColumnValue): boolean {
  if (held === follows) return true;
  if (held === null || follows === null) return false;
  // As Postgres prints them; the texts derived have the same form.
  const [a, b] = [String(held), String(follows)];
  if (type === 'jsonb') return isSameJson(a, b);
  return a === b || (type === 'numeric' && numeric(a) === numeric(b));
}

const numeric = (text: string): string | null => plainDecimal(text.replace(/^\+/, ''));
