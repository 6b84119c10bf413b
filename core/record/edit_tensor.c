/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Editing a record: building tensors and their ids. */
#include <stdlib.h>
#include <string.h>

#include "core/io/io.h"
#include "core/record/edit_private.h"

/* A new parameter id as Burn 0.15 and later make them: of a random u64, 13 characters. */
static bool new_id(edit *e, char id[LR_ID_ROOM])
{
    if (!e->random_left) {
        if (!lr_system_random(e->random, sizeof e->random, true)) {
            return false;
        }
        e->random_left = sizeof e->random;
    }
    lr_id_base32(e->random + sizeof e->random - e->random_left, 8, id);
    e->random_left -= 8;
    return true;
}

static void free_taken(void *user, const void *data)
{
    (void)user;
    free((void *)(uintptr_t)data); /* sheds the const: it was given away */
}

/* What 0.1's program knows of a spec. */
#define SPEC_LEAST (offsetof(rec_tensor_spec, id) + sizeof(((rec_tensor_spec *)0)->id))

static bool spec_fits(const rec_tensor_spec *spec)
{
    return spec->size >= SPEC_LEAST && spec->size <= LR_STRUCT_MOST;
}

rec_tensor_spec lr_spec_known(const rec_tensor_spec *spec)
{
    rec_tensor_spec known = {0};
    if (spec_fits(spec)) {
        memcpy(&known, spec, spec->size < sizeof known ? spec->size : sizeof known);
    }
    return known;
}

void lr_spec_give_back(const rec_tensor_spec *spec)
{
    lr_call call;
    if (spec->ownership == REC_TAKE) {
        free_taken(NULL, spec->data);
    } else if (spec->release) {
        lr_call_begin(&call, NULL, LR_CALL_PROGRAM, NULL);
        spec->release(spec->user, spec->data);
        lr_call_end(&call);
    }
}

/* The elements and bytes that a shape asks for. */
static int32_t check_shape(rec_job *job, const char *path, rec_dtype dtype, const uint64_t *shape, uint32_t rank,
                           uint64_t *count, uint64_t *size)
{
    char text[160];
    if (rank > LR_RANK_MOST) {
        return lr_fail_path(job, REC_E_ARGUMENT, path, "a tensor of rank %u; at most %d are supported", (unsigned)rank,
                            LR_RANK_MOST);
    }
    if (rank && !shape) {
        return lr_fail_path(job, REC_E_ARGUMENT, path, "a tensor of rank %u needs a shape", (unsigned)rank);
    }
    if (!lr_shape_count(shape, rank, count) || !lr_tensor_size(dtype, *count, size)) {
        return lr_fail_path(job, REC_E_ARGUMENT, path, "the shape %s has more elements than can be counted",
                            lr_shape_words(text, sizeof text, shape, rank));
    }
    return REC_OK;
}

int32_t lr_spec_check(edit *e, const char *path, const rec_tensor_spec *spec, uint64_t *count)
{
    uint64_t size = 0;
    char text[160], need[32], have[32];
    if (!spec->size || spec->ownership < REC_COPY || spec->ownership > REC_PRODUCE) {
        return lr_fail_path(&e->job, REC_E_ARGUMENT, path, "the tensor's `size` or `ownership` is not set");
    }
    if (rec_dtype_bits(spec->dtype) == 0) {
        return lr_fail_path(&e->job, REC_E_ARGUMENT, path, "a tensor cannot be made of dtype %s",
                            rec_dtype_name(spec->dtype));
    }
    if (check_shape(&e->job, path, spec->dtype, spec->shape, spec->rank, count, &size) != REC_OK) {
        return e->job.error.status;
    }
    if (size != spec->data_size) {
        return lr_fail_path(&e->job, REC_E_ARGUMENT, path, "%s %s takes %s bytes, but %s were given",
                            rec_dtype_name(spec->dtype), lr_shape_words(text, sizeof text, spec->shape, spec->rank),
                            lr_group_digits(size, need, sizeof need),
                            lr_group_digits(spec->data_size, have, sizeof have));
    }
    if (size && spec->ownership == REC_PRODUCE && !spec->produce) {
        return lr_fail_path(&e->job, REC_E_ARGUMENT, path, "a tensor of REC_PRODUCE needs `produce`");
    }
    if (size && !spec->data && spec->ownership != REC_PRODUCE) {
        return lr_fail_path(&e->job, REC_E_ARGUMENT, path, "the tensor has no data");
    }
    return REC_OK;
}

/* The bytes of a spec. @param taken (out) they were taken or given back, also if it fails. */
static lr_data *make_data(edit *e, const rec_tensor_spec *spec, bool *taken)
{
    rec_record *record = e->record;
    lr_data *data = NULL;
    rec_source *source;
    bool made = spec->ownership == REC_PRODUCE, take = spec->ownership == REC_TAKE;
    if (!spec->data_size || spec->ownership == REC_COPY) { /* no data: no elements */
        return lr_data_copy(record, spec->data, spec->data_size);
    }
    source = made ? lr_source_produced(&e->job, spec)
                  : lr_source_owned(&record->context->allocator, spec->data, spec->data_size,
                                    take ? free_taken : spec->release, spec->user);
    if (source) {
        *taken = true;
        data = lr_data_lent(record, source, made ? NULL : spec->data, spec->data_size, made ? 0 : REC_UNKNOWN);
        lr_source_release(source);
    }
    return data;
}

rec_tensor *lr_spec_tensor(edit *e, const char *path, const rec_tensor_spec *spec)
{
    rec_record *record = e->record;
    rec_tensor *tensor = NULL;
    uint64_t count = 0;
    char id[LR_ID_ROOM];
    const char *name = spec->id;
    bool taken = false;
    if (lr_job_failed(&e->job) || lr_spec_check(e, path, spec, &count) != REC_OK) {
        goto failed;
    }
    if (name && !*name) {
        if (!new_id(e, id)) {
            (void)lr_fail_path(&e->job, REC_E_IO, path, "the system gave no random bytes for an id");
            goto failed;
        }
        name = id;
    } else if (name && lr_id_fault(name, strlen(name))) {
        (void)lr_fail_path(&e->job, REC_E_ARGUMENT, path, "the tensor's id %s", lr_id_fault(name, strlen(name)));
        goto failed;
    }
    tensor = lr_tensor_new(record, spec->dtype, spec->shape, spec->rank);
    if (!tensor) {
        (void)lr_edit_no_memory(e);
        goto failed;
    }
    tensor->id = name ? lr_arena_text(&record->arena, name, strlen(name)) : NULL;
    tensor->anonymous = !name && spec->parameter;
    tensor->data = make_data(e, spec, &taken);
    if (!tensor->data || (name && !tensor->id)) {
        (void)lr_edit_no_memory(e);
        goto failed;
    }
    if (!taken) {
        lr_spec_give_back(spec);
    }
    return tensor;
failed:
    if (!taken) {
        lr_spec_give_back(spec);
    }
    return NULL;
}

rec_status rec_set_tensor(rec_record *record, const char *path, const rec_tensor_spec *spec)
{
    edit e;
    rec_tensor_spec known;
    rec_value value = {.kind = REC_KIND_TENSOR};
    if (LR_NULL(spec)) {
        return REC_E_ARGUMENT;
    }
    known = lr_spec_known(spec);
    if (LR_NULL(record) || LR_NULL(path)) {
        lr_spec_give_back(&known);
        return REC_E_ARGUMENT;
    }
    lr_edit_begin(&e, record, path);
    value.v.tensor = lr_spec_tensor(&e, path, &known);
    return lr_edit_put(&e, path, &value);
}

rec_status rec_set_f32(rec_record *record, const char *path, const float *data, uint32_t rank, const uint64_t *shape)
{
    edit e;
    rec_value value = {.kind = REC_KIND_TENSOR};
    uint64_t count = 0, size = 0;
    rec_tensor_spec spec = {
        .size = sizeof spec, .dtype = REC_DTYPE_F32, .rank = rank, .ownership = REC_TAKE, .shape = shape, .id = ""};
    if (LR_NULL(record) || LR_NULL(path) || (rank && LR_NULL(shape)) ||
        (rank <= LR_RANK_MOST && lr_shape_count(shape, rank, &count) && count && LR_NULL(data))) {
        return REC_E_ARGUMENT;
    }
    lr_edit_begin(&e, record, path);
    if (check_shape(&e.job, path, spec.dtype, shape, rank, &count, &size) == REC_OK && size) {
        void *little = malloc((size_t)size);
        if (little) {
            memcpy(little, data, (size_t)size);
            lr_swap_if_big(little, 4, count);
            spec.data = little;
            spec.data_size = size;
        } else {
            (void)lr_edit_no_memory(&e);
        }
    }
    value.v.tensor = lr_spec_tensor(&e, path, &spec);
    return lr_edit_put(&e, path, &value);
}

rec_status rec_set_id(rec_record *record, const char *path, const char *id)
{
    edit e;
    rec_value *value;
    if (LR_NULL(record) || LR_NULL(path)) {
        return REC_E_ARGUMENT;
    }
    lr_edit_begin(&e, record, path);
    value = lr_at(record, path);
    if (!value) {
        (void)lr_fail_no_key(&e.job, record, path);
    } else if (value->kind != REC_KIND_TENSOR) {
        (void)lr_fail_path(&e.job, REC_E_NOT_FOUND, path, "there is %s here, not a tensor", lr_kind_words(value->kind));
    } else if (!id) {
        value->v.tensor->id = NULL;
        value->v.tensor->anonymous = false;
    } else if (lr_id_fault(id, strlen(id))) {
        (void)lr_fail_path(&e.job, REC_E_ARGUMENT, path, "the tensor's id %s", lr_id_fault(id, strlen(id)));
    } else {
        const char *copy = lr_arena_text(&record->arena, id, strlen(id));
        if (copy) {
            value->v.tensor->id = copy;
            value->v.tensor->id_made = false;
        } else {
            (void)lr_edit_no_memory(&e);
        }
    }
    if (!lr_job_failed(&e.job) && lr_encoding_of(value->v.tensor)->numbers) {
        rec_tensor *numbers = value->v.tensor->encoding->numbers;
        numbers->id = value->v.tensor->id;
        numbers->anonymous = value->v.tensor->anonymous;
        numbers->id_made = value->v.tensor->id_made;
    }
    return lr_edit_end(&e);
}
