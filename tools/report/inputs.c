/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Finds the records of a report: the named files, and the files of directories in the order of their numbers. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/report/report_private.h"

static void add(inputs *list, const char *path, size_t operand, bool found)
{
    list->at = tool_grown(list->at, list->count, sizeof *list->at);
    list->at[list->count++] = (input){.path = xstrdup(path), .operand = operand, .found = found};
}

void tool_report_inputs_free(inputs *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->at[i].path);
        free(list->at[i].name);
    }
    free(list->at);
    *list = (inputs){0};
}

/* ----------------------------------------------------------------------------------------------------- numbers -- */

static int by_name(const void *a, const void *b)
{
    return tool_compare_names(((const input *)a)->path, ((const input *)b)->path);
}

/* A name with a hash sign for each number. */
static char *pattern_of(const char *name)
{
    text t = {0};

    tool_text_put(&t, "");
    for (size_t step; *name; name += step) {
        step = strspn(name, "0123456789");
        tool_text_add(&t, step ? "#" : name, 1);
        step = step ? step : 1;
    }
    return t.at;
}

/* @return number `index` of a name, from 0; false if there are fewer, or it is too large. */
static bool number_of(const char *name, size_t index, uint64_t *number)
{
    for (size_t i = 0;; i++) {
        size_t length;
        name += strcspn(name, "0123456789");
        length = strspn(name, "0123456789");
        if (!length) {
            return false;
        }
        if (i == index) {
            *number = strtoull(name, NULL, 10);
            return length < 16; /* what a number of JavaScript holds */
        }
        name += length;
    }
}

/* Finds the one number in which the names differ, if that is all that they differ in. */
static void number(inputs *list)
{
    size_t differ = SIZE_MAX, count = 0;
    bool alike = list->count > 1;
    char *first = alike ? pattern_of(list->at[0].path) : NULL;
    uint64_t a, b;

    for (size_t i = 1; i < list->count && alike; i++) {
        char *its = pattern_of(list->at[i].path);
        alike = strcmp(first, its) == 0;
        free(its);
    }
    for (size_t k = 0; alike && first[k]; k++) {
        count += first[k] == '#';
    }
    for (size_t k = 0; k < count && alike; k++) {
        for (size_t i = 1; i < list->count && alike; i++) {
            alike = number_of(list->at[0].path, k, &a) && number_of(list->at[i].path, k, &b);
            if (alike && a != b) {
                alike = differ == SIZE_MAX || differ == k;
                differ = k;
            }
        }
    }
    free(first);
    for (size_t i = 0; i < list->count && alike && differ != SIZE_MAX; i++) {
        list->at[i].numbered = number_of(list->at[i].path, differ, &list->at[i].step);
    }
}

/* ----------------------------------------------------------------------------------------------------- folders -- */

/* Files that go together by their names. */
typedef struct sort {
    char *pattern;
    size_t count;
    uint64_t bytes;
    bool model;
    size_t depth; /* folders below */
} sort;

/* @return whether `a` is more likely what is looked for. */
static bool is_better(const sort *a, const sort *b)
{
    return a->model != b->model   ? a->model
           : a->count != b->count ? a->count > b->count
           : a->depth != b->depth ? a->depth < b->depth
                                  : a->bytes > b->bytes;
}

/* Of models, optimizers and schedulers side by side one sort is taken. */
static void choose(inputs *list, const char *folder, notes *n)
{
    sort *sorts = xmalloc((list->count + 1) * sizeof *sorts);
    size_t *of = xmalloc((list->count + 1) * sizeof *of);
    size_t count = 0, best = 0, kept = 0;
    text said = {0};
    size_t unsaid = 0;

    for (size_t i = 0; i < list->count; i++) {
        const char *path = list->at[i].path, *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
        char *pattern = pattern_of(path + strlen(folder));
        struct stat is;
        size_t k = 0;
        while (k < count && strcmp(sorts[k].pattern, pattern) != 0) {
            k++;
        }
        if (k == count) {
            sorts[count] = (sort){.pattern = pattern, .model = strncmp(base, "model", strlen("model")) == 0};
            for (const char *c = pattern; *c; c++) {
                sorts[count].depth += *c == '/';
            }
            count++;
        } else {
            free(pattern);
        }
        of[i] = k;
        sorts[k].count++;
        sorts[k].bytes += stat(path, &is) == 0 ? (uint64_t)is.st_size : 0;
    }
    for (size_t k = 1; k < count; k++) {
        best = is_better(&sorts[k], &sorts[best]) ? k : best;
    }
    for (size_t i = 0; i < list->count; i++) {
        if (of[i] == best) {
            list->at[kept++] = list->at[i];
        } else {
            free(list->at[i].path);
        }
    }
    list->count = kept;
    for (size_t k = 0; k < count; k++) {
        const char *name = sorts[k].pattern + strspn(sorts[k].pattern, "/");
        if (k != best && said.length < 160) {
            tool_text_format(&said, "%s%s (%zu)", said.length ? ", " : "", name, sorts[k].count);
        } else if (k != best) {
            unsaid++;
        }
    }
    if (unsaid) {
        tool_text_format(&said, " and %zu more", unsaid);
    }
    if (count > 1) {
        const char *name = sorts[best].pattern + strspn(sorts[best].pattern, "/");
        tool_notes_add(n, REC_NOTE_DROPPED, "",
                       xasprintf("%s: the report is about %s (%zu); left out: %s. --include 'GLOB' selects others",
                                 folder, name, sorts[best].count, said.at));
    }
    tool_text_free(&said);
    for (size_t k = 0; k < count; k++) {
        free(sorts[k].pattern);
    }
    free(sorts);
    free(of);
}

/* Whether a file is selected; a pattern without a slash applies to the name alone. */
static bool is_included(const options *o, const char *below)
{
    const char *glob, *slash = strrchr(below, '/');
    bool any = false;

    for (size_t at = 0; (glob = tool_own_next(o, "include", &at)); any = true) {
        if (fnmatch(glob, strchr(glob, '/') || !slash ? below : slash + 1, 0) == 0) {
            return true;
        }
    }
    return !any;
}

static int add_folder(session *s, inputs *list, const char *folder, size_t operand, notes *n)
{
    input_files all = {0};
    inputs files = {0};
    int status = tool_inputs_add_folder(s, &all, folder);

    for (size_t i = 0; i < all.count && status == EXIT_OK; i++) {
        const char *below = all.files[i] + strlen(folder);
        if (is_included(s->o, below + strspn(below, "/"))) {
            add(&files, all.files[i], operand, true);
        }
    }
    tool_inputs_free(&all);
    if (status == EXIT_OK && !files.count) {
        status = tool_fail("%s: there is no record in this directory%s", folder,
                           tool_own(s->o, "include") ? " that --include asks for" : "");
    }
    if (status == EXIT_OK && !tool_own(s->o, "include")) {
        choose(&files, folder, n);
    }
    if (files.count) {
        qsort(files.at, files.count, sizeof *files.at, by_name);
    }
    for (size_t i = 0; i < files.count; i++) {
        add(list, files.at[i].path, operand, true);
    }
    tool_report_inputs_free(&files);
    return status;
}

/* ------------------------------------------------------------------------------------------------------- names -- */

/* Names without the folders that all are in. */
static void name(inputs *list)
{
    const char *first = list->count ? list->at[0].path : "";
    size_t common = strlen(first), slash = 0;

    for (size_t i = 0; i < list->count; i++) {
        size_t same = 0;
        while (same < common && list->at[i].path[same] == first[same]) {
            same++;
        }
        common = same;
    }
    for (size_t i = 0; i < common; i++) {
        slash = first[i] == '/' ? i + 1 : slash;
    }
    for (size_t i = 0; i < list->count; i++) {
        const char *path = tool_input_name(list->at[i].path);
        list->at[i].name = xstrdup(path[slash] ? path + slash : path);
    }
}

int tool_report_inputs(session *s, const char *const *operands, size_t count, inputs *list, notes *n)
{
    bool folders = false;
    int status = EXIT_OK;

    *list = (inputs){0};
    for (size_t i = 0; i < count && status == EXIT_OK; i++) {
        struct stat is;
        if (stat(operands[i], &is) == 0 && S_ISDIR(is.st_mode)) {
            folders = true;
            status = add_folder(s, list, operands[i], i + 1, n);
        } else {
            add(list, operands[i], i + 1, false);
        }
    }
    if (status == EXIT_OK && !folders && tool_own(s->o, "include")) {
        status = tool_fail_usage("report", "--include chooses among the files of a directory, and none was given");
    }
    if (status == EXIT_OK) {
        number(list);
        if (list->count > 2 && list->at[0].numbered && !folders) {
            qsort(list->at, list->count, sizeof *list->at, by_name); /* a shell has model-10 before model-2 */
        }
        name(list);
    }
    return status;
}
