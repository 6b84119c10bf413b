/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What the files of this room tell each other of Burn's layout: names by version, and tensors in maps. */
#ifndef LR_BURN_PRIVATE_H
#define LR_BURN_PRIVATE_H

#include <string.h>

#include "core/burn/burn.h"

/** @return whether a value is this text. */
static inline bool lr_value_is(const rec_value *value, const char *text)
{
    size_t length = strlen(text);
    return value->kind == REC_KIND_STRING && value->length == length && memcmp(value->v.text, text, length) == 0;
}

/* burn.c */

lr_burn lr_burn_of(const lr_map *metadata);

/** The element type by Burn's name ("F32"), REC_DTYPE_OPAQUE if unknown. */
rec_dtype lr_burn_dtype(const rec_value *value);
/** @return Burn's name of a dtype and its index in the enum of that version; NULL if that version lacks it. */
const char *lr_burn_dtype_name(rec_dtype dtype, int32_t minor, uint64_t *index);
/** @return the number of dtypes that version knows. */
uint64_t lr_burn_dtype_count(int32_t minor);
/** @return the name of dtype `index` in that version. */
const char *lr_burn_dtype_at(int32_t minor, uint64_t index);

/** @return whether a plugin writes for that version; NULL: a recorder's format. */
bool lr_burn_can(const rec_plugin *plugin, int32_t minor);

/* dtype_text.c */

enum { LR_DTYPE_TEXT_ROOM = 4200 };
/** The words of a dtype for an event: a name as it is, all else as JSON ({"QFloat":{"value":"Q8S",…}}), in which a
 * float of 32 bits ends in f. @param buffer LR_DTYPE_TEXT_ROOM bytes. @return them, or NULL: the job has failed. */
const char *lr_burn_dtype_text(rec_job *job, const rec_value *value, char *buffer);
/** The other way round, for REC_DTYPE_QFLOAT and REC_DTYPE_OPAQUE. REC_E_FORMAT: they are not such words. */
int32_t lr_burn_dtype_read(rec_job *job, rec_record *record, uint64_t at, rec_dtype dtype, const char *text,
                           rec_value *value);
/** @return whether a version has a quantised tensor's scheme in the form it is in. @param dtype its words.
 *  @param from 0.MINOR of the record it is of, -1 if unknown. */
bool lr_burn_scheme_fits(const rec_value *dtype, int32_t from, int32_t minor);

/* burn.c */

/**
 * The parameter id as a version wants it. From 0.15 on ids are the base32 text of a u64; a UUID becomes the one of its
 * first eight bytes, a 10-character id (0.14) the one of its six bytes with two zeros, as Burn does itself. Models and
 * optimizers get the same, so that states are found again. Anything else stays as it is.
 * @param buffer LR_ID_ROOM bytes. @return id or buffer.
 */
const char *lr_burn_id(const char *id, int32_t minor, char *buffer);

/** "f32", "half::binary16::f16": what Burn writes into metadata. */
const char *lr_burn_float_name(rec_precision precision);
const char *lr_burn_int_name(rec_precision precision);
const char *lr_burn_settings_name(rec_precision precision);

/* raise_tensor.c */

/** What recognising hands down. */
typedef struct lr_raise {
    rec_job *job;
    rec_record *record;
    const lr_burn *burn;
    rec_precision precision;
    uint64_t at;
} lr_raise;

/** @return whether a value is a list of numbers, or an empty one. */
bool lr_raise_is_numbers(const rec_value *value);
/** @return whether they are unsigned. */
bool lr_raise_is_unsigned(const rec_value *value);
/** A tensor with its shape but no data yet. NULL: the job has failed. */
rec_tensor *lr_raise_tensor(const lr_raise *raise, const rec_value *shape);
/** @return 1. */
int lr_raise_finish(const lr_raise *raise, rec_tensor *tensor, rec_value *out);

/* raise_v1.c */

/** Makes a tensor of {value, shape}, as it was before 0.14. @return as lr_burn_raise. */
int lr_raise_v1(const lr_raise *raise, const rec_value *value, const rec_value *shape, rec_value *out);

/* raise.c */

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

/* layout_text.c */

/** Of the text of a layout: a node takes a hundred times what names it, so that this is some 40 MiB of nodes at most.
 */
enum { LR_LAYOUT_TEXT_MOST = 256 << 10 };
/** A layout as text, in the job's layouts. NULL: the job has failed. */
const char *lr_layout_print(rec_job *job, const rec_layout *layout);

#endif
