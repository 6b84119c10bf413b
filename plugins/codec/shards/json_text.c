/* SPDX-License-Identifier: MIT OR Apache-2.0
 * JSON of headers and indexes: what is not done in line. */
#include "plugins/codec/shards/json_text.h"

#include "plugins/codec/json/number.h"
#include "plugins/codec/room.h"

void lr_st_json_open(lr_st_json *json, rec_job *job, rec_source *source, const uint8_t *text, uint64_t length,
                     uint64_t offset, const char *whole)
{
    *json = (lr_st_json){.job = job, .whole = whole};
    json->in = (lr_json_input){.job = job,
                               .source = source,
                               .at = text,
                               .end = text + length,
                               .start = text,
                               .offset = offset,
                               .size = offset + length,
                               .ended = true};
}

void lr_st_json_close(lr_st_json *json)
{
    if (json->job) {
        rec_job_free(json->job, json->memory.data);
        rec_job_free(json->job, json->texts);
    }
}

int32_t lr_st_json_damaged(rec_job *job, int32_t status)
{
    rec_fail_hint(job, "The file is damaged, or its writer is wrong: get it again, or write it again.");
    return status;
}

int32_t lr_st_json_unexpected(lr_st_json *json, const char *expected)
{
    if (json->in.at == json->in.end) {
        return lr_st_json_damaged(json->job, rec_fail_found(json->job, REC_E_FORMAT, lr_json_input_offset(&json->in),
                                                            expected, "the end of %s", json->whole));
    }
    return lr_st_json_damaged(json->job, lr_json_unexpected(&json->in, expected));
}

int32_t lr_st_no_memory(rec_job *job)
{
    return rec_fail(job, REC_E_MEMORY, REC_UNKNOWN, "out of memory for the header"); /* the first failure counts */
}

int32_t lr_st_json_string_slow(lr_st_json *json, lr_st_text *out)
{
    const char *text;
    uint64_t length;
    int32_t status = lr_json_string(&json->in, &json->memory, &text, &length);
    if (status != REC_OK) {
        return lr_st_json_damaged(json->job, status);
    }
    if (lr_codec_grow(json->job, &json->texts, json->texts_size + length + 1, &json->texts_room, 1) != REC_OK) {
        return lr_st_no_memory(json->job);
    }
    if (length) {
        memcpy(json->texts + json->texts_size, text, (size_t)length);
    }
    *out = (lr_st_text){.at = (uint32_t)json->texts_size, .length = (uint32_t)length, .unescaped = true};
    json->texts_size += length; /* never more than the text has: below 4 GiB */
    return REC_OK;
}

int32_t lr_st_json_number(lr_st_json *json, uint64_t *out)
{
    static const char expected[] = "a whole number from 0 to 2^64 - 1";
    const uint8_t *from, *behind;
    int shown = 0;
    lr_st_json_skip(json);
    from = json->in.at;
    behind = lr_st_digits(from, json->in.end, out);
    if (behind && (behind == json->in.end || (*behind != '.' && (*behind | 0x20) != 'e'))) {
        json->in.at = behind;
        return REC_OK;
    }
    if (from == json->in.end || (*from != '-' && (uint8_t)(*from - '0') > 9)) {
        return lr_st_json_unexpected(json, expected);
    }
    while (from + shown < json->in.end && shown < 24 && from[shown] && strchr("+-.0123456789eE", from[shown])) {
        shown++;
    }
    return lr_st_json_damaged(json->job, rec_fail_found(json->job, REC_E_FORMAT, lr_json_input_offset(&json->in),
                                                        expected, "`%.*s`", shown, (const char *)from));
}

int32_t lr_st_json_pair(lr_st_json *json, const lr_st_text *key, uint32_t at, const char *words, lr_st_pair **pairs,
                        uint64_t *count, uint64_t *room)
{
    int32_t status = lr_codec_grow(json->job, pairs, *count + 1, room, sizeof **pairs);
    if (status == REC_OK) {
        (*pairs)[*count] = (lr_st_pair){.key = *key, .at = at};
        status = lr_st_json_string(json, &(*pairs)[*count].value, words);
        *count += status == REC_OK;
    }
    return status;
}

enum { FOREIGN_DEPTH = 128 }; /* as the reference implementation's parser */

static int32_t foreign_scalar(lr_st_json *json)
{
    static const char *const words[] = {"null", "false", "true"};
    lr_st_text text;
    lr_decimal decimal;
    uint8_t byte = json->in.at < json->in.end ? *json->in.at : 0;
    if (byte == '"') {
        uint64_t size = json->texts_size;
        int32_t status = lr_st_json_string(json, &text, "a string");
        json->texts_size = size;
        return status;
    }
    if (byte == '-' || (uint8_t)(byte - '0') <= 9) {
        int result = lr_decimal_scan(json->in.at, json->in.end, &decimal);
        bool cut = result == LR_SCAN_MORE && (uint8_t)(decimal.end[-1] - '0') > 9;
        json->in.at = decimal.end;
        return result == LR_SCAN_BAD || cut ? lr_st_json_unexpected(json, "a digit") : REC_OK;
    }
    for (size_t i = 0; i < 3; i++) {
        size_t length = strlen(words[i]);
        if ((size_t)(json->in.end - json->in.at) >= length && memcmp(json->in.at, words[i], length) == 0) {
            json->in.at += length;
            return REC_OK;
        }
    }
    return lr_st_json_unexpected(json, "a value");
}

/* `"key":` */
static int32_t foreign_key(lr_st_json *json)
{
    uint64_t size = json->texts_size;
    lr_st_text key;
    int32_t status = lr_st_json_string(json, &key, "a key in quotes");
    json->texts_size = size;
    return status == REC_OK ? lr_st_json_expect(json, ':', "`:` after a key") : status;
}

int32_t lr_st_json_foreign(lr_st_json *json)
{
    char closing[FOREIGN_DEPTH];
    unsigned depth = 0;
    int32_t status = REC_OK;
    while (status == REC_OK) {
        lr_st_json_skip(json);
        if (json->in.at < json->in.end && (*json->in.at == '{' || *json->in.at == '[')) {
            if (depth == FOREIGN_DEPTH) {
                return rec_fail(json->job, REC_E_FORMAT, lr_json_input_offset(&json->in),
                                "lists and maps are nested deeper than %d levels", FOREIGN_DEPTH);
            }
            closing[depth++] = *json->in.at++ == '{' ? '}' : ']';
            if (!lr_st_json_next(json, closing[depth - 1])) {
                status = closing[depth - 1] == '}' ? foreign_key(json) : REC_OK;
                continue;
            }
        } else {
            status = foreign_scalar(json);
        }
        while (status == REC_OK && depth && lr_st_json_next(json, closing[depth - 1])) {
            json->in.at++;
            depth--;
        }
        if (status != REC_OK || !depth) {
            return status;
        }
        status = lr_st_json_expect(json, ',', closing[depth - 1] == '}' ? "`,` or `}`" : "`,` or `]`");
        if (status == REC_OK && closing[depth - 1] == '}') {
            status = foreign_key(json);
        }
    }
    return status;
}
