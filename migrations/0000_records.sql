-- What is archived: the records as the platform gave them, what they said before, and the files behind links. What
-- columns of several tables have in common is said in 0006_shared_comments.sql.
create schema archive;
create schema analytics;
comment on schema archive is
  'The records as the platform gave them, and what they said before; nothing is ever deleted here';
comment on schema analytics is
  'Views for people and BI tools: typed, commented, stable; coverage beside every figure that depends on it';

create table archive.orders (
  project_id text collate "C" not null,
  operation_id text collate "C" not null,
  status integer,
  message text,
  account text,
  amount numeric,
  number numeric,
  created_at timestamptz,
  updated_at timestamptz,
  order_type integer,
  slice_day date not null,
  raw jsonb not null,
  raw_bytes bytea,
  raw_sha256 bytea not null,
  unread text[] not null default '{}',
  observed_at timestamptz not null,
  first_seen_at timestamptz not null,
  changed_at timestamptz not null,
  missing_since timestamptz,
  constraint orders_pkey primary key (project_id, operation_id)
);
-- The order of every list; unreadable times last within their day.
create index orders_listed on archive.orders (project_id, slice_day, coalesce(created_at, 'infinity'::timestamptz), operation_id);
create index orders_pending on archive.orders (project_id, slice_day) where status = 1;
create index orders_account on archive.orders (project_id, account, slice_day);
-- A month is found by an index that begins with it, and the figures are read from the index alone: 280,000 orders of a
-- month among ten million. That needs pages which VACUUM has seen, so that it comes by more often than after a fifth of
-- the table.
create index orders_figures on archive.orders (project_id, (date_trunc('month', slice_day::timestamp)::date), slice_day)
  include (status, order_type, amount, number);
alter table archive.orders set (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
-- What the platform stopped showing is rare, and asked for by itself.
create index orders_missing on archive.orders (project_id, slice_day) where missing_since is not null;
-- A record stands under a day that was over, or all but over, when it was first seen: so reads of a moment need not
-- look at later days. The few that do not, because their time of creation changed, are found here. A day of slack:
-- zones reach 14 hours.
create index orders_ahead on archive.orders (project_id, slice_day, coalesce(created_at, 'infinity'::timestamptz), operation_id)
  where slice_day > (first_seen_at at time zone 'UTC')::date + 1;
comment on table archive.orders is 'Orders: the newest content of each, as the platform gave it';
comment on column archive.orders.amount is
  'The price in fen (1/100 of the currency unit); null where the platform shows none or it could not be read';

create table archive.order_versions (
  project_id text collate "C" not null,
  operation_id text collate "C" not null,
  status integer,
  message text,
  account text,
  amount numeric,
  number numeric,
  created_at timestamptz,
  updated_at timestamptz,
  order_type integer,
  raw jsonb not null,
  raw_bytes bytea,
  raw_sha256 bytea not null,
  unread text[] not null default '{}',
  observed_at timestamptz not null,
  constraint order_versions_pkey primary key (project_id, operation_id, observed_at, raw_sha256)
);
-- Versions go by their own time: a day as it was known at a moment is found by it.
create index order_versions_day on archive.order_versions (project_id, ((created_at at time zone 'UTC')::date));
comment on table archive.order_versions is
  'What orders said before they changed, and what came late, typed like the orders; no record here is ever changed';

create table archive.nft_classes (
  project_id text collate "C" not null,
  id text collate "C" not null,
  name text,
  symbol text,
  nft_count bigint,
  uri text,
  owner text,
  tx_hash text,
  created_at timestamptz,
  slice_day date not null,
  raw jsonb not null,
  raw_bytes bytea,
  raw_sha256 bytea not null,
  unread text[] not null default '{}',
  observed_at timestamptz not null,
  first_seen_at timestamptz not null,
  changed_at timestamptz not null,
  missing_since timestamptz,
  constraint nft_classes_pkey primary key (project_id, id)
);
create index nft_classes_listed on archive.nft_classes (project_id, slice_day, coalesce(created_at, 'infinity'::timestamptz), id);
create index nft_classes_owner on archive.nft_classes (project_id, owner, slice_day);
create index nft_classes_figures on archive.nft_classes (project_id, (date_trunc('month', slice_day::timestamp)::date), slice_day)
  include (nft_count);
alter table archive.nft_classes set (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
create index nft_classes_missing on archive.nft_classes (project_id, slice_day) where missing_since is not null;
create index nft_classes_ahead on archive.nft_classes (project_id, slice_day, coalesce(created_at, 'infinity'::timestamptz), id)
  where slice_day > (first_seen_at at time zone 'UTC')::date + 1;
comment on table archive.nft_classes is 'NFT classes: the newest content of each, as the platform gave it';

create table archive.nft_class_versions (
  project_id text collate "C" not null,
  id text collate "C" not null,
  name text,
  symbol text,
  nft_count bigint,
  uri text,
  owner text,
  tx_hash text,
  created_at timestamptz,
  raw jsonb not null,
  raw_bytes bytea,
  raw_sha256 bytea not null,
  unread text[] not null default '{}',
  observed_at timestamptz not null,
  constraint nft_class_versions_pkey primary key (project_id, id, observed_at, raw_sha256)
);
create index nft_class_versions_day on archive.nft_class_versions (project_id, ((created_at at time zone 'UTC')::date));
comment on table archive.nft_class_versions is
  'What classes said before they changed, typed like the classes; no record here is ever changed';

create table archive.transactions (
  project_id text collate "C" not null,
  api_version text collate "C" not null,
  operation_id text collate "C" not null,
  module text,
  type text,
  operation integer,
  tx_hash text,
  status integer,
  message text,
  block_height bigint,
  confirmed_at timestamptz,
  nft jsonb,
  mt jsonb,
  record jsonb,
  raw jsonb not null,
  raw_bytes bytea,
  raw_sha256 bytea not null,
  unread text[] not null default '{}',
  observed_at timestamptz not null,
  first_seen_at timestamptz not null,
  changed_at timestamptz not null,
  missing_since timestamptz,
  constraint transactions_pkey primary key (project_id, api_version, operation_id),
  constraint transactions_api_version check (api_version in ('v1beta1', 'v3'))
);
comment on table archive.transactions is 'Transaction results: the newest content of each, as the platform gave it';
comment on column archive.transactions.module is 'The module, as v1beta1 names it and v3 numbers it';
comment on column archive.transactions.type is 'The kind of operation, as v1beta1 names it; null from v3';
comment on column archive.transactions.operation is
  'The operation''s number, as v3 gives it; published lists disagree on names; null from v1beta1';
comment on column archive.transactions.tx_hash is 'The transaction''s hash';
comment on column archive.transactions.status is
  'The platform''s number: 0 processing, 1 succeeded, 2 failed, 3 still waiting; others may come';
comment on column archive.transactions.block_height is 'The block it stands in';
comment on column archive.transactions.nft is 'What it did to an NFT; null where it did not';
comment on column archive.transactions.mt is 'What it did to multi-tokens; null where it did not';
comment on column archive.transactions.record is 'What it recorded; null where it did not';

create table archive.transaction_versions (
  project_id text collate "C" not null,
  api_version text collate "C" not null,
  operation_id text collate "C" not null,
  module text,
  type text,
  operation integer,
  tx_hash text,
  status integer,
  message text,
  block_height bigint,
  confirmed_at timestamptz,
  nft jsonb,
  mt jsonb,
  record jsonb,
  raw jsonb not null,
  raw_bytes bytea,
  raw_sha256 bytea not null,
  unread text[] not null default '{}',
  observed_at timestamptz not null,
  constraint transaction_versions_pkey primary key (project_id, api_version, operation_id, observed_at, raw_sha256)
);
comment on table archive.transaction_versions is
  'What transaction results said before they changed, typed like the results; no record here is ever changed';

create table archive.tokens (
  project_id text collate "C" not null,
  symbol text collate "C" not null,
  name text,
  min_unit text,
  scale integer,
  initial_supply numeric,
  max_supply numeric,
  mintable boolean,
  owner text,
  issue_fee_denom text,
  issue_fee_amount numeric,
  mint_fee_denom text,
  mint_fee_amount numeric,
  height bigint,
  raw jsonb not null,
  raw_bytes bytea,
  raw_sha256 bytea not null,
  unread text[] not null default '{}',
  observed_at timestamptz not null,
  first_seen_at timestamptz not null,
  changed_at timestamptz not null,
  missing_since timestamptz,
  constraint tokens_pkey primary key (project_id, symbol)
);
comment on table archive.tokens is 'Tokens: the newest content of each, as the platform gave it';
comment on column archive.tokens.min_unit is 'Denomination of its smallest unit';
comment on column archive.tokens.scale is 'One main unit is 10^scale smallest units';
comment on column archive.tokens.initial_supply is 'Supply at its issue, in main units';
comment on column archive.tokens.max_supply is 'Greatest supply, in main units';
comment on column archive.tokens.mintable is 'Whether more can be minted';
comment on column archive.tokens.issue_fee_denom is 'Denomination of the fee for its issue';
comment on column archive.tokens.issue_fee_amount is 'The fee for its issue, in its denomination';
comment on column archive.tokens.mint_fee_denom is 'Denomination of the fee for minting';
comment on column archive.tokens.mint_fee_amount is 'The fee for minting, in its denomination';
comment on column archive.tokens.height is
  'The block at which the content held now was first seen; null for an earlier one';

create table archive.token_versions (
  project_id text collate "C" not null,
  symbol text collate "C" not null,
  name text,
  min_unit text,
  scale integer,
  initial_supply numeric,
  max_supply numeric,
  mintable boolean,
  owner text,
  issue_fee_denom text,
  issue_fee_amount numeric,
  mint_fee_denom text,
  mint_fee_amount numeric,
  raw jsonb not null,
  raw_bytes bytea,
  raw_sha256 bytea not null,
  unread text[] not null default '{}',
  observed_at timestamptz not null,
  constraint token_versions_pkey primary key (project_id, symbol, observed_at, raw_sha256)
);
comment on table archive.token_versions is
  'What tokens said before they changed, typed like the tokens; no record here is ever changed';

create table archive.certificate_files (
  project_id text collate "C" not null,
  operation_id text collate "C" not null,
  url text not null,
  bytes bytea not null,
  sha256 bytea not null,
  media_type text,
  fetched_at timestamptz not null,
  constraint certificate_files_pkey primary key (project_id, operation_id)
);
comment on table archive.certificate_files is
  'The files behind certificate links, each kept once: the links do not live long';
comment on column archive.certificate_files.operation_id is 'The operation whose result gave the link';
comment on column archive.certificate_files.url is 'The link, as it stood in the result';
comment on column archive.certificate_files.bytes is 'The file';
comment on column archive.certificate_files.sha256 is 'SHA-256 of the file';
comment on column archive.certificate_files.media_type is 'As its server named it; null where it did not';
comment on column archive.certificate_files.fetched_at is 'When it was fetched, on the platform''s clock';
