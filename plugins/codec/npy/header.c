/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Headers of arrays: "\x93NUMPY", the version, the length, and a Python dictionary as text. It accepts what NumPy
 * reads without running code, and rejects the rest. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "plugins/codec/npy/npy.h"
#include "plugins/codec/little.h"

enum { FIRST = 192, TEXT_MOST = 64 * 1024 };

static const struct {
    char code[3];
    rec_dtype dtype;
} types[] = {
    {"f8", REC_DTYPE_F64}, {"f4", REC_DTYPE_F32}, {"f2", REC_DTYPE_F16}, {"i8", REC_DTYPE_I64},
    {"i4", REC_DTYPE_I32}, {"i2", REC_DTYPE_I16}, {"i1", REC_DTYPE_I8},  {"u8", REC_DTYPE_U64},
    {"u4", REC_DTYPE_U32}, {"u2", REC_DTYPE_U16}, {"u1", REC_DTYPE_U8},  {"b1", REC_DTYPE_BOOL},
};
enum { TYPES = sizeof types / sizeof *types };

typedef struct parser {
    rec_job *job;
    const char *name; /* of the member, or NULL */
    uint64_t at;
    const char *p, *end;
    lr_npz_array *array;
    const char **unfit;       /* where to say why no tensor can hold it, or NULL: then it is an error */
    bool descr, order, shape; /* seen */
} parser;

static int32_t wrong(const parser *x, const char *expected)
{
    int shown = 0;
    int32_t status;
    while (x->p + shown < x->end && shown < 24 && x->p[shown] >= ' ' && x->p[shown] < 0x7f) {
        shown++;
    }
    status = rec_fail_found(x->job, REC_E_FORMAT, x->at, expected, "`%.*s` in the header%s%s", shown, x->p,
                            x->name ? " of " : "", x->name ? x->name : "");
    rec_fail_hint(x->job, "Save the array again with numpy.save.");
    return status;
}

static void skip(parser *x)
{
    while (x->p < x->end && (*x->p == ' ' || *x->p == '\n' || *x->p == '\t' || *x->p == '\r')) {
        x->p++;
    }
}

static bool pass(parser *x, char c)
{
    skip(x);
    if (x->p < x->end && *x->p == c) {
        x->p++;
        return true;
    }
    return false;
}

static bool pass_word(parser *x, const char *word)
{
    size_t length = strlen(word);
    skip(x);
    if ((size_t)(x->end - x->p) >= length && memcmp(x->p, word, length) == 0) {
        x->p += length;
        return true;
    }
    return false;
}

/* A string of Python's, without escapes: no name or type has any. */
static bool string(parser *x, const char **text, size_t *length)
{
    char quote;
    skip(x);
    if (x->p == x->end || (*x->p != '\'' && *x->p != '"')) {
        return false;
    }
    quote = *x->p++;
    *text = x->p;
    while (x->p < x->end && *x->p != quote && *x->p != '\\') {
        x->p++;
    }
    *length = (size_t)(x->p - *text);
    return pass(x, quote);
}

/* Whether NumPy's `=`, the order of the machine, is the highest byte first. */
static bool is_big_machine(void)
{
    return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
}

/* Explains why a tensor cannot have an element type. @param code without the byte order. */
static const char *reason(const char *code, size_t length)
{
    static const char *const reasons[][2] = {
        {"c", "complex numbers"},
        {"O", "Python objects, which only running code could recreate"},
        {"SaUT", "strings"},
        {"Mm", "dates or durations"},
        {"V", "raw bytes, which NumPy writes for types that it does not know"},
        {"f", "floats of a size that is not the same on all machines"},
    };
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons && length && *code; i++) {
        if (strchr(reasons[i][0], *code)) {
            return reasons[i][1];
        }
    }
    return "elements of an unknown type";
}

static int32_t unsupported(const parser *x, const char *why, const char *code, size_t length)
{
    int32_t status;
    if (x->unfit) {
        *x->unfit = why;
        return REC_E_UNSUPPORTED;
    }
    status = rec_fail(x->job, REC_E_UNSUPPORTED, x->at, "%s%san array of %s (%.*s): no tensor can hold it",
                      x->name ? x->name : "", x->name ? ": " : "", why, (int)(length < 60 ? length : 60), code);
    rec_fail_hint(x->job, "Leave it out, or convert it in Python: numpy.asarray(array, numpy.float32).");
    return status;
}

static int32_t descr(parser *x)
{
    lr_npz_array *a = x->array;
    const char *code;
    size_t length, named;
    char order;
    skip(x);
    if (x->p < x->end && (*x->p == '[' || *x->p == '(' || *x->p == '{')) {
        return unsupported(x, "structures", x->p, (size_t)(x->end - x->p));
    }
    if (!string(x, &code, &length)) {
        return wrong(x, "the element type as a string");
    }
    order = length && strchr("<>|=", *code) && *code ? *code : '=';
    named = order == *code ? 1 : 0;
    for (size_t i = 0; i < TYPES && length == named + 2; i++) {
        if (memcmp(code + named, types[i].code, 2) == 0) {
            a->dtype = types[i].dtype;
            a->width = rec_dtype_bits(a->dtype) / 8;
        }
    }
    if (length == named + 1 && code[named] == '?') { /* as NumPy spells its bool, too */
        a->dtype = REC_DTYPE_BOOL;
        a->width = 1;
    }
    if (a->dtype == REC_DTYPE_NONE || (order == '|' && a->width > 1)) {
        return unsupported(x, reason(code + named, length - named), code, length);
    }
    a->big = a->width > 1 && (order == '>' || (order == '=' && is_big_machine()));
    x->descr = true;
    return REC_OK;
}

static int32_t order(parser *x)
{
    x->array->fortran = pass_word(x, "True");
    if (!x->array->fortran && !pass_word(x, "False")) {
        return wrong(x, "True or False as fortran_order");
    }
    x->order = true;
    return REC_OK;
}

static int32_t shape(parser *x)
{
    lr_npz_array *a = x->array;
    if (!pass(x, '(')) {
        return wrong(x, "the shape, numbers in parentheses");
    }
    while (!pass(x, ')')) {
        uint64_t number = 0;
        skip(x);
        if (x->p == x->end || *x->p < '0' || *x->p > '9') {
            return wrong(x, "a dimension");
        }
        for (; x->p < x->end && *x->p >= '0' && *x->p <= '9'; x->p++) {
            if (__builtin_mul_overflow(number, 10u, &number) ||
                __builtin_add_overflow(number, (uint64_t)(*x->p - '0'), &number)) {
                return wrong(x, "a dimension within 64 bits before this");
            }
        }
        (void)pass(x, 'L'); /* of Python 2 */
        if (a->rank == LR_NPY_RANK) {
            return wrong(x, "at most 32 dimensions before this");
        }
        a->shape[a->rank++] = number;
        if (!pass(x, ',')) {
            if (a->rank == 1) { /* (3) is no tuple */
                return wrong(x, "`,` after the only dimension");
            }
            if (!pass(x, ')')) {
                return wrong(x, "`,` or `)` in the shape");
            }
            break;
        }
    }
    x->shape = true;
    return REC_OK;
}

static int32_t dictionary(parser *x)
{
    int32_t status = REC_OK;
    if (!pass(x, '{')) {
        return wrong(x, "a dictionary");
    }
    while (status == REC_OK && !pass(x, '}')) {
        const char *key, *before;
        size_t length;
        skip(x);
        before = x->p;
        if (!string(x, &key, &length)) {
            return wrong(x, "a key in quotes, or `}`");
        }
        if (!pass(x, ':')) {
            return wrong(x, "`:` after a key");
        }
        if (length == 5 && memcmp(key, "descr", 5) == 0 && !x->descr) {
            status = descr(x);
        } else if (length == 13 && memcmp(key, "fortran_order", 13) == 0 && !x->order) {
            status = order(x);
        } else if (length == 5 && memcmp(key, "shape", 5) == 0 && !x->shape) {
            status = shape(x);
        } else {
            x->p = before;
            return wrong(x, "descr, fortran_order and shape, each once");
        }
        if (status == REC_OK && !pass(x, ',')) {
            if (!pass(x, '}')) {
                return wrong(x, "`,` or `}` after a value");
            }
            break;
        }
    }
    skip(x);
    if (status == REC_OK && (!x->descr || !x->order || !x->shape)) {
        x->p = x->end;
        status = wrong(x, !x->descr ? "descr" : !x->order ? "fortran_order" : "shape");
    } else if (status == REC_OK && x->p != x->end) {
        status = wrong(x, "nothing after the dictionary");
    }
    return status;
}

/* Bytes of the elements, and whether their order matters. */
static int32_t measure(const parser *x)
{
    lr_npz_array *a = x->array;
    uint32_t longer = 0;
    bool empty = false;
    a->size = a->width;
    for (uint32_t i = 0; i < a->rank; i++) {
        longer += a->shape[i] > 1;
        empty = empty || a->shape[i] == 0;
    }
    for (uint32_t i = 0; i < a->rank && !empty; i++) {
        if (__builtin_mul_overflow(a->size, a->shape[i], &a->size)) {
            return rec_fail(x->job, REC_E_FORMAT, x->at, "%s%sthe shape has more elements than can be counted",
                            x->name ? x->name : "", x->name ? ": " : "");
        }
    }
    a->size = empty ? 0 : a->size;
    a->fortran = a->fortran && longer > 1 && !empty;
    return REC_OK;
}

int32_t lr_npz_header_read(rec_job *job, rec_source *source, uint64_t base, uint64_t size, uint64_t at,
                           const char *name, lr_npz_array *array, const char **unfit)
{
    uint8_t first[FIRST];
    uint64_t have = size < FIRST ? size : FIRST, length, begin;
    char *text = (char *)first;
    parser x = {.job = job, .name = name, .at = at, .array = array, .unfit = unfit};
    int32_t status = rec_source_read_at(job, source, base, first, have);
    *array = (lr_npz_array){.dtype = REC_DTYPE_NONE};
    if (status != REC_OK) {
        return status;
    }
    if (have < 10 || memcmp(first, "\x93NUMPY", 6) != 0) {
        return rec_fail_found(job, REC_E_FORMAT, at, "an array (\\x93NUMPY)", "%s%s%s",
                              have < 10 ? "the end of the file" : "something else", name ? " in " : "",
                              name ? name : "");
    }
    if (first[6] < 1 || first[6] > 3 || first[7] != 0) {
        return rec_fail(job, REC_E_UNSUPPORTED, at, "%s%sa header of version %u.%u; 1.0 to 3.0 are known",
                        name ? name : "", name ? ": " : "", (unsigned)first[6], (unsigned)first[7]);
    }
    begin = first[6] == 1 ? 10 : 12;
    length = (uint32_t)lr_little(first + 8, have < 12 ? 2 : (unsigned)begin - 8);
    if (have < begin || length > size - begin || length > TEXT_MOST) {
        return rec_fail(job, REC_E_FORMAT, at,
                        "%s%sa header of %" PRIu64 " bytes, where there are %" PRIu64 " and at most 65,536 are read",
                        name ? name : "", name ? ": " : "", length, size - 8);
    }
    if (begin + length > have) {
        text = rec_job_alloc(job, begin + length);
        if (!text) {
            return rec_fail(job, REC_E_MEMORY, at, "out of memory for a header"); /* said already: the first counts */
        }
        status = rec_source_read_at(job, source, base, text, begin + length);
    }
    x.p = text + begin;
    x.end = x.p + length;
    status = status == REC_OK ? dictionary(&x) : status;
    status = status == REC_OK ? measure(&x) : status;
    array->header = begin + length;
    if (status == REC_OK && array->size != size - array->header) {
        status = rec_fail(job, REC_E_FORMAT, at, "%s%s%" PRIu64 " bytes of elements, but the shape asks for %" PRIu64,
                          name ? name : "", name ? ": " : "", size - array->header, array->size);
        rec_fail_hint(job, size - array->header < array->size
                               ? "The file is truncated: copy it again from its source."
                               : "Only one array can be in a file: save several as .npz.");
    }
    rec_job_free(job, text == (char *)first ? NULL : text);
    return status;
}

/* ----------------------------------------------------------------------------------------------------- writing -- */

uint64_t lr_npz_header_write(char *text, rec_dtype dtype, uint32_t rank, const uint64_t *dims)
{
    enum { PREFIX = 10, ALIGN = 64, GROWTH = 21 }; /* NumPy leaves room for the first dimension to grow */
    const char *code = NULL;
    uint64_t used = PREFIX, before;
    for (size_t i = 0; i < TYPES; i++) {
        code = types[i].dtype == dtype || (types[i].dtype == REC_DTYPE_BOOL && dtype == REC_DTYPE_BOOL8) ? types[i].code
                                                                                                         : code;
    }
    if (!code || rank > LR_NPY_RANK) {
        return 0;
    }
#define PRINT(...) used += (uint64_t)snprintf(text + used, (size_t)(LR_NPY_HEADER - used), __VA_ARGS__)
    PRINT("{'descr': '%c%s', 'fortran_order': False, 'shape': (", code[1] == '1' ? '|' : '<', code);
    before = used;
    for (uint32_t i = 0; i < rank; i++) {
        PRINT(i ? ", %" PRIu64 : "%" PRIu64, dims[i]);
        before = i ? before : used - before;
    }
    PRINT(rank == 1 ? ",), }" : "), }");
#undef PRINT
    for (uint64_t i = before; rank && i < GROWTH; i++) {
        text[used++] = ' ';
    }
    before = ALIGN - (used + 1) % ALIGN;
    memset(text + used, ' ', (size_t)before);
    used += before;
    text[used++] = '\n';
    memcpy(text, "\x93NUMPY\1\0", 8);
    text[8] = (char)((used - PREFIX) & 0xff);
    text[9] = (char)((used - PREFIX) >> 8);
    return used;
}
