// A command in the test's own process, where what it prints and its exit code are the subject and not the process: to
// start node and load everything takes a third of a second. What is logged is not seen, for the log writes to the
// terminal itself.
import { devNull } from 'node:os';
import { Writable } from 'node:stream';
import { expect } from 'vitest';
import { endWith } from '../../src/cli/exit.ts';
import { runProgram } from '../../src/cli/program.ts';
import { exitCode } from '../../src/errors.ts';
import type { Ended } from './command.ts';
import { replace } from './replaced.ts';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Streams, environment, clock and exit are the process's: one command at a time has them. */
let before: Promise<unknown> = Promise.resolve();

/**
 * `outlast <args>` with this environment and no other; its log says nothing by default; in the folder `cwd`. With
 * `columns` both streams are a terminal of that width. `MACHINE_CLOCK_NOW`, as of machine-clock.ts, stops this
 * process's wall clock until the command ends.
 */
export function runHere(
  args: string[],
  { env = {}, columns, cwd }: { env?: Record<string, string>; columns?: number; cwd?: string } = {},
): Promise<Ended> {
  const ended = before.then(() => runAlone(args, env, columns, cwd));
  before = ended.catch(() => undefined);
  return ended;
}

async function runAlone(
  args: string[],
  env: Record<string, string>,
  columns: number | undefined,
  cwd: string | undefined,
): Promise<Ended> {
  const stdout = collecting(columns);
  const stderr = collecting(columns);
  const now = env['MACHINE_CLOCK_NOW'];
  const putBack = [
    replace(process, 'env', {
      OUTLAST_LOG_LEVEL: 'silent',
      OUTLAST_ENV_FILE: devNull,
      // So that no sentence is looked for across lines.
      COLUMNS: '1000',
      ...env,
    }),
    replace(process, 'exit', (code: number) => {
      throw Object.assign(new Error(`exit ${code}`), { exited: code });
    }),
    replace(process, 'stdout', stdout.stream),
    replace(process, 'stderr', stderr.stream),
    now === undefined ? () => undefined : replace(Date, 'now', () => Number(now)),
    ...signals.map((name) => {
      const others = process.listeners(name);
      // What a command listens with ends with its process, also where it ends badly.
      return () =>
        process
          .listeners(name)
          .filter((one) => !others.includes(one))
          .forEach((one) => process.off(name, one));
    }),
  ];
  process.exitCode = undefined;
  const home = process.cwd();
  if (cwd !== undefined) process.chdir(cwd);
  try {
    await runProgram(args).catch(endWith);
  } catch (error) {
    const { exited } = error as { exited?: number };
    if (exited === undefined) throw error;
    process.exitCode = exited;
  } finally {
    process.chdir(home);
    for (const one of putBack) one();
  }
  const code = process.exitCode ?? exitCode.done;
  process.exitCode = undefined;
  return { code, signal: null, stdout: stdout.text(), stderr: stderr.text() };
}

/** The same, of a command that must end well. */
export async function succeedHere(...given: Parameters<typeof runHere>): Promise<Ended> {
  const ended = await runHere(...given);
  expect(ended.code, ended.stdout + ended.stderr).toBe(exitCode.done);
  return ended;
}

/** P12: nothing was done, and one sentence with these words says why. */
export function expectRefused({ code, stdout, stderr }: Ended, sentence: string): void {
  expect([code, stdout]).toEqual([exitCode.usage, '']);
  expect(stderr).toContain(sentence);
  expect(stderr.trimEnd().split('\n')).toHaveLength(1);
}

function collecting(columns?: number): { stream: Writable; text: () => string } {
  const pieces: Buffer[] = [];
  const stream = new Writable({
    write: (piece: Buffer, _encoding, done) => {
      pieces.push(piece);
      done();
    },
  });
  if (columns !== undefined) Object.assign(stream, { isTTY: true, columns });
  return { stream, text: () => Buffer.concat(pieces).toString('utf8') };
}
