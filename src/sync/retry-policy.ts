// When what failed is tried again. What is due of a day is `judge`'s to say (judge.ts). Pure.
import { cliffOf } from '../day.ts';
import { wholeList, type Instant } from '../model.ts';
import type { Slice } from '../store/ledger.ts';
import { freezeMs } from './judge.ts';

export type PolicySettings = {
  /** The deadline of a day is so long before its cliff. It orders the work and never stops it. */
  deadlineMarginMs: number;
  /** How often lists without dates are walked: nft_count and owner of classes change without a trace in the date. */
  refreshMs: number;
};

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** Pending orders of today are looked for this often. */
export const settleMs = 15 * minuteMs;
/** Stands for "no deadline": of days asked for after they had left the window, and of lists without dates. */
export const noDeadline: Instant = Date.parse('9999-12-31T00:00:00Z');

/** Whether what is not shown of a day says anything: its month may be going otherwise. */
export const mayMarkMissing = (day: string, at: Instant): boolean =>
  day === wholeList || at < cliffOf(day) - freezeMs;

/** When a slice is due again that came to nothing: later each time. */
export function afterFailure(
  slice: Pick<Slice, 'attempts'>,
  askedAt: Instant,
): { attempts: number; dueAt: Instant } {
  const attempts = slice.attempts + 1;
  return { attempts, dueAt: askedAt + retryDelayMs(attempts) };
}

/** A minute, doubling to an hour: a slice that does not work out leaves room for the others. */
export const retryDelayMs = (attempts: number): number =>
  Math.min(hourMs, minuteMs * 2 ** (attempts - 1));
