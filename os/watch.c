/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Watched maps of files. After lr_watch_guard() the handler maps zeros where a truncated file has no bytes, and marks
 * the map as truncated. The handler may run on any thread at any time. It takes no lock and allocates nothing: it
 * searches slots that are never freed. The slot that it needs cannot change, since the reading thread holds the source;
 * other slots may change meanwhile, which their sequence number shows. All other access to slots is locked. */
#include "os/watch.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SLOTS = 64 };

struct lr_watch {
    /* For the handler. */
    atomic_uint turn; /**< odd while `begin` and `size` change */
    atomic_uintptr_t begin;
    atomic_size_t size; /**< 0: there is no map */
    atomic_uint cut;    /**< its number among those that were cut, 0: it was not */
    atomic_bool lent;   /**< bytes were given to the program, which reads them when it likes */
    /* Under the lock. */
    bool taken;
    const void *of; /**< whose map it is */
    const char *name;
    dev_t device;
    ino_t inode;
    uint64_t end; /**< how many bytes the file must have */
    bool known;   /**< device and inode */
};

typedef struct slots {
    lr_watch at[SLOTS];
    _Atomic(struct slots *) next;
    size_t used; /* under the lock */
} slots;

static slots first_slots;
static atomic_uint cuts; /* how many there were */
static atomic_bool guarded;
static size_t page_size; /* set before `guarded` */
static struct sigaction earlier;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ------------------------------------------------------------------------------------------------- the handler -- */

static void mark(lr_watch *watch)
{
    atomic_store(&watch->cut, atomic_fetch_add(&cuts, 1) + 1);
}

/* Maps zeros from this page to the end of the map. */
static bool mend(lr_watch *watch, uintptr_t at)
{
    unsigned turn = atomic_load(&watch->turn);
    uintptr_t begin = atomic_load(&watch->begin), page = at & ~(uintptr_t)(page_size - 1);
    size_t size = atomic_load(&watch->size), before;
    if (turn % 2 || atomic_load(&watch->turn) != turn || at < begin || at - begin >= size) {
        return false;
    }
    before = page - begin; /* maps begin at a page */
    if (mmap((uint8_t *)begin + before, size - before, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
        MAP_FAILED) {
        return false;
    }
    mark(watch);
    return true;
}

static bool mend_any(uintptr_t at)
{
    for (slots *s = &first_slots; s; s = atomic_load(&s->next)) {
        for (size_t i = 0; i < SLOTS; i++) {
            if (mend(&s->at[i], at)) {
                return true;
            }
        }
    }
    return false;
}

/* Calls the handler that was installed before. */
static void pass_on(int number, siginfo_t *info, void *context)
{
    if (earlier.sa_flags & SA_SIGINFO) {
        earlier.sa_sigaction(number, info, context);
    } else if (earlier.sa_handler == SIG_IGN && info->si_code <= 0) {
        /* another process sent it, and nobody minds */
    } else if (earlier.sa_handler != SIG_DFL && earlier.sa_handler != SIG_IGN) {
        earlier.sa_handler(number);
    } else {
        struct sigaction standard;
        memset(&standard, 0, sizeof standard);
        standard.sa_handler = SIG_DFL;
        (void)sigaction(number, &standard, NULL);
        (void)raise(number); /* blocked until this returns; what is the processor's comes again by itself */
    }
}

static void on_bus_error(int number, siginfo_t *info, void *context)
{
    int error = errno;
    bool mended = info->si_code == BUS_ADRERR && mend_any((uintptr_t)info->si_addr);
    errno = error;
    if (!mended) {
        pass_on(number, info, context);
    }
}

int lr_watch_guard(void)
{
    struct sigaction action;
    int error = 0;
    memset(&action, 0, sizeof action);
    (void)pthread_mutex_lock(&lock);
    if (!atomic_load(&guarded)) {
        page_size = (size_t)sysconf(_SC_PAGESIZE);
        error = sigaction(SIGBUS, NULL, &earlier) == 0 ? 0 : errno;
        action.sa_sigaction = on_bus_error;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK;
        action.sa_mask = earlier.sa_mask;
        if (!error && sigaction(SIGBUS, &action, NULL) != 0) {
            error = errno;
        }
        atomic_store(&guarded, error == 0);
    }
    (void)pthread_mutex_unlock(&lock);
    return error;
}

/* --------------------------------------------------------------------------------------------------- the slots -- */

/* A free slot. The lock is held. NULL: there is no memory for more. */
static lr_watch *find_slot(void)
{
    slots *s = &first_slots, *next;
    while (s->used == SLOTS && (next = atomic_load(&s->next))) {
        s = next;
    }
    if (s->used == SLOTS) {
        next = calloc(1, sizeof *next);
        if (!next) {
            return NULL;
        }
        atomic_store(&s->next, next);
        s = next;
    }
    s->used++;
    for (size_t i = 0; i < SLOTS; i++) {
        if (!s->at[i].taken) {
            s->at[i].taken = true;
            return &s->at[i];
        }
    }
    return NULL; /* there is one, or it would not have been counted */
}

static void free_slot(lr_watch *watch)
{
    slots *s = &first_slots;
    while (watch < s->at || watch >= s->at + SLOTS) {
        s = atomic_load(&s->next);
    }
    watch->taken = false;
    s->used--;
}

/* What the handler sees of it. */
static void show(lr_watch *watch, uintptr_t begin, size_t size)
{
    (void)atomic_fetch_add(&watch->turn, 1);
    atomic_store(&watch->begin, begin);
    atomic_store(&watch->size, size);
    (void)atomic_fetch_add(&watch->turn, 1);
}

lr_watch *lr_watch_begin(const void *of, const void *map, uint64_t size, int fd, uint64_t end, const char *name)
{
    struct stat info;
    lr_watch *watch;
    (void)pthread_mutex_lock(&lock);
    watch = find_slot();
    if (watch) {
        watch->of = of;
        watch->name = name;
        watch->end = end;
        watch->known = fstat(fd, &info) == 0 && info.st_nlink > 0;
        watch->device = watch->known ? info.st_dev : 0;
        watch->inode = watch->known ? info.st_ino : 0;
        atomic_store(&watch->cut, 0);
        atomic_store(&watch->lent, false);
        show(watch, (uintptr_t)map, (size_t)size);
    }
    (void)pthread_mutex_unlock(&lock);
    return watch;
}

/* Truncation within the last page raises no signal: the rest of that page reads as zeros. With the guard on, the sizes
 * are compared. The lock is held. */
static void look(lr_watch *watch)
{
    struct stat info;
    if (atomic_load(&guarded) && watch->taken && watch->known && atomic_load(&watch->size) && !lr_watch_cut(watch) &&
        stat(watch->name, &info) == 0 && info.st_dev == watch->device && info.st_ino == watch->inode &&
        (uint64_t)info.st_size < watch->end) {
        mark(watch);
    }
}

void lr_watch_end(lr_watch *watch)
{
    if (!watch) {
        return;
    }
    (void)pthread_mutex_lock(&lock);
    if (atomic_load(&watch->lent)) {
        look(watch); /* a file that this save replaced was checked before the rename */
    }
    show(watch, 0, 0);
    if (lr_watch_cut(watch)) {
        watch->name = strdup(watch->name); /* kept for later error messages */
    } else {
        free_slot(watch);
    }
    (void)pthread_mutex_unlock(&lock);
}

void lr_watch_lend(lr_watch *watch)
{
    if (watch) {
        atomic_store_explicit(&watch->lent, true, memory_order_relaxed);
    }
}

bool lr_watch_cut(const lr_watch *watch)
{
    return watch && atomic_load(&watch->cut) != 0;
}

bool lr_watch_guards(void)
{
    return atomic_load(&guarded);
}

void lr_watch_mark(lr_watch *watch)
{
    if (watch) {
        mark(watch);
    }
}

/* ------------------------------------------------------------------------------------------------ what follows -- */

uint32_t lr_watch_cuts(void)
{
    return atomic_load(&cuts);
}

bool lr_watch_look(lr_watch *watch, bool sizes_too, char **name)
{
    bool cut;
    (void)pthread_mutex_lock(&lock);
    if (sizes_too) {
        look(watch);
    }
    cut = lr_watch_cut(watch);
    if (cut) {
        *name = watch->name ? strdup(watch->name) : NULL;
    }
    (void)pthread_mutex_unlock(&lock);
    return cut;
}

bool lr_watch_find(const void *of, uint32_t since, bool sizes_too, char **name)
{
    const lr_watch *found = NULL;
    (void)pthread_mutex_lock(&lock);
    for (slots *s = &first_slots; s; s = atomic_load(&s->next)) {
        for (size_t i = 0; i < SLOTS; i++) {
            lr_watch *watch = &s->at[i];
            uint32_t number;
            if (!watch->taken || (of && watch->of != of)) {
                continue;
            }
            if (sizes_too) {
                look(watch);
            }
            number = atomic_load(&watch->cut);
            if (number > since && (!found || number < atomic_load(&found->cut))) {
                found = watch;
            }
        }
    }
    if (found) {
        *name = found->name ? strdup(found->name) : NULL;
    }
    (void)pthread_mutex_unlock(&lock);
    return found != NULL;
}
