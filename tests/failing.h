/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Allocations that fail: of a context whose allocator is `failing_allocator`, the one that is asked for. A program that
 * is linked with LR_FAILING_ARENAS and defines FAILING_ARENAS lets arenas refuse single pieces too, which else only
 * their chunks do. */
#ifndef FAILING_H
#define FAILING_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unwind.h>

#include <cmocka.h>

#include "librecord.h"
#include "tests/sparse.h"

static bool armed;
static long countdown; /* allocations until one fails */
static long failed;
static bool by_place;             /* the first allocation at a new place fails */
static long place_at, place_from; /* allocations of this run; those that the run before found at known places */

/* A place: who asks, called by whom, as deep as helpers of helpers are. */
enum { PLACE_DEEP = 5, PLACES_MOST = 1 << 14, SKIPPED = 3 /* is_new_place, fails_now, who calls it */ };

typedef struct place_trace {
    uintptr_t hash;
    int depth;
} place_trace;

static inline _Unwind_Reason_Code place_frame(struct _Unwind_Context *at, void *user)
{
    place_trace *trace = user;
    if (++trace->depth > SKIPPED) {
        trace->hash = (trace->hash ^ (uintptr_t)_Unwind_GetIP(at)) * (uintptr_t)0x9e3779b1U;
        trace->hash ^= trace->hash >> 15;
    }
    return trace->depth < SKIPPED + PLACE_DEEP ? _URC_NO_REASON : _URC_END_OF_STACK;
}

static uintptr_t places_seen[PLACES_MOST]; /* open-addressed, since nothing here may allocate */
static long place_count;

static inline bool is_new_place(void)
{
    place_trace trace = {0, 0};
    size_t at;
    (void)_Unwind_Backtrace(place_frame, &trace);
    trace.hash += trace.hash == 0;
    for (at = trace.hash % PLACES_MOST; places_seen[at] && places_seen[at] != trace.hash; at = (at + 1) % PLACES_MOST) {
    }
    if (places_seen[at] || place_count == PLACES_MOST / 2) {
        return false;
    }
    places_seen[at] = trace.hash;
    place_count++;
    return true;
}

/* A trace takes longer than the allocation: places that the run before reached are not traced again. */
static inline bool fails_now(void)
{
    if (!armed || (by_place ? place_at++ < place_from || !is_new_place() : countdown-- > 0)) {
        return false;
    }
    place_from = by_place ? place_at - 1 : 0;
    armed = false; /* one failure a run: what comes after must cope with it */
    errno = ENOMEM;
    failed++;
    return true;
}

static uint64_t held; /* pieces that the context's allocator gave and did not get back */

/* Each piece has its size before it and a few bytes behind it that nobody may write to: looked at where it is given
 * back. */
enum { PIECE_HEAD = 16, PIECE_GUARD = 8, PIECE_BYTE = 0xA5 };

static inline void *guarded(uint8_t *piece, size_t size)
{
    if (!piece) {
        return NULL;
    }
    memcpy(piece, &size, sizeof size);
    memset(piece + PIECE_HEAD + size, PIECE_BYTE, PIECE_GUARD);
    return piece + PIECE_HEAD;
}

static inline uint8_t *unguarded(void *memory)
{
    uint8_t *piece = (uint8_t *)memory - PIECE_HEAD;
    size_t size;
    memcpy(&size, piece, sizeof size);
    for (size_t i = 0; i < PIECE_GUARD; i++) {
        if (piece[PIECE_HEAD + size + i] != PIECE_BYTE) {
            (void)fprintf(stderr, "something was written behind a piece of %zu bytes\n", size);
            abort(); /* wherever it is, which may be another thread */
        }
    }
    return piece;
}

static inline void *give(void *user, size_t size)
{
    void *memory = fails_now() ? NULL : guarded(malloc(PIECE_HEAD + size + PIECE_GUARD), size);
    (void)user;
    held += memory != NULL;
    return memory;
}

static inline void *give_more(void *user, void *old, size_t size)
{
    (void)user;
    return fails_now() ? NULL : guarded(realloc(unguarded(old), PIECE_HEAD + size + PIECE_GUARD), size);
}

static inline void take_back(void *user, void *memory)
{
    (void)user;
    held--;
    free(unguarded(memory));
}

static const rec_allocator failing_allocator = {
    .size = sizeof failing_allocator, .alloc = give, .resize = give_more, .release = take_back};

#ifdef FAILING_ARENAS
#include "core/base/base.h"

/* The linker calls these where the library calls the arena. */
void *__real_lr_arena_alloc(lr_arena *arena, uint64_t size, uint64_t alignment);
void *__wrap_lr_arena_alloc(lr_arena *arena, uint64_t size, uint64_t alignment);
bool __real_lr_arena_grow(lr_arena *arena, void *array, uint64_t need, uint64_t *room, size_t each);
bool __wrap_lr_arena_grow(lr_arena *arena, void *array, uint64_t need, uint64_t *room, size_t each);
char *__real_lr_arena_text(lr_arena *arena, const char *text, uint64_t length);
char *__wrap_lr_arena_text(lr_arena *arena, const char *text, uint64_t length);

static inline bool arena_fails(lr_arena *arena)
{
    bool fails = by_place && fails_now();
    arena->refused = fails ? false : arena->refused;
    return fails;
}

void *__wrap_lr_arena_alloc(lr_arena *arena, uint64_t size, uint64_t alignment)
{
    return arena_fails(arena) ? NULL : __real_lr_arena_alloc(arena, size, alignment);
}

bool __wrap_lr_arena_grow(lr_arena *arena, void *array, uint64_t need, uint64_t *room, size_t each)
{
    return need > *room && arena_fails(arena) ? false : __real_lr_arena_grow(arena, array, need, room, each);
}

char *__wrap_lr_arena_text(lr_arena *arena, const char *text, uint64_t length)
{
    return arena_fails(arena) ? NULL : __real_lr_arena_text(arena, text, length);
}
#endif

/** What is done while allocations fail. @return what came of it, from malloc; NULL: an error was told. */
typedef char *(*failing_operation)(rec_context *context, const void *what);

/** Does it once for each of its allocations, or every sparsely() one, which fails then: it ends as if nothing had
 *  failed, or with the error that memory ran out; what it took is given back, and the next one works in the same
 *  context. @param expected the result. @return how many allocations it makes, or sparsely() more. */
static inline long each_fails_once(rec_context *context, failing_operation operation, const void *what,
                                   const char *expected)
{
    for (long n = 0;; n += by_place ? 1 : (long)sparsely()) {
        long failures = failed;
        uint64_t held_before = held;
        char *found;
        countdown = n;
        place_at = 0;
        armed = true;
        found = operation(context, what);
        armed = false;
        if (!found && failed == failures) {
            fail_msg("allocation %ld: failed although none was rejected: %s", n, rec_error_message());
        }
        if (found && strcmp(found, expected) != 0) {
            fail_msg("allocation %ld: another result:\n%s\n- expected:\n%s", n, found, expected);
        }
        if (!found && rec_error_status() != REC_E_MEMORY) {
            fail_msg("allocation %ld: %s: %s", n, rec_status_name(rec_error_status()), rec_error_message());
        }
        free(found);
        if (failed == failures && place_from > 0) {
            place_from = 0; /* once more, in case that other allocations were made */
            continue;
        }
        if (failed == failures) {
            return n;
        }
        if (n > 1 && held > held_before + 64) { /* what a context keeps is taken once */
            fail_msg("allocation %ld: %llu pieces are lost", n, (unsigned long long)(held - held_before));
        }
    }
}

/** The same for each place where it asks for memory and none has failed yet, in whatever operation. */
static inline long each_place_fails_once(rec_context *context, failing_operation operation, const void *what,
                                         const char *expected)
{
    long count;
    by_place = true;
    count = each_fails_once(context, operation, what, expected);
    by_place = false;
    return count;
}

#endif
