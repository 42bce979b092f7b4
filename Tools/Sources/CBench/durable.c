#include "durable.h"

#include <lmdb.h>
#include <stdint.h>
#include <stdlib.h>

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
