/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The members of an archive of arrays, over codec/zip, which checks the directory: their names, methods and keys. */
#include <inttypes.h>
#include <stdlib.h>

#include "common/utf8.h"
#include "plugins/codec/npy/npy.h"

static bool is_ascii(const char *text, uint64_t length)
{
    while (length > 0 && (unsigned char)text[length - 1] < 0x80) {
        length--;
    }
    return length == 0;
}

static const char *method_name(uint16_t method)
{
    return method == 9    ? "deflate64"
           : method == 12 ? "bzip2"
           : method == 14 ? "lzma"
           : method == 93 ? "zstd"
                          : "unknown";
}

/* A failure about a member, whose name stands before it. */
static int32_t fail_member(rec_job *job, const lr_npz_member *m, const char *what)
{
    lr_codec_excerpt name;
    return rec_fail(job, REC_E_UNSUPPORTED, m->local, "%s: %s", lr_codec_shown(&name, m->name, m->name_length), what);
}

static int32_t check_member(rec_job *job, const lr_zip_member *of, const lr_npz_member *m)
{
    lr_codec_excerpt name;
    if (lr_utf8_until((const uint8_t *)m->name, m->name_length) != m->name_length ||
        (!of->utf8 && !is_ascii(m->name, m->name_length))) {
        return rec_fail(job, REC_E_UNSUPPORTED, m->local, "the name of a member, `%s`, is not marked as UTF-8, or none",
                        lr_codec_shown(&name, m->name, m->name_length));
    }
    if (of->encrypted) {
        return fail_member(job, m, "it is encrypted");
    }
    if (m->method != LR_ZIP_STORED && m->method != LR_ZIP_DEFLATED) {
        return rec_fail(job, REC_E_UNSUPPORTED, m->local, "%s: compressed by method %u (%s); NumPy stores or deflates",
                        lr_codec_shown(&name, m->name, m->name_length), (unsigned)m->method, method_name(m->method));
    }
    return REC_OK;
}

static lr_npz_member member_of(const lr_zip_member *of)
{
    lr_npz_member m = {.name = of->name,
                       .name_length = of->name_length,
                       .key_length = of->name_length,
                       .crc = of->crc,
                       .method = of->method,
                       .local = of->at,
                       .data = of->offset,
                       .stored = of->stored,
                       .size = of->size};
    if (m.name_length >= 4 && memcmp(m.name + m.name_length - 4, ".npy", 4) == 0) {
        m.key_length -= 4;
    }
    return m;
}

static bool is_directory(const lr_npz_member *m)
{
    return m->size == 0 && m->name[m->name_length - 1] == '/';
}

/* A dot comes before all else, so that `a.b` comes right after `a`. */
static int by_key(const void *a, const void *b)
{
    const lr_npz_member *x = *(const lr_npz_member *const *)a, *y = *(const lr_npz_member *const *)b;
    uint32_t least = x->key_length < y->key_length ? x->key_length : y->key_length, i = 0;
    while (i < least && x->name[i] == y->name[i]) {
        i++;
    }
    if (i < least) {
        int left = x->name[i] == '.' ? -1 : (unsigned char)x->name[i],
            right = y->name[i] == '.' ? -1 : (unsigned char)y->name[i];
        return left < right ? -1 : 1;
    }
    return x->key_length < y->key_length ? -1 : x->key_length > y->key_length;
}

/* Members with and without .npy may have one key, and one key may be below another. */
static int32_t check_keys(rec_job *job, lr_npz_archive *archive)
{
    const lr_npz_member **order = rec_job_alloc(job, (archive->count + 1) * sizeof *order);
    lr_codec_excerpt name;
    int32_t status = order ? REC_OK : rec_fail(job, REC_E_MEMORY, 0, "out of memory for the names of an archive");
    for (uint64_t i = 0; i < archive->count && status == REC_OK; i++) {
        order[i] = &archive->members[i];
    }
    if (status == REC_OK) {
        qsort(order, (size_t)archive->count, sizeof *order, by_key);
    }
    for (uint64_t i = 1; i < archive->count && status == REC_OK; i++) {
        const lr_npz_member *x = order[i - 1], *y = order[i];
        bool begins = x->key_length <= y->key_length && memcmp(x->name, y->name, x->key_length) == 0;
        if (begins && x->key_length == y->key_length) {
            status = rec_fail(job, REC_E_FORMAT, y->local,
                              "the name `%s` is in the archive twice, at bytes %" PRIu64 " and %" PRIu64,
                              lr_codec_shown(&name, y->name, y->key_length), x->local, y->local);
        }
        archive->nested = archive->nested || (begins && y->name[x->key_length] == '.');
    }
    rec_job_free(job, order);
    return status;
}

int32_t lr_npz_archive_open(rec_job *job, rec_source *source, lr_npz_archive *archive)
{
    uint64_t inflated = 0, size;
    const void *view;
    int32_t status;
    *archive = (lr_npz_archive){.count = 0};
    status = lr_zip_open(&archive->zip, job, source);
    if (status == REC_OK) {
        archive->members = rec_job_alloc(job, (archive->zip.count + 1) * sizeof *archive->members);
        status =
            archive->members ? REC_OK : rec_fail(job, REC_E_MEMORY, 0, "out of memory for the members of an archive");
    }
    for (uint64_t i = 0; i < archive->zip.count && status == REC_OK; i++) {
        lr_npz_member *m = &archive->members[archive->count];
        *m = member_of(&archive->zip.members[i]);
        status = check_member(job, &archive->zip.members[i], m);
        if (m->method == LR_ZIP_DEFLATED && __builtin_add_overflow(inflated, m->size, &inflated)) {
            inflated = REC_UNKNOWN; /* rejected below */
        }
        archive->count += status == REC_OK && !is_directory(m);
    }
    size = rec_source_size(source);
    if (status == REC_OK && size == REC_UNKNOWN) {
        status = rec_source_view(job, source, &view, &size);
    }
    status = status == REC_OK ? rec_job_check_inflated(job, size, inflated) : status;
    return status == REC_OK ? check_keys(job, archive) : status;
}

void lr_npz_archive_close(rec_job *job, lr_npz_archive *archive)
{
    rec_job_free(job, archive->members);
    lr_zip_close(&archive->zip);
    *archive = (lr_npz_archive){.zip.job = job};
}
