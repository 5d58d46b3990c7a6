// Reads as of an instant, and histories: what was read then is what is read of then, whatever became of it since (P2,
// P5).
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type Archive,
  type ListScope,
  type NftClass,
  type NftClassFilters,
  type Order,
  type OrderFilters,
} from '../../src/index.ts';
import type { Db } from '../../src/store/db.ts';
import { collect } from '../support/collect.ts';
import { observe, parsed } from '../support/observe.ts';
import { openEmpty, type Opened } from '../support/opened.ts';

let opened: Opened;
let db: Db;
let archive: Archive;
beforeAll(async () => {
  opened = await openEmpty();
  ({ db, archive } = opened);
});
afterAll(() => opened.close());

type Listed = Order | NftClass;
const idOf = (item: Listed): string => ('operationId' in item ? item.operationId : item.id);

const isPart = (part: string, name: unknown): boolean =>
  typeof name === 'string' && name.toLowerCase().includes(part);

/** Without what an as-of read takes from the row of now. */
const said = ({ sliceDay: _day, changedAt: _at, ...item }: Listed) => item;

const byId = (items: Listed[]) =>
  Object.fromEntries(items.map((item) => [idOf(item), said(item)] as const));

const when = (i: number): string => new Date(Date.UTC(2026, 2, 6, 0, i)).toISOString();

const order = fc.record({
  operation_id: fc.integer({ min: 1, max: 25 }).map((n) => `order-${n}`),
  status: fc.constantFrom(1, 2, 'failed', 'pending', 7, 'nonsense', true),
  account: fc.constantFrom('a', 'b', '', null, 'x'.repeat(600), ['a']),
  amount: fc.constantFrom('100', '250', null, '12 fen', '  '),
  number: fc.constantFrom('5', 1.5e2, {}, ''),
  message: fc.constantFrom('', 'no\u0000tice', false, 3),
  order_type: fc.constantFrom(1, '2', 'gas', 1e30),
  create_time: fc.constantFrom(
    '2026-03-05T09:00:00Z',
    '2026-03-04 23:00:00 -0830 X',
    '2026-03-06 01:02:03.000004',
    'yesterday',
    '  ',
    null,
  ),
  update_time: fc.constantFrom(null, '', '2026-03-05T10:00:00Z', '2026-03-05 11:00:00', 'never'),
});
const nftClass = fc.record({
  id: fc.integer({ min: 1, max: 15 }).map((n) => `class-${n}`),
  name: fc.constantFrom('Cat', 'CATALOGUE', 'dog', '100% c_t', null, []),
  symbol: fc.constantFrom('', 's', {}),
  nft_count: fc.constantFrom(1, '2', 'many', '9223372036854775808', ' '),
  uri: fc.constantFrom('', 'u'),
  owner: fc.constantFrom('a', 'b', 'x'.repeat(513), null),
  tx_hash: fc.constantFrom('AB', 'CD', false),
  timestamp: fc.constantFrom('2026-03-05T09:00:00Z', '2026-03-04 10:00:00', '', 'x'),
});

describe.each(['orders', 'nft_classes'] as const)('%s as of an instant', (resource) => {
  const records = () => (resource === 'orders' ? archive.orders : archive.nftClasses);
  const given: fc.Arbitrary<object> = resource === 'orders' ? order : nftClass;
  const project = `shown-${resource}`;
  /** What the archive said after each minute. */
  const then: Listed[][] = [];

  // Random records are shown minute by minute; the tests read them.
  beforeAll(async () => {
    const shown = fc.array(given, { minLength: 1, maxLength: 6 });
    for (const [i, page] of fc.sample(shown, { numRuns: 30, seed: 1 }).entries()) {
      await observe(db, { project, resource }, page, when(i));
      then.push((await records().list({ project, limit: 10_000 })).items);
    }
  });

  test('are those that were read then, field by field', async () => {
    expect(await records().list({ project, asOf: '2026-03-05T23:59:59.999999Z' })).toEqual({
      items: [],
      next: null,
      previous: null,
    });
    let changed = 0;
    for (const [i, items] of then.entries()) {
      // Until just before the next minute.
      for (const asOf of [when(i), when(i + 1).replace('00.000Z', '59.999999+00:01')]) {
        const page = await records().list({ project, asOf, limit: 10_000 });
        expect(byId(page.items)).toEqual(byId(items));
        expect(page.next).toBeNull();
        changed += page.items.filter((item) => item.observedAt !== item.firstSeenAt).length;
      }
      for (const item of items.slice(i % 3, (i % 3) + 1)) {
        const one = await records().get(project, idOf(item), { asOf: when(i) });
        expect(one === null ? null : said(one)).toEqual(said(item));
      }
    }
    expect(changed).toBeGreaterThan(50);
    const now = await records().list({ project, limit: 10_000 });
    for (const asOf of [when(30), '9999-12-31T23:59:59.999999Z']) {
      expect(await records().list({ project, asOf, limit: 10_000 })).toEqual(now);
    }
  });

  test('sabotaged, a read that takes what is held now where it was observed by then is noticed', async () => {
    const { items: now } = await records().list({ project, limit: 10_000 });
    const differing = then.filter((items, i) => {
      const naive = (now as Listed[]).filter(
        (item) => Date.parse(item.observedAt) <= Date.parse(when(i)),
      );
      return JSON.stringify(byId(naive)) !== JSON.stringify(byId(items));
    });
    expect(differing.length).toBeGreaterThan(10);
  });

  test('stand in the order of now, page by page, both ways, in a stream, and in a count', async () => {
    const now = (await records().list({ project, limit: 10_000 })).items.map(idOf);
    for (const i of [5, 22]) {
      for (const direction of ['asc', 'desc'] as const) {
        const query = { project, asOf: when(i), order: direction };
        const all = await collect(records().stream(query) as AsyncIterable<Listed>);
        const places = all.map((item) => now.indexOf(idOf(item)));
        expect(places).toEqual(places.toSorted((a, b) => (direction === 'asc' ? a - b : b - a)));
        const forth: Listed[] = [];
        let page = await records().list({ ...query, limit: 4 });
        for (;;) {
          forth.push(...page.items);
          if (page.next === null) break;
          page = await records().list({ ...query, limit: 4, cursor: page.next });
        }
        expect(forth).toEqual(all);
        const back: Listed[] = [...page.items];
        while (page.previous !== null) {
          page = await records().list({ ...query, limit: 4, cursor: page.previous });
          back.unshift(...page.items);
        }
        expect(back).toEqual(all);
        expect(await records().count(query)).toBe(all.length);
      }
    }
  });

  test('match by what they said then', async () => {
    const filters =
      resource === 'orders'
        ? [{ status: 1 }, { status: [2, 3] }, { account: 'a' }, { account: 'b', status: [1, 2] }]
        : [
            { owner: 'a' },
            { name: 'cat' },
            { name: '% c_' },
            { txHash: 'AB', owner: 'b' },
            { id: 'class-3' },
            { id: 'class-3', owner: 'a' },
          ];
    const matches = (item: Listed, filter: Record<string, unknown>): boolean =>
      Object.entries(filter).every(([name, wanted]) => {
        const value = item[name as keyof Listed] as unknown;
        if (name === 'name') return isPart(String(wanted), value);
        return Array.isArray(wanted) ? wanted.includes(value) : value === wanted;
      });
    let found = 0;
    for (const i of [0, 9, 18, 29]) {
      const items = then[i] ?? [];
      for (const days of [{}, { from: '2026-03-05', to: '2026-03-06' }]) {
        const inDays = await collect(
          records().stream({ project, asOf: when(i), ...days }) as AsyncIterable<Listed>,
        );
        for (const filter of filters) {
          const query: ListScope & OrderFilters & NftClassFilters = {
            ...(filter as OrderFilters),
            ...days,
            project,
            asOf: when(i),
          };
          const got = await collect(records().stream(query) as AsyncIterable<Listed>);
          const expected = inDays.filter((item) => matches(item, filter));
          expect(got.map(said)).toEqual(expected.map(said));
          if (Object.keys(days).length === 0) {
            const known = items.filter((item) => matches(item, filter));
            expect(new Set(got.map(idOf))).toEqual(new Set(known.map(idOf)));
          }
          expect(await records().count(query)).toBe(got.length);
          found += got.length;
        }
      }
    }
    expect(found).toBeGreaterThan(40);
  });

  test('are what the SQL of as-of reads takes to be in force, in whatever order pages were committed', async () => {
    const project = `late-${resource}`;
    const pages = fc.sample(
      fc.tuple(fc.integer({ min: 0, max: 29 }), fc.array(given, { minLength: 1, maxLength: 4 })),
      { numRuns: 40, seed: 7 },
    );
    for (const [i, shown] of pages) await observe(db, { project, resource }, shown, when(i));
    const call = resource === 'orders' ? 'orders_as_of' : 'nft_classes_as_of';
    const id = resource === 'orders' ? 'operation_id' : 'id';
    let late = 0;
    for (let i = 0; i < 30; i += 2) {
      const { rows } = await db.query<{ id: string; sha256: string; is_current: boolean }>(
        `select ${id} as id, raw_sha256 as sha256, is_current from analytics.${call}($1, $2)`,
        [project, when(i)],
      );
      const { items } = await records().list({ project, asOf: when(i), limit: 10_000 });
      expect(Object.fromEntries(items.map((item) => [idOf(item), item.rawSha256]))).toEqual(
        Object.fromEntries(rows.map((row) => [row.id, row.sha256])),
      );
      expect(await records().count({ project, asOf: when(i) })).toBe(rows.length);
      late += rows.filter((row) => !row.is_current).length;
    }
    expect(late).toBeGreaterThan(20);
  });

  test('are what histories say was in force', async () => {
    const ids = [...new Set(then.flatMap((items) => items.map(idOf)))];
    const histories = await Promise.all(ids.map((id) => records().history(project, id)));
    for (const i of then.keys()) {
      const at = when(i).replace('.000Z', 'Z');
      const known = histories.flatMap((versions) =>
        versions.filter(
          ({ inForceFrom: from, inForceUntil: until }) =>
            from !== null && from <= at && (until === null || until > at),
        ),
      );
      const page = await records().list({ project, asOf: at, limit: 10_000 });
      expect(byId(page.items)).toEqual(byId(known.map(({ item }) => item)));
    }
    const current = histories.flatMap((versions) => versions.filter((one) => one.isCurrent));
    const now = await records().list({ project, limit: 10_000 });
    expect(byId(now.items)).toEqual(byId(current.map(({ item }) => item)));
    for (const versions of histories) {
      const at = versions.map(({ item }) => item.observedAt);
      expect(at).toEqual(at.toSorted());
      for (const { item } of versions) {
        const record = parsed(resource, Buffer.from(item.rawBytes ?? item.rawJson).toString());
        expect(item.unread).toEqual(record.unread);
        expect(item.rawSha256).toBe(record.rawSha256);
        expect(item.createdAt).toBe(record.columns['created_at']);
      }
    }
    expect(histories.flat().length).toBeGreaterThan(60);
    expect(await records().history(project, 'unheld')).toEqual([]);
  });
});
