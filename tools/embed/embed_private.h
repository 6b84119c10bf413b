/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What the files of `record embed` share: the workshop, the bytes, the type tree of a record. */
#ifndef RECORD_EMBED_PRIVATE_H
#define RECORD_EMBED_PRIVATE_H

#include "tools/embed/embed.h"

/* Where the embedded thing starts, in bytes: a cache line, and the widest vectors that there are. */
enum { EMBED_ALIGNMENT = 64 };

/* ---------------------------------------------------------------------------------------------------- workshop -- */

/* A private folder for what the assembler reads. Zero it to begin. */
typedef struct workshop {
    char *folder, *payload, *source; /* absolute */
} workshop;
int tool_workshop_open(workshop *w);
void tool_workshop_close(workshop *w);
/* ------------------------------------------------------------------------------------------------------- bytes -- */

/* The bytes to embed. */
typedef struct payload {
    const char *path;     /* the file that holds just these bytes */
    const char *recorder; /* that reads them */
    uint64_t size;
} payload;

/* Each prints to an open stream; the caller checks it. `symbol` is that of the array. */
void tool_embed_header(FILE *out, const char *symbol, const payload *p);
int tool_embed_source(FILE *out, const char *symbol, const payload *p);
/* Makes the object file with the system's assembler. @param w its folder, with the payload in it. */
int tool_embed_object(const char *object, const char *symbol, const workshop *w);

/* ------------------------------------------------------------------------------------------------------- types -- */

enum {
    SHAPE_NOTHING,  /* only nils: a null pointer */
    SHAPE_CONSTANT, /* a field that holds nothing: no member */
    SHAPE_SCALAR,
    SHAPE_STRING,
    SHAPE_NUMBERS, /* packed numbers */
    SHAPE_BYTES,
    SHAPE_TENSOR,
    SHAPE_ARRAY,  /* a list whose items have one type */
    SHAPE_TUPLE,  /* a list whose items have not: members item0, item1… */
    SHAPE_STRUCT, /* a map */
    SHAPE_ENUM    /* a variant: its index, and a member for each that occurs */
};

/* The C type of a value, or of all items of a list at once. */
typedef struct shape shape;
struct shape {
    int kind;
    bool optional;            /* some of the values that share it are absent: a pointer */
    int32_t scalar;           /* of a scalar or numbers: REC_KIND_BOOL, _INT, _UINT, _FLOAT */
    unsigned bits;            /* of its number */
    bool huge;                /* an unsigned number beyond 63 bits is among them */
    uint64_t count;           /* items, numbers, bytes, elements; of a string its bytes, REC_UNKNOWN if they differ */
    const rec_tensor *tensor; /* one of those that share it */
    shape **parts;            /* of an array the one of its items; of the others one each */
    size_t part_count;
    rec_scalar key;             /* under which its parent has it, the record's; of a part of a tuple its index */
    bool one_entry;             /* of a struct: each value that shares it is a map of one entry */
    uint64_t variant;           /* of a part of an enum: its index */
    char *member, *tag, *macro; /* names in C, set by tool_shape_name() */
};

/* @return the shape of a value, to be freed. */
shape *tool_shape_of(const rec_value *value);
void tool_shape_free(shape *s);
/* @return what `value`, which has this shape, holds for part `index`: NULL if that is absent or nil. */
const rec_value *tool_shape_value(const shape *s, const rec_value *value, size_t index);
/* @return true if it makes a member at all. */
bool tool_shape_has_member(const shape *s);
/* Names it and all below it: the types of its members begin with `tag`. */
void tool_shape_name(shape *s, const char *tag, lookup *names);

/* ------------------------------------------------------------------------------------------------------ values -- */

/* Adds numbers to a file, so many in a line. */
typedef struct row {
    FILE *out;
    size_t column, indent;
    bool any;
} row;
void tool_row_put(row *r, const char *item);

/* Elements of a tensor in C, the same to the last bit. */
int tool_print_elements(row *r, const rec_tensor *tensor);
/* @return the type of these elements: "float"; f16 and bf16 are bit patterns. */
const char *tool_element_type(const rec_tensor *tensor);
/* A number as the type that `s` has. @param buffer NUMBER_ROOM bytes. */
const char *tool_number_c(const shape *s, const rec_scalar *number, char *buffer);
/* @return the C type of a scalar shape: "uint8_t". */
const char *tool_scalar_type(const shape *s);

/* The whole header with structs. @param symbol the constant's name. */
int tool_embed_structs(FILE *out, const char *symbol, const rec_record *record);

#endif
