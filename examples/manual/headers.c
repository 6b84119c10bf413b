/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The examples of the manual's section 3 for the application headers that
 * librecord.h includes, and parallel.h. */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <librecord.h>
#include <librecord/parallel.h>

#include "manual.h"

/* ------------------------------------------------------------------------------------------------------
 * structs -- */

/* rec_bind, rec_bind_at, rec_binding_free, rec_recorder_set_type, rec_type:
 * fill C structs from records */
#define LINEAR_FIELDS(F, T) \
    F(T, PARAM, weight, 2) F(T, OPTION_PARAM, bias, 1)
REC_DEFINE_STRUCT(LINEAR, LINEAR_FIELDS)
#define MODEL_FIELDS(F, T) F(T, CHILD, linear, LINEAR)
REC_DEFINE_STRUCT(MODEL, MODEL_FIELDS)

static rec_status bind_example(const rec_record *record)
{
    MODEL model;
    rec_binding *binding = rec_bind(record, &MODEL_type, &model);
    if (!binding)
        return rec_error_status(); /* the message lists all mismatches */
    printf("weight[0] = %g\n", (double)model.linear.weight.data[0]);
    if (!model.linear.bias.data)
        printf("without bias\n");
    rec_binding_free(binding);
    return REC_OK;
}

static rec_status bind_part_example(const rec_record *record)
{
    LINEAR linear;
    uint32_t flags = REC_BIND_ALLOW_UNEXPECTED;
    rec_binding *binding;
    binding = rec_bind_at(record, "linear", &LINEAR_type, &linear, flags);
    rec_binding_free(binding);
    return binding ? REC_OK : rec_error_status();
}

/* -------------------------------------------------------------------------------------------------------
 * values -- */

/* rec_value_get, rec_value_get_key, rec_value_get_number,
 * rec_value_numbers, rec_value_child: read values from another language */
static rec_status get_example(const rec_value *root)
{
    const rec_value *losses = rec_value_child(root, "losses");
    double numbers[2];
    rec_scalar key, first, epoch;
    rec_status status = rec_value_get_key(root, 0, &key);
    if (status == REC_OK)
        status = rec_value_get(rec_value_child(root, "epoch"), &epoch);
    if (status == REC_OK)
        status = rec_value_get_number(losses, 0, &first);
    if (status == REC_OK)
        status = rec_value_numbers(losses, REC_DTYPE_F64, 0, 2, numbers);
    if (status == REC_OK)
        printf("%g, %g\n", first.v.f, numbers[1]);
    return status;
}

/* rec_record_table, rec_table_free, rec_row: get all tensors with one call
 */
static rec_status table_example(const rec_record *record)
{
    const rec_table *table = rec_record_table(record);
    const char *at;
    if (!table)
        return rec_error_status();
    at = (const char *)table->rows;
    for (uint64_t i = 0; i < table->count; i++, at += table->row_size) {
        const rec_row *row = (const rec_row *)(const void *)at;
        printf("%s: %" PRIu64 " bytes\n", row->path, row->nbytes);
    }
    rec_table_free(table);
    return REC_OK;
}

/* rec_set_tensors: set many tensors with one call */
static rec_status set_tensors_example(rec_record *record)
{
    static const char *const names[2] = {"layers.1.bias", "layers.0.bias"};
    static const uint8_t zeros[8];
    static const uint64_t shape[1] = {2};
    rec_tensor_spec specs[2];
    memset(specs, 0, sizeof specs);
    for (int i = 0; i < 2; i++) {
        specs[i].size = sizeof specs[i];
        specs[i].dtype = REC_DTYPE_F32;
        specs[i].rank = 1;
        specs[i].shape = shape;
        specs[i].data = zeros;
        specs[i].data_size = sizeof zeros;
        specs[i].ownership = REC_COPY;
    }
    return rec_set_tensors(record, names, specs, 2, REC_NAMES_KEEP_GAPS);
}

/* rec_tensor_id_number, rec_id_text, rec_id_number: convert parameter ids
 */
static rec_status id_example(const rec_tensor *tensor)
{
    char text[REC_ID_ROOM];
    uint64_t number, again;
    rec_status status = rec_tensor_id_number(tensor, &number);
    if (status != REC_OK)
        return status;
    printf("%s\n", rec_id_text(number, text));
    if (!rec_id_number(text, &again) || again != number)
        return REC_E_MISMATCH;
    return REC_OK;
}

/* rec_error_copy, rec_error_restore, rec_error_free: keep an error */
static rec_status keep_error_example(void)
{
    rec_error *error;
    rec_recorder *recorder = rec_open_recorder("nonsense", FULL);
    error = rec_error_copy();
    rec_close_recorder(recorder);
    recorder = rec_open_recorder("Auto", FULL); /* clears the last error */
    rec_close_recorder(recorder);
    rec_error_restore(error);
    rec_error_free(error);
    return rec_error_status() == REC_E_NOT_FOUND ? REC_OK : REC_E_MISMATCH;
}

/* -------------------------------------------------------------------------------------------------------
 * custom -- */

/* rec_load_from, rec_save_to, rec_input, rec_output: load and save with
 * functions of the program */
static int32_t read_file(void *user, void *target, uint64_t room,
                         uint64_t *got)
{
    FILE *file = user;
    *got = fread(target, 1, (size_t)room, file);
    return ferror(file) ? EIO : 0;
}

static int32_t write_file(void *user, const void *data, uint64_t size)
{
    FILE *file = user;
    return fwrite(data, 1, (size_t)size, file) == size ? 0 : errno;
}

static rec_record *load_file(rec_recorder *recorder, FILE *file)
{
    rec_input input = {.size = sizeof input, .name = "the pipe"};
    input.total = REC_UNKNOWN;
    input.read = read_file;
    return rec_load_from(recorder, &input, file);
}

static rec_status save_file(rec_recorder *to, const rec_record *record,
                            FILE *file)
{
    rec_output output = {.size = sizeof output, .write = write_file};
    return rec_save_to(to, record, &output, file);
}

/* rec_guard_maps, rec_guard_check: survive truncation of mapped files */
static rec_status guard_example(const rec_record *record)
{
    rec_status status = rec_guard_maps(); /* once in a program */
    if (status != REC_OK)
        return status;
    /* Read the bytes of tensors here. Then: were they all there? */
    return rec_guard_check(record);
}

/* rec_display_name: print a path without its secrets */
static void display_example(void)
{
    char name[64];
    (void)rec_display_name("https://me:secret@host/m.mpk", name,
                           sizeof name);
    printf("%s\n", name); /* https://host/m.mpk */
}

/* -----------------------------------------------------------------------------------------------------
 * parallel -- */

/* rec_files_look, rec_files_show, rec_load_for: share headers between
 * processes */
static rec_status look_example(rec_recorder *here, rec_recorder *there)
{
    void *files = NULL;
    uint64_t size = 0;
    rec_recorder *to = rec_open_recorder("Safetensors", HALF);
    rec_record *record;
    rec_status status =
        rec_files_look(here, "model.safetensors", &files, &size);
    /* Send `files` to the other process, which calls: */
    if (status == REC_OK)
        status = rec_files_show(there, files, size);
    rec_free(files);
    record =
        rec_load_for(there, "model.safetensors", to, "out.safetensors");
    rec_record_free(record);
    rec_close_recorder(to);
    return record ? status : rec_error_status();
}

/* rec_save_window, rec_save_filled, rec_conversion_loss_text, rec_file,
 * rec_window, rec_filling: write one file with several processes */
static int32_t ignore(void *user, const void *data, uint64_t size)
{
    uint64_t *bytes = user;
    (void)data;
    *bytes += size;
    return 0;
}

static void on_loss(void *user, const rec_conversion_loss *loss)
{
    char text[128];
    (void)user;
    if (rec_conversion_loss_text(loss, text, sizeof text) == REC_OK)
        printf("%s: %s\n", loss->path, text);
}

static rec_status window_example(rec_recorder *to, const rec_record *record)
{
    uint64_t bytes = 0;
    rec_output output = {.size = sizeof output, .write = ignore};
    rec_window window = {.size = sizeof window, .from = 0, .to = 100};
    rec_status status;
    window.lost = on_loss;
    status =
        rec_save_window(to, record, "out.mpk", &window, &output, &bytes);
    printf("%" PRIu64 " of %" PRIu64 " bytes\n", bytes, window.total);
    return status;
}

static int32_t fill(void *user, rec_filling *filling)
{
    FILE *file = fopen(filling->files[0].temporary, "wb");
    (void)user;
    if (!file)
        return errno;
    fputs("bytes of several processes", file);
    return fclose(file) == 0 ? 0 : errno;
}

static rec_status filled_example(rec_recorder *to)
{
    rec_file file = {.size = 26};
    rec_filling filling = {.size = sizeof filling, .files = &file};
    filling.count = 1;
    return rec_save_filled(to, "filled.mpk", &filling, fill, NULL);
}

/* --------------------------------------------------------------------------------------------------------
 * plans -- */

/* rec_plan_new, rec_plan_add, rec_plan_add_from, rec_plan_add_record,
 * rec_plan_free: make plans of conversions */
static rec_plan *plan_example(rec_recorder *from, const rec_record *more)
{
    rec_plan *plan = rec_plan_new(NULL, NULL);
    rec_status status = rec_plan_add(plan, from, "model.safetensors");
    if (status == REC_OK)
        status = rec_plan_add_record(plan, NULL, more, "more");
    if (status == REC_OK)
        return plan;
    rec_plan_free(plan);
    return NULL;
}

/* rec_plan_make, rec_plan_set_base, rec_plan_total, rec_plan_load: carry
 * out plans */
static rec_record *carry_out_example(rec_plan *plan)
{
    rec_plan_totals totals = {.size = sizeof totals};
    if (rec_plan_make(plan) != REC_OK)
        return NULL;
    if (rec_plan_total(plan, &totals) == REC_OK && totals.fatal > 0)
        fprintf(stderr, "%" PRIu64 " problems\n", totals.fatal);
    return rec_plan_load(plan); /* NULL with the first problem */
}

/* rec_plan_count, rec_plan_get, rec_plan_problem_count,
 * rec_plan_problem_get: list plans */
static void list_plan_example(rec_plan *plan)
{
    for (uint64_t i = 0; i < rec_plan_count(plan); i++) {
        const rec_plan_line *line = rec_plan_get(plan, i);
        if (line)
            printf("%s -> %s\n", line->from, line->to);
    }
    for (uint64_t i = 0; i < rec_plan_problem_count(plan); i++) {
        const rec_plan_problem *problem = rec_plan_problem_get(plan, i);
        if (problem)
            printf("%s: %s\n", problem->key, problem->text);
    }
}

/* rec_profile_count, rec_profile_get: list profiles */
static void profiles_example(rec_context *context)
{
    for (uint64_t i = 0; i < rec_profile_count(context); i++) {
        const rec_profile_info *profile = rec_profile_get(context, i);
        printf("%s: %s\n", profile->name, profile->description);
    }
}

/* rec_record_families, rec_families_get, rec_family: recognise a model's
 * family */
static rec_status families_example(const rec_record *record)
{
    uint64_t count;
    rec_families *families = rec_record_families(record, NULL, &count);
    for (uint64_t i = 0; i < count; i++)
        printf("%s\n", rec_families_get(families, i)->name);
    rec_free(families);
    return families ? REC_OK : rec_error_status();
}

/* --------------------------------------------------------------------------------------------------------
 * types -- */

/* rec_types_new, rec_types_add_rust, rec_types_add_file, rec_types_name,
 * rec_types_free: collect definitions of types
 */
static rec_types *types_example(void)
{
    static const char source[] =
        "struct Model<B: Backend> { linear: Linear<B>, epoch: u32 }";
    rec_types *types = rec_types_new(NULL);
    if (rec_types_add_rust(types, source, "model") == REC_OK)
        printf("%s\n", rec_types_name(types, 0)); /* Model */
    return types; /* free it with rec_types_free() */
}

/* rec_recorder_set_type_name, rec_record_describe: set and describe the
 * type of a record */
static rec_status describe_example(const rec_record *record,
                                   rec_types *types)
{
    rec_recorder *bincode = rec_open_recorder("Bin", FULL);
    char *rust = rec_record_describe(record, types, "Model");
    rec_status status = rust ? REC_OK : rec_error_status();
    if (status == REC_OK)
        status = rec_recorder_set_type_name(bincode, types, "Model<B>");
    if (rust)
        printf("%s", rust);
    rec_free(rust);
    rec_close_recorder(bincode);
    return status;
}

/* ------------------------------------------------------------------------------------------------------
 * plugins -- */

/* rec_plugin_count, rec_plugin_get, rec_plugin_find, rec_plugin_for_path:
 * list and find plugins */
static rec_status plugins_example(rec_context *context)
{
    const rec_plugin_info *found = rec_plugin_for_path(context, "m.mpk.gz");
    for (uint64_t i = 0; i < rec_plugin_count(context); i++) {
        const rec_plugin_info *plugin = rec_plugin_get(context, i);
        if (plugin->usable)
            printf("%s (.%s)\n", plugin->name, plugin->extension);
    }
    if (!found || !rec_plugin_find(context, "Safetensors"))
        return rec_error_status();
    return REC_OK;
}

/* rec_context_set_plugins, rec_context_set_sources, rec_context_set_data,
 * rec_context_add_plugin_path: set where plugins and data are found */
static rec_status restrict_example(void)
{
    rec_context *context = rec_context_new(NULL);
    rec_status status = rec_context_set_sources(context, 0); /* no URLs */
    if (status == REC_OK)
        status = rec_context_set_plugins(context, REC_PLUGINS_INSTALLED);
    if (status == REC_OK)
        status = rec_context_add_plugin_path(context, "/opt/app/plugins");
    if (status == REC_OK)
        status = rec_context_set_data(context, "/opt/app/share");
    rec_context_free(context);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------
 * main -- */

static void files(rec_record *record)
{
    rec_recorder *recorder = rec_open_recorder("Safetensors", FULL);
    rec_recorder *mpk = rec_open_recorder("NamedMpk", FULL);
    FILE *file = tmpfile();
    rec_record *again;
    assert(file);
    expect("save_to", save_file(mpk, record, file));
    rewind(file);
    again = load_file(mpk, file);
    expect("load_from", again ? REC_OK : rec_error_status());
    fclose(file);
    rec_record_free(again);
    expect("save", rec_save(recorder, record, "model.safetensors"));
    expect("look", look_example(recorder, recorder));
    expect("window", window_example(mpk, record));
    expect("filled", filled_example(mpk));
    rec_close_recorder(mpk);
    rec_close_recorder(recorder);
}

static void plans(void)
{
    rec_recorder *from = rec_open_recorder("Auto", REC_PRECISION_KEEP);
    rec_record *more = rec_record_new(NULL), *record;
    static const float bias[2] = {1, 2};
    static const uint64_t shape[1] = {2};
    rec_plan *plan;
    assert(rec_set_f32(more, "norm.bias", bias, 1, shape) == REC_OK);
    plan = plan_example(from, more);
    record = plan ? carry_out_example(plan) : NULL;
    expect("plan", record ? REC_OK : rec_error_status());
    if (plan)
        list_plan_example(plan);
    rec_record_free(record);
    rec_plan_free(plan);
    rec_record_free(more);
    rec_close_recorder(from);
}

static void typed(const rec_record *record)
{
    rec_types *types = types_example();
    expect("types", types ? REC_OK : rec_error_status());
    expect("describe", describe_example(record, types));
    rec_types_free(types);
}

static void values(void)
{
    static const char json[] =
        "{\"metadata\":{\"float\":\"f32\",\"int\":\"i32\",\"format\":\"\","
        "\"version\":\"0.21.0\",\"settings\":\"\"},"
        "\"item\":{\"epoch\":3,\"losses\":[0.5,0.25]}}";
    rec_recorder *recorder = rec_open_recorder("PrettyJson", FULL);
    rec_record *record = rec_load_bytes(recorder, json, sizeof json - 1);
    expect("get", get_example(rec_root(record)));
    rec_record_free(record);
    rec_close_recorder(recorder);
}

int main(void)
{
    rec_context *context = rec_context_new(NULL);
    rec_record *record = model();
    expect("bind", bind_example(record));
    expect("bind_part", bind_part_example(record));
    values();
    expect("table", table_example(record));
    expect("id", id_example(rec_tensor_at(record, "linear.weight")));
    expect("keep_error", keep_error_example());
    expect("guard", guard_example(record));
    display_example();
    files(record);
    plans();
    profiles_example(context);
    expect("families", families_example(record));
    typed(record);
    expect("plugins", plugins_example(context));
    expect("restrict", restrict_example());
    expect("set_tensors", set_tensors_example(record));
    rec_record_free(record);
    rec_context_free(context);
    return failures > 0;
}
