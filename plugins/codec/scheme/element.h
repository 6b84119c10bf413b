/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Small floats as f32: FP8 (E4M3, E5M2 and their FNUZ forms), E8M0 and FP4 (E2M1), and the scales that go with them.
 * All of them are exact in f32. */
#ifndef LR_SCHEME_ELEMENT_H
#define LR_SCHEME_ELEMENT_H

#include <string.h>

#include <librecord/plugin.h>

/** Returns the length of an end of the part's path if the path has it, else 0. */
static inline size_t lr_ends_in(const rec_part *part, const char *end)
{
    size_t length = strlen(part->path), tail = strlen(end);
    return length >= tail && strcmp(part->path + length - tail, end) == 0 ? tail : 0;
}

/** Ways in which a byte or more is a number. */
enum {
    LR_ELEMENT_NONE = 0,
    LR_ELEMENT_E4M3 = 1,
    LR_ELEMENT_E5M2 = 2,
    LR_ELEMENT_E4M3_FNUZ = 3,
    LR_ELEMENT_E5M2_FNUZ = 4,
    LR_ELEMENT_E8M0 = 5,
    LR_ELEMENT_F32 = 6,
    LR_ELEMENT_F16 = 7,
    LR_ELEMENT_BF16 = 8
};

/** Returns what the elements of a stored tensor are, LR_ELEMENT_NONE for others. */
int lr_element_of(const rec_part *part);
/** Returns the name of an element that is an FP8: "E4M3". */
const char *lr_element_name(int element);
/** Returns the bytes of an element. */
uint64_t lr_element_size(int element);
/** Writes what each of 256 bytes stands for. @param element of one byte. */
void lr_element_table(int element, float table[256]);
/** Reads number `index`. */
float lr_element_read(int element, const uint8_t *data, uint64_t index);
/** The 16 numbers of FP4 (E2M1). */
extern const float lr_element_fp4[16];

#endif
