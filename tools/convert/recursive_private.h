/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What the files share that convert all records of a folder, by one process or by several. */
#ifndef RECORD_CONVERT_RECURSIVE_PRIVATE_H
#define RECORD_CONVERT_RECURSIVE_PRIVATE_H

#include <sys/stat.h>

#include "tools/convert/convert_private.h"

enum { FOLDER_SKIPPED, FOLDER_CONVERTED, FOLDER_FAILED };

/* A file of the folder. */
typedef struct found {
    char *name; /* below the folder */
    char *out;  /* what was written, below the other folder; NULL: nothing */
    char *why;  /* it was skipped or failed; else what it was converted from */
    int result; /* FOLDER_… */
    uint64_t tensors, written;
    bool checked;
    bool is_file; /* device and inode are known */
    dev_t device;
    ino_t inode;
    struct found *twin; /* of the first file of an inode the second */
    /* Known before the conversion, unless `why` explains why the file is left out. */
    const char *recorder; /* NULL: not yet determined */
    const char *type;     /* NULL: none */
    char *target;         /* what will be written, below the other folder */
    notes notes;          /* of the conversion */
    char *said;           /* its errors, or the problems of its plan; lines of hints are indented. NULL: none */
    bool repeated;        /* a file before has the same in `said`, */
    uint64_t more;        /* and counts those */
} found;

typedef struct folder {
    session *s;
    const char *in; /* NULL: the files were named one by one */
    const char *out;
    const char *from;    /* the recorder that --from names, by its own name; NULL: each file's content tells */
    const char *to_name; /* the recorder that writes, as the user calls it; NULL: the one that each file has */
    char *to;            /* the same by its own name */
    struct stat out_is;  /* to be left out where it lies in the folder itself */
    bool out_exists;
    found *files;
    size_t count;
    bool dry;          /* nothing is written */
    bool overwrite;    /* whom was asked said yes to all */
    uint64_t of[3];    /* results */
    void *written;     /* files by `target` */
    void *by_inode;    /* files with a known inode, by it, */
    bool inodes_found; /* once it was needed */
} folder;

/* Whether a glob matches a name: one without a slash, the last part of it. */
bool tool_folder_fits(const char *glob, const char *name);

/* The steps of a conversion, of which each leaves `why` where it ends. */

/* @return where it is, to be freed. */
char *tool_folder_path(const folder *f, const found *file);
/* Looks which recorder it is of. */
void tool_folder_look(folder *f, found *file);
/* Finds its type and its target. @return EXIT_OK, or EXIT_ERROR and the error is printed: a wrong command line. */
int tool_folder_name(folder *f, found *file);
/* Whether its target is no other file that is converted. */
bool tool_folder_is_free(folder *f, found *file);
/* Whether the file may be overwritten; may ask the user. */
bool tool_folder_may_write(folder *f, found *file);
/* Converts it. */
void tool_folder_convert(folder *f, found *file);
/* The order of files by target. */
int tool_folder_by_target(const void *a, const void *b);
/* Whether a file was written to that target before. */
bool tool_folder_is_written(const folder *f, char *target);
/* Frees the list. */
void tool_folder_forget(folder *f);
/* Notes a file. */
void tool_folder_add(folder *f, const char *name, const struct stat *is, const char *why);

/* Prints notes, errors and the report of all files (folder_report.c). */
void tool_folder_tell(folder *f);

/* All of them by several processes: the first one has found the files. @param status of finding them. @return EXIT_OK
 * or EXIT_ERROR, the same for all; all have all results (spread.c). */
int tool_folder_spread(folder *f, int status);

#endif
