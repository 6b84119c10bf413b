/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Whole modules in a pickle, as data: what torch.nn.Module keeps in `_parameters`, `_buffers` and `_modules` is what
 * state_dict() gives. Nothing of the module's class is looked at. */

#include "plugins/codec/pytorch/pytorch.h"

enum { SET_MOST = 1000 }; /* buffers of one module that state_dict() leaves out */

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

int32_t lr_pt_modules(const lr_pt_file *file, uint64_t *count)
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
