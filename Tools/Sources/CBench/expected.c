// What every checksum must be, by brute force over the contacts: no store is asked.
#define _GNU_SOURCE
#include <stdlib.h>
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

static int compare_texts(bench_bytes left, bench_bytes right) {
  size_t common = left.count < right.count ? left.count : right.count;
  int order = memcmp(left.start, right.start, common);
  if (order != 0) return order;
  return left.count < right.count ? -1 : left.count > right.count;
}

static int compare_names(const bench_contact *left, const bench_contact *right) {
  int order = compare_texts(
    bench_contact_text(left, BENCH_NAME), bench_contact_text(right, BENCH_NAME));
  if (order != 0) return order;
  return compare_texts(bench_contact_text(left, BENCH_ID), bench_contact_text(right, BENCH_ID));
}

uint64_t bench_expected_first_names(const bench_workload *workload) {
  const bench_contact *top[BENCH_TOP_COUNT];
  size_t count = 0;
  for (size_t i = 0; i < workload->count; i++) {
    const bench_contact *contact = &workload->contacts[i];
    size_t place = count;
    while (place > 0 && compare_names(contact, top[place - 1]) < 0) place--;
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

uint64_t bench_expected_prefix_count(const bench_workload *workload) {
  uint64_t sum = 0;
  for (size_t i = 0; i < workload->count; i++) {
    bench_bytes city = bench_contact_text(&workload->contacts[i], BENCH_CITY);
    size_t count = strlen(BENCH_CITY_PREFIX);
    sum += city.count >= count && memcmp(city.start, BENCH_CITY_PREFIX, count) == 0;
  }
  return sum * BENCH_COUNT_REPETITIONS;
}

uint64_t bench_expected_filtered(const bench_workload *workload, bench_condition condition) {
  uint64_t sum = 0;
  uint8_t name[32];
  size_t name_count = bench_city_name(bench_query_city(0), name);
  for (size_t i = 0; i < workload->count; i++) {
    const bench_contact *contact = &workload->contacts[i];
    bench_bytes city = bench_contact_text(contact, BENCH_CITY);
    bench_bytes name_text = bench_contact_text(contact, BENCH_NAME);
    bool holds = condition == BENCH_BALANCE_BELOW ? contact->balance < BENCH_BALANCE_LIMIT
      : condition == BENCH_NAME_HAS
        ? memmem(name_text.start, name_text.count, BENCH_NAME_PART, strlen(BENCH_NAME_PART)) != NULL
      : condition == BENCH_ORDER_BELOW            ? contact->order < BENCH_ORDER_LIMIT
      : city.count == name_count && memcmp(city.start, name, name_count) == 0;
    if (holds) sum += bench_contact_glance(contact);
  }
  return sum;
}

/// Adds up what `value` gives for the contacts of each city that is asked for.
static uint64_t sum_over_cities(
  const bench_workload *workload, uint64_t (*value)(const bench_contact *)
) {
  uint64_t sum = 0;
  for (size_t query = 0; query < BENCH_QUERY_COUNT; query++) {
    uint8_t name[32];
    size_t count = bench_city_name(bench_query_city(query), name);
    for (size_t i = 0; i < workload->count; i++) {
      bench_bytes city = bench_contact_text(&workload->contacts[i], BENCH_CITY);
      bool equal = city.count == count && memcmp(city.start, name, count) == 0;
      if (equal) sum += value(&workload->contacts[i]);
    }
  }
  return sum;
}

static uint64_t glance_in_range(const bench_contact *contact) {
  bool holds = contact->order >= BENCH_ORDER_START && contact->order < BENCH_ORDER_END;
  return holds ? bench_contact_glance(contact) : 0;
}

static uint64_t one(const bench_contact *contact) {
  (void)contact;
  return 1;
}

uint64_t bench_expected_cities(const bench_workload *workload) {
  return sum_over_cities(workload, bench_contact_glance);
}

uint64_t bench_expected_compound(const bench_workload *workload) {
  return sum_over_cities(workload, glance_in_range);
}

uint64_t bench_expected_counts(const bench_workload *workload) {
  return sum_over_cities(workload, one) * BENCH_COUNT_REPETITIONS;
}

uint64_t bench_expected_after_half(const bench_workload *workload) {
  uint64_t sum = bench_expected_all(workload);
  for (size_t i = 0; i < bench_batch_count(workload); i++) {
    bench_contact changed;
    bench_batch_half_changed(workload, i, &changed);
    sum -= bench_contact_digest(&workload->contacts[bench_batch_index(workload, i)]);
    sum += bench_contact_digest(&changed);
  }
  return sum;
}

uint64_t bench_expected_after_replace(const bench_workload *workload) {
  uint64_t sum = bench_expected_all(workload);
  for (int later = 0; later < 2; later++) {
    size_t count;
    bench_contact *page = bench_page_make(workload, later, &count);
    for (size_t i = 0; i < count; i++) {
      uint64_t digest = bench_contact_digest(&page[i]);
      sum = later ? sum + digest : sum - digest;
    }
    free(page);
  }
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
