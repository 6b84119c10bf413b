/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Parameters of a bincode record whose type is not known: they have a strong signature, an id of 10, 13 or 36
 * characters and then a tensor whose data has the size that its shape and element type ask for. They are reported as a
 * map by position: "0", "1"… */
#include "plugins/codec/bincode/bincode_private.h"
#include "plugins/codec/burns.h"
#include "plugins/codec/pass.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* What the events of a trial show about a tensor. */
typedef struct trial {
    uint64_t product; /* of the shape */
    uint64_t values;  /* of a V1 tensor */
    bool in_shape;
    bool overflow;
    char dtype[16];
    uint64_t bytes;
} trial;

static int32_t on_numbers(void *self, uint64_t at, rec_dtype dtype, const void *data, uint64_t count)
{
    trial *t = self;
    (void)at;
    if (!t->in_shape) {
        t->values += count;
        return REC_OK;
    }
    for (uint64_t i = 0; dtype == REC_DTYPE_U64 && i < count; i++) {
        uint64_t dimension;
        memcpy(&dimension, (const uint8_t *)data + i * sizeof dimension, sizeof dimension);
        t->overflow = t->overflow || __builtin_mul_overflow(t->product, dimension, &t->product);
    }
    return REC_OK;
}

static int32_t on_bytes(void *self, uint64_t at, const rec_blob *blob)
{
    trial *t = self;
    (void)at;
    t->bytes = blob->length;
    return REC_OK;
}

static int32_t on_key(void *self, uint64_t at, const rec_scalar *key)
{
    trial *t = self;
    (void)at;
    t->in_shape = key->v.length == 5 && memcmp(key->text, "shape", 5) == 0;
    return REC_OK;
}

static int32_t on_variant(void *self, uint64_t at, uint64_t index, const rec_scalar *name, int32_t payload)
{
    trial *t = self;
    (void)at;
    (void)index;
    (void)payload;
    if (!t->dtype[0]) {
        (void)snprintf(t->dtype, sizeof t->dtype, "%s", name->text);
    }
    return REC_OK;
}

static const rec_visitor on_trial = {
    .size = sizeof(rec_visitor),
    .scalar = lr_pass_scalar,
    .numbers = on_numbers,
    .bytes = on_bytes,
    .list_begin = lr_pass_begin,
    .map_begin = lr_pass_begin,
    .key = on_key,
    .variant_begin = on_variant,
    .end = lr_pass_end,
};

/* How often trials may look at a byte, on the average: a file may be full of what could begin a parameter that reaches
 * to its end. */
enum { LOOKS_MOST = 24, LEAST = 1 << 20 };

/* A trial at `at` of a layout. */
static bool passes(lr_bincode_reader *r, lr_bincode_reader *probe, uint64_t at, const rec_layout *layout)
{
    int32_t status;
    probe->at = at;
    status = lr_bincode_value(probe, layout);
    r->tried += probe->at - at + 1;
    return status == REC_OK;
}

/* Whether a parameter of this layout stands at `at`. The first pass makes no events; what passes it is rare.
 * @param bare it has no id: then it must have data, for constants and the length of the next id would make one without.
 */
static bool fits(lr_bincode_reader *r, uint64_t at, const rec_layout *layout, bool bare, uint64_t *end)
{
    lr_bincode_reader probe = *r;
    trial t = {.product = 1};
    uint64_t size;
    probe.quiet = true;
    if (!passes(r, &probe, at, layout)) {
        return false;
    }
    *end = probe.at;
    probe.quiet = false;
    probe.visitor = &on_trial;
    probe.self = &t;
    if (!passes(r, &probe, at, layout) || t.overflow) {
        return false;
    }
    if (!t.dtype[0]) {
        return t.values == t.product && t.values > 0; /* V1 */
    }
    size = rec_dtype_bits(lr_burn_dtype(t.dtype, strlen(t.dtype))) / 8;
    if (bare && (size == 0 || t.bytes == 0)) {
        return false;
    }
    return size == 0 || (t.product <= UINT64_MAX / size && t.product * size == t.bytes);
}

static bool may_begin(const lr_bincode_reader *r, uint64_t at)
{
    uint8_t length = r->data[at];
    if ((length != 13 && length != 36 && length != 10) || length >= r->size - at) {
        return false;
    }
    for (uint8_t i = 1; i <= length; i++) {
        uint8_t c = r->data[at + i];
        bool digit = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'v');
        if (length == 36 && (i == 9 || i == 14 || i == 19 || i == 24) ? c != '-' : !digit) {
            return false;
        }
    }
    return true;
}

static int32_t report(lr_bincode_reader *r, uint64_t at, const rec_layout *layout, uint64_t number)
{
    char name[24];
    rec_scalar key = {.kind = REC_KIND_STRING, .text = name};
    int32_t status;
    key.v.length = (uint64_t)snprintf(name, sizeof name, "%" PRIu64, number);
    r->at = at;
    status = r->visitor->key(r->self, at, &key);
    return status == REC_OK ? lr_bincode_value(r, layout) : status;
}

static int32_t fail_search(lr_bincode_reader *r, uint64_t at)
{
    (void)rec_fail(r->job, REC_E_LIMIT, at,
                   "too many places of the file could begin a parameter to find them without its type");
    rec_fail_hint(r->job, "Give its type.");
    return REC_E_LIMIT;
}

int32_t lr_bincode_scan(lr_bincode_reader *r, bool none)
{
    static const char *const kinds[] = {"Param<Tensor<B, 1>>", "Param<Tensor<B, 1, Int>>", "Param<Tensor<B, 1, Bool>>",
                                        "Tensor<B, 1>",        "Tensor<B, 1, Int>",        "Tensor<B, 1, Bool>"};
    const rec_layout *layouts[6];
    uint64_t next = r->at; /* a tensor without an id is only looked for where one thing ended and another begins */
    rec_scalar item = {.kind = REC_KIND_STRING, .v = {.length = 4}, .text = "item"};
    uint64_t found = 0, begin = r->at;
    int32_t status = REC_OK;
    for (size_t i = 0; i < 6 && status == REC_OK; i++) {
        status = rec_job_layout_of(r->job, kinds[i], &layouts[i]);
    }
    status = status == REC_OK ? r->visitor->key(r->self, r->at, &item) : status;
    status = status == REC_OK ? r->visitor->map_begin(r->self, r->at, REC_FORM_UNKNOWN, REC_UNKNOWN) : status;
    for (uint64_t at = r->at; at < r->size && status == REC_OK; at++) {
        uint64_t end;
        bool parameter = may_begin(r, at);
        if (!parameter && at != next) {
            continue;
        }
        if (r->tried > r->size * LOOKS_MOST + LEAST) {
            return fail_search(r, at);
        }
        for (size_t i = parameter ? 0 : 3; i < 6; i++) {
            if (fits(r, at, layouts[i], !parameter, &end)) {
                status = report(r, at, layouts[i], found++);
                next = end;
                at = end - 1;
                break;
            }
        }
    }
    r->at = r->size;
    if (status == REC_OK && !found && !none) {
        status = rec_fail(r->job, REC_E_UNSUPPORTED, REC_UNKNOWN, "no parameters can be found in it without its type");
        rec_fail_hint(r->job,
                      "Give its type: an optimizer's, a scheduler's or a module's without parameters by its name.");
    } else if (status == REC_OK && !found) {
        rec_job_note(r->job, REC_NOTE_ASSUMED, "",
                     "no parameters found in the %" PRIu64 " bytes after its metadata; it needs a type",
                     r->size - begin);
    } else if (status == REC_OK) {
        rec_job_note(r->job, REC_NOTE_ASSUMED, "",
                     "without its type, only its %" PRIu64
                     " parameters were found, named by their position; anything else in it is not known",
                     found);
    }
    return status == REC_OK ? r->visitor->end(r->self, r->at) : status;
}
