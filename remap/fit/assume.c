/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Values that a type asks for and the tree lacks. Formats of tensors alone have no place for numbers, so that a zero
 * may stand for them. It is never made up in silence, and never in the state of an optimizer or scheduler. */
#include "remap/fit/fit_private.h"

#include <stdio.h>

/* Whether a type has a value that is neither tensor nor constant. */
static bool has_values(const rec_layout *layout)
{
    uint64_t count = layout->kind == REC_LAYOUT_LIST || layout->kind == REC_LAYOUT_ARRAY ? 1 : layout->count;
    if (lr_fit_is_tensor(layout)) {
        return false;
    }
    switch (layout->kind) {
    case REC_LAYOUT_UNIT:
        return false;
    case REC_LAYOUT_OPTION:
    case REC_LAYOUT_LIST:
    case REC_LAYOUT_ARRAY:
    case REC_LAYOUT_TUPLE:
    case REC_LAYOUT_STRUCT:
    case REC_LAYOUT_ENUM:
    case REC_LAYOUT_MAP:
        for (uint64_t i = 0; i < count; i++) {
            const rec_layout *child = rec_layout_child(layout, i);
            if (child && has_values(child)) {
                return true;
            }
        }
        return false;
    default:
        return true;
    }
}

static bool is_strict(const rec_plan *plan)
{
    for (uint64_t i = 0; i < plan->source_count; i++) {
        if (plan->sources[i].strict) {
            return true;
        }
    }
    return false;
}

/* Text of limited room. */
typedef struct words {
    char text[80];
    size_t used;
} words;

static void put(words *to, const char *text)
{
    int length = snprintf(to->text + to->used, sizeof to->text - to->used, "%s", text);
    to->used += (size_t)length;
    to->used = to->used < sizeof to->text ? to->used : sizeof to->text - 1;
}

const lr_fit_value *lr_fit_value_of(const rec_layout *layout)
{
    static const lr_fit_value values[] = {
        {REC_LAYOUT_BOOL, "a bool", "false", REC_KIND_BOOL},
        {REC_LAYOUT_INT, "an integer", "0", REC_KIND_INT},
        {REC_LAYOUT_UINT, "an unsigned integer", "0", REC_KIND_UINT},
        {REC_LAYOUT_FLOAT, "a float", "0.0", REC_KIND_FLOAT},
        {REC_LAYOUT_STRING, "a string", "\"\"", REC_KIND_STRING},
        {REC_LAYOUT_ID, "a parameter id", NULL, 0},
        {REC_LAYOUT_BYTES, "bytes", NULL, 0},
        {REC_LAYOUT_MAP, "a map", "{}", 0},
        {REC_LAYOUT_TUPLE, "a tuple", NULL, 0},
        {REC_LAYOUT_LIST, "a list", NULL, 0},
        {REC_LAYOUT_ARRAY, "a list", NULL, 0},
    };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        if (values[i].layout == layout->kind) {
            return &values[i];
        }
    }
    return NULL;
}

/* Writes the value that is assumed, as Rust prints it. */
static void put_value(words *to, const rec_layout *layout)
{
    enum { SHOWN = 6 };
    const lr_fit_value *value = lr_fit_value_of(layout);
    bool tuple = layout->kind == REC_LAYOUT_TUPLE;
    uint64_t count = layout->kind == REC_LAYOUT_LIST ? layout->fixed : layout->count;
    if (!tuple && layout->kind != REC_LAYOUT_LIST && layout->kind != REC_LAYOUT_ARRAY) {
        put(to, value && value->zero ? value->zero : "None");
        return;
    }
    put(to, tuple ? "(" : "[");
    for (uint64_t i = 0; i < count && i < SHOWN; i++) {
        put(to, i ? ", " : "");
        put_value(to, rec_layout_child(layout, tuple ? i : 0));
    }
    put(to, count > SHOWN ? ", …" : "");
    put(to, tuple ? ")" : "]");
}

static int32_t note(lr_fit *t, const rec_layout *layout)
{
    words value = {.used = 0};
    put_value(&value, layout);
    return LR_FIT_PROBLEM(t->f, REC_PROBLEM_ASSUMED, false, "", "%s is not in the file: %s is assumed",
                          lr_fit_here(t->f), value.text);
}

/* A flat file of Burn's says by their absence that lists and maps of tensors are empty; in a foreign file they may have
 * another name. */
static int32_t absent_tensors(lr_fit *t, const rec_layout *layout)
{
    const rec_plan *plan = t->f->plan;
    bool told = (layout->kind == REC_LAYOUT_LIST || layout->kind == REC_LAYOUT_MAP) && !layout->fixed &&
                *lr_fit_here(t->f) && !lr_fit_is_partial(plan);
    for (uint64_t i = 0; told && i < plan->source_count; i++) {
        told = lr_record_is_foreign(plan->sources[i].record);
    }
    return told ? note(t, layout) : REC_OK;
}

int32_t lr_fit_absent(lr_fit *t, const rec_layout *layout, int *how)
{
    bool option = layout->kind == REC_LAYOUT_OPTION, partial = lr_fit_is_partial(t->f->plan);
    int32_t status;
    *how = LR_FIT_FILLED;
    if (layout->kind == REC_LAYOUT_STRUCT || layout->kind == REC_LAYOUT_ENUM) {
        return REC_OK; /* missing as a whole */
    }
    if (lr_layout_has_tensors(layout)) {
        return absent_tensors(t, layout);
    }
    if (!has_values(layout) || (option && partial)) {
        return REC_OK;
    }
    if (option) {
        return note(t, layout);
    }
    if (partial || t->states || is_strict(t->f->plan) || !*lr_fit_here(t->f) || layout->kind == REC_LAYOUT_BYTES ||
        layout->kind == REC_LAYOUT_ID) {
        return lr_fit_miss(t, layout, lr_fit_value_of(layout)->wanted, how);
    }
    *how = LR_FIT_ASSUMED;
    status = note(t, layout);
    if (status == REC_OK && (layout->kind == REC_LAYOUT_LIST || layout->kind == REC_LAYOUT_MAP)) {
        status = lr_place_line(t->f, REC_PLAN_DEFAULT, "empty");
    }
    return status;
}
