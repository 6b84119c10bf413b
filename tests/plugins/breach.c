/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A plugin that breaks its contract: its option `breach` says how. tests/recorder/test_breach.c has the list, and what
 * librecord must say of each. This file has the descriptors, what is right, and the order of events. */
#include "breach.h"

#include <limits.h>
#include <stdlib.h>

void *volatile nowhere;

static const float four[4] = {1, 2, 3, 4};

rec_scalar text_of(const char *text)
{
    return (rec_scalar){.kind = REC_KIND_STRING, .text = text, .v.length = strlen(text)};
}

rec_tensor_event tensor_of(void)
{
    static const uint64_t shape[] = {2, 2};
    return (rec_tensor_event){
        .size = sizeof(rec_tensor_event),
        .dtype = REC_DTYPE_F32,
        .rank = 2,
        .shape = shape,
        .data = {.size = sizeof(rec_blob), .kind = REC_BLOB_TEMPORARY, .length = sizeof four, .data = four}};
}

int32_t begin(const reading *x)
{
    rec_scalar key = text_of("a");
    int32_t status = x->on->map_begin(x->self, 0, REC_FORM_STRUCT, REC_UNKNOWN);
    return status == REC_OK ? x->on->key(x->self, 1, &key) : status;
}

int32_t finish(const reading *x)
{
    return x->on->end(x->self, 9);
}

/* Its data are the file's first bytes, so that they have a source. */
int32_t plain(const reading *x)
{
    rec_tensor_event tensor = tensor_of();
    const void *view;
    uint64_t size;
    int32_t status = rec_source_view(x->job, x->source, &view, &size);
    if (status == REC_OK && size >= sizeof four) {
        tensor.data.kind = REC_BLOB_VIEW;
        tensor.data.data = view;
        tensor.data.source = x->source;
    }
    status = status == REC_OK ? begin(x) : status;
    status = status == REC_OK ? x->on->tensor(x->self, 2, &tensor) : status;
    return status == REC_OK ? finish(x) : status;
}

/* {metadata: {version}, item: {five: 5}} */
int32_t plain_maps(const reading *x)
{
    static const char *const words[] = {"metadata", "version", "0.21.0", "item", "five"};
    rec_scalar five = {.kind = REC_KIND_UINT, .v.u = 5};
    int32_t status = x->on->map_begin(x->self, 0, REC_FORM_STRUCT, REC_UNKNOWN);
    for (int i = 0; i < 5 && status == REC_OK; i++) {
        rec_scalar word = text_of(words[i]);
        status = i == 2 ? x->on->scalar(x->self, 0, &word) : x->on->key(x->self, 0, &word);
        if (status == REC_OK && (i == 0 || i == 3)) {
            status = x->on->map_begin(x->self, 0, REC_FORM_STRUCT, 1);
        }
        if (status == REC_OK && i == 2) {
            status = x->on->end(x->self, 0);
        }
    }
    status = status == REC_OK ? x->on->scalar(x->self, 0, &five) : status;
    status = status == REC_OK ? x->on->end(x->self, 0) : status;
    return status == REC_OK ? x->on->end(x->self, 0) : status;
}

/* ----------------------------------------------------------------------------------------- the order of events -- */

static int32_t both(int32_t first, int32_t second)
{
    return first == REC_OK ? second : first;
}

/* The item before the metadata, and then metadata of another version each time. */
static int32_t change_its_mind(const reading *x)
{
    static int times;
    const char *version = times++ % 2 ? "0.21.0" : "0.13.0";
    rec_scalar item = text_of("item"), metadata = text_of("metadata"), key = text_of("version"),
               value = text_of(version);
    rec_scalar five = {.kind = REC_KIND_UINT, .v.u = 5};
    const rec_visitor *on = x->on;
    int32_t status = on->map_begin(x->self, 0, REC_FORM_STRUCT, 2);
    status = both(status, on->key(x->self, 0, &item));
    status = both(status, on->map_begin(x->self, 0, REC_FORM_STRUCT, 1));
    status = both(status, on->key(x->self, 0, &key));
    status = both(status, on->scalar(x->self, 0, &five));
    status = both(status, on->end(x->self, 0));
    status = both(status, on->key(x->self, 0, &metadata));
    status = both(status, on->map_begin(x->self, 0, REC_FORM_STRUCT, 1));
    status = both(status, on->key(x->self, 0, &key));
    status = both(status, on->scalar(x->self, 0, &value));
    status = both(status, on->end(x->self, 0));
    return both(status, on->end(x->self, 0));
}

/* Events of one letter each, in the order of a text: what of it is wrong shows as it is read. */
static int32_t play(const reading *x, const char *events)
{
    const rec_visitor *on = x->on;
    rec_scalar one = {.kind = REC_KIND_UINT, .v.u = 1}, other = text_of("b"), key = text_of("k"), value = text_of("v");
    rec_tensor_event tensor = tensor_of();
    static const uint8_t three[] = {1, 2, 3};
    int32_t status = REC_OK;
    for (uint64_t at = 0; *events && status == REC_OK; events++, at++) {
        switch (*events) {
        case '{': /* a map of any size */
            status = on->map_begin(x->self, at, REC_FORM_STRUCT, REC_UNKNOWN);
            break;
        case '<': /* of two */
            status = on->map_begin(x->self, at, REC_FORM_STRUCT, 2);
            break;
        case 'H': /* of very many */
            status = on->map_begin(x->self, at, REC_FORM_STRUCT, UINT64_C(1) << 60);
            break;
        case '[':
            status = on->list_begin(x->self, at, REC_FORM_LIST, REC_UNKNOWN);
            break;
        case '(':
            status = on->list_begin(x->self, at, REC_FORM_LIST, 2);
            break;
        case 'h':
            status = on->list_begin(x->self, at, REC_FORM_LIST, UINT64_C(1) << 60);
            break;
        case 'k':
        case 'K':
            status = on->key(x->self, at, *events == 'k' ? &key : &other);
            break;
        case 'f': { /* a key that is none */
            rec_scalar half = {.kind = REC_KIND_FLOAT, .v.f = 0.5};
            status = on->key(x->self, at, &half);
            break;
        }
        case 'n': {
            rec_scalar nil = {.kind = REC_KIND_NIL};
            status = on->key(x->self, at, &nil);
            break;
        }
        case '1':
            status = on->scalar(x->self, at, &one);
            break;
        case '3': /* three numbers */
            status = on->numbers(x->self, at, REC_DTYPE_U8, three, 3);
            break;
        case 't':
            status = on->tensor(x->self, at, &tensor);
            break;
        case 'm':
            status = on->metadata(x->self, at, &key, &value);
            break;
        case 'M':
            status = on->metadata_value(x->self, at, &key);
            break;
        case 'v': /* a variant with a payload */
        case 'u': /* and without one */
            status = on->variant_begin(x->self, at, 0, &key, *events == 'v');
            break;
        case 'o': /* there is one */
        case 'O': /* there is none */
            status = on->option(x->self, at, *events == 'o');
            break;
        default:
            status = on->end(x->self, at);
            break;
        }
    }
    return status;
}

int32_t breach_order(const reading *x)
{
    static const struct {
        const char *breach, *events;
    } plays[] = {
        {"nothing", ""},
        {"end first", "."},
        {"end twice", "{kt.."},
        {"end missing", "{kt"},
        {"second value", "{kt.{kt."},
        {"scalar after the end", "{kt.1"},
        {"numbers after the end", "{kt.3"},
        {"tensor after the end", "{kt.t"},
        {"key after the end", "{kt.k"},
        {"option after the end", "{kt.o"},
        {"metadata after the item", "{kt.m"},
        {"metadata in a map", "{m"},
        {"metadata for a key", "{km"},
        {"metadata in a list", "{k[m"},
        {"metadata twice", "mm"},
        {"metadata value after the item", "{kt.M1"},
        {"metadata value without a value", "M"},
        {"metadata value in one", "M{kM1"},
        {"metadata value that is a tensor", "Mt"},
        {"option before metadata", "om"},
        {"key first", "k"},
        {"key in a list", "{k[k"},
        {"key in a variant", "{kvk"},
        {"key after a key", "{kK"},
        {"key without its value", "{k."},
        {"key that is a float", "{f"},
        {"key that is nil", "{n"},
        {"key twice", "{kt"
                      "kt."},
        {"value without a key", "{1"},
        {"map without a key", "{{"},
        {"list without a key", "{["},
        {"numbers without a key", "{3"},
        {"variant without a key", "{v"},
        {"tensor without a key", "{t"},
        {"numbers in a map", "{k3"},
        {"numbers first", "3"},
        {"too few entries", "<kt."},
        {"too many entries", "<ktKtk"},
        {"too few elements", "{k(1."},
        {"too many elements", "{k(111"},
        {"too many numbers", "{k(3"},
        {"more numbers than elements are left", "{k(13"},
        {"elements beyond counting", "{kh1"},
        {"entries beyond counting", "HkT"},
        {"payload that was not announced", "{ku1"},
        {"payload that is missing", "{kv."},
        {"two payloads", "{kv11"},
        {"option without its value", "{ko."},
        {"option before a key", "{kok"},
        {"option in the end", "{kt.o"},
    };
    if (IS("second pass differs")) {
        return change_its_mind(x);
    }
    for (size_t i = 0; i < sizeof plays / sizeof *plays; i++) {
        if (IS(plays[i].breach)) {
            return play(x, plays[i].events);
        }
    }
    return NOT_HERE;
}

/* ------------------------------------------------------------------------------------------------- descriptors -- */

static int32_t load(rec_job *job, rec_source *source, const rec_visitor *visitor, void *self)
{
    static int32_t (*const parts[])(const reading *) = {breach_order,   breach_scalars, breach_blobs, breach_tensors,
                                                        breach_sources, breach_filters, breach_job};
    reading x = {
        .job = job, .source = source, .on = visitor, .self = self, .breach = rec_job_option_text(job, "breach")};
    if (strcmp(x.breach, "none") == 0) {
        uint8_t byte;
        uint64_t got;
        int32_t status = rec_source_read(job, source, &byte, 1, &got);
        return status == REC_OK ? plain(&x) : status;
    }
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        int32_t status = parts[i](&x);
        if (status != NOT_HERE) {
            return status;
        }
    }
    return rec_fail(job, REC_E_NOT_FOUND, REC_UNKNOWN, "no breach of this name: %s", x.breach);
}

static int32_t load_maps(rec_job *job, rec_source *source, const rec_visitor *visitor, void *self)
{
    reading x = {
        .job = job, .source = source, .on = visitor, .self = self, .breach = rec_job_option_text(job, "breach")};
    return strcmp(x.breach, "none") == 0 ? plain_maps(&x) : load(job, source, visitor, self);
}

static int32_t save(rec_job *job, rec_sink *sink)
{
    writing x = {.job = job, .sink = sink, .breach = rec_job_option_text(job, "breach")};
    int32_t status = breach_save(&x);
    status = status == NOT_HERE ? breach_sinks(&x) : status;
    return status == NOT_HERE ? plain_save(&x) : status; /* what is wrong within a walk is the walk's */
}

/* How sure it is: as sure as the test wants. */
static int32_t probe(const rec_head *head)
{
    const char *bid = getenv("BREACH_PROBE");
    (void)head;
    return bid ? (int32_t)strtol(bid, NULL, 10) : 0;
}

static const rec_option breach = {
    .size = sizeof(rec_option),
    .type = REC_OPTION_TEXT,
    .name = "breach",
    .initial = "none",
    .help = "what is done wrong",
};
static const rec_option *const options[] = {&breach, NULL};

#define FORMAT(name_, extension_, traits_, load_)        \
    {.abi = REC_PLUGIN_ABI,                              \
     .size = sizeof(rec_plugin),                         \
     .name = (name_),                                    \
     .extension = (extension_),                          \
     .description = "a format that breaks its contract", \
     .traits = (traits_),                                \
     .options = options,                                 \
     .load = (load_),                                    \
     .save = save,                                       \
     .probe = probe}
static const rec_plugin tensors = FORMAT("Breach", "breach", REC_TRAIT_TENSORS, load);
static const rec_plugin maps = FORMAT("BreachMaps", "breach-maps", 0, load_maps);
static const rec_plugin exact = FORMAT("BreachExact", "breach-exact", REC_TRAIT_TENSORS | REC_TRAIT_EXACT_SIZE, load);

/* test_breach compiles these files twice: a source plugin must be in a file of its own. */
#ifdef BREACH_SOURCE
REC_PLUGINS(source_breach, &breach_scheme);
#else
REC_PLUGINS(breach, &tensors, &maps, &exact, &breach_codec);
#endif
