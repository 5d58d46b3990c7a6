// A run: one pass of the worker over what is due in one project. Contact, plan, then several slices at a time,
// nearest deadline first, until nothing due is left.
import { windowAt } from '../day.ts';
import { causeChain, isOutlastError, OutlastError, settingsError } from '../errors.ts';
import type { Instant } from '../model.ts';
import { storable } from '../platform/canonical.ts';
import { UnansweredError } from '../platform/refusal.ts';
import { databaseError } from '../store/db-errors.ts';
import { readProbedFacts, type Facts } from '../store/facts.ts';
import { notYetKnown, parkProject, readProject, saveProject } from '../store/projects.ts';
import { closeRun, openRun, type RunCounts } from '../store/runs.ts';
import {
  countDue,
  endFrozenSessions,
  newestFailure,
  releaseHeldBy,
  type Only,
} from '../store/slice-leases.ts';
import { inSpan } from '../tracing.ts';
import { certifyMonths } from '../verify/certify.ts';
import { publishHeads } from '../verify/publish-heads.ts';
import { noBackgroundLane, startBackgroundLane } from './background/background-lane.ts';
import { noteTime } from './contact/clock-memory.ts';
import { makeContact } from './contact/contact.ts';
import { watchDeadlines } from './forecast/warn-of-deadlines.ts';
import { daysToAsk, enterDays, enterSlices, listsOf, type ArchivedScope } from './enter-days.ts';
import { workThrough, type Work } from './due-slices.ts';
import type { OperationCounts, RunOptions, RunReport, Worker } from './worker.ts';

const hourMs = 3_600_000;

type Ending = Pick<RunReport, 'outcome' | 'slicesLeft' | 'problem' | 'files'>;

/** Throws settings `source_changed` or `outside_window`, fatal `platform_refused`, and what the store throws. */
export function run(worker: Worker, options: RunOptions): Promise<RunReport> {
  const attributes = { 'outlast.project': worker.projectId };
  return inSpan('run', { attributes }, async (span) => {
    const report = await ran(worker, options);
    span.set({ 'outlast.outcome': report.outcome });
    return report;
  });
}

async function ran(worker: Worker, options: RunOptions): Promise<RunReport> {
  const { db, platform, projectId } = worker;
  const requestsBefore = platform.requests();
  const counts = noCounts();
  let runId: string | null = null;
  let ending: Ending = { outcome: 'failed', slicesLeft: 0, problem: null };
  try {
    ending = await pass(worker, options, counts, (opened) => (runId = opened));
  } catch (error) {
    ending = { ...ending, problem: storable(causeChain(databaseError(error) ?? error)) };
    ending = await endingOf(error, worker, options, ending);
    if (ending.outcome === 'failed') throw error;
  } finally {
    worker.meter?.run(ending.outcome);
    counts.requests = platform.requests() - requestsBefore;
    if (runId !== null) {
      const { problem } = ending;
      const isPart = options.only !== undefined && ending.outcome === 'done';
      const recorded = isPart ? 'part' : isQuiet(ending, counts) ? 'quiet' : ending.outcome;
      await noteTime(worker).catch(() => undefined);
      // A database that went away is reported by the statement that noticed it, not by this one.
      await closeRun(db, projectId, runId, platform.clock.now(), recorded, counts, problem).catch(
        () => undefined,
      );
    }
  }
  return { ...counts, projectId, ...ending };
}

async function pass(
  worker: Worker,
  options: RunOptions,
  counts: RunCounts & OperationCounts,
  opened: (runId: string) => void,
): Promise<Ending> {
  const { db, platform, projectId, scope, settings } = worker;
  const facts = await makeContact({
    ...worker,
    signal: options.signal,
    acceptNewSource: options.acceptNewSource ?? false,
    evenIfParked: options.evenIfParked ?? false,
  });
  if (facts === null) {
    return { outcome: 'parked', slicesLeft: 0, problem: 'the platform refused the key earlier' };
  }
  await noteTime(worker);
  const now = platform.clock.now();
  const only = narrowed(options.only, scope, facts, now);
  const days = only?.days;
  await releaseHeldBy(db, projectId, worker.holder);
  await endFrozenSessions(db, worker.leaseMs);
  await enterSlices(db, projectId, scope, facts, platform.clock, settings);
  if (days !== undefined) {
    await enterDays(db, projectId, scope, facts, days, now, settings, only?.resource);
  }
  opened(await openRun(db, projectId, now));
  // The platform's Date has whole seconds: what falls due within this one is due.
  const dueBy = only === undefined ? now + 1000 : null;
  const watch = watchDeadlines(worker);
  const background =
    only === undefined ? startBackgroundLane(worker, counts, options.signal) : noBackgroundLane;
  let work: Work;
  try {
    const asked = withOnly(options, only);
    work = await workThrough(
      worker,
      asked,
      facts,
      counts,
      dueBy,
      await dueFor(asked, worker, dueBy),
    );
  } catch (error) {
    await background.abandon();
    throw error;
  } finally {
    await watch.close();
  }
  const besides = await background.close();
  const files = [await certifyMonths(worker, options.signal), await publishHeads(worker)].filter(
    (trouble) => trouble !== null,
  );
  const { due, held } = await countDue(db, projectId, dueBy, only, work.handled);
  const slicesLeft = due + work.notDone;
  const others =
    held > 0
      ? `${held} slices are held by another process; should it be gone, they are free ${worker.leaseMs / 1000} s after its last word`
      : null;
  const problem = work.problem ?? besides.problem ?? others;
  if (options.signal.aborted) return { outcome: 'stopped', slicesLeft, problem, files };
  if (slicesLeft + besides.notDone > 0) return { outcome: 'left', slicesLeft, problem, files };
  if (work.handled.length > 0) return { outcome: 'done', slicesLeft, problem, files };
  // While a platform is down most ticks find nothing due: what failed waits for its next attempt.
  const failure = problem ?? (await newestFailure(db, projectId));
  return { outcome: 'idle', slicesLeft, problem: failure, files };
}

/** What a person asked for, with its days checked against what the platform answers. */
function narrowed(
  only: Only | undefined,
  scope: ArchivedScope,
  facts: Facts,
  now: Instant,
): Only | undefined {
  if (only?.days === undefined) return only;
  const resources = listsOf(scope).map((list) => list.resource);
  const wanted = only.resource === undefined ? resources : [only.resource];
  return { ...only, days: daysToAsk(only.days, wanted, facts, now) };
}

/** Counted only for who looks on. */
async function dueFor(
  { only, onProgress }: RunOptions,
  { db, projectId }: Worker,
  dueBy: Instant | null,
): Promise<number> {
  if (onProgress === undefined) return 0;
  const { due, held } = await countDue(db, projectId, dueBy, only);
  return due - held;
}

const withOnly = (options: RunOptions, only: Only | undefined): RunOptions =>
  only === undefined ? options : { ...options, only };

/** What a failure makes of the run; `failed` is thrown on. */
async function endingOf(
  error: unknown,
  worker: Worker,
  options: RunOptions,
  failed: Ending,
): Promise<Ending> {
  const { db, platform, projectId, log } = worker;
  try {
    await accountFromNow(error, worker);
  } catch {
    // A database that fails as well is told of by whatever needs it next.
  }
  if (options.signal.aborted || isOutlastError(error, 'aborted')) {
    return { ...failed, outcome: 'stopped', problem: null };
  }
  const now = platform.clock.now();
  if (isOutlastError(error, 'platform_forbidden')) {
    // P11: not asked again before an hour, unless the key changes or a person asks.
    await parkProject(db, projectId, causeChain(error), now, now + hourMs);
    log.error(
      { projectId, error: causeChain(error) },
      'The platform refused the key: the project is parked',
    );
    return { ...failed, outcome: 'parked' };
  }
  if (isOutlastError(error, 'date_filter_ignored')) {
    // It is recorded as a fact by now: from the next run on, a slice stands for its month (proof rule 4).
    log.warn({ projectId, error: causeChain(error) }, 'Days are no use here: going on by month');
    return { ...failed, outcome: 'left' };
  }
  await refuseWrongPath(error, worker);
  const isPassing =
    isOutlastError(error, 'platform_unavailable') || isOutlastError(error, 'platform_unusable');
  return isPassing ? { ...failed, outcome: 'left' } : failed;
}

/**
 * A project to which the platform has only said no, or that it is out of order, is accounted for from then on (P7): the
 * month may be over when it answers. Where the witnesses of the time do not agree, from when they do.
 */
async function accountFromNow(
  error: unknown,
  { db, platform: { clock }, projectId, source }: Worker,
): Promise<void> {
  const isAnswered = error instanceof OutlastError && /^(?:platform_|aborted)/.test(error.code);
  // What is not in the database cannot be parked.
  const isEntered = clock.isSettled() || isOutlastError(error, 'platform_forbidden');
  if (!isAnswered || !isEntered || (await readProject(db, projectId, source)) !== null) return;
  const now = clock.now();
  const firstDay = clock.isSettled() ? windowAt(now).from : notYetKnown;
  await saveProject(db, projectId, source, firstDay, now);
}

/**
 * A platform that has never shown a list and knows no such path is most likely another address. One that has is out of
 * order: gateways answer 404 then, too. Throws settings `base_url_wrong`.
 */
async function refuseWrongPath(error: unknown, { db, projectId, source }: Worker): Promise<void> {
  if (!(error instanceof UnansweredError) || error.status !== 404) return;
  if ((await readProbedFacts(db, projectId)).probedAt !== null) return;
  throw settingsError(
    'base_url_wrong',
    `${source.baseUrl} knows no list of orders or classes: ${error.message}. Check the address and its path (OUTLAST_BASE_URL, or baseUrl in OUTLAST_PROJECTS_FILE); if it is right, the platform is out of order: try again later.`,
  );
}

const isQuiet = (ending: Ending, counts: RunCounts): boolean =>
  ending.outcome === 'done' &&
  counts.recordsNew + counts.recordsChanged + counts.recordsRejected === 0;

const noCounts = (): RunCounts & OperationCounts => ({
  requests: 0,
  slicesDone: 0,
  recordsShown: 0,
  recordsNew: 0,
  recordsChanged: 0,
  recordsRejected: 0,
  operationsAsked: 0,
  operationsDone: 0,
  operationsLost: 0,
});
