CREATE TABLE "archive"."certificate_files" (
	"project_id" text collate "C" NOT NULL,
	"operation_id" text collate "C" NOT NULL,
	"url" text NOT NULL,
	"bytes" "bytea" NOT NULL,
	"sha256" "bytea" NOT NULL,
	"media_type" text,
	"fetched_at" timestamp with time zone NOT NULL,
	CONSTRAINT "certificate_files_pkey" PRIMARY KEY("project_id","operation_id")
);
--> statement-breakpoint
CREATE TABLE "sync"."token_snapshots" (
	"project_id" text collate "C" NOT NULL,
	"due_at" timestamp with time zone NOT NULL,
	"taken_at" timestamp with time zone,
	"height" bigint,
	"shown" integer,
	"lease_holder" text,
	"lease_epoch" bigint DEFAULT 0 NOT NULL,
	"lease_until" timestamp with time zone,
	"attempts" integer DEFAULT 0 NOT NULL,
	"last_error" text,
	CONSTRAINT "token_snapshots_pkey" PRIMARY KEY("project_id")
);
--> statement-breakpoint
CREATE INDEX "watched_operations_open" ON "sync"."watched_operations" USING btree ("project_id","deadline_at") WHERE state = 'open';--> statement-breakpoint
CREATE INDEX "watched_operations_new" ON "sync"."watched_operations" USING btree ("project_id") WHERE deadline_at is null;--> statement-breakpoint
-- What names neither lookup means both.
UPDATE "sync"."watched_operations" SET api_version = NULL WHERE api_version NOT IN ('v1beta1', 'v3');--> statement-breakpoint
ALTER TABLE "sync"."watched_operations" ADD CONSTRAINT "watched_operations_api_version" CHECK (api_version in ('v1beta1', 'v3'));
--> statement-breakpoint
-- P7 for what has no list: every id that was given, with what became of it.
CREATE VIEW "analytics"."watched_operations" AS
SELECT w.project_id,
       w.operation_id,
       w.api_version,
       w.created_on,
       w.added_at,
       w.state,
       coalesce(t.lookups, '{}') AS found_by,
       t.status,
       f.operation_id IS NOT NULL AS has_certificate_file,
       w.deadline_at,
       w.due_at,
       w.attempts,
       w.last_error
  FROM sync.watched_operations w
  LEFT JOIN (SELECT project_id, operation_id, array_agg(api_version ORDER BY api_version) AS lookups,
                    max(status) FILTER (WHERE status IN (1, 2)) AS status
               FROM archive.transactions
              GROUP BY project_id, operation_id) t USING (project_id, operation_id)
  LEFT JOIN archive.certificate_files f USING (project_id, operation_id);
--> statement-breakpoint
COMMENT ON VIEW "analytics"."watched_operations" IS 'Operations whose results are asked for by their ids, for there is no list of them';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."watched_operations"."project_id" IS 'The project';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."watched_operations"."operation_id" IS 'The id its caller chose';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."watched_operations"."api_version" IS 'The lookup that is asked, v1beta1 or v3; null: both';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."watched_operations"."created_on" IS 'The UTC day the operation was begun, where it was given';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."watched_operations"."added_at" IS 'Since when it is watched';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."watched_operations"."state" IS 'open: asked for still. done: the result is final. lost: its month left the window before the result was final';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."watched_operations"."found_by" IS 'The lookups that have given a result';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."watched_operations"."status" IS 'The final status, 1 succeeded or 2 failed; null while there is none';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."watched_operations"."has_certificate_file" IS 'Whether the file behind its certificate link is kept';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."watched_operations"."deadline_at" IS 'Until when the result should be held: a safety margin before its month leaves the window';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."watched_operations"."due_at" IS 'When it is asked for next, on the platform''s clock; null when it is not';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."watched_operations"."attempts" IS 'How often it was asked for';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."watched_operations"."last_error" IS 'Why it is not settled, or what was not kept; null when there is nothing to say';
--> statement-breakpoint
COMMENT ON TABLE "archive"."certificate_files" IS 'The files behind certificate links, each kept once: the links do not live long';
COMMENT ON COLUMN "archive"."certificate_files"."project_id" IS 'The project';
COMMENT ON COLUMN "archive"."certificate_files"."operation_id" IS 'The operation whose result gave the link';
COMMENT ON COLUMN "archive"."certificate_files"."url" IS 'The link, as it stood in the result';
COMMENT ON COLUMN "archive"."certificate_files"."bytes" IS 'The file';
COMMENT ON COLUMN "archive"."certificate_files"."sha256" IS 'SHA-256 of the file';
COMMENT ON COLUMN "archive"."certificate_files"."media_type" IS 'As its server named it; null where it did not';
COMMENT ON COLUMN "archive"."certificate_files"."fetched_at" IS 'When it was fetched, on the platform''s clock';
