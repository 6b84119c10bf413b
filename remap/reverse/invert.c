/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A rule backwards, made ready: its pattern written out with groups in it, and what its replacement shows. */
#include <stdio.h>
#include <string.h>

#include "remap/reverse/invert_private.h"

enum {
    SKELETONS_MOST = 256, /* ways to write the pattern out */
    PIECES_MOST = 1024,   /* of one of them */
    CLASS_MOST = 16,      /* characters of a class that are tried one by one */
    REPEATS_MOST = 16
};

/* ------------------------------------------------------------------------------------------------- writing out -- */

typedef struct writer {
    rec_job *job;
    lr_back *back;
    char reason[256];
} writer;

/* Sets the reason; the part of the pattern that is to blame is quoted. @return false. */
static bool cannot(writer *w, const lr_re_node *node, const char *why)
{
    const char *pattern = lr_regex_pattern(w->back->regex);
    size_t length = strlen(pattern), begin = node->begin, end = node->end;
    if (begin > length || end > length || begin >= end) {
        begin = 0;
        end = length;
    }
    (void)snprintf(w->reason, sizeof w->reason, "what %.*s%s matched %s", (int)(end - begin > 100 ? 100 : end - begin),
                   pattern + begin, end - begin > 100 ? "…" : "", why);
    return false;
}

static lr_back_forms *new_forms(writer *w)
{
    lr_back_forms *s = lr_job_arena_alloc(w->job, &w->back->arena, sizeof *s, 8);
    if (s) {
        *s = (lr_back_forms){0};
    }
    return s;
}

/* Adds `a` followed by `b`. */
static bool add_pair(writer *w, const lr_re_node *node, lr_back_forms *to, const lr_back_form *a, const lr_back_form *b)
{
    uint32_t count = a->count + b->count;
    lr_back_piece *pieces;
    if (to->count == SKELETONS_MOST || count > PIECES_MOST) {
        return cannot(w, node, "may be too many things");
    }
    if (!lr_job_arena_grow(w->job, &w->back->arena, &to->list, to->count + 1, &to->room, sizeof *to->list)) {
        return false;
    }
    pieces = lr_job_arena_alloc(w->job, &w->back->arena, (count + 1) * sizeof *pieces, 8);
    if (!pieces) {
        return false;
    }
    if (a->count) {
        memcpy(pieces, a->pieces, a->count * sizeof *pieces);
    }
    if (b->count) {
        memcpy(pieces + a->count, b->pieces, b->count * sizeof *pieces);
    }
    to->list[to->count++] = (lr_back_form){.count = count, .pieces = pieces};
    return true;
}

static const lr_back_form nothing = {0};

static bool add_piece(writer *w, const lr_re_node *node, lr_back_forms *to, const lr_back_piece *one)
{
    lr_back_form s = {.count = 1, .pieces = one};
    return add_pair(w, node, to, &nothing, &s);
}

/* The first piece of a form that is the group of that number. NULL: none is. */
static const lr_back_piece *group_in(const lr_back_form *form, uint32_t group)
{
    for (uint32_t i = 0; i < form->count; i++) {
        const lr_back_piece *one = &form->pieces[i];
        if (!one->text && !one->part && one->group == group) {
            return one;
        }
    }
    return NULL;
}

static bool write_out(writer *w, const lr_re_node *node, lr_back_forms *out);

static bool add_all(writer *w, const lr_re_node *node, lr_back_forms *to, const lr_back_forms *from)
{
    for (uint32_t i = 0; i < from->count; i++) {
        if (!add_pair(w, node, to, &from->list[i], &nothing)) {
            return false;
        }
    }
    return true;
}

/* Each of `to` followed by each of `next`; the result is in `to`. */
static bool append(writer *w, const lr_re_node *node, lr_back_forms *to, const lr_back_forms *next)
{
    lr_back_forms *both = new_forms(w);
    for (uint32_t i = 0; both && i < to->count; i++) {
        for (uint32_t k = 0; k < next->count; k++) {
            if (!add_pair(w, node, both, &to->list[i], &next->list[k])) {
                return false;
            }
        }
    }
    if (both) {
        *to = *both;
    }
    return both != NULL;
}

static bool is_wild(const lr_re_set *set)
{
    return lr_re_set_has(set, 'a') == 1 && lr_re_set_has(set, 'Z') == 1 && lr_re_set_has(set, '5') == 1 &&
           lr_re_set_has(set, '_') == 1 && lr_re_set_has(set, '.') == 1 && lr_re_set_has(set, '-') == 1;
}

static bool write_class(writer *w, const lr_re_node *node, lr_back_forms *out)
{
    char found[CLASS_MOST];
    uint32_t count = 0;
    if (is_wild(node->set)) {
        return add_piece(w, node, out,
                         &(lr_back_piece){.text = ".", .length = 1}); /* a dot that should have been escaped */
    }
    for (uint32_t c = 1; c < 0x80; c++) {
        if (lr_re_set_has(node->set, c) == 1) {
            if (count == CLASS_MOST) {
                return cannot(w, node, "is not in the replacement, and may be one of many characters");
            }
            found[count++] = (char)c;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        char *text = lr_job_arena_text(w->job, &w->back->arena, &found[i], 1);
        if (!text || !add_piece(w, node, out, &(lr_back_piece){.text = text, .length = 1})) {
            return false;
        }
    }
    return count > 0 || cannot(w, node, "is not in the replacement");
}

static bool is_empty(const lr_re_node *node)
{
    bool empty = node->kind == LR_RE_EMPTY || node->kind == LR_RE_ANCHOR || node->count > 0;
    for (uint32_t i = 0; i < node->count; i++) {
        empty = empty && is_empty(node->nodes[i]);
    }
    return empty;
}

static bool write_repeat(writer *w, const lr_re_node *node, lr_back_forms *out)
{
    lr_back_forms *one = new_forms(w), *run = new_forms(w);
    if (!one || !run) {
        return false;
    }
    if (is_empty(node)) {
        return add_pair(w, node, out, &nothing, &nothing);
    }
    if (node->most == LR_RE_UNLIMITED || node->most > REPEATS_MOST) {
        return cannot(w, node, "is not in the replacement, and may be of any length");
    }
    if (!write_out(w, node->nodes[0], one) || !add_pair(w, node, run, &nothing, &nothing)) {
        return false;
    }
    for (uint32_t n = 0;; n++) {
        if (n >= node->least && !add_all(w, node, out, run)) {
            return false;
        }
        if (n == node->most) {
            return true;
        }
        if (!append(w, node, run, one)) {
            return false;
        }
    }
}

/* Adds all ways to write a node out. */
static bool write_out(writer *w, const lr_re_node *node, lr_back_forms *out)
{
    lr_back_forms *all;
    switch (node->kind) {
    case LR_RE_EMPTY:
    case LR_RE_ANCHOR:
        return add_pair(w, node, out, &nothing, &nothing);
    case LR_RE_LITERAL:
        return add_piece(w, node, out, &(lr_back_piece){.text = node->text, .length = node->length});
    case LR_RE_CLASS:
        return write_class(w, node, out);
    case LR_RE_GROUP:
        if (node->group && (node->group == w->back->fixed || lr_template_uses(w->back->replacement, node->group))) {
            const lr_back_piece *in_form = group_in(&w->back->form, node->group);
            uint32_t order = in_form ? in_form->order : 0;
            return add_piece(w, node, out, &(lr_back_piece){.group = node->group, .order = order});
        }
        return write_out(w, node->nodes[0], out);
    case LR_RE_CHOICE:
        for (uint32_t i = 0; i < node->count; i++) {
            if (!write_out(w, node->nodes[i], out)) {
                return false;
            }
        }
        return true;
    case LR_RE_REPEAT:
        return write_repeat(w, node, out);
    default: /* LR_RE_SEQUENCE */
        all = new_forms(w);
        if (!all || !add_pair(w, node, all, &nothing, &nothing)) {
            return false;
        }
        for (uint32_t i = 0; i < node->count; i++) {
            lr_back_forms *next = new_forms(w);
            if (!next || !write_out(w, node->nodes[i], next) || !append(w, node, all, next)) {
                return false;
            }
        }
        return add_all(w, node, out, all);
    }
}

/* ----------------------------------------------------------------------------------------- what a rule is like -- */

static void note_groups(lr_back *back, const lr_re_node *node, bool may_miss)
{
    if (node->kind == LR_RE_GROUP && node->group && node->group <= back->group_count) {
        back->groups[node->group] = node;
        back->may_miss[node->group] = may_miss;
    }
    may_miss = may_miss || node->kind == LR_RE_CHOICE || (node->kind == LR_RE_REPEAT && node->least == 0);
    for (uint32_t i = 0; i < node->count; i++) {
        note_groups(back, node->nodes[i], may_miss);
    }
}

/* Whether every text of a node contains a literal other than dots. */
static bool spells(const lr_re_node *node)
{
    switch (node->kind) {
    case LR_RE_LITERAL:
        for (uint32_t i = 0; i < node->length; i++) {
            if (node->text[i] != '.') {
                return true;
            }
        }
        return false;
    case LR_RE_GROUP:
        return spells(node->nodes[0]);
    case LR_RE_REPEAT:
        return node->least > 0 && spells(node->nodes[0]);
    case LR_RE_CHOICE:
        for (uint32_t i = 0; i < node->count; i++) {
            if (!spells(node->nodes[i])) {
                return false;
            }
        }
        return true;
    case LR_RE_SEQUENCE:
        for (uint32_t i = 0; i < node->count; i++) {
            if (spells(node->nodes[i])) {
                return true;
            }
        }
        return false;
    default:
        return false;
    }
}

/* Whether a match can only begin (end) where the text does: an anchor, or a greedy `.*` that takes all there is. */
static bool bound(const lr_re_node *node, bool end)
{
    switch (node->kind) {
    case LR_RE_ANCHOR:
        return node->anchor == (end ? LR_RE_TEXT_END : LR_RE_TEXT_START);
    case LR_RE_GROUP:
        return bound(node->nodes[0], end);
    case LR_RE_SEQUENCE:
        return bound(node->nodes[end ? node->count - 1 : 0], end);
    case LR_RE_CHOICE:
        for (uint32_t i = 0; i < node->count; i++) {
            if (!bound(node->nodes[i], end)) {
                return false;
            }
        }
        return true;
    case LR_RE_REPEAT:
        return node->most == LR_RE_UNLIMITED && !node->lazy && node->nodes[0]->kind == LR_RE_CLASS &&
               is_wild(node->nodes[0]->set);
    default:
        return false;
    }
}

/* The replacement as pieces, `%` apart. */
static bool read_form(rec_job *job, lr_back *back)
{
    uint32_t count, used = 0, room = 1, groups = 0;
    const lr_template_piece *from = lr_template_pieces(back->replacement, &count);
    lr_back_piece *pieces;
    for (uint32_t i = 0; i < count; i++) { /* a piece has at least one character */
        room += from[i].text ? from[i].length : 1;
    }
    pieces = lr_job_arena_alloc(job, &back->arena, room * sizeof *pieces, 8);
    if (!pieces) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t begin = 0;
        if (!from[i].text) {
            uint32_t group = from[i].group;
            const lr_back_piece *before = group_in(&(lr_back_form){used, pieces}, group);
            pieces[used++] =
                (lr_back_piece){.group = group, .order = before ? before->order : groups++, .again = before != NULL};
            back->trace = back->trace || (group <= back->group_count && back->groups[group] && !back->may_miss[group] &&
                                          spells(back->groups[group]));
            continue;
        }
        for (uint32_t k = 0; k <= from[i].length; k++) {
            if (k == from[i].length || (back->parts && from[i].text[k] == '%')) {
                if (k > begin) {
                    pieces[used] = (lr_back_piece){.text = from[i].text + begin, .length = k - begin};
                    if (!back->needle.count || pieces[used].length > back->needle.pieces->length) {
                        back->needle = (lr_back_form){.count = 1, .pieces = &pieces[used]};
                    }
                    used++;
                }
                if (k < from[i].length) {
                    pieces[used++] = (lr_back_piece){.part = true};
                    back->trace = true;
                }
                begin = k + 1;
            } else {
                back->trace = back->trace || from[i].text[k] != '.';
            }
        }
    }
    back->form = (lr_back_form){.count = used, .pieces = pieces};
    return true;
}

lr_back *lr_back_new(rec_job *job, const lr_regex *regex, const lr_template *replacement, uint32_t fixed, int32_t makes)
{
    lr_back *back = lr_job_zalloc(job, sizeof *back);
    const lr_re_node *tree = lr_regex_tree(regex);
    lr_back_forms *sources;
    writer w = {.job = job, .back = back};
    if (!back) {
        return NULL;
    }
    back->allocator = job->allocator;
    back->regex = regex;
    back->replacement = replacement;
    back->fixed = fixed;
    back->whole = makes != LR_BACK_PLACES;
    back->parts = makes == LR_BACK_PARTS;
    back->group_count = lr_regex_groups(regex);
    lr_arena_init(&back->arena, job->allocator);
    back->groups = lr_job_arena_alloc(job, &back->arena, (back->group_count + 1) * sizeof *back->groups, 8);
    back->may_miss = lr_job_arena_alloc(job, &back->arena, (back->group_count + 1) * sizeof *back->may_miss, 8);
    if (!back->groups || !back->may_miss) {
        goto failed;
    }
    memset(back->groups, 0, (back->group_count + 1) * sizeof *back->groups);
    memset(back->may_miss, 0, (back->group_count + 1) * sizeof *back->may_miss);
    note_groups(back, tree, false);
    back->groups[0] = tree;
    if (!read_form(job, back)) {
        goto failed;
    }
    back->at_start = bound(tree, false);
    back->at_end = bound(tree, true);
    sources = new_forms(&w);
    if (!sources) {
        goto failed;
    }
    if (lr_template_uses(replacement, 0)) {
        (void)add_piece(&w, tree, sources, group_in(&back->form, 0));
    } else if (!write_out(&w, tree, sources) && !lr_job_failed(job)) {
        back->reason = lr_arena_text(&back->arena, w.reason, strlen(w.reason));
    }
    if (lr_job_failed(job)) {
        goto failed;
    }
    back->sources = sources;
    return back;

failed:
    lr_back_free(back);
    return NULL;
}

void lr_back_free(lr_back *back)
{
    if (back) {
        lr_arena_free(&back->arena);
        lr_release(back->allocator, back);
    }
}
