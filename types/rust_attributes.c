/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Attributes of Rust source: derive(Module), derive(Record), module(skip) and cfg count, all others are passed over. */

#include "types/rust_parse_private.h"

/* The predicate of a cfg. Features are taken for chosen, tests for not compiled; the rest is likely. */
static int32_t predicate(lr_rust_parser *parser)
{
    lr_rust_lexer *lexer = &parser->lexer;
    lr_rust_token name = lexer->token;
    int32_t cfg = LR_CFG_LIKELY;
    bool all, any;
    if (name.kind != LR_RUST_NAME) {
        (void)lr_rust_expected(lexer, "a condition in the cfg attribute");
        return cfg;
    }
    lr_rust_next(lexer);
    if (lr_rust_take(lexer, "=")) {
        lr_rust_next(lexer);
        return cfg;
    }
    all = lr_text_is(name.text, name.length, "all");
    any = lr_text_is(name.text, name.length, "any");
    if ((all || any || lr_text_is(name.text, name.length, "not")) && lr_rust_is(lexer, "(")) {
        if (!lr_rust_enter(parser)) {
            return cfg;
        }
        lr_rust_next(lexer);
        cfg = all ? LR_CFG_YES : LR_CFG_NO;
        while (lexer->token.kind != LR_RUST_END && !lr_rust_is(lexer, ")")) {
            int32_t part = predicate(parser);
            if (all ? part < cfg : part > cfg) {
                cfg = part;
            }
            if (!lr_rust_take(lexer, ",")) {
                break;
            }
        }
        (void)lr_rust_need(lexer, ")", "after the conditions of the cfg attribute");
        lr_rust_leave(parser);
        return all || any ? cfg : LR_CFG_YES - cfg;
    }
    if (lr_rust_is(lexer, "(")) {
        lr_rust_skip(lexer);
    }
    if (lr_text_is(name.text, name.length, "test") || lr_text_is(name.text, name.length, "false")) {
        return LR_CFG_NO;
    }
    return lr_text_is(name.text, name.length, "true") ? LR_CFG_YES : cfg;
}

static void derive(lr_rust_lexer *lexer, lr_rust_attributes *to)
{
    while (lexer->token.kind != LR_RUST_END && !lr_rust_is(lexer, ")")) {
        lr_rust_token last = lexer->token; /* of a path, the last part */
        lr_rust_next(lexer);
        if (lr_rust_is(lexer, ",") || lr_rust_is(lexer, ")")) {
            if (lr_text_is(last.text, last.length, "Module")) {
                to->derive = LR_DERIVE_MODULE;
            } else if (lr_text_is(last.text, last.length, "Record") && to->derive == LR_DERIVE_NONE) {
                to->derive = LR_DERIVE_RECORD;
            }
        }
    }
}

static void module(lr_rust_lexer *lexer, lr_rust_attributes *to)
{
    while (lexer->token.kind != LR_RUST_END && !lr_rust_is(lexer, ")")) {
        to->skip = to->skip || lr_rust_is(lexer, "skip");
        lr_rust_skip(lexer);
    }
}

/* Parses the text between `[` and `]`, or after a condition. */
static void content(lr_rust_parser *parser, lr_rust_attributes *to)
{
    lr_rust_lexer *lexer = &parser->lexer;
    lr_rust_token name = lexer->token;
    lr_rust_lexer after = *lexer;
    lr_rust_next(&after);
    if (name.kind != LR_RUST_NAME || !lr_rust_is(&after, "(") || !lr_rust_enter(parser)) {
        return;
    }
    *lexer = after;
    lr_rust_next(lexer);
    if (lr_text_is(name.text, name.length, "derive")) {
        derive(lexer, to);
    } else if (lr_text_is(name.text, name.length, "module")) {
        module(lexer, to);
    } else if (lr_text_is(name.text, name.length, "cfg")) {
        int32_t cfg = predicate(parser);
        to->cfg = cfg < to->cfg ? cfg : to->cfg;
        (void)lr_rust_take(lexer, ",");
    } else if (lr_text_is(name.text, name.length, "cfg_attr")) {
        lr_rust_attributes no = {.cfg = LR_CFG_YES};
        lr_rust_attributes *then = predicate(parser) >= LR_CFG_LIKELY ? to : &no;
        while (lr_rust_take(lexer, ",") && !lr_rust_is(lexer, ")")) {
            content(parser, then);
            lr_rust_skip_until(lexer, ",");
        }
    } else {
        lr_rust_skip_until(lexer, ")");
    }
    (void)lr_rust_need(lexer, ")", "in the attribute");
    lr_rust_leave(parser);
}

lr_rust_attributes lr_rust_attributes_read(lr_rust_parser *parser, int32_t cfg)
{
    lr_rust_lexer *lexer = &parser->lexer;
    lr_rust_attributes attributes = {.cfg = cfg}, inner = {.cfg = LR_CFG_YES};
    while (lr_rust_take(lexer, "#")) {
        lr_rust_attributes *to = lr_rust_take(lexer, "!") ? &inner : &attributes;
        if (!lr_rust_need(lexer, "[", "after the `#` of an attribute")) {
            break;
        }
        content(parser, to);
        lr_rust_skip_until(lexer, "]");
        if (!lr_rust_need(lexer, "]", "after the attribute")) {
            break;
        }
    }
    return attributes;
}
