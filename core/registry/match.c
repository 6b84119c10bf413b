/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What a descriptor has to say about a name, a path and the bytes of a file. */
#include "core/registry/registry.h"

#include <string.h>

#include "core/base/base.h"

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
    return (!(direction & LR_CAN_LOAD) || d->load) && (!(direction & LR_CAN_SAVE) || d->save);
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
