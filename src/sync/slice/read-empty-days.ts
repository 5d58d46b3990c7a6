// Days that show nothing need not be asked for one by one: an answer that shows nothing of a span shows nothing of any
// of its days. One that shows records says of no day what its list shows: that the platform alone knows (its zone, one
// id on two days). Only readings that begin at the older end are made so: of two readings that prove each other, one is
// always of the day by itself.
import { addDays, dayMs, dayOf, hourMs, monthStart, startOf, windowAt } from '../../day.ts';
import { isOutlastError, transient } from '../../errors.ts';
import type { AskedStatus, Day, Instant, PlatformPage } from '../../model.ts';
import type { Platform } from '../../platform/platform.ts';
import { isPlatformError } from '../../platform/refusal.ts';
import { withMixedTx, withTx, type Db } from '../../store/db.ts';
import { readEvidence } from '../../store/evidence.ts';
import { moveCheckpoint, slicesDue, type Slice } from '../../store/ledger.ts';
import { endsOf, type List } from '../ask-list.ts';
import { clocksOf, isGoing, statusesToAsk, verdictOf } from '../verdicts.ts';
import { endReading } from './read-slice.ts';
import { afterAll, askPage, firstPosition } from './walk.ts';

type Asking = {
  db: Db;
  platform: Platform;
  projectId: string;
  signal: AbortSignal;
  /** Days of the list may be asked for by themselves. */
  isEndInclusive: boolean;
};

/** Days after one another of one month, and the statuses that each is asked for. */
type Span = { slices: readonly Slice[]; statuses: AskedStatus[] };

/** So many questions may have been in vain: lists with records on most days are soon known. */
const inVainAtMost = 2;

/**
 * Reads what is due of a list and has shown nothing so far, by spans. Returns the days that show nothing; all others are
 * left to be read one by one. Throws aborts and what the store throws.
 */
export async function readEmptyDays(asking: Asking, list: List): Promise<Slice[]> {
  const read: Slice[] = [];
  let asked = 0;
  /** What it shows, with the first of it; null: nothing, and its days are read. */
  const readSpan = async (span: Span): Promise<PlatformPage | null> => {
    asked += 1;
    const shown = await readIfEmpty(asking, list, span);
    if (shown === null) read.push(...span.slices);
    return shown;
  };
  try {
    for (const { slices, statuses } of await spansDue(asking, list)) {
      let rest = slices;
      // Ends: each turn leaves fewer days.
      while (rest.length > 1 && asked < read.length + inVainAtMost) {
        const shown = await readSpan({ slices: rest, statuses });
        if (shown === null) break;
        const { first } = endsOf(shown);
        if (first === null) break;
        const day = dayOf(first);
        const nextBegins = addDays(day, asking.isEndInclusive ? 0 : -1);
        const before = rest.filter((slice) => slice.day < nextBegins);
        if (before.length > 1) await readSpan({ slices: before, statuses });
        else if ((shown.total ?? 0) >= rest.length) return read;
        rest = rest.slice(1).filter((slice) => slice.day > day);
      }
    }
  } catch (error) {
    // Else the days are read one by one, and meet it again.
    if (!isPlatformError(error) && !isOutlastError(error, 'older_pages')) throw error;
  }
  return read;
}

/** A sealed day is asked for by itself every fourth day, a fortnight of them at a time: long spans may be cut. */
const isAskedAlone = (day: Day, now: Instant): boolean =>
  (Math.floor(startOf(day) / (14 * dayMs)) + Math.floor(now / dayMs)) % 4 === 0;

/** So much before its time a sealed day is taken along: days read within some minutes are not to fall apart the next day. */
const takenAlongMs = hourMs;

/** Days that are due from the older end, unread or with nothing shown by the last reading. */
async function spansDue({ db, platform, projectId }: Asking, list: List): Promise<Span[]> {
  const clocks = clocksOf(platform.clock);
  const window = windowAt(clocks.now);
  const of = { projectId, ...list };
  const due = await withTx(db, (tx) => slicesDue(tx, of, window));
  const evidence = await readEvidence(db, of, window, clocks);
  const spans: (Span & { slices: Slice[] })[] = [];
  for (const slice of due) {
    const known = evidence.get(slice.day);
    if (known === undefined || slice.checkpoint !== null || slice.attempts > 0) continue;
    const { state, why, next } = verdictOf(slice, known, clocks);
    const hasShown = (known.readings.at(-1)?.shown ?? slice.shownTotal ?? 0) > 0;
    const isDecided = state === 'final' || state === 'lost';
    const isSealed = state === 'sealed';
    const by = clocks.now + (isSealed ? takenAlongMs : 0);
    if (isDecided || isGoing(slice, clocks) || hasShown || why === 'not over' || next.at > by)
      continue;
    if (isSealed ? isAskedAlone(slice.day, clocks.now) : next.end !== 'asc') continue;
    const statuses = statusesToAsk(slice, known);
    const before = spans.at(-1);
    const last = before?.slices.at(-1);
    const goesOn =
      last !== undefined &&
      addDays(last.day, 1) === slice.day &&
      monthStart(last.day) === monthStart(slice.day) &&
      before?.statuses.join() === statuses.join();
    if (goesOn) before?.slices.push(slice);
    else spans.push({ slices: [slice], statuses });
  }
  return spans;
}

/** The first page of what is shown of a span; null: nothing, neither by list nor by status, and its days are read. */
async function readIfEmpty(
  asking: Asking,
  list: List,
  { slices, statuses }: Span,
): Promise<PlatformPage | null> {
  const { db, platform, signal } = asking;
  const [first, last] = [slices[0], slices.at(-1)];
  if (first === undefined || last === undefined) return null;
  const daysAsked = slices.length + (asking.isEndInclusive ? 0 : 1);
  const began = clocksOf(platform.clock);
  const askedAt: number[] = [];
  let total: number | null = null;
  for (const status of [undefined, ...statuses]) {
    const query = {
      startDate: first.day,
      endDate: addDays(first.day, daysAsked - 1),
      limit: 1,
      order: 'asc' as const,
      status,
    };
    const page = await askPage(platform, list, query, firstPosition, signal);
    if (page.shown > 0 || (page.total ?? 0) > 0 || page.nextKey !== null) return page;
    if (status === undefined) ({ total } = page);
    askedAt.push(page.askedAt);
  }
  await withMixedTx(db, async (tx) => {
    const ended = clocksOf(platform.clock);
    for (const slice of slices) {
      const walk = slice.walk + 1;
      const isNewer = await moveCheckpoint(tx, slice, {
        walk,
        checkpoint: null,
        oldestAskedAt: Math.max(afterAll(slice), ...askedAt),
        newestAskedAt: Math.max(afterAll(slice), ...askedAt),
      });
      if (!isNewer) throw transient('older_pages', 'Newer pages are held: the day is read again');
      const reading = { end: 'asc', daysAsked, claims: 0, began } as const;
      await endReading(tx, slice, { walk, reading, total }, ended);
    }
  });
  return null;
}
