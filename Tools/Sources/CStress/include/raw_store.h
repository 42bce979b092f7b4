#pragma once
#include <stddef.h>
#include <stdint.h>

// A store read with nothing but LMDB's own calls.

struct stress_raw;

/// Opens the store in `folder`, waiting for whoever writes, and keeps writers out until it is
/// closed. NULL after an error, which `error` (an error of LMDB or the system) then names.
struct stress_raw *stress_raw_open(const char *folder, int *error);
void stress_raw_close(struct stress_raw *raw);

const char *stress_raw_text(int error);

struct stress_pages {
  /// All pages up to the last one that was ever used.
  uint64_t total;
  /// In a tree, in the list of free pages itself, and the two that every file begins with.
  uint64_t reachable;
  /// Named by the list of free pages.
  uint64_t free;
};

/// Counts the pages. A page that is neither reachable nor free has leaked.
int stress_raw_pages(struct stress_raw *raw, struct stress_pages *pages);

/// Calls `body` for each record of a database whose key begins with `prefix`, in their order.
/// A database that is missing has none.
int stress_raw_each(
  struct stress_raw *raw, const char *database, const char *prefix, void *context,
  void (*body)(void *context, const uint8_t *key, size_t key_count, const uint8_t *value,
    size_t value_count));
