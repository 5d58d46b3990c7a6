// The cluster on disk: made once by initdb, given its settings and port before every start.
import { createHash, randomBytes } from 'node:crypto';
import { chmod, readFile, rename, rm, statfs, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fatal, settingsError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { giveTo, runAs } from './account.ts';
import type { Binaries } from './binaries.ts';
import { noRoom, telling } from './failures.ts';
import { exists, readIfThere, syncFolder, type Home } from './home.ts';

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
    const locale = ['-E', 'UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
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
      fatal('embedded_start_failed', `The embedded Postgres could not be made: ${telling(stderr ?? '')}`, error)
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
    max_connections: '100',
    password_encryption: 'scram-sha-256',
    // P1, P3: what was committed is on the disk.
    fsync: 'on',
    full_page_writes: 'on',
    synchronous_commit: 'on',
    shared_buffers: '128MB',
    dynamic_shared_memory_type: await sharedMemoryType(),
    max_wal_size: '1GB',
    wal_compression: 'on',
    jit: 'off',
    timezone: 'UTC',
    log_timezone: 'UTC',
    lc_messages: 'C',
    // A file a weekday, each emptied when its day comes round again: the log does not grow for ever.
    logging_collector: 'on',
    log_directory: '../log',
    log_filename: 'server-%a.log',
    log_rotation_age: '1d',
    log_rotation_size: '0',
    log_truncate_on_rotation: 'on',
    log_checkpoints: 'off',
    log_line_prefix: '%m [%p] ',
    ...extra,
  };
  const lines = Object.entries(settings).map(
    ([name, value]) => `${name} = '${value.replaceAll("'", "''")}'`,
  );
  const text = ['# Written by Outlast at every start. For settings of your own: alter system.', ...lines, ''];
  await writeWhole(home, join(home.pgdata, 'postgresql.conf'), text.join('\n'));
}

/** Parallel queries take shared memory from /dev/shm, which is 64 MB in containers; files do as well there. */
async function sharedMemoryType(): Promise<string> {
  if (process.platform === 'win32') return 'windows';
  if (process.platform !== 'linux') return 'posix';
  const { bsize, blocks } = await statfs('/dev/shm').catch(() => ({ bsize: 0, blocks: 0 }));
  return bsize * blocks >= 512 * 1024 * 1024 ? 'posix' : 'mmap';
}

/**
 * The port for the next start: the one used last while it is free, so that a BI tool's settings hold;
 * else one that follows from the home's id, below the ports that systems hand out by themselves.
 */
export async function choosePort(home: Home, log: Log): Promise<number> {
  const path = join(home.folder, 'port');
  const last = Number(await readIfThere(path));
  if (last > 0 && (await isFree(last))) return last;
  const first = 15_000 + (createHash('sha256').update(home.id).digest().readUInt16BE(0) % 15_000);
  // Ends: 200 tries.
  for (let port = first; port < first + 200; port++) {
    if (!(await isFree(port))) continue;
    await writeWhole(home, path, `${port}\n`);
    if (last > 0) log.warn({ was: last, port }, 'The embedded Postgres has a new port: another program took its own');
    return port;
  }
  throw fatal('embedded_start_failed', `No port from ${first} to ${first + 199} is free for the embedded Postgres.`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen({ port, host: '127.0.0.1', exclusive: true }, () => probe.close(() => resolve(true)));
  });
}

/** The whole file or the old one, never half; only for its owner's eyes. */
async function writeWhole(home: Home, path: string, text: string): Promise<void> {
  if ((await readIfThere(path)) === text) return;
  const draft = `${path}.draft`;
  await writeFile(draft, text, { mode: 0o600, flush: true });
  await chmod(draft, 0o600);
  await giveTo(home.account, draft);
  await rename(draft, path);
}

/** The end of the newest log file, for telling why a start failed. */
export async function lastLogLines(home: Home): Promise<string> {
  return readFile(join(home.folder, 'start.log'), 'utf8').catch(() => '');
}
