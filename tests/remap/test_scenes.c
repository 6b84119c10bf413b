/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Plans as text: each scene of tests/data/plans/ has sources, load arguments, a type or a base, and what comes of them,
 * to the letter: lines, problems with their hints, and the values that are loaded. Each is made again with each of its
 * allocations failing. */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>

#define FAILING_ARENAS 1
#include "tests/failing.h"
#include "tests/remap/plans.h"

enum { SOURCES_MAX = 8, ARGUMENTS_MAX = 40 };

typedef struct argument {
    char *key, *value;
} argument;

/* One scene as it stands in its file. */
typedef struct scene {
    char *name;
    argument arguments[ARGUMENTS_MAX]; /* of load arguments; `of 2 KEY = VALUE` of the second source alone */
    uint32_t argument_count;
    char *sources[SOURCES_MAX];
    uint32_t source_count;
    char *base, *type, *expression;
    char *expected;
    /* made of it, in a context of its own */
    rec_record *records[SOURCES_MAX], *base_record;
    rec_recorder *recorders[SOURCES_MAX];
    rec_types *types;
} scene;

/* ----------------------------------------------------------------------------------------------------- records -- */

static void put_tensor(rec_record *record, const char *key, const char *what)
{
    rec_tensor_spec spec = {.size = sizeof spec, .dtype = REC_DTYPE_F32, .id = ""};
    uint64_t shape[8], count = 1, used = 0;
    double first = 1;
    char *text = strdup(what), *word = text, *name = strchr(text, ':'), *at = strchr(text, '@');
    static uint8_t storage[16384];
    uint64_t width;
    if (at) {
        *at = '\0';
        first = strtod(at + 1, NULL);
    }
    if (name) {
        *name++ = '\0';
        spec.dtype = rec_dtype_from_name(name);
    }
    for (; *word; word += *word == 'x') {
        shape[used] = strtoull(word, &word, 10);
        count *= shape[used++];
    }
    spec.shape = shape;
    spec.rank = (uint32_t)used;
    width = rec_dtype_bits(spec.dtype) / 8;
    assert_true(width && count * width <= sizeof storage);
    for (uint64_t i = 0; i < count; i++) {
        double element = first + (double)i;
        uint64_t bits = (uint64_t)element;
        float single = (float)element;
        if (spec.dtype == REC_DTYPE_F32) {
            uint32_t word32;
            memcpy(&word32, &single, 4);
            bits = word32;
        } else if (spec.dtype == REC_DTYPE_F64) {
            memcpy(&bits, &element, 8);
        }
        for (uint64_t k = 0; k < width; k++) {
            storage[i * width + k] = (uint8_t)(bits >> (8 * k));
        }
    }
    spec.data = storage;
    spec.data_size = count * width;
    ok(rec_set_tensor(record, key, &spec));
    free(text);
}

/* "a.weight=2x3 a.n=#5 b=map": keys with shapes (`:dtype`, `@first element`), numbers, texts, kinds. */
static rec_record *record_of(rec_context *context, const char *text)
{
    rec_record *record = rec_record_new(context);
    char *copy = strdup(text), *rest = copy, *word;
    assert_non_null(record);
    while ((word = strtok_r(rest, " \n", &rest)) != NULL) {
        char *what = strrchr(word, '=');
        if (!what) {
            fail_msg("%s: no =", word);
        }
        *what++ = '\0';
        if (*what == '#') {
            ok(rec_set_uint(record, word, strtoull(what + 1, NULL, 10)));
        } else if (*what == '"') {
            ok(rec_set_string(record, word, what + 1));
        } else if (strcmp(what, "map") == 0 || strcmp(what, "list") == 0) {
            ok(rec_set_empty(record, word, *what == 'm' ? REC_KIND_MAP : REC_KIND_LIST));
        } else if (strcmp(what, "nil") == 0) {
            ok(rec_set_nil(record, word));
        } else if (strncmp(word, "metadata.", 9) == 0) {
            ok(rec_metadata_set(record, word + 9, what));
        } else {
            put_tensor(record, word, what);
        }
    }
    free(copy);
    return record;
}

/* ------------------------------------------------------------------------------------------------------- plans -- */

static void print_line(FILE *out, const rec_plan_line *line)
{
    static const char *const actions[] = {"?", "", "dropped", "unexpected", "missing", "kept", "default"};
    for (uint64_t i = 0; i < line->input_count; i++) {
        (void)fprintf(out, "%s%s", i ? " + " : "", line->inputs[i]);
    }
    if (line->action != REC_PLAN_MAPPED) {
        (void)fprintf(out, "%s%s", line->input_count ? " " : "", actions[line->action]);
    }
    if (line->to[0]) {
        (void)fprintf(out, "%s%s", line->input_count && line->action == REC_PLAN_MAPPED ? " -> " : " ", line->to);
    }
    if (line->operations[0]) {
        (void)fprintf(out, ": %s", line->operations);
    }
    if (line->why[0]) {
        (void)fprintf(out, " | %s", line->why);
    }
    (void)fputc('\n', out);
}

static int print_values(FILE *out, const rec_record *record)
{
    rec_iterator *all = rec_iterate(record);
    const rec_value *value;
    const char *path;
    int well = all != NULL;
    while (well && (value = rec_iterator_next(all, &path)) != NULL) {
        const rec_tensor *tensor = rec_value_tensor(value);
        double values[6];
        uint64_t count = tensor ? rec_tensor_count(tensor) : 0;
        if (!tensor) {
            continue;
        }
        count = count > 6 ? 6 : count;
        (void)fprintf(out, "= %s", path);
        for (uint32_t i = 0; i < rec_tensor_rank(tensor); i++) {
            (void)fprintf(out, "%s%" PRIu64, i ? "x" : " ", rec_tensor_shape(tensor)[i]);
        }
        count = rec_tensor_dtype(tensor) == REC_DTYPE_F32 || rec_tensor_dtype(tensor) == REC_DTYPE_F64 ? count : 0;
        well = count == 0 || rec_tensor_read(tensor, REC_DTYPE_F64, 0, count, values) == REC_OK;
        for (uint64_t i = 0; well && i < count; i++) {
            (void)fprintf(out, "%s%.6g", i ? " " : ": ", values[i]);
        }
        (void)fputc('\n', out);
    }
    well = well && rec_error_status() == REC_OK;
    rec_iterator_free(all);
    return well;
}

/* The scene's plan, made and carried out. @return what there is to say; NULL: memory ran out. */
static char *play(rec_context *context, const void *what)
{
    const scene *s = what;
    rec_plan *plan = rec_plan_new(context, NULL);
    rec_record *record = NULL;
    char *text = NULL;
    size_t size = 0;
    bool was_armed = armed, well = plan != NULL, fatal = false;
    long countdown_then;
    FILE *out;
    armed = false;
    out = open_memstream(&text, &size);
    assert_non_null(out);
    armed = was_armed;
    for (uint32_t i = 0; well && i < s->source_count; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "model %u", (unsigned)i + 1);
        well = rec_plan_add_record(plan, s->recorders[i], s->records[i], name) == REC_OK;
    }
    if (well && s->base_record) {
        well = rec_plan_set_base(plan, s->base_record) == REC_OK;
    }
    well = well && rec_plan_make(plan) == REC_OK;
    for (uint64_t i = 0; well && i < rec_plan_count(plan); i++) {
        const rec_plan_line *line = rec_plan_get(plan, i);
        well = line != NULL;
        if (well) {
            print_line(out, line);
        }
    }
    for (uint64_t i = 0; well && i < rec_plan_problem_count(plan); i++) {
        const rec_plan_problem *p = rec_plan_problem_get(plan, i);
        fatal = fatal || p->fatal;
        (void)fprintf(out, "%s %s%s%s\n", p->fatal ? "!" : "-", p->text, p->hint[0] ? "\n  " : "", p->hint);
    }
    if (well && !fatal) {
        record = rec_plan_load(plan);
        well = record && print_values(out, record);
    }
    countdown_then = countdown;
    was_armed = armed;
    armed = false;
    if (!well && rec_error_status() != REC_E_MEMORY) {
        (void)fprintf(out, "error %s\n", rec_error_message());
        well = true;
    }
    (void)fclose(out);
    if (!well) {
        free(text);
        text = NULL;
    }
    armed = was_armed;
    countdown = countdown_then;
    rec_record_free(record);
    rec_plan_free(plan);
    return text;
}

/* ------------------------------------------------------------------------------------------------------ scenes -- */

static char *append(char *text, const char *line)
{
    size_t used = text ? strlen(text) : 0;
    char *longer = realloc(text, used + strlen(line) + 2);
    assert_non_null(longer);
    (void)sprintf(longer + used, "%s\n", line);
    return longer;
}

static void set_argument(scene *s, char *line)
{
    char *equals = strstr(line, " =");
    if (!equals || s->argument_count == ARGUMENTS_MAX) {
        fail_msg("%s: %s: no argument", s->name, line);
        return;
    }
    *equals = '\0';
    equals += 2;
    equals += *equals == ' ';
    s->arguments[s->argument_count++] = (argument){.key = strdup(line), .value = strdup(equals)};
}

/* The recorder of a source with its arguments. @return false: one was refused; its error stands. */
static bool set_up(scene *s, rec_context *context)
{
    if (s->type) {
        s->types = rec_types_new(context);
        assert_non_null(s->types);
        if (rec_types_add_rust(s->types, s->type, "scene.rs") != REC_OK) {
            return false;
        }
    }
    s->base_record = s->base ? record_of(context, s->base) : NULL;
    for (uint32_t i = 0; i < s->source_count; i++) {
        rec_recorder *r = rec_open_recorder_in(context, "NamedMpk", REC_PRECISION_KEEP);
        assert_non_null(r);
        s->records[i] = record_of(context, s->sources[i]);
        s->recorders[i] = r;
        if (s->types && rec_recorder_set_type_name(r, s->types, s->expression ? s->expression : "Model") != REC_OK) {
            return false;
        }
        for (uint32_t k = 0; k < s->argument_count; k++) {
            const char *key = s->arguments[k].key;
            if (strncmp(key, "of ", 3) == 0) {
                if ((uint32_t)atoi(key + 3) != i + 1) {
                    continue;
                }
                key = strchr(key + 3, ' ') + 1;
            }
            if (rec_recorder_set(r, key, s->arguments[k].value) != REC_OK) {
                return false;
            }
        }
    }
    return true;
}

static void tidy(scene *s)
{
    for (uint32_t i = 0; i < s->source_count; i++) {
        rec_close_recorder(s->recorders[i]);
        rec_record_free(s->records[i]);
        free(s->sources[i]);
    }
    for (uint32_t i = 0; i < s->argument_count; i++) {
        free(s->arguments[i].key);
        free(s->arguments[i].value);
    }
    rec_record_free(s->base_record);
    rec_types_free(s->types);
    free(s->base);
    free(s->type);
    free(s->expression);
    free(s->expected);
    free(s->name);
    *s = (scene){0};
}

/* @return whether it came out as it stands in the file; what came instead is printed. */
static bool perform(const char *file, scene *s)
{
    uint64_t held_before = held;
    rec_context *context = rec_context_new(&failing_allocator);
    const char *expected = s->expected ? s->expected : "";
    char *found = NULL, *lost;
    bool same;
    assert_non_null(context);
    if (set_up(s, context)) {
        found = play(context, s);
    } else if (asprintf(&found, "refused %s\n", rec_error_message()) < 0) {
        found = NULL;
    }
    assert_non_null(found);
    same = strcmp(found, expected) == 0;
    if (!same) {
        (void)fprintf(stderr, "%s: scene %s came out so:\n%s", file, s->name, found);
    } else if (strncmp(found, "refused", 7) != 0) {
        (void)each_fails_once(context, play, s, expected);
        (void)each_place_fails_once(context, play, s, expected);
    }
    free(found);
    lost = strdup(s->name);
    tidy(s);
    rec_context_free(context);
    if (held != held_before) {
        fail_msg("%s: %llu pieces are lost", lost, (unsigned long long)(held - held_before));
    }
    free(lost);
    return same;
}

/* Reads a file of scenes: `== NAME` begins one, `--` what is expected. @return how many there are. */
static uint32_t read_scenes(const char *path, uint32_t *wrong)
{
    FILE *in = fopen(path, "r");
    char *line = NULL;
    size_t room = 0;
    bool after = false;
    uint32_t count = 0;
    scene s = {0};
    if (!in) {
        fail_msg("%s: %s", path, strerror(errno));
        return 0;
    }
    while (getline(&line, &room, in) > 0) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "== ", 3) == 0) {
            *wrong += s.name && !perform(path, &s);
            s.name = strdup(line + 3);
            after = false;
            count++;
        } else if (!s.name || (!after && (line[0] == '\0' || line[0] == '#'))) {
            continue;
        } else if (strcmp(line, "--") == 0) {
            after = true;
        } else if (after) {
            s.expected = line[0] ? append(s.expected, line) : s.expected;
        } else if (strncmp(line, "source ", 7) == 0) {
            assert_true(s.source_count < SOURCES_MAX);
            s.sources[s.source_count++] = strdup(line + 7);
        } else if (strncmp(line, "    ", 4) == 0) { /* goes on */
            s.sources[s.source_count - 1] = append(s.sources[s.source_count - 1], line);
        } else if (strncmp(line, "base ", 5) == 0) {
            s.base = strdup(line + 5);
        } else if (strncmp(line, "type ", 5) == 0) {
            s.type = append(s.type, line + 5);
        } else if (strncmp(line, "expression ", 11) == 0) {
            s.expression = strdup(line + 11);
        } else {
            set_argument(&s, line);
        }
    }
    *wrong += s.name && !perform(path, &s);
    free(line);
    (void)fclose(in);
    return count;
}

static void scenes_of(const char *name)
{
    const char *srcdir = getenv("srcdir");
    char path[600];
    uint32_t wrong = 0, count;
    (void)snprintf(path, sizeof path, "%s/tests/data/plans/%s.txt", srcdir ? srcdir : ".", name);
    count = read_scenes(path, &wrong);
    assert_true(count > 0);
    if (wrong) {
        fail_msg("%s: %u of %u scenes came out otherwise", path, (unsigned)wrong, (unsigned)count);
    }
}

static void what_rules_do_forwards(void **state)
{
    (void)state;
    scenes_of("forward");
}

static void how_keys_are_fitted_to_a_type(void **state)
{
    (void)state;
    scenes_of("typed");
}

static void how_keys_are_fitted_without_a_type(void **state)
{
    (void)state;
    scenes_of("untyped");
}

static void modules_of_pytorch_are_split_and_renamed(void **state)
{
    (void)state;
    scenes_of("torch");
}

static void what_is_suggested_for_what_is_missing(void **state)
{
    (void)state;
    scenes_of("hints");
}

static void what_rules_do_backwards(void **state)
{
    (void)state;
    scenes_of("backwards");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_rules_do_forwards),
        cmocka_unit_test(how_keys_are_fitted_to_a_type),
        cmocka_unit_test(how_keys_are_fitted_without_a_type),
        cmocka_unit_test(modules_of_pytorch_are_split_and_renamed),
        cmocka_unit_test(what_is_suggested_for_what_is_missing),
        cmocka_unit_test(what_rules_do_backwards),
    };
    return cmocka_run_group_tests_name("scenes", tests, NULL, NULL);
}
