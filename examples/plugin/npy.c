/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The descriptor: what librecord knows of the plugin before it reads or writes anything. */

#include <string.h>

#include "npy.h"

const struct npy_type npy_types[NPY_TYPES] = {
    {REC_DTYPE_F64, "<f8"}, {REC_DTYPE_F32, "<f4"},   {REC_DTYPE_F16, "<f2"},
    {REC_DTYPE_I64, "<i8"}, {REC_DTYPE_I32, "<i4"},   {REC_DTYPE_I16, "<i2"},
    {REC_DTYPE_U8, "|u1"},  {REC_DTYPE_BOOL8, "|b1"}, {REC_DTYPE_BOOL, "|b1"},
};

/** How sure we are that a file is ours, in bits that agreed. */
static int32_t probe(const rec_head *head)
{
    return head->length >= 8 && memcmp(head->data, "\x93NUMPY\x01\x00", 8) == 0 ? 64 : 0;
}

static const char *const aliases[] = {"numpy", NULL};

static const rec_plugin npy = {
    .abi = REC_PLUGIN_ABI,
    .size = sizeof(rec_plugin),
    .name = "Npy",
    .aliases = aliases,
    .extension = "npy",
    .description = "NumPy's .npy, one tensor a file",
    .traits = REC_TRAIT_TENSORS | REC_TRAIT_EXACT_SIZE,
    .probe = probe,
    .load = npy_load,
    .save = npy_save,
};

/* The file is npy.so, so the name here is npy. */
REC_PLUGINS(npy, &npy);
