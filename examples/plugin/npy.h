/* SPDX-License-Identifier: MIT OR Apache-2.0
 * NumPy's .npy, version 1: one tensor a file. "\x93NUMPY", 1, 0, the header's length (u16, little-endian), the header
 * (a Python dictionary as text, padded so that the data begins at a multiple of 64 bytes), the data. */
#ifndef NPY_H
#define NPY_H

#include <librecord/plugin.h>

enum { NPY_TYPES = 9, NPY_PREFIX = 10 };

/** Element types and NumPy's names for them. */
struct npy_type {
    rec_dtype dtype;
    char descr[4];
};
extern const struct npy_type npy_types[NPY_TYPES];

int32_t npy_load(rec_job *job, rec_source *source, const rec_visitor *visitor, void *self);
int32_t npy_save(rec_job *job, rec_sink *sink);

#endif
