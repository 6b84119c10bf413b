/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Burn's own modules, recognised by their fields: for imports, for records without a type, for `record types`. */

#include "core/config/config.h"
#include "types/types.h"

/* An attention of the model's own looks like Burn's: fields alone never tell it. */
static const char attention[] = "MultiHeadAttention";

/* The modules that their fields identify: those with parameters of their own, recurrent ones, and the attention, for
 * which an import may have evidence. The position is the number here: append new ones at the end. */
static const char *const known[] = {
    "Linear",          "Embedding",      "Conv1d",    "Conv2d",    "Conv3d",    "ConvTranspose1d", "ConvTranspose2d",
    "ConvTranspose3d", "DeformConv2d",   "BatchNorm", "LayerNorm", "GroupNorm", "InstanceNorm",    "RmsNorm",
    "PRelu",           "GateController", "Lstm",      "BiLstm",    "Gru",       "BiGru",           "Rnn",
    "BiRnn",           attention};
enum { KNOWN = sizeof known / sizeof *known };

static uint16_t number_of(const char *module)
{
    for (uint16_t i = 0; i < KNOWN; i++) {
        if (strcmp(known[i], module) == 0) {
            return (uint16_t)(i + 1);
        }
    }
    return 0;
}

static const char *name_of(uint16_t number)
{
    return number >= 1 && number <= KNOWN ? known[number - 1] : NULL;
}

/* -------------------------------------------------------------------------------------------- Burn's own types -- */

static void release(lr_attached *what)
{
    rec_types_free((rec_types *)what);
}

/* The context's own set. NULL: the job has failed. */
static const rec_types *types_of(rec_job *job)
{
    lr_attached *have = lr_context_attached(job->context, release);
    if (!have) {
        rec_types *made = lr_types_new(job);
        if (!made) {
            return NULL;
        }
        made->attached.release = release;
        have = lr_context_attach(job->context, &made->attached);
    }
    return (const rec_types *)have;
}

static const rec_layout *layout_of_def(rec_job *job, const rec_types *types, const lr_def *def)
{
    lr_expr expr = {.kind = LR_EXPR_NAME, .name = def->name, .path = "burn"};
    lr_type_ref ref = lr_type_of_expr(types, &expr);
    return lr_layouts_begin(job) ? ref.layout(job, &ref) : NULL;
}

static const lr_def *find(const rec_types *types, const char *module, int32_t minor)
{
    lr_expr expr = {.kind = LR_EXPR_NAME, .name = module, .path = "burn"};
    const lr_def *def = lr_types_find_path(types, &expr, minor);
    return def && def->since > 0 && def->kind == LR_DEF_STRUCT && def->derive == LR_DERIVE_MODULE ? def : NULL;
}

/* ------------------------------------------------------------------------------------------------- recognising -- */

typedef struct fit {
    uint64_t data;   /* tensors that have a field */
    uint64_t absent; /* fields with data that the map lacks */
} fit;

/* A layout without data: constants, and what is made of them. */
static bool holds_nothing(const rec_layout *layout)
{
    bool nothing = !layout->role;
    switch (layout->kind) {
    case REC_LAYOUT_UNIT:
        return true;
    case REC_LAYOUT_OPTION:
        return !rec_layout_child(layout, 0) || holds_nothing(rec_layout_child(layout, 0));
    case REC_LAYOUT_LIST:
    case REC_LAYOUT_ARRAY:
        return holds_nothing(rec_layout_child(layout, 0));
    case REC_LAYOUT_TUPLE:
        for (uint64_t i = 0; nothing && i < layout->count; i++) {
            nothing = holds_nothing(layout->children[i]);
        }
        return nothing;
    default:
        return false;
    }
}

static bool fits(const rec_value *value, const rec_layout *layout, fit *f);

static bool fits_struct(const rec_value *value, const rec_layout *layout, fit *f)
{
    uint64_t found = 0;
    if (value->kind != REC_KIND_MAP) {
        return false;
    }
    for (uint64_t i = 0; i < layout->count; i++) {
        const lr_entry *entry = lr_map_find_text(value->v.map, layout->names[i], strlen(layout->names[i]));
        bool initial = layout->notes && layout->notes[i].initial;
        found += entry != NULL;
        if (entry ? !fits(&entry->value, layout->children[i], f)
                  : !holds_nothing(layout->children[i]) && layout->children[i]->kind != REC_LAYOUT_OPTION && !initial) {
            return false;
        }
        f->absent += !entry && !holds_nothing(layout->children[i]);
    }
    return found == value->v.map->count;
}

static bool fits(const rec_value *value, const rec_layout *layout, fit *f)
{
    if (layout->role == LR_ROLE_TENSOR || layout->role == LR_ROLE_PARAMETER) {
        const rec_tensor *tensor = value->kind == REC_KIND_TENSOR ? value->v.tensor : NULL;
        f->data++;
        return tensor && tensor->rank == layout->rank &&
               (lr_elements_of(tensor->stored) == layout->elements || tensor->assumed);
    }
    if (holds_nothing(layout)) {
        return lr_value_is_nothing(value);
    }
    switch (layout->kind) {
    case REC_LAYOUT_OPTION:
        f->absent += value->kind == REC_KIND_NIL;
        return value->kind == REC_KIND_NIL || fits(value, layout->children[0], f);
    case REC_LAYOUT_STRUCT:
        return fits_struct(value, layout, f);
    case REC_LAYOUT_ENUM:
        return value->kind == REC_KIND_STRING || value->kind == REC_KIND_VARIANT || value->kind == REC_KIND_MAP;
    default:
        return false;
    }
}

bool lr_field_speaks_of(const char *field, const char *type)
{
    char a[64], b[64];
    size_t n = 0, m = 0;
    for (; *field && n + 1 < sizeof a; field++) {
        if ((*field >= 'a' && *field <= 'z') || (*field >= 'A' && *field <= 'Z')) {
            a[n++] = (char)(*field | 0x20);
        }
    }
    for (; *type && m + 1 < sizeof b; type++) {
        if (*type < '0' || *type > '9') {
            b[m++] = (char)(*type | 0x20);
        }
    }
    a[n] = b[m] = '\0';
    return n > 1 && (strstr(b, a) || strstr(a, b));
}

/* Whether PyTorch's layout differs from that of the module with the same fields: a Linear's weight is transposed, an
 * Embedding's is not. Norms agree, and so do convolutions. */
static bool is_turned(const lr_def *def)
{
    return strcmp(def->name, "Linear") == 0;
}

/* The modules that their fields identify, at the job's version; made once per job. */
typedef struct candidates {
    int32_t minor;
    uint64_t count;
    struct candidate {
        const lr_def *def;
        const rec_layout *layout;
        const lr_shapes *shapes;
    } list[KNOWN];
} candidates;

static candidates *candidates_of(rec_job *job, const rec_types *types)
{
    candidates *made = lr_layouts_begin(job) ? job->layouts->modules : NULL, *list;
    if (lr_job_failed(job) || (made && made->minor == job->burn.minor)) {
        return made;
    }
    list = lr_job_arena_alloc(job, &job->layouts->arena, sizeof *list, 8);
    if (!list) {
        return NULL;
    }
    memset(list, 0, sizeof *list);
    list->minor = job->burn.minor;
    for (size_t i = 0; i < KNOWN; i++) {
        const lr_def *def = find(types, known[i], job->burn.minor);
        const rec_layout *layout = def ? layout_of_def(job, types, def) : NULL;
        if (def && !layout) {
            return NULL;
        }
        if (def) {
            list->list[list->count++] = (struct candidate){def, layout, lr_types_shapes(types, def->name)};
        }
    }
    job->layouts->modules = list;
    return list;
}

static const rec_layout *module_layout(rec_job *job, const char *module)
{
    const rec_types *types = types_of(job);
    const candidates *list = types ? candidates_of(job, types) : NULL;
    for (uint64_t i = 0; list && i < list->count; i++) {
        if (strcmp(list->list[i].def->name, module) == 0) {
            return list->list[i].layout;
        }
    }
    return NULL;
}

/* The best of Burn's modules that a map fits. */
static const lr_def *best_of(const candidates *list, const rec_value *value, const char *field, bool *sure)
{
    const lr_def *best = NULL;
    bool best_holds = false, best_spoken = false;
    fit best_fit = {0};
    *sure = true;
    for (uint64_t i = 0; i < list->count; i++) {
        const struct candidate *c = &list->list[i];
        lr_module_clash clash;
        fit f = {0};
        bool holds, spoken;
        if (strcmp(c->def->name, attention) == 0 || !fits(value, c->layout, &f) || !f.data) {
            continue;
        }
        holds = !c->shapes || lr_shapes_hold(c->shapes, value, &clash);
        spoken = lr_field_speaks_of(field, c->def->name);
        if (best && is_turned(c->def) != is_turned(best) && holds == best_holds) {
            *sure = false;
        } else if (!best || holds > best_holds) {
            *sure = true;
        }
        /* Of equals the one that stands first is taken. */
        if (!best || holds > best_holds ||
            (holds == best_holds &&
             (f.absent < best_fit.absent || (f.absent == best_fit.absent && spoken > best_spoken)))) {
            best = c->def;
            best_holds = holds;
            best_spoken = spoken;
            best_fit = f;
        }
    }
    return best;
}

static const char *recognise(rec_job *job, const rec_value *value, const char *field, bool *sure)
{
    const rec_types *types = value->kind == REC_KIND_MAP && value->v.map->count ? types_of(job) : NULL;
    candidates *list = types ? candidates_of(job, types) : NULL;
    const lr_def *def = list ? best_of(list, value, field, sure) : NULL;
    return def ? def->name : NULL;
}

static bool fits_module(rec_job *job, const char *module, const rec_value *value)
{
    const rec_layout *layout = module_layout(job, module);
    fit f = {0};
    return layout && fits(value, layout, &f) && f.data;
}

/* Whether a field of the module is missing or of another form. */
static bool lacks_field(const rec_layout *layout, uint64_t i, const rec_value *value, lr_module_misfit *why)
{
    const rec_layout *field = layout->children[i];
    const lr_entry *entry = lr_map_find_text(value->v.map, layout->names[i], strlen(layout->names[i]));
    const rec_layout *held = field->kind == REC_LAYOUT_OPTION ? rec_layout_child(field, 0) : field;
    fit f = {0};
    *why = (lr_module_misfit){.field = layout->names[i], .missing = !entry, .rank = REC_UNKNOWN};
    if (held && (held->role == LR_ROLE_TENSOR || held->role == LR_ROLE_PARAMETER)) {
        why->rank = held->rank;
    }
    if (entry) {
        return !fits(&entry->value, field, &f);
    }
    return !holds_nothing(field) && field->kind != REC_LAYOUT_OPTION && !(layout->notes && layout->notes[i].initial);
}

static bool has_name(const rec_layout *layout, const rec_value *name)
{
    for (uint64_t i = 0; i < layout->count; i++) {
        if (lr_value_is(name, layout->names[i])) {
            return true;
        }
    }
    return false;
}

static bool differs(rec_job *job, const char *module, const rec_value *value, lr_module_misfit *why)
{
    const rec_layout *layout = module_layout(job, module);
    if (!layout || layout->kind != REC_LAYOUT_STRUCT || value->kind != REC_KIND_MAP) {
        return false;
    }
    for (uint64_t i = 0; i < value->v.map->count; i++) {
        const rec_value *key = &value->v.map->entries[i].key;
        if (key->kind == REC_KIND_STRING && !has_name(layout, key)) {
            *why = (lr_module_misfit){.field = key->v.text, .foreign = true};
            return true;
        }
    }
    for (uint64_t i = 0; i < layout->count; i++) {
        if (lacks_field(layout, i, value, why)) {
            return true;
        }
    }
    return false;
}

static bool owns(rec_job *job, const rec_layout *layout)
{
    const rec_types *types = layout->module ? types_of(job) : NULL;
    const lr_def *def = types ? find(types, layout->module, job->burn.minor) : NULL;
    const rec_layout *own = def ? layout_of_def(job, types, def) : NULL;
    bool same = own && own->kind == layout->kind && own->count == layout->count;
    for (uint64_t i = 0; same && i < own->count; i++) {
        same = strcmp(own->names[i], layout->names[i]) == 0;
    }
    return same;
}

static bool knows(rec_job *job, const char *module)
{
    const rec_types *types = types_of(job);
    return types && lr_types_shapes(types, module);
}

static int hold(rec_job *job, const char *module, const rec_value *value, lr_module_clash *clash)
{
    const rec_types *types = types_of(job);
    const lr_shapes *shapes = types ? lr_types_shapes(types, module) : NULL;
    if (!types) {
        return -1;
    }
    return !shapes || lr_shapes_hold(shapes, value, clash);
}

const lr_modules lr_types_modules = {.number = number_of,
                                     .name = name_of,
                                     .layout = module_layout,
                                     .recognise = recognise,
                                     .fits = fits_module,
                                     .differs = differs,
                                     .owns = owns,
                                     .knows = knows,
                                     .hold = hold};
