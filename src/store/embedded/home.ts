// The folder an embedded Postgres lives in: claimed by a marker, never shared with strangers' files.
//   outlast-embedded  the marker   pgdata/  the cluster   server.log   binaries-<version>/  a copy, where needed
//   and, while they are made, pgdata.draft-<uuid>/ and binaries-<version>.<uuid>/
// It makes and checks the folder, and says what goes wrong with it; it starts nothing.
import { createHash } from 'node:crypto';
import { readdir, readlink, realpath, rm, rmdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fatal, isOutlastError, settingsError, type OutlastError } from '../../errors.ts';
import { exists, ifThere, makeFolder, tryFolder } from '../../files.ts';
import type { Log } from '../../log.ts';
import { accountFor, giveTo, reasonOf, refuseNameless, runAs, type Account } from './programs.ts';

export type Home = {
  /** Where everything really is, without links on the way. */
  folder: string;
  pgdata: string;
  account: Account;
  log: Log;
};

const marker = 'outlast-embedded';
// What an empty folder may hold: a mounted volume's and a desktop's litter, git's place holders, and what an archive
// in another database left there (OUTLAST_CERTIFICATES_DIR).
const litter = new Set(['lost+found', '.DS_Store', '.gitignore', '.gitkeep', 'certificates']);

/**
 * Finds or makes the home for a data folder. Where root's server could not reach it (it lies under a 0700 one), it
 * becomes a link to one under `elsewhere`. Throws as `inWords`, and settings `embedded_data_dir_foreign`, `…_unreachable`.
 */
export function openHome(dataDir: string, elsewhere: string, log: Log): Promise<Home> {
  return inWords(dataDir, async (asked) => {
    const account = await accountFor(asked);
    await refuseForeign(asked);
    // Only the last folder is closed to others: the server's user must be able to pass through the rest.
    await makeFolder(dirname(asked));
    if (!(await canReach(account, asked))) await linkTo(elsewhere, asked, account, log);
    await makeFolder(asked, 0o700);
    const folder = await realpath(asked);
    await giveTo(account, folder);
    await writeFile(join(folder, marker), '', { flag: 'a' });
    return { folder, pgdata: join(folder, 'pgdata'), account, log };
  });
}

/** Whether a data folder holds an archive; nothing is made. */
export const holdsArchive = async (dataDir: string): Promise<boolean> =>
  (await exists(join(dataDir, marker))) && exists(join(dataDir, 'pgdata'));

/** Whether one could be made in a data folder that holds none; nothing stays there. Throws as `openHome` does. */
export function checkDataDir(dataDir: string): Promise<void> {
  return inWords(dataDir, async (asked) => {
    refuseNameless(await accountFor(asked));
    await refuseForeign(asked);
    await tryFolder(asked);
  });
}

/** Whether the account gets to a folder: tried, not computed, so that ACLs and mounts count as well. */
async function canReach(account: Account, folder: string): Promise<boolean> {
  if (account === null) return true;
  const above = dirname((await ifThere(realpath(folder))) ?? folder);
  const cd = runAs(account, '/bin/sh', ['-c', 'cd "$1"', 'sh', above]);
  return cd.then(() => true).catch(() => false);
}

/** Makes the folder asked for a link to one elsewhere, unless it is full or the account does not get there either. */
async function linkTo(elsewhere: string, asked: string, account: Account, log: Log): Promise<void> {
  await makeFolder(elsewhere, 0o755);
  // The name follows from the folder asked for, so that two first starts at once agree on it.
  const folder = join(elsewhere, createHash('sha256').update(asked).digest('hex').slice(0, 16));
  if (await canReach(account, folder)) {
    // A full folder stays, and so does a rival's link.
    await rmdir(asked).catch(() => undefined);
    await symlink(folder, asked).catch(() => undefined);
    if ((await readlink(asked).catch(() => null)) === folder) {
      const told =
        'The data of the embedded Postgres is kept elsewhere: its user cannot reach the folder asked for';
      log.info({ askedFor: asked, dataDir: folder }, told);
      return makeFolder(folder, 0o700);
    }
  }
  throw settingsError(
    'embedded_data_dir_unreachable',
    `Outlast runs as root and its Postgres as user ${account?.name}, who cannot reach ${asked}. Open the folders above it for passing through (chmod o+x), or set OUTLAST_DATA_DIR or DATABASE_URL.`,
  );
}

async function refuseForeign(folder: string): Promise<void> {
  const names = (await ifThere(readdir(folder))) ?? [];
  const strange = names.filter((name) => !litter.has(name));
  // The marker is looked for last: a rival may claim the folder and fill it at any moment.
  if (strange.length === 0 || (await exists(join(folder, marker)))) return;
  throw settingsError(
    'embedded_data_dir_foreign',
    `${folder} holds files that are not Outlast’s (${strange[0]}). Set OUTLAST_DATA_DIR to a new or empty folder, or DATABASE_URL to a running server; nothing was changed.`,
  );
}

/** Removes what killed commands and other releases left, but for the copy `used`. Only while no server runs. */
export async function dropLeftovers(folder: string, used: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!/^(pgdata\.draft|binaries)-/.test(name) || name === used) continue;
    // One that is still being written resists; the next start tries again.
    await rm(join(folder, name), { recursive: true, force: true }).catch(() => undefined);
  }
}

/**
 * What the disk or a program says of a folder becomes a sentence for people. Throws settings `embedded_data_dir_version`,
 * `embedded_data_dir_forbidden`, or fatal `embedded_disk_full`, `embedded_start_failed`.
 */
export function inWords<T>(dataDir: string, work: (folder: string) => Promise<T>): Promise<T> {
  const folder = resolve(dataDir);
  return work(folder).catch((error: Error) => {
    throw isOutlastError(error) ? error : inWordsOf(folder, error);
  });
}

function inWordsOf(folder: string, error: Error): OutlastError {
  const { message } = error;
  // A full disk, also one that took half a page, a full quota, a limit on file sizes: to a person the same thing.
  if (/no space left on device|free disk space|quota exceeded|file too large/i.test(message)) {
    return fatal(
      'embedded_disk_full',
      `There is no room for the embedded Postgres in ${folder}. Free some disk space (a new archive takes about 50 MB, an old one what it holds), or set OUTLAST_DATA_DIR to another disk.`,
    );
  }
  const [, written, ours] = /by PostgreSQL version (\d+).* this version (\d+)/.exec(message) ?? [];
  if (ours !== undefined) {
    return settingsError(
      'embedded_data_dir_version',
      `The archive in ${folder} was written by PostgreSQL ${written}, and this release carries ${ours}. Export it with the release that wrote it (outlast export), then import it into a new OUTLAST_DATA_DIR (outlast import); nothing that it holds was changed.`,
    );
  }
  // What the cluster has lost is damage. Nobody may be sent to a new folder for it.
  const isLost = message.startsWith('ENOENT') && message.includes(join(folder, 'pgdata', '/'));
  if (!isLost && /^(EACCES|EPERM|EROFS|ENOENT|ENOTDIR|EEXIST):/.test(message)) {
    return settingsError(
      'embedded_data_dir_forbidden',
      `The data folder ${folder} cannot be made or used (${message}): it is, or lies under, a file, belongs to another user or is read-only, or a link leads nowhere. Run Outlast as its owner, or set OUTLAST_DATA_DIR to a folder of your own.`,
    );
  }
  const told = `The embedded Postgres in ${folder} could not be made or started: ${reasonOf(error)}`;
  return fatal('embedded_start_failed', told);
}
