import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ListedResource, ParsedRecord, RejectedRecord } from '../../src/model.ts';
import { canonical, sha256 } from '../../src/platform/canonical.ts';
import { parseJson } from '../../src/platform/json.ts';
import { isReject, readListed } from '../../src/platform/parse.ts';

const day = '2026-03-02';
const readAs = (list: ListedResource, text: string): ParsedRecord | RejectedRecord =>
  readListed(list, parseJson(text), text, day);
const accepted = (read: ParsedRecord | RejectedRecord): ParsedRecord => {
  if (isReject(read)) throw new Error(`rejected: ${read.reason}`);
  return read;
};
const order = (text: string): ParsedRecord => accepted(readAs('orders', text));
const nftClass = (text: string): ParsedRecord => accepted(readAs('nft_classes', text));

describe('an order', () => {
  it('becomes typed columns, with its own text beside them', () => {
    const text =
      '{"operation_id":"op-1", "status":2,"message":"","account":"iaa1x","amount":"1500","number":"99.5",' +
      '"create_time":"2026-03-01T23:00:00-02:00","update_time":"2026-03-02 01:00:00","order_type":1,"new":[]}';
    expect(order(text)).toEqual({
      id: 'op-1',
      columns: {
        status: 2,
        message: '',
        account: 'iaa1x',
        amount: '1500',
        number: '99.5',
        created_at: '2026-03-02T01:00:00Z',
        updated_at: '2026-03-02T01:00:00Z',
        order_type: 1,
        slice_day: '2026-03-02',
      },
      rawJson: text,
      rawBytes: null,
      rawSha256: sha256(canonical(parseJson(text)).text),
      unread: [],
    });
  });

  it('of a batch purchase shows no account, amount or number, in any of three ways', () => {
    for (const fields of [
      '',
      '"account":"","amount":"","number":"",',
      '"account":null,"amount":null,"number":null,',
    ]) {
      const { columns, unread } = order(`{${fields}"operation_id":"a"}`);
      expect([columns['account'], columns['amount'], columns['number'], unread]).toEqual([
        null,
        null,
        null,
        [],
      ]);
    }
  });

  it('without a readable creation time belongs to the day that was asked', () => {
    expect(order('{"operation_id":"a"}').columns['slice_day']).toBe(day);
    expect(order('{"operation_id":"a","create_time":"soon"}').unread).toEqual(['create_time']);
  });

  it.each([
    ['status', '1', 1],
    ['status', '"2"', 2],
    ['status', '"failed"', 3],
    ['status', '"Pending"', 1],
    ['status', '"success"', 2],
    ['status', '9', 9],
    ['status', '1.0', 1],
    ['status', 'null', null],
    ['status', '""', null],
    ['order_type', '2147483647', 2147483647],
    ['order_type', '-2147483648', -2147483648],
    ['order_type', '"+7"', 7],
    ['amount', '12.50', '12.5'],
    ['amount', '1e3', '1000'],
    ['amount', '" 1500 "', '1500'],
    ['amount', '"-0.10"', '-0.10'],
    ['amount', `"${'9'.repeat(1000)}"`, '9'.repeat(1000)],
    ['amount', '9007199254740993', '9007199254740993'],
    ['message', '12e1', '120'],
    ['message', String.raw`"a\u0000b\ud800c"`, 'a\ufffdb\ufffdc'],
    ['account', `"${'a'.repeat(512)}"`, 'a'.repeat(512)],
  ])('may have %s as %s', (field, value, expected) => {
    const { columns, unread } = order(`{"operation_id":"a","${field}":${value}}`);
    expect([columns[field], unread]).toEqual([expected, []]);
  });

  it.each([
    ['status', '"refunded"'],
    ['status', 'true'],
    ['status', '1.5'],
    ['order_type', '2147483648'],
    ['order_type', '-2147483649'],
    ['order_type', '"1e3"'],
    ['order_type', '{}'],
    ['amount', '"1,500"'],
    ['amount', '"1e3"'],
    ['amount', '"NaN"'],
    ['amount', '1e1000'],
    ['amount', '1e999999'],
    ['amount', `"${'9'.repeat(1001)}"`],
    ['number', '[]'],
    ['message', '{}'],
    ['account', 'false'],
    ['account', `"${'a'.repeat(513)}"`],
    ['update_time', '"2026-02-30 00:00:00"'],
    ['create_time', 'true'],
    ['create_time', '1706745600'],
  ])('keeps %s = %s in raw alone and says so', (field, value) => {
    const { columns, unread, rawJson } = order(`{"operation_id":"a","${field}":${value}}`);
    const column = { create_time: 'created_at', update_time: 'updated_at' }[field] ?? field;
    expect([columns[column], unread]).toEqual([null, [field]]);
    expect(rawJson).toContain('"a"');
  });

  it.each([
    ['{}', 'operation_id is missing'],
    ['{"operation_id":null}', 'operation_id is missing'],
    ['{"operation_id":""}', 'operation_id is empty'],
    ['{"operation_id":true}', 'operation_id is not text'],
    ['{"operation_id":1.0}', 'operation_id is not text'],
    [String.raw`{"operation_id":"\u0000"}`, 'operation_id holds characters that cannot be stored'],
    [String.raw`{"operation_id":"\udc00"}`, 'operation_id holds characters that cannot be stored'],
    [`{"operation_id":"${'é'.repeat(257)}"}`, 'operation_id is longer than 512 bytes'],
    ['null', 'the element is not an object'],
    ['[{}]', 'the element is not an object'],
    ['"a"', 'the element is not an object'],
  ])('is set aside as bytes if it is %s', (text, reason) => {
    expect(readAs('orders', text)).toEqual({
      bytes: Buffer.from(text),
      sha256: sha256(Buffer.from(text)),
      reason,
      wholeLength: null,
    });
  });

  it('may have a whole number for its id', () => {
    expect(order('{"operation_id":9007199254740993}').id).toBe('9007199254740993');
    expect(order('{"operation_id":-0}').id).toBe('0');
    expect(order(`{"operation_id":"${'é'.repeat(256)}"}`).id).toBe('é'.repeat(256));
  });

  it('that jsonb cannot hold is kept as it came beside the nearest it can', () => {
    const text = String.raw`{"operation_id":"a","x":"\u0000","y\ud800":1e999999}`;
    const read = order(text);
    expect(read.rawJson).toBe('{"operation_id":"a","x":"\ufffd","y\ufffd":"1e999999"}');
    expect(read.rawBytes).toEqual(Buffer.from(text));
    expect(read.rawSha256).toBe(sha256(canonical(parseJson(text)).text));
  });
});

describe('an NFT class', () => {
  it('becomes typed columns', () => {
    const text =
      '{"id":"c1","name":"数字 \u{1f600}","symbol":"","nft_count":9223372036854775807,"uri":"","owner":"iaa1o",' +
      '"tx_hash":"AB12","timestamp":"2022-07-29 11:28:58 +0000 UTC"}';
    expect(nftClass(text)).toMatchObject({
      id: 'c1',
      columns: {
        name: '数字 \u{1f600}',
        symbol: '',
        nft_count: '9223372036854775807',
        uri: '',
        owner: 'iaa1o',
        tx_hash: 'AB12',
        created_at: '2022-07-29T11:28:58Z',
        slice_day: '2022-07-29',
      },
      unread: [],
    });
  });

  it('with a count or an owner beyond their columns keeps them in raw alone', () => {
    const text = `{"id":"c","nft_count":9223372036854775808,"owner":"${'o'.repeat(600)}","timestamp":0}`;
    expect(nftClass(text).unread).toEqual(['timestamp', 'nft_count', 'owner']);
    expect(nftClass('{"id":"c","nft_count":"12"}').columns['nft_count']).toBe('12');
  });
});

describe('whatever an element is', () => {
  const known =
    'operation_id id status message account amount number create_time update_time order_type ' +
    'name symbol nft_count uri owner tx_hash timestamp';
  const value = fc.oneof(
    fc.jsonValue({ stringUnit: 'binary' }).map((any) => JSON.stringify(any)),
    fc.constantFrom(
      '1e400',
      '-0',
      '1E999999',
      '"2026-03-01T00:00:00Z"',
      '1706745600',
      '"1"',
      '"\\u0000"',
    ),
    fc.constantFrom(
      '"\\ud800"',
      `"${'x'.repeat(600)}"`,
      '1.50',
      '"success"',
      '12e2',
      '{"a":1,"a":2}',
    ),
  );
  const key = fc.oneof(
    fc.constantFrom(...known.split(' ')),
    fc.string({ unit: 'binary' }),
    fc.constant('__proto__'),
  );
  const element = fc.oneof(
    { weight: 5, arbitrary: fc.array(fc.tuple(key, value)).map(objectText) },
    { weight: 1, arbitrary: value },
  );

  const list = fc.constantFrom('orders' as const, 'nft_classes' as const);

  function objectText(fields: [string, string][]): string {
    return `{"operation_id":"a","id":"b",${[...fields, ['z', '0']].map(([k, v]) => `${JSON.stringify(k)}: ${v}`).join(' , ')}}`;
  }

  it('it becomes a record or a reject, never an error, and nothing of it is lost', () => {
    fc.assert(
      fc.property(element, list, (text, of) => {
        const result = readAs(of, text);
        if (isReject(result)) {
          expect(result.bytes.toString()).toBe(text);
          return;
        }
        expect(result.rawBytes?.toString() ?? result.rawJson).toBe(text);
        expect(result.rawSha256).toBe(sha256(canonical(parseJson(text)).text));
        expect(canonical(parseJson(result.rawJson)).fits).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });

  it('its columns can be derived again from what jsonb makes of it', () => {
    fc.assert(
      fc.property(element, list, (text, of) => {
        const read = readAs(of, text);
        if (isReject(read)) return;
        const printed = canonical(parseJson(read.rawJson)).text;
        const { columns, unread } = accepted(readAs(of, printed));
        expect({ columns, unread }).toEqual({ columns: read.columns, unread: read.unread });
      }),
      { numRuns: 1000 },
    );
  });
});
