// A Postgres of the bench's own, embedded, with the settings that every user gets. It and all that lies in its folder is
// gone afterwards.
import { readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { silentLog } from '../src/log.ts';
import { openEmbedded } from '../src/store/embedded/embedded.ts';

export type BenchServer = {
  connectionString: string;
  folder: string;
  /** The process that all others of Postgres are below. */
  pid: number;
  version: string;
  /** The address of a new, empty database; another of that name is dropped. */
  database(name: string): Promise<string>;
  /** Done at the end, the newest first. */
  atEnd(close: () => unknown): void;
};

export async function withServer<T>(
  work: (server: BenchServer) => Promise<T>,
  settings: Record<string, string> = {},
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'outlast-bench-'));
  const closers: (() => unknown)[] = [() => rm(folder, { recursive: true, force: true })];
  try {
    // Run by root, the server has another user, who must be able to pass through.
    await chmod(folder, 0o755);
    const embedded = await openEmbedded({
      dataDir: join(folder, 'data'),
      log: silentLog(),
      settings,
    });
    closers.push(() => embedded.close());
    const { connectionString } = embedded;
    const postmaster = join(embedded.dataDir, 'pgdata', 'postmaster.pid');
    const [version] = await ask<{ is: string }>(
      connectionString,
      `select current_setting('server_version') as is`,
    );
    return await work({
      connectionString,
      folder,
      pid: Number(readFileSync(postmaster, 'utf8').split('\n')[0]),
      version: version?.is ?? 'unknown',
      async database(name) {
        await ask(connectionString, `drop database if exists ${name} with (force)`);
        await ask(connectionString, `create database ${name}`);
        const address = new URL(connectionString);
        address.pathname = `/${name}`;
        return address.href;
      },
      atEnd: (close) => void closers.push(close),
    });
  } finally {
    for (const close of closers.toReversed()) await close();
  }
}

/** The rows of one statement, on a connection of its own. */
export async function ask<R extends pg.QueryResultRow>(
  address: string,
  sql: string,
  given: unknown[] = [],
): Promise<R[]> {
  const client = new pg.Client({ connectionString: address });
  await client.connect();
  try {
    return (await client.query<R>(sql, given)).rows;
  } finally {
    await client.end();
  }
}
