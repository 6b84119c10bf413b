/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The pickle machine: a stack, marks on it, a memo, and one function for what each operation does. */
#include "plugins/codec/pytorch/pickle.h"

#include <inttypes.h>

#include "common/utf8.h"
#include "plugins/codec/little.h"

enum { EITHER = LR_PT_NONE /* the kind of a node: a string if it is UTF-8, else bytes */ };

/* ---------------------------------------------------------------------------------------------------- the text -- */

static int32_t fail_cut(lr_pickle *p)
{
    int32_t status =
        rec_fail_found(p->job, REC_E_FORMAT, lr_pickle_place(p, p->size), "more of a pickle", "the end of the file");
    rec_fail_hint(p->job, "The file is truncated or damaged: copy it again from its source.");
    return status;
}

/* The next bytes. */
static int32_t take(lr_pickle *p, uint64_t size, const uint8_t **bytes)
{
    *bytes = p->text + p->at;
    if (size > p->size - p->at) {
        return fail_cut(p);
    }
    p->at += size;
    return REC_OK;
}

/* The next number, little-endian. */
static int32_t take_number(lr_pickle *p, unsigned width, uint64_t *number)
{
    const uint8_t *bytes;
    int32_t status = take(p, width, &bytes);
    *number = status == REC_OK ? lr_little(bytes, width) : 0;
    return status;
}

/* A line, of which the newline is not part. */
static int32_t take_line(lr_pickle *p, const char **line, uint64_t *length)
{
    const uint8_t *from = p->text + p->at;
    const uint8_t *end = p->at < p->size ? memchr(from, '\n', (size_t)(p->size - p->at)) : NULL;
    if (!end) {
        return fail_cut(p);
    }
    *line = (const char *)from;
    *length = (uint64_t)(end - from);
    p->at += *length + 1;
    return REC_OK;
}

/* --------------------------------------------------------------------------------------------------- the stack -- */

static int32_t fail_stack(lr_pickle *p)
{
    return lr_pickle_fail(p, "the pickle's operation 0x%02x finds too little on the stack", (unsigned)p->text[p->op]);
}

static int32_t push(lr_pickle *p, uint32_t node)
{
    uint32_t *slot = lr_pickle_grow(p, &p->stack, sizeof *slot);
    if (!slot) {
        return REC_E_MEMORY;
    }
    *slot = node;
    return REC_OK;
}

/* Where the stack begins for operations that take single items. */
static uint64_t bottom(const lr_pickle *p)
{
    return p->marks.count ? ((const uint32_t *)p->marks.data)[p->marks.count - 1] : 0;
}

/* Returns the stack from there on, or NULL if it was never allocated: no offset may be added to a null pointer. */
static const uint32_t *stack_at(const lr_pickle *p, uint64_t index)
{
    return p->stack.data ? (const uint32_t *)p->stack.data + index : NULL;
}

/* Takes `count` items off; they stay where they are until the next push. */
static int32_t pop(lr_pickle *p, uint64_t count, const uint32_t **items)
{
    *items = NULL;
    if (p->stack.count - bottom(p) < count) {
        return fail_stack(p);
    }
    p->stack.count -= count;
    *items = stack_at(p, p->stack.count);
    return REC_OK;
}

/* Takes all down to the last mark. */
static int32_t pop_mark(lr_pickle *p, const uint32_t **items, uint64_t *count)
{
    uint64_t from;
    *items = NULL;
    *count = 0;
    if (!p->marks.count) {
        return fail_stack(p);
    }
    from = bottom(p);
    p->marks.count--;
    *count = p->stack.count - from;
    p->stack.count = from;
    *items = stack_at(p, from);
    return REC_OK;
}

static int32_t peek(lr_pickle *p, uint32_t *item)
{
    if (p->stack.count == bottom(p)) {
        return fail_stack(p);
    }
    *item = ((const uint32_t *)p->stack.data)[p->stack.count - 1];
    return REC_OK;
}

/* Puts a new node there. @return it, NULL with the failure reported; good until the next one is made. */
static lr_pt_node *push_new(lr_pickle *p, uint8_t kind)
{
    uint32_t index = lr_pickle_new(p, kind);
    return index && push(p, index) == REC_OK ? lr_pickle_node(p, index) : NULL;
}

/* ------------------------------------------------------------------------------------------------------ values -- */

static int32_t do_int(lr_pickle *p)
{
    unsigned width = p->width;
    uint64_t number;
    lr_pt_node *node;
    int32_t status = take_number(p, width, &number);
    if (status != REC_OK) {
        return status;
    }
    if (width == 1 && p->small[number]) { /* they are frequent, and the same node does for all */
        return push(p, p->small[number]);
    }
    node = push_new(p, LR_PT_INT);
    if (!node) {
        return REC_E_MEMORY;
    }
    node->v.i = width == 4 ? (int32_t)(uint32_t)number : (int64_t)number;
    if (width == 1) {
        p->small[number] = (uint32_t)(p->nodes.count - 1);
    }
    return REC_OK;
}

/* An integer of any width, two's complement. */
static int32_t do_long(lr_pickle *p)
{
    uint64_t length, low = 0;
    const uint8_t *bytes = NULL;
    bool negative, narrow = true;
    lr_pt_node *node;
    int32_t status = take_number(p, p->width, &length);
    status = status == REC_OK ? take(p, length, &bytes) : status;
    node = status == REC_OK ? push_new(p, LR_PT_INT) : NULL;
    if (!node) {
        return status != REC_OK ? status : REC_E_MEMORY;
    }
    negative = length && bytes[length - 1] & 0x80;
    for (uint64_t i = 0; i < 8; i++) {
        low |= (uint64_t)(i < length ? bytes[i] : negative ? 0xff : 0) << 8 * i;
    }
    for (uint64_t i = 8; i < length; i++) {
        narrow = narrow && bytes[i] == (negative ? 0xff : 0);
    }
    if (!narrow || (negative && !(low >> 63))) {
        *node = (lr_pt_node){.kind = LR_PT_BIG, .length = (uint32_t)length, .v = {.u = p->at - length}};
    } else if (!negative && low >> 63) {
        *node = (lr_pt_node){.kind = LR_PT_UINT, .v = {.u = low}};
    } else {
        memcpy(&node->v.i, &low, sizeof low);
    }
    return REC_OK;
}

static int32_t do_float(lr_pickle *p)
{
    const uint8_t *bytes;
    uint64_t bits = 0;
    lr_pt_node *node;
    int32_t status = take(p, 8, &bytes);
    if (status != REC_OK) {
        return status;
    }
    for (unsigned i = 0; i < 8; i++) {
        bits = bits << 8 | bytes[i];
    }
    node = push_new(p, LR_PT_FLOAT);
    if (!node) {
        return REC_E_MEMORY;
    }
    memcpy(&node->v.f, &bits, sizeof bits);
    return REC_OK;
}

/* Text or bytes after their length. Python 2's strings (EITHER) may be both. */
static int32_t do_text(lr_pickle *p)
{
    uint8_t kind = p->kind;
    uint64_t length;
    const uint8_t *bytes = NULL;
    lr_pt_node *node;
    int32_t status = take_number(p, p->width, &length);
    status = status == REC_OK ? take(p, length, &bytes) : status;
    if (status == REC_OK && kind != LR_PT_BYTES) {
        bool text = lr_utf8_until(bytes, length) == length;
        if (!text && kind != EITHER) {
            return lr_pickle_fail(p, "a string that is not UTF-8");
        }
        kind = text ? LR_PT_STRING : LR_PT_BYTES;
    }
    node = status == REC_OK ? push_new(p, kind) : NULL;
    if (node) {
        node->length = (uint32_t)length;
        node->v.u = p->at - length;
    }
    return status != REC_OK ? status : node ? REC_OK : REC_E_MEMORY;
}

/* -------------------------------------------------------------------------------------------------- containers -- */

/* Makes a container of items. */
static int32_t push_container(lr_pickle *p, const uint32_t *items, uint64_t count)
{
    uint32_t index = lr_pickle_new(p, p->kind);
    int32_t status = index ? REC_OK : REC_E_MEMORY;
    for (uint64_t i = 0; i < count && status == REC_OK; i++) {
        status = lr_pickle_append(p, index, items[i]);
    }
    return status == REC_OK ? push(p, index) : status;
}

/* A container of `width` items. */
static int32_t do_few(lr_pickle *p)
{
    const uint32_t *items;
    int32_t status = pop(p, p->width, &items);
    return status == REC_OK ? push_container(p, items, p->width) : status;
}

/* A container of all items down to the mark. */
static int32_t do_marked(lr_pickle *p)
{
    const uint32_t *items;
    uint64_t count;
    int32_t status = pop_mark(p, &items, &count);
    return status == REC_OK ? push_container(p, items, count) : status;
}

/* Puts items into the container below them. */
static int32_t add_items(lr_pickle *p, const uint32_t *items, uint64_t count)
{
    uint8_t kind = p->kind;
    uint32_t container;
    int32_t status = peek(p, &container);
    if (status != REC_OK) {
        return status;
    }
    if (lr_pickle_node(p, container)->kind == LR_PT_OBJECT) {
        kind = LR_PT_OBJECT; /* whatever it does with them */
    }
    if (lr_pickle_node(p, container)->kind != kind || (kind == LR_PT_DICT && count % 2)) {
        return lr_pickle_fail(p, "the pickle's operation 0x%02x would put items into %s", (unsigned)p->text[p->op],
                              lr_pickle_words(lr_pickle_node(p, container)));
    }
    for (uint64_t i = 0; i < count && status == REC_OK; i++) {
        status = lr_pickle_append(p, container, items[i]);
    }
    return status;
}

/* Takes `width` items, or those down to the mark. */
static int32_t do_add(lr_pickle *p)
{
    const uint32_t *items;
    uint64_t count = p->width;
    int32_t status = count ? pop(p, count, &items) : pop_mark(p, &items, &count);
    return status == REC_OK ? add_items(p, items, count) : status;
}

/* -------------------------------------------------------------------------------------------------------- memo -- */

/* By the number that follows; without one (`width` 0) the next. */
static int32_t do_put(lr_pickle *p)
{
    uint64_t number = p->memo_next;
    uint32_t item;
    int32_t status = p->width ? take_number(p, p->width, &number) : REC_OK;
    status = status == REC_OK ? peek(p, &item) : status;
    if (status != REC_OK) {
        return status;
    }
    if (number > p->size) { /* each number is a byte of the pickle at least */
        return lr_pickle_fail(p, "the pickle would remember something as number %" PRIu64 ", and has %" PRIu64 " bytes",
                              number, p->size);
    }
    while (p->memo.count <= number) {
        uint32_t *slot = lr_pickle_grow(p, &p->memo, sizeof *slot);
        if (!slot) {
            return REC_E_MEMORY;
        }
        *slot = UINT32_MAX;
    }
    ((uint32_t *)p->memo.data)[number] = item;
    p->memo_next = number >= p->memo_next ? number + 1 : p->memo_next;
    return REC_OK;
}

static int32_t do_get(lr_pickle *p)
{
    uint64_t number;
    int32_t status = take_number(p, p->width, &number);
    if (status != REC_OK) {
        return status;
    }
    if (number >= p->memo.count || ((const uint32_t *)p->memo.data)[number] == UINT32_MAX) {
        return lr_pickle_fail(p, "the pickle asks for number %" PRIu64 " of its memo, which is not there", number);
    }
    return push(p, ((const uint32_t *)p->memo.data)[number]);
}

/* ------------------------------------------------------------------------------------------- names and objects -- */

/* Whether what is about to be pushed is the second argument of _rebuild_from_type_v2: the class of a tensor. */
static bool is_class_of_tensor(const lr_pickle *p)
{
    const uint32_t *stack = p->stack.data;
    uint64_t from = bottom(p);
    return p->marks.count && from && p->stack.count == from + 1 &&
           lr_pickle_is_global(p, stack[from - 1], LR_PT_G_FROM_TYPE);
}

static int32_t do_global(lr_pickle *p)
{
    const char *module, *name;
    uint64_t module_length, length;
    uint32_t node = 0;
    int32_t status = take_line(p, &module, &module_length);
    status = status == REC_OK ? take_line(p, &name, &length) : status;
    status = status == REC_OK ? lr_pickle_global(p, module, module_length, name, length, is_class_of_tensor(p), &node)
                              : status;
    return status == REC_OK ? push(p, node) : status;
}

static int32_t do_stack_global(lr_pickle *p)
{
    const uint32_t *items;
    const lr_pt_node *module, *name;
    uint32_t node = 0;
    int32_t status = pop(p, 2, &items);
    if (status != REC_OK) {
        return status;
    }
    module = lr_pickle_node(p, items[0]);
    name = lr_pickle_node(p, items[1]);
    if (module->kind != LR_PT_STRING || name->kind != LR_PT_STRING) {
        return lr_pickle_fail(p, "the pickle names something by %s and %s", lr_pickle_words(module),
                              lr_pickle_words(name));
    }
    status = lr_pickle_global(p, lr_pickle_text(p, module), module->length, lr_pickle_text(p, name), name->length,
                              is_class_of_tensor(p), &node);
    return status == REC_OK ? push(p, node) : status;
}

static int32_t do_call(lr_pickle *p)
{
    const uint32_t *items;
    uint32_t node = 0;
    int32_t status = pop(p, 2, &items);
    status = status == REC_OK ? lr_pickle_call(p, items[0], items[1], &node) : status;
    return status == REC_OK ? push(p, node) : status;
}

/* A call with named arguments, which only what is not known is given. */
static int32_t do_call_named(lr_pickle *p)
{
    const uint32_t *items;
    uint32_t node = 0, named = 0;
    int32_t status = pop(p, 3, &items);
    if (status != REC_OK) {
        return status;
    }
    named = items[2];
    status = lr_pickle_call(p, items[0], items[1], &node);
    if (status == REC_OK && lr_pickle_node(p, node)->kind == LR_PT_OBJECT) {
        status = lr_pickle_append(p, node, named);
    }
    return status == REC_OK ? push(p, node) : status;
}

static int32_t do_persistent(lr_pickle *p)
{
    const uint32_t *items;
    uint32_t node = 0;
    int32_t status = pop(p, 1, &items);
    status = status == REC_OK ? lr_pickle_persistent(p, items[0], &node) : status;
    return status == REC_OK ? push(p, node) : status;
}

static int32_t do_build(lr_pickle *p)
{
    const uint32_t *items;
    uint32_t object = 0;
    int32_t status = pop(p, 1, &items);
    status = status == REC_OK ? peek(p, &object) : status;
    return status == REC_OK ? lr_pickle_build(p, object, items[0]) : status;
}

/* ---------------------------------------------------------------------------------------------------- the rest -- */

static int32_t do_protocol(lr_pickle *p)
{
    uint64_t version;
    int32_t status = take_number(p, 1, &version);
    if (status == REC_OK && (version < 2 || version > 5)) {
        status = rec_fail(p->job, REC_E_UNSUPPORTED, lr_pickle_place(p, p->op),
                          "a pickle of protocol %u; 2 to 5 can be read", (unsigned)version);
    }
    return status;
}

static int32_t do_frame(lr_pickle *p)
{
    uint64_t length;
    int32_t status = take_number(p, 8, &length);
    return status == REC_OK && length > p->size - p->at ? fail_cut(p) : status;
}

static int32_t do_pop_mark(lr_pickle *p)
{
    const uint32_t *items;
    uint64_t count;
    return pop_mark(p, &items, &count);
}

static int32_t do_pop(lr_pickle *p)
{
    const uint32_t *items;
    if (p->marks.count && p->stack.count == bottom(p)) {
        return do_pop_mark(p); /* as in Python: the top is the mark */
    }
    return pop(p, 1, &items);
}

static int32_t do_mark(lr_pickle *p)
{
    uint32_t *mark = lr_pickle_grow(p, &p->marks, sizeof *mark);
    if (!mark) {
        return REC_E_MEMORY;
    }
    *mark = (uint32_t)p->stack.count;
    return REC_OK;
}

static int32_t do_dup(lr_pickle *p)
{
    uint32_t item = 0;
    int32_t status = peek(p, &item);
    return status == REC_OK ? push(p, item) : status;
}

/* None, True and False. */
static int32_t do_constant(lr_pickle *p)
{
    return push(p, p->width);
}

static int32_t fail_operation(lr_pickle *p, uint8_t op)
{
    int32_t status;
    if (op < 0x80 && strchr("FILSVPgpdlioI", op)) {
        status = rec_fail(p->job, REC_E_UNSUPPORTED, lr_pickle_place(p, p->op),
                          "an operation of pickle protocol 0 or 1 (0x%02x); 2 to 5 can be read", (unsigned)op);
        rec_fail_hint(p->job, "Save it again with torch.save() and without pickle_protocol.");
        return status;
    }
    return lr_pickle_fail(p, "0x%02x is not an operation of a pickle that torch.save() writes", (unsigned)op);
}

/* What each operation does, with the width of the number that follows or a count, and the kind of node. The names are
 * those of Python's pickletools. */
static const struct {
    int32_t (*run)(lr_pickle *p);
    uint8_t width, kind;
} operations[256] = {
    ['('] = {do_mark, 0, 0},                   /* MARK */
    ['0'] = {do_pop, 0, 0},                    /* POP */
    ['1'] = {do_pop_mark, 0, 0},               /* POP_MARK */
    ['2'] = {do_dup, 0, 0},                    /* DUP */
    ['B'] = {do_text, 4, LR_PT_BYTES},         /* BINBYTES */
    ['C'] = {do_text, 1, LR_PT_BYTES},         /* SHORT_BINBYTES */
    ['G'] = {do_float, 0, 0},                  /* BINFLOAT */
    ['J'] = {do_int, 4, 0},                    /* BININT */
    ['K'] = {do_int, 1, 0},                    /* BININT1 */
    ['M'] = {do_int, 2, 0},                    /* BININT2 */
    ['N'] = {do_constant, LR_PT_AT_NONE, 0},   /* NONE */
    ['Q'] = {do_persistent, 0, 0},             /* BINPERSID */
    ['R'] = {do_call, 0, 0},                   /* REDUCE */
    ['T'] = {do_text, 4, EITHER},              /* BINSTRING */
    ['U'] = {do_text, 1, EITHER},              /* SHORT_BINSTRING */
    ['X'] = {do_text, 4, LR_PT_STRING},        /* BINUNICODE */
    [']'] = {do_few, 0, LR_PT_LIST},           /* EMPTY_LIST */
    ['a'] = {do_add, 1, LR_PT_LIST},           /* APPEND */
    ['b'] = {do_build, 0, 0},                  /* BUILD */
    ['c'] = {do_global, 0, 0},                 /* GLOBAL */
    ['e'] = {do_add, 0, LR_PT_LIST},           /* APPENDS */
    ['h'] = {do_get, 1, 0},                    /* BINGET */
    ['j'] = {do_get, 4, 0},                    /* LONG_BINGET */
    ['q'] = {do_put, 1, 0},                    /* BINPUT */
    ['r'] = {do_put, 4, 0},                    /* LONG_BINPUT */
    ['s'] = {do_add, 2, LR_PT_DICT},           /* SETITEM */
    ['t'] = {do_marked, 0, LR_PT_TUPLE},       /* TUPLE */
    ['u'] = {do_add, 0, LR_PT_DICT},           /* SETITEMS */
    ['}'] = {do_few, 0, LR_PT_DICT},           /* EMPTY_DICT */
    [')'] = {do_few, 0, LR_PT_TUPLE},          /* EMPTY_TUPLE */
    [0x80] = {do_protocol, 0, 0},              /* PROTO */
    [0x81] = {do_call, 0, 0},                  /* NEWOBJ */
    [0x85] = {do_few, 1, LR_PT_TUPLE},         /* TUPLE1 */
    [0x86] = {do_few, 2, LR_PT_TUPLE},         /* TUPLE2 */
    [0x87] = {do_few, 3, LR_PT_TUPLE},         /* TUPLE3 */
    [0x88] = {do_constant, LR_PT_AT_TRUE, 0},  /* NEWTRUE */
    [0x89] = {do_constant, LR_PT_AT_FALSE, 0}, /* NEWFALSE */
    [0x8a] = {do_long, 1, 0},                  /* LONG1 */
    [0x8b] = {do_long, 4, 0},                  /* LONG4 */
    [0x8c] = {do_text, 1, LR_PT_STRING},       /* SHORT_BINUNICODE */
    [0x8d] = {do_text, 8, LR_PT_STRING},       /* BINUNICODE8 */
    [0x8e] = {do_text, 8, LR_PT_BYTES},        /* BINBYTES8 */
    [0x8f] = {do_few, 0, LR_PT_LIST},          /* EMPTY_SET */
    [0x90] = {do_add, 0, LR_PT_LIST},          /* ADDITEMS */
    [0x91] = {do_marked, 0, LR_PT_LIST},       /* FROZENSET */
    [0x92] = {do_call_named, 0, 0},            /* NEWOBJ_EX */
    [0x93] = {do_stack_global, 0, 0},          /* STACK_GLOBAL */
    [0x94] = {do_put, 0, 0},                   /* MEMOIZE */
    [0x95] = {do_frame, 0, 0},                 /* FRAME */
    [0x96] = {do_text, 8, LR_PT_BYTES},        /* BYTEARRAY8 */
};

/* --------------------------------------------------------------------------------------------------- the whole -- */

int32_t lr_pickle_open(lr_pickle *p, rec_job *job, const uint8_t *text, uint64_t size, uint64_t begin)
{
    *p = (lr_pickle){.job = job, .text = text, .size = size, .begin = begin};
    if (size >= UINT32_MAX) {
        return rec_fail(job, REC_E_LIMIT, begin, "a pickle of %" PRIu64 " bytes; at most 4 GiB can be read", size);
    }
    /* Number 0 is nobody's; the constants follow. */
    for (int i = 0; i < 4; i++) {
        (void)lr_pickle_new(p, i <= LR_PT_AT_NONE ? LR_PT_NONE : LR_PT_BOOL);
        if (p->nodes.count != (uint64_t)i + 1) {
            return REC_E_MEMORY;
        }
    }
    lr_pickle_node(p, LR_PT_AT_TRUE)->v.i = 1;
    return REC_OK;
}

void lr_pickle_close(lr_pickle *p)
{
    lr_pt_array *arrays[] = {&p->nodes,      &p->cells,   &p->stack,  &p->marks, &p->memo,
                             &p->references, &p->tensors, &p->arrays, &p->dims,  &p->classes};
    lr_pickle_arrays_close(p);
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        rec_job_free(p->job, arrays[i]->data);
        *arrays[i] = (lr_pt_array){0};
    }
}

int32_t lr_pickle_run(lr_pickle *p, uint32_t *root)
{
    int32_t status = REC_OK;
    uint64_t told = p->at;
    const uint32_t *items;
    const uint8_t *op;
    enum { STOP = '.' };
    p->stack.count = p->marks.count = p->memo.count = p->memo_next = 0;
    for (;;) {
        p->op = p->at;
        status = take(p, 1, &op);
        if (status != REC_OK || *op == STOP) {
            break;
        }
        p->width = operations[*op].width;
        p->kind = operations[*op].kind;
        status = operations[*op].run ? operations[*op].run(p) : fail_operation(p, *op);
        if (status == REC_OK && p->at - told >= (UINT64_C(1) << 20)) {
            told = p->at;
            status = rec_job_progress(p->job, p->at, p->size);
        }
        if (status != REC_OK) {
            break;
        }
    }
    status = status == REC_OK ? pop(p, 1, &items) : status;
    if (status == REC_OK && (p->stack.count || p->marks.count)) {
        status = lr_pickle_fail(p, "the pickle ends with more than one thing on the stack");
    }
    if (status == REC_OK) {
        *root = items[0];
    }
    return status;
}
