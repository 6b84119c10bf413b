/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What is wrong with a pattern: the pattern, or what is around the place, and which character it is. */
#include <stdio.h>

#include "remap/regex/regex_private.h"

enum { SHOWN_MOST = 120 };

/* A message is one line. */
static void one_line(char *text)
{
    for (; *text; text++) {
        *text = (unsigned char)*text < ' ' || *text == 0x7F ? ' ' : *text;
    }
}

/* The pattern as a message shows it: all of it, or what is around a place. */
static void show(const lr_re_parser *p, const char *at, char *text, size_t room)
{
    size_t length = (size_t)(p->end - p->pattern);
    const char *from = p->pattern, *to = p->end;
    if (length > SHOWN_MOST) {
        size_t before = (size_t)(at - p->pattern);
        from =
            before > SHOWN_MOST / 2 ? p->pattern + lr_character_begin(p->pattern, before - SHOWN_MOST / 2) : p->pattern;
        to = p->end - from > SHOWN_MOST ? from + lr_character_begin(from, SHOWN_MOST) : p->end;
    }
    (void)snprintf(text, room, "%s%.*s%s", from > p->pattern ? "..." : "", (int)(to - from), from,
                   to < p->end ? "..." : "");
}

bool lr_re_fail(lr_re_parser *p, const char *at, const char *format, ...)
{
    char what[768], shown[SHOWN_MOST + 16];
    size_t place = 1;
    va_list args;
    va_start(args, format);
    (void)vsnprintf(what, sizeof what, format, args);
    va_end(args);
    show(p, at, shown, sizeof shown);
    one_line(what);
    one_line(shown);
    for (const char *c = p->pattern; c < at; c++) {
        place += ((unsigned char)*c & 0xC0) != 0x80;
    }
    return LR_AS_FALSE(lr_fail_location(p->job, p->place, "the pattern `%s`, character %zu: %s", shown, place, what));
}

bool lr_re_fail_foreign(lr_re_parser *p, const char *at, const char *kind, const char *sign, const char *advice)
{
    return lr_re_fail(p, at, "%s`%s` is not part of Rust's regex syntax, which rules are written in: %s", kind, sign,
                      advice);
}

void *lr_re_fail_memory(lr_re_parser *p)
{
    if (p->arena->refused) {
        (void)lr_re_fail(p, p->pattern, "it is too large once it is taken apart");
    } else {
        (void)lr_fail_memory(p->job, sizeof(lr_re_node));
    }
    return NULL;
}

void *lr_re_alloc(lr_re_parser *p, uint64_t size)
{
    void *memory = lr_arena_alloc(p->arena, size, 8);
    return memory ? memory : lr_re_fail_memory(p);
}
