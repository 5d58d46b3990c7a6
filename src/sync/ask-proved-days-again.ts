// What `verify --platform` asks: each proved day of the window is counted, or each final result is looked up again, a
// request each. Nothing is written: what differs is news, which a sync reads, or for a person to judge.
import { addDays, cliffOf, windowAt } from '../day.ts';
import { isOutlastError } from '../errors.ts';
import { apiVersions } from '../model.ts';
import type { ApiVersion, Day, Instant, ListedResource, ParsedRecord, SliceKey } from '../model.ts';
import { canonical } from '../platform/canonical.ts';
import { parseJson } from '../platform/json.ts';
import { isPlatformError } from '../platform/refusal.ts';
import { endInclusiveLists } from '../store/evidence.ts';
import { readFacts } from '../store/facts.ts';
import { provedSlices, type Slice } from '../store/ledger.ts';
import { finalResultsAfter, type FinalResult } from '../store/operations/watched.ts';
import { readProject } from '../store/projects.ts';
import { resourceShapes } from '../store/record-tables.ts';
import { isSameColumn, readAgain } from '../verify/read-again.ts';
import { boundsOf } from './ask-list.ts';
import { learnClockByAny } from './contact/contact.ts';
import { recogniseSource } from './contact/same-source.ts';
import { archivedLists } from './enter-days.ts';
import { freezeMs } from './due-times.ts';
import { overAt } from './verdicts.ts';
import type { Worker } from './worker.ts';

type Asking = Pick<Worker, 'db' | 'platform' | 'projectId' | 'source' | 'scope'> & {
  signal: AbortSignal;
};

/** `unclear`: while the month goes, without a total that says something, refused, or no longer known then. */
type Outcome = 'agrees' | 'differs' | 'unclear';

export type DayAskedAgain = SliceKey & {
  outcome: Outcome;
  /**
   * The platform's total now, and when the day was last read whole (else what that showed); null where there is none.
   */
  total: number | null;
  before: number | null;
};

/**
 * Counts each proved day, of both lists unless one is given. False when the project is parked: nobody was asked (P11).
 * Throws settings `source_changed`, and what the platform throws.
 */
export async function countProvedDays(
  asking: Asking,
  resource: ListedResource | null,
  onSlice: (slice: DayAskedAgain) => Promise<void> | void,
): Promise<boolean> {
  const { db, platform, projectId, signal } = asking;
  const { clock } = platform;
  const source = await confirmSource(asking);
  if (source !== 'confirmed') return source === 'empty';
  const endInclusive = await endInclusiveLists(db, projectId, clock.now());
  const window = windowAt(clock.now());
  // Today's list grows: its tail is looked after by every run.
  const days = { from: window.from, to: addDays(window.to, -1) };
  const failures = new Map<ListedResource, Error>();
  for (const slice of await provedSlices(db, projectId, days)) {
    const { resource: list, owner, day } = slice;
    if ((resource ?? list) !== list || failures.has(list) || clock.now() < overAt(slice)) continue;
    const bounds = boundsOf(day, endInclusive.has(list) ? 1 : 2);
    const of = { resource: list, owner, ...bounds };
    let total: number | null;
    try {
      const query = { ...of, limit: 1, sortBy: 'DATE_ASC', countTotal: true } as const;
      const page = await platform.page(query, signal);
      total = page.total !== null && page.total < page.shown ? null : page.total;
    } catch (error) {
      if (signal.aborted || !isPlatformError(error)) throw error;
      failures.set(list, error);
      continue;
    }
    const before = slice.platformTotal ?? slice.shownTotal;
    const differs = isTelling(slice, total, clock.now()) ? 'differs' : 'unclear';
    const outcome = total === before ? 'agrees' : differs;
    await onSlice({ projectId, resource: list, owner, day, outcome, total, before });
  }
  // The other list was asked all the same.
  for (const failure of failures.values()) throw failure;
  return true;
}

/** Around the cliff what is not shown may only have gone with its month. */
const isGoing = (day: Day, now: Instant): boolean => now >= cliffOf(day) - freezeMs;

/**
 * Whether a disagreement says anything. A total that is smaller may be capped, of the page, or without a status that the
 * list leaves out: it tells of a day alone of which total and books had counted all that was shown.
 */
function isTelling(slice: Slice, total: number | null, now: Instant): boolean {
  const { day, proof, shownTotal, platformTotal } = slice;
  if (total === null) return false;
  const hadCountedAll = proof === 'books' && platformTotal === shownTotal;
  return total > (platformTotal ?? shownTotal ?? 0) || (hadCountedAll && !isGoing(day, now));
}

/** Makes sure that the platform is the one that was archived, unless nobody is to be asked, or nothing is held. */
async function confirmSource({
  db,
  platform,
  projectId,
  source,
  scope,
  signal,
}: Asking): Promise<'confirmed' | 'parked' | 'empty'> {
  const known = await readProject(db, projectId, source);
  if (known === null) return 'empty';
  if (known.parkedReason !== null && known.sameKey) return 'parked';
  const lists = archivedLists(scope);
  if (platform.clock.lastDate() === null) await learnClockByAny(platform, lists, signal);
  if (!known.sameSource) {
    const facts = await readFacts(db, projectId);
    const { sameKey } = known;
    await recogniseSource({ db, platform, projectId, sameKey, signal }, facts, lists, lists);
  }
  return 'confirmed';
}

export type ResultAskedAgain = {
  operationId: string;
  apiVersion: ApiVersion;
  outcome: Outcome;
  /** In words, where it differs. */
  says: string;
};

const resultsAtATime = 200;

/** Looks up every final result whose month the platform may still show; returns and throws as `countProvedDays`. */
export async function lookUpResults(
  asking: Asking,
  onResult: (result: ResultAskedAgain) => Promise<void> | void,
): Promise<boolean> {
  const { db, platform, projectId } = asking;
  const source = await confirmSource(asking);
  if (source !== 'confirmed') return source === 'empty';
  const { from } = windowAt(platform.clock.now());
  for (const apiVersion of apiVersions) {
    let after = '';
    // Ends: every page begins behind the last one's id.
    for (;;) {
      const of = { projectId, apiVersion };
      const results = await finalResultsAfter(db, of, from, after, resultsAtATime);
      for (const result of results) {
        after = result.id;
        const { outcome, says } = await reproveOne(asking, apiVersion, result);
        await onResult({ operationId: result.id, apiVersion, outcome, says });
      }
      if (results.length === 0) break;
    }
  }
  return true;
}

async function reproveOne(
  { platform, signal }: Asking,
  apiVersion: ApiVersion,
  held: FinalResult,
): Promise<Pick<ResultAskedAgain, 'outcome' | 'says'>> {
  const unclear = { outcome: 'unclear', says: '' } as const;
  let now: ParsedRecord | null;
  try {
    now = (await platform.transaction(apiVersion, held.id, signal)).record;
  } catch (error) {
    if (!isOutlastError(error, 'platform_refused')) throw error;
    return unclear;
  }
  if (now === null) {
    return isGoing(held.begun, platform.clock.now())
      ? unclear
      : { outcome: 'differs', says: 'the platform does not know this operation now' };
  }
  const then = readAgain('transactions', held, '');
  const names = then === null ? ['everything'] : differing(then, now);
  return names.length === 0
    ? { outcome: 'agrees', says: '' }
    : { outcome: 'differs', says: `the platform says otherwise now: ${names.join(', ')}` };
}

/** The typed columns that differ. Certificate links are fresh ones each time. */
function differing(then: ParsedRecord, now: ParsedRecord): string[] {
  return resourceShapes.transactions.columns
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
