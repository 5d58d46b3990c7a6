// What the store says about a project that somebody should hear of. Reads only; what is worth an alert is decided in
// src/alert/conditions.ts. Counts and names, never a record's contents.
import { and, count, desc, eq, gte, isNotNull, ne } from 'drizzle-orm';
import type { Day, Instant, ListedResource, ProjectId } from '../../model.ts';
import type { Queryable } from '../db.ts';
import { drizzleOn } from '../drizzle.ts';
import { readContacts, type ResourceContact } from '../facts.ts';
import { iso } from '../ledger.ts';
import { tableShapes } from '../tables.ts';
import { facts, projects, rejects, runs } from '../schema.ts';

/** What is not shown for so long is gone. */
const goneAfterMs = 24 * 3_600_000;

/** So many days of a month, and the first three of them. */
export type Days = { count: number; first: Day[] };

/** A month of a list that has something to say. `month` is 0001-01-01 for an owner's whole list. */
export type MonthInputs = {
  resource: ListedResource;
  owner: string;
  month: Day;
  deadlineAt: Instant;
  /** Still in the window and without proof, though more than a second reading is wanting. */
  unproved: Days;
  /** Still in the window, tried in vain at least so often as asked for. */
  failing: Days;
  lost: Days;
  /** Final, and never proved. */
  finalUnproved: Days;
};

export type AlertInputs = {
  /** Null: the project has not been entered; no run got as far as that. */
  project: { parked: boolean; addedAt: Instant } | null;
  months: MonthInputs[];
  /**
   * Of each resource that has something due or in trouble: when a page was last read or a count last agreed; null:
   * never.
   */
  lastRead: { resource: ListedResource; at: Instant | null }[];
  /** How the platform answers for each resource that was asked for. */
  contacts: ResourceContact[];
  /** How the newest ended runs ended, newest first. */
  lastOutcomes: string[];
  rejects: { resource: string; count: number }[];
  changedFacts: { fact: string; from: string; to: string }[];
  missing: { resource: ListedResource; owner: string; day: Day; count: number }[];
  operations: OperationInputs[];
};

export type SignsOptions = {
  projectId: ProjectId;
  /** The platform's clock. */
  now: Instant;
  /** Attempts from which a slice counts as failing. */
  failingFrom: number;
  /** Months that are over by then are frozen: no second reading comes. */
  frozenBy: Instant;
  /** Facts that changed at or after this moment are named. */
  changedSince: Instant;
  /** How many runs to look back. */
  runs: number;
  operations: OpenBy;
};

/**
 * Looks at one project. Scans its ledger and the two indexes of what is due and of its runs, never the archive as a
 * whole.
 */
export async function readAlertInputs(db: Queryable, options: SignsOptions): Promise<AlertInputs> {
  const { projectId, now, failingFrom, changedSince } = options;
  // One after the other: all of them in the one transaction that also writes what comes of it.
  const project = await readProjectSigns(db, projectId);
  const lastRead = await readLastRead(db, projectId, now);
  const contacts = await readContacts(db, projectId);
  const months = await readMonthInputs(db, projectId, failingFrom, options.frozenBy);
  const missing = await readMissing(db, projectId, now);
  const operations = await readOperationInputs(db, projectId, options.operations);
  const orm = drizzleOn(db);
  const ended = await orm
    .select({ outcome: runs.outcome })
    .from(runs)
    .where(
      and(
        eq(runs.projectId, projectId),
        isNotNull(runs.endedAt),
        isNotNull(runs.outcome),
        // Between failures it says nothing.
        ne(runs.outcome, 'idle'),
      ),
    )
    .orderBy(desc(runs.startedAt))
    .limit(options.runs);
  const rejected = await orm
    .select({ resource: rejects.resource, count: count().as('count') })
    .from(rejects)
    .where(eq(rejects.projectId, projectId))
    .groupBy(rejects.resource)
    .orderBy(rejects.resource);
  const changed = await orm
    .select({ fact: facts.fact, from: facts.previous, to: facts.value })
    .from(facts)
    .where(
      and(
        eq(facts.projectId, projectId),
        gte(facts.changedAt, changedSince),
        isNotNull(facts.previous),
        ne(facts.previous, 'unknown'),
      ),
    )
    .orderBy(facts.fact);
  return {
    project,
    lastRead,
    contacts,
    months,
    missing,
    operations,
    lastOutcomes: ended.flatMap(({ outcome }) => outcome ?? []),
    rejects: rejected,
    changedFacts: changed.map((fact) => ({ ...fact, from: fact.from ?? '' })),
  };
}

async function readProjectSigns(
  db: Queryable,
  projectId: ProjectId,
): Promise<AlertInputs['project']> {
  const [project] = await drizzleOn(db)
    .select({ parkedAt: projects.parkedAt, addedAt: projects.addedAt })
    .from(projects)
    .where(eq(projects.projectId, projectId));
  if (project === undefined) return null;
  return { parked: project.parkedAt !== null, addedAt: project.addedAt };
}

async function readLastRead(
  db: Queryable,
  projectId: ProjectId,
  now: Instant,
): Promise<AlertInputs['lastRead']> {
  const { rows } = await db.query<{ resource: ListedResource; at: string | null }>(
    `select resource, max(greatest(observed_at, proved_at)) as at
       from sync.slices
      where project_id = $1 and due_at is not null
      group by resource
     having bool_or(due_at <= $2 or attempts > 0)
      order by resource desc`,
    [projectId, iso(now)],
  );
  return rows.map(({ resource, at }) => ({ resource, at: at === null ? null : Date.parse(at) }));
}

const days = (where: string, name: string): string =>
  `count(*) filter (where ${where})::int as ${name},
            coalesce((array_agg(day::text order by day) filter (where ${where}))[1:3], '{}') as ${name}_first`;

async function readMonthInputs(
  db: Queryable,
  projectId: ProjectId,
  failingFrom: number,
  frozenBy: Instant,
): Promise<MonthInputs[]> {
  const { rows } = await db.query<{
    resource: ListedResource;
    owner: string;
    month: Day;
    deadline_at: string;
    unproved: number;
    unproved_first: Day[];
    failing: number;
    failing_first: Day[];
    lost: number;
    lost_first: Day[];
    final_unproved: number;
    final_unproved_first: Day[];
  }>(
    `select resource, owner, date_trunc('month', day)::date as month, max(deadline_at) as deadline_at,
            ${days(`state in ('open', 'walked') and proof = 'none' and not waits`, 'unproved')},
            ${days(`state not in ('final', 'lost') and attempts >= $2 and last_error is not null`, 'failing')},
            ${days(`state = 'lost'`, 'lost')},
            ${days(`state = 'final' and proof = 'none'`, 'final_unproved')}
       from (select *,
                    -- Read once, and the second reading is still to come: until readings of its month only add.
                    why is not distinct from 'read once' and date_trunc('month', day::timestamp) + interval '2 months' > $3::timestamp
                      as waits
               from sync.slices where project_id = $1) s
      -- All that the counts below could count; most days of a long ledger are final and proved.
      where (proof = 'none' or state = 'lost' or attempts >= $2)
      group by 1, 2, 3
      order by 3, 1 desc, 2`,
    [projectId, failingFrom, iso(frozenBy)],
  );
  return rows.map((row) => ({
    resource: row.resource,
    owner: row.owner,
    month: row.month,
    deadlineAt: Date.parse(row.deadline_at),
    unproved: { count: row.unproved, first: row.unproved_first },
    failing: { count: row.failing, first: row.failing_first },
    lost: { count: row.lost, first: row.lost_first },
    finalUnproved: { count: row.final_unproved, first: row.final_unproved_first },
  }));
}

/**
 * Days in the window with records that the platform has not shown for a day, by the archive's small index of them. What
 * is missing in one reading may be there in the next.
 */
async function readMissing(
  db: Queryable,
  projectId: ProjectId,
  now: Instant,
): Promise<AlertInputs['missing']> {
  const of = (resource: ListedResource): string =>
    `select s.resource, s.owner, s.day, count(*)::int as count
       from sync.slices s
       join ${tableShapes[resource].table} o on o.project_id = $1 and o.slice_day = s.day and o.missing_since <= $2
      where s.project_id = $1 and s.resource = '${resource}' and s.due_at is not null
        ${resource === 'orders' ? '' : `and s.owner in ('', o.owner)`}
      group by 1, 2, 3`;
  const { rows } = await db.query<AlertInputs['missing'][number]>(
    `${of('orders')} union all ${of('nft_classes')} order by 1 desc, 2, 3`,
    [projectId, iso(now - goneAfterMs)],
  );
  return rows;
}

/**
 * Operations of a month that have something to say: that they were begun in or, where nobody said so, were given in.
 */
export type OperationInputs = {
  month: Day;
  /** Known for a while, without a final result, and near their deadlines. */
  open: number;
  /** The nearest of those; null where there are none. */
  deadlineAt: Instant | null;
  lost: number;
};

/** Open operations count that have a deadline by then and were given by then. */
export type OpenBy = { deadlineBy: Instant; givenBy: Instant };

/**
 * By two small indexes: what is done may be millions. An operation may be open with a final result: where one lookup,
 * or the certificate's file, gives no answer.
 */
export async function readOperationInputs(
  db: Queryable,
  projectId: ProjectId,
  { deadlineBy, givenBy }: OpenBy,
): Promise<OperationInputs[]> {
  const { rows } = await db.query<{
    month: Day;
    open: number;
    deadline_at: string | null;
    lost: number;
  }>(
    `select date_trunc('month', coalesce(created_on::timestamp, added_at at time zone 'UTC'))::date as month,
            count(*) filter (where state = 'open')::int as open,
            min(deadline_at) filter (where state = 'open') as deadline_at,
            count(*) filter (where state = 'lost')::int as lost
       from (select * from sync.watched_operations w
              where project_id = $1 and state = 'open' and deadline_at <= $2 and added_at <= $3
                and not exists (select from archive.transactions t
                                 where t.project_id = $1 and t.api_version in ('v1beta1', 'v3')
                                   and t.operation_id = w.operation_id and t.status in (1, 2))
              union all
             select * from sync.watched_operations
              where project_id = $1 and state = 'lost') telling
      group by 1
      order by 1`,
    [projectId, iso(deadlineBy), iso(givenBy)],
  );
  return rows.map(({ month, open, deadline_at: deadlineAt, lost }) => ({
    month,
    open,
    deadlineAt: deadlineAt === null ? null : Date.parse(deadlineAt),
    lost,
  }));
}
