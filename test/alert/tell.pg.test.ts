// Alerts end to end but for the command: a real ledger, a real receiver, several replicas, a moved clock. Each thing is
// told once, its end once, and the heartbeat is heard only while all is well.
import { isOnCluster } from '../support/postgres.ts';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createAlerts, type Alerts, type AlertsOptions } from '../../src/alert/alerts.ts';
import type { AlertSettings } from '../../src/settings/settings.ts';
import { silentLog } from '../../src/log.ts';
import { readAlertRows } from '../../src/store/alerts/alert-rows.ts';
import { openDb } from '../../src/store/db.ts';
import { releaseProject } from '../../src/store/holders.ts';
import { parkProject, unparkProject } from '../../src/store/projects.ts';
import { startSchedule } from '../../src/sync/schedule.ts';
import type { TickResult } from '../../src/sync/worker.ts';
import { noon, smallWorld, type Bench } from '../support/archive.ts';
import { fresh, setUp } from '../support/fresh.ts';
import { benchesOnOneDatabase } from '../support/one-database.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';
import { writeProjects } from '../support/rows.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
/** Few records: what is told does not depend on how many there are. */
const world = { ...smallWorld, ordersPerDay: 3, classesPerDay: 1 };
const days = ['2026-03-01', '2026-03-03', '2026-04-05', '2026-04-06'];

const createBench = benchesOnOneDatabase();
/** Synced once, for all tests that read nothing more and leave its clock alone. */
let synced: Bench;
let bench: Bench;
let receiver: Receiver;
let heart: Receiver;
const opened: Alerts[] = [];
setUp(async (keep) => {
  synced = await keep(create({ days }));
  await synced.run();
});
beforeEach(async () => {
  bench = synced;
  // The platform's time stands still, and our estimate of it runs on until an answer corrects it: over a minute on a
  // slow machine, and the end of an alert is not told when a test expects it.
  await pass(0);
  [receiver, heart] = await Promise.all([startReceiver(), startReceiver()]);
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((alerts) => alerts.close(0)));
  // As if nothing had been wrong with it.
  await synced.db.query('delete from sync.alerts');
  await synced.db.query(`delete from sync.projects where project_id <> 'p'`);
  await unparkProject(synced.db, 'p');
  await synced.db.query('update sync.slices set attempts = 0, last_error = null');
  await Promise.all([receiver.close(), heart.close()]);
});

/** The days that are left out are as if proved long ago: nothing is to be told of them. */
async function create(...[options, given]: Parameters<typeof createBench>): Promise<Bench> {
  const made = await createBench({ world, ...options }, given);
  await made.db.query(
    `update sync.slices set state = 'sealed', proof = 'books', why = null where due_at is null`,
  );
  return made;
}

/** Where the other list would show nothing more. */
const ordersAlone = { scope: { classes: 'none' } } as const;

/** An archive of the test's own, not synced yet. */
async function takeOwn(...[options, given]: Parameters<typeof createBench>): Promise<void> {
  bench = await create({ days, ...options }, given);
}

/** A while before March leaves the window. */
const late = Date.parse('2026-04-26T12:00:00Z');

function open(settings: Partial<AlertSettings> = {}, more: Partial<AlertsOptions> = {}): Alerts {
  const alerts = createAlerts({
    db: bench.db,
    settings: {
      webhookUrl: `${receiver.url}/in?token=sesame`,
      format: 'json',
      secret: null,
      heartbeatUrl: `${heart.url}/beat`,
      reminderMs: day,
      ...settings,
    },
    projects: [watched()],
    mayBeat: true,
    log: silentLog(),
    ...more,
  });
  opened.push(alerts);
  return alerts;
}

/** A project, by the clock of its platform or by one that stands still. */
const watched = (projectId = 'p', now?: number, knowsTime?: boolean) => {
  const { settings, platform } = bench.worker;
  return {
    projectId,
    settings,
    now: () => now ?? platform.clock.now(),
    disagreement: () => platform.clock.disagreement(),
    knowsTime: () => knowsTime ?? platform.clock.lastDate() !== null,
  };
};

const turn = (outcome: TickResult['outcome']): TickResult => ({ projectId: 'p', outcome });

/** What a replica started now does after a run that ended so. */
async function after(
  ending: TickResult['outcome'] | TickResult,
  settings: Partial<AlertSettings> = {},
  more: Partial<AlertsOptions> = {},
): Promise<void> {
  const alerts = open(settings, more);
  alerts.after(typeof ending === 'string' ? turn(ending) : ending);
  await alerts.close(15_000);
}

const run = async (): Promise<void> => after(await bench.run().catch(() => turn('failed')));

/** Moves the platform's clock on, and lets it be noticed as its next answer would. */
const pass = async (ms: number): Promise<void> => {
  bench.simulator.advance(ms);
  await bench.worker.platform.page({ resource: 'orders', limit: 1, sortBy: 'DATE_DESC' });
};

const told = (): string[] =>
  receiver.told().map(({ kind, subject, state }) => [state, kind, subject].join(' ').trim());

const park = async (projectId = 'p'): Promise<void> => {
  const now = bench.worker.platform.clock.now();
  await parkProject(bench.db, projectId, 'refused', now, now + hour);
};

const fail = (days: string): Promise<unknown> =>
  bench.db.query(
    `update sync.slices set attempts = 5, last_error = 'the total was 7, shown were 6' where ${days}`,
  );

const claimedUntil = (moment: string): Promise<unknown> =>
  bench.db.query(`update sync.alerts set telling_until = ${moment}`);

test('all is well: nothing is told, and the heartbeat is heard', async () => {
  await run();
  expect(told()).toEqual([]);
  expect(heart.requests).toMatchObject([{ path: '/beat', authorization: undefined }]);
});

test('an alert is told once, again after a day and not before, and its end once, five minutes after', async () => {
  await takeOwn({}, ordersAlone);
  await bench.run();
  await park();
  await after('parked');
  await after('parked');
  expect(told()).toEqual(['open parked']);
  await pass(23 * hour);
  await after('parked');
  await pass(2 * hour);
  await after('parked');
  await after('parked');
  expect(told()).toEqual(['open parked', 'still parked']);
  await unparkProject(bench.db, 'p');
  await run();
  await pass(4 * minute);
  await run();
  // It may be refused again at once.
  expect(told()).toHaveLength(2);
  await pass(2 * minute);
  await run();
  await run();
  expect(told()).toEqual(['open parked', 'still parked', 'over parked']);
  expect(await readAlertRows(bench.db, 'p')).toEqual([]);
});

describe('replicas', () => {
  /** So many at once, each with alerts of its own over the same database. */
  const together = (n: number): Promise<void[]> =>
    Promise.all(Array.from({ length: n }, () => after('done')));

  test('an export that failed is over when one was made, whoever looks meanwhile', async () => {
    const failures = async (): Promise<boolean[]> =>
      (await readAlertRows(bench.db, 'p'))
        .filter(({ kind }) => kind === 'export_failed')
        .map(({ resolvedAt }) => resolvedAt === null);
    const failed = { trouble: 'late' } as const;
    const failing = open({}, { lastExport: () => failed });
    failing.after(turn('done'));
    await expect.poll(told).toEqual(['open export_failed']);
    // One that knows nothing of it: another replica, or the same one after a restart.
    await after('done');
    expect(await failures()).toEqual([true]);
    expect(await readAlertRows(bench.db, 'p')).toMatchObject([
      { text: expect.stringContaining('a day longer') as string },
    ]);
    await after('done', {}, { lastExport: () => ({ trouble: null }) });
    expect(await failures()).toEqual([false]);
    failing.after(turn('done'));
    await failing.close(15_000);
    expect(await failures()).toEqual([false]);
  });

  test('an export that was missed and made up is told, and over at the next look', async () => {
    const missed = { trouble: 'missed', dueAt: late } as const;
    const alerts = open({}, { lastExport: () => missed });
    alerts.after(turn('done'));
    await expect.poll(told).toEqual(['open export_failed']);
    alerts.after(turn('done'));
    await alerts.close(15_000);
    expect(await readAlertRows(bench.db, 'p')).toMatchObject([
      { kind: 'export_failed', resolvedAt: expect.any(Number) as number },
    ]);
  });

  test('P8: eight that look at once tell an alert once', async () => {
    await fail(`day between '2026-03-01' and '2026-03-31'`);
    await together(8);
    expect(receiver.bodies).toHaveLength(1);
    expect(told().toSorted()).toEqual([
      'open proof_fails nft_classes 2026-03',
      'open proof_fails orders 2026-03',
    ]);
  });

  // A cluster takes no triggers.
  test.skipIf(isOnCluster)(
    'sabotaged: without the claim they would tell it several times',
    async () => {
      await fail(`day between '2026-03-01' and '2026-03-31'`);
      const { connectionString } = bench;
      const owner = await fresh(openDb({ connectionString, role: null, log: silentLog() }));
      // No claim lasts: as if there were none.
      await owner.query(
        `create function sync.unclaim() returns trigger language plpgsql as
         $$ begin new.telling_until := null; return new; end $$`,
      );
      await owner.query(
        `create trigger unclaim before update on sync.alerts for each row execute function sync.unclaim()`,
      );
      await together(8);
      expect(receiver.bodies.length).toBeGreaterThan(1);
      await owner.query('drop function sync.unclaim() cascade');
    },
  );
});

describe('a receiver that is not well', () => {
  test('that fails: one try, none before its rest is over, then it is told', async () => {
    await fail(`day = '2026-03-03' and resource = 'orders'`);
    receiver.be('fails');
    await after('done');
    await after('done');
    expect(receiver.bodies).toHaveLength(1);
    // Nobody is told of it: then not all is well.
    expect(heart.requests).toEqual([]);
    receiver.be('takes');
    await claimedUntil('statement_timestamp()');
    await after('done');
    await after('done');
    expect(receiver.bodies).toHaveLength(2);
    expect(await readAlertRows(bench.db, 'p')).toMatchObject([
      { attempts: 0, toldAt: expect.any(Number) as number },
    ]);
    expect(heart.requests).toHaveLength(1);
  });

  test('that fails and fails is asked at the next tick, then after minutes, then hourly', async () => {
    await park();
    receiver.be('fails');
    const rests: number[] = [];
    for (let tries = 0; tries < 4; tries++) {
      await after('parked');
      const { rows } = await bench.db.query<{ rest: number }>(
        `select extract(epoch from telling_until - statement_timestamp())::int as rest from sync.alerts`,
      );
      rests.push(Math.round((rows[0]?.rest ?? 0) / 15) * 15);
      await claimedUntil('statement_timestamp()');
    }
    expect(rests).toEqual([45, 300, 3600, 3600]);
    expect(receiver.bodies).toHaveLength(4);
    // As after the database's clock was set back.
    await claimedUntil(`now() + interval '5 hours'`);
    await after('parked');
    expect(receiver.bodies).toHaveLength(5);
  });

  test('hears nothing of a run on a machine that slept before its lease is renewed', async () => {
    await park();
    const held = async (until: string): Promise<unknown> =>
      bench.db.query(
        `insert into sync.holders (project_id, holder, process, held_since, held_until)
         values ('p', 'a', 'a', now(), now() + $1::interval)
         on conflict (project_id) do update set process = 'a', held_until = excluded.held_until`,
        [until],
      );
    await held('1 hour ago');
    await after('running');
    expect(told()).toEqual([]);
    await held('1 minute');
    await after('running');
    expect(told()).toEqual(['open parked']);
    await releaseProject(bench.db, 'a', 'p');
  });

  test('gets nothing from a process that stood still until others may have told it', async () => {
    await park();
    let now = Date.now();
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => (now += minute));
    await after('parked').finally(() => clock.mockRestore());
    expect(told()).toEqual([]);
    await claimedUntil(`now() - interval '1 second'`);
    await after('parked');
    expect(told()).toEqual(['open parked']);
  });

  test('that hangs slows no run: runs go on while it does, and leaving waits no longer than it may', async () => {
    await park();
    receiver.be('hangs');
    const alerts = open();
    const stop = new AbortController();
    let runs = 0;
    const schedule = startSchedule(
      [bench.worker],
      '* * * * * *',
      stop.signal,
      silentLog(),
      () => (runs += 1),
      (one) => alerts.after(one),
    );
    await expect.poll(() => receiver.bodies).toHaveLength(1);
    const before = runs;
    await expect.poll(() => runs).toBeGreaterThan(before + 3);
    expect(receiver.bodies).toHaveLength(1);
    stop.abort();
    await schedule.close();
    await alerts.close(500);
    // It was cut off and gave back its claim: the next start tries again soon.
    receiver.be('takes');
    await claimedUntil(
      `(telling_until at time zone 'UTC' - interval '1 minute') at time zone 'UTC'`,
    );
    await after('parked');
    expect(told()).toHaveLength(2);
  });
});

test('P7: a month that passes while nothing runs: its days are lost, told together, once', async () => {
  await takeOwn({}, ordersAlone);
  await bench.run();
  await pass(day + hour);
  await bench.run();
  // Into May: March has left the window, and April's days after the 7th are still there.
  await pass(25 * day);
  await bench.db.query(
    `update sync.slices set state = 'open', proof = 'none', why = 'not read', due_at = day
      where resource = 'orders' and day in ('2026-03-05', '2026-03-06')`,
  );
  await run();
  await run();
  expect(told()).toEqual(['news day_lost orders 2026-03']);
  expect(receiver.told()[0]?.text).toContain('2 days (2026-03-05, 2026-03-06) are lost');
  // It is no reason to keep the heart from beating.
  expect(heart.requests.length).toBeGreaterThan(0);
});

test('a month that ends as it should, eight hours early: not a word', async () => {
  await takeOwn(
    {
      startAt: late,
      days: ['2026-03-01', '2026-03-16', '2026-03-31', '2026-04-01', '2026-04-25', '2026-04-26'],
      dialect: { monthEnd: 'utc+8' },
    },
    ordersAlone,
  );
  await bench.run();
  await pass(3 * day);
  await bench.run();
  // 16:00 of the last day of April: from now on no answer about March proves anything.
  await pass(day + 4 * hour);
  for (let runs = 0; runs < 3; runs++) {
    await run();
    await pass(2 * hour);
  }
  await pass(15 * hour);
  await run();
  expect(told()).toEqual([]);
  const { rows } = await bench.db.query(
    `select distinct state from sync.slices where day < '2026-04-01' and walked_at is not null`,
  );
  expect(rows).toEqual([{ state: 'final' }]);
});

test('a month that cannot be done in time at the allowed rate is told weeks ahead, and when it can again', async () => {
  await takeOwn();
  await bench.run();
  const rate = (perSecond: number): Promise<unknown> =>
    bench.db.query(
      `insert into sync.rate (project_id, per_second) values ('p', $1)
           on conflict (project_id) do update set per_second = $1`,
      [perSecond],
    );
  await rate(0.000001);
  await after('done');
  const subjects = [
    'nft_classes 2026-03',
    'nft_classes 2026-04',
    'orders 2026-03',
    'orders 2026-04',
  ];
  expect(told().toSorted()).toEqual(subjects.map((one) => `open deadline_at_risk ${one}`));
  expect(receiver.told()[0]?.text).toMatch(
    /by 2026-04-30 00:00 UTC: \d+ requests are too many at 0.000001 a second/,
  );
  expect(heart.requests).toEqual([]);
  await rate(1000);
  await after('done');
  await pass(6 * minute);
  await after('done');
  expect(receiver.bodies).toHaveLength(2);
  expect(told().filter((one) => one.startsWith('over'))).toHaveLength(4);
});

test('the platform is down: the heartbeat stays away at once, after an hour it is told, and so is the end', async () => {
  await takeOwn({}, ordersAlone);
  await run();
  expect(heart.requests).toHaveLength(1);
  const down = async (ms: number): Promise<void> => {
    await pass(ms);
    bench.simulator.setFaults({ serverError: {} });
    await run();
    // The next one finds nothing due: that is no sign of life.
    await run();
    bench.simulator.setFaults({ serverError: null });
  };
  await down(40 * minute);
  expect(told()).toEqual([]);
  await down(40 * minute);
  expect(told()).toEqual(['open run_failed orders']);
  expect(heart.requests).toHaveLength(1);
  await pass(hour);
  await run();
  await pass(6 * minute);
  await run();
  expect(told()).toEqual(['open run_failed orders', 'over run_failed orders']);
  expect(heart.requests).toHaveLength(3);
});

test('sabotaged: a heartbeat that only asked whether the process lives would be heard from a parked project', async () => {
  await park();
  await after('done');
  expect(heart.requests).toEqual([]);
  await bench.db.query(`update sync.projects set parked_at = null`);
  await after('done');
  expect(heart.requests).toHaveLength(1);
});

test('a part of the work says nothing of the rest: no heartbeat', async () => {
  await after('done', {}, { mayBeat: false });
  expect(heart.requests).toEqual([]);
});

describe('the heartbeat of two projects', () => {
  test.each([
    [0, 'p done'],
    // Of a run that found nothing to do nobody knows whether it could have; nor does one that goes on take anything back.
    [0, 'p done, q idle'],
    [1, 'p done, p idle, p running, q done'],
    [1, 'p done, q done'],
    [1, 'p done, q done, +54999, p done, q done'],
    [2, 'p done, q done, +55000, p done, q done'],
    [0, 'p done, q done, q left'],
    [0, 'p done, q done, q failed'],
    [0, 'p done, q done, q parked'],
    // What another process holds is left to that one; where nothing is held here, there is nothing to say.
    [0, 'q elsewhere, p idle, p elsewhere'],
    [1, 'p elsewhere, q elsewhere, q done'],
    // Taken over, it has something to do here.
    [0, 'q elsewhere, p done, q running'],
    // One hangs in a run, however well the other does.
    [1, 'p done, q done, +600000, q running, p done'],
  ])('is heard %i times after: %s', async (beats, turns) => {
    await writeProjects(bench.db, ['q'], { addedAt: '2026-04-06', firstDay: '2026-04-06' });
    let nowMs = 0;
    let isNoted = false;
    const projects = ['p', 'q'].map((id) => watched(id, noon));
    // Once it was heard, the next who asks for the time notes the beat.
    const monotonicNow = (): number => {
      isNoted = heart.requests.length > 0;
      return nowMs;
    };
    const alerts = open({}, { projects, monotonicNow });
    for (const one of turns.split(', ')) {
      const [projectId = '', outcome] = one.split(' ');
      if (outcome === undefined) {
        await expect.poll(() => isNoted).toBe(true);
        nowMs += Number(one);
      } else alerts.after({ projectId, outcome: outcome as TickResult['outcome'] });
    }
    await alerts.close(15_000);
    expect(heart.requests).toHaveLength(beats);
  });
});

test('a run that has not heard from the platform yet judges no deadline by the clock of this machine', async () => {
  await takeOwn();
  await bench.run();
  await bench.db.query(
    `update sync.slices set proof = 'none', state = 'walked' where due_at is not null`,
  );
  const projects = (knowsTime: boolean) => [watched('p', noon + 200 * day, knowsTime)];
  for (const knowsTime of [false, true]) {
    await after('running', {}, { projects: projects(knowsTime) });
    expect(told().length > 0).toBe(knowsTime);
  }
});

test('several projects that are reported together share a message', async () => {
  await park();
  await writeProjects(bench.db, ['q'], { addedAt: '2026-04-01' });
  await park('q');
  const projects = ['p', 'q'].map((id) => watched(id, noon));
  const alerts = open({}, { projects });
  for (const { projectId } of projects) alerts.after({ projectId, outcome: 'parked' });
  await alerts.close(15_000);
  expect(receiver.told().map(({ project }) => project)).toEqual(['p', 'q']);
  expect(receiver.bodies).toHaveLength(1);
});

test('files that cannot be written are told until a run says that they are', async () => {
  const trouble = { kind: 'files_unwritten', text: 'A certificate is in the database' } as const;
  const alerts = open();
  alerts.after({ ...turn('done'), files: [trouble] });
  await expect.poll(told).toEqual(['open files_unwritten']);
  // A run that did not come to them says nothing of them.
  alerts.after(turn('left'));
  alerts.after({ ...turn('done'), files: [] });
  await alerts.close(15_000);
  await pass(6 * minute);
  await after('done');
  expect(told()).toEqual(['open files_unwritten', 'over files_unwritten']);
});

test('a database that fails is a line in the log, and no error of the sync', async () => {
  const lines: object[] = [];
  const log = silentLog();
  Object.assign(log, { warn: (fields: object) => void lines.push(fields) });
  const broken = {
    ...bench.db,
    pool: { connect: () => Promise.reject(new Error('Connection terminated unexpectedly')) },
  };
  await after('done', {}, { db: broken as unknown as typeof bench.db, log });
  expect(lines).toEqual([
    { error: expect.stringContaining('The database cannot be reached') as string },
  ]);
  expect(heart.requests).toEqual([]);
});
