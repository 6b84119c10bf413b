/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The builder: events to a record. The events are in order (guard.c). It packs runs of numbers, and knows at any time
 * where it is. */
#include "burn/visit/builder_private.h"

#include "core/io/io.h"

/* ------------------------------------------------------------------------------------------------------ events -- */

/* Whether the open list may be the values of a V1 tensor, where JSON has null for NaN and infinities: such lists stay
 * packed, however many there are. */
static bool in_v1_values(const lr_builder *b)
{
    const lr_frame *f = b->depth > 1 ? &b->frames[b->depth - 1] : NULL;
    return f && f->kind == REC_KIND_LIST && f[-1].kind == REC_KIND_MAP && lr_value_is(&f[-1].key, "value") &&
           b->burn.minor < LR_BURN_V2 && (f->run || f->count == 0);
}

static int32_t on_scalar(void *self, uint64_t at, const rec_scalar *scalar)
{
    lr_builder *b = self;
    rec_value value;
    b->at = at;
    if (scalar->kind == REC_KIND_NIL && in_v1_values(b)) {
        lr_frame *f = &b->frames[b->depth - 1];
        int added = lr_runner_add_nil(b->job, &b->runner);
        if (added != 0) {
            f->run = true;
            return added > 0 ? REC_OK : b->job->error.status;
        }
    }
    if (!lr_from_scalar(&b->record->arena, scalar, &value)) {
        return lr_fail_arena(b->job, &b->record->arena, scalar->kind == REC_KIND_STRING ? scalar->v.length : 1);
    }
    return lr_builder_emit(b, value);
}

static int32_t on_numbers(void *self, uint64_t at, rec_dtype dtype, const void *data, uint64_t count)
{
    lr_builder *b = self;
    lr_frame *f = &b->frames[b->depth - 1];
    const uint8_t *from = data;
    uint32_t width = rec_dtype_bits(dtype) / 8;
    b->at = at;
    if (!count) {
        return REC_OK;
    }
    b->owed = false;
    if (f->run || f->count == 0) {
        b->runner.expected = f->announced != REC_UNKNOWN ? f->announced : 0;
        int added = lr_runner_add(b->job, &b->runner, dtype, data, count);
        if (added != 0) {
            f->run = true;
            return added > 0 ? REC_OK : b->job->error.status;
        }
        if (lr_builder_unpack(b, f) != REC_OK) {
            return b->job->error.status;
        }
    }
    for (uint64_t i = 0; i < count; i++) {
        rec_scalar number = lr_host_element(dtype, from + i * width);
        rec_value value;
        if (number.kind == REC_KIND_INT && number.v.i >= 0) {
            number.kind = REC_KIND_UINT;
        }
        if (number.kind != REC_KIND_FLOAT) {
            number.bits = 0;
        }
        if (!lr_from_scalar(&b->record->arena, &number, &value) || lr_builder_add(b, f, value) != REC_OK) {
            return lr_job_failed(b->job) ? b->job->error.status : lr_fail_arena(b->job, &b->record->arena, 1);
        }
    }
    return REC_OK;
}

enum { SMALL_BLOB = 64 };

/* In place of data that are skipped. NULL: the job has failed. */
static lr_data *skip_blob(lr_builder *b, const rec_blob *blob)
{
    rec_source *absent = lr_source_absent(b->job);
    lr_data *data = absent ? lr_data_lent(b->record, absent, NULL, blob->length, blob->offset) : NULL;
    if (absent && !data) {
        (void)lr_fail_arena(b->job, &b->record->arena, sizeof *data);
    }
    return data;
}

/* @param skipped_from the size from which on they are skipped, in a load that does. NULL: the job has failed. */
static lr_data *take_blob(lr_builder *b, const rec_blob *blob, uint64_t skipped_from)
{
    lr_data *data = NULL;
    if (b->blind || (b->job->skip && blob->length >= skipped_from)) {
        return skip_blob(b, blob);
    }
    if (blob->kind == REC_BLOB_STREAM || (blob->kind == REC_BLOB_TEMPORARY && blob->length > SMALL_BLOB)) {
        return lr_builder_read(b, blob);
    }
    if (blob->kind == REC_BLOB_TEMPORARY) {
        data = lr_data_copy(b->record, blob->data, blob->length);
    } else {
        const uint8_t *view = blob->kind == REC_BLOB_VIEW ? blob->data : NULL;
        if (blob->kind == REC_BLOB_RANGE &&
            lr_source_at_hand(b->job, blob->source, blob->offset, blob->length, &view) != REC_OK) {
            return NULL;
        }
        data = lr_data_lent(b->record, blob->source, view, blob->length, blob->offset);
        lr_source_stepped_over(blob->source, view, blob->length);
    }
    if (!data) {
        (void)lr_fail_arena(b->job, &b->record->arena, sizeof *data);
    }
    return data;
}

/* Whether bytes may be those of a tensor, {bytes, shape, dtype}, which the end of the map decides. */
static bool may_be_tensor(const lr_builder *b)
{
    const lr_frame *f = b->depth ? &b->frames[b->depth - 1] : NULL;
    return f && !b->tensors && f->kind == REC_KIND_MAP && !f->map && f->has_key && lr_value_is(&f->key, "bytes");
}

/* Only the bytes of tensors may be read later, or not at all: callers get those of values by a pointer. NULL: the job
 * has failed. */
static lr_data *take_value(lr_builder *b, const rec_blob *blob)
{
    lr_data *data;
    if (blob->kind == REC_BLOB_RANGE && b->job->skip && !b->job->whole && !lr_source_is_readable(blob->source)) {
        b->job->missed = true;
        return skip_blob(b, blob);
    }
    data = take_blob(b, blob, REC_UNKNOWN);
    return data && !data->data && data->size && !b->blind ? lr_builder_read(b, blob) : data;
}

static int32_t on_bytes(void *self, uint64_t at, const rec_blob *blob)
{
    lr_builder *b = self;
    rec_value value = {.kind = REC_KIND_BYTES};
    b->at = at;
    if (!may_be_tensor(b)) {
        value.v.bytes = take_value(b, blob);
    } else {
        /* A view costs nothing until its pages are read, and the tensor gives it back. */
        value.v.bytes = take_blob(b, blob, blob->kind == REC_BLOB_VIEW ? REC_UNKNOWN : SMALL_BLOB + 1);
    }
    return value.v.bytes ? lr_builder_emit(b, value) : b->job->error.status;
}

/* Numbers that stand in the file one by one are read where they stand, and so many are no header. */
enum { MANY = 4096 };

static int32_t on_list_begin(void *self, uint64_t at, int32_t form, uint64_t count)
{
    if (count >= MANY) {
        lr_source_step_end(((lr_builder *)self)->job);
    }
    return lr_builder_open(self, at, REC_KIND_LIST, form, count) ? REC_OK : ((lr_builder *)self)->job->error.status;
}

static int32_t on_list_of(void *self, uint64_t at, const char *type)
{
    lr_builder *b = self;
    b->at = at;
    b->frames[b->depth - 1].of = lr_list_of(type);
    return REC_OK;
}

static int32_t on_map_begin(void *self, uint64_t at, int32_t form, uint64_t count)
{
    return lr_builder_open(self, at, REC_KIND_MAP, form, count) ? REC_OK : ((lr_builder *)self)->job->error.status;
}

/* A key that is a path, as all are written. @return false: there is no memory for it. */
static bool path_key(lr_builder *b, const rec_scalar *key, rec_value *value)
{
    lr_arena *arena = &b->record->flat_arena;
    uint64_t length = key->v.length;
    char *text;
    if (!memchr(key->text, '\\', (size_t)length)) {
        text = lr_arena_text(arena, key->text, length);
    } else {
        text = length < UINT32_MAX / 2 ? lr_arena_alloc(arena, 2 * length + 1, 1) : NULL;
        length = text ? lr_path_plain(key->text, length, text) : 0;
        if (text) {
            text[length] = '\0';
        }
    }
    *value = (rec_value){.kind = REC_KIND_STRING, .length = (uint32_t)length, .v.text = text};
    return text != NULL;
}

static int32_t on_key(void *self, uint64_t at, const rec_scalar *key)
{
    lr_builder *b = self;
    lr_frame *f = &b->frames[b->depth - 1];
    b->at = at;
    if (lr_builder_in_place(b, f) != REC_OK) {
        return b->job->error.status;
    }
    if (!(f->form == REC_FORM_PATHS ? path_key(b, key, &f->key) : lr_from_scalar(&b->record->arena, key, &f->key))) {
        return lr_fail_arena(b->job, lr_builder_arena(b, f), 64);
    }
    f->has_key = true;
    if (b->depth == 1 && !b->tensors && !b->burn.known && key->kind == REC_KIND_STRING && key->v.length == 4 &&
        memcmp(key->text, "item", 4) == 0) {
        b->again = true;
        b->job->quiet = !b->second; /* the second pass says it all again */
    }
    return REC_OK;
}

static int32_t on_variant_begin(void *self, uint64_t at, uint64_t index, const rec_scalar *name, int32_t payload)
{
    lr_builder *b = self;
    lr_variant *variant;
    b->at = at;
    variant = lr_arena_alloc(&b->record->arena, sizeof *variant, 8);
    if (!variant || !lr_string(&b->record->arena, name->text, name->v.length, &variant->name)) {
        return lr_fail_arena(b->job, &b->record->arena, sizeof *variant);
    }
    variant->index = index;
    variant->payload = lr_nil(REC_FORM_UNKNOWN);
    variant->has_payload = payload != 0;
    if (!lr_builder_open(b, at, REC_KIND_VARIANT, REC_FORM_UNKNOWN, payload != 0)) {
        return b->job->error.status;
    }
    b->frames[b->depth - 1].variant = variant;
    return REC_OK;
}

static int32_t on_option(void *self, uint64_t at, int32_t present)
{
    lr_builder *b = self;
    /* Absent in one that is present: an option of a constant. Nil all the same, but a file without names tells them. */
    int32_t form = b->owed ? REC_FORM_CONSTANT : REC_FORM_NONE;
    b->at = at;
    b->owed = present != 0;
    return present ? REC_OK : lr_builder_emit(b, lr_nil(form));
}

static int32_t on_metadata(void *self, uint64_t at, const rec_scalar *key, const rec_scalar *value)
{
    lr_builder *b = self;
    b->at = at;
    return lr_builder_metadata_pair(b, key, value);
}

static int32_t on_metadata_value(void *self, uint64_t at, const rec_scalar *key)
{
    lr_builder *b = self;
    b->at = at;
    return lr_builder_metadata_begin(b, key);
}

/* A shape in the arena, that of a tensor before where it has the same. NULL: out of memory. */
static const uint64_t *shape_of(lr_builder *b, const rec_tensor_event *event)
{
    uint64_t hash = event->rank, *axes;
    size_t size = sizeof *axes * event->rank, slot;
    for (uint32_t i = 0; i < event->rank; i++) {
        hash = (hash ^ event->shape[i]) * UINT64_C(0x9e3779b97f4a7c15);
    }
    slot = (size_t)(hash >> 32) % LR_BUILDER_SHAPES;
    if (b->shapes[slot].axes && b->shapes[slot].rank == event->rank &&
        (size == 0 || memcmp(b->shapes[slot].axes, event->shape, size) == 0)) {
        return b->shapes[slot].axes;
    }
    axes = lr_arena_alloc(&b->record->arena, size, 8);
    if (axes) {
        if (size) {
            memcpy(axes, event->shape, size);
        }
        b->shapes[slot].axes = axes;
        b->shapes[slot].rank = event->rank;
    }
    return axes;
}

static int32_t on_tensor(void *self, uint64_t at, const rec_tensor_event *event)
{
    lr_builder *b = self;
    rec_record *record = b->record;
    rec_tensor *tensor;
    const uint64_t *shape;
    uint64_t size;
    char words[160];
    b->at = at;
    if (event->rank > LR_RANK_MOST) {
        return rec_fail(b->job, REC_E_UNSUPPORTED, at, "a tensor of rank %u; at most %d are supported",
                        (unsigned)event->rank, LR_RANK_MOST);
    }
    tensor = lr_arena_alloc(&record->arena, sizeof *tensor, 8);
    shape = shape_of(b, event);
    if (!tensor || !shape) {
        return lr_fail_arena(b->job, &b->record->arena, sizeof *tensor);
    }
    memset(tensor, 0, sizeof *tensor);
    tensor->record = record;
    tensor->shape = shape;
    tensor->rank = (uint8_t)event->rank;
    tensor->stored = tensor->packed = (uint8_t)event->dtype;
    if (!lr_shape_count(shape, event->rank, &tensor->count)) {
        return rec_fail(b->job, REC_E_FORMAT, at, "the shape %s has more elements than can be counted",
                        lr_shape_words(words, sizeof words, shape, event->rank));
    }
    if (rec_dtype_bits(event->dtype) == 0) {
        rec_value *name = lr_arena_alloc(&record->arena, sizeof *name, 8);
        if (!name || !lr_encoding_make(tensor)) {
            return lr_fail_arena(b->job, &b->record->arena, sizeof *name);
        }
        if (lr_burn_dtype_read(b->job, record, at, event->dtype, event->dtype_name ? event->dtype_name : "", name)) {
            return b->job->error.status;
        }
        tensor->encoding->words = name;
    } else if (!lr_tensor_size(event->dtype, tensor->count, &size) || size != event->data.length) {
        return lr_fail_data(b->job, at, event->dtype, event->shape, event->rank, event->data.length);
    }
    tensor->turned = (uint8_t)event->transposed;
    tensor->anonymous = !event->id && !(event->flags & REC_EVENT_BARE);
    if (event->id) {
        tensor->id = lr_job_arena_text(b->job, &record->arena, event->id, strlen(event->id));
        if (!tensor->id) {
            return b->job->error.status;
        }
    }
    tensor->data = take_blob(b, &event->data, 1);
    if (!tensor->data) {
        return b->job->error.status;
    }
    lr_tensor_set_precision(tensor, b->precision);
    return lr_builder_emit(b, (rec_value){.kind = REC_KIND_TENSOR, .v = {.tensor = tensor}});
}

static int32_t on_end(void *self, uint64_t at)
{
    lr_builder *b = self;
    rec_value value = {0};
    lr_frame f;
    int32_t status = REC_OK;
    b->at = at;
    f = b->frames[b->depth - 1];
    b->depth--; /* errors below speak of the container itself */
    if (f.kind == REC_KIND_LIST) {
        status = lr_builder_end_list(b, &f, &value);
    } else if (f.kind == REC_KIND_MAP) {
        status = lr_builder_end_map(b, &f, &value);
    } else {
        value = (rec_value){.kind = REC_KIND_VARIANT, .v = {.variant = f.variant}};
    }
    b->at = f.at; /* and so do those about its place */
    return status == REC_OK ? lr_builder_emit(b, value) : status;
}

const rec_visitor lr_builder_visitor = {
    .size = sizeof(rec_visitor),
    .metadata = on_metadata,
    .scalar = on_scalar,
    .numbers = on_numbers,
    .bytes = on_bytes,
    .list_begin = on_list_begin,
    .map_begin = on_map_begin,
    .key = on_key,
    .variant_begin = on_variant_begin,
    .end = on_end,
    .option = on_option,
    .tensor = on_tensor,
    .metadata_value = on_metadata_value,
    .list_of = on_list_of,
};

/* -------------------------------------------------------------------------------------------- the whole record -- */

lr_builder *lr_builder_new(rec_job *job, rec_precision precision, bool tensors, const lr_burn *burn)
{
    lr_builder *b = lr_zalloc(job->allocator, sizeof *b);
    if (b) {
        b->record = lr_record_new(job->context);
    }
    if (!b || !b->record) {
        lr_release(job->allocator, b);
        (void)lr_fail_memory(job, sizeof *b);
        return NULL;
    }
    b->job = job;
    b->precision = precision;
    b->tensors = tensors;
    b->burn.minor = -1;
    if (burn) {
        b->burn = *burn;
        b->second = true;
    }
    b->runner.pages.allocator = job->allocator;
    b->record->arena.budget = b->record->flat_arena.budget = &job->budget;
    job->where = lr_builder_where;
    job->where_user = b;
    return b;
}

void lr_builder_blind(lr_builder *b)
{
    b->blind = true;
}

const lr_burn *lr_builder_burn(const lr_builder *b)
{
    return &b->burn;
}

bool lr_builder_again(const lr_builder *b)
{
    return b->again && b->burn.known && !b->second;
}

rec_record *lr_builder_finish(lr_builder *b)
{
    rec_record *record = NULL;
    if (lr_job_failed(b->job)) {
        return NULL;
    }
    if (!b->tensors && lr_builder_unwrap(b) != REC_OK) {
        return NULL;
    }
    b->record->burn_minor = b->burn.minor;
    if (lr_record_is_foreign(b->record) && b->record->adapter != LR_FILE_BURN && !b->job->burn.forced) {
        b->record->burn_minor = -1; /* a `version` of its own is not Burn's */
    }
    if ((!lr_record_is_foreign(b->record) && lr_builder_metadata_check(b) != REC_OK) ||
        lr_metadata_apply_types(b->job, b->record) != REC_OK) {
        return NULL;
    }
    if (b->job->plugin && (b->job->plugin->traits & REC_TRAIT_PATHS) && lr_states_raise(b->job, b->record) != REC_OK) {
        return NULL;
    }
    record = b->record;
    record->arena.budget = record->flat_arena.budget = NULL;
    b->record = NULL;
    return record;
}

void lr_builder_free(lr_builder *b)
{
    rec_job *job;
    if (!b) {
        return;
    }
    job = b->job;
    if (job->where_user == b) {
        job->where = NULL;
        job->where_user = NULL;
    }
    rec_job_free(job, b->frames);
    rec_job_free(job, b->stack);
    lr_runner_free(job, &b->runner);
    rec_record_free(b->record);
    lr_release(job->allocator, b);
}
