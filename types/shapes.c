/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Which dimensions of a module's tensors must be equal: the sections [shapes NAME], and whether a module keeps to
 * them. */
#include <stdio.h>

#include "types/types.h"

const lr_shapes *lr_types_shapes(const rec_types *types, const char *name)
{
    for (const lr_shapes *shapes = types->shapes; shapes; shapes = shapes->next) {
        if (strcmp(shapes->name, name) == 0) {
            return shapes;
        }
    }
    return NULL;
}

/* A word, with the number it stands for and where that was seen first. */
typedef struct bound {
    const char *word;
    uint64_t number;
    const rec_tensor *tensor;
    char path[LR_MODULE_PATH];
    uint32_t axis;
} bound;

typedef struct checker {
    const lr_shape_rule *rule;
    const char *module;
    bound bounds[LR_SHAPES_WORDS];
    uint64_t count;
    lr_module_clash *clash;
    char path[LR_MODULE_PATH];
} checker;

static bool check_axis(checker *c, const rec_tensor *tensor, uint32_t axis)
{
    const char *word = c->rule->words[axis];
    bool multiple = *word == '*';
    uint64_t number = tensor->shape[axis];
    bound *b = c->bounds;
    word += multiple;
    if (strcmp(word, "_") == 0) {
        return true;
    }
    while (b < c->bounds + c->count && strcmp(b->word, word) != 0) {
        b++;
    }
    if (b == c->bounds + c->count) {
        if (!multiple && c->count < LR_SHAPES_WORDS) {
            *b = (bound){.word = word, .number = number, .tensor = tensor, .axis = axis};
            (void)snprintf(b->path, sizeof b->path, "%s", c->path);
            c->count++;
        }
        return true;
    }
    if (multiple ? (b->number ? number % b->number == 0 : number == 0) : number == b->number) {
        return true;
    }
    *c->clash = (lr_module_clash){.module = c->module, .tensor = {b->tensor, tensor}, .axis = {b->axis, axis}};
    (void)snprintf(c->clash->path[0], sizeof c->clash->path[0], "%s", b->path);
    (void)snprintf(c->clash->path[1], sizeof c->clash->path[1], "%s", c->path);
    return false;
}

static bool check_tensor(checker *c, const rec_value *value)
{
    const rec_tensor *tensor = value->kind == REC_KIND_TENSOR ? value->v.tensor : NULL;
    if (!tensor || tensor->rank != c->rule->count) {
        return true; /* what is no tensor of this rank is a matter of the type */
    }
    for (uint32_t axis = 0; axis < tensor->rank; axis++) {
        if (!check_axis(c, tensor, axis)) {
            return false;
        }
    }
    return true;
}

static bool check_path(checker *c, const rec_value *value, const char *path, size_t used);

static bool check_child(checker *c, const rec_value *child, const char *name, size_t length, const char *rest,
                        size_t used)
{
    int more = snprintf(c->path + used, sizeof c->path - used, "%s%.*s", used ? "." : "", (int)length, name);
    bool ok = more < 0 || used + (size_t)more >= sizeof c->path || check_path(c, child, rest, used + (size_t)more);
    c->path[used] = '\0';
    return ok;
}

/* Follows a rule's path from a value on. @param path what is left of it, "" at its end. */
static bool check_path(checker *c, const rec_value *value, const char *path, size_t used)
{
    size_t length = strcspn(path, ".");
    const char *rest = path + length + (path[length] == '.');
    if (value->kind == REC_KIND_VARIANT && value->v.variant->has_payload) {
        value = &value->v.variant->payload;
    }
    if (!length) {
        return check_tensor(c, value);
    }
    if (length == 1 && *path == '_') {
        for (uint64_t i = 0; value->kind == REC_KIND_LIST && i < value->v.list->count; i++) {
            char index[24];
            int n = snprintf(index, sizeof index, "%llu", (unsigned long long)i);
            if (!check_child(c, &value->v.list->items[i], index, (size_t)n, rest, used)) {
                return false;
            }
        }
        for (uint64_t i = 0; value->kind == REC_KIND_MAP && i < value->v.map->count; i++) {
            const lr_entry *entry = &value->v.map->entries[i];
            if (entry->key.kind == REC_KIND_STRING &&
                !check_child(c, &entry->value, entry->key.v.text, entry->key.length, rest, used)) {
                return false;
            }
        }
        return true;
    }
    if (value->kind == REC_KIND_MAP) {
        const lr_entry *entry = lr_map_find_text(value->v.map, path, length);
        return !entry || check_child(c, &entry->value, path, length, rest, used);
    }
    return true;
}

bool lr_shapes_hold(const lr_shapes *shapes, const rec_value *module, lr_module_clash *clash)
{
    checker c = {.module = shapes->name, .clash = clash};
    for (uint64_t i = 0; i < shapes->rule_count; i++) {
        c.rule = &shapes->rules[i];
        if (!check_path(&c, module, c.rule->path, 0)) {
            return false;
        }
    }
    return true;
}
