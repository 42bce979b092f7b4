// LMDB driven directly from C, in two layouts. In its natural layout and without indexes it is the
// limit that other engines are measured against; with indexes it is the layout study.
//
// What every function here has in common: a refused call ends the program (see check.h). Writes
// are one durable transaction with LMDB's default flags, and encoding, sorting and the commit are
// inside the time. Reads are one read transaction, and what they decode owns memory as a Swift
// struct does: one allocation for each text above 15 bytes and one for tags that are not empty. It
// is freed inside the time where the caller of a Swift library would have let go of it by then (get
// by key, queries), and after it where the caller still holds the result (scans).
#ifndef CBENCH_STORE_H
#define CBENCH_STORE_H

#include "workload.h"

/// Where a record stands.
typedef enum bench_layout {
  BENCH_NATURAL,  // documents: id -> record; an index entry ends in the id
  BENCH_ROW,      // documents: row -> record; keys: id -> row; an index entry ends in the row
} bench_layout;

/// The index databases that are kept by hand, without DUPSORT: fields, then id or row, no value.
typedef enum bench_indexes {
  BENCH_NO_INDEX,
  BENCH_TWO_INDEXES,     // one over `city`, one over `order`
  BENCH_COMPOUND_INDEX,  // one over `city` and then `order`
} bench_indexes;

/// What one run of an operation took and returned.
typedef struct bench_sample {
  double seconds;
  uint64_t checksum;
} bench_sample;

typedef struct bench_store bench_store;

/// Sets the largest size that stores which are opened from now on may grow to: 64 GiB until then.
void bench_set_map_byte_count(size_t count);

/// Opens the store in an existing folder, creating it if the folder is empty.
bench_store *bench_store_open(const char *folder, bench_layout layout, bench_indexes indexes);
void bench_store_close(bench_store *store);

/// The bytes of the pages in use and of those left free, as the file has them.
uint64_t bench_store_byte_count(const bench_store *store);

/// The sum of the digests of all documents; not timed. Ends the program if the key map or an index
/// has not exactly one entry for each document.
uint64_t bench_store_digest(const bench_store *store);

/// Saves the whole workload into a store that holds none of it, in `batch_count` transactions of
/// equal size, each sorted by id and put through one cursor. No checksum.
bench_sample bench_save(bench_store *store, const bench_workload *workload, size_t batch_count);

/// Saves a batch that is stored already, unchanged, in the natural layout without indexes. Without
/// `compare` every record is put again, which LMDB does not notice: all its pages are written. With
/// `compare` equal bytes are skipped, so the commit has nothing to write. No checksum.
bench_sample bench_save_unchanged(
  bench_store *store, const bench_workload *workload, bool compare);

/// Gets and decodes BENCH_LOOKUP_COUNT documents by id, in random order, each freed at once.
/// The checksum is the sum of their glances.
bench_sample bench_get(const bench_store *store, const bench_workload *workload);

/// Decodes all documents, in key order, into an array with room for all of them. The checksum is
/// the sum of their digests.
bench_sample bench_scan_by_key(const bench_store *store);

/// What takes a record in place, packed as the store keeps it.
typedef void (*bench_visitor)(void *context, const uint8_t *record);

/// Lends every record in key order, or those of `bench_get`'s keys one after another, for a caller
/// that decodes them itself. Returns the seconds.
double bench_visit_all(const bench_store *store, bench_visitor visit, void *context);
double bench_visit_lookups(
  const bench_store *store, const bench_workload *workload, bench_visitor visit, void *context);

/// As `bench_scan_by_key`, in the order in which the records stand.
bench_sample bench_scan_by_storage(const bench_store *store);

/// Decodes the documents of BENCH_QUERY_COUNT cities, one array for each, freed at once. The
/// checksum is the sum of their glances.
bench_sample bench_query_cities(const bench_store *store);

/// Decodes the BENCH_TOP_COUNT documents of the highest order, BENCH_TOP_REPETITIONS times. The
/// checksum is the sum of the glances of one time.
bench_sample bench_top_by_order(const bench_store *store);
enum { BENCH_TOP_COUNT = 20, BENCH_TOP_REPETITIONS = 200 };

/// Updates a batch one document at a time, in no order, in one transaction; every other one changes
/// `order`, so that an index entry moves. No checksum.
bench_sample bench_update(bench_store *store, const bench_workload *workload);

/// Saves an updated batch again, sorted, in one transaction; half of it is equal to what is stored
/// and skipped, the other half changes `order`. No checksum.
bench_sample bench_upsert(bench_store *store, const bench_workload *workload);

/// Saves a batch of which half is changed (`bench_batch_half_changed`), sorted, in one transaction;
/// equal records are skipped, and for the others the entry in `order` moves. Restores the batch
/// afterwards. The checksum is the digest of what the store held in between.
bench_sample bench_save_half_changed(bench_store *store, const bench_workload *workload);

/// Replaces the documents of a city by the page of `bench_page_make`, in one transaction: what the
/// page does not have is deleted, equal records are skipped. Restores the city afterwards. The
/// checksum is the digest of what the store held in between.
bench_sample bench_replace_city(bench_store *store, const bench_workload *workload);

/// Updates BENCH_SINGLE_COUNT documents, each in a transaction of its own, and then back again. No
/// checksum.
bench_sample bench_write_singly(bench_store *store, const bench_workload *workload);

/// Opens the store in `folder` and gets the first document of `bench_get`, BENCH_OPEN_COUNT times;
/// closing is not in the time. The checksum is the sum of the glances of one time.
bench_sample bench_open(const char *folder, const bench_workload *workload);
enum { BENCH_OPEN_COUNT = 20 };

/// Decodes the documents whose balance is below BENCH_BALANCE_LIMIT, in key order, into an array
/// that grows, by looking at each. The checksum is the sum of their glances.
bench_sample bench_scan_filtered(const bench_store *store, bench_condition condition);

/// As `bench_query_cities`, of each city those with an order between BENCH_ORDER_START and
/// BENCH_ORDER_END, by the compound index and in its order.
bench_sample bench_query_compound(const bench_store *store);

/// Counts the documents of BENCH_QUERY_COUNT cities in the index alone, BENCH_COUNT_REPETITIONS
/// times. The checksum is the sum of all counts.
bench_sample bench_count_cities(const bench_store *store);

/// Deletes a batch one document at a time, in no order, in one transaction. No checksum.
bench_sample bench_delete(bench_store *store, const bench_workload *workload);

// What the checksums must be, worked out from the workload alone.
uint64_t bench_expected_all(const bench_workload *workload);
uint64_t bench_expected_lookups(const bench_workload *workload);
uint64_t bench_expected_cities(const bench_workload *workload);
uint64_t bench_expected_top(const bench_workload *workload);
uint64_t bench_expected_filtered(const bench_workload *workload, bench_condition condition);
uint64_t bench_expected_first_names(const bench_workload *workload);
uint64_t bench_expected_prefix_count(const bench_workload *workload);
uint64_t bench_expected_compound(const bench_workload *workload);
uint64_t bench_expected_counts(const bench_workload *workload);
uint64_t bench_expected_after_half(const bench_workload *workload);
uint64_t bench_expected_after_replace(const bench_workload *workload);
uint64_t bench_expected_after_update(const bench_workload *workload);
uint64_t bench_expected_after_upsert(const bench_workload *workload);
uint64_t bench_expected_after_delete(const bench_workload *workload);

#endif
