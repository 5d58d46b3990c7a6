// Where verdicts are computed and written into the ledger: in the transaction that ends a reading, gives one up, writes
// books or commits news, one after another in a project (P8). A day's state changes in no other way.
import { addDays, cliffOf, startOf } from '../day.ts';
import type { AskedStatus, Clocks, DayRange } from '../model.ts';
import type { PlatformClock } from '../platform/platform.ts';
import type { Tx } from '../store/db.ts';
import { readEvidence, type Evidence } from '../store/evidence.ts';
import { finishSlice, noDeadline, slicesDue, type Finished, type Slice } from '../store/ledger.ts';
import { judge, overAfterMs, type Verdict } from './judge.ts';

/** What the clocks show now. */
export function clocksOf(clock: PlatformClock): Clocks {
  const now = clock.now();
  return {
    now,
    machine: now - (clock.offsetMs() ?? 0),
    earliest: clock.earliest(),
    latest: clock.latest(),
  };
}

/** What is walked after the list: each status, unless the newest books saw that the list leaves none out. */
export function statusesToAsk({ resource }: Slice, { books }: Evidence): AskedStatus[] {
  if (resource !== 'orders' || books?.asks === 'list') return [];
  return books?.inWords === true ? ['pending', 'success', 'failed'] : [1, 2, 3];
}

/** When the days of a slice have been over for long enough. */
export const overAt = ({ day }: Pick<Slice, 'day'>): number =>
  startOf(addDays(day, 1)) + overAfterMs;

/** When the month of a slice goes; Infinity for days that were asked for after they had left the window. */
export const goesAt = ({ day, deadlineAt }: Pick<Slice, 'day' | 'deadlineAt'>): number =>
  deadlineAt >= noDeadline ? Infinity : cliffOf(day);

/** What the evidence says of a day. What is final, or lost, stays so. */
export function verdictOf(slice: Slice, evidence: Evidence, clocks: Clocks): Verdict {
  const { readings, books, ...day } = evidence;
  const verdict = judge(
    { ...day, overAt: overAt(slice), goesAt: goesAt(slice) },
    readings,
    books,
    clocks,
  );
  if (slice.state !== 'final' && slice.state !== 'lost') return verdict;
  return { ...verdict, state: slice.state, next: { ...verdict.next, at: Infinity } };
}

const noEvidence: Evidence = {
  newsNo: 0,
  pending: 0,
  isHolding: false,
  readings: [],
  books: null,
};

export async function evidenceOf(
  db: Parameters<typeof readEvidence>[0],
  slice: Slice,
  clocks: Clocks,
): Promise<Evidence> {
  const days = { from: slice.day, to: addDays(slice.day, 1) };
  return (await readEvidence(db, slice, days, clocks)).get(slice.day) ?? noEvidence;
}

/** Judges a slice and writes what comes of it. */
export async function conclude(
  tx: Tx,
  slice: Slice,
  clocks: Clocks,
  changes: Partial<Finished> = {},
): Promise<Verdict> {
  const evidence = await evidenceOf(tx, slice, clocks);
  const verdict = verdictOf(slice, evidence, clocks);
  await finishSlice(tx, slice, {
    attempts: 0,
    lastError: null,
    over: true,
    ...written(slice, evidence, verdict),
    ...changes,
  });
  return verdict;
}

function written(
  slice: Slice,
  { pending }: Evidence,
  { state, proof, why, provedAt, next }: Verdict,
): Partial<Finished> {
  const isDecided = next.at === Infinity;
  // Of a day that has left the window stands what was said then.
  if (isDecided && state === slice.state) return { dueAt: null };
  return {
    state,
    proof,
    why,
    provedAt: provedAt ?? slice.provedAt,
    unresolved: pending,
    dueAt: isDecided ? null : next.at,
  };
}

/** Judges the days of a list anew, those that are being read included; what has not changed is not written. */
export async function rejudge(
  tx: Tx,
  list: Pick<Slice, 'projectId' | 'resource' | 'owner'>,
  days: DayRange,
  clocks: Clocks,
): Promise<void> {
  const slices = await slicesDue(tx, list, days);
  const evidence = await readEvidence(tx, list, days, clocks);
  for (const slice of slices) {
    const of = evidence.get(slice.day) ?? noEvidence;
    const verdict = verdictOf(slice, of, clocks);
    const changes = written(slice, of, verdict);
    // What failed waits its turn.
    const dueAt =
      slice.attempts > 0 && changes.dueAt !== null
        ? Math.max(slice.dueAt ?? 0, changes.dueAt ?? 0)
        : (changes.dueAt ?? null);
    const isSame =
      changes.state === slice.state &&
      changes.proof === slice.proof &&
      changes.why === slice.why &&
      dueAt === slice.dueAt;
    if (!isSame) await finishSlice(tx, slice, { ...changes, dueAt });
  }
}
