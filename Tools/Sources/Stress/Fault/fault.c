// Stands between a program and the system, and lets one call fail that has to do with one folder.
// Loaded before everything else (LD_PRELOAD); built by the campaign, and by nobody else.
//
// What counts is every call on a file in the folder, whoever makes it, and every call of LMDB's own
// for memory or threads. A failed flush of the disk loses what was written since the last one, as
// the kernel may: it marks such pages as clean, so that asking again says success.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define KINDS(each) \
  each(open) each(pread) each(pwrite) each(write) each(writev) each(fsync) each(fdatasync) \
  each(ftruncate) each(fallocate) each(mmap) each(rename) each(unlink) each(mkdir) each(rmdir) \
  each(chmod) each(lstat) each(fstat) each(flock) each(fcntl) each(lseek) each(malloc) \
  each(pthread_create)

enum kind {
#define NAME(name) kind_##name,
  KINDS(NAME)
#undef NAME
  kind_count
};

static const char *const names[] = {
#define NAME(name) #name,
  KINDS(NAME)
#undef NAME
};

// What happens to the chosen call.
enum effect { effect_none, effect_fail, effect_short, effect_kill, effect_torn };

#define MOST_DESCRIPTORS 1024

// Guard: `lock`, but for `active`, which is only a hint that saves taking it.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int active;
static char folder[4096];
static size_t folder_length;
static long counts[kind_count];
static long hits;
static int chosen = -1;
static long nth;
static int is_sticky, failure;
static enum effect effect;
static int retries_flush;
static char is_ours[MOST_DESCRIPTORS], is_synchronous[MOST_DESCRIPTORS];
static const char *lmdb_start, *lmdb_end;

// Inside of our own calls nothing is counted.
static __thread int is_inside __attribute__((tls_model("initial-exec")));

// What was in a file where something was written that is not flushed yet.
struct unflushed {
  struct unflushed *next;
  dev_t device;
  ino_t inode;
  off_t offset;
  size_t size;
  char bytes[];
};
static struct unflushed *unflushed;

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void __libc_free(void *);

// MARK: What is watched

static int find_lmdb(struct dl_phdr_info *info, size_t size, void *context) {
  (void)size;
  (void)context;
  if (!strstr(info->dlpi_name, "liblmdb")) return 0;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &info->dlpi_phdr[i];
    if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)) continue;
    lmdb_start = (const char *)info->dlpi_addr + part->p_vaddr;
    lmdb_end = lmdb_start + part->p_memsz;
  }
  return 1;
}

static int is_lmdb(const void *caller) {
  return (const char *)caller >= lmdb_start && (const char *)caller < lmdb_end;
}

static int is_in_folder(const char *path) {
  return folder_length && path && !strncmp(path, folder, folder_length);
}

static int is_watched(int descriptor) {
  return descriptor >= 0 && descriptor < MOST_DESCRIPTORS && is_ours[descriptor];
}

/// From now on the files of this folder, and of those whose names begin like it, are watched.
void larder_fault_watch(const char *path) {
  dl_iterate_phdr(find_lmdb, NULL);
  retries_flush = getenv("STRESS_MUTANT") && !strcmp(getenv("STRESS_MUTANT"), "retried-flush");
  pthread_mutex_lock(&lock);
  active = 0;
  snprintf(folder, sizeof folder, "%s", path);
  folder_length = strlen(folder);
  memset(is_ours, 0, sizeof is_ours);
  pthread_mutex_unlock(&lock);
}

static void forget_unflushed(void) {
  while (unflushed) {
    struct unflushed *next = unflushed->next;
    __libc_free(unflushed);
    unflushed = next;
  }
}

/// Begins to count, and has a call fail: the `n`th of its kind, and all behind it if `sticky`. A
/// kind of -1 only counts.
void larder_fault_arm(int kind, long n, int what, int number, int sticky) {
  pthread_mutex_lock(&lock);
  memset(counts, 0, sizeof counts);
  forget_unflushed();
  hits = 0;
  chosen = kind;
  nth = n;
  effect = what;
  failure = number;
  is_sticky = sticky;
  active = 1;
  pthread_mutex_unlock(&lock);
}

/// Lets everything through again; how many calls failed.
long larder_fault_disarm(void) {
  pthread_mutex_lock(&lock);
  active = 0;
  forget_unflushed();
  long result = hits;
  pthread_mutex_unlock(&lock);
  return result;
}

long larder_fault_count(int kind) { return counts[kind]; }

const char *larder_fault_name(int kind) {
  return kind >= 0 && kind < kind_count ? names[kind] : NULL;
}

// MARK: Deciding

/// What happens to this call.
static enum effect meet(enum kind kind) {
  if (!active || is_inside) return effect_none;
  pthread_mutex_lock(&lock);
  enum effect result = effect_none;
  if (active) {
    counts[kind]++;
    if ((int)kind == chosen && (counts[kind] == nth || (is_sticky && counts[kind] > nth))) {
      result = effect;
      hits++;
    }
  }
  pthread_mutex_unlock(&lock);
  if (result == effect_kill) kill(getpid(), SIGKILL);
  if (result == effect_fail) errno = failure;
  return result;
}

#define REAL(name) \
  static __typeof__(name) *real; \
  if (!real) { is_inside++; real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name); is_inside--; }

// MARK: Files

/// How much of a write is there when the process ends in it. Neither the system nor a disk leaves
/// half of a sector, which LMDB's meta pages rely on.
static size_t torn(size_t size) { return size / 2 & ~(size_t)511; }

static int opened(int descriptor, int flags) {
  if (descriptor >= 0 && descriptor < MOST_DESCRIPTORS) {
    is_ours[descriptor] = 1;
    is_synchronous[descriptor] = (flags & (O_DSYNC | O_SYNC)) != 0;
  }
  return descriptor;
}

int open(const char *path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  if (!is_in_folder(path)) return syscall(SYS_openat, AT_FDCWD, path, flags, mode);
  if (meet(kind_open) == effect_fail) return -1;
  // Nobody cuts the power here: waiting for the disk would only take time.
  int kept = flags & ~(O_DSYNC | O_SYNC);
  return opened(syscall(SYS_openat, AT_FDCWD, path, kept, mode), flags);
}

int close(int descriptor) {
  if (descriptor >= 0 && descriptor < MOST_DESCRIPTORS) is_ours[descriptor] = 0;
  return syscall(SYS_close, descriptor);
}

ssize_t pread(int descriptor, void *bytes, size_t size, off_t offset) {
  if (is_watched(descriptor) && meet(kind_pread) == effect_fail) return -1;
  return syscall(SYS_pread64, descriptor, bytes, size, offset);
}

/// Notes what is in the file where it is about to be written.
static void note(int descriptor, off_t offset, size_t size) {
  if (!active || is_inside || is_synchronous[descriptor]) return;
  struct stat status;
  if (syscall(SYS_fstat, descriptor, &status) || !S_ISREG(status.st_mode)) return;
  struct unflushed *one = __libc_malloc(sizeof *one + size);
  if (!one) return;
  memset(one->bytes, 0, size);
  // Through another descriptor: this one may be open to write only.
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
  int reading = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
  if (reading >= 0) {
    (void)!syscall(SYS_pread64, reading, one->bytes, size, offset);
    syscall(SYS_close, reading);
  }
  one->device = status.st_dev;
  one->inode = status.st_ino;
  one->offset = offset;
  one->size = size;
  pthread_mutex_lock(&lock);
  one->next = unflushed;
  unflushed = one;
  pthread_mutex_unlock(&lock);
}

ssize_t pwrite(int descriptor, const void *bytes, size_t size, off_t offset) {
  if (is_watched(descriptor)) {
    switch (meet(kind_pwrite)) {
      case effect_fail: return -1;
      case effect_short: size /= 2; break;
      case effect_torn:
        (void)!syscall(SYS_pwrite64, descriptor, bytes, torn(size), offset);
        kill(getpid(), SIGKILL);
        break;
      default: break;
    }
    note(descriptor, offset, size);
  }
  return syscall(SYS_pwrite64, descriptor, bytes, size, offset);
}

// A pipe of LMDB's, through which it copies, counts as well.
ssize_t write(int descriptor, const void *bytes, size_t size) {
  if (is_watched(descriptor) || is_lmdb(__builtin_return_address(0))) {
    switch (meet(kind_write)) {
      case effect_fail: return -1;
      case effect_short: size = size > 1 ? size / 2 : size; break;
      case effect_torn:
        (void)!syscall(SYS_write, descriptor, bytes, torn(size));
        kill(getpid(), SIGKILL);
        break;
      default: break;
    }
    if (is_watched(descriptor)) note(descriptor, syscall(SYS_lseek, descriptor, 0, SEEK_CUR), size);
  }
  return syscall(SYS_write, descriptor, bytes, size);
}

ssize_t writev(int descriptor, const struct iovec *parts, int count) {
  size_t size = 0;
  for (int i = 0; i < count; i++) size += parts[i].iov_len;
  if (is_watched(descriptor)) {
    switch (meet(kind_writev)) {
      case effect_fail: return -1;
      case effect_short: return syscall(SYS_write, descriptor, parts[0].iov_base, size / 2 < parts[0].iov_len ? size / 2 : parts[0].iov_len);
      case effect_torn:
        (void)!syscall(SYS_write, descriptor, parts[0].iov_base, torn(parts[0].iov_len));
        kill(getpid(), SIGKILL);
        break;
      default: break;
    }
    note(descriptor, syscall(SYS_lseek, descriptor, 0, SEEK_CUR), size);
  }
  return syscall(SYS_writev, descriptor, parts, count);
}

int ftruncate(int descriptor, off_t size) {
  if (is_watched(descriptor) && meet(kind_ftruncate) == effect_fail) return -1;
  return syscall(SYS_ftruncate, descriptor, size);
}

off_t lseek(int descriptor, off_t offset, int from) {
  if (is_watched(descriptor) && meet(kind_lseek) == effect_fail) return -1;
  return syscall(SYS_lseek, descriptor, offset, from);
}

int fallocate(int descriptor, int mode, off_t offset, off_t size) {
  if (is_watched(descriptor) && meet(kind_fallocate) == effect_fail) return -1;
  return syscall(SYS_fallocate, descriptor, mode, offset, size);
}

// MARK: Flushing

/// Ends what is noted of a file: it is on the disk, or it is gone.
static void end_unflushed(int descriptor, int is_lost) {
  struct stat status;
  if (syscall(SYS_fstat, descriptor, &status)) return;
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
  int writing = is_lost ? syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CLOEXEC, 0) : -1;
  pthread_mutex_lock(&lock);
  // The newest first, so that the oldest bytes remain.
  for (struct unflushed **place = &unflushed; *place;) {
    struct unflushed *one = *place;
    if (one->device != status.st_dev || one->inode != status.st_ino) {
      place = &one->next;
      continue;
    }
    if (is_lost) (void)!syscall(SYS_pwrite64, writing, one->bytes, one->size, one->offset);
    *place = one->next;
    __libc_free(one);
  }
  pthread_mutex_unlock(&lock);
  if (writing >= 0) syscall(SYS_close, writing);
}

static int flush(int descriptor, enum kind kind, long number) {
  if (!is_watched(descriptor)) return syscall(number, descriptor);
  if (meet(kind) == effect_fail) {
    end_unflushed(descriptor, 1);
    errno = failure;
    // What an engine does wrong that asks again: the pages are clean now, and it hears success.
    return retries_flush ? 0 : -1;
  }
  if (active) end_unflushed(descriptor, 0);
  return 0;
}

int fsync(int descriptor) { return flush(descriptor, kind_fsync, SYS_fsync); }

int fdatasync(int descriptor) { return flush(descriptor, kind_fdatasync, SYS_fdatasync); }

// MARK: Names

int rename(const char *from, const char *to) {
  if ((is_in_folder(from) || is_in_folder(to)) && meet(kind_rename) == effect_fail) return -1;
  return syscall(SYS_rename, from, to);
}

int renameat2(int at, const char *from, int to_at, const char *to, unsigned flags) {
  if ((is_in_folder(from) || is_in_folder(to)) && meet(kind_rename) == effect_fail) return -1;
  return syscall(SYS_renameat2, at, from, to_at, to, flags);
}

int unlink(const char *path) {
  if (is_in_folder(path) && meet(kind_unlink) == effect_fail) return -1;
  return syscall(SYS_unlink, path);
}

int mkdir(const char *path, mode_t mode) {
  if (is_in_folder(path) && meet(kind_mkdir) == effect_fail) return -1;
  return syscall(SYS_mkdir, path, mode);
}

int rmdir(const char *path) {
  if (is_in_folder(path) && meet(kind_rmdir) == effect_fail) return -1;
  return syscall(SYS_rmdir, path);
}

int chmod(const char *path, mode_t mode) {
  if (is_in_folder(path) && meet(kind_chmod) == effect_fail) return -1;
  return syscall(SYS_chmod, path, mode);
}

int fchmod(int descriptor, mode_t mode) {
  if (is_watched(descriptor) && meet(kind_chmod) == effect_fail) return -1;
  return syscall(SYS_fchmod, descriptor, mode);
}

int lstat(const char *path, struct stat *status) {
  if (is_in_folder(path) && meet(kind_lstat) == effect_fail) return -1;
  return syscall(SYS_newfstatat, AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW);
}

int fstat(int descriptor, struct stat *status) {
  if (is_watched(descriptor) && meet(kind_fstat) == effect_fail) return -1;
  return syscall(SYS_fstat, descriptor, status);
}

int __fxstat(int version, int descriptor, struct stat *status) {
  (void)version;
  return fstat(descriptor, status);
}

int flock(int descriptor, int operation) {
  // Letting go cannot fail.
  if (is_watched(descriptor) && operation != LOCK_UN && meet(kind_flock) == effect_fail) return -1;
  return syscall(SYS_flock, descriptor, operation);
}

int fcntl(int descriptor, int operation, ...) {
  va_list arguments;
  va_start(arguments, operation);
  long argument = va_arg(arguments, long);
  va_end(arguments);
  if (is_watched(descriptor) && meet(kind_fcntl) == effect_fail) return -1;
  return syscall(SYS_fcntl, descriptor, operation, argument);
}

// MARK: Memory and threads

void *mmap(void *start, size_t size, int protection, int flags, int descriptor, off_t offset) {
  if (is_watched(descriptor) && meet(kind_mmap) == effect_fail) return MAP_FAILED;
  return (void *)syscall(SYS_mmap, start, size, protection, flags, descriptor, offset);
}

void *malloc(size_t size) {
  if (active && is_lmdb(__builtin_return_address(0)) && meet(kind_malloc) == effect_fail) return NULL;
  return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
  if (active && is_lmdb(__builtin_return_address(0)) && meet(kind_malloc) == effect_fail) return NULL;
  return __libc_calloc(count, size);
}

void *realloc(void *old, size_t size) {
  if (active && is_lmdb(__builtin_return_address(0)) && meet(kind_malloc) == effect_fail) return NULL;
  return __libc_realloc(old, size);
}

int posix_memalign(void **result, size_t alignment, size_t size) {
  if (active && is_lmdb(__builtin_return_address(0)) && meet(kind_malloc) == effect_fail) return ENOMEM;
  *result = __libc_memalign(alignment, size);
  return *result ? 0 : ENOMEM;
}

char *strdup(const char *text) {
  if (active && is_lmdb(__builtin_return_address(0)) && meet(kind_malloc) == effect_fail) return NULL;
  size_t size = strlen(text) + 1;
  char *copy = __libc_malloc(size);
  return copy ? memcpy(copy, text, size) : NULL;
}

int pthread_create(
    pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *context) {
  REAL(pthread_create)
  if (active && is_lmdb(__builtin_return_address(0)) && meet(kind_pthread_create) == effect_fail) {
    return failure;
  }
  return real(thread, attributes, body, context);
}
