// What an app does without live queries: it runs its query again after each change.
#ifndef CBENCH_RERUN_H
#define CBENCH_RERUN_H

#include "sqlite.h"

typedef struct bench_rerun {
  /// From the return of the change to the rows that the query gives afterwards.
  double seconds;
  /// The same from before the change.
  double seconds_with_save;
  /// How many rows it gave, and a checksum of them.
  size_t count;
  uint64_t checksum;
} bench_rerun;

/// Gives the first contact of the first city that queries ask for another `order`, in a transaction
/// of its own, and reads the contacts of that city in their order, with the compound index.
bench_rerun bench_sqlite_rerun(
  bench_sqlite *database, const bench_workload *workload, int64_t order);

/// Changes and flushes one contact after another, `count` times, each in a transaction of its own,
/// and returns the seconds.
double bench_sqlite_durable_puts(
  bench_sqlite *database, const bench_workload *workload, size_t count);

#endif
