/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A layout as text, for files that carry their type:
 *
 *   u8 … u64, i8 … i64, f32, f64, bool, str, id, bytes, unit      scalars
 *   -                a constant field of a module
 *   ?T               an option          [T]  a list          [T;3]  an array        (A,B)  a tuple
 *   {a:T,b:U}        a struct           %T:U a map           %id…   its keys are parameter ids
 *   <A:T|B>          an enum: variants in order, with or without payload
 *   P2f, T1i, T3b    a parameter, a tensor without id: its rank and whether it holds floats, integers or bools
 *
 * Names are in backquotes; a backslash precedes a backquote or backslash in them. Parameters are laid out by the
 * version of the file when the text is read; everything else that depends on the version is in the text. */
#include <inttypes.h>
#include <stdio.h>

#include "burn/layout/layout.h"

/** Of the text of a layout: a node takes a hundred times what names it, so this is some 40 MiB of nodes at most. */
enum { TEXT_MOST = 256 << 10, WORDS = 15 };

static const struct {
    const char *word;
    int32_t kind;
    uint32_t bits;
} words[WORDS] = {
    {"unit", REC_LAYOUT_UNIT, 0},  {"bool", REC_LAYOUT_BOOL, 0},  {"bytes", REC_LAYOUT_BYTES, 0},
    {"str", REC_LAYOUT_STRING, 0}, {"id", REC_LAYOUT_ID, 0},      {"u8", REC_LAYOUT_UINT, 8},
    {"u16", REC_LAYOUT_UINT, 16},  {"u32", REC_LAYOUT_UINT, 32},  {"u64", REC_LAYOUT_UINT, 64},
    {"i8", REC_LAYOUT_INT, 8},     {"i16", REC_LAYOUT_INT, 16},   {"i32", REC_LAYOUT_INT, 32},
    {"i64", REC_LAYOUT_INT, 64},   {"f32", REC_LAYOUT_FLOAT, 32}, {"f64", REC_LAYOUT_FLOAT, 64},
};

/* ----------------------------------------------------------------------------------------------------- writing -- */

static void put_name(lr_json_line *line, const char *name)
{
    lr_line_word(line, "`");
    for (; *name; name++) {
        const char escaped[] = {'\\', *name, '\0'};
        lr_line_word(line, *name == '`' || *name == '\\' ? escaped : escaped + 1);
    }
    lr_line_word(line, "`");
}

static void put_number(lr_json_line *line, const char *prefix, uint64_t number)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%s%" PRIu64, prefix, number);
    lr_line_word(line, text);
}

static void print(lr_json_line *line, const rec_layout *layout);

static void print_parts(lr_json_line *line, const rec_layout *layout, const char *open, const char *separator,
                        const char *close)
{
    bool tuple = layout->kind == REC_LAYOUT_TUPLE;
    lr_line_word(line, open);
    for (uint64_t i = 0; i < layout->count; i++) {
        lr_line_word(line, i ? separator : "");
        if (!tuple) {
            put_name(line, layout->names[i]);
        }
        if (layout->children[i]) {
            lr_line_word(line, tuple ? "" : ":");
            print(line, layout->children[i]);
        }
    }
    lr_line_word(line, close);
}

static void print(lr_json_line *line, const rec_layout *layout)
{
    if (layout->role == LR_ROLE_PARAMETER || layout->role == LR_ROLE_TENSOR) {
        put_number(line, layout->role == LR_ROLE_PARAMETER ? "P" : "T", layout->rank);
        lr_line_word(line, layout->elements == REC_FIELD_INTS ? "i" : layout->elements == REC_FIELD_BOOLS ? "b" : "f");
        return;
    }
    switch (layout->kind) {
    case REC_LAYOUT_OPTION:
        lr_line_word(line, rec_layout_child(layout, 0) ? "?" : "-");
        if (rec_layout_child(layout, 0)) {
            print(line, layout->children[0]);
        }
        break;
    case REC_LAYOUT_LIST:
    case REC_LAYOUT_ARRAY:
        lr_line_word(line, "[");
        print(line, layout->children[0]);
        if (layout->kind == REC_LAYOUT_ARRAY) {
            put_number(line, ";", layout->count);
        }
        lr_line_word(line, "]");
        break;
    case REC_LAYOUT_MAP:
        lr_line_word(line, "%");
        print(line, layout->children[0]);
        lr_line_word(line, ":");
        print(line, layout->children[1]);
        break;
    case REC_LAYOUT_STRUCT:
        print_parts(line, layout, "{", ",", "}");
        break;
    case REC_LAYOUT_ENUM:
        print_parts(line, layout, "<", "|", ">");
        break;
    case REC_LAYOUT_TUPLE:
        print_parts(line, layout, "(", ",", ")");
        break;
    default:
        for (size_t i = 0; i < WORDS; i++) {
            lr_line_word(line, layout->kind == words[i].kind && layout->bits == words[i].bits ? words[i].word : "");
        }
        break;
    }
}

int32_t rec_job_layout_text(rec_job *job, const char **text)
{
    lr_json_line line = {0};
    const rec_layout *item;
    if (LR_LACKS(job, job) || LR_LACKS(job, text)) {
        return lr_breach_status(job);
    }
    *text = NULL;
    item = lr_job_typed(job) ? lr_layout_item(job) : NULL;
    if (!item) {
        return job->error.status;
    }
    print(&line, item);
    if (line.used > TEXT_MOST) {
        return rec_fail(job, REC_E_LIMIT, REC_UNKNOWN,
                        "the type takes %llu bytes as text; at most %d can be appended to a record",
                        (unsigned long long)line.used, TEXT_MOST);
    }
    line.room = line.used + 1;
    line.used = 0;
    line.text = lr_job_arena_alloc(job, &job->layouts->arena, line.room, 1);
    if (line.text) {
        print(&line, item);
        line.text[line.used] = '\0';
    }
    *text = line.text;
    return job->error.status;
}

/* ----------------------------------------------------------------------------------------------------- reading -- */

enum { DEPTH_MOST = 200, ITEMS_MOST = 65536, ELEMENTS = 3 };

/* A parameter is many nodes and four characters: what is alike is made once. */
typedef struct parser {
    rec_job *job;
    const char *text;
    const char *at;
    unsigned depth;
    const rec_layout *constant, *made[WORDS], *tensors[2][ELEMENTS][LR_RANK_MOST + 1];
} parser;

static const rec_layout *parse(parser *p);

static const rec_layout *bad(parser *p, const char *expected)
{
    (void)rec_fail(p->job, REC_E_FORMAT, REC_UNKNOWN,
                   "the type that the file carries is damaged: character %u: expected %s", (unsigned)(p->at - p->text),
                   expected);
    return NULL;
}

static bool take(parser *p, const char *word)
{
    size_t length = strlen(word);
    if (strncmp(p->at, word, length) != 0) {
        return false;
    }
    p->at += length;
    return true;
}

static bool parse_number(parser *p, uint64_t *number)
{
    const char *begin = p->at;
    *number = 0;
    while (*p->at >= '0' && *p->at <= '9' && *number < UINT64_MAX / 20) {
        *number = *number * 10 + (uint64_t)(*p->at++ - '0');
    }
    return p->at != begin;
}

static const char *parse_name(parser *p)
{
    size_t length = 0, used = 0;
    char *name;
    if (!take(p, "`")) {
        (void)bad(p, "a name");
        return NULL;
    }
    for (; p->at[length] && p->at[length] != '`'; length++) {
        length += p->at[length] == '\\' && p->at[length + 1];
    }
    name = lr_job_arena_alloc(p->job, &p->job->layouts->arena, length + 1, 1);
    if (!name) {
        return NULL;
    }
    while (*p->at && *p->at != '`') {
        p->at += *p->at == '\\' && p->at[1];
        name[used++] = *p->at++;
    }
    name[used] = '\0';
    if (!take(p, "`")) {
        (void)bad(p, "the end of a name");
        return NULL;
    }
    if (lr_utf8_valid(name, used) != used) {
        (void)bad(p, "a name in UTF-8");
        return NULL;
    }
    return name;
}

/* How many parts a struct, tuple or enum has: separators at its own level. */
static uint64_t count_parts(const parser *p, char close)
{
    uint64_t count = *p->at == close ? 0 : 1;
    unsigned depth = 0;
    bool name = false;
    for (const char *at = p->at; *at; at++) {
        if (name) {
            at += *at == '\\' && at[1];
            name = *at != '`';
        } else if (*at == '`') {
            name = true;
        } else if (strchr("{(<[", *at)) {
            depth++;
        } else if (strchr("})>]", *at)) {
            if (!depth--) {
                break;
            }
        } else if (!depth && (*at == ',' || *at == '|')) {
            count++;
        }
    }
    return count;
}

static const rec_layout *parse_parts(parser *p, int32_t kind, const char *separator, const char *close)
{
    uint64_t count = count_parts(p, close[0]);
    rec_layout *layout = count <= ITEMS_MOST ? lr_layout_node(p->job, kind, count) : NULL;
    if (!layout) {
        return count > ITEMS_MOST ? bad(p, "fewer parts") : NULL;
    }
    for (uint64_t i = 0; i < count; i++) {
        const char *name = kind == REC_LAYOUT_TUPLE ? "" : parse_name(p);
        const rec_layout *child = NULL;
        if (!name) {
            return NULL;
        }
        if (kind == REC_LAYOUT_TUPLE || take(p, ":")) {
            child = parse(p);
            if (!child) {
                return NULL;
            }
        } else if (kind == REC_LAYOUT_STRUCT) {
            return bad(p, "a colon");
        }
        lr_layout_set(layout, i, name, child);
        if (i + 1 < count && !take(p, separator)) {
            return bad(p, separator);
        }
    }
    return take(p, close) ? layout : bad(p, close);
}

static const rec_layout *parse_tensor(parser *p, bool bare)
{
    static const int32_t elements[ELEMENTS] = {REC_FIELD_FLOATS, REC_FIELD_INTS, REC_FIELD_BOOLS};
    const rec_layout **made;
    uint64_t rank;
    int which;
    if (!parse_number(p, &rank) || rank > LR_RANK_MOST) {
        return bad(p, "a rank");
    }
    which = take(p, "f") ? 0 : take(p, "i") ? 1 : take(p, "b") ? 2 : ELEMENTS;
    if (which == ELEMENTS) {
        return bad(p, "f, i or b");
    }
    made = &p->tensors[bare][which][rank];
    *made = *made ? *made : lr_layout_tensor(p->job, elements[which], rank, bare);
    return *made;
}

static const rec_layout *parse_list(parser *p)
{
    const rec_layout *child = parse(p);
    rec_layout *list;
    uint64_t count = 0;
    bool array;
    if (!child) {
        return NULL;
    }
    array = take(p, ";");
    if (array && !parse_number(p, &count)) {
        return bad(p, "a length");
    }
    if (!take(p, "]")) {
        return bad(p, "]");
    }
    list = lr_layout_wrap(p->job, array ? REC_LAYOUT_ARRAY : REC_LAYOUT_LIST, child);
    if (list && array) {
        list->count = count;
    }
    return list;
}

static const rec_layout *parse_map(parser *p)
{
    rec_layout *map = lr_layout_node(p->job, REC_LAYOUT_MAP, 2);
    const rec_layout *key = map ? parse(p) : NULL;
    const rec_layout *value;
    if (!key) {
        return NULL;
    }
    if (!take(p, ":")) {
        return bad(p, "a colon");
    }
    value = parse(p);
    if (!value) {
        return NULL;
    }
    lr_layout_set(map, 0, "", key);
    lr_layout_set(map, 1, "", value);
    map->role = key->kind == REC_LAYOUT_ID ? LR_ROLE_IDS : LR_ROLE_NONE;
    return map;
}

static const rec_layout *parse_word(parser *p)
{
    for (size_t i = 0; i < WORDS; i++) {
        if (take(p, words[i].word)) {
            p->made[i] = p->made[i] ? p->made[i] : lr_layout_number(p->job, words[i].kind, words[i].bits);
            return p->made[i];
        }
    }
    return bad(p, "a type");
}

static const rec_layout *parse(parser *p)
{
    const rec_layout *layout;
    if (p->depth++ == DEPTH_MOST) {
        return bad(p, "less nesting");
    }
    if (take(p, "-")) {
        layout = p->constant = p->constant ? p->constant : lr_layout_constant(p->job);
    } else if (take(p, "?")) {
        const rec_layout *child = parse(p);
        layout = child ? lr_layout_wrap(p->job, REC_LAYOUT_OPTION, child) : NULL;
    } else if (take(p, "[")) {
        layout = parse_list(p);
    } else if (take(p, "(")) {
        layout = parse_parts(p, REC_LAYOUT_TUPLE, ",", ")");
    } else if (take(p, "{")) {
        layout = parse_parts(p, REC_LAYOUT_STRUCT, ",", "}");
    } else if (take(p, "<")) {
        layout = parse_parts(p, REC_LAYOUT_ENUM, "|", ">");
    } else if (take(p, "%")) {
        layout = parse_map(p);
    } else if (take(p, "P")) {
        layout = parse_tensor(p, false);
    } else if (take(p, "T")) {
        layout = parse_tensor(p, true);
    } else {
        layout = parse_word(p);
    }
    p->depth--;
    return layout;
}

static const rec_layout *of_ref(rec_job *job, const lr_type_ref *type)
{
    parser p = {.job = job, .text = type->what, .at = type->what};
    const rec_layout *layout = parse(&p);
    return layout && *p.at ? bad(&p, "the end") : layout;
}

int32_t rec_job_use_layout_text(rec_job *job, const char *text, uint64_t length)
{
    if (LR_LACKS(job, job) || LR_LACKS(job, text)) {
        return lr_breach_status(job);
    }
    if (length > PTRDIFF_MAX) {
        return lr_breach(job, REC_UNKNOWN, "gave the text of a layout of %llu bytes", (unsigned long long)length);
    }
    if (!lr_job_failed(job) && length > TEXT_MOST) {
        return rec_fail(job, REC_E_LIMIT, REC_UNKNOWN,
                        "the type that the file carries has %llu bytes; at most %d are read",
                        (unsigned long long)length, TEXT_MOST);
    }
    if (!lr_job_failed(job) && !lr_job_typed(job) && lr_layouts_begin(job)) {
        const char *kept = lr_arena_text(&job->layouts->arena, text, length);
        if (!kept) {
            return lr_fail_memory(job, length);
        }
        job->type = job->layouts->type = (lr_type_ref){.layout = of_ref, .what = kept};
    }
    return job->error.status;
}
