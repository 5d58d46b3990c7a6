// How many of a kind are at work at once: answers of `/archive/v1`, requests for days. Whoever comes when no place is
// free waits for one, in the order of coming.

/** `leave` gives the place to the next before the work is done; calling it again does nothing. */
export type Semaphore = <T>(work: (leave: () => void) => Promise<T>) => Promise<T>;

/** As many as come. */
export const unbounded: Semaphore = (work) => work(() => undefined);

export function createSemaphore(atMost: number): Semaphore {
  let free = atMost;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    let hasLeft = false;
    const leave = (): void => {
      if (hasLeft) return;
      hasLeft = true;
      const next = waiting.shift();
      // A place that is handed on was never free.
      if (next === undefined) free += 1;
      else next();
    };
    try {
      return await work(leave);
    } finally {
      leave();
    }
  };
}
