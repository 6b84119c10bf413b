/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The keys of a plan's sources: every tensor and every other value of a record under its dotted key. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "burn/layout/layout.h"
#include "common/names.h"
#include "remap/plan/plan.h"

typedef struct lister {
    rec_job *job;
    rec_plan *plan;
    lr_plan_source *source;
    uint32_t number;
    uint64_t room;
    lr_place_path path;
    const char *module; /* of the map where the walk is */
} lister;

static int32_t add(lister *l, const char *text, uint64_t length, const rec_value *value)
{
    lr_plan_source *s = l->source;
    length = text ? length : l->path.used;
    if (length > UINT32_MAX) {
        return rec_fail(l->job, REC_E_LIMIT, REC_UNKNOWN, "a key of more than 4,294,967,295 bytes");
    }
    if (!lr_job_grow(l->job, &s->keys, s->key_count + 1, &l->room, sizeof *s->keys)) {
        return l->job->error.status;
    }
    if (!text) { /* where the walk is */
        text = lr_arena_text(&l->plan->arena, l->path.text ? l->path.text : "", l->path.used);
        if (!text) {
            return lr_fail_memory(l->job, length);
        }
    }
    s->keys[s->key_count++] = (lr_key){.text = text,
                                       .value = value,
                                       .module = l->module,
                                       .length = (uint32_t)length,
                                       .source = l->number & LR_SOURCES_MOST};
    return REC_OK;
}

static int32_t list(lister *l, const rec_value *value, unsigned depth);

bool lr_plan_is_raw(const char *name, uint64_t length)
{
    return length > 2 && name[0] == 'r' && name[1] == '#' &&
           ((name[2] >= 'a' && name[2] <= 'z') || (name[2] >= 'A' && name[2] <= 'Z') || name[2] == '_');
}

/* In a reverse conversion names are those of a record, like PyTorch's. */
static bool loses_raw(const lister *l, const char *name, uint64_t length)
{
    const rec_record *record = l->source->record;
    return l->source->reverse && (record->root.form == REC_FORM_PATHS || record->dotted) &&
           lr_plan_is_raw(name, length);
}

static int32_t below(lister *l, const char *name, uint64_t length, const rec_value *value, unsigned depth)
{
    bool whole = depth == 0 && l->source->record->flat;
    size_t before;
    int32_t status;
    if (loses_raw(l, name, length)) {
        name += 2;
        length -= 2;
    }
    if (!(whole ? lr_place_enter_path : lr_place_enter)(l->job, &l->path, name, length, &before)) {
        return l->job->error.status;
    }
    status = list(l, value, depth + 1);
    lr_place_leave(&l->path, before);
    return status;
}

/* The module that a map is; a weight is transposed or not by it, so it must be certain, and its shapes must bear it
 * out. */
static const char *module_of(const lister *l, const rec_value *value)
{
    const lr_modules *modules = l->plan->context->modules;
    lr_module_clash clash;
    bool sure;
    bool asked = l->source->reverse || l->source->record == l->plan->base;
    const char *module = asked && modules ? modules->recognise(l->job, value, "", &sure) : NULL;
    return module && sure && modules->hold(l->job, module, value, &clash) == 1 ? module : NULL;
}

static int32_t list_map(lister *l, const rec_value *value, unsigned depth)
{
    const char *outer = l->module;
    int32_t status = REC_OK;
    char text[24];
    l->module = module_of(l, value);
    if (lr_job_failed(l->job)) {
        return l->job->error.status;
    }
    for (uint64_t i = 0; i < value->v.map->count && status == REC_OK; i++) {
        const lr_entry *entry = &value->v.map->entries[i];
        rec_scalar key = lr_to_scalar(&entry->key);
        if (depth == 0 && l->source->record->flat && key.kind == REC_KIND_STRING &&
            entry->value.kind == REC_KIND_TENSOR) {
            status = add(l, key.text, key.v.length, &entry->value); /* all keys of a foreign file: no copy */
        } else if (key.kind == REC_KIND_STRING) {
            status = below(l, key.text, key.v.length, &entry->value, depth);
        } else { /* a map by number or bool */
            int n = key.kind == REC_KIND_UINT ? snprintf(text, sizeof text, "%" PRIu64, key.v.u)
                                              : snprintf(text, sizeof text, "%" PRId64, key.v.i);
            status = below(l, text, (uint64_t)n, &entry->value, depth);
        }
    }
    l->module = outer;
    return value->v.map->count || depth == 0 ? status : add(l, NULL, 0, value);
}

static int32_t list(lister *l, const rec_value *value, unsigned depth)
{
    int32_t status = REC_OK;
    char text[24];
    switch (value->kind) {
    case REC_KIND_LIST:
        for (uint64_t i = 0; i < value->v.list->count && status == REC_OK; i++) {
            int n = snprintf(text, sizeof text, "%" PRIu64, i);
            status = below(l, text, (uint64_t)n, &value->v.list->items[i], depth);
        }
        return value->v.list->count ? status : add(l, NULL, 0, value);
    case REC_KIND_MAP:
        return list_map(l, value, depth);
    case REC_KIND_VARIANT:
        if (value->v.variant->has_payload) {
            const rec_value *name = &value->v.variant->name;
            return below(l, name->v.text, name->length, &value->v.variant->payload, depth);
        }
        return add(l, NULL, 0, value);
    default:
        return add(l, NULL, 0, value);
    }
}

int32_t lr_plan_keys(rec_job *job, rec_plan *plan, uint32_t source)
{
    lister l = {.job = job, .plan = plan, .source = &plan->sources[source], .number = source};
    int32_t status;
    lr_record_settle(l.source->record);
    status = list(&l, &l.source->record->root, 0);
    lr_release(job->allocator, l.path.text);
    return status;
}

/* ------------------------------------------------------------------------------------------------- finding one -- */

static int by_text(const void *a, const void *b)
{
    const lr_key *x = *(lr_key *const *)a, *y = *(lr_key *const *)b;
    return lr_text_order(x->text, x->length, y->text, y->length);
}

lr_key *lr_plan_find_key(rec_job *job, lr_plan_source *source, const char *text, uint64_t length)
{
    lr_key wanted = {.text = text, .length = (uint32_t)length}, *key = &wanted, **found;
    if (!source->sorted) { /* on first use */
        source->sorted = lr_job_alloc(job, (source->key_count + 1) * sizeof *source->sorted);
        if (!source->sorted) {
            return NULL;
        }
        for (uint64_t i = 0; i < source->key_count; i++) {
            source->sorted[i] = &source->keys[i];
        }
        qsort(source->sorted, (size_t)source->key_count, sizeof *source->sorted, by_text);
    }
    found = bsearch(&key, source->sorted, (size_t)source->key_count, sizeof *found, by_text);
    return found ? *found : NULL;
}
