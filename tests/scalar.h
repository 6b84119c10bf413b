/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The scalar at a path of a record. */
#ifndef SCALAR_H
#define SCALAR_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <librecord.h>

/** @param path whose last part may be the index of a packed number. @return the scalar; kind REC_KIND_NIL if there is
 * none. */
static inline rec_scalar scalar_at(const rec_record *record, const char *path)
{
    const rec_value *value = rec_value_at(record, path);
    const char *dot = strrchr(path, '.');
    char above[256];
    if (value) {
        return rec_value_scalar(value);
    }
    (void)snprintf(above, sizeof above, "%.*s", dot ? (int)(dot - path) : 0, path);
    return rec_value_number(rec_value_at(record, above), strtoull(dot ? dot + 1 : path, NULL, 10));
}

#endif
