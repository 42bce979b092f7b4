// The workload: contacts made from a seed and an index, the same on every run and for every engine.
#ifndef CBENCH_WORKLOAD_H
#define CBENCH_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// How the ids of a workload relate to the order in which its contacts arrive.
typedef enum bench_keys {
  BENCH_KEYS_ORDERED,   // "seller-00000042", ascending
  BENCH_KEYS_SHUFFLED,  // the same ids, arriving in random order
  BENCH_KEYS_RANDOM,    // 36 characters, as a UUID is written
} bench_keys;

/// The texts of a contact. Tags are BENCH_FIRST_TAG and the ones after it, up to the tag count.
typedef enum bench_field {
  BENCH_ID,
  BENCH_NAME,
  BENCH_PHONE,
  BENCH_ADDRESS,
  BENCH_CITY,
  BENCH_LABEL,
  BENCH_FIRST_TAG,
} bench_field;

enum { BENCH_MAX_TAGS = 4, BENCH_TEXT_COUNT = BENCH_FIRST_TAG + BENCH_MAX_TAGS };

/// One contact. Its texts stand one after another in `text`; read them with `bench_contact_text`.
typedef struct bench_contact {
  int64_t order;
  double balance;
  double updated_at;
  double latitude, longitude;  // meaningless unless has_geo
  bool active, has_geo, has_label;
  uint8_t tag_count;
  uint16_t starts[BENCH_TEXT_COUNT + 1];
  uint8_t text[256];
} bench_contact;

/// UTF-8 bytes that belong to somebody else. Not terminated by a zero.
typedef struct bench_bytes {
  const uint8_t *start;
  size_t count;
} bench_bytes;

static inline bench_bytes bench_contact_text(const bench_contact *contact, int field) {
  uint16_t start = contact->starts[field];
  return (bench_bytes){contact->text + start, (size_t)(contact->starts[field + 1] - start)};
}

/// Makes contact `index` of the workload `seed`, under the id "seller-<number>".
void bench_contact_make(bench_contact *contact, uint64_t seed, uint64_t index, uint64_t number);

/// The same contact, under a random id of 36 characters.
void bench_contact_make_uuid(bench_contact *contact, uint64_t seed, uint64_t index);

/// Gives a contact other values of order, balance and updatedAt, the same ones for the same input.
void bench_contact_bump(bench_contact *contact);

/// As `bench_contact_bump`, but keeps `order`, so that no index changes.
void bench_contact_bump_balance(bench_contact *contact);

/// Writes the name of one of the BENCH_CITY_COUNT cities, every tenth of which is not ASCII, and
/// returns its byte count.
size_t bench_city_name(unsigned city, uint8_t out[32]);
enum { BENCH_CITY_COUNT = 200 };

/// A checksum of everything in a contact. Sums of it do not depend on the order of the contacts.
uint64_t bench_contact_digest(const bench_contact *contact);

/// A checksum cheap enough to stand inside a timed loop: the numbers and the sizes of the texts.
uint64_t bench_contact_glance(const bench_contact *contact);

/// The contacts of one run, in order of arrival.
typedef struct bench_workload {
  size_t count;
  bench_contact *contacts;
} bench_workload;

/// Makes `count` contacts; about 330 bytes each. Free it with `bench_workload_destroy`.
bench_workload *bench_workload_create(size_t count, bench_keys keys, uint64_t seed);
void bench_workload_destroy(bench_workload *workload);

enum {
  BENCH_LOOKUP_COUNT = 100000,  // keys that one `get-by-key` asks for
  BENCH_BATCH_COUNT = 10000,    // documents of one batch, at most
  BENCH_QUERY_COUNT = 20,       // cities that one run asks for
  BENCH_COUNT_REPETITIONS = 10,
  BENCH_SINGLE_COUNT = 100,     // documents that are saved one by one
  BENCH_BALANCE_LIMIT = 1000,   // balances lie between 0 and 100,000: below it lies 1 %
};

// Orders lie between minus and plus 10^12: between these lie 10 %.
static const int64_t BENCH_ORDER_START = 100000000000, BENCH_ORDER_END = 300000000000;
static const int64_t BENCH_ORDER_LIMIT = -980000000000;  // below it lies 1 %

/// What a scan filters by: a double, an integer, a text, which is the first city asked for, or a part of
/// a name.
typedef enum {
  BENCH_BALANCE_BELOW, BENCH_ORDER_BELOW, BENCH_CITY_EQUAL, BENCH_NAME_HAS
} bench_condition;

/// In one name of 80.
#define BENCH_NAME_PART "Žof"
/// What three of the 20 beginnings of cities begin with, and what comes behind all of these.
#define BENCH_CITY_PREFIX "M"
#define BENCH_CITY_PREFIX_END "N"

/// The index of the `position`-th contact to get by key: random, with repetitions.
size_t bench_lookup_index(const bench_workload *workload, size_t position);

/// The number of documents in a batch that is saved over, updated or deleted.
size_t bench_batch_count(const bench_workload *workload);

/// The index of the `position`-th contact of such a batch: spread evenly, all different, and in an
/// order that is neither that of arrival nor that of the keys.
size_t bench_batch_index(const bench_workload *workload, size_t position);

/// That contact as an update leaves it: every other one has another `order`, all of them another
/// balance and updatedAt.
void bench_batch_updated(const bench_workload *workload, size_t position, bench_contact *out);

/// That contact as a batch saved after the update has it: every other one as it was at first, the
/// rest as they are stored, so that half of the batch changes nothing.
void bench_batch_upserted(const bench_workload *workload, size_t position, bench_contact *out);

/// That contact as a batch has it of which half is changed: every other one has another `order`,
/// balance and updatedAt.
void bench_batch_half_changed(const bench_workload *workload, size_t position, bench_contact *out);

/// The contacts of one city, in order of arrival: as they are, or as a server may send them later.
/// Then of every ten one is left out, four are changed and one is new. Free it with `free`.
bench_contact *bench_page_make(const bench_workload *workload, bool later, size_t *count);

/// The `position`-th city to ask for.
unsigned bench_query_city(size_t position);

#endif
