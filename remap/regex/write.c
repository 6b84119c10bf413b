/* SPDX-License-Identifier: MIT OR Apache-2.0
 * From the tree of a pattern to the PCRE2 pattern that means the same. It is read with PCRE2_UTF, PCRE2_UCP and newline
 * LF, and leans on no other option. */
#include <string.h>

#include "remap/regex/regex_private.h"

enum { REPEAT_MOST = 65535 }; /* PCRE2's */

/* The characters of `\w` in Rust (annex C of UTS #18), for a class; PCRE2's own `\w` and `\s` differ. */
#define WORD "0-9A-Z_a-z\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\x{200c}\\x{200d}"

/* ----------------------------------------------------------------------------------------------------- writing -- */

static void word(lr_re_parser *p, const char *text)
{
    lr_re_text_word(&p->out, text);
}

static void write_character(lr_re_parser *p, uint32_t c)
{
    char sign[3] = {'\\', (char)c, 0};
    if (c > ' ' && c < 0x7F) {
        bool plain = c == '_' || (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
        word(p, plain ? sign + 1 : sign);
    } else {
        lr_re_text_format(&p->out, "\\x{%x}", (unsigned)c);
    }
}

static void write_literal(lr_re_parser *p, const lr_re_node *n)
{
    if (n->icase) {
        word(p, "(?i:");
    }
    for (uint32_t i = 0; i < n->length; i++) {
        if ((unsigned char)n->text[i] < 0x80) {
            write_character(p, (unsigned char)n->text[i]);
        } else {
            lr_re_text_add(&p->out, n->text + i, 1);
        }
    }
    if (n->icase) {
        word(p, ")");
    }
}

/* The inside of a class: all sets except `\W`, which no class of PCRE2 can combine with others. */
static void write_inside(lr_re_parser *p, const lr_re_set *set)
{
    static const char *const words[] = {"\\p{Nd}", "\\p{White_Space}", WORD, "\\P{Nd}", "\\P{White_Space}"};
    for (uint32_t i = 0; i < set->count; i++) {
        write_character(p, set->ranges[i].first);
        if (set->ranges[i].last > set->ranges[i].first) {
            word(p, "-");
            write_character(p, set->ranges[i].last);
        }
    }
    for (uint32_t i = 0; i < sizeof words / sizeof *words; i++) {
        word(p, set->perl >> i & 1 ? words[i] : "");
    }
}

static void write_class(lr_re_parser *p, const char *before, const lr_re_set *set, const char *behind)
{
    word(p, before);
    write_inside(p, set);
    word(p, behind);
}

static void write_set(lr_re_parser *p, const lr_re_set *set)
{
    bool others = set->count || (set->perl & ~(uint32_t)LR_SET_NOT_WORD);
    if (!(set->perl & LR_SET_NOT_WORD)) {
        if (others) {
            write_class(p, set->negated ? "[^" : "[", set, "]");
        } else {
            word(p, set->negated ? "\\p{Any}" : "(?!)");
        }
    } else if (!others) {
        word(p, set->negated ? "[" WORD "]" : "[^" WORD "]");
    } else if (set->negated) { /* none of the others, and of a word */
        write_class(p, "(?:(?![", set, "])[" WORD "])");
    } else {
        write_class(p, "(?:[", set, "]|[^" WORD "])");
    }
}

static void write_anchor(lr_re_parser *p, const lr_re_node *n)
{
    static const char *const words[] = {
        [LR_RE_TEXT_START] = "\\A",
        [LR_RE_TEXT_END] = "\\z",
        [LR_RE_LINE_START] = "(?<![^\\n])", /* not PCRE2's own: that does not match after a line feed at the very end */
        [LR_RE_LINE_END] = "(?![^\\n])",
        [LR_RE_WORD] = "(?:(?<=[" WORD "])(?![" WORD "])|(?<![" WORD "])(?=[" WORD "]))",
        [LR_RE_NOT_WORD] = "(?:(?<=[" WORD "])(?=[" WORD "])|(?<![" WORD "])(?![" WORD "]))",
    };
    word(p, words[n->anchor]);
}

static void write_node(lr_re_parser *p, const lr_re_node *n);

/* What a quantifier may follow. */
static void write_atom(lr_re_parser *p, const lr_re_node *n)
{
    uint32_t first = n->kind != LR_RE_LITERAL || n->icase ? 0
                     : (unsigned char)*n->text < 0x80     ? 1
                                                          : lr_utf8_sequence((const uint8_t *)n->text, n->length);
    bool one = first && first == n->length; /* character */
    if (one || n->kind == LR_RE_GROUP || n->kind == LR_RE_CLASS) {
        write_node(p, n);
    } else {
        word(p, "(?:");
        write_node(p, n);
        word(p, ")");
    }
}

static void write_quantifier(lr_re_parser *p, const lr_re_node *n)
{
    if (n->most == LR_RE_UNLIMITED && n->least < 2) {
        word(p, n->least ? "+" : "*");
    } else if (n->least == 0 && n->most == 1) {
        word(p, "?");
    } else if (n->most == LR_RE_UNLIMITED) {
        lr_re_text_format(&p->out, "{%u,}", (unsigned)n->least);
    } else if (n->least == n->most) {
        lr_re_text_format(&p->out, "{%u}", (unsigned)n->least);
    } else {
        lr_re_text_format(&p->out, "{%u,%u}", (unsigned)n->least, (unsigned)n->most);
    }
    if (n->lazy) {
        word(p, "?");
    }
}

static void write_repeat(lr_re_parser *p, const lr_re_node *n)
{
    const lr_re_node *child = n->nodes[0];
    if (n->least > REPEAT_MOST || (n->most > REPEAT_MOST && n->most != LR_RE_UNLIMITED)) {
        (void)lr_re_fail(p, p->pattern + n->end, "more than %d repetitions", REPEAT_MOST);
        return;
    }
    if (n->most != LR_RE_UNLIMITED || !child->nullable || child->no_text || (child->empty_last && !child->captures)) {
        uint32_t most = child->no_text && n->most == LR_RE_UNLIMITED ? (n->least ? n->least : 1) : n->most;
        lr_re_node plain = *n;
        plain.most = most;
        write_atom(p, child);
        if (!(plain.least == 1 && plain.most == 1)) {
            write_quantifier(p, &plain);
        }
        return;
    }
    /* Rust's engine drops ways of matching by the states that it has been in, which no pattern for PCRE2 can say. */
    (void)lr_re_fail(p, p->pattern + n->begin,
                     "what is repeated without a limit may match the empty text, and has groups or tries that first: "
                     "repeat what is never empty");
}

static void write_node(lr_re_parser *p, const lr_re_node *n)
{
    if (lr_job_failed(p->job) || p->out.full || p->out.failed) {
        return;
    }
    switch (n->kind) {
    case LR_RE_LITERAL:
        write_literal(p, n);
        break;
    case LR_RE_CLASS:
        write_set(p, n->set);
        break;
    case LR_RE_ANCHOR:
        write_anchor(p, n);
        break;
    case LR_RE_GROUP:
        word(p, n->group ? "(" : "(?:");
        write_node(p, n->nodes[0]);
        word(p, ")");
        break;
    case LR_RE_SEQUENCE:
        for (uint32_t i = 0; i < n->count; i++) {
            bool choice = n->nodes[i]->kind == LR_RE_CHOICE;
            word(p, choice ? "(?:" : "");
            write_node(p, n->nodes[i]);
            word(p, choice ? ")" : "");
        }
        break;
    case LR_RE_CHOICE:
        for (uint32_t i = 0; i < n->count; i++) {
            word(p, i ? "|" : "");
            write_node(p, n->nodes[i]);
        }
        break;
    case LR_RE_REPEAT:
        write_repeat(p, n);
        break;
    default: /* LR_RE_EMPTY */
        break;
    }
}

bool lr_re_write(lr_re_parser *p, const lr_re_node *tree)
{
    write_node(p, tree);
    if (p->out.failed) {
        (void)lr_re_fail_memory(p);
    } else if (p->out.full) {
        (void)lr_re_fail(p, p->pattern, "it is too large once it is taken apart");
    }
    return !lr_job_failed(p->job);
}
