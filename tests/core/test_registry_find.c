/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The registry: which files are opened for what is asked, by name, by index and by magic; and who comes before whom. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sys/wait.h>

#include "core/registry/index_private.h"
#include "core/registry/open_private.h"
#include "tests/core/registry.h"
#include "tests/end_child.h"

/* ----------------------------------------------------------------------------------------------- looking at it -- */

/* @return whether this process has a file open. */
static bool is_mapped(const char *file)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[4096];
    bool found = false;
    assert_non_null(maps);
    while (!found && fgets(line, sizeof line, maps)) {
        found = strstr(line, file) != NULL;
    }
    (void)fclose(maps);
    return found;
}

/* Writes the index in another process: that opens all. */
static void write_index(const char *folder)
{
    int status = 0;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        end_child(rec_index_plugins(NULL, folder) == REC_OK ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static rec_context *context_of(const char *folder)
{
    rec_context *context = context_new();
    assert_int_equal(rec_context_add_plugin_path(context, folder), REC_OK);
    return context;
}

static const char *path_for(rec_context *context, const char *path, lr_direction direction)
{
    rec_job job;
    const lr_plugin *plugin;
    lr_job_begin(&job, context, "open", NULL);
    plugin = lr_registry_by_extension(&job, path, direction);
    assert_int_equal(lr_job_end(&job), REC_OK);
    return plugin ? plugin->file : "";
}

static const char *recognised(rec_context *context, const char *bytes, size_t length)
{
    const rec_head head = {
        .size = sizeof head, .data = (const uint8_t *)bytes, .length = length, .total = length, .name = ""};
    rec_job job;
    const lr_plugin *plugin;
    lr_job_begin(&job, context, "recognise", NULL);
    plugin = lr_registry_recognise(&job, &head, NULL);
    assert_int_equal(lr_job_end(&job), REC_OK);
    return plugin ? plugin->d.name : "";
}

#define MAGIC(text)                                                                                                    \
    ".magic=(const rec_magic*const[]){&(const rec_magic){sizeof(rec_magic),sizeof(" text ")-1,0,(const uint8_t*)" text \
    ",0},0}"

/* ---------------------------------------------------------------------------------------------- what is opened -- */

static void a_name_that_is_a_files_opens_that_file_alone(void **state)
{
    scratch *s = *state;
    char *alone = scratch_path(s, "alone-1.so"), *large = scratch_path(s, "large-1.so");
    rec_context *context;
    make(s->path, "alone-1.so", "-DNAME='\"Alone1\"'");
    make(s->path, "large-1.so", "-DNAME='\"Large\"'");
    context = context_of(s->path);
    assert_string_equal(file_of(context, "Alone1"), alone);
    assert_string_equal(file_of(context, "alone.1"), alone);
    assert_true(is_mapped(alone));
    assert_false(is_mapped(large));
    assert_string_equal(file_of(context, "Large"), large);
    assert_true(is_mapped(large)); /* it would have been seen */
    rec_context_free(context);
    free(large);
    free(alone);
}

static void an_index_opens_what_is_asked_for_alone(void **state)
{
    scratch *s = *state;
    char *a = scratch_path(s, "aa.so"), *b = scratch_path(s, "bb.so"), *c = scratch_path(s, "cc.so");
    rec_context *context;
    make(s->path, "aa.so",
         "-DNAME='\"First\"' -DALIASES='(const char *const[]){\"uno\",0}' -DBITS=9 "
         "-DMORE='.extension=\"a1\",.extensions=(const char*const[]){\"a2\",0}," MAGIC("\"AAAA\"") "'");
    make(s->path, "bb.so", "-DNAME='\"Second\"' -DBITS=9 -DMORE='.extension=\"b1\"," MAGIC("\"BBBB\"") "'");
    make(s->path, "cc.so", "-DNAME='\"Third\"' -DMORE='.extension=\"c1\",.probe=0,.traits=REC_TRAIT_FOLDER'");
    write_index(s->path);
    context = context_of(s->path);
    assert_string_equal(file_of(context, "uno"), a);
    assert_true(is_mapped(a));
    assert_false(is_mapped(b) || is_mapped(c));
    assert_string_equal(path_for(context, "x.a2", LR_CAN_LOAD), a);
    assert_string_equal(path_for(context, "x.q1", LR_CAN_LOAD), "");
    assert_string_equal(recognised(context, "AAAA..", 6), "First");
    assert_string_equal(recognised(context, "CCCC..", 6), "");
    assert_false(is_mapped(b) || is_mapped(c));
    assert_string_equal(recognised(context, "BBBB..", 6), "Second");
    assert_true(is_mapped(b));
    assert_false(is_mapped(c));
    assert_int_equal(rec_plugin_count(context) >= 3, 1);
    assert_true(is_mapped(c));
    assert_string_equal(info_of(context, a, 0)->extensions, "a1, a2");
    rec_context_free(context);
    free(c);
    free(b);
    free(a);
}

static void what_an_index_has_wrong_is_opened(void **state)
{
    scratch *s = *state;
    char *a = scratch_path(s, "one.so"), *b = scratch_path(s, "two.so"), *again = scratch_path(s, "again");
    rec_context *context;
    make(s->path, "one.so", "-DNAME='\"Before\"'");
    make(s->path, "two.so", "-DNAME='\"Stays\"'");
    write_index(s->path);
    /* Another file of that name, as an update makes it: what the index says of it does not count. */
    assert_int_equal(unlink(a), 0);
    make(s->path, "one.so", "-DNAME='\"Afterwards\"'");
    context = context_of(s->path);
    assert_string_equal(file_of(context, "Afterwards"), a);
    assert_string_equal(file_of(context, "Before"), "");
    assert_string_equal(file_of(context, "Stays"), b);
    rec_context_free(context);
    /* One that anyone may write is not looked at; one that is gone neither. */
    free(again);
    again = scratch_path(s, "plugins.index");
    assert_int_equal(chmod(again, 0666), 0);
    context = context_of(s->path);
    assert_string_equal(file_of(context, "Stays"), b);
    rec_context_free(context);
    assert_int_equal(unlink(again), 0);
    context = context_of(s->path);
    assert_string_equal(file_of(context, "Stays"), b);
    rec_context_free(context);
    free(again);
    free(b);
    free(a);
}

/* Writes the index of the folder. @return its text */
static char *written_index(const scratch *s, size_t *size)
{
    char *path = scratch_path(s, "plugins.index"), *text = malloc(1 << 16);
    FILE *file;
    write_index(s->path);
    file = fopen(path, "rb");
    assert_non_null(file);
    assert_non_null(text);
    *size = fread(text, 1, 1 << 16, file);
    (void)fclose(file);
    free(path);
    return text;
}

/* The index of a plugin that has one of everything. */
static char *index_of_held(const scratch *s, const char *file, size_t *size)
{
    make(s->path, file,
         "-DNAME='\"Held\"' -DALIASES='(const char *const[]){\"kept\",0}' -DMORE='.extension=\"h1\"," MAGIC(
             "\"HH\"") "'");
    return written_index(s, size);
}

/* What is wrong with one may be this librecord: a later one that reads the index has to see for itself. */
static void a_file_with_a_refused_plugin_is_not_in_the_index(void **state)
{
    scratch *s = *state;
    char *text;
    size_t size;
    make(s->path, "whole.so", "-DNAME='\"Whole\"'");
    make(s->path, "half.so", "-DSECOND='\"Other\"' -DMORE='.kind=99'");
    text = written_index(s, &size);
    assert_non_null(memmem(text, size, "whole.so", 8));
    assert_null(memmem(text, size, "half.so", 7));
    free(text);
}

static void no_byte_of_an_index_can_do_harm(void **state)
{
    scratch *s = *state;
    char *a = scratch_path(s, "hh.so"), *path = scratch_path(s, "plugins.index"), *text;
    size_t size;
    text = index_of_held(s, "hh.so", &size);
    for (size_t i = 0; i <= size; i++) {
        static const char others[] = {'\0', '\n', ' ', '9', 'z', '\x7f'};
        for (size_t j = 0; j < (i < size ? sizeof others : 1); j++) {
            rec_context *context;
            char old = text[i < size ? i : 0];
            FILE *file = fopen(path, "wb");
            assert_non_null(file);
            text[i < size ? i : 0] = i < size ? others[j] : old;
            assert_int_equal(fwrite(text, 1, i == size ? size / 2 : size, file), i == size ? size / 2 : size);
            (void)fclose(file);
            text[i < size ? i : 0] = old;
            context = context_of(s->path);
            /* Its size and time can only disagree, or agree by chance where only a word of it changed. */
            assert_string_equal(file_of(context, "Held"), a);
            assert_string_equal(info_of(context, a, 0)->name, "Held");
            assert_string_equal(info_of(context, a, 0)->refused, "");
            rec_context_free(context);
        }
    }
    free(text);
    free(path);
    free(a);
}

/* Writes the text with its sum. @return how many files the index has then. */
static uint64_t files_of_index(const char *folder, const char *path, const char *text, size_t size)
{
    uint64_t sum = UINT64_C(0xcbf29ce484222325), count;
    rec_context *context = context_new();
    FILE *file = fopen(path, "wb");
    lr_index index;
    lr_arena arena;
    rec_job job;
    assert_non_null(file);
    for (size_t i = 0; i < size; i++) {
        sum = (sum ^ (uint8_t)text[i]) * UINT64_C(0x100000001b3);
    }
    assert_int_equal(fwrite(text, 1, size, file), size);
    assert_true(fprintf(file, "z %016" PRIx64 "\n", sum) > 0);
    assert_int_equal(fclose(file), 0);
    lr_job_begin(&job, context, "open", NULL);
    lr_arena_init(&arena, job.allocator);
    assert_int_equal(lr_index_read(&job, &arena, folder, false, &index), REC_OK);
    count = index.count;
    lr_arena_free(&arena);
    assert_int_equal(lr_job_end(&job), REC_OK);
    rec_context_free(context);
    return count;
}

/* A sum that is right stands only for accidents: each line is input. */
static void a_line_of_an_index_that_is_wrong_makes_none_count(void **state)
{
    /* What stands there, and what stands there instead. */
    static const char *const changes[][2] = {
        {"librecord plugins 1", "librecord plugins 2"},
        {"f ", "g "},
        {"f ", "f"},
        {"f ", "f x"},
        {"f ", "f -"},
        {"f ", "f 99999999999999999999"},
        {".so\n", ".so more\n"},
        {".so\n", ".so"},
        {"p ", "p"},
        {"p ", "p x"},
        {"p ", "p -1"},
        {"p ", "p 9"},
        {" Held", " Held Held"},
        {" Held", ""},
        {" Held", " not/a/name"},
        {"a kept", "a"},
        {"a kept", "a "},
        {"a kept", "a kept kept"},
        {"a kept", "\n"},
        {"e h1", "e h1 h2"},
        {"e h1", "e /"},
        {"m 0 ", "m x "},
        {"m 0 ", "m 0"},
        {"m 0 4848", "m 0 484"},
        {"m 0 4848", "m 0 48"},
        {"m 0 4848", "m 0 4x48"},
        {"m 0 4848", "m 0 48484848484848484848484848484848484848"},
        {"m 0 4848 ffff", "m 0 4848 ffff ffff"},
        {"m 0 4848 ffff", "m 0 4848 ffffff"},
        {"m 0 4848 ffff", "m 0 4848"},
        {"m 0 4848 ffff", "m 0"},
        {"p ", "a early\np "},
        {"p ", "e early\np "},
        {"p ", "c early late\np "},
        {"p ", "m 0 48 ff\np "},
        {"librecord plugins 1\n", "librecord plugins 1\np 1 0 1 Held\n"},
        {"a kept", "c NamedMpk"},
        {"a kept", "c NamedMpk gzip more"},
        {"a kept", "c NamedMpk gzip"}, /* of what is no stack */
    };
    scratch *s = *state;
    char *path = scratch_path(s, "plugins.index"), *text;
    size_t size;
    text = index_of_held(s, "hl.so", &size);
    size -= 2 + 16 + 1; /* its sum */
    text[size] = '\0';
    assert_int_equal(files_of_index(s->path, path, text, size), 1);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        size_t from = strlen(changes[i][0]), to = strlen(changes[i][1]);
        const char *at = strstr(text, changes[i][0]);
        char *other = malloc(size + to);
        assert_non_null(other);
        if (!at) {
            fail_msg("the index has no %s", changes[i][0]);
            return;
        }
        memcpy(other, text, (size_t)(at - text));
        memcpy(other + (at - text), changes[i][1], to);
        memcpy(other + (at - text) + to, at + from, size - (size_t)(at - text) - from);
        if (files_of_index(s->path, path, other, size - from + to) != 0) {
            fail_msg("it counts with %s for %s", changes[i][1], changes[i][0]);
        }
        free(other);
    }
    /* More words than there may be, a NUL, and an end in the middle of a line. */
    for (size_t words = 63; words <= 66; words++) {
        size_t room = size + 10 * words;
        char *many = malloc(room), *to = many;
        const char *at = strstr(text, "a kept\n");
        assert_non_null(many);
        memcpy(to, text, (size_t)(at - text));
        to += at - text;
        for (size_t n = 0; n < words; n++) {
            to += snprintf(to, room - (size_t)(to - many), "a kept%zu\n", n);
        }
        (void)snprintf(to, room - (size_t)(to - many), "%s", at + strlen("a kept\n"));
        assert_int_equal(files_of_index(s->path, path, many, strlen(many)), words <= 64);
        free(many);
    }
    assert_int_equal(files_of_index(s->path, path, text, size - 1), 0);
    text[size - 2] = '\0';
    assert_int_equal(files_of_index(s->path, path, text, size), 0);
    assert_int_equal(files_of_index(s->path, path, "", 0), 0);
    free(text);
    free(path);
}

static void an_index_is_not_written_where_that_makes_no_sense(void **state)
{
    scratch *s = *state;
    char *missing = scratch_path(s, "missing"), *open = scratch_folder(s, "open");
    assert_int_equal(rec_index_plugins(NULL, missing), REC_E_IO);
    assert_int_equal(rec_index_plugins(NULL, NULL), REC_E_ARGUMENT);
    assert_int_equal(chmod(open, 0777), 0);
    assert_int_equal(rec_index_plugins(NULL, open), REC_E_PLUGIN);
    assert_non_null(strstr(rec_error_message(), "the folder is writable by others"));
    free(open);
    free(missing);
}

/* --------------------------------------------------------------------------------------------- who comes first -- */

static const char *for_direction(rec_context *context, const char *name, lr_direction direction)
{
    rec_job job;
    const lr_plugin *plugin;
    lr_job_begin(&job, context, "open", NULL);
    plugin = lr_registry_find(&job, name);
    plugin = plugin ? lr_registry_for(&job, plugin, direction) : NULL;
    assert_int_equal(lr_job_end(&job), REC_OK);
    return plugin ? plugin->file : "";
}

#define SAVES "-include stddef.h -DMORE='.load=0,.save=(int32_t(*)(rec_job*,rec_sink*))probe,"

static void what_one_cannot_do_the_next_of_its_name_does(void **state)
{
    scratch *s = *state;
    char *reads = scratch_path(s, "a.so"), *writes = scratch_path(s, "b.so"), *both = scratch_path(s, "c.so");
    char *expected = NULL;
    rec_context *context;
    make(s->path, "a.so", "-DNAME='\"Split\"' -DMORE='.extension=\"sp\"'");
    make(s->path, "b.so", "-DNAME='\"Split\"' " SAVES ".extension=\"sp\"'");
    make(s->path, "c.so",
         "-DNAME='\"SPLIT\"' -DMORE='.save=(int32_t(*)(rec_job*,rec_sink*))probe,.extension=\"sp\","
         ".extensions=(const char*const[]){\"sq\",0}'");
    context = context_of(s->path);
    assert_string_equal(for_direction(context, "Split", LR_CAN_LOAD), reads);
    assert_string_equal(for_direction(context, "Split", LR_CAN_SAVE), writes);
    assert_string_equal(path_for(context, "x.sp", LR_CAN_LOAD), reads);
    assert_string_equal(path_for(context, "x.sp", LR_CAN_SAVE), writes);
    assert_string_equal(path_for(context, "x.sq", LR_CAN_LOAD), both);
    assert_string_equal(rec_plugin_for_path(context, "x.sp")->file, writes);
    assert_string_equal(info_of(context, reads, 0)->hidden, "");
    assert_string_equal(info_of(context, writes, 0)->hidden, "");
    assert_true(asprintf(&expected,
                         "the name SPLIT, to load: Split of %s\nthe name SPLIT, to save: Split of %s\n"
                         "the extension sp, to load: Split of %s\nthe extension sp, to save: Split of %s",
                         reads, writes, reads, writes) > 0);
    assert_string_equal(info_of(context, both, 0)->hidden, expected);
    rec_context_free(context);
    free(expected);
    free(both);
    free(writes);
    free(reads);
}

static void a_name_that_is_a_files_belongs_to_that_file(void **state)
{
    scratch *s = *state;
    char *first = scratch_folder(s, "first"), *second = scratch_folder(s, "second");
    char *alias = scratch_path(s, "first/x.so"), *named = scratch_path(s, "second/own.so"), *expected = NULL;
    rec_context *context;
    make(first, "x.so", "-DNAME='\"Ex\"' -DALIASES='(const char *const[]){\"own\",0}'");
    make(second, "own.so", "-DNAME='\"Own\"'");
    context = context_of(second);
    assert_int_equal(rec_context_add_plugin_path(context, first), REC_OK);
    assert_string_equal(file_of(context, "own"), named);
    assert_string_equal(file_of(context, "Ex"), alias);
    assert_true(asprintf(&expected, "the name own: Own of %s", named) > 0);
    assert_string_equal(info_of(context, alias, 0)->hidden, expected);
    rec_context_free(context);
    free(expected);
    free(named);
    free(alias);
    free(second);
    free(first);
}

static void a_bid_is_bounded_by_the_magic_that_stands_there(void **state)
{
    scratch *s = *state;
    rec_context *context;
    make(s->path, "m1.so", "-DNAME='\"Bold\"' -DBITS=2147483647");
    make(s->path, "m2.so", "-DNAME='\"Short\"' -DBITS=2000 -DMORE='" MAGIC("\"AB\"") "'");
    make(s->path, "m3.so", "-DNAME='\"Long\"' -DBITS=60 -DMORE='" MAGIC("\"ABCD\"") "'");
    make(s->path, "m4.so",
         "-DNAME='\"Tail\"' -DBITS=2000 -DMORE='.magic=(const rec_magic*const[]){&(const "
         "rec_magic){sizeof(rec_magic),6,-6,"
         "(const uint8_t*)\"theend\",(const uint8_t*)\"\\xff\\xff\\xff\\xff\\xff\\xff\"},0}'");
    context = context_of(s->path);
    assert_string_equal(recognised(context, "xyz", 3), "Bold");
    assert_string_equal(recognised(context, "ABxx", 4), "Short");       /* 16 + 32 */
    assert_string_equal(recognised(context, "ABCD", 4), "Long");        /* 60, not more than 64 */
    assert_string_equal(recognised(context, "ABCDtheend", 10), "Tail"); /* 48 + 32 */
    assert_string_equal(recognised(context, "heend", 5), "Bold");
    rec_context_free(context);
}

static void nobody_takes_the_place_of_the_reader_of_configurations(void **state)
{
    scratch *s = *state;
    const char *top = getenv("top_builddir");
    char *own = NULL, *other = scratch_path(s, "json.so");
    rec_context *context;
    const lr_plugin *plugin;
    rec_job job;
    make(s->path, "json.so",
         "-DNAME='\"json\"' -DALIASES='(const char *const[]){\"PrettyJson\",\"pretty-json\",0}' "
         "-DMORE='.extension=\"json\"'");
    assert_true(asprintf(&own, "%s/plugins/.libs", top ? top : ".") > 0);
    context = context_of(own);
    assert_int_equal(rec_context_add_plugin_path(context, s->path), REC_OK);
    assert_string_equal(path_for(context, "config.json", LR_CAN_LOAD), other); /* it does come first */
    lr_job_begin(&job, context, "load", NULL);
    plugin = lr_registry_own(&job, "PrettyJson");
    assert_int_equal(lr_job_end(&job), REC_OK);
    assert_non_null(plugin);
    assert_non_null(strstr(plugin->file, "/pretty-json.so"));
    rec_context_free(context);
    free(other);
    free(own);
}

static void that_all_was_refused_is_said_in_place_of_an_unknown_format(void **state)
{
    scratch *s = *state;
    char *folder = scratch_folder(s, "open"), *file = scratch_text(s, "a.mpk", "some text"), *expected = NULL;
    rec_context *context = context_new();
    rec_recorder *recorder;
    make(folder, "some.so", "");
    assert_int_equal(chmod(folder, 0777), 0);
    assert_int_equal(rec_context_add_plugin_path(context, folder), REC_OK);
    recorder = rec_open_recorder_in(context, "Auto", REC_PRECISION_FULL);
    assert_non_null(recorder);
    assert_null(rec_load(recorder, file));
    assert_int_equal(rec_error_status(), REC_E_PLUGIN);
    assert_true(asprintf(&expected, "no recorder can be used: %s/some.so was refused: the folder is writable by others",
                         folder) > 0);
    assert_non_null(strstr(rec_error_message(), expected));
    rec_close_recorder(recorder);
    rec_context_free(context);
    free(expected);
    free(file);
    free(folder);
}

static void another_context_finds_open_what_is_open(void **state)
{
    scratch *s = *state;
    char *file = scratch_path(s, "once.so");
    rec_context *context;
    make(s->path, "once.so", "-DNAME='\"Once\"'");
    context = context_of(s->path);
    assert_string_equal(file_of(context, "Once"), file);
    rec_context_free(context);
    /* Its bytes cannot be read any more, its state is as it was: it is not opened again. */
    if (geteuid() != 0) {
        assert_int_equal(chmod(file, 0200), 0);
    }
    context = context_of(s->path);
    assert_string_equal(file_of(context, "Once"), file);
    rec_context_free(context);
    free(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(a_name_that_is_a_files_opens_that_file_alone),
        TEST(an_index_opens_what_is_asked_for_alone),
        TEST(what_an_index_has_wrong_is_opened),
        TEST(a_file_with_a_refused_plugin_is_not_in_the_index),
        TEST(no_byte_of_an_index_can_do_harm),
        TEST(a_line_of_an_index_that_is_wrong_makes_none_count),
        TEST(an_index_is_not_written_where_that_makes_no_sense),
        TEST(what_one_cannot_do_the_next_of_its_name_does),
        TEST(a_name_that_is_a_files_belongs_to_that_file),
        TEST(a_bid_is_bounded_by_the_magic_that_stands_there),
        TEST(nobody_takes_the_place_of_the_reader_of_configurations),
        TEST(that_all_was_refused_is_said_in_place_of_an_unknown_format),
        TEST(another_context_finds_open_what_is_open),
    };
    if (lr_static_build()) {
        print_message("1..0 # SKIP a static librecord opens no files\n");
        return 0;
    }
    return cmocka_run_group_tests_name("registry, finding", tests, NULL, NULL);
}
