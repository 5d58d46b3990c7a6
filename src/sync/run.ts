// A run: one pass of the worker over what is due in one project. Contact, plan, then several slices at a time,
// nearest deadline first, until nothing due is left.
import { dayOf, minuteMs, windowAt } from '../day.ts';
import { causeChain, isOutlastError, OutlastError, settingsError } from '../errors.ts';
import { listedResources, type Day, type Instant, type ListedResource } from '../model.ts';
import { storable } from '../platform/canonical.ts';
import { UnansweredError } from '../platform/refusal.ts';
import { databaseError } from '../store/db-errors.ts';
import { readFacts, type Facts } from '../store/facts.ts';
import {
  notYetKnown,
  parkProject,
  readProject,
  saveProject,
  unparkProject,
} from '../store/projects.ts';
import { withTx } from '../store/db.ts';
import { countOpen } from '../store/operations/watched.ts';
import { closeRun, openRun, type RunCounts } from '../store/runs.ts';
import { countDue, newestFailure, type Only } from '../store/due.ts';
import { inSpan } from '../tracing.ts';
import { certifyMonths } from '../verify/certify.ts';
import { publishHeads } from '../verify/publish-heads.ts';
import {
  nothingLeft,
  startBackgroundLane,
  type BackgroundLane,
  type BackgroundWork,
} from './background/background-lane.ts';
import { askBooks } from './ask-books.ts';
import { wasShown } from './ask-list.ts';
import { takeOrAsk } from './ask-holder.ts';
import { askTokens } from './background/token-snapshots.ts';
import { askOperations } from './background/watched-operations.ts';
import { makeContact, type ListContacts } from './contact/contact.ts';
import { isResting, noteRefusal, refusedRestMs } from './contact/resource-health.ts';
import {
  archivedLists,
  daysToAsk,
  enterDays,
  enterSlices,
  listsOf,
  type ArchivedScope,
} from './enter-days.ts';
import { workThrough, type Work } from './due-slices.ts';
import type { Hold } from './holder.ts';
import type { OperationCounts, RunOptions, RunReport, Worker } from './worker.ts';

type Ending = Pick<RunReport, 'outcome' | 'slicesLeft' | 'problem' | 'files' | 'refused'>;

const nothingDone = { slicesLeft: 0, problem: null };

/**
 * Takes the project for one run; where another process holds it, the run is asked of that one. Throws settings
 * `source_changed` or `outside_window`, fatal `platform_refused`, and what the store throws.
 */
export async function run(worker: Worker, options: RunOptions): Promise<RunReport> {
  const taken = await takeOrAsk(worker, options);
  if (taken === null) {
    return { ...noCounts(), projectId: worker.projectId, ...nothingDone, outcome: 'stopped' };
  }
  if (!('worker' in taken)) return taken;
  try {
    return await runHeld(taken, options);
  } finally {
    await taken.release();
  }
}

/** As `run`, where the project is held. Another process that takes it ends the run: it has left something then. */
export function runHeld(hold: Hold<Worker>, options: RunOptions): Promise<RunReport> {
  const { worker } = hold;
  const attributes = { 'outlast.project': worker.projectId };
  const signal = AbortSignal.any([options.signal, hold.signal]);
  return inSpan('run', { attributes }, async (span) => {
    const report = await ran(worker, { ...options, signal });
    if (hold.signal.aborted && !options.signal.aborted) {
      Object.assign(report, { outcome: 'left', problem: takenText });
    }
    if (report.problem === takenText) worker.meter?.leaseLost();
    span.set({ 'outlast.outcome': report.outcome });
    return report;
  });
}

const takenText = 'another process has taken the project';

async function ran(worker: Worker, options: RunOptions): Promise<RunReport> {
  const { db, platform, projectId } = worker;
  const requestsBefore = platform.requests();
  const counts = noCounts();
  let runId: string | null = null;
  let ending: Ending = { ...nothingDone, outcome: 'failed' };
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
      const { outcome, problem } = ending;
      const isQuiet = counts.recordsNew + counts.recordsChanged + counts.recordsRejected === 0;
      const done = options.only !== undefined ? 'part' : isQuiet ? 'quiet' : 'done';
      const recorded = outcome === 'done' ? done : outcome;
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
  const { signal } = options;
  const contacts = await makeContact({
    ...worker,
    list: options.only?.resource,
    signal,
    acceptNewSource: options.acceptNewSource ?? false,
    evenIfParked: options.evenIfParked ?? false,
  });
  if (contacts === null) {
    return { outcome: 'parked', slicesLeft: 0, problem: 'the platform refused the key earlier' };
  }
  const { facts } = contacts;
  const now = platform.clock.now();
  const only = narrowed(options.only, scope, facts, now);
  const days = only?.days;
  await enterSlices(db, projectId, scope, facts, platform.clock, settings);
  if (days !== undefined) {
    await enterDays(db, projectId, scope, facts, days, now, settings, only?.resource);
  }
  opened(await withTx(db, (tx) => openRun(tx, projectId, now)));
  const asked = only === undefined ? options : { ...options, only };
  const work = await workOff(worker, asked, contacts, counts, dayOf(now));
  const files = [await certifyMonths(worker, signal), await publishHeads(worker)].filter(
    (trouble) => trouble !== null,
  );
  const { handled, dueBy } = work;
  const lists = listsOf(scope);
  const left = await countDue(db, projectId, dueBy, { only: only ?? {}, lists, except: handled });
  const slicesLeft = left + work.notDone;
  const closed = [...contacts.problems].map(([list, { problem }]) => `${list}: ${problem}`);
  const problem = closed.length > 0 ? closed.join('; ') : work.problem;
  const refused = [...contacts.problems].flatMap(([list, { isRefused }]) =>
    isRefused ? [list] : [],
  );
  const ending = { slicesLeft, problem, files, refused };
  if (signal.aborted) return { ...ending, outcome: 'stopped' };
  if (await isAllRefused(worker, refused)) {
    await park(worker, problem ?? '');
    return { ...ending, outcome: 'parked' };
  }
  if (contacts.answering.size === 0) await withTx(db, (tx) => unparkProject(tx, projectId));
  const isLeft = slicesLeft > 0 || closed.length > 0 || work.isLeftBeside;
  if (isLeft) return { ...ending, outcome: 'left' };
  if (handled.length > 0) return { ...ending, outcome: 'done' };
  // While a platform is down most ticks find nothing due: what failed waits for its next attempt.
  return { ...ending, outcome: 'idle', problem: problem ?? (await newestFailure(db, projectId)) };
}

type WorkedOff = Work & {
  /** What was due by then was worked on; null: due or not. */
  dueBy: Instant | null;
  /** What is done beside the slices is not all done. */
  isLeftBeside: boolean;
};

/** Does what is due: the books, the slices and, beside them, operations, tokens and lists that do not answer. */
async function workOff(
  worker: Worker,
  options: RunOptions,
  contacts: ListContacts,
  counts: RunCounts & OperationCounts,
  today: Day,
): Promise<WorkedOff> {
  const { db, platform, projectId, scope, settings } = worker;
  const { only, signal } = options;
  // The platform's Date has whole seconds: what falls due within this one is due.
  const dueNow = (): Instant | null => (only === undefined ? platform.clock.now() + 1000 : null);
  let dueBy: Instant | null;
  let hasReturned = false;
  const knocking: BackgroundWork = {
    name: 'the lists that do not answer',
    everyMs: askAgainMs,
    look: async () => {
      if (!(await contacts.askAgain())) return nothingLeft;
      await enterSlices(db, projectId, scope, contacts.facts, platform.clock, settings);
      hasReturned = true;
      return nothingLeft;
    },
  };
  const start = (work: BackgroundWork): BackgroundLane => startBackgroundLane(work, worker, signal);
  const knocks = start(knocking);
  const lanes = (only === undefined ? besidesOf(worker, counts) : []).map(start);
  const rounds: Work[] = [];
  try {
    const first = await askBooks(worker, contacts.answering, signal, { hasRead: false });
    // The books judge every day anew: what is due, is due by now.
    dueBy = dueNow();
    const of = { only: only ?? {}, lists: listsOf(scope) };
    // Counted only for who looks on.
    const due = options.onProgress === undefined ? 0 : await countDue(db, projectId, dueBy, of);
    rounds.push(await workThrough(worker, options, contacts, counts, dueBy, due, today));
    await knocks.close();
    const books = await askBooks(worker, contacts.answering, signal, { hasRead: true });
    // A list has come back too late for the lanes that had found nothing more to do; or a day is due again of which the
    // books count more: it is read at once, and they are written down again when their turn comes.
    if (hasReturned || books.isMore) {
      dueBy = dueNow();
      rounds.push(await workThrough(worker, options, contacts, counts, dueBy, due, today));
    }
    const besides = await Promise.all(lanes.map((lane) => lane.close()));
    const problems = [...rounds.toReversed(), books, first, ...besides];
    return {
      handled: rounds.flatMap(({ handled }) => handled),
      notDone: rounds.reduce((sum, { notDone }) => sum + notDone, 0),
      problem: problems.find(({ problem }) => problem !== null)?.problem ?? null,
      dueBy,
      isLeftBeside: besides.some(({ notDone }) => notDone > 0),
    };
  } catch (error) {
    await Promise.all([knocks, ...lanes].map((lane) => lane.abandon()));
    throw error;
  }
}

/** Lists that do not answer are asked again so often while a run lasts. */
const askAgainMs = minuteMs;
/** What was watched is looked for so often. */
const lookAgainMs = 10_000;

/** What a run does beside its lists, unless a person asked for certain slices only. */
function besidesOf(worker: Worker, counts: RunCounts & OperationCounts): BackgroundWork[] {
  return [
    {
      name: 'the watched operations',
      everyMs: lookAgainMs,
      look: (signal) => askOperations(worker, counts, signal),
    },
    {
      name: 'the tokens',
      everyMs: lookAgainMs,
      look: async (signal) => {
        const problem = await askTokens(worker, counts, signal);
        return { notDone: problem === null ? 0 : 1, problem };
      },
    },
  ];
}

/** Whether the key is refused all that the project may ask: its lists and, where any are watched, operations. */
async function isAllRefused(
  { db, projectId, scope, platform }: Worker,
  refused: readonly ListedResource[],
): Promise<boolean> {
  if (!archivedLists(scope).every((list) => refused.includes(list))) return false;
  if (isResting(platform, 'transactions')) return true;
  return refused.length > 0 && (await countOpen(db, projectId)) === 0;
}

/** P11: nobody asks again before an hour, unless the key changes or a person asks. */
async function park({ db, platform, projectId, log }: Worker, reason: string): Promise<void> {
  const now = platform.clock.now();
  noteRefusal(platform, 'all');
  await withTx(db, (tx) => parkProject(tx, projectId, reason, now, now + refusedRestMs));
  log.error({ projectId, error: reason }, 'The platform refused the key: the project is parked');
}

/** What a person asked for, with its days checked against what the platform answers. */
function narrowed(
  only: Only | undefined,
  scope: ArchivedScope,
  facts: Facts,
  now: Instant,
): Only | undefined {
  if (only?.days === undefined) return only;
  const wanted = only.resource === undefined ? archivedLists(scope) : [only.resource];
  return { ...only, days: daysToAsk(only.days, wanted, facts, now) };
}

/** What a failure makes of the run; `failed` is thrown on. */
async function endingOf(
  error: unknown,
  worker: Worker,
  options: RunOptions,
  failed: Ending,
): Promise<Ending> {
  try {
    await accountFromNow(error, worker);
  } catch {
    // A database that fails as well is told of by whatever needs it next.
  }
  if (databaseError(error)?.code === 'lease_lost') {
    return { ...failed, outcome: 'left', problem: takenText };
  }
  if (options.signal.aborted || isOutlastError(error, 'aborted')) {
    return { ...failed, outcome: 'stopped', problem: null };
  }
  if (isOutlastError(error, 'platform_forbidden')) {
    await park(worker, causeChain(error));
    return { ...failed, outcome: 'parked' };
  }
  await refuseWrongPath(error, worker, options);
  const isPassing = isOutlastError(error, 'platform_unavailable', 'platform_unusable');
  return isPassing ? { ...failed, outcome: 'left' } : failed;
}

/**
 * A project to which the platform has only said no, or that it is out of order, is accounted for from then on (P7): the
 * month may be over when it answers. Where the platform has not told the time yet, from when it does.
 */
async function accountFromNow(
  error: unknown,
  { db, platform: { clock }, projectId, source }: Worker,
): Promise<void> {
  const isAnswered = error instanceof OutlastError && /^(?:platform_|aborted)/.test(error.code);
  // What is not in the database cannot be parked.
  const isKnown = clock.lastDate() !== null;
  const isEntered = isKnown || isOutlastError(error, 'platform_forbidden');
  if (!isAnswered || !isEntered || (await readProject(db, projectId, source)) !== null) return;
  const firstDay = isKnown ? windowAt(clock.latest()).from : notYetKnown;
  await withTx(db, (tx) => saveProject(tx, projectId, source, firstDay, clock.now()));
}

/**
 * A platform that has never shown a list and knows no such path is most likely another address. One that has is out of
 * order: gateways answer 404 then, too. Throws settings `base_url_wrong`.
 */
async function refuseWrongPath(
  error: unknown,
  { db, projectId, source, scope }: Worker,
  { only }: RunOptions,
): Promise<void> {
  if (!(error instanceof UnansweredError) || error.status !== 404) return;
  const facts = await readFacts(db, projectId);
  if (listedResources.some((list) => wasShown(facts, list))) return;
  const lists = only?.resource === undefined ? archivedLists(scope) : [only.resource];
  const named = lists.map((list) => (list === 'orders' ? list : 'classes')).join(' or ');
  throw settingsError(
    'base_url_wrong',
    `${source.baseUrl} knows no list of ${named}: ${error.message}. Check the address and its path (OUTLAST_BASE_URL, or baseUrl in OUTLAST_PROJECTS_FILE); if it is right, the platform is out of order: try again later.`,
  );
}

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
