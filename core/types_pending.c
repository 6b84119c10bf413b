/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Removed as soon as core/types.c and core/types_expr.c are there. */
#include "types.h"
__attribute__((weak)) const lr_def *lr_types_find(const rec_types *types, const char *name, int32_t minor);
__attribute__((weak)) const lr_def *lr_types_find(const rec_types *types, const char *name, int32_t minor) { (void)types; (void)name; (void)minor; return NULL; }
__attribute__((weak)) size_t lr_expr_print(const lr_expr *expr, char *text, size_t room) { (void)expr; if (room) text[0] = 0; return 0; }
__attribute__((weak)) const lr_expr *lr_expr_parse(rec_job *job, lr_arena *arena, const char *text, uint64_t length, const char *file, uint32_t line) { (void)arena; (void)text; (void)length; (void)file; (void)line; (void)rec_fail(job, REC_E_UNSUPPORTED, REC_UNKNOWN, "types by name are not there yet"); return NULL; }
__attribute__((weak)) int32_t lr_types_add(rec_job *job, rec_types *types, const lr_def *def);
__attribute__((weak)) int32_t lr_types_add(rec_job *job, rec_types *types, const lr_def *def) { (void)types; (void)def; return job->error.status; }
