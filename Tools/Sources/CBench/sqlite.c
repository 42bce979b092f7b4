// Opening and checking a database. The table stands in the order of its key (WITHOUT ROWID), which
// saves a second look-up in every get and scan.
#include "sqlite_engine.h"

#include <stdio.h>
#include <stdlib.h>

#include "check.h"

void sqlite_require(const bench_sqlite *database, int code, int expected) {
  if (code == expected) return;
  fprintf(stderr, "bench: sqlite: %s\n", sqlite3_errmsg(database->connection));
  exit(2);
}

void sqlite_run(const bench_sqlite *database, sqlite3_stmt *statement) {
  sqlite_require(database, sqlite3_step(statement), SQLITE_DONE);
  sqlite3_reset(statement);
}

static void execute(const bench_sqlite *database, const char *text) {
  sqlite_require(database, sqlite3_exec(database->connection, text, NULL, NULL, NULL), SQLITE_OK);
}

static sqlite3_stmt *prepare(const bench_sqlite *database, const char *text) {
  sqlite3_stmt *statement;
  int code = sqlite3_prepare_v3(
    database->connection, text, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL);
  sqlite_require(database, code, SQLITE_OK);
  return statement;
}

#define COLUMNS "id, name, phone, address, city, label, \"order\", balance, updated_at, active, " \
  "latitude, longitude, tags"

static void prepare_all(bench_sqlite *database) {
  database->begin = prepare(database, "BEGIN IMMEDIATE");
  database->commit = prepare(database, "COMMIT");
  database->upsert = prepare(database,
    "INSERT INTO contacts (" COLUMNS ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, "
    "?13) ON CONFLICT (id) DO UPDATE SET name = ?2, phone = ?3, address = ?4, city = ?5, "
    "label = ?6, \"order\" = ?7, balance = ?8, updated_at = ?9, active = ?10, latitude = ?11, "
    "longitude = ?12, tags = ?13 WHERE (name, phone, address, city, label, \"order\", balance, "
    "updated_at, active, latitude, longitude, tags) IS NOT (?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, "
    "?11, ?12, ?13)");
  database->mark_kept = prepare(database, "INSERT INTO kept VALUES (?1)");
  database->forget_kept = prepare(database, "DELETE FROM kept");
  database->delete_others = prepare(database,
    "DELETE FROM contacts WHERE city = ?1 AND id NOT IN (SELECT id FROM kept)");
  database->get = prepare(database, "SELECT " COLUMNS " FROM contacts WHERE id = ?1");
  database->scan = prepare(database, "SELECT " COLUMNS " FROM contacts ORDER BY id");
  database->filtered = prepare(database,
    "SELECT " COLUMNS " FROM contacts WHERE balance < ?1 ORDER BY id");
  database->by_city = prepare(database,
    "SELECT " COLUMNS " FROM contacts WHERE city = ?1 ORDER BY id");
  database->compound = prepare(database,
    "SELECT " COLUMNS " FROM contacts WHERE city = ?1 AND \"order\" >= ?2 AND \"order\" < ?3 "
    "ORDER BY \"order\", id");
  database->top = prepare(database,
    "SELECT " COLUMNS " FROM contacts ORDER BY \"order\" DESC, id LIMIT ?1");
  database->name_has = prepare(database,
    "SELECT " COLUMNS " FROM contacts WHERE instr(name, ?1) > 0 ORDER BY id");
  database->by_name = prepare(database,
    "SELECT " COLUMNS " FROM contacts ORDER BY name, id LIMIT ?1");
  database->count_range = prepare(database,
    "SELECT count(*) FROM contacts WHERE city >= ?1 AND city < ?2");
  database->count_city = prepare(database, "SELECT count(*) FROM contacts WHERE city = ?1");
}

bench_sqlite *bench_sqlite_open(const char *folder, bench_indexes indexes) {
  bench_sqlite *database = bench_allocate(1, sizeof *database);
  char path[4096];
  snprintf(path, sizeof path, "%s/contacts.sqlite", folder);
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  sqlite_require(database, sqlite3_open_v2(path, &database->connection, flags, NULL), SQLITE_OK);
  execute(database,
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -65536;"
    "PRAGMA mmap_size = 2147418112; PRAGMA temp_store = MEMORY;"
    "CREATE TABLE IF NOT EXISTS contacts (id TEXT PRIMARY KEY, name TEXT NOT NULL, "
    "phone TEXT NOT NULL, address TEXT NOT NULL, city TEXT NOT NULL, label TEXT, "
    "\"order\" INTEGER NOT NULL, balance REAL NOT NULL, updated_at REAL NOT NULL, "
    "active INTEGER NOT NULL, latitude REAL, longitude REAL, tags TEXT NOT NULL) WITHOUT ROWID;"
    "CREATE TEMP TABLE kept (id TEXT PRIMARY KEY) WITHOUT ROWID");
  if (indexes == BENCH_TWO_INDEXES) {
    execute(database, "CREATE INDEX IF NOT EXISTS by_city ON contacts (city);"
      "CREATE INDEX IF NOT EXISTS by_order ON contacts (\"order\")");
  }
  if (indexes == BENCH_COMPOUND_INDEX) {
    execute(database, "CREATE INDEX IF NOT EXISTS by_both ON contacts (city, \"order\")");
  }
  prepare_all(database);
  return database;
}

void bench_sqlite_close(bench_sqlite *database) {
  sqlite3_stmt *statement;
  while ((statement = sqlite3_next_stmt(database->connection, NULL))) sqlite3_finalize(statement);
  sqlite_require(database, sqlite3_close(database->connection), SQLITE_OK);
  free(database);
}

static uint64_t number(const bench_sqlite *database, const char *text) {
  sqlite3_stmt *statement = prepare(database, text);
  sqlite_require(database, sqlite3_step(statement), SQLITE_ROW);
  uint64_t result = (uint64_t)sqlite3_column_int64(statement, 0);
  sqlite3_finalize(statement);
  return result;
}

uint64_t bench_sqlite_byte_count(bench_sqlite *database) {
  execute(database, "PRAGMA wal_checkpoint(TRUNCATE)");
  return number(database, "PRAGMA page_count") * number(database, "PRAGMA page_size");
}
