/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Types as people write them: Rust source, and expressions over what Burn has. */
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "types/types.h"

void fuzz_layouts(size_t size, int32_t (*add)(rec_job *job, rec_types *types, const char *from), const char *from,
                  int32_t minor, unsigned most)
{
    rec_context *context = fuzz_context(size);
    rec_types *whole =
        size % 64 == 5 ? rec_types_new(context) : NULL; /* reading what Burn has takes longer than all else */
    rec_types alone = {.context = context, .builtin = true}, *types = whole ? whole : &alone;
    rec_job job;
    unsigned tried = 0;
    lr_arena_init(&alone.arena, &context->allocator);
    lr_job_begin(&job, context, "types", NULL);
    if (add(&job, types, from) == REC_OK) {
        job.burn.minor = minor;
        for (const lr_def *def = types->defs; def && tried < most; def = def->next, tried++) {
            const lr_expr expr = {.kind = LR_EXPR_NAME, .name = def->name};
            job.type = (lr_type_ref){.types = types};
            (void)lr_layout_of_expr(&job, types, &expr);
            lr_layouts_free(&job);
            lr_job_again(&job);
        }
    }
    lr_layouts_free(&job);
    (void)lr_job_end(&job);
    lr_arena_free(&alone.arena);
    rec_types_free(whole);
}

static int32_t add_rust(rec_job *job, rec_types *types, const char *text)
{
    return lr_types_add_rust(job, types, text, strlen(text), "fuzz.rs");
}

int fuzz_rust(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    fuzz_layouts(size, add_rust, text, size % 2 ? 21 : 13, 8);
    free(text);
    return 1;
}

/* An expression, printed: what that says is the same again. */
int fuzz_type(const uint8_t *data, size_t size)
{
    rec_context *context = fuzz_context(size);
    char *text = fuzz_text(data, size);
    const lr_expr *expr;
    lr_arena arena;
    rec_job job;
    lr_job_begin(&job, context, "types", NULL);
    lr_arena_init(&arena, job.allocator);
    expr = lr_expr_parse(&job, &arena, text, strlen(text), NULL, 0);
    fuzz_must((expr != NULL) != lr_job_failed(&job), "an expression or a failure");
    if (expr) {
        static char printed[4096], twice[4096];
        size_t length = lr_expr_print(expr, printed, sizeof printed);
        fuzz_must(length >= sizeof printed || strlen(printed) == length, "its length");
        /* What holds no data is its own text, from which white space between quotes is lost. A type called r#true is
         * printed as the constant. */
        if (length < sizeof printed && !strpbrk(printed, "'\"") && !strstr(text, "r#true") &&
            !strstr(text, "r#false")) {
            const lr_expr *again = lr_expr_parse(&job, &arena, printed, length, NULL, 0);
            fuzz_must(again && lr_expr_print(again, twice, sizeof twice) == length && strcmp(printed, twice) == 0,
                      "what is printed is read as the same");
        }
    }
    lr_arena_free(&arena);
    (void)lr_job_end(&job);
    free(text);
    return 1;
}
