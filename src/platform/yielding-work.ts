// Long work in turns: a generator that yields now and then is done at once, or so that others have their turn in
// between (timers, leases, other projects' answers). It knows nothing of what is done.
import { setImmediate } from 'node:timers/promises';

/** What takes longer lets others go ahead at its next yield. */
const turnMs = 20;

/** Begins after what is due already, which is shorter: above all the next request, which goes out meanwhile. */
export async function runYielding<T>(work: Iterator<void, T>): Promise<T> {
  await setImmediate();
  let since = performance.now();
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
    if (performance.now() - since > turnMs) {
      await setImmediate();
      since = performance.now();
    }
  }
}

export function runAtOnce<T>(work: Iterator<void, T>): T {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}
