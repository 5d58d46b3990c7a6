// Snapshots of the tokens and their fees: the whole list, then each token's fees, then one commit.
import { causeChain, isOutlastError, transient } from '../../errors.ts';
import type { ObservedRecord } from '../../model.ts';
import { storable } from '../../platform/canonical.ts';
import type { NodeTokenList } from '../../platform/platform.ts';
import { isPlatformError } from '../../platform/refusal.ts';
import { readToken } from '../../platform/tokens.ts';
import type { RunCounts } from '../../store/runs.ts';
import { withTx } from '../../store/db.ts';
import { commitTokens, dueTokens, postponeTokens, type DueTokens } from '../../store/token-rows.ts';
import { noteAnswer, noteProblem } from '../contact/resource-health.ts';
import { retryDelayMs } from '../due-times.ts';
import { concernsAll, unforeseenText } from '../unforeseen-errors.ts';
import type { Worker } from '../worker.ts';

const noTokens =
  'the address knows no /token/tokens: set OUTLAST_TOKENS_URL to a node, or OUTLAST_TOKENS_HOURS to 0';

/**
 * Takes a snapshot if one is due. Returns the problem in words where it was due and could not be taken. Throws what
 * ends the run: an abort, the database.
 */
export async function askTokens(
  worker: Worker,
  counts: RunCounts,
  signal: AbortSignal,
): Promise<string | null> {
  const { db, platform, projectId } = worker;
  const { tokensEveryMs = null } = worker;
  if (tokensEveryMs === null) return null;
  const askedAt = platform.clock.now();
  const due = await dueTokens(db, projectId, askedAt + 1000);
  if (due === null) return null;
  let isThere = true;
  try {
    const list = await platform.tokens(signal);
    isThere = list !== null;
    if (list === null) throw transient('platform_unavailable', noTokens);
    if (list.tokens.length + list.rejects.length === 0 && due.holdsTokens) {
      // A single empty answer would call every token missing until the next day's.
      throw transient('platform_unavailable', 'the node lists no token, and has before');
    }
    const records = await withFees(worker, due, list, signal);
    const effects = await commitTokens(db, {
      projectId,
      records,
      rejects: list.rejects,
      height: list.height,
      takenAt: list.askedAt,
      dueAt: askedAt + tokensEveryMs,
      writtenAt: platform.clock.now(),
    });
    counts.recordsShown += records.length;
    counts.recordsNew += effects.inserted;
    counts.recordsChanged += effects.changed;
    counts.recordsRejected += effects.rejected;
    worker.meter?.records('tokens', { shown: records.length, ...effects });
    await noteAnswer(worker, 'tokens');
    return null;
  } catch (error) {
    const isPassing = isPlatformError(error);
    const isForeseen = isPassing || signal.aborted || concernsAll(error);
    const why = isForeseen ? storable(causeChain(error)) : unforeseenText(error, worker);
    const problem = `the tokens were not read: ${why}`;
    // An interface that is not there is a problem where it was there before; else it may come.
    const isNone = !isThere && !due.holdsTokens;
    // No key is sent there: whatever it says, it refuses none.
    const said = { error: null, isRefused: false, problem };
    if (isPassing && !isNone) await noteProblem(worker, 'tokens', said);
    await postpone(worker, due, problem).catch((failure: unknown) => {
      // What nobody foresaw may be everybody's: where it cannot be noted, it is.
      if (!isForeseen) throw failure;
    });
    if (!isPassing && isForeseen) throw error;
    return isNone ? null : problem;
  }
}

function postpone(
  { db, projectId, platform }: Worker,
  due: DueTokens,
  lastError: string,
): Promise<void> {
  const attempts = due.attempts + 1;
  const dueAt = platform.clock.now() + retryDelayMs(attempts);
  return withTx(db, (tx) => postponeTokens(tx, projectId, { attempts, dueAt, lastError }));
}

/** The tokens as records, each with its fees. Of a node that has none of the first token's, no others are asked for. */
async function withFees(
  { platform }: Worker,
  due: DueTokens,
  list: NodeTokenList,
  signal: AbortSignal,
): Promise<ObservedRecord[]> {
  const feesOf = new Map<string, string | null>();
  let givesFees = due.holdsFees;
  const records: ObservedRecord[] = [];
  for (const { symbol, text } of list.tokens) {
    if (!feesOf.has(symbol) && (givesFees || feesOf.size === 0)) {
      const fees = await feesFor(symbol);
      if (fees === null && givesFees) {
        // A look without them would pass for a change.
        throw transient('platform_unavailable', 'the node gave no fees of a token, and has before');
      }
      givesFees ||= fees !== null;
      feesOf.set(symbol, fees);
    }
    const record = readToken(symbol, text, feesOf.get(symbol) ?? null, list.height);
    records.push({ record, observedAt: list.askedAt });
  }
  return records;

  async function feesFor(symbol: string): Promise<string | null> {
    try {
      return await platform.tokenFees(symbol, signal);
    } catch (error) {
      // Refused for this one: it has none.
      if (isOutlastError(error, 'platform_refused')) return null;
      throw error;
    }
  }
}
