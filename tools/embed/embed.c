/* SPDX-License-Identifier: MIT OR Apache-2.0
 * record embed: a record inside a program, as bytes for the library or as C structs that need none. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/file.h"
#include "tools/embed/embed_private.h"

/* ----------------------------------------------------------------------------------------------------- options -- */

const tool_option tool_embed_options[] = {
    {"output", "OUT", 'o', "NAME.h or NAME.c: C header and source;\nNAME.o: header and object file, by $CC, $AS or cc"},
    {"name", "NAME", 0, "the prefix of symbols (default: the name of OUT)"},
    {"as", "SYMBOL", 0, "the symbol itself (default: NAME_record, NAME)"},
    {"structs", NULL, 0, "write a header with static const structs"},
    {0},
};

/* ------------------------------------------------------------------------------------------------------- plans -- */

enum { FORM_C, FORM_OBJECT, FORM_STRUCTS };

/* What to generate. */
typedef struct plan {
    int form;
    bool converts;
    char *header, *body; /* the files; body is NULL for structs */
    char *symbol;        /* of the array or the constant */
} plan;

static void free_plan(plan *p)
{
    free(p->header);
    free(p->body);
    free(p->symbol);
}

/* The name that symbols begin with: the one that was given, or that of the file up to its extension. */
static char *stem_of(const char *output, const char *name)
{
    const char *base = tool_base_name(output);
    char *stem = name ? xstrdup(name) : xasprintf("%.*s", (int)strcspn(base, "."), base);

    if (tool_c_name_valid(stem)) {
        return stem;
    }
    if (name) {
        (void)tool_fail_usage("embed", "--name: expected an identifier of C and C++, found \"%s\"", stem);
    } else {
        (void)tool_fail_usage(
            "embed", "\"%s\" is not an identifier of C and C++ that symbols could begin with: give --name NAME", stem);
    }
    free(stem);
    return NULL;
}

/* Options that say how to convert mean nothing where nothing is converted. */
static int check_options(const options *o, const plan *p)
{
    const char *load = tool_given_reading(o, READING_LOAD);
    const struct {
        const char *name;
        bool given, writes;
    } rules[] = {
        {load ? load : "", load, false},
        {"to", o->to, true},
        {"burn", o->burn, true},
        {"self-describing", o->self_describing, true},
        {"option", o->to_options.count, true},
        {"from-option", tool_given_reading(o, READING_OPTION), false},
        {"type", o->type.count, false},
        {"types", o->types.count, false},
        {"type-of", o->type_of, false},
        {"positional", o->positional, false},
        {"clamp", o->clamp, false},
        {"no-map", o->no_map, false},
    };

    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (rules[i].given && rules[i].writes && p->form == FORM_STRUCTS) {
            return tool_fail_usage("embed", "--%s does not go with --structs: they have no format", rules[i].name);
        }
        if (rules[i].given && p->form != FORM_STRUCTS && !p->converts) {
            return tool_fail_usage("embed", "--%s needs --to or --precision: without them the bytes are copied",
                                   rules[i].name);
        }
    }
    return EXIT_OK;
}

static int make_plan(plan *p, const options *o)
{
    const char *output = tool_own(o, "output"), *as = tool_own(o, "as");
    bool structs = tool_own(o, "structs") != NULL;
    size_t length = output ? strlen(output) : 0;
    char last = length > 2 && output[length - 2] == '.' ? output[length - 1] : '\0';
    char *stem = NULL;

    if (!output) {
        return tool_fail_usage("embed", "--output is needed: a name that ends in .h, .c or .o");
    }
    p->form = structs ? FORM_STRUCTS : last == 'o' ? FORM_OBJECT : FORM_C;
    p->converts = o->to || o->burn || o->self_describing || o->precision != REC_PRECISION_KEEP;
    if (structs && last != 'h' && strcmp(output, "-") != 0) {
        return tool_fail_usage(
            "embed", "--output: structs are a header, so expected a name that ends in .h, found \"%s\"", output);
    }
    if (!structs && last != 'h' && last != 'c' && last != 'o') {
        return tool_fail_usage("embed", "--output: expected a name that ends in .h, .c or .o, found \"%s\"", output);
    }
    if (check_options(o, p) != EXIT_OK || (!as && !(stem = stem_of(output, tool_own(o, "name"))))) {
        return EXIT_ERROR;
    }
    p->symbol = as ? xstrdup(as) : structs ? xstrdup(stem) : xasprintf("%s_record", stem);
    free(stem);
    if (!tool_c_name_valid(p->symbol)) {
        return tool_fail_usage("embed", "--as: expected an identifier of C and C++, found \"%s\"", p->symbol);
    }
    p->header = xstrdup(output);
    if (structs) {
        return EXIT_OK;
    }
    p->header[length - 1] = 'h';
    p->body = xstrdup(output);
    p->body[length - 1] = last == 'o' ? 'o' : 'c';
    return EXIT_OK;
}

/* ----------------------------------------------------------------------------------------------------- payload -- */

/* Copies standard input, which can be read only once. */
static int copy_input(int to, const char *path)
{
    char bytes[1 << 16];
    uint64_t done = 0;
    ssize_t count;
    int error = 0;

    while (!error && (count = read(STDIN_FILENO, bytes, sizeof bytes)) != 0) {
        if (count < 0) {
            return tool_fail("standard input: cannot be read: %s", strerror(errno));
        }
        error = lr_file_write_at(to, bytes, (uint64_t)count, done);
        done += (uint64_t)count;
    }
    return error ? tool_fail("%s: cannot be written: %s", path, strerror(error)) : EXIT_OK;
}

/* Loads the record and saves it at `to`, tensor by tensor. @param recorder (out) that read it; static or from argv. */
static int convert_input(session *s, const char *in, int to, char **recorder)
{
    rec_recorder *from = NULL, *into = NULL;
    rec_record *record = NULL;
    notes n = {0};
    int status = EXIT_ERROR;

    tool_progress_begin(s->context, s->o->quiet);
    if (!(from = tool_session_input(s, 1)) || !(record = tool_session_load(from, in))) {
        goto done;
    }
    tool_notes_take(&n);
    tool_notes_print(&n, s->o->quiet);
    tool_notes_free(&n);
    into = tool_session_output(s, s->o->to ? s->o->to : rec_record_origin(record)->recorder);
    if (!into) {
        goto done;
    }
    if (rec_save_fd(into, record, to, "the embedded record") != REC_OK) {
        (void)tool_fail_library();
        goto done;
    }
    tool_notes_take(&n);
    tool_notes_print(&n, s->o->quiet);
    tool_notes_free(&n);
    *recorder = xstrdup(rec_recorder_name(into));
    status = EXIT_OK;

done:
    tool_progress_end();
    tool_files_guard();
    rec_record_free(record);
    rec_close_recorder(from);
    rec_close_recorder(into);
    return status;
}

/* Puts the payload into the temporary directory: a link to the file if it is embedded unchanged. */
static int prepare(session *s, const plan *p, const char *in, const workshop *w, payload *out, char **recorder)
{
    struct stat file;
    char *real = NULL;
    int status = EXIT_ERROR, to = -1;

    if (p->converts || strcmp(in, "-") == 0) {
        to = open(w->payload, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (to < 0) {
            status = tool_fail("%s: cannot be written: %s", w->payload, strerror(errno));
            goto done;
        }
        status = p->converts ? convert_input(s, in, to, recorder) : copy_input(to, w->payload);
        if (close(to) != 0 && status == EXIT_OK) {
            status = tool_fail("%s: cannot be written: %s", w->payload, strerror(errno));
        }
    } else if (!(real = realpath(in, NULL)) || symlink(real, w->payload) != 0) {
        status = tool_fail("%s: cannot be read: %s", in, strerror(errno));
    } else {
        status = EXIT_OK;
    }
    if (status != EXIT_OK) {
        goto done;
    }
    status = EXIT_ERROR;
    if (stat(w->payload, &file) != 0) {
        status = tool_fail("%s: cannot be read: %s", tool_input_name(in), strerror(errno));
        goto done;
    }
    if (!S_ISREG(file.st_mode) || file.st_size == 0) {
        status = tool_fail("%s: expected a file with a record in it, found %s", tool_input_name(in),
                           S_ISREG(file.st_mode) ? "an empty one" : "something else");
        goto done;
    }
    if (!*recorder) {
        const char *from = tool_session_from(s, 1);
        const char *name = from ? from : rec_recognise(s->context, real ? real : w->payload);
        if (!name) {
            status = tool_fail_library();
            goto done;
        }
        *recorder = xstrdup(name);
    }
    *out = (payload){w->payload, *recorder, (uint64_t)file.st_size};
    status = EXIT_OK;

done:
    free(real);
    return status;
}

/* ----------------------------------------------------------------------------------------------------- reports -- */

static void report_json(const plan *p, const char *in, const char *recorder, const payload *bytes, FILE *out)
{
    json j;

    tool_json_open(&j, out, 1);
    tool_json_string(&j, "in", in);
    tool_json_array(&j, "out");
    tool_json_string(&j, NULL, p->header);
    if (p->body) {
        tool_json_string(&j, NULL, p->body);
    }
    tool_json_close(&j, ']');
    tool_json_string(&j, "symbol", p->symbol);
    tool_json_string(&j, "recorder", recorder);
    if (bytes) {
        tool_json_uint(&j, "size", bytes->size);
        tool_json_uint(&j, "alignment", EMBED_ALIGNMENT);
    }
    tool_json_finish(&j);
}

static void report(const session *s, const plan *p, const char *in, const char *recorder, const payload *bytes)
{
    FILE *out = strcmp(p->header, "-") == 0 ? stderr : stdout;
    const char *name = tool_input_name(in);
    char number[NUMBER_ROOM];
    text line = {0};

    if (s->o->json) {
        report_json(p, in, recorder, bytes, out);
        return;
    }
    if (s->o->quiet) {
        return;
    }
    tool_text_safe(&line, name, strlen(name));
    tool_text_put(&line, " -> ");
    tool_text_safe(&line, p->header, strlen(p->header));
    if (p->body) {
        tool_text_put(&line, ", ");
        tool_text_safe(&line, p->body, strlen(p->body));
        tool_text_format(&line, ": %s, %s byte%s for %s", p->symbol, tool_grouped(bytes->size, number),
                         tool_plural(bytes->size), recorder);
    } else {
        tool_text_format(&line, ": the constant %s", p->symbol);
    }
    fprintf(out, "%s\n", line.at);
    tool_text_free(&line);
}

/* ------------------------------------------------------------------------------------------------------- forms -- */

static int embed_as_bytes(session *s, const plan *p, const char *in)
{
    workshop w = {0};
    target header = {0}, body = {0};
    payload bytes = {0};
    char *recorder = NULL;
    int status;

    if ((status = tool_workshop_open(&w)) != EXIT_OK ||
        (status = prepare(s, p, in, &w, &bytes, &recorder)) != EXIT_OK ||
        (status = tool_target_open(&header, p->header)) != EXIT_OK ||
        (status = tool_target_open(&body, p->body)) != EXIT_OK) {
        goto done;
    }
    tool_embed_header(header.stream, p->symbol, &bytes);
    status = p->form == FORM_OBJECT ? tool_embed_object(body.temporary, p->symbol, &w)
                                    : tool_embed_source(body.stream, p->symbol, &bytes);
    if (status == EXIT_OK && (status = tool_target_close(&header)) == EXIT_OK &&
        (status = tool_target_close(&body)) == EXIT_OK && (status = tool_target_commit(&header)) == EXIT_OK &&
        (status = tool_target_commit(&body)) == EXIT_OK) {
        report(s, p, in, recorder, &bytes);
    }

done:
    tool_target_drop(&header);
    tool_target_drop(&body);
    tool_workshop_close(&w);
    free(recorder);
    return status;
}

static int embed_as_structs(session *s, const plan *p, const char *in)
{
    rec_recorder *from = tool_session_input(s, 1);
    rec_record *record = NULL;
    target header = {0};
    notes n = {0};
    int status = EXIT_ERROR;

    if (from) {
        tool_progress_begin(s->context, s->o->quiet);
        record = tool_session_load(from, in);
        tool_progress_end();
    }
    if (!record) {
        goto done;
    }
    tool_notes_take(&n);
    if ((status = tool_target_open(&header, p->header)) == EXIT_OK &&
        (status = tool_embed_structs(header.stream, p->symbol, record)) == EXIT_OK &&
        (status = tool_target_close(&header)) == EXIT_OK && (status = tool_target_commit(&header)) == EXIT_OK) {
        report(s, p, in, rec_record_origin(record)->recorder, NULL);
    }
    tool_notes_print(&n, s->o->quiet);

done:
    tool_target_drop(&header);
    tool_notes_free(&n);
    rec_record_free(record);
    rec_close_recorder(from);
    return status;
}

int tool_run_embed(session *s, const char *const *operands, size_t count)
{
    plan p = {0};
    int status = make_plan(&p, s->o);

    (void)count;
    if (status == EXIT_OK) {
        tool_files_guard();
        status = p.form == FORM_STRUCTS ? embed_as_structs(s, &p, operands[0]) : embed_as_bytes(s, &p, operands[0]);
    }
    free_plan(&p);
    return status;
}
