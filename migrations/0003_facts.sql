-- What was observed of a platform, for whoever reads the archive: how an end date is read decides what a day's list holds.
CREATE VIEW "analytics"."facts" AS
SELECT project_id, fact, value, confirmed_at, changed_at, previous
  FROM sync.facts
 WHERE fact <> 'probed';
--> statement-breakpoint
COMMENT ON VIEW "analytics"."facts" IS 'What was observed of the platform''s undocumented behaviour';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."facts"."project_id" IS 'The project';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."facts"."fact" IS 'Its name, for example orders.day_end';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."facts"."value" IS 'What was observed, for example inclusive';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."facts"."confirmed_at" IS 'When it was observed last, on the platform''s clock';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."facts"."changed_at" IS 'When the platform began to behave so, on its clock';
--> statement-breakpoint
COMMENT ON COLUMN "analytics"."facts"."previous" IS 'What was observed before; null while it never changed';
