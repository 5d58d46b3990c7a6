// One page of a list, as a value until it is written, so that faults can be done to it; and the envelopes and error
// bodies of all answers, as text.
import type { Instant, ListedResource } from '../model.ts';
import type { QueryParameters } from '../platform/target.ts';
import { encodeList } from './bytes.ts';
import type { Dialect } from './dialect.ts';
import type { Selection } from './list.ts';
import { wholeIn } from './query.ts';
import type { Shelf } from './shelf.ts';

export type PageContext = {
  now: Instant;
  dialect: Dialect;
  keySeed: number;
  /** The request's number, by which keys may age. */
  request: number;
};

/** One record on a page: its JSON text, and where it comes from. */
export type SimulatedRow = { text: string; id(): string };

export type SimulatedPage = {
  resource: ListedResource;
  rows: SimulatedRow[];
  total: number;
  write(rows: readonly SimulatedRow[], total: number): Buffer;
};

export const isPage = (value: SimulatedPage | SimulatedAnswer): value is SimulatedPage =>
  'rows' in value;

/** Ranks `[first, end)` in the order shown; ranks of the selection run upwards in time. */
export type Stretch<F> = {
  selection: Selection<F>;
  ascending: boolean;
  first: number;
  end: number;
};

/** The rows a page may carry: as asked (10 by default), up to the greatest limit; a sentence if it is refused. */
export function limitIn(
  query: QueryParameters,
  greatest: number,
  dialect: Dialect,
): number | string {
  const limit = wholeIn(query, 'limit', 10, 1);
  if (typeof limit === 'string') return limit;
  if (limit > greatest && dialect.overLimit === 'refuse')
    return `limit must not exceed ${greatest}`;
  const clamped = Math.min(limit, greatest);
  return dialect.shortPages > 0 ? Math.min(clamped, dialect.shortPages) : clamped;
}

export const recordAt = <F>(stretch: Stretch<F>, index: number): { shelf: Shelf<F>; k: number } =>
  stretch.selection.at(stretch.ascending ? index : stretch.selection.total - 1 - index);

export function simulatedRowsOf<F>(stretch: Stretch<F>, now: Instant): SimulatedRow[] {
  const rows: SimulatedRow[] = [];
  for (let i = stretch.first; i < stretch.end; i++) {
    const { shelf, k } = recordAt(stretch, i);
    rows.push({ text: shelf.textAt(k, now), id: () => shelf.idAt(k) });
  }
  return rows;
}

/** Where a list of so many records ends. */
export const listedRecords = (records: number, { listCap }: Dialect): number =>
  listCap > 0 ? Math.min(records, listCap) : records;

/** How many of so many records the total counts. */
export const countedRecords = (records: number, { totalsCap }: Dialect): number =>
  totalsCap > 0 ? Math.min(records, totalsCap) : records;

export function totalText(
  total: number,
  form: Dialect['totals'],
  rows: readonly SimulatedRow[],
): string {
  if (form === 'absent') return '';
  const figures = { zero: 0, page: rows.length, present: total, first: total };
  return `,"total_count":${figures[form]}`;
}

/** The envelope closed after its list; `head` is all before that. */
export function encodePage(
  head: string,
  listName: string,
  rows: readonly SimulatedRow[],
  { dialect, now }: PageContext,
): Buffer {
  const { emptyList, unknownFields } = dialect;
  const tail = unknownFields ? `},"server_time":${now},"trace":{"id":"t-0"}}` : '}}';
  if (rows.length > 0 || emptyList === 'array') {
    const texts = rows.map(({ text }) => text);
    return encodeList(`${head},"${listName}":[`, texts, `]${tail}`);
  }
  return Buffer.from(head + (emptyList === 'null' ? `,"${listName}":null` : '') + tail);
}

export type SimulatedAnswer = {
  status: number;
  body: string | Buffer;
  headers?: Record<string, string>;
};

export const ok = (body: string | Buffer): SimulatedAnswer => ({ status: 200, body });

/** Group B's error envelope: all texts. */
export const refusal = (status: number, code: string, message: string): SimulatedAnswer => ({
  status,
  body: JSON.stringify({ error: { code_space: 'simulator', code, message } }),
});

export const badRequest = (message: string): SimulatedAnswer =>
  refusal(400, 'BAD_REQUEST', message);
export const notFound = (message: string): SimulatedAnswer => refusal(404, 'NOT_FOUND', message);
export const forbidden = (status = 403): SimulatedAnswer =>
  refusal(status, 'FORBIDDEN', 'authentication failed');

/** Group A's: a node's. */
export const nodeError = (status: number, message: string): SimulatedAnswer => ({
  status,
  body: JSON.stringify({ error: message }),
});

/** What a router says that knows no such path. */
export const noSuchPath: SimulatedAnswer = {
  status: 404,
  body: '404 page not found',
  headers: { 'content-type': 'text/plain; charset=utf-8' },
};
