// A figure by periods: its heading, its chart, and the table under it; and how rows of figures become periods.
import type { Day } from '../../../model.ts';
import type { OrderFigures, PeriodCoverage } from '../../../query/statistics-types.ts';
import { Chart, FiguresTable, periodOf, type By, type Period, type Series } from '../chart.tsx';
import { sumOf } from '../exact-sum.ts';
import type { View } from '../view.ts';

/** What the form was sent with; a bound that is open is ''. */
export type FigureRange = { by: By; from: Day; to: Day; zone: string };

/** The rows of each period: one, or one for each group. */
export function byPeriod<Row extends { period: Day }>(rows: readonly Row[]): Map<Day, Row[]> {
  const found = new Map<Day, Row[]>();
  for (const row of rows) {
    const held = found.get(row.period);
    if (held === undefined) found.set(row.period, [row]);
    else held.push(row);
  }
  return found;
}

/**
 * Its periods in order. The first is the first that the archive knows: what lies before it is no hole. `others` are
 * periods of what has no coverage of its own.
 */
export function axisOf<Row extends PeriodCoverage>(
  found: ReadonlyMap<Day, readonly Row[]>,
  others: readonly Day[] = [],
): Period[] {
  return [...new Set([...found.keys(), ...others])].toSorted().map((period) => {
    const row = found.get(period)?.[0];
    return row === undefined ? { period, days: 0, held: 0, settled: 0, lost: 0 } : periodOf(row);
  });
}

export function Figure(props: {
  view: View;
  range: FigureRange;
  id: string;
  title: string;
  note?: string;
  periods: readonly Period[];
  series: readonly Series[];
  isStacked?: boolean;
  hrefOf?: (from: Day, to: Day) => string;
  csv: string;
}) {
  const { range, id, title, note = '', ...rest } = props;
  const { view, series } = rest;
  const figure = { ...rest, title, by: range.by };
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {note !== '' && <p class="soft">{note}</p>}
      {series.every(({ colour, values }) => colour === null || Number(sumOf(values)) === 0) ? (
        <p>{view.words.figures.noneDrawn}</p>
      ) : (
        <Chart {...figure} />
      )}
      <FiguresTable {...figure} />
    </section>
  );
}

/** Orders by what became of them; `of` gives a number for each period. */
export function outcomes(
  { words: { figures, terms } }: View,
  of: (value: (row: OrderFigures) => number) => readonly (number | string)[],
): Series[] {
  const other = of((row) => row.ofOtherStatus);
  return [
    { label: terms.succeeded, colour: 'held', values: of((row) => row.succeeded) },
    { label: terms.failed, colour: 'bad', values: of((row) => row.failed) },
    { label: terms.pending, colour: 'open', values: of((row) => row.pending) },
    ...(other.some((count) => Number(count) > 0)
      ? [{ label: figures.ofOtherStatus, colour: 'soft', values: other }]
      : []),
  ];
}
