// The library's methods for records (list, stream, count, get, history), the same for all four resources. Arguments are
// checked, cursors are read and written; the SQL is record-sql.ts and, as of an instant, as-of.ts.
import * as z from 'zod';
import type { Resource } from '../model.ts';
import type { Column } from '../resources.ts';
import { asOf, days, id, offset, order, paging, parseArguments, project } from './arguments.ts';
import { contentsAt, countAsOf, historyOf, recordsAsOf, type FoundRecords } from './as-of.ts';
import { optional } from './check-arguments.ts';
import { cursorText, fingerprintOf, readCursorText, type Side } from './cursor.ts';
import type { Reader } from './reader.ts';
import { recordFilters } from './record-filters.ts';
import {
  countNow,
  hasDays,
  recordsNow,
  sources,
  type RecordQuery,
  type Position,
  type RecordSource,
} from './record-sql.ts';
import { columnOf } from './selected-columns.ts';
import type {
  CertificateFile,
  ListPage,
  NftClass,
  NftClassFilters,
  Order,
  OrderFilters,
  Records,
  Token,
  Tokens,
  Transaction,
  Transactions,
  Version,
} from './types.ts';

/** The edge of the whole list: after it is the first page, before it the last one. */
type Edge = 'edge';

export const writeCursor = (
  { goesBy }: RecordSource,
  fingerprint: string,
  side: Side,
  at: Position | Edge,
): string =>
  cursorText(fingerprint, side, at === 'edge' ? [] : goesBy.map((name) => at[name] ?? null));

/**
 * Where a page lies; a null position is the edge. Throws settings `cursor_invalid` for anything but a cursor of this
 * very query.
 */
export function readCursor(
  { goesBy, fields }: RecordSource,
  cursor: string,
  fingerprint: string,
): { side: Side; position: Position | null } {
  const columns = goesBy.map((name) => columnOf(fields, name) as Column);
  const { side, key } = readCursorText(cursor, fingerprint, columns, true);
  const position = Object.fromEntries(goesBy.map((name, i) => [name, key[i] ?? null]));
  return { side, position: key.length === 0 ? null : position };
}

/** Rows a stream reads at a time: few enough to hold, enough to make the statement's cost small. */
const streamedAtOnce = 1000;

const opposite = (direction: RecordQuery['order']): 'asc' | 'desc' =>
  direction === 'desc' ? 'asc' : 'desc';

/** What is asked of a list, page by page and whole. */
function argumentsOf(source: RecordSource) {
  const isOfDays = hasDays(source);
  const scope = {
    project,
    ...(isOfDays ? { ...optional(days), order: order.default('asc') } : {}),
    asOf: asOf.optional(),
    ...optional(recordFilters[source.resource]),
  };
  return {
    list: z.strictObject({
      ...scope,
      ...paging,
      ...(isOfDays ? { offset: offset.optional() } : {}),
    }),
    stream: z.strictObject(scope),
  };
}

/**
 * Whether records are looked through for those that match, however few do. Results have no index but their key's: along
 * it a page of which little matches would read all there are (400,000 of them: 1.9 s).
 */
const isSearched = (source: RecordSource, asked: RecordQuery): boolean =>
  !hasDays(source) &&
  Object.keys(recordFilters[source.resource]).some((name) => asked[name] !== undefined);

/** As of this instant everything is what it is now. */
const endOfTime = '9999-12-31T23:59:59.999999Z';

const recordArguments = z.strictObject({ project, id });
const contentArguments = z.strictObject({ project, id, asOf: asOf.optional() });

type Paged = RecordQuery & { limit: number; cursor?: string; offset?: number };

/** `name`: in sentences, `orders` in `orders.list`. */
function createReads<Item extends object>(reader: Reader, name: string, resource: Resource) {
  const source = { ...sources[resource], reader };
  const schemas = argumentsOf(source);
  const check = (call: string, schema: z.ZodType<object>, given: unknown): RecordQuery =>
    parseArguments(`${name}.${call}`, schema, given) as RecordQuery;

  /** Up to `wanted` records after a position; `reached`: where the reading stopped, null at the end. */
  async function read(
    asked: RecordQuery,
    after: Position | null,
    wanted: number,
    from = 0,
  ): Promise<FoundRecords<Item>> {
    const at = asked.asOf ?? (isSearched(source, asked) ? endOfTime : undefined);
    if (at !== undefined) {
      return recordsAsOf(source, { ...asked, asOf: at }, { after, wanted });
    }
    const range = { after, atMost: wanted, offset: from };
    const items = await recordsNow<Item>(source, asked, range);
    const found = items.map((item) => ({ item, key: item as unknown as Position }));
    return { found, reached: items.length < wanted ? null : (found.at(-1)?.key ?? null) };
  }

  /** A page lies on one side of a position. One more than asked for tells whether there is another beyond it. */
  async function list(given: unknown): Promise<ListPage<Item>> {
    const query = check('list', schemas.list, given) as Paged;
    const { limit, cursor, offset: skipped = 0, ...asked } = query;
    const fingerprint = fingerprintOf(resource, asked);
    const from = cursor === undefined ? null : readCursor(source, cursor, fingerprint);
    const isBack = from?.side === 'before';
    const direction = isBack ? { order: opposite(asked.order) } : {};
    const { found, reached } = await read(
      { ...asked, ...direction },
      from?.position ?? null,
      limit + 1,
      skipped,
    );
    const shown = found.slice(0, limit);
    // There may be more beyond where the reading stopped, also where it found nothing: how far it reads is bounded.
    const beyond = found.length > limit ? (shown.at(-1)?.key ?? null) : reached;
    // Where nothing was found up to the edge, the other side begins there.
    const start = from === null && skipped === 0 ? null : (shown[0]?.key ?? reached ?? 'edge');
    const cursorTo = (side: Side, at: Position | Edge | null): string | null =>
      at === null ? null : writeCursor(source, fingerprint, side, at);
    const items = shown.map(({ item }) => item);
    return isBack
      ? {
          items: items.toReversed(),
          next: cursorTo('after', start),
          previous: cursorTo('before', beyond),
        }
      : { items, next: cursorTo('after', beyond), previous: cursorTo('before', start) };
  }

  /** Ends: every look begins after the last row of the one before, and rows of days first seen later are left out. */
  async function* streamOf(asked: RecordQuery): AsyncGenerator<Item> {
    const seenBy = hasDays(source)
      ? { seenBy: await horizon(reader, asked.project, resource) }
      : {};
    let after: Position | null = null;
    do {
      const query = { ...asked, ...seenBy };
      const { found, reached }: FoundRecords<Item> = await read(query, after, streamedAtOnce);
      for (const { item } of found) yield item;
      after = reached;
    } while (after !== null);
  }

  return {
    list,
    count: (given: unknown): Promise<number> => {
      const asked = check('count', schemas.stream, given);
      const { asOf: at } = asked;
      return at === undefined ? countNow(source, asked) : countAsOf(source, { ...asked, asOf: at });
    },
    // Checked at the call, not at the first step: that is where the mistake stands.
    stream: (given: unknown): AsyncGenerator<Item> =>
      streamOf(check('stream', schemas.stream, given)),
    /** The whole list, and what was asked for. */
    all: async (given: unknown): Promise<{ items: Item[]; asked: RecordQuery }> => {
      const asked = check('list', schemas.stream, given);
      const items: Item[] = [];
      for await (const item of streamOf(asked)) items.push(item);
      return { items, asked };
    },
    /** Of an operation there may be two. */
    get: async (of: string, recordId: string, at: { asOf?: string } = {}): Promise<Item[]> => {
      const key = parseArguments(`${name}.get`, contentArguments, {
        project: of,
        id: recordId,
        ...at,
      });
      const asked = { project: key.project, [source.key[0]]: key.id };
      if (key.asOf !== undefined) {
        return contentsAt<Item>(source, { ...asked, asOf: key.asOf }, [key.id]);
      }
      const range = { after: null, atMost: source.shapes.length };
      return recordsNow<Item>(source, asked, range);
    },
    history: async (of: string, recordId: string): Promise<Version<Item>[]> => {
      const key = parseArguments(`${name}.history`, recordArguments, { project: of, id: recordId });
      return historyOf<Item>(source, key.project, key.id);
    },
  };
}

/**
 * The instant a stream is of: nothing held by now is first seen later. Our own clock alone would not do, for
 * `first_seen_at` is the platform's, which may be ahead; the newest page held is the platform's word for now.
 */
async function horizon(reader: Reader, of: string, resource: Resource): Promise<string> {
  const { rows } = await reader.query<{ horizon: string }>(
    `select greatest(clock_timestamp(), max(newest_page_at)) as horizon
       from analytics.coverage where project_id = $1 and resource = $2`,
    [of, resource],
  );
  return rows[0]?.horizon ?? 'infinity';
}

function createRecords<Item extends object, Filters>(
  reader: Reader,
  name: string,
  resource: Resource,
): Records<Item, Filters> {
  const { all: _, get, ...reads } = createReads<Item>(reader, name, resource);
  return { ...reads, get: async (...of) => (await get(...of))[0] ?? null };
}

export const createOrders = (reader: Reader): Records<Order, OrderFilters> =>
  createRecords(reader, 'orders', 'orders');

export const createNftClasses = (reader: Reader): Records<NftClass, NftClassFilters> =>
  createRecords(reader, 'nftClasses', 'nft_classes');

export function createTransactions(reader: Reader): Transactions {
  const name = 'transactions';
  const { all: _, list, ...reads } = createReads<Transaction>(reader, name, name);
  return {
    ...reads,
    list: async (given) => {
      const { items, next } = await list(given);
      return { items, next };
    },
    certificateFile: async (of, operationId) => {
      const given = { project: of, id: operationId };
      const key = parseArguments('transactions.certificateFile', recordArguments, given);
      const { rows } = await reader.query<CertificateFile>(
        `select url, bytes, encode(sha256, 'hex') as sha256, media_type as "mediaType", fetched_at as "fetchedAt"
           from archive.certificate_files where project_id = $1 and operation_id = $2`,
        [key.project, key.id],
      );
      return rows[0] ?? null;
    },
  };
}

/** There are few of them: a list is given whole. */
export function createTokens(reader: Reader): Tokens {
  const { history, all, get } = createReads<Token>(reader, 'tokens', 'tokens');
  return {
    history,
    get: async (...of) => (await get(...of))[0] ?? null,
    list: async (given) => {
      const { items, asked } = await all(given);
      const { rows } = await reader.query<{ takenAt: string; height: string | null }>(
        `select taken_at as "takenAt", height::text from analytics.token_snapshots
          where project_id = $1 and taken_at <= coalesce($2::timestamptz, 'infinity')`,
        [asked.project, asked.asOf ?? null],
      );
      const { takenAt = null, height = null } = rows[0] ?? {};
      return { items, takenAt, height };
    },
  };
}
