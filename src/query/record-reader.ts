// Reading one list of days: its pages, its stream and its single records, the same for orders and classes. Arguments are
// checked and cursors are read and written first; then the list is read as it is now, its rows along the index, or as of
// an instant. What differs between the lists is a `ListedSource`: orders.ts and nft-classes.ts have theirs.
import type { SQL } from 'drizzle-orm';
import type { ZodType } from 'zod';
import type { Day, ListedResource } from '../model.ts';
import { and, eq, sql } from '../store/orm.ts';
import {
  contentArguments,
  parseArguments,
  recordArguments,
  type CheckedScope,
} from './arguments.ts';
import { contentsAt, countAsOf, historyOf, recordsAsOf, type AsOfSource } from './as-of.ts';
import { scanThrough } from './bounded-scan.ts';
import { fingerprintOf, type Side } from './cursor.ts';
import {
  listedAfter,
  listOrder,
  readCursor,
  seenBy,
  writeCursor,
  type Edge,
  type RecordPosition,
} from './list-order.ts';
import type { Reader } from './reader.ts';
import { rowsOf, select } from './selected-columns.ts';
import { recordsHeld } from './summary.ts';
import type { Records } from './types.ts';

type ListArguments<Filters> = CheckedScope &
  Filters & { limit: number; cursor?: string | undefined; offset?: number | undefined };

type ListedItem = { sliceDay: Day; createdAt: string | null; missingSince: string | null };

export type ListedSource<Item extends ListedItem, Filters> = AsOfSource<Item, Filters> & {
  /** The name in sentences: `orders` in `orders.list`. */
  name: string;
  resource: ListedResource;
  arguments: { list: ZodType<ListArguments<Filters>>; stream: ZodType<CheckedScope & Filters> };
};

/**
 * Where a page begins: on one side of a position, or of the edge of the list (null); from its beginning where nothing
 * is given.
 */
type From = { side: Side; position: RecordPosition | null } | null;

/** `previous` and `next` are positions that more may lie beyond; null where nothing does. */
type FoundPage<Item> = {
  items: Item[];
  previous: RecordPosition | Edge | null;
  next: RecordPosition | Edge | null;
};

const opposite = (order: CheckedScope['order']): CheckedScope['order'] =>
  order === 'asc' ? 'desc' : 'asc';

/** Rows a stream reads at a time: few enough to hold, enough to make the statement's cost small. */
const streamedAtOnce = 1000;

export function createRecords<Item extends ListedItem, Filters extends object, PublicFilters>(
  reader: Reader,
  source: ListedSource<Item, Filters>,
): Records<Item, PublicFilters> {
  const { name, resource } = source;
  const now = createListNow(reader, source);
  const then = createListThen(reader, source);
  return {
    list: async (given) => {
      const query = parseArguments(`${name}.list`, source.arguments.list, given);
      const { limit, cursor, offset, ...scope } = query;
      const fingerprint = fingerprintOf(resource, scope);
      const from = cursor === undefined ? null : readCursor(cursor, fingerprint, scope);
      const { items, previous, next } = isThen(query)
        ? await then.page(query, from, limit)
        : await now.page(query, from, limit, offset);
      return {
        items,
        next: next === null ? null : writeCursor(fingerprint, 'after', next),
        previous: previous === null ? null : writeCursor(fingerprint, 'before', previous),
      };
    },
    count: async (given) => {
      const scope = parseArguments(`${name}.count`, source.arguments.stream, given);
      return isThen(scope) ? then.count(scope) : now.count(scope);
    },
    stream: (given) => {
      // Checked at the call, not at the first step: that is where the mistake stands.
      const scope = parseArguments(`${name}.stream`, source.arguments.stream, given);
      return (async function* () {
        const seen = seenBy(source.table, await horizon(reader, scope.project, resource));
        yield* isThen(scope) ? then.stream(scope, seen) : now.stream(scope, seen);
      })();
    },
    get: async (project, id, at = {}) => {
      const key = parseArguments(`${name}.get`, contentArguments, { project, id, ...at });
      const { asOf } = key;
      return asOf === undefined
        ? now.get(key.project, key.id)
        : then.get(key.project, key.id, asOf);
    },
    history: async (project, id) => {
      const key = parseArguments(`${name}.history`, recordArguments, { project, id });
      return historyOf(reader, source.contents, key.project, key.id);
    },
  };
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

/** As it is now. */
function createListNow<Item extends ListedItem, Filters extends object>(
  reader: Reader,
  source: ListedSource<Item, Filters>,
) {
  const { table, id } = source;
  const positionOf = (item: Item): RecordPosition => ({
    day: item.sliceDay,
    createdAt: item.createdAt,
    id: source.idOf(item),
  });
  const positionOrNull = (item: Item | undefined): RecordPosition | null =>
    item === undefined ? null : positionOf(item);

  function rows(
    scope: CheckedScope & Filters,
    after: RecordPosition | null,
    limit: number,
    { seen, offset = 0 }: { seen?: SQL; offset?: number | undefined } = {},
  ): Promise<Item[]> {
    const where = and(listedAfter(table, id, scope, after), ...source.conditions(scope), seen);
    const order = source.idIn?.(scope) !== undefined ? [] : listOrder(table, id, scope.order);
    return select<Item>(reader, source, where, { order, limit, offset });
  }

  /** A page lies on one side of a position. One more than asked for tells whether there is another beyond it. */
  async function page(
    scope: CheckedScope & Filters,
    from: From,
    limit: number,
    offset: number | undefined,
  ): Promise<FoundPage<Item>> {
    const isBack = from?.side === 'before';
    const order = isBack ? opposite(scope.order) : scope.order;
    const found = await rows({ ...scope, order }, from?.position ?? null, limit + 1, { offset });
    const hasMore = found.length > limit;
    const items = isBack ? found.slice(0, limit).toReversed() : found.slice(0, limit);
    const [first, last] = [positionOrNull(items[0]), positionOrNull(items.at(-1))];
    if (isBack) return { items, previous: hasMore ? first : null, next: last };
    const isFirst = from === null && (offset ?? 0) === 0;
    return { items, previous: isFirst ? null : first, next: hasMore ? last : null };
  }

  async function count(scope: CheckedScope & Filters): Promise<number> {
    const narrowed = and(...source.conditions(scope));
    const isWhole = scope.from === undefined && scope.to === undefined && narrowed === undefined;
    const statement = isWhole
      ? sql`select ${sql.raw(recordsHeld(source.resource, 'asked.project'))} as matching
              from (select ${scope.project}::text as project) asked`
      : sql`select count(*) as matching from ${source.from}
             where ${and(listedAfter(table, id, scope, null), narrowed)}`;
    const [row] = await rowsOf<{ matching: string }>(reader, statement);
    return Number(row?.matching ?? 0);
  }

  async function* stream(scope: CheckedScope & Filters, seen: SQL): AsyncGenerator<Item> {
    let after: RecordPosition | null = null;
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
    const where = and(eq(table.project, project), eq(id, recordId));
    const [item] = await select<Item>(reader, source, where, { order: [], limit: 1 });
    return item ?? null;
  }

  return { page, count, stream, get };
}

type Then<Query> = Query & { asOf: string };

const isThen = <Query extends CheckedScope>(query: Query): query is Then<Query> =>
  query.asOf !== undefined;

/**
 * As of an instant. There may be more beyond where the reading of a page stopped, also where it found nothing: how far it
 * reads is bounded-scan.ts.
 */
function createListThen<Item extends ListedItem, Filters extends object>(
  reader: Reader,
  source: ListedSource<Item, Filters>,
) {
  async function page(
    scope: Then<CheckedScope & Filters>,
    from: From,
    limit: number,
  ): Promise<FoundPage<Item>> {
    const isBack = from?.side === 'before';
    const asked = { ...scope, order: isBack ? opposite(scope.order) : scope.order };
    const range = { after: from?.position ?? null, wanted: limit + 1 };
    const { found, reached } = await recordsAsOf(reader, source, asked, range);
    const shown = found.slice(0, limit);
    const beyond = found.length > limit ? (shown.at(-1)?.key ?? null) : reached;
    // Where nothing was found up to the edge, the other side begins there.
    const start = from === null ? null : (shown[0]?.key ?? reached ?? 'edge');
    const items = shown.map(({ item }) => item);
    return isBack
      ? { items: items.toReversed(), previous: beyond, next: start }
      : { items, previous: start, next: beyond };
  }

  return {
    page,
    count: (scope: Then<CheckedScope & Filters>): Promise<number> =>
      countAsOf(reader, source, scope),
    stream: (scope: Then<CheckedScope & Filters>, seen: SQL): AsyncGenerator<Item> =>
      scanThrough<RecordPosition, Item>((after) =>
        recordsAsOf(reader, source, scope, { after, wanted: streamedAtOnce, seen }),
      ),
    get: async (project: string, id: string, asOf: string): Promise<Item | null> => {
      const of = { project, ids: [id], asOf, filters: null };
      return (await contentsAt<Item, Filters>(reader, source.contents, of)).get(id) ?? null;
    },
  };
}
