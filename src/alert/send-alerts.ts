// Tells what is to be told: claims it, sends one message, notes what became of it. The network lies between two
// statements and in no transaction. A process that dies in between leaves the alerts to be told again: at least once.
import type { Log } from '../log.ts';
import type { Instant, ProjectId } from '../model.ts';
import { claimAlerts, noteTold, noteUntold, type Claimed } from '../store/alerts/claims.ts';
import type { Db } from '../store/db.ts';
import { newestHeads } from '../store/journal/heads.ts';
import { deliver } from './deliver.ts';
import { bodyOf } from './message.ts';
import type { AlertFormat } from './receivers.ts';

export type Webhook = { url: string; format: AlertFormat; secret: string | null };

/** What is over is told after so long: it may be back at once. */
const calmMs = 5 * 60_000;
/** Well over what a delivery and its note may take. */
const claimMs = 60_000;
/** After the first failure a try at the next tick, after the second minutes later, then hourly: never in a loop. */
const restMs = (attempts: number): number => [45_000, 5 * 60_000][attempts - 1] ?? 3_600_000;

export type ProjectToTell = { projectId: ProjectId; now: Instant };

/** True: nothing is left untold by this call. One request at most, however many projects. */
export async function tell(
  db: Db,
  webhook: Webhook,
  projects: ProjectToTell[],
  reminderMs: number,
  signal: AbortSignal,
  log: Log,
): Promise<boolean> {
  const claimed: { project: ProjectToTell; alerts: Claimed[] }[] = [];
  for (const project of projects) {
    const alerts = await claimAlerts(db, { ...project, reminderMs, calmMs, claimMs });
    if (alerts.length > 0) claimed.push({ project, alerts });
  }
  const all = claimed.flatMap(({ alerts }) => alerts);
  if (all.length === 0) return true;
  const heads = await newestHeads(
    db,
    claimed.map(({ project }) => project.projectId),
  );
  const body = bodyOf(all, webhook.format, heads);
  const problem = await deliver({ ...webhook, body, signal });
  for (const { project, alerts } of claimed) {
    if (problem === null) await noteTold(db, project.projectId, alerts, project.now);
    else await noteUntold(db, project.projectId, alerts, restMs);
  }
  const fields = { alerts: all.length };
  if (problem === null) log.info(fields, 'The webhook took the alerts');
  else
    log.warn(
      { ...fields, problem },
      'The webhook did not take the alerts; they wait for another try',
    );
  return problem === null;
}
