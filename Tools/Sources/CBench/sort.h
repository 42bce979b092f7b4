// Sorting keys by their bytes.
#ifndef CBENCH_SORT_H
#define CBENCH_SORT_H

#include <stddef.h>
#include <stdint.h>

/// A key to sort, and the place it had before.
typedef struct sort_entry {
  uint64_t head;  // used while sorting
  const uint8_t *key;
  uint32_t count;
  uint32_t position;
} sort_entry;

/// Sorts keys as memcmp does, a prefix before what it begins. Keys that are in order already cost
/// one pass.
void sort_keys(sort_entry *entries, size_t count);

#endif
