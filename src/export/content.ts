// Reading parts out of Postgres: the digest of a part's content, its bytes on disk, and the digests of its days.
import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import type { Day, ListedResource, ProjectId } from '../model.ts';
import { copyOut, type CopiedOut } from '../store/copy-stream.ts';
import type { Tx } from '../store/db.ts';
import { tableShapes } from '../store/tables.ts';
import type { DayDigest } from '../verify/digest.ts';
import {
  contentSql,
  digestsSql,
  leavesSql,
  type ExportedColumn,
  type ExportPart,
} from './tables.ts';

export type PartContent = CopiedOut & { sha256: string };

/** The content of a part, written to a file after `head` where one is named. */
export function readContent(
  tx: Tx,
  part: ExportPart,
  columns: ExportedColumn[],
  to: string | null,
  head = '',
): Promise<PartContent> {
  return copyHashed(tx, contentSql(part, columns), to, head);
}

/** The digest is that of the rows, without `head`. */
export async function copyHashed(
  tx: Tx,
  sql: string,
  to: string | null,
  head = '',
): Promise<PartContent> {
  const hash = createHash('sha256');
  const file = to === null ? null : await open(to, 'w');
  try {
    if (head !== '') await file?.writeFile(head);
    const copied = await copyOut(tx, sql, async (piece) => {
      hash.update(piece);
      await file?.writeFile(piece);
    });
    return { ...copied, sha256: hash.digest('hex') };
  } finally {
    await file?.close();
  }
}

/**
 * The digests of the days of a month that have records. A day of up to `mostHeld` of them is digested by Postgres,
 * which holds about 100 bytes of each meanwhile.
 */
export async function readDayDigests(
  tx: Tx,
  resource: ListedResource,
  project: ProjectId,
  month: string,
  mostHeld = 100_000,
): Promise<DayDigest[]> {
  const { table, key } = tableShapes[resource];
  const { rows: counted } = await tx.query<{ day: Day; records: number }>(
    `select slice_day as day, count(*)::int as records from ${table}
      where project_id = $1 and slice_day >= $2 and slice_day < ($2::date + interval '1 month')::date
      group by 1 order by 1`,
    [project, `${month}-01`],
  );
  const usual = counted.filter(({ records }) => records <= mostHeld).map(({ day }) => day);
  const { rows } = await tx.query<{ day: Day; digest: string | null }>(digestsSql(table, key), [
    project,
    usual,
  ]);
  const digests = new Map(rows.map(({ day, digest }) => [day, digest]));
  const days: DayDigest[] = [];
  for (const { day, records } of counted) {
    const digest =
      digests.get(day) ?? (await copyHashed(tx, leavesSql(table, key, project, day), null)).sha256;
    days.push({ day, records, digest });
  }
  return days;
}
