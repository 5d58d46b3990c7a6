// What a seed draws: how large the platform is, when it begins and how fast its clock runs, in which one way it reads
// what its document leaves open, and which of its answers go wrong. Pure: the same seed draws the same numbers in the
// same order, and each part of a world has a stream of its own, so that one that draws more often leaves others alone.
import type { Instant } from '../../src/model.ts';
import type { Dialect } from '../../src/simulator/dialect.ts';
import { faultSentences, type Faults } from '../../src/simulator/faults.ts';
import { mix, textSeed, unit } from '../../src/simulator/world.ts';

export type Chance = {
  /** In [0, 1). */
  unit(): number;
  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number;
  /** True this often, 0–1. */
  isHit(share: number): boolean;
  pick<T>(from: readonly [T, ...T[]]): T;
  /** One of several, each as likely as its weight says. */
  weighted<T extends { weight: number }>(from: readonly [T, ...T[]]): T;
  /** A stream of its own, by name or number. */
  stream(name: string | number): Chance;
};

export function createChance(seed: number): Chance {
  let drawn = 0;
  const next = (): number => unit(mix(seed, drawn++));
  return {
    unit: next,
    between: (low, high) => low + Math.floor(next() * (high - low + 1)),
    isHit: (share) => next() < share,
    pick: (from) => from[Math.floor(next() * from.length)] ?? from[0],
    weighted: (from) => {
      let left = next() * from.reduce((sum, one) => sum + one.weight, 0);
      return from.find((one) => (left -= one.weight) < 0) ?? from[0];
    },
    stream: (name) => createChance(mix(seed, textSeed(String(name)))),
  };
}

export type Drawn = ReturnType<typeof drawWorld>;

const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

export function drawWorld(chance: Chance) {
  const oddity = drawOddity(chance.stream('oddity'));
  return {
    startAt: drawStart(chance.stream('start')),
    /** How much faster than real time the platform's clock runs. */
    speed: chance.pick([0, 1, 1, 20, 60]),
    world: {
      ordersPerDay: chance.between(3, 30),
      classesPerDay: chance.between(2, 12),
      quietShare: 0.2,
      pendingShare: chance.pick([0.02, 0.2]),
      settleMs: chance.pick([2 * minuteMs, 3 * hourMs]),
    },
    /** How it is odd from its first day to its last, in one way; empty: it is as documented, and errs now and then. */
    oddity,
    // Of few records pages are few as well, unless they are short.
    dialect: {
      maxOrders: chance.pick([50, 20, 10, 5]),
      maxClasses: chance.pick([200, 50, 10, 5]),
      ...oddity,
    },
    latencyMs: chance.pick([0, 2, 6]),
    /** Outlast processes at a time. */
    replicas: chance.pick([1, 2, 2, 3, 3]),
  };
}

/** Any moment, and every third time the last hours of a month, of a leap year's February as well. */
function drawStart(chance: Chance): Instant {
  const year = chance.pick([2026, 2027, 2028]);
  const month = chance.between(0, 11);
  const isLastDay = chance.isHit(1 / 3);
  const day = isLastDay ? 0 : chance.between(2, 28);
  const hour = isLastDay ? chance.between(14, 23) : chance.between(0, 23);
  return Date.UTC(year, isLastDay ? month + 1 : month, day, hour, chance.between(0, 59));
}

/** One row of the table of docs/guarantee.md, for two at once need not be provable. */
function drawOddity(chance: Chance): Partial<Dialect> {
  if (chance.isHit(0.25)) return {};
  return chance.pick<Partial<Dialect>>([
    { lagMs: chance.between(1, 3) * hourMs },
    { statusUnasked: chance.pick([1, 2, 3]) },
    { statusFilter: chance.pick(['ignored', 'empty', 'refused']) },
    { statusFilter: 'words' },
    { totals: chance.pick(['absent', 'zero', 'first', 'page']) },
    { totalsCap: chance.between(10, 25) },
    { monthEnd: chance.pick(['utc+8', 'utc-8']) },
    { monthEnd: 'batches' },
    { dayEnd: chance.pick(['exclusive', 'instant']) },
    { lastKey: chance.pick(['null', 'absent', 'repeated', 'onward']) },
    {
      keyExpired: chance.pick(['refuse', 'ignore', 'empty']),
      keyLifeRequests: chance.between(2, 40),
    },
    // No page that is asked for is shorter than the standard one, of ten records.
    {
      overLimit: 'refuse',
      maxOrders: chance.pick([50, 20, 10]),
      maxClasses: chance.pick([50, 10]),
    },
    { emptyList: chance.pick(['null', 'absent']) },
    { ties: 'insertion', timeForm: chance.pick(['fraction', 'space', 'go']) },
  ]);
}

/** The platform's clock may be set back by so much. */
export const setBackMs = 3 * minuteMs;

export const noFaults = Object.fromEntries(
  Object.keys(faultSentences).map((name) => [name, null]),
) as Faults;

/** One fault, rare enough that pages still come through. A platform that is odd answers as it does, or not at all. */
export function drawFault(chance: Chance, isOdd: boolean): Partial<Faults> {
  const upTo = (most: number): { share: number } => ({ share: most * chance.unit() });
  const rows = chance.between(1, 3);
  const noAnswer: Partial<Faults>[] = [
    { tooMany: { ...upTo(0.006), retryAfter: 1 } },
    { serverError: { ...upTo(0.04), status: chance.pick([500, 502, 503]) } },
    { htmlPage: { ...upTo(0.04), status: chance.pick([200, 502]) } },
    { textNotFound: upTo(0.02) },
    { reset: upTo(0.04) },
    { truncated: upTo(0.04) },
    { hang: upTo(0.01) },
    { slow: { ...upTo(0.04), ms: chance.between(20, 400) } },
  ];
  const wrongAnswer: Partial<Faults>[] = [
    // A machine behind the balancer whose clock is wrong.
    { wrongDate: { ...upTo(0.05), ms: chance.pick([2 * hourMs, -36 * hourMs, 75 * dayMs]) } },
    { duplicated: { ...upTo(0.06), rows } },
    { dropped: { ...upTo(0.04), rows } },
    { lyingTotal: { ...upTo(0.03), by: chance.pick([-1, 1, 2]) } },
    { emptied: upTo(0.04) },
    { hollow: upTo(0.06) },
  ];
  const [first, ...others] = isOdd ? noAnswer : [...noAnswer, ...wrongAnswer];
  return chance.pick([first ?? {}, ...others]);
}
