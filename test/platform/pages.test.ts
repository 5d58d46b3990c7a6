import { describe, expect, it } from 'vitest';
import { isOutlastError } from '../../src/errors.ts';
import type { PlatformPage } from '../../src/model.ts';
import { sha256 } from '../../src/platform/canonical.ts';
import { readClassesPage, readOrdersPage } from '../../src/platform/pages.ts';

const askedAt = Date.parse('2026-03-05T12:00:00Z');
const orders = (text: string): PlatformPage =>
  readOrdersPage(Buffer.from(text), askedAt, '2026-03-02');

describe('a page of orders', () => {
  it('gives its records in the order shown, its rejects, total and next key', () => {
    const text =
      '{"data":{"prev_page_key":"","next_page_key":"k+/=","limit":50,"total_count":7,"order_infos":[' +
      ' {"operation_id":"b"} ,{"operation_id":"a"},null,{"operation_id":"b","status":2}]}}';
    const page = orders(text);
    expect(page).toMatchObject({
      resource: 'orders',
      shown: 4,
      total: 7,
      nextKey: 'k+/=',
      askedAt,
    });
    expect(page.records.map((record) => record.id)).toEqual(['b', 'a', 'b']);
    expect(page.records[0]?.rawJson).toBe('{"operation_id":"b"}');
    expect(page.rejects.map((reject) => reject.bytes.toString())).toEqual(['null']);
    expect(page.bytes).toBe(text.length);
  });

  it.each([
    '{"data":{}}',
    '{"data":{"order_infos":null}}',
    '\ufeff{"data":{"order_infos":[]},"error":null}',
  ])('may be empty as %s', (text) => {
    expect(orders(text)).toMatchObject({
      records: [],
      rejects: [],
      shown: 0,
      total: null,
      nextKey: null,
    });
  });

  it.each([
    ['12', 12],
    ['"12"', 12],
    ['0', 0],
    ['-1', null],
    ['null', null],
    ['"many"', null],
    ['1.5', null],
    // Too great to be true, and all the same a total to disagree with.
    ['1000000000000000', 1e15],
    ['1e99', Number.MAX_SAFE_INTEGER],
    ['{}', null],
  ])('with a total of %s has the total %s', (total, expected) => {
    expect(orders(`{"data":{"total_count":${total}}}`).total).toBe(expected);
  });

  it('that shows records beside a total of 0 has no total', () => {
    expect(orders('{"data":{"total_count":0,"order_infos":[{}]}}').total).toBeNull();
  });

  it.each([
    ['"next_page_key":""', null, 'empty'],
    ['"next_page_key":null', null, 'null'],
    ['"next_page_key":0', null, 'empty'],
    ['"limit":50', null, 'absent'],
    ['"next_page_key":"0"', '0', 'key'],
    ['"next_page_key":" "', ' ', 'key'],
    ['"next_page_key":12', '12', 'key'],
    // P12: what Postgres cannot hold is another key, which the platform will refuse.
    [String.raw`"next_page_key":"\u0000k"`, '\ufffdk', 'key'],
    [String.raw`"next_page_key":"a\ud800"`, 'a\ufffd', 'key'],
  ])('with %s goes on with %j, spelt as %s', (field, nextKey, nextKeyForm) => {
    expect(orders(`{"data":{${field}}}`)).toMatchObject({ nextKey, nextKeyForm });
  });

  it('names its first and last element, rejects by their digest', () => {
    const list = (...elements: string[]): PlatformPage =>
      orders(`{"data":{"order_infos":[${elements.join(',')}]}}`);
    const digest = sha256('null');
    expect(list()).toMatchObject({ first: null, last: null });
    expect(list('{"operation_id":"a"}')).toMatchObject({ first: 'a', last: 'a' });
    expect(list('{"operation_id":"a"}', '{"operation_id":"b"}', 'null')).toMatchObject({
      first: 'a',
      last: digest,
    });
  });

  it.each([
    '',
    '<html>down for maintenance</html>',
    '404 page not found',
    'null',
    '[]',
    '{}',
    '{"data":null}',
    '{"data":[]}',
    '{"data":{"order_infos":{}}}',
    '{"data":{"order_infos":"none"}}',
    '{"data":{"next_page_key":{}}}',
    '{"error":{"code":"INTERNAL_ERROR"}}',
    '{"data":{},"error":{"code":"INTERNAL_ERROR"}}',
    '{"data":{"order_infos":[{"operation_id":"a"}',
  ])('is not %s: that passes, and is no empty day', (text) => {
    try {
      orders(text);
      expect.unreachable();
    } catch (error) {
      expect(isOutlastError(error, 'unreadable_page') && error.kind).toBe('transient');
    }
  });

  it('reads a record in it just as it would read it alone, however deep it nests', () => {
    const nest = (depth: number): string =>
      `{"operation_id":"a","x":${'['.repeat(depth)}${']'.repeat(depth)}}`;
    for (const [depth, kept] of [
      [255, true],
      [256, false],
    ] as const) {
      const [record] = orders(`{"data":{"order_infos":[${nest(depth)}]}}`).records;
      expect(record?.rawBytes === null).toBe(kept);
    }
  });
});

it('a page of classes has no keys, and a day of its own where none was asked', () => {
  const text =
    '{"data":{"offset":0,"limit":200,"total_count":"1","next_page_key":"k","classes":[{"id":"c"}]}}';
  const page = readClassesPage(Buffer.from(text), askedAt);
  expect(page).toMatchObject({
    resource: 'nft_classes',
    shown: 1,
    total: 1,
    nextKey: null,
    nextKeyForm: null,
  });
  expect(page.records[0]?.columns['slice_day']).toBe('2026-03-05');
});
