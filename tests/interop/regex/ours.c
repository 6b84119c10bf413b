/* SPDX-License-Identifier: MIT OR Apache-2.0
 * librecord on the cases of compare.py, as src/main.rs is for Rust: lines of pattern, replacement and text in
 * hexadecimal on the standard input; for each a line `ok MATCHES RESULT` or `no REASON`. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "remap/regex/regex.h"

/* In place. @return what follows the part, or NULL. */
static char *from_hex(char *text)
{
    char *stop = text + strcspn(text, "\t\n"), *out = text;
    char *next = *stop == '\t' ? stop + 1 : NULL;
    for (char *at = text; at + 1 < stop; at += 2) {
        const char pair[3] = {at[0], at[1], '\0'};
        *out++ = (char)strtol(pair, NULL, 16);
    }
    *out = '\0';
    return next;
}

static void answer(rec_job *job, char *line)
{
    const lr_location place = {.what = "rule 1"};
    const char *pattern = line, *replacement, *text, *result;
    lr_regex *regex = NULL;
    lr_template *made = NULL;
    lr_matcher *matcher = NULL;
    int64_t matches = -1;
    size_t length;
    replacement = line = from_hex(line);
    text = line = from_hex(line);
    (void)from_hex(line);
    regex = lr_regex_new(job, pattern, &place);
    made = regex ? lr_template_new(job, replacement, regex, false, &place) : NULL;
    matcher = made ? lr_matcher_new(job) : NULL;
    length = strlen(text);
    if (matcher) {
        matches = lr_regex_replace(job, regex, matcher, text, length, made);
    }
    if (matches < 0) {
        printf("no %.*s\n", (int)strcspn(job->error.what, "\n"), job->error.what);
    } else {
        result = matches ? lr_matcher_output(matcher, &length) : text;
        printf("ok %" PRId64 " ", matches);
        for (size_t i = 0; i < length; i++) {
            printf("%02x", (unsigned)(unsigned char)result[i]);
        }
        printf("\n");
    }
    lr_matcher_free(matcher);
    lr_template_free(made);
    lr_regex_free(regex);
}

int main(void)
{
    rec_context *context = rec_context_new(NULL);
    char *line = NULL;
    size_t room = 0;
    if (!context) {
        fprintf(stderr, "%s\n", rec_error_message());
        return 1;
    }
    while (getline(&line, &room, stdin) > 0) {
        rec_job job;
        lr_job_begin(&job, context, "load", NULL);
        answer(&job, line);
        lr_job_drop(&job);
    }
    free(line);
    rec_context_free(context);
    return 0;
}
