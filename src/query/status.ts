// How an archive stands: what is held of each list, how sure we are, what is open and until when. Reads only.
import { listedResources, type ListedResource, type Why } from '../model.ts';
import { problemText } from '../problems.ts';
import { readProblems, type Problem, type ProblemReport } from '../store/alerts/problem-rows.ts';
import type { Queryable, Row } from '../store/db.ts';
import { readContacts } from '../store/facts.ts';
import { newestHead } from '../store/journal/heads.ts';
import { countsByState, iso } from '../store/ledger.ts';
import { tableShapes } from '../store/record-tables.ts';
import { createLists } from './ask-question.ts';
import { recordsHeld } from './summary.ts';

type MonthStatus = {
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

export type ListStatus = OfList &
  Counts & {
    months: MonthStatus[];
    /** What keeps days that were read from being held and settled, the most days first; `next_at`: when the first is read next. */
    whys: { why: Why; days: number; next_at: string | null }[];
    problems: { day: string; attempts: number; last_error: string }[];
  };

export type OperationsStatus = {
  open: number;
  done: number;
  lost: number;
  /** The nearest deadline of those open, RFC 3339; null where no run has taken any in. */
  next_deadline_at: string | null;
  /** Results held, a lookup each, and certificate files. */
  held: number;
  files: number;
  /** Some of those lost, the last given first, each with its reason. */
  lost_named: { operation_id: string; reason: string | null }[];
  /** Some of those open that were asked for in vain, the nearest deadline first. */
  problems: { operation_id: string; attempts: number; last_error: string }[];
};

export type TokensStatus = {
  held: number;
  missing: number;
  /** RFC 3339; null before the first look, or where none is ever taken. */
  taken_at: string | null;
  last_error: string | null;
};

/** So many are named; the view analytics.watched_operations has them all. */
const namedAtMost = 100;

export type ProjectStatus = Awaited<ReturnType<typeof readStatus>>[number];

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

/**
 * Every project in the archive, or one. Counts are exact: a count of an index, not of the rows. `forecast`: what one of
 * this moment says of each project; unless given, what the last process has reported.
 */
export async function readStatus(
  db: Queryable,
  project?: string,
  forecast?: ReadonlyMap<string, readonly ProblemReport[]>,
) {
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
  const lists = createLists(db);
  return Promise.all(
    projects.rows.map(async (row) => ({
      ...row,
      unanswered: await unansweredOf(db, row.project_id),
      lists: await listsOf(db, row.project_id),
      /** Null where none is watched, or none were asked for. */
      operations: await readOperations(db, row.project_id),
      tokens: await readTokens(db, row.project_id),
      /** What the platform counts of all days that are over, beside what its lists showed. */
      books: await lists.books({ project: row.project_id }),
      facts: await factsOf(db, row.project_id),
      last_run: await lastRunOf(db, row.project_id),
      /** The newest head of the journal: whoever keeps it elsewhere can tell later whether all up to it still stands. */
      head: await newestHead(db, row.project_id),
      /** The worst first. News (a lost day, rejects) that has been known for a day is `info`. */
      problems: problems.filter(({ projectId }) => projectId === row.project_id).map(problemStatus),
    })),
  );
}

/** Times are RFC 3339. */
const problemStatus = (of: Problem) => ({
  kind: of.kind,
  level: of.level,
  subject: of.subject,
  text: problemText(of),
  numbers: of.numbers,
  since: iso(of.since),
  until: iso(of.until),
});

/** What the platform does not answer for, or refuses to the key (`refused`), and since when. */
async function unansweredOf(db: Queryable, id: string) {
  const contacts = await readContacts(db, id);
  return contacts
    .filter(({ state }) => state === 'refused' || state === 'fails')
    .map(({ since, ...contact }) => ({ ...contact, since: new Date(since).toISOString() }));
}

async function listsOf(db: Queryable, project: string): Promise<ListStatus[]> {
  const [months, whys, problems, counts] = await Promise.all([
    readMonthStatus(db, project),
    whysOf(db, project),
    rowsOf<ListStatus['problems'][number] & OfList>(
      db,
      `select resource, owner, day, attempts, last_error
         from sync.slices where project_id = $1 and last_error is not null order by day`,
      project,
    ),
    countsOf(db, project),
  ]);
  const lists = new Map(months.map((one) => [`${one.resource} ${one.owner}`, one]));
  return [...lists.values()].map(({ resource, owner }) => {
    // Counts are by resource; with several owners they stand at the first.
    const own = counts.get(resource) ?? noCounts;
    counts.delete(resource);
    const list = { resource, owner };
    return {
      ...list,
      ...own,
      months: ofList(months, list),
      whys: ofList(whys, list),
      problems: ofList(problems, list),
    };
  });
}

type OfList = { resource: string; owner: string };

const ofList = <Of extends OfList>(rows: Of[], list: OfList): Omit<Of, keyof OfList>[] =>
  rows.flatMap(({ resource, owner, ...row }) =>
    resource === list.resource && owner === list.owner ? [row] : [],
  );

const whysOf = (db: Queryable, project: string): Promise<(ListStatus['whys'][number] & OfList)[]> =>
  rowsOf(
    db,
    `select resource, owner, why, count(*)::int as days, min(due_at) as next_at
       from analytics.coverage where project_id = $1 and state in ('walked', 'sealed') and why is not null
      group by 1, 2, 3 order by 4 desc, 3`,
    project,
  );

/** The months of every list by the states of their days. */
export function readMonthStatus(db: Queryable, project: string): Promise<(MonthStatus & OfList)[]> {
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

type Counts = Record<'held' | 'versions' | 'pending' | 'missing' | 'rejects', number>;
const noCounts: Counts = { held: 0, versions: 0, pending: 0, missing: 0, rejects: 0 };

/** By resource. */
async function countsOf(db: Queryable, project: string): Promise<Map<string, Counts>> {
  const countsIn = (resource: ListedResource): string => {
    const { table, versions } = tableShapes[resource];
    return `
      select '${resource}' as resource,
             ${recordsHeld(resource, '$1')}::int                                                     as held,
             (select count(*)::int from ${versions} where project_id = $1)                          as versions,
             -- As coverage says it: an order that is gone for a day is waited for no more.
             (select coalesce(sum(unresolved), 0)::int from sync.slices
               where project_id = $1 and resource = '${resource}')                                   as pending,
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

/** Null where nothing was ever watched. */
export async function readOperations(
  db: Queryable,
  project: string,
): Promise<OperationsStatus | null> {
  const [row] = await rowsOf<OperationsStatus>(
    db,
    `with watched as not materialized (select * from sync.watched_operations where project_id = $1)
     select count(*) filter (where state = 'open')::int as open,
            count(*) filter (where state = 'done')::int as done,
            count(*) filter (where state = 'lost')::int as lost,
            min(deadline_at) filter (where state = 'open') as next_deadline_at,
            (select count(*)::int from archive.transactions where project_id = $1)      as held,
            (select count(*)::int from archive.certificate_files where project_id = $1) as files,
            (select coalesce(json_agg(l), '[]')
               from (select operation_id, last_error as reason from watched where state = 'lost'
                      order by added_at desc, operation_id limit ${namedAtMost}) l)                 as lost_named,
            (select coalesce(json_agg(p), '[]')
               from (select operation_id, attempts, last_error
                       from watched where state = 'open' and last_error is not null
                      order by deadline_at, operation_id limit ${namedAtMost}) p)                   as problems
       from watched`,
    project,
  );
  return row === undefined || row.open + row.done + row.lost + row.held === 0 ? null : row;
}

/** Null where the tokens were never asked for. */
async function readTokens(db: Queryable, project: string): Promise<TokensStatus | null> {
  const [row] = await rowsOf<TokensStatus>(
    db,
    `select (select count(*)::int from archive.tokens where project_id = $1) as held,
            (select count(*)::int from archive.tokens
              where project_id = $1 and missing_since is not null)          as missing,
            taken_at, last_error
       from sync.token_snapshots where project_id = $1`,
    project,
  );
  return row ?? null;
}

async function factsOf(db: Queryable, project: string): Promise<Record<string, string>> {
  const rows = await rowsOf<{ fact: string; value: string }>(
    db,
    `select fact, value from sync.facts where project_id = $1 and fact !~ '\\.(probed|contact)$' order by fact`,
    project,
  );
  return Object.fromEntries(rows.map(({ fact, value }) => [fact, value]));
}

async function lastRunOf(db: Queryable, project: string) {
  const [run] = await rowsOf<{
    started_at: string;
    ended_at: string | null;
    outcome: string | null;
    last_error: string | null;
  }>(
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
