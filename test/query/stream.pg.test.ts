// Paging and streaming under way: each record exactly once whatever is written meanwhile, and never more in memory
// than a page.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Archive, Order } from '../../src/index.ts';
import { readPage } from '../../src/platform/pages.ts';
import { commitPages } from '../../src/store/commit.ts';
import { withTx, type Db } from '../../src/store/db.ts';
import { nextSlice } from '../../src/store/due.ts';
import { addSlices } from '../../src/store/ledger.ts';
import { collect } from '../support/collect.ts';
import { eachInProject } from '../support/opened.ts';
import { writeOrder, writeOrders } from '../support/rows.ts';

let db: Db;
let archive: Archive;
let project = '';
eachInProject((given) => ({ db, archive, project } = given), 2);

const idsIn = async (stream: AsyncIterable<Order>): Promise<string[]> =>
  (await collect(stream)).map(({ operationId }) => operationId);

/** What every reader below must find: all that was held from the beginning, none of it twice. */
async function heldIds(): Promise<Set<string>> {
  const { rows } = await db.query<{ id: string }>(
    `select operation_id as id from archive.orders where project_id = $1`,
    [project],
  );
  return new Set(rows.map((row) => row.id));
}

/** One round of what a busy worker does: rows before and behind any cursor, and changed ones everywhere. */
async function disturb(round: number): Promise<void> {
  const firstSeenAt = '2999-01-01T00:00:00Z';
  const early = '2026-01-01T00:00:00Z';
  await writeOrder(db, { project, id: `before_${round}`, createdAt: early, firstSeenAt });
  const late = '2026-01-31T00:00:00Z';
  await writeOrder(db, { project, id: `behind_${round}`, createdAt: late, firstSeenAt });
  await db.query(
    `update archive.orders set status = 3, changed_at = now()
      where project_id = $1 and left(md5(operation_id || $2), 1) = '0'`,
    [project, String(round)],
  );
}

describe('while rows are inserted and updated underneath', () => {
  let held: Set<string>;
  beforeEach(async () => {
    await writeOrders(db, { project, count: 2000, from: '2026-01-02', perDay: 100 });
    held = await heldIds();
  });

  async function readPages(
    page: (passed: number) => Promise<{ items: Order[]; isLast: boolean }>,
  ): Promise<string[]> {
    const ids: string[] = [];
    for (let round = 0; ; round++) {
      const { items, isLast } = await page(ids.length);
      ids.push(...items.map((order) => order.operationId));
      if (isLast) return ids;
      await disturb(round);
    }
  }
  const ofHeld = (ids: string[]): string[] => ids.filter((id) => held.has(id));

  test.each(['asc', 'desc'] as const)('pages give each record once, %s', async (order) => {
    let cursor: string | null = null;
    const ids = await readPages(async () => {
      const more = cursor === null ? {} : { cursor };
      const page = await archive.orders.list({ project, order, limit: 70, ...more });
      cursor = page.next;
      return { items: page.items, isLast: page.next === null };
    });
    expect(new Set(ids).size).toBe(ids.length);
    expect(new Set(ofHeld(ids))).toEqual(held);
    // What came in ahead is given too.
    expect(ids).toContain(order === 'asc' ? 'behind_0' : 'before_0');
  });

  test('sabotaged by counting rows instead, pages repeat some', async () => {
    const ids = await readPages(async (passed) => {
      const { items } = await archive.orders.list({ project, limit: 10_000 });
      const page = items.slice(passed, passed + 400);
      return { items: page, isLast: page.length < 400 };
    });
    expect(ofHeld(ids).length).toBeGreaterThan(held.size);
  });

  test('a stream gives each record held when it began once, and nothing newer', async () => {
    await writeOrders(db, { project: 'long', count: 5000, from: '2026-01-02', perDay: 500 });
    project = 'long';
    held = await heldIds();
    const ids: string[] = [];
    for await (const { operationId } of archive.orders.stream({ project })) {
      if (ids.length % 1000 === 500) await disturb(ids.length);
      ids.push(operationId);
    }
    expect(ids).toHaveLength(held.size);
    expect(new Set(ids)).toEqual(held);
  });
});

test('a stream gives what was committed before it under a platform clock far ahead of ours', async () => {
  const day = '2999-03-10';
  const at = Date.parse('2999-03-11T00:00:00Z');
  await withTx(db, (tx) =>
    addSlices(tx, [
      { projectId: project, resource: 'orders', owner: '', day, dueAt: at, deadlineAt: at },
    ]),
  );
  const slice = await nextSlice(db, { projectId: project, dueBy: null, today: day });
  if (slice === null) throw new Error('nothing is due');
  const element = `{"operation_id":"ahead","status":2,"create_time":"${day} 10:00:00"}`;
  const body = Buffer.from(`{"data":{"next_page_key":"","order_infos":[${element}]}}`);
  const page = readPage('orders', body, at, day);
  const walked = { number: 0, pageKey: null, offset: null, page, observedAt: at };
  await commitPages(db, {
    slice,
    walk: 1,
    pages: [walked],
    checkpoint: null,
    writtenAt: at,
  });
  expect((await archive.orders.get(project, 'ahead'))?.firstSeenAt).toBe('2999-03-11T00:00:00Z');
  expect(await idsIn(archive.orders.stream({ project }))).toEqual(['ahead']);
});

test('a stream that is left early leaves no connection in use', async () => {
  await writeOrders(db, { project, count: 2500, from: '2026-01-02', perDay: 600 });
  for (let round = 0; round < 5; round++) {
    for await (const order of archive.orders.stream({ project })) {
      expect(order.projectId).toBe(project);
      break;
    }
  }
  // Two connections at most: five held ones would leave none for this.
  expect((await archive.orders.list({ project, limit: 1 })).items).toHaveLength(1);
});

describe('memory', () => {
  const count = 20_000;
  const pageBytes = 8_000_000;

  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const usedBytes = (): number => {
    collectGarbage();
    return process.memoryUsage().heapUsed;
  };

  beforeAll(async () => {
    await writeOrders(db, { project: 'large', count, from: '2026-01-01', perDay: 5000 });
  });

  /** The most the heap grew while they were streamed, looked at five times. */
  async function growthBytes(take: (order: Order) => void): Promise<number> {
    const before = usedBytes();
    let grown = 0;
    let seen = 0;
    for await (const order of archive.orders.stream({ project: 'large' })) {
      take(order);
      if (++seen % (count / 5) === 0) grown = Math.max(grown, usedBytes() - before);
    }
    expect(seen).toBe(count);
    return grown;
  }

  test('a stream of 20,000 orders holds a page of them at a time', async () => {
    expect(await growthBytes(() => undefined)).toBeLessThan(pageBytes);
  });

  test('sabotaged by keeping what it gives, it does not', async () => {
    const kept: Order[] = [];
    expect(await growthBytes((order) => kept.push(order))).toBeGreaterThan(pageBytes * 2);
    expect(kept).toHaveLength(count);
  });
});
