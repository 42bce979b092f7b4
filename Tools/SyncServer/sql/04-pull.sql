-- What has changed behind a cursor. Each function takes the body of a request of the protocol and gives the
-- body of its answer, so that PostgREST serves it as it is (POST /rpc/larder_pull).

-- The scope that a request names, or an error with a status.
create function larder.readable_scope(request json) returns text language plpgsql stable as $$
declare
  asked text := larder.text_member(request, 'scope');
begin
  if larder.user_id() is null then perform larder.fail(401, 'needs-sign-in', 'Who is asking?'); end if;
  if asked is null then perform larder.fail(400, 'malformed', 'A request names a scope.'); end if;
  if not exists (select from larder.my_scope m where m.scope = asked) then
    perform larder.fail(403, 'forbidden', 'This user may not read this scope.');
  end if;
  -- Throws where the rows are of another database.
  perform larder.epoch();
  return asked;
end
$$;

-- A text of an object, or null where it is missing, is no text, or cannot be one of PostgreSQL's (\u0000).
create function larder.text_member(object json, name text) returns text
language plpgsql immutable as $$
begin
  if json_typeof(object) = 'object' and json_typeof(object -> name) = 'string' then
    return object ->> name;
  end if;
  return null;
exception when untranslatable_character then
  return null;
end
$$;

create function larder.count_member(object json, name text, usual integer, largest integer) returns integer
language plpgsql immutable as $$
declare
  text text := object ->> name;
begin
  if text is null then return usual; end if;
  if text !~ '^\d{1,9}$' or text::integer = 0 then
    perform larder.fail(400, 'malformed', name || ' is a whole number above zero.');
  end if;
  return least(text::integer, largest);
end
$$;

-- STABLE: all that it reads is of one snapshot, that of the statement that calls it.
create function public.larder_pull(json) returns json language plpgsql stable as $$
declare
  -- A page ends before it has more than this, or behind its first document.
  largest_bytes constant bigint := 4 << 20;
  asked_scope constant text := larder.readable_scope($1);
  asked larder.cursor := larder.parse_cursor(asked_scope, larder.text_member($1, 'cursor'));
  maximum constant integer := larder.count_member($1, 'limit', 500, 5000);
  settled constant xid8 := larder.settled();
  changes json;
  found integer;
  taken integer;
  last larder.cursor := asked;
begin
  with candidates as (
    (select d.xid, d.seq, d.collection, d.key, d.revision, d.document, d.bytes as size, false as gone
     from larder.document d
     where d.scope = asked_scope and (d.xid, d.seq) > (asked.xid, asked.seq) and d.xid < settled
       and (d.document is not null or d.xid >= asked.since)
     order by d.xid, d.seq limit maximum + 1)
    union all
    (select d.xid, d.seq, d.collection, d.key, d.revision, null, 0, true
     from larder.departure d
     where d.scope = asked_scope and (d.xid, d.seq) > (asked.xid, asked.seq) and d.xid < settled
       and d.xid >= asked.since
     order by d.xid, d.seq limit maximum + 1)
  ),
  numbered as (
    select *, row_number() over places as number,
      sum(size + 200) over places as bytes
    from candidates window places as (order by xid, seq)
  ),
  page as (
    select * from numbered where number <= maximum and (bytes <= largest_bytes or number = 1)
  )
  select
    (select count(*) from numbered),
    count(*),
    coalesce(json_agg(
      case
        when gone then
          json_build_object('collection', collection, 'key', key, 'revision', revision, 'left', true)
        when document is null then
          json_build_object('collection', collection, 'key', key, 'revision', revision, 'deleted', true)
        else
          json_build_object('collection', collection, 'key', key, 'revision', revision, 'document', document)
      end order by number), '[]'),
    (select xid from page order by number desc limit 1),
    (select seq from page order by number desc limit 1)
  into found, taken, changes, last.xid, last.seq
  from page;
  if taken = 0 then
    last := asked;
  end if;
  return json_build_object(
    'changes', changes, 'cursor', larder.cursor_text(last), 'more', found > taken);
end
$$;

-- How many documents a scope has. `settled` is false while a change is on its way that a pull does not give
-- yet; the number can then not be held against what a client has.
create function public.larder_count(json) returns json language plpgsql stable as $$
declare
  asked_scope constant text := larder.readable_scope($1);
  settled constant xid8 := larder.settled();
begin
  return (
    select json_build_object(
      'count', count(*) filter (where d.document is not null),
      'settled', not exists (
          select from larder.document n where n.scope = asked_scope and n.xid >= settled)
        and not exists (
          select from larder.departure n where n.scope = asked_scope and n.xid >= settled))
    from larder.document d where d.scope = asked_scope);
end
$$;

-- Keys and revisions without the documents, in the order of collection and key, for who has to compare.
create function public.larder_manifest(json) returns json language plpgsql stable as $$
declare
  asked_scope constant text := larder.readable_scope($1);
  maximum constant integer := larder.count_member($1, 'limit', 5000, 20000);
  after_collection constant text := coalesce(larder.text_member($1 -> 'after', 'collection'), '');
  after_key constant text := coalesce(larder.text_member($1 -> 'after', 'key'), '');
begin
  return (
    select json_build_object(
      'entries', coalesce(json_agg(json_build_object(
        'collection', collection, 'key', key, 'revision', revision) order by collection, key)
        filter (where number <= maximum), '[]'),
      'more', count(*) > maximum)
    from (
      select d.collection, d.key, d.revision, row_number() over (order by d.collection, d.key) as number
      from larder.document d
      where d.scope = asked_scope and d.document is not null
        and (d.collection, d.key) > (after_collection, after_key)
      order by d.collection, d.key limit maximum + 1
    ) as entries);
end
$$;

create function public.larder_scopes() returns json language sql stable as $$
  select json_build_object('scopes', coalesce(
    json_agg(json_build_object('scope', m.scope, 'mayWrite', m.may_write) order by m.scope), '[]'))
  from larder.my_scope m
$$;
