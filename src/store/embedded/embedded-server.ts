// The process of the server: found by postmaster.pid, which is never believed without a look at the process itself (its
// pid may have gone to somebody else since), started and stopped. All of it under the home's lock only.
import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { open, readFile, rename, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { codeOf, fatal, isOutlastError, transient } from '../../errors.ts';
import { ifThere, textOfFile } from '../../files.ts';
import type { Log } from '../../log.ts';
import { lastPort, writeSettings } from './cluster.ts';
import { noRoom, type Home } from './home.ts';
import { waitFor } from './lock.ts';
import {
  dropOldCopies,
  giveTo,
  printedBy,
  runAs,
  serverEnvironment,
  telling,
  type Programs,
} from './programs.ts';

const exec = promisify(execFile);

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
  if (!isAlive(pid)) return false;
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
/** Of the server's log, before it is begun anew at a start; the one before is kept. */
const maxLogBytes = 10_000_000;

/**
 * Starts the server where none runs, and returns when it takes connections. `settings` stand above ours, as in
 * postgresql.conf. Throws fatal `embedded_start_failed` or `embedded_disk_full`.
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
    try {
      await writeSettings(home, await choosePort(home, log), settings);
      return await launch(home, programs, log);
    } catch (error) {
      const { message } = error as Error;
      // After a SIGKILL of the postmaster its children need a moment to notice; and ports come and go.
      const isPassing =
        /Address already in use|shared memory block .* still in use|lock file .* exists/.test(
          message,
        );
      if (!isPassing || attempt === maxAttempts) {
        if (isOutlastError(error)) throw error;
        const told = `The embedded Postgres in ${home.folder} did not start: ${telling(message)}`;
        throw noRoom({ message }, home.folder) ?? fatal('embedded_start_failed', told);
      }
      await sleep(50 * 2 ** attempt);
    }
  }
}

/** Throws what the server said where it ended instead. */
async function launch(home: Home, programs: Programs, log: Log): Promise<Running> {
  const { pgdata, folder, account } = home;
  const env = serverEnvironment();
  const stale = await readPidFile(home);
  // The pid of a killed server may have gone to another process of the same user, and Postgres would
  // refuse to start. It disregards the pid in this variable (miscinit.c, CreateLockFile) and still checks
  // the shared memory for survivors; taking the file away would give up that check.
  if (stale !== null && isAlive(stale.pid) && !(await isPostmasterOf(home, stale.pid))) {
    env['PG_GRANDPARENT_PID'] = String(stale.pid);
  }
  // On Windows pg_ctl also gives up an administrator's rights, which the server demands. It ends when the server is ready.
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
    // Ends: with the child, or its pid file appears within milliseconds; recovery may take minutes (see findRunning).
    while (child.exitCode === null && child.signalCode === null) {
      await sleep(20);
      if ((await readPidFile(home))?.pid !== child.pid) continue;
      const running = await findRunning(home, log);
      if (running !== null) return running;
    }
    // On Windows, or a server that a killed command had launched came up first.
    const running = await findRunning(home, log);
    if (running !== null) return running;
    throw new Error((await readFile(path)).subarray(size).toString());
  } finally {
    await output.close();
  }
}

/** Stops the server: sessions are ended, what is committed is on the disk. False when it did not stop. */
export async function stopServer(home: Home, programs: Programs, log: Log): Promise<boolean> {
  const stop = ['stop', '-D', home.pgdata, '-m', 'fast', '-w', '-t', '600'];
  await runAs(home.account, programs.pgCtl, stop, home.folder).catch((error: unknown) => {
    log.debug({ reason: printedBy(error) }, 'pg_ctl did not stop the embedded Postgres');
  });
  // It may also have been stopped by somebody else a moment ago.
  const isStopped = (await findRunning(home, log)) === null;
  if (isStopped) log.debug({ dataDir: home.folder }, 'The embedded Postgres was stopped');
  return isStopped;
}

/**
 * The port for the next start: the one used last while it is free, so that a BI tool's settings hold;
 * else one that follows from the folder, below the ports that systems hand out by themselves.
 */
async function choosePort(home: Home, log: Log): Promise<number> {
  const last = await lastPort(home);
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
