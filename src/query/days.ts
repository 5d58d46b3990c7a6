// The days that a question may name: UTC's, half-open, `[from, to)` of `slice_day`. Which day a record belongs to is
// decided where it is read (platform/parse.ts).
import * as z from 'zod';
import { addDays, isDay } from '../day.ts';
import type { Day, DayRange } from '../model.ts';

/** A day that Postgres and `Day` write alike: there is no year 0. */
export const isArchiveDay = (text: string): boolean => isDay(text) && text >= '0001-01-01';

const sentence = 'must be a UTC day as yyyy-MM-dd, for example 2026-03-31';
export const day = z.string(sentence).refine(isArchiveDay, sentence).meta({ format: 'date' });

/** `[from, to)`, for programs. */
export const days = {
  from: day.describe('First UTC day, yyyy-MM-dd'),
  to: day.describe('The UTC day after the last one: it is not included'),
};

/** Both days included, for people. */
export const daysIncluded = {
  from: days.from,
  to: day.describe('Last UTC day, included'),
};

/** The half-open bounds of days that were given with the last one included. */
export const halfOpen = ({
  from,
  to,
}: {
  from?: Day | undefined;
  to?: Day | undefined;
}): Partial<DayRange> => ({
  ...(from === undefined ? {} : { from }),
  // No day follows the last one that four digits can write: it is no bound.
  ...(to === undefined || to === '9999-12-31' ? {} : { to: addDays(to, 1) }),
});
