/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Files that `record embed` writes: whole or not at all, and nothing left behind by an interrupt. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/access.h"
#include "tools/embed/embed_private.h"

/* Files to remove if a signal, or lack of memory, ends the command. A signal handler can use only globals, and may call
 * unlink and rmdir. A slot is filled before its file exists and cleared after its removal. */
enum { SLOTS = 8 };
static char *volatile doomed[SLOTS];

static void doom(char *path)
{
    for (int i = 0; i < SLOTS; i++) {
        if (!doomed[i]) {
            doomed[i] = path;
            return;
        }
    }
}

static void spare(const char *path)
{
    for (int i = 0; i < SLOTS; i++) {
        if (doomed[i] == path) {
            doomed[i] = NULL;
        }
    }
}

static void remove_doomed(void)
{
    /* Folders were doomed before what is in them. */
    for (int i = SLOTS; i-- > 0;) {
        if (doomed[i] && unlink(doomed[i]) != 0) {
            (void)rmdir(doomed[i]);
        }
    }
}

static void on_signal(int number)
{
    remove_doomed();
    (void)raise(number); /* its default action is back, and ends the command once this returns */
}

void tool_files_guard(void)
{
    (void)atexit(remove_doomed); /* the command ends where memory runs out */
    tool_signals_watch(on_signal);
}

/* ----------------------------------------------------------------------------------------------------- targets -- */

/* The assembler works in another folder. @return NULL with the error printed. */
static char *absolute(const char *path)
{
    char *folder, *whole;

    if (*path == '/') {
        return xstrdup(path);
    }
    folder = getcwd(NULL, 0);
    if (!folder) {
        (void)tool_fail("the current directory: %s", strerror(errno));
        return NULL;
    }
    whole = xasprintf("%s/%s", folder, path);
    free(folder);
    return whole;
}

/* What the user gives new files. */
static mode_t mode_of_new(void)
{
    mode_t mask = umask(0);

    (void)umask(mask);
    return 0666 & ~mask;
}

/* Gives a new file the access rights of the one that it replaces; what cannot be kept is granted to nobody, and a note
 * says so. @return 0 or an errno. */
static int keep_access(const struct stat *old, const char *path, int file)
{
    struct stat is, was = *old;
    lr_access access;
    mode_t mode;
    notes lost = {0};
    int error = fstat(file, &is) == 0 ? 0 : errno;

    error = error ? error : lr_access_copy(AT_FDCWD, path, file, &was, &access, NULL);
    error = error ? error : lr_access_settle(file, &is, &was, &access, &mode);
    if (!error && access.loss) {
        tool_notes_add(
            &lost, REC_NOTE_DROPPED, path,
            xasprintf("lost the access control list of the file it replaces: its mode is %03o", (unsigned)mode & 0777));
        tool_notes_print(&lost, false);
        tool_notes_free(&lost);
    }
    return error;
}

int tool_target_open(target *t, const char *path)
{
    struct stat s;
    bool there = stat(path, &s) == 0;
    char *real;
    int file, error;

    *t = (target){0};
    if (strcmp(path, "-") == 0) {
        t->stream = stdout;
        return EXIT_OK;
    }
    if (there && !S_ISREG(s.st_mode)) {
        return tool_fail("%s: expected a file to write to, found something else of that name", path);
    }
    /* A symbolic link stays one: what it points to is replaced. */
    real = realpath(path, NULL);
    t->path = real ? real : absolute(path);
    if (!t->path) {
        return EXIT_ERROR;
    }
    t->temporary = xasprintf("%s.XXXXXX", t->path);
    file = mkstemp(t->temporary);
    if (file < 0) {
        error = errno;
        free(t->temporary);
        t->temporary = NULL;
        return tool_fail("%s: cannot be written: %s", path, strerror(error));
    }
    doom(t->temporary);
    error = there ? keep_access(&s, t->path, file) : fchmod(file, mode_of_new()) != 0 ? errno : 0;
    if (!error && !(t->stream = fdopen(file, "w"))) {
        error = errno;
    }
    if (error) {
        (void)close(file);
        return tool_fail("%s: cannot be written: %s", path, strerror(error));
    }
    return EXIT_OK;
}

int tool_stream_close(FILE *stream)
{
    int error = fflush(stream) == 0 ? 0 : errno;

    /* A write that failed before has left its reason behind: the next one fails for the same. */
    if (!error && ferror(stream)) {
        error = write(fileno(stream), "", 1) < 0 ? errno : EIO;
    }
    if (fclose(stream) != 0 && !error) {
        error = errno;
    }
    return error;
}

int tool_target_close(target *t)
{
    FILE *stream = t->stream;
    int error;

    t->stream = NULL;
    if (stream == stdout) {
        return EXIT_OK; /* main() checks it */
    }
    error = tool_stream_close(stream);
    return error ? tool_fail("%s: cannot be written: %s", t->path, strerror(error)) : EXIT_OK;
}

int tool_target_commit(target *t)
{
    if (!t->temporary) {
        return EXIT_OK;
    }
    if (rename(t->temporary, t->path) != 0) {
        return tool_fail("%s: cannot be replaced: %s", t->path, strerror(errno));
    }
    tool_memory_saved();
    spare(t->temporary);
    free(t->temporary);
    t->temporary = NULL;
    return EXIT_OK;
}

void tool_target_drop(target *t)
{
    if (t->stream && t->stream != stdout) {
        (void)fclose(t->stream);
    }
    if (t->temporary) {
        (void)unlink(t->temporary);
        spare(t->temporary);
    }
    free(t->temporary);
    free(t->path);
    *t = (target){0};
}

/* ---------------------------------------------------------------------------------------------------- workshop -- */

int tool_workshop_open(workshop *w)
{
    const char *temporary = secure_getenv("TMPDIR");
    char *made = xasprintf("%s/record-embed.XXXXXX", temporary && *temporary == '/' ? temporary : "/tmp");

    *w = (workshop){0};
    if (!mkdtemp(made)) {
        int error = errno;
        int status =
            tool_fail("%s: cannot make a directory for temporary files: %s\nAnother one can be named by TMPDIR.", made,
                      strerror(error));
        free(made);
        return status;
    }
    *w = (workshop){made, xasprintf("%s/payload", made), xasprintf("%s/embed.S", made)};
    doom(w->folder);
    doom(w->payload);
    doom(w->source);
    return EXIT_OK;
}

void tool_workshop_close(workshop *w)
{
    if (w->folder) {
        (void)unlink(w->payload);
        (void)unlink(w->source);
        (void)rmdir(w->folder);
        spare(w->source);
        spare(w->payload);
        spare(w->folder);
    }
    free(w->folder);
    free(w->payload);
    free(w->source);
    *w = (workshop){0};
}
