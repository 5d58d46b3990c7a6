// How an archive stands: what is held of each list, how sure we are, what is open and until when. Reads only.
import { listedResources, type ListedResource, type Why } from '../model.ts';
import type { Balance } from '../catalogue.ts';
import { problemText, type ProblemLevel, type ProblemNumbers } from '../problems.ts';
import { readProblems, type Problem, type Report } from '../store/alerts/problem-rows.ts';
import type { Queryable, Row } from '../store/db.ts';
import { readContacts } from '../store/facts.ts';
import { newestHead, type Head } from '../store/journal/heads.ts';
import { countsByState, iso } from '../store/ledger.ts';
import { tableShapes } from '../store/record-tables.ts';
import { createLists } from './ask-question.ts';
import { recordsHeld } from './summary.ts';
import {
  readOperations,
  readTokens,
  type OperationsStatus,
  type TokensStatus,
} from './operations-status.ts';

export type MonthStatus = {
  /** First day of the month, `yyyy-MM-dd`. */
  month: string;
  days: number;
  open: number;
  walked: number;
  sealed: number;
  final: number;
  lost: number;
  /** Days of which all is held, and of these those with nothing pending. */
  held: number;
  settled: number;
  /** Days that left the window, and not all of them is held. */
  doubtful: number;
  /** RFC 3339. */
  deadline_at: string;
};

export type ListStatus = {
  resource: string;
  owner: string;
  held: number;
  versions: number;
  pending: number;
  missing: number;
  rejects: number;
  months: MonthStatus[];
  /** What keeps days that were read from being held and settled, the most days first; `next_at`: when the first is read next. */
  whys: { why: Why; days: number; next_at: string | null }[];
  problems: { day: string; attempts: number; last_error: string }[];
};

type RunStatus = {
  started_at: string;
  ended_at: string | null;
  outcome: string | null;
  last_error: string | null;
};

type ProblemStatus = {
  kind: string;
  level: ProblemLevel;
  subject: string;
  text: string;
  numbers: ProblemNumbers;
  /** RFC 3339. */
  since: string | null;
  until: string | null;
};

export type ProjectStatus = {
  project: string;
  base_url: string;
  first_day: string;
  parked_reason: string | null;
  /** What the platform does not answer for, or refuses to the key (`refused`), and since when. */
  unanswered: { resource: string; state: string; problem: string; since: string }[];
  lists: ListStatus[];
  /** Null where none is watched, or none were asked for. */
  operations: OperationsStatus | null;
  tokens: TokensStatus | null;
  /** What the platform counts of all days that are over, beside what its lists showed. */
  books: Balance[];
  facts: Record<string, string>;
  last_run: RunStatus | null;
  /** The newest head of the journal: whoever keeps it elsewhere can tell later whether all up to it still stands. */
  head: Head | null;
  /** The worst first. News (a lost day, rejects) that has been known for a day is `info`. */
  problems: ProblemStatus[];
};

/** Every project in the archive, or one. Counts are exact: a count of an index, not of the rows. */
export type Replica = {
  /** RFC 3339: the newest change that has come from the primary; null: none since the replica started. */
  newest_change_at: string | null;
  /** How old that change is: what the primary has written since is not seen. */
  behind_seconds: number | null;
};

/** Null where what is read is no replica. */
export async function readReplica(db: Queryable): Promise<Replica | null> {
  const { rows } = await db.query<Replica>(
    `select pg_last_xact_replay_timestamp() as newest_change_at,
            extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp())::float8 as behind_seconds
      where pg_is_in_recovery()`,
  );
  return rows[0] ?? null;
}

/** `forecast`: what one of this moment says of each project; unless given, what the last process has reported. */
export async function readStatus(
  db: Queryable,
  project?: string,
  forecast?: ReadonlyMap<string, readonly Report[]>,
): Promise<ProjectStatus[]> {
  const projects = await db.query<{
    project_id: string;
    base_url: string;
    first_day: string;
    parked_reason: string | null;
  }>(
    `select project_id, base_url, first_day, parked_reason
       from sync.projects where $1::text is null or project_id = $1 order by project_id`,
    [project ?? null],
  );
  const problems = await readProblems(db, project ?? null, forecast);
  return Promise.all(
    projects.rows.map(async ({ project_id: id, base_url, first_day, parked_reason }) => ({
      project: id,
      base_url,
      first_day,
      parked_reason,
      unanswered: await unansweredOf(db, id),
      lists: await listsOf(db, id),
      operations: await readOperations(db, id),
      tokens: await readTokens(db, id),
      books: await createLists(db).books({ project: id }),
      facts: await factsOf(db, id),
      last_run: await lastRunOf(db, id),
      head: await newestHead(db, id),
      problems: problems.filter(({ projectId }) => projectId === id).map(problemStatus),
    })),
  );
}

const problemStatus = (of: Problem): ProblemStatus => ({
  kind: of.kind,
  level: of.level,
  subject: of.subject,
  text: problemText(of),
  numbers: of.numbers,
  since: iso(of.since),
  until: iso(of.until),
});

async function unansweredOf(db: Queryable, id: string): Promise<ProjectStatus['unanswered']> {
  const contacts = await readContacts(db, id);
  return contacts
    .filter(({ state }) => state === 'refused' || state === 'fails')
    .map(({ since, ...contact }) => ({ ...contact, since: new Date(since).toISOString() }));
}

async function listsOf(db: Queryable, project: string): Promise<ListStatus[]> {
  const [months, whys, problems, counts] = await Promise.all([
    readMonthStatus(db, project),
    whysOf(db, project),
    rowsOf<{ resource: string; owner: string; day: string; attempts: number; last_error: string }>(
      db,
      `select resource, owner, day, attempts, last_error
         from sync.slices where project_id = $1 and last_error is not null order by day`,
      project,
    ),
    countsOf(db, project),
  ]);
  const lists = new Map<string, ListStatus>();
  for (const { resource, owner, ...month } of months) {
    const key = `${resource} ${owner}`;
    const list = lists.get(key) ?? {
      resource,
      owner,
      // Counts are by resource; with several owners they stand at the first.
      ...([...lists.values()].some((one) => one.resource === resource)
        ? noCounts
        : (counts.get(resource) ?? noCounts)),
      months: [],
      whys: ofList(whys, { resource, owner }),
      problems: ofList(problems, { resource, owner }),
    };
    list.months.push(month);
    lists.set(key, list);
  }
  return [...lists.values()];
}

type OfList = { resource: string; owner: string };

const ofList = <Of extends OfList>(rows: Of[], list: OfList): Omit<Of, keyof OfList>[] =>
  rows.flatMap(({ resource, owner, ...row }) =>
    resource === list.resource && owner === list.owner ? [row] : [],
  );

const whysOf = (
  db: Queryable,
  project: string,
): Promise<(ListStatus['whys'][number] & { resource: string; owner: string })[]> =>
  rowsOf(
    db,
    `select resource, owner, why, count(*)::int as days, min(due_at) as next_at
       from analytics.coverage where project_id = $1 and state in ('walked', 'sealed') and why is not null
      group by 1, 2, 3 order by 4 desc, 3`,
    project,
  );

/** The months of every list by the states of their days. */
export function readMonthStatus(
  db: Queryable,
  project: string,
): Promise<(MonthStatus & { resource: string; owner: string })[]> {
  return rowsOf(
    db,
    `select resource, owner, date_trunc('month', day)::date as month, count(*)::int as days,
            ${countsByState()},
            count(*) filter (where is_held)::int as held, count(*) filter (where is_settled)::int as settled,
            count(*) filter (where state = 'final' and not is_held)::int as doubtful,
            min(deadline_at) as deadline_at
       from analytics.coverage where project_id = $1
      group by 1, 2, 3 order by resource desc, owner, month`,
    project,
  );
}

type Counts = Pick<ListStatus, 'held' | 'versions' | 'pending' | 'missing' | 'rejects'>;
const noCounts: Counts = { held: 0, versions: 0, pending: 0, missing: 0, rejects: 0 };

/** By resource. */
async function countsOf(db: Queryable, project: string): Promise<Map<string, Counts>> {
  const countsIn = (resource: ListedResource): string => {
    const { table, versions } = tableShapes[resource];
    const isPending = resource === 'orders' ? 'status = 1' : 'false';
    return `
      select '${resource}' as resource,
             ${recordsHeld(resource, '$1')}::int                                                     as held,
             (select count(*)::int from ${versions} where project_id = $1)                          as versions,
             (select count(*)::int from ${table} where project_id = $1 and ${isPending})             as pending,
             (select count(*)::int from ${table} where project_id = $1 and missing_since is not null) as missing,
             (select count(*)::int from sync.rejects
               where project_id = $1 and resource = '${resource}')                                   as rejects`;
  };
  const rows = await rowsOf<Counts & { resource: string }>(
    db,
    listedResources.map(countsIn).join(' union all '),
    project,
  );
  return new Map(rows.map(({ resource, ...counts }) => [resource, counts]));
}

async function factsOf(db: Queryable, project: string): Promise<Record<string, string>> {
  const rows = await rowsOf<{ fact: string; value: string }>(
    db,
    `select fact, value from sync.facts where project_id = $1 and fact !~ '\\.(probed|contact)$' order by fact`,
    project,
  );
  return Object.fromEntries(rows.map(({ fact, value }) => [fact, value]));
}

async function lastRunOf(db: Queryable, project: string): Promise<RunStatus | null> {
  const [run] = await rowsOf<RunStatus>(
    db,
    `select started_at, ended_at, outcome, last_error
       from sync.runs where project_id = $1 order by started_at desc limit 1`,
    project,
  );
  return run ?? null;
}

async function rowsOf<R extends Row>(db: Queryable, sql: string, project: string): Promise<R[]> {
  return (await db.query<R>(sql, [project])).rows;
}
