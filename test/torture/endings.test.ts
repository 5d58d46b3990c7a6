// How a process under torture may end, and what is a finding; and whether what was tampered with is named.
import { expect, test } from 'vitest';
import { judgeEnding } from './endings.ts';
import { forgedSha } from '../support/tamperings.ts';
import { isNamed } from './tamper.ts';

test.each([
  [{ code: 1, signal: null, said: 'outlast: something unexpected happened: no' }, 'unexpected'],
  [{ code: 1, signal: null, said: 'outlast: it did not work' }, 'ended with 1'],
  [{ code: 2, signal: null, said: 'outlast: --from is no day' }, 'ended with 2'],
  [{ code: null, signal: 'SIGSEGV' as const, said: '' }, 'SIGSEGV'],
  [{ code: 75, signal: null, said: 'TypeError: Cannot read properties of undefined' }, 'Cannot'],
  [{ code: 75, signal: null, said: 'Error: x\n    at f (node:events:1:1)' }, 'node:events'],
  [{ code: 0, signal: null, said: 'with hush-hush in it' }, 'secret'],
])('P10, P12: an ending that is a finding: %j', (ended, finding) => {
  expect(judgeEnding(['sync'], ended, ['hush-hush']).finding).toContain(finding);
});

test.each([
  { code: 0, signal: null, said: '' },
  { code: 75, signal: null, said: 'outlast: The database cannot be reached.' },
  { code: null, signal: 'SIGKILL' as const, said: '' },
  { code: 1, signal: null, said: 'outlast: The disk of the database is full. Free some space.' },
])('an ending that is none: %j', (ended) => {
  expect(judgeEnding(['sync'], ended, ['hush-hush']).finding).toBeNull();
});

test('a code that was to be expected is none, whatever else is said still is', () => {
  const ended = { code: 1, signal: null, said: '{"findings": []}' };
  expect(judgeEnding(['verify'], ended, [], 1).finding).toBeNull();
  expect(judgeEnding(['verify'], ended, [], 0).finding).toContain('ended with 1');
  const loud = { ...ended, said: 'TypeError: Cannot read properties of undefined' };
  expect(judgeEnding(['verify'], loud, [], 1).finding).toContain('Cannot');
});

test('what was tampered with is named by its kind, its record and its words, and by nothing less', () => {
  const line = (kind: string, id: string, says: string): string =>
    `{"findings": [\n  ${JSON.stringify({ project: 'p', resource: 'orders', kind, when: null, id, says })}\n],`;
  const named = (said: string, sql = ''): boolean =>
    isNamed(['an order gone', sql, 'missing', /was archived/, '$order'], { order: 'o-1' }, said);
  expect(named(line('missing', 'o-1', 'it was archived by entry 3'))).toBe(true);
  expect(named(line('missing', 'o-2', 'it was archived by entry 3'))).toBe(false);
  expect(named(line('altered', 'o-1', 'it was archived by entry 3'))).toBe(false);
  expect(named(line('missing', 'o-1', 'page 0 is gone'))).toBe(false);
  expect(named('{"findings": [],')).toBe(false);
  const digest = `raw_sha256 is ${'8b'.repeat(32)}, and that of the record held is ${'c1'.repeat(32)}`;
  expect(named(line('altered', 'o-1', digest), forgedSha('raw'))).toBe(true);
  expect(named(line('altered', 'o-2', digest), forgedSha('raw'))).toBe(false);
  expect(named(line('altered', 'o-1', digest))).toBe(false);
});
