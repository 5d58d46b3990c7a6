// How the projects stand, as a person reads it: what is held, a calendar, forecasts, and what keeps it from being more.
// Its first sentence, and that of the books, are the pages' (http/web/headline.ts).
import { windowAt } from '../day.ts';
import { booksSentence, headlineOf, type Safety } from '../http/web/headline.ts';
import { en, sayIn } from '../http/web/words.ts';
import { listedResources, wholeList, type Day, type Why } from '../model.ts';
import { moment } from '../problems.ts';
import { calendarFrom } from '../query/day-marks.ts';
import type { ListStatus, OperationsStatus, ProjectStatus, TokensStatus } from '../query/status.ts';
import { notYetKnown } from '../store/projects.ts';
import { calendarLines } from './calendar-lines.ts';
import { shortName, timeLines } from './forecast-lines.ts';
import {
  counted,
  formatCount,
  formatSpan,
  indentedTable,
  momentText,
  nothingArchived,
  rare,
} from './print.ts';
import type { Standing } from './standing.ts';

const english = { t: sayIn(null, formatCount), words: en };

/** The status as a person reads it; `isAll`: every month in the calendar, and all the rest. */
export const statusText = (standings: readonly Standing[], isAll = false): string =>
  standings.map((one) => projectText(one, isAll)).join('\n\n') || nothingArchived;

const sinceText = (firstDay: string): string =>
  firstDay === notYetKnown
    ? "no day accounted for yet: the platform's time is not known"
    : `every day accounted for since ${firstDay}`;

function projectText(
  { status: project, forecast, calendar: whole, safety }: Standing,
  isAll: boolean,
): string {
  const { now } = forecast;
  const calendar = isAll ? whole : calendarFrom(whole, windowAt(now).from);
  const lines = [
    `Project ${project.project_id}: ${headlineOf(english.t, safety)}`,
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
  lines.push(...timeLines(forecast).map((line) => `  ${line}`));
  for (const list of project.lists) lines.push(`  ${verdict(list)}`);
  lines.push(...project.books.map((books) => `  ${booksSentence(english, writing, books)}`));
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

function closingLines({ closing }: Safety, now: number): string[] {
  if (closing === null || closing.at <= now) return [];
  return [
    `  ${closing.month.slice(0, 7)} leaves the platform’s window in ${formatSpan(closing.at - now)}.`,
  ];
}

function lastRunText({ last_run: run, parked_reason: parked }: ProjectStatus, now: number): string {
  if (run === null) return '';
  const { outcome } = run;
  const ending = outcome === null ? 'still running or cut off' : (en.outcomes[outcome] ?? outcome);
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
  return indentedTable(
    ['month', 'resource', 'days', 'all held', 'settled', ...['open', 'final', 'lost'].map(rare)],
    lists.flatMap((list) =>
      list.months.map((month) => [
        month.month.slice(0, 7),
        shortName(list),
        month.days,
        month.held,
        month.settled,
        month.open,
        month.final,
        month.lost,
      ]),
    ),
  );
}

const nameOf = (list: { resource: string; owner: string }): string =>
  list.owner === '' ? list.resource : `${list.resource} of ${list.owner}`;

/** Where the ledger's word is not a person's. */
const whyTexts: Partial<Record<Why, string>> = {
  'read once': 'waiting for another reading',
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
  const parts = [`${sum('held')} of ${sum('days')} days all held, ${sum('settled')} settled`];
  // What may yet be held has its reason below.
  const doubtful = sum('doubtful');
  if (doubtful > 0) parts.push(`${doubtful} kept for good and NEVER PROVED WHOLE`);
  const pending = list.whys.find(({ why }) => why === 'pending')?.days ?? 0;
  const neverSettled = sum('held') - sum('settled') - pending;
  if (neverSettled > 0) {
    parts.push(`${neverSettled} kept for good with orders pending when their month went`);
  }
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
  day: (day: Day) => day,
  days: (first: Day, last: Day) => (first === last ? first : `${first} to ${last}`),
  time: moment,
};

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

/** A sentence for each resource whose older days are answered; `from` is the first day held of it, where any is. */
export function olderOffers(
  facts: Record<string, string>,
  firstDayOf: (resource: string) => string | undefined = () => undefined,
): string[] {
  return listedResources.flatMap((resource) => {
    const oldest = facts[`${resource}.oldest_day`];
    if (facts[`${resource}.older_days`] !== 'answered' || oldest === undefined) return [];
    const first = firstDayOf(resource);
    // The month stands for its days: within it nothing more is offered.
    if (first !== undefined && first.slice(0, 7) <= oldest.slice(0, 7)) return [];
    return [
      `The platform answers for ${resource} before its window too, back to ${oldest}. To archive them: outlast sync --resource ${resource} --from ${oldest}`,
    ];
  });
}

/** The facts by resource: `orders: limit 50, totals present`. */
function factLines(facts: Record<string, string>): string[] {
  const byResource = new Map<string, string[]>();
  for (const [fact, value] of Object.entries(facts)) {
    const [resource = '', name = ''] = fact.split('.');
    byResource.set(resource, [...(byResource.get(resource) ?? []), `${name} ${value}`]);
  }
  if (byResource.size === 0) return [];
  return [
    '',
    '  Observed of the platform',
    ...[...byResource].map(([resource, known]) => `    ${resource}: ${known.join(', ')}`),
  ];
}

const namedAtMost = 5;

/** Lines without their indent; none where nothing was ever watched. */
function operationLines(operations: OperationsStatus | null): string[] {
  if (operations === null) return [];
  const { open, done, lost, files } = operations;
  const parts = [`${formatCount(done)} done`, `${formatCount(open)} open`];
  if (lost > 0)
    parts.push(`${formatCount(lost)} LOST: they left the window without a final result`);
  if (files > 0) parts.push(`${counted(files, 'certificate file')} kept`);
  return [
    `transactions: ${counted(open + done + lost, 'operation')} watched, ${parts.join(', ')}.`,
    ...operations.lost_named
      .slice(0, namedAtMost)
      .map(({ operation_id: id, reason }) => `LOST ${id}: ${reason ?? 'no reason is known'}`),
    ...(lost > namedAtMost
      ? [`and ${lost - namedAtMost} more lost: analytics.watched_operations names them all`]
      : []),
    ...operations.problems
      .slice(0, namedAtMost)
      .map(({ operation_id: id, last_error: error }) => `transactions ${id}: ${error}`),
  ];
}

function tokenLines(tokens: TokensStatus | null, now: number): string[] {
  if (tokens === null) return [];
  const { held, missing, taken_at: takenAt, last_error: error } = tokens;
  const gone = missing > 0 ? `, ${formatCount(missing)} of them no longer listed` : '';
  const read =
    takenAt === null
      ? 'never read'
      : `read ${formatSpan(Math.max(0, now - Date.parse(takenAt)))} ago`;
  return [
    `tokens: ${formatCount(held)} held${gone}, ${read}${error === null ? '.' : `: ${error}`}`,
  ];
}
