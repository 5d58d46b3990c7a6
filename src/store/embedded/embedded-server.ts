// The cluster and its server, all of it under the home's lock only. The cluster is made once by initdb, and checked and
// given its settings before every start. One user may log in, whose password lies in a file (0600) of the cluster, so that
// it is moved and lost with it alone. The server is found by postmaster.pid, which is never believed without a look at the
// process itself: its pid may have gone to somebody else since.
import { execFile, spawn } from 'node:child_process';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { codeOf, fatal, settingsError, transient } from '../../errors.ts';
import { exists, ifThere, syncFolder, textOfFile } from '../../files.ts';
import type { Log } from '../../log.ts';
import type { Home } from './home.ts';
import { waitFor } from './lock.ts';
import {
  dropOldCopies,
  giveTo,
  reasonOf,
  refuseNameless,
  runAs,
  serverEnvironment,
  type Programs,
} from './programs.ts';

const exec = promisify(execFile);

const user = 'outlast';
const database = 'outlast';

/** Makes the cluster if there is none; checks the one that is there. Throws settings `embedded_data_dir_version`. */
export async function ensureCluster(home: Home, programs: Programs, log: Log): Promise<void> {
  const { folder, account, pgdata } = home;
  await dropDrafts(folder);
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
    await writeFile(first, password, { mode: 0o600, flush: true });
    await giveTo(account, first);
    // P3: into a draft, then one rename: a killed initdb leaves what looks whole and is not.
    await runAs(account, programs.initdb, options, folder);
    await runAs(account, programs.postgres, alone, folder, work);
    await rename(first, passwordPath(draft));
    await rename(draft, pgdata);
    await syncFolder(folder);
  } catch (error) {
    await dropDrafts(folder);
    throw error;
  }
  log.info({ dataDir: folder }, 'A new embedded Postgres was made');
}

const draftPrefix = 'pgdata.draft-';

async function dropDrafts(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.startsWith(draftPrefix)) continue;
    // One that is still being written resists; the next start tries again.
    await rm(join(folder, name), { recursive: true, force: true }).catch(() => undefined);
  }
}

async function checkVersion({ folder, pgdata }: Home, { major }: Programs): Promise<void> {
  const found = (await textOfFile(join(pgdata, 'PG_VERSION')))?.trim();
  // Of a folder without one the server itself says what is wrong.
  if (found === undefined || found === major) return;
  throw settingsError(
    'embedded_data_dir_version',
    `The archive in ${folder} was written by PostgreSQL ${found}, and this release carries ${major}. Export it with the release that wrote it (outlast export), then import it into a new OUTLAST_DATA_DIR (outlast import); nothing was changed.`,
  );
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

export type Running = { pid: number; port: number };

/** The lines of postmaster.pid (Postgres' miscadmin.h); null where there is no file or not yet a whole one. */
async function readPidFile({ pgdata }: Home): Promise<(Running & { isReady: boolean }) | null> {
  const lines = (await textOfFile(join(pgdata, 'postmaster.pid')))?.split('\n') ?? [];
  const pid = Number(lines[0]);
  if (!Number.isInteger(pid) || pid <= 0) return null;
  return { pid, port: Number(lines[3] ?? 0), isReady: lines[7]?.trim() === 'ready' };
}

/**
 * The server that runs on this cluster, once it takes connections; null when none does.
 * One that is starting, recovering or stopping is waited for. Throws transient `embedded_start_slow` after 10 minutes.
 */
export async function findRunning(home: Home, log: Log): Promise<Running | null> {
  const look = async (): Promise<{ running: Running | null } | null> => {
    const found = await readPidFile(home);
    if (found === null || !(await isPostmasterOf(home, found.pid))) return { running: null };
    return found.isReady ? { running: found } : null;
  };
  const slow = transient(
    'embedded_start_slow',
    `The embedded Postgres in ${home.folder} has been starting or stopping for 10 minutes. Look into its server.log, and try again.`,
  );
  // Recovery replays at most a few GB of WAL: minutes on a poor disk.
  const { running } = await waitFor(look, 10, slow, () =>
    log.info('The embedded Postgres takes its time to start, as after a crash'),
  );
  return running;
}

/** Whether a process is a Postgres on this very cluster. */
async function isPostmasterOf({ pgdata }: Home, pid: number): Promise<boolean> {
  if (process.platform === 'linux') {
    const [program = '', ...args] = commandLine(pid).split('\0');
    return basename(program).startsWith('postgres') && args.includes(pgdata);
  }
  const isWindows = process.platform === 'win32';
  const [file, args] = isWindows
    ? ['tasklist', ['/FI', `PID eq ${pid}`, '/FO', 'CSV', '/NH']]
    : ['/bin/ps', ['-ww', '-o', 'args=', '-p', String(pid)]];
  const { stdout } = await exec(file, args).catch(() => ({ stdout: '' }));
  return /postgres\b/i.test(stdout) && (isWindows || stdout.trimEnd().endsWith(`-D ${pgdata}`));
}

export function isAlive(pid: number): boolean {
  // Of one that has ended and that nobody waits for, as in a container, there is a pid and nothing else.
  if (process.platform === 'linux') return commandLine(pid) !== '';
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

const maxAttempts = 8;

/**
 * Starts the server where none runs, and returns when it takes connections. `settings` stand above ours, as in
 * postgresql.conf. Throws what the server said where it ended instead.
 */
export async function startServer(
  home: Home,
  programs: Programs,
  settings: Record<string, string>,
  log: Log,
): Promise<Running> {
  await dropOldCopies(home.folder, programs);
  // Ends: maxAttempts.
  for (let attempt = 1; ; attempt++) {
    await writeSettings(home, await choosePort(home, log), settings);
    const started = await launch(home, programs, log);
    if (!(started instanceof Error)) return started;
    // After a SIGKILL of the postmaster its children need a moment to notice; and ports come and go.
    const isPassing =
      /Address already in use|shared memory block .* still in use|lock file .* exists/.test(
        started.message,
      );
    if (!isPassing || attempt === maxAttempts) throw started;
    await sleep(50 * 2 ** attempt);
  }
}

/** Of the server's log, before it is begun anew at a start; the one before is kept. */
const maxLogBytes = 10_000_000;

/** An error: what the server said where it ended instead. */
async function launch(home: Home, programs: Programs, log: Log): Promise<Running | Error> {
  const { pgdata, folder, account } = home;
  const env = serverEnvironment();
  const stale = await readPidFile(home);
  // The pid of a killed server may have gone to another process of the same user, and Postgres would
  // refuse to start. It disregards the pid in this variable (miscinit.c, CreateLockFile) and still checks
  // the shared memory for survivors; taking the file away would give up that check.
  if (stale !== null && !(await isPostmasterOf(home, stale.pid))) {
    env['PG_GRANDPARENT_PID'] = String(stale.pid);
  }
  // Elsewhere pg_ctl would not do: it hands the paths to a shell, between double quotes. On Windows it also gives up an
  // administrator's rights, which the server demands; it ends when the server is ready.
  const [program, ...args] =
    process.platform === 'win32'
      ? [programs.pgCtl, 'start', '-w', '-t', '600', '-D', pgdata]
      : [programs.postgres, '-D', pgdata];
  const path = join(folder, 'server.log');
  if (((await ifThere(stat(path)))?.size ?? 0) > maxLogBytes) await rename(path, `${path}.old`);
  const output = await open(path, 'a+', 0o600);
  try {
    await giveTo(account, path);
    const { size } = await output.stat();
    const child = spawn(program, args, {
      ...account,
      cwd: folder,
      env,
      // A session of its own: Ctrl-C and a closed terminal reach us, and never the server.
      detached: true,
      windowsHide: true,
      stdio: ['ignore', output.fd, output.fd],
    });
    await once(child, 'spawn');
    child.unref();
    // Ends: with the child, or its pid file appears within milliseconds.
    while (child.exitCode === null && child.signalCode === null) {
      if ((await readPidFile(home))?.pid === child.pid) break;
      await sleep(20);
    }
    // Ours; or, where the child has ended, one that a killed command had launched and that came up first.
    const running = await findRunning(home, log);
    return running ?? new Error((await readFile(path)).subarray(size).toString());
  } finally {
    await output.close();
  }
}

/** Stops the server: sessions are ended, what is committed is on the disk. False when it did not stop. */
export async function stopServer(home: Home, programs: Programs, log: Log): Promise<boolean> {
  const stop = ['stop', '-D', home.pgdata, '-m', 'fast', '-w', '-t', '600'];
  await runAs(home.account, programs.pgCtl, stop, home.folder).catch((error: unknown) => {
    log.debug({ reason: reasonOf(error) }, 'pg_ctl did not stop the embedded Postgres');
  });
  // It may also have been stopped by somebody else a moment ago.
  const isStopped = (await findRunning(home, log)) === null;
  if (isStopped) log.debug({ dataDir: home.folder }, 'The embedded Postgres was stopped');
  return isStopped;
}

const settingsPath = ({ pgdata }: Home): string => join(pgdata, 'postgresql.conf');

/**
 * Writes the settings for the next start, in initdb's file, which is the account's own. Users' own belong into
 * `alter system`, which stands above these.
 */
async function writeSettings(
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
    // Parallel queries would take shared memory from /dev/shm, which is 64 MB in containers.
    ...(process.platform === 'linux' ? { dynamic_shared_memory_type: 'sysv' } : {}),
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
  await writeFile(settingsPath(home), head + lines.join(''));
}

/**
 * The port for the next start: the one used last while it is free, so that a BI tool's settings hold;
 * else one that follows from the folder, below the ports that systems hand out by themselves.
 */
async function choosePort(home: Home, log: Log): Promise<number> {
  const [, used] = /^port = '(\d+)'/m.exec((await textOfFile(settingsPath(home))) ?? '') ?? [];
  const last = used === undefined ? null : Number(used);
  const first =
    15_000 + (createHash('sha256').update(home.folder).digest().readUInt16BE() % 15_000);
  const others = Array.from({ length: 200 }, (_, i) => first + i);
  for (const port of [last ?? first, ...others]) {
    if (!(await isFree(port))) continue;
    if (last !== null && port !== last) {
      const told = 'The embedded Postgres has a new port: another program took its own';
      log.warn({ was: last, port }, told);
    }
    return port;
  }
  const told = `No port from ${first} to ${first + 199} is free for the embedded Postgres.`;
  throw fatal('embedded_start_failed', told);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen({ port, host: '127.0.0.1', exclusive: true }, () =>
      probe.close(() => resolve(true)),
    );
  });
}
