// The routes of what the archive did and could not place: runs, rejects with their bytes, operations that are watched.
import { resources } from '../../model.ts';
import * as schema from './book-schemas.ts';
import { forwardOf } from './kinds.ts';
import { listed } from './lists.ts';
import * as parameter from './parameters.ts';
import { present, route, type Asking, type Route } from './route.ts';

const resource = parameter.oneOf(resources);

/** Classes are another project's where that one archives them for both. */
const projectFor = (
  { project, classesOf }: Asking,
  named: (typeof resources)[number] | undefined,
): string => (named === 'nft_classes' ? classesOf(project) : project);

export const bookRoutes: readonly Route[] = [
  route({
    path: '/watched_operations',
    name: 'listWatchedOperations',
    summary: 'Operations whose results are asked for, and what became of each',
    isList: true,
    inQuery: {
      state: parameter
        .oneOf(['open', 'done', 'lost'])
        .optional()
        .describe(
          'open: asked for still; done: final; lost: its month left the window before that',
        ),
      ...parameter.paging,
    },
    answer: forwardOf(schema.watchedOperation),
    read: ({ limit, cursor, state }, asking) =>
      listed(
        { list: (query) => asking.archive.watchedOperations(query) },
        { project: asking.project, ...present({ state }) },
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
    inQuery: parameter.paging,
    answer: forwardOf(schema.run),
    read: ({ limit, cursor }, asking) =>
      listed(
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
    inQuery: {
      resource: resource
        .optional()
        .describe(
          'Of this resource only. Classes that another project archives are asked for by it',
        ),
      ...parameter.days,
      ...parameter.paging,
    },
    answer: forwardOf(schema.reject),
    read: ({ limit, cursor, ...filters }, asking) =>
      listed(
        { list: (query) => asking.archive.rejects(query) },
        { project: projectFor(asking, filters.resource), ...present(filters) },
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
    inPath: { resource: resource.describe('As the list says'), sha256: parameter.sha256 },
    answer: null,
    read: async ({ resource: of, sha256 }, asking) => {
      const found = await asking.archive.reject(projectFor(asking, of), of, sha256);
      const name = `reject-${of}-${sha256}`;
      return found === null ? null : { kind: 'file', bytes: found.bytes, name };
    },
  }),
];
