// Updates and deletes of one document at a time, with the indexes kept in step.
#include <stdlib.h>

#include "layout.h"
#include "record.h"

/// The record of a document under a cursor, and the row that it has in the row layout.
typedef struct found {
  MDB_val record;
  uint64_t row;
} found;

static found find(const bench_store *store, MDB_txn *txn, MDB_cursor *documents, MDB_val id) {
  found result = {value_of(NULL, 0), 0};
  MDB_val key = id;
  if (store->layout == BENCH_ROW) {
    MDB_val row;
    REQUIRE(mdb_get(txn, store->keys, &id, &row));
    memcpy(&result.row, row.mv_data, sizeof result.row);
    key = value_of(&result.row, sizeof result.row);
  }
  REQUIRE(mdb_cursor_get(documents, &key, &result.record, MDB_SET));
  return result;
}

static MDB_val order_key(
  const bench_store *store, uint8_t *out, int64_t order, MDB_val id, uint64_t row
) {
  size_t count = write_order(out, order);
  return value_of(out, count + write_reference(out + count, store->layout, id, row));
}

static MDB_val city_key(
  const bench_store *store, uint8_t *out, bench_bytes city, MDB_val id, uint64_t row
) {
  size_t count = write_city(out, city);
  return value_of(out, count + write_reference(out + count, store->layout, id, row));
}

static void update(
  const bench_store *store, MDB_txn *txn, MDB_cursor *documents, const bench_contact *contact
) {
  MDB_val id = id_of(contact);
  found old = find(store, txn, documents, id);
  int64_t old_order = record_order(old.record.mv_data);
  bench_bytes city = bench_contact_text(contact, BENCH_CITY);
  bench_bytes old_city = record_city(old.record.mv_data);
  bool moved = city.count != old_city.count || memcmp(city.start, old_city.start, city.count) != 0;
  bench_require(moved ? MDB_BAD_VALSIZE : 0, "no update moves a contact to another city");

  uint8_t bytes[RECORD_MAX];
  MDB_val record = value_of(bytes, record_pack(contact, bytes));
  MDB_val key = store->layout == BENCH_ROW ? value_of(&old.row, sizeof old.row) : id;
  REQUIRE(mdb_cursor_put(documents, &key, &record, MDB_CURRENT));
  if (contact->order == old_order) return;
  uint8_t out[INDEX_KEY_MAX];
  MDB_val entry = order_key(store, out, old_order, id, old.row), nothing = value_of("", 0);
  REQUIRE(mdb_del(txn, store->orders, &entry, NULL));
  entry = order_key(store, out, contact->order, id, old.row);
  REQUIRE(mdb_put(txn, store->orders, &entry, &nothing, MDB_NOOVERWRITE));
}

static void delete(
  const bench_store *store, MDB_txn *txn, MDB_cursor *documents, const bench_contact *contact
) {
  MDB_val id = id_of(contact);
  found old = find(store, txn, documents, id);
  uint8_t city_out[INDEX_KEY_MAX], order_out[INDEX_KEY_MAX];
  const uint8_t *record = old.record.mv_data;
  MDB_val city = city_key(store, city_out, record_city(record), id, old.row);
  MDB_val order = order_key(store, order_out, record_order(record), id, old.row);
  REQUIRE(mdb_cursor_del(documents, 0));
  if (store->layout == BENCH_ROW) REQUIRE(mdb_del(txn, store->keys, &id, NULL));
  REQUIRE(mdb_del(txn, store->cities, &city, NULL));
  REQUIRE(mdb_del(txn, store->orders, &order, NULL));
}

typedef void change(const bench_store *, MDB_txn *, MDB_cursor *, const bench_contact *);

static double time_changes(
  bench_store *store, const bench_contact *contacts, size_t count, change *change
) {
  double start = bench_now();
  MDB_txn *txn;
  MDB_cursor *documents;
  REQUIRE(mdb_txn_begin(store->env, NULL, 0, &txn));
  REQUIRE(mdb_cursor_open(txn, store->documents, &documents));
  for (size_t i = 0; i < count; i++) change(store, txn, documents, &contacts[i]);
  mdb_cursor_close(documents);
  REQUIRE(mdb_txn_commit(txn));
  return bench_now() - start;
}

bench_sample bench_update(bench_store *store, const bench_workload *workload) {
  size_t count = bench_batch_count(workload);
  bench_contact *batch = bench_allocate(count, sizeof *batch);
  for (size_t i = 0; i < count; i++) bench_batch_updated(workload, i, &batch[i]);
  bench_sample sample = {time_changes(store, batch, count, update), 0};
  free(batch);
  return sample;
}

bench_sample bench_delete(bench_store *store, const bench_workload *workload) {
  size_t count = bench_batch_count(workload);
  bench_contact *batch = bench_allocate(count, sizeof *batch);
  for (size_t i = 0; i < count; i++) batch[i] = workload->contacts[bench_batch_index(workload, i)];
  bench_sample sample = {time_changes(store, batch, count, delete), 0};
  free(batch);
  return sample;
}

bench_sample bench_write_singly(bench_store *store, const bench_workload *workload) {
  size_t count = bench_batch_count(workload);
  if (count > BENCH_SINGLE_COUNT) count = BENCH_SINGLE_COUNT;
  bench_contact *batch = bench_allocate(2 * count, sizeof *batch);
  for (size_t i = 0; i < count; i++) {
    bench_batch_half_changed(workload, 2 * i + 1, &batch[i]);
    batch[count + i] = workload->contacts[bench_batch_index(workload, 2 * i + 1)];
  }
  double seconds = 0;
  for (size_t i = 0; i < 2 * count; i++) seconds += time_changes(store, &batch[i], 1, update);
  free(batch);
  return (bench_sample){seconds, 0};
}
