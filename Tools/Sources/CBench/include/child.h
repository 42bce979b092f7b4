// Another process, and what it takes.
#ifndef CBENCH_CHILD_H
#define CBENCH_CHILD_H

#include <stdint.h>

typedef struct bench_child {
  /// From before it began to when it had ended.
  double seconds;
  /// What processors worked for it.
  double processor_seconds;
  /// The most anonymous memory that it held, looked up every millisecond; 0 where the system has no
  /// `/proc`.
  uint64_t anonymous_byte_count;
  /// Its exit status; -1 if a signal ended it.
  int status;
} bench_child;

/// Runs the program that the first of `words` names, looked up along PATH, to its end. What it prints
/// goes to the file at `output`, which is made anew.
bench_child bench_child_run(char *const words[], const char *output);

#endif
