/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What names in a type mean where they stand: generic arguments, and which modules hold data, in either dialect of Rust
 * source. Up to 0.21 a module with data has a parameter `B`. From 0.22 on no module has one, and a field is a constant
 * if it is skipped or a primitive, else a module. */

#include "types/type_layout_private.h"

/* ------------------------------------------------------------------------------------------------------- names -- */

static const lr_type_scalar scalars[] = {
    {"bool", REC_LAYOUT_BOOL, 0},  {"u8", REC_LAYOUT_UINT, 8},       {"u16", REC_LAYOUT_UINT, 16},
    {"u32", REC_LAYOUT_UINT, 32},  {"u64", REC_LAYOUT_UINT, 64},     {"usize", REC_LAYOUT_UINT, 64},
    {"i8", REC_LAYOUT_INT, 8},     {"i16", REC_LAYOUT_INT, 16},      {"i32", REC_LAYOUT_INT, 32},
    {"i64", REC_LAYOUT_INT, 64},   {"isize", REC_LAYOUT_INT, 64},    {"f32", REC_LAYOUT_FLOAT, 32},
    {"f64", REC_LAYOUT_FLOAT, 64}, {"String", REC_LAYOUT_STRING, 0}, {"str", REC_LAYOUT_STRING, 0},
    {"ParamId", REC_LAYOUT_ID, 0},
};

const lr_type_scalar *lr_scalar_of(const lr_expr *expr)
{
    for (size_t i = 0; i < sizeof scalars / sizeof *scalars; i++) {
        if (lr_is_name(expr, scalars[i].name)) {
            return &scalars[i];
        }
    }
    return NULL;
}

bool lr_is_name(const lr_expr *expr, const char *name)
{
    return expr->kind == LR_EXPR_NAME && strcmp(expr->name, name) == 0;
}

bool lr_is_one_of(const lr_expr *expr, const char *const *names)
{
    for (size_t i = 0; names[i]; i++) {
        if (lr_is_name(expr, names[i])) {
            return true;
        }
    }
    return false;
}

const lr_def *lr_layer_find(const lr_layer *l, const lr_expr *expr)
{
    return l->types ? lr_types_find_path(l->types, expr, l->minor) : NULL;
}

bool lr_is_primitive(const lr_expr *expr)
{
    static const char *const others[] = {"char", "u128", "i128", NULL};
    static const char *const containers[] = {"Option",   "Result",     "Vec",        "Box",         "Arc",
                                             "Weak",     "HashMap",    "BTreeMap",   "HashSet",     "BTreeSet",
                                             "VecDeque", "LinkedList", "BinaryHeap", "PhantomData", "Cell",
                                             "RefCell",  "Mutex",      "RwLock",     NULL};
    const lr_type_scalar *scalar = lr_scalar_of(expr);
    if (expr->kind == LR_EXPR_NUMBER) {
        return true;
    }
    if (expr->kind == LR_EXPR_NAME && (!expr->count || !lr_is_one_of(expr, containers))) {
        bool text = expr->name[0] == '&' || expr->name[0] == '*'; /* the parser's text of a reference */
        return (scalar && scalar->kind != REC_LAYOUT_ID) || lr_is_one_of(expr, others) || text;
    }
    for (uint64_t i = 0; i < expr->count && (expr->kind != LR_EXPR_ARRAY || i == 0); i++) {
        if (!lr_is_primitive(expr->args[i])) {
            return false;
        }
    }
    return true;
}

/* ------------------------------------------------------------------------------------------------------ scopes -- */

const lr_expr *lr_scope_parameter(const lr_expr *expr, const lr_scope *in, const lr_scope **where)
{
    if (!in || expr->kind != LR_EXPR_NAME || expr->count) {
        return NULL;
    }
    for (uint64_t i = 0; i < in->def->generic_count; i++) {
        if (strcmp(in->def->generics[i].name, expr->name) == 0) {
            *where = in->outer;
            if (in->rank && i == 1) {
                return in->rank;
            }
            if (in->use && i < in->use->count) {
                return in->use->args[i];
            }
            *where = in; /* a default may speak of the parameters before it */
            return in->def->generics[i].initial;
        }
    }
    return NULL;
}

const lr_expr *lr_scope_number(const lr_expr *expr, const lr_scope *in)
{
    for (unsigned steps = 0; expr && expr->kind == LR_EXPR_NAME; steps++) {
        expr = steps < LR_NESTING_MOST ? lr_scope_parameter(expr, in, &in) : NULL;
    }
    return expr && expr->kind == LR_EXPR_NUMBER ? expr : NULL;
}

/* Whether a definition has a type parameter called `B`, the name that Burn's derive required. */
static bool has_backend(const lr_def *def)
{
    for (uint64_t i = 0; i < def->generic_count; i++) {
        if (strcmp(def->generics[i].name, "B") == 0) {
            return true;
        }
    }
    return false;
}

lr_scope lr_scope_of(const lr_def *def, const lr_expr *use, const lr_scope *in)
{
    lr_scope inside = {.def = def, .use = use, .outer = in, .dialect = in ? in->dialect : LR_DIALECT_NONE};
    if (inside.dialect == LR_DIALECT_NONE && def->derive == LR_DERIVE_MODULE && !def->implicit) {
        inside.dialect = def->rust && !has_backend(def) ? LR_DIALECT_PLAIN : LR_DIALECT_BACKEND;
    }
    return inside;
}

/* --------------------------------------------------------------------------------------------- what holds data -- */

static bool holds(lr_layer *l, const lr_def *def);

/* Whether a name is that of a tensor or a module with data, where the backend is left out. In source for 0.22 an
 * unknown name is taken for one, so that a typing mistake is found. */
static bool names_data(lr_layer *l, const lr_scope *in, const lr_expr *expr)
{
    const lr_def *other = lr_layer_find(l, expr);
    if (lr_is_name(expr, "Param") || lr_is_name(expr, "RunningState") || lr_is_name(expr, "Tensor")) {
        return true;
    }
    if (other && (other->kind == LR_DEF_STRUCT || other->kind == LR_DEF_ENUM)) {
        return lr_can_hold(l, other, in);
    }
    if (in->dialect != LR_DIALECT_PLAIN || in->def->implicit) {
        return false;
    }
    return other ? other->kind == LR_DEF_ALIAS && holds(l, other) : !expr->count && !lr_is_primitive(expr);
}

bool lr_mentions(lr_layer *l, const lr_scope *in, const lr_expr *expr)
{
    const lr_def *def = in->def;
    uint64_t count = expr->kind == LR_EXPR_ARRAY ? 1 : expr->count; /* without the length */
    for (uint64_t i = 0; expr->kind == LR_EXPR_NAME && i < def->generic_count; i++) {
        if (!expr->path && strcmp(def->generics[i].name, expr->name) == 0) {
            return !def->generics[i].constant;
        }
    }
    if (expr->kind == LR_EXPR_NAME && (def->implicit || in->dialect == LR_DIALECT_PLAIN) && names_data(l, in, expr)) {
        return true;
    }
    for (uint64_t i = 0; i < count; i++) {
        if (lr_mentions(l, in, expr->args[i])) {
            return true;
        }
    }
    return false;
}

/* Whether a field of a definition without a backend holds data. A definition nested too deeply counts as holding data:
 * its layout then fails with a message. */
static bool holds(lr_layer *l, const lr_def *def)
{
    lr_scope inside = {.def = def, .dialect = LR_DIALECT_PLAIN};
    bool any = false;
    if (l->depth == LR_DEPTH_MOST || l->parts == LR_PARTS_MOST) {
        return true;
    }
    l->depth++;
    l->parts++;
    for (uint64_t i = 0; i < def->field_count && !any; i++) {
        any = !def->fields[i].skip && def->fields[i].type && lr_mentions(l, &inside, def->fields[i].type);
    }
    l->depth--;
    return any;
}

bool lr_can_hold(lr_layer *l, const lr_def *def, const lr_scope *in)
{
    if (def->implicit || has_backend(def)) {
        return true;
    }
    return def->rust && def->derive == LR_DERIVE_MODULE && !(in && in->dialect == LR_DIALECT_BACKEND) && holds(l, def);
}
