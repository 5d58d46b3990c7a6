// What `outlast query` understands, and one sentence for what it does not (P12).
import { afterEach, describe, expect, test, vi } from 'vitest';
import { queryList, tableText, type QueryList } from '../../src/cli/query-print.ts';
import { questionList, recordList } from '../../src/query/lists.ts';
import { readAsked, type QueryFlags } from '../../src/cli/query-command.ts';
import { readDays } from '../../src/cli/sync-command.ts';

afterEach(() => void vi.useRealTimers());

const [ordersList, nftClassesList, transactionsList] = [
  queryList(recordList('orders')),
  queryList(recordList('nft_classes')),
  queryList(recordList('transactions')),
];

describe('what is asked for', () => {
  test.each([
    [{}, {}],
    [{ from: '2026-03-31' }, { from: '2026-03-31' }],
    [{ to: '2026-03-31' }, { to: '2026-03-31' }],
  ])('%j are the days %j', (flags, days) => {
    expect(readAsked(ordersList, flags, false).query).toEqual(days);
  });

  test('a sync takes days by their names, too', () => {
    vi.useFakeTimers({ now: Date.parse('2026-04-01T00:30:00Z'), toFake: ['Date'] });
    const days = { from: '2026-03-31', to: '2026-04-02' };
    expect(readDays({ from: 'yesterday', to: 'today' })).toEqual(days);
  });

  test('a day is known at its end', () => {
    const { query } = readAsked(ordersList, { asOf: '2026-03-31' }, false);
    expect(query).toEqual({ asOf: '2026-03-31T23:59:59.999999Z' });
  });

  test('statuses are words or numbers', () => {
    const orders = readAsked(ordersList, { status: 'Pending, 3' }, false);
    expect(orders.query).toEqual({ status: [1, 3] });
    const status = 'processing,2,Unprocessed, succeeded,7';
    const results = readAsked(transactionsList, { status }, false);
    expect(results.query).toEqual({ status: [0, 1, 2, 3, 7] });
  });

  test('a table is for a terminal and shows a hundred, everything else is for programs and shows all', () => {
    const of = (flags: QueryFlags, isTerminal: boolean) => {
      const { format, limit } = readAsked(ordersList, flags, isTerminal);
      return [format, limit];
    };
    expect(of({}, true)).toEqual(['table', 100]);
    expect(of({}, false)).toEqual(['ndjson', Infinity]);
    expect(of({ json: true }, true)).toEqual(['json', Infinity]);
    expect(of({ format: 'csv' }, true)).toEqual(['csv', Infinity]);
    expect(of({ format: 'csv', limit: '7' }, true)).toEqual(['csv', 7]);
  });
});

describe('mistakes', () => {
  const mistakes: [QueryFlags, string, QueryList?][] = [
    [{ from: '2026-02-29' }, '--from must be a UTC day as yyyy-MM-dd'],
    [{ to: '0000-12-31' }, '--to must be a UTC day'],
    [
      { from: '2026-03-02', to: '2026-03-01' },
      '--from (2026-03-02) must not be after --to (2026-03-01)',
    ],
    [{ status: 'done' }, '--status must be one of 1, 2, 3 (pending, succeeded, failed)'],
    [{ status: '1,' }, '--status must be one of'],
    [{ limit: '0' }, '--limit must be a whole number from 1 to'],
    [{ limit: '1e3' }, '--limit must be a whole number from 1 to'],
    [{ format: 'table', limit: '10001' }, 'A table shows 10000 records at most'],
    [{ json: true, format: 'csv' }, 'two ways to say it'],
    [{ id: 'a', from: '2026-03-01' }, '--id names one record'],
    [{ account: '' }, '--account must be text of 1 to 1000 characters'],
    [{ txHash: 'a\0' }, '--tx-hash must be text', nftClassesList],
    [{ status: 'pending' }, 'processing, 1 succeeded, 2 failed, 3 unprocessed', transactionsList],
    [{ module: '' }, '--module must be text of 1 to 1000 characters', transactionsList],
    [{ history: true }, '--history is that of one record: name it with --id.'],
    [{ history: true, id: 'a', asOf: '2026-03-01T00:00:00Z' }, 'leave --as-of out'],
    [{ asOf: '2026-02-31' }, '--as-of must be an instant as RFC 3339 with its offset'],
    [{ asOf: '2026-03-01T10:00:00' }, '--as-of must be an instant'],
  ];
  test.each(mistakes)('%j gets one sentence', (flags, sentence, list = ordersList) => {
    expect(() => readAsked(list, flags, false)).toThrow(sentence);
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
  };

  test.each([60, 80, 100, 140])(
    'is no wider than a terminal of %i columns where it can be',
    (columns) => {
      const { name, columns: all } = ordersList.shown;
      const shown = {
        name,
        fields: {},
        columns: all.filter(({ least, header }) => least !== undefined || header === 'status'),
      };
      const lines = tableText([order], false, shown, columns).trimEnd().split('\n');
      for (const line of lines) expect(line.length).toBeLessThanOrEqual(columns);
      expect(lines[2]).toContain('…');
    },
  );

  test('that leaves columns out says how to see them, for a list without ids as well', () => {
    const days = queryList(questionList('coverage')).shown;
    const text = tableText(
      [
        {
          day: '2026-03-01',
          resource: 'nft_classes',
          state: 'walked',
          proof: 'books',
          unresolved: 3,
          why: 'pending',
        },
      ],
      false,
      days,
      36,
    );
    expect(text.replace(/\s+/g, ' ')).toMatch(
      /Too narrow for [^:]+: --format json shows everything\. $/,
    );
  });

  test('says what is wrong to the end of the sentence', () => {
    const wrong = { kind: 'rejects', numbersJson: '{"count": 2}', level: 'warning', subject: '' };
    const { shown } = queryList(questionList('problems'));
    const words = (width?: number): string[] =>
      tableText([{ ...wrong, since: '2026-04-01T00:00:00Z' }], false, shown, width)
        .split(/[\s─]+/)
        .toSorted();
    expect(words(60)).toEqual(words());
  });

  test('is as wide as it has to be where nobody says how wide the terminal is', () => {
    const text = tableText([order], false, ordersList.shown, undefined);
    expect(text).toContain('数字'.repeat(20));
    expect(text).toContain('missing since 2026-03-02');
  });
});
