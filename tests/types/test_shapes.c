/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Shapes of modules: what Burn's own must have equal, and every mistake in a section. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/scratch.h"
#include "types/types.h"

static int set_up(void **state)
{
    *state = scratch_new();
    return 0;
}

static int tear_down(void **state)
{
    scratch_free(*state);
    return 0;
}

/* A module's tensors: path, rank and shape, ended by a path NULL. */
typedef struct part {
    const char *path;
    uint32_t rank;
    uint64_t shape[5];
} part;

static rec_record *make(const part *parts)
{
    static float zeros[4096];
    rec_record *record = rec_record_new(NULL);
    assert_non_null(record);
    for (; parts->path; parts++) {
        assert_int_equal(rec_set_f32(record, parts->path, zeros, parts->rank, parts->shape), REC_OK);
    }
    return record;
}

static bool holds(const rec_types *types, const char *module, const part *parts, lr_module_clash *clash)
{
    rec_record *record = make(parts);
    const lr_shapes *shapes = lr_types_shapes(types, module);
    bool ok;
    assert_non_null(shapes);
    ok = lr_shapes_hold(shapes, rec_root(record), clash);
    rec_record_free(record);
    return ok;
}

static void burns_modules(void **state)
{
    static const struct {
        const char *module;
        bool ok;
        part parts[9];
        const char *first, *second;
    } cases[] = {
        {"Linear", true, {{"weight", 2, {8, 3}}, {"bias", 1, {3}}}, 0, 0},
        {"Linear", true, {{"weight", 2, {8, 3}}}, 0, 0},
        {"Linear", true, {{"bias", 1, {3}}}, 0, 0},
        {"Linear", false, {{"weight", 2, {30, 8}}, {"bias", 1, {32}}}, "weight", "bias"},
        {"Conv2d", true, {{"weight", 4, {8, 3, 5, 5}}, {"bias", 1, {8}}}, 0, 0},
        {"Conv2d", false, {{"weight", 4, {8, 3, 5, 5}}, {"bias", 1, {7}}}, "weight", "bias"},
        {"Conv1d", false, {{"weight", 3, {8, 3, 5}}, {"bias", 1, {3}}}, "weight", "bias"},
        {"ConvTranspose2d", true, {{"weight", 4, {8, 3, 5, 5}}, {"bias", 1, {6}}}, 0, 0},
        {"ConvTranspose2d", false, {{"weight", 4, {8, 3, 5, 5}}, {"bias", 1, {8}}}, "weight", "bias"},
        {"BatchNorm",
         false,
         {{"gamma", 1, {8}}, {"beta", 1, {8}}, {"running_mean", 1, {8}}, {"running_var", 1, {9}}},
         "gamma",
         "running_var"},
        {"LayerNorm", false, {{"gamma", 1, {8}}, {"beta", 1, {9}}}, "gamma", "beta"},
        {"InstanceNorm",
         false,
         {{"group_norm.gamma", 1, {8}}, {"group_norm.beta", 1, {9}}},
         "group_norm.gamma",
         "group_norm.beta"},
        {"MultiHeadAttention",
         true,
         {{"query.weight", 2, {8, 8}},
          {"key.weight", 2, {5, 8}},
          {"value.weight", 2, {6, 8}},
          {"output.weight", 2, {8, 8}}},
         0,
         0},
        {"MultiHeadAttention",
         false,
         {{"query.weight", 2, {8, 8}}, {"key.weight", 2, {8, 4}}},
         "query.weight",
         "key.weight"},
        {"Gru",
         false,
         {{"new_gate.input_transform.weight", 2, {4, 6}},
          {"new_gate.hidden_transform.weight", 2, {6, 6}},
          {"reset_gate.input_transform.weight", 2, {4, 5}}},
         "new_gate.input_transform.weight",
         "reset_gate.input_transform.weight"},
        {"Lstm",
         false,
         {{"cell_gate.input_transform.weight", 2, {4, 6}}, {"cell_gate.hidden_transform.weight", 2, {6, 7}}},
         "cell_gate.input_transform.weight",
         "cell_gate.hidden_transform.weight"},
        {"TransformerEncoder",
         false,
         {{"layers.0.norm_1.gamma", 1, {8}}, {"layers.1.norm_1.gamma", 1, {9}}},
         "layers.0.norm_1.gamma",
         "layers.1.norm_1.gamma"},
    };
    rec_types *types = rec_types_new(NULL);
    (void)state;
    assert_non_null(types);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lr_module_clash clash = {0};
        print_message("%s, %s\n", cases[i].module, cases[i].ok ? "right" : cases[i].second);
        assert_int_equal(holds(types, cases[i].module, cases[i].parts, &clash), cases[i].ok);
        if (!cases[i].ok) {
            assert_string_equal(clash.path[0], cases[i].first);
            assert_string_equal(clash.path[1], cases[i].second);
        }
    }
    rec_types_free(types);
}

/* Every module of which there are shapes is a module of Burn, and every path of them leads to a field. */
static void names_exist(void **state)
{
    rec_types *types = rec_types_new(NULL);
    uint64_t count = 0;
    (void)state;
    assert_non_null(types);
    for (const lr_shapes *shapes = types->shapes; shapes; shapes = shapes->next, count++) {
        assert_non_null(lr_types_find(types, shapes->name, 9999));
        for (uint64_t i = 0; i < shapes->rule_count; i++) {
            const char *path = shapes->rules[i].path;
            size_t length = strcspn(path, ".");
            bool found = *path == '_';
            for (const lr_def *def = types->defs; def && !found; def = def->next) {
                for (uint64_t f = 0; f < def->field_count && strcmp(def->name, shapes->name) == 0; f++) {
                    found = found ||
                            (strlen(def->fields[f].name) == length && memcmp(def->fields[f].name, path, length) == 0);
                }
            }
            print_message("%s: %s\n", shapes->name, path);
            assert_true(found);
        }
    }
    assert_true(count > 20);
    rec_types_free(types);
}

static void mistakes(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"[shapes]\nweight = in\n", "the name of one module is needed"},
        {"[shapes Linear 0.7]\nweight = in\n", "the name of one module is needed"},
        {"[shapes Linear]\n", "is empty"},
        {"[shapes Linear]\nweight = in, \n", "expected a word for each dimension"},
        {"[shapes Linear]\nweight = in out\n", "expected a word for each dimension"},
        {"[shapes Linear]\nweight = 3\n", "expected a word for each dimension"},
        {"[shapes Linear]\nweight = *\n", "expected a word for each dimension"},
        {"[shapes Linear]\nweight. = in\n", "is not a path"},
        {"[shapes Linear]\nwei-ght = in\n", "is not a path"},
        {"[shapes A]\na = a, b, c, d, e, f\nb = g, h, i, j, k, l\nc = m, n, o, p\nd = _, *p\ne = q\n",
         "different words"},
        {"[shapes A]\nw = n\n[shapes A]\nw = n\n", "occurs twice"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *path = scratch_text(*state, "types.ini", cases[i].text);
        rec_types *types = rec_types_new(NULL);
        print_message("%s\n", cases[i].message);
        assert_int_equal(rec_types_add_file(types, path), REC_E_CONFIG);
        assert_non_null(strstr(rec_error_message(), cases[i].message));
        rec_types_free(types);
        free(path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(burns_modules),
        cmocka_unit_test(names_exist),
        cmocka_unit_test_setup_teardown(mistakes, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
