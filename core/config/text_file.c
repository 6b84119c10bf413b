/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Files that people write, read whole. */
#include "core/config/config.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int32_t system_failed(rec_job *job, const char *path, int error, const char *doing)
{
    char text[256];
    (void)lr_fail_line(job, REC_E_IO, path, 0, "cannot %s: %s", doing, lr_system_words(error, text, sizeof text));
    return lr_job_errno(job, error);
}

/* Copies a text of the library. */
static char *copy(rec_job *job, const char *builtin, size_t *length)
{
    size_t room = strlen(builtin) + 1;
    char *text = lr_job_alloc(job, room);
    if (!text) {
        return NULL;
    }
    *length = room - 1;
    return memcpy(text, builtin, room);
}

char *lr_text_file(rec_job *job, const char *path, const char *wanted, size_t *length)
{
    const lr_builtin_file *builtin = lr_builtin_find(path);
    enum { LEAST = 4096 }; /* that are asked of the system at once */
    char *text = NULL;
    uint64_t room = 0;
    size_t used = 0;
    struct stat state;
    int32_t status = REC_OK;
    int fd;
    if (builtin) {
        return copy(job, builtin->text, length);
    }
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) {
        (void)system_failed(job, path, errno, "open");
        return NULL;
    }
    if (fstat(fd, &state) == 0 && S_ISDIR(state.st_mode)) {
        status = lr_fail_line(job, REC_E_IO, path, 0, "a directory, where %s is needed", wanted);
    }
    while (status == REC_OK) {
        ssize_t got;
        if (!lr_job_grow(job, &text, used + LEAST, &room, 1)) {
            status = job->error.status;
            continue;
        }
        got = read(fd, text + used, (size_t)room - used - 1);
        if (got == 0) {
            break;
        }
        if (got < 0) {
            status = errno == EINTR ? REC_OK : system_failed(job, path, errno, "read");
            continue;
        }
        used += (size_t)got;
        if (used > LR_TEXT_FILE_MOST) {
            status = lr_fail_line(job, REC_E_LIMIT, path, 0, "larger than 16 MiB: this is not %s", wanted);
        }
    }
    (void)close(fd);
    if (status != REC_OK) {
        lr_release(job->allocator, text);
        return NULL;
    }
    text[used] = '\0';
    *length = used;
    return text;
}
