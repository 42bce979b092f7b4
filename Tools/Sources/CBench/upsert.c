// Saving a batch over documents that are stored already: sorted by id, equal records skipped, and
// the index entries that move sorted too.
#include <stdlib.h>

#include "layout.h"
#include "record.h"
#include "sort.h"

/// Keys of index entries, packed one after another.
typedef struct key_list {
  uint8_t *bytes, *end;
  sort_entry *entries;
  size_t count;
} key_list;

static key_list make_key_list(size_t room) {
  uint8_t *bytes = bench_allocate(room, INDEX_KEY_MAX);
  return (key_list){bytes, bytes, bench_allocate(room, sizeof(sort_entry)), 0};
}

static void add_order_key(
  key_list *list, bench_layout layout, int64_t order, MDB_val id, uint64_t row
) {
  size_t size = write_order(list->end, order);
  size += write_reference(list->end + size, layout, id, row);
  list->entries[list->count++] = (sort_entry){0, list->end, (uint32_t)size, 0};
  list->end += size;
}

/// Deletes the keys from a database, or puts them into it, in order. Frees the list.
static void apply_keys(key_list *list, MDB_cursor *cursor, bool deletes) {
  sort_keys(list->entries, list->count);
  for (size_t i = 0; i < list->count; i++) {
    MDB_val key = value_of(list->entries[i].key, list->entries[i].count), nothing = value_of("", 0);
    if (deletes) {
      REQUIRE(mdb_cursor_get(cursor, &key, &nothing, MDB_SET));
      REQUIRE(mdb_cursor_del(cursor, 0));
    } else {
      REQUIRE(mdb_cursor_put(cursor, &key, &nothing, MDB_NOOVERWRITE));
    }
  }
  free(list->entries);
  free(list->bytes);
}

static void save_over(
  const bench_store *store, MDB_txn *txn, const bench_contact *batch, size_t count
) {
  bool has_rows = store->layout == BENCH_ROW;
  MDB_cursor *documents, *keys = NULL, *orders;
  REQUIRE(mdb_cursor_open(txn, store->documents, &documents));
  REQUIRE(mdb_cursor_open(txn, store->orders, &orders));
  if (has_rows) REQUIRE(mdb_cursor_open(txn, store->keys, &keys));
  key_list gone = make_key_list(count), come = make_key_list(count);
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
      add_order_key(&gone, store->layout, order, id, row);
      add_order_key(&come, store->layout, contact->order, id, row);
    }
    MDB_val record = value_of(bytes, size);
    REQUIRE(mdb_cursor_put(documents, &key, &record, MDB_CURRENT));
  }
  free(entries);
  apply_keys(&gone, orders, true);
  apply_keys(&come, orders, false);
  if (has_rows) mdb_cursor_close(keys);
  mdb_cursor_close(orders);
  mdb_cursor_close(documents);
}

bench_sample bench_upsert(bench_store *store, const bench_workload *workload) {
  size_t count = bench_batch_count(workload);
  bench_contact *batch = bench_allocate(count, sizeof *batch);
  for (size_t i = 0; i < count; i++) bench_batch_upserted(workload, i, &batch[i]);

  double start = bench_now();
  MDB_txn *txn;
  REQUIRE(mdb_txn_begin(store->env, NULL, 0, &txn));
  save_over(store, txn, batch, count);
  REQUIRE(mdb_txn_commit(txn));
  double seconds = bench_now() - start;

  free(batch);
  return (bench_sample){seconds, 0};
}
