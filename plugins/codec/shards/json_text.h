/* SPDX-License-Identifier: MIT OR Apache-2.0
 * JSON of headers and indexes: tokens over a text in memory. */
#ifndef LR_SHARDS_JSON_H
#define LR_SHARDS_JSON_H

#include <string.h>

#include "common/names.h"
#include "plugins/codec/excerpt.h"
#include "plugins/codec/json/number.h"
#include "plugins/codec/json/string.h"

/** Where a text is: as it stands in the JSON, or among those whose escapes were taken out. */
typedef struct lr_st_text {
    uint32_t at, length;
    bool unescaped;
} lr_st_text;

/** A reader. The whole text (below 4 GiB) is at in.start. */
typedef struct lr_st_json {
    rec_job *job;
    lr_json_input in;
    lr_json_text memory;
    char *texts; /**< those that had escapes */
    uint64_t texts_size, texts_room;
    const char *whole; /**< "the header": what ends where it ends */
} lr_st_json;

/** @param offset of the text in the file. */
void lr_st_json_open(lr_st_json *json, rec_job *job, rec_source *source, const uint8_t *text, uint64_t length,
                     uint64_t offset, const char *whole);
void lr_st_json_close(lr_st_json *json);

/** Reports the text at the cursor instead of the expected. */
int32_t lr_st_json_unexpected(lr_st_json *json, const char *expected);
/** Adds what to do about a file that is wrong. @return status. */
int32_t lr_st_json_damaged(rec_job *job, int32_t status);
/** The string at the cursor, where a quote is; for those with escapes. */
int32_t lr_st_json_string_slow(lr_st_json *json, lr_st_text *out);
/** A whole number from 0 to 2^64 - 1. */
int32_t lr_st_json_number(lr_st_json *json, uint64_t *out);
/** Two texts that belong together: a tensor and its file, an entry of metadata. */
typedef struct lr_st_pair {
    lr_st_text key, value;
    uint32_t at;
} lr_st_pair;
/** Reads the text that is the value of `key` and appends both to an array. @param words what the value is. */
int32_t lr_st_json_pair(lr_st_json *json, const lr_st_text *key, uint32_t at, const char *words, lr_st_pair **pairs,
                        uint64_t *count, uint64_t *room);
/** Any value, which is passed over. */
int32_t lr_st_json_foreign(lr_st_json *json);
/** Out of memory, if nothing else was reported. */
int32_t lr_st_no_memory(rec_job *job);

static inline const char *lr_st_json_text(const lr_st_json *json, const lr_st_text *text)
{
    return (text->unescaped ? json->texts : (const char *)json->in.start) + text->at;
}

static inline bool lr_st_json_is(const lr_st_json *json, const lr_st_text *text, const char *word)
{
    return lr_text_is(lr_st_json_text(json, text), text->length, word);
}

/** Place of the cursor in the text. */
static inline uint32_t lr_st_json_at(const lr_st_json *json)
{
    return (uint32_t)(json->in.at - json->in.start);
}

static inline void lr_st_json_skip(lr_st_json *json)
{
    while (json->in.at < json->in.end && lr_json_is_space(*json->in.at)) {
        json->in.at++;
    }
}

/** Whether `byte` comes next, behind white space. */
static inline bool lr_st_json_next(lr_st_json *json, char byte)
{
    lr_st_json_skip(json);
    return json->in.at < json->in.end && *json->in.at == (uint8_t)byte;
}

static inline int32_t lr_st_json_expect(lr_st_json *json, char byte, const char *words)
{
    if (!lr_st_json_next(json, byte)) {
        return lr_st_json_unexpected(json, words);
    }
    json->in.at++;
    return REC_OK;
}

/** Whether a comma comes next, which is taken. */
static inline bool lr_st_json_comma(lr_st_json *json)
{
    bool comma = lr_st_json_next(json, ',');
    json->in.at += comma;
    return comma;
}

/** The string that comes next. @param words what it is, "a key in quotes". */
static inline int32_t lr_st_json_string(lr_st_json *json, lr_st_text *out, const char *words)
{
    const uint8_t *from, *stop;
    if (!lr_st_json_next(json, '"')) {
        return lr_st_json_unexpected(json, words);
    }
    from = json->in.at + 1;
    stop = lr_json_plain_until(from, json->in.end);
    if (stop == json->in.end || *stop != '"') {
        return lr_st_json_string_slow(json, out);
    }
    *out = (lr_st_text){.at = (uint32_t)(from - json->in.start), .length = (uint32_t)(stop - from)};
    json->in.at = stop + 1;
    return REC_OK;
}

/** A map whose entries are gone through. The words are those of messages. */
typedef struct lr_st_map {
    const char *map, *key, *colon, *end; /**< "a map", "a key in quotes", "`:` after a key", "`,` or `}`" */
    lr_st_text name;                     /**< the key of the entry */
    uint32_t at;                         /**< its place in the text */
    bool open;
} lr_st_map;

/** Whether there is one more entry, whose value comes next. @param status (in, out) of reading: false after a failure.
 */
static inline bool lr_st_json_each(lr_st_json *json, lr_st_map *map, int32_t *status)
{
    bool more;
    if (*status == REC_OK && !map->open) {
        *status = lr_st_json_expect(json, '{', map->map);
        map->open = true;
        more = !lr_st_json_next(json, '}');
    } else {
        more = *status == REC_OK && lr_st_json_comma(json);
    }
    if (*status != REC_OK || !more) {
        *status = *status == REC_OK ? lr_st_json_expect(json, '}', map->end) : *status;
        return false;
    }
    lr_st_json_skip(json);
    map->at = lr_st_json_at(json);
    *status = lr_st_json_string(json, &map->name, map->key);
    *status = *status == REC_OK ? lr_st_json_expect(json, ':', map->colon) : *status;
    return *status == REC_OK;
}

/** Parses the digits of an unsigned number. @return the position after them; NULL: no digits, or too many. */
static inline const uint8_t *lr_st_digits(const uint8_t *at, const uint8_t *end, uint64_t *number)
{
    const uint8_t *from = at;
    uint64_t value = 0;
    for (; at < end && (uint8_t)(*at - '0') <= 9; at++) {
        uint64_t digit = (uint64_t)(*at - '0');
        if (at - from < 19) {
            value = value * 10 + digit;
        } else if (__builtin_mul_overflow(value, 10u, &value) || __builtin_add_overflow(value, digit, &value)) {
            return NULL;
        }
    }
    *number = value;
    return at > from && (*from != '0' || at == from + 1) ? at : NULL;
}

#endif
