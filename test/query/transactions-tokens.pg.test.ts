// Results of operations and tokens as lists, as of an instant, and with their histories: what was read then is what is
// read of then (P2, P5).
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Archive, type Token, type Transaction } from '../../src/index.ts';
import { apiVersions } from '../../src/model.ts';
import { parseJson } from '../../src/platform/json.ts';
import { readToken } from '../../src/platform/tokens.ts';
import { readTransaction } from '../../src/platform/transactions.ts';
import type { Db } from '../../src/store/db.ts';
import { collect } from '../support/collect.ts';
import { observeUnlisted } from '../support/observe.ts';
import { eachInProject } from '../support/opened.ts';

let db: Db;
let archive: Archive;
let project = '';
eachInProject((given) => ({ db, archive, project } = given));

const when = (i: number): string => new Date(Date.UTC(2026, 2, 6, 0, i)).toISOString();
/** Without what an as-of read takes from the row of now. */
const said = <Item extends { changedAt: string }>({ changedAt: _at, ...item }: Item) => item;

const anyBody = fc.constantFrom('{"a":1.50}', '{}', '[]', '""', 'null', 'true', '{"n":"\\u0000"}');
const result = fc
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
  .map(
    (fields) =>
      `{${Object.entries(fields)
        .map(([name, value]) => `"${name}":${value}`)
        .join(',')}}`,
  );
const ids = ['a', 'b', 'c', 'd', 'e', 'é\u{1F600}', 'x'.repeat(512)];
const shownResult = fc.record({
  id: fc.constantFrom(...ids),
  lookup: fc.constantFrom(...apiVersions),
  text: result,
});

/** Shows random results minute by minute, and keeps what the archive says after each. */
async function resultsOverTime(seed: number): Promise<Transaction[][]> {
  const rounds = fc.sample(fc.array(shownResult, { minLength: 1, maxLength: 4 }), {
    numRuns: 25,
    seed,
  });
  const then: Transaction[][] = [];
  for (const [i, shown] of rounds.entries()) {
    for (const { id, lookup, text } of shown) {
      const record = readTransaction(parseJson(text), text, id);
      await observeUnlisted(db, { project, lookup }, record, when(i));
    }
    then.push((await archive.transactions.list({ project })).items);
  }
  return then;
}

describe('results of operations', () => {
  test.each([1, 2])('as of an instant are those that were read then (%i)', async (seed) => {
    const then = await resultsOverTime(seed);
    for (const [i, items] of then.entries()) {
      const { items: found, next } = await archive.transactions.list({ project, asOf: when(i) });
      expect(found.map(said)).toEqual(items.map(said));
      expect(next).toBeNull();
      for (const id of ids) {
        const some = await archive.transactions.get(project, id, { asOf: when(i) });
        expect(some.map(said)).toEqual(items.filter((one) => one.operationId === id).map(said));
      }
    }
    expect(then.at(-1)?.length).toBeGreaterThan(8);
    expect(await archive.transactions.list({ project, asOf: '2026-03-05T00:00:00Z' })).toEqual({
      items: [],
      next: null,
    });
  });

  test('are listed by id bytes and lookup, page by page, in a stream, and in a count', async () => {
    const then = await resultsOverTime(3);
    const matches = (item: Transaction, query: { status?: number[]; module?: string }): boolean =>
      (query.status === undefined || query.status.includes(item.status ?? -1)) &&
      (query.module === undefined || item.module === query.module);
    let found = 0;
    for (const i of [0, 6, 12, 18, 24]) {
      for (const filters of [
        {},
        { status: [1] },
        { status: [0, 3], module: 'nft' },
        { module: '1' },
      ]) {
        for (const moment of i === 24 ? [{}, { asOf: when(i) }] : [{ asOf: when(i) }]) {
          const query = { project, ...filters, ...moment };
          const expected = (then[i] ?? []).filter((item) => matches(item, filters)).map(said);
          const pages: Transaction[] = [];
          let cursor: { cursor?: string } = {};
          for (;;) {
            const page = await archive.transactions.list({ ...query, ...cursor, limit: 2 });
            pages.push(...page.items);
            if (page.next === null) break;
            cursor = { cursor: page.next };
          }
          expect(pages.map(said)).toEqual(expected);
          expect((await collect(archive.transactions.stream(query))).map(said)).toEqual(expected);
          expect(await archive.transactions.count(query)).toBe(expected.length);
          found += expected.length;
        }
      }
    }
    expect(found).toBeGreaterThan(40);
    const keys = (then.at(-1) ?? []).map((one) => `${one.operationId}\0${one.apiVersion}`);
    expect(keys).toEqual(keys.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))));
  });

  test('have histories that are typed as the code types them', async () => {
    const then = await resultsOverTime(4);
    let contents = 0;
    for (const id of ids) {
      const versions = await archive.transactions.history(project, id);
      contents += versions.length;
      for (const { item } of versions) {
        const text = Buffer.from(item.rawBytes ?? item.rawJson).toString();
        const { columns, unread, rawSha256 } = readTransaction(parseJson(text), text, id);
        expect(item.rawSha256).toBe(rawSha256);
        expect(item.unread).toEqual(unread);
        expect(item).toMatchObject({
          module: columns['module'],
          operation: columns['operation'],
          status: columns['status'],
          message: columns['message'],
          blockHeight: columns['block_height'],
          confirmedAt: columns['confirmed_at'],
        });
        expect([item.nftJson === null, item.recordJson === null]).toEqual([
          columns['nft'] === null,
          columns['record'] === null,
        ]);
      }
      for (const [i, items] of then.entries()) {
        const at = when(i).replace('.000Z', 'Z');
        const inForce = versions.filter(
          ({ inForceFrom: from, inForceUntil: until }) =>
            from !== null && from <= at && (until === null || until > at),
        );
        expect(inForce.map(({ item }) => said(item))).toEqual(
          items.filter((one) => one.operationId === id).map(said),
        );
      }
    }
    expect(contents).toBeGreaterThan(40);
    expect(await archive.transactions.history(project, 'unheld')).toEqual([]);
  });
});

const token = fc.record({
  name: fc.constantFrom('"N"', 'true', '""'),
  min_unit: fc.constantFrom('"u"', '7', 'null'),
  scale: fc.constantFrom('6', '"0"', '"many"', '" "', 'null', '2147483648'),
  initial_supply: fc.constantFrom('"18446744073709551616"', '1.50', '"x"', '""'),
  max_supply: fc.constantFrom('"10"', '{}', 'null'),
  mintable: fc.constantFrom('true', '"false"', '"yes"', '1', '""', 'null'),
  owner: fc.constantFrom('"o1"', '"o2"', '[]'),
});
const fees = fc.constantFrom(
  null,
  '{"issue_fee":{"denom":"ugas","amount":"10"},"mint_fee":{"denom":"ugas","amount":"1.50"}}',
  '{"issue_fee":{"denom":["x"],"amount":"ten"},"mint_fee":[]}',
  '[]',
);

describe('tokens', () => {
  async function tokensOverTime(seed: number): Promise<Token[][]> {
    const shown = fc.record({ symbol: fc.constantFrom('aa', 'bb', 'Z'), token, fees });
    const then: Token[][] = [];
    for (const [i, one] of fc.sample(shown, { numRuns: 40, seed }).entries()) {
      const given = Object.entries(one.token).filter(([, value]) => value !== 'null');
      const text = given.map(([name, value]) => `"${name}":${value}`).join(',');
      const element = `{"type":"t","value":{"symbol":"${one.symbol}",${text}}}`;
      const record = readToken(one.symbol, element, one.fees, String(i));
      await observeUnlisted(db, { project, lookup: 'tokens' }, record, when(i));
      then.push((await archive.tokens.list({ project })).items);
    }
    return then;
  }
  /** The height is known of what is held now only. */
  const saidOf = ({ height: _height, ...one }: Token) => said(one);

  test('as of an instant are those that were read then, as histories have it', async () => {
    const then = await tokensOverTime(1);
    const histories = await Promise.all(
      ['Z', 'aa', 'bb'].map((symbol) => archive.tokens.history(project, symbol)),
    );
    for (const [i, items] of then.entries()) {
      const { items: found, takenAt } = await archive.tokens.list({ project, asOf: when(i) });
      expect(found.map(saidOf)).toEqual(items.map(saidOf));
      expect(takenAt).toBeNull();
      const owned = await archive.tokens.list({ project, asOf: when(i), owner: 'o1' });
      expect(owned.items.map(saidOf)).toEqual(
        items.filter((one) => one.owner === 'o1').map(saidOf),
      );
      const one = await archive.tokens.get(project, 'bb', { asOf: when(i) });
      const bb = items.find(({ symbol }) => symbol === 'bb');
      expect(one === null ? undefined : saidOf(one)).toEqual(bb && saidOf(bb));
      const at = when(i).replace('.000Z', 'Z');
      const inForce = histories.flatMap((versions) =>
        versions.filter(
          ({ inForceFrom: from, inForceUntil: until }) =>
            from !== null && from <= at && (until === null || until > at),
        ),
      );
      expect(inForce.map(({ item }) => saidOf(item))).toEqual(items.map(saidOf));
    }
    expect(histories.flat().length).toBeGreaterThan(30);
  });
});
