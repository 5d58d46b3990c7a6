// `outlast status --plan`, and the forecast and the check of `outlast status`, on a ledger written by hand.
import { describe, expect, test } from 'vitest';
import type { Db } from '../../src/store/db.ts';
import { addDays, cliffOf, dayMs, dayOf, monthStart, startOf } from '../../src/day.ts';
import { wholeList } from '../../src/model.ts';
import type { Ended } from '../support/command.ts';
import { expectRefused, runHere } from '../support/command-here.ts';
import { stoppedAt } from '../support/machine-clock.ts';
import { eachOnDatabase } from '../support/opened.ts';
import type { TestDatabase } from '../support/postgres.ts';
import { writeProjects } from '../support/rows.ts';

let database: TestDatabase;
let db: Db;
eachOnDatabase((given) => ({ database, db } = given));

const outlastWith = (env: Record<string, string>, ...args: string[]): Promise<Ended> =>
  runHere(args, { env: { DATABASE_URL: database.connectionString, ...env } });
const outlast = (...args: string[]): Promise<Ended> => outlastWith({}, ...args);

const today = dayOf(Date.now());
const lastMonth = monthStart(today, -1);

/**
 * The window by this machine's clock, or on another day: the last month never read, one day known to hold so many
 * orders.
 */
async function enterWindow(ordersPerDay: number, on = today): Promise<void> {
  const thisMonth = monthStart(on);
  const lastMonth = monthStart(on, -1);
  await writeProjects(db, ['p'], { firstDay: lastMonth });
  const enter = (from: string, to: string): Promise<unknown> =>
    db.query(
      `insert into sync.slices (project_id, resource, day, deadline_at, due_at)
       select 'p', 'orders', day, $3, day from generate_series($1::date, $2::date - 1, '1 day') day`,
      [from, to, new Date(cliffOf(from) - 86_400_000).toISOString()],
    );
  await enter(lastMonth, thisMonth);
  await enter(thisMonth, addDays(on, 1));
  await db.query(
    `update sync.slices set state = 'sealed', proof = 'books', why = null, whole_walk = 1, walked_at = (day + interval '30 hours') at time zone 'UTC',
            shown_total = $2, due_at = now() + interval '1 hour'
      where day = $1`,
    [lastMonth, ordersPerDay],
  );
}

describe('plan', () => {
  test('with nothing archived says how to begin, and exits with 0', async () => {
    const { code, stdout } = await outlast('status', '--plan');
    expect([code, stdout]).toEqual([0, 'Nothing is archived yet. Run `outlast sync` first.\n']);
  });

  test('says what cannot fit before anything else, with a rate that would do', async () => {
    // On the last day of a month it is too late for the one before whatever its size.
    const on = '2026-04-06';
    await enterWindow(50_000_000, on);
    const planned = (...args: string[]): Promise<Ended> =>
      outlastWith(stoppedAt(startOf(on)), 'status', ...args);
    const { code, stdout } = await planned('--plan');
    expect(code).toBe(0);
    const [, name, rate] =
      /^TOO LATE +orders (\d{4}-\d\d): .* cannot be read by .* \(OUTLAST_MAX_RPS\)\. ([\d,]+) or more would do\.\n/.exec(
        stdout,
      ) ?? [];
    expect(name).toBe('2026-03');
    expect(stdout).toContain('No run has told its rate yet: 5 requests a second are assumed.');
    // With the rate it advises, that month fits.
    const better = await planned('--rps', String(rate).replaceAll(',', ''));
    expect(better.stdout).toContain(`${rate} requests a second; `);
    expect(better.stdout).not.toMatch(/TOO LATE +orders 2026-03/);
  });

  test('what fits is said without alarm, with what is due now and next', async () => {
    await enterWindow(120);
    await db.query(
      `insert into sync.rate (project_id, per_second) values ('p', 2.5);
       insert into sync.slices (project_id, resource, day, deadline_at, due_at)
       values ('p', 'nft_classes', '${wholeList}', '9999-12-31', now() + interval '5 hours')`,
    );
    const { stdout } = await outlast('status', '--plan', '--project', 'p');
    expect(stdout).toMatch(/^ +1 whole list of nft_classes to be read, in [45] h/m);
    expect(stdout).not.toContain('TOO LATE');
    expect(stdout).toMatch(/^Project p: 2\.5 requests a second/);
    expect(stdout).toMatch(/Due now\n +\d+ days of orders to be read/);
    expect(stdout).toMatch(
      /Next\n +1 day of orders to be read again \(\d{4}-\d\d-01\), in \d+ min/,
    );
    expect(stdout).toContain('Days not read yet are taken to be as large as their neighbours.');
  });

  test('open operations are counted, with the nearest of their deadlines', async () => {
    await enterWindow(120);
    expect((await outlast('status', '--plan')).stdout).not.toContain('transactions');
    const deadline = new Date(Date.now() + 9.5 * 86_400_000);
    const give = (id: string, at: Date | null, state: string): Promise<unknown> =>
      db.query(
        `insert into sync.watched_operations (project_id, operation_id, deadline_at, state) values ('p', $1, $2, $3)`,
        [id, at?.toISOString() ?? null, state],
      );
    await give('new', null, 'open');
    expect((await outlast('status', '--plan')).stdout).toContain(
      'transactions: 1 operation open, to be taken in by the next run.',
    );
    await give('later', new Date(deadline.getTime() + 86_400_000), 'open');
    await give('next', deadline, 'open');
    await give('over', new Date(0), 'done');
    expect((await outlast('status', '--plan')).stdout).toMatch(
      /^ {2}transactions: 3 operations open, the nearest deadline is \d{4}-\d\d-\d\d \d\d:\d\d \(UTC\), in 9 d/m,
    );
    const { projects } = JSON.parse((await outlast('status', '--plan', '--json')).stdout) as {
      projects: { operations: { open: number; next_deadline_at: string } }[];
    };
    const [{ operations } = { operations: null }] = projects;
    expect(operations?.open).toBe(3);
    expect(Date.parse(operations?.next_deadline_at ?? '')).toBe(deadline.getTime());
  });

  test('--json gives every number, and names the requests', async () => {
    await enterWindow(120);
    const { stdout } = await outlast('status', '--plan', '--json', '--rps', '10');
    const { projects } = JSON.parse(stdout) as {
      projects: { forecast: { per_second: number; months: Record<string, unknown>[] } }[];
    };
    const [month] = projects[0]?.forecast.months ?? [];
    expect(projects[0]?.forecast.per_second).toBe(10);
    expect(month).toMatchObject({
      month: lastMonth,
      resource: 'orders',
      sizes: 'estimated',
      requests_for: { unread: expect.any(Number) as number },
      fits: 'yes',
    });
  });

  test('a machine whose clock lies behind the newest run is told so', async () => {
    await enterWindow(120);
    await db.query(
      `insert into sync.runs (project_id, run_id, started_at, ended_at, outcome)
       values ('p', 'r', now() + interval '3 hours', now() + interval '3 hours', 'done')`,
    );
    const { stdout } = await outlast('status', '--plan');
    expect(stdout).toMatch(/This machine's clock is at least 2 h 59 min behind the platform's/);
  });

  test.each([
    [['--project', 'other'], 'Nothing is archived for a project "other" here.'],
    [['--rps', 'many'], 'It must be a number from 0.01 to 100000.'],
    [['--rps', '0'], 'It must be a number from 0.01 to 100000.'],
  ])('P12: %j ends with 2 and one sentence', async (args, sentence) => {
    expectRefused(await outlast('status', '--plan', ...args), sentence);
  });
});

describe('status', () => {
  test('has the requests, their time, and the loud line', async () => {
    await enterWindow(50_000_000);
    const { stdout } = await outlast('status');
    expect(stdout).toMatch(/TOO LATE[^]*month +resource +days +all held +settled/);
    expect(stdout).toMatch(new RegExp(`${lastMonth.slice(0, 7)}: [\\d,]+ requests are due by `));
    await db.query('update sync.slices set shown_total = 10 where shown_total is not null');
    expect((await outlast('status')).stdout).not.toContain('TOO LATE');
  });

  test('where this clock is months behind, no day is over by it; that nothing is archived is not said', async () => {
    await enterWindow(10);
    const { stdout } = await outlastWith(stoppedAt(startOf(addDays(lastMonth, -60))), 'status');
    expect(stdout).toMatch(
      /^Project p: By the clock of this machine no archived day is over yet\./m,
    );
  });

  test('what keeps days that were read from being sealed is said, with how many', async () => {
    await enterWindow(10);
    await db.query(
      `update sync.slices set state = 'walked', whole_walk = 1, why = case when day = $1 then 'pending' else 'read once' end
        where day in ($1, $2)`,
      [addDays(lastMonth, 1), addDays(lastMonth, 2)],
    );
    const { stdout } = await outlast('status');
    expect(stdout).toMatch(
      /orders: 1 of \d+ days all held, 1 settled, \d+ open [^,]*, 1 with pending orders \(read again [^)]*\), 1 waiting for another reading/,
    );
  });
});

describe('status --check', () => {
  const codes = { OK: 0, WARNING: 1, CRITICAL: 2, UNKNOWN: 3 };
  /** It says that level with its exit code, in one line like this. */
  async function expectChecked(
    level: keyof typeof codes,
    line: RegExp | string = '',
    env: Record<string, string> = {},
    ...args: string[]
  ): Promise<void> {
    const { code, stdout, stderr } = await outlastWith(env, 'status', '--check', ...args);
    expect([stderr, stdout.split('\n').length]).toEqual(['', 2]);
    expect([/^OUTLAST (\w+): /.exec(stdout)?.[1], code]).toEqual([level, codes[level]]);
    expect(stdout).toMatch(line);
  }

  const readAt = (when: string): Promise<unknown> =>
    db.query(
      `update sync.slices set state = 'sealed', proof = 'books', why = null, whole_walk = 1, walked_at = ${when},
              proved_at = ${when}, shown_total = 120, due_at = now() + interval '1 hour'`,
    );

  test('is well while everything was read lately; a parked project and long silence are not', async () => {
    await enterWindow(120);
    await readAt(`now() - interval '1 minute'`);
    const well =
      / and nothing is at risk \| days=\d+ held=\d+ open=0 unproved=0 lost=0 last_run=U\n$/;
    await expectChecked('OK', well);

    await readAt(`now() - interval '3 hours'`);
    await db.query(`update sync.slices set due_at = now() - interval '1 hour'`);
    await db.query(`update sync.projects set added_at = now() - interval '4 hours'`);
    await expectChecked('CRITICAL', 'p: Nothing of orders has been read since');

    await db.query(`update sync.projects set parked_at = now(), parked_reason = 'no'`);
    await expectChecked('CRITICAL', 'p: The platform refused the key.');
  });

  test('judges no project that was taken out of the settings, unless it is named', async () => {
    await enterWindow(120);
    await readAt(`now() - interval '3 hours'`);
    await db.query(`update sync.slices set due_at = now() - interval '1 hour'`);
    await db.query(`update sync.projects set added_at = now() - interval '4 hours'`);
    const other = {
      OUTLAST_PROJECT: 'other',
      OUTLAST_BASE_URL: 'https://platform.example',
      OUTLAST_API_KEY: 'key',
      OUTLAST_API_SECRET: 'secret',
    };
    const unheld =
      /^OUTLAST WARNING: other: nothing is archived for it yet \(p is no longer configured: [^)]*\) \| days=0 /;
    await expectChecked('WARNING', unheld, other);
    expect((await outlastWith(other, 'status')).stdout).toContain(
      'Project p is no longer configured: nothing is asked for it, and what is held stays.',
    );
    const silent = /^OUTLAST CRITICAL: p: Nothing of orders has been read since/;
    await expectChecked('CRITICAL', silent, other, '--project', 'p');
  });

  test('shows news for a day, as a warning', async () => {
    await enterWindow(120);
    await readAt(`now() - interval '1 minute'`);
    const told = (ago: string, kind = 'rejects', subject = 'orders'): Promise<unknown> =>
      db.query(
        `insert into sync.alerts (project_id, kind, subject, text, opened_at, resolved_at)
         values ('p', $2, $3, '', now() - $1::text::interval, now() - $1::text::interval)
             on conflict (project_id, kind, subject) do update set opened_at = excluded.opened_at, resolved_at = excluded.resolved_at`,
        [ago, kind, subject],
      );
    await db.query(
      `insert into sync.rejects (project_id, resource, sha256, bytes, reason, owner, day, seen_at)
       values ('p', 'orders', 'a', '', '', '', $1, now())`,
      [lastMonth],
    );
    await told('25 hours');
    await expectChecked(
      'OK',
      /: \d+ of \d+ days are safe; one is not safe yet, and nothing is at risk \| days=/,
    );
    await told('2 hours');
    await expectChecked('WARNING', 'p: orders: 1 record without');
    await db.query(
      `update sync.slices set state = 'lost', proof = 'none', due_at = null where day = $1`,
      [lastMonth],
    );
    await told('3 hours', 'day_lost', `orders ${lastMonth.slice(0, 7)}`);
    await expectChecked('CRITICAL');
    await told('25 hours');
    await told('25 hours', 'day_lost', `orders ${lastMonth.slice(0, 7)}`);
    await expectChecked(
      'OK',
      /: \d+ of \d+ days are safe; one is lost for ever, and nothing is at risk \| .* lost=1 /,
    );
    await db.query(
      `update sync.slices set state = 'final', proof = 'none', why = 'read once', due_at = null where day = $1`,
      [addDays(lastMonth, 1)],
    );
    await told('25 hours', 'day_unproved', `orders ${lastMonth.slice(0, 7)}`);
    await db.query(`update sync.slices set state = 'open', proof = 'none' where day = $1`, [
      addDays(today, -1),
    ]);
    const days = (startOf(today) - startOf(lastMonth)) / dayMs;
    await expectChecked(
      'OK',
      `: ${days - 3} of ${days} days are safe; one is lost for ever; one was never proved whole; one is not safe yet, and nothing is at risk | days=${days} held=${days - 3} open=1 unproved=1 lost=1 `,
    );
  });

  test('tells of a project that no run could enter, and judges nothing by a clock that is behind', async () => {
    await enterWindow(120);
    await readAt(`now() - interval '1 minute'`);
    await db.query(
      `insert into sync.reported_problems (project_id, kind, subject, numbers, reported_at)
       values ('q', 'run_failed', '', '{"trouble": "never", "runs": 8}', now())`,
    );
    await expectChecked('CRITICAL', 'q: The last 8 runs failed');
    await db.query(
      `insert into sync.runs (project_id, run_id, started_at) values ('p', gen_random_uuid(), now() + interval '2 days')`,
    );
    await db.query('delete from sync.reported_problems');
    await expectChecked('UNKNOWN', 'p: the last run began at a time that is still to come');
  });

  test('cannot tell without an archive, and tells of a database that is gone', async () => {
    await expectChecked('UNKNOWN');
    await db.query(
      `insert into sync.reported_problems (project_id, kind, subject, numbers, reported_at)
       values ('p', 'run_failed', '', '{"trouble": "never", "runs": 3}', now())`,
    );
    await expectChecked('CRITICAL', 'p: The last 3 runs failed before anything was archived.');
    await db.query('delete from sync.reported_problems');
    await writeProjects(db, ['p'], { firstDay: lastMonth });
    await expectChecked('WARNING', /p: no day is accounted for yet \| days=0/);
    await expectChecked('UNKNOWN', '', {}, '--project', 'other');
    const gone = { DATABASE_URL: 'postgres://nobody:nothing@127.0.0.1:1/none' };
    await expectChecked('CRITICAL', /^OUTLAST CRITICAL: The database cannot be reached/, gone);
  });
});
