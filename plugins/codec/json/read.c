/* SPDX-License-Identifier: MIT OR Apache-2.0
 * JSON reader: text to visitor events, strictly by RFC 8259, without recursion and without a tree. Almost all text of
 * a record is lists of numbers: bytes of tensors are parsed in bulk (bytes.c), other numbers one by one, and both are
 * collected in runs. A state machine handles the rest. */
#include "plugins/codec/json/json.h"

#include "plugins/codec/json/number.h"
#include "plugins/codec/json/string.h"

/* Levels that are kept; core allows at most 200. */
#define LEVELS 256
/* Numbers gathered before they are handed on: bytes, and others. */
#define RUN_BYTES (32u * 1024)
#define RUN (RUN_BYTES / 8)
/* Bytes between two reports of progress. */
#define REPORT (4u << 20)

enum { IN_ROOT, IN_LIST, IN_MAP };

/* The next token. */
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

/* --------------------------------------------------------------------------------------------- runs of numbers -- */

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

/* Makes room in a run of `dtype`, so that its next element, which is at `at`, can be stored: also after a failure. */
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

static int32_t run_number(reader *r, const rec_scalar *number, uint64_t at)
{
    int32_t status;
    bool unsign = number->kind == REC_KIND_UINT;
    if (number->kind == REC_KIND_FLOAT) {
        status = run_of(r, REC_DTYPE_F64, at);
        r->run.f64[r->run_count++] = number->v.f;
        return status;
    }
    if (unsign && number->v.u <= UINT8_MAX && r->run_dtype != REC_DTYPE_I64 && r->run_dtype != REC_DTYPE_U64) {
        status = run_of(r, REC_DTYPE_U8, at);
        r->run.u8[r->run_count++] = (uint8_t)number->v.u;
        return status;
    }
    /* A run that has met a number above INT64_MAX goes on as U64 until there is a negative one. */
    bool large = unsign && (number->v.u > INT64_MAX || r->run_dtype == REC_DTYPE_U64);
    status = run_of(r, large ? REC_DTYPE_U64 : REC_DTYPE_I64, at);
    r->run.i64[r->run_count++] = number->v.i; /* or the same bits of v.u */
    return status;
}

/* ----------------------------------------------------------------------------------------------------- numbers -- */

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

/* Parses the number at the cursor and moves after it. */
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

/* Bytes of a list in bulk. The cursor is where an element is expected, and then where one is that must be looked at. */
static int32_t bulk(reader *r)
{
    uint64_t count;
    do {
        int32_t status = lr_json_input_need(&r->in, 64);
        if (status == REC_OK && r->run_dtype == REC_DTYPE_U8 && r->run_count > RUN_BYTES - 64) {
            status = flush(r);
        }
        if (status == REC_OK) {
            status = run_of(r, REC_DTYPE_U8, here(r));
        }
        if (status != REC_OK) {
            return status;
        }
        count = r->scan_bytes(&r->in.at, r->in.end, r->run.u8 + r->run_count, RUN_BYTES - r->run_count);
        r->run_count += (uint32_t)count;
        r->next = count > 0 ? VALUE : r->next;
    } while (count > 0);
    if (r->run_count == 0) {
        r->run_dtype = REC_DTYPE_NONE;
    }
    return REC_OK;
}

/* White space of the window. */
static inline void skip_here(lr_json_input *in)
{
    const uint8_t *p = in->at, *end = in->end;
    while (p < end && lr_json_is_space(*p)) {
        uint64_t word;
        p++;
        while (end - p >= 8 && (memcpy(&word, p, sizeof word), word == UINT64_C(0x2020202020202020))) {
            p += 8; /* indentation */
        }
    }
    in->at = p;
}

/* Numbers of a list, as many as follow one another. The first is at the cursor. */
static int32_t list_numbers(reader *r)
{
    for (;;) {
        rec_scalar value;
        uint64_t at;
        int32_t status = REC_OK;
        if (r->run_dtype == REC_DTYPE_NONE || r->run_dtype == REC_DTYPE_U8) {
            status = bulk(r);
        }
        skip_here(&r->in);
        if (status != REC_OK || r->in.at == r->in.end || (*r->in.at != '-' && (uint8_t)(*r->in.at - '0') > 9)) {
            return status;
        }
        at = here(r);
        status = number(r, &value);
        if (status == REC_OK) {
            status = run_number(r, &value, at);
        }
        r->next = COMMA_OR_END;
        skip_here(&r->in);
        if (status != REC_OK || r->in.at == r->in.end || *r->in.at != ',') {
            return status;
        }
        r->in.at++;
        r->next = VALUE;
        skip_here(&r->in);
    }
}

/* --------------------------------------------------------------------------------------------------- structure -- */

static int32_t emit(reader *r, const rec_scalar *scalar, uint64_t at)
{
    int32_t status = flush(r);
    r->next = COMMA_OR_END;
    return status == REC_OK ? r->visitor->scalar(r->self, at, scalar) : status;
}

static int32_t string(reader *r, bool key)
{
    rec_scalar scalar = {.kind = REC_KIND_STRING};
    uint64_t at = here(r);
    int32_t status = lr_json_string(&r->in, &r->text, &scalar.text, &scalar.v.length);
    if (status != REC_OK || !key) {
        return status == REC_OK ? emit(r, &scalar, at) : status;
    }
    r->next = COLON;
    return r->visitor->key(r->self, at, &scalar);
}

static int32_t word(reader *r)
{
    static const char *const words[] = {"null", "false", "true"};
    unsigned which = *r->in.at == 'n' ? 0 : *r->in.at == 'f' ? 1 : 2;
    uint64_t length = strlen(words[which]), at = here(r);
    int32_t status = lr_json_input_need(&r->in, length);
    if (status != REC_OK) {
        return status;
    }
    for (uint64_t i = 0; i < length; i++, r->in.at++) {
        if (r->in.at == r->in.end) {
            return lr_json_cut_short(&r->in, "word");
        }
        if (*r->in.at != (uint8_t)words[which][i]) {
            return lr_json_unexpected(&r->in, which == 0 ? "`null`" : which == 1 ? "`false`" : "`true`");
        }
    }
    r->next = COMMA_OR_END;
    if (which > 0 && r->levels[r->depth] == IN_LIST) {
        status = run_of(r, REC_DTYPE_BOOL, at);
        r->run.u8[r->run_count++] = which == 2;
        return status;
    }
    rec_scalar scalar = {.kind = which > 0 ? REC_KIND_BOOL : REC_KIND_NIL, .v.i = which == 2};
    return emit(r, &scalar, at);
}

static int32_t open_container(reader *r, uint8_t in)
{
    uint64_t at = here(r);
    if (r->depth >= r->limit) {
        int32_t status = rec_fail(r->in.job, REC_E_LIMIT, at, "lists and maps are nested deeper than the limit of %u",
                                  (unsigned)r->limit);
        rec_fail_hint(r->in.job, "If the file can be trusted, raise `depth` (rec_limits, or the INI file).");
        return status;
    }
    int32_t status = flush(r);
    if (status == REC_OK) {
        status = progress(r);
    }
    if (status != REC_OK) {
        return status;
    }
    r->levels[++r->depth] = in;
    r->next = in == IN_MAP ? KEY_OR_END : VALUE_OR_END;
    r->in.at++;
    return in == IN_MAP ? r->visitor->map_begin(r->self, at, REC_FORM_UNKNOWN, REC_UNKNOWN)
                        : r->visitor->list_begin(r->self, at, REC_FORM_UNKNOWN, REC_UNKNOWN);
}

static int32_t close_container(reader *r)
{
    int32_t status = flush(r);
    uint64_t at = here(r);
    r->depth--;
    r->next = COMMA_OR_END;
    r->in.at++;
    return status == REC_OK ? r->visitor->end(r->self, at) : status;
}

static int32_t value(reader *r)
{
    rec_scalar scalar;
    uint64_t at;
    int32_t status;
    switch (*r->in.at) {
    case '{':
        return open_container(r, IN_MAP);
    case '[':
        return open_container(r, IN_LIST);
    case '"':
        return string(r, false);
    case 'n':
    case 'f':
    case 't':
        return word(r);
    default:
        break;
    }
    if (*r->in.at != '-' && (uint8_t)(*r->in.at - '0') > 9) {
        return lr_json_unexpected(&r->in, r->next == VALUE_OR_END ? "a value or ]" : "a value");
    }
    if (r->levels[r->depth] == IN_LIST) {
        return list_numbers(r);
    }
    at = here(r);
    status = number(r, &scalar);
    return status == REC_OK ? emit(r, &scalar, at) : status;
}

static int32_t after_value(reader *r)
{
    uint8_t byte = *r->in.at;
    if (r->depth == 0) {
        return lr_json_unexpected(&r->in, "the end of the text");
    }
    bool map = r->levels[r->depth] == IN_MAP;
    if (byte == ',') {
        r->in.at++;
        r->next = map ? KEY : VALUE;
        return REC_OK;
    }
    return byte == (map ? '}' : ']') ? close_container(r)
                                     : lr_json_unexpected(&r->in, map ? "a comma or }" : "a comma or ]");
}

/* Handles the token at the cursor. */
static int32_t step(reader *r)
{
    uint8_t byte = *r->in.at;
    switch (r->next) {
    case VALUE_OR_END:
        return byte == ']' ? close_container(r) : value(r);
    case VALUE:
        return value(r);
    case KEY_OR_END:
        if (byte == '}') {
            return close_container(r);
        }
        return byte == '"' ? string(r, true) : lr_json_unexpected(&r->in, "a key (in quotes) or }");
    case KEY:
        return byte == '"' ? string(r, true) : lr_json_unexpected(&r->in, "a key (in quotes)");
    case COLON:
        if (byte != ':') {
            return lr_json_unexpected(&r->in, "a colon");
        }
        r->in.at++;
        r->next = VALUE;
        return REC_OK;
    default:
        return after_value(r);
    }
}

static int32_t parse(reader *r)
{
    for (;;) {
        int32_t status = REC_OK;
        skip_here(&r->in);
        while (status == REC_OK && r->in.at == r->in.end && !r->in.ended) {
            status = lr_json_input_more(&r->in);
            skip_here(&r->in);
        }
        if (status != REC_OK) {
            return status;
        }
        if (r->in.at < r->in.end) {
            status = step(r);
        } else if (r->depth == 0 && r->next == COMMA_OR_END) {
            return rec_job_progress(r->in.job, here(r), here(r));
        } else if (r->depth == 0) {
            return rec_fail_found(r->in.job, REC_E_FORMAT, here(r), "a JSON text", "%s",
                                  here(r) ? "nothing but white space" : "an empty file");
        } else {
            return lr_json_cut_short(&r->in, r->levels[r->depth] == IN_MAP ? "map" : "list");
        }
        if (status != REC_OK) {
            return status;
        }
    }
}

int32_t lr_json_read(rec_job *job, rec_source *source, const rec_visitor *visitor, void *self)
{
    reader *r = rec_job_alloc(job, sizeof *r);
    if (!r) {
        return rec_fail(job, REC_E_MEMORY, REC_UNKNOWN, "out of memory for the parser"); /* the first failure counts */
    }
    uint32_t limit = rec_job_depth_limit(job);
    r->visitor = visitor;
    r->self = self;
    r->scan_bytes = lr_bytes_scan_choice(0);
    r->text = (lr_json_text){0};
    r->floats = (lr_float_reader){0};
    r->reported = 0;
    r->limit = limit < LEVELS ? limit : LEVELS - 1;
    r->depth = 0;
    r->next = VALUE;
    r->levels[0] = IN_ROOT;
    r->run_dtype = REC_DTYPE_NONE;
    r->run_count = 0;
    r->run_at = 0;
    int32_t status = lr_json_input_open(&r->in, job, source);
    if (status == REC_OK) {
        status = parse(r);
    }
    lr_float_reader_free(&r->floats);
    rec_job_free(job, r->text.data);
    lr_json_input_close(&r->in);
    rec_job_free(job, r);
    return status;
}

/* Moves past white space and a word. @return false if another word follows. */
static bool pass(const uint8_t **at, const uint8_t *end, const char *word)
{
    const uint8_t *next = *at;
    size_t length = strlen(word);
    while (next < end && lr_json_is_space(*next)) {
        next++;
    }
    if ((size_t)(end - next) < length || memcmp(next, word, length) != 0) {
        return false;
    }
    *at = next + length;
    return true;
}

/* The metadata of Burn begin with one of these keys. The index of a model in several files has others, or none. */
static bool is_burn_metadata(const uint8_t *at, const uint8_t *end)
{
    static const char *const keys[] = {"\"float\"", "\"int\"", "\"format\"", "\"version\"", "\"settings\""};
    if (!pass(&at, end, ":") || !pass(&at, end, "{")) {
        return false;
    }
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (pass(&at, end, keys[i])) {
            return true;
        }
    }
    return false;
}

int32_t lr_json_probe(const uint8_t *text, uint64_t length)
{
    const uint8_t *at = text, *end = text + length;
    if (!length || !pass(&at, end, "{")) {
        return 0;
    }
    if (pass(&at, end, "\"metadata\"")) {
        return is_burn_metadata(at, end) ? 88 : 31;
    }
    /* For another map a brace and a quote prove little. */
    return pass(&at, end, "\"") || pass(&at, end, "}") ? 7 : 1;
}
