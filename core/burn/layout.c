/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Layouts: a type laid out as one Burn version stores it. The rules are Burn's derive(Module) and derive(Record). */
#include "core/burn/layout.h"

#include <string.h>

#include "core/record/convert.h"

rec_layout *lr_layout_node(rec_job *job, int32_t kind, uint64_t count)
{
    lr_arena *arena = &job->layouts->arena;
    rec_layout *layout = lr_arena_alloc(arena, sizeof *layout, 8);
    const char **names = lr_arena_alloc(arena, (count + 1) * sizeof *names, 8);
    const rec_layout **children = lr_arena_alloc(arena, (count + 1) * sizeof *children, 8);
    if (!layout || !names || !children) {
        (void)lr_fail_allocator(job, sizeof *layout);
        return NULL;
    }
    memset(names, 0, (size_t)(count + 1) * sizeof *names);
    memset(children, 0, (size_t)(count + 1) * sizeof *children);
    *layout = (rec_layout){.kind = kind, .count = count, .names = names, .children = children};
    return layout;
}

void lr_layout_set(rec_layout *layout, uint64_t index, const char *name, const rec_layout *child)
{
    if (layout) {
        ((const char **)layout->names)[index] = name;
        ((const rec_layout **)layout->children)[index] = child;
    }
}

rec_layout *lr_layout_number(rec_job *job, int32_t kind, uint32_t bits)
{
    rec_layout *layout = lr_layout_node(job, kind, 0);
    if (layout) {
        layout->bits = bits;
    }
    return layout;
}

rec_layout *lr_layout_wrap(rec_job *job, int32_t kind, const rec_layout *child)
{
    rec_layout *layout = lr_layout_node(job, kind, 1);
    lr_layout_set(layout, 0, "", child);
    return layout;
}

rec_layout *lr_layout_constant(rec_job *job)
{
    rec_layout *layout = lr_layout_node(job, job->burn_minor == 7 ? REC_LAYOUT_UNIT : REC_LAYOUT_OPTION, 0);
    return layout;
}

/* ---------------------------------------------------------------------------------------------------- tensors -- */

static const rec_layout *dtype_layout(rec_job *job)
{
    int32_t minor = job->burn_minor;
    rec_layout *layout = lr_layout_node(job, REC_LAYOUT_ENUM, lr_burn_dtype_count(minor));
    for (uint64_t i = 0; layout && i < layout->count; i++) {
        const char *name = lr_burn_dtype_at(minor, i);
        const rec_layout *payload = NULL;
        if (minor >= LR_BURN_BOOL_STORE && strcmp(name, "Bool") == 0) {
            rec_layout *store = lr_layout_node(job, REC_LAYOUT_ENUM, 3);
            lr_layout_set(store, 0, "Native", NULL);
            lr_layout_set(store, 1, "U8", NULL);
            lr_layout_set(store, 2, "U32", NULL);
            payload = store;
        }
        lr_layout_set(layout, i, name, payload);
    }
    return layout;
}

static const rec_layout *v1_element(rec_job *job, int32_t elements)
{
    rec_precision precision = job->burn_precision;
    if (elements == REC_FIELD_BOOLS) {
        return lr_layout_node(job, REC_LAYOUT_BOOL, 0);
    }
    if (elements == REC_FIELD_INTS && (job->burn_minor >= 12 || precision != REC_PRECISION_FULL)) {
        return lr_layout_number(job, REC_LAYOUT_INT,
                                precision == REC_PRECISION_HALF     ? 16
                                : precision == REC_PRECISION_DOUBLE ? 64
                                                                    : 32);
    }
    return precision == REC_PRECISION_HALF     ? lr_layout_number(job, REC_LAYOUT_UINT, 16)
           : precision == REC_PRECISION_DOUBLE ? lr_layout_number(job, REC_LAYOUT_FLOAT, 64)
                                               : lr_layout_number(job, REC_LAYOUT_FLOAT, 32);
}

const rec_layout *lr_layout_tensor(rec_job *job, int32_t elements, uint64_t rank, bool bare)
{
    bool v1 = job->burn_minor < LR_BURN_V2;
    bool speaks = job->plugin && (job->plugin->traits & REC_TRAIT_TENSORS);
    rec_layout *tensor, *parameter;
    if (speaks) {
        tensor = lr_layout_node(job, REC_LAYOUT_TENSOR, 0);
        if (tensor) {
            tensor->count = rank;
        }
    } else {
        tensor = lr_layout_node(job, REC_LAYOUT_STRUCT, v1 ? 2 : 3);
        lr_layout_set(tensor, 0, v1 ? "value" : "bytes",
                      v1 ? lr_layout_wrap(job, REC_LAYOUT_LIST, v1_element(job, elements))
                         : lr_layout_node(job, REC_LAYOUT_BYTES, 0));
        lr_layout_set(tensor, 1, "shape",
                      lr_layout_wrap(job, REC_LAYOUT_LIST, lr_layout_number(job, REC_LAYOUT_UINT, 64)));
        if (!v1) {
            lr_layout_set(tensor, 2, "dtype", dtype_layout(job));
        }
    }
    if (!tensor) {
        return NULL;
    }
    tensor->role = LR_ROLE_TENSOR;
    tensor->elements = elements;
    tensor->rank = rank;
    if (speaks || bare) {
        return tensor;
    }
    parameter = lr_layout_node(job, REC_LAYOUT_STRUCT, 2);
    lr_layout_set(parameter, 0, "id", lr_layout_node(job, REC_LAYOUT_ID, 0));
    lr_layout_set(parameter, 1, "param", tensor);
    if (parameter) {
        parameter->role = LR_ROLE_PARAMETER;
        parameter->elements = elements;
        parameter->rank = rank;
    }
    return parameter;
}

/* ------------------------------------------------------------------------------------------------------- types -- */

static const rec_layout *type_layout(rec_job *job, const rec_type *type, unsigned depth);

static const rec_layout *scalar_layout(rec_job *job, int32_t kind)
{
    switch (kind) {
    case REC_FIELD_BOOL:
        return lr_layout_node(job, REC_LAYOUT_BOOL, 0);
    case REC_FIELD_U8:
        return lr_layout_number(job, REC_LAYOUT_UINT, 8);
    case REC_FIELD_U16:
        return lr_layout_number(job, REC_LAYOUT_UINT, 16);
    case REC_FIELD_U32:
        return lr_layout_number(job, REC_LAYOUT_UINT, 32);
    case REC_FIELD_U64:
        return lr_layout_number(job, REC_LAYOUT_UINT, 64);
    case REC_FIELD_I8:
        return lr_layout_number(job, REC_LAYOUT_INT, 8);
    case REC_FIELD_I16:
        return lr_layout_number(job, REC_LAYOUT_INT, 16);
    case REC_FIELD_I32:
        return lr_layout_number(job, REC_LAYOUT_INT, 32);
    case REC_FIELD_I64:
        return lr_layout_number(job, REC_LAYOUT_INT, 64);
    case REC_FIELD_F32:
        return lr_layout_number(job, REC_LAYOUT_FLOAT, 32);
    case REC_FIELD_F64:
        return lr_layout_number(job, REC_LAYOUT_FLOAT, 64);
    case REC_FIELD_STRING:
        return lr_layout_node(job, REC_LAYOUT_STRING, 0);
    default:
        return NULL;
    }
}

static const rec_layout *field_layout(rec_job *job, const rec_type *type, const rec_field *field, unsigned depth)
{
    const rec_layout *layout = NULL;
    rec_layout *array;
    switch (field->kind) {
    case REC_FIELD_CONSTANT:
        return lr_layout_constant(job);
    case REC_FIELD_FLOATS:
    case REC_FIELD_INTS:
    case REC_FIELD_BOOLS:
        layout = lr_layout_tensor(job, field->kind, field->shape[0], field->flags & REC_FIELD_IS_BARE);
        break;
    case REC_FIELD_CHILD:
        layout = type_layout(job, field->type, depth);
        break;
    case REC_FIELD_LIST:
        layout = lr_layout_wrap(job, REC_LAYOUT_LIST, type_layout(job, field->type, depth));
        break;
    case REC_FIELD_ARRAY:
        /* Up to 0.11 an array was counted like a Vec. */
        array = lr_layout_wrap(job, job->burn_minor < 12 ? REC_LAYOUT_LIST : REC_LAYOUT_ARRAY,
                               type_layout(job, field->type, depth));
        if (array) {
            array->count = field->length;
        }
        layout = array;
        break;
    case REC_FIELD_VARIANT:
        /* A variant of a module always has a record; one without data has a constant's. */
        return field->type ? type_layout(job, field->type, depth) : lr_layout_constant(job);
    default:
        layout = scalar_layout(job, field->kind);
        break;
    }
    if (!layout && !lr_job_failed(job)) {
        (void)rec_fail(job, REC_E_UNSUPPORTED, REC_UNKNOWN, "the field `%s` of type %s has no layout of its own",
                       field->name, type->name);
        rec_fail_hint(job, "A format without names needs the exact type of every field.");
    }
    return layout && (field->flags & REC_FIELD_IS_OPTION) ? lr_layout_wrap(job, REC_LAYOUT_OPTION, layout) : layout;
}

enum { TYPE_DEPTH_MOST = 64 };

static const rec_layout *type_layout(rec_job *job, const rec_type *type, unsigned depth)
{
    rec_layout *layout;
    if (lr_job_failed(job)) {
        return NULL;
    }
    if (depth == TYPE_DEPTH_MOST) {
        (void)rec_fail(job, REC_E_UNSUPPORTED, REC_UNKNOWN, "the type %s is nested deeper than %d levels", type->name,
                       TYPE_DEPTH_MOST);
        return NULL;
    }
    layout = lr_layout_node(job, type->kind == REC_TYPE_ENUM ? REC_LAYOUT_ENUM : REC_LAYOUT_STRUCT, type->field_count);
    if (layout) {
        layout->module = type->name;
        layout->from_c = true;
    }
    for (uint64_t i = 0; layout && i < type->field_count; i++) {
        const rec_field *field = lr_c_field(type, i);
        const rec_layout *child = field_layout(job, type, field, depth + 1);
        if (!child) {
            return NULL;
        }
        lr_layout_set(layout, i, field->name, child);
    }
    return layout;
}

static const rec_layout *of_ref(rec_job *job, const lr_type_ref *type)
{
    return type_layout(job, type->what, 0);
}

lr_type_ref lr_type_of_c(const rec_type *type)
{
    return (lr_type_ref){.layout = type ? of_ref : NULL, .what = type};
}

/* ------------------------------------------------------------------------------------------------------ the whole -- */

static const rec_layout *metadata_layout(rec_job *job)
{
    static const char *const names[] = {"float", "int", "format", "version", "settings"};
    rec_layout *metadata = lr_layout_node(job, REC_LAYOUT_STRUCT, 5);
    for (uint64_t i = 0; i < 5; i++) {
        lr_layout_set(metadata, i, names[i], lr_layout_node(job, REC_LAYOUT_STRING, 0));
    }
    return metadata;
}

bool lr_layouts_begin(rec_job *job)
{
    if (!job->layouts) {
        job->layouts = lr_zalloc(job->allocator, sizeof *job->layouts);
        if (!job->layouts) {
            (void)lr_fail_allocator(job, sizeof *job->layouts);
            return false;
        }
        lr_arena_init(&job->layouts->arena, job->allocator);
    }
    return true;
}

void lr_layouts_free(rec_job *job)
{
    if (job->layouts) {
        if (job->layouts->type.layout && job->type.what == job->layouts->type.what) {
            job->type = (lr_type_ref){0};
        }
        lr_arena_free(&job->layouts->arena);
        lr_release(job->allocator, job->layouts);
        job->layouts = NULL;
    }
}

const rec_layout *lr_layout_item(rec_job *job)
{
    if (!lr_layouts_begin(job)) {
        return NULL;
    }
    if (!job->layouts->item) {
        const rec_layout *item = job->type.layout(job, &job->type);
        job->layouts->item = lr_job_failed(job) ? NULL : item;
    }
    return job->layouts->item;
}

int32_t rec_job_layout(rec_job *job, const rec_layout **layout)
{
    struct lr_layouts *all;
    rec_layout *root;
    *layout = NULL;
    if (lr_job_failed(job) || !lr_layouts_begin(job)) {
        return job->error.status;
    }
    all = job->layouts;
    if (!job->burn_known) {
        if (!all->metadata) {
            root = lr_layout_node(job, REC_LAYOUT_STRUCT, 1);
            lr_layout_set(root, 0, "metadata", metadata_layout(job));
            all->metadata = root;
        }
        *layout = all->metadata;
    } else if (lr_job_typed(job)) {
        if (!all->whole && lr_layout_item(job)) {
            bool unit = job->burn_minor >= LR_BURN_UNIT_B;
            root = lr_layout_node(job, REC_LAYOUT_STRUCT, unit ? 3 : 2);
            lr_layout_set(root, 0, "metadata", metadata_layout(job));
            lr_layout_set(root, 1, "item", all->item);
            if (unit) {
                lr_layout_set(root, 2, "_b", lr_layout_node(job, REC_LAYOUT_UNIT, 0));
            }
            all->whole = root;
        }
        *layout = all->whole;
    }
    return job->error.status;
}

int32_t rec_layout_kind(const rec_layout *layout)
{
    return layout ? layout->kind : 0;
}

uint32_t rec_layout_bits(const rec_layout *layout)
{
    return layout ? layout->bits : 0;
}

uint64_t rec_layout_count(const rec_layout *layout)
{
    return layout ? layout->count : 0;
}

/* Lists, arrays, options and maps keep one or two children whatever their count says. */
static uint64_t child_count(const rec_layout *layout)
{
    switch (layout->kind) {
    case REC_LAYOUT_LIST:
    case REC_LAYOUT_ARRAY:
        return 1;
    case REC_LAYOUT_TENSOR:
        return 0;
    default:
        return layout->count;
    }
}

const char *rec_layout_name(const rec_layout *layout, uint64_t index)
{
    return layout && index < child_count(layout) && layout->names[index] ? layout->names[index] : "";
}

const rec_layout *rec_layout_child(const rec_layout *layout, uint64_t index)
{
    return layout && index < child_count(layout) ? layout->children[index] : NULL;
}
