/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Removing entries from maps: whether it stays linear in time and needs no memory. */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "ours.h"

/* Which entry is removed as number i of `count`. A step that shares no factor with `count` visits each of them once. */
static size_t entry_at(size_t i, size_t count, const char *order)
{
    size_t step = 7919;

    if (strcmp(order, "backward") == 0) {
        return count - 1 - i;
    }
    while (count % step == 0) {
        step += 2;
    }
    return strcmp(order, "mixed") == 0 ? i * step % count : i;
}

static void path_of(char *path, size_t room, size_t map, size_t entry)
{
    (void)snprintf(path, room, "maps%zu.entry%zu", map, entry);
}

/* remove COUNT forward|backward|mixed MAPS: empties so many maps of so many entries each, by name. The last number of
 * the answer is how much anonymous memory grew meanwhile. */
static span remove_entries(const model *m, char *const *words)
{
    enum { PATIENCE = 20 };
    size_t count = number_of(words[1], 1), maps = number_of(words[3], 1), left = 0;
    rec_context *context = context_with(0);
    rec_record *record = rec_record_new(context);
    double before;
    span start, took;
    char path[64];

    (void)m;
    for (size_t i = 0; record && i < maps * count; i++) {
        path_of(path, sizeof path, i / count, i % count);
        must(rec_set_uint(record, path, i));
    }
    if (!record) {
        errx(2, "%s", rec_error_message());
    }
    before = status_mib("RssAnon");
    start = begin();
    for (size_t map = 0; map < maps; map++) {
        for (size_t i = 0; i < count; i++) {
            path_of(path, sizeof path, map, entry_at(i, count, words[2]));
            must(rec_remove(record, path));
            if (i % 1024 == 0 && since(start).seconds > PATIENCE) {
                errx(2, "given up after %d s, with %zu of %zu entries removed", PATIENCE, i, count);
            }
        }
    }
    took = since(start);
    live_anonymous = status_mib("RssAnon") - before;
    for (size_t map = 0; map < maps; map++) {
        (void)snprintf(path, sizeof path, "maps%zu", map);
        left += rec_value_count(rec_value_at(record, path));
    }
    if (left != 0) {
        errx(2, "%zu entries are still there", left);
    }
    rec_record_free(record);
    rec_context_free(context);
    return took;
}

const operation edit_operations[] = {{"remove", remove_entries}, {0}};
