#include "snapshot.h"

#include <sqlite3.h>

// Weak, so that a library that has them goes first.
#define STAND_IN __attribute__((weak))

STAND_IN int sqlite3_snapshot_get(sqlite3 *database, const char *schema, sqlite3_snapshot **out) {
  (void)database, (void)schema, (void)out;
  return SQLITE_ERROR;
}

STAND_IN int sqlite3_snapshot_open(
  sqlite3 *database, const char *schema, sqlite3_snapshot *snapshot
) {
  (void)database, (void)schema, (void)snapshot;
  return SQLITE_ERROR;
}

STAND_IN void sqlite3_snapshot_free(sqlite3_snapshot *snapshot) { (void)snapshot; }

STAND_IN int sqlite3_snapshot_cmp(sqlite3_snapshot *left, sqlite3_snapshot *right) {
  (void)left, (void)right;
  return 0;
}

STAND_IN int sqlite3_snapshot_recover(sqlite3 *database, const char *schema) {
  (void)database, (void)schema;
  return SQLITE_ERROR;
}

void snapshots_are_missing(void) {}
