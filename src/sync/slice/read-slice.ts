// One turn of one slice: reads what is due of it, and writes what the evidence says then.
import { dayMs } from '../../day.ts';
import { causeChain, isOutlastError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { wholeList, type Clocks } from '../../model.ts';
import { isPlatformError } from '../../platform/refusal.ts';
import { withMixedTx, type Tx } from '../../store/db.ts';
import { appendReading, measureWalk, type Evidence } from '../../store/evidence.ts';
import type { Facts } from '../../store/facts.ts';
import { changeSlice, type Slice } from '../../store/ledger.ts';
import { countShown, dropOtherPages } from '../../store/walked-pages.ts';
import { countsBeyond, limitOf } from '../ask-list.ts';
import { learnClockByAny } from '../contact/contact.ts';
import type { PolicySettings } from '../enter-days.ts';
import type { Verdict } from '../judge.ts';
import { retryDelayMs, settleMs } from '../due-times.ts';
import { concernsAll, unforeseenText } from '../unforeseen-errors.ts';
import {
  clocksOf,
  conclude,
  hasGone,
  isGoing,
  overAt,
  statusesToAsk,
  verdictOf,
  walkEnded,
} from '../verdicts.ts';
import type { Worker } from '../worker.ts';
import { readDay, readTail, type ReadContext, type ReadDay } from './read-day.ts';

export type SliceContext = Omit<
  ReadContext,
  'limit' | 'countsBeyond' | 'way' | 'mayRefuseStatus'
> & {
  facts: Facts;
  settings: PolicySettings;
  log: Log;
  /** The slice was named by a person: it is read, due or not. */
  isAskedFor: boolean;
  /** So was its day. */
  isDayNamed: boolean;
  /** Lists whose days may be asked for by themselves; added to as it is seen. */
  endInclusive: Set<Slice['resource']>;
  source: Worker['source'];
};

/** What is due, and what it is judged by so far. */
export type DueSlice = { slice: Slice; evidence: Evidence };

export type SliceOutcome = {
  done: boolean;
  /** In words, when the slice is not done. */
  problem: string | null;
  /** The platform did not answer at all: other slices will fare no better. */
  isUnanswered?: true;
  /** What nobody foresaw, in words: other slices may fare better. */
  unforeseen?: string;
};

const otherEnd = { asc: 'desc', desc: 'asc' } as const;

const done: SliceOutcome = { done: true, problem: null };

/**
 * Does what is due for a slice. Throws only what concerns more than this slice: a final 401 or
 * 403 of the list, an abort, the database. Everything else is left in the ledger, also what nobody foresaw.
 */
export async function readSlice(given: SliceContext, due: DueSlice): Promise<SliceOutcome> {
  const { slice } = due;
  let hasAdvanced = false;
  const context: SliceContext = {
    ...given,
    onCommit: (effects) => {
      hasAdvanced = true;
      given.onCommit(effects);
    },
  };
  try {
    if (slice.day === wholeList) return await readWholeList(context, slice);
    const { now } = clocksOf(context.platform.clock);
    return now < overAt(slice) ? await readToday(context, due) : await readPast(context, due);
  } catch (error) {
    const isMoved = isOutlastError(error, 'list_moved');
    const isItsOwn =
      isMoved ||
      isOutlastError(error, 'platform_unavailable', 'platform_refused', 'older_pages') ||
      (await isRefusedAlone(context, slice, error));
    if (!isItsOwn && (context.signal.aborted || concernsAll(error))) throw error;
    const problem = isItsOwn ? causeChain(error) : unforeseenText(error, context);
    const failed = await fail(context, slice, problem, {
      isOn: !isMoved && hasAdvanced && slice.attempts > 0,
      over: !isMoved && !hasAdvanced && slice.checkpoint !== null,
    });
    if (!isItsOwn) return { ...failed, unforeseen: problem };
    // Of a month that has gone an error says no more than that.
    const isOver = hasGone(slice, clocksOf(context.platform.clock));
    const isSilence = isOutlastError(error, 'platform_unavailable') && !isOver;
    return isSilence ? { ...failed, isUnanswered: true } : failed;
  }
}

/** A past day: a reading if one is due, and its verdict. */
async function readPast(
  context: SliceContext,
  { slice: held, evidence }: DueSlice,
): Promise<SliceOutcome> {
  const { db, platform, log } = context;
  const statuses = statusesToAsk(held, evidence);
  const left = held.checkpoint?.reading;
  // A walk of today that was left half done is not gone on with: it proves nothing, and asks for no status.
  const isOfToday = (left?.began.now ?? Infinity) < overAt(held);
  const slice = isOfToday ? { ...held, checkpoint: null } : held;
  const before = clocksOf(platform.clock);
  const { state, next } = verdictOf(slice, evidence, before);
  // What a platform still shows of a day that was lost is held, too, where a person asks for it.
  const isDecided = (state === 'final' || state === 'lost') && !context.isDayNamed;
  const isDue = slice.checkpoint !== null || next.at <= before.now || context.isAskedFor;
  if (isDecided || !isDue) {
    await withMixedTx(db, (tx) => conclude(tx, slice, before, walkEnded));
    return done;
  }
  const read = await readDay(
    reading(context, slice, evidence),
    slice,
    walksGivenUp(slice) % 2 === 0 ? next.end : otherEnd[next.end],
    statuses,
  );
  const verdict = await withMixedTx(db, (tx) =>
    endReading(tx, slice, read, clocksOf(platform.clock)),
  );
  if (read.isEndInclusive) context.endInclusive.add(slice.resource);
  log.debug({ resource: slice.resource, day: slice.day, ...verdict }, 'A day was read');
  return done;
}

/**
 * The end of a reading of a past day, in one transaction: it is measured, added to the evidence, and the day judged.
 */
export async function endReading(
  tx: Tx,
  slice: Slice,
  { walk, reading: read, total }: Pick<ReadDay, 'walk' | 'reading' | 'total'>,
  clocks: Clocks,
): Promise<Verdict> {
  const isFrozen = isGoing(slice, clocks);
  const measured = await measureWalk(tx, slice, walk, clocks, isFrozen);
  await appendReading(tx, slice, { ...read, ended: clocks, ...measured });
  // Of a month that is going a reading only adds: what was shown while it was there stands, for ever.
  const isLess = isFrozen && slice.wholeWalk > 0 && measured.shown < (slice.shownTotal ?? 0);
  await dropOtherPages(tx, slice, walk, isLess ? [slice.wholeWalk] : []);
  const whole = {
    walkedAt: read.began.now,
    wholeWalk: walk,
    platformTotal: total,
    shownTotal: measured.shown,
  };
  return conclude(tx, slice, clocks, { ...walkEnded, ...(isLess ? {} : whole) });
}

/** Today: its tail or, where orders of it are pending for a while or the tail is not found again, all of it. */
async function readToday(context: SliceContext, { slice }: DueSlice): Promise<SliceOutcome> {
  const { db, platform } = context;
  const asked = reading(context, slice);
  const last = slice.walkedAt ?? 0;
  const before = clocksOf(platform.clock).now;
  const settles =
    slice.unresolved > 0 && Math.floor(before / settleMs) > Math.floor(last / settleMs);
  // Whatever came of a tail that was not found again, its list has been left half read.
  const isLeft = slice.checkpoint !== null || slice.attempts > 0;
  const mayBeTail = !isLeft && slice.wholeWalk > 0 && !settles;
  const isTail = mayBeTail && (await readTail(asked, slice));
  // The list alone, for its tail is the last page: what it leaves out of a status is asked for when the day is over.
  const read = isTail ? null : await readDay(asked, slice, 'asc', []);
  if (read?.isEndInclusive === true) context.endInclusive.add(slice.resource);
  const clocks = clocksOf(platform.clock);
  const walk = read?.walk ?? slice.wholeWalk;
  await withMixedTx(db, async (tx) => {
    await conclude(tx, slice, clocks, {
      ...walkEnded,
      ...(read === null ? {} : { walkedAt: read.reading.began.now, platformTotal: read.total }),
      wholeWalk: walk,
      shownTotal: await countShown(tx, slice, walk),
      // Due at every tick.
      dueAt: clocks.now + 1,
    });
    if (read !== null) await dropOtherPages(tx, slice, walk);
  });
  return done;
}

/** A list without dates: it holds what it shows and proves nothing. */
async function readWholeList(context: SliceContext, slice: Slice): Promise<SliceOutcome> {
  const { db, settings } = context;
  const read = await readDay(reading(context, slice), slice, 'asc', []);
  const { began } = read.reading;
  await withMixedTx(db, async (tx) => {
    await changeSlice(tx, slice, {
      ...walkEnded,
      state: 'walked',
      walkedAt: began.now,
      wholeWalk: read.walk,
      platformTotal: read.total,
      shownTotal: await countShown(tx, slice, read.walk),
      dueAt: began.now + settings.refreshMs,
    });
    await dropOtherPages(tx, slice, read.walk);
  });
  return done;
}

/**
 * How often a walk of the slice was given up since it was last read: one that fails twice at one page is begun anew from
 * the other end, and in the end with smaller pages, so that what no answer shows is the record alone that spoils them.
 */
const walksGivenUp = ({ attempts }: Pick<Slice, 'attempts'>): number => Math.max(0, attempts - 1);
/** With pages of one row from both ends no more is learned but once a day. */
const walksAtMost = 16;

function reading(context: SliceContext, slice: Slice, evidence?: Evidence): ReadContext {
  const { resource } = slice;
  const isAlone = slice.day === wholeList || context.endInclusive.has(resource);
  const { isMore = false, isDay = false } = evidence?.books ?? {};
  // A span that counts more though no half does: end dates are read otherwise than was seen.
  const isDoubted = isMore && !isDay;
  return {
    ...context,
    limit: Math.max(1, limitOf(context.facts, resource) >> Math.floor(walksGivenUp(slice) / 2)),
    countsBeyond: countsBeyond(context.facts, resource),
    way: isDoubted ? 'both' : isAlone ? 'alone' : 'either',
    mayRefuseStatus: evidence?.books?.readBy !== 'each status' || slice.attempts > 0,
  };
}

/**
 * Nothing was proved this time; the slice waits its turn, later each time. `isOn`: its walk moved on, and is continued;
 * `over`: it stood still, and is given up.
 */
async function fail(
  context: SliceContext,
  slice: Slice,
  problem: string,
  { isOn, over }: { isOn: boolean; over: boolean },
): Promise<SliceOutcome> {
  const { now } = clocksOf(context.platform.clock);
  const attempts = slice.attempts + (isOn ? 0 : 1);
  const isWorn = walksGivenUp({ attempts }) > walksAtMost && now + dayMs < slice.deadlineAt;
  const dueAt = now + (isWorn ? dayMs : retryDelayMs(attempts));
  const given = over ? { checkpoint: null } : {};
  const end = { attempts, dueAt, lastError: problem, ...given };
  await withMixedTx(context.db, async (tx) => {
    if (slice.day === wholeList) await changeSlice(tx, slice, end);
    // What the reading did show may speak against a seal.
    else await conclude(tx, slice, clocksOf(context.platform.clock), end);
  });
  return { done: false, problem };
}

/** A firewall may refuse one question, and not the key: then the simplest one is answered. */
async function isRefusedAlone(
  { platform, signal }: SliceContext,
  { resource }: Slice,
  error: unknown,
): Promise<boolean> {
  if (!isOutlastError(error, 'platform_forbidden')) return false;
  try {
    await learnClockByAny(platform, [resource], signal);
    return true;
  } catch (refusal) {
    if (signal.aborted || !isPlatformError(refusal)) throw refusal;
    return false;
  }
}
