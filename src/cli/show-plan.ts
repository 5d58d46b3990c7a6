// `outlast status --plan`: what will be asked, how long it takes at the allowed rate, and whether it fits before the
// deadline. Needs no key and asks the platform nothing.
import { wholeList, type Day, type Instant, type ListedResource } from '../model.ts';
import { problemText } from '../problems.ts';
import { readMonthStatus, readOperations, type OperationsStatus } from '../query/status.ts';
import { readSettings } from '../settings/settings.ts';
import type { Queryable } from '../store/db.ts';
import type { Slice } from '../store/ledger.ts';
import type { Requests } from '../sync/forecast.ts';
import { risksOf, type ProjectForecast } from '../sync/read-forecast.ts';
import { overAt } from '../sync/verdicts.ts';
import { openToRead, wantedProjects, withStore } from './open-store.ts';
import {
  forecastCells,
  forecastJson,
  readForecasts,
  rateText,
  shortName,
  timeLines,
} from './forecast-lines.ts';
import {
  counted,
  formatCount,
  formatWhen,
  indentedTable,
  momentText,
  nothingArchived,
  print,
  printJson,
  rare,
} from './print.ts';

type PlanFlags = { project?: string; rps?: number; json?: true };

/** Today's last page, a past day for the first time or again, a list without dates. */
type Action = 'tail' | 'first' | 'again' | 'whole';

/** Slices of one resource for which the same is to be done. */
type Upcoming = {
  action: Action;
  resource: ListedResource;
  slices: number;
  /** The first and the last of their days. */
  from: Day;
  to: Day;
  /** When the first of them falls due, or fell due. */
  dueAt: Instant;
};

type Planned = Awaited<ReturnType<typeof planOf>>;

/** So many coming moments are shown. */
const nextShown = 5;

export async function showPlan({ project, rps, json }: PlanFlags): Promise<void> {
  const settings = readSettings({ needs: 'database' });
  await withStore(openToRead, settings, async ({ db }) => {
    const names = await wantedProjects(db, project);
    const forecasts = await readForecasts(db, names, settings, rps);
    const planned: Planned[] = [];
    for (const [name, forecast] of forecasts) planned.push(await planOf(db, name, forecast));
    if (json === true) printJson({ projects: planned.map((one) => planJson(one)) });
    else print(planned.map(projectText).join('\n\n') || nothingArchived);
  });
}

const planOf = async (db: Queryable, project: string, forecast: ProjectForecast) => ({
  project,
  months: await readMonthStatus(db, project),
  forecast,
  operations: await readOperations(db, project),
  ...upcoming(forecast.slices, forecast.now),
});

/** The plan as a person reads it; what cannot fit comes first. */
function projectText(planned: Planned): string {
  const { project, months, forecast, operations, due, next } = planned;
  const { perSecond, standingPerSecond, now } = forecast;
  const aMinute = Math.ceil(standingPerSecond * 600) / 10;
  return [
    ...risksOf(forecast, now).map((risk) => `TOO LATE  ${problemText(risk)}`),
    `Project ${project}: ${rateText(perSecond)}; today and pending orders take ${formatCount(aMinute)} a minute of them`,
    '',
    monthTable(months, forecast),
    '',
    ...needLines(forecast),
    '',
    ...timeLines(forecast).map((line) => `  ${line}`),
    ...openOperationLines(operations, now).map((line) => `  ${line}`),
    ...upcomingLines('Due now', due, now),
    ...upcomingLines('Next', next, now),
  ].join('\n');
}

function monthTable(months: Planned['months'], forecast: ProjectForecast): string {
  const living = forecast.months.map((one) => {
    const row = months.find(
      ({ month, resource, owner }) =>
        month === one.month && resource === one.resource && owner === one.owner,
    );
    const counts = { open: 0, sealed: 0, lost: 0, days: 0, ...row, unread: one.unread.length };
    return { one, counts };
  });
  return indentedTable(
    [
      'month',
      'resource',
      'days',
      rare('unread'),
      rare('open'),
      { ...rare('sealed'), spare: 1 },
      rare('lost'),
      'requests',
      'time',
      'before',
      'fits',
    ],
    living.map(({ one, counts }) => [
      one.month.slice(0, 7),
      shortName(one),
      counts.days,
      counts.unread,
      counts.open,
      counts.sealed,
      counts.lost,
      ...forecastCells(one, forecast),
      one.fits === 'no' ? 'NO' : (one.fits ?? ''),
    ]),
  );
}

/** The watched operations that are open and until when; no line where there are none. */
function openOperationLines(operations: OperationsStatus | null, now: number): string[] {
  if (operations === null || operations.open === 0) return [];
  const { open, next_deadline_at: deadline } = operations;
  const ops = `${counted(open, 'operation')} open`;
  if (deadline === null) return [`transactions: ${ops}, to be taken in by the next run.`];
  const at = Date.parse(deadline);
  return [
    `transactions: ${ops}, the nearest deadline is ${momentText(at)} (UTC), ${formatWhen(at - now)}.`,
  ];
}

const needNames: Readonly<Record<keyof Requests, string>> = {
  unread: 'for days unread',
  again: 'to read days again',
  toCome: 'for days to come',
  daily: 'to read them daily',
};

/** What the requests of each month are for, the most first. */
function needLines({ months }: ProjectForecast): string[] {
  return months.map(({ month, needs, sizes, ...list }) => {
    const parts = (Object.keys(needNames) as (keyof Requests)[])
      .map((name) => ({ count: needs[name], name: needNames[name] }))
      .filter(({ count }) => count > 0)
      .toSorted((a, b) => b.count - a.count)
      .map(({ count, name }) => `${formatCount(count)} ${name}`);
    const ofSizes = sizes === 'known' ? '' : `; sizes ${sizes}`;
    return `  ${month.slice(0, 7)} ${shortName(list)}: ${parts.join(', ') || 'nothing to ask'}${ofSizes}`;
  });
}

/** What is due by now, in the order in which it is taken; and what comes next. A run asks the evidence again. */
function upcoming(slices: Slice[], now: Instant): { due: Upcoming[]; next: Upcoming[] } {
  const groups = new Map<string, Upcoming>();
  for (const slice of slices) {
    const { resource, day, dueAt } = slice;
    if (dueAt === null) continue;
    const action = actionAt(slice, Math.max(dueAt, now));
    // What falls due within the same minute is done by the same run.
    const name = `${resource} ${action} ${dueAt <= now ? 'due' : Math.floor(dueAt / 60_000)}`;
    const group = groups.get(name) ?? { action, resource, slices: 0, from: day, to: day, dueAt };
    groups.set(name, {
      ...group,
      slices: group.slices + 1,
      from: day < group.from ? day : group.from,
      to: day > group.to ? day : group.to,
      dueAt: Math.min(dueAt, group.dueAt),
    });
  }
  const all = [...groups.values()];
  return {
    due: all.filter(({ dueAt }) => dueAt <= now),
    next: all
      .filter(({ dueAt }) => dueAt > now)
      .toSorted((a, b) => a.dueAt - b.dueAt)
      .slice(0, nextShown),
  };
}

function actionAt(slice: Slice, at: Instant): Action {
  if (slice.day === wholeList) return 'whole';
  if (at < overAt(slice)) return 'tail';
  return slice.state === 'open' ? 'first' : 'again';
}

const deeds: Record<Action, string> = {
  first: 'to be read',
  again: 'to be read again',
  tail: 'to be read up to now',
  whole: 'to be read',
};

function upcomingLines(title: string, all: Upcoming[], now: number): string[] {
  if (all.length === 0) return title === 'Next' ? [] : ['', `  ${title}: nothing`];
  return [
    '',
    `  ${title}`,
    ...all.map(({ action, resource, slices, from, to, dueAt }) => {
      // A whole list has no day.
      const [what, days] =
        action === 'whole'
          ? ['whole list', '']
          : ['day', ` (${from === to ? from : `${from} to ${to}`})`];
      const when = dueAt > now ? `, ${formatWhen(dueAt - now)}` : '';
      return `    ${counted(slices, what)} of ${resource} ${deeds[action]}${days}${when}`;
    }),
  ];
}

function planJson(planned: Planned): unknown {
  const { project, months, forecast, operations, due, next } = planned;
  const shown = ({ dueAt, ...one }: Upcoming) => ({
    ...one,
    due_at: new Date(dueAt).toISOString(),
  });
  return {
    project_id: project,
    days: months,
    forecast: forecastJson(forecast),
    operations: {
      open: operations?.open ?? 0,
      next_deadline_at: operations?.next_deadline_at ?? null,
    },
    due: due.map(shown),
    next: next.map(shown),
  };
}
