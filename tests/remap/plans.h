/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What the tests of plans share: records made in place, recorders with load arguments, and what a plan says. */
#ifndef TEST_PLANS_H
#define TEST_PLANS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "librecord.h"

static inline void ok(rec_status status)
{
    if (status != REC_OK) {
        fail_msg("%s", rec_error_message());
    }
}

/** A tensor whose elements are first, first + 1, … */
static inline void put(rec_record *record, const char *path, float first, uint32_t rank, uint64_t rows,
                       uint64_t columns)
{
    float data[256];
    uint64_t shape[2] = {rows, columns};
    uint64_t count = (rank > 0 ? rows : 1) * (rank > 1 ? columns : 1);
    assert_true(count <= 256);
    for (uint64_t i = 0; i < count; i++) {
        data[i] = first + (float)i;
    }
    ok(rec_set_f32(record, path, data, rank, shape));
}

/** A recorder with load arguments: pairs of names and values, NULL-terminated. */
static inline rec_recorder *open_with(const char *name, ...)
{
    rec_recorder *r = rec_open_recorder(name, REC_PRECISION_KEEP);
    va_list args;
    if (!r) {
        fail_msg("%s", rec_error_message());
    }
    va_start(args, name);
    for (const char *key; (key = va_arg(args, const char *)) != NULL;) {
        const char *value = va_arg(args, const char *);
        if (rec_recorder_set(r, key, value) != REC_OK) {
            fail_msg("%s = %s: %s", key, value, rec_error_message());
        }
    }
    va_end(args);
    return r;
}

static inline rec_plan *plan_of(rec_recorder *r, const rec_record *record)
{
    rec_plan *plan = rec_plan_new(NULL, NULL);
    assert_non_null(plan);
    ok(rec_plan_add_record(plan, r, record, "model"));
    ok(rec_plan_make(plan));
    return plan;
}

static inline const rec_plan_line *line_to(rec_plan *plan, const char *key)
{
    for (uint64_t i = 0; i < rec_plan_count(plan); i++) {
        const rec_plan_line *line = rec_plan_get(plan, i);
        if (strcmp(line->to, key) == 0) {
            return line;
        }
    }
    fail_msg("no line to %s", key);
    return NULL;
}

/** There is a problem of this kind; the first one has these words. */
static inline void expect_problem(rec_plan *plan, int32_t kind, int32_t fatal, const char *text, const char *hint)
{
    for (uint64_t i = 0; i < rec_plan_problem_count(plan); i++) {
        const rec_plan_problem *p = rec_plan_problem_get(plan, i);
        if (p->kind == kind) {
            assert_string_equal(p->text, text);
            assert_string_equal(p->hint, hint);
            assert_int_equal(p->fatal, fatal);
            return;
        }
    }
    fail_msg("no problem of kind %d", (int)kind);
}

static inline rec_record *load(rec_plan *plan)
{
    rec_record *record = rec_plan_load(plan);
    if (!record) {
        fail_msg("%s", rec_error_message());
    }
    return record;
}

#endif
