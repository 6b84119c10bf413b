/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Dotted paths: splitting, joining, looking up, and naming what was probably meant. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/record/record.h"

static size_t put(char *path, size_t room, size_t used, char c)
{
    if (used + 1 < room) {
        path[used] = c;
        path[used + 1] = '\0';
    }
    return used + 1;
}

/* Whether a name needs no escapes in a path. */
static bool is_plain(const char *name, uint64_t length)
{
    bool plain = true;
    for (uint64_t i = 0; i < length; i++) {
        plain &= name[i] != '.' && name[i] != '\\' && name[i] != '\0';
    }
    return plain;
}

size_t lr_path_append(char *path, size_t room, size_t used, bool first, const char *name, uint64_t length)
{
    if (!first) {
        used = put(path, room, used, '.');
    } else if (room) {
        path[0] = '\0';
    }
    if (length < room && used < room - length && is_plain(name, length)) {
        memcpy(path + used, name, (size_t)length);
        path[used + length] = '\0';
        return (size_t)(used + length);
    }
    for (uint64_t i = 0; i < length; i++) {
        if (name[i] == '.' || name[i] == '\\') {
            used = put(path, room, used, '\\');
        }
        used = put(path, room, used, name[i] ? name[i] : '?');
    }
    return used;
}

size_t lr_path_append_index(char *path, size_t room, size_t used, bool first, uint64_t index)
{
    char digits[LR_KEY_DIGITS];
    uint64_t length;
    const char *text = lr_index_text(index, digits, &length);
    return lr_path_append(path, room, used, first, text, length);
}

size_t lr_path_append_key(char *path, size_t room, size_t used, bool first, const rec_value *key)
{
    rec_scalar scalar = lr_to_scalar(key);
    char digits[LR_KEY_DIGITS];
    uint64_t length;
    const char *text = lr_key_text(&scalar, digits, &length);
    return lr_path_append(path, room, used, first, text, length);
}

const char *lr_path_dot(const char *part, const char *end)
{
    const char *dot = part;
    for (; part < end && (dot = memchr(dot, '.', (size_t)(end - dot))) != NULL; dot++) {
        const char *slash = dot;
        while (slash > part && slash[-1] == '\\') {
            slash--;
        }
        if ((dot - slash) % 2 == 0) {
            return dot;
        }
    }
    return NULL;
}

const char *lr_path_last(const char *path, uint64_t length)
{
    const char *end = path + length, *last = path, *dot;
    while ((dot = lr_path_dot(last, end)) != NULL) {
        last = dot + 1;
    }
    return last;
}

/* Whether two characters are one that is escaped. */
static bool is_escape(const char *text, const char *end)
{
    return text[0] == '\\' && end - text > 1 && (text[1] == '.' || text[1] == '\\');
}

uint64_t lr_path_plain(const char *path, uint64_t length, char *target)
{
    const char *end = path + length;
    uint64_t used = 0;
    while (path < end) {
        bool escape = is_escape(path, end);
        if (*path == '\\' && !escape) {
            target[used++] = '\\';
        }
        for (unsigned n = escape ? 2 : 1; n > 0; n--) {
            target[used++] = *path++;
        }
    }
    return used;
}

uint64_t lr_path_name(const char *part, uint64_t length, char *name)
{
    const char *end = part + length;
    char *to = name;
    while (part < end) {
        part += is_escape(part, end);
        *to++ = *part++;
    }
    return (uint64_t)(to - name);
}

const char *lr_path_split(const char *path, char *part, uint64_t *length)
{
    char *to = part;
    while (*path && *path != '.') {
        path += *path == '\\' && (path[1] == '.' || path[1] == '\\');
        *to++ = *path++;
    }
    *to = '\0';
    *length = (uint64_t)(to - part);
    return *path ? path + 1 : NULL;
}

uint64_t rec_path_escape(const char *name, uint64_t length, char *path, uint64_t room)
{
    size_t used = 0;
    if ((length && LR_LACKS(NULL, name)) || (room && LR_LACKS(NULL, path))) {
        return 0;
    }
    if (room) {
        path[0] = '\0';
    }
    for (uint64_t i = 0; i < length; i++) {
        if (name[i] == '\\') {
            used = put(path, (size_t)room, used, '\\');
        }
        used = put(path, (size_t)room, used, name[i]);
    }
    return used;
}

uint64_t rec_path_unescape(const char *path, uint64_t length, char *name, uint64_t room)
{
    const char *end;
    size_t used = 0;
    if ((length && LR_LACKS(NULL, path)) || (room && LR_LACKS(NULL, name))) {
        return 0;
    }
    if (room) {
        name[0] = '\0';
    }
    for (end = path + length; path < end;) {
        path += is_escape(path, end);
        used = put(name, (size_t)room, used, *path++);
    }
    return used;
}

bool lr_path_index(const char *text, uint64_t length, uint64_t *index)
{
    uint64_t n = 0;
    if (length == 0 || (text[0] == '0' && length > 1)) {
        return false;
    }
    for (uint64_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9' || !lr_mul(n, 10, &n) || !lr_add(n, (uint64_t)(text[i] - '0'), &n)) {
            return false;
        }
    }
    *index = n;
    return true;
}

rec_value *lr_child(const rec_value *value, const char *part, uint64_t length)
{
    uint64_t index;
    lr_entry *entry;
    switch (value->kind) {
    case REC_KIND_MAP:
        entry = lr_map_find_text(value->v.map, part, length);
        return entry ? &entry->value : NULL;
    case REC_KIND_LIST:
        return lr_path_index(part, length, &index) && index < value->v.list->count ? &value->v.list->items[index]
                                                                                   : NULL;
    case REC_KIND_VARIANT:
        return value->v.variant->has_payload && value->v.variant->name.length == length &&
                       memcmp(value->v.variant->name.v.text, part, (size_t)length) == 0
                   ? &value->v.variant->payload
                   : NULL;
    default:
        return NULL;
    }
}

const rec_value *rec_value_child(const rec_value *value, const char *name)
{
    return value && name ? lr_child(value, name, strlen(name)) : NULL;
}

enum { SHORT_PATH = 512 };

rec_value *lr_at(const rec_record *record, const char *path)
{
    rec_value *value = (rec_value *)&record->root;
    char stack[SHORT_PATH];
    char *part = stack;
    size_t size = strlen(path) + 1;
    uint64_t length;
    if (size == 1) {
        return value;
    }
    if (size > sizeof stack) {
        part = lr_alloc(&record->context->allocator, size);
    }
    while (part && path && value) {
        path = lr_path_split(path, part, &length);
        value = lr_child(value, part, length);
    }
    if (part != stack) {
        lr_release(&record->context->allocator, part);
    }
    return part ? value : NULL;
}

/* ------------------------------------------------------------------------------------------------- near misses -- */

enum { NEAR_MOST = 3, KEYS_LOOKED_AT = 10000, KEYS_NAMED = 8 };

/* Names the children of the last level that exists: the nearest one, and the first few. */
int32_t lr_fail_no_key(rec_job *job, const rec_record *record, const char *path)
{
    const rec_value *value = &record->root;
    const char *rest = path;
    char *part = lr_alloc(job->allocator, strlen(path) + 1);
    char have[512] = "", nearest[160] = "", names[400] = "";
    size_t used = 0, names_used = 0;
    size_t best = NEAR_MOST + 1, asked;
    uint64_t length = 0, named = 0, count;
    (void)lr_fail_path(job, REC_E_NOT_FOUND, path, "the record has no such key");
    if (!part) {
        return job->error.status;
    }
    while (rest) {
        const rec_value *child;
        rest = lr_path_split(rest, part, &length);
        child = lr_child(value, part, length);
        if (!child) {
            break;
        }
        used = lr_path_append(have, sizeof have, used, value == &record->root, part, length);
        value = child;
    }
    count = rec_value_count(value);
    asked = length < LR_DISTANCE_MOST ? (size_t)length : LR_DISTANCE_MOST - 1;
    if (value->kind == REC_KIND_MAP) {
        lr_map_settle(value->v.map);
        for (uint64_t i = 0; i < count && i < KEYS_LOOKED_AT; i++) {
            const rec_value *key = &value->v.map->entries[i].key;
            char name[128];
            size_t d, n = lr_path_append_key(name, sizeof name, 0, true, key);
            if (n >= sizeof name) {
                continue;
            }
            d = n > asked + NEAR_MOST || asked > n + NEAR_MOST ? SIZE_MAX : lr_distance(part, asked, name, n);
            if (d < best) {
                best = d;
                (void)snprintf(nearest, sizeof nearest, "%s", name);
            }
            if (named < KEYS_NAMED && names_used + n + 8 < sizeof names) {
                names_used +=
                    (size_t)snprintf(names + names_used, sizeof names - names_used, "%s%s", named ? ", " : "", name);
                named++;
            }
        }
    }
    if (best <= NEAR_MOST) {
        rec_fail_hint(job, "Did you mean %s%s%s?", have, used ? "." : "", nearest);
    } else if (value->kind == REC_KIND_MAP && named) {
        rec_fail_hint(job, "%s has: %s%s", used ? have : "The record", names, named < count ? ", …" : "");
    } else if (value->kind == REC_KIND_LIST || value->kind == REC_KIND_NUMBERS) {
        rec_fail_hint(job, "%s is a list of %" PRIu64 " item%s.", used ? have : "The record", count,
                      count == 1 ? "" : "s");
    } else {
        rec_fail_hint(job, "%s has nothing below it.", used ? have : "The record");
    }
    lr_release(job->allocator, part);
    return job->error.status;
}

const rec_value *rec_value_at(const rec_record *record, const char *path)
{
    return record && path ? lr_at(record, path) : NULL;
}

const rec_tensor *rec_tensor_at(const rec_record *record, const char *path)
{
    const rec_value *value;
    rec_job job;
    if (LR_NULL(record) || LR_NULL(path)) {
        return NULL;
    }
    value = lr_at(record, path);
    if (value && value->kind == REC_KIND_TENSOR) {
        lr_publish_ok();
        return value->v.tensor;
    }
    lr_job_begin(&job, record->context, "look up", NULL);
    if (value) {
        (void)lr_fail_path(&job, REC_E_NOT_FOUND, path, "there is %s here, not a tensor", lr_kind_words(value->kind));
    } else {
        (void)lr_fail_no_key(&job, record, path);
    }
    (void)lr_job_end(&job);
    return NULL;
}

rec_status rec_path_push(rec_job *job, rec_path *path, const char *name, uint64_t length)
{
    uint64_t need;
    char *to;
    if (LR_LACKS(job, job) || LR_LACKS(job, path) || (length && LR_LACKS(job, name))) {
        return lr_breach_status(job);
    }
    if (!lr_mul(length, 2, &need) || !lr_add(need, path->length + 2, &need)) {
        return lr_fail_memory(job, UINT64_MAX);
    }
    if (need > path->room) {
        uint64_t room = need < UINT64_MAX / 2 ? 2 * need : need;
        to = rec_job_resize(job, path->text, room);
        if (!to) {
            return job->error.status;
        }
        path->text = to;
        path->room = room;
    }
    to = path->text + path->length;
    if (path->levels++) {
        *to++ = '.';
    }
    for (uint64_t i = 0; i < length; i++) {
        if (name[i] == '.' || name[i] == '\\') {
            *to++ = '\\';
        }
        *to++ = name[i];
    }
    *to = '\0';
    path->length = (uint64_t)(to - path->text);
    return REC_OK;
}

void rec_path_pop(rec_path *path, uint64_t length, uint64_t levels)
{
    if (!path || !path->text || length > path->length || levels > path->levels) {
        return;
    }
    path->length = length;
    path->levels = levels;
    path->text[length] = '\0';
}
