/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What is too large to stay in memory: temporary files without a name, whose pages the system takes back and brings again. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/io/io_private.h"

/* Fewer bytes are not worth a file and a map of their own. */
enum { SPILL_LEAST = 256 * 1024 };

static const char *temporary_folder(void)
{
    const char *folder = secure_getenv("TMPDIR");
    return folder && *folder ? folder : "/tmp";
}

/* A file without a name, so that nobody else can open it and nothing stays behind. */
int lr_spill_open(rec_job *job)
{
    static const char hint[] = "What is long and cannot be mapped goes to a temporary file: set TMPDIR to a folder for it.";
    static const char pattern[] = "/librecord-XXXXXX";
    const char *folder = temporary_folder();
    size_t length = strlen(folder);
    char *name = NULL;
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600);
    if (fd >= 0) {
        return fd;
    }
    /* Not every file system has nameless files. */
    name = lr_alloc(job->allocator, length + sizeof pattern);
    if (!name) {
        (void)lr_fail_memory(job, length + sizeof pattern);
        return -1;
    }
    memcpy(name, folder, length);
    memcpy(name + length, pattern, sizeof pattern);
    fd = mkostemp(name, O_CLOEXEC);
    if (fd >= 0) {
        (void)unlink(name);
    } else {
        int error = errno;
        (void)lr_io_errno(job, folder, REC_UNKNOWN, hint, error, "make a temporary file in this folder");
    }
    lr_release(job->allocator, name);
    return fd;
}

int32_t lr_spill_write(rec_job *job, int fd, const uint8_t *data, uint64_t size)
{
    while (size) {
        ssize_t n = write(fd, data, (size_t)(size < LR_IO_PIECE ? size : LR_IO_PIECE));
        int32_t status = REC_OK;
        if (n > 0) {
            data += n;
            size -= (uint64_t)n;
        } else if (n < 0 && errno == EINTR) {
            status = lr_io_interrupted(job);
        } else {
            status = lr_io_errno(job, temporary_folder(), REC_UNKNOWN, "Set TMPDIR to a folder with more space.",
                                 n < 0 ? errno : EIO, "write to a temporary file in this folder");
        }
        if (status != REC_OK) {
            return status;
        }
    }
    return REC_OK;
}

int32_t lr_spill_map(rec_job *job, rec_source *source, int fd, uint64_t size, int32_t status)
{
    if (status == REC_OK && !lr_source_map(source, fd, 0, size)) {
        status = lr_io_errno(job, temporary_folder(), REC_UNKNOWN, NULL, errno, "map a temporary file in this folder");
    }
    (void)close(fd); /* nothing in it has to reach the disk */
    return status;
}

bool lr_spill_wanted(const rec_job *job, uint64_t size)
{
    return job->context->spill && size >= SPILL_LEAST && size >= job->context->spill;
}

/* The pages stay, for who fills them next. */
static rec_source *spilled(rec_job *job, const lr_pages *pages, uint64_t size)
{
    rec_source *source = lr_source_new(job, "memory");
    int fd = source ? lr_spill_open(job) : -1;
    if (fd < 0 || lr_spill_map(job, source, fd, size, lr_spill_write(job, fd, pages->data, size)) != REC_OK) {
        lr_source_release(source);
        return NULL;
    }
    return source;
}

rec_source *lr_source_kept(rec_job *job, lr_pages *pages, uint64_t size)
{
    rec_source *source;
    lr_pages *own;
    if (lr_spill_wanted(job, size)) {
        return spilled(job, pages, size);
    }
    own = lr_alloc(job->allocator, sizeof *own);
    if (!own) {
        (void)lr_fail_memory(job, sizeof *own);
        return NULL;
    }
    lr_pages_trim(pages, size ? size : 1);
    *own = *pages;
    source = lr_source_owned(job->allocator, own->data, size, lr_pages_release, own);
    if (source) {
        *pages = (lr_pages){.allocator = own->allocator};
    } else {
        lr_release(job->allocator, own);
        (void)lr_fail_memory(job, size);
    }
    return source;
}
