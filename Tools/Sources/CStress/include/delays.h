#pragma once
#include <stdint.h>

// Ways to make rare moments last long enough to be hit. They act on the calls of the system's
// LMDB, which knows nothing of them.

/// Sleeps so long before each of LMDB's two reads of a file's first pages: between them and the
/// lock file's reset the opener of a store leaves its shared transaction number at zero.
void stress_delay_opening(uint32_t microseconds);

/// Sleeps so long after each write of a meta page: a commit that is on the disk and not yet
/// published.
void stress_delay_publication(uint32_t microseconds);

/// From now on stops the calling thread again and again, wherever it is, for `microseconds` after
/// having left it alone for up to `every`. 0, or the number of the error.
int stress_hold_thread(uint32_t microseconds, uint32_t every, uint64_t seed);
