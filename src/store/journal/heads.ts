// Heads of a project, sync.heads: each covers the whole journal as it stood. They are worth something where the
// archive's administrators cannot reach: whoever keeps one can tell later that everything up to it still stands.
import type { ProjectId } from '../../model.ts';
import type { Queryable } from '../db.ts';

/** `head` is lower-case hex, `at` RFC 3339 by the database's clock. */
export type Head = { n: number; at: string; head: string };

/** Makes a head where anything was written since the last one. False: nothing was. */
export async function makeHead(db: Queryable, projectId: ProjectId): Promise<boolean> {
  const { rows } = await db.query<{ n: number | null }>('select sync.make_head($1) as n', [
    projectId,
  ]);
  return (rows[0]?.n ?? null) !== null;
}

/** The newest head; null before there is one. */
export async function newestHead(db: Queryable, projectId: ProjectId): Promise<Head | null> {
  const [head] = await heads(db, projectId, 'order by n desc limit 1', []);
  return head ?? null;
}

/** Heads from number `n` on, in their order; a thousand at most. */
export const headsFrom = (db: Queryable, projectId: ProjectId, n: number): Promise<Head[]> =>
  heads(db, projectId, 'and n >= $2 order by n limit 1000', [n]);

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

async function heads(
  db: Queryable,
  projectId: ProjectId,
  rest: string,
  parameters: unknown[],
): Promise<Head[]> {
  const { rows } = await db.query<Head>(
    `select n, at, encode(head, 'hex') as head from sync.heads where project_id = $1 ${rest}`,
    [projectId, ...parameters],
  );
  return rows;
}
