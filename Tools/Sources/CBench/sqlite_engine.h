// What the files of the SQLite engine share.
#ifndef CBENCH_SQLITE_INTERNALS_H
#define CBENCH_SQLITE_INTERNALS_H

#include <sqlite3.h>

#include "document_list.h"
#include "include/sqlite.h"

/// Statements are prepared once, when the database is opened.
struct bench_sqlite {
  sqlite3 *connection;
  sqlite3_stmt *begin, *commit;
  sqlite3_stmt *upsert, *mark_kept, *forget_kept, *delete_others;
  sqlite3_stmt *get, *scan, *filtered, *by_city, *compound, *top, *count_city;
  sqlite3_stmt *name_has, *by_name, *count_range;
};

/// Ends the program unless `code` is the expected one.
void sqlite_require(const bench_sqlite *database, int code, int expected);

/// Runs a statement that returns no rows, and resets it.
void sqlite_run(const bench_sqlite *database, sqlite3_stmt *statement);

/// Saves one contact, in a transaction of its own where none has begun.
void sqlite_upsert(const bench_sqlite *database, const bench_contact *contact);

/// The documents of the `position`-th city to ask for, by the compound index and in its order.
document_list sqlite_read_city(const bench_sqlite *database, size_t position);

#endif
