/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Events whose arguments are wrong. */
#include <stdlib.h>

#include "breach.h"

static const char not_utf8[] = "abc\xff";

/* --------------------------------------------------------------------------------------------- plain arguments -- */

static int32_t give(const reading *x, rec_scalar scalar)
{
    int32_t status = begin(x);
    status = status == REC_OK ? x->on->scalar(x->self, 7, &scalar) : status;
    return status == REC_OK ? finish(x) : status;
}

static int32_t give_key(const reading *x, rec_scalar key)
{
    int32_t status = x->on->map_begin(x->self, 0, REC_FORM_STRUCT, REC_UNKNOWN);
    return status == REC_OK ? x->on->key(x->self, 7, &key) : status;
}

static int32_t give_numbers(const reading *x, rec_dtype dtype, const void *data, uint64_t count)
{
    int32_t status = begin(x);
    status = status == REC_OK ? x->on->list_begin(x->self, 6, REC_FORM_LIST, REC_UNKNOWN) : status;
    return status == REC_OK ? x->on->numbers(x->self, 7, dtype, data, count) : status;
}

static int32_t give_variant(const reading *x, uint64_t index, const rec_scalar *name, int32_t payload)
{
    int32_t status = begin(x);
    return status == REC_OK ? x->on->variant_begin(x->self, 7, index, name, payload) : status;
}

/* The `self` of one call in the next one. */
static int32_t keep_the_visitor(const reading *x)
{
    static void *kept;
    rec_scalar nil = {.kind = REC_KIND_NIL};
    void *old = kept;
    kept = x->self;
    return old ? x->on->scalar((char *)old + 1, 0, &nil) : plain(x);
}

int32_t breach_scalars(const reading *x)
{
    static const uint8_t bytes[16];
    const rec_visitor *on = x->on;
    rec_scalar nil = {.kind = REC_KIND_NIL}, word = text_of("w"), wrong = {.kind = REC_KIND_STRING, .v.length = 4};
    rec_scalar bad = {.kind = REC_KIND_STRING, .text = not_utf8, .v.length = 4};
    rec_scalar huge = {.kind = REC_KIND_STRING, .text = "x", .v.length = UINT64_C(1) << 62};
    struct {
        uint64_t room[32];
    } other = {{0}};
    if (IS("self kept from the last call")) {
        return keep_the_visitor(x);
    }
    if (IS("scalar for nobody")) {
        return on->scalar(nowhere, 0, &nil);
    }
    if (IS("scalar for somebody else")) {
        return on->scalar(&other, 0, &nil);
    }
    if (IS("end for nobody")) {
        return on->end(nowhere, 0);
    }
    if (IS("tensor for nobody")) {
        return on->tensor(nowhere, 0, nowhere);
    }
    if (IS("map for somebody else")) {
        return on->map_begin(&other, 0, REC_FORM_STRUCT, 0);
    }
    if (IS("scalar that is NULL")) {
        return on->scalar(x->self, 7, nowhere);
    }
    if (IS("scalar of kind 77")) {
        return give(x, (rec_scalar){.kind = 77});
    }
    if (IS("scalar of kind -1")) {
        return give(x, (rec_scalar){.kind = -1});
    }
    if (IS("scalar that is a list")) {
        return give(x, (rec_scalar){.kind = REC_KIND_LIST});
    }
    if (IS("scalar of form 77")) {
        return give(x, (rec_scalar){.kind = REC_KIND_NIL, .form = 77});
    }
    if (IS("number with a form")) {
        return give(x, (rec_scalar){.kind = REC_KIND_UINT, .form = REC_FORM_UNIT});
    }
    if (IS("bool of two")) {
        return give(x, (rec_scalar){.kind = REC_KIND_BOOL, .v.i = 2});
    }
    if (IS("bool of minus one")) {
        return give(x, (rec_scalar){.kind = REC_KIND_BOOL, .v.i = -1});
    }
    if (IS("int wider than its bits")) {
        return give(x, (rec_scalar){.kind = REC_KIND_INT, .bits = 8, .v.i = -129});
    }
    if (IS("uint wider than its bits")) {
        return give(x, (rec_scalar){.kind = REC_KIND_UINT, .bits = 8, .v.u = 256});
    }
    if (IS("uint of seven bits")) {
        return give(x, (rec_scalar){.kind = REC_KIND_UINT, .bits = 7});
    }
    if (IS("float of eight bits")) {
        return give(x, (rec_scalar){.kind = REC_KIND_FLOAT, .bits = 8});
    }
    if (IS("string without text")) {
        return give(x, wrong);
    }
    if (IS("string that is not UTF-8")) {
        return give(x, bad);
    }
    if (IS("string without end")) {
        return give(x, huge);
    }
    if (IS("key that is NULL")) {
        int32_t status = on->map_begin(x->self, 0, REC_FORM_STRUCT, REC_UNKNOWN);
        return status == REC_OK ? on->key(x->self, 7, nowhere) : status;
    }
    if (IS("key without text")) {
        return give_key(x, wrong);
    }
    if (IS("key that is not UTF-8")) {
        return give_key(x, bad);
    }
    if (IS("key without end")) {
        return give_key(x, huge);
    }
    if (IS("key of kind 77")) {
        return give_key(x, (rec_scalar){.kind = 77});
    }
    if (IS("metadata without key")) {
        return on->metadata(x->self, 7, nowhere, &word);
    }
    if (IS("metadata without value")) {
        return on->metadata(x->self, 7, &word, nowhere);
    }
    if (IS("metadata whose key is nil")) {
        return on->metadata(x->self, 7, &nil, &word);
    }
    if (IS("metadata whose value is nil")) {
        return on->metadata(x->self, 7, &word, &nil);
    }
    if (IS("metadata key that is not UTF-8")) {
        return on->metadata(x->self, 7, &bad, &word);
    }
    if (IS("metadata that is not UTF-8")) {
        return on->metadata(x->self, 7, &word, &bad);
    }
    if (IS("metadata without text")) {
        return on->metadata(x->self, 7, &word, &wrong);
    }
    if (IS("metadata without end")) {
        return on->metadata(x->self, 7, &word, &huge);
    }
    if (IS("metadata value without key")) {
        return on->metadata_value(x->self, 7, nowhere);
    }
    if (IS("metadata value whose key is nil")) {
        return on->metadata_value(x->self, 7, &nil);
    }
    if (IS("metadata value whose key is not UTF-8")) {
        return on->metadata_value(x->self, 7, &bad);
    }
    if (IS("numbers that are NULL")) {
        return give_numbers(x, REC_DTYPE_F32, nowhere, 3);
    }
    if (IS("numbers of type 77")) {
        return give_numbers(x, 77, bytes, 3);
    }
    if (IS("numbers of type -1")) {
        return give_numbers(x, -1, bytes, 3);
    }
    if (IS("numbers of halves")) {
        return give_numbers(x, REC_DTYPE_F16, bytes, 3);
    }
    if (IS("numbers beyond memory")) {
        return give_numbers(x, REC_DTYPE_U64, bytes, UINT64_MAX);
    }
    if (IS("numbers beyond counting")) {
        return give_numbers(x, REC_DTYPE_U64, bytes, (UINT64_C(1) << 61) + 1);
    }
    if (IS("list of form 77")) {
        int32_t status = begin(x);
        return status == REC_OK ? on->list_begin(x->self, 7, 77, 0) : status;
    }
    if (IS("list of a map's form")) {
        int32_t status = begin(x);
        return status == REC_OK ? on->list_begin(x->self, 7, REC_FORM_MAP, 0) : status;
    }
    if (IS("map of form 77")) {
        return on->map_begin(x->self, 7, 77, 0);
    }
    if (IS("map of form -1")) {
        return on->map_begin(x->self, 7, -1, 0);
    }
    if (IS("map of a list's form")) {
        return on->map_begin(x->self, 7, REC_FORM_LIST, 0);
    }
    if (IS("paths within a map")) {
        int32_t status = begin(x);
        return status == REC_OK ? on->map_begin(x->self, 7, REC_FORM_PATHS, 0) : status;
    }
    if (IS("paths of a format of maps")) {
        return on->map_begin(x->self, 7, REC_FORM_PATHS, 0);
    }
    if (IS("variant without name")) {
        return give_variant(x, 0, nowhere, 0);
    }
    if (IS("variant whose name is nil")) {
        return give_variant(x, 0, &nil, 0);
    }
    if (IS("variant whose name is not UTF-8")) {
        return give_variant(x, 0, &bad, 0);
    }
    if (IS("variant whose name has no end")) {
        return give_variant(x, 0, &huge, 0);
    }
    if (IS("variant with payload 77")) {
        return give_variant(x, 0, &word, 77);
    }
    if (IS("variant beyond all enums")) {
        return give_variant(x, UINT64_C(1) << 32, &word, 0);
    }
    if (IS("option of 77")) {
        int32_t status = begin(x);
        return status == REC_OK ? on->option(x->self, 7, 77) : status;
    }
    if (IS("option of -1")) {
        int32_t status = begin(x);
        return status == REC_OK ? on->option(x->self, 7, -1) : status;
    }
    return NOT_HERE;
}

/* ------------------------------------------------------------------------------------------------------- blobs -- */

static int32_t mute(void *user, void *target, uint64_t size)
{
    (void)user, (void)target, (void)size;
    return REC_E_IO;
}

static int32_t odd(void *user, void *target, uint64_t size)
{
    (void)user, (void)target, (void)size;
    return 77;
}

/* In the middle of an event, another one. */
static int32_t talk(void *user, void *target, uint64_t size)
{
    const reading *x = user;
    rec_scalar one = {.kind = REC_KIND_UINT};
    (void)target, (void)size;
    return x->on->scalar(x->self, 8, &one);
}

static int32_t give_blob(const reading *x, rec_blob blob)
{
    int32_t status = begin(x);
    status = status == REC_OK ? x->on->bytes(x->self, 7, &blob) : status;
    return status == REC_OK ? finish(x) : status;
}

#define BLOB(...) give_blob(x, (rec_blob){.size = sizeof(rec_blob), __VA_ARGS__})

int32_t breach_blobs(const reading *x)
{
    static const uint8_t bytes[16];
    const void *view = NULL;
    uint64_t size = 0;
    int32_t status = rec_source_view(x->job, x->source, &view, &size);
    if (status != REC_OK) {
        return status;
    }
    if (IS("bytes that are NULL")) {
        status = begin(x);
        return status == REC_OK ? x->on->bytes(x->self, 7, nowhere) : status;
    }
    if (IS("blob of size 0")) {
        return give_blob(x, (rec_blob){.kind = REC_BLOB_TEMPORARY, .length = 1, .data = bytes});
    }
    if (IS("blob of size 8")) {
        return give_blob(x, (rec_blob){.size = 8, .kind = REC_BLOB_TEMPORARY, .length = 1, .data = bytes});
    }
    if (IS("blob of size 4294967295")) {
        return give_blob(x, (rec_blob){.size = UINT32_MAX, .kind = REC_BLOB_TEMPORARY, .length = 1, .data = bytes});
    }
    if (IS("blob of kind 0")) {
        return BLOB(.length = 1, .data = bytes);
    }
    if (IS("blob of kind 77")) {
        return BLOB(.kind = 77, .length = 1, .data = bytes);
    }
    if (IS("blob of kind -1")) {
        return BLOB(.kind = -1, .length = 1, .data = bytes);
    }
    if (IS("view without source")) {
        return BLOB(.kind = REC_BLOB_VIEW, .length = 4, .data = bytes);
    }
    if (IS("view without data")) {
        return BLOB(.kind = REC_BLOB_VIEW, .length = 4, .source = x->source);
    }
    if (IS("view somewhere else")) {
        return BLOB(.kind = REC_BLOB_VIEW, .length = 4, .data = bytes, .source = x->source);
    }
    if (IS("view past the end")) {
        return BLOB(.kind = REC_BLOB_VIEW, .length = size, .data = (const uint8_t *)view + 1, .source = x->source);
    }
    if (IS("view without end")) {
        return BLOB(.kind = REC_BLOB_VIEW, .length = UINT64_MAX, .data = view, .source = x->source);
    }
    if (IS("view before the beginning")) {
        return BLOB(.kind = REC_BLOB_VIEW, .length = 4, .data = (const uint8_t *)view - 2, .source = x->source);
    }
    if (IS("range without source")) {
        return BLOB(.kind = REC_BLOB_RANGE, .length = 4);
    }
    if (IS("range past the end")) {
        return BLOB(.kind = REC_BLOB_RANGE, .length = size, .offset = 1, .source = x->source);
    }
    if (IS("range without end")) {
        return BLOB(.kind = REC_BLOB_RANGE, .length = 8, .offset = UINT64_MAX - 4, .source = x->source);
    }
    if (IS("temporary without data")) {
        return BLOB(.kind = REC_BLOB_TEMPORARY, .length = 4);
    }
    if (IS("temporary without end")) {
        return BLOB(.kind = REC_BLOB_TEMPORARY, .length = UINT64_C(1) << 60, .data = bytes);
    }
    if (IS("stream without read")) {
        return BLOB(.kind = REC_BLOB_STREAM, .length = 4);
    }
    if (IS("stream without end")) {
        return BLOB(.kind = REC_BLOB_STREAM, .length = UINT64_C(1) << 60, .read = mute);
    }
    if (IS("stream that fails without a word")) {
        return BLOB(.kind = REC_BLOB_STREAM, .length = 100, .read = mute);
    }
    if (IS("stream that fails oddly")) {
        return BLOB(.kind = REC_BLOB_STREAM, .length = 100, .read = odd);
    }
    if (IS("stream that tells events")) {
        return BLOB(.kind = REC_BLOB_STREAM, .length = 100, .read = talk, .user = (void *)(uintptr_t)x);
    }
    return NOT_HERE;
}

/* ----------------------------------------------------------------------------------------------------- tensors -- */

static int32_t give_tensor(const reading *x, const rec_tensor_event *tensor)
{
    int32_t status = begin(x);
    status = status == REC_OK ? x->on->tensor(x->self, 7, tensor) : status;
    return status == REC_OK ? finish(x) : status;
}

int32_t breach_tensors(const reading *x)
{
    static const uint64_t many[] = {UINT64_C(1) << 40, UINT64_C(1) << 40}, long_one[40];
    static char long_id[100001];
    rec_tensor_event t = tensor_of();
    int32_t status;
    if (IS("tensor that is NULL")) {
        return give_tensor(x, nowhere);
    }
    if (IS("tensor of a format of maps")) {
        return give_tensor(x, &t);
    }
    if (IS("tensor of size 0")) {
        t.size = 0;
    } else if (IS("tensor of size 40")) {
        t.size = 40;
    } else if (IS("tensor of size 100000")) {
        t.size = 100000;
    } else if (IS("tensor of no type")) {
        t.dtype = 0;
    } else if (IS("tensor of type 77")) {
        t.dtype = 77;
    } else if (IS("tensor of type -1")) {
        t.dtype = -1;
    } else if (IS("tensor transposed three times")) {
        t.transposed = 3;
    } else if (IS("tensor without shape")) {
        t.shape = NULL;
    } else if (IS("tensor of rank 33")) {
        t.rank = 33;
        t.shape = long_one;
    } else if (IS("tensor of rank 4294967295")) {
        t.rank = UINT32_MAX;
    } else if (IS("tensor beyond counting")) {
        t.shape = many;
    } else if (IS("tensor with less data")) {
        t.data.length = 12;
    } else if (IS("tensor with more data")) {
        t.shape = &many[1];
        t.rank = 0;
    } else if (IS("tensor of a type without name")) {
        t.dtype = REC_DTYPE_OPAQUE;
    } else if (IS("tensor whose type's name is empty")) {
        t.dtype = REC_DTYPE_OPAQUE;
        t.dtype_name = "";
    } else if (IS("tensor whose type's name is not UTF-8")) {
        t.dtype = REC_DTYPE_OPAQUE;
        t.dtype_name = not_utf8;
    } else if (IS("tensor whose type's name is long")) {
        memset(long_id, 'x', sizeof long_id - 1);
        t.dtype = REC_DTYPE_OPAQUE;
        t.dtype_name = long_id;
    } else if (IS("id that is empty")) {
        t.id = "";
    } else if (IS("id that is long")) {
        memset(long_id, 'x', sizeof long_id - 1);
        t.id = long_id;
    } else if (IS("id with a control character")) {
        t.id = "a\nb";
    } else if (IS("id that is not UTF-8")) {
        t.id = not_utf8;
    } else if (IS("tensor whose blob has size 0")) {
        t.data.size = 0;
    } else if (IS("tensor whose blob is of kind 77")) {
        t.data.kind = 77;
    } else if (IS("tensor whose data are NULL")) {
        t.data.data = NULL;
    } else {
        return NOT_HERE;
    }
    status = begin(x);
    if (status == REC_OK && (status = x->on->tensor(x->self, 7, &t)) == REC_OK) {
        abort(); /* who is refused is told so at once */
    }
    return status;
}
