// What a durable commit costs LMDB itself.
#ifndef CBENCH_DURABLE_H
#define CBENCH_DURABLE_H

#include <stddef.h>

/// Puts `count` records of `byte_count` bytes into an environment in `folder`, in no order, each in
/// a durable transaction of its own with LMDB's default flags. Returns the seconds of the loop.
/// Ends the program where a call is refused.
double bench_durable_puts(const char *folder, size_t count, size_t byte_count);

#endif
