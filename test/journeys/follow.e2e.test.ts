// The example of docs/follow.md as it stands there, killed again and again while four workers write: its table is the
// archive's, and its log has every change once. FOLLOW_SECONDS=600 does so for ten minutes.
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { silentLog } from '../../src/log.ts';
import { openDb } from '../../src/store/db.ts';
import { run } from '../../src/sync/run.ts';
import { createBench, fiveDays, type Bench } from '../support/archive.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';

const seconds = Number(process.env['FOLLOW_SECONDS'] ?? '3');
const root = fileURLToPath(new URL('../..', import.meta.url));
const hourMs = 3_600_000;

let bench: Bench;
let database: TestDatabase;
let copy: pg.Client;
let folder: string;
beforeEach(async () => {
  bench = await createBench(fiveDays);
  database = await createTestDatabase();
  copy = new pg.Client({ connectionString: database.connectionString });
  await copy.connect();
  // Below the package, so that it finds `outlast` by its name.
  folder = await mkdtemp(join(root, 'dist', 'follow-'));
  const [, example = ''] =
    /```js\n([\s\S]*?)```/.exec(await readFile(join(root, 'docs/follow.md'), 'utf8')) ?? [];
  await writeFile(join(folder, 'follow.mjs'), example);
});
afterEach(async () => {
  await copy.end();
  await database.drop();
  await bench.close();
  await rm(folder, { recursive: true });
});

/** The example as a process; resolves when it has ended. */
function follower(): { kill(): void; ended: Promise<string> } {
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
  return { kill: () => child.kill('SIGKILL'), ended };
}

/** Four workers, and a platform whose records change all the time. */
async function writeUntil(end: number): Promise<void> {
  const { simulator, worker } = bench;
  const workers = await Promise.all(
    [1, 2, 3, 4].map(async (n) => {
      const { connectionString } = bench;
      const db = await openDb({ connectionString, max: 2, log: silentLog() });
      return { ...worker, db, holder: `worker ${n}` };
    }),
  );
  const { signal } = new AbortController();
  for (let round = 0; performance.now() < end; round++) {
    await Promise.all(workers.map((one) => run(one, { signal })));
    for (const { id } of [...simulator.oracle.shown('orders')].filter(() => Math.random() < 0.1)) {
      if (Math.random() < 0.1) simulator.hide('orders', id);
      else simulator.mutate('orders', id, (was) => ({ ...was, message: `in round ${round}` }));
    }
    simulator.advance(7 * hourMs);
  }
  await Promise.all(workers.map(({ db }) => db.close()));
}

const sorted = async (
  db: { query(sql: string): Promise<{ rows: unknown[] }> },
  sql: string,
): Promise<string[]> => (await db.query(sql)).rows.map((row) => JSON.stringify(row)).toSorted();

test(
  'P3: a follower killed at any moment has every change once, and holds what the archive holds',
  async () => {
    const end = performance.now() + seconds * 1000;
    let kills = 0;
    const writing = writeUntil(end);
    while (performance.now() < end) {
      const one = follower();
      await Promise.race([wait(300 + Math.random() * 900), one.ended]);
      one.kill();
      expect(await one.ended).toBe('');
      kills += 1;
    }
    await writing;
    const last = follower();
    const line = (id: string): string => `concat_ws(' ', change, ${id}, raw_sha256) as line`;
    const taken = (): Promise<string[]> =>
      sorted(copy, `select ${line('operation_id')} from order_log`);
    const told = await sorted(
      bench.db,
      `select ${line('id')} from analytics.changes where resource = 'orders'`,
    );
    // Where none lived long enough to take much, the last one has all of it to take.
    const timeout = 30_000 + told.length * 20;
    await expect.poll(async () => (await taken()).length, { timeout }).toBe(told.length);
    last.kill();
    await last.ended;
    expect(await taken()).toEqual(told);
    expect(kills).toBeGreaterThan(2);
    const of = (table: string): string =>
      `select concat_ws(' ', operation_id, status, amount, missing_since is not null) as line from ${table}`;
    expect(await sorted(copy, of('orders'))).toEqual(await sorted(bench.db, of('archive.orders')));
  },
  (2 * seconds + 600) * 1000,
);
