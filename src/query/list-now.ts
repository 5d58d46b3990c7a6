// A list as it is now: its rows along the index, page by page. As of an instant it is list-as-of.ts.
import type { SQL } from 'drizzle-orm';
import { and, eq, sql } from '../store/orm.ts';
import type { CheckedScope } from './arguments.ts';
import type { RecordPosition } from './list-order.ts';
import { listedAfter, listOrder } from './list-order.ts';
import type { Reader } from './reader.ts';
import {
  opposite,
  streamedAtOnce,
  type FoundPage,
  type From,
  type ListedItem,
  type ListedSource,
} from './source.ts';
import { rowsOf, select } from './statement.ts';
import { recordsHeld } from './summary.ts';

export function createListNow<Item extends ListedItem, Filters extends object>(
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
