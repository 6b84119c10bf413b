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

/* As people count: layers.2 before layers.10; a level ends before anything else. */
static int compare_names(const char *a, const char *b)
{
    while (*a && *b) {
        size_t x = strspn(a, "0123456789"), y = strspn(b, "0123456789");
        int order;
        if (x && y) {
            for (; x > 1 && *a == '0'; x--) {
                a++;
            }
            for (; y > 1 && *b == '0'; y--) {
                b++;
            }
            order = x != y ? (x > y) - (x < y) : memcmp(a, b, x);
            if (order) {
                return order;
            }
            a += x;
            b += y;
            continue;
        }
        if (*a != *b) {
            return *a == '.' ? -1 : *b == '.' ? 1 : (unsigned char)*a < (unsigned char)*b ? -1 : 1;
        }
        a++;
        b++;
    }
    return (*a != '\0') - (*b != '\0');
}

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
        order = compare_names(a->key, b->key);
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
    return compare_names(((const listed_value *)a)->path, ((const listed_value *)b)->path);
}

static int compare_values_back(const void *a, const void *b)
{
    return compare_values(b, a);
}

/* -------------------------------------------------------------------------------------------------------- sums -- */

typedef struct summing {
    listing *l;
    rec_status *status; /* of each tensor */
    size_t first;       /* of those that are summed side by side */
} summing;

static void sum_one(void *user, uint64_t i)
{
    summing *s = user;

    i += s->first;
    s->status[i] = tool_tensor_sum_alone(s->l->handles[i], s->l->sums[i]);
}

static int sum_all(session *s, listing *l)
{
    enum { AT_ONCE = 64 << 20 }; /* bytes between two looks at how far it is */
    summing work = {l, xmalloc(l->tensor_count * sizeof *work.status), 0};
    uint64_t done = 0;
    int status = EXIT_OK;

    l->sums = xmalloc(l->tensor_count * sizeof *l->sums);
    tool_progress_begin(s->context, s->o->quiet);
    for (size_t count; work.first < l->tensor_count; work.first += count) {
        uint64_t bytes = 0;
        for (count = 0; work.first + count < l->tensor_count && bytes < AT_ONCE; count++) {
            bytes += rec_tensor_nbytes(l->handles[work.first + count]);
        }
        tool_parallel(s, count, sum_one, &work);
        done += bytes;
        tool_progress_step("sum", done, l->nbytes);
    }
    tool_progress_end();
    for (size_t i = 0; i < l->tensor_count && status == EXIT_OK; i++) {
        /* The library keeps its error for the thread that met it. */
        if (work.status[i] != REC_OK) {
            status = tool_tensor_sum(s, l->handles[i], l->sums[i]);
        }
    }
    free(work.status);
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
