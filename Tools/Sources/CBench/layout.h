// What the two layouts differ in: how a record is found and what an index entry ends in.
#ifndef CBENCH_LAYOUT_H
#define CBENCH_LAYOUT_H

#include <lmdb.h>
#include <string.h>

#include "check.h"
#include "include/store.h"
#include "sort.h"

struct bench_store {
  MDB_env *env;
  bench_layout layout;
  bench_indexes indexes;
  MDB_dbi documents, keys, cities, orders;  // keys: only in the row layout
  MDB_dbi compounds;  // city, then order
  uint64_t next_row;
};

enum { INDEX_KEY_MAX = 96 };

static inline MDB_val value_of(const void *start, size_t count) {
  return (MDB_val){count, (void *)start};
}

static inline MDB_val id_of(const bench_contact *contact) {
  bench_bytes id = bench_contact_text(contact, BENCH_ID);
  return value_of(id.start, id.count);
}

static inline void write_big_endian(uint8_t *out, uint64_t number) {
  number = __builtin_bswap64(number);
  memcpy(out, &number, 8);
}

static inline uint64_t read_big_endian(const uint8_t *bytes) {
  uint64_t number;
  memcpy(&number, bytes, 8);
  return __builtin_bswap64(number);
}

/// The part of an index key before the id or row: a string, which holds no zero, and a zero.
static inline size_t write_city(uint8_t *out, bench_bytes city) {
  memcpy(out, city.start, city.count);
  out[city.count] = 0;
  return city.count + 1;
}

/// The part of an index key before the id or row: an integer with its sign flipped, so that bytes
/// sort as numbers do.
static inline size_t write_order(uint8_t *out, int64_t order) {
  write_big_endian(out, (uint64_t)order ^ (1ull << 63));
  return 8;
}

/// What an index entry ends in: the id, or the row.
static inline size_t write_reference(
  uint8_t *out, bench_layout layout, MDB_val id, uint64_t row
) {
  if (layout == BENCH_NATURAL) {
    memcpy(out, id.mv_data, id.mv_size);
    return id.mv_size;
  }
  write_big_endian(out, row);
  return 8;
}

/// Moves the documents cursor to the record that the end of an index entry refers to.
static inline int find_reference(
  MDB_cursor *documents, bench_layout layout, const uint8_t *reference, size_t count,
  MDB_val *record
) {
  uint64_t row;
  MDB_val key = value_of(reference, count);
  if (layout == BENCH_ROW) {
    row = read_big_endian(reference);
    key = value_of(&row, sizeof row);
  }
  return mdb_cursor_get(documents, &key, record, MDB_SET);
}

/// The ids of contacts in key order, with the place of each contact. Free it with `free`.
sort_entry *sort_contacts_by_id(const bench_contact *contacts, size_t count);

#endif
