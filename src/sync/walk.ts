// Reads a slice from a position to its end, page by page: fetch, decide the step, hand over to the commit.
// A walk resumes from its checkpoint; the tail is a walk that begins again at its last page.
import { startOf, addDays } from '../day.ts';
import { fatal, isOutlastError } from '../errors.ts';
import type { Instant, Page } from '../model.ts';
import type { Platform } from '../platform/platform.ts';
import type { Db } from '../store/db.ts';
import { commitPages, type CommitEffects } from '../store/commit.ts';
import type { Checkpoint, Slice, WalkQuery } from '../store/ledger.ts';
import {
  countShown,
  idsOf,
  rememberedPage,
  usedKeys,
  type RememberedPage,
} from '../store/pages.ts';
import { farOutside } from './bounds.ts';
import { createCommitter } from './committer.ts';
import { firstPosition, remember, step, type Memory, type Position } from './steps.ts';

export type WalkContext = {
  db: Db;
  platform: Platform;
  leaseMs: number;
  signal: AbortSignal;
  /** The platform is known not to filter by date: records of any day may come. */
  ignoresDates: boolean;
  /** Told of every committed group of pages. */
  onCommit: (effects: CommitEffects & { shown: number }) => void;
};

/** Where reading begins. */
export type Start = {
  walk: number;
  position: Position;
  memory: Memory;
  /** Ids the first page read must show again: the tail's, of its last reading. */
  mustShow: string[];
  /** A tail commits pages of a whole walk: there is nothing to resume. */
  isTail: boolean;
};

export type Reading =
  | {
      kind: 'ended';
      why: string;
      totalBefore: number | null;
      totalAfter: number | null;
      nextKeyForm: Page['nextKeyForm'];
      requests: number;
    }
  | { kind: 'restart'; why: string };

export function freshStart(slice: Slice, query: WalkQuery, after: number): Start {
  return {
    walk: Math.max(slice.walk, after) + 1,
    position: firstPosition,
    memory: emptyMemory(query),
    mustShow: [],
    isTail: false,
  };
}

function emptyMemory(query: WalkQuery): Memory {
  return {
    query,
    rows: 0,
    totalBefore: null,
    usedKeys: new Set(),
    firstPageIds: new Set(),
    previousIds: new Set(),
  };
}

/** Where an interrupted walk goes on (P3): what it remembered is in its pages. */
export async function resumedStart(db: Db, slice: Slice, checkpoint: Checkpoint): Promise<Start> {
  const memory = await recall(db, slice, slice.walk, checkpoint.page - 1, checkpoint.query);
  memory.totalBefore = checkpoint.totalBefore;
  return {
    walk: slice.walk,
    position: {
      number: checkpoint.page,
      pageKey: checkpoint.pageKey,
      offset: checkpoint.offset,
      overlap: checkpoint.lastId,
    },
    memory,
    mustShow: [],
    isTail: false,
  };
}

/** Where the tail begins: at the last page of the last whole walk, which must show again what it showed. */
export async function tailStart(db: Db, slice: Slice, query: WalkQuery): Promise<Start | null> {
  const last = await rememberedPage(db, slice, slice.wholeWalk);
  if (last === null) return null;
  return {
    walk: slice.wholeWalk,
    position: {
      number: last.number,
      pageKey: last.pageKey,
      offset: last.offset ?? 0,
      overlap: null,
    },
    memory: await recall(db, slice, slice.wholeWalk, last.number - 1, query),
    mustShow: last.ids,
    isTail: true,
  };
}

async function recall(
  db: Db,
  slice: Slice,
  walk: number,
  upTo: number,
  query: WalkQuery,
): Promise<Memory> {
  const memory = emptyMemory(query);
  if (upTo < 0) return memory;
  const first = await rememberedPage(db, slice, walk, 0);
  const previous = upTo === 0 ? first : await rememberedPage(db, slice, walk, upTo);
  memory.firstPageIds = new Set(first?.ids);
  memory.previousIds = new Set(previous?.ids);
  memory.usedKeys = new Set(await usedKeys(db, slice, walk));
  memory.rows = (await countShown(db, slice, walk)).distinct;
  return memory;
}

/**
 * Reads on to the end of the slice. Everything read is committed when this resolves. Throws what the platform and
 * the store throw; fatal `date_filter_ignored` when a record lies far outside the asked day.
 */
export async function readOn(context: WalkContext, slice: Slice, start: Start): Promise<Reading> {
  const { platform, signal } = context;
  const { memory } = start;
  let { position } = start;
  let observedAt: Instant = slice.observedAt ?? 0;
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
    let page: Page;
    try {
      page = await ask(platform, slice, memory.query, position, withTotal, signal);
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
    if (position.number === 0 || start.isTail) memory.totalBefore ??= page.total;
    memory.rows += page.shown - (position.overlap === null ? 0 : 1);
    const next = step(slice.resource, page, position, memory);
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
    if (next.kind === 'end') {
      await committer.drain();
      let totalAfter = page.total;
      if (!withTotal && memory.totalBefore !== null && slice.resource === 'orders') {
        totalAfter = (await count(platform, slice, memory.query, signal)).total;
        requests += 1;
      }
      return {
        kind: 'ended',
        why: next.why,
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
 * Reads given pages of the last whole walk again, each by its own key. False when one is refused or does not show again
 * every id it showed; what was read until then is committed.
 */
export async function reread(
  context: Omit<WalkContext, 'ignoresDates'>,
  slice: Slice,
  query: WalkQuery,
  pages: RememberedPage[],
): Promise<boolean> {
  let observedAt: Instant = slice.observedAt ?? 0;
  for (const { number, pageKey, offset, ids } of pages) {
    const position = { ...firstPosition, number, pageKey, offset: offset ?? 0 };
    let page: Page;
    try {
      page = await ask(context.platform, slice, query, position, false, context.signal);
    } catch (error) {
      if (isOutlastError(error, 'platform_refused')) return false;
      throw error;
    }
    if (!showsAgain(page, ids)) return false;
    observedAt = Math.max(observedAt, page.askedAt);
    const effects = await commitPages(context.db, {
      slice,
      walk: slice.wholeWalk,
      pages: [{ number, pageKey, offset, page, observedAt }],
      checkpoint: null,
      leaseMs: context.leaseMs,
      writtenAt: context.platform.clock.now(),
    });
    context.onCommit({ ...effects, shown: page.shown });
  }
  return true;
}

function checkpointAt(position: Position, memory: Memory): Checkpoint {
  return {
    query: memory.query,
    page: position.number,
    pageKey: position.pageKey,
    offset: position.offset,
    lastId: position.overlap,
    totalBefore: memory.totalBefore,
  };
}

function ask(
  platform: Platform,
  slice: Slice,
  query: WalkQuery,
  position: Position,
  withTotal: boolean,
  signal: AbortSignal,
): Promise<Page> {
  const { order, ...asked } = query;
  const sortBy = order === 'desc' ? 'DATE_DESC' : 'DATE_ASC';
  if (slice.resource === 'orders') {
    return platform.orders(
      {
        ...asked,
        ...(position.pageKey === null ? {} : { pageKey: position.pageKey }),
        sortBy,
        countTotal: withTotal,
      },
      signal,
    );
  }
  return platform.classes(
    {
      ...asked,
      ...(slice.owner === '' ? {} : { owner: slice.owner }),
      offset: position.offset,
      sortBy,
    },
    signal,
  );
}

/** The total alone: one record is asked for, and none of it is kept. */
function count(
  platform: Platform,
  slice: Slice,
  query: WalkQuery,
  signal: AbortSignal,
): Promise<Page> {
  return ask(platform, slice, { ...query, limit: 1 }, firstPosition, true, signal);
}

function showsAgain(page: Page, mustShow: string[]): boolean {
  const shown = new Set(idsOf(page));
  return mustShow.every((id) => shown.has(id));
}

function refuseForeignDays(page: Page, { startDate, endDate }: WalkQuery): void {
  if (startDate === undefined || endDate === undefined) return;
  const from = startOf(startDate);
  const to = startOf(addDays(endDate, 1));
  for (const record of page.records) {
    const createdAt = record.columns['created_at'];
    if (typeof createdAt === 'string' && farOutside(Date.parse(createdAt), from, to)) {
      throw fatal(
        'date_filter_ignored',
        `The platform showed a ${page.resource === 'orders' ? 'order' : 'class'} of ${createdAt.slice(0, 10)} when asked for ${startDate}: it does not filter by date`,
      );
    }
  }
}
