// Brings a database to this release's schema: under a lock, so that ten starts at once are safe, and
// never backwards. The statements are those of migrations/, applied by drizzle's migrator.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readMigrationFiles } from 'drizzle-orm/migrator';
import type pg from 'pg';
import { settingsError } from '../errors.ts';
import type { Log } from '../log.ts';
import { databaseError, namedIfCut } from './db-errors.ts';
import { openDb } from './db.ts';
import { ensureRoles } from './roles.ts';

// One key for the whole of Outlast; advisory locks are per database.
const migrationLock = 7_317_902_431;
const lockTimeoutMs = 10_000;
const journal = { migrationsSchema: 'sync', migrationsTable: 'migrations' };

export type Migrated = {
  /** Migrations applied before and after. */
  from: number;
  to: number;
  /** What this database cannot promise, a sentence each. */
  notes: string[];
};

/**
 * Applies what is missing. Safe when many start at once: the others wait, then find nothing to do.
 * Throws settings `schema_newer` when the database was written by a newer release, settings `database_forbidden`
 * when the user lacks a right, and what `openDb` throws.
 */
export async function migrate(connectionString: string, log: Log): Promise<Migrated> {
  const db = await openDb({
    connectionString,
    role: null,
    max: 1,
    applicationName: 'outlast migrate',
    log,
  });
  let client: pg.PoolClient | undefined;
  try {
    client = await db.pool.connect();
    client.on('error', () => undefined);
    await client.query('select pg_advisory_lock($1)', [migrationLock]);
    // For the tables from here on: who waits for one keeps everybody else from it.
    await client.query(`set lock_timeout = '${lockTimeoutMs}'`);
    const migrationsFolder = findMigrations();
    const known = readMigrationFiles({ migrationsFolder });
    const before = await appliedMigrations(client);
    const newest = known.at(-1)?.folderMillis ?? 0;
    if (before.newest > newest) {
      throw settingsError(
        'schema_newer',
        'This database was written by a newer release of Outlast. Use that release or a later one; nothing was changed.',
      );
    }
    if (before.newest < newest) {
      // Loaded only when there is something to apply: 40 ms and 15 MB that no other start needs.
      const { drizzle } = await import('drizzle-orm/node-postgres');
      const { migrate: apply } = await import('drizzle-orm/node-postgres/migrator');
      await apply(drizzle(client), { migrationsFolder, ...journal });
    }
    const notes = await ensureRoles(client, before.newest < newest);
    const after = await appliedMigrations(client);
    if (after.count > before.count) {
      log.info(
        { from: before.count, to: after.count },
        'The database schema was brought up to date',
      );
    }
    return { from: before.count, to: after.count, notes };
  } catch (error) {
    throw databaseError(error) ?? namedIfCut(error);
  } finally {
    // Ends the session and with it the lock.
    client?.release(true);
    await db.close();
  }
}

async function appliedMigrations(
  client: pg.PoolClient,
): Promise<{ count: number; newest: number }> {
  const table = await client.query<{ found: string | null }>(
    `select to_regclass('sync.migrations')::text as found`,
  );
  if ((table.rows[0]?.found ?? null) === null) return { count: 0, newest: 0 };
  const { rows } = await client.query<{ count: number; newest: string | null }>(
    'select count(*)::int as count, max(created_at) as newest from sync.migrations',
  );
  return { count: rows[0]?.count ?? 0, newest: Number(rows[0]?.newest ?? 0) };
}

/** The migrations folder of this package, from the sources as well as from dist/. */
export function findMigrations(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  // Ends: every step goes one folder up.
  while (folder !== dirname(folder)) {
    const candidate = join(folder, 'migrations', 'meta', '_journal.json');
    if (existsSync(candidate)) return join(folder, 'migrations');
    folder = dirname(folder);
  }
  throw settingsError(
    'migrations_missing',
    'The migrations folder is missing from this installation. Install Outlast again.',
  );
}
