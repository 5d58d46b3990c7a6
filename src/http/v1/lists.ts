// How the routes read a list: a page in JSON, everything in the other forms, and a single record.
import { cursor as cursorOfPage, limit as limitOfPage } from '../../query/arguments.ts';
import { everyPage } from '../../query/questions.ts';
import { firstOf, jsonText } from '../../query/record-text.ts';
import type { Page } from '../../catalogue.ts';
import type { Version } from '../../query/types.ts';
import { refuse } from '../answers.ts';
import type { RowKind } from './answer-schemas.ts';
import { present, type ArchiveRequest, type Reply } from './route.ts';

/** How a list is cut into pages; in the other forms it goes out whole. */
export const pageArguments = {
  limit: limitOfPage.describe(
    'Records a page, 100 by default. With format ndjson or csv: records at all, everything by default',
  ),
  cursor: cursorOfPage,
};

type Paging = {
  limit?: number | undefined;
  cursor?: string | undefined;
  count?: boolean | undefined;
};

/** The part of the library that a list needs, whatever it is of. */
export type ListSource<Item, Query> = {
  list(query: Query & { limit?: number; cursor?: string }): Promise<Page<Item>>;
  /** Absent: nothing is counted. */
  count?(query: Query): Promise<number>;
  /** Absent: its pages are read one after another. */
  stream?(query: Query): AsyncIterable<Item>;
};

/** A page in JSON; in the other forms everything, or as many as `limit` says. */
export async function listReply<Item extends object, Query extends object>(
  source: ListSource<Item, Query>,
  query: Query,
  { limit, cursor, count }: Paging,
  { fields }: RowKind,
  { format }: ArchiveRequest,
): Promise<Reply> {
  if (format !== 'json') {
    if (cursor !== undefined || count !== undefined) {
      refuse(`cursor and count go with json: ${format} gives the list from its beginning`);
    }
    const rows = source.stream?.(query) ?? everyPage((page) => source.list(page), query);
    return { kind: 'rows', rows: firstOf(rows, limit ?? Infinity), fields };
  }
  const { items, ...beside } = await source.list({ ...query, ...present({ limit, cursor }) });
  const counted = count === true ? { count: await source.count?.(query) } : {};
  return { kind: 'rows', rows: items, fields, beside: { ...beside, ...counted } };
}

export const one = <Item extends object>(item: Item | null, { fields }: RowKind): Reply | null =>
  item === null ? null : { kind: 'object', json: jsonText(item, fields as never[]) };

export const wholeReply = (rows: readonly object[], { fields }: RowKind): Reply => ({
  kind: 'rows',
  rows,
  fields,
});

/** Every content with when it was in force, a row each; null for a record that is not held. */
export const versions = <Item extends object>(
  found: readonly Version<Item>[],
  kind: RowKind,
): Reply | null =>
  found.length === 0
    ? null
    : wholeReply(
        found.map(({ item, ...inForce }) => ({ ...inForce, ...item })),
        kind,
      );

export const aboutHistory =
  'Oldest first. A content that came late and was older than what was held never was in force: its `in_force_from` is null.';
