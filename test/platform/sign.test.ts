import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareUtf8 } from '../../src/platform/bytes.ts';
import { paramsText, sign } from '../../src/platform/sign.ts';

const secret = 'TEST_SECRET_0123456789abcdef';
const signed = (path: string, query: Record<string, string>, timestamp: string): string =>
  sign({ path, query, timestamp, secret });

const range = { sort_by: 'DATE_ASC', start_date: '2024-01-01', end_date: '2024-01-31' };
const vectors: [string, Record<string, string>, string, string][] = [
  [
    '/v3/native/tx/op_0001',
    {},
    '1700000000000',
    '8b13b6e627a49ea580037bd12c149bdd94e0566644b9d40d73afe9d25b029adc',
  ],
  [
    '/v3/orders',
    { limit: '50', ...range, count_total: '1' },
    '1706745600000',
    'c8fe04411cf413cbd73ef85cb6f5085234892f595997bddc87ec3763a53a4d07',
  ],
  [
    '/v3/orders',
    { page_key: 'a+b/c==&x<y>', limit: '50', status: '2' },
    '1706745600123',
    'c7f7b34af8bf036a47bfa6ef3715450192b86091033cbd8dfd482197bff0bf70',
  ],
  [
    '/v1beta1/nft/classes',
    {
      offset: '0',
      limit: '200',
      name: '数字 & 藏品<1>',
      owner: 'iaa1testowner00000000000000000000000000000',
      sort_by: 'DATE_ASC',
    },
    '1706745601000',
    'a1af4bc65ff230f34b4ba7912cd1e68fbfd2b0af0bb46a8346114abbc5fa43bf',
  ],
  [
    '/v1beta1/nft/classes',
    {},
    '1706745601000',
    '1daa003839426c0a2200700f6f1da03f17e3054a174272f90525a274eba49529',
  ],
  [
    '/v3/orders',
    { limit: '50' },
    '1706745600123',
    'c221c23506d834bc7d759b452620ae0736cdbb4071003a0040737cc4e9b1692b',
  ],
];

describe('the signature', () => {
  it.each(vectors)('of %s %j at %s is the published one', (path, query, timestamp, expected) => {
    expect(signed(path, query, timestamp)).toBe(expected);
  });

  it('puts the names in byte order, whatever order they came in', () => {
    expect(paramsText('/p', { b: '2', a: '1', '\u{1f600}': 'x', '\uff5e': 'y', A: '0' })).toBe(
      '{"path_url":"/p","query_A":"0","query_a":"1","query_b":"2","query_\uff5e":"y","query_\u{1f600}":"x"}',
    );
  });
});

it('texts compare as their UTF-8 bytes do', () => {
  const text = fc.string({ unit: 'binary' });
  fc.assert(
    fc.property(text, text, (a, b) => {
      expect(Math.sign(compareUtf8(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
    }),
  );
});
