/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What a type by name looks like in one Burn version: the rules of derive(Module) and derive(Record).
 *
 * In a module, whatever is no module, parameter or container of them is a constant. Since 0.21 a field whose written
 * type mentions no type parameter of its struct is one constant however it is built; the rule stops at the field. */
#include <string.h>

#include "types/types.h"

/* The generic arguments a definition was used with. */
typedef struct scope {
    const lr_def *def;
    const lr_expr *use; /* its arguments, in order */
    const struct scope *outer;
    const lr_expr *rank; /* of an optimizer's state: what its second parameter stands for */
} scope;

/* Bounds on a type: how deep it is nested, and how much it is made of in all. */
enum { DEPTH_MOST = 64, NESTING_MOST = 256, PARTS_MOST = 1 << 20 };

typedef struct layer {
    rec_job *job;
    const rec_types *types;
    int32_t minor;
    unsigned depth;   /* definitions */
    unsigned nesting; /* expressions */
    uint64_t parts;
} layer;

static const lr_def *find(const layer *l, const lr_expr *expr)
{
    return l->types ? lr_types_find_path(l->types, expr, l->minor) : NULL;
}

static const rec_layout *data_layout(layer *l, const lr_expr *expr, const scope *in);
static const rec_layout *module_layout(layer *l, const lr_expr *expr, const scope *in);
static const rec_layout *def_layout(layer *l, const lr_def *def, const lr_expr *use, const scope *in);

static const rec_layout *fail_type(layer *l, const lr_expr *expr, const scope *in, const char *what)
{
    char text[256];
    (void)lr_expr_print(expr, text, sizeof text);
    if (in && in->def->file) {
        (void)lr_fail_line(l->job, REC_E_NOT_FOUND, in->def->file, in->def->line, "%s: %s `%s`", in->def->name, what,
                           text);
    } else {
        (void)rec_fail(l->job, REC_E_NOT_FOUND, REC_UNKNOWN, "%s `%s`", what, text);
    }
    return NULL;
}

/* A type that is spelled nearly so, and where it is. */
static void hint_type(layer *l, const lr_expr *expr)
{
    const lr_def *best = NULL;
    lr_suggestion near;
    size_t length;
    lr_suggestion_begin(&near, expr->name ? expr->name : "");
    for (const lr_def *def = l->types && expr->name ? l->types->defs : NULL; def; def = def->next) {
        const char *before = near.best;
        lr_suggestion_try(&near, def->name);
        best = near.best != before ? def : best;
    }
    length = best && best->file ? strlen(best->file) : 0;
    if (length > 3 && strcmp(best->file + length - 3, ".rs") == 0) { /* no file of Burn's own modules */
        rec_fail_hint(l->job, "Did you mean `%.64s`, in %.300s:%u?", best->name, best->file, (unsigned)best->line);
    } else if (best) {
        rec_fail_hint(l->job, "Did you mean `%.64s`?", best->name);
    }
}

static const rec_layout *cannot_find(layer *l, const lr_expr *expr, const scope *in)
{
    for (int32_t minor = l->minor + 1; l->types && expr->name && minor <= LR_BURN_NOW; minor++) {
        const lr_def *later = lr_types_find_path(l->types, expr, minor);
        if (later && later->since) {
            (void)rec_fail(l->job, REC_E_UNSUPPORTED, REC_UNKNOWN, "Burn 0.%d has no `%s`: it came with 0.%d",
                           (int)l->minor, expr->name, (int)later->since);
            return NULL;
        }
    }
    (void)fail_type(l, expr, in, "cannot find the type");
    hint_type(l, expr);
    rec_fail_hint(l->job, "Add the Rust file that defines it, or an INI file with [type %s].",
                  expr->name ? expr->name : "…");
    return NULL;
}

/* ------------------------------------------------------------------------------------------------------ generics -- */

/* What a name stands for if it is a type parameter of the scope; `where` becomes the scope to read that in. */
static const lr_expr *parameter(const lr_expr *expr, const scope *in, const scope **where)
{
    if (!in || expr->kind != LR_EXPR_NAME || expr->count) {
        return NULL;
    }
    for (uint64_t i = 0; i < in->def->generic_count; i++) {
        if (strcmp(in->def->generics[i], expr->name) == 0) {
            *where = in->outer;
            if (in->rank && i == 1) {
                return in->rank;
            }
            if (in->use && i < in->use->count) {
                return in->use->args[i];
            }
            *where = in; /* a default may speak of the parameters before it */
            return in->def->generic_defaults ? in->def->generic_defaults[i] : NULL;
        }
    }
    return NULL;
}

/* The number that a constant parameter stands for, NULL if it stands for none. */
static const lr_expr *number(const lr_expr *expr, const scope *in)
{
    for (unsigned steps = 0; expr && expr->kind == LR_EXPR_NAME; steps++) {
        expr = steps < NESTING_MOST ? parameter(expr, in, &in) : NULL;
    }
    return expr && expr->kind == LR_EXPR_NUMBER ? expr : NULL;
}

/* Whether a module can hold data: Burn's derive asks for a type parameter called `B`, by that name. */
static bool has_backend(const lr_def *def)
{
    for (uint64_t i = 0; i < def->generic_count; i++) {
        if (strcmp(def->generics[i], "B") == 0) {
            return true;
        }
    }
    return def->implicit;
}

static bool is_name(const lr_expr *expr, const char *name)
{
    return expr->kind == LR_EXPR_NAME && strcmp(expr->name, name) == 0;
}

static bool is_one_of(const lr_expr *expr, const char *const *names)
{
    for (size_t i = 0; names[i]; i++) {
        if (is_name(expr, names[i])) {
            return true;
        }
    }
    return false;
}

static const char *const transparent[] = {"Box", "Arc", "Rc", "RefCell", "Mutex", NULL};

/* Whether an expression mentions a type parameter of its definition; where generics are left out (INI), whether it has
 * a tensor or a module with one anywhere. */
static bool mentions(const layer *l, const lr_def *def, const lr_expr *expr)
{
    if (expr->kind == LR_EXPR_NAME) {
        for (uint64_t i = 0; i < def->generic_count; i++) {
            if (!expr->path && strcmp(def->generics[i], expr->name) == 0 &&
                !(def->generic_constants && def->generic_constants[i])) {
                return true;
            }
        }
        if (def->implicit) {
            const lr_def *other = find(l, expr);
            if (is_name(expr, "Param") || is_name(expr, "Tensor") ||
                (other && (other->kind == LR_DEF_STRUCT || other->kind == LR_DEF_ENUM) &&
                 has_backend(other))) {
                return true;
            }
        }
    }
    for (uint64_t i = 0; i < expr->count; i++) {
        if (mentions(l, def, expr->args[i])) {
            return true;
        }
    }
    return false;
}

/* ------------------------------------------------------------------------------------------------- shared shapes -- */

static const rec_layout *tensor(layer *l, const lr_expr *expr, const scope *in, bool bare)
{
    const lr_expr *rank = expr->count > 1 ? expr->args[1] : NULL;
    const lr_expr *kind = expr->count > 2 ? expr->args[2] : NULL;
    int32_t elements = REC_FIELD_FLOATS;
    if (!is_name(expr, "Tensor")) {
        return fail_type(l, expr, in, "expected a Tensor, found");
    }
    if (expr->count == 1 && expr->args[0]->kind == LR_EXPR_NUMBER) {
        rank = expr->args[0]; /* `Tensor<2>`, as INI files may have it */
    }
    rank = number(rank, in);
    if (!rank || rank->number > LR_RANK_MOST) {
        return fail_type(l, expr, in, "the rank must be a number:");
    }
    if (kind && is_name(kind, "Int")) {
        elements = REC_FIELD_INTS;
    } else if (kind && is_name(kind, "Bool")) {
        elements = REC_FIELD_BOOLS;
    } else if (kind && !is_name(kind, "Float")) {
        return fail_type(l, expr, in, "the kind of a tensor must be Float, Int or Bool:");
    }
    return lr_layout_tensor(l->job, elements, rank->number, bare);
}

typedef const rec_layout *(*layout_fn)(layer *l, const lr_expr *expr, const scope *in);

static const rec_layout *sequence(layer *l, int32_t kind, uint64_t count, const lr_expr *element, const scope *in,
                                  layout_fn of)
{
    const rec_layout *child = of(l, element, in);
    rec_layout *layout = child ? lr_layout_wrap(l->job, kind, child) : NULL;
    if (layout && kind == REC_LAYOUT_ARRAY) {
        layout->count = count;
    } else if (layout) {
        layout->fixed = count;
    }
    return layout;
}

/* Tuples, arrays, lists, options and what is as good as its content. @return false if the expression is none. */
static bool container(layer *l, const lr_expr *expr, const scope *in, layout_fn of, const rec_layout **out)
{
    *out = NULL;
    if (expr->kind == LR_EXPR_TUPLE && expr->count) {
        rec_layout *tuple = lr_layout_node(l->job, REC_LAYOUT_TUPLE, expr->count);
        for (uint64_t i = 0; tuple && i < expr->count; i++) {
            const rec_layout *child = of(l, expr->args[i], in);
            if (!child) {
                return true;
            }
            lr_layout_set(tuple, i, "", child);
        }
        *out = tuple;
        return true;
    }
    if (expr->kind == LR_EXPR_ARRAY) {
        const lr_expr *length = expr->count > 1 ? number(expr->args[1], in) : NULL;
        uint64_t count = length ? length->number : expr->number;
        if (count == LR_LENGTH_UNKNOWN) {
            (void)fail_type(l, expr, in, "the length of an array must be a number:");
            return true;
        }
        /* Up to 0.11 an array was counted like a Vec. */
        *out = sequence(l, l->minor < 12 ? REC_LAYOUT_LIST : REC_LAYOUT_ARRAY, count, expr->args[0], in, of);
        return true;
    }
    if (expr->kind != LR_EXPR_NAME || expr->count != 1) {
        return false;
    }
    if (is_name(expr, "Vec") || is_name(expr, "VecDeque") || is_name(expr, "HashSet") || is_name(expr, "BTreeSet")) {
        *out = sequence(l, REC_LAYOUT_LIST, 0, expr->args[0], in, of);
        return true;
    }
    if (is_name(expr, "Option")) {
        *out = sequence(l, REC_LAYOUT_OPTION, 0, expr->args[0], in, of);
        return true;
    }
    if (is_one_of(expr, transparent)) {
        *out = of(l, expr->args[0], in);
        return true;
    }
    return false;
}

static const struct {
    const char *name;
    int32_t kind;
    uint32_t bits;
} scalars[] = {
    {"bool", REC_LAYOUT_BOOL, 0},    {"u8", REC_LAYOUT_UINT, 8},      {"u16", REC_LAYOUT_UINT, 16},
    {"u32", REC_LAYOUT_UINT, 32},    {"u64", REC_LAYOUT_UINT, 64},    {"usize", REC_LAYOUT_UINT, 64},
    {"i8", REC_LAYOUT_INT, 8},       {"i16", REC_LAYOUT_INT, 16},     {"i32", REC_LAYOUT_INT, 32},
    {"i64", REC_LAYOUT_INT, 64},     {"isize", REC_LAYOUT_INT, 64},   {"f32", REC_LAYOUT_FLOAT, 32},
    {"f64", REC_LAYOUT_FLOAT, 64},   {"String", REC_LAYOUT_STRING, 0}, {"str", REC_LAYOUT_STRING, 0},
    {"ParamId", REC_LAYOUT_ID, 0},
};

/* ------------------------------------------------------------------------------------------------------- modules -- */

/* Scalars, which a module keeps as constants. */
static bool is_plain(const lr_expr *expr)
{
    for (size_t i = 0; i < sizeof scalars / sizeof *scalars; i++) {
        if (is_name(expr, scalars[i].name)) {
            return true;
        }
    }
    return false;
}

/* What stands in a module's field, tuple, list or variant. */
static const rec_layout *module_name(layer *l, const lr_expr *expr, const scope *in)
{
    const scope *where = NULL;
    const lr_expr *actual = parameter(expr, in, &where);
    const lr_def *def;
    if (actual) {
        return module_layout(l, actual, where);
    }
    if ((is_name(expr, "Param") || is_name(expr, "RunningState")) && expr->count == 1) {
        return tensor(l, expr->args[0], in, false);
    }
    if (is_name(expr, "Tensor") || is_name(expr, "PhantomData") || is_name(expr, "Ignored")) {
        return lr_layout_constant(l->job);
    }
    def = find(l, expr);
    if (def && def->kind == LR_DEF_ALIAS) {
        scope alias = {.def = def, .use = expr, .outer = in};
        return module_layout(l, def->fields[0].type, &alias);
    }
    if (def && def->derive == LR_DERIVE_MODULE && has_backend(def) &&
        (def->kind == LR_DEF_STRUCT || def->kind == LR_DEF_ENUM)) {
        return def_layout(l, def, expr, in);
    }
    if (!def && in && (mentions(l, in->def, expr) || (in->def->implicit && !is_plain(expr)))) {
        return cannot_find(l, expr, in);
    }
    return lr_layout_constant(l->job);
}

/* Keeps a type that contains itself, or doubles at every level, from taking the memory or the stack. */
static bool enter(layer *l, const lr_expr *expr, const scope *in)
{
    if (lr_job_failed(l->job)) {
        return false;
    }
    if (l->nesting == NESTING_MOST || l->parts == PARTS_MOST) {
        (void)fail_type(l, expr, in, l->parts == PARTS_MOST ? "the type is too large at" : "nested too deeply:");
        if (l->parts != PARTS_MOST) {
            rec_fail_hint(l->job, "A type that contains itself has no layout.");
        }
        return false;
    }
    l->nesting++;
    l->parts++;
    return true;
}

static const rec_layout *module_layout(layer *l, const lr_expr *expr, const scope *in)
{
    const rec_layout *layout = NULL;
    if (!enter(l, expr, in)) {
        return NULL;
    }
    if (!container(l, expr, in, module_layout, &layout)) {
        layout = expr->kind == LR_EXPR_NAME ? module_name(l, expr, in) : lr_layout_constant(l->job);
    }
    l->nesting--;
    return layout;
}

static const rec_layout *module_field(layer *l, const lr_type_field *field, const scope *in)
{
    if (l->minor >= 21 && (field->skip || !mentions(l, in->def, field->type))) {
        return lr_layout_constant(l->job);
    }
    return module_layout(l, field->type, in);
}

/* ---------------------------------------------------------------------------------------------------------- data -- */

static const rec_layout *map_layout(layer *l, const lr_expr *expr, const scope *in)
{
    rec_layout *map = lr_layout_node(l->job, REC_LAYOUT_MAP, 2);
    for (uint64_t i = 0; map && i < 2; i++) {
        const rec_layout *child = data_layout(l, expr->args[i], in);
        if (!child) {
            return NULL;
        }
        lr_layout_set(map, i, "", child);
    }
    return map;
}

/* `ModelRecord<B>`, which derive(Module) makes beside `Model<B>`. */
static const lr_def *record_of(const layer *l, const lr_expr *expr)
{
    const char *name = expr->name;
    lr_expr module = *expr;
    char base[128];
    size_t length = strlen(name);
    if (length <= 6 || length - 6 >= sizeof base || strcmp(name + length - 6, "Record") != 0) {
        return NULL;
    }
    memcpy(base, name, length - 6);
    base[length - 6] = '\0';
    module.name = base;
    return find(l, &module);
}

/* How many values the tuple of an older version has, of which one is what an alias is now; 0: there is none. */
static uint64_t older_count(const layer *l, const lr_def *alias)
{
    while (alias && alias->since > 1) {
        const lr_def *older = lr_types_find(l->types, alias->name, alias->since - 1);
        if (older && older->kind == LR_DEF_ALIAS && older->fields[0].type->kind == LR_EXPR_TUPLE) {
            return older->fields[0].type->count;
        }
        alias = older;
    }
    return 0;
}

static const rec_layout *data_name(layer *l, const lr_expr *expr, const scope *in)
{
    const scope *where = NULL;
    const lr_expr *actual = parameter(expr, in, &where);
    const lr_def *def;
    if (actual) {
        return data_layout(l, actual, where);
    }
    for (size_t i = 0; i < sizeof scalars / sizeof *scalars; i++) {
        if (is_name(expr, scalars[i].name) && !expr->count) {
            rec_layout *scalar = lr_layout_number(l->job, scalars[i].kind, scalars[i].bits);
            if (scalar) {
                scalar->unsure = expr->unsure;
                l->job->layouts->unsure = l->job->layouts->unsure || expr->unsure;
            }
            return scalar;
        }
    }
    if (is_name(expr, "Tensor")) {
        return tensor(l, expr, in, true);
    }
    if (is_name(expr, "Param") && expr->count == 1) {
        return tensor(l, expr->args[0], in, false);
    }
    if ((is_name(expr, "HashMap") || is_name(expr, "BTreeMap")) && expr->count >= 2) {
        return map_layout(l, expr, in);
    }
    if (is_name(expr, "PhantomData")) {
        return lr_layout_node(l->job, REC_LAYOUT_UNIT, 0);
    }
    if (is_name(expr, "Record") && expr->count >= 1) {
        return data_layout(l, expr->args[0], in); /* <M as Module>::Record */
    }
    def = find(l, expr);
    def = def ? def : record_of(l, expr);
    if (!def) {
        return cannot_find(l, expr, in);
    }
    if (def->kind == LR_DEF_ALIAS) {
        scope alias = {.def = def, .use = expr, .outer = in};
        const rec_layout *layout = data_layout(l, def->fields[0].type, &alias);
        if (layout && def->fields[0].from_element) {
            ((rec_layout *)layout)->from_element = def->fields[0].from_element;
            ((rec_layout *)layout)->from_count = older_count(l, def);
        }
        return layout;
    }
    return def_layout(l, def, expr, in);
}

static const rec_layout *data_layout(layer *l, const lr_expr *expr, const scope *in)
{
    const rec_layout *layout = NULL;
    if (!enter(l, expr, in)) {
        return NULL;
    }
    if (!container(l, expr, in, data_layout, &layout)) {
        layout = expr->kind == LR_EXPR_TUPLE  ? lr_layout_node(l->job, REC_LAYOUT_UNIT, 0)
                 : expr->kind == LR_EXPR_NAME ? data_name(l, expr, in)
                                              : fail_type(l, expr, in, "expected a type, found");
    }
    l->nesting--;
    return layout;
}

/* --------------------------------------------------------------------------------------------------- definitions -- */

/* The value that the next version of a module of Burn's which has the field gives to records without it. */
static const char *later_default(const rec_job *job, const rec_layout *layout, const char *name)
{
    for (int32_t minor = job->burn.minor + 1; minor <= LR_BURN_NOW; minor++) {
        const lr_def *later = lr_types_find(job->type.types, layout->module, minor);
        for (uint64_t i = 0; later && i < later->field_count; i++) {
            if (strcmp(later->fields[i].name, name) == 0) {
                return later->fields[i].initial;
            }
        }
    }
    return NULL;
}

/* Where the fields of a definition stand, if somebody wrote them: Burn's own are in files of this library. @return false: the
 * job has failed. */
static bool place_fields(layer *l, rec_layout *layout, const lr_def *def)
{
    size_t length = def->file ? strlen(def->file) : 0;
    uint32_t *lines;
    if (def->since || length < 4 || strcmp(def->file + length - 3, ".rs") != 0) {
        return true;
    }
    lines = lr_arena_alloc(&l->job->layouts->arena, (def->field_count + 1) * sizeof *lines, 4);
    if (!lines) {
        (void)lr_fail_memory(l->job, def->field_count * sizeof *lines);
        return false;
    }
    for (uint64_t i = 0; i < def->field_count; i++) {
        lines[i] = def->fields[i].line;
    }
    layout->file = def->file;
    layout->lines = lines;
    return true;
}

/* What a definition says of its fields beside their types. @return false: the job has failed. */
static bool note_fields(layer *l, rec_layout *layout, const lr_def *def)
{
    lr_field_note *notes;
    bool any = false;
    if (!layout || !place_fields(l, layout, def)) {
        return false;
    }
    layout->module = def->name;
    layout->state = def->since && def->derive == LR_DERIVE_RECORD;
    layout->later_default = def->since && l->job->type.types ? later_default : NULL;
    for (uint64_t i = 0; i < def->field_count; i++) {
        any = any || def->fields[i].initial || def->fields[i].from;
    }
    if (!any) {
        return true;
    }
    notes = lr_arena_alloc(&l->job->layouts->arena, def->field_count * sizeof *notes, 8);
    if (!notes) {
        (void)lr_fail_memory(l->job, def->field_count * sizeof *notes);
        return false;
    }
    for (uint64_t i = 0; i < def->field_count; i++) {
        notes[i] = (lr_field_note){.initial = def->fields[i].initial, .from = def->fields[i].from};
    }
    layout->notes = notes;
    return true;
}

static const rec_layout *struct_layout(layer *l, const lr_def *def, const scope *inside)
{
    bool tuple = def->field_count && def->fields[0].name[0] >= '0' && def->fields[0].name[0] <= '9';
    rec_layout *layout;
    /* serde writes a struct of one unnamed field as that field, of several as a tuple. */
    if (tuple && def->field_count == 1 && def->derive != LR_DERIVE_MODULE) {
        return data_layout(l, def->fields[0].type, inside);
    }
    layout = lr_layout_node(l->job, tuple && def->derive != LR_DERIVE_MODULE ? REC_LAYOUT_TUPLE : REC_LAYOUT_STRUCT,
                            def->field_count);
    if (!note_fields(l, layout, def)) {
        return NULL;
    }
    for (uint64_t i = 0; layout && i < def->field_count; i++) {
        const lr_type_field *field = &def->fields[i];
        const rec_layout *child = def->derive == LR_DERIVE_MODULE ? module_field(l, field, inside)
                                                                  : data_layout(l, field->type, inside);
        if (!child) {
            return NULL;
        }
        lr_layout_set(layout, i, field->name, child);
    }
    return layout;
}

static const rec_layout *enum_layout(layer *l, const lr_def *def, const scope *inside)
{
    bool module = def->derive == LR_DERIVE_MODULE;
    rec_layout *layout = lr_layout_node(l->job, REC_LAYOUT_ENUM, def->field_count);
    if (!layout || !place_fields(l, layout, def)) {
        return NULL;
    }
    layout->module = def->name;
    for (uint64_t i = 0; layout && i < def->field_count; i++) {
        const lr_type_field *field = &def->fields[i];
        const rec_layout *child = NULL;
        if (field->type) {
            child = module ? module_layout(l, field->type, inside) : data_layout(l, field->type, inside);
        } else if (module) {
            child = lr_layout_constant(l->job);
        }
        if ((field->type || module) && !child) {
            return NULL;
        }
        lr_layout_set(layout, i, field->name, child);
    }
    return layout;
}

/* An optimizer's record: a map from parameter id to {"V1": {"RankN": state}}. Rank0 came with 0.13. */
static const rec_layout *optimizer_layout(layer *l, const lr_def *def, const lr_expr *use, const scope *in)
{
    static const char *const names[] = {"Rank0", "Rank1", "Rank2", "Rank3", "Rank4",
                                        "Rank5", "Rank6", "Rank7", "Rank8"};
    uint64_t first = l->minor >= 13 ? 0 : 1;
    rec_layout *ranks = lr_layout_node(l->job, REC_LAYOUT_ENUM, 9 - first);
    rec_layout *version = lr_layout_node(l->job, REC_LAYOUT_ENUM, 1);
    rec_layout *map = lr_layout_node(l->job, REC_LAYOUT_MAP, 2);
    for (uint64_t rank = first; rank < 9 && ranks; rank++) {
        lr_expr number = {.kind = LR_EXPR_NUMBER, .number = rank};
        scope inside = {.def = def, .use = use, .outer = in, .rank = &number};
        const rec_layout *state = struct_layout(l, def, &inside);
        if (!state) {
            return NULL;
        }
        lr_layout_set(ranks, rank - first, names[rank], state);
    }
    lr_layout_set(version, 0, "V1", ranks);
    lr_layout_set(map, 0, "", lr_layout_node(l->job, REC_LAYOUT_ID, 0));
    lr_layout_set(map, 1, "", version);
    if (map) {
        map->role = LR_ROLE_IDS;
    }
    return lr_job_failed(l->job) ? NULL : map;
}

static const rec_layout *def_layout(layer *l, const lr_def *def, const lr_expr *use, const scope *in)
{
    scope inside = {.def = def, .use = use, .outer = in};
    const rec_layout *layout = NULL;
    if (l->depth == DEPTH_MOST) {
        (void)rec_fail(l->job, REC_E_UNSUPPORTED, REC_UNKNOWN, "the type %s is nested deeper than %d levels", def->name,
                       DEPTH_MOST);
        rec_fail_hint(l->job, "A type that contains itself has no layout.");
        return NULL;
    }
    l->depth++;
    switch (def->kind) {
    case LR_DEF_STATELESS:
        layout = lr_layout_constant(l->job);
        break;
    case LR_DEF_OPTIMIZER:
        layout = optimizer_layout(l, def, use, in);
        break;
    case LR_DEF_ENUM:
        layout = enum_layout(l, def, &inside);
        break;
    default:
        /* A module without the parameter B is a constant wherever it stands. */
        layout = def->derive == LR_DERIVE_MODULE && !has_backend(def)
                     ? lr_layout_constant(l->job)
                     : struct_layout(l, def, &inside);
        break;
    }
    l->depth--;
    return layout;
}

const rec_layout *lr_layout_of_expr(rec_job *job, const rec_types *types, const lr_expr *expr)
{
    layer l = {.job = job, .types = types, .minor = job->burn.minor};
    return lr_layouts_begin(job) ? data_layout(&l, expr, NULL) : NULL;
}

static const rec_layout *of_ref(rec_job *job, const lr_type_ref *type)
{
    return lr_layout_of_expr(job, type->types, type->what);
}

lr_type_ref lr_type_of_expr(const rec_types *types, const lr_expr *expr)
{
    return (lr_type_ref){.layout = expr ? of_ref : NULL,
                         .what = expr,
                         .types = types,
                         .name = expr && expr->kind == LR_EXPR_NAME ? expr->name : NULL};
}

int32_t rec_job_layout_of(rec_job *job, const char *expression, const rec_layout **layout)
{
    const lr_expr *expr;
    if (LR_LACKS(job, job) || LR_LACKS(job, expression) || LR_LACKS(job, layout)) {
        return lr_breach_status(job);
    }
    *layout = NULL;
    if (lr_layouts_begin(job)) {
        expr = lr_expr_parse(job, &job->layouts->arena, expression, strlen(expression), NULL, 0);
        *layout = expr ? lr_layout_of_expr(job, job->type.types, expr) : NULL;
    }
    return job->error.status;
}
