/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Renames that replace nothing or exchange two files, where the system has them; and files brought to the disk. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/io/sink_file_private.h"

int lr_file_sync(int fd)
{
    int result;
    do {
        result = fsync(fd);
    } while (result != 0 && errno == EINTR);
    return result;
}

bool lr_rename_cannot(int error)
{
    return error == EINVAL || error == ENOSYS || error == EOPNOTSUPP;
}

int lr_rename_with(int folder, const char *from, const char *to, unsigned flags)
{
#ifdef SYS_renameat2
    return (int)syscall(SYS_renameat2, folder, from, folder, to, flags);
#else
    (void)folder, (void)from, (void)to, (void)flags;
    errno = ENOSYS;
    return -1;
#endif
}

int lr_rename_new(int folder, const char *from, const char *to)
{
    struct stat info;
    int result = lr_rename_with(folder, from, to, LR_RENAME_NOREPLACE);
    if (result == 0 || !lr_rename_cannot(errno)) {
        return result;
    }
    if (fstatat(folder, to, &info, AT_SYMLINK_NOFOLLOW) == 0) {
        errno = EEXIST;
        return -1;
    }
    return errno == ENOENT ? renameat(folder, from, folder, to) : -1;
}
