/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What is listed of a record, and in which order. */
#include <stdlib.h>
#include <string.h>

#include "tools/list/list_private.h"

/* ----------------------------------------------------------------------------------------------------- options -- */

int tool_manner_read(const options *o, manner *m)
{
    static const char *const orders[] = {[SORT_FILE] = "file",   [SORT_NAME] = "name",   [SORT_SIZE] = "size",
                                         [SORT_DTYPE] = "dtype", [SORT_SHAPE] = "shape", [SORT_OFFSET] = "offset"};
    const char *sort = tool_own(o, "sort");
    double depth = 0;

    *m = (manner){.tree = tool_own(o, "tree"), .sums = tool_own(o, "sha256"), .all = o->all};
    m->each = m->sums || tool_own(o, "long");
    if (tool_own_number(o, "depth", 1, &depth) != EXIT_OK) {
        return EXIT_ERROR;
    }
    m->depth = depth < 1e6 ? (size_t)depth : 1000000;
    if ((double)m->depth < depth && depth < 1e6) {
        return tool_fail("--depth: expected a whole number, found \"%s\"", tool_own(o, "depth"));
    }
    if (m->each && (m->tree || m->depth)) {
        return tool_fail_usage("ls", "--%s prints a line for each tensor, --%s does not", m->sums ? "sha256" : "long",
                               m->tree ? "tree" : "depth");
    }
    if (sort) {
        m->backwards = *sort == '-';
        while (m->sort <= SORT_OFFSET && strcmp(sort + m->backwards, orders[m->sort]) != 0) {
            m->sort++;
        }
        if (m->sort > SORT_OFFSET) {
            return tool_fail("--sort: expected file, name, size, dtype, shape or offset, with a minus sign before it "
                             "for the other way round; found \"%s\"",
                             sort);
        }
    }
    return EXIT_OK;
}

/* ----------------------------------------------------------------------------------------------------- sorting -- */

/* The larger ranks first, then the larger dimensions. */
static int compare_shapes(const entry *a, const entry *b)
{
    if (a->rank != b->rank) {
        return a->rank > b->rank ? -1 : 1;
    }
    for (uint32_t i = 0; i < a->rank; i++) {
        if (a->shape[i] != b->shape[i]) {
            return a->shape[i] > b->shape[i] ? -1 : 1;
        }
    }
    return 0;
}

/* A line to sort; it stands for several tensors. */
typedef struct line {
    const entry *first;
    const char *key;
    uint64_t bytes, offset;
    size_t place; /* where it stood */
    const manner *m;
} line;

static int compare_lines(const void *one, const void *other)
{
    const line *a = one, *b = other;
    int order = 0;

    switch (a->m->sort) {
    case SORT_NAME:
        order = tool_compare_keys(a->key, b->key);
        break;
    case SORT_SIZE:
        order = (a->bytes < b->bytes) - (a->bytes > b->bytes);
        break;
    case SORT_DTYPE:
        order = strcmp(a->first->dtype, b->first->dtype);
        break;
    case SORT_SHAPE:
        order = compare_shapes(a->first, b->first);
        break;
    case SORT_OFFSET:
        order = (a->offset > b->offset) - (a->offset < b->offset);
        break;
    default:
        order = (a->place > b->place) - (a->place < b->place);
        break;
    }
    order = a->m->backwards ? -order : order;
    return order ? order : (a->place > b->place) - (a->place < b->place);
}

static void sort_tensors(listing *l, const manner *m)
{
    size_t count = l->tensor_count;
    line *lines = xmalloc(count * sizeof *lines);
    entry *tensors = xmalloc(count * sizeof *tensors);
    const rec_tensor **handles = xmalloc(count * sizeof *handles);

    for (size_t i = 0; i < count; i++) {
        lines[i] = (line){&l->tensors[i],
                          l->tensors[i].path,
                          rec_tensor_nbytes(l->handles[i]),
                          rec_tensor_offset(l->handles[i]),
                          i,
                          m};
    }
    qsort(lines, count, sizeof *lines, compare_lines);
    for (size_t i = 0; i < count; i++) {
        tensors[i] = l->tensors[lines[i].place];
        handles[i] = l->handles[lines[i].place];
    }
    free(l->tensors);
    free(l->handles);
    free(lines);
    l->tensors = tensors;
    l->handles = handles;
}

void tool_listing_sort_folds(const listing *l, const manner *m, fold *folds, size_t count)
{
    line *lines = xmalloc(count * sizeof *lines);
    fold *sorted = xmalloc(count * sizeof *sorted);

    for (size_t i = 0; i < count; i++) {
        const rec_tensor *first = l->handles[folds[i].first];
        lines[i] = (line){&l->tensors[folds[i].first],
                          folds[i].key,
                          rec_tensor_nbytes(first) * folds[i].repeats * folds[i].names,
                          rec_tensor_offset(first),
                          i,
                          m};
    }
    if (count) {
        qsort(lines, count, sizeof *lines, compare_lines);
    }
    for (size_t i = 0; i < count; i++) {
        sorted[i] = folds[lines[i].place];
    }
    for (size_t i = 0; i < count; i++) {
        folds[i] = sorted[i];
    }
    free(sorted);
    free(lines);
}

static int compare_values(const void *a, const void *b)
{
    return tool_compare_keys(((const listed_value *)a)->path, ((const listed_value *)b)->path);
}

static int compare_values_back(const void *a, const void *b)
{
    return compare_values(b, a);
}

/* -------------------------------------------------------------------------------------------------------- sums -- */

static int keep_sum(void *user, size_t i, const measured_tensor *made)
{
    listing *l = user;

    memcpy(l->sums[i], made->sum, sizeof l->sums[i]);
    return made->status == REC_OK ? EXIT_OK : tool_fail_library();
}

static int sum_all(session *s, listing *l)
{
    int status;

    l->sums = xmalloc(l->tensor_count * sizeof *l->sums);
    tool_progress_begin(s->context, s->o->quiet);
    status = tool_measure_each(s, "sum", l->nbytes, l->handles, l->tensor_count, MEASURE_SUM, keep_sum, l);
    tool_progress_end();
    return status;
}

int tool_listing_make(session *s, const rec_record *record, key_patterns *keys, const manner *m, listing *l)
{
    int status = tool_listing_gather(record, keys, true, l);

    if (status == EXIT_OK && l->tensor_count && (m->sort != SORT_FILE || m->backwards)) {
        sort_tensors(l, m);
    }
    if (status == EXIT_OK && l->value_count && m->sort == SORT_NAME) {
        qsort(l->values, l->value_count, sizeof *l->values, m->backwards ? compare_values_back : compare_values);
    }
    return status == EXIT_OK && m->sums ? sum_all(s, l) : status;
}

const char *tool_sum_text(const sum_bytes sum, size_t bytes, char *hex)
{
    for (size_t i = 0; i < bytes; i++) {
        (void)snprintf(hex + 2 * i, 3, "%02x", sum[i]);
    }
    return hex;
}
