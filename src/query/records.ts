// Reading one list: its pages, its stream and its single records, the same for every resource. What differs between
// resources is a `Source`: columns and filters, in orders.ts and nft-classes.ts.
import { and, count as counted, eq, type SQL } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import type { NodePgDatabase } from 'drizzle-orm/node-postgres';
import type { ZodType } from 'zod';
import type { Day, ListedResource } from '../model.ts';
import { parseArguments, recordArguments, type Scope } from './arguments.ts';
import { fingerprintOf, readCursor, writeCursor, type Position, type Side } from './cursor.ts';
import { listedAfter, listOrder, seenBy, type ListedTable } from './keyset.ts';
import type { Reader } from './reader.ts';
import type { ListPage, Records } from './types.ts';

type ListArguments<Filters> = Scope &
  Filters & { limit: number; cursor?: string | undefined; offset?: number | undefined };

export type Source<Item, Filters> = {
  /** The name in sentences: `orders` in `orders.list`. */
  name: string;
  resource: ListedResource;
  table: ListedTable;
  /** The same, to count in. */
  from: PgTable;
  id: PgColumn;
  arguments: { list: ZodType<ListArguments<Filters>>; stream: ZodType<Scope & Filters> };
  conditions(filters: Filters): (SQL | undefined)[];
  /** Whether the filters leave one record at most: then nothing is ordered, and its key finds it. */
  isSingle?(filters: Filters): boolean;
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
    const order = source.isSingle?.(scope) === true ? [] : listOrder(table, id, scope.order);
    return reader.read((builder) => source.select(builder, where, order, limit, offset));
  }

  /** A page lies on one side of a position. One more than asked for tells whether there is another beyond it. */
  async function page(
    scope: Scope & Filters,
    from: { side: Side; position: Position } | null,
    limit: number,
    offset: number | undefined,
  ): Promise<{ items: Item[]; isFirst: boolean; isLast: boolean }> {
    if (from?.side !== 'before') {
      const found = await rows(scope, from?.position ?? null, limit + 1, { offset });
      const isFirst = from === null && (offset ?? 0) === 0;
      return { items: found.slice(0, limit), isFirst, isLast: found.length <= limit };
    }
    const order = scope.order === 'asc' ? 'desc' : 'asc';
    const found = await rows({ ...scope, order }, from.position, limit + 1);
    const items = found.slice(0, limit).toReversed();
    return { items, isFirst: found.length <= limit, isLast: false };
  }

  async function list(given: unknown): Promise<ListPage<Item>> {
    const query = parseArguments(`${source.name}.list`, source.arguments.list, given);
    const { limit, cursor, offset, ...scope } = query;
    const fingerprint = fingerprintOf(source.resource, scope);
    const from = cursor === undefined ? null : readCursor(cursor, fingerprint, scope);
    const { items, isFirst, isLast } = await page(query, from, limit, offset);
    const [first, last] = [items[0], items.at(-1)];
    return {
      items,
      next:
        isLast || last === undefined ? null : writeCursor(fingerprint, 'after', positionOf(last)),
      previous:
        isFirst || first === undefined
          ? null
          : writeCursor(fingerprint, 'before', positionOf(first)),
    };
  }

  async function count(given: unknown): Promise<number> {
    const scope = parseArguments(`${source.name}.count`, source.arguments.stream, given);
    const where = and(listedAfter(table, id, scope, null), ...source.conditions(scope));
    const [row] = await reader.read((builder) =>
      builder.select({ matching: counted() }).from(source.from).where(where),
    );
    return row?.matching ?? 0;
  }

  function stream(given: unknown): AsyncIterable<Item> {
    // Checked at the call, not at the first step: that is where the mistake stands.
    const scope = parseArguments(`${source.name}.stream`, source.arguments.stream, given);
    return streamed(scope);
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

  async function get(project: string, recordId: string): Promise<Item | null> {
    const key = parseArguments(`${source.name}.get`, recordArguments, { project, id: recordId });
    const where = and(eq(table.projectId, key.project), eq(id, key.id));
    const [item] = await reader.read((builder) => source.select(builder, where, [], 1, 0));
    return item ?? null;
  }

  return { list, count, stream, get };
}

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
