/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What Burn's own importer made of some 140 safetensors files, case by case: the same record to the last bit where it
 * gave one. Where it refused, died, drew lots or mapped nothing, the tables below have our message, or the record that
 * we give; docs/reference/import.md says why. A case that stands in no table must equal what lies beside it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dirent.h>
#include <librecord.h>

#include "tests/scratch.h"
#include "common/sha256.h"
#include "tests/shared.h"

/* ----------------------------------------------------------------------------------- where we differ from Burn -- */

/** Refused: the whole message, without the folder of the case. */
typedef struct refusal {
    const char *name, *precision;
    rec_status status;
    const char *message;
} refusal;

/* Burn loads nothing and says nothing; what is saved then may take the place of a model. */
#define NONE_MAPPED(count)                                                                  \
    "input.safetensors: none of " count " tensors is mapped: the destination stays empty\n" \
    "  Is it the right profile, or the right type?"

static const refusal refusals[] = {
    {"bn-no-stats", "full", REC_E_MISMATCH,
     "input.safetensors: bn.running_mean is missing: a tensor of floats of rank 1\n"
     "  bn.running_var is missing: a tensor of floats of rank 1\n"
     "  Is it the right type? A partial load (partial) leaves out what is missing."},
    {"conv-missing-weight", "full", REC_E_MISMATCH,
     "input.safetensors: conv.weight is missing: a tensor of floats of rank 4\n"
     "  Is it the right type? A partial load (partial) leaves out what is missing."},
    {"deep-head-only", "full", REC_E_MISMATCH,
     "input.safetensors: backbone is missing: a module of type Middle\n"
     "  Is it the right type? A partial load (partial) leaves out what is missing."},
    {"deep-missing", "full", REC_E_MISMATCH,
     "input.safetensors: backbone.inner.norm is missing: a module of type LayerNorm\n"
     "  Is it the right type? A partial load (partial) leaves out what is missing."},
    {"enum-missing", "full", REC_E_MISMATCH,
     "input.safetensors: y is missing: a variant of WideFirst\n"
     "  Is it the right type? A partial load (partial) leaves out what is missing."},
    {"enum-none-fits", "full", REC_E_MISMATCH,
     "input.safetensors: x: no variant of NarrowFirst fits: Narrow (x.a is missing), Wide (x.a is missing)\n"
     "  y: no variant of WideFirst fits: Wide (y.a is missing), Narrow (y.a is missing)"},
    {"fx-complex_nested-noadapter", "full", REC_E_MISMATCH,
     "input.safetensors: conv_blocks.0.norm.gamma is missing: a tensor of floats of rank 1\n"
     "  conv_blocks.0.norm.beta is missing: a tensor of floats of rank 1\n"
     "  conv_blocks.1.norm.gamma is missing: a tensor of floats of rank 1\n"
     "  conv_blocks.1.norm.beta is missing: a tensor of floats of rank 1\n"
     "  norm1.gamma is missing: a tensor of floats of rank 1\n"
     "  norm1.beta is missing: a tensor of floats of rank 1\n"
     "  Nearest: conv_blocks.0.norm.weight (a norm of PyTorch's? `adapter = pytorch` renames it.)"},
    {"fx-group_norm-noadapter", "full", REC_E_MISMATCH, NONE_MAPPED("2")},
    {"fx-group_norm-noadapter", "half", REC_E_MISMATCH, NONE_MAPPED("2")},
    {"fx-group_norm-noadapter", "double", REC_E_MISMATCH, NONE_MAPPED("2")},
    {"fx-layer_norm-noadapter", "full", REC_E_MISMATCH,
     "input.safetensors: norm1.gamma is missing: a tensor of floats of rank 1\n"
     "  Nearest: norm1.weight (a norm of PyTorch's? `adapter = pytorch` renames it.)"},
    {"fx-missing_module_field", "full", REC_E_MISMATCH,
     "input.safetensors: not_in_the_file is missing: a module of type Conv2d\n"
     "  The only one of that shape that is left: conv1: `rename = ^conv1\\. => not_in_the_file.`"},
    {"gn-absent", "full", REC_E_MISMATCH,
     "input.safetensors: gn is missing: a module of type GroupNorm\n"
     "  Is it the right type? A partial load (partial) leaves out what is missing."},
    {"int-over-i32", "full", REC_E_RANGE,
     "out.mpk: x: element 1 is 2147483648, which does not fit i32 (-2147483648 to 2147483647)\n"
     "  Choose a larger precision, or allow clamping (option clamp)."},
    {"int-over-i32", "half", REC_E_RANGE,
     "out.mpk: x: element 1 is 2147483648, which does not fit i16 (-32768 to 32767)\n"
     "  Choose a larger precision, or allow clamping (option clamp)."},
    {"ints-i32-range", "half", REC_E_RANGE,
     "out.mpk: u16: element 1 is 65535, which does not fit i16 (-32768 to 32767)\n"
     "  Choose a larger precision, or allow clamping (option clamp)."},
    {"key-case", "full", REC_E_MISMATCH,
     "input.safetensors: fc is missing: a module of type Linear\n"
     "  Nearest: `FC`: `rename = ^FC\\. => fc.`"},
    {"key-leading-dot", "full", REC_E_MISMATCH, NONE_MAPPED("1")},
    {"key-space", "full", REC_E_MISMATCH,
     "input.safetensors: fc is missing: a module of type Linear\n"
     "  Nearest: ` fc`"},
    {"lin-as-tensor-noadapter", "full", REC_E_MISMATCH,
     "input.safetensors: fc.weight is missing: a tensor of floats of rank 2\n"
     "  Is it the right type? A partial load (partial) leaves out what is missing."},
    {"lin-empty-file", "full", REC_E_MISMATCH,
     "input.safetensors: fc is missing: a module of type Linear\n"
     "  Is it the right type? A partial load (partial) leaves out what is missing."},
    {"lin-missing-weight", "full", REC_E_MISMATCH,
     "input.safetensors: fc.weight is missing: a tensor of floats of rank 2\n"
     "  Is it the right type? A partial load (partial) leaves out what is missing."},
    {"lin-missing-weight-noadapter", "full", REC_E_MISMATCH,
     "input.safetensors: fc.weight is missing: a tensor of floats of rank 2\n"
     "  Is it the right type? A partial load (partial) leaves out what is missing."},
    {"lin-rank0", "full", REC_E_MISMATCH,
     "input.safetensors: fc.weight: the weight of a Linear has two axes, found the shape []\n"
     "  Is it a Linear?"},
    {"lin-rank1", "full", REC_E_MISMATCH,
     "input.safetensors: fc.weight: the weight of a Linear has two axes, found the shape [3]\n"
     "  Is it a Linear?"},
    {"lin-rank1-noadapter", "full", REC_E_MISMATCH,
     "input.safetensors: fc.weight: a tensor of rank 2 is expected, found [3]\n"
     "  Is the type another one than the file's model?"},
    {"lin-truncated", "full", REC_E_FORMAT,
     "input.safetensors: byte 169: expected as many bytes as the header says, found 33 bytes of data instead of 36\n"
     "  The file is truncated: copy it again from its source."},
    {"lin-zero-bytes", "full", REC_E_FORMAT,
     "input.safetensors: byte 0: a file of 0 bytes; the length of the header alone has 8\n"
     "  The file is truncated, or it is not a safetensors file."},
    {"lin-wrong-dims", "full", REC_E_MISMATCH,
     "input.safetensors: fc: weight [3, 2] with bias [5]: neither a Linear nor a Conv1D has these\n"
     "  Is the file damaged, or the module another one? The adapter none changes nothing."},
    {"list-as-tensor", "full", REC_E_MISMATCH,
     "input.safetensors: layers: expected a list, found a tensor\n"
     "  Is the type right?"},
    {"list-minus", "full", REC_E_MISMATCH,
     "input.safetensors: layers: expected a list, but -1 is not an index\n"
     "  Let rules give every element a number, or drop the others."},
    {"list-missing", "full", REC_E_MISMATCH, NONE_MAPPED("1")},
    {"list-of-letters", "full", REC_E_MISMATCH,
     "input.safetensors: layers: expected a list, but a is not an index\n"
     "  Let rules give every element a number, or drop the others."},
    {"list-only-unknown-below", "full", REC_E_MISMATCH,
     "input.safetensors: layers.1.weight is missing: a tensor of floats of rank 2\n"
     "  Nearest: layers.1.x"},
    {"list-part-missing-noadapter", "full", REC_E_MISMATCH,
     "input.safetensors: layers.1.weight is missing: a tensor of floats of rank 2\n"
     "  Is it the right type? A partial load (partial) leaves out what is missing."},
    {"opt-half-there-noadapter", "full", REC_E_MISMATCH,
     "input.safetensors: a.weight is missing: a tensor of floats of rank 2\n"
     "  Is it the right type? A partial load (partial) leaves out what is missing."},
    {"param-missing", "full", REC_E_MISMATCH,
     "input.safetensors: x is missing: a tensor of floats of rank 1\n"
     "  Is it the right type? A partial load (partial) leaves out what is missing."},
    {"rank-0-for-1", "full", REC_E_MISMATCH,
     "input.safetensors: x: a tensor of rank 1 is expected, found []\n"
     "  Is the type another one than the file's model?"},
    {"rank-2-for-1", "full", REC_E_MISMATCH,
     "input.safetensors: x: a tensor of rank 1 is expected, found [2, 2]\n"
     "  Is the type another one than the file's model?"},
    {"remap-backreference", "full", REC_E_ARGUMENT,
     "rule 1: the pattern `(f)\\1`, character 4: the back-reference `\\1` is not part of Rust's regex syntax, "
     "which rules are written in: write out what the group may match once more"},
    {"remap-bad-pattern", "full", REC_E_ARGUMENT,
     "rule 1: the pattern `fc(`, character 3: the group that begins here has no end: write `)`"},
    {"remap-flags", "full", REC_E_ARGUMENT,
     "rule 2: the pattern `(?i:q)(?x) x  # comment`, character 9: the flag `x` is not supported: the flags are i, m "
     "and s"},
    {"remap-lookahead", "full", REC_E_ARGUMENT,
     "rule 1: the pattern `fc(?=\\.)`, character 3: look-ahead `(?=` is not part of Rust's regex syntax, "
     "which rules are written in: put what follows into a group and write it into the replacement again"},
    {"tuple-missing", "full", REC_E_MISMATCH,
     "input.safetensors: pair.0 is missing: a module of type Linear\n"
     "  pair.1 is missing: a module of type LayerNorm\n"
     "  Is it the right type? A partial load (partial) leaves out what is missing."},
    {NULL, NULL, REC_OK, NULL},
};

/** Loaded though Burn does not: all values, in order; nil is left out. Of a long list the SHA-256, whose tensors were
 *  compared one by one with those of the file, and the transposed ones, when it was put here. */
typedef struct sound {
    const char *name, *precision, *values;
} sound;

static const sound sounds[] = {
    {"array", "full",
     "array.0.weight f32 [3, 2] 0.724292457 0.775700033 1.18062449 0.0642499924 1.20017076 -0.670970082\n"
     "array.0.bias f32 [2] 1.09979844 1.37454557\n"
     "array.1.weight f32 [2, 1] 1.41674936 1.44020498\n"
     "array.1.bias f32 [1] 1.62446296\n"},
    {"bn-tracked-40000", "half",
     "bn.gamma f16 [3] 0.724121094 1.18066406 1.20019531\n"
     "bn.beta f16 [3] 1.09960938 1.375 1.140625\n"
     "bn.running_mean f16 [3] 0.916015625 1.29101562 1.18847656\n"
     "bn.running_var f16 [3] 1.76855469 1.92578125 1.5546875\n"},
    {"bool-from-bool", "full", "x bool [3] 1 0 1\n"},
    {"conv-stride-key", "full",
     "conv.weight f32 [2, 1, 3, 3] 0.724292457 1.18062449 1.20017076 0.775700033 0.0642499924 -0.670970082 "
     "-1.15795696 -1.21654427 -0.825056851 -0.128330126 0.615873814 1.13222814 1.22970152 0.872232497 "
     "0.192070991 -0.559149384 -1.10350597 -1.23960769\n"
     "conv.bias f32 [2] 1.09979844 1.37454557\n"},
    {"float-from-f8", "full", "x f32 [2] 1 2\n"},
    {"fx-boolean", "full", "buffer bool [3] 1 0 1\n"},
    {"int-from-bool", "full", "x i32 [2] 1 0\n"},
    {"int-from-i16", "full", "x i32 [2] 1 -1\n"},
    {"int-from-i8", "full", "x i32 [2] 1 -1\n"},
    {"int-from-u64", "full", "x i32 [2] 1 2\n"},
    {"lin-extra-i8", "full",
     "fc.weight f32 [2, 3] 0.724292457 1.20017076 0.0642499924 1.18062449 0.775700033 -0.670970082\n"
     "fc.bias f32 [3] 1.09979844 1.37454557 1.14076352\n"},
    {"list-list", "full",
     "xs.0.0.weight f32 [1, 1] 0.724292457\n"
     "xs.0.0.bias f32 [1] 1.09979844\n"
     "xs.0.1.weight f32 [1, 1] 1.41674936\n"
     "xs.0.1.bias f32 [1] 1.62446296\n"
     "xs.1.0.weight f32 [1, 1] 1.68023908\n"
     "xs.1.0.bias f32 [1] 1.55558658\n"},
    {"ln-no-bias", "full", "ln.gamma f32 [2] 0.724292457 1.18062449\n"},
    {"norms-burn-names-pytorch", "full",
     "bn.gamma f32 [3] 0.724292457 1.18062449 1.20017076\n"
     "bn.beta f32 [3] 1.09979844 1.37454557 1.14076352\n"
     "bn.running_mean f32 [3] 0.916070223 1.2912432 1.18870568\n"
     "bn.running_var f32 [3] 1.7688694 1.92559338 1.55490243\n"
     "ln.gamma f32 [2] 1.41674936 1.44020498\n"
     "ln.beta f32 [2] 1.62446296 1.34817505\n"
     "gn.gamma f32 [4] 1.68023908 1.08598006 0.0899499878 -0.939358056\n"
     "gn.beta f32 [4] 1.55558658 0.661285639 -0.477665633 -1.43989897\n"},
    {"inst-silent", "full",
     "inst.gamma f32 [3] 0.724292457 1.18062449 1.20017076\n"
     "inst.beta f32 [3] 1.09979844 1.37454557 1.14076352\n"},
    {"other-norms", "full",
     "inst.gamma f32 [3] 0.724292457 1.18062449 1.20017076\n"
     "inst.beta f32 [3] 1.09979844 1.37454557 1.14076352\n"
     "rms.gamma f32 [3] 1.41674936 1.44020498 0.930840015\n"
     "act.alpha f32 [1] 1.68023908\n"},
    {"tuple", "full",
     "pair.0.weight f32 [3, 2] 0.724292457 0.775700033 1.18062449 0.0642499924 1.20017076 -0.670970082\n"
     "pair.0.bias f32 [2] 1.09979844 1.37454557\n"
     "pair.1.gamma f32 [2] 1.41674936 1.44020498\n"
     "pair.1.beta f32 [2] 1.62446296 1.34817505\n"},
    {"zoo-pytorch-on-burn-names", "full", "8fcaa58d73882184c37e18b7b43bcb56c62a403777c0fdb6c3c55046797a9cba"},
    {NULL, NULL, NULL},
};

/* ----------------------------------------------------------------------------------------------------- fixture -- */

static char folder[512];

static int set_up(void **state)
{
    (void)state;
    if (!shared_path(folder, sizeof folder, "golden/import")) {
        folder[0] = '\0';
    }
    return 0;
}

static char *read_file(const char *path)
{
    char *text = NULL;
    size_t room = 0;
    FILE *file = fopen(path, "rb");
    if (!file) {
        return NULL;
    }
    if (getdelim(&text, &room, '\0', file) < 0) {
        text[0] = '\0';
    }
    (void)fclose(file);
    return text;
}

/** A case, open. */
typedef struct import {
    const char *name;
    char *path, *arguments, *source;
    rec_context *context;
    rec_types *types;
    const char *type;
} import;

static char *file_of(const import *c, const char *name)
{
    char *path = NULL;
    if (asprintf(&path, "%s/%s", c->path, name) < 0) {
        scratch_die("asprintf");
    }
    return path;
}

static bool has_file(const import *c, const char *format, const char *word)
{
    char name[64], *path;
    bool found;
    (void)snprintf(name, sizeof name, format, word); /* NOLINT: constant formats with one %s */
    path = file_of(c, name);
    found = access(path, R_OK) == 0;
    free(path);
    return found;
}

static import *open_case(const char *name)
{
    import *c = calloc(1, sizeof *c);
    char *path;
    c->name = name;
    if (asprintf(&c->path, "%s/%s", folder, name) < 0) {
        scratch_die("asprintf");
    }
    c->context = rec_context_new(NULL);
    c->types = rec_types_new(c->context);
    path = file_of(c, "args.txt");
    c->arguments = read_file(path);
    free(path);
    path = file_of(c, "type.txt");
    c->source = read_file(path);
    free(path);
    if (!c->arguments || !c->source || !c->types) {
        scratch_die(c->path);
    }
    if (rec_types_add_rust(c->types, c->source, "type.txt") != REC_OK) {
        fail_msg("%s: %s", name, rec_error_message());
    }
    c->type = strstr(c->source, "NetRecord") ? "NetRecord<B>" : "Net<B>";
    return c;
}

static void close_case(import *c)
{
    rec_types_free(c->types);
    rec_context_free(c->context);
    free(c->path);
    free(c->arguments);
    free(c->source);
    free(c);
}

/* --------------------------------------------------------------------------------------------------- recorders -- */

static rec_status set_argument(rec_recorder *r, char *line)
{
    char *equals = strstr(line, " = ");
    if (line[0] == '#' || line[0] == '\0') {
        return REC_OK;
    }
    assert_non_null(equals);
    *equals = '\0';
    if (strcmp(line, "debug_print") == 0) {
        return rec_recorder_set(r, "debug", equals + 3);
    }
    return rec_recorder_set(r, line, equals + 3);
}

/** The recorder that does what Burn's was told to. NULL: an argument was refused. */
static rec_recorder *importer(const import *c, const char *precision)
{
    rec_recorder *r = rec_open_recorder_in(c->context, "Safetensors", rec_precision_from_name(precision));
    char *arguments = strdup(c->arguments), *rest = arguments;
    rec_status status = REC_OK;
    assert_non_null(r);
    assert_int_equal(rec_recorder_set_type_name(r, c->types, c->type), REC_OK);
    assert_int_equal(rec_recorder_set(r, "layout", "burn-0.20"), REC_OK);
    for (char *line = strsep(&rest, "\n"); line && status == REC_OK; line = strsep(&rest, "\n")) {
        status = set_argument(r, line);
    }
    free(arguments);
    if (status != REC_OK) {
        /* closing it would clear nothing: errors are kept until the next call that can fail */
        rec_close_recorder(r);
        return NULL;
    }
    return r;
}

/* --------------------------------------------------------------------------------------------------- comparing -- */

static bool differ(const char *path, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool differ(const char *path, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print_message("    %s: ", *path ? path : "the record");
    vprint_message(format, args);
    print_message("\n");
    va_end(args);
    return false;
}

static bool same_tensor(const char *path, const rec_tensor *a, const rec_tensor *b)
{
    rec_dtype dtype = rec_tensor_dtype(b);
    uint64_t size = rec_tensor_nbytes(b), rank = rec_tensor_rank(b);
    unsigned char *mine, *other;
    bool same;
    if (rec_tensor_dtype(a) != dtype) {
        return differ(path, "expected %s, found %s", rec_dtype_name(dtype), rec_tensor_dtype_name(a));
    }
    if (rec_tensor_rank(a) != rank ||
        memcmp(rec_tensor_shape(a), rec_tensor_shape(b), (size_t)(rank * sizeof(uint64_t))) != 0) {
        return differ(path, "another shape");
    }
    mine = calloc(1, (size_t)(size + 1));
    other = calloc(1, (size_t)(size + 1));
    same = rec_tensor_read(a, dtype, 0, rec_tensor_count(a), mine) == REC_OK;
    if (!same) {
        (void)differ(path, "%s", rec_error_message());
    } else if (rec_tensor_read(b, dtype, 0, rec_tensor_count(b), other) != REC_OK ||
               memcmp(mine, other, (size_t)size) != 0) {
        same = differ(path, "other elements");
    }
    free(mine);
    free(other);
    return same;
}

static bool same_scalar(const char *path, rec_scalar a, rec_scalar b)
{
    bool numbers =
        (a.kind == REC_KIND_INT || a.kind == REC_KIND_UINT) && (b.kind == REC_KIND_INT || b.kind == REC_KIND_UINT);
    if (a.kind != b.kind && !numbers) {
        return differ(path, "expected a value of kind %d, found %d", b.kind, a.kind);
    }
    switch (b.kind) {
    case REC_KIND_BOOL:
        return !a.v.i == !b.v.i || differ(path, "another bool");
    case REC_KIND_INT:
    case REC_KIND_UINT:
        return a.v.u == b.v.u || differ(path, "another number");
    case REC_KIND_FLOAT:
        return memcmp(&a.v.f, &b.v.f, sizeof a.v.f) == 0 || differ(path, "another number");
    case REC_KIND_STRING:
        return (a.v.length == b.v.length && memcmp(a.text, b.text, (size_t)a.v.length) == 0) ||
               differ(path, "another text");
    default:
        return true;
    }
}

/** Values, kinds, names and their order; parameter ids are random in every file. */
static bool same_value(const char *path, const rec_value *a, const rec_value *b)
{
    int32_t kind = rec_value_kind(b);
    uint64_t count = rec_value_count(b);
    bool same = true;
    bool variant =
        kind == REC_KIND_MAP && count == 1 && rec_value_kind(a) == REC_KIND_VARIANT; /* a map in MessagePack */
    if (rec_value_kind(a) != kind && !variant && rec_value_kind(a) >= REC_KIND_STRING) {
        return differ(path, "expected a value of kind %d, found %d", kind, rec_value_kind(a));
    }
    if (kind == REC_KIND_TENSOR) {
        return same_tensor(path, rec_value_tensor(a), rec_value_tensor(b));
    }
    if (kind != REC_KIND_LIST && kind != REC_KIND_MAP && kind != REC_KIND_VARIANT && kind != REC_KIND_NUMBERS) {
        return same_scalar(path, rec_value_scalar(a), rec_value_scalar(b));
    }
    if (rec_value_count(a) != count) {
        return differ(path, "expected %llu items, found %llu", (unsigned long long)count,
                      (unsigned long long)rec_value_count(a));
    }
    for (uint64_t i = 0; i < count && same; i++) {
        char below[1024];
        if (kind == REC_KIND_NUMBERS) {
            same = same_scalar(path, rec_value_number(a, i), rec_value_number(b, i));
            continue;
        }
        if (kind == REC_KIND_LIST) {
            (void)snprintf(below, sizeof below, "%s%s%llu", path, *path ? "." : "", (unsigned long long)i);
        } else {
            rec_scalar key = rec_value_key(b, i);
            (void)snprintf(below, sizeof below, "%s%s%s", path, *path ? "." : "",
                           key.kind == REC_KIND_STRING ? key.text : "?");
            same = same_scalar(below, rec_value_key(a, i), key);
        }
        same = same && same_value(below, rec_value_item(a, i), rec_value_item(b, i));
    }
    return same;
}

/** What Burn writes is there; the patch of its version makes no difference. What the file itself said may stand beside
 * it. */
static bool same_metadata(const rec_record *a, const rec_record *b)
{
    for (uint64_t i = 0; i < rec_metadata_count(b); i++) {
        const char *key, *value, *found;
        size_t length;
        (void)rec_metadata_get(b, i, &key, &value);
        found = rec_metadata(a, key);
        length = strcmp(key, "version") == 0 ? (size_t)(strrchr(value, '.') - value) : strlen(value) + 1;
        if (!found || strncmp(found, value, length) != 0) {
            return differ("metadata", "expected %s %s, found %s", key, value, found ? found : "none");
        }
    }
    return true;
}

static rec_record *load_mpk(const import *c, const char *path, bool typed)
{
    rec_recorder *r = rec_open_recorder_in(c->context, "NamedMpk", REC_PRECISION_KEEP);
    rec_record *record;
    assert_non_null(r);
    if (typed) {
        assert_int_equal(rec_recorder_set_type_name(r, c->types, c->type), REC_OK);
    }
    record = rec_load(r, path);
    if (!record) {
        fail_msg("%s", rec_error_message());
    }
    rec_close_recorder(r);
    return record;
}

/* ---------------------------------------------------------------------------------------------------- outcomes -- */

/** Saves a record as Burn 0.20 would. @return the path in `s`, to be freed; NULL with a message. */
static char *save_mpk(const import *c, const scratch *s, const rec_record *record, const char *precision)
{
    rec_recorder *r = rec_open_recorder_in(c->context, "NamedMpk", rec_precision_from_name(precision));
    char *path = scratch_path(s, "out.mpk");
    assert_non_null(r);
    assert_int_equal(rec_recorder_set(r, "layout", "burn-0.20"), REC_OK);
    if (rec_save(r, record, path) != REC_OK) {
        free(path);
        path = NULL;
    }
    rec_close_recorder(r);
    return path;
}

static bool equals_burn(const import *c, const rec_record *record, const char *precision)
{
    char name[64], *path, *saved;
    scratch *s = scratch_new();
    rec_record *expected, *mine;
    bool same;
    (void)snprintf(name, sizeof name, "expected-%s.mpk", precision);
    path = file_of(c, name);
    expected = load_mpk(c, path, true);
    same = same_value("", rec_root(record), rec_root(expected));
    rec_record_free(expected);
    saved = save_mpk(c, s, record, precision);
    if (!saved) {
        same = differ("", "%s", rec_error_message());
    } else {
        /* what is in the files, whatever the type makes of it */
        expected = load_mpk(c, path, false);
        mine = load_mpk(c, saved, false);
        same = same_value("", rec_root(mine), rec_root(expected)) && same;
        same = same_metadata(mine, expected) && same;
        rec_record_free(expected);
        rec_record_free(mine);
    }
    free(saved);
    free(path);
    scratch_free(s);
    return same;
}

static void print_tensor(FILE *out, const rec_tensor *tensor)
{
    rec_dtype dtype = rec_tensor_dtype(tensor);
    uint64_t count = rec_tensor_count(tensor);
    bool real = dtype == REC_DTYPE_F16 || dtype == REC_DTYPE_F32 || dtype == REC_DTYPE_F64;
    (void)fprintf(out, "%s [", rec_tensor_dtype_name(tensor));
    for (uint32_t i = 0; i < rec_tensor_rank(tensor); i++) {
        (void)fprintf(out, "%s%llu", i ? ", " : "", (unsigned long long)rec_tensor_shape(tensor)[i]);
    }
    (void)fprintf(out, "]");
    for (uint64_t i = 0; i < count; i++) {
        union {
            double real;
            int64_t integer;
            uint8_t boolean;
        } value;
        rec_dtype wide = real ? REC_DTYPE_F64 : dtype == REC_DTYPE_BOOL ? dtype : REC_DTYPE_I64;
        if (rec_tensor_read(tensor, wide, i, 1, &value) != REC_OK) {
            (void)fprintf(out, " (%s)", rec_error_message());
        } else if (real) {
            (void)fprintf(out, " %.9g", value.real);
        } else {
            (void)fprintf(out, " %lld", dtype == REC_DTYPE_BOOL ? (long long)value.boolean : (long long)value.integer);
        }
    }
}

/** All tensors and scalars of a record, a line each. @return to be freed. */
static char *print_record(const rec_record *record)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    rec_iterator *all = rec_iterate(record);
    const rec_value *value;
    const char *path;
    while ((value = rec_iterator_next(all, &path)) != NULL) {
        rec_scalar scalar = rec_value_scalar(value);
        if (rec_value_tensor(value)) {
            (void)fprintf(out, "%s ", path);
            print_tensor(out, rec_value_tensor(value));
            (void)fprintf(out, "\n");
        } else if (scalar.kind == REC_KIND_INT || scalar.kind == REC_KIND_UINT) {
            (void)fprintf(out, "%s %lld\n", path, (long long)scalar.v.i);
        } else if (scalar.kind == REC_KIND_FLOAT) {
            (void)fprintf(out, "%s %.9g\n", path, scalar.v.f);
        } else if (rec_value_kind(value) != REC_KIND_NIL) {
            (void)fprintf(out, "%s, of kind %d\n", path, rec_value_kind(value));
        }
    }
    rec_iterator_free(all);
    (void)fclose(out);
    return text;
}

/** What loading a case came to. */
typedef struct outcome {
    rec_record *record; /**< or NULL */
    rec_status status;
    char message[4096]; /**< without folders: tables cannot know where they are */
} outcome;

static void keep_error(const char *const *folders, outcome *o)
{
    const char *message = rec_error_message();
    size_t used = 0;
    o->status = rec_error_status();
    while (*message && used + 1 < sizeof o->message) {
        size_t skipped = 0;
        for (size_t i = 0; folders[i] && skipped == 0; i++) {
            size_t length = strlen(folders[i]);
            skipped = strncmp(message, folders[i], length) == 0 && message[length] == '/' ? length + 1 : 0;
        }
        if (skipped > 0) {
            message += skipped;
        } else {
            o->message[used++] = *message++;
        }
    }
    o->message[used] = '\0';
}

/** Loads, and saves, because a tensor is made when it is asked for. */
static outcome load_case(const import *c, const char *precision)
{
    outcome o = {.status = REC_OK};
    rec_recorder *r = importer(c, precision);
    char *input = file_of(c, "input.safetensors"), *saved = NULL;
    scratch *s = scratch_new();
    o.record = r ? rec_load(r, input) : NULL;
    if (o.record) {
        saved = save_mpk(c, s, o.record, precision);
    }
    if (!saved) {
        const char *const folders[] = {c->path, s->path, NULL};
        keep_error(folders, &o);
        rec_record_free(o.record);
        o.record = NULL;
    }
    rec_close_recorder(r);
    free(saved);
    free(input);
    scratch_free(s);
    return o;
}

/* ------------------------------------------------------------------------------------------------------ checks -- */

static const refusal *refusal_of(const char *name, const char *precision)
{
    for (const refusal *r = refusals; r->name; r++) {
        if (strcmp(r->name, name) == 0 && strcmp(r->precision, precision) == 0) {
            return r;
        }
    }
    return NULL;
}

static const sound *sound_of(const char *name, const char *precision)
{
    for (const sound *r = sounds; r->name; r++) {
        if (strcmp(r->name, name) == 0 && strcmp(r->precision, precision) == 0) {
            return r;
        }
    }
    return NULL;
}

static bool is_refused(const outcome *o, const refusal *expected)
{
    if (o->record) {
        char *values = print_record(o->record);
        print_message("    expected \"%s\", found\n%s", expected->message, values);
        free(values);
        return false;
    }
    return (o->status == expected->status && strcmp(o->message, expected->message) == 0) ||
           differ("", "expected %s\n%s\n    found %s\n%s", rec_status_name(expected->status), expected->message,
                  rec_status_name(o->status), o->message);
}

static bool is_sound(const outcome *o, const sound *expected)
{
    char *values;
    bool same;
    if (!o->record) {
        return differ("", "%s: %s", rec_status_name(o->status), o->message);
    }
    values = print_record(o->record);
    if (strlen(expected->values) == 64) {
        char hash[65];
        lr_sha256_hex(values, strlen(values), hash);
        same = strcmp(hash, expected->values) == 0 ||
               differ("", "expected %s, found %s\n%s", expected->values, hash, values);
        free(values);
        return same;
    }
    same = strcmp(values, expected->values) == 0 || differ("", "expected\n%s    found\n%s", expected->values, values);
    free(values);
    return same;
}

/** Whether Burn has an outcome of the case at that precision. */
static bool was_run(const import *c, const char *precision)
{
    static const char *const forms[] = {"expected-%s.mpk", "error-%s.txt", "error-%s.1.txt", "expected-%s.1.json"};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (has_file(c, forms[i], precision)) {
            return true;
        }
    }
    return strcmp(precision, "full") == 0;
}

static bool check_case(const import *c, const char *precision)
{
    outcome o = load_case(c, precision);
    const refusal *refused = refusal_of(c->name, precision);
    const sound *loaded = sound_of(c->name, precision);
    bool right;
    if (refused) { /* also what Burn takes, where that is nonsense: docs/reference/import.md */
        right = is_refused(&o, refused);
    } else if (loaded) {
        right = is_sound(&o, loaded);
    } else if (has_file(c, "expected-%s.mpk", precision)) {
        right = o.record ? equals_burn(c, o.record, precision) : differ("", "%s", o.message);
    } else {
        /* a case that nobody has looked at: no guess, but a record that can be saved, or a reason */
        right = o.record || (o.status != REC_OK && strlen(o.message) > 20);
        print_message("    %s, %s: %s\n", c->name, precision, o.record ? "it loads" : o.message);
    }
    if (!right) {
        print_message("  %s, %s precision: not as it must be\n", c->name, precision);
    }
    rec_record_free(o.record);
    return right;
}

/* ------------------------------------------------------------------------------------------------------- tests -- */

static int is_case(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && strchr(entry->d_name, '.') == NULL;
}

/** Runs `check` for each case and precision, and fails at the end. */
static void each(bool (*check)(const import *c, const char *precision))
{
    static const char *const precisions[] = {"full", "half", "double"};
    struct dirent **entries = NULL;
    int count, wrong = 0;
    if (!folder[0]) {
        skip();
    }
    count = scandir(folder, &entries, is_case, alphasort);
    assert_true(count > 0);
    for (int i = 0; i < count; i++) {
        import *c = open_case(entries[i]->d_name);
        for (size_t p = 0; p < sizeof precisions / sizeof *precisions; p++) {
            wrong += was_run(c, precisions[p]) && !check(c, precisions[p]);
        }
        close_case(c);
        free(entries[i]);
    }
    free(entries);
    assert_int_equal(wrong, 0);
}

static void every_case_is_as_burn_has_it_or_as_the_tables_say(void **state)
{
    (void)state;
    each(check_case);
}

/** A plan tells before what loading will come to. */
static bool check_plan(const import *c, const char *precision)
{
    rec_recorder *r = importer(c, precision);
    char *input = file_of(c, "input.safetensors");
    rec_plan *plan = rec_plan_new(c->context, NULL);
    bool right = true;
    assert_non_null(plan);
    if (r && rec_plan_add(plan, r, input) == REC_OK) {
        rec_record *record = rec_load(r, input);
        rec_plan_totals totals = {.size = sizeof totals};
        uint64_t lines[REC_PLAN_DEFAULT + 1] = {0}, fatal = 0;
        assert_int_equal(rec_plan_total(plan, &totals), REC_OK);
        for (uint64_t i = 0; i < rec_plan_count(plan); i++) {
            lines[rec_plan_get(plan, i)->action]++;
        }
        for (uint64_t i = 0; i < rec_plan_problem_count(plan); i++) {
            fatal += rec_plan_problem_get(plan, i)->fatal ? 1 : 0;
        }
        right = (record != NULL) == (totals.fatal == 0) && totals.fatal == fatal &&
                lines[REC_PLAN_MAPPED] == totals.mapped && lines[REC_PLAN_MISSING] == totals.missing &&
                lines[REC_PLAN_UNEXPECTED] == totals.unexpected && lines[REC_PLAN_DROPPED] == totals.dropped;
        if (!right) {
            print_message("  %s, %s precision: the plan has %llu fatal problems, but it %s; %llu lines, %llu mapped\n",
                          c->name, precision, (unsigned long long)totals.fatal, record ? "loads" : "does not load",
                          (unsigned long long)rec_plan_count(plan), (unsigned long long)totals.mapped);
        }
        rec_record_free(record);
    }
    rec_plan_free(plan);
    rec_close_recorder(r);
    free(input);
    return right;
}

static void plans_agree_with_what_loads(void **state)
{
    (void)state;
    each(check_plan);
}

static bool check_debug(const import *c, const char *precision)
{
    char *path = file_of(c, "debug.txt"), *expected = read_file(path), *found = NULL;
    bool right = true;
    free(path);
    if (expected && strcmp(precision, "full") == 0) {
        rec_recorder *r = importer(c, precision);
        char *input = file_of(c, "input.safetensors");
        rec_record *record = rec_load(r, input);
        size_t size = 0;
        FILE *out = open_memstream(&found, &size);
        assert_non_null(record);
        (void)fprintf(out, "Debug information of keys and tensor shapes:\n---\n");
        for (uint64_t i = 0; i < rec_report_count(); i++) {
            const rec_note *note = rec_report_note(i);
            if (note->kind == REC_NOTE_KEY) {
                (void)fprintf(out, "%s\n", note->text);
            }
        }
        (void)fclose(out);
        right = strcmp(found, expected) == 0 || differ(c->name, "expected\n%s    found\n%s", expected, found);
        rec_record_free(record);
        rec_close_recorder(r);
        free(input);
    }
    free(found);
    free(expected);
    return right;
}

static void debug_notes_are_what_burn_prints(void **state)
{
    (void)state;
    each(check_debug);
}

/** A name that is misspelt, or a case that went away, would leave a line of a table unused. */
static void every_line_of_the_tables_is_about_a_case(void **state)
{
    (void)state;
    if (!folder[0]) {
        skip();
    }
    for (const refusal *r = refusals; r->name; r++) {
        import *c = open_case(r->name);
        /* lin-wrong-dims, a flag that rules do not have, and where nothing is mapped: Burn loads it. */
        bool loads = strcmp(r->name, "lin-wrong-dims") == 0 || strcmp(r->name, "remap-flags") == 0 ||
                     strstr(r->message, "is mapped");
        assert_true(was_run(c, r->precision));
        assert_true(!has_file(c, "expected-%s.mpk", r->precision) || loads);
        close_case(c);
    }
    for (const sound *r = sounds; r->name; r++) {
        import *c = open_case(r->name);
        bool useless = strcmp(r->name, "inst-silent") == 0; /* no Burn can use the record that Burn makes */
        assert_true(was_run(c, r->precision) && (useless || !has_file(c, "expected-%s.mpk", r->precision)));
        close_case(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_case_is_as_burn_has_it_or_as_the_tables_say),
        cmocka_unit_test(plans_agree_with_what_loads),
        cmocka_unit_test(debug_notes_are_what_burn_prints),
        cmocka_unit_test(every_line_of_the_tables_is_about_a_case),
    };
    return cmocka_run_group_tests_name("import", tests, set_up, NULL);
}
