/* SPDX-License-Identifier: MIT OR Apache-2.0
 * record edit merge: adds another record's values. Keys of both are rejected, or replaced with --overwrite. */
#include <stdlib.h>
#include <string.h>

#include "tools/edit/edit_private.h"

typedef struct merge {
    work *w;
    outcome *o;
    bool overwrite;
    const char *id; /* "": tensors get new ids, as the record has some and the other none */
    text path;
    uint64_t both, same;
    text first; /* keys that both have */
    int status;
} merge;

static bool is_container(int32_t kind)
{
    return kind == REC_KIND_LIST || kind == REC_KIND_MAP || kind == REC_KIND_VARIANT;
}

/* Whether two leaves hold the same: then it does not matter whose stays. */
static bool same_leaf(const rec_value *a, const rec_value *b)
{
    const rec_tensor *t = rec_value_tensor(a), *u = rec_value_tensor(b);

    if (rec_value_kind(a) != rec_value_kind(b) || is_container(rec_value_kind(a))) {
        return is_container(rec_value_kind(a)) && rec_value_kind(a) == rec_value_kind(b) && !rec_value_count(a) &&
               !rec_value_count(b);
    }
    if (t && u) {
        uint64_t size, other;
        const void *bytes, *others;
        if (rec_tensor_dtype(t) != rec_tensor_dtype(u) || rec_tensor_rank(t) != rec_tensor_rank(u) ||
            memcmp(rec_tensor_shape(t), rec_tensor_shape(u), rec_tensor_rank(t) * sizeof(uint64_t)) != 0) {
            return false;
        }
        bytes = rec_tensor_bytes(t, &size);
        others = bytes ? rec_tensor_bytes(u, &other) : NULL;
        return others && size == other && memcmp(bytes, others, (size_t)size) == 0;
    }
    if (rec_value_kind(a) == REC_KIND_BYTES) {
        uint64_t size, other;
        const void *bytes = rec_value_bytes(a, &size), *others = rec_value_bytes(b, &other);
        return size == other && (!size || memcmp(bytes, others, (size_t)size) == 0);
    }
    if (rec_value_kind(a) == REC_KIND_NUMBERS) {
        bool same = rec_value_count(a) == rec_value_count(b);
        for (uint64_t i = 0; i < rec_value_count(a) && same; i++) {
            same = tool_same_scalar(rec_value_number(a, i), rec_value_number(b, i));
        }
        return same;
    }
    return tool_same_scalar(rec_value_scalar(a), rec_value_scalar(b));
}

static void give_id(void *user, const char *path, const rec_value *leaf)
{
    merge *m = user;
    const rec_tensor *tensor = rec_value_tensor(leaf);

    if (tensor && m->status == EXIT_OK && tool_edit_class(rec_tensor_dtype(tensor))) {
        m->status = tool_edit_put(m->w, path, tensor, rec_tensor_dtype(tensor), m->id);
    }
}

static void put(merge *m, const rec_record *from, const rec_value *value)
{
    tool_edit_leaves(from, m->path.at, tool_edit_count_leaf, m->o);
    tool_edit_clear(m->w, m->path.at);
    if (rec_set_value(m->w->record, m->path.at, value) != REC_OK) {
        m->status = tool_fail_library();
    } else if (m->id) {
        tool_edit_leaves(from, m->path.at, give_id, m);
    }
}

/* Whether none of a record's tensors has an id. */
static bool lacks_ids(const rec_record *record)
{
    summary sums;
    bool none = tool_summarise(record, &sums) == EXIT_OK && !sums.ids;

    tool_summary_free(&sums);
    return none;
}

static void meet(merge *m, const rec_record *from, const rec_value *mine, const rec_value *theirs)
{
    if (same_leaf(mine, theirs)) {
        m->same++;
    } else if (m->overwrite) {
        put(m, from, theirs);
    } else if (m->both++ < 3) {
        tool_text_put(&m->first, m->first.length ? ", " : "");
        tool_text_safe(&m->first, m->path.at, m->path.length);
    }
}

/* Adds what is in `theirs`, which stands at the path, in its order. */
static void walk(merge *m, const rec_record *from, const rec_value *theirs)
{
    const rec_value *mine = rec_value_at(m->w->record, m->path.at);
    int32_t kind = rec_value_kind(theirs);

    if (!mine) {
        put(m, from, theirs);
        return;
    }
    /* A part of a list may have become a map of its numbers. */
    if (!is_container(kind) || !is_container(rec_value_kind(mine)) || !rec_value_count(theirs) ||
        (kind == REC_KIND_VARIANT) != (rec_value_kind(mine) == REC_KIND_VARIANT) ||
        (kind == REC_KIND_VARIANT && !tool_same_scalar(rec_value_key(mine, 0), rec_value_key(theirs, 0)))) {
        meet(m, from, mine, theirs);
        return;
    }
    for (uint64_t i = 0; i < rec_value_count(theirs) && m->status == EXIT_OK; i++) {
        size_t before = tool_edit_add_child(&m->path, theirs, i);
        walk(m, from, rec_value_item(theirs, i));
        m->path.length = before;
        m->path.at[before] = '\0';
    }
}

/* Metadata of the other that this one lacks; what tells how a file was written stays its own. */
static void add_metadata(merge *m, const rec_record *from)
{
    const char *key;

    for (uint64_t i = 0; i < rec_metadata_count(from); i++) {
        if (rec_metadata_get(from, i, &key, NULL) == REC_OK && !rec_metadata(m->w->record, key) &&
            !tool_is_burns_key(key) && rec_metadata_value(from, key)) {
            (void)rec_metadata_set_value(m->w->record, key, rec_metadata_value(from, key));
        }
    }
}

int tool_edit_merge(work *w, const step *todo, outcome *o)
{
    const char *const *operands = todo->operands;
    merge m = {.w = w, .o = o, .overwrite = tool_own(w->s->o, "overwrite") != NULL};
    rec_recorder *reader = tool_edit_reader(w->s, todo->place + 1, !tool_is_of_others(w->record));
    rec_record *from = reader ? tool_session_load_typed(w->s, reader, operands[0]) : NULL;
    char number[NUMBER_ROOM];

    rec_close_recorder(reader);
    if (!from) {
        return EXIT_ERROR;
    }
    tool_notes_take(&w->notes);
    tool_text_put(&m.path, "");
    if (rec_value_kind(rec_root(from)) != REC_KIND_MAP || rec_value_kind(rec_root(w->record)) != REC_KIND_MAP) {
        m.status =
            tool_fail("merge %s: a record that is not a map of names cannot be merged", tool_input_name(operands[0]));
    } else {
        tool_edit_hold(w, from);
        m.status = lacks_ids(from) ? tool_edit_new_id(w, &m.id) : EXIT_OK;
        if (m.status == EXIT_OK) {
            /* An empty record has nothing that could take the place of something. */
            if (rec_value_count(rec_root(from))) {
                walk(&m, from, rec_root(from));
            }
            add_metadata(&m, from);
        }
        from = NULL;
    }
    if (m.status == EXIT_OK && m.both) {
        m.status = tool_fail("merge %s: %s key%s in both, and not the same: %s%s\nWith --overwrite the later record's "
                             "count; a --prefix before the file puts its keys elsewhere.",
                             tool_input_name(operands[0]), tool_grouped(m.both, number), m.both == 1 ? " is" : "s are",
                             m.first.at, m.both > 3 ? ", ..." : "");
    }
    if (m.status == EXIT_OK) {
        tool_text_format(&o->said, "%s tensor%s", tool_grouped(o->tensors, number), tool_plural(o->tensors));
        tool_text_format(&o->said, ", %s added", tool_sized(o->nbytes, number));
        if (m.same) {
            tool_text_format(&o->said, "; %s the same in both", tool_grouped(m.same, number));
        }
    }
    rec_record_free(from);
    tool_text_free(&m.path);
    tool_text_free(&m.first);
    return m.status;
}
