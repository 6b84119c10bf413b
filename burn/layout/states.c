/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Optimizers and schedulers as Burn keeps them from 0.22 on: flat states, whose leaves have paths. What a Burn with
 * recorders had in their place is made of them, and the other way round walk_paths.c makes them. */
#include "burn/layout/layout.h"

#include <inttypes.h>
#include <stdio.h>

/* -------------------------------------------------------------------------------------------------- schedulers -- */

static const lr_scheduler schedulers[] = {
    {"NoamLrScheduler", "Noam", "step", REC_KIND_FLOAT},
    {"CosineAnnealingLrScheduler", "Cosine", "current_iter", REC_KIND_UINT},
    {"LinearLrScheduler", "Linear", "remaining_iters", REC_KIND_UINT},
    {"ExponentialLrScheduler", "Exponential", "previous_lr", REC_KIND_FLOAT},
    {"StepLrScheduler", "Step", "iter_idx", REC_KIND_INT},
};

const lr_scheduler *lr_scheduler_find(const char *type, const char *variant, const char *name)
{
    for (size_t i = 0; i < sizeof schedulers / sizeof *schedulers; i++) {
        const lr_scheduler *s = &schedulers[i];
        if ((type && strcmp(s->type, type) == 0) || (variant && strcmp(s->variant, variant) == 0) ||
            (name && strcmp(s->name, name) == 0)) {
            return s;
        }
    }
    return NULL;
}

bool lr_scheduler_is_composed(const rec_value *root)
{
    const lr_list *list;
    if (root->kind != REC_KIND_MAP || root->v.map->count != 1 ||
        !lr_value_is(&root->v.map->entries[0].key, "schedulers") ||
        root->v.map->entries[0].value.kind != REC_KIND_LIST) {
        return false;
    }
    list = root->v.map->entries[0].value.v.list;
    for (uint64_t i = 0; i < list->count; i++) {
        const rec_value *payload, *name = lr_value_variant(&list->items[i], &payload);
        if (name->kind != REC_KIND_STRING || !lr_scheduler_find(NULL, name->v.text, NULL)) {
            return false;
        }
    }
    return list->count > 0;
}

bool lr_optimizer_is(const rec_value *root)
{
    const lr_map *map = root->kind == REC_KIND_MAP ? root->v.map : NULL;
    for (uint64_t i = 0; map && i < map->count; i++) {
        const rec_value *value = &map->entries[i].value;
        const rec_value *name = value->kind == REC_KIND_VARIANT ? &value->v.variant->name
                                : value->kind == REC_KIND_MAP && value->v.map->count == 1
                                    ? &value->v.map->entries[0].key
                                    : NULL;
        if (!name || !lr_value_is(name, "V1") || map->entries[i].key.kind != REC_KIND_STRING) {
            return false;
        }
    }
    return map && map->count > 0;
}

/* Says of all tensors below a value that they are no parameters. */
static void mark_bare(rec_value *value)
{
    uint64_t count = value->kind == REC_KIND_LIST || value->kind == REC_KIND_MAP || value->kind == REC_KIND_VARIANT
                         ? rec_value_count(value)
                         : 0;
    if (value->kind == REC_KIND_TENSOR) {
        value->v.tensor->anonymous = false;
    }
    for (uint64_t i = 0; i < count; i++) {
        mark_bare((rec_value *)(uintptr_t)rec_value_item(value, i)); /* sheds the const: the caller's own record */
    }
}

void lr_states_mark(rec_record *record)
{
    if (record->states || lr_optimizer_is(&record->root)) {
        mark_bare(&record->root);
    }
}

static int32_t fail_lower(rec_job *job, const char *what)
{
    (void)rec_fail(job, REC_E_UNSUPPORTED, REC_UNKNOWN, "a state of Burn 0.22 or later that no earlier Burn has: %s",
                   what);
    rec_fail_hint(job, "Write it as .bpk.");
    return job->error.status;
}

/* Restores the number of a scheduler whose state is this map. */
static int32_t lower_one(rec_job *job, const rec_value *state, const lr_scheduler **kind, rec_value *out)
{
    const lr_entry *only = state->kind == REC_KIND_MAP && state->v.map->count == 1 ? &state->v.map->entries[0] : NULL;
    int32_t wanted;
    *kind = only && only->key.kind == REC_KIND_STRING ? lr_scheduler_find(NULL, NULL, only->key.v.text) : NULL;
    if (!*kind || only->value.kind == REC_KIND_MAP) {
        return fail_lower(
            job, "one that is neither a Noam, Cosine, Linear, Exponential, Step nor composed of such schedulers");
    }
    *out = only->value;
    wanted = (*kind)->kind;
    if (strcmp((*kind)->variant, "Noam") == 0) {
        double step = out->kind == REC_KIND_FLOAT ? out->v.f : (double)out->v.u;
        if (!(step >= 0 && step <= 0x1p53) || step != (double)(uint64_t)step) {
            return fail_lower(job, "a Noam scheduler whose step is not a whole number");
        }
        *out = (rec_value){.kind = REC_KIND_UINT, .bits = 64, .v.u = (uint64_t)step};
        wanted = REC_KIND_UINT;
    } else if (wanted == REC_KIND_FLOAT && out->kind != REC_KIND_FLOAT) {
        *out = (rec_value){
            .kind = REC_KIND_FLOAT, .bits = 64, .v.f = out->kind == REC_KIND_INT ? (double)out->v.i : (double)out->v.u};
    } else if (wanted == REC_KIND_INT && out->kind != REC_KIND_FLOAT) {
        *out = (rec_value){.kind = REC_KIND_INT, .bits = 32, .v.i = out->v.i};
    }
    return out->kind == wanted ? REC_OK : fail_lower(job, "a scheduler whose number is of another kind");
}

/* The entry of a key, made if it is not there. */
static lr_entry *entry_of(lr_arena *arena, lr_map *map, const char *text, uint64_t length)
{
    lr_entry *entry = lr_map_find_text(map, text, length);
    rec_value key;
    if (!entry && lr_string(arena, text, length, &key)) {
        entry = lr_map_append(arena, map, key);
        if (entry) {
            entry->value = lr_nil(REC_FORM_UNKNOWN);
        }
    }
    return entry;
}

int32_t lr_scheduler_lower(rec_job *job, const rec_value *state, rec_value *out)
{
    const lr_entry *group = state->kind == REC_KIND_MAP && state->v.map->count == 1 ? &state->v.map->entries[0] : NULL;
    const lr_scheduler *kind;
    lr_arena *arena;
    lr_map *map;
    lr_list *list;
    const lr_map *children;
    if (!group || !lr_value_is(&group->key, "0") || group->value.kind != REC_KIND_MAP) {
        return fail_lower(job, "one of several groups, or of no scheduler");
    }
    children = group->value.v.map;
    if (!children->count || children->entries[0].value.kind != REC_KIND_MAP) {
        return lower_one(job, &group->value, &kind, out);
    }
    if (!lr_layouts_begin(job)) {
        return job->error.status;
    }
    arena = &job->layouts->arena;
    map = lr_map_new(arena, 1);
    list = lr_list_new(arena, children->count);
    for (uint64_t i = 0; map && list && i < children->count; i++) {
        rec_value *item = lr_list_append(arena, list);
        lr_map *variant = lr_map_new(arena, 1);
        lr_entry *entry = NULL;
        rec_value number;
        char index[24];
        (void)snprintf(index, sizeof index, "%" PRIu64, i);
        if (!lr_value_is(&children->entries[i].key, index)) {
            return fail_lower(job, "a composed scheduler whose parts are not numbered");
        }
        if (lower_one(job, &children->entries[i].value, &kind, &number) != REC_OK) {
            return job->error.status;
        }
        if (item && variant) {
            entry = entry_of(arena, variant, kind->variant, strlen(kind->variant));
        }
        if (!entry) {
            return lr_fail_memory(job, sizeof *entry);
        }
        entry->value = number;
        *item = (rec_value){.kind = REC_KIND_MAP, .form = REC_FORM_MAP, .v.map = variant};
    }
    if (map && list) {
        lr_entry *entry = entry_of(arena, map, "schedulers", 10);
        if (entry) {
            entry->value = (rec_value){.kind = REC_KIND_LIST, .form = REC_FORM_LIST, .v.list = list};
            *out = (rec_value){.kind = REC_KIND_MAP, .form = REC_FORM_STRUCT, .v.map = map};
            return REC_OK;
        }
    }
    return lr_fail_memory(job, sizeof *map);
}

/* ----------------------------------------------------------------------------------------------------- raising -- */

typedef struct raising {
    rec_job *job;
    rec_record *record;
} raising;

static bool has_states(const lr_map *flat)
{
    for (uint64_t i = 0; i < flat->count; i++) {
        if (flat->entries[i].value.kind != REC_KIND_TENSOR) {
            return true;
        }
    }
    return false;
}

/* The number that a key of an optimizer's state begins with. @return the length of its text, 0: it begins with none. */
static size_t leading_id(const rec_value *key, uint64_t *number)
{
    size_t used = 0;
    *number = 0;
    while (used < key->length && lr_is_digit(key->v.text[used])) {
        uint64_t digit = (uint64_t)(key->v.text[used] - '0');
        if (*number > (UINT64_MAX - digit) / 10) {
            return 0;
        }
        *number = *number * 10 + digit;
        used++;
    }
    return used && used < key->length && key->v.text[used] == '.' && (used == 1 || key->v.text[0] != '0') ? used : 0;
}

static bool is_rank(const rec_value *key, size_t id)
{
    return key->length == id + 7 && memcmp(key->v.text + id, ".__rank", 7) == 0;
}

/* Whether all keys begin with the id of a parameter, and there is a rank. */
static bool is_optimizer(const lr_map *flat)
{
    bool ranks = false;
    uint64_t number;
    for (uint64_t i = 0; i < flat->count; i++) {
        const rec_value *key = &flat->entries[i].key;
        size_t id = leading_id(key, &number);
        if (!id) {
            return false;
        }
        ranks = ranks || is_rank(key, id);
    }
    return ranks;
}

static lr_map *map_of(lr_arena *arena, lr_entry *entry, int32_t form)
{
    if (entry->value.kind == REC_KIND_NIL) {
        lr_map *map = lr_map_new(arena, 0);
        if (map) { /* else it stays what can be freed */
            entry->value = (rec_value){.kind = REC_KIND_MAP, .form = (uint8_t)form, .v.map = map};
        }
        return map;
    }
    return entry->value.kind == REC_KIND_MAP ? entry->value.v.map : NULL;
}

static int32_t fail_arena(const raising *b)
{
    return lr_fail_arena(b->job, &b->record->arena, sizeof(lr_entry));
}

/* Puts a value at a path below a map. */
static int32_t put(const raising *b, lr_map *map, const char *path, uint64_t length, const rec_value *value)
{
    enum { LEVELS_MOST = 100 };
    lr_arena *arena = &b->record->arena;
    for (unsigned level = 0;; level++) {
        const char *dot = lr_path_dot(path, path + length), *name = path;
        uint64_t part = dot ? (uint64_t)(dot - path) : length, named = part;
        lr_entry *entry;
        if (part && memchr(path, '\\', (size_t)part)) {
            char *plain = lr_arena_alloc(arena, part, 1);
            name = plain;
            named = plain ? lr_path_name(path, part, plain) : 0;
        }
        entry = name ? entry_of(arena, map, name, named) : NULL;
        if (!entry) {
            return fail_arena(b);
        }
        if (!dot || level == LEVELS_MOST) {
            if (entry->value.kind != REC_KIND_NIL || dot) {
                return rec_fail(b->job, REC_E_FORMAT, REC_UNKNOWN,
                                "the path `%.*s` of a state ends where another one goes on, or occurs twice",
                                (int)(length < 100 ? length : 100), path);
            }
            entry->value = *value;
            return REC_OK;
        }
        map = map_of(arena, entry, REC_FORM_UNKNOWN);
        if (!map) {
            return entry->value.kind == REC_KIND_NIL
                       ? fail_arena(b)
                       : rec_fail(b->job, REC_E_FORMAT, REC_UNKNOWN,
                                  "the path `%.*s` of a state goes on where another one ends",
                                  (int)(length < 100 ? length : 100), path);
        }
        path += part + 1;
        length -= part + 1;
    }
}

/* The rank of each parameter, under its id: {"V1": {"RankN": {}}}. */
static int32_t put_rank(const raising *b, lr_map *root, const char *id, const rec_value *rank)
{
    enum { RANK_MOST = 8 };
    lr_arena *arena = &b->record->arena;
    lr_entry *entry = entry_of(arena, root, id, strlen(id));
    char name[32];
    if (!entry) {
        return fail_arena(b);
    }
    if ((rank->kind != REC_KIND_UINT && rank->kind != REC_KIND_INT) || rank->v.u < 1 || rank->v.u > RANK_MOST) {
        return rec_fail(b->job, REC_E_FORMAT, REC_UNKNOWN, "the rank of the parameter %s is not 1 to %d", id,
                        RANK_MOST);
    }
    (void)snprintf(name, sizeof name, "Rank%" PRIu64, rank->v.u);
    for (int level = 0; level < 2; level++) {
        lr_map *map = map_of(arena, entry, REC_FORM_UNKNOWN);
        entry = map ? entry_of(arena, map, level ? name : "V1", level ? strlen(name) : 2) : NULL;
        if (!entry) {
            return fail_arena(b);
        }
    }
    return map_of(arena, entry, REC_FORM_STRUCT) ? REC_OK : fail_arena(b);
}

static int32_t raise_optimizer(const raising *b, const lr_map *flat, lr_map *root)
{
    int32_t status = REC_OK;
    char id[REC_ID_ROOM];
    uint64_t number;
    for (uint64_t i = 0; i < flat->count && status == REC_OK; i++) { /* parameters in the order of the file */
        lr_entry *entry;
        (void)leading_id(&flat->entries[i].key, &number);
        entry = entry_of(&b->record->arena, root, rec_id_text(number, id), 13);
        status = entry ? REC_OK : fail_arena(b);
    }
    for (uint64_t i = 0; i < flat->count && status == REC_OK; i++) {
        size_t used = leading_id(&flat->entries[i].key, &number);
        if (is_rank(&flat->entries[i].key, used)) {
            status = put_rank(b, root, rec_id_text(number, id), &flat->entries[i].value);
        }
    }
    for (uint64_t i = 0; i < flat->count && status == REC_OK; i++) {
        const rec_value *key = &flat->entries[i].key;
        size_t used = leading_id(key, &number);
        const lr_entry *entry = lr_map_find_text(root, rec_id_text(number, id), 13);
        rec_value value = flat->entries[i].value;
        if (is_rank(key, used)) {
            continue;
        }
        if (!entry || entry->value.kind != REC_KIND_MAP) {
            return rec_fail(b->job, REC_E_FORMAT, REC_UNKNOWN, "the state of the parameter %" PRIu64 " has no rank",
                            number);
        }
        if (value.kind == REC_KIND_TENSOR) {
            if (value.v.tensor->id && strcmp(value.v.tensor->id, id) != 0) {
                return rec_fail(b->job, REC_E_FORMAT, REC_UNKNOWN,
                                "the tensor `%.100s` belongs to another parameter, %s", key->v.text,
                                value.v.tensor->id);
            }
            value.v.tensor->id = NULL; /* it is the key's */
            value.v.tensor->anonymous = false;
        }
        entry = &entry->value.v.map->entries[0];
        status =
            put(b, entry->value.v.map->entries[0].value.v.map, key->v.text + used + 1, key->length - used - 1, &value);
    }
    return status;
}

int32_t lr_states_raise(rec_job *job, rec_record *record)
{
    const raising raise = {.job = job, .record = record}, *b = &raise;
    rec_value *value = &record->root;
    const lr_map *flat = value->kind == REC_KIND_MAP && value->form == REC_FORM_PATHS ? value->v.map : NULL;
    lr_map *root;
    int32_t status = REC_OK;
    if (!flat || !has_states(flat)) {
        return REC_OK;
    }
    root = lr_map_new(&b->record->arena, 0);
    if (!root) {
        return fail_arena(b);
    }
    if (is_optimizer(flat)) {
        status = raise_optimizer(b, flat, root);
    } else {
        for (uint64_t i = 0; i < flat->count && status == REC_OK; i++) {
            const lr_entry *entry = &flat->entries[i];
            status = put(b, root, entry->key.v.text, entry->key.length, &entry->value);
        }
    }
    *value = (rec_value){.kind = REC_KIND_MAP, .form = REC_FORM_MAP, .v.map = root};
    b->record->states = true;
    b->record->flat = false;
    if (b->record->burn_minor < LR_BURN_STATES) {
        b->record->burn_minor = LR_BURN_STATES;
    }
    return status;
}
