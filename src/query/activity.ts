// What goes on now, and what came in lately: asked again and again, so neither reads more than a few rows.
import * as z from 'zod';
import { listedResources } from '../model.ts';
import { oneOf, parseArguments, project, whole } from './arguments.ts';
import type { Reader } from './reader.ts';
import { timeInJson } from './selected-columns.ts';
import type { Progress, Recent, RecentQuery } from './reports.ts';

const ofProject = z.strictObject({ project });
export const recentFilters = {
  resource: oneOf(listedResources).describe('One of the two lists'),
  limit: whole(1, 100).describe('How many; 20 by default'),
};
const recentArguments = z.strictObject({
  project,
  resource: recentFilters.resource,
  limit: recentFilters.limit.default(20),
});

/**
 * Null where no run could enter the project yet. One statement: of two months of two lists it takes 12 ms over HTTP on
 * a busy machine. What is final is not looked at.
 */
export async function readProgress(
  reader: Reader,
  given: { project: string },
): Promise<Progress | null> {
  const query = parseArguments('progress', ofProject, given);
  const { rows } = await reader.query<Progress>(
    `select project_id as "projectId", revision,
            case when run_id is not null
                 then json_build_object('runId', run_id, 'startedAt', ${timeInJson('run_started_at')},
                                        'slicesDone', run_slices_done, 'recordsShown', run_records_shown) end as run,
            (select coalesce(json_agg(json_build_object('resource', h.resource, 'owner', h.owner, 'day', h.day, 'pages', h.pages)
                                      order by h.day, h.resource desc, h.owner), '[]')
               from analytics.slices_in_hand h where h.project_id = $1) as "inHand",
            slices_due as "slicesDue", slices_waiting as "slicesWaiting", next_due_at as "nextDueAt",
            succeeded_at as "succeededAt",
            case when certificate_resource is not null
                 then json_build_object('resource', certificate_resource, 'month', certificate_month,
                                        'certifiedAt', ${timeInJson('certified_at')}, 'digest', certificate_digest)
                  end as certificate,
            case when parked_at is not null
                 then json_build_object('at', ${timeInJson('parked_at')}, 'reason', parked_reason,
                                        'askAgainAt', ${timeInJson('ask_again_at')}) end as parked,
            archive_now as "archiveNow"
       from analytics.progress where project_id = $1`,
    [query.project],
  );
  return rows[0] ?? null;
}

const recentColumns = {
  orders: `operation_id as id, status, amount as "amountFen", account as name`,
  nft_classes: `id, null::integer as status, null::numeric as "amountFen", name`,
};

/**
 * The newest day first, and of a day the newest record. An index by the time of first sight would cost every commit:
 * what comes in belongs to today, but for the first sync and for what was listed late.
 */
export async function readRecent(reader: Reader, given: RecentQuery): Promise<Recent[]> {
  const query = parseArguments('recent', recentArguments, given);
  const { resource } = query;
  const key = resource === 'orders' ? 'operation_id' : 'id';
  const { rows } = await reader.query<Recent>(
    `select project_id as "projectId", $2 as resource, slice_day as "day", created_at as "createdAt",
            first_seen_at as "firstSeenAt", ${recentColumns[resource]}
       from archive.${resource} r
      where project_id = $1
      order by slice_day desc, coalesce(created_at, 'infinity'::timestamptz) desc, r.${key} desc
      limit $3`,
    [query.project, resource, query.limit],
  );
  return rows;
}
