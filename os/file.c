/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Files: opened, read, written, renamed and brought to the disk. */
#include "os/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Of renameat2(); the C library's headers need not have them. */
enum { NO_REPLACE = 1, EXCHANGE = 2 };

/* ----------------------------------------------------------------------------------------------------- opening -- */

int lr_file_open(int folder, const char *name, int flags, mode_t mode)
{
    int fd;
    do {
        fd = openat(folder, name, flags | O_CLOEXEC | O_NOCTTY, mode);
    } while (fd < 0 && errno == EINTR);
    return fd;
}

const char *lr_file_temporary_folder(void)
{
    const char *folder = secure_getenv("TMPDIR");
    return folder && *folder ? folder : "/tmp";
}

int lr_file_nameless(void)
{
    const char *folder = lr_file_temporary_folder();
    char path[PATH_MAX];
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600);
    /* Not every file system has nameless files. */
    if (fd < 0 && snprintf(path, sizeof path, "%s/librecord-XXXXXX", folder) < (int)sizeof path) {
        fd = mkostemp(path, O_CLOEXEC);
        if (fd >= 0) {
            (void)unlink(path);
        }
    }
    return fd;
}

/* ----------------------------------------------------------------------------------------- reading and writing -- */

int lr_file_read_at(int fd, void *target, uint64_t size, uint64_t offset)
{
    uint8_t *to = target;
    while (size) {
        ssize_t got = pread(fd, to, (size_t)size, (off_t)offset);
        if (got > 0) {
            to += got;
            offset += (uint64_t)got;
            size -= (uint64_t)got;
        } else if (got == 0 || errno != EINTR) {
            return got == 0 ? EIO : errno;
        }
    }
    return 0;
}

int lr_file_write_at(int fd, const void *data, uint64_t size, uint64_t offset)
{
    const uint8_t *from = data;
    while (size) {
        ssize_t put = pwrite(fd, from, (size_t)size, (off_t)offset);
        if (put > 0) {
            from += put;
            offset += (uint64_t)put;
            size -= (uint64_t)put;
        } else if (put == 0 || errno != EINTR) {
            return put == 0 ? EIO : errno;
        }
    }
    return 0;
}

/* ---------------------------------------------------------------------------------------------------- the disk -- */

int lr_file_sync(int fd)
{
    while (fsync(fd) != 0) {
        if (errno != EINTR) {
            return errno;
        }
    }
    return 0;
}

void lr_file_sync_begin(int fd, uint64_t offset, uint64_t size)
{
    (void)sync_file_range(fd, (off_t)offset, (off_t)size, SYNC_FILE_RANGE_WRITE);
}

/* Some file systems report a failed write on close. A duplicate of the descriptor does not have the lock. */
int lr_file_flush(int fd)
{
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (copy < 0) {
        return lr_file_sync(fd);
    }
    return close(copy) == 0 ? 0 : errno;
}

bool lr_file_random(int fd, bool random)
{
    return posix_fadvise(fd, 0, 0, random ? POSIX_FADV_RANDOM : POSIX_FADV_NORMAL) == 0;
}

/* ---------------------------------------------------------------------------------------------------- renaming -- */

static int rename_with(int folder, const char *from, const char *to, unsigned flags)
{
#ifdef SYS_renameat2
    return syscall(SYS_renameat2, folder, from, folder, to, flags) == 0 ? 0 : errno;
#else
    (void)folder, (void)from, (void)to, (void)flags;
    return ENOSYS;
#endif
}

bool lr_file_cannot_exchange(int error)
{
    return error == EINVAL || error == ENOSYS || error == EOPNOTSUPP;
}

int lr_file_exchange(int folder, const char *one, const char *other)
{
    return rename_with(folder, one, other, EXCHANGE);
}

int lr_file_rename_new(int folder, const char *from, const char *to)
{
    struct stat state;
    int error = rename_with(folder, from, to, NO_REPLACE);
    if (!lr_file_cannot_exchange(error)) {
        return error;
    }
    if (fstatat(folder, to, &state, AT_SYMLINK_NOFOLLOW) == 0) {
        return EEXIST;
    }
    return errno == ENOENT && renameat(folder, from, folder, to) == 0 ? 0 : errno;
}

/* ---------------------------------------------------------------------------------------------- what there is -- */

bool lr_file_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

bool lr_file_is(int folder, const char *name, const struct stat *state)
{
    struct stat there;
    return fstatat(folder, name, &there, AT_SYMLINK_NOFOLLOW) == 0 && lr_file_same(&there, state);
}

bool lr_file_names(int folder, bool (*on)(void *user, const char *name), void *user)
{
    int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *entry;
    if (!list) {
        if (fd >= 0) {
            (void)close(fd);
        }
        return false;
    }
    while ((entry = readdir(list)) && on(user, entry->d_name)) {
    }
    (void)closedir(list);
    return true;
}

bool lr_file_system_is_remote(uint32_t kind)
{
    static const uint32_t remote[] = {
        0x00006969, /* NFS */
        0x0000517B, /* SMB */
        0xFF534D42, /* CIFS */
        0xFE534D42, /* SMB2 */
        0x01021997, /* 9P */
        0x00C36400, /* Ceph */
        0x5346414F, /* AFS */
        0x6B414653, /* AFS of the kernel */
        0x73757245, /* Coda */
        0x0BD00BD0, /* Lustre */
        0x65735546, /* FUSE: sshfs and others */
    };
    for (size_t i = 0; i < sizeof remote / sizeof *remote; i++) {
        if (kind == remote[i]) {
            return true;
        }
    }
    return false;
}

bool lr_file_is_remote(int fd)
{
    struct statfs system;
    return fstatfs(fd, &system) != 0 || lr_file_system_is_remote((uint32_t)system.f_type);
}
