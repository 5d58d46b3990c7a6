// What an archive is of: its projects, and how every resource of them stands.
import * as z from 'zod';
import { sliceStates, type ListedResource, type ProjectId } from '../model.ts';
import { countsByState } from '../store/ledger.ts';
import { parseArguments, project as projectName } from './arguments.ts';
import type { Reader } from './reader.ts';
import type { Summary } from './reports.ts';

const summaryArguments = z.strictObject({ project: projectName.optional() });

/**
 * How many records a project holds of a list; `project` is an expression. The journal knows it (analytics.record_totals);
 * what no journal tells of is counted.
 */
export const recordsHeld = (resource: ListedResource, project: string): string =>
  `coalesce((select t.records from analytics.record_totals t
               where t.project_id = ${project} and t.resource = '${resource}'),
            (select count(*) from archive.${resource} r where r.project_id = ${project}))`;

const heldIn = (resource: ListedResource, table: string): string =>
  `select p.project_id, '${resource}' as resource,
          ${recordsHeld(resource, 'p.project_id')}::float8 as records,
          (select min(slice_day) from ${table} r where r.project_id = p.project_id) as oldest,
          (select max(slice_day) from ${table} r where r.project_id = p.project_id) as newest
     from analytics.projects p
    where $1::text is null or p.project_id = $1`;

const statement = `
  with held as (
    ${heldIn('orders', 'archive.orders')}
    union all
    ${heldIn('nft_classes', 'archive.nft_classes')}
  ),
  ledger as (
    select project_id, resource,
           ${countsByState()},
           count(*) filter (where is_held)::int                  as held,
           count(*) filter (where is_settled)::int               as settled,
           sum(unresolved)::float8                               as unresolved,
           sum(rejected)::float8                                 as rejected,
           min(deadline_at) filter (where state not in ('final', 'lost')) as next_deadline
      from analytics.coverage
     where $1::text is null or project_id = $1
     group by project_id, resource
  )
  select project_id as "projectId", resource, records, oldest as "oldestDay", newest as "newestDay",
         json_build_object(${sliceStates.map((state) => `'${state}', coalesce(${state}, 0)`).join(', ')}) as days,
         coalesce(held, 0) as held, coalesce(settled, 0) as settled,
         coalesce(unresolved, 0) as unresolved, coalesce(rejected, 0) as rejected,
         next_deadline as "nextDeadlineAt"
    from held left join ledger using (project_id, resource)
   order by project_id, resource desc`;

/** By project, orders first. A resource nothing is asked of has no days. */
export async function readSummary(
  reader: Reader,
  given: { project?: string } = {},
): Promise<Summary[]> {
  const { project } = parseArguments('summary', summaryArguments, given);
  const { rows } = await reader.query<Summary>(statement, [project ?? null]);
  return rows;
}

/** By name, for whoever has not said which one is meant. */
export async function readProjects(reader: Reader): Promise<ProjectId[]> {
  const { rows } = await reader.query<{ project_id: ProjectId }>(
    'select project_id from analytics.projects order by project_id',
  );
  return rows.map((row) => row.project_id);
}
