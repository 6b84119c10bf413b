/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Types on the command line: --type, --types, --type-of; files without names; record types. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/tool.h"

/* ------------------------------------------------------------------------------------------------- the type given -- */

/* What a type read from another record is called. */
#define TYPE_OF "Model"

static int make_types(session *s)
{
    if (!s->types) {
        s->types = rec_types_new(s->context);
        if (!s->types) {
            return fail_library();
        }
        for (size_t i = 0; i < s->o->types.count; i++) {
            if (rec_types_add_file(s->types, s->o->types.at[i]) != REC_OK) {
                return fail_library();
            }
        }
    }
    return EXIT_OK;
}

/* The colon in `model.rs:Model`, NULL in `nn::Linear<B>`. */
static const char *colon_of(const char *type)
{
    for (const char *at = strchr(type, ':'); at; at = strchr(at + 1, ':')) {
        size_t before = (size_t)(at - type);
        bool file = (before > 3 && memcmp(at - 3, ".rs", 3) == 0) || (before > 4 && memcmp(at - 4, ".ini", 4) == 0);
        if (file && at[1] != ':') {
            return at;
        }
        at += at[1] == ':';
    }
    return NULL;
}

const char *session_add_type(session *s, const char *type)
{
    const char *colon = colon_of(type);
    char *file;
    rec_status status;

    if (make_types(s) != EXIT_OK) {
        return NULL;
    }
    if (!colon) {
        return type;
    }
    if (!colon[1]) {
        (void)fail("--type %s: the name of a type is needed behind the colon", type);
        return NULL;
    }
    file = print("%.*s", (int)(colon - type), type);
    status = rec_types_add_file(s->types, file);
    free(file);
    if (status != REC_OK) {
        (void)fail_library();
        return NULL;
    }
    return colon + 1;
}

/* The type of another record of the same model. */
static int add_type_of(session *s)
{
    rec_recorder *recorder = rec_open_recorder_in(s->context, "Auto", REC_PRECISION_KEEP);
    rec_record *record = NULL;
    const char *name;
    char *source = NULL;
    int status = EXIT_ERROR;

    if (!recorder || make_types(s) != EXIT_OK) {
        status = recorder ? EXIT_ERROR : fail_library();
        goto done;
    }
    record = rec_load(recorder, s->o->type_of);
    if (!record) {
        if (lacks_type(s, s->o->type_of, &name)) {
            (void)fail("--type-of %s: this one has no names either\nA record in MessagePack or JSON is needed.",
                       s->o->type_of);
        } else {
            (void)fail_library();
        }
        goto done;
    }
    source = rec_record_describe(record, s->types, TYPE_OF);
    if (!source || rec_types_add_rust(s->types, source, s->o->type_of) != REC_OK) {
        (void)fail_library();
        goto done;
    }
    s->type = copy(TYPE_OF);
    status = EXIT_OK;

done:
    rec_free(source);
    rec_record_free(record);
    rec_close_recorder(recorder);
    return status;
}

int session_type(session *s)
{
    const options *o = s->o;
    const char *expression;

    if (s->type || o->recursive) {
        return EXIT_OK;
    }
    if (o->type.count > 1) {
        return fail("--type may be given once; several are for convert --recursive");
    }
    if (o->type.count && o->type_of) {
        return fail("--type and --type-of exclude each other");
    }
    if (o->types.count && !o->type.count && !o->type_of) {
        return fail("--types only defines types: say with --type which of them the record has");
    }
    if (o->type_of) {
        return add_type_of(s);
    }
    if (o->type.count) {
        expression = session_add_type(s, o->type.at[0]);
        if (!expression) {
            return EXIT_ERROR;
        }
        s->type = copy(expression);
    }
    return EXIT_OK;
}

int session_set_type(session *s, rec_recorder *recorder)
{
    int status = session_type(s);

    if (status == EXIT_OK && s->type && rec_recorder_set_type_name(recorder, s->types, s->type) != REC_OK) {
        status = fail_library();
    }
    return status;
}

int session_set_shown_type(session *s, const rec_record *record, rec_recorder *recorder)
{
    char *source;
    int status = EXIT_OK;

    if (make_types(s) != EXIT_OK) {
        return EXIT_ERROR;
    }
    source = rec_record_describe(record, s->types, TYPE_OF);
    if (source && (rec_types_add_rust(s->types, source, "the record's own type") != REC_OK ||
                   rec_recorder_set_type_name(recorder, s->types, TYPE_OF) != REC_OK)) {
        status = fail_library();
    }
    rec_free(source);
    return status;
}

/* -------------------------------------------------------------------------------------------- files without names -- */

bool needs_type(const session *s, const char *recorder)
{
    for (uint64_t i = 0; i < rec_plugin_count(s->context); i++) {
        const rec_plugin_info *p = rec_plugin_get(s->context, i);
        if (p->usable && strcmp(p->name, recorder) == 0) {
            return strstr(p->options, "positional (") != NULL;
        }
    }
    return false;
}

bool lacks_type(const session *s, const char *path, const char **recorder)
{
    rec_status status = rec_error_status();

    /* Looking would overwrite the error, which counts if this is not it. */
    if (s->type || s->o->positional || status != REC_E_UNSUPPORTED || !strstr(rec_error_message(), "type")) {
        return false;
    }
    *recorder = rec_recognise(s->context, path);
    return *recorder && needs_type(s, *recorder);
}

/* Loads by position. @return NULL without a word if that fails. */
static rec_record *load_positions(session *s, const char *path, const char *recorder)
{
    rec_recorder *reader = session_reader(s, recorder);
    rec_record *record = NULL;

    if (reader && rec_recorder_set(reader, "positional", "yes") == REC_OK) {
        record = rec_load(reader, path);
    }
    rec_close_recorder(reader);
    return record;
}

int fail_no_type(session *s, const char *path, const char *recorder)
{
    rec_record *record = load_positions(s, path, recorder);
    uint64_t found = record ? rec_value_count(rec_root(record)) : 0;
    char number[NUMBER_ROOM];
    char *line = found ? print("\n%s parameter%s found by %s:   record ls %s", grouped(found, number),
                               found == 1 ? " was" : "s were", found == 1 ? "its id" : "their ids", path)
                       : copy("");

    (void)fail("%s: a %s record carries no names: its type is needed%s\n"
               "give the model's Rust source:          --type model.rs:Model\n"
               "or a record of the same model:         --type-of model.mpk\n"
               "or one of Burn's own types by name:    --type Linear\n"
               "or take parameters by their position:  --positional",
               path, recorder, line);
    free(line);
    rec_record_free(record);
    return EXIT_ERROR;
}

void print_positions(const rec_record *record, const char *path)
{
    const rec_value *root = rec_root(record);
    const char *version = rec_metadata(record, "version");
    uint64_t count = rec_value_count(root), elements = 0;
    char number[NUMBER_ROOM];
    text cell = {0};
    table t;

    text_safe(&cell, path, strlen(path));
    text_format(&cell, " carries no names (%s record", rec_record_origin(record)->recorder);
    if (version) {
        text_put(&cell, ", Burn ");
        text_safe(&cell, version, strlen(version));
    }
    printf("%s). Parameters by position:\n", cell.at);
    text_free(&cell);
    table_begin(&t, "rlllr");
    t.header = true;
    t.shrink = 5;
    for (const char *const *name = (const char *const[]){"#", "ID", "DTYPE", "SHAPE", "OFFSET", NULL}; *name; name++) {
        table_cell(&t, *name);
    }
    for (uint64_t i = 0; i < count; i++) {
        const rec_tensor *tensor = rec_value_tensor(rec_value_item(root, i));
        uint64_t offset = rec_tensor_offset(tensor);
        const char *id = rec_tensor_id(tensor);
        table_cell(&t, rec_value_key(root, i).text);
        table_cell(&t, id ? id : "");
        table_cell(&t, rec_tensor_dtype_name(tensor));
        text_shape(&cell, rec_tensor_shape(tensor), rec_tensor_rank(tensor));
        table_cell(&t, cell.at);
        text_free(&cell);
        table_cell(&t, offset == REC_UNKNOWN ? "-" : grouped(offset, number));
        elements += rec_tensor_count(tensor);
    }
    table_print(&t, stdout);
    printf("%s parameter%s found by %s, ", grouped(count, number), count == 1 ? "" : "s",
           count == 1 ? "its id" : "their ids");
    printf("%s element%s.", grouped(elements, number), plural(elements));
    puts(" What else is in it is not known.\n"
         "For names give its type: --type model.rs:Model, --type-of RECORD, or --type Linear and its like.");
}

/* -------------------------------------------------------------------------------------------------- record types -- */

static bool is_bool(const rec_tensor *tensor)
{
    return strncmp(rec_dtype_name(rec_tensor_dtype(tensor)), "bool", 4) == 0;
}

static bool is_float(const rec_tensor *tensor)
{
    const char *name = rec_dtype_name(rec_tensor_dtype(tensor));

    return name[0] != 'i' && name[0] != 'u' && !is_bool(tensor);
}

/* How many of the parameters from `first` on look like one of Burn's modules. @param module (out) its name. */
static uint64_t guess(const rec_value *root, uint64_t first, const char **module)
{
    uint64_t count = rec_value_count(root), same = 0;
    const rec_tensor *tensor = rec_value_tensor(rec_value_item(root, first));
    const uint64_t *shape = rec_tensor_shape(tensor);
    const rec_tensor *next = first + 1 < count ? rec_value_tensor(rec_value_item(root, first + 1)) : NULL;
    bool vector = next && rec_tensor_rank(next) == 1;

    *module = NULL;
    if (!is_float(tensor)) {
        return 1;
    }
    vector = vector && is_float(next);
    switch (rec_tensor_rank(tensor)) {
    case 1:
        for (uint64_t i = first; i < count; i++, same++) {
            const rec_tensor *other = rec_value_tensor(rec_value_item(root, i));
            if (!is_float(other) || rec_tensor_rank(other) != 1 || rec_tensor_shape(other)[0] != shape[0]) {
                break;
            }
        }
        if (same >= 2) {
            *module = same >= 4 ? "nn::BatchNorm<B>" : "nn::LayerNorm<B>";
            return same >= 4 ? 4 : 2;
        }
        return 1;
    case 2:
        *module = "nn::Linear<B>";
        return vector && rec_tensor_shape(next)[0] == shape[1] ? 2 : 1;
    case 3:
        *module = "nn::conv::Conv1d<B>";
        return vector && rec_tensor_shape(next)[0] == shape[0] ? 2 : 1;
    case 4:
        *module = "nn::conv::Conv2d<B>";
        return vector && rec_tensor_shape(next)[0] == shape[0] ? 2 : 1;
    default:
        return 1;
    }
}

/* A type to be completed: one field for what looks like one module, in order. */
static void skeleton(text *t, const rec_record *record)
{
    const rec_value *root = rec_root(record);
    uint64_t count = rec_value_count(root), field = 0;

    text_put(t, "use burn::module::{Module, Param};\nuse burn::nn;\nuse burn::tensor::{backend::Backend, Bool, Int, "
                "Tensor};\n\n"
                "#[derive(Module, Debug)]\npub struct Model<B: Backend> {\n");
    for (uint64_t i = 0; i < count;) {
        const char *module;
        const rec_tensor *tensor = rec_value_tensor(rec_value_item(root, i));
        uint64_t of = guess(root, i, &module);
        text_format(t, "    field_%" PRIu64 ": ", field++);
        if (module) {
            text_put(t, module);
        } else {
            text_format(t, "Param<Tensor<B, %" PRIu32 "%s>>", rec_tensor_rank(tensor),
                        is_bool(tensor)    ? ", Bool"
                        : is_float(tensor) ? ""
                                           : ", Int");
        }
        text_put(t, ", // assumed:");
        for (uint64_t end = i + of; i < end; i++) {
            tensor = rec_value_tensor(rec_value_item(root, i));
            text_format(t, " %" PRIu64 " ", i);
            text_shape(t, rec_tensor_shape(tensor), rec_tensor_rank(tensor));
        }
        text_put(t, "\n");
    }
    text_put(t, "}\n");
}

static uint64_t count_assumed(const char *source)
{
    uint64_t count = 0;

    for (const char *at = strstr(source, "// assumed:"); at; at = strstr(at + 1, "// assumed:")) {
        count++;
    }
    return count;
}

static void print_type_json(const session *s, const rec_record *record, const char *path, const char *source,
                            bool by_position)
{
    json j;

    json_begin(&j, stdout, 1);
    json_object(&j, NULL);
    json_string(&j, "file", path);
    json_string(&j, "recorder", rec_record_origin(record)->recorder);
    json_string(&j, "burn", rec_metadata(record, "version"));
    json_string(&j, "given", s->type);
    json_bool(&j, "named", !by_position);
    json_uint(&j, "assumed", count_assumed(source));
    json_string(&j, "source", source);
    json_close(&j, '}');
    json_end(&j);
}

static int print_type(session *s, const rec_record *record, const char *path, bool by_position)
{
    text shape = {0};
    char *source = NULL;

    if (by_position) {
        skeleton(&shape, record);
    } else if (make_types(s) != EXIT_OK) {
        return EXIT_ERROR;
    } else if (!(source = rec_record_describe(record, s->types, TYPE_OF))) {
        return fail_library();
    }
    if (s->o->json) {
        print_type_json(s, record, path, by_position ? shape.at : source, by_position);
    } else if (by_position) {
        print_positions(record, path);
        printf("\nA type to complete: names, what holds what, and fields without parameters (see record help "
               "types):\n\n%s",
               shape.at);
    } else {
        fputs(source, stdout);
    }
    rec_free(source);
    text_free(&shape);
    return EXIT_OK;
}

/* Whether a record is of the type that was given: read by it, and written by it to nowhere, since a file with names is
 * read whatever the type lacks. */
static int check_type(session *s, const char *path)
{
    rec_recorder *from = session_input(s), *to = NULL;
    rec_record *record = NULL;
    int nowhere = -1, status = EXIT_ERROR;

    if (!from) {
        goto done;
    }
    if (!s->type) {
        (void)fail_usage("types", "--check needs a type: --type or --type-of");
        goto done;
    }
    record = strcmp(path, "-") == 0 ? rec_load_fd(from, STDIN_FILENO, input_name(path)) : rec_load(from, path);
    if (!record) {
        rec_status why = rec_error_status();
        (void)fail_library();
        status = why == REC_E_FORMAT || why == REC_E_MISMATCH || why == REC_E_RANGE ? EXIT_DIFFERS : EXIT_ERROR;
        goto done;
    }
    for (uint64_t i = 0; i < rec_report_count(); i++) {
        const rec_note *note = rec_report_note(i);
        if (note && note->kind == REC_NOTE_TRAILING) {
            (void)fail("%s: the type ends before the record does: %s", input_name(path), note->text);
            status = EXIT_DIFFERS;
            goto done;
        }
    }
    to = rec_open_recorder_in(s->context, rec_record_origin(record)->recorder, REC_PRECISION_KEEP);
    nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (!to || nowhere < 0 || rec_recorder_set(to, "layout", "keep") != REC_OK || session_set_type(s, to) != EXIT_OK) {
        (void)(nowhere < 0 ? fail("cannot open /dev/null") : fail_library());
        goto done;
    }
    if (rec_save_fd(to, record, nowhere, input_name(path)) != REC_OK) {
        rec_status why = rec_error_status();
        (void)fail_library();
        status = why == REC_E_MISMATCH || why == REC_E_RANGE || why == REC_E_UNSUPPORTED ? EXIT_DIFFERS : EXIT_ERROR;
        goto done;
    }
    status = EXIT_OK;
    if (!s->o->quiet) {
        text line = {0};
        text_safe(&line, input_name(path), strlen(input_name(path)));
        printf("%s: of this type\n", line.at);
        text_free(&line);
    }

done:
    if (nowhere >= 0) {
        (void)close(nowhere);
    }
    rec_record_free(record);
    rec_close_recorder(from);
    rec_close_recorder(to);
    return status;
}

int run_types(session *s, const char *const *operands, size_t count)
{
    rec_recorder *recorder = NULL;
    rec_record *record = NULL;
    bool by_position = false;
    notes n = {0};
    int status = EXIT_ERROR;

    (void)count;
    if (s->o->check) {
        return check_type(s, operands[0]);
    }
    recorder = session_input(s);
    record = recorder ? session_load_any(s, recorder, operands[0], &by_position) : NULL;
    if (record) {
        notes_take(&n);
        status = print_type(s, record, operands[0], by_position);
        if (!by_position) {
            notes_print(&n, s);
        }
    }
    notes_free(&n);
    rec_record_free(record);
    rec_close_recorder(recorder);
    return status;
}
