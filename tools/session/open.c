/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Recorders as the command line asks for them: their options, and load arguments by the input that they are for. */
#include <stdlib.h>
#include <string.h>

#include "tools/session/session_private.h"

const rec_plugin_info *tool_session_plugin(const session *s, const char *name)
{
    return name ? rec_plugin_find(s->context, name) : NULL;
}

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
    name = xasprintf("%.*s", (int)end, setting);
    if (rec_recorder_set(recorder, name, value + strspn(value, " ")) != REC_OK) {
        status = tool_fail_library();
    }
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
    if ((no_map && rec_recorder_set(recorder, "map", "no") != REC_OK) ||
        (clamp && rec_recorder_set(recorder, "clamp", "yes") != REC_OK)) {
        (void)tool_fail_library();
        rec_close_recorder(recorder);
        return NULL;
    }
    return recorder;
}

int tool_session_set_flag(rec_recorder *recorder, const char *option, bool given)
{
    return given && rec_recorder_set(recorder, option, "yes") != REC_OK ? tool_fail_library() : EXIT_OK;
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
            if (!r->key) {
                status = set_setting(recorder, r->value);
            } else if (rec_recorder_set(recorder, r->key, r->value) != REC_OK) {
                status = tool_fail_library();
            }
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

rec_recorder *tool_session_open_reader(session *s, size_t index, const char *name)
{
    const options *o = s->o;
    bool converts = strcmp(o->operands.at[0], "convert") == 0 || strcmp(o->operands.at[0], "plan") == 0;
    const char *from = name ? name : tool_session_from(s, index);
    /* A conversion changes precision where it writes, so what it reads it keeps. */
    rec_recorder *recorder = tool_session_open_recorder(
        s, from ? from : "Auto", converts ? REC_PRECISION_KEEP : o->precision, o->no_map, o->clamp && !converts);

    if (recorder && decodes(s) && rec_recorder_set(recorder, "decode", "yes") != REC_OK) {
        (void)tool_fail_library();
        rec_close_recorder(recorder);
        return NULL;
    }
    if (recorder && tool_session_set_arguments(s, recorder, READING_OPTION, index) != EXIT_OK) {
        rec_close_recorder(recorder);
        return NULL;
    }
    return recorder;
}

rec_recorder *tool_session_reader(session *s, const char *name)
{
    return tool_session_open_reader(s, 1, name);
}
