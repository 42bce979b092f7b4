// Index entries that a batch adds or removes, collected and then written in order.
#ifndef CBENCH_KEY_LIST_H
#define CBENCH_KEY_LIST_H

#include "layout.h"

/// Keys of index entries, packed one after another.
typedef struct key_list {
  uint8_t *bytes, *end;
  sort_entry *entries;
  size_t count;
} key_list;

/// A list with room for so many keys.
key_list key_list_make(size_t room);

void key_list_add_order(
  key_list *list, bench_layout layout, int64_t order, MDB_val id, uint64_t row);
void key_list_add_city(
  key_list *list, bench_layout layout, bench_bytes city, MDB_val id, uint64_t row);

/// Deletes the keys from a database, or puts them into it, in order. Frees the list.
void key_list_apply(key_list *list, MDB_cursor *cursor, bool deletes);

#endif
