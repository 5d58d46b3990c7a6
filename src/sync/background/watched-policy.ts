// What to do with a watched operation next, and when: a pure function of what is held, what a turn brought, and the
// time. It knows no clock, no database and no network.
import { cliffOf, dayOf, hourMs, monthStart, startOf } from '../../day.ts';
import { apiVersions, type ApiVersion, type Instant } from '../../model.ts';
import type { OperationEnd, HeldResult, DueOperation } from '../../store/operations/watched.ts';
import { decidedAfterMs, retryDelayMs } from '../due-times.ts';

const firstWaitMs = 10_000;
/** An id may be watched before its operation is begun: it has this long to show up, whatever month it is. */
const appearsWithinMs = 72 * hourMs;
/** A certificate's file is tried for so often, which takes some hours; its link is asked for anew each time. */
export const fileTriesAtMost = 12;

/** What one lookup came to in a turn. */
export type LookedUp = {
  apiVersion: ApiVersion;
  /** `silent`: no answer, or none that says anything about the operation. */
  outcome: 'found' | 'not_found' | 'refused' | 'silent';
  status: number | null;
  problem: string | null;
};

/** What became of the file behind a certificate link in a turn: `none` where there is none to keep. */
export type FileOutcome =
  { kind: 'none' | 'kept' } | { kind: 'passing' | 'final'; problem: string };

/** 1 and 2 end an operation, 0 and 3 go on (docs/platform.md §3.2); what is unknown goes on as well. */
const isTerminal = (status: number | null): boolean => status === 1 || status === 2;

const wanted = ({ apiVersion }: DueOperation): readonly ApiVersion[] =>
  apiVersion === null ? apiVersions : [apiVersion];

const heldOf = ({ held }: DueOperation, version: ApiVersion): HeldResult | undefined =>
  held.find(({ apiVersion }) => apiVersion === version);

/** The lookups to ask: those without a final result, and where a file is wanted, the one that gives its link. */
export function lookupsToAsk(operation: DueOperation, keepsFiles: boolean): ApiVersion[] {
  return wanted(operation).filter((version) => {
    const held = heldOf(operation, version);
    const wantsLink = keepsFiles && !operation.hasFile && held?.hasLink === true;
    return !isTerminal(held?.status ?? null) || wantsLink;
  });
}

/** When an operation without a final result is lost (P7), if that is certainly past. */
export function lostAt(operation: DueOperation, isFound: boolean): Instant {
  const { deadlineAt, createdOn, addedAt, held } = operation;
  // The deadline lies a margin of days at most before the end of a month.
  const cliff = startOf(monthStart(dayOf(deadlineAt - 1), 1));
  if (createdOn !== null) return cliff + decidedAfterMs;
  if (!isFound) return Math.max(cliff + decidedAfterMs, addedAt + appearsWithinMs);
  // What was seen was begun by then.
  const seenAt = held.map(({ firstSeenAt }) => cliffOf(dayOf(firstSeenAt)));
  return Math.max(cliff, ...seenAt) + decidedAfterMs;
}

/**
 * What a turn leaves behind. An operation is done when every lookup wanted has a final result; also when one had it
 * before this turn, and the others were asked again since and know nothing of it.
 */
export function afterTurn(
  operation: DueOperation,
  lookups: readonly LookedUp[],
  file: FileOutcome,
  askedAt: Instant,
  certainAt: Instant,
): OperationEnd {
  const before = wanted(operation).map((version) => heldOf(operation, version)?.status ?? null);
  const now = wanted(operation).map((version, i) => {
    const looked = lookups.find(({ apiVersion }) => apiVersion === version);
    return {
      status: looked?.outcome === 'found' ? looked.status : (before[i] ?? null),
      isUnknown: looked?.outcome === 'not_found' && heldOf(operation, version) === undefined,
    };
  });
  const wasFinal = before.some(isTerminal);
  const isFinal = now.some(({ status }) => isTerminal(status));
  const isFound = operation.held.length > 0 || lookups.some(({ outcome }) => outcome === 'found');
  const isSettled = now.every(
    ({ status, isUnknown }) => isTerminal(status) || (wasFinal && isUnknown),
  );
  // What is new is looked at again soon.
  const isNew = (operation.held.length === 0 && isFound) || (!wasFinal && isFinal);
  const attempts = isNew ? 1 : operation.attempts + 1;
  const problem = lookups.findLast((one) => one.problem !== null)?.problem ?? null;
  const isOver = certainAt >= lostAt(operation, isFound);
  // A held final result was asked for again only for its link. Another copy of the platform may not know it yet.
  const lacksLink =
    file.kind === 'none' &&
    lookups.some(
      ({ apiVersion, outcome }) =>
        outcome !== 'found' && isTerminal(heldOf(operation, apiVersion)?.status ?? null),
    );
  const isFileDue = (file.kind === 'passing' || lacksLink) && attempts < fileTriesAtMost && !isOver;
  const reason =
    'problem' in file ? file.problem : lacksLink ? 'its link was not given again' : null;
  const fileProblem = reason === null ? null : `the certificate's file is not kept: ${reason}`;

  if ((isSettled || (isOver && isFinal)) && !isFileDue) {
    return { state: 'done', dueAt: null, attempts, lastError: fileProblem };
  }
  const answered = lookups.some(({ outcome }) => outcome !== 'silent');
  if (isOver && !isFinal && answered) {
    const lastError = isFound
      ? 'its month left the window before its result was final'
      : 'it was never found before its month left the window';
    return { state: 'lost', dueAt: null, attempts, lastError };
  }
  return {
    state: 'open',
    dueAt: askedAt + retryDelayMs(attempts, firstWaitMs),
    attempts,
    lastError: problem ?? fileProblem,
  };
}
