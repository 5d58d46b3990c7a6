// When what failed is tried again. What is due of a day is `judge`'s to say (judge.ts). Pure.
import { hourMs, minuteMs } from '../day.ts';

/** A minute, doubling to an hour: what does not work out leaves room for the others. */
export const retryDelayMs = (attempts: number, firstMs = minuteMs): number =>
  Math.min(hourMs, firstMs * 2 ** (attempts - 1));
