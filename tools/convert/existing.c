/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Existing output files, the index of a set next to one of its files, and conversions that write nothing. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/names.h"
#include "tools/convert/convert_private.h"

int tool_existing_check(const session *s)
{
    static const char *const ways[] = {"force", "no-clobber", "skip-existing"};
    const char *given = NULL;

    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        if (!tool_own(s->o, ways[i])) {
            continue;
        }
        if (given) {
            return tool_fail_usage("convert", "--%s and --%s contradict each other", given, ways[i]);
        }
        given = ways[i];
    }
    return EXIT_OK;
}

bool tool_is_set(const session *s, const char *option)
{
    for (size_t i = 0; i < s->o->to_options.count; i++) {
        const char *given = s->o->to_options.at[i];
        if (lr_text_is(given, strcspn(given, " ="), option)) {
            return true;
        }
    }
    return false;
}

/* Whether several files may be made. */
static bool makes_several(const session *s)
{
    return s->o->max_shard_size || tool_is_set(s, "max-shard-size");
}

/* The file that would be replaced: the path, or the index of files. */
static char *file_of(const session *s, const char *path)
{
    char *index = tool_size_of_file(path) == REC_UNKNOWN && makes_several(s) ? tool_index_beside(path) : NULL;

    return index ? index : xstrdup(path);
}

/* Asks on the terminal. @return the answer: y, n or a; the end of the input is no. */
static char ask(const char *path, uint64_t size, bool index)
{
    char answer[64] = "", number[NUMBER_ROOM];
    text name = {0};

    tool_progress_wipe();
    tool_text_safe(&name, path, strlen(path));
    if (index) {
        fprintf(stderr, "%s exists. Overwrite it and remove the files that it names? [y]es, [N]o, [a]ll: ", name.at);
    } else {
        fprintf(stderr, "%s exists (%s). Overwrite it? [y]es, [N]o, [a]ll: ", name.at, tool_sized(size, number));
    }
    (void)fflush(stderr);
    tool_text_free(&name);
    if (!fgets(answer, sizeof answer, stdin)) {
        fputc('\n', stderr);
        return 'n';
    }
    /* The rest of a long line is no answer to the next question. */
    for (int c = 0; !strchr(answer, '\n') && c != '\n' && c != EOF;) {
        c = getchar();
    }
    return *answer == 'y' || *answer == 'Y' ? 'y' : *answer == 'a' || *answer == 'A' ? 'a' : 'n';
}

int tool_existing(const session *s, const char *path, bool *all, char **there)
{
    char *file = file_of(s, path);
    uint64_t size = tool_size_of_file(file);
    int answer = EXISTING_WRITE;

    if (size == REC_UNKNOWN || *all || tool_own(s->o, "force")) {
        /* Only regular files are overwritten, not a FIFO, for example. */
    } else if (tool_own(s->o, "skip-existing")) {
        answer = EXISTING_SKIP;
    } else if (tool_own(s->o, "no-clobber")) {
        answer = EXISTING_REFUSE;
    } else if (!tool_own(s->o, "dry-run") && isatty(STDIN_FILENO) && isatty(STDERR_FILENO)) {
        char said = ask(file, size, strcmp(file, path) != 0);
        *all = said == 'a';
        answer = said == 'a' || said == 'y' ? EXISTING_WRITE : EXISTING_LEFT;
    }
    if (answer == EXISTING_WRITE) {
        free(file);
        file = NULL;
    }
    *there = file;
    return answer;
}

/* ---------------------------------------------------------------------------------------------------- dry runs -- */

rec_status tool_save_nowhere(const session *s, rec_recorder *to, const rec_record *record, uint64_t *written)
{
    const rec_output output = tool_nowhere("(dry run)");
    rec_status status;

    *written = 0;
    if (makes_several(s)) { /* several files are no stream */
        *written = REC_UNKNOWN;
        return REC_OK;
    }
    status = rec_save_to(to, record, &output, written);
    if (status != REC_OK) {
        *written = REC_UNKNOWN;
    }
    return status;
}

/* ------------------------------------------------------------------------------------------------------- indices -- */

uint64_t tool_size_of_file(const char *path)
{
    struct stat s;

    return stat(path, &s) == 0 && S_ISREG(s.st_mode) ? (uint64_t)s.st_size : REC_UNKNOWN;
}

/* Finds the index of a set next to a file. @param newer than the file, or the file is missing; otherwise older. @return
 * freed by the caller; NULL: no index. */
static char *find_index(const char *path, bool newer)
{
    char *index = xasprintf("%s.index.json", path);
    struct stat of, is;

    if (stat(index, &of) == 0 && S_ISREG(of.st_mode) &&
        (stat(path, &is) != 0 || of.st_mtim.tv_sec > is.st_mtim.tv_sec ||
         (of.st_mtim.tv_sec == is.st_mtim.tv_sec && of.st_mtim.tv_nsec > is.st_mtim.tv_nsec)) == newer) {
        return index;
    }
    free(index);
    return NULL;
}

char *tool_index_beside(const char *path)
{
    return find_index(path, true);
}

void tool_note_old_index(const char *path, notes *n)
{
    char *index = find_index(path, false);

    if (index) {
        tool_notes_add(
            n, REC_NOTE_LAYOUT, "",
            xasprintf("%s is the index of an older set, which a load of the directory would use: remove it", index));
    }
    free(index);
}
