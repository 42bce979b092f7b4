#pragma once
#include <stdint.h>

// Words of memory that several processes have mapped.

static inline void stress_store(uint64_t *word, uint64_t value) {
  __atomic_store_n(word, value, __ATOMIC_RELEASE);
}

static inline uint64_t stress_load(const uint64_t *word) {
  return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static inline uint64_t stress_add(uint64_t *word, uint64_t value) {
  return __atomic_add_fetch(word, value, __ATOMIC_ACQ_REL);
}
