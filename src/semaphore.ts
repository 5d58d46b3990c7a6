// How many of a kind are at work at once: answers of `/archive/v1`, requests for days. Whoever comes when no place is
// free waits for one, in the order of coming.

export type Semaphore = <T>(work: () => Promise<T>) => Promise<T>;

export function createSemaphore(atMost: number): Semaphore {
  let free = atMost;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      // A place that is handed on was never free.
      if (next === undefined) free += 1;
      else next();
    }
  };
}
