/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What a descriptor has to say about a name, a path and the bytes of a file. */
#include "core/registry/registry.h"

#include <string.h>

#include "core/base/base.h"

int32_t lr_kind_of_name(int32_t kind)
{
    return kind == REC_PLUGIN_STACK ? REC_PLUGIN_FORMAT : kind;
}

bool lr_plugin_has_name(const rec_plugin *d, const char *name)
{
    if (lr_name_same(d->name, name)) {
        return true;
    }
    for (size_t i = 0; d->aliases && d->aliases[i]; i++) {
        if (lr_name_same(d->aliases[i], name)) {
            return true;
        }
    }
    return false;
}

bool lr_plugin_can(const rec_plugin *d, lr_direction direction)
{
    bool codec = d->kind == REC_PLUGIN_CODEC, source = d->kind == REC_PLUGIN_SOURCE;
    bool loads = codec ? d->decode != NULL : source ? d->open != NULL : d->load != NULL;
    bool saves = codec ? d->encode != NULL : !source && d->save != NULL;
    return (!(direction & LR_CAN_LOAD) || loads) && (!(direction & LR_CAN_SAVE) || saves);
}

/* A dot and something before it. @return the extension's length, 0 if `name` does not end in it. */
static size_t ends_in(const char *name, size_t whole, const char *extension)
{
    size_t length = strlen(extension);
    bool ends = length && whole >= length + 2 && name[whole - length - 1] == '.' &&
                strcmp(name + whole - length, extension) == 0;
    return ends ? length : 0;
}

size_t lr_plugin_extension(const rec_plugin *d, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    size_t whole = strlen(name), longest = d->extension ? ends_in(name, whole, d->extension) : 0;
    for (size_t i = 0; d->extensions && d->extensions[i]; i++) {
        size_t length = ends_in(name, whole, d->extensions[i]);
        longest = length > longest ? length : longest;
    }
    return longest;
}

static int32_t count_bits(uint8_t byte)
{
    int32_t bits = 0;
    for (; byte; byte = (uint8_t)(byte >> 1)) {
        bits += byte & 1;
    }
    return bits;
}

/* The bytes at an offset from the beginning, or from the end if it is negative. NULL: they cannot be seen. */
static const uint8_t *bytes_at(const rec_head *head, int64_t offset, uint64_t length)
{
    uint64_t at = (uint64_t)offset, tail;
    if (offset < 0) {
        if (head->total == REC_UNKNOWN || head->total < 0 - at) {
            return NULL;
        }
        at = head->total + at;
    }
    if (at <= head->length && length <= head->length - at) {
        return head->data + at;
    }
    tail = head->tail && head->total != REC_UNKNOWN ? head->total - head->tail_length : REC_UNKNOWN;
    return at >= tail && at - tail <= head->tail_length && length <= head->tail_length - (at - tail)
               ? head->tail + (at - tail)
               : NULL;
}

/* @return the bits that agree, -1: they do not. */
static int32_t magic_bits(const rec_magic *magic, const rec_head *head)
{
    const uint8_t *found = bytes_at(head, magic->offset, magic->length);
    int32_t bits = found ? 0 : -1;
    for (uint32_t i = 0; found && i < magic->length; i++) {
        uint8_t mask = magic->mask ? magic->mask[i] : 0xff;
        if ((found[i] ^ magic->bytes[i]) & mask) {
            return -1;
        }
        bits += count_bits(mask);
    }
    return bits;
}

bool lr_plugin_is_burns(const lr_plugin *plugin)
{
    const rec_plugin *d = plugin->format ? &plugin->format->d : &plugin->d;
    return d->burn_name || d->burn_first || plugin->d.burn_name;
}

int32_t lr_plugin_magic(const rec_plugin *d, const rec_head *head)
{
    int32_t best = d->magic && d->magic[0] ? -1 : 0;
    for (size_t i = 0; d->magic && d->magic[i]; i++) {
        int32_t bits = magic_bits(d->magic[i], head);
        best = bits > best ? bits : best;
    }
    return best;
}
