/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Burn's layout: how a record, a parameter and an element type look in a data tree, version by version. The builder
 * (reading) and the walker (writing) know of it only through these functions. */
#ifndef LR_BURN_H
#define LR_BURN_H

#include "core/record/tree.h"

enum {
    LR_BURN_FIRST = 7,     /**< the first with recorders that are known */
    LR_BURN_NOW = 21,      /**< the last 0.x with recorders: what is written by default */
    LR_BURN_V2 = 14,       /**< the first with {bytes, shape, dtype} */
    LR_BURN_UNIT_B = 12,   /**< the first with `_b` */
    LR_BURN_BOOL_STORE = 21/**< the first with Bool(store) */
};

/** Which layout and ids are written, beside 0.MINOR. */
enum {
    LR_TARGET_KEEP = -1, /**< the layout the record came with */
    LR_TARGET_PLAIN = 0  /**< the last one, but ids stay as they are */
};

/** What the metadata of a record says about its layout. */
typedef struct lr_burn {
    int32_t minor;           /**< 0.MINOR, -1 if unknown */
    rec_precision precision; /**< by the name of its float type, DEFAULT if unknown */
    bool known;              /**< metadata was seen */
} lr_burn;

lr_burn lr_burn_of(const lr_map *metadata);

/**
 * Recognises a tensor or a parameter in the entries of a map that has just ended.
 * @param out the value it becomes. @return 1 if it is one, 0 if it is an ordinary map, -1: the job has failed.
 */
int lr_burn_raise(rec_job *job, rec_record *record, const lr_burn *burn, rec_precision precision, uint64_t at,
                  const lr_entry *entries, uint64_t count, rec_value *out);
/** @return whether a map with that many entries may be one. */
static inline bool lr_burn_may_raise(uint64_t count)
{
    return count == 2 || count == 3;
}

/** The element type by Burn's name ("F32"), REC_DTYPE_OPAQUE if unknown. */
rec_dtype lr_burn_dtype(const rec_value *value);
/** @return Burn's name of a dtype and its index in the enum of that version; NULL if that version lacks it. */
const char *lr_burn_dtype_name(rec_dtype dtype, int32_t minor, uint64_t *index);
/** @return the number of dtypes that version knows. */
uint64_t lr_burn_dtype_count(int32_t minor);
/** @return the name of dtype `index` in that version. */
const char *lr_burn_dtype_at(int32_t minor, uint64_t index);

enum { LR_ID_ROOM = 16 };
/**
 * The parameter id as a version wants it. From 0.15 on ids are the base32 text of a u64; a UUID becomes the one of its
 * first eight bytes, a 10-character id (0.14) the one of its six bytes with two zeros, as Burn does itself. Models and
 * optimizers get the same, so that states are found again. Anything else stays as it is.
 * @param buffer LR_ID_ROOM bytes. @return id or buffer.
 */
const char *lr_burn_id(const char *id, int32_t minor, char *buffer);
/** Base32 of bytes in Burn's alphabet (DNSSEC's), without padding. @param text room for (count * 8 + 4) / 5 + 1. */
void lr_burn_base32(const uint8_t *bytes, size_t count, char *text);

/** The eight bytes of the id that a parameter gets which came without one: a hash of its path (names and indices joined
 *  by dots), so that the same conversion gives the same bytes. */
void lr_id_of_path(const char *path, size_t length, uint8_t bytes[8]);

/** "f32", "half::binary16::f16": what Burn writes into metadata. */
const char *lr_burn_float_name(rec_precision precision);
const char *lr_burn_int_name(rec_precision precision);
const char *lr_burn_settings_name(rec_precision precision);

#endif
