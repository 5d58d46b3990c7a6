// The cluster and its server, all of it under the home's lock only. The cluster is made once by initdb, and given its
// settings before every start. One user may log in, whose password lies in a file (0600) of the cluster, so that
// it is moved and lost with it alone. The server is found by postmaster.pid, which is never believed without a look at the
// process itself: its pid may have gone to somebody else since.
import { spawn } from 'node:child_process';
import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { open, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { exists, ifThere, syncFolder, textOfFile } from '../../files.ts';
import { dropLeftovers, type Home } from './home.ts';
import { waitFor } from './lock.ts';
import { giveTo, preparePrograms, refuseNameless, runAs, spawnOptions } from './programs.ts';

/** Of the one user, and of the work database. */
const ours = 'outlast';
const passwordFile = 'outlast.password';

/** Makes the cluster if there is none. */
async function ensureCluster({ folder, account, pgdata, log }: Home, bin: string): Promise<void> {
  if (await exists(pgdata)) return;
  refuseNameless(account);
  // P3: into a draft, then one rename: a killed initdb leaves what looks whole and is not. The draft has a name of its
  // own: the initdb of a killed command may still be writing into its one.
  const draft = join(folder, `pgdata.draft-${randomUUID()}`);
  const first = `${draft}.password`;
  const access = ['-U', ours, '-A', 'scram-sha-256', `--pwfile=${first}`];
  // Sorts alike on every system, whatever its locales; ready for any text.
  const locale = ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
  const options = ['-D', draft, ...access, ...locale, '-E', 'UTF8', '--no-instructions'];
  const alone = ['--single', '-D', draft, '-c', 'exit_on_error=on', 'postgres'];
  const password = `${randomBytes(18).toString('base64url')}\n`;
  await writeFile(first, password, { mode: 0o600, flush: true });
  await giveTo(account, first);
  await runAs(account, join(bin, 'initdb'), options);
  await runAs(account, join(bin, 'postgres'), alone, `create database ${ours}\n`);
  await rename(first, join(draft, passwordFile));
  await rename(draft, pgdata);
  await syncFolder(folder);
  log.info({ dataDir: folder }, 'A new embedded Postgres was made');
}

export async function addressOf({ pgdata }: Home, port: number): Promise<string> {
  const password = (await readFile(join(pgdata, passwordFile), 'utf8')).trim();
  return `postgres://${ours}:${password}@127.0.0.1:${port}/${ours}`;
}

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
 * The port of the server that runs on this cluster, once it takes connections; null when none does. One that is starting,
 * recovering or stopping is waited for. `isWanted` false: one that runs is told to end, and waited for.
 */
export function findRunning(home: Home, isWanted = true): Promise<number | null> {
  return waitFor(home, async () => {
    const found = await readPidFile(home);
    if (found === null || !(await isPostmasterOf(home, found.pid))) return null;
    // Told to wait for its sessions, as when a machine shuts down, it may never end.
    if (!isWanted || found.status === 'stopping') {
      try {
        // Sessions are ended, what is committed is on the disk. Windows knows no signals: it ends, and recovers later.
        process.kill(found.pid, 'SIGINT');
      } catch {
        // It ended a moment ago.
      }
    }
    return isWanted && found.status === 'ready' ? found.port : undefined;
  });
}

export async function stopServer(home: Home): Promise<void> {
  await findRunning(home, false);
  home.log.debug({ dataDir: home.folder }, 'The embedded Postgres was stopped');
}

/** Whether a process is the Postgres on this very cluster. */
async function isPostmasterOf({ pgdata }: Home, pid: number): Promise<boolean> {
  const { platform } = process;
  const looking =
    platform === 'linux'
      ? readFile(`/proc/${pid}/cmdline`, 'utf8')
      : platform === 'win32'
        ? runAs(null, 'tasklist', ['/FI', `PID eq ${pid}`, '/FO', 'CSV', '/NH'])
        : runAs(null, '/bin/ps', ['-ww', '-o', 'args=', '-p', String(pid)]);
  const line = (await looking.catch(() => '')).replaceAll('\0', ' ');
  return line.includes(platform === 'win32' ? 'postgres' : `postgres -D ${pgdata}`);
}

const portTaken = 'Another program has the port of the embedded Postgres: start again what uses it';

/**
 * Starts the server where none runs, its cluster made if there is none, and gives its port when it takes connections.
 * Throws what the server said where it ended instead.
 */
export async function startServer(home: Home, packaged: string): Promise<number> {
  const { folder, pgdata, log } = home;
  let bin = '';
  try {
    bin = await preparePrograms(home, packaged);
    await ensureCluster(home, bin);
    // Where it cannot be read nobody could use the server: none is left running.
    await readFile(join(pgdata, passwordFile));
  } finally {
    await dropLeftovers(folder, basename(dirname(bin)));
  }
  if ((await readPidFile(home)) !== null) log.warn('The embedded Postgres was interrupted');
  // The one used last, so that a BI tool's settings hold; at first one below those that systems hand out by themselves.
  const conf = join(pgdata, 'postgresql.conf');
  const [, last] = /^port = '(\d+)'/m.exec(await readFile(conf, 'utf8')) ?? [];
  const was = Number(last ?? randomInt(15_000, 30_000));
  let port = was;
  // Ends: after twenty attempts.
  for (let attempt = 1; ; attempt++) {
    await writeFile(conf, settingsWith(port));
    const started = await launch(home, bin);
    if (typeof started === 'number') return started;
    // The reason is the system's, and on Windows in other words.
    const isTaken = /could not bind/.test(started);
    const isEnding = /shared memory block .* still in use|lock file .* exists/.test(started);
    if (attempt === 20 || !(isTaken || isEnding)) throw new Error(started);
    // After a SIGKILL of the postmaster its children need a moment to notice.
    if (isTaken) log.warn({ was, port: ++port }, portTaken);
    else await sleep(500);
  }
}

/** A text: what the server said where it ended instead. */
async function launch(home: Home, bin: string): Promise<number | string> {
  const { pgdata, folder, account } = home;
  const options = spawnOptions(account);
  const stale = await readPidFile(home);
  if (stale !== null && !(await isPostmasterOf(home, stale.pid))) {
    // The pid of a killed server may have gone to another process of the same user, and Postgres would
    // refuse to start. It disregards the pid in this variable (miscinit.c, CreateLockFile) and still checks
    // the shared memory for survivors; taking the file away would give up that check.
    options.env['PG_GRANDPARENT_PID'] = String(stale.pid);
  }
  // Elsewhere pg_ctl would not do: it hands the paths to a shell, between double quotes, and sets the variable above. On
  // Windows it gives up an administrator's rights, which the server demands; it ends when the server is ready.
  const [program = '', ...args] =
    process.platform === 'win32' ? ['pg_ctl', 'start', '-w', '-t', '600'] : ['postgres'];
  const path = join(folder, 'server.log');
  if (((await ifThere(stat(path)))?.size ?? 0) > 10_000_000) await rename(path, `${path}.old`);
  const output = await open(path, 'a+', 0o600);
  try {
    await giveTo(account, path);
    const { size } = await output.stat();
    const child = spawn(join(bin, program), [...args, '-D', pgdata], {
      ...options,
      stdio: ['ignore', output.fd, output.fd],
    });
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
    return (await findRunning(home)) ?? (await readFile(path)).subarray(size).toString();
  } finally {
    await output.close();
  }
}

/**
 * Takes the place of initdb's file. Users' own settings belong into `alter system`, which stands above these. What makes
 * commits durable (P1, P3) is Postgres' default. A socket's path may have 107 bytes at most; and parallel queries would
 * take shared memory from /dev/shm, which is 64 MB in containers.
 */
const settingsWith = (port: number): string =>
  `# Written by Outlast at every start. For settings of your own: alter system.
port = '${port}'
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
${process.platform === 'linux' ? "dynamic_shared_memory_type = 'sysv'" : ''}
wal_compression = 'on'
timezone = 'UTC'
log_timezone = 'UTC'
log_checkpoints = 'off'
`;
