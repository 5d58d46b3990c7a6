// How long a thing takes when it is done again and again, and what the machine was doing meanwhile. Knows nothing of
// archives.
import { readdirSync, readFileSync } from 'node:fs';
import { loadavg } from 'node:os';

export type Timed = Awaited<ReturnType<typeof time>>;

/**
 * Does `once` for each of these, one after the other; it gives how much it read: the records of a page, the rows of a
 * report, the total counted. The first tenth warms up and is not counted. `aimMs`: for the 99th of a hundred.
 */
export async function time<T>(
  { what, aimMs = null }: { what: string; aimMs?: number | null },
  each: readonly T[],
  once: (one: T) => Promise<number>,
  signal?: AbortSignal,
) {
  const loadBefore = load();
  const taken: number[] = [];
  let records = 0;
  for (const one of each) {
    signal?.throwIfAborted();
    const begun = performance.now();
    records += await once(one);
    taken.push(performance.now() - begun);
  }
  const counted = taken.slice(Math.floor(taken.length / 10)).toSorted((a, b) => a - b);
  const at = (share: number): number =>
    counted[Math.min(counted.length - 1, Math.floor(counted.length * share))] ?? Number.NaN;
  return {
    what,
    times: counted.length,
    records: records / each.length,
    medianMs: at(0.5),
    p99Ms: at(0.99),
    maxMs: at(1),
    aimMs,
    loadBefore,
  };
}

/** Of the last minute: what others are using of the machine. */
export const load = (): number => loadavg()[0] ?? 0;

/** Seconds of processor time used meanwhile; `own`: by this process and all below it but `apart`, each by itself. */
export async function used<Of>(work: () => Promise<Of>, apart: readonly number[] = []) {
  const seconds = (): number[] => [
    processorSeconds(process.pid, apart),
    ...apart.map((pid) => processorSeconds(pid)),
  ];
  const loadBefore = load();
  const before = seconds();
  const of = await work();
  const [own = Number.NaN, ...others] = seconds().map((now, i) => now - (before[i] ?? Number.NaN));
  return { of, own, apart: others, loadBefore };
}

/** The kernel counts processor time in hundredths of a second. */
const ticksPerSecond = 100;

/**
 * Processor seconds of a process and of all below it, those that ended and were waited for included: the embedded
 * Postgres is below whoever started it. Linux; NaN elsewhere. A difference of two readings is what was used in between.
 * `without`: these and all below them are left out while they run.
 */
export function processorSeconds(pid: number, without: readonly number[] = []): number {
  const stats = statsOf();
  const sum = (of: number): number => {
    const stat = stats.get(of);
    if (stat === undefined || without.includes(of)) return 0;
    const below = [...stats].filter(([, { parent }]) => parent === of);
    return below.reduce((all, [child]) => all + sum(child), stat.ticks);
  };
  return stats.has(pid) ? sum(pid) / ticksPerSecond : Number.NaN;
}

function statsOf(): Map<number, { parent: number; ticks: number }> {
  const stats = new Map<number, { parent: number; ticks: number }>();
  for (const pid of orElse([], () => readdirSync('/proc')).map(Number)) {
    if (!Number.isInteger(pid)) continue;
    const stat = orElse('', () => readFileSync(`/proc/${pid}/stat`, 'utf8'));
    // The name before stands in brackets and may hold anything. Then: state, parent, …, utime, stime, cutime, cstime.
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const ticks = fields.slice(11, 15).reduce((all, one) => all + one, 0);
    if (stat !== '') stats.set(pid, { parent: fields[1] ?? 0, ticks });
  }
  return stats;
}

/** A process may have ended meanwhile. */
function orElse<Of>(otherwise: Of, read: () => Of): Of {
  try {
    return read();
  } catch {
    return otherwise;
  }
}
