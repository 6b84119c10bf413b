/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Tensors and bytes in the text that tells a record. Another tool may have changed the tensors and kept the text: each
 * has to be named once, and to be there. */
#include "plugins/codec/safetensors/restore_private.h"

/* The tensor of a name that is the path or stands at `key`. It is taken. */
static int32_t take(lr_st_reader *r, const char *key, uint64_t length, const lr_st_file **file,
                    const lr_st_entry **entry)
{
    uint64_t found;
    lr_st_entry *e;
    if (!key) {
        key = r->path.parts ? r->path.text.data : LR_ST_ROOT_KEY;
        length = r->path.parts ? r->path.text.size : sizeof LR_ST_ROOT_KEY - 1;
        key = key ? key : "";
    }
    found = lr_st_keys_find(&r->model->keys, key, length);
    if (found == REC_UNKNOWN) {
        return lr_st_wrong_tensor(r, key, length, "is not there; the text `" LR_ST_RECORD_KEY "` says that it is");
    }
    *file = lr_st_model_file(r->model, found);
    e = &(*file)->header.entries[found - (*file)->first];
    if (e->mark) {
        return lr_st_wrong_tensor(r, key, length, "is in the text `" LR_ST_RECORD_KEY "` twice");
    }
    e->mark = LR_ST_TAKEN;
    r->taken++;
    *entry = e;
    return REC_OK;
}

/* Parses a string or null after a comma, if there is one. */
static int32_t more_text(lr_st_reader *r, bool *there, uint64_t *at, uint64_t *length)
{
    *there = false;
    if (!lr_st_pass(r, ",") || lr_st_pass(r, "null")) {
        return REC_OK;
    }
    *there = true;
    return lr_st_word(r, at, length);
}

/* `,[` numbers `]` */
static int32_t read_shape(lr_st_reader *r, uint64_t *shape, uint32_t *rank)
{
    int32_t status = lr_st_pass(r, ",[") ? REC_OK : lr_st_wrong(r, "a shape");
    *rank = 0;
    if (status == REC_OK && lr_st_pass(r, "]")) {
        return REC_OK;
    }
    while (status == REC_OK) {
        rec_scalar s;
        if (*rank == LR_ST_RANK_MOST) {
            return lr_st_wrong(r, "a shape of at most 32 dimensions");
        }
        status = lr_st_sized_number(r, 'u', 64, &s);
        if (status == REC_OK) {
            shape[(*rank)++] = s.v.u;
            if (lr_st_pass(r, "]")) {
                break;
            }
            status = lr_st_expect(r, ',', "`,` or `]` in a shape");
        }
    }
    return status;
}

/* Whether elements of `stored` can represent `dtype`. */
static bool may_be(rec_dtype stored, rec_dtype dtype)
{
    return dtype == REC_DTYPE_BOOL8    ? stored == REC_DTYPE_BOOL
           : dtype == REC_DTYPE_BOOL32 ? stored == REC_DTYPE_U32
           : dtype == REC_DTYPE_FLEX32
               ? stored == REC_DTYPE_F32
               : (dtype == REC_DTYPE_QFLOAT || dtype == REC_DTYPE_OPAQUE) && stored == REC_DTYPE_U8;
}

/* The longest id and the longest name of an element type that librecord takes. */
enum { ID_MOST = 256, NAME_MOST = 4000 };

static int32_t check_line(lr_st_reader *r, uint64_t at, uint64_t length, uint64_t most, const char *what)
{
    const char *text = r->words.data + at;
    bool fine = length > 0 && length <= most;
    for (uint64_t i = 0; fine && i < length; i++) {
        fine = (unsigned char)text[i] >= ' ' && text[i] != 0x7F;
    }
    return fine ? REC_OK : lr_st_wrong(r, what);
}

/* After ["tensor": `,id,key,dtype,name,shape]`, possibly truncated. */
int32_t lr_st_restore_tensor(lr_st_reader *r)
{
    bool has_id, has_key, has_dtype, has_name = false;
    uint64_t id, key, dtype, name = 0, length, key_length, words = r->words.size, shape[LR_ST_RANK_MOST];
    const lr_st_file *file;
    const lr_st_entry *entry;
    rec_tensor_event event;
    int32_t status = more_text(r, &has_id, &id, &length);
    if (status == REC_OK && has_id) {
        status = check_line(r, id, length, ID_MOST, "an id of 1 to 256 bytes without control characters before this");
    }
    status = status == REC_OK ? more_text(r, &has_key, &key, &key_length) : status;
    status = status == REC_OK ? more_text(r, &has_dtype, &dtype, &length) : status;
    if (status == REC_OK) {
        status = take(r, has_key ? r->words.data + key : NULL, has_key ? key_length : 0, &file, &entry);
    }
    if (status != REC_OK) {
        return status;
    }
    event = lr_st_event(&file->header, entry);
    if (has_dtype) {
        rec_dtype said = rec_dtype_from_name(r->words.data + dtype);
        if (!may_be(event.dtype, said)) {
            return lr_st_wrong_tensor(r, lr_st_text_at(&file->header, &entry->key), entry->key.length,
                                      "has another element type than the text `" LR_ST_RECORD_KEY "` says");
        }
        event.dtype = said;
        if (said == REC_DTYPE_QFLOAT || said == REC_DTYPE_OPAQUE) {
            status = more_text(r, &has_name, &name, &length);
            if (status == REC_OK && has_name) {
                status = check_line(r, name, length, NAME_MOST, "the name of an element type in one line before this");
            }
            status = status == REC_OK ? read_shape(r, shape, &event.rank) : status;
            event.shape = shape;
            if (status == REC_OK && said == REC_DTYPE_OPAQUE && !has_name) {
                status = lr_st_wrong(r, "the name of an element type before this");
            }
        }
    }
    event.id = has_id ? r->words.data + id : NULL;
    event.flags = has_id || r->paths ? 0 : REC_EVENT_BARE;
    event.dtype_name = has_name ? r->words.data + name : event.dtype_name;
    status = status == REC_OK ? lr_st_expect(r, ']', "`]` after a tensor") : status;
    if (status == REC_OK) {
        status = r->visitor->tensor(r->self, lr_st_location(entry->at), &event);
        if (status != REC_OK && file->header.beside) {
            rec_fail_source(r->job, file->source);
        }
    }
    r->words.size = words;
    return status;
}

/* Bytes that are stored as a tensor. */
int32_t lr_st_restore_blob(lr_st_reader *r)
{
    uint64_t key, length = 0, words = r->words.size;
    bool has_key;
    const lr_st_file *file;
    const lr_st_entry *entry;
    rec_tensor_event event;
    int32_t status = more_text(r, &has_key, &key, &length);
    status = status == REC_OK ? lr_st_expect(r, ']', "`]` after a blob") : status;
    status = status == REC_OK ? take(r, has_key ? r->words.data + key : NULL, length, &file, &entry) : status;
    if (status == REC_OK) {
        event = lr_st_event(&file->header, entry);
        if (event.dtype != REC_DTYPE_U8) {
            return lr_st_wrong_tensor(r, lr_st_text_at(&file->header, &entry->key), entry->key.length,
                                      "is not of U8, though the text `" LR_ST_RECORD_KEY "` says that it is bytes");
        }
        status = r->visitor->bytes(r->self, lr_st_location(entry->at), &event.data);
    }
    r->words.size = words;
    return status;
}

int32_t lr_st_restore_bytes(lr_st_reader *r)
{
    rec_blob b = {.size = sizeof b, .kind = REC_BLOB_TEMPORARY, .offset = REC_UNKNOWN};
    uint8_t shorter[256], *data = shorter;
    const char *text;
    uint64_t length;
    int32_t status = lr_st_expect(r, ',', "bytes as hexadecimal digits");
    status = status == REC_OK ? lr_st_string(r, &text, &length) : status;
    if (status != REC_OK) {
        return status;
    }
    if (length / 2 > sizeof shorter) {
        data = rec_job_alloc(r->job, length / 2);
        status = data ? REC_OK : lr_st_no_memory(r->job);
    }
    for (uint64_t i = 0; i < length && status == REC_OK; i++) {
        int digit = lr_st_hex_digit(text[i]);
        if (digit < 0 || length % 2) {
            status = lr_st_wrong(r, "bytes as pairs of hexadecimal digits before this");
            break;
        }
        data[i / 2] = (uint8_t)(i % 2 ? data[i / 2] << 4 | digit : digit);
    }
    b.data = data;
    b.length = length / 2;
    status = status == REC_OK ? lr_st_expect(r, ']', "`]` after bytes") : status;
    status = status == REC_OK ? r->visitor->bytes(r->self, r->at, &b) : status;
    rec_job_free(r->job, data == shorter ? NULL : data);
    return status;
}
