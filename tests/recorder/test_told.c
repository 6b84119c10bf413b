/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What a bridge between versions drops, merges or makes up is told, with its path and value, or refused; what means the
 * same is not. Records are written as JSON text here, so that each says by itself what is in it. */
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

static rec_types *types;

/* A record of a version, what is asked of it, and what must be said. */
typedef struct bridge {
    const char *version, *type, *item, *layout;
    int32_t status; /* of the save */
    int32_t kind;   /* of the one note, 0: none may be made */
    uint64_t count;
    const char *path, *words; /* of the note or the error */
    const char *written;      /* what the file must hold, NULL: does not matter */
} bridge;

#define FLOATS(name, id) \
    "\"" name "\":{\"id\":\"" id "\",\"param\":{\"bytes\":[0,0,128,63],\"shape\":[1],\"dtype\":\"F32\"}}"
#define LINEAR \
    "{\"weight\":{\"id\":\"0123456789abc\",\"param\":{\"bytes\":[],\"shape\":[0,1],\"dtype\":\"F32\"}},\"bias\":null}"
#define GATE "{\"input_transform\":" LINEAR ",\"hidden_transform\":" LINEAR "}"
#define STATE "{\"V1\":{\"Rank1\":{\"momentum\":null}}}"
#define UUID_A "00112233-4455-6677-8899-aabbccddeeff"
#define UUID_B "00112233-4455-6677-ffff-aabbccddeeff" /* begins as the one before */
#define UUID_C "ff112233-4455-6677-ffff-aabbccddeeff"
#define TENSOR(dtype, bytes) "{\"bytes\":[" bytes "],\"shape\":[1],\"dtype\":" dtype "}"

static const bridge bridges[] = {
    /* schedulers */
    {"0.14.0", "CosineAnnealingLrScheduler", "[0.25,0.001,0.5,1000,17]", "burn-0.21", REC_OK, REC_NOTE_DROPPED, 4, "",
     "of these 5 values Burn 0.21 keeps the one at 4, and the others are left out: 0 = 0.25, 1 = 0.001, 2 = 0.5, 3 = "
     "1000",
     "\"item\":17,"},
    {"0.13.2", "ExponentialLrScheduler", "[0.079389262614623671,0.99]", "burn-0.18", REC_OK, REC_NOTE_DROPPED, 1, "",
     "1 = 0.99", "\"item\":0.07938926261462367,"},
    {"0.14.0", "LinearLrScheduler", "[0.1,-0.00009,81]", "burn-0.15", REC_OK, REC_NOTE_DROPPED, 2, "",
     "0 = 0.1, 1 = -9e-05", "\"item\":81,"},
    {"0.14.0", "CosineAnnealingLrScheduler", "[1,2,3,4,5,6]", "burn-0.21", REC_E_MISMATCH, 0, 0, NULL,
     "expected an unsigned integer", NULL},
    {"0.21.0", "CosineAnnealingLrScheduler", "17", "burn-0.14", REC_E_MISMATCH, 0, 0, NULL, "expected a tuple of 5",
     NULL},
    {"0.21.0", "CosineAnnealingLrScheduler", "17", "burn-0.14", REC_E_MISMATCH, 0, 0, NULL,
     "The record is of Burn 0.21, which may not store what Burn 0.14 has here.", NULL},
    {"0.14.0", "NoamLrScheduler", "17", "burn-0.21", REC_OK, 0, 0, NULL, NULL, "\"item\":17,"},
    {"0.14.0", "Vec<ExponentialLrScheduler>", "[[0.5,1.0],[0.25,2.0],[0.125,3.0],[0.5,4.0],[0.5,5.0],[0.5,6.0]]",
     "burn-0.21", REC_OK, REC_NOTE_DROPPED, 6, "0", "1 = 1; likewise 1 (1 = 2), 2 (1 = 3), 3 (1 = 4) and 2 more",
     "[0.5,0.25,0.125,0.5,0.5,0.5]"},
    /* parameters that a version always has */
    {"0.20.0", "LayerNorm", "{" FLOATS("gamma", "0123456789abc") ",\"beta\":null,\"epsilon\":null}", "burn-0.18",
     REC_OK, REC_NOTE_ASSUMED, 1, "beta",
     "Burn 0.18 always has this parameter, and the record does not: zeros were written",
     "\"bytes\":[0,0,0,0],\"shape\":[1]"},
    {"0.20.0", "LayerNorm", "{" FLOATS("gamma", "0123456789abc") ",\"beta\":null,\"epsilon\":null}", "burn-0.21",
     REC_OK, 0, 0, NULL, NULL, "\"beta\":null"},
    /* activations that were built in are the same; of another version's own they are not */
    {"0.18.0", "Gru",
     "{\"update_gate\":" GATE ",\"reset_gate\":" GATE ",\"new_gate\":" GATE ",\"d_hidden\":null,\"reset_after\":null}",
     "burn-0.21", REC_OK, 0, 0, NULL, NULL, "\"gate_activation\":{\"Sigmoid\":null}"},
    {"0.21.0", "Gru",
     "{\"update_gate\":" GATE ",\"reset_gate\":" GATE ",\"new_gate\":" GATE
     ",\"d_hidden\":null,\"reset_after\":null,\"gate_activation\":{\"Sigmoid\":null},\"clip\":null}",
     "burn-0.21", REC_OK, REC_NOTE_ASSUMED, 1, "hidden_activation",
     "the record lacks this field, and its default was written: Tanh", NULL},
    {"0.21.0", "Gru",
     "{\"update_gate\":" GATE ",\"reset_gate\":" GATE ",\"new_gate\":" GATE
     ",\"d_hidden\":null,\"reset_after\":null,\"gate_activation\":{\"Sigmoid\":null},\"hidden_activation\":{\"Tanh\":"
     "null},"
     "\"clip\":null}",
     "burn-0.18", REC_OK, 0, 0, NULL, NULL, NULL},
    {"0.21.0", "Gru",
     "{\"update_gate\":" GATE ",\"reset_gate\":" GATE ",\"new_gate\":" GATE
     ",\"d_hidden\":null,\"reset_after\":null,\"gate_activation\":{\"Relu\":null},\"hidden_activation\":{\"Tanh\":null}"
     ","
     "\"clip\":null}",
     "burn-0.18", REC_E_MISMATCH, 0, 0, NULL, "gate_activation", NULL},
    /* fields that moved, and what lies beside them */
    {"0.13.2", "InstanceNorm",
     "{\"group_norm\":{\"num_groups\":null,\"num_channels\":null,\"gamma\":null,\"beta\":null,"
     "\"epsilon\":null,\"affine\":null}}",
     "burn-0.18", REC_OK, 0, 0, NULL, NULL, NULL},
    {"0.13.2", "InstanceNorm",
     "{\"group_norm\":{\"num_groups\":null,\"num_channels\":null,\"gamma\":null,\"beta\":null,"
     "\"epsilon\":null,\"affine\":null},\"extra\":5}",
     "burn-0.18", REC_E_MISMATCH, 0, 0, NULL, "extra", NULL},
    {"0.13.2", "InstanceNorm",
     "{\"group_norm\":{\"num_groups\":null,\"num_channels\":null,\"gamma\":null,\"beta\":null,"
     "\"epsilon\":null,\"affine\":null,\"extra\":5}}",
     "burn-0.18", REC_E_MISMATCH, 0, 0, NULL, "group_norm.extra", NULL},
    {"0.18.0", "InstanceNorm", "{\"gamma\":null,\"beta\":null,\"num_channels\":null,\"epsilon\":null,\"affine\":null}",
     "burn-0.13", REC_OK, 0, 0, NULL, NULL, "\"group_norm\":{"},
    /* constants: fields come and go, in one version they do not */
    {"0.11.0", "TransformerEncoder", "{\"layers\":[]}", "burn-0.21", REC_OK, 0, 0, NULL, NULL, "\"d_model\":null"},
    {"0.21.0", "Linear", "{\"weight\":" TENSOR("\"F32\"", "0,0,0,0") ",\"bias\":null}", "burn-0.21", REC_E_MISMATCH, 0,
     0, NULL, "weight", NULL},
    {"0.21.0", "Embedding",
     "{\"weight\":{\"id\":\"0123456789abc\",\"param\":{\"bytes\":[],\"shape\":[0,1],\"dtype\":\"F32\"}},"
     "\"scale\":null}",
     "burn-0.21", REC_OK, REC_NOTE_DROPPED, 1, "scale", "the type has no such field: it is empty and was left out",
     NULL},
    {"0.21.0", "CrossEntropyLoss", "{\"pad_tokens\":null,\"weights\":null,\"smoothing\":null,\"logits\":null}",
     "burn-0.18", REC_OK, 0, 0, NULL, NULL, NULL},
    {"0.18.0", "MaxPools", "{\"sizes\":[null,null,null],\"w\":" LINEAR "}", "burn-0.18", REC_OK, REC_NOTE_LAYOUT, 1,
     "sizes", "3 constants where the type has 2", "[null,null]"},
    {"0.21.0", "Pools", "{\"list\":null,\"w\":" LINEAR "}", "burn-0.18", REC_OK, REC_NOTE_LAYOUT, 1, "list",
     "an empty list was written", NULL},
    /* optimizers */
    {"0.21.0", "Adam",
     "{\"0123456789abc\":{\"V1\":{\"Rank1\":{\"momentum\":{\"time\":1,\"moment_1\":" TENSOR(
         "\"F32\"", "0,0,0,0") ",\"moment_2\":" TENSOR("\"F32\"",
                                                       "0,0,0,0") ",\"max_moment_2\":" TENSOR("\"F32\"",
                                                                                              "0,0,0,0") "}}}}}",
     "burn-0.20", REC_E_MISMATCH, 0, 0, NULL, "max_moment_2", NULL},
    {"0.21.0", "Adam",
     "{\"0123456789abc\":{\"V1\":{\"Rank1\":{\"momentum\":{\"time\":1,\"moment_1\":" TENSOR(
         "\"F32\"", "0,0,0,0") ",\"moment_2\":" TENSOR("\"F32\"", "0,0,0,0") ",\"max_moment_2\":null}}}}}",
     "burn-0.20", REC_OK, 0, 0, NULL, NULL, NULL},
    {"0.21.0", "Sgd", "{\"0123456789abc\":{\"V1\":{\"Rank0\":{\"momentum\":null}}}}", "burn-0.12", REC_E_MISMATCH, 0, 0,
     NULL, "Rank0", NULL},
    /* ids */
    {"0.13.2", "Sgd", "{\"" UUID_A "\":" STATE ",\"" UUID_C "\":" STATE "}", "burn-0.21", REC_OK, REC_NOTE_LAYOUT, 2,
     UUID_A, "Burn 0.21 has ids of 64 bits: the first half of a UUID was taken", "\"008i4cq4alj7e\""},
    {"0.13.2", NULL, "{\"" UUID_A "\":" STATE ",\"" UUID_C "\":" STATE "}", "burn-0.21", REC_OK, REC_NOTE_LAYOUT, 2,
     UUID_A, "Burn 0.21 has ids of 64 bits: the first half of a UUID was taken", "\"008i4cq4alj7e\""},
    {"0.13.2", "Sgd", "{\"" UUID_A "\":" STATE ",\"" UUID_B "\":" STATE "}", "burn-0.21", REC_E_UNSUPPORTED, 0, 0, NULL,
     "two ids of parameters would both become 008i4cq4alj7e", NULL},
    {"0.13.2", NULL, "{\"" UUID_A "\":" STATE ",\"" UUID_B "\":" STATE "}", "burn-0.21", REC_E_UNSUPPORTED, 0, 0, NULL,
     "two ids of parameters would both become 008i4cq4alj7e", NULL},
    {"0.14.0", "Sgd", "{\"0123456780\":" STATE "}", "burn-0.21", REC_OK, 0, 0, NULL, NULL, "\"0123456780000\""},
    {"0.14.0", "Sgd", "{\"0123456789\":" STATE "}", "burn-0.21", REC_OK, 0, 0, NULL, NULL, "\"0123456789\""}, /* none */
    {"0.21.0", "Sgd", "{\"0123456789abc\":" STATE "}", "burn-0.13", REC_OK, 0, 0, NULL, NULL, "\"0123456789abc\""},
    /* element types */
    {"0.21.0", "Tensor<B, 1, Bool>", TENSOR("{\"Bool\":\"U32\"}", "1,0,0,0"), "burn-0.18", REC_OK, REC_NOTE_DROPPED, 1,
     "", "Burn 0.18 has no element type bool32: the same values were written as bool", "\"bytes\":[1],"},
    {"0.21.0", "Tensor<B, 1>", TENSOR("\"Flex32\"", "0,0,128,63"), "burn-0.16", REC_OK, REC_NOTE_DROPPED, 1, "",
     "Burn 0.16 has no element type flex32: the same values were written as f32", "\"bytes\":[0,0,128,63],"},
    {"0.21.0", NULL,
     TENSOR("{\"QFloat\":{\"value\":\"Q8S\",\"param\":\"F32\",\"store\":\"Native\",\"level\":\"Tensor\","
            "\"mode\":\"Symmetric\"}}",
            "1,0,0,0,0"),
     "burn-0.18", REC_E_UNSUPPORTED, 0, 0, NULL, "a quantised tensor whose scheme is not in the form", NULL},
    {"0.21.0", NULL,
     TENSOR("{\"QFloat\":{\"value\":\"Q8S\",\"param\":\"F32\",\"store\":{\"PackedU32\":0},\"level\":\"Tensor\","
            "\"mode\":\"Symmetric\"}}",
            "1,0,0,0,0"),
     "burn-0.19", REC_E_UNSUPPORTED, 0, 0, NULL, "a quantised tensor whose scheme is not in the form", NULL},
    /* variants that had something to say */
    {"0.21.0", "Told", "{\"Empty\":5}", "burn-0.21", REC_E_MISMATCH, 0, 0, NULL, "expected a variant without data",
     NULL},
    {"0.21.0", "Told", "\"Empty\"", "burn-0.21", REC_OK, 0, 0, NULL, NULL, "\"item\":\"Empty\""},
};

static rec_recorder *recorder(const char *name, const char *type, const char *layout)
{
    rec_recorder *r = rec_open_recorder(name, REC_PRECISION_KEEP);
    assert_non_null(r);
    if ((layout && rec_recorder_set(r, "layout", layout) != REC_OK) ||
        (type && rec_recorder_set_type_name(r, types, type) != REC_OK)) {
        fail_msg("%s", rec_error_message());
    }
    return r;
}

/* A record of JSON. */
static rec_record *load(const char *version, const char *item)
{
    rec_recorder *r = recorder("PrettyJson", NULL, NULL);
    char *text = NULL;
    rec_record *record;
    assert_true(asprintf(&text,
                         "{\"metadata\":{\"float\":\"f32\",\"int\":\"i32\",\"format\":\"x\",\"version\":\"%s\","
                         "\"settings\":\"FullPrecisionSettings\"},\"item\":%s,\"_b\":null}",
                         version, item) > 0);
    record = rec_load_bytes(r, text, strlen(text));
    rec_close_recorder(r);
    if (!record) {
        fail_msg("%s\n%s", rec_error_message(), text);
    }
    free(text);
    return record;
}

/* JSON without blanks. */
static char *squeezed(const char *text, size_t size)
{
    char *out = calloc(1, size + 1), *to = out;
    assert_non_null(out);
    for (size_t i = 0; i < size; i++) {
        if (text[i] != ' ' && text[i] != '\n') {
            *to++ = text[i];
        }
    }
    return out;
}

static void every_loss_is_told_or_refused(void **state)
{
    size_t failures = 0;
    (void)state;
    for (size_t i = 0; i < sizeof bridges / sizeof *bridges; i++) {
        const bridge *b = &bridges[i];
        rec_record *record = load(b->version, b->item);
        rec_recorder *r = recorder("PrettyJson", b->type, b->layout);
        void *data = NULL;
        uint64_t size = 0;
        rec_status status = rec_save_bytes(r, record, &data, &size);
        const rec_note *note = rec_report_note(0);
        char *text = squeezed(data ? data : "", (size_t)size);
        bool right = status == b->status;
        if (status != REC_OK) {
            right = right && strstr(rec_error_message(), b->words);
        } else if (!b->kind) {
            right = right && rec_report_count() == 0;
        } else {
            right = right && rec_report_count() == 1 && note && note->kind == b->kind && note->count == b->count &&
                    strcmp(note->path, b->path) == 0 && strstr(note->text, b->words);
        }
        if (!right || (b->written && status == REC_OK && !strstr(text, b->written))) {
            print_message("%zu: %s %s to %s: status %d (%s), %d notes: kind %d, count %d, \"%s\": %s\n%s\n", i,
                          b->version, b->type ? b->type : "without type", b->layout, (int)status, rec_error_message(),
                          (int)rec_report_count(), note ? (int)note->kind : 0, note ? (int)note->count : 0,
                          note ? note->path : "", note ? note->text : "", text);
            failures++;
        }
        free(text);
        rec_free(data);
        rec_record_free(record);
        rec_close_recorder(r);
    }
    assert_int_equal(failures, 0);
}

/* A thousand of a kind are one line, with as many counted. */
static void ten_thousand_of_a_kind_are_one_line(void **state)
{
    enum { MANY = 10000 };
    static const char one[] = "{" FLOATS("gamma", "0123456789abc") ",\"beta\":null,\"epsilon\":null},";
    char *text = malloc(MANY * sizeof one + 2), *to = text;
    rec_recorder *r = recorder("NamedMpk", "Vec<LayerNorm<B>>", "burn-0.18");
    rec_record *record;
    void *data;
    uint64_t size;
    (void)state;
    assert_non_null(text);
    *to++ = '[';
    for (int i = 0; i < MANY; i++) {
        memcpy(to, one, sizeof one - 1);
        to += sizeof one - 1;
    }
    memcpy(to - 1, "]", 2);
    record = load("0.21.0", text);
    assert_int_equal(rec_save_bytes(r, record, &data, &size), REC_OK);
    assert_int_equal(rec_report_count(), 1);
    assert_int_equal(rec_report_note(0)->count, MANY);
    assert_string_equal(rec_report_note(0)->path, "0.beta");
    assert_non_null(strstr(rec_report_note(0)->text, "; likewise 1.beta, 2.beta, 3.beta and 9,996 more"));
    rec_free(data);
    rec_record_free(record);
    rec_close_recorder(r);
    free(text);
}

/* JSON has no word for them. */
static void numbers_that_json_has_not_are_told(void **state)
{
    rec_record *record = rec_record_new(NULL);
    rec_recorder *r = recorder("PrettyJson", NULL, NULL);
    void *data;
    uint64_t size;
    (void)state;
    assert_int_equal(rec_set_float(record, "a", 1), REC_OK);
    assert_int_equal(rec_set_float(record, "b", -1.0 / 0.0), REC_OK);
    assert_int_equal(rec_set_float(record, "c", __builtin_nan("")), REC_OK);
    assert_int_equal(rec_save_bytes(r, record, &data, &size), REC_OK);
    assert_int_equal(rec_report_count(), 1);
    assert_int_equal(rec_report_note(0)->kind, REC_NOTE_DROPPED);
    assert_string_equal(rec_report_note(0)->path, "b");
    assert_non_null(strstr(rec_report_note(0)->text, "2 numbers were written as null"));
    rec_free(data);
    rec_record_free(record);
    rec_close_recorder(r);
}

/* 0 and "0" are one key. Keys are text in JSON: of 0 and "1" it could not tell which one is the number. */
static void keys_that_json_cannot_tell_apart_are_refused(void **state)
{
#define TWO_KEYS(second)                  \
    "\x83\xa8metadata\x81\xa7version\xa6" \
    "0.21.0\xa4item\x82\x00\xc3\xa1" second "\xc2\xa2_b\x90"
    static const char same[] = TWO_KEYS("0"), mixed[] = TWO_KEYS("1");
#undef TWO_KEYS
    rec_recorder *mpk = recorder("NamedMpk", NULL, NULL), *json = recorder("PrettyJson", NULL, NULL);
    rec_record *record = rec_load_bytes(mpk, mixed, sizeof mixed - 1);
    void *data = NULL;
    uint64_t size;
    (void)state;
    if (!record) {
        fail_msg("%s", rec_error_message());
    }
    assert_int_equal(rec_save_bytes(json, record, &data, &size), REC_E_UNSUPPORTED);
    assert_non_null(strstr(rec_error_message(), "a map with texts and numbers as keys"));
    assert_null(rec_load_bytes(mpk, same, sizeof same - 1));
    assert_int_equal(rec_error_status(), REC_E_FORMAT);
    assert_non_null(strstr(rec_error_message(), "the key `0` occurs twice in one map, as entries 1 and 2"));
    rec_record_free(record);
    rec_close_recorder(mpk);
    rec_close_recorder(json);
}

/* Up to 0.11 integers are kept as floats; what is none is no integer. */
static void a_fraction_is_no_integer(void **state)
{
    static const char *const texts[] = {"3.0", "1.5", "-0.5"};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        rec_recorder *r = recorder("PrettyJson", "Param<Tensor<B, 1, Int>>", NULL);
        char *text = NULL;
        rec_record *record;
        assert_true(asprintf(&text,
                             "{\"metadata\":{\"float\":\"f32\",\"int\":\"i32\",\"format\":\"x\",\"version\":\"0.11.0\","
                             "\"settings\":\"FullPrecisionSettings\"},\"item\":{\"id\":\"" UUID_A
                             "\",\"param\":{\"value\":[%s],\"shape\":[1]}}}",
                             texts[i]) > 0);
        record = rec_load_bytes(r, text, strlen(text));
        if (i == 0) {
            assert_non_null(record);
            assert_int_equal(rec_tensor_i32(rec_tensor_at(record, ""))[0], 3);
        } else {
            assert_null(record);
            assert_true(rec_error_status() == REC_E_MISMATCH || rec_error_status() == REC_E_RANGE);
        }
        rec_record_free(record);
        rec_close_recorder(r);
        free(text);
    }
}

/* A type may ask for less than a number has. */
static void a_double_that_becomes_a_float_is_told(void **state)
{
    rec_record *record = rec_record_new(NULL);
    rec_recorder *r = recorder("NamedMpk", "Vec<f32>", NULL);
    void *data;
    uint64_t size;
    (void)state;
    assert_int_equal(rec_set_empty(record, "", REC_KIND_LIST), REC_OK);
    assert_int_equal(rec_set_float(record, "0", 0.5), REC_OK);
    assert_int_equal(rec_set_float(record, "1", 0.1), REC_OK);
    assert_int_equal(rec_set_float(record, "2", 1e300), REC_OK);
    assert_int_equal(rec_save_bytes(r, record, &data, &size), REC_OK);
    assert_int_equal(rec_report_count(), 2);
    assert_int_equal(rec_report_note(0)->kind, REC_NOTE_DROPPED);
    assert_string_equal(rec_report_note(0)->path, "1");
    assert_non_null(strstr(rec_report_note(0)->text, ": 0.1"));
    assert_int_equal(rec_report_note(1)->kind, REC_NOTE_OVERFLOW);
    assert_string_equal(rec_report_note(1)->path, "2");
    assert_non_null(strstr(rec_report_note(1)->text, ": 1e+300"));
    rec_free(data);
    rec_record_free(record);
    rec_close_recorder(r);
}

/* Safetensors keep the ids of parameters as they are, and so those of an optimizer. */
static void ids_stay_where_tensors_keep_theirs(void **state)
{
    rec_record *record = load("0.13.2", "{\"" UUID_A "\":" STATE ",\"" UUID_B "\":" STATE "}"), *back;
    rec_recorder *r = recorder("Safetensors", NULL, "burn-0.21");
    void *data;
    uint64_t size;
    (void)state;
    assert_int_equal(rec_save_bytes(r, record, &data, &size), REC_OK);
    assert_int_equal(rec_report_count(), 0);
    back = rec_load_bytes(r, data, size);
    assert_non_null(back);
    assert_non_null(rec_value_at(back, UUID_A));
    assert_non_null(rec_value_at(back, UUID_B));
    rec_free(data);
    rec_record_free(back);
    rec_record_free(record);
    rec_close_recorder(r);
}

/* The type that a record shows has room for the widest of its numbers. */
static void the_type_of_floats_is_the_widest(void **state)
{
    static const uint16_t widths[] = {32, 64, 32};
    rec_record *record = rec_record_new(NULL);
    char *source;
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        char path[8];
        assert_int_equal(rec_clear(record, ""), REC_OK);
        assert_int_equal(rec_set_empty(record, "", REC_KIND_LIST), REC_OK);
        for (size_t k = 0; k < 3; k++) { /* in every order */
            rec_scalar number = {.kind = REC_KIND_FLOAT, .bits = widths[(i + k) % 3], .v = {.f = 0.5}};
            (void)snprintf(path, sizeof path, "%zu", k);
            assert_int_equal(rec_set_scalar(record, path, number), REC_OK);
        }
        source = rec_record_describe(record, types, "Floats");
        assert_non_null(source);
        assert_non_null(strstr(source, "f64"));
        assert_null(strstr(source, "f32"));
        rec_free(source);
    }
    rec_record_free(record);
}

static int set_up(void **state)
{
    static const char source[] = "#[derive(Record)] enum Told { Empty, Full(u32) }\n"
                                 "#[derive(Module)] struct Pools<B: Backend> { list: Vec<usize>, w: Linear<B> }\n"
                                 "#[derive(Module)] struct MaxPools<B: Backend> { sizes: [usize; 2], w: Linear<B> }\n";
    (void)state;
    types = rec_types_new(NULL);
    return types && rec_types_add_rust(types, source, "told.rs") == REC_OK ? 0 : 1;
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
        cmocka_unit_test(every_loss_is_told_or_refused),
        cmocka_unit_test(ten_thousand_of_a_kind_are_one_line),
        cmocka_unit_test(numbers_that_json_has_not_are_told),
        cmocka_unit_test(a_fraction_is_no_integer),
        cmocka_unit_test(keys_that_json_cannot_tell_apart_are_refused),
        cmocka_unit_test(a_double_that_becomes_a_float_is_told),
        cmocka_unit_test(the_type_of_floats_is_the_widest),
        cmocka_unit_test(ids_stay_where_tensors_keep_theirs),
    };
    return cmocka_run_group_tests_name("what is lost is told", tests, set_up, tear_down);
}
