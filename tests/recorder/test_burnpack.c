/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Burnpack: files made by hand, good but for one thing; what is written, to the byte; states of optimizers and
 * schedulers, and which version of Burn has what. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "librecord/plugin_types.h"
#include "tests/craft.h"
#include "tests/little.h"

enum { ALIGNMENT = 256, DATA = 264 };

typedef struct file {
    uint8_t *data;
    size_t size;
} file;

/* A file of these metadata, which a reader finds aligned, and of the data of the good one. */
static file make(const void *metadata, size_t size, bool aligned)
{
    float weight[] = {1, 2, 3, 4, 5, 6}, bias[] = {7, 8};
    size_t begin = 10 + size + (aligned ? (ALIGNMENT - (10 + size) % ALIGNMENT) % ALIGNMENT : 0);
    file f = {.size = begin + (aligned ? DATA : sizeof weight + sizeof bias)};
    f.data = calloc(1, f.size);
    assert_non_null(f.data);
    memcpy(f.data, "NRUB\1\0", 6);
    for (unsigned i = 0; i < 4; i++) {
        f.data[6 + i] = (uint8_t)(size >> (8 * i));
    }
    memcpy(f.data + 10, metadata, size);
    little(weight, sizeof *weight, 6);
    little(bias, sizeof *bias, 2);
    memcpy(f.data + begin, weight, sizeof weight);
    memcpy(f.data + begin + (aligned ? ALIGNMENT : sizeof weight), bias, sizeof bias);
    return f;
}

/* A file without tensors. */
static file make_bare(const void *metadata, size_t size)
{
    file f = make(metadata, size, false);
    f.size = 10 + size;
    return f;
}

/* {"tensors": {"l.b": …, "l.w": …}, "metadata": {"k": "v"}, "scalars": {"s": {"UInt": 3}}} */
static const char good[] = "\xa3\x67tensors\xa2"
                           "\x63l.b\xa4\x65"
                           "dtype\x63"
                           "F32\x65shape\x81\x02\x6c"
                           "data_offsets\x82\x19\x01\x00\x19\x01\x08\x68param_id\x0b"
                           "\x63l.w\xa4\x65"
                           "dtype\x63"
                           "F32\x65shape\x82\x03\x02\x6c"
                           "data_offsets\x82\x00\x18\x18\x68param_id\x0c"
                           "\x68metadata\xa1\x61k\x61v\x67scalars\xa1\x61s\xa1\x64UInt\x03";
enum { GOOD = sizeof good - 1 };

static file make_good(void)
{
    return make(good, GOOD, true);
}

/* The good one with one piece of the metadata replaced, wherever it stands first. */
static file make_other(const char *from, size_t from_size, const char *to, size_t to_size)
{
    char text[4096];
    const char *at = memmem(good, GOOD, from, from_size);
    size_t before;
    assert_non_null(at);
    before = (size_t)(at - good);
    assert_true(GOOD - from_size + to_size <= sizeof text);
    memcpy(text, good, before);
    memcpy(text + before, to, to_size);
    memcpy(text + before + to_size, at + from_size, GOOD - before - from_size);
    return make(text, GOOD - from_size + to_size, true);
}

static rec_recorder *open_bpk(void)
{
    rec_recorder *r = rec_open_recorder("Burnpack", REC_PRECISION_KEEP);
    assert_non_null(r);
    return r;
}

static rec_record *load(const file *f)
{
    rec_recorder *r = open_bpk();
    rec_record *record = rec_load_bytes(r, f->data, f->size);
    rec_close_recorder(r);
    return record;
}

/* Reads all that a record holds. */
static void touch(const rec_record *record)
{
    rec_iterator *all = rec_iterate(record);
    const rec_tensor *tensor;
    assert_non_null(all);
    while ((tensor = rec_iterator_next_tensor(all, NULL))) {
        uint64_t size;
        const uint8_t *data = rec_tensor_bytes(tensor, &size);
        volatile uint8_t sum = 0;
        for (uint64_t k = 0; data && k < size; k++) {
            sum = (uint8_t)(sum + data[k]);
        }
    }
    rec_iterator_free(all);
}

/* ----------------------------------------------------------------------------------------------------- reading -- */

static void a_good_file_is_read(void **state)
{
    file f = make_good();
    rec_record *record = load(&f);
    (void)state;
    assert_non_null(record);
    assert_string_equal(rec_metadata(record, "k"), "v");
    assert_string_equal(rec_tensor_id(rec_tensor_at(record, "l.b")), "1c00000000000");
    assert_int_equal(rec_tensor_shape(rec_tensor_at(record, "l.w"))[1], 2);
    assert_int_equal(rec_value_scalar(rec_value_at(record, "s")).v.u, 3);
    rec_record_free(record);
    free(f.data);
}

#define BYTES(text) text, sizeof(text) - 1
/* A piece of the good file's metadata, what stands there instead, and a word of the message; NULL: it is read. */
static const struct change {
    const char *from;
    size_t from_size;
    const char *to;
    size_t to_size;
    const char *word;
} changes[] = {
    {BYTES("\xa3\x67tensors"), BYTES("\xa3\x67tensorz"), "no `tensors`"},
    {BYTES("\x68metadata\xa1\x61k\x61v"), BYTES("\x67tensors\xa0"), "twice"},
    {BYTES("\x68metadata\xa1\x61k\x61v"), BYTES("\x68metadata\xa1\x61k\x03"), "a text as value"},
    {BYTES("\x68metadata\xa1\x61k\x61v"), BYTES("\x68metadata\xf6"), "null"},
    {BYTES("\x68metadata\xa1\x61k\x61v"), BYTES("\x68metadata\xa2\x61k\x61v\x61k\x61v"), "twice"},
    {BYTES("\x68metadata\xa1\x61k\x61v"), BYTES("\x68metadata\xbf\x61k\x61v\xff"), NULL},
    {BYTES("\x68metadata\xa1\x61k\x61v"),
     BYTES("\x66"
           "future\x82\xf9\x3c\x00\xf7"),
     NULL},
    {BYTES("\x68metadata\xa1\x61k\x61v"),
     BYTES("\x66"
           "future\x82\x03\xff"),
     "break"},
    {BYTES("\x68metadata\xa1\x61k\x61v"),
     BYTES("\x66"
           "future\x7f\x61k\x41v\xff"),
     "pieces"},
    {BYTES("\x63l.w"), BYTES("\x63l.b"), "two tensors"},
    {BYTES("\x63l.w"), BYTES("\x43l.w"), "the name of a tensor"},
    {BYTES("\x63l.w"),
     BYTES("\x63l\xff"
           "w"),
     "UTF-8"},
    {BYTES("\x63l.w"), BYTES("\x7f\x61l\x62.w\xff"), NULL},
    {BYTES("\x63"
           "F32"),
     BYTES("\x63"
           "F31"),
     "element type"},
    {BYTES("\x63"
           "F32"),
     BYTES("\x63"
           "F64"),
     "needs 16 bytes"},
    {BYTES("\x63"
           "F32"),
     BYTES("\x63I32"), NULL},
    {BYTES("\x63"
           "F32"),
     BYTES("\xa1\x64"
           "Bool\x63U32"),
     NULL},
    {BYTES("\x63"
           "F32"),
     BYTES("\xa1\x64"
           "Bool\x66Native"),
     "needs 2 bytes"},
    {BYTES("\x63"
           "F32"),
     BYTES("\xa1\x64"
           "Bool\x63U16"),
     "how bools are stored"},
    {BYTES("\x63"
           "F32"),
     BYTES("\xa1\x63"
           "F32\xf6"),
     "element type"},
    {BYTES("\x63"
           "F32"),
     BYTES("\x7f\x63"
           "F32\xff"),
     "pieces"},
    {BYTES("\x63"
           "F32"),
     BYTES("\x00"), "element type"},
    {BYTES("\x81\x02"), BYTES("\x82\x02\x01"), NULL},
    {BYTES("\x81\x02"), BYTES("\x9f\x02\xff"), NULL},
    {BYTES("\x81\x02"), BYTES("\x41\x02"), NULL},
    {BYTES("\x81\x02"), BYTES("\x81\x21"), "dimension"},
    {BYTES("\x81\x02"), BYTES("\x81\xf9\x40\x00"), "dimension"},
    {BYTES("\x81\x02"), BYTES("\x82\x1b\x80\x00\x00\x00\x00\x00\x00\x00\x02"), "64 bits can count"},
    {BYTES("\x81\x02"), BYTES("\x83\x1b\x80\x00\x00\x00\x00\x00\x00\x00\x02\x00"), "64 bits can count"},
    {BYTES("\x81\x02"), BYTES("\x9b\x00\x00\x00\x10\x00\x00\x00\x00"), ""},
    {BYTES("\x82\x19\x01\x00\x19\x01\x08"), BYTES("\x82\x19\x01\x08\x19\x01\x00"), "before they begin"},
    {BYTES("\x82\x19\x01\x00\x19\x01\x08"), BYTES("\x82\x19\x02\x00\x19\x02\x08"), "after the end"},
    {BYTES("\x82\x19\x01\x00\x19\x01\x08"), BYTES("\x82\x3b\x00\x00\x00\x00\x00\x00\x00\x00\x19\x01\x08"), "offset"},
    {BYTES("\x82\x19\x01\x00\x19\x01\x08"),
     BYTES("\x82\x1b\xff\xff\xff\xff\xff\xff\xff\xf7\x1b\xff\xff\xff\xff\xff\xff\xff\xff"), "after the end"},
    {BYTES("\x82\x19\x01\x00\x19\x01\x08"), BYTES("\x81\x19\x01\x00"), "two integers"},
    {BYTES("\x82\x19\x01\x00\x19\x01\x08"), BYTES("\x9f\x19\x01\x00\x19\x01\x08\xff"), "unknown length"},
    {BYTES("\x82\x19\x01\x00\x19\x01\x08"), BYTES("\x82\x1a\x00\x00\x01\x00\x1b\x00\x00\x00\x00\x00\x00\x01\x08"),
     NULL},
    {BYTES("param_id\x0b"), BYTES("param_id\xf6"), NULL},
    {BYTES("param_id\x0b"), BYTES("param_id\xc1\x0b"), NULL},
    {BYTES("param_id\x0b"), BYTES("param_id\xc2\x42\x00\x0b"), NULL},
    {BYTES("param_id\x0b"), BYTES("param_id\xc2\x49\x01\x00\x00\x00\x00\x00\x00\x00\x00"), "64 bits"},
    {BYTES("param_id\x0b"), BYTES("param_id\x20"), "param_id"},
    {BYTES("param_id\x0b"),
     BYTES("param_id\x61"
           "b"),
     "param_id"},
    {BYTES("\x68param_id\x0b"), BYTES("\x65shape\x0b"), "`shape` twice"},
    {BYTES("\x65"
           "dtype"),
     BYTES("\x65"
           "dtypo"),
     "no `dtype`"},
    {BYTES("\x64UInt\x03"), BYTES("\x64UInt\x20"), "kind"},
    {BYTES("\x64UInt\x03"), BYTES("\x63Int\x1b\x80\x00\x00\x00\x00\x00\x00\x00"), "kind"},
    {BYTES("\x64UInt\x03"),
     BYTES("\x65"
           "Float\x03"),
     "kind"},
    {BYTES("\x64UInt\x03"),
     BYTES("\x65"
           "Float\xfa\x40\x00\x00\x00"),
     NULL},
    {BYTES("\xa1\x64UInt\x03"), BYTES("\xa2\x64UInt\x03\x64UInt\x03"), "one entry"},
    {BYTES("\xa1\x64UInt\x03"), BYTES("\xbf\x64UInt\x03\xff"), NULL},
    {BYTES("\xa1\x64UInt\x03"), BYTES("\x03"), "scalar"},
    {BYTES("\x61s\xa1"), BYTES("\x63l.b\xa1"), "called `l.b`"},
};

static void a_file_that_differs_in_one_thing_is_refused_or_not(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        const struct change *c = &changes[i];
        file f = make_other(c->from, c->from_size, c->to, c->to_size);
        rec_record *record = load(&f);
        if (record && c->word) {
            fail_msg("change %zu was read; expected: %s", i, c->word);
        } else if (!record && !c->word) {
            fail_msg("change %zu: %s", i, rec_error_message());
        } else if (!record && !strstr(rec_error_message(), c->word)) {
            fail_msg("change %zu: expected %s: %s", i, c->word, rec_error_message());
        } else if (record) {
            touch(record);
        }
        rec_record_free(record);
        free(f.data);
    }
}

static void nothing_that_is_cut_short_is_read(void **state)
{
    file whole = make_good();
    (void)state;
    for (size_t size = 0; size < whole.size; size++) {
        file f = {.data = malloc(size + 1), .size = size};
        rec_record *record;
        assert_non_null(f.data);
        memcpy(f.data, whole.data, size);
        record = load(&f);
        if (record) {
            fail_msg("%zu of %zu bytes were read", size, whole.size);
        }
        free(f.data);
    }
    free(whole.data);
}

static void every_byte_may_be_another(void **state)
{
    file f = make_good();
    (void)state;
    for (size_t at = 0; at < 10 + GOOD; at++) {
        uint8_t was = f.data[at];
        for (unsigned bit = 0; bit < 8; bit++) {
            rec_record *record;
            f.data[at] = was ^ (uint8_t)(1u << bit);
            record = load(&f);
            if (record) {
                touch(record);
            } else {
                assert_int_not_equal(rec_error_status(), REC_OK);
            }
            rec_record_free(record);
        }
        f.data[at] = was;
    }
    free(f.data);
}

static void prefixes_are_checked(void **state)
{
    file f = make_good();
    (void)state;
    f.data[4] = 0;
    rec_record_free(load(&f));
    assert_int_equal(rec_error_status(), REC_OK);
    f.data[4] = 2;
    assert_null(load(&f));
    assert_int_equal(rec_error_status(), REC_E_UNSUPPORTED);
    f.data[4] = 1;
    memcpy(f.data + 6, "\x01\x00\x40\x06", 4);
    assert_null(load(&f));
    assert_int_equal(rec_error_status(), REC_E_LIMIT);
    free(f.data);
}

/* The layout of Burn 0.19: told by its word, or by the length. */
static void data_of_burn_0_19_lie_right_behind(void **state)
{
    static const char plain[] = "\xa1\x67tensors\xa2"
                                "\x63l.b\xa3\x65"
                                "dtype\x63"
                                "F32\x65shape\x81\x02\x6c"
                                "data_offsets\x82\x18\x18\x18\x20"
                                "\x63l.w\xa3\x65"
                                "dtype\x63"
                                "F32\x65shape\x82\x03\x02\x6c"
                                "data_offsets\x82\x00\x18\x18";
    file f = make(plain, sizeof plain - 1, false);
    rec_record *record = load(&f);
    const float *bias;
    (void)state;
    assert_non_null(record);
    bias = rec_tensor_f32(rec_tensor_at(record, "l.b"));
    assert_non_null(bias);
    assert_true(bias[0] == 7 && bias[1] == 8);
    rec_record_free(record);
    free(f.data);
}

/* ----------------------------------------------------------------------------------------------------- writing -- */

static file save(const rec_record *record, const char *recorder, const char *option, const char *value)
{
    rec_recorder *r = rec_open_recorder(recorder, REC_PRECISION_KEEP);
    file f = {0};
    void *data = NULL;
    uint64_t size = 0;
    assert_non_null(r);
    if (!option || rec_recorder_set(r, option, value) == REC_OK) {
        (void)rec_save_bytes(r, record, &data, &size);
    }
    f.size = (size_t)size;
    rec_close_recorder(r);
    f.data = data;
    return f;
}

static void a_file_comes_back_to_the_byte(void **state)
{
    static const char once[] = "\xa2\x67tensors\xa2"
                               "\x63l.b\xa4\x65"
                               "dtype\x63"
                               "F32\x65shape\x81\x02\x6c"
                               "data_offsets\x82\x19\x01\x00\x19\x01\x08\x68param_id\x0b"
                               "\x63l.w\xa4\x65"
                               "dtype\x63"
                               "F32\x65shape\x82\x03\x02\x6c"
                               "data_offsets\x82\x00\x18\x18\x68param_id\x0c"
                               "\x68metadata\xa1\x61k\x61v";
    file f = make(once, sizeof once - 1, true), again;
    rec_record *record = load(&f);
    (void)state;
    assert_non_null(record);
    again = save(record, "Burnpack", NULL, NULL);
    assert_int_equal(again.size, f.size);
    assert_memory_equal(again.data, f.data, f.size);
    rec_free(again.data);
    rec_record_free(record);
    free(f.data);
}

/* An optimizer's record: one parameter of rank 1. */
static rec_record *make_optimizer(const char *id)
{
    float moment[] = {1, 2};
    static const uint64_t shape[] = {2};
    rec_tensor_spec spec = {.size = sizeof spec,
                            .dtype = REC_DTYPE_F32,
                            .rank = 1,
                            .shape = shape,
                            .data = little(moment, sizeof *moment, 2),
                            .data_size = sizeof moment};
    rec_record *record = rec_record_new(NULL);
    char path[128];
    assert_non_null(record);
    (void)snprintf(path, sizeof path, "%s.V1.Rank1.momentum.time", id);
    assert_int_equal(rec_set_scalar(record, path, (rec_scalar){.kind = REC_KIND_UINT, .v.u = 3}), REC_OK);
    (void)snprintf(path, sizeof path, "%s.V1.Rank1.momentum.moment_1", id);
    assert_int_equal(rec_set_tensor(record, path, &spec), REC_OK);
    return record;
}

static void an_optimizer_becomes_a_state_and_comes_back(void **state)
{
    rec_record *record = make_optimizer("hvi2jt56aurte"), *back;
    file f = save(record, "Burnpack", NULL, NULL), mpk;
    (void)state;
    if (!f.data) {
        fail_msg("%s", rec_error_message());
    }
    assert_non_null(memmem(f.data, f.size,
                           BYTES("\x78\x26"
                                 "15543989013465130127.momentum.moment_1")));
    assert_non_null(memmem(f.data, f.size, BYTES("15543989013465130127.__rank\xa1\x64UInt\x01")));
    assert_non_null(memmem(f.data, f.size, BYTES("15543989013465130127.momentum.time\xa1\x64UInt\x03")));
    assert_non_null(memmem(f.data, f.size, BYTES("param_id\x1b\xd7\xb7\x57\xa6\xf4\x29\xe4\x8f")));
    back = load(&f);
    assert_non_null(back);
    assert_int_equal(rec_value_scalar(rec_value_at(back, "hvi2jt56aurte.V1.Rank1.momentum.time")).v.u, 3);
    mpk = save(back, "NamedMpk", NULL, NULL);
    assert_non_null(mpk.data);
    rec_free(mpk.data);
    rec_record_free(back);
    rec_free(f.data);
    rec_record_free(record);
}

static void who_has_no_such_file_is_told(void **state)
{
    rec_record *optimizer = make_optimizer("hvi2jt56aurte"), *model, *stranger = make_optimizer("me");
    file good_file = make_good();
    (void)state;
    model = load(&good_file);
    assert_non_null(model);
    assert_null(save(optimizer, "Burnpack", "layout", "burn-0.21").data);
    assert_non_null(strstr(rec_error_message(), "Burn 0.21 stores an optimizer in the files of its recorders"));
    assert_null(save(model, "Burnpack", "layout", "burn-0.18").data);
    assert_non_null(strstr(rec_error_message(), "Burn 0.18 has no Burnpack files"));
    assert_null(save(model, "NamedMpk", "layout", "burn-0.22").data);
    assert_non_null(strstr(rec_error_message(), "Burn 0.22 has no recorders"));
    assert_null(save(stranger, "Burnpack", NULL, NULL).data);
    assert_non_null(strstr(rec_error_message(), "whose id is invalid"));
    rec_record_free(stranger);
    rec_record_free(optimizer);
    rec_record_free(model);
    free(good_file.data);
}

/* A scheduler's number, saved for Burn 0.22 with the type that it is said to be of. */
static file save_scheduler(rec_scalar number, const char *type)
{
    rec_context *context = rec_context_new(NULL);
    rec_types *types = rec_types_new(context);
    rec_record *record = rec_record_new(context);
    rec_recorder *r = rec_open_recorder_in(context, "Burnpack", REC_PRECISION_KEEP);
    file f = {0};
    void *data = NULL;
    uint64_t size = 0;
    assert_true(context && types && record && r);
    assert_int_equal(rec_set_scalar(record, "", number), REC_OK);
    assert_int_equal(type ? rec_recorder_set_type_name(r, types, type) : REC_OK, REC_OK);
    (void)rec_save_bytes(r, record, &data, &size);
    f.size = (size_t)size;
    f.data = data;
    rec_close_recorder(r);
    rec_record_free(record);
    rec_types_free(types);
    rec_context_free(context);
    return f;
}

static void a_scheduler_needs_its_kind(void **state)
{
    static const struct {
        const char *type, *expected;
        size_t size;
        rec_scalar number;
    } kinds[] = {
        {"NoamLrScheduler",
         BYTES("\x66"
               "0.step\xa1\x65"
               "Float\xf9\x5c\xb0"),
         {.kind = REC_KIND_UINT, .v.u = 300}},
        {"CosineAnnealingLrScheduler",
         BYTES("\x6e"
               "0.current_iter\xa1\x64UInt\x18\x1d"),
         {.kind = REC_KIND_UINT, .v.u = 29}},
        {"LinearLrScheduler",
         BYTES("\x71"
               "0.remaining_iters\xa1\x64UInt\x18\x2e"),
         {.kind = REC_KIND_UINT, .v.u = 46}},
        {"ExponentialLrScheduler",
         BYTES("\x6d"
               "0.previous_lr\xa1\x65"
               "Float\xf9\x38\x00"),
         {.kind = REC_KIND_FLOAT, .bits = 64, .v.f = 0.5}},
        {"ExponentialLrScheduler",
         BYTES("\x6d"
               "0.previous_lr\xa1\x65"
               "Float\xfb\x3f\xb9\x99\x99\x99\x99\x99\x9a"),
         {.kind = REC_KIND_FLOAT, .bits = 64, .v.f = 0.1}},
        {"StepLrScheduler",
         BYTES("\x6a"
               "0.iter_idx\xa1\x63Int\x20"),
         {.kind = REC_KIND_INT, .v.i = -1}},
    };
    file f;
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        f = save_scheduler(kinds[i].number, kinds[i].type);
        if (!f.data || !memmem(f.data, f.size, kinds[i].expected, kinds[i].size)) {
            fail_msg("%s: %s", kinds[i].type, f.data ? "another state" : rec_error_message());
        }
        rec_free(f.data);
    }
    f = save_scheduler(kinds[0].number, NULL);
    assert_null(f.data);
    assert_int_equal(rec_error_status(), REC_E_TYPE);
    assert_non_null(strstr(rec_error_hint(), "NoamLrScheduler"));
}

/* What the states of Burn 0.22 become where there are recorders, and which of them no earlier Burn had. */
static void a_state_that_no_earlier_burn_had_is_refused_elsewhere(void **state)
{
#define HEAD "\xa3\x67tensors\xa0\x68metadata\xa0\x67scalars"
    static const struct {
        const char *metadata;
        size_t size;
        const char *expected; /* NULL: it is saved */
    } cases[] = {
        {BYTES(HEAD "\xa1\x6a"
                    "0.iter_idx\xa1\x63Int\x03"),
         NULL},
        {BYTES(HEAD "\xa1\x66"
                    "0.step\xa1\x65"
                    "Float\xf9\x41\x00"),
         "a Noam scheduler whose step is not a whole number"},
        {BYTES(HEAD "\xa1\x66"
                    "0.step\xa1\x65"
                    "Float\xf9\xc0\x00"),
         "a Noam scheduler whose step is not a whole number"},
        {BYTES(HEAD "\xa1\x6a"
                    "0.iter_idx\xa1\x65"
                    "Float\xf9\x41\x00"),
         "a scheduler whose number is of another kind"},
        {BYTES(HEAD "\xa1\x67"
                    "0.speed\xa1\x63Int\x03"),
         "neither a Noam, Cosine, Linear, Exponential, Step nor composed"},
        {BYTES(HEAD "\xa1\x6a"
                    "1.iter_idx\xa1\x63Int\x03"),
         "one of several groups, or of no scheduler"},
        {BYTES(HEAD "\xa2\x6a"
                    "0.iter_idx\xa1\x63Int\x03\x6a"
                    "1.iter_idx\xa1\x63Int\x03"),
         "one of several groups, or of no scheduler"},
        {BYTES(HEAD "\xa2\x6c"
                    "0.0.iter_idx\xa1\x63Int\x03\x68"
                    "0.1.step\xa1\x65"
                    "Float\xf9\x40\x00"),
         NULL},
        {BYTES(HEAD "\xa2\x6c"
                    "0.0.iter_idx\xa1\x63Int\x03\x6c"
                    "0.2.iter_idx\xa1\x63Int\x04"),
         "a composed scheduler whose parts are not numbered"},
        {BYTES(HEAD "\xa2\x6c"
                    "0.0.iter_idx\xa1\x63Int\x03\x69"
                    "0.1.speed\xa1\x63Int\x04"),
         "neither a Noam, Cosine, Linear, Exponential, Step nor composed"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        file f = make_bare(cases[i].metadata, cases[i].size);
        rec_record *record = load(&f);
        rec_recorder *r = rec_open_recorder("NamedMpk", REC_PRECISION_KEEP);
        void *data = NULL;
        uint64_t size;
        rec_status status;
        assert_true(record && r);
        status = rec_save_bytes(r, record, &data, &size);
        if (!cases[i].expected) {
            assert_int_equal(status, REC_OK);
        } else {
            assert_int_equal(status, REC_E_UNSUPPORTED);
            assert_null(data);
            assert_non_null(strstr(rec_error_message(), "a state of Burn 0.22 or later that no earlier Burn has"));
            if (!strstr(rec_error_message(), cases[i].expected)) {
                fail_msg("%s\ninstead of\n%s", rec_error_message(), cases[i].expected);
            }
            assert_string_equal(rec_error_hint(), "Write it as .bpk.");
        }
        rec_free(data);
        rec_close_recorder(r);
        rec_record_free(record);
        free(f.data);
    }
#undef HEAD
}

/* Where earlier versions have a float, integers become the float of the same value, with their sign. */
static void integers_of_a_scheduler_become_floats(void **state)
{
#define HEAD                                                 \
    "\xa3\x67tensors\xa0\x68metadata\xa0\x67scalars\xa1\x6d" \
    "0.previous_lr"
    static const struct {
        const char *metadata;
        size_t size;
        double number;
    } cases[] = {
        {BYTES(HEAD "\xa1\x63Int\x22"), -3},
        {BYTES(HEAD "\xa1\x63Int\x03"), 3},
        {BYTES(HEAD "\xa1\x64UInt\x1b\x80\0\0\0\0\0\0\0"), 0x1p63},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        file f = make_bare(cases[i].metadata, cases[i].size);
        rec_record *record = load(&f);
        rec_recorder *r = rec_open_recorder("NamedMpk", REC_PRECISION_KEEP);
        rec_record *back;
        rec_scalar number;
        void *data = NULL;
        uint64_t size = 0;
        if (!record || !r || rec_save_bytes(r, record, &data, &size) != REC_OK ||
            !(back = rec_load_bytes(r, data, size))) {
            fail_msg("%zu: %s", i, rec_error_message());
            return;
        }
        number = rec_value_scalar(rec_value_at(back, ""));
        assert_int_equal(number.kind, REC_KIND_FLOAT);
        assert_float_equal(number.v.f, cases[i].number, 0);
        rec_free(data);
        rec_close_recorder(r);
        rec_record_free(record);
        rec_record_free(back);
        free(f.data);
    }
#undef HEAD
}

/* As ciborium writes them: in the least width that keeps the value. */
static void a_float_takes_the_least_width_that_keeps_it(void **state)
{
    static const struct {
        double number;
        const char *bytes;
        size_t size;
    } floats[] = {
        {0.0, BYTES("\xf9\x00\x00")},
        {-0.0, BYTES("\xf9\x80\x00")},
        {INFINITY, BYTES("\xf9\x7c\x00")},
        {-INFINITY, BYTES("\xf9\xfc\x00")},
        {1 + 0x1p-10, BYTES("\xf9\x3c\x01")},
        {1 + 0x1p-11, BYTES("\xfa\x3f\x80\x10\x00")},
        {-1 - 0x1p-23, BYTES("\xfa\xbf\x80\x00\x01")},
        {1 + 0x1p-24, BYTES("\xfb\x3f\xf0\x00\x00\x10\x00\x00\x00")},
        {65504, BYTES("\xf9\x7b\xff")},
        {65520, BYTES("\xfa\x47\x7f\xf0\x00")},
        {65536, BYTES("\xfa\x47\x80\x00\x00")},
        {0x1p-14, BYTES("\xf9\x04\x00")},
        {0x1p-14 + 0x1p-24, BYTES("\xf9\x04\x01")},
        {0x1p-14 - 0x1p-24, BYTES("\xf9\x03\xff")},
        {-0x1p-24, BYTES("\xf9\x80\x01")},
        {0x1p-15 + 0x1p-25, BYTES("\xfa\x38\x00\x20\x00")},
        {0x1p-25, BYTES("\xfa\x33\x00\x00\x00")},
        {0x1p-149, BYTES("\xfa\x00\x00\x00\x01")},
        {0x1p-150, BYTES("\xfb\x36\x90\x00\x00\x00\x00\x00\x00")},
        {0x1p128, BYTES("\xfb\x47\xf0\x00\x00\x00\x00\x00\x00")},
    };
    (void)state;
    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++) {
        static const char before[] = "\x6d"
                                     "0.previous_lr\xa1\x65"
                                     "Float";
        rec_scalar number = {.kind = REC_KIND_FLOAT, .bits = 64, .v.f = floats[i].number};
        file f = save_scheduler(number, "ExponentialLrScheduler");
        const char *at = f.data ? memmem(f.data, f.size, before, sizeof before - 1) : NULL;
        rec_record *record;
        rec_scalar back;
        assert_non_null(at);
        at += sizeof before - 1;
        assert_true((uint64_t)((const char *)f.data + f.size - at) >= floats[i].size);
        assert_memory_equal(at, floats[i].bytes, floats[i].size);
        record = load(&f);
        assert_non_null(record);
        back = rec_value_scalar(rec_value_at(record, "0.previous_lr"));
        assert_int_equal(back.kind, REC_KIND_FLOAT);
        assert_true(back.v.f == floats[i].number && !signbit(back.v.f) == !signbit(floats[i].number));
        rec_record_free(record);
        rec_free(f.data);
    }
}

/* ------------------------------------------------------------------------------------------- memory that fails -- */

static long countdown; /* allocations until one fails; negative: none does */
static uint64_t held;

static bool fails_now(void)
{
    return countdown >= 0 && countdown-- == 0;
}

static void *give(void *user, size_t size)
{
    void *memory = fails_now() ? NULL : malloc(size);
    (void)user;
    held += memory != NULL;
    return memory;
}

static void *give_more(void *user, void *old, size_t size)
{
    (void)user;
    return fails_now() ? NULL : realloc(old, size);
}

static void take_back(void *user, void *memory)
{
    (void)user;
    held--;
    free(memory);
}

/* Loads a file and saves it as a burnpack and as a record of Burn 0.21. @return whether all of it went well. */
static bool load_and_save(rec_context *context, const file *f)
{
    static const char *const recorders[] = {"Burnpack", "NamedMpk"};
    rec_recorder *from = rec_open_recorder_in(context, "Burnpack", REC_PRECISION_KEEP);
    rec_record *record = from ? rec_load_bytes(from, f->data, f->size) : NULL;
    bool well = record != NULL;
    for (size_t i = 0; i < 2 && well; i++) {
        rec_recorder *to = rec_open_recorder_in(context, recorders[i], REC_PRECISION_KEEP);
        void *data = NULL;
        uint64_t size = 0;
        well =
            to && rec_recorder_set(to, "check", "yes") == REC_OK && rec_save_bytes(to, record, &data, &size) == REC_OK;
        rec_free(data);
        rec_close_recorder(to);
    }
    rec_record_free(record);
    rec_close_recorder(from);
    return well;
}

static void each_allocation_may_fail(const file *f)
{
    static const rec_allocator allocator = {
        .size = sizeof allocator, .alloc = give, .resize = give_more, .release = take_back};
    bool well = false;
    for (long n = 0; !well; n++) {
        rec_context *context;
        countdown = -1;
        context = rec_context_new(&allocator);
        assert_non_null(context);
        countdown = n;
        well = load_and_save(context, f);
        if (!well && rec_error_status() != REC_E_MEMORY) {
            fail_msg("allocation %ld: %s", n, rec_error_message());
        }
        well = well && countdown >= 0;
        countdown = -1;
        rec_context_free(context);
        assert_int_equal(held, 0);
    }
}

/* A scheduler composed of so many that their list is an allocation of its own. */
static file make_composed(uint64_t parts)
{
    static const char head[] = "\xa3\x67tensors\xa0\x68metadata\xa0\x67scalars\xb9";
    char text[20000];
    size_t used = sizeof head - 1;
    memcpy(text, head, used);
    text[used++] = (char)(parts >> 8);
    text[used++] = (char)parts;
    for (uint64_t i = 0; i < parts && used + 32 < sizeof text; i++) {
        int length = snprintf(text + used + 1, 24, "0.%llu.iter_idx", (unsigned long long)i);
        text[used] = (char)(0x60 | length);
        used += 1 + (size_t)length;
        memcpy(text + used, "\xa1\x63Int\x03", 6);
        used += 6;
    }
    return make_bare(text, used);
}

static void any_allocation_may_fail(void **state)
{
    rec_record *optimizer = make_optimizer("hvi2jt56aurte");
    file model = make(good, sizeof good - 1 - 18, true), states = save(optimizer, "Burnpack", NULL, NULL);
    file composed = make_composed(400);
    (void)state;
    model.data[10] = (uint8_t)0xa2; /* without its scalars it is a module */
    each_allocation_may_fail(&model);
    each_allocation_may_fail(&states);
    each_allocation_may_fail(&composed);
    free(composed.data);
    rec_free(states.data);
    rec_record_free(optimizer);
    free(model.data);
}

static void test_tensor_id_number(void **state)
{
    static const struct {
        const char *id;
        rec_status status;
        uint64_t number;
    } cases[] = {{"hvi2jt56aurte", REC_OK, UINT64_C(15543989013465130127)},
                 {"000g40o40k", REC_OK, UINT64_C(0x050403020100)},
                 {"03020100-0504-0706-FFFF-ffffffffffff", REC_OK, UINT64_C(0x0607040500010203)},
                 {"mine", REC_E_MISMATCH, 7},
                 {NULL, REC_E_NOT_FOUND, 7}};
    const float number = 1;
    rec_record *record = rec_record_new(NULL);
    (void)state;
    assert_int_equal(rec_set_f32(record, "w", &number, 0, NULL), REC_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t found = 7;
        assert_int_equal(rec_set_id(record, "w", cases[i].id), REC_OK);
        assert_int_equal(rec_tensor_id_number(rec_tensor_at(record, "w"), &found), cases[i].status);
        assert_true(found == cases[i].number);
    }
    assert_string_equal(rec_error_message(), "the tensor has no id");
    rec_record_free(record);
}

static void ids_are_numbers_and_back(void **state)
{
    static const uint64_t numbers[] = {0,         1, 255, UINT64_C(0x0123456789abcdef), UINT64_C(15543989013465130127),
                                       UINT64_MAX};
    char text[REC_ID_ROOM];
    uint64_t back;
    (void)state;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        assert_int_equal(strlen(rec_id_text(numbers[i], text)), 13);
        assert_int_equal(rec_id_number(text, &back), 1);
        assert_true(back == numbers[i]);
    }
    assert_string_equal(rec_id_text(UINT64_C(15543989013465130127), text), "hvi2jt56aurte");
    assert_int_equal(rec_id_number("hvi2jt56aurtf", &back), 0); /* a bit beyond the 64 */
    assert_int_equal(rec_id_number("hvi2jt56aurt", &back), 0);
    assert_int_equal(rec_id_number("hvi2jt56aurte0", &back), 0);
    assert_int_equal(rec_id_number("Hvi2jt56aurte", &back), 0);
    assert_int_equal(rec_id_number("", &back), 0);
    /* The other two forms, as Burnpack files have them. */
    assert_int_equal(rec_id_number("000g40o40k", &back), 1);
    assert_true(back == UINT64_C(0x050403020100));
    assert_int_equal(rec_id_number("03020100-0504-0706-ffff-ffffffffffff", &back), 1);
    assert_true(back == UINT64_C(0x0607040500010203));
    assert_true(rec_is_rust_word("type", 4) && !rec_is_rust_word("types", 5) && !rec_is_rust_word("", 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_file_is_read),
        cmocka_unit_test(a_file_that_differs_in_one_thing_is_refused_or_not),
        cmocka_unit_test(nothing_that_is_cut_short_is_read),
        cmocka_unit_test(every_byte_may_be_another),
        cmocka_unit_test(prefixes_are_checked),
        cmocka_unit_test(data_of_burn_0_19_lie_right_behind),
        cmocka_unit_test(a_file_comes_back_to_the_byte),
        cmocka_unit_test(an_optimizer_becomes_a_state_and_comes_back),
        cmocka_unit_test(who_has_no_such_file_is_told),
        cmocka_unit_test(a_scheduler_needs_its_kind),
        cmocka_unit_test(integers_of_a_scheduler_become_floats),
        cmocka_unit_test(a_state_that_no_earlier_burn_had_is_refused_elsewhere),
        cmocka_unit_test(a_float_takes_the_least_width_that_keeps_it),
        cmocka_unit_test(any_allocation_may_fail),
        cmocka_unit_test(test_tensor_id_number),
        cmocka_unit_test(ids_are_numbers_and_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
