// When a day is read and read again: the times of the rule of proof, which judge.ts applies, and of whatever failed. Set
// elsewhere: the ticks and how often all classes are read (OUTLAST_SCHEDULE, OUTLAST_REFRESH_HOURS: settings/table.ts).
import { hourMs, minuteMs } from '../day.ts';

/** A day is over so long after its end: its last records may be on their way. */
export const overAfterMs = 15 * minuteMs;
/** Two readings prove each other so far apart: records become visible up to two hours late. */
export const apartMs = 2 * hourMs;
/** So long before a month goes some zone (UTC+14) has let go of it already: readings only add. */
export const freezeMs = 14 * hourMs;
/** So long after it no zone (UTC-12) shows it any more. */
export const decidedAfterMs = 12 * hourMs;
/** Then a day that was read is read so often: it can only gain what came late. */
export const inFreezeMs = 4 * hourMs;
/** What is not proved is read again after so long, doubling to a day; books that count more are asked for so again. */
export const retryMs = 15 * minuteMs;
/** Today's orders are read again this often while some of them are pending. */
export const settleMs = 15 * minuteMs;
/** A clock is corrected by seconds between two readings: the second one is not to come a moment too early. */
export const slackMs = 30_000;
/** When what failed is tried again: a minute, doubling to an hour. What does not work out leaves room for the others. */
export const retryDelayMs = (attempts: number, firstMs = minuteMs): number =>
  Math.min(hourMs, firstMs * 2 ** (attempts - 1));
