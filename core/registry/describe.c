/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What a descriptor says: about a name, a path and the bytes of a file, and for rec_plugin_info. */
#include "core/registry/table_private.h"

#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------------------------- names, extensions, magic -- */

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
    bool codec = d->kind == REC_PLUGIN_CODEC;
    bool loads = codec ? d->decode != NULL : d->load || d->open || d->tile;
    bool saves = codec ? d->encode != NULL : d->save != NULL;
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

/* ----------------------------------------------------------------------------------------------- rec_plugin_info -- */

/* Words with commas between them. @param first may be NULL. */
static const char *words(rec_job *job, lr_arena *arena, const char *first, const char *const *more)
{
    size_t room = first ? strlen(first) + 1 : 1, used = 0;
    char *text;
    for (size_t i = 0; more && more[i]; i++) {
        room += strlen(more[i]) + 2;
    }
    text = lr_job_arena_alloc(job, arena, room, 1);
    if (text) {
        used = (size_t)snprintf(text, room, "%s", first ? first : "");
        for (size_t i = 0; more && more[i]; i++) {
            used += (size_t)snprintf(text + used, room - used, "%s%s", used ? ", " : "", more[i]);
        }
    }
    return text;
}

#define PRINT(...) used += (size_t)snprintf(target ? target + used : NULL, target ? room - used : 0, __VA_ARGS__)

/* @param target NULL: prints nothing. @return how much room it wants. */
static size_t print_options(const rec_plugin *d, char *target, size_t room)
{
    size_t used = 0;
    for (size_t i = 0; d->options && d->options[i]; i++) {
        const rec_option *option = d->options[i];
        PRINT("%s%s (", i ? "\n" : "", option->name);
        switch (option->type) {
        case REC_OPTION_BOOL:
            PRINT("yes|no");
            break;
        case REC_OPTION_INT:
            PRINT("%lld to %lld", (long long)option->minimum, (long long)option->maximum);
            break;
        case REC_OPTION_SIZE:
            PRINT("%lld to %lld bytes", (long long)option->minimum, (long long)option->maximum);
            break;
        case REC_OPTION_FLOAT:
            if (REC_HAS(rec_option, option, high) && (option->low != 0 || option->high != 0)) {
                PRINT("%g to %g", option->low, option->high);
            } else {
                PRINT("number");
            }
            break;
        case REC_OPTION_CHOICE:
            for (size_t j = 0; option->choices[j]; j++) {
                PRINT("%s%s", j ? "|" : "", option->choices[j]);
            }
            break;
        default:
            PRINT("text");
            break;
        }
        PRINT(", %s): %s", *option->initial ? option->initial : "empty", option->help);
    }
    return used;
}

static const char *options(rec_job *job, lr_arena *arena, const rec_plugin *d)
{
    size_t room = print_options(d, NULL, 0) + 1;
    char *text = lr_job_arena_alloc(job, arena, room, 1);
    if (text) {
        text[0] = '\0';
        (void)print_options(d, text, room);
    }
    return text;
}

void lr_info_details(rec_job *job, lr_arena *arena, rec_plugin_info *info, const rec_plugin *d)
{
    info->aliases = words(job, arena, NULL, d->aliases);
    info->options = options(job, arena, d);
    info->extensions = words(job, arena, d->extension, d->extensions);
    info->schemes = words(job, arena, NULL, d->schemes);
    info->format = d->format ? d->format : "";
    info->codec = d->codec ? d->codec : "";
    info->adapter = d->adapter ? d->adapter : "burn";
    info->kind = d->kind;
    info->can_load = lr_plugin_can(d, LR_CAN_LOAD);
    info->can_save = lr_plugin_can(d, LR_CAN_SAVE);
    info->needs_type = (d->traits & REC_TRAIT_NEEDS_TYPE) != 0;
    info->has_names = lr_kind_of_name(d->kind) == REC_PLUGIN_FORMAT && !(d->traits & REC_TRAIT_NO_NAMES);
    info->reads_folders = (d->traits & REC_TRAIT_FOLDER) != 0;
    info->burn_first = d->burn_first;
    info->burn_last = d->burn_last;
    info->version = d->version ? d->version : "";
    info->license = d->license ? d->license : "";
    info->option_list = d->options;
    info->option_count = 0;
    while (d->options && d->options[info->option_count]) {
        info->option_count++;
    }
}

rec_plugin_info lr_info_of(const rec_plugin *d, const char *file)
{
    return (rec_plugin_info){.size = sizeof(rec_plugin_info),
                             .usable = 1,
                             .name = d ? d->name : NULL,
                             .extension = d && d->extension ? d->extension : "",
                             .description = d && d->description ? d->description : "",
                             .file = file,
                             .refused = "",
                             .aliases = "",
                             .options = "",
                             .adapter = "burn",
                             .version = "",
                             .license = "",
                             .extensions = "",
                             .hidden = "",
                             .schemes = "",
                             .format = "",
                             .codec = ""};
}
