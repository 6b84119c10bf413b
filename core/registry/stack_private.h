/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Formats in codecs: combines a pair into a plugin, and decodes the bytes. */
#ifndef LR_REGISTRY_STACK_PRIVATE_H
#define LR_REGISTRY_STACK_PRIVATE_H

#include "core/registry/open_private.h"
#include "core/registry/registry.h"

/** Puts a format and a codec together. @param named what a plugin of the kind STACK says of the pair; NULL: it is
 * called by the format's name and the codec's extension, "NamedMpk.zst". @param reason (out) LR_REASON bytes: why the
 * two cannot be put together, else "". @return of the arena; NULL with a reason, or the job has failed. */
const lr_plugin *lr_stack_make(rec_job *job, lr_arena *arena, const lr_plugin *named, const lr_plugin *format,
                               const lr_plugin *codec, char *reason);

/** A pair that was requested by name or by file; belongs to the registry. */
typedef struct lr_pair {
    struct lr_pair *next;
    const lr_plugin *plugin;
} lr_pair;

/** What a codec makes of a source, by the defaults of its options. @param out counted. */
int32_t lr_stack_decode(rec_job *job, const lr_plugin *codec, rec_source *stored, rec_source **out);

#endif
