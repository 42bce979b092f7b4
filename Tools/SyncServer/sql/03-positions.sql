-- The order of changes, and cursors in it.

-- What counts the transactions: a dump that is restored, in another cluster or in the same one, has another
-- home, and its rows have numbers that mean nothing there. Every request asks for it, and a function of this kind
-- in SQL would be planned each time.
create function larder.home() returns text
language plpgsql stable security definer set search_path = pg_catalog as $$
begin
  return concat_ws('/',
    (select system_identifier from pg_control_system()),
    (select oid from pg_database where datname = current_database()),
    'larder.document'::regclass::oid);
end
$$;
insert into larder.generation (number, home) values (1, larder.home());

-- Cursors of another epoch mean nothing. A base backup that was restored to an earlier moment, and a replica
-- that was promoted, have another timeline; `larder.adopt` and `larder.forget_cursors` raise the number.
create function larder.epoch() returns text
language plpgsql stable security definer set search_path = pg_catalog as $$
declare
  timeline text := case
    when pg_is_in_recovery() then (select timeline_id::text from pg_control_checkpoint())
    -- The control file says it only at the next checkpoint.
    else left(pg_walfile_name(pg_current_wal_lsn()), 8)
  end;
  g larder.generation;
begin
  select * into g from larder.generation;
  if g.home <> larder.home() then
    perform larder.fail(503, 'unavailable',
      'This database was restored from a dump: its owner has to run "select larder.adopt()".');
  end if;
  return left(md5(concat_ws('/', g.home, ltrim(timeline, '0'), g.number)), 12);
end
$$;

-- Every transaction below this one has ended. Rows of such transactions are all visible, and no other will
-- come between them: `pg_snapshot_xmin` is the oldest transaction that was still running.
create function larder.settled() returns xid8 language sql stable as $$
  select pg_snapshot_xmin(pg_current_snapshot())
$$;

-- `since`: where the client began from nothing. Deletions before it need no telling.
create type larder.cursor as (xid xid8, seq bigint, since xid8);

create function larder.cursor_text(c larder.cursor) returns text language sql stable as $$
  select concat_ws('.', '1', larder.epoch(), c.xid, c.seq, c.since)
$$;

-- Where somebody who begins now begins: behind the last settled change of the scope. Not simply behind the
-- last settled transaction: one that wrote nothing durable may be counted a second time after a crash.
create function larder.beginning(asked_scope text) returns xid8 language sql stable as $$
  select (1 + greatest(
    (select d.xid from larder.document d
     where d.scope = asked_scope and d.xid < larder.settled() order by d.xid desc limit 1),
    (select d.xid from larder.departure d
     where d.scope = asked_scope and d.xid < larder.settled() order by d.xid desc limit 1),
    (select h.xid from larder.horizon h where h.scope = asked_scope),
    '0'::xid8)::text::numeric)::text::xid8
$$;

create function larder.parse_cursor(scope text, text text) returns larder.cursor
language plpgsql stable as $$
declare
  parts text[];
  c larder.cursor;
  h larder.horizon;
begin
  if text is null then
    return row('0'::xid8, 0, larder.beginning(scope))::larder.cursor;
  end if;
  parts := regexp_match(text, '^1\.([0-9a-f]{12})\.(\d{1,19})\.(\d{1,18})\.(\d{1,19})$');
  if parts is null then
    perform larder.fail(400, 'malformed', 'The cursor is none of this server.');
  end if;
  c := row(parts[2], parts[3], parts[4])::larder.cursor;
  if parts[1] <> larder.epoch() or greatest(c.xid, c.since) > pg_snapshot_xmax(pg_current_snapshot()) then
    perform larder.fail(410, 'cursor-expired', 'The database was restored or replaced.');
  end if;
  select * into h from larder.horizon where horizon.scope = parse_cursor.scope;
  if h.xid >= c.since and (h.xid, h.seq) > (c.xid, c.seq) then
    perform larder.fail(410, 'cursor-expired', 'Deletions behind this cursor are no longer known.');
  end if;
  return c;
end
$$;

-- An error with an HTTP status: PostgREST makes one of SQLSTATE PTxxx, and so does our server.
create function larder.fail(status integer, code text, message text) returns void
language plpgsql as $$
begin
  raise exception using errcode = 'PT' || status, message = code, detail = message;
end
$$;

-- Hints name a scope by its hash: whoever may connect may listen.
create function larder.notify_of(xid xid8, scope text) returns void language sql as $$
  select pg_notify('larder', xid || ' ' || md5(scope))
$$;

-- Stamps every change, whoever makes it, and remembers where a document went away from.
create function larder.stamp() returns trigger
language plpgsql security definer set search_path = pg_catalog as $$
begin
  if coalesce(current_setting('larder.adopting', true), '') <> 'on' then
    new.revision := gen_random_uuid();
  end if;
  new.xid := pg_current_xact_id();
  new.seq := nextval('larder.position');
  new.changed_at := now();
  if tg_op = 'UPDATE' and (old.collection, old.key) is distinct from (new.collection, new.key) then
    raise exception 'A document keeps its collection and key: insert another one and delete this.';
  end if;
  if tg_op = 'UPDATE' and old.scope <> new.scope then
    insert into larder.departure as d (scope, collection, key, revision, xid, seq, changed_at)
    values (old.scope, old.collection, old.key, new.revision, new.xid, new.seq, new.changed_at)
    on conflict (scope, collection, key) do update
    set revision = excluded.revision, xid = excluded.xid, seq = excluded.seq,
      changed_at = excluded.changed_at;
    delete from larder.departure d
    where d.scope = new.scope and d.collection = new.collection and d.key = new.key;
    perform larder.notify_of(new.xid, old.scope);
  end if;
  -- Once in a transaction: a push writes a thousand rows of one scope.
  if current_setting('larder.told', true) is distinct from new.scope then
    perform larder.notify_of(new.xid, new.scope);
    perform set_config('larder.told', new.scope, true);
  end if;
  return new;
end
$$;
create trigger stamp before insert or update on larder.document
  for each row execute function larder.stamp();

-- DELETE by hand leaves a tombstone, too. `larder.purge` alone removes rows.
create function larder.bury() returns trigger
language plpgsql security definer set search_path = pg_catalog as $$
begin
  if current_setting('larder.purging', true) = 'on' then return old; end if;
  if old.document is not null then
    update larder.document d set document = null
    where d.collection = old.collection and d.key = old.key;
  end if;
  return null;
end
$$;
create trigger bury before delete on larder.document
  for each row execute function larder.bury();
