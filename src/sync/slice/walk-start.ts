// Where reading a slice begins: at its first page, where an interrupted walk stopped, or, for a tail, at the last page
// of the last whole walk. What a walk remembers is read from its pages.
import type { Db } from '../../store/db.ts';
import type { Slice } from '../../store/ledger.ts';
import type { Checkpoint, PartInProgress, WalkQuery } from '../../store/checkpoint.ts';
import { countShown, rememberedPage, usedKeys } from '../../store/pages.ts';
import { rowsFrom } from '../../store/walk-ends.ts';
import { recallGrowth } from './stalled-walk.ts';
import { emptyMemory, firstPosition, type Memory, type PagePosition } from './walk-steps.ts';

/** Where reading begins. */
export type Start = {
  walk: number;
  position: PagePosition;
  memory: Memory;
  /** Ids the first page read must show again: the tail's, of its last reading. */
  mustShow: string[];
  /** A tail commits pages of a whole walk: there is nothing to resume. */
  isTail: boolean;
};

export function freshStart(slice: Slice, query: WalkQuery, after: number): Start {
  return {
    walk: Math.max(slice.walk, after) + 1,
    position: firstPosition,
    memory: emptyMemory(query),
    mustShow: [],
    isTail: false,
  };
}

/** A further part of a cut list, whose pages are numbered on in the same walk. */
export function partStart(walk: number, query: WalkQuery, part: PartInProgress): Start {
  return {
    walk,
    position: { ...firstPosition, number: part.begins },
    memory: { ...emptyMemory(query), part },
    mustShow: [],
    isTail: false,
  };
}

/** Where an interrupted walk goes on (P3): what it remembered is in its pages. */
export async function resumedStart(db: Db, slice: Slice, checkpoint: Checkpoint): Promise<Start> {
  const memory = await recall(db, slice, slice.walk, checkpoint.page - 1, checkpoint.query);
  memory.totalBefore = checkpoint.totalBefore;
  if (checkpoint.part !== undefined) {
    const { begins } = checkpoint.part;
    memory.part = checkpoint.part;
    memory.rows = await rowsFrom(db, slice, slice.walk, begins);
    memory.firstPageIds = new Set((await rememberedPage(db, slice, slice.walk, begins))?.ids);
  }
  memory.growth = await recallGrowth(db, slice, checkpoint.page);
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
  memory.pageSize = Math.max(first?.ids.length ?? 0, previous?.ids.length ?? 0);
  memory.endsFull = memory.pageSize > 0 && (previous?.ids.length ?? 0) >= memory.pageSize;
  memory.usedKeys = new Set(await usedKeys(db, slice, walk));
  memory.rows = (await countShown(db, slice, walk)).distinct;
  return memory;
}
