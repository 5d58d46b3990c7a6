-- Signed requests that wrote something: each is taken once, whichever replica it comes to.
create table sync.taken_requests (
  signature bytea not null,
  taken_at timestamptz not null default now(),
  constraint taken_requests_pkey primary key (signature)
);
--> statement-breakpoint
create index taken_requests_age on sync.taken_requests (taken_at);
--> statement-breakpoint
comment on table sync.taken_requests is 'Signed requests that wrote something, so that none is taken twice; forgotten after an hour, when their signatures are too old to open anything';
comment on column sync.taken_requests.signature is 'The request''s signature: SHA-256, the same for the same request';
comment on column sync.taken_requests.taken_at is 'When it was taken, on the database''s clock';
