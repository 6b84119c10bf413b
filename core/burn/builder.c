/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The builder: events to a record. It checks the grammar of the events, packs runs of numbers, recognises Burn's layout
 * when a map ends, and knows at any time where it is. */
#include "core/burn/builder.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/record/convert.h"
#include "core/io/io.h"
#include "core/record/packed.h"

/* A container that is open. Small maps, which may turn out to be parameters, wait on the builder's stack; what is
 * larger and of known size is filled in place in the arena. */
typedef struct frame {
    int32_t kind; /* LIST, MAP, VARIANT */
    int32_t form;
    uint64_t at;
    uint64_t announced; /* elements or entries, REC_UNKNOWN */
    uint64_t count;     /* so far */
    uint64_t base;      /* on the stack */
    lr_list *list;      /* in place, else NULL */
    lr_map *map;
    lr_variant *variant;
    rec_value key;
    bool has_key; /* a key was given whose value is due */
    bool run;     /* the runner holds this list's numbers */
} frame;

enum { IN_PLACE_FROM = 4 };

struct lr_builder {
    rec_job *job;
    rec_record *record;
    rec_precision precision;
    bool tensors;
    lr_burn burn;
    bool again;  /* item came before metadata */
    bool second; /* metadata is known from a first pass */
    bool rooted; /* the one value is complete */
    bool owed;   /* an option was said to be present, and its value is due */
    frame *frames;
    uint64_t depth, frame_room;
    rec_value *stack;
    uint64_t count, room;
    lr_runner runner;
    uint64_t at; /* of the last event */
};

/* ---------------------------------------------------------------------------------------------------- where it is -- */

static bool text_is(const rec_value *value, const char *text)
{
    size_t length = strlen(text);
    return value->kind == REC_KIND_STRING && value->length == length && memcmp(value->v.text, text, length) == 0;
}

/* Whether a frame is a parameter whose tensor is being read: {id: "…", param: … */
static bool in_param(const lr_builder *b, const frame *f)
{
    return f->count == 1 && !f->map && text_is(&f->key, "param") && text_is(&b->stack[f->base], "id") &&
           b->stack[f->base + 1].kind == REC_KIND_STRING;
}

/* In formats of Burn's maps the outermost level is the record itself: `item` is not part of a path. Neither is `param`,
 * since the tensor will be where the parameter is. */
static uint64_t where(void *user, char *path, size_t room)
{
    const lr_builder *b = user;
    size_t used = 0;
    if (room) {
        path[0] = '\0';
    }
    for (uint64_t i = 0; i < b->depth; i++) {
        const frame *f = &b->frames[i];
        if (f->kind == REC_KIND_LIST) {
            uint64_t index = f->count + (f->run ? b->runner.count : 0);
            used = lr_path_append_index(path, room, used, index);
        } else if (f->kind == REC_KIND_VARIANT) {
            used = lr_path_append_key(path, room, used, &f->variant->name);
        } else if (f->has_key && (b->tensors || (i ? !in_param(b, f) : !text_is(&f->key, "item")))) {
            used = lr_path_append_key(path, room, used, &f->key);
        }
    }
    return used;
}

static int32_t grammar(lr_builder *b, const char *what)
{
    return rec_fail(b->job, REC_E_PLUGIN, b->at, "the plugin %s broke the order of events: %s",
                    b->job->plugin ? b->job->plugin->name : "in use", what);
}

static int32_t no_memory(lr_builder *b, uint64_t size)
{
    return lr_fail_memory(b->job, size);
}

/* ------------------------------------------------------------------------------------------------------ values -- */

static int32_t push(lr_builder *b, rec_value value)
{
    if (b->count == b->room) {
        uint64_t room = b->room ? b->room * 2 : 64;
        rec_value *stack = rec_job_resize(b->job, b->stack, room * sizeof *stack);
        if (!stack) {
            return b->job->error.status;
        }
        b->stack = stack;
        b->room = room;
    }
    b->stack[b->count++] = value;
    return REC_OK;
}

/* The place in the arena of a list or map that is not small, once it is known to be needed. */
static int32_t in_place(lr_builder *b, frame *f)
{
    if (f->announced == REC_UNKNOWN || f->announced < IN_PLACE_FROM || f->list || f->map || f->count) {
        return REC_OK;
    }
    if (f->kind == REC_KIND_LIST) {
        f->list = lr_list_new(&b->record->arena, f->announced);
    } else {
        f->map = lr_map_new(&b->record->arena, f->announced);
    }
    return f->list || f->map ? REC_OK : no_memory(b, f->announced * sizeof(rec_value));
}

static int32_t add_item(lr_builder *b, frame *f, rec_value value)
{
    if (f->count == f->announced) {
        return grammar(b, "more elements than were announced");
    }
    if (in_place(b, f) != REC_OK) {
        return b->job->error.status;
    }
    f->count++;
    if (f->list) {
        f->list->items[f->list->count++] = value;
        return REC_OK;
    }
    return push(b, value);
}

/* Numbers that were held back become items: the list is a mixed one. */
static int32_t unpack_run(lr_builder *b, frame *f)
{
    uint64_t count = b->runner.count;
    if (!f->run) {
        return REC_OK;
    }
    f->run = false;
    for (uint64_t i = 0; i < count; i++) {
        rec_scalar number = lr_runner_number(&b->runner, i);
        rec_value value = lr_nil(REC_FORM_UNKNOWN);
        bool nil = b->runner.nils && lr_float_nil(number.v.f);
        if ((!nil && !lr_from_scalar(&b->record->arena, &number, &value)) || add_item(b, f, value) != REC_OK) {
            return lr_job_failed(b->job) ? b->job->error.status : no_memory(b, 1);
        }
    }
    lr_runner_clear(&b->runner);
    return REC_OK;
}

static int32_t metadata_seen(lr_builder *b, const rec_value *value);

/* Takes a value that is complete. */
static int32_t emit(lr_builder *b, rec_value value)
{
    frame *f;
    b->owed = false;
    if (!b->depth) {
        if (b->rooted) {
            return grammar(b, "a second value");
        }
        b->record->root = value;
        b->rooted = true;
        return REC_OK;
    }
    f = &b->frames[b->depth - 1];
    if (f->kind == REC_KIND_LIST) {
        return unpack_run(b, f) == REC_OK ? add_item(b, f, value) : b->job->error.status;
    }
    if (f->kind == REC_KIND_VARIANT) {
        if (!f->variant->has_payload || f->count) {
            return grammar(b, "a payload that was not announced");
        }
        f->variant->payload = value;
        f->count = 1;
        return REC_OK;
    }
    if (!f->has_key) {
        return grammar(b, "a value of a map without its key");
    }
    if (b->depth == 1 && !b->tensors && text_is(&f->key, "metadata") && metadata_seen(b, &value) != REC_OK) {
        return b->job->error.status;
    }
    f->has_key = false;
    f->count++;
    if (f->map) {
        f->map->entries[f->map->count++] = (lr_entry){.key = f->key, .value = value};
        return REC_OK;
    }
    return push(b, f->key) == REC_OK ? push(b, value) : b->job->error.status;
}

static frame *open_frame(lr_builder *b, uint64_t at, int32_t kind, int32_t form, uint64_t announced)
{
    frame *f;
    b->at = at;
    b->owed = false;
    if (b->depth == b->job->limits.depth) {
        (void)rec_fail(b->job, REC_E_LIMIT, at, "lists and maps are nested deeper than the limit of %u",
                       (unsigned)b->job->limits.depth);
        rec_fail_hint(b->job, "If the file can be trusted, raise `depth` (rec_limits, or the INI file).");
        return NULL;
    }
    if (b->depth && b->frames[b->depth - 1].kind == REC_KIND_LIST &&
        unpack_run(b, &b->frames[b->depth - 1]) != REC_OK) {
        return NULL;
    }
    if (!b->depth && b->rooted) {
        (void)grammar(b, "a second value");
        return NULL;
    }
    if (b->depth && b->frames[b->depth - 1].kind == REC_KIND_MAP && !b->frames[b->depth - 1].has_key) {
        (void)grammar(b, "a value of a map without its key");
        return NULL;
    }
    if (b->depth == b->frame_room) {
        uint64_t room = b->frame_room ? b->frame_room * 2 : 16;
        frame *frames = rec_job_resize(b->job, b->frames, room * sizeof *frames);
        if (!frames) {
            return NULL;
        }
        b->frames = frames;
        b->frame_room = room;
    }
    f = &b->frames[b->depth++];
    *f = (frame){.kind = kind, .form = form, .at = at, .announced = announced, .base = b->count};
    return f;
}

/* ------------------------------------------------------------------------------------------------------- events -- */

/* Whether the open list may be the values of a V1 tensor, where JSON has null for NaN and infinities: such lists stay
 * packed, however many there are. */
static bool in_v1_values(const lr_builder *b)
{
    const frame *f = b->depth > 1 ? &b->frames[b->depth - 1] : NULL;
    return f && f->kind == REC_KIND_LIST && f[-1].kind == REC_KIND_MAP && text_is(&f[-1].key, "value") &&
           b->burn.minor < LR_BURN_V2 && (f->run || f->count == 0);
}

static int32_t on_scalar(void *self, uint64_t at, const rec_scalar *scalar)
{
    lr_builder *b = self;
    rec_value value;
    b->at = at;
    if (scalar->kind == REC_KIND_NIL && in_v1_values(b)) {
        frame *f = &b->frames[b->depth - 1];
        int added =
            f->announced != REC_UNKNOWN && b->runner.count == f->announced ? 0 : lr_runner_add_nil(b->job, &b->runner);
        if (added != 0) {
            f->run = true;
            return added > 0 ? REC_OK : b->job->error.status;
        }
    }
    if (scalar->kind < REC_KIND_NIL || scalar->kind > REC_KIND_STRING) {
        return grammar(b, "a scalar of unknown kind");
    }
    if (scalar->kind == REC_KIND_STRING && scalar->v.length >= UINT32_MAX) {
        return rec_fail(b->job, REC_E_UNSUPPORTED, at, "a string of 4 GiB or more");
    }
    if (!lr_from_scalar(&b->record->arena, scalar, &value)) {
        return no_memory(b, scalar->kind == REC_KIND_STRING ? scalar->v.length : 1);
    }
    return emit(b, value);
}

static int32_t on_numbers(void *self, uint64_t at, rec_dtype dtype, const void *data, uint64_t count)
{
    lr_builder *b = self;
    frame *f = b->depth ? &b->frames[b->depth - 1] : NULL;
    const uint8_t *from = data;
    uint32_t width = rec_dtype_bits(dtype) / 8;
    b->at = at;
    if (!f || f->kind != REC_KIND_LIST ||
        !(lr_dtype_is_int(dtype) || dtype == REC_DTYPE_F32 || dtype == REC_DTYPE_F64 || dtype == REC_DTYPE_BOOL)) {
        return grammar(b, "numbers outside of a list, or of a type that no list has");
    }
    if (!count) {
        return REC_OK;
    }
    b->owed = false;
    if (f->announced != REC_UNKNOWN && count > f->announced - f->count - (f->run ? b->runner.count : 0)) {
        return grammar(b, "more elements than were announced");
    }
    if (f->run || f->count == 0) {
        int added = lr_runner_add(b->job, &b->runner, dtype, data, count);
        if (added != 0) {
            f->run = true;
            return added > 0 ? REC_OK : b->job->error.status;
        }
        if (unpack_run(b, f) != REC_OK) {
            return b->job->error.status;
        }
    }
    for (uint64_t i = 0; i < count; i++) {
        uint64_t little = 0;
        rec_scalar number;
        rec_value value;
        memcpy(&little, from + i * width, width);
        lr_swap_if_big(&little, width, 1);
        number = lr_element(dtype, &little);
        if (number.kind == REC_KIND_INT && number.v.i >= 0) {
            number.kind = REC_KIND_UINT;
        }
        if (number.kind != REC_KIND_FLOAT) {
            number.bits = 0;
        }
        if (!lr_from_scalar(&b->record->arena, &number, &value) || add_item(b, f, value) != REC_OK) {
            return lr_job_failed(b->job) ? b->job->error.status : no_memory(b, 1);
        }
    }
    return REC_OK;
}

/* Bytes that will be gone after the call: into memory that the record takes over. */
static lr_data *read_stream(lr_builder *b, const rec_blob *blob)
{
    lr_pages *pages = lr_alloc(b->job->allocator, sizeof *pages);
    rec_source *source;
    lr_data *data = NULL;
    if (!pages) {
        b->job->budget.exceeded = false;
        (void)no_memory(b, sizeof *pages);
        return NULL;
    }
    *pages = (lr_pages){.allocator = b->job->allocator};
    if (!lr_budget_take(&b->job->budget, blob->size)) {
        (void)no_memory(b, blob->size);
    } else if (!lr_pages_grow(pages, blob->size ? blob->size : 1)) {
        b->job->budget.exceeded = false;
        (void)no_memory(b, blob->size);
    } else if (rec_blob_read(b->job, blob, 0, pages->data, blob->size) == REC_OK) {
        source = lr_source_owned(b->job->allocator, pages->data, blob->size, lr_pages_release, pages);
        if (source) {
            data = lr_data_lent(b->record, source, pages->data, blob->size, REC_UNKNOWN);
            rec_source_release(source);
            if (!data) {
                (void)no_memory(b, sizeof *data);
            }
            return data;
        }
        b->job->budget.exceeded = false;
        (void)no_memory(b, blob->size);
    }
    lr_pages_release(pages, NULL);
    return NULL;
}

enum { SMALL_BLOB = 64 };

/* NULL: the job has failed. */
static lr_data *take_blob(lr_builder *b, const rec_blob *blob)
{
    lr_data *data = NULL;
    if (blob->kind == REC_BLOB_STREAM || (blob->kind == REC_BLOB_TEMPORARY && blob->size > SMALL_BLOB)) {
        return read_stream(b, blob);
    }
    if (blob->kind == REC_BLOB_TEMPORARY) {
        data = lr_data_copy(b->record, blob->data, blob->size);
    } else if ((blob->kind == REC_BLOB_VIEW || blob->kind == REC_BLOB_RANGE) && blob->source) {
        const uint8_t *view = blob->kind == REC_BLOB_VIEW ? blob->data : NULL;
        if (blob->kind == REC_BLOB_RANGE && lr_source_at_hand(b->job, blob->source, blob->offset, blob->size, &view) != REC_OK) {
            return NULL;
        }
        data = lr_data_lent(b->record, blob->source, view, blob->size, blob->offset);
    } else {
        (void)grammar(b, "a blob of unknown kind or without its source");
        return NULL;
    }
    if (!data) {
        (void)no_memory(b, sizeof *data);
    }
    return data;
}

static int32_t on_bytes(void *self, uint64_t at, const rec_blob *blob)
{
    lr_builder *b = self;
    rec_value value = {.kind = REC_KIND_BYTES};
    b->at = at;
    value.v.bytes = take_blob(b, blob);
    return value.v.bytes ? emit(b, value) : b->job->error.status;
}

static int32_t on_list_begin(void *self, uint64_t at, int32_t form, uint64_t count)
{
    return open_frame(self, at, REC_KIND_LIST, form, count) ? REC_OK : ((lr_builder *)self)->job->error.status;
}

static int32_t on_map_begin(void *self, uint64_t at, int32_t form, uint64_t count)
{
    return open_frame(self, at, REC_KIND_MAP, form, count) ? REC_OK : ((lr_builder *)self)->job->error.status;
}

static int32_t on_key(void *self, uint64_t at, const rec_scalar *key)
{
    lr_builder *b = self;
    frame *f = b->depth ? &b->frames[b->depth - 1] : NULL;
    b->at = at;
    if (b->owed) {
        return grammar(b, "an option without its value");
    }
    if (!f || f->kind != REC_KIND_MAP || f->has_key) {
        return grammar(b, "a key outside of a map, or two keys in a row");
    }
    if (f->count == f->announced) {
        return grammar(b, "more entries than were announced");
    }
    if (key->kind < REC_KIND_BOOL || key->kind > REC_KIND_STRING || key->kind == REC_KIND_FLOAT) {
        return grammar(b, "a key that is no string, bool or integer");
    }
    if (in_place(b, f) != REC_OK) {
        return b->job->error.status;
    }
    if ((key->kind == REC_KIND_STRING && key->v.length >= UINT32_MAX) ||
        !lr_from_scalar(&b->record->arena, key, &f->key)) {
        return no_memory(b, 64);
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
    if (name->kind != REC_KIND_STRING || name->v.length >= UINT32_MAX) {
        return grammar(b, "a variant without a name");
    }
    variant = lr_arena_alloc(&b->record->arena, sizeof *variant, 8);
    if (!variant || !lr_string(&b->record->arena, name->text, name->v.length, &variant->name)) {
        return no_memory(b, sizeof *variant);
    }
    variant->index = index;
    variant->payload = lr_nil(REC_FORM_UNKNOWN);
    variant->has_payload = payload != 0;
    if (!open_frame(b, at, REC_KIND_VARIANT, REC_FORM_UNKNOWN, payload != 0)) {
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
    return present ? REC_OK : emit(b, lr_nil(form));
}

static int32_t on_metadata(void *self, uint64_t at, const rec_scalar *key, const rec_scalar *value)
{
    lr_builder *b = self;
    rec_value name, text;
    lr_entry *entry;
    b->at = at;
    if (!b->tensors || b->depth || b->rooted || key->kind != REC_KIND_STRING || value->kind != REC_KIND_STRING) {
        return grammar(b, "metadata that is no text, or not before the value");
    }
    if (lr_map_find(&b->record->metadata, key)) {
        return rec_fail(b->job, REC_E_FORMAT, at, "the metadata key `%.*s` occurs twice", (int)key->v.length,
                        key->text);
    }
    if (!lr_from_scalar(&b->record->arena, key, &name) || !lr_from_scalar(&b->record->arena, value, &text)) {
        return no_memory(b, 64);
    }
    entry = lr_map_append(&b->record->arena, &b->record->metadata, name);
    if (!entry) {
        return no_memory(b, sizeof *entry);
    }
    entry->value = text;
    b->burn = lr_burn_of(&b->record->metadata);
    b->job->burn_told = b->burn.minor >= 0;
    b->burn.minor = b->job->burn_forced ? b->job->burn_forced : b->burn.minor;
    b->job->burn_minor = b->burn.minor >= 0 ? b->burn.minor : LR_BURN_NOW;
    b->job->burn_precision = b->burn.precision;
    b->job->burn_known = true;
    return REC_OK;
}

static int32_t on_tensor(void *self, uint64_t at, const rec_tensor_event *event)
{
    lr_builder *b = self;
    rec_record *record = b->record;
    rec_tensor *tensor;
    uint64_t *shape;
    uint64_t size;
    char words[160];
    b->at = at;
    if (!b->tensors) {
        return grammar(b, "a tensor from a format whose traits do not say so");
    }
    if (event->dtype <= REC_DTYPE_NONE || event->dtype > REC_DTYPE_OPAQUE ||
        (event->dtype == REC_DTYPE_OPAQUE && !event->dtype_name) || (event->rank && !event->shape)) {
        return grammar(b, "a tensor without element type or shape");
    }
    if (event->rank > LR_RANK_MOST) {
        return rec_fail(b->job, REC_E_UNSUPPORTED, at, "a tensor of rank %u; at most %d are supported",
                        (unsigned)event->rank, LR_RANK_MOST);
    }
    tensor = lr_arena_alloc(&record->arena, sizeof *tensor, 8);
    shape = lr_arena_alloc(&record->arena, sizeof *shape * (event->rank ? event->rank : 1u), 8);
    if (!tensor || !shape) {
        return no_memory(b, sizeof *tensor);
    }
    memset(tensor, 0, sizeof *tensor);
    if (event->rank) {
        memcpy(shape, event->shape, sizeof *shape * event->rank);
    }
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
        const char *text = event->dtype_name ? event->dtype_name : "";
        if (!name || !lr_string(&record->arena, text, strlen(text), name)) {
            return no_memory(b, 64);
        }
        tensor->dtype_value = name;
    } else if (!lr_tensor_size(event->dtype, tensor->count, &size) || size != event->data.size) {
        return lr_fail_data(b->job, at, event->dtype, event->shape, event->rank, event->data.size);
    }
    if (event->id) {
        tensor->id = lr_arena_text(&record->arena, event->id, strlen(event->id));
        if (!tensor->id) {
            return no_memory(b, 64);
        }
    }
    tensor->data = take_blob(b, &event->data);
    if (!tensor->data) {
        return b->job->error.status;
    }
    lr_tensor_set_precision(tensor, b->precision);
    return emit(b, (rec_value){.kind = REC_KIND_TENSOR, .v = {.tensor = tensor}});
}

/* ---------------------------------------------------------------------------------------------------- ends of things -- */

static int32_t fail_twice(lr_builder *b, const frame *f, const rec_value *key)
{
    char name[128];
    (void)lr_path_append_key(name, sizeof name, 0, key);
    return rec_fail(b->job, REC_E_FORMAT, f->at, "the key `%s` occurs twice in one map", name);
}

static int32_t end_list(lr_builder *b, const frame *f, rec_value *value)
{
    lr_list *list = f->list;
    uint64_t numbers = f->run ? b->runner.count : 0;
    if (f->announced != REC_UNKNOWN && f->count + numbers != f->announced) {
        return grammar(b, "fewer elements than were announced");
    }
    if (f->run) {
        *value = (rec_value){.kind = REC_KIND_NUMBERS, .form = (uint8_t)f->form};
        value->v.run = lr_runner_take(b->job, &b->runner, b->record, f->form);
        return value->v.run ? REC_OK : b->job->error.status;
    }
    if (!list) {
        uint64_t count = b->count - f->base;
        list = lr_list_new(&b->record->arena, count);
        if (!list) {
            return no_memory(b, count * sizeof(rec_value));
        }
        if (count) {
            memcpy(list->items, &b->stack[f->base], (size_t)count * sizeof(rec_value));
        }
        list->count = count;
        b->count = f->base;
    }
    *value = (rec_value){.kind = REC_KIND_LIST, .form = (uint8_t)f->form, .v = {.list = list}};
    return REC_OK;
}

/* A packed list with nils that turned out to be no tensor's. */
static int32_t unpack_nils(lr_builder *b, rec_value *value)
{
    const lr_run *run = value->kind == REC_KIND_NUMBERS && value->v.run->nils ? value->v.run : NULL;
    lr_list *list = run ? lr_list_new(&b->record->arena, run->count) : NULL;
    if (!run) {
        return REC_OK;
    }
    if (!list) {
        return no_memory(b, run->count * sizeof(rec_value));
    }
    for (uint64_t i = 0; i < run->count; i++) {
        rec_scalar number = lr_run_number(run, i);
        list->items[i] = lr_nil(REC_FORM_UNKNOWN);
        if (!lr_float_nil(number.v.f) && !lr_from_scalar(&b->record->arena, &number, &list->items[i])) {
            return no_memory(b, 1);
        }
    }
    list->count = run->count;
    *value = (rec_value){.kind = REC_KIND_LIST, .form = (uint8_t)run->form, .v = {.list = list}};
    return REC_OK;
}

static int32_t end_map(lr_builder *b, const frame *f, rec_value *value)
{
    lr_map *map = f->map;
    lr_entry *twice = NULL;
    if (f->has_key) {
        return grammar(b, "a key without its value");
    }
    if (f->announced != REC_UNKNOWN && f->count != f->announced) {
        return grammar(b, "fewer entries than were announced");
    }
    if (!map) {
        /* Pairs of values, as entries are. */
        const lr_entry *entries = f->count ? (const lr_entry *)&b->stack[f->base] : NULL;
        /* Without metadata nobody knows how a tensor looks: a first pass that will be repeated leaves maps alone. */
        if (lr_burn_may_raise(f->count) && !b->tensors && b->depth > 0 && (!b->again || b->second)) {
            int raised = lr_burn_raise(b->job, b->record, &b->burn, b->precision, f->at, entries, f->count, value);
            if (raised) {
                b->count = f->base;
                return raised > 0 ? REC_OK : b->job->error.status;
            }
        }
        map = lr_map_new(&b->record->arena, f->count);
        if (!map) {
            return no_memory(b, f->count * sizeof(lr_entry));
        }
        if (f->count) {
            memcpy(map->entries, entries, (size_t)f->count * sizeof(lr_entry));
        }
        map->count = f->count;
        b->count = f->base;
    }
    for (uint64_t i = 0; i < map->count; i++) {
        if (unpack_nils(b, &map->entries[i].value) != REC_OK) {
            return b->job->error.status;
        }
    }
    /* The flat map of a foreign file is taken apart right after: that finds what is there twice. */
    if (f->form == REC_FORM_PATHS) {
        twice = NULL;
    } else if (!lr_map_index(&b->record->arena, map, &twice)) {
        return no_memory(b, map->count * 8);
    }
    if (twice) {
        return fail_twice(b, f, &twice->key);
    }
    *value = (rec_value){.kind = REC_KIND_MAP, .form = (uint8_t)f->form, .v = {.map = map}};
    return REC_OK;
}

static int32_t on_end(void *self, uint64_t at)
{
    lr_builder *b = self;
    rec_value value = {0};
    frame f;
    int32_t status = REC_OK;
    b->at = at;
    if (!b->depth || b->owed) {
        return grammar(b, b->owed ? "an option without its value" : "an end without a beginning");
    }
    f = b->frames[b->depth - 1];
    b->depth--; /* errors below speak of the container itself */
    if (f.kind == REC_KIND_LIST) {
        status = end_list(b, &f, &value);
    } else if (f.kind == REC_KIND_MAP) {
        status = end_map(b, &f, &value);
    } else if (f.variant->has_payload && !f.count) {
        status = grammar(b, "a variant without its payload");
    } else {
        value = (rec_value){.kind = REC_KIND_VARIANT, .v = {.variant = f.variant}};
    }
    b->at = f.at; /* and so do those about its place */
    return status == REC_OK ? emit(b, value) : status;
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
};

/* ------------------------------------------------------------------------------------------------ the whole record -- */

static int32_t metadata_seen(lr_builder *b, const rec_value *value)
{
    if (value->kind != REC_KIND_MAP) {
        return rec_fail_found(b->job, REC_E_FORMAT, b->at, "a map of texts", "%s", lr_kind_words(value->kind));
    }
    for (uint64_t i = 0; i < value->v.map->count; i++) {
        const lr_entry *entry = &value->v.map->entries[i];
        if (entry->key.kind != REC_KIND_STRING || entry->value.kind != REC_KIND_STRING) {
            char name[128];
            (void)lr_path_append_key(name, sizeof name, 0, &entry->key);
            return rec_fail_found(b->job, REC_E_FORMAT, b->at, "a map of texts", "%s as %s `%s`",
                                  lr_kind_words(entry->key.kind == REC_KIND_STRING ? entry->value.kind
                                                                                   : entry->key.kind),
                                  entry->key.kind == REC_KIND_STRING ? "value of" : "key", name);
        }
    }
    b->record->metadata = *value->v.map;
    if (!lr_map_index(&b->record->arena, &b->record->metadata, NULL)) {
        return no_memory(b, 64);
    }
    b->burn = lr_burn_of(&b->record->metadata);
    b->job->burn_told = b->burn.minor >= 0;
    b->burn.minor = b->job->burn_forced ? b->job->burn_forced : b->burn.minor;
    b->job->burn_minor = b->burn.minor >= 0 ? b->burn.minor : LR_BURN_NOW;
    b->job->burn_precision = b->burn.precision;
    b->job->burn_known = true;
    return REC_OK;
}

/* The outermost map {metadata, item, _b}: item becomes the root. */
static int32_t unwrap(lr_builder *b)
{
    const rec_value root = b->record->root;
    const lr_entry *item = NULL;
    const lr_entry *metadata = NULL;
    if (root.kind == REC_KIND_MAP) {
        item = lr_map_find_text(root.v.map, "item", 4);
        metadata = lr_map_find_text(root.v.map, "metadata", 8);
    }
    b->record->root = lr_nil(REC_FORM_UNKNOWN);
    if (root.kind == REC_KIND_MAP && root.v.map->count == 1 && lr_map_find_text(root.v.map, "StateNamed", 10)) {
        (void)rec_fail(b->job, REC_E_UNSUPPORTED, 0, "this is a state of Burn 0.6 or older, which had no records yet");
        rec_fail_hint(b->job, "Only the Burn that wrote it can load it.");
        return b->job->error.status;
    }
    if (!item || !metadata) {
        (void)rec_fail_found(b->job, REC_E_FORMAT, 0, "a Burn record: a map of `metadata` and `item`", "%s%s",
                             lr_kind_words(root.kind),
                             root.kind != REC_KIND_MAP ? ""
                             : item                    ? " without `metadata`"
                             : metadata                ? " without `item`"
                                                       : " without either");
        return b->job->error.status;
    }
    for (uint64_t i = 0; i < root.v.map->count; i++) {
        const lr_entry *entry = &root.v.map->entries[i];
        if (entry != item && entry != metadata && !text_is(&entry->key, "_b")) {
            char name[128];
            (void)lr_path_append_key(name, sizeof name, 0, &entry->key);
            lr_note(b->job, REC_NOTE_DROPPED, 1, name,
                    "beside `metadata` and `item`, where Burn has nothing: left out");
        }
    }
    b->record->root = item->value;
    return REC_OK;
}

lr_builder *lr_builder_new(rec_job *job, rec_precision precision, bool tensors, const lr_burn *burn)
{
    lr_builder *b = lr_zalloc(job->allocator, sizeof *b);
    if (b) {
        b->record = lr_record_new(job->context);
    }
    if (!b || !b->record) {
        lr_release(job->allocator, b);
        (void)lr_fail_allocator(job, sizeof *b);
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
    b->record->arena.budget = &job->budget;
    job->where = where;
    job->where_user = b;
    return b;
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
    if (!b->rooted || b->depth) {
        (void)grammar(b, "the value was not completed");
        return NULL;
    }
    if (!b->tensors && unwrap(b) != REC_OK) {
        return NULL;
    }
    b->record->burn_minor = b->burn.minor;
    record = b->record;
    record->arena.budget = NULL;
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
