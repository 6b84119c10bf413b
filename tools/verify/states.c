/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A model and its optimizer: the states of the optimizer are stored under the ids of the model's parameters. */
#include <stdlib.h>
#include <string.h>

#include "tools/verify/verify_private.h"

/* The id that a key of an optimizer is. */
static bool is_state(const rec_value *root, uint64_t index, uint64_t *id)
{
    const rec_value *state = rec_value_item(root, index);
    rec_scalar key = rec_value_key(root, index), version = rec_value_key(state, 0);

    return key.kind == REC_KIND_STRING && rec_id_number(key.text, id) && rec_value_count(state) == 1 &&
           version.kind == REC_KIND_STRING && version.v.length == 2 && memcmp(version.text, "V1", 2) == 0;
}

static bool is_optimizer(const rec_value *root)
{
    uint64_t count = rec_value_kind(root) == REC_KIND_MAP ? rec_value_count(root) : 0, id;

    for (uint64_t i = 0; i < count; i++) {
        if (!is_state(root, i, &id)) {
            return false;
        }
    }
    return count > 0;
}

static void add(state_owners *o, uint64_t id, const char *key)
{
    o->at = tool_grown(o->at, o->count, sizeof *o->at);
    o->at[o->count++] = (struct state_owner){id, xstrdup(key)};
}

static int by_id(const void *a, const void *b)
{
    const struct state_owner *x = a, *y = b;

    return x->id < y->id ? -1 : x->id > y->id;
}

static int list_parameters(const rec_record *record, state_owners *o)
{
    rec_iterator *iterator = rec_iterate(record);
    const rec_tensor *tensor;
    const char *path;
    uint64_t id;

    if (!iterator) {
        return tool_fail_library();
    }
    while ((tensor = rec_iterator_next_tensor(iterator, &path))) {
        if (rec_tensor_id(tensor) && rec_id_number(rec_tensor_id(tensor), &id)) {
            add(o, id, path);
        }
    }
    rec_iterator_free(iterator);
    return EXIT_OK;
}

int tool_states_list(const rec_record *record, const char *file, state_owners *o, bool *optimizer)
{
    const rec_value *root = rec_root(record);
    int status = EXIT_OK;
    uint64_t id;

    *o = (state_owners){.file = file};
    *optimizer = is_optimizer(root);
    for (uint64_t i = 0; *optimizer && i < rec_value_count(root); i++) {
        if (is_state(root, i, &id)) {
            add(o, id, rec_value_key(root, i).text);
        }
    }
    if (!*optimizer) {
        status = list_parameters(record, o);
    }
    if (o->count) {
        qsort(o->at, o->count, sizeof *o->at, by_id);
    }
    return status;
}

const char *tool_states_lacking(const state_owners *these, const state_owners *those, size_t *at)
{
    while (*at < these->count) {
        const struct state_owner *one = &these->at[(*at)++];
        if (!those->count || !bsearch(one, those->at, those->count, sizeof *one, by_id)) {
            return one->key;
        }
    }
    return NULL;
}

void tool_states_free(state_owners *o)
{
    for (size_t i = 0; i < o->count; i++) {
        free(o->at[i].key);
    }
    free(o->at);
    *o = (state_owners){0};
}
