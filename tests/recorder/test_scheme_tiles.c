/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Scheme plugins: parts of random layouts, whose tiles at random places are those of the whole; claims and spans that
 * violate the contract; and the memory of decoding, which does not grow with the tensor. The random layouts come from
 * fixed seeds. */
#include <librecord/plugin.h>
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "librecord.h"
#include "tests/sanitized.h"

/* ----------------------------------------------------------------------------------------- memory, and its peak -- */

static atomic_llong in_use, peak;

#if defined(__GLIBC__) && !SANITIZED
#define COUNTS_MEMORY true

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void __libc_free(void *memory);

static void count_memory(void *memory, long long sign)
{
    long long now = atomic_fetch_add(&in_use, sign * (long long)malloc_usable_size(memory)) +
                    sign * (long long)malloc_usable_size(memory);
    long long most = atomic_load(&peak);
    while (now > most && !atomic_compare_exchange_weak(&peak, &most, now)) {
    }
}

REC_API void *malloc(size_t size)
{
    void *memory = __libc_malloc(size);
    count_memory(memory, 1);
    return memory;
}

REC_API void *calloc(size_t count, size_t size)
{
    void *memory = __libc_calloc(count, size);
    count_memory(memory, 1);
    return memory;
}

REC_API void *realloc(void *old, size_t size)
{
    void *memory;
    count_memory(old, -1);
    memory = __libc_realloc(old, size);
    count_memory(memory ? memory : old, 1);
    return memory;
}

REC_API void free(void *memory)
{
    count_memory(memory, -1);
    __libc_free(memory);
}
#else
#define COUNTS_MEMORY false
#endif

/* ---------------------------------------------------------------------------------------------- random layouts -- */

enum { PARTS = 3, BYTES_MOST = 1 << 21 };

static uint64_t seed;

/* Returns a number below `below` (splitmix64). */
static uint64_t chance(uint64_t below)
{
    uint64_t x = seed += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (x ^ (x >> 31)) % below;
}

/* Where a part has the byte of an element. */
enum {
    EACH,   /* one byte for each element */
    BLOCKS, /* one byte for `size` elements: a scale */
    PLANES, /* `size` runs: the elements i with the same i mod `size` follow one another */
    ALL     /* as BLOCKS; a tile gets the whole part */
};

typedef struct layout {
    uint64_t count; /* elements */
    uint64_t kind[PARTS], size[PARTS];
    uint64_t parts, step;
    rec_dtype dtype;
} layout;

static uint64_t run_length(uint64_t count, uint64_t size)
{
    return (count + size - 1) / size;
}

static uint64_t part_size(const layout *l, uint64_t part)
{
    return l->kind[part] == EACH     ? l->count
           : l->kind[part] == PLANES ? run_length(l->count, l->size[part]) * l->size[part]
                                     : run_length(l->count, l->size[part]);
}

static uint64_t byte_of(const layout *l, uint64_t part, uint64_t element)
{
    uint64_t size = l->size[part];
    return l->kind[part] == EACH     ? element
           : l->kind[part] == PLANES ? element % size * run_length(l->count, size) + element / size
                                     : element / size;
}

/* @param large a tensor that several threads decode, in steps of more than one element. */
static layout random_layout(uint64_t most, bool large)
{
    static const rec_dtype dtypes[] = {REC_DTYPE_F32, REC_DTYPE_F64, REC_DTYPE_I32};
    static const uint64_t sizes[] = {1, 2, 3, 7, 32, 100, 129};
    layout l = {.count = 1 + chance(most), .parts = 1 + chance(PARTS), .step = 1, .dtype = dtypes[chance(3)]};
    for (uint64_t i = 0; i < l.parts; i++) {
        l.kind[i] = chance(4);
        l.size[i] = sizes[chance(sizeof sizes / sizeof *sizes)];
        if (large && i == 0) {
            l.count += BYTES_MOST / 2;
            l.kind[i] = PLANES;
            l.size[i] = 7;
        }
        if (l.kind[i] == PLANES) {
            l.step *= l.size[i]; /* a tile begins at the first plane of each such part */
        }
    }
    l.step *= 1 + chance(3);
    return l;
}

/* ------------------------------------------------------------------------------------------------- the scheme -- */

static layout now;           /* of the file that is loaded */
static const char *lie;      /* what the plugin does wrong; NULL: nothing */
static atomic_int misplaced; /* tiles that do not begin or end at a step */

#define LIES(what) (lie && strcmp(lie, what) == 0)

static int32_t lie_in_claim(rec_job *job, const rec_siblings *siblings, rec_logical *l)
{
    static rec_part made;
    static const struct {
        const char *what;
        uint32_t parts, rank;
        rec_dtype dtype;
        uint64_t step;
    } wrong[] = {{"parts", REC_PARTS_MOST + 1, 1, REC_DTYPE_F32, 1},
                 {"rank", 1, REC_LOGICAL_RANK_MOST + 1, REC_DTYPE_F32, 1},
                 {"dtype", 1, 1, REC_DTYPE_QFLOAT, 1},
                 {"step", 1, 1, REC_DTYPE_F32, REC_STEP_MOST + 1}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        if (LIES(wrong[i].what)) {
            l->part_count = wrong[i].parts;
            l->rank = wrong[i].rank;
            l->dtype = wrong[i].dtype;
            l->step = wrong[i].step;
        }
    }
    if (LIES("made part")) {
        made = *l->parts[0];
        l->parts[1] = &made;
        l->part_count = 2;
    } else if (LIES("other part")) {
        l->parts[0] = rec_sibling(job, siblings, "x.part1");
    } else if (LIES("label")) {
        memset(l->label, 'x', sizeof l->label);
    } else if (LIES("no label")) {
        l->label[0] = '\0';
    } else if (LIES("end")) {
        memset(l->path_end, 'x', sizeof l->path_end);
    } else if (LIES("less")) {
        l->path_less = 1000;
    } else if (LIES("shape")) {
        l->rank = 2;
        l->shape[0] = l->shape[1] = UINT64_C(1) << 40;
    } else if (LIES("another name")) {
        l->path_less = (uint32_t)strlen("part0");
        strcpy(l->path_end, "other");
    }
    return LIES("status") ? 77 : REC_OK;
}

static void *no_memory(void *user, size_t size)
{
    (void)user;
    (void)size;
    return NULL;
}

static void *no_more(void *user, void *old, size_t size)
{
    (void)user;
    (void)old;
    (void)size;
    return NULL;
}

static void release(void *user, void *memory)
{
    (void)user;
    (void)memory;
}

static int32_t claim(rec_job *job, const rec_siblings *siblings, const rec_part *part, rec_logical *l)
{
    size_t length = strlen(part->path);
    if (LIES("meanwhile")) { /* another operation of this thread, which fails */
        const rec_allocator none = {.size = sizeof none, .alloc = no_memory, .resize = no_more, .release = release};
        assert_null(rec_context_new(&none));
        assert_int_equal(rec_error_status(), REC_E_MEMORY);
    }
    if (length < 5 || strcmp(part->path + length - 5, "part0") != 0) {
        return REC_OK;
    }
    l->parts[l->part_count++] = part;
    for (uint64_t i = 1; i < now.parts; i++) {
        char end[] = "0";
        end[0] = (char)('0' + i);
        l->parts[l->part_count] = rec_sibling_of(job, siblings, part, 1, end);
        assert_non_null(l->parts[l->part_count++]);
    }
    l->rank = 1;
    l->shape[0] = now.count;
    l->dtype = now.dtype;
    l->step = now.step;
    l->state[0] = now.count;
    strcpy(l->label, "woven");
    return lie_in_claim(job, siblings, l);
}

static void lie_in_spans(rec_span *s)
{
    if (LIES("offset")) {
        s->offset = UINT64_MAX;
    } else if (LIES("beyond")) {
        s->length = now.count + 1;
    } else if (LIES("no run")) {
        s->count = 0;
    } else if (LIES("length times count")) {
        *s = (rec_span){.length = UINT64_C(1) << 63, .count = 2};
    } else if (LIES("stride times count")) {
        *s = (rec_span){.length = 1, .stride = UINT64_MAX / 2, .count = 4};
    } else if (LIES("last run")) {
        *s = (rec_span){.length = 1, .stride = now.count, .count = 2};
    }
}

static void spans(const uint64_t *state, uint64_t first, uint64_t count, rec_span *s)
{
    uint64_t total = state[0];
    if (first % now.step || (count % now.step && first + count != total)) {
        atomic_fetch_add(&misplaced, 1);
    }
    for (uint64_t i = 0; i < now.parts; i++) {
        uint64_t size = now.size[i], run = run_length(total, size);
        if (now.kind[i] == EACH) {
            s[i] = (rec_span){.offset = first, .length = count, .count = 1};
        } else if (now.kind[i] == BLOCKS) {
            s[i] =
                (rec_span){.offset = first / size, .length = (first + count - 1) / size - first / size + 1, .count = 1};
        } else if (now.kind[i] == PLANES) {
            s[i] = (rec_span){.offset = first / size, .length = run_length(count, size), .stride = run, .count = size};
        }
    }
    lie_in_spans(s);
}

/* The index of an element's byte in the bytes of a span. */
static uint64_t at_of(uint64_t part, const rec_span *s, uint64_t first, uint64_t element)
{
    uint64_t size = now.size[part];
    return now.kind[part] == EACH     ? element - first
           : now.kind[part] == BLOCKS ? element / size - s->offset
           : now.kind[part] == PLANES ? element % size * s->length + element / size - s->offset
                                      : element / size;
}

static void put(void *numbers, uint64_t at, uint32_t number)
{
    if (now.dtype == REC_DTYPE_F32) {
        ((float *)numbers)[at] = (float)number;
    } else if (now.dtype == REC_DTYPE_F64) {
        ((double *)numbers)[at] = number;
    } else {
        ((int32_t *)numbers)[at] = (int32_t)number;
    }
}

/* A number is the bytes of its parts, one after the other: 24 bits at most, which f32 holds. */
static int32_t tile(const uint64_t *state, uint64_t first, uint64_t count, const rec_span *s, const void *const *parts,
                    void *numbers)
{
    (void)state;
    for (uint64_t i = 0; i < count; i++) {
        uint32_t number = 0;
        for (uint64_t k = 0; k < now.parts; k++) {
            number = number << 8 | ((const uint8_t *)parts[k])[at_of(k, &s[k], first, first + i)];
        }
        put(numbers, i, number);
    }
    return LIES("damaged") ? REC_E_FORMAT : REC_OK;
}

static const rec_plugin woven = {
    .abi = REC_PLUGIN_ABI,
    .size = sizeof(rec_plugin),
    .kind = REC_PLUGIN_SCHEME,
    .name = "Woven",
    .description = "scheme: numbers of bytes in several parts",
    .claim = claim,
    .spans = spans,
    .tile = tile,
};

/* --------------------------------------------------------------------------------------------------- the files -- */

static rec_context *context;
static char header[1024];
static uint64_t header_size, file_size;

/* Byte `at` of the data of all parts: no file is in memory. */
static uint8_t data_at(uint64_t at)
{
    return (uint8_t)((at * UINT64_C(0x9e3779b97f4a7c15)) >> 56);
}

static uint64_t part_offset(const layout *l, uint64_t part)
{
    uint64_t offset = 0;
    for (uint64_t i = 0; i < part; i++) {
        offset += part_size(l, i);
    }
    return offset;
}

static uint32_t number_at(const layout *l, uint64_t element)
{
    uint32_t number = 0;
    for (uint64_t i = 0; i < l->parts; i++) {
        number = number << 8 | data_at(part_offset(l, i) + byte_of(l, i, element));
    }
    return number;
}

/* The header of a safetensors file with the parts, and x.other after them. */
static void describe(const layout *l)
{
    size_t used = 8;
    uint64_t begin = 0;
    used += (size_t)snprintf(header + used, sizeof header - used, "{");
    for (uint64_t i = 0; i <= l->parts; i++) {
        uint64_t size = i < l->parts ? part_size(l, i) : 1;
        char name[16] = "other";
        if (i < l->parts) {
            (void)snprintf(name, sizeof name, "part%d", (int)i);
        }
        used += (size_t)snprintf(header + used, sizeof header - used,
                                 "%s\"x.%s\":{\"dtype\":\"U8\",\"shape\":[%llu],\"data_offsets\":[%llu,%llu]}",
                                 i ? "," : "", name, (unsigned long long)size, (unsigned long long)begin,
                                 (unsigned long long)(begin + size));
        begin += size;
    }
    used += (size_t)snprintf(header + used, sizeof header - used, "}");
    for (int i = 0; i < 8; i++) {
        header[i] = (char)((uint64_t)(used - 8) >> (8 * i));
    }
    header_size = used;
    file_size = used + begin;
}

static int32_t read_at(void *user, uint64_t offset, void *target, uint64_t size)
{
    uint8_t *to = target;
    (void)user;
    for (uint64_t i = 0; i < size; i++) {
        uint64_t at = offset + i;
        to[i] = at < header_size ? (uint8_t)header[at] : data_at(at - header_size);
    }
    return 0;
}

/* Loads the file of a layout, decoded. @param memory the whole file, which the record may borrow; NULL: from a
 * function.
 */
static rec_record *load(const layout *l, const uint8_t *memory)
{
    rec_recorder *recorder = rec_open_recorder_in(context, "Safetensors", REC_PRECISION_KEEP);
    rec_input input = {.size = sizeof input, .name = "woven", .total = file_size, .read_at = read_at};
    rec_record *record;
    now = *l;
    assert_non_null(recorder);
    assert_int_equal(rec_recorder_set(recorder, "adapter", "none"), REC_OK);
    assert_int_equal(rec_recorder_set(recorder, "decode", "yes"), REC_OK);
    record = memory ? rec_load_bytes(recorder, memory, file_size) : rec_load_from(recorder, &input, NULL);
    rec_close_recorder(recorder);
    return record;
}

static int enter(void **state)
{
    (void)state;
    context = rec_context_new(NULL);
    lie = NULL;
    misplaced = 0;
    return context && rec_context_add_plugin(context, &woven) == REC_OK ? 0 : -1;
}

static int leave(void **state)
{
    (void)state;
    rec_context_free(context);
    return 0;
}

/* --------------------------------------------------------------------------------------------------- the tests -- */

static void compare_numbers(const layout *l, uint64_t first, uint64_t count, const void *numbers)
{
    for (uint64_t i = 0; i < count; i++) {
        double number = l->dtype == REC_DTYPE_F64   ? ((const double *)numbers)[i]
                        : l->dtype == REC_DTYPE_F32 ? (double)((const float *)numbers)[i]
                                                    : ((const int32_t *)numbers)[i];
        if (number != number_at(l, first + i)) {
            fail_msg("seed %llu: %llu elements, element %llu of a range at %llu: %.17g is not %u",
                     (unsigned long long)seed, (unsigned long long)l->count, (unsigned long long)i,
                     (unsigned long long)first, number, (unsigned)number_at(l, first + i));
        }
    }
}

static void compare(const layout *l, const rec_tensor *tensor, uint64_t first, uint64_t count)
{
    void *numbers = malloc((size_t)(count + 1) * sizeof(double));
    assert_non_null(numbers);
    if (rec_tensor_read(tensor, l->dtype, first, count, numbers) != REC_OK) {
        fail_msg("%s", rec_error_message());
    }
    compare_numbers(l, first, count, numbers);
    free(numbers);
}

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
/* The whole tensor as bytes, which a save reads. */
static void compare_bytes(const layout *l, const rec_tensor *tensor)
{
    uint64_t size;
    const void *bytes = rec_tensor_bytes(tensor, &size);
    void *numbers;
    assert_non_null(bytes);
    assert_int_equal(size, l->count * (rec_dtype_bits(l->dtype) / 8));
    numbers = malloc((size_t)size);
    assert_non_null(numbers);
    memcpy(numbers, bytes, (size_t)size);
    compare_numbers(l, 0, l->count, numbers);
    free(numbers);
}
#endif

static void check_layout(const layout *l, const uint8_t *memory)
{
    rec_record *record = load(l, memory);
    const rec_tensor *tensor = rec_tensor_at(record, "x.part0");
    assert_non_null(record);
    assert_int_equal(rec_tensor_dtype(tensor), l->dtype);
    assert_int_equal(rec_tensor_count(tensor), l->count);
    assert_null(rec_tensor_at(record, "x.part1"));
    assert_non_null(rec_tensor_at(record, "x.other"));
    for (int i = 0; i < 12; i++) {
        uint64_t first = chance(l->count), count = chance(l->count - first + 1);
        compare(l, tensor, first, count > 3000 && i ? count % 3000 : count);
    }
    compare(l, tensor, 0, l->count);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    compare_bytes(l, tensor);
#endif
    rec_record_free(record);
    assert_int_equal(misplaced, 0);
}

static void test_tiles_equal_the_whole(void **state)
{
    enum { LAYOUTS = 60, LARGE = 4 };
    (void)state;
    for (uint64_t i = 0; i < LAYOUTS; i++) {
        uint8_t *memory;
        layout l;
        bool large = i >= LAYOUTS - LARGE;
        seed = i;
        l = random_layout(large ? BYTES_MOST / 2 : i < LAYOUTS / 2 ? 300 : 70000, large);
        describe(&l);
        memory = malloc((size_t)file_size);
        assert_non_null(memory);
        (void)read_at(NULL, 0, memory, file_size);
        for (uint32_t threads = 1; threads <= 4; threads += 3) {
            assert_int_equal(rec_context_set_threads(context, threads), REC_OK);
            check_layout(&l, memory);
            check_layout(&l, NULL);
        }
        free(memory);
    }
}

static const layout three_parts = {
    .count = 1000, .kind = {EACH, BLOCKS, PLANES}, .size = {1, 10, 4}, .parts = 3, .step = 4, .dtype = REC_DTYPE_F32};

static void test_lying_claims_are_rejected(void **state)
{
    static const struct {
        const char *lie;
        rec_status status;
        const char *words;
    } cases[] = {{"parts", REC_E_PLUGIN, "Woven claimed more parts or dimensions"},
                 {"rank", REC_E_PLUGIN, "Woven claimed more parts or dimensions"},
                 {"dtype", REC_E_PLUGIN, "neither floats nor integers"},
                 {"step", REC_E_PLUGIN, "a step that is too long"},
                 {"made part", REC_E_PLUGIN, "a part that it did not find with rec_sibling()"},
                 {"other part", REC_E_PLUGIN, "a tensor that it was not asked about"},
                 {"label", REC_E_PLUGIN, "without a label"},
                 {"no label", REC_E_PLUGIN, "without a label"},
                 {"end", REC_E_PLUGIN, "a path that cannot be"},
                 {"less", REC_E_PLUGIN, "a path that cannot be"},
                 {"shape", REC_E_PLUGIN, "more elements than can be counted"},
                 {"status", REC_E_PLUGIN, "stopped without a reason (77)"},
                 {"another name", REC_E_MISMATCH, "has the name of another one"}};
    (void)state;
    describe(&three_parts);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lie = cases[i].lie;
        assert_null(load(&three_parts, NULL));
        if (rec_error_status() != cases[i].status || !strstr(rec_error_message(), cases[i].words)) {
            fail_msg("%s: %s: %s", lie, rec_status_name(rec_error_status()), rec_error_message());
        }
    }
}

static void test_lying_spans_are_rejected(void **state)
{
    static const char *const cases[] = {"offset",   "beyond", "no run", "length times count", "stride times count",
                                        "last run", "damaged"};
    uint8_t *memory;
    (void)state;
    describe(&three_parts);
    memory = malloc((size_t)file_size);
    assert_non_null(memory);
    (void)read_at(NULL, 0, memory, file_size);
    for (size_t i = 0; i < 2 * (sizeof cases / sizeof *cases); i++) {
        float few[8];
        bool damaged;
        rec_record *record;
        lie = cases[i / 2];
        damaged = strcmp(lie, "damaged") == 0;
        record = load(&three_parts, i % 2 ? memory : NULL);
        assert_non_null(record);
        assert_int_not_equal(rec_tensor_read(rec_tensor_at(record, "x.part0"), REC_DTYPE_F32, 8, 8, few), REC_OK);
        if (rec_error_status() != (damaged ? REC_E_FORMAT : REC_E_PLUGIN) ||
            !strstr(rec_error_message(),
                    damaged ? "the scheme Woven cannot decode" : "the scheme Woven requests bytes")) {
            fail_msg("%s: %s: %s", lie, rec_status_name(rec_error_status()), rec_error_message());
        }
        rec_record_free(record);
    }
    free(memory);
}

/* ------------------------------------------------------------------------------------------------------- plans -- */

/* Loads what a plan makes of the file, or of the record that a load without decoding makes of it. */
static rec_record *planned(rec_precision precision, bool in_memory)
{
    rec_recorder *from = rec_open_recorder_in(context, "Safetensors", REC_PRECISION_KEEP);
    rec_recorder *to = rec_open_recorder_in(context, "Safetensors", precision);
    rec_input input = {.size = sizeof input, .name = "woven", .total = file_size, .read_at = read_at};
    rec_plan *plan = rec_plan_new(context, to);
    rec_record *record = NULL, *result;
    now = three_parts;
    assert_non_null(plan);
    assert_int_equal(rec_recorder_set(from, "adapter", "none"), REC_OK);
    if (in_memory) {
        record = rec_load_from(from, &input, NULL);
        assert_non_null(record);
        assert_int_equal(rec_plan_add_record(plan, from, record, "woven"), REC_OK);
    } else {
        assert_int_equal(rec_plan_add_from(plan, from, &input, NULL), REC_OK);
    }
    result = rec_plan_load(plan);
    if (!result) {
        fail_msg("%s", rec_error_message());
    }
    if (record) { /* which is unchanged */
        assert_non_null(rec_tensor_at(record, "x.part1"));
        assert_int_equal(rec_tensor_dtype(rec_tensor_at(record, "x.part0")), REC_DTYPE_U8);
    }
    rec_plan_free(plan);
    rec_record_free(record);
    rec_close_recorder(from);
    rec_close_recorder(to);
    return result;
}

/* A plan keeps the form of its source: the keys of a flat file are whole paths. */
static const rec_tensor *tensor_at(const rec_record *record, bool flat, const char *name)
{
    char path[32];
    (void)snprintf(path, sizeof path, "x%s.%s", flat ? "\\" : "", name);
    return rec_tensor_at(record, path);
}

static void test_plans_decode_records_like_files(void **state)
{
    (void)state;
    describe(&three_parts);
    for (int i = 0; i < 4; i++) {
        bool keeps = i & 1, in_memory = i & 2;
        rec_record *record = planned(keeps ? REC_PRECISION_KEEP : REC_PRECISION_FULL, in_memory);
        const rec_tensor *tensor = tensor_at(record, !in_memory, "part0");
        assert_int_equal(rec_tensor_dtype(tensor), keeps ? REC_DTYPE_U8 : REC_DTYPE_F32);
        assert_int_equal(tensor_at(record, !in_memory, "part1") != NULL, keeps);
        assert_int_equal(tensor_at(record, !in_memory, "part2") != NULL, keeps);
        assert_non_null(tensor_at(record, !in_memory, "other"));
        if (!keeps) {
            compare(&three_parts, tensor, 0, three_parts.count);
        }
        rec_record_free(record);
    }
}

static void test_schemes_may_use_librecord_meanwhile(void **state)
{
    (void)state;
    describe(&three_parts);
    lie = "meanwhile";
    for (int i = 0; i < 2; i++) {
        rec_record_free(planned(REC_PRECISION_FULL, i));
        assert_int_equal(rec_error_status(), REC_OK);
    }
}

/* ------------------------------------------------------------------------------------------------------ memory -- */

static int32_t write_nothing(void *user, const void *data, uint64_t size)
{
    (void)data;
    *(uint64_t *)user += size;
    return 0;
}

static layout layout_of(uint64_t count, uint64_t kind)
{
    return (layout){.count = count,
                    .kind = {EACH, BLOCKS, kind},
                    .size = {1, 128, 4},
                    .parts = 3,
                    .step = 4,
                    .dtype = REC_DTYPE_F32};
}

/* Saves a decoded tensor to nowhere, or reads it into memory of the caller. Returns the memory that this took beyond
 * that of the record and the caller. */
static long long memory_of(const layout *l, bool saves)
{
    rec_recorder *recorder = rec_open_recorder_in(context, "Safetensors", REC_PRECISION_KEEP);
    const rec_output output = {.size = sizeof output, .write = write_nothing};
    float *numbers = saves ? NULL : malloc((size_t)l->count * sizeof *numbers);
    uint64_t written = 0;
    rec_record *record;
    rec_status status;
    long long before;
    describe(l);
    record = load(l, NULL);
    assert_non_null(record);
    before = atomic_load(&in_use);
    atomic_store(&peak, before);
    status = saves ? rec_save_to(recorder, record, &output, &written)
                   : rec_tensor_read(rec_tensor_at(record, "x.part0"), REC_DTYPE_F32, 0, l->count, numbers);
    if (status != REC_OK) {
        fail_msg("%s", rec_error_message());
    }
    assert_true(!saves || written > l->count * sizeof(float));
    rec_close_recorder(recorder);
    rec_record_free(record);
    free(numbers);
    return atomic_load(&peak) - before;
}

static void test_memory_does_not_grow_with_the_tensor(void **state)
{
    enum { MIB = 1 << 20, MOST = 4 * MIB, CASES = 8 };
    (void)state;
    if (!COUNTS_MEMORY) {
        skip();
    }
    for (int i = 0; i < CASES; i++) {
        uint32_t threads = i & 1 ? 4 : 1;
        bool saves = i & 2;
        layout few = layout_of(4 * MIB, i & 4 ? PLANES : BLOCKS), many = layout_of(16 * MIB, few.kind[2]);
        long long small, large;
        assert_int_equal(rec_context_set_threads(context, threads), REC_OK);
        small = memory_of(&few, saves);
        large = memory_of(&many, saves);
        if (large > small + MIB || large > MOST) {
            fail_msg("case %d: %lld bytes for 4 Mi elements, %lld for 16 Mi", i, small, large);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_tiles_equal_the_whole, enter, leave),
        cmocka_unit_test_setup_teardown(test_lying_claims_are_rejected, enter, leave),
        cmocka_unit_test_setup_teardown(test_lying_spans_are_rejected, enter, leave),
        cmocka_unit_test_setup_teardown(test_plans_decode_records_like_files, enter, leave),
        cmocka_unit_test_setup_teardown(test_schemes_may_use_librecord_meanwhile, enter, leave),
        cmocka_unit_test_setup_teardown(test_memory_does_not_grow_with_the_tensor, enter, leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
