/* SPDX-License-Identifier: MIT OR Apache-2.0
 * NumPy's .npy (one array: a header as text, the elements) and .npz (a zip file of those), read and written. Listing
 * an archive reads its directory and the header of each member. The elements are sources that produce bytes on demand:
 * inflated, byte-swapped or transposed. */
#ifndef LR_NPY_H
#define LR_NPY_H

#include <stdbool.h>

#include <librecord/plugin.h>

#include "common/names.h"
#include "plugins/codec/excerpt.h"
#include "plugins/codec/zip/zip.h"

/** The comment of an archive of a foreign model's arrays, which are laid out as PyTorch's: others are Burn's. */
#define LR_NPZ_FOREIGN "librecord.layout=pytorch"

enum {
    LR_NPY_RANK = 32,    /**< dimensions, as librecord and NumPy 1 have at most */
    LR_NPY_HEADER = 1024 /**< bytes that a header takes which is written */
};

/* -------------------------------------------------------------------------------------- headers (header.c) -- */

/** What the header of an array says. */
typedef struct lr_npz_array {
    rec_dtype dtype;
    uint32_t width; /**< bytes of an element */
    bool big;       /**< elements of several bytes, the highest first */
    bool fortran;   /**< the first index runs fastest, and that makes a difference */
    uint32_t rank;
    uint64_t shape[LR_NPY_RANK];
    uint64_t header; /**< bytes before the elements */
    uint64_t size;   /**< bytes of the elements */
} lr_npz_array;

/** Reads the header of an array. @param source to read from `base` on, where `size` bytes belong to the array. @param
 * at place for messages. @param name of the member, for messages; NULL: the file is the array. @param unfit (out)
 * reason why no tensor can hold the elements (strings, Python objects); REC_E_UNSUPPORTED is then returned without an
 * error. NULL: that is an error. */
int32_t lr_npz_header_read(rec_job *job, rec_source *source, uint64_t base, uint64_t size, uint64_t at,
                           const char *name, lr_npz_array *array, const char **unfit);
/** Writes it as NumPy does. @param text LR_NPY_HEADER bytes. @return its length; 0: there is no such type in NumPy. */
uint64_t lr_npz_header_write(char *text, rec_dtype dtype, uint32_t rank, const uint64_t *shape);

static inline bool lr_npz_is_ascii(const char *text, uint64_t length)
{
    while (length > 0 && (unsigned char)text[length - 1] < 0x80) {
        length--;
    }
    return length == 0;
}

/* -------------------------------------------------------------------------------------------- reading, writing -- */

int32_t lr_npz_load(rec_job *job, rec_source *source, const rec_visitor *visitor, void *self);
int32_t lr_npy_load(rec_job *job, rec_source *source, const rec_visitor *visitor, void *self);
int32_t lr_npz_save(rec_job *job, rec_sink *sink);
int32_t lr_npy_save(rec_job *job, rec_sink *sink);

#endif
