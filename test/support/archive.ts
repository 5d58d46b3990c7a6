// A worker on a database of its own against a simulator on a port of its own, and the one question tests ask most:
// is the archive exactly what the platform shows?
import { silentLog } from '../../src/log.ts';
import type { ListedResource } from '../../src/model.ts';
import { createPlatform } from '../../src/platform/client.ts';
import {
  createSimulator,
  type Simulator,
  type SimulatorOptions,
} from '../../src/simulator/server.ts';
import { openDb, type Db } from '../../src/store/db.ts';
import { createLimiter } from '../../src/sync/limiter.ts';
import { run } from '../../src/sync/run.ts';
import type { RunOptions, RunReport, Worker } from '../../src/sync/worker.ts';
import { createTestDatabase } from './postgres.ts';

/** Noon of a day whose window holds a month of 31 days and the beginning of a leap-less April. */
export const noon = Date.parse('2026-04-06T12:00:00Z');

/** Small days, so that several pages, one page and no page all occur. */
export const smallWorld = { ordersPerDay: 60, classesPerDay: 20, quietShare: 0.2 };

export type Bench = {
  simulator: Simulator;
  db: Db;
  connectionString: string;
  worker: Worker;
  run(options?: Partial<RunOptions>): Promise<RunReport>;
  /** Moves the platform's clock on, lets it be noticed, and runs. */
  runLater(ms: number): Promise<RunReport>;
  close(): Promise<void>;
};

/** The clock stands still unless the options say otherwise, so that exact means exact. */
export async function createBench(
  options: SimulatorOptions & { timeoutMs?: number } = {},
  given: Partial<Worker> = {},
): Promise<Bench> {
  const simulator = await createSimulator({
    startAt: noon,
    speed: 0,
    world: smallWorld,
    ...options,
  });
  const database = await createTestDatabase();
  const log = silentLog();
  const db = await openDb({ connectionString: database.connectionString, log });
  const [project] = simulator.projects;
  if (project === undefined) throw new Error('the simulator has no project');
  const platform = createPlatform({
    baseUrl: simulator.url,
    apiKey: project.apiKey,
    apiSecret: project.apiSecret,
    timeoutMs: options.timeoutMs ?? 20_000,
    limiter: createLimiter(db, 'p', 100_000),
    log,
    // Faults are to be got over, not waited for.
    random: () => 0,
  });
  const worker: Worker = {
    projectId: 'p',
    scope: { classes: 'all' },
    source: { baseUrl: simulator.url, apiKey: project.apiKey },
    platform,
    db,
    holder: 'test',
    leaseMs: 60_000,
    concurrency: 4,
    settings: { deadlineMarginMs: 86_400_000, refreshMs: 6 * 3_600_000 },
    log,
    ...given,
  };
  const runOnce = (more: Partial<RunOptions> = {}): Promise<RunReport> =>
    run(worker, { signal: new AbortController().signal, ...more });
  return {
    simulator,
    db,
    connectionString: database.connectionString,
    worker,
    run: runOnce,
    runLater: async (ms) => {
      simulator.advance(ms);
      await runOnce();
      return runOnce();
    },
    close: async () => {
      await platform.close();
      await simulator.close();
      await db.close();
      await database.drop();
    },
  };
}

export type Difference = { id: string; archived: string | null; shown: string | null };

/** Every record on which archive and platform differ: missing, extra, or not equal as a JSON value. */
export async function differences(bench: Pick<Bench, 'simulator' | 'db'>): Promise<Difference[]> {
  const found: Difference[] = [];
  for (const resource of ['orders', 'nft_classes'] as const) {
    found.push(...(await differencesOf(bench, resource)));
  }
  return found;
}

const idColumn = { orders: 'operation_id', nft_classes: 'id' };

async function differencesOf(
  { simulator, db }: Pick<Bench, 'simulator' | 'db'>,
  resource: ListedResource,
): Promise<Difference[]> {
  const { rows } = await db.query<{ id: string; raw: string }>(
    `select ${idColumn[resource]} as id, raw::text from archive.${resource}`,
  );
  const archived = new Map(rows.map((row) => [row.id, row.raw]));
  const found: Difference[] = [];
  for (const { id, text } of simulator.oracle.shown(resource)) {
    const raw = archived.get(id) ?? null;
    archived.delete(id);
    if (raw === null || sorted(raw) !== sorted(text))
      found.push({ id, archived: raw, shown: text });
  }
  for (const [id, raw] of archived) found.push({ id, archived: raw, shown: null });
  return found;
}

/** A JSON text with its keys sorted: jsonb does not keep their order. */
function sorted(text: string): string {
  return JSON.stringify(JSON.parse(text), (_key, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}
