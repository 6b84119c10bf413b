/* SPDX-License-Identifier: MIT OR Apache-2.0
 * From the tree of a pattern to the PCRE2 pattern that means the same. It is read with PCRE2_UTF, PCRE2_UCP and newline
 * LF, and leans on no other option. */
#include <string.h>

#include "remap/regex/regex_private.h"

enum { REPEAT_MOST = 65535 }; /* PCRE2's */

/* Words as `\w` has them; of ASCII. */
static const char word_class[] = "[0-9A-Z_a-z\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\x{200c}\\x{200d}]";
static const char ascii_class[] = "[0-9A-Z_a-z]";

/* ----------------------------------------------------------------------------------------------------- writing -- */

typedef struct writer {
    lr_re_parser *p;
    lr_re_text *out;
    uint32_t *map;
    uint32_t groups; /* PCRE2's, so far */
    bool failed;
} writer;

static void word(writer *w, const char *text)
{
    lr_re_text_word(w->out, text);
}

static void write_literal(writer *w, const lr_re_node *n)
{
    if (n->icase) {
        word(w, "(?i:");
    }
    for (uint32_t i = 0; i < n->length; i++) {
        if ((unsigned char)n->text[i] < 0x80) {
            lr_re_write_character(w->out, (unsigned char)n->text[i]);
        } else {
            lr_re_text_add(w->out, n->text + i, 1);
        }
    }
    if (n->icase) {
        word(w, ")");
    }
}

static bool is_ranges(const lr_re_set *set, const lr_re_range *ranges, size_t count)
{
    if (set->kind != LR_SET_RANGES || set->count != count) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (set->ranges[i].first != ranges[i].first || set->ranges[i].last != ranges[i].last) {
            return false;
        }
    }
    return true;
}

/* Whether it is ranges and properties alone, so that one class says it. */
static bool is_plain(const lr_re_set *set)
{
    bool plain = set->kind == LR_SET_RANGES || set->kind == LR_SET_PROPERTY;
    if (set->kind == LR_SET_UNION) {
        plain = true;
        for (uint32_t i = 0; i < set->count; i++) {
            plain = plain && !set->sets[i]->negated &&
                    (set->sets[i]->kind == LR_SET_RANGES || set->sets[i]->kind == LR_SET_PROPERTY);
        }
    }
    return plain;
}

static void write_set(writer *w, const lr_re_set *set);

/* The inside of a class; the set is plain. */
static void write_plain(writer *w, const lr_re_set *set)
{
    if (set->kind == LR_SET_RANGES) {
        lr_re_write_ranges(w->out, set->ranges, set->count);
    } else if (set->kind == LR_SET_PROPERTY) {
        word(w, set->property);
    } else {
        for (uint32_t i = 0; i < set->count; i++) {
            write_plain(w, set->sets[i]);
        }
    }
}

static void write_ranges(writer *w, const lr_re_set *set)
{
    static const lr_re_range any[] = {{0, LR_RE_CHARACTER_MOST}};
    static const lr_re_range dot[] = {{0, '\n' - 1}, {'\n' + 1, LR_RE_CHARACTER_MOST}};
    if (!set->count) {
        word(w, "(?!)");
    } else if (is_ranges(set, any, 1)) {
        word(w, "\\p{Any}");
    } else if (is_ranges(set, dot, 2)) {
        word(w, ".");
    } else if (set->ranges[set->count - 1].last == LR_RE_CHARACTER_MOST) { /* shorter the other way round */
        const lr_re_set *rest = lr_re_set_not(w->p->arena, set);
        if (!rest) {
            w->failed = true;
            return;
        }
        word(w, "[^");
        write_plain(w, rest);
        word(w, "]");
    } else {
        word(w, "[");
        write_plain(w, set);
        word(w, "]");
    }
}

/* A condition that the next character is in the set, or is not. */
static void write_condition(writer *w, bool in, const lr_re_set *set)
{
    word(w, in ? "(?=" : "(?!");
    write_set(w, set);
    word(w, ")");
}

/* Sets that one class cannot say, as conditions and a class: exact, since all are about one character. */
static void write_operation(writer *w, const lr_re_set *set)
{
    const lr_re_set *const *sets = set->sets;
    word(w, "(?:");
    switch (set->kind) {
    case LR_SET_UNION:
        for (uint32_t i = 0; i < set->count; i++) {
            word(w, i ? "|" : "");
            write_set(w, sets[i]);
        }
        break;
    case LR_SET_AND:
        write_condition(w, true, sets[0]);
        write_set(w, sets[1]);
        break;
    case LR_SET_MINUS:
        write_condition(w, false, sets[1]);
        write_set(w, sets[0]);
        break;
    default:
        write_condition(w, false, sets[1]);
        write_set(w, sets[0]);
        word(w, "|");
        write_condition(w, false, sets[0]);
        write_set(w, sets[1]);
        break;
    }
    word(w, ")");
}

static void write_set(writer *w, const lr_re_set *set)
{
    if (w->out->full || w->out->failed || w->failed) {
        return; /* sets in one another double with each level */
    }
    if (set->kind == LR_SET_RANGES) {
        write_ranges(w, set);
    } else if (is_plain(set)) {
        word(w, set->negated ? "[^" : "[");
        write_plain(w, set);
        word(w, "]");
    } else if (set->negated) {
        lr_re_set positive = *set;
        positive.negated = false;
        word(w, "(?:");
        write_condition(w, false, &positive);
        word(w, "\\p{Any})");
    } else {
        write_operation(w, set);
    }
}

static void write_word_boundary(writer *w, const lr_re_node *n)
{
    /* Each of them by what is before (<) and behind (>): in a word (+), not (-). */
    static const struct {
        int32_t anchor;
        const char *parts;
    } table[] = {{LR_RE_WORD, "<+>-|<->+"}, {LR_RE_NOT_WORD, "<+>+|<->-"}, {LR_RE_WORD_START, "<->+"},
                 {LR_RE_WORD_END, "<+>-"},  {LR_RE_NOT_AFTER_WORD, "<-"},  {LR_RE_NOT_BEFORE_WORD, ">-"}};
    const char *parts = "";
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        parts = table[i].anchor == n->anchor ? table[i].parts : parts;
    }
    word(w, "(?:");
    for (; *parts; parts++) {
        if (*parts == '|') {
            word(w, "|");
            continue;
        }
        word(w, *parts == '<' ? "(?<" : "(?");
        word(w, parts[1] == '+' ? "=" : "!");
        word(w, n->ascii ? ascii_class : word_class);
        word(w, ")");
        parts++;
    }
    word(w, ")");
}

static void write_anchor(writer *w, const lr_re_node *n)
{
    switch (n->anchor) {
    case LR_RE_TEXT_START:
        word(w, "\\A");
        break;
    case LR_RE_TEXT_END:
        word(w, "\\z");
        break;
    case LR_RE_LINE_START: /* not PCRE2's own: that does not match behind a line feed at the very end */
        word(w, "(?<![^\\n])");
        break;
    case LR_RE_LINE_END:
        word(w, "(?![^\\n])");
        break;
    case LR_RE_LINE_START_CRLF:
        word(w, "(?:(?<![^\\n])|(?<=\\r)(?!\\n))");
        break;
    case LR_RE_LINE_END_CRLF:
        word(w, "(?:(?![^\\r])|(?<!\\r)(?=\\n))");
        break;
    default:
        write_word_boundary(w, n);
        break;
    }
}

static void write_node(writer *w, const lr_re_node *n);

/* What a quantifier may follow. */
static void write_atom(writer *w, const lr_re_node *n)
{
    bool one = n->kind == LR_RE_LITERAL && !n->icase;
    if (one) {
        size_t size = 1;
        while (size < n->length && ((unsigned char)n->text[size] & 0xC0) == 0x80) {
            size++;
        }
        one = size == n->length;
    }
    if (one || n->kind == LR_RE_GROUP ||
        (n->kind == LR_RE_CLASS && !(n->set->kind == LR_SET_RANGES && !n->set->count))) {
        write_node(w, n);
    } else {
        word(w, "(?:");
        write_node(w, n);
        word(w, ")");
    }
}

static void write_quantifier(writer *w, const lr_re_node *n)
{
    if (n->most == LR_RE_UNLIMITED && n->least < 2) {
        word(w, n->least ? "+" : "*");
    } else if (n->least == 0 && n->most == 1) {
        word(w, "?");
    } else if (n->most == LR_RE_UNLIMITED) {
        lr_re_text_format(w->out, "{%u,}", (unsigned)n->least);
    } else if (n->least == n->most) {
        lr_re_text_format(w->out, "{%u}", (unsigned)n->least);
    } else {
        lr_re_text_format(w->out, "{%u,%u}", (unsigned)n->least, (unsigned)n->most);
    }
    if (n->lazy) {
        word(w, "?");
    }
}

/* Whether all of its alternatives match some text, or nothing but the empty one. */
static bool is_clear_choice(const lr_re_node *n)
{
    bool clear = true;
    while (n->kind == LR_RE_GROUP) {
        n = n->nodes[0];
    }
    for (uint32_t i = 0; n->kind == LR_RE_CHOICE && i < n->count; i++) {
        clear = clear && (!n->nodes[i]->nullable || n->nodes[i]->no_text);
    }
    return clear && n->kind == LR_RE_CHOICE;
}

/* `x+` and `x*` of what can match the empty text. In Rust a round that matches nothing counts only as the first; PCRE2
 * lets any round match nothing and ends with it, which shows in groups and in what is tried first. So the rest of the
 * text is remembered where the repetition begins and where each round begins: a round must go on from there, unless the
 * repetition has not got anywhere yet. */
static void write_empty_rounds(writer *w, const lr_re_node *n)
{
    unsigned whole = (unsigned)++w->groups, one = (unsigned)++w->groups;
    word(w, "(?:(?=(\\p{Any}*))(?:(?=(\\p{Any}*))");
    write_atom(w, n->nodes[0]);
    lr_re_text_format(w->out, "(?:(?!\\g{%u}\\z)|(?=\\g{%u}\\z)))+%s)", one, whole, n->lazy ? "?" : "");
}

/* A repetition of what can match the empty text, without limit. Two kinds are exact; in the others Rust's engine drops
 * ways of matching by the states that it has been in, which no pattern for PCRE2 can say. */
static void write_endless(writer *w, const lr_re_node *n)
{
    const lr_re_node *child = n->nodes[0];
    const char *doubt = NULL;
    if (!child->empty_last && !is_clear_choice(child)) {
        doubt = "what is repeated may match the empty text, and tries that before other text: put what may be empty "
                "last, or "
                "repeat what is never empty";
    } else if (n->least > 1 && child->captures) {
        doubt = "what is repeated may match the empty text and has groups: that is possible with `*` and `+` only";
    }
    if (doubt) {
        (void)lr_re_fail(w->p, w->p->pattern + n->begin, "%s", doubt);
        w->failed = true;
        return;
    }
    if (n->least > 1) {
        write_atom(w, child);
        lr_re_text_format(w->out, "{%u}", (unsigned)n->least - 1);
    }
    write_empty_rounds(w, n);
    if (n->least == 0) {
        word(w, n->lazy ? "??" : "?");
    }
}

static void write_repeat(writer *w, const lr_re_node *n)
{
    const lr_re_node *child = n->nodes[0];
    if (n->least > REPEAT_MOST || (n->most > REPEAT_MOST && n->most != LR_RE_UNLIMITED)) {
        (void)lr_re_fail(w->p, w->p->pattern + n->end, "more than %d repetitions", REPEAT_MOST);
        w->failed = true;
        return;
    }
    if (n->most != LR_RE_UNLIMITED || !child->nullable || child->no_text || (child->empty_last && !child->captures)) {
        uint32_t most = child->no_text && n->most == LR_RE_UNLIMITED ? (n->least ? n->least : 1) : n->most;
        lr_re_node plain = *n;
        plain.most = most;
        write_atom(w, child);
        if (!(plain.least == 1 && plain.most == 1)) {
            write_quantifier(w, &plain);
        }
        return;
    }
    write_endless(w, n);
}

static void write_node(writer *w, const lr_re_node *n)
{
    if (w->failed || w->out->full || w->out->failed) {
        return;
    }
    switch (n->kind) {
    case LR_RE_LITERAL:
        write_literal(w, n);
        break;
    case LR_RE_CLASS:
        write_set(w, n->set);
        break;
    case LR_RE_ANCHOR:
        write_anchor(w, n);
        break;
    case LR_RE_GROUP:
        if (n->group) {
            w->map[n->group] = ++w->groups;
        }
        word(w, n->group ? "(" : "(?:");
        write_node(w, n->nodes[0]);
        word(w, ")");
        break;
    case LR_RE_SEQUENCE:
        for (uint32_t i = 0; i < n->count; i++) {
            bool choice = n->nodes[i]->kind == LR_RE_CHOICE;
            word(w, choice ? "(?:" : "");
            write_node(w, n->nodes[i]);
            word(w, choice ? ")" : "");
        }
        break;
    case LR_RE_CHOICE:
        for (uint32_t i = 0; i < n->count; i++) {
            word(w, i ? "|" : "");
            write_node(w, n->nodes[i]);
        }
        break;
    case LR_RE_REPEAT:
        write_repeat(w, n);
        break;
    default: /* LR_RE_EMPTY */
        break;
    }
}

bool lr_re_write(lr_re_parser *p, const lr_re_node *tree, lr_re_text *out, uint32_t *map)
{
    writer w = {.p = p, .out = out, .map = map};
    map[0] = 0;
    write_node(&w, tree);
    if (out->failed || (w.failed && !lr_job_failed(p->job))) {
        (void)lr_re_fail_memory(p);
    } else if (out->full) {
        (void)lr_re_fail(p, p->pattern, "it is too large once it is taken apart");
    }
    return !lr_job_failed(p->job);
}
