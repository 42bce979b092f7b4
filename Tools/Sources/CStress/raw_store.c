#include "raw_store.h"

#include <errno.h>
#include <lmdb.h>
#include <stdlib.h>
#include <string.h>

struct stress_raw {
  MDB_env *environment;
  // Keeps writers out, so that what is said of the newest commit stays so.
  MDB_txn *lock;
  MDB_txn *transaction;
};

// LMDB's database of free pages, which has no name.
enum { free_list = 0, main_database = 1 };

struct stress_raw *stress_raw_open(const char *folder, int *error) {
  struct stress_raw *raw = calloc(1, sizeof *raw);
  if (raw == NULL) {
    *error = ENOMEM;
    return NULL;
  }
  int status = mdb_env_create(&raw->environment);
  if (status == 0) status = mdb_env_set_maxdbs(raw->environment, 64);
  if (status == 0) status = mdb_env_set_mapsize(raw->environment, (size_t)1 << 33);
  if (status == 0) status = mdb_env_open(raw->environment, folder, MDB_NOTLS, 0600);
  if (status == 0) status = mdb_txn_begin(raw->environment, NULL, 0, &raw->lock);
  if (status == 0) status = mdb_txn_begin(raw->environment, NULL, MDB_RDONLY, &raw->transaction);
  if (status == 0) return raw;
  *error = status;
  stress_raw_close(raw);
  return NULL;
}

void stress_raw_close(struct stress_raw *raw) {
  if (raw->transaction != NULL) mdb_txn_abort(raw->transaction);
  if (raw->lock != NULL) mdb_txn_abort(raw->lock);
  if (raw->environment != NULL) mdb_env_close(raw->environment);
  free(raw);
}

const char *stress_raw_text(int error) { return mdb_strerror(error); }

static void add(struct stress_pages *pages, const MDB_stat *stat) {
  pages->reachable += stat->ms_branch_pages + stat->ms_leaf_pages + stat->ms_overflow_pages;
}

static int add_named(struct stress_raw *raw, struct stress_pages *pages) {
  MDB_cursor *cursor;
  int status = mdb_cursor_open(raw->transaction, main_database, &cursor);
  if (status != 0) return status;
  MDB_val key, value;
  while ((status = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)) == 0) {
    char name[512];
    if (key.mv_size >= sizeof name || memchr(key.mv_data, 0, key.mv_size) != NULL) continue;
    memcpy(name, key.mv_data, key.mv_size);
    name[key.mv_size] = 0;
    MDB_dbi database;
    status = mdb_dbi_open(raw->transaction, name, 0, &database);
    // A record, such as the store's state.
    if (status == MDB_INCOMPATIBLE) continue;
    if (status != 0) break;
    MDB_stat stat;
    if ((status = mdb_stat(raw->transaction, database, &stat)) != 0) break;
    add(pages, &stat);
  }
  mdb_cursor_close(cursor);
  return status == MDB_NOTFOUND ? 0 : status;
}

int stress_raw_pages(struct stress_raw *raw, struct stress_pages *pages) {
  MDB_envinfo info;
  MDB_stat stat;
  memset(pages, 0, sizeof *pages);
  int status = mdb_env_info(raw->environment, &info);
  if (status != 0) return status;
  pages->total = info.me_last_pgno + 1;
  pages->reachable = 2;
  for (MDB_dbi database = free_list; database <= main_database; database++) {
    if ((status = mdb_stat(raw->transaction, database, &stat)) != 0) return status;
    add(pages, &stat);
  }
  MDB_cursor *cursor;
  if ((status = mdb_cursor_open(raw->transaction, free_list, &cursor)) != 0) return status;
  MDB_val key, value;
  while ((status = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)) == 0) {
    size_t count;
    memcpy(&count, value.mv_data, sizeof count);
    pages->free += count;
  }
  mdb_cursor_close(cursor);
  if (status != MDB_NOTFOUND) return status;
  return add_named(raw, pages);
}

int stress_raw_each(
  struct stress_raw *raw, const char *database, const char *prefix, void *context,
  void (*body)(void *context, const uint8_t *key, size_t key_count, const uint8_t *value,
    size_t value_count)) {
  MDB_dbi handle;
  int status = mdb_dbi_open(raw->transaction, database, 0, &handle);
  if (status == MDB_NOTFOUND) return 0;
  if (status != 0) return status;
  MDB_cursor *cursor;
  if ((status = mdb_cursor_open(raw->transaction, handle, &cursor)) != 0) return status;
  size_t length = strlen(prefix);
  MDB_val key = {length, (void *)prefix}, value;
  status = mdb_cursor_get(cursor, &key, &value, length == 0 ? MDB_FIRST : MDB_SET_RANGE);
  while (status == 0 && key.mv_size >= length && memcmp(key.mv_data, prefix, length) == 0) {
    body(context, key.mv_data, key.mv_size, value.mv_data, value.mv_size);
    status = mdb_cursor_get(cursor, &key, &value, MDB_NEXT);
  }
  mdb_cursor_close(cursor);
  return status == MDB_NOTFOUND ? 0 : status;
}
