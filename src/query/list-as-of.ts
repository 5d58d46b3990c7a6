// A list as of an instant, page by page. There may be more beyond where the reading of a page stopped, also where it
// found nothing: how far it reads is bounded-scan.ts.
import type { SQL } from 'drizzle-orm';
import type { CheckedScope } from './arguments.ts';
import { countAsOf, recordsAsOf } from './as-of.ts';
import { contentsAt } from './contents.ts';
import type { RecordPosition } from './list-order.ts';
import { scanThrough } from './bounded-scan.ts';
import type { Reader } from './reader.ts';
import {
  opposite,
  streamedAtOnce,
  type FoundPage,
  type From,
  type ListedItem,
  type ListedSource,
} from './source.ts';

export type Then<Query> = Query & { asOf: string };

export const isThen = <Query extends CheckedScope>(query: Query): query is Then<Query> =>
  query.asOf !== undefined;

export function createListThen<Item extends ListedItem, Filters extends object>(
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
