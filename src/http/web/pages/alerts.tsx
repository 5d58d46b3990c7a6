// What somebody should hear of: what goes on first, then what is over or only happened; with what to do.
import type { Alert } from '../../../catalogue.ts';
import { problemAdvice } from '../../../problems.ts';
import { Foreign } from '../layout.tsx';
import { Documents } from '../parts.tsx';
import { Table } from '../table.tsx';
import { linkTo, type Made, type Page, type View } from '../view.ts';

export const alertsPage: Page = { path: '/alerts', nav: 'alerts', read };

export const isOpenAlert = ({ resolvedAt }: Alert): boolean => resolvedAt === null;

async function read(view: View): Promise<Made> {
  const { words, archive, project } = view;
  const alerts = await archive.alerts({ project });
  const open = alerts.filter(isOpenAlert);
  const past = alerts.filter((one) => !isOpenAlert(one));
  return {
    title: words.alerts.title,
    twin: linkTo(view, '/archive/v1/alerts'),
    isLive: true,
    body: (
      <>
        <h1>{words.alerts.title}</h1>
        <section aria-labelledby="open">
          <h2 id="open">{words.alerts.open}</h2>
          {open.length === 0 ? (
            <p class="lead">{words.alerts.none}</p>
          ) : (
            open.map((alert) => <Open view={view} alert={alert} />)
          )}
        </section>
        <section aria-labelledby="past">
          <h2 id="past">{words.alerts.past}</h2>
          {past.length === 0 ? (
            <p class="soft">{words.alerts.nonePast}</p>
          ) : (
            <Past view={view} alerts={past} />
          )}
        </section>
        <Documents view={view} names={['alerts', 'troubleshooting']} />
      </>
    ),
  };
}

const toldText = ({ words, format }: View, { toldAt }: Alert): string =>
  toldAt === null ? words.alerts.notTold : `${words.alerts.told} ${format.time(toldAt)}`;

/** As long as it goes on, what it says is read first. */
function Open({ view, alert }: { view: View; alert: Alert }) {
  const { words, format } = view;
  const todo = problemAdvice(alert.kind, view.lang);
  return (
    <article class="notice">
      <p>
        <strong>
          <Foreign text={alert.text} lang="en" />
        </strong>
      </p>
      {todo !== null && (
        <p>
          {words.alerts.todo}: {todo}
        </p>
      )}
      <p class="soft">
        {words.alerts.since} {format.time(alert.openedAt)} · {toldText(view, alert)} ·{' '}
        <code>{alert.kind}</code> <Foreign text={alert.subject} />
      </p>
    </article>
  );
}

function Past({ view, alerts }: { view: View; alerts: readonly Alert[] }) {
  const { words, format } = view;
  return (
    <Table
      caption={words.alerts.past}
      columns={[
        {
          head: words.alerts.subject,
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
          head: words.alerts.what,
          class: 'wide',
          cell: (alert) => (
            <>
              <Foreign text={alert.text} lang="en" />
              {alert.isNews && <div class="soft">{problemAdvice(alert.kind, view.lang)}</div>}
            </>
          ),
        },
        { head: words.alerts.since, class: 't', cell: ({ openedAt }) => format.time(openedAt) },
        {
          head: words.alerts.resolved,
          class: 't',
          cell: ({ isNews, resolvedAt }) => (isNews ? words.alerts.once : format.time(resolvedAt)),
        },
        {
          head: words.alerts.told,
          class: 't',
          cell: ({ toldAt }) => (toldAt === null ? words.alerts.notTold : format.time(toldAt)),
        },
      ]}
      rows={alerts}
    />
  );
}
