/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Plugin files in the process: libltdl opens each once, whatever the number of contexts, and none is ever closed.
 *
 * libltdl keeps its state in bare globals: every call is made under one lock of the process, its search path is never
 * used, and only absolute names of .so files are opened. It is initialised and never left: plugins stay for good. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ltdl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/registry/open_private.h"

static const char symbol_name[] = "librecord_plugins";

/** A file that is open. */
typedef struct module {
    struct module *next;
    struct stat state; /**< as it was when it was opened */
    const rec_plugin *const *plugins;
} module;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static module *modules; /* under the lock, as all that follows */

/* Without memory for that it is looked at again the next time. */
static void remember(const struct stat *state, const rec_plugin *const *plugins)
{
    module *m = malloc(sizeof *m);
    if (m) {
        *m = (module){modules, *state, plugins};
        modules = m;
    }
}

/* -------------------------------------------------------------------------------------------------- the loader -- */

/* libltdl's own loader binds lazily, so that a missing symbol would end the process at the first call, and its words
 * for any failure are "file not found". This one binds at once and keeps the system's words. Other loaders must not try
 * what it refused, so it opens a failure, too: `failure` is the module then, and closed by who asked. The program may
 * use libltdl for itself: what is not `asked` for here is left to the others. */
static bool asked;
static char failure[LR_REASON];

static lt_module module_open(lt_user_data data, const char *path, lt_dladvise advice)
{
    void *handle;
    (void)data;
    (void)advice;
    if (!asked) {
        return NULL;
    }
    handle = lr_shared_open(path, failure, sizeof failure);
    return handle ? handle : failure;
}

static int module_close(lt_user_data data, lt_module handle)
{
    (void)data;
    return handle == failure ? 0 : dlclose(handle);
}

static void *module_symbol(lt_user_data data, lt_module handle, const char *name)
{
    (void)data;
    return handle == failure ? NULL : dlsym(handle, name);
}

static const lt_dlvtable loader = {.name = "librecord",
                                   .module_open = module_open,
                                   .module_close = module_close,
                                   .find_sym = module_symbol,
                                   .priority = LT_DLLOADER_PREPEND};

/* Only memory can be short here; the half that was made is taken back, or the next call would find libltdl initialised,
 * without loaders, and crash. */
static bool begin(char *reason)
{
    static bool begun;
    if (begun) {
        return true;
    }
    if (!lr_ltdl_open(reason)) {
        return false;
    }
    (void)snprintf(reason, LR_REASON, "not enough memory");
    if (lt_dlinit() != 0) {
        (void)lt_dlexit();
        return false;
    }
    if (lt_dlloader_add(&loader) != 0) {
        (void)lt_dlexit();
        return false;
    }
    begun = true;
    return true;
}

/* ---------------------------------------------------------------------------------------------- opening a file -- */

/* Opening a file runs its code, so that it must show the symbol first: another folder of shared objects by mistake in a
 * path, /usr/lib perhaps, must do no harm. Names stand in an ELF file as they are, with a NUL after them; what the file
 * was called when it was made stands in front of this one. */
static const char *check_symbol(const char *path, char *reason)
{
    struct stat state;
    void *data = MAP_FAILED;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    reason[0] = '\0';
    if (fd < 0 || fstat(fd, &state) != 0) {
        (void)lr_reason_errno(errno, reason, "read the file");
    } else if (state.st_size < 4) {
        (void)snprintf(reason, LR_REASON, "it is not a shared object");
    } else {
        data = mmap(NULL, (size_t)state.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (data == MAP_FAILED) {
            (void)lr_reason_errno(errno, reason, "read the file");
        }
    }
    if (data != MAP_FAILED) {
        if (memcmp(data, "\177ELF", 4) != 0) {
            (void)snprintf(reason, LR_REASON, "it is not a shared object");
        } else if (!memmem(data, (size_t)state.st_size, symbol_name, sizeof symbol_name)) {
            (void)snprintf(reason, LR_REASON, "it is not a plugin: it does not export %s", symbol_name);
        }
        (void)munmap(data, (size_t)state.st_size);
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    return reason;
}

/* `dlerror` says which file; the line that this goes into says it too. */
static void take_reason(char *reason, const char *path, const char *text)
{
    size_t length = strlen(path);
    if (strncmp(text, path, length) == 0 && text[length] == ':' && text[length + 1] == ' ') {
        text += length + 2;
    }
    (void)snprintf(reason, LR_REASON, "%s", text);
}

/* @return the table; NULL with the reason. What is no plugin is closed again. */
static const rec_plugin *const *take_table(lt_dlhandle handle, const char *path, char *reason)
{
    const rec_plugin *const *plugins = NULL;
    if (failure[0]) {
        take_reason(reason, path, failure);
    } else {
        plugins = lt_dlsym(handle, symbol_name); /* NAME_LTX_librecord_plugins first: what 0.1's files have */
        if (!plugins) {
            const lt_dlinfo *info = lt_dlgetinfo(handle);
            (void)snprintf(reason, LR_REASON, "it exports neither %s nor %s_LTX_%s: was it renamed?", symbol_name,
                           info && info->name ? info->name : "NAME", symbol_name);
        }
    }
    if (!plugins || lt_dlmakeresident(handle) != 0) {
        (void)lt_dlclose(handle);
    }
    return plugins;
}

static const rec_plugin *const *open_file(const char *path, char *reason)
{
    const rec_plugin *const *plugins = NULL;
    lt_dladvise advice = NULL;
    lt_dlhandle handle = NULL;
    (void)snprintf(reason, LR_REASON, "not enough memory");
    if (!begin(reason)) {
        return NULL;
    }
    failure[0] = '\0';
    asked = true;
    if (lt_dladvise_init(&advice) == 0 && lt_dladvise_local(&advice) == 0) {
        handle = lt_dlopenadvise(path, advice);
    }
    asked = false;
    (void)lt_dladvise_destroy(&advice);
    if (handle) {
        plugins = take_table(handle, path, reason);
    }
    return plugins;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

const rec_plugin *const *lr_module_open(const char *path, const struct stat *state, char *reason)
{
    const rec_plugin *const *plugins = NULL;
    (void)pthread_mutex_lock(&lock);
    for (const module *m = modules; m && !plugins; m = m->next) {
        plugins = is_same(&m->state, state) ? m->plugins : NULL;
    }
    if (!plugins && !*check_symbol(path, reason)) {
        plugins = open_file(path, reason);
        if (plugins) {
            remember(state, plugins);
        }
    }
    (void)pthread_mutex_unlock(&lock);
    return plugins;
}

bool lr_static_build(void)
{
    return false;
}

int32_t lr_modules_builtin(rec_job *job, lr_builtin_fn found, void *user)
{
    (void)found;
    (void)user;
    return job->error.status;
}
