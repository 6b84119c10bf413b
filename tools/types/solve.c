/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Derives the type of a file without names from the bytes between its parameters: the cheapest sequence of modules,
 * lists, options and constants that has exactly these bytes. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/types/types_private.h"

enum { NOWHERE = UINT32_MAX, DEPTH_MOST = 6, LENGTHS_MOST = 12, ENUM_MOST = 20, SIZES_MOST = 16 };
enum { COST_CONSTANT = 4, COST_PARAM = 25, COST_OPTION = 1, COST_LIST = 8, COST_ENUM = 80 };
static const uint64_t work_most = 30000000; /* tokens looked at */

/* What a field is. */
enum { FIELD_NONE, FIELD_CONSTANT, FIELD_PARAM, FIELD_MODULE, FIELD_LIST, FIELD_CONSTANTS, FIELD_ENUM };
typedef struct field {
    int kind;
    bool optional; /* a byte 1 stands before it */
    bool sure;     /* nothing else is likely to have these bytes */
    const known_module *module;
    uint32_t count, length; /* of a list: items, tokens of one; of an enum the index of the variant */
    uint32_t begin, end;    /* tokens; of a list those of the first item begin there */
} field;
typedef struct solver {
    const tokens *t;
    uint64_t work;
    unsigned structs, enums;
    text before; /* structs and enums that were written */
} solver;

/* ----------------------------------------------------------------------------------------------------- modules -- */

/* Sizes of the parameters of one module. */
typedef struct sizes {
    const rec_tensor *at[SIZES_MOST];
    size_t count;
    bool lacks; /* an option is absent */
} sizes;

static bool is_byte(const solver *s, uint32_t at, uint32_t to, uint8_t byte)
{
    return at < to && !s->t->at[at].tensor && s->t->at[at].byte == byte;
}

static bool is_float(const solver *s, uint32_t at, uint32_t to, uint32_t rank)
{
    return at < to && s->t->at[at].tensor && s->t->at[at].kind == 'f' && s->t->at[at].rank == rank;
}

static const char *form_of(const solver *s, char letter)
{
    switch (letter) {
    case 'L':
        return "2?1";
    case 'N':
        return s->t->minor < 20 ? "11c" : "1?1c";
    case 'M':
        return s->t->minor < 14 ? "LLLLcccccc" : "LLLLccccccc";
    case 'F':
        return "LLcc";
    case 'E':
        return "MFNNcc";
    default:
        return "MMFNNNcc";
    }
}

/* @return the end of the tokens that a form matches, or NOWHERE. */
static uint32_t match(solver *s, const char *form, uint32_t at, uint32_t to, sizes *z)
{
    for (; *form && at != NOWHERE; form++) {
        bool optional = *form == '?';
        s->work++;
        form += optional;
        if (*form == 'c' || *form == 'a') {
            unsigned count = *form == 'a' ? (unsigned)(*++form - '0') : 1;
            for (; count && at != NOWHERE; count--) {
                at = is_byte(s, at, to, 0) ? at + 1 : NOWHERE;
            }
        } else if (*form == 'v') {
            uint32_t items = at < to && !s->t->at[at].tensor ? s->t->at[at].byte : 0;
            form++;
            at = items && items < 251 ? at + 1 : NOWHERE;
            for (; items && at != NOWHERE; items--) {
                at = match(s, form_of(s, *form), at, to, z);
            }
        } else if (*form >= '1' && *form <= '9') {
            bool there = !optional || is_byte(s, at, to, 1);
            z->lacks = z->lacks || !there;
            if (!there) {
                at = is_byte(s, at, to, 0) ? at + 1 : NOWHERE;
                continue;
            }
            at += optional;
            if (!is_float(s, at, to, (uint32_t)(*form - '0'))) {
                return NOWHERE;
            }
            if (z->count < SIZES_MOST) {
                z->at[z->count++] = s->t->at[at].tensor;
            }
            at++;
        } else {
            at = match(s, form_of(s, *form), at, to, z);
        }
    }
    return at;
}

/* Whether the sizes go together as the module's do. */
static bool fits(const known_module *m, const sizes *z)
{
    const uint64_t *first = z->count ? rec_tensor_shape(z->at[0]) : NULL,
                   *second = z->count > 1 ? rec_tensor_shape(z->at[1]) : NULL;

    if (!z->count) {
        return false;
    }
    switch (m->fits) {
    case 'l':
        return !second || second[0] == first[1] || second[0] == first[0];
    case 'c':
        return !second || second[0] == first[0];
    case 't':
        return !second || (first[1] && second[0] % first[1] == 0);
    case 'n':
        for (size_t i = 1; i < z->count; i++) {
            if (rec_tensor_shape(z->at[i])[0] != first[0]) {
                return false;
            }
        }
        return true;
    default:
        return true;
    }
}

/* ----------------------------------------------------------------------------------------------------- solving -- */

static bool same_token(const token *a, const token *b)
{
    return a->tensor && b->tensor ? a->rank == b->rank && a->kind == b->kind
                                  : !a->tensor && !b->tensor && a->byte == b->byte;
}

/* How far the tokens at each place go on as those at the first one do. To be freed. */
static uint32_t *repeats(solver *s, uint32_t from, uint32_t to)
{
    uint32_t length = to - from, left = 0, right = 0;
    uint32_t *z = xmalloc(((size_t)length + 1) * sizeof *z);

    z[0] = length;
    for (uint32_t i = 1; i < length; i++) {
        uint32_t same = i < right ? (z[i - left] < right - i ? z[i - left] : right - i) : 0;
        while (i + same < length && same_token(&s->t->at[from + same], &s->t->at[from + i + same])) {
            same++;
        }
        s->work++;
        z[i] = same;
        if (i + same > right) {
            left = i;
            right = i + same;
        }
    }
    return z;
}

static uint32_t solve(solver *s, uint32_t from, uint32_t to, unsigned depth, field **fields);

typedef struct best {
    uint32_t *costs;
    field *fields;
    uint32_t from;
} best;

/* Keeps a field if it makes the sequence from its place cheaper. */
static void offer(const best *b, uint32_t at, const field *f, uint32_t cost)
{
    uint32_t rest = b->costs[f->end - b->from];

    if (rest != NOWHERE && cost + rest < b->costs[at - b->from]) {
        b->costs[at - b->from] = cost + rest;
        b->fields[at - b->from] = *f;
    }
}

/* Modules and parameters at `at`, which may be an option of one that begins at `begin`. */
static void offer_modules(solver *s, const best *b, uint32_t begin, uint32_t at, uint32_t to)
{
    uint32_t more = at > begin ? COST_OPTION : 0;

    for (const known_module *m = tool_types_modules; m->name; m++) {
        sizes z = {0};
        field f = {.kind = FIELD_MODULE, .optional = at > begin, .module = m, .begin = at};
        if (s->t->minor < m->first || s->t->minor > m->last) {
            continue;
        }
        f.end = match(s, m->form, at, to, &z);
        if (f.end != NOWHERE && fits(m, &z)) {
            f.sure = m->cost <= 12 && m->form[1] && !z.lacks;
            offer(b, begin, &f, m->cost + more + (z.lacks ? 1 : 0));
        }
    }
    if (s->t->at[at].tensor) {
        field f = {.kind = FIELD_PARAM,
                   .optional = at > begin,
                   .sure = s->t->minor >= 14 && s->t->at[at].kind != 'f',
                   .begin = at,
                   .end = at + 1};
        offer(b, begin, &f, COST_PARAM + more);
    }
}

static bool holds_parameter(const solver *s, uint32_t from, uint32_t to)
{
    while (from < to && !s->t->at[from].tensor) {
        from++;
    }
    return from < to;
}

/* Lists at `at`, whose number of items stands there. */
static void offer_lists(solver *s, const best *b, uint32_t at, uint32_t to, unsigned depth)
{
    const token *t = &s->t->at[at];
    uint32_t count = t->byte, items = at + 1, tried = 0, *z;

    if (count == 251 && at + 2 < to && !t[1].tensor && !t[2].tensor) {
        count = t[1].byte | (uint32_t)t[2].byte << 8;
        items = at + 3;
    }
    if (count < 2 || (t->byte > 250 && t->byte != 251) || items >= to || depth == DEPTH_MOST) {
        return;
    }
    z = repeats(s, items, to);
    for (uint32_t length = 1; (uint64_t)length * count <= to - items && tried < LENGTHS_MOST; length++) {
        field f = {.kind = FIELD_LIST,
                   .sure = true,
                   .count = count,
                   .length = length,
                   .begin = items,
                   .end = items + length * count};
        uint32_t cost;
        if ((uint64_t)z[length] < (uint64_t)(count - 1) * length) {
            continue;
        }
        if (length == 1 && is_byte(s, items, to, 0)) {
            f.kind = FIELD_CONSTANTS;
            f.sure = false;
            offer(b, at, &f, COST_LIST + COST_CONSTANT);
        } else if (holds_parameter(s, items, items + length)) {
            tried++;
            cost = solve(s, items, items + length, depth + 1, NULL);
            if (cost != NOWHERE) {
                offer(b, at, &f, COST_LIST + cost);
            }
        }
    }
    free(z);
}

/* The variant of an enum, whose data are the next field: it reads any byte, and is the last thing to be thought of. */
static void offer_enum(const solver *s, const best *b, uint32_t at, uint32_t to)
{
    uint32_t next = at + 1;
    const field *data = next < to ? &b->fields[next - b->from] : NULL;
    field f = {.kind = FIELD_ENUM, .count = s->t->at[at].byte, .begin = next};

    if (!data || f.count == 0 || f.count > ENUM_MOST || b->costs[next - b->from] == NOWHERE || data->optional ||
        data->kind < FIELD_CONSTANT || data->kind > FIELD_MODULE) {
        return;
    }
    f.end = data->end;
    offer(b, at, &f, COST_ENUM + b->costs[next - b->from] - b->costs[data->end - b->from]);
}

/* @param fields (out, may be NULL) the field that begins at each token; freed by the caller. @return the lowest cost;
 * NOWHERE: no solution. */
static uint32_t solve(solver *s, uint32_t from, uint32_t to, unsigned depth, field **fields)
{
    size_t room = (size_t)(to - from) + 1;
    best b = {.costs = xmalloc(room * sizeof *b.costs), .fields = xmalloc(room * sizeof *b.fields), .from = from};
    uint32_t cost;

    memset(b.fields, 0, room * sizeof *b.fields);
    b.costs[to - from] = 0;
    for (uint32_t at = to; at-- > from && s->work < work_most;) {
        b.costs[at - from] = NOWHERE;
        s->work++;
        if (is_byte(s, at, to, 0)) {
            field f = {.kind = FIELD_CONSTANT, .begin = at, .end = at + 1};
            offer(&b, at, &f, COST_CONSTANT);
        }
        offer_modules(s, &b, at, at, to);
        if (s->t->minor < 21 && is_byte(s, at, to, 1) && is_byte(s, at + 1, to, 0)) {
            field f = {.kind = FIELD_CONSTANT, .optional = true, .begin = at + 1, .end = at + 2};
            offer(&b, at, &f, COST_CONSTANT + COST_OPTION);
        }
        if (is_byte(s, at, to, 1) && at + 1 < to) {
            offer_modules(s, &b, at, at + 1, to);
        }
        if (!s->t->at[at].tensor) {
            offer_lists(s, &b, at, to, depth);
            offer_enum(s, &b, at, to);
        }
    }
    cost = s->work < work_most ? b.costs[0] : NOWHERE;
    free(b.costs);
    if (fields) {
        *fields = b.fields;
    } else {
        free(b.fields);
    }
    return cost;
}

/* ----------------------------------------------------------------------------------------------------- as Rust -- */

/* Adds the type of a field; structs and enums that it needs go before. */
static void put_type(solver *s, text *t, const field *f, unsigned depth);

/* "linear_2" */
static void put_name(text *t, const field *f, unsigned number)
{
    const char *name = f->kind == FIELD_CONSTANT || f->kind == FIELD_CONSTANTS ? "constant"
                       : f->kind == FIELD_PARAM                                ? "param"
                       : f->kind == FIELD_LIST                                 ? "list"
                       : f->kind == FIELD_ENUM                                 ? "choice"
                                                                               : strrchr(f->module->name, ':') + 1;

    for (const char *at = name; *at && *at != '<'; at++) {
        bool capital = *at >= 'A' && *at <= 'Z';
        char lower = capital ? (char)(*at - 'A' + 'a') : *at;
        tool_text_add(t, "_", capital && at > name);
        tool_text_add(t, &lower, 1);
    }
    tool_text_format(t, "_%u", number);
}

/* The parameters of a field, and what else it could be. */
static void put_comment(const solver *s, text *t, const field *f)
{
    const char *separator = "";
    uint32_t shown = 0;

    tool_text_put(t, f->sure ? " //" : " // assumed:");
    if (f->kind == FIELD_CONSTANT) {
        tool_text_put(t, f->optional ? " or an Option of anything without parameters"
                                     : " or anything without parameters, or an Option that is None, or an empty list");
    } else if (f->kind == FIELD_CONSTANTS) {
        tool_text_put(t, " or an array of as many");
    } else if (f->kind == FIELD_ENUM) {
        tool_text_format(
            t, " a variant by its index, %" PRIu32 "; or the number of items of a list that are not alike:", f->count);
    }
    for (uint32_t i = f->begin; i < f->end && shown < 6; i++) {
        const token *k = &s->t->at[i];
        if (k->tensor) {
            tool_text_format(t, "%s %" PRIu64 " ", separator, k->index);
            tool_text_shape(t, rec_tensor_shape(k->tensor), k->rank);
            separator = ",";
            shown++;
        }
    }
    tool_text_put(t, shown == 6 ? ", ...\n" : "\n");
}

static void put_fields(solver *s, text *t, const field *fields, uint32_t from, uint32_t to, unsigned depth)
{
    unsigned number = 0;

    for (uint32_t at = from; at < to;) {
        const field *f = &fields[at - from];
        tool_text_put(t, "    ");
        put_name(t, f, number++);
        tool_text_put(t, ": ");
        tool_text_put(t, f->optional ? "Option<" : "");
        put_type(s, t, f, depth);
        tool_text_put(t, f->optional ? ">," : ",");
        put_comment(s, t, f);
        at = f->end;
    }
}

/* The items of a list: a module alone, or a struct of several fields. */
static void put_items(solver *s, text *t, const field *list, unsigned depth)
{
    field *fields;
    uint32_t from = list->begin, to = list->begin + list->length;
    text body = {0};
    unsigned number;

    s->work = 0; /* what was found once is found again */
    (void)solve(s, from, to, depth + 1, &fields);
    if (fields[0].end == to) {
        tool_text_put(t, fields[0].optional ? "Option<" : "");
        put_type(s, t, &fields[0], depth + 1);
        tool_text_put(t, fields[0].optional ? ">" : "");
    } else {
        put_fields(s, &body, fields, from, to, depth + 1);
        number = ++s->structs;
        tool_text_format(&s->before, "#[derive(Module, Debug)]\npub struct Block%u<B: Backend> {\n%s}\n\n", number,
                         body.at);
        tool_text_format(t, "Block%u<B>", number);
        tool_text_free(&body);
    }
    free(fields);
}

static void put_enum(solver *s, text *t, const field *f, unsigned depth)
{
    field *fields, data;
    text payload = {0};
    unsigned number;

    s->work = 0;
    (void)solve(s, f->begin, f->end, depth, &fields);
    data = fields[0];
    free(fields);
    put_type(s, &payload, &data, depth);
    number = ++s->enums;
    tool_text_format(&s->before, "#[derive(Module, Debug)]\npub enum Choice%u<B: Backend> {\n", number);
    for (uint32_t i = 0; i < f->count; i++) {
        tool_text_format(&s->before, "    Variant%" PRIu32 "(Param<Tensor<B, 1>>), // assumed: not in this file\n", i);
    }
    tool_text_format(&s->before, "    Variant%" PRIu32 "(%s),\n}\n\n", f->count, payload.at);
    tool_text_format(t, "Choice%u<B>", number);
    tool_text_free(&payload);
}

static void put_type(solver *s, text *t, const field *f, unsigned depth)
{
    const token *k = &s->t->at[f->begin];

    switch (f->kind) {
    case FIELD_MODULE:
        tool_text_put(t, f->module->name);
        break;
    case FIELD_PARAM:
        tool_types_param(t, k->rank, k->kind);
        break;
    case FIELD_LIST:
        tool_text_put(t, "Vec<");
        put_items(s, t, f, depth);
        tool_text_put(t, ">");
        break;
    case FIELD_CONSTANTS:
        tool_text_put(t, "Vec<usize>");
        break;
    case FIELD_ENUM:
        put_enum(s, t, f, depth);
        break;
    default:
        tool_text_put(t, "usize");
        break;
    }
}

/* ----------------------------------------------------------------------------------------------------- proving -- */

/* Whether the file reads by the type to its end, and has the same parameters at the same places. */
static int proves(session *s, const char *source, const rec_record *positions, const char *path, bool *proven)
{
    rec_recorder *reader = tool_session_reader(s, 1, rec_record_origin(positions)->recorder);
    rec_types *types = reader ? rec_types_new(s->context) : NULL;
    const rec_value *root = rec_root(positions);
    rec_record *record = NULL;
    rec_iterator *iterator = NULL;
    const rec_tensor *tensor;
    uint64_t found = 0;
    int status = EXIT_OK;
    bool same;

    *proven = false;
    if (!reader) {
        return EXIT_ERROR;
    }
    if (types && rec_types_add_rust(types, source, "the inferred type") == REC_OK &&
        rec_recorder_set_type_name(reader, types, "Model<B>") == REC_OK) {
        record = strcmp(path, "-") != 0                  ? tool_load(reader, path)
                 : lseek(STDIN_FILENO, 0, SEEK_SET) == 0 ? rec_load_fd(reader, STDIN_FILENO, tool_input_name(path))
                                                         : NULL;
    }
    same = record != NULL;
    for (uint64_t i = 0; same && i < rec_report_count(); i++) {
        const rec_note *note = rec_report_note(i);
        same = !note || note->kind != REC_NOTE_TRAILING;
    }
    iterator = same ? rec_iterate(record) : NULL;
    while (iterator && same && (tensor = rec_iterator_next_tensor(iterator, NULL))) {
        const rec_value *item = rec_value_item(root, found++);
        const rec_tensor *other = item ? rec_value_tensor(item) : NULL;
        same = other && rec_tensor_offset(tensor) == rec_tensor_offset(other) &&
               strcmp(rec_tensor_id(tensor) ? rec_tensor_id(tensor) : "",
                      rec_tensor_id(other) ? rec_tensor_id(other) : "") == 0;
    }
    *proven = same && iterator && found == rec_value_count(root);
    if (!types ||
        ((!record || (same && !iterator)) && (rec_error_status() == REC_E_MEMORY || rec_error_status() == REC_E_IO))) {
        status = tool_fail_library(); /* which says nothing of the type */
    }
    rec_iterator_free(iterator);
    rec_record_free(record);
    rec_close_recorder(reader);
    rec_types_free(types);
    return status;
}

int tool_types_solve(session *s, text *out, const rec_record *positions, const char *path, bool *solved)
{
    tokens t;
    solver solving = {.t = &t};
    field *fields = NULL;
    text body = {0}, source = {0};
    int status = EXIT_OK;

    *solved = tool_types_tokens(&t, positions, path) && t.count && t.count < NOWHERE / 2 &&
              solve(&solving, 0, (uint32_t)t.count, 0, &fields) != NOWHERE;
    if (*solved) {
        put_fields(&solving, &body, fields, 0, (uint32_t)t.count, 0);
        tool_text_put(
            &source,
            "use burn::module::{Module, Param};\nuse burn::nn;\nuse burn::tensor::{backend::Backend, Bool, Int, "
            "Tensor};\n\n");
        tool_text_put(&source, solving.before.at ? solving.before.at : "");
        tool_text_format(&source, "#[derive(Module, Debug)]\npub struct Model<B: Backend> {\n%s}\n", body.at);
        status = proves(s, source.at, positions, path, solved);
    }
    if (*solved) {
        tool_text_put(out, source.at);
    }
    free(t.at);
    free(fields);
    tool_text_free(&body);
    tool_text_free(&source);
    tool_text_free(&solving.before);
    return status;
}
