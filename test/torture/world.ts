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
  const oddities = drawOddities(chance.stream('oddities'));
  const hardship = drawHardship(chance.stream('hardship'), oddities.statusFilter);
  const world = {
    ordersPerDay: chance.between(3, 30),
    classesPerDay: chance.between(2, 12),
    quietShare: 0.2,
    pendingShare: chance.pick([0.02, 0.2]),
    settleMs: chance.pick([2 * minuteMs, 3 * hourMs]),
  };
  const latencyMs = chance.pick([0, 2, 6]);
  const isEmbedded = chance.isHit(0.15);
  return {
    startAt,
    speed,
    world,
    dialect: {
      ...drawDialect(chance.stream('dialect'), speed),
      ...oddities,
      ...hardship?.dialect,
    },
    latencyMs,
    isEmbedded,
    isPooled: !isEmbedded && chance.stream('pooler').isHit(0.25),
    replicas: chance.pick([1, 2, 2, 3, 3]),
    lieMs: chance.pick([0, 0, 3 * minuteMs, hourMs]),
    balancerMs: chance.stream('balancer').pick([0, 0, 2 * hourMs, -hourMs * 36, 75 * 24 * hourMs]),
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

function drawDialect(chance: Chance, speed: number): Partial<Dialect> {
  const often = <T>(standard: T, others: readonly [T, ...T[]]): T =>
    chance.isHit(0.6) ? standard : chance.pick(others);
  return {
    dates: chance.isHit(0.88) ? 'utc' : chance.pick(['utc+8', 'utc-8', 'ignored']),
    dayEnd: often<Dialect['dayEnd']>('inclusive', ['exclusive', 'instant']),
    lastKey: often<Dialect['lastKey']>('empty', ['null', 'absent', 'repeated', 'onward']),
    overLimit: often<Dialect['overLimit']>('clamp', ['refuse']),
    maxOrders: chance.pick([50, 20, 10]),
    maxClasses: chance.pick([200, 50, 10]),
    shortPages: often(0, [5, 9]),
    emptyList: often<Dialect['emptyList']>('array', ['null', 'absent']),
    // Without totals nothing is proved by counting: now and then only.
    totals: chance.isHit(0.85) ? 'present' : chance.pick(['absent', 'null', 'zero']),
    classTotals: chance.isHit(0.85) ? 'present' : chance.pick(['absent', 'null', 'zero']),
    timeForm: often<Dialect['timeForm']>('rfc3339', ['fraction', 'space', 'go', 'mixed']),
    classTimeForm: often<Dialect['classTimeForm']>('go', ['rfc3339', 'space', 'mixed']),
    statusForm: often<Dialect['statusForm']>('number', ['text', 'word']),
    batchForm: often<Dialect['batchForm']>('absent', ['empty', 'null']),
    ties: often<Dialect['ties']>('id', ['insertion']),
    monthEnd: often<Dialect['monthEnd']>('utc', ['utc+8', 'utc-8']),
    classesWindow: chance.isHit(0.85),
    unknownFields: chance.isHit(0.3),
    ...drawKeyLife(chance, speed),
  };
}

/** A filter that filters nothing or knows too little. */
function drawOddities(chance: Chance): Pick<Dialect, 'statusFilter'> {
  return {
    statusFilter: chance.isHit(0.75) ? 'honoured' : chance.pick(['ignored', 'empty', 'stale']),
  };
}

/** What makes this world a hard one, in words; empty where nothing does. */
export function hardOf({ hardship, dialect, balancerMs, isPooled }: Drawn): string[] {
  const { dates, statusFilter } = dialect;
  return [
    ...(hardship === null ? [] : [hardship.name.replace(/ at \d+$/, '')]),
    ...(dates === 'utc' || dates === undefined ? [] : [`dates: ${dates}`]),
    ...(statusFilter === 'honoured' || statusFilter === undefined
      ? []
      : [`filter by status: ${statusFilter}`]),
    ...(balancerMs === 0 ? [] : ['another clock behind the balancer']),
    ...(isPooled ? ['a pooler before the database'] : []),
  ];
}

/** A key that ages lives for a few requests or moments of real time. */
export function drawKeyLife(
  chance: Chance,
  speed: number,
): Pick<Dialect, 'keyLifeMs' | 'keyLifeRequests' | 'keyExpired'> {
  const keyExpired = chance.pick(['refuse', 'ignore', 'empty'] as const);
  const keyLifeRequests = chance.isHit(0.5) ? 0 : chance.between(2, 40);
  const keyLifeMs = chance.isHit(0.7) ? 0 : chance.between(100, 3000) * Math.max(1, speed);
  return { keyLifeMs, keyLifeRequests, keyExpired };
}

/** An answer may be as it was so long ago. */
export const staleMs = 60_000;

/** What a record has more: held with it, or too long for that. */
export const giantBytes = [30_000, 300_000, 600_000, 2_000_000] as const;

/** The platform's clock may be set back by so much. */
export const setBackMs = 3 * minuteMs;

/** All the simulator's faults at once, each rare enough that pages still come through. */
export function drawFaults(chance: Chance, drawn: Drawn): Partial<Faults> {
  const share = (most: number): number => most * chance.unit();
  const lieMs = Math.round(drawn.lieMs * (2 * chance.unit() - 1));
  const hasTotals =
    drawn.dialect.totals === 'present' &&
    drawn.dialect.classTotals === 'present' &&
    drawn.hardship === null;
  return {
    tooMany: { share: share(0.006), retryAfter: 1 },
    serverError: { share: share(0.04), status: chance.pick([500, 502, 503]) },
    htmlError: { share: share(0.02) },
    htmlPage: { share: share(0.02) },
    textNotFound: { share: share(0.02) },
    // Final for the process that meets it.
    forbidden: { share: share(0.002) },
    reset: { share: share(0.04) },
    truncated: { share: share(0.04) },
    hang: { share: share(0.01) },
    slow: { share: share(0.04), ms: chance.between(20, 400) },
    wrongDate: [
      ...(lieMs === 0 ? [] : [{ share: share(0.02), ms: lieMs }]),
      ...(drawn.balancerMs === 0 ? [] : [{ share: share(0.05), ms: drawn.balancerMs }]),
    ],
    duplicated: { share: share(0.06), rows: chance.between(1, 3) },
    reordered: { share: share(0.04) },
    // A record that both the list and the totals leave out cannot be noticed (P6): no list is emptied, totals are never
    // made smaller, and where there are none, nothing is left out.
    dropped: hasTotals ? { share: share(0.04), rows: chance.between(1, 3) } : null,
    lyingTotal: { share: share(0.03), by: chance.between(1, 3) },
    stale: { share: share(0.03), ms: chance.between(1, staleMs) },
    hollow: { share: share(0.06) },
    poisonError: { share: share(0.02) },
    // Each reading meets other records: some are held as they came, some are too long for that and set aside.
    giant: { share: share(0.01), bytes: chance.pick(giantBytes) },
    // As it judges X-Timestamp as well, its answer is a 403.
    otherClock: drawn.balancerMs === 0 ? null : { share: share(0.05), ms: drawn.balancerMs },
  };
}

export const noFaults = Object.fromEntries(
  Object.keys(faultSentences).map((name) => [name, null]),
) as Faults;
