// Saving batches: sort by id, then one cursor for each database.
#include <stdlib.h>

#include "layout.h"
#include "record.h"
#include "sort.h"

sort_entry *sort_contacts_by_id(const bench_contact *contacts, size_t count) {
  sort_entry *entries = bench_allocate(count, sizeof *entries);
  for (size_t i = 0; i < count; i++) {
    MDB_val id = id_of(&contacts[i]);
    entries[i] = (sort_entry){0, id.mv_data, (uint32_t)id.mv_size, (uint32_t)i};
  }
  sort_keys(entries, count);
  return entries;
}

/// The flag for putting sorted new keys: appending, when all of them come after the last one
/// stored, leaves full pages and searches nothing.
static unsigned flag_for_new_keys(MDB_cursor *cursor, MDB_val first) {
  MDB_val last, value;
  int code = mdb_cursor_get(cursor, &last, &value, MDB_LAST);
  if (code == MDB_NOTFOUND) return MDB_APPEND;
  REQUIRE(code);
  size_t count = last.mv_size < first.mv_size ? last.mv_size : first.mv_size;
  int order = memcmp(last.mv_data, first.mv_data, count);
  bool after = order < 0 || (order == 0 && last.mv_size < first.mv_size);
  return after ? MDB_APPEND : MDB_NOOVERWRITE;
}

/// Puts the records and, in the row layout, the key map, numbering the rows as the batch is sorted.
static void put_records(
  bench_store *store, MDB_txn *txn, const bench_contact *contacts, const sort_entry *entries,
  size_t count
) {
  bool has_rows = store->layout == BENCH_ROW;
  MDB_cursor *documents, *keys = NULL;
  REQUIRE(mdb_cursor_open(txn, store->documents, &documents));
  if (has_rows) REQUIRE(mdb_cursor_open(txn, store->keys, &keys));
  MDB_val first = value_of(entries[0].key, entries[0].count);
  unsigned flag = flag_for_new_keys(has_rows ? keys : documents, first);
  for (size_t i = 0; i < count; i++) {
    uint8_t bytes[RECORD_MAX];
    MDB_val id = value_of(entries[i].key, entries[i].count);
    MDB_val record = value_of(bytes, record_pack(&contacts[entries[i].position], bytes));
    if (has_rows) {
      uint64_t number = store->next_row + i;
      MDB_val row = value_of(&number, sizeof number);
      REQUIRE(mdb_cursor_put(keys, &id, &row, flag));
      REQUIRE(mdb_cursor_put(documents, &row, &record, MDB_APPEND));
    } else {
      REQUIRE(mdb_cursor_put(documents, &id, &record, flag));
    }
  }
  mdb_cursor_close(documents);
  if (has_rows) mdb_cursor_close(keys);
}

static void put_index(
  bench_store *store, MDB_txn *txn, MDB_dbi database, const bench_contact *contacts,
  const sort_entry *by_id, size_t count
) {
  uint8_t *keys = malloc(count * INDEX_KEY_MAX), *end = keys;
  sort_entry *entries = bench_allocate(count, sizeof *entries);
  for (size_t i = 0; i < count; i++) {
    const bench_contact *contact = &contacts[by_id[i].position];
    size_t size = 0;
    if (database != store->orders) size += write_city(end, bench_contact_text(contact, BENCH_CITY));
    if (database != store->cities) size += write_order(end + size, contact->order);
    size += write_reference(end + size, store->layout, id_of(contact), store->next_row + i);
    entries[i] = (sort_entry){0, end, (uint32_t)size, (uint32_t)i};
    end += size;
  }
  sort_keys(entries, count);
  MDB_cursor *cursor;
  REQUIRE(mdb_cursor_open(txn, database, &cursor));
  unsigned flag = flag_for_new_keys(cursor, value_of(entries[0].key, entries[0].count));
  for (size_t i = 0; i < count; i++) {
    MDB_val key = value_of(entries[i].key, entries[i].count), nothing = value_of("", 0);
    REQUIRE(mdb_cursor_put(cursor, &key, &nothing, flag));
  }
  mdb_cursor_close(cursor);
  free(entries);
  free(keys);
}

static void save_batch(bench_store *store, const bench_contact *contacts, size_t count) {
  if (count == 0) return;
  MDB_txn *txn;
  REQUIRE(mdb_txn_begin(store->env, NULL, 0, &txn));
  sort_entry *entries = sort_contacts_by_id(contacts, count);
  put_records(store, txn, contacts, entries, count);
  if (store->indexes == BENCH_COMPOUND_INDEX) {
    put_index(store, txn, store->compounds, contacts, entries, count);
  }
  if (store->indexes == BENCH_TWO_INDEXES) {
    put_index(store, txn, store->cities, contacts, entries, count);
    put_index(store, txn, store->orders, contacts, entries, count);
  }
  free(entries);
  REQUIRE(mdb_txn_commit(txn));
  store->next_row += count;
}

bench_sample bench_save(bench_store *store, const bench_workload *workload, size_t batch_count) {
  double start = bench_now();
  size_t saved = 0;
  for (size_t batch = 1; batch <= batch_count; batch++) {
    size_t end = workload->count * batch / batch_count;
    save_batch(store, workload->contacts + saved, end - saved);
    saved = end;
  }
  return (bench_sample){bench_now() - start, 0};
}

bench_sample bench_save_unchanged(
  bench_store *store, const bench_workload *workload, bool compare
) {
  size_t count = bench_batch_count(workload);
  bench_contact *batch = bench_allocate(count, sizeof *batch);
  for (size_t i = 0; i < count; i++) batch[i] = workload->contacts[bench_batch_index(workload, i)];

  double start = bench_now();
  MDB_txn *txn;
  MDB_cursor *cursor;
  REQUIRE(mdb_txn_begin(store->env, NULL, 0, &txn));
  REQUIRE(mdb_cursor_open(txn, store->documents, &cursor));
  sort_entry *entries = sort_contacts_by_id(batch, count);
  for (size_t i = 0; i < count; i++) {
    uint8_t bytes[RECORD_MAX];
    MDB_val id = value_of(entries[i].key, entries[i].count), stored;
    MDB_val record = value_of(bytes, record_pack(&batch[entries[i].position], bytes));
    if (compare) {
      REQUIRE(mdb_cursor_get(cursor, &id, &stored, MDB_SET));
      bool equal = stored.mv_size == record.mv_size
        && memcmp(stored.mv_data, record.mv_data, record.mv_size) == 0;
      if (equal) continue;
    }
    REQUIRE(mdb_cursor_put(cursor, &id, &record, 0));
  }
  free(entries);
  mdb_cursor_close(cursor);
  REQUIRE(mdb_txn_commit(txn));
  double seconds = bench_now() - start;

  free(batch);
  return (bench_sample){seconds, 0};
}
