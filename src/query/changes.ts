// What changed, in an order that never skips one: the journal's entries by their numbers, in which they were committed
// (docs/follow.md).
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import { settingsError, transient, type OutlastError } from '../errors.ts';
import { questions, text } from '../catalogue.ts';
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
import { columnsNow, jsonNow } from './selected-columns.ts';
import { cursorText, fingerprintOf, readCursorText } from './cursor.ts';
import type { Reader } from './reader.ts';
import type { Change, ChangeLines, Changes, ChangesPage } from './types.ts';

/** How long a page may wait for a change, milliseconds. */
export const longestWaitMs = 60_000;
/** A look reads one row of an index. */
const lookEveryMs = 500;
const followedAtOnce = 1000;
/** For lines: each look reads an entry anew, and one holds up to some two thousand changes. */
const toldAtOnce = 2000;

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
const linesArguments = followArguments.extend({ once: z.boolean().default(false) });
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
    const { upTo } = await look(reader, { project: of, limit: 0 }, null);
    return upTo === null ? null : positionText(fingerprint(of), upTo);
  },
  follow: (given) =>
    // Checked at the call, not at the first step: that is where the mistake stands.
    follow(reader, parseArguments('changes.follow', followArguments, given)),
  lines: (given) => linesOf(reader, parseArguments('changes.lines', linesArguments, given)),
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
    const { rows, isUpToDate, upTo } = await look(reader, query, from);
    // What told of no record is not looked at again.
    from = upTo;
    const leftMs = signal?.aborted === true ? 0 : waitUntil - performance.now();
    if (rows.length > 0 || leftMs <= 0) {
      const items = await changesOf(reader, of, rows);
      const position = upTo === null ? null : positionText(fingerprint(of), upTo);
      return { items, position, isUpToDate };
    }
    await sleepUnless(signal, Math.min(lookEveryMs, leftMs));
  }
}

type Row = Place &
  Pick<Change, 'change' | 'id' | 'observedAt' | 'writtenAt' | 'rawSha256'> & { resource: string };

/**
 * What lies after a place, and up to where all is read then: where nothing is left, up to where the feed ends for now.
 * One statement, so that the end is that of what was read. Throws what `unknownPosition` gives where the place is none of
 * its own.
 */
async function look(
  reader: Reader,
  query: { project: ProjectId; resource?: Resource | undefined; limit: number },
  after: Place | null,
): Promise<{ rows: Row[]; isUpToDate: boolean; upTo: Place | null }> {
  const { rows: all } = await reader.query<
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
               where j.project_id = $1 and j.no >= $2::bigint and (j.no > $2::bigint or c.n > $3::bigint)
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
  const [first] = all;
  const newest =
    first === undefined ? null : { entryId: first.newestId, n: allOfThem, head: first.newestHead };
  if (after !== null && first?.isKnown !== true) throw await unknownPosition(reader, after, newest);
  // Where nothing lies behind the place there is one row, of the chain alone.
  const rows = first === undefined || first.change === null ? [] : all;
  const isUpToDate = rows.length < query.limit;
  return { rows, isUpToDate, upTo: isUpToDate ? newest : (rows.at(-1) ?? newest) };
}

async function changesOf(reader: Reader, of: ProjectId, rows: Row[]): Promise<Change[]> {
  const contents = await contentsOf(reader, of, rows, columnsNow);
  const ofQuery = fingerprint(of);
  return rows.map((row) => {
    const { observedAt } = row;
    const record = contents.get(contentKey(row));
    return {
      ...aboutOf(row, ofQuery),
      // As this change left it, not as later ones did.
      record: record === undefined ? null : { ...record, observedAt, missingSince: null },
    } as Change;
  });
}

/** All of a change but its record. */
function aboutOf(row: Row, ofQuery: string) {
  const { entryId, id, change, observedAt, writtenAt, rawSha256 } = row;
  const [resource, apiVersion = null] = row.resource.split('.');
  const position = positionText(ofQuery, row);
  return { position, entryId, resource, apiVersion, id, change, observedAt, writtenAt, rawSha256 };
}

/** Lines made at a time: what was made of Postgres' answer is soon garbage, which costs as much as is in use. */
const linesAtOnce = 500;

/**
 * P9: as `follow`, or with `once` where there is nothing more to read. Postgres works on what comes next while these
 * lines are made and written.
 */
async function* linesOf(
  reader: Reader,
  { signal, once, ...query }: z.output<typeof linesArguments>,
): AsyncGenerator<ChangeLines> {
  const of = query.project;
  const ofQuery = fingerprint(of);
  const lookFrom = (from: Place | null) =>
    ahead(look(reader, { ...query, limit: toldAtOnce }, from));
  let told = query.after;
  let next = lookFrom(told === undefined ? null : placeOf(of, told));
  const isOver = (): boolean => signal?.aborted === true;
  for (;;) {
    if (isOver()) return;
    const { rows, isUpToDate, upTo } = await next;
    if (!isUpToDate) next = lookFrom(upTo);
    const pieces = Array.from({ length: Math.ceil(rows.length / linesAtOnce) }, (_, n) =>
      rows.slice(n * linesAtOnce, (n + 1) * linesAtOnce),
    );
    const contents = (piece: Row[] = []) => ahead(contentsOf<Halves>(reader, of, piece, halvesNow));
    let [now, then] = [contents(pieces[0]), contents(pieces[1])];
    for (const [n, piece] of pieces.entries()) {
      const found = await now;
      [now, then] = [then, contents(pieces[n + 2])];
      told = positionText(ofQuery, piece.at(-1) as Row);
      const lines = piece.map((row) =>
        Buffer.from(lineOf(row, found.get(contentKey(row)), ofQuery)),
      );
      yield { text: Buffer.concat(lines), position: told };
    }
    const position = upTo === null ? told : positionText(ofQuery, upTo);
    if (position !== undefined && position !== told) {
      told = position;
      yield { text: Buffer.alloc(0), position };
    }
    if (!isUpToDate) continue;
    if (once) return;
    await sleepUnless(signal, lookEveryMs);
    if (!isOver()) next = lookFrom(upTo);
  }
}

/** What is asked for ahead of its turn: should something else fail first, that is what is told. */
function ahead<T>(asked: Promise<T>): Promise<T> {
  asked.catch(() => undefined);
  return asked;
}

/** As `jsonText` writes a change: by hand, for it is most of what a line costs here. */
function lineOf(row: Row, record: Halves | undefined, ofQuery: string): string {
  const { position, entryId, resource, apiVersion, id, change, observedAt, writtenAt, rawSha256 } =
    aboutOf(row, ofQuery);
  const observed = JSON.stringify(observedAt);
  const said =
    record === undefined
      ? null
      : `${record.before.slice(0, -1)},"observed_at":${observed},${record.after.slice(1)}`;
  return (
    `{"position":"${position}","entry_id":"${entryId}","resource":"${resource}",` +
    `"api_version":${JSON.stringify(apiVersion)},"id":${JSON.stringify(id)},"change":"${change}",` +
    `"observed_at":${observed},"written_at":"${writtenAt}","raw_sha256":${JSON.stringify(rawSha256)},"record":${said}}\n`
  );
}

/** A record as JSON text up to when it was observed, and from there on: a content may be observed more than once. */
type Halves = { before: string; after: string };

function halvesNow(fields: Fields): string {
  const all = Object.entries(fields);
  const observed = all.findIndex(([name]) => name === 'observedAt');
  const before = jsonNow(Object.fromEntries(all.slice(0, observed)));
  const after = jsonNow(Object.fromEntries(all.slice(observed + 1)), { missingSince: 'null' });
  return `encode(raw_sha256, 'hex') as "rawSha256", ${before}::text as before, ${after}::text as after`;
}

const contentKey = ({
  resource,
  rawSha256,
  id,
}: Pick<Row, 'resource' | 'rawSha256' | 'id'>): string => `${resource} ${rawSha256} ${id}`;

type Content = { contentOf: string; rawSha256: string };

/** What the contents say: nearly all are in force still, the others are versions by now. Nothing is ever deleted. */
async function contentsOf<Found = object>(
  reader: Reader,
  of: ProjectId,
  rows: Row[],
  selected: (fields: Fields) => string,
): Promise<Map<string, Found>> {
  const found = new Map<string, Found>();
  for (const archived of resources.flatMap((resource) => archivedOf(of, resource))) {
    const resource = archivedName(archived);
    const wanted = rows.filter((row) => row.resource === resource && row.rawSha256 !== null);
    if (wanted.length === 0) continue;
    const shape = shapeOf(archived);
    const fields = fieldsOf[archived.resource];
    const columns = `${shape.key} as "contentOf", ${selected(fields)}`;
    const take = ({ contentOf: id, ...content }: Content): void => {
      found.set(contentKey({ resource, rawSha256: content.rawSha256, id }), content as Found);
    };
    const now = await reader.query<Content>(
      `select ${columns} from ${shape.table} o where ${ofKey(shape, 'o')} and ${shape.key} = any ($2::text[])`,
      [of, [...new Set(wanted.map(({ id }) => id))]],
    );
    now.rows.forEach(take);
    const earlier = wanted.filter((row) => !found.has(contentKey(row)));
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
    const { entryId, n } = questions.changedRecords.fields;
    const { key } = readCursorText(position, fingerprint(of), [entryId, n, text()]);
    return { entryId: String(key[0]), n: Number(key[1]), head: String(key[2]) };
  } catch {
    throw invalidArgument(
      'changes: after is no position of this project’s changes: it is damaged, or of another release. Read from the beginning again, into an empty place',
    );
  }
}

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
