/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Alternatives that begin alike. Rust's parser takes the common beginning of all alternatives out of them: `x*a|x*b`
 * becomes `x*(?:a|b)`. Where that beginning can match in several ways, the result differs (`.*a|.*b` matches all of
 * `xaxb`), so such a choice is rejected. */
#include <string.h>

#include "remap/regex/regex_private.h"

/* A group that only holds together, or a repetition of once. */
static const lr_re_node *inner(const lr_re_node *n)
{
    while ((n->kind == LR_RE_GROUP && !n->group) || (n->kind == LR_RE_REPEAT && n->least == 1 && n->most == 1)) {
        n = n->nodes[0];
    }
    return n;
}

static bool is_nothing(const lr_re_node *n)
{
    return n->kind == LR_RE_EMPTY || (n->kind == LR_RE_REPEAT && n->most == 0);
}

static bool same_set(const lr_re_set *a, const lr_re_set *b)
{
    return a->negated == b->negated && a->perl == b->perl && a->count == b->count &&
           (!a->count || memcmp(a->ranges, b->ranges, a->count * sizeof *a->ranges) == 0);
}

static bool same(const lr_re_node *a, const lr_re_node *b)
{
    a = inner(a);
    b = inner(b);
    if (a->kind != b->kind || a->count != b->count) {
        return false;
    }
    switch (a->kind) {
    case LR_RE_LITERAL:
        return a->icase == b->icase && a->length == b->length && memcmp(a->text, b->text, a->length) == 0;
    case LR_RE_CLASS:
        return same_set(a->set, b->set);
    case LR_RE_ANCHOR:
        return a->anchor == b->anchor;
    case LR_RE_GROUP:
        return false; /* no two have one number */
    case LR_RE_REPEAT:
        if (a->least != b->least || a->most != b->most || a->lazy != b->lazy) {
            return false;
        }
        break;
    default:
        break;
    }
    for (uint32_t i = 0; i < a->count; i++) {
        if (!same(a->nodes[i], b->nodes[i])) {
            return false;
        }
    }
    return true;
}

/* Whether it can match in more than one way. */
static bool is_open(const lr_re_node *n)
{
    bool open = n->kind == LR_RE_CHOICE || (n->kind == LR_RE_REPEAT && n->least != n->most);
    for (uint32_t i = 0; !open && i < n->count; i++) {
        open = is_open(n->nodes[i]);
    }
    return open;
}

/* A part of an alternative: a node, or a byte of a literal. */
typedef struct part {
    const lr_re_node *node;
    uint32_t byte;
} part;

typedef struct list {
    part *parts;
    uint32_t count;
} list;

static bool same_part(const part *a, const part *b)
{
    if (a->node->kind != LR_RE_LITERAL || b->node->kind != LR_RE_LITERAL) {
        return same(a->node, b->node);
    }
    return a->node->icase == b->node->icase && a->node->text[a->byte] == b->node->text[b->byte];
}

static uint32_t count_parts(const lr_re_node *n)
{
    uint32_t count = 0;
    n = inner(n);
    if (n->kind != LR_RE_SEQUENCE) {
        return is_nothing(n) ? 0 : n->kind == LR_RE_LITERAL ? n->length : 1;
    }
    for (uint32_t i = 0; i < n->count; i++) {
        count += count_parts(n->nodes[i]);
    }
    return count;
}

static void add_parts(const lr_re_node *n, list *to)
{
    const lr_re_node *whole = n;
    n = inner(n);
    for (uint32_t i = 0; n->kind == LR_RE_SEQUENCE && i < n->count; i++) {
        add_parts(n->nodes[i], to);
    }
    if (n->kind != LR_RE_SEQUENCE) {
        /* Alternatives keep the group that holds them together. */
        for (uint32_t i = 0; i < count_parts(n); i++) {
            to->parts[to->count++] = (part){n->kind == LR_RE_CHOICE ? whole : n, i};
        }
    }
}

/* The parts of every alternative. NULL: the job has failed. @param count in and out: alternatives of alternatives join
 * them. */
static list *parts_of(lr_re_parser *p, const lr_re_node *const *nodes, uint32_t *count)
{
    uint32_t all = 0;
    list *lists;
    for (uint32_t i = 0; i < *count; i++) {
        const lr_re_node *n = inner(nodes[i]);
        all += n->kind == LR_RE_CHOICE ? n->count : 1;
    }
    lists = lr_re_alloc(p, (uint64_t)all * sizeof *lists);
    if (!lists) {
        return NULL;
    }
    all = 0;
    for (uint32_t i = 0; i < *count; i++) {
        const lr_re_node *n = inner(nodes[i]);
        bool many = n->kind == LR_RE_CHOICE;
        for (uint32_t j = 0; j < (many ? n->count : 1); j++) {
            const lr_re_node *one = many ? n->nodes[j] : n;
            list *parts = &lists[all++];
            *parts = (list){.count = 0};
            parts->parts = lr_re_alloc(p, (uint64_t)count_parts(one) * sizeof *parts->parts);
            if (!parts->parts) {
                return NULL;
            }
            add_parts(one, parts);
        }
    }
    *count = all;
    return lists;
}

bool lr_re_check_choice(lr_re_parser *p, const lr_re_node *choice)
{
    uint32_t count = choice->count;
    const list *lists = parts_of(p, choice->nodes, &count);
    if (!lists) {
        return false;
    }
    for (uint32_t shared = 0;; shared++) {
        for (uint32_t i = 0; i < count; i++) {
            if (lists[i].count < 2 || shared >= lists[i].count ||
                !same_part(&lists[i].parts[shared], &lists[0].parts[shared])) {
                return true;
            }
        }
        if (is_open(lists[0].parts[shared].node)) {
            return lr_re_fail(p, p->pattern + choice->begin,
                              "the alternatives begin with the same part, which can match in several ways: write this "
                              "part once, before a group of the rest, `.*(?:a|b)`");
        }
    }
}
