// SQLite driven directly from C: Debian's library, a write-ahead log, `synchronous` FULL, prepared
// statements, and the indexes that the queries want. What its functions are timed for and return is
// what the functions of the same names in store.h are and return.
#ifndef CBENCH_SQLITE_H
#define CBENCH_SQLITE_H

#include "store.h"

typedef struct bench_sqlite bench_sqlite;

/// Opens the database in an existing folder, creating it if the folder is empty.
bench_sqlite *bench_sqlite_open(const char *folder, bench_indexes indexes);
void bench_sqlite_close(bench_sqlite *database);

/// The bytes of the database, with the log written back and emptied.
uint64_t bench_sqlite_byte_count(bench_sqlite *database);
uint64_t bench_sqlite_digest(bench_sqlite *database);

bench_sample bench_sqlite_save(bench_sqlite *database, const bench_workload *workload);
bench_sample bench_sqlite_save_unchanged(bench_sqlite *database, const bench_workload *workload);
bench_sample bench_sqlite_save_half_changed(bench_sqlite *database, const bench_workload *workload);
bench_sample bench_sqlite_replace_city(bench_sqlite *database, const bench_workload *workload);
bench_sample bench_sqlite_write_singly(bench_sqlite *database, const bench_workload *workload);
bench_sample bench_sqlite_time_open(const char *folder, const bench_workload *workload);

bench_sample bench_sqlite_get(bench_sqlite *database, const bench_workload *workload);
bench_sample bench_sqlite_scan(bench_sqlite *database, const bench_workload *workload);
bench_sample bench_sqlite_scan_filtered(bench_sqlite *database);
bench_sample bench_sqlite_scan_names(bench_sqlite *database);
bench_sample bench_sqlite_query_cities(bench_sqlite *database);
bench_sample bench_sqlite_query_compound(bench_sqlite *database);
bench_sample bench_sqlite_top_by_order(bench_sqlite *database);
bench_sample bench_sqlite_count_cities(bench_sqlite *database);

/// Decodes the documents in the order of their names, which no index has: the first BENCH_TOP_COUNT,
/// with the sum of their glances, or all of them, with the sum of their digests.
bench_sample bench_sqlite_first_names(bench_sqlite *database);
bench_sample bench_sqlite_sort_names(bench_sqlite *database, const bench_workload *workload);

/// The sum of all orders; the sum of those of each city, with the sum of their squares as the checksum;
/// and `integrity_check`, with the number of the documents.
bench_sample bench_sqlite_sum(bench_sqlite *database);
bench_sample bench_sqlite_sums_by_city(bench_sqlite *database);
bench_sample bench_sqlite_check(bench_sqlite *database);
bench_sample bench_sqlite_build_index(bench_sqlite *database);

/// Counts the documents whose city begins with BENCH_CITY_PREFIX, as a range of the index,
/// BENCH_COUNT_REPETITIONS times.
bench_sample bench_sqlite_count_prefix(bench_sqlite *database);

#endif
