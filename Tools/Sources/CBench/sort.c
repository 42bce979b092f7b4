// Eight bytes of the key at a time: all entries are sorted by the first eight as one integer, then
// each run that these leave equal by the next eight. Compared with qsort and memcmp no key is read
// twice, and no comparison goes through a pointer.
#include "sort.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static uint64_t head_at(const sort_entry *entry, size_t offset) {
  uint64_t head = 0;
  if (entry->count >= offset + 8) {
    memcpy(&head, entry->key + offset, 8);
  } else if (entry->count > offset) {
    memcpy(&head, entry->key + offset, entry->count - offset);
  }
  return __builtin_bswap64(head);
}

static void insertion_sort(sort_entry *entries, size_t count) {
  for (size_t i = 1; i < count; i++) {
    sort_entry entry = entries[i];
    size_t j = i;
    for (; j > 0 && entries[j - 1].head > entry.head; j--) entries[j] = entries[j - 1];
    entries[j] = entry;
  }
}

/// Least significant byte first, without the bytes in which no two heads differ.
static void radix_sort(sort_entry *entries, sort_entry *scratch, size_t count) {
  static _Thread_local uint32_t counts[8][256];
  memset(counts, 0, sizeof counts);
  for (size_t i = 0; i < count; i++) {
    for (int byte = 0; byte < 8; byte++) counts[byte][(entries[i].head >> (8 * byte)) & 255]++;
  }
  sort_entry *from = entries, *to = scratch;
  for (int byte = 0; byte < 8; byte++) {
    if (counts[byte][(from[0].head >> (8 * byte)) & 255] == count) continue;
    uint32_t place = 0;
    for (int value = 0; value < 256; value++) {
      uint32_t size = counts[byte][value];
      counts[byte][value] = place;
      place += size;
    }
    for (size_t i = 0; i < count; i++) {
      to[counts[byte][(from[i].head >> (8 * byte)) & 255]++] = from[i];
    }
    sort_entry *other = from;
    from = to;
    to = other;
  }
  if (from != entries) memcpy(entries, from, count * sizeof *entries);
}

static void sort_from(sort_entry *entries, sort_entry *scratch, size_t count, size_t offset) {
  bool sorted = true, more = false;
  for (size_t i = 0; i < count; i++) {
    entries[i].head = head_at(&entries[i], offset);
    sorted = sorted && (i == 0 || entries[i - 1].head <= entries[i].head);
    more = more || entries[i].count > offset + 8;
  }
  if (!sorted && count < 64) insertion_sort(entries, count);
  if (!sorted && count >= 64) radix_sort(entries, scratch, count);
  if (!more) return;
  for (size_t start = 0; start < count;) {
    size_t end = start + 1;
    while (end < count && entries[end].head == entries[start].head) end++;
    if (end - start > 1) sort_from(entries + start, scratch, end - start, offset + 8);
    start = end;
  }
}

void sort_keys(sort_entry *entries, size_t count) {
  sort_entry *scratch = bench_allocate(count, sizeof *scratch);
  sort_from(entries, scratch, count, 0);
  free(scratch);
}
