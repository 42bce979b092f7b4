#include "include/memory.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "check.h"

static pthread_t watcher;
static atomic_bool ends;
static uint64_t first, highest;  // Written by the watcher until it is joined.

static uint64_t anonymous_byte_count(void) {
  FILE *file = fopen("/proc/self/statm", "r");
  if (!file) return 0;
  unsigned long size, resident, shared;
  int found = fscanf(file, "%lu %lu %lu", &size, &resident, &shared);
  fclose(file);
  return found == 3 ? (uint64_t)(resident - shared) * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

static void *watch(void *unused) {
  while (!atomic_load(&ends)) {
    uint64_t now = anonymous_byte_count();
    if (now > highest) highest = now;
    usleep(1000);
  }
  return unused;
}

void bench_memory_watch(void) {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
  atomic_store(&ends, false);
  first = highest = anonymous_byte_count();
  REQUIRE(pthread_create(&watcher, NULL, watch, NULL));
}

uint64_t bench_memory_peak(void) {
  atomic_store(&ends, true);
  REQUIRE(pthread_join(watcher, NULL));
  uint64_t last = anonymous_byte_count();
  return (last > highest ? last : highest) - first;
}

void bench_memory_sweep(size_t count) {
  // Larger than what it takes to be sorted out, and smaller than what is mapped apart. glibc looks at
  // 10,000 pieces each time.
  for (size_t i = 0; i < 16 + count / 10000; i++) {
    // An optimizer that sees both ends leaves both out.
    void *volatile piece = malloc(100000);
    free(piece);
  }
}
