-- What was held of an operation and of the newest look at the tokens, noted beside it: so that verify can name what is gone.
ALTER TABLE "sync"."token_snapshots" ADD COLUMN "symbols" text[];--> statement-breakpoint
ALTER TABLE "sync"."watched_operations" ADD COLUMN "found_by" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "sync"."watched_operations" ADD COLUMN "file_sha256" "bytea";--> statement-breakpoint
CREATE INDEX "watched_operations_lost" ON "sync"."watched_operations" USING btree ("project_id") WHERE state = 'lost';--> statement-breakpoint
UPDATE "sync"."watched_operations" w
   SET found_by = t.lookups
  FROM (SELECT project_id, operation_id, array_agg(api_version ORDER BY api_version) AS lookups
          FROM archive.transactions
         GROUP BY project_id, operation_id) t
 WHERE t.project_id = w.project_id AND t.operation_id = w.operation_id;--> statement-breakpoint
UPDATE "sync"."watched_operations" w
   SET file_sha256 = f.sha256
  FROM archive.certificate_files f
 WHERE f.project_id = w.project_id AND f.operation_id = w.operation_id;
