/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Element types as each version of Burn names them, and the schemes of quantised tensors: Burn 0.22 has them in another
 * form than 0.19 to 0.21, which take each other's for something else. A record has them in the older form where there
 * is one. */
#include <inttypes.h>
#include <stdio.h>

#include "plugins/codec/burnpack/burnpack.h"
#include "plugins/codec/room.h"

enum { NEW_BOOL = 21, NEW_SCHEME = 22, PACKED = 20 };

static const struct {
    const char *name;
    rec_dtype dtype;
} types[] =
    {
        {"F64", REC_DTYPE_F64},   {"F32", REC_DTYPE_F32},   {"Flex32", REC_DTYPE_FLEX32}, {"F16", REC_DTYPE_F16},
        {"BF16", REC_DTYPE_BF16}, {"I64", REC_DTYPE_I64},   {"I32", REC_DTYPE_I32},       {"I16", REC_DTYPE_I16},
        {"I8", REC_DTYPE_I8},     {"U64", REC_DTYPE_U64},   {"U32", REC_DTYPE_U32},       {"U16", REC_DTYPE_U16},
        {"U8", REC_DTYPE_U8},     {"Bool", REC_DTYPE_BOOL},
},
  bools[] = {
      {"Native", REC_DTYPE_BOOL},
      {"U8", REC_DTYPE_BOOL8},
      {"U32", REC_DTYPE_BOOL32},
};

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

/* A word of a table. */
static int32_t read_word(lr_cbor *c, const char *const *words, const char *expected, const char **word)
{
    lr_cbor_item item;
    int32_t status = lr_cbor_next(c, &item);
    if (status == REC_OK && (item.kind != LR_CBOR_TEXT || item.indefinite)) {
        return lr_cbor_unexpected(c, &item, expected);
    }
    *word = status == REC_OK ? word_of(words, item.text.at, item.text.length) : NULL;
    return status == REC_OK && !*word
               ? rec_fail_found(c->job, REC_E_FORMAT, item.at, expected, "\"%.*s\"",
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
        status = rec_fail_found(c->job, REC_E_FORMAT, item.at, expected, "%" PRIu64, item.value);
    }
    *number = item.value;
    return status;
}

/* Opens a map of a known number of entries. */
static int32_t read_map_of(lr_cbor *c, uint64_t count, const char *expected)
{
    lr_cbor_item map;
    int32_t status = lr_cbor_next(c, &map);
    if (status == REC_OK && (map.kind != LR_CBOR_MAP || map.indefinite || map.value != count)) {
        status = lr_cbor_unexpected(c, &map, expected);
    }
    return status == REC_OK ? lr_cbor_enter(c, &map) : status;
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
            status = rec_fail(c->job, REC_E_FORMAT, at, "`%s` of a block's size occurs twice", name);
        } else if (status == REC_OK && name == names[1]) {
            status = read_uint(c, DIMENSIONS, "at most 5 dimensions of a block", &s->length);
        } else if (status == REC_OK) {
            status = lr_cbor_next(c, &list);
            if (status == REC_OK && (list.kind != LR_CBOR_ARRAY || list.indefinite)) {
                status = lr_cbor_unexpected(c, &list, "a list of 5 numbers");
            } else if (status == REC_OK && list.value != DIMENSIONS) {
                status =
                    rec_fail_found(c->job, REC_E_FORMAT, list.at, "a list of 5 numbers", "one of %" PRIu64, list.value);
            }
            for (int k = 0; k < DIMENSIONS && status == REC_OK; k++) {
                status = read_uint(c, UINT8_MAX, "a number of 8 bits", &s->storage[k]);
            }
        }
        first = name;
    }
    lr_cbor_leave(c);
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
        return status == REC_OK && is_packed(s)
                   ? rec_fail(c->job, REC_E_FORMAT, at, "the store %s without its dimension", s->store)
                   : status;
    }
    status = read_map_of(c, 1, "a store of quantised values");
    status = status == REC_OK ? read_word(c, stores, "a store of quantised values", &s->store) : status;
    status = status == REC_OK ? read_uint(c, UINT32_MAX, "a dimension of 32 bits", &s->packed) : status;
    lr_cbor_leave(c);
    return status == REC_OK && !is_packed(s)
               ? rec_fail(c->job, REC_E_FORMAT, at, "the store %s with a dimension", s->store)
               : status;
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
    lr_cbor_leave(c);
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
            status = rec_fail(c->job, REC_E_FORMAT, at, "`%s` of a block occurs twice", name);
        } else if (status == REC_OK) {
            status = name == names[0] ? read_size(c, s) : read_word(c, params, "the type of the scales", &s->block);
        }
        first = name;
    }
    lr_cbor_leave(c);
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
    bool seen[NAMES] = {false}, more = true, blocks = false;
    int32_t status = lr_cbor_next(c, &map);
    uint64_t left = map.value;
    if (status == REC_OK && map.kind != LR_CBOR_MAP) {
        status = lr_cbor_unexpected(c, &map, "the scheme of a quantised tensor, a map");
    }
    status = status == REC_OK ? lr_cbor_enter(c, &map) : status;
    while (status == REC_OK && (status = lr_cbor_more(c, &map, &left, &more)) == REC_OK && more) {
        int field = 0;
        status = read_word(c, names, "a field of the scheme of a quantised tensor", &name);
        if (status != REC_OK) {
            break;
        }
        while (names[field] != name) {
            field++;
        }
        if (seen[field]) {
            status = rec_fail(c->job, REC_E_FORMAT, map.at, "the scheme has `%s` twice", name);
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
    lr_cbor_leave(c);
    if (status != REC_OK) {
        return status;
    }
    if (!s->value || !s->store || !s->mode || seen[PARAM] != seen[LEVEL] ||
        (seen[PARAM] && (seen[TENSOR] || seen[BLOCK]))) {
        return rec_fail(c->job, REC_E_FORMAT, map.at,
                        "a scheme has value, store, mode, and either param and level or tensor and block");
    }
    if (seen[PARAM]) {
        *(blocks ? &s->block : &s->tensor) = param;
    } else {
        complete(s);
    }
    return REC_OK;
}

/* ---------------------------------------------------------------------------------------- in words of a record -- */

static void print_size(const scheme *s, char *text, size_t room)
{
    (void)snprintf(text, room,
                   "{\"storage\":[%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "],\"len\":%" PRIu64 "}",
                   s->storage[0], s->storage[1], s->storage[2], s->storage[3], s->storage[4], s->length);
}

static void print_scheme(const scheme *s, char *text, size_t room)
{
    char store[48], size[96], tensor[16] = "null", block[160] = "null";
    (void)snprintf(store, sizeof store, is_packed(s) ? "{\"%s\":%" PRIu64 "}" : "\"%s\"", s->store, s->packed);
    print_size(s, size, sizeof size);
    if (has_old_form(s)) {
        (void)snprintf(block, sizeof block, s->block ? "{\"Block\":%s}" : "\"Tensor\"", size);
        (void)snprintf(text, room,
                       "{\"QFloat\":{\"value\":\"%s\",\"param\":\"%s\",\"store\":%s,\"level\":%s,\"mode\":\"%s\"}}",
                       s->value, s->block ? s->block : s->tensor, store, block, s->mode);
        return;
    }
    if (s->tensor && !s->no_param) {
        (void)snprintf(tensor, sizeof tensor, "\"%s\"", s->tensor);
    }
    if (s->block) {
        (void)snprintf(block, sizeof block, "{\"size\":%s,\"dtype\":\"%s\"}", size, s->block);
    }
    (void)snprintf(text, room,
                   "{\"QFloat\":{\"value\":\"%s\",\"store\":%s,\"mode\":\"%s\",\"tensor\":%s,\"block\":%s}}", s->value,
                   store, s->mode, tensor, block);
}

/* A reader of such words: JSON as core and print_scheme() write it, without spaces. */
typedef struct words {
    const char *at;
} words;

static bool pass(words *w, const char *text)
{
    size_t length = strlen(text);
    bool there = strncmp(w->at, text, length) == 0;
    w->at += there ? length : 0;
    return there;
}

static const char *pass_word(words *w, const char *const *table)
{
    const char *end, *word;
    if (*w->at != '"') {
        return NULL;
    }
    end = strchr(w->at + 1, '"');
    word = end ? word_of(table, w->at + 1, (uint64_t)(end - w->at - 1)) : NULL;
    w->at = word ? end + 1 : w->at;
    return word;
}

static bool pass_number(words *w, uint64_t *number)
{
    const char *begin = w->at;
    *number = 0;
    while (*w->at >= '0' && *w->at <= '9' && w->at - begin < 10) {
        *number = *number * 10 + (uint64_t)(*w->at++ - '0');
    }
    return w->at > begin;
}

static bool pass_size(words *w, scheme *s)
{
    bool read = pass(w, "{\"storage\":[");
    for (int i = 0; i < DIMENSIONS && read; i++) {
        read = (i == 0 || pass(w, ",")) && pass_number(w, &s->storage[i]) && s->storage[i] <= UINT8_MAX;
    }
    return read && pass(w, "],\"len\":") && pass_number(w, &s->length) && s->length <= DIMENSIONS && pass(w, "}");
}

static bool pass_store(words *w, scheme *s)
{
    if (pass(w, "{")) {
        s->store = pass_word(w, stores);
        return s->store && is_packed(s) && pass(w, ":") && pass_number(w, &s->packed) && pass(w, "}");
    }
    s->store = pass_word(w, stores);
    return s->store && !is_packed(s);
}

/* @param level (out) it is present, the other half of the older form next to `param`. @param blocks (out) it is of
 * blocks. */
static bool pass_field(words *w, scheme *s, const char **param, bool *level, bool *blocks)
{
    if (pass(w, "\"value\":")) {
        return (s->value = pass_word(w, values)) != NULL;
    }
    if (pass(w, "\"store\":")) {
        return pass_store(w, s);
    }
    if (pass(w, "\"mode\":")) {
        return (s->mode = pass_word(w, modes)) != NULL;
    }
    if (pass(w, "\"param\":")) {
        return (*param = pass_word(w, params)) != NULL;
    }
    if (pass(w, "\"level\":")) {
        *level = true;
        *blocks = pass(w, "{\"Block\":");
        return *blocks ? pass_size(w, s) && pass(w, "}") : pass(w, "\"Tensor\"");
    }
    if (pass(w, "\"tensor\":")) {
        return pass(w, "null") || (s->tensor = pass_word(w, params)) != NULL;
    }
    if (pass(w, "\"block\":")) {
        return pass(w, "null") || (pass(w, "{\"size\":") && pass_size(w, s) && pass(w, ",\"dtype\":") &&
                                   (s->block = pass_word(w, params)) != NULL && pass(w, "}"));
    }
    return false;
}

static bool parse_scheme(const char *text, scheme *s)
{
    words w = {.at = text};
    const char *param = NULL;
    bool level = false, blocks = false;
    bool read = pass(&w, "{\"QFloat\":{");
    while (read && (read = pass_field(&w, s, &param, &level, &blocks)) && pass(&w, ",")) {
    }
    if (!read || !pass(&w, "}}") || *w.at || !s->value || !s->store || !s->mode || level != (param != NULL) ||
        (level && (s->tensor || s->block))) {
        return false;
    }
    if (level) {
        *(blocks ? &s->block : &s->tensor) = param;
    } else {
        complete(s);
    }
    return true;
}

/* ----------------------------------------------------------------------------------------------------- reading -- */

static int32_t keep_words(lr_bpk_header *h, lr_bpk_entry *e, const scheme *s)
{
    char text[512];
    size_t size;
    int32_t status;
    print_scheme(s, text, sizeof text);
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
    static const char *const kinds[] = {"Bool", "QFloat", NULL};
    static const char *const natives[] = {"Native", "U8", "U32", NULL};
    lr_cbor *c = &h->cbor;
    lr_cbor_item item;
    const char *word;
    scheme s = {0};
    int32_t status = lr_cbor_next(c, &item);
    if (status != REC_OK) {
        return status;
    }
    if ((item.kind == LR_CBOR_TEXT || item.kind == LR_CBOR_BYTES) && !item.indefinite) {
        for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
            if (lr_bpk_is(&item.text, types[i].name)) {
                e->dtype = (uint8_t)types[i].dtype;
                return REC_OK;
            }
        }
        return unknown(h, e, &item);
    }
    if (item.kind != LR_CBOR_MAP || (!item.indefinite && item.value != 1)) {
        return lr_cbor_unexpected(c, &item, "an element type: its name, or a map of one entry");
    }
    status = lr_cbor_enter(c, &item);
    status = status == REC_OK ? read_word(c, kinds, "an element type of Burn", &word) : status;
    if (status == REC_OK && word == kinds[0]) {
        status = read_word(c, natives, "how bools are stored", &word);
        for (size_t i = 0; i < sizeof bools / sizeof *bools && status == REC_OK; i++) {
            e->dtype = (uint8_t)(strcmp(bools[i].name, word) == 0 ? bools[i].dtype : e->dtype);
        }
    } else if (status == REC_OK) {
        status = read_scheme(c, &s);
        status = status == REC_OK ? keep_words(h, e, &s) : status;
    }
    if (status == REC_OK && item.indefinite) {
        uint64_t none;
        bool more;
        status = lr_cbor_more(c, &item, &none, &more);
        status = status == REC_OK && more
                     ? rec_fail(h->job, REC_E_FORMAT, item.at, "an element type that is a map has one entry")
                     : status;
    }
    lr_cbor_leave(c);
    return status;
}

/* ----------------------------------------------------------------------------------------------------- writing -- */

static void put_size(lr_buffer *b, const scheme *s)
{
    lr_cbor_put(b, LR_CBOR_MAP, 2);
    lr_cbor_put_word(b, "storage");
    lr_cbor_put(b, LR_CBOR_ARRAY, DIMENSIONS);
    for (int i = 0; i < DIMENSIONS; i++) {
        lr_cbor_put(b, LR_CBOR_UINT, s->storage[i]);
    }
    lr_cbor_put_word(b, "len");
    lr_cbor_put(b, LR_CBOR_UINT, s->length);
}

static void put_store(lr_buffer *b, const scheme *s)
{
    lr_cbor_put_word(b, "store");
    if (is_packed(s)) {
        lr_cbor_put(b, LR_CBOR_MAP, 1);
        lr_cbor_put_word(b, s->store);
        lr_cbor_put(b, LR_CBOR_UINT, s->packed);
    } else {
        lr_cbor_put_word(b, s->store);
    }
}

static void put_old(lr_buffer *b, const scheme *s)
{
    lr_cbor_put(b, LR_CBOR_MAP, 5);
    lr_cbor_put_word(b, "value");
    lr_cbor_put_word(b, s->value);
    lr_cbor_put_word(b, "param");
    lr_cbor_put_word(b, s->block ? s->block : s->tensor);
    put_store(b, s);
    lr_cbor_put_word(b, "level");
    if (s->block) {
        lr_cbor_put(b, LR_CBOR_MAP, 1);
        lr_cbor_put_word(b, "Block");
        put_size(b, s);
    } else {
        lr_cbor_put_word(b, "Tensor");
    }
    lr_cbor_put_word(b, "mode");
    lr_cbor_put_word(b, s->mode);
}

static void put_new(lr_buffer *b, const scheme *s)
{
    lr_cbor_put(b, LR_CBOR_MAP, 5);
    lr_cbor_put_word(b, "value");
    lr_cbor_put_word(b, s->value);
    put_store(b, s);
    lr_cbor_put_word(b, "mode");
    lr_cbor_put_word(b, s->mode);
    lr_cbor_put_word(b, "tensor");
    if (s->tensor && !is_plain(s)) {
        lr_cbor_put_word(b, s->tensor);
    } else {
        lr_cbor_put_null(b);
    }
    lr_cbor_put_word(b, "block");
    if (s->block) {
        lr_cbor_put(b, LR_CBOR_MAP, 2);
        lr_cbor_put_word(b, "size");
        put_size(b, s);
        lr_cbor_put_word(b, "dtype");
        lr_cbor_put_word(b, s->block);
    } else {
        lr_cbor_put_null(b);
    }
}

static int32_t write_scheme(lr_buffer *b, const rec_tensor_event *tensor, int32_t minor, const char *name)
{
    scheme s = {0};
    bool packs;
    if (!tensor->dtype_name || !parse_scheme(tensor->dtype_name, &s)) {
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
    lr_cbor_put(b, LR_CBOR_MAP, 1);
    lr_cbor_put_word(b, "QFloat");
    (minor < NEW_SCHEME ? put_old : put_new)(b, &s);
    return b->status;
}

int32_t lr_bpk_dtype_write(lr_buffer *b, const rec_tensor_event *tensor, int32_t minor, const char *name)
{
    rec_dtype dtype = tensor->dtype;
    if (dtype == REC_DTYPE_QFLOAT) {
        return write_scheme(b, tensor, minor, name);
    }
    for (size_t i = 0; i < sizeof bools / sizeof *bools; i++) {
        if (bools[i].dtype != dtype) {
            continue;
        }
        if (minor >= NEW_BOOL) {
            lr_cbor_put(b, LR_CBOR_MAP, 1);
            lr_cbor_put_word(b, "Bool");
            lr_cbor_put_word(b, bools[i].name);
        } else if (dtype == REC_DTYPE_BOOL) {
            lr_cbor_put_word(b, "Bool");
        } else {
            return rec_fail(b->job, REC_E_UNSUPPORTED, REC_UNKNOWN,
                            "the tensor `%s` is of Bool(%s), which Burn 0.%d does not have", name, bools[i].name,
                            (int)minor);
        }
        return b->status;
    }
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (types[i].dtype == dtype) {
            lr_cbor_put_word(b, types[i].name);
            return b->status;
        }
    }
    return rec_fail(b->job, REC_E_UNSUPPORTED, REC_UNKNOWN, "the tensor `%s` is of %s, which Burn does not have", name,
                    tensor->dtype_name ? tensor->dtype_name : rec_dtype_name(dtype));
}
