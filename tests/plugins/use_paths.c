/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Records through the flat formats of paths.so and back: names, and whose layout a file's modules have. TAP on standard
 * output.
 *
 *     use_paths        (the plugins are on LIBRECORD_PLUGIN_PATH; files are made in the working folder, among them
 *                      foreign.paths, of the plugin with the adapter burn, which says that it is laid out as PyTorch's)
 */

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <librecord/plugin.h>

#include "use_paths.h"

#define LINEAR_FIELDS(F, T) F(T, PARAM, weight, 2) F(T, OPTION_PARAM, bias, 1)
REC_DEFINE_STRUCT(LINEAR, LINEAR_FIELDS)
#define STACK_FIELDS(F, T) F(T, LIST, layers, LINEAR) F(T, OPTION_CHILD, head, LINEAR)
REC_DEFINE_STRUCT(STACK, STACK_FIELDS)

static const uint64_t square[] = {2, 2}, two[] = {2};
static const float matrix[] = {1, 2, 3, 4}, turned[] = {1, 3, 2, 4}, row[] = {5, 6};
static int count, failed;

static bool REC_PRINTF(2, 3) tell(bool good, const char *format, ...)
{
    va_list args;

    count++;
    failed += !good;
    printf("%sok %d - ", good ? "" : "not ", count);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n");
    if (!good) {
        printf("# %s\n", rec_error_message());
    }
    return good;
}

static rec_record *load(rec_recorder *recorder, file *f)
{
    put(f, "e", 1);
    return rec_load_bytes(recorder, f->bytes, f->size);
}

/* ---- recorders and records ---- */

static rec_recorder *open_with(const char *name, const char *option, const char *value)
{
    rec_recorder *recorder = rec_open_recorder(name, REC_PRECISION_KEEP);

    if (!recorder || (option && rec_recorder_set(recorder, option, value) != REC_OK)) {
        printf("Bail out! %s: %s\n", name, rec_error_message());
        exit(EXIT_FAILURE);
    }
    return recorder;
}

static bool has(const rec_record *record, const char *path, const float *data, uint64_t elements)
{
    const rec_tensor *tensor = record ? rec_tensor_at(record, path) : NULL;
    const float *found = tensor && rec_tensor_count(tensor) == elements ? rec_tensor_f32(tensor) : NULL;

    return found && memcmp(found, data, (size_t)(elements * sizeof *data)) == 0;
}

/** What records were loaded from, which they read while they live. */
static void *held[64];
static size_t held_count;

/** Through a recorder and back. */
static rec_record *through(rec_recorder *save, rec_recorder *load_with, const rec_record *record)
{
    void *data = NULL;
    uint64_t size = 0;

    if (rec_save_bytes(save, record, &data, &size) != REC_OK) {
        return NULL;
    }
    held[held_count++] = data;
    return rec_load_bytes(load_with, data, size);
}

static rec_record *small_model(void)
{
    rec_record *record = rec_record_new(NULL);

    if (!record || rec_set_f32(record, "fc.weight", matrix, 2, square) != REC_OK ||
        rec_set_f32(record, "fc.bias", row, 1, two) != REC_OK ||
        rec_set_f32(record, "norm.weight", row, 1, two) != REC_OK ||
        rec_set_f32(record, "norm.bias", row, 1, two) != REC_OK) {
        printf("Bail out! %s\n", rec_error_message());
        exit(EXIT_FAILURE);
    }
    return record;
}

/** As small_model() has it. */
static bool is_untouched(const rec_record *record)
{
    return has(record, "fc.weight", matrix, 4) && has(record, "fc.bias", row, 2) &&
           has(record, "norm.weight", row, 2) && has(record, "norm.bias", row, 2);
}

/** As it is for who takes it for PyTorch's. */
static bool is_adapted(const rec_record *record)
{
    return has(record, "fc.weight", turned, 4) && has(record, "fc.bias", row, 2) && has(record, "norm.gamma", row, 2) &&
           has(record, "norm.beta", row, 2);
}

static bool is_foreign(const rec_record *record)
{
    return record && rec_value_form(rec_root(record)) == REC_FORM_PATHS;
}

/* ---- whose layout it is ---- */

static void by_descriptor(void)
{
    rec_recorder *burn = open_with("Paths", NULL, NULL), *torch = open_with("TorchPaths", NULL, NULL),
                 *asked = open_with("Paths", "adapter", "pytorch"), *raw = open_with("TorchPaths", "adapter", "none");
    rec_record *model = small_model(), *back = through(burn, burn, model);

    tell(is_untouched(back) && !is_foreign(back), "burn: a record comes back as it was");
    rec_record_free(back);
    back = through(burn, torch, model);
    tell(is_adapted(back), "pytorch: the same names are those of PyTorch's modules");
    rec_record_free(back);
    back = through(burn, asked, model);
    tell(is_adapted(back), "the load argument adapter = pytorch counts before burn");
    rec_record_free(back);
    back = through(burn, raw, model);
    tell(is_untouched(back), "and none before pytorch");
    rec_record_free(back);
    rec_record_free(model);
    rec_close_recorder(burn);
    rec_close_recorder(torch);
    rec_close_recorder(asked);
    rec_close_recorder(raw);
}

/** A file says it of itself: that counts before its descriptor, and what the user says before that. */
static void by_file(void)
{
    static const struct {
        const char *recorder;
        unsigned said;
        const char *adapter;
        bool adapted;
    } cases[] = {
        {"Paths", PYTORCH, NULL, true},    {"Paths", BURN, NULL, false},        {"Paths", PYTORCH, "none", false},
        {"TorchPaths", BURN, NULL, false}, {"TorchPaths", PYTORCH, NULL, true}, {"TorchPaths", BURN, "pytorch", true},
    };
    FILE *written;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rec_recorder *recorder = open_with(cases[i].recorder, cases[i].adapter ? "adapter" : NULL, cases[i].adapter);
        file f = begin();
        rec_record *record;

        put_adapter(&f, cases[i].said);
        put_tensor(&f, "fc.weight", matrix, 2, square);
        put_tensor(&f, "fc.bias", row, 1, two);
        put_tensor(&f, "norm.weight", row, 1, two);
        put_tensor(&f, "norm.bias", row, 1, two);
        record = load(recorder, &f);
        if (i == 0 && (!(written = fopen("foreign.paths", "wb")) || fwrite(f.bytes, f.size, 1, written) != 1 ||
                       fclose(written) != 0)) {
            tell(false, "foreign.paths is written");
        }
        tell(cases[i].adapted ? is_adapted(record) : is_untouched(record), "%s, the file says %u%s%s: %s",
             cases[i].recorder, cases[i].said, cases[i].adapter ? ", the user " : "",
             cases[i].adapter ? cases[i].adapter : "", cases[i].adapted ? "adapted" : "as it is");
        rec_record_free(record);
        rec_close_recorder(recorder);
    }
}

/** A file of Burn's own store may be in either layout: its norm says which. */
static void in_either(void)
{
    rec_recorder *recorder = open_with("Paths", NULL, NULL);
    file burns = begin(), torches = begin(), neither = begin();
    rec_record *record;

    put_adapter(&burns, EITHER);
    put_tensor(&burns, "fc.weight", matrix, 2, square);
    put_tensor(&burns, "fc.bias", row, 1, two);
    put_tensor(&burns, "norm.gamma", row, 1, two);
    put_tensor(&burns, "norm.beta", row, 1, two);
    record = load(recorder, &burns);
    tell(has(record, "fc.weight", matrix, 4) && has(record, "norm.gamma", row, 2),
         "either: names of Burn's decide for its layout");
    rec_record_free(record);
    put_adapter(&torches, EITHER);
    put_tensor(&torches, "fc.weight", matrix, 2, square);
    put_tensor(&torches, "fc.bias", row, 1, two);
    put_tensor(&torches, "norm.weight", row, 1, two);
    put_tensor(&torches, "norm.bias", row, 1, two);
    record = load(recorder, &torches);
    tell(is_adapted(record), "and names of PyTorch's for that");
    rec_record_free(record);
    put_adapter(&neither, EITHER);
    put_tensor(&neither, "fc.weight", matrix, 2, square);
    put_tensor(&neither, "fc.bias", row, 1, two);
    record = load(recorder, &neither);
    tell(!record && rec_error_status() == REC_E_MISMATCH && strstr(rec_error_message(), "adapter"),
         "what nothing tells is asked about");
    rec_record_free(record);
    rec_close_recorder(recorder);
}

static const char *const layouts[] = {"burn", "pytorch", "either", "foreign", "turned", "absent"};

/** A linear layer and a norm, and what the file says of them. */
static file model_of(unsigned adapter, unsigned hint)
{
    file f = begin();

    put_adapter(&f, adapter);
    put_hint(&f, hint);
    put_tensor(&f, "fc.weight", matrix, 2, square);
    put_tensor(&f, "fc.bias", row, 1, two);
    put_tensor(&f, "norm.weight", row, 1, two);
    put_tensor(&f, "norm.bias", row, 1, two);
    return f;
}

/** What a reader knows of the weight of a linear layer comes before what a layout assumes. */
static void test_hints_decide_about_transposing(void)
{
    static const struct {
        unsigned adapter, hint;
        const char *user;
        bool transposed, adapted;
    } cases[] = {
        {PYTORCH, 0, NULL, true, true},      {PYTORCH, 1, NULL, false, true},      {PYTORCH, 2, NULL, true, true},
        {FOREIGN, 0, NULL, false, false},    {FOREIGN, 1, NULL, false, false},     {FOREIGN, 2, NULL, true, false},
        {BURN, 2, NULL, false, false},       {FOREIGN, 2, "none", false, false},   {FOREIGN, 1, "pytorch", false, true},
        {FOREIGN, 0, "pytorch", true, true}, {PYTORCH, 2, "foreign", true, false},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rec_recorder *recorder = open_with("Paths", cases[i].user ? "adapter" : NULL, cases[i].user);
        file f = model_of(cases[i].adapter, cases[i].hint);
        rec_record *record = load(recorder, &f);
        tell(has(record, "fc.weight", cases[i].transposed ? turned : matrix, 4) &&
                 has(record, cases[i].adapted ? "norm.gamma" : "norm.weight", row, 2),
             "the layout %s, the hint %u, the user %s: %s, %s", layouts[cases[i].adapter], cases[i].hint,
             cases[i].user ? cases[i].user : "nothing", cases[i].transposed ? "transposed" : "unchanged",
             cases[i].adapted ? "adapted" : "not adapted");
        rec_record_free(record);
        rec_close_recorder(recorder);
    }
}

/** A layout of a plugin's own is a profile of that name. */
static void test_layout_names_a_profile(void)
{
    rec_recorder *recorder = open_with("Paths", NULL, NULL), *other = open_with("Paths", "adapter", "foreign"),
                 *asked = open_with("Paths", "profile", "other");
    file f = model_of(TURNED, 0), g = model_of(TURNED, 0), h = model_of(ABSENT, 0), i = model_of(TURNED, 0);
    rec_record *record = load(recorder, &f);

    tell(has(record, "fc.weight", turned, 4) && has(record, "norm.scale", row, 2), "its rules are applied");
    rec_record_free(record);
    record = load(other, &g);
    tell(has(record, "fc.weight", matrix, 4) && has(record, "norm.weight", row, 2), "adapter = foreign applies none");
    rec_record_free(record);
    record = load(asked, &i);
    tell(has(record, "fc.weight", matrix, 4) && has(record, "norm.other", row, 2), "another profile takes precedence");
    rec_record_free(record);
    record = load(recorder, &h);
    tell(!record && strstr(rec_error_message(), "absent") && strstr(rec_error_message(), "adapter = foreign"),
         "a profile that does not exist is an error that says what to do");
    rec_record_free(record);
    rec_close_recorder(recorder);
    rec_close_recorder(other);
    rec_close_recorder(asked);
}

/** A writer sees whether it is given a foreign model, and can say so in its file. */
static void marked(void)
{
    rec_recorder *burn = open_with("Paths", "mark", "yes"), *torch = open_with("TorchPaths", "mark", "yes"),
                 *raw = open_with("TorchPaths", "adapter", "none");
    rec_record *model = small_model(), *back = through(torch, torch, model), *foreign;
    file f = begin();

    tell(is_untouched(back) && !is_foreign(back),
         "a record of Burn in a format of PyTorch's, which says so, comes back");
    rec_record_free(back);
    put_tensor(&f, "fc.weight", matrix, 2, square);
    put_tensor(&f, "fc.bias", row, 1, two);
    put_tensor(&f, "norm.weight", row, 1, two);
    put_tensor(&f, "norm.bias", row, 1, two);
    rec_recorder_set(raw, "gaps", "keep");
    foreign = load(raw, &f);
    back = foreign ? through(burn, burn, foreign) : NULL;
    tell(is_foreign(foreign) && is_adapted(back),
         "a foreign model in a format of Burn's, which says so, is adapted then");
    rec_record_free(back);
    rec_record_free(foreign);
    rec_record_free(model);
    rec_close_recorder(burn);
    rec_close_recorder(torch);
    rec_close_recorder(raw);
}

/** How often the last save said that its file will be taken for another layout. */
static unsigned warnings(void)
{
    unsigned found = 0;

    for (uint64_t i = 0; i < rec_report_count(); i++) {
        found += strstr(rec_report_note(i)->text, "it will be read as PyTorch's") != NULL;
    }
    return found;
}

/** A format of PyTorch's that does not say which of its files are Burn's: who saves one is told. */
static void unmarked(void)
{
    static const struct {
        const char *recorder, *option, *value;
        unsigned warned;
    } cases[] = {{"TorchPaths", "mark", "no", 1},
                 {"TorchPaths", "mark", "yes", 0},
                 {"Paths", "mark", "no", 0},
                 {"Safetensors", "record", "yes", 0},
                 {"Safetensors", "record", "no", 1}};
    rec_record *model = small_model();

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rec_recorder *recorder = open_with(cases[i].recorder, cases[i].option, cases[i].value);
        void *data = NULL;
        uint64_t size = 0;

        tell(rec_recorder_set(recorder, "check", "yes") == REC_OK &&
                 rec_save_bytes(recorder, model, &data, &size) == REC_OK && warnings() == cases[i].warned,
             "%s, %s = %s: %s that the file will be taken for PyTorch's", cases[i].recorder, cases[i].option,
             cases[i].value, cases[i].warned ? "told" : "not told");
        rec_free(data);
        rec_close_recorder(recorder);
    }
    rec_record_free(model);
}

/** The check of a save names a tensor as rec_tensor_at() does. */
static void test_check_names_the_path(void)
{
    rec_recorder *paths = open_with("Paths", "check", "yes");
    rec_record *model = small_model();
    tell(rec_recorder_set(paths, "fault", "yes") == REC_OK && rec_save(paths, model, "wrong") == REC_E_FORMAT &&
             strcmp(rec_error_path(), "fc.weight") == 0,
         "a difference has the path fc.weight, found %s", rec_error_path());
    rec_record_free(model);
    rec_close_recorder(paths);
}

/** What Burn has laid out goes on as Burn's, to wherever: never taken for PyTorch's there. */
static void to_other_formats(void)
{
    static const char *const others[] = {"Safetensors", "NamedMpk"};
    rec_recorder *paths = open_with("Paths", "check", "yes");
    rec_record *model = small_model();

    tell(rec_save(paths, model, "model") == REC_OK, "what was written reads back as it was given");
    for (size_t i = 0; i < 2; i++) {
        rec_recorder *other = open_with(others[i], NULL, NULL);
        char path[64];
        rec_record *back = NULL;

        (void)snprintf(path, sizeof path, "model.%s", rec_recorder_extension(other));
        if (rec_convert(paths, "model", other, path, NULL) == REC_OK) {
            back = rec_load(other, path);
        }
        tell(is_untouched(back), "Paths to %s: as it was", others[i]);
        rec_record_free(back);
        rec_close_recorder(other);
    }
    rec_record_free(model);
    rec_close_recorder(paths);
}

/** Flat names say neither which lists there are nor what is absent: the type does. */
static void by_type(void)
{
    rec_recorder *recorder = open_with("Paths", NULL, NULL);
    file f = begin(), empty = begin();
    rec_record *record;
    rec_binding *binding = NULL;
    STACK stack;

    put_tensor(&f, "layers.0.weight", matrix, 2, square);
    put_tensor(&f, "layers.1.weight", matrix, 2, square);
    put_tensor(&f, "layers.1.bias", row, 1, two);
    tell(rec_recorder_set_type(recorder, &STACK_type) == REC_OK, "a type is set");
    record = load(recorder, &f);
    binding = record ? rec_bind(record, &STACK_type, &stack) : NULL;
    tell(binding && stack.layers_count == 2 && !stack.head && stack.layers[0].weight.data &&
             has(record, "layers.1.weight", matrix, 4),
         "burn with a type: lists and options are the type's, no weight is transposed");
    rec_binding_free(binding);
    rec_record_free(record);
    record = load(recorder, &empty);
    tell(record && rec_value_count(rec_value_at(record, "layers")) == 0, "a file of nothing is an empty list");
    rec_record_free(record);
    rec_close_recorder(recorder);
}

/** Numbers of a list that are not all there: a foreign model's are closed, a record's stay what they are. */
static void gaps(void)
{
    rec_recorder *burn = open_with("Paths", NULL, NULL), *torch = open_with("TorchPaths", NULL, NULL);
    file f = begin();
    rec_record *record;

    put_tensor(&f, "layers.0.x", row, 1, two);
    put_tensor(&f, "layers.2.x", row, 1, two);
    record = load(burn, &f);
    tell(has(record, "layers.2.x", row, 2) && rec_value_kind(rec_value_at(record, "layers.1")) == REC_KIND_NIL,
         "burn: gaps are not closed");
    rec_record_free(record);
    record = rec_load_bytes(torch, f.bytes, f.size);
    tell(has(record, "layers.1.x", row, 2), "pytorch: they are");
    rec_record_free(record);
    rec_close_recorder(burn);
    rec_close_recorder(torch);
}

/* ---- names ---- */

static const char *const names[] = {
    "x\\\\y", /* a backslash */
    "a..b",   /* an empty name in the middle */
    ".",      /* two empty names */
    ".lead",
    "tail.",
    "tails..",
    "d\\.o\\.t",
    "d.o.t",
    "\\\\\\.",
    "end\\\\",
    "r#type",
    "0.1",
    "sp ace",
    "\xc3\xa4.\xf0\x9f\x94\xa5",
};
enum { NAMES = sizeof names / sizeof *names };

static bool has_names(const rec_record *record)
{
    bool all = record != NULL;

    for (size_t i = 0; i < NAMES; i++) {
        const float value[] = {(float)i, 1};
        if (!has(record, names[i], value, 2)) {
            printf("# %s is not there: %s\n", names[i], rec_error_message());
            all = false;
        }
    }
    return all;
}

/** How many values but nil are in a record, each under a path that leads to it again. */
static size_t leaves(const rec_record *record)
{
    rec_iterator *iterator = record ? rec_iterate(record) : NULL;
    const rec_value *value;
    const char *path;
    size_t found = 0;

    while (iterator && (value = rec_iterator_next(iterator, &path)) != NULL) {
        found += rec_value_at(record, path) == value && rec_value_kind(value) != REC_KIND_NIL;
    }
    rec_iterator_free(iterator);
    return found;
}

static void every_name(void)
{
    static const struct {
        const char *recorder, *option, *value;
    } ways[] = {{"Paths", NULL, NULL},
                {"Safetensors", NULL, NULL},
                {"NamedMpk", NULL, NULL},
                {"Paths", "rename", "^nothing$ => x"}};
    rec_record *record = rec_record_new(NULL);
    char *deep = malloc(3001), path[3200];

    for (size_t i = 0; i < NAMES; i++) {
        const float value[] = {(float)i, 1};
        if (rec_set_f32(record, names[i], value, 1, two) != REC_OK) {
            tell(false, "%s can be set", names[i]);
        }
    }
    tell(leaves(record) == NAMES, "every name has a path of its own");
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        rec_recorder *recorder = open_with(ways[i].recorder, "check", "yes"),
                     *back_with = open_with(ways[i].recorder, ways[i].option, ways[i].value);
        rec_record *back = through(recorder, back_with, record);
        tell(has_names(back) && leaves(back) == NAMES, "%s%s%s: every name comes back", ways[i].recorder,
             ways[i].option ? " with the rule " : "", ways[i].option ? ways[i].value : "");
        rec_record_free(back);
        rec_close_recorder(recorder);
        rec_close_recorder(back_with);
    }
    rec_record_free(record);

    /* Longer than any buffer on the way. */
    memset(deep, 'n', 3000);
    deep[3000] = '\0';
    (void)snprintf(path, sizeof path, "%s.x\\\\y", deep);
    record = rec_record_new(NULL);
    for (int i = 0; i < 2; i++) {
        rec_recorder *recorder = open_with(ways[i].recorder, NULL, NULL);
        rec_record *back =
            rec_set_f32(record, path, row, 1, two) == REC_OK ? through(recorder, recorder, record) : NULL;
        tell(has(back, path, row, 2), "%s: a name of 3000 letters", ways[i].recorder);
        rec_record_free(back);
        rec_close_recorder(recorder);
    }
    rec_record_free(record);
    free(deep);
}

/** Names as another framework has them, with nothing escaped: escaped by who reads them, so that they are the same
 *  wherever they go. */
static void verbatim(void)
{
    static const char *const keys[] = {"x\\y", "a..b", "back\\.slash", "\\\\", ".", "t.", "plain.weight"};
    enum { KEYS = sizeof keys / sizeof *keys };
    rec_recorder *foreign = open_with("TorchPaths", "verbatim", "yes"),
                 *safetensors = open_with("Safetensors", NULL, NULL);
    rec_record *record, *back;
    file f = begin();
    void *data = NULL;
    uint64_t size = 0;

    for (size_t i = 0; i < KEYS; i++) {
        put_tensor(&f, keys[i], row, 1, two);
    }
    if (rec_recorder_set(foreign, "adapter", "none") != REC_OK || rec_recorder_set(foreign, "gaps", "keep") != REC_OK ||
        rec_recorder_set(safetensors, "adapter", "none") != REC_OK ||
        rec_recorder_set(safetensors, "gaps", "keep") != REC_OK) {
        tell(false, "options are set");
    }
    record = load(foreign, &f);
    tell(has(record, "x\\\\y", row, 2) && has(record, "back\\\\.slash", row, 2) && has(record, "a..b", row, 2) &&
             has(record, "t.", row, 2),
         "a foreign file's names, with nothing escaped in it");
    tell(record && rec_save_bytes(foreign, record, &data, &size) == REC_OK && size == f.size &&
             memcmp(data, f.bytes, (size_t)size) == 0,
         "and the same file again");
    rec_free(data);
    data = NULL;
    back = record ? through(safetensors, safetensors, record) : NULL;
    tell(back && rec_metadata(back, "format") && strcmp(rec_metadata(back, "format"), "pt") == 0,
         "a file of safetensors says whose layout it has");
    tell(back && rec_metadata_set(back, "format", NULL) == REC_OK &&
             rec_save_bytes(foreign, back, &data, &size) == REC_OK && size == f.size && leaves(back) == KEYS,
         "and without that it is as long a file after it has been one of safetensors");
    for (size_t i = 0; i < KEYS; i++) { /* which has them in another order */
        file one = {.size = 0};
        put_tensor(&one, keys[i], row, 1, two);
        tell(data && memmem(data, (size_t)size, one.bytes, one.size), "with the key `%s`", keys[i]);
    }
    rec_free(data);
    rec_record_free(back);
    rec_record_free(record);
    rec_close_recorder(foreign);
    rec_close_recorder(safetensors);
}

/** A key may be empty, alone or above others: a value of the outermost map, not the map. */
static void without_a_name(void)
{
    static const struct {
        const char *recorder, *keys[2];
        uint64_t count;
    } cases[] = {
        {"Paths", {"", "x"}, 2}, {"TorchPaths", {"", "x"}, 2}, {"Paths", {".", "x"}, 2}, {"TorchPaths", {"", "."}, 2}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rec_recorder *recorder = open_with(cases[i].recorder, "adapter", "none");
        file f = begin();
        rec_record *record = NULL, *back = NULL;
        void *data = NULL;
        uint64_t size = 0;

        put_tensor(&f, cases[i].keys[0], row, 1, two);
        put_tensor(&f, cases[i].keys[1], matrix, 2, square);
        if (rec_recorder_set(recorder, "gaps", "keep") == REC_OK &&
            rec_recorder_set(recorder, "verbatim", strcmp(cases[i].recorder, "Paths") ? "yes" : "no") == REC_OK) {
            record = load(recorder, &f);
        }
        back = record ? through(recorder, recorder, record) : NULL;
        if (back && rec_save_bytes(recorder, back, &data, &size) != REC_OK) {
            size = 0;
        }
        for (size_t k = 0; k < 2; k++) {
            file one = {.size = 0};
            put(&one, "t", 1);
            put_text(&one, cases[i].keys[k]);
            tell(back && rec_value_count(rec_root(back)) == cases[i].count &&
                     memmem(data, (size_t)size, one.bytes, one.size),
                 "%s: the key `%s` beside `%s`", cases[i].recorder, cases[i].keys[k], cases[i].keys[1 - k]);
        }
        rec_free(data);
        rec_record_free(back);
        rec_record_free(record);
        rec_close_recorder(recorder);
    }
}

/** Rules and adapters see a dot that is part of a name for what it is. */
static void dots_in_rules(void)
{
    static const struct {
        const char *recorder, *rule, *value, *weight, *norm;
        bool turned;
    } cases[] = {
        {"TorchPaths", NULL, NULL, "fc\\.1.weight", "n\\\\m\\..gamma", true},
        {"TorchPaths", "module", "^fc\\\\\\.1$ => Linear", "fc\\.1.weight", NULL, true},
        {"TorchPaths", "rename", "^fc\\\\\\.1\\. => a.", "a.weight", "n\\\\m\\..gamma", true},
        {"TorchPaths", "rename", "^fc\\\\\\.1\\. => a\\.b.c.", "a\\.b.c.weight", "n\\\\m\\..gamma", true},
        {"TorchPaths", "prefix", "p", "p.fc\\.1.weight", "p.n\\\\m\\..gamma", true},
        {"Paths", "rename", "^fc\\\\\\.1\\. => a.", "a.weight", "n\\\\m\\..weight", false},
        {"Paths", "tie", "t\\.t = fc\\.1.weight", "t\\.t", "n\\\\m\\..weight", false},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rec_recorder *recorder = open_with(cases[i].recorder, cases[i].rule, cases[i].value);
        file f = begin();
        rec_record *record;

        put_tensor(&f, "fc\\.1.weight", matrix, 2, square);
        put_tensor(&f, "fc\\.1.bias", row, 1, two);
        put_tensor(&f, "n\\\\m\\..weight", row, 1, two);
        put_tensor(&f, "n\\\\m\\..bias", row, 1, two);
        record = load(recorder, &f);
        tell(has(record, cases[i].weight, cases[i].turned ? turned : matrix, 4) &&
                 (!cases[i].norm || has(record, cases[i].norm, row, 2)),
             "%s, %s %s: %s", cases[i].recorder, cases[i].rule ? cases[i].rule : "without rules",
             cases[i].rule ? cases[i].value : "", cases[i].weight);
        rec_record_free(record);
        rec_close_recorder(recorder);
    }
}

/** Names that only escapes tell apart cannot be told apart where nothing is escaped. */
static void two_that_become_one(void)
{
    rec_recorder *foreign = open_with("TorchPaths", "adapter", "none"), *other = open_with("Safetensors", NULL, NULL);
    file f = begin();
    rec_record *record;
    void *data = NULL;
    uint64_t size;

    put_tensor(&f, "a.b", row, 1, two);
    put_tensor(&f, "a\\.b", row, 1, two);
    record = rec_recorder_set(foreign, "gaps", "keep") == REC_OK ? load(foreign, &f) : NULL;
    tell(record && leaves(record) == 2 && rec_save_bytes(other, record, &data, &size) == REC_E_UNSUPPORTED &&
             strstr(rec_error_message(), "`a.b` is that of two tensors"),
         "safetensors refuses two paths of a foreign model that become one name");
    rec_free(data);
    rec_record_free(record);
    rec_close_recorder(foreign);
    rec_close_recorder(other);
}

/* ---- what lies beside a file ---- */

static bool write_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    bool good = f && fputs(text, f) >= 0;

    return f ? fclose(f) == 0 && good : false;
}

/** How many rows the part `a` of a tensor of 4 has: as many as the configuration of the file says. */
static uint64_t rows_of(const char *recorder_name, const char *path)
{
    rec_recorder *recorder = open_with(recorder_name, "split", "^w$ | rows a*A b*(4-A) => %");
    const rec_tensor *part;
    rec_record *record = NULL;
    uint64_t rows = 0;

    if (rec_recorder_set(recorder, "let", "A share") == REC_OK && (record = rec_load(recorder, path)) != NULL &&
        (part = rec_tensor_at(record, "a")) != NULL) {
        rows = rec_tensor_shape(part)[0];
    }
    rec_record_free(record);
    rec_close_recorder(recorder);
    return rows;
}

static void configurations(void)
{
    static const char *const formats[] = {"Paths", "TorchPaths"};
    const float w[8] = {0};
    const uint64_t shape[] = {4, 2};
    rec_record *record = rec_record_new(NULL);

    (void)rec_set_f32(record, "w", w, 2, shape);
    for (size_t i = 0; i < 2; i++) {
        rec_recorder *recorder = open_with(formats[i], NULL, NULL);
        char one[64], two_of_them[64];

        (void)snprintf(one, sizeof one, "one.%s", rec_recorder_extension(recorder));
        (void)snprintf(two_of_them, sizeof two_of_them, "two.%s", rec_recorder_extension(recorder));
        tell(rec_save(recorder, record, one) == REC_OK && rec_save(recorder, record, two_of_them) == REC_OK &&
                 rows_of(formats[i], one) == 0,
             "%s: without a configuration the number is missing", formats[i]);
        tell(write_text("config.json", "{\"share\": 1}") && rows_of(formats[i], one) == 1,
             "%s: config.json beside it gives it", formats[i]);
        tell(write_text("two.config.json", "{\"share\": 3}") && rows_of(formats[i], two_of_them) == 3 &&
                 rows_of(formats[i], one) == 1,
             "%s: the one that has the file's name comes first", formats[i]);
        (void)remove("config.json");
        (void)remove("two.config.json");
        rec_close_recorder(recorder);
    }
    rec_record_free(record);
}

/* ---- what is refused ---- */

static void refused(void)
{
    static const struct {
        const char *what, *keys[3];
        rec_status status;
        const char *message;
    } cases[] = {
        {"a key below a key", {"a.b", "a", NULL}, REC_E_FORMAT, "the key a.b is below the key a, which has a value"},
        {"a key far below a key", {"m.a", "m.a.b.c", NULL}, REC_E_FORMAT, "the key m.a.b.c is below the key m.a"},
        {"a key that occurs twice",
         {"a.b", "a.b", NULL},
         REC_E_FORMAT,
         "the key `a.b` occurs twice, with data at bytes"},
        {"one that is there in two spellings", {"x\\y", "x\\\\y", NULL}, REC_E_FORMAT, "occurs twice"},
    };
    rec_recorder *recorder = open_with("Paths", NULL, NULL);
    file nested = begin(), unknown = begin(), late = begin();
    rec_record *record;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        file f = begin();
        for (size_t k = 0; cases[i].keys[k]; k++) {
            put_tensor(&f, cases[i].keys[k], row, 1, two);
        }
        record = load(recorder, &f);
        tell(!record && rec_error_status() == cases[i].status && strstr(rec_error_message(), cases[i].message),
             "refused: %s", cases[i].what);
        rec_record_free(record);
    }
    put(&nested, "n", 1);
    put_text(&nested, "outer.inner");
    record = load(recorder, &nested);
    tell(!record && rec_error_status() == REC_E_PLUGIN && strstr(rec_error_message(), "Paths") &&
             strcmp(rec_error_path(), "outer.inner") == 0,
         "refused: a map of paths within one, with its place");
    rec_record_free(record);
    put_adapter(&unknown, 77);
    record = load(recorder, &unknown);
    tell(!record && rec_error_status() == REC_E_PLUGIN && strstr(rec_error_message(), "set an adapter whose name"),
         "refused: an adapter that there is not");
    rec_record_free(record);
    put_tensor(&late, "a", row, 1, two);
    put_adapter(&late, PYTORCH);
    record = load(recorder, &late);
    tell(!record && rec_error_status() == REC_E_PLUGIN && strstr(rec_error_message(), "after the first value"),
         "refused: an adapter after the first value");
    rec_record_free(record);
    rec_close_recorder(recorder);
}

/** Every prefix is refused, and no changed bit does harm: keys are taken apart whatever they are. */
static void hostile(const char *recorder_name, unsigned adapter)
{
    static const char *const keys[] = {"a.0.w\\\\.", "a.1.\\.x", "..", "fc.weight", "fc.bias", "\xc3\xa4\\"};
    rec_recorder *recorder = open_with(recorder_name, NULL, NULL);
    file f = begin();
    bool good = true;

    put_adapter(&f, adapter);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        put_tensor(&f, keys[i], matrix, i == 3 ? 2 : 1, i == 3 ? square : two);
    }
    put(&f, "e", 1);
    for (size_t cut = 0; cut < f.size && good; cut++) {
        rec_record *part = rec_load_bytes(recorder, f.bytes, cut);
        good = part == NULL && rec_error_status() != REC_OK && rec_error_message()[0] != '\0';
        rec_record_free(part);
    }
    tell(good, "%s, the file says %u: every prefix is refused", recorder_name, adapter);
    for (size_t i = 0; i < f.size; i++) {
        unsigned char old = f.bytes[i];
        for (int bit = 0; bit < 8 && good; bit++) {
            rec_record *changed, *back;
            f.bytes[i] = (unsigned char)(old ^ 1u << bit);
            changed = rec_load_bytes(recorder, f.bytes, f.size);
            if (changed) { /* what it is now, is a record that can be saved or is refused */
                void *data = NULL;
                uint64_t size = 0;
                good = rec_save_bytes(recorder, changed, &data, &size) == REC_OK || rec_error_message()[0] != '\0';
                back = data ? rec_load_bytes(recorder, data, size) : NULL;
                good = good && (!data || back || rec_error_message()[0] != '\0');
                rec_record_free(back);
                rec_free(data);
            } else {
                good = rec_error_message()[0] != '\0';
            }
            rec_record_free(changed);
        }
        f.bytes[i] = old;
    }
    tell(good, "%s, the file says %u: changed bits do no harm", recorder_name, adapter);
    rec_close_recorder(recorder);
}

int main(void)
{
    FILE *profiles = fopen("layouts.ini", "w");

    if (!profiles ||
        fputs("[profile turned]\ntranspose = fc\\.weight$\nrename = norm\\.weight$ => norm.scale\n"
              "[profile other]\nadapter = foreign\nrename = norm\\.weight$ => norm.other\n",
              profiles) < 0 ||
        fclose(profiles) != 0 || setenv("LIBRECORD_CONFIG", "layouts.ini", 1) != 0) {
        printf("Bail out! layouts.ini\n");
        return EXIT_FAILURE;
    }
    by_descriptor();
    by_file();
    in_either();
    test_hints_decide_about_transposing();
    test_layout_names_a_profile();
    marked();
    unmarked();
    test_check_names_the_path();
    to_other_formats();
    by_type();
    gaps();
    every_name();
    verbatim();
    without_a_name();
    dots_in_rules();
    two_that_become_one();
    configurations();
    refused();
    hostile("Paths", BURN);
    hostile("Paths", PYTORCH);
    while (held_count > 0) {
        rec_free(held[--held_count]);
    }
    printf("1..%d\n", count);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
