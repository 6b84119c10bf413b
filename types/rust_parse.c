/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What the parts of the parser share: its memory, its depth, and the parameters of the definition in hand. */
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
