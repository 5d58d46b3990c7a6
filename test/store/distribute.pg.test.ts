// `outlast migrate --distributed`. What needs a cluster runs where TEST_CITUS_URL names a Citus coordinator with
// workers; elsewhere nothing but its refusal can be tried.
import pg from 'pg';
import { expect, test } from 'vitest';
import { silentLog } from '../../src/log.ts';
import { openDb, withTx, type Db } from '../../src/store/db.ts';
import { recordFacts } from '../../src/store/facts.ts';
import { migrate, type Migrated } from '../../src/store/migrate.ts';
import { createBench, differences, fiveDays, type Bench, type Home } from '../support/archive.ts';
import { succeedHere } from '../support/command-here.ts';
import { runCommand, startCommand, type Running } from '../support/command.ts';
import { queryAt } from '../support/client.ts';
import { eachOnDatabase } from '../support/opened.ts';
import {
  createEmptyCluster,
  isOnCluster,
  workersOf,
  type TestDatabase,
} from '../support/postgres.ts';
import { createWireTo } from '../torture/wire.ts';

let database: TestDatabase;
let db: Db;

eachOnDatabase((given) => ({ database, db } = given));

test.skipIf(isOnCluster)('one server is no cluster, and nothing is changed', async () => {
  const distributed = migrate(database.connectionString, silentLog(), { distributed: true });
  await expect(distributed).rejects.toMatchObject({ code: 'no_cluster', kind: 'settings' });
});

const onCluster = test.skipIf(!isOnCluster);

onCluster('TEST_CITUS_URL: run again, it finds every table in its place', async () => {
  const again = await migrate(database.connectionString, silentLog(), { distributed: true });
  expect(again).toMatchObject({
    from: again.to,
    distributed: { workers: expect.any(Number) as number },
  });
});

onCluster(
  'TEST_CITUS_URL: a worker is refused, for it has not the functions that write the journal',
  async () => {
    for (const worker of await workersOf(database)) {
      await expect(openDb({ connectionString: worker, log: silentLog() })).rejects.toMatchObject({
        code: 'database_worker',
      });
    }
  },
);

onCluster('TEST_CITUS_URL: a right given in another database takes no login away', async () => {
  const other = await createEmptyCluster();
  const ask = (sql: string) => queryAt(other.connectionString, sql);
  try {
    // Citus makes a role that a statement names on every worker what it is on the coordinator.
    await ask(`create role "${other.name}"`);
    await ask(`grant outlast_reader, outlast_writer to "${other.name}"`);
    await ask(`drop role "${other.name}"`);
    const rows = await ask(
      `select distinct result from run_command_on_workers(
         $$select string_agg(concat_ws(' ', rolname, rolcanlogin, 'TimeZone=UTC' = any (rolconfig)), ', ' order by rolname)
             from pg_roles where rolname like 'outlast\\_%er'$$)`,
    );
    expect(rows).toEqual([{ result: 'outlast_reader t t, outlast_writer t t' }]);
  } finally {
    await other.drop();
  }
});

onCluster('TEST_CITUS_URL: a fact that changed is told', async () => {
  await recordFacts(db, 'p', { 'orders.day_end': 'inclusive' }, 0);
  expect(await recordFacts(db, 'p', { 'orders.day_end': 'exclusive' }, 1)).toEqual([
    { fact: 'orders.day_end', from: 'inclusive', to: 'exclusive' },
  ]);
});

onCluster('TEST_CITUS_URL: whatever zone a worker is in, it writes times in UTC', async () => {
  const workers = await workersOf(database);
  const zones = ['Asia/Tokyo', 'America/New_York', 'Asia/Kolkata'];
  for (const [i, worker] of workers.entries()) {
    const zone = zones[i % zones.length];
    await queryAt(worker, `alter database "${database.name}" set timezone = '${zone}'`);
  }
  await recordFacts(db, 'zone', { 'orders.day_end': 'inclusive' }, 0);
  await withTx(db, async (tx) => {
    const { rows } = await tx.query(
      `select (array_agg(confirmed_at::text))[1] as at from sync.facts where project_id = 'zone'`,
    );
    expect(rows).toEqual([{ at: '1970-01-01 00:00:00+00' }]);
  });
});

onCluster('TEST_CITUS_URL: the reader reads every view, and no salt of a key', async () => {
  const reader = await openDb({
    connectionString: database.connectionString,
    role: 'outlast_reader',
    log: silentLog(),
  });
  try {
    const { rows } = await db.query<{ name: string }>(
      `select oid::regclass::text as name from pg_class
        where relkind = 'v' and relnamespace = 'analytics'::regnamespace`,
    );
    for (const { name } of rows) await reader.query(`select * from ${name}`);
    await expect(reader.query('select key_salt from sync.projects')).rejects.toMatchObject({
      code: '42501',
    });
  } finally {
    await reader.close();
  }
});

/** A cluster whose tables are all on the coordinator. */
async function notYetDistributed(): Promise<Home> {
  const cluster = await createEmptyCluster();
  const { connectionString } = cluster;
  await migrate(connectionString, silentLog());
  const writer = await openDb({ connectionString, log: silentLog(), max: 2 });
  return {
    connectionString,
    db: writer,
    leave: async () => {
      await writer.close();
      await cluster.drop();
    },
  };
}

type Place = { name: string; colocation: number | null; shards: string[]; bytesHere: number };

/** Of each table that is to be distributed: where it is, and how much of it the coordinator itself still has. */
async function placesOf(owner: pg.Client): Promise<Place[]> {
  const { rows } = await owner.query<Place>(
    `select c.oid::regclass::text as name, p.colocationid as colocation,
            array(select shardid::text from pg_dist_shard s where s.logicalrelid = c.oid order by 1) as shards,
            pg_relation_size(c.oid)::int as "bytesHere"
       from pg_class c
       join pg_attribute a on a.attrelid = c.oid and a.attname = 'project_id'
       left join pg_dist_partition p on p.logicalrelid = c.oid
      where c.relnamespace = any (array['archive', 'sync']::regnamespace[]) and c.relkind = 'r'
      order by 1`,
  );
  return rows;
}

/** Every row of these tables: one that is lost, or there twice, makes another list. */
async function rowsOf(owner: pg.Client, places: Place[]): Promise<Record<string, string[]>> {
  const held: Record<string, string[]> = {};
  for (const { name } of places) {
    const { rows } = await owner.query(`select * from ${name}`);
    held[name] = rows.map((row) => JSON.stringify(row)).toSorted();
  }
  return held;
}

type Given = { bench: Bench; owner: pg.Client; env: Record<string, string> };
const distributing = ['migrate', '--distributed', '--json'];

/** An archive is there, `killed` kills runs that distribute it, and the next runs must find nothing lost and end. */
async function expectLaidOut(killed: (given: Given) => Promise<void>): Promise<void> {
  const bench = await createBench(fiveDays, {}, notYetDistributed);
  const { connectionString } = bench;
  const owner = new pg.Client({ connectionString });
  const env = { DATABASE_URL: connectionString, OUTLAST_LOG_LEVEL: 'error' };
  try {
    await owner.connect();
    await bench.run();
    const held = await rowsOf(owner, await placesOf(owner));
    expect(held['archive.orders']?.length).toBeGreaterThan(100);
    await killed({ bench, owner, env });

    expect(await runCommand(distributing, { env })).toMatchObject({ code: 0, stderr: '' });
    const places = await placesOf(owner);
    const [orders] = places.filter(({ name }) => name === 'archive.orders');
    expect(orders?.colocation).toEqual(expect.any(Number));
    for (const { name, shards, ...where } of places) {
      expect(where, name).toEqual({ colocation: orders?.colocation, bytesHere: 0 });
      expect(shards.length, name).toBe(orders?.shards.length);
    }
    expect(await rowsOf(owner, places)).toEqual(held);
    expect(await differences(bench)).toEqual([]);
    await succeedHere(['verify'], { env });

    const { code, stdout, stderr } = await runCommand(distributing, { env });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const { from, to, distributed } = JSON.parse(stdout) as Migrated;
    expect({ to, tables: distributed?.tables }).toEqual({ to: from, tables: places.length });
    expect(await placesOf(owner)).toEqual(places);
  } finally {
    await owner.end();
    await bench.close();
  }
}

onCluster(
  'TEST_CITUS_URL: killed while its commit is under way, it has laid out every row once',
  async () => {
    await expectLaidOut(async ({ bench, env }) => {
      const { wire, address } = await createWireTo(bench.connectionString);
      let running: Running | undefined;
      const passing = { text: 'commit', skip: 0, when: 'after', how: 'reset' } as const;
      const kill = (): void => void running?.child.kill('SIGKILL');
      // What comes behind the tables, in the same transaction.
      wire.arm({
        ...passing,
        text: 'create_distributed_function',
        how: 'pass',
        spring: () => wire.arm({ ...passing, spring: kill }),
      });
      running = startCommand(distributing, { env: { ...env, DATABASE_URL: address } });
      expect((await running.ended).signal).toBe('SIGKILL');
      await wire.close();
    });
  },
  300_000,
);
