// The checks: nothing that was shown is lost, and no seal is false (docs/guarantee.md). They lay the archive, as of one
// instant, beside the platform's own record, change nothing, and return what is wrong in sentences.
import { cliffOf } from '../../src/day.ts';
import type { Day, Instant, ListedResource } from '../../src/model.ts';
import type { Queryable } from '../../src/store/db.ts';
import { sorted } from '../support/differences.ts';
import type { Had, Memory } from './memory.ts';

/** The contents of each record by resource and id. */
export type Contents = Map<string, Set<string>>;

/** What earlier checks saw in the archive; the checks bring it up to date. */
export type Keepsake = {
  contents: Contents;
  /** State of each slice. */
  states: Map<string, string>;
};

export const createKeepsake = (): Keepsake => ({ contents: new Map(), states: new Map() });

type Given = {
  memory: Memory;
  keepsake: Keepsake;
  /** A moment in the archive may be so far from the platform's clock, which moves and lags. */
  slackMs: number;
  /** Answers may show nothing for hours: an empty day that two of them proved stands until the next day's reading. */
  hasEmptyHours: boolean;
};

type Evidence = Given & { db: Queryable; held: Contents };

/** So many sentences of one kind are told. */
export const toldAtMost = 5;

const checks: Readonly<Record<string, (evidence: Evidence) => Promise<string[]> | string[]>> = {
  'P4: nothing archived vanishes': vanished,
  'P5: every content was shown': neverShown,
  'P5: what a committed page carried is held': pagesNotHeld,
  'P6: a seal holds what the platform had': sealsBroken,
  'P7: what was read is not lost, and final is final': statesTakenBack,
};

/** Every check, as of now, on a connection of its own: what is wrong, and how many records are held. */
export async function findAll(
  db: Queryable,
  given: Given,
): Promise<{ found: string[]; held: number }> {
  await db.query('begin isolation level repeatable read read only');
  const held = await heldContents(db);
  // After the archive's instant: so the platform had whatever was archived by then.
  given.memory.look();
  const found: string[] = [];
  for (const [name, find] of Object.entries(checks)) {
    const sentences = await find({ ...given, db, held });
    found.push(...sentences.slice(0, toldAtMost).map((sentence) => `${name}: ${sentence}`));
  }
  await db.query('commit');
  return { found, held: held.size };
}

async function heldContents(db: Queryable): Promise<Contents> {
  const { rows } = await db.query<{ key: string; raw: string }>(
    `select 'orders ' || operation_id as key, raw::text from archive.orders
      union all select 'orders ' || operation_id, raw::text from archive.order_versions
      union all select 'nft_classes ' || id, raw::text from archive.nft_classes
      union all select 'nft_classes ' || id, raw::text from archive.nft_class_versions`,
  );
  const held: Contents = new Map();
  for (const { key, raw } of rows) held.set(key, (held.get(key) ?? new Set()).add(sorted(raw)));
  return held;
}

function vanished({ held, keepsake }: Evidence): string[] {
  const found = [...keepsake.contents].flatMap(([key, contents]) => {
    const now = held.get(key);
    if (now === undefined) return [`${key} was archived and is gone`];
    const isWhole = [...contents].every((content) => now.has(content));
    return isWhole ? [] : [`${key} was archived with a content that is gone`];
  });
  keepsake.contents = held;
  return found;
}

function neverShown({ held, memory }: Evidence): string[] {
  return [...held].flatMap(([key, contents]) => {
    const [resource, id] = key.split(/ (.*)/s) as [ListedResource, string];
    const sent = memory.sent(resource, id);
    const invented = [...contents].filter((content) => !sent.has(content));
    return invented.map((content) => `${key} is held with a content never shown: ${content}`);
  });
}

type PageRow = {
  resource: ListedResource;
  name: string;
  ids: string[];
  /** Milliseconds since 1970, on the platform's clock. */
  askedAt: Instant;
};

/** The page may have been sent several times since it was asked for: of each record one of these contents is held. */
async function pagesNotHeld({ db, held, memory, slackMs }: Evidence): Promise<string[]> {
  const { rows } = await db.query<PageRow>(
    `select resource, format('page %s of walk %s of %s %s', page, walk, resource, day) as name, ids,
            extract(epoch from asked_at)::float8 * 1000 as "askedAt"
       from sync.pages`,
  );
  return rows.flatMap(({ resource, name, ids, askedAt }) =>
    ids.flatMap((id) => {
      const contents = held.get(`${resource} ${id}`);
      const isHeld = [...memory.sent(resource, id)].some(
        ([content, lastAt]) => lastAt >= askedAt - slackMs && contents?.has(content),
      );
      return isHeld ? [] : [`${name} was committed, and what it showed of ${id} is not held`];
    }),
  );
}

/**
 * First read in the last hours of its month or after them, a day that shows nothing is read only by what the next one
 * shows, until that is read itself: it counts as open here.
 */
async function statesTakenBack({ db, keepsake }: Evidence): Promise<string[]> {
  const holds = (resource: ListedResource): string =>
    `exists (select from archive.${resource} o
              where s.resource = '${resource}' and o.project_id = s.project_id and o.slice_day = s.day
                and (o.created_at at time zone 'UTC')::date = s.day)`;
  const { rows } = await db.query<{ name: string; state: string; counts: string }>(
    `select concat_ws(' ', resource, nullif(owner, ''), day) as name, state,
            case when state <> 'walked' or ${holds('orders')} or ${holds('nft_classes')}
                   or exists (select from sync.readings r
                               where (r.project_id, r.resource, r.owner, r.day) = (s.project_id, s.resource, s.owner, s.day)
                                 and r.ended_latest_at < (date_trunc('month', s.day::timestamp) + interval '2 months')
                                                         at time zone 'UTC' - interval '14 hours')
                 then state else 'open' end as counts
       from sync.slices s`,
  );
  const before = keepsake.states;
  keepsake.states = new Map(rows.map(({ name, counts }) => [name, counts]));
  return rows.flatMap(({ name, state }) => {
    const was = before.get(name) ?? '';
    const isForEver = was === 'final' || was === 'lost';
    const wasRead = was === 'walked' || was === 'sealed';
    const isTakenBack = (isForEver && state !== was) || (wasRead && state === 'lost');
    return isTakenBack ? [`${name} was ${was} and is ${state}`] : [];
  });
}

type Seal = {
  resource: ListedResource;
  day: Day;
  name: string;
  /** Milliseconds since 1970, on the platform's clock. */
  provedAt: Instant;
  /** When the newest reading from the other end began that ended two hours before; null: there are no two. */
  confirmsAt: Instant | null;
  shown: number | null;
};

const freezeMs = 14 * 3_600_000;

async function sealsBroken(evidence: Evidence): Promise<string[]> {
  const { db, memory, held, hasEmptyHours } = evidence;
  const { rows } = await db.query<Seal>(
    `select resource, day::text, format('%s %s is %s by %s', resource, day, state, proof) as name,
            extract(epoch from proved_at)::float8 * 1000 as "provedAt", shown_total::int as shown,
            (select extract(epoch from max(older.began_at))::float8 * 1000
               from sync.readings newest
               join sync.readings older using (project_id, resource, owner, day)
              where (newest.project_id, newest.resource, newest.owner, newest.day) = (s.project_id, s.resource, s.owner, s.day)
                and newest.ended_at = s.proved_at and older.from_end <> newest.from_end
                and older.ended_at <= newest.began_at - interval '2 hours') as "confirmsAt"
       from sync.slices s
      where state = 'sealed' or (state = 'final' and proof <> 'none')`,
  );
  return rows.flatMap((seal) => {
    const { resource, day, name, confirmsAt, shown } = seal;
    if (confirmsAt === null) return [`${name} without two readings two hours apart`];
    if (hasEmptyHours && shown === 0) return [];
    return memory
      .hadOn(resource, day)
      .filter((one) => wasShownTwice(one, { ...seal, confirmsAt }, evidence))
      .filter(({ id }) => !held.has(`${resource} ${id}`))
      .map(({ id, appearedAt }) => `${name} without ${id}, which was there since ${appearedAt}`);
  });
}

/** Whether the platform showed it to both readings for certain, whatever its `Date` said. */
function wasShownTwice(
  record: Had,
  { day, provedAt, confirmsAt }: Seal & { confirmsAt: Instant },
  { memory, slackMs }: Given,
): boolean {
  const { appearedAt, hiddenAt } = record;
  const latest = provedAt + slackMs;
  // Around the cliff absence proves nothing: what came only then is not claimed.
  if (provedAt >= cliffOf(day) - freezeMs || memory.isOutOfWindow(record, latest)) return false;
  return appearedAt < confirmsAt - slackMs && (hiddenAt === null || hiddenAt > latest);
}
