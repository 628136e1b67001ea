/*
 * Records what a process writes below a folder, in order: for a shared library that is preloaded (ld.so(8), LD_PRELOAD).
 * RECORD_FOLDER: the folder; RECORD_LOG: the file for the records; see recorded.ts for their form.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FILES 4096
static char *paths[FILES];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static int log_file(void) {
  static int file = -1;
  if (file < 0) file = syscall(SYS_openat, AT_FDCWD, getenv("RECORD_LOG"), O_WRONLY | O_CREAT | O_APPEND, 0600);
  return file;
}

static int is_recorded(const char *path) {
  const char *folder = getenv("RECORD_FOLDER");
  return folder && path && strncmp(path, folder, strlen(folder)) == 0;
}

/* Type, lengths of path and data, offset; then path and data. */
static void record(char type, const char *path, int64_t offset, const void *data, uint32_t length) {
  uint32_t path_length = strlen(path);
  size_t size = 17 + path_length + length;
  char *bytes = malloc(size);
  bytes[0] = type;
  memcpy(bytes + 1, &path_length, 4);
  memcpy(bytes + 5, &length, 4);
  memcpy(bytes + 9, &offset, 8);
  memcpy(bytes + 17, path, path_length);
  if (length) memcpy(bytes + 17 + path_length, data, length);
  pthread_mutex_lock(&mutex);
  syscall(SYS_write, log_file(), bytes, size);
  pthread_mutex_unlock(&mutex);
  free(bytes);
}

static const char *path_of(int file) { return file >= 0 && file < FILES ? paths[file] : NULL; }

static int opened(int file, const char *path, int flags, int existed) {
  if (file < 0 || file >= FILES) return file;
  free(paths[file]);
  paths[file] = is_recorded(path) ? strdup(path) : NULL;
  if (!paths[file]) return file;
  if (!existed) record('C', path, 0, NULL, 0);
  else if (flags & O_TRUNC) record('T', path, 0, NULL, 0);
  return file;
}

#define OPEN(name)                                                      \
  int name(const char *path, int flags, ...) {                          \
    va_list rest;                                                       \
    va_start(rest, flags);                                              \
    int mode = va_arg(rest, int);                                       \
    va_end(rest);                                                       \
    int existed = syscall(SYS_access, path, F_OK) == 0;                 \
    return opened(syscall(SYS_openat, AT_FDCWD, path, flags, mode), path, flags, existed); \
  }
OPEN(open)
OPEN(open64)

#define WRITE_AT(name)                                        \
  ssize_t name(int file, const void *data, size_t length, off64_t at) { \
    ssize_t count = syscall(SYS_pwrite64, file, data, length, at);      \
    if (count > 0 && path_of(file)) record('W', path_of(file), at, data, count); \
    return count;                                                       \
  }
WRITE_AT(pwrite)
WRITE_AT(pwrite64)

ssize_t write(int file, const void *data, size_t length) {
  ssize_t count = syscall(SYS_write, file, data, length);
  if (count > 0 && file == 1) record('A', "", 0, data, count);
  else if (count > 0 && path_of(file)) record('W', path_of(file), lseek64(file, 0, SEEK_CUR) - count, data, count);
  return count;
}

#define TRUNCATE(name)                                                  \
  int name(int file, off64_t length) {                                  \
    int result = syscall(SYS_ftruncate, file, length);                  \
    if (result == 0 && path_of(file)) record('T', path_of(file), length, NULL, 0); \
    return result;                                                      \
  }
TRUNCATE(ftruncate)
TRUNCATE(ftruncate64)

#define SYNC(name, number)                                              \
  int name(int file) {                                                  \
    int result = syscall(number, file);                                 \
    if (result == 0 && path_of(file)) record('S', path_of(file), 0, NULL, 0); \
    return result;                                                      \
  }
SYNC(fsync, SYS_fsync)
SYNC(fdatasync, SYS_fdatasync)

int rename(const char *from, const char *to) {
  int result = syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
  if (result == 0 && is_recorded(from)) record('R', from, 0, to, strlen(to));
  return result;
}

int unlink(const char *path) {
  int result = syscall(SYS_unlinkat, AT_FDCWD, path, 0);
  if (result == 0 && is_recorded(path)) record('U', path, 0, NULL, 0);
  return result;
}
