#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# record types and embed --structs: what becomes in C, and in Rust, of lists whose items differ, of keys that are no names, of each kind
# of value and element.
set -u
# shellcheck source=tests/cli/cli.sh
. "${srcdir:=.}/tests/cli/cli.sh"
cd "$scratch" || exit 99

run edit -q -o lists.mpk new set fewer '[{"a": 1, "b": 2}, {"a": 1}]' set other '[{"a": 1}, {"a": "x"}]' set wide '[{"a": 1}, {"a": 1.5}]' \
    set sign '[{"n": 18446744073709551615}, {"n": -1}]' set small '[{"n": 1u8}, {"n": -1i8}]' set mixed '[1, "x"]' \
    set ragged '[[1, 2], [3]]' set even '[[1, 2], [3, 4]]' set gap '[null, {"a": 1}]' set later '[{"a": 1}, null]' \
    set maybe '[{"a": null}, {"a": 5}]' set part '[{"a": {"b": 1}}, {"a": null}, {}]' set deep '[{"a": [1]}, {"a": [2, 3]}]' \
    set deeper '[{"a": [{"x": 1}]}, {"a": [{"x": 2}, {"x": 3}]}]' set hollow '[{"a": []}]' set none '[]' set void '{}' \
    set nil null set nils '[null, null]' set bools '[{"b": true}, {"b": 1}]' set texts '[{"s": "a"}, {"s": null}]'
run edit -q -o names.mpk new set 1a 1 set a-b 2 set __x 3 set REC_X 4 set _Ab 5 set int 6 set F 7 set T 8 set a 9 set A 10 \
    set '*/' 11 set '??/' 12 set é 13 set "$(printf 'a\nb')" 14 set W 15 set class 16 set errno 17 set _ 18 set 'x\.y' 19
run edit -q -o kinds.mpk new set flags '[true, false]' set floats '[1.5f32, NaN]' set wide '[1e300, -inf]' set ints '[1i8, -2i8]' \
    set text '"a\"\\\u0001??/"' set t0 'f32 5' set none 'f32[0]=1' set b 'bool32[1, 0]' set h 'bf16[1, 2]' set i8 'i8[-128]' \
    set u 'u64[18446744073709551615]' set i 'i64[-9223372036854775808]' set u16 'u16[1]' set cube 'f64[2, 1, 2]=0.5'
head='\202\250metadata\205\245float\243f32\243int\243i32\246format\241x\247version\2460.18.0\250settings\241x\244item'
# shellcheck disable=SC2059 # octal
{
    printf "$head"'\203\243raw\304\010abcdefgh\245empty\304\000\244nums\223\001\002\003' >bytes.mpk
    printf "$head"'\202\241m\202\001\005\002\006\241q\002' >numbered.mpk
    printf "$head"'\223\001\002\003' >list.mpk
    printf "$head"'\005' >single.mpk
    printf "$head"'\200' >empty.mpk
}
cat >t.rs <<'EOT'
enum E { A, B(f32), C { v: u32 } }
struct T { e: E, n: u32, o: Option<E> }
EOT
meta='"metadata":{"float":"f32","int":"i32","format":"x","version":"0.18.0","settings":"x"}'
echo "{$meta,\"item\":{\"e\":{\"C\":{\"v\":7}},\"n\":3,\"o\":\"A\"}}" >v.json
run convert -q --type t.rs:T v.json v.bin

run edit -q -o clash.mpk new set F 7 set T 8 set a 9 set A '{"x": 1}' set aA '{"x": 2, "F_": 3}' \
    set ids '{"0123456789": {"x": 1}, "abcdefghi0": {"x": 2}}' set uuid '{"01234567-0123-0123-0123-0123456789ab": 1}' \
    set five '{"01234": {"x": 1}}' set one '{"Abc": 5}' set data '{"Abc": {"F": 1, "T": 2}}' set up '{"ABC": {"y": 1}}'
run edit -q -o ends.mpk new set __x 3 set y 1 set _ab 5 set _ 2
run edit -q -o rec.mpk new set REC_X 4
run edit -q -o cap.mpk new set _Ab 5
run edit -q -o shapes.mpk new set l '[{"w": 1}, {"w": 1}, {"w": 1}]' set r '[{"w": 1}, {"w": 1}]' set k '[{"w": 1}, {"w": 1}]' \
    set o '[{"w": 1}, {"v": 1}]' rm l.0.w rm l.1.w rm l.2.w rm r.0.w rm r.1.w rm k.0.w rm k.1.w \
    set l.0.w 'f32[2, 3]=0' set l.1.w 'f32[2, 4]=0' set l.2.w 'f32[2, 3]=0' set r.0.w 'f32[2]=0' set r.1.w 'f32[2, 1]=0' \
    set k.0.w 'f32[2]=0' set k.1.w 'i32[2]=0'

check "the files to try it on" [ -s v.bin ]

transcript "structs that are bound: of each kind, and what cannot be one" <<'END'
$ types --c lists.mpk
/* The type of lists.mpk, a record of Burn 0.21.0, as it shows it.
 *     MODEL model;
 *     rec_binding *binding = rec_bind_at(record, "", &MODEL_type, &model, REC_BIND_ALLOW_UNEXPECTED);
 * Values that were present are required; change those of an Option to OPTION_ by hand.
 * A VALUE is what no other field can be: see rec_value_item(). */
#ifndef MODEL_TYPE_H
#define MODEL_TYPE_H

#include <librecord.h>

#define MODEL_OTHER_FIELDS(F, T) \
    F(T, VALUE, a) /* not of one kind in all */
REC_DEFINE_STRUCT(MODEL_OTHER, MODEL_OTHER_FIELDS)

#define MODEL_SIGN_FIELDS(F, T) \
    F(T, VALUE, n) /* not of one kind in all */
REC_DEFINE_STRUCT(MODEL_SIGN, MODEL_SIGN_FIELDS)

#define MODEL_MAYBE_FIELDS(F, T) \
    F(T, VALUE, a) /* absent in some */
REC_DEFINE_STRUCT(MODEL_MAYBE, MODEL_MAYBE_FIELDS)

#define MODEL_PART_A_FIELDS(F, T) \
    F(T, USIZE, b)
REC_DEFINE_STRUCT(MODEL_PART_A, MODEL_PART_A_FIELDS)

#define MODEL_PART_FIELDS(F, T) \
    F(T, OPTION_CHILD, a, MODEL_PART_A)
REC_DEFINE_STRUCT(MODEL_PART, MODEL_PART_FIELDS)

#define MODEL_DEEP_FIELDS(F, T) \
    F(T, VALUE, a) /* a list of numbers */
REC_DEFINE_STRUCT(MODEL_DEEP, MODEL_DEEP_FIELDS)

#define MODEL_DEEPER_A_FIELDS(F, T) \
    F(T, USIZE, x)
REC_DEFINE_STRUCT(MODEL_DEEPER_A, MODEL_DEEPER_A_FIELDS)

#define MODEL_DEEPER_FIELDS(F, T) \
    F(T, LIST, a, MODEL_DEEPER_A)
REC_DEFINE_STRUCT(MODEL_DEEPER, MODEL_DEEPER_FIELDS)

#define MODEL_HOLLOW_FIELDS(F, T) \
    F(T, VALUE, a) /* an empty list */
REC_DEFINE_STRUCT(MODEL_HOLLOW, MODEL_HOLLOW_FIELDS)

#define MODEL_BOOLS_FIELDS(F, T) \
    F(T, VALUE, b) /* not of one kind in all */
REC_DEFINE_STRUCT(MODEL_BOOLS, MODEL_BOOLS_FIELDS)

#define MODEL_TEXTS_FIELDS(F, T) \
    F(T, VALUE, s) /* absent in some */
REC_DEFINE_STRUCT(MODEL_TEXTS, MODEL_TEXTS_FIELDS)

#define MODEL_FIELDS(F, T) \
    F(T, VALUE, fewer) /* a list whose items are not structs of one kind */ \
    F(T, LIST, other, MODEL_OTHER) \
    F(T, LIST, wide, MODEL_OTHER) \
    F(T, LIST, sign, MODEL_SIGN) \
    F(T, LIST, small, MODEL_SIGN) \
    F(T, VALUE, mixed) /* a list whose items are not structs of one kind */ \
    F(T, VALUE, ragged) /* a list whose items are not structs of one kind */ \
    F(T, VALUE, even) /* a list whose items are not structs of one kind */ \
    F(T, VALUE, gap) /* a list whose items are not structs of one kind */ \
    F(T, VALUE, later) /* a list whose items are not structs of one kind */ \
    F(T, LIST, maybe, MODEL_MAYBE) \
    F(T, LIST, part, MODEL_PART) \
    F(T, LIST, deep, MODEL_DEEP) \
    F(T, LIST, deeper, MODEL_DEEPER) \
    F(T, LIST, hollow, MODEL_HOLLOW) \
    F(T, VALUE, none) /* an empty list */ \
    /* void: no name in C */ \
    F(T, CONSTANT, nil) \
    F(T, CONSTANT, nils) \
    F(T, LIST, bools, MODEL_BOOLS) \
    F(T, LIST, texts, MODEL_TEXTS)
REC_DEFINE_STRUCT(MODEL, MODEL_FIELDS)

#endif
$ types --c names.mpk
record: names.mpk: its root is a map by ids, or has a key that is not an identifier of C's
  A struct of C's has named fields; rec_value_at() and rec_iterate() read any record.
status 2
$ types --c kinds.mpk
/* The type of kinds.mpk, a record of Burn 0.21.0, as it shows it.
 *     MODEL model;
 *     rec_binding *binding = rec_bind(record, &MODEL_type, &model);
 * Values that were present are required; change those of an Option to OPTION_ by hand.
 * A VALUE is what no other field can be: see rec_value_item(). */
#ifndef MODEL_TYPE_H
#define MODEL_TYPE_H

#include <librecord.h>

#define MODEL_FIELDS(F, T) \
    F(T, VALUE, flags) /* a list of numbers */ \
    F(T, VALUE, floats) /* a list whose items are not structs of one kind */ \
    F(T, VALUE, wide) /* a list of numbers */ \
    F(T, VALUE, ints) /* a list of numbers */ \
    F(T, STRING, text) \
    F(T, PARAM, t0, 0) \
    F(T, PARAM, none, 1) \
    F(T, BOOL_PARAM, b, 1, 2) \
    F(T, PARAM, h, 1, 2) \
    F(T, INT_PARAM, i8, 1, 1) \
    F(T, INT_PARAM, u, 1, 1) \
    F(T, INT_PARAM, i, 1, 1) \
    F(T, INT_PARAM, u16, 1, 1) \
    F(T, PARAM, cube, 3, 2, 1, 2)
REC_DEFINE_STRUCT(MODEL, MODEL_FIELDS)

#endif
$ types --c bytes.mpk
/* The type of bytes.mpk, a record of Burn 0.18.0, as it shows it.
 *     MODEL model;
 *     rec_binding *binding = rec_bind(record, &MODEL_type, &model);
 * Values that were present are required; change those of an Option to OPTION_ by hand.
 * A VALUE is what no other field can be: see rec_value_item(). */
#ifndef MODEL_TYPE_H
#define MODEL_TYPE_H

#include <librecord.h>

#define MODEL_FIELDS(F, T) \
    F(T, VALUE, raw) /* bytes */ \
    F(T, VALUE, empty) /* bytes */ \
    F(T, VALUE, nums) /* a list of numbers */
REC_DEFINE_STRUCT(MODEL, MODEL_FIELDS)

#endif
$ types --c numbered.mpk
/* The type of numbered.mpk, a record of Burn 0.18.0, as it shows it.
 *     MODEL model;
 *     rec_binding *binding = rec_bind(record, &MODEL_type, &model);
 * Values that were present are required; change those of an Option to OPTION_ by hand.
 * A VALUE is what no other field can be: see rec_value_item(). */
#ifndef MODEL_TYPE_H
#define MODEL_TYPE_H

#include <librecord.h>

#define MODEL_FIELDS(F, T) \
    F(T, VALUE, m) /* a key that is not an identifier */ \
    F(T, USIZE, q)
REC_DEFINE_STRUCT(MODEL, MODEL_FIELDS)

#endif
$ types --c list.mpk
record: list.mpk: its root is not a struct
  A struct of C's has named fields; rec_value_at() and rec_iterate() read any record.
status 2
$ types --c single.mpk
record: single.mpk: its root is not a struct
  A struct of C's has named fields; rec_value_at() and rec_iterate() read any record.
status 2
$ types --c empty.mpk
record: empty.mpk: it holds nothing that a struct could have
  A struct of C's has named fields; rec_value_at() and rec_iterate() read any record.
status 2
$ types --c --type t.rs:T v.bin
/* The type of v.bin, a record of Burn 0.21.0, as it shows it.
 *     MODEL model;
 *     rec_binding *binding = rec_bind(record, &MODEL_type, &model);
 * Values that were present are required; change those of an Option to OPTION_ by hand. */
#ifndef MODEL_TYPE_H
#define MODEL_TYPE_H

#include <librecord.h>

#define MODEL_E_C_FIELDS(F, T) \
    F(T, U32, v)
REC_DEFINE_STRUCT(MODEL_E_C, MODEL_E_C_FIELDS)

#define MODEL_E_VARIANTS(F, T) \
    F(T, VARIANT, C, MODEL_E_C)
REC_DEFINE_ENUM(MODEL_E, MODEL_E_VARIANTS)

#define MODEL_O_VARIANTS(F, T) \
    F(T, UNIT_VARIANT, A)
REC_DEFINE_ENUM(MODEL_O, MODEL_O_VARIANTS)

#define MODEL_FIELDS(F, T) \
    F(T, CHILD, e, MODEL_E) \
    F(T, U32, n) \
    F(T, CHILD, o, MODEL_O)
REC_DEFINE_STRUCT(MODEL, MODEL_FIELDS)

#endif
$ types --c v.json
/* The type of v.json, a record of Burn 0.18.0, as it shows it.
 *     MODEL model;
 *     rec_binding *binding = rec_bind(record, &MODEL_type, &model);
 * Values that were present are required; change those of an Option to OPTION_ by hand. */
#ifndef MODEL_TYPE_H
#define MODEL_TYPE_H

#include <librecord.h>

#define MODEL_E_C_FIELDS(F, T) \
    F(T, USIZE, v)
REC_DEFINE_STRUCT(MODEL_E_C, MODEL_E_C_FIELDS)

#define MODEL_E_VARIANTS(F, T) \
    F(T, VARIANT, C, MODEL_E_C)
REC_DEFINE_ENUM(MODEL_E, MODEL_E_VARIANTS)

#define MODEL_FIELDS(F, T) \
    F(T, CHILD, e, MODEL_E) \
    F(T, USIZE, n) \
    F(T, STRING, o)
REC_DEFINE_STRUCT(MODEL, MODEL_FIELDS)

#endif
$ types --c --name 1x lists.mpk
record: --name: expected an identifier of C, found "1x"
status 2
$ types --c --name int lists.mpk
record: --name: expected an identifier of C, found "int"
status 2
END

transcript "structs that are linked in" <<'END'
$ embed --structs --name m lists.mpk -o -
/* Made by `record embed --structs` from a record of Burn 0.21.0. Needs no library. */
#ifndef M_STRUCTS_H
#define M_STRUCTS_H

#include <stddef.h>
#include <stdint.h>

struct m_fewer_item0 {
    uint64_t a;
    uint64_t b;
};

struct m_fewer_item1 {
    uint64_t a;
};

struct m_fewer {
    struct m_fewer_item0 item0;
    struct m_fewer_item1 item1;
};

struct m_other_item0 {
    uint64_t a;
};
#define M_OTHER_ITEM1_A_LENGTH 1

struct m_other_item1 {
    const char *const a;
};

struct m_other {
    struct m_other_item0 item0;
    struct m_other_item1 item1;
};

struct m_wide_item0 {
    uint64_t a;
};

struct m_wide_item1 {
    double a;
};

struct m_wide {
    struct m_wide_item0 item0;
    struct m_wide_item1 item1;
};

struct m_sign_item0 {
    uint64_t n;
};

struct m_sign_item1 {
    int64_t n;
};

struct m_sign {
    struct m_sign_item0 item0;
    struct m_sign_item1 item1;
};

struct m_small_item {
    int64_t n;
};
#define M_SMALL_COUNT 2
#define M_MIXED_ITEM1_LENGTH 1

struct m_mixed {
    uint64_t item0;
    const char *const item1;
};
#define M_RAGGED_ITEM0_COUNT 2
#define M_RAGGED_ITEM1_COUNT 1

struct m_ragged {
    uint64_t item0[2];
    uint64_t item1[1];
};
#define M_EVEN_ITEM_COUNT 2
#define M_EVEN_COUNT 2

struct m_gap_item {
    uint64_t a;
};
#define M_GAP_COUNT 2

struct m_later_item {
    uint64_t a;
};
#define M_LATER_COUNT 2

struct m_maybe_item {
    const uint64_t *const a;
};
#define M_MAYBE_COUNT 2

struct m_part_item0_a {
    uint64_t b;
};

struct m_part_item0 {
    struct m_part_item0_a a;
};

struct m_part_item1 {
    const void *const a;
};

struct m_part_item2 {
    uint8_t empty;
};

struct m_part {
    struct m_part_item0 item0;
    struct m_part_item1 item1;
    struct m_part_item2 item2;
};
#define M_DEEP_ITEM0_A_COUNT 1

struct m_deep_item0 {
    uint64_t a[1];
};
#define M_DEEP_ITEM1_A_COUNT 2

struct m_deep_item1 {
    uint64_t a[2];
};

struct m_deep {
    struct m_deep_item0 item0;
    struct m_deep_item1 item1;
};

struct m_deeper_item0_a_item {
    uint64_t x;
};
#define M_DEEPER_ITEM0_A_COUNT 1

struct m_deeper_item0 {
    struct m_deeper_item0_a_item a[1];
};

struct m_deeper_item1_a_item {
    uint64_t x;
};
#define M_DEEPER_ITEM1_A_COUNT 2

struct m_deeper_item1 {
    struct m_deeper_item1_a_item a[2];
};

struct m_deeper {
    struct m_deeper_item0 item0;
    struct m_deeper_item1 item1;
};
#define M_HOLLOW_ITEM_A_COUNT 0

struct m_hollow_item {
    uint8_t empty;
};
#define M_HOLLOW_COUNT 1
#define M_NONE_COUNT 0

struct m_void_ {
    uint8_t empty;
};
#define M_NILS_COUNT 2

struct m_bools_item0 {
    uint8_t b;
};

struct m_bools_item1 {
    uint64_t b;
};

struct m_bools {
    struct m_bools_item0 item0;
    struct m_bools_item1 item1;
};
#define M_TEXTS_ITEM_S_LENGTH 1

struct m_texts_item {
    const char *const s;
};
#define M_TEXTS_COUNT 2

struct m_record {
    struct m_fewer fewer;
    struct m_other other;
    struct m_wide wide;
    struct m_sign sign;
    struct m_small_item small[2];
    struct m_mixed mixed;
    struct m_ragged ragged;
    uint64_t even[2][2];
    const struct m_gap_item *const gap[2];
    const struct m_later_item *const later[2];
    struct m_maybe_item maybe[2];
    struct m_part part;
    struct m_deep deep;
    struct m_deeper deeper;
    struct m_hollow_item hollow[1];
    struct m_void_ void_;
    const void *const nil;
    const void *const nils[2];
    struct m_bools bools;
    struct m_texts_item texts[2];
};

static const struct m_gap_item m_gap_item_value = {
    UINT64_C(1)
};

static const struct m_later_item m_later_item_value = {
    UINT64_C(1)
};

static const uint64_t m_maybe_item_a_value = UINT64_C(5);

static const struct m_record m = {
    {
        {
            UINT64_C(1),
            UINT64_C(2)
        },
        {
            UINT64_C(1)
        }
    },
    {
        {
            UINT64_C(1)
        },
        {
            "x"
        }
    },
    {
        {
            UINT64_C(1)
        },
        {
            0x1.8p+0
        }
    },
    {
        {
            UINT64_C(18446744073709551615)
        },
        {
            -INT64_C(1)
        }
    },
    {
        {
            INT64_C(1)
        },
        {
            -INT64_C(1)
        }
    },
    {
        UINT64_C(1),
        "x"
    },
    {
        {
            UINT64_C(1), UINT64_C(2)
        },
        {
            UINT64_C(3)
        }
    },
    {
        {
            UINT64_C(1), UINT64_C(2)
        },
        {
            UINT64_C(3), UINT64_C(4)
        }
    },
    {
        NULL,
        &m_gap_item_value
    },
    {
        &m_later_item_value,
        NULL
    },
    {
        {
            NULL
        },
        {
            &m_maybe_item_a_value
        }
    },
    {
        {
            {
                UINT64_C(1)
            }
        },
        {
            NULL
        },
        {0}
    },
    {
        {
            {
                UINT64_C(1)
            }
        },
        {
            {
                UINT64_C(2), UINT64_C(3)
            }
        }
    },
    {
        {
            {
                {
                    UINT64_C(1)
                }
            }
        },
        {
            {
                {
                    UINT64_C(2)
                },
                {
                    UINT64_C(3)
                }
            }
        }
    },
    {
        {0}
    },
    {0},
    NULL,
    {
        NULL,
        NULL
    },
    {
        {
            1
        },
        {
            UINT64_C(1)
        }
    },
    {
        {
            "a"
        },
        {
            NULL
        }
    }
};

#endif
lists.mpk -> -: the constant m
$ embed --structs --name m names.mpk -o -
/* Made by `record embed --structs` from a record of Burn 0.21.0. Needs no library. */
#ifndef M_STRUCTS_H
#define M_STRUCTS_H

#include <stddef.h>
#include <stdint.h>

struct m_record {
    uint64_t n1a;
    uint64_t a_b;
    uint64_t __x;
    uint64_t REC_X;
    uint64_t _Ab;
    uint64_t int_;
    uint64_t F;
    uint64_t T;
    uint64_t a;
    uint64_t A;
    uint64_t other;
    uint64_t other_2;
    uint64_t other_3;
    uint64_t a_b_2;
    uint64_t W;
    uint64_t class_;
    uint64_t errno_;
    uint64_t _;
    uint64_t x_y;
};

static const struct m_record m = {
    UINT64_C(1),
    UINT64_C(2),
    UINT64_C(3),
    UINT64_C(4),
    UINT64_C(5),
    UINT64_C(6),
    UINT64_C(7),
    UINT64_C(8),
    UINT64_C(9),
    UINT64_C(10),
    UINT64_C(11),
    UINT64_C(12),
    UINT64_C(13),
    UINT64_C(14),
    UINT64_C(15),
    UINT64_C(16),
    UINT64_C(17),
    UINT64_C(18),
    UINT64_C(19)
};

#endif
names.mpk -> -: the constant m
$ embed --structs --name m kinds.mpk -o -
/* Made by `record embed --structs` from a record of Burn 0.21.0. Needs no library. */
#ifndef M_STRUCTS_H
#define M_STRUCTS_H

#include <stddef.h>
#include <stdint.h>
#define M_FLAGS_COUNT 2
#define M_FLOATS_COUNT 2
#define M_WIDE_COUNT 2
#define M_INTS_COUNT 2
#define M_TEXT_LENGTH 7

/* f32 [] */
#define M_T0_RANK 0
#define M_T0_COUNT 1
struct m_t0 {
    float data[1];
};

/* f32 [0] */
#define M_NONE_RANK 1
#define M_NONE_DIM_0 0
#define M_NONE_COUNT 0
struct m_none {
    float data[1];
};

/* bool32 [2] */
#define M_B_RANK 1
#define M_B_DIM_0 2
#define M_B_COUNT 2
struct m_b {
    uint8_t data[2];
};

/* bf16 [2] */
#define M_H_RANK 1
#define M_H_DIM_0 2
#define M_H_COUNT 2
struct m_h {
    uint16_t data[2];
};

/* i8 [1] */
#define M_I8_RANK 1
#define M_I8_DIM_0 1
#define M_I8_COUNT 1
struct m_i8 {
    int8_t data[1];
};

/* u64 [1] */
#define M_U_RANK 1
#define M_U_DIM_0 1
#define M_U_COUNT 1
struct m_u {
    uint64_t data[1];
};

/* i64 [1] */
#define M_I_RANK 1
#define M_I_DIM_0 1
#define M_I_COUNT 1
struct m_i {
    int64_t data[1];
};

/* u16 [1] */
#define M_U16_RANK 1
#define M_U16_DIM_0 1
#define M_U16_COUNT 1
struct m_u16 {
    uint16_t data[1];
};

/* f64 [2, 1, 2] */
#define M_CUBE_RANK 3
#define M_CUBE_DIM_0 2
#define M_CUBE_DIM_1 1
#define M_CUBE_DIM_2 2
#define M_CUBE_COUNT 4
struct m_cube {
    double data[4];
};

struct m_record {
    uint8_t flags[2];
    double floats[2];
    double wide[2];
    int64_t ints[2];
    const char *const text;
    struct m_t0 t0;
    struct m_none none;
    struct m_b b;
    struct m_h h;
    struct m_i8 i8;
    struct m_u u;
    struct m_i i;
    struct m_u16 u16;
    struct m_cube cube;
};

static const struct m_record m = {
    {
        1, 0
    },
    {
        0x1.8p+0,
        __builtin_nan("0x0")
    },
    {
        0x1.7e43c8800759cp+996, -__builtin_inf()
    },
    {
        INT64_C(1), -INT64_C(2)
    },
    "a\"\\\001\?\?/",
    {{
        0x1.4p+2f
    }},
    {{
        0
    }},
    {{
        1, 0
    }},
    {{
        0x3f80, 0x4000
    }},
    {{
        -128
    }},
    {{
        UINT64_C(18446744073709551615)
    }},
    {{
        (-INT64_C(9223372036854775807) - 1)
    }},
    {{
        1
    }},
    {{
        0x1p-1, 0x1p-1, 0x1p-1, 0x1p-1
    }}
};

#endif
kinds.mpk -> -: the constant m
$ embed --structs --name m bytes.mpk -o -
/* Made by `record embed --structs` from a record of Burn 0.18.0. Needs no library. */
#ifndef M_STRUCTS_H
#define M_STRUCTS_H

#include <stddef.h>
#include <stdint.h>
#define M_RAW_COUNT 8
#define M_EMPTY_COUNT 0
#define M_NUMS_COUNT 3

struct m_record {
    uint8_t raw[8];
    uint64_t nums[3];
};

static const struct m_record m = {
    {
        97, 98, 99, 100, 101, 102, 103, 104
    },
    {
        UINT64_C(1), UINT64_C(2), UINT64_C(3)
    }
};

#endif
bytes.mpk -> -: the constant m
$ embed --structs --name m numbered.mpk -o -
/* Made by `record embed --structs` from a record of Burn 0.18.0. Needs no library. */
#ifndef M_STRUCTS_H
#define M_STRUCTS_H

#include <stddef.h>
#include <stdint.h>

struct m_m {
    uint64_t n1;
    uint64_t n2;
};

struct m_record {
    struct m_m m;
    uint64_t q;
};

static const struct m_record m = {
    {
        UINT64_C(5),
        UINT64_C(6)
    },
    UINT64_C(2)
};

#endif
numbered.mpk -> -: the constant m
$ embed --structs --name m list.mpk -o -
/* Made by `record embed --structs` from a record of Burn 0.18.0. Needs no library. */
#ifndef M_STRUCTS_H
#define M_STRUCTS_H

#include <stddef.h>
#include <stdint.h>
#define M_COUNT 3

static const uint64_t m[3] = {
    UINT64_C(1), UINT64_C(2), UINT64_C(3)
};

#endif
list.mpk -> -: the constant m
$ embed --structs --name m single.mpk -o -
/* Made by `record embed --structs` from a record of Burn 0.18.0. Needs no library. */
#ifndef M_STRUCTS_H
#define M_STRUCTS_H

#include <stddef.h>
#include <stdint.h>

static const uint64_t m = UINT64_C(5);

#endif
single.mpk -> -: the constant m
$ embed --structs --name m empty.mpk -o -
/* Made by `record embed --structs` from a record of Burn 0.18.0. Needs no library. */
#ifndef M_STRUCTS_H
#define M_STRUCTS_H

#include <stddef.h>
#include <stdint.h>

struct m_record {
    uint8_t empty;
};

static const struct m_record m = {0};

#endif
empty.mpk -> -: the constant m
$ embed --structs --name m --type t.rs:T v.bin -o -
/* Made by `record embed --structs` from a record of Burn 0.21.0. Needs no library. */
#ifndef M_STRUCTS_H
#define M_STRUCTS_H

#include <stddef.h>
#include <stdint.h>

struct m_e_C {
    uint32_t v;
};

#define M_E_IS_C 2
struct m_e {
    uint32_t variant;
    struct m_e_C C;
};

#define M_O_IS_A 0
struct m_o {
    uint32_t variant;
};

struct m_record {
    struct m_e e;
    uint32_t n;
    struct m_o o;
};

static const struct m_record m = {
    {
        2,
        {
            UINT32_C(7)
        }
    },
    UINT32_C(3),
    {
        0
    }
};

#endif
v.bin -> -: the constant m
$ embed --structs lists.mpk -o -
record: "-" is not an identifier of C and C++ that symbols could begin with: give --name NAME
  record embed --help shows how it is used.
status 2
$ embed --structs --name int lists.mpk -o -
record: --name: expected an identifier of C and C++, found "int"
  record embed --help shows how it is used.
status 2
$ embed --structs none.mpk -o out.h
record: none.mpk: cannot open the file: No such file or directory
status 2
$ embed --structs lists.mpk -o nowhere/out.h
record: nowhere/out.h: cannot be written: No such file or directory
status 2
END

transcript "Rust source of them" <<'END'
$ types lists.mpk
// The type of a record: written by Burn 0.21.
// Lines marked as assumed are not in the record: check them.
// The record does not show whether a present value is an Option.

use burn::module::Module;
use burn::record::Record;
use burn::tensor::backend::Backend;
use std::marker::PhantomData;

#[derive(Record, Clone)]
pub struct Fewer<B: Backend> {
    a: u64 /* or i64 */, // assumed: its sign and width
    b: u64 /* or i64 */, // assumed: its sign and width
}

#[derive(Record, Clone)]
pub struct Fewer2<B: Backend> {
    a: u64 /* or i64 */, // assumed: its sign and width
}

#[derive(Record, Clone)]
pub struct Other<B: Backend> {
    a: String,
}

#[derive(Record, Clone)]
pub struct Wide<B: Backend> {
    a: f64,
}

#[derive(Record, Clone)]
pub struct Sign<B: Backend> {
    n: i64, // assumed: its width
}

#[derive(Record, Clone)]
pub struct Maybe<B: Backend> {
    a: Option<u64 /* or i64 */>, // assumed: its sign and width
}

#[derive(Record, Clone)]
pub struct A<B: Backend> {
    b: u64 /* or i64 */, // assumed: its sign and width
}

#[derive(Record, Clone)]
pub struct Part<B: Backend> {
    a: A<B>,
}

#[derive(Module, Debug)]
pub struct Part2<B: Backend> {
    a: usize, // assumed: a constant, or an Option that is absent
}

#[derive(Module, Debug)]
pub struct Part3<B: Backend> {
}

#[derive(Record, Clone)]
pub struct Deep<B: Backend> {
    a: Vec<u64 /* or i64 */>, // assumed: its sign and width
}

#[derive(Record, Clone)]
pub struct A2<B: Backend> {
    x: u64 /* or i64 */, // assumed: its sign and width
}

#[derive(Record, Clone)]
pub struct Deeper<B: Backend> {
    a: Vec<A2<B>>,
}

#[derive(Module, Debug)]
pub struct Hollow<B: Backend> {
    a: Vec<PhantomData<B>>, // assumed: a constant, or an Option that is absent; a Vec; the element type of the empty list
}

#[derive(Record, Clone)]
pub struct Bool2<B: Backend> {
    b: bool,
}

#[derive(Record, Clone)]
pub struct Text<B: Backend> {
    s: Option<String>,
}

#[derive(Record, Clone)]
pub struct Model<B: Backend> {
    fewer: (Fewer<B>, Fewer2<B>),
    other: (Fewer2<B>, Other<B>),
    wide: (Fewer2<B>, Wide<B>),
    sign: Vec<Sign<B>>, // assumed: a Vec
    small: Vec<Sign<B>>, // assumed: a Vec
    mixed: (u64 /* or i64 */, String), // assumed: its sign and width
    ragged: Vec<Vec<u64 /* or i64 */>>, // assumed: its sign and width; a Vec
    even: Vec<Vec<u64 /* or i64 */>>, // assumed: its sign and width; a Vec
    gap: Vec<Option<Fewer2<B>>>, // assumed: a Vec
    later: Vec<Option<Fewer2<B>>>, // assumed: a Vec
    maybe: Vec<Maybe<B>>, // assumed: a Vec
    part: (Part<B>, Part2<B>, Part3<B>),
    deep: Vec<Deep<B>>, // assumed: a Vec
    deeper: Vec<Deeper<B>>, // assumed: a Vec
    hollow: Vec<Hollow<B>>, // assumed: a Vec
    none: Vec<Option<()>>, // assumed: an Option that is absent; a Vec; the element type of the empty list
    void: Part3<B>,
    nil: Option<()>, // assumed: an Option that is absent
    nils: [Option<()>; 2], // assumed: an Option that is absent; an array
    bools: (Bool2<B>, A<B>),
    texts: Vec<Text<B>>, // assumed: a Vec
}
$ types kinds.mpk
// The type of a record: written by Burn 0.21.
// Lines marked as assumed are not in the record: check them.
// The record does not show whether a present value is an Option.

use burn::module::Param;
use burn::record::Record;
use burn::tensor::backend::Backend;
use burn::tensor::Bool;
use burn::tensor::Int;
use burn::tensor::Tensor;

#[derive(Record, Clone)]
pub struct Model<B: Backend> {
    flags: Vec<bool>, // assumed: a Vec
    floats: Vec<f64>, // assumed: a Vec
    wide: Vec<f64>, // assumed: a Vec
    ints: Vec<i64>, // assumed: its width; a Vec
    text: String,
    t0: Param<Tensor<B, 0>>,
    none: Param<Tensor<B, 1>>,
    b: Param<Tensor<B, 1, Bool>>,
    h: Param<Tensor<B, 1>>,
    i8: Param<Tensor<B, 1, Int>>,
    u: Param<Tensor<B, 1, Int>>,
    i: Param<Tensor<B, 1, Int>>,
    u16: Param<Tensor<B, 1, Int>>,
    cube: Param<Tensor<B, 3>>,
}
$ types numbered.mpk
// The type of a record: written by Burn 0.18.
// Lines marked as assumed are not in the record: check them.
// The record does not show whether a present value is an Option.

use burn::record::Record;
use burn::tensor::backend::Backend;
use std::collections::HashMap;

#[derive(Record, Clone)]
pub struct Model<B: Backend> {
    m: HashMap<u64 /* or i64 */, u64 /* or i64 */>, // assumed: its sign and width; a map
    q: u64 /* or i64 */, // assumed: its sign and width
}
$ types list.mpk
// The type of a record: written by Burn 0.18.
// Lines marked as assumed are not in the record: check them.

pub type Model = Vec<u64 /* or i64 */>; // assumed: its sign and width; a Vec
$ types single.mpk
// The type of a record: written by Burn 0.18.
// Lines marked as assumed are not in the record: check them.

pub type Model = u64 /* or i64 */; // assumed: its sign and width
$ types empty.mpk
// The type of a record: written by Burn 0.18.
// Lines marked as assumed are not in the record: check them.

pub type Model = Adam; // assumed: an optimizer that has made no step; which one, is not in its record
END

transcript "names that clash with the header's own, maps by ids, shapes that differ" <<'END'
$ types --c clash.mpk
/* The type of clash.mpk, a record of Burn 0.21.0, as it shows it.
 *     MODEL model;
 *     rec_binding *binding = rec_bind(record, &MODEL_type, &model);
 * Values that were present are required; change those of an Option to OPTION_ by hand.
 * A VALUE is what no other field can be: see rec_value_item(). */
#ifndef MODEL_TYPE_H
#define MODEL_TYPE_H

#include <librecord.h>

#define MODEL_A_FIELDS(F, T) \
    F(T, USIZE, x)
REC_DEFINE_STRUCT(MODEL_A, MODEL_A_FIELDS)

#define MODEL_AA_FIELDS(F, T) \
    F(T, USIZE, x) \
    F(T, USIZE, F_)
REC_DEFINE_STRUCT(MODEL_AA, MODEL_AA_FIELDS)

#define MODEL_DATA_ABC_FIELDS(F_, T_) \
    F_(T_, USIZE, F) \
    F_(T_, USIZE, T)
REC_DEFINE_STRUCT(MODEL_DATA_ABC, MODEL_DATA_ABC_FIELDS)

#define MODEL_DATA_VARIANTS(F, T) \
    F(T, VARIANT, Abc, MODEL_DATA_ABC)
REC_DEFINE_ENUM(MODEL_DATA, MODEL_DATA_VARIANTS)

#define MODEL_UP_ABC_FIELDS(F, T) \
    F(T, USIZE, y)
REC_DEFINE_STRUCT(MODEL_UP_ABC, MODEL_UP_ABC_FIELDS)

#define MODEL_UP_FIELDS(F, T) \
    F(T, CHILD, ABC, MODEL_UP_ABC)
REC_DEFINE_STRUCT(MODEL_UP, MODEL_UP_FIELDS)

#define MODEL_FIELDS(F_, T_) \
    F_(T_, USIZE, F) \
    F_(T_, USIZE, T) \
    F_(T_, USIZE, a) \
    F_(T_, CHILD, A, MODEL_A) \
    F_(T_, CHILD, aA, MODEL_AA) \
    F_(T_, VALUE, ids) /* a map by ids */ \
    F_(T_, VALUE, uuid) /* a map by ids */ \
    F_(T_, VALUE, five) /* a key that is not an identifier */ \
    F_(T_, VALUE, one) /* a variant whose data are no struct */ \
    F_(T_, CHILD, data, MODEL_DATA) \
    F_(T_, CHILD, up, MODEL_UP)
REC_DEFINE_STRUCT(MODEL, MODEL_FIELDS)

#endif
$ types --c ends.mpk
/* The type of ends.mpk, a record of Burn 0.21.0, as it shows it.
 *     MODEL model;
 *     rec_binding *binding = rec_bind_at(record, "", &MODEL_type, &model, REC_BIND_ALLOW_UNEXPECTED);
 * Values that were present are required; change those of an Option to OPTION_ by hand. */
#ifndef MODEL_TYPE_H
#define MODEL_TYPE_H

#include <librecord.h>

#define MODEL_FIELDS(F, T) \
    /* __x: no name in C */ \
    F(T, USIZE, y) \
    F(T, USIZE, _ab) \
    F(T, USIZE, _)
REC_DEFINE_STRUCT(MODEL, MODEL_FIELDS)

#endif
$ types --c rec.mpk
record: rec.mpk: it holds nothing that a struct could have
  A struct of C's has named fields; rec_value_at() and rec_iterate() read any record.
status 2
$ types --c cap.mpk
record: cap.mpk: it holds nothing that a struct could have
  A struct of C's has named fields; rec_value_at() and rec_iterate() read any record.
status 2
$ types --c shapes.mpk
/* The type of shapes.mpk, a record of Burn 0.21.0, as it shows it.
 *     MODEL model;
 *     rec_binding *binding = rec_bind(record, &MODEL_type, &model);
 * Values that were present are required; change those of an Option to OPTION_ by hand.
 * A VALUE is what no other field can be: see rec_value_item(). */
#ifndef MODEL_TYPE_H
#define MODEL_TYPE_H

#include <librecord.h>

#define MODEL_L_FIELDS(F, T) \
    F(T, PARAM, w, 2, 2)
REC_DEFINE_STRUCT(MODEL_L, MODEL_L_FIELDS)

#define MODEL_R_FIELDS(F, T) \
    F(T, VALUE, w) /* not of one kind in all */
REC_DEFINE_STRUCT(MODEL_R, MODEL_R_FIELDS)

#define MODEL_FIELDS(F, T) \
    F(T, LIST, l, MODEL_L) \
    F(T, LIST, r, MODEL_R) \
    F(T, LIST, k, MODEL_R) \
    F(T, VALUE, o) /* a list whose items are not structs of one kind */
REC_DEFINE_STRUCT(MODEL, MODEL_FIELDS)

#endif
END

if command -v "${CC:-cc}" >/dev/null; then
    for file in lists names kinds bytes numbered list single empty clash ends shapes; do
        run embed --structs --name m "$file.mpk" -o "m-$file.h"
        echo "#include \"m-$file.h\"" >"m-$file.c"
        echo 'int main(void) { return sizeof m == 0; }' >>"m-$file.c"
        check "$file is C that compiles" "${CC:-cc}" -std=c11 -Wall -pedantic-errors -fsyntax-only "m-$file.c"
    done
else
    skip "they are C that compiles" "there is no compiler"
fi

finish
