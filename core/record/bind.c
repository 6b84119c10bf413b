/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Binding: a record's values into a C struct of a defined type. Everything is checked, and every mistake noted, before
 * the caller's struct is touched. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/config/config.h"
#include "core/record/record.h"

struct rec_binding {
    rec_context *context;
    lr_arena arena; /* of lists, options and variants */
};

typedef struct binder {
    rec_job *job;
    lr_arena *arena;
    uint32_t flags;
    uint64_t problems;
    uint64_t lines; /* that are in the message */
    size_t used;    /* of the path */
    char path[1024];
    size_t told; /* of the message */
    char message[1800];
    unsigned depth;
} binder;

enum { PROBLEMS_TOLD = 20, DEPTH_MOST = 64 };

static void problem(binder *b, int32_t kind, const char *format, ...) REC_PRINTF(3, 4);
static void problem(binder *b, int32_t kind, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    lr_note(b->job, kind, 1, b->path, "%s", text);
    if (b->problems == b->lines && b->lines < PROBLEMS_TOLD) {
        size_t room = sizeof b->message - b->told;
        int length = snprintf(b->message + b->told, room, "\n  %s: %s", b->used ? b->path : "(root)", text);
        if (length > 0 && (size_t)length < room) {
            b->told += (size_t)length;
            b->lines++;
        } else {
            b->message[b->told] = '\0'; /* no room: this one and those after it are only counted */
        }
    }
    b->problems++;
}

static size_t enter(binder *b, const char *name)
{
    size_t used = b->used;
    b->used = lr_path_append(b->path, sizeof b->path, used, used == 0, name, strlen(name));
    return used;
}

static size_t enter_index(binder *b, uint64_t index)
{
    size_t used = b->used;
    b->used = lr_path_append_index(b->path, sizeof b->path, used, used == 0, index);
    return used;
}

static void leave(binder *b, size_t used)
{
    b->used = used;
    if (used < sizeof b->path) {
        b->path[used] = '\0';
    }
}

static void no_memory(binder *b)
{
    (void)lr_fail_memory(b->job, 64);
}

static void bind_type(binder *b, const rec_type *type, const rec_value *value, void *target);

/* ----------------------------------------------------------------------------------------------------- tensors -- */

static void print_dims(char *text, size_t room, const uint64_t *dims, uint64_t rank, bool any)
{
    size_t used = (size_t)snprintf(text, room, "[");
    for (uint64_t i = 0; i < rank && used < room; i++) {
        used += any && dims[i] == 0 ? (size_t)snprintf(text + used, room - used, "%s?", i ? ", " : "")
                                    : (size_t)snprintf(text + used, room - used, "%s%" PRIu64, i ? ", " : "", dims[i]);
    }
    if (used < room) {
        (void)snprintf(text + used, room - used, "]");
    }
}

static bool shape_fits(const rec_field *field, const rec_tensor *tensor)
{
    if (tensor->rank != field->shape[0]) {
        return false;
    }
    for (uint32_t i = 0; i < tensor->rank && i < 8; i++) {
        if (field->shape[i + 1] && field->shape[i + 1] != tensor->shape[i]) {
            return false;
        }
    }
    return true;
}

/* What fields of tensors hold. Their structs differ in the type of the numbers alone. */
static const struct {
    rec_dtype dtype;
    bool (*is)(rec_dtype dtype);
} tensors[] = {[REC_FIELD_FLOATS] = {REC_DTYPE_F32, lr_dtype_is_float},
               [REC_FIELD_INTS] = {REC_DTYPE_I64, lr_dtype_is_int},
               [REC_FIELD_BOOLS] = {REC_DTYPE_BOOL, lr_dtype_is_bool}};
_Static_assert(sizeof(rec_floats) == sizeof(rec_ints) && sizeof(rec_floats) == sizeof(rec_bools), "one layout");

static void bind_tensor(binder *b, const rec_field *field, const rec_value *value, void *target)
{
    const char *words = lr_elements_words(field->kind);
    const rec_tensor *tensor = rec_value_tensor(value);
    char expected[160], found[160];
    rec_floats bound;
    if (!tensor) {
        problem(b, REC_NOTE_KIND, "expected a tensor of %s, found %s", words, lr_kind_words(value->kind));
    } else if (!tensors[field->kind].is(tensor->dtype)) {
        problem(b, REC_NOTE_KIND, "expected a tensor of %s, found one of %s", words, rec_tensor_dtype_name(tensor));
    } else if (!shape_fits(field, tensor)) {
        print_dims(expected, sizeof expected, field->shape + 1, field->shape[0], true);
        print_dims(found, sizeof found, tensor->shape, tensor->rank, false);
        problem(b, REC_NOTE_SHAPE, "expected shape %s, found %s", expected, found);
    } else if (!b->problems && !lr_job_failed(b->job)) { /* else nothing will be filled in: convert nothing */
        bound = (rec_floats){.data = lr_tensor_typed(b->job, tensor, tensors[field->kind].dtype),
                             .count = tensor->count,
                             .shape = tensor->shape,
                             .tensor = tensor};
        memcpy(target, &bound, sizeof bound);
    }
}

/* ----------------------------------------------------------------------------------------------------- scalars -- */

static const rec_dtype integers[] = {
    [REC_FIELD_U8] = REC_DTYPE_U8,   [REC_FIELD_U16] = REC_DTYPE_U16, [REC_FIELD_U32] = REC_DTYPE_U32,
    [REC_FIELD_U64] = REC_DTYPE_U64, [REC_FIELD_I8] = REC_DTYPE_I8,   [REC_FIELD_I16] = REC_DTYPE_I16,
    [REC_FIELD_I32] = REC_DTYPE_I32, [REC_FIELD_I64] = REC_DTYPE_I64,
};

static void bind_integer(binder *b, rec_dtype dtype, const rec_value *value, void *target)
{
    bool is_signed = value->kind == REC_KIND_INT;
    uint64_t little = value->v.u;
    lr_converted result = {0};
    lr_swap_if_big(&little, sizeof little, 1);
    if (!is_signed && value->kind != REC_KIND_UINT) {
        problem(b, REC_NOTE_KIND, "expected an integer (%s), found %s", rec_dtype_name(dtype),
                lr_kind_words(value->kind));
    } else if (lr_convert(is_signed ? REC_DTYPE_I64 : REC_DTYPE_U64, &little, dtype, target, 1, false, &result) ==
               LR_CONVERT_OK) {
        return;
    } else if (is_signed && value->v.i < 0) {
        problem(b, REC_NOTE_KIND, "%" PRId64 " does not fit %s", value->v.i, rec_dtype_name(dtype));
    } else {
        problem(b, REC_NOTE_KIND, "%" PRIu64 " does not fit %s", value->v.u, rec_dtype_name(dtype));
    }
}

static void bind_scalar(binder *b, const rec_field *field, const rec_value *value, void *target)
{
    if (field->kind >= REC_FIELD_U8 && field->kind <= REC_FIELD_I64) {
        bind_integer(b, integers[field->kind], value, target);
    } else if (field->kind == REC_FIELD_BOOL) {
        int32_t flag = value->v.i != 0;
        if (value->kind != REC_KIND_BOOL) {
            problem(b, REC_NOTE_KIND, "expected a bool, found %s", lr_kind_words(value->kind));
        } else {
            memcpy(target, &flag, sizeof flag);
        }
    } else if (field->kind == REC_FIELD_STRING) {
        if (value->kind != REC_KIND_STRING) {
            problem(b, REC_NOTE_KIND, "expected a string, found %s", lr_kind_words(value->kind));
        } else {
            memcpy(target, &value->v.text, sizeof value->v.text);
        }
    } else {
        double number = value->kind == REC_KIND_FLOAT  ? value->v.f
                        : value->kind == REC_KIND_UINT ? (double)value->v.u
                                                       : (double)value->v.i;
        float narrow = value->kind == REC_KIND_UINT  ? (float)value->v.u /* rounded once */
                       : value->kind == REC_KIND_INT ? (float)value->v.i
                                                     : (float)number;
        if (value->kind != REC_KIND_FLOAT && value->kind != REC_KIND_UINT && value->kind != REC_KIND_INT) {
            problem(b, REC_NOTE_KIND, "expected a number, found %s", lr_kind_words(value->kind));
        } else if (field->kind == REC_FIELD_F32) {
            memcpy(target, &narrow, sizeof narrow);
        } else {
            memcpy(target, &number, sizeof number);
        }
    }
}

/* ------------------------------------------------------------------------------------------- structs and enums -- */

static uint8_t *new_items(binder *b, const rec_type *type, uint64_t count)
{
    uint64_t size;
    uint8_t *items = lr_mul(count ? count : 1, type->c_size, &size) ? lr_arena_alloc(b->arena, size, 16) : NULL;
    if (!items) {
        no_memory(b);
        return NULL;
    }
    memset(items, 0, (size_t)size);
    return items;
}

static void bind_items(binder *b, const rec_field *field, const rec_value *value, uint8_t *items)
{
    for (uint64_t i = 0; i < rec_value_count(value) && !lr_job_failed(b->job); i++) {
        size_t used = enter_index(b, i);
        bind_type(b, field->type, rec_value_item(value, i), items + i * field->type->c_size);
        leave(b, used);
    }
}

static void bind_list(binder *b, const rec_field *field, const rec_value *value, uint8_t *target)
{
    uint64_t count = rec_value_count(value);
    uint8_t *items;
    if (value->kind != REC_KIND_LIST) {
        problem(b, REC_NOTE_KIND, "expected a list of %s, found %s", field->type->name, lr_kind_words(value->kind));
        return;
    }
    if (field->kind == REC_FIELD_ARRAY) {
        if (count != field->length) {
            problem(b, REC_NOTE_SHAPE, "expected %" PRIu64 " items, found %" PRIu64, field->length, count);
            return;
        }
        bind_items(b, field, value, target);
        return;
    }
    items = count ? new_items(b, field->type, count) : NULL;
    if (items || !count) {
        if (items) {
            bind_items(b, field, value, items);
        }
        memcpy(target, &items, sizeof items);
        memcpy(target + sizeof items, &count, sizeof count); /* name##_count follows the pointer */
    }
}

static void bind_field(binder *b, const rec_field *field, const rec_value *value, uint8_t *target)
{
    uint8_t *item;
    switch (field->kind) {
    case REC_FIELD_CONSTANT:
        break;
    case REC_FIELD_VALUE:
        memcpy(target, &value, sizeof value);
        break;
    case REC_FIELD_FLOATS:
    case REC_FIELD_INTS:
    case REC_FIELD_BOOLS:
        bind_tensor(b, field, value, target);
        break;
    case REC_FIELD_LIST:
    case REC_FIELD_ARRAY:
        bind_list(b, field, value, target);
        break;
    case REC_FIELD_CHILD:
        if (!(field->flags & REC_FIELD_IS_OPTION)) {
            bind_type(b, field->type, value, target);
            break;
        }
        item = new_items(b, field->type, 1);
        if (item) {
            bind_type(b, field->type, value, item);
            memcpy(target, &item, sizeof item);
        }
        break;
    default:
        bind_scalar(b, field, value, target);
        break;
    }
}

static void bind_struct(binder *b, const rec_type *type, const rec_value *value, uint8_t *target)
{
    uint64_t matched = 0;
    if (value->kind != REC_KIND_MAP) {
        problem(b, REC_NOTE_KIND, "expected a %s, found %s", type->name, lr_kind_words(value->kind));
        return;
    }
    for (uint64_t i = 0; i < type->field_count && !lr_job_failed(b->job); i++) {
        const rec_field *field = lr_c_field(type, i);
        const lr_entry *entry = lr_map_find_text(value->v.map, field->name, strlen(field->name));
        bool assumed = entry && entry->key.form == LR_KEY_ASSUMED;
        bool nil = !entry || assumed || entry->value.kind == REC_KIND_NIL;
        size_t used = enter(b, field->name);
        matched += entry != NULL;
        if (!nil || (entry && !assumed && field->kind == REC_FIELD_VALUE)) {
            bind_field(b, field, &entry->value, target + field->offset);
        } else if (!(field->flags & REC_FIELD_IS_OPTION) && field->kind != REC_FIELD_CONSTANT &&
                   !(b->flags & REC_BIND_ALLOW_MISSING)) {
            problem(b, REC_NOTE_MISSING, entry && !assumed ? "is nil, but the type requires it" : "is missing");
        }
        leave(b, used);
    }
    for (uint64_t i = 0;
         i < value->v.map->count && matched < value->v.map->count && !(b->flags & REC_BIND_ALLOW_UNEXPECTED); i++) {
        const lr_entry *entry = &value->v.map->entries[i];
        bool known = entry->value.kind == REC_KIND_NIL;
        for (uint64_t j = 0; j < type->field_count && !known; j++) {
            known = entry->key.kind == REC_KIND_STRING && strcmp(entry->key.v.text, lr_c_field(type, j)->name) == 0;
        }
        if (!known) {
            size_t used = b->used;
            b->used = lr_path_append_key(b->path, sizeof b->path, used, used == 0, &entry->key);
            problem(b, REC_NOTE_UNEXPECTED, "%s has no such field (found %s)", type->name,
                    lr_kind_words(entry->value.kind));
            leave(b, used);
        }
    }
}

/* An enum module's struct: the variant's index, then one pointer for each variant with data. */
static void bind_enum(binder *b, const rec_type *type, const rec_value *value, uint8_t *target)
{
    const rec_value *payload;
    const rec_value *name = lr_value_variant(value, &payload);
    if (name->kind != REC_KIND_STRING) {
        problem(b, REC_NOTE_KIND, "expected a variant of %s, found %s", type->name, lr_kind_words(value->kind));
        return;
    }
    for (uint64_t i = 0; i < type->field_count; i++) {
        const rec_field *field = lr_c_field(type, i);
        int32_t index = (int32_t)i;
        size_t used;
        if (strcmp(field->name, name->v.text) != 0) {
            continue;
        }
        memcpy(target, &index, sizeof index);
        used = enter(b, field->name);
        if (field->type && payload) {
            uint8_t *item = new_items(b, field->type, 1);
            if (item) {
                bind_type(b, field->type, payload, item);
                memcpy(target + field->offset, &item, sizeof item);
            }
        } else if (field->type) {
            problem(b, REC_NOTE_MISSING, "the variant has no data");
        }
        leave(b, used);
        return;
    }
    problem(b, REC_NOTE_KIND, "%s has no variant `%s`", type->name, name->v.text);
}

static void bind_type(binder *b, const rec_type *type, const rec_value *value, void *target)
{
    if (b->depth == DEPTH_MOST) {
        problem(b, REC_NOTE_KIND, "the type is nested deeper than %d levels", DEPTH_MOST);
        return;
    }
    b->depth++;
    if (type->kind == REC_TYPE_ENUM) {
        bind_enum(b, type, value, target);
    } else {
        bind_struct(b, type, value, target);
    }
    b->depth--;
}

/* ------------------------------------------------------------------------------------------------------ public -- */

static rec_binding *bind_at(const rec_record *record, const char *path, const rec_type *type, void *target,
                            uint32_t flags)
{
    rec_job job;
    binder *b = NULL;
    rec_binding *binding = NULL;
    void *filled = NULL;
    const rec_value *value;
    bool done = false;
    lr_record_settle(record);
    lr_job_begin(&job, record->context, "bind", *record->origin.file ? record->origin.file : NULL);
    if (type->size < sizeof *type || type->field_size < sizeof(rec_field)) {
        (void)rec_fail(&job, REC_E_ARGUMENT, REC_UNKNOWN,
                       "the type is not one that REC_DEFINE_STRUCT or REC_DEFINE_ENUM made");
        goto done;
    }
    value = lr_at(record, path);
    if (!value) {
        (void)lr_fail_no_key(&job, record, path);
        goto done;
    }
    binding = lr_zalloc(job.allocator, sizeof *binding);
    filled = lr_zalloc(job.allocator, type->c_size);
    b = lr_zalloc(job.allocator, sizeof *b);
    if (binding) {
        binding->context = lr_context_retain(record->context);
        lr_arena_init(&binding->arena, &record->context->allocator);
    }
    if (!binding || !filled || !b) {
        (void)lr_fail_memory(&job, type->c_size);
        goto done;
    }
    *b = (binder){.job = &job, .arena = &binding->arena, .flags = flags};
    b->used = (size_t)snprintf(b->path, sizeof b->path, "%s", path);
    if (flags & REC_BIND_ALLOW_MISSING) {
        memcpy(filled, target, (size_t)type->c_size);
    }
    bind_type(b, type, value, filled);
    if (b->problems && !lr_job_failed(&job)) {
        char more[64] = "";
        if (b->problems > b->lines) {
            (void)snprintf(more, sizeof more, "\n  and %" PRIu64 " more", b->problems - b->lines);
        }
        (void)rec_fail(&job, REC_E_MISMATCH, REC_UNKNOWN, "the record does not fit the type %s: %" PRIu64 " %s%s%s",
                       type->name, b->problems, b->problems == 1 ? "mistake" : "mistakes", b->message, more);
    }
    done = !lr_job_failed(&job);
    if (done) {
        memcpy(target, filled, (size_t)type->c_size);
    }
done:
    lr_release(job.allocator, filled);
    lr_release(job.allocator, b);
    if (!done) {
        rec_binding_free(binding);
        binding = NULL;
    }
    (void)lr_job_end(&job);
    return binding;
}

rec_binding *rec_bind_at(const rec_record *record, const char *path, const rec_type *type, void *target, uint32_t flags)
{
    if (LR_NULL(record) || LR_NULL(path) || LR_NULL(type) || LR_NULL(target)) {
        return NULL;
    }
    return bind_at(record, path, type, target, flags);
}

rec_binding *rec_bind(const rec_record *record, const rec_type *type, void *target)
{
    if (LR_NULL(record) || LR_NULL(type) || LR_NULL(target)) {
        return NULL;
    }
    return bind_at(record, "", type, target, REC_BIND_STRICT);
}

void rec_binding_free(rec_binding *binding)
{
    if (binding) {
        rec_context *context = binding->context;
        lr_arena_free(&binding->arena);
        lr_release(&context->allocator, binding);
        lr_context_release(context);
    }
}
