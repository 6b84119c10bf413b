/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What the files of this room share: a file without names as parameters and the bytes between them. */
#ifndef RECORD_TYPES_PRIVATE_H
#define RECORD_TYPES_PRIVATE_H

#include "tools/types/types.h"

/* A parameter, or one byte between them. */
typedef struct token {
    const rec_tensor *tensor; /* NULL: a byte */
    uint64_t index;           /* of the parameter */
    uint32_t rank;
    char kind; /* f, i, b */
    uint8_t byte;
} token;
typedef struct tokens {
    token *at;
    size_t count;
    unsigned minor; /* version of Burn: 0.18 is 18 */
} tokens;
/* Reads what is between the parameters of a record that was read by position, from 0.12 on. @return false: it is not as
 * it should be, or the file is compressed or a stream. t->at is to be freed in either case. */
bool tool_types_tokens(tokens *t, const rec_record *record, const char *path);

/* A module of Burn's as tokens: a digit is a float parameter of that rank, ? before it that it is optional (a byte 1 or
 * 0), c a constant, aN an array of N constants, L a Linear, N a LayerNorm, M, F the attention and the inner layers of a
 * transformer, E D its layers, and v before one a list. */
typedef struct known_module {
    const char *name;
    unsigned first, last; /* versions */
    const char *form;
    unsigned cost; /* how little it is to be expected */
    char fits;     /* l: a Linear's sizes, n: all of one size, c: the bias as long as the first size, t: transposed */
} known_module;
extern const known_module tool_types_modules[];

#endif
