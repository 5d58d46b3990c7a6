// The books of a project's lists: asked for at first contact, when readings wait for them, and daily; sooner while they
// count more than was shown. What they say reconcile.ts decides.
import {
  addDays,
  cliffOf,
  dayMs,
  dayOf,
  daysIn,
  minuteMs,
  monthStart,
  rangesOf,
  windowAt,
} from '../day.ts';
import { causeChain, isOutlastError, transient } from '../errors.ts';
import type { AskedStatus, Clocks, DayRange, Instant, ListedResource } from '../model.ts';
import { isPlatformError } from '../platform/refusal.ts';
import { withTx } from '../store/db.ts';
import {
  appendBooks,
  booksBefore,
  daysAskedFor,
  endInclusiveLists,
  readEvidence,
  shownIn,
  type BooksBefore,
  type BooksRow,
  type Evidence,
} from '../store/evidence.ts';
import type { ListName } from '../store/ledger.ts';
import type { List } from './ask-list.ts';
import { listsOf } from './enter-days.ts';
import { freezeMs, overAfterMs, retryMs } from './due-times.ts';
import { balance, countSpan, reconcile, type Counted } from './reconcile.ts';
import { clocksOf, noEvidence, rejudge } from './verdicts.ts';
import type { Worker } from './worker.ts';

/**
 * Asks for the books of each list that are due. Returns whether a day is due for what they say, and what kept some from
 * being asked. `hasRead`: all that was due was read, and readings may wait for them; else only the first ones are asked
 * for, by which it is learned how days are read. Throws what concerns all.
 */
export async function askBooks(
  worker: Worker,
  lists: ReadonlySet<ListedResource>,
  signal: AbortSignal,
  { hasRead }: { hasRead: boolean },
): Promise<{ isMore: boolean; problem: string | null }> {
  let isMore = false;
  let problem: string | null = null;
  for (const list of listsOf(worker.scope)) {
    if (!lists.has(list.resource) || signal.aborted) continue;
    try {
      isMore = (await askBooksOf(worker, list, signal, hasRead)) || isMore;
    } catch (error) {
      if (!isPlatformError(error) || error.code === 'platform_forbidden') throw error;
      problem = `the books of ${list.resource}: ${causeChain(error)}`;
    }
  }
  return { isMore, problem };
}

async function askBooksOf(
  worker: Worker,
  list: List,
  signal: AbortSignal,
  hasRead: boolean,
): Promise<boolean> {
  const { db, platform, projectId } = worker;
  const of = { projectId, ...list };
  const clocks = clocksOf(platform.clock);
  const span = spanAt(clocks);
  const listed = span === null ? [] : await daysAskedFor(db, of, span);
  // A day that was never read would keep its whole span from being compared.
  const asked = listed.filter(({ isRead }) => isRead || !hasRead).map(({ day }) => day);
  const [first] = asked;
  if (span === null || first === undefined) return false;
  const days = { from: first, to: span.to };
  const askedAt = clocks.now;
  const before = await booksBefore(db, of, askedAt);
  const isDue = areDue(before, askedAt, hasRead);
  if (isDue === 'no') return false;
  if (isDue === 'where waited for') {
    const evidence = await readEvidence(db, of, days, clocks);
    if (!asked.some((day) => isWaiting(evidence.get(day) ?? noEvidence))) return false;
  }
  const isInclusive = (await endInclusiveLists(db, projectId, askedAt)).has(list.resource);
  const books: BooksRow[] = [];
  for (const one of rangesOf(asked)) {
    const all = daysIn(one);
    const steps = reconcile<BooksRow>({ from: 0, to: all.length });
    let step = steps.next();
    // Ends: spans are halved down to days.
    while (!step.done) {
      const { from, to } = step.value;
      const part = { from: all[from] ?? one.to, to: all[to] ?? one.to };
      const row = await askSpan(worker, of, part, isInclusive, askedAt, signal).catch(
        (error: unknown) => {
          // It may be longer than the platform takes; a day is not.
          if (to - from > 1 && isOutlastError(error, 'platform_refused')) return null;
          throw error;
        },
      );
      // A refusal of what counted before is a fault: the list may leave a status out, as it did.
      const isFault = row?.byStatus === null && before.countsByStatus;
      step = steps.next(isFault ? { ...row, isEqual: false, readBy: 'each status' } : row);
    }
    books.push(...step.value);
  }
  await withTx(db, async (tx) => {
    await appendBooks(tx, of, books);
    await rejudge(tx, of, days, clocksOf(platform.clock));
  });
  const more = books.filter((one) => one.isMore).map(({ days: { from, to } }) => `${from}/${to}`);
  if (more.length > 0) {
    worker.log.warn(
      { projectId, resource: list.resource, days: more },
      'The platform counts more than it has shown: these days are read again',
    );
  }
  return more.length > 0;
}

/** The past days of the window whose month is not going yet; null: none. */
function spanAt({ now, latest }: Clocks): DayRange | null {
  const window = windowAt(now);
  const isGoing = latest >= cliffOf(window.from) - freezeMs;
  const from = isGoing ? monthStart(window.from, 1) : window.from;
  const over = dayOf(now - overAfterMs);
  const to = over < window.to ? over : window.to;
  return from < to ? { from, to } : null;
}

/** At first; then when all that was due was read: daily and, where a day waits for them, once it was read. */
function areDue(
  { askedAt, moreSince, wasRead }: BooksBefore,
  now: Instant,
  hasRead: boolean,
): 'yes' | 'no' | 'where waited for' {
  if (askedAt === null) return 'yes';
  if (!hasRead) return 'no';
  // A moment to come binds nobody.
  if (askedAt > now + minuteMs || now >= askedAt + dayMs) return 'yes';
  if (!wasRead) return 'no';
  if (moreSince === null) return 'where waited for';
  // While they count more: after as long again as they have done so.
  const restMs = Math.min(dayMs, Math.max(retryMs, askedAt - moreSince));
  return now < askedAt + restMs ? 'no' : 'where waited for';
}

/** Whether a day waits for books: it was read from both ends since they were made or, where they count more, once. */
function isWaiting({ books, readings }: Evidence): boolean {
  const newest = readings.at(-1);
  const first = readings.findLast((one) => one.end !== newest?.end);
  if (newest === undefined || first === undefined) return false;
  return books === null || books.no < first.no || (books.isMore && newest.no > books.no);
}

/** The totals of a span, of all and of each status; asked again while they move. */
async function askSpan(
  { db, platform }: Worker,
  of: ListName,
  days: DayRange,
  isInclusive: boolean,
  askedAt: Instant,
  signal: AbortSignal,
): Promise<BooksRow> {
  const { resource, owner } = of;
  const endDate = isInclusive ? addDays(days.to, -1) : days.to;
  const asked = { resource, owner, startDate: days.from, endDate };
  const count = async (status: AskedStatus | undefined): Promise<Counted | null> => {
    const query = { ...asked, limit: 1, sortBy: 'DATE_DESC', countTotal: true, status } as const;
    try {
      const page = await platform.page(query, signal);
      const total = page.total ?? 0;
      const statuses = page.records.map(
        ({ columns }) => (columns['status'] as number | null) ?? null,
      );
      return { total: total >= page.shown ? total : null, shown: page.shown, statuses };
    } catch (error) {
      if (status !== undefined && isOutlastError(error, 'platform_refused')) return null;
      throw error;
    }
  };
  const steps = countSpan(of.resource === 'orders');
  let step = steps.next();
  // Ends: countSpan does (P9).
  while (!step.done) step = steps.next(await count(step.value));
  const counts = step.value;
  if (counts === null) {
    throw transient('platform_unavailable', 'the total moves while it is asked for');
  }
  const shown = await shownIn(db, of, days);
  return { days, askedAt, shown, ...counts, ...balance(counts, shown) };
}
