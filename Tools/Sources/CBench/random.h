// splitmix64: the one source of chance in the workload.
#ifndef CBENCH_RANDOM_H
#define CBENCH_RANDOM_H

#include <stdint.h>

static inline uint64_t random_next(uint64_t *state) {
  uint64_t z = (*state += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

static inline uint64_t random_below(uint64_t *state, uint64_t bound) {
  return random_next(state) % bound;
}

/// 0 ..< 1
static inline double random_unit(uint64_t *state) {
  return (double)(random_next(state) >> 11) * 0x1p-53;
}

#endif
