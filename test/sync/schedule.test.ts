// What the log says of runs: an outage of hours is a line when it begins, one every five minutes, and one at its end.
// And when a schedule was due last.
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { createRunLog, lastDue } from '../../src/sync/schedule.ts';
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
    told.ended(report('left'));
    pass(minute);
  }
  expect(lines()).toHaveLength(5);
  // Another trouble meanwhile is told at once.
  told.failed('p', 'the database is gone');
  expect(lines()).toEqual(['A run failed']);
  // Nothing was due, for what failed waits: nobody knows whether it is over.
  told.ended(report('idle'));
  expect(lines()).toEqual([]);
  told.ended(report('done'));
  told.ended(report('done'));
  expect(lines()).toEqual(['What was due is done again']);
});

test('each project has its own, and the next outage is told at once', () => {
  const { lines, told } = logOf();
  told.ended(report('left'));
  told.ended(report('left', 'q'));
  told.ended(report('done'));
  told.ended(report('left'));
  expect(lines()).toEqual([
    'A run left something due',
    'A run left something due',
    'What was due is done again',
    'A run left something due',
  ]);
});

test('a parked project is told as such, not as one that is well', () => {
  const { lines, told } = logOf();
  told.ended(report('parked'));
  told.ended(report('parked'));
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
