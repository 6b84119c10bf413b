/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Regular expressions: compiled once, by PCRE2, within limits. */
#include <string.h>

#include "remap/regex/regex_private.h"

enum {
    /* Rust's limit for a compiled pattern. */
    WEIGHT_MOST = 10 << 20,
    /* Bytes of a pattern's tree. */
    TREE_MOST = 32 << 20,
    /* Levels of groups, which translation adds to. */
    NEST_MOST = 2000
};

/* --------------------------------------------------------------------------------------------------- compiling -- */

/* The longest literal that every match holds. */
static const lr_re_node *needed(const lr_re_node *n)
{
    const lr_re_node *best = NULL;
    switch (n->kind) {
    case LR_RE_LITERAL:
        return n->icase ? NULL : n;
    case LR_RE_GROUP:
        return needed(n->nodes[0]);
    case LR_RE_REPEAT:
        return n->least ? needed(n->nodes[0]) : NULL;
    case LR_RE_SEQUENCE:
        for (uint32_t i = 0; i < n->count; i++) {
            const lr_re_node *one = needed(n->nodes[i]);
            best = one && (!best || one->length > best->length) ? one : best;
        }
        return best;
    default:
        return NULL;
    }
}

static bool is_exact(const lr_re_node *n)
{
    return n->kind == LR_RE_LITERAL && !n->icase;
}

static void find_needed(lr_regex *regex)
{
    const lr_re_node *n = regex->tree;
    if (n->kind == LR_RE_SEQUENCE) {
        uint32_t last = n->count - 1;
        if (n->nodes[0]->anchor == LR_RE_TEXT_START && is_exact(n->nodes[1])) {
            regex->head = n->nodes[1];
        }
        if (n->nodes[last]->anchor == LR_RE_TEXT_END && is_exact(n->nodes[last - 1])) {
            regex->tail = n->nodes[last - 1];
        }
    }
    regex->inside = needed(n);
    if (regex->inside == regex->head || regex->inside == regex->tail) {
        regex->inside = NULL;
    }
}

static bool compile(rec_job *job, lr_regex *regex, lr_re_parser *p)
{
    const lr_re_text *text = &p->out;
    pcre2_general_context *general = NULL;
    pcre2_compile_context *how = NULL;
    int error = 0;
    PCRE2_SIZE at = 0;
    uint32_t groups = 0;
    general = pcre2_general_context_create(lr_re_pcre2_alloc, lr_re_pcre2_free, (void *)(uintptr_t)job->allocator);
    how = general ? pcre2_compile_context_create(general) : NULL;
    if (!how) {
        (void)lr_fail_memory(job, text->used);
        goto done;
    }
    (void)pcre2_set_newline(how, PCRE2_NEWLINE_LF);
    (void)pcre2_set_max_pattern_length(how, LR_RE_TEXT_MOST);
    (void)pcre2_set_parens_nest_limit(how, NEST_MOST);
    regex->code = pcre2_compile(
        (PCRE2_SPTR)(text->data ? text->data : ""), text->used,
        PCRE2_UTF | PCRE2_UCP | PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_BACKSLASH_C | PCRE2_NO_UTF_CHECK, &error, &at, how);
    if (!regex->code && error == PCRE2_ERROR_HEAP_FAILED) {
        (void)lr_fail_memory(job, text->used);
    } else if (!regex->code) {
        PCRE2_UCHAR words[160] = "";
        (void)pcre2_get_error_message(error, words, sizeof words);
        (void)lr_re_fail(p, p->pattern, "it cannot be compiled: %s", (const char *)words);
    } else {
        (void)pcre2_pattern_info(regex->code, PCRE2_INFO_CAPTURECOUNT, &groups);
        regex->pairs = groups + 1;
    }
done:
    pcre2_compile_context_free(how);
    pcre2_general_context_free(general);
    return regex->code != NULL;
}

/* Copies what outlives the parser. */
static bool settle(rec_job *job, lr_regex *regex, const lr_re_parser *p, const lr_location *place)
{
    regex->groups = p->groups;
    regex->name_count = p->name_count;
    regex->place = *place;
    regex->names = lr_job_arena_alloc(job, &regex->arena, p->name_count * sizeof *regex->names, 8);
    if (place->file) {
        regex->place.file = lr_job_arena_text(job, &regex->arena, place->file, strlen(place->file));
    }
    if (place->what) {
        regex->place.what = lr_job_arena_text(job, &regex->arena, place->what, strlen(place->what));
    }
    if (regex->names && p->names) {
        memcpy(regex->names, p->names, p->name_count * sizeof *regex->names);
    }
    return !lr_job_failed(job);
}

lr_regex *lr_regex_new(rec_job *job, const char *pattern, const lr_location *place)
{
    size_t length = strlen(pattern);
    lr_re_parser p = {.job = job, .place = place, .out = {.allocator = job->allocator}};
    lr_regex *regex = NULL;
    bool good = false;
    if (length > LR_RE_PATTERN_MOST) {
        return LR_AS_NULL(lr_fail_location(job, place, "the pattern is longer than 65,536 bytes"));
    }
    if (lr_utf8_valid(pattern, length) != length) {
        return LR_AS_NULL(lr_fail_location(job, place, "the pattern is not UTF-8 at its byte %zu",
                                           lr_utf8_valid(pattern, length) + 1));
    }
    regex = lr_job_zalloc(job, sizeof *regex);
    if (!regex) {
        return NULL;
    }
    regex->allocator = job->allocator;
    lr_arena_init(&regex->arena, job->allocator);
    regex->budget.limit = TREE_MOST;
    regex->arena.budget = &regex->budget;
    p.arena = &regex->arena;
    regex->pattern = lr_job_arena_text(job, &regex->arena, pattern, length);
    if (!regex->pattern) {
        goto done;
    }
    p.pattern = p.at = regex->pattern;
    p.end = regex->pattern + length;
    regex->tree = lr_re_parse(&p);
    if (!regex->tree) {
        goto done;
    }
    if (regex->tree->weight > WEIGHT_MOST) {
        (void)lr_re_fail(&p, p.pattern, "its repetitions make it too large, as they do for Rust's engine: write fewer");
        goto done;
    }
    good = settle(job, regex, &p, place) && lr_re_write(&p, regex->tree) && compile(job, regex, &p);
    if (good) {
        find_needed(regex);
    }
done:
    lr_re_parser_free(&p);
    if (!good) {
        lr_regex_free(regex);
        regex = NULL;
    }
    return regex;
}

void lr_regex_free(lr_regex *regex)
{
    if (regex) {
        pcre2_code_free(regex->code);
        lr_arena_free(&regex->arena);
        lr_release(regex->allocator, regex);
    }
}

const char *lr_regex_pattern(const lr_regex *regex)
{
    return regex->pattern;
}

const lr_re_node *lr_regex_tree(const lr_regex *regex)
{
    return regex->tree;
}

uint32_t lr_regex_groups(const lr_regex *regex)
{
    return regex->groups;
}

uint32_t lr_regex_group(const lr_regex *regex, const char *name, size_t length)
{
    for (uint32_t i = 0; i < regex->name_count; i++) {
        if (regex->names[i].length == length && memcmp(regex->names[i].text, name, length) == 0) {
            return regex->names[i].group;
        }
    }
    return 0;
}

bool lr_regex_quote(const char *text, size_t length, char *pattern, size_t room)
{
    size_t used = 0;
    for (size_t i = 0; i < length && used + 4 < room; i++) {
        bool plain = lr_is_digit(text[i]) || (text[i] >= 'a' && text[i] <= 'z') || (text[i] >= 'A' && text[i] <= 'Z') ||
                     text[i] == '_' || (unsigned char)text[i] >= 0x80;
        if (!plain) {
            pattern[used++] = '\\';
        }
        pattern[used++] = text[i];
    }
    pattern[used] = '\0';
    return used + 4 < room;
}
