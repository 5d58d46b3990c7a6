// Every sentence of the web pages, in English; words-zh.ts has the same in Chinese, and does not compile without one.
// Sentences that the archive itself writes (alerts, refusals, errors) stay English.
import type { DayEntry } from '../../query/reports.ts';
import type {
  ListedResource,
  Proof,
  Resource,
  SettingInForce,
  SliceState,
  Why,
} from '../../model.ts';
import { lists } from '../../query/lists.ts';
import { columnOf } from '../../query/selected-columns.ts';
import { snake } from '../../query/record-text.ts';

export type Lang = 'en' | 'zh';

/** What the pages name by themselves; resources.ts says them of an order's status. */
type OrderOutcome = 'pending' | 'succeeded' | 'failed';

/** Numbers, days and times as they are shown. */
type BooksWords = {
  list: string;
  first: string;
  last: string;
  /** Null where the platform gives no total. */
  total: string | null;
  /** From `byStatus`; '' where they are not known. */
  statuses: string;
  /** One of `holds`. */
  holds: string;
  asked: string;
};

/** As a name of the catalogue reads: `txHash` is `tx hash`. */
const spelt = (name: string): string => snake(name).replaceAll('_', ' ');
const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const orOne = (count: string): string => (count === '1' ? 'one' : count);
/** `one day`, `3 days`. */
const some = (count: string, noun: string): string =>
  `${orOne(count)} ${noun}${count === '1' ? '' : 's'}`;

/** What a person calls otherwise than the catalogue. */
const titles: Record<string, string> = {
  nft_classes: 'NFT classes',
  transactions: 'Transaction results',
  facts: 'Observed',
};
const heads: Record<string, string> = {
  resource: 'List',
  to: 'To (excluded)',
  createdAt: 'Made at',
  amount: 'Price',
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
  provedAt: 'Proved at',
  numbersJson: 'What is wrong',
};

/** Fields that stand over a column of a page, or in its form. */
const fieldsOnPages = new Set(
  lists.flatMap(({ shown, filters }) => [...shown, ...Object.keys(filters)]),
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

export const en = {
  /** Sentences of a paragraph. */
  between: ' ',
  punctuation: { and: ', ', comma: ', ', colon: ': ', semicolon: '; ', stop: '.' },
  other: '中文',
  skip: 'Skip to the content',
  nav: {
    label: 'Pages',
    overview: 'Overview',
    figures: 'Figures',
    more: 'More lists',
    settings: 'Settings',
    docs: 'Interface',
  },
  project: 'Project',
  choose: 'Show',
  json: 'This page as JSON',
  signOut: 'Sign out',
  utc: 'All days and times are UTC.',
  none: 'none',
  unknown: 'unknown',
  never: 'never',
  documents: 'More about this:',
  stale: 'no answer: this may be out of date',

  /** By the catalogue: lists, what they are, their fields, and what numbers mean. */
  lists: Object.fromEntries(
    lists.map(({ name }) => [name, titles[name] ?? capital(spelt(name))]),
  ) as Record<Resource, string> & Record<string, string>,
  abouts: Object.fromEntries(
    lists
      .filter(({ resource, name }) => resource === null && name !== 'alerts')
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
    final: 'held for good',
    lost: 'lost',
  } satisfies Record<SliceState, string>,
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

  headline: {
    nothing: 'Nothing is archived yet.',
    noneOver: 'By the clock of this machine no archived day is over yet.',
    nothingMore:
      'The first run enters the days of this month and the last. It begins within a minute.',
    safe: (days: string) =>
      days === '1' ? 'The one day so far is safe.' : `All ${days} days are safe.`,
    doubtful: (safe: string, days: string) =>
      `${safe} days are safe; of ${orOne(days)} not all is held, and the platform has forgotten ${days === '1' ? 'it' : 'them'}.`,
    notYet: (days: string, of: string) =>
      `${days} of ${of} days ${days === '1' ? 'is' : 'are'} not safe yet.`,
    readOnceOnly: (days: string, of: string) =>
      `All ${of} days are read; ${days === '1' ? 'one waits' : `${days} wait`} for another reading.`,
    lost: (days: string, safe: string) =>
      `${safe} days are safe; ${orOne(days)} ${days === '1' ? 'is' : 'are'} lost for ever.`,
    closes: (month: string, span: string) => `${month} leaves the platform’s window in ${span}`,
    closed: (month: string) => `${month} has left the platform’s window`,
    books: (b: BooksWords) =>
      `From ${b.first} to ${b.last} the platform ${b.total === null ? 'gives no total of' : `counts ${b.total}`} ${b.list}${b.statuses}. ${b.holds} Asked at ${b.asked}.`,
    lists: { orders: 'orders', nft_classes: 'NFT classes' } satisfies Record<
      ListedResource,
      string
    >,
    byStatus: (succeeded: string, failed: string, pending: string, others: string | null) =>
      `: ${succeeded} succeeded, ${failed} failed, ${pending} pending${others === null ? '' : `, ${others} of another status`}`,
    holds: {
      equal: 'All of these are held.',
      less: (shown: string) => `Its lists showed ${shown}: all of these are held.`,
      more: (parts: string, since: string) =>
        `This has not balanced since ${since}: ${parts}. These days are read again, first after a quarter of an hour, later once a day, until it does.`,
      part: (days: string, counted: string, shown: string) =>
        `of ${days} it counts ${counted} and showed ${shown}`,
      partOfStatus: (days: string) => `of ${days} it counts more of a status than it showed`,
      unread: 'Not all of these days had been read then; it is asked again.',
    },
    readOnce: (days: string, at: string) =>
      days === '1'
        ? `One day is to be read once more, at ${at}, to make sure that nothing is missing.`
        : `${days} days are to be read once more, from ${at} on, to make sure that nothing is missing.`,
    unsettled: (days: string) => `Of ${some(days, 'day')} all is held, and orders are pending.`,
    noRisk: 'nothing is at risk.',
    lostMore: (days: string) =>
      `${days}. The platform had forgotten them before they were read whole; what was read is kept.`,
    doubt: (days: string) =>
      `Of ${some(days, 'day')} not all is held: never proved, or a record could not be taken in.`,
    moreProblems: (count: string) => `And ${count} more.`,
    whatToDo: 'What to do',
  },
  calendar: {
    title: 'Every day, and how sure it is',
    about: 'A cell is a day of one list. Choose one to see what is held and why it is trusted.',
    keys: 'The arrow keys go from day to day and from list to list, Home and End to the ends of a month.',
    unproved: 'read, not all held yet',
    doubtful: 'kept for good, not all held',
    proved: 'all held, orders pending',
    years: 'Years',
    newest: 'The newest months',
  },
  stats: {
    title: 'What is held',
    since: (day: string) => `since ${day}`,
  },
  day: {
    title: (resource: string, day: string) => `${resource} of ${day}`,
    noSuch: 'The archive has no such day.',
    ours: 'held here',
    platform: 'counted by the platform',
    shown: 'shown by the last reading',
    provedAt: 'Proved at',
    walkedAt: 'Read to its end at',
    deadline: 'Should be proved by',
    dueAt: 'Looked at next',
    pending: 'Orders still pending',
    missing: 'No longer shown by the platform',
    rejects: 'Records without a usable id',
    changes: 'What changed later',
    record: 'Record',
    changed: 'What changed',
    moreChanges: 'There are more: each record’s own history has all of its changes.',
    readings: 'Readings',
    provedBy:
      'Two of them, one from each end of the list and two hours apart, prove the day; a day apart where they show nothing.',
    beganAt: 'Begun at',
    endedAt: 'Ended at',
    from: 'From the',
    ends: { oldest: 'oldest record', newest: 'newest record' },
    lacks: 'Held or counted, not shown',
    growing: 'today: still growing',
    history: 'What was written, entry by entry',
    byDatabase: 'Written at: by the clock of the database’s machine, not by the platform’s.',
    entry: 'Entry',
    kind: 'What',
    some: (some: string, of: string) => `${some} of ${of}`,
    kinds: {
      pages: 'pages of a reading',
      contents: 'contents of records',
      reading: 'the end of a reading',
      dropped: 'left out: the list is not asked for any more',
      missing: 'records that the platform showed no more',
      returned: 'records that it showed again',
      certified: 'a certificate of the month',
    } satisfies Record<Exclude<DayEntry['kind'], 'ledger'>, string>,
    records: 'Records',
    previous: 'The day before',
    next: 'The day after',
    list: 'The records of this day',
  },
  records: {
    search: 'Search by id',
    find: 'Find',
    filter: 'Filter',
    any: 'any',
    recordName: 'Name contains',
    asOf: 'As known at',
    asOfHint: 'an instant, such as 2026-11-01T00:00:00Z, or a day: at its end',
    order: 'Order',
    oldest: 'oldest first',
    newest: 'newest first',
    next: 'Next page',
    previous: 'Previous page',
    first: 'First page',
    csv: 'All of these as CSV',
    empty: 'Nothing matches.',
    count: (count: string) => some(count, 'record'),
    rows: (count: string) => some(count, 'row'),
    invalid: 'This cannot be asked:',
    limit: 'Records a page',
    clear: 'Clear the filter',
    pages: 'Pages of this list',
    goesOn: 'Nothing matches among the records looked through so far. The next page goes on.',
    onlyFirst: (count: string) => `The first ${count} are shown here.`,
    whole: (days: string) =>
      days === '1' ? 'This day is wholly covered.' : `All ${days} days are wholly covered.`,
    notWhole: (days: string, of: string, forGood: string) =>
      of === '1'
        ? `This day is not wholly covered${forGood === '0' ? ' yet' : ', and will not be'}:`
        : `${days} of ${of} days ${days === '1' ? 'is' : 'are'} not wholly covered${forGood === '0' ? '' : `, ${forGood} of them for good`}:`,
    wholeThen: (days: string) =>
      days === '1'
        ? 'This day was wholly covered then.'
        : `All ${days} days were wholly covered then.`,
    notWholeThen: (days: string, of: string) =>
      `Of ${days} of ${of} days the proof is younger than that, or missing:`,
    more: (count: string) => `and ${count} more`,
    notHeld: (days: string) =>
      `${capital(some(days, 'day'))} ${days === '1' ? 'is' : 'are'} none of the archive’s.`,
    noDays: 'None of these days is in the archive.',
    asKnownAt: (time: string) => `As it was known at ${time}.`,
    nowInstead: 'As it is now',
    missing: 'no longer shown',
    yes: 'yes',
    no: 'no',
    units: { fen: 'fen', main: 'currency units', short: 'units' },
  },
  record: {
    one: {
      orders: 'Order',
      nft_classes: 'NFT class',
      transactions: 'Transaction result',
      tokens: 'Token',
    } satisfies Record<Resource, string>,
    notThen: (time: string) => `At ${time} nothing was known of it yet.`,
    earlier: (count: string) =>
      `${count} earlier contents are not shown here; they are in the JSON.`,
    folded: (count: string) => capital(some(count, 'earlier content')),
    moreFields: (count: string) => `and ${some(count, 'more field')}`,
    moreCharacters: (count: string) => `… and ${count} more characters: the JSON has all of them.`,
    noted: 'What the archive noted of it',
    changes: 'What changed against the content in force before',
    late: 'seen at',
    bytes: (count: string) => `${count} bytes`,
    fetched: 'Fetched at',
    address: 'From',
    mediaType: 'Kind',
    download: 'Download',
    noSuch: 'The archive holds no such record.',
    fields: 'What it says',
    raw: 'As the platform gave it',
    history: 'Everything it was ever seen to say',
    inForce: (from: string, until: string) => `in force ${from} – ${until}`,
    now: 'now',
    neverInForce: 'came late and was never in force',
    current: 'in force now',
    added: 'new',
    removed: 'gone',
    was: 'was',
    became: 'became',
    field: 'Field',
    same: 'nothing else changed',
    first: 'first seen',
    missing: (since: string) => `The platform no longer shows it, since ${since}.`,
    message: 'The platform says:',
    asOf: 'See it as it was known at',
    files: 'Certificate file',
  },
  figures: {
    title: 'What came in',
    by: 'By',
    byDay: 'day',
    byMonth: 'month',
    zone: 'Time zone',
    zoneNote: (zone: string) =>
      `Days and months are those of ${zone}. A day is held when all UTC days that it touches are.`,
    orders: 'Orders by outcome',
    amounts: 'Spent, in currency units',
    types: 'Orders by type',
    classes: 'Classes made',
    growth: 'NFTs minted and burnt',
    accounts: 'Accounts that spent most',
    owners: 'Owners with the most classes',
    classesOf: 'Classes',
    nfts: 'NFTs',
    spent: 'spent',
    ofOtherStatus: 'of another status',
    minted: 'minted',
    burnt: 'burnt',
    type: (type: string) => `type ${type}`,
    period: 'Period',
    settled: 'all held and settled',
    incomplete: 'not all held',
    lost: 'lost for ever',
    lostDays: (days: string) => `${some(days, 'day')} lost for ever`,
    incompleteDays: 'Of some of these days not all is held.',
    incompleteNote: (isLocal: boolean) =>
      `Striped: not all is held, for days are not read or not proved yet, as today never is${isLocal ? ', or lie partly before the archive’s first day' : ''}. Do not report these as they stand.`,
    lostNote: (days: string) =>
      days === '1'
        ? 'Red: a day is lost for ever. The platform had forgotten it before it was read whole.'
        : `Red: ${days} days are lost for ever. The platform had forgotten them before they were read whole.`,
    asTable: 'The same as a table',
    csv: 'As CSV',
    lastDays: 'The last 60 days',
    allMonths: 'All months',
    sum: 'Sum',
    coverage: 'Coverage',
    heldDays: (held: string, settled: string, of: string) =>
      `${held} of ${of} days are all held; ${settled} of them are settled, with no order pending`,
    about: (what: string, from: string, to: string, sums: string, doubtful: string) =>
      `${what}, ${from} – ${to}: ${sums}${doubtful === '' ? '' : `; periods of which not all is held: ${doubtful}`}`,
    unknownPrice: 'price unknown',
    unknownCount: 'count unknown',
    transfers: 'transfers',
    growthNote:
      'By when it was first seen. A class is looked at while its month can be read; what it held when it was first seen is in no growth.',
    ownersNote: 'As they own them now, whatever the days.',
    someOwners: 'Only some owners’ classes are archived.',
    noAccount: 'no account shown',
    noOwner: 'no owner shown',
    many: 'So many orders take a while to add up by account.',
    addUp: 'Add them up',
    nothing: 'Nothing came in within these days.',
    noneDrawn: 'None within these days.',
    lately: 'What came in lately',
    latelyAbout: 'Orders by outcome, the last 31 days',
    more: 'All figures',
  },
  runs: {
    now: 'Now',
    idle: 'Nothing is being read at the moment.',
    nextAt: (time: string) => `The next look is due at ${time}.`,
    running: (done: string, due: string) => `${some(done, 'day')} done, ${due} still due`,
    rate: (rate: string) => `${some(rate, 'day')} a minute`,
    clocks: (platform: string, database: string) =>
      `Times are by the platform’s clock, ${platform} now. What a day’s page says of its journal is by the clock of the database’s machine, ${database} now.`,
    remaining: (span: string) => `about ${span} left`,
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
    goesOn: 'goes on',
    cutOff: 'was cut off',
    inHand: 'Being read now',
    wholeOf: (owner: string) => `the whole list of ${owner}`,
    pages: (pages: string) => `${some(pages, 'page')} so far`,
    parked: (since: string) => `The platform has refused the key since ${since}.`,
    askAgain: (time: string) => `It is asked again at ${time}.`,
    nothingDue: 'Nothing is due any more.',
    succeeded: (time: string) => `All that was due was done last at ${time}.`,
    noRun: 'No run has begun yet.',
  },
  alerts: {
    open: 'What is wrong',
    past: 'Over, or told once',
    none: 'Nothing is wrong.',
    nonePast: 'None lately.',
    until: 'Something can be done until',
    told: 'Told',
    notTold: 'told nobody yet',
    untold: 'Nobody is told of these: no webhook is set. To set one:',
    resolved: 'Over since',
    what: 'What was wrong',
    subject: 'About',
    once: 'told once',
  },
  certificates: {
    days: 'Days',
    held: 'all held',
    lost: (days: string) => `${orOne(days)} lost`,
    notHeld: (days: string) => `${orOne(days)} not all held`,
    unsettled: (days: string) => `${orOne(days)} with orders pending`,
    books: (from: string, to: string, total: string, shown: string, asked: string) =>
      `From ${from} to ${to} the platform counted ${total}, its lists showed ${shown}: asked at ${asked}`,
    file: 'Certificate',
    more: 'The command recomputes every digest from what is held and says what differs. A certificate can also be checked without Outlast, by psql or a shell.',
    read: 'Records as certified',
  },
  facts: {
    /** By the fact's name without its list; what is not here has no sentence. */
    names: {
      limit: 'The most records that a page gives',
      older_days: 'Whether it answers for days before the last month',
      oldest_day: 'The oldest day that it showed',
      totals: 'Whether its totals can be believed',
      total_scope: 'What a total counts',
    } as Record<string, string>,
    /** By name and value. */
    values: {
      'older_days answered': 'it does',
      'older_days not shown': 'it shows nothing of them',
      'older_days refused': 'it refuses them',
      'totals present': 'they count what is shown',
      'totals absent': 'it gives none',
      'totals inconsistent': 'they cannot',
      'total_scope list': 'the whole list',
      'total_scope page': 'its page alone',
    } as Record<string, string>,
  },
  settings: {
    title: 'Settings in force',
    about: 'Secrets are never shown: only whether they are set.',
    name: 'Name',
    value: 'Value',
    source: 'From',
    meaning: 'Meaning',
    sources: {
      environment: 'environment',
      file: 'file',
      demo: 'set by the demo',
      default: 'default',
    } satisfies Record<SettingInForce['from'], string>,
    secrets: { set: 'set', 'not set': 'not set' } as Record<string, string>,
    empty: 'None were given: a demo goes by its own.',
    none: 'Not shown here: they are for whoever may read every project.',
  },
  signIn: {
    title: 'Sign in',
    about: 'This archive is reached over a network, so that a key is needed.',
    key: 'Bearer key',
    wrong: 'This key opens nothing here.',
    foreign: 'This form did not come from this page: open it again, and sign in there.',
    tooMany: 'Too many wrong keys: wait a minute and try again.',
    how: 'Whoever runs the service can make one: see “Bearer keys”.',
  },
  trouble: {
    title: 'This cannot be shown at the moment',
    refused: 'This cannot be asked',
    database:
      'The archive’s database does not answer. Nothing that is held is harmed by that, and nothing has to be done for the page: it shows the archive again as soon as the database answers.',
    busy: 'This took too long and was given up. Ask for fewer days.',
    unforeseen: 'Something went wrong that nobody foresaw. It is in the service’s log.',
    notFound: 'There is no such page.',
    forbidden: 'You may not read this project.',
    whichProject: 'Which project?',
    again: 'Try again',
  },
};

export type Words = typeof en;
