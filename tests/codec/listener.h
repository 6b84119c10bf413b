/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What the tests of codecs hear from a reader, written down: a visitor, and the context that they read in. */
#ifndef TEST_LISTENER_H
#define TEST_LISTENER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "librecord/plugin.h"

/** Writes the events down as text close to JSON, or, with `offsets`, as "OFFSET:event " each. */
typedef struct listener {
    char *text;
    size_t length, room;
    bool offsets;
    bool like_json; /**< checks that no count is known and that keys are strings */
    int events;     /**< heard so far */
    int stop_at;    /**< the event that is answered with `answer`, -1: none */
    int32_t answer;
    int runs;           /**< numbers events; with offsets what is in long ones is not written down */
    uint64_t bytes;     /**< elements of U8 among them */
    uint64_t sum;       /**< over all of those: Σ value · (index + 1) */
    const void *data;   /**< of the last bytes */
    rec_source *source; /**< theirs */
    uint64_t depth;
    struct {
        bool map;
        int count;
    } levels[256]; /**< without offsets */
} listener;

static inline listener new_listener(void)
{
    return (listener){.stop_at = -1, .answer = REC_E_CANCELLED};
}

static inline void say(listener *l, const char *format, ...) REC_PRINTF(2, 3);
static inline void say(listener *l, const char *format, ...)
{
    va_list args;
    if (l->room - l->length < 4096) {
        l->room = l->room * 2 + 8192;
        l->text = realloc(l->text, l->room);
        assert_non_null(l->text);
    }
    va_start(args, format);
    int n = vsnprintf(l->text + l->length, l->room - l->length, format, args);
    va_end(args);
    assert_true(n >= 0 && (size_t)n < l->room - l->length);
    l->length += (size_t)n;
}

/** Forgets what was heard. */
static inline void hear_anew(listener *l)
{
    l->length = 0;
    l->depth = l->sum = l->bytes = 0;
    l->events = l->runs = 0;
    say(l, "%s", "");
}

static inline int32_t heard(listener *l)
{
    return l->events++ == l->stop_at ? l->answer : REC_OK;
}

/** What stands before a value or key. */
static inline void before(listener *l, uint64_t at, bool key)
{
    if (l->offsets) {
        say(l, "%s%llu:", l->length ? " " : "", (unsigned long long)at);
    } else if (l->depth && (key || !l->levels[l->depth].map)) {
        say(l, "%s", l->levels[l->depth].count++ ? "," : "");
    }
}

static inline void say_scalar(listener *l, const rec_scalar *s)
{
    switch (s->kind) {
    case REC_KIND_NIL:
        say(l, "null");
        break;
    case REC_KIND_BOOL:
        say(l, s->v.i ? "true" : "false");
        break;
    case REC_KIND_INT:
        assert_true(s->v.i < 0);
        say(l, "%lld", (long long)s->v.i);
        break;
    case REC_KIND_UINT:
        say(l, "%llu", (unsigned long long)s->v.u);
        break;
    case REC_KIND_FLOAT:
        say(l, l->offsets ? "%.17gf" : "%.17g", s->v.f);
        break;
    case REC_KIND_STRING:
        say(l, "\"");
        for (uint64_t i = 0; i < s->v.length;) {
            uint64_t left = s->v.length - i;
            uint64_t plain = strnlen(s->text + i, (size_t)(left < 1000 ? left : 1000));
            say(l, plain ? "%.*s" : "<0>", (int)plain, s->text + i);
            i += plain ? plain : 1;
        }
        say(l, "\"");
        break;
    default:
        fail_msg("a scalar of kind %d", s->kind);
    }
}

static inline int32_t hear_scalar(void *self, uint64_t at, const rec_scalar *scalar)
{
    before(self, at, false);
    say_scalar(self, scalar);
    return heard(self);
}

static inline int32_t hear_key(void *self, uint64_t at, const rec_scalar *key)
{
    listener *l = self;
    assert_true(!l->like_json || key->kind == REC_KIND_STRING);
    before(l, at, true);
    say_scalar(l, key);
    say(l, l->offsets ? "=" : ":");
    return heard(l);
}

static inline void say_number(listener *l, rec_dtype dtype, const uint8_t *at)
{
    uint64_t bits = *at;
    float f32 = 0;
    double f64 = 0;
    if (rec_dtype_bits(dtype) == 32) {
        memcpy(&f32, at, sizeof f32);
    } else if (rec_dtype_bits(dtype) == 64) {
        memcpy(&bits, at, sizeof bits);
        memcpy(&f64, at, sizeof f64);
    }
    switch (dtype) {
    case REC_DTYPE_I64:
        say(l, "%lld", (long long)bits);
        break;
    case REC_DTYPE_U64:
    case REC_DTYPE_U8:
        say(l, "%llu", (unsigned long long)bits);
        break;
    case REC_DTYPE_BOOL:
        assert_true(bits <= 1);
        say(l, bits ? "true" : "false");
        break;
    case REC_DTYPE_F32:
        say(l, "%.17g", (double)f32);
        break;
    case REC_DTYPE_F64:
        say(l, "%.17g", f64);
        break;
    default:
        fail_msg("numbers of %s", rec_dtype_name(dtype));
    }
}

static inline int32_t hear_numbers(void *self, uint64_t at, rec_dtype dtype, const void *data, uint64_t count)
{
    listener *l = self;
    const uint8_t *bytes = data;
    l->runs++;
    for (uint64_t i = 0; i < count && dtype == REC_DTYPE_U8; i++) {
        l->sum += bytes[i] * ++l->bytes;
    }
    if (l->offsets && count > 100) {
        return heard(l);
    }
    if (l->offsets) {
        before(l, at, false);
        say(l, "%s", rec_dtype_name(dtype));
    }
    for (uint64_t i = 0; i < count; i++) {
        if (l->offsets) {
            say(l, i ? "," : " ");
        } else {
            before(l, at, false);
        }
        say_number(l, dtype, bytes + i * (rec_dtype_bits(dtype) / 8));
    }
    return heard(l);
}

static inline int32_t hear_bytes(void *self, uint64_t at, const rec_blob *blob)
{
    listener *l = self;
    assert_int_equal(blob->kind, REC_BLOB_VIEW);
    assert_int_equal(blob->size, sizeof *blob);
    before(l, at, false);
    if (l->offsets) {
        say(l, "@%llu ", (unsigned long long)blob->offset);
    }
    say(l, "\"");
    for (uint64_t i = 0; i < blob->length; i++) {
        say(l, "%s%02x", i ? "-" : "", ((const uint8_t *)blob->data)[i]);
    }
    say(l, "\"");
    l->data = blob->data;
    l->source = blob->source;
    return heard(l);
}

static inline int32_t hear_begin(listener *l, uint64_t at, bool map, int32_t form, uint64_t count)
{
    assert_int_equal(form, REC_FORM_UNKNOWN);
    assert_true(!l->like_json || count == REC_UNKNOWN);
    before(l, at, false);
    say(l, map ? "{" : "[");
    l->depth++;
    if (l->offsets && count != REC_UNKNOWN) {
        say(l, "%llu", (unsigned long long)count);
    } else if (!l->offsets) {
        assert_true(l->depth < sizeof l->levels / sizeof *l->levels);
        l->levels[l->depth].map = map;
        l->levels[l->depth].count = 0;
    }
    return heard(l);
}

static inline int32_t hear_list_begin(void *self, uint64_t at, int32_t form, uint64_t count)
{
    return hear_begin(self, at, false, form, count);
}

static inline int32_t hear_map_begin(void *self, uint64_t at, int32_t form, uint64_t count)
{
    return hear_begin(self, at, true, form, count);
}

static inline int32_t hear_end(void *self, uint64_t at)
{
    listener *l = self;
    assert_true(l->depth > 0);
    if (l->offsets) {
        before(l, at, false);
        say(l, "end");
    } else {
        say(l, l->levels[l->depth].map ? "}" : "]");
    }
    l->depth--;
    return heard(l);
}

static const rec_visitor listening = {
    .size = sizeof listening,
    .scalar = hear_scalar,
    .numbers = hear_numbers,
    .bytes = hear_bytes,
    .list_begin = hear_list_begin,
    .map_begin = hear_map_begin,
    .key = hear_key,
    .end = hear_end,
};

static inline int setup(void **state)
{
    *state = rec_context_new(NULL);
    return *state ? 0 : -1;
}

static inline int teardown(void **state)
{
    rec_context_free(*state);
    return 0;
}

#endif
