/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Types on the command line: --type, --types, --type-of; and files without names, which need one. */
#include <stdlib.h>
#include <string.h>

#include "tools/session/session.h"

/* What a type read from another record is called. */
#define TYPE_OF "Model"

static int make_types(session *s)
{
    if (!s->types) {
        s->types = rec_types_new(s->context);
        if (!s->types) {
            return tool_fail_library();
        }
        for (size_t i = 0; i < s->o->types.count; i++) {
            if (rec_types_add_file(s->types, s->o->types.at[i]) != REC_OK) {
                return tool_fail_library();
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

const char *tool_session_add_type(session *s, const char *type)
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
        (void)tool_fail("--type %s: a type's name must follow the colon", type);
        return NULL;
    }
    file = xasprintf("%.*s", (int)(colon - type), type);
    status = rec_types_add_file(s->types, file);
    free(file);
    if (status != REC_OK) {
        (void)tool_fail_library();
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
        status = recorder ? EXIT_ERROR : tool_fail_library();
        goto done;
    }
    record = tool_load(recorder, s->o->type_of);
    if (!record) {
        if (tool_lacks_type(s, s->o->type_of, &name)) {
            (void)tool_fail("--type-of %s: this one has no names either\nA record in MessagePack or JSON is needed.",
                            s->o->type_of);
        } else {
            (void)tool_fail_library();
        }
        goto done;
    }
    source = rec_record_describe(record, s->types, TYPE_OF);
    if (!source || rec_types_add_rust(s->types, source, s->o->type_of) != REC_OK) {
        (void)tool_fail_library();
        goto done;
    }
    s->type = xstrdup(TYPE_OF);
    status = EXIT_OK;

done:
    rec_free(source);
    rec_record_free(record);
    rec_close_recorder(recorder);
    return status;
}

int tool_session_type(session *s)
{
    const options *o = s->o;
    const char *expression;

    if (s->type || s->typed_by_file) {
        return EXIT_OK;
    }
    if (o->type.count > 1) {
        return tool_fail("--type may be given once; several are for convert --recursive");
    }
    if (o->type.count && o->type_of) {
        return tool_fail("--type and --type-of exclude each other");
    }
    if (o->types.count && !o->type.count && !o->type_of) {
        return tool_fail("--types only defines types: select one with --type");
    }
    if (o->type_of) {
        return add_type_of(s);
    }
    if (o->type.count) {
        expression = tool_session_add_type(s, o->type.at[0]);
        if (!expression) {
            return EXIT_ERROR;
        }
        s->type = xstrdup(expression);
    }
    return EXIT_OK;
}

int tool_session_set_type(session *s, rec_recorder *recorder)
{
    int status = tool_session_type(s);

    if (status == EXIT_OK && s->type && rec_recorder_set_type_name(recorder, s->types, s->type) != REC_OK) {
        status = tool_fail_library();
    }
    return status;
}

int tool_session_set_shown_type(session *s, const rec_record *record, rec_recorder *recorder)
{
    char *source;
    int status = EXIT_OK;

    if (make_types(s) != EXIT_OK) {
        return EXIT_ERROR;
    }
    source = rec_record_describe(record, s->types, TYPE_OF);
    if (source && (rec_types_add_rust(s->types, source, "the record's own type") != REC_OK ||
                   rec_recorder_set_type_name(recorder, s->types, TYPE_OF) != REC_OK)) {
        status = tool_fail_library();
    }
    rec_free(source);
    return status;
}

int tool_session_describe(session *s, const rec_record *record, char **source)
{
    *source = NULL;
    if (make_types(s) != EXIT_OK) {
        return EXIT_ERROR;
    }
    *source = rec_record_describe(record, s->types, TYPE_OF);
    return *source ? EXIT_OK : tool_fail_library();
}

/* ----------------------------------------------------------------------------------------- files without names -- */

bool tool_needs_type(const session *s, const char *recorder)
{
    const rec_plugin_info *p = tool_session_plugin(s, recorder);

    return p && strstr(p->options, "positional (") != NULL;
}

bool tool_lacks_type(const session *s, const char *path, const char **recorder)
{
    /* Looking would overwrite the error, which counts if this is not it. */
    if (s->type || s->o->positional || rec_error_status() != REC_E_TYPE) {
        return false;
    }
    *recorder = tool_recognise(s->context, path);
    return *recorder && tool_needs_type(s, *recorder);
}

/* Loads by position. @return NULL on failure, without a message. */
static rec_record *load_positions(session *s, const char *path, const char *recorder)
{
    rec_recorder *reader = tool_session_reader(s, 1, recorder);
    rec_record *record = NULL;

    if (reader && rec_recorder_set(reader, "positional", "yes") == REC_OK) {
        record = tool_load(reader, path);
    }
    rec_close_recorder(reader);
    return record;
}

/* The same for one of many files, whose types --type GLOB=TYPE gives. */
static int fail_no_type_of_many(const char *path, const char *recorder, bool positional)
{
    const char *name = tool_base_name(path);

    return tool_fail("%s: a %s record carries no names: give its type, --type '%s=TYPE'\n"
                     "The model's Rust source:             --type '%s=model.rs:Model'\n"
                     "One of Burn's own types by name:     --type '%s=%s'%s",
                     path, recorder, name, name, name, positional ? "Linear" : "Adam",
                     positional ? "\nParameters by their position:        --positional" : "");
}

int tool_fail_no_type(session *s, const char *path, const char *recorder)
{
    rec_record *record = load_positions(s, path, recorder);
    uint64_t found = record ? rec_value_count(rec_root(record)) : 0;
    char number[NUMBER_ROOM];
    char *line;

    if (s->typed_by_file) {
        rec_record_free(record);
        return fail_no_type_of_many(path, recorder, found);
    }
    line = found ? xasprintf("\n%s parameter%s found by %s:   record ls %s", tool_grouped(found, number),
                             found == 1 ? " was" : "s were", found == 1 ? "its id" : "their ids", path)
                 : xstrdup("");

    (void)tool_fail("%s: a %s record carries no names: its type is needed%s\n"
                    "give the model's Rust source:          --type model.rs:Model\n"
                    "or a record of the same model:         --type-of model.mpk\n"
                    "or one of Burn's own types by name:    --type %s%s",
                    path, recorder, line, found ? "Linear" : "Adam",
                    found ? "\nor take parameters by their position:  --positional" : "");
    free(line);
    rec_record_free(record);
    return EXIT_ERROR;
}
