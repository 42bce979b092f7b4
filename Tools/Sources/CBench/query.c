// Queries by index, and by looking at every record. Each has a snapshot and cursors of its own.
#define _GNU_SOURCE
#include <string.h>

#include "document_list.h"
#include "layout.h"
#include "record.h"

static MDB_txn *begin_read(const bench_store *store) {
  MDB_txn *txn;
  REQUIRE(mdb_txn_begin(store->env, NULL, MDB_RDONLY, &txn));
  return txn;
}

/// Another snapshot for the next query, as whoever asks one question at a time has.
static void renew_read(MDB_txn *txn) {
  mdb_txn_reset(txn);
  REQUIRE(mdb_txn_renew(txn));
}

static MDB_cursor *open_cursor(MDB_txn *txn, MDB_dbi database) {
  MDB_cursor *cursor;
  REQUIRE(mdb_cursor_open(txn, database, &cursor));
  return cursor;
}

bench_sample bench_query_cities(const bench_store *store) {
  double start = bench_now();
  uint64_t checksum = 0;
  MDB_txn *txn = begin_read(store);
  for (size_t query = 0; query < BENCH_QUERY_COUNT; query++) {
    renew_read(txn);
    MDB_cursor *index = open_cursor(txn, store->cities);
    MDB_cursor *documents = open_cursor(txn, store->documents);
    uint8_t name[32], prefix[INDEX_KEY_MAX];
    size_t name_count = bench_city_name(bench_query_city(query), name);
    size_t count = write_city(prefix, (bench_bytes){name, name_count});
    document_list list = {NULL, 0, 0};
    MDB_val key = value_of(prefix, count), nothing, record;
    int code = mdb_cursor_get(index, &key, &nothing, MDB_SET_RANGE);
    while (code == 0 && key.mv_size > count && memcmp(key.mv_data, prefix, count) == 0) {
      const uint8_t *reference = (const uint8_t *)key.mv_data + count;
      REQUIRE(find_reference(documents, store->layout, reference, key.mv_size - count, &record));
      list_append(&list, record.mv_data);
      code = mdb_cursor_get(index, &key, &nothing, MDB_NEXT);
    }
    checksum += list_glance(&list);
    list_release(&list);
    mdb_cursor_close(documents);
    mdb_cursor_close(index);
  }
  mdb_txn_abort(txn);
  return (bench_sample){bench_now() - start, checksum};
}

bench_sample bench_top_by_order(const bench_store *store) {
  double start = bench_now();
  uint64_t checksum = 0;
  MDB_txn *txn = begin_read(store);
  for (int repetition = 0; repetition < BENCH_TOP_REPETITIONS; repetition++) {
    renew_read(txn);
    MDB_cursor *index = open_cursor(txn, store->orders);
    MDB_cursor *documents = open_cursor(txn, store->documents);
    document_list list = {NULL, 0, 0};
    MDB_val key, nothing, record;
    int code = mdb_cursor_get(index, &key, &nothing, MDB_LAST);
    while (code == 0 && list.count < BENCH_TOP_COUNT) {
      const uint8_t *reference = (const uint8_t *)key.mv_data + 8;
      REQUIRE(find_reference(documents, store->layout, reference, key.mv_size - 8, &record));
      list_append(&list, record.mv_data);
      code = mdb_cursor_get(index, &key, &nothing, MDB_PREV);
    }
    checksum = list_glance(&list);
    list_release(&list);
    mdb_cursor_close(documents);
    mdb_cursor_close(index);
  }
  mdb_txn_abort(txn);
  return (bench_sample){bench_now() - start, checksum};
}

bench_sample bench_query_compound(const bench_store *store) {
  double start = bench_now();
  uint64_t checksum = 0;
  MDB_txn *txn = begin_read(store);
  for (size_t query = 0; query < BENCH_QUERY_COUNT; query++) {
    renew_read(txn);
    MDB_cursor *index = open_cursor(txn, store->compounds);
    MDB_cursor *documents = open_cursor(txn, store->documents);
    uint8_t name[32], first[INDEX_KEY_MAX], end[INDEX_KEY_MAX];
    size_t name_count = bench_city_name(bench_query_city(query), name);
    size_t count = write_city(first, (bench_bytes){name, name_count});
    memcpy(end, first, count);
    write_order(first + count, BENCH_ORDER_START);
    count += write_order(end + count, BENCH_ORDER_END);
    document_list list = {NULL, 0, 0};
    MDB_val key = value_of(first, count), nothing, record;
    int code = mdb_cursor_get(index, &key, &nothing, MDB_SET_RANGE);
    while (code == 0 && memcmp(key.mv_data, end, count) < 0) {
      const uint8_t *reference = (const uint8_t *)key.mv_data + count;
      REQUIRE(find_reference(documents, store->layout, reference, key.mv_size - count, &record));
      list_append(&list, record.mv_data);
      code = mdb_cursor_get(index, &key, &nothing, MDB_NEXT);
    }
    checksum += list_glance(&list);
    list_release(&list);
    mdb_cursor_close(documents);
    mdb_cursor_close(index);
  }
  mdb_txn_abort(txn);
  return (bench_sample){bench_now() - start, checksum};
}

bench_sample bench_count_cities(const bench_store *store) {
  double start = bench_now();
  uint64_t checksum = 0;
  MDB_txn *txn = begin_read(store);
  for (size_t query = 0; query < BENCH_QUERY_COUNT * BENCH_COUNT_REPETITIONS; query++) {
    renew_read(txn);
    MDB_cursor *index = open_cursor(txn, store->cities);
    uint8_t name[32], prefix[INDEX_KEY_MAX];
    size_t name_count = bench_city_name(bench_query_city(query % BENCH_QUERY_COUNT), name);
    size_t count = write_city(prefix, (bench_bytes){name, name_count});
    MDB_val key = value_of(prefix, count), nothing;
    int code = mdb_cursor_get(index, &key, &nothing, MDB_SET_RANGE);
    while (code == 0 && key.mv_size > count && memcmp(key.mv_data, prefix, count) == 0) {
      checksum++;
      code = mdb_cursor_get(index, &key, &nothing, MDB_NEXT);
    }
    mdb_cursor_close(index);
  }
  mdb_txn_abort(txn);
  return (bench_sample){bench_now() - start, checksum};
}

bench_sample bench_scan_filtered(const bench_store *store, bench_condition condition) {
  double start = bench_now();
  uint8_t name[32];
  size_t name_count = bench_city_name(bench_query_city(0), name);
  MDB_txn *txn = begin_read(store);
  MDB_cursor *documents = open_cursor(txn, store->documents);
  document_list list = {NULL, 0, 0};
  MDB_val key, record;
  while (mdb_cursor_get(documents, &key, &record, MDB_NEXT) == 0) {
    bool holds;
    if (condition == BENCH_BALANCE_BELOW) {
      holds = record_balance(record.mv_data) < BENCH_BALANCE_LIMIT;
    } else if (condition == BENCH_ORDER_BELOW) {
      holds = record_order(record.mv_data) < BENCH_ORDER_LIMIT;
    } else if (condition == BENCH_NAME_HAS) {
      bench_bytes text = record_name(record.mv_data);
      holds = memmem(text.start, text.count, BENCH_NAME_PART, strlen(BENCH_NAME_PART)) != NULL;
    } else {
      bench_bytes city = record_city(record.mv_data);
      holds = city.count == name_count && memcmp(city.start, name, name_count) == 0;
    }
    if (holds) list_append(&list, record.mv_data);
  }
  mdb_cursor_close(documents);
  mdb_txn_abort(txn);
  double seconds = bench_now() - start;

  uint64_t checksum = list_glance(&list);
  list_release(&list);
  return (bench_sample){seconds, checksum};
}

bench_sample bench_open(const char *folder, const bench_workload *workload) {
  double seconds = 0;
  uint64_t checksum = 0;
  for (int repetition = 0; repetition < BENCH_OPEN_COUNT; repetition++) {
    double start = bench_now();
    bench_store *store = bench_store_open(folder, BENCH_NATURAL, BENCH_TWO_INDEXES);
    MDB_txn *txn = begin_read(store);
    MDB_val key = id_of(&workload->contacts[bench_lookup_index(workload, 0)]), record;
    REQUIRE(mdb_get(txn, store->documents, &key, &record));
    bench_document document;
    document_decode(&document, record.mv_data);
    checksum = document_glance(&document);
    document_release(&document);
    mdb_txn_abort(txn);
    seconds += bench_now() - start;
    bench_store_close(store);
  }
  return (bench_sample){seconds, checksum};
}
