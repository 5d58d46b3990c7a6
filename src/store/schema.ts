// The tables, their keys, indexes and checks: `npx drizzle-kit generate` writes the migrations of what is changed here.
// What a column means stands here, or in resources.ts; the rules are docs/design.md's. Keys and indexed texts are
// `collate "C"` so that order is byte order. For what drizzle has no words (storage, `include`), see
// migrations/0001_storage_and_comments.sql.
// `archive` obeys Citus' rules: project_id first in every key, no triggers, no foreign keys.
import type { AnyPgColumn } from 'drizzle-orm/pg-core';
import type { End, Instant, ListedResource, Proof, SliceState, Why } from '../model.ts';
import type { ProblemNumbers } from '../problems.ts';
import {
  columnsOf,
  nftClass,
  order,
  token,
  transaction,
  type ColumnType,
  type Fields,
  type ColumnPart,
} from '../resources.ts';
import type { Checkpoint } from './checkpoint.ts';
import {
  sql,
  bigint,
  boolean,
  check,
  customType,
  date,
  index,
  integer,
  interval,
  jsonb,
  numeric,
  pgSchema,
  primaryKey,
  smallint,
  text,
  timestamp,
  uuid,
} from './drizzle-import.ts';

/** Text compared by its UTF-8 bytes, whatever the database's locale. */
const key = customType<{ data: string }>({ dataType: () => 'text collate "C"' });
const bytea = customType<{ data: Buffer }>({ dataType: () => 'bytea' });
/** Times are read as text: `Date` would lose microseconds. */
const time = (name: string) => timestamp(name, { withTimezone: true, mode: 'string' });

/** A moment of our own tables, in milliseconds as the code has it. */
const moment = customType<{ data: Instant; driverData: string }>({
  dataType: () => 'timestamp with time zone',
  fromDriver: (text) =>
    text.endsWith('infinity') ? (text.startsWith('-') ? -Infinity : Infinity) : Date.parse(text),
  toDriver: (at) => timestampText(at),
});

/** As Postgres reads it, for which the ends of time are moments as well. */
export const timestampText = (at: Instant): string =>
  Number.isFinite(at) ? new Date(at).toISOString() : at < 0 ? '-infinity' : 'infinity';

/** The primary key of a table. */
const pkey = (table: string, ...columns: [AnyPgColumn, ...AnyPgColumn[]]) =>
  primaryKey({ name: `${table}_pkey`, columns });

export const archive = pgSchema('archive');
export const sync = pgSchema('sync');

const builders = {
  text: (name: string) => text(name),
  integer: (name: string) => integer(name),
  bigint: (name: string) => bigint(name, { mode: 'bigint' }),
  numeric: (name: string) => numeric(name),
  boolean: (name: string) => boolean(name),
  timestamptz: time,
  date: (name: string) => date(name),
  jsonb: (name: string) => jsonb(name),
  bytea: (name: string) => bytea(name),
  sha256: (name: string) => bytea(name),
  'text[]': (name: string) => text(name).array().default([]),
};

/** Found by an index, which an update of the system's locales would spoil. Other texts keep the database's collation. */
const indexedTexts = ['account', 'owner'];

/** By the fields' names; those of groups, which nobody asks for, by their own. */
type Described<Of, In extends ColumnPart> = {
  [Name in keyof Of as Of[Name] extends { part: In } ? Name : never]: Of[Name] extends {
    type: infer Type extends ColumnType;
  }
    ? ReturnType<(typeof builders)[Type]>
    : never;
};

/** The columns of the table that a resource's records lie in, as resources.ts has them. */
const table = <Of extends Fields>(fields: Of) =>
  described(fields, ['key', 'record', 'observed', 'day', 'content', 'row']);

/** Those of its versions. */
const versions = <Of extends Fields>(fields: Of) => described(fields, ['key', 'record', 'content']);

function described<Of extends Fields, In extends ColumnPart>(
  fields: Of,
  parts: readonly In[],
): Described<Of, In> {
  const built = Object.entries(fields).flatMap(([name, field]) =>
    columnsOf({ [name]: field })
      .filter(({ part }) => parts.some((one) => one === part))
      .map(({ column, type, part, isSet }) => {
        const isByBytes = part === 'key' || indexedTexts.includes(column);
        const builder = isByBytes ? key(column) : builders[type](column);
        const isNotNull = part === 'key' || isSet === true;
        return ['column' in field ? name : column, isNotNull ? builder.notNull() : builder];
      }),
  );
  return Object.fromEntries(built) as Described<Of, In>;
}

// Of the lists' indexes: unreadable times last within their day; what is shown no more is rare, and asked for by itself.
// A record stands under a day that was over, or all but over, when it was first seen: so reads of a moment need not look
// at later days. The few that do not, because their time of creation changed, are found by an index of their own, with a
// day of slack, for zones reach 14 hours.
const listedAt = sql`coalesce(created_at, 'infinity'::timestamptz)`;
const isMissing = sql`missing_since is not null`;
const isAhead = sql`slice_day > (first_seen_at at time zone 'UTC')::date + 1`;

export const orders = archive.table('orders', table(order), (t) => [
  pkey('orders', t.projectId, t.operationId),
  // The order of every list: (created_at, id).
  index('orders_listed').on(t.projectId, t.sliceDay, listedAt, t.operationId),
  index('orders_pending')
    .on(t.projectId, t.sliceDay)
    .where(sql`status = 1`),
  index('orders_account').on(t.projectId, t.account, t.sliceDay),
  index('orders_missing').on(t.projectId, t.sliceDay).where(isMissing),
  index('orders_ahead').on(t.projectId, t.sliceDay, listedAt, t.operationId).where(isAhead),
]);

export const nftClasses = archive.table('nft_classes', table(nftClass), (t) => [
  pkey('nft_classes', t.projectId, t.id),
  index('nft_classes_listed').on(t.projectId, t.sliceDay, listedAt, t.id),
  index('nft_classes_owner').on(t.projectId, t.owner, t.sliceDay),
  index('nft_classes_missing').on(t.projectId, t.sliceDay).where(isMissing),
  index('nft_classes_ahead').on(t.projectId, t.sliceDay, listedAt, t.id).where(isAhead),
]);

export const transactions = archive.table('transactions', table(transaction), (t) => [
  pkey('transactions', t.projectId, t.apiVersion, t.operationId),
  check('transactions_api_version', sql`api_version in ('v1beta1', 'v3')`),
]);

export const tokens = archive.table('tokens', table(token), (t) => [
  pkey('tokens', t.projectId, t.symbol),
]);

/** The day that a content names by itself: by it a day as it was known at a moment is found. */
const ownDay = sql`((created_at at time zone 'UTC')::date)`;

// What records said before they changed: insert-only (P5), but for fields that are derived anew. "Replaced at" is
// computed, the day is the record's.
export const orderVersions = archive.table('order_versions', versions(order), (t) => [
  pkey('order_versions', t.projectId, t.operationId, t.observedAt, t.rawSha256),
  index('order_versions_day').on(t.projectId, ownDay),
]);

export const nftClassVersions = archive.table('nft_class_versions', versions(nftClass), (t) => [
  pkey('nft_class_versions', t.projectId, t.id, t.observedAt, t.rawSha256),
  index('nft_class_versions_day').on(t.projectId, ownDay),
]);

export const transactionVersions = archive.table(
  'transaction_versions',
  versions(transaction),
  (t) => [
    pkey(
      'transaction_versions',
      t.projectId,
      t.apiVersion,
      t.operationId,
      t.observedAt,
      t.rawSha256,
    ),
  ],
);

export const tokenVersions = archive.table('token_versions', versions(token), (t) => [
  pkey('token_versions', t.projectId, t.symbol, t.observedAt, t.rawSha256),
]);

/** The files behind certificate links, which do not live long: kept once for an operation, insert-only. */
export const certificateFiles = archive.table(
  'certificate_files',
  {
    projectId: key('project_id').notNull(),
    operationId: key('operation_id').notNull(),
    url: text('url').notNull(),
    bytes: bytea('bytes').notNull(),
    sha256: bytea('sha256').notNull(),
    /** As the server named it; null where it did not. */
    mediaType: text('media_type'),
    /** Platform's clock. */
    fetchedAt: time('fetched_at').notNull(),
  },
  (t) => [pkey('certificate_files', t.projectId, t.operationId)],
);

/** The projects seen here, and from which source: what keeps a stage key from mixing in. */
export const projects = sync.table(
  'projects',
  {
    projectId: key('project_id').notNull(),
    baseUrl: text('base_url').notNull(),
    /** Salt and SHA-256(salt, key): tells a changed key without holding it (P10). */
    keySalt: bytea('key_salt').notNull(),
    keyFingerprint: bytea('key_fingerprint').notNull(),
    addedAt: moment('added_at').notNull(),
    /** The first day that is accounted for (P7). */
    firstDay: date('first_day').notNull(),
    /** Set by a final 401 or 403; the project rests until asked_again_at (P11). */
    parkedAt: moment('parked_at'),
    parkedReason: text('parked_reason'),
    askAgainAt: moment('ask_again_at'),
    /** By how much the platform's clock was ahead of the database's when a process last knew. */
    clockAhead: interval('clock_ahead')
      .notNull()
      .default(sql`'0'`),
    /** A minute before that was noted, on the database's clock: what was known long ago says nothing of now. */
    clockNotedAt: moment('clock_noted_at'),
  },
  (t) => [pkey('projects', t.projectId)],
);

/** Who writes a project (P8), on the database's clock. */
export const holders = sync.table(
  'holders',
  {
    projectId: key('project_id').notNull(),
    /** For people; null: nobody. */
    holder: text('holder'),
    /** By which a process on the same machine sees that this one has ended: see sync/holder.ts. */
    process: text('process'),
    /** Grows whenever the project is taken: whoever took it under an older one writes nothing. */
    epoch: bigint('epoch', { mode: 'number' }).notNull().default(0),
    heldSince: moment('held_since'),
    /** Renewed while the process lives. */
    heldUntil: moment('held_until'),
  },
  (t) => [pkey('holders', t.projectId)],
);

/** Runs that a person asks for of a project which another process holds: see sync/ask-holder.ts. */
export const asks = sync.table(
  'asks',
  {
    projectId: key('project_id').notNull(),
    askId: uuid('ask_id').notNull(),
    askedAt: moment('asked_at')
      .notNull()
      .default(sql`now()`),
    options: jsonb('options').notNull(),
    progress: jsonb('progress'),
    ending: jsonb('ending'),
  },
  (t) => [pkey('asks', t.projectId, t.askId)],
);

/** The ledger: what is held of a slice, how sure we are, what is due, until when. */
export const slices = sync.table(
  'slices',
  {
    projectId: key('project_id').notNull(),
    resource: key('resource').$type<ListedResource>().notNull(),
    /** '' for the whole list. */
    owner: key('owner').notNull().default(''),
    day: date('day').notNull(),
    state: text('state').$type<SliceState>().notNull().default('open'),
    proof: text('proof').$type<Proof>().notNull().default('none'),
    /** Why it is not proved; null: it is. */
    why: text('why').$type<Why>().default('not read'),
    provedAt: moment('proved_at'),
    /** Platform's clock; null when nothing is ever due again. */
    dueAt: moment('due_at'),
    deadlineAt: moment('deadline_at').notNull(),
    /** Where the walk in progress goes on: see store/checkpoint.ts. */
    checkpoint: jsonb('checkpoint').$type<Checkpoint>(),
    /** Number of the walk in progress or, without a checkpoint, of the last one begun. */
    walk: integer('walk').notNull().default(0),
    /** Number of the last walk read to its end: its pages are kept until the next whole one. */
    wholeWalk: integer('whole_walk').notNull().default(0),
    /** When a walk was last read to its end (platform's clock). */
    walkedAt: moment('walked_at'),
    /** The newest page held was asked for at this moment: older ones are refused (P2). */
    observedAt: moment('observed_at'),
    platformTotal: bigint('platform_total', { mode: 'number' }),
    shownTotal: bigint('shown_total', { mode: 'number' }),
    /** The journal's number of the commit that last showed a record of this day for the first time. */
    newsNo: bigint('news_no', { mode: 'number' }).notNull().default(0),
    /** Orders of this day still pending. */
    unresolved: integer('unresolved').notNull().default(0),
    attempts: integer('attempts').notNull().default(0),
    lastError: text('last_error'),
  },
  (t) => [
    pkey('slices', t.projectId, t.resource, t.owner, t.day),
    index('slices_due').on(t.projectId, t.dueAt),
    check('slices_state', sql`state in ('open', 'walked', 'sealed', 'final', 'lost')`),
    check('slices_proof', sql`proof in ('none', 'readings', 'books')`),
    check('slices_resource', sql`resource in ('orders', 'nft_classes')`),
  ],
);

/** What each walk was shown, page by page. */
export const pages = sync.table(
  'pages',
  {
    projectId: key('project_id').notNull(),
    resource: key('resource').notNull(),
    owner: key('owner').notNull(),
    day: date('day').notNull(),
    walk: integer('walk').notNull(),
    page: integer('page').notNull(),
    /** How the page was asked for: an order page's key (null for the first), or a class page's offset. */
    pageKey: text('page_key'),
    pageOffset: bigint('page_offset', { mode: 'number' }),
    /** Ids in the order shown, without repetitions. */
    ids: text('ids').array().notNull(),
    /** SHA-256 of each reject. */
    rejects: bytea('rejects').array().notNull(),
    total: bigint('total', { mode: 'number' }),
    askedAt: moment('asked_at').notNull(),
  },
  (t) => [pkey('pages', t.projectId, t.resource, t.owner, t.day, t.walk, t.page)],
);

/** What each whole reading of a past day showed: evidence, only ever added to. See `Reading` in model.ts. */
export const readings = sync.table(
  'readings',
  {
    projectId: key('project_id').notNull(),
    resource: key('resource').notNull(),
    owner: key('owner').notNull(),
    day: date('day').notNull(),
    /** The journal's number of the commit that ended it. */
    no: bigint('no', { mode: 'number' }).notNull(),
    fromEnd: text('from_end').$type<End>().notNull(),
    /** 1: the day was asked for alone; 2: with the next one; more: in a span that showed nothing. */
    daysAsked: smallint('days_asked').notNull(),
    beganAt: moment('began_at').notNull(),
    beganMachineAt: moment('began_machine_at').notNull(),
    beganEarliestAt: moment('began_earliest_at').notNull(),
    endedAt: moment('ended_at').notNull(),
    endedMachineAt: moment('ended_machine_at').notNull(),
    endedLatestAt: moment('ended_latest_at').notNull(),
    shown: integer('shown').notNull(),
    /** Pending, success, failed; null for classes. */
    byStatus: integer('by_status').array(),
    lacks: integer('lacks').notNull(),
    claims: integer('claims').notNull(),
    pending: integer('pending').notNull(),
    /** SHA-256 of what was shown: a line a record, its id and digest. */
    digest: bytea('digest').notNull(),
  },
  (t) => [
    pkey('readings', t.projectId, t.resource, t.owner, t.day, t.no),
    check('readings_from_end', sql`from_end in ('asc', 'desc')`),
  ],
);

/** What the platform counted of days `[day_from, day_to)`, beside what their newest readings showed. */
export const books = sync.table(
  'books',
  {
    projectId: key('project_id').notNull(),
    resource: key('resource').notNull(),
    owner: key('owner').notNull(),
    no: bigint('no', { mode: 'number' }).notNull(),
    dayFrom: date('day_from').notNull(),
    dayTo: date('day_to').notNull(),
    /** The same for all spans that were asked at one time. */
    askedAt: moment('asked_at').notNull(),
    total: bigint('total', { mode: 'number' }),
    byStatus: bigint('by_status', { mode: 'number' }).array(),
    shown: bigint('shown', { mode: 'number' }),
    shownByStatus: bigint('shown_by_status', { mode: 'number' }).array(),
    isMore: boolean('is_more').notNull(),
    isEqual: boolean('is_equal').notNull(),
    /** Whether a walk of the list shows all, or each status is walked as well. */
    readBy: text('asks').$type<'list' | 'each status'>().notNull(),
    /** The filter by status wants words. */
    inWords: boolean('in_words').notNull(),
  },
  (t) => [
    pkey('books', t.projectId, t.resource, t.owner, t.no),
    check('books_asks', sql`asks in ('list', 'each status')`),
  ],
);

/** Records without a usable id, or too long to be taken in: bytes and reason, once each. */
export const rejects = sync.table(
  'rejects',
  {
    projectId: key('project_id').notNull(),
    resource: key('resource').notNull(),
    sha256: bytea('sha256').notNull(),
    bytes: bytea('bytes').notNull(),
    reason: text('reason').notNull(),
    owner: key('owner').notNull(),
    day: date('day').notNull(),
    seenAt: moment('seen_at').notNull(),
    /** Of a record that was too long: `bytes` is its beginning, this the length of all of it; null: `bytes` is all. */
    wholeLength: bigint('whole_length', { mode: 'number' }),
  },
  (t) => [pkey('rejects', t.projectId, t.resource, t.sha256)],
);

/** What was observed of the platform's undocumented behaviour. */
export const facts = sync.table(
  'facts',
  {
    projectId: key('project_id').notNull(),
    fact: key('fact').notNull(),
    value: text('value').notNull(),
    /** When it was last confirmed, and when it last changed (platform's clock). */
    confirmedAt: moment('confirmed_at').notNull(),
    changedAt: moment('changed_at').notNull(),
    previous: text('previous'),
  },
  (t) => [pkey('facts', t.projectId, t.fact)],
);

export const runs = sync.table(
  'runs',
  {
    projectId: key('project_id').notNull(),
    runId: key('run_id').notNull(),
    startedAt: moment('started_at').notNull(),
    endedAt: moment('ended_at'),
    outcome: text('outcome'),
    requests: integer('requests').notNull().default(0),
    slicesDone: integer('slices_done').notNull().default(0),
    recordsShown: bigint('records_shown', { mode: 'number' }).notNull().default(0),
    recordsNew: bigint('records_new', { mode: 'number' }).notNull().default(0),
    recordsChanged: bigint('records_changed', { mode: 'number' }).notNull().default(0),
    recordsRejected: bigint('records_rejected', { mode: 'number' }).notNull().default(0),
    lastError: text('last_error'),
  },
  (t) => [pkey('runs', t.projectId, t.runId), index('runs_started').on(t.projectId, t.startedAt)],
);

/** What a process leaves for the next one, and for forecasts, of how often it may ask. */
export const rate = sync.table(
  'rate',
  {
    projectId: key('project_id').notNull(),
    /** Requests a second allowed, as the last process was told: what a forecast divides by. */
    perSecond: numeric('per_second').notNull(),
    /** Until when the platform asked for quiet, on the database's clock. */
    notBefore: moment('not_before'),
  },
  (t) => [pkey('rate', t.projectId)],
);

export const certificates = sync.table(
  'certificates',
  {
    projectId: key('project_id').notNull(),
    resource: key('resource').notNull(),
    month: date('month').notNull(),
    certifiedAt: moment('certified_at').notNull(),
    certificate: jsonb('certificate').notNull(),
    digest: bytea('digest').notNull(),
    leavesSha256: bytea('leaves_sha256').notNull(),
    /** 1 for the first certificate of the month, 2 for the one that replaces it; the greatest counts. */
    issue: integer('issue').notNull().default(1),
  },
  (t) => [pkey('certificates', t.projectId, t.resource, t.month, t.issue)],
);

/** Where the journal of each project stands. */
export const chains = sync.table(
  'chains',
  {
    projectId: key('project_id').notNull(),
    no: bigint('no', { mode: 'number' }).notNull().default(0),
    /** The digest of the newest entry and of all before it. */
    head: bytea('head').notNull(),
    /** How many orders, and classes, its entries stored for the first time: as many are held. */
    orders: bigint('orders', { mode: 'number' }).notNull().default(0),
    nftClasses: bigint('nft_classes', { mode: 'number' }).notNull().default(0),
  },
  (t) => [pkey('chains', t.projectId)],
);

/** What was written, in its order: append-only, written by the migration's functions only. */
export const journal = sync.table(
  'journal',
  {
    projectId: key('project_id').notNull(),
    no: bigint('no', { mode: 'number' }).notNull(),
    resource: key('resource').notNull(),
    owner: key('owner').notNull(),
    day: date('day').notNull(),
    /** The database's clock. */
    enteredAt: moment('entered_at').notNull(),
    kind: text('kind').notNull(),
    /** JSON: what was written besides contents. */
    body: text('body').notNull(),
    /** The records of which a content was stored, with its raw_sha256, or that were marked missing. */
    ids: text('ids').array(),
    shas: bytea('shas'),
    /** SHA-256 over the head before it and this entry. */
    head: bytea('head').notNull(),
  },
  (t) => [
    pkey('journal', t.projectId, t.no),
    index('journal_slice').on(t.projectId, t.resource, t.owner, t.day, t.no),
  ],
);

/** What is wrong and was told, or is to be told: one row for each condition that holds, so that none is told twice. */
export const alerts = sync.table(
  'alerts',
  {
    projectId: key('project_id').notNull(),
    /** What kind of condition, for example 'day_lost'. */
    kind: key('kind').notNull(),
    /** What it is about: a resource and day, a fact; '' for the project as a whole. */
    subject: key('subject').notNull(),
    text: text('text').notNull(),
    openedAt: moment('opened_at').notNull(),
    /** When a webhook took it; null: not yet. */
    toldAt: moment('told_at'),
    /**
     * When the condition was gone; the row goes when that was told too. News, which only happens, has opened_at here.
     */
    resolvedAt: moment('resolved_at'),
    /** Until when a process has taken it on to tell it, on the database's clock. */
    tellingUntil: moment('telling_until'),
    attempts: integer('attempts').notNull().default(0),
  },
  (t) => [pkey('alerts', t.projectId, t.kind, t.subject)],
);

/** What is wrong by what a process knows and the other tables do not say: analytics.problems has the rest. */
export const reportedProblems = sync.table(
  'reported_problems',
  {
    projectId: key('project_id').notNull(),
    kind: key('kind').notNull(),
    subject: key('subject').notNull(),
    /** What it is told with: see problems.ts. */
    numbers: jsonb('numbers').$type<ProblemNumbers>().notNull(),
    /** Platform's clock. */
    reportedAt: moment('reported_at').notNull(),
    /** Until when something can be done; then it is no longer shown. Null: until a process says that it is over. */
    until: moment('until'),
  },
  (t) => [pkey('reported_problems', t.projectId, t.kind, t.subject)],
);

/** How far a rebuild of the typed columns has come, so that one that was cut off goes on. */
export const rebuilds = sync.table(
  'rebuilds',
  {
    projectId: key('project_id').notNull(),
    resource: key('resource').notNull(),
    /** To the microsecond: it names the rebuild. */
    startedAt: time('started_at').notNull(),
    endedAt: time('ended_at'),
    /** Everything up to this key is done; null: nothing yet. */
    doneUpTo: key('done_up_to'),
    rowsRead: bigint('rows_read', { mode: 'number' }).notNull().default(0),
    rowsChanged: bigint('rows_changed', { mode: 'number' }).notNull().default(0),
    /** How often each column changed, by name. */
    changes: jsonb('changes').$type<Record<string, number>>().notNull().default({}),
  },
  (t) => [pkey('rebuilds', t.projectId, t.resource)],
);

/** Transaction results are found by the caller's own ids only: these are asked for. */
export const watchedOperations = sync.table(
  'watched_operations',
  {
    projectId: key('project_id').notNull(),
    operationId: key('operation_id').notNull(),
    /** 'v1beta1', 'v3', or null: try both. */
    apiVersion: text('api_version'),
    createdOn: date('created_on'),
    addedAt: moment('added_at')
      .notNull()
      .default(sql`now()`),
    state: text('state').notNull().default('open'),
    dueAt: moment('due_at').default(sql`now()`),
    deadlineAt: moment('deadline_at'),
    attempts: integer('attempts').notNull().default(0),
    lastError: text('last_error'),
    /** The lookups that have given a result: what verify must find. */
    foundBy: text('found_by').array().notNull().default([]),
    /** SHA-256 of the certificate file that was kept; null while there is none. */
    fileSha256: bytea('file_sha256'),
  },
  (t) => [
    pkey('watched_operations', t.projectId, t.operationId),
    index('watched_operations_due').on(t.projectId, t.dueAt),
    // The nearest deadline first, over those still asked for; and those no run has entered yet.
    index('watched_operations_open')
      .on(t.projectId, t.deadlineAt)
      .where(sql`state = 'open'`),
    // Looked at after every run, and few.
    index('watched_operations_lost')
      .on(t.projectId)
      .where(sql`state = 'lost'`),
    index('watched_operations_new')
      .on(t.projectId)
      .where(sql`deadline_at is null`),
    check('watched_operations_state', sql`state in ('open', 'done', 'lost')`),
    check('watched_operations_api_version', sql`api_version in ('v1beta1', 'v3')`),
  ],
);

/** The tokens of a project, a dayless list of its own: when it was last read whole, and when it is due. */
export const tokenSnapshots = sync.table(
  'token_snapshots',
  {
    projectId: key('project_id').notNull(),
    dueAt: moment('due_at').notNull(),
    /** When the newest snapshot held was asked for (platform's clock); null: none yet. */
    takenAt: moment('taken_at'),
    height: bigint('height', { mode: 'bigint' }),
    /** How many tokens it showed. */
    shown: integer('shown'),
    attempts: integer('attempts').notNull().default(0),
    lastError: text('last_error'),
  },
  (t) => [pkey('token_snapshots', t.projectId)],
);

/** Signed requests that wrote something: each is taken once. Forgotten after an hour (store/operations/watch-operations.ts). */
export const takenRequests = sync.table(
  'taken_requests',
  {
    signature: bytea('signature').notNull(),
    /** On the database's clock. */
    takenAt: moment('taken_at')
      .notNull()
      .default(sql`now()`),
  },
  (t) => [pkey('taken_requests', t.signature), index('taken_requests_age').on(t.takenAt)],
);
