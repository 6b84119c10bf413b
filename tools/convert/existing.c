/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What becomes of a file that is there already, and conversions that write nothing. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* Asks on the terminal. @return the answer: y, n or a; the end of the input is no. */
static char ask(const char *path, uint64_t size)
{
    char answer[64] = "", number[NUMBER_ROOM];
    text name = {0};

    tool_progress_wipe();
    tool_text_safe(&name, path, strlen(path));
    fprintf(stderr, "%s is there already (%s). Overwrite it? [y]es, [N]o, [a]ll: ", name.at, tool_sized(size, number));
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

int tool_existing(const session *s, const char *path, bool *all)
{
    uint64_t size = tool_size_of_file(path);
    char *index = size == REC_UNKNOWN && s->o->max_shard_size ? tool_index_beside(path) : NULL;

    if (index) {
        size = tool_size_of_file(index);
        free(index);
    }
    /* What is no regular file, a FIFO say, is not overwritten. */
    if (size == REC_UNKNOWN || *all || tool_own(s->o, "force")) {
        return EXISTING_WRITE;
    }
    if (tool_own(s->o, "skip-existing")) {
        return EXISTING_SKIP;
    }
    if (tool_own(s->o, "no-clobber")) {
        return EXISTING_REFUSE;
    }
    if (tool_own(s->o, "dry-run") || !isatty(STDIN_FILENO) || !isatty(STDERR_FILENO)) {
        return EXISTING_WRITE;
    }
    switch (ask(path, size)) {
    case 'a':
        *all = true;
        return EXISTING_WRITE;
    case 'y':
        return EXISTING_WRITE;
    default:
        return EXISTING_LEFT;
    }
}

/* ------------------------------------------------------------------------------------------------------- dry runs -- */

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

rec_status tool_save_nowhere(const session *s, rec_recorder *to, const rec_record *record, uint64_t *written)
{
    const rec_output output = {
        .size = sizeof output, .name = "(dry run)", .write = count_bytes, .patch = patch_nothing};
    rec_status status;

    *written = 0;
    if (s->o->max_shard_size) { /* several files are no stream */
        *written = REC_UNKNOWN;
        return REC_OK;
    }
    status = rec_save_to(to, record, &output, written);
    if (status != REC_OK) {
        *written = REC_UNKNOWN;
    }
    return status;
}
