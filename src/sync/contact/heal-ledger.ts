// Heals what was concluded by a wrong clock: days entered too early are taken back, what was read in a future that did
// not come is read again, and a day that is final or lost although the platform still answers for it is reopened.
import { addDays, dayOf, windowAt } from '../../day.ts';
import type { Log } from '../../log.ts';
import { listedResources, type Instant, type ProjectId } from '../../model.ts';
import type { Platform } from '../../platform/platform.ts';
import { withTx, type Db } from '../../store/db.ts';
import type { Facts } from '../../store/facts.ts';
import { reopenDays, takeBackFutureDays, voidFutureActs } from '../../store/reopenings.ts';
import { aheadMsOf } from '../day-zone.ts';
import { answersOlder } from '../list-rules.ts';
import { decidedAfterMs, noDeadline } from '../policy.ts';

type Healing = {
  db: Db;
  projectId: ProjectId;
  platform: Pick<Platform, 'clock'>;
  log: Log;
};

/** Estimates of one moment differ by less. */
const slackMs = 3_600_000;

/**
 * Rests on the latest of what the witnesses show: only what lies in the window by all of them is reopened, and only
 * what is to come by all of them was read too early. Asks the platform nothing.
 */
export async function healLedger(healing: Healing, facts: Facts): Promise<void> {
  const { db, projectId, platform, log } = healing;
  const { clock } = platform;
  if (!clock.isSettled()) return;
  const possible = clock.possible();
  // Where the platform's days begin before UTC's, so does tomorrow.
  const aheadMs = Math.max(0, ...listedResources.map((resource) => aheadMsOf(facts, resource)));
  const tomorrow = addDays(dayOf(possible + slackMs + aheadMs), 1);
  const [taken, voided] = await withTx(db, async (tx) => [
    await takeBackFutureDays(tx, projectId, tomorrow),
    await voidFutureActs(tx, projectId, possible + slackMs),
  ]);
  if (taken + voided > 0) {
    log.warn(
      { projectId, taken, voided },
      'The clock had been ahead: what was entered or read too early is taken back',
    );
  }
  for (const resource of listedResources) {
    const oldest = facts.get(`${resource}.oldest_day`);
    const from = windowStart(possible);
    const window = { resource, from, to: tomorrow, reason: 'window' as const };
    await reopen(healing, window, possible, null);
    if (answersOlder(facts, resource) && oldest !== undefined && oldest < from) {
      const older = { resource, from: oldest, to: from, reason: 'answered' as const };
      await reopen(healing, older, possible, noDeadline);
    }
  }
}

/** The first day that nothing can have overtaken yet. */
const windowStart = (possible: Instant): string => windowAt(possible - decidedAfterMs).from;

async function reopen(
  { db, projectId, log, platform }: Healing,
  days: Parameters<typeof reopenDays>[2],
  possible: Instant,
  deadlineAt: Instant | null,
): Promise<void> {
  const at = Math.min(platform.clock.now(), possible);
  const reopened = await reopenDays(db, projectId, days, at, deadlineAt);
  if (reopened.length === 0) return;
  const { resource, reason } = days;
  const [first] = reopened.map(({ day }) => day).toSorted();
  log.warn(
    { projectId, resource, reason, days: reopened.length, first },
    'Days that were final or lost are open again: the platform still answers for them',
  );
}
