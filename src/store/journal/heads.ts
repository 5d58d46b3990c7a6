// Heads of a project's journal: each covers all of it as it stood. They are worth something where the archive's
// administrators cannot reach: whoever keeps one can tell later that everything up to it still stands.
import type { ProjectId } from '../../model.ts';
import type { Queryable } from '../db.ts';

/** The head of entry `no`, lower-case hex; `at`: when it was entered, RFC 3339 by the database's clock. */
export type Head = { no: number; at: string; head: string };

/** The newest head; null before anything was written. */
export async function newestHead(db: Queryable, projectId: ProjectId): Promise<Head | null> {
  const { rows } = await db.query<Head>(
    `select no::float8 as no, entered_at as at, encode(head, 'hex') as head
       from sync.journal where project_id = $1
      order by sync.journal.no desc limit 1`,
    [projectId],
  );
  return rows[0] ?? null;
}

/** Whether the journal's entry has this head. */
export async function isHeadHeld(
  db: Queryable,
  projectId: ProjectId,
  { no, head }: Pick<Head, 'no' | 'head'>,
): Promise<boolean> {
  const { rows } = await db.query(
    `select from sync.journal where project_id = $1 and no = $2 and head = decode($3, 'hex')`,
    [projectId, no, head],
  );
  return rows.length > 0;
}

/** Those of these heads, lower-case hex, that an entry of the journal has. */
export async function headsHeld(
  db: Queryable,
  projectId: ProjectId,
  heads: readonly string[],
): Promise<string[]> {
  const { rows } = await db.query<{ head: string }>(
    `select encode(head, 'hex') as head from sync.journal
      where project_id = $1 and head in (select decode(h, 'hex') from unnest($2::text[]) h)`,
    [projectId, heads],
  );
  const held = new Set(rows.map(({ head }) => head));
  return heads.filter((head) => held.has(head));
}

/** Heads of several projects as they are told to others: where nothing was written yet there is none. */
export type NamedHead = Head & { project: ProjectId };

export async function newestHeads(
  db: Queryable,
  projectIds: readonly ProjectId[],
): Promise<NamedHead[]> {
  const found: NamedHead[] = [];
  for (const project of projectIds) {
    const head = await newestHead(db, project);
    if (head !== null) found.push({ project, ...head });
  }
  return found;
}
