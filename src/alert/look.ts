// Looks at one project: what the store says of it, what conditions that makes, and what becomes of the alerts on
// record. One transaction, so that replicas look one after the other.
import type { Log } from '../log.ts';
import type { ProjectId } from '../model.ts';
import {
  dropAlerts,
  isAlertOver,
  lockAlerts,
  putAlerts,
  readAlertRows,
  type AlertRow,
} from '../store/alerts/alert-rows.ts';
import { readAlertInputs } from '../store/alerts/alert-inputs.ts';
import { withTx, type Db, type Queryable } from '../store/db.ts';
import { freezeMs } from '../sync/judge.ts';
import {
  conditionsOf,
  failingFrom,
  operationPatienceMs,
  runsInARow,
  warnedBeforeMs,
  type Condition,
  type ProcessState,
} from './conditions.ts';
import { mergeAlerts, type Changes } from './merge.ts';

/** News of changed facts is no news after a week. */
const changedWithinMs = 7 * 86_400_000;

export type Looked = {
  conditions: Condition[];
  /** Some alert was offered to the webhook in vain, or is being told at this moment. */
  isUntold: boolean;
};

/**
 * Enters what is new, marks what is over, and logs both. `risks` come from the forecast. Throws what the database does.
 */
export async function look(
  db: Db,
  projectId: ProjectId,
  watch: ProcessState,
  risks: Condition[],
  againAfterMs: number,
  log: Log,
): Promise<Looked> {
  const { now } = watch;
  const looked = await withTx(db, async (tx) => {
    await lockAlerts(tx, projectId);
    const rows = await readAlertRows(tx, projectId);
    const conditions = await readConditions(tx, projectId, watch, risks);
    // Another replica, or this one before it was restarted, may know what this process does not: it stays as it is.
    conditions.push(...rows.filter((row): row is typeof row & Condition => isOthers(row, watch)));
    const changes = mergeAlerts(rows, conditions, now, againAfterMs);
    await putAlerts(tx, projectId, changes.put);
    await dropAlerts(tx, projectId, changes.drop);
    const isUntold = rows.some((row) => row.attempts > 0 && !changes.drop.includes(row));
    return { conditions, changes, isUntold };
  });
  logChanges(projectId, looked.changes, now, log);
  return looked;
}

/** The clock of another machine is told of for a day, however seldom that machine looks; it may be there no more. */
const clockToldForMs = 25 * 3_600_000;

const isOthers = (
  { kind, subject, resolvedAt, openedAt }: AlertRow,
  { exportEnd, machine, now }: ProcessState,
): boolean =>
  resolvedAt === null &&
  ((kind === 'export_failed' && exportEnd === null) ||
    (kind === 'clock_disagrees' && subject !== machine && now - openedAt < clockToldForMs));

/** What there is to be heard of now, whether or not it was told. Reads only. */
export async function readConditions(
  db: Queryable,
  projectId: ProjectId,
  watch: ProcessState,
  risks: Condition[],
): Promise<Condition[]> {
  const { now } = watch;
  const inputs = await readAlertInputs(db, {
    projectId,
    now,
    failingFrom,
    frozenBy: now + freezeMs,
    changedSince: now - changedWithinMs,
    runs: runsInARow,
    operations: { deadlineBy: now + warnedBeforeMs, givenBy: now - operationPatienceMs },
  });
  return withoutTwins([...risks, ...conditionsOf(inputs, watch)]);
}

/** A month may be at risk for two reasons: the first one is told. */
function withoutTwins(conditions: Condition[]): Condition[] {
  const byName = new Map<string, Condition>();
  for (const one of conditions) {
    const name = `${one.kind} ${one.subject}`;
    if (!byName.has(name)) byName.set(name, one);
  }
  return [...byName.values()];
}

/** So many changes are logged one by one; with many owners a platform that is down is hundreds. */
const loggedAtMost = 10;

/** Whoever has no webhook has a log. */
function logChanges(projectId: ProjectId, { put }: Changes, now: number, log: Log): void {
  const over = put.filter(isAlertOver);
  const raised = put.filter((alert) => !isAlertOver(alert) && alert.openedAt === now);
  for (const { kind, text } of over.slice(0, loggedAtMost)) {
    log.info({ projectId, kind, alert: text }, 'An alert is over');
  }
  for (const { kind, text } of raised.slice(0, loggedAtMost)) {
    log.warn({ projectId, kind, alert: text }, 'An alert was raised');
  }
  const more = Math.max(over.length, raised.length) - loggedAtMost;
  if (more > 0) log.warn({ projectId, more }, 'More alerts than these have changed');
}
