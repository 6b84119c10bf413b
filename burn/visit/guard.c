/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The border that a reader's events cross: a plugin's `load` is called with this visitor, which checks the arguments of
 * each event, and their order. The builder and the check get what is right. A tensor is one event, and so is
 * a run of numbers: none of this is done byte by byte. */
#include <inttypes.h>

#include "burn/visit/guard.h"
#include "burn/visit/walk_private.h"
#include "core/io/io.h"

/* What the first version of a struct had: none was ever smaller. */
#define TENSOR_LEAST (offsetof(rec_tensor_event, data) + sizeof(rec_blob))

/* Returns the guard `self` if it belongs to the innermost call of `load`; NULL: the event is rejected. */
static lr_guard *enter(void *self, const char *event)
{
    const lr_call *call = lr_call_now();
    if (!call || call->kind != LR_CALL_LOAD || call->self != self) {
        const lr_call *load = call;
        while (load && (load->kind != LR_CALL_LOAD || load->self != self)) {
            load = load->outer;
        }
        if (load) {
            (void)lr_breach(NULL, REC_UNKNOWN, "sent `%s` in the middle of another event", event);
        } else {
            (void)lr_breach(NULL, REC_UNKNOWN,
                            "sent `%s` with a `self` that is not that of this call of `load`, or after it", event);
        }
        return NULL;
    }
    return lr_job_failed(((lr_guard *)self)->order.job) ? NULL : self;
}

static int32_t refused(const lr_guard *g)
{
    return lr_breach_status(g ? g->order.job : NULL);
}

/* --------------------------------------------------------------------------------------------------- arguments -- */

static bool has(const lr_guard *g, uint64_t at, const char *event, const char *argument, const void *pointer)
{
    if (!pointer) {
        (void)lr_breach(g->order.job, at, "sent `%s` with NULL as `%s`", event, argument);
    }
    return pointer != NULL;
}

/* UTF-8 of a length. */
static bool is_text(const lr_guard *g, uint64_t at, const char *what, const char *text, uint64_t length)
{
    size_t good;
    if (!text && length) {
        (void)lr_breach(g->order.job, at, "gave %s of %" PRIu64 " bytes without its text", what, length);
        return false;
    }
    if (length >= UINT32_MAX) {
        (void)rec_fail(g->order.job, REC_E_UNSUPPORTED, at, "a string of 4 GiB or more");
        return false;
    }
    good = length ? lr_utf8_valid(text, (size_t)length) : 0;
    if (good != length) {
        (void)lr_breach(g->order.job, at, "gave %s that is not UTF-8 at its byte %zu, 0x%02x", what, good,
                        (unsigned)(unsigned char)text[good]);
    }
    return good == length;
}

static bool width_fits(const rec_scalar *s)
{
    switch (s->kind) {
    case REC_KIND_INT:
        return s->bits == 0 || s->bits == 64 ||
               ((s->bits == 8 || s->bits == 16 || s->bits == 32) && s->v.i >= -(INT64_C(1) << (s->bits - 1)) &&
                s->v.i < INT64_C(1) << (s->bits - 1));
    case REC_KIND_UINT:
        return s->bits == 0 || s->bits == 64 ||
               ((s->bits == 8 || s->bits == 16 || s->bits == 32) && s->v.u >> s->bits == 0);
    case REC_KIND_FLOAT:
        return s->bits == 0 || s->bits == 16 || s->bits == 32 || s->bits == 64;
    default:
        return true;
    }
}

static bool is_scalar(const lr_guard *g, uint64_t at, const char *what, const rec_scalar *s)
{
    if (s->kind < REC_KIND_NIL || s->kind > REC_KIND_STRING) {
        (void)lr_breach(g->order.job, at, "gave %s of the kind %d, which is not a scalar's", what, (int)s->kind);
    } else if (s->kind == REC_KIND_STRING) {
        return is_text(g, at, what, s->text, s->v.length);
    } else if (s->kind == REC_KIND_BOOL && (s->v.i < 0 || s->v.i > 1)) {
        (void)lr_breach(g->order.job, at, "gave %s that is a bool of %" PRId64 "; it is 0 or 1", what, s->v.i);
    } else if (!width_fits(s)) {
        (void)lr_breach(g->order.job, at, "gave %s that is a number of %u bits, and not one that has them", what,
                        (unsigned)s->bits);
    } else if (s->form > REC_FORM_UNIT_STRUCT || (s->kind != REC_KIND_NIL && s->form)) {
        (void)lr_breach(g->order.job, at, "gave %s of the form %u, which its kind does not have", what,
                        (unsigned)s->form);
    } else {
        return true;
    }
    return false;
}

/* Checks a key or the name of a variant. Programs have it as a C string, which ends at a NUL: names that differ after
 * one would be the same to them. */
static bool is_key(const lr_guard *g, uint64_t at, const char *what, const rec_scalar *s)
{
    const char *nul;
    lr_excerpt brief;
    if (!is_scalar(g, at, what, s)) {
        return false;
    }
    nul = s->kind == REC_KIND_STRING && s->v.length ? memchr(s->text, '\0', (size_t)s->v.length) : NULL;
    if (nul) {
        (void)rec_fail(g->order.job, REC_E_UNSUPPORTED, at, "%s has a NUL byte after \"%s\"", what,
                       lr_excerpt_text(&brief, s->text));
        rec_fail_hint(g->order.job, "No name can have one. Rename it with the program that wrote the file.");
    }
    return !nul;
}

/* A text that ends in a NUL: an id, a name of an element type. */
static bool is_name(const lr_guard *g, uint64_t at, const char *what, const char *text, size_t most)
{
    size_t length = strnlen(text, most + 1);
    if (length == 0 || length > most) {
        (void)lr_breach(g->order.job, at,
                        length ? "gave %s of more than %zu bytes" : "gave %s that is empty; 1 to %zu bytes", what,
                        most);
        return false;
    }
    if (!is_text(g, at, what, text, length)) {
        return false;
    }
    for (const char *c = text; *c; c++) {
        if ((unsigned char)*c < ' ' || *c == 0x7F) {
            (void)lr_breach(g->order.job, at, "gave %s with the control character 0x%02x", what, (unsigned)*c);
            return false;
        }
    }
    return true;
}

static bool is_id(const lr_guard *g, uint64_t at, const char *id)
{
    const char *fault = lr_id_fault(id, strnlen(id, LR_ID_MOST + 1));
    if (fault) {
        (void)lr_breach(g->order.job, at, "gave an id that %s", fault);
    }
    return !fault;
}

static bool has_form(const lr_guard *g, uint64_t at, int32_t form, int32_t a, int32_t b, int32_t c, const char *event)
{
    if (form != REC_FORM_UNKNOWN && form != a && form != b && form != c) {
        (void)lr_breach(g->order.job, at, "sent `%s` with the form %d, which it does not have", event, (int)form);
        return false;
    }
    return true;
}

static bool is_flag(const lr_guard *g, uint64_t at, int32_t flag, const char *event, const char *argument)
{
    if (flag != 0 && flag != 1) {
        (void)lr_breach(g->order.job, at, "sent `%s` with %d as `%s`; it is 0 or 1", event, (int)flag, argument);
        return false;
    }
    return true;
}

/* ------------------------------------------------------------------------------------------------- their order -- */

/* The record's value is one tree; metadata come before it; a map has a key before each value; a container has as many
 * elements as it announced. Each function takes one event. It returns REC_OK, or the job has failed. */

static int32_t broken(const lr_order *o, uint64_t at, const char *what)
{
    return lr_breach(o->job, at, "broke the order of events: %s", what);
}

static lr_order_frame *top(const lr_order *o)
{
    return o->depth ? &o->frames[o->depth - 1] : NULL;
}

/* A value begins. */
static int32_t begin_value(lr_order *o, uint64_t at)
{
    lr_order_frame *f = top(o);
    o->owed = false;
    if (!f) {
        if (!o->entry && o->rooted) {
            return broken(o, at, "a second value");
        }
        o->rooted = o->rooted || !o->entry;
        return REC_OK;
    }
    if (f->kind == REC_KIND_MAP) {
        if (!f->keyed) {
            return broken(o, at, "a value of a map without its key");
        }
        f->keyed = false;
        return REC_OK; /* its key was counted */
    }
    if (f->count == f->announced) {
        return broken(
            o, at, f->kind == REC_KIND_LIST ? "more elements than were announced" : "a payload that was not announced");
    }
    f->count++;
    return REC_OK;
}

/* A value is complete. */
static void end_value(lr_order *o)
{
    o->entry = o->entry && o->depth;
}

/* A value that is complete at once: a scalar, bytes, a tensor, an option that is absent. */
static int32_t order_value(lr_order *o, uint64_t at)
{
    int32_t status = begin_value(o, at);
    o->at = at;
    end_value(o);
    return status;
}

static int32_t order_tensor(lr_order *o, uint64_t at)
{
    if (!o->tensors || o->entry) {
        return broken(o, at,
                      o->entry ? "a tensor in the metadata" : "a tensor from a format whose traits do not say so");
    }
    return order_value(o, at);
}

static int32_t order_option(lr_order *o, uint64_t at, bool present)
{
    if (!present) {
        return order_value(o, at);
    }
    o->owed = true;
    o->at = at;
    return REC_OK;
}

/* @param count numbers that follow one another in a list. */
static int32_t order_numbers(lr_order *o, uint64_t at, uint64_t count)
{
    lr_order_frame *f = top(o);
    if (!f || f->kind != REC_KIND_LIST) {
        return broken(o, at, "numbers outside of a list");
    }
    if (f->announced != REC_UNKNOWN && count > f->announced - f->count) {
        return broken(o, at, "more elements than were announced");
    }
    f->count += count;
    o->owed = o->owed && !count;
    o->at = at;
    return REC_OK;
}

/* @param announced elements of a list, entries of a map, payloads of a variant (0 or 1). */
static int32_t order_begin(lr_order *o, uint64_t at, int32_t kind, int32_t form, uint64_t announced)
{
    if (form == REC_FORM_PATHS && (o->depth || o->entry || !o->tensors)) {
        return lr_breach(o->job, at, "sent a map of REC_FORM_PATHS %s",
                         o->tensors ? "that is not the outermost value" : "without REC_TRAIT_TENSORS");
    }
    if (o->depth >= o->job->limits.depth) {
        (void)rec_fail(o->job, REC_E_LIMIT, at, "lists and maps are nested deeper than the limit of %u",
                       (unsigned)o->job->limits.depth);
        rec_fail_hint(o->job, "If the file can be trusted, raise `depth` (rec_limits, or the INI file).");
        return o->job->error.status;
    }
    if (begin_value(o, at) != REC_OK || !lr_job_grow(o->job, &o->frames, o->depth + 1, &o->room, sizeof *o->frames)) {
        return lr_breach_status(o->job);
    }
    o->at = at;
    o->frames[o->depth++] = (lr_order_frame){.kind = kind, .announced = announced};
    return REC_OK;
}

/* Of a list of metadata that has just begun. */
static int32_t order_list_of(lr_order *o, uint64_t at)
{
    const lr_order_frame *f = top(o);
    if (!o->entry || !f || f->kind != REC_KIND_LIST || f->count) {
        return broken(o, at, "the type of a list outside of the metadata, or after its first element");
    }
    o->at = at;
    return REC_OK;
}

static int32_t order_key(lr_order *o, uint64_t at, const rec_scalar *key)
{
    lr_order_frame *f = top(o);
    if (o->owed) {
        return broken(o, at, "an option without its value");
    }
    if (!f || f->kind != REC_KIND_MAP || f->keyed) {
        return broken(o, at, "a key outside of a map, or two keys in a row");
    }
    if (f->count == f->announced) {
        return broken(o, at, "more entries than were announced");
    }
    if (key->kind == REC_KIND_NIL || key->kind == REC_KIND_FLOAT) {
        return broken(o, at, "a key that is not a string, bool or integer");
    }
    f->keyed = true;
    f->count++;
    o->at = at;
    return REC_OK;
}

static int32_t order_end(lr_order *o, uint64_t at)
{
    const lr_order_frame *f = top(o);
    if (!f || o->owed) {
        return broken(o, at, f ? "an option without its value" : "an end without a beginning");
    }
    if (f->keyed) {
        return broken(o, at, "a key without its value");
    }
    if (f->announced != REC_UNKNOWN && f->count != f->announced) {
        return broken(o, at,
                      f->kind == REC_KIND_LIST  ? "fewer elements than were announced"
                      : f->kind == REC_KIND_MAP ? "fewer entries than were announced"
                                                : "a variant without its payload");
    }
    o->depth--;
    o->at = at;
    end_value(o);
    return REC_OK;
}

/* @param value NULL: it follows as a value of its own. */
static int32_t order_metadata(lr_order *o, uint64_t at, const rec_scalar *key, const rec_scalar *value)
{
    if (!o->tensors || o->depth || o->rooted || o->entry || o->owed || key->kind != REC_KIND_STRING ||
        (value && value->kind != REC_KIND_STRING)) {
        return broken(o, at,
                      value ? "metadata that is not a text, or not before the value"
                            : "metadata whose key is not a text, or that is not before the value");
    }
    o->entry = !value;
    o->at = at;
    return REC_OK;
}

/* The reader has returned. */
static int32_t order_finish(lr_order *o)
{
    return o->rooted && !o->depth && !o->owed ? REC_OK : broken(o, o->at, "the value was not completed");
}

/* ------------------------------------------------------------------------------------------------------ events -- */

static int32_t on_metadata(void *self, uint64_t at, const rec_scalar *key, const rec_scalar *value)
{
    lr_guard *g = enter(self, "metadata");
    return g && has(g, at, "metadata", "key", key) && has(g, at, "metadata", "value", value) &&
                   is_key(g, at, "a key of metadata", key) && is_scalar(g, at, "a value of metadata", value) &&
                   order_metadata(&g->order, at, key, value) == REC_OK
               ? g->inner->metadata(g->inner_self, at, key, value)
               : refused(g);
}

static int32_t on_metadata_value(void *self, uint64_t at, const rec_scalar *key)
{
    lr_guard *g = enter(self, "metadata_value");
    return g && has(g, at, "metadata_value", "key", key) && is_key(g, at, "a key of metadata", key) &&
                   order_metadata(&g->order, at, key, NULL) == REC_OK
               ? g->inner->metadata_value(g->inner_self, at, key)
               : refused(g);
}

static int32_t on_scalar(void *self, uint64_t at, const rec_scalar *scalar)
{
    lr_guard *g = enter(self, "scalar");
    return g && has(g, at, "scalar", "scalar", scalar) && is_scalar(g, at, "a scalar", scalar) &&
                   order_value(&g->order, at) == REC_OK
               ? g->inner->scalar(g->inner_self, at, scalar)
               : refused(g);
}

static bool is_run(const lr_guard *g, uint64_t at, rec_dtype dtype, const void *data, uint64_t count)
{
    uint64_t size;
    if (!(lr_dtype_is_int(dtype) || dtype == REC_DTYPE_F32 || dtype == REC_DTYPE_F64 || dtype == REC_DTYPE_BOOL)) {
        (void)lr_breach(g->order.job, at, "sent `numbers` of the type %d, which no list has", (int)dtype);
        return false;
    }
    if (count && !has(g, at, "numbers", "data", data)) {
        return false;
    }
    if (!lr_mul(count, rec_dtype_bits(dtype) / 8, &size) || size > PTRDIFF_MAX) {
        (void)lr_breach(g->order.job, at, "sent %" PRIu64 " `numbers`, more than memory can hold", count);
        return false;
    }
    return true;
}

static int32_t on_numbers(void *self, uint64_t at, rec_dtype dtype, const void *data, uint64_t count)
{
    lr_guard *g = enter(self, "numbers");
    return g && is_run(g, at, dtype, data, count) && order_numbers(&g->order, at, count) == REC_OK
               ? g->inner->numbers(g->inner_self, at, dtype, data, count)
               : refused(g);
}

static int32_t on_bytes(void *self, uint64_t at, const rec_blob *blob)
{
    lr_guard *g = enter(self, "bytes");
    rec_blob known;
    return g && has(g, at, "bytes", "blob", blob) && lr_blob_lent(g->order.job, at, blob, &known) == REC_OK &&
                   order_value(&g->order, at) == REC_OK
               ? g->inner->bytes(g->inner_self, at, &known)
               : refused(g);
}

static int32_t on_list_begin(void *self, uint64_t at, int32_t form, uint64_t count)
{
    lr_guard *g = enter(self, "list_begin");
    if (!g || !has_form(g, at, form, REC_FORM_LIST, REC_FORM_ARRAY, REC_FORM_TUPLE, "list_begin") ||
        order_begin(&g->order, at, REC_KIND_LIST, form, count) != REC_OK) {
        return refused(g);
    }
    return g->inner->list_begin(g->inner_self, at, form, count);
}

static int32_t on_list_of(void *self, uint64_t at, const char *type)
{
    lr_guard *g = enter(self, "list_of");
    if (!g || !has(g, at, "list_of", "type", type)) {
        return refused(g);
    }
    if (strnlen(type, 8) == 8 || !lr_list_of(type)) {
        return lr_breach(g->order.job, at, "sent `list_of` with a type that no list has");
    }
    if (order_list_of(&g->order, at) != REC_OK) {
        return refused(g);
    }
    return g->inner->list_of(g->inner_self, at, type);
}

static int32_t on_map_begin(void *self, uint64_t at, int32_t form, uint64_t count)
{
    lr_guard *g = enter(self, "map_begin");
    if (!g || !has_form(g, at, form, REC_FORM_STRUCT, REC_FORM_MAP, REC_FORM_PATHS, "map_begin") ||
        order_begin(&g->order, at, REC_KIND_MAP, form, count) != REC_OK) {
        return refused(g);
    }
    return g->inner->map_begin(g->inner_self, at, form, count);
}

static int32_t on_key(void *self, uint64_t at, const rec_scalar *key)
{
    lr_guard *g = enter(self, "key");
    return g && has(g, at, "key", "key", key) && is_key(g, at, "a key", key) && order_key(&g->order, at, key) == REC_OK
               ? g->inner->key(g->inner_self, at, key)
               : refused(g);
}

static int32_t on_variant_begin(void *self, uint64_t at, uint64_t index, const rec_scalar *name, int32_t payload)
{
    lr_guard *g = enter(self, "variant_begin");
    if (!g || !has(g, at, "variant_begin", "name", name) || !is_key(g, at, "a variant's name", name) ||
        !is_flag(g, at, payload, "variant_begin", "payload")) {
        return refused(g);
    }
    if (index > UINT32_MAX && index != REC_UNKNOWN) {
        return lr_breach(g->order.job, at, "sent a variant of the index %" PRIu64 "; an enum has fewer than 2^32",
                         index);
    }
    if (name->kind != REC_KIND_STRING) {
        return lr_breach(g->order.job, at, "sent a variant whose name is not a text");
    }
    if (order_begin(&g->order, at, REC_KIND_VARIANT, REC_FORM_UNKNOWN, payload != 0) != REC_OK) {
        return refused(g);
    }
    return g->inner->variant_begin(g->inner_self, at, index, name, payload);
}

static int32_t on_end(void *self, uint64_t at)
{
    lr_guard *g = enter(self, "end");
    return g && order_end(&g->order, at) == REC_OK ? g->inner->end(g->inner_self, at) : refused(g);
}

static int32_t on_option(void *self, uint64_t at, int32_t present)
{
    lr_guard *g = enter(self, "option");
    return g && is_flag(g, at, present, "option", "present") && order_option(&g->order, at, present) == REC_OK
               ? g->inner->option(g->inner_self, at, present)
               : refused(g);
}

static int32_t on_tensor(void *self, uint64_t at, const rec_tensor_event *tensor)
{
    lr_guard *g = enter(self, "tensor");
    rec_tensor_event event = {0};
    rec_blob blob;
    if (!g || !has(g, at, "tensor", "tensor", tensor) ||
        !lr_size_check(g->order.job, "a tensor event", tensor->size, TENSOR_LEAST)) {
        return refused(g);
    }
    memcpy(&event, tensor, tensor->size < sizeof event ? tensor->size : sizeof event);
    if (event.dtype <= REC_DTYPE_NONE || event.dtype > REC_DTYPE_OPAQUE) {
        return lr_breach(g->order.job, at, "sent a tensor of the invalid element type %d", (int)event.dtype);
    }
    if (event.transposed < REC_TRANSPOSED_UNKNOWN || event.transposed > REC_TRANSPOSED_YES || event.reserved) {
        return lr_breach(g->order.job, at, "sent a tensor event with an invalid `transposed` (%d) or `reserved`",
                         (int)event.transposed);
    }
    if ((event.flags & ~(uint32_t)REC_EVENT_BARE) || (event.flags && event.id)) {
        return lr_breach(g->order.job, at, "sent a tensor with the flags %u%s, which no reader may set",
                         (unsigned)event.flags, event.id ? " and an id" : "");
    }
    if ((event.rank && !has(g, at, "tensor", "shape", event.shape)) ||
        (event.dtype == REC_DTYPE_OPAQUE && !has(g, at, "tensor", "dtype_name", event.dtype_name)) ||
        (event.id && !is_id(g, at, event.id)) ||
        (event.dtype_name && !is_name(g, at, "a dtype_name", event.dtype_name, LR_DTYPE_TEXT_ROOM - 1)) ||
        lr_blob_lent(g->order.job, at, &event.data, &blob) != REC_OK) {
        return refused(g);
    }
    event.data = blob;
    event.size = sizeof event; /* what the plugin's has not is zero */
    if (order_tensor(&g->order, at) != REC_OK) {
        return refused(g);
    }
    return g->inner->tensor(g->inner_self, at, &event);
}

const rec_visitor lr_guard_visitor = {
    .size = sizeof(rec_visitor),
    .metadata = on_metadata,
    .scalar = on_scalar,
    .numbers = on_numbers,
    .bytes = on_bytes,
    .list_begin = on_list_begin,
    .map_begin = on_map_begin,
    .key = on_key,
    .variant_begin = on_variant_begin,
    .end = on_end,
    .option = on_option,
    .tensor = on_tensor,
    .metadata_value = on_metadata_value,
    .list_of = on_list_of,
};

/* ---------------------------------------------------------------------------------------------- the whole call -- */

lr_guard *lr_guard_open(rec_job *job, const rec_visitor *inner, void *inner_self)
{
    lr_guard *g = lr_job_zalloc(job, sizeof *g);
    if (!g) {
        return NULL;
    }
    g->order.job = job;
    g->order.tensors = (job->plugin->traits & REC_TRAIT_TENSORS) != 0;
    g->inner = inner;
    g->inner_self = inner_self;
    lr_call_begin(&g->call, job, LR_CALL_LOAD, g);
    return g;
}

int32_t lr_guard_close(lr_guard *g, int32_t status)
{
    rec_job *job = g->order.job;
    uint64_t left;
    lr_call_end(&g->call);
    left = lr_sources_left(&g->call);
    if (status == REC_OK && !lr_job_failed(job)) {
        (void)order_finish(&g->order);
    }
    if (left && status == REC_OK && !lr_job_failed(job)) {
        (void)lr_breach(job, REC_UNKNOWN, "did not release %" PRIu64 " source%s: rec_source_release()", left,
                        left == 1 ? "" : "s");
    }
    lr_release(job->allocator, g->order.frames);
    lr_release(job->allocator, g);
    return lr_plugin_returned(job, status);
}

int32_t lr_plugin_load(rec_job *job, rec_source *source, const rec_visitor *visitor, void *self)
{
    lr_guard *g = lr_guard_open(job, visitor, self);
    int32_t status;
    if (!g) {
        return job->error.status;
    }
    job->adapter = lr_adapter_kind(job->plugin->adapter);
    job->adapter_name = job->plugin->adapter;
    job->adapting = true;
    status = job->plugin->load(job, source, &lr_guard_visitor, g);
    job->adapting = false;
    return lr_guard_close(g, status);
}

int32_t lr_plugin_save(rec_job *job, rec_sink *sink)
{
    const rec_sink *before = job->made;
    lr_call call;
    int32_t status;
    job->walk->walks = 0;
    lr_sink_lend(sink, true);
    lr_call_begin(&call, job, LR_CALL_SAVE, NULL);
    status = job->plugin->save(job, sink);
    lr_call_end(&call);
    lr_sink_lend(sink, false);
    if (lr_sinks_left(job, before) && status == REC_OK) {
        (void)lr_breach(job, REC_UNKNOWN, "did not close a sink that it had made: rec_sink_close()");
    }
    if (!job->walk->walks && status == REC_OK) {
        (void)lr_breach(job, REC_UNKNOWN, "saved without reading the record: rec_job_walk()");
    } else if (!lr_sink_tell_all(sink) && status == REC_OK) {
        (void)lr_breach(job, REC_UNKNOWN, "wrote nothing");
    }
    return lr_plugin_returned(job, status);
}
