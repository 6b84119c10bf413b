/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The check of a save: the walk's events to the writer are kept as a table of leaves, and a reader's events from the
 * result are compared with it. Bytes that stay in place during the save are compared directly, bytes produced on the
 * way by a hash. */
#include "burn/visit/check_private.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "burn/visit/walk_private.h"
#include "core/io/io.h"

/* Bytes that are compared at a time: both halves stay in the second-level cache. */
enum { TILE = 128 * 1024 };
/* Progress is reported, and pages of a map are dropped, after so many bytes. */
#define PIECE (UINT64_C(4) << 20)

/* ------------------------------------------------------------------------------------------------------- words -- */

static void words_of(const lr_leaf *leaf, const lr_leaf_words *words, char *text, size_t room)
{
    char shape[128], digits[40];
    lr_excerpt brief;
    double number;
    switch (leaf->kind) {
    case LR_LEAF_NIL:
        (void)snprintf(text, room, "nothing (nil)");
        break;
    case LR_LEAF_BOOL:
        (void)snprintf(text, room, "%s", leaf->count ? "true" : "false");
        break;
    case LR_LEAF_INT:
        if (leaf->hash) {
            (void)snprintf(text, room, "the integer %" PRId64, (int64_t)leaf->count);
        } else {
            (void)snprintf(text, room, "the integer %" PRIu64, leaf->count);
        }
        break;
    case LR_LEAF_FLOAT:
        memcpy(&number, &leaf->count, sizeof number);
        (void)snprintf(text, room, "the float %s", lr_number_put(digits, sizeof digits, 'g', 17, number));
        break;
    case LR_LEAF_STRING: {
        char cut[LR_NAME_MOST + 2];
        size_t length = leaf->count < sizeof cut ? (size_t)leaf->count : sizeof cut - 1;
        memcpy(cut, words->scalar->text, length);
        cut[length] = '\0';
        (void)snprintf(text, room, "\"%s\"", lr_excerpt_text(&brief, cut));
        break;
    }
    case LR_LEAF_LIST:
        (void)snprintf(text, room, "a list of %" PRIu64 " numbers", leaf->count);
        break;
    default:
        (void)snprintf(text, room, "a tensor %s %s%s%s",
                       rec_dtype_bits(words->tensor->dtype) || !words->tensor->dtype_name
                           ? rec_dtype_name(words->tensor->dtype)
                           : words->tensor->dtype_name,
                       lr_shape_words(shape, sizeof shape, words->tensor->shape, words->tensor->rank),
                       leaf->has_id ? " with the id " : "", leaf->has_id ? words->tensor->id : "");
        break;
    }
}

static int32_t on_leaf(lr_check *c, uint64_t place, uint64_t at, lr_leaf *leaf, const lr_leaf_words *words,
                       const rec_blob *blob);
static void overhear(void *user, rec_visitor *visitor, void **self);

/* Finds by another walk what was written at a place, and where that is: neither is kept. */
static int32_t seek(lr_check *c, uint64_t place)
{
    static const rec_visitor nobody = {.size = sizeof(rec_visitor)};
    rec_job *job = c->job;
    uint64_t (*where)(void *, char *, size_t) = job->where;
    void *user = job->where_user;
    lr_check walk = {.job = job, .leaf = on_leaf, .tensors = c->tensors, .sought = place};
    lr_job_burn burn = job->burn;
    bool quiet = job->quiet;
    int32_t status;
    job->quiet = true;
    job->burn = c->burn;
    job->walk->listener = &walk;
    status = lr_walk_all(job, &nobody, NULL);
    job->walk->listener = c;
    job->quiet = quiet;
    job->burn = burn;
    job->where = where;
    job->where_user = user;
    lr_release(job->allocator, walk.frames);
    memcpy(c->sought_path, walk.sought_path, sizeof c->sought_path);
    memcpy(c->sought_words, walk.sought_words, sizeof c->sought_words);
    return status;
}

void lr_check_hint(lr_check *c)
{
    rec_fail_hint(c->job, "The output does not read back correctly, so the file was not replaced. This is an error of "
                          "the writer or the disk; please report it.");
}

/* @param how what is different where the words are the same. */
static int32_t differs(lr_check *c, uint64_t place, uint64_t at, const lr_leaf *leaf, const lr_leaf_words *words,
                       const char *how)
{
    char found[256];
    words_of(leaf, words, found, sizeof found);
    if (seek(c, place) == REC_OK) {
        /* The start of a text shows the difference, or does not; ids may be missing without harm. */
        bool same = leaf->kind != LR_LEAF_STRING || strcmp(found, c->sought_words) == 0;
        (void)rec_fail_found(c->job, REC_E_FORMAT, at, c->sought_words, "%s%s", found, same ? how : "");
        lr_check_hint(c);
    }
    return c->job->error.status;
}

static int32_t unexpected(lr_check *c, uint64_t at, const lr_leaf *leaf, const lr_leaf_words *words, bool twice)
{
    char found[256];
    words_of(leaf, words, found, sizeof found);
    (void)rec_fail_found(c->job, REC_E_FORMAT, at, twice ? "one value" : "no value", "%s%s", found,
                         twice ? " as another one" : "");
    lr_check_hint(c);
    return c->job->error.status;
}

/* -------------------------------------------------------------------------------------------------------- data -- */

/* Bytes of a source were read back. */
static int32_t moved_on(lr_check *c, uint64_t bytes, const rec_source *source)
{
    uint64_t before = c->compared / PIECE;
    c->compared += bytes;
    if (c->compared / PIECE == before) {
        return REC_OK;
    }
    lr_source_forget(source);
    return rec_job_progress(c->job, c->compared < c->total ? c->compared : c->total, c->total);
}

/* The bytes of a blob, one tile after the other. */
typedef struct tiles {
    const rec_blob *blob;
    bool found; /* it was read back; else it is what was written */
    uint64_t done;
    const uint8_t *at; /* the next tile… */
    uint64_t size;     /* …and its size; 0: the end */
} tiles;

static int32_t next_tile(lr_check *c, tiles *t, uint8_t *room)
{
    const rec_blob *blob = t->blob;
    uint64_t size = blob->length - t->done < TILE ? blob->length - t->done : TILE;
    int32_t status = REC_OK;
    bool lies = blob->kind == REC_BLOB_VIEW || blob->kind == REC_BLOB_TEMPORARY;
    t->at = lies ? (const uint8_t *)blob->data + t->done : room;
    t->size = size;
    if (size && !lies) {
        status = rec_blob_read(c->job, blob, t->done, room, size);
    }
    t->done += size;
    return status == REC_OK && t->found ? moved_on(c, size, blob->source) : status;
}

static bool make_tile(lr_check *c)
{
    if (!c->tile) {
        c->tile = lr_job_alloc(c->job, 2 * (uint64_t)TILE);
    }
    return c->tile != NULL;
}

static int32_t hash_blob(lr_check *c, const rec_blob *blob, bool found, uint64_t *sum)
{
    tiles t = {.blob = blob, .found = found};
    lr_hash hash;
    int32_t status = make_tile(c) ? REC_OK : c->job->error.status;
    lr_hash_begin(&hash);
    while (status == REC_OK && (status = next_tile(c, &t, c->tile)) == REC_OK && t.size) {
        lr_hash_add(&hash, t.at, t.size);
    }
    *sum = lr_hash_end(&hash);
    return status;
}

/* Returns the written bytes. */
static rec_blob written_blob(const lr_leaf *written)
{
    return (rec_blob){.size = sizeof(rec_blob),
                      .kind = written->data ? REC_BLOB_VIEW : REC_BLOB_RANGE,
                      .length = written->count,
                      .data = written->data,
                      .source = written->source,
                      .offset = written->offset};
}

static bool lies_somewhere(const lr_leaf *written)
{
    return written->data || written->source;
}

/* @param same (out) whether they are. @param at (out) the first byte that is not. */
static int32_t compare_blobs(lr_check *c, const rec_blob *written, const rec_blob *found, bool *same, uint64_t *at)
{
    tiles left = {.blob = written}, right = {.blob = found, .found = true};
    int32_t status = make_tile(c) ? REC_OK : c->job->error.status;
    *same = true;
    while (status == REC_OK && *same) {
        status = next_tile(c, &left, c->tile);
        status = status == REC_OK ? next_tile(c, &right, c->tile + TILE) : status;
        if (status != REC_OK || !left.size) {
            break;
        }
        if (memcmp(left.at, right.at, (size_t)left.size) != 0) {
            *same = false;
            *at = left.done - left.size;
            while (*left.at == *right.at) {
                left.at++;
                right.at++;
                ++*at;
            }
        }
    }
    return status;
}

/* Whether data that were read back are what was written. The counts are the same. */
static int32_t compare_data(lr_check *c, lr_leaf *written, const lr_leaf *found, const rec_blob *blob, bool *same,
                            char *how, size_t room)
{
    uint64_t hash = found->hash, at = 0;
    int32_t status = REC_OK;
    (void)snprintf(how, room, ", whose data differ");
    if (blob && lies_somewhere(written)) {
        rec_blob expected = written_blob(written);
        status = compare_blobs(c, &expected, blob, same, &at);
        (void)snprintf(how, room, ", whose byte %" PRIu64 " of %" PRIu64 " differs", at, written->count);
        return status;
    }
    if (blob) {
        status = hash_blob(c, blob, true, &hash);
    }
    if (status == REC_OK && !written->hashed && lies_somewhere(written)) {
        rec_blob expected = written_blob(written);
        status = hash_blob(c, &expected, false, &written->hash);
        written->hashed = status == REC_OK;
    }
    *same = (written->hashed && hash == written->hash) || (written->loose && hash == written->other);
    if (!written->hashed) {
        (void)snprintf(how, room, ", whose data the writer did not read");
    }
    return status;
}

/* ----------------------------------------------------------------------------------------------------- reading -- */

static bool same_number(const lr_leaf *written, const lr_leaf *found)
{
    double was, is;
    if (written->kind == LR_LEAF_FLOAT) {
        memcpy(&was, &written->count, sizeof was);
        memcpy(&is, &found->count, sizeof is);
        return found->kind == LR_LEAF_NIL ? !isfinite(was)
                                          : lr_float_bits(was, written->narrow) == lr_float_bits(is, written->narrow);
    }
    return written->count == found->count && written->hash == found->hash;
}

/* Types of Burn's alone are others to formats that have no name for them: the same bytes, as their notes say. */
static bool same_type(rec_dtype written, rec_dtype found)
{
    return written == found || (written == REC_DTYPE_BOOL8 && found == REC_DTYPE_BOOL) ||
           (written == REC_DTYPE_BOOL32 && found == REC_DTYPE_U32) ||
           (written == REC_DTYPE_FLEX32 && found == REC_DTYPE_F32);
}

static int32_t hold(lr_check *c, lr_leaf *written, uint64_t place, uint64_t at, lr_leaf *found,
                    const lr_leaf_words *words, const rec_blob *blob)
{
    char how[96] = "";
    bool same = written->kind == found->kind ||
                (written->kind == LR_LEAF_FLOAT && found->kind == LR_LEAF_NIL) || /* JSON has null for NaN */
                (written->kind == LR_LEAF_NIL && written->loose && found->kind == LR_LEAF_LIST && !found->count);
    int32_t status = REC_OK;
    if (same && written->kind == LR_LEAF_STRING) {
        same = written->count == found->count && written->hash == found->hash;
        (void)snprintf(how, sizeof how, ", which continues differently");
    } else if (same && (written->kind == LR_LEAF_LIST || written->kind == LR_LEAF_TENSOR)) {
        same = written->count == found->count && same_type(written->dtype, found->dtype) &&
               (written->kind == LR_LEAF_LIST || written->sizes == found->sizes);
        if (same && written->has_id && found->has_id) {
            same = written->id == found->id;
        }
        c->with_id = c->with_id || (written->has_id && found->has_id);
        c->without_id = written->has_id && !found->has_id ? place : c->without_id;
        if (same) {
            status = compare_data(c, written, found, blob, &same, how, sizeof how);
        }
    } else if (same && written->kind != LR_LEAF_NIL) {
        same = same_number(written, found);
    }
    written->seen = true;
    c->with_values = c->with_values || (written->kind != LR_LEAF_TENSOR && !written->spare);
    return status != REC_OK ? status : same ? REC_OK : differs(c, place, at, found, words, how);
}

/* Adds a leaf to the table, or compares it with the table. */
static int32_t on_leaf(lr_check *c, uint64_t place, uint64_t at, lr_leaf *leaf, const lr_leaf_words *words,
                       const rec_blob *blob)
{
    lr_leaf *written;
    place += place == 0;
    if (c->sought) {
        if (c->sought == place || c->sought == lr_check_other_place(c, place)) {
            words_of(leaf, words, c->sought_words, sizeof c->sought_words);
            (void)snprintf(c->sought_path, sizeof c->sought_path, "%.500s", c->path);
        }
        return REC_OK;
    }
    place = lr_check_place(c, place);
    c->last = place;
    leaf->exact = c->exact;
    if (c->reading && c->paths && !c->flat && !c->late && leaf->kind != LR_LEAF_TENSOR && !blob) {
        return REC_OK; /* where it was written in levels, it is compared once the paths are a tree */
    }
    if (c->reading) {
        written = lr_check_find(c, place);
        if (c->tensors && !c->used && leaf->kind == LR_LEAF_NIL && !(written && written->kind == LR_LEAF_NIL)) {
            return REC_OK; /* a file without tensors, and without room for what there is else */
        }
        return !written || written->seen ? unexpected(c, at, leaf, words, written != NULL)
                                         : hold(c, written, place, at, leaf, words, blob);
    }
    if (blob && !blob->length) {
        lr_hash none;
        lr_hash_begin(&none);
        leaf->hash = lr_hash_end(&none);
        leaf->hashed = true;
    } else if (blob && (blob->kind == REC_BLOB_VIEW || blob->kind == REC_BLOB_RANGE)) {
        leaf->data = blob->kind == REC_BLOB_VIEW ? blob->data : NULL;
        leaf->source = blob->source;
        leaf->offset = blob->offset;
    }
    return lr_check_take(c, place, leaf) ? REC_OK : c->job->error.status;
}

/* Reports a written value that is missing. */
static int32_t lost(lr_check *c, uint64_t place, const char *found)
{
    if (seek(c, place) == REC_OK) {
        (void)rec_fail_found(c->job, REC_E_FORMAT, REC_UNKNOWN, c->sought_words, "%s", found);
        (void)snprintf(c->job->error.path, sizeof c->job->error.path, "%s", c->sought_path);
        lr_check_hint(c);
    }
    return c->job->error.status;
}

int32_t lr_check_whole(lr_check *c)
{
    for (uint64_t i = 0; i < c->count; i++) {
        const lr_leaf *leaf = &c->leaves[i];
        bool roomless = c->tensors && !c->with_values && leaf->kind != LR_LEAF_TENSOR;
        if (!leaf->seen && !leaf->spare && !roomless) {
            return lost(c, leaf->place, "nothing at this place");
        }
    }
    return c->with_id && c->without_id ? lost(c, c->without_id, "it without its id") : REC_OK;
}

/* ----------------------------------------------------------------------------- events to a writer or a builder -- */

/* A stream on its way to the writer. */
typedef struct overheard {
    const rec_blob *blob;
    lr_hash hash;
    uint64_t done;
} overheard;

static int32_t read_too(void *user, void *target, uint64_t size)
{
    overheard *o = user;
    int32_t status = o->blob->read(o->blob->user, target, size);
    if (status == REC_OK) {
        lr_hash_add(&o->hash, target, size);
        o->done += size;
    }
    return status;
}

/* The blob as the writer gets it. */
static rec_blob listen(overheard *o, const rec_blob *blob)
{
    rec_blob theirs = *blob;
    *o = (overheard){.blob = blob};
    lr_hash_begin(&o->hash);
    if (blob->kind == REC_BLOB_STREAM) {
        theirs.read = read_too;
        theirs.user = o;
    } else if (blob->kind == REC_BLOB_TEMPORARY) {
        lr_hash_add(&o->hash, blob->data, blob->length);
        o->done = blob->length;
    }
    return theirs;
}

/* Stores the hash of a stream that was read to its end. */
static void heard(lr_check *c, uint64_t place, const overheard *o)
{
    lr_leaf *leaf = o->blob->length && o->done == o->blob->length ? lr_check_find(c, place) : NULL;
    if (leaf) {
        leaf->hash = lr_hash_end(&o->hash);
        leaf->hashed = true;
    }
}

/* Each event goes to the check, and then to the writer or builder. */
static int32_t tee(lr_listener *self, const lr_event *event)
{
    lr_check *c = (lr_check *)self;
    lr_event theirs = *event;
    rec_tensor_event tensor;
    rec_blob blob;
    overheard o;
    uint64_t place;
    int32_t status = lr_check_event(c, event);
    if (status != REC_OK) {
        return status;
    }
    if (c->reading || (event->kind != LR_EVENT_TENSOR && event->kind != LR_EVENT_BYTES)) {
        return lr_event_send(&c->inner, c->inner_self, event); /* of a reader: what was written has its hash */
    }
    place = c->last;
    if (event->kind == LR_EVENT_BYTES) {
        blob = listen(&o, event->blob);
        theirs.blob = &blob;
    } else {
        tensor = *event->tensor;
        tensor.data = listen(&o, &event->tensor->data);
        theirs.tensor = &tensor;
    }
    status = lr_event_send(&c->inner, c->inner_self, &theirs);
    heard(c, place, &o);
    return status;
}

/* Puts the check between the walk and a writer. */
static void overhear(void *user, rec_visitor *visitor, void **self)
{
    lr_check *c = user;
    c->inner = *visitor;
    c->inner_self = *self;
    lr_check_rewind(c);
    c->listener.event = tee;
    *self = &c->listener;
    if (!c->sought) { /* what a writer lacks the walk gives it in another way */
        *visitor = lr_listener_like(&c->inner);
    } else {
        *visitor = lr_listener_visitor;
        visitor->list_of = NULL;
    }
}

/* ------------------------------------------------------------------------------------------- beginning, ending -- */

lr_check *lr_check_new(rec_job *job)
{
    lr_check *c = lr_job_zalloc(job, sizeof *c);
    if (!c) {
        return NULL;
    }
    c->job = job;
    c->leaf = on_leaf;
    c->tensors = (job->plugin->traits & REC_TRAIT_TENSORS) != 0;
    c->flat = (job->plugin->traits & REC_TRAIT_PATHS) != 0;
    job->walk->listener = c;
    job->walk->overhear = overhear;
    return c;
}

void lr_check_free(lr_check *c)
{
    if (c) {
        const lr_allocator *allocator = c->job->allocator;
        c->job->walk->listener = NULL;
        c->job->walk->overhear = NULL;
        lr_release(allocator, c->slots);
        lr_release(allocator, c->leaves);
        lr_release(allocator, c->frames);
        lr_release(allocator, c->tile);
        lr_release(allocator, c);
    }
}
