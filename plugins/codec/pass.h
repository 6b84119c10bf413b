/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Functions of a visitor that let an event pass: of a walk that looks at other events. */
#ifndef LR_CODEC_PASS_H
#define LR_CODEC_PASS_H

#include <librecord/plugin.h>

static inline int32_t lr_pass_metadata(void *self, uint64_t at, const rec_scalar *key, const rec_scalar *value)
{
    (void)self, (void)at, (void)key, (void)value;
    return REC_OK;
}

/** Of keys and of the names of metadata, too. */
static inline int32_t lr_pass_scalar(void *self, uint64_t at, const rec_scalar *scalar)
{
    (void)self, (void)at, (void)scalar;
    return REC_OK;
}

static inline int32_t lr_pass_bytes(void *self, uint64_t at, const rec_blob *blob)
{
    (void)self, (void)at, (void)blob;
    return REC_OK;
}

/** Of lists and maps. */
static inline int32_t lr_pass_begin(void *self, uint64_t at, int32_t form, uint64_t count)
{
    (void)self, (void)at, (void)form, (void)count;
    return REC_OK;
}

static inline int32_t lr_pass_end(void *self, uint64_t at)
{
    (void)self, (void)at;
    return REC_OK;
}

/** Of a format that has no place for the types of metadata. */
static inline int32_t lr_pass_list_of(void *self, uint64_t at, const char *type)
{
    (void)self, (void)at, (void)type;
    return REC_OK;
}

static inline int32_t lr_pass_numbers(void *self, uint64_t at, rec_dtype dtype, const void *data, uint64_t count)
{
    (void)self, (void)at, (void)dtype, (void)data, (void)count;
    return REC_OK;
}

static inline int32_t lr_pass_variant(void *self, uint64_t at, uint64_t index, const rec_scalar *name, int32_t payload)
{
    (void)self, (void)at, (void)index, (void)name, (void)payload;
    return REC_OK;
}

static inline int32_t lr_pass_option(void *self, uint64_t at, int32_t present)
{
    (void)self, (void)at, (void)present;
    return REC_OK;
}

/** A visitor that looks at tensors alone. */
static inline rec_visitor lr_pass_all_but(int32_t (*tensor)(void *self, uint64_t at, const rec_tensor_event *event))
{
    return (rec_visitor){.size = sizeof(rec_visitor),
                         .metadata = lr_pass_metadata,
                         .scalar = lr_pass_scalar,
                         .numbers = lr_pass_numbers,
                         .bytes = lr_pass_bytes,
                         .list_begin = lr_pass_begin,
                         .map_begin = lr_pass_begin,
                         .key = lr_pass_scalar,
                         .variant_begin = lr_pass_variant,
                         .end = lr_pass_end,
                         .option = lr_pass_option,
                         .tensor = tensor,
                         .metadata_value = lr_pass_scalar,
                         .list_of = lr_pass_list_of};
}

#endif
