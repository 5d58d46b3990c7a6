// Answers that are no list of a view: one day, what goes on, what came in lately, how each list stands. Each field
// once, with its type and its sentence: what the library gives and the schemas of HTTP follow.
import {
  bigint,
  count,
  day,
  decimal,
  integer,
  list,
  of,
  orNull,
  questions,
  sha256,
  text,
  time,
  truth,
  word,
  type QuestionFields,
} from '../catalogue.ts';
import {
  apiVersions,
  listedResources,
  proofs,
  resources,
  sliceStates,
  type Day,
  type ListedResource,
  type ProjectId,
} from '../model.ts';
import type { RecordOf } from '../resources.ts';

/** One object; null where `orNothing` says so. */
const object = <const Members extends QuestionFields>(meaning: string, members: Members) =>
  ({ members, meaning, isSet: true }) as const;
const orNothing = <const Members extends QuestionFields>(meaning: string, members: Members) => ({
  members,
  meaning,
});
const counted = <const Items extends QuestionFields>(meaning: string, items: Items) =>
  object(meaning, { count: count('How many there are'), items: list('', items) });

const projectId = text('The project');
const resource = word('orders or nft_classes', listedResources);

/** How many there are, and some of them. */
export type Counted<Item> = { count: number; items: Item[] };

export type DayQuery = {
  project: ProjectId;
  resource: ListedResource;
  day: Day;
  /**
   * '' is the whole list. Unless told the whole list, or else the first of the owners whose lists stand for the day.
   */
  owner?: string;
};

/** A whole reading of a past day: two of them, one from each end of the list, prove it (docs/guarantee.md). */
const reading = {
  beginsAt: word(
    'The end of the list that it began at: two readings, one from either end, prove a day',
    ['oldest', 'newest'],
  ),
  beganAt: time(),
  endedAt: time(),
  shown: count('Distinct records, rejects included'),
  lacks: count('Records held of the day that it did not show'),
  claims: count('How many more records a total of it counted than it showed'),
};
export type DayReading = RecordOf<typeof reading>;

const entryKinds = [
  'pages',
  'contents',
  'reading',
  'ledger',
  'dropped',
  'missing',
  'returned',
  'certified',
] as const;
const entry = {
  entry: count('Its number in the project’s journal'),
  enteredAt: time('On the database’s clock'),
  kind: word('docs/verify.md says what each is', entryKinds),
  records: count('Records of which it stored a content, or that it marked as missing'),
  state: orNull(
    word('What the day became, as the next ones: null unless `kind` is ledger', sliceStates),
  ),
  proof: orNull(word('How sure that is', proofs)),
  platformTotal: orNull(count()),
  shownTotal: orNull(count()),
  unresolved: orNull(count()),
};
/** One entry of a day's journal (docs/verify.md). */
export type DayEntry = RecordOf<typeof entry>;

export const dayReport = {
  ...questions.coverage.fields,
  owners: of('text[]')('Whose lists stand for the day; empty text is the whole list'),
  newestPageAt: orNull(time('When the newest page held was asked for')),
  records: count('Held under the day; of an owner’s list, the owner’s now'),
  pending: count('Of them, orders that are pending'),
  gone: count(
    'Records that were stored of it, by the journal, and are not held any more; looked for where fewer are held than the last reading showed',
  ),
  missing: counted('Of them, those that the platform shows no more; the newest 100', {
    id: text(),
    since: time(),
  }),
  changes: counted('Their earlier contents; the newest 100 by when they were first seen', {
    id: text(),
    observedAt: time(),
  }),
  rejects: counted('The newest 100', {
    sha256: sha256('Of its bytes'),
    reason: text(),
    seenAt: time(),
  }),
  readings: counted('The newest 100, the newest first', reading),
  history: counted('Its journal: the newest 200 entries, the newest first', entry),
};
/** All that is known of one day of a list: what coverage says of it, and what that rests on. */
export type DayReport = RecordOf<typeof dayReport>;

export const progress = {
  projectId,
  revision: text(
    'Another text whenever something of the ledger, the runs, the alerts or what is held may have changed',
  ),
  run: orNothing('The run in progress; null: none is', {
    runId: text(),
    startedAt: time(),
    slicesDone: count('Days it has read or counted so far'),
    recordsShown: count('What the days it has read whole so far have shown'),
  }),
  inHand: list('The days that are being read at this moment', {
    resource,
    owner: text('The owner whose list it is; empty for the whole list'),
    day: orNull(day('Null: an owner’s whole list')),
    pages: count('Pages read of it so far'),
  }),
  slicesDue: count('Days to be looked at now, those in hand included'),
  slicesWaiting: count('Days that will be looked at again at all, those due included'),
  nextDueAt: orNull(time('When the next of the others is due')),
  succeededAt: orNull(time('When the newest run ended that did all that was due')),
  certificate: orNothing('The newest', {
    resource,
    month: day('Its first day'),
    certifiedAt: time(),
    digest: sha256('The month’s digest'),
  }),
  parked: orNothing(
    'Since when the platform refuses the project, and what it said; null while it answers',
    {
      at: time(),
      reason: orNull(text()),
      askAgainAt: orNull(time()),
    },
  ),
  archiveNow: time('The database’s clock'),
};
/** What goes on now. */
export type Progress = RecordOf<typeof progress>;

export type RecentQuery = {
  project: ProjectId;
  resource: ListedResource;
  /** 1 to 100; 20 by default. */
  limit?: number;
};

export const recent = {
  projectId,
  resource,
  id: text(),
  day: day(),
  createdAt: orNull(time()),
  firstSeenAt: time(),
  status: orNull(integer('Of an order; null of a class')),
  amountFen: orNull(decimal('Of an order, in fen; null of a class')),
  name: orNull(text('Of a class its name, of an order its account')),
};
/** A record that came in lately. */
export type Recent = RecordOf<typeof recent>;

const ofState = count();
export const summary = {
  projectId,
  resource,
  records: count('Held'),
  oldestDay: orNull(day('The first day with a record; null when none is held')),
  newestDay: orNull(day()),
  days: object('Days by state', {
    open: ofState,
    walked: ofState,
    sealed: ofState,
    final: ofState,
    lost: ofState,
  }),
  held: count('Days of which all is held'),
  settled: count('Of them, days with nothing pending'),
  unresolved: count(),
  rejected: count(),
  nextDeadlineAt: orNull(time('The nearest deadline of a day that is neither final nor lost')),
};
/** How one resource of one project stands. */
export type Summary = RecordOf<typeof summary>;

export const projects = { projectId };

export const setting = {
  name: text(),
  value: orNull(text('Of a secret only `set` or `not set`; null: there is none')),
  from: word(
    'The process’s environment; the file of settings, or that of a secret; the demo; none of them',
    ['environment', 'file', 'demo', 'default'],
  ),
  isSecret: truth(),
  meaning: text(),
};

/** When a content was what was known of its record. */
export const inForce = {
  inForceFrom: orNull(
    time('Since when this was what was known; null: it came late, and never was'),
  ),
  inForceUntil: orNull(time('Until when, excluded; null while it is, or never was')),
  isCurrent: truth('Whether it is what the other reads give'),
};

/** What became of a record, told once; beside it what its content says. */
export const change = {
  position: text('Kept by whoever has taken this change and all before it: an `after`. Opaque'),
  entryId: bigint(
    'The number of the journal’s entry. It only grows, in the order in which records changed',
  ),
  resource: word('Of which list', resources),
  apiVersion: orNull(word('Of which lookup a transaction result is', apiVersions)),
  id: text('Of the record: an operation id, a class id, a symbol'),
  change: word(
    'new: held for the first time. changed: this content is in force now. late: kept as an earlier version. missing: not shown any more. found: shown again',
    ['new', 'changed', 'late', 'missing', 'found'],
  ),
  observedAt: orNull(
    time(
      'When the content was observed, or since when the record is missing, on the platform’s clock; null for found',
    ),
  ),
  writtenAt: time('On the database’s clock'),
  rawSha256: orNull(sha256('Of the content; null for missing and found')),
};
