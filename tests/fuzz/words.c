/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Small things that people type: numbers, words, names; paths in a record. The first line is a path, the rest more. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/record/record.h"
#include "tests/fuzz/fuzz.h"

static void numbers(const char *text, size_t length)
{
    lr_suggestion near;
    lr_excerpt brief;
    bool yes;
    int64_t whole;
    double number;
    char digits[64], *end;
    if (lr_number_read(text, length, &number)) {
        fuzz_must(!isnan(number), "a number is one");
        fuzz_must(memchr(text, ',', length) || strtod(text, &end) == number || end != text + length,
                  "as the system reads it");
    }
    if (lr_int_read(text, &whole)) {
        (void)snprintf(digits, sizeof digits, "%lld", (long long)whole);
        fuzz_must(strtoll(text, NULL, 10) == whole, "a whole number");
    }
    (void)lr_bool_read(text, &yes);
    (void)lr_key_valid(text);
    fuzz_must(lr_number_name(text, length) <= length, "a name lies in its text");
    fuzz_must(strlen(lr_excerpt_text(&brief, text)) < sizeof brief.text, "an excerpt fits");
    lr_suggestion_begin(&near, text);
    lr_suggestion_try(&near, "transpose");
    lr_suggestion_try(&near, "weight_norm");
    fuzz_must(!lr_name_valid(text) || lr_name_same(text, text), "a name is itself");
}

/* What is put at a path is there, and nothing else is when it is gone. */
static void paths(rec_context *context, const char *path, const char *other)
{
    rec_record *record = rec_record_new(context), *copy;
    char name[512], again[1024];
    fuzz_must(record != NULL, "a record");
    if (rec_set_uint(record, path, 7) == REC_OK) {
        const rec_value *value = rec_value_at(record, path);
        fuzz_must(value && rec_value_scalar(value).v.u == 7, "what was put is there");
        copy = rec_record_copy(record);
        fuzz_must(copy && (rec_value_at(copy, path) != NULL), "and in a copy");
        if (rec_set_string(copy, other, "x") == REC_OK) {
            value = rec_value_at(copy, other);
            fuzz_must(value && rec_value_kind(value) == REC_KIND_STRING, "so is another");
            (void)rec_remove(copy, other);
        }
        rec_record_free(copy);
        fuzz_must(rec_remove(record, path) == REC_OK || path[0] == '\0', "it can be removed");
        fuzz_must(path[0] == '\0' || !rec_value_at(record, path), "and is gone");
    } else {
        fuzz_must_say();
    }
    (void)rec_tensor_at(record, path);
    rec_record_free(record);
    if (strlen(path) < 256) {
        uint64_t length = rec_path_escape(path, strlen(path), name, sizeof name);
        fuzz_must(length == strlen(name) && length <= 2 * strlen(path), "an escaped name fits");
        (void)rec_path_unescape(name, length, again, sizeof again);
        fuzz_must(strcmp(again, path) == 0, "and comes back");
    }
}

int fuzz_words(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size), *rest = strchr(text, '\n');
    size_t valid = lr_utf8_valid((const char *)data, size);
    fuzz_must(valid <= size && lr_utf8_valid((const char *)data, valid) == valid, "what is valid stays so");
    fuzz_must(size == 0 || lr_character_begin(text, valid ? valid - 1 : 0) <= valid, "a character begins");
    if (rest) {
        *rest++ = '\0';
    }
    paths(fuzz_context(size), text, rest ? rest : "a.0.b");
    numbers(rest ? rest : text, strlen(rest ? rest : text));
    free(text);
    return 1;
}
