// Checksums of a contact and of a decoded document: two readings that must give one value. The
// Swift half has a third.
#include <string.h>

#include "record.h"

static uint64_t bits(double number) {
  uint64_t word;
  memcpy(&word, &number, 8);
  return word;
}

static uint64_t flags(bool active, bool has_geo, bool has_label, uint8_t tag_count) {
  return (uint64_t)active | (uint64_t)has_geo << 1 | (uint64_t)has_label << 2
    | (uint64_t)tag_count << 3;
}

// FNV-1a, by bytes for texts and by words for numbers.
static const uint64_t fnv_start = 0xCBF29CE484222325u, fnv_prime = 0x100000001B3u;

static uint64_t mix(uint64_t hash, uint64_t word) { return (hash ^ word) * fnv_prime; }

static uint64_t mix_text(uint64_t hash, bench_bytes text) {
  for (size_t i = 0; i < text.count; i++) hash = mix(hash, text.start[i]);
  return mix(hash, 0xFF);
}

static bench_bytes string_bytes(const bench_string *string) {
  if (string->small[15] == STRING_IN_HEAP) {
    return (bench_bytes){string->heap.start, string->heap.count};
  }
  return (bench_bytes){string->small, string->small[15]};
}

uint64_t bench_contact_glance(const bench_contact *contact) {
  size_t sizes = bench_contact_text(contact, BENCH_ID).count
    + 3 * bench_contact_text(contact, BENCH_NAME).count
    + 5 * bench_contact_text(contact, BENCH_ADDRESS).count
    + 7 * bench_contact_text(contact, BENCH_CITY).count;
  return (uint64_t)contact->order + bits(contact->balance) + bits(contact->updated_at) + sizes
    + 11 * contact->tag_count;
}

uint64_t document_glance(const bench_document *document) {
  size_t sizes = string_bytes(&document->id).count + 3 * string_bytes(&document->name).count
    + 5 * string_bytes(&document->address).count + 7 * string_bytes(&document->city).count;
  return (uint64_t)document->order + bits(document->balance) + bits(document->updated_at) + sizes
    + 11 * document->tag_count;
}

uint64_t bench_contact_digest(const bench_contact *contact) {
  uint64_t hash = fnv_start;
  for (int field = 0; field < BENCH_FIRST_TAG + contact->tag_count; field++) {
    hash = mix_text(hash, bench_contact_text(contact, field));
  }
  hash = mix(hash, (uint64_t)contact->order);
  hash = mix(hash, bits(contact->balance));
  hash = mix(hash, bits(contact->updated_at));
  hash = mix(hash, contact->has_geo ? bits(contact->latitude) : 0);
  hash = mix(hash, contact->has_geo ? bits(contact->longitude) : 0);
  return mix(hash,
    flags(contact->active, contact->has_geo, contact->has_label, contact->tag_count));
}

uint64_t document_digest(const bench_document *document) {
  const bench_string *texts[BENCH_FIRST_TAG] = {
    &document->id, &document->name, &document->phone, &document->address, &document->city,
    &document->label,
  };
  uint64_t hash = fnv_start;
  for (int field = 0; field < BENCH_FIRST_TAG; field++) {
    hash = mix_text(hash, string_bytes(texts[field]));
  }
  for (int tag = 0; tag < document->tag_count; tag++) {
    hash = mix_text(hash, string_bytes(&document->tags[tag]));
  }
  hash = mix(hash, (uint64_t)document->order);
  hash = mix(hash, bits(document->balance));
  hash = mix(hash, bits(document->updated_at));
  hash = mix(hash, document->has_geo ? bits(document->latitude) : 0);
  hash = mix(hash, document->has_geo ? bits(document->longitude) : 0);
  return mix(hash,
    flags(document->active, document->has_geo, document->has_label, document->tag_count));
}
