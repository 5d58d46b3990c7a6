// What is being read now, how long that will take, and the runs there were.
import type { Run } from '../../../catalogue.ts';
import type { Progress } from '../../../query/report-types.ts';
import { Foreign } from '../layout.tsx';
import { Table, type TableColumn } from '../table.tsx';
import { linkTo, type Made, type Page, type View } from '../view.ts';

export const runsPage: Page = { path: '/runs', nav: 'runs', read };

async function read(view: View): Promise<Made> {
  const { words, archive, project, query } = view;
  const cursor = query.get('cursor') ?? undefined;
  const [progress, { items, next }] = await Promise.all([
    archive.progress({ project }),
    archive.runs({ project, limit: 50, ...(cursor === undefined ? {} : { cursor }) }),
  ]);
  return {
    title: words.runs.title,
    twin: linkTo(view, '/archive/v1/runs', { limit: '50', cursor }),
    isLive: true,
    body: (
      <>
        <h1>{words.runs.title}</h1>
        {progress === null ? (
          <p class="lead">{words.runs.noRun}</p>
        ) : (
          <Now view={view} progress={progress} />
        )}
        {items.length > 0 && (
          <Past view={view} runs={items} running={progress?.run?.runId ?? null} />
        )}
        <p class="pages">
          {cursor !== undefined && <a href={linkTo(view, '/runs')}>{words.runs.newer}</a>}
          {next !== null && (
            <a rel="next" href={linkTo(view, '/runs', { cursor: next })}>
              {words.runs.older}
            </a>
          )}
        </p>
      </>
    ),
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
          {words.runs.parked(format.time(parked.at))} <Foreign text={parked.reason} />{' '}
          {parked.askAgainAt !== null && words.runs.askAgain(format.time(parked.askAgainAt))}
        </p>
      )}
      {run !== null && <Running view={view} progress={progress} run={run} />}
      {run === null && parked === null && (
        <p class="lead">
          {words.runs.idle}{' '}
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
            {words.resources[resource]}{' '}
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

type Past = { view: View; runs: readonly Run[]; running: string | null };

function Past({ view, runs, running }: Past) {
  const { words, format } = view;
  const number = (head: string, of: (run: Run) => number): TableColumn<Run> => ({
    head,
    class: 'n',
    cell: (run) => format.number(of(run)),
  });
  const columns: TableColumn<Run>[] = [
    {
      head: words.runs.started,
      class: 't',
      isName: true,
      cell: ({ startedAt }) => format.second(startedAt),
    },
    {
      head: words.runs.took,
      class: 't',
      cell: ({ startedAt, endedAt }) =>
        endedAt !== null && format.span(Date.parse(endedAt) - Date.parse(startedAt)),
    },
    { head: words.runs.outcome, class: 't', cell: (run) => outcomeOf(view, run, running) },
    number(words.runs.requests, ({ requests }) => requests),
    number(words.runs.days, ({ slicesDone }) => slicesDone),
    number(words.runs.added, ({ recordsNew }) => recordsNew),
    number(words.runs.changed, ({ recordsChanged }) => recordsChanged),
    number(words.runs.rejected, ({ recordsRejected }) => recordsRejected),
  ];
  if (runs.some(({ lastError }) => lastError !== null)) {
    columns.push({
      head: words.runs.trouble,
      class: 'wide',
      cell: ({ lastError }) => lastError !== null && <Foreign text={lastError} lang="en" />,
    });
  }
  return (
    <section aria-labelledby="past">
      <h2 id="past">{words.runs.past}</h2>
      <Table caption={words.runs.past} columns={columns} rows={runs} />
    </section>
  );
}

function outcomeOf({ words: { runs } }: View, run: Run, running: string | null): string {
  if (run.endedAt === null) return run.runId === running ? runs.goesOn : runs.cutOff;
  return runs.outcomes[run.outcome ?? ''] ?? run.outcome ?? '';
}
