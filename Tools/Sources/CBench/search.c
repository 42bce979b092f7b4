#include "include/search.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

#include "check.h"

struct bench_search {
  sqlite3 *connection;
  sqlite3_stmt *begin, *commit, *save, *best, *count;
};

static void require(const bench_search *database, int code, int expected) {
  if (code == expected) return;
  fprintf(stderr, "bench: sqlite: %s\n", sqlite3_errmsg(database->connection));
  exit(2);
}

static void execute(const bench_search *database, const char *text) {
  require(database, sqlite3_exec(database->connection, text, NULL, NULL, NULL), SQLITE_OK);
}

static sqlite3_stmt *prepare(const bench_search *database, const char *text) {
  sqlite3_stmt *statement;
  int code = sqlite3_prepare_v3(
    database->connection, text, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL);
  require(database, code, SQLITE_OK);
  return statement;
}

static void run(const bench_search *database, sqlite3_stmt *statement) {
  require(database, sqlite3_step(statement), SQLITE_DONE);
  sqlite3_reset(statement);
}

static int has_index(const bench_search *database) {
  sqlite3_stmt *statement =
    prepare(database, "SELECT count(*) FROM sqlite_schema WHERE name = 'search'");
  require(database, sqlite3_step(statement), SQLITE_ROW);
  int found = sqlite3_column_int(statement, 0);
  sqlite3_finalize(statement);
  return found;
}

static void prepare_searches(bench_search *database) {
  database->best = prepare(database,
    "SELECT texts.id, texts.title, texts.body FROM search JOIN texts ON texts.id = search.rowid "
    "WHERE search MATCH ?1 ORDER BY search.rank LIMIT ?2");
  database->count = prepare(database, "SELECT count(*) FROM search WHERE search MATCH ?1");
}

static void create_index(bench_search *database) {
  if (has_index(database)) return;
  execute(database,
    "CREATE VIRTUAL TABLE search USING fts5(title, body, content='texts', content_rowid='id', "
    "tokenize='unicode61 remove_diacritics 2');"
    "INSERT INTO search (search, rank) VALUES ('rank', 'bm25(3.0, 1.0)');"
    "CREATE TRIGGER inserted AFTER INSERT ON texts BEGIN "
    "INSERT INTO search (rowid, title, body) VALUES (new.id, new.title, new.body); END;"
    "CREATE TRIGGER deleted AFTER DELETE ON texts BEGIN "
    "INSERT INTO search (search, rowid, title, body) "
    "VALUES ('delete', old.id, old.title, old.body); END;"
    "CREATE TRIGGER updated AFTER UPDATE ON texts BEGIN "
    "INSERT INTO search (search, rowid, title, body) "
    "VALUES ('delete', old.id, old.title, old.body);"
    "INSERT INTO search (rowid, title, body) VALUES (new.id, new.title, new.body); END");
}

bench_search *bench_search_open(const char *folder, int is_searched) {
  bench_search *database = bench_allocate(1, sizeof *database);
  char path[4096];
  snprintf(path, sizeof path, "%s/texts.sqlite", folder);
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  require(database, sqlite3_open_v2(path, &database->connection, flags, NULL), SQLITE_OK);
  execute(database,
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -65536;"
    "PRAGMA mmap_size = 2147418112; PRAGMA temp_store = MEMORY;"
    "CREATE TABLE IF NOT EXISTS texts "
    "(id INTEGER PRIMARY KEY, title TEXT NOT NULL, body TEXT NOT NULL)");
  if (is_searched) create_index(database);
  database->begin = prepare(database, "BEGIN IMMEDIATE");
  database->commit = prepare(database, "COMMIT");
  database->save = prepare(database,
    "INSERT INTO texts (id, title, body) VALUES (?1, ?2, ?3) "
    "ON CONFLICT (id) DO UPDATE SET title = ?2, body = ?3");
  if (has_index(database)) prepare_searches(database);
  return database;
}

void bench_search_close(bench_search *database) {
  // By name: the index has statements of its own, which it finalizes itself.
  sqlite3_finalize(database->begin);
  sqlite3_finalize(database->commit);
  sqlite3_finalize(database->save);
  sqlite3_finalize(database->best);
  sqlite3_finalize(database->count);
  require(database, sqlite3_close(database->connection), SQLITE_OK);
  free(database);
}

void bench_search_begin(bench_search *database) { run(database, database->begin); }
void bench_search_commit(bench_search *database) { run(database, database->commit); }

static void bind_text(const bench_search *database, sqlite3_stmt *to, int place, const char *text) {
  require(database, sqlite3_bind_text(to, place, text, -1, SQLITE_STATIC), SQLITE_OK);
}

void bench_search_save(
  bench_search *database, int64_t id, const char *title, const char *body) {
  sqlite3_bind_int64(database->save, 1, id);
  bind_text(database, database->save, 2, title);
  bind_text(database, database->save, 3, body);
  run(database, database->save);
}

void bench_search_build(bench_search *database) {
  create_index(database);
  execute(database, "INSERT INTO search (search) VALUES ('rebuild')");
  if (!database->best) prepare_searches(database);
}

void bench_search_optimize(bench_search *database) {
  execute(database, "INSERT INTO search (search) VALUES ('optimize')");
  execute(database, "PRAGMA wal_checkpoint(TRUNCATE)");
}

int64_t bench_search_byte_count(bench_search *database) {
  execute(database, "PRAGMA wal_checkpoint(TRUNCATE)");
  sqlite3_stmt *statement = prepare(
    database, "SELECT sum(pgsize) FROM dbstat WHERE name GLOB 'search_*' AND aggregate = TRUE");
  require(database, sqlite3_step(statement), SQLITE_ROW);
  int64_t result = sqlite3_column_int64(statement, 0);
  sqlite3_finalize(statement);
  return result;
}

bench_search_result bench_search_best(bench_search *database, const char *match, int64_t limit) {
  bench_search_result result = {0, 0};
  bind_text(database, database->best, 1, match);
  sqlite3_bind_int64(database->best, 2, limit);
  int code;
  while ((code = sqlite3_step(database->best)) == SQLITE_ROW) {
    result.count++;
    for (int column = 1; column <= 2; column++) {
      // The text itself is asked for, so that it is read.
      if (!sqlite3_column_text(database->best, column)) require(database, SQLITE_NOMEM, SQLITE_OK);
      result.byte_count += sqlite3_column_bytes(database->best, column);
    }
  }
  require(database, code, SQLITE_DONE);
  sqlite3_reset(database->best);
  return result;
}

int64_t bench_search_count(bench_search *database, const char *match) {
  bind_text(database, database->count, 1, match);
  require(database, sqlite3_step(database->count), SQLITE_ROW);
  int64_t result = sqlite3_column_int64(database->count, 0);
  sqlite3_reset(database->count);
  return result;
}
