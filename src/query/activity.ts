// What goes on now, and what came in lately: asked again and again, so that neither looks at more than a few rows.
import * as z from 'zod';
import { listedResources } from '../model.ts';
import { oneOf, parseArguments, project, whole } from './arguments.ts';
import type { Reader } from './reader.ts';
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

type Flat = Pick<Progress, 'project' | 'revision' | 'inHand' | 'slicesDue' | 'slicesWaiting'> &
  Pick<Progress, 'nextDueAt' | 'succeededAt' | 'archiveNow'> & {
    runId: string | null;
    runStartedAt: string;
    runSlicesDone: number;
    runRecordsShown: string;
    certificateResource: NonNullable<Progress['certificate']>['resource'] | null;
    certificateMonth: string;
    certifiedAt: string;
    certificateDigest: string;
    parkedAt: string | null;
    parkedReason: string | null;
    askAgainAt: string | null;
  };

/**
 * Null where no run could enter the project yet. One statement: of two months of two lists it takes 12 ms over HTTP on
 * a busy machine. What is final is not looked at.
 */
export async function readProgress(
  reader: Reader,
  given: { project: string },
): Promise<Progress | null> {
  const query = parseArguments('progress', ofProject, given);
  const { rows } = await reader.query<Flat>(
    `select project_id as "project", revision, run_id as "runId", run_started_at as "runStartedAt",
            run_slices_done as "runSlicesDone", run_records_shown as "runRecordsShown",
            (select coalesce(json_agg(json_build_object('resource', h.resource, 'owner', h.owner, 'day', h.day, 'pages', h.pages)
                                      order by h.day, h.resource desc, h.owner), '[]')
               from analytics.slices_in_hand h where h.project_id = $1) as "inHand",
            slices_due as "slicesDue", slices_waiting as "slicesWaiting", next_due_at as "nextDueAt",
            succeeded_at as "succeededAt", certificate_resource as "certificateResource",
            certificate_month as "certificateMonth", certified_at as "certifiedAt",
            certificate_digest as "certificateDigest", parked_at as "parkedAt", parked_reason as "parkedReason",
            ask_again_at as "askAgainAt", archive_now as "archiveNow"
       from analytics.progress where project_id = $1`,
    [query.project],
  );
  const [row] = rows;
  if (row === undefined) return null;
  const { runId, runStartedAt, runSlicesDone, runRecordsShown, ...more } = row;
  const { certificateResource, certificateMonth, certifiedAt, certificateDigest, ...others } = more;
  const { parkedAt, parkedReason, askAgainAt, ...rest } = others;
  return {
    ...rest,
    run:
      runId === null
        ? null
        : {
            runId,
            startedAt: runStartedAt,
            slicesDone: runSlicesDone,
            recordsShown: Number(runRecordsShown),
          },
    certificate:
      certificateResource === null
        ? null
        : {
            resource: certificateResource,
            month: certificateMonth,
            certifiedAt,
            digest: certificateDigest,
          },
    parked: parkedAt === null ? null : { at: parkedAt, reason: parkedReason, askAgainAt },
  };
}

const recentColumns = {
  orders: `operation_id as id, status, amount, account as name`,
  nft_classes: `id, null::integer as status, null::numeric as amount, name`,
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
    `select project_id as "project", $2 as resource, slice_day as "day", created_at as "createdAt",
            first_seen_at as "firstSeenAt", ${recentColumns[resource]}
       from archive.${resource} r
      where project_id = $1
      order by slice_day desc, coalesce(created_at, 'infinity'::timestamptz) desc, r.${key} desc
      limit $3`,
    [query.project, resource, query.limit],
  );
  return rows;
}
