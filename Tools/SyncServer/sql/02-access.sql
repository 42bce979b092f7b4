-- Who may read and write what. The view `larder.my_scope` is the rule: replace it with one of your own that
-- has these columns. Row-level security asks it in every query, also in those that are not ours.

-- The user of this request: set by the HTTP server, or the subject of the token that PostgREST has checked.
create function larder.user_id() returns text language sql stable as $$
  select coalesce(
    nullif(current_setting('larder.signed_in', true), ''),
    nullif(current_setting('request.jwt.claims', true), '')::json ->> 'sub')
$$;

-- A view, since it becomes part of each query that asks it: a function cost 200 microseconds a document
-- that is written. It has the rights of its owner, as it looks at memberships that a caller may not see.
create view larder.my_scope with (security_barrier) as
  select m.scope, m.may_write from larder.member m where m.user_id = larder.user_id();

create function larder.user_of_token(token text) returns text
language plpgsql stable security definer set search_path = pg_catalog as $$
begin
  return (
    select t.user_id from larder.token t
    where t.hash = sha256(convert_to(token, 'UTF8')) and (t.expires_at is null or t.expires_at > now()));
end
$$;

alter table larder.document enable row level security;
alter table larder.departure enable row level security;
alter table larder.horizon enable row level security;
alter table larder.mutation enable row level security;
alter table larder.member enable row level security;
alter table larder.token enable row level security;
alter table larder.generation enable row level security;

create policy read on larder.document for select
  using (exists (select from larder.my_scope m where m.scope = document.scope));
create policy add on larder.document for insert
  with check (exists (select from larder.my_scope m where m.scope = document.scope and m.may_write));
create policy change on larder.document for update
  using (exists (select from larder.my_scope m where m.scope = document.scope and m.may_write))
  with check (exists (select from larder.my_scope m where m.scope = document.scope and m.may_write));
create policy read on larder.departure for select
  using (exists (select from larder.my_scope m where m.scope = departure.scope));
create policy read on larder.horizon for select
  using (exists (select from larder.my_scope m where m.scope = horizon.scope));
create policy own on larder.mutation using (user_id = larder.user_id()) with check (user_id = larder.user_id());

-- What a client is. On Supabase: grant larder_client to authenticated.
do $$ begin
  if not exists (select from pg_roles where rolname = 'larder_client') then
    create role larder_client nologin;
  end if;
end $$;

revoke all on schema larder from public;
grant usage on schema larder to larder_client;
grant select, insert, update on larder.document to larder_client;
grant select on larder.my_scope, larder.departure, larder.horizon to larder_client;
grant select, insert, update, delete on larder.mutation to larder_client;
revoke execute on function larder.user_of_token from public;
