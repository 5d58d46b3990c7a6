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
import type { Tell } from './doctor-database.ts';
import { readReaders } from './start-serving.ts';

/** Throws settings `readers_invalid`, `bad_place`, `bad_bucket` or `serve_failed`. */
export async function checkStartNeeds(settings: Settings): Promise<void> {
  readReaders(settings);
  if (settings.exports.to !== null) readPlace(settings.exports.to);
  await checkAddress(settings.host, settings.port);
}

/** Says who else may read; null: nobody is asked for. */
export function readersFound(settings: Settings): string | null {
  const readers = readReaders(settings).length - settings.projects.length;
  return settings.readersFile === null ? null : `${readers} in ${settings.readersFile}`;
}

/** Says whether exports can be written; null: none are. Throws what an export would, later. */
export async function exportFound({ exports }: Settings): Promise<string | null> {
  if (exports.to === null) return null;
  const isRemoved = await tryPlace(readPlace(exports.to), exports);
  const text = `${exports.to} takes what is written`;
  return isRemoved
    ? text
    : `${text}; ${trialName} stays there, for these credentials may not delete`;
}

/** Says whether the port is free; that a service like this has it is no fault. */
export async function portFound({ host, port }: Settings, tell: Tell): Promise<string | null> {
  try {
    await checkAddress(host, port);
    return port === 0 ? `any free port of ${host}` : `port ${port} of ${host} is free`;
  } catch (error) {
    const isTaken = codeOf((error as Error).cause) === 'EADDRINUSE';
    if (!isTaken || !(await isServed(host, port))) throw error;
    const taken = `port ${port} of ${host} is taken by a service that answers as Outlast does`;
    tell('warn', 'HTTP', `${taken}: a second \`start\` is refused`);
    return null;
  }
}

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
