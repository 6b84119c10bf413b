/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What the files of the builder share. All that return a status return the job's. */
#ifndef LR_BUILDER_PRIVATE_H
#define LR_BUILDER_PRIVATE_H

#include "burn/visit/visit.h"

/* A container that is open. Small maps, which may turn out to be parameters, wait on the builder's stack; what is
 * larger and of known size is filled in place in the arena. */
typedef struct lr_frame {
    int32_t kind; /* LIST, MAP, VARIANT */
    int32_t form;
    uint16_t of; /* what a list of metadata is of, 0: unknown (rec_value.bits) */
    uint64_t at;
    uint64_t announced; /* elements or entries, REC_UNKNOWN */
    uint64_t count;     /* so far */
    uint64_t base;      /* on the stack */
    lr_list *list;      /* in place, else NULL */
    lr_map *map;
    lr_variant *variant;
    rec_value key;
    bool has_key; /* a key was given whose value is due */
    bool run;     /* the runner holds this list's numbers */
} lr_frame;

enum { LR_BUILDER_SHAPES = 16 }; /* a power of two */

struct lr_builder {
    rec_job *job;
    rec_record *record;
    rec_precision precision;
    bool tensors;
    lr_burn burn;
    bool again;  /* item came before metadata */
    bool second; /* metadata is known from a first pass */
    bool owed;   /* an option is present, and its value must follow */
    bool blind;  /* no bytes are taken */
    bool entry;  /* the value that is due or being read is that of a metadata entry */
    rec_value entry_key;
    lr_frame *frames;
    uint64_t depth, frame_room;
    rec_value *stack;
    uint64_t count, room;
    lr_runner runner;
    struct {
        const uint64_t *axes; /* NULL: none yet */
        uint32_t rank;
    } shapes[LR_BUILDER_SHAPES]; /* of tensors told before: many have the same */
    uint64_t at;                 /* of the last event */
};

/* builder_frame.c */

/** The job's `where` of a builder. */
uint64_t lr_builder_where(void *builder, char *path, size_t room);
/** Where the entries of a map lie, and its keys: of a flat one apart, for they go when it becomes a tree. */
static inline lr_arena *lr_builder_arena(const lr_builder *builder, const lr_frame *frame)
{
    return frame->form == REC_FORM_PATHS ? &builder->record->flat_arena : &builder->record->arena;
}
/** Opens a container. NULL: the job has failed. */
lr_frame *lr_builder_open(lr_builder *builder, uint64_t at, int32_t kind, int32_t form, uint64_t announced);
/** Finds the place in the arena of a list or map that is not small, once it is known to be needed. */
int32_t lr_builder_in_place(lr_builder *builder, lr_frame *frame);
/** Adds an element to a list. */
int32_t lr_builder_add(lr_builder *builder, lr_frame *frame, rec_value value);
/** Numbers that were held back become elements: the list is a mixed one. */
int32_t lr_builder_unpack(lr_builder *builder, lr_frame *frame);
/** Takes a value that is complete. */
int32_t lr_builder_emit(lr_builder *builder, rec_value value);
/** What a list or map that ended is. */
int32_t lr_builder_end_list(lr_builder *builder, const lr_frame *frame, rec_value *value);
int32_t lr_builder_end_map(lr_builder *builder, const lr_frame *frame, rec_value *value);

/** Reads a blob into memory that the record takes over, or into a temporary file. NULL: the job has failed. */
lr_data *lr_builder_read(lr_builder *builder, const rec_blob *blob);
/** One more text of the metadata, in a format that speaks tensors itself. */
int32_t lr_builder_metadata_pair(lr_builder *builder, const rec_scalar *key, const rec_scalar *value);
/** In such a format: what follows is the value of that entry. */
int32_t lr_builder_metadata_begin(lr_builder *builder, const rec_scalar *key);
/** Refuses metadata by which a record of Burn says how it is written if they are no texts. */
int32_t lr_builder_metadata_check(lr_builder *builder);
/** The outermost map {metadata, item, _b}: item becomes the root. */
int32_t lr_builder_unwrap(lr_builder *builder);

#endif
