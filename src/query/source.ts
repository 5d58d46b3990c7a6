// What differs between the lists of orders and of classes: columns, filters, and what a read of either gives. The
// sources themselves are in orders.ts and nft-classes.ts.
import type { ZodType } from 'zod';
import type { Day, ListedResource } from '../model.ts';
import type { CheckedScope } from './arguments.ts';
import type { AsOfSource } from './as-of.ts';
import type { Edge, RecordPosition } from './list-order.ts';
import type { Side } from './cursor.ts';

type ListArguments<Filters> = CheckedScope &
  Filters & { limit: number; cursor?: string | undefined; offset?: number | undefined };

export type ListedItem = { sliceDay: Day; createdAt: string | null; missingSince: string | null };

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
export type From = { side: Side; position: RecordPosition | null } | null;

/** `previous` and `next` are positions that more may lie beyond; null where nothing does. */
export type FoundPage<Item> = {
  items: Item[];
  previous: RecordPosition | Edge | null;
  next: RecordPosition | Edge | null;
};

export const opposite = (order: CheckedScope['order']): CheckedScope['order'] =>
  order === 'asc' ? 'desc' : 'asc';

/** Rows a stream reads at a time: few enough to hold, enough to make the statement's cost small. */
export const streamedAtOnce = 1000;
