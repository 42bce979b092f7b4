#include "include/versions.h"

#include <lmdb.h>
#include <sqlite3.h>
#include <stddef.h>

const char *bench_lmdb_version(void) { return mdb_version(NULL, NULL, NULL); }

const char *bench_sqlite_version(void) { return sqlite3_libversion(); }

const char *bench_compiler_version(void) { return __VERSION__; }
