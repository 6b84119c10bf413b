/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Metadata as GGUF writes it. A number has the width that it came with, or the narrowest of 32 and 64 bits; a list has
 * the type that it came with, or numbers of 32 bits where all of them fit, which is what llama.cpp reads. */
#include "common/names.h"
#include "plugins/codec/burns.h"
#include "plugins/codec/gguf/entry.h"

#include "common/utf8.h"
#include "plugins/codec/number.h"

void lr_gguf_put_text(lr_buffer *b, const char *text, uint64_t length)
{
    lr_put_little(b, length, 8);
    lr_put(b, text, length);
}

void lr_gguf_entries_open(lr_gguf_entries *e, rec_job *job)
{
    memset(e, 0, sizeof *e);
    e->job = e->text.job = e->numbers.job = e->lost.job = job;
    e->alignment = LR_GGUF_ALIGNMENT;
}

void lr_gguf_entries_close(lr_gguf_entries *e)
{
    rec_job_free(e->job, e->text.data);
    rec_job_free(e->job, e->numbers.data);
    rec_job_free(e->job, e->lost.data);
}

/* The narrowest type of 32 or 64 bits. */
static int32_t type_of_uint(uint64_t number)
{
    return number <= UINT32_MAX ? LR_GGUF_U32 : LR_GGUF_U64;
}

static int32_t type_of(const rec_scalar *scalar)
{
    static const int32_t ints[] = {LR_GGUF_I8, LR_GGUF_I16, LR_GGUF_I32, LR_GGUF_I64};
    static const int32_t uints[] = {LR_GGUF_U8, LR_GGUF_U16, LR_GGUF_U32, LR_GGUF_U64};
    int width = scalar->bits == 8 ? 0 : scalar->bits == 16 ? 1 : scalar->bits == 32 ? 2 : scalar->bits == 64 ? 3 : -1;
    switch (scalar->kind) {
    case REC_KIND_BOOL:
        return LR_GGUF_BOOL;
    case REC_KIND_STRING:
        return LR_GGUF_STRING;
    case REC_KIND_INT:
        return width >= 0                                             ? ints[width]
               : scalar->v.i >= INT32_MIN && scalar->v.i <= INT32_MAX ? LR_GGUF_I32
                                                                      : LR_GGUF_I64;
    case REC_KIND_UINT:
        return width >= 0 ? uints[width] : type_of_uint(scalar->v.u);
    case REC_KIND_FLOAT:
        return width == 3 || (width < 0 && (double)(float)scalar->v.f != scalar->v.f) ? LR_GGUF_F64 : LR_GGUF_F32;
    default:
        return -1;
    }
}

/* A number of a type. */
static void put_value(lr_buffer *b, int32_t type, const rec_scalar *scalar)
{
    uint64_t bits = scalar->v.u;
    if (type == LR_GGUF_F32) {
        float number = (float)scalar->v.f;
        uint32_t word;
        memcpy(&word, &number, sizeof word);
        bits = word;
    } else if (type == LR_GGUF_F64) {
        memcpy(&bits, &scalar->v.f, sizeof bits);
    }
    lr_put_little(b, bits, rec_dtype_bits(lr_gguf_value_dtype((uint32_t)type)) / 8);
}

static int32_t set_alignment(lr_gguf_entries *e, const rec_scalar *value)
{
    uint64_t alignment = value->kind == REC_KIND_UINT || value->kind == REC_KIND_INT ? value->v.u : 0;
    if (alignment < 8 || alignment > UINT64_C(1) << 30 || (alignment & (alignment - 1))) {
        int32_t status = rec_fail(e->job, REC_E_UNSUPPORTED, REC_UNKNOWN,
                                  "the metadata entry " LR_GGUF_KEY_ALIGNMENT " is not a power of two from 8 on");
        rec_fail_hint(e->job, "GGUF takes it for how tensors lie in the file: remove it, or give it such a number.");
        return status;
    }
    e->alignment = alignment;
    return REC_OK;
}

int32_t lr_gguf_entries_pair(lr_gguf_entries *e, const rec_scalar *key, const rec_scalar *value)
{
    if (lr_is_burns(key->text, key->v.length)) {
        return REC_OK;
    }
    if (lr_text_is(key->text, key->v.length, LR_GGUF_KEY_ALIGNMENT)) {
        return set_alignment(e, value);
    }
    lr_gguf_put_text(&e->text, key->text, key->v.length);
    lr_put_little(&e->text, LR_GGUF_STRING, 4);
    lr_gguf_put_text(&e->text, value->text, value->v.length);
    e->count++;
    return e->text.status;
}

int32_t lr_gguf_entries_begin(lr_gguf_entries *e, const rec_scalar *key)
{
    e->open = true;
    e->aligning = lr_text_is(key->text, key->v.length, LR_GGUF_KEY_ALIGNMENT);
    e->bad = false;
    e->depth = e->skipped = 0;
    e->entry = e->text.size;
    e->key_length = key->v.length;
    lr_gguf_put_text(&e->text, key->text, key->v.length);
    return e->text.status;
}

enum { LOST_MOST = 8, KEY_MOST = 60 };

/* Keeps the key of the entry that is left out. */
static void note_lost(lr_gguf_entries *e)
{
    uint64_t length = e->key_length < KEY_MOST ? e->key_length : KEY_MOST;
    if (e->left_out < LOST_MOST && e->text.status == REC_OK) {
        lr_put(&e->lost, ", ", e->lost.size ? 2 : 0);
        lr_put(&e->lost, "`", 1);
        lr_put(&e->lost, e->text.data + e->entry + sizeof(uint64_t), length);
        lr_put(&e->lost, "`", 1);
    } else if (e->left_out == LOST_MOST) {
        lr_put(&e->lost, ", …", sizeof ", …" - 1);
    }
}

/* The value is complete. */
static int32_t finish(lr_gguf_entries *e)
{
    e->open = false;
    if (e->bad && e->aligning) {
        return set_alignment(e, &(rec_scalar){0});
    }
    if (e->bad) {
        note_lost(e);
        e->text.size = e->entry;
        e->left_out++;
    } else {
        e->count++;
    }
    return e->text.status;
}

/* ------------------------------------------------------------------------------------------------------- lists -- */

/* An element of a kind joins the innermost list, or is the value. */
static void join(lr_gguf_entries *e, int32_t type)
{
    lr_gguf_list *list = e->depth ? &e->lists[e->depth - 1] : NULL;
    if (!list) {
        lr_put_little(&e->text, (uint32_t)type, 4);
        return;
    }
    e->bad = e->bad || (list->type >= 0 && list->type != type);
    list->type = type;
    list->count++;
}

int32_t lr_gguf_entries_list(lr_gguf_entries *e)
{
    if (e->bad || e->aligning || e->depth == LR_GGUF_NESTED_MOST) {
        return lr_gguf_entries_map(e);
    }
    join(e, LR_GGUF_ARRAY);
    e->lists[e->depth++] = (lr_gguf_list){.start = e->text.size, .type = -1, .of = -1};
    e->numbers.size = 0;
    lr_put_little(&e->text, LR_GGUF_I32, 4); /* what an empty list is of */
    lr_put_little(&e->text, 0, 8);
    return e->text.status;
}

int32_t lr_gguf_entries_list_of(lr_gguf_entries *e, const char *type)
{
    if (!e->bad && !e->skipped && e->depth) {
        e->lists[e->depth - 1].of = lr_gguf_value_of_word(type);
    }
    return REC_OK;
}

int32_t lr_gguf_entries_bytes(lr_gguf_entries *e, const rec_blob *blob)
{
    char *text;
    int32_t status;
    if (e->bad || e->aligning || blob->length > LR_GGUF_BYTES_MOST) {
        return lr_gguf_entries_other(e);
    }
    text = rec_job_alloc(e->job, blob->length + 1);
    status = text ? rec_blob_read(e->job, blob, 0, text, blob->length) : REC_E_MEMORY;
    if (status == REC_OK && lr_utf8_until((const uint8_t *)text, blob->length) < blob->length) {
        rec_scalar scalar = {.kind = REC_KIND_STRING, .text = text, .v.length = blob->length};
        status = lr_gguf_entries_scalar(e, &scalar);
    } else if (status == REC_OK) {
        status = lr_gguf_entries_other(e);
    }
    rec_job_free(e->job, text);
    return status;
}

int32_t lr_gguf_entries_map(lr_gguf_entries *e)
{
    e->bad = true;
    e->skipped++;
    return REC_OK;
}

int32_t lr_gguf_entries_other(lr_gguf_entries *e)
{
    e->bad = true;
    return e->depth || e->skipped ? REC_OK : finish(e);
}

/* A number among those of a list: kept until all are known. Integers of any width are one kind, as are floats. */
static void keep_number(lr_gguf_entries *e, const rec_scalar *scalar)
{
    lr_gguf_list *list = &e->lists[e->depth - 1];
    int32_t type = type_of(scalar);
    bool whole = scalar->kind == REC_KIND_INT || scalar->kind == REC_KIND_UINT;
    if (whole && scalar->kind == REC_KIND_INT && scalar->v.i < 0) {
        list->smallest = scalar->v.i < list->smallest ? scalar->v.i : list->smallest;
    } else if (whole) {
        list->largest = scalar->v.u > list->largest ? scalar->v.u : list->largest;
    }
    type = whole ? LR_GGUF_I64 : type;
    if (scalar->kind == REC_KIND_FLOAT && (list->type == LR_GGUF_F32 || list->type == LR_GGUF_F64)) {
        list->type = type = type == LR_GGUF_F64 ? type : list->type;
    }
    join(e, type);
    lr_put(&e->numbers, &scalar->v.u, sizeof scalar->v.u);
}

int32_t lr_gguf_entries_scalar(lr_gguf_entries *e, const rec_scalar *scalar)
{
    int32_t type = type_of(scalar), status;
    rec_scalar aligned = *scalar;
    if (e->bad || type < 0) {
        return lr_gguf_entries_other(e);
    }
    if (e->aligning) { /* a list or map of it is bad */
        status = set_alignment(e, scalar);
        if (status != REC_OK) {
            return status;
        }
        aligned.v.u = e->alignment;
        type = LR_GGUF_U32;
    }
    if (type == LR_GGUF_STRING) {
        join(e, type);
        lr_gguf_put_text(&e->text, scalar->text, scalar->v.length);
    } else if (e->depth) {
        keep_number(e, scalar);
    } else {
        join(e, type);
        put_value(&e->text, type, &aligned);
    }
    return e->depth || e->skipped ? e->text.status : finish(e);
}

int32_t lr_gguf_entries_numbers(lr_gguf_entries *e, rec_dtype dtype, const void *data, uint64_t count)
{
    uint32_t width = rec_dtype_bits(dtype) / 8, type = 0;
    const uint8_t *from = data;
    while (type < LR_GGUF_VALUES && lr_gguf_value_dtype(type) != dtype) {
        type++;
    }
    e->bad = e->bad || (count && type == LR_GGUF_VALUES);
    for (uint64_t i = 0; i < count && !e->bad && e->numbers.status == REC_OK; i++, from += width) {
        rec_scalar scalar = lr_number_scalar(dtype, from);
        keep_number(e, &scalar);
    }
    return e->numbers.status;
}

/* Whether elements of one type are written as another: numbers of a kind come as the widest. */
static bool is_kind(int32_t type, int32_t of)
{
    bool whole =
        of != LR_GGUF_STRING && of != LR_GGUF_ARRAY && of != LR_GGUF_BOOL && of != LR_GGUF_F32 && of != LR_GGUF_F64;
    bool floats = of == LR_GGUF_F32 || of == LR_GGUF_F64;
    return type < 0 || type == of || (type == LR_GGUF_I64 && whole) || (type == LR_GGUF_F32 && floats) ||
           (type == LR_GGUF_F64 && floats);
}

/* The common type of all elements of a list. @return -1: they differ. */
static int32_t common_type(const lr_gguf_list *list)
{
    if (list->of >= 0 && is_kind(list->type, list->of)) {
        return list->of;
    }
    if (list->type != LR_GGUF_I64) {
        return list->type;
    }
    if (list->smallest < 0) {
        return list->largest > INT64_MAX                                   ? -1
               : list->smallest >= INT32_MIN && list->largest <= INT32_MAX ? LR_GGUF_I32
                                                                           : LR_GGUF_I64;
    }
    return list->largest <= INT32_MAX ? LR_GGUF_I32 : type_of_uint(list->largest);
}

static void end_list(lr_gguf_entries *e)
{
    lr_gguf_list list = e->lists[--e->depth];
    int32_t type = common_type(&list);
    uint64_t end;
    if (list.count && type < 0) {
        e->bad = true;
    }
    if (e->bad || e->text.status != REC_OK || type < 0) {
        return;
    }
    if (type != LR_GGUF_STRING && type != LR_GGUF_ARRAY) {
        for (uint64_t i = 0; i < list.count; i++) {
            rec_scalar scalar = {0};
            memcpy(&scalar.v.u, e->numbers.data + i * sizeof scalar.v.u, sizeof scalar.v.u);
            put_value(&e->text, type, &scalar);
        }
    }
    /* The type and the count, over those of an empty list. */
    end = e->text.size;
    e->text.size = list.start;
    lr_put_little(&e->text, (uint32_t)type, 4);
    lr_put_little(&e->text, list.count, 8);
    e->text.size = end;
}

int32_t lr_gguf_entries_end(lr_gguf_entries *e)
{
    if (e->skipped) {
        e->skipped--;
    } else {
        end_list(e);
    }
    return e->depth || e->skipped ? e->text.status : finish(e);
}
