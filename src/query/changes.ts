// What changed, in an order that never skips one: the journal's entries by their numbers, in which they were committed
// (docs/follow.md).
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import { settingsError, transient, type OutlastError } from '../errors.ts';
import { resources, type ProjectId, type Resource } from '../model.ts';
import { columnsOf, fieldsOf, type Fields } from '../resources.ts';
import {
  archivedName,
  archivedOf,
  ofKey,
  shapeOf,
  type TableShape,
} from '../store/record-tables.ts';
import { cursorSaid, limit, oneOf, parseArguments, project, whole } from './arguments.ts';
import { invalidArgument, optional } from './check-arguments.ts';
import { columnsNow } from './selected-columns.ts';
import { cursorText, fingerprintOf, readCursorText } from './cursor.ts';
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
    const { newest } = await look(reader, { project: of, limit: 0 }, null);
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
    const { newest, isKnown, rows } = await look(reader, query, from);
    if (from !== null && !isKnown) throw await unknownPosition(reader, from, newest);
    // What told of no record is not looked at again.
    from = newest;
    const isUpToDate = rows.length < query.limit;
    const leftMs = signal?.aborted === true ? 0 : waitUntil - performance.now();
    if (rows.length > 0 || leftMs <= 0) {
      const items = await changesOf(reader, of, rows);
      const position = newest === null ? null : positionText(fingerprint(of), newest);
      return {
        items,
        position: isUpToDate ? position : (items.at(-1)?.position ?? position),
        isUpToDate,
      };
    }
    await sleepUnless(signal, Math.min(lookEveryMs, leftMs));
  }
}

type Row = Place &
  Pick<Change, 'change' | 'id' | 'observedAt' | 'writtenAt' | 'rawSha256'> & { resource: string };

/**
 * What lies after a place, where the feed ends for now, and whether the place is one of its own: in one statement, so
 * that the end is that of what was read.
 */
async function look(
  reader: Reader,
  query: { project: ProjectId; resource?: Resource | undefined; limit: number },
  after: Place | null,
): Promise<{ newest: Place | null; isKnown: boolean; rows: Row[] }> {
  const { rows } = await reader.query<
    Row & { newestId: string; newestHead: string; isKnown: boolean }
  >(
    `select chain.no::text as "newestId", encode(substring(chain.head for 8), 'hex') as "newestHead",
            exists (select from sync.journal k
                     where k.project_id = $1 and k.no = $2::bigint and encode(substring(k.head for 8), 'hex') = $4) as "isKnown",
            told.*
       from sync.chains chain
       left join lateral (
              select j.no::text as "entryId", encode(substring(j.head for 8), 'hex') as head, c.n, j.resource, c.change, c.id,
                     c.observed_at as "observedAt", j.entered_at as "writtenAt", encode(c.raw_sha256, 'hex') as "rawSha256"
                from sync.journal j
               cross join lateral sync.changes_of(j.kind, j.body, j.ids, j.shas) c
               where j.project_id = $1 and j.no >= $2::bigint and (j.no > $2::bigint or c.n > $3::int)
                 and ($5::text is null or split_part(j.resource, '.', 1) = $5)
               order by j.no, c.n
               limit $6) told on true
      where chain.project_id = $1
      order by chain.no, told."entryId"::bigint, told.n`,
    [
      query.project,
      after?.entryId ?? '0',
      after?.n ?? 0,
      after?.head ?? null,
      query.resource ?? null,
      query.limit,
    ],
  );
  const [first] = rows;
  if (first === undefined) return { newest: null, isKnown: false, rows: [] };
  const newest = { entryId: first.newestId, n: allOfThem, head: first.newestHead };
  // Where nothing lies behind the place there is one row, of the chain alone.
  return { newest, isKnown: first.isKnown, rows: first.change === null ? [] : rows };
}

async function changesOf(reader: Reader, of: ProjectId, rows: Row[]): Promise<Change[]> {
  const contents = await contentsOf(reader, of, rows);
  const ofQuery = fingerprint(of);
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

const positionText = (ofQuery: string, { entryId, n, head }: Place): string =>
  cursorText(ofQuery, 'after', [entryId, String(n), head]);

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
    const [entryId, n, head] = parts;
    const isPlace = parts.length === 3 && parts.every((text) => typeof text === 'string');
    const isNumbered = [entryId, n].every((text) => /^\d{1,18}$/.test(String(text)));
    if (!isPlace || !isNumbered || Number(n) > allOfThem || !/^[0-9a-f]{16}$/.test(String(head)))
      return null;
    return { entryId: String(entryId), n: Number(n), head: String(head) };
  }).key;

/** A replica may hold it later; anything else will never hold it. */
async function unknownPosition(
  reader: Reader,
  at: Place,
  newest: Place | null,
): Promise<OutlastError> {
  const { rows } = await reader.query<{ standby: boolean }>(
    'select pg_is_in_recovery() as standby',
  );
  const isAhead = newest === null || BigInt(at.entryId) > BigInt(newest.entryId);
  if (rows[0]?.standby === true && isAhead) {
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
