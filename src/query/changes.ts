// What changed, in an order that never skips one: the journal's entries by their numbers, up to where everyone has ended who took a
// lower one (docs/follow.md).
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import { settingsError, transient, type OutlastError } from '../errors.ts';
import { resources, wholeList, type ProjectId, type Resource } from '../model.ts';
import { columnsOf, fieldsOf, type Fields } from '../resources.ts';
import { archivedName, archivedOf, ofKey, shapeOf, type TableShape } from '../store/tables.ts';
import {
  cursorSaid,
  isStorable,
  limit,
  oneOf,
  parseArguments,
  project,
  whole,
} from './arguments.ts';
import { invalidArgument, optional } from './check-arguments.ts';
import { columnsNow } from './columns.ts';
import { cursorText, fingerprintOf, readCursorText } from './cursor.ts';
import { isArchiveDay } from './days.ts';
import type { Reader } from './reader.ts';
import type { Change, Changes, ChangesPage } from './types.ts';

/** How long a page may wait for a change, milliseconds. */
export const longestWaitMs = 60_000;
/** A look reads one row of an index. */
const lookEveryMs = 500;
const followedAtOnce = 1000;

export const changeFilters = {
  resource: oneOf(resources).describe('Of this resource only'),
  after: cursorSaid('must be the `position` of a change or of a page').describe(
    'The `position` up to which all was read; from the beginning by default',
  ),
};
const followArguments = z.strictObject({
  project,
  ...optional(changeFilters),
  signal: z
    .custom<AbortSignal>((given) => given instanceof AbortSignal, 'must be an AbortSignal')
    .optional(),
});
const listArguments = followArguments.extend({
  limit: limit.default(100),
  waitMs: whole(0, longestWaitMs).default(0),
});
const newestArguments = z.strictObject({ project });

/** An entry of the journal, and how many of its changes were read. */
type Place = {
  entryId: string;
  resource: string;
  owner: string;
  day: string;
  seq: number;
  n: number;
  /** The first 8 bytes of the entry's head, hex: an archive that was restored to an earlier state has another entry. */
  head: string;
};

/** After every change of an entry. */
const allOfThem = 2_147_483_647;

export const createChanges = (reader: Reader): Changes => ({
  list: async (given) => listChanges(reader, parseArguments('changes.list', listArguments, given)),
  newest: async (given) => {
    const { project: of } = parseArguments('changes.newest', newestArguments, given);
    const { newest } = await look(reader, of, null);
    return newest === null ? null : positionText(fingerprint(of), newest);
  },
  follow: (given) =>
    // Checked at the call, not at the first step: that is where the mistake stands.
    follow(reader, parseArguments('changes.follow', followArguments, given)),
});

/** Ends when the signal is aborted, and only then: there is always a next change (P9). */
async function* follow(
  reader: Reader,
  { signal, ...query }: z.output<typeof followArguments>,
): AsyncGenerator<Change> {
  let { after } = query;
  for (;;) {
    if (signal?.aborted === true) return;
    const page = await listChanges(reader, { ...query, after, limit: followedAtOnce, waitMs: 0 });
    yield* page.items;
    after = page.position ?? undefined;
    if (page.isUpToDate) await sleepUnless(signal, lookEveryMs);
  }
}

const sleepUnless = (signal: AbortSignal | undefined, forMs: number): Promise<void> =>
  sleep(forMs, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);

async function listChanges(
  reader: Reader,
  { signal, ...query }: z.output<typeof listArguments>,
): Promise<ChangesPage> {
  const of = query.project;
  let from = query.after === undefined ? null : placeOf(of, query.after);
  const waitUntil = performance.now() + query.waitMs;
  // Ends: at the first change, or when it has waited long enough.
  for (;;) {
    const { newest, isKnown, isStandby } = await look(reader, of, from);
    if (from !== null && !isKnown) throw unknownPosition(from, newest, isStandby);
    const isNews = newest !== null && isAfter(newest, from);
    const items = isNews ? await changesBetween(reader, query, from, newest) : [];
    const isUpToDate = items.length < query.limit;
    const leftMs = signal?.aborted === true ? 0 : waitUntil - performance.now();
    if (items.length > 0 || leftMs <= 0) {
      const upTo = isNews ? newest : from;
      const position = upTo === null ? null : positionText(fingerprint(of), upTo);
      return {
        items,
        position: isUpToDate ? position : (items.at(-1)?.position ?? position),
        isUpToDate,
      };
    }
    // What told of no record is not looked at again.
    if (isNews) from = newest;
    await sleepUnless(signal, Math.min(lookEveryMs, leftMs));
  }
}

const isAfter = (one: Place, other: Place | null): boolean =>
  other === null ||
  BigInt(one.entryId) > BigInt(other.entryId) ||
  (one.entryId === other.entryId && (one.head !== other.head || one.n > other.n));

/**
 * Where the feed ends for now, and whether a place is one of its own. What has ended by now is asked first and by
 * itself: whoever reads after that sees all of it, unless a balancer led it to a replica meanwhile.
 */
async function look(
  reader: Reader,
  of: ProjectId,
  at: Place | null,
): Promise<{ newest: Place | null; isKnown: boolean; isStandby: boolean }> {
  const now = await reader.query<{ to: string | null }>('select sync.told_now() as to');
  const { rows } = await reader.query<{
    newest: Place | null;
    isKnown: boolean;
    isStandby: boolean;
  }>(
    // The sequence: as in ledger.ts, told_to is looked up where entries are numbered.
    `with told as materialized (select sync.told_to($1) as up_to from sync.entry_ids)
     select (select json_build_object('entryId', entry_id::text, 'resource', resource, 'owner', owner, 'day', day::text, 'seq', seq,
                                      'n', ${allOfThem}, 'head', encode(substring(head for 8), 'hex'))
               from sync.journal
              where project_id = $1 and entry_id <= greatest(case when not pg_is_in_recovery() then $8::bigint end, (select up_to from told))
              order by entry_id desc, resource desc, owner desc, day desc, seq desc
              limit 1) as newest,
            exists (select 1 from sync.journal
                     where project_id = $1 and resource = $2 and owner = $3 and day = $4::date and seq = $5::int
                       and entry_id = $6::bigint and encode(substring(head for 8), 'hex') = $7) as "isKnown",
            pg_is_in_recovery() as "isStandby"`,
    [of, at?.resource, at?.owner, at?.day, at?.seq, at?.entryId, at?.head, now.rows[0]?.to],
  );
  return rows[0] ?? { newest: null, isKnown: false, isStandby: false };
}

type Row = Place & Pick<Change, 'change' | 'id' | 'observedAt' | 'writtenAt' | 'rawSha256'>;

/** What lies after one place and not after another, in its order. */
async function changesBetween(
  reader: Reader,
  query: { project: ProjectId; resource?: Resource | undefined; limit: number },
  after: Place | null,
  upTo: Place,
): Promise<Change[]> {
  const { rows } = await reader.query<Row>(
    `select j.entry_id::text as "entryId", j.resource, j.owner, j.day::text, j.seq, encode(substring(j.head for 8), 'hex') as head, c.n,
            c.change, c.id, c.observed_at as "observedAt", j.entered_at as "writtenAt",
            encode(c.raw_sha256, 'hex') as "rawSha256"
       from sync.journal j
      cross join lateral sync.changes_of(j.kind, j.body, j.ids, j.shas) c
      where j.project_id = $1 and j.entry_id >= $2::bigint and j.entry_id <= $8::bigint
        and ((j.entry_id, j.resource, j.owner, j.day, j.seq) > ($2::bigint, $3, $4, $5::date, $6::int)
             or (j.resource, j.owner, j.day, j.seq) = ($3, $4, $5::date, $6::int) and c.n > $7::int)
        and ($9::text is null or split_part(j.resource, '.', 1) = $9)
      order by j.entry_id, j.resource, j.owner, j.day, j.seq, c.n
      limit $10`,
    [
      query.project,
      ...(after === null
        ? ['0', '', '', wholeList, 0, 0]
        : [after.entryId, after.resource, after.owner, after.day, after.seq, after.n]),
      upTo.entryId,
      query.resource ?? null,
      query.limit,
    ],
  );
  const contents = await contentsOf(reader, query.project, rows);
  const ofQuery = fingerprint(query.project);
  return rows.map((row) => {
    const { entryId, id, change, observedAt, writtenAt, rawSha256 } = row;
    const [resource, apiVersion = null] = row.resource.split('.');
    const record = contents.get(keyOf(row));
    return {
      position: positionText(ofQuery, row),
      entryId,
      resource,
      apiVersion,
      id,
      change,
      observedAt,
      writtenAt,
      rawSha256,
      // As this change left it, not as later ones did.
      record: record === undefined ? null : { ...record, observedAt, missingSince: null },
    } as Change;
  });
}

const keyOf = ({ resource, rawSha256, id }: Pick<Row, 'resource' | 'rawSha256' | 'id'>): string =>
  `${resource} ${rawSha256} ${id}`;

type Content = { contentOf: string; rawSha256: string };

/** What the contents say: nearly all are in force still, the others are versions by now. Nothing is ever deleted. */
async function contentsOf(
  reader: Reader,
  of: ProjectId,
  rows: Row[],
): Promise<Map<string, object>> {
  const found = new Map<string, object>();
  for (const archived of resources.flatMap((resource) => archivedOf(of, resource))) {
    const resource = archivedName(archived);
    const wanted = rows.filter((row) => row.resource === resource && row.rawSha256 !== null);
    if (wanted.length === 0) continue;
    const shape = shapeOf(archived);
    const fields = fieldsOf[archived.resource];
    const columns = `${shape.key} as "contentOf", ${columnsNow(fields)}`;
    const take = ({ contentOf: id, ...content }: Content): void => {
      found.set(keyOf({ resource, rawSha256: content.rawSha256, id }), content);
    };
    const now = await reader.query<Content>(
      `select ${columns} from ${shape.table} o where ${ofKey(shape, 'o')} and ${shape.key} = any ($2::text[])`,
      [of, [...new Set(wanted.map(({ id }) => id))]],
    );
    now.rows.forEach(take);
    const earlier = wanted.filter((row) => !found.has(keyOf(row)));
    if (earlier.length === 0) continue;
    const then = await reader.query<Content>(
      `select ${columns} from (${versionsSql(shape, fields)}) v`,
      [
        of,
        earlier.map(({ id }) => id),
        earlier.map(({ observedAt }) => observedAt),
        earlier.map(({ rawSha256 }) => rawSha256),
      ],
    );
    then.rows.forEach(take);
  }
  return found;
}

/** Versions, each found by its key, with the columns that only their record has. */
function versionsSql(shape: TableShape, fields: Fields): string {
  const ofRecord = columnsOf(fields).flatMap(({ column, type, part }) => {
    if (part === 'observed') return [`null::${type} as ${column}`];
    return part === 'row' || part === 'day' ? [`o.${column}`] : [];
  });
  return `
    select v.*, ${ofRecord.join(', ')}
      from unnest($2::text[], $3::timestamptz[], $4::text[]) wanted (id, at, sha)
      join ${shape.versions} v on ${ofKey(shape, 'v')} and v.${shape.key} = wanted.id
                              and v.observed_at = wanted.at and v.raw_sha256 = decode(wanted.sha, 'hex')
      join ${shape.table} o on ${ofKey(shape, 'o')} and o.${shape.key} = wanted.id`;
}

const fingerprint = (of: ProjectId): string => fingerprintOf('changes', { project: of });

const positionText = (ofQuery: string, place: Place): string =>
  cursorText(ofQuery, 'after', [
    place.entryId,
    place.resource,
    place.owner,
    place.day,
    String(place.seq),
    String(place.n),
    place.head,
  ]);

/** Throws settings `argument_invalid`. */
function placeOf(of: ProjectId, position: string): Place {
  try {
    return readPlace(of, position);
  } catch {
    throw invalidArgument(
      'changes: after is no position of this project’s changes: it is damaged, or of another release. Read from the beginning again, into an empty place',
    );
  }
}

const readPlace = (of: ProjectId, position: string): Place =>
  readCursorText(position, fingerprint(of), (parts) => {
    const isPlace = (texts: unknown[]): texts is string[] =>
      texts.length === 7 && texts.every((text) => typeof text === 'string');
    if (!isPlace(parts)) return null;
    const [entryId = '', resource = '', owner = '', day = '', seq = '', n = '', head = ''] = parts;
    const isWhole = [entryId, seq, n].every((text) => /^\d{1,18}$/.test(text));
    return isWhole &&
      Number(seq) <= allOfThem &&
      Number(n) <= allOfThem &&
      isArchiveDay(day) &&
      isStorable(resource + owner)
      ? { entryId, resource, owner, day, seq: Number(seq), n: Number(n), head }
      : null;
  }).key;

/** A replica may hold it later; anything else will never hold it. */
function unknownPosition(at: Place, newest: Place | null, isStandby: boolean): OutlastError {
  if (isStandby && (newest === null || BigInt(at.entryId) > BigInt(newest.entryId))) {
    return transient(
      'position_ahead',
      'This replica does not hold that position yet. Ask again later.',
    );
  }
  return settingsError(
    'position_unknown',
    'This archive does not hold that position: it was restored to an earlier state, or the position is of another archive. Read from the beginning again, into an empty place.',
  );
}
