/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The registry: plugins that this test compiles into folders of its own, good ones and every kind of bad ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <sys/wait.h>

#include "core/registry/open_private.h"
#include "tests/core/registry.h"
#include "tests/end_child.h"
#include "tests/sanitized.h"

#define TEXT_OF(number) #number
#define DOTTED(a, b, c) TEXT_OF(a) "." TEXT_OF(b) "." TEXT_OF(c)
#define RELEASE DOTTED(REC_VERSION_MAJOR, REC_VERSION_MINOR, REC_VERSION_PATCH)

/* The words of a dynamic linker that is not glibc's are taken as they are. */
static const char *of_linker(const char *reason, const char *found)
{
#ifndef __GLIBC__
    static const char *const glibc[] = {"undefined symbol: rec_no_such_function", "file too short",
                                        "invalid ELF header"};
    for (size_t i = 0; i < sizeof glibc / sizeof *glibc; i++) {
        if (strcmp(reason, glibc[i]) == 0 && strncmp(found, "Error ", 6) == 0) {
            return found;
        }
    }
#endif
    (void)found;
    return reason;
}

static void assert_refused(rec_context *context, const char *file, const char *name, const char *reason)
{
    const rec_plugin_info *info = info_of(context, file, 0);
    if (!info) {
        fail_msg("no line for %s", file);
    }
    assert_string_equal(info->refused, of_linker(reason, info->refused));
    assert_string_equal(info->name, name);
    assert_int_equal(info->usable, 0);
    assert_string_equal(info->aliases, "");
    assert_string_equal(info->options, "");
}

/* --------------------------------------------------------------------------------------------------- good ones -- */

static void a_plugin_in_an_added_folder_is_there_by_all_its_names(void **state)
{
    scratch *s = *state;
    char *file = scratch_path(s, "my-good_1.so");
    rec_context *context = context_new();
    const rec_plugin_info *info;
    make(s->path, "my-good_1.so",
         "-DALIASES='(const char *const[]){\"good.file\",\"GOOD-file\",\"fine\",0}' "
         "-DMORE='.extension=\"good.gz\",.options=(const rec_option *const[]){&level,&style,&quick,&title,0}'");
    assert_int_equal(rec_context_add_plugin_path(context, s->path), REC_OK);
    info = info_of(context, file, 0);
    assert_non_null(info);
    assert_null(info_of(context, file, 1));
    assert_int_equal(info->usable, 1);
    assert_string_equal(info->name, "Good");
    assert_string_equal(info->aliases, "good.file, GOOD-file, fine");
    assert_string_equal(info->extension, "good.gz");
    assert_string_equal(info->description, "a test");
    assert_string_equal(info->refused, "");
    assert_string_equal(info->options, "level (1 to 9, 6): how hard to try\n"
                                       "style (plain|pretty, plain): how it looks\n"
                                       "quick (yes|no, no): in a hurry\n"
                                       "title (text, empty): what stands above");
    assert_string_equal(file_of(context, "Good"), file);
    assert_string_equal(file_of(context, "g-o.o_d"), file);
    assert_string_equal(file_of(context, "GoodFile"), file);
    assert_string_equal(file_of(context, "FINE"), file);
    assert_null(rec_plugin_get(context, UINT64_MAX));
    assert_int_equal(rec_error_status(), REC_E_ARGUMENT);
    rec_context_free(context);
    free(file);
}

static void one_file_may_hold_several_recorders(void **state)
{
    scratch *s = *state;
    char *file = scratch_path(s, "both.so");
    rec_context *context = context_new();
    make(s->path, "both.so", "-DSECOND='\"Other\"'");
    assert_int_equal(rec_context_add_plugin_path(context, s->path), REC_OK);
    assert_string_equal(info_of(context, file, 0)->name, "Good");
    assert_string_equal(info_of(context, file, 1)->name, "Other");
    assert_string_equal(file_of(context, "Other"), file);
    rec_context_free(context);
    free(file);
}

static void a_bad_recorder_leaves_its_neighbour_usable(void **state)
{
    scratch *s = *state;
    char *file = scratch_path(s, "both.so");
    rec_context *context = context_new();
    make(s->path, "both.so", "-DSECOND='\"Other\"' -DMORE='.load=0'");
    assert_int_equal(rec_context_add_plugin_path(context, s->path), REC_OK);
    assert_refused(context, file, "Good", "it can neither load nor save");
    assert_string_equal(file_of(context, "Other"), file);
    rec_context_free(context);
    free(file);
}

static void a_larger_descriptor_is_cut_to_what_is_known(void **state)
{
    scratch *s = *state;
    char *file = scratch_path(s, "large.so");
    rec_context *context = context_new();
    rec_job job;
    const lr_plugin *plugin;
    make(s->path, "large.so", "-DMORE='.size=sizeof(larger)'");
    assert_int_equal(rec_context_add_plugin_path(context, s->path), REC_OK);
    lr_job_begin(&job, context, "open", NULL);
    plugin = lr_registry_find(&job, "Good");
    assert_int_equal(lr_job_end(&job), REC_OK);
    assert_int_equal(plugin->d.size, sizeof(rec_plugin) + 32);
    assert_string_equal(plugin->d.description, "a test");
    rec_context_free(context);
    free(file);
}

static void folders_count_in_order_and_none_twice(void **state)
{
    scratch *s = *state;
    char *first = scratch_folder(s, "first"), *second = scratch_folder(s, "second");
    char *third = scratch_folder(s, "third"), *fourth = scratch_folder(s, "fourth");
    char *link = scratch_path(s, "link"), *paths = NULL, *ini = NULL, *text = NULL, *file = NULL, *expected = NULL;
    rec_context *context;
    make(first, "a.so", "");
    make(second, "a.so", "");
    make(third, "a.so", "");
    make(fourth, "b.so", "-DNAME='\"Fourth\"'");
    assert_int_equal(symlink(third, link), 0);
    assert_true(asprintf(&paths, "%s::%s:%s", third, link, third) > 0);
    assert_true(asprintf(&text, "[librecord]\nplugin_path = %s:%s\n", fourth, third) > 0);
    ini = scratch_text(s, "app.ini", text);
    (void)setenv("LIBRECORD_PLUGIN_PATH", paths, 1);
    context = rec_config_open(ini);
    assert_non_null(context);

    assert_true(asprintf(&file, "%s/a.so", third) > 0);
    assert_string_equal(file_of(context, "Good"), file);
    assert_null(info_of(context, file, 1));
    assert_string_equal(strrchr(file_of(context, "Fourth"), '/'), "/b.so");

    /* Added later, but in front; what was found before stays valid. */
    const rec_plugin_info *old = info_of(context, file, 0);
    assert_int_equal(rec_context_add_plugin_path(context, second), REC_OK);
    assert_int_equal(rec_context_add_plugin_path(context, first), REC_OK);
    assert_true(asprintf(&expected, "%s/a.so", first) > 0);
    assert_string_equal(file_of(context, "Good"), expected);
    assert_string_equal(old->file, file);
    assert_int_equal(old->usable, 1);
    free(text);
    assert_true(asprintf(&text, "all of it: Good of %s", expected) > 0);
    assert_string_equal(info_of(context, file, 0)->hidden, text);
    assert_int_equal(info_of(context, file, 0)->usable, 1);

    rec_context_free(context);
    free(expected);
    free(file);
    free(text);
    free(ini);
    free(paths);
    free(link);
    free(fourth);
    free(third);
    free(second);
    free(first);
}

/* ---------------------------------------------------------------------------------------------------- bad ones -- */

static const struct {
    const char *flags, *name, *reason;
} bad[] = {
    {"-DMORE='.abi=3'", "bad", "its ABI is 3, this is librecord " RELEASE " with ABI 1"},
    {"-DMORE='.abi=0,.size=0,.name=0'", "bad", "its ABI is 0, this is librecord " RELEASE " with ABI 1"},
    {"-DNAME=0", "bad", "it has no name"},
    {"-DNAME='\"\"'", "bad", "\"\" is not a name: 1 to 64 letters, digits, \".\", \"_\" and \"-\" are allowed"},
    {"-DNAME='\"no name\"'", "bad",
     "\"no name\" is not a name: 1 to 64 letters, digits, \".\", \"_\" and \"-\" are allowed"},
    {"-DNAME='\"\\377\"'", "bad",
     "\"(not UTF-8)\" is not a name: 1 to 64 letters, digits, \".\", \"_\" and \"-\" are allowed"},
    {"-DNAME='\"auto\"'", "bad", "the name \"auto\" belongs to librecord itself"},
    {"-DALIASES='(const char *const[]){\"ok\",\"../x\",0}'", "bad",
     "\"../x\" is not a name: 1 to 64 letters, digits, \".\", \"_\" and \"-\" are allowed"},
    {"-DALIASES='(const char *const[99]){[0 ... 97]=\"again\"}'", "bad",
     "it has more than 64 aliases, or no NULL after the last"},
    {"-DMORE='.description=0'", "Good", "it has no description of one line"},
    {"-DMORE='.description=\"two\\nlines\"'", "Good", "it has no description of one line"},
    {"-DMORE='.extension=\"\"'", "Good", "its extension is not 1 to 32 letters and digits, with dots inside"},
    {"-DMORE='.extension=\".x\"'", "Good", "its extension is not 1 to 32 letters and digits, with dots inside"},
    {"-DMORE='.extension=\"a/b\"'", "Good", "its extension is not 1 to 32 letters and digits, with dots inside"},
    {"-DMORE='.burn_name=\"\\033[31m\"'", "Good", "its burn_name is not one line of text"},
    {"-DMORE='.traits=5u<<20'", "Good", "it has traits that librecord " RELEASE " does not know (0x500000)"},
    {"-DMORE='.adapter=\"a b\"'", "Good", "its adapter is not a name of 1 to 64 letters, digits, -, _ and ."},
    {"-DMORE='.load=0'", "Good", "it can neither load nor save"},
    {"-DEMPTY=bad_LTX_librecord_plugins", "bad", "it holds no recorder"},
    {"-DEMPTY=good_LTX_librecord_plugins", "bad",
     "it exports neither librecord_plugins nor bad_LTX_librecord_plugins: was it renamed?"},
    {"-DCALL=rec_no_such_function", "bad", "undefined symbol: rec_no_such_function"},
};

static void each_bad_plugin_is_refused_with_its_reason(void **state)
{
    scratch *s = *state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char number[16];
        char *folder, *file;
        rec_context *context = context_new();
        (void)snprintf(number, sizeof number, "%zu", i);
        folder = scratch_folder(s, number);
        assert_true(asprintf(&file, "%s/bad.so", folder) > 0);
        make(folder, "bad.so", bad[i].flags);
        assert_int_equal(rec_context_add_plugin_path(context, folder), REC_OK);
        assert_refused(context, file, bad[i].name, bad[i].reason);
        rec_context_free(context);
        free(file);
        free(folder);
    }
}

static void a_descriptor_of_an_impossible_size_is_refused(void **state)
{
    static const size_t sizes[] = {0, offsetof(rec_plugin, save), sizeof(rec_plugin) + 2, 1u << 31};
    scratch *s = *state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        char flags[64], *name, *folder, *file, *reason;
        rec_context *context = context_new();
        assert_true(asprintf(&name, "%zu", i) > 0);
        folder = scratch_folder(s, name);
        assert_true(asprintf(&file, "%s/bad.so", folder) > 0);
        (void)snprintf(flags, sizeof flags, "-DMORE='.size=%zuu'", sizes[i]);
        make(folder, "bad.so", flags);
        assert_int_equal(rec_context_add_plugin_path(context, folder), REC_OK);
        assert_true(asprintf(&reason, "the size of its descriptor is %zu; %zu to 4096 in steps of %zu are possible",
                             sizes[i], offsetof(rec_plugin, save) + sizeof(void *), _Alignof(rec_plugin)) > 0);
        assert_refused(context, file, "bad", reason);
        rec_context_free(context);
        free(reason);
        free(file);
        free(folder);
        free(name);
    }
}

/* Plugins made before `adapter` was appended. */
static void a_descriptor_of_the_first_size_is_as_good(void **state)
{
    scratch *s = *state;
    rec_context *context = context_new();
    const lr_plugin *plugin;
    rec_job job;
    char flags[96];
    (void)snprintf(flags, sizeof flags, "-DMORE='.size=%zu,.adapter=\"x\"'",
                   offsetof(rec_plugin, save) + sizeof(void *));
    make(s->path, "old.so", flags);
    assert_int_equal(rec_context_add_plugin_path(context, s->path), REC_OK);
    lr_job_begin(&job, context, "open", NULL);
    plugin = lr_registry_find(&job, "Good");
    assert_int_equal(lr_job_end(&job), REC_OK);
    assert_non_null(plugin);
    assert_null(plugin->d.adapter); /* what lies behind its end is not looked at */
    rec_context_free(context);
}

static const struct {
    const char *option, *reason;
} bad_options[] = {
    {".type=REC_OPTION_TEXT", "\"\" cannot name an option: 1 to 64 of a-z, 0-9, \"_\" and \"-\" are allowed"},
    {".type=REC_OPTION_TEXT,.name=\"Level\"",
     "\"Level\" cannot name an option: 1 to 64 of a-z, 0-9, \"_\" and \"-\" are allowed"},
    {".type=REC_OPTION_TEXT,.name=\"plugin\",.initial=\"\"", "the option \"plugin\" belongs to librecord itself"},
    {".type=REC_OPTION_TEXT,.name=\"clamp\",.initial=\"\"", "the option \"clamp\" belongs to librecord itself"},
    {".type=REC_OPTION_TEXT,.name=\"level\",.initial=\"\"", "it has the option \"level\" twice"},
    {".type=REC_OPTION_TEXT,.name=\"x\",.initial=\"\",.help=0", "its option \"x\" has no line of help"},
    {".type=REC_OPTION_TEXT,.name=\"x\"", "its option \"x\" has no default"},
    {".type=9,.name=\"x\",.initial=\"\"", "its option \"x\" has the unknown type 9"},
    {".type=REC_OPTION_BOOL,.name=\"x\",.initial=\"maybe\"",
     "the default \"maybe\" of its option \"x\" is not yes or no"},
    {".type=REC_OPTION_INT,.name=\"x\",.initial=\"10\",.maximum=9",
     "the default \"10\" of its option \"x\" is not a whole number from 0 to 9"},
    {".type=REC_OPTION_INT,.name=\"x\",.initial=\"-\"",
     "the default \"-\" of its option \"x\" is not a whole number from 0 to 0"},
    {".type=REC_OPTION_INT,.name=\"x\",.initial=\"99999999999999999999\",.maximum=9",
     "the default \"99999999999999999999\" of its option \"x\" is not a whole number from 0 to 9"},
    {".type=REC_OPTION_FLOAT,.name=\"x\",.initial=\"0,5\"", "the default \"0,5\" of its option \"x\" is not a number"},
    {".type=REC_OPTION_FLOAT,.name=\"x\",.initial=\".\"", "the default \".\" of its option \"x\" is not a number"},
    {".type=REC_OPTION_FLOAT,.name=\"x\",.initial=\"1e\"", "the default \"1e\" of its option \"x\" is not a number"},
    {".type=REC_OPTION_CHOICE,.name=\"x\",.initial=\"a\"", "the choices of its option \"x\" are not 1 to 64 words"},
    {".type=REC_OPTION_CHOICE,.name=\"x\",.initial=\"a\",.choices=(const char *const[]){\"b\",\"c\",0}",
     "the default \"a\" of its option \"x\" is not one of b, c"},
    {".type=REC_OPTION_CHOICE,.name=\"x\",.initial=\"a\",.choices=(const char *const[]){\"b\",\"\",0}",
     "the choices of its option \"x\" are not 1 to 64 words"},
};

static void each_bad_option_is_refused_with_its_reason(void **state)
{
    scratch *s = *state;
    for (size_t i = 0; i < sizeof bad_options / sizeof bad_options[0]; i++) {
        char number[16];
        char *folder, *file, *flags;
        rec_context *context = context_new();
        (void)snprintf(number, sizeof number, "%zu", i);
        folder = scratch_folder(s, number);
        assert_true(asprintf(&file, "%s/bad.so", folder) > 0);
        assert_true(asprintf(&flags, "-DOPTION='%s' -DMORE='.options=(const rec_option *const[]){&level,&option,0}'",
                             bad_options[i].option) > 0);
        make(folder, "bad.so", flags);
        assert_int_equal(rec_context_add_plugin_path(context, folder), REC_OK);
        assert_refused(context, file, "Good", bad_options[i].reason);
        rec_context_free(context);
        free(flags);
        free(file);
        free(folder);
    }
}

static void good_floats_and_ints_are_taken_as_defaults(void **state)
{
    static const char *const options[] = {
        ".type=REC_OPTION_FLOAT,.name=\"x\",.initial=\"-1.5e-3\"", ".type=REC_OPTION_FLOAT,.name=\"x\",.initial=\".5\"",
        ".type=REC_OPTION_FLOAT,.name=\"x\",.initial=\"5.\"",
        ".type=REC_OPTION_INT,.name=\"x\",.initial=\"-9223372036854775808\",.minimum=INT64_MIN"};
    scratch *s = *state;
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        char number[16];
        char *folder, *flags;
        rec_context *context = context_new();
        (void)snprintf(number, sizeof number, "%zu", i);
        folder = scratch_folder(s, number);
        assert_true(
            asprintf(&flags, "-DOPTION='%s' -DMORE='.options=(const rec_option *const[]){&option,0}'", options[i]) > 0);
        make(folder, "good.so", flags);
        assert_int_equal(rec_context_add_plugin_path(context, folder), REC_OK);
        assert_true(strncmp(file_of(context, "Good"), folder, strlen(folder)) == 0);
        rec_context_free(context);
        free(flags);
        free(folder);
    }
}

static void of_two_plugins_of_a_name_or_alias_the_first_has_it_and_the_other_says_so(void **state)
{
    scratch *s = *state;
    char *first = scratch_path(s, "a.so"), *second = scratch_path(s, "b.so"), *third = scratch_path(s, "c.so");
    char *hidden = NULL;
    rec_context *context = context_new();
    make(s->path, "a.so", "-DALIASES='(const char *const[]){\"x-y\",0}'");
    make(s->path, "b.so", "-DNAME='\"go.od\"'");
    make(s->path, "c.so", "-DNAME='\"Third\"' -DALIASES='(const char *const[]){\"free\",\"XY\",0}'");
    assert_int_equal(rec_context_add_plugin_path(context, s->path), REC_OK);
    assert_string_equal(info_of(context, first, 0)->hidden, "");
    assert_true(asprintf(&hidden, "all of it: Good of %s", first) > 0);
    assert_string_equal(info_of(context, second, 0)->hidden, hidden);
    free(hidden);
    assert_true(asprintf(&hidden, "the name XY: Good of %s", first) > 0);
    assert_string_equal(info_of(context, third, 0)->hidden, hidden);
    assert_string_equal(file_of(context, "Good"), first);
    assert_string_equal(file_of(context, "xy"), first);
    assert_string_equal(file_of(context, "free"), third);
    rec_context_free(context);
    free(hidden);
    free(third);
    free(second);
    free(first);
}

static void files_that_are_no_plugins_are_refused_or_passed_over(void **state)
{
    scratch *s = *state;
    char *text =
        scratch_text(s, "text.so", "this is no shared object, only its name says so; long enough for a header?");
    char *empty = scratch_text(s, "empty.so", "");
    static const char header[] = "\177ELF cut_LTX_librecord_plugins"; /* and the NUL after it */
    char *cut = scratch_write(s, "cut.so", header, sizeof header);
    static const char name[2048] = "a text that has the name librecord_plugins"; /* and NULs after it */
    char *named = scratch_write(s, "named.so", name, sizeof name);
    char *upper = scratch_text(s, "Upper.so", "");
    char *dots = scratch_text(s, "a.b.so", "");
    char *folder = scratch_folder(s, "folder.so");
    char *other = scratch_text(s, "readme.txt", ""), *archive = scratch_text(s, "mpk.la", "");
    char *versioned = scratch_text(s, "mpk.so.1", "");
    rec_context *context = context_new();
    const char *charset = "its name may have a-z, 0-9, \"_\" and \"-\" before the .so";
    assert_int_equal(rec_context_add_plugin_path(context, s->path), REC_OK);
    assert_refused(context, text, "text", "it is not a plugin: it does not export librecord_plugins");
    assert_refused(context, empty, "empty", "it is not a plugin: it does not export librecord_plugins");
    assert_refused(context, cut, "cut", "file too short");
    assert_refused(context, named, "named", "invalid ELF header");
    assert_refused(context, upper, "Upper", charset);
    assert_refused(context, dots, "a.b", charset);
    assert_refused(context, folder, "folder", "it is not a regular file");
    assert_null(info_of(context, other, 0));
    assert_null(info_of(context, archive, 0));
    assert_null(info_of(context, versioned, 0));
    rec_context_free(context);
    free(versioned);
    free(archive);
    free(other);
    free(folder);
    free(dots);
    free(upper);
    free(named);
    free(cut);
    free(empty);
    free(text);
}

static void the_code_of_what_is_no_plugin_does_not_run(void **state)
{
    scratch *s = *state;
    char *file = scratch_path(s, "other.so");
    rec_context *context = context_new();
    (void)unsetenv("LIBRECORD_TEST_MARK");
    make(s->path, "other.so", "-DEMPTY=other_plugins -DMARK='\"LIBRECORD_TEST_MARK\"'");
    make(s->path, "plugin.so", "");
    assert_int_equal(rec_context_add_plugin_path(context, s->path), REC_OK);
    assert_refused(context, file, "other", "it is not a plugin: it does not export librecord_plugins");
    assert_null(getenv("LIBRECORD_TEST_MARK"));
    make(s->path, "other.so", "-DNAME='\"Other\"' -DMARK='\"LIBRECORD_TEST_MARK\"'");
    assert_int_equal(rec_context_add_plugin_path(context, s->path), REC_OK);
    assert_string_equal(file_of(context, "Other"), file);
    assert_non_null(getenv("LIBRECORD_TEST_MARK")); /* it would have been seen */
    rec_context_free(context);
    free(file);
}

/* ------------------------------------------------------------------------------------------------------ safety -- */

/* A plugin of mode `mode` in a directory of mode `folder_mode`: the reason, or "" if it is usable. To be freed. */
static char *with_modes(scratch *s, mode_t folder_mode, mode_t mode)
{
    static int number;
    char name[32], *folder, *file, *reason;
    rec_context *context = context_new();
    (void)snprintf(name, sizeof name, "modes-%d", number++);
    folder = scratch_folder(s, name);
    assert_true(asprintf(&file, "%s/evil.so", folder) > 0);
    make(folder, "evil.so", "");
    assert_int_equal(chmod(file, mode) | chmod(folder, folder_mode), 0);
    (void)setenv("LIBRECORD_PLUGIN_PATH", folder, 1);
    reason = strdup(info_of(context, file, 0)->refused);
    rec_context_free(context);
    free(file);
    free(folder);
    return reason;
}

static void what_others_may_change_is_not_opened(void **state)
{
    static const struct {
        mode_t folder, file;
        const char *reason;
    } modes[] = {
        {0755, 0644, ""},
        {0700, 0600, ""},
        {0555, 0444, ""},
        {0757, 0644, "the directory is writable by others"},
        {01777, 0644, "the directory is writable by others"},
        {0775, 0644, "the directory is writable by its group"},
        {0755, 0646, "the file is writable by others"},
        {0755, 0664, "the file is writable by its group"},
    };
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        char *reason = with_modes(*state, modes[i].folder, modes[i].file);
        assert_string_equal(reason, modes[i].reason);
        free(reason);
    }
}

static void what_belongs_to_another_user_is_not_opened(void **state)
{
    scratch *s = *state;
    char *folder = scratch_folder(s, "theirs"), *own = scratch_folder(s, "own");
    char *in_theirs = scratch_path(s, "theirs/a.so"), *in_own = scratch_path(s, "own/b.so"), *paths = NULL;
    rec_context *context = context_new();
    if (geteuid() != 0) {
        print_message("# needs root to give files away: the owner's check is not tested\n");
    } else {
        make(folder, "a.so", "");
        make(own, "b.so", "");
        assert_int_equal(chown(folder, 12345, 0) | chown(in_own, 12345, 0), 0);
        assert_true(asprintf(&paths, "%s:%s", folder, own) > 0);
        (void)setenv("LIBRECORD_PLUGIN_PATH", paths, 1);
        assert_refused(context, in_theirs, "a",
                       "the directory belongs to user 12345, neither root nor the one who runs this program");
        assert_refused(context, in_own, "b",
                       "the file belongs to user 12345, neither root nor the one who runs this program");
    }
    rec_context_free(context);
    free(paths);
    free(in_own);
    free(in_theirs);
    free(own);
    free(folder);
}

static void a_link_is_as_safe_as_the_folder_it_leads_to(void **state)
{
    scratch *s = *state;
    char *plugins = scratch_folder(s, "plugins"), *safe = scratch_folder(s, "safe"), *open = scratch_folder(s, "open");
    char *first = scratch_path(s, "plugins/a.so"), *second = scratch_path(s, "plugins/b.so");
    char *third = scratch_path(s, "plugins/c.so");
    rec_context *context = context_new();
    make(safe, "real.so", "-DMODULE=a");
    make(open, "real.so", "-DMODULE=b");
    assert_int_equal(chmod(open, 0777), 0);
    assert_int_equal(symlink("../safe/real.so", first), 0);
    assert_int_equal(symlink("../open/real.so", second), 0);
    assert_int_equal(symlink("../nowhere.so", third), 0);
    (void)setenv("LIBRECORD_PLUGIN_PATH", plugins, 1);
    assert_int_equal(info_of(context, first, 0)->usable, 1);
    assert_refused(context, second, "b", "the directory that the link leads to is writable by others");
    assert_refused(context, third, "c", "cannot follow the link: No such file or directory");
    rec_context_free(context);
    free(third);
    free(second);
    free(first);
    free(open);
    free(safe);
    free(plugins);
}

static void folders_that_cannot_be_used_have_a_line(void **state)
{
    scratch *s = *state;
    char *missing = scratch_path(s, "missing"), *file = scratch_text(s, "file", "");
    char *empty = scratch_folder(s, "empty"), *crowd = scratch_folder(s, "crowd"), *paths = NULL;
    rec_context *context = context_new();
    for (int i = 0; i <= 256; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "crowd/lib%d.so", i);
        free(scratch_text(s, name, ""));
    }
    assert_int_equal(chmod(empty, 0777), 0);
    assert_true(asprintf(&paths, "plugins:%s:%s:%s:%s", missing, file, empty, crowd) > 0);
    (void)setenv("LIBRECORD_PLUGIN_PATH", paths, 1);
    assert_refused(context, "plugins", "plugins", "the directory's path is not absolute");
    assert_refused(context, missing, "missing", "there is no such directory");
    assert_refused(context, file, "file", "it is not a directory");
    assert_refused(context, empty, "empty", "the directory is writable by others");
    assert_refused(context, crowd, "crowd",
                   "the directory has more than 256 shared objects: it is not a directory of plugins");
    assert_int_equal(rec_context_add_plugin_path(context, "plugins"), REC_E_ARGUMENT);
    assert_string_equal(rec_error_message(), "the plugin directory \"plugins\" is not an absolute path");
    assert_int_equal(rec_context_add_plugin_path(context, ""), REC_E_ARGUMENT);
    assert_int_equal(rec_context_add_plugin_path(context, NULL), REC_E_ARGUMENT);
    rec_context_free(context);
    free(paths);
    free(crowd);
    free(empty);
    free(file);
    free(missing);
}

/* What a call finds on the stack that says nothing of its own. */
static void leave_words_behind(void)
{
    volatile char words[32768];
    for (size_t i = 0; i < sizeof words; i++) {
        words[i] = 'x';
    }
}

static void the_switch_narrows_and_the_environment_narrows_it_further(void **state)
{
    scratch *s = *state;
    char *added = scratch_folder(s, "added");
    rec_context *context = context_new();
    make(added, "a.so", "-DNAME='\"Added\"'");
    make(s->path, "b.so", "-DNAME='\"Variable\"'");
    (void)setenv("LIBRECORD_PLUGIN_PATH", s->path, 1);
    assert_int_equal(rec_context_add_plugin_path(context, added), REC_OK);
    assert_string_not_equal(file_of(context, "Added"), "");
    assert_string_not_equal(file_of(context, "Variable"), "");

    assert_int_equal(rec_context_set_plugins(context, REC_PLUGINS_INSTALLED), REC_OK);
    assert_string_equal(file_of(context, "Added"), "");
    assert_string_equal(file_of(context, "Variable"), "");
    assert_non_null(strstr(rec_error_hint(), "The context opens installed plugins only."));

    assert_int_equal(rec_context_set_plugins(context, REC_PLUGINS_NONE), REC_OK);
    assert_int_equal(rec_plugin_count(context), 0);
    assert_string_equal(file_of(context, "Added"), "");
    assert_string_equal(rec_error_message(), "no recorder is called \"Added\"\n"
                                             "  No directory was searched for plugins.\n"
                                             "  The context opens no plugins.");
    leave_words_behind();
    assert_string_equal(file_of(context, "Added.gone"), "");
    assert_string_equal(rec_error_message(), "no recorder is called \"Added.gone\"\n"
                                             "  No directory was searched for plugins.\n"
                                             "  The context opens no plugins."); /* and names no codecs */
    (void)setenv("LIBRECORD_PLUGINS", "all", 1);
    assert_int_equal(rec_context_set_plugins(context, REC_PLUGINS_NONE), REC_OK);
    assert_int_equal(rec_plugin_count(context), 0);
    assert_int_equal(rec_context_set_plugins(context, REC_PLUGINS_ALL), REC_OK);
    assert_string_not_equal(file_of(context, "Added"), "");

    (void)setenv("LIBRECORD_PLUGINS", "installed", 1);
    assert_int_equal(rec_context_set_plugins(context, REC_PLUGINS_ALL), REC_OK);
    assert_string_equal(file_of(context, "Variable"), "");
    assert_non_null(strstr(rec_error_hint(), "LIBRECORD_PLUGINS=installed keeps others out."));
    (void)setenv("LIBRECORD_PLUGINS", "none", 1);
    assert_int_equal(rec_context_set_plugins(context, REC_PLUGINS_ALL), REC_OK);
    assert_int_equal(rec_plugin_count(context), 0);
    assert_string_equal(file_of(context, "Added"), "");
    assert_string_equal(rec_error_hint(), "No directory was searched for plugins.\n"
                                          "LIBRECORD_PLUGINS=none keeps all of them out.");

    (void)setenv("LIBRECORD_PLUGINS", "nome", 1);
    assert_int_equal(rec_context_set_plugins(context, REC_PLUGINS_ALL), REC_OK);
    assert_int_equal(rec_plugin_count(context), 0);
    assert_int_equal(rec_error_status(), REC_E_CONFIG);
    assert_string_equal(rec_error_message(), "the environment variable LIBRECORD_PLUGINS is \"nome\"\n"
                                             "  It may be all, installed or none.");
    (void)unsetenv("LIBRECORD_PLUGINS");
    assert_string_not_equal(file_of(context, "Added"), "");
    assert_int_equal(rec_context_set_plugins(context, 3), REC_E_ARGUMENT);
    rec_context_free(context);
    free(added);
}

/* ---------------------------------------------------------------------------------------------------- look-ups -- */

static void a_name_that_nothing_has_is_answered_with_those_there_are(void **state)
{
    scratch *s = *state;
    char *ini = scratch_text(s, "app.ini", "[recorder my-llama]\nplugin = Zebra\n");
    rec_context *context = rec_config_open(ini);
    make(s->path, "z.so", "-DNAME='\"ZebraMpk\"' -DALIASES='(const char *const[]){\"striped\",0}'");
    assert_int_equal(rec_context_add_plugin_path(context, s->path), REC_OK);
    assert_string_equal(file_of(context, "ZebraMpq"), "");
    assert_int_equal(rec_error_status(), REC_E_NOT_FOUND);
    assert_true(strncmp(rec_error_message(),
                        "no recorder is called \"ZebraMpq\"\n"
                        "  Did you mean \"ZebraMpk\"?\n"
                        "  Known: my-llama, ZebraMpk",
                        strlen("no recorder is called \"ZebraMpq\"\n"
                               "  Did you mean \"ZebraMpk\"?\n"
                               "  Known: my-llama, ZebraMpk")) == 0);
    (void)file_of(context, "stirped");
    assert_true(strncmp(rec_error_hint(), "Did you mean \"striped\"?\n", 24) == 0);
    (void)file_of(context, "my-lama");
    assert_true(strncmp(rec_error_hint(), "Did you mean \"my-llama\"?\n", 25) == 0);
    (void)file_of(context, "something else");
    assert_true(strncmp(rec_error_hint(), "Known: my-llama, ZebraMpk", 25) == 0);
    (void)file_of(context, "");
    assert_true(strncmp(rec_error_message(), "no recorder is called \"\"\n", 25) == 0);
    assert_int_equal(rec_error_status(), REC_E_NOT_FOUND);
    rec_context_free(context);
    free(ini);
}

static void a_refused_plugin_says_so_when_it_is_asked_for(void **state)
{
    scratch *s = *state;
    char *file = scratch_path(s, "evil-one.so"), *expected = NULL;
    rec_context *context = context_new();
    make(s->path, "evil-one.so", "-DMORE='.abi=3'");
    assert_int_equal(rec_context_add_plugin_path(context, s->path), REC_OK);
    assert_string_equal(file_of(context, "EvilOne"), "");
    assert_true(
        asprintf(&expected,
                 "the recorder \"EvilOne\" cannot be used: %s was rejected: its ABI is 3, this is librecord " RELEASE
                 " with ABI 1",
                 file) > 0);
    assert_string_equal(rec_error_message(), expected);
    assert_int_equal(rec_error_status(), REC_E_PLUGIN);
    free(expected);
    assert_string_equal(file_of(context, "nothing-like-it"), "");
    assert_int_equal(rec_error_status(), REC_E_NOT_FOUND);
    assert_true(asprintf(&expected, "Refused: %s: its ABI is 3, this is librecord " RELEASE " with ABI 1.", file) > 0);
    assert_non_null(strstr(rec_error_hint(), expected));
    rec_context_free(context);
    free(expected);
    free(file);
}

static const char *recognised(rec_context *context, const char *path)
{
    static const rec_head head = {.size = sizeof head, .data = (const uint8_t *)"x", .length = 1, .total = 1};
    rec_job job;
    const lr_plugin *plugin;
    lr_job_begin(&job, context, "recognise", NULL);
    plugin = lr_registry_recognise(&job, &head, path);
    assert_int_equal(lr_job_end(&job), REC_OK);
    return plugin ? plugin->d.name : "";
}

static void folders_are_shown_to_those_that_read_them(void **state)
{
    scratch *s = *state;
    static const char *const files[] = {"a"};
    const rec_head head = {.size = sizeof head, .data = (const uint8_t *)"", .names = files, .name_count = 1};
    rec_context *context = context_new();
    const lr_plugin *plugin;
    rec_job job;
    char names[32];
    make(s->path, "a.so", "-DNAME='\"A\"' -DBITS=2000");
    make(s->path, "b.so", "-DNAME='\"B\"' -DBITS=1 -DMORE='.traits=REC_TRAIT_FOLDER'");
    make(s->path, "c.so", "-DNAME='\"C\"' -DBITS=0 -DMORE='.traits=REC_TRAIT_FOLDER'");
    assert_int_equal(rec_context_add_plugin_path(context, s->path), REC_OK);
    lr_job_begin(&job, context, "recognise", NULL);
    plugin = lr_registry_recognise(&job, &head, "a");
    assert_non_null(plugin);
    assert_string_equal(plugin->d.name, "B");
    assert_true(lr_registry_folder_names(&job, names, sizeof names));
    assert_non_null(strstr(names, "B, C"));
    assert_int_equal(lr_job_end(&job), REC_OK);
    rec_context_free(context);
}

static const char *by_extension(rec_context *context, const char *path)
{
    rec_job job;
    const lr_plugin *plugin;
    lr_job_begin(&job, context, "open", NULL);
    plugin = lr_registry_by_extension(&job, path, LR_CAN_ANY);
    assert_int_equal(lr_job_end(&job), REC_OK);
    return plugin ? plugin->d.name : "";
}

static void the_surest_plugin_wins_and_the_extension_decides_a_draw(void **state)
{
    scratch *s = *state;
    rec_context *context = context_new();
    make(s->path, "a.so", "-DNAME='\"A\"' -DBITS=2000 -DMORE='.extension=\"zza\"'"); /* which counts as 32 */
    make(s->path, "b.so", "-DNAME='\"B\"' -DBITS=32 -DMORE='.extension=\"zzb\"'");
    make(s->path, "c.so", "-DNAME='\"C\"' -DBITS=31 -DMORE='.extension=\"zzc\"'");
    make(s->path, "d.so", "-DNAME='\"D\"' -DBITS=-5 -DMORE='.extension=\"zzd\"'");
    assert_int_equal(rec_context_add_plugin_path(context, s->path), REC_OK);
    assert_string_equal(recognised(context, "x.zzc"), "A");
    assert_string_equal(recognised(context, "x.zzb"), "B");
    assert_string_equal(recognised(context, NULL), "A");
    rec_context_free(context);
}

static void the_longest_extension_counts(void **state)
{
    scratch *s = *state;
    rec_context *context = context_new();
    make(s->path, "a.so", "-DNAME='\"A\"' -DMORE='.extension=\"zzq\"'");
    make(s->path, "b.so", "-DNAME='\"B\"' -DMORE='.extension=\"zzp.zzq\"'");
    make(s->path, "c.so", "-DNAME='\"C\"' -DMORE='.extension=0'");
    assert_int_equal(rec_context_add_plugin_path(context, s->path), REC_OK);
    assert_string_equal(by_extension(context, "run.1.zzq"), "A");
    assert_string_equal(by_extension(context, "run.zzp.zzq"), "B");
    assert_string_equal(by_extension(context, "RUN.ZZP.ZZQ"), "");
    assert_string_equal(by_extension(context, "zzp.zzq"), "A");
    assert_string_equal(by_extension(context, "runzzq"), "");
    assert_string_equal(by_extension(context, "dir.zzq/run"), "");
    assert_string_equal(by_extension(context, "dir/.zzq"), "");
    assert_string_equal(by_extension(context, "zzq"), "");
    rec_context_free(context);
}

/* -------------------------------------------------------------------------------------------------- hard times -- */

enum { THREADS = 16 };

/** What threads share. */
typedef struct crowd {
    pthread_barrier_t barrier;
    rec_context *shared;
    const char *folder;
} crowd;

static void *look(void *user)
{
    crowd *c = user;
    rec_context *own = rec_context_new(NULL);
    const char *bad_result = NULL;
    (void)pthread_barrier_wait(&c->barrier);
    if (!own || rec_context_add_plugin_path(own, c->folder) != REC_OK || !*file_of(own, "Good")) {
        bad_result = "own";
    }
    for (int i = 0; i < 100; i++) {
        if (!*file_of(c->shared, "Good") || *file_of(c->shared, "Better") || rec_plugin_count(c->shared) < 2) {
            bad_result = "shared";
        }
    }
    rec_context_free(own);
    return (void *)(uintptr_t)bad_result;
}

static void many_threads_open_the_same_folders_at_once(void **state)
{
    scratch *s = *state;
    pthread_t threads[THREADS];
    crowd c = {.shared = context_new(), .folder = s->path};
    make(s->path, "a.so", "");
    make(s->path, "b.so", "-DNAME='\"Other\"'");
    assert_int_equal(rec_context_add_plugin_path(c.shared, s->path), REC_OK);
    assert_int_equal(pthread_barrier_init(&c.barrier, NULL, THREADS), 0);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, look, &c), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        void *result = NULL;
        assert_int_equal(pthread_join(threads[i], &result), 0);
        assert_null(result);
    }
    (void)pthread_barrier_destroy(&c.barrier);
    rec_context_free(c.shared);
}

/** Fails allocation number `fail_at`, counts what is not given back. */
typedef struct poor {
    long at, fail_at, live;
} poor;

static void *poor_alloc(void *user, size_t size)
{
    poor *p = user;
    void *memory = p->at++ == p->fail_at ? NULL : malloc(size);
    p->live += memory != NULL;
    return memory;
}

static void *poor_resize(void *user, void *old, size_t size)
{
    poor *p = user;
    return p->at++ == p->fail_at ? NULL : realloc(old, size);
}

static void poor_release(void *user, void *memory)
{
    ((poor *)user)->live--;
    free(memory);
}

static void each_allocation_that_fails_is_an_error_and_the_next_look_up_works(void **state)
{
    scratch *s = *state;
    long failures = 0;
    bool whole = false;
    make(s->path, "a.so", "-DMORE='.options=(const rec_option *const[]){&level,&style,&quick,&title,0}'");
    make(s->path, "b.so", "-DNAME='\"Other\"' -DALIASES='(const char *const[]){\"x\",\"y\",0}'");
    make(s->path, "c.so", "-DMORE='.abi=7'");
    for (int i = 0; i < 20; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "text-%d.so", i);
        free(scratch_text(s, name, "no ELF"));
    }
    for (long i = 0; !whole; i++) {
        poor p = {.fail_at = -1};
        rec_allocator allocator = {sizeof allocator, 0, poor_alloc, poor_resize, poor_release, &p};
        rec_context *context = rec_context_new(&allocator);
        rec_status status;
        assert_non_null(context);
        p.at = 0;
        p.fail_at = i;
        status = rec_context_add_plugin_path(context, s->path);
        if (status == REC_OK) {
            whole = rec_plugin_count(context) > 0;
            assert_int_equal(rec_error_status(), whole ? REC_OK : REC_E_MEMORY);
            failures += !whole;
            p.fail_at = -1;
            assert_true(rec_plugin_count(context) >= 23);
            assert_string_not_equal(file_of(context, "Other"), "");
        } else {
            assert_int_equal(status, REC_E_MEMORY);
        }
        rec_context_free(context);
        assert_int_equal(p.live, 0);
    }
    assert_true(failures >= 4);
}

/** Allocations until the one that fails, negative: none does. After it, `lasting` says whether the others fail too. */
static _Thread_local long until_failure = -1;
static _Thread_local int lasting;

static int REC_MAYBE_UNUSED fails_now(void)
{
    if (until_failure < 0) {
        return 0;
    }
    if (until_failure > 0) {
        until_failure--;
        return 0;
    }
    until_failure = lasting ? 0 : -1;
    errno = ENOMEM;
    return 1;
}

/* libltdl, inih and the system's loader use malloc. */
#include "tests/failing_malloc.h"

#if REPLACES_MALLOC

/* In a process of its own, as libltdl's state is the process's. @return 0: done, 1: an allocation failed and all was
 * right; else the line of a failure. */
static int open_with_failure(const char *folder, const char *ini, long at, int last)
{
    rec_context *context;
    const rec_plugin_info *info = NULL;
    rec_status first, second;
    long left;
    (void)setenv("LIBRECORD_PLUGIN_PATH", folder, 1);
    lasting = last;
    until_failure = at;
    context = rec_config_open(ini);
    first = rec_error_status();
    left = until_failure;
    until_failure = -1;
    if (!context) {
        context = rec_config_open(ini);
        if (first != REC_E_MEMORY || !context) {
            return __LINE__ & 0xFF;
        }
        left = -1;
    }
    until_failure = left;
    (void)rec_plugin_count(context);
    second = rec_error_status();
    left = until_failure;
    until_failure = -1;
    if (second != REC_OK && second != REC_E_MEMORY) {
        return __LINE__ & 0xFF;
    }
    for (uint64_t i = 0; i < rec_plugin_count(context); i++) {
        info = rec_plugin_get(context, i);
        if (strcmp(info->name, "Good") == 0) {
            break;
        }
    }
    if (!info || !info->usable) { /* once memory is there again, so is the plugin */
        return __LINE__ & 0xFF;
    }
    rec_context_free(context);
    return left > 0 ? 0 : 1;
}

static void no_allocation_that_fails_in_a_dependency_does_harm(void **state)
{
    scratch *s = *state;
    char *folder = scratch_folder(s, "plugins");
    char *ini = scratch_text(s, "app.ini", "[librecord]\nrecorder = a\n[recorder a]\nplugin = Good\nlevel = 1\n");
    int failures = 0;
    make(folder, "good.so", "");
    for (int last = 0; last <= 1; last++) {
        for (long at = 0;; at++) {
            int status = 0;
            pid_t child = fork();
            assert_true(child >= 0);
            if (child == 0) {
                end_child(open_with_failure(folder, ini, at, last));
            }
            assert_int_equal(waitpid(child, &status, 0), child);
            if (!WIFEXITED(status) || WEXITSTATUS(status) > 1) {
                fail_msg("allocation %ld, lasting %d: status 0x%x", at, last, (unsigned)status);
            }
            if (WEXITSTATUS(status) == 0) {
                break;
            }
            failures++;
        }
    }
    assert_true(failures > 20);
    free(ini);
    free(folder);
}

#endif

/* ------------------------------------------------------------------------------------------------ static build -- */

static void a_static_library_has_its_plugins_built_in_and_opens_no_files(void **state)
{
    scratch *s = *state;
    rec_context *context = context_new();
    uint64_t count;
    char *message = NULL;
    (void)setenv("LIBRECORD_PLUGIN_PATH", s->path, 1);
    count = rec_plugin_count(context);
    assert_true(count >= 4);
    for (uint64_t i = 0; i + 1 < count; i++) {
        const rec_plugin_info *info = rec_plugin_get(context, i);
        assert_string_equal(info->refused, "");
        assert_string_equal(info->file, "built in");
    }
    assert_refused(context, s->path, strrchr(s->path, '/') + 1,
                   "this librecord is a static one, which opens no plugins");
    assert_string_equal(file_of(context, "NamedMpkGz"), "built in");
    assert_int_equal(rec_context_add_plugin_path(context, s->path), REC_E_UNSUPPORTED);
    assert_true(asprintf(&message, "the plugin directory %s: this librecord is a static one, which opens no plugins",
                         s->path) > 0);
    assert_string_equal(rec_error_message(), message);
    (void)setenv("LIBRECORD_PLUGINS", "none", 1);
    assert_int_equal(rec_context_set_plugins(context, REC_PLUGINS_ALL), REC_OK);
    assert_string_equal(file_of(context, "mpk"), "built in");
    rec_context_free(context);
    free(message);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(a_plugin_in_an_added_folder_is_there_by_all_its_names),
        TEST(one_file_may_hold_several_recorders),
        TEST(a_bad_recorder_leaves_its_neighbour_usable),
        TEST(a_larger_descriptor_is_cut_to_what_is_known),
        TEST(folders_count_in_order_and_none_twice),
        TEST(each_bad_plugin_is_refused_with_its_reason),
        TEST(a_descriptor_of_an_impossible_size_is_refused),
        TEST(a_descriptor_of_the_first_size_is_as_good),
        TEST(each_bad_option_is_refused_with_its_reason),
        TEST(good_floats_and_ints_are_taken_as_defaults),
        TEST(of_two_plugins_of_a_name_or_alias_the_first_has_it_and_the_other_says_so),
        TEST(files_that_are_no_plugins_are_refused_or_passed_over),
        TEST(the_code_of_what_is_no_plugin_does_not_run),
        TEST(what_others_may_change_is_not_opened),
        TEST(what_belongs_to_another_user_is_not_opened),
        TEST(a_link_is_as_safe_as_the_folder_it_leads_to),
        TEST(folders_that_cannot_be_used_have_a_line),
        TEST(the_switch_narrows_and_the_environment_narrows_it_further),
        TEST(a_name_that_nothing_has_is_answered_with_those_there_are),
        TEST(a_refused_plugin_says_so_when_it_is_asked_for),
        TEST(the_surest_plugin_wins_and_the_extension_decides_a_draw),
        TEST(folders_are_shown_to_those_that_read_them),
        TEST(the_longest_extension_counts),
        TEST(many_threads_open_the_same_folders_at_once),
        TEST(each_allocation_that_fails_is_an_error_and_the_next_look_up_works),
#if REPLACES_MALLOC
        TEST(no_allocation_that_fails_in_a_dependency_does_harm),
#endif
    };
    const struct CMUnitTest static_tests[] = {
        TEST(a_static_library_has_its_plugins_built_in_and_opens_no_files),
    };
    return lr_static_build() ? cmocka_run_group_tests_name("registry, static", static_tests, NULL, NULL)
                             : cmocka_run_group_tests_name("registry", tests, NULL, NULL);
}
