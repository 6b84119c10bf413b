/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Suggests load arguments for a missing place, ready to paste: `rename = ^lm_head\. => head.`. Only keys of plain
 * words and numbers are used. */
#include "remap/fit/fit_private.h"

#include <stdio.h>

enum { PARTS_MOST = 32, GROUPS_MOST = 9 };

/** A key taken apart at its dots. */
typedef struct parts {
    const char *at[PARTS_MOST];
    size_t length[PARTS_MOST];
    size_t count;
} parts;

/* @return false: it has names that would need care in a pattern. */
static bool take_apart(const char *key, size_t length, parts *p)
{
    const char *end = key + length;
    p->count = 0;
    for (const char *at = key; at <= end; at++) {
        size_t n = 0;
        while (at + n < end && at[n] != '.') {
            char c = at[n++];
            bool plain =
                (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-';
            if (!plain) {
                return false;
            }
        }
        if (!n || p->count == PARTS_MOST) {
            return false;
        }
        p->at[p->count] = at;
        p->length[p->count++] = n;
        at += n;
    }
    return p->count > 0;
}

static bool same_part(const parts *a, size_t i, const parts *b, size_t j)
{
    return a->length[i] == b->length[j] && memcmp(a->at[i], b->at[j], a->length[i]) == 0;
}

static bool same_begin(const parts *a, size_t a_count, const parts *b, size_t b_count)
{
    size_t i = 0;
    while (i < a_count && i < b_count && same_part(a, i, b, i)) {
        i++;
    }
    return i == a_count && i == b_count;
}

static bool is_number(const parts *p, size_t i)
{
    return strspn(p->at[i], "0123456789") >= p->length[i];
}

/* Text that is written as long as it fits. */
typedef struct writer {
    char *text;
    size_t used, room;
} writer;

static void put(writer *w, const char *text, size_t length)
{
    if (w->used + length < w->room) {
        memcpy(w->text + w->used, text, length);
        w->text[w->used + length] = '\0';
    }
    w->used += length; /* beyond the room: it did not fit */
}

/* What the first `count` parts of a key are as a pattern, numbers that `to` has too as groups; and what `to` is then.
 * @return the number of groups. */
static unsigned put_pair(writer *pattern, const parts *from, size_t count, writer *replacement, const parts *to,
                         size_t to_count)
{
    unsigned groups = 0;
    size_t next = 0, taken[GROUPS_MOST];
    for (size_t i = 0; i < count; i++) {
        size_t at = next;
        while (at < to_count && !(is_number(to, at) && same_part(from, i, to, at))) {
            at++;
        }
        put(pattern, "\\.", i ? 2 : 0);
        if (is_number(from, i) && at < to_count && groups < GROUPS_MOST) {
            taken[groups++] = at;
            next = at + 1;
            put(pattern, "([0-9]+)", 8);
        } else {
            put(pattern, from->at[i], from->length[i]);
        }
    }
    for (size_t i = 0; i < to_count; i++) {
        char group[16];
        unsigned g = 0;
        while (g < groups && taken[g] != i) {
            g++;
        }
        put(replacement, ".", i ? 1 : 0);
        if (g < groups) {
            (void)snprintf(group, sizeof group, "$%u", g + 1);
            put(replacement, group, strlen(group));
        } else {
            put(replacement, to->at[i], to->length[i]);
        }
    }
    return groups;
}

static size_t count_numbers(const parts *p, size_t count)
{
    size_t numbers = 0;
    for (size_t i = 0; i < count; i++) {
        numbers += is_number(p, i);
    }
    return numbers;
}

bool lr_suggest_module(const char *path, const char *type, char *rule, size_t room)
{
    char pattern[400] = "";
    writer w = {pattern, 0, sizeof pattern};
    parts p;
    int n;
    *rule = '\0';
    if (!take_apart(path, strlen(path), &p)) {
        return false;
    }
    for (size_t i = 0; i < p.count; i++) {
        put(&w, "\\.", i ? 2 : 0);
        put(&w, is_number(&p, i) ? "[0-9]+" : p.at[i], is_number(&p, i) ? 6 : p.length[i]);
    }
    n = snprintf(rule, room, "`module = ^%s$ => %s`", pattern, type);
    return n > 0 && (size_t)n < room && w.used < w.room;
}

bool lr_suggest_tie(const char *path, const char *to, char *rule, size_t room)
{
    parts p, q;
    int n;
    *rule = '\0';
    if (!take_apart(path, strlen(path), &p) || !take_apart(to, strlen(to), &q) || count_numbers(&p, p.count)) {
        return false;
    }
    n = snprintf(rule, room, "`tie = %s.weight = %s`", path, to);
    return n > 0 && (size_t)n < room;
}

bool lr_suggest_rename(const char *from, size_t from_length, const char *to, int32_t what, char *rule, size_t room)
{
    char pattern[400] = "", replacement[300] = "";
    writer p = {pattern, 0, sizeof pattern}, r = {replacement, 0, sizeof replacement};
    parts a, b;
    size_t tail = 0;
    bool numbered = what == LR_RENAME_NUMBERED, module = what == LR_RENAME_MODULE || numbered;
    bool leaves = what == LR_RENAME_LEAVES;
    unsigned groups;
    int n;
    *rule = '\0';
    if (!take_apart(from, from_length, &a) || !take_apart(to, strlen(to), &b)) {
        return false;
    }
    while (!leaves && tail + 1 < a.count && tail + 1 < b.count &&
           same_part(&a, a.count - 1 - tail, &b, b.count - 1 - tail)) {
        tail++;
    }
    /* `norm.gamma` is the place of `norm.weight`: the adapter renames it. */
    if (!tail && a.count > 1 && b.count > 1 && what == LR_RENAME_TENSOR && a.length[a.count - 1] == 6 &&
        b.length[b.count - 1] == 5 && memcmp(a.at[a.count - 1], "weight", 6) == 0 &&
        memcmp(b.at[b.count - 1], "gamma", 5) == 0) {
        tail = !same_begin(&a, a.count - 1, &b, b.count - 1); /* else it did not, and that is what is to be renamed */
    }
    if (!leaves && same_begin(&a, a.count - tail, &b, b.count - tail)) {
        return false; /* it has that name */
    }
    /* Numbers are the same on both sides, or on one side alone: else it is another layer. */
    groups = put_pair(&p, &a, a.count - tail, &r, &b, b.count - tail);
    if (groups + numbered < count_numbers(&a, a.count - tail) && count_numbers(&b, b.count - tail)) {
        return false;
    }
    if (leaves) {
        char group[16];
        (void)snprintf(group, sizeof group, ".$%u", groups + 1);
        put(&p, "\\.([^.]+)$", 10);
        put(&r, group, strlen(group));
    } else {
        module = module || tail;
        put(&p, module ? "\\." : "$", module ? 2 : 1);
        put(&r, ".", module ? 1 : 0);
    }
    if (p.used >= p.room || r.used >= r.room) {
        return false;
    }
    n = snprintf(rule, room, "`rename = ^%s => %s`", pattern, replacement);
    return n > 0 && (size_t)n < room;
}

/* ------------------------------------------------------------------------------------ queries, keys and values -- */

/* What they are called where they stand apart, and where they are one. */
static const char *const apart[][3] = {{"query", "key", "value"},
                                       {"q_proj", "k_proj", "v_proj"},
                                       {"q", "k", "v"},
                                       {"wq", "wk", "wv"},
                                       {"to_q", "to_k", "to_v"}};
static const char *const fused[] = {"qkv", "qkv_proj", "Wqkv", "in_proj", "c_attn", "query_key_value", "to_qkv"};

static bool is_word(const parts *p, size_t i, const char *word)
{
    return p->length[i] == strlen(word) && memcmp(p->at[i], word, p->length[i]) == 0;
}

/* Whether a key is a fused weight or bias. @param at (out) the part that names it. @param joined (out) of
 * nn.MultiheadAttention: in_proj_weight is one name. */
static bool is_fused(const parts *p, size_t *at, bool *joined)
{
    size_t last = p->count - 1;
    *joined = is_word(p, last, "in_proj_weight") || is_word(p, last, "in_proj_bias");
    *at = *joined ? last : last ? last - 1 : 0;
    if (*joined) {
        return true;
    }
    for (size_t i = 0;
         last && (is_word(p, last, "weight") || is_word(p, last, "bias")) && i < sizeof fused / sizeof *fused; i++) {
        if (is_word(p, last - 1, fused[i])) {
            return true;
        }
    }
    return false;
}

/* Whether three of its sizes are one, and along which axis: -1 the last, 0 rows. */
static bool is_three(const parts *p, size_t at, const uint64_t *shape, uint32_t rank, const char **axis)
{
    bool last = is_word(p, at, "c_attn");
    *axis = last ? "last" : "rows";
    return (rank == 1 || rank == 2) && shape[last ? rank - 1 : 0] && shape[last ? rank - 1 : 0] % 3 == 0 &&
           (!last || rank == 1 || shape[1] == 3 * shape[0]);
}

bool lr_suggest_split(const lr_piece *piece, const char *to, char *rule, size_t room)
{
    char pattern[400] = "", replacement[300] = "", name[LR_NAME_MOST];
    writer w = {pattern, 0, sizeof pattern}, r = {replacement, 0, sizeof replacement};
    const char *axis;
    parts a, b = {.count = 0};
    size_t at, end;
    unsigned groups;
    bool joined;
    int n, names = -1;
    *rule = '\0';
    if (!lr_piece_is_tensor(piece) || !take_apart(piece->key, (size_t)piece->length, &a) ||
        (to && !take_apart(to, strlen(to), &b)) || !is_fused(&a, &at, &joined) || a.length[at] + 2 >= sizeof name ||
        !is_three(&a, at, lr_piece_shape(piece), lr_piece_rank(piece), &axis)) {
        return false;
    }
    memcpy(name, a.at[at], a.length[at]);
    name[a.length[at]] = '\0';
    if (!to) { /* wherever it stands */
        n = joined ? snprintf(rule, room, "`split = (.*)\\.in_proj_(weight|bias)$ | rows query key value => $1.%%.$2`")
                   : snprintf(rule, room, "`split = (.*)\\.%s\\.(weight|bias)$ | %s query key value%s => $1.%%.$2`",
                              name, axis, strcmp(name, "query_key_value") == 0 ? " in heads" : "");
        return n > 0 && (size_t)n < room && a.count > (joined ? 1 : 2);
    }
    /* `attn.query`, or `attn.query.weight` */
    for (end = b.count; end > 0 && end + 2 > b.count && names < 0; end--) {
        for (int i = 0; i < (int)(sizeof apart / sizeof *apart) && names < 0; i++) {
            for (int k = 0; k < 3; k++) {
                names = is_word(&b, end - 1, apart[i][k]) ? i : names;
            }
        }
    }
    if (names < 0) {
        return false;
    }
    groups = put_pair(&w, &a, at, &r, &b, end);
    if (groups < count_numbers(&a, at)) {
        return false; /* another layer's */
    }
    n = snprintf(rule, room, "`split = ^%s%s%s(weight|bias)$ | %s %s %s %s%s => %s%s%%.$%u`", pattern, at ? "\\." : "",
                 joined ? "in_proj_" : strcat(name, "\\."), axis, apart[names][0], apart[names][1], apart[names][2],
                 strncmp(name, "query_key_value", 15) == 0 ? " in heads" : "", replacement, end ? "." : "", groups + 1);
    return n > 0 && (size_t)n < room && w.used < w.room && r.used < r.room;
}

/* ----------------------------------------------------------------------------------------------------- stacking -- */

/* The first `count` parts of a key as a pattern, with a dot after each. */
static void put_parents(writer *w, const parts *p, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        put(w, p->at[i], p->length[i]);
        put(w, "\\.", 2);
    }
}

bool lr_suggest_list(const char *path, size_t parent, char *rule, size_t room)
{
    char pattern[400] = "";
    writer w = {pattern, 0, sizeof pattern};
    parts p = {.count = 0};
    int n;
    *rule = '\0';
    if (parent && !take_apart(path, parent - 1, &p)) {
        return false;
    }
    put_parents(&w, &p, p.count);
    n = snprintf(rule, room, "`rename = ^%s([0-9]+)\\. => %.200s.$1.`", pattern, path);
    return n > 0 && (size_t)n < room && w.used < w.room;
}

/* The one tensor directly below each of the numbered children, under one name. NULL: it is not so. */
static const lr_piece *member_of(const lr_node *node, uint64_t rank)
{
    const lr_node *first = node->first ? node->first->first : NULL;
    for (const lr_node *c = node->first; c && first; c = c->next) {
        const lr_node *leaf = c->first;
        bool one = c->index != REC_UNKNOWN && c->child_count == 1 && leaf->length == first->length &&
                   memcmp(leaf->name, first->name, (size_t)first->length) == 0 && leaf->piece && !leaf->first &&
                   lr_piece_is_tensor(leaf->piece) && lr_piece_rank(leaf->piece) + 1 == rank;
        if (!one) {
            return NULL;
        }
    }
    return first ? first->piece : NULL;
}

bool lr_suggest_stack(const lr_node *node, const char *path, uint64_t rank, char *rules, size_t room)
{
    const lr_piece *member = member_of(node, rank);
    char pattern[400] = "", last[LR_NAME_MOST];
    writer w = {pattern, 0, sizeof pattern};
    parts p;
    int n;
    *rules = '\0';
    if (!member || !take_apart(path, strlen(path), &p) || !take_apart(member->key, (size_t)member->length, &p) ||
        strlen(lr_path_last(member->key, (size_t)member->length)) >= sizeof last) {
        return false;
    }
    (void)snprintf(last, sizeof last, "%s", lr_path_last(member->key, (size_t)member->length));
    put_parents(&w, &p, p.count > 2 ? p.count - 2 : 0);
    n = snprintf(rules, room, "`stack = ^%s([0-9]+)\\.%s$ => %s`%s%s%s", pattern, last, path,
                 rank == 3 ? ", and where they are weights of Linear layers `module = ^" : "", rank == 3 ? pattern : "",
                 rank == 3 ? "[0-9]+$ => Linear`" : "");
    return n > 0 && (size_t)n < room && w.used < w.room;
}

/* ----------------------------------------------------------------------------------------------------- a level -- */

/* The number of fields of a struct that hold something, and of those that some key that is left begins with. */
static void count_fields(const rec_plan *plan, const rec_layout *layout, uint64_t *fields, uint64_t *there,
                         uint64_t *keys)
{
    enum { FIELDS_MOST = 64, KEYS_MOST = 5000 };
    *fields = *there = *keys = 0;
    for (uint64_t i = 0; i < layout->count && i < FIELDS_MOST; i++) {
        size_t length = strlen(layout->names[i]);
        uint64_t seen = 0, hits = 0;
        if (lr_fit_holds_nothing(layout->children[i])) {
            continue;
        }
        ++*fields;
        for (const lr_piece *p = plan->pieces; p && seen++ < KEYS_MOST; p = p->next) {
            hits += !p->taken && !p->dead && !p->kept && p->length >= length &&
                    memcmp(p->key, layout->names[i], length) == 0 && (p->key[length] == '.' || !p->key[length]);
        }
        *there += hits > 0;
        *keys += hits;
    }
}

bool lr_suggest_prefix(const rec_plan *plan, const lr_missing *m, char *hint, size_t room)
{
    uint64_t left = 0, below = 0, fields, there, keys;
    const char *dot = NULL;
    size_t head = 0;
    *hint = '\0';
    /* One in front of all keys: none may have its place already. */
    if (plan->mapped || plan->source_count > 1 || plan->sources[0].prefix) {
        return false;
    }
    for (const lr_piece *p = plan->pieces; p; p = p->next) {
        left += !p->taken && !p->dead && !p->kept;
    }
    if (m->layout && m->layout->kind == REC_LAYOUT_STRUCT) {
        count_fields(plan, m->layout, &fields, &there, &keys);
        if (there && there * 2 >= fields && keys * 2 > left) {
            head = strlen(m->path);
            below = keys;
        }
    }
    for (dot = strchr(m->path, '.'); dot && !below; dot = strchr(dot + 1, '.')) {
        size_t length = strlen(dot + 1);
        for (const lr_piece *p = plan->pieces; p && !below; p = p->next) {
            below += !p->taken && !p->kept && p->length >= length && memcmp(p->key, dot + 1, length) == 0 &&
                     (p->key[length] == '.' || !p->key[length]);
        }
        head = (size_t)(dot - m->path);
    }
    if (!below || head >= 200) {
        return false;
    }
    (void)snprintf(hint, room, "The values expected below %.*s is at the top of the file: `prefix = %.*s`", (int)head,
                   m->path, (int)head, m->path);
    return true;
}
