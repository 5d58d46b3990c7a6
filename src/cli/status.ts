// `outlast status`: what the archive holds, how sure it is, and what is due until when. Needs no key.
import { Command } from 'commander';
import { settingsError } from '../errors.ts';
import { createLog } from '../log.ts';
import { readStatus, type ListStatus, type ProjectStatus } from '../query/status.ts';
import { readSettings } from '../settings.ts';
import { openMigrated } from './app.ts';
import { formatSpan, printJson, table, type Cell } from './print.ts';

export function statusCommand(): Command {
  return new Command('status')
    .description('show what is held, what is open, and until when')
    .option('--project <name>', 'only this project')
    .option('--json', 'print it as JSON')
    .action(async (flags: { project?: string; json?: true }) => {
      const settings = readSettings({ needs: 'database' });
      const archive = await openMigrated(settings, createLog(settings.logLevel));
      try {
        const projects = await readStatus(archive.db, flags.project);
        if (flags.project !== undefined && projects.length === 0) {
          throw settingsError(
            'unknown_project',
            `Nothing is archived for a project "${flags.project}" here.`,
          );
        }
        if (flags.json === true) printJson({ projects });
        else process.stdout.write(`${statusText(projects, Date.now())}\n`);
      } finally {
        await archive.close();
      }
    });
}

/** The status as a person reads it. `now` is only for "in 9 days". */
export function statusText(projects: ProjectStatus[], now: number): string {
  if (projects.length === 0) {
    return 'Nothing is archived yet. `outlast sync` makes a start.';
  }
  return projects.map((project) => projectText(project, now)).join('\n\n');
}

function projectText(project: ProjectStatus, now: number): string {
  const { last_run: run } = project;
  const lines = [
    `Project ${project.project} from ${project.base_url}, accounted for since ${project.first_day}`,
  ];
  if (project.parked_reason !== null) lines.push(`  PARKED: ${project.parked_reason}`);
  if (run !== null) {
    const ago = formatSpan(now - Date.parse(run.started_at));
    const ending =
      run.outcome === null
        ? 'still running or cut off'
        : run.outcome === 'quiet'
          ? 'done, nothing new'
          : run.outcome;
    lines.push(
      `  Last run: ${ago} ago, ${ending}${run.last_error === null ? '' : `: ${run.last_error}`}`,
    );
  }
  lines.push('', indent(heldTable(project.lists)), '', indent(monthTable(project.lists, now)));
  for (const list of project.lists) {
    for (const problem of list.problems.slice(0, 5)) {
      lines.push(
        `  ${list.resource} ${problem.day}: ${problem.last_error} (tried ${problem.attempts} times)`,
      );
    }
  }
  const facts = Object.entries(project.facts).map(([fact, value]) => `${fact} ${value}`);
  if (facts.length > 0) lines.push('', `  Observed of the platform: ${facts.join(', ')}`);
  return lines.join('\n');
}

function heldTable(lists: ListStatus[]): string {
  return table(
    ['resource', 'records', 'earlier versions', 'pending', 'missing', 'rejects'],
    lists
      .filter((list, i) => lists.findIndex((one) => one.resource === list.resource) === i)
      .map((list) => [
        list.resource,
        list.held,
        list.versions,
        list.resource === 'orders' ? list.pending : null,
        list.missing,
        list.rejects,
      ]),
  );
}

function monthTable(lists: ListStatus[], now: number): string {
  return table(
    [
      'month',
      'resource',
      'days',
      'open',
      'walked',
      'sealed',
      'final',
      'lost',
      'proved',
      'deadline',
    ],
    lists.flatMap((list) =>
      list.months.map((month): Cell[] => [
        month.month.slice(0, 7),
        list.owner === '' ? list.resource : `${list.resource} of ${list.owner}`,
        month.days,
        month.open,
        month.walked,
        month.sealed,
        month.final,
        month.lost,
        month.proved,
        deadlineText(month.deadline_at, now),
      ]),
    ),
  );
}

function deadlineText(deadline: string, now: number): string {
  const left = Date.parse(deadline) - now;
  return left > 0 ? `in ${formatSpan(left)}` : `${formatSpan(left)} ago`;
}

const indent = (text: string): string =>
  text
    .split('\n')
    .map((line) => `  ${line}`)
    .join('\n');
