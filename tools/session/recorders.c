/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The recorders that the command line asks for: options, load arguments and whose they are with several inputs. */
#include <stdlib.h>
#include <string.h>

#include "tools/tool.h"

/* Sets NAME=VALUE, or NAME = VALUE. */
static int set_setting(rec_recorder *recorder, const char *setting)
{
    size_t length = strcspn(setting, "="), end = length;
    const char *value = setting + length + 1;
    char *name;
    int status = EXIT_OK;

    while (end && setting[end - 1] == ' ') {
        end--;
    }
    name = print("%.*s", (int)end, setting);
    if (rec_recorder_set(recorder, name, value + strspn(value, " ")) != REC_OK) {
        status = fail_library();
    }
    free(name);
    return status;
}

static int set_options(rec_recorder *recorder, const words *w)
{
    int status = EXIT_OK;

    for (size_t i = 0; i < w->count && status == EXIT_OK; i++) {
        status = set_setting(recorder, w->at[i]);
    }
    return status;
}

/* What the options of the command line ask of a recorder. @return NULL with the error printed. */
static rec_recorder *open_recorder(session *s, const char *name, rec_precision precision, bool no_map, bool clamp)
{
    rec_recorder *recorder = rec_open_recorder_in(s->context, name, precision);

    if (!recorder) {
        (void)fail_library();
        return NULL;
    }
    if ((no_map && rec_recorder_set(recorder, "map", "no") != REC_OK) ||
        (clamp && rec_recorder_set(recorder, "clamp", "yes") != REC_OK)) {
        (void)fail_library();
        rec_close_recorder(recorder);
        return NULL;
    }
    return recorder;
}

/* Those of the plugin's own options that have a word on the command line. */
static int set_flag(rec_recorder *recorder, const char *option, bool given)
{
    return given && rec_recorder_set(recorder, option, "yes") != REC_OK ? fail_library() : EXIT_OK;
}

/* ------------------------------------------------------------------------------------------------------ reading -- */

/* Whose an argument is: with several inputs that of the input it stands before, and behind the last one all of them. */
static bool is_for(const session *s, const reading *r, size_t index, bool *own)
{
    size_t next = r->before ? r->before : 1; /* before the subcommand is before the first input */

    *own = next == index;
    return *own || next > s->inputs;
}

const char *session_from(const session *s, size_t index)
{
    const char *name = NULL;
    bool named = false, own;

    for (size_t i = 0; i < s->o->readings.count; i++) {
        const reading *r = &s->o->readings.at[i];
        if (r->kind == READING_FROM && is_for(s, r, index, &own) && (own || !named)) {
            name = r->value;
            named = own;
        }
    }
    return name;
}

const char *given_reading(const options *o, int kind)
{
    for (size_t i = 0; i < o->readings.count; i++) {
        if (o->readings.at[i].kind == kind) {
            return o->readings.at[i].option;
        }
    }
    return NULL;
}

/* Rules add up, of all else the last one counts. */
static bool adds(const reading *r)
{
    static const char *const single[] = {"adapter", "profile", "config", "reverse", "prefix",
                                         "gaps",    "partial", "strict", "debug"};

    for (size_t i = 0; r->key && i < sizeof single / sizeof *single; i++) {
        if (strcmp(r->key, single[i]) == 0) {
            return false;
        }
    }
    return r->kind == READING_LOAD;
}

/* Sets what is for an input: of single things its own ones last, so that they count; its own rules first. */
static int set_arguments(const session *s, rec_recorder *recorder, int kind, size_t index)
{
    const readings *list = &s->o->readings;
    int status = EXIT_OK;

    for (int pass = 0; pass < 3; pass++) {
        for (size_t i = 0; i < list->count && status == EXIT_OK; i++) {
            const reading *r = &list->at[i];
            bool own;
            if (r->kind != kind || !is_for(s, r, index, &own) || pass != (own ? 1 : adds(r) ? 2 : 0)) {
                continue;
            }
            if (!r->key) {
                status = set_setting(recorder, r->value);
            } else if (rec_recorder_set(recorder, r->key, r->value) != REC_OK) {
                status = fail_library();
            }
        }
    }
    return status;
}

static rec_recorder *open_reader(session *s, size_t index, const char *name)
{
    const options *o = s->o;
    bool converts = strcmp(o->operands.at[0], "convert") == 0 || strcmp(o->operands.at[0], "plan") == 0;
    const char *from = name ? name : session_from(s, index);
    /* A conversion changes precision where it writes, so what it reads it keeps. */
    rec_recorder *recorder = open_recorder(s, from ? from : "Auto", converts ? REC_PRECISION_KEEP : o->precision,
                                           o->no_map, o->clamp && !converts);

    if (recorder && set_arguments(s, recorder, READING_OPTION, index) != EXIT_OK) {
        rec_close_recorder(recorder);
        return NULL;
    }
    return recorder;
}

rec_recorder *session_reader(session *s, const char *name)
{
    return open_reader(s, 1, name);
}

rec_recorder *session_input_at(session *s, size_t index)
{
    rec_recorder *recorder = open_reader(s, index, NULL);

    if (recorder &&
        (session_set_type(s, recorder) != EXIT_OK || set_flag(recorder, "positional", s->o->positional) != EXIT_OK ||
         set_arguments(s, recorder, READING_LOAD, index) != EXIT_OK)) {
        rec_close_recorder(recorder);
        return NULL;
    }
    return recorder;
}

rec_recorder *session_input(session *s)
{
    return session_input_at(s, 1);
}

/* A foreign file is loaded as it is. */
static int set_raw(rec_recorder *recorder)
{
    return rec_recorder_set(recorder, "adapter", "none") == REC_OK &&
                   rec_recorder_set(recorder, "gaps", "keep") == REC_OK
               ? EXIT_OK
               : fail_library();
}

rec_recorder *session_raw(session *s, size_t index)
{
    rec_recorder *recorder = open_reader(s, index, NULL);

    if (recorder && (set_flag(recorder, "positional", s->o->positional) != EXIT_OK || set_raw(recorder) != EXIT_OK)) {
        rec_close_recorder(recorder);
        return NULL;
    }
    return recorder;
}

/* Compares as recorders' names do: without case and without `-`, `_` and `.`. @param length of `a`. */
static bool same_name(const char *a, size_t length, const char *b)
{
    const char *end = a + length;

    for (;; a++, b++) {
        while (a < end && strchr("-_.", *a)) {
            a++;
        }
        while (*b && strchr("-_.", *b)) {
            b++;
        }
        if (a == end || !*b) {
            return a == end && !*b;
        }
        if ((*a | 0x20) != (*b | 0x20)) {
            return false;
        }
    }
}

bool is_configured(const session *s, const char *name)
{
    if (!name || same_name("Auto", 4, name)) {
        return false;
    }
    for (uint64_t i = 0; i < rec_plugin_count(s->context); i++) {
        const rec_plugin_info *p = rec_plugin_get(s->context, i);
        if (same_name(p->name, strlen(p->name), name)) {
            return false;
        }
        for (const char *at = p->aliases; *at;) {
            size_t length = strcspn(at, ",");
            if (same_name(at, length, name)) {
                return false;
            }
            at += length;
            at += strspn(at, ", ");
        }
    }
    return true;
}

rec_recorder *session_look(session *s)
{
    rec_recorder *recorder = session_input(s);
    bool raw = !given_reading(s->o, READING_LOAD) && !s->type && !is_configured(s, session_from(s, 1));

    if (recorder && raw && set_raw(recorder) != EXIT_OK) {
        rec_close_recorder(recorder);
        return NULL;
    }
    return recorder;
}

bool is_foreign(const session *s, const char *recorder)
{
    for (uint64_t i = 0; recorder && i < rec_plugin_count(s->context); i++) {
        const rec_plugin_info *p = rec_plugin_get(s->context, i);
        if (p->usable && strcmp(p->name, recorder) == 0) {
            return strcmp(p->adapter, "none") != 0;
        }
    }
    return false;
}

/* ------------------------------------------------------------------------------------------------------ writing -- */

/* 0.18 and 0.18.1 have one layout. */
static char *layout_of(const char *burn)
{
    const char *minor = strchr(burn, '.');
    const char *patch = minor ? strchr(minor + 1, '.') : NULL;

    return print("burn-%.*s", (int)(patch ? (size_t)(patch - burn) : strlen(burn)), burn);
}

static bool is_given(const session *s, const char *key)
{
    for (size_t i = 0; i < s->o->readings.count; i++) {
        if (s->o->readings.at[i].key && strcmp(s->o->readings.at[i].key, key) == 0) {
            return true;
        }
    }
    return false;
}

bool writes_type(const session *s, const char *recorder)
{
    return !is_given(s, "reverse") && (!is_given(s, "partial") || needs_type(s, recorder));
}

rec_recorder *session_output(session *s, const char *name)
{
    rec_recorder *recorder = open_recorder(s, name, s->o->precision, false, s->o->clamp);
    const char *burn = s->o->burn, *size = s->o->max_shard_size;
    char *layout = burn ? layout_of(burn) : NULL;
    int status = recorder ? set_options(recorder, &s->o->to_options) : EXIT_OK;

    if (recorder && status == EXIT_OK && size && rec_recorder_set(recorder, "max-shard-size", size) != REC_OK) {
        status = fail_library();
    }
    if (recorder && status == EXIT_OK && layout && rec_recorder_set(recorder, "layout", layout) != REC_OK) {
        status = fail("--burn: expected 0.7 to 0.21, found \"%s\"", burn);
    }
    free(layout);
    if (recorder && (status != EXIT_OK ||
                     (writes_type(s, rec_recorder_name(recorder)) && session_set_type(s, recorder) != EXIT_OK) ||
                     set_flag(recorder, "self-describing", s->o->self_describing) != EXIT_OK)) {
        rec_close_recorder(recorder);
        return NULL;
    }
    return recorder;
}
