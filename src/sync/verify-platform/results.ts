// Final results looked up once more, for whoever verifies: nothing is written. A request each, and nobody else asks for
// them again: what differs is for a person to judge.
import { windowAt } from '../../day.ts';
import { isOutlastError } from '../../errors.ts';
import { apiVersions, type ApiVersion, type ParsedRecord } from '../../model.ts';
import { canonical } from '../../platform/canonical.ts';
import { parseJson } from '../../platform/json.ts';
import { finalResultsAfter, type FinalResult } from '../../store/operations/watched.ts';
import { transactionShapes } from '../../store/tables.ts';
import { isSameColumn, readAgain } from '../../verify/read-again.ts';
import { absenceProves } from '../policy.ts';
import { confirmSource, type ReproveContext } from './slices.ts';

export type ResultReproved = {
  operationId: string;
  apiVersion: ApiVersion;
  /** `unclear`: refused, or no longer known where that says nothing. */
  outcome: 'agrees' | 'differs' | 'unclear';
  /** In words, where it differs. */
  says: string;
};

const resultsAtATime = 200;

/**
 * Asks for every final result whose month the platform may still show. False when the project is parked: nobody was
 * asked (P11). Throws settings `source_changed`, and what the platform throws.
 */
export async function reproveResults(
  context: ReproveContext,
  onResult: (result: ResultReproved) => Promise<void> | void,
): Promise<boolean> {
  const { db, platform, projectId } = context;
  const confirmed = await confirmSource(context);
  if ('isParked' in confirmed) return !confirmed.isParked;
  const { from } = windowAt(platform.clock.now());
  for (const apiVersion of apiVersions) {
    let after = '';
    // Ends: every page begins behind the last one's id.
    for (;;) {
      const of = { projectId, apiVersion };
      const results = await finalResultsAfter(db, of, from, after, resultsAtATime);
      for (const result of results) {
        const { outcome, says } = await reproveOne(context, apiVersion, result);
        await onResult({ operationId: result.id, apiVersion, outcome, says });
      }
      const last = results.at(-1);
      if (last === undefined) break;
      after = last.id;
    }
  }
  return true;
}

async function reproveOne(
  { platform, signal }: ReproveContext,
  apiVersion: ApiVersion,
  held: FinalResult,
): Promise<Pick<ResultReproved, 'outcome' | 'says'>> {
  let now: ParsedRecord | null;
  try {
    now = (await platform.transaction(apiVersion, held.id, signal)).record;
  } catch (error) {
    if (!isOutlastError(error, 'platform_refused')) throw error;
    return { outcome: 'unclear', says: '' };
  }
  if (now === null) {
    // Around the cliff it may only have gone with its month.
    return absenceProves(held.begun, platform.clock.now())
      ? { outcome: 'differs', says: 'the platform does not know this operation now' }
      : { outcome: 'unclear', says: '' };
  }
  const then = readAgain('transactions', held, '');
  const names = then === null ? ['everything'] : differing(apiVersion, then, now);
  return names.length === 0
    ? { outcome: 'agrees', says: '' }
    : { outcome: 'differs', says: `the platform says otherwise now: ${names.join(', ')}` };
}

/** The typed columns that differ. Certificate links are fresh ones each time. */
function differing(apiVersion: ApiVersion, then: ParsedRecord, now: ParsedRecord): string[] {
  return transactionShapes[apiVersion].columns
    .filter(([name, type]) => {
      const [a = null, b = null] = [then.columns[name], now.columns[name]];
      if (name === 'record' && typeof a === 'string' && typeof b === 'string') {
        return withoutLink(a) !== withoutLink(b);
      }
      return !isSameColumn(type, a, b);
    })
    .map(([name]) => name);
}

function withoutLink(body: string): string {
  const json = parseJson(body);
  if (typeof json === 'object' && json?.type === 'object') json.fields.delete('certificate_url');
  return canonical(json).text;
}
