/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Regular expressions: matched and replaced by PCRE2, within limits. */
#include <string.h>

#include "remap/regex/regex_private.h"

enum {
    /* Steps of one search: enough for reasonable patterns, and a bound of a millisecond for others. Long texts get
     * their length squared, which an unanchored `.+` needs. */
    STEPS = 100000,
    STEPS_MOST = 1000000,
    /* KiB for what a search may come back to. */
    HEAP_MOST = 32 << 10,
    /* Bytes of a text. */
    TEXT_MOST = 64 << 10
};

struct lr_matcher {
    const lr_allocator *allocator;
    pcre2_general_context *general;
    pcre2_match_context *limits;
    pcre2_match_data *data;
    uint32_t pairs;        /* room of `data` */
    uint32_t steps;        /* the limit that is set */
    const lr_regex *regex; /* of the last match; NULL: there was none */
    int found;             /* PCRE2's groups that were set in it */
    lr_re_text out, spare; /* a result may be made from the one before */
};

static bool make_room(rec_job *job, lr_matcher *m, uint32_t pairs)
{
    pcre2_match_data *data = pcre2_match_data_create(pairs, m->general);
    if (!data) {
        return LR_AS_FALSE(lr_fail_memory(job, pairs * sizeof(PCRE2_SIZE) * 2));
    }
    pcre2_match_data_free(m->data);
    m->data = data;
    m->pairs = pairs;
    return true;
}

lr_matcher *lr_matcher_new(rec_job *job)
{
    lr_matcher *m = lr_job_zalloc(job, sizeof *m);
    if (!m) {
        return NULL;
    }
    m->allocator = m->out.allocator = m->spare.allocator = job->allocator;
    m->general = pcre2_general_context_create(lr_re_pcre2_alloc, lr_re_pcre2_free, (void *)(uintptr_t)job->allocator);
    m->limits = m->general ? pcre2_match_context_create(m->general) : NULL;
    if (!m->limits || !make_room(job, m, 16)) {
        lr_matcher_free(m);
        if (!lr_job_failed(job)) {
            (void)lr_fail_memory(job, sizeof *m);
        }
        return NULL;
    }
    m->steps = STEPS;
    (void)pcre2_set_match_limit(m->limits, STEPS);
    (void)pcre2_set_depth_limit(m->limits, STEPS);
    (void)pcre2_set_heap_limit(m->limits, HEAP_MOST);
    return m;
}

void lr_matcher_free(lr_matcher *matcher)
{
    if (matcher) {
        lr_re_text_free(&matcher->out);
        lr_re_text_free(&matcher->spare);
        pcre2_match_data_free(matcher->data);
        pcre2_match_context_free(matcher->limits);
        pcre2_general_context_free(matcher->general);
        lr_release(matcher->allocator, matcher);
    }
}

static void set_steps(lr_matcher *m, size_t length)
{
    uint32_t steps = STEPS;
    if (length > 300) {
        uint64_t square = length > 1000 ? STEPS_MOST : (uint64_t)length * length;
        steps = square > STEPS ? (uint32_t)square : STEPS;
    }
    if (steps != m->steps) {
        (void)pcre2_set_match_limit(m->limits, steps);
        (void)pcre2_set_depth_limit(m->limits, steps);
        m->steps = steps;
    }
}

static int search_failed(rec_job *job, const lr_regex *regex, const lr_matcher *m, int error, const char *text)
{
    char digits[32];
    lr_excerpt key, pattern;
    PCRE2_UCHAR words[160] = "";
    const char *shown = lr_excerpt_text(&pattern, regex->pattern);
    switch (error) {
    case PCRE2_ERROR_MATCHLIMIT:
    case PCRE2_ERROR_DEPTHLIMIT:
        (void)lr_fail_location_as(
            job, REC_E_LIMIT, &regex->place,
            "the pattern `%s` takes more than %s steps on \"%s\": write it so that no two parts of it can "
            "match the same characters, such as `[^.]+` for `.+`",
            shown, lr_group_digits(m->steps, digits, sizeof digits), lr_excerpt_text(&key, text));
        break;
    case PCRE2_ERROR_HEAPLIMIT:
        (void)lr_fail_location_as(job, REC_E_LIMIT, &regex->place,
                                  "the pattern `%s` takes more than %d MiB of memory on \"%s\"", shown, HEAP_MOST >> 10,
                                  lr_excerpt_text(&key, text));
        break;
    case PCRE2_ERROR_NOMEMORY:
        (void)lr_fail_memory(job, 0);
        break;
    default:
        if (error <= PCRE2_ERROR_UTF8_ERR1 && error >= PCRE2_ERROR_UTF8_ERR21) {
            (void)lr_fail_location_as(job, REC_E_FORMAT, &regex->place,
                                      "the pattern `%s` was tried on a text that is not UTF-8", shown);
        } else {
            (void)pcre2_get_error_message(error, words, sizeof words);
            (void)lr_fail_location_as(job, REC_E_LIMIT, &regex->place, "the pattern `%s` failed on \"%s\": %s", shown,
                                      lr_excerpt_text(&key, text), (const char *)words);
        }
        break;
    }
    return -1;
}

/* Whether a text has what every match has. */
static bool may_match(const lr_regex *regex, const char *text, size_t length)
{
    const lr_re_node *head = regex->head, *tail = regex->tail, *inside = regex->inside;
    if (head && (length < head->length || memcmp(text, head->text, head->length) != 0)) {
        return false;
    }
    if (tail && (length < tail->length || memcmp(text + length - tail->length, tail->text, tail->length) != 0)) {
        return false;
    }
    return !inside || memmem(text, length, inside->text, inside->length);
}

/* Looks at a text before it is searched. @return 1, 0 if it cannot match, -1: the job has failed. */
static int look(rec_job *job, const lr_regex *regex, lr_matcher *m, const char *text, size_t length)
{
    char digits[32];
    lr_excerpt shown;
    m->regex = NULL;
    if (!may_match(regex, text, length)) {
        return 0;
    }
    if (length > TEXT_MOST) {
        (void)lr_fail_location_as(job, REC_E_LIMIT, &regex->place,
                                  "\"%s\" has %s bytes: rules are for keys of up to 65,536",
                                  lr_excerpt_text(&shown, text), lr_group_digits(length, digits, sizeof digits));
        return -1;
    }
    set_steps(m, length);
    return 1;
}

/* The first match from a place on. @param options PCRE2_NO_UTF_CHECK where the text was looked at before. */
static int search(rec_job *job, const lr_regex *regex, lr_matcher *m, const char *text, size_t length, size_t from,
                  uint32_t options)
{
    m->regex = NULL;
    if (regex->pairs > m->pairs && !make_room(job, m, regex->pairs)) {
        return -1;
    }
    m->found = pcre2_match(regex->code, (PCRE2_SPTR)text, length, from, options, m->data, m->limits);
    if (m->found > 0) {
        m->regex = regex;
        return 1;
    }
    return m->found == PCRE2_ERROR_NOMATCH ? 0 : search_failed(job, regex, m, m->found, text);
}

int lr_regex_match(rec_job *job, const lr_regex *regex, lr_matcher *matcher, const char *text, size_t length)
{
    int result = look(job, regex, matcher, text, length);
    return result > 0 ? search(job, regex, matcher, text, length, 0, 0) : result;
}

bool lr_match_group(const lr_matcher *matcher, uint32_t group, size_t *begin, size_t *end)
{
    const PCRE2_SIZE *places = pcre2_get_ovector_pointer(matcher->data);
    *begin = *end = 0;
    if (!matcher->regex || group >= (uint32_t)matcher->found || places[2 * group] == PCRE2_UNSET) {
        return false;
    }
    *begin = places[2 * group];
    *end = places[2 * group + 1];
    return true;
}

/* --------------------------------------------------------------------------------------------------- replacing -- */

static void empty(lr_re_text *out)
{
    out->used = 0;
    out->full = out->failed = false;
}

/* Whether nothing can be added any more. */
static bool is_over(const lr_re_text *out)
{
    return out->full || out->failed;
}

static int32_t check(rec_job *job, const lr_re_text *out)
{
    return out->failed ? lr_fail_memory(job, out->used)
           : out->full ? rec_fail(job, REC_E_LIMIT, REC_UNKNOWN, "a rule makes a key of more than 1,048,576 bytes")
                       : REC_OK;
}

/* Text of a replacement with its `%` filled in. */
static void append_parts(lr_re_text *out, const char *text, size_t length, const char *part)
{
    while (length) {
        const char *sign = memchr(text, '%', length);
        size_t before = sign ? (size_t)(sign - text) : length;
        lr_re_text_add(out, text, before);
        if (sign) {
            lr_re_text_word(out, part);
            before++;
        }
        text += before;
        length -= before;
    }
}

static void expand(const lr_matcher *m, lr_re_text *out, const char *text, const lr_template *replacement,
                   const char *part)
{
    uint32_t count;
    const lr_template_piece *pieces = lr_template_pieces(replacement, &count);
    size_t begin, end;
    for (uint32_t i = 0; i < count && !is_over(out); i++) {
        if (!pieces[i].text) {
            (void)lr_match_group(m, pieces[i].group, &begin, &end);
            lr_re_text_add(out, text + begin, end - begin);
        } else if (part) {
            append_parts(out, pieces[i].text, pieces[i].length, part);
        } else {
            lr_re_text_add(out, pieces[i].text, pieces[i].length);
        }
    }
}

int32_t lr_match_expand(rec_job *job, lr_matcher *matcher, const char *text, const lr_template *replacement,
                        const char *part)
{
    expand(matcher, &matcher->out, text, replacement, part);
    return check(job, &matcher->out);
}

void lr_matcher_clear(lr_matcher *matcher)
{
    empty(&matcher->out);
    if (matcher->out.data) {
        matcher->out.data[0] = '\0';
    }
}

const char *lr_matcher_output(const lr_matcher *matcher, size_t *length)
{
    *length = matcher->out.used;
    return matcher->out.data ? matcher->out.data : "";
}

/* The next character's place. */
static size_t next_character(const char *text, size_t length, size_t at)
{
    for (at++; at < length && ((unsigned char)text[at] & 0xC0) == 0x80; at++) {
    }
    return at;
}

int64_t lr_regex_replace(rec_job *job, const lr_regex *regex, lr_matcher *matcher, const char *text, size_t length,
                         const lr_template *replacement)
{
    size_t from = 0, copied = 0, begin, end;
    int64_t matches = 0;
    lr_re_text *out = &matcher->spare, made;
    int found = look(job, regex, matcher, text, length);
    if (found > 0) {
        found = search(job, regex, matcher, text, length, 0, 0);
    }
    empty(out);
    while (found > 0 && !is_over(out)) {
        (void)lr_match_group(matcher, 0, &begin, &end);
        if (begin == end && matches && end == copied) { /* an empty match right after a match does not count */
            from = next_character(text, length, end);
        } else {
            lr_re_text_add(out, text + copied, begin - copied);
            expand(matcher, out, text, replacement, NULL);
            matches++;
            from = copied = end;
        }
        found = from <= length ? search(job, regex, matcher, text, length, from, PCRE2_NO_UTF_CHECK) : 0;
    }
    if (found < 0) {
        return -1;
    }
    if (matches) {
        lr_re_text_add(out, text + copied, length - copied);
        if (check(job, out) != REC_OK) {
            return -1;
        }
        made = *out;
        matcher->spare = matcher->out;
        matcher->out = made;
    }
    return matches;
}
