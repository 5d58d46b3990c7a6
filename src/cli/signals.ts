// Leaving: the first signal asks the work to end where nothing is lost, the second ends the process. What else asks for
// it: a terminal that is closed (SIGHUP), and npm that ends before the command it runs.
import { setMaxListeners } from 'node:events';
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { isatty } from 'node:tty';
import type { Out } from './print.ts';
import { createProgress, type ProgressLine } from './progress.ts';

/**
 * Node forgets what `nohup` asked for: at its start it takes back that SIGHUP is ignored. What `nohup` leaves is that
 * nothing is written to a terminal, on every system; on some it is still read from.
 */
const hasTerminal = [1, 2].some((stream) => isatty(stream));
const leaving: NodeJS.Signals[] = [
  'SIGINT',
  'SIGTERM',
  ...(hasTerminal ? ['SIGHUP' as const] : []),
];

/** For every command: where no terminal is lost, SIGHUP ends nothing. */
export function outliveHangUps(): void {
  if (!hasTerminal) process.on('SIGHUP', () => (hasHungUp = true));
}
let hasHungUp = false;

/** npm hands on Ctrl-C, which the terminal has sent to the whole group already: that is no second wish. */
const twiceWithinMs = 1000;

export function stopOnSignals(onFirst: () => void = () => undefined) {
  const controller = new AbortController();
  // Every project listens.
  setMaxListeners(0, controller.signal);
  let askedAt = 0;
  const leave = (): void => {
    if (controller.signal.aborted) return;
    askedAt = performance.now();
    onFirst();
    controller.abort();
  };
  const handle = (name: NodeJS.Signals): void => {
    const isSecond = controller.signal.aborted && performance.now() - askedAt >= twiceWithinMs;
    // Everything committed stays committed (P3): a hurried person loses nothing.
    if (isSecond) process.exit(128 + constants.signals[name]);
    leave();
  };
  for (const name of leaving) process.on(name, handle);
  const watching = whenNpmEnds(leave);
  return {
    signal: controller.signal,
    close: (): void => {
      for (const name of leaving) process.off(name, handle);
      clearInterval(watching);
    },
  };
}

/** Does work that a signal may end. */
export async function untilSignal<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stop = stopOnSignals();
  try {
    return await work(stop.signal);
  } finally {
    stop.close();
  }
}

/** The same with a line that shows how far it is. */
export const inProgress = <T>(
  work: (signal: AbortSignal, progress: ProgressLine) => Promise<T>,
  out: Out = process.stderr,
): Promise<T> =>
  untilSignal(async (signal) => {
    const progress = createProgress(out);
    try {
      return await work(signal, progress);
    } finally {
      progress.end();
    }
  });

/** Resolves when the signal is aborted. */
export function stopped(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

const parent = process.ppid;
/** Whoever npm left behind before this was read has the first process for a parent. In a container npm may be that. */
const isLeft = (): boolean => parent === 1 && !isNpm(1);

/** As npm names its process; where nothing tells, as on macOS, the first process is no npm. */
function isNpm(pid: number): boolean {
  try {
    return /^np[mx] /.test(readFileSync(`/proc/${pid}/cmdline`, 'latin1'));
  } catch {
    return false;
  }
}

/**
 * npm hands SIGTERM to its shell. bash has become this process by then, dash dies and leaves it behind: so a parent
 * that is gone stands for the signal. Only where npm's script is this command alone, for then its shell waits for it;
 * what was started in the background is to outlive its shell. On Windows a process keeps its parent's number.
 */
function whenNpmEnds(leave: () => void): NodeJS.Timeout | undefined {
  const script = process.env.npm_lifecycle_script ?? '';
  if (!/^'?(outlast|node (--import \S+ )?dist\/src\/main\.js)'?( [^&|;]*)?$/.test(script))
    return undefined;
  const wasLeft = isLeft();
  // A hang-up that ended all of them but this one is heard first.
  const look = (): unknown =>
    (wasLeft || process.ppid !== parent) && setImmediate(() => hasHungUp || leave());
  return setInterval(look, 1000).unref();
}
