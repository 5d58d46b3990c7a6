// The rate limit of a project inside this process: hands out permits from grants that the database gives, so that all
// replicas together keep to one limit (P11).
import { setTimeout as sleep } from 'node:timers/promises';
import { transient } from '../../errors.ts';
import type { ProjectId } from '../../model.ts';
import type { Limiter } from '../../platform/platform.ts';
import { maxPatienceMs } from '../../platform/retry.ts';
import type { Db } from '../../store/db.ts';
import { grantLivesMs, pauseRate, takeGrant } from '../../store/rate.ts';

export function createLimiter(
  db: Db,
  projectId: ProjectId,
  perSecond: number,
  monotonicNow: () => number = () => performance.now(),
): Limiter {
  let left = 0;
  let grantedAt = -Infinity;
  /** One grant is taken at a time; the others wait for it. */
  let taking: Promise<number> | null = null;

  const takeOne = (): boolean => {
    if (left < 1 || monotonicNow() - grantedAt > grantLivesMs) return false;
    left -= 1;
    return true;
  };

  const take = async (): Promise<number> => {
    const grant = await takeGrant(db, projectId, perSecond);
    left = grant.granted;
    grantedAt = monotonicNow();
    if (grant.pausedMs > maxPatienceMs) {
      throw transient(
        'platform_unavailable',
        `the platform asked for quiet for another ${Math.ceil(grant.pausedMs / 1000)} s (Retry-After)`,
      );
    }
    return grant.granted > 0 ? 0 : Math.max(5, grant.waitMs);
  };

  return {
    async permit(signal) {
      // Ends: the bucket refills at `perSecond`, and a pause is finite.
      for (;;) {
        if (signal?.aborted === true) throw transient('aborted', 'The work was stopped');
        if (takeOne()) return;
        taking ??= take().finally(() => {
          taking = null;
        });
        const waitMs = await taking;
        if (waitMs > 0) {
          await sleep(Math.min(waitMs, maxPatienceMs), undefined, signal ? { signal } : {}).catch(
            () => {
              throw transient('aborted', 'The work was stopped');
            },
          );
        }
      }
    },
    async pause(forMs) {
      left = 0;
      await pauseRate(db, projectId, forMs);
    },
  };
}
