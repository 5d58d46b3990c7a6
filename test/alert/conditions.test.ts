// What is worth an alert, and what becomes of it: pure, by tables and fixed clocks.
import { describe, expect, it } from 'vitest';
import { conditionsOf, type ProcessState } from '../../src/alert/conditions.ts';
import { createHeartbeat } from '../../src/alert/heartbeat.ts';
import { mergeAlerts } from '../../src/alert/merge.ts';
import { bodyOf, messageText } from '../../src/alert/message.ts';
import type { Claimed } from '../../src/store/alerts/claims.ts';
import type { MonthInputs, AlertInputs } from '../../src/store/alerts/alert-inputs.ts';
import type { Resource } from '../../src/model.ts';
import type { AlertRow } from '../../src/store/alerts/alert-rows.ts';
import type { ContactState } from '../../src/store/facts.ts';
import type { TickResult } from '../../src/sync/worker.ts';

const at = (text: string): number => Date.parse(text);
const hour = 3_600_000;
const day = 24 * hour;
/** March's deadline with the margin of a day. */
const deadline = at('2026-04-30T00:00:00Z');

/** When both resources were last read. */
const read = (text: string | null): AlertInputs['lastRead'] =>
  (['orders', 'nft_classes'] as const).map((resource) => ({
    resource,
    at: text === null ? null : at(text),
  }));
const down = (
  resource: Resource,
  state: ContactState,
  since: string,
): AlertInputs['contacts'][number] => ({ resource, state, problem: 'why', since: at(since) });
const none = { count: 0, first: [] };
const month = (more: Partial<MonthInputs> = {}): MonthInputs => ({
  resource: 'orders',
  owner: '',
  month: '2026-03-01',
  deadlineAt: deadline,
  unproved: none,
  failing: none,
  lost: none,
  finalUnproved: none,
  ...more,
});
const inputs = (more: Partial<AlertInputs> = {}): AlertInputs => ({
  project: { parked: false, addedAt: at('2026-03-01T00:00:00Z') },
  contacts: [],
  months: [],
  lastRead: read('2026-04-06T12:00:00Z'),
  lastOutcomes: ['quiet'],
  rejects: [],
  changedFacts: [],
  missing: [],
  operations: [],
  ...more,
});
const watch = (more: Partial<ProcessState> = {}): ProcessState => ({
  now: at('2026-04-06T12:00:00Z'),
  isRunning: false,
  isOverdue: false,
  watchedForMs: 0,
  failedInARow: 0,
  machine: 'web-1',
  clocks: null,
  files: [],
  exportEnd: null,
  ...more,
});
const kinds = (given: Partial<AlertInputs>, seen: Partial<ProcessState> = {}): string[] =>
  conditionsOf(inputs(given), watch({ now: at('2026-04-06T12:00:00Z'), ...seen })).map(
    ({ kind }) => kind,
  );
const two = { count: 2, first: ['2026-03-04', '2026-03-05'] };

describe('conditions', () => {
  it('there are none where all is well', () => {
    expect(kinds({ months: [month()] })).toEqual([]);
  });

  it.each([
    [{ trouble: null }, []],
    [{ trouble: 'failed' }, ['The archive was not exported as scheduled. The log says why.']],
    [
      { trouble: 'late' },
      ['No export has ended for a day longer than its schedule says: one may hang.'],
    ],
    [
      { trouble: 'missed', dueAt: at('2026-04-06T03:20:00Z') },
      [
        'The export due at 2026-04-06 03:20 UTC was not made then. It was made up when the service started.',
      ],
    ],
  ] as const)('an export on schedule: %j', (exportEnd, texts) => {
    const found = conditionsOf(inputs({ months: [month()] }), watch({ exportEnd }));
    expect(found).toEqual(texts.map((text) => ({ kind: 'export_failed', subject: '', text })));
  });

  it.each([
    ['long before the deadline', deadline - 73 * hour, []],
    ['in the closing period', deadline - 72 * hour, ['deadline_at_risk']],
    ['at the deadline', deadline, ['deadline_missed']],
    ['after the cliff, undecided yet', deadline + 30 * hour, ['deadline_missed']],
  ])('a day without proof %s', (_, now, expected) => {
    expect(kinds({ months: [month({ unproved: two })], lastRead: [] }, { now })).toEqual(expected);
  });

  it('say which list is down, since when, and what that endangers', () => {
    const [found] = conditionsOf(
      inputs({
        contacts: [down('orders', 'refused', '2026-04-06T11:00:00Z')],
        months: [month({ unproved: two }), month({ month: '2026-04-01', unproved: two })],
      }),
      watch({ now: at('2026-04-06T12:00:00Z') }),
    );
    expect(found).toEqual({
      kind: 'parked',
      subject: 'orders',
      text: 'The platform refuses orders to the key since 2026-04-06 11:00 UTC. They are asked for again hourly, at once under another key, or by `outlast sync`. 4 days of them are without proof, and the platform forgets 2026-03 at 2026-05-01 00:00 UTC.',
    });
  });

  it('name the list, the count, the first days, and until when', () => {
    const many = { count: 12, first: ['2026-03-01', '2026-03-02', '2026-03-03'] };
    const now = deadline - hour;
    const found = conditionsOf(
      inputs({
        lastRead: [],
        months: [month({ owner: 'iaa1x', resource: 'nft_classes', unproved: many })],
      }),
      watch({ now }),
    );
    expect(found).toEqual([
      {
        kind: 'deadline_at_risk',
        subject: 'nft_classes of iaa1x 2026-03',
        text: 'nft_classes of iaa1x 2026-03: 12 days (2026-03-01, 2026-03-02, 2026-03-03 and more) are still without proof, to be done by 2026-04-30 00:00 UTC.',
      },
    ]);
  });

  it("an owner's whole list has no deadline, and is told by name when it fails", () => {
    const whole = { count: 1, first: ['0001-01-01'] };
    const found = conditionsOf(
      inputs({
        months: [
          month({
            month: '0001-01-01',
            resource: 'nft_classes',
            owner: 'o',
            deadlineAt: Number.NaN,
            unproved: whole,
            failing: whole,
          }),
        ],
      }),
      watch(),
    );
    expect(found).toEqual([
      {
        kind: 'proof_fails',
        subject: 'nft_classes of o as a whole',
        text: expect.stringContaining('nft_classes of o as a whole: 1 day was tried'),
      },
    ]);
  });

  it('P7: days that were lost, or left unproved, are told', () => {
    const found = conditionsOf(
      inputs({
        months: [month({ lost: two, finalUnproved: { count: 1, first: ['2026-03-09'] } })],
      }),
      watch(),
    );
    expect(found).toEqual([
      {
        kind: 'day_lost',
        subject: 'orders 2026-03',
        text: 'orders 2026-03: 2 days (2026-03-04, 2026-03-05) are lost: the month left the window before they were read.',
      },
      {
        kind: 'day_unproved',
        subject: 'orders 2026-03',
        text: 'orders 2026-03: 1 day (2026-03-09) was read before the month left the window, and never proved.',
      },
    ]);
  });

  it.each([
    [
      'near their deadline',
      deadline - hour,
      'transactions 2026-03: 2 operations have no final result yet, and should by 2026-04-30 00:00 UTC.',
    ],
    [
      'after it',
      deadline,
      'transactions 2026-03: the deadline of 2026-04-30 00:00 UTC has passed and 2 operations have no final result.',
    ],
  ])('operations still open %s', (_, now, text) => {
    const operations = [{ month: '2026-03-01', open: 2, deadlineAt: deadline, lost: 0 }];
    expect(conditionsOf(inputs({ operations, lastRead: [] }), watch({ now }))).toEqual([
      { kind: 'operation_at_risk', subject: 'transactions 2026-03', text },
    ]);
  });

  it.each([
    [
      { of: 'machine' as const, byMs: 366 * 86_400_000, forMs: hour },
      "The clock of web-1 is 366 days behind the platform's: nothing is sealed, final or lost before every clock says so. Set it right (NTP).",
    ],
    [
      { of: 'answers' as const, byMs: hour, forMs: hour },
      "The platform's answers contradict each other about the time, by 60 minutes: nothing is sealed, final or lost before every clock says so.",
    ],
    [{ of: 'machine' as const, byMs: -hour, forMs: hour - 1 }, null],
  ])('clocks that have disagreed for an hour: %j', (clocks, text) => {
    expect(conditionsOf(inputs(), watch({ clocks }))).toEqual(
      text === null ? [] : [{ kind: 'clock_disagrees', subject: 'web-1', text }],
    );
  });

  it('P7: operations that were lost are told by their month and number, never by their ids', () => {
    const operations = [{ month: '2026-03-01', open: 0, deadlineAt: null, lost: 1 }];
    expect(conditionsOf(inputs({ operations }), watch())).toEqual([
      {
        kind: 'operation_lost',
        subject: 'transactions 2026-03',
        text: "transactions 2026-03: 1 operation is lost: the month left the platform's window before a final result was found. `outlast status` names it.",
      },
    ]);
  });

  it.each([
    ['before the deadline', deadline - 1, ['proof_fails']],
    ['after it, while its end is far enough', deadline + 9 * hour, ['proof_fails']],
    ['from 14 hours before its end on', deadline + 10 * hour, []],
    ['after its end', deadline + 30 * hour, []],
  ])('a proved day that fails %s', (_, now, expected) => {
    expect(kinds({ months: [month({ failing: two })], lastRead: [] }, { now })).toEqual(expected);
  });

  it('failing proofs, rejects, changed facts, missing records', () => {
    expect(
      kinds({
        months: [month({ failing: two })],
        rejects: [{ resource: 'orders', count: 1 }],
        changedFacts: [{ fact: 'orders.day_end', from: 'inclusive', to: 'exclusive' }],
        missing: [{ resource: 'orders', owner: '', day: '2026-03-05', count: 2 }],
      }),
    ).toEqual(['proof_fails', 'records_missing', 'rejects', 'fact_changed']);
  });

  it.each<[string, Partial<AlertInputs>, Partial<ProcessState>, string[]]>([
    [
      'a parked project is that and nothing more',
      { project: { parked: true, addedAt: 0 }, lastRead: read('2026-03-01T00:00:00Z') },
      {},
      ['parked'],
    ],
    [
      '75 minutes without a page, each list by itself',
      { lastRead: read('2026-04-06T10:45:00Z') },
      {},
      ['run_failed', 'run_failed'],
    ],
    [
      'a list that is refused, at once, while a run is busy with the other',
      { contacts: [down('orders', 'refused', '2026-04-06T12:00:00Z')] },
      { isRunning: true, watchedForMs: day },
      ['parked'],
    ],
    [
      'a list that fails for 75 minutes, though the other is read',
      { contacts: [down('nft_classes', 'fails', '2026-04-06T10:45:00Z')] },
      { isRunning: true, watchedForMs: day },
      ['run_failed'],
    ],
    [
      'results that are refused, and tokens that fail',
      {
        contacts: [
          down('tokens', 'fails', '2026-04-06T10:45:00Z'),
          down('transactions', 'refused', '2026-04-06T12:00:00Z'),
        ],
      },
      {},
      ['run_failed', 'parked'],
    ],
    [
      'a list that fails for less',
      { contacts: [down('orders', 'fails', '2026-04-06T10:45:01Z')] },
      {},
      [],
    ],
    [
      'a list that nobody asks for any more',
      {
        contacts: [down('orders', 'unused', '2026-03-01T00:00:00Z')],
        lastRead: read('2026-03-01T00:00:00Z').slice(0, 1),
      },
      {},
      [],
    ],
    [
      'the same of one resource, when all runs have ended',
      {
        lastRead: [
          ...read('2026-04-06T12:00:00Z').slice(0, 1),
          ...read('2026-04-06T10:45:00Z').slice(1),
        ],
      },
      {},
      ['run_failed'],
    ],
    [
      'the same, while a run is busy with the other',
      {
        lastRead: [
          ...read('2026-04-06T12:00:00Z').slice(0, 1),
          ...read('2026-04-06T10:45:00Z').slice(1),
        ],
      },
      { isRunning: true, watchedForMs: day },
      [],
    ],
    ['a page since then', { lastRead: read('2026-04-06T10:45:01Z') }, {}, []],
    [
      'nothing read since the project was added',
      { lastRead: read(null) },
      {},
      ['run_failed', 'run_failed'],
    ],
    ['three failed runs', { lastOutcomes: ['failed', 'failed', 'failed'] }, {}, ['run_failed']],
    ['one run of three that came through', { lastOutcomes: ['failed', 'quiet', 'failed'] }, {}, []],
    [
      'the first run after five weeks off, still going on',
      { lastRead: read('2026-03-01T00:00:00Z') },
      { isRunning: true, watchedForMs: 1.25 * hour - 1 },
      [],
    ],
    [
      'the same, for an hour without a page',
      { lastRead: read('2026-03-01T00:00:00Z') },
      { isRunning: true, watchedForMs: 1.25 * hour },
      ['run_failed', 'run_failed'],
    ],
    ['a project that was never reached', { project: null, lastRead: [] }, { failedInARow: 2 }, []],
    [
      'the same, for the third time',
      { project: null, lastRead: [] },
      { failedInARow: 3 },
      ['run_failed'],
    ],
  ])('%s', (_, given, seen, expected) => {
    expect(kinds(given, seen)).toEqual(expected);
  });
});

describe('what becomes of alerts', () => {
  const now = at('2026-04-06T12:00:00Z');
  const open = (more: Partial<AlertRow> = {}): AlertRow => ({
    kind: 'run_failed',
    subject: '',
    text: 'it failed',
    openedAt: now - 10 * hour,
    toldAt: now - 9 * hour,
    resolvedAt: null,
    attempts: 0,
    ...more,
  });
  const news = (more: Partial<AlertRow> = {}): AlertRow =>
    open({
      kind: 'rejects',
      subject: 'orders',
      text: '3 records',
      resolvedAt: now - 10 * hour,
      ...more,
    });
  const holds = ({ kind, subject }: AlertRow, text: string) => [
    { kind: kind as 'run_failed', subject, text },
  ];
  const merged = (rows: AlertRow[], conditions: ReturnType<typeof holds>) =>
    mergeAlerts(rows, conditions, now, day);
  const nothing = { put: [], drop: [] };

  it('a new condition is opened; one that goes on changes nothing; its text follows the counts', () => {
    expect(merged([], holds(open(), 'it failed')).put).toEqual([
      open({ openedAt: now, toldAt: null }),
    ]);
    expect(merged([open()], holds(open(), 'it failed'))).toEqual(nothing);
    expect(merged([open()], holds(open(), 'it failed twice')).put).toEqual([
      open({ text: 'it failed twice' }),
    ]);
  });

  it('what was told is over when its condition is gone; what nobody heard of just goes', () => {
    expect(merged([open()], []).put).toEqual([open({ resolvedAt: now })]);
    expect(merged([open({ toldAt: null })], []).drop).toHaveLength(1);
    // It was sent, and perhaps it arrived.
    expect(merged([open({ toldAt: null, attempts: 1 })], []).put).toHaveLength(1);
  });

  it('what comes back before its end was told never ended', () => {
    expect(merged([open({ resolvedAt: now - 60_000 })], holds(open(), 'it failed')).put).toEqual([
      open(),
    ]);
  });

  it('an end nobody takes is forgotten after a week', () => {
    expect(merged([open({ resolvedAt: now - 6 * day })], [])).toEqual(nothing);
    expect(merged([open({ resolvedAt: now - 8 * day })], []).drop).toHaveLength(1);
  });

  it('a deadline at risk that is missed, and a missed one whose month is lost, are no recoveries', () => {
    const risk = open({ kind: 'deadline_at_risk', subject: 'orders 2026-03' });
    const missed = open({ kind: 'deadline_missed', subject: 'orders 2026-03' });
    expect(merged([risk], holds(missed, 'missed'))).toMatchObject({ drop: [risk] });
    const lost = { ...missed, kind: 'day_lost' };
    expect(merged([missed], holds(lost, 'lost'))).toMatchObject({ drop: [missed] });
    // Of another month it is one.
    const other = { ...lost, subject: 'orders 2026-02' };
    expect(merged([missed], holds(other, 'lost'))).toMatchObject({ drop: [] });
  });

  it('news is told once, again when more of it happened a reminder later, and kept as long as it holds', () => {
    expect(merged([news()], holds(news(), '3 records'))).toEqual(nothing);
    expect(merged([news()], holds(news(), '4 records'))).toEqual(nothing);
    const old = news({ toldAt: now - 25 * hour });
    expect(merged([old], holds(old, '4 records')).put).toEqual([
      news({ text: '4 records', openedAt: now, resolvedAt: now, toldAt: null }),
    ]);
    expect(merged([news({ toldAt: null })], [])).toEqual(nothing);
    expect(merged([news()], []).drop).toHaveLength(1);
  });
});

describe('messages', () => {
  const claimed = (n: number, more: Partial<Claimed> = {}): Claimed => ({
    projectId: 'p',
    kind: 'proof_fails',
    subject: `orders ${n}`,
    text: `orders ${n}: it fails.`,
    openedAt: 1,
    toldAt: null,
    resolvedAt: null,
    attempts: 1,
    claim: '',
    ...more,
  });

  it('say what is new, what happened, what is still open and what is over, in that order', () => {
    const text = messageText([
      claimed(1, { toldAt: 2, resolvedAt: 3 }),
      claimed(2, { toldAt: 2 }),
      claimed(3, { resolvedAt: 1 }),
      claimed(4),
    ]);
    expect(text.split('\n')).toEqual([
      'Outlast: 1 new, 1 news, 1 still open, 1 over',
      '• p: orders 4: it fails.',
      '• p: orders 3: it fails.',
      '• p: Still: orders 2: it fails.',
      '• p: Over: orders 1: it fails.',
    ]);
  });

  it('sixty alerts at once are one message that counts them and names the first few', () => {
    const sixty = Array.from({ length: 60 }, (_, n) => claimed(n));
    expect(messageText(sixty).split('\n')).toEqual([
      'Outlast: 60 new',
      '• p: orders 0: it fails.',
      '• p: orders 1: it fails.',
      '• p: orders 2: it fails.',
      '… and 57 more of the same kind',
    ]);
    const body = JSON.parse(bodyOf(sixty, 'json')) as { alerts: unknown[]; left_out: number };
    expect([body.alerts.length, body.left_out]).toEqual([50, 10]);
  });

  it('stay short however many projects and kinds there are', () => {
    const flood = Array.from({ length: 5000 }, (_, n) => claimed(n, { projectId: `p${n % 900}` }));
    expect(bodyOf(flood, 'json').length).toBeLessThan(20_000);
    // WeCom counts bytes, and the heads are not what is left out.
    const wide = flood.map((one) => ({ ...one, text: `${one.text} 截止日期已过，且没有证明。` }));
    const head = { no: 1, at: '2026-04-06T12:00:00Z', head: '3f'.repeat(32) };
    const heads = flood.slice(0, 30).map(({ projectId: project }) => ({ project, ...head }));
    const { text } = JSON.parse(bodyOf(wide, 'wecom', heads)) as { text: { content: string } };
    expect(Buffer.byteLength(text.content)).toBeGreaterThan(1_800);
    expect(Buffer.byteLength(text.content)).toBeLessThanOrEqual(2_000);
    expect(text.content).toMatch(
      /^Outlast: 5000 new\n• p0: [^]*\n… `outlast alert` lists all\nJournal/,
    );
    expect(text.content.match(/head 1 is (3f){32}/g)).toHaveLength(7);
  });

  it('a name cannot address anybody in Slack', () => {
    const body = bodyOf([claimed(1, { text: 'of <!channel> & co' })], 'slack');
    expect(JSON.parse(body)).toEqual({
      text: 'Outlast: 1 new\n• p: of &lt;!channel&gt; &amp; co',
    });
  });
});

describe('the heartbeat', () => {
  const turn = (projectId: string, outcome: TickResult['outcome']): TickResult => ({
    projectId,
    outcome,
  });

  it('is not due after a run that found nothing to do: nobody knows whether it could have', () => {
    const heartbeat = createHeartbeat(['a']);
    heartbeat.note(turn('a', 'idle'));
    expect(heartbeat.isDue(0)).toBe(false);
  });

  it('is due when every project has done all that was due, again for each beat, about a minute apart', () => {
    const heartbeat = createHeartbeat(['a', 'b']);
    heartbeat.note(turn('a', 'done'));
    expect(heartbeat.isDue(0)).toBe(false);
    heartbeat.note(turn('b', 'done'));
    expect(heartbeat.isDue(0)).toBe(true);
    heartbeat.beat(0);
    heartbeat.note(turn('a', 'done'));
    heartbeat.note(turn('b', 'done'));
    expect(heartbeat.isDue(54_999)).toBe(false);
    expect(heartbeat.isDue(55_000)).toBe(true);
  });

  it.each(['left', 'failed', 'parked', 'stopped'] as const)(
    'stays away after a run that ended as %s',
    (ending) => {
      const heartbeat = createHeartbeat(['a']);
      heartbeat.note(turn('a', 'done'));
      heartbeat.note(turn('a', ending));
      expect(heartbeat.isDue(0)).toBe(false);
    },
  );

  it('leaves what another process holds to that one, and is not due where nothing is held here', () => {
    const heartbeat = createHeartbeat(['a', 'b']);
    heartbeat.note(turn('a', 'elsewhere'));
    heartbeat.note(turn('b', 'elsewhere'));
    expect(heartbeat.isDue(0)).toBe(false);
    heartbeat.note(turn('a', 'done'));
    expect(heartbeat.isDue(0)).toBe(true);
    // Taken over, it has something to do here.
    heartbeat.note(turn('b', 'running'));
    expect(heartbeat.isDue(0)).toBe(false);
  });

  it('stays away from a project that hangs in a run, however well the others do', () => {
    const heartbeat = createHeartbeat(['a', 'b']);
    heartbeat.note(turn('a', 'done'));
    heartbeat.note(turn('b', 'done'));
    heartbeat.beat(0);
    heartbeat.note(turn('b', 'running'));
    heartbeat.note(turn('a', 'done'));
    expect(heartbeat.isDue(600_000)).toBe(false);
  });
});
