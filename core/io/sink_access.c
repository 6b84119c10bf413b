/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Access rights of a replaced file that its owner and mode do not hold: its POSIX access control list (ACL), and its
 * extended attributes of the namespace "user".
 *
 * With an ACL the group bits of a mode are the mask, an upper bound for named users and groups: a new file with the
 * same mode and without the ACL would give the owning group what a named user had, and would forget who was denied.
 * Where the ACL cannot be given to the new file, its mode therefore grants only what each entry granted. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "core/io/sink_file_private.h"

static const char acl_name[] = "system.posix_acl_access";
static const char user_prefix[] = "user.";

/* The kernel's format of an ACL in an attribute: a version, then entries of tag, permissions and id, little endian. */
enum { ACL_VERSION = 2, ACL_HEAD = 4, ACL_ENTRY = 8 };
enum { TAG_USER_OBJ = 1, TAG_USER = 2, TAG_GROUP_OBJ = 4, TAG_GROUP = 8, TAG_MASK = 16, TAG_OTHER = 32 };
enum { ALL = 7 };

/* ----------------------------------------------------------------------------------------------------- reading -- */

/** A file whose attributes are read. */
typedef struct attributed {
    rec_job *job;
    int fd;
    char path[32]; /**< of a descriptor that is for paths only: its name in /proc; else "" */
} attributed;

static int open_retried(int folder, const char *name, int flags)
{
    int fd;
    do {
        fd = openat(folder, name, flags | O_CLOEXEC | O_NOCTTY);
    } while (fd < 0 && errno == EINTR);
    return fd;
}

/* A file that may be written but not read has readable attributes all the same. */
static bool open_attributed(attributed *file, rec_job *job, int folder, const char *name, int flags)
{
    *file = (attributed){.job = job, .fd = open_retried(folder, name, flags | O_RDONLY | O_NONBLOCK)};
    if (file->fd < 0) {
        file->fd = open_retried(folder, name, flags | O_PATH);
        (void)snprintf(file->path, sizeof file->path, "/proc/self/fd/%d", file->fd);
    }
    return file->fd >= 0;
}

static void close_attributed(attributed *file)
{
    if (file->fd >= 0) {
        (void)close(file->fd);
    }
}

static ssize_t get(const attributed *file, const char *name, void *value, size_t size)
{
    return *file->path ? getxattr(file->path, name, value, size) : fgetxattr(file->fd, name, value, size);
}

static ssize_t list(const attributed *file, void *names, size_t size)
{
    return *file->path ? listxattr(file->path, names, size) : flistxattr(file->fd, names, size);
}

/* Whether there is no such attribute, or the file system has none at all. */
static bool is_absent(int error)
{
    return error == ENODATA || error == EOPNOTSUPP || error == ENOSYS;
}

/* One call of the system. @param name NULL: the list of names. */
static ssize_t read_into(const attributed *file, const char *name, void *value, size_t size)
{
    return name ? get(file, name, value, size) : list(file, value, size);
}

/* Reads an attribute, or the list of names. @param value (out) to be released; NULL: none. @return 0, or the errno. Out
 * of memory the job fails, and it is ENOMEM. */
static int read_value(const attributed *file, const char *name, uint8_t **value, size_t *size)
{
    ssize_t length = read_into(file, name, NULL, 0);
    *value = NULL;
    if (length < 0 || (length == 0 && !name)) {
        return length == 0 || is_absent(errno) ? 0 : errno;
    }
    *value = lr_job_alloc(file->job, (uint64_t)length);
    if (!*value) {
        return ENOMEM;
    }
    if (length > 0) { /* with length 0 the call would return the size; ERANGE: the attribute has grown meanwhile */
        length = read_into(file, name, *value, (size_t)length);
    }
    if (length < 0) {
        int error = errno;
        lr_release(file->job->allocator, *value);
        *value = NULL;
        return is_absent(error) ? 0 : error;
    }
    *size = (size_t)length;
    return 0;
}

/* ------------------------------------------------------------------------------------------------------- lists -- */

static uint32_t number(const uint8_t *bytes, size_t count)
{
    uint32_t value = 0;
    for (size_t i = 0; i < count; i++) {
        value |= (uint32_t)bytes[i] << 8 * i;
    }
    return value;
}

/* The group and other bits that grant nobody more than the list does. A user whom an entry names is one of the group or
 * one of the others once the entry is gone. A named group's members are of the others, unless they are of the owning
 * group: that group's rights they had anyway. */
static mode_t bits_of(const uint8_t *acl, size_t size)
{
    uint32_t group = 0, others = 0, mask = ALL, users = ALL, groups = ALL;
    bool named = false;
    if (size < ACL_HEAD || (size - ACL_HEAD) % ACL_ENTRY || number(acl, ACL_HEAD) != ACL_VERSION) {
        return 0;
    }
    for (size_t at = ACL_HEAD; at < size; at += ACL_ENTRY) {
        uint32_t tag = number(acl + at, 2), permissions = number(acl + at + 2, 2) & ALL;
        switch (tag) {
        case TAG_USER_OBJ:
            break;
        case TAG_USER:
            users &= permissions;
            named = true;
            break;
        case TAG_GROUP_OBJ:
            group = permissions;
            break;
        case TAG_GROUP:
            groups &= permissions;
            named = true;
            break;
        case TAG_MASK:
            mask = permissions;
            break;
        case TAG_OTHER:
            others = permissions;
            break;
        default:
            return 0;
        }
    }
    return (mode_t)((group & mask & users) << 3 | (named ? others & mask & users & groups : others));
}

static void lose(lr_access *access, int error, const char *what)
{
    char text[64];
    (void)snprintf(access->lost, sizeof access->lost, "%s (%s)", what, lr_system_words(error, text, sizeof text));
}

static const char lost_list[] = "lost the access control list of the file it replaces";

/* An unknown entry may deny access to anybody: then only the owner keeps it. */
static void know_nothing(lr_access *access, const struct stat *info, int error)
{
    access->plain = info->st_mode & S_IRWXU;
    lose(access, error, lost_list);
}

/* @return other than REC_OK: out of memory. */
static int32_t read_list(const attributed *file, const struct stat *info, lr_access *access)
{
    int error = read_value(file, acl_name, &access->acl, &access->size);
    access->plain = info->st_mode & 0777;
    if (error) {
        know_nothing(access, info, error);
    } else if (access->acl) {
        access->plain = (info->st_mode & S_IRWXU) | bits_of(access->acl, access->size);
    }
    return file->job->error.status;
}

int32_t lr_access_read(rec_job *job, int folder, const char *name, const struct stat *info, lr_access *access)
{
    attributed file;
    *access = (lr_access){.acl = NULL};
    if (open_attributed(&file, job, folder, name, 0)) {
        (void)read_list(&file, info, access);
    } else {
        know_nothing(access, info, errno);
    }
    close_attributed(&file);
    return job->error.status;
}

void lr_access_free(rec_job *job, lr_access *access)
{
    lr_release(job->allocator, access->acl);
    *access = (lr_access){.acl = NULL};
}

void lr_access_join(rec_job *job, lr_access *access, lr_access *more)
{
    bool same = access->size == more->size && (!access->size || memcmp(access->acl, more->acl, access->size) == 0);
    mode_t plain = access->plain & more->plain;
    if (!same) {
        lr_access_free(job, access);
        (void)snprintf(access->lost, sizeof access->lost,
                       "lost the access control list of the files it replaces (theirs differ)");
    } else if (*more->lost) {
        memcpy(access->lost, more->lost, sizeof access->lost);
    }
    access->plain = plain;
    lr_access_free(job, more);
}

/* ------------------------------------------------------------------------------------------------------ giving -- */

/* A new file has a list already if its directory has a default one. */
static void take_list(lr_file_sink *self, int fd)
{
    if (fremovexattr(fd, acl_name) != 0 && !is_absent(errno)) {
        self->access.plain &= S_IRWXU;
        lose(&self->access, errno, "cannot remove the access control list that its directory gave it");
    }
}

/* The mode that it has until it is whole bounds what the list's entries grant. */
static int32_t give_list(lr_file_sink *self, int fd, const lr_access *access)
{
    self->access = (lr_access){.plain = access->plain};
    memcpy(self->access.lost, access->lost, sizeof access->lost);
    if (access->acl && !*access->lost) {
        self->listed = fsetxattr(fd, acl_name, access->acl, access->size, 0) == 0;
        if (!self->listed) {
            lose(&self->access, errno, lost_list);
        }
    }
    if (!self->listed) {
        take_list(self, fd);
        return REC_OK;
    }
    if (fchmod(fd, 0600) == 0) {
        return REC_OK;
    }
    return lr_io_errno(self->out.sink.job, self->name, REC_UNKNOWN, NULL, errno, "keep the temporary file private");
}

void lr_access_drop(lr_file_sink *self, int fd)
{
    if (self->listed) {
        self->listed = false;
        (void)snprintf(self->access.lost, sizeof self->access.lost, "%s (the file has another group)", lost_list);
        take_list(self, fd);
    }
}

/* -------------------------------------------------------------------------------------------------- attributes -- */

/** What of a file's attributes was lost. */
typedef struct losses {
    uint64_t count;
    const char *name; /**< the first one */
    int error;
} losses;

static void copy_attribute(const attributed *old, int fd, const char *name, losses *lost)
{
    uint8_t *value;
    size_t size = 0;
    int error = read_value(old, name, &value, &size);
    if (!error && value && fsetxattr(fd, name, value, size, 0) != 0) {
        error = errno;
    }
    lr_release(old->job->allocator, value);
    if (error && !lost->count++) {
        lost->name = name;
        lost->error = error;
    }
}

static int32_t copy_attributes(const lr_file_sink *self, const attributed *old, int fd)
{
    uint8_t *names;
    size_t size = 0, length;
    losses lost = {.count = 0};
    char text[64];
    int error = read_value(old, NULL, &names, &size);
    for (size_t at = 0; names && at < size && !lr_job_failed(old->job); at += length + 1) {
        const char *name = (const char *)names + at;
        length = strnlen(name, size - at);
        if (length < size - at && strncmp(name, user_prefix, sizeof user_prefix - 1) == 0) {
            copy_attribute(old, fd, name, &lost);
        }
    }
    if (error && !lr_job_failed(old->job)) {
        lr_note(old->job, REC_NOTE_DROPPED, 1, "", "%s: lost the extended attributes of the file it replaces (%s)",
                self->name, lr_system_words(error, text, sizeof text));
    } else if (lost.count && !lr_job_failed(old->job)) {
        lr_note(old->job, REC_NOTE_DROPPED, lost.count, "",
                "%s: lost %llu extended attribute%s of the file it replaces, %s%s (%s)", self->name,
                (unsigned long long)lost.count, lost.count == 1 ? "" : "s", lost.name, lost.count == 1 ? "" : " first",
                lr_system_words(lost.error, text, sizeof text));
    }
    lr_release(old->job->allocator, names);
    return old->job->error.status;
}

/* ----------------------------------------------------------------------------------------------- the file itself -- */

/* Mode, owner and list are of one file, even if another save puts its file there at this moment. */
static int32_t keep_of(lr_file_sink *self, const attributed *old, int fd)
{
    lr_access access = {.acl = NULL};
    struct stat info;
    int32_t status;
    if (fstat(old->fd, &info) == 0 && S_ISREG(info.st_mode)) {
        self->old = info;
    }
    status = read_list(old, &self->old, &access);
    if (status == REC_OK) {
        status = give_list(self, fd, &access);
    }
    lr_access_free(old->job, &access);
    return status == REC_OK ? copy_attributes(self, old, fd) : status;
}

int32_t lr_access_keep(lr_file_sink *self, int fd, const lr_access *of_set)
{
    attributed old;
    lr_access access = {.acl = NULL};
    int32_t status;
    self->listed = false;
    if (of_set) {
        return give_list(self, fd, of_set);
    }
    if (open_attributed(&old, self->out.sink.job, self->folder, self->base, O_NOFOLLOW)) {
        status = keep_of(self, &old, fd);
    } else {
        know_nothing(&access, &self->old, errno);
        status = give_list(self, fd, &access);
    }
    close_attributed(&old);
    return status;
}
