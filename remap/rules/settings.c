/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Values of a model's configuration by their paths, as whatever recorder reads such files reports them. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/record/record.h"
#include "remap/rules/rules.h"

/* Appends a name to the path of the innermost container. One that is too long has no path, nor has what lies below. */
static void name(lr_setting_reader *r, const char *text, size_t length)
{
    size_t begin = r->depth ? r->levels[r->depth - 1].length : 0;
    bool dot = begin > 0, fits = begin + dot + length < LR_SETTING_PATH && (begin || r->depth < 2);
    if (fits && dot) {
        r->path[begin++] = '.';
    }
    if (fits) {
        memcpy(r->path + begin, text, length);
    }
    r->length = fits ? begin + length : 0;
    r->path[r->length] = '\0';
}

/* Before each value: an element of a list has its number as its name. */
static void step(lr_setting_reader *r)
{
    lr_setting_level *in = r->depth ? &r->levels[r->depth - 1] : NULL;
    char digits[24];
    if (in && in->list) {
        (void)snprintf(digits, sizeof digits, "%" PRIu64, in->index++);
        name(r, digits, strlen(digits));
    }
}

static int32_t on_scalar(void *self, uint64_t at, const rec_scalar *scalar)
{
    lr_setting_reader *r = self;
    (void)at;
    step(r);
    return r->length ? r->take(r->user, r->path, r->lists > 0, scalar) : REC_OK;
}

static int32_t on_numbers(void *self, uint64_t at, rec_dtype dtype, const void *data, uint64_t count)
{
    uint32_t width = rec_dtype_bits(dtype) / 8;
    uint64_t element = 0;
    int32_t status = REC_OK;
    for (uint64_t i = 0; width && i < count && status == REC_OK; i++) {
        lr_packed one = {.count = 1, .dtype = dtype, .data = {.data = (const uint8_t *)&element, .size = width}};
        rec_scalar scalar;
        memcpy(&element, (const uint8_t *)data + i * width, width);
        lr_swap_if_big(&element, width, 1);
        scalar = lr_packed_number(&one, 0);
        status = on_scalar(self, at, &scalar);
    }
    return status;
}

static int32_t on_bytes(void *self, uint64_t at, const rec_blob *blob)
{
    (void)at;
    (void)blob;
    step(self);
    return REC_OK;
}

static int32_t open_level(lr_setting_reader *r, bool list)
{
    step(r);
    if (r->depth == LR_SETTING_DEPTH) {
        return rec_fail(r->job, REC_E_LIMIT, REC_UNKNOWN, "nested deeper than %d levels: no configuration",
                        LR_SETTING_DEPTH);
    }
    r->levels[r->depth] = (lr_setting_level){.length = r->depth ? r->length : 0, .list = list};
    r->depth++;
    r->lists += list;
    return REC_OK;
}

static int32_t on_list(void *self, uint64_t at, int32_t form, uint64_t count)
{
    (void)at;
    (void)form;
    (void)count;
    return open_level(self, true);
}

static int32_t on_map(void *self, uint64_t at, int32_t form, uint64_t count)
{
    (void)at;
    (void)form;
    (void)count;
    return open_level(self, false);
}

static int32_t on_key(void *self, uint64_t at, const rec_scalar *key)
{
    bool text = key->kind == REC_KIND_STRING && !memchr(key->text, '\0', (size_t)key->v.length);
    (void)at;
    name(self, text ? key->text : "", text ? (size_t)key->v.length : LR_SETTING_PATH);
    return REC_OK;
}

static int32_t on_variant(void *self, uint64_t at, uint64_t index, const rec_scalar *variant, int32_t payload)
{
    (void)index;
    (void)variant;
    (void)payload;
    return on_list(self, at, 0, 0);
}

static int32_t on_end(void *self, uint64_t at)
{
    lr_setting_reader *r = self;
    (void)at;
    r->depth--;
    r->lists -= r->levels[r->depth].list;
    return REC_OK;
}

static int32_t on_option(void *self, uint64_t at, int32_t present)
{
    (void)self;
    (void)at;
    (void)present;
    return REC_OK;
}

const rec_visitor lr_setting_visitor = {.size = sizeof lr_setting_visitor,
                                        .scalar = on_scalar,
                                        .numbers = on_numbers,
                                        .bytes = on_bytes,
                                        .list_begin = on_list,
                                        .map_begin = on_map,
                                        .key = on_key,
                                        .variant_begin = on_variant,
                                        .end = on_end,
                                        .option = on_option};
