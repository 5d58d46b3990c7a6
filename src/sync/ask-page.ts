// One page of a slice as a walk asks for it: the query fixed at its start, from a position.
import type { Page } from '../model.ts';
import type { Platform } from '../platform/platform.ts';
import type { Slice, WalkQuery } from '../store/ledger.ts';
import { idsOf } from '../store/pages.ts';
import { firstPosition, type Position } from './steps.ts';

export function ask(
  platform: Platform,
  slice: Slice,
  query: WalkQuery,
  position: Position,
  withTotal: boolean,
  signal: AbortSignal,
): Promise<Page> {
  const { order, ...asked } = query;
  const sortBy = order === 'desc' ? 'DATE_DESC' : 'DATE_ASC';
  if (slice.resource === 'orders') {
    return platform.orders(
      {
        ...asked,
        ...(position.pageKey === null ? {} : { pageKey: position.pageKey }),
        sortBy,
        countTotal: withTotal,
      },
      signal,
    );
  }
  return platform.classes(
    {
      ...asked,
      ...(slice.owner === '' ? {} : { owner: slice.owner }),
      offset: position.offset,
      sortBy,
    },
    signal,
  );
}

/** The total alone: one record is asked for, and none of it is kept. */
export function count(
  platform: Platform,
  slice: Slice,
  query: WalkQuery,
  signal: AbortSignal,
): Promise<Page> {
  return ask(platform, slice, { ...query, limit: 1 }, firstPosition, true, signal);
}

export function showsAgain(page: Page, mustShow: string[]): boolean {
  const shown = new Set(idsOf(page));
  return mustShow.every((id) => shown.has(id));
}
