-- What an operator runs, and who may call what. `larder.purge` belongs into a daily job (cron, pg_cron).

-- Removes tombstones, departures and notes of mutations that are older than `age`, and gives their number.
-- A client whose cursor is older has to begin from nothing once: it keeps its unsent edits.
create function larder.purge(age interval default '90 days') returns bigint
language plpgsql as $$
declare
  removed bigint;
begin
  perform set_config('larder.purging', 'on', true);
  with buried as (
    delete from larder.document d
    where d.document is null and d.changed_at < now() - age and d.xid < larder.settled()
    returning d.scope, d.xid, d.seq
  ),
  departed as (
    delete from larder.departure d
    where d.changed_at < now() - age and d.xid < larder.settled()
    returning d.scope, d.xid, d.seq
  ),
  gone as (select * from buried union all select * from departed),
  last_gone as (
    select distinct on (scope) scope, xid, seq from gone order by scope, xid desc, seq desc
  ),
  noted as (
    insert into larder.horizon as h (scope, xid, seq) select scope, xid, seq from last_gone
    on conflict (scope) do update set xid = excluded.xid, seq = excluded.seq
    where (excluded.xid, excluded.seq) > (h.xid, h.seq)
  ),
  forgotten as (delete from larder.mutation m where m.accepted_at < now() - age returning 1)
  select (select count(*) from gone) + (select count(*) from forgotten) into removed;
  perform set_config('larder.purging', 'off', true);
  return removed;
end
$$;

-- Has every client begin from nothing once. For what no cursor can show: rows that were changed with
-- triggers off, TRUNCATE, or a disk that was set back to an earlier moment by a snapshot of its storage.
create function larder.forget_cursors() returns void language sql as $$
  update larder.generation set number = number + 1
$$;

-- Makes a database that was restored from a dump ready: its rows are stamped anew, in their order, and keep
-- their revisions. Every client begins from nothing once. Costs a write of every document.
create function larder.adopt() returns void language plpgsql as $$
declare
  row record;
begin
  if (select home from larder.generation) = larder.home() then
    raise exception 'This database was not restored from a dump: there is nothing to do.';
  end if;
  perform set_config('larder.adopting', 'on', true);
  for row in select collection, key from larder.document d order by d.xid, d.seq loop
    update larder.document d set scope = d.scope where d.collection = row.collection and d.key = row.key;
  end loop;
  perform set_config('larder.adopting', 'off', true);
  -- Nobody has a cursor that they could tell something to.
  delete from larder.departure;
  delete from larder.horizon;
  update larder.generation set number = number + 1, home = larder.home();
end
$$;

revoke execute on all functions in schema larder from public;
grant execute on function
  larder.user_id, larder.readable_scope, larder.epoch,
  larder.settled, larder.cursor_text, larder.parse_cursor, larder.fail, larder.text_member,
  larder.count_member, larder.text_of, larder.refusal, larder.is_deeper, larder.in_one_form,
  larder.marking_poison, larder.beginning, larder.steps, larder.compare_and_set, larder.note,
  larder.earlier_result, larder.earlier_answers, larder.answer_of_refused, larder.apply
  to larder_client;
revoke execute on function
  public.larder_pull, public.larder_count, public.larder_manifest, public.larder_push, public.larder_scopes
  from public;
grant execute on function
  public.larder_pull, public.larder_count, public.larder_manifest, public.larder_push, public.larder_scopes
  to larder_client;

-- The HTTP server signs in as this role; it needs a password or another way of its own.
do $$ begin
  if not exists (select from pg_roles where rolname = 'larder_http') then
    create role larder_http login;
  end if;
end $$;
grant larder_client to larder_http;
grant execute on function larder.user_of_token to larder_http;
