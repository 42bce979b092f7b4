#include "record.h"

#include <stdlib.h>
#include <string.h>

enum { FLAG_ACTIVE = 1, FLAG_GEO = 2, FLAG_LABEL = 4, NUMBERS_AT = 12, NUMBERS_END = 36 };

size_t record_pack(const bench_contact *contact, uint8_t out[RECORD_MAX]) {
  out[0] = (uint8_t)((contact->active ? FLAG_ACTIVE : 0) | (contact->has_geo ? FLAG_GEO : 0)
    | (contact->has_label ? FLAG_LABEL : 0));
  out[1] = contact->tag_count;
  memcpy(out + NUMBERS_AT, &contact->order, 8);
  memcpy(out + NUMBERS_AT + 8, &contact->balance, 8);
  memcpy(out + NUMBERS_AT + 16, &contact->updated_at, 8);
  uint8_t *end = out + NUMBERS_END;
  if (contact->has_geo) {
    memcpy(end, &contact->latitude, 8);
    memcpy(end + 8, &contact->longitude, 8);
    end += 16;
  }
  for (int field = 0; field < BENCH_TEXT_COUNT; field++) {
    bench_bytes text = bench_contact_text(contact, field);
    out[2 + field] = (uint8_t)text.count;
    memcpy(end, text.start, text.count);
    end += text.count;
  }
  return (size_t)(end - out);
}

static const uint8_t *texts_of(const uint8_t *record) {
  return record + NUMBERS_END + (record[0] & FLAG_GEO ? 16 : 0);
}

int64_t record_order(const uint8_t *record) {
  int64_t order;
  memcpy(&order, record + NUMBERS_AT, 8);
  return order;
}

double record_balance(const uint8_t *record) {
  double balance;
  memcpy(&balance, record + NUMBERS_AT + 8, 8);
  return balance;
}

bench_bytes record_id(const uint8_t *record) {
  return (bench_bytes){texts_of(record), record[2 + BENCH_ID]};
}

bench_bytes record_name(const uint8_t *record) {
  const uint8_t *text = texts_of(record);
  for (int field = 0; field < BENCH_NAME; field++) text += record[2 + field];
  return (bench_bytes){text, record[2 + BENCH_NAME]};
}

bench_bytes record_city(const uint8_t *record) {
  const uint8_t *text = texts_of(record);
  for (int field = 0; field < BENCH_CITY; field++) text += record[2 + field];
  return (bench_bytes){text, record[2 + BENCH_CITY]};
}

static const uint8_t *decode_text(bench_string *string, const uint8_t *text, size_t count) {
  if (count <= STRING_SMALL_MAX) {
    memcpy(string->small, text, count);
    string->small[15] = (uint8_t)count;
  } else {
    string->heap.start = malloc(count);
    string->heap.count = (uint32_t)count;
    string->small[15] = STRING_IN_HEAP;
    memcpy(string->heap.start, text, count);
  }
  return text + count;
}

void string_set(bench_string *string, const uint8_t *text, size_t count) {
  decode_text(string, text, count);
}

void document_decode(bench_document *document, const uint8_t *record) {
  const uint8_t *sizes = record + 2, *text = record + NUMBERS_END;
  document->active = record[0] & FLAG_ACTIVE;
  document->has_geo = (record[0] & FLAG_GEO) != 0;
  document->has_label = (record[0] & FLAG_LABEL) != 0;
  memcpy(&document->order, record + NUMBERS_AT, 8);
  memcpy(&document->balance, record + NUMBERS_AT + 8, 8);
  memcpy(&document->updated_at, record + NUMBERS_AT + 16, 8);
  if (document->has_geo) {
    memcpy(&document->latitude, text, 8);
    memcpy(&document->longitude, text + 8, 8);
    text += 16;
  }
  text = decode_text(&document->id, text, sizes[BENCH_ID]);
  text = decode_text(&document->name, text, sizes[BENCH_NAME]);
  text = decode_text(&document->phone, text, sizes[BENCH_PHONE]);
  text = decode_text(&document->address, text, sizes[BENCH_ADDRESS]);
  text = decode_text(&document->city, text, sizes[BENCH_CITY]);
  text = decode_text(&document->label, text, sizes[BENCH_LABEL]);
  document->tag_count = record[1];
  document->tags = record[1] ? malloc(record[1] * sizeof *document->tags) : NULL;
  for (int tag = 0; tag < document->tag_count; tag++) {
    text = decode_text(&document->tags[tag], text, sizes[BENCH_FIRST_TAG + tag]);
  }
}

static void release_text(bench_string *string) {
  if (string->small[15] == STRING_IN_HEAP) free(string->heap.start);
}

void document_release(bench_document *document) {
  release_text(&document->id);
  release_text(&document->name);
  release_text(&document->phone);
  release_text(&document->address);
  release_text(&document->city);
  release_text(&document->label);
  for (int tag = 0; tag < document->tag_count; tag++) release_text(&document->tags[tag]);
  free(document->tags);
}
