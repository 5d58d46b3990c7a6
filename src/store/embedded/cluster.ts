// The cluster on disk: made once by initdb, and checked before every start.
import { randomUUID } from 'node:crypto';
import { readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fatal, settingsError } from '../../errors.ts';
import { exists, syncFolder, textOfFile } from '../../files.ts';
import type { Log } from '../../log.ts';
import { runAs } from './account.ts';
import type { Binaries } from './binaries.ts';
import { noRoom, telling } from './failures.ts';
import type { Home } from './home.ts';
import { makePassword, passwordPath, user } from './password.ts';

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
  await makePassword(home);
  // A name of its own: the initdb of a killed command may still be writing into its draft.
  const draft = join(home.folder, `${draftPrefix}${randomUUID()}`);
  try {
    // P3: into a draft, then one rename: a killed initdb leaves what looks whole and is not.
    await runAs(home.account, binaries.initdb, ['-D', draft, ...initOptions(home)], home.folder);
    await rename(draft, home.pgdata);
    await syncFolder(home.folder);
  } catch (error) {
    await dropDrafts(home);
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
