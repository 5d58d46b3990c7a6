// An end date over HTTP is the last day, as the platform's own document has it.
import { expect, test } from 'vitest';
import * as z from 'zod';
import { dates, selectedBy } from '../../src/http/platform/platform-lists.ts';
import { checked, optional } from '../../src/query/check-arguments.ts';

/** The days that a query selects. */
function days(query: Record<string, string>): object {
  const { order: _, ...selected } = selectedBy(checked(z.object(optional(dates)), query));
  return selected;
}

test.each([
  [
    { start_date: '2026-03-01', end_date: '2026-03-31' },
    { from: '2026-03-01', to: '2026-04-01' },
  ],
  // Before the start: nothing.
  [
    { start_date: '2026-03-10', end_date: '2026-03-01' },
    { from: '2026-03-10', to: '2026-03-10' },
  ],
  [{}, {}],
  [{ start_date: '2026-03-01' }, { from: '2026-03-01' }],
  // The last day that can be written is no bound.
  [{ end_date: '9999-12-31' }, {}],
])('%j selects %j', (query, selected) => expect(days(query)).toEqual(selected));

test.each(['2026-02-30', '1.3.2026', '10000-01-01'])('no day: %s', (end) => {
  expect(() => days({ end_date: end })).toThrow(
    expect.objectContaining({ code: 'argument_invalid' }),
  );
});
