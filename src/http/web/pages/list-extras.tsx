// What some lists have on their pages besides what the catalogue says of them: what goes on now above the runs, what
// certificates say of their days, and what observed facts mean.
import type { ComponentChildren } from 'preact';
import type { ArchiveProblem } from '../../../catalogue.ts';
import { monthEnd } from '../../../day.ts';
import type { Day } from '../../../model.ts';
import { problemRowText } from '../../../problems.ts';
import type { List, Row } from '../../../query/lists.ts';
import type { Progress } from '../../../query/reports.ts';
import { Documents, Foreign, Said, type TableColumn } from '../parts.tsx';
import { linkTo, type View } from '../view.ts';

export type Besides = {
  above?: ComponentChildren;
  /** In the place of what the column alone would show. */
  cells?: Record<string, (row: Row) => ComponentChildren>;
  columns?: TableColumn<Row>[];
  /** After those of the list. */
  more?: Row[];
  below?: ComponentChildren;
};

const besides: Record<string, (view: View) => Besides | Promise<Besides>> = {
  runs: besidesRuns,
  certificates: besidesCertificates,
  facts: besidesFacts,
  problems: (view) => ({
    cells: {
      numbersJson: (row) => <Said text={problemRowText(row as ArchiveProblem, view.lang)} />,
    },
  }),
};

export const besidesOf = async (view: View, { name }: List): Promise<Besides> =>
  (await besides[name]?.(view)) ?? {};

async function besidesRuns(view: View): Promise<Besides> {
  const { archive, project, words, t } = view;
  const progress = await archive.progress({ project });
  const running = progress?.run?.runId ?? null;
  return {
    above:
      progress === null ? (
        <p class="lead">{t('No run has begun yet.')}</p>
      ) : (
        <Now view={view} progress={progress} />
      ),
    cells: {
      outcome: ({ endedAt, outcome, runId }) => {
        if (endedAt === null) return runId === running ? t('goes on') : t('was cut off');
        return words.outcomes[String(outcome)] ?? (outcome as string | null) ?? '';
      },
    },
  };
}

function besidesCertificates(view: View): Besides {
  return {
    cells: {
      digest: (row) => (
        <div class="digest">
          <code>{String(row['digest'])}</code>
          <VerifyCommand of={row} />
        </div>
      ),
    },
    columns: [
      { head: view.t('Days'), cell: (row) => <CertifiedDays view={view} of={row} /> },
      {
        head: view.t('Certificate'),
        class: 't',
        cell: (row) => <CertificateLinks view={view} of={row} />,
      },
    ],
    below: <HowToVerify view={view} />,
  };
}

const VerifyCommand = ({ of }: { of: Row }) => (
  <code>
    outlast verify <span class="whole">--project {String(of['projectId'])}</span>{' '}
    <span class="whole">--resource {String(of['resource'])}</span>{' '}
    <span class="whole">--month {String(of['month']).slice(0, 7)}</span>
  </code>
);

const HowToVerify = ({ view }: { view: View }) => (
  <>
    <p class="soft">
      {view.t(
        'The command recomputes every digest from what is held and says what differs. A certificate can also be checked without Outlast, by psql or a shell.',
      )}
    </p>
    <Documents view={view} names={['verify']} />
  </>
);

/** Above its fields: the last of them has the figures of each day, and is pages long. */
export const CertificateSummary = ({ view, of }: { view: View; of: Row }) => (
  <>
    <Replaced view={view} of={of} />
    <CertifiedDays view={view} of={of} />
    <p>
      <CertificateLinks view={view} of={of} />
    </p>
    <p>
      <VerifyCommand of={of} />
    </p>
    <HowToVerify view={view} />
  </>
);

function CertificateLinks({ view, of }: { view: View; of: Row }) {
  const { t } = view;
  const [resource, month] = [String(of['resource']), String(of['month'])];
  const query = { from: month, to: monthEnd(month), as_of: String(of['certifiedAt']) };
  return (
    <>
      <a href={linkTo(view, `/archive/v1/certificates/${resource}/${month.slice(0, 7)}`)}>
        {view.t('Download')}
      </a>
      <br />
      <a href={linkTo(view, `/${resource}`, query)}>{t('Records as certified')}</a>
    </>
  );
}

/** What the certificate itself says of itself and its days (docs/verify.md). */
type Certified = {
  issue?: number;
  replaces?: { issue: number; sha256: string | null } | null;
  lost_days?: Day[];
  days_not_held?: Day[];
  days_not_settled?: Day[];
  days?: { slices: { platform_total: number | null; shown_total: number | null }[] }[];
  books?: {
    from: Day;
    to: Day;
    total: number | null;
    shown: number | null;
    asked_at: string;
    balance: string;
  }[];
};

const saidOf = (of: Row): Certified => JSON.parse(String(of['certificateJson'])) as Certified;

function Replaced({ view: { t }, of }: { view: View; of: Row }) {
  const { issue = 1, replaces = null } = saidOf(of);
  if (replaces === null) return null;
  return (
    <p class="bad">
      {t(
        'Certificate {issue} of this month: it replaces certificate {before}, which is no longer held.',
        { issue, before: replaces.issue },
      )}
      {replaces.sha256 !== null && (
        <>
          {' '}
          SHA-256: <code>{replaces.sha256}</code>
        </>
      )}
    </p>
  );
}

function CertifiedDays({ view: { t, format }, of }: { view: View; of: Row }) {
  const said = saidOf(of);
  const { lost_days: lost = [], days_not_held: not = [], days_not_settled: unsettled = [] } = said;
  // A lost day is not held by that alone.
  const others = not.filter((day) => !lost.includes(day));
  const pending = unsettled.filter((day) => !not.includes(day));
  const slices = (said.days ?? []).flatMap((day) => day.slices);
  const counted = sumOf(slices.map((one) => one.platform_total));
  const shown = sumOf(slices.map((one) => one.shown_total));
  const some = ({ length: days }: readonly Day[], say: (days: number) => ComponentChildren) =>
    days > 0 && <div>{say(days)}</div>;
  return (
    <>
      {some(lost, (days) => (
        <strong class="bad">{t('{days:One day is|# days are} lost', { days })}</strong>
      ))}
      {some(others, (days) => (
        <span class="bad">{t('{days:One day was|# days were} never proved whole', { days })}</span>
      ))}
      {not.length === 0 && <div>{t('Of every day all is held')}</div>}
      {some(pending, (days) => t('{days:One day|# days} had orders pending', { days }))}
      {counted !== null && shown !== null && (
        <div class="soft">
          {t('Day by day the platform counted {counted}, its lists showed {shown}', {
            counted,
            shown,
          })}
        </div>
      )}
      {(said.books ?? []).map((books) => (
        <div class={books.balance === 'more' ? 'bad' : 'soft'}>
          {t(
            books.total === null
              ? 'From {from} to {to} the platform gave no count: asked at {asked}'
              : books.shown === null
                ? 'From {from} to {to} the platform counted {total}, and not all of these days had been read: asked at {asked}'
                : 'From {from} to {to} the platform counted {total}, its lists showed {shown}: asked at {asked}',
            {
              from: format.day(books.from),
              to: format.day(books.to),
              total: books.total ?? '',
              shown: books.shown ?? '',
              asked: format.time(books.asked_at),
            },
          )}
        </div>
      ))}
    </>
  );
}

/** Null where one of them is not known. */
function sumOf(counts: readonly (number | null)[]): number | null {
  const known = counts.filter((count) => count !== null);
  return known.length === 0 || known.length < counts.length
    ? null
    : known.reduce((sum, count) => sum + count);
}

/** In words where there are any, beside what the books say. */
async function besidesFacts(view: View): Promise<Besides> {
  const { archive, project, classesOf, words } = view;
  // Classes may be another project's.
  const others =
    classesOf(project) === project ? [] : await archive.facts({ project: classesOf(project) });
  const nameOf = (fact: unknown): string => String(fact).replace(/^.*\./, '');
  return {
    cells: {
      fact: ({ fact }) => (
        <>
          <code>{String(fact)}</code> {words.factNames[nameOf(fact)]}
        </>
      ),
      value: ({ fact, value }) => {
        const meaning = words.factValues[`${nameOf(fact)} ${String(value)}`];
        return (
          meaning && (
            <>
              {meaning}{' '}
              <span class="soft">
                (<bdi>{String(value)}</bdi>)
              </span>
            </>
          )
        );
      },
    },
    more: others.filter(({ fact }) => fact.startsWith('nft_classes.')),
  };
}

function Now({ view, progress }: { view: View; progress: Progress }) {
  const { t, words, format } = view;
  const { parked, run, slicesDue: due, nextDueAt, succeededAt } = progress;
  return (
    <section aria-labelledby="now">
      <h2 id="now">{t('Now')}</h2>
      {parked !== null && (
        <p class="notice" role="alert">
          {t('The platform has refused the key since {since}.', { since: format.time(parked.at) })}{' '}
          <Said text={parked.reason} lang="en" />{' '}
          {parked.askAgainAt !== null &&
            t('It is asked again at {time}.', { time: format.time(parked.askAgainAt) })}
        </p>
      )}
      {run !== null && <Running view={view} due={due} run={run} />}
      {run === null && parked === null && (
        <p class="lead">
          {t('Nothing is being read at the moment.')}
          {words.between}
          {due > 0
            ? t('{due:One day is|# days are} due at the next tick, as today always is.', { due })
            : nextDueAt === null
              ? t('Nothing is due any more.')
              : t('The next look is due at {time}.', { time: format.time(nextDueAt) })}
          {due > 0 && nextDueAt !== null && (
            <>
              {words.between}
              {t('Another day is due at {time}.', { time: format.time(nextDueAt) })}
            </>
          )}
        </p>
      )}
      {succeededAt !== null && (
        <p class="soft">
          {t('All that was due was done last at {time}.', { time: format.time(succeededAt) })}
        </p>
      )}
      <p class="soft">
        {t(
          'Times are by the platform’s clock, {platform} now. What a day’s page says of its journal is by the clock of the database’s machine, {database} now.',
          { platform: format.time(view.now), database: format.time(progress.archiveNow) },
        )}
      </p>
      <InHand view={view} slices={progress.inHand} />
    </section>
  );
}

type Running = { view: View; due: number; run: NonNullable<Progress['run']> };

/** By the pace since the run began: days differ, and today's ends sooner than a full one. */
function Running({ view: { t, format, now }, due, run }: Running) {
  const { slicesDone: done } = run;
  const forMs = now - Date.parse(run.startedAt);
  const said = [t('{done:one day|# days} done, {due} still due', { done, due })];
  if (done > 0 && forMs > 0) {
    const [rate, leftMs] = [rounded((done * 60_000) / forMs), (due * forMs) / done];
    said.push(t('{rate:one day|# days} a minute', { rate }));
    if (leftMs >= 1000) said.push(t('about {span} left', { span: format.span(leftMs) }));
  }
  return (
    <>
      <p class="lead">{said.join(' · ')}</p>
      <progress class="bar" value={done} max={Math.max(1, done + due)} aria-label={said[0]} />
    </>
  );
}

/** Two digits that count: 0.35, 4.2, 120. */
const rounded = (value: number): number =>
  value >= 100 ? Math.round(value) : Number(value.toPrecision(2));

function InHand({ view, slices }: { view: View; slices: Progress['inHand'] }) {
  const { t, words, format } = view;
  if (slices.length === 0) return null;
  return (
    <>
      <h3>{t('Being read now')}</h3>
      <ul>
        {slices.map(({ resource, owner, day, pages }) => (
          <li>
            {words.lists[resource]}{' '}
            {day === null ? (
              <bdi>{t('the whole list of {owner}', { owner })}</bdi>
            ) : (
              <>
                <a href={linkTo(view, `/days/${resource}/${day}`, { owner })}>{format.day(day)}</a>{' '}
                <Foreign text={owner} />
              </>
            )}
            <span class="soft"> · {t('{pages:one page|# pages} so far', { pages })}</span>
          </li>
        ))}
      </ul>
    </>
  );
}
