/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Access rights of a file that replaces another: POSIX access control lists (ACL), and extended attributes of the
 * namespace "user".
 *
 * With an ACL the group bits of a mode are the mask, an upper bound for named users and groups: a new file with the
 * same mode and without the ACL would give the owning group what a named user had, and would forget who was denied.
 * Where the ACL cannot be given to the new file, its mode therefore grants only what each entry granted. */
#include "os/access.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "os/file.h"

static const char list_name[] = "system.posix_acl_access";
static const char user_prefix[] = "user.";

/* The kernel's format of an ACL in an attribute: a version, then entries of tag, permissions and id, little endian. */
enum { ACL_VERSION = 2, ACL_HEAD = 4, ACL_ENTRY = 8 };
enum { TAG_USER_OBJ = 1, TAG_USER = 2, TAG_GROUP_OBJ = 4, TAG_GROUP = 8, TAG_MASK = 16, TAG_OTHER = 32 };
enum { ALL = 7 };

/* ----------------------------------------------------------------------------------------------------- reading -- */

/** A file whose attributes are read. */
typedef struct attributed {
    int fd;
    char path[32]; /**< of a descriptor that is for paths only: its name in /proc; else "" */
} attributed;

/* A file that may be written but not read has readable attributes all the same. */
static bool open_attributed(attributed *file, int folder, const char *name, int flags)
{
    *file = (attributed){.fd = lr_file_open(folder, name, flags | O_RDONLY | O_NONBLOCK, 0)};
    if (file->fd < 0) {
        file->fd = lr_file_open(folder, name, flags | O_PATH, 0);
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

/* One call of the system. @param name NULL: the list of names. */
static ssize_t read_into(const attributed *file, const char *name, void *value, size_t size)
{
    if (name) {
        return *file->path ? getxattr(file->path, name, value, size) : fgetxattr(file->fd, name, value, size);
    }
    return *file->path ? listxattr(file->path, value, size) : flistxattr(file->fd, value, size);
}

/* Whether there is no such attribute, or the file system has none at all. */
static bool is_absent(int error)
{
    return error == ENODATA || error == EOPNOTSUPP || error == ENOSYS;
}

/* Reads an attribute, or the list of names. @param value (out) to be freed; NULL: none. */
static int read_value(const attributed *file, const char *name, void **value, size_t *size)
{
    ssize_t length = read_into(file, name, NULL, 0);
    *value = NULL;
    *size = 0;
    if (length < 0 || (length == 0 && !name)) {
        return length == 0 || is_absent(errno) ? 0 : errno;
    }
    *value = malloc((size_t)length + 1);
    if (!*value) {
        return ENOMEM;
    }
    if (length > 0) { /* with length 0 the call would return the size; ERANGE: the attribute has grown meanwhile */
        length = read_into(file, name, *value, (size_t)length);
    }
    if (length < 0) {
        int error = errno;
        free(*value);
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
static mode_t bits_of(const uint8_t *list, size_t size)
{
    uint32_t group = 0, others = 0, mask = ALL, users = ALL, groups = ALL;
    bool named = false;
    if (size < ACL_HEAD || (size - ACL_HEAD) % ACL_ENTRY || number(list, ACL_HEAD) != ACL_VERSION) {
        return 0;
    }
    for (size_t at = ACL_HEAD; at < size; at += ACL_ENTRY) {
        uint32_t tag = number(list + at, 2), permissions = number(list + at + 2, 2) & ALL;
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

static void lose(lr_access *access, lr_access_loss loss, int error)
{
    access->loss = loss;
    access->error = error;
}

/* An unknown entry may deny access to anybody: then only the owner keeps it. */
static void know_nothing(lr_access *access, const struct stat *state, int error)
{
    access->plain = state->st_mode & S_IRWXU;
    lose(access, LR_ACCESS_LOST, error);
}

static int read_list(const attributed *file, const struct stat *state, lr_access *access)
{
    int error = read_value(file, list_name, &access->list, &access->size);
    access->plain = state->st_mode & 0777;
    if (error) {
        know_nothing(access, state, error);
    } else if (access->list) {
        access->plain = (state->st_mode & S_IRWXU) | bits_of(access->list, access->size);
    }
    return error == ENOMEM ? error : 0;
}

int lr_access_read(int folder, const char *name, const struct stat *state, lr_access *access)
{
    attributed file;
    int error = 0;
    *access = (lr_access){.list = NULL};
    if (open_attributed(&file, folder, name, 0)) {
        error = read_list(&file, state, access);
    } else {
        know_nothing(access, state, errno);
    }
    close_attributed(&file);
    return error;
}

void lr_access_free(lr_access *access)
{
    free(access->list);
    *access = (lr_access){.list = NULL};
}

void lr_access_join(lr_access *access, lr_access *more)
{
    bool same = access->size == more->size && (!access->size || memcmp(access->list, more->list, access->size) == 0);
    mode_t plain = access->plain & more->plain;
    if (!same) {
        lr_access_free(access);
        lose(access, LR_ACCESS_DIFFERS, 0);
    } else if (more->loss) {
        lose(access, more->loss, more->error);
    }
    access->plain = plain;
    lr_access_free(more);
}

/* ------------------------------------------------------------------------------------------------------ giving -- */

/* A new file has a list already if its directory has a default one. */
static void take_list(int fd, lr_access *access)
{
    access->listed = false;
    if (fremovexattr(fd, list_name) != 0 && !is_absent(errno)) {
        access->plain &= S_IRWXU;
        lose(access, LR_ACCESS_DEFAULT, errno);
    }
}

/* The mode that it has until it is whole bounds what the list's entries grant. */
int lr_access_give(int fd, const lr_access *old, lr_access *access)
{
    *access = (lr_access){.plain = old->plain, .loss = old->loss, .error = old->error};
    if (old->list && !old->loss) {
        access->listed = fsetxattr(fd, list_name, old->list, old->size, 0) == 0;
        if (!access->listed) {
            lose(access, LR_ACCESS_LOST, errno);
        }
    }
    if (!access->listed) {
        take_list(fd, access);
        return 0;
    }
    return fchmod(fd, 0600) == 0 ? 0 : errno;
}

static int copy_attribute(const attributed *old, int fd, const char *name)
{
    void *value;
    size_t size;
    int error = read_value(old, name, &value, &size);
    if (!error && value && fsetxattr(fd, name, value, size, 0) != 0) {
        error = errno;
    }
    free(value);
    return error;
}

static int copy_attributes(const attributed *old, int fd, lr_attribute_loss *lost)
{
    void *names;
    size_t size, length;
    int error = read_value(old, NULL, &names, &size);
    lost->error = error;
    for (size_t at = 0; names && at < size && error != ENOMEM; at += length + 1) {
        const char *name = (const char *)names + at;
        length = strnlen(name, size - at);
        error = length < size - at && strncmp(name, user_prefix, sizeof user_prefix - 1) == 0
                    ? copy_attribute(old, fd, name)
                    : 0;
        if (error && !lost->count++) {
            lost->error = error;
            (void)snprintf(lost->name, sizeof lost->name, "%s", name);
        }
    }
    free(names);
    return error == ENOMEM ? error : 0;
}

/* Mode, owner and list are of one file, even if another program puts its file there at this moment. */
static int copy_of(const attributed *old, int fd, struct stat *state, lr_access *access)
{
    lr_access had = {.list = NULL};
    struct stat now;
    int error;
    if (fstat(old->fd, &now) == 0 && S_ISREG(now.st_mode)) {
        *state = now;
    }
    error = read_list(old, state, &had);
    error = error ? error : lr_access_give(fd, &had, access);
    lr_access_free(&had);
    return error;
}

int lr_access_copy(int folder, const char *name, int fd, struct stat *state, lr_access *access,
                   lr_attribute_loss *attributes)
{
    attributed old;
    int error;
    *access = (lr_access){.list = NULL};
    if (attributes) {
        *attributes = (lr_attribute_loss){.count = 0};
    }
    if (open_attributed(&old, folder, name, O_NOFOLLOW)) {
        error = copy_of(&old, fd, state, access);
        error = error || !attributes ? error : copy_attributes(&old, fd, attributes);
    } else {
        lr_access had = {.list = NULL};
        know_nothing(&had, state, errno);
        error = lr_access_give(fd, &had, access);
    }
    close_attributed(&old);
    return error;
}

int lr_access_settle(int fd, const struct stat *is, const struct stat *was, lr_access *access, mode_t *mode)
{
    bool another_group = is->st_gid != was->st_gid && fchown(fd, (uid_t)-1, was->st_gid) != 0;
    *mode = was->st_mode & 01777;
    if (another_group && access->listed) {
        lose(access, LR_ACCESS_GROUP, 0);
        take_list(fd, access);
    }
    if (!access->listed) {
        *mode &= access->plain | S_ISVTX;
    }
    if (another_group) {
        mode_t everyone = *mode >> 3 & *mode & S_IRWXO;
        *mode = (*mode & ~(mode_t)(S_IRWXG | S_IRWXO)) | everyone << 3 | everyone;
    }
    if (is->st_uid != was->st_uid) {
        (void)!fchown(fd, was->st_uid, (gid_t)-1);
    }
    return fchmod(fd, *mode) == 0 ? 0 : errno;
}
