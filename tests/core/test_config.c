/* SPDX-License-Identifier: MIT OR Apache-2.0
 * INI files: what they say, every mistake with its exact message, and where the file is looked for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dlfcn.h>

#include "core/config/config.h"
#include "core/base/base.h"
#include "tests/scratch.h"

static int set_up(void **state)
{
    *state = scratch_new();
    return 0;
}

static int tear_down(void **state)
{
    scratch_free(*state);
    return 0;
}

/** A configuration in a context of its own. */
typedef struct fixture {
    rec_context *context;
    lr_config *config;
} fixture;

/* Reads `size` bytes as "app.ini" and compares with `message`, which leaves the file's name out; NULL: no error. */
static fixture read_bytes(scratch *s, const void *data, size_t size, const char *message)
{
    char *path = scratch_write(s, "app.ini", data, size);
    fixture f = {.context = rec_context_new(NULL)};
    rec_job job;
    assert_non_null(f.context);
    f.config = lr_config_new(&f.context->allocator);
    assert_non_null(f.config);
    lr_job_begin(&job, f.context, "configure", NULL);
    (void)lr_config_read(&job, f.config, path);
    (void)lr_job_end(&job);
    if (message) {
        size_t length = strlen(path);
        assert_true(strncmp(rec_error_message(), path, length) == 0);
        assert_string_equal(rec_error_message() + length, message);
        assert_string_equal(rec_error_file(), path);
        assert_string_equal(lr_config_file(f.config), "");
        assert_int_equal(lr_config_recorder_count(f.config), 0);
    } else {
        assert_string_equal(rec_error_message(), "");
        assert_string_equal(lr_config_file(f.config), path);
    }
    free(path);
    return f;
}

static fixture read_text(scratch *s, const char *text)
{
    return read_bytes(s, text, strlen(text), NULL);
}

static void release(fixture f)
{
    lr_config_free(f.config);
    rec_context_free(f.context);
}

/* ---------------------------------------------------------------------------------------------------- mistakes -- */

#define FORTY "aaaaaaaaaabbbbbbbbbbccccccccccdddddddddd"
#define SIXTY_FOUR FORTY "eeeeeeeeeeffffffffff1234"
#define LINE_HINT                                                                           \
    "\n  A line is \"key = value\" or \"[section]\", or a comment that begins with ; or #." \
    "\n  A value cannot continue on the next line."
#define NAME_RULE " cannot name a recorder: it may have letters, digits, \".\", \"_\" and \"-\""
#define MAIN_KEYS                                                                                           \
    "\n  Known: recorder, precision, plugin_path, plugins, sources, threads, memory_factor, memory_slack, " \
    "inflated_factor, inflated_slack, depth, elements."

static const struct {
    const char *text, *message;
} mistakes[] = {
    /* lines */
    {"recorder = a\n",
     ": line 1: \"recorder\" precedes any section\n  Begin with [librecord], [recorder NAME] or [profile NAME]."},
    {"[librecord]\nrecorder\n", ": line 2: no \"=\" in \"recorder\"" LINE_HINT},
    {"[librecord]\nrecorder: a\n", ": line 2: no \"=\" in \"recorder: a\"" LINE_HINT},
    {"[librecord]\nrecorder = a\n  b\n", ": line 3: no \"=\" in \"b\"" LINE_HINT},
    {"[librecord]\n= a\n", ": line 2: no key before the \"=\""},
    {"[librecord]\nrecorder =\n", ": line 2: \"recorder\" has no value\n  Remove the line for the default."},
    {"[librecord]\nrecorder = \t \r\n", ": line 2: \"recorder\" has no value\n  Remove the line for the default."},
    {"[librecord]\nre:corder = a\n",
     ": line 2: \"re:corder\" is not a key: it may have letters, digits, \".\", \"_\" and \"-\""},
    {"[librecord]\nre corder = a\n",
     ": line 2: \"re corder\" is not a key: it may have letters, digits, \".\", \"_\" and \"-\""},
    {"[librecord]\n" SIXTY_FOUR "5 = a\n", ": line 2: the key \"" SIXTY_FOUR "...\" is longer than 64 bytes"},
    {"[librecord\n", ": line 1: \"[librecord\" has no \"]\""},
    {"[librecord] ; the main part\n",
     ": line 1: text after the \"]\" of a section: \"; the main part\"\n  Put comments on separate lines."},
    {"[librecord]\nrecorder = a\rprecision = full\r",
     ": line 2: a carriage return without a line feed in column 13\n  Lines end with a line feed, or with both."},
    {"[librecord]\nrecorder = a\x1b[31m\n", ": line 2: a control character (0x1b) in column 13"},
    {"[librecord]\n; caf\xe9\n", ": line 2: invalid UTF-8 (0xe9) in column 6\n  Save the file as UTF-8 text."},
    {"; \xed\xa0\x80\n", ": line 1: invalid UTF-8 (0xed) in column 3\n  Save the file as UTF-8 text."},
    {"; \xc0\xaf\n", ": line 1: invalid UTF-8 (0xc0) in column 3\n  Save the file as UTF-8 text."},
    {"; \x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\n",
     ": line 1: invalid UTF-8 (0x80) in column 3\n  Save the file as UTF-8 text."},
    {"; \xf4\x90\x80\x80\n", ": line 1: invalid UTF-8 (0xf4) in column 3\n  Save the file as UTF-8 text."},
    {"; \xe2\x82", ": line 1: invalid UTF-8 (0xe2) in column 3\n  Save the file as UTF-8 text."},
    {"\xff\xfe[", ": line 1: invalid UTF-8 (0xff) in column 1\n  Save the file as UTF-8 text."},
    /* sections */
    {"[types]\n", ": line 1: unknown section [types]\n"
                  "  Known: [librecord], [recorder NAME], [profile NAME]."},
    {"[profiles x]\n", ": line 1: unknown section [profiles x]\n  Did you mean [profile NAME]?"},
    {"[]\n", ": line 1: unknown section []\n  Known: [librecord], [recorder NAME], [profile NAME]."},
    {"[librecords]\n", ": line 1: unknown section [librecords]\n  Did you mean [librecord]?"},
    {"[Librecord]\n", ": line 1: unknown section [Librecord]\n  Did you mean [librecord]?"},
    {"[librecord x]\n", ": line 1: unknown section [librecord x]\n  Did you mean [librecord]?"},
    {"[recoder a]\nplugin = mpk\n", ": line 1: unknown section [recoder a]\n  Did you mean [recorder NAME]?"},
    {"[" SIXTY_FOUR SIXTY_FOUR "]\n",
     ": line 1: unknown section [" SIXTY_FOUR "...]\n  Known: [librecord], [recorder NAME], [profile NAME]."},
    {"[librecord]\n[recorder a]\nplugin = b\n\n[librecord]\n", ": line 5: [librecord] occurs twice, first in line 1"},
    {"[recorder]\n", ": line 1: [recorder] has no name\n  Give it one: [recorder NAME]."},
    {"[recorder auto]\n", ": line 1: [recorder auto]: that name belongs to librecord itself"},
    {"[recorder my llama]\n", ": line 1: \"my llama\"" NAME_RULE},
    {"[recorder ...]\n", ": line 1: \"...\"" NAME_RULE},
    {"[recorder ll\xc3\xa4ma]\n", ": line 1: \"ll\xc3\xa4ma\"" NAME_RULE},
    {"[recorder " SIXTY_FOUR "5]\n", ": line 1: the name \"" SIXTY_FOUR "...\" is longer than 64 bytes"},
    {"[recorder a-b]\nplugin = x\n[recorder A_B]\n",
     ": line 3: [recorder A_B] occurs twice, first in line 1 as [recorder a-b]"},
    {"[recorder a]\n[recorder b]\nplugin = x\n", ": line 1: [recorder a] has no plugin\n  Set it: plugin = NAME."},
    {"[librecord]\n[recorder a]\nclamp = yes\n", ": line 2: [recorder a] has no plugin\n  Set it: plugin = NAME."},
    /* keys */
    {"[librecord]\nprecison = full\n", ": line 2: [librecord] has no key \"precison\"\n  Did you mean \"precision\"?"},
    {"[librecord]\nPluginPath = /a\n",
     ": line 2: [librecord] has no key \"PluginPath\"\n  Did you mean \"plugin_path\"?"},
    {"[librecord]\nprofile = a\n", ": line 2: [librecord] has no key \"profile\"" MAIN_KEYS},
    {"[librecord]\ndepth = 9\n\n# again\ndepth = 9\n",
     ": line 5: \"depth\" occurs twice in [librecord], first in line 2"},
    {"[recorder a]\nplugin = b\nplugin = c\n", ": line 3: \"plugin\" occurs twice in [recorder a], first in line 2"},
    {"[recorder a]\nprecision = full\nprecision = half\n",
     ": line 3: \"precision\" occurs twice in [recorder a], first in line 2"},
    {"[recorder a]\nplugin = b\nlevel = 1\nother = 1\nlevel = 2\n",
     ": line 5: \"level\" occurs twice in [recorder a], first in line 3"},
    {"[recorder a]\nPlugin = b\n",
     ": line 2: \"Plugin\" names no option: options have small letters, digits, \"_\" and \"-\""},
    /* values */
    {"[librecord]\nprecision = ful\n",
     ": line 2: expected full, half, double or keep for precision, found \"ful\"\n  Did you mean \"full\"?"},
    {"[librecord]\nprecision = default\n",
     ": line 2: expected full, half, double or keep for precision, found \"default\""},
    {"[recorder a]\nprecision = f32 ; full\n",
     ": line 2: expected full, half, double or keep for precision, found \"f32 ; full\""},
    {"[librecord]\nplugins = non\n",
     ": line 2: expected all, installed or none for plugins, found \"non\"\n  Did you mean \"none\"?"},
    {"[librecord]\nplugins = false\n", ": line 2: expected all, installed or none for plugins, found \"false\""},
    {"[librecord]\nrecorder = \"mpk\"\n", ": line 2: \"\"mpk\"\"" NAME_RULE},
    {"[recorder a]\nplugin = mpk ; Burn's\n", ": line 2: \"mpk ; Burn's\"" NAME_RULE},
    {"[recorder a]\nplugin = " SIXTY_FOUR "5\n", ": line 2: the name \"" SIXTY_FOUR "...\" is longer than 64 bytes"},
    {"[librecord]\nplugin_path = plugins\n", ": line 2: plugin_path has \"plugins\", which is not an absolute path\n"
                                             "  Directories begin with / and are separated by colons."},
    {"[librecord]\nplugin_path = /a:b:/c\n", ": line 2: plugin_path has \"b\", which is not an absolute path\n"
                                             "  Directories begin with / and are separated by colons."},
    {"[librecord]\nplugin_path = /a:\n", ": line 2: plugin_path has \"\", which is not an absolute path\n"
                                         "  Directories begin with / and are separated by colons."},
    {"[librecord]\nthreads = 0\n", ": line 2: threads is \"0\", which is not a whole number from 1 to 64"},
    {"[librecord]\nthreads = 65\n", ": line 2: threads is \"65\", which is not a whole number from 1 to 64"},
    {"[librecord]\nthreads = four\n", ": line 2: threads is \"four\", which is not a whole number from 1 to 64"},
    {"[librecord]\nthreads = -1\n", ": line 2: threads is \"-1\", which is not a whole number from 1 to 64"},
    {"[librecord]\nthreads = 4 # all\n", ": line 2: threads is \"4 # all\", which is not a whole number from 1 to 64"},
    {"[librecord]\ndepth = 7\n", ": line 2: depth is \"7\", which is not a whole number from 8 to 200"},
    {"[librecord]\ndepth = 201\n", ": line 2: depth is \"201\", which is not a whole number from 8 to 200"},
    {"[librecord]\nelements = 64 KiB\n", ": line 2: elements is \"64 KiB\", which is not a whole number"},
    {"[librecord]\nmemory_factor = 18446744073709551617\n",
     ": line 2: memory_factor is \"18446744073709551617\", which is not a whole number from 1 to 1000000"},
    {"[librecord]\nmemory_slack = 1 MB\n", ": line 2: memory_slack is \"1 MB\", which is not a size\n"
                                           "  Write bytes, or a whole number of KiB, MiB or GiB: 64 MiB."},
    {"[librecord]\ninflated_slack = 1.5 GiB\n", ": line 2: inflated_slack is \"1.5 GiB\", which is not a size\n"
                                                "  Write bytes, or a whole number of KiB, MiB or GiB: 64 MiB."},
    {"[librecord]\ninflated_slack = 17179869184 GiB\n",
     ": line 2: inflated_slack is \"17179869184 GiB\", which is not a size\n"
     "  Write bytes, or a whole number of KiB, MiB or GiB: 64 MiB."},
};

static void each_mistake_has_its_message_and_nothing_of_the_file_counts(void **state)
{
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        release(read_bytes(*state, mistakes[i].text, strlen(mistakes[i].text), mistakes[i].message));
        assert_int_equal(rec_error_status(), REC_E_CONFIG);
        assert_int_equal(rec_error_line(), strtoul(mistakes[i].message + strlen(": line "), NULL, 10));
    }
}

static void nul_bytes_are_refused_wherever_they_stand(void **state)
{
    static const char in_value[] = "[librecord]\nrecorder = a\0b\n";
    static const char in_comment[] = "[librecord]\n; a\0b\n";
    static const char utf_16[] = "[\0l\0";
    release(read_bytes(*state, in_value, sizeof in_value - 1,
                       ": line 2: a NUL byte in column 13\n  Save the file as UTF-8 text."));
    release(read_bytes(*state, in_comment, sizeof in_comment - 1,
                       ": line 2: a NUL byte in column 4\n  Save the file as UTF-8 text."));
    release(read_bytes(*state, utf_16, sizeof utf_16 - 1,
                       ": line 1: a NUL byte in column 2\n  Save the file as UTF-8 text."));
}

/* `head`, then `fill` until `size` bytes are reached, then `tail`. */
static char *padded(const char *head, char fill, size_t size, const char *tail, size_t *total)
{
    size_t before = strlen(head), after = strlen(tail);
    char *text = malloc(size + after + 1);
    assert_non_null(text);
    memset(text, fill, size);
    memcpy(text, head, before);
    memcpy(text + size, tail, after + 1);
    *total = size + after;
    return text;
}

static void a_line_may_have_a_mebibyte_and_no_more(void **state)
{
    size_t total;
    char *text = padded("[recorder a]\nplugin = b\nx =", ' ', 24 + (1 << 20) - 1, "v\n", &total);
    fixture f = read_bytes(*state, text, total, NULL);
    assert_string_equal(lr_config_recorder_at(f.config, 0)->settings[0].value, "v");
    release(f);
    free(text);
    text = padded("[recorder a]\nplugin = b\nx =", ' ', 24 + (1 << 20), "v\n", &total);
    release(read_bytes(*state, text, total, ": line 3: the line is longer than 1 MiB"));
    free(text);
}

static void a_file_may_have_16_mebibytes_and_no_more(void **state)
{
    size_t total;
    char *text = padded("", '\n', 16 << 20, "", &total);
    release(read_bytes(*state, text, total, NULL));
    free(text);
    text = padded("", '\n', 16 << 20, "\n", &total);
    release(read_bytes(*state, text, total, ": larger than 16 MiB: this is not a configuration file"));
    assert_int_equal(rec_error_status(), REC_E_LIMIT);
    free(text);
}

static void recorders_and_options_are_counted(void **state)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    for (int i = 0; i <= 1000; i++) {
        (void)fprintf(stream, "[recorder r%d]\nplugin = x\n", i);
    }
    assert_int_equal(fclose(stream), 0);
    release(read_bytes(*state, text, size, ": line 2001: more than 1000 recorders"));
    free(text);
    stream = open_memstream(&text, &size);
    assert_non_null(stream);
    (void)fprintf(stream, "[recorder r]\nplugin = x\n");
    for (int i = 0; i <= 256; i++) {
        (void)fprintf(stream, "option%d = 1\n", i);
    }
    assert_int_equal(fclose(stream), 0);
    release(read_bytes(*state, text, size, ": line 259: more than 256 options in [recorder r]"));
    free(text);
}

static void a_file_that_cannot_be_read_says_why(void **state)
{
    scratch *s = *state;
    char *missing = scratch_path(s, "missing.ini"), *expected = NULL;
    assert_null(rec_config_open(missing));
    assert_true(asprintf(&expected, "%s: cannot open: No such file or directory", missing) > 0);
    assert_string_equal(rec_error_message(), expected);
    assert_int_equal(rec_error_status(), REC_E_IO);
    free(expected);
    assert_null(rec_config_open(s->path));
    assert_true(asprintf(&expected, "%s: a directory, where a configuration file is needed", s->path) > 0);
    assert_string_equal(rec_error_message(), expected);
    free(expected);
    free(missing);
    assert_null(rec_config_open("/dev/zero"));
    assert_string_equal(rec_error_message(), "/dev/zero: larger than 16 MiB: this is not a configuration file");
}

/* ------------------------------------------------------------------------------------------------ what it says -- */

static void an_empty_file_changes_nothing(void **state)
{
    static const char *const texts[] = {"", "\n", "\xEF\xBB\xBF", "; only\n# comments", "[librecord]", " \t \r\n"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        fixture f = read_text(*state, texts[i]);
        rec_context context = {
            .limits = rec_limits_default(), .threads = 7, .plugins = REC_PLUGINS_NONE, .sources = true};
        rec_limits same = context.limits;
        assert_null(lr_config_recorder(f.config, &(uint32_t){0}));
        assert_null(lr_config_plugin_path(f.config));
        assert_int_equal(lr_config_precision(f.config), REC_PRECISION_DEFAULT);
        lr_config_apply(f.config, &context);
        assert_int_equal(context.plugins, REC_PLUGINS_NONE);
        assert_int_equal(context.threads, 7);
        assert_true(context.sources);
        assert_memory_equal(&context.limits, &same, sizeof same);
        assert_int_equal(lr_config_recorder_count(f.config), 0);
        assert_null(lr_config_recorder_at(f.config, 0));
        release(f);
    }
}

static void every_key_of_librecord_is_read(void **state)
{
    fixture f = read_text(*state, "[librecord]\n"
                                  "recorder = my-llama\n"
                                  "precision = half\n"
                                  "plugin_path = /opt/a b:/opt/c;d#e\n"
                                  "plugins = installed\n"
                                  "threads = 64\n"
                                  "memory_factor = 5\n"
                                  "memory_slack = 3 MiB\n"
                                  "inflated_factor = 1000000\n"
                                  "inflated_slack = 2GiB\n"
                                  "depth = 200\n"
                                  "elements = 0\n");
    rec_context context = {.limits = rec_limits_default()};
    assert_string_equal(lr_config_recorder(f.config, &(uint32_t){0}), "my-llama");
    assert_int_equal(lr_config_precision(f.config), REC_PRECISION_HALF);
    assert_string_equal(lr_config_plugin_path(f.config), "/opt/a b:/opt/c;d#e");
    lr_config_apply(f.config, &context);
    assert_int_equal(context.plugins, REC_PLUGINS_INSTALLED);
    assert_int_equal(context.threads, 64);
    assert_int_equal(context.limits.memory_factor, 5);
    assert_int_equal(context.limits.memory_slack, 3 << 20);
    assert_int_equal(context.limits.inflated_factor, 1000000);
    assert_int_equal(context.limits.inflated_slack, UINT64_C(2) << 30);
    assert_int_equal(context.limits.depth, 200);
    assert_int_equal(context.limits.elements, 0);
    release(f);
}

static void recorders_keep_their_options_in_order_with_lines(void **state)
{
    fixture f = read_text(*state, "# two\n"
                                  "[recorder my-llama]\n"
                                  "level = 1\n"
                                  "\n"
                                  "plugin = safetensors\n"
                                  "precision = keep\n"
                                  "adapter = PyTorch\n"
                                  "[ recorder\t second ]\n"
                                  "plugin=NamedMpk\n");
    const lr_recorder_section *llama = lr_config_find_recorder(f.config, "My_Llama");
    const lr_recorder_section *second = lr_config_find_recorder(f.config, "second");
    assert_int_equal(lr_config_recorder_count(f.config), 2);
    assert_ptr_equal(llama, lr_config_recorder_at(f.config, 0));
    assert_ptr_equal(second, lr_config_recorder_at(f.config, 1));
    assert_null(lr_config_find_recorder(f.config, "third"));
    assert_string_equal(llama->name, "my-llama");
    assert_int_equal(llama->line, 2);
    assert_string_equal(llama->plugin, "safetensors");
    assert_int_equal(llama->plugin_line, 5);
    assert_int_equal(llama->precision, REC_PRECISION_KEEP);
    assert_int_equal(llama->setting_count, 2);
    assert_string_equal(llama->settings[0].key, "level");
    assert_string_equal(llama->settings[0].value, "1");
    assert_int_equal(llama->settings[0].line, 3);
    assert_string_equal(llama->settings[1].key, "adapter");
    assert_string_equal(llama->settings[1].value, "PyTorch");
    assert_int_equal(llama->settings[1].line, 7);
    assert_string_equal(second->plugin, "NamedMpk");
    assert_int_equal(second->precision, REC_PRECISION_DEFAULT);
    assert_int_equal(second->setting_count, 0);
    release(f);
}

/* What inih alone would cut, split or join. */
static void a_value_runs_to_the_end_of_its_line_whatever_is_in_it(void **state)
{
    static const char head[] = "[recorder a]\nplugin = b\nlong = ";
    fixture f = read_text(*state, "\xEF\xBB\xBF[recorder a]\r\n"
                                  "plugin = b\r\n"
                                  "semicolon = one ; two # three\r\n"
                                  "equals = a=b:c [d]\r\n"
                                  "   indented = not a continuation\r\n"
                                  "\tunicode =  \xc3\xa4\xe2\x82\xac\xf0\x9f\x8e\x89  \r\n"
                                  "rule = ^model\\.(.*)  => $1");
    const lr_setting *settings = lr_config_recorder_at(f.config, 0)->settings;
    char *text;
    size_t total;
    assert_int_equal(lr_config_recorder_at(f.config, 0)->setting_count, 5);
    assert_string_equal(settings[0].value, "one ; two # three");
    assert_string_equal(settings[1].value, "a=b:c [d]");
    assert_string_equal(settings[2].key, "indented");
    assert_string_equal(settings[2].value, "not a continuation");
    assert_string_equal(settings[3].value, "\xc3\xa4\xe2\x82\xac\xf0\x9f\x8e\x89");
    assert_string_equal(settings[4].value, "^model\\.(.*)  => $1");
    assert_int_equal(settings[4].line, 7);
    release(f);
    for (size_t length = 150; length < 450; length += 1) {
        const lr_recorder_section *section;
        text = padded(head, 'x', sizeof head - 1 + length, "[recorder c]\nnext = y\n", &total);
        f = read_bytes(*state, text, total, NULL);
        section = lr_config_recorder_at(f.config, 0);
        assert_int_equal(lr_config_recorder_count(f.config), 1);
        assert_int_equal(strlen(section->settings[0].value), length + strlen("[recorder c]"));
        assert_string_equal(section->settings[1].key, "next");
        assert_int_equal(section->settings[1].line, 4);
        release(f);
        free(text);
    }
}

static void names_may_have_64_bytes(void **state)
{
    fixture f = read_text(*state, "[recorder " SIXTY_FOUR "]\nplugin = " SIXTY_FOUR "\n" SIXTY_FOUR " = x\n");
    const lr_recorder_section *section = lr_config_recorder_at(f.config, 0);
    assert_string_equal(section->name, SIXTY_FOUR);
    assert_string_equal(section->plugin, SIXTY_FOUR);
    assert_string_equal(section->settings[0].key, SIXTY_FOUR);
    release(f);
}

static void limits_know_their_size(void **state)
{
    struct {
        rec_limits limits;
        uint64_t newer[2]; /* members of a librecord to come */
    } more;
    rec_limits now = rec_limits_default();
    rec_context *context = rec_context_new(NULL);
    (void)state;
    assert_int_equal(now.depth, 128);
    assert_int_equal(now.inflated_slack, UINT64_C(1) << 30);
    assert_int_equal(now.elements, 65536);
    assert_int_equal(now.size, sizeof now);
    memset(&more, 0x55, sizeof more);
    more.limits.size = sizeof more;
    assert_int_equal(rec_limits_init(&more.limits), REC_OK);
    assert_int_equal(more.limits.size, sizeof more);
    assert_int_equal(more.limits.depth, 128);
    assert_int_equal(more.newer[0] | more.newer[1], 0);
    more.limits.depth = 50;
    assert_int_equal(rec_context_set_limits(context, &more.limits), REC_OK);
    assert_int_equal(context->limits.depth, 50);
    assert_int_equal(context->limits.size, sizeof(rec_limits));
    for (size_t i = 0; i < 4; i++) {
        static const uint32_t bad[] = {0, 47, 4097, UINT32_MAX};
        more.limits.size = bad[i];
        assert_int_equal(rec_limits_init(&more.limits), REC_E_ARGUMENT);
        assert_int_equal(rec_context_set_limits(context, &more.limits), REC_E_ARGUMENT);
        assert_int_equal(more.limits.depth, 50);
    }
    assert_int_equal(context->limits.depth, 50);
    rec_context_free(context);
}

static void the_example_changes_nothing(void **state)
{
    const char *source = getenv("srcdir");
    char *path = NULL;
    rec_context *context;
    rec_limits limits = rec_limits_default();
    (void)state;
    assert_true(asprintf(&path, "%s/etc/librecord.ini", source ? source : ".") > 0);
    context = rec_config_open(path);
    if (!context) {
        fail_msg("%s", rec_error_message());
    }
    assert_memory_equal(&context->limits, &limits, sizeof limits);
    assert_int_equal(context->plugins, REC_PLUGINS_ALL);
    assert_null(lr_config_recorder(context->config, &(uint32_t){0}));
    assert_int_equal(lr_config_recorder_count(context->config), 0);
    rec_context_free(context);
    free(path);
}

/* What the example shows must be right once its marks are removed. */
static void the_example_is_right_without_its_comment_marks(void **state)
{
    const char *source = getenv("srcdir");
    char *path = NULL, *text = NULL, line[256];
    size_t size = 0;
    FILE *in, *out = open_memstream(&text, &size);
    fixture f;
    assert_true(asprintf(&path, "%s/etc/librecord.ini", source ? source : ".") > 0);
    in = fopen(path, "r");
    assert_non_null(in);
    assert_non_null(out);
    while (fgets(line, sizeof line, in)) {
        (void)fputs(strncmp(line, ";", 1) == 0 && line[1] != ' ' ? line + 1 : line, out);
    }
    assert_int_equal(fclose(in) | fclose(out), 0);
    f = read_text(*state, text);
    assert_non_null(lr_config_recorder(f.config, &(uint32_t){0}));
    assert_int_equal(lr_config_precision(f.config), REC_PRECISION_FULL);
    assert_true(lr_config_recorder_count(f.config) > 0);
    release(f);
    free(text);
    free(path);
}

/* Debian's inih has its settings in variables of the process, which another part of a program may have changed. */
static void a_changed_inih_loses_nothing_silently(void **state)
{
    char **prefixes = (char **)dlsym(RTLD_DEFAULT, "ini_start_comment_prefixes");
    int *most = (int *)dlsym(RTLD_DEFAULT, "ini_max_line");
    static const char text[] = "[librecord]\nrecorder = a\nthreads = 4\n";
    const char *message = ": line 2: the library inih did not take the key \"recorder\"\n"
                          "  This program has changed inih's global settings.";
    if (!prefixes || !most) {
        print_message("# this inih has no global settings\n");
        return;
    }
    char *old_prefixes = *prefixes;
    int old_most = *most;
    *prefixes = (char *)(uintptr_t)";#r";
    release(read_bytes(*state, text, sizeof text - 1, message));
    *prefixes = old_prefixes;
    *most = 8;
    release(read_bytes(*state, text, sizeof text - 1, message));
    *most = old_most;
    release(read_bytes(*state, text, sizeof text - 1, NULL));
}

/* ------------------------------------------------------------------------------------------------- where it is -- */

/* @return what lr_config_find() gives, to be freed; NULL for nothing. */
static char *find(rec_status expected)
{
    rec_context *context = rec_context_new(NULL);
    rec_job job;
    char *path = NULL;
    assert_non_null(context);
    lr_job_begin(&job, context, "configure", NULL);
    assert_int_equal(lr_config_find(&job, &path), expected);
    (void)lr_job_end(&job);
    rec_context_free(context);
    return path;
}

static void the_first_of_variable_user_and_system_counts(void **state)
{
    scratch *s = *state;
    char *below_home = scratch_folder(s, "home/.config/librecord");
    char *below_xdg = scratch_folder(s, "xdg/librecord");
    char *home = scratch_path(s, "home");
    char *xdg = scratch_path(s, "xdg");
    char *in_home = scratch_text(s, "home/.config/librecord/librecord.ini", "");
    char *in_xdg = scratch_text(s, "xdg/librecord/librecord.ini", "");
    char *named = scratch_text(s, "named.ini", "");
    char *system, *found;
    (void)unsetenv("LIBRECORD_CONFIG");
    (void)unsetenv("XDG_CONFIG_HOME");
    (void)unsetenv("HOME");
    system = find(REC_OK); /* NULL where the system has none */

    (void)setenv("HOME", home, 1);
    found = find(REC_OK);
    assert_string_equal(found, in_home);
    free(found);
    (void)setenv("XDG_CONFIG_HOME", xdg, 1);
    found = find(REC_OK);
    assert_string_equal(found, in_xdg);
    free(found);
    (void)setenv("XDG_CONFIG_HOME", "relative", 1);
    found = find(REC_OK);
    assert_string_equal(found, in_home);
    free(found);
    (void)setenv("LIBRECORD_CONFIG", named, 1);
    found = find(REC_OK);
    assert_string_equal(found, named);
    free(found);
    (void)setenv("LIBRECORD_CONFIG", "", 1);
    found = find(REC_OK);
    assert_string_equal(found, in_home);
    free(found);

    /* A folder without the file is passed over: XDG_CONFIG_HOME replaces ~/.config, it does not precede it. */
    (void)setenv("XDG_CONFIG_HOME", home, 1);
    found = find(REC_OK);
    assert_true((!found && !system) || (found && system && strcmp(found, system) == 0));
    free(found);

    (void)setenv("LIBRECORD_CONFIG", "/nowhere/app.ini", 1);
    assert_null(find(REC_E_IO));
    assert_string_equal(rec_error_message(), "/nowhere/app.ini: cannot open: No such file or directory\n"
                                             "  The environment variable LIBRECORD_CONFIG names it.");
    (void)unsetenv("LIBRECORD_CONFIG");
    (void)unsetenv("XDG_CONFIG_HOME");
    free(system);
    free(named);
    free(in_xdg);
    free(in_home);
    free(xdg);
    free(home);
    free(below_xdg);
    free(below_home);
}

/* With the rights of another user, a file that others can change decides nothing. */
static void test_borrowed_rights_need_trusted_files(void **state)
{
    enum { STRANGER = 12345 };
    static const char *const lenders[] = {"SUDO_UID", "DOAS_USER", "PKEXEC_UID"};
    scratch *s = *state;
    char *home = scratch_path(s, "lent"), *below = scratch_folder(s, "lent/.config/librecord");
    char *in_home = scratch_text(s, "lent/.config/librecord/librecord.ini", ""),
         *named = scratch_text(s, "lent.ini", "");
    char *found;
    (void)unsetenv("LIBRECORD_CONFIG");
    (void)unsetenv("XDG_CONFIG_HOME");
    for (size_t i = 0; i < 3; i++) {
        (void)setenv("HOME", home, 1);
        assert_int_equal(chmod(in_home, 0666) | chmod(named, 0664), 0);
        found = find(REC_OK);
        assert_string_equal(found, in_home);
        free(found);
        (void)setenv(lenders[i], "1000", 1);
        free(find(REC_E_CONFIG));
        assert_non_null(strstr(rec_error_message(), lenders[i]));
        assert_non_null(strstr(rec_error_message(), "the file is writable by others"));
        (void)setenv("LIBRECORD_CONFIG", named, 1);
        free(find(REC_E_CONFIG));
        assert_non_null(strstr(rec_error_message(), "the file is writable by its group"));
        (void)setenv("LIBRECORD_CONFIG", "/dev/null", 1);
        found = find(REC_OK);
        assert_string_equal(found, "/dev/null");
        free(found);
        (void)unsetenv("LIBRECORD_CONFIG");
        assert_int_equal(chmod(in_home, 0644), 0);
        found = find(REC_OK);
        assert_string_equal(found, in_home);
        free(found);
        assert_int_equal(chmod(below, 0777), 0); /* whoever may rename the file may replace it */
        free(find(REC_E_CONFIG));
        assert_non_null(strstr(rec_error_message(), "the directory is writable by others"));
        assert_int_equal(chmod(below, 0755), 0);
        if (geteuid() == 0) {
            assert_int_equal(chown(in_home, STRANGER, 0), 0);
            free(find(REC_E_CONFIG));
            assert_non_null(strstr(rec_error_message(), "the file belongs to user 12345"));
            assert_int_equal(chown(in_home, 0, 0), 0);
        } else {
            print_message("# needs root to give files away: owners are not tested\n");
        }
        (void)unsetenv(lenders[i]);
    }
    free(named);
    free(in_home);
    free(below);
    free(home);
}

static void a_context_takes_what_concerns_it(void **state)
{
    char *path = scratch_text(*state, "app.ini", "[librecord]\nthreads = 3\nplugins = none\ndepth = 50\n");
    rec_context *context = rec_config_open(path);
    assert_non_null(context);
    assert_int_equal(context->threads, 3);
    assert_int_equal(context->plugins, REC_PLUGINS_NONE);
    assert_int_equal(context->limits.depth, 50);
    rec_context_free(context);
    free(path);
}

/* -------------------------------------------------------------------------------------------------- hard times -- */

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

static void each_allocation_that_fails_is_an_error_and_leaks_nothing(void **state)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    char *path;
    long failures = 0;
    assert_non_null(stream);
    for (int i = 0; i < 40; i++) {
        (void)fprintf(stream, "[recorder recorder-%d]\nplugin = x\n", i);
        for (int j = 0; j < 10; j++) {
            (void)fprintf(stream, "option%d = value of it\n", j);
        }
    }
    (void)fprintf(stream, "[librecord]\nrecorder = a\nplugin_path = /b\n");
    assert_int_equal(fclose(stream), 0);
    path = scratch_write(*state, "app.ini", text, size);
    for (long i = 0;; i++) {
        poor p = {.fail_at = -1};
        rec_allocator allocator = {sizeof allocator, 0, poor_alloc, poor_resize, poor_release, &p};
        rec_context *context = rec_context_new(&allocator);
        lr_config *config;
        rec_job job;
        long before;
        assert_non_null(context);
        config = lr_config_new(&context->allocator);
        assert_non_null(config);
        before = p.live;
        lr_job_begin(&job, context, "configure", NULL);
        p.at = 0;
        p.fail_at = i;
        (void)lr_config_read(&job, config, path);
        if (lr_job_end(&job) == REC_OK) {
            assert_int_equal(lr_config_recorder_count(config), 40);
            assert_true(p.at <= p.fail_at);
            i = -1;
        } else {
            assert_int_equal(rec_error_status(), REC_E_MEMORY);
            assert_int_equal(lr_config_recorder_count(config), 0);
            assert_int_equal(p.live, before);
            failures++;
        }
        lr_config_free(config);
        rec_context_free(context);
        assert_int_equal(p.live, 0);
        if (i < 0) {
            break;
        }
    }
    assert_true(failures > 5);
    free(path);
    free(text);
}

static void no_prefix_and_no_changed_byte_of_a_file_does_harm(void **state)
{
    static const char text[] = "\xEF\xBB\xBF; a\n[librecord]\nthreads = 3\nmemory_slack = 1 MiB\n\n"
                               "[recorder x]\r\nplugin = y\r\nlevel = 2";
    scratch *s = *state;
    char changed[sizeof text];
    for (size_t i = 0; i < sizeof text; i++) {
        char *path = scratch_write(s, "app.ini", text, i);
        rec_context_free(rec_config_open(path));
        free(path);
    }
    for (size_t i = 0; i + 1 < sizeof text; i++) {
        for (int flip = 1; flip < 256; flip += 7) {
            char *path;
            memcpy(changed, text, sizeof text);
            changed[i] = (char)(changed[i] ^ flip);
            path = scratch_write(s, "app.ini", changed, sizeof text - 1);
            rec_context_free(rec_config_open(path));
            if (rec_error_status() != REC_OK) {
                assert_int_equal(rec_error_status(), REC_E_CONFIG);
                assert_true(rec_error_line() >= 1 && rec_error_line() <= 8);
            }
            free(path);
        }
    }
}

static void names_compare_without_case_and_joints(void **state)
{
    (void)state;
    assert_true(lr_name_same("mpk-gz", "MpkGz"));
    assert_true(lr_name_same("mpk.gz", "mpk_gz-"));
    assert_false(lr_name_same("mpk-gz", "mpk-g"));
    assert_false(lr_name_same("mpk", "mpkgz"));
    assert_true(lr_name_valid("0.b"));
    assert_false(lr_name_valid(""));
    assert_false(lr_name_valid("-._"));
    assert_false(lr_name_valid("a b"));
}

static void an_allocator_needs_all_its_functions(void **state)
{
    const rec_allocator whole = {
        .size = sizeof whole, .alloc = poor_alloc, .resize = poor_resize, .release = poor_release};
    rec_allocator parts[4] = {whole, whole, whole, whole};
    (void)state;
    parts[0].alloc = NULL;
    parts[1].resize = NULL;
    parts[2].release = NULL;
    parts[3].size = 8;
    for (size_t i = 0; i < 4; i++) {
        assert_null(rec_context_new(&parts[i]));
        assert_int_equal(rec_error_status(), REC_E_ARGUMENT);
        assert_string_equal(rec_error_message(),
                            "rec_context_new: an allocator needs its size and all three functions");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(each_mistake_has_its_message_and_nothing_of_the_file_counts),
        TEST(nul_bytes_are_refused_wherever_they_stand),
        TEST(a_line_may_have_a_mebibyte_and_no_more),
        TEST(a_file_may_have_16_mebibytes_and_no_more),
        TEST(recorders_and_options_are_counted),
        TEST(a_file_that_cannot_be_read_says_why),
        TEST(an_empty_file_changes_nothing),
        TEST(every_key_of_librecord_is_read),
        TEST(recorders_keep_their_options_in_order_with_lines),
        TEST(a_value_runs_to_the_end_of_its_line_whatever_is_in_it),
        TEST(names_may_have_64_bytes),
        TEST(limits_know_their_size),
        TEST(the_example_changes_nothing),
        TEST(the_example_is_right_without_its_comment_marks),
        TEST(a_changed_inih_loses_nothing_silently),
        TEST(the_first_of_variable_user_and_system_counts),
        TEST(test_borrowed_rights_need_trusted_files),
        TEST(a_context_takes_what_concerns_it),
        TEST(each_allocation_that_fails_is_an_error_and_leaks_nothing),
        TEST(no_prefix_and_no_changed_byte_of_a_file_does_harm),
        TEST(names_compare_without_case_and_joints),
        TEST(an_allocator_needs_all_its_functions),
    };
    return cmocka_run_group_tests_name("config", tests, NULL, NULL);
}
