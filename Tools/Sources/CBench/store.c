// Opening, closing and checking a store.
#include <stdlib.h>

#include "layout.h"
#include "record.h"

static size_t map_byte_count = (size_t)1 << 36;

void bench_set_map_byte_count(size_t count) { map_byte_count = count; }

static void open_databases(bench_store *store) {
  bool has_rows = store->layout == BENCH_ROW;
  MDB_txn *txn;
  REQUIRE(mdb_txn_begin(store->env, NULL, 0, &txn));
  unsigned row_flags = has_rows ? MDB_INTEGERKEY : 0;
  REQUIRE(mdb_dbi_open(txn, "documents", MDB_CREATE | row_flags, &store->documents));
  if (has_rows) REQUIRE(mdb_dbi_open(txn, "keys", MDB_CREATE, &store->keys));
  if (store->indexes == BENCH_TWO_INDEXES) {
    REQUIRE(mdb_dbi_open(txn, "city", MDB_CREATE, &store->cities));
    REQUIRE(mdb_dbi_open(txn, "order", MDB_CREATE, &store->orders));
  }
  if (store->indexes == BENCH_COMPOUND_INDEX) {
    REQUIRE(mdb_dbi_open(txn, "city,order", MDB_CREATE, &store->compounds));
  }
  if (has_rows) {
    MDB_cursor *cursor;
    MDB_val row, record;
    REQUIRE(mdb_cursor_open(txn, store->documents, &cursor));
    if (mdb_cursor_get(cursor, &row, &record, MDB_LAST) == 0) {
      memcpy(&store->next_row, row.mv_data, sizeof store->next_row);
    }
    store->next_row++;
    mdb_cursor_close(cursor);
  }
  REQUIRE(mdb_txn_commit(txn));
}

bench_store *bench_store_open(const char *folder, bench_layout layout, bench_indexes indexes) {
  bench_store *store = bench_allocate(1, sizeof *store);
  store->layout = layout;
  store->indexes = indexes;
  REQUIRE(mdb_env_create(&store->env));
  REQUIRE(mdb_env_set_maxdbs(store->env, 4));
  REQUIRE(mdb_env_set_mapsize(store->env, map_byte_count));
  REQUIRE(mdb_env_open(store->env, folder, MDB_NOTLS, 0600));
  open_databases(store);
  return store;
}

void bench_store_close(bench_store *store) {
  mdb_env_close(store->env);
  free(store);
}

uint64_t bench_store_byte_count(const bench_store *store) {
  MDB_envinfo info;
  MDB_stat stat;
  REQUIRE(mdb_env_info(store->env, &info));
  REQUIRE(mdb_env_stat(store->env, &stat));
  return (uint64_t)(info.me_last_pgno + 1) * stat.ms_psize;
}

static void require_entries(MDB_txn *txn, MDB_dbi database, size_t count) {
  MDB_stat stat;
  REQUIRE(mdb_stat(txn, database, &stat));
  bench_require(stat.ms_entries == count ? 0 : MDB_CORRUPTED, "one entry for each document");
}

uint64_t bench_store_digest(const bench_store *store) {
  MDB_txn *txn;
  MDB_cursor *cursor;
  MDB_val key, record;
  uint64_t digest = 0;
  size_t count = 0;
  REQUIRE(mdb_txn_begin(store->env, NULL, MDB_RDONLY, &txn));
  REQUIRE(mdb_cursor_open(txn, store->documents, &cursor));
  while (mdb_cursor_get(cursor, &key, &record, MDB_NEXT) == 0) {
    bench_document document;
    document_decode(&document, record.mv_data);
    digest += document_digest(&document);
    document_release(&document);
    count++;
  }
  if (store->layout == BENCH_ROW) require_entries(txn, store->keys, count);
  if (store->indexes == BENCH_COMPOUND_INDEX) require_entries(txn, store->compounds, count);
  if (store->indexes == BENCH_TWO_INDEXES) {
    require_entries(txn, store->cities, count);
    require_entries(txn, store->orders, count);
  }
  mdb_cursor_close(cursor);
  mdb_txn_abort(txn);
  return digest;
}
