// One world from its first act to its last: a platform and an empty database drawn by a seed, processes started as
// others are killed, harm of every kind, looks at the archive in between, and the ending. The same seed draws the same
// acts; what meets what is up to the processes.
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { addDays, dayOf, windowAt } from '../../src/day.ts';
import type { Instant } from '../../src/model.ts';
import {
  createSimulator,
  demoProject,
  type Simulator,
} from '../../src/simulator/simulator-server.ts';
import { withClient } from '../support/client.ts';
import { withMachine } from '../support/machine-clock.ts';
import { actions, leaseSeconds } from './actions.ts';
import { createKeepsake, findAll } from './checks.ts';
import type { Cluster } from './cluster.ts';
import { createMemory, type Memory } from './memory.ts';
import { createReplicas } from './replicas.ts';
import { bringToRest, endOf } from './rest.ts';
import { calm, inCalm, type Stage } from './stage.ts';
import { createChance, drawWorld, setBackMs, type Chance } from './world.ts';

export type Played = Awaited<ReturnType<typeof play>>;

type PlayOptions = {
  seed: number;
  /** SIGKILLs to Outlast processes; then the world comes to its end. */
  kills: number;
  cluster: Cluster;
  mainFile: string;
  signal: AbortSignal;
  /** Told of everything that is done, a line each. */
  note: (text: string) => void;
};

/** Acts between two looks at the archive. */
const actsBetweenLooks = 4;
/** A world in which hardly anybody lives long enough to be killed ends all the same. */
const actsAtMost = 40;
const hangsAfterMs = 60_000;
/** What a process takes to start and end on a machine that does nothing else. */
const usualStartMs = 300;
const secret = 'torture-secret-of-no-value';

export async function play(options: PlayOptions) {
  const { seed, cluster, note, signal } = options;
  const chance = createChance(seed);
  const drawn = drawWorld(chance.stream('world'));
  note(`world ${seed}: ${JSON.stringify(drawn)}`);
  const findings: string[] = [];
  const report = (finding: string): void => {
    findings.push(finding);
    note(`FINDING: ${finding}`);
  };
  const memory: Memory = createMemory(() => simulator);
  const platform = await createSimulator({
    seed,
    startAt: drawn.startAt,
    speed: drawn.speed,
    world: { ...drawn.world, since: addDays(windowAt(drawn.startAt).from, -10) },
    dialect: drawn.dialect,
    latencyMs: drawn.latencyMs,
    projects: [{ ...demoProject, apiSecret: secret }],
    onPage: memory.onPage,
  });
  // The machine lives by the platform's clock, its jumps included: time passes for both.
  const { simulator, machine } = withMachine(platform, drawn.speed);
  const database = `world_${seed}`;
  await cluster.isUp();
  const drop = `drop database if exists ${database} with (force)`;
  await withClient(cluster.address('postgres'), async (db) => {
    await db.query(drop);
    await db.query(`create database ${database}`);
  });
  const address = cluster.address(database);
  const replicas = createReplicas({
    mainFile: options.mainFile,
    address,
    env: { ...settingsOf(simulator), ...machine.env },
    secrets: [secret, new URL(address).password],
    folder: await mkdtemp(join(cluster.folder, `world-${seed}-`)),
    report,
  });
  const pending = new Set<Promise<void>>();
  const stage: Stage = {
    drawn,
    simulator,
    cluster,
    replicas,
    memory,
    address,
    pending,
    report,
    note,
  };
  const keepsake = createKeepsake();
  // Moments are those of a clock that the platform's answers set, of whole seconds and of its own speed.
  const slackMs = setBackMs + (drawn.oddity.lagMs ?? 0) + 2_000 * Math.max(1, drawn.speed);
  const hasEmptyHours = Object.keys(drawn.oddity).length === 0;
  const played = { acts: 0, looks: 0, records: 0 };
  const isOver = (): boolean => findings.length > 0 || signal.aborted;
  const look = async (): Promise<void> => {
    played.looks++;
    const given = { memory, keepsake, slackMs, hasEmptyHours };
    const { found, held } = await inCalm(stage, (db) => findAll(db, given));
    for (const finding of found) report(finding);
    played.records = held;
  };
  try {
    // On a busy machine a process takes its time to get to work: harm that comes before then teaches little.
    await endOf(stage, await replicas.start('migrate'));
    const began = performance.now();
    await endOf(stage, await replicas.start('migrate'));
    const pace = Math.min(4, Math.max(1, (performance.now() - began) / usualStartMs));
    // Ends: actsAtMost for each kill that is wanted.
    for (let n = 0; n < options.kills * actsAtMost && !isOver(); n++) {
      if (replicas.counts.killed >= options.kills) break;
      const own = chance.stream(n);
      await fill(stage, own.stream('start'));
      await sleep(pace * own.between(20, own.pick([150, 600, 1200])));
      const action = own.weighted(actions);
      played.acts++;
      note(`${action.name}: ${await action.act(stage, own.stream('act'))}`);
      if (n % actsBetweenLooks === actsBetweenLooks - 1) await look();
    }
    if (!isOver()) {
      await bringToRest(stage);
      await look();
    }
  } catch (error) {
    const said = error instanceof Error ? error.stack : String(error);
    report(`the torture itself failed: ${said}`);
  } finally {
    await replicas.close();
    if (findings.length > 0) {
      await noteLedger(stage).catch((error: unknown) => note(String(error)));
    }
    await calm(stage).catch((error: unknown) =>
      report(`Postgres does not come back: ${String(error)}`),
    );
    await simulator.close();
  }
  // The disk is small.
  if (findings.length === 0) await withClient(cluster.address('postgres'), (db) => db.query(drop));
  return {
    ...played,
    /** How the platform was odd; empty where it was as documented. */
    oddity: Object.keys(drawn.oddity).join(' '),
    kills: replicas.counts.killed,
    /** Outlast processes. */
    started: replicas.counts.started,
    frozen: replicas.counts.frozen,
    requests: simulator.requests.total,
    endings: replicas.endings,
    findings,
  };
}

const settingsOf = ({ url, projects: [project] }: Simulator): Record<string, string> => ({
  OUTLAST_BASE_URL: url,
  OUTLAST_API_KEY: project?.apiKey ?? '',
  OUTLAST_API_SECRET: project?.apiSecret ?? '',
  OUTLAST_PROJECT: 'p',
  OUTLAST_PORT: '0',
  OUTLAST_MAX_RPS: '100000',
  OUTLAST_TIMEOUT_MS: '700',
  OUTLAST_LEASE_SECONDS: String(leaseSeconds),
  OUTLAST_SCHEDULE: '* * * * * *',
  OUTLAST_LOG_LEVEL: 'warn',
});

/** Starts processes until there are as many as there should be. */
async function fill({ replicas, drawn, simulator, report }: Stage, chance: Chance): Promise<void> {
  for (const { number, args, isFrozen, startedAt } of replicas.alive()) {
    if (args[0] !== 'start' && !isFrozen && performance.now() - startedAt > hangsAfterMs) {
      report(`replica ${number} (${args.join(' ')}) does not end`);
    }
  }
  // Those that are frozen are none: others must be there to take what they hold.
  while (replicas.alive().filter((one) => !one.isFrozen).length < drawn.replicas) {
    await replicas.start(...drawArguments(simulator.clock.now(), chance));
  }
}

/** Most sync what is due, some all of given days. */
function drawArguments(now: Instant, chance: Chance): string[] {
  const kind = chance.unit();
  if (kind < 0.5) return ['sync', '--json'];
  if (kind < 0.75) return ['start'];
  const today = dayOf(now);
  const from = addDays(today, -chance.between(0, 25));
  const to = addDays(from, chance.between(0, 15));
  return ['sync', '--from', from, '--to', to < today ? to : today];
}

/** What a finding is read with: the facts and the ledger as they are in the end, a line each. */
const noteLedger = (stage: Stage): Promise<void> =>
  inCalm(stage, async (db) => {
    const { rows } = await db.query<{ line: string }>(
      `select concat('fact: ', fact, ' ', value) as line from sync.facts
       union all
       select concat('slice: ', resource, ' ', day, ' ',
                     (to_jsonb(s) - array['project_id', 'resource', 'owner', 'day'])::text)
         from sync.slices s
       order by line`,
    );
    for (const { line } of rows) stage.note(line);
  });
