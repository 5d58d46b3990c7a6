-- Figures with their coverage beside them, so that nobody reports a month with holes unknowingly (P7). Each view
-- aggregates `archive` by project and day first; coverage is added to the result. The two are put together by UNION ALL
-- and not by a join: a condition on project, day or month then reaches the index `…_figures`, and a day that is in only
-- one of them is shown.
create function analytics.status_name(status integer) returns text language sql immutable parallel safe as $$
  select case status when 1 then 'pending' when 2 then 'succeeded' when 3 then 'failed' else 'other' end
$$;
comment on function analytics.status_name(integer) is 'An order''s status in a word: pending, succeeded, failed, other';

create view analytics.orders as
select o.project_id,
       o.operation_id,
       o.slice_day as day,
       date_trunc('month', o.slice_day::timestamp)::date as month,
       o.status,
       analytics.status_name(o.status) as status_name,
       o.message,
       o.account,
       o.order_type,
       o.amount as amount_fen,
       o.amount * 0.01 as amount_units,
       o.number,
       case when o.order_type = 1 then o.number end as credited_gas_ugas,
       case when o.order_type = 2 then o.number end as credited_fees_fen,
       case when o.order_type = 2 then o.number * 0.01 end as credited_fees_units,
       o.created_at,
       o.updated_at,
       o.observed_at,
       o.first_seen_at,
       o.changed_at,
       o.missing_since,
       o.unread
  from archive.orders o;
comment on view analytics.orders is
  'Every order as it is known now, one row each, money with its unit in the column''s name. Sums over it know '
  'nothing of holes: analytics.orders_by_day and orders_by_month show them';
comment on column analytics.orders.credited_gas_ugas is 'Gas credited, in ugas; null unless order_type is 1';
comment on column analytics.orders.credited_fees_fen is 'Business fees credited, in fen; null unless order_type is 2';

create view analytics.nft_classes as
select c.project_id,
       c.id,
       c.slice_day as day,
       date_trunc('month', c.slice_day::timestamp)::date as month,
       c.name,
       c.symbol,
       c.nft_count,
       c.uri,
       c.owner,
       c.tx_hash,
       c.created_at,
       c.observed_at,
       c.first_seen_at,
       c.changed_at,
       c.missing_since,
       c.unread
  from archive.nft_classes c;
comment on view analytics.nft_classes is
  'Every NFT class as it is known now, one row each. Sums over it know nothing of holes: '
  'analytics.nft_classes_by_day and nft_classes_by_month show them';

create view analytics.orders_by_day as
select project_id,
       day,
       date_trunc('month', day::timestamp)::date as month,
       sum(orders)::bigint as orders,
       sum(succeeded)::bigint as succeeded,
       sum(failed)::bigint as failed,
       sum(pending)::bigint as pending,
       sum(of_other_status)::bigint as of_other_status,
       coalesce(sum(spent), 0) as spent_fen,
       coalesce(sum(spent), 0) * 0.01 as spent_units,
       coalesce(sum(spent_on_gas), 0) as spent_on_gas_fen,
       coalesce(sum(spent_on_gas), 0) * 0.01 as spent_on_gas_units,
       coalesce(sum(spent_on_fees), 0) as spent_on_fees_fen,
       coalesce(sum(spent_on_fees), 0) * 0.01 as spent_on_fees_units,
       coalesce(sum(waiting), 0) as pending_fen,
       coalesce(sum(waiting), 0) * 0.01 as pending_units,
       coalesce(sum(credited_gas), 0) as credited_gas_ugas,
       coalesce(sum(credited_fees), 0) as credited_fees_fen,
       coalesce(sum(credited_fees), 0) * 0.01 as credited_fees_units,
       sum(without_amount)::bigint as without_amount,
       max(state) as state,
       max(proof) as proof,
       max(proved_at) as proved_at,
       coalesce(max(reservations), '{}') as reservations,
       coalesce(sum(rejected), 0)::bigint as rejected,
       coalesce(bool_or(is_held), false) as is_held,
       coalesce(bool_or(is_settled), false) as is_settled
  from (select project_id,
               slice_day as day,
               count(*) as orders,
               count(*) filter (where status = 2) as succeeded,
               count(*) filter (where status = 3) as failed,
               count(*) filter (where status = 1) as pending,
               count(*) filter (where status is null or status not in (1, 2, 3)) as of_other_status,
               sum(amount) filter (where status = 2) as spent,
               sum(amount) filter (where status = 2 and order_type = 1) as spent_on_gas,
               sum(amount) filter (where status = 2 and order_type = 2) as spent_on_fees,
               sum(amount) filter (where status = 1) as waiting,
               sum(number) filter (where status = 2 and order_type = 1) as credited_gas,
               sum(number) filter (where status = 2 and order_type = 2) as credited_fees,
               count(*) filter (where amount is null) as without_amount,
               null::text as state,
               null::text as proof,
               null::timestamptz as proved_at,
               null::text[] as reservations,
               null::bigint as rejected,
               null::boolean as is_held,
               null::boolean as is_settled
          from archive.orders
         group by project_id, slice_day
        union all
        select project_id, day, 0, 0, 0, 0, 0, null, null, null, null, null, null, 0,
               state, proof, proved_at, reservations, rejected, is_held, is_settled
          from analytics.coverage_by_day
         where resource = 'orders') figures
 group by project_id, day;
comment on view analytics.orders_by_day is
  'Orders and money of each UTC day, with the day''s coverage. Days without orders and days without coverage are '
  'shown too';

create view analytics.orders_by_month as
select project_id,
       month,
       sum(orders)::bigint as orders,
       sum(succeeded)::bigint as succeeded,
       sum(failed)::bigint as failed,
       sum(pending)::bigint as pending,
       sum(of_other_status)::bigint as of_other_status,
       sum(spent_fen) as spent_fen,
       sum(spent_units) as spent_units,
       sum(spent_on_gas_fen) as spent_on_gas_fen,
       sum(spent_on_gas_units) as spent_on_gas_units,
       sum(spent_on_fees_fen) as spent_on_fees_fen,
       sum(spent_on_fees_units) as spent_on_fees_units,
       sum(pending_fen) as pending_fen,
       sum(pending_units) as pending_units,
       sum(credited_gas_ugas) as credited_gas_ugas,
       sum(credited_fees_fen) as credited_fees_fen,
       sum(credited_fees_units) as credited_fees_units,
       sum(without_amount)::bigint as without_amount,
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
  from analytics.orders_by_day
 group by project_id, month;
comment on view analytics.orders_by_month is
  'Orders and money of each calendar month (UTC), with the month''s coverage counted in days';

-- Days of a reader's zone, for whoever reports in it. The ledger's days stay UTC's, so a local day is held when every
-- UTC day that it touches is. At the changes of summer time it has 23 or 25 hours: it begins where the zone says.
create function analytics.local_days(day date, zone text) returns setof date language sql immutable parallel safe as $$
  select distinct (at at time zone local_days.zone)::date
    from (values (local_days.day::timestamp at time zone 'UTC'),
                 (((local_days.day + 1)::timestamp - interval '1 microsecond') at time zone 'UTC')) edges (at)
$$;
comment on function analytics.local_days(date, text) is
  'The days of a time zone (Asia/Shanghai) that a UTC day touches: one or two';

-- A time that the list of no neighbouring day showed is none to go by: Go's zero time, a clock that was set.
create function analytics.local_day(created_at timestamptz, day date, zone text) returns date
language sql immutable parallel safe as $$
  select case when abs((created_at at time zone 'UTC')::date - day) <= 1
              then (created_at at time zone zone)::date else day end
$$;
comment on function analytics.local_day(timestamptz, date, text) is
  'The day of a record in a time zone (Asia/Shanghai), by its created_at; its day where that cannot be read or is off '
  'by more than a day';

create function analytics.coverage_by_day_in(project text, zone text) returns table (
  resource text, day date, month date, state text, proof text, proved_at timestamptz, reservations text[], rejected bigint,
  is_whole_list boolean, is_held boolean, is_settled boolean) language sql stable parallel safe as $$
  select c.resource,
         l.day,
         date_trunc('month', l.day::timestamp)::date,
         case when bool_or(state = 'lost')   then 'lost'
              when bool_or(state = 'open')   then 'open'
              when bool_or(state = 'walked') then 'walked'
              when bool_or(state = 'sealed') then 'sealed'
              else 'final' end,
         case when bool_or(proof = 'none')   then 'none'
              when bool_or(proof = 'readings') then 'readings'
              else 'books' end,
         case when count(proved_at) = count(*) then min(proved_at) end,
         array_remove(array[
           case when bool_or('lost' = any (reservations)) then 'lost' end,
           case when bool_or('no_proof' = any (reservations)) then 'no_proof' end,
           case when bool_or('unresolved_orders' = any (reservations)) then 'unresolved_orders' end
         ], null),
         -- A reject has no time that can be read: it counts once, under its UTC day.
         coalesce(sum(rejected) filter (where c.day = l.day), 0)::bigint,
         bool_and(is_whole_list),
         bool_and(is_held),
         bool_and(is_settled)
    from analytics.coverage_by_day c, analytics.local_days(c.day, coverage_by_day_in.zone) l (day)
   where c.project_id = coverage_by_day_in.project
   group by c.resource, l.day
  -- One of which the ledger lacks a UTC day is none of the archive's.
  having count(*) = 1 + ((((l.day + 1)::timestamp at time zone coverage_by_day_in.zone) at time zone 'UTC'
                          - interval '1 microsecond')::date
                         - ((l.day::timestamp at time zone coverage_by_day_in.zone) at time zone 'UTC')::date)
$$;
comment on function analytics.coverage_by_day_in(text, text) is
  'The coverage calendar of a project in a time zone (Asia/Shanghai): the weakest of the UTC days that a local day '
  'touches decides. Days of which the ledger knows only a part are left out';

create function analytics.orders_by_month_in(project text, zone text) returns table (
  month date, orders bigint, succeeded bigint, failed bigint, pending bigint, of_other_status bigint, spent_fen numeric,
  spent_units numeric, pending_fen numeric, pending_units numeric, credited_gas_ugas numeric, credited_fees_fen numeric,
  credited_fees_units numeric, without_amount bigint, days_in_month integer, days_accounted integer, days_open integer,
  days_held integer, days_settled integer, days_lost integer, reservations text[], rejected bigint, is_held boolean,
  is_settled boolean) language sql stable parallel safe as $$
  select month,
         coalesce(orders, 0),
         coalesce(succeeded, 0),
         coalesce(failed, 0),
         coalesce(pending, 0),
         coalesce(of_other_status, 0),
         coalesce(spent, 0),
         coalesce(spent, 0) * 0.01,
         coalesce(waiting, 0),
         coalesce(waiting, 0) * 0.01,
         coalesce(credited_gas, 0),
         coalesce(credited_fees, 0),
         coalesce(credited_fees, 0) * 0.01,
         coalesce(without_amount, 0),
         days_in_month,
         coalesce(days_accounted, 0),
         coalesce(days_open, 0),
         coalesce(days_held, 0),
         coalesce(days_settled, 0),
         coalesce(days_lost, 0),
         array_remove(array[
           case when is_lost then 'lost' end,
           case when is_unproved then 'no_proof' end,
           case when is_unresolved then 'unresolved_orders' end
         ], null),
         coalesce(rejected, 0),
         coalesce(days_held = days_in_month, false),
         coalesce(days_settled = days_in_month, false)
    from (select date_trunc('month', analytics.local_day(created_at, slice_day, orders_by_month_in.zone)::timestamp)::date as month,
                 count(*) as orders,
                 count(*) filter (where status = 2) as succeeded,
                 count(*) filter (where status = 3) as failed,
                 count(*) filter (where status = 1) as pending,
                 count(*) filter (where status is null or status not in (1, 2, 3)) as of_other_status,
                 sum(amount) filter (where status = 2) as spent,
                 sum(amount) filter (where status = 1) as waiting,
                 sum(number) filter (where status = 2 and order_type = 1) as credited_gas,
                 sum(number) filter (where status = 2 and order_type = 2) as credited_fees,
                 count(*) filter (where amount is null) as without_amount
            from archive.orders
           where project_id = orders_by_month_in.project
           group by 1) figures
    full join
         (select month,
                 count(*)::integer as days_accounted,
                 count(*) filter (where state = 'open')::integer as days_open,
                 count(*) filter (where is_held)::integer as days_held,
                 count(*) filter (where is_settled)::integer as days_settled,
                 count(*) filter (where state = 'lost')::integer as days_lost,
                 bool_or('lost' = any (reservations)) as is_lost,
                 bool_or('no_proof' = any (reservations)) as is_unproved,
                 bool_or('unresolved_orders' = any (reservations)) as is_unresolved,
                 sum(rejected)::bigint as rejected
            from analytics.coverage_by_day_in(orders_by_month_in.project, orders_by_month_in.zone)
           where resource = 'orders'
           group by month) coverage using (month),
         lateral (select extract(day from month + interval '1 month' - interval '1 day')::integer as days_in_month) length
$$;
comment on function analytics.orders_by_month_in(text, text) is
  'Orders and money of a project by the calendar months of a time zone (Asia/Shanghai), with each month''s coverage '
  'counted in that zone''s days';

create view analytics.spend_by_account as
select a.project_id,
       a.month,
       a.account,
       a.orders,
       a.succeeded,
       a.failed,
       a.pending,
       a.of_other_status,
       a.spent as spent_fen,
       a.spent * 0.01 as spent_units,
       a.waiting as pending_fen,
       a.waiting * 0.01 as pending_units,
       a.credited_gas as credited_gas_ugas,
       a.credited_fees as credited_fees_fen,
       a.credited_fees * 0.01 as credited_fees_units,
       a.without_amount,
       a.first_order_at,
       a.last_order_at,
       coalesce(c.days_in_month, extract(day from a.month + interval '1 month' - interval '1 day')::integer) as days_in_month,
       coalesce(c.days_accounted, 0) as days_accounted,
       coalesce(c.days_open, 0) as days_open,
       coalesce(c.days_held, 0) as days_held,
       coalesce(c.days_settled, 0) as days_settled,
       coalesce(c.days_lost, 0) as days_lost,
       coalesce(c.days_by_readings, 0) as days_by_readings,
       coalesce(c.reservations, '{}') as reservations,
       coalesce(c.rejected, 0) as rejected,
       coalesce(c.is_held, false) as is_held,
       coalesce(c.is_settled, false) as is_settled
  from (select project_id,
               date_trunc('month', slice_day::timestamp)::date as month,
               account,
               count(*) as orders,
               count(*) filter (where status = 2) as succeeded,
               count(*) filter (where status = 3) as failed,
               count(*) filter (where status = 1) as pending,
               count(*) filter (where status is null or status not in (1, 2, 3)) as of_other_status,
               coalesce(sum(amount) filter (where status = 2), 0) as spent,
               coalesce(sum(amount) filter (where status = 1), 0) as waiting,
               coalesce(sum(number) filter (where status = 2 and order_type = 1), 0) as credited_gas,
               coalesce(sum(number) filter (where status = 2 and order_type = 2), 0) as credited_fees,
               count(*) filter (where amount is null) as without_amount,
               min(created_at) as first_order_at,
               max(created_at) as last_order_at
          from archive.orders
         group by project_id, date_trunc('month', slice_day::timestamp)::date, account) a
  left join analytics.coverage_by_month c
    on c.project_id = a.project_id and c.resource = 'orders' and c.month = a.month;
comment on view analytics.spend_by_account is
  'What was bought for each account in each calendar month (UTC), with the month''s coverage. Orders that show no '
  'account stand under null';
comment on column analytics.spend_by_account.first_order_at is
  'When the first of these orders was made, by the platform';
comment on column analytics.spend_by_account.last_order_at is 'When the last of them was made';

create view analytics.order_lead_times_by_day as
select t.project_id,
       t.day,
       t.status,
       analytics.status_name(t.status) as status_name,
       t.settled,
       t.without_times,
       t.lead_seconds_avg,
       t.lead_seconds[1] as lead_seconds_p50,
       t.lead_seconds[2] as lead_seconds_p90,
       t.lead_seconds[3] as lead_seconds_p99,
       t.lead_seconds_max,
       c.state,
       c.proof,
       c.proved_at,
       coalesce(c.reservations, '{}') as reservations,
       coalesce(c.rejected, 0) as rejected,
       coalesce(c.is_held, false) as is_held,
       coalesce(c.is_settled, false) as is_settled
  from (select project_id,
               slice_day as day,
               status,
               count(lead) as settled,
               count(*) - count(lead) as without_times,
               avg(lead) as lead_seconds_avg,
               percentile_cont(array[0.5, 0.9, 0.99]) within group (order by lead) as lead_seconds,
               max(lead) as lead_seconds_max
          from (select project_id,
                       slice_day,
                       status,
                       case when updated_at >= created_at
                            then extract(epoch from updated_at - created_at)::double precision end as lead
                  from archive.orders
                 where status in (2, 3)) settled
         group by project_id, slice_day, status) t
  left join analytics.coverage_by_day c
    on c.project_id = t.project_id and c.resource = 'orders' and c.day = t.day;
comment on view analytics.order_lead_times_by_day is
  'How long orders took from being made to their last operation, by the UTC day they were made on and by their outcome';

create view analytics.order_lead_times_by_month as
select t.project_id,
       t.month,
       t.status,
       analytics.status_name(t.status) as status_name,
       t.settled,
       t.without_times,
       t.lead_seconds_avg,
       t.lead_seconds[1] as lead_seconds_p50,
       t.lead_seconds[2] as lead_seconds_p90,
       t.lead_seconds[3] as lead_seconds_p99,
       t.lead_seconds_max,
       coalesce(c.days_in_month, extract(day from t.month + interval '1 month' - interval '1 day')::integer) as days_in_month,
       coalesce(c.days_accounted, 0) as days_accounted,
       coalesce(c.days_open, 0) as days_open,
       coalesce(c.days_held, 0) as days_held,
       coalesce(c.days_settled, 0) as days_settled,
       coalesce(c.days_lost, 0) as days_lost,
       coalesce(c.days_by_readings, 0) as days_by_readings,
       coalesce(c.reservations, '{}') as reservations,
       coalesce(c.rejected, 0) as rejected,
       coalesce(c.is_held, false) as is_held,
       coalesce(c.is_settled, false) as is_settled
  from (select project_id,
               date_trunc('month', slice_day::timestamp)::date as month,
               status,
               count(lead) as settled,
               count(*) - count(lead) as without_times,
               avg(lead) as lead_seconds_avg,
               percentile_cont(array[0.5, 0.9, 0.99]) within group (order by lead) as lead_seconds,
               max(lead) as lead_seconds_max
          from (select project_id,
                       slice_day,
                       status,
                       case when updated_at >= created_at
                            then extract(epoch from updated_at - created_at)::double precision end as lead
                  from archive.orders
                 where status in (2, 3)) settled
         group by project_id, date_trunc('month', slice_day::timestamp)::date, status) t
  left join analytics.coverage_by_month c
    on c.project_id = t.project_id and c.resource = 'orders' and c.month = t.month;
comment on view analytics.order_lead_times_by_month is
  'How long orders took from being made to their last operation, by the calendar month (UTC) they were made in '
  'and by their outcome';

create view analytics.nft_classes_by_day as
select project_id,
       day,
       date_trunc('month', day::timestamp)::date as month,
       sum(classes)::bigint as classes,
       coalesce(sum(nfts), 0) as nfts,
       sum(classes_without_count)::bigint as classes_without_count,
       max(state) as state,
       max(proof) as proof,
       max(proved_at) as proved_at,
       coalesce(max(reservations), '{}') as reservations,
       coalesce(sum(rejected), 0)::bigint as rejected,
       coalesce(bool_or(is_whole_list), false) as is_whole_list,
       coalesce(bool_or(is_held), false) as is_held,
       coalesce(bool_or(is_settled), false) as is_settled
  from (select project_id,
               slice_day as day,
               count(*) as classes,
               sum(nft_count) as nfts,
               count(*) filter (where nft_count is null) as classes_without_count,
               null::text as state,
               null::text as proof,
               null::timestamptz as proved_at,
               null::text[] as reservations,
               null::bigint as rejected,
               null::boolean as is_whole_list,
               null::boolean as is_held,
               null::boolean as is_settled
          from archive.nft_classes
         group by project_id, slice_day
        union all
        select project_id, day, 0, null, 0, state, proof, proved_at, reservations, rejected, is_whole_list, is_held, is_settled
          from analytics.coverage_by_day
         where resource = 'nft_classes') figures
 group by project_id, day;
comment on view analytics.nft_classes_by_day is
  'Classes made on each UTC day and the NFTs in them, with the day''s coverage';

create view analytics.nft_classes_by_month as
select project_id,
       month,
       sum(classes)::bigint as classes,
       sum(nfts) as nfts,
       sum(classes_without_count)::bigint as classes_without_count,
       bool_and(is_whole_list) as is_whole_list,
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
  from analytics.nft_classes_by_day
 group by project_id, month;
comment on view analytics.nft_classes_by_month is
  'Classes made in each calendar month (UTC) and the NFTs in them, with the month''s coverage counted in days';

create view analytics.nft_owners as
select o.project_id,
       o.owner,
       o.classes,
       o.nfts,
       o.first_class_on,
       o.newest_class_on,
       c.first_day as covered_from,
       c.last_day as covered_to,
       coalesce(c.days_open, 0) as days_open,
       coalesce(c.days_held, 0) as days_held,
       coalesce(c.days_settled, 0) as days_settled,
       coalesce(c.days_lost, 0) as days_lost,
       coalesce(c.days_by_readings, 0) as days_by_readings,
       coalesce(c.reservations, '{}') as reservations,
       coalesce(c.rejected, 0) as rejected,
       coalesce(c.is_whole_list, false) as is_whole_list
  from (select project_id, owner, count(*) as classes, coalesce(sum(nft_count), 0) as nfts,
               min(slice_day) as first_class_on, max(slice_day) as newest_class_on
          from archive.nft_classes
         group by project_id, owner) o
  left join analytics.coverage_by_resource c
    on c.project_id = o.project_id and c.resource = 'nft_classes';
comment on view analytics.nft_owners is 'Owners of NFT classes as last seen, with the coverage of all classes';
comment on column analytics.nft_owners.owner is 'The owner as last seen; null where it could not be read';
comment on column analytics.nft_owners.classes is 'Classes they own, made on any day';
comment on column analytics.nft_owners.nfts is 'NFTs in these classes, as last seen';
comment on column analytics.nft_owners.first_class_on is 'The UTC day of the first of these classes';
comment on column analytics.nft_owners.newest_class_on is 'The UTC day of the newest of them';
comment on column analytics.nft_owners.covered_from is
  'The first UTC day that the ledger knows; classes made before it are here only if they were seen';
comment on column analytics.nft_owners.covered_to is 'The last one';

create view analytics.unresolved_orders as
select o.project_id,
       o.operation_id,
       o.slice_day as day,
       o.account,
       o.order_type,
       o.amount as amount_fen,
       o.amount * 0.01 as amount_units,
       o.created_at,
       o.updated_at,
       o.observed_at,
       c.state,
       c.deadline_at,
       coalesce(c.state in ('final', 'lost'), false) as is_final
  from archive.orders o
  left join analytics.coverage_by_day c
    on c.project_id = o.project_id and c.resource = 'orders' and c.day = o.slice_day
 where o.status = 1;
comment on view analytics.unresolved_orders is
  'Orders still pending, with the time that is left to learn their outcome';
comment on column analytics.unresolved_orders.observed_at is
  'When it was first seen with this content, on the platform''s clock';
comment on column analytics.unresolved_orders.deadline_at is
  'Until when the outcome should be learned: a safety margin before the month leaves the window';
comment on column analytics.unresolved_orders.is_final is
  'True where the month has left the window: the outcome will not be learned from the list any more';
