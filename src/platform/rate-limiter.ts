// The rate limit of a project (P11): one token bucket, in the memory of whoever holds the project. A silence that the
// platform asks for is kept for the next process as well.
import { setTimeout as sleep } from 'node:timers/promises';
import { transient } from '../errors.ts';
import { maxPatienceMs } from './client.ts';
import type { Limiter } from './platform.ts';

/** What the next process is to know of a project's rate: store/projects.ts. */
type KeptRate = {
  /** Takes down the rate in requests a second; how long the platform still wants quiet, milliseconds. */
  note(perSecond: number): Promise<number>;
  pause(forMs: number): Promise<void>;
};

/** The bucket holds half a second's worth of requests, at least one. */
export function createLimiter(
  kept: KeptRate,
  perSecond: number,
  monotonicNow: () => number = () => performance.now(),
): Limiter {
  const most = Math.max(1, perSecond / 2);
  let tokens = most;
  let filledAt = monotonicNow();
  let quietUntil = -Infinity;
  let opening: Promise<void> | null = null;

  const open = async (): Promise<void> => {
    const quietMs = await kept.note(perSecond);
    if (quietMs > 0) quietUntil = monotonicNow() + quietMs;
  };

  /** Takes a permit; else returns how long there is none, in milliseconds. */
  const take = (): number => {
    const now = monotonicNow();
    if (now < quietUntil) return quietUntil - now;
    tokens = Math.min(most, tokens + ((now - filledAt) * perSecond) / 1000);
    filledAt = now;
    if (tokens < 1) return ((1 - tokens) * 1000) / perSecond;
    tokens -= 1;
    return 0;
  };

  return {
    async permit(signal) {
      // Where it fails, the next one tries again.
      await (opening ??= open().catch((error: unknown) => {
        opening = null;
        throw error;
      }));
      // Ends: the bucket fills at `perSecond`, and a pause is finite.
      for (;;) {
        if (signal?.aborted === true) throw transient('aborted', 'The work was stopped');
        const waitMs = take();
        if (waitMs === 0) return;
        if (waitMs > maxPatienceMs) {
          throw transient(
            'platform_unavailable',
            `the platform asked for quiet for another ${Math.ceil(waitMs / 1000)} s (Retry-After)`,
          );
        }
        await sleep(Math.max(1, waitMs), undefined, signal ? { signal } : {}).catch(() => {
          throw transient('aborted', 'The work was stopped');
        });
      }
    },
    async pause(forMs) {
      tokens = 0;
      quietUntil = Math.max(quietUntil, monotonicNow() + forMs);
      await kept.pause(forMs);
    },
  };
}
