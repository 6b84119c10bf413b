/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Codecs behind formats: names, options of both, presets, what is refused, and codecs that break their word. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "librecord.h"
#include "librecord/plugin.h"

/* -------------------------------------------------------------------------------- a codec: bytes xor its level -- */

typedef struct xor_filter {
    uint8_t key;
    rec_source *parent;
} xor_filter;

static int32_t xor_read(void *self, rec_job *job, void *target, uint64_t room, uint64_t *got)
{
    const xor_filter *filter = self;
    uint8_t *bytes = target;
    int32_t status = rec_source_read(job, filter->parent, target, room, got);
    for (uint64_t i = 0; status == REC_OK && i < *got; i++) {
        bytes[i] ^= filter->key;
    }
    return status;
}

static int32_t xor_rewind(void *self, rec_job *job)
{
    return rec_source_rewind(job, ((xor_filter *)self)->parent);
}

static int32_t xor_write(void *self, rec_sink *target, const void *data, uint64_t size)
{
    const uint8_t *bytes = data;
    int32_t status = REC_OK;
    for (uint64_t i = 0; i < size && status == REC_OK; i++) {
        uint8_t byte = bytes[i] ^ ((xor_filter *)self)->key;
        status = rec_sink_write(target, &byte, 1);
    }
    return status;
}

static const rec_source_ops xor_source = {
    .size = sizeof xor_source, .read = xor_read, .rewind = xor_rewind, .release = free};
static const rec_sink_ops xor_sink = {.size = sizeof xor_sink, .write = xor_write, .release = free};

/* What the codec was told by its options; one test runs at a time. */
static struct {
    int64_t level;
    char trailing[16];
    char none[8]; /* of an option that it has not */
    int decoded;
    uint32_t threads;
} seen;

static xor_filter *make_filter(rec_job *job, rec_source *parent)
{
    xor_filter *filter = malloc(sizeof *filter);
    assert_non_null(filter);
    seen.level = rec_job_option_int(job, "level");
    seen.threads = rec_job_threads(job);
    (void)snprintf(seen.trailing, sizeof seen.trailing, "%s", rec_job_option_text(job, "trailing"));
    (void)snprintf(seen.none, sizeof seen.none, "%s", rec_job_option_text(job, "colour"));
    *filter = (xor_filter){.key = (uint8_t)(0x40 + seen.level), .parent = parent};
    return filter;
}

static int32_t xor_decode(rec_job *job, rec_source *stored, rec_source **out)
{
    seen.decoded++;
    return rec_source_filter(job, stored, &xor_source, make_filter(job, stored), out);
}

static int32_t xor_encode(rec_job *job, rec_sink *target, rec_sink **out)
{
    *out = rec_sink_filter(job, target, &xor_sink, make_filter(job, NULL));
    return *out ? REC_OK : REC_E_MEMORY;
}

static const rec_option level = {.size = sizeof level,
                                 .type = REC_OPTION_INT,
                                 .name = "level",
                                 .initial = "1",
                                 .help = "the key",
                                 .minimum = 1,
                                 .maximum = 9};
/* A name that NamedMpk has, too. */
static const rec_option trailing = {.size = sizeof trailing,
                                    .type = REC_OPTION_CHOICE,
                                    .name = "trailing",
                                    .initial = "red",
                                    .help = "a colour",
                                    .choices = (const char *const[]){"red", "green", NULL}};
static const rec_option *const options[] = {&level, &trailing, NULL};

#define CODEC .abi = REC_PLUGIN_ABI, .size = sizeof(rec_plugin), .kind = REC_PLUGIN_CODEC
static const rec_plugin xor = {CODEC,
                               .name = "Xor",
                               .extension = "xor",
                               .description = "bytes turned over",
                               .options = options,
                               .decode = xor_decode,
                               .encode = xor_encode};
static const rec_plugin read_only = {CODEC,
                                     .name = "ReadOnly",
                                     .extension = "ro",
                                     .description = "it only decodes",
                                     .options = options,
                                     .decode = xor_decode};

#define STACK .abi = REC_PLUGIN_ABI, .size = sizeof(rec_plugin), .kind = REC_PLUGIN_STACK, .codec = "xor"
static const char *const presets[] = {"level=7", "xor-trailing=green", NULL};
static const char *const colour[] = {"colour=red", NULL}, *const twelve[] = {"level=12", NULL},
                         *const bare[] = {"level", NULL};
static const rec_plugin preset = {STACK,
                                  .name = "Secret",
                                  .extension = "secret",
                                  .description = "a preset",
                                  .format = "NamedMpk",
                                  .presets = presets};

static int setup(void **state)
{
    memset(&seen, 0, sizeof seen);
    *state = rec_context_new(NULL);
    assert_non_null(*state);
    return rec_context_add_plugin(*state, &xor) == REC_OK ? 0 : -1;
}

static int teardown(void **state)
{
    rec_context_free(*state);
    return 0;
}

static rec_record *make_record(rec_context *context)
{
    rec_record *record = rec_record_new(context);
    const float data[] = {1, 2, 3, 4, 5, 6};
    assert_non_null(record);
    assert_int_equal(rec_set_f32(record, "fc.weight", data, 2, (const uint64_t[]){3, 2}), REC_OK);
    return record;
}

static rec_recorder *open_recorder(rec_context *context, const char *name)
{
    rec_recorder *recorder = rec_open_recorder_in(context, name, REC_PRECISION_FULL);
    if (!recorder) {
        fail_msg("%s: %s", name, rec_error_message());
    }
    return recorder;
}

static void *save_bytes(rec_context *context, rec_recorder *recorder, uint64_t *size)
{
    rec_record *record = make_record(context);
    void *data = NULL;
    if (rec_save_bytes(recorder, record, &data, size) != REC_OK) {
        fail_msg("%s", rec_error_message());
    }
    rec_record_free(record);
    return data;
}

static void assert_reads(rec_recorder *recorder, const void *data, uint64_t size)
{
    rec_record *record = rec_load_bytes(recorder, data, size);
    const float *values;
    if (!record) {
        fail_msg("%s", rec_error_message());
    }
    values = rec_tensor_f32(rec_tensor_at(record, "fc.weight"));
    assert_non_null(values);
    assert_true(values[5] == 6);
    rec_record_free(record);
}

/* --------------------------------------------------------------------------------------------------- the tests -- */

static void a_pair_is_called_by_names_and_extensions_of_both(void **state)
{
    static const char *const names[] = {"mpk.xor", "NamedMpk.Xor", "named-mpk.XOR", "NamedMpk.xor", "Default.xor"};
    const rec_plugin_info *info = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        rec_recorder *recorder = open_recorder(*state, names[i]);
        assert_string_equal(rec_recorder_name(recorder), "NamedMpk.xor");
        assert_string_equal(rec_recorder_extension(recorder), "mpk.xor");
        rec_close_recorder(recorder);
        assert_true(!info || info == rec_plugin_find(*state, names[i])); /* there is one of it */
        info = rec_plugin_find(*state, names[i]);
    }
    assert_non_null(info);
    assert_int_equal(info->kind, REC_PLUGIN_STACK);
    assert_true(info->can_load && info->can_save && info->has_names && !info->reads_folders && !info->needs_type);
    assert_ptr_equal(rec_plugin_for_path(*state, "/a/b.mpk.xor"), info);
    assert_int_equal(rec_plugin_find(*state, "xor")->kind, REC_PLUGIN_CODEC);
    /* a path that is nothing but extensions has no name in front of them */
    assert_null(rec_plugin_for_path(*state, "/a/xor"));
    assert_null(rec_plugin_for_path(*state, "/a/b.xor"));
}

static void names_that_are_none_say_why(void **state)
{
    static const struct {
        const char *name, *words;
    } wrong[] = {
        {"xor", "Xor is a codec, not a recorder"},
        {"xor.xor", "Xor is a codec, not a recorder"},
        {"nope.xor", "no recorder is called \"nope.xor\": the name before the codec is not a format"},
        {"mpk.nope", "no recorder is called \"mpk.nope\""},
        {"mpk.gz.xor", "NamedMpkGz is in a codec already"},
        {"mpk.xor.xor", "the name before the codec is not a format"},
        {".xor", "Xor is a codec, not a recorder"},
        {"..", "no recorder is called \"..\""},
    };
    char many[400];
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_null(rec_open_recorder_in(*state, wrong[i].name, REC_PRECISION_FULL));
        if (!strstr(rec_error_message(), wrong[i].words)) {
            fail_msg("%s: %s", wrong[i].name, rec_error_message());
        }
    }
    rec_close_recorder(open_recorder(*state, "mpk.")); /* dots do not count: it is "mpk" */
    memset(many, '.', sizeof many - 1);
    memcpy(many + 390, "xor", 3);
    many[sizeof many - 1] = '\0';
    assert_null(rec_open_recorder_in(*state, many, REC_PRECISION_FULL));
}

static void options_of_both_reach_whose_they_are(void **state)
{
    rec_recorder *recorder = open_recorder(*state, "mpk.xor"), *other = open_recorder(*state, "mpk.xor");
    uint64_t size, more;
    uint8_t *data = save_bytes(*state, recorder, &size), *longer;
    assert_int_equal(seen.level, 1);
    assert_string_equal(seen.trailing, "red");
    assert_reads(recorder, data, size);
    /* `trailing` alone is the format's: bytes behind the record */
    more = size + 3;
    longer = malloc((size_t)more);
    assert_non_null(longer);
    memcpy(longer, data, (size_t)size);
    memset(longer + size, 0, 3);
    assert_null(rec_load_bytes(recorder, longer, more));
    assert_int_equal(rec_recorder_set(recorder, "trailing", "ignore"), REC_OK);
    assert_reads(recorder, longer, more);
    assert_string_equal(seen.trailing, "red");
    assert_int_equal(rec_recorder_set(recorder, "trailing", "green"), REC_E_ARGUMENT);
    assert_int_equal(rec_recorder_set(recorder, "xor-trailing", "green"), REC_OK);
    assert_int_equal(rec_recorder_set(recorder, "level", "3"), REC_OK);
    assert_int_equal(rec_recorder_set(recorder, "level", "10"), REC_E_ARGUMENT);
    free(data);
    data = save_bytes(*state, recorder, &size);
    assert_int_equal(seen.level, 3);
    assert_string_equal(seen.trailing, "green");
    assert_reads(recorder, data, size);
    assert_null(rec_load_bytes(other, data, size)); /* another key */
    assert_int_equal(rec_recorder_set(recorder, "colour", "red"), REC_E_ARGUMENT);
    assert_non_null(strstr(rec_error_message(), "level, xor-trailing, trailing"));
    free(longer);
    free(data);
    rec_close_recorder(recorder);
    rec_close_recorder(other);
}

static void an_option_that_a_codec_has_not_is_empty(void **state)
{
    rec_recorder *recorder = open_recorder(*state, "mpk.xor");
    uint64_t size;
    (void)snprintf(seen.none, sizeof seen.none, "unasked");
    rec_free(save_bytes(*state, recorder, &size));
    assert_string_equal(seen.none, "");
    rec_close_recorder(recorder);
}

/* A codec with an option of each other type, and what it was told. */
static struct {
    double weight, no_number;
    int64_t flag;
    char words[16];
} told;

static int32_t tell_encode(rec_job *job, rec_sink *target, rec_sink **out)
{
    told.weight = rec_job_option_float(job, "weight");
    told.no_number = rec_job_option_float(job, "words");
    told.flag = rec_job_option_int(job, "flag");
    (void)snprintf(told.words, sizeof told.words, "%s", rec_job_option_text(job, "words"));
    *out = rec_sink_filter(job, target, &xor_sink, calloc(1, sizeof(xor_filter)));
    return *out ? REC_OK : REC_E_MEMORY;
}

static void options_of_each_type_are_told(void **state)
{
    static const rec_option
        weight = {.size = sizeof weight,
                  .type = REC_OPTION_FLOAT,
                  .name = "weight",
                  .initial = "0.5",
                  .help = "how much"},
        flag = {.size = sizeof flag, .type = REC_OPTION_BOOL, .name = "flag", .initial = "yes", .help = "whether"},
        words = {.size = sizeof words, .type = REC_OPTION_TEXT, .name = "words", .initial = "", .help = "what is said"};
    static const rec_option *const each[] = {&weight, &flag, &words, NULL};
    static const rec_plugin teller = {
        CODEC,           .name = "Teller",     .extension = "told", .description = "it says what it was told",
        .options = each, .encode = tell_encode};
    rec_recorder *recorder;
    uint64_t size;
    assert_int_equal(rec_context_add_plugin(*state, &teller), REC_OK);
    assert_string_equal(
        rec_plugin_find(*state, "Teller")->options,
        "weight (number, 0.5): how much\nflag (yes|no, yes): whether\nwords (text, empty): what is said");
    recorder = open_recorder(*state, "mpk.told");
    free(save_bytes(*state, recorder, &size));
    assert_true(told.weight == 0.5 && told.no_number == 0);
    assert_int_equal(told.flag, 1);
    assert_string_equal(told.words, "");
    assert_int_equal(rec_recorder_set(recorder, "weight", "-1e3"), REC_OK);
    assert_int_equal(rec_recorder_set(recorder, "flag", "no"), REC_OK);
    assert_int_equal(rec_recorder_set(recorder, "words", "12.5"), REC_OK);
    free(save_bytes(*state, recorder, &size));
    assert_true(told.weight == -1000 && told.no_number == 12.5);
    assert_int_equal(told.flag, 0);
    assert_string_equal(told.words, "12.5");
    assert_int_equal(rec_recorder_set(recorder, "weight", "much"), REC_E_ARGUMENT);
    assert_string_equal(rec_error_message(), "expected a number for the option weight, found `much`");
    assert_int_equal(rec_recorder_set(recorder, "weight", ""), REC_E_ARGUMENT);
    assert_int_equal(rec_recorder_set(recorder, "flag", "maybe"), REC_E_ARGUMENT);
    assert_string_equal(rec_error_message(), "expected yes or no for the option flag, found `maybe`");
    rec_close_recorder(recorder);
}

static void a_stack_has_a_name_and_defaults_of_its_own(void **state)
{
    uint64_t size;
    void *data;
    rec_recorder *recorder;
    assert_int_equal(rec_context_add_plugin(*state, &preset), REC_OK);
    recorder = open_recorder(*state, "secret");
    data = save_bytes(*state, recorder, &size);
    assert_int_equal(seen.level, 7);
    assert_string_equal(seen.trailing, "green");
    free(data);
    assert_int_equal(rec_recorder_set(recorder, "level", "2"), REC_OK);
    data = save_bytes(*state, recorder, &size);
    assert_int_equal(seen.level, 2);
    free(data);
    rec_close_recorder(recorder);
    assert_string_equal(rec_plugin_for_path(*state, "a.secret")->name, "Secret");
    recorder = open_recorder(*state, "mpk.xor"); /* it is not what a pair means: it presets something */
    assert_string_equal(rec_recorder_name(recorder), "NamedMpk.xor");
    rec_close_recorder(recorder);
}

static void stacks_that_cannot_be_are_refused(void **state)
{
    static const struct {
        rec_plugin plugin;
        const char *words;
    } wrong[] = {
        {{STACK, .name = "S", .description = "d", .format = "NoSuch"}, "its format \"NoSuch\" is not there"},
        {{STACK, .name = "S", .description = "d", .format = "NamedMpkGz"}, "is not a format"},
        {{STACK, .name = "S", .description = "d", .format = "NamedMpk", .presets = colour},
         "its preset \"colour=red\" sets an option that neither NamedMpk nor Xor has"},
        {{STACK, .name = "S", .description = "d", .format = "NamedMpk", .presets = twelve},
         "its preset \"level=12\" is not a whole number from 1 to 9"},
    };
    static const struct {
        rec_plugin plugin;
        const char *words;
    } never[] = {
        {{STACK, .name = "S", .description = "d"}, "does not name its format and its codec"},
        {{STACK, .name = "S", .description = "d", .format = "NamedMpk", .traits = REC_TRAIT_TENSORS}, "it is a stack"},
        {{STACK, .name = "S", .description = "d", .format = "NamedMpk", .decode = xor_decode}, "it is a stack"},
        {{STACK, .name = "S", .description = "d", .format = "NamedMpk", .options = options}, "it is a stack"},
        {{STACK, .name = "S", .description = "d", .format = "NamedMpk", .presets = bare},
         "preset 1 is not of the form name=value"},
        {{CODEC, .name = "C", .description = "d", .extension = "c"}, "it can neither decode nor encode"},
        {{CODEC, .name = "C", .description = "d", .decode = xor_decode}, "without an extension"},
        {{CODEC, .name = "C", .description = "d", .extension = "c", .decode = xor_decode, .traits = REC_TRAIT_FOLDER},
         "has traits of a format"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        rec_context *context = rec_context_new(NULL);
        assert_int_equal(rec_context_add_plugin(context, &xor), REC_OK);
        assert_int_equal(rec_context_add_plugin(context, &wrong[i].plugin), REC_OK); /* what it names may come later */
        assert_null(rec_open_recorder_in(context, "S", REC_PRECISION_FULL));
        if (!strstr(rec_error_message(), wrong[i].words)) {
            fail_msg("%zu: %s", i, rec_error_message());
        }
        rec_context_free(context);
    }
    for (size_t i = 0; i < sizeof never / sizeof *never; i++) {
        assert_int_equal(rec_context_add_plugin(*state, &never[i].plugin), REC_E_PLUGIN);
        if (!strstr(rec_error_message(), never[i].words)) {
            fail_msg("%zu: %s", i, rec_error_message());
        }
    }
}

static void a_codec_that_only_decodes_only_loads(void **state)
{
    rec_recorder *writer = open_recorder(*state, "mpk.xor"), *reader;
    rec_record *record = make_record(*state);
    uint64_t size;
    void *data = save_bytes(*state, writer, &size), *none = NULL;
    assert_int_equal(rec_context_add_plugin(*state, &read_only), REC_OK);
    reader = open_recorder(*state, "mpk.ro");
    assert_reads(reader, data, size);
    assert_int_equal(rec_save_bytes(reader, record, &none, &size), REC_E_UNSUPPORTED);
    assert_string_equal(rec_error_message(), "(memory): NamedMpk.ro can only load");
    assert_null(rec_plugin_find(*state, "mpk.ro")->can_save ? "" : NULL);
    rec_record_free(record);
    rec_close_recorder(writer);
    rec_close_recorder(reader);
    free(data);
}

static void files_without_magic_are_known_by_their_name(void **state)
{
    char folder[] = "/tmp/librecord-codecs.XXXXXX", path[64], command[64];
    rec_recorder *any, *writer = open_recorder(*state, "mpk.xor"), *bytes = open_recorder(*state, "mpk-bytes.xor");
    rec_record *record = make_record(*state), *back;
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/a", folder);
    assert_int_equal(rec_save(bytes, record, path), REC_E_UNSUPPORTED);
    assert_int_equal(rec_recorder_set(writer, "check", "yes"), REC_OK);
    seen.decoded = 0;
    assert_int_equal(rec_save(writer, record, path), REC_OK);
    assert_int_equal(seen.decoded, 1); /* read back through the codec */
    (void)snprintf(path, sizeof path, "%s/a.mpk.xor", folder);
    assert_string_equal(rec_recognise(*state, path), "NamedMpk.xor");
    any = open_recorder(*state, "Auto");
    back = rec_load(any, path);
    assert_non_null(back);
    assert_string_equal(rec_record_origin(back)->recorder, "NamedMpk.xor");
    assert_int_equal(rec_save(any, back, path), REC_OK); /* by the name, again */
    rec_record_free(back);
    rec_record_free(record);
    rec_close_recorder(any);
    rec_close_recorder(writer);
    rec_close_recorder(bytes);
    (void)snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

/* --------------------------------------------------------------------------------------- codecs that break their word
 */

static int32_t decode_nothing(rec_job *job, rec_source *stored, rec_source **out)
{
    (void)job;
    (void)stored;
    (void)out;
    return REC_OK;
}

static int32_t decode_itself(rec_job *job, rec_source *stored, rec_source **out)
{
    (void)job;
    *out = stored;
    return REC_OK;
}

static int32_t decode_silent(rec_job *job, rec_source *stored, rec_source **out)
{
    (void)job;
    (void)stored;
    (void)out;
    return REC_E_FORMAT;
}

static int32_t decode_and_fail(rec_job *job, rec_source *stored, rec_source **out)
{
    (void)xor_decode(job, stored, out);
    (void)rec_fail(job, REC_E_FORMAT, 5, "it was not to be");
    return REC_OK;
}

static int32_t encode_nothing(rec_job *job, rec_sink *target, rec_sink **out)
{
    (void)job;
    (void)target;
    (void)out;
    return REC_OK;
}

static int32_t encode_itself(rec_job *job, rec_sink *target, rec_sink **out)
{
    (void)job;
    *out = target;
    return REC_OK;
}

static void broken_codecs_are_named(void **state)
{
    static const struct {
        int32_t (*decode)(rec_job *job, rec_source *stored, rec_source **out);
        int32_t (*encode)(rec_job *job, rec_sink *target, rec_sink **out);
        const char *words;
    } broken[] = {
        {decode_nothing, NULL, "the codec Broken added no filter"},
        {decode_itself, NULL, "the codec Broken added no filter"},
        {decode_silent, NULL, "the codec Broken stopped without a reason"},
        {decode_and_fail, NULL, "it was not to be"},
        {NULL, encode_nothing, "the codec Broken added no filter"},
        {NULL, encode_itself, "the codec Broken added no filter"},
    };
    rec_record *record = make_record(*state);
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        const rec_plugin codec = {CODEC,
                                  .name = "Broken",
                                  .extension = "broken",
                                  .description = "d",
                                  .options = options,
                                  .decode = broken[i].decode,
                                  .encode = broken[i].encode};
        rec_context *context = rec_context_new(NULL);
        rec_recorder *recorder;
        void *data = NULL;
        uint64_t size;
        assert_int_equal(rec_context_add_plugin(context, &codec), REC_OK);
        recorder = open_recorder(context, "mpk.broken");
        if (broken[i].decode) {
            assert_null(rec_load_bytes(recorder, "0123456789", 10));
        } else {
            assert_int_not_equal(rec_save_bytes(recorder, record, &data, &size), REC_OK);
            assert_null(data);
        }
        if (!strstr(rec_error_message(), broken[i].words)) {
            fail_msg("%zu: %s", i, rec_error_message());
        }
        rec_close_recorder(recorder);
        rec_context_free(context);
    }
    rec_record_free(record);
}

static void *open_many(void *context)
{
    const void *first = NULL;
    for (int i = 0; i < 200; i++) {
        const rec_plugin_info *info = rec_plugin_find(context, i % 2 ? "json.xor" : "bin.xor");
        first = info && i == 1 ? info : first;
    }
    return (void *)(uintptr_t)first;
}

static void threads_share_a_pair(void **state)
{
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    void *found[THREADS];
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, open_many, *state), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], &found[i]), 0);
        assert_non_null(found[i]);
        assert_ptr_equal(found[i], found[0]);
    }
}

static void a_codec_is_told_how_many_threads_it_may_use(void **state)
{
    static const uint32_t counts[] = {1, 3, 64};
    rec_recorder *recorder = open_recorder(*state, "mpk.xor");
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        uint64_t size;
        void *data;
        assert_int_equal(rec_context_set_threads(*state, counts[i]), REC_OK);
        data = save_bytes(*state, recorder, &size);
        assert_int_equal(seen.threads, counts[i]);
        seen.threads = 0;
        assert_reads(recorder, data, size);
        assert_int_equal(seen.threads, counts[i]);
        rec_free(data);
    }
    rec_close_recorder(recorder);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_pair_is_called_by_names_and_extensions_of_both),
        TEST(names_that_are_none_say_why),
        TEST(options_of_both_reach_whose_they_are),
        TEST(an_option_that_a_codec_has_not_is_empty),
        TEST(options_of_each_type_are_told),
        TEST(a_stack_has_a_name_and_defaults_of_its_own),
        TEST(stacks_that_cannot_be_are_refused),
        TEST(a_codec_that_only_decodes_only_loads),
        TEST(files_without_magic_are_known_by_their_name),
        TEST(broken_codecs_are_named),
        TEST(threads_share_a_pair),
        TEST(a_codec_is_told_how_many_threads_it_may_use),
    };
    return cmocka_run_group_tests_name("codecs", tests, NULL, NULL);
}
