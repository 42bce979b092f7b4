// What the C half does when something it needs is refused: it says so and ends the program with
// status 2. A benchmark has no caller who could do better.
#ifndef CBENCH_CHECK_H
#define CBENCH_CHECK_H

#include <stddef.h>

/// Ends the program unless `code`, an LMDB or errno code, is 0.
void bench_require(int code, const char *what);
#define REQUIRE(call) bench_require((call), #call)

/// Memory for `count` elements of `size` bytes, cleared; never null. Free it with `free`.
void *bench_allocate(size_t count, size_t size);

/// Seconds on a clock that only goes forward.
double bench_now(void);

#endif
