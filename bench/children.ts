// The bench's child processes: the simulated platform and the commands that are measured. None outlives the bench.
import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { stoppedAt } from '../test/support/machine-clock.ts';
import type { BenchServer } from './server.ts';

/** As it lies beside this file. */
export const fileOf = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const command = fileOf('../src/main.js');
/** The simulated window: two months of 31 days, but for their last hours. */
const windowDays = 62;

const running = new Set<ChildProcess>();
// Whatever ends the bench, an uncaught error included.
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

type Output = 'pipe' | 'ignore' | 'inherit';

/** With this environment beside the bench's own; node unless told otherwise. */
function start(
  args: string[],
  env: NodeJS.ProcessEnv,
  [stdout, stderr]: [Output, Output],
  program = process.execPath,
): ChildProcess {
  const child = spawn(program, args, {
    stdio: ['ignore', stdout, stderr],
    env: { ...process.env, ...env },
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

const simulatedAt = '2026-08-31T09:30:00Z';

export type Simulated = Awaited<ReturnType<typeof simulate>>;

/**
 * A platform in a process of its own that answers after so long and holds about so many records of each kind. It is at
 * a moment of its own, or with `isNow` in the present, for programs whose clock cannot be moved. It ends with the server.
 */
export async function simulate(
  server: Pick<BenchServer, 'atEnd'>,
  orders: number,
  classes: number,
  { isNow = false, latencyMs = 0, projects = 1 } = {},
) {
  const perDay = (records: number): string => String(Math.ceil(records / windowDays));
  const child = start(
    [
      [command],
      'simulate --json'.split(' '),
      isNow ? [] : `--at ${simulatedAt} --speed 0`.split(' '),
      ['--latency-ms', String(latencyMs), '--projects', String(projects)],
      ['--orders-per-day', perDay(orders), '--classes-per-day', perDay(classes)],
    ].flat(),
    {},
    ['pipe', 'ignore'],
  );
  const ready = JSON.parse(await firstLineOf(child)) as {
    url: string;
    apiKey: string;
    apiSecret: string;
    projects: { name: string; apiKey: string; apiSecret: string }[];
  };
  const ask = (what: string): Promise<Response> => fetch(`${ready.url}/_simulator/${what}`);
  const requests = async (): Promise<Requests> =>
    (await (await ask('requests')).json()) as Requests;
  const close = (): boolean => child.kill();
  server.atEnd(close);
  return {
    /** Of every project. */
    keys: ready.projects,
    /** What a command is told to reach it. */
    env: {
      // Where the two clocks disagree nothing is sealed.
      ...(isNow ? {} : stoppedAt(Date.parse(simulatedAt))),
      OUTLAST_BASE_URL: ready.url,
      OUTLAST_API_KEY: ready.apiKey,
      OUTLAST_API_SECRET: ready.apiSecret,
      OUTLAST_MAX_RPS: '100000',
    } as NodeJS.ProcessEnv,
    pid: child.pid ?? 0,
    /** The newest 5,000, oldest first; milliseconds of real time. */
    requests: async () => (await requests()).recent,
    /** How many there were. */
    requested: async () => (await requests()).total,
    /** How many orders of its first project it shows now, by its own memory. */
    shown: async () => (await (await ask('records?resource=orders')).text()).split('\n').length - 1,
    close,
  };
}

type Requests = { total: number; recent: { receivedAt: number }[] };

async function firstLineOf(child: ChildProcess): Promise<string> {
  let text = '';
  for await (const part of child.stdout ?? []) {
    text += String(part);
    const end = text.indexOf('\n');
    if (end >= 0) return text.slice(0, end);
  }
  throw new Error(`${child.spawnargs.slice(1).join(' ')} ended before it said anything`);
}

/** A module of the bench in a process of its own, ready once it has printed its first line. */
export async function startModule(
  file: string,
  env: NodeJS.ProcessEnv,
  nodeOptions: string[] = [],
): Promise<{ line: string; close(): void }> {
  const args = [...nodeOptions, fileOf(`./${file}`)];
  const child = start(args, env, ['pipe', 'inherit']);
  return { line: await firstLineOf(child), close: () => child.kill() };
}

/** `peakMb`: of the process with all below it. */
export type Ended = { seconds: number; peakMb: number };

/** Runs a command to its end. Throws unless it exits with 0; `signal` kills it. */
export function runCommand(
  args: string[],
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<Ended> {
  return run([command, ...args], { OUTLAST_LOG_LEVEL: 'error', ...env }, signal);
}

/** A command that goes on until it is closed. */
export function startCommand(
  args: string[],
  env: NodeJS.ProcessEnv,
): { pid: number; close(): void } {
  const quiet = { OUTLAST_LOG_LEVEL: 'error', ...env };
  const child = start([command, ...args], quiet, ['ignore', 'inherit']);
  return { pid: child.pid ?? 0, close: () => child.kill() };
}

/** Runs a program to its end, node unless told otherwise. Throws unless it exits with 0; `signal` kills it. */
export async function run(
  args: string[],
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
  program = process.execPath,
): Promise<Ended> {
  signal.throwIfAborted();
  const begun = performance.now();
  const child = start(args, env, ['ignore', 'inherit'], program);
  const kill = (): boolean => child.kill('SIGKILL');
  signal.addEventListener('abort', kill);
  let peakMb = 0;
  const watching = setInterval(() => (peakMb = Math.max(peakMb, peakMbOf(child.pid))), 100);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('exit', resolve);
    child.once('error', reject);
  }).finally(() => {
    clearInterval(watching);
    signal.removeEventListener('abort', kill);
  });
  signal.throwIfAborted();
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${String(code)}`);
  return { seconds: (performance.now() - begun) / 1000, peakMb };
}

/**
 * Peak resident memory of a process and of those below it that run, which the kernel keeps: only their last moments can
 * be missed. Linux; 0 elsewhere.
 */
export function peakMbOf(pid: number | undefined): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const own = Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024;
    const below = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').match(/\d+/g) ?? [];
    return below.reduce((sum, child) => sum + peakMbOf(Number(child)), own);
  } catch {
    return 0;
  }
}
