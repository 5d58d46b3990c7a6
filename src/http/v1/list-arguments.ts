// How the routes read a list: a page in JSON, everything in the other forms, and a single record.
import { cursor as cursorOfPage, limit as limitOfPage } from '../../query/arguments.ts';
import type { ListQuery } from '../../query/lists.ts';
import { firstOf, jsonText, snake } from '../../query/record-text.ts';
import { refuse } from '../http-answers.ts';
import type { RowKind } from './answer-schemas.ts';
import { present, type ArchiveRequest, type Reply } from './archive-route.ts';

/** How a list is cut into pages; in the other forms it goes out whole. */
export const pageArguments = {
  limit: limitOfPage.describe(
    'Records a page, 100 by default. In another format than json: records at all, everything by default',
  ),
  cursor: cursorOfPage,
};

export type Paging = {
  limit?: number | undefined;
  cursor?: string | undefined;
  count?: boolean | undefined;
};

/** The part of the library that a list needs, whatever it is of. */
type ListSource = {
  /** What stands beside the items goes beside them in JSON. */
  list(query: ListQuery): Promise<{ items: readonly object[] }>;
  count(query: ListQuery): Promise<number>;
  stream(query: ListQuery): AsyncIterable<object>;
};

/** A page in JSON; in the other forms everything, or as many as `limit` says. */
export async function listReply(
  source: ListSource,
  query: ListQuery,
  { limit, cursor, count }: Paging,
  { fields }: RowKind,
  { format }: ArchiveRequest,
): Promise<Reply> {
  if (format !== 'json') {
    if (cursor !== undefined || count !== undefined) {
      refuse(`cursor and count go with json: ${format} gives the list from its beginning`);
    }
    return { kind: 'rows', rows: firstOf(source.stream(query), limit ?? Infinity), fields };
  }
  const asked = { ...query, ...present({ limit, cursor }) };
  const { items, ...beside } = await source.list(asked);
  const counted = count === true ? { count: await source.count(query) } : {};
  const named = Object.entries({ ...beside, ...counted }).map(([name, one]) => [snake(name), one]);
  return {
    kind: 'rows',
    rows: items,
    fields,
    beside: Object.fromEntries(named),
  };
}

export const one = <Item extends object>(item: Item | null, { fields }: RowKind): Reply | null =>
  item === null ? null : { kind: 'object', json: jsonText(item, Object.keys(fields) as never[]) };

export const wholeReply = (rows: readonly object[], { fields }: RowKind): Reply => ({
  kind: 'rows',
  rows,
  fields,
});
