// What somebody should hear of: what goes on first, then what is over or only happened; with what to do.
import type { Alert } from '../../../query/report-types.ts';
import { Foreign, Table } from '../layout.tsx';
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
        <p class="soft">{words.alerts.more}</p>
      </>
    ),
  };
}

/** What this release has no sentence for says itself what it is. */
const todoOf = ({ words }: View, { kind }: Alert): string | undefined =>
  Object.entries(words.alerts.kinds).find(([name]) => name === kind)?.[1];

const toldText = ({ words, format }: View, { toldAt }: Alert): string =>
  toldAt === null ? words.alerts.notTold : `${words.alerts.told} ${format.time(toldAt)}`;

/** As long as it goes on, what it says is read first. */
function Open({ view, alert }: { view: View; alert: Alert }) {
  const { words, format } = view;
  const todo = todoOf(view, alert);
  return (
    <article class="notice">
      <p>
        <strong>
          <Foreign text={alert.text} />
        </strong>
      </p>
      {todo !== undefined && (
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
      head={
        <>
          <th scope="col">{words.alerts.since}</th>
          <th scope="col">{words.alerts.resolved}</th>
          <th scope="col">{words.alerts.subject}</th>
          <th scope="col">{words.alerts.what}</th>
          <th scope="col">{words.alerts.told}</th>
        </>
      }
    >
      {alerts.map((alert) => (
        <tr>
          <td class="t">{format.time(alert.openedAt)}</td>
          <td class="t">{alert.isNews ? words.alerts.once : format.time(alert.resolvedAt)}</td>
          <th scope="row">
            <Foreign text={alert.subject} />
            {alert.subject !== '' && <br />}
            <code>{alert.kind}</code>
          </th>
          <td class="wide">
            <Foreign text={alert.text} />
            {alert.isNews && <div class="soft">{todoOf(view, alert)}</div>}
          </td>
          <td class="t">
            {alert.toldAt === null ? words.alerts.notTold : format.time(alert.toldAt)}
          </td>
        </tr>
      ))}
    </Table>
  );
}
