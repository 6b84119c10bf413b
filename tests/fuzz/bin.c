/* SPDX-License-Identifier: MIT OR Apache-2.0
 * bincode, which says nothing without a type: the first byte chooses one, the rest is the file. Its mutator makes
 * values by the type's layout, which bytes at random hardly ever are. */
#include <librecord/plugin_types.h>
#include <stdlib.h>
#include <string.h>

#include "burn/layout/layout.h"
#include "tests/fuzz/fuzz.h"

static const char source[] =
    "#[derive(Module, Debug)] pub struct Tiny<B: Backend> { linear: nn::Linear<B> }\n"
    "#[derive(Module, Debug)] pub enum Choice<B: Backend> { Dense(nn::Linear<B>), Norm(nn::LayerNorm<B>), Act(Relu) }\n"
    "#[derive(Module, Debug)] pub struct Mixed<B: Backend> { list: Vec<nn::Linear<B>>, choice: Choice<B>,\n"
    "    maybe: Option<nn::BatchNorm<B, 2>>, buffer: Tensor<B, 1>, flags: Param<Tensor<B, 1, Bool>>, pair: [usize; "
    "2],\n"
    "    both: (Tensor<B, 1, Int>, Choice<B>), array: [nn::Linear<B>; 2], act: Relu }\n"
    "#[derive(Record)] pub struct Plain { a: u8, b: i16, c: u32, d: i64, e: f32, f: f64, g: bool, h: String, i: "
    "Vec<u8>,\n"
    "    j: Option<u64>, k: (i8, u16), l: [i32; 3], m: Vec<f64>, n: Option<Vec<String>>, o: HashMap<String, u32>, p: "
    "() }\n"
    "#[derive(Record)] pub enum Words { None, One(u32), Two(String) }\n"
    "#[derive(Record)] pub struct Deep { a: Vec<Option<Vec<Option<Words>>>>, b: Vec<Words>, c: HashMap<u64, "
    "Vec<Plain>> }\n";

/* NULL: none. The last two look for parameters without one. */
static const char *const types[] = {
    "Tiny",       "Mixed",       "Plain", "Deep", "Choice", "f64", "Adam", "Vec<nn::Linear<B>>",
    "Vec<usize>", "nn::Lstm<B>", NULL,    NULL,   NULL};
enum { TYPES = sizeof types / sizeof *types, HEAD = TYPES - 1, POSITIONAL = TYPES - 2, NAMED = TYPES - 3 };

static rec_types *known_types(rec_context *context)
{
    rec_types *known = rec_types_new(context);
    fuzz_must(known && rec_types_add_rust(known, source, "fuzz.rs") == REC_OK, "the types");
    return known;
}

static rec_recorder *recorder_of(size_t type, size_t size)
{
    static rec_recorder *open[2][5][TYPES];
    rec_context *context = fuzz_context(size);
    size_t precision = 1 + size % 4;
    rec_recorder **recorder = &open[size % 8 == 7][precision][type];
    if (!*recorder) {
        *recorder = rec_open_recorder_in(context, "BinFile", (rec_precision)precision);
        fuzz_must(*recorder != NULL, "BinFile");
        if (types[type]) {
            rec_types *known = known_types(context);
            fuzz_must(rec_recorder_set_type_name(*recorder, known, types[type]) == REC_OK, "a type");
            rec_types_free(known);
        } else if (type != NAMED) {
            fuzz_must(rec_recorder_set(*recorder, "positional", type == HEAD ? "head" : "yes") == REC_OK, "positional");
        }
    }
    return *recorder;
}

int fuzz_bin(const uint8_t *data, size_t size)
{
    size_t type = size ? data[0] % TYPES : 0;
    rec_recorder *recorder;
    rec_record *record;
    if (size == 0) {
        return 0;
    }
    recorder = recorder_of(type, size);
    record = rec_load_bytes(recorder, data + 1, size - 1);
    if (!record) {
        fuzz_must_say();
        return 0;
    }
    (void)fuzz_look(record);
    if (types[type] && size % 4 == 0) { /* what is kept as it is can be written as it is */
        void *saved = NULL;
        uint64_t length = 0;
        if (rec_save_bytes(recorder, record, &saved, &length) == REC_OK) {
            rec_record *again = rec_load_bytes(recorder, saved, length);
            fuzz_must(again != NULL, "what was saved loads");
            rec_record_free(again);
        }
        rec_free(saved);
    }
    rec_record_free(record);
    return 1;
}

/* ---------------------------------------------------------------------------------------- values by the layout -- */

typedef struct out {
    uint8_t *data;
    size_t size, room;
    uint64_t seed;
    unsigned depth;
} out;

static uint64_t below(out *o, uint64_t most)
{
    return fuzz_random(&o->seed) % most;
}

static void put(out *o, const void *data, size_t size)
{
    if (size <= o->room - o->size) {
        memcpy(o->data + o->size, data, size);
        o->size += size;
    }
}

static void put_uint(out *o, uint64_t number)
{
    unsigned bytes = number < 251 && below(o, 32) ? 0 : number <= UINT16_MAX ? 2 : number <= UINT32_MAX ? 4 : 8;
    uint8_t head = (uint8_t)(bytes == 0 ? number : bytes == 2 ? 251 : bytes == 4 ? 252 : 253);
    put(o, &head, 1);
    put(o, &number, bytes);
}

static void put_text(out *o, const char *text)
{
    put_uint(o, strlen(text));
    put(o, text, strlen(text));
}

static uint64_t any_number(out *o, uint32_t bits)
{
    uint64_t number = fuzz_random(&o->seed) >> below(o, 64);
    return bits < 64 ? number & ((UINT64_C(1) << bits) - 1) : number;
}

static void put_value(out *o, const rec_layout *layout);

static void put_number(out *o, const rec_layout *layout)
{
    uint32_t bits = rec_layout_bits(layout);
    uint64_t number = any_number(o, bits);
    if (rec_layout_kind(layout) == REC_LAYOUT_FLOAT) {
        put(o, &number, bits / 8);
    } else if (bits == 8) {
        put(o, &number, 1);
    } else {
        put_uint(o, number);
    }
}

static void put_children(out *o, const rec_layout *layout)
{
    for (uint64_t i = 0; i < rec_layout_count(layout); i++) {
        put_value(o, rec_layout_child(layout, i));
    }
}

static void put_repeated(out *o, const rec_layout *layout, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        put_value(o, rec_layout_child(layout, 0));
        if (rec_layout_kind(layout) == REC_LAYOUT_MAP) {
            put_value(o, rec_layout_child(layout, 1));
        }
    }
}

/* A tensor of Burn 0.14 and later as its parts say: the bytes are as many as shape and type ask for, most of the time.
 */
static bool put_tensor(out *o, const rec_layout *layout)
{
    static const uint8_t widths[] = {8, 4, 4, 2, 2, 8, 4, 2, 1, 8, 4, 2, 1, 1};
    const uint8_t zeros[64] = {0};
    uint64_t rank = 1 + below(o, 3), product = 1, sizes[3], dtype, length;
    if (rec_layout_count(layout) != 3 || strcmp(rec_layout_name(layout, 0), "bytes") != 0 || below(o, 16) == 0) {
        return false;
    }
    dtype = below(o, sizeof widths);
    for (uint64_t i = 0; i < rank; i++) {
        sizes[i] = below(o, 4);
        product *= sizes[i];
    }
    length = product * widths[dtype];
    length = length > sizeof zeros ? 0 : length;
    put_uint(o, length);
    put(o, zeros, (size_t)length);
    put_uint(o, rank);
    for (uint64_t i = 0; i < rank; i++) {
        put_uint(o, sizes[i]);
    }
    put_uint(o, dtype);
    return true;
}

static void put_value(out *o, const rec_layout *layout)
{
    char text[64] = "";
    uint64_t length;
    if (!layout || ++o->depth > 40) {
        o->depth -= layout != NULL;
        return;
    }
    switch (rec_layout_kind(layout)) {
    case REC_LAYOUT_BOOL:
        put(o, &(uint8_t){(uint8_t)below(o, 2)}, 1);
        break;
    case REC_LAYOUT_INT:
    case REC_LAYOUT_UINT:
    case REC_LAYOUT_FLOAT:
        put_number(o, layout);
        break;
    case REC_LAYOUT_STRING:
    case REC_LAYOUT_ID:
        length = rec_layout_kind(layout) == REC_LAYOUT_ID ? 13 : below(o, 8);
        for (uint64_t i = 0; i < length; i++) {
            text[i] = (char)('0' + below(o, 8));
        }
        put_text(o, text);
        break;
    case REC_LAYOUT_BYTES:
    case REC_LAYOUT_LIST:
    case REC_LAYOUT_MAP:
        length = below(o, 5);
        put_uint(o, length);
        if (rec_layout_kind(layout) == REC_LAYOUT_BYTES) {
            put(o, "\1\2\3\4\5", (size_t)length);
        } else {
            put_repeated(o, layout, length);
        }
        break;
    case REC_LAYOUT_ARRAY:
        put_repeated(o, layout, rec_layout_count(layout) < 16 ? rec_layout_count(layout) : 16);
        break;
    case REC_LAYOUT_TUPLE:
        put_children(o, layout);
        break;
    case REC_LAYOUT_STRUCT:
    case REC_LAYOUT_TENSOR:
        if (!put_tensor(o, layout)) {
            put_children(o, layout);
        }
        break;
    case REC_LAYOUT_OPTION: {
        uint8_t present = rec_layout_child(layout, 0) && below(o, 3);
        put(o, &present, 1);
        if (present) {
            put_value(o, rec_layout_child(layout, 0));
        }
        break;
    }
    case REC_LAYOUT_ENUM: {
        uint64_t index = rec_layout_count(layout) ? below(o, rec_layout_count(layout)) : 0;
        put_uint(o, index);
        put_value(o, rec_layout_child(layout, index));
        break;
    }
    default:
        break;
    }
    o->depth--;
}

static const rec_layout *layout_of(size_t type)
{
    static rec_job job;
    static const rec_layout *layouts[TYPES];
    static rec_types *known;
    if (!known) {
        rec_context *context = fuzz_context(7);
        known = known_types(context);
        lr_job_begin(&job, context, "fuzz", NULL);
        job.type = (lr_type_ref){.types = known};
        job.burn.minor = 21;
    }
    if (types[type] && !layouts[type]) {
        if (rec_job_layout_of(&job, types[type], &layouts[type]) != REC_OK) {
            layouts[type] = NULL;
            lr_job_again(&job);
        }
    }
    return layouts[type];
}

size_t fuzz_mutate_bin(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    static const char *const floats[] = {"f32", "f64", "half::binary16::f16"}, *const ints[] = {"i32", "i64", "i16"};
    static const char *const versions[] = {"0.21.0", "0.14.0", "0.13.2", "0.9.0", "", "7"};
    out o = {.data = data, .room = room, .seed = (uint64_t)seed * 2654435761u + 88172645463325252u};
    size_t precision;
    if (below(&o, 4) || room < 64) { /* the fuzzer's own, of all but the type most of the time */
        size_t from = size > 1 && below(&o, 16) ? 1 : 0;
        return from + fuzz_mutate_bytes(data + from, size - from, room - from);
    }
    data[0] = (uint8_t)below(&o, TYPES);
    o.size = 1;
    precision = (size_t)below(&o, 3);
    put_text(&o, floats[precision]);
    put_text(&o, ints[precision]);
    put_text(&o, "burn_core::record::file::BinFileRecorder");
    put_text(&o, versions[below(&o, 6)]);
    put_text(&o, "");
    put_value(&o, layout_of((size_t)(types[data[0]] ? data[0] : below(&o, NAMED))));
    return o.size;
}
