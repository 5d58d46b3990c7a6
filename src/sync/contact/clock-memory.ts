// What is believed of the platform's clock, kept over restarts: an earlier belief helps a first answer to be believed,
// and for how long clocks have disagreed outlives the process that noticed it.
import type { ProjectId } from '../../model.ts';
import type { Platform } from '../../platform/platform.ts';
import { noteClock, platformNowOf } from '../../store/clocks.ts';
import type { Db } from '../../store/db.ts';

type Timed = { db: Db; projectId: ProjectId; platform: Pick<Platform, 'clock'> };

/** What is certainly past as far as `lost` and `final` go: nothing before the platform itself has told the time. */
export const certainlyPast = ({ clock }: Pick<Platform, 'clock'>): number =>
  clock.lastDate() === null ? 0 : clock.certain();

/** Before the first answer: what an earlier process believed. It counts only if an answer confirms it. */
export async function recallTime({ db, projectId, platform }: Timed): Promise<void> {
  const platformNow = await platformNowOf(db, projectId);
  if (platformNow !== null) platform.clock.recall(platformNow);
}

/** Notes what is believed by now, and who contradicts it; `holder` begins with the machine's name. */
export async function noteTime({
  db,
  projectId,
  platform: { clock },
  holder,
}: Timed & { holder: string }): Promise<void> {
  const offMs = clock.offsetMs();
  if (offMs === null) return;
  const machine = holder.split(':')[0] ?? holder;
  await noteClock(db, projectId, {
    machine,
    platformNow: clock.now(),
    machineBehindMs: offMs,
    disagreement: clock.disagreement(),
  });
}
