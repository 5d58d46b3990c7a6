// Which records are a slice's own, as a condition in SQL: those of its UTC days, or of the hours that its days have
// where the platform cuts them in another zone.
import { addDays, dayOf } from '../day.ts';
import type { Day, Instant, Span } from '../model.ts';

/** The UTC days by which the rows are found: `[from, to)`. */
export function ownDays({ from, to, own }: Span): { from: Day; to: Day } {
  return own === undefined
    ? { from, to }
    : { from: dayOf(own.from), to: addDays(dayOf(own.to - 1), 1) };
}

/**
 * What narrows the rows `o` of those days to the own ones; '' where all are. A time that could not be read excludes
 * nothing.
 */
export function andOwn({ own }: Span): string {
  if (own === undefined) return '';
  const at = (instant: Instant): string => `timestamptz '${new Date(instant).toISOString()}'`;
  return ` and (o.created_at is null or (o.created_at >= ${at(own.from)} and o.created_at < ${at(own.to)}))`;
}
