-- When the tokens were last read, and whether that goes on: a node's list has no days to be counted by.
CREATE VIEW "analytics"."token_snapshots" AS
SELECT project_id, taken_at, height, shown, due_at, attempts, last_error
  FROM sync.token_snapshots;
--> statement-breakpoint
COMMENT ON VIEW "analytics"."token_snapshots" IS 'When the tokens of each project were last read';
COMMENT ON COLUMN "analytics"."token_snapshots"."project_id" IS 'The project';
COMMENT ON COLUMN "analytics"."token_snapshots"."taken_at" IS 'When the newest look held was taken, on the platform''s clock; null before the first';
COMMENT ON COLUMN "analytics"."token_snapshots"."height" IS 'The height the node answered it at; null where it did not say';
COMMENT ON COLUMN "analytics"."token_snapshots"."shown" IS 'How many tokens it showed, those without a usable symbol included';
COMMENT ON COLUMN "analytics"."token_snapshots"."due_at" IS 'When they are read next, on the platform''s clock';
COMMENT ON COLUMN "analytics"."token_snapshots"."attempts" IS 'How often reading them has failed since';
COMMENT ON COLUMN "analytics"."token_snapshots"."last_error" IS 'Why the last attempt failed; null after a success';
