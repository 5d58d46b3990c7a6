// Reading one list: its pages, its stream and its single records, the same for every resource. What differs between
// resources is a `Source`: columns and filters, in orders.ts and nft-classes.ts.
import { and, count as counted, eq, type SQL } from 'drizzle-orm';
import type { NodePgDatabase } from 'drizzle-orm/node-postgres';
import type { ZodType } from 'zod';
import type { Day, ListedResource } from '../model.ts';
import { parseArguments, contentArguments, recordArguments, type Scope } from './arguments.ts';
import { countAsOf, recordsAsOf, type AsOfSource } from './as-of.ts';
import { lookThrough } from './looking.ts';
import { contentsAt, historyOf } from './contents.ts';
import { readCursor, writeCursor, type Position } from './cursor.ts';
import { fingerprintOf, type Side } from './cursor-text.ts';
import { listedAfter, listOrder, seenBy } from './keyset.ts';
import type { Reader } from './reader.ts';
import type { ListPage, Records, Version } from './types.ts';

type ListArguments<Filters> = Scope &
  Filters & { limit: number; cursor?: string | undefined; offset?: number | undefined };

export type Source<Item, Filters> = AsOfSource<Item, Filters> & {
  /** The name in sentences: `orders` in `orders.list`. */
  name: string;
  resource: ListedResource;
  arguments: { list: ZodType<ListArguments<Filters>>; stream: ZodType<Scope & Filters> };
  /** Runs one statement. */
  select(
    builder: NodePgDatabase,
    where: SQL | undefined,
    order: SQL[],
    limit: number,
    offset: number,
  ): PromiseLike<Item[]>;
  idOf(item: Item): string;
};

/** Rows a stream reads at a time: few enough to hold, enough to make the statement's cost small. */
const streamedAtOnce = 1000;

export function createRecords<
  Item extends { sliceDay: Day; createdAt: string | null },
  Filters extends object,
  PublicFilters,
>(reader: Reader, source: Source<Item, Filters>): Records<Item, PublicFilters> {
  const { table, id } = source;
  const positionOf = (item: Item): Position => ({
    day: item.sliceDay,
    createdAt: item.createdAt,
    id: source.idOf(item),
  });

  function rows(
    scope: Scope & Filters,
    after: Position | null,
    limit: number,
    { seen, offset = 0 }: { seen?: SQL; offset?: number | undefined } = {},
  ): Promise<Item[]> {
    const where = and(listedAfter(table, id, scope, after), ...source.conditions(scope), seen);
    const order = source.idIn?.(scope) !== undefined ? [] : listOrder(table, id, scope.order);
    return reader.read((builder) => source.select(builder, where, order, limit, offset));
  }

  type From = { side: Side; position: Position } | null;
  /** `previous` and `next` are positions that more may lie beyond; null where nothing does. */
  type Found = { items: Item[]; previous: Position | null; next: Position | null };

  /** A page lies on one side of a position. One more than asked for tells whether there is another beyond it. */
  async function page(
    scope: Scope & Filters,
    from: From,
    limit: number,
    offset: number | undefined,
  ): Promise<Found> {
    if (from?.side !== 'before') {
      const found = await rows(scope, from?.position ?? null, limit + 1, { offset });
      const items = found.slice(0, limit);
      const isFirst = from === null && (offset ?? 0) === 0;
      const edges = edgesOf(items);
      return {
        items,
        previous: isFirst ? null : edges.first,
        next: found.length <= limit ? null : edges.last,
      };
    }
    const order = scope.order === 'asc' ? 'desc' : 'asc';
    const found = await rows({ ...scope, order }, from.position, limit + 1);
    const items = found.slice(0, limit).toReversed();
    const edges = edgesOf(items);
    return { items, previous: found.length <= limit ? null : edges.first, next: edges.last };
  }

  function edgesOf(items: Item[]): { first: Position | null; last: Position | null } {
    const [first, last] = [items[0], items.at(-1)];
    return {
      first: first === undefined ? null : positionOf(first),
      last: last === undefined ? null : positionOf(last),
    };
  }

  /** The same as of an instant. There may be more beyond where the reading stopped, also where it found nothing. */
  async function pageAsOf(
    scope: Scope & Filters & { asOf: string },
    from: From,
    limit: number,
  ): Promise<Found> {
    const isBack = from?.side === 'before';
    const order = isBack ? (scope.order === 'asc' ? 'desc' : 'asc') : scope.order;
    const { found, reached } = await recordsAsOf(
      reader,
      source,
      { ...scope, order },
      { after: from?.position ?? null, wanted: limit + 1 },
    );
    // Nothing before: what lies on the other side is the first page, which no position is before.
    if (isBack && found.length === 0 && reached === null) return pageAsOf(scope, null, limit);
    const shown = found.slice(0, limit);
    const beyond = found.length > limit ? (shown.at(-1)?.key ?? null) : reached;
    const start = from === null ? null : (shown[0]?.key ?? reached);
    const items = shown.map(({ item }) => item);
    return isBack
      ? { items: items.toReversed(), previous: beyond, next: start }
      : { items, previous: start, next: beyond };
  }

  async function list(given: unknown): Promise<ListPage<Item>> {
    const query = parseArguments(`${source.name}.list`, source.arguments.list, given);
    const { limit, cursor, offset, ...scope } = query;
    const fingerprint = fingerprintOf(source.resource, scope);
    const from = cursor === undefined ? null : readCursor(cursor, fingerprint, scope);
    const { items, previous, next } = isAsOf(query)
      ? await pageAsOf(query, from, limit)
      : await page(query, from, limit, offset);
    return {
      items,
      next: next === null ? null : writeCursor(fingerprint, 'after', next),
      previous: previous === null ? null : writeCursor(fingerprint, 'before', previous),
    };
  }

  async function count(given: unknown): Promise<number> {
    const scope = parseArguments(`${source.name}.count`, source.arguments.stream, given);
    if (isAsOf(scope)) return countAsOf(reader, source, scope);
    const where = and(listedAfter(table, id, scope, null), ...source.conditions(scope));
    const [row] = await reader.read((builder) =>
      builder.select({ matching: counted() }).from(source.from).where(where),
    );
    return row?.matching ?? 0;
  }

  function stream(given: unknown): AsyncIterable<Item> {
    // Checked at the call, not at the first step: that is where the mistake stands.
    const scope = parseArguments(`${source.name}.stream`, source.arguments.stream, given);
    return isAsOf(scope) ? streamedAsOf(scope) : streamed(scope);
  }

  async function* streamed(scope: Scope & Filters): AsyncGenerator<Item> {
    const seen = seenBy(table, await horizon(reader, scope.project, source.resource));
    let after: Position | null = null;
    // Ends: every page begins after the last row of the one before, and rows first seen later are left out.
    for (;;) {
      const items: Item[] = await rows(scope, after, streamedAtOnce, { seen });
      yield* items;
      const last = items.at(-1);
      if (last === undefined || items.length < streamedAtOnce) return;
      after = positionOf(last);
    }
  }

  async function* streamedAsOf(scope: Scope & Filters & { asOf: string }): AsyncGenerator<Item> {
    const seen = seenBy(table, await horizon(reader, scope.project, source.resource));
    const wanted = streamedAtOnce;
    yield* lookThrough<Position, Item>((after) =>
      recordsAsOf(reader, source, scope, { after, wanted, seen }),
    );
  }

  async function get(
    project: string,
    recordId: string,
    at: { asOf?: string } = {},
  ): Promise<Item | null> {
    const key = parseArguments(`${source.name}.get`, contentArguments, {
      project,
      id: recordId,
      ...at,
    });
    if (key.asOf !== undefined) {
      const of = { project: key.project, ids: [key.id], asOf: key.asOf, filters: null };
      return (await contentsAt(reader, source.contents, of)).get(key.id) ?? null;
    }
    const where = and(eq(table.projectId, key.project), eq(id, key.id));
    const [item] = await reader.read((builder) => source.select(builder, where, [], 1, 0));
    return item ?? null;
  }

  async function history(project: string, recordId: string): Promise<Version<Item>[]> {
    const given = { project, id: recordId };
    const key = parseArguments(`${source.name}.history`, recordArguments, given);
    return historyOf(reader, source.contents, key.project, key.id);
  }

  return { list, count, stream, get, history };
}

const isAsOf = <Query extends Scope>(query: Query): query is Query & { asOf: string } =>
  query.asOf !== undefined;

/**
 * The instant a stream is of: nothing held by now is first seen later. Our own clock alone would not do, for
 * `first_seen_at` is the platform's, which may be ahead; the newest page held is the platform's word for now.
 */
async function horizon(reader: Reader, project: string, resource: ListedResource): Promise<string> {
  const { rows } = await reader.query<{ horizon: string }>(
    `select greatest(clock_timestamp(), max(newest_page_at)) as horizon
       from analytics.coverage where project_id = $1 and resource = $2`,
    [project, resource],
  );
  return rows[0]?.horizon ?? 'infinity';
}
