import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readHttpDate, readTime } from '../../src/platform/times.ts';

describe('a time of the platform', () => {
  it.each([
    ['2026-03-01T10:00:00Z', '2026-03-01T10:00:00Z'],
    ['2026-03-01t10:00:00z', '2026-03-01T10:00:00Z'],
    ['2026-03-01T10:00:00.5Z', '2026-03-01T10:00:00.5Z'],
    ['2026-03-01T10:00:00.123456789Z', '2026-03-01T10:00:00.123456Z'],
    ['2026-03-01T10:00:00.999999999Z', '2026-03-01T10:00:00.999999Z'],
    ['2026-03-01T10:00:00.000Z', '2026-03-01T10:00:00Z'],
    ['2026-03-01T10:00:00+08:00', '2026-03-01T02:00:00Z'],
    ['2026-03-01T00:30:00.25+0100', '2026-02-28T23:30:00.25Z'],
    ['2024-12-31T23:30:00-00:30', '2025-01-01T00:00:00Z'],
    ['2026-03-01 10:00:00', '2026-03-01T10:00:00Z'],
    ['2026-03-01 10:00:00.120', '2026-03-01T10:00:00.12Z'],
    ['2022-07-29 11:28:58 +0000 UTC', '2022-07-29T11:28:58Z'],
    ['2022-07-29 11:28:58.123 +0000 UTC', '2022-07-29T11:28:58.123Z'],
    ['2022-07-29 11:28:58.123456789 +0800 CST', '2022-07-29T03:28:58.123456Z'],
    [' 2026-03-01T10:00:00Z ', '2026-03-01T10:00:00Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00Z'],
    ['0050-06-01T01:00:00+02:00', '0050-05-31T23:00:00Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00Z'],
  ])('%s is %s', (text, expected) => {
    expect(readTime(text)).toBe(expected);
  });

  it.each([
    '2026-02-30T00:00:00Z',
    '2025-02-29T00:00:00Z',
    '1900-02-29T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-00-10T00:00:00Z',
    '2026-04-31 00:00:00',
    '2026-04-00 00:00:00',
    '0000-01-01T00:00:00Z',
    '2026-03-01T24:00:00Z',
    '2026-03-01T23:60:00Z',
    '2026-03-01T23:59:60Z',
    '2026-03-01',
    '2026-03-01T10:00:00+24:00',
    '2026-03-01T10:00:00+08:60',
    '2026-03-01 10:00:00 CST',
    '0001-01-01T00:00:00+01:00',
    '9999-12-31T23:59:59-01:00',
    '',
    '  ',
    'yesterday',
    '1706745600',
    '1 Mar 2026 10:00:00 GMT',
    '2026-3-1 10:00:00',
    '２０２６-03-01T10:00:00Z',
  ])('%j is none', (text) => {
    expect(readTime(text)).toBeNull();
  });

  it('is nothing else but text', () => {
    for (const value of [1706745600, 1706745600123, true, null, [], {}]) {
      expect(readTime(value)).toBeNull();
    }
  });

  it('is the instant it was, in whatever zone it is written', () => {
    const dates = fc.date({
      min: new Date('0001-01-02T00:00:00Z'),
      max: new Date('9999-12-30T00:00:00Z'),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(dates, fc.integer({ min: -14 * 60, max: 14 * 60 }), (date, offset) => {
        const local = new Date(date.getTime() + offset * 60_000).toISOString().slice(0, -1);
        const two = (n: number): string => String(Math.trunc(n)).padStart(2, '0');
        const zone = `${offset < 0 ? '-' : '+'}${two(Math.abs(offset) / 60)}:${two(Math.abs(offset) % 60)}`;
        const read = readTime(local + zone);
        expect(new Date(read ?? '').getTime()).toBe(date.getTime());
        expect(readTime(read)).toBe(read);
      }),
    );
  });
});

describe('a Date header', () => {
  it('is read in its one form', () => {
    expect(readHttpDate('Sun, 06 Nov 1994 08:49:37 GMT')).toBe(784_111_777_000);
    expect(readHttpDate(new Date(1_772_359_200_000).toUTCString())).toBe(1_772_359_200_000);
  });

  it.each([
    '',
    '12',
    'Sun, 06 Foo 1994 08:49:37 GMT',
    'Sun, 31 Feb 1994 08:49:37 GMT',
    'Sun, 31 Dec 10000 08:49:37 GMT',
    '1994-11-06',
  ])('is not read from %j', (text) => {
    expect(readHttpDate(text)).toBeNull();
  });
});
