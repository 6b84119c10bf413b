/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Element types that have more to them than a name, as text and back: formats that know tensors themselves carry the
 * scheme of a quantised tensor in it. And which versions of Burn have the same scheme. */
#include "burn/layout/layout.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    DEEPEST = 8, /* Burn's own schemes have three levels */
    LONGEST = 4096
};

/* ----------------------------------------------------------------------------------------------------- to text -- */

typedef struct writer {
    lr_json_line out;
    bool told; /* false: there is something that has no text */
} writer;

/* With as many digits as always give it back. */
static void put_float(writer *w, double number, unsigned bits)
{
    char digits[40];
    w->told = w->told && number - number == 0; /* JSON has no infinities */
    lr_line_word(&w->out, lr_number_put(digits, sizeof digits, 'e', bits == 32 ? 8 : 16, number));
    lr_line_word(&w->out, bits == 32 ? "f" : "");
}

static void put_value(writer *w, const rec_value *value, unsigned depth);

static void put_scalar(writer *w, const rec_scalar *scalar)
{
    char digits[24];
    switch (scalar->kind) {
    case REC_KIND_NIL:
        lr_line_word(&w->out, "null");
        break;
    case REC_KIND_BOOL:
        lr_line_word(&w->out, scalar->v.i ? "true" : "false");
        break;
    case REC_KIND_INT:
        (void)snprintf(digits, sizeof digits, "%" PRId64, scalar->v.i);
        lr_line_word(&w->out, digits);
        break;
    case REC_KIND_UINT:
        (void)snprintf(digits, sizeof digits, "%" PRIu64, scalar->v.u);
        lr_line_word(&w->out, digits);
        break;
    case REC_KIND_FLOAT:
        put_float(w, scalar->v.f, scalar->bits);
        break;
    case REC_KIND_STRING:
        lr_line_string(&w->out, scalar->text, scalar->v.length);
        break;
    default:
        w->told = false;
        break;
    }
}

static void put_entry(writer *w, const rec_value *key, const rec_value *value, unsigned depth)
{
    w->told = w->told && key->kind == REC_KIND_STRING;
    if (w->told) {
        lr_line_string(&w->out, key->v.text, key->length);
        lr_line_word(&w->out, ":");
        put_value(w, value, depth);
    }
}

static void put_value(writer *w, const rec_value *value, unsigned depth)
{
    rec_scalar scalar;
    w->told = w->told && depth < DEEPEST && w->out.used < LONGEST;
    if (!w->told) {
        return;
    }
    switch (value->kind) {
    case REC_KIND_MAP:
        lr_line_word(&w->out, "{");
        for (uint64_t i = 0; i < value->v.map->count && w->told; i++) {
            lr_line_word(&w->out, i ? "," : "");
            put_entry(w, &value->v.map->entries[i].key, &value->v.map->entries[i].value, depth + 1);
        }
        lr_line_word(&w->out, "}");
        break;
    case REC_KIND_LIST:
        lr_line_word(&w->out, "[");
        for (uint64_t i = 0; i < value->v.list->count && w->told; i++) {
            lr_line_word(&w->out, i ? "," : "");
            put_value(w, &value->v.list->items[i], depth + 1);
        }
        lr_line_word(&w->out, "]");
        break;
    case REC_KIND_NUMBERS:
        lr_line_word(&w->out, "[");
        for (uint64_t i = 0; i < value->v.run->count && w->out.used < LONGEST; i++) {
            lr_line_word(&w->out, i ? "," : "");
            scalar = lr_packed_number(value->v.run, i);
            put_scalar(w, &scalar);
        }
        lr_line_word(&w->out, "]");
        break;
    case REC_KIND_VARIANT:
        if (value->v.variant->has_payload) {
            lr_line_word(&w->out, "{");
            put_entry(w, &value->v.variant->name, &value->v.variant->payload, depth + 1);
            lr_line_word(&w->out, "}");
        } else {
            put_value(w, &value->v.variant->name, depth + 1);
        }
        break;
    case REC_KIND_BYTES:
    case REC_KIND_TENSOR:
        w->told = false;
        break;
    default:
        scalar = lr_to_scalar(value);
        put_scalar(w, &scalar);
        break;
    }
}

const char *lr_burn_dtype_text(rec_job *job, const rec_value *value, char *buffer)
{
    writer w = {.out = {.text = buffer, .room = LR_DTYPE_TEXT_ROOM}, .told = true};
    if (value->kind == REC_KIND_STRING) {
        return value->v.text;
    }
    put_value(&w, value, 0);
    if (!w.told || w.out.used > LONGEST) {
        (void)rec_fail(job, REC_E_UNSUPPORTED, REC_UNKNOWN,
                       "the description of a tensor's element type cannot be written as text");
        return NULL;
    }
    buffer[w.out.used] = '\0';
    return buffer;
}

/* --------------------------------------------------------------------------------------------------- from text -- */

typedef struct reader {
    rec_record *record;
    const char *at, *end;
    bool refused; /* by the arena */
} reader;

static bool pass(reader *r, char c)
{
    bool there = r->at < r->end && *r->at == c;
    r->at += there;
    return there;
}

static bool pass_word(reader *r, const char *word)
{
    size_t length = strlen(word);
    bool there = (size_t)(r->end - r->at) >= length && memcmp(r->at, word, length) == 0;
    r->at += there ? length : 0;
    return there;
}

static bool read_string(reader *r, rec_value *value)
{
    char text[LONGEST];
    size_t used = 0;
    if (!pass(r, '"')) {
        return false;
    }
    while (r->at < r->end && *r->at != '"') {
        char c = *r->at++;
        if (c == '\\') {
            unsigned code;
            if (r->at == r->end) {
                return false;
            }
            c = *r->at++;
            if (c == 'u') {
                char digits[5] = "";
                if (r->end - r->at < 4 || strspn(r->at, "0123456789abcdef") < 4) {
                    return false;
                }
                memcpy(digits, r->at, 4);
                code = 0;
                for (int i = 0; i < 4; i++) {
                    code = code * 16 + (unsigned)(digits[i] <= '9' ? digits[i] - '0' : digits[i] - 'a' + 10);
                }
                if (code >= 0x20) { /* only characters that JSON requires to be escaped */
                    return false;
                }
                c = (char)code;
                r->at += 4;
            } else if (c != '"' && c != '\\') {
                return false;
            }
        }
        text[used++] = c; /* never more than the text is long */
    }
    if (!pass(r, '"') || lr_utf8_valid(text, used) != used) {
        return false;
    }
    r->refused = !lr_string(&r->record->arena, text, used, value);
    return !r->refused;
}

static bool read_number(reader *r, rec_value *value)
{
    size_t length = 0;
    bool negative = r->at < r->end && *r->at == '-', whole = true;
    rec_scalar scalar = {.kind = REC_KIND_UINT};
    uint64_t magnitude = 0;
    for (; r->at + length < r->end && strchr("0123456789+-.e", r->at[length]) && r->at[length]; length++) {
        whole = whole && (lr_is_digit(r->at[length]) || (length == 0 && negative));
    }
    if (length == (size_t)negative) {
        return false;
    }
    if (whole) {
        for (size_t i = negative; i < length; i++) {
            uint64_t digit = (uint64_t)(r->at[i] - '0');
            if (magnitude > (UINT64_MAX - digit) / 10) {
                return false;
            }
            magnitude = magnitude * 10 + digit;
        }
        if (negative && magnitude > (uint64_t)INT64_MAX + 1) {
            return false;
        }
        scalar.kind = negative ? REC_KIND_INT : REC_KIND_UINT;
        scalar.v.u = negative ? 0 - magnitude : magnitude;
    } else {
        scalar.kind = REC_KIND_FLOAT;
        scalar.bits = 64;
        if (!lr_number_read(r->at, length, &scalar.v.f)) {
            return false;
        }
    }
    r->at += length;
    if (!whole && pass(r, 'f')) {
        scalar.bits = 32;
        scalar.v.f = (double)(float)scalar.v.f;
    }
    r->refused = !lr_from_scalar(&r->record->arena, &scalar, value);
    return !r->refused;
}

static bool read_value(reader *r, rec_value *value, unsigned depth);

static bool read_list(reader *r, rec_value *value, unsigned depth)
{
    lr_list *list = lr_list_new(&r->record->arena, 0);
    r->refused = !list;
    *value = (rec_value){.kind = REC_KIND_LIST, .v.list = list};
    if (r->refused || pass(r, ']')) {
        return !r->refused;
    }
    do {
        rec_value item, *last;
        if (!read_value(r, &item, depth)) {
            return false;
        }
        last = lr_list_append(&r->record->arena, list);
        r->refused = !last;
        if (r->refused) {
            return false;
        }
        *last = item;
    } while (pass(r, ','));
    return pass(r, ']');
}

static bool read_map(reader *r, rec_value *value, unsigned depth)
{
    lr_map *map = lr_map_new(&r->record->arena, 0);
    lr_entry *twice = NULL;
    r->refused = !map;
    *value = (rec_value){.kind = REC_KIND_MAP, .v.map = map};
    if (r->refused || pass(r, '}')) {
        return !r->refused;
    }
    do {
        rec_value key, item;
        lr_entry *entry;
        if (!read_string(r, &key) || !pass(r, ':') || !read_value(r, &item, depth)) {
            return false;
        }
        entry = lr_map_append(&r->record->arena, map, key);
        r->refused = !entry;
        if (r->refused) {
            return false;
        }
        entry->value = item;
    } while (pass(r, ','));
    if (!pass(r, '}')) {
        return false;
    }
    r->refused = !lr_map_index(&r->record->arena, map, &twice);
    return !r->refused && !twice;
}

static bool read_value(reader *r, rec_value *value, unsigned depth)
{
    if (depth >= DEEPEST || r->at == r->end) {
        return false;
    }
    if (pass(r, '{')) {
        return read_map(r, value, depth + 1);
    }
    if (pass(r, '[')) {
        return read_list(r, value, depth + 1);
    }
    if (*r->at == '"') {
        return read_string(r, value);
    }
    if (pass_word(r, "null")) {
        *value = lr_nil(REC_FORM_UNKNOWN);
        return true;
    }
    if (pass_word(r, "true") || pass_word(r, "false")) {
        *value = (rec_value){.kind = REC_KIND_BOOL, .v.i = r->at[-2] == 'u'};
        return true;
    }
    return read_number(r, value);
}

int32_t lr_burn_dtype_read(rec_job *job, rec_record *record, uint64_t at, rec_dtype dtype, const char *text,
                           rec_value *value)
{
    reader r = {.record = record, .at = text, .end = text + strlen(text)};
    bool plain = dtype == REC_DTYPE_OPAQUE && *text != '{';
    bool read;
    if (plain) {
        read = lr_string(&record->arena, text, strlen(text), value);
        r.refused = !read;
    } else {
        read = r.end - r.at <= LONGEST && read_value(&r, value, 0) && r.at == r.end;
        read = read && value->kind == REC_KIND_MAP && lr_burn_dtype(value) == dtype;
    }
    if (r.refused) {
        return lr_fail_arena(job, &record->arena, sizeof *value);
    }
    return read ? REC_OK
                : rec_fail_found(job, REC_E_FORMAT, at,
                                 dtype == REC_DTYPE_QFLOAT ? "a quantised tensor with its scheme"
                                                           : "an element type in Burn's words",
                                 "\"%.80s\"", text);
}

/* ---------------------------------------------------------------------------------------------------- versions -- */

static const rec_value *member(const rec_value *value, const char *name)
{
    const lr_entry *entry =
        value && value->kind == REC_KIND_MAP ? lr_map_find_text(value->v.map, name, strlen(name)) : NULL;
    return entry ? &entry->value : NULL;
}

bool lr_burn_scheme_fits(const rec_value *dtype, int32_t from, int32_t minor)
{
    static const struct {
        const char *name;
        int32_t first, last;
    } variants[] = {
        {"PerTensorAffineInt8", 14, 15}, {"PerTensorSymmetricInt8", 14, 15},
        {"PerTensorAffine", 16, 16},     {"PerTensorSymmetric", 16, 16},
        {"PerTensor", 17, 17},           {"q_type", 18, 18},
    };
    const rec_value *scheme = member(dtype, "QFloat"), *store;
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        if (member(scheme, variants[i].name)) {
            return minor >= variants[i].first && minor <= variants[i].last;
        }
    }
    store = member(scheme, "store");
    if (store && member(scheme, "value") && member(scheme, "param") && member(scheme, "level")) {
        bool packed = member(store, "PackedNative") || member(store, "PackedU32");
        bool old = lr_value_is(store, "U32");
        if (packed || (from >= 20 && !old)) {
            return minor >= 20;
        }
        return old ? minor == 19 : from < 0 ? minor >= 19 : minor == from;
    }
    return from < 0 || minor == from; /* no other version has another form */
}
