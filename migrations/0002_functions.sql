-- What is done in the database: who may write, statistics of new tables, and the journal of everything that is written,
-- one chain of entries a project, so that what is changed behind it is found out. An entry's number is the order of the
-- commits, the place in the chain and the position of the feed at once. docs/verify.md has the recipe.

-- What a transaction begins with that writes as whoever took a project under this epoch. The lock stays until it ends:
-- nobody takes the project meanwhile, and it can be renewed meanwhile.
create function sync.write_as_holder(project text, under bigint) returns void language plpgsql as $$
begin
  perform from sync.holders h where h.project_id = project and h.epoch = under for key share;
  if not found then
    raise exception 'Another process has taken the project %', project using errcode = 'OL001';
  end if;
end $$;

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
    'state', s.state, 'proof', s.proof, 'whole_walk', s.whole_walk,
    'platform_total', s.platform_total, 'shown_total', s.shown_total, 'unresolved', s.unresolved,
    'deadline_at', sync.utc(s.deadline_at),
    'proved_at', case when s.state <> 'open' then sync.utc(s.proved_at) end,
    'walked_at', case when s.state <> 'open' then sync.utc(s.walked_at) end)
$$;

-- How many records an entry stored for the first time. A key inside a text would have its quotes escaped.
create function sync.first_stored(body text) returns integer language sql immutable as $$
  select coalesce(substring(body from '[,{]"first":(\d{1,9})')::integer, 0)
$$;

-- The one door into the journal: returns the entry's number. The chain's row is locked last of all rows, so that nobody
-- waits in a circle for it.
create function sync.journal_append(project text, resource text, owner text, day date, kind text, body text,
                                                   ids text[], shas bytea) returns bigint language plpgsql as $$
#variable_conflict use_variable
declare
  entered timestamptz;
  next_no bigint;
  next_head bytea;
  stored integer := sync.first_stored(body);
begin
  -- Today's last page, read again: the same is not said twice.
  if kind = 'pages' and ids is null and body = (
       select j.body from sync.journal j
        where j.project_id = project and j.resource = resource and j.owner = owner and j.day = day and j.kind = 'pages'
        order by j.no desc limit 1) then
    return null;
  end if;
  loop
    select c.no + 1, c.head into next_no, next_head from sync.chains c where c.project_id = project for no key update;
    exit when found;
    insert into sync.chains (project_id, head) values (project, sha256(convert_to(project, 'UTF8'))) on conflict do nothing;
  end loop;
  entered := clock_timestamp();
  next_head := sha256(next_head || convert_to(
    concat_ws(E'\t', next_no, resource, owner, to_char(day, 'YYYY-MM-DD'), sync.utc(entered), kind, body) || E'\n'
      || coalesce(array_to_string(ids, E'\n'), ''), 'UTF8') || coalesce(shas, ''));
  update sync.chains c
     set no = next_no, head = next_head,
         orders = c.orders + case resource when 'orders' then stored else 0 end,
         nft_classes = c.nft_classes + case resource when 'nft_classes' then stored else 0 end
   where c.project_id = project;
  insert into sync.journal (project_id, no, resource, owner, day, entered_at, kind, body, ids, shas, head)
  values (project, next_no, resource, owner, day, entered, kind, body, ids, shas, next_head);
  -- A record or reject that the day's list shows for the first time: readings before it did not show all. The slice's row
  -- is locked by whoever commits its pages.
  if kind = 'pages' and (stored > 0 or body like '%"moved":%' or body like '%"rejects":%') then
    update sync.slices s set news_no = next_no
     where s.project_id = project and s.resource = resource and s.owner = owner and s.day = day;
  end if;
  return next_no;
end $$;

-- Enters what a row of the ledger says now, where it is something new. `was` is what it said before this change, null for
-- a new one. It is told where the journal knows nothing of it: otherwise a row that was altered would be taken for a true
-- one as soon as it is written again.
create function sync.journal_ledger(was jsonb, project text, resource text, owner text, day date)
  returns void language plpgsql as $$
#variable_conflict use_variable
declare
  said jsonb;
  before jsonb;
begin
  select sync.ledger_of(s) into said from sync.slices s
   where s.project_id = project and s.resource = resource and s.owner = owner and s.day = day;
  select case j.kind when 'ledger' then j.body::jsonb - 'was' end into before from sync.journal j
   where j.project_id = project and j.resource = resource and j.owner = owner and j.day = day
     and j.kind in ('ledger', 'dropped')
   order by j.no desc limit 1;
  if before is not distinct from said then return; end if;
  perform sync.journal_append(project, resource, owner, day, 'ledger',
    (said || case when was is distinct from before then jsonb_build_object('was', was) else '{}' end)::text, null, null);
end $$;

-- Adds a reading, or a row of the books: all of it but its key is entered. Its number is the entry's.
create function sync.add_reading(r sync.readings) returns void language plpgsql as $$
begin
  r.no := sync.journal_append(r.project_id, r.resource, r.owner, r.day, 'reading',
    (to_jsonb(r) - 'project_id' - 'resource' - 'owner' - 'day' - 'no')::text, null, null);
  insert into sync.readings select r.*;
end $$;

create function sync.add_books(b sync.books) returns void language plpgsql as $$
begin
  b.no := sync.journal_append(b.project_id, b.resource, b.owner, '0001-01-01', 'books',
    (to_jsonb(b) - 'project_id' - 'resource' - 'owner' - 'no')::text, null, null);
  insert into sync.books select b.*;
end $$;
