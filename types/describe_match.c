/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Burn's own modules and optimizers, recognised by their fields. */

#include "types/describe_private.h"

static bool fits(const lr_seen *seen, const rec_layout *layout, bool flat);

/* Whether a record of a flat file may lack a field: a constant, an Option, and lists of these. */
static bool may_lack(const rec_layout *layout)
{
    if (layout->kind == REC_LAYOUT_OPTION || layout->kind == REC_LAYOUT_UNIT || layout->kind == REC_LAYOUT_LIST) {
        return true;
    }
    return layout->kind == REC_LAYOUT_ARRAY && may_lack(layout->children[0]);
}

/* Whether a struct of a flat file has fields of a layout, and all that cannot be absent. */
static bool fits_fields(const lr_seen *seen, const rec_layout *layout)
{
    uint64_t found = 0;
    for (uint64_t i = 0; i < layout->count; i++) {
        uint64_t k = lr_seen_child(seen, layout->names[i]);
        if (k < seen->count ? !fits(seen->children[k], layout->children[i], true)
                            : !may_lack(layout->children[i]) && !(layout->notes && layout->notes[i].initial)) {
            return false;
        }
        found += k < seen->count;
    }
    return found == seen->count;
}

static bool fits_parts(const lr_seen *seen, const rec_layout *layout, bool flat)
{
    if (flat && layout->kind == REC_LAYOUT_STRUCT) {
        return fits_fields(seen, layout);
    }
    if (seen->count != layout->count) {
        return false;
    }
    for (uint64_t i = 0; i < seen->count; i++) {
        if (layout->kind == REC_LAYOUT_STRUCT && strcmp(seen->names[i], layout->names[i]) != 0) {
            return false;
        }
        if (!fits(seen->children[i], layout->children[i], flat)) {
            return false;
        }
    }
    return true;
}

static bool fits_enum(const lr_seen *seen, const rec_layout *layout, bool flat)
{
    for (uint64_t i = 0; i < seen->count; i++) {
        uint64_t j = 0;
        while (j < layout->count && strcmp(seen->names[i], layout->names[j]) != 0) {
            j++;
        }
        if (j == layout->count || (seen->children[i] == NULL) != (layout->children[j] == NULL) ||
            (seen->children[i] && !fits(seen->children[i], layout->children[j], flat))) {
            return false;
        }
    }
    return seen->count > 0;
}

static bool fits(const lr_seen *seen, const rec_layout *layout, bool flat)
{
    if (seen->kind == LR_SEEN_NOTHING) {
        return true;
    }
    if (layout->role == LR_ROLE_TENSOR || layout->role == LR_ROLE_PARAMETER) {
        return seen->kind == (layout->role == LR_ROLE_TENSOR ? LR_SEEN_TENSOR : LR_SEEN_PARAMETER) &&
               seen->rank == layout->rank && (seen->elements == layout->elements || seen->assumed);
    }
    switch (layout->kind) {
    case REC_LAYOUT_OPTION:
        if (seen->kind == LR_SEEN_NIL || !rec_layout_child(layout, 0)) {
            return seen->kind == LR_SEEN_NIL;
        }
        return fits(seen->kind == LR_SEEN_OPTION ? seen->children[0] : seen, layout->children[0], flat);
    case REC_LAYOUT_UNIT:
        return seen->kind == LR_SEEN_NIL;
    case REC_LAYOUT_LIST:
        return seen->kind == LR_SEEN_LIST && fits(seen->children[0], layout->children[0], flat);
    case REC_LAYOUT_ARRAY:
        return seen->kind == LR_SEEN_LIST && !seen->varies && seen->length == layout->count &&
               fits(seen->children[0], layout->children[0], flat);
    case REC_LAYOUT_TUPLE:
        return seen->kind == LR_SEEN_TUPLE && fits_parts(seen, layout, flat);
    case REC_LAYOUT_STRUCT:
        return seen->kind == LR_SEEN_STRUCT && fits_parts(seen, layout, flat);
    case REC_LAYOUT_ENUM:
        return seen->kind == LR_SEEN_ENUM && fits_enum(seen, layout, flat);
    case REC_LAYOUT_MAP:
        for (uint64_t i = 0; seen->kind == LR_SEEN_IDS && i < seen->count; i++) {
            if (!fits(seen->children[i], layout->children[1], flat)) {
                return false;
            }
        }
        return seen->kind == LR_SEEN_IDS;
    case REC_LAYOUT_BOOL:
        return seen->kind == LR_SEEN_BOOL;
    case REC_LAYOUT_UINT:
        return seen->kind == LR_SEEN_UINT;
    case REC_LAYOUT_INT:
        return seen->kind == LR_SEEN_INT || seen->kind == LR_SEEN_UINT;
    case REC_LAYOUT_FLOAT:
        return seen->kind == LR_SEEN_FLOAT;
    default:
        return seen->kind == LR_SEEN_STRING;
    }
}

bool lr_own_types_make(rec_job *job, lr_arena *arena, const rec_types *types, lr_own_types *own)
{
    uint64_t room = 0;
    *own = (lr_own_types){.flat = own->flat};
    for (const lr_def *def = types->defs; def; def = def->next) {
        room += def->since > 0;
    }
    own->list = lr_job_arena_alloc(job, arena, (room + 1) * sizeof *own->list, 8);
    if (!own->list) {
        return false;
    }
    for (const lr_def *def = types->defs; def; def = def->next) {
        lr_expr expr = {.kind = LR_EXPR_NAME, .name = def->name, .path = "burn"};
        bool ours = def->kind == LR_DEF_STRUCT || def->kind == LR_DEF_ENUM || def->kind == LR_DEF_OPTIMIZER;
        const rec_layout *layout;
        for (uint64_t i = 0; i < def->generic_count && def->kind != LR_DEF_OPTIMIZER; i++) {
            ours = ours && !def->generics[i].constant; /* a part of an optimizer's state */
        }
        if (!ours || def->since <= 0 || lr_types_find_path(types, &expr, job->burn.minor) != def) {
            continue;
        }
        layout = lr_layout_of_expr(job, types, &expr);
        if (!layout) {
            return false;
        }
        own->list[room - ++own->count] = (lr_own_type){def, layout}; /* the newest definitions come first */
    }
    own->list += room - own->count;
    return true;
}

static bool is_one(const lr_seen *seen, const lr_own_type *own, bool flat)
{
    int32_t kind = own->def->kind == LR_DEF_OPTIMIZER ? LR_SEEN_IDS
                   : own->def->kind == LR_DEF_ENUM    ? LR_SEEN_ENUM
                                                      : LR_SEEN_STRUCT;
    return seen->kind == kind && (seen->count > 0 || kind != LR_SEEN_STRUCT) && fits(seen, own->layout, flat);
}

/* Fields with tensors that a struct lacks. */
static uint64_t lacking(const lr_seen *seen, const rec_layout *layout)
{
    uint64_t count = 0;
    for (uint64_t i = 0; layout->kind == REC_LAYOUT_STRUCT && i < layout->count; i++) {
        uint64_t k = lr_seen_child(seen, layout->names[i]);
        count += k == seen->count && lr_layout_has_tensors(layout->children[i]);
    }
    return count;
}

/* Whether a field is more likely one of Burn's types than another: its name suggests it, or the type lacks less. A
 * Linear without bias or an Embedding is a Linear unless its name suggests otherwise. */
static bool is_likelier(const lr_seen *seen, const char *field, const lr_own_type *one, const lr_own_type *than)
{
    const char *name = one->def->name, *other = than->def->name;
    bool speaks = lr_field_speaks_of(field, name), other_speaks = lr_field_speaks_of(field, other);
    if (strcmp(name, "Linear") == 0 && strcmp(other, "Embedding") == 0) {
        return !strstr(field, "emb");
    }
    if (strcmp(other, "Linear") == 0 && strcmp(name, "Embedding") == 0) {
        return strstr(field, "emb") != NULL;
    }
    return speaks != other_speaks ? speaks : lacking(seen, one->layout) < lacking(seen, than->layout);
}

const lr_def *lr_own_types_find(const lr_own_types *own, const lr_seen *seen, const char *field, const lr_def **other)
{
    const lr_own_type *best = NULL;
    *other = NULL;
    for (uint64_t i = 0; i < own->count; i++) {
        if (is_one(seen, &own->list[i], own->flat) && (!best || is_likelier(seen, field, &own->list[i], best))) {
            best = &own->list[i];
        }
    }
    for (uint64_t i = 0; best && !*other && i < own->count; i++) {
        *other = &own->list[i] != best && is_one(seen, &own->list[i], own->flat) ? own->list[i].def : NULL;
    }
    return best ? best->def : NULL;
}

const char *lr_own_type_home(const char *name)
{
    static const struct {
        const char *begin, *home;
    } homes[] = {
        {"Conv", "nn::conv::"},
        {"DeformConv", "nn::conv::"},
        {"MultiHead", "nn::attention::"},
        {"CrossAtt", "nn::attention::"},
        {"Transformer", "nn::transformer::"},
        {"PositionWise", "nn::transformer::"},
        {"CrossEntropy", "nn::loss::"},
        {"BinaryCross", "nn::loss::"},
        {"Huber", "nn::loss::"},
        {"Activation", "nn::activation::"},
        {"Normalization", "nn::norm::"},
    };
    for (size_t i = 0; i < sizeof homes / sizeof *homes; i++) {
        if (strncmp(name, homes[i].begin, strlen(homes[i].begin)) == 0) {
            return homes[i].home;
        }
    }
    return "nn::";
}
