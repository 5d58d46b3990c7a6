// `outlast status --check`: whether all is well, as monitoring plug-ins say it (Monitoring Plugins Development
// Guidelines): one line, and an exit code. It looks for itself, so that it is right while no service runs.
import { OutlastError } from '../errors.ts';
import type { Instant } from '../model.ts';
import { problemText } from '../problems.ts';
import type { ProjectStatus } from '../query/status.ts';
import { readSettings, type Settings } from '../settings/settings.ts';
import { readProblems, type Report } from '../store/alerts/problem-rows.ts';
import type { Queryable } from '../store/db.ts';
import { openToRead, withStore } from './app.ts';
import { verdictOn } from './exit.ts';
import { formatCount } from './print.ts';

/** The plug-ins' own exit codes, in place of those of other commands. */
const levels = { ok: 0, warning: 1, critical: 2, unknown: 3 } as const;
type Level = keyof typeof levels;

/** How projects stand, and what a forecast of this moment says of each. */
type ReadKnown = (
  db: Queryable,
  project: string | undefined,
  settings: Settings,
) => Promise<{ projects: ProjectStatus[]; forecast: ReadonlyMap<string, Report[]> }>;

type Found = { level: Level; text: string };

/** Prints the line and sets the exit code. Never throws: what keeps it from looking is a result as well. */
export async function check(project: string | undefined, readKnown: ReadKnown): Promise<void> {
  const { level, text } = await look(project, readKnown).catch(unable);
  process.stdout.write(`OUTLAST ${level.toUpperCase()}: ${text.replaceAll('\n', ' ')}\n`);
  process.exitCode = levels[level];
}

/** A mistake in the settings says nothing about the archive; a database that does not answer does. */
async function unable(error: unknown): Promise<Found> {
  const { text } = await verdictOn(error);
  const isSettings = error instanceof OutlastError && error.kind === 'settings';
  return { level: isSettings ? 'unknown' : 'critical', text };
}

async function look(project: string | undefined, readKnown: ReadKnown): Promise<Found> {
  const settings = readSettings({ needs: 'database' });
  return withStore(openToRead, settings, async ({ db }) => {
    const { projects, forecast } = await readKnown(db, project, settings);
    if (projects.length === 0) {
      return { level: 'unknown', text: 'Nothing is archived yet. Run `outlast sync` first.' };
    }
    const now = Date.now();
    const ahead = projects.find(({ last_run: run }) => run !== null && isToCome(run, now));
    if (ahead !== undefined) {
      return { level: 'unknown', text: `${ahead.project}: ${clockSentence}` };
    }
    const configured = configuredProjects();
    const entered = projects.map((one) => one.project);
    const known = (await readProblems(db, project ?? null, forecast)).filter(
      ({ projectId }) =>
        // What was given up is named nowhere but in the settings, which a monitor's machine may not have.
        entered.includes(projectId) || configured?.includes(projectId) !== false,
    );
    const silent = project === undefined ? (configured ?? []) : [];
    const wrong: Found[] = [
      ...known.flatMap((one) =>
        one.level === 'info'
          ? []
          : [{ level: one.level, text: `${one.projectId}: ${problemText(one)}` }],
      ),
      ...silent
        .filter((id) => !entered.includes(id) && !known.some(({ projectId }) => projectId === id))
        .map((id) => warning(`${id}: nothing is archived for it yet`)),
      // Nothing is due where no day is known of: that nothing is wrong there says nothing.
      ...projects
        .filter((one) => sum([one], 'days') === 0)
        .map((one) => warning(`${one.project}: no day is accounted for yet`)),
    ];
    const level = worst(wrong.map((one) => one.level));
    const first = wrong.find((one) => one.level === level);
    const others =
      wrong.length > 1 ? ` (and ${formatCount(wrong.length - 1)} more: outlast status)` : '';
    return { level, text: `${first?.text ?? allText(projects)}${others} | ${figures(projects)}` };
  });
}

const warning = (text: string): Found => ({ level: 'warning', text });

/** The platform's clock and this machine's may differ by so much. */
const clocksAgreeMs = 5 * 60_000;
const isToCome = (run: { started_at: string }, now: Instant): boolean =>
  Date.parse(run.started_at) > now + clocksAgreeMs;
const clockSentence =
  'the last run began at a time that is still to come by the clock of this machine: nothing can be judged by it. Set it right (NTP)';

/** Null where the platform's settings are not at hand. */
function configuredProjects(): string[] | null {
  try {
    return readSettings({ needs: 'platform' }).projects.map(({ id }) => id);
  } catch {
    return null;
  }
}

function worst(found: Level[]): Level {
  if (found.includes('critical')) return 'critical';
  return found.includes('warning') ? 'warning' : 'ok';
}

type Counts = 'days' | 'open' | 'lost' | 'held';
const sum = (projects: ProjectStatus[], field: Counts): number =>
  projects
    .flatMap(({ lists }) => lists.flatMap(({ months }) => months))
    .reduce((total, month) => total + month[field], 0);

const allText = (projects: ProjectStatus[]): string =>
  `${formatCount(sum(projects, 'held'))} of ${formatCount(sum(projects, 'days'))} days are held, and nothing is at risk`;

/**
 * As plug-ins give performance data. `last_run`: how long ago the newest run began; of several projects, the longest.
 */
function figures(projects: ProjectStatus[]): string {
  const counts = (['days', 'held', 'open', 'lost'] as const).map(
    (field) => `${field}=${sum(projects, field)}`,
  );
  const begun = projects.flatMap(({ last_run: run }) =>
    run === null ? [] : [Date.parse(run.started_at)],
  );
  const age =
    begun.length === 0
      ? 'U'
      : `${Math.max(0, Math.round((Date.now() - Math.min(...begun)) / 1000))}s`;
  return [...counts, `last_run=${age}`].join(' ');
}
