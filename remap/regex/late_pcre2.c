/* SPDX-License-Identifier: MIT OR Apache-2.0
 * PCRE2 by its own names, opened when the first pattern is compiled: the functions of it that this room calls.
 * What was never made may be freed without it. */
#include "remap/regex/regex_private.h"

#ifdef LR_PCRE2_SONAME

/* What is called, without prefix and width. */
#define CALLS(CALL)              \
    CALL(code_free)              \
    CALL(compile)                \
    CALL(compile_context_create) \
    CALL(compile_context_free)   \
    CALL(general_context_create) \
    CALL(general_context_free)   \
    CALL(get_error_message)      \
    CALL(get_ovector_pointer)    \
    CALL(match)                  \
    CALL(match_context_create)   \
    CALL(match_context_free)     \
    CALL(match_data_create)      \
    CALL(match_data_free)        \
    CALL(pattern_info)           \
    CALL(set_depth_limit)        \
    CALL(set_heap_limit)         \
    CALL(set_match_limit)        \
    CALL(set_max_pattern_length) \
    CALL(set_newline)            \
    CALL(set_parens_nest_limit)

#define POINTER(name) __typeof__(pcre2_##name##_8) *name;
#define FUNCTION(name) {"pcre2_" #name "_8", &pcre2.name},

static struct {
    CALLS(POINTER)
} pcre2;
static const lr_late_function functions[] = {CALLS(FUNCTION)};
static lr_late library = {LR_PCRE2_SONAME, functions, sizeof functions / sizeof *functions, false};
LR_LATE_NOTE(note, "rules", LR_PCRE2_SONAME);

bool lr_re_pcre2_open(rec_job *job)
{
    return lr_late_need(job, &library, "rules") == REC_OK;
}

void pcre2_code_free(pcre2_code *code)
{
    if (code) {
        pcre2.code_free(code);
    }
}

pcre2_code *pcre2_compile(PCRE2_SPTR pattern, PCRE2_SIZE length, uint32_t options, int *error, PCRE2_SIZE *at,
                          pcre2_compile_context *context)
{
    return pcre2.compile(pattern, length, options, error, at, context);
}

pcre2_compile_context *pcre2_compile_context_create(pcre2_general_context *general)
{
    return pcre2.compile_context_create(general);
}

void pcre2_compile_context_free(pcre2_compile_context *context)
{
    if (context) {
        pcre2.compile_context_free(context);
    }
}

pcre2_general_context *pcre2_general_context_create(void *(*alloc)(PCRE2_SIZE, void *), void (*release)(void *, void *),
                                                    void *user)
{
    return pcre2.general_context_create(alloc, release, user);
}

void pcre2_general_context_free(pcre2_general_context *general)
{
    if (general) {
        pcre2.general_context_free(general);
    }
}

int pcre2_get_error_message(int error, PCRE2_UCHAR *words, PCRE2_SIZE room)
{
    return pcre2.get_error_message(error, words, room);
}

PCRE2_SIZE *pcre2_get_ovector_pointer(pcre2_match_data *data)
{
    return pcre2.get_ovector_pointer(data);
}

int pcre2_match(const pcre2_code *code, PCRE2_SPTR text, PCRE2_SIZE length, PCRE2_SIZE from, uint32_t options,
                pcre2_match_data *data, pcre2_match_context *context)
{
    return pcre2.match(code, text, length, from, options, data, context);
}

pcre2_match_context *pcre2_match_context_create(pcre2_general_context *general)
{
    return pcre2.match_context_create(general);
}

void pcre2_match_context_free(pcre2_match_context *context)
{
    if (context) {
        pcre2.match_context_free(context);
    }
}

pcre2_match_data *pcre2_match_data_create(uint32_t pairs, pcre2_general_context *general)
{
    return pcre2.match_data_create(pairs, general);
}

void pcre2_match_data_free(pcre2_match_data *data)
{
    if (data) {
        pcre2.match_data_free(data);
    }
}

int pcre2_pattern_info(const pcre2_code *code, uint32_t what, void *where)
{
    return pcre2.pattern_info(code, what, where);
}

int pcre2_set_depth_limit(pcre2_match_context *context, uint32_t limit)
{
    return pcre2.set_depth_limit(context, limit);
}

int pcre2_set_heap_limit(pcre2_match_context *context, uint32_t limit)
{
    return pcre2.set_heap_limit(context, limit);
}

int pcre2_set_match_limit(pcre2_match_context *context, uint32_t limit)
{
    return pcre2.set_match_limit(context, limit);
}

int pcre2_set_max_pattern_length(pcre2_compile_context *context, PCRE2_SIZE length)
{
    return pcre2.set_max_pattern_length(context, length);
}

int pcre2_set_newline(pcre2_compile_context *context, uint32_t newline)
{
    return pcre2.set_newline(context, newline);
}

int pcre2_set_parens_nest_limit(pcre2_compile_context *context, uint32_t limit)
{
    return pcre2.set_parens_nest_limit(context, limit);
}

#else

bool lr_re_pcre2_open(rec_job *job)
{
    (void)job;
    return true;
}

#endif
