/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The members of an archive of arrays, over codec/zip, which checks the directory: their names, methods and keys. */
#include <inttypes.h>
#include <stdlib.h>

#include "common/utf8.h"
#include "plugins/codec/npy/npy.h"

static const char *method_name(uint16_t method)
{
    return method == 9    ? "deflate64"
           : method == 12 ? "bzip2"
           : method == 14 ? "lzma"
           : method == 93 ? "zstd"
                          : "unknown";
}

/* A failure about a member, whose name stands before it. */
static int32_t fail_member(rec_job *job, const lr_zip_member *m, const char *what)
{
    lr_codec_excerpt name;
    return rec_fail(job, REC_E_UNSUPPORTED, m->at, "%s: %s", lr_codec_shown(&name, m->name, m->name_length), what);
}

static int32_t check_member(rec_job *job, const lr_zip_member *m)
{
    lr_codec_excerpt name;
    if (lr_utf8_until((const uint8_t *)m->name, m->name_length) != m->name_length ||
        (!m->utf8 && !lr_npz_is_ascii(m->name, m->name_length))) {
        return rec_fail(job, REC_E_UNSUPPORTED, m->at, "the name of a member, `%s`, is not marked as UTF-8, or none",
                        lr_codec_shown(&name, m->name, m->name_length));
    }
    if (m->encrypted) {
        return fail_member(job, m, "it is encrypted");
    }
    if (m->method != LR_ZIP_STORED && m->method != LR_ZIP_DEFLATED) {
        return rec_fail(job, REC_E_UNSUPPORTED, m->at, "%s: compressed by method %u (%s); NumPy stores or deflates",
                        lr_codec_shown(&name, m->name, m->name_length), (unsigned)m->method, method_name(m->method));
    }
    return REC_OK;
}

/* A dot comes before all else, so that `a.b` comes right after `a`. */
static int by_key(const void *a, const void *b)
{
    const lr_zip_member *x = *(const lr_zip_member *const *)a, *y = *(const lr_zip_member *const *)b;
    uint64_t x_length = lr_npz_key_length(x), y_length = lr_npz_key_length(y), i = 0;
    while (i < x_length && i < y_length && x->name[i] == y->name[i]) {
        i++;
    }
    if (i < x_length && i < y_length && (x->name[i] == '.' || y->name[i] == '.')) {
        return x->name[i] == '.' ? -1 : 1;
    }
    return lr_text_order(x->name + i, x_length - i, y->name + i, y_length - i);
}

/* Members with and without .npy may have one key, and one key may be below another. */
static int32_t check_keys(rec_job *job, const lr_zip *archive, bool *nested)
{
    const lr_zip_member **order = rec_job_alloc(job, (archive->count + 1) * sizeof *order);
    uint64_t count = 0;
    lr_codec_excerpt name;
    int32_t status = order ? REC_OK : rec_fail(job, REC_E_MEMORY, 0, "out of memory for the names of an archive");
    for (uint64_t i = 0; i < archive->count && status == REC_OK; i++) {
        order[count] = &archive->members[i];
        count += !lr_npz_is_folder(order[count]);
    }
    if (status == REC_OK) {
        qsort(order, (size_t)count, sizeof *order, by_key);
    }
    for (uint64_t i = 1; i < count && status == REC_OK; i++) {
        const lr_zip_member *x = order[i - 1], *y = order[i];
        uint64_t x_length = lr_npz_key_length(x), y_length = lr_npz_key_length(y);
        bool begins = x_length <= y_length && memcmp(x->name, y->name, (size_t)x_length) == 0;
        if (begins && x_length == y_length) {
            status = rec_fail(job, REC_E_FORMAT, y->at,
                              "the name `%s` is in the archive twice, at bytes %" PRIu64 " and %" PRIu64,
                              lr_codec_shown(&name, y->name, y_length), x->at, y->at);
        }
        *nested = *nested || (begins && y->name[x_length] == '.');
    }
    rec_job_free(job, order);
    return status;
}

int32_t lr_npz_archive_open(rec_job *job, rec_source *source, lr_zip *archive, bool *nested)
{
    uint64_t inflated = 0, size = rec_source_size(source);
    const void *view;
    int32_t status = lr_zip_open(archive, job, source);
    *nested = false;
    for (uint64_t i = 0; i < archive->count && status == REC_OK; i++) {
        const lr_zip_member *m = &archive->members[i];
        status = check_member(job, m);
        if (m->method == LR_ZIP_DEFLATED && __builtin_add_overflow(inflated, m->size, &inflated)) {
            inflated = REC_UNKNOWN; /* rejected below */
        }
    }
    if (status == REC_OK && size == REC_UNKNOWN) {
        status = rec_source_view(job, source, &view, &size);
    }
    status = status == REC_OK ? rec_job_check_inflated(job, size, inflated) : status;
    return status == REC_OK ? check_keys(job, archive, nested) : status;
}
