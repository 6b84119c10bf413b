/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Shared libraries that few need, opened when the first one does: a program that opens no rule, no configuration and no
 * plugin does not wait for PCRE2, inih and libltdl. What is opened stays. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Short of memory, dlopen may say that the file does not exist, and what is refused for that would be for good. So it
 * is asked twice, and then whether there is memory at all. */
void *lr_shared_open(const char *file, char *reason, size_t room)
{
    void *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    }
    if (!handle) {
        const char *words = dlerror();
        void *volatile memory = malloc(4096);
        (void)snprintf(reason, room, "%s",
                       !memory ? "not enough memory"
                       : words ? words
                               : "the system does not say why");
        free(memory);
    }
    return handle;
}

/* ISO C has no way from an object pointer to a function. */
static bool find_all(void *handle, const lr_late *library, char *reason, size_t room)
{
    for (size_t i = 0; i < library->count; i++) {
        void *found = dlsym(handle, library->functions[i].name);
        if (!found) {
            (void)snprintf(reason, room, "%s has no function %s", library->soname, library->functions[i].name);
            return false;
        }
        memcpy(library->functions[i].to, &found, sizeof found);
    }
    return true;
}

bool lr_late_open(lr_late *library, char *reason, size_t room)
{
    bool open = atomic_load_explicit(&library->open, memory_order_acquire);
    if (!open) {
        void *handle;
        (void)pthread_mutex_lock(&lock);
        open = atomic_load_explicit(&library->open, memory_order_relaxed);
        if (!open && (handle = lr_shared_open(library->soname, reason, room))) {
            open = find_all(handle, library, reason, room);
            atomic_store_explicit(&library->open, open, memory_order_release);
            if (!open) {
                (void)dlclose(handle);
            }
        }
        (void)pthread_mutex_unlock(&lock);
    }
    return open;
}

int32_t lr_late_need(rec_job *job, lr_late *library, const char *for_what)
{
    char reason[512] = "";
    if (lr_late_open(library, reason, sizeof reason)) {
        return REC_OK;
    }
    if (strcasestr(reason, "cannot allocate memory") || strcasestr(reason, "not enough memory")) {
        return rec_fail(job, REC_E_MEMORY, REC_UNKNOWN, "out of memory while opening %s", library->soname);
    }
    (void)rec_fail(job, REC_E_UNSUPPORTED, REC_UNKNOWN, "%s cannot be opened, which %s need: %s", library->soname,
                   for_what, reason);
    rec_fail_hint(job, "It is a library of its own, which librecord was built with; install it.");
    return job->error.status;
}
