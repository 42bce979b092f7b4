#pragma once
#include <stdint.h>
#include <time.h>

/// Nanoseconds of the monotonic clock, which all processes of the machine share.
static inline uint64_t stress_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
