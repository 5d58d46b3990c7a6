// Starting and stopping the server of a home. Both are called under the home's lock only.
import { spawn, type ChildProcess } from 'node:child_process';
import { open, readdir, readFile, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fatal } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { giveTo, accountIds, runAs, serverEnvironment } from './account.ts';
import type { Binaries } from './binaries.ts';
import { noRoom, telling } from './failures.ts';
import type { Home } from './home.ts';
import {
  findRunning,
  isAlive,
  isPostmasterOf,
  readPidFile,
  type Postmaster,
} from './postmaster.ts';
import { choosePort, writeSettings } from './server-settings.ts';

const maxAttempts = 8;

/**
 * Starts the server and returns when it takes connections. Throws fatal `embedded_start_failed` or
 * `embedded_disk_full`.
 */
export async function startServer(
  home: Home,
  binaries: Binaries,
  settings: Record<string, string>,
  log: Log,
): Promise<Postmaster> {
  // Ends: maxAttempts.
  for (let attempt = 1; ; attempt++) {
    const port = await choosePort(home, log);
    await writeSettings(home, port, settings);
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

/** Null when it ended instead. */
async function attemptStart(home: Home, binaries: Binaries, log: Log): Promise<Postmaster | null> {
  const env = serverEnvironment();
  const stale = await readPidFile(home);
  // The pid of a killed server may have gone to another process of the same user, and Postgres would
  // refuse to start. It disregards the pid in this variable (miscinit.c, CreateLockFile) and still checks
  // the shared memory for survivors; taking the file away would give up that check.
  if (stale !== null && isAlive(stale.pid) && !(await isPostmasterOf(home, stale.pid))) {
    env['PG_GRANDPARENT_PID'] = String(stale.pid);
  }
  const outputPath = join(home.folder, 'start.log');
  const output = await open(outputPath, 'w', 0o600);
  try {
    await giveTo(home.account, outputPath);
    const child = launch(home, binaries, await realpath(home.pgdata), env, output.fd);
    return await readyOrEnded(home, child, log);
  } finally {
    await output.close();
  }
}

function launch(
  home: Home,
  binaries: Binaries,
  pgdata: string,
  env: NodeJS.ProcessEnv,
  output: number,
): ChildProcess {
  // A session of its own: Ctrl-C and a closed terminal reach us, and never the server. On Windows
  // pg_ctl also gives up an administrator's rights, which the server demands.
  const windows = process.platform === 'win32';
  return spawn(
    windows ? binaries.pgCtl : binaries.postgres,
    windows ? ['start', '-w', '-t', '600', '-D', pgdata] : ['-D', pgdata],
    {
      ...accountIds(home.account),
      cwd: home.folder,
      env,
      detached: true,
      windowsHide: true,
      stdio: ['ignore', output, output],
    },
  );
}

async function readyOrEnded(home: Home, child: ChildProcess, log: Log): Promise<Postmaster | null> {
  const ended = new Promise<'ended'>((resolve, reject) => {
    child.once('exit', () => resolve('ended'));
    child.once('error', reject);
  });
  // The pid file appears within milliseconds; recovery then may take minutes (see findRunning).
  for (;;) {
    const first = await Promise.race([ended, sleep(20)]);
    const found = await readPidFile(home);
    const ours = found !== null && (process.platform === 'win32' || found.pid === child.pid);
    if (ours && first !== 'ended') {
      const running = await findRunning(home, log);
      if (running === null) continue;
      child.unref();
      child.removeAllListeners();
      return running;
    }
    if (first === 'ended') return null;
  }
}

/** Stops the server: sessions are ended, what is committed is on the disk. False when it did not stop. */
export async function stopServer(home: Home, binaries: Binaries, log: Log): Promise<boolean> {
  try {
    const pgdata = await realpath(home.pgdata);
    await runAs(
      home.account,
      binaries.pgCtl,
      ['stop', '-D', pgdata, '-m', 'fast', '-w', '-t', '600'],
      home.folder,
    );
    return true;
  } catch (error) {
    const { stderr } = error as { stderr?: string };
    // Stopped by somebody else a moment ago: what we wanted.
    if ((await findRunning(home, log)) === null) return true;
    log.warn({ reason: telling(stderr ?? '') }, 'The embedded Postgres could not be stopped');
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
