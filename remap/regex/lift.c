/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Alternatives that begin alike. Rust's parser takes what all alternatives begin with out of them: `x*a|x*b` becomes
 * `x*(?:a|b)`. Where that beginning can match in several ways the result is another one (on `xaxb`, `.*a|.*b` matches
 * all of it), so the same is done here. */
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
    if (a->kind != b->kind || a->negated != b->negated || a->count != b->count) {
        return false;
    }
    if (a->kind == LR_SET_PROPERTY) {
        return strcmp(a->property, b->property) == 0;
    }
    for (uint32_t i = 0; i < a->count; i++) {
        if (a->kind == LR_SET_RANGES
                ? a->ranges[i].first != b->ranges[i].first || a->ranges[i].last != b->ranges[i].last
                : !same_set(a->sets[i], b->sets[i])) {
            return false;
        }
    }
    return true;
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
        return a->anchor == b->anchor && a->ascii == b->ascii;
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

typedef struct list {
    const lr_re_node **nodes;
    uint32_t count;
} list;

static uint32_t count_parts(const lr_re_node *n)
{
    uint32_t count = 0;
    n = inner(n);
    if (n->kind != LR_RE_SEQUENCE) {
        return is_nothing(n) ? 0 : 1;
    }
    for (uint32_t i = 0; i < n->count; i++) {
        count += count_parts(n->nodes[i]);
    }
    return count;
}

/* Two literals of one kind as one. NULL: the job has failed. */
static const lr_re_node *join(lr_re_parser *p, const lr_re_node *a, const lr_re_node *b)
{
    lr_re_node *both = lr_re_node_copy(p, a);
    char *text = both ? lr_arena_alloc(p->arena, (uint64_t)a->length + b->length, 1) : NULL;
    if (!text) {
        return both ? lr_re_fail_memory(p) : NULL;
    }
    memcpy(text, a->text, a->length);
    memcpy(text + a->length, b->text, b->length);
    both->text = text;
    both->length = a->length + b->length;
    both->end = b->end;
    lr_re_node_learn(both);
    return both;
}

static bool add_parts(lr_re_parser *p, const lr_re_node *n, list *parts)
{
    const lr_re_node *whole = n, *last;
    n = inner(n);
    if (is_nothing(n)) {
        return true;
    }
    if (n->kind == LR_RE_SEQUENCE) {
        for (uint32_t i = 0; i < n->count; i++) {
            if (!add_parts(p, n->nodes[i], parts)) {
                return false;
            }
        }
        return true;
    }
    last = parts->count ? parts->nodes[parts->count - 1] : NULL;
    if (last && last->kind == LR_RE_LITERAL && n->kind == LR_RE_LITERAL && last->icase == n->icase) {
        return (parts->nodes[parts->count - 1] = join(p, last, n)) != NULL;
    }
    /* Alternatives keep the group that holds them together. */
    parts->nodes[parts->count++] = n->kind == LR_RE_CHOICE ? whole : n;
    return true;
}

/* A sequence, or what it comes down to. NULL: the job has failed. */
static const lr_re_node *sequence_of(lr_re_parser *p, const lr_re_node *of, const lr_re_node *const *nodes,
                                     uint32_t count)
{
    lr_re_node made = {
        .kind = count ? LR_RE_SEQUENCE : LR_RE_EMPTY, .begin = of->begin, .end = of->end, .count = count};
    made.nodes = nodes;
    if (count == 1) {
        return nodes[0];
    }
    lr_re_node_learn(&made);
    return lr_re_node_copy(p, &made);
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
    lists = lr_arena_alloc(p->arena, (uint64_t)all * sizeof *lists, _Alignof(list));
    if (!lists) {
        return lr_re_fail_memory(p);
    }
    all = 0;
    for (uint32_t i = 0; i < *count; i++) {
        const lr_re_node *n = inner(nodes[i]);
        bool many = n->kind == LR_RE_CHOICE;
        for (uint32_t j = 0; j < (many ? n->count : 1); j++) {
            const lr_re_node *one = many ? n->nodes[j] : n;
            list *parts = &lists[all++];
            *parts = (list){.count = 0};
            parts->nodes = lr_arena_alloc(p->arena, ((uint64_t)count_parts(one) + 1) * sizeof *parts->nodes,
                                          _Alignof(lr_re_node *));
            if (!parts->nodes) {
                return lr_re_fail_memory(p);
            }
            if (!add_parts(p, one, parts)) {
                return NULL;
            }
        }
    }
    *count = all;
    return lists;
}

/* Whether all alternatives could begin alike: cheaply, since most do not. */
static bool may_share(const lr_re_node *const *nodes, uint32_t count)
{
    bool open = false;
    for (uint32_t i = 0; i < count; i++) {
        const lr_re_node *n = inner(nodes[i]);
        if (n->kind != LR_RE_CHOICE && count_parts(n) < 2) {
            return false;
        }
        open = open || is_open(n);
    }
    return open;
}

const lr_re_node *lr_re_lift(lr_re_parser *p, const lr_re_node *choice)
{
    uint32_t count = choice->count, shared = 0;
    const lr_re_node **nodes, **rest, **child;
    lr_re_node inside = {.kind = LR_RE_CHOICE, .begin = choice->begin, .end = choice->end};
    lr_re_node group = {.kind = LR_RE_GROUP, .begin = choice->begin, .end = choice->end, .count = 1};
    const lr_re_node *lifted;
    list *lists;
    bool open = false;
    if (!may_share(choice->nodes, count)) {
        return choice;
    }
    lists = parts_of(p, choice->nodes, &count);
    if (!lists) {
        return NULL;
    }
    for (;; shared++) {
        bool all = true;
        for (uint32_t i = 0; i < count && all; i++) {
            all = lists[i].count > 1 && shared < lists[i].count && same(lists[i].nodes[shared], lists[0].nodes[shared]);
        }
        if (!all) {
            break;
        }
        open = open || is_open(lists[0].nodes[shared]);
    }
    if (!open) { /* what matches in one way alone may stay in each */
        return choice;
    }
    nodes = lr_arena_alloc(p->arena, ((uint64_t)shared + 1) * sizeof *nodes, _Alignof(lr_re_node *));
    rest = lr_arena_alloc(p->arena, (uint64_t)count * sizeof *rest, _Alignof(lr_re_node *));
    child = lr_arena_alloc(p->arena, sizeof *child, _Alignof(lr_re_node *));
    if (!nodes || !rest || !child) {
        return lr_re_fail_memory(p);
    }
    memcpy(nodes, lists[0].nodes, shared * sizeof *nodes);
    for (uint32_t i = 0; i < count; i++) {
        rest[i] = sequence_of(p, choice, lists[i].nodes + shared, lists[i].count - shared);
        if (!rest[i]) {
            return NULL;
        }
    }
    inside.nodes = rest;
    inside.count = count;
    lr_re_node_learn(&inside);
    lifted = lr_re_node_copy(p, &inside);
    lifted = lifted ? lr_re_lift(p, lifted) : NULL;
    if (!lifted) {
        return NULL;
    }
    child[0] = lifted;
    group.nodes = child;
    lr_re_node_learn(&group);
    nodes[shared] = lr_re_node_copy(p, &group);
    return nodes[shared] ? sequence_of(p, choice, nodes, shared + 1) : NULL;
}
