// The books: the platform's counts of a span of days beside what their newest readings showed. Where the platform
// counts more, the span is halved, down to the days that lack something. Generators: they say what to ask, and whoever
// runs them asks.
import { orderStatuses, type AskedStatus } from '../model.ts';

export const statusWords = ['pending', 'success', 'failed'] as const;
const numberOf = (asked: AskedStatus): number =>
  typeof asked === 'number' ? asked : statusWords.indexOf(asked) + 1;

/** What the platform counts of a span, and what we were shown of it: all, and by status where that is known. */
type Counts = {
  /** Null: no total, or one that is smaller than the rows beside it. */
  total: number | null;
  /** By status 1, 2 and 3; null where the filter by status is of no use. */
  byStatus: readonly [number, number, number] | null;
};

/** What readings showed of the same span; null where a day of it was not read. */
export type Shown = { all: number; byStatus: readonly [number, number, number] } | null;

type Balance = { isMore: boolean; isEqual: boolean };

/** More than we were shown is not believed, in all or in a status. Less says nothing: capped, of the page, cached. */
export function balance({ total, byStatus }: Counts, shown: Shown): Balance {
  const isTold = total !== null || byStatus !== null;
  if (!isTold || shown === null) return { isMore: false, isEqual: false };
  const statuses = byStatus ?? [];
  const counted = Math.max(
    total ?? 0,
    statuses.reduce((sum, one) => sum + one, 0),
  );
  // A record without columns (a reject) may have any status; it is in the sum of them, too.
  const unknown = Math.max(0, shown.all - shown.byStatus.reduce((sum, one) => sum + one, 0));
  const isStatusMore = statuses.some((one, i) => one > (shown.byStatus[i] ?? 0) + unknown);
  return {
    isMore: counted > shown.all || isStatusMore,
    isEqual: counted === shown.all && !isStatusMore,
  };
}

/** Days by number, `[from, to)`. */
export type DaySpan = { from: number; to: number };

/**
 * Yields the spans to ask for and is given the row of each, or null where a span is too long to be asked for; returns the
 * rows to write, in their order. Where a span counts more and neither of its halves does (an end date that is read
 * otherwise), the row of the span stands: no day of it is believed.
 */
export function* reconcile<Row extends Balance>(
  span: DaySpan,
): Generator<DaySpan, Row[], Row | null> {
  const row = yield span;
  const isLeaf = span.to - span.from === 1 || row?.isMore === false;
  if (isLeaf) return row === null ? [] : [row];
  const middle = Math.ceil((span.from + span.to) / 2);
  const halves = [
    ...(yield* reconcile<Row>({ from: span.from, to: middle })),
    ...(yield* reconcile<Row>({ from: middle, to: span.to })),
  ];
  return row === null || halves.some(({ isMore }) => isMore) ? halves : [...halves, row];
}

/** What is answered to the question for one record of a span and the total. */
export type Counted = {
  /** Null: none, or one smaller than the rows beside it. */
  total: number | null;
  /** How many rows were shown. */
  shown: number;
  /** The statuses of those that are records; null: none that can be read. */
  statuses: readonly (number | null)[];
};

/** `readBy`: whether a walk of the list shows all, or it may leave a status out. `inWords`: the filter wants words. */
export type SpanCounts = Counts & { readBy: 'list' | 'each status'; inWords: boolean };

/** So often a total is asked for while it moves. */
const roundsAtMost = 3;

/**
 * Yields what to ask a span for, all (undefined) or a status, and is given what is answered, or null where it is refused;
 * returns what it counts, or null where the total does not come to rest. `hasStatuses`: the list knows them.
 */
export function* countSpan(
  hasStatuses: boolean,
): Generator<AskedStatus | undefined, SpanCounts | null, Counted | null> {
  for (let round = 1; round <= roundsAtMost; round++) {
    const before = yield undefined;
    const by = hasStatuses ? yield* countStatuses(before) : noFilter;
    const after = yield undefined;
    if (after?.total !== before?.total) continue;
    const total = after?.total ?? null;
    const { byStatus, isOfNoUse, inWords } = by;
    const addsUp = byStatus !== null && total === byStatus.reduce((sum, one) => sum + one, 0);
    return { total, byStatus, readBy: isOfNoUse || addsUp ? 'list' : 'each status', inWords };
  }
  return null;
}

type StatusCounts = Pick<SpanCounts, 'byStatus' | 'inWords'> & { isOfNoUse: boolean };

const noFilter: StatusCounts = { byStatus: null, isOfNoUse: true, inWords: false };

/**
 * By number, else by word. A status counts only if the row shown with it has that status; an empty list counts 0, once
 * neither finds anything: a list may leave out the one status that there is.
 */
function* countStatuses(all: Counted | null): Generator<AskedStatus, StatusCounts, Counted | null> {
  let nothing = noFilter;
  for (const asked of [orderStatuses, statusWords]) {
    const each: { status: AskedStatus; told: Counted | null }[] = [];
    for (const status of asked) each.push({ status, told: yield status });
    const isOfStatus = each.every(
      ({ status, told }) => told?.statuses.every((one) => one === numberOf(status)) === true,
    );
    const hasAny = each.some(({ told }) => told !== null && (told.shown > 0 || told.total !== 0));
    const isEmpty = all !== null && all.shown === 0 && all.total === 0 && !hasAny;
    if (!isOfStatus || !(hasAny || isEmpty)) continue;
    const [a, b, c] = each.map(({ told }) => told?.total ?? null);
    const isTold = typeof a === 'number' && typeof b === 'number' && typeof c === 'number';
    const byStatus = isTold ? ([a, b, c] as const) : null;
    if (hasAny) return { byStatus, isOfNoUse: false, inWords: asked === statusWords };
    nothing = { byStatus, isOfNoUse: false, inWords: false };
  }
  return nothing;
}
