/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Rules as people write them, a line `key = value` each, their amounts and conditions; and the configuration of a
 * model, where the numbers are from. */
#include <stdlib.h>
#include <string.h>

#include "remap/rules/rules.h"
#include "tests/fuzz/fuzz.h"

static const lr_location place = {.what = "rule 1"};

/* Every number that a rule asks for. */
static void amounts(rec_job *job, const lr_rules *rules, const lr_variables *numbers)
{
    for (uint64_t i = 0; i < rules->count; i++) {
        const lr_rule *rule = &rules->rules[i];
        int64_t value;
        for (uint64_t k = 0; k < rule->amount_count; k++) {
            (void)lr_amount_value(job, rules, numbers, &rule->amounts[k], &rule->place, &value);
            lr_job_again(job);
        }
        for (uint64_t k = 0; k < rule->part_count; k++) {
            if (rule->parts[k].amount) {
                (void)lr_amount_value(job, rules, numbers, rule->parts[k].amount, &rule->place, &value);
                lr_job_again(job);
            }
        }
        if (rule->groups) {
            (void)lr_amount_value(job, rules, numbers, rule->groups, &rule->place, &value);
            lr_job_again(job);
        }
    }
}

/* Ends a line, and takes the blanks around `=` away. @return its value; NULL: it has none. */
static char *split(char *line)
{
    char *value = strchr(line, '='), *end;
    if (!value) {
        return NULL;
    }
    for (end = value; end > line && (end[-1] == ' ' || end[-1] == '\t'); end--) {
    }
    *end = '\0';
    value++;
    return value + strspn(value, " \t");
}

int fuzz_rules(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size), *next = text;
    lr_variables numbers;
    lr_rules *rules;
    rec_job job;
    lr_job_begin(&job, fuzz_context(size), "plan", NULL);
    rules = lr_rules_new(&job);
    lr_variables_init(&numbers, job.allocator);
    fuzz_must(rules && lr_variables_set(&job, &numbers, "H=12") == REC_OK &&
                  lr_variables_set(&job, &numbers, "K=0") == REC_OK,
              "rules");
    for (char *line; (line = next) != NULL;) {
        char *value;
        next = strchr(line, '\n');
        if (next) {
            *next++ = '\0';
        }
        value = lr_utf8_valid(line, strlen(line)) == strlen(line) ? split(line) : NULL;
        if (value && strcmp(line, "set") == 0) {
            (void)lr_variables_set(&job, &numbers, value);
        } else if (value && *value) {
            uint64_t before = rules->count;
            int32_t status = lr_rules_add(&job, rules, line, value, size % 2, &place, NULL);
            fuzz_must((status == REC_OK) != lr_job_failed(&job), "a rule or a failure");
            fuzz_must(status == REC_OK || rules->count == before, "no half a rule");
        }
        lr_job_again(&job);
    }
    amounts(&job, rules, &numbers);
    lr_variables_free(&numbers);
    lr_rules_free(rules);
    (void)lr_job_end(&job);
    free(text);
    return 1;
}

int fuzz_config(const uint8_t *data, size_t size)
{
    const char *path = fuzz_file("config.json", data, size);
    lr_variables numbers;
    rec_job job;
    lr_job_begin(&job, fuzz_context(size), "plan", NULL);
    lr_variables_init(&numbers, job.allocator);
    (void)lr_variables_read(&job, &numbers, NULL, path);
    lr_variables_free(&numbers);
    if (lr_job_end(&job) != REC_OK) {
        fuzz_must_say();
    }
    return 1;
}
