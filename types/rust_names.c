/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The names of a Rust file: a table of them, and what `use` makes of them. */

#include "types/rust_parse_private.h"

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
