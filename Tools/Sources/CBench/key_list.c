#include "key_list.h"

#include <stdlib.h>

key_list key_list_make(size_t room) {
  uint8_t *bytes = bench_allocate(room, INDEX_KEY_MAX);
  return (key_list){bytes, bytes, bench_allocate(room, sizeof(sort_entry)), 0};
}

/// Ends the key whose fields take `size` bytes behind the last one.
static void end_key(key_list *list, size_t size, bench_layout layout, MDB_val id, uint64_t row) {
  size += write_reference(list->end + size, layout, id, row);
  list->entries[list->count++] = (sort_entry){0, list->end, (uint32_t)size, 0};
  list->end += size;
}

void key_list_add_order(
  key_list *list, bench_layout layout, int64_t order, MDB_val id, uint64_t row
) {
  end_key(list, write_order(list->end, order), layout, id, row);
}

void key_list_add_city(
  key_list *list, bench_layout layout, bench_bytes city, MDB_val id, uint64_t row
) {
  end_key(list, write_city(list->end, city), layout, id, row);
}

void key_list_apply(key_list *list, MDB_cursor *cursor, bool deletes) {
  sort_keys(list->entries, list->count);
  for (size_t i = 0; i < list->count; i++) {
    MDB_val key = value_of(list->entries[i].key, list->entries[i].count), nothing = value_of("", 0);
    if (deletes) {
      REQUIRE(mdb_cursor_get(cursor, &key, &nothing, MDB_SET));
      REQUIRE(mdb_cursor_del(cursor, 0));
    } else {
      REQUIRE(mdb_cursor_put(cursor, &key, &nothing, MDB_NOOVERWRITE));
    }
  }
  free(list->entries);
  free(list->bytes);
}
