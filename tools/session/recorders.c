/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Recorders that read and write, with the type that the command line gives. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tools/session/session_private.h"

/* ----------------------------------------------------------------------------------------------------- reading -- */

static int set_positional(const session *s, rec_recorder *recorder)
{
    return tool_session_set(recorder, "positional", s->o->positional ? "yes" : NULL);
}

rec_recorder *tool_session_input(session *s, size_t index)
{
    rec_recorder *recorder = tool_session_reader(s, index, NULL);

    return tool_session_keep(recorder, recorder && tool_session_set_type(s, recorder) == EXIT_OK &&
                                           set_positional(s, recorder) == EXIT_OK &&
                                           tool_session_set_arguments(s, recorder, READING_LOAD, index) == EXIT_OK);
}

/* Loads a foreign file unchanged. */
static int set_raw(rec_recorder *recorder)
{
    const char *as = rec_recorder_get(recorder, "as"); /* --from-option as=file, which is more */

    return as && (strcmp(as, "file") == 0 || (rec_recorder_set(recorder, "adapter", "none") == REC_OK &&
                                              rec_recorder_set(recorder, "gaps", "keep") == REC_OK))
               ? EXIT_OK
               : tool_fail_library();
}

rec_recorder *tool_session_raw(session *s, size_t index)
{
    rec_recorder *recorder = tool_session_reader(s, index, NULL);

    return tool_session_keep(recorder,
                             recorder && set_positional(s, recorder) == EXIT_OK && set_raw(recorder) == EXIT_OK);
}

bool tool_is_configured(const session *s, const char *name)
{
    return name && strcasecmp(name, "Auto") != 0 && !rec_plugin_find(s->context, name);
}

/* Subcommands that need no tensor values read headers only: of compressed data or a pipe only these are in memory, or
 * read. */
static bool looks_at_headers(const session *s)
{
    const char *name = s->o->operands.count ? s->o->operands.at[0] : "";

    return strcmp(name, "info") == 0 || (strcmp(name, "ls") == 0 && !tool_own(s->o, "sha256"));
}

int tool_session_set_headers(session *s, rec_recorder *recorder)
{
    return tool_session_set(recorder, "data", looks_at_headers(s) ? "skip" : NULL);
}

rec_recorder *tool_session_look(session *s, size_t index)
{
    rec_recorder *recorder = tool_session_input(s, index);
    bool raw = !tool_session_adapts(s, index) && !s->type && !tool_is_configured(s, tool_session_from(s, index));

    return tool_session_keep(recorder, recorder && (!raw || (set_raw(recorder) == EXIT_OK &&
                                                             tool_session_set_headers(s, recorder) == EXIT_OK)));
}

bool tool_is_foreign(const session *s, const char *recorder)
{
    const rec_plugin_info *p = tool_session_plugin(s, recorder);

    return p && strcmp(p->adapter, "burn") != 0;
}

/* ----------------------------------------------------------------------------------------------------- writing -- */

/* 0.18 and 0.18.1 have one layout. */
static char *layout_of(const char *burn)
{
    const char *minor = strchr(burn, '.');
    const char *patch = minor ? strchr(minor + 1, '.') : NULL;

    return xasprintf("burn-%.*s", (int)(patch ? (size_t)(patch - burn) : strlen(burn)), burn);
}

/* @return the format that a version of Burn has in place of recorders, NULL if it has those. */
static const char *format_of_burn(const session *s, long minor)
{
    enum { RECORDERS_LAST = 21 };

    for (uint64_t i = 0; minor > RECORDERS_LAST && i < rec_plugin_count(s->context); i++) {
        const rec_plugin_info *p = rec_plugin_get(s->context, i);
        if (p->usable && p->kind == REC_PLUGIN_FORMAT && p->can_save && p->burn_first && minor >= p->burn_first &&
            (!p->burn_last || minor <= p->burn_last)) {
            return p->name;
        }
    }
    return NULL;
}

const char *tool_session_to(const session *s)
{
    const char *burn = s->o->burn;

    return s->o->to || !burn || strncmp(burn, "0.", 2) != 0 ? s->o->to : format_of_burn(s, strtol(burn + 2, NULL, 10));
}

bool tool_is_given(const session *s, const char *key)
{
    for (size_t i = 0; i < s->o->readings.count; i++) {
        if (s->o->readings.at[i].key && strcmp(s->o->readings.at[i].key, key) == 0) {
            return true;
        }
    }
    return false;
}

/* @return whether the type goes to the recorder (by its own name) that writes: not to the names of another framework,
 * and not where fields may be missing and names say which. */
static bool writes_type(const session *s, const char *recorder)
{
    return !tool_is_given(s, "reverse") && (!tool_is_given(s, "partial") || tool_needs_type(s, recorder));
}

static rec_recorder *output(session *s, const char *name, rec_precision precision)
{
    const options *o = s->o;
    rec_recorder *recorder = tool_session_open_recorder(s, name, precision, false, o->clamp);
    char *layout = o->burn ? layout_of(o->burn) : NULL;
    bool good = recorder && tool_session_set_options(recorder, &o->to_options) == EXIT_OK &&
                tool_session_set(recorder, "check", o->check ? "yes" : NULL) == EXIT_OK &&
                tool_session_set(recorder, "max-shard-size", o->max_shard_size) == EXIT_OK &&
                tool_session_set(recorder, "keep-names", o->keep_names ? "yes" : NULL) == EXIT_OK;

    if (good && layout && rec_recorder_set(recorder, "layout", layout) != REC_OK) {
        good = tool_fail("--burn: expected 0.7 to 0.23, found \"%s\"", o->burn) == EXIT_OK;
    }
    free(layout);
    good = good && (!writes_type(s, rec_recorder_name(recorder)) || tool_session_set_type(s, recorder) == EXIT_OK) &&
           tool_session_set(recorder, "self-describing", o->self_describing ? "yes" : NULL) == EXIT_OK;
    return tool_session_keep(recorder, good);
}

rec_recorder *tool_session_output(session *s, const char *name)
{
    bool converts = strcmp(s->o->operands.at[0], "convert") == 0;

    return output(s, name, converts && !s->o->precision_given ? REC_PRECISION_CONFIGURED : s->o->precision);
}

rec_recorder *tool_session_widen(session *s, rec_recorder *to, const char *name, const rec_record *record, notes *n)
{
    const rec_plugin_info *p = tool_session_plugin(s, rec_recorder_name(to));
    const char *word = rec_metadata(record, "float");
    rec_recorder *wide;

    if (s->o->precision_given || !p || !p->burn_first || tool_is_configured(s, name) || !word ||
        (strcmp(word, "half::binary16::f16") != 0 && strcmp(word, "f16") != 0)) {
        return to;
    }
    wide = output(s, name, REC_PRECISION_FULL);
    rec_close_recorder(to);
    if (wide) {
        tool_notes_add(
            n, REC_NOTE_LAYOUT, "",
            xasprintf("half precision was written as full, as Burn's recorders gave it: a model takes the element "
                      "types of a %s (--precision keep leaves them)",
                      p->name));
    }
    return wide;
}

/* ---------------------------------------------------------------------------------------------------- dry runs -- */

static int32_t count_bytes(void *user, const void *data, uint64_t size)
{
    (void)data;
    *(uint64_t *)user += size;
    return 0;
}

static int32_t patch_nothing(void *user, uint64_t offset, const void *data, uint64_t size)
{
    (void)user;
    (void)offset;
    (void)data;
    (void)size;
    return 0;
}

rec_output tool_nowhere(const char *name)
{
    return (rec_output){.size = sizeof(rec_output), .name = name, .write = count_bytes, .patch = patch_nothing};
}
