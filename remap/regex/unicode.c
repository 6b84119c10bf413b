/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What PCRE2 knows of Unicode: which characters are in a class, and which differ in case alone. It is asked by matching
 * a text of all characters, so that no tables are needed here. */
#include <stdio.h>
#include <string.h>

#include "remap/regex/regex_private.h"

/* Nothing beyond differs in case. */
enum { CASED_LAST = 0x1FFFF };

void *lr_re_pcre2_alloc(PCRE2_SIZE size, void *allocator)
{
    return lr_alloc(allocator, size);
}

void lr_re_pcre2_free(void *memory, void *allocator)
{
    lr_release(allocator, memory);
}

uint32_t lr_re_encode(uint32_t character, char bytes[4])
{
    if (character < 0x80) {
        bytes[0] = (char)character;
        return 1;
    }
    uint32_t size = character < 0x800 ? 2 : (character < 0x10000 ? 3 : 4);
    for (uint32_t i = size - 1; i > 0; i--) {
        bytes[i] = (char)(0x80 | (character & 0x3F));
        character >>= 6;
    }
    bytes[0] = (char)((0xF00 >> size & 0xF0) | character);
    return size;
}

static uint32_t decode(const char *text)
{
    const unsigned char *c = (const unsigned char *)text;
    if (c[0] < 0x80) {
        return c[0];
    }
    if (c[0] < 0xE0) {
        return (uint32_t)(c[0] & 0x1F) << 6 | (c[1] & 0x3F);
    }
    if (c[0] < 0xF0) {
        return (uint32_t)(c[0] & 0x0F) << 12 | (uint32_t)(c[1] & 0x3F) << 6 | (c[2] & 0x3F);
    }
    return (uint32_t)(c[0] & 0x07) << 18 | (uint32_t)(c[1] & 0x3F) << 12 | (uint32_t)(c[2] & 0x3F) << 6 | (c[3] & 0x3F);
}

static uint32_t size_of(uint32_t character)
{
    return character < 0x80 ? 1 : (character < 0x800 ? 2 : (character < 0x10000 ? 3 : 4));
}

uint32_t lr_re_peek(const lr_re_parser *p, const char *at, uint32_t *size)
{
    uint32_t character = at < p->end ? decode(at) : 0;
    if (size) {
        *size = at == p->end ? 0 : size_of(character);
    }
    return character;
}

static bool is_surrogate(uint32_t character)
{
    return character >= 0xD800 && character <= 0xDFFF;
}

/* All characters up to `last`, in order. NULL: the job has failed. */
static char *all_characters(rec_job *job, uint32_t last, size_t *length)
{
    char *text = lr_alloc(job->allocator, 4 * ((uint64_t)last + 1));
    *length = 0;
    for (uint32_t c = 0; text && c <= last; c++) {
        if (!is_surrogate(c)) {
            *length += lr_re_encode(c, text + *length);
        }
    }
    if (!text) {
        (void)lr_fail_memory(job, 4 * ((uint64_t)last + 1));
    }
    return text;
}

/* Adds the characters of a text that are in a class. @return as lr_re_unicode_ranges(). */
static int scan(rec_job *job, const char *inside, bool icase, const char *text, size_t length, lr_re_ranges *ranges)
{
    pcre2_general_context *general = NULL;
    pcre2_compile_context *how = NULL;
    pcre2_code *code = NULL;
    pcre2_match_data *data = NULL;
    lr_re_text pattern = {.allocator = job->allocator};
    size_t at = 0;
    PCRE2_SIZE where;
    int error = 0, result = -1, found = 0;

    lr_re_text_word(&pattern, "[");
    lr_re_text_word(&pattern, inside);
    lr_re_text_word(&pattern, "]++");
    general = pcre2_general_context_create(lr_re_pcre2_alloc, lr_re_pcre2_free, (void *)(uintptr_t)job->allocator);
    how = general ? pcre2_compile_context_create(general) : NULL;
    if (pattern.failed || pattern.full || !how) {
        goto done;
    }
    code = pcre2_compile((PCRE2_SPTR)pattern.data, pattern.used, PCRE2_UTF | PCRE2_UCP | (icase ? PCRE2_CASELESS : 0),
                         &error, &where, how);
    if (!code) {
        result = error == PCRE2_ERROR_HEAP_FAILED ? -1 : 0;
        goto done;
    }
    data = pcre2_match_data_create(1, general);
    while (data && at < length &&
           (found = pcre2_match(code, (PCRE2_SPTR)text, length, at, PCRE2_NO_UTF_CHECK, data, NULL)) > 0) {
        const PCRE2_SIZE *place = pcre2_get_ovector_pointer(data);
        for (at = place[0]; at < place[1];) { /* the text may have gaps */
            uint32_t first = decode(text + at), last = first;
            for (at += size_of(first); at < place[1] && decode(text + at) == last + 1; at += size_of(last)) {
                last++;
            }
            lr_re_ranges_add(ranges, first, last);
        }
    }
    result = data && !ranges->failed && (found > 0 || found == PCRE2_ERROR_NOMATCH) ? 1 : -1;
done:
    if (result < 0) {
        (void)lr_fail_memory(job, pattern.room);
    }
    pcre2_match_data_free(data);
    pcre2_code_free(code);
    pcre2_compile_context_free(how);
    pcre2_general_context_free(general);
    lr_re_text_free(&pattern);
    return result;
}

int lr_re_unicode_ranges(lr_re_parser *p, const char *inside, uint32_t last, lr_re_ranges *ranges)
{
    size_t length;
    char *text = all_characters(p->job, last, &length);
    int result = text ? scan(p->job, inside, false, text, length, ranges) : -1;
    lr_release(p->job->allocator, text);
    return result;
}

/* All characters that differ from another in case alone, and some more; found once for a pattern. */
static bool find_cased(lr_re_parser *p)
{
    lr_re_ranges cased = {.allocator = p->job->allocator};
    size_t length = 0, count = 0;
    bool found = p->cased != NULL;
    if (!found &&
        lr_re_unicode_ranges(p, "\\p{Changes_When_Casemapped}\\p{Changes_When_Casefolded}", CASED_LAST, &cased) > 0) {
        for (size_t i = 0; i < cased.count; i++) {
            count += cased.list[i].last - cased.list[i].first + 1;
        }
        p->cased = lr_alloc(p->job->allocator, 4 * count + 1);
        for (size_t i = 0; p->cased && i < cased.count; i++) {
            for (uint32_t c = cased.list[i].first; c <= cased.list[i].last; c++) {
                length += lr_re_encode(c, p->cased + length);
            }
        }
        p->cased_length = length;
        found = p->cased || lr_re_fail_memory(p);
    }
    lr_re_ranges_free(&cased);
    return found;
}

int lr_re_unicode_cased(lr_re_parser *p, const char *inside, bool icase, lr_re_ranges *ranges)
{
    if (p->scans++ == LR_RE_SCANS_MOST) {
        (void)lr_re_fail(p, p->at, "more than %d classes of `(?i)` with characters beyond ASCII: write fewer",
                         LR_RE_SCANS_MOST);
        return -1;
    }
    return find_cased(p) ? scan(p->job, inside, icase, p->cased, p->cased_length, ranges) : -1;
}

int lr_re_unicode_fold(lr_re_parser *p, lr_re_ranges *ranges)
{
    rec_job *job = p->job;
    lr_re_text inside = {.allocator = job->allocator};
    size_t count = ranges->count;
    bool ascii = true;
    int result = 1;
    for (size_t i = 0; i < count; i++) {
        ascii = ascii && ranges->list[i].last < 0x80;
    }
    if (ascii) { /* the usual case; two letters have a relative beyond ASCII */
        for (size_t i = 0; i < count; i++) {
            for (uint32_t c = ranges->list[i].first; c <= ranges->list[i].last; c++) {
                uint32_t lower = c | 0x20;
                if (lower >= 'a' && lower <= 'z') {
                    lr_re_ranges_add(ranges, c ^ 0x20, c ^ 0x20);
                }
                if (lower == 'k') {
                    lr_re_ranges_add(ranges, 0x212A, 0x212A); /* KELVIN SIGN */
                } else if (lower == 's') {
                    lr_re_ranges_add(ranges, 0x17F, 0x17F); /* LATIN SMALL LETTER LONG S */
                }
            }
        }
    } else {
        lr_re_write_ranges(&inside, ranges->list, count);
        if (inside.failed || inside.full) {
            (void)lr_fail_memory(job, inside.room);
            result = -1;
        } else if (inside.used) {
            result = lr_re_unicode_cased(p, inside.data, true, ranges) < 0 ? -1 : 1;
        }
    }
    lr_re_text_free(&inside);
    return result;
}
