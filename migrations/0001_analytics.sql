-- The first views for people and BI tools, and for the query module, which sees `archive` and `analytics` only.
-- They read `sync` with their owner's rights: a reader is shown coverage and never leases, keys or page keys.
CREATE VIEW "analytics"."schema_version" AS
SELECT count(*)::integer AS migrations, max(created_at) AS newest
  FROM sync.migrations;
--> statement-breakpoint
COMMENT ON VIEW "analytics"."schema_version" IS 'Which release wrote this schema; a reader compares it with its own';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."schema_version"."migrations" IS 'How many migrations were applied';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."schema_version"."newest" IS 'When the newest of them was written, milliseconds since 1970';
--> statement-breakpoint
CREATE VIEW "analytics"."projects" AS
SELECT project_id, first_day, added_at, parked_at, parked_reason, ask_again_at
  FROM sync.projects;
--> statement-breakpoint
COMMENT ON VIEW "analytics"."projects" IS 'The projects archived here';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."projects"."project_id" IS 'The name of the project';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."projects"."first_day" IS 'The first UTC day that is accounted for; nothing is claimed about days before it';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."projects"."added_at" IS 'When the project was first seen here';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."projects"."parked_at" IS 'Since when the platform refuses this project; null while it answers';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."projects"."parked_reason" IS 'What the platform said when it refused';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."projects"."ask_again_at" IS 'When a parked project is asked for again';
--> statement-breakpoint
-- P7: each slice with its reservations. A slice that is still open makes no claim, so that it has none but pending
-- orders. The closing period is three days at least (docs/design.md, "What is done to a slice"): a longer one may
-- show a reservation too many here, never one too few.
CREATE VIEW "analytics"."coverage" AS
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
         CASE WHEN s.state = 'final' AND s.proved_at < s.deadline_at - interval '3 days' THEN 'proved_before_closing' END,
         CASE WHEN s.unresolved > 0 THEN 'unresolved_orders' END
       ], NULL) AS reservations,
       s.last_error
  FROM sync.slices s
  LEFT JOIN (SELECT project_id, resource, owner, day, count(*) AS rejected
               FROM sync.rejects
              GROUP BY project_id, resource, owner, day) r USING (project_id, resource, owner, day);
--> statement-breakpoint
COMMENT ON VIEW "analytics"."coverage" IS 'What is held of each UTC day, how sure that is, and every reservation';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."coverage"."project_id" IS 'The project';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."coverage"."resource" IS 'orders or nft_classes';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."coverage"."owner" IS 'The owner whose classes these are; empty for the whole list';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."coverage"."day" IS 'The UTC day';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."coverage"."state" IS 'open: not yet read whole. walked: read to the end after the day was over. sealed: proved and nothing pending. final: the month left the window, held as it is. lost: the month left the window before the day was ever read whole';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."coverage"."proof" IS 'none. walk: the platform''s totals agree with what a walk was shown. counts: confirmed by totals later. walks: two walks agree where the platform gives no totals, which is weaker';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."coverage"."proved_at" IS 'When it was proved last, on the platform''s clock';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."coverage"."walked_at" IS 'When it was read to its end last, on the platform''s clock';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."coverage"."newest_page_at" IS 'When the newest page held was asked for, on the platform''s clock; no record held is first seen later';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."coverage"."platform_total" IS 'How many records the platform said there are; null where it did not say';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."coverage"."shown_total" IS 'How many distinct records, rejects included, the last walk was shown';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."coverage"."unresolved" IS 'Orders of the day still pending';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."coverage"."rejected" IS 'Records without a usable id, kept as bytes aside';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."coverage"."deadline_at" IS 'Until when the day should be held and proved: a safety margin before its month leaves the window';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."coverage"."reservations" IS 'What is not certain, by name: lost, no_proof, proved_before_closing, unresolved_orders; empty for a clean claim';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."coverage"."last_error" IS 'Why the last attempt failed; null after a success';
