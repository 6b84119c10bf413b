/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Plugin files: safe folders and files, and libltdl.
 *
 * libltdl keeps its state in bare globals: every call is made under one lock of the process, its search path is never
 * used, and only absolute names of .so files are opened. It is initialised and never left: plugins stay for good. */
#include "core/registry/open_private.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <ltdl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* A folder with more shared objects is no folder of plugins (it may be /usr/lib): opening them runs their code. */
enum { FILES_MOST = 256 };

static const char symbol_name[] = "librecord_plugins";

static pthread_mutex_t ltdl_lock = PTHREAD_MUTEX_INITIALIZER;

/* ------------------------------------------------------------------------------------------------------ safety -- */

/* As sudo does: what others may change is not opened. @return "" or the reason. */
static const char *unsafe(const struct stat *state, char *reason, const char *what)
{
    reason[0] = '\0';
    if (state->st_uid != 0 && state->st_uid != geteuid()) {
        (void)snprintf(reason, LR_REASON, "%s belongs to user %lu, neither root nor the one who runs this program",
                       what, (unsigned long)state->st_uid);
    } else if (state->st_mode & S_IWOTH) {
        (void)snprintf(reason, LR_REASON, "%s is writable by others", what);
    } else if (state->st_mode & S_IWGRP) {
        (void)snprintf(reason, LR_REASON, "%s is writable by its group", what);
    }
    return reason;
}

static const char *system_reason(int error, char *reason, const char *doing)
{
    char text[256];
    (void)snprintf(reason, LR_REASON, "cannot %s: %s", doing, lr_errno_words(error, text, sizeof text));
    return reason;
}

/* A link may lead to another folder, which must be safe as well. @param path (in) the link (out) what it leads to. */
static const char *check_link(const char *path, char *reason)
{
    char real[PATH_MAX];
    struct stat state;
    if (!realpath(path, real)) {
        return system_reason(errno, reason, "follow the link");
    }
    *strrchr(real, '/') = '\0';
    if (stat(*real ? real : "/", &state) != 0) {
        return system_reason(errno, reason, "look at the folder that the link leads to");
    }
    return unsafe(&state, reason, "the folder that the link leads to");
}

static const char *check_file(const char *path, char *reason)
{
    struct stat state;
    reason[0] = '\0';
    if (lstat(path, &state) != 0) {
        return system_reason(errno, reason, "look at the file");
    }
    if (S_ISLNK(state.st_mode)) {
        if (*check_link(path, reason)) {
            return reason;
        }
        if (stat(path, &state) != 0) {
            return system_reason(errno, reason, "look at the file");
        }
    }
    if (!S_ISREG(state.st_mode)) {
        (void)snprintf(reason, LR_REASON, "it is not a regular file");
        return reason;
    }
    return unsafe(&state, reason, "the file");
}

/* Opening a file runs its code, so that it must show the symbol first: another folder of shared objects by mistake in a
 * path, /usr/lib perhaps, must do no harm. Names stand in an ELF file as they are, with a NUL after them. */
static const char *check_symbol(const char *path, const char *symbol, char *reason)
{
    struct stat state;
    void *data = MAP_FAILED;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    reason[0] = '\0';
    if (fd < 0 || fstat(fd, &state) != 0) {
        (void)system_reason(errno, reason, "read the file");
    } else if (state.st_size < 4) {
        (void)snprintf(reason, LR_REASON, "it is not a shared object");
    } else {
        data = mmap(NULL, (size_t)state.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (data == MAP_FAILED) {
            (void)system_reason(errno, reason, "read the file");
        }
    }
    if (data != MAP_FAILED) {
        if (memcmp(data, "\177ELF", 4) != 0) {
            (void)snprintf(reason, LR_REASON, "it is not a shared object");
        } else if (!memmem(data, (size_t)state.st_size, symbol, strlen(symbol) + 1)) {
            (void)snprintf(reason, LR_REASON, "it is not a plugin: it does not export %s", symbol);
        }
        (void)munmap(data, (size_t)state.st_size);
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    return reason;
}

/* The charset that libltdl, C symbols and all file systems agree on. */
static bool file_name_valid(const char *name)
{
    size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-");
    return length > 0 && strcmp(name + length, ".so") == 0;
}

/* ----------------------------------------------------------------------------------------------------- libltdl -- */

/* `dlerror` says which file; the line that this goes into says it too. */
static void take_reason(char *reason, const char *path, const char *text)
{
    size_t length = strlen(path);
    if (!text) {
        text = "the system does not say why";
    }
    if (strncmp(text, path, length) == 0 && text[length] == ':' && text[length + 1] == ' ') {
        text += length + 2;
    }
    (void)snprintf(reason, LR_REASON, "%s", text);
}

static bool out_of_memory(const char *reason)
{
    return strcasestr(reason, "cannot allocate memory") || strcasestr(reason, "not enough memory");
}

/* To be called with the lock. Only memory can be short here; the half that was made is taken back, or the next call
 * would find libltdl initialised, without loaders, and crash. */
static bool ltdl_begin(char *reason)
{
    if (lt_dlinit() == 0) {
        return true;
    }
    (void)lt_dlexit();
    (void)snprintf(reason, LR_REASON, "not enough memory");
    return false;
}

/* To be called with the lock. */
static void *ltdl_symbol(const char *path, char *reason)
{
    lt_dladvise advice = NULL;
    lt_dlhandle handle = NULL;
    void *symbol = NULL;
    if (lt_dladvise_init(&advice) == 0 && lt_dladvise_resident(&advice) == 0 && lt_dladvise_local(&advice) == 0) {
        handle = lt_dlopenadvise(path, advice);
    }
    if (handle) {
        symbol = lt_dlsym(handle, symbol_name);
    }
    if (!symbol) {
        take_reason(reason, path, lt_dlerror());
    }
    (void)lt_dladvise_destroy(&advice);
    return symbol;
}

/* Short of memory, dlopen may say that the file does not exist, and a refusal would last. So it is asked twice, and
 * then whether there is memory at all. */
static void *open_early(const char *path, char *reason)
{
    void *early = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!early) {
        early = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    if (!early) {
        void *volatile probe;
        take_reason(reason, path, dlerror());
        probe = malloc(4096);
        if (!probe) {
            (void)snprintf(reason, LR_REASON, "not enough memory");
        }
        free(probe);
    }
    return early;
}

/* libltdl's own words for any failure are "file not found", and it binds lazily, so that a missing symbol would end the
 * process at the first call: the file is opened with dlopen first, for its words and for all of its symbols. */
static void *open_symbol(const char *path, const char *module, char *reason)
{
    void *found = NULL;
    void *early = open_early(path, reason);
    if (!early) {
        return NULL;
    }
    if (!dlsym(early, module) && !dlsym(early, symbol_name)) {
        (void)snprintf(reason, LR_REASON, "it exports neither %s nor %s: was it renamed?", symbol_name, module);
    } else {
        (void)pthread_mutex_lock(&ltdl_lock);
        if (ltdl_begin(reason)) {
            found = ltdl_symbol(path, reason);
        }
        (void)pthread_mutex_unlock(&ltdl_lock);
    }
    (void)dlclose(early);
    return found;
}

/* ----------------------------------------------------------------------------------------------------- folders -- */

static int32_t refuse(rec_job *job, lr_opener *opener, const char *file, const char *reason)
{
    if (out_of_memory(reason)) {
        return rec_fail(job, REC_E_MEMORY, REC_UNKNOWN, "out of memory while opening the plugin %s", file);
    }
    return opener->found(opener->user, job, file, NULL, reason);
}

static int32_t open_file(rec_job *job, lr_opener *opener, const char *folder, const char *name,
                         const char *unsafe_folder)
{
    char path[PATH_MAX], symbol[NAME_MAX + 32], reason[LR_REASON];
    size_t stem = strlen(name) - 3;
    void *plugins;
    if (snprintf(path, sizeof path, "%s/%s", strcmp(folder, "/") == 0 ? "" : folder, name) >= (int)sizeof path) {
        return refuse(job, opener, folder, "the path of a file in it is too long");
    }
    if (*unsafe_folder) {
        return refuse(job, opener, path, unsafe_folder);
    }
    if (!file_name_valid(name)) {
        return refuse(job, opener, path, "its name may have a-z, 0-9, \"_\" and \"-\" before the .so");
    }
    if (*check_file(path, reason)) {
        return refuse(job, opener, path, reason);
    }
    (void)snprintf(symbol, sizeof symbol, "%.*s_LTX_%s", (int)stem, name, symbol_name);
    for (char *c = symbol; *c; c++) {
        *c = *c == '-' ? '_' : *c;
    }
    if (*check_symbol(path, symbol_name, reason)) {
        return refuse(job, opener, path, reason);
    }
    plugins = open_symbol(path, symbol, reason);
    return plugins ? opener->found(opener->user, job, path, plugins, NULL) : refuse(job, opener, path, reason);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/** The .so files of a folder. */
typedef struct listing {
    char *names[FILES_MOST];
    size_t count;
    bool too_many;
} listing;

static int32_t list(rec_job *job, lr_opener *opener, DIR *folder, listing *files)
{
    const struct dirent *entry;
    files->count = 0;
    files->too_many = false;
    while ((entry = readdir(folder))) {
        size_t length = strlen(entry->d_name);
        if (length < 4 || strcmp(entry->d_name + length - 3, ".so") != 0) {
            continue;
        }
        if (files->count == FILES_MOST) {
            files->too_many = true;
            break;
        }
        files->names[files->count] = lr_arena_text(opener->arena, entry->d_name, length);
        if (!files->names[files->count]) {
            return lr_fail_memory(job, length + 1);
        }
        files->count++;
    }
    qsort(files->names, files->count, sizeof files->names[0], by_name);
    return REC_OK;
}

/* @return whether it was there already. On failure of the job: true. */
static bool seen_before(rec_job *job, lr_opener *opener, const struct stat *state)
{
    for (uint64_t i = 0; i < opener->seen_count; i++) {
        if (opener->seen[i].device == state->st_dev && opener->seen[i].inode == state->st_ino) {
            return true;
        }
    }
    if (!lr_job_arena_grow(job, opener->arena, &opener->seen, opener->seen_count + 1, &opener->seen_room,
                           sizeof *opener->seen)) {
        return true;
    }
    opener->seen[opener->seen_count++] = (lr_seen){state->st_dev, state->st_ino};
    return false;
}

/* @param real its path without links. */
static int32_t open_files(rec_job *job, lr_opener *opener, const char *real, DIR *folder)
{
    char reason[LR_REASON];
    struct stat state;
    listing files;
    if (fstat(dirfd(folder), &state) != 0) {
        return refuse(job, opener, real, system_reason(errno, reason, "look at the folder"));
    }
    if (seen_before(job, opener, &state) || list(job, opener, folder, &files) != REC_OK) {
        return job->error.status;
    }
    if (files.too_many) {
        (void)snprintf(reason, sizeof reason, "the folder has more than %d shared objects: it is no folder of plugins",
                       FILES_MOST);
        return refuse(job, opener, real, reason);
    }
    if (*unsafe(&state, reason, "the folder") && files.count == 0) {
        return refuse(job, opener, real, reason);
    }
    for (size_t i = 0; i < files.count && !lr_job_failed(job); i++) {
        (void)open_file(job, opener, real, files.names[i], reason);
    }
    return job->error.status;
}

int32_t lr_open_folder(rec_job *job, lr_opener *opener, const char *folder, bool required)
{
    char real[PATH_MAX], reason[LR_REASON];
    int32_t status;
    DIR *entries;
    int fd;
    if (*folder != '/') {
        return refuse(job, opener, folder, "the folder's path is not absolute");
    }
    if (!realpath(folder, real)) {
        if (!required && errno == ENOENT) {
            return REC_OK;
        }
        return refuse(job, opener, folder,
                      errno == ENOENT ? "there is no such folder" : system_reason(errno, reason, "open the folder"));
    }
    /* By descriptor: what is checked and what is listed are one folder. */
    fd = open(real, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        return refuse(job, opener, folder,
                      errno == ENOTDIR ? "it is not a folder" : system_reason(errno, reason, "open the folder"));
    }
    entries = fdopendir(fd);
    if (!entries) {
        status = refuse(job, opener, folder, system_reason(errno, reason, "read the folder"));
        (void)close(fd);
        return status;
    }
    status = open_files(job, opener, real, entries);
    (void)closedir(entries);
    return status;
}

/* -------------------------------------------------------------------------------------------------- static build -- */

#ifdef LR_STATIC_PLUGINS

/* Made by libtool when it links the library with -dlpreopen. */
extern const lt_dlsymlist lt_librecord_LTX_preloaded_symbols[];

bool lr_static_build(void)
{
    return true;
}

/* The table has what each module exports. It is read as it is: libltdl looks a module `mpk-gz` up as `mpk_gz`, and does
 * not find it. */
int32_t lr_open_builtin(rec_job *job, lr_opener *opener)
{
    for (const lt_dlsymlist *entry = lt_librecord_LTX_preloaded_symbols; entry->name; entry++) {
        const char *symbol = strstr(entry->name, "_LTX_");
        if (entry->address && symbol && strcmp(symbol + strlen("_LTX_"), symbol_name) == 0 &&
            opener->found(opener->user, job, "built in", entry->address, NULL) != REC_OK) {
            break;
        }
    }
    return job->error.status;
}

#else

bool lr_static_build(void)
{
    return false;
}

int32_t lr_open_builtin(rec_job *job, lr_opener *opener)
{
    (void)opener;
    return job->error.status;
}

#endif
