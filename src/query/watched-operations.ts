// The operations whose results are asked for by their ids, with what became of each (P7).
import * as z from 'zod';
import { isId, oneOf, paging, parseArguments, project } from './arguments.ts';
import type { WatchedOperation, WatchedQuery } from './book-types.ts';
import { keyedPage } from './keyed-page.ts';
import { optional } from './check.ts';
import type { Reader } from './reader.ts';
import type { Page } from './types.ts';

/** What they can be narrowed by, whoever asks. */
export const watchedFilters = {
  state: oneOf(['open', 'done', 'lost']).describe(
    'open: asked for still; done: final; lost: its month left the window before that',
  ),
};
const watchedArguments = z.strictObject({ project, ...optional(watchedFilters), ...paging });

/** By operation id, in the order of its bytes. */
export function listWatched(reader: Reader, given: WatchedQuery): Promise<Page<WatchedOperation>> {
  const query = parseArguments('watchedOperations', watchedArguments, given);
  return keyedPage('watched_operations', query, {
    rows: async (after, atMost) => {
      const { rows } = await reader.query<WatchedOperation>(
        `select project_id as "project", operation_id as "operationId", api_version as "apiVersion",
                created_on as "createdOn", added_at as "addedAt", state, found_by as "foundBy", status,
                has_certificate_file as "hasCertificateFile", deadline_at as "deadlineAt", due_at as "dueAt",
                attempts, last_error as "lastError"
           from analytics.watched_operations
          where project_id = $1 and operation_id > $2 and ($3::text is null or state = $3)
          order by operation_id
          limit $4`,
        [query.project, after?.[0] ?? '', query.state ?? null, atMost],
      );
      return rows;
    },
    keyOf: ({ operationId }) => [operationId],
    parts: [isId],
  });
}
