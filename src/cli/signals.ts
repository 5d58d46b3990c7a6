// Leaving: the first signal asks the work to end where nothing is lost, the second ends the process. A terminal that is
// closed is one as well (SIGHUP): an embedded Postgres would be left running.
import { setMaxListeners } from 'node:events';
import { constants } from 'node:os';

export type Stop = { signal: AbortSignal; close(): void };

const leaving = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export function stopOnSignals(onFirst: () => void = () => undefined): Stop {
  const controller = new AbortController();
  // Every project listens.
  setMaxListeners(0, controller.signal);
  const handle = (name: NodeJS.Signals): void => {
    // Everything committed stays committed (P3): a hurried person loses nothing.
    if (controller.signal.aborted) process.exit(128 + constants.signals[name]);
    onFirst();
    controller.abort();
  };
  for (const name of leaving) process.on(name, handle);
  return {
    signal: controller.signal,
    close: () => {
      for (const name of leaving) process.off(name, handle);
    },
  };
}

/** Resolves when the signal is aborted. */
export function stopped(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
