/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Numbers as JSON writes them, both ways, and lists of bytes in bulk. */
#ifndef LR_JSON_NUMBER_H
#define LR_JSON_NUMBER_H

#include <locale.h>
#include <stdbool.h>

#include "common/shortest.h"
#include <librecord/plugin.h>

/** White space of JSON. */
static inline bool lr_json_is_space(uint8_t byte)
{
    return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
}

/** A parsed number: ±digits · 10^exponent. */
typedef struct lr_decimal {
    const uint8_t *end; /**< after the number; the offending character of an invalid one */
    uint64_t digits;    /**< the first 19 significant ones, or all of an integer that fits */
    int32_t exponent;   /**< within ±100,000, beyond which nothing changes */
    bool negative;
    bool real; /**< a fraction or an exponent was written, or the integer has more than 64 bits */
    bool cut;  /**< there were more digits than `digits` holds */
} lr_decimal;

enum { LR_SCAN_DONE, LR_SCAN_MORE, LR_SCAN_BAD };
/** Parses the number at `text`, which begins with a digit or a minus. @return DONE; MORE: it reaches `end` and may
 * continue; BAD: `decimal->end` is the offending character (RFC 8259, section 6). */
int lr_decimal_scan(const uint8_t *text, const uint8_t *end, lr_decimal *decimal);

/** The longest number that is read. */
enum { LR_NUMBER_MOST = 4096 };

/** What reading floats needs, and keeps to its end. */
typedef struct lr_float_reader {
    locale_t c; /**< the C locale, once it was needed; to be freed with lr_float_reader_free() */
} lr_float_reader;
/** The nearest double, ties to even. @param text,length the number (at most LR_NUMBER_MOST). @return REC_OK;
 *  REC_E_RANGE: beyond the largest double; REC_E_MEMORY. */
int32_t lr_float_read(lr_float_reader *reader, const lr_decimal *decimal, const uint8_t *text, uint64_t length,
                      double *value);
void lr_float_reader_free(lr_float_reader *reader);

/** Room for any number that is written here. */
enum { LR_NUMBER_ROOM = 32 };
/** Writes the shortest decimal that parses to the same number, the nearest of those, in serde_json's form; `null` for
 * NaN and infinities. @return bytes written. */
uint32_t lr_float_write(char *text, double value);
uint32_t lr_float32_write(char *text, float value);
uint32_t lr_uint_write(char *text, uint64_t value);
uint32_t lr_int_write(char *text, int64_t value);

/**
 * Reads many small numbers at once: as long as there follow, with any white space, a number from 0 to 255 and a comma.
 * Stops before the first element that is anything else or in doubt, or when 64 bytes of text or room are not left.
 * @param text (in, out) begins where an element is expected. @return elements written to `out`. */
typedef uint64_t lr_bytes_scan(const uint8_t **text, const uint8_t *end, uint8_t *out, uint64_t room);
/** The plain one, which defines the result. */
lr_bytes_scan lr_bytes_scan_plain;
/** The scanners of this processor, best first, the plain one last. NULL after the last. */
lr_bytes_scan *lr_bytes_scan_choice(unsigned index);

#endif
