/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Allocations that fail: of a context whose allocator is `failing_allocator`, the one that is asked for. */
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

#include <cmocka.h>

#include "librecord.h"

static bool armed;
static long countdown; /* allocations until one fails */
static long failed;

static inline bool fails_now(void)
{
    if (!armed || countdown-- > 0) {
        return false;
    }
    armed = false; /* one failure a run: what comes after must cope with it */
    errno = ENOMEM;
    failed++;
    return true;
}

static uint64_t held; /* pieces that the context's allocator gave and did not get back */

/* Each piece has its size before it and a few bytes behind it that nobody may write to: looked at where it is given back. */
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

/** What is done while allocations fail. @return what came of it, from malloc; NULL: an error was told. */
typedef char *(*failing_operation)(rec_context *context, const void *what);

/** Does it once for each of its allocations, which fails then: it ends as if nothing had failed, or with the error that
 *  memory ran out; what it took is given back, and the next one works in the same context.
 *  @param expected what comes of it. @return how many failed. */
static inline long each_fails_once(rec_context *context, failing_operation operation, const void *what,
                                   const char *expected)
{
    long before = failed;
    for (long n = 0;; n++) {
        long failures = failed;
        uint64_t held_before = held;
        char *found;
        countdown = n;
        armed = true;
        found = operation(context, what);
        armed = false;
        if (!found && failed == failures) {
            fail_msg("allocation %ld: failed although none was refused: %s", n, rec_error_message());
        }
        if (found && strcmp(found, expected) != 0) {
            fail_msg("allocation %ld: another result:\n%s\n- expected:\n%s", n, found, expected);
        }
        if (!found && rec_error_status() != REC_E_MEMORY) {
            fail_msg("allocation %ld: %s: %s", n, rec_status_name(rec_error_status()), rec_error_message());
        }
        free(found);
        if (failed == failures) {
            return failed - before;
        }
        if (n > 1 && held > held_before + 64) { /* what a context keeps is taken once */
            fail_msg("allocation %ld: %llu pieces are lost", n, (unsigned long long)(held - held_before));
        }
    }
}

#endif
