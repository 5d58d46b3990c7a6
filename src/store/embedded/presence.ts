// One command's presence: a session of its own in the maintenance database that holds a shared advisory
// lock for as long as the command runs. Whoever gets that lock exclusively is alone.
import { realpath } from 'node:fs/promises';
import pg from 'pg';
import { codeOf, fatal, settingsError } from '../../errors.ts';
import { addressOf, ensurePassword, user, workDatabase } from './cluster.ts';
import type { Home } from './home.ts';

// Not the work database: dropping that one must not depend on who is here.
const maintenanceDatabase = 'postgres';
const presenceLock = 7_317_902_432;

/** Connects to the server and checks that it is the home's; throws pg's errors as they are. */
export async function connectToMaintenance(home: Home, port: number): Promise<pg.Client> {
  const { password } = await ensurePassword(home);
  const client = new pg.Client({
    connectionString: addressOf(password, port, maintenanceDatabase),
    application_name: 'outlast presence',
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
  });
  // A broken connection is an event to watch for (see embedded.ts), never the end of the process.
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ folder: string }>(
      `select current_setting('data_directory') as folder`,
    );
    const served = await realpath(rows[0]?.folder ?? '').catch(() => '');
    if (served === (await realpath(home.pgdata))) return client;
    throw fatal(
      'embedded_start_failed',
      `Another PostgreSQL than that of ${home.folder} answers on port ${port}. Stop it and try again.`,
    );
  } catch (error) {
    await client.end().catch(() => undefined);
    throw codeOf(error) === '28P01' ? passwordError(home, error) : error;
  }
}

/** Takes the shared lock for as long as the session lasts. */
export async function enter(client: pg.Client): Promise<void> {
  await client.query('select pg_advisory_lock_shared($1)', [presenceLock]);
  const { rowCount } = await client.query('select from pg_database where datname = $1', [
    workDatabase,
  ]);
  if (rowCount === 0) await client.query(`create database ${workDatabase} owner ${user}`);
}

/** True when no other command is present. A session's own shared lock does not stand in its way. */
export async function isAlone(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ alone: boolean }>(
    'select pg_try_advisory_lock($1) as alone',
    [presenceLock],
  );
  return rows[0]?.alone === true;
}

function passwordError(home: Home, cause: unknown): Error {
  return settingsError(
    'embedded_password_wrong',
    `The embedded Postgres refuses the password in ${home.folder}/password: the file was changed or replaced. Put it back from a copy.`,
    cause,
  );
}
