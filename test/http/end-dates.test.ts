// An end date over HTTP means what it meant to the platform, and only a page that has one asks how that was.
import { expect, test } from 'vitest';
import * as z from 'zod';
import { dates, selectedBy } from '../../src/http/platform/lists.ts';
import { checked, optional } from '../../src/query/check-arguments.ts';

let lookups = 0;

/** The days that a query selects where the fact says so. */
async function days(query: Record<string, string>, fact?: string): Promise<object> {
  lookups = 0;
  const facts = async (): Promise<Record<string, string>> => {
    lookups += 1;
    return {
      // The other list's fact counts for nothing here.
      'nft_classes.day_end': 'instant',
      ...(fact === undefined ? {} : { 'orders.day_end': fact }),
    };
  };
  const given = checked(z.object(optional(dates)), query);
  const { order: _, ...selected } = await selectedBy(given, { facts }, 'p', 'orders');
  return selected;
}

test.each([
  ['inclusive', { from: '2026-03-01', to: '2026-04-01' }],
  ['exclusive', { from: '2026-03-01', to: '2026-03-31' }],
  ['instant', { from: '2026-03-01', to: '2026-03-31', toInstant: true }],
  ['unknown', { from: '2026-03-01', to: '2026-04-01' }],
  [undefined, { from: '2026-03-01', to: '2026-04-01' }],
])('an end date is read as the platform did: %s', async (fact, expected) => {
  expect(await days({ start_date: '2026-03-01', end_date: '2026-03-31' }, fact)).toEqual(expected);
  expect(lookups).toBe(1);
});

test('an end before the start selects nothing', async () => {
  const query = { start_date: '2026-03-10', end_date: '2026-03-01' };
  expect(await days(query, 'exclusive')).toEqual({ from: '2026-03-10', to: '2026-03-10' });
});

test('without an end date nothing is looked up', async () => {
  expect(await days({})).toEqual({});
  expect(await days({ start_date: '2026-03-01', page_key: 'k' }, 'instant')).toEqual({
    from: '2026-03-01',
  });
  expect(lookups).toBe(0);
});

test.each(['2026-02-30', '1.3.2026', '10000-01-01'])('no day: %s', async (end) => {
  await expect(days({ end_date: end })).rejects.toMatchObject({ code: 'argument_invalid' });
});

test('the last day that can be written is no bound', async () => {
  expect(await days({ end_date: '9999-12-31' })).toEqual({});
});
