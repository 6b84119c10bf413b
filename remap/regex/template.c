/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Replacements in the syntax of Rust's `regex` crate: `$$` is a dollar; `$` and the longest name of letters, digits and
 * `_`, or `${…}`, is a group, by number if it is one; any other `$` and every backslash is text. */
#include <stdio.h>
#include <string.h>

#include "remap/regex/regex.h"

struct lr_template {
    const lr_allocator *allocator;
    lr_arena arena;
    const char *text;
    lr_template_piece *pieces;
    uint32_t count;
    uint64_t room;
};

typedef struct reader {
    rec_job *job;
    const lr_regex *regex;
    const lr_location *place;
    lr_template *made;
    bool strict;
} reader;

static int32_t keep(reader *r, const lr_template_piece *piece)
{
    lr_template *t = r->made;
    if (!lr_job_grow(r->job, &t->pieces, (uint64_t)t->count + 1, &t->room, sizeof *piece)) {
        return r->job->error.status;
    }
    t->pieces[t->count++] = *piece;
    return REC_OK;
}

static int32_t keep_text(reader *r, const char *text, size_t length)
{
    lr_template_piece piece = {.text = text, .length = (uint32_t)length};
    return length ? keep(r, &piece) : REC_OK;
}

/* A probable mistake: an error if strict, else a note. */
static int32_t doubt(reader *r, const char *what)
{
    const lr_location *place = r->place;
    lr_excerpt brief;
    const char *text = lr_excerpt_text(&brief, r->made->text);
    char where[32] = "";
    if (r->strict) {
        return lr_fail_location(r->job, place, "the replacement `%s`: %s", text, what);
    }
    if (place->file) {
        (void)snprintf(where, sizeof where, ":%u: ", (unsigned)place->line);
    }
    lr_note(r->job, REC_NOTE_RULE, 1, "", "%s%s%s%sthe replacement `%s`: %s", place->file ? place->file : "", where,
            place->what ? place->what : "", place->what ? ": " : "", text, what);
    return REC_OK;
}

/* As Rust reads a number: a `+` may stand before the digits. @return whether it is one that fits. */
static bool number_of(const char *name, size_t length, uint64_t *number)
{
    size_t i = length && *name == '+';
    bool any = false;
    *number = 0;
    for (; i < length; i++) {
        uint64_t product;
        if (name[i] < '0' || name[i] > '9' || !lr_mul(*number, 10, &product) ||
            !lr_add(product, (uint64_t)(name[i] - '0'), number)) {
            return false;
        }
        any = true;
    }
    return any;
}

/* @param all,all_length the source text, with its `$` */
static int32_t lacks_group(reader *r, const char *name, size_t length, const char *all, size_t all_length)
{
    char what[400];
    uint64_t number;
    size_t digits = 0;
    uint32_t groups = lr_regex_groups(r->regex);
    int shown = all_length > LR_NAME_MOST ? LR_NAME_MOST : (int)all_length;
    while (digits < length && name[digits] >= '0' && name[digits] <= '9') {
        digits++;
    }
    if (number_of(name, length, &number)) {
        (void)snprintf(what, sizeof what, "`%.*s` is empty: the pattern has %u group%s; write `$$` for a dollar sign",
                       shown, all, (unsigned)groups, groups == 1 ? "" : "s");
    } else {
        /* Whether a shorter name is one: `$1x`, `$name_x`. */
        bool numbered = digits && number_of(name, digits, &number) && number <= groups;
        size_t known = numbered ? digits : length;
        while (!numbered && known && !lr_regex_group(r->regex, name, known)) {
            known--;
        }
        if (known && all[1] != '{') {
            (void)snprintf(what, sizeof what,
                           "`%.*s` is the group called `%.*s`, which the pattern lacks, so it is empty: "
                           "write `${%.*s}%.*s` for group %.*s and `%.*s`",
                           shown, all, shown - 1, name, (int)known, name, (int)(length - known), name + known,
                           (int)known, name, (int)(length - known), name + known);
        } else {
            (void)snprintf(what, sizeof what,
                           "`%.*s` is empty: the pattern has no group of that name; write `$$` for a "
                           "dollar sign",
                           shown, all);
        }
    }
    return doubt(r, what);
}

/* Parses a group at its `$`. @param end after it. @return 1; 0: not a group; -1: the job has failed. */
static int read_group(reader *r, const char *dollar, const char **end)
{
    const char *name = dollar + 1, *stop;
    lr_template_piece piece = {0};
    uint64_t number;
    size_t length;
    bool known;
    if (*name == '{') {
        stop = strchr(++name, '}');
        *end = stop ? stop + 1 : NULL;
    } else {
        stop = name + strspn(name, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_");
        *end = stop;
    }
    if (!stop || (stop == name && dollar[1] != '{')) {
        return 0;
    }
    length = (size_t)(stop - name);
    if (number_of(name, length, &number)) {
        known = number <= lr_regex_groups(r->regex);
        piece.group = known ? (uint32_t)number : 0;
    } else {
        piece.group = lr_regex_group(r->regex, name, length);
        known = piece.group != 0;
    }
    if (known) {
        return keep(r, &piece) == REC_OK ? 1 : -1;
    }
    return lacks_group(r, name, length, dollar, (size_t)(*end - dollar)) == REC_OK ? 1 : -1;
}

/* `\1`, which other engines take for a group. */
static int32_t see_backslash(reader *r, const char *at)
{
    char what[200];
    size_t digits = strspn(at + 1, "0123456789");
    uint64_t number;
    if (digits && number_of(at + 1, digits, &number) && number <= lr_regex_groups(r->regex)) {
        bool braces = at[1 + digits] == '_' || (at[1 + digits] | 0x20) >= 'a';
        (void)snprintf(what, sizeof what, "`\\%.*s` is text, not a group: write `$%s%.*s%s`", (int)digits, at + 1,
                       braces ? "{" : "", (int)digits, at + 1, braces ? "}" : "");
        return doubt(r, what);
    }
    return REC_OK;
}

static int32_t read_all(reader *r)
{
    const char *text = r->made->text, *at = text, *end;
    while (*at && !lr_job_failed(r->job)) {
        if (*at == '\\') {
            (void)see_backslash(r, at);
        }
        if (*at != '$') {
            at++;
            continue;
        }
        if (at[1] == '$') { /* one of the two is text */
            (void)keep_text(r, text, (size_t)(at + 1 - text));
            text = at += 2;
            continue;
        }
        (void)keep_text(r, text, (size_t)(at - text));
        text = at;
        if (!lr_job_failed(r->job)) {
            int taken = read_group(r, at, &end);
            text = taken ? end : at;
            at = taken ? end : at + 1;
        }
    }
    return lr_job_failed(r->job) ? r->job->error.status : keep_text(r, text, strlen(text));
}

lr_template *lr_template_new(rec_job *job, const char *text, const lr_regex *regex, bool strict,
                             const lr_location *place)
{
    lr_template *made = NULL;
    size_t length = strlen(text);
    reader r = {.job = job, .regex = regex, .place = place, .strict = strict};
    if (lr_utf8_valid(text, length) != length) {
        return LR_AS_NULL(lr_fail_location(job, place, "the replacement is not UTF-8 at its byte %zu",
                                           lr_utf8_valid(text, length) + 1));
    }
    if (length > 64 << 10) {
        return LR_AS_NULL(lr_fail_location(job, place, "the replacement is longer than 65,536 bytes"));
    }
    made = lr_job_zalloc(job, sizeof *made);
    if (!made) {
        return NULL;
    }
    made->allocator = job->allocator;
    lr_arena_init(&made->arena, job->allocator);
    made->text = lr_job_arena_text(job, &made->arena, text, length);
    r.made = made;
    if (made->text && read_all(&r) == REC_OK) {
        return made;
    }
    lr_template_free(made);
    return NULL;
}

void lr_template_free(lr_template *replacement)
{
    if (replacement) {
        lr_arena_free(&replacement->arena);
        lr_release(replacement->allocator, replacement->pieces);
        lr_release(replacement->allocator, replacement);
    }
}

bool lr_template_uses(const lr_template *replacement, uint32_t group)
{
    for (uint32_t i = 0; i < replacement->count; i++) {
        if (!replacement->pieces[i].text && replacement->pieces[i].group == group) {
            return true;
        }
    }
    return false;
}

const lr_template_piece *lr_template_pieces(const lr_template *replacement, uint32_t *count)
{
    *count = replacement->count;
    return replacement->pieces;
}
