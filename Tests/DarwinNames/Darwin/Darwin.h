// A stand-in for the C library of Apple's systems where there is none: the functions, types and numbers
// that the library uses there, with the types that they have there, and nothing behind them. See
// `Tools/check-darwin`.
//
// The names in C have a prefix, so that they are not taken for those of this system's C library, which
// Foundation brings along; Swift knows them without it. Of a structure only the fields stand here that
// somebody may ask for.

#include <stddef.h>

#define DARWIN(name) __attribute__((swift_name(#name)))

#pragma clang assume_nonnull begin

// MARK: Types

typedef long long darwin_off_t DARWIN(off_t);
typedef unsigned short darwin_mode_t DARWIN(mode_t);
typedef int darwin_pid_t DARWIN(pid_t);
typedef unsigned int darwin_uid_t DARWIN(uid_t);
typedef unsigned int darwin_gid_t DARWIN(gid_t);
typedef int darwin_dev_t DARWIN(dev_t);
typedef unsigned long long darwin_ino_t DARWIN(ino_t);
typedef unsigned short darwin_nlink_t DARWIN(nlink_t);
typedef long darwin_time_t DARWIN(time_t);
typedef int darwin_suseconds_t DARWIN(suseconds_t);
typedef unsigned int darwin_nfds_t DARWIN(nfds_t);
typedef unsigned int darwin_sigset_t DARWIN(sigset_t);
typedef unsigned long long darwin_rlim_t DARWIN(rlim_t);
typedef unsigned int darwin_useconds_t DARWIN(useconds_t);

struct DARWIN(timespec) darwin_timespec {
  darwin_time_t tv_sec;
  long tv_nsec;
};

struct DARWIN(timeval) darwin_timeval {
  darwin_time_t tv_sec;
  darwin_suseconds_t tv_usec;
};

struct DARWIN(tm) darwin_tm {
  int tm_sec, tm_min, tm_hour, tm_mday, tm_mon, tm_year, tm_wday, tm_yday, tm_isdst;
  long tm_gmtoff;
  char *_Null_unspecified tm_zone;
};

struct DARWIN(stat) darwin_stat {
  darwin_dev_t st_dev;
  darwin_mode_t st_mode;
  darwin_nlink_t st_nlink;
  darwin_ino_t st_ino;
  darwin_uid_t st_uid;
  darwin_gid_t st_gid;
  darwin_dev_t st_rdev;
  struct darwin_timespec st_atimespec, st_mtimespec, st_ctimespec, st_birthtimespec;
  darwin_off_t st_size;
  long long st_blocks;
  int st_blksize;
  unsigned int st_flags;
  unsigned int st_gen;
};

struct DARWIN(statvfs) darwin_statvfs {
  unsigned long f_bsize, f_frsize;
  unsigned int f_blocks, f_bfree, f_bavail, f_files, f_ffree, f_favail;
  unsigned long f_fsid, f_flag, f_namemax;
};

struct DARWIN(flock) darwin_flock {
  darwin_off_t l_start, l_len;
  darwin_pid_t l_pid;
  short l_type, l_whence;
};

typedef struct DARWIN(fstore_t) darwin_fstore {
  unsigned int fst_flags;
  int fst_posmode;
  darwin_off_t fst_offset, fst_length, fst_bytesalloc;
} darwin_fstore;

struct DARWIN(pollfd) darwin_pollfd {
  int fd;
  short events, revents;
};

struct DARWIN(rlimit) darwin_rlimit {
  darwin_rlim_t rlim_cur, rlim_max;
};

struct DARWIN(winsize) darwin_winsize {
  unsigned short ws_row, ws_col, ws_xpixel, ws_ypixel;
};

struct DARWIN(dirent) darwin_dirent {
  unsigned long long d_ino, d_seekoff;
  unsigned short d_reclen, d_namlen;
  unsigned char d_type;
  char d_name[1024];
};

typedef struct DARWIN(DIR) darwin_DIR {
  int number;
} darwin_DIR;

typedef struct DARWIN(FILE) darwin_FILE {
  int number;
} darwin_FILE;

// MARK: Errors

#define EPERM 1
#define ENOENT 2
#define ESRCH 3
#define EINTR 4
#define EIO 5
#define ENXIO 6
#define EBADF 9
#define ENOMEM 12
#define EACCES 13
#define EFAULT 14
#define EBUSY 16
#define EEXIST 17
#define EXDEV 18
#define ENODEV 19
#define ENOTDIR 20
#define EISDIR 21
#define EINVAL 22
#define ENFILE 23
#define EMFILE 24
#define EFBIG 27
#define ENOSPC 28
#define ESPIPE 29
#define EROFS 30
#define EPIPE 32
#define EAGAIN 35
#define EWOULDBLOCK EAGAIN
#define EPROTONOSUPPORT 43
#define ENOTSUP 45
#define ELOOP 62
#define ENAMETOOLONG 63
#define ENOTEMPTY 66
#define EDQUOT 69
#define ESTALE 70
#define ENOLCK 77
#define ENOSYS 78
#define ECANCELED 89
#define EILSEQ 92
#define EOPNOTSUPP 102

char *_Null_unspecified darwin_strerror(int) DARWIN(strerror(_:));

// MARK: Files

#define STDIN_FILENO 0
#define STDOUT_FILENO 1
#define STDERR_FILENO 2

#define O_RDONLY 0x0000
#define O_WRONLY 0x0001
#define O_RDWR 0x0002
#define O_NONBLOCK 0x00000004
#define O_APPEND 0x00000008
#define O_SHLOCK 0x00000010
#define O_EXLOCK 0x00000020
#define O_NOFOLLOW 0x00000100
#define O_CREAT 0x00000200
#define O_TRUNC 0x00000400
#define O_EXCL 0x00000800
#define O_EVTONLY 0x00008000
#define O_DIRECTORY 0x00100000
#define O_DSYNC 0x400000
#define O_CLOEXEC 0x01000000

#define F_GETFD 1
#define F_SETFD 2
#define F_GETFL 3
#define F_SETFL 4
#define F_GETLK 7
#define F_SETLK 8
#define F_SETLKW 9
#define F_PREALLOCATE 42
#define F_NOCACHE 48
#define F_GETPATH 50
#define F_FULLFSYNC 51
#define F_DUPFD_CLOEXEC 67
#define F_SETNOSIGPIPE 73
#define F_BARRIERFSYNC 85
#define F_RDLCK 1
#define F_UNLCK 2
#define F_WRLCK 3
#define F_ALLOCATECONTIG 0x00000002
#define F_ALLOCATEALL 0x00000004
#define F_PEOFPOSMODE 3
#define F_VOLPOSMODE 4
#define FD_CLOEXEC 1

#define LOCK_SH 0x01
#define LOCK_EX 0x02
#define LOCK_NB 0x04
#define LOCK_UN 0x08

#define AT_FDCWD -2
#define AT_SYMLINK_NOFOLLOW 0x0020
#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2
#define R_OK 4
#define W_OK 2
#define F_OK 0
#define RENAME_SWAP 0x00000002
#define RENAME_EXCL 0x00000004

int darwin_close(int) DARWIN(close(_:));
long darwin_read(int, void *_Null_unspecified, size_t) DARWIN(read(_:_:_:));
long darwin_write(int, const void *_Null_unspecified, size_t) DARWIN(write(_:_:_:));
long darwin_pread(int, void *_Null_unspecified, size_t, darwin_off_t) DARWIN(pread(_:_:_:_:));
long darwin_pwrite(int, const void *_Null_unspecified, size_t, darwin_off_t)
    DARWIN(pwrite(_:_:_:_:));
darwin_off_t darwin_lseek(int, darwin_off_t, int) DARWIN(lseek(_:_:_:));
int darwin_fsync(int) DARWIN(fsync(_:));
int darwin_ftruncate(int, darwin_off_t) DARWIN(ftruncate(_:_:));
int darwin_truncate(const char *_Null_unspecified, darwin_off_t) DARWIN(truncate(_:_:));
int darwin_stat_of(const char *_Null_unspecified, struct darwin_stat *_Null_unspecified)
    DARWIN(stat(_:_:));
int darwin_lstat(const char *_Null_unspecified, struct darwin_stat *_Null_unspecified)
    DARWIN(lstat(_:_:));
int darwin_fstat(int, struct darwin_stat *_Null_unspecified) DARWIN(fstat(_:_:));
int darwin_statvfs_of(const char *_Null_unspecified, struct darwin_statvfs *_Null_unspecified)
    DARWIN(statvfs(_:_:));
int darwin_fstatvfs(int, struct darwin_statvfs *_Null_unspecified) DARWIN(fstatvfs(_:_:));
int darwin_flock_of(int, int) DARWIN(flock(_:_:));
int darwin_unlink(const char *_Null_unspecified) DARWIN(unlink(_:));
int darwin_rmdir(const char *_Null_unspecified) DARWIN(rmdir(_:));
int darwin_mkdir(const char *_Null_unspecified, darwin_mode_t) DARWIN(mkdir(_:_:));
int darwin_rename(const char *, const char *) DARWIN(rename(_:_:));
int darwin_link(const char *_Null_unspecified, const char *_Null_unspecified) DARWIN(link(_:_:));
int darwin_renamex_np(const char *_Null_unspecified, const char *_Null_unspecified, unsigned int)
    DARWIN(renamex_np(_:_:_:));
int darwin_chmod(const char *_Null_unspecified, darwin_mode_t) DARWIN(chmod(_:_:));
int darwin_fchmod(int, darwin_mode_t) DARWIN(fchmod(_:_:));
int darwin_fchown(int, darwin_uid_t, darwin_gid_t) DARWIN(fchown(_:_:_:));
long darwin_readlink(const char *_Null_unspecified, char *_Null_unspecified, size_t)
    DARWIN(readlink(_:_:_:));
int darwin_access(const char *_Null_unspecified, int) DARWIN(access(_:_:));
int darwin_mkstemp(char *_Null_unspecified) DARWIN(mkstemp(_:));
char *_Null_unspecified darwin_realpath(
    const char *_Null_unspecified, char *_Null_unspecified) DARWIN(realpath(_:_:));
int darwin_utimensat(
    int, const char *, const struct darwin_timespec *_Nonnull, int) DARWIN(utimensat(_:_:_:_:));
int darwin_dup2(int, int) DARWIN(dup2(_:_:));
int darwin_pipe(int *_Null_unspecified) DARWIN(pipe(_:));
int darwin_isatty(int) DARWIN(isatty(_:));
darwin_DIR *_Null_unspecified darwin_opendir(const char *_Null_unspecified) DARWIN(opendir(_:));
struct darwin_dirent *_Null_unspecified darwin_readdir(darwin_DIR *_Null_unspecified)
    DARWIN(readdir(_:));
int darwin_closedir(darwin_DIR *_Null_unspecified) DARWIN(closedir(_:));

#define POLLIN 0x0001
#define POLLOUT 0x0004
#define POLLHUP 0x0010
int darwin_poll(struct darwin_pollfd *_Null_unspecified, darwin_nfds_t, int) DARWIN(poll(_:_:_:));

// MARK: Memory

#define PROT_READ 0x01
#define PROT_WRITE 0x02
#define MAP_SHARED 0x0001
#define MAP_PRIVATE 0x0002
#define MAP_NORESERVE 0x0040
#define MAP_ANON 0x1000
#define MADV_WILLNEED 3
#define _SC_PAGESIZE 29
#define _SC_NPROCESSORS_ONLN 58

void *_Null_unspecified darwin_mmap(
    void *_Null_unspecified, size_t, int, int, int, darwin_off_t)
    DARWIN(mmap(_:_:_:_:_:_:));
int darwin_munmap(void *_Null_unspecified, size_t) DARWIN(munmap(_:_:));
int darwin_madvise(void *_Null_unspecified, size_t, int) DARWIN(madvise(_:_:_:));
int darwin_memcmp(const void *_Null_unspecified, const void *_Null_unspecified, size_t)
    DARWIN(memcmp(_:_:_:));
void *_Null_unspecified darwin_memchr(const void *_Null_unspecified, int, size_t)
    DARWIN(memchr(_:_:_:));
void *_Null_unspecified darwin_memcpy(
    void *_Null_unspecified, const void *_Null_unspecified, size_t) DARWIN(memcpy(_:_:_:));
void *_Null_unspecified darwin_memset(void *_Null_unspecified, int, size_t)
    DARWIN(memset(_:_:_:));
size_t darwin_strlen(const char *_Null_unspecified) DARWIN(strlen(_:));
char *_Null_unspecified darwin_strdup(const char *_Null_unspecified) DARWIN(strdup(_:));
void *_Null_unspecified darwin_malloc(size_t) DARWIN(malloc(_:));
void darwin_free(void *_Null_unspecified) DARWIN(free(_:));
long darwin_sysconf(int) DARWIN(sysconf(_:));
int darwin_getpagesize(void) DARWIN(getpagesize());

// MARK: Processes and users

#define RLIMIT_FSIZE 1
#define RLIMIT_NOFILE 8

darwin_pid_t darwin_getpid(void) DARWIN(getpid());
darwin_pid_t darwin_getppid(void) DARWIN(getppid());
darwin_uid_t darwin_getuid(void) DARWIN(getuid());
darwin_uid_t darwin_geteuid(void) DARWIN(geteuid());
int darwin_kill(darwin_pid_t, int) DARWIN(kill(_:_:));
void darwin_exit(int) __attribute__((noreturn)) DARWIN(exit(_:));
void darwin__exit(int) __attribute__((noreturn)) DARWIN(_exit(_:));
int darwin_atexit(void (*)(void)) DARWIN(atexit(_:));
char *_Null_unspecified darwin_getenv(const char *_Null_unspecified) DARWIN(getenv(_:));
int darwin_getrlimit(int, struct darwin_rlimit *_Null_unspecified) DARWIN(getrlimit(_:_:));
int darwin_sysctlbyname(
    const char *_Null_unspecified, void *_Null_unspecified, size_t *_Null_unspecified,
    void *_Null_unspecified, size_t) DARWIN(sysctlbyname(_:_:_:_:_:));
int darwin_pthread_atfork(
    void (*_Nullable)(void), void (*_Nullable)(void), void (*_Nullable)(void))
    DARWIN(pthread_atfork(_:_:_:));

// MARK: Signals

#define SIGHUP 1
#define SIGINT 2
#define SIGBUS 10
#define SIGPIPE 13
#define SIGTERM 15
#define SIGXFSZ 25
#define SIG_BLOCK 1
#define SIG_UNBLOCK 2
#define SIG_SETMASK 3

int darwin_sigemptyset(darwin_sigset_t *_Null_unspecified) DARWIN(sigemptyset(_:));
int darwin_sigfillset(darwin_sigset_t *_Null_unspecified) DARWIN(sigfillset(_:));
int darwin_sigaddset(darwin_sigset_t *_Null_unspecified, int) DARWIN(sigaddset(_:_:));
int darwin_pthread_sigmask(
    int, const darwin_sigset_t *_Null_unspecified, darwin_sigset_t *_Null_unspecified)
    DARWIN(pthread_sigmask(_:_:_:));
void (*_Null_unspecified darwin_signal(int, void (*_Null_unspecified)(int)))(int)
    DARWIN(signal(_:_:));

// MARK: Threads

struct DARWIN(_opaque_pthread_t) darwin_opaque_pthread {
  long __sig;
};
typedef struct darwin_opaque_pthread *darwin_pthread_t DARWIN(pthread_t);

typedef struct DARWIN(pthread_mutex_t) darwin_mutex {
  long __sig;
  char __opaque[56];
} darwin_mutex;

typedef struct DARWIN(pthread_cond_t) darwin_condition {
  long __sig;
  char __opaque[40];
} darwin_condition;

typedef struct DARWIN(pthread_attr_t) darwin_thread_attributes {
  long __sig;
  char __opaque[56];
} darwin_thread_attributes;

typedef struct DARWIN(pthread_mutexattr_t) darwin_mutex_attributes {
  long __sig;
  char __opaque[8];
} darwin_mutex_attributes;

typedef struct DARWIN(pthread_condattr_t) darwin_condition_attributes {
  long __sig;
  char __opaque[8];
} darwin_condition_attributes;

darwin_pthread_t darwin_pthread_self(void) DARWIN(pthread_self());
int darwin_pthread_create(
    darwin_pthread_t _Nullable *_Nonnull, const darwin_thread_attributes *_Nullable,
    void *_Nullable (*_Nonnull)(void *_Nonnull), void *_Nullable) DARWIN(pthread_create(_:_:_:_:));
int darwin_pthread_detach(darwin_pthread_t) DARWIN(pthread_detach(_:));
int darwin_pthread_join(darwin_pthread_t, void *_Nullable *_Nullable) DARWIN(pthread_join(_:_:));
int darwin_pthread_mutex_init(darwin_mutex *, const darwin_mutex_attributes *_Nullable)
    DARWIN(pthread_mutex_init(_:_:));
int darwin_pthread_mutex_destroy(darwin_mutex *) DARWIN(pthread_mutex_destroy(_:));
int darwin_pthread_mutex_lock(darwin_mutex *) DARWIN(pthread_mutex_lock(_:));
int darwin_pthread_mutex_trylock(darwin_mutex *) DARWIN(pthread_mutex_trylock(_:));
int darwin_pthread_mutex_unlock(darwin_mutex *) DARWIN(pthread_mutex_unlock(_:));
int darwin_pthread_cond_init(darwin_condition *, const darwin_condition_attributes *_Nullable)
    DARWIN(pthread_cond_init(_:_:));
int darwin_pthread_cond_destroy(darwin_condition *) DARWIN(pthread_cond_destroy(_:));
int darwin_pthread_cond_signal(darwin_condition *) DARWIN(pthread_cond_signal(_:));
int darwin_pthread_cond_broadcast(darwin_condition *) DARWIN(pthread_cond_broadcast(_:));
int darwin_pthread_cond_wait(darwin_condition *, darwin_mutex *) DARWIN(pthread_cond_wait(_:_:));
int darwin_pthread_cond_timedwait_relative_np(
    darwin_condition *, darwin_mutex *, const struct darwin_timespec *_Nullable)
    DARWIN(pthread_cond_timedwait_relative_np(_:_:_:));

// MARK: Time

// Swift's module of Apple's library has these as `clockid_t`.
typedef enum DARWIN(clockid_t) : unsigned int {
  darwin_realtime DARWIN(CLOCK_REALTIME) = 0,
  darwin_monotonic DARWIN(CLOCK_MONOTONIC) = 6,
} darwin_clockid_t;

int darwin_clock_gettime(darwin_clockid_t, struct darwin_timespec *_Null_unspecified)
    DARWIN(clock_gettime(_:_:));
darwin_time_t darwin_time_now(darwin_time_t *_Null_unspecified) DARWIN(time(_:));
struct darwin_tm *_Null_unspecified darwin_gmtime_r(
    const darwin_time_t *_Null_unspecified, struct darwin_tm *_Null_unspecified)
    DARWIN(gmtime_r(_:_:));
int darwin_usleep(darwin_useconds_t) DARWIN(usleep(_:));

// MARK: Numbers and texts

double darwin_log1p(double) DARWIN(log1p(_:));
double darwin_log(double) DARWIN(log(_:));
double darwin_pow(double, double) DARWIN(pow(_:_:));
double darwin_exp(double) DARWIN(exp(_:));
double darwin_floor(double) DARWIN(floor(_:));
double darwin_strtod(const char *_Null_unspecified, char *_Null_unspecified *_Null_unspecified)
    DARWIN(strtod(_:_:));
int darwin_vsnprintf(
    char *_Null_unspecified, size_t, const char *_Null_unspecified,
    __builtin_va_list) DARWIN(vsnprintf(_:_:_:_:));

#pragma clang assume_nonnull end
