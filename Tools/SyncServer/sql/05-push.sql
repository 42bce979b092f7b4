-- Mutations of one client: each is accepted, in conflict with what stands here, or rejected.

-- A mutation, taken apart once: each look into a JSON text reads it from its beginning.
create type larder.parts as (id json, collection json, key json, base json, document json, deleted json);

create function larder.text_of(value json) returns text language sql immutable as $$
  select case when json_typeof(value) = 'string' then value #>> '{}' end
$$;

-- What is wrong with a mutation by itself, or null.
create function larder.refusal(mutation larder.parts) returns text language plpgsql immutable as $$
declare
  largest_document constant integer := 4 << 20;
  deepest constant integer := 100;
  uuid_form constant text := '^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$';
  collection_bytes constant integer := octet_length(larder.text_of(mutation.collection));
  key_bytes constant integer := octet_length(larder.text_of(mutation.key));
begin
  if larder.text_of(mutation.id) !~ uuid_form is not false then
    return 'A mutation has an "id", which is a UUID.';
  elsif collection_bytes between 1 and 200 is not true or key_bytes between 1 and 1000 is not true then
    return 'A mutation names a "collection", of 200 bytes at most, and a "key", of 1000.';
  elsif coalesce(json_typeof(mutation.base), 'null') <> 'null'
    and larder.text_of(mutation.base) !~ uuid_form is not false then
    return 'The "base" is a revision that this server gave, or null.';
  elsif coalesce(mutation.deleted::text, 'null') not in ('true', 'false', 'null') then
    return '"deleted" is true or false.';
  elsif mutation.deleted::text = 'true' then
    if mutation.document is not null then return 'A deletion has no "document".'; end if;
  elsif coalesce(json_typeof(mutation.document), 'null') <> 'object' then
    return 'The "document" is an object, or "deleted" is true.';
  elsif octet_length(mutation.document::text) > largest_document then
    return 'The document has ' || octet_length(mutation.document::text) || ' bytes, and may have '
      || largest_document || '.';
  elsif larder.is_deeper(mutation.document, deepest) then
    return 'The document has more than ' || deepest || ' levels of objects and arrays.';
  end if;
  return null;
end
$$;

-- Whether a JSON text has more levels than some: each step takes the innermost one away.
create function larder.is_deeper(document json, levels integer) returns boolean
language plpgsql immutable as $$
declare
  brackets text := document::text;
begin
  if length(brackets) - length(replace(replace(brackets, '[', ''), '{', '')) <= levels then
    return false;
  end if;
  brackets := regexp_replace(brackets, '"(?:[^"\\]|\\.)*"', '', 'g');
  brackets := translate(regexp_replace(brackets, '[^][{}]', '', 'g'), '{}', '[]');
  for level in 1 .. levels loop
    brackets := replace(brackets, '[]', '');
    exit when brackets = '';
  end loop;
  return brackets <> '';
end
$$;

-- The revision of the document behind the mutation, or null where something else stands here. Each step is
-- one statement, so that of two writers on one revision the second waits for the first and then finds
-- another revision: READ COMMITTED looks at a row again that somebody changed meanwhile.
create function larder.compare_and_set(
  asked_scope text, asked_collection text, asked_key text, base uuid, new_document json
) returns uuid language plpgsql as $$
declare
  made uuid;
begin
  if base is null and new_document is not null then
    -- Twice, as a tombstone may be purged between the two statements.
    for attempt in 1 .. 2 loop
      insert into larder.document (collection, key, scope, document, revision, xid, seq, changed_at)
      values (asked_collection, asked_key, asked_scope, new_document,
        -- The trigger has these.
        gen_random_uuid(), pg_current_xact_id(), 0, now())
      on conflict (collection, key) do nothing
      returning revision into made;
      exit when made is not null;
      update larder.document d set document = new_document, scope = asked_scope
      where d.collection = asked_collection and d.key = asked_key and d.document is null
      returning d.revision into made;
      exit when made is not null or exists (
        select from larder.document d where d.collection = asked_collection and d.key = asked_key);
    end loop;
  else
    update larder.document d set document = new_document, scope = asked_scope
    where d.collection = asked_collection and d.key = asked_key and d.revision = base
      and (new_document is not null or d.document is not null)
    returning d.revision into made;
  end if;
  return made;
end
$$;

-- A document as a text that does not depend on the order of its members, which an encoder may change each
-- time; as it came where its numbers are too large for that.
create function larder.in_one_form(document json) returns text language plpgsql immutable as $$
begin
  return document::jsonb::text;
exception when data_exception then
  return document::text;
end
$$;

-- What is answered to a mutation that was accepted before.
create function larder.earlier_result(id json, earlier larder.mutation, content bytea) returns json
language sql immutable as $$
  select case
    when earlier.digest is distinct from content then
      json_build_object('id', id, 'status', 'rejected', 'code', 'reused',
        'reason', 'This id was used for another mutation.')
    else json_build_object('id', id, 'status', 'accepted', 'revision', earlier.revision)
  end
$$;

-- The result of one mutation. A deletion of what is deleted is accepted.
create function larder.apply(asked_scope text, mutation json) returns json language plpgsql as $$
declare
  parts larder.parts;
  reason text;
  mutation_id uuid;
  asked_collection text;
  asked_key text;
  base uuid;
  of_user constant text := larder.user_id();
  content bytea;
  earlier larder.mutation;
  current larder.document;
  made uuid;
begin
  if json_typeof(mutation) = 'object' then
    select * into parts from json_populate_record(null::larder.parts, mutation);
  end if;
  reason := larder.refusal(parts);
  if reason is not null then
    return json_build_object('id', parts.id, 'status', 'rejected', 'code', 'malformed', 'reason', reason);
  end if;
  mutation_id := larder.text_of(parts.id)::uuid;
  asked_collection := larder.text_of(parts.collection);
  asked_key := larder.text_of(parts.key);
  base := larder.text_of(parts.base)::uuid;
  content := sha256(convert_to(
    json_build_array(
      asked_scope, asked_collection, asked_key, base, larder.in_one_form(parts.document))::text,
    'UTF8'));

  select * into earlier from larder.mutation m where m.user_id = of_user and m.id = mutation_id;
  if found then return larder.earlier_result(parts.id, earlier, content); end if;
  made := larder.compare_and_set(asked_scope, asked_collection, asked_key, base, parts.document);
  if made is null then
    -- The same mutation may have come twice at once: the second has waited for the first, and finds its note now.
    select * into earlier from larder.mutation m where m.user_id = of_user and m.id = mutation_id;
    if found then return larder.earlier_result(parts.id, earlier, content); end if;
    select * into current from larder.document d
    where d.collection = asked_collection and d.key = asked_key;
    if parts.document is null and current.document is null then
      made := current.revision;
    else
      if current.key is null and base is null then
        return json_build_object('id', parts.id, 'status', 'rejected', 'code', 'taken',
          'reason', 'A document of a scope that this user may not read has this key.');
      end if;
      if exists (select from larder.my_scope m where m.scope = current.scope and not m.may_write) then
        return json_build_object('id', parts.id, 'status', 'rejected', 'code', 'forbidden',
          'reason', 'This user may not write into the scope of this document.');
      end if;
      return json_build_object('id', parts.id, 'status', 'conflict', 'current',
        case
          when current.document is not null then
            json_build_object('revision', current.revision, 'document', current.document)
          else json_build_object('revision', current.revision, 'deleted', true)
        end);
    end if;
  end if;
  insert into larder.mutation (user_id, id, digest, revision) values (of_user, mutation_id, content, made)
  on conflict do nothing;
  if not found then
    -- It came twice at once, and somebody has changed the document between the two. All is undone, and answered
    -- as the first time when it is sent again.
    raise exception using errcode = 'serialization_failure', message = 'This mutation is on its way twice.';
  end if;
  return json_build_object('id', parts.id, 'status', 'accepted', 'revision', made);
end
$$;

-- PostgreSQL's functions refuse a JSON text as a whole if it has the escape for U+0000, or for half of a
-- surrogate pair, anywhere. The mark stands in its place, so that one such mutation does not take the
-- others with it.
create function larder.marking_poison(request json, mark text) returns json
language plpgsql immutable as $$
declare
  text text := request::text;
  -- A backslash that is not escaped by another one.
  escape constant text := '(?<!\\)((?:\\\\)*)\\u';
begin
  if position('\u0000' in text) > 0 then
    text := regexp_replace(text, escape || '0000', '\1' || mark, 'g');
  end if;
  if text ~ '\\u[dD][89a-fA-F]' then
    text := regexp_replace(
      text, escape || '[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])', '\1' || mark, 'g');
    text := regexp_replace(
      text, '(?<!\\u[dD][89abAB][0-9a-fA-F]{2})' || escape || '[dD][c-fC-F][0-9a-fA-F]{2}',
      '\1' || mark, 'g');
  end if;
  return text::json;
end
$$;

create function public.larder_push(json) returns json language plpgsql as $$
declare
  most_mutations constant integer := 1000;
  -- Answers may hold whole documents; what is behind this many bytes of them is to be sent again.
  largest_answer constant bigint := 8 << 20;
  -- Made anew each time, so that no text can hold it.
  poison constant text := gen_random_uuid();
  request constant json := larder.marking_poison($1, poison);
  asked_scope constant text := larder.readable_scope(request);
  mutations constant json := request -> 'mutations';
  atomic constant boolean := coalesce(request ->> 'atomic', 'false') = 'true';
  results json[];
  result json;
  refused boolean := false;
  bytes bigint := 0;
  entry record;
begin
  if not exists (select from larder.my_scope m where m.scope = asked_scope and m.may_write) then
    perform larder.fail(403, 'forbidden', 'This user may not write into this scope.');
  end if;
  if coalesce(request ->> 'atomic', 'false') not in ('true', 'false') then
    perform larder.fail(400, 'malformed', '"atomic" is true or false.');
  end if;
  if coalesce(json_typeof(mutations), 'null') <> 'array' then
    perform larder.fail(400, 'malformed', 'The "mutations" are an array.');
  end if;
  if json_array_length(mutations) > most_mutations then
    perform larder.fail(413, 'too-large', 'A push has ' || most_mutations || ' mutations at most.');
  end if;
  begin
    results := array_fill(null::json, array[json_array_length(mutations)]);
    -- In the order of keys, so that two pushes never wait for each other in a circle.
    for entry in
      select m.value, m.ordinality as number
      from json_array_elements(mutations) with ordinality m
      order by m.value ->> 'collection' collate "C", m.value ->> 'key' collate "C", m.ordinality
    loop
      if bytes > largest_answer then
        result := json_build_object('id', entry.value -> 'id', 'status', 'retry');
      elsif position(poison in entry.value::text) > 0 then
        result := json_build_object('id', entry.value -> 'id', 'status', 'rejected', 'code', 'malformed',
          'reason', 'PostgreSQL keeps neither U+0000 nor half of a surrogate pair in a text.');
      else
        result := larder.apply(asked_scope, entry.value);
      end if;
      bytes := bytes + octet_length(result::text);
      refused := refused or result ->> 'status' <> 'accepted';
      results[entry.number] := result;
    end loop;
    if atomic and refused then raise exception using errcode = 'LA001'; end if;
  exception when sqlstate 'LA001' then
    for number in 1 .. cardinality(results) loop
      if results[number] ->> 'status' = 'accepted' then
        results[number] := json_build_object('id', results[number] -> 'id', 'status', 'retry');
      end if;
    end loop;
  end;
  return json_build_object('results', to_json(results));
end
$$;
