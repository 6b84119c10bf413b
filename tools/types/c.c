/* SPDX-License-Identifier: MIT OR Apache-2.0
 * record types --c: the struct of a record as a C header for rec_bind(), what the items of a list have in common as
 * one. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/names.h"
#include "tools/embed/embed.h"
#include "tools/types/types.h"

/* What a field is. */
enum {
    NODE_NIL,    /* holds nothing: a constant */
    NODE_VALUE,  /* whatever there is: no field of C's can tell */
    NODE_HIDDEN, /* its name is a word of C's */
    NODE_SIMPLE, /* a number, a bool, a string: `word` */
    NODE_TENSOR, /* `word` without OPTION_ */
    NODE_STRUCT,
    NODE_ENUM,
    NODE_LIST
};
enum { RANK_MOST = 8 };

typedef struct node node;
struct node {
    int kind;
    bool optional;
    const char *word; /* PARAM, INT_TENSOR, USIZE */
    uint64_t shape[RANK_MOST];
    uint32_t rank;
    const char *why; /* of a value: what C cannot say */
    char **keys;     /* of a struct or enum */
    node **parts;    /* of these; of a list the one of its items, or none */
    size_t count;
    uint64_t length; /* of a list of a fixed length, else 0 */
};

static node *node_new(int kind)
{
    node *n = xmalloc(sizeof *n);

    *n = (node){.kind = kind};
    return n;
}

static void node_free(node *n)
{
    for (size_t i = 0; n && i < n->count; i++) {
        free(n->keys ? n->keys[i] : NULL);
        node_free(n->parts[i]);
    }
    if (n) {
        free(n->keys);
        free(n->parts);
        free(n);
    }
}

/* @return a node that stands for anything, in the place of `old`. */
static node *give_up(node *old, const char *why)
{
    node *n = node_new(NODE_VALUE);

    n->why = why;
    node_free(old);
    return n;
}

static void add_part(node *n, const char *key, node *part)
{
    n->parts = tool_grown(n->parts, n->count, sizeof *n->parts);
    n->keys = tool_grown(n->keys, n->count, sizeof *n->keys);
    n->keys[n->count] = key ? xstrdup(key) : NULL;
    n->parts[n->count++] = part;
}

/* ------------------------------------------------------------------------------------------------------- names -- */

bool tool_types_is_name(const char *name, size_t length)
{
    static const char *const macros[] = {"signbit", "isnan", "isinf"};
    bool taken = tool_c_word(name, length);

    for (size_t i = 0; i < sizeof macros / sizeof *macros; i++) {
        taken = taken || lr_text_is(name, length, macros[i]);
    }
    return tool_c_identifier(name, length) && !taken && strncmp(name, "__", 2) != 0 && strncmp(name, "REC_", 4) != 0 &&
           !(name[0] == '_' && length > 1 && name[1] >= 'A' && name[1] <= 'Z');
}

/* ----------------------------------------------------------------------------------------------- what there is -- */

static const char *number_word(rec_scalar s)
{
    static const char *const ints[] = {"I8", "I16", "I32", "I64"}, *const uints[] = {"U8", "U16", "U32", "USIZE"};
    int width = s.bits == 8 ? 0 : s.bits == 16 ? 1 : s.bits == 32 ? 2 : 3;

    switch (s.kind) {
    case REC_KIND_BOOL:
        return "BOOL";
    case REC_KIND_INT:
        return ints[width];
    case REC_KIND_UINT:
        return uints[width];
    case REC_KIND_STRING:
        return "STRING";
    default:
        return s.bits == 32 ? "F32" : "F64";
    }
}

static node *node_of_tensor(const rec_tensor *tensor)
{
    char kind = tool_types_kind(tensor);
    bool param = rec_tensor_id(tensor) != NULL;
    node *n = node_new(NODE_TENSOR);

    if (!rec_dtype_bits(rec_tensor_dtype(tensor))) {
        return give_up(n, rec_tensor_dtype(tensor) == REC_DTYPE_QFLOAT ? "a quantised tensor" : "of an unknown type");
    }
    n->word = kind == 'b'   ? (param ? "BOOL_PARAM" : "BOOL_TENSOR")
              : kind == 'i' ? (param ? "INT_PARAM" : "INT_TENSOR")
              : param       ? "PARAM"
                            : "TENSOR";
    n->rank = rec_tensor_rank(tensor);
    for (uint32_t i = 0; i < n->rank && i < RANK_MOST; i++) {
        n->shape[i] = rec_tensor_shape(tensor)[i];
    }
    return n;
}

static node *node_of(const rec_value *value);
static node *unite(node *a, node *b);

/* `Dense`: files with names do not tell the variant of an enum from a map of one entry. */
static bool is_variant(const rec_scalar *key)
{
    return key->kind == REC_KIND_STRING && tool_types_is_name(key->text, (size_t)key->v.length) &&
           key->text[0] >= 'A' && key->text[0] <= 'Z' &&
           (key->v.length == 1 || strpbrk(key->text, "abcdefghijklmnopqrstuvwxyz"));
}

/* As parameters have them: what has such keys is a map of an optimizer. */
static bool is_id(const rec_scalar *key)
{
    size_t length = (size_t)key->v.length;

    return key->kind == REC_KIND_STRING && (length == 10 || length == 13 || length == 36) &&
           strspn(key->text, length == 36 ? "0123456789abcdef-" : "0123456789abcdefghijklmnopqrstuv") == length &&
           strpbrk(key->text, "0123456789");
}

static bool is_map_of_ids(const rec_value *value)
{
    uint64_t count = rec_value_count(value), ids = 0;

    for (uint64_t i = 0; i < count; i++) {
        rec_scalar key = rec_value_key(value, i);
        ids += is_id(&key);
    }
    return count && ids == count;
}

static node *node_of_map(const rec_value *value)
{
    uint64_t count = rec_value_count(value);
    bool variant = rec_value_kind(value) == REC_KIND_VARIANT;
    rec_scalar first = count ? rec_value_key(value, 0) : (rec_scalar){0};
    node *n = node_new(NODE_STRUCT);

    if (variant || (count == 1 && is_variant(&first) && rec_value_form(value) != REC_FORM_STRUCT)) {
        n->kind = NODE_ENUM;
    }
    if (!variant && (is_map_of_ids(value) || rec_value_form(value) == REC_FORM_MAP)) {
        return give_up(n, "a map by ids");
    }
    for (uint64_t i = 0; i < count; i++) {
        rec_scalar key = rec_value_key(value, i);
        bool named = key.kind == REC_KIND_STRING && tool_types_is_name(key.text, (size_t)key.v.length);
        if (!named && (n->kind == NODE_ENUM || key.kind != REC_KIND_STRING ||
                       !tool_c_identifier(key.text, (size_t)key.v.length))) {
            return give_up(n, "a key that is not an identifier");
        }
        add_part(n, key.text, named ? node_of(rec_value_item(value, i)) : node_new(NODE_HIDDEN));
    }
    if (variant && !count) {
        rec_scalar name = rec_value_key(value, 0);
        if (name.kind != REC_KIND_STRING || !tool_types_is_name(name.text, (size_t)name.v.length)) {
            return give_up(n, "a variant whose name is not an identifier");
        }
        add_part(n, name.text, node_new(NODE_NIL));
    }
    return n;
}

static node *node_of_list(const rec_value *value)
{
    uint64_t count = rec_value_count(value);
    node *n = node_new(NODE_LIST), *item = NULL;

    for (uint64_t i = 0; i < count; i++) {
        node *next = node_of(rec_value_item(value, i));
        item = item ? unite(item, next) : next;
        if (item->kind == NODE_VALUE) {
            break;
        }
    }
    if (item && item->kind == NODE_NIL && count) {
        node_free(item);
        n->kind = NODE_NIL;
        return n;
    }
    if (!item || (item->kind != NODE_STRUCT && item->kind != NODE_ENUM) || item->optional) {
        node_free(item);
        return give_up(n, !item ? "an empty list" : "a list whose items are not structs of one kind");
    }
    n->length = rec_value_form(value) == REC_FORM_ARRAY ? count : 0;
    add_part(n, NULL, item);
    return n;
}

static node *node_of(const rec_value *value)
{
    node *n;

    switch (rec_value_kind(value)) {
    case REC_KIND_NIL:
        return node_new(NODE_NIL);
    case REC_KIND_TENSOR:
        return node_of_tensor(rec_value_tensor(value));
    case REC_KIND_MAP:
    case REC_KIND_VARIANT:
        return node_of_map(value);
    case REC_KIND_LIST:
        return node_of_list(value);
    case REC_KIND_BYTES:
        return give_up(NULL, "bytes");
    case REC_KIND_NUMBERS:
        return give_up(NULL, "a list of numbers");
    default:
        n = node_new(NODE_SIMPLE);
        n->word = number_word(rec_value_scalar(value));
        return n;
    }
}

/* ------------------------------------------------------------------------------------ what they have in common -- */

/* An optional value becomes a pointer, or is left out for its data. */
static bool can_be_absent(const node *n)
{
    return n->kind != NODE_VALUE && n->kind != NODE_SIMPLE && n->kind != NODE_LIST;
}

static size_t find_key(const node *n, const char *key)
{
    size_t i = 0;

    while (i < n->count && strcmp(n->keys[i], key) != 0) {
        i++;
    }
    return i;
}

/* Takes the parts of both. */
static node *unite_parts(node *a, node *b)
{
    for (size_t i = 0; i < b->count; i++) {
        size_t at = i < a->count && strcmp(a->keys[i], b->keys[i]) == 0 ? i : find_key(a, b->keys[i]);
        node *part = b->parts[i];
        b->parts[i] = NULL;
        if (at < a->count) {
            a->parts[at] = unite(a->parts[at], part);
        } else {
            part->optional = a->kind == NODE_STRUCT;
            add_part(a, b->keys[i], part);
        }
    }
    for (size_t i = 0; i < a->count && a->kind == NODE_STRUCT; i++) {
        bool there = i < b->count && strcmp(a->keys[i], b->keys[i]) == 0;
        a->parts[i]->optional = a->parts[i]->optional || (!there && find_key(b, a->keys[i]) == b->count);
    }
    return a;
}

static node *unite(node *a, node *b)
{
    bool optional = a->optional || b->optional;

    if (a->kind == NODE_VALUE || b->kind == NODE_VALUE) {
        node *kept = a->kind == NODE_VALUE ? a : b;
        node_free(a->kind == NODE_VALUE ? b : a);
        return kept;
    }
    if (a->kind == NODE_NIL || b->kind == NODE_NIL) {
        node *kept = a->kind == NODE_NIL ? b : a;
        bool both = a->kind == b->kind;
        node_free(a->kind == NODE_NIL ? a : b);
        kept->optional = !both || optional;
        return can_be_absent(kept) ? kept : give_up(kept, "absent in some");
    }
    if (a->kind != b->kind || ((a->kind == NODE_TENSOR || a->kind == NODE_SIMPLE) && strcmp(a->word, b->word) != 0) ||
        a->rank != b->rank) {
        node_free(b);
        return give_up(a, "not of one kind in all");
    }
    for (uint32_t i = 0; i < a->rank && i < RANK_MOST; i++) {
        a->shape[i] = a->shape[i] == b->shape[i] ? a->shape[i] : 0;
    }
    if (a->kind == NODE_LIST) {
        a->parts[0] = unite(a->parts[0], b->parts[0]);
        b->parts[0] = NULL;
        a->length = a->length == b->length ? a->length : 0;
        if (a->parts[0]->kind == NODE_VALUE) {
            a = give_up(a, "lists whose items are not structs of one kind");
        }
    } else if (a->kind == NODE_STRUCT || a->kind == NODE_ENUM) {
        unite_parts(a, b);
        for (size_t i = 0; i < a->count; i++) {
            if (a->parts[i]->optional && !can_be_absent(a->parts[i])) {
                node_free(b);
                return give_up(a, "a field that some lack");
            }
        }
    }
    a->optional = optional;
    node_free(b);
    return a;
}

/* ------------------------------------------------------------------------------------------------------- as C -- */

typedef struct writer {
    text *out;
    lookup names, bodies;   /* of the types that were printed: the names, and a type's by its body */
    uint64_t loose, hidden; /* fields of type VALUE; fields that are left out */
} writer;

/* A field of an enum must be a struct: anything else is a value. */
static const char *define(writer *w, node *n, const char *name);

/* What the type of a field is called. To be freed. */
static char *name_below(const char *name, const char *key)
{
    char *upper = tool_c_name_upper(key), *below = xasprintf("%s_%s", name, upper);

    free(upper);
    return below;
}

static bool holds_nothing(const node *n)
{
    if (n->kind == NODE_ENUM || n->kind == NODE_LIST) {
        return n->kind == NODE_LIST && holds_nothing(n->parts[0]);
    }
    for (size_t i = 0; n->kind == NODE_STRUCT && i < n->count; i++) {
        if (!holds_nothing(n->parts[i])) {
            return false;
        }
    }
    return n->kind == NODE_STRUCT || n->kind == NODE_NIL || n->kind == NODE_HIDDEN;
}

/* What a list calls its number of items. */
static bool hides_count(const node *n, const char *key)
{
    char *count = xasprintf("%s_count", key);
    bool hides = find_key(n, count) < n->count;

    free(count);
    return hides;
}

static void put_value(writer *w, text *body, const char *key, const char *why)
{
    tool_text_format(body, " \\\n    F(T, VALUE, %s)", key);
    if (why) {
        tool_text_format(body, " /* %s */", why);
    }
    w->loose++;
}

/* Adds the line of one field. @param name of the type that it is in. */
static void put_field(writer *w, text *body, const node *n, size_t i, const char *name)
{
    node *part = n->parts[i];
    const char *key = n->keys[i], *type = NULL;
    char *wanted = name_below(name, key);
    uint32_t dims = 0;

    if (part->kind == NODE_VALUE) {
        put_value(w, body, key, part->why);
    } else if (part->kind == NODE_HIDDEN) {
        tool_text_format(body, " \\\n    /* %s: no name in C */", key);
        w->hidden++;
    } else if (holds_nothing(part)) {
        tool_text_format(body, " \\\n    F(T, CONSTANT, %s)", key);
    } else if (part->kind == NODE_SIMPLE) {
        tool_text_format(body, " \\\n    F(T, %s, %s)", part->word, key);
    } else if (part->kind == NODE_TENSOR) {
        tool_text_format(body, " \\\n    F(T, %s%s, %s, %" PRIu32, part->optional ? "OPTION_" : "", part->word, key,
                         part->rank);
        for (uint32_t k = 0; k < part->rank && k < RANK_MOST; k++) {
            dims = part->shape[k] ? k + 1 : dims;
        }
        for (uint32_t k = 0; k < dims; k++) {
            tool_text_format(body, ", %" PRIu64, part->shape[k]);
        }
        tool_text_put(body, ")");
    } else if (part->kind == NODE_LIST && (hides_count(n, key) || !(type = define(w, part->parts[0], wanted)))) {
        put_value(w, body, key, "a list");
    } else if (part->kind == NODE_LIST && part->length) {
        tool_text_format(body, " \\\n    F(T, ARRAY, %s, %s, %" PRIu64 ")", key, type, part->length);
    } else if (part->kind == NODE_LIST) {
        tool_text_format(body, " \\\n    F(T, LIST, %s, %s)", key, type);
    } else if (!(type = define(w, part, wanted))) {
        put_value(w, body, key, "a variant whose data are no struct");
    } else {
        tool_text_format(body, " \\\n    F(T, %sCHILD, %s, %s)", part->optional ? "OPTION_" : "", key, type);
    }
    free(wanted);
}

/* @return false: some variant holds what is no struct. */
static bool put_variants(writer *w, text *body, const node *n, const char *name)
{
    for (size_t i = 0; i < n->count; i++) {
        const node *part = n->parts[i];
        if (part->kind != NODE_STRUCT && part->kind != NODE_ENUM && !holds_nothing(part)) {
            return false;
        }
    }
    for (size_t i = 0; i < n->count; i++) {
        char *wanted = name_below(name, n->keys[i]);
        bool holds = !holds_nothing(n->parts[i]);
        const char *type = holds ? define(w, n->parts[i], wanted) : NULL;
        free(wanted);
        if (holds && !type) {
            return false;
        }
        tool_text_format(body, type ? " \\\n    F(T, VARIANT, %s, %s)" : " \\\n    F(T, UNIT_VARIANT, %s)", n->keys[i],
                         type);
    }
    return true;
}

/* The macro's own parameters must be no fields. */
static void rename_parameters(text *body, const node *n)
{
    bool clash = find_key(n, "F") < n->count || find_key(n, "T") < n->count;
    text renamed = {0};

    for (const char *at = body->at; clash && *at; at++) {
        if (strncmp(at, "    F(T, ", 9) == 0) {
            tool_text_put(&renamed, "    F_(T_, ");
            at += 8;
        } else {
            tool_text_add(&renamed, at, 1);
        }
    }
    if (clash) {
        tool_text_free(body);
        *body = renamed;
    }
}

static const char *define(writer *w, node *n, const char *wanted)
{
    bool is_enum = n->kind == NODE_ENUM;
    const char *macro = is_enum ? "VARIANTS" : "FIELDS", *parameters;
    text body = {0};
    lookup_slot *type;

    if (is_enum && !put_variants(w, &body, n, wanted)) {
        tool_text_free(&body);
        return NULL;
    }
    for (size_t i = 0; !is_enum && i < n->count; i++) {
        put_field(w, &body, n, i, wanted);
    }
    tool_text_put(&body, "\n");
    rename_parameters(&body, n);
    parameters = strstr(body.at, "    F_(T_, ") ? "(F_, T_)" : "(F, T)";
    type = tool_lookup_find(&w->bodies, body.at, body.length);
    if (!type) {
        type = tool_lookup_add(&w->bodies, body.at, body.length);
        type->text = tool_c_names_take(&w->names, wanted);
        tool_text_format(w->out, "#define %s_%s%s%s", type->text, macro, parameters, body.at);
        tool_text_format(w->out, "REC_DEFINE_%s(%s, %s_%s)\n\n", is_enum ? "ENUM" : "STRUCT", type->text, type->text,
                         macro);
    }
    tool_text_free(&body);
    return type->text;
}

/* ------------------------------------------------------------------------------------------------------ header -- */

int tool_types_c(text *t, const rec_record *record, const char *name, const char *path)
{
    node *root = node_of(rec_root(record));
    text types = {0}, file = {0};
    writer w = {.out = &types};
    const char *version = rec_value_form(rec_root(record)) == REC_FORM_PATHS ? NULL : rec_metadata(record, "version");
    int status = EXIT_OK;

    const char *base = tool_base_name(path);
    tool_text_safe(&file, base, strlen(base));
    for (char *at = file.at; at && *at; at++) {
        *at = *at == '*' ? '_' : *at; /* what ends a comment must not */
    }
    if ((root->kind != NODE_STRUCT && root->kind != NODE_ENUM) || holds_nothing(root) || !define(&w, root, name)) {
        status = tool_fail(
            "%s: %s\nA struct of C's has named fields; rec_value_at() and rec_iterate() read any record.", path,
            root->kind == NODE_STRUCT || root->kind == NODE_ENUM ? "it holds nothing that a struct could have"
            : root->kind == NODE_VALUE && rec_value_kind(rec_root(record)) == REC_KIND_MAP
                ? "its root is a map by ids, or has a key that is not an identifier of C's"
                : "its root is not a struct");
        goto done;
    }
    tool_text_format(t, "/* The type of %s", file.at);
    if (version) {
        tool_text_put(t, ", a record of Burn ");
        tool_text_safe(t, version, strcspn(version, "*/"));
    }
    tool_text_format(t,
                     ", as it shows it.\n"
                     " *     %s model;\n"
                     " *     rec_binding *binding = rec_bind%s(record, %s&%s_type, &model%s);\n"
                     " * Values that were present are required; change those of an Option to OPTION_ by hand.",
                     name, w.hidden ? "_at" : "", w.hidden ? "\"\", " : "", name,
                     w.hidden ? ", REC_BIND_ALLOW_UNEXPECTED" : "");
    if (w.loose) {
        tool_text_put(t, "\n * A VALUE is what no other field can be: see rec_value_item().");
    }
    tool_text_format(t, " */\n#ifndef %s_TYPE_H\n#define %s_TYPE_H\n\n#include <librecord.h>\n\n", name, name);
    tool_text_put(t, types.at);
    tool_text_put(t, "#endif\n");

done:
    tool_lookup_free(&w.bodies);
    tool_lookup_free(&w.names);
    node_free(root);
    tool_text_free(&types);
    tool_text_free(&file);
    return status;
}
