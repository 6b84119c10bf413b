/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The nodes that a pickle makes: containers, texts, and errors with their place. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/names.h"
#include "plugins/codec/pytorch/pickle.h"

void *lr_pickle_grow(lr_pickle *p, lr_pt_array *array, uint64_t width)
{
    if (array->count == array->room) {
        uint64_t room = array->room ? array->room + array->room / 2 : 64;
        void *larger = rec_job_resize(p->job, array->data, room * width);
        if (!larger) {
            (void)rec_fail(p->job, REC_E_MEMORY, REC_UNKNOWN, "out of memory for a pickle");
            return NULL;
        }
        array->data = larger;
        array->room = room;
    }
    return (uint8_t *)array->data + width * array->count++;
}

uint32_t lr_pickle_new(lr_pickle *p, uint8_t kind)
{
    lr_pt_node *node = lr_pickle_grow(p, &p->nodes, sizeof *node);
    if (!node) {
        return 0;
    }
    *node = (lr_pt_node){.kind = kind};
    return (uint32_t)(p->nodes.count - 1);
}

int32_t lr_pickle_keep(lr_pickle *p, lr_pt_array *array, const void *thing, uint64_t width, uint8_t kind,
                       uint32_t *node)
{
    void *kept = lr_pickle_grow(p, array, width);
    *node = kept ? lr_pickle_new(p, kind) : 0;
    if (!*node) {
        return REC_E_MEMORY;
    }
    memcpy(kept, thing, (size_t)width);
    lr_pickle_node(p, *node)->v.u = array->count - 1;
    return REC_OK;
}

int32_t lr_pickle_append(lr_pickle *p, uint32_t container, uint32_t item)
{
    lr_pt_cell *cell = lr_pickle_grow(p, &p->cells, sizeof *cell);
    lr_pt_node *node = lr_pickle_node(p, container);
    if (!cell) {
        return REC_E_MEMORY;
    }
    *cell = (lr_pt_cell){.node = item};
    if (node->v.cells.last) {
        ((lr_pt_cell *)p->cells.data)[node->v.cells.last - 1].next = (uint32_t)p->cells.count;
    } else {
        node->v.cells.first = (uint32_t)p->cells.count;
    }
    node->v.cells.last = (uint32_t)p->cells.count;
    node->length++;
    return REC_OK;
}

uint64_t lr_pickle_items(const lr_pickle *p, const lr_pt_node *node, uint32_t *items, uint64_t most)
{
    uint64_t i = 0;
    for (uint32_t c = node->v.cells.first; c && i < most; c = lr_pickle_cell(p, c)->next) {
        items[i++] = lr_pickle_cell(p, c)->node;
    }
    return node->length;
}

const char *lr_pickle_words(const lr_pt_node *node)
{
    static const char *const words[] = {
        [LR_PT_NONE] = "None",
        [LR_PT_BOOL] = "a bool",
        [LR_PT_INT] = "an integer",
        [LR_PT_UINT] = "an integer",
        [LR_PT_BIG] = "an integer of more than 64 bits",
        [LR_PT_FLOAT] = "a float",
        [LR_PT_STRING] = "a string",
        [LR_PT_BYTES] = "bytes",
        [LR_PT_TUPLE] = "a tuple",
        [LR_PT_LIST] = "a list",
        [LR_PT_DICT] = "a dictionary",
        [LR_PT_GLOBAL] = "a name of Python's",
        [LR_PT_STORAGE] = "a storage",
        [LR_PT_TENSOR] = "a tensor",
        [LR_PT_NUMPY_TYPE] = "an element type of NumPy",
        [LR_PT_ARRAY] = "an array of NumPy",
        [LR_PT_CLASS] = "a name of Python's",
        [LR_PT_OBJECT] = "an object of a custom class",
    };
    return words[node->kind];
}

bool lr_pickle_is(const lr_pickle *p, const lr_pt_node *node, const char *text)
{
    return node->kind == LR_PT_STRING && lr_text_is(lr_pickle_text(p, node), node->length, text);
}

const char *lr_pickle_key_text(const lr_pickle *p, const lr_pt_node *key, char digits[24], uint64_t *length)
{
    if (key->kind == LR_PT_STRING) {
        *length = key->length;
        return lr_pickle_text(p, key);
    }
    *length = key->kind == LR_PT_INT ? (uint64_t)snprintf(digits, 24, "%" PRId64, key->v.i) : 0;
    return *length ? digits : NULL;
}

uint32_t lr_pickle_look_up(const lr_pickle *p, const lr_pt_node *dict, const char *name, uint64_t length)
{
    uint32_t found = 0;
    for (uint32_t c = dict->v.cells.first; c;) {
        const lr_pt_cell *key = lr_pickle_cell(p, c), *value = lr_pickle_cell(p, key->next);
        char digits[24];
        uint64_t size;
        const char *text = lr_pickle_key_text(p, lr_pickle_node(p, key->node), digits, &size);
        found = text && size == length && memcmp(text, name, (size_t)length) == 0 ? value->node : found;
        c = value->next;
    }
    return found;
}

uint64_t lr_pickle_byte_count(const lr_pickle *p, const lr_pt_node *node)
{
    const uint8_t *text = (const uint8_t *)lr_pickle_text(p, node);
    uint64_t count = node->length;
    for (uint64_t i = 0; node->mark & LR_PT_LATIN1 && i < node->length; i++) {
        count -= (text[i] & 0xc0) == 0x80; /* the second byte of a character below 256 */
    }
    return count;
}

void lr_pickle_bytes(const lr_pickle *p, const lr_pt_node *node, uint8_t *target)
{
    const uint8_t *text = (const uint8_t *)lr_pickle_text(p, node);
    if (!(node->mark & LR_PT_LATIN1)) {
        memcpy(target, text, node->length);
        return;
    }
    for (uint64_t i = 0; i < node->length; i++) {
        bool two = text[i] >= 0x80 && i + 1 < node->length;
        *target++ = two ? (uint8_t)(text[i] << 6 | (text[i + 1] & 0x3f)) : text[i];
        i += two;
    }
}

int32_t lr_pickle_fail(lr_pickle *p, const char *format, ...)
{
    char words[400];
    int32_t status;
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    status = rec_fail(p->job, REC_E_FORMAT, lr_pickle_place(p, p->op), "%s", words);
    rec_fail_hint(p->job, "The file is damaged, or something else than torch.save() wrote it.");
    return status;
}
