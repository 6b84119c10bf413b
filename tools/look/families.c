/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Which family of models a file is of, with the options that take it for that. */
#include <stdlib.h>
#include <string.h>

#include "tools/look/look.h"

/* One of several files is of the family of them all: its own keys are some of the layers. */
static void find_whole(session *s, const char *path, families *f)
{
    char *index = tool_index_of_part(path);
    rec_recorder *recorder = index ? tool_session_look(s, 1) : NULL;
    rec_record *record = recorder ? rec_load(recorder, index) : NULL;
    uint64_t count = 0;
    rec_families *found = record ? rec_record_families(record, index, &count) : NULL;

    if (found && count) { /* a set that cannot be read, or is of no family, is another matter */
        rec_free(f->at);
        f->at = found;
        f->count = count;
        f->whole = index;
    } else {
        rec_free(found);
        free(index);
    }
    rec_record_free(record);
    rec_close_recorder(recorder);
}

void tool_families_find(session *s, const rec_record *record, const char *path, families *f)
{
    *f = (families){0};
    if (!tool_is_of_others(record)) {
        return;
    }
    f->at = tool_families(record, strcmp(path, "-") == 0 ? NULL : path, &f->count);
    f->failed = f->at ? NULL : xstrdup(rec_error_message());
    if (!f->failed && !(f->count && rec_families_get(f->at, 0)->fits)) {
        find_whole(s, path, f);
    }
}

void tool_families_free(families *f)
{
    rec_free(f->at);
    free(f->failed);
    free(f->whole);
    *f = (families){0};
}

static void put(text *t, const char *string)
{
    tool_text_safe(t, string, strlen(string));
}

static void put_options(text *t, const rec_family *f)
{
    if (*f->select) {
        tool_text_put(t, "--select ");
        tool_text_quoted(t, f->select);
        tool_text_put(t, " ");
    }
    tool_text_put(t, "--profile ");
    put(t, f->profile);
}

void tool_families_text(const families *f, text *t)
{
    for (uint64_t i = 0; i < f->count; i++) {
        const rec_family *one = rec_families_get(f->at, i);
        tool_text_put(t, i ? " or " : "");
        tool_text_put(t, one->fits ? "" : "nearly ");
        put(t, one->name);
        tool_text_put(t, ": ");
        put_options(t, one);
        if (!one->fits) {
            tool_text_put(t, ", but ");
            put(t, one->but);
        } else if (*one->others && f->count == 1) {
            tool_text_put(t, " (for another destination: ");
            put(t, one->others);
            tool_text_put(t, ")");
        }
    }
    if (f->whole) {
        tool_text_put(t, ", as a part of ");
        put(t, f->whole);
    }
    if (f->count > 1 && rec_families_get(f->at, 0)->fits) {
        tool_text_put(t, "; its config.json, with model_type, would tell");
    }
}

void tool_json_families(json *j, const char *key, const families *f)
{
    tool_json_array(j, key);
    for (uint64_t i = 0; i < f->count; i++) {
        const rec_family *one = rec_families_get(f->at, i);
        tool_json_object(j, NULL);
        tool_json_string(j, "name", one->name);
        tool_json_string(j, "profile", one->profile);
        tool_json_bool(j, "fits", one->fits != 0);
        tool_json_string(j, "others", one->others);
        tool_json_string(j, "select", one->select);
        tool_json_string(j, "but", one->but);
        tool_json_close(j, '}');
    }
    tool_json_close(j, ']');
}
