// The cluster on disk: made once by initdb, and checked before every start. One user may log in, whose password lies in a
// file (0600) of the home. A lost file locks nobody out of the only copy of their data: the next start makes a new one.
import { randomBytes, randomUUID } from 'node:crypto';
import { readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fatal, settingsError } from '../../errors.ts';
import { exists, syncFolder, textOfFile } from '../../files.ts';
import type { Log } from '../../log.ts';
import { printedBy, runAs, writeFor, type Binaries } from './binaries.ts';
import { noRoom, type Home } from './home.ts';

export const user = 'outlast';
export const workDatabase = 'outlast';

/**
 * Makes the cluster if there is none; checks the one that is there. Call it under the home's lock.
 * Throws settings `embedded_data_dir_version` or `embedded_path_unusable`, fatal `embedded_disk_full` or
 * `embedded_start_failed`.
 */
export async function ensureCluster(home: Home, binaries: Binaries, log: Log): Promise<void> {
  await dropDrafts(home);
  if (await exists(home.pgdata)) return checkVersion(home, binaries);
  if (process.platform !== 'win32' && /["$`\\]/.test(binaries.initdb)) {
    // initdb starts postgres by a shell line of its own, with the path between double quotes.
    throw settingsError(
      'embedded_path_unusable',
      `The embedded Postgres cannot be made by programs in ${dirname(binaries.initdb)}: the path holds a sign that shells take for their own (" $ \` or \\). Install Outlast in another folder, or set DATABASE_URL.`,
    );
  }
  if ((await findPassword(home)) === null) await writePassword(home, newPassword());
  // A name of its own: the initdb of a killed command may still be writing into its draft.
  const draft = join(home.folder, `${draftPrefix}${randomUUID()}`);
  try {
    // P3: into a draft, then one rename: a killed initdb leaves what looks whole and is not.
    await runAs(home.account, binaries.initdb, ['-D', draft, ...initOptions(home)], home.folder);
    await rename(draft, home.pgdata);
    await syncFolder(home.folder);
  } catch (error) {
    await dropDrafts(home);
    throw (
      noRoom(error, home.folder) ??
      fatal(
        'embedded_start_failed',
        `The embedded Postgres could not be made: ${printedBy(error)}`,
        error,
      )
    );
  }
  log.info({ dataDir: home.folder }, 'A new embedded Postgres was made');
}

function initOptions(home: Home): string[] {
  const access = ['-U', user, '-A', 'scram-sha-256', `--pwfile=${passwordPath(home)}`];
  // Sorts alike on every system, whatever its locales; ready for any text.
  const locale = ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
  return [...access, ...locale, '-E', 'UTF8', '--no-instructions'];
}

const draftPrefix = 'pgdata.draft-';

async function dropDrafts(home: Home): Promise<void> {
  for (const name of await readdir(home.folder)) {
    if (!name.startsWith(draftPrefix)) continue;
    // One that is still being written resists; the next start tries again.
    await rm(join(home.folder, name), { recursive: true, force: true }).catch(() => undefined);
  }
}

async function checkVersion(home: Home, binaries: Binaries): Promise<void> {
  const found = (await textOfFile(join(home.pgdata, 'PG_VERSION')))?.trim();
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

/** The address of a database of the home's server. It carries the password: never log it (P10). */
export async function addressOf(home: Home, port: number, database: string): Promise<string> {
  const password = await findPassword(home);
  if (password === null) {
    throw settingsError(
      'embedded_password_wrong',
      `The file ${passwordPath(home)} is missing while the embedded Postgres runs. Put it back, or stop the server (pg_ctl stop, or end its process): the next start makes a new one.`,
    );
  }
  return `postgres://${user}:${password}@127.0.0.1:${port}/${database}`;
}

/** Makes a lost file anew and tells the cluster. Only while no server runs, under the home's lock. */
export async function restorePassword(home: Home, binaries: Binaries, log: Log): Promise<void> {
  if ((await findPassword(home)) !== null) return;
  const password = newPassword();
  // P10: by standard input, never in a command line. The file comes last: killed before, we do it again.
  await runAs(
    home.account,
    binaries.postgres,
    ['--single', '-D', home.pgdata, 'postgres'],
    home.folder,
    `alter role ${user} password '${password}'\n`,
  );
  await writePassword(home, password);
  log.warn({ file: passwordPath(home) }, 'The password file was missing: a new password was made');
}

export const passwordPath = (home: Home): string => join(home.folder, 'password');

const newPassword = (): string => randomBytes(18).toString('base64url');

const writePassword = (home: Home, password: string): Promise<void> =>
  writeFor(home.account, passwordPath(home), `${password}\n`);

async function findPassword(home: Home): Promise<string | null> {
  const text = (await textOfFile(passwordPath(home)))?.trim() ?? '';
  return text === '' ? null : text;
}
