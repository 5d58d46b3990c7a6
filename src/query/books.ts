// The archive's own books, as the reader's role sees them: certificates of months, runs, records without a usable id,
// and the operations whose results are asked for by their ids, with what became of each (P7).
import * as z from 'zod';
import { resources, wholeList } from '../model.ts';
import {
  isId,
  isStorable,
  listedResource,
  month,
  oneOf,
  paging,
  parseArguments,
  project,
  resource,
  sha256,
} from './arguments.ts';
import { optional } from './check-arguments.ts';
import { isTime } from './instant.ts';
import { days, isArchiveDay } from './days.ts';
import { keyedPage } from './cursor.ts';
import type { Reader } from './reader.ts';
import type { Page } from './types.ts';
import type {
  CertificateQuery,
  MonthCertificate,
  Reject,
  RejectQuery,
  RejectWithBytes,
  Run,
  RunQuery,
  WatchedOperation,
  WatchedQuery,
} from './book-types.ts';

/** What certificates and rejects can be narrowed by, whoever asks. */
export const certificateFilters = { resource: listedResource, month };
export const rejectFilters = {
  resource: resource.describe(
    'Of this resource only. Classes that another project archives are asked for by it',
  ),
  ...days,
};
const certificateArguments = z.strictObject({
  project,
  ...optional({ ...certificateFilters, resource }),
});
const runArguments = z.strictObject({ project, ...paging });
const rejectArguments = {
  list: z.strictObject({ project, ...optional(rejectFilters), ...paging }),
  one: z.strictObject({
    project,
    resource,
    sha256: z.preprocess((hex) => (typeof hex === 'string' ? hex.toLowerCase() : hex), sha256),
  }),
};

/** By month and resource, orders first: a few dozen a year. */
export async function listCertificates(
  reader: Reader,
  given: CertificateQuery,
): Promise<MonthCertificate[]> {
  const query = parseArguments('certificates', certificateArguments, given);
  const { rows } = await reader.query<Omit<MonthCertificate, 'records'> & { records: string }>(
    `select project_id as "project", resource, month, certified_at as "certifiedAt", records, digest,
            certificate::text as "certificateJson"
       from analytics.certificates
      where project_id = $1 and ($2::text is null or resource = $2) and ($3::date is null or month = $3)
      order by month, resource desc`,
    [query.project, query.resource ?? null, query.month === undefined ? null : `${query.month}-01`],
  );
  return rows.map((row) => ({ ...row, records: Number(row.records) }));
}

type RunRow = Omit<Run, 'recordsShown' | 'recordsNew' | 'recordsChanged' | 'recordsRejected'> &
  Record<'recordsShown' | 'recordsNew' | 'recordsChanged' | 'recordsRejected', string>;

/** The newest first. */
export function listRuns(reader: Reader, given: RunQuery): Promise<Page<Run>> {
  const query = parseArguments('runs', runArguments, given);
  return keyedPage('runs', query, {
    rows: async (after, atMost) => {
      const { rows } = await reader.query<RunRow>(
        `select project_id as "project", run_id as "runId", started_at as "startedAt", ended_at as "endedAt", outcome,
                requests, slices_done as "slicesDone", records_shown as "recordsShown", records_new as "recordsNew",
                records_changed as "recordsChanged", records_rejected as "recordsRejected", last_error as "lastError"
           from analytics.runs
          where project_id = $1
            and started_at <= coalesce($2::timestamptz, 'infinity')
            and ($2::timestamptz is null or (started_at, run_id) < ($2, $3))
          order by started_at desc, run_id desc
          limit $4`,
        [query.project, after?.[0] ?? null, after?.[1] ?? null, atMost],
      );
      return rows.map((row) => ({
        ...row,
        recordsShown: Number(row.recordsShown),
        recordsNew: Number(row.recordsNew),
        recordsChanged: Number(row.recordsChanged),
        recordsRejected: Number(row.recordsRejected),
      }));
    },
    keyOf: ({ startedAt, runId }) => [startedAt, runId],
    parts: [isTime, isStorable],
  });
}

/** What no list of days showed stands under no day. */
const rejectColumns = `
  project_id as "project", resource, owner, nullif(day, '${wholeList}') as "day", reason, seen_at as "seenAt", sha256,
  octet_length(bytes) as "byteCount"`;

/** By day, resource and digest; first those under no day. */
export function listRejects(reader: Reader, given: RejectQuery): Promise<Page<Reject>> {
  const query = parseArguments('rejects', rejectArguments.list, given);
  return keyedPage('rejects', query, {
    rows: async (after, atMost) => {
      const { rows } = await reader.query<Reject>(
        `select ${rejectColumns}
           from analytics.rejects r
          where project_id = $1 and ($2::text is null or resource = $2)
            and ($3::date is null or day >= $3) and ($4::date is null or day < $4)
            and (day, resource, sha256 collate "C") > (coalesce($5::date, '-infinity'), $6::text collate "C", $7::text)
          order by r.day, resource, sha256 collate "C"
          limit $8`,
        [
          query.project,
          query.resource ?? null,
          query.from ?? null,
          query.to ?? null,
          after?.[0] ?? null,
          after?.[1] ?? '',
          after?.[2] ?? '',
          atMost,
        ],
      );
      return rows;
    },
    keyOf: ({ day, resource, sha256 }) => [day ?? wholeList, resource, sha256],
    parts: [
      isArchiveDay,
      (resource) => resources.some((one) => one === resource),
      (sha256) => /^[0-9a-f]{64}$/.test(sha256),
    ],
  });
}

/** One reject with its bytes; its digest is hex in either case. */
export async function getReject(
  reader: Reader,
  of: string,
  list: string,
  digest: string,
): Promise<RejectWithBytes | null> {
  const given = { project: of, resource: list, sha256: digest };
  const key = parseArguments('reject', rejectArguments.one, given);
  const { rows } = await reader.query<RejectWithBytes>(
    `select ${rejectColumns}, bytes
       from analytics.rejects where project_id = $1 and resource = $2 and sha256 = $3`,
    [key.project, key.resource, key.sha256],
  );
  return rows[0] ?? null;
}

/** What operations watched can be narrowed by, whoever asks. */
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
