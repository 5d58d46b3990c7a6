// Works through what is due: several slices at a time under the one rate limit, nearest deadline first. One failure that
// concerns every slice stops them all.
import { dayOf, windowAt } from '../day.ts';
import { causeChain, isOutlastError, transient } from '../errors.ts';
import { wholeList, type Day, type Instant, type ListedResource, type SliceKey } from '../model.ts';
import type { CommitEffects } from '../store/commit.ts';
import type { Platform } from '../platform/platform.ts';
import { analyzeNew, noStatementTimeout, withMixedTx, withTx } from '../store/db.ts';
import { endInclusiveLists } from '../store/evidence.ts';
import type { Slice } from '../store/ledger.ts';
import type { RunCounts } from '../store/runs.ts';
import { nextSlice } from '../store/due.ts';
import { createSemaphore } from '../semaphore.ts';
import { inSpan } from '../tracing.ts';
import type { ListContacts } from './contact/contact.ts';
import { createLanes } from './lanes.ts';
import { enterSlices, listsOf } from './enter-days.ts';
import { decidedAfterMs } from './due-times.ts';
import { createSliceQueue } from './slice-queue.ts';
import {
  readSlice,
  type SliceContext,
  type SliceOutcome,
  type DueSlice,
} from './slice/read-slice.ts';
import { readEmptyDays } from './slice/read-empty-days.ts';
import { clocksOf, evidenceOf, overAt } from './verdicts.ts';
import { createRepetition } from './unforeseen-errors.ts';
import type { RunOptions, Worker } from './worker.ts';

/** How often an idle lane looks whether today's tail is due again, in milliseconds. */
const lookAgainMs = 1_000;
/** So many slices of a list in a row without an answer put it aside: it is down, not busy. */
const failuresInARow = 3;
/** New records of a run after which tables without statistics are looked for, and again after four times as many. */
const firstAnalyzeAt = 5_000;

/**
 * More slices than requests at a time: while a page of one is read, or one is settled in the database, which takes as
 * long as some requests, the platform answers for another.
 */
const lanesFor = (requests: number): number => requests + 1 + Math.floor(requests / 4);

/** A list that does not answer. */
type Silence = {
  /** So many slices in a row. */
  inARow: number;
  /** What came instead the first time; null once it has answered in this run. */
  first: string | null;
};

export type Work = {
  /** Slices that had a turn, and how many of them are not done. */
  handled: SliceKey[];
  notDone: number;
  /** The newest problem, in words. */
  problem: string | null;
};

/**
 * Works on the lists that answer, and puts one aside that does so no more. Adds to `counts` as it goes. Throws what
 * concerns more than one list.
 */
export async function workThrough(
  worker: Worker,
  options: RunOptions,
  contacts: ListContacts,
  counts: RunCounts,
  dueBy: Instant | null,
  slicesDue: number,
  /** The newest day that is in the ledger. */
  enteredOn: Day,
): Promise<Work> {
  const { db, projectId, log } = worker;
  const { facts, answering } = contacts;
  const slots = createSemaphore(worker.concurrency);
  const platform: Platform = {
    ...worker.platform,
    page: (query, aborted) => worker.platform.page(query, aborted, slots),
  };
  const { clock } = platform;
  const endInclusive = await endInclusiveLists(db, projectId, clock.now());
  const queue = createSliceQueue(() => clock.now());
  const notDone = new Set<string>();
  let problem: string | null = null;
  const silences = new Map<ListedResource, Silence>();
  const unforeseen = createRepetition();
  // One failure that concerns all slices stops all of them.
  const lanes = createLanes(options.signal);
  const { signal } = lanes;
  const requestsBefore = platform.requests();
  let analyzeAt = firstAnalyzeAt;

  const onCommit = (resource: ListedResource, effects: CommitEffects & { shown: number }): void => {
    worker.meter?.records(resource, effects);
    counts.recordsShown += effects.shown;
    counts.recordsNew += effects.inserted;
    counts.recordsChanged += effects.changed;
    counts.recordsRejected += effects.rejected;
    counts.requests = platform.requests() - requestsBefore;
    options.onProgress?.(counts, slicesDue);
  };

  const empty: Slice[] = [];
  // What a person names is read day by day.
  const bySpans = options.only === undefined ? listsOf(worker.scope) : [];
  /** Before the first past day of a list: of all that show nothing at once. Whether it did. */
  const readBySpans = async ({ resource, owner }: Slice): Promise<boolean> => {
    const at = bySpans.findIndex((list) => list.resource === resource && list.owner === owner);
    const [list] = at < 0 ? [] : bySpans.splice(at, 1);
    if (list === undefined) return false;
    const isEndInclusive = endInclusive.has(resource);
    const read = await readEmptyDays({ ...worker, platform, signal, isEndInclusive }, list);
    empty.push(...read);
    counts.slicesDone += read.length;
    options.onProgress?.(counts, slicesDue);
    return read.length > 0;
  };

  let today = enteredOn;
  let by = dueBy;
  const takeNext = async (): Promise<DueSlice | null> => {
    const now = clock.now();
    // A run that outlasts the day enters the new one: its tail is read like any other (P7).
    const isNewDay = dayOf(now) !== today;
    if (isNewDay && dueBy !== null) {
      await enterSlices(db, projectId, worker.scope, facts, clock, worker.settings);
    }
    // What has fallen due meanwhile is due, as it would be in a run of its own: today's tail above all.
    if (by !== null && (queue.isReady() || isNewDay)) by = Math.max(by, now + 1000);
    today = dayOf(now);
    const of = {
      projectId,
      dueBy: by,
      today,
      only: options.only ?? {},
      except: queue.except(),
      lists: listsOf(worker.scope).filter((list) => answering.has(list.resource)),
      lapsedBefore: windowAt(Math.max(0, clock.earliest()) - decidedAfterMs).from,
    };
    const due = await withMixedTx(db, async (tx) => {
      const slice = await nextSlice(tx, of);
      if (slice === null) return null;
      return { slice, evidence: await evidenceOf(tx, slice, clocksOf(clock)) };
    });
    if (due === null) return null;
    const { slice } = due;
    const isDay = slice.day !== wholeList;
    const isOver = now >= overAt(slice);
    if (isDay && isOver && answering.has(slice.resource) && (await readBySpans(slice)))
      return takeNext();
    queue.begin(slice, isDay && !isOver);
    return due;
  };

  // One at a time: each must know of the slices taken before it.
  let taking: Promise<DueSlice | null> = Promise.resolve(null);
  const take = (): Promise<DueSlice | null> => (taking = taking.then(takeNext, takeNext));

  const readDue = async (due: DueSlice): Promise<SliceOutcome> => {
    const { resource, day } = due.slice;
    const context: SliceContext = {
      ...worker,
      platform,
      facts,
      signal,
      endInclusive,
      onCommit: (effects) => onCommit(resource, effects),
      isAskedFor: options.only !== undefined,
      isDayNamed: options.only?.days !== undefined,
      log: log.child({ projectId }),
    };
    const attributes = { 'outlast.resource': resource, 'outlast.day': day };
    try {
      return await inSpan('slice', { attributes }, () => readSlice(context, due));
    } catch (error) {
      if (!isOutlastError(error, 'platform_forbidden')) throw error;
      // It is this list that is refused to the key: the others go on.
      await contacts.close(resource, error);
      return { done: false, problem: causeChain(error) };
    }
  };

  /** Counts what came of a turn, and puts aside a list that does not answer any more. */
  const note = async (
    { resource: list, owner, day }: Slice,
    isFirst: boolean,
    outcome: SliceOutcome,
  ): Promise<void> => {
    const name = [list, owner, day].filter((part) => part !== '').join(' ');
    unforeseen.note(outcome.unforeseen ?? null);
    const before = silences.get(list);
    const silence: Silence =
      outcome.isUnanswered === true
        ? { inARow: (before?.inARow ?? 0) + 1, first: before ? before.first : outcome.problem }
        : { inARow: 0, first: null };
    silences.set(list, silence);
    if (outcome.done) {
      if (isFirst || notDone.delete(name)) counts.slicesDone += 1;
      options.onProgress?.(counts, slicesDue);
      return;
    }
    notDone.add(name);
    problem = outcome.problem;
    if (silence.inARow >= failuresInARow && answering.has(list)) {
      await contacts.close(list, transient('platform_unavailable', outcome.problem ?? ''));
    }
    // While nothing is answered, every slice would say so: the run says it once.
    log[outcome.isUnanswered === true ? 'debug' : 'warn'](
      { projectId, resource: list, day, problem: outcome.problem },
      'A slice is not done',
    );
  };

  /** Without statistics of tables that have grown the archive is slower, and as right. */
  const analyzeGrown = async (): Promise<void> => {
    if (counts.recordsNew < analyzeAt) return;
    analyzeAt = counts.recordsNew * 4;
    await withTx(db, analyzeNew, noStatementTimeout).catch((error: unknown) =>
      log.warn({ error: causeChain(error) }, 'Tables that have grown were not analyzed'),
    );
  };

  const mostLanes = worker.lanes ?? lanesFor(worker.concurrency);
  const lane = async (beginAnother: (atMost: number) => void): Promise<void> => {
    // Ends: see slice-queue.ts (P9).
    while (!signal.aborted && !unforeseen.isTooOften()) {
      const due = await take();
      if (due === null) {
        // While others work on, someone must be there for today's tail.
        if (!queue.isWorthWaiting()) return;
        do await lanes.idle(lookAgainMs);
        while (queue.isWorthWaiting() && !queue.isReady() && !signal.aborted);
        continue;
      }
      // Where there was one there may be more. A platform that has not answered yet is asked no more than it may be.
      beginAnother(counts.slicesDone > 0 ? mostLanes : Math.min(mostLanes, worker.concurrency));
      const outcome = await readDue(due);
      const isFirst = queue.end(due.slice);
      lanes.wake();
      await analyzeGrown();
      await note(due.slice, isFirst, outcome);
    }
  };

  await lanes.run(lane);
  for (const [list, { first }] of silences) {
    if (first === null || !answering.has(list)) continue;
    await contacts.close(list, transient('platform_unavailable', first));
  }
  const handled = [...empty, ...queue.handled()];
  return { handled, notDone: notDone.size, problem: saidOf(notDone, problem) };
}

/** So many are named; the ledger has all. */
const namedAtMost = 3;

/** The newest problem, and which slices are not done. */
function saidOf(notDone: ReadonlySet<string>, problem: string | null): string | null {
  if (problem === null || notDone.size === 0) return problem;
  const named = [...notDone].slice(0, namedAtMost).join(', ');
  const more = notDone.size > namedAtMost ? ` and ${notDone.size - namedAtMost} more` : '';
  return `${named}${more}: ${problem}`;
}
