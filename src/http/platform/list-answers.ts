// What both lists of the platform have: the parameters and what they select (docs/platform.md §4.4, §4.7), and the
// envelope.
import { oneOf } from '../../query/arguments.ts';
import type { Given } from '../../query/check-arguments.ts';
import { day, halfOpen } from '../../query/days.ts';
import type { ListScope } from '../../query/types.ts';
import type { Answer } from '../http-answers.ts';

export const dates = {
  start_date: day.describe('First day, yyyy-MM-dd'),
  end_date: day.describe('Last day, inclusive'),
  sort_by: oneOf(['DATE_ASC', 'DATE_DESC']).describe('DATE_DESC by default'),
};

type Selected = Pick<ListScope, 'from' | 'to'> & { order: 'asc' | 'desc' };

/** The days asked for, half-open. An end before the start selects nothing. */
export function selectedBy({
  start_date: from,
  end_date: end,
  sort_by: sortBy,
}: Given<typeof dates>): Selected {
  const order = sortBy === 'DATE_ASC' ? ('asc' as const) : ('desc' as const);
  const start = from === undefined ? {} : { from };
  if (end === undefined) return { ...start, order };
  const { to } = halfOpen({ to: end });
  if (from !== undefined && to !== undefined && from > to) return { from, to: from, order };
  return {
    ...start,
    ...(to === undefined ? {} : { to }),
    order,
  };
}

/** A list's answer: the envelope around records that stand as they were archived. */
export function listAnswer(
  head: Record<string, unknown>,
  listName: string,
  records: readonly { rawJson: string; rawBytes: Uint8Array | null }[],
): Answer {
  const opening = JSON.stringify(head).slice(0, -1);
  const parts: Uint8Array[] = [Buffer.from(`{"data":${opening},"${listName}":[`)];
  for (const [i, { rawJson, rawBytes }] of records.entries()) {
    if (i > 0) parts.push(Buffer.from(','));
    parts.push(rawBytes ?? Buffer.from(rawJson));
  }
  parts.push(Buffer.from(']}}'));
  return { status: 200, body: Buffer.concat(parts) };
}
