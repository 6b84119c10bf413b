/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Dotted keys that become a tree: thousands of random sets of keys, beside what a plain comparison of all with all
 * makes of them; and sets that are large in one way or another. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <librecord.h>
#include <librecord/plugin.h>

enum { KEYS_MOST = 64, PARTS_MOST = 6 };

/* A key in its parts. */
typedef struct key {
    const char *parts[PARTS_MOST];
    size_t count;
    size_t number; /* place in the file */
} key;

static FILE *out;

/* ------------------------------------------------------------------------------------------- what it should be -- */

static bool same_to(const key *a, const key *b, size_t depth)
{
    for (size_t i = 0; i < depth; i++) {
        if (i >= a->count || i >= b->count || strcmp(a->parts[i], b->parts[i]) != 0) {
            return false;
        }
    }
    return true;
}

static int by_parts(const void *a, const void *b)
{
    const key *x = a, *y = b;
    for (size_t i = 0; i < x->count && i < y->count; i++) {
        int order = strcmp(x->parts[i], y->parts[i]);
        if (order) {
            return order;
        }
    }
    return x->count < y->count ? -1 : x->count > y->count;
}

/* Whether a part is that number as it is written in lists. */
static bool is_index(const char *part, size_t index)
{
    char plain[24];
    (void)snprintf(plain, sizeof plain, "%zu", index);
    return strcmp(part, plain) == 0;
}

/* What begins with the first `depth` parts of `first`, by its definition: the first of each name counts for the order.
 */
static void expect(const key *keys, size_t count, const key *first, size_t depth)
{
    const key *names[KEYS_MOST];
    bool both[KEYS_MOST] = {false}, list = depth > 0;
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        size_t k = 0;
        if (same_to(&keys[i], first, depth) && keys[i].count > depth) {
            while (k < used && !same_to(names[k], &keys[i], depth + 1)) {
                k++;
            }
            names[k] = &keys[i];
            used += k == used;
        }
    }
    for (size_t k = 0; k < used; k++) {
        bool leaf = false, more = false, found = false;
        for (size_t i = 0; i < count; i++) {
            if (same_to(&keys[i], names[k], depth + 1)) {
                leaf = leaf || keys[i].count == depth + 1;
                more = more || keys[i].count > depth + 1;
            }
        }
        both[k] = leaf && more;
        for (size_t i = 0; i < used; i++) {
            found = found || is_index(names[i]->parts[depth], k);
        }
        list = list && found && !both[k];
    }
    (void)fprintf(out, list ? "[" : "{");
    for (size_t k = 0; k < used; k++) {
        const key *one = names[k];
        for (size_t i = 0; list && i < used; i++) {
            one = is_index(names[i]->parts[depth], k) ? names[i] : one;
        }
        if (!list) {
            (void)fprintf(out, "%s:", one->parts[depth]);
        }
        for (size_t i = 0; i < count; i++) {
            if (keys[i].count == depth + 1 && same_to(&keys[i], one, depth + 1)) {
                (void)fprintf(out, "#%zu ", keys[i].number);
            }
        }
        if (both[k]) { /* those below stand beside it */
            key sorted[KEYS_MOST];
            memcpy(sorted, keys, count * sizeof *keys);
            qsort(sorted, count, sizeof *sorted, by_parts);
            for (size_t i = 0; i < count; i++) {
                if (sorted[i].count > depth + 1 && same_to(&sorted[i], one, depth + 1)) {
                    for (size_t p = depth; p < sorted[i].count; p++) {
                        (void)fprintf(out, "%s%s", sorted[i].parts[p], p + 1 < sorted[i].count ? "." : ":");
                    }
                    (void)fprintf(out, "#%zu ", sorted[i].number);
                }
            }
        } else {
            bool more = false;
            for (size_t i = 0; i < count; i++) {
                more = more || (keys[i].count > depth + 1 && same_to(&keys[i], one, depth + 1));
            }
            if (more) {
                expect(keys, count, one, depth + 1);
            }
        }
    }
    (void)fprintf(out, list ? "]" : "}");
}

/* -------------------------------------------------------------------------------------------------- what it is -- */

static void describe(const rec_value *value)
{
    bool map = rec_value_kind(value) == REC_KIND_MAP;
    if (rec_value_kind(value) == REC_KIND_TENSOR) {
        (void)fprintf(out, "#%" PRIu64 " ", rec_tensor_shape(rec_value_tensor(value))[1]);
        return;
    }
    assert_true(map || rec_value_kind(value) == REC_KIND_LIST);
    (void)fprintf(out, map ? "{" : "[");
    for (uint64_t i = 0; i < rec_value_count(value); i++) {
        if (map) {
            rec_scalar name = rec_value_key(value, i);
            assert_int_equal(strlen(name.text), name.v.length);
            (void)fprintf(out, "%s:", name.text);
        }
        describe(rec_value_item(value, i));
    }
    (void)fprintf(out, map ? "}" : "]");
}

static void put_text(FILE *file, const char *text)
{
    for (; *text; text++) {
        (void)fprintf(file, *text == '\\' ? "\\\\" : "%c", *text);
    }
}

/* A safetensors file of tensors of no elements, whose second axis is their number. */
static char *file_of(const key *keys, size_t count, size_t *size)
{
    char *text = NULL;
    uint8_t length[8] = {0};
    FILE *file = open_memstream(&text, size);
    (void)fwrite(length, 8, 1, file);
    for (size_t i = 0; i < count; i++) {
        (void)fprintf(file, i ? ",\"" : "{\"");
        for (size_t p = 0; p < keys[i].count; p++) {
            put_text(file, keys[i].parts[p]);
            (void)fprintf(file, p + 1 < keys[i].count ? "." : "");
        }
        (void)fprintf(file, "\":{\"dtype\":\"F32\",\"shape\":[0,%zu],\"data_offsets\":[0,0]}", keys[i].number);
    }
    (void)fprintf(file, count ? "}" : "{}");
    assert_int_equal(fclose(file), 0);
    for (unsigned i = 0; i < 8; i++) {
        text[i] = (char)(((uint64_t)*size - 8) >> (8 * i));
    }
    return text;
}

static rec_record *load(const char *text, size_t size)
{
    rec_recorder *recorder = rec_open_recorder("Safetensors", REC_PRECISION_KEEP);
    rec_record *record;
    assert_non_null(recorder);
    assert_int_equal(rec_recorder_set(recorder, "adapter", "none"), REC_OK);
    assert_int_equal(rec_recorder_set(recorder, "gaps", "keep"), REC_OK);
    record = rec_load_bytes(recorder, text, size);
    if (!record) {
        fail_msg("%s", rec_error_message());
    }
    rec_close_recorder(recorder);
    return record;
}

static void compare(const key *keys, size_t count)
{
    size_t size, length;
    char *text = file_of(keys, count, &size), *want = NULL, *have = NULL;
    rec_record *record = load(text, size);
    out = open_memstream(&want, &length);
    expect(keys, count, &keys[0], 0);
    (void)fclose(out);
    out = open_memstream(&have, &length);
    describe(rec_root(record));
    (void)fclose(out);
    if (strcmp(have, want) != 0) {
        fail_msg("%.*s\n is %s\n not %s", (int)size - 8, text + 8, have, want);
    }
    for (size_t i = 0; i < count; i++) { /* a map's index finds them */
        char path[256] = "";
        for (size_t p = 0; p < keys[i].count; p++) {
            char name[64];
            (void)rec_path_escape(keys[i].parts[p], strlen(keys[i].parts[p]), name, sizeof name);
            (void)snprintf(path + strlen(path), sizeof path - strlen(path), "%s%s", p ? "." : "", name);
        }
        /* Not those whose names have dots now, and not the root. */
        if (rec_value_kind(rec_value_at(record, path)) == REC_KIND_TENSOR) {
            assert_int_equal(rec_tensor_shape(rec_tensor_at(record, path))[1], keys[i].number);
        }
    }
    rec_record_free(record);
    free(text);
    free(want);
    free(have);
}

/* --------------------------------------------------------------------------------------------------- the tests -- */

static uint64_t state = UINT64_C(0x2545f4914f6cdd1d);

static size_t random_below(size_t most)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (size_t)(state >> 11) % most;
}

static bool is_there(const key *keys, size_t count, const key *one)
{
    for (size_t i = 0; i < count; i++) {
        if (keys[i].count == one->count && same_to(&keys[i], one, one->count)) {
            return true;
        }
    }
    return false;
}

static void random_keys(void **unused)
{
    static const char *const parts[] = {"0",
                                        "1",
                                        "2",
                                        "3",
                                        "10",
                                        "01",
                                        "+1",
                                        "-1",
                                        "a",
                                        "b",
                                        "A",
                                        "weight",
                                        "bias",
                                        "a b",
                                        "b\\",
                                        "\\",
                                        "",
                                        "a!",
                                        "a-b",
                                        "layers_with_a_long_name",
                                        "layers_with_a_long_name2",
                                        "4294967295",
                                        "18446744073709551615",
                                        "99999999999999999999",
                                        "ü"};
    (void)unused;
    for (unsigned round = 0; round < 6000; round++) {
        key keys[KEYS_MOST];
        size_t count = 0, want = 1 + random_below(round % 3 ? 8 : KEYS_MOST), alphabet = 2 + random_below(23),
               first = random_below(25), depth = 1 + random_below(PARTS_MOST);
        for (size_t tries = 0; tries < 4 * want && count < want; tries++) {
            key one = {.count = 1 + random_below(depth), .number = count};
            for (size_t p = 0; p < one.count; p++) {
                one.parts[p] = parts[(first + random_below(alphabet)) % 25];
            }
            /* Often as the one before, but for the end: as files are. */
            for (size_t p = 0; count && random_below(3) && p + 1 < one.count && p < keys[count - 1].count; p++) {
                one.parts[p] = keys[count - 1].parts[p];
            }
            if (!is_there(keys, count, &one)) {
                keys[count++] = one;
            }
        }
        compare(keys, count);
    }
}

/* Many children of one node, in an order of their own, and each of them again later. */
static void many_children(void **unused)
{
    enum { COUNT = 2000 };
    char *header = NULL, path[64];
    size_t size;
    FILE *file = open_memstream(&header, &size);
    rec_record *record;
    const rec_value *list;
    (void)unused;
    (void)fprintf(file, "%8s{", "");
    for (unsigned end = 0; end < 2; end++) {
        for (unsigned i = 0; i < COUNT; i++) {
            (void)fprintf(file, "%s\"m.%u.%s\":{\"dtype\":\"F32\",\"shape\":[0,%u],\"data_offsets\":[0,0]}",
                          i + end ? "," : "", i * 7919U % COUNT, end ? "bias" : "weight", i * 7919U % COUNT * 2 + end);
        }
    }
    (void)fprintf(file, "}");
    assert_int_equal(fclose(file), 0);
    for (unsigned i = 0; i < 8; i++) {
        header[i] = (char)(((uint64_t)size - 8) >> (8 * i));
    }
    record = load(header, size);
    list = rec_value_at(record, "m");
    assert_int_equal(rec_value_kind(list), REC_KIND_LIST);
    assert_int_equal(rec_value_count(list), COUNT);
    for (unsigned i = 0; i < COUNT; i++) {
        (void)snprintf(path, sizeof path, "m.%u.weight", i);
        assert_int_equal(rec_tensor_shape(rec_tensor_at(record, path))[1], i * 2);
        (void)snprintf(path, sizeof path, "m.%u.bias", i);
        assert_int_equal(rec_tensor_shape(rec_tensor_at(record, path))[1], i * 2 + 1);
    }
    rec_record_free(record);
    free(header);
}

/* As many parts as a record may have levels, and one more. */
static void deep_keys(void **unused)
{
    (void)unused;
    for (unsigned parts = 199; parts <= 202; parts++) {
        char text[1024];
        size_t size = (size_t)snprintf(text, sizeof text, "%8s{\"", "");
        rec_recorder *recorder = rec_open_recorder("Safetensors", REC_PRECISION_KEEP);
        rec_record *record;
        for (unsigned i = 0; i < parts; i++) {
            size += (size_t)snprintf(text + size, sizeof text - size, "%sx", i ? "." : "");
        }
        size += (size_t)snprintf(text + size, sizeof text - size,
                                 "\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]}}");
        for (unsigned i = 0; i < 8; i++) {
            text[i] = (char)(((uint64_t)size - 8) >> (8 * i));
        }
        assert_int_equal(rec_recorder_set(recorder, "adapter", "none"), REC_OK);
        assert_int_equal(rec_recorder_set(recorder, "gaps", "keep"), REC_OK);
        record = rec_load_bytes(recorder, text, size);
        if (parts <= 200) {
            assert_non_null(record);
        } else {
            assert_null(record);
            assert_int_equal(rec_error_status(), REC_E_LIMIT);
            assert_non_null(strstr(rec_error_message(), "has more than 200 parts"));
        }
        rec_record_free(record);
        rec_close_recorder(recorder);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_keys),
        cmocka_unit_test(many_children),
        cmocka_unit_test(deep_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
