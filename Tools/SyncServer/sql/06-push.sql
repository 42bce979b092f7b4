-- Mutations of one client: each is accepted, in conflict with what stands here, or rejected. Those of a push are
-- written together: a few statements for each cost twice as much.
--
-- Plans are kept, also from a time when a table was small, and nobody may have counted its rows. `lateral` with a
-- limit has a table asked by its primary key for each step, and the settings of functions leave a planner no other
-- way; arrays are joined by hashes, and not each element with all others.

-- A document that was written.
create type larder.version as (collection text, key text, revision uuid);

-- A document that is to be written over the revision that stands there.
create type larder.place as (collection text, key text, revision uuid, document json);

-- Writes the documents of those steps behind whose base nothing else stands here. No two have one key. A row
-- that somebody else is writing is waited for, and then it has another revision: READ COMMITTED looks at it
-- again.
create function larder.compare_and_set(asked_scope text, steps larder.step[]) returns larder.version[]
language plpgsql
set enable_seqscan to off set enable_hashjoin to off set enable_mergejoin to off set enable_material to off
set enable_nestloop to on as $$
declare
  made larder.version[] := '{}';
  more larder.version[];
  places larder.place[];
  creation_count constant integer := (
    select count(*) from unnest(steps) s where s.base is null and s.document is not null);
begin
  -- Twice, as a tombstone may be purged between the two statements.
  for attempt in 1 .. 2 loop
    -- First what is new: who holds rows that others see waits for nobody's new ones, so that two pushes do not
    -- wait for each other. The second attempt could: PostgreSQL then ends one of them, and it is sent again.
    if creation_count > 0 then
      with added as (
        insert into larder.document as d (collection, key, scope, document, revision, xid, seq, changed_at)
        select s.collection, s.key, asked_scope, s.document,
          -- The trigger has these.
          gen_random_uuid(), pg_current_xact_id(), 0, now()
        from unnest(steps) s
        where s.base is null and s.document is not null
        order by s.collection collate "C", s.key collate "C"
        on conflict (collection, key) do nothing
        returning row(d.collection, d.key, d.revision)::larder.version as version
      )
      select array_agg(a.version) into more from added a;
      made := made || more;
    end if;
    exit when cardinality(made) = cardinality(steps);
    -- Then the rows that this push changes, in the order of the keys, which an update does not keep. What is in
    -- conflict is not locked. A tombstone has no bytes: asked for `document is null`, a planner may look through
    -- the index of all tombstones.
    places := array(
      select row(s.collection, s.key, d.revision, s.document)::larder.place
      from unnest(steps) s cross join lateral (
        select d.revision from larder.document d
        where d.collection = s.collection and d.key = s.key
          and case when s.base is null then d.bytes = 0
            else d.revision = s.base and (s.document is not null or d.bytes > 0) end
        limit 1 for update
      ) d
      where attempt = 1 and s.base is not null or s.base is null and s.document is not null);
    with found as (
      select s.document, d.place, d.revision
      from unnest(places) s
      cross join lateral (
        select d.ctid as place, d.revision from larder.document d
        where d.collection = s.collection and d.key = s.key and d.revision = s.revision
        limit 1
      ) d
    ),
    changed as (
      update larder.document d set document = f.document, scope = asked_scope
      from found f where d.ctid = f.place and d.revision = f.revision
      returning row(d.collection, d.key, d.revision)::larder.version as version
    )
    select array_agg(c.version) into more from changed c;
    made := made || more;
    exit when creation_count = 0 or not exists (
      select from unnest(steps) s cross join lateral (
        select count(*) as count from (
          select from larder.document d where d.collection = s.collection and d.key = s.key limit 1
        ) d
      ) d
      where s.base is null and s.document is not null and d.count = 0);
  end loop;
  return made;
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

-- What is answered to a mutation behind whose base something else stands here. A deletion of what is deleted is
-- accepted, and noted by who asked.
create function larder.answer_of_refused(step larder.step) returns json
language plpgsql set enable_seqscan to off as $$
declare
  earlier larder.mutation;
  current larder.document;
begin
  -- The same mutation may have come twice at once: the second has waited for the first, and finds its note now.
  select * into earlier from larder.mutation m where m.user_id = larder.user_id() and m.id = step.id;
  if found then return larder.earlier_result(step.sent_id, earlier, step.content); end if;
  select * into current from larder.document d
  where d.collection = step.collection and d.key = step.key;
  if step.document is null and current.document is null then
    perform larder.note(array[step], array[row(step.collection, step.key, current.revision)::larder.version]);
    return json_build_object('id', step.sent_id, 'status', 'accepted', 'revision', current.revision);
  end if;
  if current.key is null and step.base is null then
    return json_build_object('id', step.sent_id, 'status', 'rejected', 'code', 'taken',
      'reason', 'A document of a scope that this user may not read has this key.');
  end if;
  if exists (select from larder.my_scope m where m.scope = current.scope and not m.may_write) then
    return json_build_object('id', step.sent_id, 'status', 'rejected', 'code', 'forbidden',
      'reason', 'This user may not write into the scope of this document.');
  end if;
  return json_build_object('id', step.sent_id, 'status', 'conflict', 'current',
    case
      when current.document is not null then
        json_build_object('revision', current.revision, 'document', current.document)
      else json_build_object('revision', current.revision, 'deleted', true)
    end);
end
$$;

-- Notes that these steps were accepted.
create function larder.note(steps larder.step[], made larder.version[]) returns void
language plpgsql set enable_nestloop to off as $$
declare
  noted integer;
begin
  insert into larder.mutation (user_id, id, digest, revision)
  select larder.user_id(), s.id, s.content, v.revision
  from unnest(steps) s join unnest(made) v using (collection, key)
  on conflict do nothing;
  get diagnostics noted = row_count;
  if noted <> cardinality(made) then
    -- One came twice at once, and somebody has changed the document between the two. All is undone, and
    -- answered as the first time when it is sent again.
    raise exception using errcode = 'serialization_failure', message = 'A mutation is on its way twice.';
  end if;
end
$$;

create type larder.answer as (number bigint, result json);

-- The answers to those steps that were accepted before.
create function larder.earlier_answers(steps larder.step[]) returns larder.answer[]
language plpgsql
set enable_seqscan to off set enable_hashjoin to off set enable_mergejoin to off set enable_material to off
set enable_nestloop to on as $$
begin
  return array(
    select row(s.number, larder.earlier_result(s.sent_id, m, s.content))::larder.answer
    from unnest(steps) s cross join lateral (
      select * from larder.mutation m where m.user_id = larder.user_id() and m.id = s.id limit 1
    ) m);
end
$$;

-- The results of steps no two of which have one id or one key. What is behind `room` bytes of conflicts is to be
-- sent again.
create function larder.apply(asked_scope text, steps larder.step[], room bigint) returns larder.answer[]
language plpgsql set enable_nestloop to off as $$
declare
  answers larder.answer[] := larder.earlier_answers(steps);
  fresh constant larder.step[] := case
    when cardinality(answers) = 0 then steps
    else array(
      select s from unnest(steps) s
      where not exists (select from unnest(answers) a where a.number = s.number)
      order by s.collection collate "C", s.key collate "C")
  end;
  made constant larder.version[] := larder.compare_and_set(asked_scope, fresh);
  step larder.step;
  result json;
begin
  perform larder.note(fresh, made);
  answers := answers || array(
    select row(
      s.number, json_build_object('id', s.sent_id, 'status', 'accepted', 'revision', v.revision)
    )::larder.answer
    from unnest(fresh) s join unnest(made) v using (collection, key));
  if cardinality(answers) = cardinality(steps) then return answers; end if;
  for step in
    select s.* from unnest(fresh) s
    where not exists (
      select from unnest(made) v where v.collection = s.collection and v.key = s.key)
    order by s.collection collate "C", s.key collate "C"
  loop
    if room < 0 then
      result := json_build_object('id', step.sent_id, 'status', 'retry');
    else
      result := larder.answer_of_refused(step);
      room := room - octet_length(result::text);
    end if;
    answers := answers || row(step.number, result)::larder.answer;
  end loop;
  return answers;
end
$$;

-- Without the setting, PostgreSQL makes new plans for each push that has few mutations, for two milliseconds.
create function public.larder_push(json) returns json
language plpgsql set plan_cache_mode to force_generic_plan as $$
declare
  most_mutations constant integer := 1000;
  -- Answers may hold whole documents; what is behind this many bytes of them is to be sent again.
  room bigint := 8 << 20;
  -- Made anew each time, so that no text can hold it.
  poison constant text := gen_random_uuid();
  request constant json := larder.marking_poison($1, poison);
  asked_scope constant text := larder.readable_scope(request);
  mutations constant json := request -> 'mutations';
  atomic constant boolean := coalesce(request ->> 'atomic', 'false') = 'true';
  steps larder.step[];
  -- How many steps go together.
  stride integer;
  answers larder.answer[];
  more larder.answer[];
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
  steps := larder.steps(asked_scope, mutations, poison);
  answers := array(
    select row(s.number, json_build_object(
      'id', s.sent_id, 'status', 'rejected', 'code', 'malformed', 'reason', s.refusal))::larder.answer
    from unnest(steps) s where s.refusal is not null);
  -- The array is in order, and those that were refused are its end: they have no collection.
  steps := steps[: cardinality(steps) - cardinality(answers)];
  stride := case
    when (select count(distinct s.id) < count(*) or count(distinct (s.collection, s.key)) < count(*)
      from unnest(steps) s) then 1
    else cardinality(steps)
  end;
  begin
    for start in 1 .. cardinality(steps) by greatest(stride, 1) loop
      more := larder.apply(
        asked_scope, case when stride = 1 then array[steps[start]] else steps end, room);
      answers := answers || more;
      room := room - (
        select coalesce(sum(octet_length(a.result::text)), 0) from unnest(more) a);
    end loop;
    if atomic and exists (select from unnest(answers) a where a.result ->> 'status' <> 'accepted') then
      raise exception using errcode = 'LA001';
    end if;
  exception when sqlstate 'LA001' then
    answers := array(
      select row(a.number, case
        when a.result ->> 'status' <> 'accepted' then a.result
        else json_build_object('id', a.result -> 'id', 'status', 'retry')
      end)::larder.answer
      from unnest(answers) a);
  end;
  return json_build_object('results', coalesce(
    (select json_agg(a.result order by a.number) from unnest(answers) a), '[]'));
end
$$;
