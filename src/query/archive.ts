// Opening an archive to read it: the door of the library, of the HTTP server and of the commands that only look.
import { archiveArguments, parseArguments } from './arguments.ts';
import { getReject, listCertificates, listRejects, listRuns } from './books.ts';
import { readCoverage } from './coverage.ts';
import { readFacts } from './facts.ts';
import { createNftClasses } from './nft-classes.ts';
import { createOrders } from './orders.ts';
import { readProjects } from './projects.ts';
import { openReader } from './reader.ts';
import { createStatistics } from './statistics.ts';
import { readSummary } from './summary.ts';
import { createTokens } from './tokens.ts';
import { createTransactions } from './transactions.ts';
import type { Archive, ArchiveOptions } from './types.ts';
import { listWatched } from './watched-operations.ts';

/**
 * Opens an archive for reading. Every connection runs as `outlast_reader` where the database allows it, read-only in
 * any case, in UTC and with a statement time-out. Close it when done.
 * Throws settings `argument_invalid`, `schema_missing`, `schema_older`, `schema_newer` or `database_…`, and transient
 * `database_unreachable`; each says what to do.
 */
export async function openArchive(options: ArchiveOptions): Promise<Archive> {
  const reader = await openReader(parseArguments('openArchive', archiveArguments, options));
  return {
    orders: createOrders(reader),
    nftClasses: createNftClasses(reader),
    transactions: createTransactions(reader),
    tokens: createTokens(reader),
    projects: () => readProjects(reader),
    coverage: (query) => readCoverage(reader, query),
    facts: (query) => readFacts(reader, query),
    summary: (query) => readSummary(reader, query),
    statistics: createStatistics(reader),
    watchedOperations: async (query) => listWatched(reader, query),
    certificates: (query) => listCertificates(reader, query),
    runs: async (query) => listRuns(reader, query),
    rejects: async (query) => listRejects(reader, query),
    reject: (project, resource, sha256) => getReject(reader, project, resource, sha256),
    close: () => reader.close(),
  };
}
