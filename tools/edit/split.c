/* SPDX-License-Identifier: MIT OR Apache-2.0
 * record edit split: one record becomes several, by the first levels of its keys or by element types. */
#include <stdlib.h>
#include <string.h>

#include "tools/edit/edit_private.h"

enum { PARTS_MOST = 4096, BY_TYPE = 0 };

typedef struct splitting {
    work *w;
    uint64_t levels; /* BY_TYPE, or so many levels of a key */
    bool strip;
    part *parts;
    size_t count;
    void *known; /* parts by their names */
    int status;
} splitting;

/* The length of the first levels of a path. */
static size_t head_length(const char *path, uint64_t levels)
{
    const char *at = path;

    for (; *at; at += *at == '\\' && at[1] ? 2 : 1) {
        if (*at == '.' && --levels == 0) {
            break;
        }
    }
    return (size_t)(at - path);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const part *)a)->name, ((const part *)b)->name);
}

/* @return the part of that name, made if it is not there; NULL with the error printed. */
static part *part_of(splitting *sp, const char *name, size_t length)
{
    part wanted = {.name = xasprintf("%.*s", (int)length, name)}, *p = tool_known_find(&sp->known, &wanted, by_name);

    if (p) {
        free(wanted.name);
    } else if (sp->count == PARTS_MOST) {
        (void)tool_fail("split: more than %d parts\nSplit by fewer levels; by size that is convert --max-shard-size.",
                        PARTS_MOST);
        free(wanted.name);
    } else {
        p = &sp->parts[sp->count++];
        *p = wanted;
        (void)tool_known_add(&sp->known, p, by_name);
    }
    return p;
}

/* Counts what goes where. */
static void count_leaf(void *user, const char *path, const rec_value *leaf)
{
    splitting *sp = user;
    const rec_tensor *tensor = rec_value_tensor(leaf);
    const char *name = sp->levels != BY_TYPE ? path : tensor ? rec_tensor_dtype_name(tensor) : "values";
    part *p;

    if (sp->status != EXIT_OK) {
        return;
    }
    p = part_of(sp, name, sp->levels != BY_TYPE ? head_length(path, sp->levels) : strlen(name));
    if (!p) {
        sp->status = EXIT_ERROR;
        return;
    }
    p->tensors += tensor != NULL;
    p->values += tensor == NULL;
}

/* One level after the other, so that structs stay structs. */
static int fill_part(splitting *sp, const rec_record *empty, part *p)
{
    const rec_value *value = rec_value_at(sp->w->record, p->name);
    int32_t kind = rec_value_kind(value);
    bool whole = kind == REC_KIND_LIST || kind == REC_KIND_MAP || kind == REC_KIND_VARIANT;

    p->record = rec_record_copy(empty);
    if (!p->record) {
        return tool_fail_library();
    }
    if (sp->strip && kind == REC_KIND_MAP) {
        text path = {0};
        rec_status status = REC_OK;
        for (uint64_t i = 0; i < rec_value_count(value) && status == REC_OK; i++) {
            tool_edit_add_child(&path, value, i);
            status = rec_set_value(p->record, path.at, rec_value_item(value, i));
            path.length = 0;
        }
        tool_text_free(&path);
        return status == REC_OK ? EXIT_OK : tool_fail_library();
    }
    if (sp->strip) {
        return tool_fail("split: %s is %s, whose name cannot be stripped", p->name,
                         whole ? "a list or a variant" : "a single value");
    }
    return rec_set_value(p->record, p->name, value) == REC_OK ? EXIT_OK : tool_fail_library();
}

/* By element type: each part is the record without the others' tensors. */
static void copy_leaf(void *user, const char *path, const rec_value *leaf)
{
    splitting *sp = user;
    const rec_tensor *tensor = rec_value_tensor(leaf);
    const char *name = tensor ? rec_tensor_dtype_name(tensor) : "values";
    part *p = sp->status == EXIT_OK ? part_of(sp, name, strlen(name)) : NULL;

    if (p && rec_set_value(p->record, path, leaf) != REC_OK) {
        sp->status = tool_fail("split: %s cannot stand alone: %s\nSplit by keys, or rename it first (mv).", path,
                               rec_error_message());
    }
}

static int read_levels(const char *by, uint64_t *levels)
{
    char *end;

    if (strcmp(by, "key") == 0) {
        *levels = 1;
    } else if (strcmp(by, "dtype") == 0) {
        *levels = BY_TYPE;
    } else {
        *levels = strtoull(by, &end, 10);
        if (*by < '1' || *by > '9' || *end || *levels > 64) {
            return tool_fail("--by: expected key, dtype, or a number of levels, found \"%s\"\nBy size: record convert "
                             "--max-shard-size SIZE IN OUT.",
                             by);
        }
    }
    return EXIT_OK;
}

int tool_edit_split(work *w, const char *by, bool strip, part **parts, size_t *count)
{
    splitting sp = {.w = w, .strip = strip, .parts = xmalloc(PARTS_MOST * sizeof *sp.parts)};
    rec_record *empty = NULL;

    *parts = NULL;
    *count = 0;
    sp.status = read_levels(by, &sp.levels);
    if (sp.status == EXIT_OK && rec_value_kind(rec_root(w->record)) != REC_KIND_MAP) {
        sp.status = tool_fail("split: the record is not a map of names");
    }
    if (sp.status == EXIT_OK && !rec_value_count(rec_root(w->record))) {
        sp.status = tool_fail("split: the record is empty");
    }
    if (sp.status == EXIT_OK && strip && sp.levels == BY_TYPE) {
        sp.status = tool_fail("--strip is for a split by keys");
    }
    if (sp.status == EXIT_OK) {
        tool_edit_leaves(w->record, "", count_leaf, &sp);
    }
    if (sp.status == EXIT_OK && !(empty = tool_edit_husk(w->record))) {
        sp.status = tool_fail_library();
    }
    for (size_t i = 0; i < sp.count && sp.status == EXIT_OK; i++) {
        if (sp.levels == BY_TYPE) {
            sp.parts[i].record = rec_record_copy(empty);
            sp.status = sp.parts[i].record ? EXIT_OK : tool_fail_library();
        } else {
            sp.status = fill_part(&sp, empty, &sp.parts[i]);
        }
    }
    if (sp.status == EXIT_OK && sp.levels == BY_TYPE) {
        tool_edit_leaves(w->record, "", copy_leaf, &sp);
    }
    rec_record_free(empty);
    tool_known_free(&sp.known, by_name);
    if (sp.status != EXIT_OK) {
        tool_edit_parts_free(sp.parts, sp.count);
        return sp.status;
    }
    *parts = sp.parts;
    *count = sp.count;
    return EXIT_OK;
}

void tool_edit_parts_free(part *parts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(parts[i].name);
        rec_record_free(parts[i].record);
        tool_edit_close(&parts[i].to);
    }
    free(parts);
}
