// The folder an embedded Postgres lives in: claimed by a marker, never shared with strangers' files.
//   outlast-embedded  the marker   pgdata/  the cluster   server.log   binaries-<version>/  a copy, where needed
// It makes and checks the folder; it starts nothing.
import { createHash } from 'node:crypto';
import { readdir, readlink, realpath, rmdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { codeOf, fatal, isOutlastError, settingsError, type OutlastError } from '../../errors.ts';
import { exists, ifThere, makeFolder, tryFolder } from '../../files.ts';
import type { Log } from '../../log.ts';
import { accountFor, giveTo, refuseNameless, runAs, type Account } from './programs.ts';

export type Home = {
  /** Where everything really is, without links on the way. */
  folder: string;
  pgdata: string;
  account: Account;
};

// That it is there is all that it says.
const marker = 'outlast-embedded';
// What an empty folder may hold: a mounted volume's and a desktop's litter, git's place holders, and what an archive
// in another database left there (OUTLAST_CERTIFICATES_DIR).
const litter = new Set(['lost+found', '.DS_Store', '.gitignore', '.gitkeep', 'certificates']);

/**
 * Finds or makes the home for a data folder. Where root's server could not reach it (it lies under a 0700 one), it
 * becomes a link to a folder under `elsewhere`.
 * Throws settings `embedded_data_dir_…`, `embedded_no_account`, or fatal `embedded_disk_full`.
 */
export function openHome(dataDir: string, elsewhere: string, log: Log): Promise<Home> {
  return inWords(dataDir, async (asked) => {
    const account = await accountFor(asked);
    await refuseForeign(asked);
    // Only the last folder is closed to others: the server's user must be able to pass through the rest.
    await makeFolder(dirname(asked));
    if (!(await canEnter(account, dirname((await ifThere(realpath(asked))) ?? asked)))) {
      await keepElsewhere(asked, account, elsewhere, log);
    }
    await makeFolder(asked, 0o700);
    const folder = await realpath(asked);
    await giveTo(account, folder);
    await writeFile(join(folder, marker), '', { flag: 'a' });
    return { folder, pgdata: join(folder, 'pgdata'), account };
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

/** Whether the account gets into a folder: tried, not computed, so that ACLs and mounts count as well. */
async function canEnter(account: Account, folder: string): Promise<boolean> {
  if (account === null) return true;
  return runAs(account, '/bin/sh', ['-c', 'cd "$1"', 'sh', folder], '/').then(
    () => true,
    () => false,
  );
}

/** Makes the folder asked for a link to one that the server's user can reach. */
async function keepElsewhere(
  asked: string,
  account: Account,
  elsewhere: string,
  log: Log,
): Promise<void> {
  await makeFolder(elsewhere, 0o755);
  if (await canEnter(account, elsewhere)) {
    // The name follows from the folder asked for, so that two first starts at once agree on it.
    const folder = join(elsewhere, createHash('sha256').update(asked).digest('hex').slice(0, 16));
    // An empty folder makes room for the link; a full one stays, and so does a rival's link.
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

/** What the disk says about the folder becomes a sentence for people. */
async function inWords<T>(dataDir: string, work: (asked: string) => Promise<T>): Promise<T> {
  const asked = resolve(dataDir);
  try {
    return await work(asked);
  } catch (error) {
    if (isOutlastError(error)) throw error;
    const code = codeOf(error) ?? '';
    if (['EACCES', 'EPERM', 'EROFS', 'ENOENT', 'ENOTDIR', 'EEXIST'].includes(code)) {
      throw settingsError(
        'embedded_data_dir_forbidden',
        `The data folder ${asked} cannot be made or used (${code}): it is, or lies under, a file, belongs to another user or is read-only, or a link leads nowhere. Run Outlast as its owner, or set OUTLAST_DATA_DIR to a folder of your own.`,
        error,
      );
    }
    throw noRoom(error, asked) ?? error;
  }
}

/** The error to throw if `error`, or what a program printed, says that there is no room; else null. */
export function noRoom(error: unknown, folder: string): OutlastError | null {
  // A full disk, a full quota, a limit on file sizes: to a person the same thing. Node says the first as the programs do.
  const isFull = /no space left on device|quota exceeded|file too large/i.test(String(error));
  if (!isFull) return null;
  return fatal(
    'embedded_disk_full',
    `There is no room for the embedded Postgres in ${folder}. Free some disk space (a new archive takes about 50 MB, an old one what it holds), or set OUTLAST_DATA_DIR to another disk.`,
  );
}
