// The routes of what the archive did and could not place: runs, rejects with their bytes, operations that are watched.
import type { Resource } from '../../model.ts';
import { pageArguments } from './lists.ts';
import { resource, sha256 } from '../../query/arguments.ts';
import { rejectFilters, watchedFilters } from '../../query/books.ts';
import * as schema from './book-schemas.ts';
import { forwardOf } from './answer-schemas.ts';
import { listReply } from './lists.ts';
import { route, type ArchiveRequest, type Route } from './route.ts';

/** Classes are another project's where that one archives them for both. */
const projectFor = ({ project, classesOf }: ArchiveRequest, named: Resource | undefined): string =>
  named === 'nft_classes' ? classesOf(project) : project;

export const bookRoutes: readonly Route[] = [
  route({
    path: '/watched_operations',
    name: 'listWatchedOperations',
    summary: 'Operations whose results are asked for, and what became of each',
    isList: true,
    inQuery: { ...watchedFilters, ...pageArguments },
    answer: forwardOf(schema.watchedOperation),
    read: ({ limit, cursor, ...filters }, asking) =>
      listReply(
        { list: (query) => asking.archive.watchedOperations(query) },
        { project: asking.project, ...filters },
        { limit, cursor },
        schema.watchedOperation,
        asking,
      ),
  }),
  route({
    path: '/runs',
    name: 'listRuns',
    summary: 'Passes over what was due, the newest first',
    about: 'How fresh the archive is. Of quiet ones in a row only the last is kept.',
    isList: true,
    inQuery: pageArguments,
    answer: forwardOf(schema.run),
    read: ({ limit, cursor }, asking) =>
      listReply(
        { list: (query) => asking.archive.runs(query) },
        { project: asking.project },
        { limit, cursor },
        schema.run,
        asking,
      ),
  }),
  route({
    path: '/rejects',
    name: 'listRejects',
    summary: 'Records without a usable id: in no list and in no figure',
    isList: true,
    inQuery: { ...rejectFilters, ...pageArguments },
    answer: forwardOf(schema.reject),
    read: ({ limit, cursor, ...filters }, asking) =>
      listReply(
        { list: (query) => asking.archive.rejects(query) },
        { project: projectFor(asking, filters.resource), ...filters },
        { limit, cursor },
        schema.reject,
        asking,
      ),
  }),
  route({
    path: '/rejects/{resource}/{sha256}',
    name: 'getReject',
    summary: 'The bytes of such a record, as the platform gave them',
    mayBeAbsent: true,
    inPath: { resource: resource.describe('As the list says'), sha256 },
    answer: null,
    read: async ({ resource: of, sha256: digest }, asking) => {
      const found = await asking.archive.reject(projectFor(asking, of), of, digest);
      const name = `reject-${of}-${digest}`;
      return found === null ? null : { kind: 'file', bytes: found.bytes, name };
    },
  }),
];
