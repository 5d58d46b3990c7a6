// Reading lists: what a page holds, in which order, and what is said to arguments and cursors that make no sense (P12).
import { beforeEach, describe, expect, test } from 'vitest';
import type { Archive } from '../../src/index.ts';
import type { Db } from '../../src/store/db.ts';
import { eachInProject } from '../support/opened.ts';
import { writeClass, writeOrder } from '../support/rows.ts';

let db: Db;
let archive: Archive;
let project = '';
eachInProject((given) => ({ db, archive, project } = given));

const idsOf = (items: { operationId: string }[]): string[] => items.map((one) => one.operationId);

/** Every id of a list, page by page. */
async function paged(query: { order?: 'asc' | 'desc'; limit: number }): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<Archive['orders']['list']>> = await archive.orders.list({
      project,
      ...query,
      ...(cursor === null ? {} : { cursor }),
    });
    ids.push(...idsOf(page.items));
    cursor = page.next;
  } while (cursor !== null);
  return ids;
}

describe('an order', () => {
  test('comes back without a digit lost', async () => {
    await writeOrder(db, {
      project,
      id: 'op',
      createdAt: '2026-03-10T10:00:00.123456Z',
      amount: '12345678901234567890.10',
      raw: '{"amount": 12345678901234567890.10, "unknown": [1.50]}',
    });
    expect(await archive.orders.get(project, 'op')).toMatchObject({
      amount: '12345678901234567890.10',
      createdAt: '2026-03-10T10:00:00.123456Z',
      rawJson: '{"amount": 12345678901234567890.10, "unknown": [1.50]}',
    });
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

  test.each([1, 2, 5, 6, 7])(
    'is the same in pages of %i, forwards and backwards',
    async (limit) => {
      expect(await paged({ limit })).toEqual(inOrder);
      expect(await paged({ limit, order: 'desc' })).toEqual(inOrder.toReversed());
    },
  );

  test('takes half-open days', async () => {
    const days = async (from?: string, to?: string): Promise<number> => {
      const bounds = { ...(from && { from }), ...(to && { to }) };
      return (await archive.orders.list({ project, ...bounds })).items.length;
    };
    expect(await days('2026-03-10', '2026-03-11')).toBe(5);
    expect(await days('2026-03-11', '2026-03-12')).toBe(1);
    expect(await days('2026-03-10', '2026-03-10')).toBe(0);
    expect(await days(undefined, '2026-03-10')).toBe(0);
    expect(await days('2026-03-11')).toBe(1);
  });

  test('goes on from a cursor inside a range of days, in both directions', async () => {
    for (const order of ['asc', 'desc'] as const) {
      const query = { project, order, from: '2026-03-10', to: '2026-03-11', limit: 3 };
      const first = await archive.orders.list(query);
      const second = await archive.orders.list({ ...query, cursor: first.next ?? '' });
      const expected = inOrder.slice(0, 5);
      expect(idsOf([...first.items, ...second.items])).toEqual(
        order === 'asc' ? expected : expected.toReversed(),
      );
      expect(second.next).toBeNull();
    }
  });
});

describe('NFT classes', () => {
  beforeEach(async () => {
    await writeClass(db, { project, id: 'c1', name: '100% Über_Katze', owner: 'o1', txHash: 'AB' });
    await writeClass(db, {
      project,
      id: 'c2',
      name: '100 uber katze',
      owner: 'o2',
      nftCount: '9007199254740993',
    });
  });
  const ids = async (filters: object): Promise<string[]> =>
    (await archive.nftClasses.list({ project, ...filters })).items.map((one) => one.id);

  test('are found by a part of their name, whatever its case, and nothing in it is a pattern', async () => {
    expect(await ids({ name: 'KATZE' })).toEqual(['c1', 'c2']);
    expect(await ids({ name: '0%' })).toEqual(['c1']);
    expect(await ids({ name: 'r_k' })).toEqual(['c1']);
    expect(await ids({ name: '\\' })).toEqual([]);
  });

  test('keep counts beyond what a number can hold', async () => {
    expect((await archive.nftClasses.get(project, 'c2'))?.nftCount).toBe('9007199254740993');
  });
});

describe('an argument that makes no sense is named, and no SQL is run', () => {
  test.each([
    [{ project: 'Not a name' }, 'project must be a project name'],
    [{}, 'project must be a project name'],
    [{ project: 'p', from: '2026-02-29' }, 'from must be a UTC day'],
    [{ project: 'p', to: '0000-01-01' }, 'to must be a UTC day'],
    [{ project: 'p', from: '2026-03-02', to: '2026-03-01' }, 'must not be after to'],
    [{ project: 'p', limit: 0 }, 'limit must be a whole number from 1 to 10000'],
    [{ project: 'p', limit: 10_001 }, 'limit must be a whole number from 1 to 10000'],
    [{ project: 'p', limit: 1.5 }, 'limit must be a whole number from 1 to 10000'],
    [{ project: 'p', limit: '5' }, 'limit must be a whole number from 1 to 10000'],
    [{ project: 'p', status: 4 }, 'status must be one of 1, 2, 3'],
    [{ project: 'p', status: [] }, 'status must be one of 1, 2, 3'],
    [{ project: 'p', order: 'up' }, 'order must be one of asc, desc'],
    [{ project: 'p', account: 'a\0' }, 'account must be text'],
    [{ project: 'p', account: '' }, 'account must be text'],
    [{ project: 'p', account: '\ud800' }, 'account must be text'],
    [{ project: 'p', account: 'a'.repeat(1001) }, 'account must be text'],
    [{ project: 'p', acount: 'a' }, 'acount'],
    [undefined, 'orders.list'],
  ])('%j', async (query, sentence) => {
    await expect(archive.orders.list(query as never)).rejects.toMatchObject({
      kind: 'settings',
      code: 'argument_invalid',
      message: expect.stringContaining(sentence) as string,
    });
  });

  test('in a stream it is named at the call', () => {
    expect(() => archive.orders.stream({ project: 'P' })).toThrow('orders.stream: project must be');
  });

  test.each(['', 'a\0b', 'é'.repeat(257)])('an id: %j', async (id) => {
    await expect(archive.nftClasses.get('p', id)).rejects.toMatchObject({
      code: 'argument_invalid',
    });
  });
});

describe('paging back, counting, leaving out', () => {
  const days = ['2026-03-01', '2026-03-02', '2026-03-03'];

  beforeEach(async () => {
    for (let i = 0; i < 7; i++) {
      const createdAt = `${days[i % 3]}T10:00:0${i}Z`;
      await writeOrder(db, { project, id: `op_${i}`, createdAt, status: i % 2 === 0 ? 2 : 1 });
    }
  });

  test.each(['asc', 'desc'] as const)(
    'previous leads back through the same pages, %s',
    async (order) => {
      const query = { project, order, limit: 3 };
      const first = await archive.orders.list(query);
      const second = await archive.orders.list({ ...query, cursor: first.next ?? '' });
      const third = await archive.orders.list({ ...query, cursor: second.next ?? '' });
      expect(first.previous).toBeNull();
      expect([first, second, third].map(({ items }) => items.length)).toEqual([3, 3, 1]);
      expect(third.next).toBeNull();
      const back = await archive.orders.list({ ...query, cursor: third.previous ?? '' });
      expect(idsOf(back.items)).toEqual(idsOf(second.items));
      const start = await archive.orders.list({ ...query, cursor: back.previous ?? '' });
      expect(idsOf(start.items)).toEqual(idsOf(first.items));
      expect(start.previous).toBeNull();
      expect(start.next).not.toBeNull();
    },
  );

  test('an offset leaves out so many from the beginning, and goes with no cursor', async () => {
    const all = idsOf((await archive.orders.list({ project })).items);
    const { items, next, previous } = await archive.orders.list({ project, offset: 2, limit: 3 });
    expect(idsOf(items)).toEqual(all.slice(2, 5));
    expect(next).not.toBeNull();
    expect(previous).not.toBeNull();
    await expect(archive.orders.list({ project, offset: 2, cursor: next ?? '' })).rejects.toThrow(
      'not both',
    );
    await expect(archive.orders.list({ project, offset: -1 })).rejects.toThrow('offset');
  });
});
