// The books: the platform's counts of a span of days beside what their newest readings showed. Where the platform
// counts more, the span is halved, down to the days that lack something. A generator: it says what to ask, and whoever
// runs it asks.

/** What the platform counts of a span, and what we were shown of it: all, and by status where that is known. */
type Counts = {
  /** Null: no total, or one that is smaller than the rows beside it. */
  total: number | null;
  /** By status 1, 2 and 3; null where the filter by status is of no use. */
  byStatus: readonly [number, number, number] | null;
};

/** What readings showed of the same span; null where a day of it was not read. */
export type Shown = { all: number; byStatus: readonly [number, number, number] } | null;

export type Balance = { isMore: boolean; isEqual: boolean };

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
