// The example of docs/follow.md as it stands there, killed again and again while one of four replicas writes: its table is the
// archive's, and its log has every change once. FOLLOW_SECONDS=600 does so for ten minutes.
import { spawn } from 'node:child_process';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { expect, test } from 'vitest';
import { createBench, fiveDays, noon, type Bench } from '../support/archive.ts';
import { environmentOf, startCommand, type Running } from '../support/command.ts';
import { removeFolder, setUp } from '../support/fresh.ts';
import { createMachineClock, type MachineClock } from '../support/machine-clock.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { blocksIn, fileText } from '../support/repository.ts';

const seconds = Number(process.env['FOLLOW_SECONDS'] ?? '3');
const root = fileURLToPath(new URL('../..', import.meta.url));
const hourMs = 3_600_000;

let bench: Bench;
/** That of the replicas. */
let clock: MachineClock;
let replicas: Running[] = [];
let database: TestDatabase;
let copy: pg.Client;
let folder: string;
setUp(async (keep) => {
  // An answer takes a moment: who is first does not do all the work.
  bench = await keep(createBench({ ...fiveDays, latencyMs: 20 }));
  clock = await keep(Promise.resolve(createMachineClock(noon)), (one) => one.remove());
  database = await keep(createTestDatabase());
  copy = new pg.Client({ connectionString: database.connectionString });
  await keep(copy.connect(), () => copy.end());
  // Below the package, so that it finds `outlast` by its name.
  folder = await keep(mkdtemp(join(root, 'dist', 'follow-')), removeFolder);
  await keep(Promise.resolve(), () => Promise.all(replicas.map((one) => one.stop('SIGKILL'))));
  const [example = ''] = blocksIn(fileText('docs/follow.md'), 'js');
  await writeFile(join(folder, 'follow.mjs'), example);
});

/** Each looks for work every second, and reads one day at a time, so that there is work for all. */
const startReplica = (): Running =>
  startCommand(['start'], {
    env: {
      ...environmentOf(bench.simulator, bench.connectionString),
      ...clock.env,
      OUTLAST_PROJECT: 'p',
      OUTLAST_SCHEDULE: '* * * * * *',
      OUTLAST_CONCURRENCY: '1',
    },
    timeoutMs: (2 * seconds + 600) * 1000,
  });

/** A platform whose records change all the time, and whose time passes quickly. */
async function changeUntil(isOver: () => boolean): Promise<void> {
  const { simulator } = bench;
  for (let round = 0; !isOver(); round++) {
    for (const { id } of [...simulator.oracle.shown('orders')].filter(() => Math.random() < 0.1)) {
      if (Math.random() < 0.1) simulator.hide('orders', id);
      else simulator.mutate('orders', id, (was) => ({ ...was, message: `in round ${round}` }));
    }
    simulator.advance(7 * hourMs);
    clock.set(simulator.clock.now());
    // However slow the replicas are, they keep up; one that waits before it asks again holds up nobody for long.
    const longest = performance.now() + 10_000;
    do await wait(100);
    while (!isOver() && performance.now() < longest && (await isSomethingDue()));
  }
}

async function isSomethingDue(): Promise<boolean> {
  const { rows } = await bench.db.query('select from sync.slices where due_at <= $1 limit 1', [
    new Date(bench.simulator.clock.now()).toISOString(),
  ]);
  return rows.length > 0;
}

type Follower = { kill(): Promise<void>; isAlive(): boolean };

/** The example as a process, which never ends by itself and writes nothing to stderr. */
function startFollower(): Follower {
  const child = spawn(process.execPath, [join(folder, 'follow.mjs')], {
    env: {
      PATH: process.env['PATH'],
      DATABASE_URL: bench.connectionString,
      COPY_URL: database.connectionString,
      PROJECT: 'p',
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.on('data', (part: Buffer) => (stderr += String(part)));
  const ended = new Promise<string>((resolve) => child.once('close', () => resolve(stderr)));
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    expect(await ended).toBe('');
  };
  return { kill, isAlive: () => child.exitCode === null };
}

/** A follower is at work: it is connected to the copy and has made its tables. */
const isAtWork = (): Promise<boolean> =>
  isTrue(`select to_regclass('followed') is not null and exists (${connected})`);

const connected = `
  select from pg_stat_activity
   where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`;

/** Those who wait in the copy for a lock. */
const waiting = `
  from pg_locks
 where not granted and database = (select oid from pg_database where datname = current_database())`;

async function isTrue(sql: string): Promise<boolean> {
  const { rows } = await copy.query<{ is: boolean }>(`select (${sql}) as is`);
  return rows[0]?.is === true;
}

/** Ends when it is so, or when the follower has ended or had its time. */
async function until(one: Follower, isSo: () => Promise<boolean>, forMs = 60_000): Promise<void> {
  const longest = performance.now() + forMs;
  while (one.isAlive() && performance.now() < longest && !(await isSo())) await wait(30);
}

/** Dies at a random moment after it is so: later on a busy machine, where all takes longer, as its start did. */
async function dieAfter(one: Follower, isSo: () => Promise<boolean>): Promise<void> {
  const started = performance.now();
  await until(one, isAtWork);
  const startMs = performance.now() - started;
  await until(one, isSo);
  await wait(Math.random() * startMs);
  await one.kill();
}

/** Dies when it is about to write to this table. Its connection breaks at once, as when its machine dies. */
async function dieWriting(one: Follower, table: string): Promise<void> {
  await copy.query(`begin; lock table ${table} in share mode`);
  await until(one, () => isTrue(`select exists (select ${waiting})`));
  await one.kill();
  await copy.query(`select pg_terminate_backend(pid, 10000) ${waiting}`);
  await copy.query('commit');
}

/** How many changes the copy has taken. */
async function countTaken(): Promise<number> {
  const { rows } = await copy.query<{ n: number }>('select count(*)::int as n from order_log');
  return rows[0]?.n ?? 0;
}

const sorted = async (
  db: { query(sql: string): Promise<{ rows: unknown[] }> },
  sql: string,
): Promise<string[]> => (await db.query(sql)).rows.map((row) => JSON.stringify(row)).toSorted();

test(
  'P3: a follower killed at any moment has every change once, and holds what the archive holds',
  async () => {
    let isOver = false;
    // So that the first follower has something to take while the replicas start.
    await bench.run();
    replicas = [1, 2, 3, 4].map(startReplica);
    const changing = changeUntil(() => isOver);
    const end = performance.now() + seconds * 1000;
    let kills = 0;
    let taken = 0;
    let livesThatTook = 0;
    for (; performance.now() < end || kills < 3; kills++) {
      const one = startFollower();
      const takenBefore = taken;
      const hasTaken = async (): Promise<boolean> => (await countTaken()) > takenBefore;
      // If the position had a transaction of its own, one of the two tables would be written between it and the data.
      const ends = [
        () => dieAfter(one, hasTaken),
        () => dieWriting(one, 'order_log'),
        () => dieWriting(one, 'followed'),
        () => dieAfter(one, isAtWork),
      ];
      await ends[kills % ends.length]?.();
      // What it sent last is still carried out.
      await expect.poll(() => isTrue(`select exists (${connected})`)).toBe(false);
      taken = await countTaken();
      if (taken > takenBefore) livesThatTook++;
    }
    const wrote = /"records(New|Changed)":[1-9]/;
    // One of them holds the project.
    await Promise.any(replicas.map((one) => one.waitFor(wrote, 120_000)));
    isOver = true;
    await changing;
    for (const { code, stderr } of await Promise.all(replicas.map((one) => one.stop()))) {
      expect(code, stderr).toBe(0);
    }
    await bench.run();
    const line = (id: string): string => `concat_ws(' ', change, ${id}, raw_sha256) as line`;
    const told = await sorted(
      bench.db,
      `select ${line('id')} from analytics.changes where resource = 'orders'`,
    );
    const last = startFollower();
    const hasAll = async (): Promise<boolean> => (await countTaken()) === told.length;
    await until(last, hasAll, 60_000 + told.length * 20);
    await last.kill();
    expect(await sorted(copy, `select ${line('operation_id')} from order_log`)).toEqual(told);
    const of = (view: string): string =>
      `select concat_ws(' ', operation_id, status, amount_fen, missing_since is not null) as line from ${view}`;
    expect(await sorted(copy, of('orders'))).toEqual(
      await sorted(bench.db, of('analytics.orders')),
    );
    // It was not the last one that took everything.
    expect(livesThatTook).toBeGreaterThan(kills / 10);
  },
  (2 * seconds + 600) * 1000,
);
