// What a durable commit costs LMDB itself.
#ifndef CBENCH_DURABLE_H
#define CBENCH_DURABLE_H

#include <stddef.h>

/// Puts `count` records of `byte_count` bytes into an environment in `folder`, in no order, each in
/// a durable transaction of its own with LMDB's default flags. Returns the seconds of the loop.
/// Ends the program where a call is refused.
double bench_durable_puts(const char *folder, size_t count, size_t byte_count);

/// An environment with records that are only read, under the numbers from 0 on.
typedef struct bench_reader bench_reader;
bench_reader *bench_reader_open(const char *folder, size_t count, size_t byte_count);

/// Reads `count` records, each in a snapshot of its own as the newest commit has it: the numbers
/// `i * 7919 + first`, wrapped. Returns how many were found and are what was put. One thread may
/// call it beside others.
size_t bench_reader_get(const bench_reader *reader, size_t count, size_t first);
void bench_reader_close(bench_reader *reader);

#endif
