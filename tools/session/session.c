/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The session with the library: its context, and loading by it. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/file.h"
#include "tools/session/session_private.h"

/* ----------------------------------------------------------------------------------------------------- session -- */

int tool_session_open(session *s, const options *o)
{
    *s = (session){.o = o, .inputs = 1, .shared = &tool_alone};
    s->context = rec_config_open(o->config);
    if (!s->context) {
        return tool_fail_library();
    }
    if (o->threads) {
        (void)rec_context_set_threads(s->context, o->threads); /* which takes 1 to 64, as the option does */
    }
    return EXIT_OK;
}

void tool_session_close(session *s)
{
    free(s->type);
    rec_types_free(s->types);
    rec_context_free(s->context);
    *s = (session){.o = s->o, .shared = &tool_alone};
}

void tool_session_streams(session *s)
{
    enum { SPILL_FROM = 16 << 20 };

    (void)rec_context_set_spill(s->context, SPILL_FROM); /* which is set, or refuses NULL */
}

int tool_session_keep_input(void)
{
    struct stat is;
    char chunk[1 << 16];
    uint64_t done = 0;
    ssize_t got = 1;
    int file, error = 0;

    if (isatty(STDIN_FILENO) ||
        (fstat(STDIN_FILENO, &is) == 0 && S_ISREG(is.st_mode) && lseek(STDIN_FILENO, 0, SEEK_CUR) == 0)) {
        return EXIT_OK;
    }
    file = lr_file_nameless();
    while (file >= 0 && !error && (got = read(STDIN_FILENO, chunk, sizeof chunk)) > 0) {
        error = lr_file_write_at(file, chunk, (uint64_t)got, done);
        done += (uint64_t)got;
    }
    if (file < 0 || got < 0 || error || dup2(file, STDIN_FILENO) < 0) {
        return tool_fail("cannot copy standard input to a temporary file: %s\nSet TMPDIR to a directory with space, or "
                         "name the file.",
                         strerror(error ? error : errno));
    }
    (void)close(file);
    return EXIT_OK;
}

const char *tool_input_name(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

rec_record *tool_session_load(rec_recorder *recorder, const char *path)
{
    rec_record *record;

    if (strcmp(path, "-") != 0) {
        record = tool_load(recorder, path);
    } else if (isatty(STDIN_FILENO)) {
        (void)tool_fail("standard input is a terminal: a file or a pipe was expected");
        return NULL;
    } else {
        record = rec_load_fd(recorder, STDIN_FILENO, tool_input_name(path));
    }
    if (!record) {
        (void)tool_fail_library();
    }
    return record;
}

/* Reads by position what has no type. @return NULL with the error printed. */
static rec_record *load_positions(session *s, const char *name, const char *path)
{
    rec_recorder *recorder = tool_session_reader(s, 1, name);
    rec_record *record = NULL;

    if (recorder && tool_session_set_headers(s, recorder) == EXIT_OK &&
        tool_session_set(recorder, "positional", "head") == EXIT_OK && !(record = tool_load(recorder, path))) {
        (void)tool_fail_library();
    }
    rec_close_recorder(recorder);
    return record;
}

/* @param by_position as for tool_session_read(). */
static rec_record *load(session *s, rec_recorder *recorder, const char *path, bool *by_position)
{
    const char *name;
    rec_record *record;

    if (by_position) {
        *by_position = s->o->positional;
        if (tool_session_set(recorder, "positional", *by_position ? "head" : NULL) != EXIT_OK) {
            return NULL;
        }
    }
    if (strcmp(path, "-") == 0) {
        return tool_session_load(recorder, path);
    }
    record = tool_load(recorder, path);
    if (!record && !tool_lacks_type(s, path, &name)) {
        (void)tool_fail_library();
    } else if (!record && by_position) {
        *by_position = true;
        record = load_positions(s, name, path);
    } else if (!record) {
        (void)tool_fail_no_type(s, path, name);
    }
    return record;
}

rec_record *tool_session_load_typed(session *s, rec_recorder *recorder, const char *path)
{
    return load(s, recorder, path, NULL);
}

rec_record *tool_session_read(session *s, rec_recorder *recorder, const char *path, bool *by_position)
{
    rec_record *record = NULL;

    if (recorder) {
        tool_progress_begin(s->context, s->o->quiet);
        record = load(s, recorder, path, by_position);
        tool_progress_end();
    }
    rec_close_recorder(recorder);
    return record;
}
