// The calendar of coverage: a cell for each day of each list, its state by colour and pattern, leading to the day.
import { addDays, daysIn, monthEnd, monthStart, rangesOf } from '../../../day.ts';
import { listedResources, type Day } from '../../../model.ts';
import type { CoverageDay } from '../../../catalogue.ts';
import { calendarOf, type CalendarMonth, type DayMark } from '../../../query/day-marks.ts';
import { linkTo, type View } from '../view.ts';

/** As a day goes through them. */
const legend: readonly DayMark[] = [
  'open',
  'unproved',
  'proved',
  'sealed',
  'final',
  'doubtful',
  'lost',
];

/** So many months are drawn at once; of a year that is chosen, all. */
const newestMonths = 13;

export function Calendar({ view, coverage }: { view: View; coverage: readonly CoverageDay[] }) {
  const { t, words } = view;
  const calendar = calendarOf(coverage);
  const all = [...new Set(calendar.map(({ month }) => month))].toSorted().toReversed();
  const chosen = view.query.get('year');
  const ofYear = all.filter((month) => month.slice(0, 4) === chosen);
  const months = ofYear.length > 0 ? ofYear : all.slice(0, newestMonths);
  const years = [...new Set(all.map((month) => month.slice(0, 4)))];
  const listed = listedResources.filter((one) => calendar.some(({ resource }) => resource === one));
  const marksOf = (resource: string, month: Day): CalendarMonth['marks'] =>
    calendar.find((one) => one.resource === resource && one.month === month)?.marks ?? new Map();
  return (
    <section aria-labelledby="calendar">
      <h2 id="calendar">{t('Every day, and how sure it is')}</h2>
      <p class="soft">
        {t('A cell is a day of one list. Choose one to see what is held and why it is trusted.')}
      </p>
      {/* For scripts, which make one stop of all cells. */}
      <p class="hidden" id="keys">
        {t(
          'The arrow keys go from day to day and from list to list, Home and End to the ends of a month.',
        )}
      </p>
      <ul class="legend">
        {legend.map((mark) => (
          <li>
            <span class={`cell ${mark}`} />
            {words.states[mark]}
          </li>
        ))}
      </ul>
      <Ruler isOne={listed.length === 1} />
      {months.map((month) => (
        <div class={`month${listed.length === 1 ? ' one' : ''}`}>
          <h3>
            <a href={linkTo(view, '/coverage', { from: month, to: monthEnd(month) })}>
              {view.format.month(month)}
            </a>
          </h3>
          {listed.map((resource) => (
            <List {...{ view, resource, month }} marks={marksOf(resource, month)} />
          ))}
        </div>
      ))}
      {all.length > newestMonths && (
        <nav class="pages" aria-label={t('Years')}>
          <a href={linkTo(view, '/')} aria-current={ofYear.length === 0 ? 'true' : undefined}>
            {t('The newest months')}
          </a>
          {years.map((year) => (
            <a
              href={linkTo(view, '/', { year })}
              aria-current={year === chosen ? 'true' : undefined}
            >
              {year}
            </a>
          ))}
        </nav>
      )}
    </section>
  );
}

const firstsOfWeeks = [1, 8, 15, 22, 29];

/** Above all months; on a phone in two lines, as a month is. */
const Ruler = ({ isOne }: { isOne: boolean }) => (
  <div class={`month ruler${isOne ? ' one' : ''}`} aria-hidden="true">
    <span />
    <div class="list">
      <span />
      <ul class="days">
        {Array.from({ length: 31 }, (_, i) => (
          <li>{firstsOfWeeks.includes(i + 1) && i + 1}</li>
        ))}
      </ul>
    </div>
  </div>
);

function List({ view, resource, month, marks }: { view: View } & CalendarMonth) {
  const { words } = view;
  const { comma, colon } = words.punctuation;
  const name = words.lists[resource];
  return (
    <div class="list">
      <span aria-hidden="true">{name}</span>
      <ul class="days" aria-label={`${name}${comma}${view.format.month(month)}`}>
        {daysIn({ from: month, to: monthStart(month, 1) }).map((day) => {
          const mark = marks.get(Number(day.slice(8)));
          if (mark === undefined) return <li class="cell none" aria-hidden="true" />;
          const label = `${view.format.day(day)}${comma}${name}${colon}${words.states[mark]}`;
          return (
            <li>
              <a
                class={`cell ${mark}`}
                href={linkTo(view, `/days/${resource}/${day}`)}
                aria-label={label}
                data-day={day}
                title={label}
              />
            </li>
          );
        })}
      </ul>
    </div>
  );
}

/** Days in words: from one to another, not each by itself. */
export const rangesText = ({ words, format }: View, days: readonly Day[]): string =>
  rangesOf(days)
    .map(({ from, to }) => {
      const last = addDays(to, -1);
      return from === last ? format.day(from) : `${format.day(from)} – ${format.day(last)}`;
    })
    .join(words.punctuation.and);
