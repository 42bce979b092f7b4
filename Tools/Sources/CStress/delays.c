#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "delays.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

static atomic_uint opening_delay;
static atomic_uint publication_delay;

void stress_delay_opening(uint32_t microseconds) { opening_delay = microseconds; }
void stress_delay_publication(uint32_t microseconds) { publication_delay = microseconds; }

static void sleep_for(uint32_t microseconds) {
  struct timespec rest = {microseconds / 1000000, (long)(microseconds % 1000000) * 1000};
  while (nanosleep(&rest, &rest) != 0 && errno == EINTR) {
  }
}

// The two calls, which this program defines before the system's library does. What stands behind
// them, be it another library in between, is asked for once.
typedef ssize_t (*read_call)(int, void *, size_t, off_t);
typedef ssize_t (*write_call)(int, const void *, size_t, off_t);
static _Atomic(read_call) next_pread;
static _Atomic(write_call) next_pwrite;

// A meta page with its header is 152 bytes of the file's beginning; what a commit writes of it 120.
enum { meta_byte_count = 152, largest_write = 512, meta_page_end = 2 * 65536 };

ssize_t pread(int descriptor, void *bytes, size_t count, off_t place) {
  read_call next = next_pread;
  if (next == NULL) next_pread = next = (read_call)dlsym(RTLD_NEXT, "pread");
  if (opening_delay > 0 && count == meta_byte_count) sleep_for(opening_delay);
  return next(descriptor, bytes, count, place);
}

ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t place) {
  write_call next = next_pwrite;
  if (next == NULL) next_pwrite = next = (write_call)dlsym(RTLD_NEXT, "pwrite");
  ssize_t written = next(descriptor, bytes, count, place);
  if (publication_delay > 0 && count < largest_write && place < meta_page_end) {
    int kept = errno;
    sleep_for(publication_delay);
    errno = kept;
  }
  return written;
}

#ifdef __linux__
#include <sys/syscall.h>

static uint32_t hold_time;
static uint32_t free_time;
static uint64_t random_state;
static timer_t timer;

static void arm(void) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  uint32_t wait = 20 + (uint32_t)((random_state >> 33) % free_time);
  struct itimerspec next = {{0, 0}, {0, (long)wait * 1000}};
  timer_settime(timer, 0, &next, NULL);
}

// Runs in the one thread that is held, so that what is above needs no other guard.
static void hold(int signal) {
  (void)signal;
  int kept = errno;
  struct timespec rest = {0, (long)hold_time * 1000};
  nanosleep(&rest, NULL);
  arm();
  errno = kept;
}

int stress_hold_thread(uint32_t microseconds, uint32_t every, uint64_t seed) {
  hold_time = microseconds;
  free_time = every == 0 ? 1 : every;
  random_state = seed;
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = hold;
  action.sa_flags = SA_RESTART;
  if (sigaction(SIGRTMIN, &action, NULL) != 0) return errno;
  struct sigevent event;
  memset(&event, 0, sizeof event);
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGRTMIN;
#ifdef sigev_notify_thread_id
  event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
#else
  event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
#endif
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) return errno;
  arm();
  return 0;
}
#else
int stress_hold_thread(uint32_t microseconds, uint32_t every, uint64_t seed) {
  (void)microseconds, (void)every, (void)seed;
  return ENOSYS;
}
#endif
