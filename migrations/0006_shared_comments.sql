-- What the columns of records mean stands in src/resources.ts, and a test compares. A column of versions, and of a
-- history, means what its record's does.
do $$
declare
  said record;
begin
  for said in
    select format('%s.%I', pairs.contents, a.attname) as name, col_description(pairs.records, o.attnum) as says
      from (values ('archive.orders'::regclass, 'archive.order_versions'::regclass),
                   ('archive.nft_classes', 'archive.nft_class_versions'),
                   ('archive.transactions', 'archive.transaction_versions'),
                   ('archive.transactions', 'analytics.transaction_history'),
                   ('archive.tokens', 'archive.token_versions'),
                   ('archive.tokens', 'analytics.token_history')) as pairs (records, contents)
      join pg_attribute o on o.attrelid = pairs.records and col_description(pairs.records, o.attnum) is not null
      join pg_attribute a on a.attrelid = pairs.contents and a.attname = o.attname
  loop
    execute format('comment on column %s is %L', said.name, said.says);
  end loop;
end $$;

-- What columns mean that several tables and views have in common, each said once: for the relations named, or (null)
-- for all of `archive` and `analytics` that have such a column and say nothing of their own about it.
do $$
declare
  untold record;
begin
  for untold in
    with shared (name, relations, says) as (
      values
      ('account', null,
        'The account that was credited; null where the platform shows none, as for orders of a batch purchase'),
      ('amount_fen', null,
        'The price in fen (1/100 of the currency unit); null where the platform shows none or it could not be read'),
      ('amount_units', null, 'The same in whole currency units'),
      ('api_version', null, 'The lookup that gave it: v1beta1 or v3'),
      ('balance', '{analytics.books,analytics.balances}',
        'more: in all or in a status it counts more than was shown. equal: as many. less or unknown: it says nothing'),
      ('changed_at', null, 'When the row last changed: the mark for incremental readers, on the platform''s clock'),
      ('classes', null, 'Classes made'),
      ('classes_without_count', null,
        'Classes without a readable nft_count: they count as classes and add nothing to nfts'),
      ('confirmed_at', null, 'When it was confirmed, by the platform'),
      ('created_at', '{analytics.nft_class_history,analytics.nft_classes,archive.nft_classes,archive.nft_class_versions}',
        'When the class was made, by the platform'),
      ('created_at', null, 'When the order was made, by the platform'),
      ('credited_fees_fen', null, 'Business fees credited by the orders that succeeded, in fen'),
      ('credited_fees_units', null, 'The same in whole currency units'),
      ('credited_gas_ugas', null, 'Gas credited by the orders that succeeded, in ugas'),
      ('day', '{analytics.nft_class_changes,analytics.nft_class_history,analytics.order_changes,analytics.order_history}',
        'The UTC day that the record stands under now'),
      ('day', '{analytics.coverage,analytics.coverage_by_day,analytics.incomplete_days,analytics.readings,analytics.day_history}',
        'The UTC day'),
      ('day', null,
        'The UTC day of the record: the date of created_at, or the day it was asked for where that cannot be read'),
      ('days_accounted', null,
        'Days of the month that the ledger knows; the others lie before the first day of the archive or in the future'),
      ('days_by_readings', null, 'Days proved by two readings alone, for the platform counts fewer or none: the weaker proof'),
      ('days_final', null, 'Days held whose month has left the window'),
      ('days_held', null, 'Days of which all is held: is_held'),
      ('days_in_month', null, 'Days the calendar gives the month'),
      ('days_lost', null, 'Days that left the window before they were read whole: a hole for ever'),
      ('days_open', null, 'Days not read to their ends yet; today''s is always one'),
      ('days_settled', null, 'Days of which all is held and nothing is pending: is_settled'),
      ('days_sealed', null, 'Days proved with nothing pending, while their month can still be asked for'),
      ('deadline_at', null, 'Until when the day should be held and proved'),
      ('failed', '{analytics.books,analytics.balances}', 'Of them, orders that failed; null likewise'),
      ('failed', null, 'Orders with status 3'),
      ('first_seen_at', null, 'When the record was first seen here, whatever it said then, on the platform''s clock'),
      ('id', null, 'The class''s id'),
      ('in_force_from', null, 'When this content was first seen, on the platform''s clock'),
      ('in_force_until', null, 'Until when, the moment itself excluded; null while it is'),
      ('is_current', null, 'True for the content in the table, false for earlier ones'),
      ('is_held',
        '{analytics.coverage_by_month,analytics.orders_by_month,analytics.nft_classes_by_month,'
        'analytics.spend_by_account,analytics.order_lead_times_by_month}',
        'Whether all of it is held: every day of the calendar month is'),
      ('is_held', null,
        'Whether all of it is held: read whole and proved, no record left out. An auditor''s question. Orders that are '
        'pending are held, too'),
      ('is_settled', null,
        'Whether all of it is held and nothing is pending, so that no figure will change. Report no sum without it'),
      ('is_whole_list', '{analytics.nft_classes_by_day,analytics.nft_classes_by_month}',
        'False where only some owners'' classes are archived: then the figures are theirs alone'),
      ('is_whole_list', null, 'False where only some owners'' classes are archived: nothing is claimed about others'),
      ('last_error', null, 'Why the last attempt failed; null after a success'),
      ('lead_seconds_avg', null, 'Mean seconds from created_at to updated_at, the last operation on the order'),
      ('lead_seconds_max', null, 'The longest, in seconds'),
      ('lead_seconds_p50', null, 'Median of these seconds'),
      ('lead_seconds_p90', null, 'Nine of ten orders took no longer, in seconds'),
      ('lead_seconds_p99', null, 'Ninety-nine of a hundred took no longer, in seconds'),
      ('message', null, 'What the platform said of a failure'),
      ('missing_since', null,
        'Since when the platform no longer shows it although its month is in the window; null while it does'),
      ('month', null, 'First UTC day of the month'),
      ('name', '{analytics.token_history,archive.tokens,archive.token_versions}', 'Its name'),
      ('name', null, 'Its name; not unique'),
      ('nft_count', null,
        'How many NFTs it had when this was seen; not refreshed after its month has left the window'),
      ('nfts', null, 'NFTs they have, as last seen: a class is looked at again until its month leaves the window'),
      ('number', null,
        'What was credited, in the unit that order_type implies: ugas for 1, fen for 2; not documented for others'),
      ('observed_at', null, 'When this content was first seen, on the platform''s clock'),
      ('of_other_status', null, 'Orders whose status is not documented or could not be read'),
      ('operation_id', '{analytics.transaction_history,archive.transaction_versions,archive.transactions}',
        'The operation''s id, unique within its project'),
      ('operation_id', null, 'The order''s id, unique within its project'),
      ('order_type', null, '1 gas, 2 business fee; others may come'),
      ('orders', null, 'Orders, whatever their status'),
      ('owner', '{analytics.readings,analytics.books,analytics.balances,analytics.day_history}',
        'The owner whose list it is; empty for the whole list'),
      ('owner', null, 'Its owner when this was seen'),
      ('pending', '{analytics.books,analytics.balances}',
        'Of them, pending orders; null of classes, and where the status is of no use'),
      ('pending', null, 'Orders with status 1: their outcome is not known'),
      ('pending_fen', null, 'Amounts of the orders still pending, in fen; no part of spent_fen'),
      ('pending_units', null, 'The same in whole currency units'),
      ('platform_total', null, 'How many records the platform said there are; null where it did not say'),
      ('project_id', null, 'The project'),
      ('proof', '{analytics.coverage_by_day,analytics.incomplete_days}',
        'none, readings or books, as in analytics.coverage: the weakest of the day''s lists'),
      ('proof', null, 'Coverage of the day: none, readings or books, the weakest of its lists'),
      ('proved_at', null, 'When the day was proved last, on the platform''s clock; null where any of its lists is not'),
      ('raw', null, 'The record as the platform gave it, equal as a JSON value'),
      ('raw_bytes', null, 'Its original bytes, only where jsonb could not hold it; null otherwise'),
      ('raw_sha256', '{analytics.nft_class_history,analytics.order_history,analytics.token_history,analytics.transaction_history}',
        'SHA-256 of its canonical JSON, lower-case hex'),
      ('raw_sha256', null, 'SHA-256 of its canonical JSON; change is detected by it'),
      ('rejected', null, 'Records without a usable id, or too long: kept as bytes in analytics.rejects, and in no figure'),
      ('reservations', null,
        'What is not certain, by name: lost, no_proof, unresolved_orders; empty for a clean claim'),
      ('resource', null, 'orders or nft_classes'),
      ('settled', null, 'Orders with this status and both times readable, the later one not before the earlier one'),
      ('shown', '{analytics.books,analytics.balances}',
        'How many distinct records the newest readings of these days showed; null where a day was not read yet'),
      ('slice_day', null, 'The day whose list showed it: the UTC day of created_at if that was one of them, else the last one'),
      ('spent_fen', null, 'Amounts of the orders that succeeded, in fen (1/100 of the currency unit)'),
      ('spent_on_fees_fen', null, 'Of spent_fen, what went into business fees (order_type 2), in fen'),
      ('spent_on_fees_units', null, 'The same in whole currency units'),
      ('spent_on_gas_fen', null, 'Of spent_fen, what went into gas (order_type 1), in fen'),
      ('spent_on_gas_units', null, 'The same in whole currency units'),
      ('spent_units', null, 'The same in whole currency units'),
      ('state', '{analytics.coverage_by_day,analytics.incomplete_days}',
        'open, walked, sealed, final or lost, as in analytics.coverage: the weakest of the day''s lists'),
      ('state', null,
        'Coverage of the day: open, walked, sealed, final or lost, the weakest of its lists; null where the '
        'ledger has no such day'),
      ('status', '{analytics.order_lead_times_by_day,analytics.order_lead_times_by_month}',
        'The platform''s number: 2 succeeded, 3 failed'),
      ('status', null, 'The platform''s number: 1 pending, 2 succeeded, 3 failed; null where it could not be read'),
      ('status_name', '{analytics.order_lead_times_by_day,analytics.order_lead_times_by_month}', 'success or failed'),
      ('status_name', null, 'pending, success or failed; other for a status that is not documented'),
      ('succeeded', '{analytics.books,analytics.balances}', 'Of them, orders that succeeded; null likewise'),
      ('succeeded', null, 'Orders with status 2'),
      ('symbol', '{analytics.token_history,archive.token_versions,archive.tokens}', 'The token''s symbol'),
      ('symbol', null, 'Its symbol; may be empty'),
      ('total', '{analytics.books,analytics.balances}', 'How many records it counts; null where it gives no total'),
      ('tx_hash', null, 'The transaction that made it'),
      ('unread', null, 'Known fields that could not be read: they are null here and as they came in raw'),
      ('unresolved', null, 'Orders of the day still pending'),
      ('updated_at', null, 'When the order was last worked on, by the platform'),
      ('uri', null, 'Its address; may be empty'),
      ('without_amount', null,
        'Orders without a readable amount, as those of a batch purchase: they count as orders and add nothing to the sums'),
      ('without_times', null,
        'Orders with this status of which it cannot be told: a time is missing, unreadable or out of order')
    )
    select distinct on (c.oid, a.attnum)
           format('%s.%I.%I', c.relnamespace::regnamespace, c.relname, a.attname) as name, shared.says
      from shared
      join pg_attribute a on a.attname = shared.name and a.attnum > 0 and not a.attisdropped
      join pg_class c on c.oid = a.attrelid and c.relkind in ('r', 'v')
     where c.relnamespace in ('archive'::regnamespace, 'analytics'::regnamespace)
       and (shared.relations is null or c.oid = any (shared.relations::regclass[]))
       and col_description(c.oid, a.attnum) is null
     order by c.oid, a.attnum, shared.relations is null
  loop
    execute format('comment on column %s is %L', untold.name, untold.says);
  end loop;
end $$;
