// How a probe asks: one page of a list of one resource and owner, with a total. Shared by everything that learns facts.
import type { Day, Instant, ListedResource, Page } from '../model.ts';
import type { Platform } from '../platform/platform.ts';

export type Asking = {
  platform: Platform;
  resource: ListedResource;
  owner: string;
  limit: number;
  signal: AbortSignal;
};

export type Range = { startDate: Day; endDate?: Day };

export function list(
  asking: Asking,
  range: Range,
  sortBy: 'DATE_ASC' | 'DATE_DESC',
  status?: 1 | 2 | 3,
): Promise<Page> {
  const { platform, resource, owner, limit, signal } = asking;
  return resource === 'orders'
    ? platform.orders(
        { ...range, ...(status === undefined ? {} : { status }), limit, sortBy, countTotal: true },
        signal,
      )
    : platform.classes(
        { ...range, ...(owner === '' ? {} : { owner }), offset: 0, limit, sortBy },
        signal,
      );
}

/** When the records of a page were created, those that can be read. */
export function timesOf(page: Page): Instant[] {
  return page.records
    .map((record) => record.columns['created_at'])
    .filter((at): at is string => typeof at === 'string')
    .map((at) => Date.parse(at));
}
