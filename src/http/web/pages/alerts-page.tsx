// What is wrong, with what to do about it; then the alerts that are over, and what only happened.
import type { Alert, ArchiveProblem } from '../../../catalogue.ts';
import { problemAdvice, problemRowText } from '../../../problems.ts';
import { readAll } from '../../v1/question-routes.ts';
import { Documents, Foreign, Said, Table } from '../parts.tsx';
import { linkTo, type Made, type Page, type View } from '../view.ts';

export const alertsPage: Page = { path: '/alerts', nav: 'alerts', read };

/** What only happened is for the list below, once it has been known for a day. */
export const isWrong = ({ level }: ArchiveProblem): boolean => level !== 'info';

const nameOf = ({ kind, subject }: { kind: string; subject: string }): string =>
  JSON.stringify([kind, subject]);

async function read(view: View): Promise<Made> {
  const { t, words, archive, project, settings } = view;
  const webhook = settings?.find(({ name }) => name === 'OUTLAST_ALERT_WEBHOOK')?.value;
  const isUntold = settings !== null && webhook !== 'set';
  const [problems, alerts] = await Promise.all([
    readAll(view, 'problems'),
    archive.alerts({ project }),
  ]);
  const wrong = problems.filter(isWrong);
  const told = new Map(alerts.map((alert) => [nameOf(alert), alert.toldAt]));
  const names = new Set(wrong.map(nameOf));
  const past = alerts.filter((one) => one.resolvedAt !== null && !names.has(nameOf(one)));
  return {
    title: words.lists['alerts'] ?? '',
    twin: linkTo(view, '/archive/v1/problems'),
    isLive: true,
    body: (
      <>
        <h1>{words.lists['alerts']}</h1>
        {isUntold && (
          <p class="notice mild">
            {t('Nobody is told of these: no webhook is set. To set one:')}{' '}
            <code>OUTLAST_ALERT_WEBHOOK</code>
          </p>
        )}
        <section aria-labelledby="open">
          <h2 id="open">{t('What is wrong')}</h2>
          {wrong.length === 0 ? (
            <p class="lead">{t('Nothing is wrong.')}</p>
          ) : (
            wrong.map((one) => (
              <Wrong view={view} problem={one} toldAt={told.get(nameOf(one)) ?? null} />
            ))
          )}
        </section>
        <section aria-labelledby="past">
          <h2 id="past">{t('Over, or told once')}</h2>
          {past.length === 0 ? (
            <p class="soft">{t('None lately.')}</p>
          ) : (
            <Past view={view} alerts={past} />
          )}
        </section>
        <Documents view={view} names={['alerts', 'troubleshooting']} />
      </>
    ),
  };
}

/** As long as it goes on, what it says is read first. */
function Wrong(props: { view: View; problem: ArchiveProblem; toldAt: string | null }) {
  const { view, problem, toldAt } = props;
  const { t, words, format } = view;
  const { kind, subject, since, until } = problem;
  return (
    <article class="notice">
      <p>
        <strong>
          <Said text={problemRowText(problem, view.lang)} />
        </strong>
      </p>
      <p>
        {t('What to do')}
        {words.punctuation.colon}
        {problemAdvice(kind, view.lang)}
      </p>
      <p class="soft">
        {since !== null && `${words.fields['since']} ${format.time(since)} · `}
        {until !== null && `${t('Something can be done until')} ${format.time(until)} · `}
        {toldAt === null ? t('told nobody yet') : `${t('Told')} ${format.time(toldAt)}`} ·{' '}
        <code>{kind}</code> <Foreign text={subject} />
      </p>
    </article>
  );
}

function Past({ view, alerts }: { view: View; alerts: readonly Alert[] }) {
  const { t, words, format } = view;
  return (
    <Table
      caption={t('Over, or told once')}
      columns={[
        {
          head: t('About'),
          class: 't',
          isName: true,
          cell: ({ subject, kind }) => (
            <>
              <Foreign text={subject} />
              {subject !== '' && <br />}
              <code>{kind}</code>
            </>
          ),
        },
        {
          head: t('What was wrong'),
          class: 'wide',
          cell: (alert) => (
            <>
              {words.meanings[alert.kind] !== undefined && <div>{words.meanings[alert.kind]}</div>}
              <Said text={alert.text} lang="en" />
              {alert.isNews && <div class="soft">{problemAdvice(alert.kind, view.lang)}</div>}
            </>
          ),
        },
        {
          head: words.fields['since'] ?? '',
          class: 't',
          cell: ({ openedAt }) => format.time(openedAt),
        },
        {
          head: t('Over since'),
          class: 't',
          cell: ({ isNews, resolvedAt }) => (isNews ? t('told once') : format.time(resolvedAt)),
        },
        {
          head: t('Told'),
          class: 't',
          cell: ({ toldAt }) => (toldAt === null ? t('told nobody yet') : format.time(toldAt)),
        },
      ]}
      rows={alerts}
    />
  );
}
