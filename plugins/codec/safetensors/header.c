/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The header of a safetensors file: one pass over its JSON into an array of tensors, without a tree. What almost all
 * writers write is read by a pattern; whatever differs from it, by the grammar. */
#include "plugins/codec/safetensors/safetensors.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "plugins/codec/beginning.h"
#include "plugins/codec/room.h"
#include "plugins/codec/little.h"

/* ----------------------------------------------------------------------------------------------- element types -- */

#define TYPE(name, bits, dtype) {name, sizeof(name) - 1, bits, dtype}
const lr_st_type lr_st_types[LR_ST_TYPES] = {
    TYPE("BOOL", 8, REC_DTYPE_BOOL),
    TYPE("F4", 4, REC_DTYPE_OPAQUE),
    TYPE("F6_E2M3", 6, REC_DTYPE_OPAQUE),
    TYPE("F6_E3M2", 6, REC_DTYPE_OPAQUE),
    TYPE("U8", 8, REC_DTYPE_U8),
    TYPE("I8", 8, REC_DTYPE_I8),
    TYPE("F8_E5M2", 8, REC_DTYPE_OPAQUE),
    TYPE("F8_E4M3", 8, REC_DTYPE_OPAQUE),
    TYPE("F8_E8M0", 8, REC_DTYPE_OPAQUE),
    TYPE("F8_E4M3FNUZ", 8, REC_DTYPE_OPAQUE),
    TYPE("F8_E5M2FNUZ", 8, REC_DTYPE_OPAQUE),
    TYPE("I16", 16, REC_DTYPE_I16),
    TYPE("U16", 16, REC_DTYPE_U16),
    TYPE("F16", 16, REC_DTYPE_F16),
    TYPE("BF16", 16, REC_DTYPE_BF16),
    TYPE("I32", 32, REC_DTYPE_I32),
    TYPE("U32", 32, REC_DTYPE_U32),
    TYPE("F32", 32, REC_DTYPE_F32),
    TYPE("C64", 64, REC_DTYPE_OPAQUE),
    TYPE("F64", 64, REC_DTYPE_F64),
    TYPE("I64", 64, REC_DTYPE_I64),
    TYPE("U64", 64, REC_DTYPE_U64),
};

int lr_st_type_find(const char *name, uint64_t length)
{
    for (int i = 0; i < LR_ST_TYPES; i++) {
        if (lr_st_types[i].length == length && memcmp(lr_st_types[i].name, name, (size_t)length) == 0) {
            return i;
        }
    }
    return -1;
}

/* ------------------------------------------------------------------------------------------------------- words -- */

static const char *shown_key(lr_codec_excerpt *buffer, const lr_st_header *h, const lr_st_entry *e)
{
    return lr_codec_shown(buffer, lr_st_text_at(h, &e->key), e->key.length);
}

/* ------------------------------------------------------------------------------------------------------ parser -- */

typedef struct parser {
    lr_st_header *h;
    lr_st_json *json; /* the header's */
    uint64_t foreign; /* fields of entries that are not known */
    lr_codec_excerpt first_foreign;
    bool sorted; /* so far each tensor begins where the one before ends */
    bool has_metadata;
} parser;

/* ----------------------------------------------------------------------------------------------------- tensors -- */

static int32_t fail_entry(parser *p, const lr_st_entry *e, int32_t status, const char *what)
{
    lr_codec_excerpt key;
    return lr_st_json_damaged(p->h->job, rec_fail(p->h->job, status, lr_st_location(e->at), "the tensor `%s`: %s",
                                                  shown_key(&key, p->h, e), what));
}

/* Bytes that shape and type come to, which must be those between the offsets. */
static int32_t check_entry(parser *p, const lr_st_entry *e)
{
    const uint64_t *dims = p->h->dims + e->dims;
    const lr_st_type *type = &lr_st_types[e->type];
    uint64_t elements = 1, bits;
    char words[160];
    if (e->end < e->begin) {
        (void)snprintf(words, sizeof words, "its data end at %" PRIu64 ", before they begin at %" PRIu64, e->end,
                       e->begin);
        return fail_entry(p, e, REC_E_FORMAT, words);
    }
    for (unsigned i = 0; i < e->rank; i++) {
        if (__builtin_mul_overflow(elements, dims[i], &elements)) {
            return fail_entry(p, e, REC_E_FORMAT, "its shape has more elements than 64 bits can count");
        }
    }
    if (__builtin_mul_overflow(elements, (uint64_t)type->bits, &bits)) {
        return fail_entry(p, e, REC_E_FORMAT, "its shape has more bytes than 64 bits can count");
    }
    if (bits % 8) {
        (void)snprintf(words, sizeof words, "%" PRIu64 " elements of %s are not a whole number of bytes", elements,
                       type->name);
        return fail_entry(p, e, REC_E_FORMAT, words);
    }
    if (bits / 8 != e->end - e->begin) {
        (void)snprintf(words, sizeof words,
                       "its shape and type %s need %" PRIu64 " bytes, its data_offsets give %" PRIu64, type->name,
                       bits / 8, e->end - e->begin);
        return fail_entry(p, e, REC_E_FORMAT, words);
    }
    return REC_OK;
}

static int32_t unknown_type(parser *p, const lr_st_text *name, uint64_t at)
{
    char names[256];
    size_t used = 0;
    lr_codec_excerpt brief;
    int32_t status;
    for (size_t i = 0; i < LR_ST_TYPES; i++) {
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? " " : "", lr_st_types[i].name);
    }
    status = rec_fail(p->h->job, REC_E_UNSUPPORTED, at, "the element type `%s` is not known",
                      lr_codec_shown(&brief, lr_st_text_at(p->h, name), name->length));
    rec_fail_hint(p->h->job, "Known are: %s. Without its size the file cannot be checked.", names);
    return status;
}

/* `[`, numbers, `]`: the shape, appended to the dimensions. */
static int32_t shape(parser *p, lr_st_entry *e)
{
    lr_st_header *h = p->h;
    int32_t status = lr_st_json_expect(p->json, '[', "the shape, a list of whole numbers");
    e->rank = 0;
    e->dims = (uint32_t)h->dim_count;
    if (status == REC_OK && lr_st_json_next(p->json, ']')) {
        p->json->in.at++;
        return REC_OK;
    }
    while (status == REC_OK) {
        if (e->rank == LR_ST_RANK_MOST) {
            return rec_fail(h->job, REC_E_UNSUPPORTED, lr_st_location(e->at), "a tensor of more than %d dimensions",
                            LR_ST_RANK_MOST);
        }
        if (lr_codec_grow(h->job, &h->dims, h->dim_count + 1, &h->dim_room, sizeof *h->dims) != REC_OK) {
            return lr_st_no_memory(h->job);
        }
        status = lr_st_json_number(p->json, &h->dims[h->dim_count]);
        h->dim_count++;
        e->rank++;
        if (status == REC_OK && lr_st_json_next(p->json, ']')) {
            p->json->in.at++;
            break;
        }
        status = status == REC_OK ? lr_st_json_expect(p->json, ',', "`,` or `]` in a shape") : status;
    }
    return status;
}

static int32_t offsets(parser *p, lr_st_entry *e)
{
    int32_t status = lr_st_json_expect(p->json, '[', "the data_offsets, a list of two numbers");
    status = status == REC_OK ? lr_st_json_number(p->json, &e->begin) : status;
    status = status == REC_OK ? lr_st_json_expect(p->json, ',', "`,` between the two data_offsets") : status;
    status = status == REC_OK ? lr_st_json_number(p->json, &e->end) : status;
    return status == REC_OK ? lr_st_json_expect(p->json, ']', "`]` after the two data_offsets") : status;
}

static int32_t element_type(parser *p, lr_st_entry *e)
{
    lr_st_text name;
    uint64_t at;
    int32_t status, type;
    lr_st_json_skip(p->json);
    at = lr_json_input_offset(&p->json->in);
    status = lr_st_json_string(p->json, &name, "the dtype, a string");
    if (status == REC_OK) {
        type = lr_st_type_find(lr_st_text_at(p->h, &name), name.length);
        if (type < 0) {
            return unknown_type(p, &name, at);
        }
        e->type = (uint8_t)type;
    }
    return status;
}

/* An entry by the grammar: its fields in any order, unknown ones passed over as the reference implementation does. */
static int32_t entry_fields(parser *p, lr_st_entry *e)
{
    static const struct {
        const char *name;
        int32_t (*read)(parser *p, lr_st_entry *e);
    } fields[] = {{"dtype", element_type}, {"shape", shape}, {"data_offsets", offsets}};
    enum { FIELDS = sizeof fields / sizeof *fields };
    lr_st_map map = {.map = "an entry, {\"dtype\", \"shape\", \"data_offsets\"}",
                     .key = "a field's name in quotes",
                     .colon = "`:` after a field's name",
                     .end = "`,` or `}` in an entry"};
    unsigned seen = 0;
    int32_t status = REC_OK;
    while (lr_st_json_each(p->json, &map, &status)) {
        const char *name = lr_st_text_at(p->h, &map.name);
        unsigned field = 0;
        while (field < FIELDS && !lr_text_is(name, map.name.length, fields[field].name)) {
            field++;
        }
        if (field < FIELDS && seen & 1u << field) {
            char words[64];
            (void)snprintf(words, sizeof words, "its field `%s` occurs twice", fields[field].name);
            return fail_entry(p, e, REC_E_FORMAT, words);
        }
        if (field == FIELDS && p->foreign++ == 0) {
            (void)lr_codec_shown(&p->first_foreign, name, map.name.length);
        }
        seen |= 1u << field;
        status = field < FIELDS ? fields[field].read(p, e) : lr_st_json_foreign(p->json);
    }
    for (unsigned field = 0; field < FIELDS && status == REC_OK; field++) {
        if (!(seen & 1u << field)) {
            char words[64];
            (void)snprintf(words, sizeof words, "its field `%s` is missing", fields[field].name);
            status = fail_entry(p, e, REC_E_FORMAT, words);
        }
    }
    return status;
}

/* Whether `text` (of constant length) is at `*at`; moves after it. */
#define PASS(at, end, text)                                                                    \
    ((size_t)((end) - *(at)) >= sizeof(text) - 1 && memcmp(*(at), text, sizeof(text) - 1) == 0 \
         ? (*(at) += sizeof(text) - 1, true)                                                   \
         : false)

/* Parses numbers up to `]`, with or without a space after the comma. @return the place after it, NULL: other text. */
static inline const uint8_t *quick_numbers(const uint8_t *at, const uint8_t *end, uint64_t *out, unsigned most,
                                           unsigned *count)
{
    unsigned n = 0;
    if (at < end && *at == ']') {
        *count = 0;
        return at + 1;
    }
    while (n < most && end - at >= 2) {
        uint8_t digit = (uint8_t)(*at - '0');
        if (digit <= 9 && (uint8_t)(at[1] - '0') > 9) {
            out[n++] = digit;
            at++;
        } else {
            uint64_t number;
            at = lr_st_digits(at, end, &number);
            if (!at || at == end) {
                return NULL;
            }
            out[n++] = number;
        }
        if (*at == ']') {
            *count = n;
            return at + 1;
        }
        if (*at != ',') {
            return NULL;
        }
        at++;
        at += at < end && *at == ' ';
    }
    return NULL;
}

/* Parses an entry in the form of nearly all writers: dtype, shape, data_offsets in this order, no white space except
 * one space after colons and commas. @return false: another form, and nothing was consumed. */
static inline bool entry_quick(parser *p, lr_st_entry *e)
{
    lr_st_header *h = p->h;
    const uint8_t *at = p->json->in.at, *end = p->json->in.end, *name;
    const lr_st_type *type = &lr_st_types[e->type]; /* most often that of the tensor before */
    uint64_t two[2];
    unsigned count;
    if (!PASS(&at, end, "{\"dtype\":") || (at += at < end && *at == ' ', at == end) || *at++ != '"') {
        return false;
    }
    name = at;
    while (at < end && at - name < type->length && *at == (uint8_t)type->name[at - name]) {
        at++;
    }
    if (at - name != type->length || at == end || *at != '"') {
        int found;
        for (at = name; at < end && at - name < 12 && *at != '"'; at++) {
        }
        found = lr_st_type_find((const char *)name, (uint64_t)(at - name));
        if (found < 0) {
            return false;
        }
        e->type = (uint8_t)found;
    }
    if (!PASS(&at, end, "\",") || (at += at < end && *at == ' ', !PASS(&at, end, "\"shape\":")) ||
        (at += at < end && *at == ' ', at == end) || *at++ != '[' ||
        lr_codec_grow(h->job, &h->dims, h->dim_count + LR_ST_RANK_MOST, &h->dim_room, sizeof *h->dims) != REC_OK) {
        return false; /* without memory: the slow path says so */
    }
    at = quick_numbers(at, end, h->dims + h->dim_count, LR_ST_RANK_MOST, &count);
    if (!at || !PASS(&at, end, ",") ||
        (at += at < end && *at == ' ', !PASS(&at, end, "\"data_of") || !PASS(&at, end, "fsets\":")) ||
        (at += at < end && *at == ' ', at == end) || *at++ != '[') {
        return false;
    }
    e->dims = (uint32_t)h->dim_count;
    e->rank = (uint8_t)count;
    at = quick_numbers(at, end, two, 2, &count);
    if (!at || count != 2 || at == end || *at++ != '}') {
        return false;
    }
    e->begin = two[0];
    e->end = two[1];
    h->dim_count += e->rank;
    p->json->in.at = at;
    return true;
}

/* The entry whose key was read. */
static inline int32_t tensor(parser *p, const lr_st_text *key, uint32_t at, uint8_t type)
{
    lr_st_header *h = p->h;
    lr_st_entry *e;
    uint64_t end = h->count ? h->entries[h->count - 1].end : 0;
    int32_t status = REC_OK;
    if (lr_codec_grow(h->job, &h->entries, h->count + 1, &h->room, sizeof *h->entries) != REC_OK) {
        return lr_st_no_memory(h->job);
    }
    e = &h->entries[h->count];
    *e = (lr_st_entry){.key = *key, .at = at, .type = type};
    if (!entry_quick(p, e)) {
        status = entry_fields(p, e);
    }
    status = status == REC_OK ? check_entry(p, e) : status;
    if (status == REC_OK) {
        p->sorted &= e->begin == end;
        h->count++;
    }
    return status;
}

/* ---------------------------------------------------------------------------------------------------- metadata -- */

static int32_t metadata(parser *p, uint32_t at)
{
    lr_st_header *h = p->h;
    lr_st_map map = {.map = "`__metadata__`, a map of strings to strings",
                     .key = "a key in quotes",
                     .colon = "`:` after a key",
                     .end = "`,` or `}` in `__metadata__`"};
    int32_t status = REC_OK;
    if (p->has_metadata) {
        return lr_st_json_damaged(h->job,
                                  rec_fail(h->job, REC_E_FORMAT, lr_st_location(at), "`__metadata__` occurs twice"));
    }
    p->has_metadata = true;
    if (lr_st_json_next(p->json, 'n')) {
        return lr_st_json_foreign(p->json); /* null: the reference implementation takes it for none */
    }
    while (lr_st_json_each(p->json, &map, &status)) {
        if (!lr_st_json_next(p->json, '"')) {
            lr_codec_excerpt key;
            status = lr_st_json_unexpected(p->json, "a string, as all values of `__metadata__` are");
            rec_fail_hint(h->job, "It is the value of `%s`.",
                          lr_codec_shown(&key, lr_st_text_at(h, &map.name), map.name.length));
            return status;
        }
        status = lr_st_json_pair(p->json, &map.name, map.at, "a string", &h->pairs, &h->pair_count, &h->pair_room);
    }
    return status;
}

/* --------------------------------------------------------------------------------------------------- the whole -- */

static int32_t parse(parser *p)
{
    lr_st_header *h = p->h;
    lr_st_map map = {.map = "the header, a JSON object",
                     .key = "a tensor's name in quotes",
                     .colon = "`:` after a tensor's name",
                     .end = "`,` or `}` in the header"};
    uint64_t likely = h->length / 96; /* a generous estimate: untouched memory costs nothing */
    uint8_t type = 0;
    int32_t status = lr_codec_grow(h->job, &h->entries, likely + 1, &h->room, sizeof *h->entries);
    status = status == REC_OK ? lr_codec_grow(h->job, &h->dims, likely + 1, &h->dim_room, sizeof *h->dims) : status;
    while (lr_st_json_each(p->json, &map, &status)) {
        lr_st_json_skip(p->json);
        if (lr_st_json_is(p->json, &map.name, "__metadata__")) {
            status = metadata(p, map.at);
        } else {
            status = tensor(p, &map.name, map.at, type);
            type = status == REC_OK ? h->entries[h->count - 1].type : type;
        }
    }
    lr_st_json_skip(p->json);
    if (status == REC_OK && p->json->in.at < p->json->in.end) {
        status = lr_st_json_unexpected(p->json, "nothing but white space after the header");
    }
    return status;
}

/* A tensor in the order of the data. */
typedef struct place {
    uint64_t begin, end;
    const lr_st_entry *entry;
} place;

static int by_place(const void *a, const void *b)
{
    const place *x = a, *y = b;
    return x->begin != y->begin ? (x->begin < y->begin ? -1 : 1) : x->end != y->end ? (x->end < y->end ? -1 : 1) : 0;
}

int32_t lr_st_fail_twice(const lr_st_header *h, const lr_st_entry *a, const lr_st_entry *b)
{
    const lr_st_entry *first = a->at < b->at ? a : b, *second = first == a ? b : a;
    lr_codec_excerpt key;
    return rec_fail(h->job, REC_E_FORMAT, lr_st_location(second->at),
                    "the header has the tensor `%s` twice, at bytes %" PRIu64 " and %" PRIu64,
                    shown_key(&key, h, first), lr_st_location(first->at), lr_st_location(second->at));
}

static int32_t fail_place(parser *p, const lr_st_entry *e, const lr_st_entry *before, uint64_t end)
{
    lr_codec_excerpt key, other;
    rec_job *job = p->h->job;
    int32_t status;
    if (before && e->key.length == before->key.length &&
        memcmp(lr_st_text_at(p->h, &e->key), lr_st_text_at(p->h, &before->key), e->key.length) == 0) {
        return lr_st_json_damaged(job, lr_st_fail_twice(p->h, before, e));
    }
    if (e->begin > end) {
        status = rec_fail(job, REC_E_FORMAT, lr_st_location(e->at),
                          "the data of `%s` begin at %" PRIu64 ", but the tensors before it end at %" PRIu64
                          ": the bytes between belong to none",
                          shown_key(&key, p->h, e), e->begin, end);
    } else {
        status = rec_fail(job, REC_E_FORMAT, lr_st_location(e->at),
                          "the data of `%s` begin at %" PRIu64 ", but those of `%s` go on to %" PRIu64
                          ": tensors may not share bytes",
                          shown_key(&key, p->h, e), e->begin, shown_key(&other, p->h, before), end);
    }
    return lr_st_json_damaged(job, status);
}

/* The data must be covered once, without holes, to the end of the file. */
static int32_t check_places(parser *p)
{
    lr_st_header *h = p->h;
    uint64_t data = h->size - 8 - h->length, end = h->count ? h->entries[h->count - 1].end : 0;
    place *places = NULL;
    int32_t status = REC_OK;
    if (!p->sorted) {
        const lr_st_entry *before = NULL;
        places = rec_job_alloc(h->job, h->count * sizeof *places);
        if (!places) {
            return lr_st_no_memory(h->job);
        }
        for (uint64_t i = 0; i < h->count; i++) {
            places[i] = (place){h->entries[i].begin, h->entries[i].end, &h->entries[i]};
        }
        qsort(places, (size_t)h->count, sizeof *places, by_place);
        end = 0;
        for (uint64_t i = 0; i < h->count && status == REC_OK; i++) {
            if (places[i].begin != end) {
                status = fail_place(p, places[i].entry, before, end);
            }
            before = places[i].entry;
            end = places[i].end;
        }
        rec_job_free(h->job, places);
    }
    if (status == REC_OK && end > data) {
        status = rec_fail_found(h->job, REC_E_FORMAT, h->size, "as many bytes as the header says",
                                "%" PRIu64 " bytes of data instead of %" PRIu64, data, end);
        rec_fail_hint(h->job, "The file is truncated: copy it again from its source.");
    } else if (status == REC_OK && end < data && h->size != REC_UNKNOWN) {
        status =
            lr_st_json_damaged(h->job, rec_fail(h->job, REC_E_FORMAT, 8 + h->length + end,
                                                "%" PRIu64 " byte%s after the last tensor belong%s to no tensor",
                                                data - end, data - end == 1 ? "" : "s", data - end == 1 ? "s" : ""));
    }
    return status;
}

/* Fails: `left` bytes follow the length. */
static int32_t fail_short(const lr_st_header *h, uint64_t left)
{
    int32_t status = rec_fail(h->job, REC_E_FORMAT, 0, "the header has %" PRIu64 " bytes, but only %" PRIu64 " follow",
                              h->length, left);
    rec_fail_hint(h->job, "The file is truncated, or it is not a safetensors file.");
    return status;
}

/* The first eight bytes. */
static int32_t read_length(lr_st_header *h)
{
    static const char pointer[] = "version ";
    uint8_t first[8];
    uint64_t got;
    int32_t status = lr_beginning_at(h->job, h->source, 0, first, sizeof first, &got);
    if (status == REC_OK && got < sizeof first) {
        status =
            rec_fail(h->job, REC_E_FORMAT, 0, "a file of %" PRIu64 " bytes; the length of the header alone has 8", got);
        rec_fail_hint(h->job, "The file is truncated, or it is not a safetensors file.");
    }
    if (status != REC_OK) {
        return status;
    }
    h->length = lr_little(first, 8);
    h->size = rec_source_size(h->source);
    if (h->length > LR_ST_HEADER_MOST) {
        status = rec_fail_found(h->job, REC_E_FORMAT, 0, "the length of the header, at most 100,000,000 bytes",
                                "%" PRIu64, h->length);
        rec_fail_hint(h->job, "%s",
                      memcmp(first, pointer, 8) == 0
                          ? "Is it a pointer of Git LFS? Then `git lfs pull` gets the file itself."
                          : "This is not a safetensors file, or it is damaged.");
        return status;
    }
    return h->length > h->size - 8 ? fail_short(h, h->size - 8) : REC_OK;
}

/* The text of the header: of a file that, and nothing else of it, is read. */
static int32_t open_text(lr_st_header *h, const uint8_t **text)
{
    const void *whole = NULL;
    uint64_t got = 0;
    int32_t status = read_length(h);
    if (status == REC_OK && h->size != REC_UNKNOWN) {
        status = rec_source_at_hand(h->job, h->source, 8, h->length, &whole);
    }
    if (status == REC_OK && !whole) {
        status = lr_beginning_grow(h->job, h->source, 8, &h->text, h->length, &got);
        status = status == REC_OK && got < h->length ? fail_short(h, got) : status;
        whole = h->text;
    }
    *text = whole;
    return status;
}

int32_t lr_st_header_open(lr_st_header *h, rec_job *job, rec_source *source, bool beside)
{
    parser p = {.h = h, .json = &h->json, .sorted = true};
    const uint8_t *text = NULL;
    int32_t status;
    *h = (lr_st_header){.job = job, .source = source, .beside = beside};
    status = open_text(h, &text);
    if (status == REC_OK) {
        lr_st_json_open(&h->json, job, source, text, h->length, 8, "the header");
        status = parse(&p);
    }
    status = status == REC_OK ? check_places(&p) : status;
    if (status == REC_OK && p.foreign) {
        rec_job_note(job, REC_NOTE_DROPPED, "",
                     "%s: %" PRIu64 " field%s of tensors that safetensors does not have: left out; the first is `%s`",
                     rec_source_name(source), p.foreign, p.foreign == 1 ? "" : "s", p.first_foreign.text);
    }
    if (status != REC_OK && beside) {
        rec_fail_source(job, source);
    }
    return status;
}

void lr_st_header_close(lr_st_header *h)
{
    if (h->job) {
        rec_job_free(h->job, h->entries);
        rec_job_free(h->job, h->dims);
        rec_job_free(h->job, h->pairs);
        lr_st_json_close(&h->json);
        rec_job_free(h->job, h->text);
    }
}

rec_tensor_event lr_st_event(const lr_st_header *h, const lr_st_entry *e)
{
    const lr_st_type *type = &lr_st_types[e->type];
    return (rec_tensor_event){
        .size = sizeof(rec_tensor_event),
        .dtype = type->dtype,
        .rank = e->rank,
        .shape = h->dims + e->dims,
        .dtype_name = type->dtype == REC_DTYPE_OPAQUE ? type->name : NULL,
        .data = {.size = sizeof(rec_blob),
                 .kind = REC_BLOB_RANGE, /* core makes a view of it where nothing has to be read for that */
                 .length = e->end - e->begin,
                 .source = h->source,
                 .offset = 8 + h->length + e->begin},
    };
}
