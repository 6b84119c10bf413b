/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Layouts: the nodes of which they are made, tensors among them, and what plugins read of them. */
#include "burn/layout/layout.h"

rec_layout *lr_layout_node(rec_job *job, int32_t kind, uint64_t count)
{
    lr_arena *arena = &job->layouts->arena;
    rec_layout *layout = lr_arena_alloc(arena, sizeof *layout, 8);
    const char **names = lr_arena_alloc(arena, (count + 1) * sizeof *names, 8);
    const rec_layout **children = lr_arena_alloc(arena, (count + 1) * sizeof *children, 8);
    if (!layout || !names || !children) {
        (void)lr_fail_memory(job, sizeof *layout);
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
    rec_layout *layout = lr_layout_node(job, job->burn.minor == 7 ? REC_LAYOUT_UNIT : REC_LAYOUT_OPTION, 0);
    return layout;
}

/* ---------------------------------------------------------------------------------------------------- tensors -- */

static const rec_layout *dtype_layout(rec_job *job)
{
    int32_t minor = job->burn.minor;
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
    rec_precision precision = job->burn.precision;
    if (elements == REC_FIELD_BOOLS) {
        return lr_layout_node(job, REC_LAYOUT_BOOL, 0);
    }
    if (elements == REC_FIELD_INTS && (job->burn.minor >= 12 || precision != REC_PRECISION_FULL)) {
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
    bool v1 = job->burn.minor < LR_BURN_V2;
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
    tensor->role = speaks && !bare ? LR_ROLE_PARAMETER : LR_ROLE_TENSOR;
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

bool lr_layouts_begin(rec_job *job)
{
    if (!job->layouts) {
        job->layouts = lr_job_zalloc(job, sizeof *job->layouts);
        if (!job->layouts) {
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
