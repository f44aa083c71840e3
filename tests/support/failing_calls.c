/* Fails calls of the C library under a folder, whoever makes them: SQLite, Arrow, Python.

   Loaded before the C library (LD_PRELOAD); armed and asked by support.native_calls. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static char under[PATH_MAX], made[1 << 20];
static long number, fails_at;
static int fails_by, lasting;
static size_t used;

/* Counts the calls under a folder from now on; the one of this number fails, if not 0. */
void calls_arm(const char *folder, long at, int error, int later) {
  snprintf(under, sizeof under, "%s", folder);
  number = 0, used = 0, made[0] = 0, fails_at = at, fails_by = error, lasting = later;
}

void calls_disarm(void) { under[0] = 0; }

/* The calls that were made, a line each. */
const char *calls_made(void) { return made; }

static int fails(const char *call, const char *path) {
  char whole[PATH_MAX];
  size_t length = strlen(under);
  if (!length || !path) return 0;
  if (path[0] != '/') {
    char here[PATH_MAX / 2];
    if (!getcwd(here, sizeof here)) return 0;
    snprintf(whole, sizeof whole, "%s/%s", here, path);
    path = whole;
  }
  if (strncmp(path, under, length) || (path[length] && path[length] != '/')) return 0;
  long own = __atomic_add_fetch(&number, 1, __ATOMIC_SEQ_CST);
  const char *name = strrchr(path, '/');
  if (used + 400 < sizeof made)
    used += snprintf(made + used, 400, "%s %.300s\n", call, name ? name + 1 : path);
  if (!fails_at || (own != fails_at && !(lasting && own > fails_at))) return 0;
  errno = fails_by;
  return 1;
}

static int fails_open_file(const char *call, int file) {
  char link[64], path[PATH_MAX];
  if (!under[0]) return 0;
  int kept = errno;
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t size = readlink(link, path, sizeof path - 1);
  errno = kept;
  if (size < 0) return 0;
  path[size] = 0;
  return fails(call, path);
}

#define REAL(name) ((__typeof__(name) *)dlsym(RTLD_NEXT, #name))

#define BY_FILE(type, name, called, list, ...)                     \
  type name list {                                                 \
    static __typeof__(name) *real;                                 \
    if (!real) real = REAL(name);                                  \
    return fails_open_file(called, file) ? -1 : real(__VA_ARGS__); \
  }

BY_FILE(ssize_t, read, "read", (int file, void *to, size_t size), file, to, size)
BY_FILE(ssize_t, pread, "pread", (int file, void *to, size_t size, off_t at), file, to, size, at)
BY_FILE(ssize_t, pread64, "pread", (int file, void *to, size_t size, off64_t at), file, to, size, at)
BY_FILE(ssize_t, write, "write", (int file, const void *of, size_t size), file, of, size)
BY_FILE(ssize_t, pwrite, "pwrite", (int file, const void *of, size_t size, off_t at), file, of, size, at)
BY_FILE(ssize_t, pwrite64, "pwrite", (int file, const void *of, size_t size, off64_t at), file, of, size, at)
BY_FILE(ssize_t, writev, "write", (int file, const struct iovec *of, int size), file, of, size)
BY_FILE(int, fsync, "fsync", (int file), file)
BY_FILE(int, fdatasync, "fsync", (int file), file)
BY_FILE(int, ftruncate, "ftruncate", (int file, off_t size), file, size)
BY_FILE(int, ftruncate64, "ftruncate", (int file, off64_t size), file, size)
BY_FILE(int, fchmod, "fchmod", (int file, mode_t mode), file, mode)
BY_FILE(int, flock, "flock", (int file, int how), file, how)

#define BY_PATH(name, called, list, ...)                \
  int name list {                                       \
    static __typeof__(name) *real;                      \
    if (!real) real = REAL(name);                       \
    return fails(called, path) ? -1 : real(__VA_ARGS__); \
  }

BY_PATH(rename, "rename", (const char *path, const char *to), path, to)
BY_PATH(renameat, "rename", (int from, const char *path, int at, const char *to), from, path, at, to)
BY_PATH(link, "link", (const char *path, const char *to), path, to)
BY_PATH(linkat, "link", (int from, const char *path, int at, const char *to, int how), from, path, at, to, how)
BY_PATH(unlink, "unlink", (const char *path), path)
BY_PATH(unlinkat, "unlink", (int at, const char *path, int how), at, path, how)
BY_PATH(mkdir, "mkdir", (const char *path, mode_t mode), path, mode)
BY_PATH(mkdirat, "mkdir", (int at, const char *path, mode_t mode), at, path, mode)
BY_PATH(rmdir, "rmdir", (const char *path), path)
BY_PATH(chmod, "chmod", (const char *path, mode_t mode), path, mode)
BY_PATH(truncate, "truncate", (const char *path, off_t size), path, size)

#define OPENS(name, before, list, ...)                      \
  int name list {                                           \
    static int (*real) before;                              \
    va_list rest;                                           \
    va_start(rest, how);                                    \
    mode_t mode = how & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0; \
    va_end(rest);                                           \
    if (!real) real = (int(*) before)dlsym(RTLD_NEXT, #name); \
    return fails("open", path) ? -1 : real(__VA_ARGS__, mode); \
  }

OPENS(open, (const char *, int, ...), (const char *path, int how, ...), path, how)
OPENS(open64, (const char *, int, ...), (const char *path, int how, ...), path, how)
OPENS(openat, (int, const char *, int, ...), (int at, const char *path, int how, ...), at, path, how)
OPENS(openat64, (int, const char *, int, ...), (int at, const char *path, int how, ...), at, path, how)
