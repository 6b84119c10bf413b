/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Plugin files in the process: libltdl opens each once, whatever the number of contexts, and none is ever closed.
 *
 * libltdl keeps its state in globals without a lock. One lock of the process therefore guards every call, librecord
 * never uses the search path of libltdl, and opens only absolute names of .so files. lt_dlexit() would close the
 * plugins, so it is not called. */
#ifdef HAVE_DLOPEN
#include <dlfcn.h>
#endif
#include <errno.h>
#include <fcntl.h>
#include <ltdl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/registry/open_private.h"
#include "os/file.h"
#include "os/map.h"

static const char symbol_name[] = "librecord_plugins";

/** A file that is open. */
typedef struct module {
    struct module *next;
    struct stat state; /**< at the time it was opened */
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

/* Only memory can be short here. What lt_dlinit() made is taken back, or the next call would find libltdl initialised,
 * without loaders, and crash. */
static bool begin(char *reason)
{
    static bool begun;
    if (!begun && lt_dlinit() != 0) {
        (void)snprintf(reason, LR_REASON, "not enough memory");
        (void)lt_dlexit();
        return false;
    }
    begun = true;
    return true;
}

/* ---------------------------------------------------------------------------------------------- opening a file -- */

/* Opening a file runs its constructors. A file must contain the name of the table first, so that the constructors of
 * other shared objects do not run if somebody adds another directory, /usr/lib perhaps, to the path by mistake. In all
 * formats of shared objects a NUL follows the name; a prefix may come before it, which libltdl knows. */
static bool check_symbol(const char *path, char *reason)
{
    struct stat state;
    void *data = NULL;
    bool found = false;
    int error = 0, fd = lr_file_open(AT_FDCWD, path, O_RDONLY, 0);
    if (fd < 0 || fstat(fd, &state) != 0) {
        error = errno;
    } else if (state.st_size > 0) {
        data = lr_map_file(fd, 0, (uint64_t)state.st_size, false);
        error = data ? 0 : errno;
    }
    if (data) {
        found = memmem(data, (size_t)state.st_size, symbol_name, sizeof symbol_name) != NULL;
        lr_map_end(data, (uint64_t)state.st_size);
    }
    if (error) {
        (void)lr_reason_errno(error, reason, "read the file");
    } else if (!found) {
        (void)snprintf(reason, LR_REASON, "it is not a plugin: it does not export %s", symbol_name);
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    return found;
}

/* The error message of the system names the file. The line that shows the reason names it too. */
static void take_reason(char *reason, const char *path, const char *text)
{
    size_t length = strlen(path);
    text = text ? text : "the system gives no reason";
    if (strncmp(text, path, length) == 0 && text[length] == ':' && text[length + 1] == ' ') {
        text += length + 2;
    }
    (void)snprintf(reason, LR_REASON, "%s", text);
}

#ifdef HAVE_DLOPEN
/* libltdl binds lazily, so that a missing function would end the process at its first call, and reports every failure
 * as "file not found". Therefore dlopen() opens the file first and binds all of it at once. Without enough memory
 * dlopen() may report that a file does not exist, and a plugin that was rejected stays rejected: so dlopen() is called
 * twice, and after that malloc() shows whether memory is short. */
static void *open_first(const char *path, char *reason)
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    handle = handle ? handle : dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char *text = dlerror();
        void *volatile memory = malloc(4096);
        take_reason(reason, path, memory ? text : "not enough memory");
        free(memory);
    }
    return handle;
}
#endif

/* @return the handle of libltdl, or NULL with the reason. */
static lt_dlhandle open_ltdl(const char *path, char *reason)
{
    lt_dladvise advice = NULL;
    lt_dlhandle handle = NULL;
    if (begin(reason)) {
        if (lt_dladvise_init(&advice) == 0 && lt_dladvise_local(&advice) == 0) {
            handle = lt_dlopenadvise(path, advice);
        }
        if (!handle) {
            take_reason(reason, path, lt_dlerror());
        }
        (void)lt_dladvise_destroy(&advice);
    }
    return handle;
}

/* libltdl has a file to open that dlopen() opened already: it can fail for lack of memory alone, for which it has other
 * words. */
static lt_dlhandle open_handle(const char *path, char *reason)
{
#ifdef HAVE_DLOPEN
    void *first = open_first(path, reason);
    lt_dlhandle handle = first ? open_ltdl(path, reason) : NULL;
    if (first && !handle) {
        (void)snprintf(reason, LR_REASON, "not enough memory");
    }
    if (first) {
        (void)dlclose(first);
    }
    return handle;
#else
    return open_ltdl(path, reason);
#endif
}

/* @return the table, or NULL with the reason. A file that is no plugin is closed again. */
static const rec_plugin *const *open_file(const char *path, char *reason)
{
    lt_dlhandle handle = open_handle(path, reason);
    const rec_plugin *const *plugins = NULL;
    if (!handle) {
        return NULL;
    }
    plugins = lt_dlsym(handle, symbol_name);
    if (!plugins) {
        const lt_dlinfo *info = lt_dlgetinfo(handle);
        (void)snprintf(reason, LR_REASON, "it exports neither %s nor %s_LTX_%s: was it renamed?", symbol_name,
                       info && info->name ? info->name : "NAME", symbol_name);
    }
    if (!plugins || lt_dlmakeresident(handle) != 0) {
        (void)lt_dlclose(handle);
    }
    return plugins;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return lr_file_same(a, b) && a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
           a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

const rec_plugin *const *lr_module_open(const char *path, const struct stat *state, char *reason)
{
    const rec_plugin *const *plugins = NULL;
    (void)pthread_mutex_lock(&lock);
    for (const module *m = modules; m && !plugins; m = m->next) {
        plugins = is_same(&m->state, state) ? m->plugins : NULL;
    }
    if (!plugins && check_symbol(path, reason)) {
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
