/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Types from INI files: what each section says, every mistake with its exact message, and Burn's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/base/base.h"
#include "types/types.h"
#include "tests/scratch.h"

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

/** A set of types of its own, with the job that fills it. */
typedef struct fixture {
    rec_context *context;
    rec_types types;
} fixture;

static void begin(fixture *f, const rec_allocator *allocator)
{
    *f = (fixture){.context = rec_context_new(allocator)};
    assert_non_null(f->context);
    f->types.context = f->context;
    lr_arena_init(&f->types.arena, &f->context->allocator);
}

static void release(fixture *f)
{
    lr_arena_free(&f->types.arena);
    rec_context_free(f->context);
}

static rec_status add(fixture *f, const char *path)
{
    rec_job job;
    lr_job_begin(&job, f->context, "types", NULL);
    (void)lr_types_add_inis(&job, &f->types, &path, 1);
    return lr_job_end(&job);
}

static rec_status add_builtin(fixture *f)
{
    rec_job job;
    lr_job_begin(&job, f->context, "types", NULL);
    (void)lr_types_add_builtin(&job, &f->types);
    return lr_job_end(&job);
}

static void add_text(fixture *f, const scratch *s, const char *text)
{
    char *path = scratch_text(s, "types.ini", text);
    assert_int_equal(add(f, path), REC_OK);
    assert_string_equal(rec_error_message(), "");
    free(path);
}

static const lr_def *find(const fixture *f, const char *name, int32_t minor)
{
    const lr_def *def = lr_types_find(&f->types, name, minor);
    assert_non_null(def);
    assert_string_equal(def->name, name);
    return def;
}

/* All fields as `name: type, name: type`; a unit variant has no type. */
static void assert_fields(const lr_def *def, const char *expected)
{
    char text[4096] = "";
    for (uint64_t i = 0; i < def->field_count; i++) {
        size_t used = strlen(text);
        (void)snprintf(text + used, sizeof text - used, "%s%s", i ? ", " : "", def->fields[i].name);
        if (def->fields[i].type) {
            char type[256];
            assert_true(lr_expr_print(def->fields[i].type, type, sizeof type) < sizeof type);
            used = strlen(text);
            (void)snprintf(text + used, sizeof text - used, ": %s", type);
        }
    }
    assert_string_equal(text, expected);
}

static void assert_generics(const lr_def *def, const char *expected)
{
    char text[256] = "";
    for (uint64_t i = 0; i < def->generic_count; i++) {
        size_t used = strlen(text);
        (void)snprintf(text + used, sizeof text - used, "%s%s%s", i ? ", " : "",
                       def->generics[i].constant ? "const " : "", def->generics[i].name);
    }
    assert_string_equal(text, expected);
}

static void assert_kind(const lr_def *def, int32_t kind, int32_t derive, bool implicit)
{
    assert_int_equal(def->kind, kind);
    assert_int_equal(def->derive, derive);
    assert_int_equal(def->implicit, implicit);
}

/* ---------------------------------------------------------------------------------------------------- mistakes -- */

#define FORTY "aaaaaaaaaabbbbbbbbbbccccccccccdddddddddd"
#define SIXTY_FOUR FORTY "eeeeeeeeeeffffffffff1234"
#define ALL_KINDS                                                                                           \
    "\n  Known: [type NAME], [module NAME], [enum NAME], [record NAME], [record enum NAME], [alias NAME], " \
    "[optimizer NAME], [stateless], [shapes NAME]."
#define HEADER_HINT(kind) "\n  Write [" kind " NAME], with a version of Burn if it is about one: [" kind " NAME 0.14]."
#define VERSION_HINT(kind) \
    "\n  Write the first one that the section is about as 0.MINOR, or leave it out: [" kind " NAME 0.14]."

static const struct {
    const char *text, *message;
} mistakes[] = {
    /* lines */
    {"fc = Linear\n", ": line 1: \"fc\" precedes any section\n  Begin with a section such as [type NAME]."},
    {"[type Block]\nfc =\n", ": line 2: \"fc\" has no value\n  Set its type: FIELD = TYPE."},
    /* sections */
    {"[librecord]\n",
     ": line 1: unknown section [librecord] for types\n  Put types into a separate file, not into the configuration."},
    {"[recorder mine]\n", ": line 1: unknown section [recorder mine] for types\n  Put types into a separate file, not "
                          "into the configuration."},
    {"[model]\n", ": line 1: unknown section [model] for types\n  Did you mean [module NAME]?"},
    {"[profile llama]\n", ": line 1: unknown section [profile llama] for types" ALL_KINDS},
    {"[]\n", ": line 1: unknown section [] for types" ALL_KINDS},
    {"[types Block]\n", ": line 1: unknown section [types Block] for types\n  Did you mean [type NAME]?"},
    {"[stateles 0.7]\n", ": line 1: unknown section [stateles 0.7] for types\n  Did you mean [stateless]?"},
    {"[type]\n", ": line 1: [type] has no name" HEADER_HINT("type")},
    {"[type <B>]\n", ": line 1: [type <B>] has no name" HEADER_HINT("type")},
    {"[record enum]\nA = f64\n[record enum]\n", ": line 3: enum is defined twice, first in line 1"},
    {"[record enum 0.19 x]\n", ": line 1: [record enum 0.19 x] has no name" HEADER_HINT("record enum")},
    {"[module nn::Block]\n", ": line 1: [module nn::Block]: the name ends in the middle" HEADER_HINT("module")},
    {"[module Block<B]\n", ": line 1: [module Block<B]: the name ends in the middle" HEADER_HINT("module")},
    {"[module " SIXTY_FOUR "5]\n", ": line 1: the name \"" SIXTY_FOUR "...\" is longer than 64 bytes"},
    {"[module Block 1.0]\n", ": line 1: [module Block 1.0]: \"1.0\" is not a version of Burn" VERSION_HINT("module")},
    {"[module Block 0.14.1]\n",
     ": line 1: [module Block 0.14.1]: \"0.14.1\" is not a version of Burn" VERSION_HINT("module")},
    {"[module Block 0.]\n", ": line 1: [module Block 0.]: \"0.\" is not a version of Burn" VERSION_HINT("module")},
    {"[module Block 0.0]\n", ": line 1: [module Block 0.0]: \"0.0\" is not a version of Burn" VERSION_HINT("module")},
    {"[module Block 0.07]\n",
     ": line 1: [module Block 0.07]: \"0.07\" is not a version of Burn" VERSION_HINT("module")},
    {"[module Block 0.99999999999999999999]\n",
     ": line 1: [module Block 0.99999999999999999999]: \"0.99999999999999999999\" is not a version of "
     "Burn" VERSION_HINT("module")},
    {"[stateless v7]\n", ": line 1: [stateless v7]: \"v7\" is not a version of Burn" VERSION_HINT("stateless")},
    {"[module Block<B, 2>]\n",
     ": line 1: [module Block<B, 2>]: expected names in <>\n  Such as <B> or <B, const D: usize>."},
    {"[module Block<B C>]\n",
     ": line 1: [module Block<B C>]: expected names in <>\n  Such as <B> or <B, const D: usize>."},
    {"[module Block<,B>]\n",
     ": line 1: [module Block<,B>]: expected names in <>\n  Such as <B> or <B, const D: usize>."},
    {"[module M<A,B,C,D,E,F,G,H,I,J,K,L,M,N,O,P,Q>]\n",
     ": line 1: [module M<A,B,C,D,E,F,G,H,I,J,K,L,M,N,O,P,Q>] has more than 16 type parameters"},
    {"[type Block]\n[type Other]\n[module Block]\n", ": line 3: Block is defined twice, first in line 1"},
    {"[type Block 0.7]\n\n[stateless 0.7]\nnames = Relu, Block\n",
     ": line 4: Block is defined twice for the same version, first in line 1"},
    /* empty sections */
    {"[enum Choice]\n", ": line 1: [enum Choice] is empty\n  It needs a line \"VARIANT = TYPE\"."},
    {"[alias Step]\n[type Block]\n", ": line 1: [alias Step] is empty\n  It needs a line \"type = TYPE\"."},
    {"[optimizer Sgd 0.7]\n", ": line 1: [optimizer Sgd 0.7] is empty\n  It needs a line \"FIELD = TYPE\"."},
    {"[stateless]\n", ": line 1: [stateless] is empty\n  It needs a line \"names = NAME, NAME\"."},
    /* fields */
    {"[type Block]\nfc = Linear\nfc = Linear\n", ": line 3: \"fc\" occurs twice in [type Block], first in line 2"},
    {"[type Block]\nfc-1 = Linear\n",
     ": line 2: [type Block]: \"fc-1\" is not a name: it may have letters, digits and \"_\""},
    {"[type Block]\n1 = Linear\n", ": line 2: [type Block]: expected the field 0, found \"1\"\n"
                                   "  The fields of a tuple struct are numbered in order from 0."},
    {"[type Block]\n0 = Linear\n01 = Linear\n", ": line 3: [type Block]: expected the field 1, found \"01\"\n"
                                                "  The fields of a tuple struct are numbered in order from 0."},
    {"[type Block]\nfc = Linear\n0 = Linear\n", ": line 3: [type Block]: fields have all names or all numbers"},
    {"[type Block]\n0 = Linear\nfc = Linear\n", ": line 3: [type Block]: fields have all names or all numbers"},
    {"[enum Choice]\n0 = Linear\n", ": line 2: [enum Choice]: the variant \"0\" begins with a digit"},
    {"[alias Step]\nstep = f64\n", ": line 2: [alias Step] has no key \"step\"\n"
                                   "  Set it with: type = TYPE."},
    {"[stateless]\nname = Relu\n", ": line 2: [stateless] has no key \"name\"\n  It has: names = NAME, NAME."},
    {"[stateless]\nnames = Relu; Gelu\n",
     ": line 2: expected a name, found \"Relu; Gelu\"\n  Names are separated by commas."},
    {"[stateless]\nnames = Relu,\n", ": line 2: expected a name, found \"\"\n  Names are separated by commas."},
    /* more about a field */
    {"[type Block]\nfc.skip = yes\n",
     ": line 2: \"fc.skip\" does not follow its field\n  Write \"fc = TYPE\" first, then its other keys."},
    {"[type Block]\nfc = Linear\nact = Relu\nfc.skip = yes\n",
     ": line 4: \"fc.skip\" does not follow its field\n  Write \"fc = TYPE\" first, then its other keys."},
    {"[type Block]\nfc = Linear\nfc.defualt = A\n",
     ": line 3: a field has no \"defualt\": \"fc.defualt\"\n  Did you mean \"default\"?"},
    {"[type Block]\nfc = Linear\nfc.is = A\n",
     ": line 3: a field has no \"is\": \"fc.is\"\n  Known: default, from, skip."},
    {"[type Block]\nfc = Linear\nfc.skip = true\n", ": line 3: \"fc.skip\" is \"true\"\n  Known: yes, no."},
    {"[type Block]\nfc = Linear\nfc.default = 1.5\n",
     ": line 3: the default of \"fc\" is \"1.5\"\n"
     "  It may be the name of a variant, or zeros(FIELD): as many zeros as FIELD has elements."},
    {"[type Block]\nfc = Linear\nfc.default = zeros(fc\n",
     ": line 3: the default of \"fc\" is \"zeros(fc\"\n"
     "  It may be the name of a variant, or zeros(FIELD): as many zeros as FIELD has elements."},
    {"[type Block]\nfc = Linear\nfc.default = zeros(gamma)\n",
     ": line 3: the default of \"fc\" is \"zeros(gamma)\", but there is no such field before it"},
    {"[type Block]\nfc = Linear\nfc.from = a..b\n",
     ": line 3: \"fc.from\" is \"a..b\", which is not a path\n"
     "  It says where an older version has the field, such as group_norm.gamma."},
    {"[type Block]\nfc = Linear\nfc.from = a.\n",
     ": line 3: \"fc.from\" is \"a.\", which is not a path\n"
     "  It says where an older version has the field, such as group_norm.gamma."},
    {"[alias Step]\ntype = usize\ntype.from = last\n",
     ": line 3: type.from is \"last\", which is not an element of a tuple\n  Elements count from 0."},
    {"[alias Step]\ntype = usize\ntype.skip = yes\n", ": line 3: [alias Step]: \"type.skip\" is for fields of structs"},
    {"[enum Choice]\nA = Relu\nA.default = B\n", ": line 3: [enum Choice]: \"A.default\" is for fields of structs"},
};

static void each_mistake_is_told_with_file_and_line_and_nothing_of_the_file_counts(void **state)
{
    scratch *s = *state;
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        char *path = scratch_text(s, "types.ini", mistakes[i].text);
        size_t length = strlen(path);
        fixture f;
        begin(&f, NULL);
        assert_int_equal(add(&f, path), REC_E_CONFIG);
        assert_true(strncmp(rec_error_message(), path, length) == 0);
        assert_string_equal(rec_error_message() + length, mistakes[i].message);
        assert_string_equal(rec_error_file(), path);
        assert_null(f.types.defs);
        release(&f);
        free(path);
    }
}

static void a_bad_type_is_told_with_file_and_line(void **state)
{
    scratch *s = *state;
    static const char *const types[] = {"Vec<Linear", "Vec<Linear>>", "[Linear 2]", "(Linear", "fc Linear",
                                        "?",          "Vec<>>"};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        char text[100], place[600];
        char *path;
        fixture f;
        (void)snprintf(text, sizeof text, "[type Ok]\nfc = Linear\n\n[type Block]\nfc = %s\n", types[i]);
        path = scratch_text(s, "types.ini", text);
        begin(&f, NULL);
        assert_int_not_equal(add(&f, path), REC_OK);
        (void)snprintf(place, sizeof place, "%s: line 5: ", path);
        assert_true(strncmp(rec_error_message(), place, strlen(place)) == 0);
        assert_null(f.types.defs);
        release(&f);
        free(path);
    }
}

static void a_file_that_is_not_there_is_told(void **state)
{
    scratch *s = *state;
    char *path = scratch_path(s, "none.ini");
    fixture f;
    begin(&f, NULL);
    assert_int_equal(add(&f, path), REC_E_IO);
    assert_string_equal(rec_error_file(), path);
    release(&f);
    free(path);
}

/* ---------------------------------------------------------------------------------------------------- sections -- */

static void a_type_is_a_module_whose_generics_are_left_out(void **state)
{
    fixture f;
    const lr_def *def;
    begin(&f, NULL);
    add_text(&f, *state,
             "; a model\n[type Block]\nfc = Linear\nblocks = Vec< Block >\nhead = Option<nn::Linear<B>>\n"
             "size = [usize; 2]\n");
    def = find(&f, "Block", 21);
    assert_kind(def, LR_DEF_STRUCT, LR_DERIVE_MODULE, true);
    assert_generics(def, "B");
    assert_fields(def, "fc: Linear, blocks: Vec<Block>, head: Option<Linear<B>>, size: [usize; 2]");
    assert_int_equal(def->line, 2);
    assert_int_equal(def->fields[3].line, 6);
    assert_int_equal(def->since, 0);
    assert_ptr_equal(find(&f, "Block", 7), def);
    release(&f);
}

static void generics_that_are_written_are_taken_as_rust_does(void **state)
{
    fixture f;
    const lr_def *def;
    begin(&f, NULL);
    add_text(&f, *state,
             "[type A<B>]\n[type C<>]\n[module D]\n[module E <B: Backend, const D : usize> 0.9]\n"
             "x = Param<Tensor<B, D>>\n[module F<>]\n");
    assert_kind(find(&f, "A", 21), LR_DEF_STRUCT, LR_DERIVE_MODULE, false);
    assert_generics(find(&f, "A", 21), "B");
    assert_kind(find(&f, "C", 21), LR_DEF_STRUCT, LR_DERIVE_MODULE, false);
    assert_generics(find(&f, "C", 21), "");
    assert_kind(find(&f, "D", 21), LR_DEF_STRUCT, LR_DERIVE_MODULE, false);
    assert_generics(find(&f, "D", 21), "B");
    def = find(&f, "E", 21);
    assert_generics(def, "B, const D");
    assert_fields(def, "x: Param<Tensor<B, D>>");
    assert_null(lr_types_find(&f.types, "E", 8));
    assert_generics(find(&f, "F", 21), "");
    release(&f);
}

static void enums_have_payloads_or_none(void **state)
{
    fixture f;
    begin(&f, NULL);
    add_text(&f, *state, "[enum Choice]\nDense = Linear\nAct = -\n[record enum Kind<B>]\nOne = f64\nTwo = (u8, ())\n");
    assert_kind(find(&f, "Choice", 21), LR_DEF_ENUM, LR_DERIVE_MODULE, true);
    assert_fields(find(&f, "Choice", 21), "Dense: Linear, Act");
    assert_kind(find(&f, "Kind", 21), LR_DEF_ENUM, LR_DERIVE_RECORD, false);
    assert_fields(find(&f, "Kind", 21), "One: f64, Two: (u8, ())");
    release(&f);
}

static void records_optimizers_aliases_and_stateless_modules_are_what_they_say(void **state)
{
    fixture f;
    begin(&f, NULL);
    add_text(&f, *state,
             "[record State]\n0 = usize\n1 = Tensor<B, 1>\n[optimizer Mine 0.16]\nsum = Tensor<B, D>\n"
             "[alias Step]\ntype = i32\n[stateless 0.20]\nnames = One , Two,Three\nnames = Four\n");
    assert_kind(find(&f, "State", 21), LR_DEF_STRUCT, LR_DERIVE_RECORD, false);
    assert_fields(find(&f, "State", 21), "0: usize, 1: Tensor<B, 1>");
    assert_kind(find(&f, "Mine", 16), LR_DEF_OPTIMIZER, LR_DERIVE_RECORD, false);
    assert_generics(find(&f, "Mine", 16), "B, const D");
    assert_kind(find(&f, "Step", 21), LR_DEF_ALIAS, LR_DERIVE_NONE, false);
    assert_generics(find(&f, "Step", 21), "");
    assert_fields(find(&f, "Step", 21), "type: i32");
    assert_kind(find(&f, "One", 20), LR_DEF_STATELESS, LR_DERIVE_MODULE, false);
    assert_int_equal(find(&f, "Three", 20)->since, 20);
    assert_int_equal(find(&f, "Four", 20)->line, 10);
    assert_null(lr_types_find(&f.types, "Two", 19));
    release(&f);
}

static void a_definition_counts_from_its_version_to_the_next(void **state)
{
    fixture f;
    begin(&f, NULL);
    add_text(&f, *state, "[module M 0.14]\nb = bool\n[module M 0.9]\na = bool\n[stateless 0.20]\nnames = M\n");
    assert_null(lr_types_find(&f.types, "M", 8));
    assert_fields(find(&f, "M", 9), "a: bool");
    assert_fields(find(&f, "M", 13), "a: bool");
    assert_fields(find(&f, "M", 14), "b: bool");
    assert_fields(find(&f, "M", 19), "b: bool");
    assert_int_equal(find(&f, "M", 21)->kind, LR_DEF_STATELESS);
    release(&f);
}

static void what_else_is_said_of_a_field_is_kept(void **state)
{
    fixture f;
    const lr_def *def;
    begin(&f, NULL);
    add_text(&f, *state,
             "[module M]\ngamma = Param<Tensor<B, 1>>\ngamma.from = group_norm.gamma\nbeta = Param<Tensor<B, 1>>\n"
             "beta.default = zeros(gamma)\nact = Activation<B>\nact.default = Tanh\nact.skip = yes\ninner = N<B>\n"
             "inner.from = .\ninner.skip = no\n[alias A]\ntype = usize\ntype.from = 4\n[alias Z]\ntype = f64\n");
    def = find(&f, "M", 21);
    assert_int_equal(def->field_count, 4);
    assert_string_equal(def->fields[0].from, "group_norm.gamma");
    assert_null(def->fields[0].initial);
    assert_string_equal(def->fields[1].initial, "zeros(gamma)");
    assert_null(def->fields[1].from);
    assert_string_equal(def->fields[2].initial, "Tanh");
    assert_true(def->fields[2].skip);
    assert_string_equal(def->fields[3].from, ".");
    assert_false(def->fields[3].skip);
    assert_int_equal(find(&f, "A", 21)->fields[0].from_element, 5);
    assert_int_equal(find(&f, "Z", 21)->fields[0].from_element, 0);
    release(&f);
}

static void structs_may_be_large_and_empty(void **state)
{
    fixture f;
    const lr_def *def;
    size_t room = 64 * 4096 + 4096, used;
    char *text = malloc(room);
    assert_non_null(text);
    used = (size_t)snprintf(text, room, "[type Empty]\n[type Large]\n");
    for (int i = 0; i < 4096; i++) {
        used += (size_t)snprintf(text + used, room - used, "field%d = Param<Tensor<B, %d>>\n", i, i % 8 + 1);
    }
    begin(&f, NULL);
    add_text(&f, *state, text);
    assert_int_equal(find(&f, "Empty", 21)->field_count, 0);
    def = find(&f, "Large", 21);
    assert_int_equal(def->field_count, 4096);
    assert_string_equal(def->fields[4095].name, "field4095");
    assert_int_equal(def->fields[4095].type->args[0]->args[1]->number, 8);
    release(&f);
    (void)snprintf(text + used, room - used, "more = f64\n");
    {
        char *path = scratch_text(*state, "types.ini", text);
        begin(&f, NULL);
        assert_int_equal(add(&f, path), REC_E_CONFIG);
        assert_non_null(strstr(rec_error_message(), ": line 4099: more than 4096 fields in [type Large]"));
        release(&f);
        free(path);
    }
    free(text);
}

static void the_number_of_types_has_a_limit(void **state)
{
    fixture f;
    size_t room = 20 * 4200, used = 0;
    char *text = malloc(room), *path;
    assert_non_null(text);
    for (int i = 0; i < 4097; i++) {
        used += (size_t)snprintf(text + used, room - used, "[type T%d]\n", i);
    }
    path = scratch_text(*state, "types.ini", text);
    begin(&f, NULL);
    assert_int_equal(add(&f, path), REC_E_CONFIG);
    assert_non_null(strstr(rec_error_message(), ": line 4097: more than 4096 types"));
    release(&f);
    free(path);
    free(text);
}

/* -------------------------------------------------------------------------------------------------- Burn's own -- */

/* Sets LIBRECORD_DATA for a test and puts back what the others need. */
static char *data_before;

static void set_data(const char *folder)
{
    const char *now = getenv("LIBRECORD_DATA");
    data_before = now ? strdup(now) : NULL;
    assert_int_equal(setenv("LIBRECORD_DATA", folder, 1), 0);
}

static void put_back_data(void)
{
    if (data_before) {
        assert_int_equal(setenv("LIBRECORD_DATA", data_before, 1), 0);
    } else {
        assert_int_equal(unsetenv("LIBRECORD_DATA"), 0);
    }
    free(data_before);
    data_before = NULL;
}

static void burns_own_types_are_those_of_the_version(void **state)
{
    fixture f;
    const lr_def *def, *first;
    (void)state;
    begin(&f, NULL);
    assert_int_equal(add_builtin(&f), REC_OK);
    assert_string_equal(rec_error_message(), "");
    assert_true(f.types.builtin);
    assert_fields(find(&f, "Linear", 7), "weight: Param<Tensor<B, 2>>, bias: Option<Param<Tensor<B, 1>>>");
    assert_ptr_equal(find(&f, "Linear", 21), find(&f, "Linear", 7));
    assert_fields(find(&f, "InstanceNorm", 13), "group_norm: GroupNorm<B>");
    def = find(&f, "InstanceNorm", 14);
    assert_string_equal(def->fields[0].from, "group_norm.gamma");
    assert_string_equal(find(&f, "LayerNorm", 19)->fields[1].initial, "zeros(gamma)");
    assert_null(find(&f, "LayerNorm", 20)->fields[1].initial);
    def = find(&f, "Gru", 21);
    assert_fields(def, "update_gate: GateController<B>, reset_gate: GateController<B>, new_gate: GateController<B>, "
                       "d_hidden: usize, reset_after: bool, gate_activation: Activation<B>, hidden_activation: "
                       "Activation<B>, clip: Option<f64>");
    assert_string_equal(def->fields[5].initial, "Sigmoid");
    assert_string_equal(def->fields[6].initial, "Tanh");
    assert_string_equal(find(&f, "Activation", 20)->fields[5].name, "Sigmoid");
    assert_string_equal(find(&f, "Activation", 21)->fields[5].name, "Selu");
    assert_int_equal(find(&f, "LeakyRelu", 13)->kind, LR_DEF_STRUCT);
    assert_int_equal(find(&f, "LeakyRelu", 14)->kind, LR_DEF_STATELESS);
    assert_int_equal(find(&f, "Adam", 8)->field_count, 2);
    assert_int_equal(find(&f, "Adam", 9)->kind, LR_DEF_OPTIMIZER);
    assert_int_equal(find(&f, "CosineAnnealingLrScheduler", 15)->fields[0].from_element, 5);
    assert_true(find(&f, "PositionWiseFeedForward", 21)->fields[3].skip);
    assert_null(lr_types_find(&f.types, "Conv3d", 13));
    assert_null(lr_types_find(&f.types, "Muon", 19));
    first = f.types.defs;
    assert_int_equal(add_builtin(&f), REC_OK); /* once is enough */
    assert_ptr_equal(f.types.defs, first);
    release(&f);
}

static void types_without_version_hide_burns_and_those_with_one_stand_among_them(void **state)
{
    fixture f;
    begin(&f, NULL);
    assert_int_equal(add_builtin(&f), REC_OK);
    add_text(&f, *state, "[type Gru]\nfc = Linear\n[type Lstm 0.14]\nfc = Linear\n");
    assert_fields(find(&f, "Gru", 7), "fc: Linear");
    assert_fields(find(&f, "Gru", 21), "fc: Linear");
    assert_int_equal(find(&f, "Lstm", 13)->field_count, 5);
    assert_fields(find(&f, "Lstm", 14), "fc: Linear");
    assert_int_equal(find(&f, "Lstm", 20)->field_count, 12);
    release(&f);
}

static void the_data_folder_is_looked_for_where_the_environment_says(void **state)
{
    scratch *s = *state;
    fixture f;
    free(scratch_folder(s, "data/modules"));
    free(scratch_text(s, "data/modules/b.ini", "[module Two]\n"));
    free(scratch_text(s, "data/modules/a.ini", "[module One]\n"));
    free(scratch_text(s, "data/modules/a.ini~", "not read"));
    free(scratch_text(s, "data/modules/.c.ini", "not read"));
    {
        char *folder = scratch_path(s, "data");
        set_data(folder);
        free(folder);
    }
    begin(&f, NULL);
    assert_int_equal(add_builtin(&f), REC_OK);
    (void)find(&f, "One", 7);
    (void)find(&f, "Two", 7);
    assert_null(lr_types_find(&f.types, "Linear", 7));
    release(&f);
    put_back_data();
}

static void mistakes_in_the_data_folder_are_told_and_can_be_mended(void **state)
{
    scratch *s = *state;
    char *data = scratch_path(s, "data"), *modules = scratch_path(s, "data/modules"), *a, *b, message[2048];
    fixture f;
    set_data(data);
    begin(&f, NULL);
    assert_int_equal(add_builtin(&f), REC_E_IO);
    (void)snprintf(message, sizeof message,
                   "%s: cannot read the directory of Burn's own types: No such file or directory\n  The environment "
                   "variable LIBRECORD_DATA names the directory above it. Without it, librecord uses its own files.",
                   modules);
    assert_string_equal(rec_error_message(), message);
    free(scratch_folder(s, "data/modules"));
    assert_int_equal(add_builtin(&f), REC_E_IO); /* an empty one is as good as none */
    assert_string_equal(rec_error_message(), message);
    a = scratch_text(s, "data/modules/a.ini", "[module One 0.7]\n");
    b = scratch_text(s, "data/modules/b.ini", "\n[module One 0.7]\n");
    assert_int_equal(add_builtin(&f), REC_E_CONFIG);
    (void)snprintf(message, sizeof message,
                   "%s: line 2: One is defined twice for the same version, first in %s, line 1", b, a);
    assert_string_equal(rec_error_message(), message);
    assert_null(f.types.defs);
    assert_false(f.types.builtin);
    assert_int_equal(remove(b), 0);
    assert_int_equal(add_builtin(&f), REC_OK);
    (void)find(&f, "One", 7);
    release(&f);
    put_back_data();
    free(a);
    free(b);
    free(data);
    free(modules);
}

/* ------------------------------------------------------------------------------------------------------ memory -- */

static long countdown;

static void *give(void *user, size_t size)
{
    (void)user;
    return countdown-- > 0 ? malloc(size) : NULL;
}

static void *give_more(void *user, void *old, size_t size)
{
    (void)user;
    return countdown-- > 0 ? realloc(old, size) : NULL;
}

static void take_back(void *user, void *memory)
{
    (void)user;
    free(memory);
}

static void running_out_of_memory_anywhere_is_a_status(void **state)
{
    static const rec_allocator allocator = {
        .size = sizeof allocator, .alloc = give, .resize = give_more, .release = take_back};
    long failures = 0;
    rec_status status = REC_E_MEMORY;
    (void)state;
    for (long left = 0; status != REC_OK; left++) {
        fixture f;
        countdown = 1000000;
        begin(&f, &allocator);
        countdown = left;
        status = add_builtin(&f);
        failures += status != REC_OK;
        assert_true(status == REC_OK || status == REC_E_MEMORY);
        assert_int_equal(f.types.builtin, status == REC_OK);
        release(&f);
    }
    assert_true(failures > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(each_mistake_is_told_with_file_and_line_and_nothing_of_the_file_counts),
        TEST(a_bad_type_is_told_with_file_and_line),
        TEST(a_file_that_is_not_there_is_told),
        TEST(a_type_is_a_module_whose_generics_are_left_out),
        TEST(generics_that_are_written_are_taken_as_rust_does),
        TEST(enums_have_payloads_or_none),
        TEST(records_optimizers_aliases_and_stateless_modules_are_what_they_say),
        TEST(a_definition_counts_from_its_version_to_the_next),
        TEST(what_else_is_said_of_a_field_is_kept),
        TEST(structs_may_be_large_and_empty),
        TEST(the_number_of_types_has_a_limit),
        TEST(burns_own_types_are_those_of_the_version),
        TEST(types_without_version_hide_burns_and_those_with_one_stand_among_them),
        TEST(the_data_folder_is_looked_for_where_the_environment_says),
        TEST(mistakes_in_the_data_folder_are_told_and_can_be_mended),
        TEST(running_out_of_memory_anywhere_is_a_status),
    };
    return cmocka_run_group_tests_name("types_ini", tests, NULL, NULL);
}
