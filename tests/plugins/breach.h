/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What the files of the plugin that breaks its contract share. */
#ifndef BREACH_H
#define BREACH_H

#include <string.h>

#include <librecord/plugin.h>

/** One call of `load`. */
typedef struct reading {
    rec_job *job;
    rec_source *source;
    const rec_visitor *on;
    void *self;
    const char *breach; /**< what is done wrong */
} reading;

/** One call of `save`. */
typedef struct writing {
    rec_job *job;
    rec_sink *sink;
    const char *breach;
    uint64_t bytes; /**< of blobs that were written */
    int32_t depth;  /**< of walks within walks */
} writing;

/** What nobody does: a breach that no part knows is a mistake of the test. */
enum { NOT_HERE = 1000 };

#define IS(breach_) (strcmp(x->breach, breach_) == 0)

/** Pointers that the compiler cannot know to be NULL. */
extern void *volatile nowhere;

/** The parts: each returns NOT_HERE for what another one does. */
int32_t breach_order(const reading *x);   /* the order of events */
int32_t breach_scalars(const reading *x); /* the arguments of events */
int32_t breach_blobs(const reading *x);
int32_t breach_tensors(const reading *x);
int32_t breach_job(const reading *x); /* what a job is asked for, and how it fails */
int32_t breach_sources(const reading *x);
int32_t breach_filters(const reading *x);
int32_t breach_save(writing *x);
/** The same within a walk, at the tensor or at the bytes. */
int32_t breach_walk(writing *x, const rec_blob *blob);
int32_t breach_sinks(writing *x);

/** breach_codec.c: a codec, which has an option `coding` for what it does wrong, and a scheme. */
extern const rec_plugin breach_codec, breach_scheme;

/** The beginning of a value: the outermost map and the key of its first entry; and its end. */
int32_t begin(const reading *x);
int32_t finish(const reading *x);
rec_scalar text_of(const char *text);
/** A tensor [2, 2] of f32 in static memory. */
rec_tensor_event tensor_of(void);
/** The plainest record, of a format of tensors and of one of maps. */
int32_t plain(const reading *x);
int32_t plain_maps(const reading *x);
/** A plain walk that writes all blobs. */
int32_t plain_save(writing *x);
extern const rec_visitor breach_writer;

#endif
