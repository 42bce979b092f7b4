#include "check.h"

#include <errno.h>
#include <lmdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

void bench_require(int code, const char *what) {
  if (code == 0) return;
  fprintf(stderr, "bench: %s: %s\n", what, mdb_strerror(code));
  exit(2);
}

void *bench_allocate(size_t count, size_t size) {
  void *memory = calloc(count ? count : 1, size);
  if (!memory) bench_require(ENOMEM, "allocate");
  return memory;
}

double bench_now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}
