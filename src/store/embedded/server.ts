// Starting and stopping the server of a home. Both are called under the home's lock only.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { open, readdir, readFile, statfs } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fatal } from '../../errors.ts';
import { textOfFile } from '../../files.ts';
import type { Log } from '../../log.ts';
import {
  giveTo,
  printedBy,
  runAs,
  serverEnvironment,
  telling,
  writeFor,
  type Binaries,
} from './binaries.ts';
import { noRoom, type Home } from './home.ts';
import {
  findRunning,
  isAlive,
  isPostmasterOf,
  readPidFile,
  type Postmaster,
} from './postmaster.ts';

const maxAttempts = 8;

/**
 * Starts the server and returns when it takes connections. `settings` stand above ours, as in postgresql.conf. Throws
 * fatal `embedded_start_failed` or `embedded_disk_full`.
 */
export async function startServer(
  home: Home,
  binaries: Binaries,
  settings: Record<string, string>,
  log: Log,
): Promise<Postmaster> {
  // Ends: maxAttempts.
  for (let attempt = 1; ; attempt++) {
    await writeSettings(home, await choosePort(home, log), settings);
    const began = new Date();
    // A server that a killed command had launched may come up first.
    const started = (await attemptStart(home, binaries, log)) ?? (await findRunning(home, log));
    if (started !== null) return started;
    const output = await outputSince(home, began);
    // After a SIGKILL of the postmaster its children need a moment to notice; and ports come and go.
    const passing =
      /Address already in use|shared memory block .* still in use|lock file .* exists/.test(output);
    if (!passing || attempt === maxAttempts) {
      throw (
        noRoom({ message: output }, home.folder) ??
        fatal(
          'embedded_start_failed',
          `The embedded Postgres in ${home.folder} did not start: ${telling(output)}`,
        )
      );
    }
    await sleep(50 * 2 ** attempt);
  }
}

/** Null when it ended instead, and on Windows. */
async function attemptStart(home: Home, binaries: Binaries, log: Log): Promise<Postmaster | null> {
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
      ? [binaries.pgCtl, 'start', '-w', '-t', '600', '-D', pgdata]
      : [binaries.postgres, '-D', pgdata];
  const outputPath = join(folder, 'start.log');
  const output = await open(outputPath, 'w', 0o600);
  try {
    await giveTo(account, outputPath);
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
    // Ends: with the child, or its pid file appears within milliseconds; recovery may take minutes (see findRunning).
    while (child.exitCode === null && child.signalCode === null) {
      await sleep(20);
      if ((await readPidFile(home))?.pid !== child.pid) continue;
      const running = await findRunning(home, log);
      if (running === null) continue;
      child.unref();
      return running;
    }
    return null;
  } finally {
    await output.close();
  }
}

/** Stops the server: sessions are ended, what is committed is on the disk. False when it did not stop. */
export async function stopServer(home: Home, binaries: Binaries, log: Log): Promise<boolean> {
  try {
    const stop = ['stop', '-D', home.pgdata, '-m', 'fast', '-w', '-t', '600'];
    await runAs(home.account, binaries.pgCtl, stop, home.folder);
    return true;
  } catch (error) {
    // Stopped by somebody else a moment ago: what we wanted.
    if ((await findRunning(home, log)) === null) return true;
    log.warn({ reason: printedBy(error) }, 'The embedded Postgres could not be stopped');
    return false;
  }
}

/** What the server said: before it opened its log (start.log), and in its log. */
async function outputSince(home: Home, began: Date): Promise<string> {
  const early = await readFile(join(home.folder, 'start.log'), 'utf8');
  const folder = join(home.folder, 'log');
  const names = await readdir(folder).catch(() => []);
  const logs = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
  // Each line begins with its time in UTC, `2026-03-01 10:00:00.123 UTC` (log_line_prefix).
  const since = began.toISOString().replace('T', ' ').replace('Z', '');
  const lines = logs.flatMap((text) => text.split('\n')).filter((line) => line >= since);
  return `${early}\n${lines.filter((line) => /^\d{4}-/.test(line)).join('\n')}`;
}

const settingsPath = (home: Home): string => join(home.pgdata, 'postgresql.conf');

/** Writes the settings for the next start. Users' own belong into `alter system`, which stands above these. */
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
    dynamic_shared_memory_type: await sharedMemoryType(),
    wal_compression: 'on',
    jit: 'off',
    timezone: 'UTC',
    log_timezone: 'UTC',
    // A file a weekday, each emptied when its day comes round again: the log does not grow for ever.
    logging_collector: 'on',
    log_directory: '../log',
    log_filename: 'server-%a.log',
    log_rotation_size: '0',
    log_truncate_on_rotation: 'on',
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
async function choosePort(home: Home, log: Log): Promise<number> {
  const last = Number(/^port = '(\d+)'/m.exec((await textOfFile(settingsPath(home))) ?? '')?.[1]);
  if (last > 0 && (await isFree(last))) return last;
  const first = 15_000 + (createHash('sha256').update(home.id).digest().readUInt16BE(0) % 15_000);
  // Ends: 200 tries.
  for (let port = first; port < first + 200; port++) {
    if (!(await isFree(port))) continue;
    if (last > 0) {
      log.warn(
        { was: last, port },
        'The embedded Postgres has a new port: another program took its own',
      );
    }
    return port;
  }
  throw fatal(
    'embedded_start_failed',
    `No port from ${first} to ${first + 199} is free for the embedded Postgres.`,
  );
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
