/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Differences of Burn's own store (SafetensorsStore, since 0.19): raw identifiers in the names of fields, and element
 * types that make it reject a whole file. */
#include <librecord/plugin_types.h>
#include <inttypes.h>
#include <stdio.h>

#include "plugins/codec/safetensors/safetensors.h"

const rec_option lr_st_burn_store = {
    .size = sizeof lr_st_burn_store,
    .type = REC_OPTION_BOOL,
    .name = "burn-store",
    .initial = "no",
    .help = "save for Burn's store: a field `type` is `r#type`, and notes report what it rejects; yes for layouts of "
            "Burn 0.19 or later",
};

bool lr_st_has_word(const char *path, uint64_t length)
{
    const char *end = path + length, *dot;
    for (; path <= end; path = dot + 1) {
        dot = memchr(path, '.', (size_t)(end - path));
        dot = dot ? dot : end;
        if (rec_is_rust_word(path, (uint64_t)(dot - path))) {
            return true;
        }
    }
    return false;
}

void lr_st_put_raw(lr_buffer *b, const char *path, uint64_t length)
{
    const char *end = path + length, *dot;
    for (const char *part = path; part <= end; part = dot + 1) {
        dot = memchr(part, '.', (size_t)(end - part));
        dot = dot ? dot : end;
        lr_put(b, ".", part > path);
        lr_put(b, "r#", rec_is_rust_word(part, (uint64_t)(dot - part)) ? 2 : 0);
        lr_put(b, part, (uint64_t)(dot - part));
    }
}

static bool is_refused(rec_dtype dtype)
{
    return dtype == REC_DTYPE_U16 || dtype == REC_DTYPE_OPAQUE;
}

/* Which names a note speaks of: the first, and how many more. */
static void note(const lr_st_tree *tree, uint64_t count, const lr_st_tensor *first, const char *what)
{
    lr_codec_excerpt brief;
    char more[48] = "";
    if (count > 1) {
        (void)snprintf(more, sizeof more, " and %" PRIu64 " more", count - 1);
    }
    if (count) {
        rec_job_note(tree->job, REC_NOTE_LAYOUT, "", "%s%s%s", lr_codec_shown(&brief, first->key, first->key_length),
                     more, what);
    }
}

static bool is_text(const rec_scalar *scalar, const char *text)
{
    return lr_text_is(scalar->text, scalar->v.length, text);
}

int32_t lr_st_set_adapter(rec_job *job, const rec_scalar *key, const rec_scalar *value)
{
    if (is_text(key, "producer") && is_text(value, "burn")) {
        return rec_job_set_adapter(job, "either");
    }
    return is_text(key, "format") && is_text(value, "flax") ? rec_job_set_adapter(job, "flax") : REC_OK;
}

void lr_st_note_store(const lr_st_tree *tree)
{
    const lr_st_tensor *first_refused = NULL, *first_bytes = NULL, *first_word = NULL;
    uint64_t refused = 0, bytes = 0, words = 0;
    for (uint64_t i = 0; i < tree->count; i++) {
        const lr_st_tensor *t = &tree->tensors[i];
        if (is_refused(lr_st_types[t->type].dtype) && refused++ == 0) {
            first_refused = t;
        } else if (t->quantised && bytes++ == 0) {
            first_bytes = t;
        }
        if (lr_st_has_word(t->key, t->key_length) && words++ == 0) {
            first_word = t;
        }
    }
    if (tree->for_store) {
        note(tree, refused, first_refused,
             ": of an element type that Burn's store does not know; it rejects the whole file");
        note(tree, bytes, first_bytes, ": quantised, and stored as bytes; Burn's store cannot load it");
    } else if (!tree->paths) {
        note(tree, words, first_word,
             ": the name of a field that is a word of Rust, which Burn's store has with r# (burn-store = yes, or the "
             "layout "
             "of Burn 0.19 or later)");
        if (tree->count && !tree->only_tensors) { /* explicit selections have their own note */
            rec_job_note(tree->job, REC_NOTE_LAYOUT, "",
                         "written with Burn's names and layout; for a model that PyTorch loads, use reverse");
        }
    }
}
