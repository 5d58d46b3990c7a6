// Reads a list that is cut, as a search index cuts it that lists and counts so many at most: from its other end as
// well, until both ends meet, and where they do not, each status by itself from both its ends. A list that leaves
// orders out unless their status is asked for is read by status as well. All of it is one walk. What it comes to is a
// proof only where a second witness says so (proof rule 1): the totals of the statuses, each below the cut, or the same
// once more an hour later.
import { isOutlastError } from '../../errors.ts';
import { orderStatuses } from '../../model.ts';
import { readFact, recordFacts } from '../../store/facts.ts';
import { reopenSlices, type Slice } from '../../store/ledger.ts';
import type { CutList, PartInProgress, WalkQuery } from '../../store/checkpoint.ts';
import { countShown, countStatuses, rememberedPage } from '../../store/pages.ts';
import { countUnshown } from '../../store/walk-ends.ts';
import { askTotal } from '../ask-list.ts';
import { listTotal } from '../list-rules.ts';
import type { Whole } from './conclude-walk.ts';
import type { Act, ActContext } from './conclude.ts';
import { capOf, opposite } from './second-witness.ts';
import {
  countStatusesOf,
  isNoneConfirmed,
  knownOf,
  saysNothingByStatus,
  statusesExceed,
  statusesUnknown,
  statusTotals,
  sumOfTotals,
} from './status-totals.ts';
import { partStart, type Start } from './walk-start.ts';
import { readOn, type Reading, type WalkContext } from './walk.ts';

/** What is known of a cut list when its first part has ended. */
export type NewlyCut = Omit<CutList, 'size' | 'hasGap'>;

type Ended = Extract<Reading, { kind: 'ended' }>;
/** `mute`: the platform answers nothing by status, so that the parts cannot be read. */
type PartReading = Reading | { kind: 'mute' };
/** One part as it is asked for; `meets`: it is over where it comes upon what those pages showed. */
type Part = { query: WalkQuery; meets: PartInProgress['meets'] };

/** Reads a part to its end. */
export async function readPart(
  context: WalkContext,
  slice: Slice,
  start: Start,
): Promise<PartReading> {
  const reading = readOn(context, slice, start);
  if (start.memory.query.status === undefined) return reading;
  return reading.catch(async (error: unknown) => {
    if (isOutlastError(error, 'platform_refused')) return { kind: 'mute' };
    if (!isOutlastError(error, 'platform_unavailable')) throw error;
    // In an outage the list is not answered either, and this walk is gone on with when it is over.
    const { order: _order, status: _status, ...range } = start.memory.query;
    await askTotal(context.platform, slice, range, context.signal);
    return { kind: 'mute' };
  });
}

/**
 * Reads on in parts after the first one has ended, or after the part that a stopped walk went on with (`resumed`). All
 * is committed when this resolves.
 */
export async function readInParts(
  context: WalkContext & ActContext,
  { slice }: Act,
  start: Start,
  given: NewlyCut | CutList,
  resumed: Ended | { kind: 'mute' } | null,
): Promise<
  | { kind: 'restart'; why: string }
  | { kind: 'ended'; whole: Whole; isUnsure: boolean; isMute: boolean }
> {
  const { walk } = start;
  const { order: _order, status: _status, ...range } = start.memory.query;
  let list: CutList =
    'size' in given
      ? given
      : { ...given, size: (await countShown(context.db, slice, walk)).distinct, hasGap: false };
  let end = await endOf(context, slice, walk);
  let part: Part | null;
  if (resumed === null) {
    part = secondPart(slice, range, list, end);
    list = { ...list, hasGap: part === null };
  } else if (resumed.kind === 'ended') {
    ({ part, list } = partAfter(slice, range, start, list, resumed, end));
  } else return muteIn(context, slice, walk, list);
  // Ends: two parts for the list and two for each status, each of which ends by itself (P9).
  while (part !== null) {
    const next = partStart(walk, part.query, { list, begins: end, meets: part.meets });
    const read = await readPart(context, slice, next);
    if (read.kind === 'restart') return read;
    if (read.kind === 'mute') return muteIn(context, slice, walk, list);
    end = await endOf(context, slice, walk);
    ({ part, list } = partAfter(slice, range, next, list, read, end));
  }
  const { isMute, ...whole } = await judgeCut(context, slice, walk, range, list);
  return { kind: 'ended', whole, isUnsure: list.isUnsure === true, isMute };
}

/** A part could not be read: what was shown is held, and nothing is proved. */
async function muteIn(
  { db }: ActContext,
  slice: Slice,
  walk: number,
  list: CutList,
): Promise<{ kind: 'ended'; whole: Whole; isUnsure: boolean; isMute: boolean }> {
  const { distinct } = await countShown(db, slice, walk);
  const whole: Whole = {
    why: 'read in parts',
    nextKeyForm: null,
    distinct,
    ...listedOf(list),
    order: list.first,
    totalAfter: list.total,
    agrees: false,
    proof: 'none',
    isAbsenceTrusted: false,
    disagreement: saysNothingByStatus,
  };
  return { kind: 'ended', whole, isUnsure: list.isUnsure === true, isMute: true };
}

const listedOf = ({ hides, size }: CutList): Pick<Whole, 'listed'> =>
  hides === true ? { listed: size } : {};

/** The number of the page after the last one of a walk. */
async function endOf({ db }: ActContext, slice: Slice, walk: number): Promise<number> {
  return ((await rememberedPage(db, slice, walk))?.number ?? -1) + 1;
}

const ordered = (query: WalkQuery, order: 'asc' | 'desc'): WalkQuery =>
  order === 'desc' ? { ...query, order } : query;

function secondPart(slice: Slice, range: WalkQuery, list: CutList, end: number): Part | null {
  if (list.isBlind || list.hides) return statusPart(slice, range, 1);
  return { query: ordered(range, opposite(list.first)), meets: { from: 0, to: end } };
}

/** A status from its oldest order on; null where there is none to ask for: classes have no status. */
function statusPart(slice: Slice, range: WalkQuery, status: number): Part | null {
  const known = orderStatuses.find((one) => one === status);
  if (slice.resource !== 'orders' || known === undefined) return null;
  return { query: { ...range, status: known }, meets: null };
}

/** What follows a part that has ended. */
function partAfter(
  slice: Slice,
  range: WalkQuery,
  { memory }: Start,
  before: CutList,
  read: Ended,
  end: number,
): { part: Part | null; list: CutList } {
  const { query, rows, totalBefore, part } = memory;
  const list: CutList = { ...before, ...(read.end === 'unsure' ? { isUnsure: true } : {}) };
  if (query.status !== undefined) list.statusRows = (before.statusRows ?? 0) + rows;
  const gap = { ...list, hasGap: true };
  const hasMet = read.end === 'met';
  if (query.status === undefined) {
    if (hasMet && list.mayHide !== true) return { part: null, list };
    const next = statusPart(slice, range, 1);
    return { part: next, list: next === null && !hasMet ? gap : list };
  }
  const next = statusPart(slice, range, query.status + 1);
  const isCounted = read.end === 'whole' && rows >= (totalBefore ?? 0);
  // Of a list that was not cut a status may still be.
  const isWhole = isCounted && (list.hides === true ? !memory.endsFull : rows < list.size);
  if (hasMet || isWhole) return { part: next, list };
  if (part === null || part.meets !== null || list.isBlind) return { part: next, list: gap };
  const meets = { from: part.begins, to: end };
  return { part: { query: ordered(query, 'desc'), meets }, list };
}

async function judgeCut(
  context: ActContext,
  slice: Slice,
  walk: number,
  range: WalkQuery,
  list: CutList,
): Promise<Whole & { isMute: boolean }> {
  const { db, platform, facts, signal } = context;
  const { distinct } = await countShown(db, slice, walk);
  const total = listTotal(await askTotal(platform, slice, range, signal), facts);
  const whole = {
    why: 'read in parts',
    nextKeyForm: null,
    distinct,
    ...listedOf(list),
    order: list.first,
    isMute: false,
  };
  const agreed = { ...whole, agrees: true, disagreement: null, isAbsenceTrusted: true };
  // Another process, or another day, may have learned it since the parts began.
  const known = (await readFact(db, slice.projectId, statusTotals))?.value;
  const asksStatuses = list.hides === true || list.mayHide === true || known === statusesExceed;
  const hiding = asksStatuses ? await lookByStatus(context, slice, walk, range) : null;
  const unproved = { agrees: false, proof: 'none', isAbsenceTrusted: false } as const;
  const mute = { ...whole, ...unproved, disagreement: saysNothingByStatus, isMute: true };
  // More was counted by status and nothing more is shown, or nothing is counted nor shown: the filter may have gone silent
  // meanwhile.
  const isSilent =
    list.hides === true &&
    distinct === list.size &&
    (hiding?.sum !== null || (distinct === 0 && !(await isNoneConfirmed(context, slice, range))));
  if (isSilent || (slice.resource === 'orders' && known === statusesUnknown)) {
    return { ...mute, totalAfter: total };
  }
  // Its total is that of all that was shown: it alone was not cut, or those of the statuses are too high. A list that
  // leaves orders out needs the statuses as a witness.
  const isWitnessed = hiding === null || (hiding.sum !== null && !hiding.isUnshown);
  if (!list.isBlind && isWitnessed && total === distinct && list.total === distinct) {
    return { ...agreed, proof: 'walk', totalAfter: total };
  }
  const mayBeCut =
    list.isBlind || total === null || total === list.size || total === capOf(context, slice);
  const isCut = mayBeCut && list.hides !== true;
  if (isCut && total !== null && distinct > total) await learnCap(context, slice, total);
  const cap = total ?? list.size;
  const byStatus = hiding ?? (isCut ? await lookByStatus(context, slice, walk, range) : null);
  if (byStatus?.sum === distinct && isShownWhole(byStatus, isCut ? cap : Infinity)) {
    return { ...agreed, proof: 'walk', totalAfter: distinct };
  }
  // The ends of every part have met, but nobody vouches for it except the list itself.
  const isAllShown = isCut ? distinct >= cap : list.hides === true && total === null;
  const hasGap = list.hasGap || (await showsFewer(context, slice, walk, list));
  if (isAllShown && !hasGap && (byStatus?.atLeast ?? 0) <= distinct) {
    return { ...agreed, proof: 'none', totalAfter: null };
  }
  // Its own total says nothing against it.
  if (hiding !== null && hiding.sum === null && (total === distinct || total === list.size)) {
    return { ...mute, totalAfter: total };
  }
  const disagreement = isCut
    ? `the platform shows no more than ${list.size} of a list at a time, and ${distinct} of this day from both ends and by status: nothing tells whether there are more`
    : `the platform counts ${total ?? 'nothing'}, and showed ${distinct} from both ends and by status`;
  return { ...whole, ...unproved, disagreement, totalAfter: total };
}

/** Whether the parts of single statuses showed fewer orders than the walk has of them: a filter that does not work. */
async function showsFewer(
  { db }: ActContext,
  slice: Slice,
  walk: number,
  { statusRows }: CutList,
): Promise<boolean> {
  return statusRows !== undefined && statusRows < knownOf(await countStatuses(db, slice, walk));
}

/** What the statuses say of a walk in parts. */
type ByStatus = {
  /** Of each status its total, where it is given, and how many orders the walk has. */
  counts: { total: number | null; shown: number }[];
  /** Of the totals; null unless all are given. */
  sum: number | null;
  /** The sum of those that are given. */
  atLeast: number;
  /** An order stands beside them that the walk was not shown. */
  isUnshown: boolean;
};

/** Null for classes, which have no status. */
async function lookByStatus(
  context: ActContext,
  slice: Slice,
  walk: number,
  range: WalkQuery,
): Promise<ByStatus | null> {
  if (slice.resource !== 'orders') return null;
  const { db } = context;
  const held = await countStatuses(db, slice, walk);
  const { totals, ids, filter } = await countStatusesOf(context, slice, range, true);
  const counts = orderStatuses.map((status, i) => ({
    total: filter === 'ignored' ? null : (totals[i] ?? null),
    shown: held.get(status) ?? 0,
  }));
  return {
    counts,
    sum: sumOfTotals(counts.map(({ total }) => total)),
    atLeast: counts.reduce((sum, { total }) => sum + (total ?? 0), 0),
    isUnshown: (await countUnshown(db, slice, walk, ids)) > 0,
  };
}

/** Whether the total of each status is below the cut, and as many orders were shown of it. */
const isShownWhole = ({ counts }: ByStatus, cap: number): boolean =>
  counts.every(({ total, shown }) => total !== null && total < cap && total === shown);

/** Lists and totals stop at `cap`: what was proved with so many records, or more, by such a total was not. */
async function learnCap(
  { db, platform, facts, learned, log }: ActContext,
  { projectId, resource }: Slice,
  cap: number,
): Promise<void> {
  learned.caps.set(resource, cap);
  const fact = `${resource}.cap`;
  if (facts.get(fact) === String(cap)) return;
  await recordFacts(db, projectId, { [fact]: String(cap) }, platform.clock.now());
  await reopenSlices(db, projectId, resource, { atLeast: cap });
  log.warn(
    { projectId, resource, cap },
    'The platform cuts its lists and totals: long days are read in parts',
  );
}
