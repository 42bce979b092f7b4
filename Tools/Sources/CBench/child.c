#include "include/child.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static uint64_t anonymous_byte_count(pid_t child) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/status", (int)child);
  FILE *file = fopen(path, "r");
  if (!file) return 0;
  char line[256];
  unsigned long kilobytes = 0;
  while (fgets(line, sizeof line, file)) {
    if (sscanf(line, "RssAnon: %lu kB", &kilobytes) == 1) break;
  }
  fclose(file);
  return (uint64_t)kilobytes << 10;
}

static double seconds(struct timeval time) {
  return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

bench_child bench_child_run(char *const words[], const char *output) {
  bench_child result = {0};
  double start = bench_now();
  pid_t child = fork();
  REQUIRE(child < 0 ? errno : 0);
  if (child == 0) {
    int file = open(output, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || dup2(file, STDOUT_FILENO) < 0) _exit(126);
    close(file);
    execvp(words[0], words);
    _exit(127);
  }
  int status;
  struct rusage usage;
  while (wait4(child, &status, WNOHANG, &usage) == 0) {
    uint64_t now = anonymous_byte_count(child);
    if (now > result.anonymous_byte_count) result.anonymous_byte_count = now;
    usleep(1000);
  }
  result.seconds = bench_now() - start;
  result.processor_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}
