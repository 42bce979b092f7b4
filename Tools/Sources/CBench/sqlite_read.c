// Reading from SQLite, into the same documents as the LMDB engine.
#include <string.h>

#include "sqlite_engine.h"

static void read_text(sqlite3_stmt *row, int column, bench_string *out) {
  const uint8_t *text = sqlite3_column_text(row, column);
  string_set(out, text, (size_t)sqlite3_column_bytes(row, column));
}

static void read_tags(sqlite3_stmt *row, int column, bench_document *document) {
  const uint8_t *text = sqlite3_column_text(row, column);
  size_t size = (size_t)sqlite3_column_bytes(row, column);
  document->tag_count = 0;
  for (size_t i = 0; i < size; i++) document->tag_count += text[i] == 0;
  document->tags = size ? malloc(document->tag_count * sizeof *document->tags) : NULL;
  for (int tag = 0; tag < document->tag_count; tag++) {
    size_t count = strlen((const char *)text);
    string_set(&document->tags[tag], text, count);
    text += count + 1;
  }
}

static void read_document(sqlite3_stmt *row, bench_document *document) {
  bench_string *texts[] = {
    &document->id, &document->name, &document->phone, &document->address, &document->city,
    &document->label,
  };
  for (int column = 0; column < 6; column++) read_text(row, column, texts[column]);
  document->has_label = sqlite3_column_type(row, 5) != SQLITE_NULL;
  document->order = sqlite3_column_int64(row, 6);
  document->balance = sqlite3_column_double(row, 7);
  document->updated_at = sqlite3_column_double(row, 8);
  document->active = sqlite3_column_int(row, 9);
  document->has_geo = sqlite3_column_type(row, 10) != SQLITE_NULL;
  if (document->has_geo) {
    document->latitude = sqlite3_column_double(row, 10);
    document->longitude = sqlite3_column_double(row, 11);
  }
  read_tags(row, 12, document);
}

static document_list read_all(const bench_sqlite *database, sqlite3_stmt *statement, size_t room) {
  document_list list = {NULL, 0, 0};
  if (room) list = (document_list){bench_allocate(room, sizeof(bench_document)), 0, room};
  int code;
  while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
    read_document(statement, list_extend(&list));
  }
  sqlite_require(database, code, SQLITE_DONE);
  sqlite3_reset(statement);
  return list;
}

/// Reads all rows and lets go of them; returns the sum of their glances.
static uint64_t glance_at_all(const bench_sqlite *database, sqlite3_stmt *statement) {
  document_list list = read_all(database, statement, 0);
  uint64_t checksum = list_glance(&list);
  list_release(&list);
  return checksum;
}

static uint64_t digest_of(const document_list *list) {
  uint64_t checksum = 0;
  for (size_t i = 0; i < list->count; i++) checksum += document_digest(&list->documents[i]);
  return checksum;
}

static void bind_city(sqlite3_stmt *statement, size_t position, uint8_t name[32]) {
  size_t count = bench_city_name(bench_query_city(position), name);
  sqlite3_bind_text(statement, 1, (const char *)name, (int)count, SQLITE_STATIC);
}

document_list sqlite_read_city(const bench_sqlite *database, size_t position) {
  uint8_t name[32];
  bind_city(database->compound, position, name);
  sqlite3_bind_int64(database->compound, 2, INT64_MIN);
  sqlite3_bind_int64(database->compound, 3, INT64_MAX);
  return read_all(database, database->compound, 0);
}

uint64_t bench_sqlite_digest(bench_sqlite *database) {
  document_list list = read_all(database, database->scan, 0);
  uint64_t checksum = digest_of(&list);
  list_release(&list);
  return checksum;
}

static uint64_t get_glance(const bench_sqlite *database, const bench_contact *contact) {
  bench_bytes id = bench_contact_text(contact, BENCH_ID);
  sqlite3_bind_text(database->get, 1, (const char *)id.start, (int)id.count, SQLITE_STATIC);
  sqlite_require(database, sqlite3_step(database->get), SQLITE_ROW);
  bench_document document;
  read_document(database->get, &document);
  uint64_t glance = document_glance(&document);
  document_release(&document);
  sqlite3_reset(database->get);
  return glance;
}

bench_sample bench_sqlite_get(bench_sqlite *database, const bench_workload *workload) {
  double start = bench_now();
  uint64_t checksum = 0;
  sqlite_run(database, database->begin);
  for (size_t position = 0; position < BENCH_LOOKUP_COUNT; position++) {
    size_t index = bench_lookup_index(workload, position);
    checksum += get_glance(database, &workload->contacts[index]);
  }
  sqlite_run(database, database->commit);
  return (bench_sample){bench_now() - start, checksum};
}

bench_sample bench_sqlite_scan(bench_sqlite *database, const bench_workload *workload) {
  double start = bench_now();
  document_list list = read_all(database, database->scan, workload->count);
  double seconds = bench_now() - start;
  uint64_t checksum = digest_of(&list);
  list_release(&list);
  return (bench_sample){seconds, checksum};
}

bench_sample bench_sqlite_scan_filtered(bench_sqlite *database) {
  double start = bench_now();
  sqlite3_bind_double(database->filtered, 1, BENCH_BALANCE_LIMIT);
  document_list list = read_all(database, database->filtered, 0);
  double seconds = bench_now() - start;
  uint64_t checksum = list_glance(&list);
  list_release(&list);
  return (bench_sample){seconds, checksum};
}

bench_sample bench_sqlite_scan_names(bench_sqlite *database) {
  double start = bench_now();
  sqlite3_bind_text(database->name_has, 1, BENCH_NAME_PART, -1, SQLITE_STATIC);
  document_list list = read_all(database, database->name_has, 0);
  double seconds = bench_now() - start;
  uint64_t checksum = list_glance(&list);
  list_release(&list);
  return (bench_sample){seconds, checksum};
}

bench_sample bench_sqlite_first_names(bench_sqlite *database) {
  double start = bench_now();
  sqlite3_bind_int(database->by_name, 1, BENCH_TOP_COUNT);
  uint64_t checksum = glance_at_all(database, database->by_name);
  return (bench_sample){bench_now() - start, checksum};
}

bench_sample bench_sqlite_sort_names(bench_sqlite *database, const bench_workload *workload) {
  double start = bench_now();
  sqlite3_bind_int(database->by_name, 1, -1);
  document_list list = read_all(database, database->by_name, workload->count);
  double seconds = bench_now() - start;
  uint64_t checksum = digest_of(&list);
  list_release(&list);
  return (bench_sample){seconds, checksum};
}

/// Sums up a column of numbers, each as it is or squared.
static bench_sample sum_up(bench_sqlite *database, const char *sql, int column, int squares) {
  sqlite3_stmt *statement = NULL;
  sqlite_require(
    database, sqlite3_prepare_v2(database->connection, sql, -1, &statement, NULL), SQLITE_OK);
  double start = bench_now();
  uint64_t checksum = 0;
  int code;
  while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
    uint64_t number = (uint64_t)sqlite3_column_int64(statement, column);
    checksum += squares ? number * number : number;
  }
  sqlite_require(database, code, SQLITE_DONE);
  double seconds = bench_now() - start;
  sqlite3_finalize(statement);
  return (bench_sample){seconds, checksum};
}

bench_sample bench_sqlite_sum(bench_sqlite *database) {
  return sum_up(database, "SELECT sum(\"order\") FROM contacts", 0, 0);
}

bench_sample bench_sqlite_sums_by_city(bench_sqlite *database) {
  return sum_up(
    database, "SELECT city, sum(\"order\") FROM contacts GROUP BY city ORDER BY city", 1, 1);
}

bench_sample bench_sqlite_check(bench_sqlite *database) {
  sqlite3_stmt *statement = NULL;
  sqlite_require(
    database,
    sqlite3_prepare_v2(database->connection, "PRAGMA integrity_check", -1, &statement, NULL),
    SQLITE_OK);
  double start = bench_now();
  sqlite_require(database, sqlite3_step(statement), SQLITE_ROW);
  double seconds = bench_now() - start;
  int is_sound = strcmp((const char *)sqlite3_column_text(statement, 0), "ok") == 0;
  sqlite3_finalize(statement);
  bench_sample count = sum_up(database, "SELECT count(*) FROM contacts", 0, 0);
  return (bench_sample){seconds, is_sound ? count.checksum : 0};
}

bench_sample bench_sqlite_build_index(bench_sqlite *database) {
  double start = bench_now();
  sqlite_require(
    database,
    sqlite3_exec(
      database->connection, "CREATE INDEX built ON contacts (\"order\")", NULL, NULL, NULL),
    SQLITE_OK);
  double seconds = bench_now() - start;
  bench_sample count = sum_up(
    database, "SELECT count(*) FROM contacts INDEXED BY built WHERE \"order\" IS NOT NULL", 0, 0);
  sqlite_require(
    database, sqlite3_exec(database->connection, "DROP INDEX built", NULL, NULL, NULL),
    SQLITE_OK);
  return (bench_sample){seconds, count.checksum};
}

bench_sample bench_sqlite_count_prefix(bench_sqlite *database) {
  double start = bench_now();
  uint64_t checksum = 0;
  for (int repetition = 0; repetition < BENCH_COUNT_REPETITIONS; repetition++) {
    sqlite3_bind_text(database->count_range, 1, BENCH_CITY_PREFIX, -1, SQLITE_STATIC);
    sqlite3_bind_text(database->count_range, 2, BENCH_CITY_PREFIX_END, -1, SQLITE_STATIC);
    sqlite_require(database, sqlite3_step(database->count_range), SQLITE_ROW);
    checksum += (uint64_t)sqlite3_column_int64(database->count_range, 0);
    sqlite3_reset(database->count_range);
  }
  return (bench_sample){bench_now() - start, checksum};
}

bench_sample bench_sqlite_query_cities(bench_sqlite *database) {
  double start = bench_now();
  uint64_t checksum = 0;
  for (size_t query = 0; query < BENCH_QUERY_COUNT; query++) {
    uint8_t name[32];
    bind_city(database->by_city, query, name);
    checksum += glance_at_all(database, database->by_city);
  }
  return (bench_sample){bench_now() - start, checksum};
}

bench_sample bench_sqlite_query_compound(bench_sqlite *database) {
  double start = bench_now();
  uint64_t checksum = 0;
  for (size_t query = 0; query < BENCH_QUERY_COUNT; query++) {
    uint8_t name[32];
    bind_city(database->compound, query, name);
    sqlite3_bind_int64(database->compound, 2, BENCH_ORDER_START);
    sqlite3_bind_int64(database->compound, 3, BENCH_ORDER_END);
    checksum += glance_at_all(database, database->compound);
  }
  return (bench_sample){bench_now() - start, checksum};
}

bench_sample bench_sqlite_top_by_order(bench_sqlite *database) {
  double start = bench_now();
  uint64_t checksum = 0;
  for (int repetition = 0; repetition < BENCH_TOP_REPETITIONS; repetition++) {
    sqlite3_bind_int(database->top, 1, BENCH_TOP_COUNT);
    checksum = glance_at_all(database, database->top);
  }
  return (bench_sample){bench_now() - start, checksum};
}

bench_sample bench_sqlite_count_cities(bench_sqlite *database) {
  double start = bench_now();
  uint64_t checksum = 0;
  for (size_t query = 0; query < BENCH_QUERY_COUNT * BENCH_COUNT_REPETITIONS; query++) {
    uint8_t name[32];
    bind_city(database->count_city, query % BENCH_QUERY_COUNT, name);
    sqlite_require(database, sqlite3_step(database->count_city), SQLITE_ROW);
    checksum += (uint64_t)sqlite3_column_int64(database->count_city, 0);
    sqlite3_reset(database->count_city);
  }
  return (bench_sample){bench_now() - start, checksum};
}

bench_sample bench_sqlite_time_open(const char *folder, const bench_workload *workload) {
  double seconds = 0;
  uint64_t checksum = 0;
  for (int repetition = 0; repetition < BENCH_OPEN_COUNT; repetition++) {
    double start = bench_now();
    bench_sqlite *database = bench_sqlite_open(folder, BENCH_TWO_INDEXES);
    checksum = get_glance(database, &workload->contacts[bench_lookup_index(workload, 0)]);
    seconds += bench_now() - start;
    bench_sqlite_close(database);
  }
  return (bench_sample){seconds, checksum};
}
