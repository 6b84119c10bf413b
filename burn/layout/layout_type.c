/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Layouts of C types: structs and enums that REC_DEFINE_STRUCT and REC_DEFINE_ENUM made. */
#include "burn/layout/layout.h"

static const rec_layout *type_layout(rec_job *job, const rec_type *type, unsigned depth);

static const rec_layout *scalar_layout(rec_job *job, int32_t field)
{
    static const struct {
        int32_t field, kind;
        uint32_t bits;
    } scalars[] = {
        {REC_FIELD_BOOL, REC_LAYOUT_BOOL, 0},  {REC_FIELD_STRING, REC_LAYOUT_STRING, 0},
        {REC_FIELD_U8, REC_LAYOUT_UINT, 8},    {REC_FIELD_U16, REC_LAYOUT_UINT, 16},
        {REC_FIELD_U32, REC_LAYOUT_UINT, 32},  {REC_FIELD_U64, REC_LAYOUT_UINT, 64},
        {REC_FIELD_I8, REC_LAYOUT_INT, 8},     {REC_FIELD_I16, REC_LAYOUT_INT, 16},
        {REC_FIELD_I32, REC_LAYOUT_INT, 32},   {REC_FIELD_I64, REC_LAYOUT_INT, 64},
        {REC_FIELD_F32, REC_LAYOUT_FLOAT, 32}, {REC_FIELD_F64, REC_LAYOUT_FLOAT, 64},
    };
    for (size_t i = 0; i < sizeof scalars / sizeof *scalars; i++) {
        if (scalars[i].field == field) {
            return lr_layout_number(job, scalars[i].kind, scalars[i].bits);
        }
    }
    return NULL;
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
        array = lr_layout_wrap(job, job->burn.minor < 12 ? REC_LAYOUT_LIST : REC_LAYOUT_ARRAY,
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
        (void)rec_fail(job, REC_E_UNSUPPORTED, REC_UNKNOWN, "the field `%s` of type %s has no layout", field->name,
                       type->name);
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
