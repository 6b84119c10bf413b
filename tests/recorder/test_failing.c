/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Operations of a program on records, types and files, each with each of its allocations failing once: it ends with the
 * error that memory ran out and the next one works in the same context, or with what comes of it otherwise, to the
 * letter. */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>

#define FAILING_ARENAS 1
#include "librecord/parallel.h"
#include "tests/failing.h"
#include "tests/scratch.h"

/* What is said of an operation is written without an allocation of the context, and without its armed failure. */
typedef struct words {
    char text[8192];
    size_t used;
} words;

static void say(words *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    w->used += (size_t)vsnprintf(w->text + w->used, sizeof w->text - w->used, format, args);
    va_end(args);
    assert_true(w->used < sizeof w->text);
}

static void say_scalar(words *w, rec_scalar s)
{
    switch (s.kind) {
    case REC_KIND_BOOL:
    case REC_KIND_INT:
        say(w, "%" PRId64, s.v.i);
        break;
    case REC_KIND_UINT:
        say(w, "%" PRIu64, s.v.u);
        break;
    case REC_KIND_FLOAT:
        say(w, "%g", s.v.f);
        break;
    case REC_KIND_STRING:
        say(w, "\"%s\"", s.text);
        break;
    default:
        say(w, "nil");
        break;
    }
}

/* @return whether all of it could be read. */
static bool say_record(words *w, const rec_record *record)
{
    rec_iterator *all = rec_iterate(record);
    const rec_value *value;
    const char *path;
    bool well = all != NULL;
    while (well && (value = rec_iterator_next(all, &path)) != NULL) {
        const rec_tensor *tensor = rec_value_tensor(value);
        int32_t kind = rec_value_kind(value);
        say(w, "%s=", path);
        if (tensor) {
            const float *data = rec_tensor_f32(tensor);
            well = data != NULL;
            for (uint64_t i = 0; well && i < rec_tensor_count(tensor); i++) {
                say(w, "%s%g", i ? "," : "", (double)data[i]);
            }
        } else if (kind == REC_KIND_LIST || kind == REC_KIND_MAP || kind == REC_KIND_NUMBERS ||
                   kind == REC_KIND_VARIANT || kind == REC_KIND_BYTES) {
            say(w, "kind %d of %" PRIu64, (int)kind, rec_value_count(value));
        } else {
            say_scalar(w, rec_value_scalar(value));
        }
        say(w, "\n");
    }
    well = well && rec_error_status() == REC_OK;
    rec_iterator_free(all);
    return well;
}

/* What was said, from malloc; NULL where it did not go well. */
static char *said(const words *w, bool well)
{
    char *text;
    bool was = armed;
    armed = false;
    text = well ? strdup(w->text) : NULL;
    armed = was;
    return text;
}

enum { NO_PLACES = 0, PLACES = 1 };

/* Does it once as it is, which must give this, then with each allocation failing: of the context's allocator, at least
 * so many (0: not tried), and once for each place where one, or an arena's piece, is asked for. */
static void hold(failing_operation operation, const void *what, const char *expected, long fewest, int places)
{
    uint64_t held_before = held;
    rec_context *context = rec_context_new(&failing_allocator);
    char *found;
    long failures;
    assert_non_null(context);
    found = operation(context, what);
    if (!found) {
        fail_msg("%s", rec_error_message());
        return;
    }
    if (expected) {
        assert_string_equal(found, expected);
    }
    failures = fewest ? each_fails_once(context, operation, what, found) : 0;
    if (places) {
        (void)each_place_fails_once(context, operation, what, found);
    }
    if (failures < fewest) {
        fail_msg("only %ld allocations failed", failures);
    }
    free(found);
    rec_context_free(context);
    assert_int_equal(held, held_before);
}

/* ----------------------------------------------------------------------------------------------------- records -- */

/* The bytes of a file. */
typedef struct files_read {
    const uint8_t *data;
    uint64_t size;
} files_read;

static const float numbers[6] = {1, 2, 3, 4, 5, 6};
static const uint64_t shape[2] = {2, 3};

static char *edit(rec_context *context, const void *what)
{
    words w = {.used = 0};
    rec_record *record = rec_record_new(context), *copy = NULL;
    bool well = record && rec_set_bool(record, "a.flag", 1) == REC_OK && rec_set_int(record, "a.minus", -5) == REC_OK &&
                rec_set_uint(record, "a.plus", UINT64_MAX) == REC_OK &&
                rec_set_float(record, "a.half", 0.5) == REC_OK && rec_set_string(record, "a.text", "words") == REC_OK &&
                rec_set_nil(record, "a.nothing") == REC_OK && rec_set_empty(record, "a.map", REC_KIND_MAP) == REC_OK &&
                rec_set_empty(record, "a.list", REC_KIND_LIST) == REC_OK &&
                rec_set_f32(record, "layers.0.weight", numbers, 2, shape) == REC_OK &&
                rec_set_f32(record, "layers.1.weight", numbers, 1, shape + 1) == REC_OK &&
                rec_set_id(record, "layers.0.weight", "0000000000001") == REC_OK &&
                rec_metadata_set(record, "note", "said") == REC_OK &&
                rec_metadata_set(record, "note", "again") == REC_OK &&
                rec_metadata_set_value(record, "tree", rec_value_at(record, "a")) == REC_OK &&
                rec_metadata_set(record, "gone", "soon") == REC_OK && rec_metadata_set(record, "gone", NULL) == REC_OK;
    (void)what;
    copy = well ? rec_record_copy(record) : NULL;
    well = copy && rec_remove(record, "layers.0") == REC_OK && rec_remove(record, "a.text") == REC_OK &&
           rec_set_value(record, "taken", rec_value_at(copy, "layers.0")) == REC_OK &&
           rec_set_value(record, "a\\.b", rec_value_at(copy, "a.text")) == REC_OK && rec_metadata(copy, "tree") &&
           say_record(&w, record) && say_record(&w, copy);
    if (well) {
        say(&w, "%s %s %" PRIu64 "\n", rec_metadata(copy, "note"), rec_metadata(copy, "tree"),
            rec_metadata_count(copy));
    }
    rec_record_free(copy);
    rec_record_free(record);
    return said(&w, well);
}

static void records_are_edited_or_not(void **state)
{
    (void)state;
    hold(edit, NULL,
         "a.flag=1\na.minus=-5\na.plus=18446744073709551615\na.half=0.5\na.nothing=nil\na.map=kind 8 of 0\n"
         "a.list=kind 7 of 0\nlayers.0.weight=1,2,3\ntaken.weight=1,2,3,4,5,6\na\\.b=\"words\"\n"
         "a.flag=1\na.minus=-5\na.plus=18446744073709551615\na.half=0.5\na.text=\"words\"\na.nothing=nil\n"
         "a.map=kind 8 of 0\na.list=kind 7 of 0\nlayers.0.weight=1,2,3,4,5,6\nlayers.1.weight=1,2,3\n"
         "again "
         "{\"flag\":true,\"minus\":-5,\"plus\":18446744073709551615,\"half\":0.5,\"text\":\"words\",\"nothing\":null,"
         "\"map\":{},\"list\":[]} 2\n",
         30, PLACES);
}

/* Each piece needs memory of its own: keys and texts that the pieces of an arena do not hold, a long list, a map with
 * an index, values of a file's kinds (a run of numbers, bytes, a variant), and copies of all of it. */
static char *edit_large(rec_context *context, const void *what)
{
    enum { LONG = 300000, MANY = 1200 };
    static char text[LONG + 1], key[LONG + 16];
    const files_read *read = what;
    words w = {.used = 0};
    rec_recorder *recorder = rec_open_recorder_in(context, "PrettyJson", REC_PRECISION_KEEP);
    rec_record *record = recorder ? rec_load_bytes(recorder, read->data, read->size) : NULL, *copy = NULL;
    rec_iterator *all = NULL;
    const rec_value *value = NULL;
    const char *path;
    uint64_t count = 0;
    bool well = record != NULL;
    memset(text, 'x', LONG);
    memset(key, 'k', LONG);
    memcpy(key + LONG, ".in", 4);
    well = well && rec_set_string(record, "long", text) == REC_OK && rec_set_string(record, key, "in") == REC_OK &&
           rec_set_string(record, key, text) == REC_OK && rec_metadata_set(record, "long", text) == REC_OK &&
           rec_set_empty(record, "map", REC_KIND_MAP) == REC_OK &&
           rec_set_empty(record, "list", REC_KIND_LIST) == REC_OK;
    for (unsigned i = 0; well && i < MANY; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "map.%u", i);
        well = rec_set_uint(record, name, i) == REC_OK;
        (void)snprintf(name, sizeof name, "list.%u", i);
        well = well && rec_set_uint(record, name, i) == REC_OK;
    }
    copy = well ? rec_record_copy(record) : NULL;
    well = copy && rec_set_value(copy, "again", rec_root(record)) == REC_OK &&
           rec_metadata_set_value(copy, "tree", rec_value_at(record, "map")) == REC_OK;
    all = well ? rec_iterate(copy) : NULL;
    while (all && (value = rec_iterator_next(all, &path)) != NULL) {
        count++;
    }
    well = all && rec_error_status() == REC_OK;
    rec_iterator_free(all);
    if (well) {
        say(&w, "%" PRIu64 " values, %zu bytes of metadata", count, strlen(rec_metadata(copy, "long")));
    }
    rec_record_free(copy);
    rec_record_free(record);
    rec_close_recorder(recorder);
    return said(&w, well);
}

static void large_records_are_edited_or_not(void **state)
{
    static const uint8_t small[] =
        "{\"metadata\":{\"version\":\"0.21.0\",\"float\":\"f32\",\"int\":\"i32\",\"format\":\"f\",\"settings\":\"s\"},"
        "\"item\":{\"run\":[1,2,3,500],\"mixed\":[1,\"two\",null],\"some\":{\"Some\":[0.5,0.25]},"
        "\"q\":{\"id\":\"1\",\"param\":{\"bytes\":[1,2,3,4,0,0,0,0],\"shape\":[4],\"dtype\":{\"QFloat\":{\"value\":"
        "\"Q8S\","
        "\"store\":\"Native\",\"mode\":\"Symmetric\",\"level\":\"Tensor\",\"param\":\"F32\"}}}},"
        "\"t\":{\"id\":\"2\",\"param\":{\"bytes\":[0,0,128,63],\"shape\":[1],\"dtype\":\"F32\"}}}}";
    const files_read read = {small, sizeof small - 1};
    (void)state;
    hold(edit_large, &read, NULL, 30, NO_PLACES);
}

/* ------------------------------------------------------------------------------------------------------- types -- */

static const char source[] =
    "#[derive(Module, Debug)]\n"
    "pub struct Net<B: Backend> { fc: Linear<B>, norms: Vec<LayerNorm<B>>, pair: [Linear<B>; 2], head: Head<B>,\n"
    "    none: Option<Linear<B>>, both: (Linear<B>, Param<Tensor<B, 1>>), steps: usize }\n"
    "#[derive(Module, Debug)]\n"
    "pub enum Head<B: Backend> { Wide(Linear<B>), Empty }\n"
    "#[derive(Record)]\n"
    "pub struct State<B: Backend> { net: Net<B>, epoch: u32, names: Vec<String>, rates: [f32; 2], by: HashMap<String, "
    "u8>,\n"
    "    kind: Kind, at: Option<i64>, unit: () }\n"
    "#[derive(Record)]\n"
    "pub enum Kind { First, Second { left: u8, right: bool }, Third(u16, f64) }\n";

static rec_record *state_of(rec_context *context)
{
    static const char *const weights[] = {"net.fc", "net.pair.0", "net.pair.1", "net.both.0", "net.head.Wide"};
    rec_record *record = rec_record_new(context);
    bool well = record != NULL;
    for (size_t i = 0; well && i < sizeof weights / sizeof *weights; i++) {
        char path[64];
        (void)snprintf(path, sizeof path, "%s.weight", weights[i]);
        well = rec_set_f32(record, path, numbers, 2, shape) == REC_OK;
        (void)snprintf(path, sizeof path, "%s.bias", weights[i]);
        well = well && rec_set_f32(record, path, numbers, 1, shape + 1) == REC_OK;
    }
    well = well && rec_set_f32(record, "net.norms.0.gamma", numbers, 1, shape) == REC_OK &&
           rec_set_f32(record, "net.norms.0.beta", numbers, 1, shape) == REC_OK &&
           rec_set_f32(record, "net.both.1", numbers, 1, shape) == REC_OK &&
           rec_set_uint(record, "epoch", 7) == REC_OK && rec_set_string(record, "names.0", "one") == REC_OK &&
           rec_set_string(record, "names.1", "two") == REC_OK && rec_set_float(record, "rates.0", 0.5) == REC_OK &&
           rec_set_float(record, "rates.1", 0.25) == REC_OK && rec_set_uint(record, "by.x", 1) == REC_OK &&
           rec_set_uint(record, "kind.Second.left", 2) == REC_OK &&
           rec_set_bool(record, "kind.Second.right", 1) == REC_OK && rec_set_nil(record, "at") == REC_OK;
    if (!well) {
        rec_record_free(record);
    }
    return well ? record : NULL;
}

/* Saves it by the type and the layout, loads it again by the type, and says what it is. @param what "RECORDER LAYOUT"
 */
static char *there_and_back(rec_context *context, const void *what)
{
    const char *layout = strchr(what, ' ') + 1;
    words w = {.used = 0};
    char name[32] = "", *text = NULL;
    rec_types *types = rec_types_new(context);
    rec_record *record = NULL, *again = NULL;
    rec_recorder *recorder = NULL;
    void *bytes = NULL;
    uint64_t size = 0;
    bool well = types && rec_types_add_rust(types, source, "net.rs") == REC_OK;
    memcpy(name, what, (size_t)(layout - 1 - (const char *)what));
    recorder = well ? rec_open_recorder_in(context, name, REC_PRECISION_FULL) : NULL;
    record = recorder ? state_of(context) : NULL;
    well = record && rec_recorder_set_type_name(recorder, types, "State") == REC_OK &&
           (!*layout || rec_recorder_set(recorder, "layout", layout) == REC_OK) &&
           rec_save_bytes(recorder, record, &bytes, &size) == REC_OK;
    again = well ? rec_load_bytes(recorder, bytes, size) : NULL;
    well = again && say_record(&w, again);
    text = well ? rec_record_describe(again, types, "State") : NULL;
    well = text != NULL;
    if (well) {
        say(&w, "%s", text);
    }
    rec_free(text);
    rec_free(bytes);
    rec_record_free(again);
    rec_record_free(record);
    rec_close_recorder(recorder);
    rec_types_free(types);
    return said(&w, well);
}

static void types_go_there_and_back_or_not(void **state)
{
    static const char *const ways[] = {
        "Bin ", "Bin burn-0.13", "NamedMpk ", "NamedMpk burn-0.10", "NamedMpk burn-0.14", "PrettyJson burn-0.18"};
    (void)state;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        hold(there_and_back, ways[i], NULL, 100, PLACES);
    }
}

/* A type of an INI file, bound. */
#define LINEAR_FIELDS(F, T) F(T, PARAM, weight, 2) F(T, OPTION_PARAM, bias, 1)
REC_DEFINE_STRUCT(LINEAR, LINEAR_FIELDS)
#define NET_FIELDS(F, T) F(T, CHILD, fc, LINEAR) F(T, LIST, layers, LINEAR) F(T, STRING, name) F(T, VALUE, rest)
REC_DEFINE_STRUCT(NET, NET_FIELDS)

static char *bind_it(rec_context *context, const void *what)
{
    words w = {.used = 0};
    rec_types *types = rec_types_new(context);
    rec_recorder *recorder = types ? rec_open_recorder_in(context, "NamedMpk", REC_PRECISION_HALF) : NULL;
    rec_record *record = recorder ? rec_record_new(context) : NULL;
    rec_binding *binding = NULL, *part = NULL;
    NET net;
    LINEAR fc;
    bool well = record && rec_types_add_file(types, what) == REC_OK &&
                rec_recorder_set_type_name(recorder, types, "Net") == REC_OK &&
                rec_set_f32(record, "fc.weight", numbers, 2, shape) == REC_OK &&
                rec_set_f32(record, "layers.0.weight", numbers, 2, shape) == REC_OK &&
                rec_set_f32(record, "layers.1.weight", numbers, 2, shape) == REC_OK &&
                rec_set_string(record, "name", "bound") == REC_OK && rec_set_uint(record, "rest.x", 3) == REC_OK;
    binding = well ? rec_bind(record, &NET_type, &net) : NULL;
    part = binding ? rec_bind_at(record, "layers.1", &LINEAR_type, &fc, 0) : NULL;
    well = part != NULL;
    if (well) {
        say(&w, "%g %" PRIu64 " %s %g %s", (double)net.fc.weight.data[5], (uint64_t)net.layers_count, net.name,
            (double)fc.weight.data[1], rec_types_name(types, 0));
    }
    rec_binding_free(part);
    rec_binding_free(binding);
    rec_record_free(record);
    rec_close_recorder(recorder);
    rec_types_free(types);
    return said(&w, well);
}

static void structs_are_bound_or_not(void **state)
{
    scratch *folder = scratch_new();
    char *path = scratch_path(folder, "net.ini");
    FILE *out = fopen(path, "w");
    (void)state;
    assert_non_null(out);
    assert_true(
        fputs("[type Net]\nfc = Linear\nlayers = Vec<Linear>\nname = String\nrest = Rest\n[record Rest]\nx = u8\n",
              out) >= 0);
    assert_int_equal(fclose(out), 0);
    hold(bind_it, path, NULL, 20, PLACES);
    free(path);
    scratch_free(folder);
}

/* ------------------------------------------------------------------------------------------------------- files -- */

typedef struct files {
    char in[600], base[600], out[600];
} files;

/* Plans and converts a file, as the command does. */
static char *convert(rec_context *context, const void *what)
{
    const files *f = what;
    words w = {.used = 0};
    rec_recorder *from = rec_open_recorder_in(context, "Auto", REC_PRECISION_KEEP);
    rec_recorder *to = from ? rec_open_recorder_in(context, "NamedMpk", REC_PRECISION_FULL) : NULL;
    rec_record *base = NULL, *made = NULL;
    rec_plan *plan = NULL;
    rec_plan_totals totals = {.size = sizeof totals};
    const rec_plan_line *line = NULL;
    bool well = to && rec_recorder_set(from, "rename", "^old\\. => fc.") == REC_OK &&
                rec_recorder_set(from, "adapter", "pytorch") == REC_OK &&
                rec_recorder_set(from, "module", "fc$ => Linear") == REC_OK;
    base = well ? rec_load(to, f->base) : NULL;
    plan = base ? rec_plan_new(context, to) : NULL;
    well = plan && rec_plan_add(plan, from, f->in) == REC_OK && rec_plan_set_base(plan, base) == REC_OK &&
           rec_plan_total(plan, &totals) == REC_OK;
    line = well ? rec_plan_get(plan, 0) : NULL;
    well = line && rec_convert(NULL, NULL, to, f->out, plan) == REC_OK;
    if (well) {
        say(&w, "%s %s %s %" PRIu64 " %" PRIu64 "\n", line->from, line->to, line->operations, totals.mapped,
            totals.kept);
    }
    made = well ? rec_load(to, f->out) : NULL;
    well = made && say_record(&w, made);
    rec_record_free(made);
    rec_plan_free(plan);
    rec_record_free(base);
    rec_close_recorder(to);
    rec_close_recorder(from);
    return said(&w, well);
}

static void save_as(const char *path, const char *weight, float first, uint64_t rows)
{
    float data[6];
    uint64_t sizes[2] = {rows, 6 / rows}, two = 2;
    rec_record *record = rec_record_new(NULL);
    rec_recorder *recorder = rec_open_recorder("NamedMpk", REC_PRECISION_FULL);
    for (int i = 0; i < 6; i++) {
        data[i] = first + (float)i;
    }
    assert_non_null(record);
    assert_non_null(recorder);
    assert_int_equal(rec_set_f32(record, weight, data, 2, sizes), REC_OK);
    if (first > 5) {
        assert_int_equal(rec_set_f32(record, "kept", data, 1, &two), REC_OK);
    }
    assert_int_equal(rec_save(recorder, record, path), REC_OK);
    rec_close_recorder(recorder);
    rec_record_free(record);
}

static void files_are_converted_or_not(void **state)
{
    scratch *folder = scratch_new();
    files f;
    (void)state;
    (void)snprintf(f.in, sizeof f.in, "%s/in.mpk", folder->path);
    (void)snprintf(f.base, sizeof f.base, "%s/base.mpk", folder->path);
    (void)snprintf(f.out, sizeof f.out, "%s/out.mpk", folder->path);
    save_as(f.in, "old.weight", 1, 2);
    save_as(f.base, "fc.weight", 10, 3);
    hold(convert, &f, "old.weight fc.weight transpose 1 1\nfc.weight=1,4,2,5,3,6\nfc.bias=nil\nkept=10,11\n", 60,
         PLACES);
    scratch_free(folder);
}

/* ------------------------------------------------------------------------------------------------ Burn's files -- */

/* What Burn wrote, and how it is saved again. */
typedef struct passage {
    const char *file, *to, *layout;
} passage;

/* How many values and tensors a record has, and what they add up to. */
static bool count_all(words *w, const rec_record *record)
{
    rec_iterator *all = rec_iterate(record);
    const rec_value *value;
    const char *path;
    uint64_t values = 0, tensors = 0;
    double sum = 0;
    bool well = all != NULL;
    while (well && (value = rec_iterator_next(all, &path)) != NULL) {
        const rec_tensor *tensor = rec_value_tensor(value);
        bool floats =
            tensor && (rec_tensor_dtype(tensor) == REC_DTYPE_F32 || rec_tensor_dtype(tensor) == REC_DTYPE_F16);
        const double *data = floats ? rec_tensor_f64(tensor) : NULL;
        values++;
        tensors += tensor != NULL;
        well = !floats || data;
        for (uint64_t i = 0; data && i < rec_tensor_count(tensor); i++) {
            sum += data[i];
        }
    }
    well = well && rec_error_status() == REC_OK;
    rec_iterator_free(all);
    if (well) {
        say(w, "%" PRIu64 " values, %" PRIu64 " tensors, %.6g\n", values, tensors, sum);
    }
    return well;
}

static char *pass_on(rec_context *context, const void *what)
{
    const passage *p = what;
    const char *srcdir = getenv("srcdir");
    words w = {.used = 0};
    char path[600];
    rec_recorder *from = rec_open_recorder_in(context, "Auto", REC_PRECISION_KEEP);
    rec_recorder *to = from ? rec_open_recorder_in(context, p->to, REC_PRECISION_KEEP) : NULL;
    rec_record *record = NULL, *again = NULL;
    void *bytes = NULL;
    uint64_t size = 0;
    bool well;
    (void)snprintf(path, sizeof path, "%s/tests/data/burn/%s", srcdir ? srcdir : ".", p->file);
    record = to ? rec_load(from, path) : NULL;
    well = record && rec_recorder_set(to, "check", "yes") == REC_OK &&
           (!p->layout || rec_recorder_set(to, "layout", p->layout) == REC_OK) && count_all(&w, record) &&
           rec_save_bytes(to, record, &bytes, &size) == REC_OK;
    again = well ? rec_load_bytes(to, bytes, size) : NULL;
    well = again && count_all(&w, again);
    rec_free(bytes);
    rec_record_free(again);
    rec_record_free(record);
    rec_close_recorder(to);
    rec_close_recorder(from);
    return said(&w, well);
}

static void burn_s_files_pass_or_not(void **state)
{
    static const passage ways[] = {
        {"0.13.2/zoo-full.mpk", "NamedMpk", "burn-0.21"},      {"0.13.2/adam-full.json", "PrettyJson", NULL},
        {"0.21.0/zoo-half.mpk", "PrettyJson", "burn-0.10"},    {"0.21.0/adam-full.mpk", "Burnpack", NULL},
        {"0.21.0/composed-full.json", "Burnpack", NULL},       {"0.21.0/noam-full.mpk", "NamedMpk", "burn-0.16"},
        {"0.13.2/adam-half.mpk", "NamedMpk", "burn-0.14"},     {"0.21.0/zoo-full.mpk", "Safetensors", NULL},
        {"0.21.0/constant-full.json", "NamedMpk", "burn-0.8"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        hold(pass_on, &ways[i], NULL, 0, PLACES);
    }
}

/* The families that a model may be of, by the names of its keys. */
static char *families_of(rec_context *context, const void *what)
{
    static const char *const keys[] = {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj",
                                       "mlp.gate_proj",    "mlp.up_proj",      "mlp.down_proj"};
    const uint64_t square[2] = {2, 2};
    const char *front = what;
    words w = {.used = 0};
    char key[128];
    rec_record *record = rec_record_new(context);
    rec_families *families = NULL;
    uint64_t count = 0;
    bool well = record != NULL;
    for (size_t i = 0; well && i < sizeof keys / sizeof *keys; i++) {
        (void)snprintf(key, sizeof key, "%slayers.0.%s.weight", front, keys[i]);
        well = rec_set_f32(record, key, numbers, 2, square) == REC_OK;
    }
    (void)snprintf(key, sizeof key, "%sembed_tokens.weight", front);
    well = well && rec_set_f32(record, key, numbers, 2, square) == REC_OK;
    (void)snprintf(key, sizeof key, "%snorm.weight", front);
    well = well && rec_set_f32(record, key, numbers, 1, square) == REC_OK;
    (void)snprintf(key, sizeof key, "%slayers.0.input_layernorm.weight", front);
    well = well && rec_set_f32(record, key, numbers, 1, square) == REC_OK;
    (void)snprintf(key, sizeof key, "%slayers.0.post_attention_layernorm.weight", front);
    well = well && rec_set_f32(record, key, numbers, 1, square) == REC_OK;
    families = well ? rec_record_families(record, "model.safetensors", &count) : NULL;
    well = well && rec_error_status() == REC_OK;
    for (uint64_t i = 0; well && i < count; i++) {
        say(&w, "%s %s\n", rec_families_get(families, i)->name, rec_families_get(families, i)->but);
    }
    rec_free(families);
    rec_record_free(record);
    return said(&w, well);
}

static void families_are_found_or_not(void **state)
{
    static const char *const fronts[] = {"model.", "a.model.", ""};
    (void)state;
    for (size_t i = 0; i < sizeof fronts / sizeof *fronts; i++) {
        hold(families_of, fronts[i], NULL, 0, PLACES);
    }
}

/* A pair that has a name of its own, looked for by the names of its parts, in a context that has opened nothing yet. */
static char *open_pair(rec_context *context, const void *what)
{
    words w = {.used = 0};
    rec_context *fresh = rec_context_new(&failing_allocator);
    rec_recorder *r = fresh ? rec_open_recorder_in(fresh, what, REC_PRECISION_KEEP) : NULL;
    bool well = r != NULL;
    (void)context;
    say(&w, "%s", well ? rec_recorder_name(r) : "");
    rec_close_recorder(r);
    rec_context_free(fresh);
    return said(&w, well);
}

static void pairs_are_found_or_not(void **state)
{
    (void)state;
    hold(open_pair, "NamedMpk.gzip", "NamedMpkGz", 5, PLACES);
    hold(open_pair, "Gguf.gz", NULL, 5, PLACES);
}

/* --------------------------------------------------------------------------------------------- parts of a file -- */

/* FNV-1a of bytes that come in parts. */
typedef struct sum {
    uint64_t sum, size;
} sum;

static int32_t add_to_sum(void *user, const void *data, uint64_t size)
{
    sum *s = user;
    for (uint64_t i = 0; i < size; i++) {
        s->sum = (s->sum ^ ((const uint8_t *)data)[i]) * UINT64_C(0x100000001b3);
    }
    s->size += size;
    return 0;
}

static rec_record *record_of_parts(rec_context *context)
{
    enum { MANY = 300000 };
    static float data[MANY];
    const uint64_t many = MANY;
    rec_record *record = rec_record_new(context);
    if (record &&
        (rec_set_f32(record, "a.weight", data, 1, &many) != REC_OK ||
         rec_set_f32(record, "a.bias", numbers, 2, shape) != REC_OK || rec_set_uint(record, "a.steps", 5) != REC_OK ||
         rec_set_id(record, "a.weight", "0000000000001") != REC_OK ||
         rec_set_id(record, "a.bias", "0000000000002") != REC_OK)) {
        rec_record_free(record);
        record = NULL;
    }
    return record;
}

/* The layout, then the file in two windows. */
static char *save_in_parts(rec_context *context, const void *what)
{
    static const rec_output output = {.size = sizeof output, .write = add_to_sum};
    words w = {.used = 0};
    sum parts = {.sum = 0};
    rec_recorder *recorder = rec_open_recorder_in(context, what, REC_PRECISION_HALF);
    rec_record *record = recorder ? record_of_parts(context) : NULL;
    rec_window window = {.size = sizeof window};
    bool well = record && rec_save_window(recorder, record, "m", &window, NULL, NULL) == REC_OK;
    uint64_t middle = window.total / 2;
    for (int part = 0; well && part < 2; part++) {
        window.from = part ? middle : 0;
        window.to = part ? REC_UNKNOWN : middle;
        well = rec_save_window(recorder, record, "m", &window, &output, &parts) == REC_OK;
    }
    if (well) {
        say(&w, "%" PRIu64 " bytes of %016" PRIx64, parts.size, parts.sum);
    }
    rec_record_free(record);
    rec_close_recorder(recorder);
    return said(&w, well);
}

static void files_are_saved_in_parts_or_not(void **state)
{
    (void)state;
    hold(save_in_parts, "NamedMpk", NULL, 30, PLACES);
    hold(save_in_parts, "Safetensors", NULL, 30, PLACES);
}

static int32_t fill_with_words(void *user, rec_filling *told)
{
    FILE *out = fopen(told->files[0].temporary, "w");
    bool well = out && fputs(user, out) >= 0;
    return out && fclose(out) == 0 && well ? 0 : EIO;
}

/* @param what the path */
static char *save_filled(rec_context *context, const void *what)
{
    static char text[] = "written by others";
    words w = {.used = 0};
    char found[64] = "";
    rec_recorder *recorder = rec_open_recorder_in(context, "NamedMpk", REC_PRECISION_FULL);
    const rec_file one = {.size = sizeof text - 1};
    const rec_filling all = {.size = sizeof all, .files = &one, .count = 1};
    bool well = recorder && rec_save_filled(recorder, what, &all, fill_with_words, text) == REC_OK;
    FILE *file = fopen(what, "r");
    bool there = file && fgets(found, sizeof found, file);
    if (file) {
        (void)fclose(file);
    }
    assert_true(there && strcmp(found, well ? text : "old") == 0); /* the one or the other, whole */
    file = fopen(what, "w");
    assert_true(file && fputs("old", file) >= 0 && fclose(file) == 0);
    rec_close_recorder(recorder);
    say(&w, "%s", found);
    return said(&w, well);
}

static void files_of_others_are_saved_or_not(void **state)
{
    scratch *folder = scratch_new();
    char *path = scratch_text(folder, "filled.mpk", "old");
    unsigned count = 0;
    DIR *open;
    (void)state;
    hold(save_filled, path, "written by others", 5, PLACES);
    open = opendir(folder->path);
    while (open && readdir(open)) {
        count++;
    }
    assert_int_equal(count, 3); /* no temporary file, but for . and .. */
    (void)closedir(open);
    free(path);
    scratch_free(folder);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_are_edited_or_not),       cmocka_unit_test(large_records_are_edited_or_not),
        cmocka_unit_test(types_go_there_and_back_or_not),  cmocka_unit_test(structs_are_bound_or_not),
        cmocka_unit_test(files_are_converted_or_not),      cmocka_unit_test(burn_s_files_pass_or_not),
        cmocka_unit_test(families_are_found_or_not),       cmocka_unit_test(pairs_are_found_or_not),
        cmocka_unit_test(files_are_saved_in_parts_or_not), cmocka_unit_test(files_of_others_are_saved_or_not),
    };
    return cmocka_run_group_tests_name("operations without memory", tests, NULL, NULL);
}
