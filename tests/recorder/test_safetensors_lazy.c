/* SPDX-License-Identifier: MIT OR Apache-2.0
 * safetensors files that are opened without being read: what it costs in memory, and what becomes of a file that
 * changes before its tensors are read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <librecord.h>

#include "tests/scratch.h"

enum { MIB = 1 << 20 };

/* ------------------------------------------------------------------------------- an allocator that keeps count -- */

typedef struct meter {
    uint64_t live, peak; /* bytes */
} meter;

/* In front of each block: its size. */
typedef union block {
    size_t size;
    max_align_t align;
} block;

static void *meter_resize(void *user, void *old, size_t size)
{
    meter *m = user;
    block *b = old ? (block *)old - 1 : NULL;
    size_t before = b ? b->size : 0;
    b = realloc(b, sizeof *b + size);
    if (!b) {
        return NULL;
    }
    b->size = size;
    m->live = m->live - before + size;
    m->peak = m->live > m->peak ? m->live : m->peak;
    return b + 1;
}

static void *meter_alloc(void *user, size_t size)
{
    return meter_resize(user, NULL, size);
}

static void meter_release(void *user, void *memory)
{
    meter *m = user;
    block *b = (block *)memory - 1;
    m->live -= b->size;
    free(b);
}

static rec_context *metered(meter *m)
{
    const rec_allocator allocator = {
        .size = sizeof allocator, .alloc = meter_alloc, .resize = meter_resize, .release = meter_release, .user = m};
    rec_context *context = rec_context_new(&allocator);
    assert_non_null(context);
    m->peak = m->live;
    return context;
}

/* ------------------------------------------------------------------------------------------------------- files -- */

/* A file of tensors `layers.N.weight` from `first` on, each of `mib` MiB that are holes but for the first byte of each,
 * its number. @return its path, to be freed. */
static char *write_holes(const scratch *s, const char *name, unsigned first, unsigned count, unsigned mib)
{
    char *path = scratch_path(s, name), header[8192];
    FILE *file = fopen(path, "wb");
    size_t length = 0;
    uint64_t each = (uint64_t)mib * MIB;
    assert_non_null(file);
    for (unsigned i = 0; i < count; i++) {
        length += (size_t)snprintf(header + length, sizeof header - length,
                                   "%s\"layers.%u.weight\":{\"dtype\":\"F32\",\"shape\":[256,%u],"
                                   "\"data_offsets\":[%llu,%llu]}",
                                   i ? "," : "{", first + i, mib * 1024, (unsigned long long)(i * each),
                                   (unsigned long long)((i + 1) * each));
        assert_true(length + 1 < sizeof header);
    }
    header[length++] = '}';
    for (unsigned i = 0; i < 8; i++) {
        assert_int_not_equal(fputc((int)((uint64_t)length >> (8 * i) & 255), file), EOF);
    }
    assert_int_equal(fwrite(header, 1, length, file), length);
    for (unsigned i = 0; i < count; i++) {
        assert_int_equal(fseeko(file, (off_t)(8 + length + i * each), SEEK_SET), 0);
        assert_int_not_equal(fputc((int)(first + i + 1), file), EOF);
    }
    assert_int_equal(fflush(file), 0);
    assert_int_equal(ftruncate(fileno(file), (off_t)(8 + length + count * each)), 0);
    assert_int_equal(fclose(file), 0);
    return path;
}

static void write_index(const scratch *s, const char *name)
{
    free(scratch_text(s, name,
                      "{\"weight_map\":{\"layers.0.weight\":\"a.safetensors\",\"layers.1.weight\":\"a.safetensors\","
                      "\"layers.2.weight\":\"b.safetensors\",\"layers.3.weight\":\"b.safetensors\"}}"));
}

/* @param module how PyTorch lays the layers out; NULL: as Burn does. */
static rec_recorder *opened(rec_context *context, const char *name, const char *map, const char *module)
{
    rec_recorder *r = rec_open_recorder_in(context, name, REC_PRECISION_KEEP);
    assert_non_null(r);
    assert_int_equal(rec_recorder_set(r, "map", map), REC_OK);
    assert_int_equal(rec_recorder_set(r, "sync", "no"), REC_OK);
    if (strcmp(name, "Safetensors") == 0) {
        assert_int_equal(rec_recorder_set(r, module ? "module" : "adapter", module ? module : "none"), REC_OK);
    }
    return r;
}

static void good(rec_status status)
{
    if (status != REC_OK) {
        fail_msg("%s", rec_error_message());
    }
}

static void assert_files_equal(const char *a, const char *b)
{
    FILE *x = fopen(a, "rb"), *y = fopen(b, "rb");
    char p[4096], q[4096];
    size_t n;
    assert_true(x && y);
    do {
        n = fread(p, 1, sizeof p, x);
        assert_int_equal(fread(q, 1, sizeof q, y), n);
        assert_memory_equal(p, q, n);
    } while (n);
    (void)fclose(x);
    (void)fclose(y);
}

/* ------------------------------------------------------------------------------------------------------- tests -- */

static void a_large_file_is_opened_without_being_read(void **state)
{
    scratch *s = scratch_new();
    char *path = write_holes(s, "large.safetensors", 0, 4, 256);
    (void)state;
    for (int mapped = 0; mapped < 2; mapped++) {
        meter m = {0};
        rec_context *context = metered(&m);
        rec_recorder *r = opened(context, "Safetensors", mapped ? "yes" : "no", mapped ? NULL : "layers => Linear");
        rec_plan *plan = rec_plan_new(context, NULL);
        uint64_t before = m.peak = m.live;
        rec_record *record;
        assert_non_null(plan);
        good(rec_plan_add(plan, r, path));
        assert_true(m.peak - before < MIB); /* Burn's own types among it */
        rec_plan_free(plan);
        if (mapped) {
            record = rec_load(r, path);
            assert_non_null(record);
            assert_true(m.peak - before < MIB);
            assert_int_equal(*(const uint8_t *)rec_tensor_bytes(rec_tensor_at(record, "layers.3.weight"), NULL), 4);
            rec_record_free(record);
        }
        rec_close_recorder(r);
        rec_context_free(context);
        assert_int_equal(m.live, 0);
    }
    free(path);
    scratch_free(s);
}

static void a_file_that_was_read_is_in_memory_once(void **state)
{
    scratch *s = scratch_new();
    char *path = write_holes(s, "read.safetensors", 0, 4, 8), name[32];
    meter m = {0};
    rec_context *context = metered(&m);
    rec_recorder *r = opened(context, "Safetensors", "no", NULL);
    uint64_t before = m.live;
    rec_record *record = rec_load(r, path);
    (void)state;
    assert_non_null(record);
    for (int i = 0; i < 4; i++) {
        (void)snprintf(name, sizeof name, "layers.%d.weight", i);
        assert_int_equal(*(const uint8_t *)rec_tensor_bytes(rec_tensor_at(record, name), NULL), i + 1);
    }
    assert_true(m.peak - before < 33 * MIB);
    rec_record_free(record);
    rec_close_recorder(r);
    rec_context_free(context);
    assert_int_equal(m.live, 0);
    free(path);
    scratch_free(s);
}

/* One file, or two with an index. */
static void converting_unmapped_keeps_about_one_tensor(void **state)
{
    static const char *const modules[] = {NULL, "layers => Linear"}, *const inputs[] = {"a.safetensors",
                                                                                        "m.safetensors.index.json"};
    scratch *s = scratch_new();
    char *a = write_holes(s, "a.safetensors", 0, 2, 8), *b = write_holes(s, "b.safetensors", 2, 2, 8);
    (void)state;
    write_index(s, inputs[1]);
    for (size_t i = 0; i < 4; i++) {
        char *in = scratch_path(s, inputs[i / 2]), *out[2];
        for (int mapped = 0; mapped < 2; mapped++) {
            meter m = {0};
            rec_context *context = metered(&m);
            rec_recorder *from = opened(context, "Safetensors", mapped ? "yes" : "no", modules[i % 2]);
            rec_recorder *to = opened(context, "NamedMpk", "no", NULL);
            out[mapped] = scratch_path(s, mapped ? "mapped.mpk" : "unmapped.mpk");
            good(rec_convert(from, in, to, out[mapped], NULL));
            assert_true(m.peak < 12 * MIB);
            rec_close_recorder(from);
            rec_close_recorder(to);
            rec_context_free(context);
            assert_int_equal(m.live, 0);
        }
        assert_files_equal(out[0], out[1]);
        free(out[0]);
        free(out[1]);
        free(in);
    }
    free(a);
    free(b);
    scratch_free(s);
}

/* What of files is in memory, in KiB. */
static long resident_of_files(void)
{
    FILE *status = fopen("/proc/self/status", "r");
    char line[128];
    long kib = -1;
    assert_non_null(status);
    while (kib < 0 && fgets(line, sizeof line, status)) {
        if (strncmp(line, "RssFile:", 8) == 0) {
            kib = strtol(line + 8, NULL, 10);
        }
    }
    (void)fclose(status);
    assert_true(kib >= 0);
    return kib;
}

static long most_resident;

static int32_t look_at_resident(void *user, const rec_progress *progress)
{
    long now = resident_of_files();
    (void)user;
    (void)progress;
    most_resident = now > most_resident ? now : most_resident;
    return 0;
}

/* As it is, transposed, in another element type, and saved after it was loaded: the pages of the map that were handed
 * on do not stay. */
static void converting_mapped_gives_back_what_it_passed(void **state)
{
    static const char *const modules[] = {NULL, "layers => Linear", NULL, NULL};
    scratch *s = scratch_new();
    char *in = write_holes(s, "a.safetensors", 0, 24, 4), *out = scratch_path(s, "out.mpk");
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        rec_context *context = rec_context_new(NULL);
        rec_recorder *from, *to;
        rec_record *record = NULL;
        long before;
        assert_non_null(context);
        from = opened(context, "Safetensors", "yes", modules[i]);
        to = opened(context, "NamedMpk", "no", NULL);
        if (i == 2) {
            rec_close_recorder(to);
            to = rec_open_recorder_in(context, "NamedMpk", REC_PRECISION_HALF);
            assert_non_null(to);
            assert_int_equal(rec_recorder_set(to, "sync", "no"), REC_OK);
        }
        rec_context_set_progress(context, look_at_resident, NULL);
        most_resident = before = resident_of_files();
        if (i < 3) {
            good(rec_convert(from, in, to, out, NULL));
        } else {
            record = rec_load(from, in);
            assert_non_null(record);
            good(rec_save(to, record, out));
            assert_int_equal(*(const uint8_t *)rec_tensor_bytes(rec_tensor_at(record, "layers.3.weight"), NULL), 4);
        }
        assert_true(most_resident - before < 24 * 1024); /* of 96 MiB */
        rec_record_free(record);
        rec_close_recorder(from);
        rec_close_recorder(to);
        rec_context_free(context);
    }
    free(in);
    free(out);
    scratch_free(s);
}

/* The plan has read the header only. */
static void a_file_that_is_cut_short_after_the_plan_is_a_failure_that_says_where(void **state)
{
    static const char *const modules[] = {NULL, "layers => Linear"};
    scratch *s = scratch_new();
    char *out = scratch_path(s, "out.mpk");
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        bool parts = i >= 2; /* then it is the second file that is cut */
        char *a = write_holes(s, "a.safetensors", 0, 2, 1), *b = write_holes(s, "b.safetensors", 2, 2, 1);
        char *index = scratch_path(s, "m.safetensors.index.json"), *cut = parts ? b : a;
        rec_context *context = rec_context_new(NULL);
        rec_recorder *from = opened(context, "Safetensors", "no", modules[i % 2]);
        rec_recorder *to = opened(context, "NamedMpk", "no", NULL);
        rec_plan *plan = rec_plan_new(context, to);
        write_index(s, "m.safetensors.index.json");
        assert_non_null(plan);
        good(rec_plan_add(plan, from, parts ? index : a));
        assert_int_equal(truncate(cut, MIB + 4096), 0);
        assert_int_not_equal(rec_convert(from, NULL, to, out, plan), REC_OK);
        if (!strstr(rec_error_message(), cut) || !strstr(rec_error_message(), "byte 1,052,672")) {
            fail_msg("%s, or the place, is not in the message:\n%s", cut, rec_error_message());
        }
        assert_int_equal(access(out, F_OK), -1);
        rec_plan_free(plan);
        rec_close_recorder(from);
        rec_close_recorder(to);
        rec_context_free(context);
        free(a);
        free(b);
        free(index);
    }
    free(out);
    scratch_free(s);
}

/* Whoever says that 90 MB of header follow has to have them. */
static void a_wrong_length_costs_no_memory(void **state)
{
    static const uint8_t bytes[16] = {0, 0, 90, 5, 0, 0, 0, 0, '{', '}'};
    scratch *s = scratch_new();
    char *path = scratch_write(s, "wrong.safetensors", bytes, sizeof bytes);
    meter m = {0};
    rec_context *context = metered(&m);
    rec_recorder *r = opened(context, "Safetensors", "no", NULL);
    (void)state;
    assert_null(rec_load(r, path));
    assert_non_null(strstr(rec_error_message(), "the header has 89784320 bytes, but only 8 follow"));
    assert_true(m.peak < MIB);
    rec_close_recorder(r);
    rec_context_free(context);
    free(path);
    scratch_free(s);
}

/* Writes a file of tensors of one element, eight to a layer. */
static char *write_small(const scratch *s, const char *name, unsigned count)
{
    char *path = scratch_path(s, name), *header = NULL;
    size_t length;
    FILE *file = fopen(path, "wb"), *text = open_memstream(&header, &length);
    assert_true(file && text);
    for (unsigned i = 0; i < count; i++) {
        (void)fprintf(text, "%s\"layers.%u.part_%u.w\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[%u,%u]}",
                      i ? "," : "{", i / 8, i % 8, i * 4, i * 4 + 4);
    }
    (void)fputc('}', text);
    assert_int_equal(fclose(text), 0);
    for (unsigned i = 0; i < 8; i++) {
        assert_int_not_equal(fputc((int)((uint64_t)length >> (8 * i) & 255), file), EOF);
    }
    assert_int_equal(fwrite(header, 1, length, file), length);
    assert_int_equal(fflush(file), 0);
    assert_int_equal(ftruncate(fileno(file), (off_t)(8 + length + (size_t)count * 4)), 0);
    assert_int_equal(fclose(file), 0);
    free(header);
    return path;
}

/* The bytes that a record, or a plan, of so many tensors has. */
static uint64_t cost_of(const scratch *s, unsigned count, bool planned)
{
    meter m = {0};
    rec_context *context = metered(&m);
    rec_recorder *r = opened(context, "Safetensors", "yes", NULL);
    char *path = write_small(s, "small.safetensors", count);
    rec_plan *plan = planned ? rec_plan_new(context, NULL) : NULL;
    rec_plan_totals totals = {.size = sizeof totals};
    uint64_t before = m.live, cost;
    rec_record *record = NULL;
    if (plan) {
        good(rec_plan_add(plan, r, path));
        good(rec_plan_total(plan, &totals));
        assert_int_equal(totals.mapped, count);
    } else {
        record = rec_load(r, path);
        assert_non_null(record);
    }
    cost = m.live - before;
    rec_plan_free(plan);
    rec_record_free(record);
    rec_close_recorder(r);
    rec_context_free(context);
    free(path);
    return cost;
}

/* A file with a header of 97 MB has a million tensors. */
static void test_small_tensor_costs_few_bytes(void **state)
{
    enum { FEW = 1 << 13, MANY = 5 << 13, LOADED = 210, PLANNED = 590 };
    scratch *s = scratch_new();
    uint64_t loaded = (cost_of(s, MANY, false) - cost_of(s, FEW, false)) / (MANY - FEW);
    uint64_t planned = (cost_of(s, MANY, true) - cost_of(s, FEW, true)) / (MANY - FEW);
    (void)state;
    print_message("# bytes of a tensor: loaded %u, planned %u\n", (unsigned)loaded, (unsigned)planned);
    assert_true(loaded <= LOADED);
    assert_true(planned <= PLANNED);
    scratch_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_large_file_is_opened_without_being_read),
        cmocka_unit_test(a_file_that_was_read_is_in_memory_once),
        cmocka_unit_test(converting_unmapped_keeps_about_one_tensor),
        cmocka_unit_test(converting_mapped_gives_back_what_it_passed),
        cmocka_unit_test(a_file_that_is_cut_short_after_the_plan_is_a_failure_that_says_where),
        cmocka_unit_test(a_wrong_length_costs_no_memory),
        cmocka_unit_test(test_small_tensor_costs_few_bytes),
    };
    return cmocka_run_group_tests_name("safetensors, read when needed", tests, NULL, NULL);
}
