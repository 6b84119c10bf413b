/* SPDX-License-Identifier: MIT OR Apache-2.0
 * JSON reader: text to visitor events, strictly by RFC 8259, without recursion and without a tree.
 *
 * Almost all of a record's text is lists of numbers: bytes of tensors in bulk (json_bytes.c), other numbers one by one,
 * both gathered into runs. The rest goes through a state for what may come next. */
#include "json.h"

#include <string.h>

#include "json_input.h"
#include "json_number.h"
#include "json_string.h"

/* Levels that are kept; core allows at most 200. */
#define LEVELS 256
/* Numbers gathered before they are handed on: bytes, and others. */
#define RUN_BYTES (32u * 1024)
#define RUN (RUN_BYTES / 8)
/* Bytes between two reports of progress. */
#define REPORT (4u << 20)

enum { IN_ROOT, IN_LIST, IN_MAP };

/* What comes next. */
enum { VALUE, VALUE_OR_END, KEY, KEY_OR_END, COLON, COMMA_OR_END };

typedef struct reader {
    lr_json_input in;
    const rec_visitor *visitor;
    void *self;
    lr_bytes_scan *scan_bytes;
    lr_json_text text;
    lr_float_reader floats;
    uint64_t reported;
    uint32_t limit, depth;
    uint8_t next;           /* VALUE … COMMA_OR_END */
    uint8_t levels[LEVELS]; /* IN_LIST or IN_MAP; [0] IN_ROOT */
    rec_dtype run_dtype;    /* REC_DTYPE_NONE: no run */
    uint32_t run_count;
    uint64_t run_at;
    union {
        uint8_t u8[RUN_BYTES]; /* of BOOL too */
        int64_t i64[RUN];      /* of U64 too */
        double f64[RUN];
    } run;
} reader;

static uint64_t here(const reader *r)
{
    return lr_json_input_offset(&r->in);
}

static const char *container(const reader *r)
{
    return r->levels[r->depth] == IN_MAP ? "map" : r->levels[r->depth] == IN_LIST ? "list" : "JSON text";
}

/* ----------------------------------------------------------------------------------------------- runs of numbers -- */

static int32_t progress(reader *r)
{
    uint64_t at = here(r);
    if (at - r->reported < REPORT) {
        return REC_OK;
    }
    r->reported = at;
    return rec_job_progress(r->in.job, at, r->in.size);
}

static int32_t flush(reader *r)
{
    rec_dtype dtype = r->run_dtype;
    if (dtype == REC_DTYPE_NONE) {
        return REC_OK;
    }
    r->run_dtype = REC_DTYPE_NONE;
    int32_t status = r->visitor->numbers(r->self, r->run_at, dtype, &r->run, r->run_count);
    return status != REC_OK ? status : progress(r);
}

/* Makes room in a run of `dtype`, so that its next element, which is at `at`, can be stored. */
static inline int32_t run_of(reader *r, rec_dtype dtype, uint64_t at)
{
    uint32_t room = dtype == REC_DTYPE_U8 || dtype == REC_DTYPE_BOOL ? RUN_BYTES : RUN;
    if (r->run_dtype == dtype && r->run_count < room) {
        return REC_OK;
    }
    int32_t status = flush(r);
    r->run_dtype = dtype;
    r->run_count = 0;
    r->run_at = at;
    return status;
}

static int32_t run_bool(reader *r, bool value, uint64_t at)
{
    int32_t status = run_of(r, REC_DTYPE_BOOL, at);
    if (status == REC_OK) {
        r->run.u8[r->run_count++] = value;
    }
    return status;
}

static int32_t run_number(reader *r, const rec_scalar *number, uint64_t at)
{
    int32_t status;
    if (number->kind == REC_KIND_FLOAT) {
        status = run_of(r, REC_DTYPE_F64, at);
        if (status == REC_OK) {
            r->run.f64[r->run_count++] = number->v.f;
        }
        return status;
    }
    bool unsign = number->kind == REC_KIND_UINT;
    if (unsign && number->v.u <= UINT8_MAX && r->run_dtype != REC_DTYPE_I64 && r->run_dtype != REC_DTYPE_U64) {
        status = run_of(r, REC_DTYPE_U8, at);
        if (status == REC_OK) {
            r->run.u8[r->run_count++] = (uint8_t)number->v.u;
        }
        return status;
    }
    /* A run that has met a number above INT64_MAX goes on as U64 until there is a negative one. */
    bool large = unsign && (number->v.u > INT64_MAX || r->run_dtype == REC_DTYPE_U64);
    status = run_of(r, large ? REC_DTYPE_U64 : REC_DTYPE_I64, at);
    if (status == REC_OK) {
        r->run.i64[r->run_count++] = number->v.i; /* or the same bits of v.u */
    }
    return status;
}

/* -------------------------------------------------------------------------------------------------------- numbers -- */

static int32_t scan(reader *r, lr_decimal *decimal)
{
    for (;;) {
        int result = lr_decimal_scan(r->in.at, r->in.end, decimal);
        uint64_t length = (uint64_t)(decimal->end - r->in.at);
        if (length > LR_NUMBER_MOST) {
            return rec_fail(r->in.job, REC_E_UNSUPPORTED, here(r), "a number of more than %d characters",
                            LR_NUMBER_MOST);
        }
        if (result == LR_SCAN_DONE) {
            return REC_OK;
        }
        if (result == LR_SCAN_BAD) {
            r->in.at = decimal->end;
            return lr_json_unexpected(&r->in, "a digit");
        }
        if (r->in.ended) {
            uint8_t last = decimal->end[-1];
            return last >= '0' && last <= '9' ? REC_OK : lr_json_cut_short(&r->in, "number");
        }
        int32_t status = lr_json_input_more(&r->in);
        if (status != REC_OK) {
            return status;
        }
    }
}

/* Reads the number at the cursor and moves behind it. */
static int32_t number(reader *r, rec_scalar *scalar)
{
    lr_decimal decimal;
    int32_t status = scan(r, &decimal);
    if (status != REC_OK) {
        return status;
    }
    *scalar = (rec_scalar){.kind = REC_KIND_UINT, .v.u = decimal.digits};
    if (decimal.real) {
        scalar->kind = REC_KIND_FLOAT;
        status = lr_float_read(&r->floats, &decimal, r->in.at, (uint64_t)(decimal.end - r->in.at), &scalar->v.f);
    } else if (decimal.negative) {
        scalar->kind = REC_KIND_INT;
        scalar->v.i = -(int64_t)(decimal.digits - 1) - 1; /* INT64_MIN too */
    }
    if (status == REC_E_RANGE) {
        return rec_fail(r->in.job, REC_E_RANGE, here(r), "a number beyond the range of 64-bit floats");
    }
    if (status != REC_OK) {
        return rec_fail(r->in.job, status, here(r), "out of memory for the C locale, by which numbers are read");
    }
    r->in.at = decimal.end;
    return REC_OK;
}

/* Numbers of a list, as many as follow one another. The first is at the cursor. */
static int32_t list_numbers(reader *r)
{
    for (;;) {
        rec_scalar value;
        uint64_t at;
        int32_t status = lr_json_input_need(&r->in, 64);
        if (status == REC_OK && (r->run_dtype == REC_DTYPE_NONE || r->run_dtype == REC_DTYPE_U8)) {
            status = run_of(r, REC_DTYPE_U8, here(r));
            if (status == REC_OK) {
                uint64_t count =
                    r->scan_bytes(&r->in.at, r->in.end, r->run.u8 + r->run_count, RUN_BYTES - r->run_count);
                r->run_count += (uint32_t)count;
                if (r->run_count == 0) {
                    r->run_dtype = REC_DTYPE_NONE;
                } else if (count > 0) {
                    r->next = VALUE;
                    if (r->run_count > RUN_BYTES - 64) {
                        status = flush(r);
                    }
                    if (status != REC_OK || r->in.end - r->in.at >= 64) {
                        return status;
                    }
                }
            }
        }
        at = here(r);
        if (status == REC_OK && (r->in.at == r->in.end || (*r->in.at != '-' && (uint8_t)(*r->in.at - '0') > 9))) {
            r->next = VALUE;
            return REC_OK;
        }
        if (status == REC_OK) {
            status = number(r, &value);
        }
        if (status == REC_OK) {
            status = run_number(r, &value, at);
        }
        r->next = COMMA_OR_END;
        return status;
    }
}
