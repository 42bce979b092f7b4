-- What a client sends, taken apart and looked at without the tables.

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

-- A document as a text that does not depend on the order of its members, which an encoder may change each
-- time; as it came where its numbers are too large for that.
create function larder.in_one_form(document json) returns text language plpgsql immutable as $$
begin
  return document::jsonb::text;
exception when data_exception then
  return document::text;
end
$$;

-- A mutation that was looked at by itself. Without a refusal it has an id, a collection and a key.
create type larder.step as (
  number bigint, sent_id json, id uuid, collection text, key text, base uuid, document json,
  -- A digest of all of it.
  content bytea,
  refusal text
);

-- The mutations of a push, in the order of their keys: two pushes never wait for each other in a circle.
create function larder.steps(asked_scope text, mutations json, poison text) returns larder.step[]
language plpgsql immutable as $$
begin
  return (
    with sent as materialized (
      select m.ordinality as number, parts,
        case
          when position(poison in m.value::text) > 0 then
            'PostgreSQL keeps neither U+0000 nor half of a surrogate pair in a text.'
          else larder.refusal(parts)
        end as refusal
      from json_array_elements(mutations) with ordinality m,
        json_populate_record(
          null::larder.parts, case when json_typeof(m.value) = 'object' then m.value else '{}' end) parts
    ),
    read as (
      select s.number, (s.parts).id as sent_id, larder.text_of((s.parts).id)::uuid as id,
        larder.text_of((s.parts).collection) as collection, larder.text_of((s.parts).key) as key,
        larder.text_of((s.parts).base)::uuid as base, (s.parts).document
      from sent s where s.refusal is null
    ),
    step as (
      select row(
          r.number, r.sent_id, r.id, r.collection, r.key, r.base, r.document,
          sha256(convert_to(
            json_build_array(
              asked_scope, r.collection, r.key, r.base, larder.in_one_form(r.document))::text,
            'UTF8')),
          null)::larder.step as step, r.collection, r.key, r.number
      from read r
      union all
      select row(s.number, (s.parts).id, null, null, null, null, null, null, s.refusal)::larder.step,
        null, null, s.number
      from sent s where s.refusal is not null
    )
    select coalesce(
      array_agg(s.step order by s.collection collate "C", s.key collate "C", s.number), '{}')
    from step s);
end
$$;
