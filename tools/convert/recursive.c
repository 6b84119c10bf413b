/* SPDX-License-Identifier: MIT OR Apache-2.0
 * record convert --recursive: every record of a folder, such as the checkpoints of a training, with one report; and
 * several files, each by itself, into a folder. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/convert/recursive_private.h"

/* ----------------------------------------------------------------------------------------------------- finding -- */

/* Whether one of the globs of an option matches. */
static bool is_among(const folder *f, const char *option, const char *name)
{
    const char *glob;
    size_t at = 0;

    while ((glob = tool_own_next(f->s->o, option, &at))) {
        if (tool_folder_fits(glob, name)) {
            return true;
        }
    }
    return false;
}

static int by_name(const void *a, const void *b)
{
    return tool_compare_names(((const found *)a)->name, ((const found *)b)->name);
}

/* Notes all files below `below` ("": the folder itself). */
static int find_files(folder *f, const char *below)
{
    char *path = xasprintf("%s%s%s", f->in, *below ? "/" : "", below);
    DIR *dir = opendir(path);
    struct dirent *each;
    int status = EXIT_OK;

    if (!dir) {
        status = tool_fail("%s: cannot open this directory: %s", path, strerror(errno));
    }
    while (dir && status == EXIT_OK && (each = readdir(dir))) {
        struct stat is;
        char *name, *whole;
        if (strcmp(each->d_name, ".") == 0 || strcmp(each->d_name, "..") == 0) {
            continue;
        }
        name = xasprintf("%s%s%s", below, *below ? "/" : "", each->d_name);
        whole = xasprintf("%s/%s", f->in, name);
        if (is_among(f, "exclude", name)) {
            /* neither it nor what is in it */
        } else if (lstat(whole, &is) != 0) {
            tool_folder_add(f, name, NULL, strerror(errno));
        } else if (S_ISDIR(is.st_mode)) {
            bool own = f->out_exists && is.st_dev == f->out_is.st_dev && is.st_ino == f->out_is.st_ino;
            status = own ? EXIT_OK : find_files(f, name);
        } else if (!tool_own(f->s->o, "include") || is_among(f, "include", name)) {
            tool_folder_add(f, name, &is,
                            S_ISREG(is.st_mode)   ? NULL
                            : S_ISLNK(is.st_mode) ? "a link"
                                                  : "not a regular file");
        }
        free(whole);
        free(name);
    }
    if (dir) {
        (void)closedir(dir);
    }
    free(path);
    return status;
}

static int convert_file(folder *f, found *file)
{
    int status = EXIT_OK;

    tool_folder_look(f, file);
    if (!file->why && (status = tool_folder_name(f, file)) == EXIT_OK) {
        if (tool_folder_is_written(f, file->target)) {
            file->result = FOLDER_FAILED;
            file->why = xasprintf("%s was written from another file already", file->target);
        } else if (tool_folder_may_write(f, file)) {
            tool_folder_convert(f, file);
        }
        if (file->out) {
            (void)tool_known_add(&f->written, file, tool_folder_by_target);
        }
    }
    return status;
}

/* --------------------------------------------------------------------------------------------------- all files -- */

/* One by one. */
static int convert_each(folder *f)
{
    int status = EXIT_OK;

    for (size_t i = 0; i < f->count && status == EXIT_OK && !tool_progress_stopped(); i++) {
        if (!f->files[i].why) {
            status = convert_file(f, &f->files[i]);
        }
    }
    return status;
}

/* Opens the recorders once, so that a mistake in an option is an error before anything is written. */
static int check_recorders(folder *f)
{
    session *s = f->s;
    rec_recorder *from = tool_session_input(s, 1), *to = NULL;
    const rec_plugin_info *plugin;

    if (!from) {
        return EXIT_ERROR;
    }
    plugin = tool_session_plugin(s, rec_recorder_name(from));
    f->from = plugin ? plugin->name : NULL; /* Auto is no format */
    rec_close_recorder(from);
    f->to_name = tool_session_to(s);
    if (f->to_name && !(to = tool_session_output(s, f->to_name))) {
        return EXIT_ERROR;
    }
    f->to = to ? xstrdup(rec_recorder_name(to)) : NULL;
    rec_close_recorder(to);
    return EXIT_OK;
}

/* Converts the files found unless the search failed, reports the result and frees the list. */
static int convert_all(folder *f, int status)
{
    session *s = f->s;

    status = status == EXIT_OK ? check_recorders(f) : status;
    if (s->shared->files) {
        status = tool_folder_spread(f, status);
    } else if (status == EXIT_OK) {
        status = convert_each(f);
    }
    if (status == EXIT_OK && !tool_progress_stopped()) {
        for (size_t i = 0; i < f->count; i++) {
            f->of[f->files[i].result]++;
        }
        tool_folder_tell(f);
        status = f->of[FOLDER_FAILED] ? EXIT_ERROR : EXIT_OK;
    }
    tool_folder_forget(f);
    free(f->to);
    return status;
}

/* Rejects options for a single output. */
static int check_options(const options *o)
{
    if (o->type_of) {
        return tool_fail("--type-of gives the type of one record: with %s give --type GLOB=TYPE",
                         o->recursive ? "--recursive" : "several");
    }
    if (o->types.count && !o->type.count) {
        return tool_fail("--types only defines types: select one with --type");
    }
    if (o->debug) {
        return tool_fail("--debug prints the keys of one model: convert the files one by one\n"
                         "record plan --debug prints them without converting.");
    }
    return o->base ? tool_fail("--base is for one output: convert the files one by one") : EXIT_OK;
}

/* Rejects a load argument between two inputs: it would apply to all of them, but seems to be for the next one. */
static int check_places(const options *o, size_t count)
{
    for (size_t i = 0; i < o->readings.count; i++) {
        const reading *r = &o->readings.at[i];
        if (r->kind != READING_TYPE && r->before > 1 && r->before <= count) {
            return tool_fail("--%s stands between inputs, but applies to all of them where the output is a "
                             "directory\nPut it before the first input or after the last one.",
                             r->option);
        }
    }
    return EXIT_OK;
}

/* The files of the folder, and whether the other one can take them. */
static int find_all(folder *f)
{
    struct stat in_is;
    int status;

    if (stat(f->in, &in_is) != 0 || !S_ISDIR(in_is.st_mode)) {
        return tool_fail("%s: --recursive needs a directory", f->in);
    }
    f->out_exists = stat(f->out, &f->out_is) == 0;
    if (f->out_exists &&
        (!S_ISDIR(f->out_is.st_mode) || (f->out_is.st_dev == in_is.st_dev && f->out_is.st_ino == in_is.st_ino))) {
        return tool_fail("%s: %s", f->out,
                         S_ISDIR(f->out_is.st_mode) ? "the directory that is converted cannot be written to"
                                                    : "a directory is needed to convert a directory to");
    }
    status = find_files(f, "");
    if (f->count) {
        qsort(f->files, f->count, sizeof *f->files, by_name);
    }
    return status;
}

int tool_run_recursive(session *s, const char *in, const char *out)
{
    folder f = {.s = s, .in = in, .out = out, .dry = tool_own(s->o, "dry-run") != NULL};
    int status;

    if (check_options(s->o) != EXIT_OK) {
        return EXIT_ERROR;
    }
    s->typed_by_file = true;
    tool_progress_begin(s->context, true); /* a table comes at the end */
    status = s->shared->first ? find_all(&f) : EXIT_OK;
    status = convert_all(&f, status);
    tool_progress_end();
    return status;
}

int tool_run_each(session *s, const char *const *inputs, size_t count, const char *out)
{
    folder f = {.s = s, .dry = tool_own(s->o, "dry-run") != NULL};
    size_t length = strlen(out);
    struct stat is;
    char *where;
    int status;

    if (check_options(s->o) != EXIT_OK) {
        return EXIT_ERROR;
    }
    for (size_t i = 0; i < count; i++) {
        if (strcmp(inputs[i], "-") == 0) {
            return tool_fail("standard input has no name that a file in %s could have: name the output", out);
        }
    }
    if (check_places(s->o, count) != EXIT_OK) {
        return EXIT_ERROR;
    }
    for (size_t i = 0; i < count; i++) {
        tool_folder_add(&f, inputs[i], stat(inputs[i], &is) == 0 ? &is : NULL, NULL);
    }
    while (length > 1 && out[length - 1] == '/') {
        length--;
    }
    where = xasprintf("%.*s", (int)length, out);
    f.out = where;
    status = stat(where, &is) == 0 && !S_ISDIR(is.st_mode)
                 ? tool_fail("%s: it is not a directory, which files could go into", where)
                 : EXIT_OK;
    s->typed_by_file = true;
    tool_progress_begin(s->context, true);
    status = convert_all(&f, status);
    tool_progress_end();
    free(where);
    return status;
}
