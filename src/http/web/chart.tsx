// A figure by periods: its heading, its chart, and the same as a table under it; and how rows of figures become
// periods. The chart may round what it draws, the table never does; a period of which not all is held is marked in both
// (P7), and one with pending orders in the table.
import type { ComponentChildren } from 'preact';
import type { OrderFigures, PeriodCoverage } from '../../query/statistics-types.ts';
import { addDays, monthStart } from '../../day.ts';
import type { Day } from '../../model.ts';
import { sumOf } from './format.ts';
import { grouped, Table, type TableColumn } from './parts.tsx';
import type { View } from './view.ts';

export type By = 'day' | 'month';

type Period = {
  period: Day;
  /** Its days; of them, those held, and settled. */
  days: number;
  held: number;
  settled: number;
  /** Of them, those that are lost for ever. */
  lost: number;
};

export type Series = {
  label: string;
  /** A colour of style.ts; null: it stands in the table alone. */
  colour: string | null;
  /** A whole number or decimal text for each period. */
  values: readonly (number | string)[];
};

type Props = {
  view: View;
  title: string;
  by: By;
  periods: readonly Period[];
  series: readonly Series[];
  isStacked?: boolean;
};

export const isHeld = ({ days, held }: Omit<Period, 'period'>): boolean =>
  days > 0 && held === days;

export function Chart(props: Props & { isSmall?: boolean }) {
  const { view, title, by, periods, series, isStacked = true, isSmall = false } = props;
  const { words, format } = view;
  const drawn = {
    type: 'bar',
    labels: periods.map(({ period }) => period.slice(by === 'day' ? 5 : 0, by === 'day' ? 10 : 7)),
    isHeld: periods.map(isHeld),
    isLost: periods.map(({ lost }) => lost > 0),
    incomplete: words.figures.incomplete,
    lost: words.figures.lost,
    stacked: isStacked,
    sets: series.flatMap(({ label, colour, values }) =>
      colour === null ? [] : [{ label, colour, data: values.map(Number) }],
    ),
  };
  const [first, last] = [periods[0], periods.at(-1)];
  const doubtful = periods.filter((one) => !isHeld(one)).length;
  const about =
    first === undefined || last === undefined
      ? title
      : words.figures.about(
          title,
          nameOf(view, by, first.period),
          nameOf(view, by, last.period),
          series
            .filter(({ colour }) => colour !== null)
            .map(({ label, values }) => `${label} ${grouped(sumOf(values))}`)
            .join(words.punctuation.comma),
          doubtful === 0 ? '' : format.number(doubtful),
        );
  return (
    <div class={isSmall ? 'chart small' : 'chart'}>
      <canvas data-chart={JSON.stringify(drawn)} role="img" aria-label={about} />
    </div>
  );
}

type Line = { name: ComponentChildren; values: string[]; coverage: Omit<Period, 'period'> };

function FiguresTable(props: Props & { hrefOf?: (from: Day, to: Day) => string; csv?: string }) {
  const { view, title, by, periods, series, hrefOf, csv } = props;
  const { words } = view;
  const linked = (period: Day): ComponentChildren => {
    const name = nameOf(view, by, period);
    return hrefOf === undefined ? name : <a href={hrefOf(...spanOf(by, period))}>{name}</a>;
  };
  const lines: Line[] = periods.map((one, i) => ({
    name: linked(one.period),
    values: series.map(({ values }) => String(values[i] ?? 0)),
    coverage: one,
  }));
  const sums: Line = {
    name: words.figures.sum,
    values: series.map(({ values }) => sumOf(values)),
    coverage: together(periods),
  };
  const columns: TableColumn<Line>[] = [
    { head: words.figures.period, isName: true, cell: ({ name }) => name },
    ...series.map(({ label }, i): TableColumn<Line> => ({
      head: label,
      class: 'n',
      cell: ({ values }) => grouped(values[i] ?? ''),
    })),
    { head: words.figures.coverage, cell: ({ coverage }) => coverageText(view, coverage) },
  ];
  return (
    <details>
      <summary>{words.figures.asTable}</summary>
      <Table
        caption={title}
        columns={columns}
        rows={[...lines, sums]}
        rowClass={(line) => (line === sums ? 'sum' : classOf(line.coverage))}
        isNarrow
      />
      {csv !== undefined && (
        <p>
          <a href={csv}>{words.figures.csv}</a>
        </p>
      )}
    </details>
  );
}

const classOf = (of: Line['coverage']): string | undefined =>
  isHeld(of) ? undefined : of.lost > 0 ? 'doubt lost' : 'doubt';

/** All periods as if they were one. */
export function together(periods: readonly Period[]): Omit<Period, 'period'> {
  const sum = (of: (one: Period) => number): number =>
    periods.reduce((total, one) => total + of(one), 0);
  return {
    days: sum(({ days }) => days),
    held: sum(({ held }) => held),
    settled: sum(({ settled }) => settled),
    lost: sum(({ lost }) => lost),
  };
}

function coverageText({ words, format }: View, of: Omit<Period, 'period'>) {
  const { days, held, settled, lost } = of;
  if (settled === days && days > 0) return words.figures.settled;
  const counts = words.figures.heldDays(
    format.number(held),
    format.number(settled),
    format.number(days),
  );
  const text = isHeld(of) ? words.calendar.proved : <strong>{words.figures.incomplete}</strong>;
  return (
    <>
      {days === 1 && lost === 1 ? <strong class="bad">{words.figures.lost}</strong> : text}
      {days > 1 && lost > 0 && (
        <strong class="bad"> {words.figures.lostDays(format.number(lost))}</strong>
      )}
      {days > 1 && <span class="soft"> ({counts})</span>}
    </>
  );
}

const nameOf = ({ format }: View, by: By, period: Day): string =>
  by === 'day' ? format.day(period) : format.month(period);

const spanOf = (by: By, period: Day): [Day, Day] => [
  period,
  by === 'day' ? addDays(period, 1) : monthStart(period, 1),
];

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
    return row === undefined
      ? { period, days: 0, held: 0, settled: 0, lost: 0 }
      : {
          period,
          days: row.days,
          held: row.daysHeld,
          settled: row.daysSettled,
          lost: row.daysLost,
        };
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
