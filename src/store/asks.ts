// sync.asks: what a person asks for of a project that another process holds. The holder runs it, and says how far it is
// and what came of it. One statement a function.
import type { ProjectId } from '../model.ts';
import type { Queryable } from './db.ts';

/** As JSON holds them. */
export type Ask = { projectId: ProjectId; askId: string; options: unknown };
export type AskState = { progress: unknown; ending: unknown };

export async function addAsk(
  db: Queryable,
  projectId: ProjectId,
  askId: string,
  options: object,
): Promise<void> {
  await db.query(`insert into sync.asks (project_id, ask_id, options) values ($1, $2, $3)`, [
    projectId,
    askId,
    JSON.stringify(options),
  ]);
}

/** Null where it is not there any more. */
export async function readAsk(
  db: Queryable,
  projectId: ProjectId,
  askId: string,
): Promise<AskState | null> {
  const { rows } = await db.query<AskState>(
    `select progress, ending from sync.asks where project_id = $1 and ask_id = $2`,
    [projectId, askId],
  );
  return rows[0] ?? null;
}

export async function dropAsk(db: Queryable, projectId: ProjectId, askId: string): Promise<void> {
  await db.query(`delete from sync.asks where project_id = $1 and ask_id = $2`, [projectId, askId]);
}

/** What was asked for of these projects and is not done, the oldest first. */
export async function openAsks(db: Queryable, projectIds: readonly ProjectId[]): Promise<Ask[]> {
  const { rows } = await db.query<Ask>(
    `select project_id as "projectId", ask_id as "askId", options from sync.asks
      where project_id = any ($1) and ending is null
      order by asked_at, ask_id`,
    [projectIds],
  );
  return rows;
}

export async function noteProgress(db: Queryable, ask: Ask, progress: object): Promise<void> {
  await db.query(
    `update sync.asks set progress = $3 where project_id = $1 and ask_id = $2 and ending is null`,
    [ask.projectId, ask.askId, JSON.stringify(progress)],
  );
}

/** Notes what came of it, and forgets what nobody came back for within a day. */
export async function endAsk(db: Queryable, ask: Ask, ending: object): Promise<void> {
  await db.query(
    `with forgotten as (
       delete from sync.asks where project_id = $1 and asked_at < statement_timestamp() - interval '1 day' and ask_id <> $2
     )
     update sync.asks set ending = $3 where project_id = $1 and ask_id = $2`,
    [ask.projectId, ask.askId, JSON.stringify(ending)],
  );
}
