/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Burn's layout: element types by version, metadata, ids. */
#include "burn/layout/layout.h"

/* ---------------------------------------------------------------------------------------------- element types -- */

struct name {
    const char *name;
    rec_dtype dtype;
    int32_t since; /* 0.MINOR */
};

/* In the order of Burn's enum; U16 came with 0.16, Flex32 with 0.17. */
static const struct name dtypes[] = {
    {"F64", REC_DTYPE_F64, 14}, {"F32", REC_DTYPE_F32, 14},   {"Flex32", REC_DTYPE_FLEX32, 17},
    {"F16", REC_DTYPE_F16, 14}, {"BF16", REC_DTYPE_BF16, 14}, {"I64", REC_DTYPE_I64, 14},
    {"I32", REC_DTYPE_I32, 14}, {"I16", REC_DTYPE_I16, 14},   {"I8", REC_DTYPE_I8, 14},
    {"U64", REC_DTYPE_U64, 14}, {"U32", REC_DTYPE_U32, 14},   {"U16", REC_DTYPE_U16, 16},
    {"U8", REC_DTYPE_U8, 14},   {"Bool", REC_DTYPE_BOOL, 14}, {"QFloat", REC_DTYPE_QFLOAT, 14},
};
#define DTYPES (sizeof dtypes / sizeof *dtypes)

static rec_dtype by_name(const rec_value *name)
{
    for (size_t i = 0; i < DTYPES; i++) {
        if (lr_value_is(name, dtypes[i].name)) {
            return dtypes[i].dtype;
        }
    }
    return REC_DTYPE_OPAQUE;
}

/* Bool(Native | U8 | U32). */
static rec_dtype bool_store(const rec_value *store)
{
    const rec_value *name = store->kind == REC_KIND_VARIANT ? &store->v.variant->name : store;
    return lr_value_is(name, "Native") ? REC_DTYPE_BOOL
           : lr_value_is(name, "U8")   ? REC_DTYPE_BOOL8
           : lr_value_is(name, "U32")  ? REC_DTYPE_BOOL32
                                       : REC_DTYPE_OPAQUE;
}

rec_dtype lr_burn_dtype(const rec_value *value)
{
    const rec_value *payload;
    const rec_value *name = lr_value_variant(value, &payload);
    rec_dtype dtype;
    dtype = by_name(name);
    if (dtype == REC_DTYPE_BOOL && payload) {
        return bool_store(payload);
    }
    /* QFloat always has a payload (its scheme), the others never. */
    return (dtype == REC_DTYPE_QFLOAT) == (payload != NULL) ? dtype : REC_DTYPE_OPAQUE;
}

uint64_t lr_burn_dtype_count(int32_t minor)
{
    uint64_t count = 0;
    for (size_t i = 0; i < DTYPES; i++) {
        count += dtypes[i].since <= minor;
    }
    return count;
}

const char *lr_burn_dtype_at(int32_t minor, uint64_t index)
{
    for (size_t i = 0; i < DTYPES; i++) {
        if (dtypes[i].since <= minor && index-- == 0) {
            return dtypes[i].name;
        }
    }
    return NULL;
}

const char *lr_burn_dtype_name(rec_dtype dtype, int32_t minor, uint64_t *index)
{
    rec_dtype plain = lr_dtype_is_bool(dtype) ? REC_DTYPE_BOOL : dtype;
    uint64_t at = 0;
    for (size_t i = 0; i < DTYPES; i++) {
        if (dtypes[i].dtype == plain && dtypes[i].since <= minor) {
            *index = at;
            return dtypes[i].name;
        }
        at += dtypes[i].since <= minor;
    }
    return NULL;
}

/* ---------------------------------------------------------------------------------------------------- metadata -- */

static const lr_burn_precision precisions[] = {
    {REC_PRECISION_DOUBLE, "f64", "i64", "DoublePrecisionSettings"},
    {REC_PRECISION_FULL, "f32", "i32", "FullPrecisionSettings"},
    {REC_PRECISION_HALF, "half::binary16::f16", "i16", "HalfPrecisionSettings"},
};

const lr_burn_precision *lr_burn_precision_of(rec_precision precision)
{
    return &precisions[precision == REC_PRECISION_DOUBLE ? 0 : precision == REC_PRECISION_HALF ? 2 : 1];
}

lr_burn lr_burn_of(const lr_map *metadata)
{
    lr_burn burn = {.minor = -1, .known = true};
    const lr_entry *version = lr_map_find_text(metadata, "version", 7);
    const lr_entry *name = lr_map_find_text(metadata, "float", 5);
    if (version && version->value.kind == REC_KIND_STRING && version->value.length > 2 &&
        version->value.v.text[0] == '0' && version->value.v.text[1] == '.') {
        const char *digits = version->value.v.text + 2;
        size_t length = strspn(digits, "0123456789");
        if (length >= 1 && length <= 4) {
            burn.minor = 0;
            for (size_t i = 0; i < length; i++) {
                burn.minor = burn.minor * 10 + (digits[i] - '0');
            }
            /* Records that say 0.6 were written on the way to 0.7 and have its layout. */
            burn.minor = burn.minor < LR_BURN_FIRST ? LR_BURN_FIRST : burn.minor;
        }
    }
    for (size_t i = 0; name && i < sizeof precisions / sizeof *precisions; i++) {
        if (lr_value_is(&name->value, precisions[i].float_name)) {
            burn.precision = precisions[i].precision;
        }
    }
    if (name && lr_value_is(&name->value, "f16")) {
        burn.precision = REC_PRECISION_HALF;
    }
    return burn;
}

/* --------------------------------------------------------------------------------------------------------- ids -- */

const char *lr_burn_id(const char *id, int32_t minor, char *buffer)
{
    uint8_t bytes[8];
    if (minor >= 15 && strlen(id) != LR_ID_CURRENT && lr_id_bytes(id, bytes)) {
        lr_id_base32(bytes, sizeof bytes, buffer);
        return buffer;
    }
    return id;
}

/* ---------------------------------------------------------------------------------------------------- versions -- */

bool lr_burn_can(const rec_plugin *plugin, int32_t minor)
{
    return plugin && plugin->burn_first
               ? minor >= plugin->burn_first && (!plugin->burn_last || minor <= plugin->burn_last)
           : !plugin || plugin->burn_name ? minor <= LR_BURN_NOW
                                          : minor <= LR_BURN_LAST;
}

int32_t lr_burn_default(const rec_plugin *plugin)
{
    int32_t newest = LR_BURN_LAST;
    if (!plugin || !plugin->burn_first || plugin->burn_default) {
        return plugin && plugin->burn_first ? plugin->burn_default : LR_BURN_NOW;
    }
    newest = plugin->burn_last && plugin->burn_last < newest ? plugin->burn_last : newest;
    return newest < plugin->burn_first ? plugin->burn_first : newest;
}

int32_t lr_burn_check(rec_job *job, const rec_plugin *plugin, int32_t target)
{
    if (target <= 0 || lr_burn_can(plugin, target)) {
        return REC_OK;
    }
    if (plugin->burn_first && target > plugin->burn_first) {
        (void)rec_fail(job, REC_E_UNSUPPORTED, REC_UNKNOWN,
                       "Burn 0.%d has no %s files: Burn 0.%d is the last with them", (int)target, plugin->name,
                       (int)plugin->burn_last);
        rec_fail_hint(job, "Versions of Burn that this plugin writes for: 0.%d to 0.%d.", (int)plugin->burn_first,
                      (int)plugin->burn_last);
    } else if (plugin->burn_first) {
        (void)rec_fail(job, REC_E_UNSUPPORTED, REC_UNKNOWN,
                       "Burn 0.%d has no %s files: Burn 0.%d is the first with them", (int)target, plugin->name,
                       (int)plugin->burn_first);
        rec_fail_hint(job, "Write .mpk, for example: this version has recorders.");
    } else {
        (void)rec_fail(job, REC_E_UNSUPPORTED, REC_UNKNOWN,
                       "Burn 0.%d has no recorders, and loads no %s: Burn 0.%d is the "
                       "last that does",
                       (int)target, plugin->name, LR_BURN_NOW);
        rec_fail_hint(job, "Write .bpk, which it loads.");
    }
    return job->error.status;
}

int32_t rec_job_burn(const rec_job *job)
{
    if (LR_LACKS(NULL, job)) {
        return -1;
    }
    return job->burn.minor >= LR_BURN_FIRST ? job->burn.minor : LR_BURN_NOW;
}
