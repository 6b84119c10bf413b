/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A format for librecord: the .msgpack files of Flax (JAX). This file describes it; array.h describes the files. */
#include <string.h>

#include "flax/array.h"
#include "flax/flax.h"

static const char *const choices[] = {"model", "all", NULL};
static const rec_option values = {
    .size = sizeof values,
    .type = REC_OPTION_CHOICE,
    .name = "values",
    .initial = "model",
    .help = "model: the arrays of a model, by their paths; all: every value, in the levels of the file",
    .choices = choices,
};
static const rec_option chunk = {
    .size = sizeof chunk,
    .type = REC_OPTION_SIZE,
    .name = "chunk",
    .initial = "1 GiB",
    .help = "the most bytes of an array in one chunk",
    .minimum = 16,
    .maximum = 2147483392, /* an extension has 32 bits for its size, and Python's reader 31 */
};
static const rec_option *const options[] = {&values, &chunk, NULL};

int flax_reads_all(const rec_job *job)
{
    return strcmp(rec_job_option_text(job, "values"), "all") == 0;
}

/* Whether an extension begins as an array does: a list of three, the shape, the name of a known type. */
static int is_array(const uint8_t *bytes, uint64_t length)
{
    mp_value list, shape, name = {0};
    uint64_t at = mp_decode(bytes, length, &list), head;
    char text[TYPE_ROOM] = "";
    head = at ? mp_decode(bytes + at, length - at, &shape) : 0;
    at += head;
    if (!head || list.kind != MP_LIST || list.count != 3 || shape.kind != MP_LIST || shape.count > ARRAY_RANK) {
        return 0;
    }
    for (uint64_t i = 0; i <= shape.count; i++) { /* after the sizes the name */
        head = mp_decode(bytes + at, length - at, &name);
        at += head;
        if (!head || (i < shape.count && name.kind != MP_UINT)) {
            return 0;
        }
    }
    if (name.kind != MP_TEXT || name.count >= sizeof text || name.count > length - at) {
        return 0;
    }
    memcpy(text, bytes + at, name.count);
    return array_type_named(text) != NULL;
}

/* A map is Flax's if the first array in it is. In MessagePack, heads follow one another at any depth. */
static int32_t probe(const rec_head *head)
{
    mp_value value;
    uint32_t used = mp_decode(head->data, head->length, &value);
    if (!used || value.kind != MP_MAP) {
        return 0;
    }
    for (uint64_t at = used; at < head->length && used;) {
        used = mp_decode(head->data + at, head->length - at, &value);
        at += used;
        if (used && value.kind == MP_EXT) {
            return value.type >= FLAX_ARRAY && value.type <= FLAX_SCALAR && value.type != FLAX_COMPLEX &&
                           is_array(head->data + at, head->length - at)
                       ? 32
                       : 0;
        }
        if (value.kind == MP_TEXT || value.kind == MP_BYTES) {
            used = value.count < head->length - at ? used : 0;
            at += used ? value.count : 0;
        }
    }
    return 0;
}

static const rec_plugin flax = {
    .abi = REC_PLUGIN_ABI,
    .size = sizeof flax,
    .name = "Flax",
    .aliases = (const char *const[]){"flax-msgpack", NULL},
    .extension = "msgpack",
    .description = "Flax's files: arrays of JAX in nested maps",
    .traits = REC_TRAIT_TENSORS | REC_TRAIT_VALUES | REC_TRAIT_EXACT_SIZE,
    .options = options,
    .probe = probe,
    .load = flax_load,
    .save = flax_save,
    .adapter = "flax", /* the profile of that name knows its modules */
    .version = "1.0",
    .license = "MIT OR Apache-2.0",
};

REC_PLUGINS(flax, &flax);
