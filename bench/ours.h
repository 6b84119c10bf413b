/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What the operations of librecord share. All end the program with librecord's message if something fails. */
#ifndef BENCH_OURS_H
#define BENCH_OURS_H

#include <librecord.h>

void must(rec_status status);
/* A context; `threads` 0: as many as it likes. */
rec_context *context_with(size_t threads);
/* A recorder with what the words of a line say: "map", "durable", "typed" (the model's type), and arguments as
 * NAME=VALUE, of which those with the prefix are meant ("" without one). */
rec_recorder *open_recorder(rec_context *context, const char *name, rec_precision precision, char *const *words,
                            const char *prefix);

#endif
