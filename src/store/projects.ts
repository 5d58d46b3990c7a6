// sync.projects: which source a project's archive came from, since when its days are accounted for, and
// whether it is parked. The key itself is never stored, only a salted fingerprint (P10).
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Day, Instant, ListedResource, ProjectId } from '../model.ts';
import type { Queryable } from './db.ts';

export type Source = { baseUrl: string; apiKey: string };

export type KnownProject = {
  firstDay: Day;
  baseUrl: string;
  /** Whether base URL and key are the ones the archive was filled from last. */
  sameSource: boolean;
  sameKey: boolean;
  parkedReason: string | null;
  askAgainAt: Instant | null;
};

const fingerprint = (salt: Buffer, key: string): Buffer =>
  createHash('sha256').update(salt).update(key).digest();

export async function readProject(
  db: Queryable,
  projectId: ProjectId,
  source: Source,
): Promise<KnownProject | null> {
  const { rows } = await db.query<{
    base_url: string;
    key_salt: Buffer;
    key_fingerprint: Buffer;
    first_day: Day;
    parked_reason: string | null;
    ask_again_at: string | null;
  }>(
    `select base_url, key_salt, key_fingerprint, first_day, parked_reason, ask_again_at
       from sync.projects where project_id = $1`,
    [projectId],
  );
  const [row] = rows;
  if (row === undefined) return null;
  const sameKey = timingSafeEqual(row.key_fingerprint, fingerprint(row.key_salt, source.apiKey));
  return {
    firstDay: row.first_day,
    baseUrl: row.base_url,
    sameKey,
    sameSource: sameKey && row.base_url === source.baseUrl,
    parkedReason: row.parked_reason,
    askAgainAt: row.ask_again_at === null ? null : Date.parse(row.ask_again_at),
  };
}

/** The first day accounted for of a project that was entered while nobody knew the time. */
export const notYetKnown: Day = '9999-12-31';

/** The time is known by now, and an earlier day is in the window than was thought. */
export async function lowerFirstDay(
  db: Queryable,
  projectId: ProjectId,
  firstDay: Day,
): Promise<void> {
  await db.query(
    'update sync.projects set first_day = least(first_day, $2::date) where project_id = $1',
    [projectId, firstDay],
  );
}

/** Enters a project, or its new source after the check; the first day and what is archived stay. */
export async function saveProject(
  db: Queryable,
  projectId: ProjectId,
  source: Source,
  firstDay: Day,
  at: Instant,
): Promise<void> {
  const salt = randomBytes(16);
  await db.query(
    `insert into sync.projects (project_id, base_url, key_salt, key_fingerprint, first_day, added_at)
     values ($1, $2, $3, $4, $5, $6)
         on conflict (project_id) do update
        set base_url = excluded.base_url, key_salt = excluded.key_salt,
            key_fingerprint = excluded.key_fingerprint`,
    [
      projectId,
      source.baseUrl,
      salt,
      fingerprint(salt, source.apiKey),
      firstDay,
      new Date(at).toISOString(),
    ],
  );
}

/** After a final 403: nobody asks for this project before `askAgainAt` (P11). */
export async function parkProject(
  db: Queryable,
  projectId: ProjectId,
  reason: string,
  at: Instant,
  askAgainAt: Instant,
): Promise<void> {
  await db.query(
    `update sync.projects
        set parked_at = coalesce(parked_at, $3), parked_reason = $2, ask_again_at = $4
      where project_id = $1`,
    [projectId, reason, new Date(at).toISOString(), new Date(askAgainAt).toISOString()],
  );
}

export async function unparkProject(db: Queryable, projectId: ProjectId): Promise<void> {
  await db.query(
    `update sync.projects set parked_at = null, parked_reason = null, ask_again_at = null
      where project_id = $1 and parked_at is not null`,
    [projectId],
  );
}

export type HeldDay = { resource: ListedResource; owner: string; day: Day; ids: string[] };

/**
 * A day by which another source would be noticed: walked, not empty, inside `[from, to)`; the newest sealed or proved
 * one first. With some of the ids held for it. Null when nothing of the window is held.
 */
export async function dayToRecognise(
  db: Queryable,
  projectId: ProjectId,
  from: Day,
  to: Day,
): Promise<HeldDay | null> {
  const { rows } = await db.query<{
    resource: ListedResource;
    owner: string;
    day: Day;
    ids: string[];
  }>(
    `select s.resource, s.owner, s.day, p.ids
       from sync.slices s
       join sync.pages p on p.project_id = s.project_id and p.resource = s.resource and p.owner = s.owner
                        and p.day = s.day and p.page = 0 and cardinality(p.ids) > 0
      where s.project_id = $1 and s.day >= $2 and s.day < $3
      order by (s.resource = 'orders') desc, (s.state = 'sealed') desc, (s.proof <> 'none') desc, s.day desc, p.walk
      limit 1`,
    [projectId, from, to],
  );
  return rows[0] ?? null;
}

/** Whether anything is archived for a project. */
export async function holdsAnything(db: Queryable, projectId: ProjectId): Promise<boolean> {
  const { rows } = await db.query<{ held: boolean }>(
    `select exists (select from archive.orders where project_id = $1)
         or exists (select from archive.nft_classes where project_id = $1) as held`,
    [projectId],
  );
  return rows[0]?.held ?? false;
}

/** Every project that was ever archived here. */
export async function projectIds(db: Queryable): Promise<ProjectId[]> {
  const { rows } = await db.query<{ project_id: ProjectId }>(
    'select project_id from sync.projects order by project_id',
  );
  return rows.map((row) => row.project_id);
}
