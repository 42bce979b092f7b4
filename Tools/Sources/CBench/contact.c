// How one contact is made.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "include/workload.h"
#include "random.h"

static const char *const first_names[16] = {
  "Anna", "Boris", "Clara", "Daniel", "Esther", "Felix", "Greta", "Henrik",
  "Ingrid", "Jonas", "Katarina", "Leopold", "Margaret", "Nikolai", "Olivia", "Sebastian",
};
static const char *const accented_names[8] = {
  "Zoë", "Søren", "Björn", "Françoise", "Łukasz", "Åsa", "Núria", "Žofie",
};
static const char *const syllables[16] = {
  "an", "ber", "cor", "del", "gar", "hol", "kar", "lin",
  "mar", "nor", "per", "ros", "san", "tor", "ver", "wil",
};
static const char *const endings[8] = {"son", "sen", "man", "berg", "ova", "ski", "ström", "feld"};
static const char *const streets[8] = {
  "Street", "Avenue", "Boulevard", "Lane", "Road", "Square", "Terrace", "Parkway",
};
static const char *const tag_names[16] = {
  "vip", "new", "lead", "cold", "warm", "partner", "trade", "retail",
  "export", "import", "north", "south", "credit", "cash", "online", "archive",
};
static const char *const labels[8] = {
  "home", "office", "main warehouse", "loading bay at the back", "shop", "café", "second floor",
  "entrance from the yard",
};
static const char *const city_beginnings[20] = {
  "Ash", "Ber", "Clear", "Fair", "Green", "Ham", "Kings", "Lake", "Lon", "Mar",
  "Mill", "Nor", "Oak", "Oster", "Red", "Sol", "Stone", "Wind", "Malmö", "Sønder",
};
static const char *const city_endings[10] = {
  "bridge", "burg", "field", "ford", "haven", "mouth", "stad", "ton", "ville", "wick",
};

size_t bench_city_name(unsigned city, uint8_t out[32]) {
  const char *beginning = city_beginnings[city / 10], *ending = city_endings[city % 10];
  return (size_t)snprintf((char *)out, 32, "%s%s", beginning, ending);
}

/// Writes the next text; the texts of a contact are set in the order of `bench_field`.
__attribute__((format(printf, 3, 4)))
static void set_text(bench_contact *contact, int field, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  uint16_t start = contact->starts[field];
  size_t room = sizeof contact->text - start;
  int count = vsnprintf((char *)contact->text + start, room, format, arguments);
  va_end(arguments);
  contact->starts[field + 1] = (uint16_t)(start + count);
}

static void make_content(bench_contact *contact, uint64_t *random) {
  const char *first = random_below(random, 10) == 0
    ? accented_names[random_below(random, 8)] : first_names[random_below(random, 16)];
  const char *a = syllables[random_below(random, 16)], *b = syllables[random_below(random, 16)];
  const char *ending = endings[random_below(random, 8)];
  set_text(contact, BENCH_NAME, "%s %c%s%s%s", first, a[0] - 'a' + 'A', a + 1, b, ending);

  unsigned area = 200 + (unsigned)random_below(random, 700);
  unsigned exchange = (unsigned)random_below(random, 1000);
  unsigned line = (unsigned)random_below(random, 10000);
  set_text(contact, BENCH_PHONE, "+1%03u-%03u-%04u", area, exchange, line);

  unsigned house = 1 + (unsigned)random_below(random, 9999);
  const char *c = syllables[random_below(random, 16)], *d = syllables[random_below(random, 16)];
  const char *street = streets[random_below(random, 8)];
  unsigned flat = 1 + (unsigned)random_below(random, 400);
  unsigned code = (unsigned)random_below(random, 100000);
  set_text(contact, BENCH_ADDRESS, "%u %c%s%s %s, Apt %u, %05u",
    house, c[0] - 'a' + 'A', c + 1, d, street, flat, code);

  uint8_t city[32];
  bench_city_name((unsigned)random_below(random, BENCH_CITY_COUNT), city);
  set_text(contact, BENCH_CITY, "%s", (const char *)city);

  contact->has_geo = random_below(random, 2) == 0;
  if (contact->has_geo) {
    contact->latitude = random_unit(random) * 180 - 90;
    contact->longitude = random_unit(random) * 360 - 180;
    contact->has_label = random_below(random, 2) == 0;
  }
  set_text(contact, BENCH_LABEL, "%s", contact->has_label ? labels[random_below(random, 8)] : "");

  contact->tag_count = (uint8_t)random_below(random, BENCH_MAX_TAGS + 1);
  for (int tag = 0; tag < BENCH_MAX_TAGS; tag++) {
    const char *name = tag < contact->tag_count ? tag_names[random_below(random, 16)] : "";
    set_text(contact, BENCH_FIRST_TAG + tag, "%s", name);
  }

  // Wide enough that two contacts hardly ever share an order, so "the first 20" has one answer.
  contact->order = (int64_t)random_below(random, 2000000000000u) - 1000000000000;
  contact->balance = random_unit(random) * 100000;
  contact->updated_at = 1.7e9 + (double)random_below(random, 31536000) + random_unit(random);
  contact->active = random_below(random, 2) == 0;
}

static uint64_t content_seed(uint64_t seed, uint64_t index) {
  uint64_t state = seed ^ (index * 0xD1342543DE82EF95u);
  return random_next(&state);
}

void bench_contact_make(bench_contact *contact, uint64_t seed, uint64_t index, uint64_t number) {
  memset(contact, 0, sizeof *contact);
  uint64_t random = content_seed(seed, index);
  set_text(contact, BENCH_ID, "seller-%08llu", (unsigned long long)number);
  make_content(contact, &random);
}

void bench_contact_make_uuid(bench_contact *contact, uint64_t seed, uint64_t index) {
  memset(contact, 0, sizeof *contact);
  uint64_t random = content_seed(seed, index);
  uint64_t state = content_seed(~seed, index);
  unsigned long long high = random_next(&state), low = random_next(&state);
  set_text(contact, BENCH_ID, "%08llX-%04llX-4%03llX-%04llX-%012llX",
    high >> 32, (high >> 16) & 0xFFFF, high & 0xFFF,
    0x8000 | (low >> 48 & 0x3FFF), low & 0xFFFFFFFFFFFF);
  make_content(contact, &random);
}

void bench_contact_bump(bench_contact *contact) {
  uint64_t random = (uint64_t)contact->order;
  bench_contact_bump_balance(contact);
  contact->order = (int64_t)random_below(&random, 2000000000000u) - 1000000000000;
}

void bench_contact_bump_balance(bench_contact *contact) {
  uint64_t random = (uint64_t)contact->order + 1;
  contact->balance = random_unit(&random) * 100000;
  contact->updated_at += 1;
}
