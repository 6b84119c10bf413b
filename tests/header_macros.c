/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Every public macro, used as an application or a plugin uses it. tests/headers.sh compiles and runs this as C99, C11
 * and C++17, and finds macros that are missing here. */
#include <librecord.h>
#include <librecord/plugin.h>
#include <librecord/static.h>

#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------- types -- */

#define LINEAR_FIELDS(F, T) F(T, PARAM, weight, 2, 0, 16) F(T, OPTION_PARAM, bias, 1)
REC_DEFINE_STRUCT(LINEAR, LINEAR_FIELDS)

#define HEAD_VARIANTS(F, T) F(T, VARIANT, Dense, LINEAR) F(T, UNIT_VARIANT, Act)
REC_DEFINE_ENUM(HEAD, HEAD_VARIANTS)

#define ALL_FIELDS(F, T)                                     \
    F(T, TENSOR, t, 1)                                       \
    F(T, OPTION_TENSOR, ot, 1)                               \
    F(T, INT_PARAM, ip, 1)                                   \
    F(T, OPTION_INT_PARAM, oip, 1)                           \
    F(T, INT_TENSOR, it, 1)                                  \
    F(T, OPTION_INT_TENSOR, oit, 1)                          \
    F(T, BOOL_PARAM, bp, 1)                                  \
    F(T, OPTION_BOOL_PARAM, obp, 1)                          \
    F(T, BOOL_TENSOR, bt, 1)                                 \
    F(T, OPTION_BOOL_TENSOR, obt, 8, 1, 2, 3, 4, 5, 6, 7, 8) \
    F(T, CHILD, fc, LINEAR)                                  \
    F(T, OPTION_CHILD, head, HEAD)                           \
    F(T, LIST, blocks, LINEAR)                               \
    F(T, ARRAY, pair, LINEAR, 2)                             \
    F(T, BOOL, b)                                            \
    F(T, U8, u8)                                             \
    F(T, U16, u16)                                           \
    F(T, U32, u32)                                           \
    F(T, U64, u64)                                           \
    F(T, USIZE, steps)                                       \
    F(T, I8, i8)                                             \
    F(T, I16, i16)                                           \
    F(T, I32, i32)                                           \
    F(T, I64, i64)                                           \
    F(T, F32, f32)                                           \
    F(T, F64, f64)                                           \
    F(T, STRING, name)                                       \
    F(T, VALUE, extra)                                       \
    F(T, CONSTANT, dropout)
REC_DEFINE_STRUCT(ALL, ALL_FIELDS)

/* ----------------------------------------------------------------------------------------------------- plugins -- */

static int32_t probe(const rec_head *head)
{
    return REC_HAS(rec_head, head, tail_length) && head->length > 0 && head->data[0] == 'x';
}

/* As a plugin for 0.1 in C++17 is written, in the order of the members; those that came later are zero. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
static const rec_plugin example = {
    REC_PLUGIN_ABI, (uint32_t)sizeof(rec_plugin), "Example", NULL, "x", "", NULL, 0, NULL, probe, NULL, NULL, NULL,
};
#pragma GCC diagnostic pop
REC_PLUGINS(header_macros, &example);
#define STATIC_LIST(P) P(header_macros)
REC_STATIC_PLUGINS(STATIC_LIST);

REC_API int32_t report(const char *text, ...) REC_PRINTF(1, 2);
REC_MAYBE_UNUSED static const int32_t unused_number = 0;

/* ------------------------------------------------------------------------------------------------------- check -- */

static int failures;

static void expect(int condition, const char *what)
{
    if (!condition) {
        (void)printf("wrong: %s\n", what);
        failures++;
    }
}

int main(void)
{
    ALL all;
    const rec_field *last = &ALL_type.fields[ALL_type.field_count - 1];

    memset(&all, 0, sizeof all);
    expect(REC_VERSION_NUMBER == REC_VERSION_MAJOR * 10000 + REC_VERSION_MINOR * 100 + REC_VERSION_PATCH, "version");
    expect(REC_UNKNOWN == UINT64_MAX, "REC_UNKNOWN");
#ifndef REC_NO_SHORT_NAMES
    expect((int)DOUBLE == (int)REC_PRECISION_DOUBLE && (int)FULL == (int)REC_PRECISION_FULL, "DOUBLE and FULL");
    expect((int)HALF == (int)REC_PRECISION_HALF, "HALF");
#endif
    expect(LINEAR_type.kind == REC_TYPE_STRUCT && HEAD_type.kind == REC_TYPE_ENUM, "kinds of types");
    expect(LINEAR_type.size == sizeof(rec_type) && LINEAR_type.field_size == sizeof(rec_field), "sizes");
    expect(LINEAR_type.c_size == sizeof(LINEAR) && ALL_type.c_size == sizeof all, "C sizes");
    expect(LINEAR_type.field_count == 2 && HEAD_type.field_count == 2 && ALL_type.field_count == 29, "field counts");
    expect(strcmp(ALL_type.name, "ALL") == 0 && strcmp(last->name, "dropout") == 0, "names");
    expect(last->kind == REC_FIELD_CONSTANT && last->type == NULL, "a constant");
    expect(LINEAR_type.fields[0].shape[0] == 2 && LINEAR_type.fields[0].shape[1] == 0 &&
               LINEAR_type.fields[0].shape[2] == 16,
           "rank and dimensions");
    expect(LINEAR_type.fields[1].flags == REC_FIELD_IS_OPTION && LINEAR_type.fields[1].offset == offsetof(LINEAR, bias),
           "an option");
    expect(ALL_type.fields[0].flags == REC_FIELD_IS_BARE && ALL_type.fields[9].shape[8] == 8, "a bare tensor");
    expect(ALL_type.fields[10].type == &LINEAR_type && ALL_type.fields[11].type == &HEAD_type, "children");
    expect(ALL_type.fields[13].length == 2 && sizeof all.pair == 2 * sizeof(LINEAR), "an array");
    expect(HEAD_type.fields[0].type == &LINEAR_type && HEAD_type.fields[1].type == NULL, "variants");
    expect(HEAD_type.fields[1].kind == REC_FIELD_VARIANT, "a unit variant");
    expect(header_macros_LTX_librecord_plugins[0] == &example && !header_macros_LTX_librecord_plugins[1], "plugins");
    expect(rec_static_plugins[0] == header_macros_LTX_librecord_plugins && !rec_static_plugins[1],
           "a static program's");
    return failures != 0;
}
