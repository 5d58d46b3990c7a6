// The leaves of a month: the contents that were in force at a moment, the row where it had been observed by then, else
// the version that had. So a certificate holds although its records changed later. And days whose digest differs,
// against the file of leaves: which record is altered, missing or extra.
import { addDays, isDay, monthStart } from '../day.ts';
import { linesOf } from '../files.ts';
import type { Day, ListedResource } from '../model.ts';
import type { Tx } from '../store/db.ts';
import type { ProjectList } from '../store/read-held.ts';
import { tableShapes } from '../store/record-tables.ts';
import { readInPages } from '../store/snapshot.ts';
import { readLeafLine, type Leaf } from './digest.ts';
import { reportRows, type Report } from './finding.ts';

/**
 * The leaves at the moment `$4` of the days from `$2` to before `$3`, in their order; `sha256` is null where nothing had
 * been observed yet. A record counts for the day that its row says. The row is in force since it was observed; which of
 * its versions was before, the precedence says that its commit went by (P2). `$1` is the project.
 */
function leavesSql(resource: ListedResource): string {
  const { table, versions, key, precedence } = tableShapes[resource];
  const newestFirst = [...precedence, 'observed_at', 'raw_sha256'].join(' desc, ');
  // Key columns are collate "C": their order is that of the bytes.
  return `
    select slice_day as day, ${key} as id,
           encode(case when observed_at <= $4 then raw_sha256
                       else (select raw_sha256 from ${versions} v
                              where v.project_id = $1 and v.${key} = o.${key} and v.observed_at <= $4
                              order by ${newestFirst} desc limit 1) end, 'hex') as sha256
      from ${table} o
     where project_id = $1 and slice_day >= $2 and slice_day < $3
     order by slice_day, ${key}`;
}

/** Hands on the leaves in their order; returns of how many records of the month nothing had been observed yet. */
export async function leavesInForce(
  tx: Tx,
  { projectId, resource }: ProjectList,
  month: Day,
  at: string,
  onLeaf: (leaf: Leaf) => Promise<void> | void,
): Promise<{ later: number }> {
  let later = 0;
  await readInPages<Omit<Leaf, 'sha256'> & { sha256: string | null }>(
    tx,
    leavesSql(resource),
    [projectId, month, monthStart(month, 1), at],
    async (leaves) => {
      for (const { day, id, sha256 } of leaves) {
        if (sha256 === null) later += 1;
        else await onLeaf({ day, id, sha256 });
      }
    },
  );
  return { later };
}

/**
 * A day's certified leaves (`$5` ids, `$6` digests) against what is in force: a statement whose rows are findings. Of a
 * record that has only changed its day since, the journal says whether another day's list has shown it; what changed
 * later, its day perhaps too, must be among its versions.
 */
function comparedWithLeaves(resource: ListedResource): string {
  const { table, versions, key } = tableShapes[resource];
  return `
    with held as (${leavesSql(resource)}),
    certified as (select id collate "C" as id, sha256 from unnest($5::text[], $6::text[]) leaf (id, sha256)),
    differing as (
      select id, c.sha256 as certified
        from certified c full join (select * from held where sha256 is not null) h using (id)
       where c.sha256 is distinct from h.sha256
    )
    select case when certified is null then 'extra' when now is null then 'missing' else 'altered' end as kind,
           $2::date as when, id,
           case when certified is null then 'it is held as of the certified moment, and is not certified'
                when now is null then 'it is certified and no longer held'
                when has_changed then 'it changed since it was certified, and the version that was certified is no longer held'
                else format('certified is raw_sha256 %s, held %s', certified, now) end as says
      from differing d
      left join lateral (select encode(raw_sha256, 'hex') as now, observed_at > $4 as has_changed,
                                exists (select from ${versions} v
                                         where v.project_id = $1 and v.${key} = d.id and v.observed_at <= $4
                                           and v.raw_sha256 = decode(d.certified, 'hex')) as is_kept
                           from ${table} o where o.project_id = $1 and o.${key} = d.id) row on true
     where certified is null or now is null or (now <> certified and not (has_changed and is_kept))
     order by id`;
}

/** The file is as it was certified: its leaves are in the order of their days. Each day that differs reads it anew. */
export async function compareWithLeaves(
  tx: Tx,
  { projectId, resource }: ProjectList,
  { month, certifiedAt: at }: { month: Day; certifiedAt: string },
  days: ReadonlySet<Day>,
  leavesPath: string,
  report: Report,
): Promise<void> {
  const sql = comparedWithLeaves(resource);
  for (const day of [...days].toSorted()) {
    // A certificate that was altered may name anything: only days of its month have leaves.
    if (!isDay(day) || monthStart(day) !== month) continue;
    const [ids, digests]: [string[], string[]] = [[], []];
    for await (const line of linesOf(leavesPath)) {
      const of = line.slice(0, day.length);
      if (of > day) break;
      const leaf = of === day ? readLeafLine(line) : null;
      if (leaf === null) continue;
      ids.push(leaf.id);
      digests.push(leaf.sha256);
    }
    await reportRows(tx, sql, [projectId, day, addDays(day, 1), at, ids, digests], report);
  }
}
