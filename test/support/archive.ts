// A worker on a database of its own against a simulator on a port of its own.
import { setTimeout as wait } from 'node:timers/promises';
import { daysIn } from '../../src/day.ts';
import { silentLog } from '../../src/log.ts';
import type { Day, Instant } from '../../src/model.ts';
import { createPlatform } from '../../src/platform/client.ts';
import type { Platform } from '../../src/platform/platform.ts';
import { createLimiter } from '../../src/platform/rate-limiter.ts';
import { createSimulator, type SimulatorOptions } from '../../src/simulator/simulator-server.ts';
import { openDb, type Db } from '../../src/store/db.ts';
import { keptRate } from '../../src/store/projects.ts';
import { createHolder } from '../../src/sync/holder.ts';
import { run } from '../../src/sync/run.ts';
import type { RunOptions, RunReport, Worker } from '../../src/sync/worker.ts';
import { leaveOut, leaveOutUntil } from './few-days.ts';
import { createTestDatabase } from './postgres.ts';

export { differences, type Difference } from './differences.ts';

/** Noon of a day whose window holds a month of 31 days and the beginning of a leap-less April. */
export const noon = Date.parse('2026-04-06T12:00:00Z');

/** Small days, so that several pages, one page and no page all occur. */
export const smallWorld = { ordersPerDay: 60, classesPerDay: 20, quietShare: 0.2 };

/** Records of ten days and none before; those days are read, the one before, and the window's first. */
export const tenDays = {
  world: { ...smallWorld, since: '2026-03-28' },
  days: ['2026-03-01', ...daysIn({ from: '2026-03-27', to: '2026-04-07' })],
};

/** The same of five days. */
export const fiveDays = {
  world: { ...smallWorld, since: '2026-04-02' },
  days: ['2026-03-01', ...daysIn({ from: '2026-04-01', to: '2026-04-07' })],
};

/** A machine's own clocks, in milliseconds. */
type MachineTime = {
  wallNow: () => number;
  monotonicNow: () => number;
  sleep?: (forMs: number) => Promise<void>;
};

export type Bench = Awaited<ReturnType<typeof createBench>>;

type BenchOptions = SimulatorOptions & {
  timeoutMs?: number;
  leaseMs?: number;
  time?: MachineTime;
  days?: readonly Day[];
};

/** Where a bench keeps its archive. */
export type Home = {
  connectionString: string;
  db: Db;
  /** Called when the bench closes, last of all. */
  leave: () => Promise<void>;
};

/** A database of its own, dropped afterwards. */
export async function newHome(): Promise<Home> {
  const database = await createTestDatabase();
  const { connectionString } = database;
  // Each backend of the server reads its catalogue and plans anew: of more than two, that is a fifth of a test's work.
  const db = await openDb({ connectionString, log: silentLog(), max: 2 });
  return {
    connectionString,
    db,
    leave: async () => {
      await db.close();
      await database.drop();
    },
  };
}

/**
 * The clock stands still unless the options say otherwise, so that exact means exact. It is this machine's clock as
 * well: what the platform's is moved by passes for both, unless `time` gives the machine clocks of its own. Where
 * `days` are given, those of the window are read and no others, which takes so much less time; and every day that
 * begins later.
 */
export async function createBench(
  options: BenchOptions = {},
  given: Partial<Worker> = {},
  openHome: () => Promise<Home> = newHome,
) {
  const simulator = await createSimulator({
    startAt: noon,
    speed: 0,
    world: smallWorld,
    ...options,
  });
  const { db, connectionString, leave } = await openHome();
  const log = silentLog();
  const [project] = simulator.projects;
  if (project === undefined) throw new Error('the simulator has no project');
  const machine = { aheadMs: 0 };
  let passed = simulator.clock.now();
  const time: MachineTime = options.time ?? {
    wallNow: () => simulator.clock.now() + machine.aheadMs,
    // Time that passed never comes back, also where the platform's clock is set back; and it never stands still.
    monotonicNow: () => {
      passed = Math.max(passed, simulator.clock.now());
      return passed + ((options.speed ?? 0) === 0 ? performance.now() : 0);
    },
  };
  const open = (): Platform =>
    createPlatform({
      baseUrl: simulator.url,
      apiKey: project.apiKey,
      apiSecret: project.apiSecret,
      timeoutMs: options.timeoutMs ?? 20_000,
      limiter: createLimiter(keptRate(db, 'p'), 100_000),
      meter: given.meter,
      log,
      // Faults are to be got over, not waited for.
      random: () => 0,
      sleep: (forMs, signal) => wait(Math.min(forMs, 10), undefined, signal ? { signal } : {}),
      ...time,
    });
  const worker: Worker = {
    projectId: 'p',
    scope: { classes: 'all' },
    source: { baseUrl: simulator.url, apiKey: project.apiKey },
    platform: open(),
    db,
    holder: createHolder(db, options.leaseMs ?? 60_000),
    concurrency: 4,
    settings: { deadlineMarginMs: 86_400_000, refreshMs: 6 * 3_600_000 },
    certificatesDir: null,
    log,
    ...given,
  };
  if (options.days !== undefined) await leaveOut(worker, simulator.clock.now(), options.days);
  const runOnce = (more: Partial<RunOptions> = {}): Promise<RunReport> =>
    run(worker, { signal: new AbortController().signal, ...more });
  return {
    simulator,
    db,
    connectionString,
    worker,
    /** How far this machine's wall clock is ahead of the platform's; 0 at first. */
    machine,
    /** The process begins anew: what it knew of the time is gone but for what is kept. */
    restart: async (): Promise<void> => {
      await worker.platform.close();
      worker.platform = open();
    },
    run: runOnce,
    /** Reads every past day from both ends, two hours apart: those with records are sealed. */
    seal: async (): Promise<RunReport> => {
      await runOnce();
      simulator.advance(2 * 3_600_000 + 60_000);
      return runOnce();
    },
    /** Moves every clock on, lets it be noticed, and runs. */
    runLater: async (ms: number): Promise<RunReport> => {
      simulator.advance(ms);
      const { requests } = await runOnce();
      // A clock that jumped is noticed by an answer's `Date`; where nothing was due by the old one, nobody asked.
      if (requests === 0) {
        const { signal } = new AbortController();
        const question = { resource: 'orders', limit: 1, sortBy: 'DATE_DESC' } as const;
        await worker.platform.page(question, signal).catch(() => undefined);
        await runOnce();
      }
      return runOnce();
    },
    /** Sets every clock to a moment far ahead; the days until then that have not come yet are left out, but for its own. */
    skipTo: async (at: Instant): Promise<void> => {
      simulator.setNow(at);
      await leaveOutUntil(worker, at);
    },
    close: async (): Promise<void> => {
      await worker.platform.close();
      await simulator.close();
      await leave();
    },
  };
}
