// Runs the real command as a child process: dist/, as `npm test` has just built it. Nothing of the test's own
// environment reaches it but what a process needs to start.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { devNull } from 'node:os';
import { fileURLToPath } from 'node:url';
import { inject } from 'vitest';
import type { Simulator } from '../../src/simulator/simulator-server.ts';
import type { CommandAnswer } from './global-setup.ts';

/** As it is installed. */
export const mainFile = fileURLToPath(new URL('../../dist/src/main.js', import.meta.url));
const isBuilt = existsSync(mainFile);
/** The same linked, which starts in half the time. */
export const linkedFile = isBuilt ? await link() : mainFile;

async function link(): Promise<string> {
  const answer = (await (await fetch(`${inject('testDoor')}command`)).json()) as CommandAnswer;
  if ('problem' in answer) throw new Error(answer.problem);
  return answer.file;
}

export type Ended = {
  /** Null when a signal ended it. */
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
};

export type Running = ReturnType<typeof startCommand>;

export type CommandOptions = {
  env?: Record<string, string>;
  cwd?: string;
  /** After so long it is killed, and `code` is null. */
  timeoutMs?: number;
  /** Instead of the linked one. */
  main?: string;
};

/** What a command is told of a simulated platform and of its database. */
export function environmentOf(
  { url, projects: [project] }: Simulator,
  databaseUrl: string,
): Record<string, string> {
  return {
    OUTLAST_BASE_URL: url,
    OUTLAST_API_KEY: project?.apiKey ?? '',
    OUTLAST_API_SECRET: project?.apiSecret ?? '',
    OUTLAST_MAX_RPS: '100000',
    // `doctor` tries it, and several may at a time.
    OUTLAST_PORT: '0',
    DATABASE_URL: databaseUrl,
  };
}

/** `outlast <args>`, started. The caller stops it or waits for its end. */
export function startCommand(args: string[], options: CommandOptions = {}) {
  if (!isBuilt) throw new Error('dist/ is missing: run `npm run build` first');
  const child = spawn(process.execPath, [options.main ?? linkedFile, ...args], {
    cwd: options.cwd,
    env: { ...inherited(), ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: options.timeoutMs ?? 240_000,
    killSignal: 'SIGKILL',
  });
  let stdout = '';
  let stderr = '';
  const waiting = new Set<() => void>();
  const changed = (): void => waiting.forEach((check) => check());
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    stdout += part;
    changed();
  });
  child.stderr.setEncoding('utf8').on('data', (part: string) => {
    stderr += part;
    changed();
  });
  let hasEnded = false;
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      hasEnded = true;
      resolve({ code, signal, stdout, stderr });
      changed();
    });
  });
  return {
    child,
    stdout: () => stdout,
    stderr: () => stderr,
    /** Resolves when it has ended and both streams are read to their ends. */
    ended,
    /** The first match in what it has written so far to either stream; rejects when it ends without one. */
    waitFor: (pattern: RegExp, timeoutMs = 120_000) =>
      new Promise<RegExpExecArray>((resolve, reject) => {
        const stop = (): void => {
          clearTimeout(timer);
          waiting.delete(check);
        };
        const fail = (why: string): void => {
          stop();
          reject(new Error(`${why} before ${String(pattern)} appeared:\n${stdout}${stderr}`));
        };
        const check = (): void => {
          const match = pattern.exec(stdout) ?? pattern.exec(stderr);
          if (match !== null) {
            stop();
            resolve(match);
          } else if (hasEnded) fail('the command ended');
        };
        const timer = setTimeout(() => fail(`${timeoutMs} ms passed`), timeoutMs);
        waiting.add(check);
        check();
      }),
    /** Sends a signal and waits for the end. */
    stop: (signal: NodeJS.Signals = 'SIGTERM'): Promise<Ended> => {
      child.kill(signal);
      return ended;
    },
  };
}

/** `outlast <args>`, run to its end. */
export function runCommand(args: string[], options: CommandOptions = {}): Promise<Ended> {
  return startCommand(args, options).ended;
}

/** Whether there is a real pseudo-terminal to be had. */
export const hasTerminal = existsSync('/usr/bin/script') && process.platform === 'linux';

/** `outlast <args>`, started under one. */
export function startOnTerminal(
  args: string[],
  { env = {}, cwd, columns = 80 }: { env?: Record<string, string>; cwd?: string; columns?: number },
) {
  const words = [process.execPath, linkedFile, ...args].map((word) => `'${word}'`);
  const command = `stty cols ${columns}; exec ${words.join(' ')}`;
  const child = spawn('script', ['-qefc', command, '/dev/null'], {
    cwd,
    env: { PATH: process.env['PATH'], TERM: 'xterm', OUTLAST_ENV_FILE: devNull, ...env },
    timeout: 240_000,
    killSignal: 'SIGKILL',
  });
  let shown = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => (shown += part));
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  return { child, ended, shown: () => shown, type: (keys: string) => void child.stdin.write(keys) };
}

/** What a process needs to start, and no setting: a developer's own OUTLAST_… and DATABASE_URL stay out, and a .env. */
function inherited(): Record<string, string> {
  const names = ['PATH', 'HOME', 'TMPDIR', 'SystemRoot', 'TEMP', 'TMP', 'USERPROFILE'];
  const given = names.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  // Wide enough that no sentence is looked for across lines.
  return { ...Object.fromEntries(given), OUTLAST_ENV_FILE: devNull, COLUMNS: '1000' };
}
