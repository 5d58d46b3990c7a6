// A page of a list at the door: what is in it, what of it is set aside, and what is no page.
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { isOutlastError } from '../../src/errors.ts';
import type { PlatformPage } from '../../src/model.ts';
import { byteBounds } from '../../src/platform/bytes.ts';
import { readPage } from '../../src/platform/pages.ts';

const askedAt = Date.parse('2026-03-05T12:00:00Z');
const orders = (text: string | Buffer): PlatformPage =>
  readPage('orders', Buffer.from(text as string), askedAt, '2026-03-02');
const pageOf = (...elements: string[]): PlatformPage =>
  orders(`{"data":{"next_page_key":"k","order_infos":[${elements.join(',')}]}}`);
const sha256 = (of: string | Buffer): string => createHash('sha256').update(of).digest('hex');

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
      first: 'b',
      last: 'b',
      askedAt,
      bytes: text.length,
    });
    expect(page.records.map((record) => record.id)).toEqual(['b', 'a', 'b']);
    expect(page.records[0]?.rawJson).toBe('{"operation_id":"b"}');
    expect(page.rejects.map((reject) => reject.bytes.toString())).toEqual(['null']);
    // A reject is named by its digest.
    expect(pageOf('{"operation_id":"a"}', 'null')).toMatchObject({
      first: 'a',
      last: sha256('null'),
    });
  });

  it.each([
    '{"data":{}}',
    '{"data":{"order_infos":null}}',
    '{"data":{"order_infos":[]},"error":null}',
  ])('may be empty as %s', (text) => {
    expect(orders(text)).toMatchObject({
      records: [],
      rejects: [],
      shown: 0,
      total: null,
      nextKey: null,
      first: null,
      last: null,
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
    ['1e99', Number.MAX_SAFE_INTEGER],
    ['{}', null],
  ])('with a total of %s has the total %s', (total, expected) => {
    expect(orders(`{"data":{"total_count":${total}}}`).total).toBe(expected);
  });

  it('that shows records beside a total of 0 has no total', () => {
    expect(orders('{"data":{"total_count":0,"order_infos":[{}]}}').total).toBeNull();
  });

  it.each([
    ['"next_page_key":""', null],
    ['"next_page_key":null', null],
    ['"next_page_key":0', null],
    ['"limit":50', null],
    ['"next_page_key":"0"', '0'],
    ['"next_page_key":" "', ' '],
    ['"next_page_key":12', '12'],
    // P12: what Postgres cannot hold is another key, which the platform will refuse.
    [String.raw`"next_page_key":"\u0000k"`, '\ufffdk'],
    [String.raw`"next_page_key":"a\ud800"`, 'a\ufffd'],
  ])('with %s goes on with %j', (field, nextKey) => {
    expect(orders(`{"data":{${field}}}`)).toMatchObject({ nextKey });
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
    for (const [depth, kept] of [
      [255, true],
      [256, false],
    ] as const) {
      const [record] = pageOf(
        `{"operation_id":"a","x":${'['.repeat(depth)}${']'.repeat(depth)}}`,
      ).records;
      expect(record?.rawBytes === null).toBe(kept);
    }
  });

  it('that is no UTF-8 loses nothing: the records that are some are read, the others kept as bytes', () => {
    const bad = Buffer.from('{"operation_id":"b","message":"?\xff"}', 'latin1');
    const good = '{"operation_id":"a","message":"充值"}';
    const { records, rejects, shown } = orders(
      Buffer.concat([Buffer.from(`{"data":{"order_infos":[${good},`), bad, Buffer.from(']}}')]),
    );
    expect(shown).toBe(2);
    expect(records).toMatchObject([
      { id: 'a', columns: { message: '充值' }, rawJson: good, rawBytes: null },
    ]);
    expect(rejects).toEqual([
      { bytes: bad, sha256: sha256(bad), reason: 'it is not UTF-8', wholeLength: null },
    ]);
  });
});

it('a page of classes has no keys, and a day of its own where none was asked', () => {
  const text =
    '{"data":{"offset":0,"limit":200,"total_count":"1","next_page_key":"k","classes":[{"id":"c"}]}}';
  const page = readPage('nft_classes', Buffer.from(text), askedAt);
  expect(page).toMatchObject({
    resource: 'nft_classes',
    shown: 1,
    total: 1,
    nextKey: null,
  });
  expect(page.records[0]?.columns['slice_day']).toBe('2026-03-05');
});

describe('P12: what is too long', () => {
  /** Of so many bytes. */
  const record = (id: string, length: number, of = 'x'): string => {
    const [before, after] = [`{"operation_id":"${id}","x":"`, '"}'];
    return before + of.repeat(length - before.length - after.length) + after;
  };

  it('a record is set aside with its beginning, its length and the digest of all of it', () => {
    const long = record('b', byteBounds.record + 1);
    const { records, rejects, shown, last, nextKey } = pageOf(
      record('a', 100),
      ` ${long}\n`,
      record('c', byteBounds.record),
    );
    expect(records.map(({ id }) => id)).toEqual(['a', 'c']);
    expect({ shown, last, nextKey }).toEqual({ shown: 3, last: 'c', nextKey: 'k' });
    expect(rejects).toMatchObject([
      {
        bytes: Buffer.from(long.slice(0, byteBounds.beginning)),
        sha256: sha256(long),
        wholeLength: long.length,
      },
    ]);
    expect(rejects[0]?.reason).toContain(`${long.length} bytes long`);
  });

  it('a record is measured in bytes, also where they are no UTF-8', () => {
    const [fits = Buffer.of(), long = Buffer.of()] = [0, 1].map((more) =>
      Buffer.from(record('a', byteBounds.record + more, '\xff'), 'latin1'),
    );
    const of = (bytes: Buffer) =>
      orders(Buffer.concat([Buffer.from('{"data":{"order_infos":['), bytes, Buffer.from(']}}')]))
        .rejects;
    expect(of(fits)).toMatchObject([{ bytes: { length: fits.length }, wholeLength: null }]);
    expect(of(long)).toMatchObject([{ wholeLength: long.length, sha256: sha256(long) }]);
  });

  it('a record is set aside, too, whose numbers nobody could write out', () => {
    const number = '1e131071';
    const { records, rejects } = pageOf(
      `{"operation_id":"a","x":[${Array(100).fill(number).join(',')}]}`,
      `{"operation_id":"b","x":${number}}`,
    );
    expect(records.map(({ id }) => id)).toEqual(['b']);
    expect(rejects).toMatchObject([
      { reason: 'its numbers, written out, are too long', wholeLength: null },
    ]);
  });

  it('an answer is no page: of more values than can be taken apart, or with a key that nobody could send', () => {
    expect(() => pageOf(`[${'0,'.repeat(300_000)}0]`)).toThrow(
      'an answer of more than 300000 values',
    );
    const body = `{"data":{"next_page_key":"${'k'.repeat(byteBounds.string + 1)}"}}`;
    expect(() => orders(body)).toThrow('too long to be sent');
  });
});
