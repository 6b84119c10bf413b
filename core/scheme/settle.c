/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Logical tensors in the place of stored ones as numbers. */
#include <stdio.h>
#include <string.h>

#include "core/scheme/scheme_private.h"

static bool needs(rec_tensor *t)
{
    return lr_encoding_of(t)->scheme || lr_encoding_of(t)->numbers || !rec_dtype_bits(t->stored);
}

bool lr_schemes_needed(const rec_record *record)
{
    return lr_value_tensors(&record->root, needs) != 0;
}

/** A record that is being settled. */
typedef struct settling {
    rec_job *job;
    rec_record *record;
    bool strict; /**< what does not become numbers is an error */
} settling;

/* ------------------------------------------------------------------------------------------------- one tensor -- */

/* @param key the path in a flat map, else NULL. */
static int32_t fail_encoded(rec_job *job, const rec_tensor *tensor, const char *key)
{
    char found[512];
    const char *path = key ? key : found;
    const lr_scheme *scheme = lr_encoding_of(tensor)->scheme;
    if (!key) {
        lr_tensor_path(tensor, found, sizeof found);
    }
    (void)lr_fail_path(job, REC_E_UNSUPPORTED, path,
                       scheme ? "stored as %s, which cannot be decoded: %s" : "stored as %s, which no scheme decodes%s",
                       scheme ? scheme->label : rec_tensor_dtype_name(tensor), scheme ? scheme->unsupported : "");
    return LR_HINT(job, "Use the precision keep to carry the tensor unchanged; `record plugins` lists the schemes.");
}

/* Whether its type is neither a number type nor complex: complex numbers have no scheme. */
static bool is_encoded(const rec_tensor *tensor)
{
    const char *name = rec_tensor_dtype_name(tensor);
    return !rec_dtype_bits(tensor->stored) && strcmp(name, "C64") != 0 && strcmp(name, "C128") != 0;
}

static const rec_value *codes_at(const lr_map *map, const char *stem, size_t length, const char *end)
{
    char name[512];
    const lr_entry *entry;
    uint32_t bits;
    if (length + strlen(end) >= sizeof name) {
        return NULL;
    }
    (void)snprintf(name, sizeof name, "%.*s%s", (int)length, stem, end);
    entry = lr_map_find_text(map, name, strlen(name));
    if (!entry || entry->value.kind != REC_KIND_TENSOR) {
        return NULL;
    }
    bits = rec_dtype_bits(entry->value.v.tensor->stored);
    return bits <= 8 && entry->value.v.tensor->stored != REC_DTYPE_BOOL ? &entry->key : NULL;
}

/* The tensor of codes that a name belongs to as a scale: "weight" of "weight_scale_inv" and of "scale". NULL: none. */
static const rec_value *codes_of(const lr_map *map, const char *name)
{
    const char *dot = strrchr(name, '.'), *last = dot ? dot + 1 : name, *scale = strstr(last, "_scale");
    const rec_value *codes = NULL;
    for (; scale && !codes; scale = strstr(scale + 1, "_scale")) {
        codes = codes_at(map, name, (size_t)(scale - name), "");
    }
    return !codes && strncmp(last, "scale", 5) == 0 ? codes_at(map, name, (size_t)(last - name), "weight") : codes;
}

/* A scale that no scheme uses belongs to codes that would be taken for the numbers themselves. */
static int32_t check_scale(const settling *s, const lr_map *map, const lr_entry *entry)
{
    const char *name = entry->key.kind == REC_KIND_STRING ? entry->key.v.text : NULL;
    const rec_value *codes = name ? codes_of(map, name) : NULL;
    if (!codes) {
        return REC_OK;
    }
    (void)lr_fail_path(s->job, REC_E_UNSUPPORTED, name, "a scale of %s that no scheme uses", codes->v.text);
    return LR_HINT(s->job, "Without the scale the numbers are wrong. Use the precision keep to carry both unchanged.");
}

static void become_numbers(rec_tensor *tensor, rec_precision precision)
{
    rec_tensor *numbers = tensor->encoding->numbers;
    rec_tensor stored = *tensor;
    lr_tensor_free_views(tensor);
    *tensor = *numbers;
    tensor->id = stored.id;
    tensor->id_made = stored.id_made;
    tensor->anonymous = stored.anonymous;
    tensor->dtype = (uint8_t)lr_dtype_at(tensor->stored, precision);
}

static bool is_renamed(const lr_scheme *scheme)
{
    return scheme && (*scheme->cut || *scheme->end);
}

/* Gives an entry the name of its logical tensor, unless a rule has renamed it. */
static int32_t give_name(const settling *s, rec_value *key, const lr_scheme *scheme)
{
    lr_arena *arena = &s->record->arena;
    size_t cut = strlen(scheme->cut), end = strlen(scheme->end), stem = key->length - cut;
    char *name;
    if (key->kind != REC_KIND_STRING || key->length < cut || memcmp(key->v.text + stem, scheme->cut, cut) != 0) {
        return REC_OK;
    }
    name = lr_arena_alloc(arena, stem + end + 1, 1);
    if (!name) {
        return lr_fail_memory(s->job, stem + end + 1);
    }
    memcpy(name, key->v.text, stem);
    memcpy(name + stem, scheme->end, end + 1);
    return lr_string(arena, name, stem + end, key) ? REC_OK : lr_fail_memory(s->job, stem + end + 1);
}

/* -------------------------------------------------------------------------------------------------- all of it -- */

/* @param entry of a map, or NULL. @return REC_OK also for what stays. */
static int32_t settle_tensor(const settling *s, rec_tensor *tensor, lr_entry *entry, bool flat)
{
    const lr_scheme *scheme = lr_encoding_of(tensor)->scheme;
    if (!lr_encoding_of(tensor)->numbers) {
        return s->strict && (scheme || is_encoded(tensor))
                   ? fail_encoded(s->job, tensor, flat && entry ? entry->key.v.text : NULL)
                   : REC_OK;
    }
    if (is_renamed(scheme) && entry && give_name(s, &entry->key, scheme) != REC_OK) {
        return s->job->error.status;
    }
    become_numbers(tensor, s->record->precision);
    return REC_OK;
}

static int32_t settle(const settling *s, rec_value *value, bool flat);

/* Parts go, and what stays moves up. */
static int32_t settle_map(const settling *s, lr_map *map, bool flat)
{
    lr_arena *arena = &s->record->arena;
    lr_entry *twice = NULL;
    uint64_t kept = 0;
    bool changed = false;
    for (uint64_t i = 0; s->strict && i < map->count && !lr_job_failed(s->job); i++) {
        const rec_value *value = &map->entries[i].value;
        if (value->kind == REC_KIND_TENSOR && !value->v.tensor->part) {
            (void)check_scale(s, map, &map->entries[i]);
        }
    }
    for (uint64_t i = 0; i < map->count && !lr_job_failed(s->job); i++) {
        lr_entry *entry = &map->entries[i];
        bool tensor = entry->value.kind == REC_KIND_TENSOR;
        if (tensor && entry->value.v.tensor->part) {
            changed = true;
            continue;
        }
        changed = changed || (tensor && is_renamed(lr_encoding_of(entry->value.v.tensor)->scheme));
        (void)(tensor ? settle_tensor(s, entry->value.v.tensor, entry, flat) : settle(s, &entry->value, false));
        map->entries[kept++] = *entry;
    }
    if (!changed || lr_job_failed(s->job)) {
        return s->job->error.status;
    }
    map->count = kept;
    if (!lr_map_index(arena, map, &twice)) {
        return lr_fail_memory(s->job, kept * sizeof *map->entries);
    }
    return twice
               ? lr_fail_path(s->job, REC_E_MISMATCH, twice->key.v.text, "a decoded tensor has the name of another one")
               : REC_OK;
}

static int32_t settle(const settling *s, rec_value *value, bool flat)
{
    if (value->kind == REC_KIND_MAP) {
        return settle_map(s, value->v.map, flat);
    }
    if (value->kind == REC_KIND_LIST) {
        for (uint64_t i = 0; i < value->v.list->count && !lr_job_failed(s->job); i++) {
            (void)settle(s, &value->v.list->items[i], false);
        }
    } else if (value->kind == REC_KIND_VARIANT && value->v.variant->has_payload) {
        return settle(s, &value->v.variant->payload, false);
    } else if (value->kind == REC_KIND_TENSOR) {
        return settle_tensor(s, value->v.tensor, NULL, false);
    }
    return s->job->error.status;
}

static int32_t settle_record(rec_job *job, rec_record *record, bool strict)
{
    settling s = {.job = job, .record = record, .strict = strict};
    lr_record_settle(record);
    return settle(&s, &record->root, record->root.form == REC_FORM_PATHS);
}

int32_t lr_schemes_decode(rec_job *job, rec_record *record)
{
    return settle_record(job, record, true);
}

int32_t lr_schemes_try(rec_job *job, rec_record *record)
{
    return settle_record(job, record, false);
}
