// The first page: whether all days are safe, until when what is not can still be read, and every day at a glance.
import { addDays, dayOf, daysIn } from '../../../day.ts';
import { listedResources, type Day, type ListedResource } from '../../../model.ts';
import type { ArchiveProblem, CoverageDay } from '../../../catalogue.ts';
import { problemRowText } from '../../../problems.ts';
import type { OrderFigures } from '../../../query/statistics-types.ts';
import { axisOf, Chart, outcomes, sumsOf } from '../chart.tsx';
import { Said } from '../layout.tsx';
import { readAll } from '../../v1/question-routes.ts';
import { projectFor } from '../../v1/route.ts';
import { linkTo, type Made, type Page, type View } from '../view.ts';
import { booksSentence, headlineOf, safetyOf, type Safety } from '../headline.ts';
import { isWrong } from './alerts-page.tsx';
import { Calendar, rangesText } from './calendar.tsx';

export const overviewPage: Page = { path: '/', nav: 'overview', read };

async function read(view: View): Promise<Made> {
  const { archive, project, now, words, format } = view;
  const daysText = (from: Day, to: Day): string =>
    rangesText(view, daysIn({ from, to: addDays(to, 1) }));
  const to = addDays(dayOf(now), 1);
  const [coverage, books, problems, orders] = await Promise.all([
    readAll(view, 'coverage'),
    readAll(view, 'books'),
    readAll(view, 'problems'),
    archive.statistics.orders({ project, by: 'day', from: addDays(to, -31), to }),
  ]);
  const safety = safetyOf(coverage, view.now);
  const wrong = problems.filter(isWrong);
  const headline = headlineOf(words, (count) => format.number(count), safety);
  return {
    title: headline,
    twin: linkTo(view, '/archive/v1/coverage'),
    isLive: true,
    body: (
      <>
        <h1 class={wrong.some(({ level }) => level === 'critical') ? 'bad' : undefined}>
          {headline}
        </h1>
        <Wrong view={view} problems={wrong} />
        <Lead view={view} safety={safety} isWell={wrong.length === 0} />
        {books.map((balance) => (
          <p class={balance.balance === 'more' ? 'notice' : undefined}>
            {booksSentence(words, { ...format, days: daysText }, balance)}
          </p>
        ))}
        {coverage.length > 0 && (
          <Held view={view} coverage={coverage} held={await heldOf(view, coverage)} />
        )}
        {coverage.length > 0 && <Calendar view={view} coverage={coverage} />}
        {orders.length > 0 && <Lately view={view} orders={orders} />}
      </>
    ),
  };
}

function Lead(props: { view: View; safety: Safety; isWell: boolean }) {
  const { view, safety, isWell } = props;
  const { words, format, now } = view;
  const { semicolon, stop } = words.punctuation;
  const { closing, lost, readOnce, readAgainAt, doubtful, unsettled } = safety;
  if (safety.entered === 0) return <p class="lead">{words.headline.nothingMore}</p>;
  return (
    <>
      {lost.length > 0 && <p class="notice">{words.headline.lostMore(rangesText(view, lost))}</p>}
      <p class="lead">
        {closing !== null && (
          <>
            <strong>
              {closing.at > now
                ? words.headline.closes(
                    format.monthName(closing.month),
                    format.span(closing.at - now),
                  )
                : words.headline.closed(format.monthName(closing.month))}
            </strong>
            {isWell ? semicolon + words.headline.noRisk : stop}
          </>
        )}
        {words.between}
        {readOnce > 0 && words.headline.readOnce(format.number(readOnce), format.time(readAgainAt))}
        {words.between}
        {unsettled > 0 && words.headline.unsettled(format.number(unsettled))}
        {words.between}
        {doubtful > 0 && words.headline.doubt(format.number(doubtful))}
      </p>
    </>
  );
}

/** The others are on the page of alerts. */
const problemsShown = 3;

/** The worst first, as the archive gives them. */
function Wrong({ view, problems }: { view: View; problems: readonly ArchiveProblem[] }) {
  const { words, format } = view;
  if (problems.length === 0) return null;
  return (
    <div class="notice">
      {problems.slice(0, problemsShown).map((problem) => (
        <p>
          <Said text={problemRowText(problem, view.lang)} />
        </p>
      ))}
      <p>
        {problems.length > problemsShown &&
          words.headline.moreProblems(format.number(problems.length - problemsShown))}
        {words.between}
        <a href={linkTo(view, '/alerts')}>{words.headline.whatToDo}</a>
      </p>
    </div>
  );
}

function Lately({ view, orders }: { view: View; orders: readonly OrderFigures[] }) {
  const { words } = view;
  const periods = axisOf(orders);
  const series = outcomes(view, sumsOf(periods, orders));
  return (
    <section aria-labelledby="lately">
      <h2 id="lately">{words.figures.lately}</h2>
      <p class="soft">
        {words.figures.latelyAbout} · <a href={linkTo(view, '/figures')}>{words.figures.more}</a>
      </p>
      <Chart {...{ view, periods, series }} by="day" title={words.figures.orders} isSmall />
    </section>
  );
}

/** So many can be counted while a page is made: 0.2 s for each million. */
const countedAtMost = 500_000;

type HeldRecords = { of: ReadonlyMap<string, number>; isShown: boolean };

/** Records held of each list; of more than can be counted, what its last readings were shown. */
async function heldOf(view: View, coverage: readonly CoverageDay[]): Promise<HeldRecords> {
  const shown = new Map<ListedResource, number>();
  for (const { resource, shownTotal } of coverage) {
    shown.set(resource, (shown.get(resource) ?? 0) + (shownTotal ?? 0));
  }
  if (Math.max(0, ...shown.values()) > countedAtMost) return { of: shown, isShown: true };
  const of = new Map<string, number>();
  for (const resource of shown.keys()) {
    const found = await view.archive.summary({ project: projectFor(view, resource) });
    of.set(resource, found.find((one) => one.resource === resource)?.records ?? 0);
  }
  return { of, isShown: false };
}

function Held(props: { view: View; coverage: readonly CoverageDay[]; held: HeldRecords }) {
  const { view, coverage, held } = props;
  const { words, format } = view;
  return (
    <section aria-labelledby="held">
      <h2 id="held">{words.stats.title}</h2>
      <div class="tiles">
        {listedResources.map((resource) => {
          const slices = coverage.filter((one) => one.resource === resource);
          const first = slices[0];
          if (first === undefined) return null;
          const pending = slices.reduce((sum, one) => sum + one.unresolved, 0);
          return (
            <div class="tile">
              <b>{format.number(held.of.get(resource) ?? 0)}</b>
              <a href={linkTo(view, `/${resource}`)}>{words.lists[resource]}</a>{' '}
              <span>
                {held.isShown && `${words.day.shown} · `}
                {words.stats.since(format.day(first.day))}
                {pending > 0 && ` · ${format.number(pending)} ${words.terms.pending}`}
              </span>
            </div>
          );
        })}
      </div>
    </section>
  );
}
