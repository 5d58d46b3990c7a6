// Asking for watched operations: one turn each that is due, nearest deadline first. Network first, then one commit.
// With a final result comes the file behind its certificate link, for such links do not live long.
import { causeChain, isOutlastError, OutlastError } from '../../errors.ts';
import type { ApiVersion, ParsedRecord } from '../../model.ts';
import type { FileFetcher } from '../../platform/certificate-file.ts';
import { isPlatformError } from '../../platform/refusal.ts';
import {
  commitOperation,
  enterOperations,
  nextOperation,
  type NewCertificateFile,
  type OperationCommit,
  type DueOperation,
} from '../../store/operations/watched.ts';
import { withTx } from '../../store/db.ts';
import type { RunCounts } from '../../store/runs.ts';
import {
  isResting,
  noteAnswer,
  noteProblem,
  problemOf,
  type ResourceProblem,
} from '../contact/resource-health.ts';
import { retryDelayMs } from '../due-times.ts';
import { concernsAll, createRepetition, unforeseenText } from '../unforeseen-errors.ts';
import type { OperationCounts, Worker } from '../worker.ts';
import { nothingLeft, type Left } from './background-lane.ts';
import { afterTurn, lookupsToAsk, type FileOutcome, type LookedUp } from './watched-policy.ts';

/** So many operations in a row without an answer end the turns of this run: the platform is down, not busy. */
const silentInARow = 3;

/**
 * Gives every operation that is due by now its turn. A key that is refused here ends the turns. Throws what concerns
 * more than one operation: an abort, the database.
 */
export async function askOperations(
  worker: Worker,
  counts: RunCounts & OperationCounts,
  signal: AbortSignal,
): Promise<Left> {
  const { db, platform, projectId, settings, log } = worker;
  const startedAt = platform.clock.now();
  const asked = new Set<string>();
  const left: Left = { ...nothingLeft };
  let silent = 0;
  const unforeseen = createRepetition();
  let isAnswered = false;
  let failure: ResourceProblem | null = null;
  await withTx(db, (tx) => enterOperations(tx, projectId, startedAt, settings.deadlineMarginMs));
  if (isResting(platform, 'transactions')) {
    return { notDone: 1, problem: 'the results of operations are refused to this key' };
  }
  // Ends: each operation has one turn, which puts it off; a clock set back cannot bring it again (P9).
  while (
    !signal.aborted &&
    silent < silentInARow &&
    !unforeseen.isTooOften() &&
    !isResting(platform, 'transactions')
  ) {
    // The platform's Date has whole seconds: what falls due within this one is due.
    const operation = await nextOperation(db, projectId, startedAt + 1000);
    if (operation === null || asked.has(operation.operationId)) break;
    asked.add(operation.operationId);
    try {
      const silence = await takeTurn(worker, operation, counts, signal);
      unforeseen.note(null);
      silent = silence === null || silence.isUnusable ? 0 : silent + 1;
      // A refused key makes the next look rest, too.
      failure = silence && problemOf(platform, 'transactions', silence.error);
      if (silence === null) isAnswered = true;
      else {
        left.notDone += 1;
        left.problem = silence.problem ?? left.problem;
      }
    } catch (error) {
      if (!signal.aborted && !concernsAll(error)) {
        const problem = unforeseenText(error, worker);
        await postpone(worker, operation, problem);
        unforeseen.note(problem);
        silent = 0;
        left.notDone += 1;
        left.problem = `a watched operation: ${problem}`;
        log.warn({ projectId, problem }, 'A watched operation could not be looked after');
        continue;
      }
      throw error;
    }
  }
  if (isAnswered) await noteAnswer(worker, 'transactions');
  else if (failure !== null) await noteProblem(worker, 'transactions', failure);
  return left;
}

/** What nobody foresaw concerns this operation: it is kept with it, and tried again like one without an answer. */
async function postpone(worker: Worker, operation: DueOperation, problem: string): Promise<void> {
  const { db, platform } = worker;
  const now = platform.clock.now();
  const attempts = operation.attempts + 1;
  await commitOperation(db, {
    operation,
    end: { state: 'open', dueAt: now + retryDelayMs(attempts), attempts, lastError: problem },
    results: [],
    file: null,
    writtenAt: now,
  });
}

/**
 * What came instead of any answer. `isUnusable`: there was one, and nothing of it could be kept; that says nothing of other
 * operations.
 */
type Silence = { isUnusable: boolean; error: unknown; problem: string | null };

async function takeTurn(
  worker: Worker,
  operation: DueOperation,
  counts: RunCounts & OperationCounts,
  signal: AbortSignal,
): Promise<Silence | null> {
  const { db, platform, projectId, log } = worker;
  const askedAt = platform.clock.now();
  const files = worker.certificateFiles ?? null;
  const lookups: LookedUp[] = [];
  const errors: unknown[] = [];
  const results: OperationCommit['results'] = [];
  for (const apiVersion of lookupsToAsk(operation, files !== null)) {
    const { looked, found, error } = await lookUp(worker, operation, apiVersion, signal);
    lookups.push(looked);
    if (looked.outcome === 'silent') errors.push(error);
    if (found !== null) results.push({ apiVersion, ...found });
  }
  const link = results.map(({ record }) => linkIn(record)).find((url) => url !== null) ?? null;
  const none: FetchedFile = { outcome: { kind: 'none' }, file: null };
  const isWanted = files !== null && link !== null && !operation.hasFile;
  const { outcome, file } = isWanted ? await keepFile(files, link, signal) : none;
  const end = afterTurn(operation, lookups, outcome, askedAt, platform.clock.earliest());
  const effects = await commitOperation(db, {
    operation,
    end,
    results,
    file,
    writtenAt: platform.clock.now(),
  });
  counts.operationsAsked += 1;
  const shown = results.length;
  const inserted = effects.reduce((sum, one) => sum + one.inserted, 0);
  const changed = effects.reduce((sum, one) => sum + one.changed, 0);
  counts.recordsShown += shown;
  counts.recordsNew += inserted;
  counts.recordsChanged += changed;
  worker.meter?.records('transactions', { shown, inserted, changed, rejected: 0 });
  if (end.state === 'done') counts.operationsDone += 1;
  if (end.state === 'lost') {
    counts.operationsLost += 1;
    log.warn({ projectId, reason: end.lastError }, 'A watched operation is lost');
  }
  if (errors.length === 0 || errors.length < lookups.length) return null;
  return {
    isUnusable: errors.some((one) => isOutlastError(one, 'platform_unusable')),
    // The key is refused where all is refused.
    error: errors.find((one) => !isOutlastError(one, 'platform_forbidden')) ?? errors[0],
    problem: end.lastError,
  };
}

type Lookup = {
  looked: LookedUp;
  found: { record: ParsedRecord; observedAt: number } | null;
  error?: unknown;
};

async function lookUp(
  { platform }: Worker,
  { operationId }: DueOperation,
  apiVersion: ApiVersion,
  signal: AbortSignal,
): Promise<Lookup> {
  try {
    const { record, askedAt } = await platform.transaction(apiVersion, operationId, signal);
    const status = record?.columns['status'];
    const looked: LookedUp = {
      apiVersion,
      outcome: record === null ? 'not_found' : 'found',
      status: typeof status === 'number' ? status : null,
      problem: null,
    };
    return { looked, found: record && { record, observedAt: askedAt } };
  } catch (error) {
    if (!isPlatformError(error)) throw error;
    const outcome = error.code === 'platform_refused' ? 'refused' : 'silent';
    const looked: LookedUp = { apiVersion, outcome, status: null, problem: causeChain(error) };
    return { looked, found: null, error };
  }
}

type FetchedFile = { outcome: FileOutcome; file: NewCertificateFile | null };

/** The certificate link of a final result; null where there is none. */
function linkIn({ columns }: ParsedRecord): string | null {
  const body = columns['record'];
  if (columns['status'] !== 1 || typeof body !== 'string') return null;
  const { certificate_url: url } = JSON.parse(body) as { certificate_url?: unknown };
  return typeof url === 'string' && url !== '' ? url : null;
}

/** Fetches the file. Throws only what ends the run; everything else is an outcome. */
async function keepFile(
  fetcher: FileFetcher,
  url: string,
  signal: AbortSignal,
): Promise<FetchedFile> {
  try {
    const file = await fetcher.fetch(url, signal);
    return { outcome: { kind: 'kept' }, file };
  } catch (error) {
    if (!(error instanceof OutlastError) || error.code === 'aborted') throw error;
    const kind = error.kind === 'transient' ? 'passing' : 'final';
    return { outcome: { kind, problem: causeChain(error) }, file: null };
  }
}
