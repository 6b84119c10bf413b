/* SPDX-License-Identifier: MIT OR Apache-2.0
 * record diff: what two records have in common and what not, of any two formats: structure, then values.
 * It changes no file, and holds no more of a tensor than a piece of each side.
 * Records and what is found out about them live until it is printed. */
#ifndef RECORD_DIFF_H
#define RECORD_DIFF_H

#include "tools/look/look.h"

extern const tool_option tool_diff_options[];
int tool_run_diff(session *s, const char *const *operands, size_t count);

/* Two tensors, NULL: not there, and the result for them. */
typedef struct diff_found {
    const rec_tensor *of[2];
    bool known;         /* they have one shape, and numbers, or bytes that are the same; else the rest says nothing */
    uint64_t differing; /* places that are not the same number; NaN is the same as NaN */
    bool rounded;       /* they are the same once one side is rounded to the other's element type */
    double most;        /* the largest absolute difference of finite values */
    uint64_t at;        /* the place of it */
    double change;      /* |a-b| / max(|a|, |b|), norms: infinite if something that is not finite differs */
    double cosine;      /* of the angle between both, NaN if one of them is 0 */
} diff_found;
/* Compares the tensors of each as `record diff` does, without tolerances, by up to the session's threads; the same
 * whatever their number. Skips those of which one is not there. @return EXIT_OK, or EXIT_ERROR with the error printed.
 */
int tool_diff_pairs(session *s, diff_found *const *found, size_t count);

#endif
