/* SPDX-License-Identifier: MIT OR Apache-2.0
 * record edit cast: other element types for tensors, other widths for numbers. What that loses is counted first. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/edit/edit_private.h"

enum { PIECE = 64 * 1024 }; /* elements */

/* One cast. */
typedef struct cast {
    work *w;
    const rec_record *before;
    rec_dtype dtype;
    bool exact; /* exactly one tensor was named: changes between ints and floats */
    outcome *o;
    uint64_t left; /* tensors of another class */
    char *worst;   /* the first key where values became infinite or zero */
    char from[32]; /* the element type that they had; "" if several */
    int status;
} cast;

/* Whether every value of the first type is one of the second. */
static bool is_wider(rec_dtype from, rec_dtype to)
{
    if (from == to || tool_edit_class(from) == CLASS_BOOL) {
        return true;
    }
    if (tool_edit_class(from) == CLASS_FLOAT) {
        return to == REC_DTYPE_F64 || ((to == REC_DTYPE_F32 || to == REC_DTYPE_FLEX32) && from != REC_DTYPE_F64);
    }
    return false;
}

/* What a float became. */
static void compare_floats(cast *c, const char *path, const double *old, const double *now, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        if (old[i] == now[i] || (isnan(old[i]) && isnan(now[i]))) {
            continue;
        }
        c->o->rounded++;
        if (isinf(now[i]) || now[i] == 0) {
            *(now[i] == 0 ? &c->o->vanished : &c->o->overflowed) += 1;
            c->worst = c->worst ? c->worst : xstrdup(path);
        }
    }
}

static void compare_ints(cast *c, rec_dtype wide, const int64_t *old, const double *now, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        bool same = wide == REC_DTYPE_U64 ? (double)(uint64_t)old[i] == now[i] && now[i] < 18446744073709551616.0 &&
                                                (uint64_t)now[i] == (uint64_t)old[i]
                                          : now[i] >= -9223372036854775808.0 && now[i] < 9223372036854775808.0 &&
                                                (int64_t)now[i] == old[i];
        c->o->rounded += !same;
        c->o->overflowed += isinf(now[i]) != 0;
    }
}

/* The library would name the element of the piece, and no tensor. @param count elements of such a piece. */
static int fail_fit(const cast *c, const char *path, const rec_tensor *old, uint64_t first, uint64_t count)
{
    uint64_t good = 0;
    void *room = xmalloc((size_t)count * sizeof(uint64_t));
    double value;

    while (count - good > 1) {
        uint64_t half = good + (count - good) / 2;
        *(tool_edit_read(c->w->s, old, c->dtype, first, half, room) == 0 ? &good : &count) = half;
    }
    free(room);
    return rec_tensor_read(old, REC_DTYPE_F64, first + good, 1, &value) == REC_OK
               ? tool_fail("cast %s: element %" PRIu64 " is %.0f, which does not fit %s", path, first + good, value,
                           rec_dtype_name(c->dtype))
               : tool_fail_library();
}

static int fail_read(const cast *c, const char *path, int why)
{
    if (why == ERANGE && tool_edit_class(c->dtype) == CLASS_BOOL) {
        return tool_fail("cast %s: bool takes 0 and 1, and it holds other values", path);
    }
    if (why == ERANGE) {
        return tool_fail("cast %s: %s takes whole numbers, and it holds others", path, rec_dtype_name(c->dtype));
    }
    return tool_fail_library();
}

/* Counts what a cast loses. What an integer type cannot hold is an error before anything is written. */
static int count_losses(cast *c, const char *path, const rec_tensor *old, const rec_tensor *now)
{
    rec_dtype wide = rec_tensor_dtype(old) == REC_DTYPE_U64 ? REC_DTYPE_U64 : REC_DTYPE_I64;
    bool floats = tool_edit_class(c->dtype) == CLASS_FLOAT,
         were_floats = tool_edit_class(rec_tensor_dtype(old)) == CLASS_FLOAT;
    uint64_t count = rec_tensor_count(old);
    void *first = xmalloc(PIECE * sizeof(uint64_t)), *second = xmalloc(PIECE * sizeof(uint64_t));
    int status = EXIT_OK;

    for (uint64_t done = 0; done < count && status == EXIT_OK; done += PIECE) {
        uint64_t more = count - done < PIECE ? count - done : PIECE;
        int why = tool_edit_read(c->w->s, old, floats ? REC_DTYPE_F64 : c->dtype, done, more, first);
        if (why == EIO && were_floats && rec_error_status() == REC_E_RANGE) {
            status = fail_fit(c, path, old, done, more);
        } else if (why) {
            status = fail_read(c, path, why);
        } else if (floats && ((!were_floats && rec_tensor_read(old, wide, done, more, first) != REC_OK) ||
                              rec_tensor_read(now, REC_DTYPE_F64, done, more, second) != REC_OK)) {
            status = fail_read(c, path, EIO);
        } else if (floats && were_floats) {
            compare_floats(c, path, first, second, more);
        } else if (floats) {
            compare_ints(c, wide, first, second, more);
        }
    }
    free(first);
    free(second);
    return status;
}

static void cast_tensor(cast *c, const char *path, const rec_tensor *old)
{
    rec_dtype from = rec_tensor_dtype(old);

    if (!tool_edit_class(from) || (!c->exact && tool_edit_class(from) != tool_edit_class(c->dtype))) {
        if (c->exact) {
            c->status = tool_fail("cast %s: %s cannot be cast", path, rec_tensor_dtype_name(old));
        }
        c->left++;
        return;
    }
    if (from == c->dtype) {
        return;
    }
    c->status = tool_edit_put(c->w, path, old, c->dtype, rec_tensor_id(old));
    if (c->status == EXIT_OK && !is_wider(from, c->dtype)) {
        c->status = count_losses(c, path, old, rec_value_tensor(rec_value_at(c->w->record, path)));
    }
    if (!c->o->tensors) {
        (void)snprintf(c->from, sizeof c->from, "%s", rec_dtype_name(from));
    } else if (strcmp(c->from, rec_dtype_name(from)) != 0) {
        (void)snprintf(c->from, sizeof c->from, "%ss", tool_edit_class(from) == CLASS_FLOAT ? "float" : "int");
    }
    c->o->tensors++;
    c->o->changed++;
    c->o->elements += rec_tensor_count(old);
    c->o->nbytes += rec_tensor_count(old) * tool_edit_width(c->dtype);
}

/* A number gets another width, or becomes a float. */
static void cast_scalar(cast *c, const char *path, const rec_value *value)
{
    rec_scalar old = rec_value_scalar(value);
    char number[NUMBER_ROOM];
    text typed = {0};
    literal l;

    if (old.kind != REC_KIND_INT && old.kind != REC_KIND_UINT && old.kind != REC_KIND_FLOAT) {
        c->status =
            tool_fail("cast %s: expected a tensor or a number, found %s", path, tool_kind_word(rec_value_kind(value)));
        return;
    }
    if (old.kind == REC_KIND_FLOAT && tool_edit_class(c->dtype) == CLASS_INT && fabs(old.v.f) < 9e15 &&
        old.v.f == (double)(int64_t)old.v.f) {
        tool_text_format(&typed, "%.0f%s", old.v.f, rec_dtype_name(c->dtype));
    } else {
        tool_text_format(&typed, "%s%s", tool_scalar_text(&old, number), rec_dtype_name(c->dtype));
    }
    c->status = tool_edit_literal(&l, typed.at, path);
    if (c->status == EXIT_OK && l.kind != LITERAL_NUMBER) {
        c->status = tool_fail("cast %s: a number cannot be %s", path, rec_dtype_name(c->dtype));
    } else if (c->status == EXIT_OK && rec_set_scalar(c->w->record, path, l.number) != REC_OK) {
        c->status = tool_fail_library();
    }
    if (c->status == EXIT_OK) {
        c->o->rounded +=
            old.kind == REC_KIND_FLOAT && l.number.kind == REC_KIND_FLOAT && old.v.f != l.number.v.f && !isnan(old.v.f);
        c->o->changed++;
    }
    tool_edit_literal_free(&l);
    tool_text_free(&typed);
}

static void cast_leaf(void *user, const char *path, const rec_value *leaf)
{
    cast *c = user;
    const rec_tensor *tensor = rec_value_tensor(leaf);

    if (c->status == EXIT_OK && tensor) {
        cast_tensor(c, path, tensor);
    } else if (c->status == EXIT_OK && c->exact) {
        cast_scalar(c, path, leaf);
    }
}

static void say(cast *c, const char *pattern)
{
    char number[NUMBER_ROOM], all[NUMBER_ROOM];
    outcome *o = c->o;

    if (!o->changed) {
        tool_text_format(&o->said, "nothing to do: %s already", rec_dtype_name(c->dtype));
    } else if (o->tensors) {
        tool_text_format(&o->said, "%s tensor%s %s -> %s", tool_grouped(o->tensors, number), tool_plural(o->tensors),
                         c->from, rec_dtype_name(c->dtype));
    } else {
        tool_text_format(&o->said, "now %s", rec_dtype_name(c->dtype));
    }
    if (c->left) {
        tool_text_format(&o->said, ", %s of other kinds left as %s", tool_grouped(c->left, number),
                         c->left == 1 ? "it is" : "they are");
    }
    if (o->rounded) {
        tool_text_format(&o->said, "; %s", tool_grouped(o->rounded, number));
        tool_text_format(&o->said, " of %s values rounded", tool_grouped(o->elements ? o->elements : o->changed, all));
    }
    if (o->overflowed) {
        tool_text_format(&o->said, ", %s became infinite", tool_grouped(o->overflowed, number));
    }
    if (o->vanished) {
        tool_text_format(&o->said, ", %s became zero", tool_grouped(o->vanished, number));
    }
    if (c->worst && strcmp(c->worst, pattern) != 0) {
        tool_text_put(&o->said, ", first in ");
        tool_text_safe(&o->said, c->worst, strlen(c->worst));
    }
}

int tool_edit_cast(work *w, const step *todo, outcome *o)
{
    const char *const *operands = todo->operands;
    cast c = {.w = w, .dtype = rec_dtype_from_name(operands[1]), .o = o};
    found keys = {0};

    if (!tool_edit_class(c.dtype)) {
        return tool_fail("cast: expected an element type, found \"%s\"\n"
                         "Known: f64, f32, f16, bf16, i64, i32, i16, i8, u64, u32, u16, u8, bool.",
                         operands[1]);
    }
    if ((c.status = tool_edit_find(w->record, operands[0], &keys)) != EXIT_OK) {
        return c.status;
    }
    c.before = tool_edit_before(w);
    c.status = c.before ? EXIT_OK : EXIT_ERROR;
    for (size_t i = 0; i < keys.count && c.status == EXIT_OK; i++) {
        int32_t kind = rec_value_kind(rec_value_at(c.before, keys.at[i]));
        c.exact = keys.exact && kind != REC_KIND_LIST && kind != REC_KIND_MAP && kind != REC_KIND_VARIANT;
        tool_edit_leaves(c.before, keys.at[i], cast_leaf, &c);
    }
    if (c.status == EXIT_OK && !o->changed && c.left) {
        c.status =
            tool_fail("cast %s: no tensor there is of %s's kind\nTensors of another kind are cast one by one, by "
                      "their whole key.",
                      operands[0], operands[1]);
    }
    if (c.status == EXIT_OK) {
        say(&c, operands[0]);
    }
    tool_edit_found_free(&keys);
    free(c.worst);
    return c.status;
}
