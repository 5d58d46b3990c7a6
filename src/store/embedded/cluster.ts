// The cluster on disk: made once by initdb, checked and given its settings before every start. One user may log in, whose
// password lies in a file (0600) of the cluster, so that it is moved and lost with it alone.
import { randomBytes, randomUUID } from 'node:crypto';
import { readdir, rename, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { fatal, settingsError } from '../../errors.ts';
import { exists, syncFolder, textOfFile } from '../../files.ts';
import type { Log } from '../../log.ts';
import { noRoom, type Home } from './home.ts';
import { printedBy, refuseNameless, runAs, writeFor, type Programs } from './programs.ts';

const user = 'outlast';
const database = 'outlast';

/**
 * Makes the cluster if there is none; checks the one that is there. Call it under the home's lock.
 * Throws settings `embedded_data_dir_version`, `embedded_no_account`, fatal `embedded_disk_full` or `embedded_start_failed`.
 */
export async function ensureCluster(home: Home, programs: Programs, log: Log): Promise<void> {
  const { folder, account, pgdata } = home;
  await dropDrafts(home);
  if (await exists(pgdata)) return checkVersion(home, programs);
  refuseNameless(account);
  // A name of its own: the initdb of a killed command may still be writing into its draft.
  const draft = join(folder, `${draftPrefix}${randomUUID()}`);
  const first = `${draft}.password`;
  const password = `${randomBytes(18).toString('base64url')}\n`;
  const access = ['-U', user, '-A', 'scram-sha-256', `--pwfile=${first}`];
  // Sorts alike on every system, whatever its locales; ready for any text.
  const locale = ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
  const options = ['-D', draft, ...access, ...locale, '-E', 'UTF8', '--no-instructions'];
  const alone = ['--single', '-D', draft, '-c', 'exit_on_error=on', 'postgres'];
  const work = `create database ${database} owner ${user}\n`;
  try {
    await writeFor(account, first, password);
    // P3: into a draft, then one rename: a killed initdb leaves what looks whole and is not.
    await runAs(account, programs.initdb, options, folder);
    await runAs(account, programs.postgres, alone, folder, work);
    await rename(first, passwordPath(draft));
    await rename(draft, pgdata);
    await syncFolder(folder);
  } catch (error) {
    await dropDrafts(home);
    const told = `The embedded Postgres could not be made: ${printedBy(error)}`;
    throw noRoom(error, folder) ?? fatal('embedded_start_failed', told, error);
  }
  log.info({ dataDir: folder }, 'A new embedded Postgres was made');
}

const draftPrefix = 'pgdata.draft-';

async function dropDrafts(home: Home): Promise<void> {
  for (const name of await readdir(home.folder)) {
    if (!name.startsWith(draftPrefix)) continue;
    // One that is still being written resists; the next start tries again.
    await rm(join(home.folder, name), { recursive: true, force: true }).catch(() => undefined);
  }
}

async function checkVersion(home: Home, { major }: Programs): Promise<void> {
  const found = (await textOfFile(join(home.pgdata, 'PG_VERSION')))?.trim();
  // Of a folder without one the server itself says what is wrong.
  if (found === undefined || found === major) return;
  throw settingsError(
    'embedded_data_dir_version',
    `The archive in ${home.folder} was written by PostgreSQL ${found}, and this release carries ${major}. Export it with the release that wrote it (outlast export), then import it into a new OUTLAST_DATA_DIR (outlast import); nothing was changed.`,
  );
}

const settingsPath = ({ pgdata }: Home): string => join(pgdata, 'postgresql.conf');

/** Null: it has never been started. */
export async function lastPort(home: Home): Promise<number | null> {
  const found = /^port = '(\d+)'/m.exec((await textOfFile(settingsPath(home))) ?? '');
  return found === null ? null : Number(found[1]);
}

/** Writes the settings for the next start. Users' own belong into `alter system`, which stands above these. */
export async function writeSettings(
  home: Home,
  port: number,
  extra: Record<string, string>,
): Promise<void> {
  const settings: Record<string, string> = {
    port: String(port),
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    // P1, P3: what was committed is on the disk.
    fsync: 'on',
    full_page_writes: 'on',
    synchronous_commit: 'on',
    ...(await sharedMemory()),
    wal_compression: 'on',
    jit: 'off',
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_checkpoints: 'off',
    log_line_prefix: '%m [%p] ',
    ...extra,
  };
  const lines = Object.entries(settings).map(
    ([name, value]) => `${name} = '${value.replaceAll("'", "''")}'\n`,
  );
  const head = '# Written by Outlast at every start. For settings of your own: alter system.\n';
  await writeFor(home.account, settingsPath(home), head + lines.join(''));
}

/** Parallel queries take shared memory from /dev/shm, which is 64 MB in containers; files do as well there. */
async function sharedMemory(): Promise<Record<string, string>> {
  if (process.platform !== 'linux') return {};
  const { bsize, blocks } = await statfs('/dev/shm').catch(() => ({ bsize: 0, blocks: 0 }));
  const isLarge = bsize * blocks >= 512 * 1024 * 1024;
  return { dynamic_shared_memory_type: isLarge ? 'posix' : 'mmap' };
}

const passwordPath = (pgdata: string): string => join(pgdata, 'outlast.password');

/** The address of the work database on a port. It carries the password: never log it (P10). */
export async function addressOf({ pgdata }: Home): Promise<(port: number) => string> {
  const password = (await textOfFile(passwordPath(pgdata)))?.trim();
  if (password !== undefined) {
    return (port) => `postgres://${user}:${password}@127.0.0.1:${port}/${database}`;
  }
  throw settingsError(
    'embedded_password_missing',
    `The file ${passwordPath(pgdata)} is missing, which holds the password of the embedded Postgres: put it back from a copy.`,
  );
}
