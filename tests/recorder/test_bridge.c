/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Burn's own types and the bridge between its versions, on one record of every module, optimizer and scheduler that
 * real Burn of four versions wrote (golden/modules of the shared data; skipped where they are not). */
#include <ctype.h>
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define REC_NO_SHORT_NAMES
#include <librecord.h>

static const char *const versions[] = {"0.11.1", "0.14.0", "0.18.0", "0.21.0"};
enum { VERSIONS = 4, NAMES_MOST = 256 };

static char folder[1024];
static rec_types *types;

/* One record: of which type, in which files. */
typedef struct golden {
    char name[64], type[64];
    int version;
} golden;
static golden all[VERSIONS * NAMES_MOST];
static size_t count;
static size_t failures;

#define WRONG(g, ...)                                                \
    do {                                                             \
        print_message("%s/%s: ", versions[(g)->version], (g)->name); \
        print_message(__VA_ARGS__);                                  \
        print_message("\n");                                         \
        failures++;                                                  \
    } while (0)

static int by_name(const void *a, const void *b)
{
    const golden *x = a, *y = b;
    return x->version != y->version ? x->version - y->version : strcmp(x->name, y->name);
}

static void collect(void)
{
    for (int v = 0; v < VERSIONS; v++) {
        char path[1200];
        struct dirent *entry;
        DIR *dir;
        (void)snprintf(path, sizeof path, "%s/%s", folder, versions[v]);
        dir = opendir(path);
        while (dir && (entry = readdir(dir))) {
            size_t length = strlen(entry->d_name);
            if (length > 4 && length < 60 && strcmp(entry->d_name + length - 4, ".bin") == 0) {
                golden *g = &all[count++];
                g->version = v;
                (void)snprintf(g->name, sizeof g->name, "%.*s", (int)(length - 4), entry->d_name);
                (void)snprintf(g->type, sizeof g->type, "%.*s", (int)strcspn(entry->d_name, "_."), entry->d_name);
                assert_true(count < sizeof all / sizeof *all);
            }
        }
        if (dir) {
            (void)closedir(dir);
        }
    }
    qsort(all, count, sizeof *all, by_name);
}

static bool have(void)
{
    if (count == 0) {
        print_message("the shared test data are not there: set LIBRECORD_SHARED\n");
    }
    return count > 0;
}

static const golden *find(const char *name, int version)
{
    for (size_t i = 0; i < count; i++) {
        if (all[i].version == version && strcmp(all[i].name, name) == 0) {
            return &all[i];
        }
    }
    return NULL;
}

static void path_of(const golden *g, const char *extension, char *path, size_t room)
{
    int length = snprintf(path, room, "%s/%s/%s.%s", folder, versions[g->version], g->name, extension);
    assert_true(length > 0 && (size_t)length < room);
}

/* @param type NULL: none. */
static rec_recorder *open_recorder(const char *name, const char *type, const char *layout)
{
    rec_recorder *r = rec_open_recorder(name, REC_PRECISION_KEEP);
    assert_non_null(r);
    if (layout) {
        assert_int_equal(rec_recorder_set(r, "layout", layout), REC_OK);
    }
    if (type && rec_recorder_set_type_name(r, types, type) != REC_OK) {
        fail_msg("%s", rec_error_message());
    }
    return r;
}

static rec_record *load(const golden *g, const char *extension, const char *type)
{
    char path[1300];
    rec_recorder *r = open_recorder(strcmp(extension, "mpk") == 0   ? "NamedMpk"
                                    : strcmp(extension, "bin") == 0 ? "Bin"
                                                                    : "PrettyJson",
                                    type, NULL);
    rec_record *record;
    path_of(g, extension, path, sizeof path);
    record = rec_load(r, path);
    rec_close_recorder(r);
    return record;
}

/* A saved record. */
typedef struct bytes {
    void *data;
    size_t size;
} bytes;

static bool save(const rec_record *record, const char *recorder, const char *type, const char *layout, bytes *out)
{
    rec_recorder *r = open_recorder(recorder, type, layout);
    uint64_t size = 0;
    rec_status status = rec_save_bytes(r, record, &out->data, &size);
    out->size = (size_t)size;
    rec_close_recorder(r);
    return status == REC_OK;
}

static bytes read_file(const char *path)
{
    bytes b = {0};
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    b.size = (size_t)ftell(file);
    rewind(file);
    b.data = malloc(b.size + 1);
    assert_non_null(b.data);
    assert_int_equal(fread(b.data, 1, b.size, file), b.size);
    (void)fclose(file);
    return b;
}

static bool equal(const bytes *a, const bytes *b)
{
    return a->size == b->size && memcmp(a->data, b->data, a->size) == 0;
}

static size_t first_difference(const bytes *a, const bytes *b)
{
    size_t i = 0;
    while (i < a->size && i < b->size && ((char *)a->data)[i] == ((char *)b->data)[i]) {
        i++;
    }
    return i;
}

/* --------------------------------------------------------------------------------------------------- structure -- */

/* What a record is made of, as text: field names in order, kinds, shapes; and, if `values`, what is in it. */
typedef struct shape {
    char *text;
    size_t used, room;
    bool values;
} shape;

static void put(shape *s, const char *text)
{
    size_t length = strlen(text);
    if (s->used + length + 1 > s->room) {
        s->room = (s->used + length + 1) * 2;
        s->text = realloc(s->text, s->room);
        assert_non_null(s->text);
    }
    memcpy(s->text + s->used, text, length + 1);
    s->used += length;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void put_number(shape *s, const rec_scalar *scalar)
{
    char text[64];
    /* What a width or a sign is, is not said by every format. */
    int kind = scalar->kind == REC_KIND_UINT ? REC_KIND_INT : scalar->kind;
    (void)snprintf(text, sizeof text, "k%d", kind);
    put(s, text);
    if (s->values && scalar->kind != REC_KIND_STRING && scalar->kind != REC_KIND_NIL) {
        (void)snprintf(text, sizeof text, "=%llx", (unsigned long long)scalar->v.u);
        put(s, text);
    }
}

static void describe(shape *s, const rec_value *value)
{
    uint64_t items = rec_value_count(value);
    const rec_tensor *tensor = rec_value_tensor(value);
    char text[64];
    if (tensor) {
        put(s, rec_tensor_id(tensor) ? "P" : "T");
        put(s, rec_dtype_name(rec_tensor_dtype(tensor)));
        (void)snprintf(text, sizeof text, "%u", (unsigned)rec_tensor_rank(tensor));
        put(s, text);
        for (uint32_t i = 0; i < rec_tensor_rank(tensor) && s->values; i++) {
            (void)snprintf(text, sizeof text, ",%llu", (unsigned long long)rec_tensor_shape(tensor)[i]);
            put(s, text);
        }
        if (s->values) {
            uint64_t size, hash = 5381;
            const uint8_t *data = rec_tensor_bytes(tensor, &size);
            assert_non_null(data);
            for (uint64_t i = 0; i < size; i++) {
                hash = hash * 33 + data[i];
            }
            (void)snprintf(text, sizeof text, "=%llx%s", (unsigned long long)hash,
                           rec_tensor_id(tensor) ? rec_tensor_id(tensor) : "");
            put(s, text);
        }
        return;
    }
    switch (rec_value_kind(value)) {
    case REC_KIND_VARIANT: /* named files have a map of one */
        put(s, "{");
        put(s, rec_value_key(value, 0).text);
        put(s, ":");
        if (items) {
            describe(s, rec_value_item(value, 0));
        }
        put(s, " }");
        break;
    case REC_KIND_NUMBERS:
        put(s, "[");
        for (uint64_t i = 0; i < items; i++) {
            rec_scalar number = rec_value_number(value, i);
            put_number(s, &number);
            put(s, " ");
        }
        put(s, "]");
        break;
    case REC_KIND_LIST:
        put(s, "[");
        for (uint64_t i = 0; i < items; i++) {
            describe(s, rec_value_item(value, i));
            put(s, " ");
        }
        put(s, "]");
        break;
    case REC_KIND_MAP: {
        /* The map of an optimizer has ids for keys, in any order. */
        const rec_value *first = items ? rec_value_item(value, 0) : NULL;
        bool ids = first && rec_value_kind(first) == REC_KIND_MAP && rec_value_count(first) == 1 &&
                   strcmp(rec_value_key(first, 0).text, "V1") == 0;
        ids = ids ||
              (first && rec_value_kind(first) == REC_KIND_VARIANT && strcmp(rec_value_key(first, 0).text, "V1") == 0);
        char **texts = calloc((size_t)(items + 1), sizeof *texts);
        assert_non_null(texts);
        for (uint64_t i = 0; i < items; i++) {
            shape one = {.values = s->values};
            put(&one, ids && !s->values ? "id" : rec_value_key(value, i).text);
            put(&one, ":");
            describe(&one, rec_value_item(value, i));
            texts[i] = one.text;
        }
        if (ids) {
            qsort(texts, (size_t)items, sizeof *texts, by_text);
        }
        put(s, "{");
        for (uint64_t i = 0; i < items; i++) {
            put(s, texts[i]);
            put(s, " ");
            free(texts[i]);
        }
        put(s, "}");
        free(texts);
        break;
    }
    default: {
        rec_scalar scalar = rec_value_scalar(value);
        put_number(s, &scalar);
        break;
    }
    }
}

static char *structure(const rec_record *record, bool values)
{
    shape s = {.values = values};
    describe(&s, rec_root(record));
    return s.text;
}

/* ------------------------------------------------------------------------------------------------------- twins -- */

static void every_bin_reads_by_its_types_name_and_equals_its_twins(void **state)
{
    (void)state;
    if (!have()) {
        skip();
    }
    failures = 0;
    for (size_t i = 0; i < count; i++) {
        const golden *g = &all[i];
        static const char *const extensions[] = {"mpk", "json"};
        rec_record *bin = load(g, "bin", g->type);
        bytes ours = {0};
        if (!bin) {
            WRONG(g, "%s", rec_error_message());
            continue;
        }
        if (rec_report_count()) {
            WRONG(g, "%s", rec_report_note(0)->text);
        }
        if (!save(bin, "NamedMpk", g->type, "keep", &ours)) {
            WRONG(g, "%s", rec_error_message());
        }
        for (size_t e = 0; e < 2 && ours.data; e++) {
            rec_record *twin = load(g, extensions[e], g->type);
            bytes theirs = {0};
            if (!twin || !save(twin, "NamedMpk", g->type, "keep", &theirs)) {
                WRONG(g, "%s: %s", extensions[e], rec_error_message());
            } else {
                char *a = structure(bin, true), *b = structure(twin, true), *words = structure(twin, false);
                /* The order of an optimizer's map differs from file to file. */
                if (strcmp(a, b) != 0 || (!equal(&ours, &theirs) && !strstr(words, "{id:{V1"))) {
                    WRONG(g, "%s differs at %zu of %zu, %zu\n  %s\n  %s", extensions[e],
                          first_difference(&ours, &theirs), ours.size, theirs.size, a, b);
                }
                free(a);
                free(b);
                free(words);
            }
            rec_free(theirs.data);
            rec_record_free(twin);
        }
        rec_free(ours.data);
        rec_record_free(bin);
    }
    assert_int_equal(failures, 0);
}

/* Named files do not tell whether an option of a constant is there. */
static bool has_optional_constant(const golden *g)
{
    static const char *const names[] = {"BinaryCrossEntropyLoss_full",
                                        "CrossEntropyLoss_full",
                                        "Fields",
                                        "FieldsOld",
                                        "FieldsBuffer",
                                        "FieldsMaybe",
                                        "FieldsMixed",
                                        "FieldsPlain"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(names[i], g->name) == 0) {
            return true;
        }
    }
    return false;
}

static void becomes_burns_bin(const golden *g, const char *extension)
{
    rec_record *record = load(g, extension, g->type);
    bytes ours = {0}, theirs = {0};
    char path[1300], *words = NULL;
    if (!record || !save(record, "Bin", g->type, "keep", &ours)) {
        WRONG(g, "%s: %s", extension, rec_error_message());
    } else {
        path_of(g, "bin", path, sizeof path);
        theirs = read_file(path);
        words = structure(record, false);
        /* The order of an optimizer's map differs from file to file. */
        if (!equal(&ours, &theirs) &&
            !(strcmp(extension, "bin") != 0 && strstr(words, "{id:{V1") && ours.size == theirs.size)) {
            WRONG(g, "%s: differs at %zu of %zu, Burn's has %zu", extension, first_difference(&ours, &theirs),
                  ours.size, theirs.size);
        }
    }
    free(words);
    free(theirs.data);
    rec_free(ours.data);
    rec_record_free(record);
}

static void every_file_becomes_the_bin_that_burn_wrote(void **state)
{
    (void)state;
    if (!have()) {
        skip();
    }
    failures = 0;
    for (size_t i = 0; i < count; i++) {
        becomes_burns_bin(&all[i], "bin");
        if (!has_optional_constant(&all[i])) {
            becomes_burns_bin(&all[i], "mpk");
            becomes_burns_bin(&all[i], "json");
        }
    }
    assert_int_equal(failures, 0);
}

/* ------------------------------------------------------------------------------------------------------ bridge -- */

/* Whether there are ids in a record: of a parameter, or the keys of an optimizer's map. */
static bool holds_ids(const rec_record *record)
{
    char *words = structure(record, false);
    rec_iterator *iterator = rec_iterate(record);
    const rec_tensor *tensor;
    bool holds = strstr(words, "{id:{V1") != NULL;
    assert_non_null(iterator);
    while (!holds && (tensor = rec_iterator_next_tensor(iterator, NULL))) {
        holds = rec_tensor_id(tensor) != NULL;
    }
    rec_iterator_free(iterator);
    free(words);
    return holds;
}

static bool begins(const char *text, const char *word)
{
    return strncmp(text, word, strlen(word)) == 0;
}

/* Words of the error with which a record cannot get to a version; NULL: it can. */
static const char *inexpressible(const golden *g, int to)
{
    bool before_15 = to < 2 && g->version >= 2;
    if (before_15 && (begins(g->type, "Cosine") || begins(g->type, "Exponential") || begins(g->type, "LinearLr"))) {
        return "expected a tuple of";
    }
    return strstr(g->name, "_amsgrad") && to < 3 ? "max_moment_2" : NULL;
}

/* Lists of constants, whose length a record of 0.21 does not have. */
static bool lacks_lengths(const golden *g, int to)
{
    return g->version == 3 && to < 3 &&
           (strcmp(g->type, "Fields") == 0 || strcmp(g->type, "FieldsList") == 0 ||
            strcmp(g->type, "FieldsPlain") == 0 || strcmp(g->name, "CrossEntropyLoss_full") == 0);
}

/* Every id of 0.11 is a UUID, of which 0.15 and later keep a half. */
static bool is_about_ids(const rec_note *note)
{
    return note->kind == REC_NOTE_LAYOUT && strstr(note->text, "of a UUID");
}

/* Schedulers that were tuples up to 0.14. */
static bool loses_values(const golden *g, int from, int to)
{
    return from < 2 && to >= 2 &&
           (begins(g->type, "Cosine") || begins(g->type, "Exponential") || begins(g->type, "LinearLr"));
}

/* What the report says of a bridge beside the ids, which must have been told where there are any. NULL: nothing. */
static const rec_note *told(const golden *g, int to, const rec_record *record)
{
    const rec_note *other = NULL;
    bool ids = false;
    for (uint64_t i = 0; i < rec_report_count(); i++) {
        const rec_note *note = rec_report_note(i);
        bool about = is_about_ids(note);
        ids = ids || about;
        other = about || other ? other : note;
    }
    if (ids != (g->version == 0 && to >= 2 && holds_ids(record))) {
        WRONG(g, "to %s: the ids were %s", versions[to], ids ? "told though none changed" : "not told");
    }
    return other;
}

static void cross(const golden *g, int to)
{
    const char *words = inexpressible(g, to);
    const golden *native = find(g->name, to);
    rec_record *record = load(g, "bin", g->type), *back = NULL, *expected = NULL;
    rec_recorder *r = open_recorder("NamedMpk", NULL, NULL), *b = open_recorder("Bin", g->type, NULL);
    bytes out = {0}, again = {0};
    char layout[32];
    const rec_note *note;
    bool noted;
    if (!native) {
        goto done;
    }
    (void)snprintf(layout, sizeof layout, "burn-%.*s", (int)(strrchr(versions[to], '.') - versions[to]), versions[to]);
    assert_non_null(record);
    if (!save(record, "NamedMpk", g->type, layout, &out)) {
        if (!words || !strstr(rec_error_message(), words)) {
            WRONG(g, "to %s: %s", layout, rec_error_message());
        }
        goto done;
    }
    note = told(g, to, record);
    noted = note != NULL;
    if (noted !=
        ((lacks_lengths(g, to) && strcmp(g->type, "CrossEntropyLoss") != 0) || loses_values(g, g->version, to))) {
        WRONG(g, "to %s: %s", layout, noted ? note->text : "a note was expected");
    }
    if (noted && note->kind != (loses_values(g, g->version, to) ? REC_NOTE_DROPPED : REC_NOTE_LAYOUT)) {
        WRONG(g, "to %s: a note of kind %d: %s", layout, (int)note->kind, note->text);
    }
    noted = lacks_lengths(g, to);
    if (words) {
        WRONG(g, "to %s: this should have failed: %s", layout, words);
    }
    back = rec_load_bytes(r, out.data, out.size);
    expected = load(native, "mpk", NULL);
    if (!back || !expected) {
        WRONG(g, "to %s: %s", layout, rec_error_message());
    } else {
        char *x = structure(back, false), *y = structure(expected, false);
        if (strcmp(x, y) != 0 && !noted) {
            WRONG(g, "to %s:\n  ours   %s\n  Burn's %s", layout, x, y);
        }
        free(x);
        free(y);
    }
    /* And in bincode, where a version's constants count. */
    if (!save(record, "Bin", g->type, layout, &again)) {
        WRONG(g, "to %s in bincode: %s", layout, rec_error_message());
    } else {
        rec_record *bin = rec_load_bytes(b, again.data, again.size);
        if (!bin || rec_report_count()) {
            WRONG(g, "to %s in bincode and back: %s", layout, bin ? rec_report_note(0)->text : rec_error_message());
        }
        rec_record_free(bin);
    }
done:
    rec_free(out.data);
    rec_free(again.data);
    rec_record_free(back);
    rec_record_free(expected);
    rec_record_free(record);
    rec_close_recorder(r);
    rec_close_recorder(b);
}

static void an_older_record_becomes_what_a_later_burn_writes(void **state)
{
    (void)state;
    if (!have()) {
        skip();
    }
    failures = 0;
    for (size_t i = 0; i < count; i++) {
        for (int to = all[i].version + 1; to < VERSIONS; to++) {
            cross(&all[i], to);
        }
    }
    assert_int_equal(failures, 0);
}

static void a_later_record_becomes_what_an_older_burn_writes(void **state)
{
    (void)state;
    if (!have()) {
        skip();
    }
    failures = 0;
    for (size_t i = 0; i < count; i++) {
        for (int to = 0; to < all[i].version; to++) {
            cross(&all[i], to);
        }
    }
    assert_int_equal(failures, 0);
}

/* All tensors in order, with what is in them. Ids change with the version. */
static char *tensors(const rec_record *record)
{
    rec_iterator *iterator = rec_iterate(record);
    const rec_tensor *tensor;
    const char *path;
    shape s = {0};
    put(&s, "");
    assert_non_null(iterator);
    while ((tensor = rec_iterator_next_tensor(iterator, &path))) {
        const char *name = strrchr(path, '.');
        char text[160];
        uint64_t size, hash = 5381;
        const uint8_t *data = rec_tensor_bytes(tensor, &size);
        for (uint64_t i = 0; i < size; i++) {
            hash = hash * 33 + data[i];
        }
        (void)snprintf(text, sizeof text, "%s=%llx ", name ? name : path, (unsigned long long)hash);
        put(&s, text);
    }
    rec_iterator_free(iterator);
    return s.text;
}

/* There and back by any version in between, bincode on both ways. @return whether the other version could hold it. */
static bool there_and_back(const golden *g, int minor)
{
    rec_record *record = load(g, "bin", g->type), *there = NULL, *back = NULL;
    rec_recorder *r = open_recorder("Bin", g->type, NULL);
    bytes out = {0}, again = {0};
    char layout[32], own[32];
    bool could = false;
    assert_non_null(record);
    (void)snprintf(layout, sizeof layout, "burn-0.%d", minor);
    (void)snprintf(own, sizeof own, "burn-%.*s", (int)(strrchr(versions[g->version], '.') - versions[g->version]),
                   versions[g->version]);
    if (!save(record, "Bin", g->type, layout, &out)) {
        if (!*rec_error_expected() && !strstr(rec_error_message(), "Burn 0.")) {
            WRONG(g, "to %s: %s", layout, rec_error_message());
        }
        goto done;
    }
    could = true;
    if (strstr(g->name, "_nobias") && strstr(g->name, "Norm") && g->version == 3 && minor < 20 &&
        (!rec_report_count() || rec_report_note(0)->kind != REC_NOTE_ASSUMED)) {
        WRONG(g, "to %s: a bias of zeros came to be, and nobody was told", layout);
    }
    there = rec_load_bytes(r, out.data, out.size);
    if (there && !rec_report_count() && strstr(g->type, "LrScheduler") && g->version < 2 && minor >= 15) {
        goto done; /* what was a tuple and is a number does not become a tuple again */
    }
    if (!there || rec_report_count() || !save(there, "Bin", g->type, own, &again)) {
        WRONG(g, "to %s and back: %s", layout,
              there && rec_report_count() ? rec_report_note(0)->text : rec_error_message());
        goto done;
    }
    back = rec_load_bytes(r, again.data, again.size);
    if (!back) {
        WRONG(g, "to %s and back: %s", layout, rec_error_message());
    } else {
        char *x = tensors(record), *y = tensors(back);
        bool zeros = strstr(g->name, "_nobias") && minor < 20; /* a bias of zeros came to be */
        if (strcmp(x, y) != 0 && !zeros) {
            WRONG(g, "to %s and back:\n  %s\n  %s", layout, x, y);
        }
        free(x);
        free(y);
    }
done:
    rec_free(out.data);
    rec_free(again.data);
    rec_record_free(record);
    rec_record_free(there);
    rec_record_free(back);
    rec_close_recorder(r);
    return could;
}

static void every_version_in_between_holds_the_same_tensors(void **state)
{
    size_t could = 0;
    (void)state;
    if (!have()) {
        skip();
    }
    failures = 0;
    for (size_t i = 0; i < count; i++) {
        for (int minor = 7; minor <= 21; minor++) {
            could += there_and_back(&all[i], minor);
        }
    }
    print_message("%zu of %zu ways are open\n", could, count * 15);
    assert_int_equal(failures, 0);
}

/* The type that a record shows reads the record back, and from bincode too where nothing had to be assumed wrongly. */
static void the_type_that_a_record_shows_reads_it_back(void **state)
{
    size_t exact = 0;
    (void)state;
    if (!have()) {
        skip();
    }
    failures = 0;
    for (size_t i = 0; i < count; i++) {
        const golden *g = &all[i];
        rec_record *record = load(g, "mpk", NULL);
        char *source = record ? rec_record_describe(record, types, "Shown") : NULL;
        rec_types *own = types, *shown;
        bytes ours = {0}, theirs = {0}, bin = {0}, burns;
        char path[1300];
        if (!source) {
            WRONG(g, "%s", rec_error_message());
        }
        shown = rec_types_new(NULL);
        assert_non_null(shown);
        if (!source || rec_types_add_rust(shown, source, "shown.rs") != REC_OK) {
            WRONG(g, "%s\n%s", rec_error_message(), source ? source : "");
        } else {
            rec_record *typed;
            types = shown;
            typed = load(g, "mpk", "Shown");
            if (!typed || !save(typed, "NamedMpk", "Shown", "keep", &ours) ||
                !save(record, "NamedMpk", NULL, "keep", &theirs)) {
                WRONG(g, "%s\n%s", rec_error_message(), source);
            } else if (!equal(&ours, &theirs)) {
                WRONG(g, "differs at %zu of %zu, %zu\n%s", first_difference(&ours, &theirs), ours.size, theirs.size,
                      source);
            }
            path_of(g, "bin", path, sizeof path);
            burns = read_file(path);
            if (typed && save(typed, "Bin", "Shown", "keep", &bin) &&
                (equal(&bin, &burns) || (strstr(source, "Shown = ") && bin.size == burns.size))) {
                exact++;
            } else if (!has_optional_constant(g) && !strstr(source, "assumed")) {
                WRONG(g, "in bincode it is not Burn's, though nothing was assumed: %s\n%s", rec_error_message(),
                      source);
            }
            free(burns.data);
            rec_record_free(typed);
            types = own;
        }
        rec_types_free(shown);
        rec_free(ours.data);
        rec_free(theirs.data);
        rec_free(bin.data);
        rec_free(source);
        rec_record_free(record);
    }
    print_message("%zu of %zu are Burn's in bincode too\n", exact, count);
    assert_int_equal(failures, 0);
}

static int set_up(void **state)
{
    const char *shared = getenv("LIBRECORD_SHARED"), *source = getenv("srcdir");
    char probes[1024];
    (void)state;
    if (shared) {
        (void)snprintf(folder, sizeof folder, "%s/data/golden/modules", shared);
    } else {
        (void)snprintf(folder, sizeof folder, "%s/../shared/data/golden/modules", source ? source : ".");
    }
    collect();
    types = rec_types_new(NULL);
    (void)snprintf(probes, sizeof probes, "%s/tests/data/types/probes.rs", source ? source : ".");
    if (!types || rec_types_add_file(types, probes) != REC_OK) {
        print_message("%s\n", rec_error_message());
        return 1;
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    rec_types_free(types);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_bin_reads_by_its_types_name_and_equals_its_twins),
        cmocka_unit_test(every_file_becomes_the_bin_that_burn_wrote),
        cmocka_unit_test(an_older_record_becomes_what_a_later_burn_writes),
        cmocka_unit_test(a_later_record_becomes_what_an_older_burn_writes),
        cmocka_unit_test(every_version_in_between_holds_the_same_tensors),
        cmocka_unit_test(the_type_that_a_record_shows_reads_it_back),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
