// The nouns. Types that more than one folder speaks of, and nothing that acts:
// no clock, no network, no database. Words are those of docs/design.md.

/** A project's name here: `^[a-z0-9_-]{1,40}$`. Everything archived belongs to one. */
export type ProjectId = string;

/** What can be archived; the same names in tables, options, logs and answers. */
export type Resource = 'orders' | 'nft_classes' | 'transactions' | 'tokens';

/** The resources the platform lists by day: the ones that are walked. */
export type ListedResource = 'orders' | 'nft_classes';

export const listedResources: readonly ListedResource[] = ['orders', 'nft_classes'];

/** All of them, in the order of every report. */
export const resources: readonly Resource[] = [...listedResources, 'transactions', 'tokens'];

export const isListed = (resource: Resource): resource is ListedResource =>
  resource === 'orders' || resource === 'nft_classes';

/** Which of the two lookups gave a transaction result (docs/platform.md §4.5, §4.6); their shapes differ. */
export type ApiVersion = 'v1beta1' | 'v3';

export const apiVersions: readonly ApiVersion[] = ['v1beta1', 'v3'];

/** A UTC calendar day, `yyyy-MM-dd`. Compares as text. */
export type Day = string;

/** Days `[from, to)`: half-open inside; whoever asks includes the last one (query/arguments.ts), as the platform does. */
export type DayRange = { from: Day; to: Day };

/**
 * Whose clocks are apart, and by how many milliseconds: this machine's is behind the platform's by so much, or answers
 * of the platform's differ by so much.
 */
export type ClockDisagreement = { of: 'machine' | 'answers'; byMs: number };

/** An instant on the platform's clock, milliseconds since 1970 (see `PlatformClock`). */
export type Instant = number;

/** What names a slice: the unit of planning, resuming and proof. `owner` is '' for the whole list. */
export type SliceKey = {
  projectId: ProjectId;
  resource: ListedResource;
  owner: string;
  day: Day;
};

/**
 * The day of an owner's whole list: walked like a day, without dates. It is no day of the calendar and has no cliff.
 */
export const wholeList: Day = '0001-01-01';

/** Pending, succeeded, failed. */
export const orderStatuses = [1, 2, 3] as const;
export type OrderStatus = (typeof orderStatuses)[number];

export const sliceStates = ['open', 'walked', 'sealed', 'final', 'lost'] as const;
export type SliceState = (typeof sliceStates)[number];

/** Of an operation that is watched: asked for on, with final results, or overtaken by its deadline. */
export const watchedStates = ['open', 'done', 'lost'] as const;
export type WatchedState = (typeof watchedStates)[number];

/** An operation to watch. `createdOn` is the UTC day its caller began it, `apiVersion` the one lookup to ask. */
export type NewOperation = { operationId: string; apiVersion?: ApiVersion; createdOn?: Day };

/**
 * How many operations were given, and how many of them were not watched before; `changed`: were, and took another day
 * or lookup, or were lost and are asked for again.
 */
export type Watched = { given: number; added: number; changed: number };

/** How a day is proved: by two readings, and whether the platform's counts are what they showed (`books`). */
export const proofs = ['none', 'readings', 'books'] as const;
export type Proof = (typeof proofs)[number];

/** The end of a list at which a reading begins: the oldest record or the newest. */
export type End = 'asc' | 'desc';

/** A status as the platform's filter takes it: by number, or by word. */
export type AskedStatus = OrderStatus | 'pending' | 'success' | 'failed';

/** What the clocks showed at a moment. */
export type Clocks = {
  machine: Instant;
  /** The best estimate: the machine's clock, corrected by what the platform's answers said of theirs. */
  now: Instant;
  /** The most cautious one for what cannot be taken back; -Infinity without an answer of the last ten minutes. */
  earliest: Instant;
  /** The one farthest ahead: the month may be going already. */
  latest: Instant;
};

/** One walk of one past day from its first page to its last: evidence, appended by the commit that ended it. */
export type Reading = {
  /** The number of that commit. Before and after go by it, not by clocks. */
  no: number;
  /** Where it was seen to begin; where the times of its rows are equal, where it was asked to. */
  end: End;
  began: Omit<Clocks, 'latest'>;
  ended: Omit<Clocks, 'earliest'>;
  /** How many records and rejects it showed, each counted once. */
  shown: number;
  /** How many records that are held under this day it did not show, without those missing for a day already. */
  lacks: number;
  /** By how much a total of the platform exceeded what it showed. */
  claims: number;
  /** How many orders were pending when it ended. */
  pending: number;
};

/** What the newest books that cover a day say: the platform's counts beside what readings showed. */
export type DayBooks = {
  /** The number of the commit that wrote them. */
  no: number;
  /** They count more than was shown, in all or in a status. */
  isMore: boolean;
  /** They count as many as were shown. */
  isEqual: boolean;
  /** They are of this day alone. */
  isDay: boolean;
};

/** What the platform counts of a span of days, beside what its lists showed. */
export type BalanceCounts = {
  /** Null where it gives no total. */
  total: number | null;
  /** Of them, orders by status; null of classes, and where the status is of no use. */
  pending: number | null;
  succeeded: number | null;
  failed: number | null;
  /** Distinct records that the newest readings of these days showed; null where a day was not read yet. */
  shown: number | null;
  balance: 'more' | 'equal' | 'less or unknown';
};

/** Why a day is not proved; `rejects`: why it is not held all the same, which analytics.coverage says. */
export const whys = [
  'not over',
  'not read',
  'clock',
  'month is going',
  'read once',
  'showed less',
  'counts more',
  'books do not balance',
  'shows nothing',
  'pending',
  'rejects',
] as const;
export type Why = (typeof whys)[number];

/** A value a typed column may take. Exact numbers are text until Postgres has them. */
export type ColumnValue = string | number | boolean | null;

/**
 * One record as it came, made ready for its table. `columns` are the typed columns of its table by
 * name, without the bookkeeping; times are RFC 3339 text in UTC.
 */
export type ParsedRecord = {
  id: string;
  columns: Record<string, ColumnValue>;
  /** JSON text that Postgres' jsonb can hold; the record verbatim wherever it can. */
  rawJson: string;
  /** The record's original bytes, only where `rawJson` had to differ from them. */
  rawBytes: Buffer | null;
  /** Lower-case hex SHA-256 of the record's canonical JSON. */
  rawSha256: string;
  /** Known fields that could not be read; they are NULL in `columns`. */
  unread: string[];
};

/**
 * A record without a usable id, or one that is too long: kept as bytes, with the reason. `wholeLength`: `bytes` are
 * only the beginning of so many, and the digest is that of all of them; null: they are all.
 */
export type RejectedRecord = {
  bytes: Buffer;
  sha256: string;
  reason: string;
  wholeLength: number | null;
};

/** One page of a list, read leniently at the door. */
export type PlatformPage = {
  resource: ListedResource;
  /** In the order shown. The same id may stand here twice, with different contents. */
  records: ParsedRecord[];
  rejects: RejectedRecord[];
  /** How many elements the list had: records and rejects, repeated ids included. */
  shown: number;
  /** The total the platform gave; null where it was missing, null, unreadable, or 0 on a page with elements. */
  total: number | null;
  /** The first and the last element: its id, or the SHA-256 of a reject; null on an empty page. */
  first: string | null;
  last: string | null;
  /** Orders: the key of the page after this one; null where the platform gave none. */
  nextKey: string | null;
  /** The platform's clock when the request was sent; the earliest clock's time where they disagree. */
  askedAt: Instant;
  /** Length of the answer's body in bytes. */
  bytes: number;
};

/** A record together with the moment its page was asked for. */
export type ObservedRecord = { record: ParsedRecord; observedAt: Instant };

/** A setting of this process as it may be shown to whoever runs it (P10). */
export type SettingInForce = {
  name: string;
  /** As it was given, or the default; null: there is neither. Of a secret no more than `set` or `not set`. */
  value: string | null;
  /** `file`: the file of settings, or the one that NAME_FILE names. `demo`: the demo itself. */
  from: 'environment' | 'file' | 'demo' | 'default';
  isSecret: boolean;
  /** The end of "it is …". */
  meaning: string;
};

/** What `outlast export` writes. */
export const fileFormats = ['parquet', 'csv', 'jsonl'] as const;
export type FileFormat = (typeof fileFormats)[number];
