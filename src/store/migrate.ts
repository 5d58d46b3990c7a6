// Brings a database to this release's schema: under a lock, so that ten starts at once are safe, in one transaction,
// and never backwards. The statements are those of migrations/.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { MigrationMeta } from 'drizzle-orm/migrator';
import pg from 'pg';
import { resources } from '../model.ts';
import { columnsOf, fieldsOf, inView } from '../resources.ts';
import type { DatabaseAddress } from '../database-address.ts';
import { codeOf, fatal, settingsError, type OutlastError } from '../errors.ts';
import type { Log } from '../log.ts';
import { databaseError, namedIfCut } from './db-errors.ts';
import {
  admitRoles,
  checkCluster,
  checkLogins,
  distributeTables,
  findCitus,
  type Distributed,
} from './distribute.ts';
import { defaultTxTimeouts, openDb, withTx, type Db, type Queryable, type Tx } from './db.ts';
import { readMigrationFiles } from './drizzle-import.ts';
import { resourceShapes } from './record-tables.ts';
import { areGrantsDue, ensureGrants, ensureRoles, forbiddenHere, rowSecurity } from './roles.ts';

// One key for the whole of Outlast; advisory locks are per database.
const migrationLock = 7_317_902_431;

export type Migrated = {
  /** Migrations applied before and after. */
  from: number;
  to: number;
  /** What this database cannot promise, a sentence each. */
  notes: string[];
  /** Over how many workers of a cluster the tables are distributed, where that was asked for. */
  distributed?: Distributed;
};

/** What a view or a column of one means. */
export type Comment = { of: 'view' | 'column'; name: string; says: string };

export type MigrateOptions = { distributed?: boolean; comments?: Comment[] };

/**
 * Applies what is missing. Safe when many start at once: the others wait, then find nothing to do.
 * Throws fatal `schema_other` when its migrations were others than these, settings `schema_newer` when it was written by a
 * newer release, settings `schema_foreign` when its schemas are another program's, settings
 * `database_forbidden` when the user lacks a right, and what `openDb` throws. `distributed`: lays the tables out over the
 * workers of a Citus cluster; throws what distribute.ts throws. `comments`: what views and their columns mean; one that
 * alone changes comes with the next migration.
 */
export async function migrate(
  connectionString: DatabaseAddress,
  log: Log,
  { distributed = false, comments = [] }: MigrateOptions = {},
): Promise<Migrated> {
  const known = knownMigrations();
  const db = await openDb({
    connectionString,
    role: null,
    max: 1,
    applicationName: 'outlast migrate',
    log,
  });
  try {
    // The roles by themselves, for all databases of a cluster share them: nobody waits for this database's migrations.
    const found = await withTx(db, (tx) => lookAround(tx, known));
    const { notes } = found;
    if (distributed) {
      return { ...(await distribute(db, known, comments)), notes: [...notes, onSeveralMachines] };
    }
    // As nearly always: then nobody waits for anybody.
    if (!found.isDue) {
      const { count } = found;
      return { from: count, to: count, notes: [...notes, ...(await rowSecurity(db))] };
    }
    const { from, to, withheld } = await inTurn(db, known, { distributed, comments });
    if (to > from) log.info({ from, to }, 'The database schema was brought up to date');
    return { from, to, notes: [...notes, ...withheld] };
  } catch (error) {
    if (codeOf(error) === '42501') throw await forbiddenHere(db, error);
    throw databaseError(error) ?? namedIfCut(error);
  } finally {
    await db.close();
  }
}

async function lookAround(
  tx: Tx,
  known: MigrationMeta[],
): Promise<{ count: number; notes: string[]; isDue: boolean }> {
  await refuseForeign(tx);
  const applied = await appliedMigrations(tx);
  refuseOthers(applied, known);
  const notes = await ensureRoles(tx);
  const isDue = applied.length !== known.length || (await areGrantsDue(tx));
  return { count: applied.length, notes, isDue };
}

/**
 * The same within a transaction of the caller's, for whoever takes it back. Returns what was there; to what is older
 * nothing is applied, for it may be large.
 */
export async function migrateWithin(
  tx: Tx,
): Promise<{ schema: 'none' | 'older' | 'same'; notes: string[] }> {
  const all = knownMigrations();
  const { count, notes, isDue } = await lookAround(tx, all);
  const schema = count === 0 ? 'none' : count < all.length ? 'older' : 'same';
  if (schema === 'older' || !isDue) return { schema, notes };
  await tx.query('select pg_advisory_xact_lock($1)', [migrationLock]);
  const { withheld } = await bringUpToDate(tx, all, {});
  return { schema, notes: [...notes, ...withheld] };
}

/** One at a time: whoever comes second waits until the first one's transaction has ended, then finds nothing to do. */
function inTurn(
  db: Db,
  known: MigrationMeta[],
  options: MigrateOptions,
): ReturnType<typeof bringUpToDate> {
  return withTx(
    db,
    async (tx) => {
      await tx.query('select pg_advisory_xact_lock($1)', [migrationLock]);
      await tx.query(`set local lock_timeout = ${defaultTxTimeouts.lockMs}`);
      return bringUpToDate(tx, known, options);
    },
    { ...defaultTxTimeouts, statementMs: 0, lockMs: 0 },
  );
}

const onSeveralMachines =
  'Over several machines a sum over several projects may mix two moments, and a follower may miss a commit during which the connection to a worker broke. The three roles may log in there, without a password. docs/scale.md says what was tried, and how to keep the roles out.';

/** Killed anywhere and run again it goes on: nothing is done twice, and the tables are distributed all or not at all. */
async function distribute(
  db: Db,
  known: MigrationMeta[],
  comments: Comment[],
): Promise<Omit<Migrated, 'notes'>> {
  const workers = await withTx(db, checkCluster);
  await admitRoles(db);
  await withTx(db, checkLogins);
  const { from, to, tables } = await inTurn(db, known, { distributed: true, comments });
  return { from, to, distributed: { tables, workers } };
}

/** All that is missing and its grants, or nothing: whoever is killed here leaves no half of it. */
async function bringUpToDate(
  tx: Tx,
  known: MigrationMeta[],
  { distributed = false, comments = [] }: MigrateOptions,
): Promise<{ from: number; to: number; withheld: string[]; tables: number }> {
  await tx.query(`set local default_table_access_method = 'heap'`);
  const citus = await findCitus(tx);
  // Of what is not distributed yet the workers learn when it is: what belongs to the coordinator they never know.
  if (citus.isThere && !citus.isDistributed) {
    await tx.query('set local citus.enable_ddl_propagation = off');
  }
  const before = await appliedMigrations(tx);
  refuseOthers(before, known);
  const missing = known.slice(before.length);
  if (missing.length > 0) {
    await apply(tx, missing);
    await tx.query([...comments, ...recordComments()].map(commentSql).join('\n'));
  }
  const withheld = await ensureGrants(tx, missing.length > 0);
  const tables = distributed || citus.isDistributed ? await distributeTables(tx) : 0;
  return { from: before.length, to: known.length, withheld, tables };
}

/** What the columns of records mean stands in resources.ts: so do those of what they said before. */
const recordComments = (): Comment[] =>
  resources.flatMap((resource) => {
    const { table, versions } = resourceShapes[resource];
    const history = versions.replace('archive.', 'analytics.').replace('_versions', '_history');
    return columnsOf(fieldsOf[resource]).flatMap((column) => {
      const isSaid = column.part === 'key' || column.part === 'record';
      return [
        `${table}.${column.column}`,
        ...(isSaid || column.part === 'content' ? [`${versions}.${column.column}`] : []),
        ...(isSaid || column.part === 'observed' ? [`${history}.${inView(column)}`] : []),
      ].map((name) => ({ of: 'column', name, says: column.meaning }));
    });
  });

const commentSql = ({ of, name, says }: Comment): string =>
  `comment on ${of} ${name} is ${pg.escapeLiteral(says)};`;

/** As drizzle's own migrator does, which would commit, and let go of the lock, in between. */
async function apply(tx: Tx, missing: MigrationMeta[]): Promise<void> {
  for (const { sql, hash, folderMillis } of missing) {
    for (const statement of sql) await tx.query(statement);
    // In the schema that the first of them makes.
    await tx.query(
      `create table if not exists sync.migrations (
         id serial primary key,
         hash text not null,
         created_at bigint
       )`,
    );
    await tx.query('insert into sync.migrations (hash, created_at) values ($1, $2)', [
      hash,
      folderMillis,
    ]);
  }
}

/**
 * What a database's migrations, by their digests in the order in which they were applied, are beside this release's:
 * `other` where one of them says something else, which no later one can mend.
 */
export function compareSchemas(
  applied: readonly string[],
  known: readonly MigrationMeta[],
): 'same' | 'older' | 'newer' | 'other' {
  const isCommon = known.every(({ hash }, i) => i >= applied.length || applied[i] === hash);
  if (!isCommon) return 'other';
  if (applied.length === known.length) return 'same';
  return applied.length < known.length ? 'older' : 'newer';
}

/** Before anything is changed: a database that these migrations did not begin, or that later ones have gone on with. */
function refuseOthers(applied: readonly string[], known: readonly MigrationMeta[]): void {
  const compared = compareSchemas(applied, known);
  if (compared === 'other') throw schemaOther();
  if (compared !== 'newer') return;
  throw settingsError(
    'schema_newer',
    'This database was written by a newer release of Outlast. Use that release or a later one; nothing was changed.',
  );
}

export const schemaOther = (): OutlastError =>
  fatal(
    'schema_other',
    'This database was made by another Outlast, whose tables this one can neither read nor bring up to date: export it with the version that made it and import that into a new database, or begin anew with an empty one (of the embedded Postgres: another data folder). Nothing was changed.',
  );

/**
 * Throws settings `schema_foreign` where another program has a schema of a name that Outlast needs. One statement: a
 * rival's migration brings the schemas and the list of migrations at once.
 */
export async function refuseForeign(db: Queryable): Promise<void> {
  const { rows } = await db.query<{ name: string }>(
    `select n.nspname as name
       from pg_namespace n
      where n.nspname in ('archive', 'analytics', 'sync')
        and not exists (select from pg_class c join pg_namespace s on s.oid = c.relnamespace
                         where s.nspname = 'sync' and c.relname = 'migrations')
      order by n.nspname = 'archive' desc
      limit 1`,
  );
  const [foreign] = rows;
  if (foreign === undefined) return;
  throw settingsError(
    'schema_foreign',
    `This database has a schema ${foreign.name} that is not Outlast's. Give Outlast a database of its own and point DATABASE_URL at it; nothing was changed.`,
  );
}

/** Their digests, in the order in which they were applied. */
async function appliedMigrations(db: Queryable): Promise<string[]> {
  const table = await db.query<{ found: string | null }>(
    `select to_regclass('sync.migrations')::text as found`,
  );
  if ((table.rows[0]?.found ?? null) === null) return [];
  const { rows } = await db.query<{ hash: string }>('select hash from sync.migrations order by id');
  return rows.map(({ hash }) => hash);
}

let known: MigrationMeta[] | undefined;
/** This release's migrations: their files are read once a process. */
export const knownMigrations = (): MigrationMeta[] =>
  (known ??= readMigrationFiles({ migrationsFolder: findMigrations() }));

/** Beside src/, from the sources as well as from dist/. */
const findMigrations = (): string =>
  ['../../migrations', '../../../migrations']
    .map((path) => fileURLToPath(new URL(path, import.meta.url)))
    .find((folder) => existsSync(folder)) ?? '';
