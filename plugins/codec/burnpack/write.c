/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The writer: a first walk collects the entries and their offsets, a second one writes the data after the metadata, in
 * the record's order. */
#include <librecord/plugin_types.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "plugins/codec/burnpack/burnpack.h"
#include "plugins/codec/pass.h"
#include "plugins/codec/room.h"
#include "plugins/codec/little.h"

const rec_option lr_bpk_store = {
    .size = sizeof lr_bpk_store,
    .type = REC_OPTION_TEXT,
    .name = "store",
    .initial = "",
    .help = "write the metadata that Burn's BurnpackStore writes: the version of burn-store (0.22.1), or yes",
};

enum { ALIGNED_SINCE = 20, SCALARS_SINCE = 22 };

/* A tensor or a scalar. Texts and bytes are offsets in the writer's buffers, which grow. */
typedef struct item {
    lr_bpk_text name; /* set when all are there */
    uint64_t name_at;
    uint64_t about, about_end; /* its CBOR: of a tensor dtype and shape, of a scalar all */
    uint64_t begin, end;
    uint64_t id;
    bool has_id;
} item;

/* A list of items. */
typedef struct items {
    item *at;
    uint64_t count, room;
} items;

typedef struct writer {
    rec_job *job;
    int32_t minor;
    bool aligned;
    lr_buffer names, about;
    items tensors, scalars, metadata;
    lr_bpk_text key; /* that came last */
    uint64_t key_at;
    uint64_t used; /* bytes of data so far */
    /* While data are written: */
    rec_sink *sink;
    uint64_t next, written;
} writer;

static int32_t no_walk(const writer *w)
{
    return rec_fail(w->job, REC_E_PLUGIN, REC_UNKNOWN, "the record changed while it was saved");
}

/* ----------------------------------------------------------------------------------------------- what there is -- */

static int32_t add(writer *w, items *list, uint64_t name_at, uint64_t name_length, item **out)
{
    int32_t status = lr_codec_grow(w->job, (void *)&list->at, list->count + 1, &list->room, sizeof *list->at);
    if (status == REC_OK) {
        *out = &list->at[list->count++];
        **out = (item){.name_at = name_at, .name.length = name_length, .about = w->about.size};
    }
    return status;
}

static int32_t on_metadata(void *self, uint64_t at, const rec_scalar *key, const rec_scalar *value)
{
    writer *w = self;
    uint64_t name_at = w->names.size;
    item *pair;
    int32_t status;
    (void)at;
    lr_put(&w->names, key->text, key->v.length);
    status = w->names.status == REC_OK ? add(w, &w->metadata, name_at, key->v.length, &pair) : w->names.status;
    if (status == REC_OK) {
        lr_cbor_put_text(&w->about, value->text, value->v.length);
        pair->about_end = w->about.size;
        status = w->about.status;
    }
    return status;
}

static int32_t on_key(void *self, uint64_t at, const rec_scalar *key)
{
    writer *w = self;
    (void)at;
    w->key_at = w->names.size;
    lr_put_unescaped(&w->names, key->text, key->v.length);
    w->key.length = w->names.size - w->key_at;
    return w->names.status;
}

static const char *shown(const writer *w, lr_codec_excerpt *buffer)
{
    lr_bpk_text name = {.at = w->names.data + w->key_at, .length = w->key.length};
    return lr_bpk_shown(buffer, &name);
}

static int32_t on_scalar(void *self, uint64_t at, const rec_scalar *scalar)
{
    writer *w = self;
    lr_buffer *b = &w->about;
    lr_codec_excerpt brief;
    item *i;
    int32_t status;
    (void)at;
    if (w->minor < SCALARS_SINCE) {
        (void)rec_fail(w->job, REC_E_UNSUPPORTED, REC_UNKNOWN,
                       "`%s` is a number: a burnpack of Burn 0.%d holds only tensors", shown(w, &brief), (int)w->minor);
        rec_fail_hint(w->job, "The states of optimizers and schedulers are burnpacks since Burn 0.%d.", SCALARS_SINCE);
        return REC_E_UNSUPPORTED;
    }
    status = add(w, &w->scalars, w->key_at, w->key.length, &i);
    if (status != REC_OK) {
        return status;
    }
    lr_cbor_put(b, LR_CBOR_MAP, 1);
    switch (scalar->kind) {
    case REC_KIND_INT:
        lr_cbor_put_word(b, "Int");
        lr_cbor_put(b, scalar->v.i < 0 ? LR_CBOR_NEGATIVE : LR_CBOR_UINT,
                    scalar->v.i < 0 ? (uint64_t)(-1 - scalar->v.i) : (uint64_t)scalar->v.i);
        break;
    case REC_KIND_UINT:
        lr_cbor_put_word(b, "UInt");
        lr_cbor_put(b, LR_CBOR_UINT, scalar->v.u);
        break;
    case REC_KIND_FLOAT:
        lr_cbor_put_word(b, "Float");
        lr_cbor_put_float(b, scalar->v.f);
        break;
    case REC_KIND_BOOL:
        lr_cbor_put_word(b, "Bool");
        lr_cbor_put_bool(b, scalar->v.i != 0);
        break;
    default:
        return rec_fail(w->job, REC_E_UNSUPPORTED, REC_UNKNOWN, "`%s` is neither a tensor nor a number",
                        shown(w, &brief));
    }
    i->about_end = b->size;
    return b->status;
}

static int32_t set_id(writer *w, item *i, const char *id)
{
    lr_codec_excerpt brief;
    i->has_id = id != NULL;
    if (!id || rec_id_number(id, &i->id)) {
        return REC_OK;
    }
    (void)rec_fail(w->job, REC_E_UNSUPPORTED, REC_UNKNOWN,
                   "the parameter `%s` has the id %.64s, which is not one of Burn's: no number of 64 bits",
                   shown(w, &brief), id);
    rec_fail_hint(w->job, "Save it for a version of Burn (--burn 0.22), which gives ids that Burn has.");
    return REC_E_UNSUPPORTED;
}

static int32_t on_tensor(void *self, uint64_t at, const rec_tensor_event *event)
{
    writer *w = self;
    lr_codec_excerpt brief;
    item *i = NULL;
    int32_t status;
    (void)at;
    if (w->tensors.count == LR_BPK_TENSORS_MOST) {
        return rec_fail(w->job, REC_E_LIMIT, REC_UNKNOWN, "more than %d tensors, which no Burn would load",
                        LR_BPK_TENSORS_MOST);
    }
    if (event->data.length > LR_BPK_TENSOR_MOST) {
        return rec_fail(w->job, REC_E_LIMIT, REC_UNKNOWN,
                        "the tensor `%s` has %" PRIu64 " bytes; Burn loads none of more than 10 GiB", shown(w, &brief),
                        event->data.length);
    }
    status = add(w, &w->tensors, w->key_at, w->key.length, &i);
    status = status == REC_OK ? set_id(w, i, event->id) : status;
    if (status != REC_OK) {
        return status;
    }
    lr_cbor_put_word(&w->about, "dtype");
    status = lr_bpk_dtype_write(&w->about, event, w->minor, shown(w, &brief));
    lr_cbor_put_word(&w->about, "shape");
    lr_cbor_put(&w->about, LR_CBOR_ARRAY, event->rank);
    for (uint32_t d = 0; d < event->rank; d++) {
        lr_cbor_put(&w->about, LR_CBOR_UINT, event->shape[d]);
    }
    i->about_end = w->about.size;
    i->begin = w->aligned ? lr_bpk_aligned(w->used) : w->used;
    if (status == REC_OK &&
        (i->begin == UINT64_MAX || __builtin_add_overflow(i->begin, event->data.length, &w->used))) {
        status = rec_fail(w->job, REC_E_RANGE, REC_UNKNOWN, "the tensors have more bytes than 64 bits can count");
    }
    i->end = w->used;
    return status == REC_OK ? w->about.status : status;
}

static int32_t on_begin(void *self, uint64_t at, int32_t form, uint64_t count)
{
    const writer *w = self;
    (void)at, (void)count;
    return form == REC_FORM_PATHS ? REC_OK : no_walk(w);
}

/* ---------------------------------------------------------------------------------------------------- metadata -- */

/* The minor version in "0.21.0"; -1 for other text. */
static int32_t minor_of(const char *text, uint64_t length)
{
    int32_t minor = 0;
    uint64_t i = 2;
    if (length < 3 || memcmp(text, "0.", 2) != 0) {
        return -1;
    }
    for (; i < length && i < 6 && text[i] >= '0' && text[i] <= '9'; i++) {
        minor = minor * 10 + (text[i] - '0');
    }
    return i > 2 ? minor : -1;
}

static item *find_pair(const writer *w, const char *key)
{
    for (uint64_t i = 0; i < w->metadata.count; i++) {
        const item *pair = &w->metadata.at[i];
        if (lr_text_is(w->names.data + pair->name_at, pair->name.length, key)) {
            return &w->metadata.at[i];
        }
    }
    return NULL;
}

/* The text of a pair whose value is CBOR. */
static lr_bpk_text value_of(const writer *w, const item *pair)
{
    uint64_t skip = 1;
    unsigned low = w->about.data[pair->about] & 31;
    skip += low < 24 ? 0 : UINT64_C(1) << (low - 24);
    return (lr_bpk_text){.at = w->about.data + pair->about + skip, .length = pair->about_end - pair->about - skip};
}

static bool has_value(const writer *w, const char *key, const char *value)
{
    const item *pair = find_pair(w, key);
    lr_bpk_text text = pair ? value_of(w, pair) : (lr_bpk_text){0};
    return pair && lr_bpk_is(&text, value);
}

static int32_t set_pair(writer *w, const char *key, const char *value)
{
    rec_scalar name = {.kind = REC_KIND_STRING, .v.length = strlen(key), .text = key};
    rec_scalar text = {.kind = REC_KIND_STRING, .v.length = strlen(value), .text = value};
    item *pair = find_pair(w, key);
    if (!pair) {
        return on_metadata(w, REC_UNKNOWN, &name, &text);
    }
    pair->about = w->about.size;
    lr_cbor_put_text(&w->about, value, strlen(value));
    pair->about_end = w->about.size;
    return w->about.status;
}

/* Writes the metadata of Burn's store, if requested; and the version, if a store's file is rewritten for another one,
 * since readers derive the data's layout from it. */
static int32_t settle_store(writer *w)
{
    const char *asked = rec_job_option_text(w->job, "store");
    char version[32];
    int32_t status = REC_OK;
    (void)snprintf(version, sizeof version, "0.%d.0", (int)w->minor);
    if (*asked && strcmp(asked, "no") != 0) {
        bool plain = strcmp(asked, "yes") == 0;
        if (!plain && minor_of(asked, strlen(asked)) != w->minor) {
            (void)rec_fail_found(w->job, REC_E_ARGUMENT, REC_UNKNOWN, "a version of burn-store that goes with Burn",
                                 "store = %.40s for Burn 0.%d", asked, (int)w->minor);
            return REC_E_ARGUMENT;
        }
        status = set_pair(w, "format", "burnpack");
        status = status == REC_OK ? set_pair(w, "producer", "burn") : status;
        status = status == REC_OK ? set_pair(w, "version", plain ? version : asked) : status;
    } else if (has_value(w, "format", "burnpack") && has_value(w, "producer", "burn") && find_pair(w, "version")) {
        lr_bpk_text text = value_of(w, find_pair(w, "version"));
        status = minor_of(text.at, text.length) == w->minor ? REC_OK : set_pair(w, "version", version);
    }
    return status;
}

/* ------------------------------------------------------------------------------------------------------ header -- */

static int by_name(const void *a, const void *b)
{
    const item *const *x = a, *const *y = b;
    return lr_bpk_compare(&(*x)->name, &(*y)->name);
}

/* Fails if a name is below another one, as `a.b` is below `a`: dots are levels, and a level has no tensor. */
static int32_t check_below(const writer *w, const item *const *order, uint64_t count)
{
    lr_codec_excerpt lower, upper;
    for (uint64_t i = 0; i < count; i++) {
        const lr_bpk_text *name = &order[i]->name;
        item above = {.name = *name};
        const item *key = &above, *const * found;
        for (uint64_t k = 0; k < name->length; k++) {
            above.name.length = k;
            found = name->at[k] == '.'
                        ? bsearch((const void *)&key, (const void *)order, (size_t)count, sizeof *order, by_name)
                        : NULL;
            if (found) {
                (void)rec_fail(w->job, REC_E_UNSUPPORTED, REC_UNKNOWN,
                               "`%s` is below `%s`: a burnpack cannot hold both", lr_bpk_shown(&lower, name),
                               lr_bpk_shown(&upper, &above.name));
                rec_fail_hint(w->job, "Give one of them another name with a rename rule, or choose another format.");
                return REC_E_UNSUPPORTED;
            }
        }
    }
    return REC_OK;
}

/* Sorts the items by name; freed by the caller. NULL: failed, or an empty list. */
static const item **sorted(writer *w, items *list, const char *what, int32_t *status)
{
    const item **order;
    lr_codec_excerpt brief;
    if (*status != REC_OK || !list->count) {
        return NULL;
    }
    order = rec_job_alloc(w->job, list->count * sizeof *order);
    if (!order) {
        *status = rec_fail(w->job, REC_E_MEMORY, REC_UNKNOWN, "out of memory for the names");
        return NULL;
    }
    for (uint64_t i = 0; i < list->count; i++) {
        list->at[i].name.at = w->names.data ? w->names.data + list->at[i].name_at : "";
        order[i] = &list->at[i];
    }
    qsort((void *)order, (size_t)list->count, sizeof *order, by_name);
    for (uint64_t i = 1; i < list->count && *status == REC_OK; i++) {
        if (lr_bpk_compare(&order[i - 1]->name, &order[i]->name) == 0) {
            *status = rec_fail(w->job, REC_E_UNSUPPORTED, REC_UNKNOWN, "two %s would be called `%s`", what,
                               lr_bpk_shown(&brief, &order[i]->name));
            if (!w->aligned) {
                rec_fail_hint(w->job, "Burn 0.19 has no step for a tuple: it can store this model no better.");
            }
        }
    }
    *status = *status == REC_OK && list != &w->metadata ? check_below(w, order, list->count) : *status;
    if (*status != REC_OK) {
        rec_job_free(w->job, (void *)order);
        return NULL;
    }
    return order;
}

static void put_tensor(lr_buffer *b, const writer *w, const item *i)
{
    lr_cbor_put(b, LR_CBOR_MAP, i->has_id ? 4 : 3);
    lr_put(b, w->about.data + i->about, i->about_end - i->about);
    lr_cbor_put_word(b, "data_offsets");
    lr_cbor_put(b, LR_CBOR_ARRAY, 2);
    lr_cbor_put(b, LR_CBOR_UINT, i->begin);
    lr_cbor_put(b, LR_CBOR_UINT, i->end);
    if (i->has_id) {
        lr_cbor_put_word(b, "param_id");
        lr_cbor_put(b, LR_CBOR_UINT, i->id);
    }
}

static int32_t put_list(lr_buffer *b, writer *w, items *list, const char *key, const char *what, bool tensors)
{
    int32_t status = b->status;
    const item **order = sorted(w, list, what, &status);
    if (status == REC_OK && (tensors || list->count)) {
        lr_cbor_put_word(b, key);
        lr_cbor_put(b, LR_CBOR_MAP, list->count);
        for (uint64_t i = 0; i < list->count; i++) {
            lr_cbor_put_text(b, order[i]->name.at, order[i]->name.length);
            if (tensors) {
                put_tensor(b, w, order[i]);
            } else {
                lr_put(b, w->about.data + order[i]->about, order[i]->about_end - order[i]->about);
            }
        }
    }
    rec_job_free(w->job, (void *)order);
    return status == REC_OK ? b->status : status;
}

static int32_t write_zeros(rec_sink *sink, uint64_t count)
{
    static const uint8_t zeros[LR_BPK_ALIGNMENT];
    return count ? rec_sink_write(sink, zeros, count) : REC_OK;
}

static int32_t write_header(writer *w, rec_sink *sink)
{
    lr_buffer b = {.job = w->job};
    uint8_t prefix[LR_BPK_PREFIX] = {0, 0, 0, 0, LR_BPK_VERSION};
    int32_t status;
    memcpy(prefix, lr_bpk_magic, sizeof lr_bpk_magic);
    lr_cbor_put(&b, LR_CBOR_MAP, UINT64_C(1) + (w->metadata.count > 0) + (w->scalars.count > 0));
    status = put_list(&b, w, &w->tensors, "tensors", "tensors", true);
    status = status == REC_OK ? put_list(&b, w, &w->metadata, "metadata", "entries of the metadata", false) : status;
    status = status == REC_OK ? put_list(&b, w, &w->scalars, "scalars", "numbers", false) : status;
    if (status == REC_OK && b.size > LR_BPK_METADATA_MOST) {
        status = rec_fail(w->job, REC_E_LIMIT, REC_UNKNOWN,
                          "%" PRIu64 " bytes of names and places; no Burn loads more than 100 MiB", b.size);
    }
    lr_little_put(prefix + 6, b.size, 4);
    status = status == REC_OK ? rec_sink_write(sink, prefix, sizeof prefix) : status;
    status = status == REC_OK ? rec_sink_write(sink, b.data, b.size) : status;
    if (status == REC_OK && w->aligned) {
        status = write_zeros(sink, lr_bpk_aligned(b.size + sizeof prefix) - b.size - sizeof prefix);
    }
    rec_job_free(w->job, b.data);
    return status;
}

/* -------------------------------------------------------------------------------------------------------- data -- */

static int32_t put_data(void *self, uint64_t at, const rec_tensor_event *event)
{
    writer *w = self;
    const item *i = w->next < w->tensors.count ? &w->tensors.at[w->next++] : NULL;
    int32_t status;
    (void)at;
    if (!i || i->end - i->begin != event->data.length) {
        return no_walk(w);
    }
    status = write_zeros(w->sink, i->begin - w->written);
    status = status == REC_OK && event->data.length ? rec_sink_put(w->sink, &event->data) : status;
    w->written = i->end;
    return status;
}

static int32_t pass_numbers(void *self, uint64_t at, rec_dtype dtype, const void *data, uint64_t count)
{
    (void)at, (void)dtype, (void)data, (void)count;
    return no_walk(self);
}

int32_t lr_bpk_write(rec_job *job, rec_sink *sink)
{
    static const rec_visitor find = {.size = sizeof find,
                                     .metadata = on_metadata,
                                     .scalar = on_scalar,
                                     .numbers = pass_numbers,
                                     .list_begin = on_begin,
                                     .map_begin = on_begin,
                                     .key = on_key,
                                     .end = lr_pass_end,
                                     .tensor = on_tensor};
    static const rec_visitor put = {.size = sizeof put,
                                    .metadata = lr_pass_metadata,
                                    .scalar = lr_pass_scalar,
                                    .numbers = pass_numbers,
                                    .list_begin = on_begin,
                                    .map_begin = on_begin,
                                    .key = lr_pass_scalar,
                                    .end = lr_pass_end,
                                    .tensor = put_data};
    writer w = {.job = job, .minor = rec_job_burn(job), .names.job = job, .about.job = job, .sink = sink};
    int32_t status;
    w.aligned = w.minor >= ALIGNED_SINCE;
    status = rec_job_walk(job, &find, &w);
    status = status == REC_OK ? settle_store(&w) : status;
    status = status == REC_OK ? write_header(&w, sink) : status;
    status = status == REC_OK ? rec_job_walk(job, &put, &w) : status;
    rec_job_free(job, w.names.data);
    rec_job_free(job, w.about.data);
    rec_job_free(job, w.tensors.at);
    rec_job_free(job, w.scalars.at);
    rec_job_free(job, w.metadata.at);
    return status;
}
