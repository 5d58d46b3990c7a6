-- The ledger, and what is kept beside it: what was seen on the way, what is due, what is believed. What a column
-- without a comment means stands in src/store/schema.ts. The migrations' own list lies in this schema, so that it is
-- there already.
create table sync.projects (
  project_id text collate "C" not null,
  base_url text not null,
  key_salt bytea not null,
  key_fingerprint bytea not null,
  added_at timestamptz not null,
  first_day date not null,
  parked_at timestamptz,
  parked_reason text,
  ask_again_at timestamptz,
  constraint projects_pkey primary key (project_id)
);

-- One process at a time writes a project; the database's clock. It is renewed often, and read by key.
create table sync.holders (
  project_id text collate "C" not null,
  holder text,
  process text,
  epoch bigint not null default 0,
  held_since timestamptz,
  held_until timestamptz,
  constraint holders_pkey primary key (project_id)
) with (fillfactor = 50);

-- What a person asks for of a project while another process holds it: that one runs it, and says what came of it.
create table sync.asks (
  project_id text collate "C" not null,
  ask_id uuid not null,
  asked_at timestamptz not null default now(),
  options jsonb not null,
  progress jsonb,
  ending jsonb,
  constraint asks_pkey primary key (project_id, ask_id)
);

-- What a transaction begins with that writes as whoever took a project under this epoch. The lock stays until it ends:
-- nobody takes the project meanwhile, and it can be renewed meanwhile.
create function sync.write_as_holder(project text, under bigint) returns void language plpgsql as $$
begin
  perform from sync.holders h where h.project_id = project and h.epoch = under for key share;
  if not found then
    raise exception 'Another process has taken the project %', project using errcode = 'OL001';
  end if;
end $$;

create table sync.slices (
  project_id text collate "C" not null,
  resource text collate "C" not null,
  owner text collate "C" not null default '',
  day date not null,
  state text not null default 'open',
  proof text not null default 'none',
  why text default 'not read',
  proved_at timestamptz,
  due_at timestamptz,
  deadline_at timestamptz not null,
  checkpoint jsonb,
  walk integer not null default 0,
  whole_walk integer not null default 0,
  walked_at timestamptz,
  observed_at timestamptz,
  platform_total bigint,
  shown_total bigint,
  unresolved integer not null default 0,
  attempts integer not null default 0,
  last_error text,
  walk_order text not null default 'asc',
  news_no bigint not null default 0,
  constraint slices_pkey primary key (project_id, resource, owner, day),
  constraint slices_proof check (proof in ('none', 'readings', 'books')),
  constraint slices_resource check (resource in ('orders', 'nft_classes')),
  constraint slices_state check (state in ('open', 'walked', 'sealed', 'final', 'lost')),
  constraint slices_walk_order check (walk_order in ('asc', 'desc'))
);
create index slices_due on sync.slices (project_id, due_at);

create table sync.pages (
  project_id text collate "C" not null,
  resource text collate "C" not null,
  owner text collate "C" not null,
  day date not null,
  walk integer not null,
  page integer not null,
  page_key text,
  page_offset bigint,
  ids text[] not null,
  rejects bytea[] not null,
  total bigint,
  asked_at timestamptz not null,
  constraint pages_pkey primary key (project_id, resource, owner, day, walk, page)
);
-- A page's entry soon goes: to compress its ids takes longer than to write them.
alter table sync.pages alter column ids set storage external;
alter table sync.pages set (toast_tuple_target = 8160);

create table sync.readings (
  project_id text collate "C" not null,
  resource text collate "C" not null,
  owner text collate "C" not null,
  day date not null,
  no bigint not null,
  from_end text not null,
  days_asked smallint not null,
  began_at timestamptz not null,
  began_machine_at timestamptz not null,
  began_earliest_at timestamptz not null,
  ended_at timestamptz not null,
  ended_machine_at timestamptz not null,
  ended_latest_at timestamptz not null,
  shown integer not null,
  by_status integer[],
  lacks integer not null,
  claims integer not null,
  pending integer not null,
  digest bytea not null,
  constraint readings_pkey primary key (project_id, resource, owner, day, no),
  constraint readings_from_end check (from_end in ('asc', 'desc'))
);
comment on table sync.readings is
  'What each whole reading of a past day showed: evidence, only ever added to. Two of them prove a day';

create table sync.books (
  project_id text collate "C" not null,
  resource text collate "C" not null,
  owner text collate "C" not null,
  no bigint not null,
  day_from date not null,
  day_to date not null,
  asked_at timestamptz not null,
  total bigint,
  by_status bigint[],
  shown bigint,
  shown_by_status bigint[],
  is_more boolean not null,
  is_equal boolean not null,
  asks text not null,
  in_words boolean not null,
  constraint books_pkey primary key (project_id, resource, owner, no),
  constraint books_asks check (asks in ('list', 'each status'))
);
comment on table sync.books is
  'What the platform counted of a span of days, beside what the newest readings of those days showed: only ever '
  'added to';

create table sync.rejects (
  project_id text collate "C" not null,
  resource text collate "C" not null,
  sha256 bytea not null,
  bytes bytea not null,
  reason text not null,
  owner text collate "C" not null,
  day date not null,
  seen_at timestamptz not null,
  whole_length bigint,
  constraint rejects_pkey primary key (project_id, resource, sha256)
);
comment on column sync.rejects.whole_length is
  'Of a record that was too long: bytes holds its beginning, this is the length of all of it, and sha256 its '
  'digest; null: bytes is all';

create table sync.facts (
  project_id text collate "C" not null,
  fact text collate "C" not null,
  value text not null,
  confirmed_at timestamptz not null,
  changed_at timestamptz not null,
  previous text,
  constraint facts_pkey primary key (project_id, fact)
);

create table sync.rate (
  project_id text collate "C" not null,
  per_second numeric not null,
  not_before timestamptz,
  constraint rate_pkey primary key (project_id)
);

create table sync.runs (
  project_id text collate "C" not null,
  run_id text collate "C" not null,
  started_at timestamptz not null,
  ended_at timestamptz,
  outcome text,
  requests integer not null default 0,
  slices_done integer not null default 0,
  records_shown bigint not null default 0,
  records_new bigint not null default 0,
  records_changed bigint not null default 0,
  records_rejected bigint not null default 0,
  last_error text,
  constraint runs_pkey primary key (project_id, run_id)
);
create index runs_started on sync.runs (project_id, started_at);

create table sync.rebuilds (
  project_id text collate "C" not null,
  resource text collate "C" not null,
  started_at timestamptz not null,
  ended_at timestamptz,
  done_up_to text collate "C",
  rows_read bigint not null default 0,
  rows_changed bigint not null default 0,
  changes jsonb not null default '{}',
  constraint rebuilds_pkey primary key (project_id, resource)
);

create table sync.alerts (
  project_id text collate "C" not null,
  kind text collate "C" not null,
  subject text collate "C" not null,
  text text not null,
  opened_at timestamptz not null,
  told_at timestamptz,
  resolved_at timestamptz,
  telling_until timestamptz,
  attempts integer not null default 0,
  constraint alerts_pkey primary key (project_id, kind, subject)
);

create table sync.watched_operations (
  project_id text collate "C" not null,
  operation_id text collate "C" not null,
  api_version text,
  created_on date,
  added_at timestamptz not null default now(),
  state text not null default 'open',
  due_at timestamptz default now(),
  deadline_at timestamptz,
  attempts integer not null default 0,
  last_error text,
  found_by text[] not null default '{}',
  file_sha256 bytea,
  constraint watched_operations_pkey primary key (project_id, operation_id),
  constraint watched_operations_api_version check (api_version in ('v1beta1', 'v3')),
  constraint watched_operations_state check (state in ('open', 'done', 'lost'))
);
create index watched_operations_due on sync.watched_operations (project_id, due_at);
create index watched_operations_open on sync.watched_operations (project_id, deadline_at) where state = 'open';
create index watched_operations_new on sync.watched_operations (project_id) where deadline_at is null;
create index watched_operations_lost on sync.watched_operations (project_id) where state = 'lost';

create table sync.token_snapshots (
  project_id text collate "C" not null,
  due_at timestamptz not null,
  taken_at timestamptz,
  height bigint,
  shown integer,
  attempts integer not null default 0,
  last_error text,
  constraint token_snapshots_pkey primary key (project_id)
);

create table sync.taken_requests (
  signature bytea not null,
  taken_at timestamptz not null default now(),
  constraint taken_requests_pkey primary key (signature)
);
create index taken_requests_age on sync.taken_requests (taken_at);
comment on table sync.taken_requests is
  'Signed requests that wrote something, so that none is taken twice; forgotten after an hour, when their '
  'signatures are too old to open anything';
comment on column sync.taken_requests.signature is 'The request''s signature: SHA-256, the same for the same request';
comment on column sync.taken_requests.taken_at is 'When it was taken, on the database''s clock';

-- Tables that grew large before autovacuum came by have no statistics, and a search by key then reads a whole index:
-- 60 ms for 400 of 96,000 orders instead of 3. The writer does not own them.
create function sync.analyze_new() returns void language plpgsql security definer set search_path = pg_catalog as $$
declare
  new_table regclass;
begin
  for new_table in
    select oid from pg_class
     where relnamespace in ('archive'::regnamespace, 'sync'::regnamespace) and relkind = 'r'
       and reltuples < 0 and pg_relation_size(oid) > 1000000
  loop
    execute format('analyze (skip_locked) %s', new_table);
  end loop;
end $$;
