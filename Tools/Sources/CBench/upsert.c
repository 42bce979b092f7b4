// Saving a batch over documents that are stored already: sorted by id, equal records skipped, and
// the index entries that move sorted too.
#include <stdlib.h>

#include "key_list.h"
#include "layout.h"
#include "record.h"
#include "sort.h"

static void save_over(
  const bench_store *store, MDB_txn *txn, const bench_contact *batch, size_t count
) {
  bool has_rows = store->layout == BENCH_ROW;
  MDB_cursor *documents, *keys = NULL, *orders;
  REQUIRE(mdb_cursor_open(txn, store->documents, &documents));
  REQUIRE(mdb_cursor_open(txn, store->orders, &orders));
  if (has_rows) REQUIRE(mdb_cursor_open(txn, store->keys, &keys));
  key_list gone = key_list_make(count), come = key_list_make(count);
  sort_entry *entries = sort_contacts_by_id(batch, count);
  for (size_t i = 0; i < count; i++) {
    const bench_contact *contact = &batch[entries[i].position];
    MDB_val id = id_of(contact), key = id, stored;
    uint64_t row = 0;
    if (has_rows) {
      REQUIRE(mdb_cursor_get(keys, &id, &key, MDB_SET));
      memcpy(&row, key.mv_data, sizeof row);
      key = value_of(&row, sizeof row);
    }
    REQUIRE(mdb_cursor_get(documents, &key, &stored, MDB_SET));
    uint8_t bytes[RECORD_MAX];
    size_t size = record_pack(contact, bytes);
    if (stored.mv_size == size && memcmp(stored.mv_data, bytes, size) == 0) continue;
    int64_t order = record_order(stored.mv_data);
    if (order != contact->order) {
      key_list_add_order(&gone, store->layout, order, id, row);
      key_list_add_order(&come, store->layout, contact->order, id, row);
    }
    MDB_val record = value_of(bytes, size);
    REQUIRE(mdb_cursor_put(documents, &key, &record, MDB_CURRENT));
  }
  free(entries);
  key_list_apply(&gone, orders, true);
  key_list_apply(&come, orders, false);
  if (has_rows) mdb_cursor_close(keys);
  mdb_cursor_close(orders);
  mdb_cursor_close(documents);
}

static double time_save_over(
  bench_store *store, const bench_contact *batch, size_t count
) {
  double start = bench_now();
  MDB_txn *txn;
  REQUIRE(mdb_txn_begin(store->env, NULL, 0, &txn));
  save_over(store, txn, batch, count);
  REQUIRE(mdb_txn_commit(txn));
  return bench_now() - start;
}

bench_sample bench_upsert(bench_store *store, const bench_workload *workload) {
  size_t count = bench_batch_count(workload);
  bench_contact *batch = bench_allocate(count, sizeof *batch);
  for (size_t i = 0; i < count; i++) bench_batch_upserted(workload, i, &batch[i]);
  double seconds = time_save_over(store, batch, count);
  free(batch);
  return (bench_sample){seconds, 0};
}

bench_sample bench_save_half_changed(bench_store *store, const bench_workload *workload) {
  size_t count = bench_batch_count(workload);
  bench_contact *batch = bench_allocate(count, sizeof *batch);
  for (size_t i = 0; i < count; i++) bench_batch_half_changed(workload, i, &batch[i]);
  double seconds = time_save_over(store, batch, count);
  uint64_t digest = bench_store_digest(store);
  for (size_t i = 0; i < count; i++) batch[i] = workload->contacts[bench_batch_index(workload, i)];
  time_save_over(store, batch, count);
  free(batch);
  return (bench_sample){seconds, digest};
}
