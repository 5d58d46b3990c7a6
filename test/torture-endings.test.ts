// How a process under torture may end, and what is a finding.
import { expect, test } from 'vitest';
import { judgeEnding } from './torture/endings.ts';

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
