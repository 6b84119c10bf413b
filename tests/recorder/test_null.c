/* SPDX-License-Identifier: MIT OR Apache-2.0
 * NULL in place of everything: each public function for applications is called with NULL for each of its pointers, one
 * at a time, in a child that must neither die nor lose the error that was there first. What the headers and symbols.txt
 * list and is not called here is a failure too. */
#include <ctype.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "librecord.h"
#include "librecord/parallel.h"
#include "tests/end_child.h"
#include "tests/scratch.h"

enum { FUNCTIONS = 400, PARAMETERS = 8, NAME = 64 };

/* A function as librecord.h declares it, and which of its pointers were tried. */
typedef struct function {
    char name[NAME];
    char parameters[PARAMETERS][NAME];
    bool pointer[PARAMETERS], tried[PARAMETERS];
    unsigned count;
} function;

static function functions[FUNCTIONS];
static unsigned function_count;
static char *plugin_header, *plugin_types, *symbols;

/* The headers for applications, and that for several processes. */
static const char *const headers[] = {"librecord.h",          "librecord/bind.h",     "librecord/bindings.h",
                                      "librecord/io.h",       "librecord/parallel.h", "librecord/plan.h",
                                      "librecord/registry.h", "librecord/types.h"};
static unsigned mistakes;

static char *read_text(const char *name)
{
    const char *srcdir = getenv("srcdir");
    char path[1024];
    FILE *file;
    char *text = malloc(1 << 20);
    size_t size;
    (void)snprintf(path, sizeof path, "%s/%s", srcdir ? srcdir : ".", name);
    file = fopen(path, "rb");
    assert_non_null(file);
    assert_non_null(text);
    size = fread(text, 1, (1 << 20) - 1, file);
    assert_true(size > 0 && size < (1 << 20) - 1);
    text[size] = '\0';
    (void)fclose(file);
    return text;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* The last word of what ends at `end`. */
static void last_word(const char *begin, const char *end, char word[NAME])
{
    const char *start;
    while (end > begin && !is_word(end[-1])) {
        end--;
    }
    for (start = end; start > begin && is_word(start[-1]);) {
        start--;
    }
    (void)snprintf(word, NAME, "%.*s", (int)(end - start), start);
}

/* Reads one declaration, from behind REC_API to its semicolon. */
static void add_declaration(const char *text, const char *end)
{
    const char *open = memchr(text, '(', (size_t)(end - text));
    function *f = &functions[function_count++];
    assert_true(function_count < FUNCTIONS && open);
    last_word(text, open, f->name);
    for (const char *at = open + 1; at < end;) {
        size_t length = strcspn(at, ",)");
        char word[NAME];
        last_word(at, at + length, word);
        if (strcmp(word, "void") != 0 || memchr(at, '*', length)) {
            assert_true(f->count < PARAMETERS);
            memcpy(f->parameters[f->count], word, NAME);
            f->pointer[f->count++] = memchr(at, '*', length) != NULL;
        }
        if (at[length] == ')') {
            break;
        }
        at += length + 1;
    }
}

static function *find(const char *name)
{
    for (unsigned i = 0; i < function_count; i++) {
        if (strcmp(functions[i].name, name) == 0) {
            return &functions[i];
        }
    }
    fail_msg("%s is not declared", name);
    return NULL;
}

static void add_declarations(const char *text)
{
    for (const char *at = text; (at = strstr(at, "\nREC_API ")) != NULL;) {
        const char *end = strchr(at, ';');
        assert_non_null(end);
        add_declaration(at + 9, end);
        at = end;
    }
}

static int setup(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        char name[64], *text;
        (void)snprintf(name, sizeof name, "include/%s", headers[i]);
        text = read_text(name);
        add_declarations(text);
        free(text);
    }
    plugin_header = read_text("include/librecord/plugin.h");
    plugin_types = read_text("include/librecord/plugin_types.h");
    symbols = read_text("tests/symbols.txt");
    assert_true(function_count > 100);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    free(plugin_header);
    free(plugin_types);
    free(symbols);
    return 0;
}

/* ------------------------------------------------------------------------------------------ one call at a time -- */

#define STRING(text) #text
#define STRINGIFIED(text) STRING(text) /* NULL as a macro within a macro has it */

/* The one argument of a call that is NULL, by its place; -1 if there are none or several. */
static int null_place(const char *arguments)
{
    int place = 0, found = -1, nulls = 0;
    for (const char *at = arguments;; place++) {
        size_t length;
        at += strspn(at, " ");
        length = strcspn(at, ",");
        if (strncmp(at, "NULL", length) == 0 || strncmp(at, STRINGIFIED(NULL), length) == 0) {
            found = place;
            nulls++;
        }
        if (!at[length]) {
            break;
        }
        at += length + 1;
    }
    return nulls == 1 ? found : -1;
}

/* @return whether this is the child that makes the call. The parent waits for it. */
static bool in_child(const char *name, const char *arguments)
{
    function *f = find(name);
    int place = null_place(arguments), how = 0;
    pid_t child;
    assert_true(place < (int)f->count);
    if (place >= 0) {
        f->tried[place] = true;
    }
    (void)fflush(NULL);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)signal(SIGSEGV, SIG_DFL); /* cmocka's would go on with the next test */
        (void)signal(SIGBUS, SIG_DFL);
        (void)signal(SIGABRT, SIG_DFL);
        return true;
    }
    assert_int_equal(waitpid(child, &how, 0), child);
    if (!WIFEXITED(how) || WEXITSTATUS(how) != 0) {
        print_error("%s(%s): %s %d\n", name, arguments, WIFSIGNALED(how) ? "died by signal" : "wrong, status",
                    WIFSIGNALED(how) ? WTERMSIG(how) : WEXITSTATUS(how));
        mistakes++;
    }
    return false;
}

static char first_error[4096];

/* Before a call: no error, or one of another call. */
static void before(bool failed)
{
    if (failed) {
        rec_close_recorder(rec_open_recorder("NoSuchThing", FULL));
    } else {
        rec_record_free(rec_record_new(NULL));
    }
    (void)snprintf(first_error, sizeof first_error, "%s", rec_error_message());
}

/* After it. `good`: it returned what it must. `refused`: and had to say why. */
static void after(const char *name, const char *arguments, bool failed, bool refused, bool good)
{
    char expected[512] = "";
    int place = null_place(arguments);
    rec_status status = failed ? REC_E_NOT_FOUND : refused ? REC_E_ARGUMENT : REC_OK;
    if (refused) {
        (void)snprintf(expected, sizeof expected, "%s: `%s` is NULL", name,
                       place < 0 ? "?" : find(name)->parameters[place]);
    }
    if (!good || rec_error_status() != status || strcmp(rec_error_message(), failed ? first_error : expected) != 0) {
        (void)fprintf(stderr, "%s(%s), %s: %s, %s: %s\n", name, arguments, failed ? "after an error" : "at first",
                      good ? "rightly refused" : "wrong result", rec_status_name(rec_error_status()),
                      rec_error_message());
        _exit(1);
    }
}

#define EACH(refused, is, function, ...)                                                   \
    do {                                                                                   \
        if (in_child(#function, #__VA_ARGS__)) {                                           \
            for (int failed = 0; failed < 2; failed++) {                                   \
                before(failed);                                                            \
                after(#function, #__VA_ARGS__, failed, refused, function(__VA_ARGS__) is); \
            }                                                                              \
            end_child(0);                                                                  \
        }                                                                                  \
    } while (0)
/* REC_E_ARGUMENT, NULL or 0, with the error. */
#define STATUS(function, ...) EACH(true, == REC_E_ARGUMENT, function, __VA_ARGS__)
#define NOTHING(function, ...) EACH(true, == 0, function, __VA_ARGS__)
/* A neutral value, and no error. */
#define NEUTRAL(value, function, ...) EACH(false, == (value), function, __VA_ARGS__)
/* No value, and the error. */
#define SILENT(function, ...)                                       \
    do {                                                            \
        if (in_child(#function, #__VA_ARGS__)) {                    \
            for (int failed = 0; failed < 2; failed++) {            \
                before(failed);                                     \
                function(__VA_ARGS__);                              \
                after(#function, #__VA_ARGS__, failed, true, true); \
            }                                                       \
            end_child(0);                                           \
        }                                                           \
    } while (0)
/* Its comment allows it. */
#define ALLOWED(function, ...)                               \
    do {                                                     \
        if (in_child(#function, #__VA_ARGS__)) {             \
            rec_record_free(rec_record_new(NULL));           \
            (void)function(__VA_ARGS__);                     \
            end_child(rec_error_status() == REC_OK ? 0 : 1); \
        }                                                    \
    } while (0)

#define LINEAR_FIELDS(F, T) F(T, PARAM, weight, 1)
REC_DEFINE_STRUCT(LINEAR, LINEAR_FIELDS)

static int32_t ignore_progress(void *user, const rec_progress *progress)
{
    (void)user;
    (void)progress;
    return 0;
}

static void ignore_note(void *user, const rec_note *note)
{
    (void)user;
    (void)note;
}

static rec_context *context;
static rec_recorder *recorder;
static rec_record *record;
static void *saved;
static uint64_t saved_size;
static const rec_tensor *tensor;
static const rec_value *value;

static int32_t read_saved(void *unused, uint64_t offset, void *target, uint64_t size)
{
    (void)unused;
    memcpy(target, (const char *)saved + offset, (size_t)size);
    return 0;
}

static int32_t write_nowhere(void *unused, const void *data, uint64_t size)
{
    (void)unused, (void)data, (void)size;
    return 0;
}

static void ignore_release(void *unused, const void *data)
{
    (void)unused, (void)data;
}

static scratch *folder;
static char file[600];

static int make_objects(void **state)
{
    static const float numbers[3] = {1, 2, 3};
    static const uint64_t shape[1] = {3};
    context = rec_context_new(NULL);
    recorder = rec_open_recorder_in(context, "NamedMpk", REC_PRECISION_KEEP);
    record = rec_record_new(context);
    assert_non_null(recorder);
    assert_int_equal(rec_set_f32(record, "weight", numbers, 1, shape), REC_OK);
    assert_int_equal(rec_set_string(record, "name", "x"), REC_OK);
    tensor = rec_tensor_at(record, "weight");
    value = rec_value_at(record, "name");
    assert_non_null(tensor);
    assert_non_null(value);
    folder = scratch_new();
    (void)snprintf(file, sizeof file, "%s/model.mpk", folder->path);
    assert_int_equal(rec_metadata_set(record, "note", "0.21.0"), REC_OK);
    assert_int_equal(rec_save(recorder, record, file), REC_OK);
    mistakes = 0;
    (void)state;
    return 0;
}

static int free_objects(void **state)
{
    (void)state;
    scratch_free(folder);
    rec_record_free(record);
    rec_close_recorder(recorder);
    rec_context_free(context);
    return mistakes ? -1 : 0;
}

static void test_contexts(void **state)
{
    char shown[8];
    rec_limits limits = rec_limits_default();
    void *user = &limits;
    (void)state;
    NEUTRAL(REC_DTYPE_NONE, rec_dtype_from_name, NULL);
    NEUTRAL(-1, rec_precision_from_name, NULL);
    STATUS(rec_limits_init, NULL);
    ALLOWED(rec_context_set_sources, NULL, 1);
    ALLOWED(rec_context_set_data, NULL, "/");
    ALLOWED(rec_context_set_data, context, NULL);
    ALLOWED(rec_error_restore, NULL);
    ALLOWED(rec_error_free, NULL);
    ALLOWED(rec_context_new, NULL);
    ALLOWED(rec_config_open, NULL);
    ALLOWED(rec_context_free, NULL);
    ALLOWED(rec_context_set_default, NULL);
    STATUS(rec_context_set_limits, NULL, &limits);
    STATUS(rec_context_set_limits, context, NULL);
    SILENT(rec_context_set_progress, NULL, ignore_progress, user);
    ALLOWED(rec_context_set_progress, context, ignore_progress, NULL);
    SILENT(rec_context_set_notes, NULL, ignore_note, user);
    ALLOWED(rec_context_set_notes, context, ignore_note, NULL);
    STATUS(rec_context_set_threads, NULL, 2);
    NEUTRAL(0, rec_context_threads, NULL);
    STATUS(rec_context_set_spill, NULL, 0);
    STATUS(rec_context_set_spill, NULL, 1);
    ALLOWED(rec_context_set_plugins, NULL, REC_PLUGINS_ALL);
    ALLOWED(rec_context_add_plugin_path, NULL, "/");
    STATUS(rec_context_add_plugin_path, context, NULL);
    ALLOWED(rec_plugin_count, NULL);
    ALLOWED(rec_plugin_get, NULL, 0);
    ALLOWED(rec_plugin_find, NULL, "mpk");
    NOTHING(rec_plugin_find, context, NULL);
    ALLOWED(rec_plugin_for_path, NULL, "a.mpk");
    NOTHING(rec_plugin_for_path, context, NULL);
    ALLOWED(rec_profile_count, NULL);
    ALLOWED(rec_profile_get, NULL, 0);
    ALLOWED(rec_recognise, NULL, file);
    NOTHING(rec_recognise, context, NULL);
    NOTHING(rec_display_name, NULL, shown, 1);
    NOTHING(rec_display_name, file, NULL, 1);
    assert_int_equal(mistakes, 0);
}

static void test_records(void **state)
{
    const char *key, *text;
    char type[8];
    uint64_t size;
    float number;
    rec_scalar scalar;
    rec_iterator *iterator = rec_iterate(record);
    (void)state;
    ALLOWED(rec_record_new, NULL);
    NOTHING(rec_record_copy, NULL);
    ALLOWED(rec_record_free, NULL);
    ALLOWED(rec_guard_check, NULL);
    EACH(false, ->file[0] == '\0', rec_record_origin, NULL);
    NEUTRAL(NULL, rec_metadata, NULL, "version");
    NEUTRAL(NULL, rec_metadata, record, NULL);
    NEUTRAL(0, rec_metadata_count, NULL);
    STATUS(rec_metadata_get, NULL, 0, &key, &text);
    ALLOWED(rec_metadata_get, record, 0, NULL, &text);
    ALLOWED(rec_metadata_get, record, 0, &key, NULL);
    STATUS(rec_metadata_set, NULL, "a", "b");
    STATUS(rec_metadata_set, record, NULL, "b");
    ALLOWED(rec_metadata_set, record, "a", NULL);
    NEUTRAL(NULL, rec_metadata_value, NULL, "a");
    NEUTRAL(NULL, rec_metadata_value, record, NULL);
    STATUS(rec_metadata_set_value, NULL, "a", value);
    STATUS(rec_metadata_set_value, record, NULL, value);
    ALLOWED(rec_metadata_set_value, record, "a", NULL);
    STATUS(rec_metadata_set_as, NULL, "a", "u8", "1");
    STATUS(rec_metadata_set_as, record, NULL, "u8", "1");
    STATUS(rec_metadata_set_as, record, "a", "u8", NULL);
    ALLOWED(rec_metadata_set_as, record, "a", NULL, "1");
    NEUTRAL(0, rec_value_type, NULL, type, sizeof type);
    EACH(false, > 0, rec_value_type, value, NULL, 0);
    NEUTRAL(NULL, rec_root, NULL);
    NEUTRAL(NULL, rec_value_at, NULL, "name");
    NEUTRAL(NULL, rec_value_at, record, NULL);
    NOTHING(rec_tensor_at, NULL, "weight");
    NOTHING(rec_tensor_at, record, NULL);
    NEUTRAL(REC_KIND_NIL, rec_value_kind, NULL);
    NEUTRAL(REC_FORM_UNKNOWN, rec_value_form, NULL);
    EACH(false, .kind == REC_KIND_NIL, rec_value_scalar, NULL);
    NEUTRAL(0, rec_value_count, NULL);
    NEUTRAL(NULL, rec_value_item, NULL, 0);
    EACH(false, .kind == REC_KIND_NIL, rec_value_key, NULL, 0);
    NEUTRAL(REC_UNKNOWN, rec_value_variant, NULL);
    EACH(false, .kind == REC_KIND_NIL, rec_value_number, NULL, 0);
    STATUS(rec_value_get, NULL, &scalar);
    STATUS(rec_value_get, value, NULL);
    STATUS(rec_value_get_key, NULL, 0, &scalar);
    STATUS(rec_value_get_key, value, 0, NULL);
    STATUS(rec_value_get_number, NULL, 0, &scalar);
    STATUS(rec_value_get_number, value, 0, NULL);
    STATUS(rec_value_numbers, NULL, REC_DTYPE_F32, 0, 1, &number);
    STATUS(rec_value_numbers, value, REC_DTYPE_F32, 0, 1, NULL);
    NEUTRAL(NULL, rec_value_child, NULL, "a");
    NEUTRAL(NULL, rec_value_child, value, NULL);
    NOTHING(rec_record_table, NULL);
    ALLOWED(rec_table_free, NULL);
    NEUTRAL(NULL, rec_value_tensor, NULL);
    NEUTRAL(NULL, rec_value_bytes, NULL, &size);
    NEUTRAL(NULL, rec_value_bytes, value, NULL);
    NOTHING(rec_iterate, NULL);
    NOTHING(rec_iterator_next, NULL, &key);
    NOTHING(rec_iterator_next_tensor, NULL, &key);
    ALLOWED(rec_iterator_next, iterator, NULL);
    ALLOWED(rec_iterator_next_tensor, iterator, NULL);
    ALLOWED(rec_iterator_free, NULL);
    rec_iterator_free(iterator);
    assert_int_equal(mistakes, 0);
}

static void test_editing(void **state)
{
    static const float numbers[1] = {1};
    static const uint64_t shape[1] = {1}, none[1] = {0};
    static const char *const paths[1] = {"b"};
    rec_scalar nil = {.kind = REC_KIND_NIL};
    rec_tensor_spec spec = {
        .size = sizeof spec, .dtype = REC_DTYPE_U8, .ownership = REC_COPY, .data = "", .data_size = 1};
    (void)state;
    STATUS(rec_set_scalar, NULL, "a", nil);
    STATUS(rec_set_scalar, record, NULL, nil);
    STATUS(rec_set_bool, NULL, "a", 1);
    STATUS(rec_set_bool, record, NULL, 1);
    STATUS(rec_set_int, NULL, "a", 1);
    STATUS(rec_set_int, record, NULL, 1);
    STATUS(rec_set_uint, NULL, "a", 1);
    STATUS(rec_set_uint, record, NULL, 1);
    STATUS(rec_set_float, NULL, "a", 1);
    STATUS(rec_set_float, record, NULL, 1);
    STATUS(rec_set_string, NULL, "a", "b");
    STATUS(rec_set_string, record, NULL, "b");
    STATUS(rec_set_string, record, "a", NULL);
    STATUS(rec_set_nil, NULL, "a");
    STATUS(rec_set_nil, record, NULL);
    STATUS(rec_set_empty, NULL, "a", REC_KIND_MAP);
    STATUS(rec_set_empty, record, NULL, REC_KIND_MAP);
    STATUS(rec_set_value, NULL, "a", value);
    STATUS(rec_set_value, record, NULL, value);
    STATUS(rec_set_value, record, "a", NULL);
    STATUS(rec_clear, NULL, "name");
    STATUS(rec_clear, record, NULL);
    STATUS(rec_move, NULL, "name", "other");
    STATUS(rec_move, record, NULL, "other");
    STATUS(rec_move, record, "name", NULL);
    STATUS(rec_insert, NULL, "list.0");
    STATUS(rec_insert, record, NULL);
    STATUS(rec_remove, NULL, "name");
    STATUS(rec_remove, record, NULL);
    STATUS(rec_set_tensor, NULL, "a", &spec);
    STATUS(rec_set_tensor, record, NULL, &spec);
    STATUS(rec_set_tensor, record, "a", NULL);
    STATUS(rec_set_tensors, NULL, paths, &spec, 1, 0);
    STATUS(rec_set_tensors, record, NULL, &spec, 1, 0);
    STATUS(rec_set_tensors, record, paths, NULL, 1, 0);
    ALLOWED(rec_set_tensors, record, NULL, NULL, 0, 0);
    STATUS(rec_set_f32, NULL, "a", numbers, 1, shape);
    STATUS(rec_set_f32, record, NULL, numbers, 1, shape);
    STATUS(rec_set_f32, record, "a", NULL, 1, shape);
    STATUS(rec_set_f32, record, "a", numbers, 1, NULL);
    ALLOWED(rec_set_f32, record, "a", numbers, 0, NULL);
    ALLOWED(rec_set_f32, record, "a", NULL, 1, none);
    STATUS(rec_set_id, NULL, "weight", "x");
    STATUS(rec_set_id, record, NULL, "x");
    ALLOWED(rec_set_id, record, "weight", NULL);
    assert_int_equal(mistakes, 0);
}

/* What is given away is freed also where nothing takes it: a leak checker looks at this one. */
static void test_taken(void **state)
{
    rec_scalar text = {.kind = REC_KIND_STRING, .v = {.length = 1}};
    rec_tensor_spec spec = {.size = sizeof spec, .dtype = REC_DTYPE_U8, .ownership = REC_TAKE, .data_size = 1};
    (void)state;
    spec.data = malloc(1);
    assert_int_equal(rec_set_tensor(NULL, "a", &spec), REC_E_ARGUMENT);
    spec.data = malloc(1);
    assert_int_equal(rec_set_tensor(record, NULL, &spec), REC_E_ARGUMENT);
    assert_int_equal(rec_set_scalar(record, "a", text), REC_E_ARGUMENT);
}

static void test_tensors(void **state)
{
    uint64_t size;
    float number;
    (void)state;
    NEUTRAL(REC_DTYPE_NONE, rec_tensor_dtype, NULL);
    NEUTRAL(REC_DTYPE_NONE, rec_tensor_stored_dtype, NULL);
    EACH(false, [0] == 'u', rec_tensor_dtype_name, NULL);
    NEUTRAL(NULL, rec_tensor_dtype_value, NULL);
    NEUTRAL(0, rec_tensor_rank, NULL);
    EACH(false, [0] == 0, rec_tensor_shape, NULL);
    NEUTRAL(0, rec_tensor_count, NULL);
    NEUTRAL(0, rec_tensor_nbytes, NULL);
    ALLOWED(rec_tensor_release, NULL, 0, 1);
    NEUTRAL(NULL, rec_tensor_id, NULL);
    STATUS(rec_tensor_id_number, NULL, &size);
    STATUS(rec_tensor_id_number, tensor, NULL);
    EACH(false, [0] == '\0', rec_id_text, 1, NULL);
    NEUTRAL(0, rec_id_number, NULL, &size);
    NEUTRAL(0, rec_id_number, "0000000000000", NULL);
    NEUTRAL(0, rec_tensor_is_parameter, NULL);
    NEUTRAL(0, rec_tensor_assumed, NULL);
    NEUTRAL(REC_UNKNOWN, rec_tensor_offset, NULL);
    NEUTRAL(NULL, rec_tensor_scheme, NULL);
    NEUTRAL(REC_DTYPE_NONE, rec_tensor_numbers_dtype, NULL);
    NEUTRAL(0, rec_tensor_is_part, NULL);
    NOTHING(rec_tensor_bytes, NULL, &size);
    ALLOWED(rec_tensor_bytes, tensor, NULL);
    NEUTRAL(NULL, rec_tensor_at_hand, NULL, &size);
    ALLOWED(rec_tensor_at_hand, tensor, NULL);
    NOTHING(rec_tensor_f32, NULL);
    NOTHING(rec_tensor_f64, NULL);
    NOTHING(rec_tensor_f16, NULL);
    NOTHING(rec_tensor_i64, NULL);
    NOTHING(rec_tensor_i32, NULL);
    NOTHING(rec_tensor_bool, NULL);
    STATUS(rec_tensor_read, NULL, REC_DTYPE_F32, 0, 1, &number);
    STATUS(rec_tensor_read, tensor, REC_DTYPE_F32, 0, 1, NULL);
    ALLOWED(rec_tensor_read, tensor, REC_DTYPE_F32, 0, 0, NULL);
    ALLOWED(rec_tensor_release, NULL, 0, 1);
    assert_int_equal(mistakes, 0);
}

static int32_t fill_none(void *user, rec_filling *filling)
{
    (void)user;
    (void)filling;
    return 0;
}

static void test_recorders(void **state)
{
    rec_input input = {.size = sizeof input, .read_at = read_saved};
    const rec_output output = {.size = sizeof output, .write = write_nowhere};
    rec_window window = {.size = sizeof window};
    const rec_file one = {.size = 0};
    const rec_filling filling = {.size = sizeof filling, .files = &one, .count = 1};
    const rec_conversion_loss loss = {.size = sizeof loss, .kind = REC_NOTE_OVERFLOW, .count = 1, .path = ""};
    char words[64];
    void *user = &input;
    void *data;
    uint64_t size;
    rec_types *types = rec_types_new(context);
    (void)state;
    NOTHING(rec_open_recorder, NULL, FULL);
    NOTHING(rec_open_recorder_in, context, NULL, FULL);
    ALLOWED(rec_open_recorder_in, NULL, "NamedMpk", FULL);
    ALLOWED(rec_close_recorder, NULL);
    EACH(false, [0] == '\0', rec_recorder_name, NULL);
    EACH(false, [0] == '\0', rec_recorder_extension, NULL);
    STATUS(rec_recorder_set, NULL, "map", "no");
    STATUS(rec_recorder_set, recorder, NULL, "no");
    STATUS(rec_recorder_set, recorder, "map", NULL);
    NOTHING(rec_recorder_get, NULL, "map");
    NOTHING(rec_recorder_get, recorder, NULL);
    STATUS(rec_recorder_unset, NULL, "map");
    STATUS(rec_recorder_unset, recorder, NULL);
    SILENT(rec_recorder_set_progress, NULL, ignore_progress, user);
    ALLOWED(rec_recorder_set_progress, recorder, ignore_progress, NULL);
    NOTHING(rec_recorder_copy, NULL);
    NOTHING(rec_recorder_path, NULL, "a");
    NOTHING(rec_recorder_path, recorder, NULL);
    NOTHING(rec_load, NULL, file);
    NOTHING(rec_load, recorder, NULL);
    NOTHING(rec_load_bytes, NULL, "a", 1);
    NOTHING(rec_load_bytes, recorder, NULL, 1);
    assert_int_equal(rec_save_bytes(recorder, record, &saved, &saved_size), REC_OK);
    input.total = saved_size;
    NOTHING(rec_load_bytes_with, NULL, saved, saved_size, ignore_release, user);
    NOTHING(rec_load_bytes_with, recorder, NULL, saved_size, ignore_release, user);
    ALLOWED(rec_load_bytes_with, recorder, saved, saved_size, NULL, user);
    NOTHING(rec_load_from, NULL, &input, user);
    NOTHING(rec_load_from, recorder, NULL, user);
    ALLOWED(rec_load_from, recorder, &input, NULL);
    STATUS(rec_save_to, NULL, record, &output, user);
    STATUS(rec_save_to, recorder, NULL, &output, user);
    STATUS(rec_save_to, recorder, record, NULL, user);
    ALLOWED(rec_save_to, recorder, record, &output, NULL);
    STATUS(rec_save_window, NULL, record, "a.mpk", &window, &output, user);
    STATUS(rec_save_window, recorder, NULL, "a.mpk", &window, &output, user);
    STATUS(rec_save_window, recorder, record, NULL, &window, &output, user);
    STATUS(rec_save_window, recorder, record, "a.mpk", NULL, &output, user);
    ALLOWED(rec_save_window, recorder, record, "a.mpk", &window, NULL, user);
    ALLOWED(rec_save_window, recorder, record, "a.mpk", &window, &output, NULL);
    STATUS(rec_conversion_loss_text, NULL, words, sizeof words);
    STATUS(rec_conversion_loss_text, &loss, NULL, sizeof words);
    STATUS(rec_files_look, NULL, "a.mpk", &data, &size);
    STATUS(rec_files_look, recorder, NULL, &data, &size);
    STATUS(rec_files_look, recorder, "a.mpk", NULL, &size);
    STATUS(rec_files_look, recorder, "a.mpk", &data, NULL);
    STATUS(rec_files_show, NULL, "", 0);
    STATUS(rec_files_show, recorder, NULL, 1);
    STATUS(rec_save_filled, NULL, file, &filling, fill_none, user);
    STATUS(rec_save_filled, recorder, NULL, &filling, fill_none, user);
    STATUS(rec_save_filled, recorder, file, NULL, fill_none, user);
    STATUS(rec_save_filled, recorder, file, &filling, NULL, user);
    ALLOWED(rec_save_filled, recorder, file, &filling, fill_none, NULL);
    NEUTRAL(0, rec_sink_wants, NULL, 1);
    {
        rec_plan *empty = rec_plan_new(context, NULL);
        STATUS(rec_plan_add_from, NULL, recorder, &input, user);
        STATUS(rec_plan_add_from, empty, NULL, &input, user);
        STATUS(rec_plan_add_from, empty, recorder, NULL, user);
        ALLOWED(rec_plan_add_from, empty, recorder, &input, NULL);
        rec_plan_free(empty);
    }
    rec_free(saved);
    NOTHING(rec_load_fd, NULL, 0, "a");
    NOTHING(rec_load_fd, recorder, 0, NULL);
    STATUS(rec_save, NULL, record, file);
    STATUS(rec_save, recorder, NULL, file);
    STATUS(rec_save, recorder, record, NULL);
    STATUS(rec_save_bytes, NULL, record, &data, &size);
    STATUS(rec_save_bytes, recorder, NULL, &data, &size);
    STATUS(rec_save_bytes, recorder, record, NULL, &size);
    STATUS(rec_save_bytes, recorder, record, &data, NULL);
    ALLOWED(rec_free, NULL);
    STATUS(rec_save_fd, NULL, record, 1, "a");
    STATUS(rec_save_fd, recorder, NULL, 1, "a");
    STATUS(rec_save_fd, recorder, record, 1, NULL);
    STATUS(rec_recorder_set_type, NULL, &LINEAR_type);
    ALLOWED(rec_recorder_set_type, recorder, NULL);
    STATUS(rec_recorder_set_type_name, NULL, types, "f64");
    STATUS(rec_recorder_set_type_name, recorder, NULL, "f64");
    ALLOWED(rec_recorder_set_type_name, recorder, types, NULL);
    rec_types_free(types);
    assert_int_equal(mistakes, 0);
}

static void test_plans(void **state)
{
    rec_plan *plan = rec_plan_new(context, recorder), *no_plan = NULL;
    rec_recorder *no_recorder = NULL;
    const char *no_file = NULL;
    char out[sizeof file + 8];
    rec_plan_totals totals = {.size = sizeof totals};
    (void)state;
    (void)snprintf(out, sizeof out, "%s-2.mpk", file);
    ALLOWED(rec_plan_new, NULL, recorder);
    ALLOWED(rec_plan_new, context, NULL);
    STATUS(rec_plan_add, NULL, recorder, file);
    STATUS(rec_plan_add, plan, NULL, file);
    STATUS(rec_plan_add, plan, recorder, NULL);
    STATUS(rec_plan_add_record, NULL, recorder, record, "a");
    ALLOWED(rec_plan_add_record, plan, NULL, record, "a");
    STATUS(rec_plan_add_record, plan, recorder, NULL, "a");
    STATUS(rec_plan_add_record, plan, recorder, record, NULL);
    STATUS(rec_plan_set_base, NULL, record);
    ALLOWED(rec_plan_set_base, plan, NULL);
    STATUS(rec_plan_make, NULL);
    ALLOWED(rec_plan_free, NULL);
    NOTHING(rec_plan_count, NULL);
    NOTHING(rec_plan_get, NULL, 0);
    NOTHING(rec_plan_problem_count, NULL);
    NOTHING(rec_plan_problem_get, NULL, 0);
    STATUS(rec_plan_total, NULL, &totals);
    STATUS(rec_plan_total, plan, NULL);
    NOTHING(rec_plan_load, NULL);
    NOTHING(rec_load_for, NULL, file, recorder, out);
    NOTHING(rec_load_for, recorder, NULL, recorder, out);
    NOTHING(rec_load_for, recorder, file, NULL, out);
    NOTHING(rec_load_for, recorder, file, recorder, NULL);
    STATUS(rec_convert, NULL, file, recorder, out, no_plan);
    STATUS(rec_convert, recorder, NULL, recorder, out, no_plan);
    STATUS(rec_convert, recorder, file, NULL, out, no_plan);
    STATUS(rec_convert, recorder, file, recorder, NULL, no_plan);
    ALLOWED(rec_convert, recorder, file, recorder, out, NULL);
    STATUS(rec_convert, no_recorder, no_file, NULL, out, plan);
    STATUS(rec_convert, no_recorder, no_file, recorder, NULL, plan);
    rec_plan_free(plan);
    assert_int_equal(mistakes, 0);
}

static void test_types(void **state)
{
    rec_types *types = rec_types_new(context);
    uint64_t families;
    LINEAR linear;
    (void)state;
    ALLOWED(rec_types_new, NULL);
    ALLOWED(rec_types_free, NULL);
    NEUTRAL(NULL, rec_types_name, NULL, 0);
    NOTHING(rec_record_families, NULL, file, &families);
    ALLOWED(rec_record_families, record, NULL, &families);
    NOTHING(rec_record_families, record, file, NULL);
    NEUTRAL(NULL, rec_families_get, NULL, 0);
    STATUS(rec_types_add_file, NULL, file);
    STATUS(rec_types_add_file, types, NULL);
    STATUS(rec_types_add_rust, NULL, "struct A;", "a");
    STATUS(rec_types_add_rust, types, NULL, "a");
    STATUS(rec_types_add_rust, types, "struct A;", NULL);
    NOTHING(rec_record_describe, NULL, types, "A");
    NOTHING(rec_record_describe, record, NULL, "A");
    ALLOWED(rec_record_describe, record, types, NULL);
    NOTHING(rec_bind, NULL, &LINEAR_type, &linear);
    NOTHING(rec_bind, record, NULL, &linear);
    NOTHING(rec_bind, record, &LINEAR_type, NULL);
    NOTHING(rec_bind_at, NULL, "", &LINEAR_type, &linear, REC_BIND_STRICT);
    NOTHING(rec_bind_at, record, NULL, &LINEAR_type, &linear, REC_BIND_STRICT);
    NOTHING(rec_bind_at, record, "", NULL, &linear, REC_BIND_STRICT);
    NOTHING(rec_bind_at, record, "", &LINEAR_type, NULL, REC_BIND_STRICT);
    ALLOWED(rec_binding_free, NULL);
    rec_types_free(types);
    assert_int_equal(mistakes, 0);
}

/* Last: nothing that can be NULL was left out. */
static void test_all(void **state)
{
    unsigned listed = 0, left = 0;
    (void)state;
    for (const char *line = symbols; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        char name[NAME], call[NAME + 1];
        if (*line == '#') {
            continue;
        }
        (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(line, " \n"), line);
        (void)snprintf(call, sizeof call, "%s(", name);
        bool of_plugins = strstr(plugin_header, call) || strstr(plugin_types, call);
        if (!of_plugins && strcmp(name, "rec_limits_default") != 0) { /* which older programs call */
            (void)find(name);
            listed++;
        }
    }
    assert_int_equal(listed, function_count);
    for (unsigned i = 0; i < function_count; i++) {
        for (unsigned j = 0; j < functions[i].count; j++) {
            if (functions[i].pointer[j] && !functions[i].tried[j]) {
                print_error("%s is never called with NULL for `%s`\n", functions[i].name, functions[i].parameters[j]);
                left++;
            }
        }
    }
    assert_int_equal(left, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_contexts, make_objects, free_objects),
        cmocka_unit_test_setup_teardown(test_records, make_objects, free_objects),
        cmocka_unit_test_setup_teardown(test_editing, make_objects, free_objects),
        cmocka_unit_test_setup_teardown(test_taken, make_objects, free_objects),
        cmocka_unit_test_setup_teardown(test_tensors, make_objects, free_objects),
        cmocka_unit_test_setup_teardown(test_recorders, make_objects, free_objects),
        cmocka_unit_test_setup_teardown(test_plans, make_objects, free_objects),
        cmocka_unit_test_setup_teardown(test_types, make_objects, free_objects),
        cmocka_unit_test(test_all),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
