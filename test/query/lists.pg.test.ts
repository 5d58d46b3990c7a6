// Reading lists: what a page holds, in which order, and what is said to arguments and cursors that make no sense (P12).
import { beforeEach, describe, expect, test } from 'vitest';
import type { Archive } from '../../src/index.ts';
import type { Db } from '../../src/store/db.ts';
import { eachInProject } from '../support/opened.ts';
import { pagesBeyond, pagesOf } from '../support/paged.ts';
import { writeClass, writeOrder } from '../support/rows.ts';

let db: Db;
let archive: Archive;
let project = '';
eachInProject((given) => ({ db, archive, project } = given));

const idsOf = (items: { operationId: string }[]): string[] => items.map((one) => one.operationId);

/** Every id of a list, page by page; and the way back leads through the same pages. */
async function paged(query: object): Promise<string[]> {
  const read = (paging: object) => archive.orders.list({ project, ...query, ...paging });
  const pages = await pagesOf(read);
  expect(pages[0]?.previous).toBeNull();
  const [last] = pages.toReversed();
  if (last === undefined) throw new Error('there is a first page');
  const back = await pagesBeyond(read, last, 'previous');
  const ids = pages.map(({ items }) => idsOf(items));
  expect(back.toReversed().map(({ items }) => idsOf(items))).toEqual(ids);
  expect(back.slice(1).every(({ next }) => next !== null)).toBe(true);
  return ids.flat();
}

describe('a record', () => {
  test('comes back without a digit lost', async () => {
    await writeOrder(db, {
      project,
      id: 'op',
      createdAt: '2026-03-10T10:00:00.123456Z',
      amount: '12345678901234567890.10',
      raw: '{"amount": 12345678901234567890.10, "unknown": [1.50]}',
    });
    expect(await archive.orders.get(project, 'op')).toMatchObject({
      amountFen: '12345678901234567890.10',
      createdAt: '2026-03-10T10:00:00.123456Z',
      rawJson: '{"amount": 12345678901234567890.10, "unknown": [1.50]}',
    });
    await writeClass(db, { project, id: 'c', nftCount: '9007199254740993' });
    expect((await archive.nftClasses.get(project, 'c'))?.nftCount).toBe('9007199254740993');
  });

  test('that is not held is null, and so is one of another project', async () => {
    await writeOrder(db, { project, id: 'op' });
    expect(await archive.orders.get(project, 'OP')).toBeNull();
    expect(await archive.orders.get('another', 'op')).toBeNull();
  });
});

describe('a list', () => {
  const inOrder = ['early', 'B', 'a', 'é', 'unreadable', 'next-day'];
  beforeEach(async () => {
    // Ids go by bytes: B before a before é, whatever the locale.
    for (const id of ['a', 'é', 'B']) await writeOrder(db, { project, id });
    await writeOrder(db, { project, id: 'next-day', createdAt: '2026-03-11T00:00:00Z' });
    await writeOrder(db, { project, id: 'unreadable', createdAt: null, day: '2026-03-10' });
    await writeOrder(db, { project, id: 'early', createdAt: '2026-03-10T09:59:59.999999Z' });
  });

  test('goes by day, time and id bytes, unreadable times last in their day', async () => {
    expect(idsOf((await archive.orders.list({ project })).items)).toEqual(inOrder);
  });

  test.each([1, 2, 3, 5, 6, 7])(
    'is the same in pages of %i, in both orders, whole and within a range of days',
    async (limit) => {
      const range = { from: '2026-03-10', to: '2026-03-10' };
      for (const [days, expected] of [
        [{}, inOrder],
        [range, inOrder.slice(0, 5)],
      ] as const) {
        expect(await paged({ ...days, limit })).toEqual(expected);
        expect(await paged({ ...days, limit, order: 'desc' })).toEqual(expected.toReversed());
      }
    },
  );

  test('an offset leaves out so many from the beginning, and goes with no cursor', async () => {
    const { items, next, previous } = await archive.orders.list({ project, offset: 2, limit: 3 });
    expect(idsOf(items)).toEqual(inOrder.slice(2, 5));
    expect(previous).not.toBeNull();
    const both = archive.orders.list({ project, offset: 2, cursor: next ?? '' });
    await expect(both).rejects.toThrow('not both');
  });
});

describe('an argument that makes no sense is named, and no SQL is run', () => {
  const p = { project: 'p' };
  const byDay = { ...p, by: 'day' };
  const asOf = '2026-03-01T10:00:00Z';
  const one = 'must be a whole number from 1 to 10000';
  const noInstant = 'asOf must be an instant as RFC 3339';
  const noZone = 'zone must be UTC or the name of a time zone';
  // Which are no instants: as-of-edges.
  test.each<[call: string, given: unknown[], sentence: string]>([
    ['orders.list', [{ project: 'Not a name' }], 'orders.list: project must be a project name'],
    ['orders.list', [undefined], 'orders.list'],
    ['orders.list', [{ ...p, from: '2026-02-29' }], 'from must be a UTC day'],
    ['orders.list', [{ ...p, to: '0000-01-01' }], 'to must be a UTC day'],
    ['orders.list', [{ ...p, from: '2026-03-02', to: '2026-03-01' }], 'must not be after to'],
    ['orders.list', [{ ...p, limit: 0 }], `limit ${one}`],
    ['orders.list', [{ ...p, limit: 10_001 }], `limit ${one}`],
    ['orders.list', [{ ...p, limit: '5' }], `limit ${one}`],
    ['orders.list', [{ ...p, offset: -1 }], 'offset'],
    ['orders.list', [{ ...p, status: 4 }], 'status must be one of 1, 2, 3'],
    ['orders.list', [{ ...p, status: [] }], 'status must be one of 1, 2, 3'],
    ['orders.list', [{ ...p, order: 'up' }], 'order must be one of asc, desc'],
    ['orders.list', [{ ...p, account: 'a\0' }], 'account must be text'],
    ['orders.list', [{ ...p, account: '\ud800' }], 'account must be text'],
    ['orders.list', [{ ...p, account: 'a'.repeat(1001) }], 'account must be text'],
    ['orders.list', [{ ...p, acount: 'a' }], 'acount'],
    ['orders.list', [{ ...p, asOf: '2026-02-29' }], noInstant],
    ['orders.list', [{ ...p, asOf, offset: 1 }], 'there are cursors and no offset'],
    ['nftClasses.get', ['p', ''], 'id must be'],
    ['nftClasses.get', ['p', 'é'.repeat(257)], 'id must be'],
    ['nftClasses.get', ['p', 'a', { asOf: '' }], noInstant],
    ['transactions.list', [{ ...p, asOf: '' }], noInstant],
    ['tokens.get', ['p', 'a', { asOf: '2026-02-29' }], noInstant],
    ['orders.history', ['p', ''], 'orders.history: id must be'],
    ['watchedOperations', [{ ...p, state: 'gone' }], 'state must be one of open, done, lost'],
    ['watchedOperations', [{ ...p, limit: 0 }], `limit ${one}`],
    ['certificates', [{ ...p, month: '2026-13' }], 'month must be a month as yyyy-MM'],
    ['certificates', [{ ...p, month: '0000-01' }], 'month must be a month as yyyy-MM'],
    ['certificates', [{ ...p, resource: 'nothing' }], 'resource must be one of orders'],
    ['runs', [{ ...p, asOf }], 'asOf'],
    ['rejects', [{ ...p, from: '2026-02-30' }], 'from must be a UTC day'],
    ['reject', ['p', 'orders', 'ab'], 'sha256 must be'],
    ['coverage', [{ ...p, resource: 'tokens' }], 'resource must be one of orders, nft_classes'],
    ['day', [{ ...p, resource: 'tokens', day: '2026-04-03' }], 'day: resource must be one of'],
    ['day', [{ ...p, resource: 'orders', day: '2026-02-30' }], 'day: day must be a UTC day'],
    ['day', [{ ...p, resource: 'orders', day: '2026-04-03', owner: 'a\0' }], 'owner'],
    ['statistics.orders', [{ ...p, by: 'week' }], 'by must be one of day, month'],
    ['statistics.orders', [p], 'by must be one of day, month'],
    [
      'statistics.orders',
      [{ ...byDay, groupBy: ['owner'] }],
      'a list of status, account, order_type',
    ],
    ['statistics.orders', [{ ...byDay, groupBy: ['status', 'status'] }], 'each only once'],
    ['statistics.orders', [{ ...byDay, groupBy: 'status' }], 'must be a list of'],
    ['statistics.orders', [{ ...byDay, limit: 5 }], 'limit'],
    ...['Shanghai', 'UTC+8', '+08:00', 'Asia/Nowhere', "Asia/Shanghai'", 'asia/shanghai'].map(
      (zone): [string, unknown[], string] => ['statistics.orders', [{ ...byDay, zone }], noZone],
    ),
  ])('%s %j', async (call, given, sentence) => {
    type Call = (...given: unknown[]) => Promise<unknown>;
    const [of = '', method] = call.split('.');
    const found = archive[of as keyof Archive] as unknown as Call & Record<string, Call>;
    const asked = method === undefined ? found(...given) : found[method]?.(...given);
    await expect(asked).rejects.toMatchObject({
      kind: 'settings',
      code: 'argument_invalid',
      message: expect.stringContaining(sentence) as string,
    });
  });

  test('in a stream it is named at the call', () => {
    expect(() => archive.orders.stream({ project: 'P' })).toThrow('orders.stream: project must be');
  });
});
