// Opening an archive to read it: the door of the library, of the HTTP server and of the commands that only look.
import * as z from 'zod';
import { isStorable, parseArguments, whole } from './arguments.ts';
import { createChanges } from './changes.ts';
import { readDayReport } from './day-report.ts';
import { readProgress, readRecent } from './activity.ts';
import { createLists, getReject } from './ask-question.ts';
import { openReader } from './reader.ts';
import {
  createNftClasses,
  createOrders,
  createTokens,
  createTransactions,
} from './record-methods.ts';
import { createStatistics } from './statistics.ts';
import { readProjects, readSummary } from './summary.ts';
import type { Archive, ArchiveOptions } from './types.ts';

/** Connections to read with, where none is said. */
export const readingConnections = 4;

const connectionSentence =
  'must be the address of the archive, postgres://user:password@host:5432/database; nothing is read from the environment here, so pass for example process.env.DATABASE_URL';
const archiveArguments = z.strictObject({
  connectionString: z.custom<string | (() => string)>(
    (value) =>
      typeof value === 'function' ||
      (typeof value === 'string' && value !== '' && isStorable(value)),
    connectionSentence,
  ),
  max: whole(1, 100).default(readingConnections),
  statementTimeoutMs: whole(1, 86_400_000).default(30_000),
  // Passed on as it is: a log's methods may need their `this`.
  log: z
    .custom<{ warn(fields: object, sentence: string): void }>(
      (value) => typeof (value as { warn?: unknown } | null)?.warn === 'function',
      'must have a method warn(fields, sentence)',
    )
    .optional(),
});

/**
 * Opens an archive for reading. Every connection runs as `outlast_reader` where the database allows it, read-only in
 * any case, in UTC and with a statement time-out. Close it when done.
 * Throws settings `argument_invalid`, `schema_…` or `database_…`, and transient
 * `database_unreachable`; each says what to do.
 */
export async function openArchive(options: ArchiveOptions): Promise<Archive> {
  const reader = await openReader(parseArguments('openArchive', archiveArguments, options));
  return {
    ...createLists(reader),
    orders: createOrders(reader),
    nftClasses: createNftClasses(reader),
    transactions: createTransactions(reader),
    tokens: createTokens(reader),
    changes: createChanges(reader),
    projects: () => readProjects(reader),
    day: (query) => readDayReport(reader, query),
    progress: (query) => readProgress(reader, query),
    recent: (query) => readRecent(reader, query),
    summary: (query) => readSummary(reader, query),
    statistics: createStatistics(reader),
    reject: (project, resource, sha256) => getReject(reader, project, resource, sha256),
    ready: () => reader.ready(),
    close: () => reader.close(),
  };
}
