/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Paths that are opened to be read, and files that are read at a place. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "core/io/io_private.h"

int32_t lr_path_open(rec_job *job, const char *path, int *fd, int *error)
{
    int32_t status = REC_OK;
    *fd = -1;
    *error = 0;
    while (*fd < 0 && *error == 0 && status == REC_OK) {
        *fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        if (*fd < 0 && errno == EINTR) {
            status = lr_io_interrupted(job);
        } else if (*fd < 0) {
            *error = errno;
        }
    }
    return status;
}

int32_t lr_path_refused(rec_job *job, const char *path, int error)
{
    return lr_io_errno(job, path, REC_UNKNOWN, NULL, error, "open the file");
}

int32_t lr_io_read_at(rec_job *job, const char *name, int fd, uint64_t whole, uint64_t at, uint8_t *target,
                      uint64_t size)
{
    int32_t status = REC_OK;
    while (size && status == REC_OK) {
        ssize_t n = pread(fd, target, (size_t)(size < LR_IO_PIECE ? size : LR_IO_PIECE), (off_t)at);
        if (n > 0) {
            at += (uint64_t)n;
            target += n;
            size -= (uint64_t)n;
        } else if (n == 0) {
            status = lr_io_shrank(job, name, at, whole);
        } else if (errno == EINTR) {
            status = lr_io_interrupted(job);
        } else {
            status = lr_io_errno(job, name, at, NULL, errno, "read the file");
        }
    }
    return status;
}
