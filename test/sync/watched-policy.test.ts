// The policy of watched operations: a pure function, tested with fixed clocks.
import { describe, expect, test } from 'vitest';
import type { HeldResult, DueOperation } from '../../src/store/operations/watched.ts';
import {
  afterTurn,
  fileTriesAtMost,
  lookupsToAsk,
  lostAt,
  type FileOutcome,
  type LookedUp,
} from '../../src/sync/background/watched-policy.ts';

const now = Date.parse('2026-04-06T12:00:00Z');
const none: FileOutcome = { kind: 'none' };
const operation = (more: Partial<DueOperation> = {}): DueOperation => ({
  projectId: 'p',
  operationId: 'op',
  apiVersion: null,
  createdOn: null,
  addedAt: now,
  deadlineAt: Date.parse('2026-04-30T00:00:00Z'),
  attempts: 0,
  held: [],
  hasFile: false,
  ...more,
});
const held = (
  apiVersion: HeldResult['apiVersion'],
  status: number,
  hasLink = false,
): HeldResult => ({
  apiVersion,
  status,
  firstSeenAt: now,
  hasLink,
});
const looked = (
  apiVersion: LookedUp['apiVersion'],
  outcome: LookedUp['outcome'],
  status: number | null = null,
): LookedUp => ({ apiVersion, outcome, status, problem: outcome === 'silent' ? 'silence' : null });
const bothUnknown = [looked('v1beta1', 'not_found'), looked('v3', 'not_found')];

test('asking grows from ten seconds to an hour, and never ends before the month does', () => {
  const waits = Array.from({ length: 12 }, (_, attempts) => {
    const end = afterTurn(operation({ attempts }), bothUnknown, none, now, now);
    expect(end.state).toBe('open');
    return ((end.dueAt ?? 0) - now) / 1000;
  });
  expect(waits).toEqual([10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600, 3600]);
});

describe('an operation', () => {
  test('found for the first time, or final for the first time, is looked at again soon', () => {
    const patient = operation({ attempts: 30 });
    const found = afterTurn(
      patient,
      [looked('v3', 'found', 0), looked('v1beta1', 'not_found')],
      none,
      now,
      now,
    );
    expect(found).toMatchObject({ state: 'open', attempts: 1, dueAt: now + 10_000 });
  });

  const [one, other] = ['v1beta1', 'v3'] as const;
  test.each<[string, HeldResult[], LookedUp[], 'open' | 'done']>([
    ['both final', [], [looked(one, 'found', 1), looked(other, 'found', 1)], 'done'],
    [
      'one final, the other never seen in the same turn',
      [],
      [looked(one, 'found', 1), looked(other, 'not_found')],
      'open',
    ],
    [
      'one final before, the other asked since',
      [held(one, 2)],
      [looked(other, 'not_found')],
      'done',
    ],
    ['one final before, the other silent', [held(one, 2)], [looked(other, 'silent')], 'open'],
    ['one final before, the other going on', [held(one, 2)], [looked(other, 'found', 3)], 'open'],
    [
      'one final before, the other gone after it was seen',
      [held(one, 1), held(other, 0)],
      [looked(other, 'not_found')],
      'open',
    ],
    ['a status nobody knows', [], [looked(one, 'found', 7), looked(other, 'found', 7)], 'open'],
    ['a status that cannot be read', [], [looked(one, 'found'), looked(other, 'found')], 'open'],
  ])('with %s', (_, before, lookups, state) => {
    const end = afterTurn(operation({ held: before }), lookups, none, now, now);
    expect(end.state).toBe(state);
  });

  test('is asked for by the one lookup it was given', () => {
    expect(lookupsToAsk(operation({ apiVersion: 'v3' }), false)).toEqual(['v3']);
    expect(lookupsToAsk(operation({ held: [held('v3', 1)] }), false)).toEqual(['v1beta1']);
  });
});

describe('P7: lost', () => {
  const after = Date.parse('2026-05-01T12:00:00Z');

  test('is decided half a day after the month, when that is certain', () => {
    expect(afterTurn(operation(), bothUnknown, none, after, 0).state).toBe('open');
    expect(afterTurn(operation(), bothUnknown, none, after, after - 1).state).toBe('open');
    expect(afterTurn(operation(), bothUnknown, none, after, after).state).toBe('lost');
  });

  test('is nothing on which nobody answered, and nothing that was final', () => {
    const silence = [looked('v1beta1', 'silent'), looked('v3', 'silent')];
    expect(afterTurn(operation(), silence, none, after, after).state).toBe('open');
    const final = operation({ held: [held('v1beta1', 1)], createdOn: '2026-03-01' });
    expect(afterTurn(final, [looked('v3', 'silent')], none, after, after).state).toBe('done');
  });

  test.each([0, 1, 20 * 24])('a margin of %d hours leaves the month’s end where it is', (hours) => {
    const deadlineAt = Date.parse('2026-05-01T00:00:00Z') - hours * 3_600_000;
    expect(lostAt(operation({ deadlineAt }), false)).toBe(after);
  });

  test('an id given at the month’s end has three days; one that was seen has as long as it can live', () => {
    const late = operation({ addedAt: Date.parse('2026-04-30T23:00:00Z') });
    expect(lostAt(late, false)).toBe(Date.parse('2026-05-03T23:00:00Z'));
    expect(lostAt(operation({ held: [held('v3', 0)] }), true)).toBe(
      Date.parse('2026-06-01T12:00:00Z'),
    );
    const known = operation({ held: [held('v3', 0)], createdOn: '2026-03-01' });
    expect(lostAt(known, true)).toBe(after);
  });
});

describe('the file behind a link', () => {
  const final = [looked('v1beta1', 'found', 1)];
  const one = (more: Partial<DueOperation> = {}) => operation({ apiVersion: 'v1beta1', ...more });
  const passing: FileOutcome = { kind: 'passing', problem: 'its server answered 503' };

  test('keeps its operation open while it may still come, and no longer', () => {
    expect(afterTurn(one(), final, passing, now, now)).toMatchObject({
      state: 'open',
      attempts: 1,
    });
    const tired = one({ attempts: fileTriesAtMost, held: [held('v1beta1', 1, true)] });
    const end = afterTurn(tired, final, passing, now, now);
    expect(end).toMatchObject({ state: 'done', dueAt: null });
    expect(end.lastError).toContain('503');
    expect(afterTurn(one(), final, { kind: 'kept' }, now, now)).toMatchObject({
      state: 'done',
      lastError: null,
    });
    expect(afterTurn(one(), final, { kind: 'final', problem: 'no' }, now, now).state).toBe('done');
  });

  test('has its link asked for again, and neither silence nor a copy that lags is an answer to that', () => {
    const waiting = one({ held: [held('v1beta1', 1, true)], attempts: 1 });
    expect(lookupsToAsk(waiting, true)).toEqual(['v1beta1']);
    expect(lookupsToAsk(waiting, false)).toEqual([]);
    expect(lookupsToAsk({ ...waiting, hasFile: true }, true)).toEqual([]);
    const tired = { ...waiting, attempts: fileTriesAtMost };
    for (const outcome of ['silent', 'not_found', 'refused'] as const) {
      const without = [looked('v1beta1', outcome)];
      expect(afterTurn(waiting, without, none, now, now).state).toBe('open');
      const end = afterTurn(tired, without, none, now, now);
      expect(end.state).toBe('done');
      expect(end.lastError).toContain('link was not given again');
    }
  });
});
