/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Recorders as the command line asks for them: their options, and load arguments by the input that they are for. */
#include <stdlib.h>
#include <string.h>

#include "tools/session/session_private.h"

const rec_plugin_info *tool_session_plugin(const session *s, const char *name)
{
    return name ? rec_plugin_find(s->context, name) : NULL;
}

int tool_session_set(rec_recorder *recorder, const char *option, const char *value)
{
    return !value || rec_recorder_set(recorder, option, value) == REC_OK ? EXIT_OK : tool_fail_library();
}

rec_recorder *tool_session_keep(rec_recorder *recorder, bool good)
{
    if (!good) {
        rec_close_recorder(recorder);
    }
    return good ? recorder : NULL;
}

/* Sets NAME=VALUE, or NAME = VALUE. */
static int set_setting(rec_recorder *recorder, const char *setting)
{
    size_t length = strcspn(setting, "="), end = length;
    const char *value = setting + length + 1;
    char *name;
    int status;

    while (end && setting[end - 1] == ' ') {
        end--;
    }
    name = xasprintf("%.*s", (int)end, setting);
    status = tool_session_set(recorder, name, value + strspn(value, " "));
    free(name);
    return status;
}

int tool_session_set_options(rec_recorder *recorder, const words *w)
{
    int status = EXIT_OK;

    for (size_t i = 0; i < w->count && status == EXIT_OK; i++) {
        status = set_setting(recorder, w->at[i]);
    }
    return status;
}

rec_recorder *tool_session_open_recorder(session *s, const char *name, rec_precision precision, bool no_map, bool clamp)
{
    rec_recorder *recorder = rec_open_recorder_in(s->context, name, precision);

    if (!recorder) {
        (void)tool_fail_library();
        return NULL;
    }
    return tool_session_keep(recorder, tool_session_set(recorder, "map", no_map ? "no" : NULL) == EXIT_OK &&
                                           tool_session_set(recorder, "clamp", clamp ? "yes" : NULL) == EXIT_OK);
}

/* Decides which input an argument applies to: the next one, or all if it comes after the last. */
static bool is_for(const session *s, const reading *r, size_t index, bool *own)
{
    size_t next = r->before ? r->before : 1; /* before the subcommand is before the first input */

    *own = next == index;
    return *own || next > s->inputs;
}

const char *tool_session_from(const session *s, size_t index)
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

const char *tool_given_reading(const options *o, int kind)
{
    for (size_t i = 0; i < o->readings.count; i++) {
        if (o->readings.at[i].kind == kind) {
            return o->readings.at[i].option;
        }
    }
    return NULL;
}

bool tool_session_adapts(const session *s, size_t index)
{
    for (size_t i = 0; i < s->o->readings.count; i++) {
        bool own;
        if (s->o->readings.at[i].kind == READING_LOAD && is_for(s, &s->o->readings.at[i], index, &own)) {
            return true;
        }
    }
    return false;
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

/* Whether two profiles are given for one input, or two for all inputs. */
static bool has_two_profiles(const session *s, size_t index)
{
    size_t count[2] = {0};

    for (size_t i = 0; i < s->o->readings.count; i++) {
        const reading *r = &s->o->readings.at[i];
        bool own;
        if (r->key && strcmp(r->key, "profile") == 0 && is_for(s, r, index, &own) && ++count[own] > 1) {
            return true;
        }
    }
    return false;
}

int tool_session_set_arguments(const session *s, rec_recorder *recorder, int kind, size_t index)
{
    const readings *list = &s->o->readings;
    int status = EXIT_OK;

    if (kind == READING_LOAD && has_two_profiles(s, index)) {
        return tool_fail("--profile may be given once for an input\n"
                         "Your own profile may include others: include = NAME.");
    }

    for (int pass = 0; pass < 3; pass++) {
        for (size_t i = 0; i < list->count && status == EXIT_OK; i++) {
            const reading *r = &list->at[i];
            bool own;
            if (r->kind != kind || !is_for(s, r, index, &own) || pass != (own ? 1 : adds(r) ? 2 : 0)) {
                continue;
            }
            status = r->key ? tool_session_set(recorder, r->key, r->value) : set_setting(recorder, r->value);
        }
    }
    return status;
}

/* What looks at numbers sees those of quantised tensors. */
static bool decodes(const session *s)
{
    static const char *const names[] = {"stats", "diff", "report", "browse"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(s->o->operands.at[0], names[i]) == 0) {
            return !(strcmp(names[i], "diff") == 0 && tool_own(s->o, "bits"));
        }
    }
    return s->decoded;
}

rec_recorder *tool_session_reader(session *s, size_t index, const char *name)
{
    const options *o = s->o;
    bool converts = strcmp(o->operands.at[0], "convert") == 0 || strcmp(o->operands.at[0], "plan") == 0;
    const char *from = name ? name : tool_session_from(s, index);
    /* A conversion changes precision where it writes, so what it reads it keeps. */
    rec_recorder *recorder = tool_session_open_recorder(
        s, from ? from : "Auto", converts ? REC_PRECISION_KEEP : o->precision, o->no_map, o->clamp && !converts);

    return tool_session_keep(recorder, recorder &&
                                           tool_session_set(recorder, "decode", decodes(s) ? "yes" : NULL) == EXIT_OK &&
                                           tool_session_set_arguments(s, recorder, READING_OPTION, index) == EXIT_OK);
}

/* --------------------------------------------------------------------------------------------------- own options -- */

const char *tool_own(const options *o, const char *name)
{
    const char *last = NULL;

    for (size_t i = 0; i < o->own.count; i++) {
        if (strcmp(o->own.at[i].name, name) == 0) {
            last = o->own.at[i].value;
        }
    }
    return last;
}

const char *tool_own_next(const options *o, const char *name, size_t *at)
{
    while (*at < o->own.count) {
        const own_given *given = &o->own.at[(*at)++];
        if (strcmp(given->name, name) == 0) {
            return given->value;
        }
    }
    return NULL;
}

int tool_own_number(const options *o, const char *name, double least, double *value)
{
    const char *given = tool_own(o, name);
    char *end;
    double number;

    if (!given) {
        return EXIT_OK;
    }
    /* The command sets no locale, so a point is a point. */
    number = strtod(given, &end);
    if (end == given || *end || given[strspn(given, "+-.0123456789eE")] || !(number >= least) || number > 1e300) {
        return tool_fail("--%s: expected a number, %g or more, found \"%s\"", name, least, given);
    }
    *value = number;
    return EXIT_OK;
}
