/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Examines a record's modules: inconsistent tensors in one module, layers that lack fields of their siblings. It
 * reports, and changes nothing: such files exist, and Burn loads them. */
#include <inttypes.h>
#include <stdio.h>

#include "burn/layout/layout.h"

enum { PATH_ROOM = 512, TEXT_ROOM = 1400 };

/* Findings of one kind: the first, and their number. */
typedef struct finding {
    uint64_t count;
    char text[TEXT_ROOM];
} finding;

typedef struct looker {
    rec_job *job;
    const lr_modules *modules; /* NULL: siblings alone */
    char path[PATH_ROOM];
    size_t used;
    finding clashes, lacks;
} looker;

static size_t enter(looker *l, const char *name, uint64_t length)
{
    size_t before = l->used, most = sizeof l->path - 1, n = strnlen(name, (size_t)length);
    if (before && l->used < most) {
        l->path[l->used++] = '.';
    }
    n = n < most - l->used ? n : most - l->used;
    memcpy(l->path + l->used, name, n);
    l->used += n;
    l->path[l->used] = '\0';
    return before;
}

static void leave(looker *l, size_t before)
{
    l->used = before;
    l->path[before] = '\0';
}

/* ---------------------------------------------------------------------------------------------------- siblings -- */

static uint64_t count_tensors(const rec_value *value)
{
    uint64_t count = value->kind == REC_KIND_TENSOR;
    for (uint64_t i = 0; value->kind == REC_KIND_MAP && i < value->v.map->count; i++) {
        count += count_tensors(&value->v.map->entries[i].value);
    }
    return count;
}

static const rec_value *field(const rec_value *value, const rec_value *key)
{
    const lr_entry *entry =
        key->kind == REC_KIND_STRING ? lr_map_find_text(value->v.map, key->v.text, key->length) : NULL;
    return entry && entry->value.kind != REC_KIND_NIL ? &entry->value : NULL;
}

/* Whether what both have directly in them is alike: the same kind of layer, and `b` has nothing that `a` lacks. */
static bool are_alike(const rec_value *a, const rec_value *b)
{
    uint64_t common = 0;
    for (uint64_t i = 0; i < b->v.map->count; i++) {
        const rec_value *in_b = &b->v.map->entries[i].value;
        const rec_value *in_a = field(a, &b->v.map->entries[i].key);
        if (in_b->kind != REC_KIND_TENSOR && in_b->kind != REC_KIND_MAP) {
            continue;
        }
        if (!in_a || in_a->kind != in_b->kind ||
            (in_b->kind == REC_KIND_TENSOR && in_a->v.tensor->rank != in_b->v.tensor->rank)) {
            return false;
        }
        common++;
    }
    return common > 0;
}

/* What `b` lacks of `a`. */
static void compare(looker *l, const rec_value *a, const rec_value *b)
{
    if (a->kind != REC_KIND_MAP || b->kind != REC_KIND_MAP || !are_alike(a, b)) {
        return;
    }
    for (uint64_t i = 0; i < a->v.map->count; i++) {
        const lr_entry *entry = &a->v.map->entries[i];
        const rec_value *other = field(b, &entry->key);
        size_t before;
        if (entry->key.kind != REC_KIND_STRING) {
            continue;
        }
        if (!other && entry->value.kind == REC_KIND_TENSOR) {
            if (l->lacks.count++ == 0) {
                (void)snprintf(l->lacks.text, sizeof l->lacks.text, "%s has no %.100s, which its siblings have",
                               l->path, entry->key.v.text);
            }
        } else if (other) {
            before = enter(l, entry->key.v.text, entry->key.length);
            compare(l, &entry->value, other);
            leave(l, before);
        }
    }
}

/* Most of them must have what some lack: two layers of which one has a bias are two kinds of layers. */
static void compare_siblings(looker *l, const lr_list *list)
{
    const rec_value *most = NULL;
    uint64_t tensors = 0, full = 0, lacking = 0;
    finding before_all = l->lacks;
    for (uint64_t i = 0; i < list->count; i++) {
        uint64_t count = count_tensors(&list->items[i]);
        if (list->items[i].kind == REC_KIND_MAP && count > tensors) {
            most = &list->items[i];
            tensors = count;
        }
    }
    for (uint64_t i = 0; most && i < list->count; i++) {
        char index[24];
        int n = snprintf(index, sizeof index, "%" PRIu64, i);
        size_t before = enter(l, index, (uint64_t)n);
        uint64_t count = l->lacks.count;
        compare(l, most, &list->items[i]);
        lacking += l->lacks.count > count;
        full += l->lacks.count == count && list->items[i].kind == REC_KIND_MAP && are_alike(most, &list->items[i]);
        leave(l, before);
    }
    if (lacking >= full) {
        l->lacks = before_all;
    }
}

/* ----------------------------------------------------------------------------------------------------- modules -- */

static void check(looker *l, const rec_value *value)
{
    lr_module_clash clash;
    char shapes[2][160];
    bool sure;
    const char *name = strrchr(l->path, '.');
    const char *module = l->modules->recognise(l->job, value, name ? name + 1 : l->path, &sure);
    if (!module || l->modules->hold(l->job, module, value, &clash) != 0) {
        return;
    }
    for (int i = 0; i < 2; i++) {
        (void)lr_shape_words(shapes[i], sizeof shapes[i], clash.tensor[i]->shape, clash.tensor[i]->rank);
    }
    if (l->clashes.count++ == 0) {
        (void)snprintf(l->clashes.text, sizeof l->clashes.text,
                       "%s%s%.128s %s with %.128s %s: they do not go together in a %.64s", l->path,
                       *l->path ? ": " : "", clash.path[0], shapes[0], clash.path[1], shapes[1], module);
    }
}

static void look(looker *l, const rec_value *value)
{
    uint64_t count = rec_value_count(value);
    bool list = value->kind == REC_KIND_LIST;
    if (value->kind == REC_KIND_VARIANT && value->v.variant->has_payload) {
        look(l, &value->v.variant->payload);
        return;
    }
    if ((!list && value->kind != REC_KIND_MAP) || lr_job_failed(l->job)) {
        return;
    }
    if (list) {
        compare_siblings(l, value->v.list);
    } else if (l->modules) {
        check(l, value);
    }
    for (uint64_t i = 0; i < count; i++) {
        const lr_entry *entry = list ? NULL : &value->v.map->entries[i];
        const rec_value *child = list ? &value->v.list->items[i] : &entry->value;
        char index[24];
        size_t before;
        if (child->kind != REC_KIND_LIST && child->kind != REC_KIND_MAP && child->kind != REC_KIND_VARIANT) {
            continue;
        }
        if (list || entry->key.kind != REC_KIND_STRING) {
            int n = snprintf(index, sizeof index, "%" PRIu64, i);
            before = enter(l, index, (uint64_t)n);
        } else {
            before = enter(l, entry->key.v.text, entry->key.length);
        }
        look(l, child);
        leave(l, before);
    }
}

static int32_t report(looker *l, finding *f, lr_module_told told, void *user)
{
    size_t used = strlen(f->text);
    if (f->count > 1) {
        (void)snprintf(f->text + used, sizeof f->text - used, " (and %" PRIu64 " more)", f->count - 1);
    }
    return f->count && !lr_job_failed(l->job) ? told(user, f->text) : l->job->error.status;
}

int32_t lr_modules_look(rec_job *job, const rec_value *root, bool shapes, lr_module_told told, void *user)
{
    looker l = {.job = job, .modules = shapes ? job->context->modules : NULL};
    int32_t status;
    look(&l, root);
    status = report(&l, &l.clashes, told, user);
    return status == REC_OK ? report(&l, &l.lacks, told, user) : status;
}
