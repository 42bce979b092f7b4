#include "durable.h"

#include <lmdb.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

double bench_durable_puts(const char *folder, size_t count, size_t byte_count) {
  MDB_env *env;
  MDB_txn *txn;
  MDB_dbi documents;
  REQUIRE(mdb_env_create(&env));
  REQUIRE(mdb_env_set_maxdbs(env, 4));
  REQUIRE(mdb_env_set_mapsize(env, (size_t)1 << 30));
  REQUIRE(mdb_env_open(env, folder, MDB_NOTLS, 0600));
  REQUIRE(mdb_txn_begin(env, NULL, 0, &txn));
  REQUIRE(mdb_dbi_open(txn, "documents", MDB_CREATE, &documents));
  REQUIRE(mdb_txn_commit(txn));
  char *record = bench_allocate(byte_count, 1);
  double start = bench_now();
  for (size_t number = 0; number < count; number++) {
    uint64_t id = number * UINT64_C(0x9E3779B97F4A7C15);
    MDB_val key = {sizeof id, &id}, value = {byte_count, record};
    REQUIRE(mdb_txn_begin(env, NULL, 0, &txn));
    REQUIRE(mdb_put(txn, documents, &key, &value, 0));
    REQUIRE(mdb_txn_commit(txn));
  }
  double seconds = bench_now() - start;
  free(record);
  mdb_env_close(env);
  return seconds;
}

struct bench_reader {
  MDB_env *env;
  MDB_dbi documents;
  size_t count, byte_count;
};

bench_reader *bench_reader_open(const char *folder, size_t count, size_t byte_count) {
  bench_reader *reader = bench_allocate(1, sizeof *reader);
  reader->count = count;
  reader->byte_count = byte_count;
  MDB_txn *txn;
  REQUIRE(mdb_env_create(&reader->env));
  REQUIRE(mdb_env_set_maxdbs(reader->env, 4));
  REQUIRE(mdb_env_set_mapsize(reader->env, (size_t)1 << 36));
  REQUIRE(mdb_env_open(reader->env, folder, MDB_NOTLS, 0600));
  REQUIRE(mdb_txn_begin(reader->env, NULL, 0, &txn));
  REQUIRE(mdb_dbi_open(txn, "documents", MDB_CREATE | MDB_INTEGERKEY, &reader->documents));
  char *record = bench_allocate(byte_count, 1);
  for (uint64_t id = 0; id < count; id++) {
    memcpy(record, &id, sizeof id);
    MDB_val key = {sizeof id, &id}, value = {byte_count, record};
    REQUIRE(mdb_put(txn, reader->documents, &key, &value, MDB_APPEND));
  }
  REQUIRE(mdb_txn_commit(txn));
  free(record);
  return reader;
}

size_t bench_reader_get(const bench_reader *reader, size_t count, size_t first) {
  MDB_txn *txn;
  REQUIRE(mdb_txn_begin(reader->env, NULL, MDB_RDONLY, &txn));
  char *copy = bench_allocate(reader->byte_count, 1);
  size_t found = 0;
  for (size_t i = 0; i < count; i++) {
    mdb_txn_reset(txn);
    REQUIRE(mdb_txn_renew(txn));
    uint64_t id = (i * 7919 + first) % reader->count, stored;
    MDB_val key = {sizeof id, &id}, value;
    REQUIRE(mdb_get(txn, reader->documents, &key, &value));
    memcpy(copy, value.mv_data, value.mv_size);
    memcpy(&stored, copy, sizeof stored);
    found += stored == id;
  }
  free(copy);
  mdb_txn_abort(txn);
  return found;
}

void bench_reader_close(bench_reader *reader) {
  mdb_env_close(reader->env);
  free(reader);
}
