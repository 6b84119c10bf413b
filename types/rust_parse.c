/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What the parts of the parser share: its memory, its depth, the parameters of the definition in hand, and the names of
 * a file: a table of them, and what `use` makes of them. */

#include "types/rust_parse_private.h"

static void *out_of_memory(lr_rust_parser *parser, size_t size)
{
    (void)lr_fail_memory(parser->job, size);
    parser->lexer.next = parser->lexer.end;
    lr_rust_next(&parser->lexer);
    return NULL;
}

/* Counts one thing more. @return false: failed. */
static bool count_kept(lr_rust_parser *parser)
{
    if (!lr_job_failed(parser->job) && ++parser->kept > LR_RUST_KEPT_MOST) {
        (void)lr_rust_fail(&parser->lexer, REC_E_LIMIT, NULL, 0, "more than %d types, fields and names",
                           LR_RUST_KEPT_MOST);
    }
    return !lr_job_failed(parser->job);
}

void *lr_rust_keep(lr_rust_parser *parser, lr_arena *arena, size_t size)
{
    void *memory = count_kept(parser) ? lr_arena_alloc(arena, size, sizeof(void *)) : NULL;
    return memory || lr_job_failed(parser->job) ? memory : out_of_memory(parser, size);
}

bool lr_rust_grow(lr_rust_parser *parser, void *array, uint64_t need, uint64_t *room, size_t each)
{
    return count_kept(parser) && (lr_arena_grow(parser->arena, array, need, room, each) || out_of_memory(parser, each));
}

const char *lr_rust_copy(lr_rust_parser *parser, const char *text, size_t length)
{
    const char *copy = lr_arena_text(parser->arena, text, length);
    return copy ? copy : out_of_memory(parser, length + 1);
}

bool lr_rust_enter(lr_rust_parser *parser)
{
    if (parser->depth == LR_RUST_DEPTH_MOST) {
        return LR_AS_FALSE(
            lr_rust_fail(&parser->lexer, REC_E_LIMIT, NULL, 0, "nested deeper than %d levels", LR_RUST_DEPTH_MOST));
    }
    parser->depth++;
    return true;
}

void lr_rust_leave(lr_rust_parser *parser)
{
    parser->depth--;
}

void lr_rust_path_add(lr_rust_path *path, const char *name, size_t length)
{
    size_t gap = path->length ? 2 : 0;
    if (path->length + gap + length >= sizeof path->text) {
        path->whole = false;
        return;
    }
    memcpy(path->text + path->length, "::", gap);
    memcpy(path->text + path->length + gap, name, length);
    path->parent = path->length;
    path->length += gap + length;
}

uint64_t lr_rust_generic(const lr_rust_parser *parser, const char *name, size_t length)
{
    for (uint64_t i = 0; parser->generics && i < parser->generics->count; i++) {
        if (lr_text_is(name, length, parser->generics->at[i].name)) {
            return i;
        }
    }
    return UINT64_MAX;
}

/* ----------------------------------------------------------------------------------------------- names of a file -- */

/* A bound that keeps hostile source in proportion; real files have some 30 imports. */
enum { BUCKETS = 4096, IMPORTS_MOST = 1 << 14 };

typedef struct name {
    struct name *next;
    uint64_t scope;
    const char *text;
    size_t length;
    void *value;
} name;

struct lr_rust_names {
    name *buckets[BUCKETS];
    uint64_t imports;
};

/* --------------------------------------------------------------------------------------------------- the table -- */

static uint64_t bucket_of(uint64_t scope, const char *text, size_t length)
{
    return (lr_key_hash(text, length) ^ lr_key_hash(&scope, sizeof scope)) % BUCKETS;
}

lr_rust_names *lr_rust_names_new(lr_rust_parser *parser)
{
    lr_rust_names *names = lr_rust_keep(parser, parser->scratch, sizeof *names);
    if (names) {
        memset(names, 0, sizeof *names);
    }
    return names;
}

static name *find(const lr_rust_names *names, uint64_t bucket, uint64_t scope, const char *text, size_t length)
{
    for (name *n = names->buckets[bucket]; n; n = n->next) {
        if (n->scope == scope && n->length == length && memcmp(n->text, text, length) == 0) {
            return n;
        }
    }
    return NULL;
}

void **lr_rust_slot(lr_rust_parser *parser, uint64_t scope, const char *text, size_t length)
{
    uint64_t bucket = bucket_of(scope, text, length);
    name *n = find(parser->names, bucket, scope, text, length);
    if (!n) {
        n = lr_rust_keep(parser, parser->scratch, sizeof *n);
        if (!n) {
            return NULL;
        }
        *n = (name){.next = parser->names->buckets[bucket], .scope = scope, .text = text, .length = length};
        parser->names->buckets[bucket] = n;
    }
    return &n->value;
}

void *lr_rust_look(const lr_rust_names *names, uint64_t scope, const char *text, size_t length)
{
    const name *n = find(names, bucket_of(scope, text, length), scope, text, length);
    return n ? n->value : NULL;
}

/* ----------------------------------------------------------------------------------------------------- imports -- */

/* `local` now stands for the last part of `from`. */
static void import(lr_rust_parser *parser, const lr_rust_path *from, const char *local, size_t length, int32_t cfg)
{
    size_t start = from->parent ? from->parent + 2 : 0;
    lr_rust_import *entry;
    void **slot;
    if (!from->whole || from->length == start || lr_text_is(local, length, "_")) {
        return;
    }
    slot = lr_rust_slot(parser, LR_SCOPE_IMPORTS, local, length);
    if (!slot) {
        return;
    }
    entry = *slot;
    if (entry && entry->cfg >= cfg) {
        return; /* of two by configuration the likelier, else the first */
    }
    if (++parser->names->imports > IMPORTS_MOST) {
        (void)lr_rust_fail(&parser->lexer, REC_E_LIMIT, NULL, 0, "more than %d imports in one file", IMPORTS_MOST);
        return;
    }
    entry = lr_rust_keep(parser, parser->scratch, sizeof *entry);
    if (!entry) {
        return;
    }
    entry->path = lr_rust_copy(parser, from->text, from->parent);
    entry->name = lr_rust_copy(parser, from->text + start, from->length - start);
    entry->cfg = cfg;
    *slot = entry->path && entry->name ? entry : NULL;
}

/* @param at the path that the tree stands in. */
static void use_tree(lr_rust_parser *parser, lr_rust_path at, int32_t cfg)
{
    lr_rust_lexer *lexer = &parser->lexer;
    lr_rust_token last = {.kind = LR_RUST_END};
    if (!lr_rust_enter(parser)) {
        return;
    }
    (void)lr_rust_take(lexer, "::");
    while (lr_rust_is_name(lexer)) {
        last = lexer->token;
        lr_rust_next(lexer);
        if (!lr_text_is(last.text, last.length, "self") || !at.length) {
            lr_rust_path_add(&at, last.text, last.length);
        } else { /* `path::{self}`: the path itself */
            last.text = at.text + (at.parent ? at.parent + 2 : 0);
            last.length = at.length - (size_t)(last.text - at.text);
        }
        if (!lr_rust_take(lexer, "::")) {
            if (lr_rust_take(lexer, "as")) {
                last = lexer->token;
                if (!lr_rust_is_name(lexer)) {
                    (void)lr_rust_expected(lexer, "a name after `as`");
                }
                lr_rust_next(lexer);
            }
            /* `at` is freed with this frame: the table needs the name from the source. */
            if (last.text >= at.text && last.text < at.text + sizeof at.text) {
                last.text = lr_rust_copy(parser, last.text, last.length);
            }
            if (last.text) {
                import(parser, &at, last.text, last.length, cfg);
            }
            lr_rust_leave(parser);
            return;
        }
    }
    if (lr_rust_take(lexer, "{")) {
        while (lexer->token.kind != LR_RUST_END && !lr_rust_is(lexer, "}")) {
            use_tree(parser, at, cfg);
            if (!lr_rust_take(lexer, ",")) {
                break;
            }
        }
        (void)lr_rust_need(lexer, "}", "after the imported names");
    } else if (!lr_rust_take(lexer, "*")) {
        (void)lr_rust_expected(lexer, "a name, `{` or `*` in the import");
    }
    lr_rust_leave(parser);
}

void lr_rust_use(lr_rust_parser *parser, int32_t cfg)
{
    use_tree(parser, (lr_rust_path){.whole = true}, cfg);
    (void)lr_rust_need(&parser->lexer, ";", "after the import");
}
