/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Keys in an edit: one, or all that a pattern matches. */
#include <stdlib.h>
#include <string.h>

#include "tools/edit/edit_private.h"

/* ------------------------------------------------------------------------------------------------------- paths -- */

size_t tool_edit_add_child(text *path, const rec_value *value, uint64_t index)
{
    size_t before = path->length;

    if (before) {
        tool_text_put(path, ".");
    }
    tool_text_child(path, value, index);
    return before;
}

static void cut(text *path, size_t length)
{
    path->length = length;
    path->at[length] = '\0';
}

static void walk_leaves(const rec_value *value, text *path, leaf_fn each, void *user)
{
    int32_t kind = rec_value_kind(value);
    uint64_t count = rec_value_count(value);

    if ((kind != REC_KIND_LIST && kind != REC_KIND_MAP && kind != REC_KIND_VARIANT) || !count) {
        each(user, path->at ? path->at : "", value);
        return;
    }
    for (uint64_t i = 0; i < count; i++) {
        size_t before = tool_edit_add_child(path, value, i);
        walk_leaves(rec_value_item(value, i), path, each, user);
        cut(path, before);
    }
}

void tool_edit_leaves(const rec_record *record, const char *path, leaf_fn each, void *user)
{
    const rec_value *value = rec_value_at(record, path);
    text at = {0};

    tool_text_put(&at, path);
    if (value) {
        walk_leaves(value, &at, each, user);
    }
    tool_text_free(&at);
}

rec_record *tool_edit_husk(const rec_record *record)
{
    rec_record *copy = rec_record_copy(record);

    for (uint64_t i = copy ? rec_value_count(rec_root(copy)) : 0; i-- > 0;) {
        text path = {0};
        tool_edit_add_child(&path, rec_root(copy), i);
        if (rec_remove(copy, path.at) != REC_OK) {
            rec_record_free(copy);
            copy = NULL;
            i = 0;
        }
        tool_text_free(&path);
    }
    return copy;
}

/* ---------------------------------------------------------------------------------------------------- patterns -- */

static void add_found(found *f, const char *path)
{
    f->at = tool_grown(f->at, f->count, sizeof *f->at);
    f->at[f->count++] = xstrdup(path);
}

/* Walks from the root, so that a match includes everything below it. An excluding pattern selects leaves. */
static void walk_pattern(key_patterns *p, bool leaves, const rec_value *value, text *path, found *f)
{
    int32_t kind = rec_value_kind(value);
    uint64_t count = rec_value_count(value);
    bool leaf = (kind != REC_KIND_LIST && kind != REC_KIND_MAP && kind != REC_KIND_VARIANT) || !count;

    if (path->length && (leaf || !leaves) && tool_patterns_match(p, path->at)) {
        add_found(f, path->at);
        return;
    }
    for (uint64_t i = 0; i < count && !leaf; i++) {
        size_t before = tool_edit_add_child(path, value, i);
        walk_pattern(p, leaves, rec_value_item(value, i), path, f);
        cut(path, before);
    }
}

int tool_edit_find(const rec_record *record, const char *key, found *f)
{
    key_patterns *p;
    size_t before = f->count;
    text path = {0};
    int status = EXIT_OK;

    if (rec_value_at(record, key)) {
        f->exact = true;
        add_found(f, key);
        return EXIT_OK;
    }
    if (*key != '!' && !strpbrk(key, "*?[{#")) {
        (void)rec_tensor_at(record, key); /* whose error names what is near */
        return tool_fail_library();
    }
    p = tool_patterns_make(&key, 1);
    if (!p) {
        return EXIT_ERROR;
    }
    tool_text_put(&path, "");
    walk_pattern(p, *key == '!', rec_root(record), &path, f);
    if (f->count == before) {
        status =
            tool_fail("no key matches %s\nIn patterns * is any text, dots too, # a number, {a,b} alternatives.", key);
    }
    tool_patterns_free(p);
    tool_text_free(&path);
    return status;
}

void tool_edit_found_free(found *f)
{
    for (size_t i = 0; i < f->count; i++) {
        free(f->at[i]);
    }
    free(f->at);
    *f = (found){0};
}
