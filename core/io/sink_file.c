/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The atomic file sink: writes, syncs and renames a temporary file next to the target, so that the old file stays
 * intact on any failure. Files that belong together are renamed when all are written. */
#include "core/io/sink_file_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int32_t file_reserve(rec_sink *sink, uint64_t size)
{
    lr_file_sink *self = (lr_file_sink *)sink;
    int32_t status = REC_OK;
    if (self->straight) {
        return REC_OK;
    }
    if (size > INT64_MAX) {
        return lr_fd_errno(&self->out, REC_UNKNOWN, EFBIG, "reserve space for the file");
    }
    while (status == REC_OK) {
        if (fallocate(self->out.fd, 0, 0, (off_t)size) == 0) {
            self->reserved = size;
            return REC_OK;
        }
        if (errno == EINTR) {
            status = lr_io_interrupted(sink->job);
        } else if (errno == ENOSPC || errno == EDQUOT || errno == EFBIG) {
            status = lr_fd_errno(&self->out, REC_UNKNOWN, errno, "reserve space for the file");
        } else {
            return REC_OK; /* a file system that cannot: writing will tell */
        }
    }
    return status;
}

/* ------------------------------------------------------------------------------------------ finishing, placing -- */

static int32_t close_straight(lr_file_sink *self)
{
    int fd = self->out.fd;
    self->out.fd = -1;
    return close(fd) != 0 && errno != EINTR ? lr_target_failed(self, errno, "close", NULL) : REC_OK;
}

static int32_t file_finish(rec_sink *sink)
{
    lr_file_sink *self = (lr_file_sink *)sink;
    int fd = self->out.fd;
    int32_t status = lr_fd_flush(&self->out);
    if (status != REC_OK) {
        return status;
    }
    if (self->straight) {
        return close_straight(self);
    }
    if (self->reserved > self->out.flushed && ftruncate(fd, (off_t)self->out.flushed) != 0) {
        return lr_target_failed(self, errno, "truncate the file to its size", NULL);
    }
    if (self->replaces) {
        status = lr_target_keep_attributes(self);
    }
    if (status == REC_OK && self->sync) {
        lr_file_sync_begin(fd, 0, 0); /* whatever else is done before the disk has to be waited for */
    }
    lr_fd_free(&self->out);
    return status;
}

static int32_t file_secure(rec_sink *sink)
{
    lr_file_sink *self = (lr_file_sink *)sink;
    int fd = self->out.fd, error;
    if (self->straight) {
        return REC_OK;
    }
    error = self->sync ? lr_file_sync(fd) : lr_file_flush(fd);
    if (error) {
        return lr_fd_errno(&self->out, REC_UNKNOWN, error, self->sync ? "sync the file" : "write");
    }
    if (self->lead) {
        (void)close(fd); /* There may be a thousand; errors were reported before. */
        self->out.fd = -1;
    }
    return REC_OK;
}

static int32_t file_place(rec_sink *sink)
{
    lr_file_sink *self = (lr_file_sink *)sink, *first = (lr_file_sink *)sink->first;
    if (self->straight) {
        return REC_OK;
    }
    if (sink->fresh) {
        return lr_set_place_part(self);
    }
    if (self->set) {
        return lr_set_place_index(self);
    }
    if (first && first->replaces && self->replaces && !first->parked[0] && !first->mixed) {
        lr_set_park(first);
    }
    if (renameat(self->folder, self->made.name, self->folder, self->base) != 0) {
        return lr_target_failed(self, errno, "rename the temporary file to the file's name", NULL);
    }
    self->linked = false;
    self->placed = true;
    (first ? first : self)->mixed = true;
    return REC_OK;
}

static int32_t sync_folder(rec_sink *sink)
{
    static const char hint[] = "Save again, or sync the directory: the new file is complete and in place, but after a "
                               "crash of the system the old one may reappear.";
    lr_file_sink *self = (lr_file_sink *)sink;
    bool first = !lr_job_failed(sink->job);
    int32_t status;
    char text[64];
    int error;
    if (self->straight || self->lead || !self->sync) {
        return REC_OK;
    }
    /* EINVAL and EBADF: a folder that cannot be synced, by its file system or because it may not be listed. */
    error = lr_file_sync(self->folder);
    if (!error || error == EINVAL || error == EBADF) {
        return REC_OK;
    }
    status = lr_io_fail(sink->job, sink->name, REC_E_SYNC, REC_UNKNOWN, hint,
                        "saved, but cannot sync its directory: %s", lr_system_words(error, text, sizeof text));
    return first ? lr_job_errno(sink->job, error) : status;
}

static int32_t file_settle(rec_sink *sink)
{
    lr_file_sink *self = (lr_file_sink *)sink;
    int32_t status = sync_folder(sink);
    if (self->set && lr_job_failed(sink->job)) {
        self->linked = false; /* what the old index names stays, and so does it: the next save sees to both */
    } else if (self->set) {
        lr_set_remove_old(self);
    }
    return status;
}

static bool file_patches(const rec_sink *sink)
{
    return !((const lr_file_sink *)sink)->straight;
}

static int32_t file_patch(rec_sink *sink, uint64_t offset, const uint8_t *data, uint64_t size)
{
    lr_file_sink *self = (lr_file_sink *)sink;
    int32_t status = lr_fd_flush(&self->out);
    int error = status == REC_OK ? lr_file_write_at(self->out.fd, data, size, offset) : 0;
    return error ? lr_fd_errno(&self->out, offset, error, "write") : status;
}

/* By its temporary name: what is read is what will get the file's. */
static rec_source *file_reopen(rec_sink *sink)
{
    lr_file_sink *self = (lr_file_sink *)sink;
    rec_source *source;
    int fd;
    if (self->straight) {
        return NULL;
    }
    fd = lr_file_open(self->folder, self->made.name, O_RDONLY | O_NOFOLLOW, 0);
    if (fd < 0) {
        return LR_AS_NULL(lr_target_failed(self, errno, "read back what was written", NULL));
    }
    source = lr_source_new(sink->job, sink->name);
    if (!source) {
        (void)close(fd);
    } else if (lr_path_begin(sink->job, source, fd, true) != REC_OK) {
        lr_source_release(source);
        source = NULL;
    } else {
        source->written = sink->first ? sink->first : sink;
        lr_job_input(sink->job, rec_source_size(source));
    }
    return source;
}

/* Lets go of everything that belongs to the target. */
static void give_up(lr_file_sink *self)
{
    if (self->out.sink.fresh) {
        lr_set_take_back(self);
    }
    lr_set_unpark(self);
    if (self->linked) {
        if (!self->keeps) {
            (void)unlinkat(self->folder, self->made.name, 0);
        }
        self->linked = false;
    }
    if (self->out.fd >= 0) {
        (void)close(self->out.fd);
        self->out.fd = -1;
    }
    if (self->folder >= 0 && !self->lead) {
        (void)close(self->folder);
    }
    self->folder = -1;
    lr_release(self->out.sink.job->allocator, self->path);
    self->path = NULL;
    lr_release(self->out.sink.job->allocator, self->name);
    self->name = NULL;
}

static void file_release(rec_sink *sink)
{
    lr_file_sink *self = (lr_file_sink *)sink;
    lr_fd_free(&self->out);
    give_up(self);
    lr_set_free(self);
    lr_release(sink->job->allocator, self->mark);
}

/* ---------------------------------------------------------------------------------------- filled by others -- */

bool lr_sink_is_straight(const rec_sink *file)
{
    return ((const lr_file_sink *)file)->straight;
}

char *lr_sink_temporary(const rec_sink *file)
{
    const lr_file_sink *self = (const lr_file_sink *)file;
    return lr_path_sibling(file->job, self->path, false, self->made.name);
}

const char *lr_sink_letters(const rec_sink *file)
{
    return lr_set_own_letters((const lr_file_sink *)file);
}

bool lr_sink_keeps(const rec_sink *file)
{
    return ((const lr_file_sink *)file)->keeps;
}

void lr_sink_keep(rec_sink *file, bool keep)
{
    ((lr_file_sink *)file)->keeps = keep;
}

/* The lock of a main file is in its descriptor. */
void lr_sink_leave(rec_sink *file)
{
    lr_file_sink *self = (lr_file_sink *)file;
    lr_fd_free(&self->out);
    if (self->lead) {
        (void)close(self->out.fd);
        self->out.fd = -1;
    }
}

static int32_t take_up(lr_file_sink *self)
{
    int fd = self->out.fd;
    if (fd < 0) {
        fd = lr_file_open(self->folder, self->made.name, O_WRONLY | O_NOFOLLOW, 0);
    }
    if (fd < 0) {
        return lr_target_failed(self, errno, "open the temporary file again", NULL);
    }
    return lr_fd_init(&self->out, fd);
}

int32_t lr_sink_resume(rec_sink *file, uint64_t size)
{
    lr_file_sink *self = (lr_file_sink *)file;
    struct stat is;
    if (!self->out.batch && take_up(self) != REC_OK) {
        return file->job->error.status;
    }
    if (fstat(self->out.fd, &is) != 0) {
        return lr_target_failed(self, errno, "inspect the temporary file", NULL);
    }
    if (is.st_nlink == 0 || (uint64_t)is.st_size != size) {
        char have[32], want[32];
        return lr_io_fail(file->job, self->name, REC_E_IO, REC_UNKNOWN, NULL, "the temporary file has %s bytes of %s%s",
                          lr_group_digits((uint64_t)is.st_size, have, sizeof have),
                          lr_group_digits(size, want, sizeof want), is.st_nlink ? "" : ", and was removed");
    }
    self->out.flushed = size;
    file->written = file->all = size;
    return REC_OK;
}

/* ----------------------------------------------------------------------------------------------------- opening -- */

static int32_t open_straight(lr_file_sink *self, int *fd)
{
    struct stat info;
    int error;
    int32_t status = lr_path_open(self->out.sink.job, self->name, O_WRONLY, fd, &error);
    self->straight = true;
    if (error) {
        status = lr_target_failed(self, error, "open the file", NULL);
    }
    if (status == REC_OK && (fstat(*fd, &info) != 0 || S_ISREG(info.st_mode))) {
        status = lr_target_has_changed(self);
    }
    return status;
}

/* Links can lead two names to one file, and the second save would replace the first. */
static int32_t check_alone(lr_file_sink *self, const lr_file_sink *other)
{
    if (lr_file_same(&self->where, &other->where) && strcmp(self->base, other->base) == 0) {
        return lr_io_fail(self->out.sink.job, self->name, REC_E_ARGUMENT, REC_UNKNOWN, NULL,
                          "it is the same file as %s, which is saved too", other->name);
    }
    return REC_OK;
}

/* Makes it a part of the save of `first`. */
static int32_t join(lr_file_sink *self, lr_file_sink *first)
{
    uint64_t count = lr_sink_sibling_count(&first->out.sink);
    int32_t status = check_alone(self, first);
    for (uint64_t i = 0; i < count && status == REC_OK; i++) {
        status = check_alone(self, (const lr_file_sink *)lr_sink_sibling_at(&first->out.sink, i));
    }
    if (status == REC_OK && lr_file_same(&self->where, &first->where)) {
        (void)close(self->folder);
        self->folder = first->folder;
        self->lead = first;
        self->part = (uint32_t)count + 1;
    }
    return status;
}

static int32_t open_atomic(lr_file_sink *self, int *fd)
{
    rec_sink *first = self->out.sink.first;
    const lr_access *of_set = NULL;
    int32_t status = lr_target_open(self);
    if (status == REC_OK && first) {
        status = join(self, (lr_file_sink *)first);
    }
    if (status == REC_OK && self->out.sink.fresh && !self->replaces && lr_set_like((lr_file_sink *)first)) {
        self->old = *lr_set_like((lr_file_sink *)first);
        of_set = lr_set_access((lr_file_sink *)first);
        self->replaces = true;
    }
    if (status == REC_OK) {
        if (!self->lead) {
            lr_target_sweep(self); /* first, to free the space of stale files */
        }
        status = lr_target_begin(self, fd);
        self->out.temporary = true;
        self->out.early = self->sync;
        if (status == REC_OK && self->replaces) {
            status = lr_target_keep_access(self, *fd, of_set);
        }
    }
    return status;
}

/* Opens what `name` says. */
static int32_t open_target(lr_file_sink *self)
{
    struct stat there;
    bool exists = stat(self->name, &there) == 0;
    int32_t status;
    int fd = -1;
    if (!exists && errno != ENOENT) {
        status = lr_target_failed(self, errno, "inspect the file", NULL);
    } else if (exists && S_ISDIR(there.st_mode)) {
        status = lr_target_is_folder(self);
    } else if (!exists || S_ISREG(there.st_mode)) {
        status = open_atomic(self, &fd);
    } else if (!self->out.sink.first) {
        status = open_straight(self, &fd);
    } else {
        status = lr_io_fail(self->out.sink.job, self->name, REC_E_IO, REC_UNKNOWN, NULL,
                            "a model in several files can only be saved to regular files");
    }
    self->out.fd = fd;
    return status;
}

static const lr_sink_ops file_ops;

static bool keep_mark(lr_file_sink *self, const char *mark)
{
    self->mark = self->mark ? self->mark : lr_strdup(self->out.sink.job->allocator, mark);
    if (!self->mark) {
        (void)lr_fail_memory(self->out.sink.job, strlen(mark) + 1);
    }
    return self->mark != NULL;
}

/* @param name taken; NULL: the job has failed. @param first the main file, or NULL. @param fresh the name is new.
 * @param mark prefix of its temporary files, NULL: its name. */
static rec_sink *make_sink(rec_job *job, char *name, rec_sink *first, bool fresh, const char *mark, bool sync)
{
    lr_file_sink *self = name ? lr_sink_new(job, &file_ops, sizeof *self) : NULL;
    int32_t status;
    if (!self) {
        lr_release(job->allocator, name);
        return NULL;
    }
    self->name = name;
    self->out.sink.name = name;
    self->out.sink.first = first;
    self->out.fd = -1;
    self->folder = -1;
    self->sync = sync;
    self->out.sink.fresh = fresh;
    status = !mark || keep_mark(self, mark) ? open_target(self) : job->error.status;
    if (status == REC_OK && !self->straight) {
        status = lr_sink_set_own_name(&self->out.sink, lr_own_name(name));
    }
    if (status == REC_OK) {
        status = lr_fd_init(&self->out, self->out.fd);
    }
    if (status != REC_OK) {
        lr_sink_free(&self->out.sink);
        self = NULL;
    }
    return self ? &self->out.sink : NULL;
}

rec_sink *lr_sink_file(rec_job *job, const char *path, bool sync)
{
    char *name = lr_job_strdup(job, path);
    return make_sink(job, name, NULL, false, NULL, sync);
}

rec_sink *lr_sink_file_as(rec_job *job, const char *path, const char *name, bool sync)
{
    if (strcmp(lr_own_name(path), name) == 0) {
        return lr_sink_file(job, path, sync);
    }
    return make_sink(job, lr_path_sibling(job, path, false, name), NULL, false, lr_own_name(path), sync);
}

/* In the folder that the caller wrote, whatever the links lead to: that is where a reader looks for it. */
static rec_sink *file_beside(rec_sink *sink, const char *name, bool fresh)
{
    const lr_file_sink *first = (const lr_file_sink *)sink;
    return make_sink(sink->job, lr_path_sibling(sink->job, first->name, false, name), sink, fresh,
                     fresh ? lr_target_mark(first) : NULL, first->sync);
}

/* The new temporary file is made before the old one goes, so that at any time there is one: lr_set_letters(). */
static int32_t file_rename(rec_sink *sink, const char *name)
{
    lr_file_sink *self = (lr_file_sink *)sink, before;
    char *path = lr_path_sibling(sink->job, self->name, false, name);
    int32_t status;
    if (!path || !keep_mark(self, lr_target_mark(self))) {
        lr_release(sink->job->allocator, path);
        return sink->job->error.status;
    }
    before = *self;
    self->linked = self->replaces = false;
    self->out.fd = self->folder = -1;
    self->path = NULL;
    self->reserved = 0;
    self->name = path;
    sink->name = path;
    status = open_target(self);
    give_up(&before);
    return status == REC_OK && before.reserved ? file_reserve(sink, before.reserved) : status;
}

static const lr_sink_ops file_ops = {
    .write = lr_fd_write,
    .view = lr_fd_view,
    .space = lr_fd_space,
    .filled = lr_fd_filled,
    .reserve = file_reserve,
    .finish = file_finish,
    .secure = file_secure,
    .place = file_place,
    .settle = file_settle,
    .reopen = file_reopen,
    .release = file_release,
    .beside = file_beside,
    .rename = file_rename,
    .letters = lr_set_letters,
    .patch = file_patch,
    .patches = file_patches,
};
