-- A record that is too long to be taken in is a reject of which only the beginning is kept, with the digest of all of it.
alter table sync.rejects add column whole_length bigint;
--> statement-breakpoint
comment on column sync.rejects.whole_length is 'Of a record that was too long: bytes holds its beginning, this is the length of all of it, and sha256 its digest; null: bytes is all';
--> statement-breakpoint
create or replace view analytics.rejects as
select project_id, resource, owner, day, reason, seen_at, encode(sha256, 'hex') as sha256, bytes, whole_length
  from sync.rejects;
--> statement-breakpoint
comment on view analytics.rejects is 'Records without a usable id, or too long to be taken in, as the platform gave them: in no table and in no figure';
comment on column analytics.rejects.sha256 is 'SHA-256 of all of its bytes, lower-case hex';
comment on column analytics.rejects.bytes is 'The record, byte for byte; only its beginning where whole_length is given';
comment on column analytics.rejects.whole_length is 'How many bytes a record has that was too long to be taken in; null: bytes is all of it';
