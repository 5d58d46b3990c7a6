// Which months are over and have no certificate yet: asked of the ledger at the end of every run, so it must cost next
// to nothing however long the ledger is.
import type { Day, ProjectId } from '../model.ts';
import type { MonthKey } from './certificates.ts';
import type { Queryable } from './db.ts';

/**
 * Months before `windowFrom` that have no certificate although every slice is final or lost, and whose newest page was asked for by `observedBy` (RFC 3339); the earliest first. A month before the first one that
 * is accounted for (P7) has been asked for by a person: it counts once each of its days has. Where every month has its
 * certificate this touches an index a few times for each list, however long the ledger is.
 */
export async function monthsToCertify(
  db: Queryable,
  projectId: ProjectId,
  windowFrom: Day,
  observedBy: string,
): Promise<MonthKey[]> {
  const { rows } = await db.query<MonthKey>(
    `with recursive lists as (
       (select resource, owner from sync.slices where project_id = $1 order by resource, owner limit 1)
       union all
       select next.resource, next.owner
         from lists
        cross join lateral (select s.resource, s.owner
                              from sync.slices s
                             where s.project_id = $1 and (s.resource, s.owner) > (lists.resource, lists.owner)
                             order by s.resource, s.owner
                             limit 1) next
     ),
     beginnings as (
       select lists.resource, date_trunc('month', min(first.day))::date as month
         from lists
        cross join lateral (select s.day
                              from sync.slices s
                             where s.project_id = $1 and s.resource = lists.resource and s.owner = lists.owner
                               and s.day > '0001-01-01'
                             order by s.day
                             limit 1) first
        group by lists.resource
     ),
     uncertified as (
       select b.resource, m::date as month
         from beginnings b
        cross join generate_series(b.month::timestamp, $2::timestamp - interval '1 month', interval '1 month') m
        where not exists (select from sync.certificates c
                           where c.project_id = $1 and c.resource = b.resource and c.month = m::date)
     )
     select u.resource, u.month
       from uncertified u
      cross join lateral (select bool_and(s.state in ('final', 'lost')) as is_over,
                                 coalesce(max(s.observed_at) <= $3, true) as is_quiet,
                                 count(distinct s.day) as days
                            from lists
                            join sync.slices s on s.project_id = $1 and s.resource = lists.resource and s.owner = lists.owner
                           where lists.resource = u.resource
                             and s.day >= u.month and s.day < (u.month + interval '1 month')::date) held
      where held.is_over and held.is_quiet
        and (u.month >= (select date_trunc('month', first_day) from sync.projects where project_id = $1)
             or held.days = extract(day from u.month + interval '1 month' - interval '1 day'))
      order by u.month, u.resource`,
    [projectId, windowFrom, observedBy],
  );
  return rows;
}
