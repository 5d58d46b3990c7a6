// Writing records: what a page showed becomes rows and versions, set-based. What is new is copied (copy.ts); what is held
// and differs goes as one JSON text that Postgres unpacks: two thirds of COPY's speed, where ORM inserts reached a fifth.
import { codeOf } from '../errors.ts';
import { wholeList } from '../model.ts';
import type { Day, Instant, ObservedRecord, ProjectId } from '../model.ts';
import { copyRecords } from './copy.ts';
import { onlyRow, type Tx } from './db.ts';
import { goneAfterMs } from './evidence.ts';
import {
  enterStored,
  placeBeside,
  type Place,
  type Stored,
  type StoredContent,
  type EntryNote,
} from './journal/journal.ts';
import { timestampText } from './schema.ts';
import {
  archivedName,
  inJson,
  keyNames,
  keyValues,
  ofKey,
  derivedColumns,
  shapeOf,
  type Archived,
  type TableShape,
} from './record-tables.ts';

export type RecordEffects = {
  /** Records held for the first time. */
  inserted: number;
  /** Records whose content was replaced by a newer one. */
  changed: number;
  /** Contents kept as versions. */
  versions: number;
};

/**
 * Writes what was shown, and the journal's entry of it. `writtenAt` is the platform's clock at the commit. `entry`: where
 * the journal tells of it, and what else belongs to the same entry; otherwise it stands beside the slices. A record
 * stands under the day of the list that shows it unless its own day's list has shown it.
 */
export async function writeInto(
  tx: Tx,
  of: Archived,
  observed: ObservedRecord[],
  writtenAt: Instant,
  entry?: { place: Place; told: EntryNote },
): Promise<RecordEffects> {
  const place = entry?.place ?? placeBeside(of.projectId, archivedName(of));
  const shownBy = entry?.place.day ?? null;
  const to = { projectId: of.projectId, mayBeHeld: observed.map(idOf), besides: null };
  const shape = shapeOf(of);
  const { effects, stored } = await storeRecords(tx, shape, to, shownBy, observed, writtenAt);
  await enterStored(tx, place, entry?.told ?? null, stored);
  return effects;
}

// A unique violation; copied to another machine, it comes back as XX000.
const mayBeHeld = new Set(['23505', 'XX000']);

/**
 * A transaction that writes records, and a second time where another came first with some: the list of another day, or a
 * rebuild beside a sync. Nothing was written then, and by now they are found held.
 */
export async function againIfHeld<T>(write: (isAgain: boolean) => Promise<T>): Promise<T> {
  try {
    return await write(false);
  } catch (error) {
    if (!mayBeHeld.has(codeOf(error) ?? '')) throw error;
    return write(true);
  }
}

/**
 * Writes what was shown, in any order and any number of times: the result is the same (P2). Hashes are compared first,
 * and only what differs is merged. `mayBeHeld`: the ids that are looked up; 23505 is thrown where another is held.
 * `shownBy`: the day of the list that showed them; null: none did, and each stands under its own. `besides`: the day that
 * was asked for with it; null: none. The caller owes the journal an entry of what is `stored`.
 */
export async function storeRecords(
  tx: Tx,
  shape: TableShape,
  to: { projectId: ProjectId; mayBeHeld: string[]; besides: Day | null },
  shownBy: Day | null,
  shown: ObservedRecord[],
  writtenAt: Instant,
): Promise<{ effects: RecordEffects; stored: Stored }> {
  const stored: Stored = { first: [], changed: [], late: [], found: [], moved: [] };
  const none: RecordEffects = { inserted: 0, changed: 0, versions: 0 };
  if (shown.length === 0) return { effects: none, stored };
  const now = timestampText(writtenAt);
  const held = await compare(tx, shape, to.projectId, to.mayBeHeld);
  const observed = shown.map((one) => placed(one, held.get(idOf(one)), shownBy, to.besides));
  const first = new Map<string, ObservedRecord>();
  // Ids that came with several contents are compared in any case.
  const differing = new Set<string>();
  for (const one of observed) {
    const before = first.get(idOf(one));
    if (before === undefined) first.set(idOf(one), one);
    else if (before.record.rawSha256 !== one.record.rawSha256) differing.add(idOf(one));
  }

  for (const { id, sha, day, isMissing } of held.values()) {
    const record = first.get(id)?.record;
    const hasMoved = day !== null && record !== undefined && record.columns['slice_day'] !== day;
    if (isMissing || hasMoved || record?.rawSha256 !== sha) differing.add(id);
  }
  const unknown = [...first.values()].filter(({ record }) => !held.has(record.id));
  const inserted = unknown.length;
  if (inserted > 0) {
    await copyRecords(tx, shape, to.projectId, unknown, now);
    stored.first = contentsOf(unknown);
  }
  if (differing.size === 0) return { effects: { ...none, inserted }, stored };
  const { kept, found, moved, ...merged } = onlyRow(
    await tx.query<Omit<RecordEffects, 'inserted'> & Merged>(mergeSql(shape), [
      to.projectId,
      jsonOf(observed.filter(({ record }) => differing.has(record.id))),
      now,
      [...differing],
    ]),
  );
  for (const [id, sha256, observedAt, isInForce] of kept) {
    stored[isInForce ? 'changed' : 'late'].push({ id, sha256, observedAt });
  }
  // Readings between did not show what was gone for a day and is back: it is as new there as what has moved there.
  const isOfDay = shownBy !== null && shownBy !== wholeList;
  const back = found.filter(([, since]) => isOfDay && Date.parse(since) <= writtenAt - goneAfterMs);
  const placedAnew = [...new Set([...moved, ...back.map(([id]) => id)])];
  return { effects: { inserted, ...merged }, stored: { ...stored, found, moved: placedAnew } };
}

/** What a merge stored that nobody held, what it found again, and what stands under another day now. */
type Merged = {
  kept: [id: string, sha256: string, observedAt: string, isInForce: boolean][];
  found: Stored['found'];
  moved: Stored['moved'];
};

const contentsOf = (observed: ObservedRecord[]): StoredContent[] =>
  observed.map(({ record, observedAt }) => ({
    id: record.id,
    sha256: record.rawSha256,
    observedAt: timestampText(observedAt),
  }));

const idOf = ({ record }: ObservedRecord): string => record.id;

type Held = {
  id: string;
  /** Of the content in force. */
  sha: string;
  day: string | null;
  isMissing: boolean;
};

/**
 * A record stands under the day that its own time names once that day's list has shown it, else under the day whose list
 * showed it last. A list without dates moves nothing, nor does one of two days move what stands under the second of them.
 */
function placed(
  one: ObservedRecord,
  held: Held | undefined,
  shownBy: Day | null,
  besides: Day | null,
): ObservedRecord {
  const { columns } = one.record;
  const own = columns['slice_day'];
  if (own === undefined) return one;
  const heldUnder = held?.day ?? null;
  // What its own day's list no longer shows stands under the day whose list does.
  const isThere = heldUnder !== null && held?.isMissing !== true;
  const stays = isThere && ((own === heldUnder && own !== wholeList) || heldUnder === besides);
  const movesNothing = shownBy === null || shownBy === wholeList;
  const day = movesNothing ? (heldUnder ?? shownBy ?? own) : stays ? heldUnder : shownBy;
  return day === own
    ? one
    : { ...one, record: { ...one.record, columns: { ...columns, slice_day: day } } };
}

/** Which of the records are held at all, by id, and with which content. */
async function compare(
  tx: Tx,
  shape: TableShape,
  projectId: ProjectId,
  ids: string[],
): Promise<Map<string, Held>> {
  if (ids.length === 0) return new Map();
  const { rows } = await tx.query<Held>(
    `select ${shape.key} as id, encode(raw_sha256, 'hex') as sha, ${hasSliceDay(shape) ? 'slice_day' : 'null'} as day,
            missing_since is not null as "isMissing"
       from ${shape.table} o
      where ${ofKey(shape, 'o')} and ${shape.key} = any ($2::text[])`,
    [projectId, ids],
  );
  return new Map(rows.map((row) => [row.id, row]));
}

/** The parameter: a JSON array with one object a record; `raw` travels as text and becomes jsonb in one cast. */
function jsonOf(observed: ObservedRecord[]): string {
  return JSON.stringify(
    observed.map(({ record, observedAt }) => ({
      ...record.columns,
      id: record.id,
      raw: record.rawJson,
      sha: record.rawSha256,
      observed_at: timestampText(observedAt),
      unread: record.unread.length > 0 ? record.unread : undefined,
      bytes: record.rawBytes?.toString('hex'),
    })),
  );
}

/**
 * The arriving records as a relation; every statement sorts it by key, or overlapping writers deadlock. One pass by
 * json_to_recordset: 50 thousand rows a second where a `->>` for each column made 18 (COPY: 72).
 */
function arriving(shape: TableShape): string {
  const { typed, values } = inJson(shape.columns);
  return `
    select id collate "C"            as id,
           ${values},
           raw::jsonb                as raw,
           decode(bytes, 'hex')      as raw_bytes,
           decode(sha, 'hex')        as raw_sha256,
           coalesce(unread, '{}')    as unread,
           observed_at
      from json_to_recordset($2::json)
           as e(id text, ${typed}, raw text, bytes text, sha text, unread text[], observed_at timestamptz)`;
}

/** RFC 3339 with microseconds. */
const utc = (column: string): string =>
  `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

const content = ['raw', 'raw_bytes', 'raw_sha256', 'unread', 'observed_at'];

/** Whether its records stand under a day of the ledger. */
const hasSliceDay = ({ day }: TableShape): boolean => day === 'slice_day';

function mergeSql(shape: TableShape): string {
  const names = [...shape.columns.map(([name]) => name), ...content];
  const list = names.join(', ');
  const ofVersion = [...derivedColumns(shape).map(([name]) => name), ...content];
  // The last word on ties: later observed, then the greater hash, so that every order of arrival ends alike.
  const newestFirst = [...shape.precedence, 'observed_at', 'raw_sha256']
    .map((term) => `${term} desc`)
    .join(', ');
  const hasDay = hasSliceDay(shape);
  return `
    with arriving as materialized (${arriving(shape)}),
    -- The row lock is taken on what is committed by now, so a rival's content is compared and kept, never
    -- overwritten unseen (P5).
    held as materialized (
      select o.${shape.key} as id, ${names.map((name) => `o.${name}`).join(', ')}, o.missing_since
        from ${shape.table} o
       where ${ofKey(shape, 'o')} and o.${shape.key} = any ($4::text[])
       order by o.${shape.key}
         for no key update
    ),
    known as materialized (
      select id, ${list}, true as arrived from arriving
      union all
      select id, ${list}, false from held
    ),
    ranked as (
      select *, row_number() over (partition by id order by ${newestFirst}, arrived) as place from known
    ),
    compared as (
      select *, max(place) filter (where not arrived) over of_one as held_place,
             max(encode(raw_sha256, 'hex')) filter (where not arrived) over of_one as held_sha
        from ranked
      window of_one as (partition by id)
    ),
    -- What is held is replaced by another content; or by itself, where one that nobody held was shown in between: since
    -- then it is said anew. By windows: joins of the records with themselves took 14 s for 4,000 of them.
    judged as (
      select *, bool_or(place < held_place and encode(raw_sha256, 'hex') <> held_sha
                        and (place = 1
                             or coalesce((select false from ${shape.versions} v
                                           where ${ofKey(shape, 'v')} and v.${shape.key} = compared.id
                                             and v.raw_sha256 = compared.raw_sha256 limit 1), true)))
                  over (partition by id) as replaces
        from compared
    ),
    newest as materialized (
      select distinct on (id) * from judged order by id, place
    ),
    ${
      hasDay
        ? `placed as (
      select distinct on (id) id, slice_day from arriving order by id, observed_at desc
    ),`
        : ''
    }
    -- Versions are fed from everything that arrived and from what is replaced: no content in between is lost (P5).
    kept as (
      insert into ${shape.versions} (${keyNames(shape)}, ${shape.key}, ${ofVersion.join(', ')})
      select distinct on (k.id, k.raw_sha256) ${keyValues(shape)}, k.id, ${ofVersion.map((name) => `k.${name}`).join(', ')}
        from known k join newest n using (id)
       where (k.raw_sha256 <> n.raw_sha256 or not k.arrived and n.replaces)
         and (not k.arrived
              or not exists (select from ${shape.versions} v
                              where ${ofKey(shape, 'v')} and v.${shape.key} = k.id
                                and v.raw_sha256 = k.raw_sha256))
       order by k.id, k.raw_sha256, k.arrived, k.observed_at
          on conflict do nothing
      returning ${shape.key} as id, observed_at, raw_sha256
    ),
    changed as (
      update ${shape.table} o
         set ${names
           .filter((name) => name !== 'observed_at')
           // The day is the newest showing's, whichever content is in force.
           .map((name) => `${name} = ${name === 'slice_day' ? 'p' : 'n'}.${name}`)
           .join(', ')},
             -- What is only shown again was said since it was first observed.
             observed_at = case when n.replaces then n.observed_at else h.observed_at end,
             missing_since = null,
             changed_at = $3::timestamptz
        from newest n join held h using (id)${hasDay ? ' join placed p using (id)' : ''}
       where ${ofKey(shape, 'o')} and o.${shape.key} = n.id
         and (n.replaces or h.missing_since is not null${hasDay ? ' or p.slice_day <> h.slice_day' : ''})
      returning n.id, n.observed_at, n.raw_sha256, n.replaces as replaced, h.missing_since,
                ${hasDay ? 'p.slice_day <> h.slice_day' : 'false'} as moved
    ),
    -- What is held now and was not: what was replaced has only moved.
    stored as (
      select id, observed_at, raw_sha256, true as in_force from changed where replaced
      union all
      select id, observed_at, raw_sha256, false from kept k
       where not exists (select from held h where h.id = k.id and h.raw_sha256 = k.raw_sha256 and h.observed_at = k.observed_at)
    )
    select (select count(*)::int from changed where replaced) as changed,
           (select count(*)::int from kept)                    as versions,
           (select coalesce(json_agg(json_build_array(id, encode(raw_sha256, 'hex'), ${utc('observed_at')}, in_force)
                                     order by observed_at, id, raw_sha256), '[]') from stored) as kept,
           (select coalesce(json_agg(json_build_array(id, ${utc('missing_since')}) order by id), '[]')
              from changed where missing_since is not null)    as found,
           (select coalesce(json_agg(id order by id), '[]') from changed where moved) as moved`;
}
