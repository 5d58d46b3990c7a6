// What a seed draws: how large the platform is, when it begins and how fast its clock runs, how it reads what its
// document leaves open, and which of its answers go wrong. Pure.
import type { Dialect } from '../../src/simulator/dialect.ts';
import { faultSentences, type Faults } from '../../src/simulator/faults.ts';
import type { World } from '../../src/simulator/world.ts';
import type { Instant } from '../../src/model.ts';
import type { Chance } from './chance.ts';
import { drawHardship, type Hardship } from './hardships.ts';

export type Drawn = {
  startAt: Instant;
  /** How much faster than real time the platform's clock runs. */
  speed: number;
  world: Partial<World>;
  dialect: Partial<Dialect>;
  latencyMs: number;
  /** Outlast starts and stops the server itself, by the settings that every user begins with; no wire can be cut. */
  isEmbedded: boolean;
  /** A pooler in transaction mode stands before the database, and lends all processes the same few connections. */
  isPooled: boolean;
  /** Outlast processes at a time. */
  replicas: number;
  /** The `Date` of an answer may be wrong by so much. */
  lieMs: number;
  /** A machine behind the platform's balancer has a clock that is wrong by so much; 0: there is none. */
  balancerMs: number;
  hardship: Hardship | null;
};

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

export function drawWorld(chance: Chance): Drawn {
  const startAt = drawStart(chance.stream('start'));
  const speed = chance.pick([0, 1, 1, 20, 60]);
  const hardship = drawHardship(chance.stream('hardship'));
  const world = {
    ordersPerDay: chance.between(3, 30),
    classesPerDay: chance.between(2, 12),
    quietShare: 0.2,
    pendingShare: chance.pick([0.02, 0.2]),
    settleMs: chance.pick([2 * minuteMs, 3 * hourMs]),
  };
  const latencyMs = chance.pick([0, 2, 6]);
  const isEmbedded = chance.isHit(0.15);
  const sizes = chance.stream('sizes');
  return {
    startAt,
    speed,
    world,
    dialect: {
      // Of few records pages are few as well, unless they are short.
      maxOrders: sizes.pick([50, 20, 10, 5]),
      maxClasses: sizes.pick([200, 50, 10, 5]),
      ...hardship?.dialect,
    },
    latencyMs,
    isEmbedded,
    isPooled: !isEmbedded && chance.stream('pooler').isHit(0.25),
    replicas: chance.pick([1, 2, 2, 3, 3]),
    lieMs: chance.pick([0, 0, 3 * minuteMs, hourMs]),
    balancerMs:
      hardship === null
        ? chance.stream('balancer').pick([0, 0, 2 * hourMs, -hourMs * 36, 75 * 24 * hourMs])
        : 0,
    hardship,
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

/** What makes this world a hard one, in words; empty where nothing does. */
export function hardOf({ hardship, balancerMs, isPooled }: Drawn): string[] {
  return [
    ...(hardship === null ? [] : [hardship.name.replace(/ at \d+$/, '')]),
    ...(balancerMs === 0 ? [] : ['another clock behind the balancer']),
    ...(isPooled ? ['a pooler before the database'] : []),
  ];
}

/** An answer may be as it was so long ago. */
export const staleMs = 60_000;

/** What a record has more: held with it, or too long for that. */
export const giantBytes = [30_000, 300_000, 600_000, 2_000_000] as const;

/** The platform's clock may be set back by so much. */
export const setBackMs = 3 * minuteMs;

/** One of the simulator's faults, rare enough that pages still come through. */
export function drawFault(chance: Chance, { hardship, lieMs, balancerMs }: Drawn): Partial<Faults> {
  const share = (most: number): number => most * chance.unit();
  const lie = Math.round(lieMs * (2 * chance.unit() - 1));
  const noAnswer: Partial<Faults> = {
    tooMany: { share: share(0.006), retryAfter: 1 },
    serverError: { share: share(0.04), status: chance.pick([500, 502, 503]) },
    htmlPage: { share: share(0.04), status: chance.pick([200, 502]) },
    textNotFound: { share: share(0.02) },
    // Final for the process that meets it.
    forbidden: { share: share(0.002) },
    reset: { share: share(0.04) },
    truncated: { share: share(0.04) },
    hang: { share: share(0.01) },
    slow: { share: share(0.04), ms: chance.between(20, 400) },
  };
  const wrongAnswer: Partial<Faults> = {
    wrongDate: [
      ...(lie === 0 ? [] : [{ share: share(0.02), ms: lie }]),
      ...(balancerMs === 0 ? [] : [{ share: share(0.05), ms: balancerMs }]),
    ],
    duplicated: { share: share(0.06), rows: chance.between(1, 3) },
    dropped: { share: share(0.04), rows: chance.between(1, 3) },
    lyingTotal: { share: share(0.03), by: chance.pick([-1, 1, 2, 3]) },
    emptied: { share: share(0.04) },
    hollow: { share: share(0.06) },
    stale: { share: share(0.03), ms: chance.between(1, staleMs) },
    // Each reading meets other records: some are held as they came, some are too long for that and set aside.
    giant: { share: share(0.01), bytes: chance.pick(giantBytes) },
  };
  // A platform that is odd by itself answers as it does, or not at all.
  const faults = hardship === null ? { ...noAnswer, ...wrongAnswer } : noAnswer;
  const [name, fault] = chance.pick(Object.entries(faults) as [[string, unknown]]);
  return { ...noFaults, [name]: fault };
}

export const noFaults = Object.fromEntries(
  Object.keys(faultSentences).map((name) => [name, null]),
) as Faults;
