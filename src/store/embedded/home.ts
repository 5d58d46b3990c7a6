// The folder an embedded Postgres lives in: claimed by a marker, never shared with strangers' files.
//   outlast-embedded.json  the marker: an id, and where the data is if it could not be here
//   pgdata/  the cluster   password  port  log/  start.log   binaries-<version>/ a copy, where needed
// It makes and checks the folder; it starts nothing.
import { createHash, randomUUID } from 'node:crypto';
import { link, readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { codeOf, isOutlastError, settingsError } from '../../errors.ts';
import { exists, makeFolder, textOfFile, tryFolder } from '../../files.ts';
import type { Log } from '../../log.ts';
import { accountFor, canEnter, giveTo, type Account } from './account.ts';
import { noRoom } from './failures.ts';

export type Home = {
  /** Random, made with the folder; names its lock. */
  id: string;
  /** Where everything really is. */
  folder: string;
  pgdata: string;
  account: Account;
};

type Marker = { madeBy: 'outlast'; id: string; dataAt?: string };

const markerName = 'outlast-embedded.json';
// What an empty folder may hold: a mounted volume's and a desktop's litter, git's place holders, and what an archive
// in another database left there (OUTLAST_CERTIFICATES_DIR).
const litter = new Set(['lost+found', '.DS_Store', '.gitignore', '.gitkeep', 'certificates']);

/**
 * Finds or makes the home for a data folder. Where root's server could not reach the folder (it lies
 * under a 0700 one) the home is under `elsewhere`, and the marker says so.
 * Throws settings `embedded_data_dir_…` or fatal `embedded_disk_full`.
 */
export async function openHome(dataDir: string, elsewhere: string, log: Log): Promise<Home> {
  const asked = resolve(dataDir);
  try {
    const account = await accountFor(asked);
    const found = await readMarker(asked);
    if (found === null) await refuseForeign(asked);
    // Only the last folder is closed to others: the server's user must be able to pass through the rest.
    await makeFolder(dirname(asked));
    await makeFolder(asked, 0o700);
    const reachable = await canEnter(account, dirname(asked));
    if (found?.dataAt === undefined && reachable) {
      await giveTo(account, asked);
      return homeOf(asked, await claim(asked, account), account);
    }
    return await homeElsewhere(asked, found, elsewhere, log);
  } catch (error) {
    throw isOutlastError(error) ? error : folderError(error, asked);
  }
}

/** Whether a data folder holds an archive; nothing is made. Throws settings `embedded_data_dir_…`. */
export async function holdsArchive(dataDir: string): Promise<boolean> {
  const asked = resolve(dataDir);
  try {
    const found = await readMarker(asked);
    return found !== null && (await exists(join(found.dataAt ?? asked, 'pgdata')));
  } catch (error) {
    throw isOutlastError(error) ? error : folderError(error, asked);
  }
}

/**
 * Whether one could be made in a data folder that holds none; nothing stays there. Throws as `openHome` does, and settings
 * `embedded_no_account`.
 */
export async function checkDataDir(dataDir: string): Promise<void> {
  const asked = resolve(dataDir);
  try {
    await accountFor(asked);
    await refuseForeign(asked);
    await tryFolder(asked);
  } catch (error) {
    throw isOutlastError(error) ? error : folderError(error, asked);
  }
}

async function homeElsewhere(
  asked: string,
  found: Marker | null,
  elsewhere: string,
  log: Log,
): Promise<Home> {
  // The name follows from the folder asked for, so that two first starts at once agree on it.
  const name = createHash('sha256').update(asked).digest('hex').slice(0, 16);
  const folder = found?.dataAt ?? join(elsewhere, name);
  await makeFolder(elsewhere, 0o755);
  const account = await accountFor(folder);
  if (
    (found !== null && found.dataAt === undefined) ||
    !(await canEnter(account, dirname(folder)))
  ) {
    throw settingsError(
      'embedded_data_dir_unreachable',
      `Outlast runs as root and its Postgres as user ${account?.name}, who cannot reach ${asked}. Open the folders above it for passing through (chmod o+x), or set OUTLAST_DATA_DIR or DATABASE_URL.`,
    );
  }
  if (found === null) await refuseForeign(folder);
  await makeFolder(folder, 0o700);
  await giveTo(account, folder);
  const marker = await claim(folder, account);
  await claim(asked, null, { ...marker, dataAt: folder });
  log.info(
    { askedFor: asked, dataDir: folder },
    'The data of the embedded Postgres is kept elsewhere: its user cannot reach the folder asked for',
  );
  return homeOf(folder, marker, account);
}

function homeOf(folder: string, marker: Marker, account: Account): Home {
  return { id: marker.id, folder, pgdata: join(folder, 'pgdata'), account };
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
async function claim(
  folder: string,
  account: Account,
  marker: Marker = { madeBy: 'outlast', id: randomUUID() },
): Promise<Marker> {
  const found = await readMarker(folder);
  if (found !== null) return found;
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
  const names = await readdir(folder).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  });
  const strange = names.filter((name) => !litter.has(name) && !name.startsWith(markerName));
  // A rival may have claimed the folder and filled it since we looked for the marker.
  if (strange.length === 0 || (await readMarker(folder)) !== null) return;
  const what = strange.includes('PG_VERSION')
    ? 'is the data folder of another PostgreSQL'
    : 'holds files that are not Outlast’s';
  throw settingsError(
    'embedded_data_dir_foreign',
    `${folder} ${what}. Set OUTLAST_DATA_DIR to a new or empty folder, or DATABASE_URL to a running server; nothing was changed.`,
  );
}

function folderError(error: unknown, folder: string): unknown {
  const code = codeOf(error);
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
    return settingsError(
      'embedded_data_dir_forbidden',
      `The data folder ${folder} cannot be used: it belongs to another user or is read-only. Run Outlast as its owner, or set OUTLAST_DATA_DIR to a folder of your own.`,
      error,
    );
  }
  if (code === 'ENOENT') {
    return settingsError(
      'embedded_data_dir_forbidden',
      `The data folder ${folder} cannot be made: the system takes no folders there. Set OUTLAST_DATA_DIR to a folder of your own.`,
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
