/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Writes the type of a record as Rust source, with comments on the parts that a record does not show. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "types/describe_private.h"
#include "types/rust_lex_private.h"

enum { PLAIN_SINCE = 22 }; /* Burn has no backend parameter */

/* A text that grows in the arena. */
typedef struct text {
    char *at;
    size_t used;
    uint64_t room;
} text;

/* A struct or enum that was written. */
typedef struct item {
    const char *name, *before, *body;
    struct item *next;
} item;

typedef struct writer {
    rec_job *job;
    lr_arena *arena;
    const rec_types *types;
    int32_t minor;
    bool plain; /* source for Burn 0.22 or later, without a backend */
    lr_own_types own;
    item *items; /* the last one first */
    text out;
    text notes; /* of the line that is being written: what is assumed in it */
    const char *root;
} writer;

/* -------------------------------------------------------------------------------------------------------- text -- */

static void add(writer *w, text *t, const char *bytes, size_t length)
{
    if (lr_job_failed(w->job) || !lr_job_arena_grow(w->job, w->arena, &t->at, t->used + length + 1, &t->room, 1)) {
        return;
    }
    memcpy(t->at + t->used, bytes, length);
    t->used += length;
    t->at[t->used] = '\0';
}

static void put(writer *w, text *t, const char *string)
{
    add(w, t, string, strlen(string));
}

static void put_number(writer *w, text *t, uint64_t number)
{
    char digits[24];
    (void)snprintf(digits, sizeof digits, "%" PRIu64, number);
    put(w, t, digits);
}

static void assume(writer *w, const char *note)
{
    if (w->notes.used && strstr(w->notes.at, note)) {
        return;
    }
    put(w, &w->notes, w->notes.used ? "; " : " // assumed: ");
    put(w, &w->notes, note);
}

/* Ends a line with a comment on its assumptions. */
static void end_line(writer *w, text *t)
{
    if (w->notes.used) {
        put(w, t, w->notes.at);
    }
    put(w, t, "\n");
    w->notes.used = 0;
}

/* Keywords, and names that Rust reserves, are written r#type. */
static void put_name(writer *w, text *t, const char *name)
{
    static const char *const reserved[] = {"abstract", "become", "box", "do",     "final",   "gen",     "macro",
                                           "override", "priv",   "try", "typeof", "unsized", "virtual", "yield"};
    bool raw = lr_rust_keyword(name, strlen(name));
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved && !raw; i++) {
        raw = strcmp(reserved[i], name) == 0;
    }
    put(w, t, raw ? "r#" : "");
    put(w, t, name);
}

/* ------------------------------------------------------------------------------------------------------- types -- */

/* Returns the type of Burn's that fits, or NULL. Other possibilities are noted. */
static const lr_def *recognise(writer *w, const lr_seen *seen, const char *field)
{
    const lr_def *other = NULL, *best = NULL;
    /* As an import takes it, its constants come when it is written; but of weights alone it takes all for tables. */
    bool given = w->own.flat && seen->module && strcmp(seen->module, "Embedding") != 0;
    if (!given) {
        best = lr_own_types_find(&w->own, seen, field, &other);
    }
    if (other) {
        const char *note =
            lr_job_arena_format(w->job, w->arena, "%s, but %s has the same fields", best->name, other->name);
        assume(w, note ? note : "");
    } else if (best && seen->kind == LR_SEEN_ENUM) {
        assume(w, "Burn's enum of this variant");
    }
    if (!best && seen->module) {
        best = lr_types_find_path(w->types, &(lr_expr){.kind = LR_EXPR_NAME, .name = seen->module, .path = "burn"},
                                  w->minor);
    }
    return best;
}

static void put_type(writer *w, text *t, const lr_seen *seen, const char *field, bool module, bool nested);

static void put_wrapped(writer *w, text *t, const char *before, const lr_seen *seen, const char *after,
                        const char *field, bool module)
{
    put(w, t, before);
    put_type(w, t, seen, field, module, true);
    put(w, t, after);
}

/* A constant. Since 0.21 a field that is several of them mentions the backend. */
static void put_nothing(writer *w, text *t, bool module, bool nested)
{
    if (module) {
        put(w, t, nested && w->plain ? "PhantomData<f32>" : nested && w->minor >= 21 ? "PhantomData<B>" : "usize");
        assume(w, "a constant, or an Option that is absent");
    } else {
        put(w, t, "Option<()>");
        assume(w, "an Option that is absent");
    }
}

static void put_list(writer *w, text *t, const lr_seen *seen, const char *field, bool module)
{
    const lr_seen *element = seen->children[0];
    bool constants = element->kind == LR_SEEN_NIL;
    bool array = seen->form == REC_FORM_ARRAY || (!seen->form && constants && seen->length <= 3 && !seen->varies);
    put_wrapped(w, t, array ? "[" : "Vec<", element, "", field, module);
    if (array) {
        put(w, t, "; ");
        put_number(w, t, seen->length);
    }
    put(w, t, array ? "]" : ">");
    if (seen->form == REC_FORM_UNKNOWN && !seen->varies) {
        assume(w, array ? "an array" : "a Vec");
    }
    if (element->kind == LR_SEEN_NOTHING) {
        assume(w, "the element type of the empty list");
    }
}

/* An integer that may also be signed gets a comment, which lr_rust_type() parses: formats without names encode the two
 * differently, and such a type is rejected there until the user chooses. */
static void put_scalar(writer *w, text *t, const char *letter, const lr_seen *seen)
{
    put(w, t, letter);
    put_number(w, t, seen->bits ? seen->bits : 64);
    if (seen->unsure) {
        put(w, t, " " LR_UNSURE_SIGN);
        assume(w, "its sign and width");
    } else if (!seen->bits) {
        assume(w, "its width");
    }
}

static void put_tensor(writer *w, text *t, const lr_seen *seen)
{
    put(w, t, seen->kind == LR_SEEN_PARAMETER ? "Param<Tensor<" : "Tensor<");
    put(w, t, w->plain ? "" : "B, ");
    put_number(w, t, seen->rank);
    put(w, t, seen->elements == REC_FIELD_INTS ? ", Int" : seen->elements == REC_FIELD_BOOLS ? ", Bool" : "");
    put(w, t, seen->kind == LR_SEEN_PARAMETER ? ">>" : ">");
    if (seen->assumed) {
        assume(w, "floats");
    }
}

/* The name of a struct after the field that holds it: `res_blocks` has ResBlock. */
static const char *name_of(writer *w, const char *field, bool several)
{
    text t = {0};
    bool upper = true;
    for (const char *c = field; *c; c++) {
        char letter = *c;
        if (letter == '_') {
            upper = true;
            continue;
        }
        if (upper && letter >= 'a' && letter <= 'z') {
            letter = (char)(letter - 'a' + 'A');
        }
        upper = false;
        add(w, &t, &letter, 1);
    }
    if (lr_job_failed(w->job)) {
        return "";
    }
    if (several && t.used > 2 && t.at[t.used - 1] == 's' && t.at[t.used - 2] != 's') {
        t.at[--t.used] = '\0';
    }
    if (!t.used || t.at[0] < 'A' || t.at[0] > 'Z') {
        t.used = 0;
        put(w, &t, "Part");
    }
    return lr_job_failed(w->job) ? "" : t.at;
}

static bool is_taken(const writer *w, const char *name)
{
    static const char *const known[] = {"Vec",     "Option",      "String", "Box",    "Param",   "Tensor",
                                        "HashMap", "Int",         "Bool",   "B",      "Self",    "Some",
                                        "None",    "PhantomData", "Module", "Record", "Backend", "Arc",
                                        "Rc",      "Ok",          "Err",    "Float",  "Ignored", "Result"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(known[i], name) == 0) {
            return true;
        }
    }
    for (const item *i = w->items; i; i = i->next) {
        if (strcmp(i->name, name) == 0) {
            return true;
        }
    }
    return strcmp(name, w->root) == 0 || lr_types_find(w->types, name, LR_BURN_NOW);
}

/* Writes an item under a name of its own, or finds the same one. @param name wished for. @return the name. */
static const char *define(writer *w, const char *name, bool root, const char *before, const char *between,
                          const char *body)
{
    item *i;
    char *free_name;
    if (lr_job_failed(w->job)) {
        return "";
    }
    for (i = w->items; i && !root; i = i->next) {
        if (strcmp(i->before, before) == 0 && strcmp(i->body, body) == 0) {
            return i->name;
        }
    }
    i = lr_job_arena_alloc(w->job, w->arena, sizeof *i, 8);
    free_name = lr_job_arena_alloc(w->job, w->arena, strlen(name) + 24, 1);
    if (!i || !free_name) {
        return "";
    }
    (void)snprintf(free_name, strlen(name) + 24, "%s", name);
    for (uint64_t n = 2; !root && is_taken(w, free_name); n++) {
        (void)snprintf(free_name, strlen(name) + 24, "%s%" PRIu64, name, n);
    }
    *i = (item){.name = free_name, .before = before, .body = body, .next = w->items};
    w->items = i;
    put(w, &w->out, w->out.used ? "\n" : "");
    put(w, &w->out, before);
    put(w, &w->out, free_name);
    put(w, &w->out, between);
    put(w, &w->out, body);
    return lr_job_failed(w->job) ? "" : free_name;
}

/* Writes a struct or an enum. @param name of it; root: it must be that. */
static const char *define_item(writer *w, const lr_seen *seen, const char *name, bool root)
{
    static const char *const before[][2] = {
        {"#[derive(Record, Clone)]\npub struct ", "#[derive(Record, Clone)]\npub enum "},
        {"#[derive(Module, Debug)]\npub struct ", "#[derive(Module, Debug)]\npub enum "}};
    bool module = !lr_seen_data(seen), variants = seen->kind == LR_SEEN_ENUM;
    text body = {0}, notes = w->notes;
    w->notes = (text){0};
    if (variants) {
        assume(w, "that there are no other variants, and their order");
    }
    put(w, &body, "{");
    end_line(w, &body);
    for (uint64_t i = 0; i < seen->count; i++) {
        put(w, &body, "    ");
        if (variants) {
            put(w, &body, seen->names[i]);
        } else {
            put_name(w, &body, seen->names[i]);
        }
        if (seen->children[i]) {
            put(w, &body, variants ? "(" : ": ");
            put_type(w, &body, seen->children[i], seen->names[i], module, variants);
            put(w, &body, variants ? ")" : "");
        }
        put(w, &body, ",");
        end_line(w, &body);
    }
    put(w, &body, "}\n");
    w->notes = notes;
    return define(w, name, root, before[module][variants], w->plain ? " " : "<B: Backend> ", body.at);
}

static void put_own(writer *w, text *t, const lr_seen *seen, const char *field, bool several)
{
    const lr_def *def = recognise(w, seen, field);
    if (def) {
        bool record = def->derive == LR_DERIVE_RECORD || def->kind == LR_DEF_OPTIMIZER;
        put(w, t, record ? "" : lr_own_type_home(def->name));
        put(w, t, def->name);
        put(w, t, record || w->plain ? "" : "<B>");
        return;
    }
    if (seen->kind == LR_SEEN_IDS) {
        (void)rec_fail(w->job, REC_E_UNSUPPORTED, REC_UNKNOWN,
                       "the record of an optimizer that Burn 0.%d does not have", (int)w->minor);
        return;
    }
    put(w, t, define_item(w, seen, name_of(w, field, several), false));
    put(w, t, w->plain ? "" : "<B>");
}

/* @param field whose type it is. @param module its struct is a module. @param nested it stands in a list or tuple. */
static void put_type(writer *w, text *t, const lr_seen *seen, const char *field, bool module, bool nested)
{
    if (lr_job_failed(w->job)) {
        return;
    }
    switch (seen->kind) {
    case LR_SEEN_NIL:
    case LR_SEEN_NOTHING:
        put_nothing(w, t, module, nested);
        break;
    case LR_SEEN_OPTION:
        put_wrapped(w, t, "Option<", seen->children[0], ">", field, module);
        break;
    case LR_SEEN_PARAMETER:
    case LR_SEEN_TENSOR:
        put_tensor(w, t, seen);
        break;
    case LR_SEEN_LIST:
        put_list(w, t, seen, field, module);
        break;
    case LR_SEEN_TUPLE:
        put(w, t, "(");
        for (uint64_t i = 0; i < seen->count; i++) {
            put_wrapped(w, t, i ? ", " : "", seen->children[i], "", field, module);
        }
        put(w, t, seen->count == 1 ? ",)" : ")");
        break;
    case LR_SEEN_MAP:
        put_wrapped(w, t, "HashMap<", seen->children[0], ", ", field, false);
        put_wrapped(w, t, "", seen->children[1], ">", field, false);
        assume(w, "a map");
        break;
    case LR_SEEN_BOOL:
        put(w, t, "bool");
        break;
    case LR_SEEN_UINT:
        put_scalar(w, t, "u", seen);
        break;
    case LR_SEEN_INT:
        put_scalar(w, t, "i", seen);
        break;
    case LR_SEEN_FLOAT:
        put_scalar(w, t, "f", seen);
        break;
    case LR_SEEN_STRING:
        put(w, t, "String");
        break;
    case LR_SEEN_BYTES:
        put(w, t, "Vec<u8>");
        assume(w, "bytes");
        break;
    default:
        put_own(w, t, seen, field, nested);
        break;
    }
}

/* --------------------------------------------------------------------------------------------------------- all -- */

static bool has_word(const char *source, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = strstr(source, word); at; at = strstr(at + 1, word)) {
        char before[2] = {at == source ? ' ' : at[-1], '\0'}, after[2] = {at[length] ? at[length] : ' ', '\0'};
        if (!lr_seen_name(before) && !lr_seen_name(after) && !(after[0] >= '0' && after[0] <= '9')) {
            return true;
        }
    }
    return false;
}

/* What real source would need in front. */
static void put_imports(writer *w, text *t, const char *source)
{
    static const struct {
        const char *word, *line;
    } imports[] = {
        {"Module", "use burn::module::Module;\n"},
        {"Param", "use burn::module::Param;\n"},
        {"nn", "use burn::nn;\n"},
        {"Record", "use burn::record::Record;\n"},
        {"Backend", "use burn::tensor::backend::Backend;\n"},
        {"Bool", "use burn::tensor::Bool;\n"},
        {"Int", "use burn::tensor::Int;\n"},
        {"Tensor", "use burn::tensor::Tensor;\n"},
        {"HashMap", "use std::collections::HashMap;\n"},
        {"PhantomData", "use std::marker::PhantomData;\n"},
    };
    size_t before = t->used;
    for (size_t i = 0; i < sizeof imports / sizeof *imports; i++) {
        if (has_word(source, imports[i].word)) {
            put(w, t, imports[i].line);
        }
    }
    if (t->used > before) {
        put(w, t, "\n");
    }
}

static void put_root(writer *w, const lr_seen *seen, const char *name)
{
    bool own = (seen->kind == LR_SEEN_STRUCT && seen->count) || seen->kind == LR_SEEN_ENUM || seen->kind == LR_SEEN_IDS;
    const lr_def *def = own ? recognise(w, seen, name) : NULL;
    text line = {0};
    if (own && !def && seen->kind != LR_SEEN_IDS) {
        (void)define_item(w, seen, name, true);
        return;
    }
    w->notes.used = 0;
    if (seen->kind == LR_SEEN_NIL) {
        put(w, &line, "()");
        assume(w, "a record without data");
    } else if (seen->kind == LR_SEEN_STRUCT && !seen->count) {
        put(w, &line, "Adam");
        assume(w, "an optimizer that has made no step; which one, is not in its record");
    } else {
        put_type(w, &line, seen, name, false, false);
    }
    if (!lr_job_failed(w->job)) {
        put(w, &w->out, w->out.used ? "\npub type " : "pub type ");
        put(w, &w->out, name);
        put(w, &w->out, has_word(line.at, "B") ? "<B> = " : " = ");
        put(w, &w->out, line.at);
        put(w, &w->out, ";");
        end_line(w, &w->out);
    }
}

static char *describe(writer *w, const rec_record *record, const char *name)
{
    const lr_seen *seen;
    text whole = {0};
    char line[96], *copy;
    bool flat = record->dotted || record->adapter != LR_FILE_BURN;
    w->own.flat = flat;
    if (!lr_own_types_make(w->job, w->arena, w->types, &w->own)) {
        return NULL;
    }
    seen = lr_see(w->job, w->arena, &record->root, flat);
    if (!seen) {
        return NULL;
    }
    put_root(w, seen, name);
    if (lr_job_failed(w->job)) {
        return NULL;
    }
    (void)snprintf(line, sizeof line, "// The type of a record%s0.%d.\n",
                   record->burn_minor >= 0 ? ": written by Burn " : ": assumed to be of Burn ", (int)w->minor);
    put(w, &whole, line);
    if (strstr(w->out.at, "// assumed:")) {
        put(w, &whole, "// Lines marked as assumed are not in the record: check them.\n");
    }
    if (strstr(w->out.at, "struct ")) {
        put(w, &whole, "// The record does not show whether a present value is an Option.\n");
    }
    put(w, &whole, "\n");
    put_imports(w, &whole, w->out.at);
    put(w, &whole, w->out.at);
    copy = lr_job_failed(w->job) ? NULL : strdup(whole.at);
    if (!copy && !lr_job_failed(w->job)) {
        (void)lr_fail_memory(w->job, whole.used);
    }
    return copy;
}

char *rec_record_describe(const rec_record *record, const rec_types *types, const char *name)
{
    rec_job job;
    lr_arena arena;
    writer w;
    char *source = NULL;
    if (LR_NULL(record) || LR_NULL(types)) {
        return NULL;
    }
    lr_record_settle(record);
    lr_job_begin(&job, record->context, "describe", NULL);
    lr_arena_init(&arena, job.allocator);
    name = name && *name ? name : "Model";
    job.burn.minor = record->burn_minor >= LR_BURN_FIRST ? record->burn_minor
                     : record->format_minor              ? record->format_minor
                                                         : LR_BURN_NOW;
    job.burn.precision = REC_PRECISION_FULL;
    job.burn.known = true;
    w = (writer){.job = &job, .arena = &arena, .types = types, .minor = job.burn.minor, .root = name};
    w.plain = w.minor >= PLAIN_SINCE;
    if (!lr_seen_name(name) || strlen(name) > LR_NAME_MOST) {
        lr_excerpt brief;
        (void)rec_fail(&job, REC_E_ARGUMENT, REC_UNKNOWN, "`%s` cannot name a type", lr_excerpt_text(&brief, name));
    } else {
        source = describe(&w, record, name);
    }
    lr_layouts_free(&job);
    lr_arena_free(&arena);
    if (lr_job_end(&job) != REC_OK) {
        free(source);
        return NULL;
    }
    return source;
}
