// What some lists have on their pages besides what the catalogue says of them: what goes on now above the runs, what
// certificates say of their days, and what observed facts mean.
import type { ComponentChildren } from 'preact';
import type { ArchiveProblem } from '../../../catalogue.ts';
import { monthStart } from '../../../day.ts';
import type { Day } from '../../../model.ts';
import { problemRowText } from '../../../problems.ts';
import type { List, Row } from '../../../query/lists.ts';
import type { Progress } from '../../../query/reports.ts';
import { Foreign, Said } from '../layout.tsx';
import { Documents, type TableColumn } from '../parts.tsx';
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

const besides: Record<string, (view: View) => Promise<Besides>> = {
  runs: besidesRuns,
  certificates: besidesCertificates,
  facts: besidesFacts,
  problems: async (view) => ({
    cells: {
      numbersJson: (row) => <Said text={problemRowText(row as ArchiveProblem, view.lang)} />,
    },
    none: view.words.alerts.none,
  }),
};

export const besidesOf = async (view: View, { name }: List): Promise<Besides> =>
  (await besides[name]?.(view)) ?? {};

async function besidesRuns(view: View): Promise<Besides> {
  const { archive, project } = view;
  const { runs } = view.words;
  const progress = await archive.progress({ project });
  const running = progress?.run?.runId ?? null;
  return {
    above:
      progress === null ? (
        <p class="lead">{runs.noRun}</p>
      ) : (
        <Now view={view} progress={progress} />
      ),
    cells: {
      outcome: ({ endedAt, outcome, runId }) => {
        if (endedAt === null) return runId === running ? runs.goesOn : runs.cutOff;
        return runs.outcomes[String(outcome)] ?? (outcome as string | null) ?? '';
      },
    },
  };
}

async function besidesCertificates(view: View): Promise<Besides> {
  const { certificates } = view.words;
  return {
    cells: {
      digest: ({ project, resource, month, digest }) => (
        <div class="digest">
          <code>{String(digest)}</code>
          <code>
            outlast verify <span class="whole">--project {String(project)}</span>{' '}
            <span class="whole">--resource {String(resource)}</span>{' '}
            <span class="whole">--month {String(month).slice(0, 7)}</span>
          </code>
        </div>
      ),
    },
    columns: [
      { head: certificates.days, cell: (row) => <CertifiedDays view={view} of={row} /> },
      {
        head: certificates.file,
        class: 't',
        cell: (row) => <CertificateLinks view={view} of={row} />,
      },
    ],
    below: (
      <>
        <p class="soft">{certificates.more}</p>
        <Documents view={view} names={['verify']} />
      </>
    ),
  };
}

export function CertificateLinks({ view, of }: { view: View; of: Row }) {
  const { certificates } = view.words;
  const [resource, month] = [String(of['resource']), String(of['month'])];
  const query = { from: month, to: monthStart(month, 1), as_of: String(of['certifiedAt']) };
  return (
    <>
      <a href={linkTo(view, `/archive/v1/certificates/${resource}/${month.slice(0, 7)}`)}>
        {view.words.record.download}
      </a>
      <br />
      <a href={linkTo(view, `/${resource}`, query)}>{certificates.read}</a>
    </>
  );
}

/** What the certificate itself says of its days (docs/verify.md). */
type Certified = {
  lost_days?: Day[];
  days_not_held?: Day[];
  days_not_settled?: Day[];
  books?: {
    from: Day;
    to: Day;
    total: number | null;
    shown: number | null;
    asked_at: string;
    balance: string;
  }[];
};

function CertifiedDays({ view: { words, format }, of }: { view: View; of: Row }) {
  const said = JSON.parse(String(of['certificateJson'])) as Certified;
  const { lost_days: lost = [], days_not_held: not = [], days_not_settled: unsettled = [] } = said;
  const count = (days: readonly Day[]): string => format.number(days.length);
  // A lost day is not held by that alone.
  const others = not.filter((day) => !lost.includes(day));
  const pending = unsettled.filter((day) => !not.includes(day));
  return (
    <>
      {lost.length > 0 && (
        <div>
          <strong class="bad">{words.certificates.lost(count(lost))}</strong>
        </div>
      )}
      {others.length > 0 && <div>{words.certificates.notHeld(count(others))}</div>}
      {not.length === 0 && <div>{words.certificates.held}</div>}
      {pending.length > 0 && <div>{words.certificates.unsettled(count(pending))}</div>}
      {(said.books ?? []).map((books) => (
        <div class={books.balance === 'more' ? 'bad' : 'soft'}>
          {words.certificates.books(
            format.day(books.from),
            format.day(books.to),
            books.total === null ? words.unknown : format.number(books.total),
            books.shown === null ? words.unknown : format.number(books.shown),
            format.time(books.asked_at),
          )}
        </div>
      ))}
    </>
  );
}

/** In words where there are any, beside what the books say. */
async function besidesFacts(view: View): Promise<Besides> {
  const {
    archive,
    project,
    classesOf,
    words: { facts },
  } = view;
  // Classes may be another project's.
  const others =
    classesOf(project) === project ? [] : await archive.facts({ project: classesOf(project) });
  const nameOf = (fact: unknown): string => String(fact).replace(/^.*\./, '');
  return {
    cells: {
      fact: ({ fact }) => (
        <>
          <code>{String(fact)}</code> {facts.names[nameOf(fact)]}
        </>
      ),
      value: ({ fact, value }) => {
        const meaning = facts.values[`${nameOf(fact)} ${String(value)}`];
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
  const { words, format } = view;
  const { parked, run, nextDueAt, succeededAt } = progress;
  return (
    <section aria-labelledby="now">
      <h2 id="now">{words.runs.now}</h2>
      {parked !== null && (
        <p class="notice" role="alert">
          {words.runs.parked(format.time(parked.at))} <Said text={parked.reason} lang="en" />{' '}
          {parked.askAgainAt !== null && words.runs.askAgain(format.time(parked.askAgainAt))}
        </p>
      )}
      {run !== null && <Running view={view} progress={progress} run={run} />}
      {run === null && parked === null && (
        <p class="lead">
          {words.runs.idle}
          {words.between}
          {nextDueAt === null ? words.runs.nothingDue : words.runs.nextAt(format.time(nextDueAt))}
        </p>
      )}
      {succeededAt !== null && <p class="soft">{words.runs.succeeded(format.time(succeededAt))}</p>}
      <p class="soft">
        {words.runs.clocks(format.time(view.now), format.time(progress.archiveNow))}
      </p>
      <InHand view={view} slices={progress.inHand} />
    </section>
  );
}

type Running = { view: View; progress: Progress; run: NonNullable<Progress['run']> };

/** By the pace since the run began: days differ, and today's ends sooner than a full one. */
function Running({ view, progress, run }: Running) {
  const { words, format } = view;
  const { slicesDue: due } = progress;
  const done = run.slicesDone;
  const forMs = view.now - Date.parse(run.startedAt);
  const text = words.runs.running(format.number(done), format.number(due));
  const isPaced = done > 0 && forMs > 0;
  const leftMs = isPaced ? (due * forMs) / done : 0;
  return (
    <>
      <p class="lead">
        {[
          text,
          ...(isPaced ? [words.runs.rate(format.number(rounded((done * 60_000) / forMs)))] : []),
          ...(leftMs >= 1000 ? [words.runs.remaining(format.span(leftMs))] : []),
        ].join(' · ')}
      </p>
      <progress class="bar" value={done} max={Math.max(1, done + due)} aria-label={text} />
    </>
  );
}

/** Two digits that count: 0.35, 4.2, 120. */
const rounded = (value: number): number =>
  value >= 100 ? Math.round(value) : Number(value.toPrecision(2));

function InHand({ view, slices }: { view: View; slices: Progress['inHand'] }) {
  const { words, format } = view;
  if (slices.length === 0) return null;
  return (
    <>
      <h3>{words.runs.inHand}</h3>
      <ul>
        {slices.map(({ resource, owner, day, pages }) => (
          <li>
            {words.lists[resource]}{' '}
            {day === null ? (
              <bdi>{words.runs.wholeOf(owner)}</bdi>
            ) : (
              <>
                <a href={linkTo(view, `/days/${resource}/${day}`, { owner })}>{format.day(day)}</a>{' '}
                <Foreign text={owner} />
              </>
            )}
            <span class="soft"> · {words.runs.pages(format.number(pages))}</span>
          </li>
        ))}
      </ul>
    </>
  );
}
