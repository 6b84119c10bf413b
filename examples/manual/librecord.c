/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The examples of the manual's section 3 for librecord.h. scripts/man3.awk
 * describes the form of this file. Lines have at most 76 columns, so that a
 * page fits a terminal. */
#include <assert.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <librecord.h>

#include "manual.h"

/* -------------------------------------------------------------------------------------------------------
 * begin -- */

/* rec_version, rec_version_string: get the version of the library */
static rec_status version_example(void)
{
    printf("librecord %s\n", rec_version_string());
    /* Built for this header or a later library? */
    return rec_version() >= REC_VERSION_NUMBER ? REC_OK : REC_E_UNSUPPORTED;
}

/* rec_error_message, rec_error_status, rec_status_name, rec_error_hint,
 * rec_error_errno: get the last error */
static rec_status error_example(void)
{
    rec_recorder *recorder = rec_open_recorder("Auto", FULL);
    rec_record *record = rec_load(recorder, "missing.mpk");
    if (!record) {
        fprintf(stderr, "%s (%s)\n", rec_error_message(),
                rec_status_name(rec_error_status()));
        if (rec_error_errno() != 0)
            fprintf(stderr, "The system says: %s\n",
                    strerror(rec_error_errno()));
        if (rec_error_hint()[0] != '\0')
            fprintf(stderr, "To do: %s\n", rec_error_hint());
    }
    assert(!record && rec_error_status() == REC_E_NOT_FOUND);
    rec_close_recorder(recorder);
    return REC_OK;
}

/* rec_error_file, rec_error_offset, rec_error_line, rec_error_path: get the
 * place of the last error */
static rec_status place_example(void)
{
    static const uint8_t broken[] = {0x81, 0xa4, 'i', 't'};
    rec_recorder *recorder = rec_open_recorder("NamedMpk", FULL);
    rec_record *record = rec_load_bytes(recorder, broken, sizeof broken);
    if (!record) {
        printf("file %s, ", rec_error_file());
        if (rec_error_offset() != REC_UNKNOWN)
            printf("byte %" PRIu64 ", ", rec_error_offset());
        if (rec_error_line() > 0)
            printf("line %" PRIu32 ", ", rec_error_line());
        printf("path \"%s\"\n", rec_error_path());
    }
    assert(!record);
    rec_close_recorder(recorder);
    return REC_OK;
}

/* rec_error_expected, rec_error_found: get the two sides of the last error
 */
static rec_status sides_example(const rec_record *record)
{
    const rec_tensor *tensor = rec_tensor_at(record, "linear");
    if (!tensor && rec_error_expected()[0] != '\0') {
        printf("expected: %s\n", rec_error_expected());
        printf("found: %s\n", rec_error_found());
    }
    return tensor ? REC_E_MISMATCH : REC_OK;
}

/* rec_report_count, rec_report_note: get the notes of the last operation */
static rec_status report_example(const rec_record *record)
{
    rec_recorder *half = rec_open_recorder("NamedMpk", HALF);
    rec_status status = rec_save(half, record, "half");
    for (uint64_t i = 0; status == REC_OK && i < rec_report_count(); i++) {
        const rec_note *note = rec_report_note(i);
        if (note)
            fprintf(stderr, "%s: %s\n", note->path, note->text);
    }
    rec_close_recorder(half);
    return status;
}

/* rec_dtype_name, rec_dtype_from_name, rec_dtype_bits: name and measure
 * element types */
static rec_status dtype_example(void)
{
    rec_dtype dtype = rec_dtype_from_name("bf16");
    if (dtype == REC_DTYPE_NONE)
        return REC_E_ARGUMENT;
    printf("%s: %" PRIu32 " bits\n", rec_dtype_name(dtype),
           rec_dtype_bits(dtype));
    return REC_OK;
}

/* rec_precision_name, rec_precision_from_name: name precisions */
static rec_status precision_example(void)
{
    rec_precision precision = rec_precision_from_name("half");
    if (precision < 0)
        return REC_E_ARGUMENT;
    printf("%s\n", rec_precision_name(precision));
    return REC_OK;
}

/* -----------------------------------------------------------------------------------------------------
 * context -- */

/* rec_limits_init, rec_limits_default, rec_context_set_limits: bound the
 * cost of an input */
static rec_status limits_example(rec_context *context)
{
    rec_limits limits = rec_limits_default();
    limits.inflated_slack = UINT64_C(64) << 20; /* for small inputs */
    limits.depth = 32;
    return rec_context_set_limits(context, &limits);
}

/* rec_context_new, rec_config_open, rec_context_free,
 * rec_context_set_default, rec_allocator: create contexts */
static rec_status context_example(void)
{
    rec_context *context = rec_context_new(NULL);
    rec_recorder *recorder =
        rec_open_recorder_in(context, "NamedMpk", FULL);
    rec_context_free(context); /* the recorder keeps what it needs */
    rec_close_recorder(recorder);
    if (!recorder)
        return rec_error_status();

    context = rec_config_open("librecord.ini");
    if (!context)
        return rec_error_status();
    rec_context_set_default(context); /* for rec_open_recorder() */
    recorder = rec_open_recorder("checkpoint", REC_PRECISION_CONFIGURED);
    rec_close_recorder(recorder);
    rec_context_set_default(NULL);
    rec_context_free(context);
    return recorder ? REC_OK : rec_error_status();
}

/* rec_context_set_progress, rec_recorder_set_progress,
 * rec_context_set_notes, rec_progress, rec_progress_fn, rec_note_fn: follow
 * and cancel operations */
static int32_t on_progress(void *user, const rec_progress *progress)
{
    double done = (double)progress->overall_done;
    (void)user;
    fprintf(stderr, "%3.0f %%\n",
            100 * done / (double)progress->overall_total);
    return 0; /* anything else cancels */
}

static void on_note(void *user, const rec_note *note)
{
    (void)user;
    fprintf(stderr, "note: %s\n", note->text);
}

static void progress_example(rec_context *context, rec_recorder *recorder)
{
    rec_context_set_progress(context, on_progress, NULL);
    rec_context_set_notes(context, on_note, NULL);
    rec_recorder_set_progress(recorder, on_progress, NULL);
}

/* rec_context_set_threads, rec_context_threads, rec_context_set_spill:
 * bound threads and memory */
static rec_status resources_example(rec_context *context)
{
    rec_status status = rec_context_set_threads(context, 2);
    if (status == REC_OK)
        status = rec_context_set_spill(context, UINT64_C(256) << 20);
    printf("%" PRIu32 " threads\n", rec_context_threads(context));
    return status;
}

/* -----------------------------------------------------------------------------------------------------
 * records -- */

/* rec_record_new, rec_record_copy, rec_record_free, rec_record_origin,
 * rec_record: create and free records */
static rec_status record_example(const rec_record *loaded)
{
    rec_record *copy =
        rec_record_copy(loaded); /* shares the tensors' bytes */
    rec_record *empty = rec_record_new(NULL);
    rec_status status = copy && empty ? REC_OK : REC_E_MEMORY;
    printf("read by %s\n", rec_record_origin(loaded)->recorder);
    rec_record_free(copy);
    rec_record_free(empty);
    return status;
}

/* rec_metadata, rec_metadata_count, rec_metadata_get, rec_metadata_set:
 * read and set metadata that are text */
static rec_status metadata_example(rec_record *record)
{
    rec_status status = rec_metadata_set(record, "author", "Ada");
    for (uint64_t i = 0; i < rec_metadata_count(record); i++) {
        const char *key, *value;
        if (rec_metadata_get(record, i, &key, &value) == REC_OK)
            printf("%s = %s\n", key, value);
    }
    assert(strcmp(rec_metadata(record, "author"), "Ada") == 0);
    return status;
}

/* rec_metadata_value, rec_metadata_set_value, rec_metadata_set_as,
 * rec_value_type: read and set metadata with types */
static rec_status typed_metadata_example(rec_record *record)
{
    const rec_value *layers;
    char type[32];
    rec_status status = rec_metadata_set_as(record, "layers", "u32", "12");
    if (status != REC_OK)
        return status;
    layers = rec_metadata_value(record, "layers");
    (void)rec_value_type(layers, type, sizeof type);
    printf("%s %" PRIu64 "\n", type, rec_value_scalar(layers).v.u);
    return rec_metadata_set_value(record, "copy", layers);
}

/* rec_root, rec_value_at, rec_tensor_at: find values by their paths */
static rec_status find_example(const rec_record *record)
{
    const rec_tensor *weight = rec_tensor_at(record, "linear.weight");
    const rec_value *bias = rec_value_at(record, "linear.bias");
    if (!weight)
        return rec_error_status(); /* names similar paths */
    printf("%" PRIu64 " fields\n", rec_value_count(rec_root(record)));
    return bias ? REC_OK
                : REC_E_NOT_FOUND; /* a missing value is no error */
}

/* rec_value_kind, rec_value_form, rec_value_count, rec_value_item,
 * rec_value_key: walk the tree of values */
static uint64_t count_values(const rec_value *value)
{
    uint64_t values = 1;
    if (rec_value_kind(value) == REC_KIND_MAP) {
        printf("%s of:\n",
               rec_value_form(value) == REC_FORM_STRUCT ? "struct" : "map");
    }
    for (uint64_t i = 0; i < rec_value_count(value); i++) {
        rec_scalar key = rec_value_key(value, i);
        if (key.kind == REC_KIND_STRING)
            printf("  %.*s\n", (int)key.v.length, key.text);
        values += count_values(rec_value_item(value, i));
    }
    return values;
}

/* rec_value_scalar, rec_value_number, rec_value_variant, rec_value_tensor,
 * rec_value_bytes: read a value */
static void print_value(const rec_value *value)
{
    const rec_tensor *tensor = rec_value_tensor(value);
    rec_scalar scalar = rec_value_scalar(value);
    uint64_t size;
    if (tensor)
        printf("a tensor of %" PRIu64 " elements\n",
               rec_tensor_count(tensor));
    else if (rec_value_bytes(value, &size))
        printf("%" PRIu64 " bytes\n", size);
    else if (rec_value_kind(value) == REC_KIND_NUMBERS)
        printf("numbers, the first of kind %d\n",
               rec_value_number(value, 0).kind);
    else if (rec_value_kind(value) == REC_KIND_VARIANT)
        printf("variant %" PRIu64 "\n", rec_value_variant(value));
    else if (scalar.kind == REC_KIND_INT)
        printf("%" PRId64 "\n", scalar.v.i);
    else if (scalar.kind == REC_KIND_STRING)
        printf("%s\n", scalar.text);
}

/* rec_iterate, rec_iterator_next, rec_iterator_next_tensor,
 * rec_iterator_free: visit all leaves */
static rec_status iterate_example(const rec_record *record)
{
    rec_iterator *iterator = rec_iterate(record);
    const rec_tensor *tensor;
    const char *path;
    if (!iterator)
        return rec_error_status();
    /* rec_iterator_next() returns leaves of all kinds. */
    while ((tensor = rec_iterator_next_tensor(iterator, &path)) != NULL)
        printf("%s: %s\n", path, rec_tensor_dtype_name(tensor));
    rec_iterator_free(iterator);
    return REC_OK;
}

/* rec_set_scalar, rec_set_bool, rec_set_int, rec_set_uint, rec_set_float:
 * set numbers */
static rec_status numbers_example(rec_record *record)
{
    rec_scalar width = {.kind = REC_KIND_UINT, .bits = 16, .v = {.u = 640}};
    rec_status status = rec_set_scalar(record, "image.width", width);
    if (status == REC_OK)
        status = rec_set_bool(record, "image.grey", 1);
    if (status == REC_OK)
        status = rec_set_int(record, "image.offset", -3);
    if (status == REC_OK)
        status = rec_set_uint(record, "image.height", 480);
    if (status == REC_OK)
        status = rec_set_float(record, "image.gamma", 2.2);
    return status;
}

/* rec_set_string, rec_set_nil, rec_set_empty, rec_set_value: set other
 * values */
static rec_status values_example(rec_record *record)
{
    rec_status status = rec_set_string(record, "names.0", "cat");
    if (status == REC_OK)
        status = rec_set_nil(record, "dropout");
    if (status == REC_OK)
        status = rec_set_empty(record, "blocks", REC_KIND_LIST);
    if (status == REC_OK)
        status =
            rec_set_value(record, "more", rec_value_at(record, "names"));
    return status;
}

/* rec_clear, rec_remove, rec_move, rec_insert: change the tree */
static rec_status edit_example(rec_record *record)
{
    rec_status status = rec_set_string(record, "labels.0", "cat");
    if (status == REC_OK)
        status = rec_insert(record, "labels.0"); /* nil, then "cat" */
    if (status == REC_OK)
        status = rec_set_string(record, "labels.0", "ant");
    if (status == REC_OK)
        status = rec_move(record, "labels", "classes");
    if (status == REC_OK)
        status = rec_clear(record, "classes"); /* nil, for a setter */
    if (status == REC_OK)
        status = rec_remove(record, "classes");
    return status;
}

/* rec_set_tensor, rec_set_f32, rec_set_id: set tensors */
static rec_status set_tensor_example(rec_record *record)
{
    static const int64_t steps[2] = {100, 200}; /* little-endian */
    static const float weight[6] = {1, 2, 3, 4, 5, 6};
    static const uint64_t shape[2] = {3, 2};
    rec_tensor_spec spec = {.size = sizeof spec, .dtype = REC_DTYPE_I64};
    rec_status status =
        rec_set_f32(record, "norm.weight", weight, 2, shape);
    if (status == REC_OK)
        status = rec_set_id(record, "norm.weight", "0123456789abc");
    spec.rank = 1;
    spec.shape = &shape[1];
    spec.data = steps;
    spec.data_size = sizeof steps;
    spec.ownership = REC_BORROW; /* `steps` outlives the record */
    if (status == REC_OK)
        status = rec_set_tensor(record, "steps", &spec);
    return status;
}

/* -----------------------------------------------------------------------------------------------------
 * tensors -- */

/* rec_tensor_dtype, rec_tensor_stored_dtype, rec_tensor_dtype_name,
 * rec_tensor_dtype_value: get a tensor's element type */
static void dtypes_example(const rec_tensor *tensor)
{
    const rec_value *scheme = rec_tensor_dtype_value(tensor);
    if (rec_tensor_dtype(tensor) != rec_tensor_stored_dtype(tensor))
        printf("will be converted\n");
    printf("%s\n", rec_tensor_dtype_name(tensor));
    if (scheme)
        printf("described by %" PRIu64 " entries\n",
               rec_value_count(scheme));
}

/* rec_tensor_rank, rec_tensor_shape, rec_tensor_count, rec_tensor_nbytes:
 * get a tensor's shape */
static void shape_example(const rec_tensor *tensor)
{
    const uint64_t *shape = rec_tensor_shape(tensor);
    for (uint32_t i = 0; i < rec_tensor_rank(tensor); i++)
        printf("%s%" PRIu64, i > 0 ? " x " : "", shape[i]);
    printf(" = %" PRIu64 " elements", rec_tensor_count(tensor));
    printf(", %" PRIu64 " bytes\n", rec_tensor_nbytes(tensor));
}

/* rec_tensor_id, rec_tensor_is_parameter, rec_tensor_assumed,
 * rec_tensor_offset: get other facts of a tensor */
static void facts_example(const rec_tensor *tensor)
{
    const char *id = rec_tensor_id(tensor);
    if (rec_tensor_is_parameter(tensor))
        printf("parameter %s\n", id ? id : "without id");
    if (rec_tensor_assumed(tensor))
        printf("The file does not store its element type.\n");
    if (rec_tensor_offset(tensor) != REC_UNKNOWN)
        printf("at byte %" PRIu64 "\n", rec_tensor_offset(tensor));
}

/* rec_tensor_scheme, rec_tensor_numbers_dtype, rec_tensor_is_part: inspect
 * encoded tensors */
static void scheme_example(const rec_tensor *tensor)
{
    rec_dtype dtype = rec_tensor_numbers_dtype(tensor);
    if (rec_tensor_is_part(tensor))
        printf("part of another tensor\n");
    else if (rec_tensor_scheme(tensor))
        printf("%s, decodes to %s\n", rec_tensor_scheme(tensor),
               rec_dtype_name(dtype));
}

/* rec_tensor_bytes, rec_tensor_at_hand: get a tensor's stored bytes */
static rec_status bytes_example(const rec_tensor *tensor)
{
    uint64_t size;
    const void *bytes = rec_tensor_at_hand(tensor, &size); /* no I/O */
    if (!bytes)
        bytes = rec_tensor_bytes(tensor, &size);
    if (!bytes)
        return rec_error_status();
    printf("%" PRIu64 " bytes, little-endian\n", size);
    return REC_OK;
}

/* rec_tensor_f32, rec_tensor_f64, rec_tensor_f16: get a tensor's elements
 * as floats */
static rec_status floats_example(const rec_tensor *tensor)
{
    const float *numbers = rec_tensor_f32(tensor);
    const double *wide = rec_tensor_f64(tensor);
    if (!numbers || !wide)
        return rec_error_status();
    printf("%g, %g\n", (double)numbers[0], wide[1]);
    return REC_OK;
}

/* rec_tensor_i64, rec_tensor_i32, rec_tensor_bool: get a tensor's elements
 * as integers or bools */
static rec_status integers_example(const rec_tensor *tensor)
{
    const int64_t *numbers = rec_tensor_i64(tensor);
    const int32_t *narrow = rec_tensor_i32(tensor); /* or REC_E_RANGE */
    if (!numbers || !narrow)
        return rec_error_status();
    printf("%" PRId64 ", %" PRId32 "\n", numbers[0], narrow[1]);
    return REC_OK;
}

/* rec_tensor_read, rec_tensor_release: read a tensor in chunks */
static rec_status sum_example(const rec_tensor *tensor)
{
    enum { CHUNK = 4096 };
    float chunk[CHUNK];
    double sum = 0;
    uint64_t count = rec_tensor_count(tensor);
    for (uint64_t at = 0, n; at < count; at += n) {
        n = count - at < CHUNK ? count - at : CHUNK;
        if (rec_tensor_read(tensor, REC_DTYPE_F32, at, n, chunk) != REC_OK)
            return rec_error_status();
        for (uint64_t i = 0; i < n; i++)
            sum += (double)chunk[i];
        rec_tensor_release(tensor, at, n); /* its pages can be dropped */
    }
    printf("sum %g\n", sum);
    return REC_OK;
}

/* ---------------------------------------------------------------------------------------------------
 * recorders -- */

/* rec_open_recorder, rec_open_recorder_in, rec_close_recorder,
 * rec_recorder_copy: open recorders */
static rec_status open_example(rec_context *context)
{
    rec_recorder *first = rec_open_recorder_in(context, "mpk.gz", HALF);
    rec_recorder *same = first ? rec_recorder_copy(first) : NULL;
    rec_recorder *any = rec_open_recorder("Auto", REC_PRECISION_KEEP);
    rec_status status = same && any ? REC_OK : rec_error_status();
    rec_close_recorder(any);
    rec_close_recorder(same);
    rec_close_recorder(first);
    return status;
}

/* rec_recorder_name, rec_recorder_extension, rec_recorder_path: get names
 * of a recorder */
static rec_status names_example(const rec_recorder *recorder)
{
    char *path = rec_recorder_path(recorder, "checkpoint-7");
    if (!path)
        return rec_error_status();
    printf("%s writes .%s files: %s\n", rec_recorder_name(recorder),
           rec_recorder_extension(recorder), path);
    rec_free(path);
    return REC_OK;
}

/* rec_recorder_set, rec_recorder_get, rec_recorder_unset: set options of a
 * recorder */
static rec_status option_example(rec_recorder *recorder)
{
    rec_status status = rec_recorder_set(recorder, "check", "yes");
    const char *check = rec_recorder_get(recorder, "check");
    if (!check)
        return rec_error_status();
    printf("check = %s\n", check);
    return status == REC_OK ? rec_recorder_unset(recorder, "check")
                            : status;
}

/* rec_load, rec_load_bytes, rec_load_bytes_with, rec_load_fd: load records
 */
static rec_status load_example(const char *path)
{
    rec_recorder *recorder = rec_open_recorder("Auto", FULL);
    rec_record *record = rec_load(recorder, path);
    const rec_tensor *weight = rec_tensor_at(record, "linear.weight");
    const float *numbers = rec_tensor_f32(weight);
    /* The calls above can be chained: the first error is kept. */
    rec_status status = numbers ? REC_OK : rec_error_status();
    if (numbers)
        printf("%g\n", (double)numbers[0]);
    else
        fprintf(stderr, "%s\n", rec_error_message());
    rec_record_free(record);
    rec_close_recorder(recorder);
    return status;
}

/* rec_save, rec_save_bytes, rec_save_fd, rec_free: save records */
static rec_status save_example(const rec_record *record)
{
    rec_recorder *recorder = rec_open_recorder("NamedMpkGz", HALF);
    void *data = NULL;
    uint64_t size = 0;
    /* Writes out.mpk.gz. An error leaves an older file unchanged. */
    rec_status status = rec_save(recorder, record, "out");
    if (status == REC_OK)
        status = rec_save_bytes(recorder, record, &data, &size);
    if (status == REC_OK)
        printf("%" PRIu64 " bytes\n", size);
    rec_free(data);
    rec_close_recorder(recorder);
    return status;
}

/* rec_convert, rec_recognise: convert and recognise files */
static rec_status convert_example(const char *path)
{
    rec_recorder *from = rec_open_recorder("Auto", REC_PRECISION_KEEP);
    rec_recorder *to = rec_open_recorder("Safetensors", HALF);
    rec_status status =
        rec_convert(from, path, to, "half.safetensors", NULL);
    const char *format;
    rec_close_recorder(to);
    rec_close_recorder(from);
    if (status != REC_OK)
        return status;
    format = rec_recognise(NULL, "half.safetensors");
    return format ? REC_OK : rec_error_status();
}

/* ---------------------------------------------------------------------------------------------------------
 * main -- */

static void write_configuration(void)
{
    FILE *file = fopen("librecord.ini", "w");
    assert(file);
    fputs("[recorder checkpoint]\nplugin = NamedMpk\nprecision = half\n",
          file);
    fclose(file);
}

static void loading(const rec_record *record)
{
    rec_recorder *recorder = rec_open_recorder("NamedMpk", FULL);
    void *data = NULL;
    uint64_t size = 0;
    rec_record *again;
    int fd;
    expect("save", rec_save(recorder, record, "model.mpk"));
    expect("load", load_example("model.mpk"));
    expect("save_more", save_example(record));
    expect("convert", convert_example("model.mpk"));
    expect("names", names_example(recorder));
    expect("option", option_example(recorder));
    assert(rec_save_bytes(recorder, record, &data, &size) == REC_OK);
    again = rec_load_bytes_with(recorder, data, size, NULL, NULL);
    expect("sides", sides_example(again));
    rec_record_free(again);
    rec_free(data);
    fd = open("model.mpk", O_RDONLY);
    again = rec_load_fd(recorder, fd, "model");
    expect("origin", record_example(again));
    rec_record_free(again);
    close(fd);
    fd = open("copy.mpk", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    expect("save_fd", rec_save_fd(recorder, record, fd, "copy"));
    close(fd);
    rec_close_recorder(recorder);
}

static void editing(rec_record *record)
{
    expect("metadata", metadata_example(record));
    expect("typed_metadata", typed_metadata_example(record));
    expect("find", find_example(record));
    expect("numbers", numbers_example(record));
    expect("values", values_example(record));
    expect("edit", edit_example(record));
    expect("set_tensor", set_tensor_example(record));
    expect("iterate", iterate_example(record));
    expect("walk",
           count_values(rec_root(record)) > 10 ? REC_OK : REC_E_MISMATCH);
    print_value(rec_value_at(record, "image.offset"));
    expect("integers", integers_example(rec_tensor_at(record, "steps")));
}

static void tensors(const rec_tensor *tensor)
{
    dtypes_example(tensor);
    shape_example(tensor);
    facts_example(tensor);
    scheme_example(tensor);
    expect("bytes", bytes_example(tensor));
    expect("floats", floats_example(tensor));
    expect("sum", sum_example(tensor));
}

int main(void)
{
    rec_context *context = rec_context_new(NULL);
    rec_recorder *recorder =
        rec_open_recorder_in(context, "NamedMpk", FULL);
    rec_record *record = model();
    write_configuration();
    expect("version", version_example());
    expect("error", error_example());
    expect("place", place_example());
    expect("report", report_example(record));
    expect("dtype", dtype_example());
    expect("precision", precision_example());
    expect("limits", limits_example(context));
    expect("context", context_example());
    expect("open", open_example(context));
    progress_example(context, recorder);
    expect("resources", resources_example(context));
    loading(record);
    tensors(rec_tensor_at(record, "linear.weight"));
    editing(record);
    rec_record_free(record);
    rec_close_recorder(recorder);
    rec_context_free(context);
    return failures > 0;
}
