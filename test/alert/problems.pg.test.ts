// What is wrong with an archive, by the view that says so: each kind by what is stored, at moments of the platform's
// clock to the millisecond; and what a process adds to it.
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { reportsOf, unknownTo, type ProcessState } from '../../src/alert/update-alerts.ts';
import { silentLog } from '../../src/log.ts';
import type { ListedResource } from '../../src/model.ts';
import { problemAdvice, problemKinds, problemText } from '../../src/problems.ts';
import { noteClock, readProblems, reportProblems } from '../../src/store/alerts/problem-rows.ts';
import { openDb, type Db, type Queryable, type Tx } from '../../src/store/db.ts';
import { fresh, setUp } from '../support/fresh.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { writeProjects, writeRow } from '../support/rows.ts';

const at = (text: string): number => Date.parse(text);
const hour = 3_600_000;
const day = 24 * hour;
const noon = at('2026-04-06T12:00:00Z');
/** March's deadline with the margin of a day. */
const deadline = at('2026-04-30T00:00:00Z');

let database: TestDatabase;
let db: Db;
/** Nothing of a test is left behind. */
let tx: Queryable;
let giveBack: () => Promise<void>;
setUp(async (keep) => {
  database = await keep(createTestDatabase());
  db = await keep(
    openDb({ connectionString: database.connectionString, log: silentLog(), max: 1 }),
  );
});
beforeEach(async () => {
  const client = await db.pool.connect();
  await client.query(`begin; set local time zone 'UTC'`);
  tx = client;
  giveBack = async () => {
    await client.query('rollback');
    client.release();
  };
  await writeProjects(tx, ['p'], { addedAt: '2026-03-01' });
});
afterEach(() => giveBack());

/** Days of orders that nothing was read of, but for what the columns say. */
async function slices(days: readonly string[], of: Record<string, unknown> = {}): Promise<void> {
  for (const day of days) {
    await writeRow(tx, 'sync.slices', {
      project_id: 'p',
      resource: 'orders',
      day,
      why: 'not read',
      last_error: 'attempts' in of ? 'x' : null,
      deadline_at: day < '2026-04-01' ? '2026-04-30T00:00:00Z' : '2026-05-30T00:00:00Z',
      ...of,
    });
  }
}
const proved = { state: 'sealed', proof: 'books', why: null } as const;
/** A day of each list that was read last then, and is due. */
async function read(lists: Partial<Record<ListedResource, string | null>>): Promise<void> {
  for (const [resource, when] of Object.entries(lists)) {
    const due = { due_at: '2026-04-06T00:00:00Z', observed_at: when };
    await slices(['2026-04-06'], { ...proved, resource, ...due });
  }
}
const readBoth = (when: string | null): Promise<void> => read({ orders: when, nft_classes: when });
const contact = (resource: string, value: string, since: string): Promise<unknown> =>
  tx.query(
    `insert into sync.facts (project_id, fact, value, confirmed_at, changed_at) values ('p', $1, $2, $3, $3)`,
    [`${resource}.contact`, value, since],
  );
const ran = async (id: string, startedAt: string, outcome: string | null): Promise<unknown> =>
  tx.query(
    `insert into sync.runs (project_id, run_id, started_at, ended_at, outcome)
     values ('p', $1, $2, case when $3::text is not null then $2::timestamptz end, $3)`,
    [id, startedAt, outcome],
  );
/** A run that goes on; its process has held the project for so long. */
async function running(ms: number): Promise<void> {
  await setClock(noon);
  await ran('now', '2026-04-06T11:59:00Z', null);
  await tx.query(
    `insert into sync.holders (project_id, holder, held_since, held_until)
     values ('p', 'h', now() - make_interval(secs => $1), now() + interval '30 s')`,
    [ms / 1000],
  );
}
const setClock = (now: number): Promise<unknown> =>
  tx.query(
    `update sync.projects set clock_ahead = $1::timestamptz - now(), clock_noted_at = now()`,
    [new Date(now).toISOString()],
  );

async function found(now = noon) {
  await setClock(now);
  return (await readProblems(tx, null)).map((one) => ({ ...one, text: problemText(one) }));
}
const kinds = async (now = noon): Promise<string[]> => (await found(now)).map(({ kind }) => kind);
const told = async (now = noon) =>
  (await found(now)).map(({ kind, subject, text }) => ({ kind, subject, text }));
const two = ['2026-03-04', '2026-03-05'];

describe('days', () => {
  it('there are none where all is well', async () => {
    await slices(two, proved);
    await readBoth('2026-04-06T12:00:00Z');
    expect(await found()).toEqual([]);
  });

  const failing = { ...proved, attempts: 5 };
  const readOnce = { state: 'walked', why: 'read once' };
  // prettier-ignore
  it.each<[what: string, of: object, now: number, expected: string[]]>([
    ['without proof, long before the deadline', {}, deadline - 72 * hour - 1, []],
    ['without proof, in the closing period', {}, deadline - 72 * hour, ['deadline_at_risk']],
    ['without proof, at the deadline', {}, deadline, ['deadline_missed']],
    ['without proof, after the cliff, undecided yet', {}, deadline + 30 * hour, ['deadline_missed']],
    ['read once, and waiting for the second reading', readOnce, deadline + 10 * hour - 1, []],
    ['read once, when the month is about to go', readOnce, deadline + 10 * hour, ['deadline_missed']],
    ['proved and failing, before the deadline', failing, deadline - 1, ['proof_fails']],
    ['proved and failing, while the end is far enough', failing, deadline + 10 * hour - 1, ['proof_fails']],
    ['proved and failing, from 14 hours before the end on', failing, deadline + 10 * hour, []],
    ['proved and failing, after the end', failing, deadline + 30 * hour, []],
    ['proved, after four attempts, which are none too many', { ...proved, attempts: 4 }, noon, []],
  ])('%s', async (_, of, now, expected) => {
    await slices(two, { ...of });
    expect(await kinds(now)).toEqual(expected);
  });

  it('name the list, the count, the first days, and until when', async () => {
    const many = Array.from({ length: 12 }, (_, i) => `2026-03-${String(i + 1).padStart(2, '0')}`);
    await slices(many, { owner: 'iaa1x', resource: 'nft_classes' });
    expect(await found(deadline - hour)).toEqual([
      {
        projectId: 'p',
        kind: 'deadline_at_risk',
        level: 'critical',
        subject: 'nft_classes of iaa1x 2026-03',
        numbers: expect.objectContaining({ days: 12 }) as unknown,
        isNews: false,
        since: null,
        until: deadline,
        text: 'nft_classes of iaa1x 2026-03: 12 days (2026-03-01, 2026-03-02, 2026-03-03 and more) are still without proof, to be done by 2026-04-30 00:00 UTC.',
      },
    ]);
    const [missed] = await found(deadline);
    expect(missed).toMatchObject({
      until: at('2026-05-01T00:00:00Z'),
      text: 'nft_classes of iaa1x 2026-03: the deadline of 2026-04-30 00:00 UTC has passed and 12 days (2026-03-01, 2026-03-02, 2026-03-03 and more) are without proof. The platform forgets this month at 2026-05-01 00:00 UTC.',
    });
  });

  it("an owner's whole list has no deadline, and is told by name when it fails", async () => {
    const whole = { resource: 'nft_classes', owner: 'o', deadline_at: '9999-12-31' };
    await slices(['0001-01-01'], { ...whole, attempts: 5 });
    expect(await told()).toMatchObject([
      { kind: 'proof_fails', subject: 'nft_classes of o as a whole' },
    ]);
  });

  it('P7: days that were lost, or left unproved, are told', async () => {
    await slices(two, { state: 'lost' });
    await slices(['2026-03-09'], { state: 'final' });
    expect(await told()).toEqual([
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

  it('what only happened is info once it has been known for a day', async () => {
    await slices(two, { state: 'lost' });
    const levels: string[] = [];
    for (const ms of [0, 23 * hour, 25 * hour]) {
      levels.push((await found(noon + ms))[0]?.level ?? '');
      await tx.query(
        `insert into sync.alerts (project_id, kind, subject, text, opened_at, resolved_at)
         values ('p', 'day_lost', 'orders 2026-03', 'x', $1, $1) on conflict do nothing`,
        [new Date(noon).toISOString()],
      );
    }
    expect(levels).toEqual(['critical', 'critical', 'info']);
    expect((await found(noon + 25 * hour))[0]?.since).toBe(noon);
  });
});

describe('operations', () => {
  const give = (
    id: string,
    state: string,
    due: string | null,
    added = '2026-04-01',
  ): Promise<unknown> =>
    tx.query(
      `insert into sync.watched_operations (project_id, operation_id, created_on, state, deadline_at, added_at)
       values ('p', $1, '2026-03-09', $2, $3, $4)`,
      [id, state, due, added],
    );

  // prettier-ignore
  it.each([
    ['long before', deadline - 72 * hour - 1, []],
    ['near their deadline', deadline - hour, ['transactions 2026-03: 2 operations have no final result yet, and should by 2026-04-30 00:00 UTC.']],
    ['after it', deadline, ['transactions 2026-03: the deadline of 2026-04-30 00:00 UTC has passed and 2 operations have no final result.']],
  ])('still open %s', async (_, now, texts) => {
    await give('a', 'open', '2026-04-30');
    await give('b', 'open', '2026-04-30');
    const subject = 'transactions 2026-03';
    expect(await told(now)).toEqual(
      texts.map((text) => ({ kind: 'operation_at_risk', subject, text })),
    );
  });

  it('with a final result by one lookup are no trouble, although the other is still asked', async () => {
    await give('a', 'open', '2026-04-30');
    await tx.query(
      `insert into archive.transactions (project_id, api_version, operation_id, status, raw, raw_sha256, observed_at, first_seen_at, changed_at)
       values ('p', 'v3', 'a', 0, '{}', '', now(), now(), now())`,
    );
    expect(await kinds(deadline)).toEqual(['operation_at_risk']);
    await tx.query('update archive.transactions set status = 2');
    expect(await kinds(deadline)).toEqual([]);
  });

  it('that were given an hour ago are late, and no sooner', async () => {
    await give('a', 'open', '2026-04-06T13:00:00Z', '2026-04-06T11:00:00.001Z');
    expect(await kinds()).toEqual([]);
    expect(await kinds(noon + 1)).toEqual(['operation_at_risk']);
  });

  it('P7: that were lost are told by their month and number, never by their ids', async () => {
    await give('secret', 'lost', null);
    expect(await told()).toEqual([
      {
        kind: 'operation_lost',
        subject: 'transactions 2026-03',
        text: "transactions 2026-03: 1 operation is lost: the month left the platform's window before a final result was found. `outlast status` names it.",
      },
    ]);
  });
});

it('failing proofs, rejects, changed facts, missing records', async () => {
  await slices(two, {
    ...proved,
    attempts: 5,
    due_at: '2026-05-01',
    observed_at: '2026-04-06T12:00:00Z',
  });
  await tx.query(
    `insert into sync.rejects (project_id, resource, sha256, bytes, reason, owner, day, seen_at)
     values ('p', 'orders', 'a', '', '', '', '2026-03-04', '2026-04-01')`,
  );
  await tx.query(
    `insert into sync.facts (project_id, fact, value, previous, confirmed_at, changed_at)
     values ('p', 'orders.day_end', 'exclusive', 'inclusive', '2026-04-06', '2026-04-06'),
            ('p', 'orders.limit', '50', 'unknown', '2026-04-06', '2026-04-06'),
            ('p', 'orders.totals', 'old', 'older', '2026-04-06', '2026-03-01')`,
  );
  await tx.query(
    `insert into archive.orders (project_id, operation_id, slice_day, observed_at, first_seen_at, changed_at, raw, raw_sha256, missing_since)
     values ('p', 'a', '2026-03-05', '2026-03-05', '2026-03-05', '2026-03-05', '{}', '', '2026-04-05T12:00:00Z'),
            ('p', 'b', '2026-03-05', '2026-03-05', '2026-03-05', '2026-03-05', '{}', '', '2026-04-05T12:00:00.001Z')`,
  );
  const rows = await told();
  expect(rows.map(({ kind, subject }) => `${kind} ${subject}`)).toEqual([
    'fact_changed orders.day_end',
    'proof_fails orders 2026-03',
    'records_missing orders 2026-03-05',
    'rejects orders',
  ]);
  expect(rows.map(({ text }) => text).join(' ')).toMatch(
    /orders.day_end was inclusive and is exclusive now\. .* shows 1 record that .* 1 record without a usable id, .* kept as a reject /,
  );
});

describe('runs', () => {
  it('say which list is down, since when, and what that endangers', async () => {
    await slices([...two, '2026-04-04', '2026-04-05']);
    await slices(['2026-03-06'], { state: 'walked', why: 'read once' });
    await read({ nft_classes: '2026-04-06T12:00:00Z' });
    await contact('orders', 'refused:why', '2026-04-06T11:00:00Z');
    expect(await found()).toMatchObject([
      {
        kind: 'parked',
        subject: 'orders',
        until: at('2026-05-01T00:00:00Z'),
        text: 'The platform refuses orders to the key since 2026-04-06 11:00 UTC. They are asked for again hourly, at once under another key, or by `outlast sync`. 4 days of them are without proof, and the platform forgets 2026-03 at 2026-05-01 00:00 UTC.',
      },
    ]);
  });

  type Left = {
    /** When each list was read last: one time for both. */
    read?: string | null | Partial<Record<ListedResource, string | null>>;
    contacts?: [resource: string, value: string, since: string][];
    /** How runs ended, the newest first, a minute apart. */
    ended?: string;
    runningMs?: number;
    more?: string;
  };
  const then = '2026-04-06T12:00:00Z';
  const late = '2026-04-06T10:45:00Z';
  const inTime = '2026-04-06T10:45:01Z';
  const longAgo = '2026-03-01T00:00:00Z';
  const both = 'run_failed nft_classes, run_failed orders';
  const countMore = (since: string): string =>
    `insert into sync.books (project_id, resource, owner, no, day_from, day_to, asked_at, total, shown, is_more, is_equal, asks, in_words)
     values ('p', 'orders', '', 1, '2026-03-01', '2026-04-05', '${since}', 8, 7, true, false, 'list', false)`;
  const failing = `insert into sync.slices (project_id, resource, day, why, attempts, last_error, deadline_at) values ('p', 'orders', '2026-03-04', 'not read', 5, 'x', '2026-04-07')`;
  const quiet = `insert into sync.runs (project_id, run_id, started_at, ended_at, outcome) values ('p', 'd', '2026-04-06T06:00:00Z', '2026-04-06T06:00:01Z', 'quiet')`;
  const parked = `update sync.projects set parked_at = now()`;

  // prettier-ignore
  it.each<[what: string, left: Left, expected: string]>([
    ['a parked project is that and nothing more', { read: longAgo, more: parked }, 'parked '],
    ['75 minutes without a page, each list by itself', { read: late }, both],
    ['a list that is refused, at once, while a run is busy with the other', { read: then, contacts: [['orders', 'refused:why', then]], runningMs: day }, 'parked orders'],
    ['a list that fails for 75 minutes, though the other is read', { read: then, contacts: [['nft_classes', 'fails:why', late]], runningMs: day }, 'run_failed nft_classes'],
    ['results that are refused, and tokens that fail', { read: then, contacts: [['tokens', 'fails:why', late], ['transactions', 'refused:why', then]] }, 'parked transactions, run_failed tokens'],
    ['a list that fails for less', { read: then, contacts: [['orders', 'fails:why', inTime]] }, ''],
    ['a list that nobody asks for any more', { read: { orders: longAgo }, contacts: [['orders', 'unused', longAgo]], more: failing }, ''],
    ['the same of one resource, when all runs have ended', { read: { orders: then, nft_classes: late } }, 'run_failed nft_classes'],
    ['the same, while a run is busy with the other', { read: { orders: then, nft_classes: late }, runningMs: day }, ''],
    ['a page since then', { read: inTime }, ''],
    ['nothing read since the project was added', { read: null }, both],
    ['three failed runs', { read: '2026-03-06T12:00:00Z', ended: 'failed idle failed failed' }, 'run_failed '],
    ['one run of three that came through', { ended: 'failed quiet failed' }, ''],
    ['two runs', { ended: 'failed failed' }, ''],
    ['books that count more, for a day', { more: countMore('2026-04-05') }, 'books_differ orders'],
    ['the same for less', { more: countMore('2026-04-05T12:00:01Z') }, ''],
    ['runs that leave something due, for six hours', { ended: 'left left' }, 'work_left '],
    ['the same for less', { ended: 'left', more: quiet }, ''],
    ['the first run after five weeks off, still going on', { read: longAgo, runningMs: 1.25 * hour - 1 }, ''],
    ['the same, for an hour without a page', { read: longAgo, runningMs: 1.25 * hour }, both],
  ])('%s', async (_, left, expected) => {
    if (typeof left.read === 'object' && left.read !== null) await read(left.read);
    else if (left.read !== undefined) await readBoth(left.read);
    for (const one of left.contacts ?? []) await contact(...one);
    for (const [i, outcome] of (left.ended?.split(' ') ?? []).entries()) {
      await ran(`${i}`, new Date(noon - i * 60_000).toISOString(), outcome);
    }
    if (left.runningMs !== undefined) await running(left.runningMs);
    if (left.more !== undefined) await tx.query(left.more);
    const told = (await found()).map(({ kind, subject }) => `${kind} ${subject}`);
    expect(told.toSorted().join(', ')).toBe(expected);
  });
});

it('a clock that was noted more than an hour ago hides no service that is off', async () => {
  await tx.query(`update sync.projects set added_at = now() - interval '1 day'`);
  await read({ orders: null });
  await tx.query(`update sync.projects set clock_ahead = '-3 days', clock_noted_at = now()`);
  expect(await readProblems(tx, 'p')).toEqual([]);
  await tx.query(`update sync.projects set clock_noted_at = now() - interval '61 minutes'`);
  expect(await readProblems(tx, 'p')).toMatchObject([{ kind: 'run_failed', subject: 'orders' }]);
});

it('a clock that was noted after the reader began is the one that decides', async () => {
  const { connectionString } = await fresh(createTestDatabase());
  const { pool } = await fresh(openDb({ connectionString, log: silentLog(), max: 2 }));
  await writeProjects(pool, ['p'], { addedAt: '2026-04-06T11:30:00Z' });
  const orders = { project_id: 'p', resource: 'orders', day: '2026-04-06' };
  const times = { due_at: '2026-04-06T00:00:00Z', deadline_at: '2026-05-30T00:00:00Z' };
  await writeRow(pool, 'sync.slices', { ...orders, ...proved, ...times });
  const reader = await pool.connect();
  onTestFinished(() => reader.release(true));
  await reader.query('begin');
  expect(await readProblems(reader, 'p')).toMatchObject([{ kind: 'run_failed' }]);
  await noteClock(pool, 'p', noon);
  expect(await readProblems(reader, 'p')).toEqual([]);
});

it('a clock is noted anew while it stays as it is, every nine minutes', async () => {
  const noted = async (): Promise<unknown> => {
    await noteClock(tx, 'p', noon);
    const { rows } = await tx.query(
      `select clock_noted_at = now() - interval '1 minute' as now from sync.projects`,
    );
    return rows;
  };
  expect(await noted()).toEqual([{ now: true }]);
  const old = (minutes: number) =>
    tx.query(`update sync.projects set clock_noted_at = now() - make_interval(mins => $1)`, [
      minutes,
    ]);
  await old(9);
  expect(await noted()).toEqual([{ now: false }]);
  await old(11);
  expect(await noted()).toEqual([{ now: true }]);
});

describe('what a process adds', () => {
  const state = (more: Partial<ProcessState> = {}): ProcessState => ({
    now: noon,
    isOverdue: false,
    failedInARow: 0,
    machine: 'web-1',
    clocks: null,
    files: [],
    exportEnd: null,
    ...more,
  });
  const reported = (more: Partial<ProcessState>, projectId = 'p'): Promise<void> => {
    const watch = state(more);
    const unknown = unknownTo(watch);
    return reportProblems(tx as Tx, projectId, watch.now, reportsOf(watch), watch.machine, unknown);
  };

  const forAnHour = { of: 'machine', byMs: 366 * day, forMs: hour } as const;
  // prettier-ignore
  it.each<[Partial<ProcessState>, string | null]>([
    [{ exportEnd: { trouble: null } }, null],
    [{ exportEnd: { trouble: 'failed' } }, 'The archive was not exported as scheduled. The log says why.'],
    [{ exportEnd: { trouble: 'late' } }, 'No export has ended for a day longer than its schedule says: one may hang.'],
    [{ exportEnd: { trouble: 'missed', dueAt: at('2026-04-06T03:20:00Z') } }, 'The export due at 2026-04-06 03:20 UTC was not made then. It was made up when the service started.'],
    [{ clocks: forAnHour }, "The clock of web-1 is 366 days behind the platform's: nothing is sealed, final or lost before every clock says so. Set the wrong one right (NTP)."],
    [{ clocks: { of: 'answers', byMs: hour, forMs: hour } }, "The platform's answers contradict each other about the time, by 60 minutes: nothing is sealed, final or lost before every clock says so."],
    [{ clocks: { ...forAnHour, forMs: hour - 1 } }, null],
  ])('%j', (more, text) => {
    const texts = reportsOf(state(more)).map((one) => problemText(one));
    expect(texts).toEqual(text === null ? [] : [text]);
  });

  it('that a project was never reached, for the third time; of one that was entered its runs say so', async () => {
    await reported({ failedInARow: 2 }, 'q');
    expect(await kinds()).toEqual([]);
    await reported({ failedInARow: 3 }, 'q');
    await reported({ failedInARow: 3 });
    expect(await found()).toMatchObject([
      { projectId: 'q', kind: 'run_failed', numbers: { trouble: 'never', runs: 3 } },
    ]);
  });

  it('stays until it knows better; clocks of other machines for a day', async () => {
    const off = { of: 'machine', byMs: day, forMs: day } as const;
    await reported({ isOverdue: true, clocks: off, exportEnd: { trouble: 'failed' } });
    expect((await kinds()).toSorted()).toEqual(['clock_disagrees', 'export_failed', 'run_failed']);
    await reported({ machine: 'web-2' });
    expect((await kinds()).toSorted()).toEqual(['clock_disagrees', 'export_failed']);
    await reported({ machine: 'web-2', now: noon + 26 * hour, exportEnd: { trouble: null } });
    expect(await kinds()).toEqual([]);
  });

  it('of the files says nothing before a run has come to them, also after a restart', async () => {
    const altered = { kind: 'archive_altered', text: 'March is not as certified' } as const;
    await reported({ files: [altered] });
    await reported({ files: null });
    expect(await kinds()).toEqual(['archive_altered']);
    await reported({ files: [] });
    expect(await kinds()).toEqual([]);
  });

  it('a forecast stands until its deadline, before what the days say, and gives way to a newer one', async () => {
    await slices(two);
    const numbers = { requests: 7, tooLate: 2, perSecond: 0.1, perSecondNeeded: 1.2 };
    const risk = {
      kind: 'deadline_at_risk' as const,
      subject: 'orders 2026-03',
      numbers: { deadline: '2026-04-30T00:00:00Z', ...numbers },
      until: deadline,
    };
    await reportProblems(tx as Tx, 'p', noon, [risk], 'web-1', []);
    const text =
      'orders 2026-03: 2 days cannot be read by 2026-04-30 00:00 UTC: 7 requests are too many at 0.1 a second (OUTLAST_MAX_RPS). 2 or more would do.';
    expect(await told(deadline - hour)).toMatchObject([{ kind: 'deadline_at_risk', text }]);
    expect(await kinds(deadline)).toEqual(['deadline_missed']);
    await setClock(noon);
    expect(await readProblems(tx, 'p', new Map([['p', []]]))).toEqual([]);
    const more = { ...risk, numbers: { ...risk.numbers, requests: 9 } };
    const [newer] = await readProblems(tx, 'p', new Map([['p', [more]]]));
    expect(newer?.numbers.requests).toBe(9);
  });
});

describe('words', () => {
  it('each kind has a sentence and an advice in both languages', () => {
    for (const kind of problemKinds) {
      for (const lang of ['en', 'zh'] as const) {
        const text = problemText({ kind, subject: 'x', numbers: { text: 'y' } }, lang);
        expect(text).toMatch(/[.。]$/);
        expect(problemAdvice(kind, lang)).toMatch(lang === 'zh' ? /\p{Script=Han}/u : /^[A-Z]/);
      }
    }
  });

  it('a kind of a later release is told by its name', () => {
    expect(problemText({ kind: 'constructor', subject: 'x', numbers: {} })).toBe('constructor x');
    expect(problemAdvice('constructor', 'en')).toBeNull();
  });
});
