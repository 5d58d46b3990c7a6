// A chart, and the same figures as a table under it. The chart may round what it draws, the table never does; a period
// that is not wholly covered is marked in both (P7).
import type { ComponentChildren } from 'preact';
import type { PeriodCoverage } from '../../query/statistics-types.ts';
import { addDays, monthStart } from '../../day.ts';
import type { Day } from '../../model.ts';
import { sumOf } from './exact-sum.ts';
import { grouped } from './parts.tsx';
import { Table, type TableColumn } from './table.tsx';
import type { View } from './view.ts';

export type By = 'day' | 'month';

export type Period = {
  period: Day;
  isWhole: boolean;
  /** Of its days that the archive accounts for those without a hole or a doubt; days before its first are no hole. */
  daysWhole: number;
  days: number;
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

export const periodOf = (row: PeriodCoverage): Period => ({
  period: row.period,
  isWhole: row.daysAccounted > 0 && row.daysComplete === row.daysAccounted,
  daysWhole: row.daysComplete,
  days: row.daysAccounted,
});

export function Chart(props: Props & { isSmall?: boolean }) {
  const { view, title, by, periods, series, isStacked = true, isSmall = false } = props;
  const { words, format } = view;
  const drawn = {
    type: 'bar',
    labels: periods.map(({ period }) => period.slice(by === 'day' ? 5 : 0, by === 'day' ? 10 : 7)),
    isWhole: periods.map(({ isWhole }) => isWhole),
    incomplete: words.figures.incomplete,
    stacked: isStacked,
    sets: series.flatMap(({ label, colour, values }) =>
      colour === null ? [] : [{ label, colour, data: values.map(Number) }],
    ),
  };
  const [first, last] = [periods[0], periods.at(-1)];
  const doubtful = periods.filter(({ isWhole }) => !isWhole).length;
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
            .join(', '),
          doubtful === 0 ? '' : format.number(doubtful),
        );
  return (
    <div class={isSmall ? 'chart small' : 'chart'}>
      <canvas data-chart={JSON.stringify(drawn)} role="img" aria-label={about} />
    </div>
  );
}

type Line = { name: ComponentChildren; values: string[]; coverage: Omit<Period, 'period'> };

export function FiguresTable(
  props: Props & { hrefOf?: (from: Day, to: Day) => string; csv?: string },
) {
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
        rowClass={(line) => (line === sums ? 'sum' : line.coverage.isWhole ? undefined : 'doubt')}
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

/** All periods as if they were one. */
export function together(periods: readonly Period[]): Omit<Period, 'period'> {
  return {
    isWhole: periods.every(({ isWhole }) => isWhole),
    daysWhole: periods.reduce((sum, { daysWhole }) => sum + daysWhole, 0),
    days: periods.reduce((sum, { days }) => sum + days, 0),
  };
}

export function coverageText(view: View, { isWhole, daysWhole, days }: Omit<Period, 'period'>) {
  const { words, format } = view;
  if (isWhole) return words.figures.complete;
  const of = words.figures.wholeDays(format.number(daysWhole), format.number(days));
  return (
    <>
      <strong>{words.figures.incomplete}</strong>
      {days > 1 && <span class="soft"> ({of})</span>}
    </>
  );
}

const nameOf = ({ format }: View, by: By, period: Day): string =>
  by === 'day' ? format.day(period) : format.month(period);

const spanOf = (by: By, period: Day): [Day, Day] => [
  period,
  by === 'day' ? addDays(period, 1) : monthStart(period, 1),
];
