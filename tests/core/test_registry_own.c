/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The registry: plugins of the program's own, what rec_plugin_info says, and names, extensions and traits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/registry/open_private.h"
#include "tests/core/registry.h"

static int32_t load_nothing(rec_job *job, rec_source *source, const rec_visitor *visitor, void *self)
{
    (void)source;
    (void)visitor;
    (void)self;
    return rec_fail(job, REC_E_FORMAT, REC_UNKNOWN, "nothing is read here");
}

static int32_t save_nothing(rec_job *job, rec_sink *sink)
{
    return sink ? REC_OK : rec_fail(job, REC_E_FORMAT, REC_UNKNOWN, "nothing is written here");
}

static int32_t open_nothing(rec_job *job, const char *location, rec_source **out)
{
    *out = NULL;
    return rec_fail(job, REC_E_IO, REC_UNKNOWN, "%s is nowhere", location);
}

/* A descriptor that can be changed. */
static rec_plugin sample(const char *name)
{
    return (rec_plugin){.abi = REC_PLUGIN_ABI,
                        .size = sizeof(rec_plugin),
                        .name = name,
                        .description = "of the program's own",
                        .load = load_nothing,
                        .save = save_nothing};
}

/* ------------------------------------------------------------------------------------------- the program's own -- */

static void a_plugin_of_the_program_comes_before_those_of_files(void **state)
{
    scratch *s = *state;
    const char *aliases[] = {"great", NULL};
    rec_plugin good = sample("Good"), other = sample("Other");
    rec_context *context = context_new();
    char *file = scratch_path(s, "good.so");
    make(s->path, "good.so", "");
    good.aliases = aliases;
    assert_int_equal(rec_context_add_plugin_path(context, s->path), REC_OK);
    assert_string_equal(file_of(context, "Good"), file);
    assert_int_equal(rec_context_add_plugin(context, &good), REC_OK);
    assert_string_equal(file_of(context, "Good"), "the program");
    assert_string_equal(file_of(context, "GREAT"), "the program");
    assert_int_equal(rec_context_add_plugin(context, &other), REC_OK);
    assert_string_equal(rec_plugin_get(context, 0)->name, "Other"); /* the last that was added is the first */
    assert_string_equal(rec_plugin_get(context, 1)->name, "Good");
    /* No files are opened, and these are there all the same. */
    assert_int_equal(rec_context_set_plugins(context, REC_PLUGINS_NONE), REC_OK);
    assert_string_equal(file_of(context, "Good"), "the program");
    rec_context_free(context);
    free(file);
}

static void a_plugin_of_the_program_is_checked_as_a_file_is(void **state)
{
    const char *aliases[] = {"x-y", NULL}, *extensions[] = {"b", ".c", NULL};
    rec_plugin first = sample("First"), bad = sample("Bad"), same = sample("XY"), nameless = sample(NULL);
    rec_context *context = context_new();
    (void)state;
    first.aliases = aliases;
    assert_int_equal(rec_context_add_plugin(context, NULL), REC_E_ARGUMENT);
    assert_int_equal(rec_context_add_plugin(context, &first), REC_OK);
    assert_int_equal(rec_context_add_plugin(context, &same), REC_E_PLUGIN);
    assert_string_equal(rec_error_message(),
                        "the program's plugin XY was rejected: the name \"XY\" belongs to its plugin First already");
    assert_int_equal(rec_context_add_plugin(context, &first), REC_E_PLUGIN);
    assert_int_equal(rec_context_add_plugin(context, &nameless), REC_E_PLUGIN);
    assert_string_equal(rec_error_message(), "the program's plugin was rejected: it has no name");
    bad.abi = 2;
    assert_int_equal(rec_context_add_plugin(context, &bad), REC_E_PLUGIN);
    bad.abi = REC_PLUGIN_ABI;
    bad.extensions = extensions;
    assert_int_equal(rec_context_add_plugin(context, &bad), REC_E_PLUGIN);
    assert_string_equal(rec_error_message(),
                        "the program's plugin Bad was rejected: it has further extensions, but none "
                        "that is appended when it saves");
    bad.extension = "a";
    assert_int_equal(rec_context_add_plugin(context, &bad), REC_E_PLUGIN);
    assert_string_equal(rec_error_message(),
                        "the program's plugin Bad was rejected: further extension 2 is not 1 to 32 "
                        "letters and digits, with dots inside");
    extensions[1] = NULL;
    assert_int_equal(rec_context_add_plugin(context, &bad), REC_OK);
    rec_context_free(context);
}

/* ---------------------------------------------------------------------------------------------- what it can do -- */

static void what_a_plugin_can_do_is_told(void **state)
{
    const char *extensions[] = {"pth", "ckpt", NULL};
    const rec_option level = {.size = sizeof level,
                              .type = REC_OPTION_INT,
                              .name = "level",
                              .initial = "6",
                              .help = "how hard to try",
                              .minimum = 1,
                              .maximum = 9};
    const rec_option *options[] = {&level, NULL};
    rec_plugin one = sample("One"), two = sample("Two"), old = sample("Old");
    rec_context *context = context_new();
    const rec_plugin_info *info;
    (void)state;
    one.extension = "pt";
    one.extensions = extensions;
    one.options = options;
    one.version = "1.2";
    one.license = "MIT";
    one.save = NULL;
    one.traits = REC_TRAIT_FOLDER | UINT64_C(1) << 40; /* of which nobody knows what it says: it may be passed over */
    two.load = NULL;
    two.traits = REC_TRAIT_NEEDS_TYPE | REC_TRAIT_NO_NAMES;
    old.size = offsetof(rec_plugin, kind);
    old.kind = 99; /* behind its end */
    assert_int_equal(rec_context_add_plugin(context, &old), REC_OK);
    assert_int_equal(rec_context_add_plugin(context, &two), REC_OK);
    assert_int_equal(rec_context_add_plugin(context, &one), REC_OK);
    info = rec_plugin_get(context, 0);
    assert_int_equal(info->size, sizeof *info);
    assert_string_equal(info->name, "One");
    assert_string_equal(info->file, "the program");
    assert_int_equal(info->kind, REC_PLUGIN_FORMAT);
    assert_int_equal(info->can_load, 1);
    assert_int_equal(info->can_save, 0);
    assert_int_equal(info->needs_type, 0);
    assert_int_equal(info->has_names, 1);
    assert_int_equal(info->reads_folders, 1);
    assert_string_equal(info->version, "1.2");
    assert_string_equal(info->license, "MIT");
    assert_string_equal(info->extension, "pt");
    assert_string_equal(info->extensions, "pt, pth, ckpt");
    assert_string_equal(info->hidden, "");
    assert_int_equal(info->option_count, 1);
    assert_ptr_equal(info->option_list[0], &level);
    info = rec_plugin_get(context, 1);
    assert_string_equal(info->name, "Two");
    assert_int_equal(info->can_load, 0);
    assert_int_equal(info->can_save, 1);
    assert_int_equal(info->needs_type, 1);
    assert_int_equal(info->has_names, 0);
    assert_string_equal(info->extensions, "");
    assert_string_equal(info->version, "");
    assert_int_equal(info->option_count, 0);
    info = rec_plugin_get(context, 2);
    assert_string_equal(info->name, "Old");
    assert_int_equal(info->kind, REC_PLUGIN_FORMAT);
    rec_context_free(context);
}

static void a_plugin_is_found_by_name_and_by_path(void **state)
{
    const char *aliases[] = {"uno", NULL}, *extensions[] = {"z1", NULL};
    rec_plugin one = sample("One");
    rec_context *context = context_new();
    (void)state;
    one.aliases = aliases;
    one.extension = "zone";
    one.extensions = extensions;
    assert_int_equal(rec_context_add_plugin(context, &one), REC_OK);
    assert_string_equal(rec_plugin_find(context, "ONE")->name, "One");
    assert_string_equal(rec_plugin_find(context, "u-n-o")->name, "One");
    assert_null(rec_plugin_find(context, "Eleven"));
    assert_int_equal(rec_error_status(), REC_E_NOT_FOUND);
    assert_string_equal(rec_plugin_for_path(context, "/tmp/a.zone")->name, "One");
    assert_string_equal(rec_plugin_for_path(context, "a.z1")->name, "One");
    assert_null(rec_plugin_for_path(context, "a.z2"));
    assert_int_equal(rec_error_status(), REC_E_ARGUMENT);
    assert_null(rec_plugin_for_path(context, NULL));
    assert_null(rec_plugin_find(context, NULL));
    rec_context_free(context);
}

static void a_further_extension_is_kept_and_the_first_is_appended(void **state)
{
    static const struct {
        const char *path, *saved;
    } paths[] = {{"m", "m.pt"},
                 {"m.pt", "m.pt"},
                 {"m.pth", "m.pth"},
                 {"m.ckpt.pth", "m.ckpt.pth"},
                 {"m.pth.x", "m.pth.x.pt"},
                 {"m.th", "m.th.pt"},
                 {"pth", "pth.pt"},
                 {".pth", ".pth.pt"}};
    const char *extensions[] = {"pth", "ckpt", NULL};
    rec_plugin torch = sample("Torch");
    rec_context *context = context_new();
    rec_recorder *recorder;
    (void)state;
    torch.extension = "pt";
    torch.extensions = extensions;
    assert_int_equal(rec_context_add_plugin(context, &torch), REC_OK);
    recorder = rec_open_recorder_in(context, "Torch", REC_PRECISION_FULL);
    assert_non_null(recorder);
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        char *path = rec_recorder_path(recorder, paths[i].path);
        assert_string_equal(path, paths[i].saved);
        rec_free(path);
    }
    rec_close_recorder(recorder);
    rec_context_free(context);
}

/* ------------------------------------------------------------------------------------------------------ checks -- */

static const uint8_t bytes[] = "0123456789abcdefg";

/* With pointers of 64 bits, and of 32. */
#if UINTPTR_MAX > UINT32_MAX
#define MAGIC_LEAST "32"
#else
#define MAGIC_LEAST "24"
#endif

static void magic_bytes_and_sources_are_checked(void **state)
{
    static const rec_magic short_size = {.size = 8, .length = 1, .bytes = bytes};
    static const rec_magic none = {.size = sizeof none, .length = 0, .bytes = bytes};
    static const rec_magic many = {.size = sizeof many, .length = 17, .bytes = bytes};
    static const rec_magic nowhere = {.size = sizeof nowhere, .length = 4};
    static const rec_magic good = {.size = sizeof good, .length = 16, .offset = -16, .bytes = bytes, .mask = bytes};
    static const struct {
        const rec_magic *magic;
        const char *reason;
    } magics[] = {
        {&short_size, "the size of its magic bytes 2 is 8; " MAGIC_LEAST " to 4096 are possible"},
        {&none, "its magic bytes 2 are not 1 to 16 bytes"},
        {&many, "its magic bytes 2 are not 1 to 16 bytes"},
        {&nowhere, "its magic bytes 2 are not 1 to 16 bytes"},
    };
    static const struct {
        const char *schemes[2], *reason;
    } schemes[] = {
        {{NULL, NULL}, "it has no scheme, though it is a plugin for sources"},
        {{"HTTP", NULL}, "scheme 1 is not 2 to 32 lower case letters, digits, \"+\", \"-\" and \".\""},
        {{"c", NULL}, "scheme 1 is not 2 to 32 lower case letters, digits, \"+\", \"-\" and \".\""},
        {{"a:b", NULL}, "scheme 1 is not 2 to 32 lower case letters, digits, \"+\", \"-\" and \".\""},
    };
    rec_context *context = context_new();
    rec_plugin one = sample("One"), web = sample("Web"), odd = sample("Odd");
    (void)state;
    for (size_t i = 0; i < sizeof magics / sizeof magics[0]; i++) {
        const rec_magic *list[] = {&good, magics[i].magic, NULL};
        one.magic = list;
        assert_int_equal(rec_context_add_plugin(context, &one), REC_E_PLUGIN);
        assert_string_equal(strstr(rec_error_message(), "rejected: ") + 10, magics[i].reason);
    }
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
        web = sample("Web");
        web.load = NULL;
        web.save = NULL;
        web.kind = REC_PLUGIN_SOURCE;
        web.schemes = schemes[i].schemes;
        web.open = open_nothing;
        assert_int_equal(rec_context_add_plugin(context, &web), REC_E_PLUGIN);
        assert_string_equal(strstr(rec_error_message(), "rejected: ") + 10, schemes[i].reason);
    }
    web.open = NULL;
    assert_int_equal(rec_context_add_plugin(context, &web), REC_E_PLUGIN);
    odd.kind = 77;
    assert_int_equal(rec_context_add_plugin(context, &odd), REC_E_PLUGIN);
    assert_non_null(strstr(rec_error_message(), "it is of a kind that librecord "));
    odd.kind = REC_PLUGIN_FORMAT;
    odd.version = "1\n2";
    assert_int_equal(rec_context_add_plugin(context, &odd), REC_E_PLUGIN);
    odd.version = NULL;
    odd.traits = UINT64_C(1) << 31;
    assert_int_equal(rec_context_add_plugin(context, &odd), REC_E_PLUGIN);
    assert_non_null(strstr(rec_error_message(), "traits that librecord"));
    rec_context_free(context);
}

/* The plugin is refused for this. */
static void refused_for(rec_context *context, const rec_plugin *plugin, const char *reason)
{
    assert_int_equal(rec_context_add_plugin(context, plugin), REC_E_PLUGIN);
    assert_string_equal(strstr(rec_error_message(), "rejected: ") + 10, reason);
}

static void lists_without_an_end_are_refused(void **state)
{
    enum { MORE = 65 };
    static const rec_magic magic = {.size = sizeof magic, .length = 4, .bytes = bytes};
    static rec_option options[MORE] = {{0}};
    static char names[MORE][8];
    const rec_magic *magics[MORE + 1] = {NULL};
    const rec_option *all[MORE + 1] = {NULL};
    const char *words[MORE + 1] = {NULL}, *presets[MORE + 1] = {NULL};
    rec_context *context = context_new();
    rec_plugin one = sample("One"), web = sample("Web"), stack = sample("Stack");
    (void)state;
    for (int i = 0; i < MORE; i++) {
        (void)snprintf(names[i], sizeof names[i], "x%d", i);
        options[i] = (rec_option){
            .size = sizeof options[i], .type = REC_OPTION_TEXT, .name = names[i], .initial = "", .help = "h"};
        magics[i] = &magic;
        all[i] = &options[i];
        words[i] = names[i];
        presets[i] = "level=1";
    }
    one.options = all;
    refused_for(context, &one, "it has more than 64 options, or no NULL after the last");
    all[64] = NULL;
    assert_int_equal(rec_context_add_plugin(context, &one), REC_OK);
    options[0].size = 3;
    one = sample("Two");
    one.options = all;
    assert_int_equal(rec_context_add_plugin(context, &one), REC_E_PLUGIN);
    assert_non_null(strstr(rec_error_message(), "rejected: an option's size is 3; "));
    options[0].size = sizeof options[0];
    options[0].name = "profile";
    refused_for(context, &one, "the option \"profile\" belongs to librecord itself: it is a load argument");

    one = sample("Three");
    one.extension = "x";
    one.extensions = words;
    refused_for(context, &one, "it has more than 16 further extensions, or no NULL after the last");
    one = sample("Four");
    one.magic = magics;
    refused_for(context, &one, "it has more than 64 kinds of magic bytes, or no NULL after the last");

    web.load = NULL;
    web.save = NULL;
    web.kind = REC_PLUGIN_SOURCE;
    web.open = open_nothing;
    web.schemes = words;
    refused_for(context, &web, "it has more than 16 schemes, or no NULL after the last");

    stack.load = NULL;
    stack.save = NULL;
    stack.kind = REC_PLUGIN_STACK;
    stack.format = "One";
    stack.codec = "Two";
    stack.presets = presets;
    refused_for(context, &stack, "it has more than 64 presets, or no NULL after the last");

    one = sample("Five");
    one.traits = REC_TRAIT_PATHS;
    refused_for(context, &one, "it has the trait PATHS without TENSORS");
    one.traits = REC_TRAIT_PLAIN;
    refused_for(context, &one, "it has the trait PLAIN without EXACT_SIZE");
    rec_context_free(context);
}

static int32_t pass_on(rec_job *job, rec_source *stored, rec_source **out)
{
    *out = NULL;
    return stored ? rec_fail(job, REC_E_FORMAT, REC_UNKNOWN, "nothing is decoded here") : REC_OK;
}

static void members_of_other_kinds_are_refused(void **state)
{
    static const char *const words[] = {"web", NULL};
#define KIND(what) .abi = REC_PLUGIN_ABI, .size = sizeof(rec_plugin), .kind = what, .name = "X", .description = "d"
#define FORMAT KIND(REC_PLUGIN_FORMAT), .load = load_nothing
#define CODEC KIND(REC_PLUGIN_CODEC), .extension = "x", .decode = pass_on
#define STACK KIND(REC_PLUGIN_STACK), .format = "A", .codec = "B"
#define SOURCE KIND(REC_PLUGIN_SOURCE), .schemes = words, .open = open_nothing
#define OTHER(kind, member) "it is a " kind ", and has the member `" member "`, which is of other kinds"
    static const struct {
        rec_plugin plugin;
        const char *reason;
    } wrong[] = {
        {{FORMAT, .decode = pass_on}, OTHER("format", "decode")},
        {{KIND(REC_PLUGIN_FORMAT), .decode = pass_on}, OTHER("format", "decode")},
        {{FORMAT, .open = open_nothing}, OTHER("format", "open")},
        {{FORMAT, .format = "A"}, OTHER("format", "format")},
        {{FORMAT, .codec = "B"}, OTHER("format", "codec")},
        {{FORMAT, .presets = words}, OTHER("format", "presets")},
        {{FORMAT, .schemes = words}, OTHER("format", "schemes")},
        {{CODEC, .load = load_nothing}, OTHER("codec", "load")},
        {{CODEC, .save = save_nothing}, OTHER("codec", "save")},
        {{CODEC, .open = open_nothing}, OTHER("codec", "open")},
        {{CODEC, .burn_name = "a::B"}, OTHER("codec", "burn_name")},
        {{STACK, .load = load_nothing}, OTHER("stack", "load")},
        {{STACK, .open = open_nothing}, OTHER("stack", "open")},
        {{STACK, .adapter = "pytorch"}, OTHER("stack", "adapter")},
        {{SOURCE, .save = save_nothing}, OTHER("plugin for sources", "save")},
        {{SOURCE, .decode = pass_on}, OTHER("plugin for sources", "decode")},
        {{SOURCE, .extension = "x"}, OTHER("plugin for sources", "extension")},
        {{SOURCE, .traits = REC_TRAIT_TAIL}, "it is a plugin for sources, and has traits of a format (0x20)"},
        {{FORMAT, .burn_last = 22}, "it has a burn_last (22) or a burn_default (0) without a burn_first"},
        {{FORMAT, .burn_default = 22}, "it has a burn_last (0) or a burn_default (22) without a burn_first"},
        {{FORMAT, .burn_first = 19, .burn_last = 18},
         "its versions of Burn, 0.19 to 0.18, by default 0.0, are invalid"},
        {{FORMAT, .burn_first = 19, .burn_last = 20, .burn_default = 21},
         "its versions of Burn, 0.19 to 0.20, by default 0.21, are invalid"},
        {{FORMAT, .burn_first = 19, .burn_default = 18},
         "its versions of Burn, 0.19 to 0.0, by default 0.18, are invalid"},
    };
    /* Traits of the upper half are passed over, whatever the kind. */
    static const rec_plugin good[] = {
        {FORMAT, .traits = UINT64_C(1) << 40, .burn_first = 19},
        {CODEC, .traits = UINT64_C(1) << 40},
        {STACK, .traits = UINT64_C(1) << 40},
        {SOURCE, .traits = UINT64_C(1) << 40},
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        rec_context *context = context_new();
        assert_int_equal(rec_context_add_plugin(context, &wrong[i].plugin), REC_E_PLUGIN);
        assert_string_equal(strstr(rec_error_message(), "rejected: ") + 10, wrong[i].reason);
        rec_context_free(context);
    }
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        rec_context *context = context_new();
        assert_int_equal(rec_context_add_plugin(context, &good[i]), REC_OK);
        rec_context_free(context);
    }
    {
        rec_context *context = context_new();
        const rec_plugin_info *info;
        assert_int_equal(rec_context_add_plugin(context, &good[3]), REC_OK);
        info = rec_plugin_get(context, 0);
        assert_string_equal(info->schemes, "web");
        assert_string_equal(info->format, "");
        assert_int_equal(info->can_load, 1);
        assert_int_equal(info->can_save, 0);
        rec_context_free(context);
    }
}

/* ----------------------------------------------------------------------------------------------- files renamed -- */

static void a_file_is_found_under_another_name(void **state)
{
    scratch *s = *state;
    char *file = scratch_path(s, "renamed.so");
    rec_context *context = context_new();
    make(s->path, "renamed.so", "-DMODULE=built_as");
    assert_int_equal(rec_context_add_plugin_path(context, s->path), REC_OK);
    assert_string_equal(file_of(context, "Good"), file);
    rec_context_free(context);
    free(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(a_plugin_of_the_program_is_checked_as_a_file_is),
        TEST(what_a_plugin_can_do_is_told),
        TEST(a_plugin_is_found_by_name_and_by_path),
        TEST(a_further_extension_is_kept_and_the_first_is_appended),
        TEST(magic_bytes_and_sources_are_checked),
        TEST(lists_without_an_end_are_refused),
        TEST(members_of_other_kinds_are_refused),
        TEST(a_plugin_of_the_program_comes_before_those_of_files),
        TEST(a_file_is_found_under_another_name),
    };
    const struct CMUnitTest static_tests[] = {
        TEST(a_plugin_of_the_program_is_checked_as_a_file_is),
        TEST(what_a_plugin_can_do_is_told),
        TEST(a_plugin_is_found_by_name_and_by_path),
        TEST(a_further_extension_is_kept_and_the_first_is_appended),
        TEST(magic_bytes_and_sources_are_checked),
        TEST(lists_without_an_end_are_refused),
        TEST(members_of_other_kinds_are_refused),
    };
    return lr_static_build() ? cmocka_run_group_tests_name("registry, the program's own", static_tests, NULL, NULL)
                             : cmocka_run_group_tests_name("registry, the program's own", tests, NULL, NULL);
}
