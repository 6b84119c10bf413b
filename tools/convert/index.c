/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The index of a set of files next to one of its files. */
#include <stdlib.h>
#include <sys/stat.h>

#include "tools/convert/convert_private.h"

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
