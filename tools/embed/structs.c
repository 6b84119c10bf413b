/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A record as a C constant: its struct types, what it points to, and the constant itself. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/embed/embed_private.h"

/* Literals may have 4,095 characters in C99; longer strings are arrays. */
enum { LITERAL = 4000 };

typedef struct writer {
    FILE *out;
    lookup names;
    lookup
        pointees; /* targets of pointers are separate constants, written earlier: their names by the value's address */
    int status;
} writer;

/* --------------------------------------------------------------------------------------------------- constants -- */

/* A macro with a number. */
static void define(writer *w, const shape *s, const char *what, uint64_t number)
{
    char *wanted = xasprintf("%s_%s", s->macro, what);
    char *name = tool_c_names_take(&w->names, wanted);

    fprintf(w->out, "#define %s %" PRIu64 "\n", name, number);
    free(name);
    free(wanted);
}

static void define_tensor(writer *w, const shape *s)
{
    uint32_t rank = rec_tensor_rank(s->tensor);
    const uint64_t *dims = rec_tensor_shape(s->tensor);
    char what[32];

    define(w, s, "RANK", rank);
    for (uint32_t i = 0; i < rank; i++) {
        (void)snprintf(what, sizeof what, "DIM_%" PRIu32, i);
        define(w, s, what, dims[i]);
    }
    define(w, s, "COUNT", rec_tensor_count(s->tensor));
}

/* ------------------------------------------------------------------------------------------------ declarations -- */

static bool is_pointer(const shape *s)
{
    return s->optional && s->kind != SHAPE_STRING && s->kind != SHAPE_NOTHING;
}

/* `const struct model_bias *const bias`, `uint8_t grid[3]`. @param name what is declared, to be freed here.
 * @param in_place the thing itself, even if it is optional. @param constant whether it is declared const. */
static void declare(FILE *out, const shape *s, char *name, bool in_place, bool constant)
{
    char *inner;

    for (;; s = s->parts[0], name = inner, in_place = false) {
        if (is_pointer(s) && !in_place) {
            bool parens = s->kind == SHAPE_ARRAY || s->kind == SHAPE_NUMBERS || s->kind == SHAPE_BYTES;
            inner = xasprintf(parens ? "(*const %s)" : "*const %s", name);
            free(name);
            name = inner;
            constant = true;
        }
        if (s->kind != SHAPE_ARRAY) {
            break;
        }
        inner = xasprintf("%s[%" PRIu64 "]", name, s->count);
        free(name);
    }
    switch (s->kind) {
    case SHAPE_SCALAR:
        fprintf(out, "%s%s %s", constant ? "const " : "", tool_scalar_type(s), name);
        break;
    case SHAPE_NUMBERS:
        fprintf(out, "%s%s %s[%" PRIu64 "]", constant ? "const " : "", tool_scalar_type(s), name, s->count);
        break;
    case SHAPE_BYTES:
        fprintf(out, "%suint8_t %s[%" PRIu64 "]", constant ? "const " : "", name, s->count);
        break;
    case SHAPE_STRING:
        fprintf(out, "const char *const %s", name);
        break;
    case SHAPE_NOTHING:
        fprintf(out, "const void *const %s", name);
        break;
    default:
        fprintf(out, "%sstruct %s %s", constant ? "const " : "", s->tag, name);
        break;
    }
    free(name);
}

static void comment_tensor(writer *w, const rec_tensor *tensor)
{
    text line = {0};

    tool_text_put(&line, rec_tensor_dtype_name(tensor));
    tool_text_put(&line, " ");
    tool_text_shape(&line, rec_tensor_shape(tensor), rec_tensor_rank(tensor));
    fputs("\n/* ", w->out);
    for (size_t i = 0; i < line.length; i++) {
        unsigned char c = (unsigned char)line.at[i];
        /* An unknown type has the file's own name, which must not end the comment. */
        bool ends = c == '*' && line.at[i + 1] == '/';
        fputc(c >= ' ' && c < 0x7F && c != '\\' && c != '?' && !ends ? c : '_', w->out);
    }
    fputs(" */\n", w->out);
    tool_text_free(&line);
}

static void declare_members(writer *w, const shape *s)
{
    bool any = s->kind == SHAPE_ENUM;

    if (any) {
        fputs("    uint32_t variant;\n", w->out);
    }
    for (size_t i = 0; i < s->part_count; i++) {
        if (tool_shape_has_member(s->parts[i])) {
            fputs("    ", w->out);
            declare(w->out, s->parts[i], xstrdup(s->parts[i]->member), false, false);
            fputs(";\n", w->out);
            any = true;
        }
    }
    if (!any) {
        fputs("    uint8_t empty;\n", w->out); /* C has no empty struct */
    }
}

/* An index that the file does not tell is the place in the order of appearance. */
static uint64_t variant_index(const shape *s, size_t part)
{
    for (size_t i = 0; i < s->part_count; i++) {
        if (s->parts[i]->variant == REC_UNKNOWN) {
            return part;
        }
    }
    return s->parts[part]->variant;
}

/* The types below a shape, then its own. */
static void declare_types(writer *w, const shape *s)
{
    for (size_t i = 0; i < s->part_count; i++) {
        declare_types(w, s->parts[i]);
    }
    switch (s->kind) {
    case SHAPE_TENSOR:
        comment_tensor(w, s->tensor);
        define_tensor(w, s);
        fprintf(w->out, "struct %s {\n    %s data[%" PRIu64 "];\n};\n", s->tag,
                tool_element_type(s->tensor) ? tool_element_type(s->tensor) : "uint8_t", s->count ? s->count : 1);
        break;
    case SHAPE_STRUCT:
    case SHAPE_TUPLE:
    case SHAPE_ENUM:
        fputc('\n', w->out);
        for (size_t i = 0; i < s->part_count && s->kind == SHAPE_ENUM; i++) {
            char *upper = tool_c_name_upper(s->parts[i]->member), *what = xasprintf("IS_%s", upper);
            define(w, s, what, variant_index(s, i));
            free(what);
            free(upper);
        }
        fprintf(w->out, "struct %s {\n", s->tag);
        declare_members(w, s);
        fputs("};\n", w->out);
        break;
    case SHAPE_STRING:
        if (s->count != REC_UNKNOWN) {
            define(w, s, "LENGTH", s->count);
        }
        break;
    case SHAPE_ARRAY:
    case SHAPE_NUMBERS:
    case SHAPE_BYTES:
        define(w, s, "COUNT", s->count);
        break;
    default:
        break;
    }
}

/* ------------------------------------------------------------------------------------------------------ values -- */

static void print_literal(writer *w, const char *bytes, size_t length)
{
    fputc('"', w->out);
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)bytes[i];
        if (c == '"' || c == '\\' || c == '?') {
            fprintf(w->out, "\\%c", c); /* of a question mark: two of them would begin a trigraph */
        } else if (c >= ' ' && c < 0x7F) {
            fputc(c, w->out);
        } else {
            fprintf(w->out, "\\%03o", c);
        }
    }
    fputc('"', w->out);
}

static void print_value(writer *w, const shape *s, const rec_value *value, size_t indent, bool in_place);

static void print_part(writer *w, const shape *s, const rec_value *value, size_t indent, bool *any)
{
    fprintf(w->out, "%s\n%*s", *any ? "," : "", (int)indent, "");
    *any = true;
    print_value(w, s, value, indent, false);
}

static void print_parts(writer *w, const shape *s, const rec_value *value, size_t indent)
{
    bool any = false;

    fputc('{', w->out);
    if (s->kind == SHAPE_ENUM) {
        for (size_t i = 0; i < s->part_count; i++) {
            if (tool_same_scalar(s->parts[i]->key, rec_value_key(value, 0))) {
                fprintf(w->out, "\n%*s%" PRIu64, (int)indent + 4, "", variant_index(s, i));
            }
        }
        any = true;
    }
    if (s->kind == SHAPE_ARRAY) {
        for (uint64_t i = 0; i < s->count; i++) {
            const rec_value *item = rec_value_item(value, i);
            print_part(w, s->parts[0], rec_value_kind(item) == REC_KIND_NIL ? NULL : item, indent + 4, &any);
        }
    } else {
        for (size_t i = 0; i < s->part_count; i++) {
            if (tool_shape_has_member(s->parts[i])) {
                print_part(w, s->parts[i], tool_shape_value(s, value, i), indent + 4, &any);
            }
        }
    }
    fprintf(w->out, any ? "\n%*s}" : "0}", (int)indent, "");
}

/* Elements between braces. */
static void print_numbers(writer *w, const shape *s, const rec_value *value, size_t indent)
{
    row r = {.out = w->out, .indent = indent + 4};
    char buffer[NUMBER_ROOM];

    fputc('{', w->out);
    if (s->kind == SHAPE_TENSOR) {
        if (s->count == 0) {
            tool_row_put(&r, "0"); /* C has no empty array */
        } else if (w->status == EXIT_OK) {
            w->status = tool_print_elements(&r, rec_value_tensor(value));
        }
    } else if (s->kind == SHAPE_BYTES) {
        const unsigned char *bytes = rec_value_bytes(value, NULL);
        for (uint64_t i = 0; i < s->count; i++) {
            (void)snprintf(buffer, sizeof buffer, "%u", bytes[i]);
            tool_row_put(&r, buffer);
        }
    } else {
        for (uint64_t i = 0; i < s->count; i++) {
            rec_scalar number = rec_value_number(value, i);
            tool_row_put(&r, tool_number_c(s, &number, buffer));
        }
    }
    fprintf(w->out, "\n%*s}", (int)indent, "");
}

/* The initialiser of a value. @param value NULL: it is absent. */
static void print_value(writer *w, const shape *s, const rec_value *value, size_t indent, bool in_place)
{
    const lookup_slot *pointee = value && !in_place ? tool_lookup_find(&w->pointees, &value, sizeof value) : NULL;
    rec_scalar scalar;
    char buffer[NUMBER_ROOM];

    if (!value) {
        fputs("NULL", w->out);
        return;
    }
    if (pointee) {
        fprintf(w->out, "%s%s", s->kind == SHAPE_STRING ? "" : "&", pointee->text);
        return;
    }
    scalar = rec_value_scalar(value);
    switch (s->kind) {
    case SHAPE_STRING:
        print_literal(w, scalar.text, (size_t)scalar.v.length);
        break;
    case SHAPE_SCALAR:
        fputs(tool_number_c(s, &scalar, buffer), w->out);
        break;
    case SHAPE_TENSOR:
        fputc('{', w->out);
        print_numbers(w, s, value, indent);
        fputc('}', w->out);
        break;
    case SHAPE_NUMBERS:
    case SHAPE_BYTES:
        print_numbers(w, s, value, indent);
        break;
    default:
        print_parts(w, s, value, indent);
        break;
    }
}

/* Long strings: an array of characters with a terminating 0. */
static void print_long_string(writer *w, const char *name, const rec_scalar *string)
{
    row r = {.out = w->out, .indent = 4};

    fprintf(w->out, "\nstatic const char %s[%" PRIu64 "] = {", name, string->v.length + 1);
    for (uint64_t i = 0; i <= string->v.length; i++) {
        char item[16];
        (void)snprintf(item, sizeof item, "'\\%03o'", i < string->v.length ? (unsigned char)string->text[i] : 0);
        tool_row_put(&r, item);
    }
    fputs("\n};\n", w->out);
}

/* Makes what is pointed to, innermost first. */
static void print_pointees(writer *w, const shape *s, const rec_value *value)
{
    rec_scalar scalar = rec_value_scalar(value);
    bool is_long = s->kind == SHAPE_STRING && scalar.v.length > LITERAL;
    char *wanted, *name;

    if (s->kind == SHAPE_ARRAY) {
        for (uint64_t i = 0; i < s->count; i++) {
            const rec_value *item = rec_value_item(value, i);
            if (rec_value_kind(item) != REC_KIND_NIL) {
                print_pointees(w, s->parts[0], item);
            }
        }
    } else {
        for (size_t i = 0; i < s->part_count; i++) {
            const rec_value *part = tool_shape_value(s, value, i);
            if (part) {
                print_pointees(w, s->parts[i], part);
            }
        }
    }
    if (!is_long && !is_pointer(s)) {
        return;
    }
    wanted = xasprintf("%s_value", s->tag);
    name = tool_c_names_take(&w->names, wanted);
    free(wanted);
    if (is_long) {
        print_long_string(w, name, &scalar);
    } else {
        fputs("\nstatic ", w->out);
        declare(w->out, s, xstrdup(name), true, true);
        fputs(" = ", w->out);
        print_value(w, s, value, 0, true);
        fputs(";\n", w->out);
    }
    tool_lookup_add(&w->pointees, &value, sizeof value)->text = name;
}

int tool_embed_structs(FILE *out, const char *symbol, const rec_record *record)
{
    const rec_value *root = rec_root(record);
    writer w = {.out = out, .status = EXIT_OK};
    shape *s = tool_shape_of(root);
    char *tag = xasprintf("%s_record", symbol), *capitals = tool_c_name_upper(symbol),
         *guard = xasprintf("%s_STRUCTS_H", capitals);
    const char *version = rec_metadata(record, "version");
    bool plain = version && strspn(version, "0123456789.") == strlen(version);

    if (!tool_shape_has_member(s) || s->kind == SHAPE_NOTHING) {
        w.status =
            tool_fail("%s: there is nothing in this record to make a struct of", rec_record_origin(record)->file);
        goto done;
    }
    /* The constant has the name itself, so its type needs another one. */
    tool_shape_name(s, symbol, &w.names);
    free(s->tag);
    s->tag = tool_c_names_take(&w.names, tag);
    free(tool_c_names_take(&w.names, guard));
    fprintf(out,
            "/* Made by `record embed --structs`%s%s. Needs no library. */\n"
            "#ifndef %s\n#define %s\n\n#include <stddef.h>\n#include <stdint.h>\n",
            plain ? " from a record of Burn " : "", plain ? version : "", guard, guard);
    declare_types(&w, s);
    print_pointees(&w, s, root);
    fputs("\nstatic ", out);
    declare(out, s, xstrdup(symbol), true, true);
    fputs(" = ", out);
    print_value(&w, s, root, 0, true);
    fprintf(out, ";\n\n#endif\n");

done:
    tool_lookup_free(&w.pointees);
    tool_lookup_free(&w.names);
    tool_shape_free(s);
    free(tag);
    free(capitals);
    free(guard);
    return w.status;
}
