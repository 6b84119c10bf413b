/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What record edit did with a file: for people, and as JSON. */
#include <string.h>

#include "tools/edit/edit_private.h"

static void put_size(text *t, const destination *d, bool dry)
{
    char number[NUMBER_ROOM];

    if (!dry && d->written != REC_UNKNOWN) {
        tool_text_format(t, ", %s", tool_sized(d->written, number));
    }
}

/* Pads to a column. */
static void pad(text *t, size_t to)
{
    size_t width = tool_text_width(t->at);

    tool_text_format(t, "%*s", (int)(width < to ? to - width : 1), "");
}

static void print_steps(const request *r, const job *j, FILE *out)
{
    size_t widest = 0;

    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < r->step_count; i++) {
            const step *todo = &r->steps[i];
            text line = {0};
            tool_text_format(&line, "  %s", todo->what->name);
            for (size_t k = 0; k < todo->count; k++) {
                text word = {0};
                tool_text_safe(&word, todo->operands[k], strlen(todo->operands[k]));
                tool_text_put(&line, " ");
                tool_text_shortened(&line, word.at ? word.at : "", 30, true);
                tool_text_put(&line, todo->operands[k][0] ? "" : "''");
                tool_text_free(&word);
            }
            if (pass == 0) {
                size_t width = tool_text_width(line.at) + 2;
                widest = width > widest && width <= 42 ? width : widest;
            } else if (j->outcomes[i].said.length) {
                pad(&line, widest);
                fprintf(out, "%s%s\n", line.at, j->outcomes[i].said.at);
            }
            tool_text_free(&line);
        }
    }
}

void tool_edit_print(const request *r, const job *j, FILE *out)
{
    char number[NUMBER_ROOM];
    text line = {0};

    tool_text_safe(&line, j->file, strlen(j->file));
    tool_text_put(&line, " -> ");
    if (j->part_count) {
        tool_text_format(&line, "%zu file%s", j->part_count, tool_plural(j->part_count));
    } else {
        const char *name = strcmp(j->to.path, "-") == 0 ? "standard output" : j->to.path;
        tool_text_safe(&line, name, strlen(name));
        tool_text_format(&line, ": %s tensor%s", tool_grouped(j->sums.tensors, number), tool_plural(j->sums.tensors));
        put_size(&line, &j->to, r->dry);
    }
    if (r->dry) {
        tool_text_put(&line, ", not written: --dry-run");
    } else {
        tool_text_format(&line, " in %.2f s%s", j->seconds,
                         j->part_count   ? ""
                         : j->to.checked ? ", checked"
                                         : ", not checked");
    }
    fprintf(out, "%s\n", line.at);
    tool_text_free(&line);
    print_steps(r, j, out);
    for (size_t i = 0; i < j->part_count; i++) {
        tool_text_put(&line, "  ");
        tool_text_safe(&line, j->parts[i].to.path, strlen(j->parts[i].to.path));
        tool_text_format(&line, ": %s tensor%s", tool_grouped(j->parts[i].tensors, number),
                         tool_plural(j->parts[i].tensors));
        put_size(&line, &j->parts[i].to, r->dry);
        fprintf(out, "%s\n", line.at);
        tool_text_free(&line);
    }
}

static void json_destination(json *out, const destination *d, uint64_t tensors, bool dry)
{
    tool_json_string(out, "out", d->path);
    tool_json_string(out, "recorder", rec_recorder_name(d->to));
    tool_json_uint(out, "tensors", tensors);
    tool_json_size(out, "written", dry ? REC_UNKNOWN : d->written);
    tool_json_bool(out, "checked", d->checked);
}

void tool_edit_print_json(json *out, const request *r, const job *j)
{
    char seconds[NUMBER_ROOM];

    (void)snprintf(seconds, sizeof seconds, "%.6f", j->seconds);
    tool_json_object(out, NULL);
    tool_json_string(out, "in", r->is_new ? NULL : j->file);
    json_destination(out, &j->to, j->sums.tensors, r->dry || j->part_count);
    tool_json_string(out, "burn", tool_burn_version(j->w.record));
    tool_json_bool(out, "dry", r->dry);
    tool_json_token(out, "seconds", seconds);
    tool_json_array(out, "operations");
    for (size_t i = 0; i < r->step_count; i++) {
        const step *todo = &r->steps[i];
        const outcome *o = &j->outcomes[i];
        tool_json_object(out, NULL);
        tool_json_string(out, "operation", todo->what->name);
        tool_json_array(out, "operands");
        for (size_t k = 0; k < todo->count; k++) {
            tool_json_text(out, NULL, todo->operands[k], strlen(todo->operands[k]));
        }
        tool_json_close(out, ']');
        tool_json_uint(out, "changed", o->changed);
        tool_json_uint(out, "tensors", o->tensors);
        tool_json_uint(out, "rounded", o->rounded);
        tool_json_uint(out, "infinite", o->overflowed);
        tool_json_uint(out, "zero", o->vanished);
        tool_json_string(out, "said", o->said.at);
        tool_json_close(out, '}');
    }
    tool_json_close(out, ']');
    tool_json_array(out, "parts");
    for (size_t i = 0; i < j->part_count; i++) {
        tool_json_object(out, NULL);
        tool_json_string(out, "part", j->parts[i].name);
        json_destination(out, &j->parts[i].to, j->parts[i].tensors, r->dry);
        tool_json_uint(out, "values", j->parts[i].values);
        tool_json_close(out, '}');
    }
    tool_json_close(out, ']');
    tool_json_array(out, "notes");
    tool_json_note_items(out, &j->w.notes);
    tool_json_note_items(out, &j->to.notes);
    tool_json_close(out, ']');
    tool_json_close(out, '}');
}
