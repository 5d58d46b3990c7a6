-- What is believed of the platform's clock, kept over restarts; and days that were final or lost and are looked after again.
create table sync.clocks (
  project_id text collate "C" not null,
  machine text collate "C" not null,
  ahead_ms bigint not null,
  machine_behind_ms bigint not null,
  seen_at timestamp with time zone not null,
  disagrees text,
  disagrees_by_ms bigint,
  disagrees_since timestamp with time zone,
  constraint clocks_pkey primary key (project_id, machine),
  constraint clocks_disagrees check (disagrees in ('machine', 'answers'))
);
--> statement-breakpoint
create table sync.reopenings (
  project_id text collate "C" not null,
  resource text collate "C" not null,
  owner text collate "C" not null,
  day date not null,
  reopened_at timestamp with time zone not null,
  was text not null,
  reason text not null,
  constraint reopenings_pkey primary key (project_id, resource, owner, day, reopened_at),
  constraint reopenings_was check (was in ('lost', 'final')),
  constraint reopenings_reason check (reason in ('window', 'answered'))
);
--> statement-breakpoint
alter table sync.slices add column reopened_at timestamp with time zone;
--> statement-breakpoint
comment on table sync.clocks is 'What each machine believes of the platform''s clock: helps the first answer of a new process to be believed';
comment on column sync.clocks.project_id is 'The project';
comment on column sync.clocks.machine is 'The name of the machine';
comment on column sync.clocks.ahead_ms is 'How far the platform''s clock is ahead of the database''s, in milliseconds';
comment on column sync.clocks.machine_behind_ms is 'How far the machine''s clock is behind the platform''s, in milliseconds';
comment on column sync.clocks.seen_at is 'When this was noted, on the database''s clock';
comment on column sync.clocks.disagrees is 'Who contradicts the belief: machine, or answers of the platform itself; null: nobody';
comment on column sync.clocks.disagrees_by_ms is 'By how much: the belief minus what the machine''s clock shows, or what such an answer shows minus the belief';
comment on column sync.clocks.disagrees_since is 'Since when, on the platform''s clock';
comment on table sync.reopenings is 'Days that were final or lost and were found to be answered for after all: kept for ever';
comment on column sync.reopenings.project_id is 'The project';
comment on column sync.reopenings.resource is 'orders or nft_classes';
comment on column sync.reopenings.owner is 'The owner whose classes they are; empty: the whole list';
comment on column sync.reopenings.day is 'The day';
comment on column sync.reopenings.reopened_at is 'When, on the platform''s clock';
comment on column sync.reopenings.was is 'What the day was called before: lost or final';
comment on column sync.reopenings.reason is 'window: it lies in the window by every witness of the time. answered: the platform was seen to answer for days as old';
comment on column sync.slices.reopened_at is 'When the day was last taken up again after it had been final or lost, on the platform''s clock; sync.reopenings has them all';
