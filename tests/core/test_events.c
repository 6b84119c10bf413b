/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The guard and the builder: what a plugin's reader tells them, in the right order and in every wrong one, and runs of
 * numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/config/config.h"
#include "burn/visit/guard.h"
#include "burn/visit/visit.h"
#include "tests/little.h"

static const rec_plugin fakes[] = {
    {.abi = REC_PLUGIN_ABI, .size = sizeof *fakes, .name = "Fake"},
    {.abi = REC_PLUGIN_ABI, .size = sizeof *fakes, .name = "Fake", .traits = REC_TRAIT_TENSORS}};

/* One load without a reader: the tests are the reader. */
typedef struct load {
    rec_job job;
    lr_builder *builder;
    lr_guard *guard;
    int32_t status; /* the first that was not REC_OK */
} load;

static load *begin(bool tensors)
{
    load *l = calloc(1, sizeof *l);
    assert_non_null(l);
    lr_job_open(&l->job, NULL, "load", "it");
    l->job.plugin = &fakes[tensors];
    lr_job_input(&l->job, 100 << 20); /* so that the limit of memory is not what is tested */
    l->builder = lr_builder_new(&l->job, REC_PRECISION_KEEP, tensors, NULL);
    assert_non_null(l->builder);
    l->guard = lr_guard_open(&l->job, &lr_builder_visitor, l->builder);
    assert_non_null(l->guard);
    return l;
}

/* Events, each as long as all went well: what follows an error must not be told. */
#define EVENT(event, ...)                                              \
    do {                                                               \
        if (l->status == REC_OK) {                                     \
            l->status = lr_guard_visitor.event(l->guard, __VA_ARGS__); \
        }                                                              \
    } while (0)

static void scalar(load *l, rec_scalar value)
{
    EVENT(scalar, 7, &value);
}

static void number(load *l, uint64_t value)
{
    scalar(l, (rec_scalar){.kind = REC_KIND_UINT, .v = {.u = value}});
}

static void nil(load *l)
{
    scalar(l, (rec_scalar){.kind = REC_KIND_NIL});
}

static rec_scalar text(const char *words)
{
    return (rec_scalar){.kind = REC_KIND_STRING, .v = {.length = strlen(words)}, .text = words};
}

static void key(load *l, const char *name)
{
    rec_scalar value = text(name);
    EVENT(key, 8, &value);
}

static void list(load *l, uint64_t count)
{
    EVENT(list_begin, 9, REC_FORM_UNKNOWN, count);
}

static void map(load *l, uint64_t count)
{
    EVENT(map_begin, 10, REC_FORM_UNKNOWN, count);
}

static void variant(load *l, const char *name, int payload)
{
    rec_scalar value = text(name);
    EVENT(variant_begin, 11, 3, &value, payload);
}

static void end(load *l)
{
    EVENT(end, 12);
}

static void numbers(load *l, rec_dtype dtype, const void *data, uint64_t count)
{
    EVENT(numbers, 13, dtype, data, count);
}

static void option(load *l, int present)
{
    EVENT(option, 14, present);
}

/* Ends a load that went well. */
static rec_record *finish(load *l)
{
    rec_record *record = lr_guard_close(l->guard, l->status) == REC_OK ? lr_builder_finish(l->builder) : NULL;
    lr_builder_free(l->builder);
    (void)lr_job_end(&l->job);
    if (!record) {
        fail_msg("%s", rec_error_message());
    }
    free(l);
    return record;
}

/* Ends one that must have failed, at the latest when it ended. */
static void refused(load *l, rec_status status, const char *message)
{
    rec_record *record = lr_guard_close(l->guard, l->status) == REC_OK ? lr_builder_finish(l->builder) : NULL;
    bool late = l->status == REC_OK;
    char whole[2048];
    (void)snprintf(whole, sizeof whole, "%s%s", message,
                   status == REC_E_PLUGIN ? "\n"
                                            "  This is an error of the plugin: report it to its author."
                                          : "");
    lr_builder_free(l->builder);
    assert_null(record);
    assert_int_equal(lr_job_end(&l->job), status);
    assert_true(late || l->status == status);
    assert_string_equal(rec_error_message(), whole);
    free(l);
}

#define BROKE "the plugin Fake broke the order of events: "

/* --------------------------------------------------------------------------------------------- the right order -- */

static void every_event_makes_its_value(void **state)
{
    float floats[] = {1, 2};
    uint64_t shape[] = {2};
    rec_tensor_event event = {
        .size = sizeof event,
        .dtype = REC_DTYPE_F32,
        .rank = 1,
        .shape = shape,
        .id = "x",
        .data = {.size = sizeof(rec_blob), .kind = REC_BLOB_TEMPORARY, .length = 8, .data = floats}};
    rec_blob blob = {.size = sizeof blob, .kind = REC_BLOB_TEMPORARY, .length = 3, .data = "abc"};
    rec_scalar version = text("version"), words = text("0.18.0");
    load *l = begin(true);
    rec_record *record;
    uint64_t size;
    (void)state;
    little(floats, sizeof *floats, 2);
    EVENT(metadata, 0, &version, &words);
    map(l, REC_UNKNOWN);
    key(l, "list");
    EVENT(list_begin, 1, REC_FORM_TUPLE, 2);
    scalar(l, text("a"));
    nil(l);
    end(l);
    key(l, "unit");
    variant(l, "Act", 0);
    end(l);
    key(l, "full");
    variant(l, "Dense", 1);
    number(l, 5);
    end(l);
    key(l, "none");
    option(l, 0);
    key(l, "some");
    option(l, 1);
    option(l, 1);
    number(l, 6);
    key(l, "bytes");
    EVENT(bytes, 2, &blob);
    key(l, "w");
    EVENT(tensor, 3, &event);
    key(l, "empty text");
    scalar(l, (rec_scalar){.kind = REC_KIND_STRING});
    end(l);
    assert_int_equal(l->status, REC_OK);
    record = finish(l);
    assert_string_equal(rec_metadata(record, "version"), "0.18.0");
    assert_int_equal(rec_value_form(rec_value_at(record, "list")), REC_FORM_TUPLE);
    assert_int_equal(rec_value_count(rec_value_at(record, "list")), 2);
    assert_int_equal(rec_value_kind(rec_value_at(record, "unit")), REC_KIND_VARIANT);
    assert_int_equal(rec_value_count(rec_value_at(record, "unit")), 0);
    assert_int_equal(rec_value_variant(rec_value_at(record, "unit")), 3);
    assert_int_equal(rec_value_scalar(rec_value_at(record, "full.Dense")).v.u, 5);
    assert_string_equal(rec_value_key(rec_value_at(record, "full"), 0).text, "Dense");
    assert_int_equal(rec_value_form(rec_value_at(record, "none")), REC_FORM_NONE);
    assert_int_equal(rec_value_scalar(rec_value_at(record, "some")).v.u, 6);
    assert_memory_equal(rec_value_bytes(rec_value_at(record, "bytes"), &size), "abc", 3);
    assert_int_equal(size, 3);
    assert_true(rec_tensor_f32(rec_tensor_at(record, "w"))[1] == 2.0f);
    assert_string_equal(rec_value_scalar(rec_value_at(record, "empty text")).text, "");
    rec_record_free(record);
}

static void failures_name_the_place(void **state)
{
    static const uint8_t three[] = {1, 2, 3};
    load *l = begin(true);
    (void)state;
    map(l, 1);
    key(l, "a.b");
    variant(l, "V", 1);
    list(l, REC_UNKNOWN);
    numbers(l, REC_DTYPE_U8, three, 3);
    scalar(l, (rec_scalar){.kind = 77});
    refused(l, REC_E_PLUGIN,
            "it: byte 7: a\\.b.V.3: "
            "the plugin Fake gave a scalar of the kind 77, which is not a scalar's");
}

/* -------------------------------------------------------------------------------------------- the wrong orders -- */

static void nothing_or_half_a_value_is_no_record(void **state)
{
    (void)state;
    refused(begin(true), REC_E_PLUGIN, "it: byte 0: " BROKE "the value was not completed");
    {
        load *l = begin(true);
        list(l, REC_UNKNOWN);
        refused(l, REC_E_PLUGIN, "it: byte 9: 0: " BROKE "the value was not completed");
    }
    {
        load *l = begin(true);
        option(l, 1);
        refused(l, REC_E_PLUGIN, "it: byte 14: " BROKE "the value was not completed");
    }
}

static void there_is_one_value(void **state)
{
    (void)state;
    for (int second = 0; second < 4; second++) {
        char message[120];
        load *l = begin(true);
        number(l, 1);
        if (second == 0) {
            number(l, 1);
        } else if (second == 1) {
            list(l, 0);
        } else if (second == 2) {
            map(l, 0);
        } else {
            variant(l, "V", 0);
        }
        (void)snprintf(message, sizeof message, "it: byte %s: " BROKE "a second value",
                       second == 0   ? "7"
                       : second == 1 ? "9"
                       : second == 2 ? "10"
                                     : "11");
        refused(l, REC_E_PLUGIN, message);
    }
}

static void ends_must_have_beginnings(void **state)
{
    load *l = begin(true);
    (void)state;
    end(l);
    refused(l, REC_E_PLUGIN, "it: byte 12: " BROKE "an end without a beginning");
    l = begin(true);
    number(l, 1);
    end(l);
    refused(l, REC_E_PLUGIN, "it: byte 12: " BROKE "an end without a beginning");
}

static void keys_and_values_take_turns(void **state)
{
    static const uint8_t byte[] = {1};
    load *l = begin(true);
    (void)state;
    map(l, 1);
    number(l, 1);
    refused(l, REC_E_PLUGIN, "it: byte 7: " BROKE "a value of a map without its key");
    l = begin(true);
    map(l, 1);
    list(l, 1);
    refused(l, REC_E_PLUGIN, "it: byte 9: " BROKE "a value of a map without its key");
    l = begin(true);
    map(l, 1);
    option(l, 0);
    refused(l, REC_E_PLUGIN, "it: byte 14: " BROKE "a value of a map without its key");
    l = begin(true);
    map(l, 2);
    key(l, "a");
    key(l, "b");
    refused(l, REC_E_PLUGIN, "it: byte 8: a: " BROKE "a key outside of a map, or two keys in a row");
    l = begin(true);
    map(l, 1);
    key(l, "a");
    end(l);
    refused(l, REC_E_PLUGIN, "it: byte 12: a: " BROKE "a key without its value");
    l = begin(true);
    key(l, "a");
    refused(l, REC_E_PLUGIN, "it: byte 8: " BROKE "a key outside of a map, or two keys in a row");
    l = begin(true);
    list(l, 1);
    key(l, "a");
    refused(l, REC_E_PLUGIN, "it: byte 8: 0: " BROKE "a key outside of a map, or two keys in a row");
    l = begin(true);
    map(l, 1);
    key(l, "a");
    numbers(l, REC_DTYPE_U8, byte, 1);
    refused(l, REC_E_PLUGIN, "it: byte 13: a: " BROKE "numbers outside of a list");
}

static void keys_are_strings_bools_or_integers(void **state)
{
    static const rec_scalar bad[] = {{.kind = REC_KIND_NIL}, {.kind = REC_KIND_FLOAT, .v = {.f = 1}}};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        load *l = begin(true);
        map(l, 1);
        EVENT(key, 8, &bad[i]);
        refused(l, REC_E_PLUGIN, "it: byte 8: " BROKE "a key that is not a string, bool or integer");
    }
}

static void announced_counts_are_kept(void **state)
{
    static const uint8_t six[] = {1, 2, 3, 4, 5, 6};
    (void)state;
    for (uint64_t announced = 1; announced < 6; announced += 4) { /* on the stack, and in place */
        for (int less = 0; less < 2; less++) {
            uint64_t given = less ? announced - 1 : announced + 1;
            char name[8], message[160];
            load *l = begin(true);
            list(l, announced);
            for (uint64_t i = 0; i < given; i++) {
                nil(l);
            }
            end(l);
            (void)snprintf(message, sizeof message,
                           less ? "it: byte 12: %u: " BROKE "fewer elements than were announced"
                                : "it: byte 7: %u: " BROKE "more elements than were announced",
                           (unsigned)(less ? given : announced));
            refused(l, REC_E_PLUGIN, message);
            l = begin(true);
            list(l, announced);
            numbers(l, REC_DTYPE_U8, six, given);
            end(l);
            (void)snprintf(message, sizeof message,
                           less ? "it: byte 12: %u: " BROKE "fewer elements than were announced"
                                : "it: byte 13: %u: " BROKE "more elements than were announced",
                           (unsigned)(less ? given : 0));
            refused(l, REC_E_PLUGIN, message);
            l = begin(true);
            map(l, announced);
            for (uint64_t i = 0; i < given; i++) {
                (void)snprintf(name, sizeof name, "k%u", (unsigned)i);
                key(l, name);
                nil(l);
            }
            end(l);
            (void)snprintf(message, sizeof message,
                           less ? "it: byte 12: " BROKE "fewer entries than were announced"
                                : "it: byte 8: " BROKE "more entries than were announced");
            refused(l, REC_E_PLUGIN, message);
        }
    }
    {
        load *l = begin(true);
        list(l, 6);
        numbers(l, REC_DTYPE_U8, six, 4);
        numbers(l, REC_DTYPE_U8, six, 3);
        refused(l, REC_E_PLUGIN, "it: byte 13: 4: " BROKE "more elements than were announced");
        l = begin(true);
        list(l, 5);
        numbers(l, REC_DTYPE_U8, six, 5);
        nil(l);
        refused(l, REC_E_PLUGIN, "it: byte 7: 5: " BROKE "more elements than were announced");
    }
}

static void numbers_are_in_lists_and_of_types_that_lists_have(void **state)
{
    static const rec_dtype bad[] = {REC_DTYPE_NONE,   REC_DTYPE_F16,    REC_DTYPE_BF16,
                                    REC_DTYPE_BOOL32, REC_DTYPE_QFLOAT, 99};
    static const uint64_t data[1];
    char message[160];
    load *l = begin(true);
    (void)state;
    numbers(l, REC_DTYPE_U8, data, 1);
    refused(l, REC_E_PLUGIN, "it: byte 13: " BROKE "numbers outside of a list");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        l = begin(true);
        list(l, 1);
        numbers(l, bad[i], data, 1);
        (void)snprintf(message, sizeof message,
                       "it: byte 13: 0: the plugin Fake sent `numbers` of the type %d, which no list has", (int)bad[i]);
        refused(l, REC_E_PLUGIN, message);
    }
}

static void variants_have_the_payload_they_announce(void **state)
{
    rec_scalar name = {.kind = REC_KIND_UINT, .v = {.u = 1}};
    load *l = begin(true);
    (void)state;
    variant(l, "V", 0);
    number(l, 1);
    refused(l, REC_E_PLUGIN, "it: byte 7: V: " BROKE "a payload that was not announced");
    l = begin(true);
    variant(l, "V", 1);
    number(l, 1);
    number(l, 2);
    refused(l, REC_E_PLUGIN, "it: byte 7: V: " BROKE "a payload that was not announced");
    l = begin(true);
    variant(l, "V", 1);
    end(l);
    refused(l, REC_E_PLUGIN, "it: byte 12: V: " BROKE "a variant without its payload");
    l = begin(true);
    EVENT(variant_begin, 11, 0, &name, 1);
    refused(l, REC_E_PLUGIN, "it: byte 11: the plugin Fake sent a variant whose name is not a text");
}

static void an_option_that_is_present_has_a_value(void **state)
{
    load *l = begin(true);
    (void)state;
    list(l, REC_UNKNOWN);
    option(l, 1);
    end(l);
    refused(l, REC_E_PLUGIN, "it: byte 12: 0: " BROKE "an option without its value");
    l = begin(true);
    map(l, REC_UNKNOWN);
    option(l, 1);
    key(l, "a");
    refused(l, REC_E_PLUGIN, "it: byte 8: " BROKE "an option without its value");
}

static void metadata_and_tensors_belong_to_formats_that_speak_them(void **state)
{
    rec_scalar name = text("version"), one = {.kind = REC_KIND_UINT, .v = {.u = 1}};
    uint64_t shape[] = {2};
    rec_tensor_event event = {
        .size = sizeof event,
        .dtype = REC_DTYPE_U8,
        .rank = 1,
        .shape = shape,
        .data = {.size = sizeof(rec_blob), .kind = REC_BLOB_TEMPORARY, .length = 2, .data = "ab"}};
    load *l = begin(false);
    (void)state;
    EVENT(metadata, 1, &name, &name);
    refused(l, REC_E_PLUGIN, "it: byte 1: " BROKE "metadata that is not a text, or not before the value");
    l = begin(false);
    EVENT(tensor, 1, &event);
    refused(l, REC_E_PLUGIN, "it: byte 1: " BROKE "a tensor from a format whose traits do not say so");
    l = begin(true);
    EVENT(metadata, 1, &name, &one);
    refused(l, REC_E_PLUGIN, "it: byte 1: " BROKE "metadata that is not a text, or not before the value");
    l = begin(true);
    number(l, 1);
    EVENT(metadata, 1, &name, &name);
    refused(l, REC_E_PLUGIN, "it: byte 1: " BROKE "metadata that is not a text, or not before the value");
    l = begin(true);
    EVENT(metadata, 1, &name, &name);
    EVENT(metadata, 2, &name, &name);
    refused(l, REC_E_FORMAT, "it: byte 2: the metadata key `version` occurs twice, as entries 1 and 2");
}

static void metadata_values_are_values_before_the_record(void **state)
{
    rec_scalar name = text("author"), version = text("version"), one = {.kind = REC_KIND_UINT, .v = {.u = 1}};
    rec_tensor_event event = {.size = sizeof event,
                              .dtype = REC_DTYPE_U8,
                              .data = {.size = sizeof(rec_blob), .kind = REC_BLOB_TEMPORARY, .length = 1, .data = "a"}};
    load *l = begin(false);
    (void)state;
    EVENT(metadata_value, 1, &name);
    refused(l, REC_E_PLUGIN, "it: byte 1: " BROKE "metadata whose key is not a text, or that is not before the value");
    l = begin(true);
    EVENT(metadata_value, 1, &one);
    refused(l, REC_E_PLUGIN, "it: byte 1: " BROKE "metadata whose key is not a text, or that is not before the value");
    l = begin(true);
    number(l, 1);
    EVENT(metadata_value, 1, &name);
    refused(l, REC_E_PLUGIN, "it: byte 1: " BROKE "metadata whose key is not a text, or that is not before the value");
    l = begin(true);
    EVENT(metadata_value, 1, &name);
    EVENT(metadata_value, 2, &version);
    refused(l, REC_E_PLUGIN,
            "it: byte 2: metadata.author: " BROKE "metadata whose key is not a text, or that is not before the value");
    l = begin(true);
    EVENT(metadata_value, 1, &name);
    EVENT(metadata, 2, &version, &version);
    refused(l, REC_E_PLUGIN,
            "it: byte 2: metadata.author: " BROKE "metadata that is not a text, or not before the value");
    l = begin(true);
    EVENT(metadata_value, 1, &name);
    EVENT(tensor, 2, &event);
    refused(l, REC_E_PLUGIN, "it: byte 2: metadata.author: " BROKE "a tensor in the metadata");
    l = begin(true);
    EVENT(metadata_value, 1, &name);
    EVENT(map_begin, 2, REC_FORM_PATHS, 0);
    refused(
        l, REC_E_PLUGIN,
        "it: byte 2: metadata.author: the plugin Fake sent a map of REC_FORM_PATHS that is not the outermost value");
    l = begin(true);
    EVENT(metadata_value, 1, &name);
    number(l, 1);
    EVENT(metadata_value, 2, &name);
    refused(l, REC_E_FORMAT, "it: byte 2: the metadata key `author` occurs twice, as entries 1 and 2");
    l = begin(true); /* its value, and none of the record's */
    EVENT(metadata_value, 1, &name);
    number(l, 1);
    refused(l, REC_E_PLUGIN, "it: byte 7: " BROKE "the value was not completed");
    l = begin(true);
    EVENT(metadata_value, 1, &version);
    number(l, 1);
    map(l, 0);
    EVENT(end, 3);
    refused(l, REC_E_FORMAT,
            "it: byte 10: expected a text as Burn's own metadata, found an unsigned integer as value of "
            "`version`");
}

static void a_tensor_is_sound(void **state)
{
    uint64_t shape[] = {2}, huge[] = {UINT64_MAX, 2}, ones[40];
    rec_tensor_event good = {
        .size = sizeof good,
        .dtype = REC_DTYPE_I16,
        .rank = 1,
        .shape = shape,
        .data = {.size = sizeof(rec_blob), .kind = REC_BLOB_TEMPORARY, .length = 4, .data = "abcd"}};
    rec_tensor_event event = good;
    load *l = begin(true);
    (void)state;
    for (size_t i = 0; i < 40; i++) {
        ones[i] = 1;
    }
    event.data.length = 3;
    EVENT(tensor, 1, &event);
    refused(l, REC_E_FORMAT, "it: byte 1: expected 4 bytes of data for i16 [2], found 3");
    event = good;
    event.rank = 2;
    event.shape = huge;
    l = begin(true);
    EVENT(tensor, 1, &event);
    refused(l, REC_E_FORMAT, "it: byte 1: the shape [18446744073709551615, 2] has more elements than can be counted");
    event = good;
    event.rank = 40;
    event.shape = ones;
    l = begin(true);
    EVENT(tensor, 1, &event);
    refused(l, REC_E_UNSUPPORTED, "it: byte 1: a tensor of rank 40; at most 32 are supported");
}

static void nesting_ends_at_the_limit(void **state)
{
    load *l = begin(true);
    uint32_t limit = rec_limits_default().depth;
    char message[512] = "it: byte 9: ";
    (void)state;
    for (uint32_t i = 0; i <= limit; i++) {
        list(l, 1);
    }
    assert_int_equal(limit, 128);
    for (uint32_t i = 0; i < 80; i++) { /* the middle of a long path is left out */
        (void)strcat(message, i == 40 ? "…" : "");
        (void)strcat(message, i < 40 ? "0." : ".0");
    }
    (void)strcat(message, ": lists and maps are nested deeper than the limit of 128\n"
                          "  If the file can be trusted, raise `depth` (rec_limits, or the INI file).");
    refused(l, REC_E_LIMIT, message);
}

/* With a backslash it may get longer, so twice its length is asked for: here more than the job may have, and from 2 GiB
 * on more than a string can have, which nobody is asked for. No more than the first byte of it is read. */
static void a_path_that_may_get_too_long_is_refused_before_memory_is_asked_for(void **state)
{
    static const struct {
        uint64_t length;
        rec_status status;
    } cases[] = {{UINT32_MAX / 2 - 1, REC_E_LIMIT}, {UINT32_MAX / 2, REC_E_MEMORY}, {UINT32_MAX - 1, REC_E_MEMORY}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        load *l = begin(true);
        const rec_scalar path = {.kind = REC_KIND_STRING, .v = {.length = cases[i].length}, .text = "\\."};
        /* Without the guard, which would read the whole name. */
        assert_int_equal(lr_builder_visitor.map_begin(l->builder, 2, REC_FORM_PATHS, 1), REC_OK);
        assert_int_equal(lr_builder_visitor.key(l->builder, 3, &path), cases[i].status);
        (void)lr_guard_close(l->guard, cases[i].status);
        lr_builder_free(l->builder);
        assert_int_equal(lr_job_end(&l->job), cases[i].status);
        free(l);
    }
}

static void a_key_that_comes_twice_is_named(void **state)
{
    (void)state;
    for (uint64_t extra = 0; extra < 20; extra += 19) { /* searched, and indexed */
        load *l = begin(true);
        char message[128];
        map(l, 1);
        key(l, "outer");
        map(l, REC_UNKNOWN);
        for (uint64_t i = 0; i < extra; i++) {
            char name[8];
            (void)snprintf(name, sizeof name, "k%u", (unsigned)i);
            key(l, name);
            nil(l);
        }
        key(l, "x.y");
        nil(l);
        key(l, "x.y");
        nil(l);
        end(l);
        end(l);
        (void)snprintf(message, sizeof message,
                       "it: byte 10: outer: the key `x\\.y` occurs twice in one map, as entries %u and %u",
                       (unsigned)extra + 1, (unsigned)extra + 2);
        refused(l, REC_E_FORMAT, message);
    }
}

/* --------------------------------------------------------------------------------------------- runs of numbers -- */

static void numbers_of_one_kind_are_packed(void **state)
{
    static const uint8_t bytes[] = {1, 2, 255};
    static const int64_t wide[] = {-1, 300};
    static const uint64_t large[] = {INT64_MAX};
    load *l = begin(true);
    rec_record *record;
    const rec_value *value;
    (void)state;
    list(l, REC_UNKNOWN);
    numbers(l, REC_DTYPE_U8, bytes, 3);
    numbers(l, REC_DTYPE_I64, wide, 2);
    numbers(l, REC_DTYPE_U8, NULL, 0);
    numbers(l, REC_DTYPE_U64, large, 1);
    end(l);
    record = finish(l);
    value = rec_root(record);
    assert_int_equal(rec_value_kind(value), REC_KIND_NUMBERS);
    assert_int_equal(rec_value_count(value), 6);
    assert_int_equal(rec_value_number(value, 2).v.u, 255);
    assert_int_equal(rec_value_number(value, 3).kind, REC_KIND_INT);
    assert_int_equal(rec_value_number(value, 3).v.i, -1);
    assert_int_equal(rec_value_number(value, 4).v.u, 300);
    assert_true(rec_value_number(value, 5).v.u == INT64_MAX);
    rec_record_free(record);
}

static void numbers_that_no_type_holds_together_become_items(void **state)
{
    static const int64_t ints[] = {1, -1};
    static const uint64_t large[] = {7, UINT64_MAX};
    static const double doubles[] = {2.5};
    static const float floats[] = {0.1f};
    static const uint8_t flags[] = {1};
    static const struct {
        rec_dtype dtype;
        const void *data;
        uint64_t count;
        int32_t kind; /* of the first that follows the integers */
    } others[] = {
        {REC_DTYPE_U64, large, 2, REC_KIND_UINT},
        {REC_DTYPE_F64, doubles, 1, REC_KIND_FLOAT},
        {REC_DTYPE_F32, floats, 1, REC_KIND_FLOAT},
        {REC_DTYPE_BOOL, flags, 1, REC_KIND_BOOL},
    };
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        load *l = begin(true);
        rec_record *record;
        const rec_value *value;
        list(l, i % 2 ? REC_UNKNOWN : 5 + others[i].count);
        numbers(l, REC_DTYPE_I64, ints, 2);
        numbers(l, others[i].dtype, others[i].data, others[i].count);
        numbers(l, REC_DTYPE_I64, ints, 2);
        nil(l);
        end(l);
        record = finish(l);
        value = rec_root(record);
        assert_int_equal(rec_value_kind(value), REC_KIND_LIST);
        assert_int_equal(rec_value_count(value), 5 + others[i].count);
        assert_int_equal(rec_value_scalar(rec_value_item(value, 0)).v.u, 1);
        assert_int_equal(rec_value_scalar(rec_value_item(value, 1)).v.i, -1);
        assert_int_equal(rec_value_kind(rec_value_item(value, 2)), others[i].kind);
        assert_int_equal(rec_value_scalar(rec_value_item(value, 3 + others[i].count)).v.i, -1);
        assert_int_equal(rec_value_kind(rec_value_item(value, 4 + others[i].count)), REC_KIND_NIL);
        if (i == 0) {
            assert_true(rec_value_scalar(rec_value_item(value, 3)).v.u == UINT64_MAX);
        } else if (i == 2) {
            assert_true(rec_value_scalar(rec_value_item(value, 2)).v.f == (double)0.1f);
            assert_int_equal(rec_value_scalar(rec_value_item(value, 2)).bits, 32);
        }
        rec_record_free(record);
    }
}

static void null_among_floats_becomes_an_item(void **state)
{
    static const double doubles[] = {1.5, 2.5};
    load *l = begin(true);
    rec_record *record;
    (void)state;
    list(l, REC_UNKNOWN);
    nil(l);
    numbers(l, REC_DTYPE_F64, doubles, 2);
    nil(l);
    numbers(l, REC_DTYPE_F64, doubles, 2);
    end(l);
    record = finish(l);
    assert_int_equal(rec_value_kind(rec_root(record)), REC_KIND_LIST);
    assert_int_equal(rec_value_count(rec_root(record)), 6);
    assert_true(rec_value_scalar(rec_value_item(rec_root(record), 5)).v.f == 2.5);
    assert_int_equal(rec_value_kind(rec_value_item(rec_root(record), 3)), REC_KIND_NIL);
    rec_record_free(record);
}

static void nested_lists_keep_runs_apart(void **state)
{
    static const uint8_t bytes[] = {1, 2, 3};
    load *l = begin(true);
    rec_record *record;
    (void)state;
    list(l, REC_UNKNOWN);
    numbers(l, REC_DTYPE_U8, bytes, 3);
    list(l, REC_UNKNOWN);
    numbers(l, REC_DTYPE_U8, bytes, 2);
    end(l);
    numbers(l, REC_DTYPE_U8, bytes, 1);
    end(l);
    record = finish(l);
    assert_int_equal(rec_value_count(rec_root(record)), 5);
    assert_int_equal(rec_value_kind(rec_value_item(rec_root(record), 3)), REC_KIND_NUMBERS);
    assert_int_equal(rec_value_count(rec_value_item(rec_root(record), 3)), 2);
    assert_int_equal(rec_value_scalar(rec_value_at(record, "4")).v.u, 1);
    rec_record_free(record);
}

/* A random generator of our own: the same numbers everywhere. */
static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

/* Fills a chunk with numbers of some width, and what they are as 64 bits with a sign. */
static void make_chunk(uint64_t *seed, rec_dtype dtype, unsigned bits, uint64_t count, uint8_t *chunk, int64_t *values)
{
    uint32_t width = rec_dtype_bits(dtype) / 8;
    bool is_signed = dtype <= REC_DTYPE_I8;
    bool first_is_high = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t number = next_random(seed) >> (64 - bits);
        int64_t value =
            is_signed && next_random(seed) % 2 ? -(int64_t)(number / 2) : (int64_t)(number / (is_signed ? 2 : 1));
        values[i] = value;
        memcpy(chunk + i * width, (const uint8_t *)&value + (first_is_high ? 8 - width : 0), width);
    }
}

static void chunks_of_any_integers_are_widened_in_place(void **state)
{
    static const rec_dtype dtypes[] = {REC_DTYPE_U8,  REC_DTYPE_I8,  REC_DTYPE_U16, REC_DTYPE_I16,
                                       REC_DTYPE_U32, REC_DTYPE_I32, REC_DTYPE_U64, REC_DTYPE_I64};
    enum { CHUNKS = 6, MOST = 3000 };
    int64_t *values = malloc(CHUNKS * MOST * sizeof *values);
    uint8_t *chunk = malloc(MOST * 8);
    uint64_t seed = 88172645463325252u;
    (void)state;
    assert_true(values && chunk);
    for (int round = 0; round < 200; round++) {
        load *l = begin(true);
        uint64_t total = 0;
        rec_record *record;
        list(l, REC_UNKNOWN);
        for (int c = 0; c < CHUNKS; c++) {
            rec_dtype dtype = dtypes[next_random(&seed) % 8];
            unsigned most = rec_dtype_bits(dtype) == 64 ? 63 : rec_dtype_bits(dtype); /* all fit i64 together */
            unsigned bits = 1 + (unsigned)(next_random(&seed) % most);
            uint64_t count = next_random(&seed) % (round % 10 ? 40 : MOST);
            make_chunk(&seed, dtype, bits, count, chunk, values + total);
            numbers(l, dtype, chunk, count);
            total += count;
        }
        end(l);
        record = finish(l);
        assert_int_equal(rec_value_kind(rec_root(record)), total ? REC_KIND_NUMBERS : REC_KIND_LIST);
        assert_int_equal(rec_value_count(rec_root(record)), total);
        for (uint64_t i = 0; i < total; i++) {
            rec_scalar got = rec_value_number(rec_root(record), i);
            assert_int_equal(got.kind, values[i] < 0 ? REC_KIND_INT : REC_KIND_UINT);
            assert_int_equal(got.v.i, values[i]);
        }
        rec_record_free(record);
    }
    free(values);
    free(chunk);
}

static void a_long_run_that_turns_out_mixed_loses_nothing(void **state)
{
    enum { COUNT = 5000 };
    static int64_t first[COUNT];
    static uint64_t second[COUNT];
    load *l = begin(true);
    rec_record *record;
    (void)state;
    for (int i = 0; i < COUNT; i++) {
        first[i] = i - 2500;
        second[i] = i == COUNT - 1 ? UINT64_MAX : (uint64_t)i; /* the last piece of the chunk does not join */
    }
    list(l, REC_UNKNOWN);
    numbers(l, REC_DTYPE_I64, first, COUNT);
    numbers(l, REC_DTYPE_U64, second, COUNT);
    end(l);
    record = finish(l);
    assert_int_equal(rec_value_kind(rec_root(record)), REC_KIND_LIST);
    assert_int_equal(rec_value_count(rec_root(record)), 2 * COUNT);
    for (uint64_t i = 0; i < COUNT; i++) {
        assert_int_equal(rec_value_scalar(rec_value_item(rec_root(record), i)).v.i, first[i]);
        assert_int_equal(rec_value_scalar(rec_value_item(rec_root(record), COUNT + i)).v.u, second[i]);
    }
    rec_record_free(record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_event_makes_its_value),
        cmocka_unit_test(failures_name_the_place),
        cmocka_unit_test(nothing_or_half_a_value_is_no_record),
        cmocka_unit_test(there_is_one_value),
        cmocka_unit_test(ends_must_have_beginnings),
        cmocka_unit_test(keys_and_values_take_turns),
        cmocka_unit_test(keys_are_strings_bools_or_integers),
        cmocka_unit_test(announced_counts_are_kept),
        cmocka_unit_test(numbers_are_in_lists_and_of_types_that_lists_have),
        cmocka_unit_test(variants_have_the_payload_they_announce),
        cmocka_unit_test(an_option_that_is_present_has_a_value),
        cmocka_unit_test(metadata_and_tensors_belong_to_formats_that_speak_them),
        cmocka_unit_test(metadata_values_are_values_before_the_record),
        cmocka_unit_test(a_tensor_is_sound),
        cmocka_unit_test(nesting_ends_at_the_limit),
        cmocka_unit_test(a_path_that_may_get_too_long_is_refused_before_memory_is_asked_for),
        cmocka_unit_test(a_key_that_comes_twice_is_named),
        cmocka_unit_test(numbers_of_one_kind_are_packed),
        cmocka_unit_test(numbers_that_no_type_holds_together_become_items),
        cmocka_unit_test(null_among_floats_becomes_an_item),
        cmocka_unit_test(nested_lists_keep_runs_apart),
        cmocka_unit_test(chunks_of_any_integers_are_widened_in_place),
        cmocka_unit_test(a_long_run_that_turns_out_mixed_loses_nothing),
    };
    return cmocka_run_group_tests_name("events", tests, NULL, NULL);
}
