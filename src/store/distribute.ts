// `outlast migrate --distributed`: lays the tables out over the workers of a Citus cluster, by project, so that all of
// a project is on one of them. What writes the journal stays on the coordinator alone.
import { settingsError } from '../errors.ts';
import { onlyRow, type Queryable, type Tx } from './db.ts';
import { ourSettings } from './transaction-settings.ts';

export type Distributed = { tables: number; workers: number };

/** Statements run there as the role that sent them. */
const roles = ['outlast_writer', 'outlast_reader', 'outlast_intake'];

/** Whether the server has Citus, and whether the archive's tables are distributed by it. */
export async function findCitus(
  db: Queryable,
): Promise<{ isThere: boolean; isDistributed: boolean }> {
  const isThere = onlyRow(
    await db.query<{ there: boolean }>(
      `select exists (select from pg_extension where extname = 'citus') as there`,
    ),
  ).there;
  if (!isThere) return { isThere, isDistributed: false };
  const { distributed } = onlyRow(
    await db.query<{ distributed: boolean }>(
      `select exists (select from pg_dist_partition where logicalrelid = to_regclass('archive.orders')) as distributed`,
    ),
  );
  return { isThere, isDistributed: distributed };
}

/** Throws settings `no_cluster` where there are no workers to distribute to. Returns how many there are. */
export async function checkCluster(db: Queryable): Promise<number> {
  const { isThere } = await findCitus(db);
  if (!isThere) {
    throw noCluster('This database has no Citus: `create extension citus` in it on every machine');
  }
  const { workers } = onlyRow(
    await db.query<{ workers: number }>(
      `select count(*)::int as workers from pg_dist_node
        where groupid > 0 and isactive and shouldhaveshards and noderole = 'primary'`,
    ),
  );
  if (workers > 0) return workers;
  throw noCluster('This Citus has no workers: `select citus_add_node(…)` each on the coordinator');
}

const noCluster = (what: string): Error =>
  settingsError('no_cluster', `${what}, then run \`outlast migrate --distributed\` again.`);

/**
 * Lets the roles log in on the workers, and work there under the settings that a transaction here names for itself:
 * otherwise exports would have times in a worker's own zone. Told to each worker, for Citus passes on only what it
 * knows of a role in this database; and to the coordinator, for what a role is there Citus makes it on every worker
 * when another database is distributed, a right is granted in one, or a worker is added.
 */
export async function admitRoles(db: Queryable): Promise<void> {
  const settings = {
    ...ourSettings,
    lock_timeout: '10s',
    idle_in_transaction_session_timeout: '600s',
  };
  const assigned = Object.entries(settings).map(([name, value]) => {
    // A list of values would be quoted as one.
    const values = value.split(', ').map((one) => `'${one}'`);
    return `set ${name} = ${values.join(', ')}`;
  });
  for (const role of roles) {
    const admitted = ['login', ...assigned].map((what) => `alter role ${role} ${what};`);
    const admit = `do $do$ begin
         perform set_config('citus.enable_ddl_propagation', 'off', true);
         if not exists (select from pg_roles where rolname = '${role}') then create role ${role}; end if;
         ${admitted.join(' ')}
       end $do$`;
    await db.query(admit);
    await onWorkers(db, admit);
  }
}

/** Throws settings `worker_failed` with what a worker said. Returns what each has answered. */
async function onWorkers(
  db: Queryable,
  command: string,
): Promise<{ node: string; result: string }[]> {
  const { rows } = await db.query<{ node: string; success: boolean; result: string }>(
    `select nodename || ':' || nodeport as node, success, result from run_command_on_workers($1)`,
    [command],
  );
  const failed = rows.find(({ success }) => !success);
  if (failed === undefined) return rows;
  throw settingsError('worker_failed', `The worker ${failed.node} says: ${failed.result}`);
}

/** Throws settings `worker_refuses` where a worker does not let a role in. */
export async function checkLogins(tx: Tx): Promise<void> {
  for (const role of roles) {
    await tx.query(`set local role ${role}`);
    try {
      await onWorkers(tx, 'select 1');
    } catch (error) {
      throw settingsError(
        'worker_refuses',
        `${role} must be able to log in on the workers from the coordinator. Let pg_hba.conf there, and a .pgpass on the coordinator, admit ${roles.join(', ')}, then run \`outlast migrate --distributed\` again.`,
        error,
      );
    }
    await tx.query('set local role to default');
  }
}

/** What a statement that is sent to a worker calls there. */
const sentAlong = [
  'sync.utc(timestamptz)',
  'sync.ledger_of(sync.slices)',
  'sync.first_stored(text)',
  'sync.changes_of(text, text, text[], bytea)',
  'analytics.status_name(integer)',
  'analytics.local_day(timestamptz, date, text)',
  'analytics.local_days(date, text)',
];

/**
 * Distributes what is not yet, with what is held. All of it or nothing: it belongs to the transaction of the migration.
 * Returns how many tables lie together.
 */
export async function distributeTables(tx: Tx): Promise<number> {
  // Everything of a table over one connection: otherwise a transaction may touch no table twice.
  await tx.query(`set local citus.multi_shard_modify_mode = 'sequential'`);
  await tx.query('set local citus.enable_ddl_propagation = on');
  const { rows: due } = await tx.query<{ name: string }>(
    `select c.oid::regclass::text as name
       from pg_class c
       join pg_attribute a on a.attrelid = c.oid and a.attname = 'project_id'
      where c.relnamespace = any (array['archive', 'sync']::regnamespace[]) and c.relkind = 'r'
        and not exists (select from pg_dist_partition p where p.logicalrelid = c.oid)
      -- The others are laid beside it.
      order by c.oid <> 'archive.orders'::regclass, name`,
  );
  for (const { name } of due) {
    const beside = name === 'archive.orders' ? 'default' : 'archive.orders';
    await tx.query(`select create_distributed_table($1, 'project_id', colocate_with => $2)`, [
      name,
      beside,
    ]);
    await tx.query('select truncate_local_data_after_distributing_table($1::regclass)', [name]);
  }
  for (const name of sentAlong) await tx.query('select create_distributed_function($1)', [name]);
  await grantColumns(tx);
  await keepAsOf(tx);
  const { tables } = onlyRow(
    await tx.query<{ tables: number }>(
      `select count(*)::int as tables from pg_dist_partition
        where colocationid = (select colocationid from pg_dist_partition where logicalrelid = 'archive.orders'::regclass)`,
    ),
  );
  return tables;
}

/**
 * A view's tables are read on the workers as whoever asks, not as the view's owner: of each table of `sync` the reader
 * may read the columns that the views show, and no other (P10: not the salt of a key).
 */
async function grantColumns(tx: Tx): Promise<void> {
  const { rows } = await tx.query<{ grant: string }>(
    `select format('grant select (%s) on %s to outlast_reader',
                   string_agg(distinct quote_ident(a.attname), ', '), c.oid::regclass) as grant
       from pg_rewrite r
       join pg_class v on v.oid = r.ev_class and v.relnamespace = 'analytics'::regnamespace
       join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = r.oid and d.refclassid = 'pg_class'::regclass
       join pg_dist_partition p on p.logicalrelid = d.refobjid
       join pg_class c on c.oid = d.refobjid and c.relnamespace = 'sync'::regnamespace
       join pg_attribute a on a.attrelid = c.oid and a.attnum = d.refobjsubid
      group by c.oid`,
  );
  for (const { grant } of rows) await tx.query(grant);
  // A worker is sent every column that has a default.
  const { defaults } = onlyRow(
    await tx.query<{ defaults: string }>(
      `select string_agg(quote_ident(attname), ', ') as defaults from pg_attribute
        where attrelid = 'sync.watched_operations'::regclass and atthasdef`,
    ),
  );
  await tx.query(`grant insert (${defaults}) on sync.watched_operations to outlast_intake`);
  // analytics.progress makes a digest of whole rows.
  await tx.query(
    `grant select on sync.slices, sync.runs, sync.alerts, sync.facts, sync.rebuilds, sync.token_snapshots
        to outlast_reader`,
  );
}

/** Of an SQL function Postgres makes a part of the query, after Citus has looked at it for its tables. */
async function keepAsOf(tx: Tx): Promise<void> {
  const { rows } = await tx.query<{ kept: string }>(
    `select replace(pg_get_functiondef(p.oid), prosrc, E'\\n#variable_conflict use_column\\nbegin return query ' || rtrim(prosrc, E' \\n;') || E';\\nend\\n') as kept
       from pg_proc p join pg_language l on l.oid = p.prolang
      where pronamespace = 'analytics'::regnamespace and proname like '%\\_as\\_of' and lanname = 'sql'`,
  );
  for (const { kept } of rows)
    await tx.query(kept.replace(/^ LANGUAGE sql$/m, ' LANGUAGE plpgsql'));
}
