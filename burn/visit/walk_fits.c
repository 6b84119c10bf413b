/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Checks a record against its type: walks it as a writer with that type does, and writes nothing. */
#include "burn/visit/event.h"
#include "burn/visit/walk_private.h"

static int32_t pass(lr_listener *self, const lr_event *event)
{
    (void)self, (void)event;
    return REC_OK;
}

int32_t lr_check_type(rec_job *job, const rec_record *record, const rec_value *value, const rec_layout *layout)
{
    lr_listener nobody = {.event = pass};
    lr_walk walk = {.job = job,
                    .record = record,
                    .precision = REC_PRECISION_KEEP,
                    .typed = lr_walk_typed,
                    .visitor = lr_listener_visitor,
                    .self = &nobody,
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
