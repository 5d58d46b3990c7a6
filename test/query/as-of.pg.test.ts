// Reads as of an instant, and histories, of all four lists of records: what was read then is what is read of then,
// whatever became of it since (P2, P5). Library, SQL and verifier pick the same content.
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Archive, Version } from '../../src/index.ts';
import { silentLog } from '../../src/log.ts';
import {
  apiVersions,
  type ListedResource,
  type ParsedRecord,
  type Resource,
} from '../../src/model.ts';
import { parseJson } from '../../src/platform/json.ts';
import { readToken } from '../../src/platform/tokens.ts';
import { readTransaction } from '../../src/platform/transactions.ts';
import { recordList, recordsOf, type Held } from '../../src/query/lists.ts';
import { snake } from '../../src/resources.ts';
import { openDb, withTx, type Db, type Row } from '../../src/store/db.ts';
import { tableShapes } from '../../src/store/record-tables.ts';
import { leavesInForce } from '../../src/verify/leaves.ts';
import { collect } from '../support/collect.ts';
import { setUp } from '../support/fresh.ts';
import { observe, observeUnlisted, parsed } from '../support/observe.ts';
import { openEmpty } from '../support/opened.ts';
import { pagesBeyond, pagesOf } from '../support/paged.ts';

let db: Db;
let archive: Archive;
let owner: Db;
/** As a BI tool connects that speaks another zone. */
let elsewhere: Db;
setUp(async (keep) => {
  const { connectionString, ...opened } = await keep(openEmpty());
  ({ db, archive } = opened);
  const log = silentLog();
  owner = await keep(openDb({ connectionString, role: null, log }));
  const settings = { timezone: 'America/St_Johns' };
  elsewhere = await keep(openDb({ connectionString, role: 'outlast_reader', settings, log }));
});

const idOf = ({ operationId, id, symbol }: Held): string => String(operationId ?? id ?? symbol);
/** Of an operation there may be two results. */
const keyOf = (item: Held): string => [idOf(item), item['apiVersion']].join('\0');

/** Without what an as-of read takes from the row of now. */
const said = ({ sliceDay: _day, changedAt: _at, height: _height, ...item }: Held) => item;

const byKey = (items: Held[]) => Object.fromEntries(items.map((item) => [keyOf(item), said(item)]));

const when = (i: number): string => new Date(Date.UTC(2026, 2, 6, 0, i)).toISOString();
const rounds = 30;

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

/** An object as JSON text, of texts. */
const objectText = (fields: Record<string, string>): string =>
  `{${Object.entries(fields)
    .map(([name, value]) => `"${name}":${value}`)
    .join(',')}}`;

const anyBody = fc.constantFrom('{"a":1.50}', '{}', '[]', '""', 'null', 'true', '{"n":"\\u0000"}');
const result = fc.record({
  id: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'é\u{1F600}', 'x'.repeat(512)),
  lookup: fc.constantFrom(...apiVersions),
  text: fc
    .record({
      module: fc.constantFrom('"nft"', '"mt"', '1', '1e3', 'null', '[]'),
      type: fc.constantFrom('"mint_nft"', '""', 'false'),
      operation: fc.constantFrom('3', '"3"', '"3.0"', '2147483648', '" "'),
      tx_hash: fc.constantFrom('"AB"', '7', '{}'),
      status: fc.constantFrom('0', '1', '2', '"3"', '"done"'),
      message: fc.constantFrom('"no\\u0000tice"', '"\\ud800"', '""', 'null'),
      block_height: fc.constantFrom('7', '"9223372036854775807"', '9223372036854775808', '""'),
      timestamp: fc.constantFrom('"2026-03-01T10:00:00.5+08:00"', '1772704800', '"soon"', '" "'),
      nft: anyBody,
      mt: anyBody,
      record: anyBody,
    })
    .map(objectText),
});
const token = fc.record({
  symbol: fc.constantFrom('aa', 'bb', 'Z'),
  text: fc
    .record({
      name: fc.constantFrom('"N"', 'true', '""'),
      min_unit: fc.constantFrom('"u"', '7', 'null'),
      scale: fc.constantFrom('6', '"0"', '"many"', '" "', 'null', '2147483648'),
      initial_supply: fc.constantFrom('"18446744073709551616"', '1.50', '"x"', '""'),
      max_supply: fc.constantFrom('"10"', '{}', 'null'),
      mintable: fc.constantFrom('true', '"false"', '"yes"', '1', '""', 'null'),
      owner: fc.constantFrom('"o1"', '"o2"', '[]'),
    })
    .map((fields) => Object.entries(fields).filter(([, value]) => value !== 'null'))
    .map((fields) => objectText(Object.fromEntries(fields))),
  fees: fc.constantFrom(
    null,
    '{"issue_fee":{"denom":"ugas","amount":"10"},"mint_fee":{"denom":"ugas","amount":"1.50"}}',
    '{"issue_fee":{"denom":["x"],"amount":"ten"},"mint_fee":[]}',
    '[]',
  ),
});

type Show = (project: string, at: string) => Promise<void>;
/** What may be shown of each list at a moment. */
const pages: Record<Resource, fc.Arbitrary<Show>> = {
  orders: fc
    .array(order, { minLength: 1, maxLength: 6 })
    .map((page) => (project, at) => observe(db, { project, resource: 'orders' }, page, at)),
  nft_classes: fc
    .array(nftClass, { minLength: 1, maxLength: 6 })
    .map((page) => (project, at) => observe(db, { project, resource: 'nft_classes' }, page, at)),
  transactions: fc
    .array(result, { minLength: 1, maxLength: 4 })
    .map((shown) => async (project, at) => {
      for (const { id, lookup, text } of shown) {
        const record = readTransaction(parseJson(text), text, id);
        await observeUnlisted(db, { project, lookup }, record, at);
      }
    }),
  tokens: fc.array(token, { minLength: 1, maxLength: 2 }).map((shown) => async (project, at) => {
    for (const { symbol, text, fees } of shown) {
      const element = `{"type":"t","value":${text.replace('{', `{"symbol":"${symbol}",`)}}`;
      const record = readToken(symbol, element, fees, String(Date.parse(at)));
      await observeUnlisted(db, { project, lookup: 'tokens' }, record, at);
    }
  }),
};

const filtersOf: Record<Resource, object[]> = {
  orders: [{ status: 1 }, { status: [2, 3] }, { account: 'a' }, { account: 'b', status: [1, 2] }],
  nft_classes: [
    { owner: 'a' },
    { name: 'cat' },
    { name: '% c_' },
    { name: '_at' },
    { name: '%g' },
    { name: '\\' },
    { txHash: 'AB', owner: 'b' },
    { id: 'class-3' },
    { id: 'class-3', owner: 'a' },
  ],
  transactions: [{}, { status: [1] }, { status: [0, 3], module: 'nft' }, { module: '1' }],
  tokens: [{}, { owner: 'o1' }],
};

function matches(item: Held, filter: object): boolean {
  return Object.entries(filter).every(([name, wanted]: [string, unknown]) => {
    const value = item[name];
    if (name === 'name') {
      return typeof value === 'string' && value.toLowerCase().includes(String(wanted));
    }
    return Array.isArray(wanted) ? wanted.includes(value) : value === wanted;
  });
}

/** What the code makes of what is held; of a token more than its own text is needed. */
function readAgain(resource: Resource, item: Held): ParsedRecord | null {
  const text = Buffer.from(item.rawBytes ?? item.rawJson).toString();
  if (resource === 'tokens') return null;
  return resource === 'transactions'
    ? readTransaction(parseJson(text), text, idOf(item))
    : parsed(resource, text);
}

const inForceAt = (versions: Version<Held>[], at: string): Held[] =>
  versions
    .filter(
      ({ inForceFrom: from, inForceUntil: until }) =>
        from !== null && from <= at && (until === null || until > at),
    )
    .map(({ item }) => item);

describe.each<{ resource: Resource; changes: number; found: number; contents: number }>([
  { resource: 'orders', changes: 50, found: 40, contents: 60 },
  { resource: 'nft_classes', changes: 50, found: 40, contents: 60 },
  { resource: 'transactions', changes: 50, found: 40, contents: 40 },
  { resource: 'tokens', changes: 50, found: 15, contents: 30 },
])('$resource as of an instant', ({ resource, ...least }) => {
  const { hasDays, isPaged } = recordList(resource);
  const records = () => recordsOf(archive, resource);
  const project = `shown-${resource}`;
  const whole = { project, ...(isPaged ? { limit: 10_000 } : {}) };
  const heldNow = async (): Promise<Held[]> => (await records().list(whole)).items;
  /** What the archive said after each minute. */
  const then: Held[][] = [];

  // Random records are shown minute by minute; the tests read them.
  beforeAll(async () => {
    for (const [i, show] of fc.sample(pages[resource], { numRuns: rounds, seed: 1 }).entries()) {
      await show(project, when(i));
      then.push(await heldNow());
    }
  });

  test('are those that were read then, field by field', async () => {
    const before = await records().list({ ...whole, asOf: '2026-03-05T23:59:59.999999Z' });
    expect([before.items, before.next ?? null]).toEqual([[], null]);
    let changed = 0;
    for (const [i, items] of then.entries()) {
      // Until just before the next minute.
      for (const asOf of [when(i), when(i + 1).replace('00.000Z', '59.999999+00:01')]) {
        const page = await records().list({ ...whole, asOf });
        expect(byKey(page.items)).toEqual(byKey(items));
        expect(page.next ?? null).toBeNull();
        changed += page.items.filter((item) => item.observedAt !== item['firstSeenAt']).length;
      }
      for (const item of items.slice(i % 3, (i % 3) + 1)) {
        const some = await records().get(project, idOf(item), { asOf: when(i) });
        expect(byKey(some)).toEqual(byKey(items.filter((one) => idOf(one) === idOf(item))));
      }
    }
    expect(changed).toBeGreaterThan(least.changes);
    for (const asOf of [when(rounds), '9999-12-31T23:59:59.999999Z']) {
      const { items } = await records().list({ ...whole, asOf });
      expect(items.map(said)).toEqual((await heldNow()).map(said));
    }
  });

  test('sabotaged, a read that takes what is held now where it was observed by then is noticed', async () => {
    const now = await heldNow();
    const differing = then.filter((items, i) => {
      const naive = now.filter((item) => Date.parse(item.observedAt) <= Date.parse(when(i)));
      return JSON.stringify(byKey(naive)) !== JSON.stringify(byKey(items));
    });
    expect(differing.length).toBeGreaterThan(10);
  });

  test('stand in the order of now, page by page, both ways, in a stream, and in a count', async () => {
    const now = (await heldNow()).map(keyOf);
    if (!hasDays) {
      const inBytes = now.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
      expect(now).toEqual(inBytes);
    }
    for (const i of [5, 22]) {
      for (const order of hasDays ? (['asc', 'desc'] as const) : [null]) {
        const query = { project, asOf: when(i), ...(order === null ? {} : { order }) };
        const all = await collect(records().stream(query));
        const places = all.map((item) => now.indexOf(keyOf(item)));
        expect(places).toEqual(places.toSorted((a, b) => (order === 'desc' ? b - a : a - b)));
        expect(await records().count(query)).toBe(all.length);
        const limit = isPaged ? { limit: 3 } : {};
        const read = (paging: object) => records().list({ ...query, ...limit, ...paging });
        const pages = await pagesOf(read);
        expect(pages.flatMap(({ items }) => items)).toEqual(all);
        if (!hasDays) continue;
        const back = await pagesBeyond(read, pages.at(-1) ?? { items: [] }, 'previous');
        expect(back.toReversed().flatMap(({ items }) => items)).toEqual(all);
      }
    }
  });

  test('match by what they said then', async () => {
    let found = 0;
    for (const i of [0, 9, 18, 29]) {
      const items = then[i] ?? [];
      const moments = i === rounds - 1 ? [{}, { asOf: when(i) }] : [{ asOf: when(i) }];
      const ranges = hasDays ? [{}, { from: '2026-03-05', to: '2026-03-05' }] : [{}];
      for (const moment of moments) {
        for (const days of ranges) {
          const inDays = await collect(records().stream({ project, ...moment, ...days }));
          for (const filter of filtersOf[resource]) {
            const query = { ...filter, ...days, ...moment, project };
            const got = await collect(records().stream(query));
            const expected = inDays.filter((item) => matches(item, filter));
            expect(got.map(said)).toEqual(expected.map(said));
            if (Object.keys(days).length === 0) {
              const known = items.filter((item) => matches(item, filter));
              expect(new Set(got.map(keyOf))).toEqual(new Set(known.map(keyOf)));
            }
            expect(await records().count(query)).toBe(got.length);
            found += got.length;
          }
        }
      }
    }
    expect(found).toBeGreaterThan(least.found);
  });

  test('are what histories say was in force, typed as the code types them', async () => {
    const ids = [...new Set(then.flatMap((items) => items.map(idOf)))];
    const histories = (await Promise.all(ids.map((id) => records().history(project, id)))).flat();
    for (const [i, items] of then.entries()) {
      const at = when(i).replace('.000Z', 'Z');
      expect(byKey(inForceAt(histories, at))).toEqual(byKey(items));
    }
    const current = histories.filter(({ isCurrent }) => isCurrent).map(({ item }) => item);
    expect(byKey(await heldNow())).toEqual(byKey(current));
    for (const { item } of histories) {
      const record = readAgain(resource, item);
      if (record === null) continue;
      expect([item['unread'], item['rawSha256']]).toEqual([record.unread, record.rawSha256]);
      for (const [name, value] of Object.entries(item)) {
        const column = snake(name);
        if (!(column in record.columns) || column === 'slice_day') continue;
        const read = record.columns[column];
        // jsonb has a spelling of its own.
        const isBody = name.endsWith('Json');
        expect([name, isBody ? value === null : value]).toEqual([
          name,
          isBody ? read === null : read,
        ]);
      }
    }
    expect(histories.length).toBeGreaterThan(least.contents);
    expect(await records().history(project, 'unheld')).toEqual([]);
  });

  if (!hasDays) return;
  const late = { projectId: `late-${resource}`, resource: resource as ListedResource };
  const { key } = tableShapes[late.resource];
  /** What SQL says of a moment, a row a record. */
  const inSql = async (at: string): Promise<Map<string, Row>> => {
    const sql = `select * from analytics.${resource}_as_of($1, $2)`;
    const { rows } = await elsewhere.query(sql, [late.projectId, at]);
    return new Map(rows.map((row) => [String(row[key]), row]));
  };
  const digests = (rows: Iterable<[string, Row]>): Row =>
    Object.fromEntries([...rows].map(([id, row]) => [id, row['raw_sha256']]));

  test('are what SQL and the verifier take to be in force, in whatever order pages were committed', async () => {
    const project = late.projectId;
    const shown = fc.tuple(fc.integer({ min: 0, max: rounds - 1 }), pages[resource]);
    for (const [i, show] of fc.sample(shown, { numRuns: 40, seed: 7 })) {
      await show(project, when(i));
    }
    let earlier = 0;
    for (let i = 0; i < rounds; i += 2) {
      const at = when(i);
      const rows = await inSql(at);
      const leaves: Row = {};
      await withTx(db, (tx) =>
        leavesInForce(tx, late, '2026-03-01', at, ({ id, sha256 }) => void (leaves[id] = sha256)),
      );
      expect(digests(rows)).toEqual(leaves);
      expect(await records().count({ project, asOf: at })).toBe(rows.size);
      const { items } = await records().list({ project, asOf: at, limit: 10_000 });
      expect(items).toHaveLength(rows.size);
      for (const item of items) {
        const row = rows.get(idOf(item)) ?? {};
        const columns = Object.entries(item).flatMap(([name, value]) =>
          [snake(name), `${snake(name)}_fen`]
            .filter((one) => one in row)
            .map((one) => [one, value]),
        );
        expect(inAnyZone(row)).toMatchObject(inAnyZone(Object.fromEntries(columns) as Row));
      }
      earlier += [...rows.values()].filter((row) => row['is_current'] === false).length;
    }
    expect(earlier).toBeGreaterThan(20);
  });

  if (resource !== 'orders') return;
  test('sabotaged, SQL that takes the content seen last is noticed', async () => {
    const { rows } = await owner.query<{ sql: string }>(
      `select pg_get_functiondef('analytics.orders_as_of(text, timestamptz)'::regprocedure) as sql`,
    );
    const [{ sql } = { sql: '' }] = rows;
    const precedence =
      /coalesce\(w\.updated_at, '-infinity'\) desc, \(w\.status is distinct from 1\) desc,/;
    const told = async () => {
      const found: Row[] = [];
      for (let i = 0; i < rounds; i += 2) found.push(digests(await inSql(when(i))));
      return found;
    };
    const before = await told();
    await owner.query(sql.replace(precedence, ''));
    const spoilt = await told();
    await owner.query(sql);
    expect(spoilt).not.toEqual(before);
  });
});

/** A row as it is whatever zone its times are spelt in. */
const inAnyZone = (row: Row): Row =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => {
      if (typeof value !== 'string') return [name, value];
      return [
        name,
        name.endsWith('_at') ? Date.parse(value) : name === 'raw' ? JSON.parse(value) : value,
      ];
    }),
  );
