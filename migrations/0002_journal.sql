-- A journal of everything that is written, chained entry by entry, so that what is changed behind it is found out. Each
-- slice has a chain of its own, so that slices never wait for each other; a head of the project covers them all from
-- time to time, and leaves the machine. docs/verify.md has the recipe.
create table sync.chains (
  project_id text collate "C" not null,
  resource text collate "C" not null,
  owner text collate "C" not null,
  day date not null,
  seq integer not null default 0,
  head bytea not null,
  ledger jsonb,
  pages bytea,
  covered_seq integer not null default 0,
  records bigint not null default 0,
  constraint chains_pkey primary key (project_id, resource, owner, day)
);
create index chains_uncovered on sync.chains (project_id) where covered_seq < seq;
comment on table sync.chains is
  'Where the journal of each slice stands; what no slice shows has chains of its own, under the day 0001-01-01';
comment on column sync.chains.seq is 'The number of its newest entry';
comment on column sync.chains.head is 'The digest of that entry and of all before it';
comment on column sync.chains.ledger is
  'What the journal last said of the ledger''s row: what is said again is not written again';
comment on column sync.chains.pages is
  'SHA-256 of the newest entry of pages that brought nothing new: today''s last page is read again at every tick';
comment on column sync.chains.covered_seq is 'The newest entry that a head of the project covers';
comment on column sync.chains.records is
  'How many records its entries stored for the first time. Nothing is deleted: all chains of a list together have as '
  'many as it holds';

-- Changes are told in the order of their entries (docs/follow.md). An entry takes its number while its chain and its
-- records are locked, so that the numbers have the order in which each record changed.
create sequence sync.entry_ids;
-- From here on every number is greater than the one that was last.
select setval('sync.entry_ids', 1);

create table sync.journal (
  project_id text collate "C" not null,
  resource text collate "C" not null,
  owner text collate "C" not null,
  day date not null,
  seq integer not null,
  entered_at timestamptz not null,
  kind text not null,
  body text not null,
  ids text[],
  shas bytea,
  head bytea not null,
  entry_id bigint not null,
  told_to bigint not null,
  constraint journal_pkey primary key (project_id, resource, owner, day, seq)
);
comment on table sync.journal is
  'What was written, in its order: append-only. One entry for each commit that brought anything, and for each '
  'change of the ledger';
comment on column sync.journal.entered_at is 'The database''s clock';
comment on column sync.journal.kind is
  'pages, contents, ledger, reading, books, dropped, missing, returned, certified';
comment on column sync.journal.body is 'JSON: what was written besides contents';
comment on column sync.journal.ids is 'The records of which a content was stored, or that were marked missing';
comment on column sync.journal.shas is 'raw_sha256 of each content, 32 bytes each, one after the other in the order of ids';
comment on column sync.journal.head is 'SHA-256 over the head before it and this entry';
comment on column sync.journal.entry_id is
  'Its number among all entries; no part of the head';
comment on column sync.journal.told_to is
  'Every entry up to this number had been committed, or never will be, when this one was written';
create index journal_entry_id on sync.journal (project_id, entry_id);
-- Digests do not get smaller, and ids too little for what it takes.
alter table sync.journal alter column shas set storage external, alter column ids set storage external;

create table sync.heads (
  project_id text collate "C" not null,
  n integer not null,
  at timestamptz not null,
  body text not null,
  head bytea not null,
  constraint heads_pkey primary key (project_id, n)
);
comment on table sync.heads is 'The journal as a whole, from time to time: what is worth keeping elsewhere';
comment on column sync.heads.body is
  'A line for each chain that moved since the head before: resource, owner, day, entry, its head';
comment on column sync.heads.head is 'SHA-256 over the head before it and the body';

create table sync.certificates (
  project_id text collate "C" not null,
  resource text collate "C" not null,
  month date not null,
  certified_at timestamptz not null,
  certificate jsonb not null,
  digest bytea not null,
  leaves_sha256 bytea not null,
  issue integer not null default 1,
  constraint certificates_pkey primary key (project_id, resource, month, issue)
);
comment on column sync.certificates.issue is
  '1 for the first certificate of the month, 2 for the one that replaces it; the greatest counts';

-- Who writes an entry holds a shared lock that names the last number before its own, until the transaction ends. So what
-- is at or below the lowest of them, and was given out before this look at them, has ended.
create function sync.ended_up_to(given bigint) returns bigint language sql volatile as $$
  select least(given, min(given - behind))
    from pg_locks
         -- Of a lock there are 32 bits; one ahead was taken meanwhile, for greater numbers.
   cross join lateral (select (given - objid::bigint) & 4294967295 as behind) b
   where locktype = 'advisory' and classid = 731790 and objsubid = 2 and behind < 2147483648
     and database = (select oid from pg_database where datname = current_database())
$$;

-- The same now, for a reader who reads what was committed afterwards; null on a standby, which sees no such lock.
create function sync.told_now() returns bigint language plpgsql volatile as $$
declare
  given bigint;
begin
  if pg_is_in_recovery() then return null; end if;
  given := (select last_value from sync.entry_ids);
  return sync.ended_up_to(given);
end $$;

-- What had ended by the end of a project's run, for readers who see no lock.
create table sync.told (
  project_id text collate "C" not null,
  told_to bigint not null,
  constraint told_pkey primary key (project_id)
);
comment on table sync.told is 'Up to where the journal is told in SQL and by replicas; numbers are of all projects';
comment on column sync.told.told_to is
  'Every entry up to this number had been committed, or never will be, when this was written';

-- What a reader sees says that all up to this number is visible to it.
create function sync.told_to(project text) returns bigint language plpgsql stable as $$
begin
  return greatest((select j.told_to from sync.journal j where j.project_id = project order by j.entry_id desc limit 1),
                  (select max(t.told_to) from sync.told t));
end $$;

-- At the end of every run.
create function sync.note_told(project text) returns void language sql volatile as $$
  insert into sync.told as t (project_id, told_to)
  values (project, sync.told_now())
      on conflict (project_id) do update set told_to = excluded.told_to
   where t.told_to < excluded.told_to
$$;

-- After an import, a restore or a replica's promotion: what is held was numbered before what is to come. It reads as
-- whoever calls it: a cluster lets nobody else read what this transaction wrote.
create function sync.number_from_held() returns void language plpgsql set search_path = pg_catalog as $$
begin
  perform sync.number_after(
    greatest((select max(told_to) from sync.told),
             (select max(greatest(held.entry_id, held.told_to))
                from sync.projects p
               cross join lateral (select j.entry_id, j.told_to from sync.journal j
                                    where j.project_id = p.project_id order by j.entry_id desc limit 1) held)));
end $$;

-- Numbers to come are greater than this one; never the other way.
create function sync.number_after(held bigint) returns void language plpgsql security definer set search_path = pg_catalog as $$
begin
  if held > (select last_value from sync.entry_ids) then perform setval('sync.entry_ids', held); end if;
end $$;

-- Whoever may only read could use the numbers up.
revoke execute on function sync.number_after(bigint) from public;

-- Takes the number of an entry. The first of a transaction takes the lock, and says up to where all had ended by then.
create function sync.next_entry(out entry_id bigint, out told_to bigint) language plpgsql volatile as $$
declare
  given bigint;
begin
  told_to := nullif(current_setting('outlast.told_to', true), '')::bigint;
  if told_to is null then
    given := (select last_value from sync.entry_ids);
    perform pg_advisory_xact_lock_shared(731790, (given & 4294967295)::bit(32)::integer);
    told_to := sync.ended_up_to(given);
    perform set_config('outlast.told_to', told_to::text, true);
  end if;
  entry_id := nextval('sync.entry_ids');
end $$;

-- What an entry tells of records, one row a change, in the order in which they happened.
create function sync.changes_of(kind text, body text, ids text[], shas bytea)
  returns table (n integer, change text, id text, raw_sha256 bytea, observed_at timestamptz)
  language sql stable rows 100 as $$
  with entry as materialized (
    -- Fetched once, not once for each digest in it.
    select kind as kind, ids as ids, shas || ''::bytea as shas, body::jsonb as said
     where kind in ('pages', 'contents', 'returned', 'missing')
       and (ids is not null or body like '%"found"%')
  ), found as (
    select k::integer as n, f ->> 0 as id
      from entry cross join lateral jsonb_array_elements(said -> 'found') with ordinality f (f, k)
  ), runs as (
    select (run ->> 0)::timestamptz as at, (run ->> 1)::integer as count,
           (sum((run ->> 1)::integer) over (order by k) - (run ->> 1)::integer)::integer as after
      from entry cross join lateral jsonb_array_elements(said -> 'observed') with ordinality o (run, k)
  )
  select n, 'found', id, null::bytea, null::timestamptz from found
  union all
  select (select count(*) from found)::integer + (after + k)::integer,
         case when after + k <= (said ->> 'first')::integer then 'new'
              when after + k <= (said ->> 'first')::integer + coalesce((said ->> 'changed')::integer, 0) then 'changed'
              else 'late' end,
         u.id, substring(shas from 32 * (after + k)::integer - 31 for 32), at
    from entry cross join runs
   cross join lateral unnest(ids[after + 1 : after + count]) with ordinality u (id, k)
  union all
  select k::integer, 'missing', u.id, null, (said ->> 'at')::timestamptz
    from entry cross join lateral unnest(ids) with ordinality u (id, k)
   where kind = 'missing'
$$;

create function sync.utc(at timestamptz) returns text language sql stable as $$
  select to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
$$;

-- What of a ledger's row is journalled. While a day is open its times move with every look at it.
create function sync.ledger_of(s sync.slices) returns jsonb language sql stable as $$
  select jsonb_build_object(
    'state', s.state, 'proof', s.proof, 'whole_walk', s.whole_walk, 'walk_order', s.walk_order,
    'platform_total', s.platform_total, 'shown_total', s.shown_total, 'unresolved', s.unresolved,
    'deadline_at', sync.utc(s.deadline_at),
    'proved_at', case when s.state <> 'open' then sync.utc(s.proved_at) end,
    'walked_at', case when s.state <> 'open' then sync.utc(s.walked_at) end)
$$;

-- What the journal tells of a reading, and of the books: all of the row.
create function sync.reading_of(r sync.readings) returns jsonb language sql stable as $$
  select to_jsonb(r) - 'project_id' - 'resource' - 'owner' - 'day'
$$;

create function sync.books_of(b sync.books) returns jsonb language sql stable as $$
  select to_jsonb(b) - 'project_id' - 'resource' - 'owner'
$$;

create function sync.page_digest(p sync.pages) returns text language sql stable as $$
  select encode(sha256(convert_to(concat(p.page_key, E'\t', p.page_offset, E'\t', p.total, E'\n', array_to_string(p.ids, E'\n')), 'UTF8')
                       || coalesce((select string_agg(r, ''::bytea order by k) from unnest(p.rejects) with ordinality u(r, k)), '')), 'hex')
$$;

-- How many records an entry stored for the first time. A key inside a text would have its quotes escaped.
create function sync.first_stored(body text) returns integer language sql immutable as $$
  select coalesce(substring(body from '[,{]"first":(\d{1,9})')::integer, 0)
$$;

-- The one door into the journal. The chain's row is locked last of all rows, so that nobody waits in a circle for it.
create function sync.journal_append(project text, resource text, owner text, day date, kind text, body text,
                                                   ids text[], shas bytea) returns integer language plpgsql as $$
#variable_conflict use_variable
declare
  entered timestamptz := clock_timestamp();
  told bytea;
  same bytea := case when kind = 'pages' then sha256(convert_to(body, 'UTF8')) end;
  stored integer := sync.first_stored(body);
  next_seq integer;
  next_head bytea;
  numbered record;
begin
  -- Today's last page, read again: the same is not said twice.
  if kind = 'pages' and ids is null and exists (
       select from sync.chains c
        where c.project_id = project and c.resource = resource and c.owner = owner and c.day = day
          and c.pages = same) then
    return null;
  end if;
  told := convert_to(concat_ws(E'\t', '', sync.utc(entered), kind, body) || E'\n' || coalesce(array_to_string(ids, E'\n'), ''), 'UTF8')
          || coalesce(shas, '');
  loop
    update sync.chains c
       set seq = c.seq + 1, head = sha256(c.head || (c.seq + 1)::text::bytea || told),
           pages = coalesce(same, c.pages), records = c.records + stored
     where c.project_id = project and c.resource = resource and c.owner = owner and c.day = day
    returning c.seq, c.head into next_seq, next_head;
    exit when found;
    insert into sync.chains (project_id, resource, owner, day, head)
    values (project, resource, owner, day, sha256(convert_to(concat_ws(E'\t', project, resource, owner, to_char(day, 'YYYY-MM-DD')), 'UTF8')))
        on conflict do nothing;
  end loop;
  select * into numbered from sync.next_entry();
  insert into sync.journal (project_id, resource, owner, day, seq, entered_at, kind, body, ids, shas, head, entry_id, told_to)
  values (project, resource, owner, day, next_seq, entered, kind, body, ids, shas, next_head, numbered.entry_id, numbered.told_to);
  -- A record that the day's list shows for the first time: readings before it did not show all. The slice's row is locked
  -- by whoever commits its pages.
  if kind = 'pages' and (stored > 0 or body like '%"moved":%') then
    update sync.slices s set news_no = numbered.entry_id
     where s.project_id = project and s.resource = resource and s.owner = owner and s.day = day;
  end if;
  return next_seq;
end $$;

-- `was` is what the row said before this change, null for a new one. It is told where the journal knows nothing of it:
-- otherwise a row that was altered would be taken for a true one as soon as it is written again.
create function sync.journal_ledger(was jsonb, s sync.slices) returns void language plpgsql as $$
declare
  said jsonb := sync.ledger_of(s);
  before jsonb;
begin
  select c.ledger into before from sync.chains c
   where c.project_id = s.project_id and c.resource = s.resource and c.owner = s.owner and c.day = s.day;
  if before is not distinct from said then return; end if;
  perform sync.journal_append(s.project_id, s.resource, s.owner, s.day, 'ledger',
    (said || case when was is distinct from before then jsonb_build_object('was', was) else '{}' end)::text, null, null);
  update sync.chains c set ledger = said
   where c.project_id = s.project_id and c.resource = s.resource and c.owner = s.owner and c.day = s.day;
end $$;

create function sync.journal_dropped(s sync.slices) returns void language plpgsql as $$
begin
  perform sync.journal_append(s.project_id, s.resource, s.owner, s.day, 'dropped', '{}', null, null);
  update sync.chains c set ledger = null
   where c.project_id = s.project_id and c.resource = s.resource and c.owner = s.owner and c.day = s.day;
end $$;

-- A head over every chain that moved since the last one; null where none did. One at a time: the project's row is
-- locked.
create function sync.make_head(project text) returns integer language plpgsql as $$
declare
  before sync.heads;
  lines text;
begin
  perform sync.note_told(project);
  if not exists (select from sync.chains c where c.project_id = project and c.covered_seq < c.seq) then return null; end if;
  perform from sync.projects p where p.project_id = project for no key update;
  select * into before from sync.heads h where h.project_id = project order by h.n desc limit 1;
  with moved as (
    select c.resource, c.owner, c.day from sync.chains c
     where c.project_id = project and c.covered_seq < c.seq
     order by c.resource, c.owner, c.day
       for no key update
  ), covered as (
    update sync.chains c set covered_seq = c.seq
      from moved m
     where c.project_id = project and c.resource = m.resource and c.owner = m.owner and c.day = m.day
    returning c.resource, c.owner, c.day, c.seq, c.head
  )
  select string_agg(concat_ws(E'\t', resource, owner, to_char(day, 'YYYY-MM-DD'), seq, encode(head, 'hex')) || E'\n', '' order by resource, owner, day)
    into lines from covered;
  if lines is null then return null; end if;
  insert into sync.heads (project_id, n, at, body, head)
  values (project, coalesce(before.n, 0) + 1, clock_timestamp(), lines,
          sha256(coalesce(before.head, sha256(convert_to(project, 'UTF8'))) || convert_to(lines, 'UTF8')));
  return coalesce(before.n, 0) + 1;
end $$;
