// Small mistakes, each of which at least one of the tests named beside it must notice.

export type Mutant = {
  area: 'judge' | 'commit' | 'lease' | 'reader' | 'clock' | 'catalogue';
  /** What the program does then. */
  wrong: string;
  /** What is looked for in all of src/. It must stand there exactly once, however its lines are broken. */
  find: string;
  put: string;
  /** Test files below test/, without `.test.ts`. */
  tests: readonly string[];
};

/** The text with any white space where it has some. */
export const anywhere = (text: string): RegExp =>
  new RegExp(text.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&').replaceAll(/\s+/g, '\\s+'), 'g');

/** `change`: as a word diff of git shows it, `[-is-]{+becomes+}`. Without tests those of the area must notice. */
type Given = readonly [wrong: string, change: string, ...tests: string[]];

const of = (area: Mutant['area'], test: string, given: readonly Given[]): Mutant[] =>
  given.map(([wrong, change, ...tests]) => ({
    area,
    wrong,
    find: change.replaceAll(/\{\+.*?\+\}/g, '').replaceAll(/\[-(.*?)-\]/g, '$1'),
    put: change.replaceAll(/\[-.*?-\]/g, '').replaceAll(/\{\+(.*?)\+\}/g, '$1'),
    tests: tests.length > 0 ? tests : [test],
  }));

export const mutants: readonly Mutant[] = [
  ...of('judge', 'sync/judge', [
    ['a day is over at midnight', 'overAfterMs = [-15-]{+-2+} * minuteMs'],
    ['two readings at once prove each other', 'apartMs = [-2 * hourMs-]{+15 * minuteMs+}'],
    ['readings of the freeze count', 'freezeMs = [-14-]{+0+} * hourMs'],
    ['a month is decided when it ends in UTC', 'decidedAfterMs = [-12-]{+0+} * hourMs'],
    ['a second reading comes a moment too early', 'gapMs[- + slackMs-]'],
    [
      'days are read by spans from both ends',
      "if ([-next.end !== 'asc'-]{+false+}) continue;",
      'sync/quiet-day.e2e',
    ],
    [
      'a span that shows records is taken for one that shows nothing',
      'if ([-page.shown > 0 || (page.total ?? 0) > 0-]{+false+} || page.nextKey !== null) return page',
      'sync/dialects.pg',
    ],
    [
      'a record of one midnight vouches for its day',
      '[-first % quarterMs !== 0-]{+true+}',
      'sync/dialects.pg',
    ],
    [
      'a record too long to be held counts against each status',
      '(shown.byStatus[i] ?? 0)[- + unknown-]',
      'sync/poison.pg',
    ],
    [
      'a record of unknown status hides as many of any status',
      '[-counted > shown.all || -]isStatusMore',
      'sync/reconcile',
    ],
    ['days before the window are in no books', '(day >= $4[- or ${isEndless}-])', 'sync/older.pg'],
    [
      'days that are no longer answered for wait for ever',
      'if ([-answersOlder(facts, resource)-]{+true+}) continue;',
      'sync/older.pg',
    ],
    [
      'a page without a row ends a list',
      'isNew || [-(emptyInARow-]{+(false && emptyInARow+}',
      'sync/walk',
    ],
    [
      'pages without a row are followed for ever',
      '(emptyInARow [-<= emptyAtMost-]{+> 0+}',
      'sync/walk',
    ],
    [
      'what is back after it was gone is no news',
      'Date.parse(since) <= [-writtenAt - goneAfterMs-]{+0+}',
      'sync/missing.pg',
    ],
    [
      'a total that may count its page alone says that a list is all shown',
      '!([-countsBeyond && -]seen.size > 0',
      'sync/walk',
    ],
    [
      'a total of 0 says that a list which leads on shows nothing',
      '!(countsBeyond && [-seen.size > 0 && -](mostTotal',
      'sync/walk',
    ],
    [
      'a span whose first page leads on shows nothing',
      '(page.total ?? 0) > 0[- || page.nextKey !== null-]) return page',
      'sync/single-faults.pg',
    ],
    [
      'a list leaves out no status of which the books counted none',
      'books?.byStatus?.[i] === 0 && [-mayHave(i)-]{+false+}',
      'sync/single-faults.pg',
    ],
    [
      'an owner named in capitals has no classes',
      'o.owner in ($3[-, lower($3), upper($3)-])',
      'sync/single-faults.pg',
    ],
    [
      'a capped total differs from what was proved',
      "const hadCountedAll = [-proof === 'books' && platformTotal === shownTotal-]{+true+};",
      'sync/books.pg',
    ],
    [
      'a platform that refuses dates to come fails',
      'const mayRefuseList = !isLastWay[- || asksAhead-];',
      'sync/single-faults.pg',
    ],
    [
      'a span that is refused keeps all its days unproved',
      "if ([-to - from > 1-]{+false+} && isOutlastError(error, 'platform_refused')) return null;",
      'sync/single-faults.pg',
    ],
    [
      'errors for a month that has gone put the list aside',
      "error.code === 'platform_unavailable'[- && !isOver-];",
      'sync/month-end.pg',
    ],
    [
      'an error for days before the window holds up the list',
      "[-if (isOutlastError(error, 'platform_unavailable')) return {};-]",
      'sync/single-faults.pg',
    ],
    [
      'a question that is refused alone is taken for a refused key',
      "if (!isOutlastError(error, 'platform_forbidden')) return false; try { [-await learnClockByAny(platform, [resource], signal);-]{+throw error;+}",
      'sync/single-faults.pg',
    ],
    [
      'one empty answer loses all days before the window',
      "confirmed_at >= changed_at + interval '[-1 day-]{+0 days+}'",
      'sync/older.pg',
    ],
    [
      'totals that were seen to count the list once are believed for ever',
      'isAllShown && [-counted.total === counted.shown-]{+false+}',
      'sync/single-faults.pg',
    ],
    ['a reading of a time to come counts', '[-ended.now <= clocks.now + agreeMs-]{+true+}'],
    [
      'a reading counts that began before the day was over',
      '[-isAfterDay(one) && -]one.ended.latest < frozenAt',
    ],
    ['what was read in the freeze is lost', 'inTime.length > 0[- || showsSome-]'],
    ['a reading before the newest record is complete', '[-one.no < day.newsNo || -]one.lacks > 0'],
    ['a reading that lacks a record is complete', 'one.no < day.newsNo[- || one.lacks > 0-]'],
    [
      'that nothing is there is believed after two hours',
      '[-one.shown > 0 && !isOlder ? apartMs : dayMs-]{+apartMs+}',
    ],
    ['two readings from one end prove each other', '[-older.end !== one.end && -]apart('],
    ['the older reading may be flawed', '[-complete-]{+inTime+}.find((older)'],
    ['one reading is enough', "[-if (partner === undefined) return 'read once';-]"],
    ['no books are needed', '[-books === null || books.no < partner.no || books.isMore-]{+false+}'],
    ['books that count more are overlooked', 'books.no < partner.no[- || books.isMore-]'],
    [
      'books are good that were made before the readings',
      '[-books.no < partner.no || -]books.isMore',
    ],
    ['a day with pending orders is sealed', "return [-day.pending > 0 ? 'pending' : -]null;"],
    [
      'what cannot be taken back follows the best estimate',
      'clocks.[-earliest-]{+now+} >= decidedAt',
    ],
    ['what was read is lost', "return [-isRead ? 'final' : -]'lost';"],
    [
      'no reading at once of a day that counts more',
      'newest === undefined[- || (countsMore && books.no > newest.no)-]',
    ],
    ['what is not proved is read every quarter of an hour', 'retryMs[- * 2 ** (tries - 1)-]'],
    [
      'the next reading begins at the same end',
      "[-(seen === 'asc') === isSeenAgain ? 'asc' : 'desc'-]{+seen+};",
    ],
    [
      'a list of which another end is seen than was asked for is asked for one end',
      'isSeenAgain = [-inARow > 0 && inARow % 2 === 0-]{+false+};',
      'sync/single-faults.pg',
    ],
    [
      "the platform's clock alone says how far readings are apart",
      "Math.min([-by('machine')-]{+Infinity+}, by('now'))",
    ],
    [
      "the machine's clock alone says how far readings are apart",
      "Math.min(by('machine')[-, by('now')-]);",
    ],
    [
      'a reading ended when a clock that was set back says',
      'Math.max([-older.began[clock], -]older.ended[clock])',
    ],
    [
      'the second reading comes before it can confirm',
      '[-Math.max(newest.ended.now + doubledMs, confirmsAt)-]{+newest.ended.now + doubledMs+}',
    ],
    ['what is proved is read every hour', 'return newest.ended.now + [-dayMs-]{+60 * minuteMs+};'],
    [
      'the sum of the statuses does not count',
      '[-statuses.reduce((sum, one) => sum + one, 0)-]{+0+}',
      'sync/reconcile',
    ],
    ['more in a status is overlooked', 'counted > shown.all[- || isStatusMore-]', 'sync/reconcile'],
    [
      'a span that counts more is not halved',
      'const isLeaf = [-span.to - span.from === 1 || row?.isMore === false-]{+true+};',
      'sync/reconcile',
    ],
    [
      'a span that counts more without a half is balanced',
      'isMore) ? halves : [-[...halves, row]-]{+halves+};',
      'sync/reconcile',
    ],
  ]),
  ...of('commit', 'store/commit.pg', [
    [
      'P2: older pages are taken',
      'and ([-observed_at is null or observed_at <= $7-]{+$8::timestamptz is not null+})',
    ],
    ['P1: pages have no entry', '[-writePages(tx, slice, walk, pages)-]{+undefined+},'],
    ['rejects are dropped', '[-keepRejects(tx, slice, rejected)-]{+Promise.resolve([])+},'],
    [
      'what is held already fails a first walk',
      "if ([-isFirstWalk && mayBeHeld.has(codeOf(error) ?? '')-]{+false+})",
    ],
    [
      'P2: what is compared with what is held mixes with what others hold',
      '([-expectsNew ? withMixedTx : withTx-]{+withMixedTx+})(db,',
    ],
    [
      'P5: what was replaced is forgotten',
      'where ([-k.raw_sha256 <> n.raw_sha256 or not k.arrived and n.replaces-]{+false+})',
    ],
    ['P2: the oldest content is in force', '`${term} [-desc-]{+asc+}`'],
    [
      'P4: statements run as whoever connects',
      "[-`set local role ${role ?? 'to default'}`-]{+'set local role to default'+}",
    ],
    [
      'P4: a role outlives its transaction, behind a pooler',
      "`[-set local role-]{+set role+} ${role ?? 'to default'}`",
      'store/pooler.e2e',
    ],
    [
      'P1: what was begun is committed when it fails',
      "await client.query('[-rollback-]{+commit+}').catch",
    ],
    [
      'P1: what may have been committed is done again',
      'hasBegun[- && results.size < group.length-]',
      'store/group-commit',
    ],
    [
      'P1: a transaction ends while a statement is under way',
      'await Promise.allSettled([-mixed-]{+[]+});',
      'store/group-commit',
    ],
    [
      'P8: all works run at the same time',
      'const mixed = group.filter((one) => [-one.mixes-]{+true+})',
      'store/group-commit',
    ],
    [
      'a seal outlives the news that contradicts it',
      "if ([-!isNews || slice.proof === 'none'-]{+true+}) return;",
      'sync/moving.pg',
    ],
    [
      'a proof outlives the news that contradicts it while orders are pending',
      "[-slice.proof === 'none'-]{+slice.state !== 'sealed'+}) return;",
      'sync/single-faults.pg',
    ],
    [
      'what is read after its month was decided makes a day final',
      'one.shown > 0[- && one.ended.now < decidedAt-]',
      'sync/single-faults.pg',
    ],
    [
      'what the next day showed counts for a day',
      'const showsSome = [-day.isHolding &&-] readings.some(',
      'sync/single-faults.pg',
    ],
    [
      'a record of another owner vouches for a day',
      'o.slice_day <= s.day[- ${ofOwner(resource)}-])',
      'sync/single-faults.pg',
    ],
    [
      'a walk goes on without the statuses that are asked for by now',
      'isOfToday[- || asksLess-] ?',
      'sync/single-faults.pg',
    ],
    [
      'an owner that is named no more is asked on and on',
      '[-lists: listsOf(worker.scope).filter((list) => answering.has(list.resource)),-]',
      'sync/single-faults.pg',
    ],
    [
      'a list of two days moves what stands under the second of them',
      'own !== wholeList)[- || heldUnder === besides-]);',
      'sync/single-faults.pg',
    ],
    [
      'a status that was counted may be refused to a reading',
      "mayRefuseStatus: [-evidence?.books?.readBy !== 'each status' || slice.attempts > 0-]{+true+},",
      'sync/single-faults.pg',
    ],
    [
      'a walk that fails at one page is gone on with for ever',
      'over: [-!hasMoved && slice.checkpoint !== null-]{+false+},',
      'sync/single-faults.pg',
    ],
    [
      'a missing record stays under a day that no longer shows it',
      'heldUnder !== null[- && held?.isMissing !== true-];',
      'sync/single-faults.pg',
    ],
    [
      'one refusal says that there is no filter by status',
      'const isFault = row?.byStatus === null && [-before.countsByStatus-]{+false+}',
      'sync/single-faults.pg',
    ],
    [
      'P2: what is shown again behind another was said all the time',
      'case when n.replaces [-then n.observed_at-]{+and n.raw_sha256 <> h.raw_sha256 then n.observed_at+} else h.observed_at end',
    ],
    ['P5: original bytes are not kept', 'rawBytes: [-fits ? null : Buffer.from(text)-]{+null+}'],
    [
      'the journal is told nothing',
      "[-await enterStored(tx, slice, { kind: 'pages', says }, stored);-]",
      'verify/heads.pg',
    ],
    [
      'the end of the chain is not compared',
      'where [-(said.no, said.head) is distinct from (newest.no, newest.head)-]{+false+}',
      'verify/sabotage.pg',
    ],
    [
      'the content in force may lie among the earlier ones',
      'or day_held is not null [-or is_displaced-]',
      'verify/sabotage.pg',
    ],
    [
      'a project without its line is left out',
      'unnamed = [-flags.project === undefined ? await unnamedProjects(db) : []-]{+[] as string[]+}',
      'cli/verify.e2e',
    ],
    [
      'a reject need not be all there',
      "case when whole_length is not null then [-encode(sha256(bytes), 'hex')-]{+null+} end as kept",
      'verify/sabotage.pg',
    ],
    [
      'heads go to the file of another chain',
      '[-last.kept !== null && !(await isHeadHeld(db, projectId, last.kept))-]{+false+}',
      'verify/heads.pg',
    ],
    [
      'what was given anew while it was asked for is judged as it was given before',
      'state = [-case when deadline_at is null then state else $3 end-]{+$3+}, due_at = $4',
      'sync/operations.pg',
    ],
    [
      'a record that is shown again stays missing',
      '[-missing_since = null, -]changed_at',
      'sync/missing.pg',
    ],
  ]),
  ...of('lease', 'store/holders.pg', [
    [
      'P8: the epoch decides nothing',
      "const fence = [-`; select sync.write_as_holder('${projectId}', ${epoch})`-]{+''+};",
    ],
    [
      'P8: a statement by itself writes past the fence',
      'query: single([-`${begin}; set transaction read only`-]{+begin+}),',
    ],
    ['P8: who takes a project leaves the epoch', 'process = $3,[- epoch = epoch + 1,-]'],
    ['P8: a project is taken that another holds', 'const isHeld = [-!found.isFree-]{+false+} &&'],
    [
      'a lease that has run out holds for ever',
      'or held_until not between [-statement_timestamp()-]{+held_until+} and',
    ],
    ['a project is not given back', '[-await taken.release();-]', 'sync/run.pg'],
    [
      'a frozen session keeps its project',
      'and state_change [-< clock_timestamp() --]{+> clock_timestamp() ++} make_interval',
    ],
    [
      'today waits for all other days',
      'order by (day = $12::date)[- desc-], deadline_at',
      'sync/order.pg',
    ],
    [
      'the farthest deadline goes first',
      'order by (day = $12::date) desc, deadline_at{+ desc+}',
      'sync/order.pg',
    ],
    [
      'days never read wait like all others',
      'deadline_at, [-(whole_walk > 0), -]day',
      'sync/order.pg',
    ],
  ]),
  ...of('catalogue', 'journeys/doors-agree.pg', [
    ['no filter of a list is heeded', 'if (value [-===-]{+!==+} undefined) continue; where.push('],
    ['the day after the last one counts as well', 'q.day [-<-]{+<=+} ${given(to)}'],
    [
      'a page begins with the row that the one before ended with',
      "${isBefore ? [-'<' : '>'-]{+'<=' : '>='+}}",
    ],
    [
      'a list over HTTP forgets the instant',
      '{ project: projectFor(asking, resource), [-...query-]{+...query, asOf: undefined+} }',
    ],
    [
      'a list in descending order goes on upwards',
      'terms.every(({ isDescending }) => [-isDescending-]{+false+})',
    ],
  ]),
  ...of('reader', 'platform/parse', [
    ['an empty id is an id', "[-if (id === '') return { wrong: 'is empty' };-]"],
    [
      'an id that cannot be stored is taken',
      "[-if (storable(id) !== id) return { wrong: 'holds characters that cannot be stored' };-]",
    ],
    [
      'ids of any length are taken',
      'if ([-Buffer.byteLength(id) > maxIdBytes-]{+false+}) return { wrong',
    ],
    [
      'an error envelope is an empty page',
      "[-if (error !== undefined && error !== null) throw unreadable('it is an error envelope');-]",
      'platform/pages',
    ],
    [
      'a total of none beside records is believed',
      'total[- === 0 && shown > 0 ? null : total-]',
      'platform/pages',
    ],
    [
      'a key that cannot be read ends the walk',
      "if (key === null) [-throw unreadable('next_page_key is not text')-]{+return null+};",
      'platform/pages',
    ],
    [
      'keys are digested as they came',
      'const sorted = keys.[-toSorted(compareUtf8).-]map(',
      'platform/canonical',
    ],
    [
      'a number beyond the column is put into it',
      'return [-whole > max || whole < -max - 1n ? unread(fields, name) : -]String(whole);',
    ],
  ]),
  ...of('clock', 'platform/clock', [
    ['one answer is the time', 'const answersKept = [-9-]{+1+};'],
    [
      'what is certainly past is what the latest clock says',
      'Math.floor(Math.[-min-]{+max+}(wallNow(), ...dates))',
    ],
    [
      'what is possible is what the earliest clock says',
      'Math.floor(Math.[-max-]{+min+}(wallNow(), ...recent()))',
      'platform/clock',
      'sync/time.e2e',
    ],
    [
      'this machine alone says what is past',
      '[-dates.length === 0 ? -Infinity :-]',
      'platform/clock',
      'sync/time.e2e',
    ],
  ]),
];
