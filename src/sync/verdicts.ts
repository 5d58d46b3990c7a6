// Where verdicts are computed and written into the ledger: in the transaction that ends a reading, gives one up, writes
// books or commits news, one after another in a project (P8). A day's state changes in no other way.
import { addDays, cliffOf, startOf } from '../day.ts';
import { orderStatuses, type AskedStatus, type Clocks, type DayRange } from '../model.ts';
import type { PlatformClock } from '../platform/platform.ts';
import type { Tx } from '../store/db.ts';
import { readEvidence, type Evidence } from '../store/evidence.ts';
import {
  changeSlice,
  noDeadline,
  slicesDue,
  type ListName,
  type Slice,
  type SliceChanges,
} from '../store/ledger.ts';
import { freezeMs, overAfterMs } from './due-times.ts';
import { judge, type Verdict } from './judge.ts';
import { statusWords } from './reconcile.ts';

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

/**
 * What is walked after the list: each status, unless the newest books saw that the list leaves none out. It may leave
 * out a status of which they counted none, and an order may have come to that since.
 */
export function statusesToAsk(
  { resource }: Pick<Slice, 'resource'>,
  { books, pending, readings }: Pick<Evidence, 'books' | 'pending' | 'readings'>,
): AskedStatus[] {
  const mayHave = (i: number): boolean => pending > 0 || (readings.at(-1)?.byStatus?.[i] ?? 0) > 0;
  const mayLeaveOut = [0, 1, 2].some((i) => books?.byStatus?.[i] === 0 && mayHave(i));
  if (resource !== 'orders' || (books?.readBy === 'list' && !mayLeaveOut)) return [];
  return [...(books?.inWords === true ? statusWords : orderStatuses)];
}

/** When the days of a slice have been over for long enough. */
export const overAt = ({ day }: Pick<Slice, 'day'>): number =>
  startOf(addDays(day, 1)) + overAfterMs;

/** When the month of a slice goes; Infinity for days that were asked for after they had left the window. */
const goesAt = ({ day, deadlineAt }: Pick<Slice, 'day' | 'deadlineAt'>): number =>
  deadlineAt >= noDeadline ? Infinity : cliffOf(day);

/** Whether it may be going by some clock: then readings only add. */
export const isGoing = (
  slice: Pick<Slice, 'day' | 'deadlineAt'>,
  { latest }: Pick<Clocks, 'latest'>,
): boolean => latest >= goesAt(slice) - freezeMs;

/** Whether it has gone by some clock. */
export const hasGone = (
  slice: Pick<Slice, 'day' | 'deadlineAt'>,
  { latest }: Pick<Clocks, 'latest'>,
): boolean => latest >= goesAt(slice);

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

/** Of a day that is not in the ledger. */
export const noEvidence: Evidence = {
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

/** What the end of a walk leaves in the ledger. */
export const walkEnded = { attempts: 0, lastError: null, checkpoint: null } as const;

/** Judges a slice, and writes the verdict together with what the turn changed. */
export async function conclude(
  tx: Tx,
  slice: Slice,
  clocks: Clocks,
  act: SliceChanges,
): Promise<Verdict> {
  return writeVerdict(tx, slice, await evidenceOf(tx, slice, clocks), clocks, act);
}

/** Judges the days of a list anew that were read, those that are being read included; all others are due anyway. */
export async function rejudge(
  tx: Tx,
  list: ListName,
  days: DayRange,
  clocks: Clocks,
): Promise<void> {
  const evidence = await readEvidence(tx, list, days, clocks);
  for (const slice of await slicesDue(tx, list, days)) {
    const of = evidence.get(slice.day) ?? noEvidence;
    if (of.readings.length > 0) await writeVerdict(tx, slice, of, clocks, {});
  }
}

/** The one place where a day's state changes. What is not changed is not written. */
async function writeVerdict(
  tx: Tx,
  slice: Slice,
  evidence: Evidence,
  clocks: Clocks,
  act: SliceChanges,
): Promise<Verdict> {
  const verdict = verdictOf(slice, evidence, clocks);
  const { state, proof, why, provedAt, next } = verdict;
  const isDecided = next.at === Infinity;
  // What failed waits its turn.
  const notBefore = slice.attempts > 0 && act.attempts === undefined ? (slice.dueAt ?? 0) : 0;
  const dueAt = isDecided ? null : Math.max(notBefore, next.at);
  // Of a day that has left the window stands what was said then.
  const isSaid = isDecided && state === slice.state;
  const said = {
    state,
    proof,
    why,
    provedAt: provedAt ?? slice.provedAt,
    unresolved: evidence.pending,
  };
  const changes = { ...(isSaid ? {} : said), dueAt, ...act };
  const before = new Map<string, unknown>(Object.entries(slice));
  const isSame = Object.entries(changes).every(([name, value]) => before.get(name) === value);
  if (!isSame) await changeSlice(tx, slice, changes);
  return verdict;
}
