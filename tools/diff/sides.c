/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The two records of `record diff`: how each is read, and what is in it. */
#include <stdlib.h>
#include <string.h>

#include "tools/diff/diff_private.h"

/* ----------------------------------------------------------------------------------------------------- reading -- */

/* How to read one side. The session is the command's, except for the type. */
typedef struct reader {
    session session;
    options options;
    const char *type[1];
    size_t index;         /* of the operand, from 1 */
    const char *recorder; /* its own name, as far as that is known; or NULL */
    bool adapts;          /* a load argument but the adapter none, a type or the configuration says how */
    bool typed;
} reader;

static bool is_for(const reading *r, size_t index)
{
    size_t next = r->before ? r->before : 1;

    return next == index || next > SIDES;
}

/* Whether it is a load argument that has the names or the layout changed: the adapter none is one that keeps both. */
static bool changes(const reading *r)
{
    bool none = r->key && strcmp(r->key, "adapter") == 0 && strcmp(r->value, "none") == 0;

    return r->kind == READING_LOAD && !none;
}

/* The type for a side: the last one that stands before it, else one that stands behind both. One that stands before the
 * other side is for this one too if it has no names, as then it cannot be read without. */
static const reading *type_for(const options *o, size_t index, bool nameless)
{
    const reading *own = NULL, *all = NULL, *other = NULL;

    for (size_t i = 0; i < o->readings.count; i++) {
        const reading *r = &o->readings.at[i];
        size_t next = r->before ? r->before : 1;
        if (r->kind != READING_TYPE) {
            continue;
        }
        own = next == index ? r : own;
        all = next > SIDES ? r : all;
        other = r;
    }
    return own ? own : all ? all : nameless ? other : NULL;
}

static void set_type(reader *r, const reading *type)
{
    r->options.type.count = 0;
    r->options.type_of = NULL;
    if (type && strcmp(type->option, "type-of") == 0) {
        r->options.type_of = type->value;
    } else if (type) {
        r->type[0] = type->value;
        r->options.type = (words){r->type, 1};
    }
    if (!type) {
        r->options.types = (words){0};
    }
    r->typed = type != NULL;
}

static void prepare(session *s, reader *r, const side *d, size_t index)
{
    const char *from = tool_session_from(s, index);
    const rec_plugin_info *plugin;
    bool nameless;

    *r = (reader){.options = *s->o, .index = index};
    r->session = (session){.o = &r->options, .context = s->context, .inputs = SIDES, .shared = &tool_alone};
    plugin = tool_session_plugin(s, from && strcmp(from, "Auto") != 0 ? from : NULL);
    r->recorder = plugin ? plugin->name : strcmp(d->path, "-") != 0 ? tool_recognise(s->context, d->path) : NULL;
    nameless = tool_needs_type(s, r->recorder);
    set_type(r, type_for(s->o, index, nameless));
    r->options.positional = s->o->positional && (nameless || !r->recorder);
    r->adapts = r->typed || tool_is_configured(s, from);
    for (size_t i = 0; i < s->o->readings.count; i++) {
        const reading *each = &s->o->readings.at[i];
        r->adapts = r->adapts || (changes(each) && is_for(each, index));
    }
}

static void end(reader *r)
{
    free(r->session.type);
    rec_types_free(r->session.types);
}

/* Loads it. @param raw loads a foreign file unchanged. @param lacks (out) it failed since the file has no names and no
 * type is known; this error is not printed. */
static int load(reader *r, side *d, bool raw, notes *n, bool *lacks)
{
    session *s = &r->session;
    const char *name;

    *lacks = false;
    d->recorder = tool_session_input(s, r->index);
    if (!d->recorder) {
        return EXIT_ERROR;
    }
    if (raw && (rec_recorder_set(d->recorder, "adapter", "none") != REC_OK ||
                rec_recorder_set(d->recorder, "gaps", "keep") != REC_OK)) {
        return tool_fail_library();
    }
    if (strcmp(d->path, "-") == 0) {
        d->record = tool_session_load(d->recorder, "-");
    } else if (!(d->record = tool_load(d->recorder, d->path))) {
        *lacks = tool_lacks_type(s, d->path, &name);
        if (!*lacks) {
            (void)tool_fail_library();
        }
    }
    if (d->record) {
        tool_notes_take(n);
    }
    d->by_position = d->record && s->o->positional && tool_needs_type(s, rec_record_origin(d->record)->recorder);
    return d->record ? EXIT_OK : EXIT_ERROR;
}

/* A file without names is read with the type that the other one shows. */
static int load_alike(reader *r, side *d, const side *other, notes *n)
{
    session *s = &r->session;

    if (tool_session_set_shown_type(s, other->record, d->recorder) != EXIT_OK) {
        return EXIT_ERROR;
    }
    d->record = tool_load(d->recorder, d->path);
    if (!d->record && rec_value_kind(rec_root(other->record)) == REC_KIND_NIL) {
        /* What holds nothing is a constant scheduler, without a byte, or a module without data, which has one. */
        if (rec_recorder_set_type_name(d->recorder, s->types, "Dropout") != REC_OK) {
            return tool_fail_library();
        }
        d->record = tool_load(d->recorder, d->path);
    }
    if (!d->record) {
        return tool_fail(
            "%s\nIt has no names, so it was read with the type that %s shows.\nSay what its type is: --type "
            "model.rs:Model before it; or compare both by position: --positional",
            rec_error_message(), other->name);
    }
    tool_notes_add(n, REC_NOTE_ASSUMED, "",
                   xasprintf("%s has no names: it was read with the type that %s shows", d->name, other->name));
    return EXIT_OK;
}

static int load_by_position(reader *r, side *d)
{
    rec_close_recorder(d->recorder);
    r->options.positional = true;
    d->recorder = tool_session_input(&r->session, r->index);
    d->record = d->recorder ? tool_load(d->recorder, d->path) : NULL;
    d->by_position = true;
    if (d->recorder && !d->record) {
        (void)tool_fail_library();
    }
    return d->record ? EXIT_OK : EXIT_ERROR;
}

static int load_both(session *s, side sides[SIDES], reader readers[SIDES], notes *n)
{
    bool raw, lacks[SIDES];
    int status = EXIT_OK;

    for (size_t i = 0; i < SIDES; i++) {
        prepare(s, &readers[i], &sides[i], i + 1);
    }
    /* Two foreign files are compared unchanged unless an option adapts them; a foreign file is adapted to a record of
     * Burn. */
    raw = !readers[SIDE_A].adapts && !readers[SIDE_B].adapts;
    for (size_t i = 0; i < SIDES; i++) {
        raw = raw && (tool_is_foreign(s, readers[i].recorder) || !readers[i].recorder);
    }
    for (size_t i = 0; i < SIDES; i++) {
        if (load(&readers[i], &sides[i], raw, n, &lacks[i]) != EXIT_OK && !lacks[i]) {
            return EXIT_ERROR;
        }
    }
    for (size_t i = 0; i < SIDES; i++) {
        if (lacks[i] && lacks[!i]) {
            status = load_by_position(&readers[i], &sides[i]);
        } else if (lacks[i]) {
            status = load_alike(&readers[i], &sides[i], &sides[!i], n);
        }
        if (status != EXIT_OK) {
            return status;
        }
    }
    return EXIT_OK;
}

/* ----------------------------------------------------------------------------------------------------- listing -- */

/* @return EXIT_OK, or EXIT_ERROR with the error printed. */
static int list(side *d)
{
    const listing *l = &d->l;
    item *fresh;

    if (tool_listing_gather(d->record, NULL, true, &d->l) != EXIT_OK) {
        return EXIT_ERROR;
    }
    fresh = d->room = xmalloc((l->tensor_count + l->value_count + 1) * sizeof *d->room);
    d->tensors.at = xmalloc((l->tensor_count + 1) * sizeof(item *));
    d->values.at = xmalloc((l->value_count + 1) * sizeof(item *));
    for (size_t i = 0; i < l->tensor_count; i++) {
        *fresh = (item){.key = l->tensors[i].path, .tensor = l->handles[i], .place = i};
        d->tensors.at[d->tensors.count++] = fresh++;
    }
    for (size_t i = 0; i < l->value_count; i++) {
        /* What holds nothing is as if it were not there: not every format says that it is. */
        if (rec_value_kind(l->values[i].value) != REC_KIND_NIL) {
            *fresh = (item){.key = l->values[i].path, .value = l->values[i].value, .place = i};
            d->values.at[d->values.count++] = fresh++;
        }
    }
    return EXIT_OK;
}

/* ------------------------------------------------------------------------------------------------------ public -- */

int tool_diff_open(session *s, const char *const *operands, side sides[SIDES], int *match, notes *n)
{
    reader readers[SIDES];
    int status;

    s->inputs = SIDES;
    for (size_t i = 0; i < SIDES; i++) {
        sides[i] = (side){.path = operands[i], .name = tool_input_name(operands[i])};
    }
    if (strcmp(operands[SIDE_A], "-") == 0 && strcmp(operands[SIDE_B], "-") == 0) {
        return tool_fail("standard input can be read only once");
    }
    status = load_both(s, sides, readers, n);
    for (size_t i = 0; i < SIDES; i++) {
        end(&readers[i]);
        status = status == EXIT_OK ? list(&sides[i]) : status;
    }
    if (sides[SIDE_A].by_position || sides[SIDE_B].by_position) {
        *match = *match == MATCH_NAME ? MATCH_POSITION : *match;
    }
    return status;
}

void tool_diff_close(side sides[SIDES])
{
    for (size_t i = 0; i < SIDES; i++) {
        rec_record_free(sides[i].record);
        rec_close_recorder(sides[i].recorder);
        free(sides[i].room);
        free(sides[i].tensors.at);
        free(sides[i].values.at);
        tool_listing_free(&sides[i].l);
    }
}
