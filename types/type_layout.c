/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What a type by name looks like in one Burn version: the rules of derive(Module) and derive(Record).
 *
 * In a module, whatever is no module, parameter or container of them is a constant. Since 0.21 a field whose written
 * type mentions no type parameter of its struct is one constant however it is built; the rule stops at the field.
 *
 * Source of either dialect (dialect.c) describes the modules of any version: the dialect says what a field is, the
 * version how that is laid out. */

#include "types/type_layout_private.h"

static const rec_layout *data_layout(lr_layer *l, const lr_expr *expr, const lr_scope *in);
static const rec_layout *module_layout(lr_layer *l, const lr_expr *expr, const lr_scope *in);
static const rec_layout *def_layout(lr_layer *l, const lr_def *def, const lr_expr *use, const lr_scope *in);

static const rec_layout *fail_type(lr_layer *l, const lr_expr *expr, const lr_scope *in, const char *what)
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
static void hint_type(lr_layer *l, const lr_expr *expr)
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

static const rec_layout *cannot_find(lr_layer *l, const lr_expr *expr, const lr_scope *in)
{
    for (int32_t minor = l->minor + 1; l->types && expr->name && minor <= LR_BURN_NOW; minor++) {
        const lr_def *later = lr_types_find_path(l->types, expr, minor);
        if (later && later->since) {
            return LR_AS_NULL(rec_fail(l->job, REC_E_UNSUPPORTED, REC_UNKNOWN,
                                       "Burn 0.%d has no `%s`: it came with 0.%d", (int)l->minor, expr->name,
                                       (int)later->since));
        }
    }
    (void)fail_type(l, expr, in, "cannot find the type");
    hint_type(l, expr);
    rec_fail_hint(l->job, "Add the Rust file that defines it, or an INI file with [type %s].",
                  expr->name ? expr->name : "…");
    return NULL;
}

/* ----------------------------------------------------------------------------------------------- shared shapes -- */

static const rec_layout *tensor(lr_layer *l, const lr_expr *expr, const lr_scope *in, bool bare)
{
    const lr_expr *rank = expr->count > 1 ? expr->args[1] : NULL;
    const lr_expr *kind = expr->count > 2 ? expr->args[2] : NULL;
    int32_t elements = REC_FIELD_FLOATS;
    if (!lr_is_name(expr, "Tensor")) {
        return fail_type(l, expr, in, "expected a Tensor, found");
    }
    if (expr->count && lr_scope_number(expr->args[0], in)) { /* `Tensor<2, Int>`: source for 0.22, INI files */
        kind = rank;
        rank = expr->args[0];
    }
    rank = lr_scope_number(rank, in);
    if (!rank || rank->number > LR_RANK_MOST) {
        return fail_type(l, expr, in, "the rank must be a number:");
    }
    if (kind && lr_is_name(kind, "Int")) {
        elements = REC_FIELD_INTS;
    } else if (kind && lr_is_name(kind, "Bool")) {
        elements = REC_FIELD_BOOLS;
    } else if (kind && !lr_is_name(kind, "Float")) {
        return fail_type(l, expr, in, "the kind of a tensor must be Float, Int or Bool:");
    }
    return lr_layout_tensor(l->job, elements, rank->number, bare);
}

typedef const rec_layout *(*layout_fn)(lr_layer *l, const lr_expr *expr, const lr_scope *in);

/* A tuple or a map of the first arguments of an expression. */
static const rec_layout *product(lr_layer *l, int32_t kind, uint64_t count, const lr_expr *expr, const lr_scope *in,
                                 layout_fn of)
{
    rec_layout *layout = lr_layout_node(l->job, kind, count);
    for (uint64_t i = 0; layout && i < count; i++) {
        const rec_layout *child = of(l, expr->args[i], in);
        if (!child) {
            return NULL;
        }
        lr_layout_set(layout, i, "", child);
    }
    return layout;
}

static const rec_layout *sequence(lr_layer *l, int32_t kind, uint64_t count, const lr_expr *element, const lr_scope *in,
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

static const char *const transparent[] = {"Box", "Arc", "Rc", "RefCell", "Mutex", NULL};
static const char *const lists[] = {"Vec", "VecDeque", "HashSet", "BTreeSet", NULL};

/* Lays out tuples, arrays, lists, options and transparent wrappers. @return false: another expression. */
static bool container(lr_layer *l, const lr_expr *expr, const lr_scope *in, layout_fn of, const rec_layout **out)
{
    *out = NULL;
    if (expr->kind == LR_EXPR_TUPLE && expr->count) {
        *out = product(l, REC_LAYOUT_TUPLE, expr->count, expr, in, of);
        return true;
    }
    if (expr->kind == LR_EXPR_ARRAY) {
        const lr_expr *length = expr->count > 1 ? lr_scope_number(expr->args[1], in) : NULL;
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
    if (lr_is_one_of(expr, lists)) {
        *out = sequence(l, REC_LAYOUT_LIST, 0, expr->args[0], in, of);
        return true;
    }
    if (lr_is_name(expr, "Option")) {
        *out = sequence(l, REC_LAYOUT_OPTION, 0, expr->args[0], in, of);
        return true;
    }
    if (lr_is_one_of(expr, transparent)) {
        *out = of(l, expr->args[0], in);
        return true;
    }
    return false;
}

/* ----------------------------------------------------------------------------------------------------- modules -- */

/* Lays out the type of a module's field, tuple, list or variant. */
static const rec_layout *module_name(lr_layer *l, const lr_expr *expr, const lr_scope *in)
{
    const lr_scope *where = NULL;
    const lr_expr *actual = lr_scope_parameter(expr, in, &where);
    const lr_def *def;
    if (l->constant) {
        return lr_layout_constant(l->job);
    }
    if (actual) {
        return module_layout(l, actual, where);
    }
    if ((lr_is_name(expr, "Param") || lr_is_name(expr, "RunningState")) && expr->count == 1) {
        return tensor(l, expr->args[0], in, false);
    }
    if (lr_is_name(expr, "Tensor") || lr_is_name(expr, "PhantomData") || lr_is_name(expr, "Ignored")) {
        return lr_layout_constant(l->job);
    }
    def = lr_layer_find(l, expr);
    if (def && def->kind == LR_DEF_ALIAS) {
        lr_scope alias = lr_scope_of(def, expr, in);
        return module_layout(l, def->fields[0].type, &alias);
    }
    if (def && def->derive == LR_DERIVE_MODULE && (def->kind == LR_DEF_STRUCT || def->kind == LR_DEF_ENUM) &&
        lr_can_hold(l, def, in)) {
        return def_layout(l, def, expr, in);
    }
    if (!def && in && in->dialect == LR_DIALECT_PLAIN && !lr_is_primitive(expr)) {
        (void)cannot_find(l, expr, in);
        rec_fail_hint(l->job, "If it is not a module, mark its field with #[module(skip)], as Burn asks for.");
        return NULL;
    }
    if (!def && in && (lr_mentions(l, in, expr) || (in->def->implicit && !lr_scalar_of(expr)))) {
        return cannot_find(l, expr, in);
    }
    return lr_layout_constant(l->job);
}

/* Keeps a type that contains itself, or doubles at every level, from taking the memory or the stack. */
static bool enter(lr_layer *l, const lr_expr *expr, const lr_scope *in)
{
    if (lr_job_failed(l->job)) {
        return false;
    }
    if (l->nesting == LR_NESTING_MOST || l->parts == LR_PARTS_MOST) {
        (void)fail_type(l, expr, in, l->parts == LR_PARTS_MOST ? "the type is too large at" : "nested too deeply:");
        if (l->parts != LR_PARTS_MOST) {
            rec_fail_hint(l->job, "A type that contains itself has no layout.");
        }
        return false;
    }
    l->nesting++;
    l->parts++;
    return true;
}

static const rec_layout *module_layout(lr_layer *l, const lr_expr *expr, const lr_scope *in)
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

/* A field by 0.22's rule. Of the versions before, a constant has the form that its type had. */
static const rec_layout *plain_field(lr_layer *l, const lr_type_field *field, const lr_scope *in)
{
    bool constant = field->skip || lr_is_primitive(field->type), outer = l->constant;
    const rec_layout *layout;
    l->constant = outer || constant;
    layout = constant && l->minor >= 21 ? lr_layout_constant(l->job) : module_layout(l, field->type, in);
    l->constant = outer;
    if (layout && l->minor >= 21 && !constant && !lr_mentions(l, in, field->type)) {
        return lr_layout_constant(l->job); /* a module without data */
    }
    return layout;
}

static const rec_layout *module_field(lr_layer *l, const lr_type_field *field, const lr_scope *in)
{
    if (in->dialect == LR_DIALECT_PLAIN && !in->def->implicit) {
        return plain_field(l, field, in);
    }
    if (l->minor >= 21 && (field->skip || !lr_mentions(l, in, field->type))) {
        return lr_layout_constant(l->job);
    }
    return module_layout(l, field->type, in);
}

/* -------------------------------------------------------------------------------------------------------- data -- */

/* `ModelRecord<B>`, which derive(Module) generates for `Model<B>`. */
static const lr_def *record_of(const lr_layer *l, const lr_expr *expr)
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
    return lr_layer_find(l, &module);
}

/* The number of values in an older version's tuple, of which one is the alias's value today; 0: no such tuple. */
static uint64_t older_count(const lr_layer *l, const lr_def *alias)
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

static const rec_layout *data_name(lr_layer *l, const lr_expr *expr, const lr_scope *in)
{
    const lr_type_scalar *named = lr_scalar_of(expr);
    const lr_scope *where = NULL;
    const lr_expr *actual = lr_scope_parameter(expr, in, &where);
    const lr_def *def;
    if (actual) {
        return data_layout(l, actual, where);
    }
    if (named && !expr->count) {
        rec_layout *scalar = lr_layout_number(l->job, named->kind, named->bits);
        if (scalar) {
            scalar->unsure = expr->unsure;
            l->job->layouts->unsure = l->job->layouts->unsure || expr->unsure;
        }
        return scalar;
    }
    if (lr_is_name(expr, "Tensor")) {
        return tensor(l, expr, in, true);
    }
    if (lr_is_name(expr, "Param") && expr->count == 1) {
        return tensor(l, expr->args[0], in, false);
    }
    if ((lr_is_name(expr, "HashMap") || lr_is_name(expr, "BTreeMap")) && expr->count >= 2) {
        return product(l, REC_LAYOUT_MAP, 2, expr, in, data_layout);
    }
    if (lr_is_name(expr, "PhantomData")) {
        return lr_layout_node(l->job, REC_LAYOUT_UNIT, 0);
    }
    if (lr_is_name(expr, "Record") && expr->count >= 1) {
        return data_layout(l, expr->args[0], in); /* <M as Module>::Record */
    }
    def = lr_layer_find(l, expr);
    def = def ? def : record_of(l, expr);
    if (!def) {
        return cannot_find(l, expr, in);
    }
    if (def->kind == LR_DEF_ALIAS) {
        lr_scope alias = lr_scope_of(def, expr, in);
        const rec_layout *layout = data_layout(l, def->fields[0].type, &alias);
        if (layout && def->fields[0].from_element) {
            ((rec_layout *)layout)->from_element = def->fields[0].from_element;
            ((rec_layout *)layout)->from_count = older_count(l, def);
        }
        return layout;
    }
    return def_layout(l, def, expr, in);
}

static const rec_layout *data_layout(lr_layer *l, const lr_expr *expr, const lr_scope *in)
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

/* ------------------------------------------------------------------------------------------------- definitions -- */

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

/* Notes where the fields of a user's definition are; Burn's own are in the library's files. @return false: the job has
 * failed. */
static bool place_fields(lr_layer *l, rec_layout *layout, const lr_def *def)
{
    size_t length = def->file ? strlen(def->file) : 0;
    uint32_t *lines;
    if (def->since || length < 4 || strcmp(def->file + length - 3, ".rs") != 0) {
        return true;
    }
    lines = lr_job_arena_alloc(l->job, &l->job->layouts->arena, (def->field_count + 1) * sizeof *lines, 4);
    if (!lines) {
        return false;
    }
    for (uint64_t i = 0; i < def->field_count; i++) {
        lines[i] = def->fields[i].line;
    }
    layout->file = def->file;
    layout->lines = lines;
    return true;
}

/* Notes the attributes of the fields of a definition. @return false: the job has failed. */
static bool note_fields(lr_layer *l, rec_layout *layout, const lr_def *def)
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
    notes = lr_job_arena_alloc(l->job, &l->job->layouts->arena, def->field_count * sizeof *notes, 8);
    if (!notes) {
        return false;
    }
    for (uint64_t i = 0; i < def->field_count; i++) {
        notes[i] = (lr_field_note){.initial = def->fields[i].initial, .from = def->fields[i].from};
    }
    layout->notes = notes;
    return true;
}

static const rec_layout *struct_layout(lr_layer *l, const lr_def *def, const lr_scope *inside)
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
        const rec_layout *child =
            def->derive == LR_DERIVE_MODULE ? module_field(l, field, inside) : data_layout(l, field->type, inside);
        if (!child) {
            return NULL;
        }
        lr_layout_set(layout, i, field->name, child);
    }
    return layout;
}

static const rec_layout *enum_layout(lr_layer *l, const lr_def *def, const lr_scope *inside)
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
static const rec_layout *optimizer_layout(lr_layer *l, const lr_def *def, const lr_expr *use, const lr_scope *in)
{
    static const char *const names[] = {"Rank0", "Rank1", "Rank2", "Rank3", "Rank4",
                                        "Rank5", "Rank6", "Rank7", "Rank8"};
    uint64_t first = l->minor >= 13 ? 0 : 1;
    rec_layout *ranks = lr_layout_node(l->job, REC_LAYOUT_ENUM, 9 - first);
    rec_layout *version = lr_layout_node(l->job, REC_LAYOUT_ENUM, 1);
    rec_layout *map = lr_layout_node(l->job, REC_LAYOUT_MAP, 2);
    for (uint64_t rank = first; rank < 9 && ranks; rank++) {
        lr_expr number = {.kind = LR_EXPR_NUMBER, .number = rank};
        lr_scope inside = {.def = def, .use = use, .outer = in, .rank = &number};
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

static const rec_layout *def_layout(lr_layer *l, const lr_def *def, const lr_expr *use, const lr_scope *in)
{
    lr_scope inside = lr_scope_of(def, use, in);
    const rec_layout *layout = NULL;
    if (l->depth == LR_DEPTH_MOST) {
        (void)rec_fail(l->job, REC_E_UNSUPPORTED, REC_UNKNOWN, "the type %s is nested deeper than %d levels", def->name,
                       LR_DEPTH_MOST);
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
        /* A module that can hold no data is a constant wherever it stands. */
        layout = def->derive == LR_DERIVE_MODULE && !lr_can_hold(l, def, in) ? lr_layout_constant(l->job)
                                                                             : struct_layout(l, def, &inside);
        break;
    }
    l->depth--;
    return layout;
}

const rec_layout *lr_layout_of_expr(rec_job *job, const rec_types *types, const lr_expr *expr)
{
    lr_layer l = {.job = job, .types = types, .minor = job->burn.minor};
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
