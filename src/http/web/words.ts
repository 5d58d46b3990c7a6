// The words of the web pages. A sentence stands in its page, in English, and its Chinese in sentences-zh.ts, or it does not
// compile; what the catalogue and data name has its English here. Sentences that the archive itself writes (alerts,
// refusals, errors) stay English.
import type { DayEntry } from '../../query/reports.ts';
import type { Proof, Resource, SettingInForce, SliceState, Why } from '../../model.ts';
import type { DayMark } from '../../query/day-marks.ts';
import { lists } from '../../query/lists.ts';
import { columnOf } from '../../query/selected-columns.ts';
import { snake } from '../../resources.ts';
import type { sentences } from './sentences-zh.ts';

export type Lang = 'en' | 'zh';

/** What the pages name by themselves; resources.ts says them of an order's status. */
type OrderOutcome = 'pending' | 'succeeded' | 'failed';

/** As a name of the catalogue reads: `txHash` is `tx hash`. */
const spelt = (name: string): string => snake(name).replaceAll('_', ' ');
const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** What a person calls otherwise than the catalogue. */
const titles: Record<string, string> = {
  nft_classes: 'NFT classes',
  transactions: 'Transaction results',
  facts: 'Observed',
};
const heads: Record<string, string> = {
  resource: 'List',
  createdAt: 'Made at',
  amountFen: 'Price',
  number: 'Credited',
  orderType: 'Type',
  nftCount: 'NFTs',
  apiVersion: 'Lookup',
  blockHeight: 'Block',
  txHash: 'Transaction hash',
  minUnit: 'Smallest unit',
  initialSupply: 'First supply',
  maxSupply: 'Greatest supply',
  sha256: 'SHA-256',
  operationId: 'Id',
  startedAt: 'Began',
  endedAt: 'Ended',
  slicesDone: 'Days',
  recordsNew: 'New',
  recordsChanged: 'Changed',
  recordsRejected: 'Rejects',
  lastError: 'Last trouble',
  dueAt: 'Looked at next',
  deadlineAt: 'Deadline',
  unresolved: 'Pending',
  numbersJson: 'What is wrong',
};

/** Their pages say what the catalogue says of them. */
const ownPages = lists.filter(({ name }) => name !== 'alerts');
/** Fields that stand over a column of a page, or in its form. */
const fieldsOnPages = new Set(
  ownPages.flatMap(({ shown, filters }) => [...shown, ...Object.keys(filters)]),
);
/** What the numbers of fields mean, and what became of a record. */
const terms = new Set(
  lists.flatMap(({ fields }) =>
    Object.keys(fields).flatMap((name) => {
      const { words = {}, values = [] } = columnOf(fields, name) ?? {};
      return [...Object.values(words), ...(name === 'change' ? values : [])];
    }),
  ),
);

type Sentence = keyof typeof sentences;
type PlacesOf<Text> = Text extends `${string}{${infer Place}}${infer Rest}`
  ? (Place extends `${infer Name}:${string}`
      ? Record<Name, number>
      : Record<Place, string | number>) &
      PlacesOf<Rest>
  : unknown;

/** A sentence as its reader reads it, with what stands in its `{places}`; whole numbers are written there in his way. */
export type Say = <S extends Sentence>(
  sentence: S,
  ...places: unknown extends PlacesOf<S> ? [] : [PlacesOf<S>]
) => string;

/** `chinese`: null for English, where `{days:one day|# days}` is what stands for one and for any other number. */
export function sayIn(
  chinese: Record<Sentence, string> | null,
  number: (value: number) => string,
): Say {
  return (sentence, ...[places]) =>
    (chinese?.[sentence] ?? sentence).replaceAll(
      /\{( ?)(\w+)(?::([^|}]*)\|([^}]*))?\}/g,
      (_, space: string, name: string, one: string | undefined, others: string) => {
        const value = (places as Record<string, string | number>)[name] ?? '';
        const text = typeof value === 'number' ? number(value) : value;
        if (one !== undefined) return value === 1 ? one : others.replace('#', text);
        return (/^[!-~]/.test(text) ? space : '') + text;
      },
    );
}

/** By the catalogue's names, and by values that are stored. */
export const en = {
  /** Sentences of a paragraph. */
  between: ' ',
  punctuation: { and: ', ', comma: ', ', colon: ': ', semicolon: '; ', stop: '.' },
  /** By the catalogue: lists, what they are, their fields, and what numbers mean. */
  lists: Object.fromEntries(
    lists.map(({ name }) => [name, titles[name] ?? capital(spelt(name))]),
  ) as Record<Resource, string> & Record<string, string>,
  abouts: Object.fromEntries(
    ownPages
      .filter(({ resource }) => resource === null)
      .map(({ name, summary, about }) => [name, `${summary}. ${about}`]),
  ),
  fields: Object.fromEntries(
    [...fieldsOnPages].map((name) => [name, heads[name] ?? capital(spelt(name))]),
  ),
  /** What stands in English where it is declared: of columns, settings, and kinds of problems. */
  meanings: {} as Record<string, string>,
  terms: Object.fromEntries([...terms].map((word) => [word, word])) as Record<
    OrderOutcome,
    string
  > &
    Record<string, string>,
  /** Of lists without a row: how they fill. */
  empty: {
    orders: 'None yet. The first run reads the days of this month and the last.',
    nft_classes: 'None yet. The first run reads the days of this month and the last.',
    transactions:
      'None yet. The platform has no list of results: give the ids of operations to outlast watch, or to POST /archive/v1/watch.',
    tokens: 'None yet. Tokens are read once a day.',
    coverage: 'No day yet. The first run enters the days of this month and the last.',
    books: 'None yet. The platform is asked for its counts once a day has been read.',
    certificates:
      'No month is certified yet: the first certificate follows when a month has left the window.',
    runs: 'No run has begun yet. outlast sync makes one, outlast start one every minute.',
    rejects: 'None: every record so far had an id and a length that can be kept.',
    watched_operations:
      'None yet. Give the ids of operations to outlast watch, or to POST /archive/v1/watch.',
    facts: 'Nothing was observed yet. The first run does.',
    problems: 'Nothing is wrong.',
  } as Record<string, string>,
  balances: {
    more: 'it counts more',
    equal: 'equal',
    'less or unknown': 'less or unknown',
  } as Record<string, string>,
  watched: { open: 'asked for still', done: 'done', lost: 'lost' } as Record<string, string>,
  states: {
    open: 'not yet read to its end',
    walked: 'read, not sealed yet',
    sealed: 'proved and sealed',
    final: 'kept for good',
    lost: 'lost',
    unproved: 'read, not all held yet',
    doubtful: 'kept for good, never proved whole',
    proved: 'all held, orders pending',
  } satisfies Record<SliceState | DayMark, string>,
  proofs: {
    none: 'not proved',
    readings: 'two readings, one from each end',
    books: 'two readings, one from each end, and the platform counts the same',
  } satisfies Record<Proof, string>,
  whys: {
    'not over': 'the day is not over',
    'not read': 'not read to its end',
    'read once': 'no other reading has confirmed it',
    'showed less': 'the last reading showed less than is held',
    'counts more': 'the platform counted more of it than it showed',
    'books do not balance':
      'the platform’s counts were not asked for since, or counted more than was shown',
    'shows nothing': 'before the window an empty answer proves nothing',
    pending: 'orders are pending',
    'month is going': 'from 14 hours before its month leaves the window nothing is proved',
    clock: 'the time it was read at is not certain',
    rejects: 'a record of it could not be taken in, and is kept aside',
  } satisfies Record<Why, string>,
  ends: { oldest: 'oldest record', newest: 'newest record' },
  kinds: {
    pages: 'pages of a reading',
    contents: 'contents of records',
    reading: 'the end of a reading',
    dropped: 'left out: the list is not asked for any more',
    missing: 'records that the platform showed no more',
    returned: 'records that it showed again',
    certified: 'a certificate of the month',
  } satisfies Record<Exclude<DayEntry['kind'], 'ledger'>, string>,
  one: {
    orders: 'Order',
    nft_classes: 'NFT class',
    transactions: 'Transaction result',
    tokens: 'Token',
  } satisfies Record<Resource, string>,
  outcomes: {
    done: 'done',
    quiet: 'done, nothing new',
    idle: 'nothing was due',
    part: 'done, of what was asked for',
    left: 'left something undone',
    parked: 'the platform refused it',
    stopped: 'was stopped',
    failed: 'failed',
  } as Record<string, string>,
  /** By the fact's name without its list; what is not here has no sentence. */
  factNames: {
    limit: 'The most records that a page gives',
    older_days: 'Whether it answers for days before the last month',
    oldest_day: 'The oldest day that it showed',
    totals: 'Whether its totals can be believed',
    total_scope: 'What a total counts',
  } as Record<string, string>,
  /** By name and value. */
  factValues: {
    'older_days answered': 'it does',
    'older_days not shown': 'it shows nothing of them',
    'older_days refused': 'it refuses them',
    'totals present': 'they count what is shown',
    'totals absent': 'it gives none',
    'totals inconsistent': 'they cannot',
    'total_scope list': 'the whole list',
    'total_scope page': 'its page alone',
  } as Record<string, string>,
  sources: {
    environment: 'environment',
    file: 'file',
    demo: 'set by the demo',
    default: 'default',
  } satisfies Record<SettingInForce['from'], string>,
  secrets: { set: 'set', 'not set': 'not set' } as Record<string, string>,
};

export type Words = typeof en;
