/* SPDX-License-Identifier: MIT OR Apache-2.0
 * record convert: files from one recorder to another, one by one or all of a folder.
 * It changes no input; what it writes appears whole or not at all.
 * Who asked for a conversion owns what is said of it. */
#ifndef RECORD_CONVERT_H
#define RECORD_CONVERT_H

#include "tools/plan/plan.h"

/* One conversion: what is said about it when it is done. */
typedef struct conversion {
    char *out; /* the file that was written */
    uint64_t tensors, written;
    bool checked; /* it was read back */
} conversion;
/* @return the size of a regular file, or REC_UNKNOWN. */
uint64_t tool_size_of_file(const char *path);
/* @return the name of the index if a file was written in several parts, to be freed; NULL if it was not. An index that
 * is older than the file is of another model. */
char *tool_index_beside(const char *path);
/** Notes that a file was written whole where the index of an older set of files stands beside it. */
void tool_note_old_index(const char *path, notes *n);
/* Sets what --metadata asks for. */
int tool_set_metadata(const session *s, rec_record *record);
/* Sets the type that a record with names shows on a recorder that writes for another version of Burn: what that version
 * has more, less or in another order goes by the types of the modules. Assumptions about the rest change nothing in a
 * file that has names. Without one the record is written as it is. */
int tool_set_shown_type(session *s, const rec_record *record, rec_recorder *to);
/* Converts the record at `in` to `out` with the recorder `to`. @param expression its type, NULL: none.
 * @param foreign whether Burn did not write it, so that load arguments are for it.
 * @return EXIT_OK; EXIT_ERROR with the error in rec_error_message(), not printed. */
int tool_convert_one(session *s, const char *in, const char *to, const char *out, const char *expression, bool foreign,
                     conversion *c, notes *n);
extern const own_option tool_convert_options[];
int tool_run_convert(session *s, const char *const *operands, size_t count);

#endif
