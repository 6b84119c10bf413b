/* SPDX-License-Identifier: MIT OR Apache-2.0
 * record stats: what the numbers in records are like, tensor by tensor and in sum. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/stats/stats.h"

/* ----------------------------------------------------------------------------------------------- what is asked -- */

/* The tensors of one file that are measured, in its order. */
typedef struct found {
    const rec_tensor **tensors;
    entry *entries; /* their paths are in `paths` */
    text paths;
    size_t count;
    uint64_t nbytes;
} found;

/* State across the files. */
typedef struct run {
    session *s;
    input_files in;
    bool begun; /* something was printed */
    bool ended; /* of several processes: they are at their end */
    json j;
    measured sum;
    uint64_t tensors, others; /* others: no numbers */
} run;

static void add_found(found *f, const rec_tensor *tensor, const char *path)
{
    f->tensors = tool_grown(f->tensors, f->count, sizeof *f->tensors);
    f->entries = tool_grown(f->entries, f->count, sizeof *f->entries);
    f->tensors[f->count] = tensor;
    f->entries[f->count++] = (entry){.dtype = rec_tensor_dtype_name(tensor),
                                     .shape = rec_tensor_shape(tensor),
                                     .rank = rec_tensor_rank(tensor),
                                     .count = rec_tensor_count(tensor)};
    f->nbytes += rec_tensor_nbytes(tensor);
    tool_text_add(&f->paths, path, strlen(path) + 1);
}

static int find(found *f, const rec_record *record, key_patterns *keys)
{
    rec_iterator *iterator = rec_iterate(record);
    const rec_tensor *tensor;
    const char *path;

    if (!iterator) {
        return tool_fail_library();
    }
    while ((tensor = rec_iterator_next_tensor(iterator, &path))) {
        if (tool_patterns_match(keys, path)) {
            add_found(f, tensor, path);
        }
    }
    rec_iterator_free(iterator);
    path = f->paths.at;
    for (size_t i = 0; i < f->count; i++, path += strlen(path) + 1) {
        f->entries[i].path = path;
    }
    return EXIT_OK;
}

static void free_found(found *f)
{
    free(f->tensors);
    free(f->entries);
    tool_text_free(&f->paths);
}

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

static void json_tensor(run *r, const char *file, const found *f, size_t i, const measured *m, bool numeric,
                        const measured_places *places)
{
    rec_dtype dtype = rec_tensor_dtype(f->tensors[i]);
    bool is_float = dtype >= REC_DTYPE_F64 && dtype <= REC_DTYPE_BF16;
    rec_dtype shown = is_float && dtype != REC_DTYPE_FLEX32 ? dtype : REC_DTYPE_F64;

    tool_json_object(&r->j, NULL);
    if (r->in.several) {
        tool_json_string(&r->j, "file", file);
    }
    tool_json_string(&r->j, "key", f->entries[i].path);
    tool_json_string(&r->j, "dtype", f->entries[i].dtype);
    tool_json_shape(&r->j, "shape", f->entries[i].shape, f->entries[i].rank);
    tool_json_uint(&r->j, "count", m->count);
    if (numeric) {
        json_moments(&r->j, m, shown);
        json_histogram(&r->j, m, shown);
        tool_json_places(&r->j, f->tensors[i], places);
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

static void begin_lines(lines *l, const found *f)
{
    l->of = xmalloc((f->count + 1) * sizeof *l->of);
    l->folds = tool_folds_make_of(f->entries, f->count, 0, &l->count, l->of);
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

/* Tells of one tensor. @param line the one that it is part of; NULL: it has its own. */
static int tell(run *r, const char *file, const found *f, size_t i, const measured_tensor *made, struct line *line,
                tables *t)
{
    const measured *m = &made->m;
    measured_places places = {0};

    /* A line has the places of its first tensor with any. */
    if ((!line || !(line->m.nan || line->m.inf)) && tool_measure_places(f->tensors[i], m, &places) != REC_OK) {
        return tool_fail_library();
    }
    if (r->s->o->json) {
        json_tensor(r, file, f, i, m, made->numeric, &places);
    } else if (!line) {
        add_rows(t, f->entries[i].path, 1, m, made->numeric);
        add_places(t, f->entries[i].path, f->tensors[i], &places);
    } else {
        if (places.nan_count || places.inf_count) {
            line->odd = i;
            line->places = places;
        }
        line->numeric = made->numeric;
        add_alike(&line->m, m);
    }
    return EXIT_OK;
}

/* Tells of the tensors of one file. */
static int report(run *r, const char *file, const found *f)
{
    bool programs = r->s->o->json, alone = programs || r->s->o->all;
    measured_tensor *made = xmalloc(MEASURE_BATCH * sizeof *made);
    uint64_t done = 0;
    int status = EXIT_OK;
    lines l = {0};
    tables t;

    begin_tables(&t);
    if (!alone && f->count) {
        begin_lines(&l, f);
    }
    for (size_t i = 0, taken; i < f->count && status == EXIT_OK; i += taken) {
        (void)tool_progress_step("measure", done, f->nbytes);
        taken = tool_measure_batch(r->s, f->tensors + i, f->count - i, false, made);
        for (size_t k = 0; k < taken && status == EXIT_OK; k++) {
            const measured *m = &made[k].m;
            bool numeric;
            /* What failed on another thread is tried again here, for its error. */
            if (made[k].status != REC_OK) {
                status = tool_measure(r->s, f->tensors[i + k], &made[k].m, &made[k].numeric);
            }
            if (status != EXIT_OK) {
                break;
            }
            numeric = made[k].numeric;
            done += rec_tensor_nbytes(f->tensors[i + k]);
            r->tensors++;
            r->others += !numeric;
            if (numeric) {
                tool_measure_add(&r->sum, m);
            }
            status = tell(r, file, f, i + k, &made[k], alone ? NULL : &l.at[l.of[i + k]], &t);
        }
    }
    tool_progress_wipe();
    for (size_t i = 0; i < l.count && status == EXIT_OK; i++) {
        const struct line *line = &l.at[i];
        add_rows(&t, l.folds[i].key, l.folds[i].repeats, &line->m, line->numeric);
        add_places(&t, f->entries[line->odd].path, f->tensors[line->odd], &line->places);
    }
    if (!programs && status == EXIT_OK && f->count) {
        print_tables(&t);
    } else {
        tool_table_drop(&t.numbers);
        tool_table_drop(&t.odd);
        tool_table_drop(&t.places);
    }
    free_lines(&l);
    free(made);
    return status;
}

static int run_file(run *r, const char *path)
{
    rec_recorder *recorder = tool_session_look(r->s);
    rec_record *record = NULL;
    bool by_position = false;
    int status = EXIT_ERROR;
    found f = {0};
    notes n = {0};

    if (recorder) {
        tool_progress_begin(r->s->context, r->s->o->quiet);
        record = tool_session_load_any(r->s, recorder, path, &by_position);
    }
    if (record) {
        tool_notes_take(&n);
        status = find(&f, record, r->in.keys);
    }
    if (tool_measure_together(r->s, path, record ? (uint64_t)status : (uint64_t)rec_error_status(), f.tensors, f.count,
                              false) != EXIT_OK) {
        status = EXIT_ERROR;
        r->ended = true;
    }
    if (record && !r->ended) {
        if (status == EXIT_OK && r->in.several && !r->s->o->json) {
            text name = {0};
            tool_text_safe(&name, tool_input_name(path), strlen(tool_input_name(path)));
            printf("%s%s%s%s\n", r->begun ? "\n" : "", tool_style(STYLE_BOLD), name.at, tool_style(STYLE_PLAIN));
            tool_text_free(&name);
            r->begun = true;
        }
        if (status == EXIT_OK) {
            status = report(r, path, &f);
        }
    }
    if (recorder) {
        tool_progress_end();
    }
    (void)fflush(stdout); /* before what is noted of this one */
    tool_notes_print(&n, r->s->o->quiet || by_position);
    tool_measure_end(r->s);
    free_found(&f);
    tool_notes_free(&n);
    rec_record_free(record);
    rec_close_recorder(recorder);
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

    r.ended = status == EXIT_OK && !tool_inputs_same(s, &r.in);
    status = r.ended ? EXIT_ERROR : status;
    files = status == EXIT_OK ? r.in.count : 0;
    tool_session_streams(s);
    if (s->o->json && files) {
        tool_json_open(&r.j, stdout, 2);
        tool_json_array(&r.j, "tensors");
    }
    for (size_t i = 0; i < files && !r.ended; i++) {
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
