/* SPDX-License-Identifier: MIT OR Apache-2.0
 * All tensors of a record as one array. */
#include "core/config/config.h"
#include "core/record/record.h"

#include <string.h>

/* A table outlives nothing of its record but the context. */
struct lr_table {
    rec_table table; /* first: what callers have is a pointer to it */
    rec_context *context;
    lr_arena arena;
};

static bool is_aligned(const void *data, rec_dtype dtype)
{
    uint32_t bits = rec_dtype_bits(dtype);
    return bits && (uintptr_t)data % (bits / 8) == 0;
}

static bool fill(lr_arena *arena, rec_row *row, const char *path, const rec_tensor *tensor)
{
    uint64_t length = strlen(path);
    row->path = lr_arena_text(arena, path, length);
    row->path_length = length;
    row->tensor = tensor;
    row->shape = tensor->shape;
    row->id = tensor->id;
    row->data = rec_tensor_at_hand(tensor, &row->data_size);
    row->count = tensor->count;
    row->nbytes = rec_tensor_nbytes(tensor);
    row->offset = rec_tensor_offset(tensor);
    row->dtype = tensor->dtype;
    row->stored_dtype = tensor->stored;
    row->rank = tensor->rank;
    row->flags = (tensor->assumed ? REC_ROW_ASSUMED : 0U) | (row->dtype != row->stored_dtype ? REC_ROW_CONVERTED : 0U) |
                 (row->data && is_aligned(row->data, row->stored_dtype) ? REC_ROW_ALIGNED : 0U);
    return row->path != NULL;
}

static bool fill_all(struct lr_table *t, rec_row *rows, const rec_record *record)
{
    rec_iterator *iterator = rec_iterate(record);
    const rec_tensor *tensor;
    const char *path;
    bool good = iterator != NULL;
    while (good && (tensor = rec_iterator_next_tensor(iterator, &path))) {
        good = fill(&t->arena, &rows[t->table.count++], path, tensor);
    }
    good = good && rec_error_status() == REC_OK; /* memory for a path may have lacked */
    rec_iterator_free(iterator);
    return good;
}

const rec_table *rec_record_table(const rec_record *record)
{
    rec_job job;
    struct lr_table *t;
    rec_row *rows = NULL;
    uint64_t count, size;
    if (LR_NULL(record)) {
        return NULL;
    }
    count = lr_value_tensors(&record->root, NULL);
    size = count < UINT64_MAX / sizeof *rows ? count * sizeof *rows : UINT64_MAX;
    t = lr_zalloc(&record->context->allocator, sizeof *t);
    if (t) {
        lr_arena_init(&t->arena, &record->context->allocator);
        t->context = lr_context_retain(record->context);
        t->table.size = sizeof t->table;
        t->table.row_size = sizeof *rows;
        t->table.rows = rows = lr_arena_alloc(&t->arena, size ? size : 1, 8);
    }
    if (!rows || !fill_all(t, rows, record)) {
        rec_table_free(t ? &t->table : NULL);
        lr_job_begin(&job, record->context, "list", NULL);
        (void)lr_fail_memory(&job, size);
        (void)lr_job_end(&job);
        return NULL;
    }
    lr_publish_ok();
    return &t->table;
}

void rec_table_free(const rec_table *table)
{
    struct lr_table *t = (struct lr_table *)table;
    if (t) {
        rec_context *context = t->context;
        lr_arena_free(&t->arena);
        lr_release(&context->allocator, t);
        lr_context_release(context);
    }
}
