// Small mistakes, each of which at least one of the tests named beside it must notice. `find` is looked for in all of
// src/ and must stand there exactly once, however its lines are broken: one that is gone or not alone is an error, not
// a pass.

export type Mutant = {
  area: 'judge' | 'commit' | 'lease' | 'cursor' | 'signature' | 'reader' | 'clock';
  /** What the program does then. */
  wrong: string;
  find: string;
  put: string;
  /** Test files below test/, without `.test.ts`. */
  tests: readonly string[];
};

/** The text with any white space where it has some. */
export const anywhere = (text: string): RegExp =>
  new RegExp(text.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&').replaceAll(/\s+/g, '\\s+'), 'g');

type Given = readonly [wrong: string, find: string, put: string, ...tests: string[]];

const of = (area: Mutant['area'], given: readonly Given[]): Mutant[] =>
  given.map(([wrong, find, put, ...tests]) => ({ area, wrong, find, put, tests }));

export const mutants: readonly Mutant[] = [
  ...of('judge', [
    [
      'a day is over at midnight',
      'overAfterMs = 15 * minuteMs',
      'overAfterMs = -2 * minuteMs',
      'sync/judge',
    ],
    [
      'two readings at once prove each other',
      'apartMs = 2 * hourMs',
      'apartMs = 15 * minuteMs',
      'sync/judge',
    ],
    [
      'readings of the freeze count',
      'freezeMs = 14 * hourMs',
      'freezeMs = 0 * hourMs',
      'sync/judge',
    ],
    [
      'a month is decided when it ends in UTC',
      'decidedAfterMs = 12 * hourMs',
      'decidedAfterMs = 0 * hourMs',
      'sync/judge',
    ],
    ['a second reading comes a moment too early', 'gapMs + slackMs', 'gapMs', 'sync/judge'],
    [
      'a record of one midnight vouches for its day',
      'first % quarterMs !== 0',
      'true',
      'sync/dialects.pg',
    ],
    [
      'a record too long to be held counts against each status',
      '(shown.byStatus[i] ?? 0) + unknown',
      '(shown.byStatus[i] ?? 0)',
      'sync/poison.pg',
    ],
    [
      'a record of unknown status hides as many of any status',
      'counted > shown.all || isStatusMore',
      'isStatusMore',
      'sync/reconcile',
    ],
    [
      'days before the window are in no books',
      "deadline_at >= '9999-12-31')\n      order by day",
      'false)\n      order by day',
      'sync/older.pg',
    ],
    [
      'days that are no longer answered for wait for ever',
      'answersOlder(facts, resource) ? gone : null',
      'gone',
      'sync/older.pg',
    ],
    [
      'a reading of a time to come counts',
      'ended.now <= clocks.now + agreeMs',
      'true',
      'sync/judge',
    ],
    [
      'a reading counts that began before the day was over',
      'isWhole(one) && one.ended.latest < frozenAt',
      'one.ended.latest < frozenAt',
      'sync/judge',
    ],
    [
      'what was read in the freeze is lost',
      '|| readings.some((one) => isWhole(one) && one.shown > 0)',
      '',
      'sync/judge',
    ],
    [
      'a reading before the newest record is complete',
      'one.no < day.newsNo || one.lacks > 0',
      'one.lacks > 0',
      'sync/judge',
    ],
    [
      'a reading that lacks a record is complete',
      'one.no < day.newsNo || one.lacks > 0',
      'one.no < day.newsNo',
      'sync/judge',
    ],
    [
      'that nothing is there is believed after two hours',
      'one.shown > 0 ? apartMs : dayMs',
      'apartMs',
      'sync/judge',
    ],
    [
      'two readings from one end prove each other',
      'older.end !== one.end && apart(',
      'apart(',
      'sync/judge',
    ],
    [
      'the older reading may be flawed',
      'complete.find((older)',
      'counted.find((older)',
      'sync/judge',
    ],
    ['one reading is enough', `if (partner === undefined) return 'read once';`, '', 'sync/judge'],
    [
      'no books are needed',
      'books === null || books.no < partner.no || books.isMore',
      'false',
      'sync/judge',
    ],
    [
      'books that count more are overlooked',
      'books.no < partner.no || books.isMore',
      'books.no < partner.no',
      'sync/judge',
    ],
    [
      'books are good that were made before the readings',
      'books.no < partner.no || books.isMore',
      'books.isMore',
      'sync/judge',
    ],
    [
      'a day with pending orders is sealed',
      `return day.pending > 0 ? 'pending' : null;`,
      'return null;',
      'sync/judge',
    ],
    [
      'what cannot be taken back follows the best estimate',
      'clocks.earliest >= day.goesAt',
      'clocks.now >= day.goesAt',
      'sync/judge',
    ],
    ['what was read is lost', `return isRead ? 'final' : 'lost';`, `return 'lost';`, 'sync/judge'],
    [
      'no reading at once of a day that counts more',
      'newest === undefined || (countsMore && books.no > newest.no)',
      'newest === undefined',
      'sync/judge',
    ],
    [
      'what is not proved is read every quarter of an hour',
      'retryMs * 2 ** (tries - 1)',
      'retryMs',
      'sync/judge',
    ],
    [
      'the next reading begins at the same end',
      `last?.end === 'asc' ? 'desc' : 'asc'`,
      `last?.end ?? 'asc'`,
      'sync/judge',
    ],
    [
      "the platform's clock alone says how far readings are apart",
      'younger.began.machine - older.ended.machine,',
      'Infinity,',
      'sync/judge',
    ],
    [
      "the machine's clock alone says how far readings are apart",
      ', younger.began.now - older.ended.now);',
      ');',
      'sync/judge',
    ],
    [
      'the second reading comes before it can confirm',
      'Math.max(newest.ended.now + doubledMs, confirmsAt)',
      'newest.ended.now + doubledMs',
      'sync/judge',
    ],
    [
      'what is proved is read every hour',
      'return newest.ended.now + dayMs;',
      'return newest.ended.now + hourMs;',
      'sync/judge',
    ],
    [
      'the sum of the statuses does not count',
      'statuses.reduce((sum, one) => sum + one, 0)',
      '0',
      'sync/reconcile',
    ],
    [
      'more in a status is overlooked',
      'counted > shown.all || isStatusMore',
      'counted > shown.all',
      'sync/reconcile',
    ],
    [
      'a span that counts more is not halved',
      'row.isMore && span.to - span.from > 1',
      'false',
      'sync/reconcile',
    ],
    [
      'a span that counts more without a half is balanced',
      'yield { write: row }; return row.isMore;',
      'if (!row.isMore || span.to - span.from === 1) yield { write: row }; return row.isMore;',
      'sync/reconcile',
    ],
  ]),
  ...of('commit', [
    [
      'P2: older pages are taken',
      'and (observed_at is null or observed_at <= $7)',
      'and ($8::timestamptz is not null)',
      'store/commit.pg',
    ],
    [
      'P1: pages have no entry',
      'writePages(tx, slice, walk, pages),',
      'undefined,',
      'store/commit.pg',
    ],
    [
      'rejects are dropped',
      'writeRejects(tx, slice, pages),\n    storeRecords',
      'Promise.resolve([]),\n    storeRecords',
      'store/commit.pg',
    ],
    [
      'what is held already fails a first walk',
      "if (isFirstWalk && mayBeHeld.has(codeOf(error) ?? ''))",
      'if (false)',
      'store/commit.pg',
    ],
    [
      'P5: what was replaced is forgotten',
      'where k.raw_sha256 <> n.raw_sha256\n',
      'where false\n',
      'store/commit.pg',
    ],
    ['P2: the oldest content is in force', '`${term} desc`', '`${term} asc`', 'store/commit.pg'],
    [
      'P4: statements run as whoever connects',
      `\`set local role \${role ?? 'to default'}\``,
      `'set local role to default'`,
      'store/commit.pg',
    ],
    [
      'P1: what was begun is committed when it fails',
      `await client.query('rollback').catch`,
      `await client.query('commit').catch`,
      'store/commit.pg',
    ],
    [
      'P1: what may have been committed is done again',
      'hasBegun && results.length < group.length',
      'hasBegun',
      'store/group-commit',
    ],
    [
      'P5: original bytes are not kept',
      'rawBytes: fits ? null : Buffer.from(text)',
      'rawBytes: null',
      'store/commit.pg',
    ],
    [
      'the journal is told nothing',
      "await enterStored(tx, slice, { kind: 'pages', says }, stored);",
      '',
      'verify/heads.pg',
    ],
    [
      'the end of the chain is not compared',
      'if (said?.no !== is?.no || said?.head !== is?.head)',
      'if (false)',
      'verify/sabotage.pg',
    ],
    [
      'heads go to the file of another chain',
      'last.kept !== null && !(await isHeadHeld(db, projectId, last.kept))',
      'false',
      'verify/heads.pg',
    ],
    [
      'a record that is shown again stays missing',
      'missing_since = null,\n             changed_at',
      'changed_at',
      'sync/missing.pg',
    ],
  ]),
  ...of('lease', [
    [
      'P8: the epoch decides nothing',
      "const fence = `; select sync.write_as_holder('${projectId}', ${epoch})`;",
      "const fence = '';",
      'store/holders.pg',
    ],
    [
      'P8: a statement by itself writes past the fence',
      'query: single(`${begin}; set transaction read only`),',
      'query: single(begin),',
      'store/holders.pg',
    ],
    [
      'P8: who takes a project leaves the epoch',
      'process = $3, epoch = epoch + 1,',
      'process = $3,',
      'store/holders.pg',
    ],
    [
      'P8: a project is taken that another holds',
      'const isHeld = !found.isFree &&',
      'const isHeld = false &&',
      'store/holders.pg',
    ],
    [
      'a lease that has run out holds for ever',
      'or held_until not between statement_timestamp() and',
      'or held_until not between held_until and',
      'store/holders.pg',
    ],
    ['a project is not given back', 'await taken.release();', '', 'sync/run.pg'],
    [
      'a frozen session keeps its project',
      'and query_start < clock_timestamp() - make_interval',
      'and query_start > clock_timestamp() + make_interval',
      'store/holders.pg',
    ],
    [
      'today waits for all other days',
      'order by (day = $3::date) desc, deadline_at',
      'order by (day = $3::date), deadline_at',
      'sync/order.pg',
    ],
    [
      'days never read wait like all others',
      'deadline_at, (whole_walk > 0), day',
      'deadline_at, day',
      'sync/order.pg',
    ],
  ]),
  ...of('cursor', [
    [
      'a cursor serves another query',
      'given === version && query === fingerprint && ',
      'given === version && ',
      'query/cursor',
    ],
    [
      'a cursor of another release is read',
      'const isOurs = given === version && ',
      'const isOurs = ',
      'query/cursor',
    ],
    ['a damaged cursor is read', ' && parts.at(-1) === digestOf(content);', ';', 'query/cursor'],
    [
      'a cursor need not say on which side its page lies',
      `key === null || !(side === 'after' || side === 'before')`,
      'key === null',
      'query/cursor',
    ],
    [
      'what is undefined makes another query',
      '.filter(([, value]) => value !== undefined);\n  return digestOf(',
      ';\n  return digestOf(',
      'query/cursor',
    ],
    [
      'a query is not told by its list',
      'return digestOf([list, given.toSorted(',
      'return digestOf([given.toSorted(',
      'query/cursor',
    ],
    [
      'the record a page ended with is shown again',
      'sql`>` : sql`<`} (${after.day}',
      'sql`>=` : sql`<=`} (${after.day}',
      'query/lists.pg',
    ],
  ]),
  ...of('signature', [
    [
      'parameters are not sorted',
      'Object.keys(query).toSorted(compareUtf8)',
      'Object.keys(query)',
      'platform/sign',
    ],
    [
      'parameters are sorted by UTF-16',
      'Object.keys(query).toSorted(compareUtf8)',
      'Object.keys(query).toSorted()',
      'platform/sign',
    ],
    [
      'a body is not signed',
      `const body = bodySha256 === undefined ? '' : `,
      `const body = bodySha256 !== undefined ? '' : `,
      'platform/sign',
    ],
    [
      'the secret stands before the time',
      'bodySha256) + timestamp + secret',
      'bodySha256) + secret + timestamp',
      'platform/sign',
    ],
    [
      'parameters have no prefix',
      'JSON.stringify(`query_${name}`)',
      'JSON.stringify(name)',
      'platform/sign',
    ],
  ]),
  ...of('reader', [
    ['a list may end anyhow', 'if (code !== 0x2c && code !== 0x5d) fail();', '', 'platform/json'],
    [
      'text behind a value is overlooked',
      'if (!Number.isNaN(next())) fail();',
      '',
      'platform/json',
    ],
    [
      'control characters in a string are taken',
      'else if (!(code >= 0x20)) fail();',
      '',
      'platform/json',
    ],
    [
      'zones count the wrong way round',
      `zone.startsWith('-') ? -1 : 1`,
      `zone.startsWith('-') ? 1 : -1`,
      'platform/times',
    ],
    [
      'every fourth year is a leap year',
      'year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)',
      'year % 4 === 0',
      'platform/times',
    ],
    ['microseconds are cut off', 'fraction.slice(0, 6)', 'fraction.slice(0, 3)', 'platform/times'],
    ['an empty id is an id', `if (id === '') return { wrong: 'is empty' };`, '', 'platform/parse'],
    [
      'an id that cannot be stored is taken',
      `if (storable(id) !== id) return { wrong: 'holds characters that cannot be stored' };`,
      '',
      'platform/parse',
    ],
    [
      'ids of any length are taken',
      'if (Buffer.byteLength(id) > maxIdBytes) return { wrong',
      'if (false) return { wrong',
      'platform/parse',
    ],
    [
      'an error envelope is an empty page',
      `if (error !== undefined && error !== null) throw unreadable('it is an error envelope');`,
      '',
      'platform/pages',
    ],
    [
      'a total of none beside records is believed',
      'total === 0 && shown > 0 ? null : total',
      'total',
      'platform/pages',
    ],
    [
      'a key that cannot be read ends the walk',
      `if (key === null) throw unreadable('next_page_key is not text');`,
      `if (key === null) return { nextKey: null, nextKeyForm: 'null' };`,
      'platform/pages',
    ],
    [
      'keys are digested as they came',
      'const sorted = keys.toSorted(compareUtf8).map(',
      'const sorted = keys.map(',
      'platform/canonical',
    ],
    [
      'a number beyond the column is put into it',
      'return whole > max || whole < -max - 1n ? unread(fields, name) : String(whole);',
      'return String(whole);',
      'platform/parse',
    ],
  ]),
  ...of('clock', [
    [
      'one answer is the time',
      'const answersKept = 9;',
      'const answersKept = 1;',
      'platform/clock',
    ],
    [
      'what is certainly past is what the latest clock says',
      'Math.floor(Math.min(wallNow(), ...dates))',
      'Math.floor(Math.max(wallNow(), ...dates))',
      'platform/clock',
    ],
    [
      'what is possible is what the earliest clock says',
      'Math.floor(Math.max(wallNow(), ...recent()))',
      'Math.floor(Math.min(wallNow(), ...recent()))',
      'platform/clock',
      'sync/time.pg',
    ],
    [
      'this machine alone says what is past',
      'dates.length === 0 ? -Infinity : ',
      '',
      'platform/clock',
      'sync/time.pg',
    ],
  ]),
];
