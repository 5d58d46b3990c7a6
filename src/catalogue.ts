// What an archive can be asked: each question once. What the library gives, its SQL, /archive/v1 in
// every format, /openapi.json, `outlast query`, the pages and the comments on the views follow from here. What a record
// consists of is resources.ts. Not from here: the overview, one day, histories, reads as of an instant, and figures.
import {
  apiVersions,
  listedResources,
  proofs,
  resources,
  sliceStates,
  watchedStates,
  whys,
  type Day,
  type ProjectId,
  type Resource,
} from './model.ts';
import { problemKinds, problemLevels } from './problems.ts';
import {
  nftClass,
  order,
  project,
  snake,
  token,
  transaction,
  type Column,
  type ColumnType,
  type Fields,
  type RecordOf,
} from './resources.ts';

/** Fields by the library's names, in the order of JSON and CSV. */
export type QuestionFields = Readonly<Record<string, Column>>;

/** A list by its view. The view's comment is `summary` and `about`. */
export type Question<Field extends string = string> = {
  view: string;
  /** What one row is called: the name of its schema. */
  one: string;
  summary: string;
  about?: string;
  /** A page at a time, read forwards by `order`; without it there are few, and all are given. */
  isPaged?: true;
  /**
   * By these fields; `-` turns the order of one round. Of a paged list they name one row, and are turned all or none.
   */
  order: readonly (Field | `-${Field}`)[];
  /** What it can be narrowed by: fields, and `days`, the UTC days of `day`. */
  filters: readonly (Field | 'days')[];
  /** Filters that together name a row (of rejects: its bytes) within the project: the address of its page. */
  key?: readonly Field[];
  /** What a person is shown of a row. */
  shown: readonly Field[];
};

export type AnyQuestion = Question & { fields: QuestionFields };

const question = <
  const Fields extends QuestionFields,
  const Of extends Question<keyof Fields & string>,
>(
  of: Of,
  fields: Fields,
): Of & { fields: Fields } => ({
  ...of,
  fields: Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, { ...field, column: snake(name) }]),
  ) as Fields,
});

/** A column that is never null. It is called as its field is; where it stands in no view, a statement gives it. */
export const of =
  <const Type extends ColumnType>(type: Type) =>
  (meaning = '') =>
    ({ column: '', type, meaning, part: 'record', isSet: true }) as const;
export const text = of('text');
export const integer = of('integer');
export const bigint = of('bigint');
/** Exact, as decimal text. */
export const decimal = of('numeric');
export const count = (meaning = '') => ({ ...bigint(meaning), isCount: true }) as const;
export const truth = of('boolean');
export const time = of('timestamptz');
export const day = of('date');
export const sha256 = of('sha256');
const json = of('jsonb');
export const word = <const Word extends string>(meaning: string, values: readonly Word[]) => ({
  ...text(meaning),
  values,
});
export const words = <const Word extends string>(meaning: string, values: readonly Word[]) => ({
  ...of('text[]')(meaning),
  values,
});
/** Objects, each with these fields. */
export const list = <const Items extends QuestionFields>(meaning: string, items: Items) => ({
  ...json(meaning),
  items,
});
/** Of the archive's own, in English. */
const sentence = (meaning: string) => ({ ...text(meaning), isSentence: true }) as const;
export const orNull = <Of extends Column>(column: Of): Omit<Of, 'isSet'> => {
  const { isSet: _, ...rest } = column;
  return rest;
};

/** What is not certain about a slice (docs/guarantee.md). */
export const reservationNames = ['lost', 'no_proof', 'unresolved_orders'] as const;

const month = day('First UTC day of the month');
const ofList = {
  ...project,
  resource: word('orders or nft_classes', listedResources),
};
const ownersList = text('The owner whose list it is; empty for the whole list');

const coverage = question(
  {
    view: 'analytics.coverage',
    one: 'CoverageDay',
    summary: 'What is held of each UTC day, how sure that is, and every reservation',
    about: 'A row a day (and owner). A figure is as good as the coverage of its days.',
    order: ['-resource', 'day', 'owner'],
    filters: ['resource', 'days'],
    shown: ['day', 'resource', 'owner', 'state', 'proof', 'why', 'unresolved', 'lastError'],
  },
  {
    ...ofList,
    owner: text('The owner whose classes these are; empty for the whole list'),
    day: day('The UTC day'),
    state: word(
      'open: not yet read whole. walked: read to the end after the day was over. sealed: proved and nothing pending. final: the month left the window after the day was read whole; proof and why say how sure it is. lost: the month left the window before the day was ever read whole',
      sliceStates,
    ),
    proof: word(
      'readings: two readings, one from each end of the list, showed all that is held. books: the platform also counts the same. none: not proved, why says what keeps it from that',
      proofs,
    ),
    why: orNull(
      word(
        'What keeps it from being held and settled: not over, not read, read once, showed less (than is held), counts more (than it showed), books do not balance, shows nothing (of a day before the window), pending, month is going, clock, rejects (proved, and a record was left out); null: nothing does',
        whys,
      ),
    ),
    provedAt: orNull(
      time("When it was proved last, on the platform's clock; it stays when the proof is gone"),
    ),
    walkedAt: orNull(time("When it was read to its end last, on the platform's clock")),
    platformTotal: orNull(
      count('How many records the platform said there are; null where it did not say'),
    ),
    shownTotal: orNull(
      count(
        'How many distinct records, rejects included, the last walk was shown; while its month goes, the last that was shown no less',
      ),
    ),
    unresolved: integer('Orders of the day still pending'),
    rejected: count(
      'Records without a usable id, or too long, kept as bytes aside, but for those that a whole walk a day later was without',
    ),
    deadlineAt: time(
      'Until when the day should be held and proved: a safety margin before its month leaves the window',
    ),
    reservations: words(
      'What is not certain, by name: lost, no_proof, unresolved_orders; records that were left out are counted in rejected',
      reservationNames,
    ),
    isHeld: truth(
      "Whether all of it is held: read whole and proved, no record left out. An auditor's question. Orders that are pending are held, too",
    ),
    isSettled: truth(
      'Whether all of it is held and nothing is pending, so that no figure will change. Report no sum without it',
    ),
    dueAt: orNull(
      time(
        "When it is looked at next, on the platform's clock; null when it is not: it is final or lost",
      ),
    ),
    lastError: orNull(sentence('Why the last attempt failed; null after a success')),
  },
);

const books = question(
  {
    view: 'analytics.balances',
    one: 'Balance',
    summary: 'What the platform counts, beside what its lists showed',
    about: 'The newest books of each list (and owner): of all days that are over.',
    order: ['-resource', 'owner'],
    filters: ['resource'],
    shown: ['resource', 'owner', 'firstDay', 'lastDay', 'total', 'shown', 'balance', 'askedAt'],
  },
  {
    ...ofList,
    owner: ownersList,
    firstDay: day('The first UTC day that is counted'),
    lastDay: day('The last one'),
    askedAt: time('When the platform was asked, on its clock'),
    total: orNull(count('How many records it counts; null where it gives no total')),
    pending: orNull(
      count('Of them, pending orders; null of classes, and where the status is of no use'),
    ),
    succeeded: orNull(count('Of them, orders that succeeded; null likewise')),
    failed: orNull(count('Of them, orders that failed; null likewise')),
    shown: orNull(
      count(
        'How many distinct records the newest readings of these days showed; null where a day was not read yet',
      ),
    ),
    balance: word(
      'more: in all or in a status it counts more than was shown, and the days are read again. equal: as many. less or unknown: it says nothing',
      ['more', 'equal', 'less or unknown'],
    ),
    more: list(
      'The parts that do not balance: first and last day, how many records the platform counts and its lists showed',
      {
        from: day('Its first day'),
        to: day('Its last day'),
        counted: orNull(
          count('What the platform counts; as many as were shown: it counts more of a status'),
        ),
        shown: count('What its lists showed'),
      },
    ),
    moreSince: orNull(time('Since when there have been such parts; null: there are none')),
  },
);

const certificates = question(
  {
    view: 'analytics.certificates',
    one: 'MonthCertificate',
    summary: 'Months that have left the window, each with the digest that fixes what is held of it',
    about:
      'Read as of certified_at, a record whose creation time changed later stands under its new day.',
    order: ['-resource', 'month'],
    filters: ['resource', 'month'],
    key: ['resource', 'month'],
    shown: ['month', 'resource', 'certifiedAt', 'records', 'digest'],
  },
  {
    ...ofList,
    month,
    certifiedAt: time(
      "The moment whose contents are certified, on the platform's clock: an as_of to read them",
    ),
    records: count('How many records are certified'),
    digest: sha256("The month's digest, lower-case hex"),
    certificateJson: json(
      'The certificate itself: every day with its count, digest, state, proof and reservations',
    ),
  },
);

const alerts = question(
  {
    view: 'analytics.alerts',
    one: 'Alert',
    summary: 'What somebody was told, or is to be told',
    about: 'While it goes on, and for a while after it was over or told. The newest first.',
    order: ['-openedAt', 'kind', 'subject'],
    filters: [],
    shown: ['openedAt', 'kind', 'text', 'resolvedAt', 'toldAt', 'subject'],
  },
  {
    ...project,
    kind: text('What it is about: docs/alerts.md has every kind'),
    subject: text('Of what: a month, a list, a machine; empty for the project'),
    text: sentence('What is told'),
    openedAt: time("Since when, on the platform's clock"),
    toldAt: orNull(time('When it was told last; null: not yet, or there is nobody to tell')),
    resolvedAt: orNull(time('When it was over; null while it goes on')),
    isNews: truth(
      'True of what only happens, such as a lost day: it is over as soon as it is known',
    ),
  },
);

const problems = question(
  {
    view: 'analytics.problems',
    one: 'ArchiveProblem',
    summary: 'What is wrong at this moment',
    about:
      "The worst first; of these what goes on before what only happened. By the platform's clock, as the newest run or look had it.",
    order: ['level', 'isNews', 'kind', 'subject'],
    filters: ['level', 'kind'],
    shown: ['level', 'kind', 'numbersJson', 'since', 'until'],
  },
  {
    ...project,
    kind: word('What it is: docs/alerts.md has every kind', problemKinds),
    level: {
      ...word(
        'critical: days may be lost, or nothing is known. warning: a person is needed, not at once. info: it happened, and has been known for a day',
        problemLevels,
      ),
      isRanked: true,
    },
    subject: text('Of what: a month, a list, a machine; empty for the project'),
    numbersJson: json('Its numbers, days and times, by name'),
    isNews: truth(
      'True of what only happens, such as a lost day: there is nothing to recover from',
    ),
    since: orNull(
      time("Since when it is known, on the platform's clock; null: no process has looked since"),
    ),
    until: orNull(time('Until when something can be done about it; null: no time is known')),
  },
);

const runs = question(
  {
    view: 'analytics.runs',
    one: 'Run',
    summary: 'Passes over what was due, the newest first',
    about: 'How fresh the archive is. Of quiet ones in a row only the last is kept.',
    isPaged: true,
    order: ['-startedAt', '-runId'],
    filters: ['runId'],
    key: ['runId'],
    shown: [
      'startedAt',
      'endedAt',
      'outcome',
      'requests',
      'slicesDone',
      'recordsNew',
      'recordsChanged',
      'recordsRejected',
      'lastError',
    ],
  },
  {
    ...project,
    runId: text('Its name'),
    startedAt: time('When it began'),
    endedAt: orNull(time('When it ended; null while it goes on, or where it was cut off')),
    outcome: orNull(
      text(
        'How it ended; quiet: done, and nothing was new; idle: nothing was due; part: done, of what a person asked for',
      ),
    ),
    requests: integer('Requests made'),
    slicesDone: integer('Days of lists whose turn was done'),
    recordsShown: count('Records the platform showed'),
    recordsNew: count('Records held for the first time'),
    recordsChanged: count('Records whose content changed'),
    recordsRejected: count('Records without a usable id, or too long'),
    lastError: orNull(sentence('Why something due was not done; null after a success')),
  },
);

const rejects = question(
  {
    view: 'analytics.rejects',
    one: 'Reject',
    summary: 'Records without a usable id, or too long to be taken in',
    about: 'As the platform gave them: in no list and in no figure.',
    isPaged: true,
    order: ['day', 'resource', 'sha256'],
    filters: ['resource', 'days', 'sha256'],
    key: ['resource', 'sha256'],
    shown: ['day', 'resource', 'owner', 'seenAt', 'byteCount', 'reason', 'sha256'],
  },
  {
    ...project,
    resource: word('orders, nft_classes, transactions or tokens', resources),
    owner: text('The owner whose list showed it; empty for the whole list'),
    day: orNull(day('The UTC day that was asked for; null where none was')),
    reason: sentence('Why it could not be kept as a record'),
    seenAt: time("When it was first seen, on the platform's clock"),
    sha256: sha256('SHA-256 of all of its bytes, lower-case hex'),
    byteCount: integer('How many bytes of it are kept'),
  },
);

const watchedOperations = question(
  {
    view: 'analytics.watched_operations',
    one: 'WatchedOperation',
    summary: 'Operations whose results are asked for, and what became of each',
    about: 'They are asked for by their ids, for there is no list of them.',
    isPaged: true,
    order: ['operationId'],
    filters: ['state', 'operationId'],
    key: ['operationId'],
    shown: ['operationId', 'state', 'status', 'addedAt', 'dueAt', 'deadlineAt', 'lastError'],
  },
  {
    ...project,
    operationId: text('The id its caller chose'),
    apiVersion: orNull(word('The lookup that is asked, v1beta1 or v3; null: both', apiVersions)),
    createdOn: orNull(day('The UTC day the operation was begun, where it was given')),
    addedAt: time('Since when it is watched'),
    state: word(
      'open: asked for still. done: the result is final. lost: its month left the window before the result was final',
      watchedStates,
    ),
    foundBy: words('The lookups that have given a result', apiVersions),
    status: {
      ...orNull(integer('The final status, 1 succeeded or 2 failed; null while there is none')),
      words: { 1: 'succeeded', 2: 'failed' },
    },
    hasCertificateFile: truth('Whether the file behind its certificate link is kept'),
    deadlineAt: orNull(
      time(
        'Until when the result should be held: a safety margin before its month leaves the window',
      ),
    ),
    dueAt: orNull(time("When it is asked for next, on the platform's clock; null when it is not")),
    attempts: integer('How often it was asked for'),
    lastError: orNull(
      sentence('Why it is not settled, or what was not kept; null when there is nothing to say'),
    ),
  },
);

const changedRecords = question(
  {
    view: 'analytics.changes',
    one: 'ChangedRecord',
    summary: 'What changed on which day, the newest first: new, changed and missing records',
    about: 'A row for each change, by the day it was written.',
    isPaged: true,
    order: ['-entryId', '-n'],
    filters: ['days', 'change', 'resource'],
    shown: ['writtenAt', 'change', 'resource', 'id', 'observedAt'],
  },
  {
    ...project,
    entryId: bigint(
      "The number of the journal's entry. It only grows, in the order in which records changed; all of an entry appears at once. To keep something in step, keep the greatest that was read, and read what is greater next time: nothing can still appear at or below it, and nothing is told twice",
    ),
    n: bigint('Its place among the changes of the entry, from 1'),
    resource: word(
      'orders, nft_classes, tokens, or transactions. and the lookup: transactions.v3',
      [
        ...listedResources,
        'tokens',
        ...apiVersions.map((version) => `transactions.${version}` as const),
      ],
    ),
    change: word(
      'new: held for the first time. changed: this content is in force now. late: kept as an earlier version. missing: not shown any more. found: shown again',
      ['new', 'changed', 'late', 'missing', 'found'],
    ),
    id: text('Of the record: an operation id, a class id, a symbol'),
    observedAt: orNull(
      time(
        "When the content was observed, or since when the record is missing, on the platform's clock; null for found",
      ),
    ),
    writtenAt: time("On the database's clock"),
    rawSha256: orNull(
      sha256('Of the content, as in the views of histories; null for missing and found'),
    ),
    day: day('The UTC day on which it was written'),
  },
);

const facts = question(
  {
    view: 'analytics.facts',
    one: 'Fact',
    summary: "What was observed of the platform's undocumented behaviour",
    about: 'It decides what is asked and believed.',
    order: ['fact'],
    filters: ['fact'],
    key: ['fact'],
    shown: ['fact', 'value', 'confirmedAt', 'changedAt', 'previous'],
  },
  {
    ...project,
    fact: text('Its name, for example orders.limit'),
    value: text('What was observed, for example 50'),
    confirmedAt: time("When it was observed last, on the platform's clock"),
    changedAt: time('When the platform began to behave so, on its clock'),
    previous: orNull(text('What was observed before; null while it never changed')),
  },
);

export type RecordQuestion = Pick<Question, 'one' | 'summary' | 'shown' | 'isPaged'> & {
  /** What a record is. */
  meaning: string;
  about: string;
  /** What names a record within the project. */
  key: readonly [string];
  fields: Fields;
};

/**
 * The lists of records, by resource: `shown` is what a person is shown of one, the most telling first. What they are
 * narrowed by is said in query/record-filters.ts; where they have days, by these, too, and they are read both ways.
 */
export const recordLists = {
  orders: {
    one: 'Order',
    meaning: 'A purchase order',
    summary: 'Purchase orders',
    about:
      'By day, time of creation and id. Following `next` gives each order held throughout exactly once, whatever is written meanwhile.',
    isPaged: true,
    key: ['operationId'],
    fields: order,
    shown: [
      'createdAt',
      'operationId',
      'status',
      'message',
      'orderType',
      'amountFen',
      'number',
      'account',
    ],
  },
  nft_classes: {
    one: 'NftClass',
    meaning: 'An NFT class',
    summary: 'NFT classes',
    about:
      'The platform’s list, whoever asks: where several projects share a platform, the one that archives it answers for all.',
    isPaged: true,
    key: ['id'],
    fields: nftClass,
    shown: ['createdAt', 'id', 'name', 'owner', 'nftCount', 'symbol'],
  },
  transactions: {
    one: 'Transaction',
    meaning: 'The result of an operation by one of the two lookups',
    summary: 'Transaction results',
    about:
      'By operation id and lookup. There is no list of operations: only those are here whose ids were given.',
    isPaged: true,
    key: ['operationId'],
    fields: transaction,
    shown: [
      'confirmedAt',
      'operationId',
      'status',
      'apiVersion',
      'module',
      'type',
      'operation',
      'message',
      'txHash',
      'blockHeight',
    ],
  },
  tokens: {
    one: 'Token',
    meaning: 'A token and its fees',
    summary: 'Tokens and their fees',
    about: 'By symbol, tokens that the node no longer lists included.',
    key: ['symbol'],
    fields: token,
    shown: [
      'symbol',
      'name',
      'scale',
      'mintable',
      'maxSupply',
      'owner',
      'mintFee',
      'minUnit',
      'issueFee',
      'initialSupply',
    ],
  },
} as const satisfies Record<Resource, RecordQuestion>;

/** By the library's names; in URLs, commands and pages they are written with underscores. */
export const questions = {
  coverage,
  books,
  certificates,
  problems,
  alerts,
  runs,
  rejects,
  watchedOperations,
  changedRecords,
  facts,
};
export type Questions = typeof questions;
export type QuestionName = keyof Questions;

export type RowOf<Of extends AnyQuestion> = RecordOf<Of['fields']>;

/**
 * A page of a list that is read forwards: `limit` is 1 to 10,000, 100 by default; `cursor` the `next` of a page of the
 * same query.
 */
export type PagedForward = { limit?: number; cursor?: string };

/**
 * `next` is null on the last page, and only there: a page may be shorter than its limit, even empty, and not be the
 * last.
 */
export type Page<Item> = { items: Item[]; next: string | null };

/** What a question is asked with: days are UTC's, both included, a month is `yyyy-MM`. */
type QueryOf<Of extends AnyQuestion> = { project: ProjectId } & {
  [Name in Of['filters'][number] & keyof RowOf<Of>]?: NonNullable<RowOf<Of>[Name]>;
} & ('days' extends Of['filters'][number] ? { from?: Day; to?: Day } : unknown) &
  (Of extends { isPaged: true } ? PagedForward : unknown);

type AnswerOf<Of extends AnyQuestion> = Of extends { isPaged: true }
  ? Page<RowOf<Of>>
  : RowOf<Of>[];

/** The library's methods. They stand here, for its users have no zod, which the arguments are checked by. */
export type Lists = {
  [Name in keyof Questions]: (
    query: QueryOf<Questions[Name]>,
  ) => Promise<AnswerOf<Questions[Name]>>;
};

/** A slice of the ledger: what is held of a UTC day and how sure that is. */
export type CoverageDay = RowOf<typeof coverage>;
export type Balance = RowOf<typeof books>;
export type MonthCertificate = RowOf<typeof certificates>;
export type ArchiveProblem = RowOf<typeof problems>;
export type Alert = RowOf<typeof alerts>;
export type Run = RowOf<typeof runs>;
export type Reject = RowOf<typeof rejects>;
export type RejectWithBytes = Reject & { bytes: Uint8Array };
export type WatchedOperation = RowOf<typeof watchedOperations>;
export type ChangedRecord = RowOf<typeof changedRecords>;
export type Fact = RowOf<typeof facts>;
export type Reservation = (typeof reservationNames)[number];

export type CoverageQuery = QueryOf<typeof coverage>;
export type BalanceQuery = QueryOf<typeof books>;
export type CertificateQuery = QueryOf<typeof certificates>;
export type RunQuery = QueryOf<typeof runs>;
export type RejectQuery = QueryOf<typeof rejects>;
export type WatchedQuery = QueryOf<typeof watchedOperations>;
export type ChangedRecordQuery = QueryOf<typeof changedRecords>;
export type FactQuery = QueryOf<typeof facts>;
