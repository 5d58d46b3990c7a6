// What a walk that was read to its end comes to: what it proves, what it misses, and what is written of it in one
// transaction with the ledger.
import { startOf, windowAt } from '../../day.ts';
import { transient } from '../../errors.ts';
import { wholeList, type Proof, type Span } from '../../model.ts';
import { heedShown, reopenOthers } from '../../store/contested.ts';
import { withTx } from '../../store/db.ts';
import { recordFacts } from '../../store/facts.ts';
import { finishSlice, type Finished, type Slice } from '../../store/ledger.ts';
import {
  countMissing,
  markMissing,
  oldestShown,
  showsOwnDays,
  showTheSame,
  type Walks,
} from '../../store/missing.ts';
import { countPending, dropOtherPages, rememberedPage } from '../../store/pages.ts';
import { writeRecords } from '../../store/records.ts';
import { compareWithWalk } from '../../store/walk-ends.ts';
import { decidedAfterMs } from '../judge.ts';
import { dayEndOf, ignoresDates } from '../list-rules.ts';
import {
  afterAct,
  afterFailure,
  betweenWalksMs,
  isOver,
  missingBlocksMs,
  type RetryDelays,
} from '../policy.ts';
import { findMoved } from './absent-records.ts';
import { isEmptyInDoubt, type Act, type ActContext, type Acted } from './conclude.ts';
import type { ProofVerdict } from './proof.ts';

export type Whole = ProofVerdict & {
  why: string;
  nextKeyForm: string | null;
  distinct: number;
  /** How many of them the list showed without being asked by status; only where it leaves orders out. */
  listed?: number;
  totalAfter: number | null;
  order: 'asc' | 'desc';
  /** Whether what was not shown counts: around the cliff it says nothing (proof rule 5). */
  isAbsenceTrusted: boolean;
};

/** A walk was read to its end and nothing contradicts it. */
export async function concludeWalk(
  context: ActContext,
  act: Act,
  walk: number,
  whole: Whole,
): Promise<Acted> {
  const { db, facts, platform, log, settings } = context;
  const { slice, span, askedAt } = act;
  const now = platform.clock.now();
  const certainAt = Math.min(askedAt, platform.clock.earliest());
  if (whole.nextKeyForm !== null) await learnLastKey(context, slice, whole.nextKeyForm, whole.why);
  // While an end date may mean either, the next day is asked for as well: its records do not make this day less empty.
  const asksMore =
    dayEndOf(facts, slice.resource) === 'unknown' && !ignoresDates(facts, slice.resource);
  const isEmpty =
    whole.distinct === 0 || (asksMore && !(await showsOwnDays(db, slice, walk, span)));
  const isDoubtful = isEmpty && (await isEmptyInDoubt(context, act));
  // A second walk proves nothing of a day that no empty answer may prove.
  const withoutTotals = whole.totalAfter === null && !isDoubtful;
  const walks: Walks = { before: slice.wholeWalk, now: walk };
  const proof = isDoubtful ? 'none' : await proofOf(context, act, walks, whole);
  // Also walks before the first whole one have shown records.
  const isCompared = walk > Math.max(walks.before, 1) && slice.day !== wholeList;
  const mayMiss = isCompared && whole.isAbsenceTrusted;
  const known = mayMiss ? await knownSpan(context, act, walk) : span;
  const moved = mayMiss && slice.owner !== '' ? await findMoved(context, slice, known, walks) : [];
  const { missing, noted, contested } = await withTx(db, async (tx) => {
    if (mayMiss) {
      const except = moved.map(({ record }) => record.id);
      await markMissing(tx, slice, known, walks, except, askedAt);
    }
    const to = { projectId: slice.projectId, resource: slice.resource, expectsNew: null };
    await writeRecords(tx, to, moved, now);
    // Records that vanished leave the day unproved until a walk a day later is without them too (proof rule 3).
    const [gone, { noted, contested }, unresolved] = await Promise.all([
      countMissing(tx, slice, span, certainAt - missingBlocksMs),
      heedShown(tx, slice, walk),
      countPending(tx, slice, walk, span),
    ]);
    const proved = gone > 0 || contested > 0 ? 'none' : proof;
    const outcome = {
      proof: proved,
      unresolved,
      missing: gone,
      walkedAt: askedAt,
      withoutTotals,
      certainAt,
    };
    const end: Finished = {
      ...afterAct(slice, span, outcome, askedAt, settings),
      proof: proved,
      provedAt: proved === 'none' ? slice.provedAt : now,
      walkedAt: askedAt,
      wholeWalk: walk,
      walkOrder: whole.order,
      platformTotal: whole.totalAfter,
      shownTotal: whole.distinct,
      unresolved,
      lastError: problemOf(contested, gone),
      over: true,
    };
    if (!(await finishSlice(tx, slice, end))) {
      throw transient('lease_lost', 'The slice went on without us');
    }
    // The first walk has no others.
    if (walk > 1) await dropOtherPages(tx, slice, [walk]);
    return { missing: gone, noted, contested };
  });
  if (noted > 0) await reopenOthers(db, slice, new Date(now).toISOString());
  if (missing > 0) {
    log.warn(
      { resource: slice.resource, day: slice.day, missing },
      'The platform no longer shows records it showed before',
    );
  }
  if (contested > 0) {
    log.warn(
      { resource: slice.resource, day: slice.day, contested },
      'The platform shows records here with other contents than are in force',
    );
  }
  return { done: true, problem: null };
}

/** Why a day that was read whole is not proved, where its own records speak against it. */
function problemOf(contested: number, gone: number): string | null {
  if (contested > 0) {
    return `${contested} of its records are in force with other contents, which another list shows or a later update time speaks for`;
  }
  return gone > 0
    ? `${gone} of its records were not shown this time: it is proved without them once a walk a day later does not show them either`
    : null;
}

/**
 * A walk that read its list from the first record to the last, while the totals say otherwise: the day is walked and
 * not proved (P7), and tried again. It marks nothing as missing, for it may not have been shown all.
 */
export async function concludeUnproved(
  context: ActContext,
  { slice, span, askedAt }: Act,
  walk: number,
  whole: Whole,
  problem: string,
  delays: RetryDelays,
): Promise<Acted> {
  const { db } = context;
  await withTx(db, async (tx) => {
    const unresolved = await countPending(tx, slice, walk, span);
    const end: Finished = {
      ...afterFailure(slice, askedAt, delays),
      state: 'walked',
      proof: 'none',
      provedAt: slice.provedAt,
      walkedAt: askedAt,
      wholeWalk: walk,
      walkOrder: whole.order,
      platformTotal: whole.totalAfter,
      shownTotal: whole.distinct,
      unresolved,
      lastError: problem,
      over: true,
    };
    if (!(await finishSlice(tx, slice, end))) {
      throw transient('lease_lost', 'The slice went on without us');
    }
    await dropOtherPages(tx, slice, [walk]);
  });
  return { done: false, problem };
}

/**
 * The time in which what a walk does not show is missing. A window that is cut in a zone behind UTC begins some hours
 * into its first day: what is older than all that the walk shows of that day may have left with the month before (proof
 * rule 5).
 */
async function knownSpan(
  { db }: ActContext,
  { slice, span, askedAt }: Act,
  walk: number,
): Promise<Span> {
  const { from } = windowAt(askedAt);
  if (slice.day !== from) return span;
  const own = span.own ?? { from: startOf(span.from), to: startOf(span.to) };
  const oldest = await oldestShown(db, slice, walk, own.from);
  const begins = Math.min(startOf(from) + decidedAfterMs, oldest ?? Infinity);
  return { ...span, own: { ...own, from: Math.max(own.from, begins) } };
}

/**
 * What a whole walk proves: what its totals say; where there are none, two walks after the day, one each way and an
 * hour or more apart, that were shown the same (proof rule 2).
 */
async function proofOf(
  { db }: ActContext,
  { slice, span, askedAt }: Act,
  walks: Walks,
  whole: Whole,
): Promise<Proof> {
  const { walkedAt, walkOrder } = slice;
  if (whole.proof !== 'none' || whole.totalAfter !== null || slice.day === wholeList) {
    return whole.proof;
  }
  const isSecond =
    walks.before > 0 &&
    walkedAt !== null &&
    isOver(span, walkedAt) &&
    walkOrder !== whole.order &&
    askedAt >= walkedAt + betweenWalksMs;
  if (!isSecond || !(await showTheSame(db, slice, span, walks))) return 'none';
  // The second walk must be seen to begin at the other end: a platform may sort as it likes, and show the same part
  // twice.
  const first = await rememberedPage(db, slice, walks.now, 0);
  const ends = await compareWithWalk(db, slice, walks.before, first?.ids ?? [], whole.order);
  return ends.begins ? 'walks' : 'none';
}

/** How the last page says that it is the last: by what stands in place of a key, or else why the walk ended. */
async function learnLastKey(
  context: ActContext,
  slice: Slice,
  form: string,
  why: string,
): Promise<void> {
  const repeats = why === 'repeated key' || why === 'no progress';
  const value = form !== 'key' ? form : repeats ? 'repeated' : 'leads to an empty page';
  const { learned, facts } = context;
  if ((learned.lastKey ?? facts.get('orders.last_key')) === value) return;
  learned.lastKey = value;
  const now = context.platform.clock.now();
  await recordFacts(context.db, slice.projectId, { 'orders.last_key': value }, now);
}
