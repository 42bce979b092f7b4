// Reads: by id, by scan, by index.
#include "document_list.h"
#include "layout.h"
#include "record.h"

static MDB_txn *begin_read(const bench_store *store) {
  MDB_txn *txn;
  REQUIRE(mdb_txn_begin(store->env, NULL, MDB_RDONLY, &txn));
  return txn;
}

static MDB_cursor *open_cursor(MDB_txn *txn, MDB_dbi database) {
  MDB_cursor *cursor;
  REQUIRE(mdb_cursor_open(txn, database, &cursor));
  return cursor;
}

bench_sample bench_get(const bench_store *store, const bench_workload *workload) {
  double start = bench_now();
  uint64_t checksum = 0;
  MDB_txn *txn = begin_read(store);
  for (size_t position = 0; position < BENCH_LOOKUP_COUNT; position++) {
    MDB_val key = id_of(&workload->contacts[bench_lookup_index(workload, position)]), record;
    if (store->layout == BENCH_ROW) {
      MDB_val id = key;
      REQUIRE(mdb_get(txn, store->keys, &id, &key));
    }
    REQUIRE(mdb_get(txn, store->documents, &key, &record));
    bench_document document;
    document_decode(&document, record.mv_data);
    checksum += document_glance(&document);
    document_release(&document);
  }
  mdb_txn_abort(txn);
  return (bench_sample){bench_now() - start, checksum};
}

static bench_sample scan(const bench_store *store, bool through_keys) {
  double start = bench_now();
  MDB_txn *txn = begin_read(store);
  MDB_cursor *documents = open_cursor(txn, store->documents);
  MDB_stat stat;
  REQUIRE(mdb_stat(txn, store->documents, &stat));
  size_t room = stat.ms_entries;
  document_list list = {bench_allocate(room, sizeof(bench_document)), 0, room};
  MDB_val key, row, record;
  if (through_keys) {
    MDB_cursor *keys = open_cursor(txn, store->keys);
    while (mdb_cursor_get(keys, &key, &row, MDB_NEXT) == 0) {
      REQUIRE(mdb_cursor_get(documents, &row, &record, MDB_SET));
      list_append(&list, record.mv_data);
    }
    mdb_cursor_close(keys);
  } else {
    while (mdb_cursor_get(documents, &key, &record, MDB_NEXT) == 0) {
      list_append(&list, record.mv_data);
    }
  }
  mdb_cursor_close(documents);
  mdb_txn_abort(txn);
  double seconds = bench_now() - start;

  uint64_t checksum = 0;
  for (size_t i = 0; i < list.count; i++) checksum += document_digest(&list.documents[i]);
  list_release(&list);
  return (bench_sample){seconds, checksum};
}

bench_sample bench_scan_by_key(const bench_store *store) {
  return scan(store, store->layout == BENCH_ROW);
}

bench_sample bench_scan_by_storage(const bench_store *store) { return scan(store, false); }

double bench_visit_all(const bench_store *store, bench_visitor visit, void *context) {
  double start = bench_now();
  MDB_txn *txn = begin_read(store);
  MDB_cursor *cursor = open_cursor(txn, store->documents);
  MDB_val key, record;
  while (mdb_cursor_get(cursor, &key, &record, MDB_NEXT) == 0) visit(context, record.mv_data);
  mdb_cursor_close(cursor);
  mdb_txn_abort(txn);
  return bench_now() - start;
}

double bench_visit_lookups(
  const bench_store *store, const bench_workload *workload, bench_visitor visit, void *context) {
  double start = bench_now();
  MDB_txn *txn = begin_read(store);
  for (size_t position = 0; position < BENCH_LOOKUP_COUNT; position++) {
    MDB_val key = id_of(&workload->contacts[bench_lookup_index(workload, position)]), record;
    REQUIRE(mdb_get(txn, store->documents, &key, &record));
    visit(context, record.mv_data);
  }
  mdb_txn_abort(txn);
  return bench_now() - start;
}
