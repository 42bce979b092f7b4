// Decoded documents in an array that grows, as a Swift array does.
#ifndef CBENCH_DOCUMENT_LIST_H
#define CBENCH_DOCUMENT_LIST_H

#include <errno.h>
#include <stdlib.h>

#include "check.h"
#include "record.h"

typedef struct document_list {
  bench_document *documents;
  size_t count, room;
} document_list;

/// Room for one more document, which the caller fills.
static inline bench_document *list_extend(document_list *list) {
  if (list->count == list->room) {
    list->room = list->room ? list->room * 2 : 16;
    list->documents = realloc(list->documents, list->room * sizeof *list->documents);
    if (!list->documents) bench_require(ENOMEM, "grow a list");
  }
  return &list->documents[list->count++];
}

static inline void list_append(document_list *list, const uint8_t *record) {
  document_decode(list_extend(list), record);
}

static inline void list_release(document_list *list) {
  for (size_t i = 0; i < list->count; i++) document_release(&list->documents[i]);
  free(list->documents);
}

static inline uint64_t list_glance(const document_list *list) {
  uint64_t checksum = 0;
  for (size_t i = 0; i < list->count; i++) checksum += document_glance(&list->documents[i]);
  return checksum;
}

#endif
