// A contact as bytes, packed by hand, and a contact decoded as a language with value types would.
//
// Byte 0 is flags, 1 the tag count, 2 ..< 12 the sizes of the ten texts, 12 ..< 36 order, balance
// and updatedAt; then, if present, latitude and longitude; then the texts. There is no version and
// no checksum, nothing is optional but geo, and the reader trusts every byte: this is the limit,
// not a format to store data in.
#ifndef CBENCH_RECORD_H
#define CBENCH_RECORD_H

#include "include/workload.h"

enum { RECORD_MAX = 512 };

/// Packs a contact and returns the number of bytes.
size_t record_pack(const bench_contact *contact, uint8_t out[RECORD_MAX]);

/// Fields that are compared, read from a record without decoding the rest.
int64_t record_order(const uint8_t *record);
double record_balance(const uint8_t *record);
bench_bytes record_name(const uint8_t *record);
bench_bytes record_city(const uint8_t *record);
bench_bytes record_id(const uint8_t *record);

/// Sixteen bytes, as Swift's String: up to 15 bytes of text inline, more in memory of its own.
typedef union bench_string {
  uint8_t small[16];  // small[15] is the byte count, or STRING_IN_HEAP
  struct {
    uint8_t *start;
    uint32_t count;
  } heap;
} bench_string;

enum { STRING_IN_HEAP = 0xFF, STRING_SMALL_MAX = 15 };

/// A contact decoded. It owns memory exactly where a Swift struct would: one allocation for each
/// text above 15 bytes and one for a tags array that is not empty.
typedef struct bench_document {
  bench_string id, name, phone, address, city, label;
  int64_t order;
  double balance, updated_at, latitude, longitude;
  bench_string *tags;
  uint8_t tag_count;
  bool active, has_geo, has_label;
} bench_document;

/// Sets a string; it owns memory if it is longer than STRING_SMALL_MAX.
void string_set(bench_string *string, const uint8_t *text, size_t count);

void document_decode(bench_document *document, const uint8_t *record);

/// Frees what the document owns, as Swift's release does.
void document_release(bench_document *document);

/// The same values as the functions of the same names on the contact that the record was made from.
uint64_t document_glance(const bench_document *document);
uint64_t document_digest(const bench_document *document);

#endif
