/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Puts a piece at its place in the destination: its tensor with the required kind of element, and its line. */

#include "remap/fit/fit_private.h"

const char *lr_place_rule_path(const lr_fitter *f, const lr_plan_source *source, uint64_t *length)
{
    *length = f->path.used;
    return lr_place_without_prefix(source, lr_fit_here(f), length);
}

/* Brings a tensor to the kind of elements that the destination wants, in one step. Integers are as wide as can be: what
 * the precision has no room for is found, or clamped, where it is converted to that. */
static int32_t cast(rec_job *job, rec_plan *plan, const char *path, int32_t wanted, lr_op **op, const char **operations)
{
    rec_dtype from = lr_op_dtype(*op);
    rec_precision precision = plan->precision == REC_PRECISION_KEEP ? plan->written : plan->precision;
    lr_op *next;
    if (wanted == 0 || (wanted == lr_elements_of(from) && (rec_dtype_bits(from) || from == REC_DTYPE_QFLOAT))) {
        return REC_OK;
    }
    if (rec_dtype_bits(from) == 0) {
        const rec_value *words = lr_op_dtype_value(*op);
        int32_t status = lr_plan_problem(
            job, plan, REC_PROBLEM_KIND, true, path, "Leave it out with a drop rule, or convert it where it was made.",
            "%.200s: elements of %.64s cannot be computed with", path,
            words && words->kind == REC_KIND_STRING ? words->v.text : rec_dtype_name(from));
        lr_op_release(*op);
        *op = NULL;
        return status;
    }
    next = lr_op_cast(job, *op,
                      wanted == REC_FIELD_FLOATS ? lr_dtype_at(REC_DTYPE_F32, precision) /* rounded once */
                      : wanted == REC_FIELD_INTS ? REC_DTYPE_I64
                                                 : REC_DTYPE_BOOL);
    lr_op_release(*op);
    *op = next;
    if (*op) {
        *operations = lr_plan_and(job, plan, *operations,
                                  wanted == REC_FIELD_FLOATS ? "to float"
                                  : wanted == REC_FIELD_INTS ? "to int"
                                                             : "to bool");
    }
    return *op ? job->error.status : lr_plan_refused(job, plan, path, "its elements are of another kind");
}

/* ------------------------------------------------------------------------------------------------------- lines -- */

static int32_t line_here(lr_fitter *f, int32_t action, const lr_piece *piece, const rec_tensor *tensor,
                         const char *operations, const char *why)
{
    return lr_plan_line(f->job, f->plan, action, piece, tensor, lr_fit_here(f), f->path.used, operations, why);
}

int32_t lr_place_line(lr_fitter *f, int32_t action, const char *why)
{
    const char *kept = lr_plan_keep(f->job, f->plan, why, strlen(why));
    return kept ? line_here(f, action, NULL, NULL, "", kept) : f->job->error.status;
}

static int32_t piece_line(lr_fitter *f, const lr_piece *piece, const char *operations, const char *why,
                          const rec_tensor *tensor)
{
    const char *both = lr_plan_and(f->job, f->plan, why, piece->why);
    return both ? line_here(f, piece->kept ? REC_PLAN_KEPT : REC_PLAN_MAPPED, piece, tensor, operations, both)
                : f->job->error.status;
}

/* ----------------------------------------------------------------------------------------------------- placing -- */

int32_t lr_fit_name(lr_fitter *f, const char *name, uint64_t length, rec_value *key)
{
    enum { SLOTS = sizeof f->names / sizeof *f->names };
    const unsigned char *c = (const unsigned char *)name;
    uint64_t slot = length ? (length + c[0] * 5u + c[length / 2] * 11u + c[length - 1] * 3u) % SLOTS : 0;
    if (f->names[slot].text && f->names[slot].length == length &&
        memcmp(f->names[slot].text, name, (size_t)length) == 0) {
        *key = (rec_value){.kind = REC_KIND_STRING, .length = (uint32_t)length, .v.text = f->names[slot].text};
        return REC_OK;
    }
    if (!lr_string(&f->record->arena, name, length, key)) {
        return lr_fail_memory(f->job, length);
    }
    f->names[slot].text = key->v.text;
    f->names[slot].length = key->length;
    return REC_OK;
}

int32_t lr_fit_append(lr_fitter *f, lr_map *map, const char *name, uint64_t length, const rec_value *value)
{
    rec_value key;
    lr_entry *entry = lr_fit_name(f, name, length, &key) == REC_OK ? lr_map_append(&f->record->arena, map, key) : NULL;
    if (!entry) {
        return lr_fail_memory(f->job, sizeof *entry);
    }
    entry->value = *value;
    return REC_OK;
}

/* An id for a parameter that came without: of its path, so that the same conversion gives the same bytes. */
static const char *make_id(const lr_fitter *f)
{
    char id[LR_ID_ROOM];
    uint8_t bytes[8];
    lr_id_of_path(lr_fit_here(f), f->path.used, bytes);
    lr_id_base32(bytes, sizeof bytes, id);
    return lr_job_arena_text(f->job, &f->record->arena, id, strlen(id));
}

/* A shape in the record. Tensors that follow each other often have the same, once for all of them. */
static const uint64_t *shape_in(const lr_fitter *f, const lr_op *op)
{
    uint32_t rank = lr_op_rank(op);
    size_t size = rank * sizeof(uint64_t);
    uint64_t *shape;
    if (f->last && f->last->rank == rank && (!rank || memcmp(f->last->shape, lr_op_shape(op), size) == 0)) {
        return f->last->shape;
    }
    shape = lr_arena_alloc(&f->record->arena, size, 8);
    if (shape && rank) {
        memcpy(shape, lr_op_shape(op), size);
    }
    return shape;
}

static rec_tensor *make_tensor(lr_fitter *f, lr_op *op, const char *id)
{
    rec_record *record = f->record;
    rec_tensor *tensor = lr_arena_alloc(&record->arena, sizeof *tensor, 8);
    uint32_t rank = lr_op_rank(op);
    const uint64_t *shape = tensor ? shape_in(f, op) : NULL;
    const rec_value *words = lr_op_dtype_value(op);
    if (!tensor || !shape) {
        return LR_AS_NULL(lr_fail_memory(f->job, sizeof *tensor));
    }
    *tensor = (rec_tensor){.record = record, .shape = shape, .id = id, .rank = (uint8_t)rank};
    tensor->stored = tensor->packed = (uint8_t)lr_op_dtype(op);
    f->last = tensor;
    (void)lr_shape_count(shape, rank, &tensor->count);
    if (words) {
        rec_value *copy = lr_arena_alloc(&record->arena, sizeof *copy, 8);
        if (!copy || !lr_value_copy(record, words, copy) || !lr_encoding_make(tensor)) {
            return LR_AS_NULL(lr_fail_memory(f->job, sizeof *copy));
        }
        tensor->encoding->words = copy;
    }
    tensor->data = lr_op_data(f->job, record, op);
    if (tensor->data && lr_op_numbers(op)) {
        if (!lr_encoding_make(tensor)) {
            (void)lr_fail_memory(f->job, sizeof *tensor->encoding);
            return NULL;
        }
        tensor->encoding->numbers = make_tensor(f, lr_op_numbers(op), id);
    }
    lr_tensor_set_precision(tensor, f->plan->precision);
    return tensor->data && !lr_job_failed(f->job) ? tensor : NULL;
}

/* Says of a tensor, and of its elements as numbers, what it is. */
static void mark(rec_tensor *tensor, bool made, bool anonymous)
{
    for (; tensor; tensor = lr_encoding_of(tensor)->numbers) {
        tensor->id_made = made;
        tensor->anonymous = anonymous;
    }
}

/* Whether a piece is a parameter: one of those that it is made of is. What a rule adds is for a module. */
static bool is_parameter(const rec_plan *plan, const lr_piece *piece)
{
    bool parameter = piece->input_count == 0 || plan->sources[piece->source].reverse;
    for (uint64_t i = 0; i < piece->input_count && !parameter; i++) {
        const rec_tensor *tensor = rec_value_tensor(lr_piece_inputs(piece)[i]->value);
        parameter = tensor && lr_tensor_is_parameter(tensor);
    }
    return parameter;
}

int32_t lr_fit_put(lr_fitter *f, lr_piece *piece, bool transpose, int32_t wanted, bool parameter, const char *why,
                   rec_value *out)
{
    const char *path = lr_fit_here(f);
    const char *operations = "", *all, *id = lr_piece_id(piece);
    rec_tensor *tensor = NULL;
    const rec_tensor *from;
    lr_op *op = NULL;
    bool has_id, made = false;
    int32_t status;
    *out = lr_nil(REC_FORM_UNKNOWN);
    piece->taken = true;
    if (!lr_piece_is_tensor(piece)) {
        if (!lr_value_copy(f->record, piece->value, out)) {
            return lr_fail_memory(f->job, sizeof *out);
        }
        if (piece->kept && piece->value->kind == REC_KIND_NIL) {
            return REC_OK; /* a constant of the base's: nothing was kept */
        }
        f->plan->kept += piece->kept;
        f->plan->mapped += !piece->kept;
        return piece_line(f, piece, "", why, NULL);
    }
    status = lr_place_work(f->job, f->plan, f->matcher, piece, path, f->path.used, transpose && !piece->adapted, &op,
                           &operations);
    if (op && status == REC_OK) {
        status = cast(f->job, f->plan, path, wanted, &op, &operations);
    }
    if (!op || status != REC_OK) {
        lr_op_release(op);
        return status; /* a failure, or a problem of the plan */
    }
    has_id = id || (parameter && (!f->plan->foreign || f->plan->type.layout));
    if (id) {
        id = lr_job_arena_text(f->job, &f->record->arena, id, strlen(id));
    } else if (has_id) {
        id = make_id(f);
        made = true;
    }
    tensor = lr_job_failed(f->job) ? NULL : make_tensor(f, op, id);
    if (tensor && piece->input_count == 1 && lr_op_kind(lr_op_reshaped(op)) == LR_OP_TENSOR &&
        (from = rec_value_tensor(lr_piece_inputs(piece)[0]->value)) && from->stored == tensor->stored &&
        !lr_tensor_copy_scheme(tensor, from)) {
        (void)lr_fail_memory(f->job, sizeof *tensor);
        tensor = NULL;
    }
    lr_op_release(op);
    all = tensor ? lr_plan_and(f->job, f->plan, piece->operations, f->moved ? "gap" : "") : NULL;
    all = all ? lr_plan_and(f->job, f->plan, all, operations) : NULL;
    if (!tensor || !all) {
        return f->job->error.status;
    }
    mark(tensor, made, !id && (f->plan->type.layout ? parameter : is_parameter(f->plan, piece)));
    *out = (rec_value){.kind = REC_KIND_TENSOR, .v.tensor = tensor};
    if (lr_fit_against_base(f, piece, why, tensor) != REC_OK) {
        return f->job->error.status;
    }
    f->plan->kept += piece->kept;
    f->plan->mapped += !piece->kept;
    return piece_line(f, piece, all, why, tensor);
}
