// A disk that writes down what is written to it: `disk IMAGE RECORD FOLDER`.
//
// Mounts a file system of its own (FUSE, spoken directly to the kernel) on FOLDER with two files:
// `disk` is the image, `marks` is what programs have to say. What is written to either, and each
// time `disk` is told to keep what it has, goes into RECORD, in the order in which it happened. A
// loop device on `disk` is a disk for any file system; its flushes arrive here as syncs.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

// As PowerRecord.swift reads it.
struct record {
  uint8_t kind, zero[3];
  uint32_t path_count, other_count, byte_count;
  uint64_t file, place;
};

enum { ROOT = FUSE_ROOT_ID, DISK = 2, MARKS = 3 };
enum { MOST = 1 << 17 };

static int fuse, image, output;
static uint64_t image_count;

static void put(char kind, const char *path, uint64_t file, uint64_t place, const void *bytes,
                uint32_t count) {
  struct record head = {
    .kind = kind, .path_count = strlen(path), .byte_count = count, .file = file, .place = place,
  };
  struct iovec parts[] = {
    {&head, sizeof head}, {(void *)path, head.path_count}, {(void *)bytes, count},
  };
  ssize_t whole = sizeof head + head.path_count + count;
  if (writev(output, parts, 3) != whole) { perror("disk: the record"); exit(1); }
}

static void answer(const struct fuse_in_header *in, int error, const void *bytes, size_t count) {
  struct fuse_out_header out = {.len = sizeof out + count, .error = error, .unique = in->unique};
  struct iovec parts[] = {{&out, sizeof out}, {(void *)bytes, count}};
  // A request that was taken back meanwhile has nobody to answer to.
  if (writev(fuse, parts, 2) < 0 && errno != ENOENT) { perror("disk: an answer"); exit(1); }
}

static struct fuse_attr attributes(uint64_t node) {
  struct fuse_attr found = {.ino = node, .nlink = 1, .blksize = 4096};
  found.mode = node == ROOT ? S_IFDIR | 0700 : S_IFREG | 0600;
  if (node == DISK) found.size = image_count;
  found.blocks = found.size / 512;
  return found;
}

static void look_up(const struct fuse_in_header *in, const char *name) {
  uint64_t node = !strcmp(name, "disk") ? DISK : !strcmp(name, "marks") ? MARKS : 0;
  if (!node || in->nodeid != ROOT) return answer(in, -ENOENT, 0, 0);
  struct fuse_entry_out out = {
    .nodeid = node, .entry_valid = 3600, .attr_valid = 3600, .attr = attributes(node),
  };
  answer(in, 0, &out, sizeof out);
}

static void give(const struct fuse_in_header *in, const struct fuse_read_in *asked) {
  static char bytes[MOST];
  size_t count = asked->size < MOST ? asked->size : MOST;
  ssize_t got = in->nodeid == DISK ? pread(image, bytes, count, asked->offset) : 0;
  answer(in, got < 0 ? -errno : 0, bytes, got < 0 ? 0 : got);
}

static void take(const struct fuse_in_header *in, const struct fuse_write_in *asked) {
  const void *bytes = asked + 1;
  if (in->nodeid == DISK) {
    ssize_t written = pwrite(image, bytes, asked->size, asked->offset);
    if (written != (ssize_t)asked->size) return answer(in, -EIO, 0, 0);
  }
  put('W', "", in->nodeid, asked->offset, bytes, asked->size);
  struct fuse_write_out out = {.size = asked->size};
  answer(in, 0, &out, sizeof out);
}

static void serve(const struct fuse_in_header *in, const void *rest) {
  switch (in->opcode) {
  case FUSE_INIT: {
    const struct fuse_init_in *offer = rest;
    struct fuse_init_out out = {
      .major = FUSE_KERNEL_VERSION, .minor = FUSE_KERNEL_MINOR_VERSION,
      .max_readahead = offer->max_readahead, .max_write = MOST, .max_background = 64,
      .flags = FUSE_BIG_WRITES | FUSE_MAX_PAGES, .max_pages = MOST / 4096, .time_gran = 1,
    };
    return answer(in, 0, &out, sizeof out);
  }
  case FUSE_LOOKUP: return look_up(in, rest);
  case FUSE_GETATTR: case FUSE_SETATTR: {
    struct fuse_attr_out out = {.attr_valid = 3600, .attr = attributes(in->nodeid)};
    return answer(in, 0, &out, sizeof out);
  }
  case FUSE_OPEN: case FUSE_OPENDIR: {
    // Nothing stays in the system's memory: what is written arrives here at once.
    struct fuse_open_out out = {.open_flags = in->opcode == FUSE_OPEN ? FOPEN_DIRECT_IO : 0};
    return answer(in, 0, &out, sizeof out);
  }
  case FUSE_READ: return give(in, rest);
  case FUSE_WRITE: return take(in, rest);
  case FUSE_FSYNC:
    if (in->nodeid == DISK && !getenv("STRESS_NO_FLUSH")) put('S', "", DISK, 0, 0, 0);
    return answer(in, 0, 0, 0);
  case FUSE_STATFS: {
    struct fuse_statfs_out out = {.st = {.bsize = 4096, .namelen = 255, .frsize = 4096}};
    return answer(in, 0, &out, sizeof out);
  }
  case FUSE_READDIR: case FUSE_RELEASE: case FUSE_RELEASEDIR: case FUSE_FLUSH: case FUSE_ACCESS:
    return answer(in, 0, 0, 0);
  case FUSE_FORGET: case FUSE_BATCH_FORGET: case FUSE_INTERRUPT: return;
  case FUSE_DESTROY: answer(in, 0, 0, 0); exit(0);
  default: return answer(in, -ENOSYS, 0, 0);
  }
}

int main(int count, char **arguments) {
  if (count != 4) return 2;
  image = open(arguments[1], O_RDWR | O_CLOEXEC);
  output = open(arguments[2], O_CREAT | O_TRUNC | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
  fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);
  struct stat status;
  if (image < 0 || output < 0 || fuse < 0 || fstat(image, &status)) { perror("disk"); return 1; }
  image_count = status.st_size;
  put('C', "disk", DISK, 0, 0, 0);
  put('C', "marks", MARKS, 0, 0, 0);
  char options[128];
  snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=0,group_id=0", fuse);
  if (mount("disk", arguments[3], "fuse.larder-stress", MS_NOSUID | MS_NODEV, options)) {
    perror("disk: mount");
    return 1;
  }
  printf("ready\n");
  fflush(stdout);
  static char request[MOST + 4096] __attribute__((aligned(16)));
  while (1) {
    ssize_t got = read(fuse, request, sizeof request);
    if (got < 0 && (errno == EINTR || errno == ENOENT || errno == EAGAIN)) continue;
    if (got < (ssize_t)sizeof(struct fuse_in_header)) return errno == ENODEV ? 0 : 1;
    const struct fuse_in_header *in = (const struct fuse_in_header *)request;
    serve(in, in + 1);
  }
}
