/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The blocks of ggml, in GGUF files and in others that carry them: the numbers are those of gguf-py. */
#include <stdio.h>
#include <string.h>

#include "plugins/codec/gguf/blocks.h"
#include "plugins/codec/gguf/gguf.h"

/* What `state` holds: the number of the type in a GGUF file. */
enum { TYPE };

static int32_t claim(rec_job *job, const rec_siblings *siblings, const rec_part *part, rec_logical *logical)
{
    int32_t number = part->dtype == REC_DTYPE_OPAQUE ? lr_gguf_type_number(part->dtype, part->dtype_name) : -1;
    const lr_gguf_type *type = number >= 0 ? lr_gguf_type_of((uint32_t)number) : NULL;
    uint64_t size;
    (void)job;
    (void)siblings;
    if (!type || type->kind == LR_GGUF_KINDS || !part->rank || part->rank > REC_LOGICAL_RANK_MOST ||
        !lr_gguf_type_size(type, part->shape[part->rank - 1], part->count, &size) || size != part->nbytes) {
        return REC_OK;
    }
    logical->parts[logical->part_count++] = part;
    logical->dtype = REC_DTYPE_F32;
    logical->rank = part->rank;
    memcpy(logical->shape, part->shape, part->rank * sizeof *part->shape);
    logical->step = type->count;
    logical->state[TYPE] = (uint64_t)number;
    (void)snprintf(logical->label, sizeof logical->label, "ggml %s, blocks of %u", type->name, (unsigned)type->count);
    return REC_OK;
}

static void spans(const uint64_t *state, uint64_t first, uint64_t count, rec_span *spans)
{
    const lr_gguf_type *type = lr_gguf_type_of((uint32_t)state[TYPE]);
    spans[0] =
        (rec_span){.offset = first / type->count * type->size, .length = count / type->count * type->size, .count = 1};
}

static int32_t tile(const uint64_t *state, uint64_t first, uint64_t count, const rec_span *spans,
                    const void *const *parts, void *numbers)
{
    const lr_gguf_type *type = lr_gguf_type_of((uint32_t)state[TYPE]);
    (void)first;
    (void)spans;
    lr_gguf_decoder(type->kind)(parts[0], count / type->count, numbers);
    return REC_OK;
}

static const rec_plugin ggml = {
    .abi = REC_PLUGIN_ABI,
    .size = sizeof ggml,
    .kind = REC_PLUGIN_SCHEME,
    .name = "ggml",
    .description = "scheme: all types of blocks of GGUF",
    .claim = claim,
    .spans = spans,
    .tile = tile,
};

REC_PLUGINS(scheme_ggml, &ggml);
