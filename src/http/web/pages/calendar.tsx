// The calendar of coverage: a cell for each day of each list, its state by colour and pattern, leading to the day.
import { addDays, daysIn, monthStart } from '../../../day.ts';
import { listedResources, type Day, type ListedResource } from '../../../model.ts';
import type { CoverageDay } from '../../../query/book-types.ts';
import { linkTo, type View } from '../view.ts';

/** How a cell looks: a state, but that what is read and proved stands out from what is only read. */
type Look = CoverageDay['state'] | 'proved';

const weakestFirst: readonly Look[] = ['lost', 'open', 'walked', 'proved', 'final', 'sealed'];
const shownInLegend: readonly Look[] = ['open', 'walked', 'proved', 'sealed', 'final', 'lost'];

const lookOf = ({ state, proof }: CoverageDay): Look =>
  state === 'walked' && proof !== 'none' ? 'proved' : state;

/** Pending orders of a day that the platform still answers for are no doubt. */
const isDoubt = (one: CoverageDay['reservations'][number]): boolean => one !== 'unresolved_orders';

type Cell = { look: Look; isDoubtful: boolean };

/** Of several lists of a day the weakest decides. */
function cellsOf(coverage: readonly CoverageDay[]): Map<string, Cell> {
  const cells = new Map<string, Cell>();
  for (const slice of coverage) {
    const key = `${slice.resource} ${slice.day}`;
    const look = lookOf(slice);
    const isDoubtful =
      slice.state !== 'lost' && (slice.rejected > 0 || slice.reservations.some(isDoubt));
    const held = cells.get(key);
    const isWeaker =
      held === undefined || weakestFirst.indexOf(look) < weakestFirst.indexOf(held.look);
    cells.set(key, {
      look: isWeaker ? look : held.look,
      isDoubtful: isDoubtful || (held?.isDoubtful ?? false),
    });
  }
  return cells;
}

/** So many months are drawn at once; of a year that is chosen, all. */
const newestMonths = 13;

export function Calendar({ view, coverage }: { view: View; coverage: readonly CoverageDay[] }) {
  const { words } = view;
  const cells = cellsOf(coverage);
  const all = [...new Set(coverage.map(({ day }) => monthStart(day)))].toSorted().toReversed();
  const chosen = view.query.get('year');
  const ofYear = all.filter((month) => month.slice(0, 4) === chosen);
  const months = ofYear.length > 0 ? ofYear : all.slice(0, newestMonths);
  const years = [...new Set(all.map((month) => month.slice(0, 4)))];
  const listed = listedResources.filter((one) => coverage.some(({ resource }) => resource === one));
  return (
    <section aria-labelledby="calendar">
      <h2 id="calendar">{words.calendar.title}</h2>
      <p class="soft">{words.calendar.about}</p>
      <ul class="legend">
        {shownInLegend.map((look) => (
          <li>
            <span class={`cell ${look}`} />
            {nameOf(view, look)}
          </li>
        ))}
      </ul>
      {months.map((month) => (
        <div class={`month${listed.length === 1 ? ' one' : ''}`}>
          <h3>{view.format.month(month)}</h3>
          {listed.map((resource) => (
            <List view={view} month={month} resource={resource} cells={cells} />
          ))}
        </div>
      ))}
      {all.length > newestMonths && (
        <nav class="pages" aria-label={words.calendar.years}>
          <a href={linkTo(view, '/')} aria-current={ofYear.length === 0 ? 'true' : undefined}>
            {words.calendar.newest}
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

function List(props: {
  view: View;
  month: Day;
  resource: ListedResource;
  cells: ReadonlyMap<string, Cell>;
}) {
  const { view, month, resource, cells } = props;
  const name = view.words.resources[resource];
  return (
    <div class="list">
      <span aria-hidden="true">{name}</span>
      <ul class="days" aria-label={`${name}, ${view.format.month(month)}`}>
        {daysIn({ from: month, to: monthStart(month, 1) }).map((day) => {
          const cell = cells.get(`${resource} ${day}`);
          if (cell === undefined) return <li class="cell none" aria-hidden="true" />;
          const label = `${view.format.day(day)}, ${name}: ${nameOf(view, cell.look)}`;
          return (
            <li>
              <a
                class={`cell ${cell.look}${cell.isDoubtful ? ' doubt' : ''}`}
                href={linkTo(view, `/days/${resource}/${day}`)}
                aria-label={label}
                title={label}
              />
            </li>
          );
        })}
      </ul>
    </div>
  );
}

const nameOf = ({ words }: View, look: Look): string =>
  look === 'proved' ? words.calendar.proved : words.states[look];

/** Days in words: stretches, not each by itself. */
export function stretches({ format }: Pick<View, 'format'>, days: readonly Day[]): string {
  const found: [Day, Day][] = [];
  for (const day of days.toSorted()) {
    const last = found.at(-1);
    if (last !== undefined && addDays(last[1], 1) === day) last[1] = day;
    else found.push([day, day]);
  }
  return found
    .map(([from, to]) =>
      from === to ? format.day(from) : `${format.day(from)} – ${format.day(to)}`,
    )
    .join(', ');
}
