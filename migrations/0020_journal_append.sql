-- The same entry with fewer statements: the head is made where the chain is moved on.
create or replace function "sync"."journal_append"(project text, resource text, owner text, day date, kind text, body text,
                                                   ids text[], shas bytea[]) returns integer language plpgsql as $$
#variable_conflict use_variable
declare
  entered timestamptz := clock_timestamp();
  told bytea;
  next_seq integer;
  next_head bytea;
begin
  -- Today's last page, read again: the same is not said twice.
  if kind = 'pages' and ids is null and exists (
       select from sync.chains c
        where c.project_id = project and c.resource = resource and c.owner = owner and c.day = day
          and c.pages = sha256(convert_to(body, 'UTF8'))) then
    return null;
  end if;
  told := convert_to(concat_ws(E'\t', '', sync.utc(entered), kind, body) || E'\n' || coalesce(array_to_string(ids, E'\n'), ''), 'UTF8')
          || coalesce((select string_agg(sha, ''::bytea) from unnest(shas) sha), '');
  loop
    update sync.chains c
       set seq = c.seq + 1, head = sha256(c.head || convert_to((c.seq + 1)::text, 'UTF8') || told),
           pages = case when kind = 'pages' then sha256(convert_to(body, 'UTF8')) else c.pages end
     where c.project_id = project and c.resource = resource and c.owner = owner and c.day = day
    returning c.seq, c.head into next_seq, next_head;
    exit when found;
    insert into sync.chains (project_id, resource, owner, day, head)
    values (project, resource, owner, day, sha256(convert_to(concat_ws(E'\t', project, resource, owner, to_char(day, 'YYYY-MM-DD')), 'UTF8')))
        on conflict do nothing;
  end loop;
  insert into sync.journal (project_id, resource, owner, day, seq, entered_at, kind, body, ids, shas, head)
  values (project, resource, owner, day, next_seq, entered, kind, body, ids, shas, next_head);
  return next_seq;
end $$;
