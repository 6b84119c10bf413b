/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The two containers of PyTorch's files: where the pickle is, and where each storage's bytes are. */
#include <stdlib.h>

#include "common/names.h"
#include "plugins/codec/excerpt.h"
#include "plugins/codec/pytorch/pytorch.h"
#include "plugins/codec/room.h"
#include "plugins/codec/trailing.h"
#include "plugins/codec/little.h"

const rec_option lr_pt_trailing = LR_TRAILING;

const rec_option lr_pt_crc = {
    .size = sizeof lr_pt_crc,
    .type = REC_OPTION_BOOL,
    .name = "crc",
    .initial = "no",
    .help = "verify the checksums of all tensors now, which reads the whole file (PyTorch itself never does)",
};

/* 0x1950a86a20f9469cfc6c, little-endian: what the old stream begins with, as a pickle. */
static const uint8_t magic[] = {0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19};
enum { STREAM_PROTOCOL = 1001 };

bool lr_pt_is_stream(const uint8_t *data, uint64_t length)
{
    uint64_t at = 2;
    if (length < 2 || data[0] != 0x80 || data[1] < 2 || data[1] > 5) {
        return false;
    }
    if (length > at && data[at] == 0x95) { /* a frame, from protocol 4 on */
        at += 9;
    }
    return length >= at + 2 + sizeof magic && data[at] == 0x8a && data[at + 1] == sizeof magic &&
           memcmp(data + at + 2, magic, sizeof magic) == 0;
}

/* ---------------------------------------------------------------------------------------------------- storages -- */

/* A reference by the text of its key, to bring those of one storage together. */
typedef struct keyed {
    const char *text;
    uint32_t length;
    uint32_t reference;
} keyed;

static int compare(const char *a, uint64_t a_length, const char *b, uint64_t b_length)
{
    /* A long key that many storages have by its number in the memo is not compared with itself again and again. */
    return a == b && a_length == b_length ? 0 : lr_text_order(a, a_length, b, b_length);
}

static int by_key(const void *a, const void *b)
{
    const keyed *x = a, *y = b;
    int order = compare(x->text, x->length, y->text, y->length);
    return order ? order : x->reference < y->reference ? -1 : x->reference > y->reference;
}

static int32_t fail_storage(const lr_pt_file *f, uint64_t at, uint32_t key, const char *what)
{
    const lr_pt_node *node = lr_pickle_node(&f->pickle, key);
    lr_codec_excerpt shown;
    int32_t status = rec_fail(f->job, REC_E_FORMAT, at, "the storage `%s` %s",
                              lr_codec_shown(&shown, lr_pickle_text(&f->pickle, node), node->length), what);
    rec_fail_hint(f->job, "The file is damaged: copy it again from its source.");
    return status;
}

/* Gives each key one storage. All references to it must agree on its size. */
static int32_t gather(lr_pt_file *f)
{
    lr_pickle *p = &f->pickle;
    lr_pt_reference *references = p->references.data;
    uint64_t count = p->references.count;
    keyed *keys = rec_job_alloc(f->job, (count ? count : 1) * sizeof *keys);
    int32_t status = REC_OK;
    f->storages = rec_job_alloc(f->job, (count ? count : 1) * sizeof *f->storages);
    if (!keys || !f->storages) {
        rec_job_free(f->job, keys);
        return rec_fail(f->job, REC_E_MEMORY, REC_UNKNOWN, "out of memory for the storages of a file");
    }
    for (uint64_t i = 0; i < count; i++) {
        const lr_pt_node *key = lr_pickle_node(p, references[i].key);
        keys[i] = (keyed){.text = lr_pickle_text(p, key), .length = key->length, .reference = (uint32_t)i};
    }
    qsort(keys, (size_t)count, sizeof *keys, by_key);
    for (uint64_t i = 0; i < count && status == REC_OK; i++) {
        lr_pt_reference *r = &references[keys[i].reference];
        uint64_t width = lr_pt_types[r->type].width;
        if (r->count > INT64_MAX / width) {
            status = fail_storage(f, lr_pickle_place(p, r->at), r->key, "has more elements than can be counted");
        } else if (i && compare(keys[i - 1].text, keys[i - 1].length, keys[i].text, keys[i].length) == 0) {
            r->storage = (uint32_t)f->storage_count - 1;
            if (f->storages[r->storage].size != r->count * width) {
                status = fail_storage(f, lr_pickle_place(p, r->at), r->key, "has two different sizes");
            }
        } else {
            r->storage = (uint32_t)f->storage_count;
            f->storages[f->storage_count++] =
                (lr_pt_storage){.key = r->key, .size = r->count * width, .width = (uint8_t)width};
        }
    }
    rec_job_free(f->job, keys);
    return status;
}

/* The storage of a key; they lie in the order of their keys. NULL: no tensor has one of that key. */
static lr_pt_storage *find_storage(const lr_pt_file *f, const char *key, uint64_t length)
{
    uint64_t low = 0, high = f->storage_count;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        const lr_pt_node *node = lr_pickle_node(&f->pickle, f->storages[middle].key);
        int order = compare(lr_pickle_text(&f->pickle, node), node->length, key, length);
        if (order == 0) {
            return &f->storages[middle];
        }
        low = order < 0 ? middle + 1 : low;
        high = order < 0 ? high : middle;
    }
    return NULL;
}

static void lend(lr_pt_storage *storage, rec_source *source, uint64_t offset)
{
    storage->source = source;
    storage->offset = offset;
    storage->found = true;
}

/* ------------------------------------------------------------------------------------------------ zip archives -- */

/* Whether a member is `name` in the archive's top directory, or at its root. @param root (out) the length of the
 * prefix. */
static bool is_member(const lr_zip_member *m, const char *name, uint64_t *root)
{
    uint64_t length = strlen(name);
    if (!lr_text_ends(m->name, m->name_length, name)) {
        return false;
    }
    *root = m->name_length - length;
    return !*root || (m->name[*root - 1] == '/' && !memchr(m->name, '/', (size_t)*root - 1));
}

static const lr_zip_member *find_pickle(const lr_pt_file *f, uint64_t *root)
{
    for (uint64_t i = 0; i < f->zip.count; i++) {
        if (is_member(&f->zip.members[i], "data.pkl", root)) {
            return &f->zip.members[i];
        }
    }
    return NULL;
}

/* Returns a member of the pickle's directory. @param folder of it, in which it lies: "" or "data/". NULL: not found, or
 * out of memory, which is reported. */
static const lr_zip_member *beside(lr_pt_file *f, const lr_zip_member *pickle, uint64_t root, const char *folder,
                                   const char *name, uint64_t length)
{
    lr_buffer *b = &f->name;
    b->size = 0;
    lr_put(b, pickle->name, root);
    lr_put_word(b, folder);
    lr_put(b, name, length);
    return b->status == REC_OK ? lr_zip_find(&f->zip, b->data, b->size) : NULL;
}

static int32_t read_byte_order(lr_pt_file *f, const lr_zip_member *m)
{
    rec_source *source = NULL;
    const void *word = NULL;
    uint64_t length = 0;
    int32_t status = lr_zip_source(&f->zip, m, &source);
    status = status == REC_OK ? rec_source_view(f->job, source, &word, &length) : status;
    if (status == REC_OK) {
        f->big_endian = length == 3 && memcmp(word, "big", 3) == 0;
        if (!f->big_endian && (length != 6 || memcmp(word, "little", 6) != 0)) {
            status = rec_fail(f->job, REC_E_FORMAT, m->offset, "`byteorder` says neither little nor big");
        }
    }
    rec_source_release(source);
    return status;
}

static int32_t fail_other_archive(const lr_pt_file *f)
{
    bool numpy = f->zip.count > 0;
    int32_t status = rec_fail_found(f->job, REC_E_FORMAT, 0, "a file of PyTorch's (with a member data.pkl)",
                                    "a zip archive without it");
    for (uint64_t i = 0; i < f->zip.count; i++) {
        const lr_zip_member *m = &f->zip.members[i];
        numpy = numpy && lr_text_ends(m->name, m->name_length, ".npy");
    }
    if (numpy) {
        rec_fail_hint(f->job, "Its members are NumPy's arrays: it is an .npz.");
    }
    return status;
}

static int32_t find_members(lr_pt_file *f, const lr_zip_member *pickle, uint64_t root)
{
    bool verify = rec_job_option_int(f->job, "crc") != 0;
    int32_t status = REC_OK;
    for (uint64_t i = 0; i < f->storage_count && status == REC_OK; i++) {
        lr_pt_storage *s = &f->storages[i];
        const lr_pt_node *key = lr_pickle_node(&f->pickle, s->key);
        const char *text = lr_pickle_text(&f->pickle, key);
        const lr_zip_member *m = beside(f, pickle, root, "data/", text, key->length);
        if (!m) {
            status = fail_storage(f, pickle->offset, s->key, "is not in the archive");
        } else if (m->size != s->size) {
            lr_codec_excerpt shown;
            status = rec_fail(f->job, REC_E_FORMAT, m->at,
                              "the storage `%s` should have %" PRIu64 " bytes, but there are %" PRIu64,
                              lr_codec_shown(&shown, text, key->length), s->size, m->size);
        } else if (m->method == LR_ZIP_STORED && !m->encrypted) {
            lend(s, f->source, m->offset);
        } else {
            rec_source *member = NULL;
            status = lr_zip_source(&f->zip, m, &member);
            lend(s, member, 0);
        }
        status = status == REC_OK && verify ? lr_zip_check(&f->zip, m) : status;
    }
    return status;
}

/* Something in the archive that torch.save() does not write: rejected, or by the option `trailing` ignored. */
static int32_t fail_member(lr_pt_file *f, const lr_zip_member *m, const char *what)
{
    lr_codec_excerpt shown;
    int32_t status;
    (void)lr_codec_shown(&shown, m->name, m->name_length);
    if (lr_trailing_ignored(f->job)) {
        rec_job_note(f->job, REC_NOTE_TRAILING, "", "the member `%s` of the archive %s: ignored", shown.text, what);
        return REC_OK;
    }
    status = rec_fail(f->job, REC_E_FORMAT, m->at, "the member `%s` of the archive %s", shown.text, what);
    lr_trailing_hint(f->job, "PyTorch");
    return status;
}

/* The number of the format, in digits; 10 is the last one that PyTorch knows. */
static int32_t check_version(lr_pt_file *f, const lr_zip_member *m)
{
    enum { NEWEST = 10 };
    rec_source *source = NULL;
    const void *view = NULL;
    const char *text;
    uint64_t length = 0, version = 0, digits = 0;
    int32_t status = lr_zip_source(&f->zip, m, &source);
    status = status == REC_OK ? rec_source_view(f->job, source, &view, &length) : status;
    if (status == REC_OK) {
        for (text = view; digits < length && digits < 4 && text[digits] >= '0' && text[digits] <= '9'; digits++) {
            version = version * 10 + (uint64_t)(text[digits] - '0');
        }
        if (version < 1 || version > NEWEST || (digits < length && (length > digits + 1 || text[digits] != '\n'))) {
            status = fail_member(f, m, "is not a version of PyTorch's format that is known, 1 to 10");
        }
    }
    rec_source_release(source);
    return status;
}

/* Whether torch.save() writes a member of that name into the outermost folder. */
static bool is_known(const lr_pt_file *f, const char *name, uint64_t length)
{
    static const char *const known[] = {"data.pkl", "byteorder", "version", ".format_version", ".storage_alignment"};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (lr_text_is(name, length, known[i])) {
            return true;
        }
    }
    return (length > 6 && memcmp(name, ".data/", 6) == 0) ||
           (length > 5 && memcmp(name, "data/", 5) == 0 && find_storage(f, name + 5, length - 5));
}

/* Nothing is left over: one folder, and in it what torch.save() writes. Folders as members hold nothing. */
static int32_t check_members(lr_pt_file *f, const lr_zip_member *pickle, uint64_t root)
{
    int32_t status = root ? REC_OK : fail_member(f, pickle, "is in no directory; torch.save() puts it into one");
    for (uint64_t i = 0; i < f->zip.count && status == REC_OK; i++) {
        const lr_zip_member *m = &f->zip.members[i];
        bool inside = m->name_length >= root && memcmp(m->name, pickle->name, (size_t)root) == 0;
        if (m->name[m->name_length - 1] == '/' && !m->size) {
            continue;
        }
        if (!inside) {
            status = fail_member(f, m, "is in another directory than its data.pkl");
        } else if (!is_known(f, m->name + root, m->name_length - root)) {
            status = fail_member(f, m, "is none that torch.save() writes, or no tensor has it");
        }
    }
    return status;
}

static int32_t open_zip(lr_pt_file *f)
{
    const lr_zip_member *pickle = NULL, *order, *version;
    const void *text = NULL;
    uint64_t root = 0, size = 0;
    int32_t status = lr_zip_open(&f->zip, f->job, f->source);
    if (status != REC_OK) {
        return status;
    }
    pickle = find_pickle(f, &root);
    if (!pickle) {
        return fail_other_archive(f);
    }
    if (beside(f, pickle, root, "", "constants.pkl", 13)) {
        status = rec_fail(f->job, REC_E_UNSUPPORTED, pickle->at,
                          "a TorchScript archive, which is a program: rejected, and not run");
        rec_fail_hint(f->job, "In Python, if you trust the file: torch.save(torch.jit.load(…).state_dict(), …).");
        return status;
    }
    f->values = beside(f, pickle, root, "", LR_PT_OWN_MEMBER, sizeof LR_PT_OWN_MEMBER - 1) != NULL;
    f->names = beside(f, pickle, root, "", LR_PT_NAMES_MEMBER, sizeof LR_PT_NAMES_MEMBER - 1) != NULL;
    order = beside(f, pickle, root, "", "byteorder", 9);
    version = beside(f, pickle, root, "", "version", 7);
    status = order ? read_byte_order(f, order) : REC_OK;
    status = status == REC_OK && version ? check_version(f, version) : status;
    status = status == REC_OK ? lr_zip_source(&f->zip, pickle, &f->pickled) : status;
    status = status == REC_OK ? rec_source_view(f->job, f->pickled, &text, &size) : status;
    if (status != REC_OK) {
        return status;
    }
    status =
        lr_pickle_open(&f->pickle, f->job, text, size, pickle->method == LR_ZIP_STORED ? pickle->offset : REC_UNKNOWN);
    status = status == REC_OK ? lr_pickle_run(&f->pickle, &f->root) : status;
    if (status == REC_OK && f->pickle.at != size) {
        status = rec_fail_found(f->job, REC_E_FORMAT, lr_pickle_place(&f->pickle, f->pickle.at),
                                "the end of the pickle", "%" PRIu64 " bytes more", size - f->pickle.at);
    }
    status = status == REC_OK ? gather(f) : status;
    status = status == REC_OK ? find_members(f, pickle, root) : status;
    return status == REC_OK ? check_members(f, pickle, root) : status;
}

/* -------------------------------------------------------------------------------------------------- the stream -- */

static int32_t fail_head(const lr_pt_file *f, uint64_t at)
{
    int32_t status = rec_fail(f->job, REC_E_FORMAT, at, "the pickles before the tensors are not those of torch.save()");
    rec_fail_hint(f->job, "Use a file of version 1001, which PyTorch has written since 0.1.10.");
    return status;
}

/* Three pickles before the one that counts: a magic number, a version, and how wide C's types are. Storages are
 * little-endian whatever those say. */
static int32_t run_head(lr_pt_file *f)
{
    lr_pickle *p = &f->pickle;
    uint32_t root = 0;
    const lr_pt_node *node;
    int32_t status = lr_pickle_run(p, &root);
    if (status != REC_OK) {
        return status;
    }
    node = lr_pickle_node(p, root);
    if (node->kind != LR_PT_BIG || node->length != sizeof magic ||
        memcmp(lr_pickle_text(p, node), magic, sizeof magic) != 0) {
        return fail_head(f, 0);
    }
    status = lr_pickle_run(p, &root);
    if (status == REC_OK) {
        node = lr_pickle_node(p, root);
        status =
            node->kind == LR_PT_INT && node->v.i == STREAM_PROTOCOL ? lr_pickle_run(p, &root) : fail_head(f, p->op);
    }
    if (status == REC_OK && lr_pickle_node(p, root)->kind != LR_PT_DICT) {
        status = fail_head(f, p->op);
    }
    return status;
}

/* The next storage, whose key that is: how many elements, and these. */
static int32_t take_storage(lr_pt_file *f, uint32_t key, uint64_t size, uint64_t *at)
{
    const lr_pt_node *node = lr_pickle_node(&f->pickle, key);
    lr_pt_storage *s =
        node->kind == LR_PT_STRING ? find_storage(f, lr_pickle_text(&f->pickle, node), node->length) : NULL;
    uint64_t count;
    if (!s || s->found) {
        return node->kind != LR_PT_STRING
                   ? rec_fail(f->job, REC_E_FORMAT, *at, "the list of storages has %s", lr_pickle_words(node))
                   : fail_storage(f, *at, key, s ? "occurs twice" : "is not a tensor's, so that its size is not known");
    }
    if (size - *at < 8) {
        return rec_fail_found(f->job, REC_E_FORMAT, size, "the size of a storage", "the end of the file");
    }
    count = lr_little(f->pickle.text + *at, 8);
    if (count > UINT64_MAX / s->width || count * s->width != s->size) {
        return fail_storage(f, *at, key, "has another size than its tensors say");
    }
    *at += 8;
    if (s->size > size - *at) {
        return rec_fail_found(f->job, REC_E_FORMAT, size, "all of a storage", "the end of the file");
    }
    lend(s, f->source, *at);
    *at += s->size;
    return REC_OK;
}

/* Whether the bytes after the storages are another archive. */
static bool is_another(const lr_pt_file *f, uint64_t at, uint64_t size)
{
    uint8_t head[32];
    uint64_t length = size - at < sizeof head ? size - at : sizeof head;
    return rec_source_read_at(f->job, f->source, at, head, length) == REC_OK && lr_pt_is_stream(head, length);
}

static int32_t open_stream(lr_pt_file *f)
{
    const void *text = NULL;
    uint64_t size = 0, at;
    uint32_t keys = 0;
    const lr_pt_node *list;
    int32_t status = rec_source_view(f->job, f->source, &text, &size);
    if (status != REC_OK) {
        return status;
    }
    status = lr_pickle_open(&f->pickle, f->job, text, size < UINT32_MAX ? size : UINT32_MAX - 1, 0);
    f->pickle.legacy = true;
    status = status == REC_OK ? run_head(f) : status;
    status = status == REC_OK ? lr_pickle_run(&f->pickle, &f->root) : status;
    status = status == REC_OK ? lr_pickle_run(&f->pickle, &keys) : status;
    status = status == REC_OK ? gather(f) : status;
    if (status != REC_OK) {
        return status;
    }
    at = f->pickle.at;
    list = lr_pickle_node(&f->pickle, keys);
    if (list->kind != LR_PT_LIST) {
        return rec_fail(f->job, REC_E_FORMAT, f->pickle.op, "%s where the list of storages is expected",
                        lr_pickle_words(list));
    }
    for (uint32_t cell = list->v.cells.first; cell && status == REC_OK; cell = lr_pickle_cell(&f->pickle, cell)->next) {
        status = take_storage(f, lr_pickle_cell(&f->pickle, cell)->node, size, &at);
    }
    for (uint64_t i = 0; i < f->storage_count && status == REC_OK; i++) {
        if (!f->storages[i].found) {
            status = fail_storage(f, at, f->storages[i].key, "is not in the file");
        }
    }
    if (status == REC_OK && at != size && is_another(f, at, size)) {
        status = rec_fail(f->job, REC_E_UNSUPPORTED, at, "several archives of torch.save() in one file");
        rec_fail_hint(f->job,
                      "In Python, torch.load() takes one after the other from an open file: save each in a file "
                      "of its own.");
    } else if (status == REC_OK && at != size) {
        status = rec_fail_found(f->job, REC_E_FORMAT, at, "the end of the file", "%" PRIu64 " bytes more", size - at);
    }
    return status;
}

/* --------------------------------------------------------------------------------------------------- the whole -- */

int32_t lr_pt_file_open(lr_pt_file *file, rec_job *job, rec_source *source)
{
    uint8_t head[32];
    uint64_t size = rec_source_size(source), length;
    const void *all;
    int32_t status = REC_OK;
    *file = (lr_pt_file){.job = job, .source = source, .zip.job = job, .name.job = job, .pickle.job = job};
    if (size == REC_UNKNOWN) {
        status = rec_source_view(job, source, &all, &size);
    }
    length = size < sizeof head ? size : sizeof head;
    status = status == REC_OK ? rec_source_read_at(job, source, 0, head, length) : status;
    if (status != REC_OK) {
        return status;
    }
    if (lr_pt_is_stream(head, length)) {
        return open_stream(file);
    }
    if (length >= 4 && memcmp(head, "PK", 2) == 0) {
        return open_zip(file);
    }
    return rec_fail_found(job, REC_E_FORMAT, 0, "a file of PyTorch's (a zip archive, or a pickle of torch.save())",
                          length >= 2 && head[0] == 0x80 && head[1] <= 5 ? "another pickle" : "something else");
}

void lr_pt_file_close(lr_pt_file *file)
{
    for (uint64_t i = 0; i < file->storage_count; i++) {
        if (file->storages[i].source != file->source) {
            rec_source_release(file->storages[i].source);
        }
    }
    rec_job_free(file->job, file->storages);
    rec_job_free(file->job, file->name.data);
    lr_pickle_close(&file->pickle);
    rec_source_release(file->pickled);
    lr_zip_close(&file->zip);
}
