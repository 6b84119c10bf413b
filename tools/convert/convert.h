/* SPDX-License-Identifier: MIT OR Apache-2.0
 * record convert: converts single files, or a directory, from one recorder to another. It changes no input; outputs
 * appear whole or not at all. The caller owns the report of a conversion. */
#ifndef RECORD_CONVERT_H
#define RECORD_CONVERT_H

#include "tools/plan/plan.h"

/* @return the size of a regular file, or REC_UNKNOWN. */
uint64_t tool_size_of_file(const char *path);
/* @return the name of the index if a file was written in several parts, to be freed; NULL if it was not. An index that
 * is older than the file is of another model. */
char *tool_index_beside(const char *path);
/** Notes that a single file was written next to the index of an older set. */
void tool_note_old_index(const char *path, notes *n);
/* Whether --option sets an option of the output's recorder. */
bool tool_is_set(const session *s, const char *option);
/* Makes the folders above a file. @return false with errno set. */
bool tool_folder_make(char *path);
/* Sets a metadata entry, or removes it with an empty value: the type stays unless one is before the value; @FILE is a
 * file's text. Mistakes are printed. @param what begins messages. */
int tool_set_metadata(rec_record *record, const char *what, const char *key, const char *value);
extern const tool_option tool_convert_options[];
int tool_run_convert(session *s, const char *const *operands, size_t count);

#endif
