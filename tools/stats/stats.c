/* SPDX-License-Identifier: MIT OR Apache-2.0
 * record stats: what the numbers in records are like, tensor by tensor and in sum. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/stats/stats.h"

/* ----------------------------------------------------------------------------------------------- what is asked -- */

/* State across the files. */
typedef struct run {
    session *s;
    input_files in;
    bool begun; /* something was printed */
    json j;
    measured sum;
    uint64_t tensors, others; /* others: no numbers */
} run;

/* ------------------------------------------------------------------------------------------------ for programs -- */

static void json_number(json *j, const char *key, double value, rec_dtype dtype)
{
    if (isnan(value)) {
        tool_json_token(j, key, "null");
    } else {
        tool_json_float(j, key, value, dtype);
    }
}

static void json_nulls(json *j)
{
    static const char *const nulls[] = {"min",  "max",       "mean",      "std",           "norm",           "zeros",
                                        "nan",  "inf",       "subnormal", "half_overflow", "half_underflow", "low",
                                        "high", "histogram", "nan_at",    "inf_at"};

    for (size_t i = 0; i < sizeof nulls / sizeof *nulls; i++) {
        tool_json_token(j, nulls[i], "null");
    }
}

static void json_moments(json *j, const measured *m, rec_dtype dtype)
{
    json_number(j, "min", m->min, dtype);
    json_number(j, "max", m->max, dtype);
    json_number(j, "mean", m->mean, REC_DTYPE_F64);
    json_number(j, "std", m->std, REC_DTYPE_F64);
    json_number(j, "norm", m->norm, REC_DTYPE_F64);
    tool_json_uint(j, "zeros", m->zeros);
    tool_json_uint(j, "nan", m->nan);
    tool_json_uint(j, "inf", m->inf);
    tool_json_uint(j, "subnormal", m->subnormal);
    tool_json_uint(j, "half_overflow", m->half_overflow);
    tool_json_uint(j, "half_underflow", m->half_underflow);
}

static void json_histogram(json *j, const measured *m, rec_dtype dtype)
{
    json_number(j, "low", m->low, dtype);
    json_number(j, "high", m->high, dtype);
    tool_json_array(j, "histogram");
    for (size_t i = 0; i < MEASURE_BINS; i++) {
        tool_json_uint(j, NULL, m->histogram[i]);
    }
    tool_json_close(j, ']');
}

static void json_tensor(run *r, const char *file, const listing *f, size_t i, const measured *m, bool numeric,
                        const measured_places *places)
{
    rec_dtype dtype = rec_tensor_dtype(f->handles[i]);
    bool is_float = dtype >= REC_DTYPE_F64 && dtype <= REC_DTYPE_BF16;
    rec_dtype shown = is_float && dtype != REC_DTYPE_FLEX32 ? dtype : REC_DTYPE_F64;

    tool_json_object(&r->j, NULL);
    if (r->in.several) {
        tool_json_string(&r->j, "file", file);
    }
    tool_json_string(&r->j, "key", f->tensors[i].path);
    tool_json_string(&r->j, "dtype", f->tensors[i].dtype);
    tool_json_shape(&r->j, "shape", f->tensors[i].shape, f->tensors[i].rank);
    tool_json_uint(&r->j, "count", m->count);
    if (numeric) {
        json_moments(&r->j, m, shown);
        json_histogram(&r->j, m, shown);
        tool_json_places(&r->j, f->handles[i], places);
    } else {
        json_nulls(&r->j);
    }
    tool_json_close(&r->j, '}');
}

/* -------------------------------------------------------------------------------------------------- for people -- */

enum { SPARK_WIDTH = 8 };

static double middle_of(const measured *m, size_t bin)
{
    return m->low + ((double)bin + 0.5) / MEASURE_BINS * (m->high - m->low);
}

/* Adds what another of the same layers is like, its histogram too: bins go where their middles lie. */
static void add_alike(measured *sum, const measured *more)
{
    measured before = *sum;

    tool_measure_add(sum, more);
    if (before.count == 0 || isnan(more->low) || isnan(before.low)) {
        const measured *has = before.count == 0 || isnan(before.low) ? more : &before;
        sum->low = has->low;
        sum->high = has->high;
        memcpy(sum->histogram, has->histogram, sizeof sum->histogram);
        return;
    }
    if (!isnan(sum->low)) {
        return; /* between the same edges */
    }
    sum->low = before.low < more->low ? before.low : more->low;
    sum->high = before.high > more->high ? before.high : more->high;
    for (size_t i = 0; i < MEASURE_BINS; i++) {
        const measured *const both[] = {&before, more};
        for (size_t k = 0; k < 2; k++) {
            double bin = (middle_of(both[k], i) - sum->low) / (sum->high - sum->low) * MEASURE_BINS;
            sum->histogram[bin > 0 ? bin < MEASURE_BINS ? (size_t)bin : MEASURE_BINS - 1 : 0] += both[k]->histogram[i];
        }
    }
}

static const char *number_text(double value, char *buffer)
{
    if (isnan(value)) {
        return "";
    }
    bool whole = value > -1e6 && value < 1e6 && (double)(int32_t)value == value;
    (void)snprintf(buffer, NUMBER_ROOM, whole ? "%.0f" : "%.3g", value);
    return buffer;
}

static void number_cell(table *t, double value)
{
    char buffer[NUMBER_ROOM];

    tool_table_cell(t, number_text(value, buffer));
}

static void count_cell(table *t, uint64_t count)
{
    char buffer[NUMBER_ROOM];

    tool_table_cell(t, count ? tool_grouped(count, buffer) : "");
}

/* The three tables of the output. */
typedef struct tables {
    table numbers, odd, places;
} tables;

static void begin_tables(tables *t)
{
    tool_table_begin(&t->numbers, "lrrrrrrl", "KEY||MIN|MAX|MEAN|STD|NORM|HISTOGRAM");
    tool_table_begin(&t->odd, "lrrrrrrr", "KEY||ZEROS|NAN|INF|SUBNORMAL|OVER HALF|UNDER HALF");
    tool_table_begin(&t->places, "lll", "KEY||FIRST AT");
}

/* A row for NaN and one for infinite numbers, where there are any. */
static void add_places(tables *t, const char *key, const rec_tensor *tensor, const measured_places *places)
{
    static const char *const kinds[] = {"NaN", "infinite"};
    const uint64_t *const at[] = {places->nan, places->inf};
    const size_t counts[] = {places->nan_count, places->inf_count};

    for (size_t k = 0; k < 2; k++) {
        text cell = {0};
        if (!counts[k]) {
            continue;
        }
        tool_table_name(&t->places, key);
        tool_table_cell(&t->places, kinds[k]);
        tool_text_places(&cell, tensor, at[k], counts[k]);
        tool_table_take(&t->places, &cell);
    }
}

static void add_rows(tables *t, const char *key, uint64_t repeats, const measured *m, bool numeric)
{
    text line = {0};

    tool_table_key(&t->numbers, key, repeats);
    number_cell(&t->numbers, m->min);
    number_cell(&t->numbers, m->max);
    number_cell(&t->numbers, m->mean);
    number_cell(&t->numbers, m->std);
    number_cell(&t->numbers, m->norm);
    if (!isnan(m->low)) {
        tool_text_sparkline(&line, m->histogram, MEASURE_BINS, SPARK_WIDTH);
    }
    tool_table_cell(&t->numbers, line.at ? line.at : !numeric ? "no numbers" : m->count == 0 ? "empty" : "none finite");
    tool_text_free(&line);
    if (m->zeros || m->nan || m->inf || m->subnormal || m->half_overflow || m->half_underflow) {
        tool_table_key(&t->odd, key, repeats);
        count_cell(&t->odd, m->zeros);
        count_cell(&t->odd, m->nan);
        count_cell(&t->odd, m->inf);
        count_cell(&t->odd, m->subnormal);
        count_cell(&t->odd, m->half_overflow);
        count_cell(&t->odd, m->half_underflow);
    }
}

static void print_tables(tables *t)
{
    table *const further[] = {&t->odd, &t->places};

    tool_table_print(&t->numbers, stdout);
    for (size_t i = 0; i < sizeof further / sizeof *further; i++) {
        if (further[i]->cell_count > further[i]->columns) {
            putchar('\n');
            tool_table_print(further[i], stdout);
        } else {
            tool_table_drop(further[i]);
        }
    }
}

/* Lines that layers which are alike share; without --all. */
typedef struct lines {
    fold *folds;
    size_t count, *of; /* of: the line of each tensor */
    struct line {
        measured m;
        bool numeric;
        size_t odd; /* the first tensor with numbers that are not finite, and where they are */
        measured_places places;
    } *at;
} lines;

static void begin_lines(lines *l, const listing *f)
{
    l->of = xmalloc((f->tensor_count + 1) * sizeof *l->of);
    l->folds = tool_folds_make(f->tensors, f->tensor_count, 0, false, &l->count, l->of);
    l->at = xmalloc((l->count + 1) * sizeof *l->at);
    memset(l->at, 0, (l->count + 1) * sizeof *l->at);
}

static void free_lines(lines *l)
{
    if (l->folds) {
        tool_folds_free(l->folds, l->count);
    }
    free(l->of);
    free(l->at);
}

/* ------------------------------------------------------------------------------------------------------ a file -- */

/* A file while it is reported. */
typedef struct telling {
    run *r;
    const char *file;
    const listing *f;
    lines l; /* none where each tensor has its own */
    tables t;
} telling;

/* Tells of one tensor. */
static int tell(void *user, size_t i, const measured_tensor *made)
{
    telling *x = user;
    run *r = x->r;
    const char *key = x->f->tensors[i].path;
    struct line *line = x->l.at ? &x->l.at[x->l.of[i]] : NULL;
    measured_places places = {0};

    /* A line has the places of its first tensor with any. */
    if (made->status != REC_OK ||
        ((!line || !(line->m.nan || line->m.inf)) && tool_measure_places(made->tensor, &made->m, &places) != REC_OK)) {
        return tool_fail_library();
    }
    r->tensors++;
    r->others += !made->numeric;
    if (made->numeric) {
        tool_measure_add(&r->sum, &made->m);
    }
    if (r->s->o->json) {
        json_tensor(r, x->file, x->f, i, &made->m, made->numeric, &places);
    } else if (!line) {
        add_rows(&x->t, key, 1, &made->m, made->numeric);
        add_places(&x->t, key, made->tensor, &places);
    } else {
        if (places.nan_count || places.inf_count) {
            line->odd = i;
            line->places = places;
        }
        line->numeric = made->numeric;
        add_alike(&line->m, &made->m);
    }
    return EXIT_OK;
}

/* Tells of the tensors of one file. */
static int report(run *r, const char *file, const listing *f)
{
    telling x = {.r = r, .file = file, .f = f};
    int status;

    begin_tables(&x.t);
    if (!r->s->o->json && !r->s->o->all && f->tensor_count) {
        begin_lines(&x.l, f);
    }
    status = tool_measure_each(r->s, "measure", f->nbytes, f->handles, f->tensor_count, MEASURE_NUMBERS, tell, &x);
    for (size_t i = 0; i < x.l.count && status == EXIT_OK; i++) {
        const struct line *line = &x.l.at[i];
        add_rows(&x.t, x.l.folds[i].key, x.l.folds[i].repeats, &line->m, line->numeric);
        add_places(&x.t, f->tensors[line->odd].path, f->handles[line->odd], &line->places);
    }
    if (!r->s->o->json && status == EXIT_OK && f->tensor_count) {
        print_tables(&x.t);
    } else {
        tool_table_drop(&x.t.numbers);
        tool_table_drop(&x.t.odd);
        tool_table_drop(&x.t.places);
    }
    free_lines(&x.l);
    return status;
}

static int run_file(run *r, const char *path)
{
    bool by_position = false;
    rec_record *record = tool_session_read(r->s, tool_session_look(r->s, 1), path, &by_position);
    int status = EXIT_ERROR;
    listing f = {0};
    notes n = {0};

    tool_progress_begin(r->s->context, r->s->o->quiet);
    if (record) {
        tool_notes_take(&n);
        status = tool_listing_gather(record, r->in.keys, false, &f);
    }
    if (tool_measure_together(r->s, path, record ? (uint64_t)status : (uint64_t)rec_error_status(), f.handles,
                              f.tensor_count, MEASURE_NUMBERS) != EXIT_OK) {
        status = EXIT_ERROR;
        r->in.ended = true;
    }
    if (record && !r->in.ended) {
        if (status == EXIT_OK && r->in.several && !r->s->o->json) {
            printf("%s%s", r->begun ? "\n" : "", tool_style(STYLE_BOLD));
            tool_print_safe(stdout, tool_input_name(path));
            puts(tool_style(STYLE_PLAIN));
            r->begun = true;
        }
        if (status == EXIT_OK) {
            status = report(r, path, &f);
        }
    }
    tool_progress_end();
    (void)fflush(stdout); /* before what is noted of this one */
    tool_notes_print(&n, r->s->o->quiet || by_position);
    tool_measure_end(r->s);
    tool_listing_free(&f);
    tool_notes_free(&n);
    rec_record_free(record);
    return status;
}

/* ------------------------------------------------------------------------------------------------------ in sum -- */

static void print_sum(const run *r)
{
    const measured *m = &r->sum;
    char a[NUMBER_ROOM], b[NUMBER_ROOM];

    printf("%s%s tensor%s", r->in.several ? "\n" : "", tool_grouped(r->tensors, a), tool_plural(r->tensors));
    if (r->others) {
        printf(", %s without numbers", tool_grouped(r->others, a));
    }
    printf("; %s number%s", tool_grouped(m->count, a), tool_plural(m->count));
    if (m->count && !isnan(m->min)) {
        printf(" from %s to %s:", number_text(m->min, a), number_text(m->max, b));
        printf("\nmean %s, standard deviation %s", number_text(m->mean, a), number_text(m->std, b));
        printf(", norm %s", number_text(m->norm, a));
    }
    printf("%s\n", r->s->o->all || r->s->o->quiet || r->tensors < 2 ? "" : "  (--all: every one)");
}

int tool_run_stats(session *s, const char *const *operands, size_t count)
{
    run r = {.s = s};
    int status = tool_inputs_find(s, operands, count, true, &r.in);
    size_t files;

    r.in.ended = status == EXIT_OK && !tool_inputs_same(s, &r.in);
    status = r.in.ended ? EXIT_ERROR : status;
    files = status == EXIT_OK ? r.in.count : 0;
    tool_session_streams(s);
    if (s->o->json && files) {
        tool_json_open(&r.j, stdout, 2);
        tool_json_array(&r.j, "tensors");
    }
    for (size_t i = 0; i < files && !r.in.ended; i++) {
        status = run_file(&r, r.in.files[i]) == EXIT_OK ? status : EXIT_ERROR;
    }
    if (s->o->json && files) {
        tool_json_close(&r.j, ']');
        tool_json_object(&r.j, "sum");
        tool_json_uint(&r.j, "tensors", r.tensors);
        tool_json_uint(&r.j, "count", r.sum.count);
        json_moments(&r.j, &r.sum, REC_DTYPE_F64);
        tool_json_close(&r.j, '}');
        tool_json_finish(&r.j);
    }
    if (status == EXIT_OK) {
        status = tool_inputs_check(&r.in);
    }
    if (!s->o->json && (status == EXIT_OK || r.tensors)) {
        print_sum(&r);
    }
    tool_inputs_free(&r.in);
    return status;
}
