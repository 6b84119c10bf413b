/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The readers: the arrays of an archive as a map of dotted names, the array of an .npy as the record itself. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/utf8.h"
#include "plugins/codec/npy/npy.h"
#include "plugins/codec/strided.h"

static rec_tensor_event event_of(const lr_npz_array *a)
{
    return (rec_tensor_event){.size = sizeof(rec_tensor_event),
                              .dtype = a->dtype,
                              .rank = a->rank,
                              .shape = a->shape,
                              .data = {.size = sizeof(rec_blob), .kind = REC_BLOB_RANGE, .length = a->size}};
}

/* The elements of an array whose header is at `base` of `source`. @param turned (out) to be released. */
static int32_t elements(rec_job *job, rec_source *source, uint64_t base, const lr_npz_array *a, rec_tensor_event *event,
                        rec_source **turned)
{
    uint64_t strides[LR_NPY_RANK], step = 1;
    lr_strided array = {.from = source,
                        .begin = base + a->header,
                        .span = a->size,
                        .count = a->size / a->width,
                        .dims = a->shape,
                        .strides = strides,
                        .rank = (uint8_t)a->rank,
                        .width = (uint8_t)a->width,
                        .part = (uint8_t)a->width,
                        .swapped = a->big};
    int32_t status;
    *turned = NULL;
    event->data.source = source;
    event->data.offset = base + a->header;
    if (!(a->big || a->fortran) || !a->size) {
        return REC_OK;
    }
    for (uint32_t i = 0; i < a->rank; i++) {
        uint32_t d = a->fortran ? i : a->rank - 1 - i;
        strides[d] = step;
        step *= a->shape[d];
    }
    status = lr_strided_open(job, &array, turned);
    event->data.source = *turned;
    event->data.offset = 0;
    return status;
}

int32_t lr_npy_load(rec_job *job, rec_source *source, const rec_visitor *visitor, void *self)
{
    uint64_t size = rec_source_size(source);
    rec_source *turned = NULL;
    rec_tensor_event event;
    lr_npz_array array;
    const void *view;
    int32_t status = size == REC_UNKNOWN ? rec_source_view(job, source, &view, &size) : REC_OK;
    status = status == REC_OK ? rec_job_set_adapter(job, "burn") : status;
    status = status == REC_OK ? lr_npz_header_read(job, source, 0, size, 0, NULL, &array, NULL) : status;
    if (status == REC_OK) {
        event = event_of(&array);
        status = elements(job, source, 0, &array, &event, &turned);
    }
    status = status == REC_OK ? visitor->tensor(self, 0, &event) : status;
    rec_source_release(turned);
    return status;
}

/* ---------------------------------------------------------------------------------------------------- archives -- */

/* @return the length of a member's name without .npy. */
static uint64_t key_length(const lr_zip_member *m)
{
    return m->name_length - (lr_text_ends(m->name, m->name_length, ".npy") ? 4u : 0u);
}

static bool is_folder(const lr_zip_member *m)
{
    return m->size == 0 && m->name[m->name_length - 1] == '/';
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
    uint64_t x_length = key_length(x), y_length = key_length(y), i = 0;
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
        count += !is_folder(order[count]);
    }
    if (status == REC_OK) {
        qsort(order, (size_t)count, sizeof *order, by_key);
    }
    for (uint64_t i = 1; i < count && status == REC_OK; i++) {
        const lr_zip_member *x = order[i - 1], *y = order[i];
        uint64_t x_length = key_length(x), y_length = key_length(y);
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

/* Reads the directory and checks the members. @param nested (out) a key is below another one: `a` and `a.b`. The
 * archive is closed by the caller, also after a failure. */
static int32_t open_archive(rec_job *job, rec_source *source, lr_zip *archive, bool *nested)
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

enum { LISTED = 20 }; /* arrays that are left out, one by one */

typedef struct reader {
    rec_job *job;
    rec_source *source;
    const rec_visitor *visitor;
    void *self;
    lr_zip archive;
    bool nested; /* some keys are below others */
    bool verify;
    char *path; /* room for the longest key, escaped */
    uint64_t room;
    uint64_t unfit;         /* arrays that no tensor can hold */
    uint64_t others;        /* members that are no arrays */
    lr_codec_excerpt other; /* the first of them */
} reader;

/* Whether a member without .npy is an array all the same. */
static int32_t is_array(reader *r, rec_source *bytes, uint64_t base, const lr_zip_member *m, bool *yes)
{
    uint8_t magic[6];
    int32_t status = REC_OK;
    *yes = key_length(m) < m->name_length;
    if (!*yes && m->size >= sizeof magic) {
        status = rec_source_read_at(r->job, bytes, base, magic, sizeof magic);
        *yes = status == REC_OK && memcmp(magic, "\x93NUMPY", 6) == 0;
    }
    return status;
}

static int32_t tell_key(reader *r, const lr_zip_member *m)
{
    rec_scalar key = {.kind = REC_KIND_STRING, .v.length = key_length(m), .text = m->name};
    if (!r->nested) { /* a path, in which a backslash is one of the name */
        key.v.length = rec_path_escape(m->name, key_length(m), r->path, r->room);
        key.text = r->path;
    }
    return r->visitor->key(r->self, m->at, &key);
}

/* Reads a member to its end, where its checksum is compared: what is damaged may look like anything. */
static int32_t read_over(const reader *r, rec_source *bytes, uint64_t size)
{
    uint8_t block[4096];
    int32_t status = REC_OK;
    for (uint64_t at = 0, n; at < size && status == REC_OK; at += n) {
        n = size - at < sizeof block ? size - at : sizeof block;
        status = rec_source_read_at(r->job, bytes, at, block, n);
    }
    return status;
}

/* Lists an array that no tensor can hold, and leaves it out. */
static void note_unfit(reader *r, const lr_zip_member *m, const char *why)
{
    lr_codec_excerpt name;
    if (r->unfit++ < LISTED) {
        rec_job_note(r->job, REC_NOTE_DROPPED, lr_codec_shown(&name, m->name, key_length(m)),
                     "an array of %s, which no tensor can hold: left out", why);
    }
}

static int32_t tell_member(reader *r, const lr_zip_member *m)
{
    bool plain = m->method == LR_ZIP_STORED && !r->verify, yes = false;
    rec_source *bytes = NULL, *turned = NULL, *from = r->source;
    uint64_t base = plain ? m->offset : 0;
    rec_tensor_event event;
    lr_npz_array array;
    const char *unfit = NULL;
    lr_codec_excerpt name;
    int32_t status = plain ? REC_OK : lr_zip_source_lazy(&r->archive, m, &bytes);
    from = plain ? r->source : bytes;
    status = status == REC_OK ? is_array(r, from, base, m, &yes) : status;
    if (status == REC_OK && !yes) {
        if (!r->others++) {
            (void)lr_codec_shown(&r->other, m->name, m->name_length);
        }
    } else if (status == REC_OK) {
        (void)lr_codec_shown(&name, m->name, m->name_length);
        status = lr_npz_header_read(r->job, from, base, m->size, m->offset, name.text, &array, &unfit);
        if (unfit) {
            status = plain ? REC_OK : read_over(r, from, m->size);
            if (status == REC_OK) {
                note_unfit(r, m, unfit);
            }
            rec_source_release(bytes);
            return status;
        }
        if (status == REC_OK) {
            event = event_of(&array);
            status = elements(r->job, from, base, &array, &event, &turned);
        }
        status = status == REC_OK ? tell_key(r, m) : status;
        status = status == REC_OK ? r->visitor->tensor(r->self, m->offset, &event) : status;
    }
    rec_source_release(turned);
    rec_source_release(bytes);
    return status;
}

/* Says whose layout the arrays have: a foreign model's if the archive says so, else Burn's. */
static int32_t set_layout(const reader *r)
{
    static const char foreign[] = LR_NPZ_FOREIGN;
    uint64_t size = rec_source_size(r->source), length = sizeof foreign - 1;
    char comment[sizeof foreign] = "";
    int32_t status = REC_OK;
    if (size != REC_UNKNOWN && size > length) {
        status = rec_source_read_at(r->job, r->source, size - length, comment, length);
    }
    return status == REC_OK && strcmp(comment, foreign) != 0 ? rec_job_set_adapter(r->job, "burn") : status;
}

int32_t lr_npz_load(rec_job *job, rec_source *source, const rec_visitor *visitor, void *self)
{
    reader r = {.job = job, .source = source, .visitor = visitor, .self = self};
    uint8_t magic[6];
    uint64_t longest = 0;
    int32_t status;
    if (rec_source_size(source) != REC_UNKNOWN && rec_source_size(source) >= sizeof magic) {
        status = rec_source_read_at(job, source, 0, magic, sizeof magic);
        if (status != REC_OK || memcmp(magic, "\x93NUMPY", 6) == 0) { /* numpy.load takes both, too */
            return status == REC_OK ? lr_npy_load(job, source, visitor, self) : status;
        }
    }
    status = open_archive(job, source, &r.archive, &r.nested);
    status = status == REC_OK ? set_layout(&r) : status;
    r.verify = rec_job_option_int(job, "verify") != 0;
    for (uint64_t i = 0; i < r.archive.count && status == REC_OK; i++) {
        longest = r.archive.members[i].name_length > longest ? r.archive.members[i].name_length : longest;
    }
    if (status == REC_OK) {
        r.room = longest * 2 + 1;
        r.path = rec_job_alloc(job, r.room);
        status = r.path ? REC_OK : rec_fail(job, REC_E_MEMORY, REC_UNKNOWN, "out of memory for the longest name");
    }
    if (status == REC_OK && r.nested) {
        rec_job_note(job, REC_NOTE_LAYOUT, "",
                     "some names are below others (a, a.b), which no tree can hold: all names keep their dots");
    }
    status =
        status == REC_OK ? visitor->map_begin(self, 0, r.nested ? REC_FORM_MAP : REC_FORM_PATHS, REC_UNKNOWN) : status;
    for (uint64_t i = 0; i < r.archive.count && status == REC_OK; i++) {
        const lr_zip_member *m = &r.archive.members[i];
        status = is_folder(m) ? REC_OK : tell_member(&r, m);
    }
    if (status == REC_OK && r.unfit > LISTED) {
        rec_job_note(job, REC_NOTE_DROPPED, "", "%" PRIu64 " more arrays that no tensor can hold: left out",
                     r.unfit - LISTED);
    }
    if (status == REC_OK && r.others) {
        rec_job_note(job, REC_NOTE_DROPPED, "",
                     "%" PRIu64 " member%s of the archive other than arrays, the first %s: left out", r.others,
                     r.others == 1 ? "" : "s", r.other.text);
    }
    status = status == REC_OK ? visitor->end(self, REC_UNKNOWN) : status;
    rec_job_free(job, r.path);
    lr_zip_close(&r.archive);
    return status;
}
