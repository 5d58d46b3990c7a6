// What was observed of a platform's undocumented behaviour, per project, with its time.
import type { Instant, ListedResource, ProjectId, Resource } from '../model.ts';
import { withTx, type Db, type Queryable } from './db.ts';
import { drizzleOn } from './drizzle-statements.ts';
import { iso, msOf } from './ledger.ts';
import { and, eq, like } from './drizzle-import.ts';
import { facts } from './schema.ts';

/** Facts by name, for example `orders.limit`: `50`. */
export type Facts = ReadonlyMap<string, string>;

export async function readFacts(db: Queryable, projectId: ProjectId): Promise<Facts> {
  const known = await drizzleOn(db)
    .select({ fact: facts.fact, value: facts.value })
    .from(facts)
    .where(eq(facts.projectId, projectId));
  return new Map(known.map(({ fact, value }) => [fact, value]));
}

/** When the facts of a list were last probed as a whole; null before its first contact. */
export async function probedAt(
  db: Queryable,
  projectId: ProjectId,
  list: ListedResource,
): Promise<Instant | null> {
  const { rows } = await db.query<{ at: Instant }>(
    `select ${msOf('confirmed_at')} as at from sync.facts where project_id = $1 and fact = $2`,
    [projectId, `${list}.probed`],
  );
  return rows[0]?.at ?? null;
}

/**
 * How the platform answers for one resource: it does; it refuses the key there; it fails; or, `unused`, nobody asks.
 */
type ContactState = 'answers' | 'refused' | 'fails' | 'unused';

/** `since`: since when it is so. `problem`: in words; '' where it answers. */
type ResourceContact = {
  resource: Resource;
  state: ContactState;
  problem: string;
  since: Instant;
};

/** Kept as the fact `orders.contact`: its state, and the problem after a colon. */
export async function noteContact(
  db: Db,
  projectId: ProjectId,
  resource: Resource,
  { state, problem }: Pick<ResourceContact, 'state' | 'problem'>,
  at: Instant,
): Promise<void> {
  const said = problem === '' ? state : `${state}:${problem}`;
  const values = [projectId, `${resource}.contact`, said, iso(at)];
  await withTx(db, (tx) =>
    tx.query(
      `insert into sync.facts as f (project_id, fact, value, confirmed_at, changed_at)
     values ($1, $2, $3, $4::timestamptz, $4::timestamptz)
         on conflict (project_id, fact) do update
        set value = excluded.value, confirmed_at = excluded.confirmed_at,
            -- The same state for another reason goes on.
            changed_at = case when split_part(f.value, ':', 1) = split_part(excluded.value, ':', 1) then f.changed_at
                              else excluded.changed_at end
      where f.value <> 'answers' or excluded.value <> 'answers'`,
      values,
    ),
  );
}

/** What is known of each resource that was asked for. */
export async function readContacts(
  db: Queryable,
  projectId: ProjectId,
): Promise<ResourceContact[]> {
  const known = await drizzleOn(db)
    .select({ fact: facts.fact, value: facts.value, since: facts.changedAt })
    .from(facts)
    .where(and(eq(facts.projectId, projectId), like(facts.fact, '%.contact')))
    .orderBy(facts.fact);
  return known.map(({ fact, value, since }) => {
    const [state = ''] = value.split(':', 1);
    return {
      resource: fact.slice(0, -'.contact'.length) as Resource,
      state: state as ContactState,
      problem: value.slice(state.length + 1),
      since,
    };
  });
}

/** What is measured moves by nature: that it did is no news. The names of such facts, as a pattern for Postgres. */
const measured = '\\.oldest_day$';

type ChangedFact = { fact: string; from: string; to: string };

/** Records what was observed now; returns the facts of behaviour that said something else before. */
export async function recordFacts(
  db: Db,
  projectId: ProjectId,
  observed: Record<string, string>,
  at: Instant,
): Promise<ChangedFact[]> {
  const names = Object.keys(observed).toSorted();
  if (names.length === 0) return [];
  const values = [projectId, names, names.map((name) => observed[name]), iso(at)];
  const sql =
    // Materialized: what was known is read before it is replaced, also where each part is a statement of its own.
    `with before as materialized (select fact, value from sync.facts where project_id = $1 and fact = any ($2::text[])),
     recorded as (
       insert into sync.facts as f (project_id, fact, value, confirmed_at, changed_at)
       select $1, fact, value, $4::timestamptz, $4::timestamptz
         from unnest($2::text[], $3::text[]) as o(fact, value)
           on conflict (project_id, fact) do update
          set confirmed_at = excluded.confirmed_at,
              changed_at = case when f.value = excluded.value then f.changed_at else excluded.changed_at end,
              previous   = case when f.value = excluded.value or f.fact ~ $5 then f.previous else f.value end,
              value      = excluded.value
       returning fact, value
     )
     select fact, b.value as from, r.value as to
       from recorded r join before b using (fact)
      where b.value <> r.value and fact !~ $5`;
  const { rows } = await withTx(db, (tx) => tx.query<ChangedFact>(sql, [...values, measured]));
  return rows;
}
