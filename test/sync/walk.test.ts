// A walk of one list by itself: what it hands over to be committed, and where it ends.
import { expect, test } from 'vitest';
import type { PlatformPage } from '../../src/model.ts';
import type { Platform } from '../../src/platform/platform.ts';
import { readPage } from '../../src/platform/pages.ts';
import { firstPosition, walkView, type ViewEnd } from '../../src/sync/slice/walk.ts';

const day = '2026-03-10';
const noon = Date.parse('2026-03-11T12:00:00Z');

/** Walks a list whose pages are these; returns how it ended, and which ids each committed page showed. */
async function walked(
  resource: 'orders' | 'nft_classes',
  pages: PlatformPage[],
  countsBeyond = true,
): Promise<{ ended: ViewEnd; committed: string[][] }> {
  const committed: string[][] = [];
  const next = async (): Promise<PlatformPage> => pages.shift() as PlatformPage;
  const ended = await walkView(
    {
      platform: { page: next } as unknown as Platform,
      countsBeyond,
      signal: new AbortController().signal,
      commit: async ({ page }) => void committed.push(page.records.map(({ id }) => id)),
    },
    { resource, owner: '', observedAt: null },
    {
      query: { startDate: day, endDate: day, limit: 2, order: 'asc' },
      seen: new Set(),
      mostTotal: null,
      first: null,
      last: null,
    },
    firstPosition,
  );
  return { ended, committed };
}

const orders = (ids: string[], next: string, total: number): PlatformPage => {
  const infos = ids.map((id) => ({ operation_id: id, status: 2, create_time: `${day}T10:00:00Z` }));
  const data = { next_page_key: next, total_count: total, order_infos: infos };
  return readPage('orders', Buffer.from(JSON.stringify({ data })), noon, day);
};
const classes = (ids: string[]): PlatformPage => {
  const data = { classes: ids.map((id) => ({ id, timestamp: `${day}T10:00:00Z` })) };
  return readPage('nft_classes', Buffer.from(JSON.stringify({ data })), noon, day);
};

test('a list that moved is lost, and what its page showed is held', async () => {
  const { ended, committed } = await walked('nft_classes', [
    classes(['a', 'b']),
    classes(['c', 'd']),
  ]);
  expect(ended).toMatchObject({ kind: 'lost', next: 2 });
  expect(committed).toEqual([
    ['a', 'b'],
    ['c', 'd'],
  ]);
});

test('no total ends a walk of orders, however far its pages go beyond it', async () => {
  const length = 20_000;
  const pages = Array.from({ length }, (_, k) => orders([`${k}`], `key-${k}`, 1));
  const { ended, committed } = await walked('orders', [...pages, orders(['last'], '', 1)]);
  expect(ended).toMatchObject({ kind: 'whole' });
  expect(committed).toHaveLength(length + 1);
});

// As those give who filter a page afterwards; the last key of others leads on for ever.
test('pages without a row are gone beyond where they lead on, a few in a row', async () => {
  const empty = (key: string) => orders([], key, 4);
  const { ended, committed } = await walked('orders', [
    empty('1'),
    orders(['a', 'b'], '2', 4),
    ...['3', '4', '5'].map(empty),
    orders(['c'], '6', 4),
    ...Array.from({ length: 20 }, (_, k) => empty(`on-${k}`)),
  ]);
  expect(ended).toEqual({ kind: 'whole', next: 12 });
  expect(committed).toEqual([[], ['a', 'b'], ['c']]);
});

test.each([
  [
    'counts its page alone',
    [orders(['a'], '1', 1), orders([], '2', 1), orders(['b'], '', 2)],
    false,
  ],
  ['is 0', [orders([], '1', 0), orders(['a'], '', 1)], true],
])('nor are they the end where a total %s', async (_, pages, countsBeyond) => {
  const { ended } = await walked('orders', [...pages], countsBeyond);
  expect(ended).toEqual({ kind: 'whole', next: pages.length });
});

test.each([
  ['the platform counts no more than was shown', 'on', 2],
  ['its key leads to itself', 'last', 4],
])('a page without a row ends the walk where %s', async (_, key, total) => {
  const pages = [orders(['a', 'b'], 'last', total), orders([], key, total)];
  expect((await walked('orders', pages)).ended).toEqual({ kind: 'whole', next: 2 });
});
