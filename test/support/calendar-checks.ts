// What must hold at every step of a life with the policy, and at its end. See calendar.ts.
import { addDays, cliffOf, dayOf, daysIn, startOf } from '../../src/day.ts';
import type { Day, Instant } from '../../src/model.ts';
import type { Slice } from '../../src/store/ledger.ts';
import { closingOf, type Action, type PolicySettings } from '../../src/sync/policy.ts';
import type { Lived } from './calendar.ts';

const hourMs = 3_600_000;
const standard: PolicySettings = { deadlineMarginMs: 24 * hourMs, refreshMs: 6 * hourMs };

/** The rules of every step. */
export function check(
  before: Slice,
  after: Slice,
  action: Action,
  at: Instant,
  now: Instant,
): void {
  const { day } = after;
  const broken = (rule: string): never => {
    throw new Error(
      `${day} at ${new Date(at).toISOString()}: ${action} makes ${after.state}: ${rule}`,
    );
  };
  const isEnded = after.state === 'final' || after.state === 'lost';
  // P7: by the platform's own Date, 12 h after the month's end.
  if (isEnded && at < cliffOf(day) + 12 * hourMs) broken('decided before its month has gone');
  if (isEnded !== (after.dueAt === null)) broken('due for ever, or never');
  if (after.dueAt !== null && after.dueAt <= now) broken('due again at once, for ever');
  const wasRead = before.state === 'walked' || before.state === 'sealed';
  if (after.state === 'lost' && wasRead) broken('read to its end, and lost');
  if (after.state === 'final' && before.state === 'open')
    broken('never read after it was over, and final');
  if (after.state === 'sealed' && (after.unresolved > 0 || after.proof === 'none'))
    broken('sealed without proof');
  if (after.state === 'sealed' && now < startOf(addDays(day, 1)) + hourMs / 4)
    broken('sealed before it was over');
}

/** Days that were not read once more in the closing of their month, though the worker ran through all of it. */
export function unclosed({ slices }: Lived, settings = standard): Day[] {
  return [...slices.values()]
    .filter(
      ({ state, day, walkedAt }) => state === 'final' && (walkedAt ?? 0) < closingOf(day, settings),
    )
    .map(({ day }) => day);
}

/** How many slices are in each state, by month. */
export function monthsOf({ slices }: Lived): Record<string, Record<string, number>> {
  const months: Record<string, Record<string, number>> = {};
  for (const { day, state } of slices.values()) {
    const month = (months[day.slice(0, 7)] ??= {});
    month[state] = (month[state] ?? 0) + 1;
  }
  return months;
}

/** Days between the first one accounted for and `to` that are not in the ledger (P7). */
export function unaccounted({ slices }: Lived, to: Instant): Day[] {
  const first = [...slices.keys()].toSorted()[0] ?? dayOf(to);
  return daysIn({ from: first, to: addDays(dayOf(to - 1), 1) }).filter((day) => !slices.has(day));
}
