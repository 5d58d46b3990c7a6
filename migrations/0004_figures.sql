-- Views for people and BI tools: figures with their coverage beside them, so that nobody reports a month with holes
-- unknowingly (P7). Each aggregates `archive` by project and day first; coverage is added to the result. The two are put together by
-- UNION ALL and not by a join: a condition on project, day or month then reaches the index below, and a day that is in only
-- one of them is shown.
--
-- A month is found by an index that begins with it, and the figures are read from the index alone: 280,000 orders of a
-- month among ten million. That needs pages which VACUUM has seen, so that it comes by more often than after a fifth of the table.
CREATE INDEX "orders_figures" ON "archive"."orders" USING btree
  ("project_id", (date_trunc('month', slice_day::timestamp)::date), "slice_day") INCLUDE ("status", "order_type", "amount", "number");
--> statement-breakpoint
CREATE INDEX "nft_classes_figures" ON "archive"."nft_classes" USING btree
  ("project_id", (date_trunc('month', slice_day::timestamp)::date), "slice_day") INCLUDE ("nft_count");
--> statement-breakpoint
-- What the platform stopped showing is rare, and asked for by itself.
CREATE INDEX "orders_missing" ON "archive"."orders" USING btree ("project_id", "slice_day") WHERE missing_since IS NOT NULL;
--> statement-breakpoint
CREATE INDEX "nft_classes_missing" ON "archive"."nft_classes" USING btree ("project_id", "slice_day") WHERE missing_since IS NOT NULL;
--> statement-breakpoint
ALTER TABLE "archive"."orders" SET (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
--> statement-breakpoint
ALTER TABLE "archive"."nft_classes" SET (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
--> statement-breakpoint
CREATE VIEW "analytics"."coverage_by_day" AS
SELECT project_id,
       resource,
       day,
       date_trunc('month', day::timestamp)::date AS month,
       CASE WHEN bool_or(state = 'lost')   THEN 'lost'
            WHEN bool_or(state = 'open')   THEN 'open'
            WHEN bool_or(state = 'walked') THEN 'walked'
            WHEN bool_or(state = 'final')  THEN 'final'
            ELSE 'sealed' END AS state,
       CASE WHEN bool_or(proof = 'none')   THEN 'none'
            WHEN bool_or(proof = 'walks')  THEN 'walks'
            WHEN bool_or(proof = 'counts') THEN 'counts'
            ELSE 'walk' END AS proof,
       CASE WHEN count(proved_at) = count(*) THEN min(proved_at) END AS proved_at,
       coalesce((SELECT array_agg(DISTINCT name ORDER BY name)
                   FROM unnest(string_to_array(string_agg(nullif(array_to_string(reservations, ' '), ''), ' '), ' ')) name), '{}') AS reservations,
       sum(rejected)::bigint AS rejected,
       sum(unresolved)::bigint AS unresolved,
       CASE WHEN count(platform_total) = count(*) THEN sum(platform_total)::bigint END AS platform_total,
       count(*)::integer AS lists,
       bool_or(owner = '') AS is_whole_list,
       min(deadline_at) AS deadline_at,
       bool_and(state IN ('sealed', 'final') AND cardinality(reservations) = 0 AND rejected = 0) AS is_complete
  FROM analytics.coverage
 GROUP BY project_id, resource, day;
--> statement-breakpoint
COMMENT ON VIEW "analytics"."coverage_by_day" IS 'The coverage calendar: one row for each UTC day of a resource, the weakest of its lists deciding';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."coverage_by_day"."project_id" IS 'The project';
COMMENT ON COLUMN "analytics"."coverage_by_day"."resource" IS 'orders or nft_classes';
COMMENT ON COLUMN "analytics"."coverage_by_day"."day" IS 'The UTC day';
COMMENT ON COLUMN "analytics"."coverage_by_day"."month" IS 'First UTC day of the month';
COMMENT ON COLUMN "analytics"."coverage_by_day"."state" IS 'open, walked, sealed, final or lost, as in analytics.coverage: the weakest of the day''s lists';
COMMENT ON COLUMN "analytics"."coverage_by_day"."proof" IS 'none, walks, counts or walk, as in analytics.coverage: the weakest of the day''s lists';
COMMENT ON COLUMN "analytics"."coverage_by_day"."proved_at" IS 'When the day was proved last, on the platform''s clock; null where any of its lists is not';
COMMENT ON COLUMN "analytics"."coverage_by_day"."reservations" IS 'What is not certain, by name: lost, no_proof, proved_before_closing, unresolved_orders; empty for a clean claim';
COMMENT ON COLUMN "analytics"."coverage_by_day"."rejected" IS 'Records without a usable id: kept as bytes in analytics.rejects, and in no figure';
COMMENT ON COLUMN "analytics"."coverage_by_day"."unresolved" IS 'Orders of the day still pending';
COMMENT ON COLUMN "analytics"."coverage_by_day"."platform_total" IS 'How many records the platform said there are; null where it did not say';
COMMENT ON COLUMN "analytics"."coverage_by_day"."lists" IS 'How many lists stand for the day: one, or one for each owner whose classes are archived';
COMMENT ON COLUMN "analytics"."coverage_by_day"."is_whole_list" IS 'False where only some owners'' classes are archived: nothing is claimed about others';
COMMENT ON COLUMN "analytics"."coverage_by_day"."deadline_at" IS 'Until when the day should be held and proved';
COMMENT ON COLUMN "analytics"."coverage_by_day"."is_complete" IS 'Whether the day has neither a hole nor a doubt: sealed or final, no reservation, no reject';
--> statement-breakpoint
CREATE VIEW "analytics"."coverage_by_month" AS
SELECT project_id,
       resource,
       month,
       extract(day FROM month + interval '1 month' - interval '1 day')::integer AS days_in_month,
       count(state)::integer AS days_accounted,
       count(*) FILTER (WHERE state = 'open')::integer AS days_open,
       count(*) FILTER (WHERE state IN ('walked', 'sealed', 'final'))::integer AS days_held,
       count(*) FILTER (WHERE state = 'sealed')::integer AS days_sealed,
       count(*) FILTER (WHERE state = 'final')::integer AS days_final,
       count(*) FILTER (WHERE state = 'lost')::integer AS days_lost,
       count(*) FILTER (WHERE cardinality(reservations) > 0)::integer AS days_reserved,
       count(*) FILTER (WHERE proof = 'walks')::integer AS days_by_walks,
       count(*) FILTER (WHERE is_complete)::integer AS days_complete,
       coalesce((SELECT array_agg(DISTINCT name ORDER BY name)
                   FROM unnest(string_to_array(string_agg(nullif(array_to_string(reservations, ' '), ''), ' '), ' ')) name), '{}') AS reservations,
       sum(rejected)::bigint AS rejected,
       count(*) FILTER (WHERE is_complete) = extract(day FROM month + interval '1 month' - interval '1 day') AS is_complete
  FROM analytics.coverage_by_day
 GROUP BY project_id, resource, month;
--> statement-breakpoint
COMMENT ON VIEW "analytics"."coverage_by_month" IS 'The coverage of each calendar month, counted in days';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."coverage_by_month"."project_id" IS 'The project';
COMMENT ON COLUMN "analytics"."coverage_by_month"."resource" IS 'orders or nft_classes';
COMMENT ON COLUMN "analytics"."coverage_by_month"."month" IS 'First UTC day of the month';
COMMENT ON COLUMN "analytics"."coverage_by_month"."days_in_month" IS 'Days the calendar gives the month';
COMMENT ON COLUMN "analytics"."coverage_by_month"."days_accounted" IS 'Days of the month that the ledger knows; the others lie before the first day of the archive or in the future';
COMMENT ON COLUMN "analytics"."coverage_by_month"."days_open" IS 'Days not read to their ends yet; today''s is always one';
COMMENT ON COLUMN "analytics"."coverage_by_month"."days_held" IS 'Days read to their ends: walked, sealed or final';
COMMENT ON COLUMN "analytics"."coverage_by_month"."days_sealed" IS 'Days proved with nothing pending, while their month can still be asked for';
COMMENT ON COLUMN "analytics"."coverage_by_month"."days_final" IS 'Days held whose month has left the window';
COMMENT ON COLUMN "analytics"."coverage_by_month"."days_lost" IS 'Days that left the window before they were read whole: a hole for ever';
COMMENT ON COLUMN "analytics"."coverage_by_month"."days_reserved" IS 'Days with any reservation';
COMMENT ON COLUMN "analytics"."coverage_by_month"."days_by_walks" IS 'Days proved by two walks alone, for the platform gave no totals: the weaker proof';
COMMENT ON COLUMN "analytics"."coverage_by_month"."days_complete" IS 'Days without a hole or a doubt: sealed or final, no reservation, no reject';
COMMENT ON COLUMN "analytics"."coverage_by_month"."reservations" IS 'What is not certain, by name: lost, no_proof, proved_before_closing, unresolved_orders; empty for a clean claim';
COMMENT ON COLUMN "analytics"."coverage_by_month"."rejected" IS 'Records without a usable id: kept as bytes in analytics.rejects, and in no figure';
COMMENT ON COLUMN "analytics"."coverage_by_month"."is_complete" IS 'Whether the month has neither a hole nor a doubt: every day of the calendar month is complete';
--> statement-breakpoint
CREATE VIEW "analytics"."coverage_by_resource" AS
SELECT project_id,
       resource,
       min(day) AS first_day,
       max(day) AS last_day,
       count(*)::integer AS days_accounted,
       count(*) FILTER (WHERE state = 'open')::integer AS days_open,
       count(*) FILTER (WHERE state IN ('walked', 'sealed', 'final'))::integer AS days_held,
       count(*) FILTER (WHERE state = 'lost')::integer AS days_lost,
       count(*) FILTER (WHERE cardinality(reservations) > 0)::integer AS days_reserved,
       count(*) FILTER (WHERE proof = 'walks')::integer AS days_by_walks,
       count(*) FILTER (WHERE is_complete)::integer AS days_complete,
       coalesce((SELECT array_agg(DISTINCT name ORDER BY name)
                   FROM unnest(string_to_array(string_agg(nullif(array_to_string(reservations, ' '), ''), ' '), ' ')) name), '{}') AS reservations,
       sum(rejected)::bigint AS rejected,
       bool_and(is_whole_list) AS is_whole_list
  FROM analytics.coverage_by_day
 GROUP BY project_id, resource;
--> statement-breakpoint
COMMENT ON VIEW "analytics"."coverage_by_resource" IS 'The coverage of everything archived of a resource, counted in days';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."coverage_by_resource"."project_id" IS 'The project';
COMMENT ON COLUMN "analytics"."coverage_by_resource"."resource" IS 'orders or nft_classes';
COMMENT ON COLUMN "analytics"."coverage_by_resource"."first_day" IS 'The first UTC day that the ledger knows; nothing is claimed about days before it';
COMMENT ON COLUMN "analytics"."coverage_by_resource"."last_day" IS 'The last one';
COMMENT ON COLUMN "analytics"."coverage_by_resource"."days_accounted" IS 'Days from the first to the last that the ledger knows';
COMMENT ON COLUMN "analytics"."coverage_by_resource"."days_open" IS 'Days not read to their ends yet; today''s is always one';
COMMENT ON COLUMN "analytics"."coverage_by_resource"."days_held" IS 'Days read to their ends: walked, sealed or final';
COMMENT ON COLUMN "analytics"."coverage_by_resource"."days_lost" IS 'Days that left the window before they were read whole: a hole for ever';
COMMENT ON COLUMN "analytics"."coverage_by_resource"."days_reserved" IS 'Days with any reservation';
COMMENT ON COLUMN "analytics"."coverage_by_resource"."days_by_walks" IS 'Days proved by two walks alone, for the platform gave no totals: the weaker proof';
COMMENT ON COLUMN "analytics"."coverage_by_resource"."days_complete" IS 'Days without a hole or a doubt: sealed or final, no reservation, no reject';
COMMENT ON COLUMN "analytics"."coverage_by_resource"."reservations" IS 'What is not certain, by name: lost, no_proof, proved_before_closing, unresolved_orders; empty for a clean claim';
COMMENT ON COLUMN "analytics"."coverage_by_resource"."rejected" IS 'Records without a usable id: kept as bytes in analytics.rejects, and in no figure';
COMMENT ON COLUMN "analytics"."coverage_by_resource"."is_whole_list" IS 'False where only some owners'' classes are archived: nothing is claimed about others';
--> statement-breakpoint
CREATE FUNCTION "analytics"."status_name"(status integer) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE status WHEN 1 THEN 'pending' WHEN 2 THEN 'success' WHEN 3 THEN 'failed' ELSE 'other' END
$$;
--> statement-breakpoint
COMMENT ON FUNCTION "analytics"."status_name"(integer) IS 'An order''s status in a word: pending, success, failed, other';
--> statement-breakpoint
CREATE VIEW "analytics"."orders" AS
SELECT o.project_id,
       o.operation_id,
       o.slice_day AS day,
       date_trunc('month', o.slice_day::timestamp)::date AS month,
       o.status,
       analytics.status_name(o.status) AS status_name,
       o.message,
       o.account,
       o.order_type,
       o.amount AS amount_fen,
       o.amount * 0.01 AS amount_units,
       o.number,
       CASE WHEN o.order_type = 1 THEN o.number END AS credited_gas_ugas,
       CASE WHEN o.order_type = 2 THEN o.number END AS credited_fees_fen,
       CASE WHEN o.order_type = 2 THEN o.number * 0.01 END AS credited_fees_units,
       o.created_at,
       o.updated_at,
       o.observed_at,
       o.first_seen_at,
       o.changed_at,
       o.missing_since,
       o.unread
  FROM archive.orders o;
--> statement-breakpoint
COMMENT ON VIEW "analytics"."orders" IS 'Every order as it is known now, one row each, money with its unit in the column''s name. Sums over it know nothing of holes: analytics.orders_by_day and orders_by_month show them';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."orders"."project_id" IS 'The project';
COMMENT ON COLUMN "analytics"."orders"."operation_id" IS 'The order''s id, unique within its project';
COMMENT ON COLUMN "analytics"."orders"."day" IS 'The UTC day of the record: the date of created_at, or the day it was asked for where that cannot be read';
COMMENT ON COLUMN "analytics"."orders"."month" IS 'First UTC day of the month';
COMMENT ON COLUMN "analytics"."orders"."status" IS 'The platform''s number: 1 pending, 2 succeeded, 3 failed; null where it could not be read';
COMMENT ON COLUMN "analytics"."orders"."status_name" IS 'pending, success or failed; other for a status that is not documented';
COMMENT ON COLUMN "analytics"."orders"."message" IS 'What the platform said of a failure';
COMMENT ON COLUMN "analytics"."orders"."account" IS 'The account that was credited; null where the platform shows none, as for orders of a batch purchase';
COMMENT ON COLUMN "analytics"."orders"."order_type" IS '1 gas, 2 business fee; others may come';
COMMENT ON COLUMN "analytics"."orders"."amount_fen" IS 'The price in fen (1/100 of the currency unit); null where the platform shows none or it could not be read';
COMMENT ON COLUMN "analytics"."orders"."amount_units" IS 'The same in whole currency units';
COMMENT ON COLUMN "analytics"."orders"."number" IS 'What was credited, in the unit that order_type implies: ugas for 1, fen for 2; not documented for others';
COMMENT ON COLUMN "analytics"."orders"."credited_gas_ugas" IS 'Gas credited, in ugas; null unless order_type is 1';
COMMENT ON COLUMN "analytics"."orders"."credited_fees_fen" IS 'Business fees credited, in fen; null unless order_type is 2';
COMMENT ON COLUMN "analytics"."orders"."credited_fees_units" IS 'The same in whole currency units';
COMMENT ON COLUMN "analytics"."orders"."created_at" IS 'When the order was made, by the platform';
COMMENT ON COLUMN "analytics"."orders"."updated_at" IS 'When the order was last worked on, by the platform';
COMMENT ON COLUMN "analytics"."orders"."observed_at" IS 'When the content was first seen, on the platform''s clock';
COMMENT ON COLUMN "analytics"."orders"."first_seen_at" IS 'When the record was first seen here, whatever it said then, on the platform''s clock';
COMMENT ON COLUMN "analytics"."orders"."changed_at" IS 'When the row last changed: the mark for incremental readers, on the platform''s clock';
COMMENT ON COLUMN "analytics"."orders"."missing_since" IS 'Since when the platform no longer shows it although its month is in the window; null while it does';
COMMENT ON COLUMN "analytics"."orders"."unread" IS 'Known fields that could not be read: they are null here and as they came in raw';
--> statement-breakpoint
CREATE VIEW "analytics"."nft_classes" AS
SELECT c.project_id,
       c.id,
       c.slice_day AS day,
       date_trunc('month', c.slice_day::timestamp)::date AS month,
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
  FROM archive.nft_classes c;
--> statement-breakpoint
COMMENT ON VIEW "analytics"."nft_classes" IS 'Every NFT class as it is known now, one row each. Sums over it know nothing of holes: analytics.nft_classes_by_day and nft_classes_by_month show them';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."nft_classes"."project_id" IS 'The project';
COMMENT ON COLUMN "analytics"."nft_classes"."id" IS 'The class''s id';
COMMENT ON COLUMN "analytics"."nft_classes"."day" IS 'The UTC day of the record: the date of created_at, or the day it was asked for where that cannot be read';
COMMENT ON COLUMN "analytics"."nft_classes"."month" IS 'First UTC day of the month';
COMMENT ON COLUMN "analytics"."nft_classes"."name" IS 'Its name; not unique';
COMMENT ON COLUMN "analytics"."nft_classes"."symbol" IS 'Its symbol; may be empty';
COMMENT ON COLUMN "analytics"."nft_classes"."nft_count" IS 'How many NFTs it had when it was last seen; not refreshed after its month has left the window';
COMMENT ON COLUMN "analytics"."nft_classes"."uri" IS 'Its address; may be empty';
COMMENT ON COLUMN "analytics"."nft_classes"."owner" IS 'Its owner when it was last seen';
COMMENT ON COLUMN "analytics"."nft_classes"."tx_hash" IS 'The transaction that made it';
COMMENT ON COLUMN "analytics"."nft_classes"."created_at" IS 'When the class was made, by the platform';
COMMENT ON COLUMN "analytics"."nft_classes"."observed_at" IS 'When the content was first seen, on the platform''s clock';
COMMENT ON COLUMN "analytics"."nft_classes"."first_seen_at" IS 'When the record was first seen here, whatever it said then, on the platform''s clock';
COMMENT ON COLUMN "analytics"."nft_classes"."changed_at" IS 'When the row last changed: the mark for incremental readers, on the platform''s clock';
COMMENT ON COLUMN "analytics"."nft_classes"."missing_since" IS 'Since when the platform no longer shows it although its month is in the window; null while it does';
COMMENT ON COLUMN "analytics"."nft_classes"."unread" IS 'Known fields that could not be read: they are null here and as they came in raw';
--> statement-breakpoint
CREATE VIEW "analytics"."orders_by_day" AS
SELECT project_id,
       day,
       date_trunc('month', day::timestamp)::date AS month,
       sum(orders)::bigint AS orders,
       sum(succeeded)::bigint AS succeeded,
       sum(failed)::bigint AS failed,
       sum(pending)::bigint AS pending,
       sum(of_other_status)::bigint AS of_other_status,
       coalesce(sum(spent), 0) AS spent_fen,
       coalesce(sum(spent), 0) * 0.01 AS spent_units,
       coalesce(sum(spent_on_gas), 0) AS spent_on_gas_fen,
       coalesce(sum(spent_on_gas), 0) * 0.01 AS spent_on_gas_units,
       coalesce(sum(spent_on_fees), 0) AS spent_on_fees_fen,
       coalesce(sum(spent_on_fees), 0) * 0.01 AS spent_on_fees_units,
       coalesce(sum(waiting), 0) AS pending_fen,
       coalesce(sum(waiting), 0) * 0.01 AS pending_units,
       coalesce(sum(credited_gas), 0) AS credited_gas_ugas,
       coalesce(sum(credited_fees), 0) AS credited_fees_fen,
       coalesce(sum(credited_fees), 0) * 0.01 AS credited_fees_units,
       sum(without_amount)::bigint AS without_amount,
       max(state) AS state,
       max(proof) AS proof,
       max(proved_at) AS proved_at,
       coalesce(max(reservations), '{}') AS reservations,
       coalesce(sum(rejected), 0)::bigint AS rejected,
       coalesce(bool_or(is_complete), false) AS is_complete
  FROM (SELECT project_id,
               slice_day AS day,
               count(*) AS orders,
               count(*) FILTER (WHERE status = 2) AS succeeded,
               count(*) FILTER (WHERE status = 3) AS failed,
               count(*) FILTER (WHERE status = 1) AS pending,
               count(*) FILTER (WHERE status IS NULL OR status NOT IN (1, 2, 3)) AS of_other_status,
               sum(amount) FILTER (WHERE status = 2) AS spent,
               sum(amount) FILTER (WHERE status = 2 AND order_type = 1) AS spent_on_gas,
               sum(amount) FILTER (WHERE status = 2 AND order_type = 2) AS spent_on_fees,
               sum(amount) FILTER (WHERE status = 1) AS waiting,
               sum(number) FILTER (WHERE status = 2 AND order_type = 1) AS credited_gas,
               sum(number) FILTER (WHERE status = 2 AND order_type = 2) AS credited_fees,
               count(*) FILTER (WHERE amount IS NULL) AS without_amount,
               NULL::text AS state,
               NULL::text AS proof,
               NULL::timestamptz AS proved_at,
               NULL::text[] AS reservations,
               NULL::bigint AS rejected,
               NULL::boolean AS is_complete
          FROM archive.orders
         GROUP BY project_id, slice_day
        UNION ALL
        SELECT project_id, day, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, 0,
               state, proof, proved_at, reservations, rejected, is_complete
          FROM analytics.coverage_by_day
         WHERE resource = 'orders') figures
 GROUP BY project_id, day;
--> statement-breakpoint
COMMENT ON VIEW "analytics"."orders_by_day" IS 'Orders and money of each UTC day, with the day''s coverage. Days without orders and days without coverage are shown too';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."orders_by_day"."project_id" IS 'The project';
COMMENT ON COLUMN "analytics"."orders_by_day"."day" IS 'The UTC day of the record: the date of created_at, or the day it was asked for where that cannot be read';
COMMENT ON COLUMN "analytics"."orders_by_day"."month" IS 'First UTC day of the month';
COMMENT ON COLUMN "analytics"."orders_by_day"."orders" IS 'Orders, whatever their status';
COMMENT ON COLUMN "analytics"."orders_by_day"."succeeded" IS 'Orders with status 2';
COMMENT ON COLUMN "analytics"."orders_by_day"."failed" IS 'Orders with status 3';
COMMENT ON COLUMN "analytics"."orders_by_day"."pending" IS 'Orders with status 1: their outcome is not known';
COMMENT ON COLUMN "analytics"."orders_by_day"."of_other_status" IS 'Orders whose status is not documented or could not be read';
COMMENT ON COLUMN "analytics"."orders_by_day"."spent_fen" IS 'Amounts of the orders that succeeded, in fen (1/100 of the currency unit)';
COMMENT ON COLUMN "analytics"."orders_by_day"."spent_units" IS 'The same in whole currency units';
COMMENT ON COLUMN "analytics"."orders_by_day"."spent_on_gas_fen" IS 'Of spent_fen, what went into gas (order_type 1), in fen';
COMMENT ON COLUMN "analytics"."orders_by_day"."spent_on_gas_units" IS 'The same in whole currency units';
COMMENT ON COLUMN "analytics"."orders_by_day"."spent_on_fees_fen" IS 'Of spent_fen, what went into business fees (order_type 2), in fen';
COMMENT ON COLUMN "analytics"."orders_by_day"."spent_on_fees_units" IS 'The same in whole currency units';
COMMENT ON COLUMN "analytics"."orders_by_day"."pending_fen" IS 'Amounts of the orders still pending, in fen; no part of spent_fen';
COMMENT ON COLUMN "analytics"."orders_by_day"."pending_units" IS 'The same in whole currency units';
COMMENT ON COLUMN "analytics"."orders_by_day"."credited_gas_ugas" IS 'Gas credited by the orders that succeeded, in ugas';
COMMENT ON COLUMN "analytics"."orders_by_day"."credited_fees_fen" IS 'Business fees credited by the orders that succeeded, in fen';
COMMENT ON COLUMN "analytics"."orders_by_day"."credited_fees_units" IS 'The same in whole currency units';
COMMENT ON COLUMN "analytics"."orders_by_day"."without_amount" IS 'Orders without a readable amount, as those of a batch purchase: they count as orders and add nothing to the sums';
COMMENT ON COLUMN "analytics"."orders_by_day"."state" IS 'Coverage of the day: open, walked, sealed, final or lost, the weakest of its lists; null where the ledger has no such day';
COMMENT ON COLUMN "analytics"."orders_by_day"."proof" IS 'Coverage of the day: none, walks, counts or walk, the weakest of its lists';
COMMENT ON COLUMN "analytics"."orders_by_day"."proved_at" IS 'When the day was proved last, on the platform''s clock; null where any of its lists is not';
COMMENT ON COLUMN "analytics"."orders_by_day"."reservations" IS 'What is not certain, by name: lost, no_proof, proved_before_closing, unresolved_orders; empty for a clean claim';
COMMENT ON COLUMN "analytics"."orders_by_day"."rejected" IS 'Records without a usable id: kept as bytes in analytics.rejects, and in no figure';
COMMENT ON COLUMN "analytics"."orders_by_day"."is_complete" IS 'Whether the day''s figures can be reported as they are: sealed or final, no reservation, no reject. Report no figure without it';
--> statement-breakpoint
CREATE VIEW "analytics"."orders_by_month" AS
SELECT project_id,
       month,
       sum(orders)::bigint AS orders,
       sum(succeeded)::bigint AS succeeded,
       sum(failed)::bigint AS failed,
       sum(pending)::bigint AS pending,
       sum(of_other_status)::bigint AS of_other_status,
       sum(spent_fen) AS spent_fen,
       sum(spent_units) AS spent_units,
       sum(spent_on_gas_fen) AS spent_on_gas_fen,
       sum(spent_on_gas_units) AS spent_on_gas_units,
       sum(spent_on_fees_fen) AS spent_on_fees_fen,
       sum(spent_on_fees_units) AS spent_on_fees_units,
       sum(pending_fen) AS pending_fen,
       sum(pending_units) AS pending_units,
       sum(credited_gas_ugas) AS credited_gas_ugas,
       sum(credited_fees_fen) AS credited_fees_fen,
       sum(credited_fees_units) AS credited_fees_units,
       sum(without_amount)::bigint AS without_amount,
       extract(day FROM month + interval '1 month' - interval '1 day')::integer AS days_in_month,
       count(state)::integer AS days_accounted,
       count(*) FILTER (WHERE state = 'open')::integer AS days_open,
       count(*) FILTER (WHERE state IN ('walked', 'sealed', 'final'))::integer AS days_held,
       count(*) FILTER (WHERE state = 'sealed')::integer AS days_sealed,
       count(*) FILTER (WHERE state = 'final')::integer AS days_final,
       count(*) FILTER (WHERE state = 'lost')::integer AS days_lost,
       count(*) FILTER (WHERE cardinality(reservations) > 0)::integer AS days_reserved,
       count(*) FILTER (WHERE proof = 'walks')::integer AS days_by_walks,
       count(*) FILTER (WHERE is_complete)::integer AS days_complete,
       coalesce((SELECT array_agg(DISTINCT name ORDER BY name)
                   FROM unnest(string_to_array(string_agg(nullif(array_to_string(reservations, ' '), ''), ' '), ' ')) name), '{}') AS reservations,
       sum(rejected)::bigint AS rejected,
       count(*) FILTER (WHERE is_complete) = extract(day FROM month + interval '1 month' - interval '1 day') AS is_complete
  FROM analytics.orders_by_day
 GROUP BY project_id, month;
--> statement-breakpoint
COMMENT ON VIEW "analytics"."orders_by_month" IS 'Orders and money of each calendar month (UTC), with the month''s coverage counted in days';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."orders_by_month"."project_id" IS 'The project';
COMMENT ON COLUMN "analytics"."orders_by_month"."month" IS 'First UTC day of the month';
COMMENT ON COLUMN "analytics"."orders_by_month"."orders" IS 'Orders, whatever their status';
COMMENT ON COLUMN "analytics"."orders_by_month"."succeeded" IS 'Orders with status 2';
COMMENT ON COLUMN "analytics"."orders_by_month"."failed" IS 'Orders with status 3';
COMMENT ON COLUMN "analytics"."orders_by_month"."pending" IS 'Orders with status 1: their outcome is not known';
COMMENT ON COLUMN "analytics"."orders_by_month"."of_other_status" IS 'Orders whose status is not documented or could not be read';
COMMENT ON COLUMN "analytics"."orders_by_month"."spent_fen" IS 'Amounts of the orders that succeeded, in fen (1/100 of the currency unit)';
COMMENT ON COLUMN "analytics"."orders_by_month"."spent_units" IS 'The same in whole currency units';
COMMENT ON COLUMN "analytics"."orders_by_month"."spent_on_gas_fen" IS 'Of spent_fen, what went into gas (order_type 1), in fen';
COMMENT ON COLUMN "analytics"."orders_by_month"."spent_on_gas_units" IS 'The same in whole currency units';
COMMENT ON COLUMN "analytics"."orders_by_month"."spent_on_fees_fen" IS 'Of spent_fen, what went into business fees (order_type 2), in fen';
COMMENT ON COLUMN "analytics"."orders_by_month"."spent_on_fees_units" IS 'The same in whole currency units';
COMMENT ON COLUMN "analytics"."orders_by_month"."pending_fen" IS 'Amounts of the orders still pending, in fen; no part of spent_fen';
COMMENT ON COLUMN "analytics"."orders_by_month"."pending_units" IS 'The same in whole currency units';
COMMENT ON COLUMN "analytics"."orders_by_month"."credited_gas_ugas" IS 'Gas credited by the orders that succeeded, in ugas';
COMMENT ON COLUMN "analytics"."orders_by_month"."credited_fees_fen" IS 'Business fees credited by the orders that succeeded, in fen';
COMMENT ON COLUMN "analytics"."orders_by_month"."credited_fees_units" IS 'The same in whole currency units';
COMMENT ON COLUMN "analytics"."orders_by_month"."without_amount" IS 'Orders without a readable amount, as those of a batch purchase: they count as orders and add nothing to the sums';
COMMENT ON COLUMN "analytics"."orders_by_month"."days_in_month" IS 'Days the calendar gives the month';
COMMENT ON COLUMN "analytics"."orders_by_month"."days_accounted" IS 'Days of the month that the ledger knows; the others lie before the first day of the archive or in the future';
COMMENT ON COLUMN "analytics"."orders_by_month"."days_open" IS 'Days not read to their ends yet; today''s is always one';
COMMENT ON COLUMN "analytics"."orders_by_month"."days_held" IS 'Days read to their ends: walked, sealed or final';
COMMENT ON COLUMN "analytics"."orders_by_month"."days_sealed" IS 'Days proved with nothing pending, while their month can still be asked for';
COMMENT ON COLUMN "analytics"."orders_by_month"."days_final" IS 'Days held whose month has left the window';
COMMENT ON COLUMN "analytics"."orders_by_month"."days_lost" IS 'Days that left the window before they were read whole: a hole for ever';
COMMENT ON COLUMN "analytics"."orders_by_month"."days_reserved" IS 'Days with any reservation';
COMMENT ON COLUMN "analytics"."orders_by_month"."days_by_walks" IS 'Days proved by two walks alone, for the platform gave no totals: the weaker proof';
COMMENT ON COLUMN "analytics"."orders_by_month"."days_complete" IS 'Days without a hole or a doubt: sealed or final, no reservation, no reject';
COMMENT ON COLUMN "analytics"."orders_by_month"."reservations" IS 'What is not certain, by name: lost, no_proof, proved_before_closing, unresolved_orders; empty for a clean claim';
COMMENT ON COLUMN "analytics"."orders_by_month"."rejected" IS 'Records without a usable id: kept as bytes in analytics.rejects, and in no figure';
COMMENT ON COLUMN "analytics"."orders_by_month"."is_complete" IS 'Whether the month''s figures can be reported as they are: every day of the calendar month is complete. Report no figure without it';
--> statement-breakpoint
CREATE VIEW "analytics"."spend_by_account" AS
SELECT a.project_id,
       a.month,
       a.account,
       a.orders,
       a.succeeded,
       a.failed,
       a.pending,
       a.of_other_status,
       a.spent AS spent_fen,
       a.spent * 0.01 AS spent_units,
       a.waiting AS pending_fen,
       a.waiting * 0.01 AS pending_units,
       a.credited_gas AS credited_gas_ugas,
       a.credited_fees AS credited_fees_fen,
       a.credited_fees * 0.01 AS credited_fees_units,
       a.without_amount,
       a.first_order_at,
       a.last_order_at,
       coalesce(c.days_in_month, extract(day FROM a.month + interval '1 month' - interval '1 day')::integer) AS days_in_month,
       coalesce(c.days_accounted, 0) AS days_accounted,
       coalesce(c.days_open, 0) AS days_open,
       coalesce(c.days_held, 0) AS days_held,
       coalesce(c.days_lost, 0) AS days_lost,
       coalesce(c.days_reserved, 0) AS days_reserved,
       coalesce(c.days_by_walks, 0) AS days_by_walks,
       coalesce(c.reservations, '{}') AS reservations,
       coalesce(c.rejected, 0) AS rejected,
       coalesce(c.is_complete, false) AS is_complete
  FROM (SELECT project_id,
               date_trunc('month', slice_day::timestamp)::date AS month,
               account,
               count(*) AS orders,
               count(*) FILTER (WHERE status = 2) AS succeeded,
               count(*) FILTER (WHERE status = 3) AS failed,
               count(*) FILTER (WHERE status = 1) AS pending,
               count(*) FILTER (WHERE status IS NULL OR status NOT IN (1, 2, 3)) AS of_other_status,
               coalesce(sum(amount) FILTER (WHERE status = 2), 0) AS spent,
               coalesce(sum(amount) FILTER (WHERE status = 1), 0) AS waiting,
               coalesce(sum(number) FILTER (WHERE status = 2 AND order_type = 1), 0) AS credited_gas,
               coalesce(sum(number) FILTER (WHERE status = 2 AND order_type = 2), 0) AS credited_fees,
               count(*) FILTER (WHERE amount IS NULL) AS without_amount,
               min(created_at) AS first_order_at,
               max(created_at) AS last_order_at
          FROM archive.orders
         GROUP BY project_id, date_trunc('month', slice_day::timestamp)::date, account) a
  LEFT JOIN analytics.coverage_by_month c
    ON c.project_id = a.project_id AND c.resource = 'orders' AND c.month = a.month;
--> statement-breakpoint
COMMENT ON VIEW "analytics"."spend_by_account" IS 'What was bought for each account in each calendar month (UTC), with the month''s coverage. Orders that show no account stand under null';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."spend_by_account"."project_id" IS 'The project';
COMMENT ON COLUMN "analytics"."spend_by_account"."month" IS 'First UTC day of the month';
COMMENT ON COLUMN "analytics"."spend_by_account"."account" IS 'The account that was credited; null where the platform shows none, as for orders of a batch purchase';
COMMENT ON COLUMN "analytics"."spend_by_account"."orders" IS 'Orders, whatever their status';
COMMENT ON COLUMN "analytics"."spend_by_account"."succeeded" IS 'Orders with status 2';
COMMENT ON COLUMN "analytics"."spend_by_account"."failed" IS 'Orders with status 3';
COMMENT ON COLUMN "analytics"."spend_by_account"."pending" IS 'Orders with status 1: their outcome is not known';
COMMENT ON COLUMN "analytics"."spend_by_account"."of_other_status" IS 'Orders whose status is not documented or could not be read';
COMMENT ON COLUMN "analytics"."spend_by_account"."spent_fen" IS 'Amounts of the orders that succeeded, in fen (1/100 of the currency unit)';
COMMENT ON COLUMN "analytics"."spend_by_account"."spent_units" IS 'The same in whole currency units';
COMMENT ON COLUMN "analytics"."spend_by_account"."pending_fen" IS 'Amounts of the orders still pending, in fen; no part of spent_fen';
COMMENT ON COLUMN "analytics"."spend_by_account"."pending_units" IS 'The same in whole currency units';
COMMENT ON COLUMN "analytics"."spend_by_account"."credited_gas_ugas" IS 'Gas credited by the orders that succeeded, in ugas';
COMMENT ON COLUMN "analytics"."spend_by_account"."credited_fees_fen" IS 'Business fees credited by the orders that succeeded, in fen';
COMMENT ON COLUMN "analytics"."spend_by_account"."credited_fees_units" IS 'The same in whole currency units';
COMMENT ON COLUMN "analytics"."spend_by_account"."without_amount" IS 'Orders without a readable amount, as those of a batch purchase: they count as orders and add nothing to the sums';
COMMENT ON COLUMN "analytics"."spend_by_account"."first_order_at" IS 'When the first of these orders was made, by the platform';
COMMENT ON COLUMN "analytics"."spend_by_account"."last_order_at" IS 'When the last of them was made';
COMMENT ON COLUMN "analytics"."spend_by_account"."days_in_month" IS 'Days the calendar gives the month';
COMMENT ON COLUMN "analytics"."spend_by_account"."days_accounted" IS 'Days of the month that the ledger knows; the others lie before the first day of the archive or in the future';
COMMENT ON COLUMN "analytics"."spend_by_account"."days_open" IS 'Days not read to their ends yet; today''s is always one';
COMMENT ON COLUMN "analytics"."spend_by_account"."days_held" IS 'Days read to their ends: walked, sealed or final';
COMMENT ON COLUMN "analytics"."spend_by_account"."days_lost" IS 'Days that left the window before they were read whole: a hole for ever';
COMMENT ON COLUMN "analytics"."spend_by_account"."days_reserved" IS 'Days with any reservation';
COMMENT ON COLUMN "analytics"."spend_by_account"."days_by_walks" IS 'Days proved by two walks alone, for the platform gave no totals: the weaker proof';
COMMENT ON COLUMN "analytics"."spend_by_account"."reservations" IS 'What is not certain, by name: lost, no_proof, proved_before_closing, unresolved_orders; empty for a clean claim';
COMMENT ON COLUMN "analytics"."spend_by_account"."rejected" IS 'Records without a usable id: kept as bytes in analytics.rejects, and in no figure';
COMMENT ON COLUMN "analytics"."spend_by_account"."is_complete" IS 'Whether the month''s figures can be reported as they are: every day of the calendar month is complete. Report no figure without it';
--> statement-breakpoint
CREATE VIEW "analytics"."order_lead_times_by_day" AS
SELECT t.project_id,
       t.day,
       t.status,
       analytics.status_name(t.status) AS status_name,
       t.settled,
       t.without_times,
       t.lead_seconds_avg,
       t.lead_seconds[1] AS lead_seconds_p50,
       t.lead_seconds[2] AS lead_seconds_p90,
       t.lead_seconds[3] AS lead_seconds_p99,
       t.lead_seconds_max,
       c.state,
       c.proof,
       c.proved_at,
       coalesce(c.reservations, '{}') AS reservations,
       coalesce(c.rejected, 0) AS rejected,
       coalesce(c.is_complete, false) AS is_complete
  FROM (SELECT project_id,
               slice_day AS day,
               status,
               count(lead) AS settled,
               count(*) - count(lead) AS without_times,
               avg(lead) AS lead_seconds_avg,
               percentile_cont(ARRAY[0.5, 0.9, 0.99]) WITHIN GROUP (ORDER BY lead) AS lead_seconds,
               max(lead) AS lead_seconds_max
          FROM (SELECT project_id,
                       slice_day,
                       status,
                       CASE WHEN updated_at >= created_at
                            THEN extract(epoch FROM updated_at - created_at)::double precision END AS lead
                  FROM archive.orders
                 WHERE status IN (2, 3)) settled
         GROUP BY project_id, slice_day, status) t
  LEFT JOIN analytics.coverage_by_day c
    ON c.project_id = t.project_id AND c.resource = 'orders' AND c.day = t.day;
--> statement-breakpoint
COMMENT ON VIEW "analytics"."order_lead_times_by_day" IS 'How long orders took from being made to their last operation, by the UTC day they were made on and by their outcome';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."order_lead_times_by_day"."project_id" IS 'The project';
COMMENT ON COLUMN "analytics"."order_lead_times_by_day"."day" IS 'The UTC day of the record: the date of created_at, or the day it was asked for where that cannot be read';
COMMENT ON COLUMN "analytics"."order_lead_times_by_day"."status" IS 'The platform''s number: 2 succeeded, 3 failed';
COMMENT ON COLUMN "analytics"."order_lead_times_by_day"."status_name" IS 'success or failed';
COMMENT ON COLUMN "analytics"."order_lead_times_by_day"."settled" IS 'Orders with this status and both times readable, the later one not before the earlier one';
COMMENT ON COLUMN "analytics"."order_lead_times_by_day"."without_times" IS 'Orders with this status of which it cannot be told: a time is missing, unreadable or out of order';
COMMENT ON COLUMN "analytics"."order_lead_times_by_day"."lead_seconds_avg" IS 'Mean seconds from created_at to updated_at, the last operation on the order';
COMMENT ON COLUMN "analytics"."order_lead_times_by_day"."lead_seconds_p50" IS 'Median of these seconds';
COMMENT ON COLUMN "analytics"."order_lead_times_by_day"."lead_seconds_p90" IS 'Nine of ten orders took no longer, in seconds';
COMMENT ON COLUMN "analytics"."order_lead_times_by_day"."lead_seconds_p99" IS 'Ninety-nine of a hundred took no longer, in seconds';
COMMENT ON COLUMN "analytics"."order_lead_times_by_day"."lead_seconds_max" IS 'The longest, in seconds';
COMMENT ON COLUMN "analytics"."order_lead_times_by_day"."state" IS 'Coverage of the day: open, walked, sealed, final or lost, the weakest of its lists; null where the ledger has no such day';
COMMENT ON COLUMN "analytics"."order_lead_times_by_day"."proof" IS 'Coverage of the day: none, walks, counts or walk, the weakest of its lists';
COMMENT ON COLUMN "analytics"."order_lead_times_by_day"."proved_at" IS 'When the day was proved last, on the platform''s clock; null where any of its lists is not';
COMMENT ON COLUMN "analytics"."order_lead_times_by_day"."reservations" IS 'What is not certain, by name: lost, no_proof, proved_before_closing, unresolved_orders; empty for a clean claim';
COMMENT ON COLUMN "analytics"."order_lead_times_by_day"."rejected" IS 'Records without a usable id: kept as bytes in analytics.rejects, and in no figure';
COMMENT ON COLUMN "analytics"."order_lead_times_by_day"."is_complete" IS 'Whether the day''s figures can be reported as they are: sealed or final, no reservation, no reject. Report no figure without it';
--> statement-breakpoint
CREATE VIEW "analytics"."order_lead_times_by_month" AS
SELECT t.project_id,
       t.month,
       t.status,
       analytics.status_name(t.status) AS status_name,
       t.settled,
       t.without_times,
       t.lead_seconds_avg,
       t.lead_seconds[1] AS lead_seconds_p50,
       t.lead_seconds[2] AS lead_seconds_p90,
       t.lead_seconds[3] AS lead_seconds_p99,
       t.lead_seconds_max,
       coalesce(c.days_in_month, extract(day FROM t.month + interval '1 month' - interval '1 day')::integer) AS days_in_month,
       coalesce(c.days_accounted, 0) AS days_accounted,
       coalesce(c.days_open, 0) AS days_open,
       coalesce(c.days_held, 0) AS days_held,
       coalesce(c.days_lost, 0) AS days_lost,
       coalesce(c.days_reserved, 0) AS days_reserved,
       coalesce(c.days_by_walks, 0) AS days_by_walks,
       coalesce(c.reservations, '{}') AS reservations,
       coalesce(c.rejected, 0) AS rejected,
       coalesce(c.is_complete, false) AS is_complete
  FROM (SELECT project_id,
               date_trunc('month', slice_day::timestamp)::date AS month,
               status,
               count(lead) AS settled,
               count(*) - count(lead) AS without_times,
               avg(lead) AS lead_seconds_avg,
               percentile_cont(ARRAY[0.5, 0.9, 0.99]) WITHIN GROUP (ORDER BY lead) AS lead_seconds,
               max(lead) AS lead_seconds_max
          FROM (SELECT project_id,
                       slice_day,
                       status,
                       CASE WHEN updated_at >= created_at
                            THEN extract(epoch FROM updated_at - created_at)::double precision END AS lead
                  FROM archive.orders
                 WHERE status IN (2, 3)) settled
         GROUP BY project_id, date_trunc('month', slice_day::timestamp)::date, status) t
  LEFT JOIN analytics.coverage_by_month c
    ON c.project_id = t.project_id AND c.resource = 'orders' AND c.month = t.month;
--> statement-breakpoint
COMMENT ON VIEW "analytics"."order_lead_times_by_month" IS 'How long orders took from being made to their last operation, by the calendar month (UTC) they were made in and by their outcome';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."order_lead_times_by_month"."project_id" IS 'The project';
COMMENT ON COLUMN "analytics"."order_lead_times_by_month"."month" IS 'First UTC day of the month';
COMMENT ON COLUMN "analytics"."order_lead_times_by_month"."status" IS 'The platform''s number: 2 succeeded, 3 failed';
COMMENT ON COLUMN "analytics"."order_lead_times_by_month"."status_name" IS 'success or failed';
COMMENT ON COLUMN "analytics"."order_lead_times_by_month"."settled" IS 'Orders with this status and both times readable, the later one not before the earlier one';
COMMENT ON COLUMN "analytics"."order_lead_times_by_month"."without_times" IS 'Orders with this status of which it cannot be told: a time is missing, unreadable or out of order';
COMMENT ON COLUMN "analytics"."order_lead_times_by_month"."lead_seconds_avg" IS 'Mean seconds from created_at to updated_at, the last operation on the order';
COMMENT ON COLUMN "analytics"."order_lead_times_by_month"."lead_seconds_p50" IS 'Median of these seconds';
COMMENT ON COLUMN "analytics"."order_lead_times_by_month"."lead_seconds_p90" IS 'Nine of ten orders took no longer, in seconds';
COMMENT ON COLUMN "analytics"."order_lead_times_by_month"."lead_seconds_p99" IS 'Ninety-nine of a hundred took no longer, in seconds';
COMMENT ON COLUMN "analytics"."order_lead_times_by_month"."lead_seconds_max" IS 'The longest, in seconds';
COMMENT ON COLUMN "analytics"."order_lead_times_by_month"."days_in_month" IS 'Days the calendar gives the month';
COMMENT ON COLUMN "analytics"."order_lead_times_by_month"."days_accounted" IS 'Days of the month that the ledger knows; the others lie before the first day of the archive or in the future';
COMMENT ON COLUMN "analytics"."order_lead_times_by_month"."days_open" IS 'Days not read to their ends yet; today''s is always one';
COMMENT ON COLUMN "analytics"."order_lead_times_by_month"."days_held" IS 'Days read to their ends: walked, sealed or final';
COMMENT ON COLUMN "analytics"."order_lead_times_by_month"."days_lost" IS 'Days that left the window before they were read whole: a hole for ever';
COMMENT ON COLUMN "analytics"."order_lead_times_by_month"."days_reserved" IS 'Days with any reservation';
COMMENT ON COLUMN "analytics"."order_lead_times_by_month"."days_by_walks" IS 'Days proved by two walks alone, for the platform gave no totals: the weaker proof';
COMMENT ON COLUMN "analytics"."order_lead_times_by_month"."reservations" IS 'What is not certain, by name: lost, no_proof, proved_before_closing, unresolved_orders; empty for a clean claim';
COMMENT ON COLUMN "analytics"."order_lead_times_by_month"."rejected" IS 'Records without a usable id: kept as bytes in analytics.rejects, and in no figure';
COMMENT ON COLUMN "analytics"."order_lead_times_by_month"."is_complete" IS 'Whether the month''s figures can be reported as they are: every day of the calendar month is complete. Report no figure without it';
--> statement-breakpoint
CREATE VIEW "analytics"."nft_classes_by_day" AS
SELECT project_id,
       day,
       date_trunc('month', day::timestamp)::date AS month,
       sum(classes)::bigint AS classes,
       coalesce(sum(nfts), 0) AS nfts,
       sum(classes_without_count)::bigint AS classes_without_count,
       max(state) AS state,
       max(proof) AS proof,
       max(proved_at) AS proved_at,
       coalesce(max(reservations), '{}') AS reservations,
       coalesce(sum(rejected), 0)::bigint AS rejected,
       coalesce(bool_or(is_whole_list), false) AS is_whole_list,
       coalesce(bool_or(is_complete), false) AS is_complete
  FROM (SELECT project_id,
               slice_day AS day,
               count(*) AS classes,
               sum(nft_count) AS nfts,
               count(*) FILTER (WHERE nft_count IS NULL) AS classes_without_count,
               NULL::text AS state,
               NULL::text AS proof,
               NULL::timestamptz AS proved_at,
               NULL::text[] AS reservations,
               NULL::bigint AS rejected,
               NULL::boolean AS is_whole_list,
               NULL::boolean AS is_complete
          FROM archive.nft_classes
         GROUP BY project_id, slice_day
        UNION ALL
        SELECT project_id, day, 0, NULL, 0, state, proof, proved_at, reservations, rejected, is_whole_list, is_complete
          FROM analytics.coverage_by_day
         WHERE resource = 'nft_classes') figures
 GROUP BY project_id, day;
--> statement-breakpoint
COMMENT ON VIEW "analytics"."nft_classes_by_day" IS 'Classes made on each UTC day and the NFTs in them, with the day''s coverage';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."nft_classes_by_day"."project_id" IS 'The project';
COMMENT ON COLUMN "analytics"."nft_classes_by_day"."day" IS 'The UTC day of the record: the date of created_at, or the day it was asked for where that cannot be read';
COMMENT ON COLUMN "analytics"."nft_classes_by_day"."month" IS 'First UTC day of the month';
COMMENT ON COLUMN "analytics"."nft_classes_by_day"."classes" IS 'Classes made';
COMMENT ON COLUMN "analytics"."nft_classes_by_day"."nfts" IS 'NFTs they have, as last seen: a class is looked at again until its month leaves the window';
COMMENT ON COLUMN "analytics"."nft_classes_by_day"."classes_without_count" IS 'Classes without a readable nft_count: they count as classes and add nothing to nfts';
COMMENT ON COLUMN "analytics"."nft_classes_by_day"."state" IS 'Coverage of the day: open, walked, sealed, final or lost, the weakest of its lists; null where the ledger has no such day';
COMMENT ON COLUMN "analytics"."nft_classes_by_day"."proof" IS 'Coverage of the day: none, walks, counts or walk, the weakest of its lists';
COMMENT ON COLUMN "analytics"."nft_classes_by_day"."proved_at" IS 'When the day was proved last, on the platform''s clock; null where any of its lists is not';
COMMENT ON COLUMN "analytics"."nft_classes_by_day"."reservations" IS 'What is not certain, by name: lost, no_proof, proved_before_closing, unresolved_orders; empty for a clean claim';
COMMENT ON COLUMN "analytics"."nft_classes_by_day"."rejected" IS 'Records without a usable id: kept as bytes in analytics.rejects, and in no figure';
COMMENT ON COLUMN "analytics"."nft_classes_by_day"."is_whole_list" IS 'False where only some owners'' classes are archived: then the figures are theirs alone';
COMMENT ON COLUMN "analytics"."nft_classes_by_day"."is_complete" IS 'Whether the day''s figures can be reported as they are: sealed or final, no reservation, no reject. Report no figure without it';
--> statement-breakpoint
CREATE VIEW "analytics"."nft_classes_by_month" AS
SELECT project_id,
       month,
       sum(classes)::bigint AS classes,
       sum(nfts) AS nfts,
       sum(classes_without_count)::bigint AS classes_without_count,
       bool_and(is_whole_list) AS is_whole_list,
       extract(day FROM month + interval '1 month' - interval '1 day')::integer AS days_in_month,
       count(state)::integer AS days_accounted,
       count(*) FILTER (WHERE state = 'open')::integer AS days_open,
       count(*) FILTER (WHERE state IN ('walked', 'sealed', 'final'))::integer AS days_held,
       count(*) FILTER (WHERE state = 'sealed')::integer AS days_sealed,
       count(*) FILTER (WHERE state = 'final')::integer AS days_final,
       count(*) FILTER (WHERE state = 'lost')::integer AS days_lost,
       count(*) FILTER (WHERE cardinality(reservations) > 0)::integer AS days_reserved,
       count(*) FILTER (WHERE proof = 'walks')::integer AS days_by_walks,
       count(*) FILTER (WHERE is_complete)::integer AS days_complete,
       coalesce((SELECT array_agg(DISTINCT name ORDER BY name)
                   FROM unnest(string_to_array(string_agg(nullif(array_to_string(reservations, ' '), ''), ' '), ' ')) name), '{}') AS reservations,
       sum(rejected)::bigint AS rejected,
       count(*) FILTER (WHERE is_complete) = extract(day FROM month + interval '1 month' - interval '1 day') AS is_complete
  FROM analytics.nft_classes_by_day
 GROUP BY project_id, month;
--> statement-breakpoint
COMMENT ON VIEW "analytics"."nft_classes_by_month" IS 'Classes made in each calendar month (UTC) and the NFTs in them, with the month''s coverage counted in days';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."nft_classes_by_month"."project_id" IS 'The project';
COMMENT ON COLUMN "analytics"."nft_classes_by_month"."month" IS 'First UTC day of the month';
COMMENT ON COLUMN "analytics"."nft_classes_by_month"."classes" IS 'Classes made';
COMMENT ON COLUMN "analytics"."nft_classes_by_month"."nfts" IS 'NFTs they have, as last seen: a class is looked at again until its month leaves the window';
COMMENT ON COLUMN "analytics"."nft_classes_by_month"."classes_without_count" IS 'Classes without a readable nft_count: they count as classes and add nothing to nfts';
COMMENT ON COLUMN "analytics"."nft_classes_by_month"."is_whole_list" IS 'False where only some owners'' classes are archived: then the figures are theirs alone';
COMMENT ON COLUMN "analytics"."nft_classes_by_month"."days_in_month" IS 'Days the calendar gives the month';
COMMENT ON COLUMN "analytics"."nft_classes_by_month"."days_accounted" IS 'Days of the month that the ledger knows; the others lie before the first day of the archive or in the future';
COMMENT ON COLUMN "analytics"."nft_classes_by_month"."days_open" IS 'Days not read to their ends yet; today''s is always one';
COMMENT ON COLUMN "analytics"."nft_classes_by_month"."days_held" IS 'Days read to their ends: walked, sealed or final';
COMMENT ON COLUMN "analytics"."nft_classes_by_month"."days_sealed" IS 'Days proved with nothing pending, while their month can still be asked for';
COMMENT ON COLUMN "analytics"."nft_classes_by_month"."days_final" IS 'Days held whose month has left the window';
COMMENT ON COLUMN "analytics"."nft_classes_by_month"."days_lost" IS 'Days that left the window before they were read whole: a hole for ever';
COMMENT ON COLUMN "analytics"."nft_classes_by_month"."days_reserved" IS 'Days with any reservation';
COMMENT ON COLUMN "analytics"."nft_classes_by_month"."days_by_walks" IS 'Days proved by two walks alone, for the platform gave no totals: the weaker proof';
COMMENT ON COLUMN "analytics"."nft_classes_by_month"."days_complete" IS 'Days without a hole or a doubt: sealed or final, no reservation, no reject';
COMMENT ON COLUMN "analytics"."nft_classes_by_month"."reservations" IS 'What is not certain, by name: lost, no_proof, proved_before_closing, unresolved_orders; empty for a clean claim';
COMMENT ON COLUMN "analytics"."nft_classes_by_month"."rejected" IS 'Records without a usable id: kept as bytes in analytics.rejects, and in no figure';
COMMENT ON COLUMN "analytics"."nft_classes_by_month"."is_complete" IS 'Whether the month''s figures can be reported as they are: every day of the calendar month is complete. Report no figure without it';
--> statement-breakpoint
CREATE VIEW "analytics"."nft_owners" AS
SELECT o.project_id,
       o.owner,
       o.classes,
       o.nfts,
       o.first_class_on,
       o.newest_class_on,
       c.first_day AS covered_from,
       c.last_day AS covered_to,
       coalesce(c.days_open, 0) AS days_open,
       coalesce(c.days_held, 0) AS days_held,
       coalesce(c.days_lost, 0) AS days_lost,
       coalesce(c.days_reserved, 0) AS days_reserved,
       coalesce(c.days_by_walks, 0) AS days_by_walks,
       coalesce(c.reservations, '{}') AS reservations,
       coalesce(c.rejected, 0) AS rejected,
       coalesce(c.is_whole_list, false) AS is_whole_list
  FROM (SELECT project_id, owner, count(*) AS classes, coalesce(sum(nft_count), 0) AS nfts,
               min(slice_day) AS first_class_on, max(slice_day) AS newest_class_on
          FROM archive.nft_classes
         GROUP BY project_id, owner) o
  LEFT JOIN analytics.coverage_by_resource c
    ON c.project_id = o.project_id AND c.resource = 'nft_classes';
--> statement-breakpoint
COMMENT ON VIEW "analytics"."nft_owners" IS 'Owners of NFT classes as last seen, with the coverage of all classes';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."nft_owners"."project_id" IS 'The project';
COMMENT ON COLUMN "analytics"."nft_owners"."owner" IS 'The owner as last seen; null where it could not be read';
COMMENT ON COLUMN "analytics"."nft_owners"."classes" IS 'Classes they own, made on any day';
COMMENT ON COLUMN "analytics"."nft_owners"."nfts" IS 'NFTs in these classes, as last seen';
COMMENT ON COLUMN "analytics"."nft_owners"."first_class_on" IS 'The UTC day of the first of these classes';
COMMENT ON COLUMN "analytics"."nft_owners"."newest_class_on" IS 'The UTC day of the newest of them';
COMMENT ON COLUMN "analytics"."nft_owners"."covered_from" IS 'The first UTC day that the ledger knows; classes made before it are here only if they were seen';
COMMENT ON COLUMN "analytics"."nft_owners"."covered_to" IS 'The last one';
COMMENT ON COLUMN "analytics"."nft_owners"."days_open" IS 'Days not read to their ends yet; today''s is always one';
COMMENT ON COLUMN "analytics"."nft_owners"."days_held" IS 'Days read to their ends: walked, sealed or final';
COMMENT ON COLUMN "analytics"."nft_owners"."days_lost" IS 'Days that left the window before they were read whole: a hole for ever';
COMMENT ON COLUMN "analytics"."nft_owners"."days_reserved" IS 'Days with any reservation';
COMMENT ON COLUMN "analytics"."nft_owners"."days_by_walks" IS 'Days proved by two walks alone, for the platform gave no totals: the weaker proof';
COMMENT ON COLUMN "analytics"."nft_owners"."reservations" IS 'What is not certain, by name: lost, no_proof, proved_before_closing, unresolved_orders; empty for a clean claim';
COMMENT ON COLUMN "analytics"."nft_owners"."rejected" IS 'Records without a usable id: kept as bytes in analytics.rejects, and in no figure';
COMMENT ON COLUMN "analytics"."nft_owners"."is_whole_list" IS 'False where only some owners'' classes are archived: nothing is claimed about others';
--> statement-breakpoint
CREATE VIEW "analytics"."unresolved_orders" AS
SELECT o.project_id,
       o.operation_id,
       o.slice_day AS day,
       o.account,
       o.order_type,
       o.amount AS amount_fen,
       o.amount * 0.01 AS amount_units,
       o.created_at,
       o.updated_at,
       o.observed_at,
       c.state,
       c.deadline_at,
       coalesce(c.state IN ('final', 'lost'), false) AS is_final
  FROM archive.orders o
  LEFT JOIN analytics.coverage_by_day c
    ON c.project_id = o.project_id AND c.resource = 'orders' AND c.day = o.slice_day
 WHERE o.status = 1;
--> statement-breakpoint
COMMENT ON VIEW "analytics"."unresolved_orders" IS 'Orders still pending, with the time that is left to learn their outcome';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."unresolved_orders"."project_id" IS 'The project';
COMMENT ON COLUMN "analytics"."unresolved_orders"."operation_id" IS 'The order''s id, unique within its project';
COMMENT ON COLUMN "analytics"."unresolved_orders"."day" IS 'The UTC day of the record: the date of created_at, or the day it was asked for where that cannot be read';
COMMENT ON COLUMN "analytics"."unresolved_orders"."account" IS 'The account that was credited; null where the platform shows none, as for orders of a batch purchase';
COMMENT ON COLUMN "analytics"."unresolved_orders"."order_type" IS '1 gas, 2 business fee; others may come';
COMMENT ON COLUMN "analytics"."unresolved_orders"."amount_fen" IS 'The price in fen (1/100 of the currency unit); null where the platform shows none or it could not be read';
COMMENT ON COLUMN "analytics"."unresolved_orders"."amount_units" IS 'The same in whole currency units';
COMMENT ON COLUMN "analytics"."unresolved_orders"."created_at" IS 'When the order was made, by the platform';
COMMENT ON COLUMN "analytics"."unresolved_orders"."updated_at" IS 'When the order was last worked on, by the platform';
COMMENT ON COLUMN "analytics"."unresolved_orders"."observed_at" IS 'When it was first seen with this content, on the platform''s clock';
COMMENT ON COLUMN "analytics"."unresolved_orders"."state" IS 'Coverage of the day: open, walked, sealed, final or lost, the weakest of its lists; null where the ledger has no such day';
COMMENT ON COLUMN "analytics"."unresolved_orders"."deadline_at" IS 'Until when the outcome should be learned: a safety margin before the month leaves the window';
COMMENT ON COLUMN "analytics"."unresolved_orders"."is_final" IS 'True where the month has left the window: the outcome will not be learned from the list any more';
--> statement-breakpoint
CREATE VIEW "analytics"."incomplete_days" AS
SELECT project_id,
       resource,
       day,
       month,
       state,
       proof,
       reservations,
       rejected,
       unresolved,
       state = 'lost' AS is_lost,
       deadline_at
  FROM analytics.coverage_by_day
 WHERE NOT is_complete;
--> statement-breakpoint
COMMENT ON VIEW "analytics"."incomplete_days" IS 'Every day that has a hole or a doubt, and why; days lost for ever first. Today''s is always among them';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."incomplete_days"."project_id" IS 'The project';
COMMENT ON COLUMN "analytics"."incomplete_days"."resource" IS 'orders or nft_classes';
COMMENT ON COLUMN "analytics"."incomplete_days"."day" IS 'The UTC day';
COMMENT ON COLUMN "analytics"."incomplete_days"."month" IS 'First UTC day of the month';
COMMENT ON COLUMN "analytics"."incomplete_days"."state" IS 'open, walked, sealed, final or lost, as in analytics.coverage: the weakest of the day''s lists';
COMMENT ON COLUMN "analytics"."incomplete_days"."proof" IS 'none, walks, counts or walk, as in analytics.coverage: the weakest of the day''s lists';
COMMENT ON COLUMN "analytics"."incomplete_days"."reservations" IS 'What is not certain, by name: lost, no_proof, proved_before_closing, unresolved_orders; empty for a clean claim';
COMMENT ON COLUMN "analytics"."incomplete_days"."rejected" IS 'Records without a usable id: kept as bytes in analytics.rejects, and in no figure';
COMMENT ON COLUMN "analytics"."incomplete_days"."unresolved" IS 'Orders of the day still pending';
COMMENT ON COLUMN "analytics"."incomplete_days"."is_lost" IS 'True where the month left the window before the day was read whole: for ever';
COMMENT ON COLUMN "analytics"."incomplete_days"."deadline_at" IS 'Until when the day should be held and proved';
--> statement-breakpoint
CREATE VIEW "analytics"."missing_records" AS
SELECT project_id, 'orders' AS resource, operation_id AS id, slice_day AS day, missing_since, first_seen_at, observed_at
  FROM archive.orders
 WHERE missing_since IS NOT NULL
UNION ALL
SELECT project_id, 'nft_classes', id, slice_day, missing_since, first_seen_at, observed_at
  FROM archive.nft_classes
 WHERE missing_since IS NOT NULL;
--> statement-breakpoint
COMMENT ON VIEW "analytics"."missing_records" IS 'Records that are held and that the platform stopped showing while their month was in the window';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."missing_records"."project_id" IS 'The project';
COMMENT ON COLUMN "analytics"."missing_records"."resource" IS 'orders or nft_classes';
COMMENT ON COLUMN "analytics"."missing_records"."id" IS 'The order''s operation_id or the class''s id';
COMMENT ON COLUMN "analytics"."missing_records"."day" IS 'The UTC day of the record: the date of created_at, or the day it was asked for where that cannot be read';
COMMENT ON COLUMN "analytics"."missing_records"."missing_since" IS 'Since when the platform no longer shows it although its month is in the window';
COMMENT ON COLUMN "analytics"."missing_records"."first_seen_at" IS 'When the record was first seen here, whatever it said then, on the platform''s clock';
COMMENT ON COLUMN "analytics"."missing_records"."observed_at" IS 'When what it says was first seen, on the platform''s clock';
--> statement-breakpoint
CREATE VIEW "analytics"."rejects" AS
SELECT project_id, resource, owner, day, reason, seen_at, encode(sha256, 'hex') AS sha256, bytes
  FROM sync.rejects;
--> statement-breakpoint
COMMENT ON VIEW "analytics"."rejects" IS 'Records without a usable id, as the platform gave them: in no table and in no figure';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."rejects"."project_id" IS 'The project';
COMMENT ON COLUMN "analytics"."rejects"."resource" IS 'orders or nft_classes';
COMMENT ON COLUMN "analytics"."rejects"."owner" IS 'The owner whose list showed it; empty for the whole list';
COMMENT ON COLUMN "analytics"."rejects"."day" IS 'The UTC day that was asked for';
COMMENT ON COLUMN "analytics"."rejects"."reason" IS 'Why it could not be kept as a record';
COMMENT ON COLUMN "analytics"."rejects"."seen_at" IS 'When it was first seen, on the platform''s clock';
COMMENT ON COLUMN "analytics"."rejects"."sha256" IS 'SHA-256 of its bytes, lower-case hex';
COMMENT ON COLUMN "analytics"."rejects"."bytes" IS 'The record, byte for byte';
--> statement-breakpoint
CREATE VIEW "analytics"."runs" AS
SELECT project_id, run_id, started_at, ended_at, outcome, requests, slices_done,
       records_shown, records_new, records_changed, records_rejected, last_error
  FROM sync.runs;
--> statement-breakpoint
COMMENT ON VIEW "analytics"."runs" IS 'Passes of the worker over what was due: how fresh the archive is. Of quiet ones in a row only the last is kept';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."runs"."project_id" IS 'The project';
COMMENT ON COLUMN "analytics"."runs"."run_id" IS 'Its name';
COMMENT ON COLUMN "analytics"."runs"."started_at" IS 'When it began';
COMMENT ON COLUMN "analytics"."runs"."ended_at" IS 'When it ended; null while it goes on, or where it was cut off';
COMMENT ON COLUMN "analytics"."runs"."outcome" IS 'How it ended; quiet: done, and nothing was new';
COMMENT ON COLUMN "analytics"."runs"."requests" IS 'Requests made';
COMMENT ON COLUMN "analytics"."runs"."slices_done" IS 'Slices whose turn was done';
COMMENT ON COLUMN "analytics"."runs"."records_shown" IS 'Records the platform showed';
COMMENT ON COLUMN "analytics"."runs"."records_new" IS 'Records held for the first time';
COMMENT ON COLUMN "analytics"."runs"."records_changed" IS 'Records whose content changed';
COMMENT ON COLUMN "analytics"."runs"."records_rejected" IS 'Records without a usable id';
COMMENT ON COLUMN "analytics"."runs"."last_error" IS 'Why something due was not done; null after a success';
