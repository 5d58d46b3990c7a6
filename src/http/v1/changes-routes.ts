// The route of what changed since: a page, which may wait for the next change, or everything up to now as a stream.
import * as z from 'zod';
import { limit, whole } from '../../query/arguments.ts';
import { changeFilters, longestWaitMs } from '../../query/changes.ts';
import { firstOf } from '../../query/record-text.ts';
import type { Change, Changes, ChangesQuery } from '../../query/types.ts';
import type { Resource } from '../../model.ts';
import { refuse } from '../http-answers.ts';
import { change, listOf } from './answer-schemas.ts';
import { present, projectFor, route, type ArchiveRequest, type Route } from './route.ts';

/** Changes read at a time for a stream. */
const streamedAtOnce = 1000;

type Given = { resource?: Resource | undefined; after?: string | undefined };

export const changeRoutes: readonly Route[] = [
  route({
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
      const page = await changes.list({ ...query, ...present({ limit: most }) });
      const beside = { position: page.position, is_up_to_date: page.isUpToDate };
      return { kind: 'rows', rows: page.items, fields, beside };
    },
  }),
];

const asked = (given: Given, asking: ArchiveRequest): ChangesQuery => ({
  project: projectFor(asking, given.resource),
  ...present(given),
});

/** Ends where there is nothing more to read now. */
async function* upToNow(changes: Changes, query: ChangesQuery): AsyncGenerator<Change> {
  let after: string | null = null;
  for (;;) {
    const page = await changes.list({
      ...query,
      ...(after === null ? {} : { after }),
      limit: streamedAtOnce,
    });
    yield* page.items;
    if (page.isUpToDate) return;
    after = page.position;
  }
}
