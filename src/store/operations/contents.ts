// Operations that were given and their certificate files, read for proof. One statement a function; it judges nothing.
import type { ProjectId } from '../../model.ts';
import { within, type Narrowed } from '../read-held.ts';
import type { Tx } from '../db.ts';
import { readInPages } from '../snapshot.ts';

const bounds = (projectId: ProjectId, days: Narrowed): unknown[] => [
  projectId,
  days?.from ?? null,
  days?.to ?? null,
];

const utcDay = (column: string): string => `(${column} at time zone 'UTC')::date`;

/** Operations first seen in these days of which a result or a file is held, and which nobody ever gave. */
export function readUnaskedResults(
  tx: Tx,
  projectId: ProjectId,
  days: Narrowed,
  onIds: (ids: { id: string }[]) => Promise<void>,
): Promise<void> {
  return readInPages(
    tx,
    `select t.operation_id as id
       from (select operation_id from archive.transactions
              where project_id = $1 and ${within(utcDay('first_seen_at'))}
              union
             select operation_id from archive.certificate_files
              where project_id = $1 and ${within(utcDay('fetched_at'))}) t
       left join sync.watched_operations w on w.project_id = $1 and w.operation_id = t.operation_id
      where w.operation_id is null
      order by t.operation_id`,
    bounds(projectId, days),
    onIds,
  );
}

export type HeldFile = {
  id: string;
  /** Its bytes are not those that its digest was made of. */
  is_altered: boolean;
  /** Its digest is not the one that was noted with the operation's result. */
  is_other: boolean;
  /** No result or earlier version of one that is held names its link. */
  is_unnamed: boolean;
};

/** Every certificate file fetched in these days. */
export function readFiles(
  tx: Tx,
  projectId: ProjectId,
  days: Narrowed,
  onFiles: (files: HeldFile[]) => Promise<void>,
): Promise<void> {
  return readInPages(
    tx,
    `select f.operation_id as id,
            sha256(f.bytes) <> f.sha256 as is_altered,
            coalesce(w.file_sha256 <> f.sha256, false) as is_other,
            not exists (select from archive.transactions t
                         where t.project_id = $1 and t.operation_id = f.operation_id
                           and t.raw #>> '{record,certificate_url}' = f.url)
            and not exists (select from archive.transaction_versions v
                             where v.project_id = $1 and v.operation_id = f.operation_id
                               and v.raw #>> '{record,certificate_url}' = f.url) as is_unnamed
       from archive.certificate_files f
       left join sync.watched_operations w on w.project_id = $1 and w.operation_id = f.operation_id
      where f.project_id = $1 and ${within(utcDay('f.fetched_at'))}`,
    bounds(projectId, days),
    onFiles,
  );
}

/** Operations given in these days whose file was kept and is not held any more. */
export function readFilesUnheld(
  tx: Tx,
  projectId: ProjectId,
  days: Narrowed,
  onIds: (ids: { id: string }[]) => Promise<void>,
): Promise<void> {
  return readInPages(
    tx,
    `select w.operation_id as id
       from sync.watched_operations w
       left join archive.certificate_files f on f.project_id = $1 and f.operation_id = w.operation_id
      where w.project_id = $1 and w.file_sha256 is not null and f.operation_id is null
        and ${within(utcDay('w.added_at'))}
      order by w.operation_id`,
    bounds(projectId, days),
    onIds,
  );
}
