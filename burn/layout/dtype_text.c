/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Element types that have more to them than a name, as text and back: formats that know tensors themselves carry the
 * scheme of a quantised tensor in it. And which versions of Burn have the same scheme. */
#include "burn/layout/layout.h"

#include <math.h>

enum {
    DEEPEST = 8, /* Burn's own schemes have three levels */
    LONGEST = 4096
};

static bool is_told(const rec_scalar *number)
{
    return number->kind != REC_KIND_FLOAT || isfinite(number->v.f); /* JSON has no infinities */
}

/* Whether JSON has all that is in a value. A list of too many numbers is not even looked at. */
static bool has_text(const rec_value *value, unsigned depth)
{
    rec_scalar scalar = lr_to_scalar(value);
    bool has = depth < DEEPEST && rec_value_count(value) < LONGEST && value->kind != REC_KIND_BYTES &&
               value->kind != REC_KIND_TENSOR && is_told(&scalar);
    for (uint64_t i = 0; has && i < rec_value_count(value); i++) {
        if (value->kind == REC_KIND_NUMBERS) {
            scalar = lr_packed_number(value->v.run, i);
            has = is_told(&scalar);
        } else {
            has = (value->kind == REC_KIND_LIST || rec_value_key(value, i).kind == REC_KIND_STRING) &&
                  has_text(rec_value_item(value, i), depth + 1);
        }
    }
    return has;
}

const char *lr_burn_dtype_text(rec_job *job, const rec_value *value, char *buffer)
{
    lr_json_line line = {.text = buffer, .room = LR_DTYPE_TEXT_ROOM, .exact = true};
    bool told;
    if (value->kind == REC_KIND_STRING) {
        return value->v.text;
    }
    told = has_text(value, 0);
    if (told) {
        lr_line_value(&line, value);
    }
    if (!told || line.used > LONGEST) {
        (void)rec_fail(job, REC_E_UNSUPPORTED, REC_UNKNOWN,
                       "the description of a tensor's element type cannot be written as text");
        return NULL;
    }
    buffer[line.used] = '\0';
    return buffer;
}

int32_t lr_burn_dtype_read(rec_job *job, rec_record *record, uint64_t at, rec_dtype dtype, const char *text,
                           rec_value *value)
{
    size_t length = strlen(text);
    int32_t status = REC_E_FORMAT;
    if (dtype == REC_DTYPE_OPAQUE && *text != '{') {
        status = lr_string(&record->arena, text, length, value) ? REC_OK : REC_E_MEMORY;
    } else if (length <= LONGEST) {
        status = lr_value_read_exact(record, text, length, DEEPEST, value);
        if (status == REC_OK && (value->kind != REC_KIND_MAP || lr_burn_dtype(value) != dtype)) {
            status = REC_E_FORMAT;
        }
    }
    if (status == REC_E_MEMORY) {
        return lr_fail_arena(job, &record->arena, sizeof *value);
    }
    return status == REC_OK ? REC_OK
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
