-- What is held and how sure that is, for people and BI tools, and for the query module, which sees `archive` and
-- `analytics` only. These views read `sync` with their owner's rights: a reader is shown coverage and never leases,
-- keys or page keys.
create view analytics.schema_version as
select count(*)::integer as migrations, max(created_at) as newest, array_agg(hash order by id) as digests
  from sync.migrations;
comment on view analytics.schema_version is 'Which release wrote this schema; a reader compares it with its own';
comment on column analytics.schema_version.migrations is 'How many migrations were applied';
comment on column analytics.schema_version.newest is 'When the newest of them was written, milliseconds since 1970';
comment on column analytics.schema_version.digests is 'The SHA-256 of each, in the order in which they were applied';

create view analytics.projects as
select project_id, first_day, added_at, parked_at, parked_reason, ask_again_at
  from sync.projects;
comment on view analytics.projects is 'The projects archived here';
comment on column analytics.projects.project_id is 'The name of the project';
comment on column analytics.projects.first_day is
  'The first UTC day that is accounted for; nothing is claimed about days before it';
comment on column analytics.projects.added_at is 'When the project was first seen here';
comment on column analytics.projects.parked_at is 'Since when the platform refuses this project; null while it answers';
comment on column analytics.projects.parked_reason is 'What the platform said when it refused';
comment on column analytics.projects.ask_again_at is 'When a parked project is asked for again';

-- What was observed of a platform, for whoever reads the archive: how an end date is read decides what a day's list
-- holds.
create view analytics.facts as
select project_id, fact, value, confirmed_at, changed_at, previous
  from sync.facts
 where fact !~ '\.(probed|contact)$';
comment on view analytics.facts is 'What was observed of the platform''s undocumented behaviour';
comment on column analytics.facts.fact is 'Its name, for example orders.limit';
comment on column analytics.facts.value is 'What was observed, for example 50';
comment on column analytics.facts.confirmed_at is 'When it was observed last, on the platform''s clock';
comment on column analytics.facts.changed_at is 'When the platform began to behave so, on its clock';
comment on column analytics.facts.previous is 'What was observed before; null while it never changed';

create view analytics.runs as
select project_id, run_id, started_at, ended_at, outcome, requests, slices_done,
       records_shown, records_new, records_changed, records_rejected, last_error
  from sync.runs;

create view analytics.alerts as
select project_id, kind, subject, text, opened_at, told_at, resolved_at,
       resolved_at is not null and resolved_at <= opened_at as is_news
  from sync.alerts;

create view analytics.slices_in_hand as
select project_id, resource, owner, nullif(day, '0001-01-01') as day,
       walk,
       (checkpoint #>> '{next,number}')::integer as pages
  from sync.slices
 where checkpoint is not null and due_at <= clock_timestamp()
   and exists (select from sync.holders h where h.project_id = slices.project_id and h.held_until >= clock_timestamp());
comment on view analytics.slices_in_hand is 'The days that are being read at this moment';
comment on column analytics.slices_in_hand.owner is 'The owner whose classes these are; empty for the whole list';
comment on column analytics.slices_in_hand.day is 'The UTC day; null for an owner''s whole list';
comment on column analytics.slices_in_hand.walk is 'The number of the walk in progress';
comment on column analytics.slices_in_hand.pages is 'How many pages that walk has read';

-- P7: each slice with what may be claimed of it, said once for every view, page and report: that all of it is held, and
-- that all of it is settled. A slice that is still open makes no claim, so that it has no reservation but pending orders.
-- The whole list of an owner, whatever its days, is walked under the day 0001-01-01: it finds classes that were
-- transferred in. It is no day of the calendar and makes no claim about one. Days that were asked for after they had
-- left the window have no deadline (9999-12-31): nothing overtakes them, so that they stay open until they are proved. A record
-- that had no usable id for a while counts against its day until a whole walk, a day after it was first seen, is
-- without it.
create view analytics.coverage as
select s.project_id,
       s.resource,
       s.owner,
       s.day,
       s.state,
       s.proof,
       -- Proved and not held: a record of it was left out.
       case when s.proof <> 'none' and r.rejected is not null then 'rejects' else s.why end as why,
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
         case when s.unresolved > 0 then 'unresolved_orders' end
       ], null) as reservations,
       claim.is_held,
       claim.is_held and s.unresolved = 0 as is_settled,
       s.last_error,
       s.due_at
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
 cross join lateral (select s.state not in ('open', 'lost') and s.proof <> 'none' and r.rejected is null as is_held) claim
 where s.day > '0001-01-01';
comment on column analytics.coverage.newest_page_at is
  'When the newest page held was asked for, on the platform''s clock; no record held is first seen later';

-- To count the rows takes as long as there are rows. Written with them, in the same transaction (P1), the figure is as
-- exact; `outlast verify` compares it with the journal, and the journal with the rows.
create view analytics.record_totals as
select project_id, resource, records
  from sync.chains
 cross join lateral (values ('orders', orders), ('nft_classes', nft_classes)) lists (resource, records);
comment on view analytics.record_totals is
  'How many records of each list are held, missing ones included, without counting them: as many as were ever archived';
comment on column analytics.record_totals.records is 'Records held';

-- What an auditor asks of one day besides.
create view analytics.readings as
select project_id, resource, owner, day, no as reading_no,
       case from_end when 'asc' then 'oldest' else 'newest' end as begins_at,
       began_at, ended_at, shown, pending, lacks, claims
  from sync.readings;
comment on view analytics.readings is
  'Each whole reading of a past day: two of them, one from each end of the list, prove it';
comment on column analytics.readings.reading_no is 'The number of its entry in the project''s journal';
comment on column analytics.readings.begins_at is 'Whether it began at the oldest or at the newest record';
comment on column analytics.readings.began_at is 'On the platform''s clock';
comment on column analytics.readings.ended_at is 'On the platform''s clock';
comment on column analytics.readings.shown is 'How many distinct records it was shown, rejects included';
comment on column analytics.readings.pending is 'Of them, orders that were pending';
comment on column analytics.readings.lacks is 'How many records that were held of the day it did not show';
comment on column analytics.readings.claims is 'How many more records a total of it counted than it showed';

create view analytics.day_history as
select j.project_id, j.resource, j.owner, j.day, j.no as entry, j.entered_at, j.kind,
       coalesce(cardinality(j.ids), 0) as records,
       said ->> 'state' as state,
       said ->> 'proof' as proof,
       (said ->> 'platform_total')::bigint as platform_total,
       (said ->> 'shown_total')::bigint as shown_total,
       (said ->> 'unresolved')::integer as unresolved
  from sync.journal j
 cross join lateral (select case when j.kind = 'ledger' then j.body::jsonb end as said) ledger
 where j.day > '0001-01-01';
comment on view analytics.day_history is
  'What was written of each day, in its order: the journal''s entries, those of the ledger with what the day became';
comment on column analytics.day_history.entry is 'The number of the entry in the project''s journal';
comment on column analytics.day_history.entered_at is 'When it was written, on the database''s clock';
comment on column analytics.day_history.kind is
  'pages, contents, ledger, reading, dropped, missing, returned or certified: docs/verify.md has what each is';
comment on column analytics.day_history.records is
  'Records of which it stored a content, or that it marked as missing';
comment on column analytics.day_history.state is 'What the day''s state became; null unless kind is ledger';
comment on column analytics.day_history.proof is 'What its proof became; null unless kind is ledger';
comment on column analytics.day_history.platform_total is
  'What the platform said there is; null where unknown, and unless kind is ledger';
comment on column analytics.day_history.shown_total is
  'What the last walk was shown; null where unknown, and unless kind is ledger';
comment on column analytics.day_history.unresolved is 'Orders still pending; null unless kind is ledger';

create view analytics.books as
select project_id, resource, owner, day_from, day_to, asked_at, total,
       by_status[1] as pending, by_status[2] as succeeded, by_status[3] as failed, shown,
       case when is_more then 'more' when is_equal then 'equal' else 'less or unknown' end as balance
  from sync.books;
comment on view analytics.books is
  'The platform''s own counts of spans of days, beside what its lists showed of them: where they count more, the days '
  'are not proved';
comment on column analytics.books.day_from is 'The first UTC day of the span';
comment on column analytics.books.day_to is 'The day after its last one';
comment on column analytics.books.asked_at is
  'When the platform was asked, on its clock; the spans of one moment are the parts of one question';

create view analytics.balances as
select project_id, resource, owner, min(day_from) as first_day, max(day_to) - 1 as last_day, asked_at,
       case when count(total) = count(*) then sum(total)::bigint end as total,
       case when count(pending) = count(*) then sum(pending)::bigint end as pending,
       case when count(succeeded) = count(*) then sum(succeeded)::bigint end as succeeded,
       case when count(failed) = count(*) then sum(failed)::bigint end as failed,
       case when count(shown) = count(*) then sum(shown)::bigint end as shown,
       case when bool_or(balance = 'more') then 'more'
            when bool_and(balance = 'equal') then 'equal'
            else 'less or unknown' end as balance,
       coalesce(jsonb_agg(jsonb_build_object('from', day_from, 'to', day_to - 1,
                                             'counted', greatest(total, pending + succeeded + failed), 'shown', shown)
                          order by day_from) filter (where balance = 'more'), '[]') as more,
       min(more_since) filter (where balance = 'more') as more_since
  from (select *, max(asked_at) over list as newest,
               min(asked_at) filter (where balance = 'more' and asked_at > coalesce(balanced_at, '-infinity')) over list
                 as more_since
          from (select *, max(asked_at) filter (where not is_more) over list as balanced_at
                  from (select *, bool_or(balance = 'more') over (partition by project_id, resource, owner, asked_at)
                                    as is_more
                          from analytics.books) asked
                window list as (partition by project_id, resource, owner)) since
        window list as (partition by project_id, resource, owner)) b
 where asked_at = newest
 group by project_id, resource, owner, asked_at;

create view analytics.coverage_by_day as
select project_id,
       resource,
       day,
       date_trunc('month', day::timestamp)::date as month,
       case when bool_or(state = 'lost')   then 'lost'
            when bool_or(state = 'open')   then 'open'
            when bool_or(state = 'walked') then 'walked'
            when bool_or(state = 'final')  then 'final'
            else 'sealed' end as state,
       case when bool_or(proof = 'none')   then 'none'
            when bool_or(proof = 'readings') then 'readings'
            else 'books' end as proof,
       coalesce(min(why) filter (where not is_held), min(why)) as why,
       case when count(proved_at) = count(*) then min(proved_at) end as proved_at,
       array_remove(array[
         case when bool_or('lost' = any (reservations)) then 'lost' end,
         case when bool_or('no_proof' = any (reservations)) then 'no_proof' end,
         case when bool_or('unresolved_orders' = any (reservations)) then 'unresolved_orders' end
       ], null) as reservations,
       sum(rejected)::bigint as rejected,
       sum(unresolved)::bigint as unresolved,
       case when count(platform_total) = count(*) then sum(platform_total)::bigint end as platform_total,
       count(*)::integer as lists,
       bool_or(owner = '') as is_whole_list,
       min(deadline_at) as deadline_at,
       bool_and(is_held) as is_held,
       bool_and(is_settled) as is_settled
  from analytics.coverage
 group by project_id, resource, day;
comment on view analytics.coverage_by_day is
  'The coverage calendar: one row for each UTC day of a resource, the weakest of its lists deciding';
comment on column analytics.coverage_by_day.lists is
  'How many lists stand for the day: one, or one for each owner whose classes are archived';

create view analytics.coverage_by_month as
select project_id,
       resource,
       month,
       extract(day from month + interval '1 month' - interval '1 day')::integer as days_in_month,
       count(state)::integer as days_accounted,
       count(*) filter (where state = 'open')::integer as days_open,
       count(*) filter (where is_held)::integer as days_held,
       count(*) filter (where is_settled)::integer as days_settled,
       count(*) filter (where state = 'sealed')::integer as days_sealed,
       count(*) filter (where state = 'final')::integer as days_final,
       count(*) filter (where state = 'lost')::integer as days_lost,
       count(*) filter (where proof = 'readings')::integer as days_by_readings,
       array_remove(array[
         case when bool_or('lost' = any (reservations)) then 'lost' end,
         case when bool_or('no_proof' = any (reservations)) then 'no_proof' end,
         case when bool_or('unresolved_orders' = any (reservations)) then 'unresolved_orders' end
       ], null) as reservations,
       sum(rejected)::bigint as rejected,
       count(*) filter (where is_held) = extract(day from month + interval '1 month' - interval '1 day') as is_held,
       count(*) filter (where is_settled) = extract(day from month + interval '1 month' - interval '1 day') as is_settled
  from analytics.coverage_by_day
 group by project_id, resource, month;
comment on view analytics.coverage_by_month is 'The coverage of each calendar month, counted in days';

create view analytics.coverage_by_resource as
select project_id,
       resource,
       min(day) as first_day,
       max(day) as last_day,
       count(*)::integer as days_accounted,
       count(*) filter (where state = 'open')::integer as days_open,
       count(*) filter (where is_held)::integer as days_held,
       count(*) filter (where is_settled)::integer as days_settled,
       count(*) filter (where state = 'lost')::integer as days_lost,
       count(*) filter (where proof = 'readings')::integer as days_by_readings,
       array_remove(array[
         case when bool_or('lost' = any (reservations)) then 'lost' end,
         case when bool_or('no_proof' = any (reservations)) then 'no_proof' end,
         case when bool_or('unresolved_orders' = any (reservations)) then 'unresolved_orders' end
       ], null) as reservations,
       sum(rejected)::bigint as rejected,
       bool_and(is_whole_list) as is_whole_list
  from analytics.coverage_by_day
 group by project_id, resource;
comment on view analytics.coverage_by_resource is 'The coverage of everything archived of a resource, counted in days';
comment on column analytics.coverage_by_resource.first_day is
  'The first UTC day that the ledger knows; nothing is claimed about days before it';
comment on column analytics.coverage_by_resource.last_day is 'The last one';
comment on column analytics.coverage_by_resource.days_accounted is
  'Days from the first to the last that the ledger knows';

create view analytics.incomplete_days as
select project_id,
       resource,
       day,
       month,
       state,
       proof,
       why,
       reservations,
       rejected,
       state = 'lost' as is_lost,
       deadline_at
  from analytics.coverage_by_day
 where not is_held;
comment on view analytics.incomplete_days is
  'Every day of which not all is held, and why. Today''s is always among them. Orders that are pending are no hole: '
  'analytics.unresolved_orders';
comment on column analytics.incomplete_days.is_lost is
  'True where the month left the window before the day was read whole: for ever';

create view analytics.certificates as
select project_id, resource, month, certified_at,
       (certificate ->> 'records')::bigint as records,
       encode(digest, 'hex') as digest,
       certificate
  from sync.certificates c
 where not exists (select from sync.certificates newer
                    where newer.project_id = c.project_id and newer.resource = c.resource and newer.month = c.month
                      and newer.issue > c.issue);

create view analytics.rejects as
select project_id, resource, owner, nullif(day, '0001-01-01') as day, reason, seen_at,
       encode(sha256, 'hex') as sha256, octet_length(bytes) as byte_count, bytes, whole_length
  from sync.rejects;
comment on column analytics.rejects.bytes is
  'The record, byte for byte; only its beginning where whole_length is given';
comment on column analytics.rejects.whole_length is
  'How many bytes a record has that was too long to be taken in; null: bytes is all of it';

create view analytics.missing_records as
select project_id, 'orders' as resource, operation_id as id, slice_day as day, missing_since, first_seen_at, observed_at
  from archive.orders
 where missing_since is not null
union all
select project_id, 'nft_classes', id, slice_day, missing_since, first_seen_at, observed_at
  from archive.nft_classes
 where missing_since is not null;
comment on view analytics.missing_records is
  'Records that are held and that the platform stopped showing while their month was in the window';
comment on column analytics.missing_records.id is 'The order''s operation_id or the class''s id';
comment on column analytics.missing_records.missing_since is
  'Since when the platform no longer shows it although its month is in the window';
comment on column analytics.missing_records.observed_at is 'When what it says was first seen, on the platform''s clock';

-- Whether all is well is decided here and nowhere else: alerts, status, the pages and /metrics read these rows. What
-- cannot be said by what is stored, a process reports (sync.reported_problems). Deadlines are the platform's, so that
-- its clock decides, as the newest run or look had it. Nothing that the platform said stands in a row, and no record's
-- contents: what is told leaves the house (P10).
create view analytics.problems as
-- Of a service that is off nobody knows how the clocks stand, and the database's decides.
with clocks as (
  select project_id,
         case when clock_noted_at between now() - interval '1 hour' and now() then clock_ahead else '0' end as clock_ahead
    from sync.projects
)
select found.project_id,
       found.kind,
       case when kinds.is_news and a.opened_at < found.now - interval '1 day' then 'info' else kinds.level end as level,
       found.subject,
       found.numbers,
       kinds.is_news,
       a.opened_at as since,
       found.until
  from (select p.project_id, p.now, own.*
          from (select project_id, added_at, parked_at, known.*
                  from (select project_id, added_at, parked_at from sync.projects) projects
                  join clocks using (project_id)
                 -- `offset 0`: once for a project, and not for each of its days.
                 cross join lateral (
                   select now() + clock_ahead as now,
                          (select count(*) = 3 and bool_and(outcome = 'failed')
                             from (select outcome from sync.runs r
                                    -- Between failures a run that had nothing to do says nothing.
                                    where r.project_id = projects.project_id and ended_at is not null and outcome <> 'idle'
                                    order by started_at desc limit 3) newest) as has_failed,
                          -- While a run is in progress: since when its process has held the project.
                          (select h.held_since + clock_ahead
                             from sync.holders h
                            where h.project_id = projects.project_id and h.held_until >= now()
                              and (select r.ended_at is null from sync.runs r
                                    where r.project_id = projects.project_id
                                    order by started_at desc limit 1)) as begun_at,
                          -- Where nobody asks for a list any more, what is not read of it is no trouble.
                          (select coalesce(array_agg(split_part(fact, '.', 1)), '{}')
                             from sync.facts f
                            where f.project_id = projects.project_id and fact like '%.contact' and value ~ '^unused') as unused
                   offset 0) known) p
         cross join lateral (
           -- Months of a list by their days. Day 0001-01-01 is an owner's whole list, which has no deadline. A day that
           -- was read once waits for its second reading, until readings of its month only add (14 hours before it goes).
           select told.kind,
                  list || ' ' || case when month = '0001-01-01' then 'as a whole' else to_char(month, 'YYYY-MM') end as subject,
                  jsonb_build_object('resource', resource, 'owner', owner, 'month', month::date, 'days', told.days,
                                     'first', array_remove(told.first, '0001-01-01'), 'deadline', deadline_at,
                                     'cliff', cliff) as numbers,
                  told.until
             from (select resource, owner, month, cliff, max(deadline_at) as deadline_at,
                          resource || case owner when '' then '' else ' of ' || owner end as list,
                          count(*) filter (where is_unproved) as unproved,
                          (array_agg(day order by day) filter (where is_unproved))[1:3] as unproved_first,
                          count(*) filter (where is_failing) as failing,
                          (array_agg(day order by day) filter (where is_failing))[1:3] as failing_first,
                          count(*) filter (where state = 'lost') as lost,
                          (array_agg(day order by day) filter (where state = 'lost'))[1:3] as lost_first,
                          count(*) filter (where is_final) as final,
                          (array_agg(day order by day) filter (where is_final))[1:3] as final_first
                     from (select s.*, month, cliff,
                                  state in ('open', 'walked') and proof = 'none' and is_used
                                    and not (why is not distinct from 'read once' and p.now < cliff - interval '14 hours')
                                    as is_unproved,
                                  -- The fifth attempt comes about a quarter of an hour after the first.
                                  state not in ('final', 'lost') and attempts >= 5 and last_error is not null and is_used
                                    as is_failing,
                                  state = 'final' and proof = 'none' as is_final
                             from sync.slices s
                            cross join lateral (select date_trunc('month', day::timestamp) as month) of_month
                            cross join lateral (select (month + interval '2 months') at time zone 'UTC' as cliff) gone
                            cross join lateral (select s.resource <> all (p.unused) as is_used) wanted
                            where s.project_id = p.project_id
                              -- Most days of a long ledger are final and proved.
                              and (proof = 'none' or state = 'lost' or attempts >= 5)) days
                    group by resource, owner, month, cliff) months
            cross join lateral (values
              ('deadline_missed', unproved, unproved_first, cliff, p.now >= deadline_at and month > '0001-01-01'),
              ('deadline_at_risk', unproved, unproved_first, deadline_at,
                p.now < deadline_at and p.now >= deadline_at - interval '72 hours' and month > '0001-01-01'),
              -- Around its month's end no answer about a day proves anything: what has no proof then is told above.
              ('proof_fails', failing, failing_first, case when month > '0001-01-01' then cliff end,
                p.now < deadline_at or p.now < cliff - interval '14 hours' or month = '0001-01-01'),
              ('day_lost', lost, lost_first, null, true),
              ('day_unproved', final, final_first, null, true)) told (kind, days, first, until, is_true)
            where told.is_true and told.days > 0
           union all
           -- Counted more than shown, for a day: what was read again since has not mended it.
           select 'books_differ', resource || case owner when '' then '' else ' of ' || owner end,
                  jsonb_build_object('resource', resource, 'owner', owner, 'since', more_since), null
             from analytics.balances b
            where b.project_id = p.project_id and balance = 'more' and more_since <= p.now - interval '1 day'
           union all
           -- Operations have no list: the month is the one they were begun in or, where nobody said so, given in. One
           -- that was just given is not late, and one with a final result by one lookup no trouble.
           select told.kind, 'transactions ' || to_char(month, 'YYYY-MM'),
                  jsonb_build_object('month', month::date, 'count', told.count, 'deadline', deadline_at,
                                     'isPast', p.now >= deadline_at),
                  case when told.kind = 'operation_at_risk' then deadline_at end
             from (select date_trunc('month', coalesce(created_on::timestamp, added_at at time zone 'UTC')) as month,
                          count(*) filter (where state = 'open') as open,
                          count(*) filter (where state = 'lost') as lost,
                          min(deadline_at) filter (where state = 'open') as deadline_at
                     from (select * from sync.watched_operations w
                            where project_id = p.project_id and state = 'open'
                              and deadline_at <= p.now + interval '72 hours' and added_at <= p.now - interval '1 hour'
                              and not exists (select from archive.transactions t
                                               where t.project_id = p.project_id and t.api_version in ('v1beta1', 'v3')
                                                 and t.operation_id = w.operation_id and t.status in (1, 2))
                            union all
                           select * from sync.watched_operations
                            where project_id = p.project_id and state = 'lost') operations
                    group by 1) months
            cross join lateral (values ('operation_at_risk', open), ('operation_lost', lost)) told (kind, count)
            where told.count > 0
           union all
           -- What is missing in one reading may be there in the next: what is not shown for a day is gone.
           select 'records_missing', resource || case owner when '' then '' else ' of ' || owner end || ' ' || day,
                  jsonb_build_object('resource', resource, 'owner', owner, 'day', day, 'count', count(*)), null
             from (select s.resource, s.owner, s.day
                     from sync.slices s
                     join archive.orders o on o.project_id = p.project_id and o.slice_day = s.day
                    where s.project_id = p.project_id and s.resource = 'orders' and s.due_at is not null
                      and o.missing_since <= p.now - interval '1 day'
                   union all
                   select s.resource, s.owner, s.day
                     from sync.slices s
                     join archive.nft_classes c on c.project_id = p.project_id and c.slice_day = s.day
                    where s.project_id = p.project_id and s.resource = 'nft_classes' and s.due_at is not null
                      and s.owner in ('', c.owner) and c.missing_since <= p.now - interval '1 day') missing
            group by resource, owner, day
           union all
           select 'rejects', resource, jsonb_build_object('resource', resource, 'count', count(*)), null
             from sync.rejects r
            where r.project_id = p.project_id
            group by resource
           union all
           -- After a week it is no news any more.
           select 'fact_changed', fact, jsonb_build_object('fact', fact, 'from', previous, 'to', value), null
             from sync.facts f
            where f.project_id = p.project_id and changed_at >= p.now - interval '7 days' and previous <> 'unknown'
           union all
           select case when p.parked_at is null then 'run_failed' else 'parked' end, '',
                  jsonb_build_object('trouble', case when p.parked_at is null then 'failed' end), null
            where p.parked_at is not null or p.has_failed
           union all
           -- Runs that end, and leave something due each time.
           select 'work_left', '', jsonb_build_object('since', succeeded.at), null
             from (select coalesce((select ended_at from sync.runs r
                                     where r.project_id = p.project_id and outcome in ('done', 'quiet')
                                     order by started_at desc limit 1), p.added_at) as at,
                          (select outcome from sync.runs r
                            where r.project_id = p.project_id and ended_at is not null and outcome <> 'idle'
                            order by started_at desc limit 1) as newest) succeeded
            where newest = 'left' and p.now - succeeded.at >= interval '6 hours'
           union all
           -- Each resource by itself: what is well says nothing of what is not. Today's list is read at every tick, and
           -- what fails is asked for again within the hour: longer than that is no pause. A run in progress has had no
           -- time before its process took the project, and may be at one list for hours.
           select case when is_refused then 'parked' else 'run_failed' end, lists.resource,
                  jsonb_build_object('resource', lists.resource, 'since', since, 'days', nullif(endangered.days, 0),
                                     'month', endangered.month, 'cliff', endangered.cliff), endangered.cliff
             from (select resource, state is not distinct from 'refused' as is_refused,
                          case when state = 'refused' then asked.since else least(asked.since, at) end as since,
                          state = 'refused' or (is_silent and (p.begun_at is null or are_all_silent))
                            or (state = 'fails' and p.now - least(asked.since, at) >= interval '75 minutes') as is_down
                     from (select split_part(fact, '.', 1) as resource, split_part(value, ':', 1) as state,
                                  changed_at as since
                             from sync.facts f
                            where f.project_id = p.project_id and fact like '%.contact'
                              and value !~ '^(unused|answers)') asked
                     full join (select resource, at, is_silent, bool_and(is_silent) over () as are_all_silent
                                  from (select resource, coalesce(max(greatest(observed_at, proved_at)), p.added_at) as at
                                          from sync.slices s
                                         where s.project_id = p.project_id and s.due_at is not null
                                           and s.resource <> all (p.unused)
                                         group by resource
                                        having bool_or(due_at <= p.now or attempts > 0)) due
                                 cross join lateral (
                                   select p.now - greatest(at, p.begun_at) >= interval '75 minutes' as is_silent) heard) read
                    using (resource)) lists
            cross join lateral (
              select count(*) as days, min(month)::date as month,
                     (min(month) + interval '2 months') at time zone 'UTC' as cliff
                from sync.slices s
               cross join lateral (select date_trunc('month', day::timestamp) as month) of_month
               where s.project_id = p.project_id and s.resource = lists.resource and s.day > '0001-01-01'
                 and state in ('open', 'walked') and proof = 'none'
                 and not (why is not distinct from 'read once'
                          and p.now < (month + interval '2 months') at time zone 'UTC' - interval '14 hours')) endangered
            where lists.is_down and p.parked_at is null and not p.has_failed
         ) own
        union all
       select r.project_id, coalesce(now() + p.clock_ahead, now()), r.kind, r.subject, r.numbers, r.until
         from sync.reported_problems r
         left join clocks p on p.project_id = r.project_id
        where (r.until is null or r.until > coalesce(now() + p.clock_ahead, now()))
          -- Of a project that was entered its runs say so themselves.
          and (p.project_id is null or r.numbers ->> 'trouble' is distinct from 'never')) found
  join (values
    ('deadline_at_risk', 'critical', false), ('deadline_missed', 'critical', false), ('day_lost', 'critical', true),
    ('day_unproved', 'warning', true), ('clock_disagrees', 'critical', false), ('operation_at_risk', 'warning', false),
    ('operation_lost', 'warning', true), ('proof_fails', 'warning', false), ('books_differ', 'warning', false), ('records_missing', 'warning', true),
    ('rejects', 'warning', true), ('fact_changed', 'warning', true), ('files_unwritten', 'warning', false),
    ('export_failed', 'warning', false), ('archive_altered', 'critical', false), ('parked', 'critical', false),
    ('run_failed', 'critical', false), ('work_left', 'warning', false)) kinds (kind, level, is_news) on kinds.kind = found.kind
  left join sync.alerts a
    on a.project_id = found.project_id and a.kind = found.kind and a.subject = found.subject;

-- P7 for what has no list: every id that was given, with what became of it.
-- What stands beside an operation is looked up for the rows that are asked for: grouped first and joined, every result
-- of the project was read for a page of a hundred.
create view analytics.watched_operations as
select w.project_id,
       w.operation_id,
       w.api_version,
       w.created_on,
       w.added_at,
       w.state,
       array_remove(array[
         (select t.api_version from archive.transactions t
           where t.project_id = w.project_id and t.api_version = 'v1beta1' and t.operation_id = w.operation_id),
         (select t.api_version from archive.transactions t
           where t.project_id = w.project_id and t.api_version = 'v3' and t.operation_id = w.operation_id)
       ], null) as found_by,
       (select max(t.status) from archive.transactions t
         where t.project_id = w.project_id and t.api_version in ('v1beta1', 'v3') and t.operation_id = w.operation_id
           and t.status in (1, 2)) as status,
       (select true from archive.certificate_files f
         where f.project_id = w.project_id and f.operation_id = w.operation_id) is true as has_certificate_file,
       w.deadline_at,
       w.due_at,
       w.attempts,
       w.last_error
  from sync.watched_operations w;

-- When the tokens were last read, and whether that goes on: a node's list has no days to be counted by.
create view analytics.token_snapshots as
select project_id, taken_at, height, shown, due_at, attempts, last_error
  from sync.token_snapshots;
comment on view analytics.token_snapshots is 'When the tokens of each project were last read';
comment on column analytics.token_snapshots.taken_at is
  'When the newest look held was taken, on the platform''s clock; null before the first';
comment on column analytics.token_snapshots.height is 'The height the node answered it at; null where it did not say';
comment on column analytics.token_snapshots.shown is
  'How many tokens it showed, those without a usable symbol included';
comment on column analytics.token_snapshots.due_at is 'When they are read next, on the platform''s clock';
comment on column analytics.token_snapshots.attempts is 'How often reading them has failed since';

-- What goes on now, cheap enough to be asked for every two seconds: what is final or lost is not looked at, for it is
-- never due. A run notes its counts when it ends, so that those of one in progress are taken from the ledger. A run
-- that was cut off looks like one in progress, but soon nobody holds anything any more.
create view analytics.progress as
select p.project_id,
       run.run_id,
       run.started_at as run_started_at,
       case when run.run_id is not null then ledger.done end as run_slices_done,
       case when run.run_id is not null then ledger.shown end as run_records_shown,
       ledger.due as slices_due,
       ledger.waiting as slices_waiting,
       ledger.next_due_at,
       (select r.ended_at from sync.runs r
         where r.project_id = p.project_id and r.outcome in ('done', 'quiet')
         order by r.started_at desc limit 1) as succeeded_at,
       certificate.resource as certificate_resource,
       certificate.month as certificate_month,
       certificate.certified_at,
       encode(certificate.digest, 'hex') as certificate_digest,
       p.parked_at,
       p.parked_reason,
       p.ask_again_at,
       at.archive_now,
       md5(concat_ws(' ', ledger.digest, p.parked_at, p.first_day,
         (select sum(hash_record_extended(a, 0)) from sync.alerts a where a.project_id = p.project_id),
         (select sum(hash_record_extended(f, 0)) from sync.facts f where f.project_id = p.project_id),
         (select sum(hash_record_extended(t, 0)) from sync.token_snapshots t where t.project_id = p.project_id),
         (select sum(hash_record_extended(b, 0)) from sync.rebuilds b where b.project_id = p.project_id),
         (select count(*) from sync.certificates c where c.project_id = p.project_id),
         (select c.no from sync.chains c where c.project_id = p.project_id),
         (select sum(hash_record_extended(r, 0))
            from (select * from sync.runs r where r.project_id = p.project_id
                   order by r.started_at desc limit 5) r))) as revision
  from sync.projects p
 cross join lateral (select clock_timestamp() as archive_now offset 0) at
  left join lateral (select run_id, started_at
                       from (select * from sync.runs r where r.project_id = p.project_id
                              order by started_at desc limit 1) newest
                      where ended_at is null
                        and (started_at > at.archive_now - interval '1 minute'
                             or exists (select from sync.holders h
                                         where h.project_id = p.project_id and h.held_until >= at.archive_now))) run on true
 cross join lateral (select count(*) filter (where due_at <= at.archive_now)::integer as due,
                            count(*)::integer as waiting,
                            min(due_at) filter (where due_at > at.archive_now) as next_due_at,
                            count(*) filter (where greatest(observed_at, walked_at, proved_at) >= run.started_at
                                               and checkpoint is null)::integer as done,
                            coalesce(sum(shown_total) filter (where walked_at >= run.started_at), 0)::bigint as shown,
                            sum(hash_record_extended(s, 0)) as digest
                       from sync.slices s
                      where s.project_id = p.project_id and due_at is not null) ledger
  left join lateral (select resource, month, certified_at, digest from sync.certificates c
                      where c.project_id = p.project_id
                      order by certified_at desc, month desc, resource limit 1) certificate on true;
comment on view analytics.progress is 'What goes on in each project at this moment';
comment on column analytics.progress.run_id is 'The run in progress; null: none is';
comment on column analytics.progress.run_started_at is 'When it began, on the platform''s clock';
comment on column analytics.progress.run_slices_done is 'Days it has read or counted so far; null: no run is in progress';
comment on column analytics.progress.run_records_shown is
  'Records that the days it has read whole so far have shown; null: no run is in progress';
comment on column analytics.progress.slices_due is 'Days (of a list) to be looked at now, those in hand included';
comment on column analytics.progress.slices_waiting is 'Days that will be looked at again at all, those due included';
comment on column analytics.progress.next_due_at is
  'When the next of the others is due, on the platform''s clock; null: none is';
comment on column analytics.progress.succeeded_at is
  'When the newest run ended that did all that was due, on the platform''s clock; null: none has';
comment on column analytics.progress.certificate_resource is 'orders or nft_classes: of the newest certificate; null: there is none';
comment on column analytics.progress.certificate_month is 'Its month';
comment on column analytics.progress.certified_at is 'The moment whose contents it certifies, on the platform''s clock';
comment on column analytics.progress.certificate_digest is 'Its digest, lower-case hex';
comment on column analytics.progress.parked_at is 'Since when the platform refuses this project; null while it answers';
comment on column analytics.progress.parked_reason is 'What the platform said when it refused';
comment on column analytics.progress.ask_again_at is 'When a parked project is asked for again';
comment on column analytics.progress.archive_now is 'The database''s clock';
comment on column analytics.progress.revision is
  'Another text whenever something of the ledger, the runs, the alerts or what is held may have changed';
