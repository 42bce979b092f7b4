// The contacts of one run, and which of them each operation asks for.
#include "include/workload.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "random.h"

/// 0 ..< count in random order (Fisher and Yates).
static uint32_t *shuffled_numbers(size_t count, uint64_t seed) {
  uint32_t *numbers = bench_allocate(count, sizeof *numbers);
  for (size_t i = 0; i < count; i++) numbers[i] = (uint32_t)i;
  for (size_t i = count; i > 1; i--) {
    size_t other = random_below(&seed, i);
    uint32_t number = numbers[i - 1];
    numbers[i - 1] = numbers[other];
    numbers[other] = number;
  }
  return numbers;
}

bench_workload *bench_workload_create(size_t count, bench_keys keys, uint64_t seed) {
  bench_workload *workload = bench_allocate(1, sizeof *workload);
  workload->count = count;
  workload->contacts = bench_allocate(count, sizeof *workload->contacts);
  uint32_t *numbers = keys == BENCH_KEYS_SHUFFLED ? shuffled_numbers(count, seed) : NULL;
  for (size_t i = 0; i < count; i++) {
    if (keys == BENCH_KEYS_RANDOM) {
      bench_contact_make_uuid(&workload->contacts[i], seed, i);
    } else {
      bench_contact_make(&workload->contacts[i], seed, i, numbers ? numbers[i] : i);
    }
  }
  free(numbers);
  return workload;
}

void bench_workload_destroy(bench_workload *workload) {
  free(workload->contacts);
  free(workload);
}

size_t bench_lookup_index(const bench_workload *workload, size_t position) {
  uint64_t state = 0xABC + position * 0x9E3779B97F4A7C15u;
  return random_below(&state, workload->count);
}

size_t bench_batch_count(const bench_workload *workload) {
  return workload->count < BENCH_BATCH_COUNT ? workload->count : BENCH_BATCH_COUNT;
}

size_t bench_batch_index(const bench_workload *workload, size_t position) {
  size_t count = bench_batch_count(workload);
  // A prime that no batch of up to 10,000 is a multiple of but itself: all places, once each.
  size_t place = count == 7919 ? position : position * 7919 % count;
  return place * (workload->count / count);
}

void bench_batch_updated(const bench_workload *workload, size_t position, bench_contact *out) {
  *out = workload->contacts[bench_batch_index(workload, position)];
  if (position % 2 == 1) {
    bench_contact_bump(out);
  } else {
    bench_contact_bump_balance(out);
  }
}

void bench_batch_upserted(const bench_workload *workload, size_t position, bench_contact *out) {
  if (position % 2 == 1) {
    *out = workload->contacts[bench_batch_index(workload, position)];
  } else {
    bench_batch_updated(workload, position, out);
  }
}

void bench_batch_half_changed(const bench_workload *workload, size_t position, bench_contact *out) {
  *out = workload->contacts[bench_batch_index(workload, position)];
  if (position % 2 == 1) bench_contact_bump(out);
}

bench_contact *bench_page_make(const bench_workload *workload, bool later, size_t *count) {
  uint8_t name[32];
  size_t name_count = bench_city_name(bench_query_city(0), name), found = 0, room = 16;
  bench_contact *page = bench_allocate(room, sizeof *page);
  *count = 0;
  for (size_t i = 0; i < workload->count; i++) {
    const bench_contact *contact = &workload->contacts[i];
    bench_bytes city = bench_contact_text(contact, BENCH_CITY);
    if (city.count != name_count || memcmp(city.start, name, name_count) != 0) continue;
    size_t kind = found++ % 10;
    if (later && kind == 0) continue;
    if (*count + 2 > room) {
      room *= 2;
      page = realloc(page, room * sizeof *page);
      if (!page) bench_require(ENOMEM, "grow a page");
    }
    bench_contact *out = &page[(*count)++];
    *out = *contact;
    if (!later) continue;
    if (kind <= 4) bench_contact_bump(out);
    if (kind != 5) continue;
    // New: the same contact once more under an id that nobody has, in the midst of the others.
    out[1] = *contact;
    out[1].text[contact->starts[BENCH_ID + 1] - 1] = 'n';
    (*count)++;
  }
  return page;
}

unsigned bench_query_city(size_t position) {
  return (unsigned)(position * 7 + 3) % BENCH_CITY_COUNT;
}
