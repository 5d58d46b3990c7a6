// What the manifest says of each month: the digest of what is held of it, and how sure the archive is of its days.
import type { Day, ProjectId } from '../model.ts';
import type { Tx } from '../store/db.ts';
import { countsByState } from '../store/ledger.ts';
import { createMonthDigest, monthDigest, type DayDigest } from '../verify/digest.ts';
import type { ExportedFile, ExportedMonth } from './manifest.ts';

type Covered = Omit<ExportedMonth, 'records' | 'digest'> & { days: Day[] };

/** By project, resource and month. */
export async function readExportedMonths(
  tx: Tx,
  projects: ProjectId[],
  files: ExportedFile[],
): Promise<ExportedMonth[]> {
  const { rows } = await tx.query<Covered>(
    `select project_id as project, resource, to_char(day, 'YYYY-MM') as month,
            array_agg(distinct day::text)                        as days,
            count(*)::int                                        as slices,
            ${countsByState()},
            (count(*) filter (where is_held))::int               as held,
            (count(*) filter (where is_settled))::int            as settled
       from analytics.coverage
      where project_id = any ($1)
      group by 1, 2, 3
      order by 1, 2, 3`,
    [projects],
  );
  return rows.map(({ days, ...covered }) => {
    const file = files.find(
      ({ project, path, month }) =>
        project === covered.project &&
        month === covered.month &&
        path.startsWith(`${project}/${covered.resource}/`),
    );
    const kept = withEmptyDays(days, file?.days ?? []);
    return {
      ...covered,
      records: kept.reduce((sum, { records }) => sum + records, 0),
      digest: monthDigest(kept),
    };
  });
}

/** Days that are accounted for count although they have no record. */
function withEmptyDays(days: Day[], held: DayDigest[]): DayDigest[] {
  const all = new Map(
    createMonthDigest(days)
      .end()
      .days.map((day) => [day.day, day]),
  );
  for (const day of held) all.set(day.day, day);
  return [...all.values()].toSorted((a, b) => (a.day < b.day ? -1 : 1));
}
