/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Safetensors files that others wrote, with no adapter and no rules: every tensor is there with the dtype, shape and
 * bytes that the file's header says, read here a second time by a few lines of string search; and it survives being
 * converted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <ftw.h>
#include <librecord.h>

#include "tests/little.h"
#include "tests/scratch.h"
#include "tests/shared.h"

static rec_context *context;
static char **files;
static size_t file_count;

static int see_file(const char *path, const struct stat *state, int kind, struct FTW *where)
{
    const char *name = strrchr(path, '/') + 1, *dot = strrchr(name, '.');
    (void)state;
    (void)where;
    if (kind == FTW_F && dot && strcmp(dot, ".safetensors") == 0 && strncmp(name, "bad_", 4) != 0) {
        files = realloc(files, (file_count + 1) * sizeof *files);
        files[file_count++] = strdup(path);
    }
    return 0;
}

static int set_up(void **state)
{
    char root[512];
    (void)state;
    if (shared_path(root, sizeof root, "safetensors")) {
        (void)nftw(root, see_file, 16, FTW_PHYS);
    }
    context = rec_context_new(NULL);
    return context ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    for (size_t i = 0; i < file_count; i++) {
        free(files[i]);
    }
    free(files);
    rec_context_free(context);
    return 0;
}

/* -------------------------------------------------------------------------------------------- the other reader -- */

/** A file, and its header without white space between words. None of these files escapes anything in a key. */
typedef struct seen {
    unsigned char *bytes;
    size_t size, data; /**< where the data begin */
    char *header;
} seen;

static seen see(const char *path)
{
    seen s = {0};
    FILE *file = fopen(path, "rb");
    uint64_t length;
    size_t used = 0;
    bool text = false;
    if (!file || fseek(file, 0, SEEK_END) != 0) {
        scratch_die(path);
    }
    s.size = (size_t)ftell(file);
    rewind(file);
    s.bytes = malloc(s.size + 1);
    if (fread(s.bytes, 1, s.size, file) != s.size || s.size < 8) {
        scratch_die(path);
    }
    (void)fclose(file);
    memcpy(&length, s.bytes, sizeof length);
    little(&length, sizeof length, 1);
    s.data = 8 + (size_t)length;
    s.header = malloc((size_t)(length + 1));
    for (size_t i = 8; i < s.data; i++) {
        text = s.bytes[i] == '"' ? !text : text;
        if (text || !strchr(" \t\n\r", s.bytes[i])) {
            s.header[used++] = (char)s.bytes[i];
        }
    }
    s.header[used] = '\0';
    return s;
}

static void see_free(seen *s)
{
    free(s->bytes);
    free(s->header);
}

static size_t entries(const seen *s)
{
    size_t count = 0;
    for (const char *at = s->header; (at = strstr(at, "\"data_offsets\":")) != NULL; at++) {
        count++;
    }
    return count;
}

/** The text behind `"name":` in the entry of a key. */
static const char *entry_field(const seen *s, const char *key, const char *name)
{
    char words[600];
    const char *entry, *field;
    (void)snprintf(words, sizeof words, "\"%s\":{", key);
    entry = strstr(s->header, words);
    assert_non_null(entry);
    (void)snprintf(words, sizeof words, "\"%s\":", name);
    field = strstr(entry, words);
    assert_non_null(field);
    assert_true(field < strchr(entry, '}'));
    return field + strlen(words);
}

/* --------------------------------------------------------------------------------------------------- comparing -- */

static void plain(char *path)
{
    char *to = path;
    for (const char *from = path; *from; from++) {
        *to++ = *from == '\\' && from[1] ? *++from : *from;
    }
    *to = '\0';
}

static void same_as_header(const seen *s, const char *key, const rec_tensor *tensor)
{
    static const char *const names[][2] = {{"F8_E4M3", "F8_E4M3"}, {"F8_E5M2", "F8_E5M2"}, {"BOOL", "bool"}};
    const char *dtype = entry_field(s, key, "dtype") + 1, *shape = entry_field(s, key, "shape");
    char *end = NULL;
    uint64_t begin = strtoull(entry_field(s, key, "data_offsets") + 1, &end, 10), size,
             stop = strtoull(end + 1, NULL, 10);
    size_t length = strcspn(dtype, "\"");
    const void *bytes = rec_tensor_bytes(tensor, &size);
    bool named = strlen(rec_tensor_dtype_name(tensor)) == length &&
                 strncasecmp(dtype, rec_tensor_dtype_name(tensor), length) == 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        named = named ||
                (strncmp(dtype, names[i][0], length) == 0 && strcmp(names[i][1], rec_tensor_dtype_name(tensor)) == 0);
    }
    if (!named) {
        fail_msg("%s: the file says %.*s, the record %s", key, (int)length, dtype, rec_tensor_dtype_name(tensor));
    }
    for (uint32_t i = 0; i < rec_tensor_rank(tensor); i++) {
        assert_int_equal(strtoull(shape + 1, &end, 10), rec_tensor_shape(tensor)[i]);
        shape = end;
    }
    assert_true(*shape == ']' || strncmp(shape, "[]", 2) == 0);
    assert_non_null(bytes);
    assert_int_equal(size, stop - begin);
    assert_memory_equal(bytes, s->bytes + s->data + begin, (size_t)size);
}

static rec_recorder *raw(const char *name)
{
    rec_recorder *r = rec_open_recorder_in(context, name, REC_PRECISION_KEEP);
    assert_non_null(r);
    assert_int_equal(rec_recorder_set(r, "adapter", "none"), REC_OK);
    assert_int_equal(rec_recorder_set(r, "gaps", "keep"), REC_OK);
    return r;
}

static void same_as_file(const seen *s, const rec_record *record)
{
    rec_iterator *all = rec_iterate(record);
    const rec_tensor *tensor;
    const char *path;
    size_t found = 0;
    while ((tensor = rec_iterator_next_tensor(all, &path)) != NULL) {
        char key[512];
        (void)snprintf(key, sizeof key, "%s", path);
        plain(key);
        same_as_header(s, key, tensor);
        found++;
    }
    rec_iterator_free(all);
    assert_int_equal(found, entries(s));
}

/* ------------------------------------------------------------------------------------------------------- tests -- */

static void every_file_is_read_as_its_header_says(void **state)
{
    (void)state;
    if (file_count == 0) {
        skip();
    }
    for (size_t i = 0; i < file_count; i++) {
        rec_recorder *r = raw("Safetensors");
        rec_record *record = rec_load(r, files[i]);
        seen s = see(files[i]);
        if (!record) {
            fail_msg("%s", rec_error_message());
        }
        same_as_file(&s, record);
        see_free(&s);
        rec_record_free(record);
        rec_close_recorder(r);
    }
}

/* One step on the way. @param refused Burn's format has no such element type. @return the file that was written. */
static char *step_to(scratch *folder, size_t step, const char *from, const char *recorder, bool refused)
{
    rec_recorder *in = raw("Auto"), *out = raw(recorder);
    char name[32], *to;
    rec_status status;
    (void)snprintf(name, sizeof name, "%zu.%s", step, rec_recorder_extension(out));
    to = scratch_path(folder, name);
    status = rec_convert(in, from, out, to, NULL);
    if (refused) {
        assert_int_equal(status, REC_E_UNSUPPORTED);
        assert_non_null(strstr(rec_error_message(), "Burn has no such element type\n  Convert to a precision"));
    } else if (status != REC_OK) {
        fail_msg("%s", rec_error_message());
    }
    rec_close_recorder(in);
    rec_close_recorder(out);
    return to;
}

/* @return whether the file went the whole way and holds the same at its end. */
static bool file_survives(const char *path, const char *const *way)
{
    scratch *folder = scratch_new();
    seen s = see(path);
    char *from = strdup(path), *to;
    bool coded = strstr(s.header, "\"dtype\":\"F8_E") != NULL, refused = false;
    for (size_t step = 0; way[step] && !refused; step++) {
        refused = coded && strcmp(way[step], "NamedMpk") == 0;
        to = step_to(folder, step, from, way[step], refused);
        free(from);
        from = to;
    }
    if (!refused) {
        rec_recorder *r = raw("Safetensors");
        rec_record *record = rec_load(r, from);
        if (!record) {
            fail_msg("%s: %s", path, rec_error_message());
        }
        same_as_file(&s, record);
        rec_record_free(record);
        rec_close_recorder(r);
    }
    free(from);
    see_free(&s);
    scratch_free(folder);
    return !refused;
}

/** @param way the recorders on the way, the last of which writes safetensors */
static void survives(const char *const *way)
{
    size_t whole = 0;
    for (size_t i = 0; i < file_count; i++) {
        whole += file_survives(files[i], way);
    }
    assert_true(whole > 0);
}

static void saved_again_they_hold_the_same(void **state)
{
    static const char *const way[] = {"Safetensors", NULL};
    (void)state;
    if (file_count == 0) {
        skip();
    }
    survives(way);
}

static void by_way_of_an_mpk_they_hold_the_same(void **state)
{
    static const char *const way[] = {"NamedMpk", "Safetensors", NULL};
    (void)state;
    if (file_count == 0) {
        skip();
    }
    survives(way);
}

static void shards_are_the_model_in_one_file(void **state)
{
    char index[512], single[512];
    rec_recorder *r;
    rec_record *record;
    seen s;
    (void)state;
    if (!shared_path(index, sizeof index, "safetensors/SafeTensors.jl/model.safetensors.index.json") ||
        !shared_path(single, sizeof single, "safetensors/SafeTensors.jl/model.safetensors")) {
        skip();
    }
    r = raw("Safetensors");
    record = rec_load(r, index);
    if (!record) {
        fail_msg("%s", rec_error_message());
    }
    s = see(single);
    same_as_file(&s, record);
    see_free(&s);
    rec_record_free(record);
    rec_close_recorder(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_file_is_read_as_its_header_says),
        cmocka_unit_test(saved_again_they_hold_the_same),
        cmocka_unit_test(by_way_of_an_mpk_they_hold_the_same),
        cmocka_unit_test(shards_are_the_model_in_one_file),
    };
    return cmocka_run_group_tests_name("foreign files", tests, set_up, tear_down);
}
