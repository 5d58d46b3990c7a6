// `outlast status --check`: whether all is well, as monitoring plug-ins say it (Monitoring Plugins Development
// Guidelines): one line, and an exit code. It looks for itself, so that it is right while no service runs.
import { OutlastError } from '../errors.ts';
import { headlineOf, safetyOf, type Safety } from '../http/web/headline.ts';
import { sayIn } from '../http/web/words.ts';
import type { Instant } from '../model.ts';
import { problemText } from '../problems.ts';
import type { ProjectStatus } from '../query/status.ts';
import { readSettings } from '../settings/settings.ts';
import { readProblems } from '../store/alerts/problem-rows.ts';
import { openToRead, withStore } from './open-store.ts';
import { verdictOn } from './exit.ts';
import { formatCount, nothingArchived, typeable } from './print.ts';
import { readStandings } from './standing.ts';

/** The plug-ins' own exit codes, in place of those of other commands. */
const levels = { ok: 0, warning: 1, critical: 2, unknown: 3 } as const;
type Level = keyof typeof levels;

type Found = { level: Level; text: string };

/** Prints the line and sets the exit code. Never throws: what keeps it from looking is a result as well. */
export async function printCheck(project: string | undefined): Promise<void> {
  const { level, text } = await look(project).catch(unable);
  const line = typeable(text.replaceAll('\n', ' '));
  process.stdout.write(`OUTLAST ${level.toUpperCase()}: ${line}\n`);
  process.exitCode = levels[level];
}

/** A mistake in the settings says nothing about the archive; a database that does not answer does. */
async function unable(error: unknown): Promise<Found> {
  const { text } = await verdictOn(error);
  const isSettings = error instanceof OutlastError && error.kind === 'settings';
  return { level: isSettings ? 'unknown' : 'critical', text };
}

async function look(project: string | undefined): Promise<Found> {
  const settings = readSettings({ needs: 'database' });
  return withStore(openToRead, settings, async ({ db }) => {
    const { standings, risks } = await readStandings(db, project, settings);
    const projects = standings.map(({ status }) => status);
    const now = Date.now();
    const ahead = projects.find(({ last_run: run }) => run !== null && isToCome(run, now));
    if (ahead !== undefined) {
      return { level: 'unknown', text: `${ahead.project_id}: ${clockSentence}` };
    }
    const configured = configuredIds();
    // What was given up stays archived and is asked for no more: only whoever names it is told how it stands.
    const isJudged = (id: string): boolean => id === project || configured?.includes(id) !== false;
    const judged = projects.filter((one) => isJudged(one.project_id));
    const givenUp = projects.filter((one) => !judged.includes(one));
    const known = (await readProblems(db, project ?? null, risks)).filter(({ projectId }) =>
      isJudged(projectId),
    );
    if (projects.length === 0 && known.length === 0) {
      return { level: 'unknown', text: nothingArchived };
    }
    const entered = projects.map((one) => one.project_id);
    // Where nothing is archived at all, what fails says more than that nothing is.
    const silent = project === undefined && projects.length > 0 ? (configured ?? []) : [];
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
      ...judged
        .filter(({ lists }) => lists.length === 0)
        .map((one) => warning(`${one.project_id}: no day is accounted for yet`)),
    ];
    const level = worst(wrong.map((one) => one.level));
    const first = wrong.find((one) => one.level === level);
    const others =
      wrong.length > 1 ? ` (and ${formatCount(wrong.length - 1)} more: outlast status)` : '';
    const safety = together(
      standings.flatMap((one) => (judged.includes(one.status) ? one.safety : [])),
      now,
    );
    const all = headlineOf(sayIn(null, formatCount), safety).replace(
      /\.$/,
      ', and nothing is at risk',
    );
    const left = givenUp.map((one) => ` (${one.project_id} is ${notConfigured})`).join('');
    return { level, text: `${first?.text ?? all}${others}${left} | ${figures(judged, safety)}` };
  });
}

export const notConfigured =
  'no longer configured: nothing is asked for it, and what is held stays';

/** Of all days of some projects, each counted once a project. */
function together(safeties: readonly Safety[], now: Instant): Safety {
  const all = safetyOf([], now);
  for (const one of safeties) {
    for (const name of ['entered', 'days', 'safe', 'notYet', 'readOnce', 'doubtful'] as const) {
      all[name] += one[name];
    }
    all.lost.push(...one.lost);
  }
  return all;
}

const warning = (text: string): Found => ({ level: 'warning', text });

/** The platform's clock and this machine's may differ by so much. */
const clocksAgreeMs = 5 * 60_000;
const isToCome = (run: { started_at: string }, now: Instant): boolean =>
  Date.parse(run.started_at) > now + clocksAgreeMs;
const clockSentence =
  'the last run began at a time that is still to come by the clock of this machine: it is behind, or the platform’s was ahead. Nothing can be judged until they agree; where this one is wrong, set it right (NTP)';

/** Null where the platform's settings are not at hand. */
export function configuredIds(): string[] | null {
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

/**
 * As plug-ins give performance data. `last_run`: how long ago the newest run began; of several projects, the longest.
 */
function figures(
  projects: ProjectStatus[],
  { days, safe, notYet, doubtful, lost }: Safety,
): string {
  const begun = projects.flatMap(({ last_run: run }) =>
    run === null ? [] : [Date.parse(run.started_at)],
  );
  const age =
    begun.length === 0
      ? 'U'
      : `${Math.max(0, Math.round((Date.now() - Math.min(...begun)) / 1000))}s`;
  return `days=${days} held=${safe} open=${notYet} unproved=${doubtful} lost=${lost.length} last_run=${age}`;
}
