/* SPDX-License-Identifier: MIT OR Apache-2.0
 * record edit set: a value, a whole tensor, or elements of one. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/edit/edit_private.h"

/* ----------------------------------------------------------------------------------------------------- numbers -- */

/* Numbers of nested lists, in row-major order. */
typedef struct numbers {
    void *at; /* f64, i64 or u64 */
    rec_dtype dtype;
    uint64_t count;
    uint64_t shape[SLICE_PARTS];
    uint32_t rank;
} numbers;

static bool is_whole(const literal *l)
{
    return l->number.kind == REC_KIND_UINT || l->number.kind == REC_KIND_INT || l->number.kind == REC_KIND_BOOL;
}

/* Adds one as the type that all of them have. @return false: it does not fit. */
static bool add_number(numbers *n, const literal *l)
{
    rec_scalar s = l->number;

    n->at = tool_grown(n->at, (size_t)n->count, sizeof(uint64_t));
    if (n->dtype == REC_DTYPE_F64) {
        ((double *)n->at)[n->count++] = s.kind == REC_KIND_FLOAT  ? s.v.f
                                        : s.kind == REC_KIND_UINT ? (double)s.v.u
                                                                  : (double)s.v.i;
        return true;
    }
    if (!is_whole(l) || (s.kind == REC_KIND_UINT && n->dtype == REC_DTYPE_I64 && s.v.u > INT64_MAX) ||
        (s.kind != REC_KIND_UINT && n->dtype == REC_DTYPE_U64 && s.v.i < 0)) {
        return false;
    }
    ((uint64_t *)n->at)[n->count++] = s.kind == REC_KIND_UINT ? s.v.u : (uint64_t)s.v.i;
    return true;
}

static int gather(numbers *n, const literal *l, uint32_t depth, const char *key)
{
    if (l->kind != LITERAL_LIST) {
        if (depth != n->rank || (l->kind != LITERAL_NUMBER && l->kind != LITERAL_BOOL)) {
            return tool_fail("set %s: expected numbers, in lists of one length at each level", key);
        }
        return add_number(n, l) ? EXIT_OK
                                : tool_fail("set %s: whole numbers that fit the tensor's type were expected", key);
    }
    if (depth >= n->rank || l->count != n->shape[depth]) {
        return tool_fail("set %s: expected numbers, in lists of one length at each level", key);
    }
    for (size_t i = 0; i < l->count; i++) {
        int status = gather(n, &l->items[i], depth + 1, key);
        if (status != EXIT_OK) {
            return status;
        }
    }
    return EXIT_OK;
}

/* Reads nested lists, whose shape is that of their first items. @param dtype of the tensor that they are for. */
static int read_numbers(numbers *n, const literal *l, rec_dtype dtype, const char *key)
{
    const literal *at = l;

    *n = (numbers){.dtype = tool_edit_class(dtype) == CLASS_FLOAT ? REC_DTYPE_F64
                            : dtype == REC_DTYPE_U64              ? REC_DTYPE_U64
                                                                  : REC_DTYPE_I64};
    while (at && at->kind == LITERAL_LIST && n->rank < SLICE_PARTS) {
        n->shape[n->rank++] = at->count;
        at = at->count ? &at->items[0] : NULL;
    }
    return gather(n, l, 0, key);
}

/* As elements, in host byte order, from malloc. @return NULL with the error printed. */
static void *encode(work *w, const numbers *n, rec_dtype dtype, const char *key)
{
    size_t width = tool_edit_width(dtype);
    uint8_t *elements = xmalloc((size_t)n->count * width);

    if (tool_edit_class(dtype) == CLASS_BOOL) {
        memset(elements, 0, (size_t)n->count * width);
        for (uint64_t i = 0; i < n->count; i++) {
            uint64_t value = ((const uint64_t *)n->at)[i];
            if (value > 1) {
                (void)tool_fail("set %s: a bool takes true and false, or 1 and 0", key);
                free(elements);
                return NULL;
            }
            if (width == sizeof(uint32_t)) {
                ((uint32_t *)(void *)elements)[i] = (uint32_t)value;
            } else {
                elements[i] = (uint8_t)value;
            }
        }
        return elements;
    }
    if (n->count && tool_edit_encode(w->s, key, n->dtype, n->at, n->count, dtype, elements) != EXIT_OK) {
        free(elements);
        return NULL;
    }
    return elements;
}

/* ----------------------------------------------------------------------------------------------- into a tensor -- */

/* Sets what a window of elements shows. */
static void fill(uint8_t *elements, const window *w, uint32_t depth, uint64_t at, size_t width, const uint8_t **values,
                 bool one)
{
    if (depth == w->rank) {
        memcpy(elements + at * width, *values, width);
        *values += one ? 0 : width;
        return;
    }
    for (uint64_t i = 0; i < w->shape[depth]; i++) {
        fill(elements, w, depth + 1, at + i * w->strides[depth], width, values, one);
    }
}

/* Numbers into all of a tensor, or into a slice of it. */
static int set_elements(work *w, const char *key, const rec_tensor *tensor, const char *sliced, const literal *l,
                        outcome *o)
{
    rec_dtype dtype = rec_tensor_dtype(tensor);
    size_t width = tool_edit_width(dtype);
    uint64_t count = rec_tensor_count(tensor), chosen = 1;
    bool one = l->kind != LITERAL_LIST;
    uint8_t *elements = NULL, *values = NULL;
    const uint8_t *next;
    char *id = rec_tensor_id(tensor) ? xstrdup(rec_tensor_id(tensor)) : NULL;
    numbers n = {0};
    slice chosen_by = {0};
    window view;
    int status = EXIT_ERROR;

    if (!width || !tool_edit_class(dtype)) {
        status = tool_fail("set %s: elements of %s cannot be set", key, rec_tensor_dtype_name(tensor));
        goto done;
    }
    if ((sliced && tool_slice_parse(&chosen_by, sliced) != EXIT_OK) ||
        tool_slice_apply(&chosen_by, key, rec_tensor_shape(tensor), rec_tensor_rank(tensor), &view) != EXIT_OK ||
        read_numbers(&n, l, dtype, key) != EXIT_OK) {
        goto done;
    }
    for (uint32_t i = 0; i < view.rank; i++) {
        chosen *= view.shape[i];
    }
    if (!one && (n.rank != view.rank || memcmp(n.shape, view.shape, n.rank * sizeof *n.shape) != 0)) {
        text have = {0}, want = {0};
        tool_text_shape(&have, n.shape, n.rank);
        tool_text_shape(&want, view.shape, view.rank);
        status = tool_fail("set %s: expected one number or %s, found %s", key, want.at, have.at);
        tool_text_free(&have);
        tool_text_free(&want);
        goto done;
    }
    values = encode(w, &n, dtype, key);
    elements = values ? malloc(count ? (size_t)count * width : 1) : NULL;
    if (values && !elements) {
        (void)tool_fail("out of memory");
    }
    if (!elements || (count && chosen < count && rec_tensor_read(tensor, dtype, 0, count, elements) != REC_OK)) {
        status = elements ? tool_fail_library() : EXIT_ERROR;
        goto done;
    }
    next = values;
    fill(elements, &view, 0, view.first, width, &next, one);
    tool_text_format(&o->said, "%" PRIu64 " element%s of %s ", chosen, tool_plural(chosen), rec_dtype_name(dtype));
    tool_text_shape(&o->said, rec_tensor_shape(tensor), rec_tensor_rank(tensor));
    o->tensors = o->changed = 1;
    o->elements = chosen;
    status = tool_edit_put_elements(w, key, dtype, rec_tensor_rank(tensor), rec_tensor_shape(tensor), elements, id);
    elements = NULL;

done:
    free(n.at);
    free(values);
    free(elements);
    free(id);
    return status;
}

/* ------------------------------------------------------------------------------------------------- new tensors -- */

/* `f32 [[1, 2], [3, 4]]`, or `f32[512, 512]=0`. @param rest the text after the element type. */
static int set_tensor(work *w, const char *key, rec_dtype dtype, const char *rest, outcome *o)
{
    const rec_value *old = rec_value_at(w->record, key);
    const rec_tensor *was = old ? rec_value_tensor(old) : NULL;
    const char *id = was ? rec_tensor_id(was) : NULL;
    char *kept = id ? xstrdup(id) : NULL, *head = NULL;
    const char *equals = *rest == '[' ? strchr(rest, '=') : NULL;
    size_t width = tool_edit_width(dtype);
    uint64_t count = 1;
    literal l = {0}, sizes = {0};
    numbers n = {0}, dims = {0};
    uint8_t *elements = NULL;
    int status = tool_edit_literal(&l, equals ? equals + 1 : rest, key);

    if (status != EXIT_OK || (status = read_numbers(&n, &l, dtype, key)) != EXIT_OK) {
        goto done;
    }
    if (equals) {
        head = xasprintf("%.*s", (int)(equals - rest), rest);
        status = tool_edit_literal(&sizes, head, key);
        if (status == EXIT_OK && (sizes.kind != LITERAL_LIST || l.kind == LITERAL_LIST || sizes.count > SLICE_PARTS)) {
            status = tool_fail("set %s: expected TYPE[SHAPE]=NUMBER, found \"%s\"", key, rest);
        }
        status = status == EXIT_OK ? read_numbers(&dims, &sizes, REC_DTYPE_U64, key) : status;
        if (status == EXIT_OK && (dims.rank > 1 || dims.count > SLICE_PARTS)) {
            status = tool_fail("set %s: expected a shape of at most %d sizes, found \"%s\"", key, SLICE_PARTS, head);
        }
        if (status != EXIT_OK) {
            goto done;
        }
        n.rank = (uint32_t)dims.count;
        if (dims.count) {
            memcpy(n.shape, dims.at, (size_t)dims.count * sizeof *n.shape);
        }
    }
    for (uint32_t i = 0; i < n.rank; i++) {
        if (n.shape[i] && count > SIZE_MAX / 2 / width / n.shape[i]) {
            status = tool_fail("set %s: this shape has more elements than fit into memory", key);
            goto done;
        }
        count *= n.shape[i];
    }
    status = EXIT_ERROR;
    elements = encode(w, &n, dtype, key);
    if (elements && equals) {
        uint8_t *all = realloc(elements, (size_t)(count ? count : 1) * width);
        if (!all) {
            (void)tool_fail("set %s: out of memory", key);
            goto done;
        }
        elements = all;
        for (uint64_t i = 1; i < count; i++) {
            memcpy(elements + i * width, elements, width);
        }
    }
    if (elements && (was || tool_edit_new_id(w, &id) == EXIT_OK)) {
        tool_text_format(&o->said, "%s %s ", was ? "now" : "new:", rec_dtype_name(dtype));
        tool_text_shape(&o->said, n.shape, n.rank);
        o->tensors = o->changed = 1;
        o->elements = count;
        status = tool_edit_put_elements(w, key, dtype, n.rank, n.shape, elements, was ? kept : id);
        elements = NULL;
    }

done:
    tool_edit_literal_free(&l);
    tool_edit_literal_free(&sizes);
    free(elements);
    free(n.at);
    free(dims.at);
    free(head);
    free(kept);
    return status;
}

/* The element type at the start of a value that describes a tensor. @param rest (out) the text after it. */
static rec_dtype begins_with_dtype(const char *value, const char **rest)
{
    size_t length = strspn(value, "abcdefghijklmnopqrstuvwxyz0123456789");
    char word[16];
    rec_dtype dtype;

    if (length == 0 || length >= sizeof word || (value[length] != ' ' && value[length] != '[')) {
        return REC_DTYPE_NONE;
    }
    (void)snprintf(word, sizeof word, "%.*s", (int)length, value);
    dtype = rec_dtype_from_name(word);
    *rest = value + length + strspn(value + length, " ");
    return tool_edit_class(dtype) ? dtype : REC_DTYPE_NONE;
}

/* `@FILE` or `@FILE:KEY`: a tensor of another record. */
static int set_from_file(work *w, const char *key, const char *name, outcome *o)
{
    const rec_value *old = rec_value_at(w->record, key);
    const rec_tensor *was = old ? rec_value_tensor(old) : NULL, *tensor = NULL;
    const char *colon = access(name, F_OK) == 0 ? NULL : strrchr(name, ':');
    char *path = colon ? xasprintf("%.*s", (int)(colon - name), name) : xstrdup(name);
    char *kept = was && rec_tensor_id(was) ? xstrdup(rec_tensor_id(was)) : NULL;
    rec_recorder *reader = rec_open_recorder_in(w->s->context, "Auto", REC_PRECISION_KEEP);
    rec_record *record = NULL;
    summary sums = {0};
    int status = EXIT_ERROR;

    if (!reader || rec_recorder_set(reader, "adapter", "none") != REC_OK ||
        rec_recorder_set(reader, "gaps", "keep") != REC_OK || !(record = rec_load(reader, path))) {
        status = tool_fail_library();
        goto done;
    }
    tool_edit_hold(w, record);
    if (colon) {
        tensor = rec_tensor_at(record, colon + 1);
        status = tensor ? EXIT_OK : tool_fail_library();
    } else if ((status = tool_summarise(record, &sums)) == EXIT_OK) {
        tensor = sums.largest;
        status = sums.tensors == 1 ? EXIT_OK
                                   : tool_fail("set %s: %s holds %" PRIu64 " tensors: @FILE:KEY selects one", key,
                                               tool_name_shown(path), sums.tensors);
    }
    if (status == EXIT_OK && !tool_edit_class(rec_tensor_dtype(tensor))) {
        status = tool_fail("set %s: a tensor of %s cannot be copied", key, rec_tensor_dtype_name(tensor));
    }
    if (status == EXIT_OK) {
        tool_text_format(&o->said, "%s %s ", was ? "now" : "new:", rec_tensor_dtype_name(tensor));
        tool_text_shape(&o->said, rec_tensor_shape(tensor), rec_tensor_rank(tensor));
        o->tensors = o->changed = 1;
        o->elements = rec_tensor_count(tensor);
        const char *id = kept;
        status = was ? EXIT_OK : tool_edit_new_id(w, &id);
        status = status == EXIT_OK ? tool_edit_put(w, key, tensor, rec_tensor_dtype(tensor), id) : status;
    }

done:
    tool_summary_free(&sums);
    rec_close_recorder(reader);
    free(path);
    free(kept);
    return status;
}

/* ------------------------------------------------------------------------------------------------------ values -- */

/* A number takes the kind and width that the old one has, if it says none. */
static int take_type(const char *key, const rec_scalar *old, literal *l)
{
    char number[NUMBER_ROOM];
    bool takes = old->kind == REC_KIND_FLOAT || old->kind == REC_KIND_UINT || old->kind == REC_KIND_INT;

    if (!takes || l->typed || l->kind != LITERAL_NUMBER || tool_edit_fit(&l->number, old->kind, old->bits)) {
        return EXIT_OK;
    }
    return tool_fail("set %s: %s does not fit %s of %u bits\nA suffix gives it another type: 5i64, 1.5f32.", key,
                     tool_scalar_text(&l->number, number), tool_kind_word(old->kind), old->bits ? old->bits : 64u);
}

static int put_literal(work *w, text *path, const literal *l);

static int put_items(work *w, text *path, const literal *l)
{
    size_t before = path->length;
    int status = EXIT_OK;

    if (rec_set_empty(w->record, path->at, l->kind == LITERAL_LIST ? REC_KIND_LIST : REC_KIND_MAP) != REC_OK) {
        return tool_fail_library();
    }
    for (size_t i = 0; i < l->count && status == EXIT_OK; i++) {
        tool_text_put(path, before ? "." : "");
        if (l->kind == LITERAL_LIST) {
            tool_text_format(path, "%zu", i);
        }
        for (size_t k = 0; l->kind == LITERAL_MAP && k < l->items[i].key.length; k++) {
            char at = l->items[i].key.at[k];
            tool_text_add(path, "\\", at == '.' || at == '\\');
            tool_text_add(path, &at, 1);
        }
        status = put_literal(w, path, &l->items[i]);
        path->length = before;
        path->at[before] = '\0';
    }
    return status;
}

static int put_literal(work *w, text *path, const literal *l)
{
    rec_scalar s = l->number;

    tool_edit_clear(w, path->at); /* replaces the whole value */
    switch (l->kind) {
    case LITERAL_LIST:
    case LITERAL_MAP:
        return put_items(w, path, l);
    case LITERAL_STRING:
        s = (rec_scalar){.kind = REC_KIND_STRING, .v = {.length = l->string.length}, .text = l->string.at};
        break;
    case LITERAL_NULL:
        s = (rec_scalar){.kind = REC_KIND_NIL};
        break;
    default:
        break;
    }
    return rec_set_scalar(w->record, path->at, s) == REC_OK ? EXIT_OK : tool_fail_library();
}

/* As a noun: a uint, a list, bytes. */
static const char *kind_noun(int32_t kind)
{
    static char noun[32];

    (void)snprintf(noun, sizeof noun, "%s%s",
                   kind == REC_KIND_BYTES ? ""
                   : kind == REC_KIND_INT ? "an "
                                          : "a ",
                   tool_kind_word(kind == REC_KIND_NUMBERS ? REC_KIND_LIST : kind));
    return noun;
}

/* Whether what is given may stand where a value of that kind is. */
static bool is_of_kind(int32_t kind, const literal *l)
{
    switch (kind) {
    case REC_KIND_BOOL:
        return l->kind == LITERAL_BOOL;
    case REC_KIND_INT:
    case REC_KIND_UINT:
    case REC_KIND_FLOAT:
        return l->kind == LITERAL_NUMBER;
    case REC_KIND_STRING:
        return l->kind == LITERAL_STRING;
    case REC_KIND_BYTES:
        return false;
    default: /* null, and what holds others */
        return true;
    }
}

static void count_value(void *user, const char *path, const rec_value *leaf)
{
    (void)path;
    *(uint64_t *)user += !rec_value_tensor(leaf);
}

/* Whether a new value would be left out when the record is written: files of arrays hold none, and a burnpack only
 * those of a state, which has others. */
static bool leaves_out_values(const work *w)
{
    const char *writer = w->to ? rec_recorder_name(w->to) : "";
    uint64_t values = 0;

    if (strcmp(writer, "Burnpack") == 0) {
        tool_edit_leaves(w->record, "", count_value, &values);
        return values == 0;
    }
    return strcmp(writer, "Npz") == 0 || strcmp(writer, "Npy") == 0;
}

static int set_value(work *w, const char *key, const char *value, outcome *o)
{
    const rec_value *old = rec_value_at(w->record, key);
    int32_t kind = old ? rec_value_kind(old) : REC_KIND_NIL;
    const rec_scalar was = old ? rec_value_scalar(old) : (rec_scalar){0};
    text path = {0};
    literal l = {0};
    int status = EXIT_OK;

    if (!old && rec_value_count(rec_root(w->record)) && leaves_out_values(w)) {
        (void)rec_tensor_at(w->record, key); /* its error has the nearest keys */
        return tool_fail("set %s: there is no such key, and %s files of models hold nothing but tensors%s%s", key,
                         rec_recorder_name(w->to), *rec_error_hint() ? "\n" : "", rec_error_hint());
    }
    /* Where a string is, any text is one. */
    if (kind == REC_KIND_STRING && value[0] != '"' && strcmp(value, "null") != 0) {
        l.kind = LITERAL_STRING;
        tool_text_put(&l.string, value);
    } else {
        status = tool_edit_literal(&l, value, key);
    }
    if (status == EXIT_OK && kind >= REC_KIND_LIST && kind <= REC_KIND_NUMBERS && l.kind != LITERAL_LIST &&
        l.kind != LITERAL_MAP && rec_value_count(old)) {
        status =
            tool_fail("set %s: it is %s, which one value cannot replace\nRemove it first (rm), or name what is in it.",
                      key, kind_noun(kind));
    }
    if (status == EXIT_OK && kind == REC_KIND_BOOL && l.kind == LITERAL_NUMBER) {
        status = tool_fail("set %s: it is a bool: true or false", key);
    }
    if (status == EXIT_OK && l.kind != LITERAL_NULL && !is_of_kind(kind, &l)) {
        status = tool_fail("set %s: it is %s, found \"%s\"\nTo make it another kind remove it first (rm).", key,
                           kind_noun(kind), value);
    }
    if (status == EXIT_OK && (status = take_type(key, &was, &l)) == EXIT_OK) {
        if (old && kind >= REC_KIND_LIST && kind <= REC_KIND_VARIANT) {
            tool_text_format(&o->said, "was a %s", tool_kind_word(kind));
        } else if (old) {
            tool_text_put(&o->said, "was ");
            tool_leaf_text(&o->said, old, 40);
        } else {
            tool_text_put(&o->said, "added");
        }
        tool_text_put(&path, key);
        o->changed = 1;
        status = put_literal(w, &path, &l);
    }
    tool_edit_literal_free(&l);
    tool_text_free(&path);
    return status;
}

/* A new key `weight[x]` next to a tensor `weight` is probably a slice of it. */
static bool is_bad_slice(const work *w, const char *key)
{
    const char *open = strrchr(key, '[');
    bool bad = open && key[strlen(key) - 1] == ']' && !rec_value_at(w->record, key);

    if (bad) {
        char *before = xasprintf("%.*s", (int)(open - key), key);
        const rec_value *beside = rec_value_at(w->record, before);
        bad = beside && rec_value_tensor(beside);
        free(before);
    }
    return bad;
}

int tool_edit_set(work *w, const step *todo, outcome *o)
{
    const char *const *operands = todo->operands;
    const char *value = operands[1], *rest = value;
    size_t length = rec_value_at(w->record, operands[0]) ? strlen(operands[0]) : tool_slice_find(operands[0]);
    char *key = xasprintf("%.*s", (int)length, operands[0]);
    const rec_value *old = rec_value_at(w->record, key);
    const rec_tensor *tensor = old ? rec_value_tensor(old) : NULL;
    rec_dtype dtype = begins_with_dtype(value, &rest);
    int status;

    if (length == strlen(operands[0]) && is_bad_slice(w, operands[0])) {
        status =
            tool_fail("set %s: it is a tensor: indices and ranges like [0, 1:3, :, -1] were expected, found \"%s\"",
                      operands[0], strrchr(operands[0], '['));
    } else if (!tensor && length < strlen(operands[0])) {
        status = rec_tensor_at(w->record, key) ? EXIT_ERROR : tool_fail_library();
    } else if (length < strlen(operands[0]) || (tensor && dtype == REC_DTYPE_NONE && value[0] != '@')) {
        literal l;
        status = tool_edit_literal(&l, value, operands[0]);
        if (status == EXIT_OK && l.kind != LITERAL_LIST && l.kind != LITERAL_NUMBER && l.kind != LITERAL_BOOL) {
            status = tool_fail("set %s: it is a tensor: a number, or numbers in lists were expected, found \"%s\"",
                               operands[0], value);
        }
        if (status == EXIT_OK) {
            status = set_elements(w, key, tensor, length < strlen(operands[0]) ? operands[0] + length : NULL, &l, o);
        }
        tool_edit_literal_free(&l);
    } else if (dtype != REC_DTYPE_NONE && (tensor || !old || rec_value_kind(old) == REC_KIND_NIL)) {
        status = set_tensor(w, key, dtype, rest, o);
    } else if (value[0] == '@') {
        status = set_from_file(w, key, value + 1, o);
    } else {
        status = set_value(w, key, value, o);
    }
    free(key);
    return status;
}
