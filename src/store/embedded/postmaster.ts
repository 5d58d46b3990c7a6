// Which server, if any, runs on a home's cluster: read from postmaster.pid and never believed without
// a look at the process itself, because a pid may have gone to somebody else since.
import { execFile } from 'node:child_process';
import { readFile, readlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { codeOf, transient } from '../../errors.ts';
import { textOfFile } from '../../files.ts';
import type { Log } from '../../log.ts';
import type { Home } from './home.ts';
import { waitFor } from './lock.ts';

const exec = promisify(execFile);

export type Postmaster = { pid: number; port: number; status: string };

/** The lines of postmaster.pid (Postgres' miscadmin.h); null where there is no file or not yet a whole one. */
export async function readPidFile(home: Home): Promise<Postmaster | null> {
  const lines = (await textOfFile(join(home.pgdata, 'postmaster.pid')))?.split('\n');
  const pid = Number(lines?.[0]);
  if (lines === undefined || !Number.isInteger(pid) || pid <= 0) return null;
  return { pid, port: Number(lines[3] ?? 0), status: lines[7]?.trim() ?? '' };
}

/**
 * The server that runs on this cluster, once it takes connections; null when none does.
 * One that is starting, recovering or stopping is waited for. Throws transient `embedded_start_slow` after 10 minutes.
 */
export async function findRunning(home: Home, log: Log): Promise<Postmaster | null> {
  const look = async (): Promise<{ running: Postmaster | null } | null> => {
    const found = await readPidFile(home);
    if (found === null || !(await isPostmasterOf(home, found.pid))) return { running: null };
    return found.status === 'ready' ? { running: found } : null;
  };
  const { running } = await waitFor(look, log, {
    message: 'The embedded Postgres takes its time to start, as after a crash',
    // Recovery replays at most a few GB of WAL: minutes on a poor disk.
    minutes: 10,
    error: transient(
      'embedded_start_slow',
      `The embedded Postgres in ${home.folder} has been starting or stopping for 10 minutes. Look into its log folder, and try again.`,
    ),
  });
  return running;
}

/** Whether a process is a Postgres on this very cluster. */
export async function isPostmasterOf({ pgdata }: Home, pid: number): Promise<boolean> {
  if (!isAlive(pid)) return false;
  if (process.platform === 'linux') return isOursOnLinux(pid, pgdata);
  if (process.platform === 'win32') {
    const list = await exec('tasklist', ['/FI', `PID eq ${pid}`, '/FO', 'CSV', '/NH']).catch(
      () => null,
    );
    return list?.stdout.toLowerCase().includes('"postgres.exe"') ?? false;
  }
  const ps = await exec('/bin/ps', ['-ww', '-o', 'args=', '-p', String(pid)]).catch(() => null);
  return (
    ps !== null && /postgres\b/.test(ps.stdout) && ps.stdout.trimEnd().endsWith(`-D ${pgdata}`)
  );
}

async function isOursOnLinux(pid: number, pgdata: string): Promise<boolean> {
  // A postmaster lives in its data folder, also after the folder was renamed.
  const cwd = await readlink(`/proc/${pid}/cwd`).catch(() => null);
  const [program, ...args] = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split(
    '\0',
  );
  if (!basename(program ?? '').startsWith('postgres')) return false;
  // Root in a container may not read cwd of others' processes, but always their command line.
  return cwd === null ? args.includes(pgdata) : cwd === pgdata;
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}
