-- What the server keeps. Run as the owner of the schema; `larder_server.schema` runs all files in order.
--
-- A row's place in the order of changes is (xid, seq): the transaction that wrote it and a number within.
-- Transactions become visible in another order than they begin, so a reader takes only rows whose
-- transaction is older than every one that still runs (03-positions.sql). The table's triggers stamp every
-- change, whoever makes it: an UPDATE by hand reaches clients as one by `larder_push` does.

create schema if not exists larder;

create sequence larder.position;

create table larder.document (
  collection text not null,
  key text not null,
  scope text not null,
  -- Kept as the text that came, so that numbers come back digit by digit. NULL: deleted (a tombstone).
  document json,
  -- So that a page can end at its bytes without reading documents behind it.
  bytes integer not null generated always as (coalesce(octet_length(document::text), 0)) stored,
  -- Compared for equality alone. Random, so that a database restored from a backup never gives the same
  -- revision to two versions.
  revision uuid not null,
  xid xid8 not null,
  seq bigint not null,
  changed_at timestamptz not null,
  primary key (collection, key)
);
create index document_order on larder.document (scope, xid, seq);
create index document_tombstones on larder.document (changed_at) where document is null;

-- A document that left a scope for another one. Who reads only the first has to hear of it.
create table larder.departure (
  scope text not null,
  collection text not null,
  key text not null,
  revision uuid not null,
  xid xid8 not null,
  seq bigint not null,
  changed_at timestamptz not null,
  primary key (scope, collection, key)
);
create index departure_order on larder.departure (scope, xid, seq);

-- The last tombstone that `larder.purge` removed in each scope. A cursor behind it has missed deletions.
create table larder.horizon (
  scope text primary key,
  xid xid8 not null,
  seq bigint not null
);

-- Accepted mutations, so that one whose answer was lost is answered as the first time.
create table larder.mutation (
  user_id text not null,
  id uuid not null,
  digest bytea not null,
  revision uuid,
  accepted_at timestamptz not null default now(),
  primary key (user_id, id)
);
create index mutation_age on larder.mutation (accepted_at);

create table larder.member (
  scope text not null,
  user_id text not null,
  may_write boolean not null default true,
  primary key (user_id, scope)
);

-- Tokens of the HTTP server, as hashes. PostgREST and Supabase have tokens of their own.
create table larder.token (
  hash bytea primary key,
  user_id text not null,
  expires_at timestamptz
);

-- Whose transactions are counted in the rows, and how often everybody had to begin anew.
create table larder.generation (
  only_row boolean primary key default true check (only_row),
  number integer not null,
  -- Of the cluster and the table at the time when the rows were stamped; a dump that was restored has others.
  home text not null
);
