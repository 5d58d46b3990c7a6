// Reads a slice from a position to its end, page by page: fetch, decide the step, hand over to the commit.
// A walk resumes from its checkpoint; the tail is a walk that begins again at its last page.
import { addDays, dayOf, startOf } from '../../day.ts';
import { fatal, isOutlastError } from '../../errors.ts';
import type { Instant, PlatformPage } from '../../model.ts';
import type { Platform } from '../../platform/platform.ts';
import { commitPages, type CommitEffects } from '../../store/commit.ts';
import type { Db } from '../../store/db.ts';
import type { Slice } from '../../store/ledger.ts';
import type { Checkpoint, WalkQuery } from '../../store/checkpoint.ts';
import { idsOf } from '../../store/pages.ts';
import { standsOn } from '../../store/walk-ends.ts';
import { askPage, askTotal, showsAgain, timesOf } from '../ask-list.ts';
import { disproveFilter, farOutside } from '../list-rules.ts';
import { createCommitter } from './page-committer.ts';
import { hasStalled } from './stalled-walk.ts';
import type { Start } from './walk-start.ts';
import {
  isBeginning,
  remember,
  step,
  type Memory,
  type PagePosition,
  type WalkEnd,
} from './walk-steps.ts';

/** What is known of a list. */
export type ListRules = {
  /** The platform is known not to filter by date: records of any day may come. */
  ignoresDates: boolean;
  /** Totals are known to count nothing but the page they stand on. */
  ignoresTotals: boolean;
  /** Totals were seen to count more than the page they stand on. */
  countsBeyond: boolean;
};

export type WalkContext = ListRules & {
  db: Db;
  platform: Platform;
  leaseMs: number;
  signal: AbortSignal;
  /** Told of every committed group of pages. */
  onCommit: (effects: CommitEffects & { shown: number }) => void;
};

export type Reading =
  | {
      kind: 'ended';
      why: string;
      end: WalkEnd;
      totalBefore: number | null;
      totalAfter: number | null;
      nextKeyForm: PlatformPage['nextKeyForm'];
      requests: number;
    }
  | { kind: 'restart'; why: string };

/**
 * Reads on to the end of the slice. Everything read is committed when this resolves. Throws what the platform and
 * the store throw; fatal `date_filter_ignored` when a record lies far outside the asked day.
 */
export async function readOn(context: WalkContext, slice: Slice, start: Start): Promise<Reading> {
  const { platform, signal } = context;
  const { memory } = start;
  // Today is never sealed by it.
  memory.countsBeyond = context.countsBeyond || start.isTail;
  let { position } = start;
  let observedAt = afterAll(slice);
  let requests = 0;
  const committer = createCommitter(async (pages, checkpoint) => {
    const effects = await commitPages(context.db, {
      slice,
      walk: start.walk,
      pages,
      checkpoint,
      leaseMs: context.leaseMs,
      writtenAt: platform.clock.now(),
    });
    // A further reading by this act counts as later too, even if the platform's clock was set back (P2).
    slice.observedAt = Math.max(slice.observedAt ?? 0, ...pages.map((one) => one.observedAt));
    const shown = pages.reduce((sum, one) => sum + one.page.shown, 0);
    context.onCommit({ ...effects, shown });
  });
  // Ends: step() sees to it (P9).
  for (;;) {
    const isFirst = position.number === start.position.number;
    const { totalBefore } = memory;
    // The page that should be the last gives the total after as well: one request less.
    const isLikelyLast = totalBefore !== null && memory.rows + memory.query.limit >= totalBefore;
    const withTotal = isFirst || isLikelyLast;
    let page: PlatformPage;
    try {
      page = await askPage(platform, slice, memory.query, position, withTotal, signal);
      if (context.ignoresTotals) page = { ...page, total: null };
    } catch (error) {
      await committer.drain();
      if (position.pageKey !== null && isOutlastError(error, 'platform_refused')) {
        return { kind: 'restart', why: 'a page key was refused' };
      }
      throw error;
    }
    requests += 1;
    if (!context.ignoresDates) refuseForeignDays(page, memory.query);
    if (isFirst && !showsAgain(page, start.mustShow)) {
      return { kind: 'restart', why: 'the last page no longer shows what it showed' };
    }
    if (isBeginning(position) || start.isTail) memory.totalBefore ??= page.total;
    memory.rows += page.shown - (position.overlap === null ? 0 : 1);
    let next = step(slice.resource, page, position, memory);
    if (next.kind === 'restart') {
      await committer.drain();
      return next;
    }
    remember(memory, page, position);
    // Never before the page it follows, even if the platform's clock was set back (P2).
    observedAt = Math.max(observedAt, page.askedAt);
    const isEmptyExtra = page.shown === 0 && position.number > 0;
    const checkpoint =
      next.kind === 'next' && !start.isTail ? checkpointAt(next.position, memory) : null;
    if (!isEmptyExtra) {
      const { number, pageKey, offset } = position;
      await committer.add(
        { number, pageKey, offset: slice.resource === 'orders' ? null : offset, page, observedAt },
        checkpoint,
      );
    }
    if (await hasMet(context.db, slice, start.walk, page, memory)) {
      next = { kind: 'end', why: 'both ends have met', end: 'met' };
    }
    if (
      next.kind === 'next' &&
      (await hasStalled(context.db, slice, start.walk, position.number, memory))
    ) {
      // With its total exceeded the list may still have been left for another: its other end tells.
      const end = memory.totalBefore === null ? 'whole' : 'unsure';
      next = { kind: 'end', why: 'nothing new for many pages', end };
    }
    if (next.kind === 'end') {
      await committer.drain();
      let totalAfter = withTotal ? page.total : null;
      // A platform may give totals without a page key only.
      const isAsked = memory.totalBefore !== null && memory.part === null;
      if (totalAfter === null && isAsked && slice.resource === 'orders') {
        totalAfter = (await askTotal(platform, slice, memory.query, signal)).total;
        requests += 1;
      }
      return {
        kind: 'ended',
        why: next.why,
        end: next.end,
        totalBefore: memory.totalBefore,
        totalAfter,
        nextKeyForm: page.nextKeyForm,
        requests,
      };
    }
    ({ position } = next);
  }
}

/**
 * After everything the slice was shown before: what is read later counts as later, also when a clock that was far ahead
 * has been set back (P2).
 */
export const afterAll = ({ observedAt }: Slice): Instant => (observedAt ?? -1) + 1;

/** Whether a part that is read from the other end shows what was shown from this one. */
async function hasMet(
  db: Db,
  slice: Slice,
  walk: number,
  page: PlatformPage,
  { part }: Memory,
): Promise<boolean> {
  if (part === null || part.meets === null) return false;
  return standsOn(db, slice, walk, idsOf(page), part.meets);
}

function checkpointAt(position: PagePosition, memory: Memory): Checkpoint {
  return {
    query: memory.query,
    page: position.number,
    pageKey: position.pageKey,
    offset: position.offset,
    lastId: position.overlap,
    totalBefore: memory.totalBefore,
    ...(memory.part === null ? {} : { part: memory.part }),
  };
}

function refuseForeignDays(page: PlatformPage, { startDate, endDate }: WalkQuery): void {
  if (startDate === undefined || endDate === undefined) return;
  const from = startOf(startDate);
  const to = startOf(addDays(endDate, 1));
  const foreign = timesOf(page).filter((at) => farOutside(at, from, to));
  const [first] = foreign;
  if (first === undefined || !disproveFilter(timesOf(page), from, to)) return;
  throw fatal(
    'date_filter_ignored',
    `The platform showed ${page.resource === 'orders' ? 'an order' : 'a class'} of ${dayOf(first)} when asked for ${startDate}: it does not filter by date`,
  );
}
