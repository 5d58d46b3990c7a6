// `outlast status`: what the archive holds, how sure it is, and what is due until when. Needs no key.
import { Option, type Command } from 'commander';
import { risksOf } from '../alert/risk.ts';
import { currentAddress } from '../database-address.ts';
import { windowAt } from '../day.ts';
import { booksSentence, headlineOf, type Safety } from '../http/web/safety.ts';
import { en } from '../http/web/words.ts';
import { wholeList, type Day, type Why } from '../model.ts';
import { moment } from '../problems.ts';
import { readCalendar, type CalendarMonth } from '../query/calendar-months.ts';
import {
  readReplica,
  readStatus,
  type BooksStatus,
  type ListStatus,
  type ProjectStatus,
  type Replica,
} from '../query/status.ts';
import { readSettings, type Settings } from '../settings/settings.ts';
import type { Report } from '../store/alerts/problem-rows.ts';
import type { Queryable } from '../store/db.ts';
import { notYetKnown } from '../store/projects.ts';
import { openToRead, wantedProjects, withStore, type Store } from './app.ts';
import { calendarLines } from './calendar-lines.ts';
import { check, configuredIds, notConfigured, readSafetyOf } from './status-check.ts';
import { factLines, olderOffers } from './fact-lines.ts';
import {
  forecastJson,
  foreseeAll,
  shortName,
  timeLines,
  type DatedForesight,
  type Foreseen,
} from './forecast-lines.ts';
import { operationLines, tokenLines } from './operations-tokens.ts';
import { readRate } from './command-options.ts';
import {
  formatCount,
  formatSpan,
  indentedTable,
  momentText,
  nothingArchived,
  print,
  printJson,
} from './print.ts';

type StatusFlags = {
  project?: string;
  all?: true;
  json?: true;
  check?: true;
  plan?: true;
  rps?: number;
  probe?: true;
  testAlert?: true;
};

export const statusCommand = (command: Command): Command =>
  command
    .option('--project <name>', 'only this project')
    .option(
      '--all',
      'and all the rest: every month in the calendar, what was observed of the platform, the head of the journal, and the address of an embedded PostgreSQL',
    )
    .option('--json', 'print it as JSON')
    .option(
      '--check',
      'print one line for a monitor: exits with 0 if all is well, 1 for a warning, 2 if something is at risk, 3 if it cannot tell',
    )
    .addOption(
      new Option(
        '--plan',
        'show instead what will be asked, and whether it fits before the deadlines',
      ).conflicts(['all', 'check', 'probe']),
    )
    .option('--rps <number>', 'with --plan: at this many requests a second', readRate)
    .addOption(
      new Option(
        '--probe',
        'ask the platform now what limits and totals it gives, and show that instead',
      ).conflicts(['all', 'check']),
    )
    .addOption(
      new Option('--test-alert', 'send the webhook of alerts a test message instead').conflicts([
        'all',
        'check',
        'plan',
        'probe',
      ]),
    )
    .action(async (flags: StatusFlags) => {
      if (flags.testAlert === true) return (await import('./test-alert.ts')).sendTestAlert(flags);
      if (flags.check === true) return check(flags.project, readKnown);
      if (flags.plan === true) return (await import('./show-plan.ts')).showPlan(flags);
      if (flags.probe === true) return (await import('./show-probe.ts')).showProbed(flags);
      const settings = readSettings({ needs: 'database' });
      await withStore(openToRead, settings, async ({ db, store }) => {
        const { projects, foreseen } = await readKnown(db, flags.project, settings);
        const replica = await readReplica(db);
        if (flags.json === true) {
          printJson({
            replica,
            deleting_is_prevented: db.role !== null,
            projects: projects.map((one) => ({
              ...one,
              forecast: forecastJson(foreseen.get(one.project)),
            })),
          });
        } else {
          if (replica !== null) print(`${replicaText(replica)}\n`);
          if (db.role === null) print(`${unprotectedText}\n`);
          const days = await readDays(db, projects, foreseen, flags.all);
          print(statusText(projects, foreseen, days, flags.all));
          const configured = configuredIds();
          for (const { project } of projects) {
            if (configured?.includes(project) === false) {
              print(`\nProject ${project} is ${notConfigured}.`);
            }
          }
          if (store.isEmbedded && flags.all === true) print(whereItIs(store));
        }
      });
    });

/**
 * How the projects stand, or one, with a forecast of this moment. Throws settings `unknown_project`: a misspelt name must
 * not pass for an empty archive.
 */
async function readKnown(
  db: Queryable,
  project: string | undefined,
  settings: Settings,
): Promise<{
  projects: ProjectStatus[];
  foreseen: Foreseen;
  forecast: ReadonlyMap<string, Report[]>;
}> {
  const foreseen = await foreseeAll(db, await wantedProjects(db, project), settings);
  const forecast = new Map([...foreseen].map(([id, one]) => [id, risksOf(one, one.now)]));
  return { projects: await readStatus(db, project, forecast), foreseen, forecast };
}

/** P4 as far as the database itself holds it. */
const unprotectedText =
  'UNPROTECTED  Nothing keeps this database user from deleting what is archived. `outlast migrate` prints the SQL for an administrator.';

const replicaText = ({ newest_change_at: at, behind_seconds: seconds }: Replica): string =>
  at === null || seconds === null
    ? 'Read from a replica that has taken no change from its primary since it started.'
    : `Read from a replica: its newest change is of ${at.slice(0, 19).replace('T', ' ')} (UTC), ${formatSpan(seconds * 1000)} ago.`;

/** The embedded database's address, password included: whoever may start it may read it (P10). */
const whereItIs = ({ connectionString }: Store): string =>
  `\nThe embedded PostgreSQL, for psql and BI tools while \`outlast start\` keeps it up:\n  ${currentAddress(connectionString)}`;

/** By project. */
type DaysShown = ReadonlyMap<string, { calendar: CalendarMonth[]; safety: Safety }>;

export async function readDays(
  db: Queryable,
  projects: readonly ProjectStatus[],
  foreseen: Foreseen,
  isAll = false,
): Promise<DaysShown> {
  const shown = new Map<string, { calendar: CalendarMonth[]; safety: Safety }>();
  for (const { project } of projects) {
    const now = foreseen.get(project)?.now ?? Date.now();
    const from = isAll ? undefined : windowAt(now).from;
    const calendar = await readCalendar(db, project, from);
    shown.set(project, { calendar, safety: await readSafetyOf(db, project, now) });
  }
  return shown;
}

/** The status as a person reads it. */
export function statusText(
  projects: ProjectStatus[],
  foreseen: Foreseen,
  days: DaysShown,
  isAll = false,
): string {
  if (projects.length === 0) return nothingArchived;
  return projects
    .map((project) =>
      projectText(project, foreseen.get(project.project), days.get(project.project), isAll),
    )
    .join('\n\n');
}

const sinceText = (firstDay: string): string =>
  firstDay === notYetKnown
    ? "no day accounted for yet: the platform's time is not known"
    : `every day accounted for since ${firstDay}`;

function projectText(
  project: ProjectStatus,
  foresight: DatedForesight | undefined,
  days: { calendar: CalendarMonth[]; safety: Safety } | undefined,
  isAll: boolean,
): string {
  const now = foresight?.now ?? Date.now();
  const { calendar = [], safety } = days ?? {};
  const lines = [
    `Project ${project.project}: ${safety === undefined ? '' : headlineOf(en, formatCount, safety)}`,
    ...closingLines(safety, now),
    `  ${project.base_url}; ${sinceText(project.first_day)}${lastRunText(project, now)}`,
  ];
  if (project.parked_reason !== null) {
    // Each list says the same of one key.
    const refusal = project.unanswered.find(({ state }) => state === 'refused');
    const reason = refusal?.problem ?? project.parked_reason;
    lines.push(`  PARKED, the platform refused the key: ${reason}`);
  }
  for (const { resource, state, problem, since } of project.unanswered) {
    if (state === 'refused' && project.parked_reason !== null) continue;
    const word = state === 'refused' ? 'REFUSED' : 'NO ANSWER';
    lines.push(`  ${word}  ${resource}, since ${moment(Date.parse(since))}: ${problem}`);
  }
  // Loud and early: before any table.
  for (const { level, numbers, text } of project.problems) {
    // A forecast says so: the rate does not suffice.
    const word = numbers.requests === undefined ? 'ALERT' : 'TOO LATE';
    if (level !== 'info') lines.push(`  ${word}  ${text}`);
  }
  lines.push('', heldTable(project.lists), '');
  if (calendar.length > 0) {
    lines.push(...calendarLines(calendar).map((line) => `  ${line}`), '');
  }
  lines.push(monthTable(project.lists), '');
  for (const line of foresight === undefined ? [] : timeLines(foresight, now))
    lines.push(`  ${line}`);
  for (const list of project.lists) lines.push(`  ${verdict(list)}`);
  lines.push(...project.books.map((books) => `  ${booksText(books)}`));
  for (const list of project.lists) lines.push(...problemLines(list));
  const unlisted = [...operationLines(project.operations), ...tokenLines(project.tokens, now)];
  lines.push(...unlisted.map((line) => `  ${line}`));
  if (isAll && project.head !== null) {
    const { no, at, head } = project.head;
    lines.push(`  journal: head ${no} of ${momentText(at)} (UTC) is ${head}`);
  }
  if (isAll) lines.push(...factLines(project.facts));
  const firstOf = (resource: string): string | undefined =>
    project.lists.find((list) => list.resource === resource)?.months[0]?.month;
  lines.push(...olderOffers(project.facts, firstOf).map((offer) => `  ${offer}`));
  return lines.join('\n');
}

function closingLines(safety: Safety | undefined, now: number): string[] {
  const closing = safety?.closing ?? null;
  if (closing === null || closing.at <= now) return [];
  return [`  ${en.headline.closes(closing.month.slice(0, 7), formatSpan(closing.at - now))}.`];
}

/** How a run ended, where the ledger's word is not a person's. */
const endings: Readonly<Record<string, string>> = {
  quiet: 'done, nothing new',
  idle: 'nothing was due',
  part: 'done, of what was asked for',
};

function lastRunText({ last_run: run, parked_reason: parked }: ProjectStatus, now: number): string {
  if (run === null) return '';
  const { outcome } = run;
  const ending = outcome === null ? 'still running or cut off' : (endings[outcome] ?? outcome);
  const isSaidBelow = run.last_error === null || run.last_error === parked;
  const error = isSaidBelow ? '' : `: ${run.last_error}`;
  return `; last run ${formatSpan(Math.max(0, now - Date.parse(run.started_at)))} ago, ${ending}${error}`;
}

function heldTable(lists: ListStatus[]): string {
  return indentedTable(
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

function monthTable(lists: ListStatus[]): string {
  const months = lists.flatMap((list) => list.months);
  // What occurs nowhere would only be columns of noughts.
  const shown = (['open', 'final', 'lost'] as const).filter((state) =>
    months.some((month) => month[state] > 0),
  );
  return indentedTable(
    ['month', 'resource', 'days', 'all held', 'settled', ...shown],
    lists.flatMap((list) =>
      list.months.map((month) => [
        month.month.slice(0, 7),
        shortName(list),
        month.days,
        month.held,
        month.settled,
        ...shown.map((state) => month[state]),
      ]),
    ),
  );
}

const nameOf = (list: { resource: string; owner: string }): string =>
  list.owner === '' ? list.resource : `${list.resource} of ${list.owner}`;

/** Where the ledger's word is not a person's. */
const whyTexts: Partial<Record<Why, string>> = {
  'read once': 'waiting for a second reading',
  'showed less': 'showed less than is held',
  'counts more': 'counted more than they showed',
  'books do not balance': 'in books that do not balance yet',
  'shows nothing': 'empty and before the window, which proves nothing',
  pending: 'with pending orders',
  'month is going': 'of a month that is going',
  clock: 'read at an uncertain time',
  rejects: 'with a record that could not be taken in',
};

/** What the table comes to, in a sentence. */
function verdict(list: ListStatus): string {
  const sum = (field: 'days' | 'open' | 'lost' | 'held' | 'settled' | 'doubtful'): number =>
    list.months.reduce((total, month) => total + month[field], 0);
  const [open, lost] = [sum('open'), sum('lost')];
  const parts = [
    `${sum('held')} of ${sum('days')} days all held, ${sum('settled')} of them settled`,
  ];
  // What may yet be held has its reason below.
  const doubtful = sum('doubtful');
  if (doubtful > 0) parts.push(`${doubtful} kept for good and NOT ALL HELD`);
  if (open > 0) parts.push(`${open} open (today's is always)`);
  if (lost > 0) parts.push(`${lost} LOST: they left the window before they were read`);
  for (const { why, days: count, next_at: at } of list.whys) {
    const next = at === null ? '' : ` (read again from ${moment(Date.parse(at))} on)`;
    parts.push(`${count} ${whyTexts[why] ?? why}${next}`);
  }
  return `${nameOf(list)}: ${parts.join(', ')}.`;
}

/** How the sentence of the books is written here; a day as it stands. */
const writing = {
  number: formatCount,
  day: (day: Day) => day,
  days: (first: Day, last: Day) => (first === last ? first : `${first} to ${last}`),
  time: moment,
};

const booksText = ({ first_day, last_day, asked_at, more_since, ...books }: BooksStatus): string =>
  booksSentence(en, writing, {
    ...books,
    firstDay: first_day,
    lastDay: last_day,
    askedAt: asked_at,
    moreSince: more_since,
  });

function problemLines(list: ListStatus): string[] {
  const lines = list.problems
    .slice(0, 5)
    .map(
      ({ day, last_error: error, attempts }) =>
        `  ${nameOf(list)} ${day === wholeList ? 'as a whole' : day}: ${error}${attempts > 0 ? ` (tried ${attempts} times)` : ''}`,
    );
  const more = list.problems.length - lines.length;
  return more > 0
    ? [...lines, `  and ${more} more days of ${nameOf(list)}: --json names them`]
    : lines;
}
