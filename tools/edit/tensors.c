/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Tensors computed from others on demand, or made from numbers. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/little.h"
#include "tools/edit/edit_private.h"

enum { PIECE = 64 * 1024 }; /* elements */

int tool_edit_class(rec_dtype dtype)
{
    switch (tool_exact_dtype(dtype)) {
    case REC_DTYPE_F64:
        return CLASS_FLOAT;
    case REC_DTYPE_BOOL:
        return CLASS_BOOL;
    case REC_DTYPE_NONE:
        return 0;
    default:
        return CLASS_INT;
    }
}

size_t tool_edit_width(rec_dtype dtype)
{
    return rec_dtype_bits(dtype) / 8;
}

/* -------------------------------------------------------------------------------------------------- conversion -- */

/* By the library, which knows how numbers become others. @return 0 or an errno; the library's error says more. */
static int encode(session *s, rec_dtype from, const void *numbers, uint64_t count, rec_dtype dtype, void *target)
{
    rec_record *scratch = rec_record_new(s->context);
    const rec_tensor *tensor;
    rec_tensor_spec spec = {.size = sizeof spec,
                            .dtype = from,
                            .rank = 1,
                            .ownership = REC_TAKE,
                            .shape = &count,
                            .data_size = count * tool_edit_width(from)};
    void *copy = xmalloc((size_t)spec.data_size);
    int status = EIO;

    if (scratch) {
        memcpy(copy, numbers, (size_t)spec.data_size);
        lr_to_little(copy, (uint32_t)tool_edit_width(from), count * tool_edit_width(from));
        spec.data = copy;
        copy = NULL;
        if (rec_set_tensor(scratch, "numbers", &spec) == REC_OK && (tensor = rec_tensor_at(scratch, "numbers")) &&
            rec_tensor_read(tensor, dtype, 0, count, target) == REC_OK) {
            status = 0;
        }
    }
    free(copy);
    rec_record_free(scratch);
    return status;
}

int tool_edit_encode(session *s, const char *key, rec_dtype from, const void *numbers, uint64_t count, rec_dtype dtype,
                     void *target)
{
    int status = encode(s, from, numbers, count, dtype, target) == 0
                     ? EXIT_OK
                     : tool_fail("set %s: %s", key, rec_error_message());
    double *back = status == EXIT_OK && tool_edit_class(dtype) == CLASS_FLOAT && count
                       ? xmalloc((size_t)count * sizeof *back)
                       : NULL;

    /* A number that becomes infinite is an error. */
    if (back && encode(s, dtype, target, count, REC_DTYPE_F64, back) != 0) {
        status = tool_fail_library();
    }
    for (uint64_t i = 0; back && status == EXIT_OK && i < count; i++) {
        bool meant = from == REC_DTYPE_F64 && isinf(((const double *)numbers)[i]);
        if (isinf(back[i]) && !meant) {
            status = tool_fail("set %s: number %llu of those given is too large for %s", key, (unsigned long long)i + 1,
                               rec_dtype_name(dtype));
        }
    }
    free(back);
    return status;
}

/* Converts whole floats to 64-bit ints. @return false for other floats. */
static bool whole(const double *from, int64_t *to, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        if (!(from[i] >= -9223372036854775808.0 && from[i] < 9223372036854775808.0) ||
            from[i] != (double)(int64_t)from[i]) {
            return false;
        }
        to[i] = (int64_t)from[i];
    }
    return true;
}

/* At most a PIECE of elements as another class. @param room for as many numbers of 64 bits, twice. */
static int read_piece(session *s, const rec_tensor *tensor, rec_dtype dtype, uint64_t first, uint64_t count,
                      void *target, uint64_t *room)
{
    int from = tool_edit_class(rec_tensor_dtype(tensor)), to = tool_edit_class(dtype);
    rec_dtype wide = rec_tensor_dtype(tensor) == REC_DTYPE_U64 ? REC_DTYPE_U64 : REC_DTYPE_I64;
    double *floats = (double *)room;
    int64_t *ints = (int64_t *)(room + PIECE);

    if (from == CLASS_FLOAT) {
        if (rec_tensor_read(tensor, REC_DTYPE_F64, first, count, floats) != REC_OK) {
            return EIO;
        }
        if (!whole(floats, ints, count)) {
            return ERANGE;
        }
        wide = REC_DTYPE_I64;
    } else if (from == CLASS_BOOL) {
        uint8_t *bools = (uint8_t *)room;
        if (rec_tensor_read(tensor, REC_DTYPE_BOOL, first, count, bools) != REC_OK) {
            return EIO;
        }
        for (uint64_t i = 0; i < count; i++) {
            ints[i] = bools[i] != 0;
        }
        wide = REC_DTYPE_I64;
    } else if (rec_tensor_read(tensor, wide, first, count, ints) != REC_OK) {
        return EIO;
    }
    if (to == CLASS_INT) {
        return encode(s, wide, ints, count, dtype, target);
    }
    if (to == CLASS_FLOAT) {
        for (uint64_t i = 0; i < count; i++) {
            floats[i] = wide == REC_DTYPE_U64 ? (double)(uint64_t)ints[i] : (double)ints[i];
        }
        return encode(s, REC_DTYPE_F64, floats, count, dtype, target);
    }
    for (uint64_t i = 0; i < count; i++) {
        if (ints[i] != 0 && ints[i] != 1) {
            return ERANGE;
        }
        if (dtype == REC_DTYPE_BOOL32) {
            ((uint32_t *)target)[i] = (uint32_t)ints[i];
        } else {
            ((uint8_t *)target)[i] = (uint8_t)ints[i];
        }
    }
    return 0;
}

int tool_edit_read(session *s, const rec_tensor *tensor, rec_dtype dtype, uint64_t first, uint64_t count, void *target)
{
    size_t width = tool_edit_width(dtype);
    uint64_t *room;
    int status = 0;

    if (tool_edit_class(rec_tensor_dtype(tensor)) == tool_edit_class(dtype)) {
        return rec_tensor_read(tensor, dtype, first, count, target) == REC_OK ? 0 : EIO;
    }
    room = malloc(2 * PIECE * sizeof *room);
    if (!room) {
        return ENOMEM;
    }
    for (uint64_t done = 0; done < count && status == 0; done += PIECE) {
        uint64_t more = count - done < PIECE ? count - done : PIECE;
        status = read_piece(s, tensor, dtype, first + done, more, (uint8_t *)target + done * width, room);
    }
    free(room);
    return status;
}

/* ---------------------------------------------------------------------------------------------------- produced -- */

/* A tensor that is made of another one. */
typedef struct made {
    session *s;
    const rec_tensor *from;
    rec_dtype dtype;
    size_t width;
} made;

static int32_t produce(void *user, uint64_t offset, void *target, uint64_t size)
{
    const made *m = user;
    uint64_t first = offset / m->width, skipped = offset % m->width;
    uint64_t last = (offset + size + m->width - 1) / m->width;
    uint8_t *whole_elements;
    int status;

    if (skipped == 0 && size % m->width == 0) {
        status = tool_edit_read(m->s, m->from, m->dtype, first, last - first, target);
        lr_to_little(target, (uint32_t)m->width, (last - first) * m->width);
        return status;
    }
    whole_elements = malloc((size_t)((last - first) * m->width));
    if (!whole_elements) {
        return ENOMEM;
    }
    status = tool_edit_read(m->s, m->from, m->dtype, first, last - first, whole_elements);
    lr_to_little(whole_elements, (uint32_t)m->width, (last - first) * m->width);
    memcpy(target, whole_elements + skipped, (size_t)size);
    free(whole_elements);
    return status;
}

static void release(void *user, const void *data)
{
    (void)data;
    free(user);
}

int tool_edit_put(work *w, const char *path, const rec_tensor *from, rec_dtype dtype, const char *id)
{
    made *m = xmalloc(sizeof *m);
    rec_tensor_spec spec = {.size = sizeof spec,
                            .dtype = dtype,
                            .rank = rec_tensor_rank(from),
                            .ownership = REC_PRODUCE,
                            .shape = rec_tensor_shape(from),
                            .id = id,
                            .release = release,
                            .user = m,
                            .produce = produce};

    *m = (made){.s = w->s, .from = from, .dtype = dtype, .width = tool_edit_width(dtype)};
    spec.data_size = rec_tensor_count(from) * m->width;
    return rec_set_tensor(w->record, path, &spec) == REC_OK ? EXIT_OK : tool_fail_library();
}

int tool_edit_put_elements(work *w, const char *path, rec_dtype dtype, uint32_t rank, const uint64_t *shape,
                           void *elements, const char *id)
{
    uint64_t count = 1;
    rec_tensor_spec spec = {.size = sizeof spec,
                            .dtype = dtype,
                            .rank = rank,
                            .ownership = REC_TAKE,
                            .shape = shape,
                            .data = elements,
                            .id = id};

    for (uint32_t i = 0; i < rank; i++) {
        count *= shape[i];
    }
    lr_to_little(elements, (uint32_t)tool_edit_width(dtype), count * tool_edit_width(dtype));
    spec.data_size = count * tool_edit_width(dtype);
    return rec_set_tensor(w->record, path, &spec) == REC_OK ? EXIT_OK : tool_fail_library();
}

/* --------------------------------------------------------------------------------------------------------- ids -- */

int tool_edit_new_id(const work *w, const char **id)
{
    summary sums;

    *id = NULL;
    if (tool_is_of_others(w->record)) {
        return EXIT_OK;
    }
    if (tool_summarise(w->record, &sums) != EXIT_OK) {
        return EXIT_ERROR;
    }
    *id = sums.ids || !sums.tensors ? "" : NULL;
    tool_summary_free(&sums);
    return EXIT_OK;
}
