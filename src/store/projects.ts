// sync.projects: which source a project's archive came from, since when its days are accounted for, and whether it is
// parked. The key itself is never stored, only a salted fingerprint (P10). And sync.rate, which the next process reads
// (P11): the rate, for forecasts, and until when the platform wants quiet.
// The limit itself is in the memory of whoever holds the project (platform/rate-limiter.ts).
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import {
  listedResources,
  type Day,
  type Instant,
  type ListedResource,
  type ProjectId,
} from '../model.ts';
import { onlyRow, type Queryable } from './db.ts';
import { drizzleOn } from './drizzle-statements.ts';
import { and, eq, isNotNull, sql } from './drizzle-import.ts';
import { projects } from './schema.ts';

export type ProjectSource = { baseUrl: string; apiKey: string };

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
  source: ProjectSource,
): Promise<KnownProject | null> {
  const [known] = await drizzleOn(db)
    .select()
    .from(projects)
    .where(eq(projects.projectId, projectId));
  if (known === undefined) return null;
  const { firstDay, baseUrl, parkedReason, askAgainAt } = known;
  const sameKey = timingSafeEqual(known.keyFingerprint, fingerprint(known.keySalt, source.apiKey));
  const sameSource = sameKey && baseUrl === source.baseUrl;
  return { firstDay, baseUrl, sameKey, sameSource, parkedReason, askAgainAt };
}

/** A project that is archived from this address and key already; null where there is none. */
export async function projectOfSource(
  db: Queryable,
  { baseUrl, apiKey }: ProjectSource,
): Promise<ProjectId | null> {
  const known = await drizzleOn(db).select().from(projects).where(eq(projects.baseUrl, baseUrl));
  const same = known.find(({ keySalt, keyFingerprint }) =>
    timingSafeEqual(keyFingerprint, fingerprint(keySalt, apiKey)),
  );
  return same?.projectId ?? null;
}

/** The first day accounted for of a project that was entered while nobody knew the time. */
export const notYetKnown: Day = '9999-12-31';

/** The time is known by now, and an earlier day is in the window than was thought. */
export async function lowerFirstDay(
  db: Queryable,
  projectId: ProjectId,
  firstDay: Day,
): Promise<void> {
  await drizzleOn(db)
    .update(projects)
    .set({ firstDay: sql`least(${projects.firstDay}, ${firstDay}::date)` })
    .where(eq(projects.projectId, projectId));
}

/** Enters a project, or its new source after the check; the first day and what is archived stay. */
export async function saveProject(
  db: Queryable,
  projectId: ProjectId,
  source: ProjectSource,
  firstDay: Day,
  at: Instant,
): Promise<void> {
  const salt = randomBytes(16);
  const of = {
    baseUrl: source.baseUrl,
    keySalt: salt,
    keyFingerprint: fingerprint(salt, source.apiKey),
  };
  await drizzleOn(db)
    .insert(projects)
    .values({ projectId, ...of, firstDay, addedAt: at })
    .onConflictDoUpdate({ target: projects.projectId, set: of });
}

/** After a final 401 or 403: nobody asks for this project before `askAgainAt` (P11). */
export async function parkProject(
  db: Queryable,
  projectId: ProjectId,
  reason: string,
  at: Instant,
  askAgainAt: Instant,
): Promise<void> {
  const since = sql`coalesce(${projects.parkedAt}, ${new Date(at).toISOString()})`;
  await drizzleOn(db)
    .update(projects)
    .set({ parkedAt: since, parkedReason: reason, askAgainAt })
    .where(eq(projects.projectId, projectId));
}

export async function unparkProject(db: Queryable, projectId: ProjectId): Promise<void> {
  await drizzleOn(db)
    .update(projects)
    .set({ parkedAt: null, parkedReason: null, askAgainAt: null })
    .where(and(eq(projects.projectId, projectId), isNotNull(projects.parkedAt)));
}

type HeldDay = { resource: ListedResource; owner: string; day: Day; ids: string[] };

/**
 * A day of a list by which another source would be noticed: walked, not empty, inside `[from, to)`; the newest sealed
 * or proved one first. With the ids it showed. Null when nothing of the window is held.
 */
export async function dayToRecognise(
  db: Queryable,
  projectId: ProjectId,
  list: ListedResource,
  from: Day,
  to: Day,
): Promise<HeldDay | null> {
  const ofDay = `from sync.pages p, unnest(p.ids) id
                  where p.project_id = s.project_id and p.resource = s.resource and p.owner = s.owner and p.day = s.day`;
  const { rows } = await db.query<HeldDay>(
    `select s.resource, s.owner, s.day, (select array_agg(distinct id) ${ofDay}) as ids
       from sync.slices s
      where s.project_id = $1 and s.resource = $2 and s.day >= $3 and s.day < $4 and exists (select ${ofDay})
      order by (s.state = 'sealed') desc, (s.proof <> 'none') desc, s.day desc
      limit 1`,
    [projectId, list, from, to],
  );
  return rows[0] ?? null;
}

/** Whether anything is archived for a project; `lists`: of these alone. */
export async function holdsAnything(
  db: Queryable,
  projectId: ProjectId,
  lists: readonly ListedResource[] = listedResources,
): Promise<boolean> {
  const each = lists.map((list) => `exists (select from archive.${list} where project_id = $1)`);
  const { rows } = await db.query<{ held: boolean }>(`select ${each.join(' or ')} as held`, [
    projectId,
  ]);
  return rows[0]?.held ?? false;
}

/** Every project that was ever archived here. */
export async function projectIds(db: Queryable): Promise<ProjectId[]> {
  const known = await drizzleOn(db)
    .select({ projectId: projects.projectId })
    .from(projects)
    .orderBy(projects.projectId);
  return known.map(({ projectId }) => projectId);
}

/** What the next process is to know of a project's rate. */
export const keptRate = (db: Queryable, projectId: ProjectId) => ({
  /** Returns for how much longer the platform wants quiet, in milliseconds; 0 when it does not. */
  note: async (perSecond: number): Promise<number> => {
    const { quiet } = onlyRow(
      await db.query<{ quiet: number | null }>(
        `insert into sync.rate as r (project_id, per_second) values ($1, $2)
             on conflict (project_id) do update set per_second = excluded.per_second
         returning case
           -- A later moment is from before the database's clock was set back: no pause lasts longer than an hour.
           when not_before < statement_timestamp() + interval '61 minutes'
           then ceil(1000 * greatest(0, extract(epoch from not_before - statement_timestamp())))::float8
         end as quiet`,
        [projectId, perSecond],
      ),
    );
    return quiet ?? 0;
  },
  /** Nobody asks again before so many milliseconds from now; a longer wait already set stays. */
  pause: async (forMs: number): Promise<void> => {
    await db.query(
      `update sync.rate set not_before = greatest(not_before, statement_timestamp() + make_interval(secs => $2))
        where project_id = $1`,
      [projectId, forMs / 1000],
    );
  },
});
