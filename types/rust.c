/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Definitions from Rust source: its `struct`, `enum` and `type` items and its integer constants, in the file and in its
 * modules. All else is passed over bracket by bracket. docs/reference/types.md says what counts.
 *
 * The source is read twice: constants and imports first, because what uses them may stand before them. */
#include <inttypes.h>
#include <stdio.h>

#include "types/rust_parse_private.h"

enum { DEFINITIONS_MOST = 1 << 14 };

/** A definition that waits for the end of the file: another for the same name may be the likelier one. */
typedef struct pending {
    struct pending *next;
    lr_def def;
    int32_t cfg;
} pending;

typedef struct reader {
    lr_rust_parser parser;
    bool names_only; /**< the first reading */
    pending *first, **last;
    uint64_t count;
    lr_rust_constant *constants, **last_constant;
    lr_rust_generics generics; /**< of the definition that is being read */
    uint64_t scope;            /**< of the names of the fields that are being read */
    uint64_t scopes;           /**< the last one given */
} reader;

/** Fields or variants as they come, in the parser's arena. */
typedef struct fields {
    lr_type_field *at;
    uint64_t count, room;
} fields;

static void items(reader *r, int32_t cfg, bool inside);

static const char *file_of(const reader *r)
{
    return r->parser.lexer.file ? r->parser.lexer.file : "the source";
}

/* ------------------------------------------------------------------------------------------------- definitions -- */

/* Keeps a definition, or one of two for the same name: the likelier one, else the first if both depend on the
 * configuration, else the second (as a later file's hides an earlier one's). */
static void define(reader *r, const lr_def *def, int32_t cfg)
{
    void **slot =
        lr_job_failed(r->parser.job) ? NULL : lr_rust_slot(&r->parser, LR_SCOPE_TYPES, def->name, strlen(def->name));
    pending *old = slot ? *slot : NULL;
    if (!slot) {
        return;
    }
    if (old) {
        bool replace = cfg > old->cfg || (cfg == old->cfg && cfg == LR_CFG_YES);
        uint32_t was = old->def.line;
        if (replace) {
            old->def = *def;
            old->cfg = cfg;
        }
        lr_note(r->parser.job, REC_NOTE_ASSUMED, 1, "",
                "%s: `%s` is defined in line %" PRIu32 " and in line %" PRIu32 "%s: the one of line %" PRIu32 " counts",
                file_of(r), def->name, was, def->line,
                cfg < LR_CFG_YES || old->cfg < LR_CFG_YES ? " for different configurations" : "", old->def.line);
        return;
    }
    if (++r->count > DEFINITIONS_MOST) {
        (void)lr_rust_fail(&r->parser.lexer, REC_E_LIMIT, NULL, 0, "more than %d definitions in one file",
                           DEFINITIONS_MOST);
        return;
    }
    old = lr_rust_keep(&r->parser, r->parser.scratch, sizeof *old);
    if (old) {
        *old = (pending){.def = *def, .cfg = cfg};
        *r->last = old;
        r->last = &old->next;
        *slot = old;
    }
}

/* The same for one with its fields. */
static void define_fields(reader *r, lr_def *def, const fields *list, int32_t cfg)
{
    def->field_count = list->count;
    def->fields = list->at;
    define(r, def, cfg);
}

/* The same for a name of a type or number: a definition with one field. */
static void define_alias(reader *r, lr_def *def, const lr_expr *type, int32_t cfg)
{
    lr_type_field *field = lr_rust_keep(&r->parser, r->parser.arena, sizeof *field);
    if (field) {
        *field = (lr_type_field){.name = "", .type = type, .line = def->line};
        define_fields(r, def, &(fields){.at = field, .count = 1}, cfg);
    }
}

/* ----------------------------------------------------------------------------------------------------- headers -- */

/* The name of an item. NULL: failed. */
static const char *item_name(reader *r, const char *what)
{
    lr_rust_lexer *lexer = &r->parser.lexer;
    const char *name;
    if (!lr_rust_is_name(lexer)) {
        return LR_AS_NULL(lr_rust_expected(lexer, "the name of the %s", what));
    }
    name = lr_rust_copy(&r->parser, lexer->token.text, lexer->token.length);
    lr_rust_next(lexer);
    return name;
}

static void one_generic(reader *r)
{
    lr_rust_parser *parser = &r->parser;
    lr_rust_generics *to = &r->generics;
    lr_rust_lexer *lexer = &parser->lexer;
    lr_type_generic generic = {0};
    (void)lr_rust_attributes_read(parser, LR_CFG_YES);
    if (lexer->token.kind == LR_RUST_LIFETIME) {
        lr_rust_next(lexer);
        if (lr_rust_take(lexer, ":")) {
            (void)lr_rust_skip_bounds(parser);
        }
        return;
    }
    generic.constant = lr_rust_take(lexer, "const");
    if (to->count == LR_GENERICS_MOST) {
        (void)lr_rust_fail(lexer, REC_E_LIMIT, NULL, 0, "more than %d parameters of one type", LR_GENERICS_MOST);
        return;
    }
    generic.name = item_name(r, generic.constant ? "constant parameter" : "type parameter");
    if (!generic.name || !lr_rust_grow(parser, &to->at, to->count + 1, &to->room, sizeof *to->at)) {
        return;
    }
    to->at[to->count++] = generic;
    if (generic.constant) {
        (void)(lr_rust_need(lexer, ":", "after the name of the constant parameter") && lr_rust_skip_type(parser));
    } else if (lr_rust_take(lexer, ":")) {
        (void)lr_rust_skip_bounds(parser);
    }
    if (lr_rust_take(lexer, "=")) {
        to->at[to->count - 1].initial = lr_rust_argument(parser);
    }
}

/* `<B: Backend, 'a, const N: usize = 3>`, or nothing. The parser knows them from here on. */
static void read_generics(reader *r)
{
    lr_rust_lexer *lexer = &r->parser.lexer;
    r->generics = (lr_rust_generics){0};
    r->parser.generics = &r->generics;
    if (!lr_rust_take(lexer, "<")) {
        return;
    }
    while (lexer->token.kind != LR_RUST_END && !lr_rust_is(lexer, ">")) {
        one_generic(r);
        if (!lr_rust_take(lexer, ",")) {
            break;
        }
    }
    (void)lr_rust_need(lexer, ">", "after the type parameters");
}

/* `where T: Bound, …`, or nothing. */
static void skip_where(reader *r)
{
    lr_rust_lexer *lexer = &r->parser.lexer;
    if (!lr_rust_take(lexer, "where")) {
        return;
    }
    while (lexer->token.kind != LR_RUST_END && !lr_rust_is(lexer, "{") && !lr_rust_is(lexer, ";") &&
           !lr_rust_is(lexer, "=")) {
        if (lexer->token.kind == LR_RUST_LIFETIME) {
            lr_rust_next(lexer);
        } else if (!lr_rust_skip_type(&r->parser)) {
            return;
        }
        if (!lr_rust_need(lexer, ":", "after the type in the where clause") || !lr_rust_skip_bounds(&r->parser) ||
            !lr_rust_take(lexer, ",")) {
            return;
        }
    }
}

/* Reads a definition up to its body: the name, the parameters and the where clause. */
static lr_def begin_def(reader *r, int32_t kind, int32_t derive, const char *what)
{
    const lr_rust_lexer *lexer = &r->parser.lexer;
    lr_def def = {.kind = kind, .derive = derive, .rust = true, .file = lexer->file, .line = lexer->token.line};
    def.name = item_name(r, what);
    read_generics(r);
    def.generics = r->generics.at;
    def.generic_count = r->generics.count;
    skip_where(r);
    return def;
}

/* Skips items with a body or up to a semicolon: functions, traits, impls. A `{` inside `<…>` before the body is a
 * constant argument. */
static void skip_item(reader *r, const char *what)
{
    lr_rust_lexer *lexer = &r->parser.lexer;
    size_t angles = 0;
    uint32_t line = lexer->token.line;
    while (lexer->token.kind != LR_RUST_END && !lr_rust_is(lexer, "}") && !lr_rust_is(lexer, ")") &&
           !lr_rust_is(lexer, "]")) {
        if (lr_rust_take(lexer, ";")) {
            return;
        }
        if (lr_rust_is(lexer, "{") && angles == 0) {
            lr_rust_skip(lexer);
            return;
        }
        if (lr_rust_is(lexer, "<")) {
            angles++;
        } else if (lr_rust_is(lexer, ">") && angles) {
            angles--;
        }
        lr_rust_skip(lexer);
    }
    (void)lr_rust_expected(lexer, "`{` or `;` for the %s that line %" PRIu32 " begins", what, line);
}

static void skip_to_semicolon(reader *r, const char *what)
{
    lr_rust_skip_until(&r->parser.lexer, ";");
    (void)lr_rust_need(&r->parser.lexer, ";", what);
}

static void skip_visibility(lr_rust_lexer *lexer)
{
    lr_rust_lexer after;
    if (!lr_rust_take(lexer, "pub") || !lr_rust_is(lexer, "(")) {
        return;
    }
    after = *lexer; /* `pub (A, B)` is a tuple */
    lr_rust_next(&after);
    if (lr_rust_is(&after, "crate") || lr_rust_is(&after, "self") || lr_rust_is(&after, "super") ||
        lr_rust_is(&after, "in")) {
        lr_rust_lexer behind = after;
        lr_rust_next(&behind);
        if (lr_rust_is(&after, "in") || lr_rust_is(&behind, ")")) { /* `pub (crate::A)` is a type */
            lr_rust_skip(lexer);
        }
    }
}

/* ------------------------------------------------------------------------------------------------------ fields -- */

/* Adds a field or a variant, unless its configuration speaks against it. */
static void add_field(reader *r, fields *to, const lr_type_field *field, const lr_rust_attributes *attributes,
                      const char *what, const lr_rust_token *at)
{
    lr_rust_parser *parser = &r->parser;
    void **slot;
    bool twice;
    if (lr_job_failed(parser->job)) {
        return;
    }
    slot = lr_rust_slot(parser, r->scope, field->name, strlen(field->name));
    twice = slot && *slot && attributes->cfg >= LR_CFG_LIKELY;
    if (attributes->cfg < LR_CFG_YES || twice) {
        bool configured = attributes->cfg < LR_CFG_YES || (slot && *slot == (void *)r);
        if (!configured) {
            parser->lexer.token = *at;
            (void)lr_rust_fail(&parser->lexer, REC_E_FORMAT, NULL, 0, "the %s `%s` occurs twice", what, field->name);
            return;
        }
        lr_note(parser->job, REC_NOTE_ASSUMED, 1, "",
                "%s: line %" PRIu32 ": the %s `%s` depends on the configuration; it is taken as %s", file_of(r),
                field->line, what, field->name, attributes->cfg >= LR_CFG_LIKELY && !twice ? "there" : "not there");
    }
    if (!slot || twice || attributes->cfg < LR_CFG_LIKELY) {
        return;
    }
    if (lr_rust_grow(parser, &to->at, to->count + 1, &to->room, sizeof *to->at)) {
        *slot = attributes->cfg < LR_CFG_YES ? (void *)r : (void *)to; /* r: one by configuration */
        to->at[to->count++] = *field;
    }
}

/* Fields up to the closing bracket, named or numbered. */
static void read_fields(reader *r, fields *to, const char *closing)
{
    lr_rust_parser *parser = &r->parser;
    lr_rust_lexer *lexer = &parser->lexer;
    bool named = strcmp(closing, "}") == 0;
    uint64_t outer = r->scope;
    r->scope = ++r->scopes;
    while (lexer->token.kind != LR_RUST_END && !lr_rust_is(lexer, closing)) {
        lr_rust_attributes attributes = lr_rust_attributes_read(parser, LR_CFG_YES);
        lr_type_field field = {.skip = attributes.skip};
        lr_rust_token at;
        char number[24];
        skip_visibility(lexer);
        at = lexer->token;
        field.line = at.line;
        if (named) {
            field.name = item_name(r, "field");
            if (!field.name || !lr_rust_need(lexer, ":", "after the name of the field")) {
                return;
            }
        } else {
            (void)snprintf(number, sizeof number, "%" PRIu64, to->count);
            field.name = lr_rust_copy(parser, number, strlen(number));
        }
        field.type = lr_rust_type(parser);
        if (!field.type || !field.name) {
            return;
        }
        if (lr_rust_take(lexer, "=")) { /* a default, which is no part of the type */
            lr_rust_skip_until(lexer, ",");
        }
        add_field(r, to, &field, &attributes, "field", &at);
        if (!lr_rust_take(lexer, ",")) {
            break;
        }
    }
    r->scope = outer;
    (void)lr_rust_need(lexer, closing, "or `,` after the type of the field");
}

/* --------------------------------------------------------------------------------------------- struct and enum -- */

static void read_struct(reader *r, const lr_rust_attributes *attributes)
{
    lr_rust_lexer *lexer = &r->parser.lexer;
    lr_def def = begin_def(r, LR_DEF_STRUCT, attributes->derive, "struct");
    fields list = {0};
    if (lr_rust_take(lexer, "{")) {
        read_fields(r, &list, "}");
    } else {
        if (lr_rust_take(lexer, "(")) {
            read_fields(r, &list, ")");
            skip_where(r);
        }
        if (!lr_rust_take(lexer, ";")) {
            (void)lr_rust_expected(lexer, list.count ? "`;` after the struct"
                                                     : "`{`, `(` or `;` after the name of the struct");
        }
    }
    define_fields(r, &def, &list, attributes->cfg);
}

/* The payload of `Variant { a: A }`: a struct of its own, "Enum::Variant", with the parameters of the enum. */
static const lr_expr *struct_payload(reader *r, const lr_def *of, const char *variant, uint32_t line, int32_t cfg)
{
    lr_rust_parser *parser = &r->parser;
    lr_def def = *of;
    fields list = {0};
    size_t room = strlen(of->name) + strlen(variant) + 3;
    char *name = lr_rust_keep(parser, parser->arena, room);
    lr_rust_list args = {0};
    read_fields(r, &list, "}");
    def.kind = LR_DEF_STRUCT;
    def.line = line;
    if (!name) {
        return NULL;
    }
    (void)snprintf(name, room, "%s::%s", of->name, variant);
    def.name = name;
    for (uint64_t i = 0; i < of->generic_count; i++) {
        lr_expr part = {.kind = LR_EXPR_NAME, .name = of->generics[i].name};
        lr_rust_append(parser, &args, lr_rust_node(parser, part, NULL));
    }
    define_fields(r, &def, &list, cfg);
    return lr_rust_node(parser, (lr_expr){.kind = LR_EXPR_NAME, .name = name}, &args);
}

/* The payload of `Variant(A)` or `Variant(A, B)`, which is a tuple. */
static const lr_expr *tuple_payload(reader *r)
{
    lr_rust_parser *parser = &r->parser;
    fields list = {0};
    lr_rust_list args = {0};
    read_fields(r, &list, ")");
    if (list.count == 1) {
        return list.at->type;
    }
    for (uint64_t i = 0; i < list.count; i++) {
        lr_rust_append(parser, &args, list.at[i].type);
    }
    return lr_rust_node(parser, (lr_expr){.kind = LR_EXPR_TUPLE}, &args);
}

static void read_variants(reader *r, const lr_def *def, fields *to, int32_t cfg)
{
    lr_rust_parser *parser = &r->parser;
    lr_rust_lexer *lexer = &parser->lexer;
    while (lexer->token.kind != LR_RUST_END && !lr_rust_is(lexer, "}")) {
        lr_rust_attributes attributes = lr_rust_attributes_read(parser, LR_CFG_YES);
        lr_type_field variant = {.skip = attributes.skip};
        lr_rust_token at;
        skip_visibility(lexer);
        at = lexer->token;
        variant.line = at.line;
        variant.name = item_name(r, "variant");
        if (!variant.name) {
            return;
        }
        if (lr_rust_take(lexer, "(")) {
            variant.type = tuple_payload(r);
        } else if (lr_rust_take(lexer, "{")) {
            variant.type =
                struct_payload(r, def, variant.name, variant.line, attributes.cfg < cfg ? attributes.cfg : cfg);
        }
        if (lr_rust_take(lexer, "=")) { /* its number in memory */
            lr_rust_skip_until(lexer, ",");
        }
        add_field(r, to, &variant, &attributes, "variant", &at);
        if (!lr_rust_take(lexer, ",")) {
            break;
        }
    }
    (void)lr_rust_need(lexer, "}", "or `,` after the variant");
}

static void read_enum(reader *r, const lr_rust_attributes *attributes)
{
    lr_def def = begin_def(r, LR_DEF_ENUM, attributes->derive, "enum");
    fields list = {0};
    if (lr_rust_need(&r->parser.lexer, "{", "before the variants of the enum")) {
        r->scope = ++r->scopes;
        read_variants(r, &def, &list, attributes->cfg);
        define_fields(r, &def, &list, attributes->cfg);
    }
}

static void read_alias(reader *r, const lr_rust_attributes *attributes)
{
    lr_rust_lexer *lexer = &r->parser.lexer;
    lr_def def = begin_def(r, LR_DEF_ALIAS, LR_DERIVE_NONE, "type");
    const lr_expr *type;
    if (lr_rust_need(lexer, "=", "after the name of the type")) {
        type = lr_rust_type(&r->parser);
        skip_where(r);
        if (lr_rust_need(lexer, ";", "after the type")) {
            define_alias(r, &def, type, attributes->cfg);
        }
    }
}

/* --------------------------------------------------------------------------------------------------- constants -- */

/* `const NAME: T = …;`, behind `const`. `const _` and associated ones have no name to go by. */
static void read_constant(reader *r, const lr_rust_attributes *attributes)
{
    lr_rust_parser *parser = &r->parser;
    lr_rust_lexer *lexer = &parser->lexer;
    lr_rust_token name = lexer->token;
    lr_rust_constant *constant;
    void **slot;
    if (!lr_rust_is_name(lexer)) {
        (void)lr_rust_expected(lexer, "the name of the constant");
        return;
    }
    lr_rust_next(lexer);
    if (!lr_rust_need(lexer, ":", "after the name of the constant") || !lr_rust_skip_type(parser) ||
        !lr_rust_need(lexer, "=", "after the type of the constant")) {
        return;
    }
    if (r->names_only) {
        slot = lr_rust_slot(parser, LR_SCOPE_CONSTANTS, name.text, name.length);
        constant = slot ? *slot : NULL;
        if (slot && !constant) {
            constant = lr_rust_keep(parser, parser->scratch, sizeof *constant);
            if (!constant) {
                return;
            }
            *constant = (lr_rust_constant){.name = name, .at = *lexer, .cfg = attributes->cfg};
            *r->last_constant = constant;
            r->last_constant = &constant->next;
            *slot = constant;
        } else if (constant && attributes->cfg > constant->cfg) {
            constant->name = name;
            constant->at = *lexer;
            constant->cfg = attributes->cfg;
        }
    }
    skip_to_semicolon(r, "after the value of the constant");
}

/* Integer constants become definitions, so that other files and expressions can use them. */
static void define_constants(reader *r)
{
    lr_rust_parser *parser = &r->parser;
    parser->generics = NULL;
    for (const lr_rust_constant *c = r->constants; c && !lr_job_failed(parser->job); c = c->next) {
        lr_def def = {.kind = LR_DEF_ALIAS, .file = parser->lexer.file, .line = c->name.line};
        lr_expr value = {.kind = LR_EXPR_NUMBER};
        if (!lr_rust_named_value(parser, c->name.text, c->name.length, &value.number) ||
            lr_rust_look(parser->names, LR_SCOPE_TYPES, c->name.text, c->name.length)) {
            continue;
        }
        def.name = lr_rust_copy(parser, c->name.text, c->name.length);
        define_alias(r, &def, lr_rust_node(parser, value, NULL), c->cfg);
    }
}

/* ------------------------------------------------------------------------------------------------------- items -- */

/* `a::name! {…}`, `macro_rules! name {…}`. */
static void skip_macro(reader *r)
{
    lr_rust_lexer *lexer = &r->parser.lexer;
    while (lr_rust_is_name(lexer)) {
        lr_rust_next(lexer);
        (void)lr_rust_take(lexer, "::");
    }
    if (!lr_rust_need(lexer, "!", "after the name of the macro")) {
        return;
    }
    if (lr_rust_is_name(lexer)) {
        lr_rust_next(lexer);
    }
    (void)(lr_rust_skip_macro(lexer) && lr_rust_take(lexer, ";"));
}

static void read_module(reader *r, int32_t cfg)
{
    lr_rust_lexer *lexer = &r->parser.lexer;
    if (!lr_rust_is_name(lexer)) {
        (void)lr_rust_expected(lexer, "the name of the module");
        return;
    }
    lr_rust_next(lexer);
    if (lr_rust_take(lexer, ";")) {
        return;
    }
    if (lr_rust_need(lexer, "{", "or `;` after the name of the module") && lr_rust_enter(&r->parser)) {
        items(r, cfg, true);
        lr_rust_leave(&r->parser);
        (void)lr_rust_need(lexer, "}", "at the end of the module");
    }
}

/* Handles `struct`, `enum` and `type`, which the first pass skips. @return false: another item. */
static bool type_item(reader *r, const lr_rust_attributes *attributes)
{
    lr_rust_lexer *lexer = &r->parser.lexer;
    bool is_struct = lr_rust_is(lexer, "struct"), is_enum = lr_rust_is(lexer, "enum");
    if (!is_struct && !is_enum && !lr_rust_is(lexer, "type")) {
        return false;
    }
    if (r->names_only) {
        skip_item(r, is_struct ? "struct" : is_enum ? "enum" : "type");
        return true;
    }
    lr_rust_next(lexer);
    if (is_struct) {
        read_struct(r, attributes);
    } else if (is_enum) {
        read_enum(r, attributes);
    } else {
        read_alias(r, attributes);
    }
    r->parser.generics = NULL;
    return true;
}

/* Items whose first word is a plain name elsewhere: `union U {…}`, `auto trait T {}`, `macro m() {…}`. */
static bool contextual_item(const lr_rust_lexer *lexer)
{
    static const char *const words[] = {"auto", "default", "gen", "macro", "safe", "union"};
    lr_rust_lexer after = *lexer;
    lr_rust_next(&after);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (lr_rust_is(lexer, words[i])) {
            return after.token.kind == LR_RUST_NAME;
        }
    }
    return false;
}

static bool macro_item(const lr_rust_lexer *lexer)
{
    lr_rust_lexer after = *lexer;
    lr_rust_next(&after);
    return lr_rust_is_name(lexer) && (lr_rust_is(&after, "!") || lr_rust_is(&after, "::"));
}

static void item(reader *r, const lr_rust_attributes *attributes)
{
    static const char *const skipped[] = {"fn", "impl", "trait", "unsafe", "async", "extern", NULL};
    lr_rust_lexer *lexer = &r->parser.lexer;
    skip_visibility(lexer);
    if (type_item(r, attributes) || lr_rust_take(lexer, ";")) {
        return;
    }
    for (size_t i = 0; skipped[i]; i++) {
        if (lr_rust_is(lexer, skipped[i])) {
            skip_item(r, skipped[i]);
            return;
        }
    }
    if (lr_rust_take(lexer, "mod")) {
        read_module(r, attributes->cfg);
    } else if (lr_rust_take(lexer, "use")) {
        if (r->names_only && attributes->cfg > LR_CFG_NO) {
            lr_rust_use(&r->parser, attributes->cfg);
        } else {
            skip_to_semicolon(r, "after the import");
        }
    } else if (lr_rust_take(lexer, "static")) {
        skip_to_semicolon(r, "after the static");
    } else if (lr_rust_take(lexer, "const")) {
        if (lr_rust_is_name(lexer)) {
            read_constant(r, attributes);
        } else {
            skip_item(r, "const item");
        }
    } else if (contextual_item(lexer)) {
        skip_item(r, "item");
    } else if (macro_item(lexer)) {
        skip_macro(r);
    } else {
        (void)lr_rust_expected(lexer, "an item (`struct`, `enum`, `type`, `mod`, `fn`, `impl`, `use`...)");
    }
}

/* Items to the end of the source or, inside a module, to its `}`. */
static void items(reader *r, int32_t cfg, bool inside)
{
    lr_rust_lexer *lexer = &r->parser.lexer;
    for (;;) {
        lr_rust_attributes attributes = lr_rust_attributes_read(&r->parser, cfg);
        if (lexer->token.kind == LR_RUST_END || (inside && lr_rust_is(lexer, "}"))) {
            return;
        }
        item(r, &attributes);
    }
}

/* ------------------------------------------------------------------------------------------------------ public -- */

/* Adds what was read, all or nothing. A definition for tests hides nothing. */
static int32_t add_all(reader *r, rec_types *types)
{
    lr_def *before = types->defs;
    for (const pending *p = r->first; p; p = p->next) {
        bool known = p->cfg == LR_CFG_NO && lr_types_find(types, p->def.name, INT32_MAX);
        if (!known && lr_types_add(r->parser.job, types, &p->def) != REC_OK) {
            types->defs = before;
            break;
        }
    }
    return r->parser.job->error.status;
}

int32_t lr_types_add_rust(rec_job *job, rec_types *types, const char *text, uint64_t length, const char *file)
{
    lr_arena scratch;
    reader r = {.parser = {.job = job, .arena = &types->arena, .scratch = &scratch, .types = types},
                .names_only = true,
                .scopes = LR_SCOPE_FIELDS};
    const char *name = file ? lr_job_arena_text(job, &types->arena, file, strlen(file)) : NULL;
    int32_t status;
    lr_arena_init(&scratch, job->allocator);
    r.last = &r.first;
    r.last_constant = &r.constants;
    r.parser.names = lr_rust_names_new(&r.parser);
    lr_rust_begin(&r.parser.lexer, job, text, length, name, 1, false);
    if (r.parser.names && !lr_job_failed(job)) {
        lr_rust_lexer start = r.parser.lexer;
        items(&r, LR_CFG_YES, false);
        r.names_only = false;
        r.parser.lexer = lr_job_failed(job) ? r.parser.lexer : start;
        items(&r, LR_CFG_YES, false);
        define_constants(&r);
    }
    status = lr_job_failed(job) ? job->error.status : add_all(&r, types);
    lr_arena_free(&scratch);
    return status;
}
