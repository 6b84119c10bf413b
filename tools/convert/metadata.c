/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Metadata that the command line sets: VALUE, TYPE VALUE, @FILE. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/convert/convert.h"

/* The length of the type that a value begins with, "[u8]" of "[u8] [1, 2]"; 0: it begins with none. */
static size_t type_length(const char *value)
{
    static const char *const types[] = {"u8",  "u16", "u32", "u64", "i8",   "i16",
                                        "i32", "i64", "f32", "f64", "bool", "str"};
    size_t open = strspn(value, "["), length = strcspn(value + open, " ]"), end = open + length;

    if (strspn(value + end, "]") != open || value[end + open] != ' ') {
        return 0;
    }
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (strlen(types[i]) == length && strncmp(value + open, types[i], length) == 0) {
            return end + open;
        }
    }
    return 0;
}

/* All of a file as a text. */
static int read_text(const char *path, text *t)
{
    if (!tool_text_read(t, path)) {
        return tool_fail("%s: %s", path, strerror(errno));
    }
    return strlen(t->at) == t->length ? EXIT_OK
                                      : tool_fail("%s: byte %zu: expected a text, found a NUL", path, strlen(t->at));
}

static int set_as(rec_record *record, const char *what, const char *key, const char *type, const char *value)
{
    char old[80];

    if (rec_metadata_set_as(record, key, type, value) == REC_OK) {
        return EXIT_OK;
    }
    if (rec_error_status() != REC_E_ARGUMENT || !strstr(rec_error_message(), "expected a value of the type")) {
        return tool_fail_library();
    }
    if (type) {
        return tool_fail("%s %s: expected a value of the type %s, found \"%.60s\"", what, key, type, value);
    }
    (void)rec_value_type(rec_metadata_value(record, key), old, sizeof old);
    return tool_fail("%s %s: expected a value of its type, %.60s, found \"%.60s\"\nA type before the value changes it: "
                     "'str %.20s'.",
                     what, key, old, value, value);
}

/* What a record of Burn says of itself is not set but follows from how it is written. */
static int check_key(const rec_record *record, const char *what, const char *key)
{
    static const struct {
        const char *key, *option;
    } chosen[] = {
        {"version", "burn"}, {"format", "to"}, {"float", "precision"}, {"int", "precision"}, {"settings", "precision"}};

    for (size_t i = 0; i < sizeof chosen / sizeof *chosen && !tool_is_of_others(record); i++) {
        if (strcmp(key, chosen[i].key) == 0) {
            return tool_fail("%s %s: it describes how the record is written; use --%s", what, key, chosen[i].option);
        }
    }
    return EXIT_OK;
}

int tool_set_metadata(rec_record *record, const char *what, const char *key, const char *value)
{
    size_t length = type_length(value);
    char *type = length ? xasprintf("%.*s", (int)length, value) : NULL;
    text file = {0};
    int status = EXIT_OK;

    if (check_key(record, what, key) != EXIT_OK) {
        free(type);
        return EXIT_ERROR;
    }
    if (!*value) {
        return rec_metadata_set(record, key, NULL) == REC_OK ? EXIT_OK : tool_fail_library();
    }
    value += length + (length > 0);
    if (*value == '@' && !(type && strcmp(type, "str") == 0)) {
        status = read_text(value + 1, &file);
        value = file.at;
    }
    status = status == EXIT_OK ? set_as(record, what, key, type, value) : status;
    tool_text_free(&file);
    free(type);
    return status;
}
