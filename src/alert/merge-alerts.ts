// What becomes of the alerts on record when the conditions have been looked at again: which are new, which are over,
// which are told once more. Pure; the caller holds the rows locked.
import type { Instant } from '../model.ts';
import type { ProblemKind } from '../problems.ts';
import { isAlertNews, type AlertRow } from '../store/alerts/alert-rows.ts';

/** A problem in words. */
type Condition = { kind: ProblemKind; subject: string; text: string; isNews: boolean };

/** Problems that end in another one, of the same subject: their end is no recovery and is not told as one. */
const ends: Partial<Record<ProblemKind, readonly ProblemKind[]>> = {
  deadline_missed: ['deadline_at_risk', 'proof_fails'],
  day_lost: ['deadline_at_risk', 'deadline_missed', 'proof_fails'],
  day_unproved: ['deadline_at_risk', 'deadline_missed', 'proof_fails'],
  operation_lost: ['operation_at_risk'],
  parked: ['run_failed'],
};

export type AlertChanges = { put: AlertRow[]; drop: AlertRow[] };

/** An alert nobody took for so long has no listener. */
const forgottenAfterMs = 7 * 86_400_000;

const alertKey = ({ kind, subject }: { kind: string; subject: string }): string =>
  `${kind} ${subject}`;

/**
 * News (`resolvedAt` equal to `openedAt`) is told once, and again when its text has changed `againAfterMs` after it was
 * told. Everything else is open until its condition is gone, then over; the row goes when that was told too.
 */
export function mergeAlerts(
  rows: AlertRow[],
  conditions: Condition[],
  now: Instant,
  againAfterMs: number,
): AlertChanges {
  const put: AlertRow[] = [];
  const drop: AlertRow[] = [];
  const known = new Map(rows.map((row) => [alertKey(row), row]));
  const holding = new Set(conditions.map(alertKey));
  const ended = new Set(
    conditions.flatMap(({ kind, subject }) =>
      (ends[kind] ?? []).map((other) => alertKey({ kind: other, subject })),
    ),
  );
  for (const condition of conditions) {
    const row = known.get(alertKey(condition));
    const next =
      row === undefined ? opened(condition, now) : goesOn(row, condition, now, againAfterMs);
    if (next !== row) put.push(next);
  }
  for (const row of rows) {
    if (holding.has(alertKey(row))) continue;
    const next = ended.has(alertKey(row)) ? null : isGone(row, now);
    if (next === null) drop.push(row);
    else if (next !== row) put.push(next);
  }
  return { put, drop };
}

function opened({ kind, subject, text, isNews }: Condition, now: Instant): AlertRow {
  return {
    kind,
    subject,
    text,
    openedAt: now,
    toldAt: null,
    resolvedAt: isNews ? now : null,
    attempts: 0,
  };
}

function goesOn(row: AlertRow, condition: Condition, now: Instant, againAfterMs: number): AlertRow {
  const { text } = condition;
  if (!condition.isNews) {
    // Back before its end was told: to those who listen it never ended.
    return row.text === text && row.resolvedAt === null ? row : { ...row, text, resolvedAt: null };
  }
  if (row.text === text) return row;
  // More of it is new, also where nobody listens: a problem's level goes by when it was last news.
  if (Math.abs(now - (row.toldAt ?? row.openedAt)) >= againAfterMs) {
    return { ...opened(condition, now), attempts: row.toldAt === null ? row.attempts : 0 };
  }
  return row.toldAt === null ? { ...row, text } : row;
}

/** Null: nobody needs to hear of its end. */
function isGone(row: AlertRow, now: Instant): AlertRow | null {
  const wasPerhapsTold = row.toldAt !== null || row.attempts > 0;
  const isForgotten = now - (row.resolvedAt ?? row.openedAt) > forgottenAfterMs;
  if (isAlertNews(row)) return row.toldAt !== null || isForgotten ? null : row;
  if (!wasPerhapsTold) return null;
  if (row.resolvedAt !== null) return isForgotten ? null : row;
  return { ...row, resolvedAt: Math.max(now, row.openedAt + 1) };
}
