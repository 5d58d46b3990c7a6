// A Postgres of the bench's own, embedded, with the settings that every user gets. It and all that lies in its folder is
// gone afterwards.
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '../src/log.ts';
import { queryAt } from '../test/support/client.ts';
import { openWithSettings, serverPid } from '../test/support/embedded.ts';

export type BenchServer = {
  connectionString: string;
  folder: string;
  /** The process that all others of Postgres are below. */
  pid: number;
  /** The address of a new, empty database; another of that name is dropped. */
  database(name: string): Promise<string>;
  /** Done at the end, the newest first. */
  atEnd(close: () => unknown): void;
};

/** Of the server that was opened last. */
export let postgresVersion = 'unknown';

export async function withServer<T>(
  work: (server: BenchServer) => Promise<T>,
  settings: Record<string, string> = {},
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'outlast-bench-'));
  const closers: (() => unknown)[] = [() => rm(folder, { recursive: true, force: true })];
  try {
    // Run by root, the server has another user, who must be able to pass through.
    await chmod(folder, 0o755);
    const dataDir = join(folder, 'data');
    const embedded = await openWithSettings({ dataDir, log: silentLog() }, settings);
    closers.push(() => embedded.close());
    const { connectionString } = embedded;
    const [version] = await queryAt<{ server_version: string }>(
      connectionString,
      'show server_version',
    );
    postgresVersion = version?.server_version ?? 'unknown';
    return await work({
      connectionString,
      folder,
      pid: serverPid(embedded.dataDir) ?? 0,
      async database(name) {
        await queryAt(connectionString, `drop database if exists ${name} with (force)`);
        await queryAt(connectionString, `create database ${name}`);
        return Object.assign(new URL(connectionString), { pathname: `/${name}` }).href;
      },
      atEnd: (close) => void closers.push(close),
    });
  } finally {
    for (const close of closers.toReversed()) await close();
  }
}
