/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What stands before the tensors: read in one pass, then checked against the size of the file. */
#include <stdlib.h>

#include "plugins/codec/beginning.h"

#include "plugins/codec/burnpack/burnpack.h"
#include "plugins/codec/keys.h"
#include "plugins/codec/room.h"
#include "plugins/codec/trailing.h"
#include "plugins/codec/little.h"

const rec_option lr_bpk_trailing = LR_TRAILING;
const uint8_t lr_bpk_magic[4] = {'N', 'R', 'U', 'B'};

/* ------------------------------------------------------------------------------------------------- descriptors -- */

/* A field's name in a struct, which also may be bytes. */
static int32_t read_field(lr_cbor *c, lr_cbor_item *key)
{
    int32_t status = lr_cbor_next(c, key);
    if (status == REC_OK && (key->indefinite || (key->kind != LR_CBOR_TEXT && key->kind != LR_CBOR_BYTES))) {
        status = lr_cbor_unexpected(c, key, "the name of a field");
    }
    return status;
}

/* The next field of a struct. @param field (out) its index in `names`; `count`: another one, which is passed over. */
static int32_t next_field(lr_cbor *c, const char *const *names, int count, lr_cbor_item *key, int *field)
{
    lr_cbor_item other;
    int32_t status = read_field(c, key);
    *field = 0;
    while (status == REC_OK && *field < count && !lr_bpk_is(&key->text, names[*field])) {
        ++*field;
    }
    if (status == REC_OK && *field == count) {
        status = lr_cbor_next(c, &other);
        status = status == REC_OK ? lr_cbor_skip(c, &other) : status;
    }
    return status;
}

static int32_t read_name(lr_cbor *c, lr_cbor_item *name, const char *expected)
{
    int32_t status = lr_cbor_next(c, name);
    return status == REC_OK && name->kind != LR_CBOR_TEXT ? lr_cbor_unexpected(c, name, expected) : status;
}

static int32_t read_number(lr_cbor *c, uint64_t *number, const char *expected)
{
    lr_cbor_item item;
    int32_t status = lr_cbor_next(c, &item);
    if (status == REC_OK && (item.kind != LR_CBOR_UINT || item.wide)) {
        status = lr_cbor_unexpected(c, &item, expected);
    }
    *number = item.value;
    return status;
}

static int32_t add_dim(lr_bpk_header *h, lr_bpk_entry *e, uint64_t dim, uint64_t at)
{
    lr_codec_excerpt brief;
    int32_t status = lr_codec_grow(h->job, (void *)&h->dims, h->dim_count + 1, &h->dim_room, sizeof *h->dims);
    if (status == REC_OK && (e->rank == LR_BPK_RANK_MOST || h->dim_count == UINT32_MAX)) {
        status = rec_fail(h->job, REC_E_UNSUPPORTED, at, "the tensor `%s` has more than %d dimensions",
                          lr_bpk_shown(&brief, &e->name), LR_BPK_RANK_MOST);
    }
    if (status == REC_OK) {
        h->dims[h->dim_count++] = dim;
        e->rank++;
    }
    return status;
}

/* A list of integers; Burn takes bytes for one, too. */
static int32_t read_shape(lr_bpk_header *h, lr_bpk_entry *e)
{
    lr_cbor *c = &h->cbor;
    lr_cbor_item list;
    int32_t status = lr_cbor_next(c, &list);
    uint64_t dim;
    if (status != REC_OK) {
        return status;
    }
    e->dims = (uint32_t)h->dim_count;
    if (list.kind == LR_CBOR_BYTES) {
        for (uint64_t i = 0; i < list.text.length && status == REC_OK; i++) {
            status = add_dim(h, e, (uint8_t)list.text.at[i], list.at);
        }
        return status;
    }
    if (list.kind != LR_CBOR_ARRAY) {
        return lr_cbor_unexpected(c, &list, "a list of integers as shape");
    }
    status = lr_cbor_enter(c, &list);
    while (lr_cbor_each(c, &list, &status)) {
        status = read_number(c, &dim, "an unsigned integer as dimension");
        status = status == REC_OK ? add_dim(h, e, dim, list.at) : status;
    }
    return status;
}

static int32_t read_offsets(lr_bpk_header *h, lr_bpk_entry *e)
{
    lr_cbor *c = &h->cbor;
    lr_cbor_item pair;
    int32_t status = lr_cbor_next(c, &pair);
    if (status == REC_OK && (pair.kind != LR_CBOR_ARRAY || pair.indefinite || pair.value != 2)) {
        status = pair.kind != LR_CBOR_ARRAY || pair.indefinite
                     ? lr_cbor_unexpected(c, &pair, "a list of two integers as data_offsets")
                     : rec_fail_found(h->job, REC_E_FORMAT, pair.at, "a list of two integers as data_offsets",
                                      "one of %" PRIu64, pair.value);
    }
    status = status == REC_OK ? lr_cbor_enter(c, &pair) : status;
    status = status == REC_OK ? read_number(c, &e->begin, "an unsigned integer as offset") : status;
    status = status == REC_OK ? read_number(c, &e->end, "an unsigned integer as offset") : status;
    pair.value = 0;
    (void)lr_cbor_each(c, &pair, &status);
    return status;
}

static int32_t read_id(lr_bpk_header *h, lr_bpk_entry *e)
{
    lr_cbor_item item;
    int32_t status = lr_cbor_next(&h->cbor, &item);
    if (status == REC_OK && item.kind != LR_CBOR_NULL) {
        if (item.kind != LR_CBOR_UINT || item.wide) {
            return lr_cbor_unexpected(&h->cbor, &item, "an unsigned integer as param_id");
        }
        e->id = item.value;
        e->has_id = true;
    }
    return status;
}

enum { DTYPE, SHAPE, OFFSETS, ID, FIELDS };

static int32_t read_descriptor(lr_bpk_header *h, lr_bpk_entry *e)
{
    static const char *const names[FIELDS] = {"dtype", "shape", "data_offsets", "param_id"};
    lr_cbor *c = &h->cbor;
    lr_cbor_item map, key;
    lr_codec_excerpt brief;
    bool seen[FIELDS] = {false};
    int32_t status = lr_cbor_begin(c, &map, LR_CBOR_MAP, "a tensor's descriptor, a map");
    while (lr_cbor_each(c, &map, &status)) {
        int field;
        status = next_field(c, names, FIELDS, &key, &field);
        if (status == REC_OK && field < FIELDS && seen[field]) {
            status = rec_fail(h->job, REC_E_FORMAT, key.at, "the tensor `%s` has `%s` twice",
                              lr_bpk_shown(&brief, &e->name), names[field]);
        } else if (status == REC_OK && field < FIELDS) {
            seen[field] = true;
            status = field == DTYPE     ? lr_bpk_dtype_read(h, e)
                     : field == SHAPE   ? read_shape(h, e)
                     : field == OFFSETS ? read_offsets(h, e)
                                        : read_id(h, e);
        }
    }
    for (int field = 0; field < ID && status == REC_OK; field++) {
        if (!seen[field]) {
            status = rec_fail(h->job, REC_E_FORMAT, map.at, "the tensor `%s` has no `%s`",
                              lr_bpk_shown(&brief, &e->name), names[field]);
        }
    }
    return status;
}

static int32_t read_tensors(lr_bpk_header *h)
{
    lr_cbor *c = &h->cbor;
    lr_cbor_item map, name;
    int32_t status = lr_cbor_begin(c, &map, LR_CBOR_MAP, "the map of the tensors");
    while (lr_cbor_each(c, &map, &status)) {
        lr_bpk_entry *e;
        if (h->count == LR_BPK_TENSORS_MOST) {
            return rec_fail(h->job, REC_E_LIMIT, map.at, "more than %d tensors, which no Burn loads",
                            LR_BPK_TENSORS_MOST);
        }
        status = read_name(c, &name, "the name of a tensor");
        status = status == REC_OK
                     ? lr_codec_grow(h->job, (void *)&h->entries, h->count + 1, &h->room, sizeof *h->entries)
                     : status;
        if (status == REC_OK) {
            e = &h->entries[h->count++];
            *e = (lr_bpk_entry){.name = name.text, .at = name.at};
            status = read_descriptor(h, e);
        }
    }
    return status;
}

/* ---------------------------------------------------------------------------------------- metadata and scalars -- */

/* One of {"Int": …}, {"UInt": …}, {"Float": …}, {"Bool": …}. */
static int32_t read_scalar(lr_bpk_header *h, lr_bpk_pair *pair)
{
    lr_cbor *c = &h->cbor;
    lr_cbor_item map, kind, value;
    int32_t status = lr_cbor_begin(c, &map, LR_CBOR_MAP, "a scalar, a map of its kind and value");
    bool one = lr_cbor_each(c, &map, &status);
    if (status == REC_OK && (!one || (!map.indefinite && map.value))) {
        status = rec_fail(h->job, REC_E_FORMAT, map.at, "a scalar is a map of one entry: its kind and its value");
    }
    status = status == REC_OK ? read_field(c, &kind) : status;
    status = status == REC_OK ? lr_cbor_next(c, &value) : status;
    if (status == REC_OK) {
        rec_scalar *s = &pair->scalar;
        bool whole = value.kind <= LR_CBOR_NEGATIVE && !value.wide;
        if (lr_bpk_is(&kind.text, "Int") && whole && value.value <= INT64_MAX) {
            *s = (rec_scalar){.kind = REC_KIND_INT, .bits = 64};
            s->v.i = value.kind == LR_CBOR_UINT ? (int64_t)value.value : -1 - (int64_t)value.value;
        } else if (lr_bpk_is(&kind.text, "UInt") && whole && value.kind == LR_CBOR_UINT) {
            *s = (rec_scalar){.kind = REC_KIND_UINT, .bits = 64, .v.u = value.value};
        } else if (lr_bpk_is(&kind.text, "Float") && value.kind == LR_CBOR_FLOAT) {
            *s = (rec_scalar){.kind = REC_KIND_FLOAT, .bits = 64, .v.f = value.number};
        } else if (lr_bpk_is(&kind.text, "Bool") && value.kind == LR_CBOR_BOOL) {
            *s = (rec_scalar){.kind = REC_KIND_BOOL, .v.i = (int64_t)value.value};
        } else {
            status = lr_cbor_unexpected(c, &value, "a value of the kind Int, UInt, Float or Bool");
        }
    }
    if (lr_cbor_each(c, &map, &status)) {
        status = rec_fail(h->job, REC_E_FORMAT, map.at, "a scalar is a map of one entry: its kind and its value");
    }
    return status;
}

static int32_t read_pairs(lr_bpk_header *h, bool scalars)
{
    lr_cbor *c = &h->cbor;
    lr_cbor_item map, key, value;
    lr_bpk_pair **pairs = scalars ? &h->scalars : &h->pairs;
    uint64_t *count = scalars ? &h->scalar_count : &h->pair_count, *room = scalars ? &h->scalar_room : &h->pair_room;
    int32_t status =
        lr_cbor_begin(c, &map, LR_CBOR_MAP, scalars ? "the map of the scalars" : "the map of the metadata");
    while (lr_cbor_each(c, &map, &status)) {
        lr_bpk_pair *pair;
        status = read_name(c, &key, scalars ? "the name of a scalar" : "a text as key of the metadata");
        status = status == REC_OK ? lr_codec_grow(h->job, (void *)pairs, *count + 1, room, sizeof **pairs) : status;
        if (status != REC_OK) {
            break;
        }
        pair = &(*pairs)[(*count)++];
        *pair = (lr_bpk_pair){.key = key.text, .at = key.at};
        if (scalars) {
            status = read_scalar(h, pair);
        } else {
            status = read_name(c, &value, "a text as value of the metadata");
            pair->value = value.text;
        }
    }
    return status;
}

static int32_t read_whole(lr_bpk_header *h)
{
    static const char *const names[] = {"tensors", "metadata", "scalars"};
    lr_cbor *c = &h->cbor;
    lr_cbor_item map, key;
    bool seen[3] = {false};
    int32_t status = lr_cbor_begin(c, &map, LR_CBOR_MAP, "a map");
    while (lr_cbor_each(c, &map, &status)) {
        int field;
        status = next_field(c, names, 3, &key, &field);
        if (status == REC_OK && field < 3 && seen[field]) {
            status = rec_fail(h->job, REC_E_FORMAT, key.at, "`%s` occurs twice", names[field]);
        } else if (status == REC_OK && field < 3) {
            seen[field] = true;
            status = field ? read_pairs(h, field == 2) : read_tensors(h);
        }
    }
    if (status == REC_OK && !seen[0]) {
        status = rec_fail(h->job, REC_E_FORMAT, map.at, "the metadata have no `tensors`");
    }
    return status;
}

/* ------------------------------------------------------------------------------------------------------ checks -- */

static int32_t check_entry(const lr_bpk_header *h, const lr_bpk_entry *e, uint64_t size)
{
    uint64_t bytes = rec_dtype_bits(e->dtype) / 8;
    lr_codec_excerpt brief;
    const char *name = lr_bpk_shown(&brief, &e->name);
    bool counted = true, quantised = bytes == 0;
    bytes += quantised;
    for (unsigned i = 0; i < e->rank; i++) {
        counted = counted && !__builtin_mul_overflow(bytes, h->dims[e->dims + i], &bytes);
    }
    if (!counted) {
        return rec_fail(h->job, REC_E_FORMAT, e->at,
                        "the shape of the tensor `%s` has more bytes than 64 bits can count", name);
    }
    if (e->end < e->begin) {
        return rec_fail(h->job, REC_E_FORMAT, e->at,
                        "the data of the tensor `%s` end at %" PRIu64 ", before they begin at %" PRIu64, name, e->end,
                        e->begin);
    }
    if (!quantised && e->end - e->begin != bytes) {
        return rec_fail(h->job, REC_E_FORMAT, e->at,
                        "the tensor `%s` needs %" PRIu64 " bytes by its shape and %s, its data_offsets give %" PRIu64,
                        name, bytes, rec_dtype_name(e->dtype), e->end - e->begin);
    }
    if (h->data > size || e->end > size - h->data) {
        (void)rec_fail_found(h->job, REC_E_FORMAT, e->at, "a file that holds all tensors",
                             "the data of `%s` ending %" PRIu64 " bytes after the end of the file", name,
                             e->end > UINT64_MAX - h->data ? UINT64_MAX : h->data + e->end - size);
        rec_fail_hint(h->job, "The file is truncated or damaged.");
        return REC_E_FORMAT;
    }
    return REC_OK;
}

/* In the order of their data, which is that of the module's fields; the file has them by name. */
static int by_place(const void *a, const void *b)
{
    const lr_bpk_entry *x = a, *y = b;
    return x->begin != y->begin ? (x->begin < y->begin ? -1 : 1)
           : x->end != y->end   ? (x->end < y->end ? -1 : 1)
                                : lr_bpk_compare(&x->name, &y->name);
}

/* Whether tensors are contiguous up to the end of the file, as Burn 0.19 writes them, with data where later versions
 * have zeros. Entries are in the order of their data. */
static int32_t is_unaligned(const lr_bpk_header *h, uint64_t after, uint64_t size, bool *unaligned)
{
    uint8_t gap[LR_BPK_ALIGNMENT];
    uint64_t at = 0, zeros = lr_bpk_aligned(after) - after;
    int32_t status;
    *unaligned = false;
    for (uint64_t i = 0; i < h->count; i++) {
        if (h->entries[i].begin != at) {
            return REC_OK;
        }
        at = h->entries[i].end;
    }
    if (!at || at != size - after) {
        return REC_OK;
    }
    zeros = zeros < at ? zeros : at;
    status = rec_source_read_at(h->job, h->source, after, gap, zeros);
    for (uint64_t i = 0; i < zeros && status == REC_OK; i++) {
        *unaligned = *unaligned || gap[i];
    }
    return status;
}

/* By Burn 0.19 data begin right after the metadata. Its own word counts; without it the file must look like that. */
static int32_t find_data(lr_bpk_header *h, uint64_t size)
{
    uint64_t after = LR_BPK_PREFIX + h->cbor.size, end = 0;
    int32_t status = REC_OK;
    bool told = false;
    for (uint64_t i = 0; i < h->pair_count && !told; i++) {
        const lr_bpk_pair *pair = &h->pairs[i];
        told = lr_bpk_is(&pair->key, "version") && pair->value.length >= 5;
        h->unaligned = told && memcmp(pair->value.at, "0.19.", 5) == 0;
    }
    for (uint64_t i = 0; i < h->count; i++) {
        end = h->entries[i].end > end ? h->entries[i].end : end;
    }
    h->data = lr_bpk_aligned(after);
    if (!told && end && (h->data > size || end > size - h->data)) {
        status = is_unaligned(h, after, size, &h->unaligned);
    }
    h->data = h->unaligned ? after : h->data;
    return status;
}

static const char *name_of(const void *self, uint64_t number, uint64_t *length)
{
    const lr_bpk_header *h = self;
    const lr_bpk_text *name = number < h->count ? &h->entries[number].name : &h->scalars[number - h->count].key;
    *length = name->length;
    return name->at;
}

/* Fails where a name is there twice. */
static int32_t check_names(lr_bpk_header *h)
{
    lr_st_keys keys = {.text = name_of, .self = h};
    uint64_t count = h->count + h->scalar_count, length;
    int32_t status = lr_st_keys_reserve(&keys, h->job, count);
    for (uint64_t i = 0; i < count && status == REC_OK; i++) {
        const char *name = name_of(h, i, &length);
        uint64_t twin = lr_st_keys_add(&keys, i, name, length);
        if (twin != REC_UNKNOWN) {
            uint64_t first = twin < h->count ? h->entries[twin].at : h->scalars[twin - h->count].at;
            uint64_t second = i < h->count ? h->entries[i].at : h->scalars[i - h->count].at;
            lr_codec_excerpt brief;
            status = rec_fail(h->job, REC_E_FORMAT, first > second ? first : second,
                              "two %s are called `%s`, at bytes %" PRIu64 " and %" PRIu64,
                              h->scalar_count ? "tensors or scalars" : "tensors", lr_codec_shown(&brief, name, length),
                              first < second ? first : second, first < second ? second : first);
        }
    }
    lr_st_keys_close(&keys);
    return status;
}

/* ---------------------------------------------------------------------------------------------------- the file -- */

/* Magic, version and length of the metadata. */
static int32_t read_prefix(lr_bpk_header *h, uint64_t *length)
{
    uint8_t prefix[LR_BPK_PREFIX];
    uint64_t got;
    unsigned version;
    int32_t status = lr_beginning_at(h->job, h->source, 0, prefix, sizeof prefix, &got);
    if (status == REC_OK && got < sizeof prefix) {
        status = rec_fail_found(h->job, REC_E_FORMAT, got, "10 bytes that begin a burnpack", "the end of the file");
    }
    if (status != REC_OK) {
        return status;
    }
    if (memcmp(prefix, lr_bpk_magic, sizeof lr_bpk_magic) != 0) {
        return rec_fail_found(h->job, REC_E_FORMAT, 0, "NRUB, which begins a burnpack", "%02x %02x %02x %02x",
                              prefix[0], prefix[1], prefix[2], prefix[3]);
    }
    version = (unsigned)lr_little(prefix + 4, 2);
    if (version > LR_BPK_VERSION) {
        return rec_fail(h->job, REC_E_UNSUPPORTED, 4, "a burnpack of version %u; this librecord reads version %d",
                        version, LR_BPK_VERSION);
    }
    *length = lr_little(prefix + 6, 4);
    if (*length > LR_BPK_METADATA_MOST) {
        return rec_fail(h->job, REC_E_LIMIT, 6, "%" PRIu64 " bytes of metadata; no Burn loads more than 100 MiB",
                        *length);
    }
    return REC_OK;
}

int32_t lr_bpk_header_open(lr_bpk_header *h, rec_job *job, rec_source *source)
{
    uint64_t size, length = 0, got = 0, end;
    int32_t status;
    *h = (lr_bpk_header){.job = job, .source = source, .cbor.job = job};
    status = read_prefix(h, &length);
    status = status == REC_OK ? lr_beginning_grow(job, source, LR_BPK_PREFIX, &h->bytes, length, &got) : status;
    if (status == REC_OK && got < length) {
        status = rec_fail_found(job, REC_E_FORMAT, 6, "metadata within the file",
                                "%" PRIu64 " bytes of them, and then the end of the file", length);
    }
    size = rec_source_size(source);
    if (status == REC_OK) {
        h->cbor.data = h->bytes;
        h->cbor.size = length;
        status = read_whole(h);
    }
    if (status == REC_OK && h->count) {
        qsort(h->entries, (size_t)h->count, sizeof *h->entries, by_place);
    }
    status = status == REC_OK ? find_data(h, size) : status;
    end = LR_BPK_PREFIX + length;
    status = status == REC_OK ? check_names(h) : status;
    for (uint64_t i = 0; i < h->count && status == REC_OK; i++) {
        status = check_entry(h, &h->entries[i], size);
        end = h->data + h->entries[i].end > end ? h->data + h->entries[i].end : end;
    }
    return status == REC_OK ? lr_trailing_padded(job, source, end, lr_bpk_aligned(end), size) : status;
}

void lr_bpk_header_close(lr_bpk_header *h)
{
    lr_cbor_close(&h->cbor);
    rec_job_free(h->job, h->bytes);
    rec_job_free(h->job, h->entries);
    rec_job_free(h->job, h->dims);
    rec_job_free(h->job, h->words);
    rec_job_free(h->job, h->pairs);
    rec_job_free(h->job, h->scalars);
}
