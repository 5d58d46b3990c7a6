// One world from its first act to its last: a platform and an empty database drawn by a seed, processes started as
// others are killed, harm of every kind, looks at the archive in between, and the ending. The same seed draws the same
// acts; what meets what is up to the processes.
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { addDays, dayOf, windowAt } from '../../src/day.ts';
import { workDatabase } from '../../src/store/embedded/password.ts';
import { createSimulator, demoProject, type Simulator } from '../../src/simulator/server.ts';
import { withMachine } from '../support/machine-clock.ts';
import { createPooler } from '../support/pooler.ts';
import { actions } from './actions.ts';
import { createChance, type Chance } from './chance.ts';
import { findAll } from './checks.ts';
import type { Cluster } from './cluster.ts';
import { bringToRest } from './ending.ts';
import { countHeld, createKeepsake, withClient, withEvidence, type Keepsake } from './evidence.ts';
import { createFollower, type Follower } from './follower.ts';
import { installAudit } from './leases.ts';
import { createMemory, type Memory } from './memory.ts';
import { leaseSeconds } from './on-processes.ts';
import { createReplicas } from './replicas.ts';
import { calm, insist, type Stage } from './stage.ts';
import { tamper } from './tamper.ts';
import { drawWorld, hardOf, setBackMs, staleMs } from './world.ts';

export type Played = {
  kills: number;
  /** Of these, at a chosen statement. */
  killsAtStatements: number;
  /** Outlast processes started. */
  started: number;
  frozen: number;
  acts: number;
  looks: number;
  requests: number;
  records: number;
  /** What made this world a hard one; empty where nothing did. */
  hard: string[];
  /** What was altered in the end by somebody with all rights; null where nothing was. */
  tampered: string | null;
  /** How processes ended, and how often. */
  endings: ReadonlyMap<string, number>;
  findings: string[];
};

export type PlayOptions = {
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
const actsBetweenLooks = 8;
/** A world in which hardly anybody lives long enough to be killed ends all the same. */
const actsAtMost = 40;
const hangsAfterMs = 60_000;
/** What a process takes to start and end on a machine that does nothing else. */
const usualStartMs = 300;
/** Fewer than three processes would like to have. */
const pooledConnections = 5;
const secret = 'torture-secret-of-no-value';

export async function play(options: PlayOptions): Promise<Played> {
  const { seed, cluster, note } = options;
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
  const database = drawn.isEmbedded ? workDatabase : `world_${seed}`;
  await dropDatabase(cluster, database);
  const address = await makeDatabase(cluster, database);
  const password = new URL(address).password;
  const pooler = drawn.isPooled
    ? await createPooler(() => pooledAddress(cluster, database), pooledConnections)
    : null;
  const replicas = createReplicas({
    mainFile: options.mainFile,
    target: () => ({ host: '127.0.0.1', port: pooler?.port ?? cluster.port() }),
    address: drawn.isEmbedded ? null : address,
    env: {
      ...settingsOf(simulator),
      ...machine.env,
      ...(drawn.isEmbedded ? { OUTLAST_DATA_DIR: cluster.dataDir } : {}),
    },
    secrets: [secret, password],
    folder: await mkdtemp(join(cluster.folder, `world-${seed}-`)),
    onFinding: report,
    note,
  });
  const common = { drawn, simulator, cluster, replicas, memory, address, report, note };
  const stage: Stage = { ...common, pending: new Set() };
  const keepsake = createKeepsake();
  const played = { acts: 0, looks: 0, records: 0, tampered: null as string | null };
  let follower: Follower | null = null;
  const look = async (): Promise<void> => {
    played.looks++;
    played.records = await insist(stage, () => lookAt(stage, keepsake));
  };
  try {
    const startMs = await migrateUnderFire(stage, chance.stream('migrate'));
    follower = createFollower(stage, chance.stream('follower'));
    // On a busy machine a process takes its time to get to work: harm that comes before then teaches little.
    const pace = Math.min(4, Math.max(1, startMs / usualStartMs));
    // Ends: actsAtMost for each kill that is wanted.
    for (let n = 0; n < options.kills * actsAtMost && !options.signal.aborted; n++) {
      if (findings.length > 0 || replicas.counts.killed >= options.kills) break;
      const own = chance.stream(n);
      await fill(stage, own.stream('start'));
      await sleep(pace * own.between(20, own.pick([150, 600, 1200])));
      const action = own.weighted(actions);
      played.acts++;
      note(`${action.name}: ${await action.act(stage, own.stream('act'))}`);
      if (n % actsBetweenLooks === actsBetweenLooks - 1) await look();
    }
    if (findings.length === 0 && !options.signal.aborted) {
      await bringToRest(stage, chance.stream('end'));
      await look();
      const to = follower;
      await insist(stage, () => to.check());
    }
    if (findings.length === 0 && !options.signal.aborted) {
      played.tampered = await tamper(stage, chance.stream('tamper'));
    }
  } catch (error) {
    report(
      `the torture itself failed: ${error instanceof Error ? (error.stack ?? '') : String(error)}`,
    );
  } finally {
    await follower?.close();
    await replicas.close();
    await pooler?.close();
    if (findings.length > 0) {
      await insist(stage, () => noteLedger(stage)).catch((error: unknown) => note(String(error)));
    }
    await calm(stage).catch((error: unknown) =>
      report(`Postgres does not come back: ${String(error)}`),
    );
    await simulator.close();
  }
  // The disk is small.
  if (findings.length === 0) await dropDatabase(cluster, database);
  return {
    ...played,
    hard: hardOf(drawn),
    kills: replicas.counts.killed,
    killsAtStatements: replicas.counts.killedAtStatement,
    started: replicas.counts.started,
    frozen: replicas.counts.frozen,
    requests: simulator.requests.total,
    endings: replicas.endings,
    findings,
  };
}

/** The acts on sessions know Outlast's by their name. */
async function pooledAddress(cluster: Cluster, database: string): Promise<string> {
  const address = new URL(await cluster.address(database));
  address.searchParams.set('application_name', 'outlast-pooler');
  return address.href;
}

async function dropDatabase(cluster: Cluster, name: string): Promise<void> {
  await cluster.bringUp();
  await withClient(await cluster.address('postgres'), (db) =>
    db.query(`drop database if exists ${name} with (force)`),
  );
}

/** Returns its address past the wires. */
async function makeDatabase(cluster: Cluster, name: string): Promise<string> {
  await withClient(await cluster.address('postgres'), (db) => db.query(`create database ${name}`));
  return cluster.address(name);
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

/**
 * The schema is made while those who make it are killed; then it is whole, and the audit is put beside it. Returns how
 * long a process takes that finds it made.
 */
async function migrateUnderFire(stage: Stage, chance: Chance): Promise<number> {
  for (let i = chance.between(0, 2); i > 0; i--) {
    const replica = await stage.replicas.start(['migrate'], chance);
    await sleep(chance.between(200, 700));
    stage.replicas.kill(replica);
    await replica.ended;
  }
  const whole = await stage.replicas.start(['migrate'], chance);
  const { code, said } = await whole.ended;
  if (code !== 0) stage.report(`the schema cannot be made: ${said}`);
  await insist(stage, () => withClient(stage.address, installAudit));
  const began = performance.now();
  await (
    await stage.replicas.start(['migrate'], chance)
  ).ended;
  return performance.now() - began;
}

/** Starts processes until there are as many as there should be: most sync what is due, some all of given days. */
async function fill(stage: Stage, chance: Chance): Promise<void> {
  const { replicas, drawn, report } = stage;
  for (const { number, args, isFrozen, startedAt } of replicas.alive()) {
    if (args[0] !== 'start' && !isFrozen && performance.now() - startedAt > hangsAfterMs) {
      report(`replica ${number} (${args.join(' ')}) does not end`);
    }
  }
  // Those that are frozen are none: others must be there to take what they hold.
  while (replicas.alive().filter((one) => !one.isFrozen).length < drawn.replicas) {
    await replicas.start(drawArguments(stage.simulator, chance), chance.stream('cut'));
  }
}

function drawArguments(simulator: Simulator, chance: Chance): string[] {
  const kind = chance.unit();
  if (kind < 0.45) return ['sync', '--json'];
  if (kind < 0.65) return ['start'];
  if (kind < 0.7) return ['rebuild'];
  if (kind < 0.75) return ['verify'];
  const today = dayOf(simulator.clock.now());
  const from = addDays(today, -chance.between(0, 25));
  const to = addDays(from, chance.between(0, 15));
  return ['sync', '--from', from, '--to', to < today ? to : today];
}

/** What a finding is read with: the facts and the ledger as they are in the end, a line each. */
async function noteLedger({ address, note }: Stage): Promise<void> {
  await withClient(address, async (db) => {
    const { rows } = await db.query<{ line: string }>(
      `select concat('fact: ', fact, ' ', value) as line from sync.facts
       union all
       select concat('slice: ', resource, ' ', day, ' ',
                     (to_jsonb(s) - array['project_id', 'resource', 'owner', 'day'])::text)
         from sync.slices s
       order by line`,
    );
    for (const { line } of rows) note(line);
  });
}

/** Every check, as of now. Returns how many records are held. */
function lookAt({ address, memory, drawn, report }: Stage, keepsake: Keepsake): Promise<number> {
  // Moments are those of a clock that the platform's answers set, of whole seconds and of its own speed.
  const { lieMs, speed, dialect } = drawn;
  const slackMs = lieMs + staleMs + setBackMs + (dialect.lagMs ?? 0) + 2_000 * Math.max(1, speed);
  const hasEmptyHours = drawn.hardship === null;
  const given = { memory, keepsake, slackMs, hasEmptyHours };
  return withEvidence(address, given, async (evidence) => {
    for (const finding of await findAll(evidence)) report(finding);
    return countHeld(evidence);
  });
}
