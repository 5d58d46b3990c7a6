// The routes of the records of each resource: a list, one record, and everything it was ever seen to say; the files
// behind certificate links; and what changed since, a page, which may wait for the next change, or all of it as a
// stream.
import * as z from 'zod';
import { recordLists, type PagedForward } from '../../catalogue.ts';
import { resources, type Resource } from '../../model.ts';
import { asOf, id as anyId, limit, order, whole } from '../../query/arguments.ts';
import { everyPage } from '../../query/ask-question.ts';
import { recordList, recordsOf } from '../../query/lists.ts';
import { changeFilters, longestWaitMs } from '../../query/changes.ts';
import { firstOf } from '../../query/record-text.ts';
import type { Change, Changes, ChangesQuery } from '../../query/types.ts';
import { refuse } from '../http-answers.ts';
import {
  change,
  countedForwardOf,
  decimalOrNull,
  listOf,
  pageOf,
  recordKinds,
  timeOrNull,
} from './answer-schemas.ts';
import {
  listReply,
  objectReply,
  pageArguments,
  wholeReply,
  type Paging,
} from './question-routes.ts';
import {
  count,
  withoutUndefined,
  projectFor,
  route,
  type ArchiveRequest,
  type Route,
} from './route.ts';

/** How a record is named in a path. */
const named: Record<Resource, string> = {
  orders: 'The id',
  nft_classes: 'The id',
  transactions: 'The operation id',
  tokens: 'The symbol',
};

/** Of tokens, what stands beside them. */
const look = {
  taken_at: timeOrNull.describe('When the newest look was taken'),
  height: decimalOrNull.describe('At which height'),
};

const aboutHistory =
  'Oldest first. A content that came late and was older than what was held never was in force: its `in_force_from` is null.';

function routesOf(resource: Resource): readonly Route[] {
  const { one: name, meaning, summary, about } = recordLists[resource];
  const { filters, hasDays, isPaged } = recordList(resource);
  const { now: kind, earlier } = recordKinds[resource];
  const isOfLookups = resource === 'transactions';
  const single = {
    mayBeAbsent: true,
    inPath: { id: anyId.describe(`${named[resource]}, percent-encoded`) },
  } as const;
  return [
    route({
      path: `/${resource}`,
      name: `list${name}${name.endsWith('s') ? 'es' : 's'}`,
      summary,
      about,
      isList: true,
      inQuery: {
        ...filters,
        asOf,
        ...(hasDays ? { order } : {}),
        ...(isPaged ? { ...pageArguments, count } : {}),
      },
      answer: hasDays ? pageOf(kind) : isPaged ? countedForwardOf(kind) : listOf(kind, look),
      read: ({ limit, cursor, count: isCounted, ...query }, asking) =>
        listReply(
          recordsOf(asking.archive, resource),
          { project: projectFor(asking, resource), ...query },
          { limit, cursor, count: isCounted } as Paging,
          kind,
          asking,
        ),
    }),
    route({
      path: `/${resource}/{id}`,
      name: `get${name}`,
      summary: meaning,
      ...(isOfLookups ? { about: 'What the two lookups gave: one or both, v1beta1 first.' } : {}),
      ...single,
      inQuery: { asOf },
      answer: isOfLookups ? listOf(kind) : kind.schema,
      read: async ({ id, ...at }, asking) => {
        const records = recordsOf(asking.archive, resource);
        const found = await records.get(projectFor(asking, resource), id, at);
        if (found.length === 0) return null;
        return isOfLookups ? wholeReply(found, kind) : objectReply(found[0] ?? null, kind);
      },
    }),
    route({
      path: `/${resource}/{id}/history`,
      name: `get${name}History`,
      summary: `${meaning}: everything it was ever seen to say`,
      about: isOfLookups ? `v1beta1 first. ${aboutHistory}` : aboutHistory,
      isList: true,
      ...single,
      answer: listOf(earlier),
      read: async ({ id }, asking) => {
        const records = recordsOf(asking.archive, resource);
        const contents = await records.history(projectFor(asking, resource), id);
        const rows = contents.map(({ item, ...inForce }) => ({ ...inForce, ...item }));
        return rows.length === 0 ? null : wholeReply(rows, earlier);
      },
    }),
  ];
}

const certificateFileRoute = route({
  path: '/transactions/{id}/certificate_file',
  name: 'getCertificateFile',
  summary: 'The file behind the certificate link of an operation',
  about: 'Byte for byte as it was fetched, where `OUTLAST_KEEP_CERTIFICATES` said so.',
  mayBeAbsent: true,
  inPath: { id: anyId.describe('The operation id, percent-encoded') },
  answer: null,
  read: async ({ id }, { archive, project }) => {
    const file = await archive.transactions.certificateFile(project, id);
    return file === null ? null : { kind: 'file', bytes: file.bytes, name: `certificate-${id}` };
  },
});

type Given = { resource?: Resource | undefined; after?: string | undefined };

const changesRoute = route({
  path: '/changes',
  name: 'listChanges',
  summary: 'Every new, changed and missing record, since a position',
  about:
    'Each once, in an order that never skips one, whatever was committed late. Keep `position` together with what you made of the items, and give it as `after`. 410: the archive was restored to a state before that position, or it is another archive.',
  isList: true,
  inQuery: {
    ...changeFilters,
    limit: limit.describe(
      'Changes a page, 100 by default. In another format than json: changes at all, everything by default',
    ),
    wait: whole(0, longestWaitMs / 1000).describe(
      'With json: seconds to wait for a change where there is none; 0 by default',
    ),
  },
  answer: listOf(change, {
    position: z
      .string()
      .nullable()
      .describe('`after` of the next request; null while nothing was archived'),
    is_up_to_date: z.boolean().describe('false: there is more to read now'),
  }),
  hold: async ({ wait = 0, resource, after }, asking) => {
    if (wait === 0) return;
    if (asking.format !== 'json')
      refuse('wait goes with json: the other formats give what there is');
    const { archive, stopping: signal } = asking;
    const query = asked({ resource, after }, asking);
    await archive.changes.list({ ...query, limit: 1, waitMs: wait * 1000, signal });
  },
  read: async ({ resource, after, limit: most }, asking) => {
    const { changes } = asking.archive;
    const query = asked({ resource, after }, asking);
    const { fields } = change;
    if (asking.format !== 'json') {
      return { kind: 'rows', rows: firstOf(upToNow(changes, query), most ?? Infinity), fields };
    }
    const page = await changes.list({ ...query, ...withoutUndefined({ limit: most }) });
    const beside = { position: page.position, is_up_to_date: page.isUpToDate };
    return { kind: 'rows', rows: page.items, fields, beside };
  },
});

const asked = (given: Given, asking: ArchiveRequest): ChangesQuery => ({
  project: projectFor(asking, given.resource),
  ...withoutUndefined(given),
});

/** Ends where there is nothing more to read now. */
const upToNow = (changes: Changes, query: ChangesQuery): AsyncIterable<Change> =>
  everyPage(async ({ limit: most, cursor: after }: PagedForward) => {
    const page = await changes.list({ ...query, ...withoutUndefined({ limit: most, after }) });
    return { items: page.items, next: page.isUpToDate ? null : page.position };
  }, {});

export const recordRoutes: readonly Route[] = [
  ...resources.flatMap(routesOf),
  certificateFileRoute,
  changesRoute,
];
