-- A record that had no usable id for a while counts against its day until a whole walk, a day after it was first seen, is
-- without it.
create or replace view analytics.coverage as
select s.project_id,
       s.resource,
       s.owner,
       s.day,
       s.state,
       s.proof,
       s.proved_at,
       s.walked_at,
       s.observed_at as newest_page_at,
       s.platform_total,
       s.shown_total,
       s.unresolved,
       coalesce(r.rejected, 0) as rejected,
       s.deadline_at,
       array_remove(array[
         case when s.state = 'lost' then 'lost' end,
         case when s.state in ('walked', 'final') and s.proof = 'none' then 'no_proof' end,
         case when s.state = 'final' and s.proved_at < s.deadline_at - interval '3 days'
                   and s.deadline_at < '9999-01-01' then 'proved_before_closing' end,
         case when s.unresolved > 0 then 'unresolved_orders' end
       ], null) as reservations,
       s.last_error
  from sync.slices s
  left join (select project_id, resource, owner, day, count(*) as rejected
               from sync.rejects r
               join sync.slices walked using (project_id, resource, owner, day)
              where walked.whole_walk = 0
                 or walked.walked_at is null
                 or walked.walked_at < r.seen_at + interval '24 hours'
                 or exists (select from sync.pages p
                             where p.project_id = r.project_id and p.resource = r.resource and p.owner = r.owner
                               and p.day = r.day and p.walk >= walked.whole_walk and r.sha256 = any (p.rejects))
              group by project_id, resource, owner, day) r using (project_id, resource, owner, day)
 where s.day > '0001-01-01';
--> statement-breakpoint
comment on column analytics.coverage.rejected is 'Records without a usable id, kept as bytes aside, but for those that a whole walk a day later was without';
