/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Chooses a part of a checkpoint: the model in it, or the one that `top-level-key` names. */
#include <inttypes.h>
#include <stdio.h>

#include "plugins/codec/excerpt.h"
#include "plugins/codec/pytorch/pytorch.h"

const rec_option lr_pt_top_level_key = {
    .size = sizeof lr_pt_top_level_key,
    .type = REC_OPTION_TEXT,
    .name = "top-level-key",
    .initial = "",
    .help = "the dictionary to read, such as \"state_dict\", with dots between parts; \".\": the whole file; default: "
            "the model, if one is found",
};

/* Names that trainers use for the model, most likely first. */
static const char *const names[] = {"state_dict", "model_state_dict", "model_state", "model",  "module",
                                    "net",        "network",          "generator",   "params", "params_ema",
                                    "weights",    "model_ema",        "ema"};
enum { NAMES = sizeof names / sizeof *names, DEEPEST = 4, METADATA_MOST = 4096 };
enum { SET_MOST = 1000 }; /* buffers of one module that state_dict() leaves out */

/* ----------------------------------------------------------------------------------------------- whole modules -- */

/* Returns the value of a key of a dictionary. 0: not found, or another kind. */
static uint32_t entry_of(const lr_pickle *p, uint32_t dict, const char *name, uint8_t kind)
{
    uint32_t found = lr_pickle_look_up(p, lr_pickle_node(p, dict), name, strlen(name));
    return found && lr_pickle_node(p, found)->kind == kind ? found : 0;
}

/* The dictionary of attributes that an object was given; 0: none. */
static uint32_t state_of(const lr_pickle *p, const lr_pt_node *object)
{
    uint32_t state = 0;
    for (uint32_t c = object->v.cells.first; c; c = lr_pickle_cell(p, c)->next) {
        uint32_t node = lr_pickle_cell(p, c)->node;
        state = lr_pickle_node(p, node)->kind == LR_PT_DICT ? node : state;
    }
    return state;
}

/* Whether a list, as a set is, holds a string of that text. */
static bool holds(const lr_pickle *p, uint32_t list, const lr_pt_node *text)
{
    for (uint32_t c = list ? lr_pickle_node(p, list)->v.cells.first : 0; c; c = lr_pickle_cell(p, c)->next) {
        const lr_pt_node *item = lr_pickle_node(p, lr_pickle_cell(p, c)->node);
        if (item->kind == LR_PT_STRING && text->kind == LR_PT_STRING && item->length == text->length &&
            memcmp(lr_pickle_text(p, item), lr_pickle_text(p, text), text->length) == 0) {
            return true;
        }
    }
    return false;
}

/* Appends the entries of a dictionary that are there. @param but keys to leave out, a list; 0: none. */
static int32_t take_entries(lr_pickle *p, uint32_t from, uint32_t but, uint32_t to)
{
    int32_t status = REC_OK;
    for (uint32_t c = lr_pickle_node(p, from)->v.cells.first; c && status == REC_OK;) {
        uint32_t key = lr_pickle_cell(p, c)->node, after = lr_pickle_cell(p, c)->next;
        uint32_t value = lr_pickle_cell(p, after)->node;
        c = lr_pickle_cell(p, after)->next;
        if (lr_pickle_node(p, value)->kind == LR_PT_NONE || holds(p, but, lr_pickle_node(p, key))) {
            continue;
        }
        status = lr_pickle_append(p, to, key);
        status = status == REC_OK ? lr_pickle_append(p, to, value) : status;
    }
    return status;
}

/* Takes a dictionary for a module, once: that several share one is no module's. @return false: it was taken. */
static bool take(const lr_pickle *p, uint32_t index)
{
    lr_pt_node *node = lr_pickle_node(p, index);
    bool free = index && !(node->mark & LR_PT_TAKEN);
    node->mark |= LR_PT_TAKEN;
    return free;
}

/* Makes a dictionary of an object, in its place, if it is a module. @param made (out) it was. */
static int32_t convert(lr_pickle *p, uint32_t index, bool *made)
{
    const lr_pt_node *object = lr_pickle_node(p, index);
    uint32_t state = object->kind == LR_PT_OBJECT ? state_of(p, object) : 0, parameters, buffers, modules, but;
    int32_t status;
    *made = false;
    if (!state || !take(p, state)) {
        return REC_OK;
    }
    parameters = entry_of(p, state, "_parameters", LR_PT_DICT);
    buffers = entry_of(p, state, "_buffers", LR_PT_DICT);
    modules = entry_of(p, state, "_modules", LR_PT_DICT);
    but = entry_of(p, state, "_non_persistent_buffers_set", LR_PT_LIST);
    if (!parameters || !buffers || !modules || !take(p, parameters) || !take(p, buffers) || !take(p, modules) ||
        (but && (!take(p, but) || lr_pickle_node(p, but)->length > SET_MOST))) {
        return REC_OK;
    }
    *lr_pickle_node(p, index) = (lr_pt_node){.kind = LR_PT_DICT};
    status = take_entries(p, parameters, 0, index);
    status = status == REC_OK ? take_entries(p, buffers, but, index) : status;
    status = status == REC_OK ? take_entries(p, modules, 0, index) : status;
    *made = true;
    return status;
}

/* Makes dictionaries of the modules that a pickle has: their parameters, their buffers, and their modules, as
 * state_dict() does. Nothing of a module's class is looked at. @param count (out) how many. */
static int32_t make_modules(const lr_pt_file *file, uint64_t *count)
{
    lr_pickle *p = (lr_pickle *)(uintptr_t)&file->pickle;
    uint64_t nodes = p->nodes.count;
    int32_t status = REC_OK;
    *count = 0;
    for (uint64_t i = 1; i < nodes && status == REC_OK; i++) {
        bool made;
        status = convert(p, (uint32_t)i, &made);
        *count += made;
    }
    return status;
}

/* -------------------------------------------------------------------------------------------------- what is in -- */

static bool is_container(const lr_pt_node *node)
{
    return node->kind == LR_PT_DICT || node->kind == LR_PT_LIST || node->kind == LR_PT_TUPLE ||
           node->kind == LR_PT_OBJECT;
}

/* What torch.optim makes: `state` by the numbers of parameters, and `param_groups`. */
static bool is_optimizer(const lr_pickle *p, const lr_pt_node *node)
{
    uint32_t state, groups;
    if (node->kind != LR_PT_DICT) {
        return false;
    }
    state = lr_pickle_look_up(p, node, "state", 5);
    groups = lr_pickle_look_up(p, node, "param_groups", 12);
    return state && groups && lr_pickle_node(p, state)->kind == LR_PT_DICT &&
           lr_pickle_node(p, groups)->kind == LR_PT_LIST;
}

/* Marks containers by their contents, each once. @param inside it is in an object, which may contain itself. @param
 * found (out) LR_PT_TENSORS and further contents of the node. */
static int32_t mark(const lr_pt_file *f, uint32_t index, uint32_t depth, bool inside_object, uint8_t *found)
{
    const lr_pickle *p = &f->pickle;
    lr_pt_node *node = lr_pickle_node(p, index);
    int32_t status = REC_OK;
    if (lr_pickle_has_elements(p, node)) {
        *found |= LR_PT_TENSORS;
        return REC_OK;
    }
    if (!is_container(node)) {
        *found |= node->kind == LR_PT_NONE ? 0 : LR_PT_OTHERS;
        return REC_OK;
    }
    inside_object = inside_object || node->kind == LR_PT_OBJECT;
    if (node->mark & LR_PT_OPEN && inside_object) {
        return REC_OK;
    }
    if (node->mark & LR_PT_OPEN) {
        return rec_fail(f->job, REC_E_FORMAT, REC_UNKNOWN, "%s that contains itself", lr_pickle_words(node));
    }
    if (!(node->mark & LR_PT_SEEN)) {
        uint8_t inside = 0;
        if (depth >= rec_job_depth_limit(f->job)) {
            return rec_fail(f->job, REC_E_LIMIT, REC_UNKNOWN, "dictionaries and lists are nested more than %u deep",
                            (unsigned)depth);
        }
        node->mark |= LR_PT_OPEN | LR_PT_SEEN;
        for (uint32_t c = node->v.cells.first; c && status == REC_OK; c = lr_pickle_cell(p, c)->next) {
            if (node->kind == LR_PT_DICT) {
                c = lr_pickle_cell(p, c)->next; /* to the value */
            }
            status = mark(f, lr_pickle_cell(p, c)->node, depth + 1, inside_object, &inside);
        }
        node->mark &= (uint8_t)~LR_PT_OPEN;
        node->mark |= inside | (is_optimizer(p, node) ? LR_PT_OPTIMIZER : 0);
    }
    *found |= node->mark & (LR_PT_TENSORS | LR_PT_OPTIMIZER | LR_PT_OTHERS);
    return status;
}

/* ---------------------------------------------------------------------------------------------------- choosing -- */

/* A model, or a part of one: a dictionary with tensors, and nothing of an optimizer. */
static bool is_model(const lr_pt_node *node)
{
    return node->kind == LR_PT_DICT && (node->mark & LR_PT_TENSORS) && !(node->mark & LR_PT_OPTIMIZER);
}

static bool is_printable(const char *text, uint64_t length)
{
    for (uint64_t i = 0; i < length; i++) {
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f) {
            return false;
        }
    }
    return true;
}

bool lr_pt_is_metadata(const lr_pickle *p, const lr_pt_node *key, const lr_pt_node *value)
{
    return key->kind == LR_PT_STRING && key->length && value->kind != LR_PT_NONE && value->kind <= LR_PT_STRING &&
           value->kind != LR_PT_BIG && (value->kind != LR_PT_STRING || value->length <= METADATA_MOST) &&
           is_printable(lr_pickle_text(p, key), key->length);
}

/* Whether an entry is not reported where `chosen` is the model; 0: none is. */
static bool is_left_out(const lr_pickle *p, const lr_pt_node *key, uint32_t value, uint32_t chosen)
{
    return value != chosen && !(chosen && lr_pt_is_metadata(p, key, lr_pickle_node(p, value)));
}

/* Writes the keys of entries for a message. @param models of those that may be the model; else of those left out. */
static void name_entries(const lr_pickle *p, const lr_pt_node *dict, bool models, uint32_t chosen, char *text,
                         size_t room)
{
    size_t used = 0, left_out = 0;
    text[0] = '\0';
    for (uint32_t c = dict->v.cells.first; c;) {
        const lr_pt_cell *key = lr_pickle_cell(p, c), *value = lr_pickle_cell(p, key->next);
        const lr_pt_node *k = lr_pickle_node(p, key->node);
        c = value->next;
        if (models ? !is_model(lr_pickle_node(p, value->node)) : !is_left_out(p, k, value->node, chosen)) {
            continue;
        }
        if (k->kind != LR_PT_STRING || k->length > 60 || !is_printable(lr_pickle_text(p, k), k->length) ||
            used + k->length + 24 > room) {
            left_out++;
            continue;
        }
        used += (size_t)snprintf(text + used, room - used, "%s`%.*s`", used ? ", " : "", (int)k->length,
                                 lr_pickle_text(p, k));
    }
    if (left_out) {
        (void)snprintf(text + used, room - used, "%s%zu more", used ? ", " : "", left_out);
    }
}

/* Writes the key of that value for a message. */
static void show_key_of(const lr_pickle *p, const lr_pt_node *dict, uint32_t chosen, lr_codec_excerpt *shown)
{
    for (uint32_t c = dict->v.cells.first; c;) {
        const lr_pt_cell *key = lr_pickle_cell(p, c), *value = lr_pickle_cell(p, key->next);
        c = value->next;
        if (value->node == chosen) {
            char digits[24];
            uint64_t length;
            const char *text = lr_pickle_key_text(p, lr_pickle_node(p, key->node), digits, &length);
            const char *words = lr_pickle_words(lr_pickle_node(p, key->node));
            (void)lr_codec_shown(shown, text ? text : words, text ? length : strlen(words));
        }
    }
}

static bool is_known(const char *name)
{
    for (size_t i = 0; i < NAMES; i++) {
        if (strcmp(name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* Notes what next to the model is left out, and a name that trainers do not use: it may belong to the tensors' names.
 */
static void note_rest(const lr_pt_file *f, const lr_pt_node *dict, uint32_t chosen)
{
    char rest[400];
    lr_codec_excerpt shown = {0};
    name_entries(&f->pickle, dict, false, chosen, rest, sizeof rest);
    show_key_of(&f->pickle, dict, chosen, &shown);
    if (!*rest && !is_known(shown.text)) {
        rec_job_note(f->job, REC_NOTE_LAYOUT, "",
                     "the model is what the file has as `%s`, which is not in its names (top-level-key = . takes the "
                     "whole)",
                     shown.text);
    }
    if (*rest) {
        rec_job_note(f->job, REC_NOTE_DROPPED, "",
                     "the model is the part `%s`; left out: %s (top-level-key selects another part, `.` the whole)",
                     shown.text, rest);
    }
}

/* Returns the entry of a dictionary that is the model, by its name or because no other one has tensors. 0: none is. */
static uint32_t model_in(const lr_pickle *p, const lr_pt_node *dict)
{
    uint32_t only = 0;
    for (size_t i = 0; i < NAMES; i++) {
        uint32_t found = lr_pickle_look_up(p, dict, names[i], strlen(names[i]));
        if (found && is_model(lr_pickle_node(p, found))) {
            return found;
        }
    }
    for (uint32_t c = dict->v.cells.first; c;) {
        const lr_pt_cell *value = lr_pickle_cell(p, lr_pickle_cell(p, c)->next);
        const lr_pt_node *v = lr_pickle_node(p, value->node);
        bool others = is_container(v) && v->mark & (LR_PT_TENSORS | LR_PT_OPTIMIZER);
        if (lr_pickle_has_elements(p, v) || (others && (only || !is_model(v)))) {
            return 0;
        }
        only = others ? value->node : only;
        c = value->next;
    }
    return only;
}

/* Notes that a file with tensors is not read as a model, so that nothing adapts it. */
static void note_values(const lr_pt_file *f)
{
    const lr_pickle *p = &f->pickle;
    const lr_pt_node *node = lr_pickle_node(p, f->root);
    char list[400] = "";
    if (node->kind == LR_PT_DICT && !is_optimizer(p, node)) {
        name_entries(p, node, true, 0, list, sizeof list);
    }
    rec_job_note(f->job, REC_NOTE_LAYOUT, "",
                 "no model found under a known name (%s, …): nothing is adapted, all values keep their names and "
                 "layout%s%s",
                 names[0], *list ? "; top-level-key chooses a part, such as " : "", list);
}

/* Descends to the model in a checkpoint while it is unambiguous. */
static void find_model(const lr_pt_file *f, lr_pt_choice *choice)
{
    const lr_pickle *p = &f->pickle;
    for (int depth = 0; depth < DEEPEST; depth++) {
        const lr_pt_node *node = lr_pickle_node(p, choice->node);
        uint32_t chosen = node->kind == LR_PT_DICT && !is_optimizer(p, node) ? model_in(p, node) : 0;
        if (!chosen) {
            break;
        }
        note_rest(f, node, chosen);
        choice->beside = choice->node;
        choice->node = chosen;
    }
    choice->paths = is_model(lr_pickle_node(p, choice->node));
}

/* Returns the item of a list by its number. 0: not found. */
static uint32_t item_of(const lr_pickle *p, const lr_pt_node *list, const char *digits, uint64_t length)
{
    uint64_t number = 0;
    uint32_t c = list->v.cells.first;
    for (uint64_t i = 0; i < length; i++) {
        if (digits[i] < '0' || digits[i] > '9' || number > UINT32_MAX) {
            return 0;
        }
        number = number * 10 + (uint64_t)(digits[i] - '0');
    }
    for (; c && number; number--) {
        c = lr_pickle_cell(p, c)->next;
    }
    return c && length ? lr_pickle_cell(p, c)->node : 0;
}

/* Goes down where the option says; a key may hold dots itself, so that the longest one counts. */
static int32_t follow(const lr_pt_file *f, const char *path, lr_pt_choice *choice)
{
    const lr_pickle *p = &f->pickle;
    const char *rest = path;
    while (*rest) {
        const lr_pt_node *node = lr_pickle_node(p, choice->node);
        uint64_t length = strlen(rest);
        uint32_t found = node->kind == LR_PT_DICT ? lr_pickle_look_up(p, node, rest, length) : 0;
        while (!found && node->kind == LR_PT_DICT && length) {
            length--;
            while (length && rest[length] != '.') {
                length--;
            }
            found = length ? lr_pickle_look_up(p, node, rest, length) : 0;
        }
        if (node->kind == LR_PT_LIST || node->kind == LR_PT_TUPLE) {
            length = strcspn(rest, ".");
            found = item_of(p, node, rest, length);
        }
        if (!found) {
            char keys[400];
            int32_t status;
            if (node->kind == LR_PT_LIST || node->kind == LR_PT_TUPLE) {
                return rec_fail(f->job, REC_E_ARGUMENT, REC_UNKNOWN,
                                "top-level-key: `%s` leads to %s of %" PRIu32 ", which has no item `%.*s`", path,
                                lr_pickle_words(node), node->length, (int)length, rest);
            }
            if (node->kind != LR_PT_DICT) {
                return rec_fail(f->job, REC_E_ARGUMENT, REC_UNKNOWN,
                                "top-level-key: `%s` leads to %s, which has no keys", path, lr_pickle_words(node));
            }
            name_entries(p, node, false, 0, keys, sizeof keys);
            status = rec_fail(f->job, REC_E_ARGUMENT, REC_UNKNOWN, "top-level-key: there is no `%s` in the file", rest);
            rec_fail_hint(f->job, "Known: %s.", *keys ? keys : "none");
            return status;
        }
        choice->node = found;
        rest += length + (rest[length] == '.');
    }
    return REC_OK;
}

int32_t lr_pt_choose(const lr_pt_file *file, lr_pt_choice *choice)
{
    const char *path = rec_job_option_text(file->job, "top-level-key");
    uint8_t found = 0;
    uint64_t modules = 0;
    int32_t status = make_modules(file, &modules);
    status = status == REC_OK ? mark(file, file->root, 0, false, &found) : status;
    *choice = (lr_pt_choice){.node = file->root};
    if (status == REC_OK && modules) {
        rec_job_note(file->job, REC_NOTE_LAYOUT, "",
                     "the file holds whole modules (%" PRIu64 "): read as their state_dict(), without running code",
                     modules);
    }
    if (status != REC_OK) {
        return status;
    }
    if (!*path) {
        if (file->values) {
            return REC_OK;
        }
        find_model(file, choice);
        if (!choice->paths && found & LR_PT_TENSORS) {
            note_values(file);
        }
        return REC_OK;
    }
    if (strcmp(path, ".") != 0) {
        status = follow(file, path, choice);
        choice->paths = status == REC_OK && is_model(lr_pickle_node(&file->pickle, choice->node));
    } else { /* of the whole nothing is left out */
        const lr_pt_node *node = lr_pickle_node(&file->pickle, choice->node);
        choice->paths = is_model(node) && !(node->mark & LR_PT_OTHERS);
    }
    return status;
}
