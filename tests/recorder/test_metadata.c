/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Metadata that are no texts: set, read as text and as they are, kept by the formats that can, told by those that
 * cannot, and refused where they lie about Burn. */
#include <inttypes.h>
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

#define OK(call) assert_int_equal(call, REC_OK)

/* A record whose root is what becomes metadata elsewhere: one value of each kind. */
static rec_record *values_new(void)
{
    rec_record *record = rec_record_new(NULL);
    assert_non_null(record);
    OK(rec_set_uint(record, "blocks", 32));
    OK(rec_set_int(record, "below", -7));
    OK(rec_set_float(record, "epsilon", 1e-5));
    OK(rec_set_bool(record, "tied", 1));
    OK(rec_set_nil(record, "nothing"));
    OK(rec_set_string(record, "name", "llama \"3\""));
    OK(rec_set_scalar(record, "narrow", (rec_scalar){.kind = REC_KIND_FLOAT, .bits = 32, .v.f = 0.5}));
    OK(rec_set_scalar(record, "wide", (rec_scalar){.kind = REC_KIND_UINT, .bits = 64, .v.u = UINT64_MAX}));
    OK(rec_set_string(record, "tokens.0", "<s>"));
    OK(rec_set_string(record, "tokens.1", "\xc3\xa9"));
    OK(rec_set_uint(record, "rope.base", 10000));
    OK(rec_set_empty(record, "rope.scaling", REC_KIND_LIST));
    /* What looks like a parameter of Burn's, and like an optimizer's state: nothing of the kind here. */
    OK(rec_set_string(record, "odd.id", "0123456789abc"));
    OK(rec_set_string(record, "odd.param", "x"));
    OK(rec_set_uint(record, "states.00112233-4455-6677-8899-aabbccddeeff.V1", 1));
    return record;
}

/* Something with a tensor, and all of that as its metadata. */
static rec_record *model_new(const rec_record *values)
{
    rec_record *record = rec_record_new(NULL);
    const rec_value *root = rec_root(values);
    assert_non_null(record);
    OK(rec_set_f32(record, "weight", (const float[]){1, 2}, 1, (const uint64_t[]){2}));
    for (uint64_t i = 0; i < rec_value_count(root); i++) {
        OK(rec_metadata_set_value(record, rec_value_key(root, i).text, rec_value_item(root, i)));
    }
    OK(rec_metadata_set(record, "plain", "text"));
    return record;
}

/* @param widths whether those of numbers count, too. */
static void equal(const rec_value *a, const rec_value *b, bool widths)
{
    rec_scalar x = rec_value_scalar(a), y = rec_value_scalar(b);
    assert_non_null(a);
    assert_non_null(b);
    assert_int_equal(rec_value_kind(a), rec_value_kind(b));
    assert_int_equal(rec_value_count(a), rec_value_count(b));
    if (widths) {
        assert_int_equal(x.bits, y.bits);
    }
    if (x.kind == REC_KIND_STRING) {
        assert_string_equal(x.text, y.text);
    } else if (x.kind != REC_KIND_NIL) {
        assert_memory_equal(&x.v, &y.v, sizeof x.v);
    }
    for (uint64_t i = 0; i < rec_value_count(a); i++) {
        equal(rec_value_item(a, i), rec_value_item(b, i), widths);
    }
}

static void check_all(const rec_record *record, const rec_record *values, bool widths)
{
    const rec_value *root = rec_root(values);
    for (uint64_t i = 0; i < rec_value_count(root); i++) {
        equal(rec_metadata_value(record, rec_value_key(root, i).text), rec_value_item(root, i), widths);
    }
    assert_string_equal(rec_metadata(record, "plain"), "text");
}

static void values_are_texts_to_whoever_asks_for_texts(void **state)
{
    static const char *const texts[][2] = {
        {"blocks", "32"},
        {"below", "-7"},
        {"epsilon", "1e-05"},
        {"tied", "true"},
        {"nothing", "null"},
        {"name", "llama \"3\""},
        {"narrow", "0.5"},
        {"wide", "18446744073709551615"},
        {"tokens", "[\"<s>\",\"\xc3\xa9\"]"},
        {"rope", "{\"base\":10000,\"scaling\":[]}"},
        {"plain", "text"},
    };
    rec_record *values = values_new(), *record = model_new(values), *copy = rec_record_copy(record);
    const char *key, *text, *blocks = rec_metadata(record, "blocks");
    (void)state;
    check_all(record, values, true);
    check_all(copy, values, true);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_string_equal(rec_metadata(record, texts[i][0]), texts[i][1]);
        assert_string_equal(rec_metadata(copy, texts[i][0]), texts[i][1]);
    }
    assert_ptr_equal(rec_metadata(record, "blocks"), blocks);
    OK(rec_metadata_get(record, 1, &key, &text));
    assert_string_equal(key, "below");
    assert_string_equal(text, "-7");
    /* What was given stays; what is given now is what is there now. */
    OK(rec_metadata_set_value(record, "blocks", rec_value_at(values, "rope.base")));
    assert_string_equal(blocks, "32");
    assert_string_equal(rec_metadata(record, "blocks"), "10000");
    OK(rec_metadata_set_value(record, "blocks", NULL));
    assert_null(rec_metadata(record, "blocks"));
    assert_null(rec_metadata_value(record, "blocks"));
    assert_string_equal(rec_metadata(record, "below"), "-7");
    assert_string_equal(rec_metadata(record, "tokens"), "[\"<s>\",\"\xc3\xa9\"]");
    OK(rec_metadata_set(record, "tokens", "words"));
    assert_string_equal(rec_metadata(record, "tokens"), "words");
    assert_string_equal(blocks, "32");
    rec_record_free(copy);
    rec_record_free(record);
    rec_record_free(values);
}

static void what_is_no_metadata_is_refused(void **state)
{
    rec_record *values = values_new(), *record = model_new(values);
    (void)state;
    assert_int_equal(rec_metadata_set_value(record, "layer", rec_root(record)), REC_E_ARGUMENT);
    assert_non_null(strstr(rec_error_message(), "the metadata `layer` would hold a tensor"));
    assert_int_equal(rec_metadata_set_value(record, "version", rec_value_at(values, "blocks")), REC_E_ARGUMENT);
    assert_non_null(strstr(rec_error_message(), "option layout"));
    assert_int_equal(rec_metadata_set_value(NULL, "a", rec_root(values)), REC_E_ARGUMENT);
    assert_int_equal(rec_metadata_set_value(record, NULL, rec_root(values)), REC_E_ARGUMENT);
    assert_null(rec_metadata_value(record, "layer"));
    assert_null(rec_metadata_value(record, NULL));
    assert_null(rec_metadata_value(NULL, "a"));
    /* A value of its own. */
    OK(rec_metadata_set_value(record, "again", rec_metadata_value(record, "rope")));
    equal(rec_metadata_value(record, "again"), rec_value_at(values, "rope"), true);
    rec_record_free(record);
    rec_record_free(values);
}

static rec_record *through(const rec_record *record, const char *name, const char *option, uint64_t *notes)
{
    rec_recorder *recorder = rec_open_recorder(name, REC_PRECISION_KEEP);
    rec_record *again;
    void *bytes;
    uint64_t size;
    assert_non_null(recorder);
    OK(rec_recorder_set(recorder, "check", "yes"));
    if (strcmp(name, "Safetensors") == 0) {
        OK(rec_recorder_set(recorder, "adapter", "none"));
    }
    if (option) {
        OK(rec_recorder_set(recorder, option, "no"));
    }
    if (rec_save_bytes(recorder, record, &bytes, &size) != REC_OK) {
        fail_msg("%s: %s", name, rec_error_message());
    }
    *notes = rec_report_count();
    for (uint64_t i = 0; i < *notes; i++) {
        print_message("# %s: %s: %s\n", name, rec_report_note(i)->path, rec_report_note(i)->text);
    }
    again = rec_load_bytes(recorder, bytes, size);
    if (!again) {
        fail_msg("%s: %s", name, rec_error_message());
    }
    rec_free(bytes);
    rec_close_recorder(recorder);
    return again;
}

static void formats_that_can_keep_them(void **state)
{
    static const struct {
        const char *name;
        bool widths;
    } formats[] = {
        {"NamedMpk", false}, {"NamedMpkGz", false}, {"PrettyJson", false}, {"JsonGz", false}, {"Safetensors", true}};
    rec_record *values = values_new(), *record = model_new(values);
    uint64_t notes;
    (void)state;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        rec_record *again = through(record, formats[i].name, NULL, &notes);
        print_message("# %s\n", formats[i].name);
        assert_int_equal(notes, strcmp(formats[i].name, "Safetensors") == 0); /* whose layout it is */
        check_all(again, values, formats[i].widths);
        rec_record_free(again);
    }
    rec_record_free(record);
    rec_record_free(values);
}

/* Flat names, as other frameworks have them: texts beside, and librecord's own beside them. */
static void a_foreign_file_keeps_them(void **state)
{
    static const char header[] =
        "{\"__metadata__\":{\"format\":\"pt\"},\"a.b\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}";
    uint8_t file[8 + sizeof header] = {sizeof header - 1};
    rec_recorder *recorder = rec_open_recorder("Safetensors", REC_PRECISION_KEEP);
    rec_record *values = values_new(), *record, *again;
    const rec_value *root = rec_root(values);
    uint8_t *bytes;
    uint64_t size;
    (void)state;
    memcpy(file + 8, header, sizeof header - 1);
    OK(rec_recorder_set(recorder, "adapter", "none"));
    OK(rec_recorder_set(recorder, "gaps", "keep")); /* the file as it is */
    record = rec_load_bytes(recorder, file, sizeof file);
    if (!record) {
        fail_msg("%s", rec_error_message());
    }
    assert_int_equal(rec_value_form(rec_root(record)), REC_FORM_PATHS);
    for (uint64_t i = 0; i < rec_value_count(root); i++) {
        OK(rec_metadata_set_value(record, rec_value_key(root, i).text, rec_value_item(root, i)));
    }
    OK(rec_metadata_set(record, "plain", "text"));
    OK(rec_save_bytes(recorder, record, (void **)&bytes, &size));
    assert_int_equal(rec_report_count(), 0);
    assert_memory_equal(bytes + 8, "{\"__metadata__\":{\"format\":\"pt\",\"name\":", 38);
    again = rec_load_bytes(recorder, bytes, size);
    if (!again) {
        fail_msg("%s", rec_error_message());
    }
    check_all(again, values, true);
    assert_string_equal(rec_metadata(again, "format"), "pt");
    assert_null(rec_metadata(again, "librecord.metadata"));
    rec_record_free(again);
    rec_free(bytes);
    rec_record_free(record);
    rec_close_recorder(recorder);
    rec_record_free(values);
}

static void formats_that_cannot_tell(void **state)
{
    rec_record *values = values_new(), *record = model_new(values), *again;
    uint64_t notes;
    (void)state;
    again = through(record, "Safetensors", "record", &notes);
    assert_int_equal(notes, 3); /* what is no text, the id, and that nothing says whose layout it is */
    assert_null(rec_metadata(again, "blocks"));
    assert_string_equal(rec_metadata(again, "plain"), "text");
    rec_record_free(again);
    rec_record_free(record);
    rec_record_free(values);
}

/* What no reader may believe: each as JSON, with the words of the refusal. */
static void what_lies_is_refused(void **state)
{
    static const char *const files[][2] = {
        {"{\"metadata\":{\"version\":21},\"item\":{}}",
         "expected a text as Burn's own metadata, found an unsigned integer"},
        {"{\"metadata\":{\"float\":{\"id\":\"a\",\"param\":1}},\"item\":{}}", "value of `float`"},
        {"{\"metadata\":[1],\"item\":{}}", "a map of texts"},
    };
    rec_recorder *recorder = rec_open_recorder("PrettyJson", REC_PRECISION_KEEP);
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        assert_null(rec_load_bytes(recorder, files[i][0], strlen(files[i][0])));
        if (!strstr(rec_error_message(), files[i][1])) {
            fail_msg("%s", rec_error_message());
        }
    }
    rec_close_recorder(recorder);
}

/* The text of librecord's own in a safetensors file may be anything. */
static void its_text_may_be_anything(void **state)
{
    static const char *const texts[][2] = {
        {"[1,{}]", NULL},
        {"[1,{\\\"a\\\":[\\\"u8\\\",3]}]", NULL},
        {"[1,{\\\"a\\\":[\\\"vec\\\",[1,2]]}]", NULL},
        {"[1,{\\\"a\\\":[\\\"bytes\\\",\\\"00ff\\\"]}]", NULL},
        {"[2,{}]", "versions up to 1"},
        {"[0,{}]", "versions up to 1"},
        {"[1,{}", "`]` at the end"},
        {"[1,{}]x", "nothing after"},
        {"", "a list, [version"},
        {"[1,{\\\"a\\\":[\\\"tensor\\\"]}]", "metadata without tensors"},
        {"[1,{\\\"a\\\":[\\\"blob\\\"]}]", "metadata without tensors"},
        {"[1,{\\\"a\\\":[\\\"paths\\\",{}]}]", "metadata without tensors"},
        {"[1,{\\\"a\\\":{\\\"b\\\":[\\\"tensor\\\"]}}]", "metadata without tensors"},
        {"[1,{\\\"a\\\":1,\\\"a\\\":2}]", "occurs twice"},
        {"[1,{\\\"format\\\":2}]", "occurs twice"},
        {"[1,{\\\"a\\\":[\\\"u8\\\",300]}]", "of the text `librecord.metadata`"},
        {"[1,{\\\"a\\\":[\\\"bytes\\\",\\\"0\\\"]}]", "pairs of hexadecimal digits"},
    };
    rec_recorder *recorder = rec_open_recorder("Safetensors", REC_PRECISION_KEEP);
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char file[512] = "";
        int length = snprintf(file + 8, sizeof file - 8,
                              "{\"__metadata__\":{\"format\":\"pt\",\"librecord.metadata\":\"%s\"},"
                              "\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}",
                              texts[i][0]);
        rec_record *record;
        file[0] = (char)(length & 0xFF);
        file[1] = (char)(length >> 8);
        record = rec_load_bytes(recorder, file, 8 + (size_t)length + 1);
        if (!record != !!texts[i][1] || (!record && !strstr(rec_error_message(), texts[i][1]))) {
            fail_msg("%s: %s", texts[i][0], record ? "read" : rec_error_message());
        }
        rec_record_free(record);
    }
    rec_close_recorder(recorder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_texts_to_whoever_asks_for_texts),
        cmocka_unit_test(what_is_no_metadata_is_refused),
        cmocka_unit_test(formats_that_can_keep_them),
        cmocka_unit_test(a_foreign_file_keeps_them),
        cmocka_unit_test(formats_that_cannot_tell),
        cmocka_unit_test(what_lies_is_refused),
        cmocka_unit_test(its_text_may_be_anything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
