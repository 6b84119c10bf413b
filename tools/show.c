/* SPDX-License-Identifier: MIT OR Apache-2.0
 * record show: the values at keys, tensors as numpy prints them. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/tool.h"

/* More elements than this are shown by their edges, so many from each end of a dimension. */
enum { SUMMARY_ABOVE = 1000, EDGE = 3, CHUNK = 4096 };

/* So many elements are measured before the first is printed, so that it stands there at once. A column that turns out
 * to be wider later on grows. */
enum { MEASURED = 1 << 17 };

/* Pages are dropped after so many elements. */
enum { KEPT = 1 << 20 };

/* The part of a tensor to show, and the width of its elements. */
typedef struct view {
    const rec_tensor *tensor;
    rec_dtype dtype; /* the tensor's own; of blocks that can be decoded that of their numbers */
    rec_dtype read;  /* what elements are read as: f64, i64, u64 or bool; exact for each */
    window w;
    bool summary;
    size_t before, after; /* columns before the decimal point, and from it on */
    size_t owed;          /* spaces that fill up the last element's column, if something follows in its line */
    uint64_t last_edge;   /* elements shown at each end of the last dimension in a summary */
    size_t column, width; /* of the line that is being printed */
    json *j;              /* NULL: for people */
    uint64_t measured;    /* elements */
    uint64_t kept;        /* the first element whose page was not given back */
    uint64_t *elements;   /* CHUNK of them, to read into */
} view;

/* ------------------------------------------------------------------------------------------------------ people -- */

/* What to do with elements: measure them, or print them. */
typedef void (*element_fn)(view *v, const char *string, uint32_t depth, bool first);

static void measure_element(view *v, const char *string, uint32_t depth, bool first)
{
    size_t before = strcspn(string, ".e"), after = strlen(string) - before;

    (void)depth;
    (void)first;
    v->before = before > v->before ? before : v->before;
    v->after = after > v->after ? after : v->after;
    v->measured++;
}

static void put(view *v, const char *string, size_t width)
{
    fputs(string, stdout);
    v->column += width;
}

static void pad(view *v, size_t count)
{
    v->column += count;
    while (count--) {
        putc_unlocked(' ', stdout);
    }
}

static void new_line(view *v, uint32_t depth)
{
    putc_unlocked('\n', stdout);
    v->column = 0;
    v->owed = 0;
    pad(v, depth);
}

/* An element, its decimal point under that of its neighbours; on a line of its own if the last one is full. */
static void print_element(view *v, const char *string, uint32_t depth, bool first)
{
    size_t before = strcspn(string, ".e"), after = strlen(string) - before;

    v->before = before > v->before ? before : v->before;
    v->after = after > v->after ? after : v->after;
    if (!first) {
        put(v, ",", 1);
        if (v->column + v->owed + 1 + v->before + v->after + 1 > v->width) {
            new_line(v, depth);
        } else {
            pad(v, v->owed + 1);
        }
    }
    pad(v, v->before - before);
    put(v, string, before + after);
    v->owed = v->after - after;
}

/* Pages of a mapped file that were shown, and are not needed any more. */
static void give_back(view *v, uint64_t first, uint64_t count)
{
    if (first < v->kept) { /* once more from the beginning: measured, now printed */
        v->kept = first;
    }
    if (first + count - v->kept >= KEPT) {
        rec_tensor_release(v->tensor, v->kept, first + count - v->kept);
        v->kept = first + count;
    }
}

/* The elements of the innermost dimension from `from` to `to`, read in chunks. */
static int walk_row(view *v, uint64_t first, uint64_t stride, uint64_t from, uint64_t to, bool *any, element_fn call)
{
    char buffer[NUMBER_ROOM];

    while (from < to && (call != measure_element || v->measured < MEASURED)) {
        /* Elements that lie close together are read in one call, with the bytes between them. */
        uint64_t step = stride <= 16 ? stride : 1;
        uint64_t fits = step == stride ? (CHUNK - 1) / step + 1 : 1;
        uint64_t count = to - from < fits ? to - from : fits;
        uint64_t span = (count - 1) * step + 1;
        if (rec_tensor_read(v->tensor, v->read, first + from * stride, span, v->elements) != REC_OK) {
            return tool_fail_library();
        }
        give_back(v, first + from * stride, span);
        for (uint64_t i = 0; i < count; i++) {
            call(v, tool_element_text(v->elements, (size_t)(i * step), v->read, v->dtype, buffer), v->w.rank, !*any);
            *any = true;
        }
        from += count;
    }
    return EXIT_OK;
}

/* Walks a dimension: all of it, or its edges with an ellipsis between them. */
static int walk(view *v, uint32_t depth, uint64_t first, element_fn call)
{
    uint64_t count = v->w.shape[depth], stride = v->w.strides[depth];
    bool prints = call == print_element, last = depth + 1 == v->w.rank, any = false;
    uint64_t edge = last ? v->last_edge : EDGE;
    bool cut = v->summary && count > 2 * edge;
    int status = EXIT_OK;

    if (prints) {
        put(v, "[", 1);
    }
    for (int half = 0; half < 1 + cut && status == EXIT_OK; half++) {
        uint64_t from = half ? count - edge : 0, to = cut && !half ? edge : count;
        if (half && prints) {
            if (last) {
                put(v, ",", 1);
                pad(v, v->owed + 1);
                put(v, "…", 1);
                v->owed = 0;
            } else {
                put(v, ",", 1);
                new_line(v, depth + 1);
                put(v, "…", 1);
            }
        }
        if (last) {
            status = walk_row(v, first, stride, from, to, &any, call);
            continue;
        }
        for (uint64_t i = from; i < to && status == EXIT_OK && (prints || v->measured < MEASURED); i++) {
            if (any && prints) {
                put(v, ",", 1);
                /* As numpy: an empty line between matrices, two between lists of them. */
                for (uint32_t lines = depth + 2; lines < v->w.rank; lines++) {
                    putc_unlocked('\n', stdout);
                }
                new_line(v, depth + 1);
            }
            any = true;
            status = walk(v, depth + 1, first + i * stride, call);
        }
    }
    if (prints) {
        put(v, "]", 1);
    }
    return status;
}

static void print_form(const view *v)
{
    text form = {0};

    tool_text_format(&form, "%s ", rec_tensor_dtype_name(v->tensor));
    tool_text_shape(&form, v->w.shape, v->w.rank);
    if (rec_tensor_assumed(v->tensor)) {
        tool_text_put(&form, " (assumed)");
    }
    if (v->column + 10 + tool_text_width(form.at) > v->width) {
        printf("\n%s\n", form.at);
    } else {
        printf("          %s\n", form.at);
    }
    tool_text_free(&form);
}

static int print_tensor(view *v)
{
    uint64_t shown = 1;
    bool any = false;
    int status;

    for (uint32_t i = 0; i < v->w.rank; i++) {
        uint64_t count = v->w.shape[i];
        shown = count && shown > UINT64_MAX / count ? UINT64_MAX : shown * count;
    }
    v->summary = v->summary && shown > SUMMARY_ABOVE;
    v->last_edge = EDGE;
    if (shown == 0) {
        put(v, "[]", 2);
    } else if (v->w.rank == 0) {
        status = walk_row(v, v->w.first, 1, 0, 1, &any, measure_element);
        any = false;
        if (status != EXIT_OK || (status = walk_row(v, v->w.first, 1, 0, 1, &any, print_element)) != EXIT_OK) {
            return status;
        }
    } else {
        if ((status = walk(v, 0, v->w.first, measure_element)) != EXIT_OK) {
            return status;
        }
        /* Rather fewer elements than a row of two lines. */
        if (v->w.rank + 2 * EDGE * (v->before + v->after + 2) + 3 > v->width) {
            v->last_edge = EDGE - 1;
        }
        if ((status = walk(v, 0, v->w.first, print_element)) != EXIT_OK) {
            return status;
        }
    }
    print_form(v);
    return EXIT_OK;
}

/* ---------------------------------------------------------------------------------------------------- programs -- */

static void json_element(view *v, const char *string, uint32_t depth, bool first)
{
    const char *plain = string + (*string == '-');

    (void)depth;
    (void)first;
    if (*plain == 'N' || *plain == 'I') { /* NaN and Infinity, which JSON has not */
        tool_json_string(v->j, NULL, string);
    } else {
        tool_json_token(v->j, NULL, string);
    }
}

static int json_dim(view *v, uint32_t depth, uint64_t first)
{
    uint64_t count = v->w.shape[depth], stride = v->w.strides[depth];
    bool any = false;
    int status = EXIT_OK;

    tool_json_array(v->j, NULL);
    if (depth + 1 == v->w.rank) {
        status = walk_row(v, first, stride, 0, count, &any, json_element);
    } else {
        for (uint64_t i = 0; i < count && status == EXIT_OK; i++) {
            status = json_dim(v, depth + 1, first + i * stride);
        }
    }
    tool_json_close(v->j, ']');
    return status;
}

static int json_tensor(view *v, const char *key)
{
    json j;
    bool any = false;
    int status;

    tool_json_begin(&j, stdout, 2);
    v->j = &j;
    tool_json_object(&j, NULL);
    tool_json_string(&j, "key", key);
    tool_json_string(&j, "dtype", rec_tensor_dtype_name(v->tensor));
    j.depth = 1;
    tool_json_shape(&j, "shape", v->w.shape, v->w.rank);
    if (rec_tensor_assumed(v->tensor)) {
        tool_json_bool(&j, "assumed", true);
    }
    tool_json_key(&j, "values", 6);
    j.depth = v->w.rank > 1 ? 2 : 1;
    status = v->w.rank ? json_dim(v, 0, v->w.first) : walk_row(v, v->w.first, 1, 0, 1, &any, json_element);
    tool_json_finish(&j);
    return status;
}

/* Quantised and unknown types: the bytes are all there is to show. */
static int show_opaque(const rec_tensor *tensor, const char *key, bool as_json)
{
    uint64_t size;
    const unsigned char *bytes = rec_tensor_bytes(tensor, &size);
    text shape = {0};
    json j;

    if (!bytes) {
        return tool_fail_library();
    }
    if (as_json) {
        tool_json_open(&j, stdout, 1);
        tool_json_string(&j, "key", key);
        tool_json_string(&j, "dtype", rec_tensor_dtype_name(tensor));
        tool_json_shape(&j, "shape", rec_tensor_shape(tensor), rec_tensor_rank(tensor));
        tool_json_bytes(&j, "bytes", bytes, size);
        tool_json_finish(&j);
        return EXIT_OK;
    }
    for (uint64_t i = 0; i < size && i < 256; i++) {
        printf("%02x%c", bytes[i], i % 16 == 15 ? '\n' : ' ');
    }
    tool_text_shape(&shape, rec_tensor_shape(tensor), rec_tensor_rank(tensor));
    printf("%s          %s %s, %" PRIu64 " bytes as stored\n", size > 256 ? "…" : "", rec_tensor_dtype_name(tensor),
           shape.at, size);
    tool_text_free(&shape);
    return EXIT_OK;
}

static int show_tensor(const session *s, const rec_tensor *tensor, const char *key, const slice *cut)
{
    view v = {
        .tensor = tensor, .dtype = tool_number_dtype(tensor), .summary = !s->o->all, .width = tool_output_width()};
    int status;

    v.read = tool_exact_dtype(v.dtype);
    if (v.read == REC_DTYPE_NONE) {
        return cut->count ? tool_fail("%s: a %s tensor has no elements that could be shown one by one", key,
                                      rec_tensor_dtype_name(tensor))
                          : show_opaque(tensor, key, s->o->json);
    }
    if (tool_slice_apply(cut, key, rec_tensor_shape(tensor), rec_tensor_rank(tensor), &v.w) != EXIT_OK) {
        return EXIT_ERROR;
    }
    v.elements = xmalloc(CHUNK * sizeof *v.elements);
    status = s->o->json ? json_tensor(&v, key) : print_tensor(&v);
    free(v.elements);
    return status;
}

/* ------------------------------------------------------------------------------------------------------ values -- */

/* A tree for people: a level two spaces in, a leaf a line. */
static void print_tree(const rec_value *value, const char *name, size_t level, const options *o)
{
    int32_t kind = rec_value_kind(value);
    uint64_t count = rec_value_count(value);
    const rec_tensor *tensor = rec_value_tensor(value);
    char number[NUMBER_ROOM];
    text line = {0};

    tool_text_format(&line, "%*s", (int)(2 * level), "");
    if (name) {
        tool_text_safe(&line, name, strlen(name));
        tool_text_put(&line, ":");
    }
    bool nested = (kind == REC_KIND_LIST || kind == REC_KIND_MAP || kind == REC_KIND_VARIANT) && count > 0;
    if (!nested) {
        tool_text_put(&line, name ? " " : "");
        if (tensor) {
            tool_text_format(&line, "%s ", rec_tensor_dtype_name(tensor));
            tool_text_shape(&line, rec_tensor_shape(tensor), rec_tensor_rank(tensor));
        } else {
            tool_leaf_text(&line, value, o->all ? SIZE_MAX / 8 : 72);
        }
    }
    if (line.length > 2 * level) {
        puts(line.at);
    }
    tool_text_free(&line);
    for (uint64_t i = 0; nested && i < count; i++) {
        rec_scalar key = rec_value_key(value, i);
        const char *child = kind == REC_KIND_LIST         ? (snprintf(number, sizeof number, "%" PRIu64, i), number)
                            : key.kind == REC_KIND_STRING ? key.text
                                                          : tool_scalar_text(&key, number);
        print_tree(rec_value_item(value, i), child, level + (name != NULL), o);
    }
}

/* Prints strings unescaped, so that other programs can use them; on a terminal control characters are escaped. */
static void print_string(const rec_scalar *scalar)
{
    text safe = {0};
    size_t length = (size_t)scalar->v.length;

    if (!tool_output_is_terminal()) {
        (void)fwrite(scalar->text, 1, length, stdout);
    } else {
        for (size_t i = 0, line; i < length; i += line + 1) {
            const char *end = memchr(scalar->text + i, '\n', length - i);
            line = end ? (size_t)(end - (scalar->text + i)) : length - i;
            tool_text_put(&safe, i ? "\n" : "");
            tool_text_value(&safe, scalar->text + i, line);
        }
        fputs(safe.at ? safe.at : "", stdout);
        tool_text_free(&safe);
    }
    putchar('\n');
}

static int show_value(const session *s, const rec_value *value, const char *key)
{
    rec_scalar scalar = rec_value_scalar(value);
    text line = {0};
    json j;

    if (s->o->json) {
        tool_json_open(&j, stdout, 1);
        tool_json_string(&j, "key", key);
        tool_json_string(&j, "kind", tool_kind_word(rec_value_kind(value)));
        tool_json_leaf(&j, "value", value);
        tool_json_finish(&j);
    } else if (scalar.kind == REC_KIND_STRING) {
        print_string(&scalar);
    } else if (rec_value_kind(value) == REC_KIND_NUMBERS) {
        tool_leaf_text(&line, value, s->o->all ? SIZE_MAX / 8 : SUMMARY_ABOVE * 4);
        puts(line.at);
        tool_text_free(&line);
    } else {
        print_tree(value, NULL, 0, s->o);
    }
    return EXIT_OK;
}

/* A slice of a list of numbers: one of them, or a shorter list. */
static int show_numbers(const session *s, const rec_value *value, const char *key, const slice *cut)
{
    uint64_t count = rec_value_count(value), shown;
    char buffer[NUMBER_ROOM];
    window w;
    json j;

    if (tool_slice_apply(cut, key, &count, 1, &w) != EXIT_OK) {
        return EXIT_ERROR;
    }
    shown = w.rank ? w.shape[0] : 1;
    tool_json_begin(&j, stdout, 1);
    if (s->o->json) {
        tool_json_object(&j, NULL);
        tool_json_string(&j, "key", key);
        tool_json_string(&j, "kind", tool_kind_word(w.rank ? REC_KIND_NUMBERS : rec_value_number(value, w.first).kind));
        tool_json_key(&j, "value", 5);
    }
    if (w.rank) {
        j.depth = s->o->json;
        tool_json_array(&j, NULL);
    }
    for (uint64_t i = 0; i < shown; i++) {
        rec_scalar number = rec_value_number(value, w.first + i * (w.rank ? w.strides[0] : 1));
        if (s->o->json) {
            tool_json_scalar(&j, NULL, &number);
        } else {
            tool_json_token(&j, NULL, tool_scalar_text(&number, buffer));
        }
    }
    if (w.rank) {
        tool_json_close(&j, ']');
    }
    if (s->o->json) {
        tool_json_close(&j, '}');
    }
    tool_json_end(&j);
    return EXIT_OK;
}

/* The key may hold brackets itself, so a value of the whole operand comes before a slice. */
static int show(const session *s, const rec_record *record, const char *operand)
{
    const rec_value *value = rec_value_at(record, operand);
    const rec_tensor *tensor;
    slice cut = {0};
    int status = EXIT_OK;
    char *key = xstrdup(operand);

    if (!value) {
        size_t length = tool_slice_find(operand);
        if (operand[length]) {
            key[length] = '\0';
            value = rec_value_at(record, key);
            status = tool_slice_parse(&cut, operand + length);
        }
    }
    if (status != EXIT_OK) {
        goto done;
    }
    tensor = value ? rec_value_tensor(value) : NULL;
    if (tensor) {
        status = show_tensor(s, tensor, key, &cut);
    } else if (value && cut.count && rec_value_kind(value) == REC_KIND_NUMBERS) {
        status = show_numbers(s, value, key, &cut);
    } else if (value && cut.count) {
        status = tool_fail("%s: only tensors and lists of numbers have slices; this is a %s", key,
                           tool_kind_word(rec_value_kind(value)));
    } else if (value) {
        status = show_value(s, value, key);
    } else {
        (void)rec_tensor_at(record, key); /* it knows what is near */
        status = tool_fail_library();
    }

done:
    free(key);
    return status;
}

/* ----------------------------------------------------------------------------------------------------- several -- */

/* Whether an operand is the key of a value, with or without a slice. */
static bool is_key(const rec_record *record, const char *operand)
{
    size_t length = tool_slice_find(operand);
    char *key = xasprintf("%.*s", (int)length, operand);
    bool is = rec_value_at(record, operand) || (operand[length] && rec_value_at(record, key));

    free(key);
    return is;
}

/* Brackets alone are a slice as long as they hold what slices do: a key that is spelled wrongly is no pattern. */
static bool is_pattern(const rec_record *record, const char *operand)
{
    const char *set = strchr(operand, '[');
    bool glob = operand[0] == '!' || strpbrk(operand, "*?#{") || (set && strspn(set, "[]0123456789,:- ") < strlen(set));

    return glob && !is_key(record, operand);
}

/* Shows one of several values below its key. With --json each is a separate object. */
static int show_next(const session *s, const rec_record *record, const char *operand, bool *begun)
{
    if (!s->o->json) {
        text key = {0};
        tool_text_safe(&key, operand, strlen(operand));
        printf("%s%s%s%s\n", *begun ? "\n" : "", tool_style(STYLE_BOLD), *key.at ? key.at : "(root)",
               tool_style(STYLE_PLAIN));
        tool_text_free(&key);
    }
    *begun = true;
    return show(s, record, operand);
}

/* What matches patterns, in the order of the record. */
static int show_matches(const session *s, const rec_record *record, key_patterns *keys, bool *begun)
{
    rec_iterator *iterator = rec_iterate(record);
    const rec_value *value;
    const char *path;
    int status = iterator ? EXIT_OK : tool_fail_library();

    while (status == EXIT_OK && (value = rec_iterator_next(iterator, &path))) {
        if (tool_patterns_match(keys, path) && (s->o->all || rec_value_kind(value) != REC_KIND_NIL)) {
            status = show_next(s, record, path, begun);
        }
    }
    rec_iterator_free(iterator);
    return status == EXIT_OK ? tool_patterns_check(keys) : status;
}

/* Shows keys first, in the order given; then the matches of patterns. */
static int show_several(const session *s, const rec_record *record, const char *const *operands, size_t count)
{
    const char **given = xmalloc(count * sizeof *given);
    key_patterns *keys = NULL;
    size_t patterns = 0;
    bool begun = false;
    int status = EXIT_OK;

    for (size_t i = 0; i < count && status == EXIT_OK; i++) {
        if (is_pattern(record, operands[i])) {
            given[patterns++] = operands[i];
        } else {
            status = show_next(s, record, operands[i], &begun);
        }
    }
    if (status == EXIT_OK && patterns) {
        keys = tool_patterns_make(given, patterns);
        status = keys ? show_matches(s, record, keys, &begun) : EXIT_ERROR;
    }
    tool_patterns_free(keys);
    free(given);
    return status;
}

/* Whether the numbers of a key need decoded tensors: it names a decoded tensor, or codes with an element type. */
static bool is_packed(const rec_record *record, const char *key)
{
    size_t length = tool_slice_find(key);
    char *name = xasprintf("%.*s", (int)length, key);
    const rec_tensor *tensor = rec_tensor_at(record, name);

    free(name);
    return tensor ? rec_tensor_scheme(tensor) && rec_dtype_bits(rec_tensor_dtype(tensor)) != 0
                  : !is_key(record, key) && !is_pattern(record, key);
}

int tool_run_show(session *s, const char *const *operands, size_t count)
{
    rec_record *record = tool_session_read(s, tool_session_look(s, 1), operands[0], NULL);
    const char *output = tool_own(s->o, "output");
    int status = EXIT_ERROR;

    if (record && output && count != 2) {
        status = tool_fail_usage("show", "--output needs one KEY");
        rec_record_free(record);
        record = NULL;
    }
    if (record && count == 2 && strcmp(operands[0], "-") != 0 && is_packed(record, operands[1])) {
        rec_record *decoded;
        s->decoded = true;
        decoded = tool_session_read(s, tool_session_look(s, 1), operands[0], NULL);
        if (decoded && is_key(decoded, operands[1])) {
            rec_record *stored = record;
            record = decoded;
            decoded = stored;
        }
        rec_record_free(decoded);
    }
    if (record) {
        status = output ? tool_show_out(s, record, operands[1], output)
                 : count > 2 || (count == 2 && is_pattern(record, operands[1]))
                     ? show_several(s, record, operands + 1, count - 1)
                     : show(s, record, count > 1 ? operands[1] : "");
    }
    rec_record_free(record);
    return status;
}
