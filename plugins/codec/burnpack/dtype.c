/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Element types as each version of Burn names them, and the schemes of quantised tensors: Burn 0.22 has them in another
 * form than 0.19 to 0.21, which take each other's for something else. A record has them in the older form where there
 * is one. */
#include <inttypes.h>
#include <stdio.h>

#include "plugins/codec/burnpack/burnpack.h"
#include "plugins/codec/burns.h"
#include "plugins/codec/room.h"

enum { NEW_BOOL = 21, NEW_SCHEME = 22, PACKED = 20 };

/* How bools are stored. */
static const char *const natives[] = {"Native", "U8", "U32", NULL};
static const rec_dtype bools[] = {REC_DTYPE_BOOL, REC_DTYPE_BOOL8, REC_DTYPE_BOOL32};
static const char *const kinds[] = {"Bool", "QFloat", NULL};

/* ----------------------------------------------------------------------------------------------------- schemes -- */

enum { DIMENSIONS = 5 };

/* Words are those of the tables below; NULL: none. */
typedef struct scheme {
    const char *value, *store, *mode;
    const char *tensor, *block;           /* the types of the scales of the tensor, and of each block */
    uint64_t packed;                      /* dimension along which the store packs */
    uint64_t storage[DIMENSIONS], length; /* of a block: its size in each dimension, and how many count */
    bool rectangles;                      /* blocks of several dimensions, in the form of 0.22 */
    bool no_param;                        /* the tensor's scale is of the type that goes without saying */
} scheme;

static const char *const values[] = {"Q8F", "E5M2", "E4M3", "Q4F", "E2M1", "Q2F", "Q8S", "Q4S", "Q2S", NULL};
static const char *const params[] = {"F32", "F16", "BF16", "UE8M0", "UE4M3", NULL};
static const char *const stores[] = {"Native", "U32", "PackedNative", "PackedU32", NULL};
static const char *const modes[] = {"Symmetric", "Lookup", NULL};

static const char *word_of(const char *const *words, const char *text, uint64_t length)
{
    for (; *words; words++) {
        if (lr_text_is(text, length, *words)) {
            return *words;
        }
    }
    return NULL;
}

static bool is_packed(const scheme *s)
{
    return strncmp(s->store, "Packed", 6) == 0;
}

/* Whether it has a form in Burn 0.19 to 0.21: one type of scales, of the tensor or of blocks. Their CPU backends take
 * blocks of several dimensions for runs of elements. */
static bool has_old_form(const scheme *s)
{
    return !(s->tensor && s->block) && !s->rectangles && strcmp(s->mode, "Symmetric") == 0;
}

/* What the form of 0.22 leaves out. */
static void complete(scheme *s)
{
    uint64_t sides = 0;
    for (uint64_t i = 0; i < s->length && i < DIMENSIONS; i++) {
        sides += s->storage[i] != 1;
    }
    s->rectangles = s->block && (sides > 1 || (sides == 1 && s->storage[s->length - 1] == 1));
    s->no_param = !s->tensor && !s->block;
    s->tensor = s->no_param ? "F32" : s->tensor;
}

/* What Burn 0.22 has for a scheme: no type where it is F32 and there is nothing else. */
static bool is_plain(const scheme *s)
{
    return !s->block && s->tensor && (s->no_param || strcmp(s->tensor, "F32") == 0);
}

/* --------------------------------------------------------------------------------------------------- from CBOR -- */

/* A failure, or of the words of a record just the status. */
#define FAIL(c, at, ...) ((c)->quiet ? REC_E_FORMAT : rec_fail((c)->job, REC_E_FORMAT, (at), __VA_ARGS__))
#define FAIL_FOUND(c, at, ...) ((c)->quiet ? REC_E_FORMAT : rec_fail_found((c)->job, REC_E_FORMAT, (at), __VA_ARGS__))

/* A word of a table. */
static int32_t read_word(lr_cbor *c, const char *const *words, const char *expected, const char **word)
{
    lr_cbor_item item;
    int32_t status = lr_cbor_next(c, &item);
    if (status == REC_OK && (item.kind != LR_CBOR_TEXT || item.indefinite)) {
        return lr_cbor_unexpected(c, &item, expected);
    }
    *word = status == REC_OK ? word_of(words, item.text.at, item.text.length) : NULL;
    return status == REC_OK && !*word ? FAIL_FOUND(c, item.at, expected, "\"%.*s\"",
                                                   (int)(item.text.length < 40 ? item.text.length : 40), item.text.at)
                                      : status;
}

static int32_t read_uint(lr_cbor *c, uint64_t most, const char *expected, uint64_t *number)
{
    lr_cbor_item item;
    int32_t status = lr_cbor_next(c, &item);
    if (status == REC_OK && (item.kind != LR_CBOR_UINT || item.wide)) {
        status = lr_cbor_unexpected(c, &item, expected);
    } else if (status == REC_OK && item.value > most) {
        status = FAIL_FOUND(c, item.at, expected, "%" PRIu64, item.value);
    }
    *number = item.value;
    return status;
}

/* Begins a map of a known number of entries, which are few and no level. */
static int32_t read_map_of(lr_cbor *c, uint64_t count, const char *expected)
{
    lr_cbor_item map;
    int32_t status = lr_cbor_next(c, &map);
    return status == REC_OK && (map.kind != LR_CBOR_MAP || map.indefinite || map.value != count)
               ? lr_cbor_unexpected(c, &map, expected)
               : status;
}

/* {"storage": [5 numbers], "len": n} */
static int32_t read_size(lr_cbor *c, scheme *s)
{
    static const char *const names[] = {"storage", "len", NULL};
    static const char expected[] = "a block's size: storage and len";
    lr_cbor_item list;
    const char *first = NULL, *name;
    int32_t status = read_map_of(c, 2, expected);
    for (int i = 0; i < 2 && status == REC_OK; i++) {
        uint64_t at = LR_BPK_PREFIX + c->at;
        status = read_word(c, names, expected, &name);
        if (status == REC_OK && name == first) {
            status = FAIL(c, at, "`%s` of a block's size occurs twice", name);
        } else if (status == REC_OK && name == names[1]) {
            status = read_uint(c, DIMENSIONS, "at most 5 dimensions of a block", &s->length);
        } else if (status == REC_OK) {
            status = lr_cbor_next(c, &list);
            if (status == REC_OK && (list.kind != LR_CBOR_ARRAY || list.indefinite)) {
                status = lr_cbor_unexpected(c, &list, "a list of 5 numbers");
            } else if (status == REC_OK && list.value != DIMENSIONS) {
                status = FAIL_FOUND(c, list.at, "a list of 5 numbers", "one of %" PRIu64, list.value);
            }
            for (int k = 0; k < DIMENSIONS && status == REC_OK; k++) {
                status = read_uint(c, UINT8_MAX, "a number of 8 bits", &s->storage[k]);
            }
        }
        first = name;
    }
    return status;
}

/* Returns the kind of the next item without consuming it. */
static int32_t peek(lr_cbor *c, int *kind)
{
    uint64_t before = c->at;
    lr_cbor_item item;
    int32_t status = lr_cbor_next(c, &item);
    *kind = item.kind;
    c->at = before;
    return status;
}

/* Null is passed over. @param there (out) something else comes, which stays to be read. */
static int32_t pass_null(lr_cbor *c, bool *there)
{
    uint64_t before = c->at;
    lr_cbor_item item;
    int32_t status = lr_cbor_next(c, &item);
    *there = status == REC_OK && item.kind != LR_CBOR_NULL;
    c->at = *there ? before : c->at;
    return status;
}

/* "Native", or {"PackedU32": n} */
static int32_t read_store(lr_cbor *c, scheme *s)
{
    uint64_t at = LR_BPK_PREFIX + c->at;
    int kind;
    int32_t status = peek(c, &kind);
    if (status != REC_OK || kind != LR_CBOR_MAP) {
        status = status == REC_OK ? read_word(c, stores, "a store of quantised values", &s->store) : status;
        return status == REC_OK && is_packed(s) ? FAIL(c, at, "the store %s without its dimension", s->store) : status;
    }
    status = read_map_of(c, 1, "a store of quantised values");
    status = status == REC_OK ? read_word(c, stores, "a store of quantised values", &s->store) : status;
    status = status == REC_OK ? read_uint(c, UINT32_MAX, "a dimension of 32 bits", &s->packed) : status;
    return status == REC_OK && !is_packed(s) ? FAIL(c, at, "the store %s with a dimension", s->store) : status;
}

/* "Tensor", or {"Block": size} */
static int32_t read_level(lr_cbor *c, scheme *s, bool *blocks)
{
    static const char *const tensor[] = {"Tensor", NULL}, *const block[] = {"Block", NULL};
    const char *word;
    int kind;
    int32_t status = peek(c, &kind);
    *blocks = kind == LR_CBOR_MAP;
    if (status != REC_OK || !*blocks) {
        return status == REC_OK ? read_word(c, tensor, "the level Tensor or Block", &word) : status;
    }
    status = read_map_of(c, 1, "the level Tensor or Block");
    status = status == REC_OK ? read_word(c, block, "the level Tensor or Block", &word) : status;
    status = status == REC_OK ? read_size(c, s) : status;
    return status;
}

/* {"size": …, "dtype": …} */
static int32_t read_block(lr_cbor *c, scheme *s)
{
    static const char *const names[] = {"size", "dtype", NULL};
    const char *name, *first = NULL;
    bool there;
    int32_t status = pass_null(c, &there);
    if (!there) {
        return status;
    }
    status = read_map_of(c, 2, "the size and dtype of blocks");
    for (int i = 0; i < 2 && status == REC_OK; i++) {
        uint64_t at = LR_BPK_PREFIX + c->at;
        status = read_word(c, names, "size or dtype", &name);
        if (status == REC_OK && name == first) {
            status = FAIL(c, at, "`%s` of a block occurs twice", name);
        } else if (status == REC_OK) {
            status = name == names[0] ? read_size(c, s) : read_word(c, params, "the type of the scales", &s->block);
        }
        first = name;
    }
    return status;
}

static int32_t read_tensor(lr_cbor *c, scheme *s)
{
    bool there;
    int32_t status = pass_null(c, &there);
    return there ? read_word(c, params, "the type of the tensor's scale", &s->tensor) : status;
}

static int32_t read_scheme(lr_cbor *c, scheme *s)
{
    static const char *const names[] = {"value", "store", "mode", "param", "level", "tensor", "block", NULL};
    enum { VALUE, STORE, MODE, PARAM, LEVEL, TENSOR, BLOCK, NAMES };
    lr_cbor_item map;
    const char *name, *param = NULL;
    bool seen[NAMES] = {false}, blocks = false;
    int32_t status = lr_cbor_begin(c, &map, LR_CBOR_MAP, "the scheme of a quantised tensor, a map");
    while (lr_cbor_each(c, &map, &status)) {
        int field = 0;
        status = read_word(c, names, "a field of the scheme of a quantised tensor", &name);
        if (status != REC_OK) {
            break;
        }
        while (names[field] != name) {
            field++;
        }
        if (seen[field]) {
            status = FAIL(c, map.at, "the scheme has `%s` twice", name);
            break;
        }
        seen[field] = true;
        status = field == VALUE    ? read_word(c, values, "a type of quantised values", &s->value)
                 : field == STORE  ? read_store(c, s)
                 : field == MODE   ? read_word(c, modes, "a mode of quantisation", &s->mode)
                 : field == PARAM  ? read_word(c, params, "the type of the scales", &param)
                 : field == LEVEL  ? read_level(c, s, &blocks)
                 : field == TENSOR ? read_tensor(c, s)
                                   : read_block(c, s);
    }
    if (status != REC_OK) {
        return status;
    }
    if (!s->value || !s->store || !s->mode || seen[PARAM] != seen[LEVEL] ||
        (seen[PARAM] && (seen[TENSOR] || seen[BLOCK]))) {
        return FAIL(c, map.at, "a scheme has value, store, mode, and either param and level or tensor and block");
    }
    if (seen[PARAM]) {
        *(blocks ? &s->block : &s->tensor) = param;
    } else {
        complete(s);
    }
    return REC_OK;
}

/* ---------------------------------------------------------------------------------------- in words of a record -- */

/* @param old the form of 0.19 to 0.21. @param tensor the type of the tensor's scale in the form of 0.22; NULL: none. */
static void print_scheme(const scheme *s, bool old, const char *tensor, char *text, size_t room)
{
    char store[48], size[96], type[16] = "null", block[160] = "null";
    (void)snprintf(store, sizeof store, is_packed(s) ? "{\"%s\":%" PRIu64 "}" : "\"%s\"", s->store, s->packed);
    (void)snprintf(size, sizeof size,
                   "{\"storage\":[%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "],\"len\":%" PRIu64 "}",
                   s->storage[0], s->storage[1], s->storage[2], s->storage[3], s->storage[4], s->length);
    if (old) {
        (void)snprintf(block, sizeof block, s->block ? "{\"Block\":%s}" : "\"Tensor\"", size);
        (void)snprintf(text, room,
                       "{\"QFloat\":{\"value\":\"%s\",\"param\":\"%s\",\"store\":%s,\"level\":%s,\"mode\":\"%s\"}}",
                       s->value, s->block ? s->block : s->tensor, store, block, s->mode);
        return;
    }
    if (tensor) {
        (void)snprintf(type, sizeof type, "\"%s\"", tensor);
    }
    if (s->block) {
        (void)snprintf(block, sizeof block, "{\"size\":%s,\"dtype\":\"%s\"}", size, s->block);
    }
    (void)snprintf(text, room,
                   "{\"QFloat\":{\"value\":\"%s\",\"store\":%s,\"mode\":\"%s\",\"tensor\":%s,\"block\":%s}}", s->value,
                   store, s->mode, type, block);
}

/* Writes such words as CBOR. They are JSON as core and print_scheme() write it, without spaces and escapes.
 * @param at (in, out) moves after the value. @return false: something else, or a list that is too long. */
static bool put_words(lr_buffer *b, const char **at, unsigned depth)
{
    enum { DEEPEST = 8, COUNT_MOST = 23 /* which the byte holds that begins a list or map */ };
    const char *p = *at, *end;
    uint64_t number = 0, count = 0, head = b->size;
    bool map = *p == '{';
    if (*p == '"' && (end = strchr(p + 1, '"')) != NULL) {
        lr_cbor_put_text(b, p + 1, (uint64_t)(end - p - 1));
        *at = end + 1;
        return true;
    }
    if (strncmp(p, "null", 4) == 0) {
        lr_cbor_put_null(b);
        *at = p + 4;
        return true;
    }
    if (*p >= '0' && *p <= '9') {
        for (; *p >= '0' && *p <= '9' && p - *at < 10; p++) {
            number = number * 10 + (uint64_t)(*p - '0');
        }
        lr_cbor_put(b, LR_CBOR_UINT, number);
        *at = p;
        return true;
    }
    if ((!map && *p != '[') || depth == DEEPEST) {
        return false;
    }
    lr_cbor_put(b, map ? LR_CBOR_MAP : LR_CBOR_ARRAY, 0);
    for (p++; *p != (map ? '}' : ']'); count++) {
        if ((count && *p++ != ',') || (map && (*p != '"' || !put_words(b, &p, depth + 1) || *p++ != ':')) ||
            !put_words(b, &p, depth + 1)) {
            return false;
        }
    }
    if (b->status == REC_OK && count <= COUNT_MOST) {
        b->data[head] = (char)((unsigned char)b->data[head] | count);
    }
    *at = p + 1;
    return count <= COUNT_MOST;
}

static bool parse_words(lr_buffer *cbor, const char *words, scheme *s)
{
    lr_cbor c = {.job = cbor->job, .quiet = true};
    const char *kind = NULL;
    if (!words || !put_words(cbor, &words, 0) || *words || cbor->status != REC_OK) {
        return false;
    }
    c.data = (const uint8_t *)cbor->data;
    c.size = cbor->size;
    return read_map_of(&c, 1, "") == REC_OK && read_word(&c, kinds, "", &kind) == REC_OK && kind == kinds[1] &&
           read_scheme(&c, s) == REC_OK && c.at == c.size;
}

/* ----------------------------------------------------------------------------------------------------- reading -- */

static int32_t keep_words(lr_bpk_header *h, lr_bpk_entry *e, const scheme *s)
{
    char text[512];
    size_t size;
    int32_t status;
    print_scheme(s, has_old_form(s), s->no_param ? NULL : s->tensor, text, sizeof text);
    size = strlen(text) + 1;
    status = lr_codec_grow(h->job, (void *)&h->words, h->word_size + size, &h->word_room, 1);
    if (status == REC_OK) {
        memcpy(h->words + h->word_size, text, size);
        e->words = h->word_size;
        e->dtype = REC_DTYPE_QFLOAT;
        h->word_size += size;
    }
    return status;
}

static int32_t unknown(lr_bpk_header *h, const lr_bpk_entry *e, const lr_cbor_item *item)
{
    lr_codec_excerpt name, type;
    return rec_fail_found(h->job, REC_E_FORMAT, item->at, "an element type of Burn", "\"%s\" for the tensor `%s`",
                          lr_bpk_shown(&type, &item->text), lr_bpk_shown(&name, &e->name));
}

int32_t lr_bpk_dtype_read(lr_bpk_header *h, lr_bpk_entry *e)
{
    lr_cbor *c = &h->cbor;
    lr_cbor_item item;
    const char *word;
    scheme s = {0};
    int32_t status = lr_cbor_next(c, &item);
    if (status != REC_OK) {
        return status;
    }
    if ((item.kind == LR_CBOR_TEXT || item.kind == LR_CBOR_BYTES) && !item.indefinite) {
        e->dtype = (uint8_t)lr_burn_dtype(item.text.at, item.text.length);
        return e->dtype != REC_DTYPE_NONE ? REC_OK : unknown(h, e, &item);
    }
    if (item.kind != LR_CBOR_MAP || (!item.indefinite && item.value != 1)) {
        return lr_cbor_unexpected(c, &item, "an element type: its name, or a map of one entry");
    }
    status = lr_cbor_enter(c, &item);
    status = status == REC_OK ? read_word(c, kinds, "an element type of Burn", &word) : status;
    if (status == REC_OK && word == kinds[0]) {
        status = read_word(c, natives, "how bools are stored", &word);
        for (size_t i = 0; i < sizeof bools / sizeof *bools && status == REC_OK; i++) {
            e->dtype = (uint8_t)(natives[i] == word ? bools[i] : e->dtype);
        }
    } else if (status == REC_OK) {
        status = read_scheme(c, &s);
        status = status == REC_OK ? keep_words(h, e, &s) : status;
    }
    item.value = 0;
    if (lr_cbor_each(c, &item, &status)) {
        status = rec_fail(h->job, REC_E_FORMAT, item.at, "an element type that is a map has one entry");
    }
    return status;
}

/* ----------------------------------------------------------------------------------------------------- writing -- */

static int32_t write_scheme(lr_buffer *b, const rec_tensor_event *tensor, int32_t minor, const char *name)
{
    scheme s = {0};
    lr_buffer cbor = {.job = b->job};
    char text[512];
    const char *words = text;
    bool packs, read = parse_words(&cbor, tensor->dtype_name, &s);
    rec_job_free(b->job, cbor.data);
    if (!read) {
        (void)rec_fail(b->job, REC_E_UNSUPPORTED, REC_UNKNOWN,
                       "the tensor `%s` is quantised by a scheme that no Burn with this format has", name);
        rec_fail_hint(b->job, "Load and quantise the model again with Burn 0.19 or later.");
        return REC_E_UNSUPPORTED;
    }
    packs = is_packed(&s) ? minor >= PACKED : strcmp(s.store, "U32") == 0 ? minor < PACKED : true;
    if (!packs || (minor < NEW_SCHEME && !has_old_form(&s))) {
        return rec_fail(b->job, REC_E_UNSUPPORTED, REC_UNKNOWN,
                        "the tensor `%s` is quantised by a scheme that Burn 0.%d does not have", name, (int)minor);
    }
    print_scheme(&s, minor < NEW_SCHEME, is_plain(&s) ? NULL : s.tensor, text, sizeof text);
    (void)put_words(b, &words, 0);
    return b->status;
}

int32_t lr_bpk_dtype_write(lr_buffer *b, const rec_tensor_event *tensor, int32_t minor, const char *name)
{
    rec_dtype dtype = tensor->dtype;
    if (dtype == REC_DTYPE_QFLOAT) {
        return write_scheme(b, tensor, minor, name);
    }
    for (size_t i = 0; i < sizeof bools / sizeof *bools; i++) {
        if (bools[i] != dtype) {
            continue;
        }
        if (minor >= NEW_BOOL) {
            lr_cbor_put(b, LR_CBOR_MAP, 1);
            lr_cbor_put_word(b, "Bool");
            lr_cbor_put_word(b, natives[i]);
        } else if (dtype == REC_DTYPE_BOOL) {
            lr_cbor_put_word(b, "Bool");
        } else {
            return rec_fail(b->job, REC_E_UNSUPPORTED, REC_UNKNOWN,
                            "the tensor `%s` is of Bool(%s), which Burn 0.%d does not have", name, natives[i],
                            (int)minor);
        }
        return b->status;
    }
    for (size_t i = 0; i < LR_BURN_TYPES; i++) {
        if (lr_burn_types[i].dtype == dtype) {
            lr_cbor_put_word(b, lr_burn_types[i].name);
            return b->status;
        }
    }
    return rec_fail(b->job, REC_E_UNSUPPORTED, REC_UNKNOWN, "the tensor `%s` is of %s, which Burn does not have", name,
                    tensor->dtype_name ? tensor->dtype_name : rec_dtype_name(dtype));
}
