// Arithmetic of UTC days and of the window, and the lengths of time. Pure: it knows no clock. Days and months of another
// zone, for figures: `analytics.local_day` (query/statistics.ts).
import type { Day, DayRange, Instant } from './model.ts';

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

const dayPattern = /^\d{4}-\d{2}-\d{2}$/;

/** The UTC day an instant falls on. */
export function dayOf(at: Instant): Day {
  return new Date(at).toISOString().slice(0, 10);
}

/** The instant at which a day begins, 00:00:00 UTC. */
export function startOf(day: Day): Instant {
  return Date.parse(`${day}T00:00:00Z`);
}

export function addDays(day: Day, days: number): Day {
  return dayOf(startOf(day) + days * dayMs);
}

/** The days of `[from, to)` in order. */
export function daysIn(range: DayRange): Day[] {
  const days: Day[] = [];
  for (let day = range.from; day < range.to; day = addDays(day, 1)) days.push(day);
  return days;
}

/** True for text that is a real calendar day: `2026-02-29` is not one. */
export function isDay(text: string): boolean {
  return dayPattern.test(text) && !Number.isNaN(startOf(text)) && dayOf(startOf(text)) === text;
}

/** The first day of the month that lies `months` after the one of `day`. */
export function monthStart(day: Day, months = 0): Day {
  const year = Number(day.slice(0, 4));
  const month = Number(day.slice(5, 7)) - 1 + months;
  return new Date(Date.UTC(year, month, 1)).toISOString().slice(0, 10);
}

/** The last day of the month of `day`. */
export const monthEnd = (day: Day): Day => addDays(monthStart(day, 1), -1);

/** Days, in whatever order, as the fewest ranges that have them all. */
export function rangesOf(days: Iterable<Day>): DayRange[] {
  const ranges: DayRange[] = [];
  for (const day of [...days].toSorted()) {
    const last = ranges.at(-1);
    if (last !== undefined && last.to >= day) last.to = addDays(day, 1);
    else ranges.push({ from: day, to: addDays(day, 1) });
  }
  return ranges;
}

/** The window at an instant: the current and the previous calendar month (UTC), up to the end of today. */
export function windowAt(at: Instant): DayRange {
  const today = dayOf(at);
  return { from: monthStart(today, -1), to: addDays(today, 1) };
}

/** When the month of `day` leaves the window: two months after its first day. Its deadline: sync/enter-days.ts. */
export function cliffOf(day: Day): Instant {
  return startOf(monthStart(day, 2));
}
