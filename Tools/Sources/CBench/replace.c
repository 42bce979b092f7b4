// Replacing the documents of a city: two sorted runs, what is stored and what comes, merged.
#include <errno.h>
#include <stdlib.h>

#include "key_list.h"
#include "layout.h"
#include "record.h"

/// Keys as they lie in the store.
typedef struct id_list {
  MDB_val *ids;
  size_t count, room;
} id_list;

/// The ids that the index has for a city, ascending. Writes of the same transaction leave the pages
/// that they lie in as they are.
static id_list ids_in_city(const bench_store *store, MDB_txn *txn, bench_bytes city) {
  id_list list = {NULL, 0, 0};
  uint8_t prefix[INDEX_KEY_MAX];
  size_t count = write_city(prefix, city);
  MDB_val key = value_of(prefix, count), nothing;
  MDB_cursor *index;
  REQUIRE(mdb_cursor_open(txn, store->cities, &index));
  int code = mdb_cursor_get(index, &key, &nothing, MDB_SET_RANGE);
  while (code == 0 && key.mv_size > count && memcmp(key.mv_data, prefix, count) == 0) {
    if (list.count == list.room) {
      list.room = list.room ? list.room * 2 : 64;
      list.ids = realloc(list.ids, list.room * sizeof *list.ids);
      if (!list.ids) bench_require(ENOMEM, "grow a list");
    }
    list.ids[list.count++] = value_of((uint8_t *)key.mv_data + count, key.mv_size - count);
    code = mdb_cursor_get(index, &key, &nothing, MDB_NEXT);
  }
  mdb_cursor_close(index);
  return list;
}

static int compare_ids(MDB_val a, MDB_val b) {
  int order = memcmp(a.mv_data, b.mv_data, a.mv_size < b.mv_size ? a.mv_size : b.mv_size);
  return order ? order : (a.mv_size > b.mv_size) - (a.mv_size < b.mv_size);
}

/// What happens to the two indexes.
typedef struct entry_changes {
  key_list orders_gone, orders_come, cities_gone, cities_come;
} entry_changes;

static void delete_one(MDB_cursor *documents, MDB_val id, bench_bytes city, entry_changes *changes) {
  MDB_val record;
  REQUIRE(mdb_cursor_get(documents, &id, &record, MDB_SET));
  key_list_add_order(&changes->orders_gone, BENCH_NATURAL, record_order(record.mv_data), id, 0);
  key_list_add_city(&changes->cities_gone, BENCH_NATURAL, city, id, 0);
  REQUIRE(mdb_cursor_del(documents, 0));
}

static void insert_one(MDB_cursor *documents, const bench_contact *contact, entry_changes *changes) {
  uint8_t bytes[RECORD_MAX];
  MDB_val id = id_of(contact), record = value_of(bytes, record_pack(contact, bytes));
  REQUIRE(mdb_cursor_put(documents, &id, &record, MDB_NOOVERWRITE));
  id = id_of(contact);
  bench_bytes city = bench_contact_text(contact, BENCH_CITY);
  key_list_add_order(&changes->orders_come, BENCH_NATURAL, contact->order, id, 0);
  key_list_add_city(&changes->cities_come, BENCH_NATURAL, city, id, 0);
}

static void update_one(MDB_cursor *documents, const bench_contact *contact, entry_changes *changes) {
  uint8_t bytes[RECORD_MAX];
  MDB_val id = id_of(contact), stored;
  MDB_val record = value_of(bytes, record_pack(contact, bytes));
  REQUIRE(mdb_cursor_get(documents, &id, &stored, MDB_SET));
  if (stored.mv_size == record.mv_size
    && memcmp(stored.mv_data, record.mv_data, record.mv_size) == 0) return;
  int64_t order = record_order(stored.mv_data);
  id = id_of(contact);
  if (order != contact->order) {
    key_list_add_order(&changes->orders_gone, BENCH_NATURAL, order, id, 0);
    key_list_add_order(&changes->orders_come, BENCH_NATURAL, contact->order, id, 0);
  }
  REQUIRE(mdb_cursor_put(documents, &id, &record, MDB_CURRENT));
}

static void merge(
  const bench_store *store, MDB_txn *txn, bench_bytes city, const bench_contact *page, size_t count
) {
  id_list stored = ids_in_city(store, txn, city);
  sort_entry *entries = sort_contacts_by_id(page, count);
  entry_changes changes = {
    key_list_make(stored.count), key_list_make(count), key_list_make(stored.count),
    key_list_make(count),
  };
  MDB_cursor *documents, *orders, *cities;
  REQUIRE(mdb_cursor_open(txn, store->documents, &documents));
  REQUIRE(mdb_cursor_open(txn, store->orders, &orders));
  REQUIRE(mdb_cursor_open(txn, store->cities, &cities));
  for (size_t i = 0, j = 0; i < stored.count || j < count;) {
    const bench_contact *contact = j < count ? &page[entries[j].position] : NULL;
    int order = i == stored.count ? 1 : !contact ? -1 : compare_ids(stored.ids[i], id_of(contact));
    if (order < 0) {
      delete_one(documents, stored.ids[i++], city, &changes);
    } else if (order > 0) {
      insert_one(documents, contact, &changes);
      j++;
    } else {
      update_one(documents, contact, &changes);
      i++;
      j++;
    }
  }
  key_list_apply(&changes.orders_gone, orders, true);
  key_list_apply(&changes.orders_come, orders, false);
  key_list_apply(&changes.cities_gone, cities, true);
  key_list_apply(&changes.cities_come, cities, false);
  mdb_cursor_close(cities);
  mdb_cursor_close(orders);
  mdb_cursor_close(documents);
  free(entries);
  free(stored.ids);
}

static double time_replace(bench_store *store, const bench_contact *page, size_t count) {
  uint8_t name[32];
  bench_bytes city = {name, bench_city_name(bench_query_city(0), name)};
  double start = bench_now();
  MDB_txn *txn;
  REQUIRE(mdb_txn_begin(store->env, NULL, 0, &txn));
  merge(store, txn, city, page, count);
  REQUIRE(mdb_txn_commit(txn));
  return bench_now() - start;
}

bench_sample bench_replace_city(bench_store *store, const bench_workload *workload) {
  size_t count;
  bench_contact *page = bench_page_make(workload, true, &count);
  double seconds = time_replace(store, page, count);
  free(page);
  uint64_t digest = bench_store_digest(store);
  page = bench_page_make(workload, false, &count);
  time_replace(store, page, count);
  free(page);
  return (bench_sample){seconds, digest};
}
