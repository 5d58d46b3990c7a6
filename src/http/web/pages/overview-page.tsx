// The first page: whether all days are safe, until when what is not can still be read, and every day at a glance.
import { addDays, dayOf, daysIn } from '../../../day.ts';
import { listedResources, type Day, type ListedResource } from '../../../model.ts';
import type { ArchiveProblem, CoverageDay } from '../../../catalogue.ts';
import { problemRowText } from '../../../problems.ts';
import type { OrderFigures } from '../../../query/statistics-types.ts';
import { axisOf, Chart, outcomes, sumsOf } from '../chart.tsx';
import { readAll } from '../../v1/question-routes.ts';
import { projectFor } from '../../v1/route.ts';
import { Said } from '../parts.tsx';
import { linkTo, type Made, type Page, type View } from '../view.ts';
import { booksSentence, headlineOf, safetyOf, type Safety } from '../headline.ts';
import { isWrong } from './alerts-page.tsx';
import { Calendar, rangesText } from './calendar.tsx';

export const overviewPage: Page = { path: '/', nav: 'overview', read };

async function read(view: View): Promise<Made> {
  const { archive, project, now, t, format } = view;
  const daysText = (from: Day, to: Day): string =>
    rangesText(view, daysIn({ from, to: addDays(to, 1) }));
  const to = dayOf(now);
  const [coverage, books, problems, orders] = await Promise.all([
    readAll(view, 'coverage'),
    readAll(view, 'books'),
    readAll(view, 'problems'),
    archive.statistics.orders({ project, by: 'day', from: addDays(to, -30), to }),
  ]);
  const safety = safetyOf(coverage, view.now);
  const wrong = problems.filter(isWrong);
  const headline = headlineOf(t, safety);
  // As the cells of such days are, whatever else there is.
  const isForGood = safety.lost.length > 0 || safety.doubtful > 0;
  const isBad = isForGood || wrong.some(({ level }) => level === 'critical');
  return {
    title: headline,
    twin: linkTo(view, '/archive/v1/coverage'),
    isLive: true,
    body: (
      <>
        <h1 class={isBad ? 'bad' : undefined}>{headline}</h1>
        <Wrong view={view} problems={wrong} />
        <Lead view={view} safety={safety} isWell={wrong.length === 0} />
        {books.map((balance) => (
          <p class={balance.balance === 'more' ? 'notice' : undefined}>
            {booksSentence(view, { ...format, days: daysText }, balance)}
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
  const { t, words, format, now } = view;
  const { semicolon, stop } = words.punctuation;
  const { closing, lost, readOnce, readAgainAt, doubtful, unsettled } = safety;
  if (safety.entered === 0)
    return (
      <p class="lead">
        {t('The first run enters the days of this month and the last. It begins within a minute.')}
      </p>
    );
  return (
    <>
      {lost.length > 0 && (
        <p class="notice">
          {t(
            '{days}. The platform had forgotten them before they were read whole; what was read is kept.',
            { days: rangesText(view, lost) },
          )}
        </p>
      )}
      <p class="lead">
        {closing !== null && (
          <>
            <strong>
              {closing.at > now
                ? t('{month} leaves the platform’s window in {span}', {
                    month: format.monthName(closing.month),
                    span: format.span(closing.at - now),
                  })
                : t('{month} has left the platform’s window', {
                    month: format.monthName(closing.month),
                  })}
            </strong>
            {isWell ? semicolon + t('nothing is at risk.') : stop}
          </>
        )}
        {words.between}
        {readOnce > 0 &&
          t(
            '{days:One day is|# days are} to be read once more, {days:at|from} {at}{days:| on}, to make sure that nothing is missing.',
            { days: readOnce, at: format.time(readAgainAt) },
          )}
        {words.between}
        {unsettled > 0 &&
          t('Of {days:one day|# days} all is held, and orders are pending.', { days: unsettled })}
        {words.between}
        {doubtful > 0 &&
          t(
            '{days:One day was|# days were} never proved whole: not confirmed in time, or a record could not be taken in.',
            { days: doubtful },
          )}
      </p>
    </>
  );
}

/** The others are on the page of alerts. */
const problemsShown = 3;

/** The worst first, as the archive gives them. */
function Wrong({ view, problems }: { view: View; problems: readonly ArchiveProblem[] }) {
  const { t, words } = view;
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
          t('And {count} more.', { count: problems.length - problemsShown })}
        {words.between}
        <a href={linkTo(view, '/alerts')}>{t('What to do')}</a>
      </p>
    </div>
  );
}

function Lately({ view, orders }: { view: View; orders: readonly OrderFigures[] }) {
  const { t } = view;
  const periods = axisOf(orders);
  const series = outcomes(view, sumsOf(periods, orders));
  return (
    <section aria-labelledby="lately">
      <h2 id="lately">{t('What came in lately')}</h2>
      <p class="soft">
        {t('Orders by outcome, the last 31 days')} ·{' '}
        <a href={linkTo(view, '/figures')}>{t('All figures')}</a>
      </p>
      <Chart {...{ view, periods, series }} by="day" title={t('Orders by outcome')} isSmall />
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
  const { t, words, format } = view;
  return (
    <section aria-labelledby="held">
      <h2 id="held">{t('What is held')}</h2>
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
                {held.isShown && `${t('shown by the last reading')} · `}
                {t('since {day}', { day: format.day(first.day) })}
                {pending > 0 && ` · ${format.number(pending)} ${words.terms.pending}`}
              </span>
            </div>
          );
        })}
      </div>
    </section>
  );
}
