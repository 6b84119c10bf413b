/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The page: what can be read without scripts, then the parts that the build made of page.html, page.css and *.js, and
 * between them the data. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/report/report_private.h"

/* -------------------------------------------------------------------------------------------------------- data -- */

/* Writes a number with the digits of an f32; null for NaN and infinities. */
static void put_figure(json *j, const char *key, double x)
{
    char buffer[NUMBER_ROOM];
    double size = fabs(x);

    if (!isfinite(x)) {
        tool_json_token(j, key, "null");
    } else if (size == 0 || (size > 1e-37 && size < 1e38)) {
        tool_json_token(j, key, tool_float_text((double)(float)x, REC_DTYPE_F32, buffer));
    } else {
        tool_json_token(j, key, tool_float_text(x, REC_DTYPE_F64, buffer));
    }
}

static void put_measured(json *j, const char *key, const measured *m)
{
    const uint64_t counts[] = {m->count, m->zeros, m->nan, m->inf, m->subnormal, m->half_overflow, m->half_underflow};
    const double figures[] = {m->min, m->max, m->mean, m->std, m->norm, m->low, m->high};

    tool_json_array(j, key);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        tool_json_uint(j, NULL, counts[i]);
    }
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        put_figure(j, NULL, figures[i]);
    }
    if (m->count - m->nan - m->inf > 0) {
        tool_json_array(j, NULL);
        for (size_t i = 0; i < MEASURE_BINS; i++) {
            tool_json_uint(j, NULL, m->histogram[i]);
        }
        tool_json_close(j, ']');
    } else {
        tool_json_token(j, NULL, "null");
    }
    tool_json_close(j, ']');
}

static void put_change(json *j, const row *r)
{
    static const char *const states[] = {"same", "changed", "rounded", "dtype", "shape", "renamed", "added", "removed"};
    const diff_found *c = &r->change;

    tool_json_array(j, "c");
    tool_json_string(j, NULL, states[r->state]);
    if (c->known) {
        tool_json_uint(j, NULL, c->differing);
    } else {
        tool_json_token(j, NULL, "null");
    }
    put_figure(j, NULL, c->known ? c->most : NAN);
    if (c->known && c->differing && isfinite(c->most)) {
        tool_json_uint(j, NULL, c->at);
    } else {
        tool_json_token(j, NULL, "null");
    }
    put_figure(j, NULL, c->known ? c->change : NAN);
    put_figure(j, NULL, c->known ? c->cosine : NAN);
    tool_json_close(j, ']');
}

static void put_lines(json *j, const row *r, size_t count)
{
    tool_json_array(j, "l");
    for (size_t quantity = 0; quantity < 4; quantity++) {
        tool_json_array(j, NULL);
        for (size_t i = 0; i < count; i++) {
            const figure *f = &r->figures[i];
            put_figure(j, NULL, quantity == 0 ? f->norm : quantity == 1 ? f->change : quantity == 2 ? f->mean : f->std);
        }
        tool_json_close(j, ']');
    }
    tool_json_close(j, ']');
}

/* Names of element types, each once. */
typedef struct names {
    const char **at; /* room for one more than there are rows */
    size_t count;
    void *tree; /* of the places in `at` */
} names;

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static uint64_t name_index(names *n, const char *name)
{
    const char **kept;

    n->at[n->count] = name;
    kept = tool_known_add(&n->tree, &n->at[n->count], by_text);
    n->count += kept == &n->at[n->count];
    return (uint64_t)(kept - n->at);
}

static const form *form_of(const row *r)
{
    return r->now.dtype ? &r->now : &r->before;
}

static void put_row(json *j, const row *r, names *dtypes, size_t records)
{
    const form *f = form_of(r);
    bool differs = r->before.dtype && (strcmp(r->before.dtype, f->dtype) != 0 || r->before.rank != f->rank ||
                                       memcmp(r->before.shape, f->shape, f->rank * sizeof *f->shape) != 0);

    tool_json_object(j, NULL);
    tool_json_string(j, "k", r->key);
    tool_json_uint(j, "d", name_index(dtypes, f->dtype));
    tool_json_shape(j, "s", f->shape, f->rank);
    tool_json_uint(j, "n", f->nbytes);
    if (r->id) {
        tool_json_string(j, "i", r->id);
    }
    if (r->first) {
        put_measured(j, "a", r->first);
    }
    if (r->last) {
        put_measured(j, "b", r->last);
    }
    if (records > 1) {
        put_change(j, r);
        if (differs || r->was) {
            tool_json_array(j, "o");
            tool_json_string(j, NULL, r->before.dtype);
            tool_json_shape(j, NULL, r->before.shape, r->before.rank);
            tool_json_string(j, NULL, r->was);
            tool_json_close(j, ']');
        }
    }
    if (r->figures && records > 2) {
        put_lines(j, r, records);
    }
    tool_json_close(j, '}');
}

static void put_record(json *j, const input *in, const record_facts *f)
{
    tool_json_object(j, NULL);
    tool_json_string(j, "name", in->name);
    tool_json_string(j, "path", tool_input_name(in->path));
    if (in->numbered) {
        tool_json_uint(j, "step", in->step);
    } else {
        tool_json_string(j, "step", in->name);
    }
    tool_json_string(j, "recorder", f->recorder);
    tool_json_string(j, "writer", f->writer);
    tool_json_string(j, "precision", f->precision);
    if (f->stored == REC_UNKNOWN) {
        tool_json_token(j, "bytes", "null");
    } else {
        tool_json_uint(j, "bytes", f->stored);
    }
    tool_json_uint(j, "tensors", f->tensors);
    tool_json_uint(j, "parameters", f->parameters);
    tool_json_uint(j, "values", f->values);
    tool_json_uint(j, "nan", f->odd);
    put_figure(j, "norm", f->norm);
    put_figure(j, "change", f->change);
    tool_json_array(j, "metadata");
    for (size_t i = 0; i < f->metadata_count; i++) {
        tool_json_array(j, NULL);
        tool_json_string(j, NULL, f->metadata[i].key);
        tool_json_string(j, NULL, f->metadata[i].value);
        tool_json_close(j, ']');
    }
    tool_json_close(j, ']');
    tool_json_close(j, '}');
}

static void put_data(json *j, const gathered *g)
{
    size_t count = g->inputs->count;
    names dtypes = {.at = xmalloc((g->row_count + 1) * sizeof *dtypes.at)};

    tool_json_object(j, NULL);
    tool_json_string(j, "mode", count == 1 ? "one" : count == 2 ? "two" : "series");
    tool_json_array(j, "records");
    for (size_t i = 0; i < count; i++) {
        put_record(j, &g->inputs->at[i], &g->records[i]);
    }
    tool_json_close(j, ']');
    tool_json_array(j, "tensors");
    for (size_t i = 0; i < g->row_count; i++) {
        put_row(j, g->rows[i], &dtypes, count);
    }
    tool_json_close(j, ']');
    tool_json_array(j, "dtypes");
    for (size_t i = 0; i < dtypes.count; i++) {
        tool_json_string(j, NULL, dtypes.at[i]);
    }
    tool_json_close(j, ']');
    tool_json_array(j, "values");
    for (size_t i = 0; i < g->other_count; i++) {
        const other *o = &g->others[i];
        tool_json_array(j, NULL);
        tool_json_string(j, NULL, o->key);
        tool_json_string(j, NULL, o->kind);
        tool_json_string(j, NULL, o->first);
        tool_json_string(j, NULL, o->last);
        tool_json_close(j, ']');
    }
    tool_json_close(j, ']');
    tool_json_uint(j, "left", g->others_left);
    tool_json_close(j, '}');
    tool_known_free(&dtypes.tree, by_text);
    free(dtypes.at);
}

/* Writes the data as JSON that may stand in a script element. */
static int write_data(const gathered *g, FILE *out)
{
    char *bytes = NULL;
    size_t size = 0, plain = 0;
    FILE *memory = open_memstream(&bytes, &size);
    bool written;
    json j;

    if (!memory) {
        return tool_fail("the page: %s", strerror(errno));
    }
    tool_json_begin(&j, memory, 2);
    errno = 0;
    put_data(&j, g);
    written = !ferror(memory) && errno != ENOMEM; /* glibc's stream in memory sets no error where it finds none */
    written = fclose(memory) == 0 && written && bytes;
    /* These stand in strings alone, where they may be written so; an element of a page they could end. */
    for (size_t i = 0; i < size && written; i++) {
        if (bytes[i] == '<' || bytes[i] == '>' || bytes[i] == '&') {
            (void)fwrite(bytes + plain, 1, i - plain, out);
            fprintf(out, "\\u%04x", (unsigned)bytes[i]);
            plain = i + 1;
        }
    }
    if (written) {
        (void)fwrite(bytes + plain, 1, size - plain, out);
    }
    free(bytes);
    return written ? EXIT_OK : tool_fail("the page: out of memory");
}

/* --------------------------------------------------------------------------------------------- without scripts -- */

/* Text of a record: what could steer a terminal or the direction of lines is written by its bytes, as everywhere in
 * this command, and what is markup is not. */
static void put_html(FILE *out, const char *string)
{
    text safe = {0};

    tool_text_safe(&safe, string, strlen(string));
    for (const char *c = safe.at ? safe.at : ""; *c; c++) {
        switch (*c) {
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '&':
            fputs("&amp;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        default:
            putc(*c, out);
        }
    }
    tool_text_free(&safe);
}

static void put_lede(FILE *out, const gathered *g)
{
    const record_facts *f = &g->records[g->inputs->count - 1];
    char number[NUMBER_ROOM];

    fputs("<p class=\"lede\">", out);
    if (g->inputs->count > 2) {
        fprintf(out, "%zu records; the last: ", g->inputs->count);
    } else if (g->inputs->count == 2) {
        fputs("Now: ", out);
    }
    put_html(out, f->recorder);
    if (f->writer) {
        fputs(", written by ", out);
        put_html(out, f->writer);
    }
    fprintf(out, "; %s tensor%s", tool_grouped(f->tensors, number), tool_plural(f->tensors));
    fprintf(out, ", %s parameter%s", tool_grouped(f->parameters, number), tool_plural(f->parameters));
    fprintf(out, ", %s</p>\n", tool_sized(f->nbytes, number));
}

static void put_title(FILE *out, const gathered *g, bool markup)
{
    const inputs *list = g->inputs;

    put_html(out, list->at[0].name);
    if (list->count > 1) {
        fputs(markup ? " <span class=\"to\">&#8594;</span> " : " \xE2\x86\x92 ", out);
        put_html(out, list->at[list->count - 1].name);
    }
}

/* The listing of `record ls`, for browsers that run no scripts. Those that do have to read it too. */
enum { PLAIN_MOST = 1000 };
static void put_plain(FILE *out, const gathered *g)
{
    entry *entries = xmalloc((g->row_count + 1) * sizeof *entries);
    char number[NUMBER_ROOM];
    size_t count = 0;
    fold *folds;

    for (size_t i = 0; i < g->row_count; i++) {
        const form *f = form_of(g->rows[i]);
        entries[i] = (entry){g->rows[i]->key, f->dtype, f->shape, f->rank, f->count};
    }
    folds = tool_folds_make(entries, g->row_count, 100, false, &count, NULL);
    fputs("<section id=\"plain\" class=\"card\">\n<p>All of this page needs scripts, which do not run here. The "
          "tensors:</p>\n<table class=\"plain\"><thead><tr><th>Key</th><th></th><th>Type</th><th>Shape</th>"
          "<th class=\"number\">Parameters</th></tr></thead><tbody>\n",
          out);
    for (size_t i = 0; i < count && i < PLAIN_MOST; i++) {
        const entry *e = &entries[folds[i].first];
        text shape = {0};
        tool_text_shape(&shape, e->shape, e->rank);
        fputs("<tr><td class=\"key\">", out);
        put_html(out, folds[i].key);
        fputs("</td><td>", out);
        if (folds[i].repeats > 1) {
            fprintf(out, "&times;%s", tool_grouped(folds[i].repeats, number));
        }
        fputs("</td><td>", out);
        put_html(out, e->dtype);
        fprintf(out, "</td><td>%s</td><td class=\"number\">", shape.at);
        if (folds[i].names > 1) {
            fprintf(out, "%s &times; ", tool_grouped(folds[i].names, number));
        }
        fprintf(out, "%s</td></tr>\n", tool_grouped(e->count, number));
        tool_text_free(&shape);
    }
    fputs("</tbody></table>\n", out);
    if (count > PLAIN_MOST) {
        fprintf(out, "<p>&hellip; and %s more lines</p>\n", tool_grouped(count - PLAIN_MOST, number));
    }
    fputs("</section>\n", out);
    tool_folds_free(folds, count);
    free(entries);
}

/* ---------------------------------------------------------------------------------------------------- the page -- */

static void put_lines_of(FILE *out, const char *const *lines)
{
    for (; *lines; lines++) {
        fputs(*lines, out);
    }
}

/* Writes the hash of a script or style, which permits that element alone to run or apply. */
static void put_hash(FILE *out, const char *const *lines)
{
    uint8_t sum[MEASURE_SUM_BYTES];
    text all = {0};

    for (; *lines; lines++) {
        tool_text_put(&all, *lines);
    }
    tool_bytes_sum(all.at, all.length, sum);
    tool_text_free(&all);
    fputs("'sha256-", out);
    tool_print_base64(out, sum, sizeof sum);
    fputs("'", out);
}

int tool_report_page(const gathered *g, FILE *out)
{
    int status;

    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; base-uri 'none'; "
          "form-action 'none'; style-src ",
          out);
    put_hash(out, tool_report_css);
    fputs("; script-src ", out);
    put_hash(out, tool_report_script);
    fputs("\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"referrer\" content=\"no-referrer\">\n<meta name=\"generator\" content=\"record ",
          out);
    put_html(out, rec_version_string());
    fputs("\">\n<link rel=\"icon\" href=\"data:,\">\n<title>", out);
    put_title(out, g, false);
    fputs("</title>\n<style>", out);
    put_lines_of(out, tool_report_css);
    fputs("</style>\n</head>\n<body>\n<header>\n<h1>", out);
    put_title(out, g, true);
    fputs("</h1>\n", out);
    put_lede(out, g);
    fputs("</header>\n", out);
    put_plain(out, g);
    put_lines_of(out, tool_report_html);
    fputs("<script type=\"application/json\" id=\"data\">", out);
    status = write_data(g, out);
    fputs("</script>\n<script>", out);
    put_lines_of(out, tool_report_script);
    fputs("</script>\n</body>\n</html>\n", out);
    return status;
}
