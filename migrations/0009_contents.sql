-- Contents of every resource, typed: what the library's history and as-of reads are made of. Versions are read again as in
-- 0005_history.sql, by the rules of src/platform/{orders,classes,transactions,tokens}.ts; a test compares the two readings.
CREATE FUNCTION "analytics"."is_given"(value jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT coalesce(jsonb_typeof(value) <> 'null' AND value <> '""', false)
$$;
--> statement-breakpoint
COMMENT ON FUNCTION "analytics"."is_given"(jsonb) IS 'Whether a field says anything: it is neither absent nor null nor empty text';
--> statement-breakpoint
CREATE FUNCTION "analytics"."is_number_given"(value jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT analytics.is_given(value) AND analytics.trimmed(value) IS DISTINCT FROM ''
$$;
--> statement-breakpoint
COMMENT ON FUNCTION "analytics"."is_number_given"(jsonb) IS 'The same of a field that holds a number: blank text says nothing either';
--> statement-breakpoint
-- What was read and what the bytes were is added at the end: nothing that reads the views changes.
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
               is_current OR coalesce(precedence >= max(precedence) OVER earlier, true) AS counts
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
COMMENT ON COLUMN "analytics"."order_history"."unread" IS 'Known fields that could not be read: they are null here and as they came in raw';
COMMENT ON COLUMN "analytics"."order_history"."raw_bytes" IS 'The content''s original bytes, only where jsonb could not hold it; null otherwise';
--> statement-breakpoint
CREATE OR REPLACE VIEW "analytics"."nft_class_history" AS
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
       raw,
       CASE WHEN is_current THEN unread ELSE array_remove(ARRAY[
         CASE WHEN created_at IS NULL AND analytics.is_given(raw -> 'timestamp') THEN 'timestamp' END,
         CASE WHEN name IS NULL AND analytics.is_given(raw -> 'name') THEN 'name' END,
         CASE WHEN symbol IS NULL AND analytics.is_given(raw -> 'symbol') THEN 'symbol' END,
         CASE WHEN nft_count IS NULL AND analytics.is_number_given(raw -> 'nft_count') THEN 'nft_count' END,
         CASE WHEN uri IS NULL AND analytics.is_given(raw -> 'uri') THEN 'uri' END,
         CASE WHEN owner IS NULL AND analytics.is_given(raw -> 'owner') THEN 'owner' END,
         CASE WHEN tx_hash IS NULL AND analytics.is_given(raw -> 'tx_hash') THEN 'tx_hash' END
       ], NULL) END AS unread,
       raw_bytes
  FROM (SELECT c.project_id, c.id, c.slice_day AS day, c.observed_at, true AS is_current, c.name, c.symbol, c.nft_count,
               c.uri, c.owner, c.tx_hash, c.created_at, encode(c.raw_sha256, 'hex') AS raw_sha256, c.raw, c.unread, c.raw_bytes
          FROM archive.nft_classes c
        UNION ALL
        SELECT v.project_id, v.id, c.slice_day, v.observed_at, false, analytics.text_of(v.raw -> 'name') AS name,
               analytics.text_of(v.raw -> 'symbol') AS symbol,
               analytics.whole_of(v.raw -> 'nft_count', 9223372036854775807)::bigint AS nft_count,
               analytics.text_of(v.raw -> 'uri') AS uri,
               (SELECT CASE WHEN length(a) <= 512 THEN a END FROM analytics.text_of(v.raw -> 'owner') a) AS owner,
               (SELECT CASE WHEN length(a) <= 512 THEN a END FROM analytics.text_of(v.raw -> 'tx_hash') a) AS tx_hash,
               analytics.time_of(v.raw -> 'timestamp') AS created_at,
               encode(v.raw_sha256, 'hex'), v.raw, NULL, v.raw_bytes
          FROM archive.nft_class_versions v
          JOIN archive.nft_classes c ON c.project_id = v.project_id AND c.id = v.id) contents;
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."nft_class_history"."unread" IS 'Known fields that could not be read: they are null here and as they came in raw';
COMMENT ON COLUMN "analytics"."nft_class_history"."raw_bytes" IS 'The content''s original bytes, only where jsonb could not hold it; null otherwise';
--> statement-breakpoint
CREATE VIEW "analytics"."transaction_history" AS
SELECT project_id,
       operation_id,
       api_version,
       observed_at AS in_force_from,
       lead(observed_at) OVER (PARTITION BY project_id, operation_id, api_version ORDER BY observed_at, is_current, raw_sha256) AS in_force_until,
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
       CASE WHEN is_current THEN unread ELSE array_remove(ARRAY[
         CASE WHEN module IS NULL AND analytics.is_given(raw -> 'module') THEN 'module' END,
         CASE WHEN type IS NULL AND analytics.is_given(raw -> 'type') THEN 'type' END,
         CASE WHEN operation IS NULL AND analytics.is_number_given(raw -> 'operation') THEN 'operation' END,
         CASE WHEN tx_hash IS NULL AND analytics.is_given(raw -> 'tx_hash') THEN 'tx_hash' END,
         CASE WHEN status IS NULL AND analytics.is_number_given(raw -> 'status') THEN 'status' END,
         CASE WHEN message IS NULL AND analytics.is_given(raw -> 'message') THEN 'message' END,
         CASE WHEN block_height IS NULL AND analytics.is_number_given(raw -> 'block_height') THEN 'block_height' END,
         CASE WHEN confirmed_at IS NULL AND analytics.is_given(raw -> 'timestamp') THEN 'timestamp' END,
         CASE WHEN nft IS NULL AND analytics.is_given(raw -> 'nft') THEN 'nft' END,
         CASE WHEN mt IS NULL AND analytics.is_given(raw -> 'mt') THEN 'mt' END,
         CASE WHEN record IS NULL AND analytics.is_given(raw -> 'record') THEN 'record' END
       ], NULL) END AS unread,
       raw_bytes
  FROM (SELECT project_id, operation_id, api_version, observed_at, true AS is_current, module, type, operation, tx_hash, status,
               message, block_height, confirmed_at, nft, mt, record, encode(raw_sha256, 'hex') AS raw_sha256, raw, unread, raw_bytes
          FROM archive.transactions
        UNION ALL
        SELECT project_id, operation_id, api_version, observed_at, false,
               analytics.text_of(raw -> 'module'),
               analytics.text_of(raw -> 'type'),
               analytics.whole_of(raw -> 'operation', 2147483647)::integer,
               analytics.text_of(raw -> 'tx_hash'),
               analytics.whole_of(raw -> 'status', 2147483647)::integer,
               analytics.text_of(raw -> 'message'),
               analytics.whole_of(raw -> 'block_height', 9223372036854775807)::bigint,
               analytics.time_of(raw -> 'timestamp'),
               CASE WHEN jsonb_typeof(raw -> 'nft') = 'object' THEN raw -> 'nft' END,
               CASE WHEN jsonb_typeof(raw -> 'mt') = 'object' THEN raw -> 'mt' END,
               CASE WHEN jsonb_typeof(raw -> 'record') = 'object' THEN raw -> 'record' END,
               encode(raw_sha256, 'hex'), raw, NULL, raw_bytes
          FROM archive.transaction_versions) contents;
--> statement-breakpoint
COMMENT ON VIEW "analytics"."transaction_history" IS 'Everything the result of an operation was ever seen to say, one row for each content of each lookup';
COMMENT ON COLUMN "analytics"."transaction_history"."project_id" IS 'The project';
COMMENT ON COLUMN "analytics"."transaction_history"."operation_id" IS 'The operation';
COMMENT ON COLUMN "analytics"."transaction_history"."api_version" IS 'The lookup that gave the result, v1beta1 or v3';
COMMENT ON COLUMN "analytics"."transaction_history"."in_force_from" IS 'When this content was first seen, on the platform''s clock';
COMMENT ON COLUMN "analytics"."transaction_history"."in_force_until" IS 'Until when, the moment itself excluded; null while it is';
COMMENT ON COLUMN "analytics"."transaction_history"."is_current" IS 'True for the content in the table, false for earlier ones';
COMMENT ON COLUMN "analytics"."transaction_history"."module" IS 'The module it went to; v3 gives a number';
COMMENT ON COLUMN "analytics"."transaction_history"."type" IS 'What was done, as v1beta1 names it; null from v3';
COMMENT ON COLUMN "analytics"."transaction_history"."operation" IS 'What was done, as v3 numbers it; null from v1beta1';
COMMENT ON COLUMN "analytics"."transaction_history"."tx_hash" IS 'The transaction on the chain';
COMMENT ON COLUMN "analytics"."transaction_history"."status" IS '0 and 3 go on, 1 succeeded, 2 failed; null where it could not be read';
COMMENT ON COLUMN "analytics"."transaction_history"."message" IS 'What the platform said of a failure';
COMMENT ON COLUMN "analytics"."transaction_history"."block_height" IS 'The block it is in';
COMMENT ON COLUMN "analytics"."transaction_history"."confirmed_at" IS 'When it was confirmed, by the platform';
COMMENT ON COLUMN "analytics"."transaction_history"."nft" IS 'The body of an NFT operation; null where it is none';
COMMENT ON COLUMN "analytics"."transaction_history"."mt" IS 'The body of an MT operation; null where it is none';
COMMENT ON COLUMN "analytics"."transaction_history"."record" IS 'The body of a record operation; null where it is none';
COMMENT ON COLUMN "analytics"."transaction_history"."raw_sha256" IS 'SHA-256 of its canonical JSON, lower-case hex';
COMMENT ON COLUMN "analytics"."transaction_history"."raw" IS 'The result as the platform gave it, equal as a JSON value';
COMMENT ON COLUMN "analytics"."transaction_history"."unread" IS 'Known fields that could not be read: they are null here and as they came in raw';
COMMENT ON COLUMN "analytics"."transaction_history"."raw_bytes" IS 'The content''s original bytes, only where jsonb could not hold it; null otherwise';
--> statement-breakpoint
CREATE VIEW "analytics"."token_history" AS
SELECT project_id,
       symbol,
       observed_at AS in_force_from,
       lead(observed_at) OVER (PARTITION BY project_id, symbol ORDER BY observed_at, is_current, raw_sha256) AS in_force_until,
       is_current,
       name,
       min_unit,
       -- A node leaves zeros out: what is not given is zero, what cannot be read is not.
       CASE WHEN is_current OR analytics.is_number_given(token -> 'scale') THEN scale ELSE 0 END AS scale,
       CASE WHEN is_current OR analytics.is_number_given(token -> 'initial_supply') THEN initial_supply ELSE 0 END AS initial_supply,
       CASE WHEN is_current OR analytics.is_number_given(token -> 'max_supply') THEN max_supply ELSE 0 END AS max_supply,
       mintable,
       owner,
       issue_fee_denom,
       issue_fee_amount,
       mint_fee_denom,
       mint_fee_amount,
       height,
       raw_sha256,
       raw,
       CASE WHEN is_current THEN unread ELSE array_remove(ARRAY[
         CASE WHEN name IS NULL AND analytics.is_given(token -> 'name') THEN 'name' END,
         CASE WHEN min_unit IS NULL AND analytics.is_given(token -> 'min_unit') THEN 'min_unit' END,
         CASE WHEN scale IS NULL AND analytics.is_number_given(token -> 'scale') THEN 'scale' END,
         CASE WHEN initial_supply IS NULL AND analytics.is_number_given(token -> 'initial_supply') THEN 'initial_supply' END,
         CASE WHEN max_supply IS NULL AND analytics.is_number_given(token -> 'max_supply') THEN 'max_supply' END,
         CASE WHEN mintable IS NULL THEN 'mintable' END,
         CASE WHEN owner IS NULL AND analytics.is_given(token -> 'owner') THEN 'owner' END,
         CASE WHEN issue_fee_denom IS NULL AND analytics.is_given(fees -> 'issue_fee' -> 'denom') THEN 'issue_fee.denom' END,
         CASE WHEN issue_fee_amount IS NULL AND analytics.is_number_given(fees -> 'issue_fee' -> 'amount') THEN 'issue_fee.amount' END,
         CASE WHEN mint_fee_denom IS NULL AND analytics.is_given(fees -> 'mint_fee' -> 'denom') THEN 'mint_fee.denom' END,
         CASE WHEN mint_fee_amount IS NULL AND analytics.is_number_given(fees -> 'mint_fee' -> 'amount') THEN 'mint_fee.amount' END
       ], NULL) END AS unread,
       raw_bytes
  FROM (SELECT project_id, symbol, observed_at, true AS is_current, name, min_unit, scale, initial_supply, max_supply, mintable, owner,
               issue_fee_denom, issue_fee_amount, mint_fee_denom, mint_fee_amount, height,
               encode(raw_sha256, 'hex') AS raw_sha256, raw, unread, raw_bytes, NULL::jsonb AS token, NULL::jsonb AS fees
          FROM archive.tokens
        UNION ALL
        SELECT project_id, symbol, observed_at, false,
               analytics.text_of(token -> 'name'),
               analytics.text_of(token -> 'min_unit'),
               analytics.whole_of(token -> 'scale', 2147483647)::integer,
               analytics.amount_of(token -> 'initial_supply'),
               analytics.amount_of(token -> 'max_supply'),
               CASE WHEN NOT analytics.is_given(token -> 'mintable') THEN false
                    WHEN token ->> 'mintable' IN ('true', 'false') THEN (token ->> 'mintable')::boolean END,
               analytics.text_of(token -> 'owner'),
               analytics.text_of(fees -> 'issue_fee' -> 'denom'),
               analytics.amount_of(fees -> 'issue_fee' -> 'amount'),
               analytics.text_of(fees -> 'mint_fee' -> 'denom'),
               analytics.amount_of(fees -> 'mint_fee' -> 'amount'),
               NULL,
               encode(raw_sha256, 'hex'), raw, NULL, raw_bytes, token, fees
          FROM (SELECT *, raw -> 'token' -> 'value' AS token, raw -> 'fees' AS fees FROM archive.token_versions) versions) contents;
--> statement-breakpoint
COMMENT ON VIEW "analytics"."token_history" IS 'Everything a token was ever seen to say, one row for each content';
COMMENT ON COLUMN "analytics"."token_history"."project_id" IS 'The project';
COMMENT ON COLUMN "analytics"."token_history"."symbol" IS 'The symbol of the token';
COMMENT ON COLUMN "analytics"."token_history"."in_force_from" IS 'When this content was first seen, on the platform''s clock';
COMMENT ON COLUMN "analytics"."token_history"."in_force_until" IS 'Until when, the moment itself excluded; null while it is';
COMMENT ON COLUMN "analytics"."token_history"."is_current" IS 'True for the content in the table, false for earlier ones';
COMMENT ON COLUMN "analytics"."token_history"."name" IS 'Its name';
COMMENT ON COLUMN "analytics"."token_history"."min_unit" IS 'The name of its smallest unit';
COMMENT ON COLUMN "analytics"."token_history"."scale" IS 'How many decimals its main unit has';
COMMENT ON COLUMN "analytics"."token_history"."initial_supply" IS 'How much was issued at first, in its main unit';
COMMENT ON COLUMN "analytics"."token_history"."max_supply" IS 'How much there may be at most, in its main unit';
COMMENT ON COLUMN "analytics"."token_history"."mintable" IS 'Whether more may be issued';
COMMENT ON COLUMN "analytics"."token_history"."owner" IS 'Its owner then';
COMMENT ON COLUMN "analytics"."token_history"."issue_fee_denom" IS 'The unit of the fee for issuing';
COMMENT ON COLUMN "analytics"."token_history"."issue_fee_amount" IS 'The fee for issuing';
COMMENT ON COLUMN "analytics"."token_history"."mint_fee_denom" IS 'The unit of the fee for minting';
COMMENT ON COLUMN "analytics"."token_history"."mint_fee_amount" IS 'The fee for minting';
COMMENT ON COLUMN "analytics"."token_history"."height" IS 'The height at which this content was first seen; of the content in the table only: it is no part of what a token says';
COMMENT ON COLUMN "analytics"."token_history"."raw_sha256" IS 'SHA-256 of its canonical JSON, lower-case hex';
COMMENT ON COLUMN "analytics"."token_history"."raw" IS 'The node''s element of the list and its fees, equal as JSON values';
COMMENT ON COLUMN "analytics"."token_history"."unread" IS 'Known fields that could not be read: they are null here and as they came in raw';
COMMENT ON COLUMN "analytics"."token_history"."raw_bytes" IS 'The content''s original bytes, only where jsonb could not hold it; null otherwise';
--> statement-breakpoint
-- A record stands under a day that was over, or all but over, when it was first seen: so reads of a moment need not look at later days. The
-- few that do not, because their time of creation changed, are found here. A day of slack: zones reach 14 hours.
CREATE INDEX "orders_ahead" ON "archive"."orders" USING btree
  ("project_id", "slice_day", coalesce(created_at, 'infinity'::timestamptz), "operation_id")
  WHERE slice_day > (first_seen_at AT TIME ZONE 'UTC')::date + 1;
--> statement-breakpoint
CREATE INDEX "nft_classes_ahead" ON "archive"."nft_classes" USING btree
  ("project_id", "slice_day", coalesce(created_at, 'infinity'::timestamptz), "id")
  WHERE slice_day > (first_seen_at AT TIME ZONE 'UTC')::date + 1;
--> statement-breakpoint
-- What stands beside an operation is looked up for the rows that are asked for: grouped first and joined, every result of the project
-- was read for a page of a hundred.
CREATE OR REPLACE VIEW "analytics"."watched_operations" AS
SELECT w.project_id,
       w.operation_id,
       w.api_version,
       w.created_on,
       w.added_at,
       w.state,
       array_remove(ARRAY[
         (SELECT t.api_version FROM archive.transactions t
           WHERE t.project_id = w.project_id AND t.api_version = 'v1beta1' AND t.operation_id = w.operation_id),
         (SELECT t.api_version FROM archive.transactions t
           WHERE t.project_id = w.project_id AND t.api_version = 'v3' AND t.operation_id = w.operation_id)
       ], NULL) AS found_by,
       (SELECT max(t.status) FROM archive.transactions t
         WHERE t.project_id = w.project_id AND t.api_version IN ('v1beta1', 'v3') AND t.operation_id = w.operation_id
           AND t.status IN (1, 2)) AS status,
       (SELECT true FROM archive.certificate_files f
         WHERE f.project_id = w.project_id AND f.operation_id = w.operation_id) IS TRUE AS has_certificate_file,
       w.deadline_at,
       w.due_at,
       w.attempts,
       w.last_error
  FROM sync.watched_operations w;
