/* SPDX-License-Identifier: MIT OR Apache-2.0
 * librecord: C structs as types of records. Included by librecord.h. */

/**
 * @file librecord/bind.h
 *
 * Describes a Rust struct as a C struct, fills it from a record, and gives its type to a recorder.
 */
#ifndef LIBRECORD_BIND_H
#define LIBRECORD_BIND_H

#include <librecord.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------------------ structs -- */

/* A type is the mirror of a Rust struct with derive(Module) or derive(Record). One definition makes the C struct and
 * the `rec_type`:
 *
 *     #define LINEAR_FIELDS(F, T)  F(T, PARAM, weight, 2)  F(T, OPTION_PARAM, bias, 1)
 *     REC_DEFINE_STRUCT(LINEAR, LINEAR_FIELDS)
 *     #define MODEL_FIELDS(F, T)   F(T, CHILD, fc1, LINEAR)  F(T, LIST, blocks, LINEAR)  F(T, USIZE, steps)
 *     REC_DEFINE_STRUCT(MODEL, MODEL_FIELDS)          // makes `MODEL` and `MODEL_type`
 *
 * Fields, with the member each makes:
 *   PARAM, OPTION_PARAM, TENSOR, OPTION_TENSOR (name, rank[, dims…])       rec_floats name
 *   INT_PARAM, OPTION_INT_PARAM, INT_TENSOR, OPTION_INT_TENSOR (the same)  rec_ints name
 *   BOOL_PARAM, OPTION_BOOL_PARAM, BOOL_TENSOR, OPTION_BOOL_TENSOR         rec_bools name
 *   CHILD (name, TYPE)          TYPE name
 *   OPTION_CHILD (name, TYPE)   TYPE *name       NULL if absent
 *   LIST (name, TYPE)           TYPE *name; uint64_t name##_count
 *   ARRAY (name, TYPE, n)       TYPE name[n]
 *   BOOL U8 U16 U32 U64 USIZE I8 I16 I32 I64 F32 F64 (name)   the C type of that width; bool is int32_t
 *   STRING (name)               const char *name
 *   VALUE (name)                const rec_value *name: whatever is there
 *   CONSTANT (name)             no member: the field exists in Rust and holds no data
 * dims: sizes that must match, 0 for any. An enum module:
 *     #define HEAD_VARIANTS(F, T)  F(T, VARIANT, Dense, LINEAR)  F(T, UNIT_VARIANT, Act)
 *     REC_DEFINE_ENUM(HEAD, HEAD_VARIANTS)   // struct { int32_t variant; LINEAR *Dense; }
 */

/** The numbers of a field. The layouts of this and the next two structs are frozen. */
typedef struct rec_floats {
    const float *data;     /**< as by rec_tensor_f32(); NULL if absent */
    uint64_t count;        /**< elements */
    const uint64_t *shape; /**< rank dimensions */
    const rec_tensor *tensor;
} rec_floats;
typedef struct rec_ints {
    const int64_t *data;
    uint64_t count;
    const uint64_t *shape;
    const rec_tensor *tensor;
} rec_ints;
typedef struct rec_bools {
    const uint8_t *data;
    uint64_t count;
    const uint64_t *shape;
    const rec_tensor *tensor;
} rec_bools;

/** The kind of a field. Values never change. */
enum {
    REC_FIELD_CONSTANT = 1,
    REC_FIELD_FLOATS = 2,
    REC_FIELD_INTS = 3,
    REC_FIELD_BOOLS = 4,
    REC_FIELD_CHILD = 5,
    REC_FIELD_LIST = 6,
    REC_FIELD_ARRAY = 7,
    REC_FIELD_BOOL = 8,
    REC_FIELD_U8 = 9,
    REC_FIELD_U16 = 10,
    REC_FIELD_U32 = 11,
    REC_FIELD_U64 = 12,
    REC_FIELD_I8 = 13,
    REC_FIELD_I16 = 14,
    REC_FIELD_I32 = 15,
    REC_FIELD_I64 = 16,
    REC_FIELD_F32 = 17,
    REC_FIELD_F64 = 18,
    REC_FIELD_STRING = 19,
    REC_FIELD_VALUE = 20,
    REC_FIELD_VARIANT = 21
};
enum {
    REC_FIELD_IS_OPTION = 1, /**< may be absent */
    REC_FIELD_IS_BARE = 2    /**< of tensors: without a parameter id */
};

typedef struct rec_type rec_type;
/** A field of a struct or a variant of an enum. Made by the macros; only its meaning is API. */
typedef struct rec_field {
    const char *name;
    int32_t kind;         /**< REC_FIELD_… */
    uint32_t flags;       /**< REC_FIELD_IS_OPTION, REC_FIELD_IS_BARE */
    uint64_t offset;      /**< of the member in the C struct */
    const rec_type *type; /**< of a child, list, array or variant; else NULL, also for unit variants */
    uint64_t length;      /**< of an array */
    uint64_t shape[10];   /**< of a tensor: the rank, then up to 8 dimensions that must match (0: any), then 0 */
} rec_field;

enum { REC_TYPE_STRUCT = 1, REC_TYPE_ENUM = 2 };
/** A struct or enum with its fields. `size` and `field_size` let a library of another version read it. */
struct rec_type {
    uint32_t size;       /**< sizeof(rec_type) */
    uint32_t field_size; /**< sizeof(rec_field) */
    int32_t kind;        /**< REC_TYPE_STRUCT, REC_TYPE_ENUM */
    uint32_t reserved;   /**< 0 */
    const char *name;
    uint64_t c_size; /**< sizeof the C struct */
    uint64_t field_count;
    const rec_field *fields;
};

#define REC_M_EXPAND(x) x
#define REC_MEMBER(self, kind, ...) REC_M_EXPAND(REC_MEMBER_##kind(__VA_ARGS__, 0))
#define REC_MEMBER_PARAM(name, ...) rec_floats name;
#define REC_MEMBER_OPTION_PARAM(name, ...) rec_floats name;
#define REC_MEMBER_TENSOR(name, ...) rec_floats name;
#define REC_MEMBER_OPTION_TENSOR(name, ...) rec_floats name;
#define REC_MEMBER_INT_PARAM(name, ...) rec_ints name;
#define REC_MEMBER_OPTION_INT_PARAM(name, ...) rec_ints name;
#define REC_MEMBER_INT_TENSOR(name, ...) rec_ints name;
#define REC_MEMBER_OPTION_INT_TENSOR(name, ...) rec_ints name;
#define REC_MEMBER_BOOL_PARAM(name, ...) rec_bools name;
#define REC_MEMBER_OPTION_BOOL_PARAM(name, ...) rec_bools name;
#define REC_MEMBER_BOOL_TENSOR(name, ...) rec_bools name;
#define REC_MEMBER_OPTION_BOOL_TENSOR(name, ...) rec_bools name;
#define REC_MEMBER_CHILD(name, type, ...) type name;
#define REC_MEMBER_OPTION_CHILD(name, type, ...) type *name;
#define REC_MEMBER_LIST(name, type, ...) \
    type *name;                          \
    uint64_t name##_count;
#define REC_MEMBER_ARRAY(name, type, n, ...) type name[n];
#define REC_MEMBER_BOOL(name, ...) int32_t name;
#define REC_MEMBER_U8(name, ...) uint8_t name;
#define REC_MEMBER_U16(name, ...) uint16_t name;
#define REC_MEMBER_U32(name, ...) uint32_t name;
#define REC_MEMBER_U64(name, ...) uint64_t name;
#define REC_MEMBER_USIZE(name, ...) uint64_t name;
#define REC_MEMBER_I8(name, ...) int8_t name;
#define REC_MEMBER_I16(name, ...) int16_t name;
#define REC_MEMBER_I32(name, ...) int32_t name;
#define REC_MEMBER_I64(name, ...) int64_t name;
#define REC_MEMBER_F32(name, ...) float name;
#define REC_MEMBER_F64(name, ...) double name;
#define REC_MEMBER_STRING(name, ...) const char *name;
#define REC_MEMBER_VALUE(name, ...) const rec_value *name;
#define REC_MEMBER_CONSTANT(name, ...)
#define REC_MEMBER_VARIANT(name, type, ...) type *name;
#define REC_MEMBER_UNIT_VARIANT(name, ...)

#define REC_FIELD(self, kind, ...) REC_M_EXPAND(REC_FIELD_OF_##kind(self, __VA_ARGS__, 0))
#define REC_F_TENSOR(self, kind, flags, name, ...) {#name, kind, flags, offsetof(self, name), NULL, 0, {__VA_ARGS__}},
#define REC_F_SCALAR(self, kind, name) {#name, kind, 0, offsetof(self, name), NULL, 0, {0}},
#define REC_FIELD_OF_PARAM(self, name, ...) REC_F_TENSOR(self, REC_FIELD_FLOATS, 0, name, __VA_ARGS__)
#define REC_FIELD_OF_OPTION_PARAM(self, name, ...) \
    REC_F_TENSOR(self, REC_FIELD_FLOATS, REC_FIELD_IS_OPTION, name, __VA_ARGS__)
#define REC_FIELD_OF_TENSOR(self, name, ...) REC_F_TENSOR(self, REC_FIELD_FLOATS, REC_FIELD_IS_BARE, name, __VA_ARGS__)
#define REC_FIELD_OF_OPTION_TENSOR(self, name, ...) \
    REC_F_TENSOR(self, REC_FIELD_FLOATS, REC_FIELD_IS_BARE | REC_FIELD_IS_OPTION, name, __VA_ARGS__)
#define REC_FIELD_OF_INT_PARAM(self, name, ...) REC_F_TENSOR(self, REC_FIELD_INTS, 0, name, __VA_ARGS__)
#define REC_FIELD_OF_OPTION_INT_PARAM(self, name, ...) \
    REC_F_TENSOR(self, REC_FIELD_INTS, REC_FIELD_IS_OPTION, name, __VA_ARGS__)
#define REC_FIELD_OF_INT_TENSOR(self, name, ...) \
    REC_F_TENSOR(self, REC_FIELD_INTS, REC_FIELD_IS_BARE, name, __VA_ARGS__)
#define REC_FIELD_OF_OPTION_INT_TENSOR(self, name, ...) \
    REC_F_TENSOR(self, REC_FIELD_INTS, REC_FIELD_IS_BARE | REC_FIELD_IS_OPTION, name, __VA_ARGS__)
#define REC_FIELD_OF_BOOL_PARAM(self, name, ...) REC_F_TENSOR(self, REC_FIELD_BOOLS, 0, name, __VA_ARGS__)
#define REC_FIELD_OF_OPTION_BOOL_PARAM(self, name, ...) \
    REC_F_TENSOR(self, REC_FIELD_BOOLS, REC_FIELD_IS_OPTION, name, __VA_ARGS__)
#define REC_FIELD_OF_BOOL_TENSOR(self, name, ...) \
    REC_F_TENSOR(self, REC_FIELD_BOOLS, REC_FIELD_IS_BARE, name, __VA_ARGS__)
#define REC_FIELD_OF_OPTION_BOOL_TENSOR(self, name, ...) \
    REC_F_TENSOR(self, REC_FIELD_BOOLS, REC_FIELD_IS_BARE | REC_FIELD_IS_OPTION, name, __VA_ARGS__)
#define REC_FIELD_OF_CHILD(self, name, type, ...) \
    {#name, REC_FIELD_CHILD, 0, offsetof(self, name), &type##_type, 0, {0}},
#define REC_FIELD_OF_OPTION_CHILD(self, name, type, ...) \
    {#name, REC_FIELD_CHILD, REC_FIELD_IS_OPTION, offsetof(self, name), &type##_type, 0, {0}},
#define REC_FIELD_OF_LIST(self, name, type, ...) {#name, REC_FIELD_LIST, 0, offsetof(self, name), &type##_type, 0, {0}},
#define REC_FIELD_OF_ARRAY(self, name, type, n, ...) \
    {#name, REC_FIELD_ARRAY, 0, offsetof(self, name), &type##_type, n, {0}},
#define REC_FIELD_OF_BOOL(self, name, ...) REC_F_SCALAR(self, REC_FIELD_BOOL, name)
#define REC_FIELD_OF_U8(self, name, ...) REC_F_SCALAR(self, REC_FIELD_U8, name)
#define REC_FIELD_OF_U16(self, name, ...) REC_F_SCALAR(self, REC_FIELD_U16, name)
#define REC_FIELD_OF_U32(self, name, ...) REC_F_SCALAR(self, REC_FIELD_U32, name)
#define REC_FIELD_OF_U64(self, name, ...) REC_F_SCALAR(self, REC_FIELD_U64, name)
#define REC_FIELD_OF_USIZE(self, name, ...) REC_F_SCALAR(self, REC_FIELD_U64, name)
#define REC_FIELD_OF_I8(self, name, ...) REC_F_SCALAR(self, REC_FIELD_I8, name)
#define REC_FIELD_OF_I16(self, name, ...) REC_F_SCALAR(self, REC_FIELD_I16, name)
#define REC_FIELD_OF_I32(self, name, ...) REC_F_SCALAR(self, REC_FIELD_I32, name)
#define REC_FIELD_OF_I64(self, name, ...) REC_F_SCALAR(self, REC_FIELD_I64, name)
#define REC_FIELD_OF_F32(self, name, ...) REC_F_SCALAR(self, REC_FIELD_F32, name)
#define REC_FIELD_OF_F64(self, name, ...) REC_F_SCALAR(self, REC_FIELD_F64, name)
#define REC_FIELD_OF_STRING(self, name, ...) REC_F_SCALAR(self, REC_FIELD_STRING, name)
#define REC_FIELD_OF_VALUE(self, name, ...) REC_F_SCALAR(self, REC_FIELD_VALUE, name)
#define REC_FIELD_OF_CONSTANT(self, name, ...) {#name, REC_FIELD_CONSTANT, 0, 0, NULL, 0, {0}},
#define REC_FIELD_OF_VARIANT(self, name, type, ...) \
    {#name, REC_FIELD_VARIANT, 0, offsetof(self, name), &type##_type, 0, {0}},
#define REC_FIELD_OF_UNIT_VARIANT(self, name, ...) {#name, REC_FIELD_VARIANT, 0, 0, NULL, 0, {0}},

#if defined(__GNUC__) || defined(__clang__)
#define REC_MAYBE_UNUSED __attribute__((unused))
#else
#define REC_MAYBE_UNUSED
#endif
#define REC_DEFINE_TYPE(NAME, KIND, FIELDS)                                                                  \
    REC_MAYBE_UNUSED static const rec_field NAME##_rec_fields[] = {                                          \
        FIELDS(REC_FIELD, NAME){NULL, 0, 0, 0, NULL, 0, {0}}};                                               \
    REC_MAYBE_UNUSED static const rec_type NAME##_type = {sizeof(rec_type),                                  \
                                                          sizeof(rec_field),                                 \
                                                          KIND,                                              \
                                                          0,                                                 \
                                                          #NAME,                                             \
                                                          sizeof(NAME),                                      \
                                                          sizeof(NAME##_rec_fields) / sizeof(rec_field) - 1, \
                                                          NAME##_rec_fields};
/** Defines the C struct `NAME` and its `NAME_type`. A struct without members (constants only) is not valid C: add a
 * VALUE. */
#define REC_DEFINE_STRUCT(NAME, FIELDS) \
    typedef struct NAME {               \
        FIELDS(REC_MEMBER, NAME)        \
    } NAME;                             \
    REC_DEFINE_TYPE(NAME, REC_TYPE_STRUCT, FIELDS)
/** Defines the C struct `NAME` of an enum module (index of the variant, one pointer for each) and its `NAME_type`. */
#define REC_DEFINE_ENUM(NAME, FIELDS) \
    typedef struct NAME {             \
        int32_t variant;              \
        FIELDS(REC_MEMBER, NAME)      \
    } NAME;                           \
    REC_DEFINE_TYPE(NAME, REC_TYPE_ENUM, FIELDS)

/** Flags of `rec_bind_at`. */
enum {
    REC_BIND_STRICT = 0,
    REC_BIND_ALLOW_MISSING = 1,   /**< values that the record lacks keep the caller's contents */
    REC_BIND_ALLOW_UNEXPECTED = 2 /**< values that the type does not name are ignored */
};

/** The memory that a bound struct points to. */
typedef struct rec_binding rec_binding;

/**
 * Fills a C struct from a record, like Burn's load_record. Finds all mismatches: each is a note of the report
 * (REC_NOTE_MISSING, _UNEXPECTED, _SHAPE, _KIND) and a line of the error message. Nil values (constants) are never
 * unexpected. A value that a typed load assumed (REC_NOTE_ASSUMED) counts as missing.
 * @param target the C struct of `type`; unchanged on failure. Its pointers live until the binding is freed; the record
 * must outlive the binding.
 * @return to be freed; NULL with REC_E_MISMATCH.
 */
REC_API rec_binding *rec_bind(const rec_record *record, const rec_type *type, void *target);
/** Fills a C struct from the value at a path, with REC_BIND_… flags. */
REC_API rec_binding *rec_bind_at(const rec_record *record, const char *path, const rec_type *type, void *target,
                                 uint32_t flags);
REC_API void rec_binding_free(rec_binding *binding);
/** Sets the type of a recorder's records, for formats that cannot be read without one. The type is not copied; it must
 * be static. NULL removes it. Loading or converting a record with tensors by a type without tensors is REC_E_MISMATCH.
 */
REC_API rec_status rec_recorder_set_type(rec_recorder *recorder, const rec_type *type);

#ifdef __cplusplus
}
#endif
#endif
