/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Real models of many families, as their own programs saved them: every tensor as torch reads it, and what the family's
 * profile makes of it, by hash. The files are found by what stands beside them, so a family more needs no line here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <ftw.h>
#include <librecord.h>

#include "tests/scratch.h"
#include "common/sha256.h"
#include "tests/shared.h"

/* ----------------------------------------------------------------------------------------------------- fixture -- */

static rec_context *context;
static char **tables; /* all .tsv files, sorted */
static size_t table_count;

static int see_file(const char *path, const struct stat *state, int kind, struct FTW *where)
{
    size_t length = strlen(path);
    (void)state;
    (void)where;
    if (kind == FTW_F && length > 4 && strcmp(path + length - 4, ".tsv") == 0) {
        tables = realloc(tables, (table_count + 1) * sizeof *tables);
        tables[table_count++] = strdup(path);
    }
    return 0;
}

static int compare_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int set_up(void **state)
{
    char root[512];
    (void)state;
    if (shared_path(root, sizeof root, "families")) {
        (void)nftw(root, see_file, 16, FTW_PHYS);
        qsort(tables, table_count, sizeof *tables, compare_text);
    }
    context = rec_context_new(NULL);
    return context ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    for (size_t i = 0; i < table_count; i++) {
        free(tables[i]);
    }
    free(tables);
    rec_context_free(context);
    return 0;
}

static int skipped(void)
{
    if (table_count == 0) {
        print_message("no families: nothing to compare with\n");
    }
    return table_count == 0;
}

/* ------------------------------------------------------------------------------------------------------ tables -- */

enum { CELLS = 8 };
enum { KEY, DTYPE, SHAPE, HASH, TYPE, SOURCE, OPERATIONS }; /* of an expected.tsv; the first four of a keys.tsv, too */

/** A file of lines whose cells are separated by tabs; its first line is their names. */
typedef struct table {
    char *text;
    char *(*rows)[CELLS];
    size_t count;
} table;

static table *table_read(const char *path)
{
    table *t = calloc(1, sizeof *t);
    FILE *file = fopen(path, "rb");
    size_t size = 0, room = 0;
    char *save = NULL;
    if (!file || getdelim(&t->text, &room, '\0', file) < 0 || fclose(file) != 0) {
        scratch_die(path);
    }
    size = strlen(t->text);
    t->rows = calloc(size, sizeof *t->rows);
    (void)strtok_r(t->text, "\n", &save);
    for (char *line = strtok_r(NULL, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        for (int i = 0; i < CELLS && line; i++) {
            t->rows[t->count][i] = strsep(&line, "\t");
        }
        t->count++;
    }
    return t;
}

static void table_free(table *t)
{
    free(t->rows);
    free(t->text);
    free(t);
}

/** The model that a table is about: NAME.safetensors, or the model in one or several files beside it. */
static char *model_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t folder = (size_t)(slash - path), name = strcspn(slash + 1, ".");
    char *found = NULL;
    for (int i = 0; i < 3; i++) {
        free(found);
        if (asprintf(&found, "%.*s/%.*s%s", (int)folder, path, i == 0 ? (int)name : 5, i == 0 ? slash + 1 : "model",
                     i < 2 ? ".safetensors" : ".safetensors.index.json") < 0) {
            scratch_die("asprintf");
        }
        if (access(found, R_OK) == 0) {
            return found;
        }
    }
    fail_msg("%s: no model stands beside it", path);
    return NULL;
}

static bool ends(const char *text, const char *with)
{
    return strlen(text) >= strlen(with) && strcmp(text + strlen(text) - strlen(with), with) == 0;
}

static bool profile_exists(const char *name)
{
    for (uint64_t i = 0; i < rec_profile_count(context); i++) {
        if (strcmp(rec_profile_get(context, i)->name, name) == 0) {
            return true;
        }
    }
    return false;
}

/** "llama-tied.expected.tsv" is made by llama, "llama.norope.expected.tsv" by llama-norope. */
static bool profile_of(const char *path, char *name, size_t room)
{
    (void)snprintf(name, room, "%s", strrchr(path, '/') + 1);
    *strstr(name, strstr(name, ".expected.") ? ".expected." : ".keys.") = '\0';
    for (char *dot = strchr(name, '.'); dot; dot = strchr(dot, '.')) {
        *dot = '-';
    }
    while (!profile_exists(name)) {
        char *dash = strrchr(name, '-');
        if (!dash) {
            return false;
        }
        *dash = '\0';
    }
    return true;
}

/* --------------------------------------------------------------------------------------------------- comparing -- */

static uint64_t mistakes; /* of the file that is compared; each is a line */

static void mistake(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void mistake(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (++mistakes <= 20) {
        print_message("    ");
        vprint_message(format, args);
        print_message("\n");
    }
    va_end(args);
}

static rec_recorder *open_with(const char *recorder, const char *const *arguments)
{
    rec_recorder *r = rec_open_recorder_in(context, recorder, REC_PRECISION_KEEP);
    assert_non_null(r);
    for (; arguments && *arguments; arguments += 2) {
        if (rec_recorder_set(r, arguments[0], arguments[1]) != REC_OK) {
            fail_msg("%s = %s: %s", arguments[0], arguments[1], rec_error_message());
        }
    }
    return r;
}

/** Dots of names are written with a backslash in paths; the tables have plain keys. */
static void plain(char *path)
{
    char *to = path;
    for (const char *from = path; *from; from++) {
        *to++ = *from == '\\' && from[1] ? *++from : *from;
    }
    *to = '\0';
}

static void print_shape(char *text, size_t room, const uint64_t *shape, uint32_t rank)
{
    size_t used = (size_t)snprintf(text, room, "[");
    for (uint32_t i = 0; i < rank; i++) {
        used += (size_t)snprintf(text + used, room - used, "%s%llu", i ? "," : "", (unsigned long long)shape[i]);
    }
    (void)snprintf(text + used, room - used, "]");
}

static int compare_row(const void *key, const void *row)
{
    return strcmp(key, ((char *const *)row)[KEY]);
}

static int sort_row(const void *a, const void *b)
{
    return strcmp(((char *const *)a)[KEY], ((char *const *)b)[KEY]);
}

/** Every tensor has its row, and every row its tensor: dtype, shape and bytes. */
static void compare_record(const rec_record *record, const table *t)
{
    rec_iterator *all = rec_iterate(record);
    const rec_tensor *tensor;
    const char *path;
    uint64_t found = 0;

    qsort(t->rows, t->count, sizeof *t->rows, sort_row);
    while ((tensor = rec_iterator_next_tensor(all, &path)) != NULL) {
        char key[512], shape[128], hash[65];
        char *const *row;
        const void *bytes;
        uint64_t size;
        (void)snprintf(key, sizeof key, "%s", path);
        plain(key);
        row = bsearch(key, t->rows, t->count, sizeof *t->rows, compare_row);
        if (!row) {
            mistake("%s: nothing asks for it", key);
            continue;
        }
        found++;
        print_shape(shape, sizeof shape, rec_tensor_shape(tensor), rec_tensor_rank(tensor));
        if (strcasecmp(rec_tensor_dtype_name(tensor), row[DTYPE]) != 0) {
            mistake("%s: expected %s, found %s", key, row[DTYPE], rec_tensor_dtype_name(tensor));
        }
        if (strcmp(shape, row[SHAPE]) != 0) {
            mistake("%s: expected the shape %s, found %s", key, row[SHAPE], shape);
        }
        bytes = rec_tensor_bytes(tensor, &size);
        if (!bytes) {
            mistake("%s: %s", key, rec_error_message());
            continue;
        }
        lr_sha256_hex(bytes, (size_t)size, hash);
        if (strcmp(hash, row[HASH]) != 0) {
            mistake("%s: other bytes", key);
        }
    }
    rec_iterator_free(all);
    if (found != t->count) {
        for (size_t i = 0; i < t->count; i++) {
            char escaped[512];
            const rec_value *value = rec_value_at(record, t->rows[i][KEY]);
            size_t used = 0;
            for (const char *c = t->rows[i][KEY]; *c && used + 2 < sizeof escaped; c++) {
                if (*c == '.') {
                    escaped[used++] = '\\';
                }
                escaped[used++] = *c;
            }
            escaped[used] = '\0';
            if (!value && !rec_value_at(record, escaped)) {
                mistake("%s: it is missing", t->rows[i][KEY]);
            }
        }
    }
    assert_true(found == t->count || mistakes > 0);
}

static bool has(const char *text, const char *word)
{
    return strstr(text, word) != NULL;
}

/** A plan says what it will do before it does it: the same tensors, and the operations that the table names. */
static void compare_plan(rec_plan *plan, const table *t)
{
    static const char *const words[] = {"transpose", "rope", "split", NULL};
    uint64_t mapped = 0;
    for (uint64_t i = 0; i < rec_plan_count(plan); i++) {
        const rec_plan_line *line = rec_plan_get(plan, i);
        char key[512], shape[128];
        char *const *row;
        if (line->action != REC_PLAN_MAPPED) {
            if (line->action != REC_PLAN_DROPPED) {
                mistake("%s -> %s: it is neither mapped nor dropped", line->from, line->to);
            }
            continue;
        }
        mapped++;
        (void)snprintf(key, sizeof key, "%s", line->to);
        plain(key);
        row = bsearch(key, t->rows, t->count, sizeof *t->rows, compare_row);
        if (!row) {
            mistake("%s: a line of the plan that nothing asks for", key);
            continue;
        }
        print_shape(shape, sizeof shape, line->shape_after, line->rank_after);
        if (strcmp(shape, row[SHAPE]) != 0 || strcasecmp(rec_dtype_name(line->dtype_after), row[DTYPE]) != 0) {
            mistake("%s: planned as %s %s, is %s %s", key, rec_dtype_name(line->dtype_after), shape, row[DTYPE],
                    row[SHAPE]);
        }
        if (strcmp(line->from, row[SOURCE]) != 0) {
            mistake("%s: planned from %s, is from %s", key, line->from, row[SOURCE]);
        }
        for (int w = 0; words[w]; w++) {
            if (has(line->operations, words[w]) != has(row[OPERATIONS], words[w])) {
                mistake("%s: planned operations \"%s\", are \"%s\"", key, line->operations, row[OPERATIONS]);
            }
        }
    }
    if (mapped != t->count) {
        mistake("%llu tensors are planned, %zu asked for", (unsigned long long)mapped, t->count);
    }
    for (uint64_t i = 0; i < rec_plan_problem_count(plan); i++) {
        const rec_plan_problem *problem = rec_plan_problem_get(plan, i);
        if (problem->fatal) {
            mistake("%s: %s (%s)", problem->key, problem->text, problem->hint);
        }
    }
}

/** What no tensor of a family shows, or Burn has no field for. */
static void say_the_rest(rec_recorder *from, const char *profile)
{
    if (strcmp(profile, "mha") == 0 && (rec_recorder_set(from, "set", "norm_first=0") != REC_OK ||
                                        rec_recorder_set(from, "drop", "bias_[kv]$") != REC_OK)) {
        mistake("%s", rec_error_message());
    }
}

static rec_plan *plan_for(const char *model, const char *profile)
{
    const char *const arguments[] = {"profile", profile, NULL};
    rec_recorder *from = open_with("Auto", arguments);
    rec_plan *plan = rec_plan_new(context, NULL);
    assert_non_null(plan);
    say_the_rest(from, profile);
    if (rec_plan_add(plan, from, model) != REC_OK || rec_plan_make(plan) != REC_OK) {
        mistake("%s", rec_error_message());
        rec_plan_free(plan);
        plan = NULL;
    }
    rec_close_recorder(from);
    return plan;
}

/* ------------------------------------------------------------------------------------------------------- tests -- */

/** Runs `check` for each table that ends so, and fails at the end with the names of all that were not right. */
static void each(const char *suffix, void (*check)(const char *path, const table *t, const char *model))
{
    uint64_t failed = 0, seen = 0;
    for (size_t i = 0; i < table_count; i++) {
        table *t;
        char *model;
        if (!ends(tables[i], suffix)) {
            continue;
        }
        t = table_read(tables[i]);
        model = model_of(tables[i]);
        seen++;
        mistakes = 0;
        check(tables[i], t, model);
        if (mistakes > 0) {
            print_message("  %s: %llu mistakes\n", tables[i], (unsigned long long)mistakes);
            failed++;
        }
        free(model);
        table_free(t);
    }
    assert_true(seen > 0);
    assert_int_equal(failed, 0);
}

static void check_keys(const char *path, const table *t, const char *model)
{
    const char *const raw[] = {"adapter", "none", "gaps", "keep", NULL};
    rec_recorder *r = open_with("Auto", raw);
    rec_record *record = rec_load(r, model);
    (void)path;
    if (record) {
        compare_record(record, t);
    } else {
        mistake("%s", rec_error_message());
    }
    rec_record_free(record);
    rec_close_recorder(r);
}

static void tensors_are_those_that_torch_reads(void **state)
{
    (void)state;
    if (skipped()) {
        skip();
    }
    each(".keys.tsv", check_keys);
}

static void check_profile(const char *path, const table *t, const char *model)
{
    char profile[256];
    rec_plan *plan;
    rec_record *record;
    if (!profile_of(path, profile, sizeof profile)) {
        mistake("no profile is called as it is, nor as the beginning of its name");
        return;
    }
    qsort(t->rows, t->count, sizeof *t->rows, sort_row);
    plan = plan_for(model, profile);
    if (!plan) {
        return;
    }
    compare_plan(plan, t);
    record = rec_plan_load(plan);
    if (record) {
        compare_record(record, t);
    } else {
        mistake("%s", rec_error_message());
    }
    rec_plan_free(plan);
    rec_record_free(record);
}

static void profiles_give_what_burn_must_get(void **state)
{
    (void)state;
    if (skipped()) {
        skip();
    }
    each(".expected.tsv", check_profile);
}

/** The same by way of a file: what is made on the way out is what was made in memory. */
static void check_converted(const char *path, const table *t, const char *model)
{
    char profile[256];
    const char *const arguments[] = {"profile", profile, NULL};
    rec_recorder *from, *to;
    rec_record *record;
    scratch *s;
    char *out;
    if (!profile_of(path, profile, sizeof profile)) {
        return; /* said by the test above */
    }
    s = scratch_new();
    out = scratch_path(s, "out.mpk");
    from = open_with("Auto", arguments);
    to = open_with("NamedMpk", NULL);
    say_the_rest(from, profile);
    if (rec_convert(from, model, to, out, NULL) != REC_OK) {
        mistake("%s", rec_error_message());
    } else {
        record = rec_load(to, out);
        assert_non_null(record);
        compare_record(record, t);
        rec_record_free(record);
    }
    rec_close_recorder(from);
    rec_close_recorder(to);
    free(out);
    scratch_free(s);
}

static void converted_files_hold_the_same(void **state)
{
    (void)state;
    if (skipped()) {
        skip();
    }
    each(".expected.tsv", check_converted);
}

/** Two ways of saving one architecture lead to the same keys and shapes.
 *  @param prefix what the sibling's keys have in front. */
static void same_keys(const char *model_below, const char *profile, const char *table_below, const char *prefix)
{
    char model[512], sibling[512];
    rec_plan *plan;
    table *t;
    uint64_t found = 0;
    if (!shared_path(model, sizeof model, model_below) || !shared_path(sibling, sizeof sibling, table_below) ||
        access(model, R_OK) != 0) {
        print_message("not there: %s\n", model_below);
        skip();
    }
    mistakes = 0;
    t = table_read(sibling);
    qsort(t->rows, t->count, sizeof *t->rows, sort_row);
    plan = plan_for(model, profile);
    if (plan) {
        for (uint64_t i = 0; i < rec_plan_count(plan); i++) {
            const rec_plan_line *line = rec_plan_get(plan, i);
            char shape[128], key[512];
            char *const *row;
            if (line->action != REC_PLAN_MAPPED) {
                continue;
            }
            (void)snprintf(key, sizeof key, "%s%s", prefix, line->to);
            row = bsearch(key, t->rows, t->count, sizeof *t->rows, compare_row);
            print_shape(shape, sizeof shape, line->shape_after, line->rank_after);
            if (!row || strcmp(row[SHAPE], shape) != 0) {
                mistake("%s %s: the sibling has %s", key, shape, row ? row[SHAPE] : "no such key");
            }
            found++;
        }
        assert_int_equal(found, t->count);
    }
    rec_plan_free(plan);
    table_free(t);
    assert_int_equal(mistakes, 0);
}

static void torchvision_and_transformers_agree_on_a_vit(void **state)
{
    (void)state;
    same_keys("families/vit/torchvision/vit-torchvision.safetensors", "vit-torchvision",
              "families/vit/vit.expected.tsv", "");
}

static void gpt2_of_the_hub_loses_its_masks_alone(void **state)
{
    (void)state;
    same_keys("families/gpt2/hub/gpt2-hub.safetensors", "gpt2", "families/gpt2/gpt2.expected.tsv", "transformer.");
}

static void gpt2_of_the_hub_splits_as_well(void **state)
{
    (void)state;
    same_keys("families/gpt2/hub/gpt2-hub.safetensors", "gpt2-split", "families/gpt2/gpt2.split.expected.tsv", "");
}

static void a_folder_is_the_model_in_it(void **state)
{
    char folder[512], path[512];
    const char *const raw[] = {"adapter", "none", "gaps", "keep", NULL};
    rec_recorder *r;
    rec_record *record;
    table *t;
    (void)state;
    if (!shared_path(folder, sizeof folder, "families/llama") ||
        !shared_path(path, sizeof path, "families/llama/llama.keys.tsv")) {
        skip();
    }
    r = open_with("Safetensors", raw);
    record = rec_load(r, folder);
    if (!record) {
        fail_msg("%s", rec_error_message());
    }
    t = table_read(path);
    mistakes = 0;
    compare_record(record, t);
    table_free(t);
    rec_record_free(record);
    rec_close_recorder(r);
    assert_int_equal(mistakes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensors_are_those_that_torch_reads),
        cmocka_unit_test(profiles_give_what_burn_must_get),
        cmocka_unit_test(converted_files_hold_the_same),
        cmocka_unit_test(torchvision_and_transformers_agree_on_a_vit),
        cmocka_unit_test(gpt2_of_the_hub_loses_its_masks_alone),
        cmocka_unit_test(gpt2_of_the_hub_splits_as_well),
        cmocka_unit_test(a_folder_is_the_model_in_it),
    };
    return cmocka_run_group_tests_name("families", tests, set_up, tear_down);
}
