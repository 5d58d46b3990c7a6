// P6: a seal, and the proof of a final day, says that two readings, the newest of which ended at `proved_at`, each showed
// all that is held of the day. So every record that the platform showed both times must be in the archive.
import { cliffOf } from '../../src/day.ts';
import type { Day, Instant, ListedResource } from '../../src/model.ts';
import type { Queryable } from '../../src/store/db.ts';
import { toldAtMost, type Evidence } from './evidence.ts';
import type { Had, Memory } from './memory.ts';

type Seal = {
  resource: ListedResource;
  day: Day;
  state: string;
  proof: string;
  /** Milliseconds since 1970, on the platform's clock. */
  provedAt: Instant;
  /** When the newest reading from the other end began that ended two hours before; null: there are no two. */
  confirmsAt: Instant | null;
  shown: number | null;
  /** Distinct ids and rejects on the pages of its last whole walk; null where there are no pages. */
  onPages: number | null;
};

const doubtfulMs = 14 * 3_600_000;

export async function sealsBroken({
  db,
  memory,
  held,
  setAside,
  slackMs,
  hasEmptyHours,
}: Evidence): Promise<string[]> {
  const seals = await allSeals(db);
  const found = seals.flatMap(unfounded);
  for (const seal of seals) {
    if (hasEmptyHours && seal.shown === 0) continue;
    for (const record of memory.hadOn(seal.resource, seal.day)) {
      if (!isClaimed(record, memory, seal, slackMs)) continue;
      if (held[seal.resource].has(record.id)) continue;
      // It was shown at a length that is counted and not held.
      if (setAside[seal.resource].has(record.id)) continue;
      found.push(
        `${nameOf(seal)}, proved at ${iso(seal.provedAt)}, without ${record.id}, which the platform had since ${iso(record.appearedAt)}`,
      );
    }
  }
  return found.slice(0, toldAtMost);
}

const iso = (at: Instant): string => new Date(at).toISOString();
const nameOf = ({ resource, day, state, proof }: Seal): string =>
  `${resource} ${day} is ${state} by ${proof}`;

/** Whether the platform showed it both times for certain, whatever its `Date` said. */
function isClaimed(
  record: Had,
  memory: Memory,
  { provedAt, confirmsAt }: Seal,
  slackMs: number,
): boolean {
  const { day, appearedAt, hiddenAt } = record;
  const latest = provedAt + slackMs;
  // Around the cliff absence proves nothing: what came only then is not claimed.
  if (provedAt >= cliffOf(day) - doubtfulMs || memory.isOutOfWindow(record, latest)) return false;
  return (
    appearedAt < (confirmsAt ?? provedAt) - slackMs && (hiddenAt === null || hiddenAt > latest)
  );
}

async function allSeals(db: Queryable): Promise<Seal[]> {
  const { rows } = await db.query<Seal>(
    `with of_walk as (
       select s.project_id, s.resource, s.owner, s.day,
              (select count(distinct id) from sync.pages p, unnest(p.ids) id
                where (p.project_id, p.resource, p.owner, p.day, p.walk)
                    = (s.project_id, s.resource, s.owner, s.day, s.whole_walk))
            + (select count(distinct sha) from sync.pages p, unnest(p.rejects) sha
                where (p.project_id, p.resource, p.owner, p.day, p.walk)
                    = (s.project_id, s.resource, s.owner, s.day, s.whole_walk)) as shown,
              exists (select from sync.pages p
                       where (p.project_id, p.resource, p.owner, p.day, p.walk)
                           = (s.project_id, s.resource, s.owner, s.day, s.whole_walk)) as has_pages
         from sync.slices s
     )
     select resource, day::text, state, proof,
            extract(epoch from proved_at)::float8 * 1000 as "provedAt",
            (select extract(epoch from max(older.began_at))::float8 * 1000
               from sync.readings newest
               join sync.readings older using (project_id, resource, owner, day)
              where (newest.project_id, newest.resource, newest.owner, newest.day) = (s.project_id, s.resource, s.owner, s.day)
                and newest.ended_at = s.proved_at and older.from_end <> newest.from_end
                and older.ended_at <= newest.began_at - interval '2 hours') as "confirmsAt",
            shown_total::int as shown,
            case when has_pages then of_walk.shown::int end as "onPages"
       from sync.slices s join of_walk using (project_id, resource, owner, day)
      where state = 'sealed' or (state = 'final' and proof <> 'none')`,
  );
  return rows;
}

function unfounded(seal: Seal): string[] {
  const { proof, confirmsAt, shown, onPages } = seal;
  if (proof === 'none') return [`${nameOf(seal)}: a seal without proof`];
  if (confirmsAt === null) return [`${nameOf(seal)}: a seal without two readings two hours apart`];
  return onPages !== null && onPages !== shown
    ? [`${nameOf(seal)} with ${shown} shown and ${onPages} on its pages`]
    : [];
}
