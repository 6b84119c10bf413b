/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Read access to values: kinds and contents. */
#include <inttypes.h>

#include "core/io/io.h"
#include "core/record/record.h"

const char *lr_kind_words(int32_t kind)
{
    static const char *const words[] = {
        "nil",   "a bool", "an integer", "an unsigned integer", "a float",           "a string",
        "bytes", "a list", "a map",      "an enum's variant",   "a list of numbers", "a tensor",
    };
    return kind >= 0 && (size_t)kind < sizeof words / sizeof *words ? words[kind] : "something unknown";
}

bool lr_value_is_nothing(const rec_value *value)
{
    if (value->kind != REC_KIND_LIST) {
        return value->kind == REC_KIND_NIL;
    }
    for (uint64_t i = 0; i < value->v.list->count; i++) {
        if (!lr_value_is_nothing(&value->v.list->items[i])) {
            return false;
        }
    }
    return true;
}

uint64_t lr_value_tensors(const rec_value *value, bool (*counts)(rec_tensor *tensor))
{
    uint64_t count = value->kind == REC_KIND_TENSOR && (!counts || counts(value->v.tensor));
    if (value->kind == REC_KIND_LIST || value->kind == REC_KIND_MAP || value->kind == REC_KIND_VARIANT) {
        uint64_t children = rec_value_count(value);
        for (uint64_t i = 0; i < children; i++) {
            count += lr_value_tensors(rec_value_item(value, i), counts);
        }
    }
    return count;
}

const rec_value *lr_value_variant(const rec_value *value, const rec_value **payload)
{
    const rec_value *name = value;
    *payload = NULL;
    if (value->kind == REC_KIND_MAP && value->v.map->count == 1) {
        name = &value->v.map->entries[0].key;
        *payload = &value->v.map->entries[0].value;
    } else if (value->kind == REC_KIND_VARIANT) {
        name = &value->v.variant->name;
        *payload = value->v.variant->has_payload ? &value->v.variant->payload : NULL;
    }
    return name;
}

const rec_value *rec_root(const rec_record *record)
{
    return record ? &record->root : NULL;
}

int32_t rec_value_kind(const rec_value *value)
{
    return value ? value->kind : REC_KIND_NIL;
}

int32_t rec_value_form(const rec_value *value)
{
    if (!value) {
        return REC_FORM_UNKNOWN;
    }
    return value->kind == REC_KIND_NUMBERS ? value->v.run->form : value->form;
}

rec_scalar rec_value_scalar(const rec_value *value)
{
    return value ? lr_to_scalar(value) : (rec_scalar){.kind = REC_KIND_NIL};
}

uint64_t rec_value_count(const rec_value *value)
{
    switch (rec_value_kind(value)) {
    case REC_KIND_LIST:
        return value->v.list->count;
    case REC_KIND_MAP:
        return lr_map_count(value->v.map);
    case REC_KIND_VARIANT:
        return value->v.variant->has_payload;
    case REC_KIND_NUMBERS:
        return value->v.run->count;
    default:
        return 0;
    }
}

const rec_value *rec_value_item(const rec_value *value, uint64_t index)
{
    if (!value || value->kind == REC_KIND_NUMBERS || index >= rec_value_count(value)) {
        return NULL;
    }
    if (value->kind == REC_KIND_MAP) {
        lr_map_settle(value->v.map);
    }
    return value->kind == REC_KIND_LIST  ? &value->v.list->items[index]
           : value->kind == REC_KIND_MAP ? &value->v.map->entries[index].value
                                         : &value->v.variant->payload;
}

rec_scalar rec_value_key(const rec_value *value, uint64_t index)
{
    int32_t kind = rec_value_kind(value);
    if (kind == REC_KIND_MAP) {
        lr_map_settle(value->v.map);
    }
    if (kind == REC_KIND_MAP && index < value->v.map->count) {
        return lr_to_scalar(&value->v.map->entries[index].key);
    }
    if (kind == REC_KIND_VARIANT && index == 0) {
        return lr_to_scalar(&value->v.variant->name);
    }
    return (rec_scalar){.kind = REC_KIND_NIL};
}

uint64_t rec_value_variant(const rec_value *value)
{
    return rec_value_kind(value) == REC_KIND_VARIANT ? value->v.variant->index : REC_UNKNOWN;
}

rec_scalar rec_value_number(const rec_value *value, uint64_t index)
{
    if (rec_value_kind(value) != REC_KIND_NUMBERS || index >= value->v.run->count) {
        return (rec_scalar){.kind = REC_KIND_NIL};
    }
    return lr_packed_number(value->v.run, index);
}

const rec_tensor *rec_value_tensor(const rec_value *value)
{
    return rec_value_kind(value) == REC_KIND_TENSOR ? value->v.tensor : NULL;
}

const void *rec_value_bytes(const rec_value *value, uint64_t *size)
{
    if (rec_value_kind(value) != REC_KIND_BYTES) {
        return NULL;
    }
    if (size) {
        *size = value->v.bytes->size;
    }
    lr_source_lend(value->v.bytes->source);
    return value->v.bytes->data;
}

/* ------------------------------------------------------------------------------------- by a pointer, with errors -- */

/* REC_OK, or an error of a value. */
static rec_status answer(rec_status status, const char *expected, int32_t kind)
{
    if (status == REC_OK) {
        lr_publish_ok();
        return REC_OK;
    }
    return lr_publish(status, "expected %s, found %s", expected, lr_kind_words(kind));
}

static rec_status give(rec_scalar *to, rec_scalar from, bool there, uint64_t index, uint64_t count)
{
    if (!there) {
        return lr_publish(REC_E_ARGUMENT, "there is no entry %" PRIu64 " among %" PRIu64, index, count);
    }
    *to = from;
    lr_publish_ok();
    return REC_OK;
}

rec_status rec_value_get(const rec_value *value, rec_scalar *scalar)
{
    if (LR_NULL(value) || LR_NULL(scalar)) {
        return REC_E_ARGUMENT;
    }
    if (value->kind > REC_KIND_STRING) {
        return answer(REC_E_MISMATCH, "a scalar", value->kind);
    }
    *scalar = lr_to_scalar(value);
    return answer(REC_OK, "", value->kind);
}

rec_status rec_value_get_key(const rec_value *value, uint64_t index, rec_scalar *scalar)
{
    uint64_t count;
    if (LR_NULL(value) || LR_NULL(scalar)) {
        return REC_E_ARGUMENT;
    }
    if (value->kind != REC_KIND_MAP && value->kind != REC_KIND_VARIANT) {
        return answer(REC_E_MISMATCH, "a map or a variant", value->kind);
    }
    count = value->kind == REC_KIND_VARIANT ? 1 : rec_value_count(value);
    return give(scalar, rec_value_key(value, index), index < count, index, count);
}

rec_status rec_value_get_number(const rec_value *value, uint64_t index, rec_scalar *scalar)
{
    if (LR_NULL(value) || LR_NULL(scalar)) {
        return REC_E_ARGUMENT;
    }
    if (value->kind != REC_KIND_NUMBERS) {
        return answer(REC_E_MISMATCH, "a list of numbers", value->kind);
    }
    return give(scalar, rec_value_number(value, index), index < value->v.run->count, index, value->v.run->count);
}

rec_status rec_value_numbers(const rec_value *value, rec_dtype dtype, uint64_t first, uint64_t count, void *target)
{
    const lr_packed *run;
    lr_converted result = {0};
    int outcome;
    if (LR_NULL(value) || (count && LR_NULL(target))) {
        return REC_E_ARGUMENT;
    }
    if (value->kind != REC_KIND_NUMBERS) {
        return answer(REC_E_MISMATCH, "a list of numbers", value->kind);
    }
    run = value->v.run;
    if (first > run->count || count > run->count - first) {
        return lr_publish(REC_E_ARGUMENT,
                          "cannot read %" PRIu64 " numbers from number %" PRIu64 " on: the list has %" PRIu64, count,
                          first, run->count);
    }
    lr_source_lend(run->data.source);
    outcome = lr_convert(run->dtype, run->data.data + first * (rec_dtype_bits(run->dtype) / 8), dtype, target, count,
                         false, &result);
    if (outcome == LR_CONVERT_REFUSED) {
        return lr_publish(REC_E_MISMATCH, "expected numbers of %s, found %s", rec_dtype_name(dtype),
                          rec_dtype_name(run->dtype));
    }
    if (outcome == LR_CONVERT_RANGE) {
        return lr_publish(REC_E_RANGE, "number %" PRIu64 " does not fit %s", first + result.bad, rec_dtype_name(dtype));
    }
    return answer(REC_OK, "", value->kind);
}
