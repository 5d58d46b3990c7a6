// What people see in a terminal.
import { describe, expect, it } from 'vitest';
import { createProgress, formatCount, formatSpan, formatWhen, table } from '../../src/cli/print.ts';
import { fitting, printable } from '../../src/cli/print.ts';

describe('a table', () => {
  it('puts numbers to the right, text to the left, and separates thousands', () => {
    expect(
      table(
        ['resource', 'records', 'note'],
        [
          ['orders', 1_234_567, 'all'],
          ['nft_classes', 8, null],
          ['tokens', null, 'none asked'],
        ],
      ).split('\n'),
    ).toEqual([
      'resource       records  note',
      '───────────  ─────────  ──────────',
      'orders       1,234,567  all',
      'nft_classes          8',
      'tokens                  none asked',
    ]);
  });

  it('gives characters that are two columns wide two columns', () => {
    const lines = table(
      ['name', 'n'],
      [
        ['数字藏品', 1],
        ['👩‍👩‍👧 é', 2],
        ['abcd', 3],
      ],
    ).split('\n');
    expect(lines.slice(2)).toEqual(['数字藏品  1', '👩‍👩‍👧 é      2', 'abcd      3']);
  });

  it('is its headers alone when there is nothing in it', () => {
    expect(table(['day', 'orders'], [])).toBe('day  orders\n───  ──────');
  });

  it('lets no text of the platform steer the terminal', () => {
    const text = table(['name'], [['a\u001b[2Jb\nc\u202ed\u0007']]);
    expect(text).toContain('a\\u{1b}[2Jb\\u{a}c\\u{202e}d\\u{7}');
    expect(printable('é 数字 <&> 👍')).toBe('é 数字 <&> 👍');
  });
});

describe('numbers and spans', () => {
  it.each([
    [0, '0'],
    [999, '999'],
    [1_234_567, '1,234,567'],
  ])('%i reads %s', (count, text) => expect(formatCount(count)).toBe(text));

  it.each([
    [(9 * 24 + 4) * 3_600_000 + 59_000, 'in 9 days 4 h'],
    [86_400_000, 'in 1 day'],
    [86_400_000 + 60_000, 'in 1 day'],
    [-3_600_000, '1 h ago'],
    [200_000, 'in 3 min 20 s'],
    [59_999, 'in 59 s'],
    [0, 'in less than a second'],
  ])('%i ms from now reads %s', (ms, text) => expect(formatWhen(ms)).toBe(text));

  it('never names a third unit', () => expect(formatSpan(90_061_000)).toBe('1 day 1 h'));
});

describe('a progress line', () => {
  const progressOn = (out: { isTTY?: boolean; columns?: number }) => {
    const written: string[] = [];
    const clock = { now: 0 };
    const progress = createProgress(
      { ...out, write: (text: string) => written.push(text) },
      () => clock.now,
    );
    return { written, clock, progress };
  };

  it('is rewritten in place on a terminal, ten times a second at most, and taken away at the end', () => {
    const { written, clock, progress } = progressOn({ isTTY: true, columns: 20 });
    progress.update('12 records');
    progress.update('13 records');
    clock.now = 100;
    progress.update('2 slices');
    progress.end();
    progress.end();
    expect(written).toEqual(['12 records\r', '2 slices  \r', '        \r']);
  });

  it('never wraps: it ends before the last column, also between wide characters', () => {
    const { written, progress } = progressOn({ isTTY: true, columns: 8 });
    progress.update('数字藏品数字');
    expect(written).toEqual(['数字藏\r']);
    expect(fitting('ab数', 3)).toBe('ab');
  });

  it('is a plain line every five seconds where lines stay, and the newest at the end', () => {
    const { written, clock, progress } = progressOn({});
    progress.update('1 record');
    clock.now = 5_000;
    progress.update('2 records');
    clock.now = 6_000;
    progress.update('3 records');
    progress.end();
    progress.end();
    expect(written).toEqual(['2 records\n', '3 records\n']);
  });

  it('says nothing about what took less than five seconds where lines stay', () => {
    const { written, progress } = progressOn({});
    progress.update('1 record');
    progress.end();
    expect(written).toEqual([]);
  });
});
