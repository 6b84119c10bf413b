/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Recognising tensors and parameters in the maps of a data tree. A parameter is {id, param}; a tensor is {bytes,
 * shape, dtype} since 0.14 (V2) and {value, shape} before (V1), where the element type follows from the precision in
 * the metadata and the numbers themselves. */
#include "burn/layout/layout.h"

static const rec_value *entry_of(const lr_entry *entries, uint64_t count, const char *name)
{
    for (uint64_t i = 0; i < count; i++) {
        if (lr_value_is(&entries[i].key, name)) {
            return &entries[i].value;
        }
    }
    return NULL;
}

/* Describes the first element of a list that is not a number, though it should be. */
static const char *found_words(const rec_value *value)
{
    for (uint64_t i = 0; value->kind == REC_KIND_LIST && i < value->v.list->count; i++) {
        int32_t kind = value->v.list->items[i].kind;
        if (kind != REC_KIND_INT && kind != REC_KIND_UINT && kind != REC_KIND_FLOAT) {
            return kind == REC_KIND_STRING ? "a list with a string"
                   : kind == REC_KIND_NIL  ? "a list with nil"
                   : kind == REC_KIND_BOOL ? "a list with a bool"
                                           : "a list with something else";
        }
    }
    return lr_kind_words(value->kind);
}

/* The bytes of a V2 tensor: a byte string, or a list of numbers from 0 to 255. NULL: the job has failed. */
static lr_data *v2_bytes(const lr_raise *r, const rec_value *bytes)
{
    lr_data *data;
    if (bytes->kind == REC_KIND_BYTES) {
        return bytes->v.bytes;
    }
    if (bytes->kind == REC_KIND_NUMBERS) {
        if (bytes->v.run->dtype != REC_DTYPE_U8) {
            (void)rec_fail_found(r->job, REC_E_FORMAT, r->at, "a byte string as the tensor's `bytes`",
                                 "a list of numbers that are not all from 0 to 255");
            return NULL;
        }
        return &bytes->v.run->data;
    }
    data = lr_data_copy(r->record, NULL, 0);
    if (!data) {
        (void)lr_fail_arena(r->job, &r->record->arena, sizeof *data);
    }
    return data;
}

/* Whether a name can be that of an element type: every format that carries it on wants one short line. */
static bool is_type_name(const rec_value *name)
{
    bool fine = name->length > 0 && name->length < LR_DTYPE_TEXT_ROOM;
    for (uint32_t i = 0; fine && i < name->length; i++) {
        fine = (unsigned char)name->v.text[i] >= ' ' && name->v.text[i] != 0x7f;
    }
    return fine;
}

static int raise_v2(const lr_raise *r, const rec_value *bytes, const rec_value *shape, const rec_value *dtype,
                    rec_value *out)
{
    const rec_value *name;
    rec_tensor *tensor;
    uint64_t size;
    if ((bytes->kind != REC_KIND_BYTES && !lr_raise_is_numbers(bytes)) || !lr_raise_is_numbers(shape) ||
        (dtype->kind != REC_KIND_STRING && dtype->kind != REC_KIND_MAP && dtype->kind != REC_KIND_VARIANT)) {
        return 0;
    }
    tensor = lr_raise_tensor(r, shape);
    if (!tensor) {
        return -1;
    }
    tensor->data = v2_bytes(r, bytes);
    if (!tensor->data) {
        return -1;
    }
    tensor->stored = tensor->packed = (uint8_t)lr_burn_dtype(dtype);
    name = dtype->kind == REC_KIND_VARIANT ? &dtype->v.variant->name : dtype;
    if (tensor->stored == REC_DTYPE_OPAQUE && lr_value_is(name, "QFloat")) {
        (void)rec_fail(r->job, REC_E_UNSUPPORTED, r->at, "a quantised tensor without its scheme");
        if (dtype->kind == REC_KIND_VARIANT) {
            rec_fail_hint(r->job, "Read it from MessagePack or JSON: without names the scheme cannot be distinguished "
                                  "from the next value.");
        }
        return -1;
    }
    if (tensor->stored == REC_DTYPE_OPAQUE && name->kind == REC_KIND_STRING && !is_type_name(name)) {
        (void)rec_fail_found(r->job, REC_E_FORMAT, r->at, "the name of an element type as the tensor's `dtype`",
                             "%u invalid bytes", name->length);
        return -1;
    }
    if (rec_dtype_bits(tensor->stored) == 0) {
        rec_value *words = lr_job_arena_alloc(r->job, &r->record->arena, sizeof *words, 8);
        if (!words) {
            return -1;
        }
        *words = *dtype;
        if (!lr_encoding_make(tensor)) {
            (void)lr_fail_arena(r->job, &r->record->arena, sizeof *tensor->encoding);
            return -1;
        }
        tensor->encoding->words = words;
    } else if (!lr_tensor_size(tensor->stored, tensor->count, &size) || size != tensor->data->size) {
        (void)lr_fail_data(r->job, r->at, tensor->stored, tensor->shape, tensor->rank, tensor->data->size);
        return -1;
    }
    return lr_raise_finish(r, tensor, out);
}

/* A tensor within a parameter that was not recognised as one: says what is wrong with it. Elsewhere such a map may be
 * the user's own. @return -1, or 0 if it is something else. */
static int check_parameter(const lr_raise *r, const rec_value *param)
{
    const lr_map *map = param->v.map;
    bool v2 = map->count == 3;
    const rec_value *data, *shape, *dtype;
    if (map->count != 2 && map->count != 3) {
        return 0;
    }
    data = entry_of(map->entries, map->count, v2 ? "bytes" : "value");
    shape = entry_of(map->entries, map->count, "shape");
    dtype = v2 ? entry_of(map->entries, map->count, "dtype") : NULL;
    if (!data || !shape || (v2 ? !dtype : r->burn->minor >= LR_BURN_V2)) {
        return 0;
    }
    if (!lr_raise_is_numbers(shape)) {
        (void)rec_fail_found(r->job, REC_E_FORMAT, r->at, "a list of unsigned integers as the tensor's `shape`", "%s",
                             found_words(shape));
    } else if (dtype && dtype->kind != REC_KIND_STRING && dtype->kind != REC_KIND_MAP) {
        (void)rec_fail_found(r->job, REC_E_FORMAT, r->at, "a name as the tensor's `dtype`", "%s", found_words(dtype));
    } else {
        (void)rec_fail_found(r->job, REC_E_FORMAT, r->at,
                             v2 ? "a byte string as the tensor's `bytes`" : "a list of numbers as the tensor's `value`",
                             "%s", found_words(data));
    }
    return -1;
}

static int raise_parameter(const lr_raise *r, const rec_value *id, const rec_value *param, rec_value *out)
{
    const char *fault;
    if (id->kind == REC_KIND_STRING && param->kind == REC_KIND_MAP) {
        return check_parameter(r, param);
    }
    if (id->kind != REC_KIND_STRING || param->kind != REC_KIND_TENSOR || param->v.tensor->id) {
        return 0;
    }
    fault = lr_id_fault(id->v.text, id->length);
    if (fault) {
        (void)rec_fail(r->job, REC_E_FORMAT, r->at, "the id of this parameter %s", fault);
        return -1;
    }
    param->v.tensor->id = id->v.text;
    if (r->burn->minor >= 0 && r->burn->minor < 11) {
        param->v.tensor->assumed = false; /* integer parameters came with 0.11 */
    }
    *out = *param;
    return 1;
}

int lr_burn_raise(rec_job *job, rec_record *record, const lr_burn *burn, rec_precision precision, uint64_t at,
                  const lr_entry *entries, uint64_t count, rec_value *out)
{
    lr_raise r = {.job = job, .record = record, .burn = burn, .precision = precision, .at = at};
    const rec_value *shape = entry_of(entries, count, "shape");
    if (count == 3) {
        const rec_value *bytes = entry_of(entries, count, "bytes");
        const rec_value *dtype = entry_of(entries, count, "dtype");
        return bytes && shape && dtype ? raise_v2(&r, bytes, shape, dtype, out) : 0;
    }
    if (shape) {
        const rec_value *value = entry_of(entries, count, "value");
        return value && burn->minor < LR_BURN_V2 ? lr_raise_v1(&r, value, shape, out) : 0;
    }
    {
        const rec_value *id = entry_of(entries, count, "id");
        const rec_value *param = entry_of(entries, count, "param");
        return id && param ? raise_parameter(&r, id, param, out) : 0;
    }
}
