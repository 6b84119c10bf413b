/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Files: opened, read, written, renamed and brought to the disk. A call that a signal interrupts is repeated. A
 * function that returns `int` returns 0 or an errno, unless its comment says otherwise. */
#ifndef LR_OS_FILE_H
#define LR_OS_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/** Opens a file of a directory, closed on exec and never as a controlling terminal. @param folder AT_FDCWD: the current
 * directory. @param mode of a new file. @return a descriptor; -1 with errno. */
int lr_file_open(int folder, const char *name, int flags, mode_t mode);
/** Makes a temporary file without a name, which nobody else can open and which goes with its descriptor.
 * @return a descriptor; -1 with errno. */
int lr_file_nameless(void);
/** @return the directory of temporary files: TMPDIR, or "/tmp". */
const char *lr_file_temporary_folder(void);

/** Reads all of a range. @return EIO also if the file ends before. */
int lr_file_read_at(int fd, void *target, uint64_t size, uint64_t offset);
/** Writes all of a range. */
int lr_file_write_at(int fd, const void *data, uint64_t size, uint64_t offset);

/** Brings a file or a directory to the disk. */
int lr_file_sync(int fd);
/** Asks the disk to begin with a range; `size` 0: up to the end. */
void lr_file_sync_begin(int fd, uint64_t offset, uint64_t size);
/** Reports what a close would of earlier writes, but leaves the file open, and its lock. */
int lr_file_flush(int fd);
/** Hints that the file is read at random: the system reads nothing ahead. @return whether the system took the hint. */
bool lr_file_random(int fd, bool random);

/** Renames a file to a name that no file has. @return EEXIST: there is one. */
int lr_file_rename_new(int folder, const char *from, const char *to);
/** Exchanges two files. @return an error of lr_file_cannot_exchange(): the system or the file system has no such
 * rename. */
int lr_file_exchange(int folder, const char *one, const char *other);
bool lr_file_cannot_exchange(int error);

/** @return whether two states are of the same file. */
bool lr_file_same(const struct stat *a, const struct stat *b);
/** @return whether a name, itself no link, is the file with this state. */
bool lr_file_is(int folder, const char *name, const struct stat *state);
/** Calls `on` with the names in an open directory, whose offset is not moved, until it returns false. @return false:
 * the directory cannot be listed. */
bool lr_file_names(int folder, bool (*on)(void *user, const char *name), void *user);
/** @return whether a file is on a server: reading a map of it raises SIGBUS when the server goes away. */
bool lr_file_is_remote(int fd);
/** The same for the number of a kind of file system, which statfs() returns. */
bool lr_file_system_is_remote(uint32_t kind);

#endif
