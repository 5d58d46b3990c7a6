// The cluster and its server, all of it under the home's lock only. The cluster is made once by initdb, and checked and
// given its settings before every start. One user may log in, whose password lies in a file (0600) of the cluster, so that
// it is moved and lost with it alone. The server is found by postmaster.pid, which is never believed without a look at the
// process itself: its pid may have gone to somebody else since.
import { execFile, spawn, type StdioOptions } from 'node:child_process';
import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { settingsError } from '../../errors.ts';
import { exists, ifThere, syncFolder, textOfFile } from '../../files.ts';
import type { Log } from '../../log.ts';
import type { Home } from './home.ts';
import { waitFor } from './lock.ts';
import {
  copyPrefix,
  giveTo,
  preparePrograms,
  refuseNameless,
  runAs,
  spawnOptions,
  type Programs,
} from './programs.ts';

const exec = promisify(execFile);

/** Of the one user, and of the work database. */
const ours = 'outlast';
const draftPrefix = 'pgdata.draft-';

/** Makes the cluster if there is none; checks the one that is there. Throws settings `embedded_data_dir_version`. */
async function ensureCluster(home: Home, { bin, major }: Programs, log: Log): Promise<void> {
  const { folder, account, pgdata } = home;
  if (await exists(pgdata)) {
    const found = (await textOfFile(join(pgdata, 'PG_VERSION')))?.trim();
    // Of a folder without one the server itself says what is wrong.
    if (found === undefined || found === major) return;
    throw settingsError(
      'embedded_data_dir_version',
      `The archive in ${folder} was written by PostgreSQL ${found}, and this release carries ${major}. Export it with the release that wrote it (outlast export), then import it into a new OUTLAST_DATA_DIR (outlast import); nothing was changed.`,
    );
  }
  refuseNameless(account);
  // P3: into a draft, then one rename: a killed initdb leaves what looks whole and is not. The draft has a name of its
  // own: the initdb of a killed command may still be writing into its one.
  const draft = join(folder, `${draftPrefix}${randomUUID()}`);
  const first = `${draft}.password`;
  const access = ['-U', ours, '-A', 'scram-sha-256', `--pwfile=${first}`];
  // Sorts alike on every system, whatever its locales; ready for any text.
  const locale = ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
  const options = ['-D', draft, ...access, ...locale, '-E', 'UTF8', '--no-instructions'];
  const alone = ['--single', '-D', draft, '-c', 'exit_on_error=on', 'postgres'];
  const password = `${randomBytes(18).toString('base64url')}\n`;
  await writeFile(first, password, { mode: 0o600, flush: true });
  await giveTo(account, first);
  await runAs(account, join(bin, 'initdb'), options, folder);
  await runAs(account, join(bin, 'postgres'), alone, folder, `create database ${ours}\n`);
  await rename(first, passwordPath(draft));
  await rename(draft, pgdata);
  await syncFolder(folder);
  log.info({ dataDir: folder }, 'A new embedded Postgres was made');
}

const passwordPath = (pgdata: string): string => join(pgdata, 'outlast.password');

/** The address of the work database. It carries the password: never log it (P10). */
export async function addressOf({ pgdata }: Home, port: number): Promise<string> {
  const password = (await readFile(passwordPath(pgdata), 'utf8')).trim();
  return `postgres://${ours}:${password}@127.0.0.1:${port}/${ours}`;
}

export type Running = { pid: number; port: number };

/** The lines of postmaster.pid (Postgres' miscadmin.h); null where there is no file or not yet a whole one. */
async function readPidFile({ pgdata }: Home) {
  const path = join(pgdata, 'postmaster.pid');
  // Looked at first, so that the text is no older than it.
  const writtenMs = (await ifThere(stat(path)))?.mtimeMs;
  const lines = (await textOfFile(path))?.split('\n') ?? [];
  const pid = Number(lines[0]);
  if (!Number.isInteger(pid) || pid <= 0) return null;
  return { pid, port: Number(lines[3] ?? 0), status: lines[7]?.trim() ?? '', writtenMs };
}

/**
 * The server that runs on this cluster, once it takes connections; null when none does.
 * One that is starting, recovering or stopping is waited for.
 */
export async function findRunning(home: Home, log: Log): Promise<Running | null> {
  const { running } = await waitFor(home.folder, log, async () => {
    const found = await readPidFile(home);
    if (found === null || !(await isPostmasterOf(home, found.pid))) return { running: null };
    // Told to wait for its sessions, as when a machine shuts down, it may never end.
    if (found.status === 'stopping') shutDown(found.pid);
    return found.status === 'ready' ? { running: found } : null;
  });
  return running;
}

/** Whether a process is the Postgres on this very cluster. */
async function isPostmasterOf({ pgdata }: Home, pid: number): Promise<boolean> {
  const isWindows = process.platform === 'win32';
  const [file, ...args] = isWindows
    ? ['tasklist', '/FI', `PID eq ${pid}`, '/FO', 'CSV', '/NH']
    : ['/bin/ps', '-ww', '-o', 'args=', '-p', String(pid)];
  const looking =
    process.platform === 'linux'
      ? readFile(`/proc/${pid}/cmdline`, 'utf8')
      : exec(file, args).then(({ stdout }) => stdout);
  const line = (await looking.catch(() => '')).replaceAll('\0', ' ');
  return isWindows ? /postgres/i.test(line) : line.includes(`postgres -D ${pgdata}`);
}

/**
 * Starts the server where none runs, its cluster made if there is none, and returns when it takes connections.
 * `settings` stand above ours, as in postgresql.conf. Throws what the server said where it ended instead.
 */
export async function startServer(
  home: Home,
  packaged: string,
  settings: Record<string, string>,
  log: Log,
): Promise<Running> {
  let bin = '';
  try {
    const programs = await preparePrograms(home, packaged, log);
    ({ bin } = programs);
    await ensureCluster(home, programs, log);
  } finally {
    await dropLeftovers(home.folder, bin);
  }
  if ((await readPidFile(home)) !== null) log.warn('The embedded Postgres was interrupted');
  // The one used last, so that a BI tool's settings hold; at first one below those that systems hand out by themselves.
  const [, last] = /^port = '(\d+)'/m.exec(await readFile(settingsPath(home), 'utf8')) ?? [];
  const was = Number(last ?? randomInt(15_000, 30_000));
  let port = was;
  // Ends: after twenty attempts.
  for (let attempt = 1; ; attempt++) {
    await writeSettings(home, port, settings);
    const started = await launch(home, bin, log);
    if (!(started instanceof Error)) return started;
    if (attempt === 20) throw started;
    // The reason is the system's, and on Windows in other words.
    if (/could not bind/.test(started.message)) {
      port++;
      const told =
        'Another program has the port of the embedded Postgres: start again what uses it';
      log.warn({ was, port }, told);
    } else if (/shared memory block .* still in use|lock file .* exists/.test(started.message)) {
      // After a SIGKILL of the postmaster its children need a moment to notice.
      await sleep(500);
    } else throw started;
  }
}

/** What killed commands and other releases left, but for what runs from `used`. Only while no server runs. */
async function dropLeftovers(folder: string, used: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const isOurs = name.startsWith(draftPrefix) || name.startsWith(copyPrefix);
    if (!isOurs || used.startsWith(`${path}${sep}`)) continue;
    // One that is still being written resists; the next start tries again.
    await rm(path, { recursive: true, force: true }).catch(() => undefined);
  }
}

/** An error: what the server said where it ended instead. */
async function launch(home: Home, bin: string, log: Log): Promise<Running | Error> {
  const { pgdata, folder, account } = home;
  const options = spawnOptions(account, folder);
  const stale = await readPidFile(home);
  if (stale !== null && !(await isPostmasterOf(home, stale.pid))) {
    // The pid of a killed server may have gone to another process of the same user, and Postgres would
    // refuse to start. It disregards the pid in this variable (miscinit.c, CreateLockFile) and still checks
    // the shared memory for survivors; taking the file away would give up that check.
    options.env['PG_GRANDPARENT_PID'] = String(stale.pid);
  }
  // Elsewhere pg_ctl would not do: it hands the paths to a shell, between double quotes, and sets the variable above. On
  // Windows it gives up an administrator's rights, which the server demands; it ends when the server is ready.
  const [program, ...args] =
    process.platform === 'win32'
      ? ['pg_ctl', 'start', '-w', '-t', '600', '-D', pgdata]
      : ['postgres', '-D', pgdata];
  const path = join(folder, 'server.log');
  if (((await ifThere(stat(path)))?.size ?? 0) > 10_000_000) await rename(path, `${path}.old`);
  const output = await open(path, 'a+', 0o600);
  try {
    await giveTo(account, path);
    const { size } = await output.stat();
    const stdio: StdioOptions = ['ignore', output.fd, output.fd];
    const child = spawn(join(bin, program), args, { ...options, stdio });
    await once(child, 'spawn');
    child.unref();
    // Ends: with the child, or its pid file appears within milliseconds.
    while (child.exitCode === null && child.signalCode === null) {
      const found = await readPidFile(home);
      // In a container that begins anew the killed server may have had the same pid, and its file says `ready`.
      const isNew = found !== null && found.writtenMs !== stale?.writtenMs;
      if (isNew && found.pid === child.pid) break;
      await sleep(20);
    }
    // Ours; or, where the child has ended, one that a killed command had launched and that came up first.
    const running = await findRunning(home, log);
    return running ?? new Error((await readFile(path)).subarray(size).toString());
  } finally {
    await output.close();
  }
}

/** Sessions are ended, what is committed is on the disk. Windows knows no signals: there it ends, and recovers later. */
function shutDown(pid: number): void {
  try {
    process.kill(pid, 'SIGINT');
  } catch {
    // It ended a moment ago.
  }
}

export async function stopServer(home: Home, { pid }: Running, log: Log): Promise<void> {
  shutDown(pid);
  await waitFor(home.folder, log, async () => ((await isPostmasterOf(home, pid)) ? null : true));
  log.debug({ dataDir: home.folder }, 'The embedded Postgres was stopped');
}

const settingsPath = ({ pgdata }: Home): string => join(pgdata, 'postgresql.conf');

/**
 * Writes the settings for the next start, in initdb's file, which is the account's own. Users' own belong into
 * `alter system`, which stands above these. What makes commits durable (P1, P3) is Postgres' default.
 */
async function writeSettings(
  home: Home,
  port: number,
  extra: Record<string, string>,
): Promise<void> {
  // A socket's path may have 107 bytes at most; and parallel queries would take shared memory from /dev/shm, which is
  // 64 MB in containers.
  const conf = `# Written by Outlast at every start. For settings of your own: alter system.
port = '${port}'
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
${process.platform === 'linux' ? "dynamic_shared_memory_type = 'sysv'" : ''}
wal_compression = 'on'
timezone = 'UTC'
log_timezone = 'UTC'
log_checkpoints = 'off'
`;
  const lines = Object.entries(extra).map(
    ([name, value]) => `${name} = '${value.replaceAll("'", "''")}'\n`,
  );
  await writeFile(settingsPath(home), conf + lines.join(''));
}
