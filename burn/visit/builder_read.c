/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Bytes that the builder reads at once, since their source does not keep them or a caller gets a pointer to them. */
#include "burn/visit/builder_private.h"

#include "core/io/io.h"

lr_data *lr_builder_read(lr_builder *b, const rec_blob *blob)
{
    lr_pages pages = {.allocator = b->job->allocator};
    rec_source *source;
    lr_data *data = NULL;
    lr_source_step_end(b->job); /* from here on it is no header alone that is read */
    if (!lr_budget_take(&b->job->budget, blob->length)) {
        (void)lr_fail_budget(b->job, "data");
    } else if (!lr_pages_grow(&pages, blob->length ? blob->length : 1)) {
        (void)lr_fail_memory(b->job, blob->length);
    } else if (rec_blob_read(b->job, blob, 0, pages.data, blob->length) == REC_OK) {
        source = lr_source_kept(b->job, &pages, blob->length);
        if (source) {
            data = lr_data_lent(b->record, source, lr_source_in_memory(source, 0, blob->length), blob->length,
                                REC_UNKNOWN);
            lr_source_release(source);
            if (!data) {
                (void)lr_fail_arena(b->job, &b->record->arena, sizeof *data);
            }
        }
    }
    lr_pages_free(&pages);
    return data;
}

int32_t lr_builder_settle(lr_builder *b, rec_value *value)
{
    const lr_data *data = value->v.bytes;
    rec_blob blob = {.size = sizeof blob,
                     .kind = REC_BLOB_RANGE,
                     .length = data->size,
                     .source = data->source,
                     .offset = data->offset};
    if (data->data || !data->size) {
        return REC_OK;
    }
    if (data->source == b->job->absent) {
        b->job->missed = true;
        return REC_OK;
    }
    value->v.bytes = lr_builder_read(b, &blob);
    return value->v.bytes ? REC_OK : b->job->error.status;
}
