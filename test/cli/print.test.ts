// What people see in a terminal.
import { describe, expect, it, vi } from 'vitest';
import {
  fittedTable,
  fitting,
  formatCount,
  formatSpan,
  formatWhen,
  printable,
  screenWidth,
  startedAs,
  table,
  widthOf,
  shellWord,
  wrapped,
} from '../../src/cli/print.ts';

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

describe('a table that does not fit', () => {
  const columns = [
    { header: 'id', least: 6 },
    'n',
    { header: 'account', spare: 1 },
    { header: 'note', wrapsTo: 8 },
  ];
  const rows = [['0123456789abcdef', 7, 'acc-1234', 'a sentence of some words']];
  const widthsOf = (text: string): number[] => text.split('\n').map(widthOf);

  it('has text cut, then goes on in lines below, then does without columns, then is records', () => {
    expect(table(columns, rows, 80)).toContain(
      '0123456789abcdef  7  acc-1234  a sentence of some words',
    );
    expect(fittedTable(columns, rows, 38)).toEqual({
      text: [
        'id           n  account   note',
        '───────────  ─  ────────  ────────────',
        '0123456789…  7  acc-1234  a sentence',
        '                          of some',
        '                          words',
      ].join('\n'),
      left: [],
    });
    expect(fittedTable(columns, rows, 22).left).toEqual(['account']);
    expect(
      table(['name', 'meaning'], [['orders', 'every order as it is known']], 20).split('\n'),
    ).toEqual(['orders', '  every order as it', '  is known']);
    expect(
      table(['name', 'type', 'n'], [['orders_by_month', 'view of days', 12]], 24).split('\n'),
    ).toEqual(['name  orders_by_month', 'type  view of days', 'n     12']);
    for (const width of [80, 60, 40, 30, 22]) {
      expect(Math.max(...widthsOf(table(columns, rows, width)))).toBeLessThanOrEqual(width);
    }
    // A header is never cut, so that its column is no narrower.
    const operations = [{ header: 'operation id', least: 4 }, 'n', { header: 'due', spare: 1 }];
    expect(fittedTable(operations, [['0123456789abcdef', 7, '2026-11-28']], 20)).toEqual({
      text: 'operation id      n\n────────────────  ─\n0123456789abcdef  7',
      left: ['due'],
    });
  });
});

describe('prose', () => {
  it('is broken between words, further in below its line, and what fits is left alone', () => {
    expect(wrapped('  orders: 53 of 54 days read to their ends', 24)).toBe(
      '  orders: 53 of 54 days\n    read to their ends',
    );
    expect(wrapped('a  table   row\nshort', 24)).toBe('a  table   row\nshort');
    expect(wrapped('It was read 46 min 8 s ago.', 22)).toBe('It was read 46 min 8 s\nago.');
    expect(wrapped('It was read 46 min 8 s ago.', 21)).toBe('It was read 46 min\n8 s ago.');
  });

  it('keeps commands and digests whole, to be copied, and breaks Chinese anywhere', () => {
    const digest = 'd'.repeat(64);
    expect(wrapped(`run \`outlast sync --from 2026-03-01\` now: ${digest}`, 40)).toBe(
      `run \`outlast sync --from 2026-03-01\`\nnow:\n${digest}`,
    );
    const line = '    OUTLAST_DATA_DIR=./.outlast-demo npm run -s outlast -- watch op-1';
    expect(wrapped(line, 40)).toBe(line);
    expect(fitting('ab数', 3)).toBe('ab');
    for (const line of wrapped(`失败 ${'余额不足'.repeat(12)}`, 20).split('\n')) {
      expect(widthOf(line)).toBeLessThanOrEqual(20);
    }
  });

  it('is as wide as the terminal, else as COLUMNS says', () => {
    const out = { write: () => undefined };
    expect(screenWidth({ ...out, columns: 120 })).toBe(120);
    vi.stubEnv('COLUMNS', '66');
    expect(screenWidth({ ...out, columns: 0 })).toBe(66);
    vi.stubEnv('COLUMNS', '');
    expect(screenWidth(out)).toBe(80);
    vi.unstubAllEnvs();
  });
});

describe('a command that is printed begins as this one was begun', () => {
  const script = '/home/ann/outlast/dist/src/main.js';
  const bin = '/usr/local/bin/outlast';
  it.each([
    ['installed', bin, {}, 'outlast'],
    [
      'with npx',
      '/home/ann/node_modules/.bin/outlast',
      { npm_lifecycle_event: 'npx' },
      'npx outlast',
    ],
    ['on Windows', String.raw`C:\app\node_modules\outlast\dist\src\main.js`, {}, 'outlast'],
    ['in a clone', script, { npm_lifecycle_event: 'outlast' }, 'npm run -s outlast --'],
    ['by the demo of a clone', script, { npm_lifecycle_event: 'demo' }, 'npm run -s outlast --'],
    ['by its file', script, {}, 'node outlast/dist/src/main.js'],
    [
      'in a folder with a blank',
      '/home/ann/my archive/dist/src/main.js',
      {},
      'node "my archive/dist/src/main.js"',
    ],
  ])('%s', (_, file, env, expected) => {
    expect(startedAs(file, env, '/home/ann')).toBe(expected);
  });
});

it('a path that is printed to be typed is one word', () => {
  expect(['./export', 's3://bucket/prefix', "Ann's export"].map(shellWord)).toEqual([
    './export',
    's3://bucket/prefix',
    `"Ann's export"`,
  ]);
});
