/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The parser of patterns: the grammar of Rust's `regex` crate 1.x, whose documentation of syntax is the reference; what
 * it leaves open was found by trying. */
#include <string.h>

#include "remap/regex/regex_private.h"

enum { GROUPS_MOST = 1000 };

/* ------------------------------------------------------------------------------------------------------- nodes -- */

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

/* Works out what is known of a node from its parts. */
static void learn(lr_re_node *n)
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

static bool push(lr_re_parser *p, const lr_re_node *node)
{
    if (!lr_job_grow(p->job, &p->items, p->item_count + 1, &p->item_room, sizeof *node)) {
        return false;
    }
    p->items[p->item_count] = *node;
    learn(&p->items[p->item_count++]);
    return true;
}

/* A node of the pattern from a place to where the parser is. */
static lr_re_node node_from(const lr_re_parser *p, int32_t kind, const char *begin)
{
    return (lr_re_node){.kind = kind, .begin = (uint32_t)(begin - p->pattern), .end = (uint32_t)(p->at - p->pattern)};
}

/* A literal of one character; its text is made when its sequence is complete. */
static bool push_character(lr_re_parser *p, const char *begin, uint32_t character)
{
    lr_re_node node = node_from(p, LR_RE_LITERAL, begin);
    char bytes[4];
    node.group = character;
    node.icase = p->flags.icase;
    node.length = lr_re_encode(character, bytes);
    return push(p, &node);
}

/* Makes one node of `count` literals. */
static bool join_literals(lr_re_parser *p, const lr_re_node *from, size_t count, lr_re_node *node)
{
    char *text = lr_re_alloc(p, 4 * (uint64_t)count);
    if (!text) {
        return false;
    }
    *node = *from;
    node->length = 0;
    for (size_t i = 0; i < count; i++) {
        node->length += lr_re_encode(from[i].group, text + node->length);
    }
    lr_arena_rewind(p->arena, text + node->length, text + 4 * count);
    node->text = text;
    node->group = 0;
    node->end = from[count - 1].end;
    learn(node);
    return true;
}

/* A node in the arena with its literal's text made. NULL: the job has failed. */
static const lr_re_node *settle(lr_re_parser *p, const lr_re_node *item)
{
    lr_re_node *node = lr_re_alloc(p, sizeof *node);
    if (node) {
        *node = *item;
    }
    return node && node->kind == LR_RE_LITERAL && !node->text && !join_literals(p, item, 1, node) ? NULL : node;
}

/* Makes one node of the items from `base` on, which it replaces. @param count of them as Rust counts, with flags. */
static bool close_sequence(lr_re_parser *p, size_t base, size_t count, const char *begin)
{
    lr_re_node node = node_from(p, LR_RE_EMPTY, begin);
    size_t own = p->item_count - base, kept = 0;
    const lr_re_node **nodes;
    uint32_t height = 0;
    if (own) {
        nodes = lr_re_alloc(p, own * sizeof *nodes);
        if (!nodes) {
            return false;
        }
        for (size_t i = 0; i < own;) {
            const lr_re_node *item = &p->items[base + i];
            size_t run = 1;
            lr_re_node joined = *item;
            while (item->kind == LR_RE_LITERAL && i + run < own && item[run].kind == LR_RE_LITERAL &&
                   item[run].icase == item->icase) {
                run++;
            }
            if (item->kind == LR_RE_LITERAL && !join_literals(p, item, run, &joined)) {
                return false;
            }
            nodes[kept] = settle(p, &joined);
            if (!nodes[kept]) {
                return false;
            }
            height = joined.height > height ? joined.height : height;
            kept++;
            i += run;
        }
        if (kept == 1) {
            node = *nodes[0];
        } else {
            node.kind = LR_RE_SEQUENCE;
            node.nodes = nodes;
            node.count = (uint32_t)kept;
        }
    }
    p->item_count = base;
    node.height = height + (count > 1);
    return push(p, &node);
}

/* -------------------------------------------------------------------------------------------------- repetition -- */

/* Spaces in braces have no meaning. Others of Unicode's, which Rust passes too, are no part of a count here. */
static void pass_spaces(lr_re_parser *p)
{
    while (p->at < p->end && (*p->at == ' ' || (*p->at >= '\t' && *p->at <= '\r'))) {
        p->at++;
    }
}

/* A count of `{n}`. @return 1, 0 if there are no digits, -1: the job has failed. */
static int parse_count(lr_re_parser *p, uint32_t *count)
{
    uint64_t value = 0;
    bool any = false;
    pass_spaces(p);
    while (p->at < p->end && *p->at >= '0' && *p->at <= '9') {
        value = value > UINT32_MAX ? value : value * 10 + (uint64_t)(*p->at - '0');
        any = true;
        p->at++;
    }
    pass_spaces(p);
    if (value >= LR_RE_UNLIMITED) {
        (void)lr_re_fail(p, p->at, "the number of repetitions is too large");
        return -1;
    }
    *count = (uint32_t)value;
    return any;
}

static const char brace_words[] = "expected a number of repetitions, `{2}`, `{2,}` or `{2,5}`: write `\\{` for the "
                                  "character itself";

/* `{n}`, `{n,}`, `{n,m}`. */
static bool parse_counted(lr_re_parser *p, uint32_t *least, uint32_t *most)
{
    const char *start = p->at++;
    int first, second;
    first = parse_count(p, least);
    if (first < 0) {
        return false;
    }
    *most = *least;
    if (p->at < p->end && *p->at == ',') {
        p->at++;
        *most = LR_RE_UNLIMITED;
        if (p->at < p->end && *p->at != '}') {
            second = parse_count(p, most);
            if (second < 0) {
                return false;
            }
            first = first && second;
        }
    }
    if (!first || p->at == p->end || *p->at != '}') {
        return lr_re_fail(p, start, "%s", brace_words);
    }
    p->at++;
    if (*most < *least) {
        return lr_re_fail(p, start, "the repetition goes backwards: at least %u times, at most %u", (unsigned)*least,
                          (unsigned)*most);
    }
    return true;
}

/* Makes the last item the one child of a node that ends at `p->at`. */
static bool take_last(lr_re_parser *p, lr_re_node *node)
{
    const lr_re_node **child = lr_re_alloc(p, sizeof *child);
    if (!child) {
        return false;
    }
    child[0] = settle(p, &p->items[p->item_count - 1]);
    if (!child[0]) {
        return false;
    }
    p->item_count--;
    node->end = (uint32_t)(p->at - p->pattern);
    node->nodes = child;
    node->count = 1;
    node->height = child[0]->height + 1;
    return true;
}

/* The operator at `p->at` repeats the last item. @param base,flags the sequence it is in; flags: they are its last. */
static bool parse_repetition(lr_re_parser *p, size_t base, bool flags)
{
    const char *start = p->at;
    lr_re_node node = {.kind = LR_RE_REPEAT, .most = LR_RE_UNLIMITED};
    char sign = *p->at;
    if (p->item_count == base || flags) {
        return lr_re_fail(p, start,
                          "nothing stands before the `%c` that it could repeat: write `\\%c` for the character "
                          "itself",
                          sign, sign);
    }
    if (sign == '{') {
        if (!parse_counted(p, &node.least, &node.most)) {
            return false;
        }
    } else {
        p->at++;
        node.least = sign == '+';
        node.most = sign == '?' ? 1 : LR_RE_UNLIMITED;
    }
    node.lazy = lr_re_take(p, "?");
    if (!take_last(p, &node)) {
        return false;
    }
    node.begin = node.nodes[0]->begin;
    if (node.height > LR_RE_HEIGHT_MOST) {
        return lr_re_fail(p, start, "more than %d levels in one another", LR_RE_HEIGHT_MOST);
    }
    return push(p, &node);
}

/* ------------------------------------------------------------------------------------------------------ groups -- */

/* Rust's letters beyond ASCII are not supported. */
static bool in_name(uint32_t c, bool first)
{
    bool letter = c == '_' || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
    return c < 0x80 && (letter || (!first && ((c >= '0' && c <= '9') || c == '.' || c == '[' || c == ']')));
}

/* `name>` of a group. */
static bool parse_name(lr_re_parser *p, uint32_t group, const char **name)
{
    const char *start = p->at;
    uint32_t size, c;
    while (p->at < p->end && *p->at != '>') {
        c = lr_re_peek(p, p->at, &size);
        if (p->at - start > LR_NAME_MOST || !in_name(c, p->at == start)) {
            return lr_re_fail(
                p, p->at,
                "the name of a group is up to %d letters of ASCII, digits, `_`, `.`, `[` and `]`, the first "
                "a letter or `_`",
                LR_NAME_MOST);
        }
        p->at += size;
    }
    if (p->at == p->end || p->at == start) {
        return lr_re_fail(p, start, "expected the name of a group and `>`");
    }
    for (uint32_t i = 0; i < p->name_count; i++) {
        if (p->names[i].length == (size_t)(p->at - start) && memcmp(p->names[i].text, start, p->names[i].length) == 0) {
            return lr_re_fail(p, start, "another group is called `%.*s`", (int)p->names[i].length, p->names[i].text);
        }
    }
    if (!lr_job_grow(p->job, &p->names, (uint64_t)p->name_count + 1, &p->name_room, sizeof *p->names)) {
        return false;
    }
    *name = lr_arena_text(p->arena, start, (uint64_t)(p->at - start));
    if (!*name) {
        (void)lr_re_fail_memory(p);
        return false;
    }
    p->names[p->name_count++] = (lr_re_name){*name, (uint32_t)(p->at - start), group};
    p->at++;
    return true;
}

/* Parses flags up to the `:` or `)`, which remains. @param any whether there are any. */
static bool parse_flags(lr_re_parser *p, lr_re_flags *flags, bool *any)
{
    static const char letters[] = "imsUuxR";
    bool *const places[] = {&flags->icase, &flags->lines, &flags->dot_all};
    bool seen[sizeof letters] = {false}, off = false, dangling = false;
    *any = false;
    for (; p->at < p->end && *p->at != ':' && *p->at != ')'; p->at++) {
        const char *letter = strchr(letters, *p->at);
        if (*p->at == '-' ? off : !letter || seen[letter - letters]) {
            uint32_t size;
            (void)lr_re_peek(p, p->at, &size);
            return lr_re_fail(p, p->at,
                              letter || *p->at == '-' ? "the flag `%.*s` occurs twice"
                                                      : "`%.*s` is not a flag of a group: the flags are i, m and s",
                              (int)size, p->at);
        }
        if (letter && letter - letters >= (ptrdiff_t)(sizeof places / sizeof *places)) {
            return lr_re_fail(p, p->at, "the flag `%c` is not supported: the flags are i, m and s", *letter);
        }
        dangling = *p->at == '-';
        *any = true;
        if (dangling) {
            off = true;
        } else {
            seen[letter - letters] = true;
            *places[letter - letters] = !off;
        }
    }
    if (p->at == p->end || dangling) {
        return lr_re_fail(p, p->at,
                          p->at == p->end ? "the group has no end: write `)`" : "expected a flag after the `-`");
    }
    return true;
}

/* Groups of other engines, at their `(`. @return false if it is one; the job has failed. */
static bool known_group(lr_re_parser *p, const char *start)
{
    static const struct {
        const char *sign, *kind, *advice;
    } others[] = {
        {"(?=", "look-ahead ", "put what follows into a group and write it into the replacement again"},
        {"(?!", "look-ahead ", "write a rule before this one for the excluded keys, or list what may follow"},
        {"(?<=", "look-behind ", "put what comes before into a group and write it into the replacement again"},
        {"(?<!", "look-behind ", "write a rule before this one for the excluded keys, or list what may come before"},
        {"(?>", "the atomic group ", "write `(?:`"},
        {"(?|", "the group ",
         "give each alternative groups of its own and write all of them into the replacement: those that took no part "
         "are empty"},
        {"(?#", "the comment ", "leave it out, or write `(?x)` at the beginning and `# …` at the end"},
        {"(?P=", "the back-reference ", "write out what the group may match once more"},
        {"(?P>", "the call ", "write out what the group may match once more"},
        {"(?&", "the call ", "write out what the group may match once more"},
        {"(?(", "the condition ", "write alternatives, `(?:a|b)`"},
        {"(?'", "the name ", "write `(?<name>`"},
        {"(*", "", "write `\\*` for the character itself"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        size_t length = strlen(others[i].sign);
        if ((size_t)(p->end - start) >= length && memcmp(start, others[i].sign, length) == 0) {
            return lr_re_fail_foreign(p, start, others[i].kind, others[i].sign, others[i].advice);
        }
    }
    return true;
}

static bool parse_choice(lr_re_parser *p, uint32_t depth, const char *open);

/* The group whose `(` is at `p->at`. @param flags_only set where it holds flags alone: then it is no item. */
static bool parse_group(lr_re_parser *p, uint32_t depth, bool *flags_only)
{
    const char *start = p->at++;
    lr_re_flags outer = p->flags, inner = p->flags;
    lr_re_node node = {.kind = LR_RE_GROUP, .begin = (uint32_t)(start - p->pattern)};
    bool any;
    *flags_only = false;
    if (depth >= LR_RE_HEIGHT_MOST) {
        return lr_re_fail(p, start, "more than %d levels in one another", LR_RE_HEIGHT_MOST);
    }
    if (!known_group(p, start)) {
        return false;
    }
    if (lr_re_take(p, "?P<") || lr_re_take(p, "?<")) {
        node.group = ++p->groups;
        if (!parse_name(p, node.group, &node.name)) {
            return false;
        }
    } else if (lr_re_take(p, "?")) {
        if (!parse_flags(p, &inner, &any)) {
            return false;
        }
        if (*p->at++ == ')') {
            if (!any) {
                return lr_re_fail(p, start, "the group `(?)` has neither flags nor contents");
            }
            p->flags = inner;
            *flags_only = true;
            return true;
        }
        p->flags = inner;
    } else {
        node.group = ++p->groups;
    }
    if (p->groups > GROUPS_MOST) {
        return lr_re_fail(p, start, "more than %d groups: write `(?:` for those that the replacement does not need",
                          GROUPS_MOST);
    }
    if (!parse_choice(p, depth + 1, start)) {
        return false;
    }
    p->flags = outer;
    p->at++;
    return take_last(p, &node) && push(p, &node);
}

/* --------------------------------------------------------------------------------------------------- sequences -- */

static bool push_anchor(lr_re_parser *p, const char *begin, int32_t anchor)
{
    lr_re_node node = node_from(p, LR_RE_ANCHOR, begin);
    node.anchor = anchor;
    return push(p, &node);
}

static bool push_class(lr_re_parser *p, const char *begin, const lr_re_set *set, uint32_t height)
{
    lr_re_node node = node_from(p, LR_RE_CLASS, begin);
    node.set = set;
    node.height = height;
    if (set && !set->negated && !set->perl && set->count == 1 && set->ranges->first == set->ranges->last) {
        char bytes[4];
        node.kind = LR_RE_LITERAL; /* `[.]` */
        node.set = NULL;
        node.group = set->ranges->first;
        node.length = lr_re_encode(node.group, bytes);
    }
    return set && push(p, &node);
}

static bool push_dot(lr_re_parser *p)
{
    lr_re_range line_feed = {'\n', '\n'};
    lr_re_ranges ranges = {.list = &line_feed, .count = !p->flags.dot_all, .room = 1};
    const char *start = p->at++;
    return push_class(p, start, lr_re_set_new(p, &ranges, 0, true), 0);
}

static bool push_escape(lr_re_parser *p)
{
    lr_re_ranges none = {.count = 0};
    const char *start = p->at;
    lr_re_escape escape;
    if (!lr_re_parse_escape(p, &escape)) {
        return false;
    }
    if (escape.perl) {
        return push_class(p, start, lr_re_set_new(p, &none, escape.perl, false), 0);
    }
    return escape.anchor ? push_anchor(p, start, escape.anchor) : push_character(p, start, escape.character);
}

/* One item. @param flags whether what stands before are flags; set if these are. */
static bool parse_item(lr_re_parser *p, uint32_t depth, size_t base, bool *flags)
{
    const char *start = p->at;
    uint32_t size, height, c = lr_re_peek(p, p->at, &size);
    const lr_re_set *set;
    bool before = *flags;
    *flags = false;
    switch (c) {
    case '(':
        return parse_group(p, depth, flags);
    case '[':
        set = lr_re_parse_class(p, &height);
        return push_class(p, start, set, height);
    case '?':
    case '*':
    case '+':
    case '{':
        return parse_repetition(p, base, before);
    case '\\':
        return push_escape(p);
    case '.':
        return push_dot(p);
    case '^':
    case '$':
        p->at++;
        if (p->flags.lines) {
            return push_anchor(p, start, c == '^' ? LR_RE_LINE_START : LR_RE_LINE_END);
        }
        return push_anchor(p, start, c == '^' ? LR_RE_TEXT_START : LR_RE_TEXT_END);
    default:
        p->at += size;
        return push_character(p, start, c);
    }
}

/* Alternatives up to the `)` of the group, or to the end. They become one item. */
static bool parse_choice(lr_re_parser *p, uint32_t depth, const char *open)
{
    const size_t all = p->item_count;
    const char *begin = p->at, *start = p->at;
    size_t base = all, count = 0;
    uint32_t alternatives = 0, height = 0;
    bool flags = false;
    lr_re_node node;
    const lr_re_node **nodes;
    for (;;) {
        if (p->at == p->end || *p->at == ')' || *p->at == '|') {
            bool last = p->at == p->end || *p->at != '|';
            if (!close_sequence(p, base, count, begin)) {
                return false;
            }
            alternatives++;
            if (last) {
                break;
            }
            begin = ++p->at;
            base = p->item_count;
            count = 0;
            flags = false;
        } else {
            char sign = *p->at;
            if (!parse_item(p, depth, base, &flags)) {
                return false;
            }
            count += sign != '?' && sign != '*' && sign != '+' && sign != '{';
        }
    }
    if (open ? p->at == p->end : p->at < p->end) {
        return lr_re_fail(p, open ? open : p->at,
                          open ? "the group that begins here has no end: write `)`"
                               : "no group is open that the `)` could close: write `\\)` for the character itself");
    }
    if (alternatives == 1) {
        return true;
    }
    nodes = lr_re_alloc(p, alternatives * sizeof *nodes);
    if (!nodes) {
        return false;
    }
    for (uint32_t i = 0; i < alternatives; i++) {
        nodes[i] = settle(p, &p->items[all + i]);
        if (!nodes[i]) {
            return false;
        }
        height = nodes[i]->height > height ? nodes[i]->height : height;
    }
    node = node_from(p, LR_RE_CHOICE, start);
    node.nodes = nodes;
    node.count = alternatives;
    learn(&node);
    if (!lr_re_check_choice(p, &node)) {
        return false;
    }
    node.height = height + 1;
    p->item_count = all;
    return push(p, &node);
}

const lr_re_node *lr_re_parse(lr_re_parser *p)
{
    const lr_re_node *tree;
    if (!parse_choice(p, 0, NULL)) {
        return NULL;
    }
    tree = settle(p, &p->items[0]);
    if (tree && tree->height > LR_RE_HEIGHT_MOST) {
        return LR_AS_NULL(lr_re_fail(p, p->pattern, "more than %d levels in one another", LR_RE_HEIGHT_MOST));
    }
    return tree;
}

void lr_re_parser_free(lr_re_parser *p)
{
    lr_release(p->job->allocator, p->items);
    lr_release(p->job->allocator, p->names);
    lr_re_text_free(&p->out);
}
