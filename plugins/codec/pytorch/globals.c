/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Names that torch.save() puts into a pickle, and what each stands for. This list is all there is: nothing else is
 * called, looked up or made. */
#include "common/names.h"
#include "plugins/codec/pytorch/pickle.h"

#include <inttypes.h>
#include <stdio.h>

#include "plugins/codec/excerpt.h"

/* ---------------------------------------------------------------------------------------------------- the list -- */

/* Beside torch's element types and storages, which the table above has. */
static const lr_pt_global globals[] = {
    {"collections", "OrderedDict", NULL, LR_PT_G_DICT, 0},
    {"collections", "Counter", NULL, LR_PT_G_DICT, 0},
    {"collections", "defaultdict", NULL, LR_PT_G_DEFAULT_DICT, 0},
    {"numpy", "dtype", NULL, LR_PT_G_NUMPY_TYPE, 0},
    {"numpy.core.multiarray", "scalar", NULL, LR_PT_G_NUMPY_SCALAR, 0},
    {"numpy._core.multiarray", "scalar", NULL, LR_PT_G_NUMPY_SCALAR, 0},
    {"numpy", "ndarray", NULL, LR_PT_G_NUMPY_ARRAY, 0},
    {"numpy.core.multiarray", "_reconstruct", NULL, LR_PT_G_NUMPY_NEW, 0},
    {"numpy._core.multiarray", "_reconstruct", NULL, LR_PT_G_NUMPY_NEW, 0},
    {"numpy.core.numeric", "_frombuffer", NULL, LR_PT_G_NUMPY_BUFFER, 0},
    {"numpy._core.numeric", "_frombuffer", NULL, LR_PT_G_NUMPY_BUFFER, 0},
    {"torch._utils", "_rebuild_tensor", NULL, LR_PT_G_REBUILD, 0},
    {"torch._utils", "_rebuild_tensor_v2", NULL, LR_PT_G_REBUILD_V2, 0},
    {"torch._utils", "_rebuild_tensor_v3", NULL, LR_PT_G_REBUILD_V3, 0},
    {"torch._utils", "_rebuild_parameter", NULL, LR_PT_G_PARAMETER, 0},
    {"torch._utils", "_rebuild_parameter_with_state", NULL, LR_PT_G_PARAMETER, 0},
    {"torch._tensor", "_rebuild_from_type_v2", NULL, LR_PT_G_FROM_TYPE, 0},
    {"torch", "Tensor", NULL, LR_PT_G_TENSOR, 0},
    {"torch.nn.parameter", "Parameter", NULL, LR_PT_G_TENSOR, 0},
    {"torch.nn.parameter", "Buffer", NULL, LR_PT_G_TENSOR, 0},
    {"torch", "Size", NULL, LR_PT_G_SIZE, 0},
    {"torch", "device", NULL, LR_PT_G_DEVICE, 0},
    {"torch.serialization", "_get_layout", NULL, LR_PT_G_LAYOUT, 0},
    {"_codecs", "encode", NULL, LR_PT_G_ENCODE, 0},
    {"builtins", "bytes", NULL, LR_PT_G_BYTES, 0},
    {"builtins", "bytearray", NULL, LR_PT_G_BYTES, 0},
    {"builtins", "set", NULL, LR_PT_G_SET, 0},
    {"builtins", "frozenset", NULL, LR_PT_G_SET, 0},
    {"builtins", "complex", NULL, LR_PT_G_COMPLEX, 0},
    {"torch._utils", "_rebuild_qtensor", "a quantised tensor", LR_PT_G_REFUSED, 0},
    {"torch._utils", "_rebuild_sparse_tensor", "a sparse tensor", LR_PT_G_REFUSED, 0},
    {"torch._utils", "_rebuild_sparse_csr_tensor", "a sparse tensor", LR_PT_G_REFUSED, 0},
    {"torch._utils", "_rebuild_nested_tensor", "a nested tensor", LR_PT_G_REFUSED, 0},
    {"torch._utils", "_rebuild_meta_tensor_no_storage", "a tensor without data (device meta)", LR_PT_G_REFUSED, 0},
    {"torch._utils", "_rebuild_wrapper_subclass", "a tensor of a custom class", LR_PT_G_REFUSED, 0},
    {"torch._utils", "_rebuild_device_tensor_from_numpy", "a tensor of a custom device", LR_PT_G_REFUSED, 0},
    {"torch._utils", "_rebuild_device_tensor_from_cpu_tensor", "a tensor of a custom device", LR_PT_G_REFUSED, 0},
    {"torch._utils", "_rebuild_xla_tensor", "a tensor of a custom device", LR_PT_G_REFUSED, 0},
    {"torch", "QInt8Storage", "a quantised tensor", LR_PT_G_REFUSED, 0},
    {"torch", "QUInt8Storage", "a quantised tensor", LR_PT_G_REFUSED, 0},
    {"torch", "QInt32Storage", "a quantised tensor", LR_PT_G_REFUSED, 0},
    {"torch", "QUInt4x2Storage", "a quantised tensor", LR_PT_G_REFUSED, 0},
    {"torch", "QUInt2x4Storage", "a quantised tensor", LR_PT_G_REFUSED, 0},
};
enum {
    GLOBALS = sizeof globals / sizeof *globals,
    /* A node's number for a global: in that list, or after it an element type, or after these a storage. */
    DTYPES = GLOBALS,
    STORAGES = GLOBALS + LR_PT_TYPES
};

static lr_pt_global global_of(const lr_pt_node *node)
{
    uint32_t index = node->length;
    if (index < GLOBALS) {
        return globals[index];
    }
    return index < STORAGES ? (lr_pt_global){.kind = LR_PT_G_DTYPE, .type = (uint8_t)(index - DTYPES)}
                            : (lr_pt_global){.kind = LR_PT_G_STORAGE, .type = (uint8_t)(index - STORAGES)};
}

bool lr_pickle_is_global(const lr_pickle *p, uint32_t node, uint8_t kind)
{
    const lr_pt_node *n = lr_pickle_node(p, node);
    return n->kind == LR_PT_GLOBAL && global_of(n).kind == kind;
}

uint64_t lr_pickle_global_name(const lr_pt_node *node, char *name, uint64_t room)
{
    lr_pt_global g = global_of(node);
    const char *module = g.module ? g.module : "torch";
    const char *own = g.name                    ? g.name
                      : g.kind == LR_PT_G_DTYPE ? lr_pt_types[g.type].name
                                                : lr_pt_types[g.type].storage;
    int length = snprintf(name, (size_t)room, "%s.%s", module, own);
    return (uint64_t)length < room ? (uint64_t)length : room - 1;
}

static bool begins(const char *text, uint64_t length, const char *word)
{
    return length >= strlen(word) && memcmp(text, word, strlen(word)) == 0;
}

/* @return the number of a global, UINT32_MAX if unknown. */
static uint32_t find(const char *module, uint64_t module_length, const char *name, uint64_t length)
{
    bool storages = lr_text_is(module, module_length, "torch") || lr_text_is(module, module_length, "torch.storage");
    if (lr_text_is(module, module_length, "__builtin__")) { /* as Python 2 calls it, and Python 3 in protocol 2 */
        module = "builtins";
        module_length = strlen(module);
    }
    for (uint32_t i = 0; i < GLOBALS; i++) {
        if (lr_text_is(module, module_length, globals[i].module) && lr_text_is(name, length, globals[i].name)) {
            return i;
        }
    }
    for (uint32_t i = 0; i < LR_PT_TYPES && storages; i++) {
        if (i != LR_PT_UNTYPED && lr_text_is(module, module_length, "torch") &&
            lr_text_is(name, length, lr_pt_types[i].name)) {
            return DTYPES + i;
        }
        if (lr_pt_types[i].storage && lr_text_is(name, length, lr_pt_types[i].storage)) {
            return STORAGES + i;
        }
    }
    return UINT32_MAX;
}

static int32_t refuse(lr_pickle *p, const char *module, uint64_t module_length, const char *name, uint64_t length,
                      uint64_t at, bool subclass)
{
    lr_codec_excerpt shown_module, shown;
    const char *in = lr_codec_shown(&shown_module, module, module_length), *is = lr_codec_shown(&shown, name, length);
    int32_t status =
        subclass ? rec_fail(p->job, REC_E_UNSUPPORTED, lr_pickle_place(p, at),
                            "a tensor of the class `%s.%s`, whose meaning only that class knows", in, is)
                 : rec_fail(p->job, REC_E_UNSUPPORTED, lr_pickle_place(p, at),
                            "the pickle asks for `%s.%s`, which is not a name that torch.save() writes for tensors: "
                            "rejected, and not run",
                            in, is);
    if (subclass) {
        rec_fail_hint(p->job, "In Python, if you trust the file: make a plain tensor of it before it is saved.");
    } else if (begins(module, module_length, "torch.nn.") || lr_text_is(module, module_length, "__main__")) {
        rec_fail_hint(p->job, "The file holds a whole module, which is code. In Python, if you trust the file: "
                              "torch.save(model.state_dict(), …).");
    } else if (begins(module, module_length, "numpy")) {
        rec_fail_hint(
            p->job,
            "In Python, if you trust the file: make plain numbers or tensors of NumPy's before they are saved.");
    } else {
        rec_fail_hint(p->job, "If you trust where the file comes from: load it in Python and save the tensors alone, "
                              "torch.save(checkpoint[\"state_dict\"], …).");
    }
    return status;
}

int32_t lr_pickle_refuse(lr_pickle *p, const lr_pt_node *node)
{
    const lr_pt_class *c;
    while (node->kind == LR_PT_OBJECT && node->v.cells.first) {
        node = lr_pickle_node(p, lr_pickle_cell(p, node->v.cells.first)->node);
    }
    if (node->kind != LR_PT_CLASS) {
        return lr_pickle_fail(p, "%s is given a state", lr_pickle_words(node));
    }
    c = (const lr_pt_class *)p->classes.data + node->v.u;
    return refuse(p, (const char *)p->text + c->module, c->module_length, (const char *)p->text + c->name,
                  c->name_length, c->at, false);
}

/* An unknown name: its objects are skipped, and rejected where they are used. */
static int32_t new_class(lr_pickle *p, const char *module, uint64_t module_length, const char *name, uint64_t length,
                         uint32_t *node)
{
    const char *text = (const char *)p->text;
    const lr_pt_class made = {.module = (uint32_t)(module - text),
                              .module_length = (uint32_t)module_length,
                              .name = (uint32_t)(name - text),
                              .name_length = (uint32_t)length,
                              .at = (uint32_t)p->op};
    return lr_pickle_keep(p, &p->classes, &made, sizeof made, LR_PT_CLASS, node);
}

int32_t lr_pickle_global(lr_pickle *p, const char *module, uint64_t module_length, const char *name, uint64_t length,
                         bool subclass, uint32_t *node)
{
    uint32_t index = find(module, module_length, name, length);
    if (index == UINT32_MAX) {
        return subclass ? refuse(p, module, module_length, name, length, p->op, true)
                        : new_class(p, module, module_length, name, length, node);
    }
    if (index < GLOBALS && globals[index].kind == LR_PT_G_REFUSED) {
        int32_t status =
            rec_fail(p->job, REC_E_UNSUPPORTED, lr_pickle_place(p, p->op), "%s (`%s.%s`): no record has that",
                     globals[index].words, globals[index].module, globals[index].name);
        rec_fail_hint(p->job,
                      "In Python: make plain tensors of them, by dequantize(), to_dense() or cpu(), and save these.");
        return status;
    }
    *node = lr_pickle_new(p, LR_PT_GLOBAL);
    if (!*node) {
        return REC_E_MEMORY;
    }
    lr_pickle_node(p, *node)->length = index;
    return REC_OK;
}

/* ------------------------------------------------------------------------------------------------------- calls -- */

/* What a call was given. */
enum { ARGUMENTS = 8 };
typedef struct call {
    lr_pickle *p;
    const char *what;
    uint32_t tuple; /* the node that holds them */
    uint32_t items[ARGUMENTS];
    uint64_t count;
} call;

static const lr_pt_node *argument(const call *c, uint64_t i)
{
    return lr_pickle_node(c->p, c->items[i]);
}

static int32_t fail_call(const call *c, const char *expected, const lr_pt_node *found)
{
    return lr_pickle_fail(c->p, "%s is called with %s where %s is expected", c->what,
                          found ? lr_pickle_words(found) : "too little or too much", expected);
}

/* A number from 0 on. */
static int32_t take_size(const call *c, const lr_pt_node *node, uint64_t *size)
{
    if (node->kind != LR_PT_INT || node->v.i < 0) {
        return fail_call(c, "a number from 0 on", node);
    }
    *size = (uint64_t)node->v.i;
    return REC_OK;
}

/* The numbers of a tuple. They go to the end of `dims`. */
static int32_t take_sizes(const call *c, uint64_t i, uint64_t *count)
{
    lr_pickle *p = c->p;
    const lr_pt_node *tuple = argument(c, i);
    int32_t status = REC_OK;
    *count = tuple->length;
    if (tuple->kind != LR_PT_TUPLE && tuple->kind != LR_PT_LIST) {
        return fail_call(c, "a tuple of sizes", tuple);
    }
    if (*count > 64) {
        return rec_fail(p->job, REC_E_UNSUPPORTED, lr_pickle_place(p, p->op), "a tensor of rank %" PRIu64, *count);
    }
    for (uint32_t at = tuple->v.cells.first; at && status == REC_OK; at = lr_pickle_cell(p, at)->next) {
        uint64_t *size = lr_pickle_grow(p, &p->dims, sizeof *size);
        status = size ? take_size(c, lr_pickle_node(p, lr_pickle_cell(p, at)->node), size) : REC_E_MEMORY;
    }
    return status;
}

/* Whether the tensor is seen through something: its elements are not those of its storage. */
static int32_t check_seen(const call *c, uint64_t i)
{
    const lr_pt_node *seen = i < c->count ? argument(c, i) : NULL;
    bool value = false;
    if (!seen || seen->kind != LR_PT_DICT) {
        return REC_OK;
    }
    for (uint32_t at = seen->v.cells.first; at; at = lr_pickle_cell(c->p, at)->next) {
        const lr_pt_node *node = lr_pickle_node(c->p, lr_pickle_cell(c->p, at)->node);
        if (value && node->kind == LR_PT_BOOL && node->v.i) {
            int32_t status = rec_fail(c->p->job, REC_E_UNSUPPORTED, lr_pickle_place(c->p, c->p->op),
                                      "a tensor that is the conjugate or negative of its storage");
            rec_fail_hint(c->p->job, "In Python: resolve_conj() and resolve_neg() before it is saved.");
            return status;
        }
        value = !value;
    }
    return REC_OK;
}

/* (storage, offset, size, stride, …[, dtype]) */
static int32_t call_rebuild(const call *c, uint8_t kind, uint32_t *node)
{
    lr_pickle *p = c->p;
    uint64_t least = kind == LR_PT_G_REBUILD ? 4 : kind == LR_PT_G_REBUILD_V2 ? 6 : 7, rank = 0, strides = 0;
    const lr_pt_reference *references = p->references.data;
    lr_pt_tensor tensor = {.dims = (uint32_t)p->dims.count, .at = (uint32_t)p->op};
    int32_t status;
    if (c->count < least || c->count > least + (kind != LR_PT_G_REBUILD)) {
        return fail_call(c, "what makes a tensor", NULL);
    }
    if (argument(c, 0)->kind != LR_PT_STORAGE) {
        return fail_call(c, "a storage", argument(c, 0));
    }
    tensor.reference = (uint32_t)argument(c, 0)->v.u;
    tensor.type = references[tensor.reference].type;
    if (kind == LR_PT_G_REBUILD_V3) {
        if (!lr_pickle_is_global(p, c->items[6], LR_PT_G_DTYPE)) {
            return fail_call(c, "an element type", argument(c, 6));
        }
        tensor.type = global_of(argument(c, 6)).type;
    }
    status = take_size(c, argument(c, 1), &tensor.offset);
    status = status == REC_OK ? take_sizes(c, 2, &rank) : status;
    status = status == REC_OK ? take_sizes(c, 3, &strides) : status;
    status = status == REC_OK ? check_seen(c, least) : status;
    if (status == REC_OK && rank != strides) {
        status = fail_call(c, "as many strides as sizes", NULL);
    }
    tensor.rank = (uint8_t)rank;
    return status == REC_OK ? lr_pickle_keep(p, &p->tensors, &tensor, sizeof tensor, LR_PT_TENSOR, node) : status;
}

/* (a tensor, …) or (function, type, arguments, state): that tensor. */
static int32_t call_parameter(const call *c, uint32_t *node)
{
    if (c->count < 3 || c->count > 4 || argument(c, 0)->kind != LR_PT_TENSOR) {
        return fail_call(c, "a tensor", c->count ? argument(c, 0) : NULL);
    }
    *node = c->items[0];
    return REC_OK;
}

static int32_t call_from_type(const call *c, uint32_t *node)
{
    uint8_t kind;
    if (c->count != 4 || argument(c, 0)->kind != LR_PT_GLOBAL) {
        return fail_call(c, "a function that makes a tensor", c->count ? argument(c, 0) : NULL);
    }
    kind = global_of(argument(c, 0)).kind;
    if (kind < LR_PT_G_REBUILD || kind > LR_PT_G_PARAMETER) {
        return fail_call(c, "a function that makes a tensor", argument(c, 0));
    }
    if (!lr_pickle_is_global(c->p, c->items[1], LR_PT_G_TENSOR)) {
        return fail_call(c, "torch.Tensor or torch.nn.Parameter", argument(c, 1));
    }
    return lr_pickle_call(c->p, c->items[0], c->items[2], node);
}

/* Nothing, a dictionary, or pairs of key and value: a dictionary of its own. */
static int32_t call_dict(const call *c, uint32_t *node)
{
    lr_pickle *p = c->p;
    const lr_pt_node *from;
    int32_t status = REC_OK;
    uint32_t first;
    uint8_t kind;
    if (c->count > 1) {
        return fail_call(c, "one argument", NULL);
    }
    *node = lr_pickle_new(p, LR_PT_DICT);
    if (!*node || !c->count) {
        return *node ? REC_OK : REC_E_MEMORY;
    }
    from = argument(c, 0);
    kind = from->kind;
    first = from->v.cells.first;
    if (kind != LR_PT_DICT && kind != LR_PT_LIST) {
        return fail_call(c, "a list of pairs", from);
    }
    for (uint32_t at = first; at && status == REC_OK; at = lr_pickle_cell(p, at)->next) {
        uint32_t item = lr_pickle_cell(p, at)->node, pair[2];
        const lr_pt_node *n = lr_pickle_node(p, item);
        if (kind == LR_PT_DICT) {
            status = lr_pickle_append(p, *node, item);
        } else if ((n->kind != LR_PT_TUPLE && n->kind != LR_PT_LIST) || lr_pickle_items(p, n, pair, 2) != 2) {
            status = fail_call(c, "a pair", n);
        } else {
            status = lr_pickle_append(p, *node, pair[0]);
            status = status == REC_OK ? lr_pickle_append(p, *node, pair[1]) : status;
        }
    }
    return status;
}

/* A container of two. */
static int32_t make_pair(lr_pickle *p, uint8_t kind, uint32_t first, uint32_t second, uint32_t *node)
{
    int32_t status;
    *node = lr_pickle_new(p, kind);
    status = *node ? lr_pickle_append(p, *node, first) : REC_E_MEMORY;
    return status == REC_OK ? lr_pickle_append(p, *node, second) : status;
}

/* An object of a class that is not known: the class, and what it is called with. */
static int32_t call_unknown(lr_pickle *p, uint32_t callable, uint32_t arguments, uint32_t *node)
{
    return make_pair(p, LR_PT_OBJECT, callable, arguments, node);
}

/* Without a value the factory makes nothing. */
static int32_t call_default_dict(const call *c, uint32_t *node)
{
    call rest = *c;
    if (!c->count) {
        return call_dict(c, node);
    }
    rest.count = c->count - 1;
    memmove(rest.items, rest.items + 1, (size_t)rest.count * sizeof *rest.items);
    return call_dict(&rest, node);
}

/* (numpy.ndarray, …), before it is given its state. A class of its own makes an object. */
static int32_t call_array(const call *c, uint32_t *node)
{
    if (c->count != 3) {
        return fail_call(c, "a class, a size and a type", NULL);
    }
    if (argument(c, 0)->kind == LR_PT_CLASS) {
        return call_unknown(c->p, c->items[0], c->tuple, node);
    }
    return lr_pickle_is_global(c->p, c->items[0], LR_PT_G_NUMPY_ARRAY) ? lr_pickle_array_new(c->p, node)
                                                                       : fail_call(c, "numpy.ndarray", argument(c, 0));
}

/* (bytes, type, sizes, order) */
static int32_t call_buffer(const call *c, uint32_t *node)
{
    bool fortran = c->count == 4 && lr_pickle_is(c->p, argument(c, 3), "F");
    int32_t status;
    if (c->count != 4 || (!fortran && !lr_pickle_is(c->p, argument(c, 3), "C"))) {
        return fail_call(c, "the order of elements", c->count == 4 ? argument(c, 3) : NULL);
    }
    status = lr_pickle_array_new(c->p, node);
    return status == REC_OK
               ? lr_pickle_array_set(c->p, *node, &(lr_pickle_parts){c->items[0], c->items[1], c->items[2], fortran})
               : status;
}

/* The items of a tuple or list as a container of another kind. */
static int32_t call_sequence(const call *c, uint8_t kind, uint32_t *node)
{
    lr_pickle *p = c->p;
    uint32_t first = 0;
    int32_t status = REC_OK;
    if (c->count > 1 || (c->count && argument(c, 0)->kind != LR_PT_TUPLE && argument(c, 0)->kind != LR_PT_LIST)) {
        return fail_call(c, "a list or tuple", c->count == 1 ? argument(c, 0) : NULL);
    }
    first = c->count ? argument(c, 0)->v.cells.first : 0;
    *node = lr_pickle_new(p, kind);
    if (!*node) {
        return REC_E_MEMORY;
    }
    for (uint32_t at = first; at && status == REC_OK; at = lr_pickle_cell(p, at)->next) {
        status = lr_pickle_append(p, *node, lr_pickle_cell(p, at)->node);
    }
    return status;
}

/* A string of which each character is a byte, with the name of an encoding that says so. */
static int32_t call_encode(const call *c, uint32_t *node)
{
    lr_pickle *p = c->p;
    const lr_pt_node *text = c->count ? argument(c, 0) : NULL;
    uint64_t begin, length;
    if (!text) {
        *node = lr_pickle_new(p, LR_PT_BYTES);
        return *node ? REC_OK : REC_E_MEMORY;
    }
    if (c->count == 1 && text->kind == LR_PT_BYTES) {
        *node = c->items[0];
        return REC_OK;
    }
    if (c->count > 2 || text->kind != LR_PT_STRING) {
        return fail_call(c, "a string and its encoding", c->count > 2 ? NULL : text);
    }
    if (c->count != 2 || (!lr_pickle_is(p, argument(c, 1), "latin1") && !lr_pickle_is(p, argument(c, 1), "latin-1"))) {
        return lr_pickle_fail(p, "%s is called with another encoding than latin1", c->what);
    }
    begin = text->v.u;
    length = text->length;
    for (uint64_t i = 0; i < length; i++) {
        if (p->text[begin + i] > 0xc3) { /* the first byte of a character beyond U+00FF */
            return fail_call(c, "a string of characters below 256", text);
        }
    }
    *node = lr_pickle_new(p, LR_PT_BYTES);
    if (!*node) {
        return REC_E_MEMORY;
    }
    *lr_pickle_node(p, *node) =
        (lr_pt_node){.kind = LR_PT_BYTES, .mark = LR_PT_LATIN1, .length = (uint32_t)length, .v = {.u = begin}};
    return REC_OK;
}

/* A device or a layout is its name; a device may have a number as well. */
static int32_t call_name(const call *c, uint32_t *node)
{
    if (c->count < 1 || c->count > 2 || argument(c, 0)->kind != LR_PT_STRING) {
        return fail_call(c, "a name", c->count == 1 || c->count == 2 ? argument(c, 0) : NULL);
    }
    if (c->count == 2 && argument(c, 1)->kind != LR_PT_INT) {
        return fail_call(c, "its number", argument(c, 1));
    }
    *node = c->count == 2 ? c->tuple : c->items[0];
    return REC_OK;
}

/* Two parts, which no record has as one number. */
static int32_t call_complex(const call *c, uint32_t *node)
{
    for (uint64_t i = 0; i < 2; i++) {
        if (c->count != 2 || argument(c, i)->kind != LR_PT_FLOAT) {
            return fail_call(c, "a pair of floats", c->count == 2 ? argument(c, i) : NULL);
        }
    }
    return make_pair(c->p, LR_PT_TUPLE, c->items[0], c->items[1], node);
}

int32_t lr_pickle_call(lr_pickle *p, uint32_t callable, uint32_t arguments, uint32_t *node)
{
    const lr_pt_node *function = lr_pickle_node(p, callable), *tuple = lr_pickle_node(p, arguments);
    call c = {.p = p, .tuple = arguments};
    lr_pt_global global;
    if (function->kind == LR_PT_CLASS || function->kind == LR_PT_OBJECT) {
        return call_unknown(p, callable, arguments, node);
    }
    if (function->kind != LR_PT_GLOBAL) {
        return lr_pickle_fail(p, "the pickle calls %s", lr_pickle_words(function));
    }
    global = global_of(function);
    c.what = global.name ? global.name : "an element type or storage";
    if (tuple->kind != LR_PT_TUPLE || lr_pickle_items(p, tuple, c.items, ARGUMENTS) > ARGUMENTS) {
        return fail_call(&c, "a tuple of few", tuple->kind == LR_PT_TUPLE ? NULL : tuple);
    }
    c.count = tuple->length;
    switch (global.kind) {
    case LR_PT_G_DICT:
        return call_dict(&c, node);
    case LR_PT_G_DEFAULT_DICT:
        return call_default_dict(&c, node);
    case LR_PT_G_NUMPY_TYPE:
        return c.count && argument(&c, 0)->kind == LR_PT_STRING ? lr_pickle_numpy_type(p, c.items[0], node)
                                                                : fail_call(&c, "the code of a type", NULL);
    case LR_PT_G_NUMPY_SCALAR:
        return c.count == 2 ? lr_pickle_numpy_scalar(p, c.items[0], c.items[1], node)
                            : fail_call(&c, "a type and its bytes", NULL);
    case LR_PT_G_NUMPY_NEW:
        return call_array(&c, node);
    case LR_PT_G_NUMPY_BUFFER:
        return call_buffer(&c, node);
    case LR_PT_G_REBUILD:
    case LR_PT_G_REBUILD_V2:
    case LR_PT_G_REBUILD_V3:
        return call_rebuild(&c, global.kind, node);
    case LR_PT_G_PARAMETER:
        return call_parameter(&c, node);
    case LR_PT_G_FROM_TYPE:
        return call_from_type(&c, node);
    case LR_PT_G_SIZE:
        return call_sequence(&c, LR_PT_TUPLE, node);
    case LR_PT_G_SET:
        return call_sequence(&c, LR_PT_LIST, node);
    case LR_PT_G_ENCODE:
    case LR_PT_G_BYTES:
        return call_encode(&c, node);
    case LR_PT_G_DEVICE:
    case LR_PT_G_LAYOUT:
        return call_name(&c, node);
    case LR_PT_G_COMPLEX:
        return call_complex(&c, node);
    default:
        return lr_pickle_fail(p, "the pickle calls %s", global.name ? global.name : "an element type or storage");
    }
}

/* ---------------------------------------------------------------------------------- storages, and what is left -- */

/* ("storage", type, key, device, elements[, (key, offset, elements)]) */
int32_t lr_pickle_persistent(lr_pickle *p, uint32_t id, uint32_t *node)
{
    const lr_pt_node *tuple = lr_pickle_node(p, id);
    call c = {.p = p, .what = "a storage"};
    lr_pt_reference reference = {.at = (uint32_t)p->op};
    int32_t status;
    if (tuple->kind != LR_PT_TUPLE || lr_pickle_items(p, tuple, c.items, ARGUMENTS) > ARGUMENTS || !tuple->length) {
        return fail_call(&c, "a tuple that names a storage", tuple->kind == LR_PT_TUPLE ? NULL : tuple);
    }
    c.count = tuple->length;
    if (lr_pickle_is(p, argument(&c, 0), "module")) {
        if (c.count < 2 || (argument(&c, 1)->kind != LR_PT_CLASS && argument(&c, 1)->kind != LR_PT_GLOBAL)) {
            return fail_call(&c, "the class of a module", c.count < 2 ? NULL : argument(&c, 1));
        }
        *node = c.items[1]; /* its source, which stands after it, is not looked at */
        return REC_OK;
    }
    if (!lr_pickle_is(p, argument(&c, 0), "storage") || c.count < 5 || c.count > 5 + (uint64_t)p->legacy) {
        bool counted = c.count >= 5 && c.count <= 5 + (uint64_t)p->legacy;
        return fail_call(&c, "a tuple that names a storage", counted ? argument(&c, 0) : NULL);
    }
    if (!lr_pickle_is_global(p, c.items[1], LR_PT_G_STORAGE)) {
        return fail_call(&c, "the type of a storage", argument(&c, 1));
    }
    if (argument(&c, 2)->kind != LR_PT_STRING) {
        return fail_call(&c, "the storage's name", argument(&c, 2));
    }
    reference.key = c.items[2];
    reference.type = global_of(argument(&c, 1)).type;
    status = take_size(&c, argument(&c, 4), &reference.count);
    reference.part = reference.count;
    if (status == REC_OK && c.count == 6 && argument(&c, 5)->kind != LR_PT_NONE) {
        uint32_t view[3];
        if (argument(&c, 5)->kind != LR_PT_TUPLE || lr_pickle_items(p, argument(&c, 5), view, 3) != 3) {
            return fail_call(&c, "the part of a storage",
                             argument(&c, 5)->kind == LR_PT_TUPLE ? NULL : argument(&c, 5));
        }
        status = take_size(&c, lr_pickle_node(p, view[1]), &reference.skip);
        status = status == REC_OK ? take_size(&c, lr_pickle_node(p, view[2]), &reference.part) : status;
        if (status == REC_OK &&
            (reference.skip > reference.count || reference.part > reference.count - reference.skip)) {
            return fail_call(&c, "a part that the storage has", NULL);
        }
    }
    return status == REC_OK ? lr_pickle_keep(p, &p->references, &reference, sizeof reference, LR_PT_STORAGE, node)
                            : status;
}

/* The attributes of a state dictionary (`_metadata`, the versions of modules) say nothing about tensors. */
int32_t lr_pickle_build(lr_pickle *p, uint32_t object, uint32_t state)
{
    const lr_pt_node *o = lr_pickle_node(p, object), *s = lr_pickle_node(p, state);
    if (o->kind == LR_PT_DICT && s->kind == LR_PT_DICT) {
        return REC_OK;
    }
    if (o->kind == LR_PT_NUMPY_TYPE) {
        lr_pickle_numpy_order(p, object, s);
        return REC_OK;
    }
    if (o->kind == LR_PT_ARRAY) {
        return lr_pickle_array_build(p, object, state);
    }
    if (o->kind == LR_PT_OBJECT) {
        return lr_pickle_append(p, object, state);
    }
    return rec_fail(p->job, REC_E_UNSUPPORTED, lr_pickle_place(p, p->op), "%s with a custom state (%s)",
                    lr_pickle_words(o), lr_pickle_words(s));
}
