// The log as a person reads it on a terminal.
import { spawnSync } from 'node:child_process';
import { existsSync, openSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { expect, test, vi } from 'vitest';
import { lineOf, openLog } from '../../src/cli/log-lines.ts';

const logFile = new URL('../../dist/src/log.js', import.meta.url).href;
const terminal = Object.assign(new PassThrough(), { columns: 60 });
const json = (fields: object): string =>
  JSON.stringify({ level: 'warn', time: '2026-11-23T09:38:11.992Z', ...fields });

test('is time, level, sentence and fields, in lines that fit', () => {
  expect(lineOf(json({ msg: 'A slice is not done' }), terminal)).toBe(
    '09:38:11Z warn   A slice is not done',
  );
  const fields = {
    projectId: 'shop',
    problem: 'no answer at all',
    more: 3,
    of: ['a', 'b'],
    gone: null,
  };
  expect(lineOf(json({ ...fields, msg: 'A slice is not done' }), terminal)).toBe(
    [
      '09:38:11Z warn   A slice is not done  projectId=shop',
      '                 problem="no answer at all"  more=3',
      '                 of=["a","b"]  gone=null',
    ].join('\n'),
  );
});

test('lets nothing steer the terminal', () => {
  const line = lineOf(json({ problem: 'a\u001b[2Jb\nc', msg: 'x\u0007' }), terminal);
  expect(line).toBe('09:38:11Z warn   x\\u{7}  problem="a\\u001b[2Jb\\nc"');
});

test('begins commands as it was begun itself', () => {
  vi.stubEnv('npm_lifecycle_event', 'npx');
  const line = lineOf(json({ msg: 'It is asked by `outlast sync`' }), terminal);
  vi.unstubAllEnvs();
  expect(line).toBe('09:38:11Z warn   It is asked by `npx outlast sync`');
});

test('is JSON where stderr is no terminal, and hides what should be hidden on one', () => {
  const { stderr } = process;
  const shown = new PassThrough({ encoding: 'utf8' });
  const as = (isTTY: boolean): void =>
    void Object.defineProperty(process, 'stderr', {
      configurable: true,
      value: Object.assign(shown, { isTTY, columns: 80 }),
    });
  try {
    as(true);
    openLog('info').info({ apiSecret: 'sesame' }, 'Said');
    expect(stripVTControlCharacters(String(shown.read()))).toMatch(
      /^\r\d\d:\d\d:\d\dZ info {3}Said {2}apiSecret=\[hidden\]\n$/,
    );
    as(false);
    // To the file descriptor itself: the stream is asked for nothing.
    openLog('error').info('Not said');
    expect(shown.read()).toBeNull();
  } finally {
    Object.defineProperty(process, 'stderr', { configurable: true, value: stderr });
  }
});

test.runIf(existsSync('/dev/full'))('a full disk below it ends no work', () => {
  const work = `import { createLog } from '${logFile}';
    const log = createLog('info');
    log.info('one');
    await new Promise((resolve) => setTimeout(resolve, 10));
    log.info('two');
    process.stdout.write('done');`;
  const { status, stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', work], {
    stdio: ['ignore', 'pipe', openSync('/dev/full', 'w')],
  });
  expect([status, String(stdout)]).toEqual([0, 'done']);
});
