// What every checksum must be, by brute force over the contacts: no store is asked.
#include <string.h>

#include "include/store.h"

uint64_t bench_expected_all(const bench_workload *workload) {
  uint64_t sum = 0;
  for (size_t i = 0; i < workload->count; i++) sum += bench_contact_digest(&workload->contacts[i]);
  return sum;
}

uint64_t bench_expected_lookups(const bench_workload *workload) {
  uint64_t sum = 0;
  for (size_t position = 0; position < BENCH_LOOKUP_COUNT; position++) {
    sum += bench_contact_glance(&workload->contacts[bench_lookup_index(workload, position)]);
  }
  return sum;
}

uint64_t bench_expected_cities(const bench_workload *workload) {
  uint64_t sum = 0;
  for (size_t query = 0; query < BENCH_QUERY_COUNT; query++) {
    uint8_t name[32];
    size_t count = bench_city_name(bench_query_city(query), name);
    for (size_t i = 0; i < workload->count; i++) {
      bench_bytes city = bench_contact_text(&workload->contacts[i], BENCH_CITY);
      bool equal = city.count == count && memcmp(city.start, name, count) == 0;
      if (equal) sum += bench_contact_glance(&workload->contacts[i]);
    }
  }
  return sum;
}

uint64_t bench_expected_top(const bench_workload *workload) {
  const bench_contact *top[BENCH_TOP_COUNT];
  size_t count = 0;
  for (size_t i = 0; i < workload->count; i++) {
    const bench_contact *contact = &workload->contacts[i];
    size_t place = count;
    while (place > 0 && top[place - 1]->order < contact->order) place--;
    if (place == BENCH_TOP_COUNT) continue;
    size_t kept = count < BENCH_TOP_COUNT ? count : BENCH_TOP_COUNT - 1;
    memmove(top + place + 1, top + place, (kept - place) * sizeof *top);
    top[place] = contact;
    count = kept + 1;
  }
  uint64_t sum = 0;
  for (size_t i = 0; i < count; i++) sum += bench_contact_glance(top[i]);
  return sum;
}

uint64_t bench_expected_after_update(const bench_workload *workload) {
  uint64_t sum = bench_expected_all(workload);
  for (size_t i = 0; i < bench_batch_count(workload); i++) {
    bench_contact updated;
    bench_batch_updated(workload, i, &updated);
    sum -= bench_contact_digest(&workload->contacts[bench_batch_index(workload, i)]);
    sum += bench_contact_digest(&updated);
  }
  return sum;
}

uint64_t bench_expected_after_upsert(const bench_workload *workload) {
  uint64_t sum = bench_expected_all(workload);
  for (size_t i = 0; i < bench_batch_count(workload); i++) {
    bench_contact upserted;
    bench_batch_upserted(workload, i, &upserted);
    sum -= bench_contact_digest(&workload->contacts[bench_batch_index(workload, i)]);
    sum += bench_contact_digest(&upserted);
  }
  return sum;
}

uint64_t bench_expected_after_delete(const bench_workload *workload) {
  uint64_t sum = bench_expected_all(workload);
  for (size_t i = 0; i < bench_batch_count(workload); i++) {
    sum -= bench_contact_digest(&workload->contacts[bench_batch_index(workload, i)]);
  }
  return sum;
}
