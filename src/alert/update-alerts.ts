// Looks at one project: reports what this process knows, reads what is wrong (analytics.problems), and says what becomes
// of the alerts on record. One transaction, so that replicas look one after the other.
import type { Log } from '../log.ts';
import type { ClockDisagreement, Instant, ProjectId } from '../model.ts';
import { problemText, type ProblemKind } from '../problems.ts';
import {
  dropAlerts,
  isAlertOver,
  lockAlerts,
  putAlerts,
  readAlertRows,
} from '../store/alerts/alert-rows.ts';
import {
  noteClock,
  readProblems,
  reportProblems,
  type Problem,
  type ProblemReport,
} from '../store/alerts/problem-rows.ts';
import { withTx, type Db } from '../store/db.ts';
import type { FileTrouble } from '../sync/worker.ts';
import { mergeAlerts, type AlertChanges } from './merge-alerts.ts';

/** What this process knows beyond the store. */
export type ProcessState = {
  now: Instant;
  /** The ticks of its schedule do not come. */
  isOverdue: boolean;
  /** Runs of this process in a row that did not do all that was due. */
  failedInARow: number;
  /** The name of the machine it runs on. */
  machine: string;
  /** Clocks that are more than five minutes apart, and for how long; null: they agree, or nobody asks here. */
  clocks: (ClockDisagreement & { forMs: number }) | null;
  /** What keeps its files from being written; null: no run of this process has come to them yet. */
  files: readonly FileTrouble[] | null;
  /** How the last export on schedule ended; null: this process knows nothing of it. */
  exportEnd: ExportEnd | null;
};

export type ExportEnd =
  /** `late`: none has ended for a day longer than the schedule says. */
  | { trouble: 'failed' | 'late' | null }
  /** When it was due nobody made it, and it was made up. */
  | { trouble: 'missed'; dueAt: Instant };

/** So many failed runs in a row are no accident. */
const runsInARow = 3;
/** Clocks are set right, and machines wake up: what has lasted so long needs a person. */
const clockPatienceMs = 60 * 60_000;

/** What the tables do not say. Pure. */
export function reportsOf(watch: ProcessState): ProblemReport[] {
  const { clocks, machine, exportEnd, files, failedInARow } = watch;
  const report = (
    kind: ProblemReport['kind'],
    subject: string,
    numbers: ProblemReport['numbers'],
  ): ProblemReport => ({
    kind,
    subject,
    numbers,
    until: null,
  });
  const found = (files ?? []).map(({ kind, text }) => report(kind, '', { text }));
  if (clocks !== null && clocks.forMs >= clockPatienceMs) {
    found.push(report('clock_disagrees', machine, { clock: clocks.of, byMs: clocks.byMs }));
  }
  if (exportEnd !== null && exportEnd.trouble !== null) {
    const dueAt =
      exportEnd.trouble === 'missed' ? { dueAt: new Date(exportEnd.dueAt).toISOString() } : {};
    found.push(report('export_failed', '', { trouble: exportEnd.trouble, ...dueAt }));
  }
  if (watch.isOverdue) found.push(report('run_failed', '', { trouble: 'overdue' }));
  else if (failedInARow >= runsInARow) {
    found.push(report('run_failed', '', { trouble: 'never', runs: failedInARow }));
  }
  return found;
}

/** Another replica, or this process before it was restarted, may know what it does not. */
export const unknownTo = ({ exportEnd, files }: ProcessState): ProblemKind[] => [
  ...(exportEnd === null ? (['export_failed'] as const) : []),
  ...(files === null ? (['archive_altered', 'files_unwritten'] as const) : []),
];

type Looked = {
  problems: Problem[];
  /** Some alert was offered to the webhook in vain, or is being told at this moment. */
  isUntold: boolean;
};

/**
 * Enters what is new, marks what is over, and logs both. `risks` come from the forecast. Throws what the database does.
 */
export async function updateAlerts(
  db: Db,
  projectId: ProjectId,
  watch: ProcessState,
  risks: readonly ProblemReport[],
  againAfterMs: number,
  log: Log,
): Promise<Looked> {
  const { now } = watch;
  const looked = await withTx(db, async (tx) => {
    await lockAlerts(tx, projectId);
    await noteClock(tx, projectId, now);
    const reports = [...risks, ...reportsOf(watch)];
    await reportProblems(tx, projectId, now, reports, watch.machine, unknownTo(watch));
    const rows = await readAlertRows(tx, projectId);
    const problems = await readProblems(tx, projectId);
    const told = problems.map((one) => ({ ...one, text: problemText(one) }));
    const changes = mergeAlerts(rows, told, now, againAfterMs);
    await putAlerts(tx, projectId, changes.put);
    await dropAlerts(tx, projectId, changes.drop);
    const isUntold = rows.some((row) => row.attempts > 0 && !changes.drop.includes(row));
    return { problems, changes, isUntold };
  });
  logChanges(projectId, looked.changes, now, log);
  return looked;
}

/** So many changes are logged one by one; with many owners a platform that is down is hundreds. */
const loggedAtMost = 10;

/** Whoever has no webhook has a log. */
function logChanges(projectId: ProjectId, { put }: AlertChanges, now: number, log: Log): void {
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
