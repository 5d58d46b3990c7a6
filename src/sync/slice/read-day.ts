// A reading: one walk of one day, its list and then each status, from its first page to its last. Everything it is shown
// is committed on the way; what it proves is not decided here.
import { addDays, dayOf, minuteMs, windowAt } from '../../day.ts';
import { transient } from '../../errors.ts';
import { wholeList, type AskedStatus, type Clocks, type End } from '../../model.ts';
import { commitPages, type CommitEffects } from '../../store/commit.ts';
import type { Checkpoint, PagePosition, ReadingInProgress } from '../../store/checkpoint.ts';
import type { Db } from '../../store/db.ts';
import type { EndedReading, Measured } from '../../store/evidence.ts';
import type { Slice } from '../../store/ledger.ts';
import { idsShown, rememberedPage } from '../../store/walked-pages.ts';
import type { Platform } from '../../platform/platform.ts';
import { boundsOf } from '../ask-list.ts';
import { clocksOf, conclude } from '../verdicts.ts';
import { createCommitter, type Committer } from './page-committer.ts';
import { firstPosition, walkView, type ViewInProgress, type ViewQuery } from './walk.ts';

export type ReadContext = {
  db: Db;
  platform: Platform;
  signal: AbortSignal;
  /** The greatest limit that the platform honours. */
  limit: number;
  /** Totals were seen to count more than the page they stand on: then one may end a list of classes. */
  countsBeyond: boolean;
  /**
   * How a day is asked for: `alone`, where that is known to show it all; `either`: alone and, where that does not show the
   * day, with the next one; or `both`: a list that is cut shows less of a day beside the next one than of it alone.
   */
  way: 'alone' | 'either' | 'both';
  /** A status may be refused: not where it was counted before, unless this is no first attempt. */
  mayRefuseStatus: boolean;
  /** Told of every committed group of pages. */
  onCommit: (effects: CommitEffects & { shown: number }) => void;
};

/** A day that was read to its end. */
export type ReadDay = {
  walk: number;
  reading: Omit<EndedReading, keyof Measured | 'ended'>;
  /** What the list counted; null: no total, or one smaller than the rows beside it. */
  total: number | null;
  /** Asked for by itself, the day showed records. */
  isEndInclusive: boolean;
};

/** A view that loses its way is walked again at once, this often in all; then the day waits its turn. */
const triesAtMost = 3;

/**
 * Reads a day, or goes on where its checkpoint stands. Throws transient `list_moved` where it could not be read to its
 * end, and what the platform and the store throw.
 */
export function readDay(
  context: ReadContext,
  slice: Slice,
  end: End,
  statuses: AskedStatus[],
): Promise<ReadDay> {
  const walk = slice.checkpoint === null ? slice.walk + 1 : slice.walk;
  return committing(context, slice, walk, (add) =>
    readViews(context, slice, walk, end, statuses, add),
  );
}

async function readViews(
  context: ReadContext,
  slice: Slice,
  walk: number,
  end: End,
  statuses: AskedStatus[],
  add: Committer['add'],
): Promise<ReadDay> {
  const { db, platform, way } = context;
  const from = slice.checkpoint;
  const reading = from?.reading ?? begun(clocksOf(platform.clock), end, statuses);
  let position = from?.next ?? firstPosition;
  let seen = new Set(from === null ? [] : await idsShown(db, slice, walk, reading.begins));
  const beginView = (number: number, more: Partial<ReadingInProgress>): void => {
    position = { ...firstPosition, number };
    seen = new Set();
    Object.assign(reading, { begins: number, mostTotal: null }, more);
    if (reading.view === 0) Object.assign(reading, { first: null, last: null });
  };

  // Ends: every view is walked once for each way of asking, and again twice at most.
  for (let tries = 1; ;) {
    const status = reading.view === 0 ? undefined : reading.statuses[reading.view - 1];
    const query: ViewQuery = {
      ...datesOf(slice, reading),
      limit: context.limit,
      order: reading.end,
      status,
    };
    // Where the list shows nothing, the first status that does tells.
    const tellsEnds = reading.view === 0 || reading.first === null;
    const view: ViewInProgress = { query, seen, ...reading };
    const ended = await walkView(
      {
        ...context,
        commit: (page, next) => {
          Object.assign(reading, { mostTotal: view.mostTotal });
          if (tellsEnds) Object.assign(reading, { first: view.first, last: view.last });
          return add(page, checkpointAt(reading, next ?? after(page.number)));
        },
      },
      slice,
      view,
      position,
    );
    const isLastWay = reading.daysAsked === 2 || way === 'alone';
    if (ended.kind === 'lost') {
      if (tries === triesAtMost) throw transient('list_moved', ended.why);
      tries += 1;
      beginView(ended.next, {});
      continue;
    }
    // Today is asked for with a day that has not begun.
    const asksAhead = reading.daysAsked === 2 && addDays(slice.day, 1) > dayOf(reading.began.now);
    const mayRefuseList = !isLastWay || asksAhead;
    const mayBeRefused = status === undefined ? mayRefuseList : context.mayRefuseStatus;
    if (ended.kind === 'refused' && !mayBeRefused) throw ended.error;
    const { mostTotal, first, last } = view;
    if (tellsEnds) Object.assign(reading, { first, last });
    if (reading.view === 0) reading.listTotal = (mostTotal ?? 0) < seen.size ? null : mostTotal;
    const claims = Math.max(reading.claims, (view.mostTotal ?? 0) - seen.size);
    if (reading.view < reading.statuses.length) {
      beginView(ended.next, { claims, view: reading.view + 1 });
      continue;
    }
    reading.claims = claims;
    if (isLastWay || (way === 'either' && showsDay(reading))) break;
    beginView(ended.next, { claims: 0, view: 0, daysAsked: 2, listTotal: null });
  }
  const { began, listTotal } = reading;
  return {
    walk,
    total: listTotal,
    isEndInclusive: reading.daysAsked === 1 && showsDay(reading),
    reading: {
      end: endSeen(reading),
      daysAsked: reading.daysAsked,
      claims: reading.claims,
      began: { ...began, earliest: began.earliest ?? -Infinity },
    },
  };
}

/**
 * Reads on from the last page of the last whole walk of today's list, which must show what it showed. False where it does
 * not, or nothing is remembered: then today is read anew.
 */
export async function readTail(context: ReadContext, slice: Slice): Promise<boolean> {
  const last = await rememberedPage(context.db, slice, slice.wholeWalk);
  if (last === null) return false;
  const query: ViewQuery = {
    ...boundsOf(slice.day, context.way === 'alone' ? 1 : 2),
    limit: context.limit,
    order: 'asc',
  };
  const view: ViewInProgress = {
    query,
    seen: new Set(last.ids),
    mostTotal: null,
    first: null,
    last: null,
  };
  const from = { ...firstPosition, ...last, offset: last.offset ?? 0 };
  const ended = await committing(context, slice, slice.wholeWalk, (add) =>
    walkView({ ...context, commit: (page) => add(page, null) }, slice, view, from, last.ids),
  );
  return ended.kind === 'whole';
}

/** A list without dates is asked for from the window's first day on; an owner's has all that the owner has. */
const datesOf = (
  { day, owner }: Slice,
  { daysAsked, began }: ReadingInProgress,
): ReturnType<typeof boundsOf> =>
  day === wholeList && owner === ''
    ? { startDate: windowAt(began.now).from }
    : boundsOf(day, daysAsked);

function begun(clocks: Clocks, end: End, statuses: AskedStatus[]): ReadingInProgress {
  const { machine, now, earliest } = clocks;
  return {
    end,
    began: { machine, now, earliest: Number.isFinite(earliest) ? earliest : null },
    daysAsked: 1,
    statuses,
    view: 0,
    begins: 0,
    mostTotal: null,
    listTotal: null,
    claims: 0,
    first: null,
    last: null,
  };
}

const quarterMs = 15 * minuteMs;

/** An end date may be read as its midnight, which lies on a quarter of an hour in every zone: then [d, d] shows no more. */
const showsDay = ({ first, last }: ReadingInProgress): boolean =>
  first !== null && last !== null && (first !== last || first % quarterMs !== 0);

/** The end where the list was seen to begin; where the times of its rows are equal, where it was asked to. */
function endSeen({ first, last, end }: ReadingInProgress): End {
  if (first === null || last === null || first === last) return end;
  return first < last ? 'asc' : 'desc';
}

/** A view that ends here is walked again if the process dies before the next one has a page. */
const after = (number: number): PagePosition => ({ ...firstPosition, number: number + 1 });

function checkpointAt(reading: ReadingInProgress, next: PagePosition): Checkpoint {
  const isAgain = next.pageKey === null && next.offset === 0;
  const again = isAgain ? { begins: next.number, mostTotal: null } : {};
  return { reading: { ...reading, ...again }, next };
}

/**
 * Commits what `read` hands over, all of it before this ends, also where the reading fails: what was shown is held.
 */
async function committing<T>(
  { db, platform, onCommit }: ReadContext,
  slice: Slice,
  walk: number,
  read: (add: Committer['add']) => Promise<T>,
): Promise<T> {
  const committer = createCommitter(async (pages, checkpoint) => {
    const writtenAt = platform.clock.now();
    const commit = { slice, walk, pages, checkpoint, writtenAt };
    const effects = await commitPages(db, commit, async (tx, { isNews }) => {
      // The proof ends with the news that contradicts it, whatever becomes of this reading.
      if (!isNews || slice.proof === 'none') return;
      const { dueAt, attempts } = slice;
      await conclude(tx, slice, clocksOf(platform.clock), { dueAt, attempts });
    });
    onCommit({ ...effects, shown: pages.reduce((sum, one) => sum + one.page.shown, 0) });
  });
  try {
    return await read(committer.add);
  } finally {
    await committer.drain();
  }
}
