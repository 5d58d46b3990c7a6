// What the log says of runs: an outage of hours is a line when it begins, one every five minutes, and one at its end.
// When a schedule was due last. And its ticks, whatever the wall clock does: Node heeds a TZ that is set while it runs.
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { silentLog } from '../../src/log.ts';
import { createRunLog, lastDue, startTicks, type Ticks } from '../../src/sync/schedule.ts';
import type { RunReport } from '../../src/sync/worker.ts';

const minute = 60_000;

function logOf(): {
  lines: () => string[];
  told: ReturnType<typeof createRunLog>;
  pass: (ms: number) => void;
} {
  const lines: string[] = [];
  let now = 0;
  const log = pino({ level: 'info', base: null }, { write: (line: string) => lines.push(line) });
  return {
    lines: () => lines.splice(0).map((line) => (JSON.parse(line) as { msg: string }).msg),
    told: createRunLog(log, () => now),
    pass: (ms) => (now += ms),
  };
}

const report = (outcome: RunReport['outcome'], projectId = 'p'): RunReport =>
  ({ projectId, outcome, recordsNew: 0, recordsChanged: 0, problem: 'no answer' }) as RunReport;

test('an outage is told when it begins, every five minutes, and when it is over', () => {
  const { lines, told, pass } = logOf();
  for (let i = 0; i < 21; i++) {
    told.ended(report('left'), 0);
    pass(minute);
  }
  expect(lines()).toHaveLength(5);
  // Another trouble meanwhile is told at once.
  told.failed('p', new Error('out of memory'));
  expect(lines()).toEqual(['A run failed']);
  // Nothing was due, for what failed waits: nobody knows whether it is over.
  told.ended(report('idle'), 0);
  expect(lines()).toEqual([]);
  told.ended(report('done'), 0);
  told.ended(report('done'), 0);
  expect(lines()).toEqual(['What was due is done again']);
});

test('each project has its own, and the next outage is told at once', () => {
  const { lines, told } = logOf();
  told.ended(report('left'), 0);
  told.ended(report('left', 'q'), 0);
  told.ended(report('done'), 0);
  told.ended(report('left'), 0);
  expect(lines()).toEqual([
    'A run left something due',
    'A run left something due',
    'What was due is done again',
    'A run left something due',
  ]);
});

test('a database that is gone is told once for all projects, and once when it is back', () => {
  const { lines, told, pass } = logOf();
  const gone = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
  for (let i = 0; i < 6; i++) {
    for (const projectId of ['p', 'q']) told.failed(projectId, gone);
    // Begun before the last one failed.
    told.ended(report('done', 'r'), -1);
    pass(minute);
  }
  expect(lines()).toEqual(['The database fails the runs', 'The database fails the runs']);
  for (const projectId of ['p', 'q']) told.ended(report('idle', projectId), 6 * minute);
  expect(lines()).toEqual(['The database answers again']);
});

test('a parked project is told as such, not as one that is well', () => {
  const { lines, told } = logOf();
  told.ended(report('parked'), 0);
  told.ended(report('parked'), 0);
  expect(lines()).toEqual([expect.stringMatching(/^The project is parked: /)]);
});

test('the newest moment of a schedule is that of the local clock', () => {
  const now = new Date(2026, 3, 6, 12, 0, 30).getTime();
  const due = (schedule: string): Date | null => {
    const at = lastDue(schedule, now);
    return at === null ? null : new Date(at);
  };
  expect(due('20 3 * * *')).toEqual(new Date(2026, 3, 6, 3, 20));
  expect(due('20 13 * * *')).toEqual(new Date(2026, 3, 5, 13, 20));
  expect(due('*/5 * * * * *')).toEqual(new Date(2026, 3, 6, 12, 0, 30));
  // The fifth was a Sunday.
  expect(due('0 4 * * 0')).toEqual(new Date(2026, 3, 5, 4));
  expect(due('0 4 1 * *')).toEqual(new Date(2026, 3, 1, 4));
  expect(due('0 4 29 2 *')).toBeNull();
});

test('one that a spring night leaves out was due before the clock went on', () => {
  vi.stubEnv('TZ', 'Europe/Berlin');
  onTestFinished(() => void vi.unstubAllEnvs());
  for (const now of ['2026-03-29T01:15:00Z', '2026-03-29T09:00:00Z']) {
    expect(lastDue('30 2 * * *', Date.parse(now))).toBe(Date.parse('2026-03-29T00:30:00Z'));
  }
});

describe('ticks', () => {
  const hour = 3_600_000;
  const { TZ } = process.env;
  let ticks: Ticks;
  let seen: string[] = [];

  beforeEach(() => {
    process.env['TZ'] = 'Europe/Berlin';
    vi.useFakeTimers();
    seen = [];
  });
  afterEach(() => {
    ticks.close();
    vi.useRealTimers();
    if (TZ === undefined) delete process.env['TZ'];
    else process.env['TZ'] = TZ;
  });

  function start(at: string, expression: string): void {
    vi.setSystemTime(at);
    ticks = startTicks(expression, () => void seen.push(new Date().toISOString()), silentLog());
  }

  test('every minute through the hour that an autumn night has twice, and the one that a spring night leaves out', async () => {
    for (const night of ['2026-10-25T00:00:30Z', '2026-03-29T00:00:30Z']) {
      seen = [];
      start(night, '* * * * *');
      await vi.advanceTimersByTimeAsync(2 * hour);
      expect(seen).toHaveLength(120);
      ticks.close();
    }
  });

  test('a daily time comes on the day that does not have it too', async () => {
    for (const [from, at] of [
      ['2026-03-28T00:59:00Z', '2026-03-28T01:20:00.000Z'],
      ['2026-03-29T00:59:00Z', '2026-03-29T01:00:00.000Z'],
      ['2026-03-29T23:59:00Z', '2026-03-30T00:20:00.000Z'],
    ] as const) {
      seen = [];
      start(from, '20 2 * * *');
      await vi.advanceTimersByTimeAsync(hour);
      expect(seen).toEqual([at]);
      ticks.close();
    }
  });

  test('a clock that is set back by hours, or by years, or that goes back again and again, holds up no tick', async () => {
    start('2026-06-10T10:00:30Z', '* * * * *');
    for (const back of [
      5 * hour,
      20 * 365 * 24 * hour,
      ...Array.from({ length: 10 }, () => 30_000),
    ]) {
      seen = [];
      vi.setSystemTime(Date.now() - back);
      await vi.advanceTimersByTimeAsync(120_000);
      expect(seen).toHaveLength(2);
      expect(ticks.isOverdue()).toBe(false);
    }
  });

  test('a time that passed while the machine slept is made up once, the one that did not is waited for', async () => {
    start('2026-06-10T20:00:00Z', '20 3 * * *');
    vi.setSystemTime('2026-06-11T00:00:00Z');
    await vi.advanceTimersByTimeAsync(2000);
    expect(seen).toEqual([]);
    vi.setSystemTime('2026-06-11T09:00:00Z');
    await vi.advanceTimersByTimeAsync(2000);
    expect(seen).toHaveLength(1);
    // From 1970, before the time came from the network.
    vi.setSystemTime('2062-06-11T09:00:00Z');
    await vi.advanceTimersByTimeAsync(2000);
    expect(seen).toHaveLength(2);
  });

  test('overdue is what has missed three ticks by the steady clock, as where the other one stands', async () => {
    start('2026-06-12T16:30:00Z', '0 * * * *');
    await vi.advanceTimersByTimeAsync(0.6 * hour);
    expect(seen).toEqual(['2026-06-12T17:00:00.000Z']);
    const stands = Date.now();
    const pass = async (ms: number): Promise<void> => {
      for (let passed = 0; passed < ms; passed += 60_000) {
        await vi.advanceTimersByTimeAsync(60_000);
        vi.setSystemTime(stands);
      }
    };
    await pass(2.8 * hour);
    expect(ticks.isOverdue()).toBe(false);
    await pass(0.2 * hour);
    expect(ticks.isOverdue()).toBe(true);
    vi.setSystemTime(stands + hour);
    await vi.advanceTimersByTimeAsync(1000);
    expect(ticks.isOverdue()).toBe(false);
  });

  test('a process that itself stood still is not overdue: it looks first', async () => {
    start('2026-06-12T16:30:00Z', '* * * * * *');
    await vi.advanceTimersByTimeAsync(1000);
    const woken = performance.now() + hour;
    vi.setSystemTime(Date.now() + hour);
    const clock = vi.spyOn(performance, 'now').mockReturnValue(woken);
    const atOnce = ticks.isOverdue();
    await vi.advanceTimersByTimeAsync(1000);
    const afterALook = ticks.isOverdue();
    clock.mockRestore();
    expect([atOnce, afterALook]).toEqual([false, false]);
    expect(seen).toHaveLength(2);
  });
});
