/* SPDX-License-Identifier: MIT OR Apache-2.0
 * record types: the type of a record as Rust source, and what a file without names holds. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/tool.h"
#include "tools/types/types.h"

/* ------------------------------------------------------------------------------------------------ record types -- */

const tool_option tool_types_options[] = {
    {"c", NULL, 0, "as a C header: a struct for rec_bind()"},
    {"name", "NAME", 0, "of the C struct (default: MODEL)"},
    {0},
};

static bool is_float(const rec_tensor *tensor)
{
    return tool_types_kind(tensor) == 'f';
}

/* How many of the parameters from `first` on look like one of Burn's modules. @param module (out) its name. */
static uint64_t guess(const rec_value *root, uint64_t first, const char **module)
{
    static const char *const modules[] = {"nn::Linear<B>", "nn::conv::Conv1d<B>", "nn::conv::Conv2d<B>"};
    uint64_t count = rec_value_count(root), same = 0;
    const rec_tensor *tensor = rec_value_tensor(rec_value_item(root, first));
    const uint64_t *shape = rec_tensor_shape(tensor);
    const rec_tensor *next = first + 1 < count ? rec_value_tensor(rec_value_item(root, first + 1)) : NULL;
    bool vector = next && rec_tensor_rank(next) == 1 && is_float(next);

    *module = NULL;
    if (!is_float(tensor)) {
        return 1;
    }
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
    case 3:
    case 4:
        *module = modules[rec_tensor_rank(tensor) - 2];
        return vector && rec_tensor_shape(next)[0] == shape[rec_tensor_rank(tensor) == 2] ? 2 : 1;
    default:
        return 1;
    }
}

static void skeleton(text *t, const rec_record *record, const char *path);

/* A type that reads the file, or otherwise a draft to complete. */
static int made_up(session *s, text *t, const rec_record *record, const char *path)
{
    text source = {0};
    bool found;
    int status = tool_types_solve(s, &source, record, path, &found);
    uint64_t count = rec_value_count(rec_root(record));

    if (found) {
        tool_text_put(t, "// ");
        tool_text_nameless(t, record, tool_input_name(path));
        tool_text_format(t,
                         ".\n// This type reads all of it, %" PRIu64
                         " parameter%s. Names are invented; // precedes parameters by position,\n// and assumptions "
                         "are marked: other types have the same bytes.\n\n",
                         count, tool_plural(count));
        tool_text_put(t, source.at);
    } else if (status == EXIT_OK) {
        skeleton(t, record, tool_input_name(path));
    }
    tool_text_free(&source);
    return status;
}

/* A type to be completed: one field for what looks like one module, in order. */
static void skeleton(text *t, const rec_record *record, const char *path)
{
    const rec_value *root = rec_root(record);
    uint64_t count = rec_value_count(root), field = 0;

    tool_text_put(t, "// ");
    tool_text_nameless(t, record, path);
    tool_text_put(
        t, "; `record ls` lists its parameters by position.\n"
           "// A type to complete: names, what holds what, and fields without parameters (record help types).\n\n"
           "use burn::module::{Module, Param};\nuse burn::nn;\nuse burn::tensor::{backend::Backend, Bool, Int, "
           "Tensor};\n\n"
           "#[derive(Module, Debug)]\npub struct Model<B: Backend> {\n");
    for (uint64_t i = 0; i < count;) {
        const char *module;
        const rec_tensor *tensor = rec_value_tensor(rec_value_item(root, i));
        uint64_t of = guess(root, i, &module);
        tool_text_format(t, "    field_%" PRIu64 ": ", field++);
        if (module) {
            tool_text_put(t, module);
        } else {
            tool_types_param(t, rec_tensor_rank(tensor), tool_types_kind(tensor));
        }
        tool_text_put(t, ", // assumed:");
        for (uint64_t end = i + of; i < end; i++) {
            tensor = rec_value_tensor(rec_value_item(root, i));
            tool_text_format(t, " %" PRIu64 " ", i);
            tool_text_shape(t, rec_tensor_shape(tensor), rec_tensor_rank(tensor));
        }
        tool_text_put(t, "\n");
    }
    tool_text_put(t, "}\n");
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

    tool_json_open(&j, stdout, 1);
    tool_json_string(&j, "file", path);
    tool_json_string(&j, "recorder", rec_record_origin(record)->recorder);
    tool_json_string(&j, "burn", tool_burn_version(record));
    tool_json_string(&j, "given", s->type);
    tool_json_bool(&j, "named", !by_position);
    tool_json_uint(&j, "assumed", count_assumed(source));
    tool_json_string(&j, "source", source);
    tool_json_finish(&j);
}

static int print_type(session *s, const rec_record *record, const char *path, bool by_position)
{
    const char *name = tool_own(s->o, "name") ? tool_own(s->o, "name") : "MODEL";
    bool as_c = tool_own(s->o, "c") != NULL;
    text made = {0};
    char *source = NULL;
    int status;

    if (as_c && !tool_types_is_name(name, strlen(name))) {
        return tool_fail("--name: expected an identifier of C, found \"%s\"", name);
    }
    if (as_c && by_position) {
        return tool_fail_no_type(s, path, rec_record_origin(record)->recorder);
    }
    status = as_c          ? tool_types_c(&made, record, name, tool_input_name(path))
             : by_position ? made_up(s, &made, record, path)
                           : tool_session_describe(s, record, &source);
    if (status == EXIT_OK && s->o->json) {
        print_type_json(s, record, path, source ? source : made.at, by_position);
    } else if (status == EXIT_OK) {
        fputs(source ? source : made.at, stdout);
    }
    rec_free(source);
    tool_text_free(&made);
    return status;
}

/* Whether a record is of the type that was given: read by it, and written by it to nowhere, since a file with names is
 * read whatever the type lacks. */
static int check_type(session *s, const char *path)
{
    rec_recorder *from = tool_session_input(s, 1), *to = NULL;
    rec_record *record = NULL;
    int nowhere = -1, status = EXIT_ERROR;

    if (!from) {
        goto done;
    }
    if (!s->type) {
        (void)tool_fail_usage("types", "--check needs a type: --type or --type-of");
        goto done;
    }
    tool_progress_begin(s->context, s->o->quiet);
    record = strcmp(path, "-") == 0 ? rec_load_fd(from, STDIN_FILENO, tool_input_name(path)) : tool_load(from, path);
    tool_progress_end();
    if (!record) {
        rec_status why = rec_error_status();
        (void)tool_fail_library();
        status = why == REC_E_FORMAT || why == REC_E_MISMATCH || why == REC_E_RANGE ? EXIT_DIFFERS : EXIT_ERROR;
        goto done;
    }
    for (uint64_t i = 0; i < rec_report_count(); i++) {
        const rec_note *note = rec_report_note(i);
        bool trails = note && note->kind == REC_NOTE_TRAILING;
        if (trails || (note && note->kind == REC_NOTE_ASSUMED && *note->path)) {
            (void)tool_fail(trails ? "%s: the type ends before the record does: %s"
                                   : "%s: the type has %s, which the file lacks",
                            tool_input_name(path), trails ? note->text : note->path);
            status = EXIT_DIFFERS;
            goto done;
        }
    }
    to = rec_open_recorder_in(s->context, rec_record_origin(record)->recorder, REC_PRECISION_KEEP);
    nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (!to || nowhere < 0 || rec_recorder_set(to, "layout", "keep") != REC_OK ||
        tool_session_set_type(s, to) != EXIT_OK) {
        (void)(nowhere < 0 ? tool_fail("cannot open /dev/null") : tool_fail_library());
        goto done;
    }
    /* Not tool_nowhere(): errors of a descriptor name the file. */
    if (rec_save_fd(to, record, nowhere, tool_input_name(path)) != REC_OK) {
        rec_status why = rec_error_status();
        (void)tool_fail_library();
        status = why == REC_E_MISMATCH || why == REC_E_RANGE || why == REC_E_UNSUPPORTED ? EXIT_DIFFERS : EXIT_ERROR;
        goto done;
    }
    status = EXIT_OK;
    if (!s->o->quiet) {
        text line = {0};
        tool_text_safe(&line, tool_input_name(path), strlen(tool_input_name(path)));
        printf("%s: of this type\n", line.at);
        tool_text_free(&line);
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

int tool_run_types(session *s, const char *const *operands, size_t count)
{
    rec_record *record;
    bool by_position = false;
    notes n = {0};
    int status = EXIT_ERROR;

    (void)count;
    if (s->o->check) {
        return check_type(s, operands[0]);
    }
    if (s->o->positional && strcmp(operands[0], "-") == 0 && tool_session_keep_input() != EXIT_OK) {
        return EXIT_ERROR;
    }
    record = tool_session_read(s, tool_session_input(s, 1), operands[0], &by_position);
    if (record && by_position && rec_value_count(rec_root(record)) == 0) {
        (void)tool_fail_no_type(s, operands[0], rec_record_origin(record)->recorder);
    } else if (record) {
        tool_notes_take(&n);
        status = print_type(s, record, operands[0], by_position);
        if (!by_position) {
            tool_notes_print(&n, s->o->quiet);
        }
    }
    tool_notes_free(&n);
    rec_record_free(record);
    return status;
}
