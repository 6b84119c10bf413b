/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The profiles that come with the library: they are all there, say what they are, are built as they should be, and know
 * the keys of real models. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "recorder/recorder.h"
#include "tests/scratch.h"
#include "tests/shared.h"

/** A context with an operation in it. */
typedef struct fixture {
    rec_context *context;
    rec_job job;
} fixture;

static int set_up(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    f->context = rec_context_new(NULL);
    assert_non_null(f->context);
    lr_job_begin(&f->job, f->context, "test", NULL);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    lr_job_drop(&f->job);
    rec_context_free(f->context);
    free(f);
    return 0;
}

static lr_rules *load(fixture *f, const char *name)
{
    lr_rules *rules = lr_profile_load(&f->job, name, NULL);
    if (!rules) {
        (void)lr_job_end(&f->job);
        fail_msg("%s: %s", name, rec_error_message());
    }
    return rules;
}

static uint64_t count(const lr_rules *rules, int32_t kind)
{
    uint64_t found = 0;
    for (uint64_t i = 0; i < rules->count; i++) {
        found += rules->rules[i].kind == kind;
    }
    return found;
}

/* The first rule of a kind. */
static const lr_rule *first(const lr_rules *rules, int32_t kind)
{
    for (uint64_t i = 0; i < rules->count; i++) {
        if (rules->rules[i].kind == kind) {
            return &rules->rules[i];
        }
    }
    fail_msg("%s has no %s", rules->name, lr_word_name(kind));
    return NULL;
}

static const char *const all[] = {
    "albert",
    "bart",
    "bert",
    "bert-mlm",
    "clip",
    "clip-text",
    "convnext",
    "dino",
    "falcon",
    "flax",
    "gemma",
    "gpt-neox",
    "gpt2",
    "gpt2-split",
    "gru",
    "llama",
    "llama-gguf",
    "llama-meta",
    "llama-norope",
    "llama3-meta",
    "lstm",
    "mha",
    "mixtral",
    "mixtral-stack",
    "mobilenet",
    "phi",
    "phi3",
    "qwen2-gguf",
    "qwen3",
    "qwen3-gguf",
    "qwen3-gguf-split",
    "qwen3-split",
    "resnet",
    "rnn",
    "roberta",
    "roberta-mlm",
    "sequential-gaps",
    "squeezenet",
    "t5",
    "vit",
    "vit-timm",
    "vit-torchvision",
    "wav2vec2",
    "whisper",
    "whisper-openai",
    "yolox",
};
#define ALL (sizeof all / sizeof all[0])

static void they_are_all_listed_and_described(void **state)
{
    fixture *f = *state;
    assert_int_equal(rec_profile_count(f->context), ALL);
    for (size_t i = 0; i < ALL; i++) {
        const rec_profile_info *info = rec_profile_get(f->context, i);
        assert_non_null(info);
        assert_int_equal(info->size, sizeof *info);
        assert_string_equal(info->name, all[i]);
        assert_true(*info->description && *info->source && *info->destination);
        assert_non_null(strstr(info->file, "/profiles/"));
    }
    assert_null(rec_profile_get(f->context, ALL));
    assert_ptr_equal(rec_profile_get(f->context, 0), rec_profile_get(f->context, 0));
}

/* A name of a module that needs no profile. */
static bool adds_nothing(const rec_profile_info *info)
{
    return strncmp(info->description, "adds nothing: ", strlen("adds nothing: ")) == 0;
}

/* A replacement over all files once put patterns there. */
static void a_family_has_a_name_to_be_read(void **state)
{
    fixture *f = *state;
    uint64_t seen = 0;
    for (size_t i = 0; i < ALL; i++) {
        FILE *file = fopen(rec_profile_get(f->context, i)->file, "r");
        char line[4096];
        assert_non_null(file);
        while (fgets(line, sizeof line, file)) {
            bool named = strncmp(line, "family = ", strlen("family = ")) == 0;
            seen += named;
            if (named && strpbrk(line, "^$\\[]|*")) {
                fail_msg("%s: %s", all[i], line);
            }
        }
        (void)fclose(file);
    }
    assert_true(seen > 10);
}

/* A group that a pattern lacks would be an error: profiles are strict. */
static void each_one_loads_and_says_the_same_of_itself(void **state)
{
    fixture *f = *state;
    for (size_t i = 0; i < ALL; i++) {
        lr_rules *rules = load(f, all[i]);
        const rec_profile_info *info = rec_profile_get(f->context, i);
        assert_string_equal(rules->name, info->name);
        assert_string_equal(rules->description, info->description);
        assert_string_equal(rules->source, info->source);
        assert_string_equal(rules->destination, info->destination);
        assert_true(rules->count > 0 || adds_nothing(info));
        for (uint64_t k = 0; k < rules->count; k++) {
            assert_int_equal(rules->rules[k].number, k + 1);
            assert_non_null(rules->rules[k].profile);
            assert_non_null(rules->rules[k].place.file);
            assert_true(rules->rules[k].place.line > 0);
        }
        lr_rules_free(rules);
    }
    assert_int_equal(f->job.notes, 0);
}

static void includes_bring_rules_and_less_leaves_some_out(void **state)
{
    fixture *f = *state;
    lr_rules *llama = load(f, "llama"), *other = load(f, "llama-norope");
    assert_int_equal(count(llama, LR_RULE_ROPE), 2);
    assert_int_equal(count(other, LR_RULE_ROPE), 0);
    assert_int_equal(other->count, llama->count - 2);
    lr_rules_free(other);
    other = load(f, "gemma");
    assert_int_equal(other->count, llama->count + 1);
    assert_true(first(other, LR_RULE_ADD)->number_value == 1);
    lr_rules_free(other);
    lr_rules_free(llama);
    llama = load(f, "bert");
    other = load(f, "bert-mlm");
    assert_string_equal(first(llama, LR_RULE_RENAME)->text, "^(?:bert|roberta)\\.(.+) => $1");
    assert_string_equal(first(other, LR_RULE_RENAME)->text, "encoder\\.layer\\.([0-9]+) => encoder.layers.$1");
    assert_int_equal(count(other, LR_RULE_RENAME), count(llama, LR_RULE_RENAME) - 1 + 4);
    lr_rules_free(other);
    other = load(f, "mixtral-stack");
    assert_int_equal(count(other, LR_RULE_STACK), 1);
    assert_string_equal(first(other, LR_RULE_STACK)->profile, "mixtral-stack");
    assert_string_equal(first(other, LR_RULE_DROP)->profile, "llama");
    lr_rules_free(other);
    lr_rules_free(llama);
}

/* ----------------------------------------------------------------------------------------------------- numbers -- */

/* What an amount of the only rule of a kind is with numbers such as "H=4 K=2". @return -1 if one is missing. */
static int64_t value(fixture *f, const lr_rules *rules, const char *set, const lr_amount *amount)
{
    lr_variables numbers;
    int64_t result = -1;
    char *text = strdup(set), *rest = text, *word;
    assert_non_null(text);
    lr_variables_init(&numbers, &f->context->allocator);
    while ((word = strsep(&rest, " ")) != NULL) {
        assert_int_equal(lr_variables_set(&f->job, &numbers, word), REC_OK);
    }
    if (lr_amount_value(&f->job, rules, &numbers, amount, &(lr_location){.what = "test"}, &result) != REC_OK) {
        result = -1;
        lr_job_drop(&f->job);
        lr_job_begin(&f->job, f->context, "test", NULL);
    }
    lr_variables_free(&numbers);
    free(text);
    return result;
}

static void heads_come_from_configurations_of_every_spelling(void **state)
{
    fixture *f = *state;
    lr_rules *rules = load(f, "llama");
    const lr_amount *heads = NULL, *kv = NULL;
    for (uint64_t i = 0; i < rules->count; i++) {
        if (rules->rules[i].kind == LR_RULE_ROPE) {
            kv = &rules->rules[i].amounts[0];
            heads = heads ? heads : kv;
        }
    }
    assert_int_equal(value(f, rules, "num_attention_heads=32 num_key_value_heads=8", heads), 32);
    assert_int_equal(value(f, rules, "num_attention_heads=32 num_key_value_heads=8", kv), 8);
    assert_int_equal(value(f, rules, "n_head=12", kv), 12);
    assert_int_equal(value(f, rules, "heads=4 kv_heads=2 num_attention_heads=8", heads), 4);
    assert_int_equal(value(f, rules, "H=4 K=2", kv), 2);
    /* Nothing says that there are no groups. */
    assert_int_equal(value(f, rules, "heads=4", kv), -1);
    lr_rules_free(rules);
}

static void falcons_groups_come_from_its_configuration(void **state)
{
    fixture *f = *state;
    lr_rules *rules = load(f, "falcon");
    const lr_amount *groups = first(rules, LR_RULE_SPLIT)->groups;
    const lr_amount *queries = first(rules, LR_RULE_SPLIT)->parts[0].amount;
    /* 7B, 40B, RW; and 7B and 40B as they were first published */
    assert_int_equal(
        value(f, rules, "num_attention_heads=71 num_kv_heads=71 multi_query=1 new_decoder_architecture=0", groups), 1);
    assert_int_equal(
        value(f, rules, "num_attention_heads=128 num_kv_heads=8 multi_query=1 new_decoder_architecture=1", groups), 8);
    assert_int_equal(
        value(f, rules, "num_attention_heads=128 num_kv_heads=8 multi_query=1 new_decoder_architecture=1", queries),
        16);
    assert_int_equal(value(f, rules, "num_attention_heads=32 multi_query=0 new_decoder_architecture=0", groups), 32);
    assert_int_equal(value(f, rules, "n_head=71 multi_query=1", groups), 1);
    assert_int_equal(value(f, rules, "n_head=128 n_head_kv=8", groups), 8);
    lr_rules_free(rules);
}

static void rotary_dims_are_a_share_of_a_head(void **state)
{
    fixture *f = *state;
    lr_rules *rules = load(f, "phi");
    const lr_amount *dims = &first(rules, LR_RULE_ROPE)->amounts[1];
    assert_int_equal(value(f, rules, "num_attention_heads=32 hidden_size=2560 partial_rotary_factor=0.4", dims), 32);
    assert_int_equal(value(f, rules, "num_attention_heads=32 hidden_size=2048 rotary_pct=0.25", dims), 16);
    assert_int_equal(value(f, rules, "n_head=4 n_embd=64", dims), 16);
    assert_int_equal(value(f, rules, "n_head=4 head_dim=8 n_embd=64", dims), 8);
    assert_int_equal(value(f, rules, "rotary_dims=6", dims), 6);
    lr_rules_free(rules);
}

static void a_real_configuration_gives_them(void **state)
{
    fixture *f = *state;
    lr_rules *rules;
    lr_variables numbers;
    char path[1024];
    int64_t heads = 0;
    if (!shared_path(path, sizeof path, "families/llama/model.safetensors.index.json")) {
        skip();
    }
    rules = load(f, "llama");
    lr_variables_init(&numbers, &f->context->allocator);
    assert_int_equal(lr_variables_read(&f->job, &numbers, path, NULL), REC_OK);
    assert_non_null(numbers.config_file);
    assert_int_equal(lr_amount_value(&f->job, rules, &numbers, &first(rules, LR_RULE_ROPE)->amounts[0],
                                     &(lr_location){.what = "test"}, &heads),
                     REC_OK);
    assert_int_equal(heads, 4);
    lr_variables_free(&numbers);
    lr_rules_free(rules);
}

/* --------------------------------------------------------------------------------------------------- backwards -- */

/* Going backwards every key of a real file must be one that the profile takes for right. */
static const struct {
    const char *profile, *keys;
} exports[] = {
    {"llama", "families/llama/llama.keys.tsv"},
    {"llama-norope", "families/llama/llama.keys.tsv"},
    {"llama", "families/llama/tied/llama-tied.keys.tsv"},
    {"gpt2-split", "families/gpt2/gpt2.keys.tsv"},
    {"bert", "families/bert/bert.keys.tsv"},
    {"bert-mlm", "families/bert/mlm/bert-mlm.keys.tsv"},
    {"whisper", "families/whisper/whisper.keys.tsv"},
    {"vit", "families/vit/vit.keys.tsv"},
    {"vit-torchvision", "families/vit/torchvision/vit-torchvision.keys.tsv"},
    {"resnet", "families/resnet/resnet.keys.tsv"},
};

static bool matches(fixture *f, const lr_rules *rules, lr_matcher *matcher, int32_t kind, const char *key)
{
    for (uint64_t i = 0; i < rules->count; i++) {
        if (rules->rules[i].kind == kind &&
            lr_regex_match(&f->job, rules->rules[i].regex, matcher, key, strlen(key)) == 1) {
            return true;
        }
    }
    return false;
}

static void real_keys_are_right_for_going_backwards(void **state)
{
    fixture *f = *state;
    lr_matcher *matcher = lr_matcher_new(&f->job);
    assert_non_null(matcher);
    for (size_t i = 0; i < sizeof exports / sizeof exports[0]; i++) {
        lr_rules *rules = load(f, exports[i].profile);
        char path[1024], line[1024];
        uint64_t seen = 0;
        FILE *file;
        if (!shared_path(path, sizeof path, exports[i].keys)) {
            lr_rules_free(rules);
            lr_matcher_free(matcher);
            skip();
        }
        file = fopen(path, "r");
        assert_non_null(file);
        assert_non_null(fgets(line, sizeof line, file));
        while (fgets(line, sizeof line, file)) {
            line[strcspn(line, "\t\n")] = '\0';
            seen++;
            if (!matches(f, rules, matcher, LR_RULE_DROP, line) && !matches(f, rules, matcher, LR_RULE_EXPORT, line)) {
                fail_msg("%s: no export rule matches %s", exports[i].profile, line);
            }
        }
        assert_true(seen > 10);
        (void)fclose(file);
        lr_rules_free(rules);
    }
    lr_matcher_free(matcher);
}

#define EACH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        EACH(they_are_all_listed_and_described),
        EACH(a_family_has_a_name_to_be_read),
        EACH(each_one_loads_and_says_the_same_of_itself),
        EACH(includes_bring_rules_and_less_leaves_some_out),
        EACH(heads_come_from_configurations_of_every_spelling),
        EACH(falcons_groups_come_from_its_configuration),
        EACH(rotary_dims_are_a_share_of_a_head),
        EACH(a_real_configuration_gives_them),
        EACH(real_keys_are_right_for_going_backwards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
