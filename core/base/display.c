/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The name to show for a path. An address holds secrets: a password before its host, a token in its query.
 * Messages, logs and reports are kept and passed on, so they have the address without them. */
#include "core/base/base_private.h"

#include <string.h>

/* @return what follows "scheme://", NULL: it is no address. */
static const char *authority_of(const char *path)
{
    const char *colon = strstr(path, "://");
    return colon && colon > path && !memchr(path, '/', (size_t)(colon - path)) ? colon + 3 : NULL;
}

/* Whether this is a host with or without a port. Else the end of a password with "/", "?" or "#" may stand here. */
static bool is_host(const char *host, const char *end)
{
    const char *bracket = *host == '[' ? memchr(host, ']', (size_t)(end - host)) : NULL;
    const char *colon = bracket ? bracket + 1 : memchr(host, ':', (size_t)(end - host));
    if (!colon || colon == end) {
        return true;
    }
    for (const char *digit = colon + 1; digit < end; digit++) {
        if (!lr_is_digit(*digit)) {
            return false;
        }
    }
    return *colon == ':';
}

/** A text that is cut to its room. */
typedef struct output {
    char *at;
    uint64_t room, used;
} output;

static void put(output *out, const char *text, size_t length)
{
    if (out->used + 1 < out->room) {
        uint64_t left = out->room - 1 - out->used;
        memcpy(out->at + out->used, text, length < left ? length : (size_t)left);
    }
    out->used += length;
}

static void put_address(output *out, const char *path, const char *authority)
{
    const char *host = authority, *end = authority + strcspn(authority, "/?#");
    for (const char *c = authority; c < end; c++) {
        host = *c == '@' ? c + 1 : host;
    }
    put(out, path, (size_t)(authority - path));
    if (is_host(host, end)) {
        put(out, host, strcspn(host, "?#"));
    } else {
        put(out, "...", 3);
    }
}

uint64_t lr_display(const char *path, char *name, uint64_t room)
{
    output out = {.at = name, .room = room};
    const char *authority = authority_of(path);
    if (authority) {
        put_address(&out, path, authority);
    } else {
        put(&out, path, strlen(path));
    }
    if (room) {
        name[out.used < room ? out.used : room - 1] = '\0';
    }
    return out.used;
}
