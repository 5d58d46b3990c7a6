// What a person reads when the embedded Postgres has no room: one sentence, whoever noticed it (P12).
import { expect, test } from 'vitest';
import { causeChain } from '../../../src/errors.ts';
import { noRoom } from '../../../src/store/embedded/failures.ts';

test('a full disk that the system reports keeps the system’s line as its cause', () => {
  const error = Object.assign(new Error('ENOSPC: no space left on device, write'), {
    code: 'ENOSPC',
  });
  expect(noRoom(error, '/data')).toMatchObject({ code: 'embedded_disk_full', cause: error });
});

test('one that a program reports in pages stays one sentence', () => {
  const output = [
    'FATAL:  could not extend file "base/1/2691": No space left on device',
    'PANIC:  cannot abort transaction 1, it was already committed',
    'child process exited with exit code 134',
  ].join('\n');
  for (const printed of [{ message: output }, { message: 'Command failed', stderr: output }]) {
    const told = causeChain(noRoom(printed, '/data'));
    expect(told).toMatch(/^There is no room for the embedded Postgres in \/data\. .*disk\.$/);
  }
});

test('what is no full disk is left to others', () => {
  expect(noRoom(new Error('something else'), '/data')).toBeNull();
});
