/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Checks a record against its type: walks it as a writer with that type does, and writes nothing. */
#include "burn/visit/walk_private.h"

static int32_t skip_scalar(void *self, uint64_t at, const rec_scalar *scalar)
{
    (void)self;
    (void)at;
    (void)scalar;
    return REC_OK;
}

static int32_t skip_begin(void *self, uint64_t at, int32_t form, uint64_t count)
{
    (void)self;
    (void)at;
    (void)form;
    (void)count;
    return REC_OK;
}

static int32_t skip_variant(void *self, uint64_t at, uint64_t index, const rec_scalar *name, int32_t payload)
{
    (void)self;
    (void)at;
    (void)index;
    (void)name;
    (void)payload;
    return REC_OK;
}

static int32_t skip_end(void *self, uint64_t at)
{
    (void)self;
    (void)at;
    return REC_OK;
}

static int32_t skip_tensor(void *self, uint64_t at, const rec_tensor_event *tensor)
{
    (void)self;
    (void)at;
    (void)tensor;
    return REC_OK;
}

static const rec_visitor nobody = {.size = sizeof(rec_visitor),
                                   .scalar = skip_scalar,
                                   .list_begin = skip_begin,
                                   .map_begin = skip_begin,
                                   .key = skip_scalar,
                                   .variant_begin = skip_variant,
                                   .end = skip_end,
                                   .tensor = skip_tensor};

int32_t lr_check_type(rec_job *job, const rec_record *record, const rec_value *value, const rec_layout *layout)
{
    lr_walk walk = {.job = job,
                    .record = record,
                    .precision = REC_PRECISION_KEEP,
                    .typed = lr_walk_typed,
                    .visitor = nobody,
                    .tensors = true, /* whose elements are not read */
                    .again = true,   /* nothing is lost: notes are not made */
                    .path_room = sizeof walk.near};
    lr_walk *outer = job->walk;
    int32_t status;
    walk.path = walk.near;
    job->walk = &walk;
    job->where = lr_walk_where;
    job->where_user = &walk;
    status = lr_walk_typed(&walk, value, layout);
    job->where = NULL;
    job->where_user = NULL;
    job->walk = outer;
    if (walk.path != walk.near) {
        lr_release(job->allocator, walk.path);
    }
    return status;
}
