// Scratch folders, child commands and looks at processes for the tests of the embedded Postgres.
import { spawn } from 'node:child_process';
import { mkdtempSync, chmodSync, readFileSync, existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { openEmbedded, type Embedded } from '../../src/store/embedded/embedded.ts';
import { queryAt } from './client.ts';

export const isRoot = process.getuid?.() === 0;

/** What a child says: the fields of `Embedded`, of close(), or an error. */
type Said = {
  connectionString?: string;
  dataDir?: string;
  stopped?: boolean;
  error?: { code: string; kind: string; message: string };
  [column: string]: unknown;
};

type Options = {
  dataDir: string;
  uid?: number;
  gid?: number;
  programs?: string;
  elsewhere?: string;
};

const script = fileURLToPath(new URL('embedded-child.mjs', import.meta.url));

/** Starts a command in a process group of its own, optionally through a shell line that ends in `exec "$@"`. */
export function startChild(options: Options, shell?: string) {
  const command = [process.execPath, script, JSON.stringify(options)];
  const [file, ...args] =
    shell === undefined ? command : ['/bin/sh', '-c', shell, 'sh', ...command];
  const child = spawn(file ?? '', args, { stdio: ['pipe', 'pipe', 'inherit'], detached: true });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  /** The next line said, without asking. */
  const next = async (): Promise<Said> => {
    const { value, done } = await lines.next();
    if (done === true) throw new Error('The child ended without a word');
    return JSON.parse(value) as Said;
  };
  /** Sends a line; resolves to the next line said. */
  const ask = (line: string): Promise<Said> => {
    child.stdin.write(`${line}\n`);
    return next();
  };
  const pid = child.pid ?? 0;
  return {
    pid,
    opened: next(),
    ask,
    next,
    close: async (): Promise<Said> => {
      const said = await ask('close');
      await exited;
      return said;
    },
    signal: async (signal: NodeJS.Signals): Promise<void> => {
      process.kill(pid, signal);
      await exited;
    },
  };
}

/** Opened with settings as users give it their own: by `alter system`, which stands above ours. */
export async function openWithSettings(
  options: Parameters<typeof openEmbedded>[0],
  settings: Record<string, string>,
): Promise<Embedded> {
  const first = await openEmbedded(options);
  for (const [name, value] of Object.entries(settings)) {
    await queryAt(first.connectionString, `alter system set ${name} = '${value}'`);
  }
  await first.close();
  return openEmbedded(options);
}

/** A folder that any user can pass through. */
export function scratchFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'outlast-embedded-'));
  chmodSync(folder, 0o755);
  return folder;
}

/** The pid in a home's postmaster.pid, or null. */
export function serverPid(home: string): number | null {
  const file = join(home, 'pgdata', 'postmaster.pid');
  return existsSync(file) ? Number(readFileSync(file, 'utf8').split('\n')[0]) : null;
}

/** Removes a folder, and first ends a server that a failed test left there. */
export async function removeScratch(folder: string, homes: string[]): Promise<void> {
  for (const home of homes) {
    const pid = serverPid(home);
    if (pid !== null && pid > 0 && isPostgres(pid)) process.kill(pid, 'SIGQUIT');
  }
  await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
}

export function isPostgres(pid: number): boolean {
  try {
    return (
      readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')[0]?.includes('postgres') === true
    );
  } catch {
    return false;
  }
}
