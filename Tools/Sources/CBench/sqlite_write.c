// Saving into SQLite: one statement for each contact, in one transaction, in the order of the keys.
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "layout.h"
#include "sqlite_engine.h"

static void bind_text(sqlite3_stmt *statement, int place, bench_bytes text) {
  sqlite3_bind_text(
    statement, place, (const char *)text.start, (int)text.count, SQLITE_STATIC);
}

/// Tags as one text, each ended by a zero.
static size_t join_tags(const bench_contact *contact, uint8_t out[256]) {
  size_t size = 0;
  for (int tag = 0; tag < contact->tag_count; tag++) {
    bench_bytes text = bench_contact_text(contact, BENCH_FIRST_TAG + tag);
    memcpy(out + size, text.start, text.count);
    size += text.count;
    out[size++] = 0;
  }
  return size;
}

void sqlite_upsert(const bench_sqlite *database, const bench_contact *contact) {
  sqlite3_stmt *statement = database->upsert;
  uint8_t tags[256];
  for (int field = 0; field < BENCH_LABEL; field++) {
    bind_text(statement, field + 1, bench_contact_text(contact, field));
  }
  if (contact->has_label) {
    bind_text(statement, 6, bench_contact_text(contact, BENCH_LABEL));
  } else {
    sqlite3_bind_null(statement, 6);
  }
  sqlite3_bind_int64(statement, 7, contact->order);
  sqlite3_bind_double(statement, 8, contact->balance);
  sqlite3_bind_double(statement, 9, contact->updated_at);
  sqlite3_bind_int(statement, 10, contact->active);
  if (contact->has_geo) {
    sqlite3_bind_double(statement, 11, contact->latitude);
    sqlite3_bind_double(statement, 12, contact->longitude);
  } else {
    sqlite3_bind_null(statement, 11);
    sqlite3_bind_null(statement, 12);
  }
  bind_text(statement, 13, (bench_bytes){tags, join_tags(contact, tags)});
  sqlite_run(database, statement);
}

static double time_saving(bench_sqlite *database, const bench_contact *contacts, size_t count) {
  double start = bench_now();
  sqlite_run(database, database->begin);
  sort_entry *entries = sort_contacts_by_id(contacts, count);
  for (size_t i = 0; i < count; i++) sqlite_upsert(database, &contacts[entries[i].position]);
  free(entries);
  sqlite_run(database, database->commit);
  return bench_now() - start;
}

bench_sample bench_sqlite_save(bench_sqlite *database, const bench_workload *workload) {
  return (bench_sample){time_saving(database, workload->contacts, workload->count), 0};
}

typedef void make_contact(const bench_workload *, size_t position, bench_contact *out);

static void make_unchanged(const bench_workload *workload, size_t position, bench_contact *out) {
  *out = workload->contacts[bench_batch_index(workload, position)];
}

static double save_batch(
  bench_sqlite *database, const bench_workload *workload, make_contact *make
) {
  size_t count = bench_batch_count(workload);
  bench_contact *batch = bench_allocate(count, sizeof *batch);
  for (size_t i = 0; i < count; i++) make(workload, i, &batch[i]);
  double seconds = time_saving(database, batch, count);
  free(batch);
  return seconds;
}

bench_sample bench_sqlite_save_unchanged(bench_sqlite *database, const bench_workload *workload) {
  return (bench_sample){save_batch(database, workload, make_unchanged), 0};
}

bench_sample bench_sqlite_save_half_changed(
  bench_sqlite *database, const bench_workload *workload
) {
  double seconds = save_batch(database, workload, bench_batch_half_changed);
  uint64_t digest = bench_sqlite_digest(database);
  save_batch(database, workload, make_unchanged);
  return (bench_sample){seconds, digest};
}

static double time_replacing(bench_sqlite *database, const bench_contact *page, size_t count) {
  uint8_t name[32];
  bench_bytes city = {name, bench_city_name(bench_query_city(0), name)};
  double start = bench_now();
  sqlite_run(database, database->begin);
  sort_entry *entries = sort_contacts_by_id(page, count);
  for (size_t i = 0; i < count; i++) {
    bind_text(database->mark_kept, 1, (bench_bytes){entries[i].key, entries[i].count});
    sqlite_run(database, database->mark_kept);
  }
  bind_text(database->delete_others, 1, city);
  sqlite_run(database, database->delete_others);
  for (size_t i = 0; i < count; i++) sqlite_upsert(database, &page[entries[i].position]);
  sqlite_run(database, database->forget_kept);
  free(entries);
  sqlite_run(database, database->commit);
  return bench_now() - start;
}

bench_sample bench_sqlite_replace_city(bench_sqlite *database, const bench_workload *workload) {
  size_t count;
  bench_contact *page = bench_page_make(workload, true, &count);
  double seconds = time_replacing(database, page, count);
  free(page);
  uint64_t digest = bench_sqlite_digest(database);
  page = bench_page_make(workload, false, &count);
  time_replacing(database, page, count);
  free(page);
  return (bench_sample){seconds, digest};
}

bench_sample bench_sqlite_write_singly(bench_sqlite *database, const bench_workload *workload) {
  double seconds = 0;
  for (size_t i = 0; i < 2 * BENCH_SINGLE_COUNT; i++) {
    bench_contact contact;
    size_t position = 2 * (i % BENCH_SINGLE_COUNT) + 1;
    make_contact *make = i < BENCH_SINGLE_COUNT ? bench_batch_half_changed : make_unchanged;
    make(workload, position, &contact);
    double start = bench_now();
    sqlite_upsert(database, &contact);
    seconds += bench_now() - start;
  }
  return (bench_sample){seconds, 0};
}
