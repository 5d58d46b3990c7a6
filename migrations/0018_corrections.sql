-- A content that the platform stands by for a day replaces one that a later update time spoke for.
alter table sync.contested add column since timestamptz;
alter table sync.contested add column is_older boolean not null default false;
comment on column sync.contested.since is 'Since when the list has shown this content and no other';
comment on column sync.contested.is_older is 'Whether the content in force was later by what the two say themselves when this one was noted';
--> statement-breakpoint
create table sync.corrections (
  project_id text collate "C" not null,
  resource text collate "C" not null,
  id text collate "C" not null,
  corrected_at timestamptz not null,
  constraint corrections_pkey primary key (project_id, resource, id, corrected_at)
);
--> statement-breakpoint
comment on table sync.corrections is 'Records of which an older content is in force again, because the platform showed it and no other for a day: what was said before that moment competes no more';
comment on column sync.corrections.corrected_at is 'Since when it is in force again: observed_at of that content';
--> statement-breakpoint
CREATE OR REPLACE VIEW "analytics"."order_history" AS
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
       raw,
       CASE WHEN is_current THEN unread ELSE array_remove(ARRAY[
         CASE WHEN created_at IS NULL AND analytics.is_given(raw -> 'create_time') THEN 'create_time' END,
         CASE WHEN status IS NULL AND analytics.is_number_given(raw -> 'status') THEN 'status' END,
         CASE WHEN message IS NULL AND analytics.is_given(raw -> 'message') THEN 'message' END,
         CASE WHEN account IS NULL AND analytics.is_given(raw -> 'account') THEN 'account' END,
         CASE WHEN amount IS NULL AND analytics.is_number_given(raw -> 'amount') THEN 'amount' END,
         CASE WHEN number IS NULL AND analytics.is_number_given(raw -> 'number') THEN 'number' END,
         CASE WHEN updated_at IS NULL AND analytics.is_given(raw -> 'update_time') THEN 'update_time' END,
         CASE WHEN order_type IS NULL AND analytics.is_number_given(raw -> 'order_type') THEN 'order_type' END
       ], NULL) END AS unread,
       raw_bytes
  FROM (SELECT *,
               -- By update time, settled over pending, then by when it was observed: as the commit of a page decides (P2).
               is_current OR coalesce(precedence >= max(precedence) OVER earlier, true)
                 -- Or because the platform stood by it for a day.
                 OR EXISTS (SELECT FROM sync.corrections c
                             WHERE c.project_id = read.project_id AND c.resource = 'orders' AND c.id = read.operation_id
                               AND c.corrected_at = read.observed_at) AS counts
          FROM (SELECT *, ARRAY[coalesce(extract(epoch FROM updated_at), '-infinity'),
                                CASE WHEN status = 1 THEN 0 ELSE 1 END] AS precedence
                  FROM (SELECT o.project_id, o.operation_id, o.slice_day AS day, o.observed_at, true AS is_current, o.status, o.message,
                               o.account, o.amount, o.number, o.created_at, o.updated_at, o.order_type,
                               encode(o.raw_sha256, 'hex') AS raw_sha256, o.raw, o.unread, o.raw_bytes
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
                               encode(v.raw_sha256, 'hex'), v.raw, NULL, v.raw_bytes
                          FROM archive.order_versions v
                          JOIN archive.orders o ON o.project_id = v.project_id AND o.operation_id = v.operation_id) contents) read
        WINDOW earlier AS (PARTITION BY project_id, operation_id, day
                           ORDER BY observed_at, is_current, precedence, raw_sha256
                           ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)) judged
WINDOW later AS (PARTITION BY project_id, operation_id, day
                 ORDER BY observed_at, is_current, precedence, raw_sha256
                 ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING);
--> statement-breakpoint
CREATE OR REPLACE FUNCTION "analytics"."orders_as_of"(project text, at timestamptz) RETURNS TABLE (
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
                     AND v.observed_at <= orders_as_of.at
                     -- What was said before a correction competes no more.
                     AND v.observed_at >= coalesce((SELECT max(c.corrected_at) FROM sync.corrections c
                                                     WHERE c.project_id = v.project_id AND c.resource = 'orders'
                                                       AND c.id = v.operation_id AND c.corrected_at <= orders_as_of.at),
                                                   '-infinity')) contents
           ORDER BY project_id, operation_id, coalesce(updated_at, '-infinity') DESC, (status IS DISTINCT FROM 1) DESC,
                    observed_at DESC, raw_sha256 DESC) v
$$;
