// One command's presence: a session of its own in the maintenance database that holds a shared advisory
// lock for as long as the command runs. Whoever gets that lock exclusively is alone.
import { realpath } from 'node:fs/promises';
import type pg from 'pg';
import { codeOf, fatal, isOutlastError, settingsError } from '../../errors.ts';
import { Client } from '../client.ts';
import type { Home } from './home.ts';
import { addressOf, passwordPath, user, workDatabase } from './password.ts';

// Not the work database: dropping that one must not depend on who is here.
const maintenanceDatabase = 'postgres';
const presenceLock = 7_317_902_432;

/** Connects to the server and checks that it is the home's; throws pg's errors as they are. */
export async function connectToMaintenance(home: Home, port: number): Promise<pg.Client> {
  const client = new Client({
    connectionString: await addressOf(home, port, maintenanceDatabase),
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
export async function enterPresence(client: pg.Client): Promise<void> {
  await client.query('select pg_advisory_lock_shared($1)', [presenceLock]);
  const { rowCount } = await client.query('select from pg_database where datname = $1', [
    workDatabase,
  ]);
  if (rowCount === 0) await client.query(`create database ${workDatabase} owner ${user}`);
}

/** True when no command is present. Under the home's lock, so that none comes in meanwhile. */
export async function nobodyIsPresent(home: Home, port: number): Promise<boolean> {
  const client = await connectToMaintenance(home, port);
  try {
    const { rows } = await client.query<{ alone: boolean }>(
      'select pg_try_advisory_lock($1) as alone',
      [presenceLock],
    );
    return rows[0]?.alone === true;
  } finally {
    await client.end().catch(() => undefined);
  }
}

function passwordError(home: Home, cause: unknown): Error {
  return settingsError(
    'embedded_password_wrong',
    `The embedded Postgres refuses the password in ${passwordPath(home)}: the file was changed. Put it back, or remove it and stop the server (pg_ctl stop, or end its process): the next start makes a new one.`,
    cause,
  );
}

// Shutting down, crashed, starting up: somebody stopped the server by other means than ours.
const passingCodes = new Set(['57P01', '57P02', '57P03', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE']);

/** Whether trying again may do, after looking again for the server. */
export function isPassing(error: unknown): boolean {
  const code = codeOf(error);
  // pg gives no code to a connection that was cut while it was being made.
  return !isOutlastError(error) && (code === undefined || passingCodes.has(code));
}
