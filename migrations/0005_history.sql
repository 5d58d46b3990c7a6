-- What a record said before it changed, as typed columns. Versions hold `raw` alone, so that the platform's fields are read again
-- here, by the rules of src/platform/fields.ts and times.ts: lenient, null where a field cannot be read. A test compares
-- the two readings. What jsonb cannot hold (raw_bytes) is not looked at: there a text has U+FFFD for it.
CREATE FUNCTION "analytics"."trimmed"(value jsonb) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE jsonb_typeof(value)
           WHEN 'string' THEN btrim(value #>> '{}', E' \t\n\x0b\f\r\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff')
           WHEN 'number' THEN trim_scale((value #>> '{}')::numeric)::text
         END
$$;
--> statement-breakpoint
COMMENT ON FUNCTION "analytics"."trimmed"(jsonb) IS 'A field''s text without the white space around it, a number in plain decimals; null for anything else';
--> statement-breakpoint
CREATE FUNCTION "analytics"."amount_of"(value jsonb) RETURNS numeric LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  given text := analytics.trimmed(value);
BEGIN
  IF given ~ '^[+-]?[0-9]+(\.[0-9]+)?$' AND length(given) <= 1000 THEN
    RETURN given::numeric;
  END IF;
  RETURN NULL;
END
$$;
--> statement-breakpoint
COMMENT ON FUNCTION "analytics"."amount_of"(jsonb) IS 'A decimal given as text or number; null where it is none';
--> statement-breakpoint
CREATE FUNCTION "analytics"."whole_of"(value jsonb, most numeric) RETURNS numeric LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  given text := analytics.trimmed(value);
BEGIN
  IF given ~ '^[+-]?[0-9]+$' AND length(given) <= 1000 AND given::numeric BETWEEN -most - 1 AND most THEN
    RETURN given::numeric;
  END IF;
  RETURN NULL;
END
$$;
--> statement-breakpoint
COMMENT ON FUNCTION "analytics"."whole_of"(jsonb, numeric) IS 'A whole number given as text or number, up to the greatest that its column holds; null where it is none';
--> statement-breakpoint
CREATE FUNCTION "analytics"."text_of"(value jsonb) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE jsonb_typeof(value)
           WHEN 'string' THEN value #>> '{}'
           WHEN 'number' THEN trim_scale((value #>> '{}')::numeric)::text
         END
$$;
--> statement-breakpoint
COMMENT ON FUNCTION "analytics"."text_of"(jsonb) IS 'A text as it came, a number in plain decimals; null for anything else';
--> statement-breakpoint
CREATE FUNCTION "analytics"."status_of"(value jsonb) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE CASE jsonb_typeof(value) WHEN 'string' THEN lower(analytics.trimmed(value)) END
           WHEN 'pending' THEN 1
           WHEN 'success' THEN 2
           WHEN 'failed' THEN 3
           ELSE analytics.whole_of(value, 2147483647)::integer
         END
$$;
--> statement-breakpoint
COMMENT ON FUNCTION "analytics"."status_of"(jsonb) IS 'An order''s status given as number, text or word; null where it is none of these';
--> statement-breakpoint
-- The forms of src/platform/times.ts: RFC 3339, yyyy-MM-dd HH:mm:ss (UTC), what Go prints, epoch seconds and milliseconds. No cast is
-- tried before the text is known to be a real time: an exception would need a subtransaction, which parallel plans cannot have.
CREATE FUNCTION "analytics"."time_of"(value jsonb) RETURNS timestamptz LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  given text := analytics.trimmed(value);
  parts text[];
  year integer;
  month integer;
  date integer;
  zone text;
  at timestamp;
BEGIN
  IF given ~ '^[0-9]{10}$' THEN
    RETURN 'epoch'::timestamptz + given::bigint * interval '1 second';
  ELSIF given ~ '^[0-9]{13}$' THEN
    RETURN 'epoch'::timestamptz + given::bigint * interval '1 millisecond';
  END IF;
  parts := regexp_match(given,
    '^([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt ]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:[.,]([0-9]+))?'
    '(?: ?(?:[Zz]|UTC|([+-][0-9]{2}:?[0-9]{2})(?: (?:[A-Za-z]{1,5}|[+-][0-9]{2,4}))?))?(?: m=[+-][0-9]+(?:\.[0-9]+)?)?$');
  IF parts IS NULL THEN
    RETURN NULL;
  END IF;
  year := parts[1]::integer;
  month := parts[2]::integer;
  date := parts[3]::integer;
  zone := replace(coalesce(parts[8], '+0000'), ':', '');
  IF year = 0 OR month NOT BETWEEN 1 AND 12 OR date = 0 OR parts[4] > '23' OR parts[5] > '59' OR parts[6] > '59'
     OR substr(zone, 2, 2) > '23' OR substr(zone, 4, 2) > '59'
     OR date > extract(day FROM make_date(year, month, 1) + interval '1 month' - interval '1 day') THEN
    RETURN NULL;
  END IF;
  -- Finer than microseconds is cut off, not rounded.
  at := make_timestamp(year, month, date, parts[4]::integer, parts[5]::integer, parts[6]::integer)
        + rpad(left(coalesce(parts[7], ''), 6), 6, '0')::integer * interval '1 microsecond'
        - (left(zone, 1) || '1')::integer * make_interval(hours => substr(zone, 2, 2)::integer, mins => substr(zone, 4, 2)::integer);
  IF extract(year FROM at) NOT BETWEEN 1 AND 9999 THEN
    RETURN NULL;
  END IF;
  RETURN at AT TIME ZONE 'UTC';
END
$$;
--> statement-breakpoint
COMMENT ON FUNCTION "analytics"."time_of"(jsonb) IS 'A time in any of the forms the platform was seen to use; null where it is none';
--> statement-breakpoint
CREATE VIEW "analytics"."order_history" AS
SELECT project_id,
       operation_id,
       day,
       observed_at,
       CASE WHEN counts THEN observed_at END AS in_force_from,
       CASE WHEN counts THEN min(observed_at) FILTER (WHERE counts) OVER later END AS in_force_until,
       is_current,
       status,
       analytics.status_name(status) AS status_name,
       message,
       account,
       order_type,
       amount AS amount_fen,
       amount * 0.01 AS amount_units,
       number,
       created_at,
       updated_at,
       raw_sha256,
       raw
  FROM (SELECT *,
               -- By update time, settled over pending, then by when it was observed: as the commit of a page decides (P2).
               is_current OR coalesce(precedence >= max(precedence) OVER earlier, true) AS counts
          FROM (SELECT *, ARRAY[coalesce(extract(epoch FROM updated_at), '-infinity'),
                                CASE WHEN status = 1 THEN 0 ELSE 1 END] AS precedence
                  FROM (SELECT o.project_id, o.operation_id, o.slice_day AS day, o.observed_at, true AS is_current, o.status, o.message,
                               o.account, o.amount, o.number, o.created_at, o.updated_at, o.order_type,
                               encode(o.raw_sha256, 'hex') AS raw_sha256, o.raw
                          FROM archive.orders o
                        UNION ALL
                        SELECT v.project_id, v.operation_id, o.slice_day, v.observed_at, false, analytics.status_of(v.raw -> 'status') AS status,
                               analytics.text_of(v.raw -> 'message') AS message,
                               (SELECT CASE WHEN a <> '' AND length(a) <= 512 THEN a END FROM analytics.text_of(v.raw -> 'account') a) AS account,
                               analytics.amount_of(v.raw -> 'amount') AS amount,
                               analytics.amount_of(v.raw -> 'number') AS number,
                               analytics.time_of(v.raw -> 'create_time') AS created_at,
                               analytics.time_of(v.raw -> 'update_time') AS updated_at,
                               analytics.whole_of(v.raw -> 'order_type', 2147483647)::integer AS order_type,
                               encode(v.raw_sha256, 'hex'), v.raw
                          FROM archive.order_versions v
                          JOIN archive.orders o ON o.project_id = v.project_id AND o.operation_id = v.operation_id) contents) read
        WINDOW earlier AS (PARTITION BY project_id, operation_id, day
                           ORDER BY observed_at, is_current, precedence, raw_sha256
                           ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)) judged
WINDOW later AS (PARTITION BY project_id, operation_id, day
                 ORDER BY observed_at, is_current, precedence, raw_sha256
                 ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING);
--> statement-breakpoint
COMMENT ON VIEW "analytics"."order_history" IS 'Everything an order was ever seen to say, one row for each content. What was in force is decided by the platform''s update time, not by what came last';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."order_history"."project_id" IS 'The project';
COMMENT ON COLUMN "analytics"."order_history"."operation_id" IS 'The order''s id, unique within its project';
COMMENT ON COLUMN "analytics"."order_history"."day" IS 'The UTC day that the record stands under now';
COMMENT ON COLUMN "analytics"."order_history"."observed_at" IS 'When this content was first seen, on the platform''s clock';
COMMENT ON COLUMN "analytics"."order_history"."in_force_from" IS 'Since when it was what was known of the record; null for a content that came late and was older than what was held';
COMMENT ON COLUMN "analytics"."order_history"."in_force_until" IS 'Until when, the moment itself excluded; null while it is';
COMMENT ON COLUMN "analytics"."order_history"."is_current" IS 'True for the content in the table, false for earlier ones';
COMMENT ON COLUMN "analytics"."order_history"."status" IS 'The platform''s number: 1 pending, 2 succeeded, 3 failed; null where it could not be read';
COMMENT ON COLUMN "analytics"."order_history"."status_name" IS 'pending, success or failed; other for a status that is not documented';
COMMENT ON COLUMN "analytics"."order_history"."message" IS 'What the platform said of a failure';
COMMENT ON COLUMN "analytics"."order_history"."account" IS 'The account that was credited; null where the platform shows none, as for orders of a batch purchase';
COMMENT ON COLUMN "analytics"."order_history"."order_type" IS '1 gas, 2 business fee; others may come';
COMMENT ON COLUMN "analytics"."order_history"."amount_fen" IS 'The price in fen (1/100 of the currency unit); null where the platform shows none or it could not be read';
COMMENT ON COLUMN "analytics"."order_history"."amount_units" IS 'The same in whole currency units';
COMMENT ON COLUMN "analytics"."order_history"."number" IS 'What was credited, in the unit that order_type implies: ugas for 1, fen for 2; not documented for others';
COMMENT ON COLUMN "analytics"."order_history"."created_at" IS 'When the order was made, by the platform';
COMMENT ON COLUMN "analytics"."order_history"."updated_at" IS 'When the order was last worked on, by the platform';
COMMENT ON COLUMN "analytics"."order_history"."raw_sha256" IS 'SHA-256 of its canonical JSON, lower-case hex';
COMMENT ON COLUMN "analytics"."order_history"."raw" IS 'The record as the platform gave it, equal as a JSON value';
--> statement-breakpoint
CREATE VIEW "analytics"."nft_class_history" AS
SELECT project_id,
       id,
       day,
       observed_at AS in_force_from,
       lead(observed_at) OVER (PARTITION BY project_id, id, day ORDER BY observed_at, is_current, raw_sha256) AS in_force_until,
       is_current,
       name,
       symbol,
       nft_count,
       uri,
       owner,
       tx_hash,
       created_at,
       raw_sha256,
       raw
  FROM (SELECT c.project_id, c.id, c.slice_day AS day, c.observed_at, true AS is_current, c.name, c.symbol, c.nft_count,
               c.uri, c.owner, c.tx_hash, c.created_at, encode(c.raw_sha256, 'hex') AS raw_sha256, c.raw
          FROM archive.nft_classes c
        UNION ALL
        SELECT v.project_id, v.id, c.slice_day, v.observed_at, false, analytics.text_of(v.raw -> 'name') AS name,
               analytics.text_of(v.raw -> 'symbol') AS symbol,
               analytics.whole_of(v.raw -> 'nft_count', 9223372036854775807)::bigint AS nft_count,
               analytics.text_of(v.raw -> 'uri') AS uri,
               (SELECT CASE WHEN length(a) <= 512 THEN a END FROM analytics.text_of(v.raw -> 'owner') a) AS owner,
               (SELECT CASE WHEN length(a) <= 512 THEN a END FROM analytics.text_of(v.raw -> 'tx_hash') a) AS tx_hash,
               analytics.time_of(v.raw -> 'timestamp') AS created_at,
               encode(v.raw_sha256, 'hex'), v.raw
          FROM archive.nft_class_versions v
          JOIN archive.nft_classes c ON c.project_id = v.project_id AND c.id = v.id) contents;
--> statement-breakpoint
COMMENT ON VIEW "analytics"."nft_class_history" IS 'Everything a class was ever seen to say, one row for each content';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."nft_class_history"."project_id" IS 'The project';
COMMENT ON COLUMN "analytics"."nft_class_history"."id" IS 'The class''s id';
COMMENT ON COLUMN "analytics"."nft_class_history"."day" IS 'The UTC day that the record stands under now';
COMMENT ON COLUMN "analytics"."nft_class_history"."in_force_from" IS 'When this content was first seen, on the platform''s clock';
COMMENT ON COLUMN "analytics"."nft_class_history"."in_force_until" IS 'Until when, the moment itself excluded; null while it is';
COMMENT ON COLUMN "analytics"."nft_class_history"."is_current" IS 'True for the content in the table, false for earlier ones';
COMMENT ON COLUMN "analytics"."nft_class_history"."name" IS 'Its name; not unique';
COMMENT ON COLUMN "analytics"."nft_class_history"."symbol" IS 'Its symbol; may be empty';
COMMENT ON COLUMN "analytics"."nft_class_history"."nft_count" IS 'How many NFTs it had then';
COMMENT ON COLUMN "analytics"."nft_class_history"."uri" IS 'Its address; may be empty';
COMMENT ON COLUMN "analytics"."nft_class_history"."owner" IS 'Its owner then';
COMMENT ON COLUMN "analytics"."nft_class_history"."tx_hash" IS 'The transaction that made it';
COMMENT ON COLUMN "analytics"."nft_class_history"."created_at" IS 'When the class was made, by the platform';
COMMENT ON COLUMN "analytics"."nft_class_history"."raw_sha256" IS 'SHA-256 of its canonical JSON, lower-case hex';
COMMENT ON COLUMN "analytics"."nft_class_history"."raw" IS 'The record as the platform gave it, equal as a JSON value';
--> statement-breakpoint
CREATE VIEW "analytics"."order_changes" AS
SELECT project_id,
       operation_id,
       day,
       date_trunc('month', day::timestamp)::date AS month,
       in_force_from AS changed_at,
       status_before,
       status,
       amount_fen_before,
       amount_fen,
       array(SELECT coalesce(a.key, b.key)
               FROM jsonb_each(raw_before) b FULL JOIN jsonb_each(raw) a ON a.key = b.key
              WHERE a.value IS DISTINCT FROM b.value
              ORDER BY 1) AS changed_fields,
       extract(epoch FROM in_force_from - (day + 1)::timestamp AT TIME ZONE 'UTC') / 3600.0 AS hours_after_day,
       in_force_from >= (day + 1)::timestamp AT TIME ZONE 'UTC' + interval '15 minutes' AS is_late
  FROM (SELECT *,
               lag(status) OVER successive AS status_before,
               lag(amount_fen) OVER successive AS amount_fen_before,
               lag(raw) OVER successive AS raw_before
          -- As analytics.order_history, of the orders that ever changed: few among many.
          FROM (SELECT project_id,
                       operation_id,
                       day,
                       observed_at,
                       CASE WHEN counts THEN observed_at END AS in_force_from,
                       CASE WHEN counts THEN min(observed_at) FILTER (WHERE counts) OVER later END AS in_force_until,
                       is_current,
                       status,
                       analytics.status_name(status) AS status_name,
                       message,
                       account,
                       order_type,
                       amount AS amount_fen,
                       amount * 0.01 AS amount_units,
                       number,
                       created_at,
                       updated_at,
                       raw_sha256,
                       raw
                  FROM (SELECT *,
                                -- By update time, settled over pending, then by when it was observed: as the commit of a page decides (P2).
                                is_current OR coalesce(precedence >= max(precedence) OVER earlier, true) AS counts
                          FROM (SELECT *, ARRAY[coalesce(extract(epoch FROM updated_at), '-infinity'),
                                                 CASE WHEN status = 1 THEN 0 ELSE 1 END] AS precedence
                                   FROM (SELECT o.project_id, o.operation_id, o.slice_day AS day, o.observed_at, true AS is_current, o.status, o.message,
                                                o.account, o.amount, o.number, o.created_at, o.updated_at, o.order_type,
                                                encode(o.raw_sha256, 'hex') AS raw_sha256, o.raw
                                           FROM archive.orders o
                                          WHERE EXISTS (SELECT FROM archive.order_versions v
                                                         WHERE v.project_id = o.project_id AND v.operation_id = o.operation_id)
                                         UNION ALL
                                         SELECT v.project_id, v.operation_id, o.slice_day, v.observed_at, false, analytics.status_of(v.raw -> 'status') AS status,
                                                analytics.text_of(v.raw -> 'message') AS message,
                                                (SELECT CASE WHEN a <> '' AND length(a) <= 512 THEN a END FROM analytics.text_of(v.raw -> 'account') a) AS account,
                                                analytics.amount_of(v.raw -> 'amount') AS amount,
                                                analytics.amount_of(v.raw -> 'number') AS number,
                                                analytics.time_of(v.raw -> 'create_time') AS created_at,
                                                analytics.time_of(v.raw -> 'update_time') AS updated_at,
                                                analytics.whole_of(v.raw -> 'order_type', 2147483647)::integer AS order_type,
                                                encode(v.raw_sha256, 'hex'), v.raw
                                           FROM archive.order_versions v
                                           JOIN archive.orders o ON o.project_id = v.project_id AND o.operation_id = v.operation_id) contents) read
                        WINDOW earlier AS (PARTITION BY project_id, operation_id, day
                                            ORDER BY observed_at, is_current, precedence, raw_sha256
                                            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)) judged
                WINDOW later AS (PARTITION BY project_id, operation_id, day
                                  ORDER BY observed_at, is_current, precedence, raw_sha256
                                  ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING)) history
         WHERE in_force_from IS NOT NULL
        WINDOW successive AS (PARTITION BY project_id, operation_id, day
                              ORDER BY in_force_from, in_force_until NULLS LAST)) contents
 WHERE raw_before IS NOT NULL;
--> statement-breakpoint
COMMENT ON VIEW "analytics"."order_changes" IS 'Each change of what an order says, when it was first seen: what it was, what it became, and how long after its day';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."order_changes"."project_id" IS 'The project';
COMMENT ON COLUMN "analytics"."order_changes"."operation_id" IS 'The order''s id, unique within its project';
COMMENT ON COLUMN "analytics"."order_changes"."day" IS 'The UTC day that the record stands under now';
COMMENT ON COLUMN "analytics"."order_changes"."month" IS 'First UTC day of the month';
COMMENT ON COLUMN "analytics"."order_changes"."changed_at" IS 'When the change was first seen, on the platform''s clock';
COMMENT ON COLUMN "analytics"."order_changes"."status_before" IS 'The status before';
COMMENT ON COLUMN "analytics"."order_changes"."status" IS 'The status from then on: 1 pending, 2 succeeded, 3 failed';
COMMENT ON COLUMN "analytics"."order_changes"."amount_fen_before" IS 'The amount before, in fen (1/100 of the currency unit)';
COMMENT ON COLUMN "analytics"."order_changes"."amount_fen" IS 'The amount from then on, in fen';
COMMENT ON COLUMN "analytics"."order_changes"."changed_fields" IS 'The platform''s names of the fields that differ';
COMMENT ON COLUMN "analytics"."order_changes"."hours_after_day" IS 'Hours from the end of that UTC day to the change; negative while the day lasted';
COMMENT ON COLUMN "analytics"."order_changes"."is_late" IS 'True where the day had been over for 15 minutes: figures of the day that were read before have changed';
--> statement-breakpoint
CREATE VIEW "analytics"."late_changes_by_month" AS
SELECT l.project_id,
       l.month,
       l.orders_changed,
       l.orders_settled,
       l.orders_reopened,
       l.amounts_changed,
       l.spent_fen_added,
       l.spent_fen_added * 0.01 AS spent_units_added,
       l.newest_change_at,
       coalesce(c.days_in_month, extract(day FROM l.month + interval '1 month' - interval '1 day')::integer) AS days_in_month,
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
               month,
               count(DISTINCT operation_id) AS orders_changed,
               count(DISTINCT operation_id) FILTER (WHERE status_before = 1 AND status IN (2, 3)) AS orders_settled,
               count(DISTINCT operation_id) FILTER (WHERE status_before IN (2, 3) AND status = 1) AS orders_reopened,
               count(DISTINCT operation_id) FILTER (WHERE amount_fen_before IS DISTINCT FROM amount_fen) AS amounts_changed,
               coalesce(sum(amount_fen) FILTER (WHERE status = 2), 0)
                 - coalesce(sum(amount_fen_before) FILTER (WHERE status_before = 2), 0) AS spent_fen_added,
               max(changed_at) AS newest_change_at
          FROM analytics.order_changes
         WHERE is_late
         GROUP BY project_id, month) l
  LEFT JOIN analytics.coverage_by_month c
    ON c.project_id = l.project_id AND c.resource = 'orders' AND c.month = l.month;
--> statement-breakpoint
COMMENT ON VIEW "analytics"."late_changes_by_month" IS 'How far the figures of a calendar month (UTC) moved after its days were over, with the month''s coverage';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."late_changes_by_month"."project_id" IS 'The project';
COMMENT ON COLUMN "analytics"."late_changes_by_month"."month" IS 'First UTC day of the month';
COMMENT ON COLUMN "analytics"."late_changes_by_month"."orders_changed" IS 'Orders that changed after their day was over';
COMMENT ON COLUMN "analytics"."late_changes_by_month"."orders_settled" IS 'Of them, orders that were pending and then succeeded or failed';
COMMENT ON COLUMN "analytics"."late_changes_by_month"."orders_reopened" IS 'Of them, orders that were settled and then pending again';
COMMENT ON COLUMN "analytics"."late_changes_by_month"."amounts_changed" IS 'Of them, orders whose amount changed';
COMMENT ON COLUMN "analytics"."late_changes_by_month"."spent_fen_added" IS 'By how much these changes moved spent_fen, in fen';
COMMENT ON COLUMN "analytics"."late_changes_by_month"."spent_units_added" IS 'The same in whole currency units';
COMMENT ON COLUMN "analytics"."late_changes_by_month"."newest_change_at" IS 'When the last of them was first seen, on the platform''s clock';
COMMENT ON COLUMN "analytics"."late_changes_by_month"."days_in_month" IS 'Days the calendar gives the month';
COMMENT ON COLUMN "analytics"."late_changes_by_month"."days_accounted" IS 'Days of the month that the ledger knows; the others lie before the first day of the archive or in the future';
COMMENT ON COLUMN "analytics"."late_changes_by_month"."days_open" IS 'Days not read to their ends yet; today''s is always one';
COMMENT ON COLUMN "analytics"."late_changes_by_month"."days_held" IS 'Days read to their ends: walked, sealed or final';
COMMENT ON COLUMN "analytics"."late_changes_by_month"."days_lost" IS 'Days that left the window before they were read whole: a hole for ever';
COMMENT ON COLUMN "analytics"."late_changes_by_month"."days_reserved" IS 'Days with any reservation';
COMMENT ON COLUMN "analytics"."late_changes_by_month"."days_by_walks" IS 'Days proved by two walks alone, for the platform gave no totals: the weaker proof';
COMMENT ON COLUMN "analytics"."late_changes_by_month"."reservations" IS 'What is not certain, by name: lost, no_proof, proved_before_closing, unresolved_orders; empty for a clean claim';
COMMENT ON COLUMN "analytics"."late_changes_by_month"."rejected" IS 'Records without a usable id: kept as bytes in analytics.rejects, and in no figure';
COMMENT ON COLUMN "analytics"."late_changes_by_month"."is_complete" IS 'Whether the month''s figures can be reported as they are: every day of the calendar month is complete. Report no figure without it';
--> statement-breakpoint
CREATE VIEW "analytics"."nft_class_changes" AS
SELECT project_id,
       id,
       day,
       (changed_at AT TIME ZONE 'UTC')::date AS changed_on,
       changed_at,
       seen_before_at,
       nft_count_before,
       nft_count,
       nft_count - nft_count_before AS nfts_added,
       owner_before,
       owner,
       owner IS DISTINCT FROM owner_before AS is_transfer
  FROM (SELECT project_id, id, day, observed_at AS changed_at, nft_count, owner, raw_sha256,
               lag(observed_at) OVER successive AS seen_before_at,
               lag(nft_count) OVER successive AS nft_count_before,
               lag(owner) OVER successive AS owner_before
          FROM (SELECT c.project_id, c.id, c.slice_day AS day, c.observed_at, true AS is_current, c.name, c.symbol, c.nft_count,
                       c.uri, c.owner, c.tx_hash, c.created_at, encode(c.raw_sha256, 'hex') AS raw_sha256, c.raw
                  FROM archive.nft_classes c
                 WHERE EXISTS (SELECT FROM archive.nft_class_versions v WHERE v.project_id = c.project_id AND v.id = c.id)
                UNION ALL
                SELECT v.project_id, v.id, c.slice_day, v.observed_at, false, analytics.text_of(v.raw -> 'name') AS name,
                       analytics.text_of(v.raw -> 'symbol') AS symbol,
                       analytics.whole_of(v.raw -> 'nft_count', 9223372036854775807)::bigint AS nft_count,
                       analytics.text_of(v.raw -> 'uri') AS uri,
                       (SELECT CASE WHEN length(a) <= 512 THEN a END FROM analytics.text_of(v.raw -> 'owner') a) AS owner,
                       (SELECT CASE WHEN length(a) <= 512 THEN a END FROM analytics.text_of(v.raw -> 'tx_hash') a) AS tx_hash,
                       analytics.time_of(v.raw -> 'timestamp') AS created_at,
                       encode(v.raw_sha256, 'hex'), v.raw
                  FROM archive.nft_class_versions v
                  JOIN archive.nft_classes c ON c.project_id = v.project_id AND c.id = v.id) contents
        WINDOW successive AS (PARTITION BY project_id, id, day ORDER BY observed_at, is_current, raw_sha256)) contents
 WHERE seen_before_at IS NOT NULL;
--> statement-breakpoint
COMMENT ON VIEW "analytics"."nft_class_changes" IS 'Each change of what a class says, when it was first seen: NFTs minted or burnt since, a transfer to another owner';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."nft_class_changes"."project_id" IS 'The project';
COMMENT ON COLUMN "analytics"."nft_class_changes"."id" IS 'The class''s id';
COMMENT ON COLUMN "analytics"."nft_class_changes"."day" IS 'The UTC day that the record stands under now';
COMMENT ON COLUMN "analytics"."nft_class_changes"."changed_on" IS 'The UTC day the change was first seen on';
COMMENT ON COLUMN "analytics"."nft_class_changes"."changed_at" IS 'When the change was first seen, on the platform''s clock; it happened after seen_before_at, and classes are looked at every few hours while their month is in the window';
COMMENT ON COLUMN "analytics"."nft_class_changes"."seen_before_at" IS 'When the content before was first seen';
COMMENT ON COLUMN "analytics"."nft_class_changes"."nft_count_before" IS 'How many NFTs it had before';
COMMENT ON COLUMN "analytics"."nft_class_changes"."nft_count" IS 'How many from then on';
COMMENT ON COLUMN "analytics"."nft_class_changes"."nfts_added" IS 'NFTs minted since, less those burnt; null where a count could not be read';
COMMENT ON COLUMN "analytics"."nft_class_changes"."owner_before" IS 'The owner before';
COMMENT ON COLUMN "analytics"."nft_class_changes"."owner" IS 'The owner from then on';
COMMENT ON COLUMN "analytics"."nft_class_changes"."is_transfer" IS 'Whether the owner changed';
--> statement-breakpoint
CREATE VIEW "analytics"."nft_growth_by_day" AS
SELECT project_id,
       changed_on,
       count(DISTINCT id) AS classes_changed,
       coalesce(sum(nfts_added) FILTER (WHERE nfts_added > 0), 0) AS nfts_minted,
       coalesce(-sum(nfts_added) FILTER (WHERE nfts_added < 0), 0) AS nfts_burnt,
       count(*) FILTER (WHERE is_transfer) AS transfers,
       count(*) FILTER (WHERE nfts_added IS NULL) AS counts_unread
  FROM analytics.nft_class_changes
 GROUP BY project_id, changed_on;
--> statement-breakpoint
COMMENT ON VIEW "analytics"."nft_growth_by_day" IS 'What became of classes on each UTC day, as it was seen: NFTs minted and burnt after the class was first seen, transfers. Seen only of classes whose month is in the window; what happened before a class was first seen is in its first nft_count';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."nft_growth_by_day"."project_id" IS 'The project';
COMMENT ON COLUMN "analytics"."nft_growth_by_day"."changed_on" IS 'The UTC day the changes were first seen on';
COMMENT ON COLUMN "analytics"."nft_growth_by_day"."classes_changed" IS 'Classes that changed';
COMMENT ON COLUMN "analytics"."nft_growth_by_day"."nfts_minted" IS 'NFTs by which nft_count rose';
COMMENT ON COLUMN "analytics"."nft_growth_by_day"."nfts_burnt" IS 'NFTs by which it fell';
COMMENT ON COLUMN "analytics"."nft_growth_by_day"."transfers" IS 'Changes of owner';
COMMENT ON COLUMN "analytics"."nft_growth_by_day"."counts_unread" IS 'Changes of which the growth is not known: a count could not be read';
--> statement-breakpoint
-- The contents in force at a moment, as src/verify/in-force.ts picks them: the row where it had been observed by then, else the
-- version that counts (P2). A record of which nothing had been observed yet is not among them.
CREATE FUNCTION "analytics"."orders_as_of"(project text, at timestamptz) RETURNS TABLE (
   project_id text, operation_id text, day date, status integer, status_name text, message text, account text, order_type integer,
   amount_fen numeric, amount_units numeric, number numeric, created_at timestamptz, updated_at timestamptz,
   observed_at timestamptz, is_current boolean, raw_sha256 text, raw jsonb) LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT o.project_id, o.operation_id, o.slice_day, o.status, analytics.status_name(o.status), o.message, o.account,
         o.order_type, o.amount, o.amount * 0.01, o.number, o.created_at, o.updated_at, o.observed_at, true,
         encode(o.raw_sha256, 'hex'), o.raw
    FROM archive.orders o
   WHERE o.project_id = orders_as_of.project AND o.observed_at <= orders_as_of.at
  UNION ALL
  SELECT v.project_id, v.operation_id, coalesce((v.created_at AT TIME ZONE 'UTC')::date, v.slice_day), v.status,
         analytics.status_name(v.status), v.message, v.account, v.order_type, v.amount, v.amount * 0.01, v.number,
         v.created_at, v.updated_at, v.observed_at, false, encode(v.raw_sha256, 'hex'), v.raw
    FROM (SELECT DISTINCT ON (project_id, operation_id) *
            FROM (SELECT v.project_id, v.operation_id, o.slice_day, v.observed_at,
                         analytics.status_of(v.raw -> 'status') AS status,
                         analytics.text_of(v.raw -> 'message') AS message,
                         (SELECT CASE WHEN a <> '' AND length(a) <= 512 THEN a END FROM analytics.text_of(v.raw -> 'account') a) AS account,
                         analytics.amount_of(v.raw -> 'amount') AS amount,
                         analytics.amount_of(v.raw -> 'number') AS number,
                         analytics.time_of(v.raw -> 'create_time') AS created_at,
                         analytics.time_of(v.raw -> 'update_time') AS updated_at,
                         analytics.whole_of(v.raw -> 'order_type', 2147483647)::integer AS order_type,
                         v.raw_sha256, v.raw
                    FROM archive.orders o
                    JOIN archive.order_versions v ON v.project_id = o.project_id AND v.operation_id = o.operation_id
                   WHERE o.project_id = orders_as_of.project AND o.observed_at > orders_as_of.at
                     AND v.observed_at <= orders_as_of.at) contents
           ORDER BY project_id, operation_id, coalesce(updated_at, '-infinity') DESC, (status IS DISTINCT FROM 1) DESC,
                    observed_at DESC, raw_sha256 DESC) v
$$;
--> statement-breakpoint
COMMENT ON FUNCTION "analytics"."orders_as_of"(text, timestamptz) IS 'A project''s orders as they were known at a moment, one row each: what stood in analytics.orders then. Narrow it by day. Coverage is that of now: what was held then is in the certificates';
--> statement-breakpoint
CREATE FUNCTION "analytics"."nft_classes_as_of"(project text, at timestamptz) RETURNS TABLE (
   project_id text, id text, day date, name text, symbol text, nft_count bigint, uri text, owner text, tx_hash text,
   created_at timestamptz, observed_at timestamptz, is_current boolean, raw_sha256 text, raw jsonb) LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT c.project_id, c.id, c.slice_day, c.name, c.symbol, c.nft_count, c.uri, c.owner, c.tx_hash, c.created_at,
         c.observed_at, true, encode(c.raw_sha256, 'hex'), c.raw
    FROM archive.nft_classes c
   WHERE c.project_id = nft_classes_as_of.project AND c.observed_at <= nft_classes_as_of.at
  UNION ALL
  SELECT v.project_id, v.id, coalesce((v.created_at AT TIME ZONE 'UTC')::date, v.slice_day), v.name, v.symbol, v.nft_count,
         v.uri, v.owner, v.tx_hash, v.created_at, v.observed_at, false, encode(v.raw_sha256, 'hex'), v.raw
    FROM (SELECT v.project_id, v.id, v.slice_day, v.observed_at,
                 analytics.text_of(v.raw -> 'name') AS name,
                 analytics.text_of(v.raw -> 'symbol') AS symbol,
                 analytics.whole_of(v.raw -> 'nft_count', 9223372036854775807)::bigint AS nft_count,
                 analytics.text_of(v.raw -> 'uri') AS uri,
                 (SELECT CASE WHEN length(a) <= 512 THEN a END FROM analytics.text_of(v.raw -> 'owner') a) AS owner,
                 (SELECT CASE WHEN length(a) <= 512 THEN a END FROM analytics.text_of(v.raw -> 'tx_hash') a) AS tx_hash,
                 analytics.time_of(v.raw -> 'timestamp') AS created_at,
                 v.raw_sha256, v.raw
            FROM (SELECT DISTINCT ON (v.project_id, v.id) v.*, c.slice_day
                    FROM archive.nft_classes c
                    JOIN archive.nft_class_versions v ON v.project_id = c.project_id AND v.id = c.id
                   WHERE c.project_id = nft_classes_as_of.project AND c.observed_at > nft_classes_as_of.at
                     AND v.observed_at <= nft_classes_as_of.at
                   ORDER BY v.project_id, v.id, v.observed_at DESC, v.raw_sha256 DESC) v) v
$$;
--> statement-breakpoint
COMMENT ON FUNCTION "analytics"."nft_classes_as_of"(text, timestamptz) IS 'A project''s NFT classes as they were known at a moment, one row each: what stood in analytics.nft_classes then. Narrow it by day. Coverage is that of now: what was held then is in the certificates';
