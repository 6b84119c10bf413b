/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Reads the records of a report: loads each once, measures its tensors and compares them with the earlier records. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/report/report_private.h"

enum { OTHERS_MOST = 500, OTHER_WIDTH = 100, METADATA_WIDTH = 2000 };

/* ----------------------------------------------------------------------------------------------------- loading -- */

/* A file without names whose type is not given is read by position. @return NULL with the error printed. */
static rec_record *load_nameless(session *s, const input *in, const char *name, notes *n)
{
    rec_recorder *recorder = tool_session_reader(s, 1, name);
    rec_record *record = NULL;

    if (recorder && rec_recorder_set(recorder, "positional", "yes") == REC_OK) {
        record = tool_load(recorder, in->path);
    }
    if (record) {
        tool_notes_add(n, REC_NOTE_ASSUMED, "",
                       xasprintf("%s has no names: its parameters are named by their position (--type gives their "
                                 "names)",
                                 in->path));
        tool_notes_take(n);
    } else if (recorder) {
        (void)tool_fail_library();
    }
    rec_close_recorder(recorder);
    return record;
}

/* @param record (out) NULL with EXIT_OK: it was found in a folder and cannot be read, which is noted. */
static int open_one(session *s, const input *in, rec_record **record, notes *n)
{
    rec_recorder *recorder = tool_session_look(s, in->operand);
    bool stream = strcmp(in->path, "-") == 0, left_out = false;
    const char *name;

    *record = !recorder ? NULL : stream ? tool_session_load(recorder, in->path) : tool_load(recorder, in->path);
    if (*record) {
        tool_notes_take(n);
    } else if (recorder && !stream && tool_lacks_type(s, in->path, &name)) {
        *record = load_nameless(s, in, name, n);
    } else if (recorder && in->found && rec_error_status() != REC_E_CANCELLED && rec_error_status() != REC_E_MEMORY) {
        const char *message = rec_error_message();
        tool_notes_add(n, REC_NOTE_DROPPED, "", xasprintf("left out: %.*s", (int)strcspn(message, "\n"), message));
        left_out = true;
    } else if (recorder && !stream) {
        (void)tool_fail_library();
    }
    rec_close_recorder(recorder);
    return *record || left_out ? EXIT_OK : EXIT_ERROR;
}

/* -------------------------------------------------------------------------------------------------------- rows -- */

static int by_key(const void *a, const void *b)
{
    return strcmp(((const row *)a)->key, ((const row *)b)->key);
}

/* @return the row of a key, which may be a new one. */
static row *row_of(gathered *g, const char *key)
{
    row *r = xmalloc(sizeof *r), *known;

    *r = (row){.key = xstrdup(key)};
    known = tool_known_add(&g->known, r, by_key);
    if (known != r) {
        free(r->key);
        free(r);
        return known;
    }
    if (g->room > 2) {
        r->figures = xmalloc(g->room * sizeof *r->figures);
        for (size_t i = 0; i < g->room; i++) {
            r->figures[i] = (figure){NAN, NAN, NAN, NAN};
        }
    }
    g->rows = tool_grown(g->rows, g->row_count, sizeof(row *));
    g->rows[g->row_count++] = r;
    return r;
}

static void free_form(form *f)
{
    free(f->dtype);
    free(f->shape);
    *f = (form){0};
}

static void free_row(row *r)
{
    free(r->key);
    free(r->id);
    free(r->was);
    free_form(&r->before);
    free_form(&r->now);
    free(r->first);
    free(r->last);
    free(r->figures);
    free(r);
}

static void set_form(form *f, const rec_tensor *tensor)
{
    size_t size;

    free_form(f);
    *f = (form){.dtype = xstrdup(rec_tensor_dtype_name(tensor)),
                .rank = rec_tensor_rank(tensor),
                .count = rec_tensor_count(tensor),
                .nbytes = rec_tensor_nbytes(tensor)};
    size = f->rank * sizeof *f->shape;
    f->shape = xmalloc(size ? size : 1);
    memcpy(f->shape, rec_tensor_shape(tensor), size);
}

/* ------------------------------------------------------------------------------------------------ other values -- */

static void add_other(gathered *g, size_t at, const char *path, const rec_value *value)
{
    text shown = {0};
    other *o = NULL;

    for (size_t i = 0; at > 0 && i < g->other_count && !o; i++) {
        o = strcmp(g->others[i].key, path) == 0 ? &g->others[i] : NULL;
    }
    if (!o && g->other_count == OTHERS_MOST) {
        g->others_left += at == 0;
        return;
    }
    if (!o) {
        g->others = tool_grown(g->others, g->other_count, sizeof *g->others);
        o = &g->others[g->other_count++];
        *o = (other){.key = xstrdup(path), .kind = xstrdup(tool_kind_word(rec_value_kind(value)))};
    }
    tool_leaf_text(&shown, value, OTHER_WIDTH);
    if (at == 0) {
        o->first = shown.at;
    } else {
        free(o->last);
        o->last = shown.at;
    }
}

/* ------------------------------------------------------------------------------------------------------- facts -- */

static void add_metadata(record_facts *f, const rec_record *record)
{
    uint64_t count = rec_metadata_count(record);
    const char *key, *value;

    for (uint64_t i = 0; i < count; i++) {
        text whole = {0}, cut = {0};
        if (rec_metadata_get(record, i, &key, &value) != REC_OK) {
            continue;
        }
        f->metadata = tool_grown(f->metadata, f->metadata_count, sizeof *f->metadata);
        tool_text_put(&whole, value);
        tool_text_put(&cut, "");
        tool_text_shortened(&cut, whole.at, METADATA_WIDTH, false);
        f->metadata[f->metadata_count].key = xstrdup(key);
        f->metadata[f->metadata_count++].value = xstrdup(cut.at);
        tool_text_free(&whole);
        tool_text_free(&cut);
    }
}

static int set_facts(record_facts *f, const rec_record *record)
{
    const rec_origin *origin = rec_record_origin(record);
    const char *burn = tool_burn_version(record), *word = tool_precision_word(record);
    summary sum;

    if (tool_summarise(record, &sum) != EXIT_OK) {
        return EXIT_ERROR;
    }
    *f = (record_facts){.recorder = xstrdup(origin->recorder),
                        .precision = word ? xstrdup(word) : NULL,
                        .stored = origin->stored,
                        .tensors = sum.tensors,
                        .parameters = sum.elements,
                        .nbytes = sum.nbytes,
                        .values = sum.values,
                        .norm = NAN,
                        .change = NAN};
    f->writer = burn ? xasprintf("Burn %s", burn) : tool_is_of_others(record) ? xstrdup("another framework") : NULL;
    add_metadata(f, record);
    tool_summary_free(&sum);
    return EXIT_OK;
}

/* --------------------------------------------------------------------------------------------------- measuring -- */

/* The tensors of one record while they are measured. */
typedef struct work {
    gathered *g;
    row *const *rows; /* of the record, in its order */
    size_t count, at; /* `at`: the record */
    measured_tensor *made;
    diff_found *changes; /* since the record before, of those that are in both */
} work;

static int keep_result(void *user, size_t i, const measured_tensor *made)
{
    work *w = user;

    w->made[i] = *made;
    return made->status == REC_OK ? EXIT_OK : tool_fail_library();
}

static void keep(measured **at, const measured *m)
{
    if (!*at) {
        *at = xmalloc(sizeof **at);
    }
    **at = *m;
}

/* Takes what was measured over into the rows, in their order, so that sums do not depend on threads. */
static void take(work *w)
{
    record_facts *f = &w->g->records[w->at];
    double norms = 0, before = 0, after = 0, changes = 0;
    bool compared = false;

    for (size_t i = 0; i < w->count; i++) {
        row *r = w->rows[i];
        const measured *m = &w->made[i].m;
        figure *now = r->figures ? &r->figures[w->at] : NULL;
        if (!w->made[i].numeric) {
            continue;
        }
        norms += isfinite(m->norm) ? m->norm * m->norm : 0;
        f->odd += m->nan + m->inf;
        if (now) {
            *now = (figure){m->norm, NAN, m->mean, m->std};
        }
        if (w->at > 0 && r->previous && w->changes[i].known && isfinite(w->changes[i].change) && now) {
            double old = r->figures[w->at - 1].norm, difference;
            now->change = w->changes[i].change;
            difference = now->change * (old > m->norm ? old : m->norm);
            before += old * old;
            after += m->norm * m->norm;
            changes += difference * difference;
            compared = true;
        }
        keep(w->at == 0 ? &r->first : &r->last, m);
    }
    f->norm = tool_root(norms);
    after = after > before ? after : before;
    f->change = compared && after > 0 ? tool_root(changes / after) : NAN;
}

static int compare_with_previous(session *s, work *w)
{
    diff_found **list = xmalloc((w->count + 1) * sizeof *list);
    int status;

    for (size_t i = 0; i < w->count; i++) {
        const row *r = w->rows[i];
        list[i] = &w->changes[i];
        *list[i] = (diff_found){.of = {r->previous, r->current}};
    }
    status = tool_diff_pairs(s, list, w->count);
    free(list);
    return status;
}

static int measure_all(session *s, gathered *g, size_t at, row *const *rows, size_t count)
{
    work w = {.g = g, .rows = rows, .count = count, .at = at};
    const rec_tensor **tensors = xmalloc((count + 1) * sizeof *tensors);
    int status;

    w.made = xmalloc((count + 1) * sizeof *w.made);
    w.changes = xmalloc((count + 1) * sizeof *w.changes);
    for (size_t i = 0; i < count; i++) {
        tensors[i] = rows[i]->current;
        w.changes[i] = (diff_found){0};
    }
    status = tool_measure_each(s, "measure", g->records[at].nbytes, tensors, count, MEASURE_NUMBERS, keep_result, &w);
    if (status == EXIT_OK && at > 0 && g->room > 2) {
        status = compare_with_previous(s, &w);
    }
    if (status == EXIT_OK) {
        take(&w);
    }
    free(tensors);
    free(w.made);
    free(w.changes);
    return status;
}

/* Lists what is in a record and measures it. */
static int read_record(session *s, gathered *g, size_t at, const rec_record *record)
{
    rec_iterator *iterator = rec_iterate(record);
    row **rows = NULL;
    size_t count = 0;
    const rec_value *value;
    const char *path;
    int status;

    if (!iterator) {
        return tool_fail_library();
    }
    for (size_t i = 0; i < g->row_count; i++) {
        g->rows[i]->previous = g->rows[i]->current;
        g->rows[i]->current = NULL;
    }
    for (size_t i = 0; at > 0 && i < g->other_count; i++) {
        free(g->others[i].last);
        g->others[i].last = NULL;
    }
    while ((value = rec_iterator_next(iterator, &path))) {
        const rec_tensor *tensor = rec_value_tensor(value);
        const char *id = tensor ? rec_tensor_id(tensor) : NULL;
        row *r;
        if (!tensor) {
            if (rec_value_kind(value) != REC_KIND_NIL) {
                add_other(g, at, path, value);
            }
            continue;
        }
        r = row_of(g, path);
        r->current = tensor;
        r->old = at == 0 ? tensor : r->old;
        if (at == 0) {
            set_form(&r->before, tensor);
        }
        set_form(&r->now, tensor);
        free(r->id);
        r->id = id ? xstrdup(id) : NULL;
        rows = tool_grown(rows, count, sizeof *rows);
        rows[count++] = r;
    }
    rec_iterator_free(iterator);
    status = measure_all(s, g, at, rows, count);
    free(rows);
    return status;
}

/* ---------------------------------------------------------------------------------------------- first and last -- */

static bool same_shape(const form *a, const form *b)
{
    return a->rank == b->rank && memcmp(a->shape, b->shape, a->rank * sizeof *a->shape) == 0;
}

/* @return how a tensor changed from the first record to the last. */
static int state_of(const row *r)
{
    const diff_found *c = &r->change;
    bool dtype = r->old && r->current && strcmp(r->before.dtype, r->now.dtype) != 0;

    if (!r->current || !r->old) {
        return r->current ? STATE_ADDED : STATE_REMOVED;
    }
    if (!same_shape(&r->before, &r->now)) {
        return STATE_SHAPE;
    }
    if (c->known && c->differing) {
        return dtype && c->rounded ? STATE_ROUNDED : STATE_CHANGED;
    }
    return dtype ? STATE_DTYPE : c->known ? STATE_SAME : STATE_CHANGED;
}

/* Finds for each tensor how it changed from the first record to the last. */
static int compare_ends(session *s, gathered *g)
{
    diff_found **list = xmalloc((g->row_count + 1) * sizeof *list);
    int status;

    for (size_t i = 0; i < g->row_count; i++) {
        row *r = g->rows[i];
        if (!r->current) {
            free(r->last);
            r->last = NULL;
        }
        list[i] = &r->change;
        *list[i] = (diff_found){.of = {r->old, r->current}};
    }
    status = tool_diff_pairs(s, list, g->row_count);
    free(list);
    for (size_t i = 0; i < g->row_count; i++) {
        g->rows[i]->state = state_of(g->rows[i]);
    }
    return status;
}

/* An added tensor with the shape and values of a removed one was renamed. Its row takes over the other's. */
typedef struct candidate {
    row *row;
    size_t place; /* of the row */
    const rec_tensor *tensor;
    uint8_t sum[MEASURE_SUM_BYTES];
} candidate;

static int by_form(const void *a, const void *b)
{
    return tool_compare_forms(((const candidate *)a)->tensor, ((const candidate *)b)->tensor);
}

static int by_content(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    int order = by_form(a, b);

    order = order ? order : memcmp(x->sum, y->sum, sizeof x->sum);
    return order                            ? order
           : x->row->state != y->row->state ? x->row->state - y->row->state
                                            : (x->place > y->place) - (x->place < y->place);
}

/* Of one content as many as there are on both sides are the same, in the order of the records. */
static void pair_up(gathered *g, candidate *list, size_t count)
{
    size_t all;

    for (size_t i = 0, end; i < count; i = end) {
        size_t added = 0;
        for (end = i; end < count && by_form(&list[i], &list[end]) == 0 &&
                      memcmp(list[i].sum, list[end].sum, sizeof list[i].sum) == 0;
             end++) {
            added += list[end].row->state == STATE_ADDED;
        }
        /* Of a content that stands first, ADDED comes before REMOVED. */
        for (size_t k = 0; k < added && i + added + k < end; k++) {
            row *to = list[i + k].row, *from = list[i + added + k].row;
            to->state = STATE_RENAMED;
            to->was = xstrdup(from->key);
            free_form(&to->before);
            to->before = from->before;
            from->before = (form){0};
            to->first = from->first;
            from->first = NULL;
            free(from->key);
            from->key = NULL; /* taken off below */
        }
    }
    all = g->row_count;
    g->row_count = 0;
    for (size_t i = 0; i < all; i++) {
        row *r = g->rows[i];
        if (r->key) {
            g->rows[g->row_count++] = r;
        } else {
            free_row(r);
        }
    }
}

static int find_renamed(gathered *g)
{
    size_t count = 0, kept = 0;
    candidate *list = xmalloc((g->row_count + 1) * sizeof *list);
    int status = EXIT_OK;

    for (size_t i = 0; i < g->row_count; i++) {
        row *r = g->rows[i];
        if ((r->state == STATE_ADDED || r->state == STATE_REMOVED) && r->now.count > 0) {
            list[count++] = (candidate){.row = r, .place = i, .tensor = r->current ? r->current : r->old};
        }
    }
    if (count) {
        qsort(list, count, sizeof *list, by_form);
    }
    /* Contents are hashed only where one tensor is gone and one of the same shape is new. */
    for (size_t i = 0, end; i < count && status == EXIT_OK; i = end) {
        bool gone = false, fresh = false;
        for (end = i; end < count && by_form(&list[i], &list[end]) == 0; end++) {
            gone = gone || list[end].row->state == STATE_REMOVED;
            fresh = fresh || list[end].row->state == STATE_ADDED;
        }
        for (size_t k = i; k < end && gone && fresh && status == EXIT_OK; k++) {
            if (tool_tensor_sum(list[k].tensor, list[k].sum) != REC_OK) {
                status = tool_fail_library();
            }
            list[kept++] = list[k];
        }
    }
    if (kept && status == EXIT_OK) {
        qsort(list, kept, sizeof *list, by_content);
        pair_up(g, list, kept);
    }
    free(list);
    return status;
}

/* --------------------------------------------------------------------------------------------------------- all -- */

static void drop_input(inputs *list, size_t at)
{
    free(list->at[at].path);
    free(list->at[at].name);
    memmove(&list->at[at], &list->at[at + 1], (list->count - at - 1) * sizeof *list->at);
    list->count--;
}

int tool_report_gather(session *s, inputs *list, gathered *g, notes *n)
{
    rec_record *first = NULL, *before = NULL, *now = NULL; /* `before`: not as long as the first is that */
    int status = EXIT_OK;

    *g = (gathered){.inputs = list, .room = list->count};
    g->records = xmalloc((list->count + 1) * sizeof *g->records);
    for (size_t i = 0; i < list->count; i++) {
        g->records[i] = (record_facts){0};
    }
    for (size_t i = 0; i < list->count && status == EXIT_OK;) {
        if ((status = open_one(s, &list->at[i], &now, n)) != EXIT_OK || !now) {
            drop_input(list, i);
            continue;
        }
        if ((status = set_facts(&g->records[i], now)) == EXIT_OK) {
            status = read_record(s, g, i, now);
        }
        rec_record_free(before);
        *(i ? &before : &first) = now;
        i++;
    }
    tool_known_free(&g->known, by_key);
    if (status == EXIT_OK && !list->count) {
        status =
            tool_fail("none of the records in the directory can be read:\n%s", n->kept ? n->at[n->kept - 1].text : "");
    }
    if (status == EXIT_OK && list->count > 1 && (status = compare_ends(s, g)) == EXIT_OK && list->count == 2) {
        status = find_renamed(g);
    }
    rec_record_free(before);
    rec_record_free(first);
    return status;
}

void tool_report_gathered_free(gathered *g)
{
    for (size_t i = 0; g->records && i < g->inputs->count; i++) {
        record_facts *f = &g->records[i];
        free(f->recorder);
        free(f->writer);
        free(f->precision);
        for (size_t k = 0; k < f->metadata_count; k++) {
            free(f->metadata[k].key);
            free(f->metadata[k].value);
        }
        free(f->metadata);
    }
    for (size_t i = 0; i < g->row_count; i++) {
        free_row(g->rows[i]);
    }
    for (size_t i = 0; i < g->other_count; i++) {
        free(g->others[i].key);
        free(g->others[i].kind);
        free(g->others[i].first);
        free(g->others[i].last);
    }
    free(g->records);
    free(g->rows);
    free(g->others);
    *g = (gathered){0};
}
