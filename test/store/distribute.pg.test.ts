// `outlast migrate --distributed`. What needs a cluster runs where TEST_CITUS_URL names a Citus coordinator with
// workers; elsewhere nothing but its refusal can be tried.
import pg from 'pg';
import { expect, test } from 'vitest';
import { silentLog } from '../../src/log.ts';
import { openDb, withTx, type Db } from '../../src/store/db.ts';
import { recordFacts } from '../../src/store/facts.ts';
import { migrate } from '../../src/store/migrate.ts';
import { eachOnDatabase } from '../support/opened.ts';
import {
  createEmptyCluster,
  isOnCluster,
  workersOf,
  type TestDatabase,
} from '../support/postgres.ts';

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
  'TEST_CITUS_URL: a worker is refused, for it would number entries of its own',
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
  const owner = new pg.Client({ connectionString: other.connectionString });
  try {
    await owner.connect();
    // Citus makes a role that a statement names on every worker what it is on the coordinator.
    await owner.query(`create role "${other.name}"`);
    await owner.query(`grant outlast_reader, outlast_writer to "${other.name}"`);
    await owner.query(`drop role "${other.name}"`);
    const { rows } = await owner.query(
      `select distinct result from run_command_on_workers(
         $$select string_agg(concat_ws(' ', rolname, rolcanlogin, 'TimeZone=UTC' = any (rolconfig)), ', ' order by rolname)
             from pg_roles where rolname like 'outlast\\_%er'$$)`,
    );
    expect(rows).toEqual([{ result: 'outlast_reader t t, outlast_writer t t' }]);
  } finally {
    await owner.end();
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
    const admin = new pg.Client({ connectionString: worker });
    await admin.connect();
    await admin.query(
      `alter database "${database.name}" set timezone = '${zones[i % zones.length]}'`,
    );
    await admin.end();
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
