-- An id that two lists show with different contents: which content each of the lists last showed, so that the row settles
-- on one of them and the days that show another one claim no proof.
create table "sync"."contested" (
  "project_id" text collate "C" not null,
  "resource" text collate "C" not null,
  "id" text collate "C" not null,
  "owner" text collate "C" not null,
  "day" date not null,
  "raw_sha256" bytea,
  constraint "contested_pkey" primary key ("project_id", "resource", "id", "owner", "day")
);
--> statement-breakpoint
comment on table "sync"."contested" is 'Records that may be shown by several lists with different contents: a row for each list';
--> statement-breakpoint
comment on column "sync"."contested"."raw_sha256" is 'The content this list last showed; null while it is still to be asked';
