// The operations whose results are asked for by their ids, with what became of each (P7).
import { isId } from './argument-kinds.ts';
import { parseArguments } from './arguments.ts';
import { keyedPage } from './keyed-page.ts';
import type { Reader } from './reader.ts';
import type { WatchedOperation, WatchedQuery } from './book-types.ts';
import type { Page } from './types.ts';
import { watchedArguments } from './unlisted-arguments.ts';

/** By operation id, in the order of its bytes. */
export function listWatched(reader: Reader, given: WatchedQuery): Promise<Page<WatchedOperation>> {
  const query = parseArguments('watchedOperations', watchedArguments, given);
  return keyedPage('watched_operations', query, {
    rows: async (after, atMost) => {
      // What stands beside an operation is read for those of the page alone: the view's own columns would be read for all.
      const { rows } = await reader.query<WatchedOperation>(
        `select w.project_id as "project", w.operation_id as "operationId", w.api_version as "apiVersion",
                w.created_on as "createdOn", w.added_at as "addedAt", w.state,
                coalesce(t.lookups, '{}') as "foundBy", t.status,
                exists (select from archive.certificate_files f
                         where f.project_id = w.project_id and f.operation_id = w.operation_id) as "hasCertificateFile",
                w.deadline_at as "deadlineAt", w.due_at as "dueAt", w.attempts, w.last_error as "lastError"
           from (select project_id, operation_id, api_version, created_on, added_at, state, deadline_at, due_at, attempts, last_error
                   from analytics.watched_operations
                  where project_id = $1 and operation_id > $2 and ($3::text is null or state = $3)
                  order by operation_id
                  limit $4) w,
                lateral (select array_agg(api_version order by api_version) as lookups,
                                max(status) filter (where status in (1, 2)) as status
                           from archive.transactions r
                          where r.project_id = w.project_id and r.api_version in ('v1beta1', 'v3')
                            and r.operation_id = w.operation_id) t
          order by w.operation_id`,
        [query.project, after?.[0] ?? '', query.state ?? null, atMost],
      );
      return rows;
    },
    keyOf: ({ operationId }) => [operationId],
    parts: [isId],
  });
}
