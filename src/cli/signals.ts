// Leaving: the first SIGINT or SIGTERM asks the work to end where nothing is lost, the second ends the process.
import { constants } from 'node:os';

export type Stop = { signal: AbortSignal; close(): void };

export function stopOnSignals(onFirst: () => void = () => undefined): Stop {
  const controller = new AbortController();
  const handle = (name: NodeJS.Signals): void => {
    // Everything committed stays committed (P3): a hurried person loses nothing.
    if (controller.signal.aborted) process.exit(128 + constants.signals[name]);
    onFirst();
    controller.abort();
  };
  process.on('SIGINT', handle);
  process.on('SIGTERM', handle);
  return {
    signal: controller.signal,
    close: () => {
      process.off('SIGINT', handle);
      process.off('SIGTERM', handle);
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
