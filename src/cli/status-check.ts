// `outlast status --check`: whether all is well, as monitoring plug-ins say it (Monitoring Plugins Development
// Guidelines): one line, and an exit code. It looks for itself, so that it is right while no service runs.
import { readConditions } from '../alert/look.ts';
import type { Condition } from '../alert/conditions.ts';
import { aboutKind } from '../alert/alert-kinds.ts';
import { risksOf } from '../alert/risk.ts';
import { OutlastError } from '../errors.ts';
import type { Instant } from '../model.ts';
import type { ProjectStatus } from '../query/status.ts';
import { readSettings } from '../settings/settings.ts';
import { readAlertRows, type KnownAlert } from '../store/alerts/alert-rows.ts';
import type { Queryable } from '../store/db.ts';
import { openToRead, withStore } from './app.ts';
import { verdictOn } from './exit.ts';
import { foreseeAll } from './forecast.ts';
import { formatCount } from './print.ts';

/** The plug-ins' own exit codes, in place of those of other commands. */
const levels = { ok: 0, warning: 1, critical: 2, unknown: 3 } as const;
type Level = keyof typeof levels;

/** News stands in the archive for ever; a monitor is to show it for a day. */
const newsForMs = 24 * 3_600_000;

type Found = { level: Level; text: string };

/** Prints the line and sets the exit code. Never throws: what keeps it from looking is a result as well. */
export async function check(
  readProjects: (db: Queryable) => Promise<ProjectStatus[]>,
): Promise<void> {
  const { level, text } = await look(readProjects).catch(unable);
  process.stdout.write(`OUTLAST ${level.toUpperCase()}: ${text.replaceAll('\n', ' ')}\n`);
  process.exitCode = levels[level];
}

/** A mistake in the settings says nothing about the archive; a database that does not answer does. */
async function unable(error: unknown): Promise<Found> {
  const { text } = await verdictOn(error);
  const isSettings = error instanceof OutlastError && error.kind === 'settings';
  return { level: isSettings ? 'unknown' : 'critical', text };
}

async function look(readProjects: (db: Queryable) => Promise<ProjectStatus[]>): Promise<Found> {
  const settings = readSettings({ needs: 'database' });
  return withStore(openToRead, settings, async ({ db }) => {
    const projects = await readProjects(db);
    if (projects.length === 0) {
      return { level: 'unknown', text: 'Nothing is archived yet. Run `outlast sync` first.' };
    }
    const now = Date.now();
    const ahead = projects.find(({ last_run: run }) => run !== null && isToCome(run, now));
    if (ahead !== undefined) {
      return { level: 'unknown', text: `${ahead.project}: ${clockSentence}` };
    }
    const foreseen = await foreseeAll(
      db,
      projects.map(({ project }) => project),
      settings,
      { now },
    );
    const alerts = await readAlertRows(db, null);
    const wrong = neverEntered(projects, alerts);
    for (const one of projects) {
      const { project } = one;
      // Nothing is due where no day is known of: that nothing is wrong there says nothing.
      if (sum([one], 'days') === 0) {
        wrong.push({ level: 'warning', text: `${project}: no day is accounted for yet` });
      }
      const foresight = foreseen.get(project);
      const risks = foresight === undefined ? [] : risksOf(foresight, now);
      const watch = {
        now,
        isRunning: false,
        isOverdue: false,
        watchedForMs: 0,
        failedInARow: 0,
        machine: '',
        clocks: null,
        files: [],
        exportEnd: null,
      };
      const conditions = await readConditions(db, project, watch, risks);
      const news = alerts.filter(
        (alert) => alert.projectId === project && isRecentNews(alert, now),
      );
      const ofFiles = alerts.filter(
        ({ projectId, kind, resolvedAt }) =>
          projectId === project && resolvedAt === null && knownToServiceOnly.has(kind),
      );
      wrong.push(
        ...[...conditions.filter(lasts), ...ofFiles, ...news].map((each) => found(project, each)),
      );
    }
    const level = worst(wrong.map((one) => one.level));
    const first = wrong.find((one) => one.level === level);
    const others =
      wrong.length > 1 ? ` (and ${formatCount(wrong.length - 1)} more: outlast alert)` : '';
    return { level, text: `${first?.text ?? allText(projects)}${others} | ${figures(projects)}` };
  });
}

/** The platform's clock and this machine's may differ by so much. */
const clocksAgreeMs = 5 * 60_000;
const isToCome = (run: { started_at: string }, now: Instant): boolean =>
  Date.parse(run.started_at) > now + clocksAgreeMs;
const clockSentence =
  'the last run began at a time that is still to come by the clock of this machine: nothing can be judged by it. Set it right (NTP)';

const lasts = ({ kind }: Condition): boolean => !aboutKind(kind).isNews;

/** What is about the clock and the files of the machine that the service runs on, and its exports. */
const knownToServiceOnly = new Set([
  'clock_disagrees',
  'files_unwritten',
  'export_failed',
  'archive_altered',
]);

const isRecentNews = ({ kind, openedAt }: KnownAlert, now: Instant): boolean =>
  aboutKind(kind).isNews && now - openedAt < newsForMs;

/**
 * What there is of projects that no run could enter. They stand nowhere but in the settings, which a monitor's machine
 * may not have, and in the alerts, which keep those that were given up.
 */
function neverEntered(projects: ProjectStatus[], alerts: KnownAlert[]): Found[] {
  const entered = new Set(projects.map(({ project }) => project));
  const configured = configuredProjects();
  const wrong = alerts.filter(
    ({ projectId, resolvedAt }) =>
      resolvedAt === null && !entered.has(projectId) && configured?.includes(projectId) !== false,
  );
  const silent = (configured ?? []).filter(
    (project) => !entered.has(project) && !wrong.some(({ projectId }) => projectId === project),
  );
  return [
    ...wrong.map((alert) => found(alert.projectId, alert)),
    ...silent.map((project) => ({
      level: 'warning' as const,
      text: `${project}: nothing is archived for it yet`,
    })),
  ];
}

/** Null where the platform's settings are not at hand. */
function configuredProjects(): string[] | null {
  try {
    return readSettings({ needs: 'platform' }).projects.map(({ id }) => id);
  } catch {
    return null;
  }
}

const found = (project: string, { kind, text }: { kind: string; text: string }): Found => ({
  // A lost day is what all this is there to prevent, though nothing can be done about it any more.
  level: aboutKind(kind).stopsHeartbeat || kind === 'day_lost' ? 'critical' : 'warning',
  text: `${project}: ${text}`,
});

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
