// What `outlast query` understands, and one sentence for what it does not (P12).
import { describe, expect, test } from 'vitest';
import { readFilters, type QueryFlags } from '../src/cli/query-filters.ts';
import { formatOf, limitOf, readBounds, readMoment } from '../src/cli/query-flags.ts';
import { ordersShown } from '../src/cli/query-shown.ts';
import { tableText } from '../src/cli/query-table.ts';
import type { Order } from '../src/query/types.ts';

describe('what is asked for', () => {
  test.each([
    [{}, {}],
    [{ from: '2026-03-31' }, { from: '2026-03-31' }],
    [
      { from: '2026-03-31', to: '2026-03-31' },
      { from: '2026-03-31', to: '2026-04-01' },
    ],
    [{ to: '9999-12-31' }, {}],
  ])('%j are the days %j: the last one is included', (flags, days) => {
    expect(readBounds(flags)).toEqual(days);
  });

  test('statuses are words or numbers', () => {
    expect(readFilters('orders', { status: 'Pending, 3' }).rest).toEqual({ status: [1, 3] });
    const results = { status: 'processing,2,Unprocessed, succeeded' };
    expect(readFilters('transactions', results).rest).toEqual({ status: [0, 2, 3, 1] });
  });

  test('a table is for a terminal and shows a hundred, everything else is for programs and shows all', () => {
    expect([formatOf({}, true), formatOf({}, false)]).toEqual(['table', 'ndjson']);
    expect([formatOf({ json: true }, true), formatOf({ format: 'csv' }, true)]).toEqual([
      'json',
      'csv',
    ]);
    expect([limitOf({}, 'table'), limitOf({}, 'csv'), limitOf({ limit: '7' }, 'csv')]).toEqual([
      100,
      Infinity,
      7,
    ]);
  });
});

describe('mistakes', () => {
  const mistakes: [QueryFlags, string][] = [
    [{ from: '2026-02-29' }, '--from "2026-02-29" is no day'],
    [{ to: '0000-12-31' }, '--to "0000-12-31" is no day'],
    [{ from: '2026-03-02', to: '2026-03-01' }, '--to 2026-03-01 lies before --from'],
    [{ status: 'done' }, '--status "done" is none of pending, succeeded, failed'],
    [{ status: '1,' }, '--status "" is none of'],
    [{ limit: '0' }, '--limit "0" is no whole number above 0.'],
    [{ limit: '1e3' }, '--limit "1e3" is no whole number above 0.'],
    [{ format: 'table', limit: '10001' }, 'A table shows 10000 records at most'],
    [{ json: true, format: 'csv' }, 'two ways to say it'],
    [{ id: 'a', from: '2026-03-01' }, '--id names one record'],
    [{ account: '' }, '--account needs text of 1 to 1000 characters.'],
    [{ name: 'a\0' }, '--name needs text'],
    [{ module: '' }, '--module needs text of 1 to 1000 characters.'],
    [{ history: true }, '--history is that of one record: name it with --id.'],
    [{ history: true, id: 'a', asOf: '2026-03-01T00:00:00Z' }, 'leave --as-of out'],
    [{ asOf: '2026-03-01' }, '--as-of "2026-03-01" is no instant: give one with its offset'],
    [{ asOf: '2026-03-01T10:00:00' }, 'is no instant'],
  ];
  test.each(mistakes)('%j gets one sentence', (flags, sentence) => {
    expect(() => {
      limitOf(flags, formatOf(flags, false));
      readFilters('orders', flags);
      readBounds(flags);
      readMoment(flags);
    }).toThrow(sentence);
  });
});

describe('a table', () => {
  const order = {
    operationId: 'op_0123456789abcdef0123456789abcdef',
    account: 'iaa1testaccount000000000000',
    status: 9,
    message: '数字'.repeat(20),
    createdAt: '2026-03-01T10:00:00Z',
    missingSince: '2026-03-02T00:00:00Z',
  } as Order;

  test.each([60, 80, 100, 140])(
    'is no wider than a terminal of %i columns where it can be',
    (columns) => {
      const { name, columns: all } = ordersShown;
      const shown = {
        name,
        fields: [],
        columns: all.filter(({ least, header }) => least !== undefined || header === 'status'),
      };
      const lines = tableText([order], false, shown, columns).trimEnd().split('\n');
      for (const line of lines) expect(line.length).toBeLessThanOrEqual(columns);
      expect(lines[2]).toContain('…');
    },
  );

  test('is as wide as it has to be where nobody says how wide the terminal is', () => {
    const text = tableText([order], false, ordersShown, undefined);
    expect(text).toContain('数字'.repeat(20));
    expect(text).toContain('missing since 2026-03-02');
  });
});
