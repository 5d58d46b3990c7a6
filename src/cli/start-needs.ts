// What `start` needs beside the platform and the database: it refuses where one of them is missing, and `doctor` tells of
// each.
import { tmpdir } from 'node:os';
import { codeOf } from '../errors.ts';
import { openEngineFor } from '../export/formats.ts';
import { trialName } from '../export/s3.ts';
import { checkFolder, onDisk } from '../export/stage.ts';
import { tryFolder } from '../files.ts';
import { checkAddress } from '../http/server.ts';
import type { ExportSettings, Settings } from '../settings/settings.ts';
import { atPlace, readPlace } from './export-places.ts';
import { readReaders } from './start-serving.ts';

export type Need = {
  about: string;
  /** Throws settings `readers_invalid`, `bad_place`, `bad_bucket` or `serve_failed`. Says what is so, null where nothing is asked for. */
  check: (settings: Settings) => string | null | Promise<string | null>;
  /** What only `doctor` does about it, behind the check. Says what is so, and throws what would fail later. */
  attempt?: (settings: Settings) => Promise<string | null>;
  /** What makes a refusal less than a fault; null: nothing does. */
  excuse?: (settings: Settings, error: unknown) => Promise<string | null>;
};

export const startNeeds: Need[] = [
  {
    about: 'readers',
    check(settings) {
      const readers = readReaders(settings).length - settings.projects.length;
      return settings.readersFile === null ? null : `${readers} in ${settings.readersFile}`;
    },
  },
  {
    about: 'export',
    check({ exports: { to } }) {
      if (to !== null) readPlace(to);
      return null;
    },
    async attempt({ exports }) {
      if (exports.to === null) return null;
      const isRemoved = await tryPlace(exports.to, exports);
      const text = `${exports.to} takes what is written`;
      return isRemoved
        ? text
        : `${text}; ${trialName} stays there, for these credentials may not delete`;
    },
  },
  {
    about: 'HTTP',
    async check({ host, port }) {
      await checkAddress(host, port);
      return port === 0 ? `any free port of ${host}` : `port ${port} of ${host} is free`;
    },
    async excuse({ host, port }, error) {
      if (codeOf((error as Error).cause) !== 'EADDRINUSE') return null;
      return (await isServed(host, port))
        ? `port ${port} of ${host} is taken by a service that answers as Outlast does: a second \`start\` is refused`
        : null;
    },
  },
];

/**
 * Writes a small file to where exports go and removes it; false where it may not be removed. Throws what an export there
 * would throw before it has anything to write.
 */
async function tryPlace(to: string, settings: ExportSettings): Promise<boolean> {
  // Where DuckDB is missing no file could be made.
  (await openEngineFor(settings.format, tmpdir()))?.close();
  return atPlace(to, settings, new AbortController().signal, {
    inFolder: (folder) =>
      onDisk(folder, async () => {
        await checkFolder(folder);
        await tryFolder(folder);
        return true;
      }),
    inBucket: async (bucket) => (await import('../export/bucket.ts')).tryBucket(bucket),
  });
}

async function isServed(host: string, port: number): Promise<boolean> {
  const at =
    { '0.0.0.0': '127.0.0.1', '::': '[::1]' }[host] ?? (host.includes(':') ? `[${host}]` : host);
  const answer = await fetch(`http://${at}:${port}/healthz`, { signal: AbortSignal.timeout(2_000) })
    .then((response) => response.text())
    .catch(() => '');
  return answer.startsWith('{"status":"');
}
