// The folder an embedded Postgres lives in: claimed by a marker, never shared with strangers' files.
//   outlast-embedded.json  the marker, with a random id
//   pgdata/  the cluster   password   log/  start.log   binaries-<version>/ a copy, where needed
// It makes and checks the folder; it starts nothing.
import { createHash, randomUUID } from 'node:crypto';
import { link, readdir, realpath, rm, rmdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { codeOf, fatal, isOutlastError, settingsError, type OutlastError } from '../../errors.ts';
import { exists, ifThere, makeFolder, textOfFile, tryFolder } from '../../files.ts';
import type { Log } from '../../log.ts';
import { accountFor, canEnter, giveTo, type Account } from './binaries.ts';

export type Home = {
  /** Random, made with the folder; names its lock. */
  id: string;
  /** Where everything really is, without links on the way, as is `pgdata`. */
  folder: string;
  pgdata: string;
  account: Account;
};

type Marker = { madeBy: 'outlast'; id: string };

const markerName = 'outlast-embedded.json';
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
    const { id } = await claim(folder, account);
    const pgdata = join(folder, 'pgdata');
    return { id, folder, pgdata: (await ifThere(realpath(pgdata))) ?? pgdata, account };
  });
}

/** Whether a data folder holds an archive; nothing is made. Throws settings `embedded_data_dir_…`. */
export function holdsArchive(dataDir: string): Promise<boolean> {
  return inWords(
    dataDir,
    async (asked) => (await readMarker(asked)) !== null && exists(join(asked, 'pgdata')),
  );
}

/** Whether one could be made in a data folder that holds none; nothing stays there. Throws as `openHome` does. */
export function checkDataDir(dataDir: string): Promise<void> {
  return inWords(dataDir, async (asked) => {
    await accountFor(asked);
    await refuseForeign(asked);
    await tryFolder(asked);
  });
}

/** What the disk says about the folder becomes a sentence for people. */
async function inWords<T>(dataDir: string, work: (asked: string) => Promise<T>): Promise<T> {
  const asked = resolve(dataDir);
  try {
    return await work(asked);
  } catch (error) {
    throw isOutlastError(error) ? error : folderError(error, asked);
  }
}

/** Makes the folder asked for a link to one that the server's user can reach. */
async function keepElsewhere(
  asked: string,
  account: Account,
  elsewhere: string,
  log: Log,
): Promise<void> {
  // The name follows from the folder asked for, so that two first starts at once agree on it.
  const folder = join(elsewhere, createHash('sha256').update(asked).digest('hex').slice(0, 16));
  await makeFolder(elsewhere, 0o755);
  if (await canEnter(account, elsewhere)) {
    await refuseForeign(folder);
    await makeFolder(folder, 0o700);
    // An empty folder makes room for the link; a full one stays, and so does a rival's link.
    await rmdir(asked).catch(() => undefined);
    await symlink(folder, asked).catch((error: unknown) => {
      if (codeOf(error) !== 'EEXIST') throw error;
    });
    if ((await realpath(asked)) === (await realpath(folder))) {
      log.info(
        { askedFor: asked, dataDir: folder },
        'The data of the embedded Postgres is kept elsewhere: its user cannot reach the folder asked for',
      );
      return;
    }
    await rmdir(folder).catch(() => undefined);
  }
  throw settingsError(
    'embedded_data_dir_unreachable',
    `Outlast runs as root and its Postgres as user ${account?.name}, who cannot reach ${asked}. Open the folders above it for passing through (chmod o+x), or set OUTLAST_DATA_DIR or DATABASE_URL.`,
  );
}

async function readMarker(folder: string): Promise<Marker | null> {
  const text = await textOfFile(join(folder, markerName));
  if (text === null) return null;
  try {
    const marker = JSON.parse(text) as Marker;
    if (marker.madeBy === 'outlast' && typeof marker.id === 'string') return marker;
  } catch {
    // Said below.
  }
  throw settingsError(
    'embedded_data_dir_foreign',
    `The file ${join(folder, markerName)} is damaged or not Outlast's. Put it back from a copy, or choose another OUTLAST_DATA_DIR.`,
  );
}

/** Returns the marker, made now if there is none. Of two at once, both get the first one's. */
async function claim(folder: string, account: Account): Promise<Marker> {
  const found = await readMarker(folder);
  if (found !== null) return found;
  const marker: Marker = { madeBy: 'outlast', id: randomUUID() };
  // Whole or not at all: written beside, then linked, which fails if a rival was first.
  const draft = join(folder, `${markerName}.${randomUUID()}`);
  try {
    await writeFile(draft, `${JSON.stringify(marker, null, 2)}\n`, { mode: 0o600, flush: true });
    await giveTo(account, draft);
    await link(draft, join(folder, markerName));
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  } finally {
    await rm(draft, { force: true });
  }
  return (await readMarker(folder)) ?? marker;
}

async function refuseForeign(folder: string): Promise<void> {
  const names = (await ifThere(readdir(folder))) ?? [];
  const strange = names.filter((name) => !litter.has(name) && !name.startsWith(markerName));
  // The marker is looked for last: a rival may claim the folder and fill it at any moment.
  if ((await readMarker(folder)) !== null || strange.length === 0) return;
  const what = strange.includes('PG_VERSION')
    ? 'is the data folder of another PostgreSQL'
    : 'holds files that are not Outlast’s';
  throw settingsError(
    'embedded_data_dir_foreign',
    `${folder} ${what}. Set OUTLAST_DATA_DIR to a new or empty folder, or DATABASE_URL to a running server; nothing was changed.`,
  );
}

function folderError(error: unknown, folder: string): unknown {
  const code = codeOf(error) ?? '';
  if (['EACCES', 'EPERM', 'EROFS'].includes(code)) {
    return settingsError(
      'embedded_data_dir_forbidden',
      `The data folder ${folder} cannot be used: it belongs to another user or is read-only. Run Outlast as its owner, or set OUTLAST_DATA_DIR to a folder of your own.`,
      error,
    );
  }
  if (code === 'ENOENT') {
    return settingsError(
      'embedded_data_dir_forbidden',
      `The data folder ${folder} cannot be made: the system takes no folders there, or it is a link to one that is gone. Set OUTLAST_DATA_DIR to a folder of your own.`,
      error,
    );
  }
  if (code === 'ENOTDIR' || code === 'EEXIST') {
    return settingsError(
      'embedded_data_dir_foreign',
      `${folder} is, or lies under, a file. Set OUTLAST_DATA_DIR to a folder.`,
      error,
    );
  }
  return noRoom(error, folder) ?? error;
}

// A full disk, a full quota, a limit on file sizes: to a person the same thing.
const noRoomCodes = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);
const noRoomText = /No space left on device|Disk quota exceeded|File too large/i;

/** The error to throw if `error`, or what a program printed, says that there is no room; else null. */
export function noRoom(error: unknown, folder: string): OutlastError | null {
  const { message, stderr } = error as { message?: unknown; stderr?: unknown };
  const text = `${String(message)} ${String(stderr)}`;
  if (!noRoomCodes.has(codeOf(error) ?? '') && !noRoomText.test(text)) return null;
  return fatal(
    'embedded_disk_full',
    `There is no room for the embedded Postgres in ${folder}. Free some disk space (a new archive takes about 50 MB, an old one what it holds), or set OUTLAST_DATA_DIR to another disk.`,
    // What a program printed is pages long; an error of the system is a line.
    text.includes('\n') ? undefined : error,
  );
}
