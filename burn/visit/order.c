/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The order of a reader's events. */
#include "burn/visit/order.h"

static int32_t broken(const lr_order *o, uint64_t at, const char *what)
{
    return lr_breach(o->job, at, "broke the order of events: %s", what);
}

static lr_order_frame *top(const lr_order *o)
{
    return o->depth ? &o->frames[o->depth - 1] : NULL;
}

/* A value begins. */
static int32_t enter(lr_order *o, uint64_t at)
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
static void leave(lr_order *o)
{
    o->entry = o->entry && o->depth;
}

int32_t lr_order_value(lr_order *o, uint64_t at)
{
    int32_t status = enter(o, at);
    o->at = at;
    leave(o);
    return status;
}

int32_t lr_order_tensor(lr_order *o, uint64_t at)
{
    if (!o->tensors || o->entry) {
        return broken(o, at,
                      o->entry ? "a tensor in the metadata" : "a tensor from a format whose traits do not say so");
    }
    return lr_order_value(o, at);
}

int32_t lr_order_option(lr_order *o, uint64_t at, bool present)
{
    if (!present) {
        return lr_order_value(o, at);
    }
    o->owed = true;
    o->at = at;
    return REC_OK;
}

int32_t lr_order_numbers(lr_order *o, uint64_t at, uint64_t count)
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

int32_t lr_order_begin(lr_order *o, uint64_t at, int32_t kind, int32_t form, uint64_t announced)
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
    if (enter(o, at) != REC_OK || !lr_job_grow(o->job, &o->frames, o->depth + 1, &o->room, sizeof *o->frames)) {
        return lr_breach_status(o->job);
    }
    o->at = at;
    o->frames[o->depth++] = (lr_order_frame){.kind = kind, .announced = announced};
    return REC_OK;
}

int32_t lr_order_list_of(lr_order *o, uint64_t at)
{
    const lr_order_frame *f = top(o);
    if (!o->entry || !f || f->kind != REC_KIND_LIST || f->count) {
        return broken(o, at, "the type of a list outside of the metadata, or after its first element");
    }
    o->at = at;
    return REC_OK;
}

int32_t lr_order_key(lr_order *o, uint64_t at, const rec_scalar *key)
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

int32_t lr_order_end(lr_order *o, uint64_t at)
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
    leave(o);
    return REC_OK;
}

int32_t lr_order_metadata(lr_order *o, uint64_t at, const rec_scalar *key, const rec_scalar *value)
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

int32_t lr_order_finish(lr_order *o)
{
    return o->rooted && !o->depth && !o->owed ? REC_OK : broken(o, o->at, "the value was not completed");
}
