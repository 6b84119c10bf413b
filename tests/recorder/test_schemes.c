/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Paths with a scheme: a plugin of the program's own that serves files from memory as shelf://row/name, read at any
 * place, as a stream, or wrongly; and what librecord makes of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "librecord/plugin.h"
#include "tests/scratch.h"

enum { ROOM = 8 };

/* The shelf: what is there, and what was asked of it. */
static struct item {
    char name[64];
    void *data;
    uint64_t size;
} items[ROOM];
static int item_count;
static int opened, released;    /* sources */
static uint64_t taken, largest; /* bytes, and of the largest piece */
static int fail_after;          /* pieces that are given before the line breaks, -1: it never does */
static int behave;              /* how `open` behaves */
enum { WELL = 0, SILENT, MUTE, TOLD, STREAM, TWICE, RELEASED, AGAIN };
static rec_recorder *other; /* AGAIN: is used meanwhile */

struct book {
    const struct item *item;
    uint64_t at;
    char row[64];
};

static int32_t line_fails(rec_job *job)
{
    return fail_after >= 0 && fail_after-- == 0 ? rec_fail(job, REC_E_IO, 3, "the shelf fell down") : REC_OK;
}

static int32_t book_read(void *self, rec_job *job, void *target, uint64_t room, uint64_t *got)
{
    struct book *book = self;
    uint64_t left = book->item->size - book->at;
    int32_t status = line_fails(job);
    if (status == REC_OK) {
        *got = left < room ? left : room;
        *got = *got > 1000 ? 1000 : *got;
        memcpy(target, (uint8_t *)book->item->data + book->at, (size_t)*got);
        book->at += *got;
        taken += *got;
    }
    return status;
}

static int32_t book_read_at(void *self, rec_job *job, uint64_t offset, void *target, uint64_t size)
{
    struct book *book = self;
    int32_t status = line_fails(job);
    assert_true(offset <= book->item->size && size <= book->item->size - offset);
    if (behave == AGAIN) {
        assert_null(rec_load_bytes(other, "\xc1", 1)); /* another operation of this thread, which fails */
        assert_int_equal(rec_error_status(), REC_E_FORMAT);
    }
    taken += size;
    largest = size > largest ? size : largest;
    memcpy(target, (uint8_t *)book->item->data + offset, status == REC_OK ? (size_t)size : 0);
    return status;
}

static uint64_t book_total(void *self)
{
    return ((struct book *)self)->item->size;
}

static void book_release(void *self)
{
    released++;
    free(self);
}

static int32_t take(rec_job *job, const char *row, const char *name, int32_t optional, rec_source **out);

static int32_t book_beside(void *self, rec_job *job, const char *name, int32_t optional, rec_source **out)
{
    return take(job, ((struct book *)self)->row, name, optional, out);
}

static const rec_source_ops at_any_place = {.size = sizeof at_any_place,
                                            .release = book_release,
                                            .read_at = book_read_at,
                                            .total = book_total,
                                            .beside = book_beside};
static const rec_source_ops in_order = {
    .size = sizeof in_order, .read = book_read, .release = book_release, .beside = book_beside};

static int32_t take(rec_job *job, const char *row, const char *name, int32_t optional, rec_source **out)
{
    char whole[256];
    for (int i = 0; i < item_count; i++) {
        if (strcmp(items[i].name, name) == 0) {
            struct book *book = calloc(1, sizeof *book);
            assert_non_null(book);
            opened++;
            book->item = &items[i];
            (void)snprintf(book->row, sizeof book->row, "%s", row);
            (void)snprintf(whole, sizeof whole, "%s/%s", row, name);
            return rec_source_make(job, whole, behave == STREAM ? &in_order : &at_any_place, book, out);
        }
    }
    return optional ? REC_OK : rec_fail(job, REC_E_NOT_FOUND, REC_UNKNOWN, "there is no %s on the shelf", name);
}

static int32_t shelf_open(rec_job *job, const char *location, rec_source **out)
{
    char row[64];
    const char *name = strrchr(location, '/') + 1;
    rec_source *second;
    int32_t status;
    (void)snprintf(row, sizeof row, "%.*s", (int)(name - location - 1), location);
    switch (behave) {
    case SILENT:
        return REC_OK;
    case MUTE:
        return 99;
    case TOLD:
        return rec_fail(job, REC_E_IO, REC_UNKNOWN, "the library is closed");
    case TWICE:
        status = take(job, row, name, 0, &second); /* which nobody gets */
        return status == REC_OK ? take(job, row, name, 0, out) : status;
    case RELEASED:
        status = take(job, row, name, 0, out);
        rec_source_release(*out);
        return status;
    case AGAIN:
        assert_null(rec_load(other, "shelf://a/nothing")); /* an operation within one */
        assert_int_equal(rec_error_status(), REC_E_NOT_FOUND);
        break;
    default:
        break;
    }
    return take(job, row, name, 0, out);
}

static const char *const schemes[] = {"shelf", "s3+x.y-z", NULL};
static const rec_plugin shelf = {.abi = REC_PLUGIN_ABI,
                                 .size = sizeof shelf,
                                 .name = "Shelf",
                                 .description = "what lies in memory",
                                 .kind = REC_PLUGIN_SOURCE,
                                 .schemes = schemes,
                                 .open = shelf_open};

/* --------------------------------------------------------------------------------------------------- the world -- */

enum { ROWS = 300, COLUMNS = 1000 };

static rec_context *context;

static rec_recorder *reader(const char *name)
{
    rec_recorder *recorder = rec_open_recorder_in(context, name, REC_PRECISION_KEEP);
    if (!recorder) {
        fail_msg("%s", rec_error_message());
    }
    return recorder;
}

static rec_record *make_record(float first)
{
    static float numbers[ROWS * COLUMNS];
    const uint64_t shape[2] = {ROWS, COLUMNS};
    rec_record *record = rec_record_new(context);
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        numbers[i] = first + (float)i;
    }
    assert_int_equal(rec_set_f32(record, "a.weight", numbers, 2, shape), REC_OK);
    assert_int_equal(rec_set_f32(record, "b.weight", numbers, 2, shape), REC_OK);
    return record;
}

static void put(const char *name, void *data, uint64_t size)
{
    assert_true(item_count < ROOM);
    (void)snprintf(items[item_count].name, sizeof items->name, "%s", name);
    items[item_count].data = data;
    items[item_count++].size = size;
}

static void put_record(const char *name, const char *format, const rec_record *record)
{
    rec_recorder *recorder = reader(format);
    void *data;
    uint64_t size;
    if (rec_save_bytes(recorder, record, &data, &size) != REC_OK) {
        fail_msg("%s", rec_error_message());
    }
    put(name, data, size);
    rec_close_recorder(recorder);
}

static int enter(void **state)
{
    rec_record *record;
    (void)state;
    context = rec_context_new(NULL);
    opened = released = behave = item_count = 0;
    taken = largest = 0;
    fail_after = -1;
    assert_int_equal(rec_context_add_plugin(context, &shelf), REC_OK);
    record = make_record(0);
    put_record("m.safetensors", "Safetensors", record);
    put_record("m.mpk", "NamedMpk", record);
    put_record("m.mpk.gz", "NamedMpkGz", record);
    rec_record_free(record);
    return 0;
}

static int leave(void **state)
{
    (void)state;
    rec_context_free(context);
    for (int i = 0; i < item_count; i++) {
        free(items[i].data);
    }
    if (opened != released) {
        print_error("%d sources were made and %d released\n", opened, released);
    }
    return opened == released ? 0 : -1;
}

static rec_record *load(const char *name, const char *path)
{
    rec_recorder *recorder = reader(name);
    rec_record *record = rec_load(recorder, path);
    if (!record) {
        fail_msg("%s", rec_error_message());
    }
    rec_close_recorder(recorder);
    return record;
}

static void refused(const char *path, rec_status status, const char *words)
{
    rec_recorder *recorder = reader("Auto");
    assert_null(rec_load(recorder, path));
    if (rec_error_status() != status || !strstr(rec_error_message(), words)) {
        fail_msg("%s: %s", rec_status_name(rec_error_status()), rec_error_message());
    }
    rec_close_recorder(recorder);
}

/* --------------------------------------------------------------------------------------------------- the tests -- */

static void records_come_from_where_the_scheme_says(void **state)
{
    static const char *const paths[][2] = {
        {"Auto", "shelf://row/m.safetensors"}, {"Safetensors", "shelf://m.safetensors"},
        {"Auto", "SHELF://row/m.mpk"},         {"NamedMpk", "s3+x.y-z://a/b/m.mpk"},
        {"Auto", "shelf://row/m.mpk.gz"},      {"mpk.gz", "shelf://row/m.mpk.gz"}};
    (void)state;
    for (int how = WELL; how <= STREAM; how += STREAM) {
        behave = how;
        for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
            rec_record *record = load(paths[i][0], paths[i][1]);
            const float *numbers = rec_tensor_f32(rec_tensor_at(record, "b.weight"));
            assert_non_null(numbers);
            assert_int_equal(numbers[ROWS * COLUMNS - 1], ROWS * COLUMNS - 1);
            assert_string_equal(rec_record_origin(record)->file, paths[i][1]);
            assert_int_equal(rec_record_origin(record)->mapped, 0);
            rec_record_free(record);
            assert_int_equal(opened, released);
        }
    }
    assert_string_equal(rec_recognise(context, "shelf://row/m.mpk.gz"), "NamedMpkGz");
}

static void no_more_is_read_than_is_asked_for(void **state)
{
    rec_record *record;
    float few[3];
    uint64_t before;
    (void)state;
    record = load("Auto", "shelf://row/m.safetensors");
    assert_true(taken < 200000); /* what was looked at and the header, of 2.4 MB */
    assert_int_equal(released, 0);
    rec_context_free(context); /* long after everything is gone */
    before = taken;
    assert_int_equal(rec_tensor_read(rec_tensor_at(record, "b.weight"), REC_DTYPE_F32, 5000, 3, few), REC_OK);
    assert_int_equal(few[2], 5002);
    assert_int_equal(taken - before, sizeof few);
    assert_non_null(rec_tensor_bytes(rec_tensor_at(record, "a.weight"), NULL));
    assert_int_equal(taken - before, sizeof few + sizeof(float) * ROWS * COLUMNS);
    rec_record_free(record);
    assert_int_equal(released, 1);
    context = NULL;
}

static void converting_streams(void **state)
{
    rec_recorder *from = reader("Auto"), *to = reader("NamedMpk");
    scratch *s = scratch_new();
    char *out = scratch_path(s, "out.mpk");
    rec_record *record;
    (void)state;
    assert_int_equal(rec_convert(from, "shelf://row/m.safetensors", to, out, NULL), REC_OK);
    assert_true(taken < items[0].size + 300000); /* once, though what is written is read back */
    assert_true(largest <= 4 << 20);
    assert_int_equal(opened, released);
    record = load("Auto", out);
    assert_int_equal(rec_tensor_f32(rec_tensor_at(record, "a.weight"))[77777], 77777);
    rec_record_free(record);
    rec_close_recorder(from);
    rec_close_recorder(to);
    free(out);
    scratch_free(s);
}

static void models_in_several_files_are_found_beside(void **state)
{
    static const char index[] = "{\"metadata\":{\"total_size\":2400000},\"weight_map\":{\"a.weight\":\"m.safetensors\","
                                "\"b.weight\":\"m.safetensors\"}}";
    static const char lost[] = "{\"metadata\":{},\"weight_map\":{\"a.weight\":\"gone.safetensors\"}}";
    rec_recorder *recorder = reader("Auto");
    rec_record *record;
    (void)state;
    put("m.safetensors.index.json", strdup(index), sizeof index - 1);
    put("lost.safetensors.index.json", strdup(lost), sizeof lost - 1);
    assert_int_equal(rec_recorder_set(recorder, "adapter", "none"), REC_OK);
    record = rec_load(recorder, "shelf://row/m.safetensors.index.json");
    assert_non_null(record);
    rec_close_recorder(recorder);
    assert_true(taken < 400000);
    assert_int_equal(rec_tensor_count(rec_tensor_at(record, "b.weight")), ROWS * COLUMNS);
    assert_non_null(rec_tensor_f32(rec_tensor_at(record, "b.weight")));
    rec_record_free(record);
    refused("shelf://row/lost.safetensors.index.json", REC_E_NOT_FOUND, "there is no gone.safetensors on the shelf");
}

static void numbers_of_rules_come_from_the_configuration_beside(void **state)
{
    static const char config[] = "{\"heads\": 300}";
    rec_recorder *recorder = reader("Auto");
    rec_record *record;
    (void)state;
    assert_int_equal(rec_recorder_set(recorder, "adapter", "none"), REC_OK);
    assert_int_equal(rec_recorder_set(recorder, "rope", "a\\.weight$ | heads"), REC_OK);
    assert_null(rec_load(recorder, "shelf://row/m.safetensors"));
    assert_non_null(strstr(rec_error_message(), "shelf://row/config.json"));
    put("m.config.json", strdup("{\"heads\": 150}"), 14);
    record = rec_load(recorder, "shelf://row/m.safetensors");
    if (!record) {
        fail_msg("%s", rec_error_message());
    }
    rec_record_free(record);
    item_count--;
    free(items[item_count].data);
    put("config.json", strdup(config), sizeof config - 1);
    assert_null(rec_load(recorder, "shelf://row/m.safetensors")); /* 300 heads of one row each have no halves */
    rec_close_recorder(recorder);
}

static void a_line_that_breaks_is_told_and_leaves_nothing(void **state)
{
    rec_record *record;
    bool whole = false;
    (void)state;
    for (int how = WELL; how <= STREAM; how += STREAM) {
        behave = how;
        whole = false;
        for (int after = 0; !whole; after = after * 3 / 2 + 1) {
            rec_recorder *recorder = reader("Auto");
            fail_after = after;
            record = rec_load(recorder, "shelf://row/m.mpk");
            whole = record != NULL;
            if (!whole) {
                assert_int_equal(rec_error_status(), REC_E_IO);
                assert_string_equal(rec_error_message(), "shelf://row/m.mpk: byte 3: the shelf fell down");
            }
            rec_record_free(record);
            rec_close_recorder(recorder);
            assert_int_equal(opened, released);
        }
        fail_after = -1;
    }
    behave = WELL;
    record = load("Auto", "shelf://row/m.safetensors");
    fail_after = 0;
    assert_null(rec_tensor_f32(rec_tensor_at(record, "a.weight")));
    assert_int_equal(rec_error_status(), REC_E_IO);
    assert_non_null(strstr(rec_error_message(), "shelf://row/m.safetensors: byte 3: the shelf fell down"));
    fail_after = -1; /* it is up again, for another load: this source has failed for good */
    assert_null(rec_tensor_f32(rec_tensor_at(record, "a.weight")));
    assert_int_equal(rec_error_status(), REC_E_IO);
    assert_non_null(strstr(rec_error_message(), "shelf://row/m.safetensors: byte 3: the shelf fell down"));
    rec_record_free(record);
    record = load("Auto", "shelf://row/m.safetensors");
    assert_non_null(rec_tensor_f32(rec_tensor_at(record, "a.weight")));
    rec_record_free(record);
}

static void plugins_that_break_the_contract_are_named(void **state)
{
    static const struct {
        int how;
        rec_status status;
        const char *words;
    } cases[] = {{SILENT, REC_E_PLUGIN, "the plugin Shelf opened nothing and reported no error"},
                 {MUTE, REC_E_PLUGIN, "the plugin Shelf stopped without a reason (99)"},
                 {TOLD, REC_E_IO, "shelf://row/m.mpk: the library is closed"},
                 {TWICE, REC_E_PLUGIN, "the plugin Shelf did not release its sources"},
                 {RELEASED, REC_E_PLUGIN, "the plugin Shelf returned a source that it does not own"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        behave = cases[i].how;
        refused("shelf://row/m.mpk", cases[i].status, cases[i].words);
        assert_int_equal(opened, released);
    }
}

static void plugins_may_use_librecord_meanwhile(void **state)
{
    rec_record *record;
    (void)state;
    other = rec_open_recorder("NamedMpk", REC_PRECISION_KEEP); /* of a context that has no shelf */
    behave = AGAIN;
    record = load("Auto", "shelf://row/m.safetensors");
    assert_int_equal(rec_error_status(), REC_OK);
    assert_non_null(rec_tensor_f32(rec_tensor_at(record, "a.weight")));
    assert_int_equal(rec_error_status(), REC_OK);
    rec_record_free(record);
    rec_close_recorder(other);
}

static void unknown_schemes_are_told_from_files(void **state)
{
    rec_recorder *recorder = reader("NamedMpk");
    rec_record *record = make_record(0);
    scratch *s = scratch_new();
    char *folder = scratch_folder(s, "other:"), *here = getcwd(NULL, 0);
    (void)state;
    refused("other://m.mpk", REC_E_NOT_FOUND, "no plugin opens paths that begin with \"other://\"");
    assert_non_null(strstr(rec_error_message(), "There are plugins for shelf://, s3+x.y-z://"));
    assert_non_null(strstr(rec_error_message(), "put ./ before its path"));
    refused("shelf://row/none.mpk", REC_E_NOT_FOUND, "there is no none.mpk on the shelf");
    refused("shelf:/m.mpk", REC_E_NOT_FOUND, "cannot open the file");
    refused("9p://m.mpk", REC_E_NOT_FOUND, "cannot open the file");
    refused("c://m.mpk", REC_E_NOT_FOUND, "cannot open the file"); /* a drive of some system or other */
    refused("./shelf://m.mpk", REC_E_NOT_FOUND, "cannot open the file");
    refused("an_underscore://m.mpk", REC_E_NOT_FOUND, "cannot open the file");
    assert_int_equal(rec_save(recorder, record, "shelf://row/new.mpk"), REC_E_UNSUPPORTED);
    assert_non_null(strstr(rec_error_message(), "paths with a scheme can be loaded, not saved"));
    assert_int_equal(chdir(s->path), 0);
    assert_int_equal(rec_save(recorder, record, "./other://m"), REC_OK); /* a file all the same */
    rec_record_free(record);
    record = load("NamedMpk", "./other://m");
    assert_int_equal(chdir(here), 0);
    rec_record_free(record);
    rec_close_recorder(recorder);
    free(here);
    free(folder);
    scratch_free(s);
}

static void schemes_can_be_switched_off(void **state)
{
    scratch *s = scratch_new();
    char *ini = scratch_path(s, "librecord.ini");
    FILE *file = fopen(ini, "w");
    rec_recorder *recorder;
    (void)state;
    assert_int_equal(rec_context_set_sources(context, 0), REC_OK);
    refused("shelf://row/m.mpk", REC_E_UNSUPPORTED, "paths that begin with \"shelf://\" are not opened here");
    assert_int_equal(rec_context_set_sources(context, 2), REC_E_ARGUMENT);
    assert_int_equal(rec_context_set_sources(context, 1), REC_OK);
    rec_record_free(load("Auto", "shelf://row/m.mpk"));
    assert_non_null(file);
    assert_true(fputs("[librecord]\nsources = no\n", file) >= 0);
    assert_int_equal(fclose(file), 0);
    rec_context_free(context);
    context = rec_config_open(ini);
    assert_non_null(context);
    assert_int_equal(rec_context_add_plugin(context, &shelf), REC_OK);
    refused("shelf://row/m.mpk", REC_E_UNSUPPORTED, "by `sources = no` of the INI file");
    assert_int_equal(opened, released);
    recorder = reader("Auto");
    assert_int_equal(rec_context_set_sources(context, 1), REC_OK);
    rec_record_free(rec_load(recorder, "shelf://row/m.mpk"));
    assert_int_equal(rec_error_status(), REC_OK);
    rec_close_recorder(recorder);
    file = fopen(ini, "w");
    assert_true(file && fputs("[librecord]\nsources = maybe\n", file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_null(rec_config_open(ini));
    assert_int_equal(rec_error_status(), REC_E_CONFIG);
    free(ini);
    scratch_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(records_come_from_where_the_scheme_says, enter, leave),
        cmocka_unit_test_setup_teardown(no_more_is_read_than_is_asked_for, enter, leave),
        cmocka_unit_test_setup_teardown(converting_streams, enter, leave),
        cmocka_unit_test_setup_teardown(models_in_several_files_are_found_beside, enter, leave),
        cmocka_unit_test_setup_teardown(numbers_of_rules_come_from_the_configuration_beside, enter, leave),
        cmocka_unit_test_setup_teardown(a_line_that_breaks_is_told_and_leaves_nothing, enter, leave),
        cmocka_unit_test_setup_teardown(plugins_that_break_the_contract_are_named, enter, leave),
        cmocka_unit_test_setup_teardown(plugins_may_use_librecord_meanwhile, enter, leave),
        cmocka_unit_test_setup_teardown(unknown_schemes_are_told_from_files, enter, leave),
        cmocka_unit_test_setup_teardown(schemes_can_be_switched_off, enter, leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
