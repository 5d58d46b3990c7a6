// What the query module takes and gives: the types a user of the library meets. Plain data in camelCase; numbers
// that JavaScript could round are decimal text, times RFC 3339 text in UTC with up to microseconds, days `yyyy-MM-dd`.
// What a record consists of stands in resources.ts.
import type { Lists, Page, PagedForward, RejectWithBytes } from '../catalogue.ts';
import type { ApiVersion, Day, ProjectId, Resource } from '../model.ts';
import type { nftClass, order, RecordOf, token, transaction } from '../resources.ts';
import type {
  change,
  DayQuery,
  DayReport,
  inForce,
  Progress,
  Recent,
  RecentQuery,
  Summary,
} from './reports.ts';
import type { Statistics } from './statistics-types.ts';

export type ArchiveOptions = {
  /**
   * `postgres://user:password@host:5432/database`. The user needs no more than membership in `outlast_reader`. A
   * function gives it anew for each connection: its password may have been rotated.
   */
  connectionString: string | (() => string);
  /** Connections at most; 4 by default. */
  max?: number;
  /** A statement that runs longer ends with transient `query_timed_out`, milliseconds; 30,000 by default. */
  statementTimeoutMs?: number;
  /** Told when an idle connection breaks; pino and console fit. */
  log?: { warn(fields: object, sentence: string): void };
};

/** What every list can be narrowed by. */
export type ListScope = {
  project: ProjectId;
  /** UTC days of `sliceDay`, both included; a bound left out is open. */
  from?: Day;
  to?: Day;
  /**
   * By (day, time of creation, id bytes), unreadable times last in their day; `desc` is the exact reverse.
   * `asc` by default.
   */
  order?: 'asc' | 'desc';
  /**
   * Gives what was known at an instant, RFC 3339 with any offset and up to six decimals: of each record the content
   * then in force. A record of which nothing had been observed yet is not there. Filters look at the content of then;
   * days and order are those a record has now. `missingSince` is given where it was so already; `firstSeenAt` and
   * `changedAt` are the record's own. An instant in the future is now. The answer is stable once the runs of that
   * moment are over: their last pages may be committed a little later.
   */
  asOf?: string;
};

/** How a list is cut into pages. */
export type Paging = {
  /** Records a page, 1 to 10,000; 100 by default. It may change from page to page. */
  limit?: number;
  /** The `next` or the `previous` of a page of the same query. Opaque: its form may change with a release. */
  cursor?: string;
  /**
   * Records to leave out from the beginning, instead of a cursor. Every one of them is read all the same, and what is
   * added ahead moves the pages: cursors are exact and quick at any depth.
   */
  offset?: number;
};

export type OrderStatus = 1 | 2 | 3;

export type OrderFilters = {
  /**
   * 1 pending, 2 succeeded, 3 failed (docs/platform.md §3.1); several mean any of them. Orders of another status have
   * no filter.
   */
  status?: OrderStatus | readonly OrderStatus[];
  account?: string;
};

export type NftClassFilters = {
  id?: string;
  owner?: string;
  /** Part of the name, whatever its case. */
  name?: string;
  txHash?: string;
};

/** The same for a list that is read both ways: `previous` is null on the first page. */
export type ListPage<Item> = Page<Item> & { previous: string | null };

/**
 * One content of a record, and when it was what was known of the record. The item reads as a record does today;
 * `observedAt` and what hangs on `raw` are this content's, the rest of the bookkeeping the record's.
 */
export type Version<Item> = { item: Item } & RecordOf<typeof inForce>;

/** A content of a record, and when it was in force: fields of their own before those of the record. */
export type Flat<Item> = Item & Omit<Version<Item>, 'item'>;

export type Order = RecordOf<typeof order>;
export type NftClass = RecordOf<typeof nftClass>;
export type Transaction = RecordOf<typeof transaction>;
export type Token = RecordOf<typeof token>;

/**
 * One archived list. Every method throws settings `argument_invalid` or `cursor_invalid` for what it cannot take,
 * transient `query_timed_out`, or transient `database_unreachable`.
 */
export type Records<Item, Filters> = {
  /**
   * One page. Following `next` gives every record held throughout exactly once, whatever is written meanwhile; records
   * added ahead of the cursor are given too.
   */
  list(query: ListScope & Filters & Paging): Promise<ListPage<Item>>;
  /** How many records the query matches. Exact: every one is counted. */
  count(query: ListScope & Filters): Promise<number>;
  /**
   * Every record held when the stream began, exactly once, each as it stands when its page is read. Records first
   * seen later are left out, so that it ends. Memory stays constant and no transaction is open between pages.
   */
  stream(query: ListScope & Filters): AsyncIterable<Item>;
  /** Null where the archive holds no such record, or held none at `asOf`. */
  get(project: ProjectId, id: string, at?: { asOf?: string }): Promise<Item | null>;
  /** Everything the record was ever seen to say, oldest first; empty where the archive holds no such record. */
  history(project: ProjectId, id: string): Promise<Version<Item>[]>;
};

/** The file behind a certificate link, kept where OUTLAST_KEEP_CERTIFICATES said so. */
export type CertificateFile = {
  url: string;
  bytes: Uint8Array;
  /** Lower-case hex. */
  sha256: string;
  mediaType: string | null;
  fetchedAt: string;
};

export type TransactionQuery = {
  project: ProjectId;
  /** 0 and 3 go on, 1 succeeded, 2 failed; any other whole number that came; several mean any of them. */
  status?: number | readonly number[];
  /** As the lookup gave it: v3 gives numbers. */
  module?: string;
  /** As for lists: what was known at an instant. */
  asOf?: string;
};

/** Throws what `Records` throws. Lists go by operation id, in the order of its bytes, and lookup. */
export type Transactions = {
  list(query: TransactionQuery & PagedForward): Promise<Page<Transaction>>;
  count(query: TransactionQuery): Promise<number>;
  /** Every result held when the stream began, exactly once; those that come meanwhile may be given too. */
  stream(query: TransactionQuery): AsyncIterable<Transaction>;
  /** What the lookups gave: none, one, or both, v1beta1 first. */
  get(project: ProjectId, operationId: string, at?: { asOf?: string }): Promise<Transaction[]>;
  /** Everything the lookups were ever seen to say, v1beta1 first, each oldest first. */
  history(project: ProjectId, operationId: string): Promise<Version<Transaction>[]>;
  /** Null where none is kept. */
  certificateFile(project: ProjectId, operationId: string): Promise<CertificateFile | null>;
};

export type TokenList = {
  /** By symbol, tokens that the node no longer lists included (`missingSince`). */
  items: Token[];
  /**
   * When the newest look was taken and at which height; null before the first, and as of an instant before the newest.
   */
  takenAt: string | null;
  height: string | null;
};

export type Tokens = {
  list(query: { project: ProjectId; owner?: string; asOf?: string }): Promise<TokenList>;
  /** Null where the archive holds no such token, or held none at `asOf`. */
  get(project: ProjectId, symbol: string, at?: { asOf?: string }): Promise<Token | null>;
  /** Everything the token was ever seen to say, oldest first. */
  history(project: ProjectId, symbol: string): Promise<Version<Token>[]>;
};

type ChangeOf<Of extends Resource, Item> = Omit<
  RecordOf<typeof change>,
  'resource' | 'apiVersion'
> & {
  resource: Of;
  /** Of which lookup a transaction result is; null for the others. */
  apiVersion: Of extends 'transactions' ? ApiVersion : null;
  /** What the content says, whatever came later; null for `missing` and `found`. */
  record: Item | null;
};

/** What became of a record, told once. */
export type Change =
  | ChangeOf<'orders', Order>
  | ChangeOf<'nft_classes', NftClass>
  | ChangeOf<'transactions', Transaction>
  | ChangeOf<'tokens', Token>;

export type ChangesQuery = {
  project: ProjectId;
  /** All of them by default. */
  resource?: Resource;
  /** The position up to which all was read; from the beginning by default. */
  after?: string;
};

/** Some changes as lines of JSON in UTF-8, as HTTP gives them; `position` covers them. */
export type ChangeLines = { text: Buffer; position: string };

export type ChangesPage = {
  items: Change[];
  /** Keep it once the items are taken: `after` of the next question. Null while nothing was ever archived. */
  position: string | null;
  /** False: there is more to read now. */
  isUpToDate: boolean;
};

/**
 * Every new, changed and missing record once, in an order that never skips one, whatever was committed late. Throws
 * what `Records` throws, settings `position_unknown` where the archive was restored to a state before the position, and
 * transient `position_ahead` where a replica has not come so far.
 */
export type Changes = {
  /**
   * One page: at most `limit` changes, 100 by default. Where there is none it waits for one up to `waitMs`
   * milliseconds, at most 60,000, or until the signal is aborted; 0 by default.
   */
  list(
    query: ChangesQuery & { limit?: number; waitMs?: number; signal?: AbortSignal },
  ): Promise<ChangesPage>;
  /** What there is and what comes, until the signal is aborted. */
  follow(query: ChangesQuery & { signal?: AbortSignal }): AsyncIterable<Change>;
  /**
   * The same for whoever only hands them on, in a quarter of the time: Postgres writes the records. With `once` it ends
   * where there is nothing more to read now. Some may hold no line: the first, and where entries told of nothing.
   */
  lines(query: ChangesQuery & { once?: boolean; signal?: AbortSignal }): AsyncIterable<ChangeLines>;
  /** Where it ends for now: to follow only what is to come. Null while nothing was ever archived. */
  newest(query: { project: ProjectId }): Promise<string | null>;
};

/** An open archive. It never writes. What is listed by the catalogue (catalogue.ts), and what is read by hand. */
export type Archive = Lists & {
  orders: Records<Order, OrderFilters>;
  nftClasses: Records<NftClass, NftClassFilters>;
  transactions: Transactions;
  tokens: Tokens;
  /** What changed since: docs/follow.md. */
  changes: Changes;
  /** Every project that was ever archived here, by name. */
  projects(): Promise<ProjectId[]>;
  /** All that is known of one day. Null where the ledger knows no such day of such a list. */
  day(query: DayQuery): Promise<DayReport | null>;
  /** Cheap enough to be asked for every two seconds. Null before a run could enter the project. */
  progress(query: { project: ProjectId }): Promise<Progress | null>;
  /** The newest records of the newest days. */
  recent(query: RecentQuery): Promise<Recent[]>;
  /** Of every project, or of one. Counts are exact. */
  summary(query?: { project?: ProjectId }): Promise<Summary[]>;
  statistics: Statistics;
  /** Null where there is none. */
  reject(project: ProjectId, resource: Resource, sha256: string): Promise<RejectWithBytes | null>;
  /**
   * Resolves while the archive can be read. Throws transient `database_unreachable`, settings `schema_newer`,
   * `schema_older` or `schema_missing`, and fatal `schema_other`, where the schema is another release's by now.
   */
  ready(): Promise<void>;
  /** Ends the connections; calling it again does nothing. */
  close(): Promise<void>;
};
