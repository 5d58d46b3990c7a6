-- What records said before they changed: a row of the table and its versions together are everything that was ever seen
-- of a record. The day is that of the row: a content whose own time cannot be read has none.
create view analytics.order_history as
select project_id,
       operation_id,
       day,
       observed_at,
       case when counts then observed_at end as in_force_from,
       case when counts then min(observed_at) filter (where counts) over later end as in_force_until,
       is_current,
       status,
       analytics.status_name(status) as status_name,
       message,
       account,
       order_type,
       amount as amount_fen,
       amount * 0.01 as amount_units,
       number,
       created_at,
       updated_at,
       raw_sha256,
       raw,
       unread,
       raw_bytes
  from (select *,
               -- By update time, settled over pending, then by when it was observed: as the commit of a page decides
               -- (P2).
               is_current or coalesce(precedence >= max(precedence) over earlier, true) as counts
          from (select *, array[coalesce(extract(epoch from updated_at), '-infinity'),
                                case when status = 1 then 0 else 1 end] as precedence
                  from (select o.project_id, o.operation_id, o.slice_day as day, o.observed_at, true as is_current, o.status,
                               o.message, o.account, o.amount, o.number, o.created_at, o.updated_at, o.order_type,
                               encode(o.raw_sha256, 'hex') as raw_sha256, o.raw, o.unread, o.raw_bytes
                          from archive.orders o
                        union all
                        select v.project_id, v.operation_id, o.slice_day, v.observed_at, false, v.status,
                               v.message, v.account, v.amount, v.number, v.created_at, v.updated_at, v.order_type,
                               encode(v.raw_sha256, 'hex'), v.raw, v.unread, v.raw_bytes
                          from archive.order_versions v
                          join archive.orders o on o.project_id = v.project_id and o.operation_id = v.operation_id) contents) read
        window earlier as (partition by project_id, operation_id, day
                           order by observed_at, is_current, precedence, raw_sha256
                           rows between unbounded preceding and 1 preceding)) judged
window later as (partition by project_id, operation_id, day
                 order by observed_at, is_current, precedence, raw_sha256
                 rows between 1 following and unbounded following);
comment on view analytics.order_history is
  'Everything an order was ever seen to say, one row for each content. What was in force is decided by the '
  'platform''s update time, not by what came last';
comment on column analytics.order_history.in_force_from is
  'Since when it was what was known of the record; null for a content that came late and was older than what was held';

create view analytics.nft_class_history as
select project_id,
       id,
       day,
       observed_at as in_force_from,
       lead(observed_at) over (partition by project_id, id, day order by observed_at, is_current, raw_sha256) as in_force_until,
       is_current,
       name,
       symbol,
       nft_count,
       uri,
       owner,
       tx_hash,
       created_at,
       raw_sha256,
       raw,
       unread,
       raw_bytes
  from (select c.project_id, c.id, c.slice_day as day, c.observed_at, true as is_current, c.name, c.symbol, c.nft_count,
               c.uri, c.owner, c.tx_hash, c.created_at, encode(c.raw_sha256, 'hex') as raw_sha256, c.raw, c.unread, c.raw_bytes
          from archive.nft_classes c
        union all
        select v.project_id, v.id, c.slice_day, v.observed_at, false, v.name, v.symbol, v.nft_count,
               v.uri, v.owner, v.tx_hash, v.created_at, encode(v.raw_sha256, 'hex'), v.raw, v.unread, v.raw_bytes
          from archive.nft_class_versions v
          join archive.nft_classes c on c.project_id = v.project_id and c.id = v.id) contents;
comment on view analytics.nft_class_history is 'Everything a class was ever seen to say, one row for each content';

create view analytics.transaction_history as
select project_id,
       operation_id,
       api_version,
       observed_at as in_force_from,
       lead(observed_at) over (partition by project_id, operation_id, api_version order by observed_at, is_current, raw_sha256) as in_force_until,
       is_current,
       module,
       type,
       operation,
       tx_hash,
       status,
       message,
       block_height,
       confirmed_at,
       nft,
       mt,
       record,
       raw_sha256,
       raw,
       unread,
       raw_bytes
  from (select project_id, operation_id, api_version, observed_at, true as is_current, module, type, operation, tx_hash, status,
               message, block_height, confirmed_at, nft, mt, record, encode(raw_sha256, 'hex') as raw_sha256, raw, unread, raw_bytes
          from archive.transactions
        union all
        select project_id, operation_id, api_version, observed_at, false, module, type, operation, tx_hash, status,
               message, block_height, confirmed_at, nft, mt, record, encode(raw_sha256, 'hex'), raw, unread, raw_bytes
          from archive.transaction_versions) contents;
comment on view analytics.transaction_history is
  'Everything the result of an operation was ever seen to say, one row for each content of each lookup';

create view analytics.token_history as
select project_id,
       symbol,
       observed_at as in_force_from,
       lead(observed_at) over (partition by project_id, symbol order by observed_at, is_current, raw_sha256) as in_force_until,
       is_current,
       name,
       min_unit,
       scale,
       initial_supply,
       max_supply,
       mintable,
       owner,
       issue_fee_denom,
       issue_fee_amount,
       mint_fee_denom,
       mint_fee_amount,
       height,
       raw_sha256,
       raw,
       unread,
       raw_bytes
  from (select project_id, symbol, observed_at, true as is_current, name, min_unit, scale, initial_supply, max_supply,
               mintable, owner, issue_fee_denom, issue_fee_amount, mint_fee_denom, mint_fee_amount, height,
               encode(raw_sha256, 'hex') as raw_sha256, raw, unread, raw_bytes
          from archive.tokens
        union all
        select project_id, symbol, observed_at, false, name, min_unit, scale, initial_supply, max_supply,
               mintable, owner, issue_fee_denom, issue_fee_amount, mint_fee_denom, mint_fee_amount, null,
               encode(raw_sha256, 'hex'), raw, unread, raw_bytes
          from archive.token_versions) contents;
comment on view analytics.token_history is 'Everything a token was ever seen to say, one row for each content';

create view analytics.changes as
select j.project_id,
       j.no as entry_id,
       c.n::bigint as n,
       j.resource,
       c.change,
       c.id,
       c.observed_at,
       j.entered_at as written_at,
       encode(c.raw_sha256, 'hex') as raw_sha256,
       (j.entered_at at time zone 'UTC')::date as day
  from sync.journal j
 cross join lateral sync.changes_of(j.kind, j.body, j.ids, j.shas) c;

create view analytics.order_changes as
select project_id,
       operation_id,
       day,
       date_trunc('month', day::timestamp)::date as month,
       in_force_from as changed_at,
       status_before,
       status,
       amount_fen_before,
       amount_fen,
       array(select key
               from jsonb_object_keys(raw_before || raw) key
              where raw -> key is distinct from raw_before -> key
              order by 1) as changed_fields,
       extract(epoch from in_force_from - (day + 1)::timestamp at time zone 'UTC') / 3600.0 as hours_after_day,
       in_force_from >= (day + 1)::timestamp at time zone 'UTC' + interval '15 minutes' as is_late
  from (select *,
               lag(status) over successive as status_before,
               lag(amount_fen) over successive as amount_fen_before,
               lag(raw) over successive as raw_before
          -- As analytics.order_history, of the orders that ever changed: few among many.
          from (select *,
                       case when counts then observed_at end as in_force_from,
                       case when counts then min(observed_at) filter (where counts) over later end as in_force_until
                  from (select *,
                               is_current or coalesce(precedence >= max(precedence) over earlier, true) as counts
                          from (select *, array[coalesce(extract(epoch from updated_at), '-infinity'),
                                                case when status = 1 then 0 else 1 end] as precedence
                                  from (select o.project_id, o.operation_id, o.slice_day as day, o.observed_at,
                                               true as is_current, o.status, o.amount as amount_fen, o.updated_at,
                                               o.raw_sha256, o.raw
                                          from archive.orders o
                                         where exists (select from archive.order_versions v
                                                        where v.project_id = o.project_id and v.operation_id = o.operation_id)
                                        union all
                                        select v.project_id, v.operation_id, o.slice_day, v.observed_at,
                                               false, v.status, v.amount, v.updated_at, v.raw_sha256, v.raw
                                          from archive.order_versions v
                                          join archive.orders o
                                            on o.project_id = v.project_id and o.operation_id = v.operation_id) contents) read
                        window earlier as (partition by project_id, operation_id, day
                                           order by observed_at, is_current, precedence, raw_sha256
                                           rows between unbounded preceding and 1 preceding)) judged
                window later as (partition by project_id, operation_id, day
                                 order by observed_at, is_current, precedence, raw_sha256
                                 rows between 1 following and unbounded following)) history
         where in_force_from is not null
        window successive as (partition by project_id, operation_id, day
                              order by in_force_from, in_force_until nulls last)) contents
 where raw_before is not null;
comment on view analytics.order_changes is
  'Each change of what an order says, when it was first seen: what it was, what it became, and how long after its day';
comment on column analytics.order_changes.changed_at is 'When the change was first seen, on the platform''s clock';
comment on column analytics.order_changes.status_before is 'The status before';
comment on column analytics.order_changes.status is 'The status from then on: 1 pending, 2 succeeded, 3 failed';
comment on column analytics.order_changes.amount_fen_before is 'The amount before, in fen (1/100 of the currency unit)';
comment on column analytics.order_changes.amount_fen is 'The amount from then on, in fen';
comment on column analytics.order_changes.changed_fields is 'The platform''s names of the fields that differ';
comment on column analytics.order_changes.hours_after_day is
  'Hours from the end of that UTC day to the change; negative while the day lasted';
comment on column analytics.order_changes.is_late is
  'True where the day had been over for 15 minutes: figures of the day that were read before have changed';

create view analytics.late_changes_by_month as
select l.project_id,
       l.month,
       l.orders_changed,
       l.orders_settled,
       l.orders_reopened,
       l.amounts_changed,
       l.spent_fen_added,
       l.spent_fen_added * 0.01 as spent_units_added,
       l.newest_change_at,
       coalesce(c.days_in_month, extract(day from l.month + interval '1 month' - interval '1 day')::integer) as days_in_month,
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
               month,
               count(distinct operation_id) as orders_changed,
               count(distinct operation_id) filter (where status_before = 1 and status in (2, 3)) as orders_settled,
               count(distinct operation_id) filter (where status_before in (2, 3) and status = 1) as orders_reopened,
               count(distinct operation_id) filter (where amount_fen_before is distinct from amount_fen) as amounts_changed,
               coalesce(sum(amount_fen) filter (where status = 2), 0)
                 - coalesce(sum(amount_fen_before) filter (where status_before = 2), 0) as spent_fen_added,
               max(changed_at) as newest_change_at
          from analytics.order_changes
         where is_late
         group by project_id, month) l
  left join analytics.coverage_by_month c
    on c.project_id = l.project_id and c.resource = 'orders' and c.month = l.month;
comment on view analytics.late_changes_by_month is
  'How far the figures of a calendar month (UTC) moved after its days were over, with the month''s coverage';
comment on column analytics.late_changes_by_month.orders_changed is 'Orders that changed after their day was over';
comment on column analytics.late_changes_by_month.orders_settled is
  'Of them, orders that were pending and then succeeded or failed';
comment on column analytics.late_changes_by_month.orders_reopened is
  'Of them, orders that were settled and then pending again';
comment on column analytics.late_changes_by_month.amounts_changed is 'Of them, orders whose amount changed';
comment on column analytics.late_changes_by_month.spent_fen_added is
  'By how much these changes moved spent_fen, in fen';
comment on column analytics.late_changes_by_month.spent_units_added is 'The same in whole currency units';
comment on column analytics.late_changes_by_month.newest_change_at is
  'When the last of them was first seen, on the platform''s clock';

create view analytics.nft_class_changes as
select project_id,
       id,
       day,
       (changed_at at time zone 'UTC')::date as changed_on,
       changed_at,
       seen_before_at,
       nft_count_before,
       nft_count,
       nft_count - nft_count_before as nfts_added,
       owner_before,
       owner,
       owner is distinct from owner_before as is_transfer
  from (select project_id, id, day, observed_at as changed_at, nft_count, owner, raw_sha256,
               lag(observed_at) over successive as seen_before_at,
               lag(nft_count) over successive as nft_count_before,
               lag(owner) over successive as owner_before
          from (select c.project_id, c.id, c.slice_day as day, c.observed_at, true as is_current, c.nft_count, c.owner,
                       c.raw_sha256
                  from archive.nft_classes c
                 where exists (select from archive.nft_class_versions v where v.project_id = c.project_id and v.id = c.id)
                union all
                select v.project_id, v.id, c.slice_day, v.observed_at, false, v.nft_count, v.owner, v.raw_sha256
                  from archive.nft_class_versions v
                  join archive.nft_classes c on c.project_id = v.project_id and c.id = v.id) contents
        window successive as (partition by project_id, id, day order by observed_at, is_current, raw_sha256)) contents
 where seen_before_at is not null;
comment on view analytics.nft_class_changes is
  'Each change of what a class says, when it was first seen: NFTs minted or burnt since, a transfer to another owner';
comment on column analytics.nft_class_changes.changed_on is 'The UTC day the change was first seen on';
comment on column analytics.nft_class_changes.changed_at is
  'When the change was first seen, on the platform''s clock; it happened after seen_before_at, and classes are '
  'looked at every few hours while their month is in the window';
comment on column analytics.nft_class_changes.seen_before_at is 'When the content before was first seen';
comment on column analytics.nft_class_changes.nft_count_before is 'How many NFTs it had before';
comment on column analytics.nft_class_changes.nft_count is 'How many from then on';
comment on column analytics.nft_class_changes.nfts_added is
  'NFTs minted since, less those burnt; null where a count could not be read';
comment on column analytics.nft_class_changes.owner_before is 'The owner before';
comment on column analytics.nft_class_changes.owner is 'The owner from then on';
comment on column analytics.nft_class_changes.is_transfer is 'Whether the owner changed';

create view analytics.nft_growth_by_day as
select project_id,
       changed_on,
       count(distinct id) as classes_changed,
       coalesce(sum(nfts_added) filter (where nfts_added > 0), 0) as nfts_minted,
       coalesce(-sum(nfts_added) filter (where nfts_added < 0), 0) as nfts_burnt,
       count(*) filter (where is_transfer) as transfers,
       count(*) filter (where nfts_added is null) as counts_unread
  from analytics.nft_class_changes
 group by project_id, changed_on;
comment on view analytics.nft_growth_by_day is
  'What became of classes on each UTC day, as it was seen: NFTs minted and burnt after the class was first seen, '
  'transfers. Seen only of classes whose month is in the window; what happened before a class was first seen is '
  'in its first nft_count';
comment on column analytics.nft_growth_by_day.changed_on is 'The UTC day the changes were first seen on';
comment on column analytics.nft_growth_by_day.classes_changed is 'Classes that changed';
comment on column analytics.nft_growth_by_day.nfts_minted is 'NFTs by which nft_count rose';
comment on column analytics.nft_growth_by_day.nfts_burnt is 'NFTs by which it fell';
comment on column analytics.nft_growth_by_day.transfers is 'Changes of owner';
comment on column analytics.nft_growth_by_day.counts_unread is
  'Changes of which the growth is not known: a count could not be read';

-- The contents in force at a moment, as src/verify/leaves.ts picks them: the row where it had been observed
-- by then, else the version that counts (P2). A record of which nothing had been observed yet is not among them. The day
-- is that of the content, and its row's where its own time cannot be read: each stands in a part of its own, so that a
-- condition on the day reaches an index. What is picked is asked by the row's key: by the version's it would be asked
-- before the join, also of versions whose row is in force.
create function analytics.orders_as_of(project text, at timestamptz) returns table (
   project_id text, operation_id text, day date, status integer, status_name text, message text, account text, order_type integer,
   amount_fen numeric, amount_units numeric, number numeric, created_at timestamptz, updated_at timestamptz,
   observed_at timestamptz, is_current boolean, raw_sha256 text, raw jsonb) language sql stable parallel safe as $$
  select o.project_id, o.operation_id, o.slice_day, o.status, analytics.status_name(o.status), o.message, o.account,
         o.order_type, o.amount, o.amount * 0.01, o.number, o.created_at, o.updated_at, o.observed_at, true,
         encode(o.raw_sha256, 'hex'), o.raw
    from archive.orders o
   where o.project_id = orders_as_of.project and o.observed_at <= orders_as_of.at
  union all
  select v.project_id, v.operation_id, v.day, v.status, analytics.status_name(v.status), v.message, v.account, v.order_type,
         v.amount, v.amount * 0.01, v.number, v.created_at, v.updated_at, v.observed_at, false, encode(v.raw_sha256, 'hex'),
         v.raw
    from (select v.*, (v.created_at at time zone 'UTC')::date as day, o.project_id as row_project, o.operation_id as row_id
            from archive.order_versions v
            join archive.orders o on o.project_id = v.project_id and o.operation_id = v.operation_id
           where (v.created_at at time zone 'UTC')::date is not null and o.observed_at > orders_as_of.at
          union all
          select v.*, o.slice_day, o.project_id, o.operation_id
            from archive.order_versions v
            join archive.orders o on o.project_id = v.project_id and o.operation_id = v.operation_id
           where (v.created_at at time zone 'UTC')::date is null and o.observed_at > orders_as_of.at) v
   where v.project_id = orders_as_of.project and v.observed_at <= orders_as_of.at
     and (v.observed_at, v.raw_sha256) = (
           select w.observed_at, w.raw_sha256
             from archive.order_versions w
            where w.project_id = v.row_project and w.operation_id = v.row_id and w.observed_at <= orders_as_of.at
            order by coalesce(w.updated_at, '-infinity') desc, (w.status is distinct from 1) desc, w.observed_at desc,
                     w.raw_sha256 desc
            limit 1)
$$;
comment on function analytics.orders_as_of(text, timestamptz) is
  'A project''s orders as they were known at a moment, one row each: what stood in analytics.orders then. Narrow '
  'it by day. Coverage is that of now: what was held then is in the certificates';

create function analytics.nft_classes_as_of(project text, at timestamptz) returns table (
   project_id text, id text, day date, name text, symbol text, nft_count bigint, uri text, owner text, tx_hash text,
   created_at timestamptz, observed_at timestamptz, is_current boolean, raw_sha256 text, raw jsonb) language sql stable parallel safe as $$
  select c.project_id, c.id, c.slice_day, c.name, c.symbol, c.nft_count, c.uri, c.owner, c.tx_hash, c.created_at,
         c.observed_at, true, encode(c.raw_sha256, 'hex'), c.raw
    from archive.nft_classes c
   where c.project_id = nft_classes_as_of.project and c.observed_at <= nft_classes_as_of.at
  union all
  select v.project_id, v.id, v.day, v.name, v.symbol, v.nft_count, v.uri, v.owner, v.tx_hash, v.created_at, v.observed_at,
         false, encode(v.raw_sha256, 'hex'), v.raw
    from (select v.*, (v.created_at at time zone 'UTC')::date as day, c.project_id as row_project, c.id as row_id
            from archive.nft_class_versions v
            join archive.nft_classes c on c.project_id = v.project_id and c.id = v.id
           where (v.created_at at time zone 'UTC')::date is not null and c.observed_at > nft_classes_as_of.at
          union all
          select v.*, c.slice_day, c.project_id, c.id
            from archive.nft_class_versions v
            join archive.nft_classes c on c.project_id = v.project_id and c.id = v.id
           where (v.created_at at time zone 'UTC')::date is null and c.observed_at > nft_classes_as_of.at) v
   where v.project_id = nft_classes_as_of.project and v.observed_at <= nft_classes_as_of.at
     and (v.observed_at, v.raw_sha256) = (
           select w.observed_at, w.raw_sha256
             from archive.nft_class_versions w
            where w.project_id = v.row_project and w.id = v.row_id and w.observed_at <= nft_classes_as_of.at
            order by w.observed_at desc, w.raw_sha256 desc
            limit 1)
$$;
comment on function analytics.nft_classes_as_of(text, timestamptz) is
  'A project''s NFT classes as they were known at a moment, one row each: what stood in analytics.nft_classes '
  'then. Narrow it by day. Coverage is that of now: what was held then is in the certificates';
