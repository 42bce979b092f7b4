// What the process holds of anonymous memory: its heap and stacks, not the mapped pages of a file.
#ifndef CBENCH_MEMORY_H
#define CBENCH_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/// Gives free memory of the heap back to the system, then notes every millisecond how much the
/// process holds, on a thread of its own. One watch at a time.
void bench_memory_watch(void);

/// Ends the watch; returns by how many bytes the highest note was above the first. 0 where the
/// system does not tell.
uint64_t bench_memory_peak(void);

/// Has the C library sort out what was freed, of which there are about `count` pieces: whoever asks
/// for memory next would do so within its own time.
void bench_memory_sweep(size_t count);

#endif
