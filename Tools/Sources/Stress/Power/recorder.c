// Loaded before the C library into a process whose disk is to fail: writes down, in their order,
// what is done to the files below STRESS_RECORD_ROOT, with the bytes, into the file STRESS_RECORD.
//
// A call is written down once it has returned; what depends on it comes later for that reason. What
// cannot be written down (a shared writable map of anything but LMDB's lock table) is named instead,
// and fails the campaign. With STRESS_MUTANT=no-fdatasync or no-folder-sync such a call is left out
// of the record: as far as it tells, the disk was never asked.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

// As PowerRecord.swift reads it; two paths and the bytes follow.
struct record {
  uint8_t kind, zero[3];
  uint32_t path_count, other_count, byte_count;
  uint64_t file, place;
};

enum { FREE, FILE_, DURABLE_FILE, FOLDER };

#define MOST 4096
static struct { int kind; uint64_t file; char *path; } known[MOST];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int output = -1;
static char root[4096];
static size_t root_count;
static int without_fdatasync, without_folder_sync;

#define REAL(type, name, parameters) static type (*real_##name) parameters
REAL(int, open, (const char *, int, ...));
REAL(int, openat, (int, const char *, int, ...));
REAL(int, close, (int));
REAL(ssize_t, write, (int, const void *, size_t));
REAL(ssize_t, pwrite, (int, const void *, size_t, off_t));
REAL(ssize_t, writev, (int, const struct iovec *, int));
REAL(ssize_t, pwritev, (int, const struct iovec *, int, off_t));
REAL(int, fsync, (int));
REAL(int, fdatasync, (int));
REAL(int, ftruncate, (int, off_t));
REAL(int, rename, (const char *, const char *));
REAL(int, renameat2, (int, const char *, int, const char *, unsigned));
REAL(int, link, (const char *, const char *));
REAL(int, unlink, (const char *));
REAL(int, mkdir, (const char *, mode_t));
REAL(int, rmdir, (const char *));
REAL(void *, mmap, (void *, size_t, int, int, int, off_t));

__attribute__((constructor)) static void begin(void) {
#define FIND(name) real_##name = dlsym(RTLD_NEXT, #name)
  if (real_open) return;
  FIND(openat); FIND(close); FIND(write); FIND(pwrite); FIND(writev); FIND(pwritev);
  FIND(fsync); FIND(fdatasync); FIND(ftruncate); FIND(rename); FIND(renameat2); FIND(link);
  FIND(unlink); FIND(mkdir); FIND(rmdir); FIND(mmap); FIND(open);
  const char *path = getenv("STRESS_RECORD"), *base = getenv("STRESS_RECORD_ROOT");
  const char *mutant = getenv("STRESS_MUTANT");
  if (!path || !base || strlen(base) >= sizeof root) return;
  strcpy(root, base);
  root_count = strlen(root);
  without_fdatasync = mutant && !strcmp(mutant, "no-fdatasync");
  without_folder_sync = mutant && !strcmp(mutant, "no-folder-sync");
  output = real_open(path, O_CREAT | O_TRUNC | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
}

static int is_below(const char *path) {
  return output >= 0 && path && !strncmp(path, root, root_count)
    && (path[root_count] == '/' || path[root_count] == 0);
}

// The path below the root, without its slash.
static const char *below(const char *path) {
  path += root_count;
  return *path == '/' ? path + 1 : path;
}

static void put(
  char kind, const char *path, const char *other, uint64_t file, uint64_t place,
  const struct iovec *bytes, int count, size_t byte_count
) {
  int saved = errno;
  struct record head = {
    .kind = kind, .path_count = path ? strlen(path) : 0, .other_count = other ? strlen(other) : 0,
    .byte_count = byte_count, .file = file, .place = place,
  };
  struct iovec parts[3 + 1024] = {
    {&head, sizeof head}, {(void *)path, head.path_count}, {(void *)other, head.other_count},
  };
  int used = 3;
  for (int i = 0; i < count && byte_count && used < 3 + 1024; i++) {
    size_t taken = bytes[i].iov_len < byte_count ? bytes[i].iov_len : byte_count;
    parts[used++] = (struct iovec){bytes[i].iov_base, taken};
    byte_count -= taken;
  }
  pthread_mutex_lock(&lock);
  int first = 0;
  while (first < used) {
    if (!parts[first].iov_len) { first++; continue; }
    int some = used - first > 512 ? 512 : used - first;
    ssize_t written = syscall(SYS_writev, output, parts + first, some);
    // A record that is cut is noticed by who reads it.
    if (written < 0) break;
    while (first < used && written >= (ssize_t)parts[first].iov_len) {
      written -= parts[first++].iov_len;
    }
    if (first < used) {
      parts[first].iov_base = (char *)parts[first].iov_base + written;
      parts[first].iov_len -= written;
    }
  }
  pthread_mutex_unlock(&lock);
  errno = saved;
}

static void put_name(char kind, const char *path, const char *other, uint64_t file) {
  put(kind, path, other, file, 0, 0, 0, 0);
}

static void cannot(const char *what) { put_name('X', what, 0, 0); }

#define IS_KNOWN(d) (output >= 0 && (d) >= 0 && (d) < MOST && known[d].kind != FREE)
#define IS_FILE(d) (IS_KNOWN(d) && known[d].kind != FOLDER)

// MARK: Names

static int opened(int descriptor, const char *path, int flags, int was_there) {
  if (descriptor < 0 || !is_below(path)) return descriptor;
  struct stat status;
  if (descriptor >= MOST || fstat(descriptor, &status)) {
    cannot("a descriptor");
    return descriptor;
  }
  int saved = errno;
  int is_folder = S_ISDIR(status.st_mode);
  known[descriptor].kind = is_folder ? FOLDER : flags & O_DSYNC ? DURABLE_FILE : FILE_;
  known[descriptor].file = status.st_ino;
  free(known[descriptor].path);
  known[descriptor].path = strdup(below(path));
  if (!is_folder) put_name(was_there ? 'N' : 'C', below(path), 0, status.st_ino);
  if (!is_folder && flags & O_TRUNC && was_there) put('T', 0, 0, status.st_ino, 0, 0, 0, 0);
  errno = saved;
  return descriptor;
}

static int open_any(const char *path, int flags, mode_t mode) {
  begin();
  int was_there = !is_below(path) || syscall(SYS_access, path, F_OK) == 0;
  return opened(real_open(path, flags, mode), path, flags, was_there);
}

#define MODE(flags, mode) \
  mode_t mode = 0; \
  if ((flags) & (O_CREAT | O_TMPFILE)) { \
    va_list rest; va_start(rest, flags); mode = va_arg(rest, mode_t); va_end(rest); \
  }

int open(const char *path, int flags, ...) {
  MODE(flags, mode)
  return open_any(path, flags, mode);
}
int open64(const char *path, int flags, ...) {
  MODE(flags, mode)
  return open_any(path, flags, mode);
}
int openat(int folder, const char *path, int flags, ...) {
  MODE(flags, mode)
  begin();
  if (path[0] == '/') return open_any(path, flags, mode);
  if (IS_KNOWN(folder) && flags & O_ACCMODE) cannot("openat");
  return real_openat(folder, path, flags, mode);
}

int close(int descriptor) {
  begin();
  if (descriptor >= 0 && descriptor < MOST) known[descriptor].kind = FREE;
  return real_close(descriptor);
}

int rename(const char *from, const char *to) {
  begin();
  int status = real_rename(from, to);
  if (!status && is_below(from) && is_below(to)) put_name('R', below(from), below(to), 0);
  return status;
}

int renameat2(int a, const char *from, int b, const char *to, unsigned flags) {
  begin();
  if (!real_renameat2) { errno = ENOSYS; return -1; }
  int status = real_renameat2(a, from, b, to, flags);
  if (!status && is_below(from) && is_below(to)) {
    put_name(flags & RENAME_EXCHANGE ? 'E' : 'R', below(from), below(to), 0);
  }
  return status;
}

int link(const char *from, const char *to) {
  begin();
  int status = real_link(from, to);
  if (!status && is_below(to)) put_name('L', below(from), below(to), 0);
  return status;
}

int unlink(const char *path) {
  begin();
  int status = real_unlink(path);
  if (!status && is_below(path)) put_name('U', below(path), 0, 0);
  return status;
}

int mkdir(const char *path, mode_t mode) {
  begin();
  int status = real_mkdir(path, mode);
  if (!status && is_below(path)) put_name('D', below(path), 0, 0);
  return status;
}

int rmdir(const char *path) {
  begin();
  int status = real_rmdir(path);
  if (!status && is_below(path)) put_name('U', below(path), 0, 0);
  return status;
}

// MARK: Bytes

static ssize_t wrote(
  int descriptor, const struct iovec *bytes, int count, off_t place, ssize_t written
) {
  if (written <= 0 || !IS_FILE(descriptor)) return written;
  char kind = known[descriptor].kind == DURABLE_FILE ? 'O' : 'W';
  put(kind, 0, 0, known[descriptor].file, place, bytes, count, written);
  return written;
}

#define HERE(d) (IS_FILE(d) ? lseek(d, 0, SEEK_CUR) : 0)

ssize_t write(int descriptor, const void *bytes, size_t count) {
  begin();
  off_t place = HERE(descriptor);
  struct iovec part = {(void *)bytes, count};
  return wrote(descriptor, &part, 1, place, real_write(descriptor, bytes, count));
}
ssize_t writev(int descriptor, const struct iovec *parts, int count) {
  begin();
  off_t place = HERE(descriptor);
  return wrote(descriptor, parts, count, place, real_writev(descriptor, parts, count));
}
ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t place) {
  begin();
  struct iovec part = {(void *)bytes, count};
  return wrote(descriptor, &part, 1, place, real_pwrite(descriptor, bytes, count, place));
}
ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off_t place) {
  return pwrite(descriptor, bytes, count, place);
}
ssize_t pwritev(int descriptor, const struct iovec *parts, int count, off_t place) {
  begin();
  return wrote(descriptor, parts, count, place, real_pwritev(descriptor, parts, count, place));
}
ssize_t pwritev64(int descriptor, const struct iovec *parts, int count, off_t place) {
  return pwritev(descriptor, parts, count, place);
}

int ftruncate(int descriptor, off_t count) {
  begin();
  int status = real_ftruncate(descriptor, count);
  if (!status && IS_FILE(descriptor)) put('T', 0, 0, known[descriptor].file, count, 0, 0, 0);
  return status;
}
int ftruncate64(int descriptor, off_t count) { return ftruncate(descriptor, count); }

static int is_lock_table(const char *path) {
  const char *name = strrchr(path, '/');
  return !strcmp(name ? name + 1 : path, "lock.mdb");
}

void *mmap(void *at, size_t count, int protection, int flags, int descriptor, off_t place) {
  begin();
  if (IS_FILE(descriptor) && protection & PROT_WRITE && flags & MAP_SHARED
      && !is_lock_table(known[descriptor].path)) {
    cannot("a shared writable map");
  }
  return real_mmap(at, count, protection, flags, descriptor, place);
}
void *mmap64(void *at, size_t count, int protection, int flags, int descriptor, off_t place) {
  return mmap(at, count, protection, flags, descriptor, place);
}

// MARK: What makes it durable

static int synced(int descriptor, int status) {
  if (status || !IS_KNOWN(descriptor)) return status;
  if (known[descriptor].kind == FOLDER) {
    if (!without_folder_sync) put_name('P', known[descriptor].path, 0, 0);
  } else {
    put_name('S', 0, 0, known[descriptor].file);
  }
  return status;
}

int fsync(int descriptor) {
  begin();
  return synced(descriptor, real_fsync(descriptor));
}
int fdatasync(int descriptor) {
  begin();
  if (without_fdatasync && IS_KNOWN(descriptor)) return 0;
  return synced(descriptor, real_fdatasync(descriptor));
}
