/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Asking the schemes: each tensor is shown to each scheme in turn, which finds its siblings by their paths. The first
 * scheme that claims a tensor has it. */
#include <string.h>

#include "core/io/io.h"
#include "core/registry/registry.h"
#include "core/scheme/scheme_private.h"

enum { SCHEMES_MOST = 64, FOUND_MOST = 64 };

struct rec_siblings {
    const rec_record *record;
    const lr_settings *settings;
    lr_arena arena; /**< of one claim */
    rec_part parts[FOUND_MOST + 1];
    rec_tensor *tensors[FOUND_MOST + 1];
    uint32_t found; /**< the first one is the tensor that a scheme is asked about */
};

/** One look at all tensors. */
typedef struct finder {
    rec_job *job;
    rec_record *record;
    const rec_plugin *schemes[SCHEMES_MOST];
    uint32_t scheme_count;
    rec_siblings siblings;
    const lr_scheme *last; /**< that was kept */
    bool claimed;          /**< the tensor that the schemes are being asked about */
} finder;

/* ---------------------------------------------------------------------------------------- for scheme plugins -- */

/* The name of an element type; Burn's words for that of a quantised tensor. NULL: the job has failed. */
static const char *type_of(rec_job *job, rec_siblings *s, const rec_tensor *tensor)
{
    uint64_t length;
    char *words;
    const rec_value *value = rec_tensor_dtype_value(tensor);
    if (tensor->stored != REC_DTYPE_QFLOAT || !value) {
        return rec_tensor_dtype_name(tensor);
    }
    length = lr_value_json(value, NULL, 0);
    words = lr_job_arena_alloc(job, &s->arena, length + 1, 1);
    if (!words) {
        return NULL;
    }
    (void)lr_value_json(value, words, length + 1);
    return words;
}

static const rec_part *add_part(rec_job *job, rec_siblings *s, rec_tensor *tensor, const char *path)
{
    rec_part *part = &s->parts[s->found];
    const char *type = type_of(job, s, tensor);
    if (!type) {
        return NULL;
    }
    *part = (rec_part){.size = sizeof *part,
                       .dtype = tensor->stored,
                       .path = path,
                       .dtype_name = type,
                       .rank = tensor->rank,
                       .shape = tensor->shape,
                       .count = tensor->count,
                       .nbytes = tensor->data->size};
    s->tensors[s->found++] = tensor;
    return part;
}

static const rec_part *found_before(const rec_siblings *s, const rec_tensor *tensor)
{
    for (uint32_t i = 0; i < s->found; i++) {
        if (s->tensors[i] == tensor) {
            return &s->parts[i];
        }
    }
    return NULL;
}

static const rec_value *value_at(const rec_record *record, const char *path, size_t length)
{
    if (lr_record_is_foreign(record)) {
        const lr_entry *entry = lr_map_find_text(record->root.v.map, path, length);
        return entry ? &entry->value : NULL;
    }
    return lr_at(record, path);
}

const rec_part *rec_sibling(rec_job *job, const rec_siblings *siblings, const char *path)
{
    rec_siblings *s = (rec_siblings *)(uintptr_t)siblings;
    const rec_value *value;
    const rec_part *before;
    char *copy;
    if (LR_LACKS(job, siblings) || LR_LACKS(job, path)) {
        return NULL;
    }
    value = value_at(s->record, path, strlen(path));
    if (!value || value->kind != REC_KIND_TENSOR || value->v.tensor->packed != value->v.tensor->stored) {
        return NULL;
    }
    before = found_before(s, value->v.tensor);
    if (before) {
        return before;
    }
    if (s->found > FOUND_MOST) {
        return LR_AS_NULL(lr_breach(job, REC_UNKNOWN, "requested more than %d tensors in one claim", FOUND_MOST));
    }
    copy = lr_job_arena_text(job, &s->arena, path, strlen(path));
    if (!copy) {
        return NULL;
    }
    return add_part(job, s, value->v.tensor, copy);
}

const rec_part *rec_sibling_of(rec_job *job, const rec_siblings *siblings, const rec_part *part, uint64_t less,
                               const char *end)
{
    rec_siblings *s = (rec_siblings *)(uintptr_t)siblings;
    size_t length, added;
    char *path;
    if (LR_LACKS(job, siblings) || LR_LACKS(job, part) || LR_LACKS(job, end)) {
        return NULL;
    }
    length = strlen(part->path);
    added = strlen(end);
    if (less > length) {
        return NULL;
    }
    length -= (size_t)less;
    path = lr_job_arena_alloc(job, &s->arena, length + added + 1, 1);
    if (!path) {
        return NULL;
    }
    memcpy(path, part->path, length);
    memcpy(path + length, end, added + 1);
    return rec_sibling(job, siblings, path);
}

const char *rec_sibling_setting(rec_job *job, const rec_siblings *siblings, const char *path)
{
    if (LR_LACKS(job, siblings) || LR_LACKS(job, path)) {
        return NULL;
    }
    return siblings->settings ? siblings->settings->find(siblings->settings->user, path) : NULL;
}

/* -------------------------------------------------------------------------------------------- taking a claim -- */

/* Returns the fault of a claim, or NULL. */
static const char *fault_of(const finder *f, const rec_plugin *plugin, const rec_logical *l)
{
    if (l->part_count > REC_PARTS_MOST || l->rank > REC_LOGICAL_RANK_MOST) {
        return "claimed more parts or dimensions than there may be";
    }
    if (l->parts[0] != &f->siblings.parts[0]) {
        return "claimed a tensor that it was not asked about";
    }
    if (!l->label[0] || !memchr(l->label, '\0', sizeof l->label) || !memchr(l->path_end, '\0', sizeof l->path_end) ||
        l->path_less > strlen(l->parts[0]->path)) {
        return "claimed a tensor without a label, or with a path that cannot be";
    }
    if (!l->unsupported && !lr_dtype_is_float(l->dtype) && !lr_dtype_is_int(l->dtype)) {
        return "claimed a tensor whose numbers are neither floats nor integers";
    }
    return !l->unsupported && (!plugin->tile || l->step > REC_STEP_MOST)
               ? "claimed a tensor without a function that decodes it, or with a step that is too long"
               : NULL;
}

/* Returns the tensor that has a part, or NULL. */
static rec_tensor *tensor_of(const finder *f, const rec_part *part)
{
    for (uint32_t i = 0; i < f->siblings.found; i++) {
        if (part == &f->siblings.parts[i]) {
            return f->siblings.tensors[i];
        }
    }
    return NULL;
}

static const char *keep_text(finder *f, const char *text)
{
    return lr_job_arena_text(f->job, &f->record->arena, text, strlen(text));
}

/* Most tensors of a file are described alike. */
static const lr_scheme *keep_scheme(finder *f, const rec_logical *l)
{
    const lr_scheme *last = f->last;
    const char *cut = l->parts[0]->path + strlen(l->parts[0]->path) - l->path_less;
    lr_scheme *kept;
    if (last && last->unsupported == l->unsupported && last->parts == l->part_count && strcmp(last->cut, cut) == 0 &&
        strcmp(last->end, l->path_end) == 0 && strcmp(last->label, l->label) == 0) {
        return last;
    }
    kept = lr_job_arena_alloc(f->job, &f->record->arena, sizeof *kept, 8);
    if (!kept) {
        return NULL;
    }
    *kept = (lr_scheme){.label = keep_text(f, l->label),
                        .cut = keep_text(f, cut),
                        .end = keep_text(f, l->path_end),
                        .unsupported = l->unsupported,
                        .parts = l->part_count};
    f->last = kept;
    return kept;
}

/* Makes the decoded tensor. Its bytes are computed on demand; a load without data has none. */
static rec_tensor *make_numbers(finder *f, const rec_plugin *plugin, const rec_logical *l, rec_tensor *const *tensors)
{
    rec_record *record = f->record;
    rec_tensor *numbers = lr_tensor_new(record, l->dtype, l->shape, l->rank);
    uint64_t count, size;
    rec_source *source;
    if (!numbers) {
        return LR_AS_NULL(lr_fail_arena(f->job, &record->arena, sizeof *numbers));
    }
    numbers->id = tensors[0]->id;
    numbers->id_made = tensors[0]->id_made;
    numbers->anonymous = tensors[0]->anonymous;
    if (!lr_shape_count(l->shape, l->rank, &count) || !lr_tensor_size(l->dtype, count, &size)) {
        return LR_AS_NULL(lr_breach(f->job, REC_UNKNOWN, "claimed a tensor of more elements than can be counted"));
    }
    if (f->job->skip) {
        numbers->data = tensors[0]->data;
        return numbers;
    }
    source = lr_scheme_source(f->job, plugin, l, tensors, l->parts[0]->path, numbers->count);
    if (source) {
        numbers->data = lr_data_lent(record, source, NULL, size, 0);
        lr_source_release(source);
    }
    if (source && !numbers->data) {
        (void)lr_fail_memory(f->job, sizeof *numbers->data);
    }
    return numbers->data ? numbers : NULL;
}

/* Whether a tensor was claimed before and has no other parts now. One that was put elsewhere without its scale, or away
 * from its config.json, is still what it was where it was loaded. */
static bool is_known(const rec_tensor *first, const rec_logical *l, rec_tensor *const *tensors)
{
    const rec_tensor *numbers = lr_encoding_of(first)->numbers;
    const lr_scheme *known = lr_encoding_of(first)->scheme;
    if (!known || l->part_count != known->parts) {
        return known && l->part_count < known->parts;
    }
    return numbers ? lr_scheme_is_of(numbers->data->source, tensors, l->part_count) : known->parts == 1;
}

static int32_t take(finder *f, const rec_plugin *plugin, const rec_logical *l)
{
    rec_tensor *tensors[REC_PARTS_MOST] = {0}, *first;
    const char *fault = fault_of(f, plugin, l);
    for (uint32_t i = 0; !fault && i < l->part_count; i++) {
        tensors[i] = tensor_of(f, l->parts[i]);
        fault = tensors[i] ? NULL : "claimed a part that it did not find with rec_sibling()";
    }
    if (fault) {
        return lr_breach(f->job, REC_UNKNOWN, "%s", fault);
    }
    first = tensors[0];
    f->claimed = true;
    if (!is_known(first, l, tensors)) {
        lr_encoding *encoding = lr_encoding_make(first);
        if (!encoding) {
            return lr_fail_memory(f->job, sizeof *encoding);
        }
        encoding->numbers = l->unsupported ? NULL : make_numbers(f, plugin, l, tensors);
        encoding->scheme = lr_job_failed(f->job) ? NULL : keep_scheme(f, l);
    }
    for (uint32_t i = 1; i < l->part_count && !lr_job_failed(f->job); i++) {
        if (tensors[i] == first) {
            continue; /* another span of it */
        }
        tensors[i]->part = true;
        if (tensors[i]->encoding) {
            *tensors[i]->encoding = (lr_encoding){.words = tensors[i]->encoding->words};
        }
    }
    return f->job->error.status;
}

static int32_t ask(finder *f, const rec_plugin *plugin)
{
    const rec_plugin *before = f->job->plugin;
    const lr_option_set *options = f->job->options;
    rec_logical logical = {.size = sizeof logical};
    lr_call call;
    int32_t status;
    f->siblings.found = 1;
    f->job->plugin = plugin;
    f->job->options = NULL;
    lr_call_begin(&call, f->job, LR_CALL_SOURCE, NULL);
    status = plugin->claim(f->job, &f->siblings, &f->siblings.parts[0], &logical);
    lr_call_end(&call);
    if (status != REC_OK && !lr_job_failed(f->job)) {
        status = lr_breach(f->job, REC_UNKNOWN, "stopped without a reason (%d)", (int)status);
    }
    if (status == REC_OK && !lr_job_failed(f->job) && logical.part_count) {
        status = take(f, plugin, &logical);
    }
    f->job->plugin = before;
    f->job->options = options;
    return f->job->error.status;
}

/* A tensor that a scheme claimed as its own before another one took it for a part is a part. */
static int32_t on_tensor(finder *f, rec_tensor *tensor, const char *path)
{
    if (tensor->part || tensor->packed != tensor->stored) {
        return REC_OK;
    }
    f->siblings.found = 0;
    (void)add_part(f->job, &f->siblings, tensor, path);
    f->claimed = false;
    for (uint32_t i = 0; i < f->scheme_count && !f->claimed && !lr_job_failed(f->job); i++) {
        (void)ask(f, f->schemes[i]);
    }
    lr_arena_free(&f->siblings.arena);
    lr_arena_init(&f->siblings.arena, f->job->allocator);
    return f->job->error.status;
}

/* ------------------------------------------------------------------------------------------------ all tensors -- */

/* What a tensor has that is stored as plain numbers of a model: a record of such tensors alone has no scheme. */
static bool is_plain(rec_dtype dtype)
{
    return lr_dtype_is_float(dtype) || lr_dtype_is_bool(dtype) || dtype == REC_DTYPE_I64;
}

/* Whether a tensor could be encoded. None is a part until it is claimed as one. */
static bool begin(rec_tensor *tensor)
{
    tensor->part = false;
    return !is_plain(tensor->stored);
}

/* Keys of a flat map are whole paths: as names they would be escaped. */
static int32_t visit_flat(finder *f, const lr_map *map)
{
    for (uint64_t i = 0; i < map->count && !lr_job_failed(f->job); i++) {
        const lr_entry *entry = &map->entries[i];
        if (entry->value.kind == REC_KIND_TENSOR && entry->key.kind == REC_KIND_STRING) {
            (void)on_tensor(f, entry->value.v.tensor, entry->key.v.text);
        }
    }
    return f->job->error.status;
}

static int32_t visit(finder *f)
{
    rec_iterator *iterator = rec_iterate(f->record);
    const rec_tensor *tensor;
    const char *path;
    while (!lr_job_failed(f->job) && iterator && (tensor = rec_iterator_next_tensor(iterator, &path))) {
        path = lr_job_arena_text(f->job, &f->siblings.arena, path, strlen(path));
        (void)(path ? on_tensor(f, (rec_tensor *)(uintptr_t)tensor, path) : REC_OK);
        lr_publish_ok(); /* a scheme may use librecord meanwhile: its failures are not the iterator's */
    }
    if (rec_error_status() == REC_E_MEMORY) {
        (void)lr_fail_memory(f->job, 0);
    }
    rec_iterator_free(iterator);
    return f->job->error.status;
}

static void list_schemes(finder *f)
{
    for (const lr_plugin *p = NULL; (p = lr_registry_next(f->job, REC_PLUGIN_SCHEME, p));) {
        if (f->scheme_count < SCHEMES_MOST) {
            f->schemes[f->scheme_count++] = &p->d;
        }
    }
}

int32_t lr_schemes_find(rec_job *job, rec_record *record, const lr_settings *settings)
{
    finder *f;
    lr_record_settle(record);
    if (!lr_value_tensors(&record->root, begin)) {
        return REC_OK;
    }
    f = lr_zalloc(job->allocator, sizeof *f);
    if (!f) {
        return lr_fail_memory(job, sizeof *f);
    }
    f->job = job;
    f->record = record;
    f->siblings.record = record;
    f->siblings.settings = settings;
    lr_arena_init(&f->siblings.arena, job->allocator);
    list_schemes(f);
    if (f->scheme_count) {
        (void)(lr_record_is_foreign(record) ? visit_flat(f, record->root.v.map) : visit(f));
    }
    lr_arena_free(&f->siblings.arena);
    lr_release(job->allocator, f);
    return job->error.status;
}
