// The cluster on disk: made once by initdb, and checked before every start.
import { randomBytes } from 'node:crypto';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fatal, settingsError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { runAs } from './account.ts';
import type { Binaries } from './binaries.ts';
import { noRoom, telling } from './failures.ts';
import { exists, readIfThere, syncFolder, writeWhole, type Home } from './home.ts';

export const user = 'outlast';
export const workDatabase = 'outlast';

/** The address of a database of the home's server. It carries the password: never log it (P10). */
export function addressOf(password: string, port: number, database: string): string {
  return `postgres://${user}:${password}@127.0.0.1:${port}/${database}`;
}

/**
 * Makes the cluster if there is none; checks the one that is there. Call it under the home's lock.
 * Throws settings `embedded_data_dir_version`, fatal `embedded_disk_full` or `embedded_start_failed`.
 */
export async function ensureCluster(home: Home, binaries: Binaries, log: Log): Promise<void> {
  const draft = `${home.pgdata}.draft`;
  // Half-made by a start that was killed.
  await rm(draft, { recursive: true, force: true });
  if (await exists(home.pgdata)) return checkVersion(home, binaries);
  const password = await ensurePassword(home);
  try {
    // P3: into a draft, then one rename: a killed initdb leaves what looks whole and is not.
    const options = ['-U', user, '-A', 'scram-sha-256', `--pwfile=${password.path}`];
    const locale = [
      '-E',
      'UTF8',
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
    ];
    await runAs(
      home.account,
      binaries.initdb,
      ['-D', draft, ...options, ...locale, '--no-instructions'],
      home.folder,
    );
    await rename(draft, home.pgdata);
    await syncFolder(home.folder);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    const { stderr } = error as { stderr?: string };
    throw (
      noRoom(error, home.folder) ??
      fatal(
        'embedded_start_failed',
        `The embedded Postgres could not be made: ${telling(stderr ?? '')}`,
        error,
      )
    );
  }
  log.info({ dataDir: home.folder }, 'A new embedded Postgres was made');
}

async function checkVersion(home: Home, binaries: Binaries): Promise<void> {
  const found = (await readIfThere(join(home.pgdata, 'PG_VERSION')))?.trim();
  if (found === binaries.major) return;
  if (found === undefined) {
    throw settingsError(
      'embedded_data_dir_foreign',
      `${home.pgdata} is no PostgreSQL data folder: its PG_VERSION is missing. Put it back from a copy, or choose another OUTLAST_DATA_DIR.`,
    );
  }
  throw settingsError(
    'embedded_data_dir_version',
    `The archive in ${home.folder} was written by PostgreSQL ${found}, and this release carries ${binaries.major}. Export it with the release that wrote it (outlast export), then import it into a new OUTLAST_DATA_DIR (outlast import); nothing was changed.`,
  );
}

/** The password and its file (0600), made once. */
export async function ensurePassword(home: Home): Promise<{ path: string; password: string }> {
  const path = join(home.folder, 'password');
  const found = (await readIfThere(path))?.trim();
  if (found !== undefined && found !== '') return { path, password: found };
  const password = randomBytes(18).toString('base64url');
  await writeWhole(home, path, `${password}\n`);
  return { path, password };
}
