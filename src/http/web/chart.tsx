// A figure by periods: its heading, its chart, and the same as a table under it; and how rows of figures become
// periods. The chart may round what it draws, the table never does; a period of which not all is held is marked in both
// (P7), and one with pending orders in the table.
import type { ComponentChildren } from 'preact';
import type { OrderFigures, PeriodCoverage } from '../../query/statistics-types.ts';
import { monthEnd } from '../../day.ts';
import type { Day } from '../../model.ts';
import { sumOf } from './format.ts';
import { grouped, Table, type TableColumn } from './parts.tsx';
import { linkTo, type View } from './view.ts';

export type By = 'day' | 'month';

/** How many of its days are held, settled, and lost for ever. */
type Covered = Pick<PeriodCoverage, 'days' | 'daysHeld' | 'daysSettled' | 'daysLost'>;
type Period = Covered & { period: Day };

export type Series = {
  label: string;
  /** A colour of style.ts; null: it stands in the table alone. */
  colour: string | null;
  /** A whole number or decimal text for each period. */
  values: readonly (number | string)[];
  /** Shown only where there is any. */
  isRare?: boolean;
};

type Props = {
  view: View;
  title: string;
  by: By;
  periods: readonly Period[];
  series: readonly Series[];
  isStacked?: boolean;
};

export const isHeld = ({ days, daysHeld }: Covered): boolean => days > 0 && daysHeld === days;

export function Chart(props: Props & { isSmall?: boolean }) {
  const { view, title, by, periods, series, isSmall = false } = props;
  const { t, words } = view;
  const drawn = shownOf(series).filter(({ colour }) => colour !== null);
  const [first, last] = [periods[0], periods.at(-1)];
  const count = periods.filter((one) => !isHeld(one)).length;
  const sums = drawn.map(({ label, values }) => `${label} ${grouped(sumOf(values))}`);
  const about =
    first === undefined || last === undefined
      ? title
      : t('{what}, {from} – {to}: {sums}', {
          what: title,
          from: nameOf(view, by, first.period),
          to: nameOf(view, by, last.period),
          sums: sums.join(words.punctuation.comma),
        }) + (count === 0 ? '' : t('; periods of which not all is held: {count}', { count }));
  return (
    <div class={isSmall ? 'chart small' : 'chart'} role="img" aria-label={about}>
      {drawn.length > 1 && (
        <ul class="legend">
          {drawn.map(({ label, colour }) => (
            <li>
              <span class={`key ${colour}`} />
              {label}
            </li>
          ))}
        </ul>
      )}
      <Bars {...props} series={drawn} />
    </div>
  );
}

const shownOf = (series: readonly Series[]): Series[] =>
  series.filter(({ isRare, values }) => isRare !== true || Number(sumOf(values)) !== 0);

/** More would stand in each other's way; a phone has room for a third of them. */
const mostLabels = 20;

/** A column for each period. Places are percents, so that it fits any width without a script. */
function Bars({ view, by, periods, series, isStacked = true }: Props) {
  const { t, format } = view;
  const heights = periods.map((_, i) => series.map(({ values }) => Number(values[i] ?? 0)));
  const sum = (some: readonly number[]): number => some.reduce((total, one) => total + one, 0);
  const { step, steps } = scaleOf(
    Math.max(1, ...heights.map((some) => (isStacked ? sum(some) : Math.max(0, ...some)))),
  );
  const percent = (value: number): string => `${((100 * value) / (step * steps)).toFixed(2)}%`;
  const apart = Math.ceil(periods.length / mostLabels);
  const titleOf = (one: Period, i: number): string =>
    [
      nameOf(view, by, one.period),
      ...series.map(({ label, values }) => `${label} ${grouped(String(values[i] ?? 0))}`),
      ...(isHeld(one) ? [] : [t(one.daysLost > 0 ? 'lost for ever' : 'not all held')]),
    ].join('\n');
  return (
    <div class="plot">
      <svg class="scale">
        {Array.from({ length: steps + 1 }, (_, i) => (
          <>
            <line x1="0" x2="100%" y1={percent(i * step)} y2={percent(i * step)} />
            <text x="-6" y={percent((steps - i) * step)}>
              {format.short(i * step)}
            </text>
          </>
        ))}
      </svg>
      {periods.map((one, i) => (
        <div class={`column ${classOf(one) ?? ''}`} title={titleOf(one, i)}>
          <svg>
            {series.map(({ colour }, n) => {
              const [height = 0, below] = [heights[i]?.[n], sum(heights[i]?.slice(0, n) ?? [])];
              const width = isStacked ? 88 : 88 / series.length;
              return (
                <rect
                  class={colour ?? undefined}
                  x={`${isStacked ? 6 : 6 + n * width}%`}
                  width={`${width}%`}
                  y={percent(step * steps - height - (isStacked ? below : 0))}
                  height={percent(height)}
                />
              );
            })}
          </svg>
          {i % apart === 0 && (
            <span class={i % (3 * apart) === 0 ? undefined : 'wide'}>
              {by === 'day' ? one.period.slice(5) : one.period.slice(0, 7)}
            </span>
          )}
        </div>
      ))}
    </div>
  );
}

/** Whole steps that people count in, four to ten of them, up to the greatest. */
function scaleOf(greatest: number): { step: number; steps: number } {
  const magnitude = 10 ** Math.floor(Math.log10(greatest / 4));
  const fitting = [1, 2, 5, 10].map((one) => one * magnitude).find((one) => greatest / one <= 10);
  const step = Math.max(1, fitting ?? greatest);
  return { step, steps: Math.ceil(greatest / step) };
}

type Line = { name: ComponentChildren; values: string[]; coverage: Covered };

function FiguresTable(props: FigureProps & { series: readonly Series[] }) {
  const { view, title, range, periods, series, statistics, groupBy, list } = props;
  const { by, zone } = range;
  const { t } = view;
  // Lists know UTC days only.
  const isLinked = list !== undefined && zone === 'UTC';
  const linked = ({ period }: Period): ComponentChildren => {
    const name = nameOf(view, by, period);
    const to = by === 'day' ? period : monthEnd(period);
    return isLinked ? <a href={linkTo(view, `/${list}`, { from: period, to })}>{name}</a> : name;
  };
  const lines: Line[] = periods.map((one, i) => ({
    name: linked(one),
    values: series.map(({ values }) => String(values[i] ?? 0)),
    coverage: one,
  }));
  const sums: Line = {
    name: t('Sum'),
    values: series.map(({ values }) => sumOf(values)),
    coverage: together(periods),
  };
  const columns: TableColumn<Line>[] = [
    { head: t('Period'), isName: true, cell: ({ name }) => name },
    ...series.map(({ label }, i): TableColumn<Line> => ({
      head: label,
      class: 'n',
      cell: ({ values }) => grouped(values[i] ?? ''),
    })),
    { head: t('Coverage'), cell: ({ coverage }) => coverageText(view, coverage) },
  ];
  const csv = { ...range, group_by: groupBy, format: 'sheet' };
  return (
    <details>
      <summary>{t('The same as a table')}</summary>
      <Table
        caption={title}
        columns={columns}
        rows={[...lines, sums]}
        rowClass={(line) => (line === sums ? 'sum' : classOf(line.coverage))}
        isNarrow
      />
      <p>
        <a href={linkTo(view, `/archive/v1/statistics/${statistics}`, csv)}>{t('As CSV')}</a>
      </p>
    </details>
  );
}

const classOf = (of: Covered): string | undefined =>
  isHeld(of) ? undefined : of.daysLost > 0 ? 'doubt lost' : 'doubt';

/** All periods as if they were one. */
export function together(periods: readonly Covered[]): Covered {
  const sum = (name: keyof Covered): number => periods.reduce((total, one) => total + one[name], 0);
  return {
    days: sum('days'),
    daysHeld: sum('daysHeld'),
    daysSettled: sum('daysSettled'),
    daysLost: sum('daysLost'),
  };
}

function coverageText({ t, words }: View, of: Covered) {
  const { days, daysHeld: held, daysSettled: settled, daysLost: lost } = of;
  if (settled === days && days > 0) return t('all held and settled');
  const counts = t(
    '{held} of {of} days are all held; {settled} of them are settled, with no order pending',
    { held, settled, of: days },
  );
  const text = isHeld(of) ? words.states.proved : <strong>{t('not all held')}</strong>;
  return (
    <>
      {days === 1 && lost === 1 ? <strong class="bad">{t('lost for ever')}</strong> : text}
      {days > 1 && lost > 0 && (
        <strong class="bad"> {t('{days:one day|# days} lost for ever', { days: lost })}</strong>
      )}
      {days > 1 && <span class="soft"> ({counts})</span>}
    </>
  );
}

const nameOf = ({ format }: View, by: By, period: Day): string =>
  by === 'day' ? format.day(period) : format.month(period);

/** What the form was sent with; a bound that is open is ''. */
export type FigureRange = { by: By; from: Day; to: Day; zone: string };

/**
 * The periods of rows, of which each has one, or one for each group, in order. The first is the first that the archive
 * knows: what lies before it is no hole. `others` are periods of what has no coverage of its own.
 */
export function axisOf(rows: readonly PeriodCoverage[], others: readonly Day[] = []): Period[] {
  const none = { days: 0, daysHeld: 0, daysSettled: 0, daysLost: 0 };
  const found = new Map<Day, Period>(others.map((period) => [period, { period, ...none }]));
  for (const row of rows) found.set(row.period, row);
  return [...found.values()].toSorted((a, b) => (a.period < b.period ? -1 : 1));
}

/** What a value of rows comes to in each of these periods. */
export function sumsOf<Row extends { period: Day }>(
  periods: readonly Period[],
  rows: readonly Row[],
): (value: (row: Row) => number | string) => string[] {
  const found = new Map<Day, Row[]>(periods.map(({ period }) => [period, []]));
  for (const row of rows) found.get(row.period)?.push(row);
  return (value) => [...found.values()].map((some) => sumOf(some.map(value)));
}

type FigureProps = {
  view: View;
  range: FigureRange;
  title: string;
  periods: readonly Period[];
  series: readonly Series[];
  /** Of `/archive/v1/statistics`, in groups: where its CSV is. */
  statistics: string;
  groupBy?: string;
  /** Where the records of a period are; absent: nowhere. */
  list?: string;
};

export function Figure(props: FigureProps & { id: string; note?: string; isStacked?: boolean }) {
  const { id, title, note = '', view, range } = props;
  const series = shownOf(props.series);
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {note !== '' && <p class="soft">{note}</p>}
      {series.every(({ colour, values }) => colour === null || Number(sumOf(values)) === 0) ? (
        <p>{view.t('None within these days.')}</p>
      ) : (
        <Chart {...props} by={range.by} />
      )}
      <FiguresTable {...props} series={series} />
    </section>
  );
}

/** Orders by what became of them; `of` gives a number for each period. */
export const outcomes = (
  { t, words: { terms } }: View,
  of: (value: (row: OrderFigures) => number) => readonly string[],
): Series[] => [
  { label: terms.succeeded, colour: 'held', values: of((row) => row.succeeded) },
  { label: terms.failed, colour: 'bad', values: of((row) => row.failed) },
  { label: terms.pending, colour: 'open', values: of((row) => row.pending) },
  {
    label: t('of another status'),
    colour: 'soft',
    values: of((row) => row.ofOtherStatus),
    isRare: true,
  },
];
