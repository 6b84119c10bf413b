/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Regular expressions of rules: a pattern, a replacement and a text, each on a line of its own. The rule makes the text
 * of each origin that its inverse finds. */
#include <stdlib.h>
#include <string.h>

#include "remap/regex/regex.h"
#include "remap/reverse/invert_private.h"
#include "tests/fuzz/fuzz.h"

enum { PATTERN_MOST = 256, TEXT_MOST = 256 };

static void backwards(rec_job *job, const lr_regex *regex, const lr_template *replacement, lr_matcher *matcher,
                      const char *text, size_t length)
{
    lr_origins origins = {.allocator = job->allocator};
    lr_back *back = lr_back_new(job, regex, replacement, 0, LR_BACK_PLACES);
    lr_matcher *again = back ? lr_matcher_new(job) : NULL;
    if (again && !back->reason && lr_back_find(job, back, matcher, text, length, NULL, NULL, &origins) == REC_OK) {
        for (uint64_t i = 0; i < origins.count && i < 16; i++) {
            const lr_origin *origin = &origins.list[i];
            size_t made_length;
            const char *made;
            if (lr_regex_replace(job, regex, again, origins.text + origin->at, origin->length, replacement) < 0) {
                break; /* a limit of matching */
            }
            made = lr_matcher_output(again, &made_length);
            fuzz_must(made_length == length && memcmp(made, text, length) == 0, "the rule makes it of what was found");
        }
    }
    lr_matcher_free(again);
    lr_back_free(back);
    lr_origins_free(&origins);
}

static void match(rec_job *job, lr_regex *regex, const char *text, size_t length, const char *replacement)
{
    static const lr_location place = {.what = "rule 1"};
    lr_matcher *matcher = lr_matcher_new(job);
    lr_template *template = lr_template_new(job, replacement, regex, false, &place);
    int matches = matcher ? lr_regex_match(job, regex, matcher, text, length) : -1;
    size_t begin, end;
    if (matches > 0) {
        fuzz_must(lr_match_group(matcher, 0, &begin, &end) && begin <= end && end <= length,
                  "a match lies in the text");
        for (uint32_t i = 1; i <= lr_regex_groups(regex); i++) {
            fuzz_must(!lr_match_group(matcher, i, &begin, &end) || (begin <= end && end <= length), "and its groups");
        }
    }
    if (template && matches >= 0 && !lr_job_failed(job)) {
        int64_t count = lr_regex_replace(job, regex, matcher, text, length, template);
        fuzz_must(count < 0 || (count > 0) == (matches > 0), "what matches is replaced");
        if (!lr_job_failed(job)) {
            backwards(job, regex, template, matcher, text, length);
        }
    }
    lr_template_free(template);
    lr_matcher_free(matcher);
}

int fuzz_regex(const uint8_t *data, size_t size)
{
    static const lr_location place = {.what = "rule 1"};
    char *pattern = fuzz_text(data, size), *replacement = strchr(pattern, '\n'), *text = NULL;
    lr_regex *regex = NULL;
    rec_job job;
    if (replacement) {
        *replacement++ = '\0';
        text = strchr(replacement, '\n');
    }
    if (text) {
        *text++ = '\0';
    }
    lr_job_begin(&job, fuzz_context(size), "plan", NULL);
    if (strlen(pattern) <= PATTERN_MOST) {
        regex = lr_regex_new(&job, pattern, &place);
        fuzz_must((regex != NULL) != lr_job_failed(&job), "a regex or a failure");
    }
    if (regex) {
        size_t length = text ? strnlen(text, TEXT_MOST) : 0;
        match(&job, regex, text ? text : "", lr_utf8_valid(text ? text : "", length), replacement ? replacement : "");
    }
    lr_regex_free(regex);
    (void)lr_job_end(&job);
    free(pattern);
    return 1;
}
