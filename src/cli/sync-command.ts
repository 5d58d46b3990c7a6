// `outlast sync`: does everything due now and exits; narrowed by options, due or not.
import { Option, type Command } from 'commander';
import { exitCode, settingsError } from '../errors.ts';
import { listedResources, type DayRange, type ListedResource } from '../model.ts';
import { days, halfOpen } from '../query/arguments.ts';
import { inSnakeCase } from '../query/record-text.ts';
import { readSettings, type ProjectSettings, type Settings } from '../settings/settings.ts';
import type { RunCounts } from '../store/runs.ts';
import { archivedLists, untilToday } from '../sync/enter-days.ts';
import { run } from '../sync/run.ts';
import type { RunOptions, RunReport, TickResult } from '../sync/worker.ts';
import { configuredProjects, openMigrated, withStore, type OpenedStore } from './open-store.ts';
import { createWorker, openAlerts } from './create-workers.ts';
import { verdictOn } from './exit.ts';
import { inDays, readOptions } from './command-options.ts';
import { counted, formatCount, printError, printJson, printTable } from './print.ts';
import type { ProgressLine, Sofar } from './progress.ts';
import { inProgress } from './signals.ts';

type SyncFlags = {
  from?: string;
  to?: string;
  resource?: ListedResource;
  project?: string;
  acceptNewSource?: true;
  json?: true;
};

export const syncCommand = (command: Command): Command =>
  command
    .option('--from <day>', 'first day, yyyy-MM-dd (UTC), or yesterday or today')
    .option('--to <day>', 'last day, included; today unless it is earlier')
    .addOption(new Option('--resource <name>', 'only this resource').choices(listedResources))
    .option('--project <name>', 'only this project')
    .option(
      '--accept-new-source',
      'the changed address or key belongs to the same project, or a second project has the same',
    )
    .option('--json', 'print the report as JSON')
    .action(async (flags: SyncFlags) => {
      const days = readDays(flags);
      const all = readSettings({ needs: 'platform' });
      const settings = { ...all, projects: configuredProjects(all, flags.project) };
      const { resource } = flags;
      // It would do nothing, and end as if all were done.
      if (resource !== undefined && !settings.projects.some((one) => hasList(one, resource))) {
        throw settingsError(
          'list_not_archived',
          `--resource ${resource}: no project that is meant archives that list (orders and classes in OUTLAST_PROJECTS_FILE).`,
        );
      }
      const only = { ...(days && { days }), ...(resource && { resource }) };
      const options = {
        ...(Object.keys(only).length === 0 ? {} : { only }),
        acceptNewSource: flags.acceptNewSource === true,
        json: flags.json === true,
      };
      process.exitCode = await inProgress((signal, progress) =>
        withStore(openMigrated, settings, (opened) =>
          sync(settings, options, opened, signal, progress),
        ),
      );
    });

const hasList = ({ orders, classes }: ProjectSettings, list: ListedResource): boolean =>
  archivedLists({ orders, classes }).includes(list);

/** Both days as the half-open range in between. Throws settings `argument_invalid` or `bad_days`. */
export function readDays(flags: Pick<SyncFlags, 'from' | 'to'>): DayRange | undefined {
  const { from, to = untilToday } = halfOpen(readOptions(days, inDays(flags)));
  if (from !== undefined) return { from, to };
  if (flags.to === undefined) return undefined;
  throw settingsError('bad_days', '--to needs --from: name the first day as well.');
}

/** How long the end of a sync waits for alerts to be told. They change nothing about its exit code. */
const alertsPatienceMs = 15_000;

/** Runs every project once. Returns the exit code. */
async function sync(
  settings: Settings,
  options: Pick<RunOptions, 'only' | 'acceptNewSource'> & { json: boolean },
  { db, log }: Pick<OpenedStore, 'db' | 'log'>,
  signal: AbortSignal,
  progress: ProgressLine,
): Promise<number> {
  const workers = settings.projects.map((project) => createWorker(project, settings, db, log));
  const sofar: Sofars = new Map();
  try {
    const turns = await Promise.all(
      workers.map(async (worker): Promise<RunReport | Failure> => {
        const { projectId } = worker;
        const onProgress: RunOptions['onProgress'] = (counts, slicesDue) => {
          sofar.set(projectId, { counts, slicesDue });
          progress.update(sofarOf(sofar));
        };
        try {
          return await run(worker, { ...options, signal, evenIfParked: true, onProgress });
        } catch (error) {
          // It leaves the others alone, and is not passed over in silence.
          return { projectId, outcome: 'failed', ...(await verdictOn(error)) };
        }
      }),
    );
    progress.end();
    const reports = turns.flatMap((one) => ('code' in one ? [] : [one]));
    const failures = turns.flatMap((one) => ('code' in one ? [one] : []));
    if (options.json) {
      const failed = failures.map(({ projectId, outcome, text }) => ({
        projectId,
        outcome,
        problem: text,
      }));
      printJson({ projects: [...reports, ...failed].map((one) => inSnakeCase(one)) });
    } else if (reports.length > 0) printReports(reports);
    for (const { projectId, text } of failures) {
      printError(`${workers.length > 1 ? projectId : 'outlast'}: ${text}`);
    }
    const mayBeat = options.only === undefined;
    const alerts = openAlerts(settings, db, workers, { mayBeat }, log);
    for (const turn of [...reports, ...failures]) alerts.after(turn);
    await alerts.close(signal.aborted ? 0 : alertsPatienceMs);
    return worst([exitCodeOfReports(reports), ...failures.map(({ code }) => code)]);
  } finally {
    await Promise.all(workers.map((worker) => worker.close()));
  }
}

type Sofars = Map<string, { counts: RunCounts; slicesDue: number }>;

/** All projects as one: they are asked at the same time. Slices that fell due meanwhile count as well. */
function sofarOf(sofars: Sofars): Sofar {
  const all = [...sofars.values()];
  const sum = (of: (one: (typeof all)[number]) => number): number =>
    all.reduce((total, one) => total + of(one), 0);
  const [name = ''] = sofars.keys();
  return {
    name: all.length === 1 ? name : `${all.length} projects`,
    done: sum(({ counts }) => counts.slicesDone),
    all: sum(({ counts, slicesDue }) => Math.max(slicesDue, counts.slicesDone)),
    unit: 'days of lists',
    paced: { count: sum(({ counts }) => counts.requests), unit: 'requests' },
    more: `${formatCount(sum(({ counts }) => counts.recordsShown))} records read`,
  };
}

type Failure = TickResult & { outcome: 'failed'; text: string; code: number };

/** Of several exit codes the one that asks most of a person: settings, then failures, then patience. */
function worst(codes: number[]): number {
  const { usage, failed, tryLater, done } = exitCode;
  return [usage, failed, tryLater].find((code) => codes.includes(code)) ?? done;
}

/** What is refused to a key is final; anything else left undone, or that waits for another attempt, is worth another try. */
export function exitCodeOfReports(reports: RunReport[]): number {
  const isRefused = ({ outcome, refused = [] }: RunReport): boolean =>
    outcome === 'parked' || refused.length > 0;
  if (reports.some(isRefused)) return exitCode.failed;
  const isDone = ({ outcome, problem }: RunReport): boolean =>
    outcome === 'done' || (outcome === 'idle' && problem === null);
  return reports.every(isDone) ? exitCode.done : exitCode.tryLater;
}

function printReports(reports: RunReport[]): void {
  printTable(
    ['project', 'outcome', 'days of lists', 'records', 'new', 'changed', 'rejected', 'requests'],
    reports.map((report) => [
      report.projectId,
      report.outcome,
      report.slicesDone,
      report.recordsShown,
      report.recordsNew,
      report.recordsChanged,
      report.recordsRejected,
      report.requests,
    ]),
  );
  for (const { projectId, slicesLeft, problem } of reports) {
    if (problem !== null) {
      printError(
        `${projectId}: ${slicesLeft > 0 ? `${counted(slicesLeft, 'day')} of lists left: ` : ''}${problem}`,
      );
    }
  }
}
