// What a forecast goes by: the ledger's rows that are still worked on, the allowed rate, and the newest moment any run
// knew. Reads only; quick whatever the years, for what is final is left out.
import type { Day, Instant, ProjectId } from '../model.ts';
import type { Queryable } from './db.ts';
import { columns, toSlice, type Slice, type SliceRow } from './ledger.ts';

export type Outlook = {
  /** Neither final nor lost. */
  slices: Slice[];
  /** Requests a second that the last process was allowed; null while none has asked. */
  perSecond: number | null;
  /** The platform's clock at the end of the newest run; null before the first. */
  newestRunAt: Instant | null;
};

export async function readOutlook(db: Queryable, projectId: ProjectId): Promise<Outlook> {
  const { rows } = await db.query<SliceRow>(
    `select ${columns}
       from sync.slices
      where project_id = $1 and state in ('open', 'walked', 'sealed')
      order by deadline_at, day, resource desc, owner`,
    [projectId],
  );
  const known = await db.query<{ per_second: string | null; newest: string | null }>(
    `select (select per_second from sync.rate where project_id = $1) as per_second,
            (select max(ended_at) from sync.runs where project_id = $1) as newest`,
    [projectId],
  );
  const { per_second: perSecond = null, newest = null } = known.rows[0] ?? {};
  return {
    slices: rows.map(toSlice),
    perSecond: perSecond === null ? null : Number(perSecond),
    newestRunAt: newest === null ? null : Date.parse(newest),
  };
}

/** Whether any slice of a day before `today` is due by then. */
export async function isPastDue(
  db: Queryable,
  projectId: ProjectId,
  dueBy: Instant,
  today: Day,
): Promise<boolean> {
  const { rows } = await db.query(
    `select 1 from sync.slices where project_id = $1 and due_at <= $2 and day < $3 limit 1`,
    [projectId, new Date(dueBy).toISOString(), today],
  );
  return rows.length > 0;
}
