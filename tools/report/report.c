/* SPDX-License-Identifier: MIT OR Apache-2.0
 * record report: options and output. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/report/report_private.h"

const tool_option tool_report_options[] = {
    {"output", "OUT", 'o', "the page (default: standard output)"},
    {"include", "GLOB", 0, "of a directory only matching files (repeatable)"},
    {0},
};

static void say(session *s, const gathered *g, const char *path, uint64_t size, const notes *n)
{
    FILE *out = strcmp(path, "-") == 0 ? stderr : stdout;
    char number[NUMBER_ROOM];
    text line = {0};
    json j;

    if (s->o->json) {
        tool_json_begin(&j, out, 2);
        tool_json_object(&j, NULL);
        tool_json_string(&j, "out", path);
        tool_json_uint(&j, "size", size);
        tool_json_array(&j, "records");
        for (size_t i = 0; i < g->inputs->count; i++) {
            const record_facts *f = &g->records[i];
            tool_json_object(&j, NULL);
            tool_json_string(&j, "file", g->inputs->at[i].path);
            tool_json_string(&j, "recorder", f->recorder);
            tool_json_uint(&j, "tensors", f->tensors);
            tool_json_uint(&j, "parameters", f->parameters);
            tool_json_uint(&j, "nbytes", f->nbytes);
            tool_json_uint(&j, "not_finite", f->odd);
            tool_json_float(&j, "norm", f->norm, REC_DTYPE_F64);
            tool_json_close(&j, '}');
        }
        tool_json_close(&j, ']');
        tool_json_uint(&j, "tensors", g->row_count);
        tool_json_notes(&j, "notes", n);
        tool_json_finish(&j);
    } else if (!s->o->quiet) {
        tool_text_safe(&line, path, strlen(path));
        tool_text_format(&line, ": %s tensor%s", tool_grouped(g->row_count, number), tool_plural(g->row_count));
        tool_text_format(&line, " of %s record%s", tool_grouped(g->inputs->count, number),
                         tool_plural(g->inputs->count));
        fprintf(out, "%s, %s\n", line.at, tool_sized(size, number));
        tool_text_free(&line);
    }
}

/* A slip of the keyboard should not cost a model. */
static int check_output(const char *path, const inputs *list)
{
    struct stat out, in;

    for (size_t i = 0; i < list->count; i++) {
        if (stat(path, &out) == 0 && stat(list->at[i].path, &in) == 0 && out.st_dev == in.st_dev &&
            out.st_ino == in.st_ino) {
            return tool_fail("%s: this is one of the records: the page would replace it", path);
        }
    }
    return EXIT_OK;
}

static int write_page(session *s, const gathered *g, const char *path, const notes *n)
{
    target t = {0};
    long size;
    int status = tool_target_open(&t, path);

    if (status == EXIT_OK && (status = tool_report_page(g, t.stream)) == EXIT_OK) {
        size = ftell(t.stream);
        if ((status = tool_target_close(&t)) == EXIT_OK && (status = tool_target_commit(&t)) == EXIT_OK) {
            say(s, g, path, size < 0 ? 0 : (uint64_t)size, n);
        }
    }
    tool_target_drop(&t);
    return status;
}

int tool_run_report(session *s, const char *const *operands, size_t count)
{
    const char *path = tool_own(s->o, "output");
    inputs list = {0};
    gathered g = {0};
    notes n = {0};
    int status;

    if (!path && (tool_output_is_terminal() || s->o->json)) {
        return tool_fail_usage("report", "--output is needed: the name of the page, report.html");
    }
    s->inputs = count;
    tool_session_streams(s);
    if ((status = tool_report_inputs(s, operands, count, &list, &n)) == EXIT_OK &&
        (status = check_output(path ? path : "-", &list)) == EXIT_OK) {
        tool_progress_begin(s->context, s->o->quiet);
        status = tool_report_gather(s, &list, &g, &n);
        tool_progress_end();
    }
    if (status == EXIT_OK) {
        tool_files_guard();
        status = write_page(s, &g, path ? path : "-", &n);
    }
    tool_notes_print(&n, s->o->quiet);
    tool_report_gathered_free(&g);
    tool_report_inputs_free(&list);
    tool_notes_free(&n);
    return status;
}
