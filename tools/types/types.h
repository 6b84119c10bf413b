/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Types that a record shows: as C, for rec_bind(); of a file without names what its bytes leave.
 * It reads records that others loaded and prints nothing but errors; texts belong to who asked. */
#ifndef RECORD_TYPES_H
#define RECORD_TYPES_H

#include "tools/session/session.h"

/* Adds a C header with the struct of a record. @param name of the struct, a C identifier. @param path the file's name.
 * Errors are printed. */
int tool_types_c(text *t, const rec_record *record, const char *name, const char *path);
/* Derives the type of a file without names from the bytes between its parameters, and reads the file with it. @param
 * positions the record read by position. @param out receives Rust source with the type `Model`. @param solved whether a
 * type reads the whole file. Errors are printed. */
int tool_types_solve(session *s, text *out, const rec_record *positions, const char *path, bool *solved);
/* @return what the elements of a tensor are: b(ools), i(nts), f(loats). */
char tool_types_kind(const rec_tensor *tensor);
/* Adds the type of a parameter in Rust. */
void tool_types_param(text *t, uint32_t rank, char kind);
/* @return true for an identifier that is no word of C's own and that no usual macro hides. */
bool tool_types_is_name(const char *name, size_t length);

#endif
