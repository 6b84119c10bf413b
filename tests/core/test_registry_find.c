/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The registry: which plugin files a look-up opens, by name, by extension and by magic, and which plugin comes first.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/registry/open_private.h"
#include "tests/core/registry.h"

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

static const char *recognised_as(rec_context *context, const char *path, const char *bytes, size_t length)
{
    const rec_head head = {
        .size = sizeof head, .data = (const uint8_t *)bytes, .length = length, .total = length, .name = ""};
    rec_job job;
    const lr_plugin *plugin;
    lr_job_begin(&job, context, "recognise", NULL);
    plugin = lr_registry_recognise(&job, &head, path);
    assert_int_equal(lr_job_end(&job), REC_OK);
    return plugin ? plugin->d.name : "";
}

static const char *recognised(rec_context *context, const char *bytes, size_t length)
{
    return recognised_as(context, NULL, bytes, length);
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

/* Each case uses its own file names, since an open plugin stays in the process. */
#define SAVE ".save=(int32_t(*)(rec_job*,rec_sink*))probe,"

/** A plugin file, and whether it recognises a file with this extension that begins with "AAAA". */
static const struct {
    const char *file, *flags, *extension;
    bool alone; /**< other-FILE, which would bid more, is not opened */
} sure[] = {
    {"qa.so", "-DBITS=1 -DMORE='.extension=\"qa\"," MAGIC("\"AA\"") "'", "qa", true},
    {"ql.so", "-DBITS=31 -DMORE='.extension=\"ql\"," MAGIC("\"A\"") "'", "ql", false}, /* 8 bits of magic */
    {"qb.so", "-DBITS=32 -DMORE='.extension=\"qb\"'", "qb", true},
    {"qc.so", "-DBITS=31 -DMORE='.extension=\"qc\"'", "qc", false},
    {"qd.so", "-DBITS=0 -DMORE='.extension=\"qd\"," MAGIC("\"AA\"") "'", "qd", false},
    {"qe.so", "-DBITS=40 -DMORE='.extension=\"qe\"," MAGIC("\"BB\"") "'", "qe", false},
    {"qf-g.so", "-DBITS=32 -DMORE='.extension=\"qf.g\"'", "qf.g", true},
    {"qh.so", "-DBITS=32 -DMORE='.extension=\"other\"'", "qh", true}, /* the name of the file counts */
    {"qi.so", "-include stddef.h -DBITS=32 -DMORE='.load=0," SAVE ".extension=\"qi\"'", "qi", false},
    {"qj.so", "-DBITS=32 -DMORE='.extension=\"qj\",.extensions=(const char*const[]){\"qk\",0}'", "qk", false},
};

static void test_plugin_named_after_extension_recognises_file(void **state)
{
    scratch *s = *state;
    for (size_t i = 0; i < sizeof sure / sizeof *sure; i++) {
        char *folder, *flags, *other, *other_path, *path;
        rec_context *context;
        assert_true(asprintf(&other, "other-%s", sure[i].file) > 0);
        assert_true(asprintf(&flags, "-DNAME='\"Near%zu\"' %s", i, sure[i].flags) > 0);
        assert_true(asprintf(&path, "a.b.%s", sure[i].extension) > 0);
        folder = scratch_folder(s, sure[i].extension);
        assert_true(asprintf(&other_path, "%s/%s", folder, other) > 0);
        make(folder, sure[i].file, flags);
        make(folder, other, "-DNAME='\"Surer\"' -DBITS=500 -DMORE='" MAGIC("\"AAAA\"") "'");
        context = context_of(folder);
        if (sure[i].alone) {
            char name[32];
            (void)snprintf(name, sizeof name, "Near%zu", i);
            assert_string_equal(recognised_as(context, path, "AAAA..", 6), name);
        } else {
            assert_string_equal(recognised_as(context, path, "AAAA..", 6), "Surer");
        }
        if (is_mapped(other_path) == sure[i].alone) {
            fail_msg("%s: %s is open: %d", sure[i].file, other, !sure[i].alone);
        }
        assert_string_equal(recognised_as(context, "a", "AAAA..", 6), "Surer"); /* without an extension */
        rec_context_free(context);
        free(other_path);
        free(folder);
        free(path);
        free(flags);
        free(other);
    }
}

static void test_save_opens_plugin_named_after_extension(void **state)
{
    scratch *s = *state;
    char *near = scratch_path(s, "ra.so"), *other = scratch_path(s, "rb.so"), *loads = scratch_path(s, "rc.so");
    char *late = scratch_path(s, "rz.so");
    rec_context *context;
    make(s->path, "ra.so", "-include stddef.h -DNAME='\"Ra\"' -DMORE='" SAVE ".extension=\"ra\"'");
    make(s->path, "rb.so", "-include stddef.h -DNAME='\"Rb\"' -DMORE='" SAVE ".extension=\"rb.ra\"'");
    make(s->path, "rc.so", "-DNAME='\"Rc\"' -DMORE='.extension=\"rc\"'");
    make(s->path, "rz.so",
         "-include stddef.h -DNAME='\"Rz\"' -DMORE='" SAVE ".extension=\"rz\",.extensions=(const char*const[])"
         "{\"rc\",\"rd\",0}'");
    context = context_of(s->path);
    assert_string_equal(rec_plugin_for_path(context, "x.ra")->file, near);
    assert_string_equal(rec_plugin_for_path(context, "x.rb.ra")->file, near); /* no file has the name rb-ra.so */
    assert_false(is_mapped(other) || is_mapped(loads) || is_mapped(late));
    assert_string_equal(rec_plugin_for_path(context, "x.rc")->file, late); /* rc.so cannot save */
    assert_string_equal(rec_plugin_for_path(context, "x.rd")->file, late);
    assert_string_equal(path_for(context, "x.rc", LR_CAN_LOAD), loads);
    assert_null(rec_plugin_for_path(context, "x.re"));
    rec_context_free(context);
    free(late);
    free(loads);
    free(other);
    free(near);
}

static void test_first_usable_file_of_a_name_counts(void **state)
{
    scratch *s = *state;
    char *first = scratch_folder(s, "first"), *second = scratch_folder(s, "second"),
         *third = scratch_folder(s, "third");
    char *broken = scratch_text(s, "first/sa.so", "no plugin"), *counts = scratch_path(s, "second/sa.so");
    char *behind = scratch_path(s, "third/sa.so");
    rec_context *context;
    make(second, "sa.so", "-DNAME='\"Second\"' -DBITS=32 -DMORE='.extension=\"sa\"'");
    make(third, "sa.so", "-DNAME='\"Third\"' -DBITS=500 -DMORE='.extension=\"sa\"," MAGIC("\"AAAA\"") "'");
    context = context_of(third);
    assert_int_equal(rec_context_add_plugin_path(context, second), REC_OK);
    assert_int_equal(rec_context_add_plugin_path(context, first), REC_OK);
    assert_string_equal(recognised_as(context, "x.sa", "AAAA", 4), "Second");
    assert_string_equal(path_for(context, "x.sa", LR_CAN_LOAD), counts);
    assert_false(is_mapped(behind));
    assert_string_equal(recognised_as(context, "x", "AAAA", 4), "Third");
    rec_context_free(context);
    free(behind);
    free(counts);
    free(broken);
    free(third);
    free(second);
    free(first);
}

#define SOURCE                                                                                                    \
    "-include stddef.h -DMORE='.load=0,.probe=0,.kind=REC_PLUGIN_SOURCE,.schemes=(const char*const[]){\"ta\",0}," \
    ".open=(int32_t(*)(rec_job*,const char*,rec_source**))probe'"

static void test_source_plugin_is_opened_for_scheme_alone(void **state)
{
    scratch *s = *state;
    char *source = scratch_path(s, "source-ta.so"), *format = scratch_path(s, "tb.so");
    char *odd = scratch_path(s, "tc.so"), *wrong = scratch_path(s, "source-td.so");
    rec_context *context;
    rec_job job;
    make(s->path, "source-ta.so", "-DNAME='\"Ta\"' " SOURCE);
    make(s->path, "tb.so", "-DNAME='\"Tb\"' -DBITS=1");
    context = context_of(s->path);
    assert_string_equal(recognised_as(context, "x.source-ta", "AAAA", 4), "Tb");
    assert_string_equal(file_of(context, "nobody"), "");
    assert_string_equal(path_for(context, "x.nobody", LR_CAN_SAVE), "");
    assert_false(is_mapped(source));
    assert_true(is_mapped(format));
    lr_job_begin(&job, context, "load", NULL);
    assert_null(lr_registry_open(&job, "ta://host/x", false)); /* its open() returns no source */
    assert_int_equal(lr_job_end(&job), REC_E_PLUGIN);
    assert_true(is_mapped(source));
    assert_string_equal(info_of(context, source, 0)->schemes, "ta");
    rec_context_free(context);
    make(s->path, "tc.so", "-DNAME='\"Tc\"' " SOURCE);
    make(s->path, "source-td.so", "-DNAME='\"Td\"'");
    context = context_of(s->path);
    assert_string_equal(info_of(context, odd, 0)->refused, "a source plugin must be in a file called source-NAME.so");
    assert_string_equal(info_of(context, wrong, 0)->refused,
                        "a file called source-NAME.so may contain source plugins only");
    rec_context_free(context);
    free(wrong);
    free(odd);
    free(format);
    free(source);
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
    plugin = lr_registry_own(&job, "json", "PrettyJson");
    assert_int_equal(lr_job_end(&job), REC_OK);
    assert_non_null(plugin);
    assert_string_not_equal(plugin->file, other);
    assert_non_null(strstr(plugin->file, "/plugins/.libs/json.so"));
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
    assert_true(asprintf(&expected,
                         "no recorder can be used: %s/some.so was rejected: the directory is writable by others",
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
        TEST(test_plugin_named_after_extension_recognises_file),
        TEST(test_save_opens_plugin_named_after_extension),
        TEST(test_first_usable_file_of_a_name_counts),
        TEST(test_source_plugin_is_opened_for_scheme_alone),
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
