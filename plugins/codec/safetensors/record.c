/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A record from its flat tensors and the text that says what they do not: the reader of what structure.c writes.
 * The text may be as wrong as any input. */
#include <inttypes.h>
#include <stdio.h>

#include "plugins/codec/number.h"
#include "plugins/codec/safetensors/restore_private.h"

enum {
    TEXT_VERSION = 2, /* 1: all metadata are texts */
    COUNTED_MOST = 4  /* times the text's size: what may be read ahead to count */
};

/* ------------------------------------------------------------------------------------------------------ values -- */

static int32_t value(lr_st_reader *r);

static int32_t deeper(lr_st_reader *r)
{
    if (r->depth >= r->limit) {
        int32_t status = rec_fail(r->job, REC_E_LIMIT, r->at, "lists and maps are nested deeper than the limit of %u",
                                  (unsigned)r->limit);
        rec_fail_hint(r->job, "If the file can be trusted, raise `depth` (rec_limits, or the INI file).");
        return status;
    }
    r->depth++;
    return REC_OK;
}

/* The start of a number with its type, `["u8",`. @param letters the kinds that may be; letter,bits (out) its type. */
static bool pass_size(lr_st_reader *r, const char *letters, char *letter, unsigned *bits)
{
    static const unsigned char widths[] = {0, 8, 16, 32, 64};
    for (; *letters; letters++) {
        for (size_t i = 0; i < sizeof widths; i++) {
            char tag[16];
            *letter = *letters;
            *bits = widths[i];
            (void)snprintf(tag, sizeof tag, "[\"%c%u\",", *letter, *bits);
            if (lr_st_pass(r, tag)) {
                return true;
            }
        }
    }
    return false;
}

/* A key that was written as ~ and a scalar. */
static int32_t odd_key(lr_st_reader *r, const char *text, uint64_t length, rec_scalar *key)
{
    lr_json_input outer = r->in;
    char copy[64];
    unsigned bits = 0;
    char letter = 0;
    int32_t status;
    if (length >= sizeof copy) {
        return lr_st_wrong(r, "a shorter key that is not a string before this");
    }
    memcpy(copy, text, (size_t)length); /* reading may use the memory that it lies in */
    copy[length] = '\0';
    r->in.at = r->in.start = (const uint8_t *)copy;
    r->in.end = r->in.start + length;
    if (lr_st_pass(r, "true") || lr_st_pass(r, "false")) {
        *key = (rec_scalar){.kind = REC_KIND_BOOL, .v.i = copy[0] == 't'};
        status = REC_OK;
    } else if (pass_size(r, "iu", &letter, &bits)) {
        status = lr_st_sized_number(r, letter, bits, key);
        status = status == REC_OK ? lr_st_expect(r, ']', "`]` after a key's number") : status;
    } else {
        status = lr_st_number(r, key);
        status = status == REC_OK && key->kind == REC_KIND_FLOAT ? lr_st_wrong(r, "a key that is not a float") : status;
    }
    if (status == REC_OK && r->in.at != r->in.end) {
        status = lr_st_wrong(r, "the end of a key");
    }
    r->in = outer;
    return status;
}

/* @return the end of a string, whose first byte is at `p`. */
static const uint8_t *past_string(const uint8_t *p, const uint8_t *end)
{
    while (p < end && *p != '"') {
        p += *p == '\\' && end - p > 1 ? 2 : 1;
    }
    return p < end ? p + 1 : end;
}

/* Counts the elements or entries after the bracket before the cursor, so that the record takes no more memory than
 * they need. @return REC_UNKNOWN after too many bytes, and for a list with a run of numbers. */
static uint64_t count_ahead(lr_st_reader *r)
{
    const uint8_t *p = r->in.at, *end = r->in.end;
    uint64_t count = p < end && (*p == ']' || *p == '}') ? 0 : 1, depth = 0;
    bool closed = false;
    end = (uint64_t)(end - p) < r->ahead ? end : p + r->ahead;
    while (p < end && !closed) {
        uint8_t c = *p++;
        if (c == '"') {
            p = past_string(p, end);
        } else if (c == '[' || c == '{') {
            if (!depth++ && end - p > 5 && memcmp(p, "\"run\",", 6) == 0) {
                break;
            }
        } else if (c == ']' || c == '}') {
            closed = !depth--;
        }
        count += c == ',' && !depth;
    }
    r->ahead -= (uint64_t)(p - r->in.at);
    return closed ? count : REC_UNKNOWN;
}

/* `{"key":value,…}` */
static int32_t map(lr_st_reader *r, int32_t form)
{
    int32_t status = deeper(r);
    status = status == REC_OK ? lr_st_expect(r, '{', "a map") : status;
    r->paths = r->paths || form == REC_FORM_PATHS;
    status = status == REC_OK ? r->visitor->map_begin(r->self, r->at, form, count_ahead(r)) : status;
    if (status == REC_OK && !lr_st_pass(r, "}")) {
        do {
            rec_scalar key = {.kind = REC_KIND_STRING};
            uint64_t path = 0;
            status = lr_st_string(r, &key.text, &key.v.length);
            if (status == REC_OK && key.v.length && key.text[0] == '~') {
                if (key.v.length > 1 && key.text[1] == '~') {
                    key.text++;
                    key.v.length--;
                } else {
                    status = odd_key(r, key.text + 1, key.v.length - 1, &key);
                }
            }
            status = status == REC_OK ? lr_st_expect(r, ':', "`:` after a key") : status;
            if (status == REC_OK) {
                path = lr_st_path_enter(&r->path, &key);
                status = r->path.text.status;
            }
            if (status == REC_OK && form == REC_FORM_PATHS) {
                status = lr_buffer_path(&r->dotted, &key.text, &key.v.length);
            }
            status = status == REC_OK ? r->visitor->key(r->self, r->at, &key) : status;
            status = status == REC_OK ? value(r) : status;
            lr_st_path_leave(&r->path, path);
        } while (status == REC_OK && lr_st_pass(r, ","));
        status = status == REC_OK ? lr_st_expect(r, '}', "`,` or `}` in a map") : status;
    }
    r->depth--;
    return status == REC_OK ? r->visitor->end(r->self, r->at) : status;
}

/* Numbers of a list: `"dtype",[…]]`, handed on by pieces. */
static int32_t run(lr_st_reader *r, uint64_t *count)
{
    enum { PIECE = 64 }; /* small, for this may be inlined into functions that call themselves */
    uint8_t piece[PIECE * sizeof(uint64_t)];
    uint64_t words = r->words.size, name, length;
    uint32_t used = 0, width, bits;
    int32_t status = lr_st_word(r, &name, &length);
    rec_dtype dtype = REC_DTYPE_NONE;
    char letter = 'u';
    if (status == REC_OK) {
        dtype = rec_dtype_from_name(r->words.data + name);
        r->words.size = words;
    }
    switch (dtype) {
    case REC_DTYPE_F64:
    case REC_DTYPE_F32:
        letter = 'f';
        break;
    case REC_DTYPE_I8:
    case REC_DTYPE_I16:
    case REC_DTYPE_I32:
    case REC_DTYPE_I64:
        letter = 'i';
        break;
    case REC_DTYPE_U8:
    case REC_DTYPE_U16:
    case REC_DTYPE_U32:
    case REC_DTYPE_U64:
    case REC_DTYPE_BOOL:
        break;
    default:
        return status == REC_OK ? lr_st_wrong(r, "the type of a run of numbers before this") : status;
    }
    bits = rec_dtype_bits(dtype);
    width = bits / 8;
    status = lr_st_pass(r, ",[") ? REC_OK : lr_st_wrong(r, "a list of numbers");
    if (status == REC_OK && lr_st_pass(r, "]]")) {
        return REC_OK;
    }
    do {
        rec_scalar s;
        status = status == REC_OK ? lr_st_sized_number(r, letter, dtype == REC_DTYPE_BOOL ? 1 : bits, &s) : status;
        if (status != REC_OK) {
            return status;
        }
        lr_number_put(dtype, &s, piece + used * width);
        ++*count;
        if (++used == PIECE) {
            status = r->visitor->numbers(r->self, r->at, dtype, piece, used);
            used = 0;
        }
    } while (status == REC_OK && lr_st_pass(r, ","));
    if (status == REC_OK && used) {
        status = r->visitor->numbers(r->self, r->at, dtype, piece, used);
    }
    return status != REC_OK || lr_st_pass(r, "]]") ? status : lr_st_wrong(r, "`,` or `]]` in a run of numbers");
}

/* `[value,…]]` */
static int32_t list(lr_st_reader *r, int32_t form)
{
    uint64_t count = 0;
    int32_t status = deeper(r);
    status = status == REC_OK ? lr_st_expect(r, '[', "a list") : status;
    status = status == REC_OK ? r->visitor->list_begin(r->self, r->at, form, count_ahead(r)) : status;
    if (status == REC_OK && !lr_st_pass(r, "]")) {
        do {
            if (lr_st_pass(r, "[\"run\",")) {
                status = run(r, &count);
            } else {
                rec_scalar index = {.kind = REC_KIND_UINT, .v.u = count++};
                uint64_t path = lr_st_path_enter(&r->path, &index);
                status = r->path.text.status;
                status = status == REC_OK ? value(r) : status;
                lr_st_path_leave(&r->path, path);
            }
        } while (status == REC_OK && lr_st_pass(r, ","));
        status = status == REC_OK ? lr_st_expect(r, ']', "`,` or `]` in a list") : status;
    }
    r->depth--;
    status = status == REC_OK ? r->visitor->end(r->self, r->at) : status;
    return status == REC_OK ? lr_st_expect(r, ']', "`]` after a list") : status;
}

/* `index,"name"]` or `index,"name",payload]` */
static int32_t variant(lr_st_reader *r)
{
    rec_scalar name = {.kind = REC_KIND_STRING}, index = {.v.u = REC_UNKNOWN};
    uint64_t path = 0;
    int32_t status = deeper(r);
    bool payload;
    if (status == REC_OK && !lr_st_pass(r, "null")) {
        status = lr_st_sized_number(r, 'u', 64, &index);
    }
    status = status == REC_OK ? lr_st_expect(r, ',', "a variant's name") : status;
    status = status == REC_OK ? lr_st_string(r, &name.text, &name.v.length) : status;
    payload = status == REC_OK && lr_st_pass(r, ",");
    if (status == REC_OK) {
        path = lr_st_path_enter(&r->path, &name);
        status = r->path.text.status;
    }
    status = status == REC_OK ? r->visitor->variant_begin(r->self, r->at, index.v.u, &name, payload) : status;
    status = status == REC_OK && payload ? value(r) : status;
    status = status == REC_OK ? lr_st_expect(r, ']', "`]` after a variant") : status;
    if (r->path.parts) {
        lr_st_path_leave(&r->path, path);
    }
    r->depth--;
    return status == REC_OK ? r->visitor->end(r->self, r->at) : status;
}

static int32_t scalar(lr_st_reader *r, const rec_scalar *s)
{
    return r->visitor->scalar(r->self, r->at, s);
}

static int32_t map_of(lr_st_reader *r, int32_t form)
{
    int32_t status = map(r, form);
    return status == REC_OK ? lr_st_expect(r, ']', "`]` after a map") : status;
}

/* Parses brackets: a word, and its arguments. */
static int32_t tagged(lr_st_reader *r)
{
    static const struct {
        const char *text;
        uint16_t form;
    } nils[] = {{"[\"unit\"]", REC_FORM_UNIT},
                {"[\"constant\"]", REC_FORM_CONSTANT},
                {"[\"unit_struct\"]", REC_FORM_UNIT_STRUCT}},
      maps[] = {{"[\"struct\",", REC_FORM_STRUCT}, {"[\"map\",", REC_FORM_MAP}, {"[\"paths\",", REC_FORM_PATHS}},
      lists[] = {{"[\"list\",", REC_FORM_UNKNOWN},
                 {"[\"vec\",", REC_FORM_LIST},
                 {"[\"array\",", REC_FORM_ARRAY},
                 {"[\"tuple\",", REC_FORM_TUPLE}};
    unsigned bits;
    char letter;
    if (r->aside && (lr_st_pass(r, "[\"tensor\"") || lr_st_pass(r, "[\"blob\"") || lr_st_pass(r, "[\"paths\""))) {
        return lr_st_wrong(r, "metadata without tensors before this");
    }
    if (lr_st_pass(r, "[\"tensor\"")) {
        return lr_st_restore_tensor(r);
    }
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) {
        if ((maps[i].form != REC_FORM_PATHS || r->depth == 0) && lr_st_pass(r, maps[i].text)) {
            return map_of(r, maps[i].form);
        }
    }
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        if (lr_st_pass(r, lists[i].text)) {
            return list(r, lists[i].form);
        }
    }
    for (size_t i = 0; i < sizeof nils / sizeof *nils; i++) {
        if (lr_st_pass(r, nils[i].text)) {
            return scalar(r, &(rec_scalar){.kind = REC_KIND_NIL, .form = nils[i].form});
        }
    }
    if (lr_st_pass(r, "[\"none\"]")) {
        return r->visitor->option(r->self, r->at, 0);
    }
    if (lr_st_pass(r, "[\"some\",")) {
        int32_t status = deeper(r);
        status = status == REC_OK ? r->visitor->option(r->self, r->at, 1) : status;
        status = status == REC_OK ? value(r) : status;
        r->depth--;
        return status == REC_OK ? lr_st_expect(r, ']', "`]` after an option") : status;
    }
    if (lr_st_pass(r, "[\"variant\",")) {
        return variant(r);
    }
    if (lr_st_pass(r, "[\"blob\"")) {
        return lr_st_restore_blob(r);
    }
    if (lr_st_pass(r, "[\"bytes\"")) {
        return lr_st_restore_bytes(r);
    }
    if (pass_size(r, "iuf", &letter, &bits)) {
        rec_scalar s;
        int32_t status = lr_st_sized_number(r, letter, bits, &s);
        status = status == REC_OK ? lr_st_expect(r, ']', "`]` after a number") : status;
        return status == REC_OK ? scalar(r, &s) : status;
    }
    return lr_st_wrong(r, "a value of the text `" LR_ST_RECORD_KEY "`");
}

static int32_t value(lr_st_reader *r)
{
    rec_scalar s = {.kind = REC_KIND_NIL};
    int32_t status;
    if (lr_st_next_is(r, '[')) {
        return tagged(r);
    }
    if (lr_st_next_is(r, '{')) {
        return map(r, REC_FORM_UNKNOWN);
    }
    if (lr_st_next_is(r, '"')) {
        s.kind = REC_KIND_STRING;
        status = lr_st_string(r, &s.text, &s.v.length);
    } else if (lr_st_pass(r, "null")) {
        status = REC_OK;
    } else if (lr_st_pass(r, "true") || lr_st_pass(r, "false")) {
        s = (rec_scalar){.kind = REC_KIND_BOOL, .v.i = r->in.at[-2] == 'u'};
        status = REC_OK;
    } else {
        status = lr_st_number(r, &s);
    }
    return status == REC_OK ? scalar(r, &s) : status;
}

/* --------------------------------------------------------------------------------------------------- the whole -- */

static int32_t metadata(lr_st_reader *r)
{
    int32_t status = lr_st_expect(r, '{', "the record's metadata, a map");
    if (status == REC_OK && lr_st_pass(r, "}")) {
        return REC_OK;
    }
    while (status == REC_OK) {
        rec_scalar key = {.kind = REC_KIND_STRING}, text = {.kind = REC_KIND_STRING};
        uint64_t words = r->words.size, at = 0;
        status = lr_st_word(r, &at, &key.v.length);
        status = status == REC_OK ? lr_st_expect(r, ':', "`:` after a key") : status;
        if (status == REC_OK && (!r->values || lr_st_next_is(r, '"'))) {
            status = lr_st_string(r, &text.text, &text.v.length);
            key.text = r->words.data + at;
            status = status == REC_OK ? lr_st_set_adapter(r->job, &key, &text) : status;
            status = status == REC_OK ? r->visitor->metadata(r->self, r->at, &key, &text) : status;
        } else if (status == REC_OK) {
            key.text = r->words.data + at;
            status = r->visitor->metadata_value(r->self, r->at, &key);
            r->aside = true;
            status = status == REC_OK ? value(r) : status;
            r->aside = false;
        }
        r->words.size = words;
        if (status == REC_OK && !lr_st_pass(r, ",")) {
            return lr_st_expect(r, '}', "`,` or `}` in the metadata");
        }
    }
    return status;
}

/* Every tensor that was not left out must have been taken. */
static int32_t check_taken(lr_st_reader *r)
{
    for (uint64_t f = 0; f < r->model->file_count; f++) {
        const lr_st_header *h = &r->model->files[f].header;
        for (uint64_t i = 0; i < h->count; i++) {
            const lr_st_entry *e = &h->entries[i];
            if (!e->mark) {
                return lr_st_wrong_tensor(r, lr_st_text_at(h, &e->key), e->key.length,
                                          "is in the file, but not in the text `" LR_ST_RECORD_KEY "`");
            }
        }
    }
    return REC_OK;
}

/* A reader of `text`, which has that key. */
static void open_reader(lr_st_reader *r, lr_st_model *model, const char *key, const char *text, uint64_t length,
                        uint64_t at, const rec_visitor *visitor, void *self)
{
    *r = (lr_st_reader){.model = model, .job = model->job, .visitor = visitor, .self = self, .at = at, .key = key};
    r->limit = rec_job_depth_limit(model->job);
    r->ahead = COUNTED_MOST * length;
    r->path.text.job = r->words.job = r->dotted.job = model->job;
    r->in = (lr_json_input){.job = model->job,
                            .source = model->source,
                            .at = (const uint8_t *)text,
                            .start = (const uint8_t *)text,
                            .end = (const uint8_t *)text + length,
                            .offset = at,
                            .size = length,
                            .ended = true};
}

static void close_reader(lr_st_reader *r)
{
    lr_float_reader_free(&r->floats);
    rec_job_free(r->job, r->memory.data);
    rec_job_free(r->job, r->path.text.data);
    rec_job_free(r->job, r->words.data);
    rec_job_free(r->job, r->dotted.data);
}

/* `[1,{…}`: what all of these texts begin with. @param most the latest version. @param form what it should be. @param
 *  values the first version whose metadata may be other than texts. */
static int32_t begin(lr_st_reader *r, uint64_t most, const char *form, uint64_t values)
{
    rec_scalar version = {0};
    int32_t status = lr_st_expect(r, '[', form);
    status = status == REC_OK ? lr_st_sized_number(r, 'u', 0, &version) : status;
    if (status == REC_OK && (version.v.u < 1 || version.v.u > most)) {
        status = lr_st_hint(r, rec_fail(r->job, REC_E_UNSUPPORTED, r->at,
                                        "the text `%s` is of version %" PRIu64
                                        "; this librecord reads versions up to %" PRIu64,
                                        r->key, version.v.u, most));
    }
    r->values = version.v.u >= values;
    status = status == REC_OK ? lr_st_expect(r, ',', "`,` after the version") : status;
    return status == REC_OK ? metadata(r) : status;
}

static int32_t end(lr_st_reader *r, int32_t status)
{
    status = status == REC_OK ? lr_st_expect(r, ']', "`]` at the end") : status;
    return status == REC_OK && r->in.at != r->in.end ? lr_st_wrong(r, "nothing after the record") : status;
}

int32_t lr_st_record_read(lr_st_model *model, const char *text, uint64_t length, uint64_t at,
                          const rec_visitor *visitor, void *self)
{
    lr_st_reader r;
    int32_t status;
    open_reader(&r, model, LR_ST_RECORD_KEY, text, length, at, visitor, self);
    r.source = model->indexed ? model->index.source : model->files[0].source;
    status = begin(&r, TEXT_VERSION, "a list, [version, metadata, item]", 2);
    status = status == REC_OK ? lr_st_expect(&r, ',', "`,` after the metadata") : status;
    status = status == REC_OK ? value(&r) : status;
    status = end(&r, status);
    status = status == REC_OK ? check_taken(&r) : status;
    close_reader(&r);
    return status;
}

int32_t lr_st_metadata_read(lr_st_model *model, rec_source *source, const char *text, uint64_t length, uint64_t at,
                            const rec_visitor *visitor, void *self)
{
    lr_st_reader r;
    int32_t status;
    open_reader(&r, model, LR_ST_TYPED_KEY, text, length, at, visitor, self);
    r.source = source;
    status = end(&r, begin(&r, 1, "a list, [version, metadata]", 1));
    close_reader(&r);
    return status;
}
