/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Nodes of a pattern's tree: what can be known of one from its parts. */

#include "remap/regex/regex_private.h"

static uint64_t plus(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return lr_add(a, b, &sum) ? sum : UINT64_MAX;
}

static uint64_t times(uint64_t a, uint64_t b)
{
    uint64_t product;
    return lr_mul(a, b, &product) ? product : UINT64_MAX;
}

/* Bytes that Rust's engine needs at most for one character of a set: measured, with a margin. */
enum { STATE = 40, STATES_OF_RANGE = 26, DIGITS = 6000, SPACES = 2500, WORDS = 60000 };

static uint64_t set_weight(const lr_re_set *set)
{
    uint64_t weight = STATE;
    for (uint32_t i = 0; i < set->count; i++) {
        weight += (uint64_t)STATE * (set->ranges[i].last < 0x80 && !set->negated ? 1 : STATES_OF_RANGE);
    }
    weight += set->negated ? (uint64_t)STATE * STATES_OF_RANGE : 0;
    weight += set->perl & (LR_SET_DIGIT | LR_SET_NOT_DIGIT) ? DIGITS : 0;
    weight += set->perl & (LR_SET_SPACE | LR_SET_NOT_SPACE) ? SPACES : 0;
    weight += set->perl & (LR_SET_WORD | LR_SET_NOT_WORD) ? WORDS : 0;
    return weight;
}

void lr_re_node_learn(lr_re_node *n)
{
    const lr_re_node *first = n->count ? n->nodes[0] : NULL;
    bool many = n->kind == LR_RE_REPEAT && n->most > 1, empties = false;
    n->nullable = n->kind == LR_RE_EMPTY || n->kind == LR_RE_ANCHOR || n->kind == LR_RE_SEQUENCE;
    n->no_text = n->nullable || n->kind == LR_RE_CHOICE;
    n->empty_last = true;
    n->weight = STATE;
    n->captures = n->kind == LR_RE_GROUP && n->group;
    for (uint32_t i = 0; i < n->count; i++) {
        const lr_re_node *node = n->nodes[i];
        n->captures = n->captures || node->captures;
        n->weight = plus(n->weight, node->weight);
        n->empty_last = n->empty_last && node->empty_last;
        if (n->kind == LR_RE_SEQUENCE) {
            n->nullable = n->nullable && node->nullable;
            n->no_text = n->no_text && node->no_text;
        } else if (n->kind == LR_RE_CHOICE) {
            n->weight = plus(n->weight, STATE);
            n->no_text = n->no_text && node->no_text;
            n->empty_last = n->empty_last && !(empties && !node->no_text);
            empties = empties || node->nullable;
            n->nullable = empties;
        }
    }
    switch (n->kind) {
    case LR_RE_LITERAL:
        n->weight = times(n->length, n->icase ? 8 * STATE : STATE);
        break;
    case LR_RE_CLASS:
        n->weight = set_weight(n->set);
        break;
    case LR_RE_GROUP:
        n->nullable = first->nullable;
        n->no_text = first->no_text;
        n->weight = plus(n->weight, 2 * STATE);
        break;
    case LR_RE_REPEAT:
        n->nullable = !n->least || first->nullable;
        n->no_text = first->no_text || n->most == 0;
        n->empty_last = n->no_text || (first->empty_last && (!n->lazy || n->least == n->most));
        n->weight = times(plus(first->weight, STATE),
                          many && n->most != LR_RE_UNLIMITED ? n->most : (n->least > 1 ? n->least : 1));
        n->weight = plus(n->weight, 2 * STATE);
        break;
    case LR_RE_SEQUENCE:
        n->empty_last = !n->nullable || n->empty_last;
        break;
    default:
        break;
    }
    n->empty_last = n->empty_last || !n->nullable;
}

lr_re_node *lr_re_node_copy(lr_re_parser *p, const lr_re_node *node)
{
    lr_re_node *copy = lr_re_alloc(p, sizeof *copy);
    if (!copy) {
        return NULL;
    }
    *copy = *node;
    return copy;
}
