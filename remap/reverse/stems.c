/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Keys that differ only in their numbers, `layers.0.norm` and `layers.1.norm`, go back the same way if no rule treats
 * one number otherwise than another. Then one of them is worked out, with marks for its numbers, and serves all. */
#include <stdio.h>
#include <string.h>

#include "remap/reverse/reverse_private.h"
#include "remap/regex/rust.h"

/* A mark is a number, too, so that patterns take it for one. */
#define MARK "97531"
enum { MARK_LENGTH = 8, DIGITS_MOST = 20, SPECIALS_MOST = 64 };

/* A number that some rule names, which therefore stays as it is. */
typedef struct special {
    char digits[DIGITS_MOST + 1];
    size_t length;
} special;

struct lr_stems {
    const lr_allocator *allocator;
    lr_arena arena;
    bool usable;
    bool by_tensor; /* drop rules ask for dtype or rank */
    special specials[SPECIALS_MOST];
    size_t special_count;
    lr_stem_entry **slots;
    uint64_t count, room;
};

/* ------------------------------------------------------------------------------------- do rules tell numbers apart -- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool add_special(lr_stems *s, const char *digits, size_t length)
{
    if (length > DIGITS_MOST || s->special_count == SPECIALS_MOST) {
        return false;
    }
    memcpy(s->specials[s->special_count].digits, digits, length);
    s->specials[s->special_count].digits[length] = '\0';
    s->specials[s->special_count++].length = length;
    return true;
}

/* Digits of a text that are not those of a name (`conv1`) are a number that the rule treats otherwise than others, if they
 * stand between dots, and perhaps a part of any number, if not.
 * @param name (in, out) what comes before (after) it is a part of a name for sure. */
static bool see_text(lr_stems *s, const char *text, size_t length, bool *name)
{
    for (size_t i = 0; i < length;) {
        size_t run = 0;
        while (i + run < length && is_digit(text[i + run])) {
            run++;
        }
        if (run && !*name) {
            bool apart = i > 0 && text[i - 1] == '.' && i + run < length && text[i + run] == '.';
            if (!apart || !add_special(s, text + i, run)) {
                return false;
            }
        }
        if (!run) {
            *name = text[i] != '.';
            run = 1;
        }
        i += run;
    }
    return true;
}

static bool may_be_empty(const lr_re_node *node)
{
    bool any = false, all = true;
    for (uint32_t i = 0; i < node->count; i++) {
        bool one = may_be_empty(node->nodes[i]);
        any = any || one;
        all = all && one;
    }
    switch (node->kind) {
    case LR_RE_LITERAL:
    case LR_RE_CLASS:
        return false;
    case LR_RE_CHOICE:
        return any;
    case LR_RE_REPEAT:
        return node->least == 0 || all;
    default:
        return all;
    }
}

/* Whether a match of the node may begin (end) with a digit. */
static bool touches_digit(const lr_re_node *node, bool end)
{
    switch (node->kind) {
    case LR_RE_LITERAL:
        return is_digit(node->text[end ? node->length - 1 : 0]);
    case LR_RE_CLASS:
        for (char c = '0'; c <= '9'; c++) {
            if (lr_re_set_has(node->set, (uint32_t)c) != 0) {
                return true;
            }
        }
        return false;
    case LR_RE_SEQUENCE:
        for (uint32_t i = 0; i < node->count; i++) {
            const lr_re_node *one = node->nodes[end ? node->count - 1 - i : i];
            if (touches_digit(one, end)) {
                return true;
            }
            if (!may_be_empty(one)) {
                return false;
            }
        }
        return false;
    default:
        for (uint32_t i = 0; i < node->count; i++) {
            if (touches_digit(node->nodes[i], end)) {
                return true;
            }
        }
        return false;
    }
}

/* Whether a number may be divided between two parts of a pattern that stand side by side. */
static bool divides(const lr_re_node *node)
{
    for (uint32_t i = 0; node->kind == LR_RE_SEQUENCE && i < node->count; i++) {
        for (uint32_t k = i + 1; touches_digit(node->nodes[i], true) && k < node->count; k++) {
            if (touches_digit(node->nodes[k], false)) {
                return true;
            }
            if (!may_be_empty(node->nodes[k])) {
                break;
            }
        }
    }
    if (node->kind == LR_RE_REPEAT && touches_digit(node->nodes[0], true) && touches_digit(node->nodes[0], false) &&
        (node->lazy || node->nodes[0]->kind != LR_RE_CLASS)) {
        return true; /* `(?:[0-9]+)*`; or of several digits one */
    }
    for (uint32_t i = 0; i < node->count; i++) {
        if (divides(node->nodes[i])) {
            return true;
        }
    }
    return node->kind == LR_RE_ANCHOR && node->anchor != LR_RE_TEXT_START && node->anchor != LR_RE_TEXT_END &&
           node->anchor != LR_RE_WORD;
}

static const lr_re_node *group_node(const lr_re_node *node, uint32_t group)
{
    const lr_re_node *found = node->kind == LR_RE_GROUP && node->group == group ? node : NULL;
    for (uint32_t i = 0; !found && i < node->count; i++) {
        found = group_node(node->nodes[i], group);
    }
    return found;
}

/* Whether the replacement has a group twice, by itself or in another: what it holds is then one number at two places. */
static bool repeats(const lr_rule *rule)
{
    uint32_t count = 0;
    const lr_template_piece *pieces = lr_template_pieces(rule->template, &count);
    for (uint32_t i = 0; i < count; i++) {
        const lr_re_node *tree = lr_regex_tree(rule->regex);
        const lr_re_node *group = pieces[i].text ? NULL : pieces[i].group ? group_node(tree, pieces[i].group) : tree;
        for (uint32_t k = 0; group && k < count; k++) {
            if (k != i && !pieces[k].text &&
                (pieces[k].group == pieces[i].group || group_node(group, pieces[k].group))) {
                return true;
            }
        }
    }
    return false;
}

/* The same for the parts of a replacement. */
static bool replacement_divides(const lr_rule *rule)
{
    uint32_t count = 0;
    const lr_template_piece *pieces = lr_template_pieces(rule->template, &count);
    bool before = false; /* what came before may end with a digit */
    for (uint32_t i = 0; i < count; i++) {
        const lr_template_piece *one = &pieces[i];
        const lr_re_node *tree = lr_regex_tree(rule->regex);
        const lr_re_node *group = one->text ? NULL : one->group ? group_node(tree, one->group) : tree;
        if (one->text ? is_digit(one->text[0]) && before : group && before && touches_digit(group, false)) {
            return true;
        }
        before = one->text ? is_digit(one->text[one->length - 1])
                           : (group && touches_digit(group, true)) || (before && (!group || may_be_empty(group)));
    }
    return false;
}

/* Whether a group's text, wherever the replacement puts it, goes on with a name. */
static bool goes_on(const lr_rule *rule, uint32_t group)
{
    uint32_t count = 0;
    const lr_template_piece *pieces = rule->template ? lr_template_pieces(rule->template, &count) : NULL;
    for (uint32_t i = 0; i < count; i++) {
        if (!pieces[i].text && pieces[i].group == group) {
            const lr_template_piece *before = i ? &pieces[i - 1] : NULL;
            if (!before || !before->text || before->text[before->length - 1] == '.' ||
                is_digit(before->text[before->length - 1])) {
                return false;
            }
        }
    }
    return true;
}

/* @param loose it may be repeated any number of times. @return false: the rules may tell numbers apart. */
static bool see_node(lr_stems *s, const lr_rule *rule, const lr_re_node *node, bool loose, bool *name)
{
    bool before = *name, after = true;
    int digits = 0;
    switch (node->kind) {
    case LR_RE_LITERAL:
        return see_text(s, node->text, node->length, name);
    case LR_RE_CLASS:
        for (char c = '0'; c <= '9'; c++) {
            digits += lr_re_set_has(node->set, (uint32_t)c) == 1;
        }
        *name = lr_re_set_has(node->set, '.') == 0 && (before || digits == 0);
        return digits == 0 || before || (digits == 10 && loose);
    case LR_RE_GROUP:
        *name = *name && (!node->group || goes_on(rule, node->group));
        return see_node(s, rule, node->nodes[0], loose, name);
    case LR_RE_SEQUENCE:
        for (uint32_t i = 0; i < node->count; i++) {
            if (!see_node(s, rule, node->nodes[i], false, name)) {
                return false;
            }
        }
        return true;
    case LR_RE_CHOICE:
        for (uint32_t i = 0; i < node->count; i++) {
            bool one = before;
            if (!see_node(s, rule, node->nodes[i], false, &one)) {
                return false;
            }
            after = after && one;
        }
        *name = after;
        return true;
    case LR_RE_REPEAT:
        loose = node->most == LR_RE_UNLIMITED && node->least <= 1;
        if (!see_node(s, rule, node->nodes[0], loose, name)) {
            return false;
        }
        if (node->most > 1) { /* after itself */
            after = *name;
            if (!see_node(s, rule, node->nodes[0], loose, name)) {
                return false;
            }
            *name = *name && after;
        }
        *name = *name && (node->least > 0 || before);
        return true;
    default:
        return true;
    }
}

static bool see_rule(lr_stems *s, const lr_rule *rule)
{
    const lr_template_piece *pieces;
    uint32_t count = 0;
    bool name = false;
    if (rule->kind != LR_RULE_RENAME && rule->kind != LR_RULE_SPLIT && rule->kind != LR_RULE_DROP &&
        rule->kind != LR_RULE_EXPORT && rule->kind != LR_RULE_WEIGHT_NORM) {
        return true;
    }
    s->by_tensor = s->by_tensor || (rule->kind == LR_RULE_DROP && (rule->rank >= 0 || rule->dtype_count));
    if (divides(lr_regex_tree(rule->regex)) || (rule->template && (repeats(rule) || replacement_divides(rule))) ||
        !see_node(s, rule, lr_regex_tree(rule->regex), false, &name)) {
        return false;
    }
    if (!rule->template) {
        return true;
    }
    pieces = lr_template_pieces(rule->template, &count);
    name = false;
    for (uint32_t i = 0; i < count; i++) {
        if (!pieces[i].text) {
            name = false;
        } else if (!see_text(s, pieces[i].text, pieces[i].length, &name)) {
            return false;
        }
    }
    for (uint64_t p = 0; rule->kind == LR_RULE_SPLIT && p < rule->part_count; p++) {
        name = false;
        if (!see_text(s, rule->parts[p].name, strlen(rule->parts[p].name), &name)) {
            return false;
        }
    }
    return true;
}

lr_stems *lr_stems_new(rec_job *job, const lr_rules *rules)
{
    lr_stems *s = lr_zalloc(job->allocator, sizeof *s);
    if (!s) {
        (void)lr_fail_allocator(job, sizeof *s);
        return NULL;
    }
    s->allocator = job->allocator;
    s->usable = true;
    lr_arena_init(&s->arena, job->allocator);
    for (uint64_t i = 0; s->usable && i < rules->count; i++) {
        s->usable = see_rule(s, &rules->rules[i]);
    }
    return s;
}

void lr_stems_free(lr_stems *s)
{
    if (s) {
        lr_arena_free(&s->arena);
        lr_release(s->allocator, s->slots);
        lr_release(s->allocator, s);
    }
}

/* ------------------------------------------------------------------------------------------------------------ stems -- */

static bool is_special(const lr_stems *s, const char *number, size_t length)
{
    for (size_t i = 0; i < s->special_count; i++) {
        const special *one = &s->specials[i];
        if (one->length == length && memcmp(one->digits, number, length) == 0) {
            return true;
        }
    }
    return false;
}

/* Writes a text with marks for its numbers. @return false: it has none, or too many. */
static bool mark(const lr_stems *s, const char *text, lr_stem *stem, char *target, size_t room)
{
    size_t used = 0, numbers = 0;
    if (strstr(text, MARK)) {
        return false;
    }
    for (const char *dot; text; text = dot ? dot + 1 : NULL) {
        size_t length = (size_t)((dot = strchr(text, '.')) ? dot - text : (ptrdiff_t)strlen(text)), digits = 0;
        while (digits < length && is_digit(text[digits])) {
            digits++;
        }
        if (used + length + MARK_LENGTH + 2 > room) {
            return false;
        }
        if (used) {
            target[used++] = '.';
        }
        if (length && digits == length && !is_special(s, text, length)) {
            if (numbers == sizeof stem->numbers / sizeof *stem->numbers) {
                return false;
            }
            (void)snprintf(target + used, MARK_LENGTH + 1, MARK "%03u", (unsigned)numbers % 1000);
            stem->numbers[numbers] = text;
            stem->lengths[numbers++] = length;
            used += MARK_LENGTH;
        } else {
            memcpy(target + used, text, length);
            used += length;
        }
    }
    target[used] = '\0';
    stem->number_count = numbers;
    return numbers > 0;
}

bool lr_stem_of(const lr_stems *s, const char *const *starts, uint32_t count, const lr_op *op, lr_stem *stem)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    if (!s->usable) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!*starts[i] || *starts[i] == '.' || !mark(s, starts[i], stem, stem->text[i], sizeof stem->text[i])) {
            return false;
        }
        for (const char *c = stem->text[i]; *c; c++) {
            hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
        }
        stem->starts[i] = stem->text[i];
    }
    stem->count = count;
    stem->dtype = s->by_tensor ? lr_op_dtype(op) : REC_DTYPE_NONE;
    stem->rank = s->by_tensor ? lr_op_rank(op) : 0;
    stem->hash = hash ^ ((uint64_t)stem->dtype << 32) ^ stem->rank ^ (hash >> 31);
    return true;
}

size_t lr_stem_expand(const lr_stem *stem, const char *text, size_t length, char *target, size_t room)
{
    size_t used = 0;
    for (size_t i = 0; i < length;) {
        const char *from = text + i;
        size_t size = 1, step = 1;
        if (length - i >= MARK_LENGTH && memcmp(from, MARK, sizeof MARK - 1) == 0) {
            const char *ordinal = from + sizeof MARK - 1;
            size_t number =
                (size_t)(ordinal[0] - '0') * 100 + (size_t)(ordinal[1] - '0') * 10 + (size_t)(ordinal[2] - '0');
            if (number < stem->number_count) {
                from = stem->numbers[number];
                size = stem->lengths[number];
                step = MARK_LENGTH;
            }
        }
        if (used + size < room) {
            memcpy(target + used, from, size);
        }
        used += size;
        i += step;
    }
    if (room) {
        target[used < room ? used : room - 1] = '\0';
    }
    return used;
}

bool lr_stem_kept(const char *text, size_t length)
{
    const char *end = text + length;
    for (const char *at = text; (at = memmem(at, (size_t)(end - at), MARK, sizeof MARK - 1)) != NULL;
         at += MARK_LENGTH) {
        if ((at > text && at[-1] != '.') || end - at < MARK_LENGTH ||
            (end - at > MARK_LENGTH && at[MARK_LENGTH] != '.')) {
            return false;
        }
    }
    return true;
}

static bool same_stem(const lr_stem_entry *e, const lr_stem *stem)
{
    if (e->hash != stem->hash || e->count != stem->count || e->dtype != stem->dtype || e->rank != stem->rank) {
        return false;
    }
    for (uint32_t i = 0; i < e->count; i++) {
        if (strcmp(e->starts[i], stem->text[i]) != 0) {
            return false;
        }
    }
    return true;
}

lr_stem_entry *lr_stems_find(const lr_stems *s, const lr_stem *stem)
{
    for (uint64_t at = stem->hash; s->room && s->slots[at & (s->room - 1)]; at++) {
        lr_stem_entry *e = s->slots[at & (s->room - 1)];
        if (same_stem(e, stem)) {
            return e;
        }
    }
    return NULL;
}

static void put(lr_stem_entry **slots, uint64_t room, lr_stem_entry *e)
{
    uint64_t at = e->hash;
    while (slots[at & (room - 1)]) {
        at++;
    }
    slots[at & (room - 1)] = e;
}

lr_stem_entry *lr_stems_add(rec_job *job, lr_stems *s, const lr_stem *stem, const lr_candidates *candidates,
                            uint64_t width)
{
    lr_stem_entry *e = lr_arena_alloc(&s->arena, sizeof *e, 8);
    lr_candidate *list = lr_arena_alloc(&s->arena, (candidates->count + 1) * sizeof *list, 8);
    if (!e || !list) {
        (void)lr_fail_allocator(job, sizeof *e);
        return NULL;
    }
    *e = (lr_stem_entry){.hash = stem->hash, .count = stem->count, .dtype = stem->dtype, .rank = stem->rank};
    e->candidates = *candidates;
    e->candidates.list = list;
    for (uint64_t i = 0; i < candidates->count; i++) {
        uint8_t *fired = lr_arena_alloc(&s->arena, width, 1);
        list[i] = candidates->list[i];
        list[i].text = lr_arena_text(&s->arena, candidates->list[i].text, candidates->list[i].length);
        if (!fired || !list[i].text) {
            (void)lr_fail_allocator(job, width);
            return NULL;
        }
        memcpy(fired, candidates->list[i].fired, (size_t)width);
        list[i].fired = fired;
    }
    for (uint32_t i = 0; i < stem->count; i++) {
        e->starts[i] = lr_arena_text(&s->arena, stem->text[i], strlen(stem->text[i]));
        if (!e->starts[i]) {
            (void)lr_fail_allocator(job, strlen(stem->text[i]));
            return NULL;
        }
    }
    if (s->count * 2 >= s->room) {
        uint64_t room = s->room ? s->room * 2 : 256;
        lr_stem_entry **slots = lr_zalloc(s->allocator, room * sizeof *slots);
        if (!slots) {
            (void)lr_fail_allocator(job, room * sizeof *slots);
            return NULL;
        }
        for (uint64_t i = 0; i < s->room; i++) {
            if (s->slots[i]) {
                put(slots, room, s->slots[i]);
            }
        }
        lr_release(s->allocator, s->slots);
        s->slots = slots;
        s->room = room;
    }
    put(s->slots, s->room, e);
    s->count++;
    return e;
}
