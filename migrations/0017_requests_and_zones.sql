-- Signed requests that wrote something: each is taken once, whichever replica it comes to. And of which clock is_complete speaks.
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
--> statement-breakpoint
comment on column analytics.coverage_by_day.is_complete is 'Whether the day has neither a hole nor a doubt: sealed or final, no reservation, no reject. It speaks of the day as the platform counts it (fact day_zone): where that is not UTC''s, the hours beyond it are the neighbouring day''s';
comment on column analytics.coverage_by_month.is_complete is 'Whether the month has neither a hole nor a doubt: every day of the calendar month is complete. The month has then all its hours, those of UTC and those of the platform''s own calendar (fact day_zone)';
comment on column analytics.orders_by_day.is_complete is 'Whether the day''s figures can be reported as they are: sealed or final, no reservation, no reject. It speaks of the day as the platform counts it (fact day_zone): where that is not UTC''s, the hours beyond it are the neighbouring day''s. Report no figure without it';
comment on column analytics.order_lead_times_by_day.is_complete is 'Whether the day''s figures can be reported as they are: sealed or final, no reservation, no reject. It speaks of the day as the platform counts it (fact day_zone): where that is not UTC''s, the hours beyond it are the neighbouring day''s. Report no figure without it';
comment on column analytics.nft_classes_by_day.is_complete is 'Whether the day''s figures can be reported as they are: sealed or final, no reservation, no reject. It speaks of the day as the platform counts it (fact day_zone): where that is not UTC''s, the hours beyond it are the neighbouring day''s. Report no figure without it';
comment on column analytics.orders_by_month.is_complete is 'Whether the month''s figures can be reported as they are: every day of the calendar month is complete. The month has then all its hours, those of UTC and those of the platform''s own calendar (fact day_zone). Report no figure without it';
comment on column analytics.spend_by_account.is_complete is 'Whether the month''s figures can be reported as they are: every day of the calendar month is complete. The month has then all its hours, those of UTC and those of the platform''s own calendar (fact day_zone). Report no figure without it';
comment on column analytics.order_lead_times_by_month.is_complete is 'Whether the month''s figures can be reported as they are: every day of the calendar month is complete. The month has then all its hours, those of UTC and those of the platform''s own calendar (fact day_zone). Report no figure without it';
comment on column analytics.nft_classes_by_month.is_complete is 'Whether the month''s figures can be reported as they are: every day of the calendar month is complete. The month has then all its hours, those of UTC and those of the platform''s own calendar (fact day_zone). Report no figure without it';
comment on column analytics.late_changes_by_month.is_complete is 'Whether the month''s figures can be reported as they are: every day of the calendar month is complete. The month has then all its hours, those of UTC and those of the platform''s own calendar (fact day_zone). Report no figure without it';
