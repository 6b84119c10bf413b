/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Saving, wrongly. */
#include "breach.h"

#include <stdlib.h>

/* ---------------------------------------------------------------------------------------------- a plain writer -- */

static int32_t on_blob(writing *x, const rec_blob *blob)
{
    int32_t status = breach_walk(x, blob);
    if (status == NOT_HERE) {
        status = rec_sink_put(x->sink, blob);
    }
    x->bytes += blob->length;
    return status;
}

static int32_t on_metadata(void *self, uint64_t at, const rec_scalar *key, const rec_scalar *value)
{
    const writing *x = self;
    (void)at;
    return value->kind == REC_KIND_STRING ? rec_sink_write(x->sink, key->text, key->v.length) : REC_OK;
}

static int32_t on_scalar(void *self, uint64_t at, const rec_scalar *scalar)
{
    const writing *x = self;
    (void)at;
    return rec_sink_write(x->sink, "s", scalar ? 1 : 0);
}

static int32_t on_list(void *self, uint64_t at, int32_t form, uint64_t count)
{
    const writing *x = self;
    (void)at, (void)form, (void)count;
    return rec_sink_write(x->sink, "[", 1);
}

static int32_t on_map(void *self, uint64_t at, int32_t form, uint64_t count)
{
    const writing *x = self;
    (void)at, (void)form, (void)count;
    return rec_sink_write(x->sink, "{", 1);
}

static int32_t on_key(void *self, uint64_t at, const rec_scalar *key)
{
    const writing *x = self;
    (void)at;
    return rec_sink_write(x->sink, key->text, key->v.length);
}

static int32_t on_end(void *self, uint64_t at)
{
    const writing *x = self;
    (void)at;
    return rec_sink_write(x->sink, "}", 1);
}

static int32_t on_tensor(void *self, uint64_t at, const rec_tensor_event *tensor)
{
    (void)at;
    return on_blob(self, &tensor->data);
}

const rec_visitor breach_writer = {
    .size = sizeof(rec_visitor),
    .metadata = on_metadata,
    .scalar = on_scalar,
    .list_begin = on_list,
    .map_begin = on_map,
    .key = on_key,
    .end = on_end,
    .tensor = on_tensor,
};

int32_t plain_save(writing *x)
{
    return rec_job_walk(x->job, &breach_writer, x);
}

static int32_t then(writing *x, int32_t status)
{
    return status == REC_OK ? plain_save(x) : status;
}

/* ------------------------------------------------------------------------------------------------------- walks -- */

static int32_t mute(void *user, void *target, uint64_t size)
{
    (void)user, (void)target, (void)size;
    return REC_E_IO;
}

int32_t breach_walk(writing *x, const rec_blob *blob)
{
    rec_blob wrong = *blob;
    rec_source *source = blob->source, *other = NULL;
    uint64_t got;
    uint8_t byte[64];
    if (IS("walk within a walk")) {
        return ++x->depth > 5 ? REC_OK : plain_save(x);
    }
    if (IS("callback that ends by 77")) {
        return 77;
    }
    if (IS("callback that ends by -1")) {
        return -1;
    }
    if (IS("callback that fails without a word")) {
        return REC_E_IO;
    }
    if (IS("callback that goes on after a failure")) {
        (void)rec_fail(x->job, REC_E_UNSUPPORTED, REC_UNKNOWN, "a tensor of its own kind");
        return REC_OK;
    }
    if (IS("put of nothing")) {
        return rec_sink_put(x->sink, nowhere);
    }
    if (IS("put into nothing")) {
        return rec_sink_put(nowhere, blob);
    }
    if (IS("put of size 0")) {
        wrong.size = 0;
        return rec_sink_put(x->sink, &wrong);
    }
    if (IS("put of size 4294967295")) {
        wrong.size = UINT32_MAX;
        return rec_sink_put(x->sink, &wrong);
    }
    if (IS("put of kind 77")) {
        wrong.kind = 77;
        return rec_sink_put(x->sink, &wrong);
    }
    if (IS("put of nothing of a size")) {
        wrong.kind = REC_BLOB_TEMPORARY;
        wrong.data = NULL;
        return rec_sink_put(x->sink, &wrong);
    }
    if (IS("put of a range past the end")) {
        wrong.kind = REC_BLOB_RANGE;
        wrong.offset = UINT64_MAX - 4;
        return rec_sink_put(x->sink, &wrong);
    }
    if (IS("put of a stream that fails without a word")) {
        wrong.kind = REC_BLOB_STREAM;
        wrong.read = mute;
        return rec_sink_put(x->sink, &wrong);
    }
    if (IS("blob of nothing")) {
        return rec_blob_read(x->job, nowhere, 0, byte, 1);
    }
    if (IS("blob into nothing")) {
        return rec_blob_read(x->job, blob, 0, nowhere, 1);
    }
    if (IS("blob of no job")) {
        return rec_blob_read(nowhere, blob, 0, byte, 1);
    }
    if (IS("blob past the end")) {
        return rec_blob_read(x->job, blob, blob->length, byte, 1);
    }
    if (IS("blob without end")) {
        return rec_blob_read(x->job, blob, UINT64_MAX, byte, 8);
    }
    if (IS("reading while it saves")) {
        return rec_source_read(x->job, source, byte, 1, &got);
    }
    if (IS("rewinding while it saves")) {
        return rec_source_rewind(x->job, source);
    }
    if (IS("beside while it saves")) {
        return rec_source_beside(x->job, source, "x", &other);
    }
    if (IS("release of a record's source")) {
        rec_source_release(source);
    }
    return NOT_HERE;
}

int32_t breach_save(writing *x)
{
    rec_visitor wrong = breach_writer;
    int32_t status;
    if (IS("no walk")) {
        return rec_sink_write(x->sink, "all of it", 9);
    }
    if (IS("nothing at all")) {
        return REC_OK;
    }
    if (IS("walk for nobody")) {
        return rec_job_walk(x->job, nowhere, x);
    }
    if (IS("walk of no job")) {
        return rec_job_walk(nowhere, &breach_writer, x);
    }
    if (IS("visitor of size 0")) {
        wrong.size = 0;
        return rec_job_walk(x->job, &wrong, x);
    }
    if (IS("visitor of size 24")) {
        wrong.size = 24;
        return rec_job_walk(x->job, &wrong, x);
    }
    if (IS("visitor of size 70000")) {
        wrong.size = 70000;
        return rec_job_walk(x->job, &wrong, x);
    }
    if (IS("visitor without an end")) {
        wrong.end = NULL;
        return rec_job_walk(x->job, &wrong, x);
    }
    if (IS("visitor without tensors")) {
        wrong.tensor = NULL;
        return rec_job_walk(x->job, &wrong, x);
    }
    if (IS("save that ends by 77")) {
        status = plain_save(x);
        return status == REC_OK ? 77 : status;
    }
    if (IS("save that ends by -1")) {
        status = plain_save(x);
        return status == REC_OK ? -1 : status;
    }
    if (IS("save that fails without a word")) {
        status = plain_save(x);
        return status == REC_OK ? REC_E_IO : status;
    }
    if (IS("success after a failed save")) {
        status = plain_save(x);
        (void)rec_fail(x->job, REC_E_UNSUPPORTED, REC_UNKNOWN, "a record of its own kind");
        return REC_OK;
    }
    if (IS("memory that a save does not free")) {
        return rec_job_alloc(x->job, 1000) ? plain_save(x) : REC_E_MEMORY;
    }
    if (IS("two walks that differ")) { /* the first one is over a layout */
        static int times;
        status = plain_save(x);
        return status == REC_OK && times++ % 2 ? rec_sink_write(x->sink, "more", 4) : status;
    }
    if (IS("walk over a layout alone")) {
        rec_sink *sink = x->sink, *layout = rec_sink_layout(x->job);
        x->sink = layout;
        status = layout ? plain_save(x) : REC_E_MEMORY;
        x->sink = sink;
        (void)rec_sink_close(layout);
        return status;
    }
    return NOT_HERE;
}

/* ------------------------------------------------------------------------------------------------------- sinks -- */

typedef struct filter {
    const char *breach;
    rec_sink *own;
} filter;

static int32_t filter_write(void *self, rec_sink *target, const void *data, uint64_t size)
{
    const filter *x = self;
    if (IS("filter that writes to itself")) {
        return rec_sink_write(x->own, data, size);
    }
    if (IS("filter that closes itself")) {
        return rec_sink_close(x->own);
    }
    if (IS("filter that closes its target")) {
        return rec_sink_close(target);
    }
    if (IS("filter whose write fails without a word")) {
        return REC_E_IO;
    }
    if (IS("filter whose write ends by 77")) {
        return 77;
    }
    return rec_sink_write(target, data, size);
}

static int32_t filter_finish(void *self, rec_sink *target)
{
    const filter *x = self;
    if (IS("filter whose finish writes to itself")) {
        return rec_sink_write(x->own, "end", 3);
    }
    if (IS("filter whose finish closes itself")) {
        return rec_sink_close(x->own);
    }
    return IS("filter whose finish fails without a word") ? REC_E_IO : rec_sink_write(target, "end", 3);
}

static const rec_sink_ops filter_ops = {
    .size = sizeof(rec_sink_ops), .write = filter_write, .finish = filter_finish, .release = free};

static rec_sink *filter_new(const writing *x, rec_sink *target)
{
    filter *self = calloc(1, sizeof *self);
    rec_sink *out = NULL;
    if (self) {
        self->breach = x->breach;
        out = rec_sink_filter(x->job, target, &filter_ops, self);
        if (out) {
            self->own = out;
        }
    }
    return out;
}

/* A save through a filter, closed as often as is said; then, perhaps, used. */
static int32_t save_filtered(writing *x, int closes)
{
    rec_sink *sink = x->sink, *packed = filter_new(x, sink);
    int32_t status;
    if (!packed) {
        return REC_E_MEMORY;
    }
    x->sink = packed;
    status = plain_save(x);
    x->sink = sink;
    for (int i = 0; i < closes; i++) {
        int32_t closed = rec_sink_close(packed);
        status = status == REC_OK ? closed : status;
    }
    if (status == REC_OK && IS("write to a closed filter")) {
        status = rec_sink_write(packed, "x", 1);
    }
    return status;
}

static int32_t save_beside(writing *x)
{
    rec_sink *other = NULL, *second = NULL;
    const char *own = rec_sink_name(x->sink);
    int32_t status;
    if (IS("beside nothing")) {
        return then(x, rec_sink_beside(x->job, nowhere, "x", &other));
    }
    if (IS("beside of no name")) {
        return then(x, rec_sink_beside(x->job, x->sink, nowhere, &other));
    }
    if (IS("beside into nothing")) {
        return then(x, rec_sink_beside(x->job, x->sink, "x", nowhere));
    }
    if (IS("beside of no job")) {
        return then(x, rec_sink_beside(nowhere, x->sink, "x", &other));
    }
    if (IS("beside with a slash")) {
        return then(x, rec_sink_beside(x->job, x->sink, "../x", &other));
    }
    if (IS("beside of dots")) {
        return then(x, rec_sink_beside(x->job, x->sink, "..", &other));
    }
    if (IS("beside of an empty name")) {
        return then(x, rec_sink_beside(x->job, x->sink, "", &other));
    }
    if (IS("beside by its own name")) {
        return then(x, rec_sink_beside(x->job, x->sink, own, &other));
    }
    status = rec_sink_beside(x->job, x->sink, "part", &other);
    if (status != REC_OK) {
        return status;
    }
    if (IS("beside twice")) {
        return then(x, rec_sink_beside(x->job, x->sink, "part", &second));
    }
    if (IS("write to a closed part")) {
        status = rec_sink_close(other);
        return then(x, status == REC_OK ? rec_sink_write(other, "x", 1) : status);
    }
    if (IS("renaming after a part")) {
        return then(x, rec_sink_rename(x->job, x->sink, "index"));
    }
    if (IS("renaming a part")) {
        return then(x, rec_sink_rename(x->job, other, "index"));
    }
    return NOT_HERE;
}

int32_t breach_sinks(writing *x)
{
    rec_sink_ops ops = filter_ops;
    int32_t status;
    if (IS("write of nothing")) {
        return then(x, rec_sink_write(x->sink, nowhere, 5));
    }
    if (IS("write into nothing")) {
        return then(x, rec_sink_write(nowhere, "x", 1));
    }
    if (IS("write without end")) {
        return then(x, rec_sink_write(x->sink, nowhere, UINT64_MAX));
    }
    if (IS("tell of nothing")) {
        return rec_sink_tell(nowhere) ? 77 : plain_save(x);
    }
    if (IS("name of no sink")) {
        return *rec_sink_name(nowhere) ? 77 : plain_save(x);
    }
    if (IS("patch of nothing")) {
        return then(x, rec_sink_patch(nowhere, 0, "x", 1));
    }
    if (IS("patch by nothing") || IS("patch past the end") || IS("patch without end")) {
        status = rec_sink_write(x->sink, "head", 4);
        return then(x, status != REC_OK           ? status
                       : IS("patch by nothing")   ? rec_sink_patch(x->sink, 0, nowhere, 4)
                       : IS("patch past the end") ? rec_sink_patch(x->sink, 2, "abc", 3)
                                                  : rec_sink_patch(x->sink, UINT64_MAX - 1, "abc", 3));
    }
    if (IS("asking nothing whether it can be patched")) {
        return rec_sink_can_patch(nowhere) ? 77 : plain_save(x);
    }
    if (IS("renaming late")) {
        status = rec_sink_write(x->sink, "x", 1);
        return then(x, status == REC_OK ? rec_sink_rename(x->job, x->sink, "index") : status);
    }
    if (IS("renaming to nothing")) {
        return then(x, rec_sink_rename(x->job, x->sink, nowhere));
    }
    if (IS("renaming nothing")) {
        return then(x, rec_sink_rename(x->job, nowhere, "index"));
    }
    if (IS("close of what it was given")) {
        status = plain_save(x);
        return status == REC_OK ? rec_sink_close(x->sink) : status;
    }
    if (IS("close of what it was given, often")) {
        for (int i = 0; i < 5; i++) {
            (void)rec_sink_close(x->sink);
        }
        return plain_save(x);
    }
    if (IS("filter that is not closed")) {
        return save_filtered(x, 0);
    }
    if (IS("two filters that are not closed")) {
        rec_sink *first = filter_new(x, x->sink);
        return first && filter_new(x, first) ? plain_save(x) : REC_E_MEMORY;
    }
    if (IS("filters closed the wrong way round")) {
        rec_sink *first = filter_new(x, x->sink), *second = first ? filter_new(x, first) : NULL;
        status = second ? plain_save(x) : REC_E_MEMORY;
        status = status == REC_OK ? rec_sink_close(first) : status;
        return status == REC_OK ? rec_sink_close(second) : status;
    }
    if (IS("layout that is not closed")) {
        return rec_sink_layout(x->job) ? plain_save(x) : REC_E_MEMORY;
    }
    if (IS("layout of no job")) {
        return rec_sink_layout(nowhere) ? 77 : plain_save(x);
    }
    if (IS("filter that is closed twice")) {
        return save_filtered(x, 2);
    }
    if (IS("filter that is closed often")) {
        return save_filtered(x, 5000);
    }
    if (IS("many filters, the last one closed twice")) {
        for (int i = 0; i < 2000; i++) {
            rec_sink *packed = filter_new(x, x->sink);
            status = rec_sink_close(packed);
            status = status == REC_OK && i == 1999 ? rec_sink_close(packed) : status;
        }
        return then(x, status);
    }
    if (IS("write to a closed filter") || strncmp(x->breach, "filter whose ", 13) == 0 ||
        strncmp(x->breach, "filter that ", 12) == 0) {
        return save_filtered(x, 1);
    }
    if (IS("filter for nothing")) {
        return filter_new(x, nowhere) ? plain_save(x) : REC_E_MEMORY;
    }
    if (IS("filter without functions")) {
        return rec_sink_filter(x->job, x->sink, nowhere, NULL) ? plain_save(x) : REC_E_MEMORY;
    }
    if (IS("filter without write")) {
        ops.write = NULL;
        return rec_sink_filter(x->job, x->sink, &ops, NULL) ? plain_save(x) : REC_E_MEMORY;
    }
    if (IS("filter of size 0") || IS("filter of size 70000")) {
        ops.size = IS("filter of size 0") ? 0 : 70000;
        return rec_sink_filter(x->job, x->sink, &ops, NULL) ? plain_save(x) : REC_E_MEMORY;
    }
    return strstr(x->breach, "beside") || strstr(x->breach, "part") ? save_beside(x) : NOT_HERE;
}
