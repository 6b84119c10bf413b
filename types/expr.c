/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Type expressions in Rust's grammar: read, and written in their plain form. */
#include <inttypes.h>
#include <stdio.h>

#include "types/rust_parse_private.h"

static const lr_expr muted = {.kind = LR_EXPR_TUPLE};

/* ------------------------------------------------------------------------------------------------------- nodes -- */

void lr_rust_append(lr_rust_parser *parser, lr_rust_list *to, const lr_expr *expr)
{
    if (expr && !parser->mute && lr_rust_grow(parser, &to->at, to->count + 1, &to->room, sizeof *to->at)) {
        to->at[to->count++] = expr;
    }
}

const lr_expr *lr_rust_node(lr_rust_parser *parser, lr_expr values, const lr_rust_list *args)
{
    lr_expr *expr;
    if (parser->mute) {
        return lr_job_failed(parser->job) ? NULL : &muted;
    }
    expr = lr_rust_keep(parser, parser->arena, sizeof *expr);
    if (expr) {
        *expr = values;
        expr->count = args ? args->count : 0;
        expr->args = args ? args->at : NULL;
    }
    return expr;
}

static const lr_expr *number_node(lr_rust_parser *parser, uint64_t number)
{
    return lr_rust_node(parser, (lr_expr){.kind = LR_EXPR_NUMBER, .number = number}, NULL);
}

/* Returns the text since `start` as a NAME: without comments, with single spaces. */
static const lr_expr *text_node(lr_rust_parser *parser, const char *start)
{
    lr_rust_lexer again = parser->lexer;
    char *text;
    size_t used = 0;
    if (lr_job_failed(parser->job)) {
        return NULL;
    }
    if (parser->mute) {
        return &muted;
    }
    if (parser->lexer.last <= start) { /* nothing was taken: `[u8; ` */
        return LR_AS_NULL(lr_rust_expected(&parser->lexer, "a type or a constant"));
    }
    text = lr_rust_keep(parser, parser->arena, (size_t)(parser->lexer.last - start) + 1);
    if (!text) {
        return NULL;
    }
    again.next = start;
    again.end = parser->lexer.last;
    for (lr_rust_next(&again); again.token.kind != LR_RUST_END; lr_rust_next(&again)) {
        size_t length = (size_t)(again.next - again.token.start);
        if (used && again.token.spaced) {
            text[used++] = ' ';
        }
        memcpy(text + used, again.token.start, length);
        used += length;
    }
    text[used] = '\0';
    return lr_rust_node(parser, (lr_expr){.kind = LR_EXPR_NAME, .name = text}, NULL);
}

/* ------------------------------------------------------------------------------------------------------- paths -- */

/** `a::b::Name<args>` from the source. */
typedef struct path {
    lr_rust_path before; /**< "a::b" */
    lr_rust_token name;
    lr_rust_list args;
    bool text; /**< it has a form that only its text can tell: `Fn(A) -> B`, `name!(…)` */
} path;

/* The first part of a path, if it is imported, stands for what it was imported from. */
static const lr_rust_import *imported(const lr_rust_parser *parser, const lr_rust_token *part)
{
    if (!parser->names || lr_rust_generic(parser, part->text, part->length) != UINT64_MAX) {
        return NULL;
    }
    return lr_rust_look(parser->names, LR_SCOPE_IMPORTS, part->text, part->length);
}

static void read_arguments(lr_rust_parser *parser, lr_rust_list *args)
{
    lr_rust_lexer *lexer = &parser->lexer;
    lr_rust_next(lexer);
    while (lexer->token.kind != LR_RUST_END && !lr_rust_is(lexer, ">")) {
        if (lexer->token.kind == LR_RUST_LIFETIME) {
            lr_rust_next(lexer);
            if (lr_rust_take(lexer, ":")) { /* in `for<'a: 'b>` */
                (void)lr_rust_skip_bounds(parser);
            }
        } else {
            const lr_expr *argument = lr_rust_argument(parser);
            if (lr_rust_take(lexer, "=")) { /* `Item = T` names a type inside a trait: no argument */
                parser->mute++;
                (void)lr_rust_argument(parser);
                parser->mute--;
            } else if (lr_rust_take(lexer, ":")) {
                (void)lr_rust_skip_bounds(parser);
            } else {
                lr_rust_append(parser, args, argument);
            }
        }
        if (!lr_rust_take(lexer, ",")) {
            break;
        }
    }
    (void)lr_rust_need(lexer, ">", "after the generic arguments");
}

/* `Fn(A, B) -> C`: at the `(`. */
static void read_signature(lr_rust_parser *parser)
{
    lr_rust_skip(&parser->lexer);
    if (lr_rust_take(&parser->lexer, "->")) {
        (void)lr_rust_skip_type(parser);
    }
}

/* Only these take arguments in parentheses: `where T: Clone (T)` is a tuple struct after a where clause. */
static bool is_function_trait(const lr_rust_token *name)
{
    return (name->length >= 2 && memcmp(name->text, "Fn", 2) == 0) ||
           (name->length >= 7 && memcmp(name->text, "AsyncFn", 7) == 0);
}

/* Reads from the first name on. @return false: failed. */
static bool read_path(lr_rust_parser *parser, path *p, bool first)
{
    lr_rust_lexer *lexer = &parser->lexer;
    p->before.whole = true;
    for (;;) {
        if (!lr_rust_is_name(lexer)) {
            return LR_AS_FALSE(lr_rust_expected(lexer, first ? "a type" : "a name after `::`"));
        }
        p->name = lexer->token;
        p->args = (lr_rust_list){0};
        lr_rust_next(lexer);
        if (lr_rust_is(lexer, "::")) {
            lr_rust_lexer after = *lexer;
            lr_rust_next(&after);
            if (lr_rust_is(&after, "<") || lr_rust_is(&after, "(")) {
                *lexer = after;
            }
        }
        if (lr_rust_is(lexer, "<")) {
            read_arguments(parser, &p->args);
        } else if (lr_rust_is(lexer, "(") && is_function_trait(&p->name)) {
            p->text = true;
            read_signature(parser);
        } else if (lr_rust_is(lexer, "!")) {
            p->text = true;
            lr_rust_next(lexer);
            if (!lr_rust_skip_macro(lexer)) {
                return false;
            }
        }
        if (!lr_rust_is(lexer, "::")) {
            return !lr_job_failed(parser->job);
        }
        if (first) {
            const lr_rust_import *import = imported(parser, &p->name);
            if (import && *import->path) {
                lr_rust_path_add(&p->before, import->path, strlen(import->path));
            }
            lr_rust_path_add(&p->before, import ? import->name : p->name.text,
                             import ? strlen(import->name) : p->name.length);
            first = false;
        } else {
            lr_rust_path_add(&p->before, p->name.text, p->name.length);
        }
        lr_rust_next(lexer);
    }
}

/* Whether a name is one that rec_record_describe() was not sure of. */
static bool is_unsure(const lr_rust_lexer *lexer, const lr_rust_token *name)
{
    const char *at = name->text + name->length;
    size_t length = strlen(LR_UNSURE_SIGN);
    at += at < lexer->end && *at == ' ';
    return (size_t)(lexer->end - at) >= length && memcmp(at, LR_UNSURE_SIGN, length) == 0;
}

/* @param self of `<T as Trait>::Name`, else NULL. @param start where the type began. */
static const lr_expr *path_type(lr_rust_parser *parser, const lr_expr *self, const char *start)
{
    lr_rust_lexer *lexer = &parser->lexer;
    path p = {.text = false};
    lr_rust_list args = {0};
    lr_expr expr = {.kind = LR_EXPR_NAME};
    if (!read_path(parser, &p, !self)) {
        return NULL;
    }
    if (lr_rust_is(lexer, "+")) { /* a trait object as Rust 2015 had it */
        lr_rust_next(lexer);
        (void)lr_rust_skip_bounds(parser);
        p.text = true;
    }
    if (p.text) {
        return text_node(parser, start);
    }
    if (parser->mute) {
        return lr_rust_node(parser, expr, NULL);
    }
    if (!p.before.length && !self) {
        const lr_rust_import *import = imported(parser, &p.name);
        if (import) {
            expr.name = import->name;
            expr.path = *import->path ? import->path : NULL;
        }
    }
    if (!expr.name) {
        expr.name = lr_rust_copy(parser, p.name.text, p.name.length);
    }
    expr.unsure = is_unsure(lexer, &p.name);
    if (p.before.length && p.before.whole) {
        expr.path = lr_rust_copy(parser, p.before.text, p.before.length);
    }
    if (self) {
        lr_rust_append(parser, &args, self);
        for (uint64_t i = 0; i < p.args.count; i++) {
            lr_rust_append(parser, &args, p.args.at[i]);
        }
        return lr_rust_node(parser, expr, &args);
    }
    return lr_rust_node(parser, expr, &p.args);
}

/* `<T as Trait>::Name` */
static const lr_expr *self_type(lr_rust_parser *parser, const char *start)
{
    lr_rust_lexer *lexer = &parser->lexer;
    const lr_expr *self;
    lr_rust_next(lexer);
    self = lr_rust_type(parser);
    if (self && lr_rust_take(lexer, "as")) {
        parser->mute++;
        (void)lr_rust_type(parser);
        parser->mute--;
    }
    if (!self || !lr_rust_need(lexer, ">", "after the type whose item this is") ||
        !lr_rust_need(lexer, "::", "after `<…>`")) {
        return NULL;
    }
    return path_type(parser, self, start);
}

/* ------------------------------------------------------------------------------------------------------ bounds -- */

/* `for<'a, 'b>` */
static void skip_binder(lr_rust_parser *parser)
{
    if (lr_rust_take(&parser->lexer, "for")) {
        if (lr_rust_is(&parser->lexer, "<")) {
            lr_rust_list none = {0};
            parser->mute++;
            read_arguments(parser, &none);
            parser->mute--;
        } else {
            (void)lr_rust_expected(&parser->lexer, "`<` after `for`");
        }
    }
}

static bool skip_bound(lr_rust_parser *parser)
{
    lr_rust_lexer *lexer = &parser->lexer;
    path p = {.text = false};
    bool ok;
    if (lexer->token.kind == LR_RUST_LIFETIME) {
        lr_rust_next(lexer);
        return true;
    }
    if (!lr_rust_enter(parser)) {
        return false;
    }
    if (lr_rust_take(lexer, "(")) {
        ok = skip_bound(parser) && lr_rust_need(lexer, ")", "after the bound");
    } else if (lr_rust_take(lexer, "use")) { /* `use<'a, T>` says what is captured */
        lr_rust_list none = {0};
        ok = lr_rust_is(lexer, "<");
        if (ok) {
            read_arguments(parser, &none);
        } else {
            (void)lr_rust_expected(lexer, "`<` after `use`");
        }
    } else {
        while (lr_rust_take(lexer, "?") || lr_rust_take(lexer, "~") || lr_rust_take(lexer, "const") ||
               lr_rust_take(lexer, "async")) {
        }
        skip_binder(parser);
        (void)lr_rust_take(lexer, "::");
        ok = read_path(parser, &p, true);
    }
    lr_rust_leave(parser);
    return ok;
}

bool lr_rust_skip_bounds(lr_rust_parser *parser)
{
    lr_rust_lexer *lexer = &parser->lexer;
    bool ok = true;
    parser->mute++;
    while (ok &&
           (lexer->token.kind == LR_RUST_LIFETIME || lr_rust_is_name(lexer) || lr_rust_is(lexer, "?") ||
            lr_rust_is(lexer, "~") || lr_rust_is(lexer, "for") || lr_rust_is(lexer, "(") || lr_rust_is(lexer, "::") ||
            lr_rust_is(lexer, "const") || lr_rust_is(lexer, "async") || lr_rust_is(lexer, "use"))) {
        ok = skip_bound(parser) && lr_rust_take(lexer, "+");
    }
    parser->mute--;
    return !lr_job_failed(parser->job);
}

/* ------------------------------------------------------------------------------------------------------- types -- */

/* `(A, B)`, `(A,)`, `()`, or a type in parentheses. */
static const lr_expr *tuple_type(lr_rust_parser *parser)
{
    lr_rust_lexer *lexer = &parser->lexer;
    const lr_expr *element = NULL;
    lr_rust_list elements = {0};
    bool tuple = true;
    lr_rust_next(lexer);
    while (lexer->token.kind != LR_RUST_END && !lr_rust_is(lexer, ")")) {
        element = lr_rust_type(parser);
        lr_rust_append(parser, &elements, element);
        if (!element || !lr_rust_take(lexer, ",")) {
            tuple = elements.count > 1;
            break;
        }
    }
    if (!lr_rust_need(lexer, ")", "after the types of the tuple")) {
        return NULL;
    }
    return tuple ? lr_rust_node(parser, (lr_expr){.kind = LR_EXPR_TUPLE}, &elements) : element;
}

/* A constant up to `closing`: a NUMBER, or a NAME if it has no value yet. */
static const lr_expr *constant(lr_rust_parser *parser, const char *closing)
{
    const char *start = parser->lexer.token.start;
    uint64_t number;
    if (lr_rust_is(&parser->lexer, closing)) {
        return LR_AS_NULL(lr_rust_expected(&parser->lexer, "a number or the name of a constant"));
    }
    return lr_rust_value(parser, closing, &number) ? number_node(parser, number) : text_node(parser, start);
}

/* `[T; N]`; `[T]` holds no data of its own. */
static const lr_expr *array_type(lr_rust_parser *parser, const char *start)
{
    lr_rust_lexer *lexer = &parser->lexer;
    lr_expr expr = {.kind = LR_EXPR_ARRAY, .number = LR_LENGTH_UNKNOWN};
    const lr_expr *element, *length;
    lr_rust_list args = {0};
    lr_rust_next(lexer);
    element = lr_rust_type(parser);
    if (!element) {
        return NULL;
    }
    if (lr_rust_take(lexer, "]")) {
        return text_node(parser, start);
    }
    if (!lr_rust_need(lexer, ";", "or `]` after the type of the elements")) {
        return NULL;
    }
    length = constant(parser, "]");
    if (!length || !lr_rust_need(lexer, "]", "after the length of the array")) {
        return NULL;
    }
    lr_rust_append(parser, &args, element);
    if (length->kind == LR_EXPR_NUMBER) {
        expr.number = length->number;
    } else if (!parser->mute) {
        uint64_t index = lr_rust_generic(parser, length->name, strlen(length->name));
        const lr_expr *initial = index == UINT64_MAX ? NULL : parser->generics->at[index].initial;
        lr_rust_append(parser, &args, length);
        if (initial && initial->kind == LR_EXPR_NUMBER) {
            expr.number = initial->number;
        }
    }
    return lr_rust_node(parser, expr, &args);
}

/* `&'a mut T`, `*const T`: at the sign. */
static const lr_expr *pointer_type(lr_rust_parser *parser, const char *start)
{
    lr_rust_lexer *lexer = &parser->lexer;
    bool reference = lr_rust_is(lexer, "&");
    lr_rust_next(lexer);
    if (reference && lexer->token.kind == LR_RUST_LIFETIME) {
        lr_rust_next(lexer);
    }
    if (!lr_rust_take(lexer, "mut") && !lr_rust_take(lexer, "const") && !reference) {
        return LR_AS_NULL(lr_rust_expected(lexer, "`const` or `mut` after `*`"));
    }
    return lr_rust_skip_type(parser) ? text_node(parser, start) : NULL;
}

/* `unsafe extern "C" fn(A) -> B` */
static const lr_expr *function_type(lr_rust_parser *parser, const char *start)
{
    lr_rust_lexer *lexer = &parser->lexer;
    (void)lr_rust_take(lexer, "unsafe");
    if (lr_rust_take(lexer, "extern") && lexer->token.kind == LR_RUST_TEXT) {
        lr_rust_next(lexer);
    }
    if (!lr_rust_need(lexer, "fn", "in the type of a function")) {
        return NULL;
    }
    if (!lr_rust_is(lexer, "(")) {
        return LR_AS_NULL(lr_rust_expected(lexer, "`(` after `fn`"));
    }
    read_signature(parser);
    return text_node(parser, start);
}

static const lr_expr *any_type(lr_rust_parser *parser)
{
    lr_rust_lexer *lexer = &parser->lexer;
    const char *start = lexer->token.start;
    if (lr_rust_is(lexer, "(")) {
        return tuple_type(parser);
    }
    if (lr_rust_is(lexer, "[")) {
        return array_type(parser, start);
    }
    if (lr_rust_is(lexer, "<")) {
        return self_type(parser, start);
    }
    if (lr_rust_is(lexer, "&") || lr_rust_is(lexer, "*")) {
        return pointer_type(parser, start);
    }
    if (lr_rust_take(lexer, "!")) {
        return text_node(parser, start);
    }
    if (lr_rust_take(lexer, "dyn") || lr_rust_take(lexer, "impl")) {
        const char *from = lexer->token.start;
        if (!lr_rust_skip_bounds(parser)) {
            return NULL;
        }
        if (lexer->token.start == from) {
            (void)lr_rust_expected(lexer, "a trait after `dyn` or `impl`");
        }
        return text_node(parser, start);
    }
    if (lr_rust_is(lexer, "for")) {
        skip_binder(parser);
        return lr_rust_skip_type(parser) ? text_node(parser, start) : NULL;
    }
    if (lr_rust_is(lexer, "fn") || lr_rust_is(lexer, "unsafe") || lr_rust_is(lexer, "extern")) {
        return function_type(parser, start);
    }
    (void)lr_rust_take(lexer, "::");
    return path_type(parser, NULL, start);
}

const lr_expr *lr_rust_type(lr_rust_parser *parser)
{
    const lr_expr *expr;
    if (!lr_rust_enter(parser)) {
        return NULL;
    }
    expr = any_type(parser);
    lr_rust_leave(parser);
    return lr_job_failed(parser->job) ? NULL : expr;
}

bool lr_rust_skip_type(lr_rust_parser *parser)
{
    bool ok;
    parser->mute++;
    ok = lr_rust_type(parser) != NULL;
    parser->mute--;
    return ok;
}

const lr_expr *lr_rust_argument(lr_rust_parser *parser)
{
    lr_rust_lexer *lexer = &parser->lexer;
    const char *start = lexer->token.start;
    const lr_expr *expr;
    uint64_t number;
    if (lexer->token.kind == LR_RUST_NUMBER) {
        if (!lr_rust_integer(&lexer->token, &number)) {
            return LR_AS_NULL(lr_rust_expected(lexer, "an integer of at most 64 bits as a constant argument"));
        }
        lr_rust_next(lexer);
        return number_node(parser, number);
    }
    if (lr_rust_take(lexer, "{")) {
        const char *behind = lexer->next;
        bool single = lexer->token.kind == LR_RUST_NAME;
        expr = constant(parser, "}");
        single = single && lexer->last == behind;
        if (!lr_rust_need(lexer, "}", "after the constant")) {
            return NULL;
        }
        return expr && expr->kind == LR_EXPR_NAME && !single ? text_node(parser, start) : expr;
    }
    if (lr_rust_is(lexer, "-") || lexer->token.kind == LR_RUST_TEXT || lr_rust_is(lexer, "true") ||
        lr_rust_is(lexer, "false")) {
        bool minus = lr_rust_take(lexer, "-");
        if (minus && lexer->token.kind != LR_RUST_NUMBER) {
            (void)lr_rust_expected(lexer, "a number after `-`");
        }
        lr_rust_next(lexer);
        return text_node(parser, start);
    }
    expr = lr_rust_type(parser);
    if (expr && expr->kind == LR_EXPR_NAME && !expr->count &&
        lr_rust_named_value(parser, expr->name, strlen(expr->name), &number)) {
        return number_node(parser, number);
    }
    return expr;
}

/* ------------------------------------------------------------------------------------------------- expressions -- */

const lr_expr *lr_expr_parse(rec_job *job, lr_arena *arena, const char *text, uint64_t length, const char *file,
                             uint32_t line)
{
    lr_rust_parser parser = {.job = job, .arena = arena};
    const lr_expr *expr;
    lr_rust_begin(&parser.lexer, job, text, length, file, line, true);
    expr = lr_rust_type(&parser);
    if (expr && parser.lexer.token.kind != LR_RUST_END) {
        (void)lr_rust_expected(&parser.lexer, "the end of the type");
    }
    return lr_job_failed(job) ? NULL : expr;
}

/** Text of limited room whose whole length counts. */
typedef struct printer {
    char *text;
    size_t room, length;
} printer;

static void put(printer *to, const char *text)
{
    size_t length = strlen(text);
    if (to->length < to->room) {
        size_t fits = to->room - to->length < length ? to->room - to->length : length;
        memcpy(to->text + to->length, text, fits);
    }
    to->length += length;
}

static void put_number(printer *to, uint64_t number)
{
    char digits[24];
    (void)snprintf(digits, sizeof digits, "%" PRIu64, number);
    put(to, digits);
}

static void print(printer *to, const lr_expr *expr)
{
    bool name = expr->kind == LR_EXPR_NAME;
    if (expr->kind == LR_EXPR_NUMBER) {
        put_number(to, expr->number);
    } else if (expr->kind == LR_EXPR_ARRAY) {
        put(to, "[");
        print(to, expr->args[0]);
        put(to, "; ");
        if (expr->count > 1) {
            print(to, expr->args[1]);
        } else {
            put_number(to, expr->number);
        }
        put(to, "]");
    } else {
        if (name && !lr_text_is(expr->name, strlen(expr->name), "true") &&
            !lr_text_is(expr->name, strlen(expr->name), "false") && lr_rust_keyword(expr->name, strlen(expr->name))) {
            put(to, "r#");
        }
        put(to, name ? expr->name : "(");
        put(to, name && expr->count ? "<" : "");
        for (uint64_t i = 0; i < expr->count; i++) {
            put(to, i ? ", " : "");
            print(to, expr->args[i]);
        }
        put(to, name ? (expr->count ? ">" : "") : expr->count == 1 ? ",)" : ")");
    }
}

size_t lr_expr_print(const lr_expr *expr, char *text, size_t room)
{
    printer to = {.text = text, .room = room};
    print(&to, expr);
    if (room) {
        text[to.length < room ? to.length : room - 1] = '\0';
    }
    return to.length;
}
