// The ledger, sync.slices: what is held of a slice, how sure we are, what is due. One statement a function. Who may
// write is decided before (holders.ts).
import {
  sliceStates,
  wholeList,
  type Day,
  type DayRange,
  type Instant,
  type ProjectId,
  type SliceKey,
  type SliceState,
} from '../model.ts';
import type { Checkpoint } from './checkpoint.ts';
import type { Queryable, Tx } from './db.ts';
import { columnNamesOf, columnsGiven, readRow, type SelectedRow } from './drizzle-statements.ts';
import { getTableColumns } from './drizzle-import.ts';
import { timestampText, slices } from './schema.ts';

/** What is read of a slice: all but the last error. */
const { lastError: _error, ...columns } = getTableColumns(slices);

export type Slice = SelectedRow<typeof columns>;

/** A list of a project; its slices have a day as well. */
export type ListName = Omit<SliceKey, 'day'>;

/** The slices that a condition, with all that may follow one, selects. */
export async function slicesWhere(
  db: Queryable,
  condition: string,
  parameters: unknown[],
): Promise<Slice[]> {
  const select = `select ${columnNamesOf(columns)} from sync.slices where ${condition}`;
  const { rows } = await db.query(select, parameters);
  return rows.map((row) => readRow(columns, row));
}

/** Stands for "no deadline": of days asked for after they had left the window, and of lists without dates. */
export const noDeadline: Instant = Date.parse('9999-12-31T00:00:00Z');
/** The same as a condition on a row of the ledger. */
export const isEndless = `deadline_at >= '9999-12-31'`;

export const iso = (at: Instant | null): string | null => (at === null ? null : timestampText(at));

/** A moment of SQL in milliseconds: an expression. */
export const msOf = (moment: string): string =>
  `trunc(extract(epoch from ${moment}) * 1000)::float8`;

/** How many rows are in each of these states: columns of a select, named as the states. */
export const countsByState = (states: readonly SliceState[] = sliceStates): string =>
  states.map((state) => `count(*) filter (where state = '${state}')::int as ${state}`).join(', ');

const sliceName = 'project_id as project, resource, owner, day';
/** `was`: what its row said before it was changed. */
type SliceName = { project: string; resource: string; owner: string; day: Day; was?: string };

/** Calls a function of the journal for each of these slices, in their order. */
async function enterEach(tx: Tx, slices: SliceName[], call: string): Promise<void> {
  if (slices.length === 0) return;
  await tx.query(
    `select ${call}
       from (select * from json_to_recordset($1) as s (project text, resource text, owner text, day date, was text)
              order by project, resource, owner, day) s`,
    [JSON.stringify(slices)],
  );
}

export type NewSlice = SliceKey & { dueAt: Instant; deadlineAt: Instant };

/** Enters slices that are not in the ledger yet; the others stay as they are (P7). Returns how many were new. */
export async function addSlices(tx: Tx, added: NewSlice[]): Promise<number> {
  if (added.length === 0) return 0;
  const { rows } = await tx.query<SliceName>(
    `insert into sync.slices (project_id, resource, owner, day, due_at, deadline_at)
     select * from unnest($1::text[], $2::text[], $3::text[], $4::date[], $5::timestamptz[], $6::timestamptz[])
                     as n (project_id, resource, owner, day)
      -- Else it would wait for whoever is writing one of them, who may be frozen.
      where (project_id, resource, owner, day) not in (
              select project_id, resource, owner, day from sync.slices
               where project_id = any ($1::text[]) and resource = any ($2::text[]) and owner = any ($3::text[])
                 and day = any ($4::date[]))
      order by 1, 2, 3, 4
         on conflict do nothing
     returning ${sliceName}`,
    [
      added.map((slice) => slice.projectId),
      added.map((slice) => slice.resource),
      added.map((slice) => slice.owner),
      added.map((slice) => slice.day),
      added.map((slice) => iso(slice.dueAt)),
      added.map((slice) => iso(slice.deadlineAt)),
    ],
  );
  await enterEach(tx, rows, 'sync.journal_ledger(null, project, resource, owner, day)');
  return rows.length;
}

/**
 * Days asked for after they had left the window have their month's deadline, too, once the platform has answered for
 * none of them for a day: one empty answer would make them lost for ever.
 */
export async function takeDeadlines(
  tx: Tx,
  { projectId, resource }: Pick<Slice, 'projectId' | 'resource'>,
  marginMs: number,
): Promise<void> {
  const { rows } = await tx.query<SliceName>(
    `with was as materialized (
       select project_id, resource, owner, day, sync.ledger_of(row(s.*)::sync.slices)::text as said from sync.slices s
        where project_id = $1 and resource = $2 and day > '${wholeList}' and due_at is not null and ${isEndless}
          and exists (select from sync.facts
                       where project_id = $1 and fact = $2 || '.older_days' and value <> 'answered'
                         and confirmed_at >= changed_at + interval '1 day')
     )
     update sync.slices s
        set deadline_at = (date_trunc('month', s.day::timestamp) + interval '2 months') at time zone 'UTC' - $3 * interval '1 ms'
       from was
      where (s.project_id, s.resource, s.owner, s.day) = (was.project_id, was.resource, was.owner, was.day)
     returning s.project_id as project, s.resource, s.owner, s.day, was.said as was`,
    [projectId, resource, marginMs],
  );
  await enterEach(tx, rows, 'sync.journal_ledger(was::jsonb, project, resource, owner, day)');
}

export const ofSlice = 'project_id = $1 and resource = $2 and owner = $3 and day = $4';
export const keyParameters = ({ projectId, resource, owner, day }: SliceKey): unknown[] => [
  projectId,
  resource,
  owner,
  day,
];

/** Days of a list, of a slice's table. */
export const ofDays = 'project_id = $1 and resource = $2 and owner = $3 and day >= $4 and day < $5';

/** What the commit of pages changes in the ledger. */
type SliceProgress = {
  walk: number;
  checkpoint: Checkpoint | null;
  /** When the oldest and the newest of the pages were asked for. */
  oldestAskedAt: Instant;
  newestAskedAt: Instant;
};

/**
 * The first statement of a page's commit. False when the pages are older than what the slice already holds (P2): the
 * caller must roll back. Touches no indexed column.
 */
export async function moveCheckpoint(
  tx: Tx,
  slice: Slice,
  progress: SliceProgress,
): Promise<boolean> {
  const { rows } = await tx.query(
    `update sync.slices
        set checkpoint = $5,
            walk = $6,
            observed_at = $8
      where ${ofSlice}
        and (observed_at is null or observed_at <= $7)
     returning 1`,
    [
      ...keyParameters(slice),
      progress.checkpoint === null ? null : JSON.stringify(progress.checkpoint),
      progress.walk,
      iso(progress.oldestAskedAt),
      iso(progress.newestAskedAt),
    ],
  );
  return rows.length === 1;
}

/** What a turn changes in the ledger of a slice; what is not given stays as it is. */
export type SliceChanges = Partial<Omit<typeof slices.$inferSelect, keyof SliceKey>>;

export async function changeSlice(tx: Tx, slice: Slice, changes: SliceChanges): Promise<void> {
  const given = columnsGiven(slices, changes);
  const { rows } = await tx.query<{ was: string }>(
    `with was as materialized (
       select sync.ledger_of(row(s.*)::sync.slices)::text as said from sync.slices s where ${ofSlice}
     )
     update sync.slices
        set ${given.map(([name], i) => `${name} = $${i + 5}`).join(', ')}
       from was
      where ${ofSlice}
     returning was.said as was`,
    [...keyParameters(slice), ...given.map(([, value]) => value)],
  );
  const [before] = rows;
  if (before === undefined) return;
  await tx.query('select sync.journal_ledger($5::jsonb, $1, $2, $3, $4)', [
    ...keyParameters(slice),
    before.was,
  ]);
}

/** The days of a list that something is still due of, by day. */
export const slicesDue = (
  tx: Tx,
  { projectId, resource, owner }: ListName,
  { from, to }: DayRange,
): Promise<Slice[]> =>
  slicesWhere(tx, `${ofDays} and due_at is not null order by day`, [
    projectId,
    resource,
    owner,
    from,
    to,
  ]);

/** Takes back days that were never read of all but these lists: nobody asks for them any more. */
export async function dropUnreadDays(
  tx: Tx,
  projectId: ProjectId,
  lists: readonly Omit<ListName, 'projectId'>[],
): Promise<void> {
  const { rows } = await tx.query<SliceName>(
    `delete from sync.slices
      where project_id = $1 and walk = 0 and state = 'open' and whole_walk = 0
        and (resource, owner) not in (select * from unnest($2::text[], $3::text[]))
     returning ${sliceName}`,
    [projectId, lists.map((list) => list.resource), lists.map((list) => list.owner)],
  );
  await enterEach(
    tx,
    rows,
    `sync.journal_append(project, resource, owner, day, 'dropped', '{}', null, null)`,
  );
}

/**
 * The newest day of the ledger before another, by which the days that passed since are found (P7): of an empty ledger
 * the first day accounted for, since when the platform may have failed to answer.
 */
export async function newestDay(db: Queryable, projectId: ProjectId, before: Day): Promise<Day> {
  const { rows } = await db.query<{ day: Day | null }>(
    `select coalesce((select max(day) from sync.slices where project_id = $1 and day < $2), first_day) as day
       from sync.projects where project_id = $1`,
    [projectId, before],
  );
  return rows[0]?.day ?? before;
}

/** Days of a list before another one that were taken back, from its first one on: it is asked for again. */
export async function daysTakenBack(
  db: Queryable,
  { projectId, resource, owner }: ListName,
  before: Day,
): Promise<Day[]> {
  const { rows } = await db.query<{ day: Day }>(
    `with entered as (
       select min(day) as first, count(*) as days from sync.slices
        where project_id = $1 and resource = $2 and owner = $3 and day > '${wholeList}' and day < $4
     )
     select d::date as day
       from entered,
            -- Nearly always none is missing.
            generate_series(first, case when days < $4::date - first then $4::date - 1 else first - 1 end, interval '1 day') d
      where not exists (select from sync.slices s
                         where s.project_id = $1 and s.resource = $2 and s.owner = $3 and s.day = d::date)
        and exists (select from sync.journal j
                     where j.project_id = $1 and j.resource = $2 and j.owner = $3 and j.day = d::date and j.kind = 'dropped')
      order by 1`,
    [projectId, resource, owner, before],
  );
  return rows.map(({ day }) => day);
}

/** The slices of the days that claim a proof, by day. */
export const provedSlices = (
  db: Queryable,
  projectId: ProjectId,
  { from, to }: DayRange,
): Promise<Slice[]> =>
  slicesWhere(
    db,
    `project_id = $1 and day >= $2 and day < $3 and proof <> 'none' and state in ('walked', 'sealed')
      order by day, resource desc, owner`,
    [projectId, from, to],
  );
