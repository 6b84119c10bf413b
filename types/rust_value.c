/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Evaluates constant expressions: lengths of arrays and constant arguments. Anything beyond integer arithmetic has no
 * known value. This is no error until the value is needed. */

#include "types/rust_parse_private.h"

typedef struct value {
    bool known;
    uint64_t number;
} value;

static value sum(lr_rust_parser *parser, int least);

/* ---------------------------------------------------------------------------------------------------- operands -- */

/* `NAME`, `module::NAME`. A type's constant (`usize::MAX`, `Self::N`) is not looked for. */
static value named(lr_rust_parser *parser)
{
    lr_rust_lexer *lexer = &parser->lexer;
    lr_rust_token last = lexer->token;
    value v = {0};
    bool modules = true;
    lr_rust_next(lexer);
    while (lr_rust_is(lexer, "::")) {
        modules = modules && *last.text >= 'a' && *last.text <= 'z';
        lr_rust_next(lexer);
        if (!lr_rust_is_name(lexer)) {
            return v;
        }
        last = lexer->token;
        lr_rust_next(lexer);
    }
    v.known = modules && lr_rust_named_value(parser, last.text, last.length, &v.number);
    return v;
}

static value bracketed(lr_rust_parser *parser, const char *closing)
{
    value v = {0};
    if (parser->depth < LR_RUST_DEPTH_MOST) {
        parser->depth++;
        lr_rust_next(&parser->lexer);
        v = sum(parser, 0);
        if (!lr_rust_is(&parser->lexer, closing)) {
            v.known = false;
            lr_rust_skip_until(&parser->lexer, closing);
        }
        (void)lr_rust_take(&parser->lexer, closing);
        parser->depth--;
    }
    return v;
}

static value operand(lr_rust_parser *parser)
{
    lr_rust_lexer *lexer = &parser->lexer;
    value v = {0};
    if (lexer->token.kind == LR_RUST_NUMBER) {
        v.known = lr_rust_integer(&lexer->token, &v.number);
        lr_rust_next(lexer);
    } else if (lr_rust_is(lexer, "(")) {
        v = bracketed(parser, ")");
    } else if (lr_rust_is(lexer, "{")) {
        v = bracketed(parser, "}");
    } else if (lr_rust_is_name(lexer)) {
        v = named(parser);
    }
    while (lr_rust_take(lexer, "as")) {
        while (lr_rust_is_name(lexer)) {
            lr_rust_next(lexer);
            (void)lr_rust_take(lexer, "::");
        }
    }
    return v;
}

/* -------------------------------------------------------------------------------------------------- operations -- */

/* The operator at the current token and its precedence; '\0' for other tokens. `<<` and `>>` are two tokens. */
static char operator_at(const lr_rust_lexer *lexer, int *strength)
{
    static const char signs[] = "|^&<>+-*/%";
    static const int strengths[] = {0, 1, 2, 3, 3, 4, 4, 5, 5, 5};
    const lr_rust_token *token = &lexer->token;
    const char *at = token->length == 1 ? memchr(signs, *token->text, sizeof signs - 1) : NULL;
    if (!at || token->kind != LR_RUST_SIGN) {
        return '\0';
    }
    if ((*at == '<' || *at == '>') && (lexer->next == lexer->end || *lexer->next != *at)) {
        return '\0';
    }
    *strength = strengths[at - signs];
    return *at;
}

static value apply(char sign, value a, value b)
{
    value v = {.known = a.known && b.known};
    if (!v.known) {
        return v;
    }
    switch (sign) {
    case '+':
        v.known = lr_add(a.number, b.number, &v.number);
        break;
    case '-':
        v.known = a.number >= b.number;
        v.number = a.number - b.number;
        break;
    case '*':
        v.known = lr_mul(a.number, b.number, &v.number);
        break;
    case '/':
    case '%':
        v.known = b.number != 0;
        v.number = !v.known ? 0 : sign == '/' ? a.number / b.number : a.number % b.number;
        break;
    case '<':
        v.known = b.number < 64 && a.number << b.number >> b.number == a.number;
        v.number = v.known ? a.number << b.number : 0;
        break;
    case '>':
        v.known = b.number < 64;
        v.number = v.known ? a.number >> b.number : 0;
        break;
    default:
        v.number = sign == '&' ? a.number & b.number : sign == '|' ? a.number | b.number : a.number ^ b.number;
        break;
    }
    return v;
}

/* Operations that bind at least so strongly; those of one strength from left to right. */
static value sum(lr_rust_parser *parser, int least)
{
    lr_rust_lexer *lexer = &parser->lexer;
    value v = operand(parser);
    for (;;) {
        int strength = 0;
        char sign = operator_at(lexer, &strength);
        if (!sign || strength < least) {
            return v;
        }
        lr_rust_next(lexer);
        if (sign == '<' || sign == '>') {
            lr_rust_next(lexer);
        }
        v = apply(sign, v, sum(parser, strength + 1));
    }
}

bool lr_rust_value(lr_rust_parser *parser, const char *closing, uint64_t *number)
{
    value v = sum(parser, 0);
    if (!lr_rust_is(&parser->lexer, closing)) {
        v.known = false;
        lr_rust_skip_until(&parser->lexer, closing);
    }
    *number = v.number;
    return v.known;
}

/* --------------------------------------------------------------------------------------------------- constants -- */

static bool evaluate(lr_rust_parser *parser, lr_rust_constant *constant)
{
    lr_rust_lexer here = parser->lexer;
    const lr_rust_generics *generics = parser->generics;
    if (constant->state == 0 && parser->depth < LR_RUST_DEPTH_MOST) {
        constant->state = 1; /* a use in the meantime is a circular definition */
        parser->depth++;
        parser->lexer = constant->at;
        parser->generics = NULL;
        constant->state = lr_rust_value(parser, ";", &constant->value) ? 2 : 3;
        parser->generics = generics;
        parser->lexer = here;
        parser->depth--;
    }
    return constant->state == 2;
}

bool lr_rust_named_value(lr_rust_parser *parser, const char *name, size_t length, uint64_t *number)
{
    char text[256];
    const lr_def *def;
    lr_rust_constant *constant;
    if (!parser->names || lr_rust_generic(parser, name, length) != UINT64_MAX) {
        return false;
    }
    constant = lr_rust_look(parser->names, LR_SCOPE_CONSTANTS, name, length);
    if (constant) {
        bool known = evaluate(parser, constant);
        *number = constant->value;
        return known;
    }
    if (length >= sizeof text) {
        return false;
    }
    memcpy(text, name, length);
    text[length] = '\0';
    def = lr_types_find(parser->types, text, 0);
    if (!def || def->kind != LR_DEF_ALIAS || def->fields[0].type->kind != LR_EXPR_NUMBER) {
        return false;
    }
    *number = def->fields[0].type->number;
    return true;
}
