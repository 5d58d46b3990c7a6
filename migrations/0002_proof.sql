CREATE TABLE "sync"."alerts" (
	"project_id" text collate "C" NOT NULL,
	"kind" text collate "C" NOT NULL,
	"subject" text collate "C" NOT NULL,
	"text" text NOT NULL,
	"opened_at" timestamp with time zone NOT NULL,
	"told_at" timestamp with time zone,
	"resolved_at" timestamp with time zone,
	"telling_until" timestamp with time zone,
	"attempts" integer DEFAULT 0 NOT NULL,
	CONSTRAINT "alerts_pkey" PRIMARY KEY("project_id","kind","subject")
);
--> statement-breakpoint
CREATE TABLE "sync"."rebuilds" (
	"project_id" text collate "C" NOT NULL,
	"resource" text collate "C" NOT NULL,
	"started_at" timestamp with time zone NOT NULL,
	"ended_at" timestamp with time zone,
	"done_up_to" text collate "C",
	"rows_read" bigint DEFAULT 0 NOT NULL,
	"rows_changed" bigint DEFAULT 0 NOT NULL,
	"changes" jsonb DEFAULT '{}'::jsonb NOT NULL,
	CONSTRAINT "rebuilds_pkey" PRIMARY KEY("project_id","resource")
);
--> statement-breakpoint
ALTER TABLE "sync"."rate" ADD COLUMN "per_second" numeric;--> statement-breakpoint
ALTER TABLE "sync"."slices" ADD COLUMN "walk_order" text DEFAULT 'asc' NOT NULL;--> statement-breakpoint
ALTER TABLE "sync"."slices" ADD CONSTRAINT "slices_walk_order" CHECK (walk_order in ('asc', 'desc'));--> statement-breakpoint
-- The whole list of an owner, whatever its days, is walked under the day 0001-01-01: it finds classes that were
-- transferred in. It is no day of the calendar and makes no claim about one. Days that were asked for after they had left
-- the window have no deadline (9999-12-31): nothing overtakes them, so that they have no closing either.
CREATE OR REPLACE VIEW "analytics"."coverage" AS
SELECT s.project_id,
       s.resource,
       s.owner,
       s.day,
       s.state,
       s.proof,
       s.proved_at,
       s.walked_at,
       s.observed_at AS newest_page_at,
       s.platform_total,
       s.shown_total,
       s.unresolved,
       coalesce(r.rejected, 0) AS rejected,
       s.deadline_at,
       array_remove(ARRAY[
         CASE WHEN s.state = 'lost' THEN 'lost' END,
         CASE WHEN s.state IN ('walked', 'final') AND s.proof = 'none' THEN 'no_proof' END,
         CASE WHEN s.state = 'final' AND s.proved_at < s.deadline_at - interval '3 days'
                   AND s.deadline_at < '9999-01-01' THEN 'proved_before_closing' END,
         CASE WHEN s.unresolved > 0 THEN 'unresolved_orders' END
       ], NULL) AS reservations,
       s.last_error
  FROM sync.slices s
  LEFT JOIN (SELECT project_id, resource, owner, day, count(*) AS rejected
               FROM sync.rejects
              GROUP BY project_id, resource, owner, day) r USING (project_id, resource, owner, day)
 WHERE s.day > '0001-01-01';
--> statement-breakpoint
CREATE VIEW "analytics"."certificates" AS
SELECT project_id, resource, month, certified_at,
       (certificate ->> 'records')::bigint AS records,
       encode(digest, 'hex') AS digest,
       certificate
  FROM sync.certificates;
--> statement-breakpoint
COMMENT ON VIEW "analytics"."certificates" IS 'Months that have left the window, each with what is held of it and the digest that fixes it';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."certificates"."project_id" IS 'The project';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."certificates"."resource" IS 'orders or nft_classes';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."certificates"."month" IS 'First UTC day of the month';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."certificates"."certified_at" IS 'The moment whose contents are certified, on the platform''s clock';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."certificates"."records" IS 'How many records are certified';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."certificates"."digest" IS 'The month''s digest, lower-case hex';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."certificates"."certificate" IS 'The certificate itself: every day with its count, digest, state, proof and reservations';
